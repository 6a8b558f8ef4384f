// SPDX-License-Identifier: Apache-2.0
// Einsum: every operand becomes a tensor with one axis a label; pairs are multiplied and summed over the
// labels that nothing else needs.
#include <algorithm>
#include <cmath>
#include <map>

#include "src/base/status.h"
#include "src/tensor/linalg.h"
#include "src/tensor/nn_internal.h"

namespace understudy {
namespace {

using tensor_internal::Bad;
using tensor_internal::Text;

// Letters are their codes; the axes that "..." stands for count -1, -2, ... from the right.
using Labels = std::vector<int>;

struct Term {
  Labels labels;         // without those of the ellipsis
  int ellipsis_at = -1;  // before that label
};

absl::StatusOr<Term> ParseTerm(const std::string& equation, const std::string& text) {
  Term t;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (text.compare(i, 3, "...") != 0 || t.ellipsis_at >= 0)
        return Bad("Einsum", "\"", equation, "\": a '.' that is not of one \"...\" a term");
      t.ellipsis_at = static_cast<int>(t.labels.size());
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      t.labels.push_back(c);
    } else {
      return Bad("Einsum", "\"", equation, "\": character '", std::string(1, c),
                 "', expected letters, \"...\", ',' and \"->\"");
    }
  }
  return t;
}

// The labels of a term with `hidden` axes for the ellipsis.
Labels Complete(const Term& t, int hidden) {
  Labels out = t.labels;
  if (t.ellipsis_at >= 0) {
    Labels dots;
    for (int i = hidden; i >= 1; --i) dots.push_back(-i);
    out.insert(out.begin() + t.ellipsis_at, dots.begin(), dots.end());
  }
  return out;
}

struct Factor {
  Tensor value;  // one axis a label, in order
  Labels labels;
};

bool Has(const Labels& l, int label) { return std::count(l.begin(), l.end(), label) != 0; }

// Repeated labels become one: the diagonal of their axes.
absl::StatusOr<Factor> Diagonals(const std::string& equation, Factor o) {
  for (size_t i = 0; i < o.labels.size(); ++i) {
    for (size_t j = i + 1; j < o.labels.size();) {
      if (o.labels[j] != o.labels[i]) {
        ++j;
        continue;
      }
      const int64_t n = o.value.shape()[i];
      if (o.value.shape()[j] != n) {
        return Bad("Einsum", "\"", equation, "\": label '", std::string(1, static_cast<char>(o.labels[i])),
                   "' twice in one operand with sizes ", n, " and ", o.value.shape()[j]);
      }
      // Both axes last, as one of n n elements: every (n + 1)-th is on the diagonal.
      std::vector<int64_t> order;
      for (size_t k = 0; k < o.labels.size(); ++k) {
        if (k != i && k != j) order.push_back(static_cast<int64_t>(k));
      }
      order.insert(order.end(), {static_cast<int64_t>(i), static_cast<int64_t>(j)});
      Tensor t = o.value.Permute(order);
      Shape joined(t.shape().begin(), t.shape().end() - 2);
      joined.push_back(n * n);
      t = t.Reshape(joined).Index({Ellipsis{}, Slice{0, std::nullopt, n + 1}});
      // Back to where the first of the two was.
      std::vector<int64_t> back;
      const int64_t last = t.ndim() - 1;
      for (int64_t k = 0; k < last; ++k) back.push_back(k);
      back.insert(back.begin() + static_cast<int64_t>(i), last);
      o.value = t.Permute(back);
      o.labels.erase(o.labels.begin() + static_cast<int64_t>(j));
    }
  }
  return o;
}

// The operand with its axes in the order of `labels`, of size 1 where it lacks one.
Tensor Arranged(const Factor& o, const Labels& labels) {
  std::vector<int64_t> order;
  Shape shape;
  for (const int label : labels) {
    const auto it = std::find(o.labels.begin(), o.labels.end(), label);
    if (it == o.labels.end()) {
      shape.push_back(1);
    } else {
      order.push_back(it - o.labels.begin());
      shape.push_back(o.value.shape()[order.back()]);
    }
  }
  return o.value.Permute(order).Reshape(shape);
}

class Contraction {
 public:
  Contraction(std::vector<Factor> operands, Labels output, std::map<int, int64_t> sizes, DType type)
      : operands_(std::move(operands)), output_(std::move(output)), sizes_(std::move(sizes)), type_(type) {}

  Tensor Run() {
    const DType acc = tensor_internal::ProductType(type_);
    if (operands_.size() == 1) {
      Factor& o = operands_[0];
      const Labels kept = Kept(o.labels, {});
      o.value = SumOut(o.value.Cast(acc), o.labels, kept);
      o.labels = kept;
    }
    while (operands_.size() > 1) {
      size_t best_i = 0, best_j = 1;
      double best = INFINITY;
      for (size_t i = 0; i < operands_.size(); ++i) {
        for (size_t j = i + 1; j < operands_.size(); ++j) {
          const double grows = Size(Result(i, j)) - Size(operands_[i].labels) - Size(operands_[j].labels);
          if (grows < best) {
            best = grows;
            best_i = i;
            best_j = j;
          }
        }
      }
      Factor joined = Contract(best_i, best_j, acc);
      operands_.erase(operands_.begin() + static_cast<int64_t>(best_j));
      operands_[best_i] = std::move(joined);
    }
    return Arranged(operands_[0], output_).Cast(type_);
  }

