// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sizes that are not known when a graph is compiled. A node's shape says how much room each axis has; where a
// SLICE made an axis whose length is an expression of VARs, `UOp::sizes()` says how many of those elements
// exist. Computed when a node is made, from its sources alone; the Tensor API reads it to answer and to
// refuse, the scheduler to end loops. Nothing here changes a graph.
//
// An axis that was EXPANDed from one element has no length of its own: it takes that of what it meets.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/uop/uop.h"

namespace understudy::uop {

// Of a node that has such an axis, or that is made from one that has and cannot be.
struct SizeInfo {
  absl::Status error;
  std::vector<UOpRef> sizes;  // one an axis: null where the shape says it all; empty on an error
};

// What UOp::Make stores in a new node. Bit i of `broadcast`: axis i was expanded.
struct SizeFacts {
  std::shared_ptr<const SizeInfo> info;  // null: nothing symbolic
  uint32_t broadcast = 0;
};
SizeFacts FactsOfSizes(Op op, absl::Span<const UOpRef> src, const Arg& arg, const Shape& shape);

// --- Size expressions: sums of multiples of VARs (or BINDs) and a constant, of dtype index, in one canonical
// form, so that equal sizes are the same node. ---

UOpRef SizeSum(const UOpRef& a, const UOpRef& b);
UOpRef SizeScale(const UOpRef& a, int64_t factor);
// True for CONSTs, VARs, BINDs and arithmetic of such.
bool IsSizeExpr(const UOp& node);
// The least and the greatest value, from the variables' ranges; saturated far from the ends of int64.
struct SizeLimits {
  int64_t lo, hi;
};
SizeLimits LimitsOf(const UOpRef& size);
// FailedPrecondition names a variable that is not bound.
absl::StatusOr<int64_t> SizeValue(const UOpRef& size);
std::string SizeText(const UOpRef& size);  // "n", "start+1"; a BIND by its variable's name

// --- Shapes ---

// The length of an axis as an expression.
UOpRef LengthOf(const UOpRef& x, size_t axis);
// `x` seen with those sizes (empty: as it is) from its beginning on; what has them already stays as it is.
UOpRef Sized(const UOpRef& x, const std::vector<UOpRef>& sizes);
// A SLICE that only says how long an axis is: it starts at 0, keeps the axis's room and adds no zeros.
bool IsSizing(const UOp& node);
// The true shape of a node whose variables are bound.
absl::StatusOr<Shape> TrueShape(const UOp& node);

}  // namespace understudy::uop
