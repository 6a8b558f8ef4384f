// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels as AArch64 machine code (Armv8.0-A with NEON): instruction selection, register allocation and
// encoding of our own.

#include "absl/status/statusor.h"
#include "src/render/machine/machine_code.h"
#include "src/schedule/target.h"

namespace understudy {

// isa "aarch64".
Target A64Target();

// `kernel` must have been lowered for A64Target(). Unimplemented names the op or type that is refused;
// ResourceExhausted a kernel past the reach of a jump (1 MiB) or a frame past that of a load.
absl::StatusOr<machine::MachineKernel> RenderA64(const LinearKernel& kernel,
                                                 const machine::MachineOptions& options = {});

}  // namespace understudy
