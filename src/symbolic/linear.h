// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sums of products with constants: sum(coefficient * term) + constant, the form in which sums are ordered and
// divisions are taken apart. Used by the rules of this folder only. As ring arithmetic at the type's width a
// Linear always equals its node; as exact integers it does only where Exact() says so.

#include <cstdint>
#include <optional>
#include <vector>

#include "src/symbolic/bounds.h"
#include "src/uop/uop.h"

namespace understudy::symbolic {

struct LinearTerm {
  UOpRef node;
  int64_t coefficient;  // sign-extended from the type's width, for unsigned types too
};

struct Linear {
  DType dtype;
  std::vector<LinearTerm> terms;  // distinct nodes in StructuralLess order, no zero coefficients
  int64_t constant = 0;           // sign-extended

  bool IsConst() const { return terms.empty(); }
};

// Sums with more terms keep what lies deeper as one term.
inline constexpr size_t kMaxLinearTerms = 64;

// With `distribute`, (a + b) * c counts as a * c + b * c; without, only (a + constant) * c does.
Linear ToLinear(const UOpRef& node, bool distribute);
// The node taken as one term.
Linear SingleTerm(const UOpRef& node);
// Terms in order, each once, left to right, the constant last.
UOpRef FromLinear(const Linear& l);
Linear Subtract(const Linear& a, const Linear& b);

// The exact integers that the sum takes over the bounds of its terms; nullopt past 127 bits.
std::optional<WideInterval> BoundsOfLinear(const Linear& l, const BoundsCache& bounds);
// True when the sum as exact integers never leaves the type, so that it equals the node's value.
bool Exact(const Linear& l, const BoundsCache& bounds);

}  // namespace understudy::symbolic