 private:
  double Size(const Labels& labels) const {
    double n = 1;
    for (const int l : labels) n *= static_cast<double>(sizes_.at(l));
    return n;
  }
  // The labels that the output or an operand other than those of `of` still needs.
  Labels Kept(const Labels& labels, const std::vector<size_t>& of) const {
    Labels kept;
    for (const int l : labels) {
      bool needed = Has(output_, l);
      for (size_t k = 0; k < operands_.size() && !needed; ++k)
        needed = !of.empty() && !std::count(of.begin(), of.end(), k) && Has(operands_[k].labels, l);
      if (needed) kept.push_back(l);
    }
    return kept;
  }
  Labels All(size_t i, size_t j) const {
    Labels all = operands_[i].labels;
    for (const int l : operands_[j].labels) {
      if (!Has(all, l)) all.push_back(l);
    }
    return all;
  }
  Labels Result(size_t i, size_t j) const { return Kept(All(i, j), {i, j}); }

  static Tensor SumOut(const Tensor& x, const Labels& labels, const Labels& kept) {
    std::vector<int64_t> axes;
    for (size_t k = 0; k < labels.size(); ++k) {
      if (!Has(kept, labels[k])) axes.push_back(static_cast<int64_t>(k));
    }
    return tensor_internal::PlainSum("Einsum", x, axes);
  }
  Factor Contract(size_t i, size_t j, DType acc) const {
    // Kept labels first, so that the sum is over the last axes.
    const Labels kept = Result(i, j);
    Labels order = kept;
    for (const int l : All(i, j)) {
      if (!Has(order, l)) order.push_back(l);
    }
    const Tensor product = Arranged(operands_[i], order).Cast(acc) * Arranged(operands_[j], order).Cast(acc);
    return {SumOut(product, order, kept), kept};
  }

  std::vector<Factor> operands_;
  Labels output_;
  std::map<int, int64_t> sizes_;
  DType type_;
};

absl::StatusOr<Tensor> Make(const std::string& equation, const std::vector<Tensor>& operands) {
  if (operands.empty()) return Bad("Einsum", "no operands, expected at least one");
  const size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  std::vector<Term> terms;
  for (size_t at = 0;;) {
    const size_t comma = left.find(',', at);
    US_ASSIGN_OR_RETURN(
        Term t, ParseTerm(equation, left.substr(at, comma == std::string::npos ? comma : comma - at)));
    terms.push_back(std::move(t));
    if (comma == std::string::npos) break;
    at = comma + 1;
  }
  if (terms.size() != operands.size())
    return Bad("Einsum", "\"", equation, "\" has ", terms.size(), " terms for ", operands.size(),
               " operands");
  DType type = operands[0].dtype();
  int hidden = 0;  // axes that the widest ellipsis stands for
  for (size_t k = 0; k < terms.size(); ++k) {
    US_RETURN_IF_ERROR(operands[k].status());
    type = Promote(type, operands[k].dtype());
    const int more = operands[k].ndim() - static_cast<int>(terms[k].labels.size());
    if (more < 0 || (more > 0 && terms[k].ellipsis_at < 0)) {
      return Bad("Einsum", "\"", equation, "\": operand ", k, " has shape ", Text(operands[k].shape()),
                 ", its term ", terms[k].labels.size(), " labels");
    }
    if (terms[k].ellipsis_at >= 0) hidden = std::max(hidden, more);
  }
  std::vector<Factor> parts;
  std::map<int, int64_t> sizes;
  std::map<int, int> count;
  for (size_t k = 0; k < terms.size(); ++k) {
    const int own = operands[k].ndim() - static_cast<int>(terms[k].labels.size());
    const Labels labels = Complete(terms[k], own);
    for (size_t i = 0; i < labels.size(); ++i) {
      const int64_t n = operands[k].shape()[i];
      int64_t& size = sizes.emplace(labels[i], n).first->second;
      if (size != n && size != 1 && n != 1) {
        return Bad("Einsum", "\"", equation, "\": operand ", k, " of shape ", Text(operands[k].shape()),
                   " has size ", n, " at axis ", i, ", another operand has ", size);
      }
      if (size == 1) size = n;
      ++count[labels[i]];
    }
    US_ASSIGN_OR_RETURN(Factor part, Diagonals(equation, {operands[k], labels}));
    parts.push_back(std::move(part));
  }
  Labels output;
  if (arrow == std::string::npos) {
    for (int i = hidden; i >= 1; --i) output.push_back(-i);
    for (const auto& [label, n] : count) {
      if (label > 0 && n == 1) output.push_back(label);
    }
  } else {
    US_ASSIGN_OR_RETURN(const Term right, ParseTerm(equation, equation.substr(arrow + 2)));
    output = Complete(right, hidden);
    for (size_t i = 0; i < output.size(); ++i) {
      if (output[i] > 0 &&
          (!count.count(output[i]) || std::count(output.begin(), output.end(), output[i]) > 1)) {
        return Bad("Einsum", "\"", equation, "\": output label '",
                   std::string(1, static_cast<char>(output[i])), "', expected each once and in some operand");
      }
    }
  }
  return Contraction(std::move(parts), std::move(output), std::move(sizes), type).Run();
}

}  // namespace

Tensor Einsum(const std::string& equation, const std::vector<Tensor>& operands) {
  auto y = Make(equation, operands);
  return y.ok() ? *y : Tensor(y.status());
}

}  // namespace understudy
