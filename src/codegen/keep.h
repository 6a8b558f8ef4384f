// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values of a row that a reduction and the outputs both take (the exponentials of a softmax): computed once,
// into an array that both read. The choice `keep` uses it, on hosts; the renderers see an array (DEFINE_REG)
// and a loop that fills it. The array holds the values themselves, so that no result changes.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "src/codegen/pack.h"
#include "src/uop/uop.h"

namespace understudy {

// Every largest elementwise value of memory that a REDUCE computes for each step of the range `reduce`, and
// the kernel's outputs for each step of the output range `output` (as long, and the last of the STOREs'): as
// it stands in the REDUCE. InvalidArgument, with the reason only, when there is none.
absl::StatusOr<std::vector<UOpRef>> KeptValues(const UOpRef& kernel, const UOpRef& reduce,
                                               const UOpRef& output);

// The same values come from arrays that are filled once a row, at most `bytes` of a vector's at a time.
// InvalidArgument also when the arrays would take more than `most_bytes` in all.
absl::StatusOr<UOpRef> KeepValues(const UOpRef& kernel, const UOpRef& reduce, const UOpRef& output,
                                  int64_t bytes, int64_t most_bytes, PackNumbers* numbers);

}  // namespace understudy
