// SPDX-License-Identifier: Apache-2.0
#pragma once
// Selections: the sum over r of (i == r ? x[r] : 0) is x[i], and 0 where i is outside. Gathers, one-hot
// products and lookups are written that way on tensor level, where they have a derivative; here they become
// indexed loads, so that they cost one read an element and not one comparison for every r. Only the planner
// uses this.

#include <vector>

#include "src/uop/uop.h"

namespace understudy {

// True when the REDUCE_AXIS has at most one term that is not its identity, picked along every reduced axis by
// a comparison of the position (an IOTA) with a value that does not vary along it. SelectRanges then finds
// the same in the kernel's expression, unless a part of it is stored.
bool IsSelection(const UOp& reduce);

// The reduction of `value` over `ranges`, with those ranges that a comparison pins replaced by the value that
// they are compared with. A load at such an index gets a validity. What is left is reduced.
UOpRef SelectRanges(Op op, const UOpRef& value, std::vector<UOpRef> ranges);

}  // namespace understudy
