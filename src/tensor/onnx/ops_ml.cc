// SPDX-License-Identifier: Apache-2.0
// Classical machine learning on numbers: the part of the domain ai.onnx.ml without strings and maps, and
// n-gram counts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "src/tensor/elementwise_ops.h"
#include "src/tensor/gather.h"
#include "src/tensor/internal.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/onnx/ops.h"

namespace understudy::onnx::ops {
namespace {

// The numbers of an attribute that is a tensor.
std::vector<double> Numbers(NodeContext& c, const char* name) {
  const AttributeProto* a = c.Attribute(name);
  if (a == nullptr) return {};
  if (a->t == nullptr) {
    c.Bad("attribute '", name, "' holds no tensor");
    return {};
  }
  const auto bytes = Elements(*a->t);
  if (!bytes.ok()) {
    c.Fail(bytes.status());
    return {};
  }
  const DType dtype = HeldIn(a->t->type());
  const auto width = static_cast<size_t>(dtype.SizeBytes());
  std::vector<double> out;
  for (size_t i = 0; i * width < bytes->size(); ++i) {
    uint64_t bits = 0;
    std::copy_n(bytes->data() + i * width, width, reinterpret_cast<uint8_t*>(&bits));
    const ConstValue v = FromBits(dtype, bits);
    const auto* d = std::get_if<double>(&v);
    out.push_back(d != nullptr ? *d : static_cast<double>(std::get<int64_t>(v)));
  }
  return out;
}

}  // namespace

// Columns of the last axis.
void ArrayFeatureExtractor(NodeContext& c) {
  const Tensor x = c.In(0), index = c.In(1);
  if (!c.Want(x.ndim() >= 1, "an input without axes")) return;
  const Tensor y = IndexSelect(x, x.ndim() - 1, index.Reshape({index.numel()}));
  c.Out(0, x.ndim() == 1 ? y.Unsqueeze(0) : y);
}

void Binarizer(NodeContext& c) {
  const Tensor x = c.In(0);
  c.Out(0, (x > c.Float("threshold", 0)).Cast(x.dtype()));
}

// Every leaf adds its weight where the conditions on its path hold: no branches, one select a leaf.
void TreeEnsemble(NodeContext& c) {
  const Tensor x = c.In(0);
  const auto list = [&](const char* name) { return c.IntList(name).value_or(std::vector<int64_t>{}); };
  const std::vector<double> splits = Numbers(c, "nodes_splits"), modes = Numbers(c, "nodes_modes"),
                            members = Numbers(c, "membership_values"), weights = Numbers(c, "leaf_weights");
  const auto features = list("nodes_featureids"), on_true = list("nodes_truenodeids"),
             on_false = list("nodes_falsenodeids"), true_leaf = list("nodes_trueleafs"),
             false_leaf = list("nodes_falseleafs"), targets = list("leaf_targetids"),
             roots = list("tree_roots");
  auto missing = list("nodes_missing_value_tracks_true");
  const size_t n = modes.size();
  if (missing.empty()) missing.assign(n, 0);
  const int64_t aggregate = c.Int("aggregate_function", 1), num_targets = c.Int("n_targets", 0);
  if (c.Int("post_transform", 0) != 0) return c.Refuse("post_transform ", c.Int("post_transform", 0));
  if (!c.Want(x.ndim() == 2 && splits.size() == n && features.size() == n && on_true.size() == n &&
                  on_false.size() == n && true_leaf.size() == n && false_leaf.size() == n &&
                  missing.size() == n && targets.size() == weights.size(),
              "lists of nodes or leaves have different lengths") ||
      !c.Want(aggregate >= 0 && aggregate <= 3 && num_targets > 0 && num_targets < 65536,
              "aggregate_function ", aggregate, " of ", num_targets, " targets")) {
    return;
  }
  // Members of node i: those up to the next NaN, in the order of the nodes.
  std::map<size_t, std::vector<double>> sets;
  size_t next = 0;
  for (size_t i = 0; i < n; ++i) {
    if (modes[i] != 6) continue;
    auto& set = sets[i];
    for (; next < members.size() && !std::isnan(members[next]); ++next) set.push_back(members[next]);
    ++next;
  }
  struct Visit {
    int64_t node;
    bool leaf;
    Tensor here;  // bool {rows}
    int64_t depth;
  };
  const int64_t rows = x.shape()[0];
  const Tensor all = Tensor::Ones({rows}, c.Options(dtypes::kBool));
  std::vector<std::optional<Tensor>> sums(num_targets);
  std::vector<Visit> stack;
  for (const int64_t root : roots) {
    if (!c.Want(root >= 0 && root < static_cast<int64_t>(n), "root ", root, " of ", n, " nodes")) return;
    const bool leaf = true_leaf[root] != 0 && false_leaf[root] != 0 && on_true[root] == on_false[root];
    stack.push_back({leaf ? on_true[root] : root, leaf, all, 0});
  }
  while (!stack.empty()) {
    const Visit v = stack.back();
    stack.pop_back();
    c.Fail(c.runner().CountSteps(1));
    if (!c.Want(v.node >= 0 && v.node < static_cast<int64_t>(v.leaf ? weights.size() : n), "node ", v.node) ||
        !c.Want(v.depth <= static_cast<int64_t>(n), "a tree with a circle")) {
      return;
    }
    if (v.leaf) {
      const int64_t target = targets[v.node];
      if (!c.Want(target >= 0 && target < num_targets, "target ", target, " of ", num_targets)) return;
      auto& sum = sums[target];
      const double none = aggregate <= 1   ? 0
                          : aggregate == 2 ? std::get<double>(MaxValue(x.dtype()))
                                           : std::get<double>(MinValue(x.dtype()));
      const double weight = weights[v.node] / (aggregate == 0 ? static_cast<double>(roots.size()) : 1);
      const Tensor part = understudy::Where(v.here, weight, Tensor::Full({rows}, none, c.Options(x.dtype())));
      sum = !sum             ? part
            : aggregate <= 1 ? *sum + part
            : aggregate == 2 ? sum->Minimum(part)
                             : sum->Maximum(part);
      continue;
    }
    const size_t i = v.node;
    if (!c.Want(features[i] >= 0 && features[i] < x.shape()[1], "feature ", features[i], " of ",
                x.shape()[1]))
      return;
    const Tensor f = Select(x, 1, features[i]);
    Tensor holds;
    switch (static_cast<int>(modes[i])) {
      case 0:
        holds = f <= splits[i];
        break;
      case 1:
        holds = f < splits[i];
        break;
      case 2:
        holds = f >= splits[i];
        break;
      case 3:
        holds = f > splits[i];
        break;
      case 4:
        holds = f.Eq(splits[i]);
        break;
      case 5:
        holds = f.Ne(splits[i]);
        break;
      case 6:
        holds = Tensor::Zeros({rows}, c.Options(dtypes::kBool));
        for (const double m : sets[i]) holds = LogicalOr(holds, f.Eq(m));
        break;
      default:
        return c.Bad("mode ", modes[i]);
    }
    if (missing[i] != 0) holds = LogicalOr(holds, f.IsNan());
    stack.push_back({on_true[i], true_leaf[i] != 0, LogicalAnd(v.here, holds), v.depth + 1});
    stack.push_back({on_false[i], false_leaf[i] != 0, LogicalAnd(v.here, holds.LogicalNot()), v.depth + 1});
  }
  std::vector<Tensor> columns;
  const double none = aggregate <= 1   ? 0
                      : aggregate == 2 ? std::get<double>(MaxValue(x.dtype()))
                                       : std::get<double>(MinValue(x.dtype()));
  for (const auto& s : sums) columns.push_back(s ? *s : Tensor::Full({rows}, none, c.Options(x.dtype())));
  c.Out(0, Stack(columns, 1));
}

// Counts of known n-grams with gaps of 0 to max_skip_count between their items; computed on the host.
void TfIdfVectorizer(NodeContext& c) {
  const Tensor x = c.In(0);
  const std::vector<int64_t> items = c.Ints(0);
  const auto list = [&](const char* name) { return c.IntList(name).value_or(std::vector<int64_t>{}); };
  const auto pool = list("pool_int64s"), counts = list("ngram_counts"), indexes = list("ngram_indexes");
  const std::vector<float> weights = c.FloatList("weights");
  const int64_t shortest = c.Int("min_gram_length", 1), longest = c.Int("max_gram_length", 1),
                skips = c.Int("max_skip_count", 0);
  const std::string mode = c.Text("mode", "");
  if (c.Attribute("pool_strings") != nullptr) return c.Refuse("strings");
  if (!c.Want(mode == "TF" || mode == "IDF" || mode == "TFIDF", "mode '", mode, "'") ||
      !c.Want(x.ndim() == 1 || x.ndim() == 2, "an input with ", x.ndim(), " axes") ||
      !c.Want(shortest >= 1 && longest >= shortest && skips >= 0 && longest <= 1024 && skips <= 65536,
              "n-grams of ", shortest, " to ", longest)) {
    return;
  }
  int64_t width = 0;
  for (const int64_t i : indexes) {
    if (!c.Want(i >= 0 && i < (1 << 24), "n-gram index ", i)) return;
    width = std::max(width, i + 1);
  }
  // The pool: all of length 1, all of length 2 ...
  std::map<std::vector<int64_t>, int64_t> grams;
  size_t id = 0;
  for (size_t k = 0; k < counts.size(); ++k) {
    const int64_t begin = counts[k],
                  end = k + 1 < counts.size() ? counts[k + 1] : static_cast<int64_t>(pool.size());
    if (!c.Want(begin >= 0 && begin <= end && end <= static_cast<int64_t>(pool.size()),
                "ngram_counts out of order"))
      return;
    const auto size = static_cast<int64_t>(k) + 1;
    for (int64_t at = begin; at + size <= end; at += size, ++id) {
      if (!c.Want(id < indexes.size(), "more n-grams than ngram_indexes")) return;
      if (size >= shortest && size <= longest)
        grams[std::vector<int64_t>(pool.begin() + at, pool.begin() + at + size)] = indexes[id];
    }
  }
  const int64_t rows = x.ndim() == 1 ? 1 : x.shape()[0], length = x.shape().back();
  if (!c.Want(rows * width < (int64_t{1} << 31), "an output of ", rows, " by ", width)) return;
  c.Fail(c.runner().CountSteps(rows));
  if (!c.ok()) return;
  std::vector<float> out(rows * width);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t size = shortest; size <= longest; ++size) {
      // Single items have no gaps.
      for (int64_t step = 1; step <= (size == 1 ? 1 : skips + 1); ++step) {
        for (int64_t from = 0; from + (size - 1) * step < length; ++from) {
          std::vector<int64_t> gram;
          for (int64_t k = 0; k < size; ++k) gram.push_back(items[r * length + from + k * step]);
          const auto it = grams.find(gram);
          if (it != grams.end()) out[r * width + it->second] += 1;
        }
      }
    }
  }
  for (size_t i = 0; i < out.size() && mode != "TF"; ++i) {
    const size_t column = i % static_cast<size_t>(width);
    const float w = column < weights.size() ? weights[column] : 1;
    out[i] = mode == "IDF" ? (out[i] > 0 ? w : 0) : w * out[i];
  }
  c.Out(0, c.Host(out, x.ndim() == 1 ? Shape{width} : Shape{rows, width}));
}

}  // namespace understudy::onnx::ops
