// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a kernel graph costs in floating-point operations and accesses, counted on the graph before any
// choice: for NULL's statistics and benchmarks. Never looks at a device.

#include <cstdint>
#include <map>

#include "src/uop/uop.h"

namespace understudy {

// Counts that pass 2^63-1 stay there.
struct KernelCost {
  // Additions, multiplications and the like of floats, as often as their value differs: an operation counts
  // for each step of the ranges that its value varies with. MULACC is two, a REDUCE one an element; CAST,
  // BITCAST, WHERE and comparisons are none.
  int64_t flops = 0;
  // Bytes that LOADs and STOREs name, by PARAM position, each access counted.
  std::map<int64_t, int64_t> read, written;
};

KernelCost CostOf(const UOpRef& kernel);

}  // namespace understudy
