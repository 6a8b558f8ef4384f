// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of a spread value brought into another sharding or to one device, and movement ops on single
// parts. What crosses devices goes through explicit COPYs. Stage "multi" (multi.h) uses these.

#include <string>
#include <vector>

#include "src/uop/sharding.h"
#include "src/uop/uop.h"

namespace understudy {

// All of a spread value of that shape on one device.
UOpRef Gathered(const std::vector<UOpRef>& parts, const Sharding& s, const std::string& device,
                const Shape& shape);
// The parts of a value that is sharded as `from`, sharded as `to`.
std::vector<UOpRef> Reshard(const std::vector<UOpRef>& parts, const Sharding& from, const Sharding& to,
                            const Shape& shape);
// The movement op `u` on device i's part `x`: its source is sharded as `from`, its result as `to`.
UOpRef MovePart(const UOp& u, const UOpRef& x, const Sharding& from, const Sharding& to, size_t i);

}  // namespace understudy
