// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernarg segment of one launch: typed values packed as the metadata says, and the hidden arguments of
// code object version 5 (LLVM AMDGPUUsage, "Kernel Argument ABI"). Used by the driver and by callers of
// kernels that our compiler did not make. Pure functions.

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/runtime/amd/code_object.h"

namespace understudy::amd {

using Dim3 = std::array<uint32_t, 3>;

// A pointer to GPU memory, an amount of LDS (a __local pointer argument), or the bytes of a value.
struct GlobalPointer {
  uint64_t va = 0;
};
struct LocalBytes {
  uint32_t bytes = 0;
};
using ArgValue = std::variant<GlobalPointer, LocalBytes, std::vector<uint8_t>>;

template <class T>
ArgValue Scalar(T value) {
  const auto* p = reinterpret_cast<const uint8_t*>(&value);
  return std::vector<uint8_t>(p, p + sizeof(T));
}

struct PackedArgs {
  std::vector<uint8_t> kernarg;  // the explicit arguments
  uint32_t dynamic_lds = 0;
};

// InvalidArgument names the argument when count, kind or size do not match the kernel's metadata.
absl::StatusOr<PackedArgs> PackArgs(const KernelSymbol& kernel, absl::Span<const ArgValue> values);

struct LaunchShape {
  Dim3 grid = {1, 1, 1};   // workgroups
  Dim3 block = {1, 1, 1};  // work-items a workgroup
  uint32_t dynamic_lds = 0;
};

// High halves of the addresses at which LDS and scratch appear in flat address space.
struct Apertures {
  uint32_t private_hi = 0, shared_hi = 0;
};

// Writes explicit and hidden arguments to `out` (the kernel's kernarg_size bytes). Unimplemented names a
// hidden argument whose service does not exist here (printf, host calls, device enqueue, heap).
absl::Status FillKernarg(const KernelSymbol& kernel, absl::Span<const uint8_t> explicit_args,
                         const LaunchShape& shape, const Apertures& apertures, absl::Span<uint8_t> out);

}  // namespace understudy::amd
