// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a linear kernel to PTX text, for NVIDIA's driver (or an emulator of it) to compile. Used by the CUDA
// device and by `understudy trace`. Never runs anything, and needs no compiler library.
//
// Floating point is exact to the op: every operation names its rounding, so that ptxas contracts nothing;
// denormals are kept.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/codegen/codegen.h"
#include "src/schedule/target.h"

namespace understudy {

// A kernel `name` whose arguments are the buffers' 64-bit addresses by position, then the vars as 64-bit
// integers by name.
struct PtxKernel {
  std::string name;
  std::string text;
  std::array<int64_t, 3> global = {1, 1, 1}, local = {1, 1, 1};
  int64_t local_bytes = 0;
  std::vector<KernelParam> params;
  std::vector<VarArg> vars;
  // Bytes to which every buffer must be aligned, for vector loads and stores are.
  int alignment = 1;
};

struct PtxOptions {
  // Buffers are at least so aligned: wider accesses are taken apart. 1 gives code for any address.
  int alignment = 16;
};

// `kernel` must have been lowered for `target`, one of NvidiaTarget's. Unimplemented names an op or type that
// PTX lacks.
absl::StatusOr<PtxKernel> RenderPtx(const LinearKernel& kernel, const Target& target,
                                    const PtxOptions& options = {});

// A compute capability: "sm_70" ("sm_80", "sm_89", "sm_90", "sm_100"...). InvalidArgument for other texts.
absl::StatusOr<Target> NvidiaTarget(const std::string& isa);

}  // namespace understudy
