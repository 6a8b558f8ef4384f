// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a launch of machine code is checked for, whatever the processor. Used by the devices of this folder.

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "src/render/machine/machine_code.h"

namespace understudy {

// InvalidArgument: buffers or variables are missing; OutOfRange: a variable outside its limits.
absl::Status CheckArguments(const machine::MachineKernel& k, size_t buffers, absl::Span<const int64_t> vars);

// The heuristic's choices for this target; kernels without reductions, whose loops it leaves to LLVM's
// vectorizer, get their last output axis as lanes where that is legal.
ChoiceList MachineChoices(const UOpRef& kernel, const Target& target);

}  // namespace understudy
