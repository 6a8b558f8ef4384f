// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scatters (scatter.h) with so few places beside their own axis that one thread would do the work: their
// sources are cut into consecutive parts, each part is sent to places of its own, and the parts' results are
// combined. The cut depends on the sizes alone, so that every device computes the same: a sum of floats adds
// the sources of each part in their order, then the parts in theirs. MakeSchedule is its only user.

#include "src/uop/uop.h"

namespace understudy {

// The call's SINK with such reductions split in two.
UOpRef SplitScatters(const UOpRef& sink);

}  // namespace understudy
