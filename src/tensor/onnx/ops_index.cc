// SPDX-License-Identifier: Apache-2.0
// Reading and writing by index tensors. Negative indices count from the end; one outside reads 0 and writes
// nothing. What selects by value (NonZero, Unique, Compress) is computed on the host: its size is the data's.
#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

#include "src/tensor/elementwise_ops.h"
#include "src/tensor/gather.h"
#include "src/tensor/indexing.h"
#include "src/tensor/internal.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/onnx/ops.h"

namespace understudy::onnx::ops {
namespace {

Tensor FromEnd(const Tensor& index, int64_t n) {
  const Tensor i = index.Cast(dtypes::kInt64);
  return understudy::Where(i < 0, i + n, i);
}

std::optional<ScatterMode> ModeOf(NodeContext& c, const std::string& reduction) {
  if (reduction == "add") return ScatterMode::kSum;
  if (reduction == "mul") return ScatterMode::kProd;
  if (reduction == "max") return ScatterMode::kAmax;
  if (reduction == "min") return ScatterMode::kAmin;
  if (reduction != "none") c.Bad("reduction '", reduction, "', expected none, add, mul, max or min");
  return std::nullopt;
}

// The columns of the last axis as index tensors of the rest of the shape.
std::vector<Tensor> Columns(const Tensor& indices, const Shape& of, size_t first) {
  std::vector<Tensor> out;
  const int64_t k = indices.shape().back();
  for (int64_t j = 0; j < k; ++j) out.push_back(FromEnd(Select(indices, -1, j), of[first + j]));
  return out;
}

}  // namespace

void Gather(NodeContext& c) {
  const Tensor x = c.In(0), index = c.In(1);
  const int64_t axis = c.Axis(c.Int("axis", 0), x.ndim());
  if (!c.ok()) return;
  std::vector<TensorIndex> items(axis, understudy::Slice{});
  items.push_back(index);
  c.OutMoved(0, IndexBy(x, items));
}

void GatherElements(NodeContext& c) {
  const Tensor x = c.In(0), index = c.In(1);
  const int64_t axis = c.Axis(c.Int("axis", 0), x.ndim());
  if (!c.ok()) return;
  c.OutMoved(0, understudy::Gather(x, axis, FromEnd(index, x.shape()[axis])));
}

void GatherND(NodeContext& c) {
  const Tensor x = c.In(0), indices = c.In(1);
  const int64_t batch = c.Int("batch_dims", 0);
  if (!c.Want(indices.ndim() >= 1 && batch >= 0 && batch < indices.ndim() && batch < x.ndim() &&
                  indices.shape().back() >= 1 && batch + indices.shape().back() <= x.ndim(),
              "indices ", tensor_internal::Text(indices.shape()), " into ", tensor_internal::Text(x.shape()),
              " with ", batch, " batch axes")) {
    return;
  }
  const Shape places(indices.shape().begin(), indices.shape().end() - 1);
  std::vector<TensorIndex> items;
  for (int64_t b = 0; b < batch; ++b) {
    Shape along(places.size(), 1);
    along[b] = x.shape()[b];
    items.push_back(Tensor::Arange(0, x.shape()[b], 1, c.Options(dtypes::kInt64)).Reshape(along));
  }
  for (Tensor& t : Columns(indices, x.shape(), batch)) items.push_back(std::move(t));
  c.OutMoved(0, IndexBy(x, items));
}

void ScatterElements(NodeContext& c) {
  const Tensor x = c.In(0), updates = c.In(2);
  const int64_t axis = c.Axis(c.Int("axis", 0), x.ndim());
  if (!c.ok()) return;
  const Tensor index = FromEnd(c.In(1), x.shape()[axis]);
  const auto mode = ModeOf(c, c.Text("reduction", "none"));
  c.OutMoved(
      0, mode ? ScatterReduce(x, axis, index, updates, *mode) : understudy::Scatter(x, axis, index, updates));
}

void ScatterND(NodeContext& c) {
  const Tensor x = c.In(0), indices = c.In(1), updates = c.In(2);
  if (!c.Want(indices.ndim() >= 1 && indices.shape().back() >= 1 && indices.shape().back() <= x.ndim(),
              "indices ", tensor_internal::Text(indices.shape()), " into ",
              tensor_internal::Text(x.shape()))) {
    return;
  }
  const std::vector<Tensor> columns = Columns(indices, x.shape(), 0);
  const auto mode = ModeOf(c, c.Text("reduction", "none"));
  if (!c.ok()) return;
  const auto k = static_cast<int64_t>(columns.size());
  const Shape outer(x.shape().begin(), x.shape().begin() + k), inner(x.shape().begin() + k, x.shape().end());
  Shape want(indices.shape().begin(), indices.shape().end() - 1);
  want.insert(want.end(), inner.begin(), inner.end());
  if (!c.Want(updates.shape() == want, "updates ", tensor_internal::Text(updates.shape()), ", expected ",
              tensor_internal::Text(want)))
    return;
  // As a matrix: rows by flat index. A column outside its axis makes the row -1: nothing is written.
  Tensor flat;
  for (int64_t j = 0; j < k; ++j) {
    const Tensor& i = columns[j];
    const Tensor inside = LogicalAnd(i >= 0, i < outer[j]);
    const Tensor so_far = j == 0 ? i : understudy::Where(flat < 0, -1, flat * outer[j] + i);
    flat = understudy::Where(inside, so_far, -1);
  }
  const int64_t rows = tensor_internal::Product(outer), width = tensor_internal::Product(inner),
                n = flat.numel();
  const Tensor source = updates.Reshape({n, width});
  const Tensor matrix = x.Reshape({rows, width});
  const Tensor index = BroadcastTo(flat.Reshape({n, 1}), {n, width});
  const Tensor y =
      mode ? ScatterReduce(matrix, 0, index, source, *mode) : understudy::Scatter(matrix, 0, index, source);
  c.OutMoved(0, y.Reshape(x.shape()));
}

// A cache with `update` at write_indices[batch] along an axis.
void TensorScatter(NodeContext& c) {
  const Tensor past = c.In(0), update = c.In(1);
  const int64_t axis = c.Axis(c.Int("axis", -2), past.ndim());
  const std::string mode = c.Text("mode", "linear");
  if (!c.Want(mode == "linear" || mode == "circular", "mode '", mode, "', expected linear or circular") ||
      !c.Want(past.ndim() == update.ndim() && axis > 0, "update ", tensor_internal::Text(update.shape()),
              " of ", tensor_internal::Text(past.shape()), " along axis ", axis)) {
    return;
  }
  const int64_t batch = past.shape()[0], n = update.shape()[axis], most = past.shape()[axis];
  Tensor start = c.Has(2) ? c.In(2).Cast(dtypes::kInt64) : Tensor::Zeros({batch}, c.Options(dtypes::kInt64));
  if (!c.Want(start.numel() == batch, "write_indices of ", start.numel(), " rows, expected ", batch)) return;
  Shape rows(past.ndim(), 1), along(past.ndim(), 1);
  rows[0] = batch;
  along[axis] = n;
  Tensor place = start.Reshape(rows) + Tensor::Arange(0, n, 1, c.Options(dtypes::kInt64)).Reshape(along);
  if (mode == "circular") place = place.Mod(most);
  c.OutMoved(0, understudy::Scatter(past, axis, BroadcastTo(place, update.shape()), update));
}

void Compress(NodeContext& c) {
  const Tensor x = c.In(0);
  const std::vector<int64_t> keep = c.Ints(1);
  const bool flat = c.Attribute("axis") == nullptr;
  const Tensor from = flat ? x.Reshape({x.numel()}) : x;
  const int64_t axis = c.Axis(c.Int("axis", 0), from.ndim());
  if (!c.ok()) return;
  std::vector<int64_t> places;
  for (size_t i = 0; i < keep.size() && static_cast<int64_t>(i) < from.shape()[axis]; ++i) {
    if (keep[i] != 0) places.push_back(static_cast<int64_t>(i));
  }
  const auto n = static_cast<int64_t>(places.size());
  c.OutMoved(0, IndexSelect(from, axis, c.Host(places, {n})));
}

void NonZero(NodeContext& c) {
  const Tensor x = c.In(0);
  const std::vector<double> v = c.Doubles(0);
  if (!c.ok()) return;
  const int64_t rank = x.ndim();
  std::vector<int64_t> flat;
  for (size_t i = 0; i < v.size(); ++i) {
    if (v[i] != 0) flat.push_back(static_cast<int64_t>(i));
  }
  const auto n = static_cast<int64_t>(flat.size());
  std::vector<int64_t> out(rank * n);
  for (int64_t k = rank; k-- > 0;) {
    for (int64_t i = 0; i < n; ++i) {
      out[k * n + i] = flat[i] % x.shape()[k];
      flat[i] /= x.shape()[k];
    }
  }
  c.Out(0, c.Host(out, {rank, n}));
}

// Elements, or slices of an axis, without repetition: in order (sorted) or as they come first.
void Unique(NodeContext& c) {
  const Tensor x = c.In(0);
  const bool flat = c.Attribute("axis") == nullptr, sorted = c.Int("sorted", 1) != 0;
  const Tensor from = flat ? x.Reshape({x.numel()}) : x;
  const int64_t axis = c.Axis(c.Int("axis", 0), from.ndim());
  const std::vector<double> v = c.Doubles(0);
  if (!c.ok()) return;
  if (x.dtype() == dtypes::kInt64 || x.dtype() == dtypes::kUInt64) {
    for (const double d : v) {
      if (!(std::abs(d) < 9007199254740992.0)) return c.Refuse("64-bit integers beyond 2^53");
    }
  }
  const int64_t n = from.shape()[axis];
  int64_t before = 1, after = 1;
  for (int64_t i = 0; i < from.ndim(); ++i) (i < axis ? before : after) *= i == axis ? 1 : from.shape()[i];
  const auto slice = [&](int64_t i) {
    std::vector<double> s;
    for (int64_t b = 0; b < before; ++b) {
      for (int64_t a = 0; a < after; ++a) s.push_back(v[(b * n + i) * after + a]);
    }
    return s;
  };
  std::map<std::vector<double>, int64_t> seen;  // slice -> which
  std::vector<int64_t> first, inverse(n), counts;
  for (int64_t i = 0; i < n; ++i) {
    const auto [it, is_new] = seen.emplace(slice(i), static_cast<int64_t>(first.size()));
    if (is_new) {
      first.push_back(i);
      counts.push_back(0);
    }
    inverse[i] = it->second;
    ++counts[it->second];
  }
  if (sorted) {
    std::vector<int64_t> rank(first.size()), new_first, new_counts;
    for (const auto& [s, which] : seen) {
      rank[which] = static_cast<int64_t>(new_first.size());
      new_first.push_back(first[which]);
      new_counts.push_back(counts[which]);
    }
    for (int64_t& i : inverse) i = rank[i];
    first = new_first;
    counts = new_counts;
  }
  const auto m = static_cast<int64_t>(first.size());
  const Tensor places = c.Host(first, {m});
  c.OutMoved(0, IndexSelect(from, axis, places));
  c.Out(1, places);
  c.Out(2, c.Host(inverse, {n}));
  c.Out(3, c.Host(counts, {m}));
}

// Greedy suppression of boxes that overlap a better one of the same class.
void NonMaxSuppression(NodeContext& c) {
  const Tensor boxes_in = c.In(0), scores_in = c.In(1);
  const std::vector<double> boxes = c.Doubles(0), scores = c.Doubles(1);
  const int64_t most = c.Has(2) ? c.IntOf(2) : 0;
  const double iou_limit = c.Has(3) ? c.DoubleOf(3) : 0;
  const bool has_limit = c.Has(4);
  const double score_limit = has_limit ? c.DoubleOf(4) : 0;
  const bool centre = c.Int("center_point_box", 0) != 0;
  if (!c.ok()) return;
  const Shape& bs = boxes_in.shape();
  const Shape& ss = scores_in.shape();
  if (!c.Want(bs.size() == 3 && ss.size() == 3 && bs[2] == 4 && bs[0] == ss[0] && bs[1] == ss[2], "boxes ",
              tensor_internal::Text(bs), " and scores ", tensor_internal::Text(ss))) {
    return;
  }
  struct Box {
    float y0, x0, y1, x1;
  };
  const auto box = [&](int64_t b, int64_t i) {
    const double* p = &boxes[(b * bs[1] + i) * 4];
    const auto f = [](double d) { return static_cast<float>(d); };
    if (centre) {
      const float x = f(p[0]), y = f(p[1]), w = f(p[2]) / 2, h = f(p[3]) / 2;
      return Box{y - h, x - w, y + h, x + w};
    }
    return Box{std::min(f(p[0]), f(p[2])), std::min(f(p[1]), f(p[3])), std::max(f(p[0]), f(p[2])),
               std::max(f(p[1]), f(p[3]))};
  };
  const auto overlap = [](const Box& a, const Box& b) {
    const float h = std::min(a.y1, b.y1) - std::max(a.y0, b.y0),
                w = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
    if (!(h > 0 && w > 0)) return 0.0f;
    const float both = h * w;
    const float sum = (a.y1 - a.y0) * (a.x1 - a.x0) + (b.y1 - b.y0) * (b.x1 - b.x0) - both;
    return sum > 0 ? both / sum : 0.0f;
  };
  std::vector<int64_t> out;
  for (int64_t b = 0; b < ss[0]; ++b) {
    for (int64_t k = 0; k < ss[1]; ++k) {
      const double* score = scores.data() + (b * ss[1] + k) * ss[2];
      std::vector<int64_t> order;
      for (int64_t i = 0; i < ss[2]; ++i) {
        if (!has_limit || score[i] > score_limit) order.push_back(i);
      }
      std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return score[i] > score[j]; });
      std::vector<Box> taken;
      for (const int64_t i : order) {
        if (static_cast<int64_t>(taken.size()) >= most) break;
        const Box candidate = box(b, i);
        if (std::any_of(taken.begin(), taken.end(),
                        [&](const Box& t) { return overlap(t, candidate) > iou_limit; }))
          continue;
        taken.push_back(candidate);
        out.insert(out.end(), {b, k, i});
      }
    }
  }
  const auto n = static_cast<int64_t>(out.size() / 3);
  c.Out(0, c.Host(out, {n, 3}));
}

}  // namespace understudy::onnx::ops
