// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packed operands: values that a loop reads again and again from scattered places are copied before it, in the
// order in which they are read. The choice `pack` uses it; the renderers see an array (DEFINE_REG) and a loop
// that fills it. A copy holds the values themselves, so that no result changes.

#include <cstdint>

#include "absl/status/statusor.h"
#include "src/uop/uop.h"

namespace understudy {

// Numbers that are free in the kernel: of ranges and of arrays. Advanced by each packing.
struct PackNumbers {
  int64_t range = 0, array = 0;
  int64_t bytes = 0;  // that the arrays take
};

// Every largest elementwise value inside `kernel` that reads PARAM `param`, does not vary with the output range
// `loop` but does with ranges inside of it (those after it in the STORE's order, reduce ranges, lanes and
// copies of the body) comes from an array, filled outside of `loop`. InvalidArgument, with the reason only:
// when there is no such value, or the arrays would take more than `most_bytes` in all.
absl::StatusOr<UOpRef> PackOperand(const UOpRef& kernel, const UOpRef& loop, int64_t param,
                                   int64_t most_bytes, PackNumbers* numbers);

}  // namespace understudy
