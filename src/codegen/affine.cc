// SPDX-License-Identifier: Apache-2.0
#include "src/codegen/affine.h"

#include <algorithm>

#include "src/uop/build.h"

namespace understudy {
namespace {

int64_t WrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

}  // namespace

void Affine::Add(const UOpRef& node, int64_t coefficient) {
  switch (node->op()) {
    case Op::kConst:
      constant = WrapAdd(constant, WrapMul(node->const_int(), coefficient));
      return;
    case Op::kAdd:
      Add(node->src(0), coefficient);
      Add(node->src(1), coefficient);
      return;
    case Op::kNeg:
      Add(node->src(0), WrapMul(coefficient, -1));
      return;
    case Op::kMul:
      for (int i = 0; i < 2; ++i) {
        if (node->src(i)->IsConst())
          return Add(node->src(1 - i), WrapMul(coefficient, node->src(i)->const_int()));
      }
      break;
    default:
      break;
  }
  const auto it = std::find_if(terms.begin(), terms.end(), [&](const Term& t) { return t.node == node; });
  if (it == terms.end()) {
    if (coefficient != 0) terms.push_back({node, coefficient});
  } else if ((it->coefficient = WrapAdd(it->coefficient, coefficient)) == 0) {
    terms.erase(it);
  }
}

UOpRef Affine::Node(bool with_constant) const {
  UOpRef sum;
  const auto add = [&](const UOpRef& n) { sum = sum == nullptr ? n : uop::Add(sum, n); };
  for (const Term& t : terms)
    add(t.coefficient == 1 ? t.node : uop::Mul(t.node, uop::IndexConst(t.coefficient)));
  if ((with_constant && constant != 0) || sum == nullptr) add(uop::IndexConst(with_constant ? constant : 0));
  return sum;
}

std::optional<int64_t> Affine::Minus(const Affine& other) const {
  if (terms.size() != other.terms.size()) return std::nullopt;
  for (const Term& t : terms) {
    const auto it =
        std::find_if(other.terms.begin(), other.terms.end(), [&](const Term& o) { return o.node == t.node; });
    if (it == other.terms.end() || it->coefficient != t.coefficient) return std::nullopt;
  }
  return WrapAdd(constant, WrapMul(other.constant, -1));
}

Affine AffineOf(const UOpRef& index) {
  Affine a;
  a.Add(index, 1);
  return a;
}

}  // namespace understudy
