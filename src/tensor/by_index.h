// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads and reductions by index along the last axis, as graphs: what gather.h's functions and the derivatives
// of scattered extrema and products are made of. Each is a reduction over pairs that the scheduler turns into
// loads (schedule/selection.h) and ordered stores (schedule/scatter.h). Nothing outside src/tensor includes
// this.

#include <vector>

#include "absl/status/statusor.h"
#include "src/uop/uop.h"

namespace understudy::tensor_internal {

// An axis of 1 before the last `from_end` axes.
UOpRef InsertAxis(const UOpRef& x, size_t from_end);
// 0, 1, .. of x's last axis (of its true length, where that is variable), at the last axis of `shape` or at
// the one before.
UOpRef LastPositions(const UOpRef& x, const Shape& shape, bool last);
// x {..., n}, index {..., m} (the leading axes broadcast) -> {..., m}; 0 where the index is out of range.
absl::StatusOr<UOpRef> PickLast(const char* op, const UOpRef& x, const UOpRef& index);
// Whether source m goes to place n: like {..., n}, index {..., m} -> {..., n, m}.
UOpRef HitsOf(const UOpRef& like, const UOpRef& index);
// values {..., m} reduced where the index {..., m} says, like {..., n} -> {..., n}; the reduction's identity
// elsewhere.
UOpRef SendTo(Op op, const UOpRef& values, const UOpRef& index, const UOpRef& like);

// WITH_GRADIENT(best, self, index, src): extrema of what is sent to each place, among them the place's own
// element, or (alone) without it. All equal elements share the gradient evenly.
std::vector<UOpRef> ScatteredExtremeRule(const UOpRef& y, const UOpRef& g);
std::vector<UOpRef> ScatteredExtremeAloneRule(const UOpRef& y, const UOpRef& g);

}  // namespace understudy::tensor_internal
