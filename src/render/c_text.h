// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a linear kernel to C, OpenCL C, HIP C++ or CUDA C++: the text that a compiler elsewhere takes. Used by the
// devices that have such a compiler and by `understudy trace`. Never compiles or runs anything.
//
// The text means what the graph means, to the bit: integers wrap, conversions to integers saturate, nothing
// is contracted. What a dialect cannot promise by its text (OpenCL's division, square root and denormals of
// f32) must be asked of its compiler; RenderedText::flags says how.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/codegen/codegen.h"

namespace understudy {

enum class CDialect { kC, kOpenCl, kHip, kCuda };

// kC:      void name(void* const* buffers, const long long* vars, long long workgroup), as CompiledKernel's;
//          C11 with clang's vector types, no headers, no library but sqrt, trunc and fma.
// kOpenCl: __kernel void name(__global T* p0, ..., long var0, ...)
// kHip:    extern "C" __global__ void name(T* p0, ..., long long var0, ...); compiles without HIP's headers.
// kCuda:   the same, for nvcc and NVRTC, or clang without CUDA's headers; vectors are structures.
struct RenderedText {
  std::string name;  // of the function: "k_" and the kernel's
  std::string text;
  std::string flags;  // for the dialect's compiler
  std::array<int64_t, 3> global = {1, 1, 1}, local = {1, 1, 1};
  std::vector<KernelParam> params;
  std::vector<VarArg> vars;
};

// Unimplemented names an op or type that the dialect lacks: EXP2, LOG2 and SIN, MAX and MIN of floats and f16
// arithmetic (give a Target without them), tensor cores, workgroups in C, vectors of over 16 lanes in OpenCL.
absl::StatusOr<RenderedText> RenderC(const LinearKernel& kernel, CDialect dialect);

// What the dialects can say: the Target to lower a kernel for.
Target CTextTarget(CDialect dialect);

}  // namespace understudy
