// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a linear kernel to machine code through LLVM: a relocatable ELF object for the host, a linked code
// object (version 5) for amdgcn. Used by the devices that compile. Never loads or runs the code. Thread safe.
//
// Floating point is exact to the op: no fast-math, no contraction, denormals kept, division and square root
// correctly rounded, so that the CPU and AMD answer bit for bit as REF does.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/codegen/codegen.h"
#include "src/schedule/target.h"

namespace understudy {

// host: `code` is a relocatable object that defines
//   extern "C" void name(void* const* buffers, const int64_t* vars, int64_t workgroup)
// which runs one of the global[0] workgroups; buffers by position in `params`, vars by name order. It may
// call fma and fmaf. amdgcn: `code` is a shared object with the kernel `name` and its descriptor `name.kd`;
// its arguments are the buffers' 64-bit addresses, then the vars as int64.
struct CompiledKernel {
  std::string name;
  std::vector<uint8_t> code;
  std::string text;  // LLVM IR before optimisation
  std::array<int64_t, 3> global = {1, 1, 1}, local = {1, 1, 1};
  int64_t local_bytes = 0;
  std::vector<KernelParam> params;
  std::vector<VarArg> vars;
};

// `kernel` must have been lowered for the same `target`. Unimplemented names an op or type the renderer
// refuses; Internal carries LLVM's or lld's message.
absl::StatusOr<CompiledKernel> RenderLlvm(const LinearKernel& kernel, const Target& target);

// This machine, with its threads.
Target HostTarget();
// An AMD processor: gfx11.. and gfx12.. in wave32, gfx90a, gfx942 and gfx950. Unimplemented lists those.
absl::StatusOr<Target> AmdTarget(const std::string& isa);
// RDNA3 (Navi 31).
Target Gfx1100Target();

}  // namespace understudy
