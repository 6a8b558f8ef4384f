// SPDX-License-Identifier: Apache-2.0
#pragma once
// Index expressions as sums: constant + sum of coefficient * term, where a term is any node that is no sum.
// Tells whether two indices are a known distance apart, which is what contiguity means. Used by vectorisation
// and coalescing.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "src/uop/uop.h"

namespace understudy {

struct Affine {
  struct Term {
    UOpRef node;
    int64_t coefficient;
  };
  std::vector<Term> terms;  // no term twice, no coefficient zero; in order of first appearance
  int64_t constant = 0;

  void Add(const UOpRef& node, int64_t coefficient);
  // The sum as a node; `with_constant` false leaves the constant out.
  UOpRef Node(bool with_constant = true) const;
  // this - other when the difference is a constant.
  std::optional<int64_t> Minus(const Affine& other) const;
};

Affine AffineOf(const UOpRef& index);

}  // namespace understudy
