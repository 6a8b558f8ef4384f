// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a kernel's sums of products can run on a tensor core, and the kernel that does so. Used by the
// choices (choices.cc) alone.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/codegen/choices.h"
#include "src/schedule/tensor_core.h"

namespace understudy {

// REDUCE ADD over `k` (and others) of a product of `a`, which varies with output range `m` and not with `n`,
// and `b`, which varies with `n` and not with `m`. The numbers are positions in KernelRanges.
struct TensorCoreUse {
  UOpRef reduce;
  UOpRef a, b;  // of the core's input type
  int m = 0, n = 0, k = 0;
};

// Every use of `core`, the one whose rows of C are contiguous in memory first. Sizes are not looked at.
std::vector<TensorCoreUse> FindTensorCoreUses(const UOpRef& kernel, const KernelRanges& ranges,
                                              const TensorCore& core);

// What is left of the three ranges (null: nothing), and the lanes of a wave.
struct TensorCoreRanges {
  UOpRef m, n, k, lane;
};

// The kernel with a WMMA in place of the products, one STORE for each element of C that a lane holds. The
// ranges must divide by the core's shape.
UOpRef ApplyTensorCore(const UOpRef& kernel, const KernelRanges& ranges, const TensorCore& core,
                       const TensorCoreUse& use, const TensorCoreRanges& left);

}  // namespace understudy
