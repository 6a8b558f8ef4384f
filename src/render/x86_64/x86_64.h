// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels as x86-64 machine code: instruction selection, register allocation and encoding of our own. Two
// levels (of the System V psABI): "x86-64-v2" is SSE4.1 without FMA and f16, "x86-64-v3" AVX2 with FMA and
// F16C.

#include "absl/status/statusor.h"
#include "src/render/machine/machine_code.h"
#include "src/schedule/target.h"

namespace understudy {

// isa "x86-64-v2" or "x86-64-v3".
Target X86Target(bool avx2);

// `kernel` must have been lowered for `target`. Unimplemented names the op or type that is refused.
absl::StatusOr<machine::MachineKernel> RenderX86(const LinearKernel& kernel, const Target& target,
                                                 const machine::MachineOptions& options = {});

}  // namespace understudy
