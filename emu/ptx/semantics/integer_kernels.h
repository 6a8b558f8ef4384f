// SPDX-License-Identifier: Apache-2.0
#pragma once
// The compiled loops of the integer instructions, one set for each host instruction set: a row of
// integer_kernels.inc is a kernel. Filled by the *_kernels.cc of each chapter, read by integer_find.cc.

#include <cstdint>

#include "emu/ptx/core/warp.h"

namespace understudy::emu::ptx {

enum class IntegerKernel : uint16_t {
#define KERNEL(chapter, name, ...) k##name,
#include "emu/ptx/semantics/integer_kernels.inc"
#undef KERNEL
  kCount
};

// aux[0] of extended precision. Without kCarryIn the carry that comes in is 0, or 1 with kCarrySet.
constexpr uint64_t kCarryIn = 1, kCarryOut = 2, kCarrySet = 4;

struct IntegerKernels {
  ExecFn fn[static_cast<int>(IntegerKernel::kCount)] = {};
};

#define US_DECLARE_INTEGER_KERNELS(arch)           \
  namespace integer_kernels_##arch {               \
    void RegisterArithmetic(IntegerKernels * set); \
    void RegisterCompare(IntegerKernels * set);    \
    void RegisterBits(IntegerKernels * set);       \
    void RegisterVideo(IntegerKernels * set);      \
  }
US_DECLARE_INTEGER_KERNELS(baseline)
US_DECLARE_INTEGER_KERNELS(avx2)
US_DECLARE_INTEGER_KERNELS(avx512)
#undef US_DECLARE_INTEGER_KERNELS

#define US_INTEGER_JOIN_(a, b) a##b
#define US_INTEGER_JOIN(a, b) US_INTEGER_JOIN_(a, b)
#define US_INTEGER_KERNELS US_INTEGER_JOIN(integer_kernels_, US_SEMANTICS_ARCH)

// The kernel for this host (ChosenArch).
ExecFn HostKernel(IntegerKernel kernel);
// The row of `first`'s block for a type: blocks of AT_16_32_64 and AT_32_64 have one a width, those of
// SIGNED_* two, unsigned first. `narrowest`: the width of the block's first row.
ExecFn HostKernel(IntegerKernel first, int narrowest, int bits);
ExecFn HostKernel(IntegerKernel first, int narrowest, int bits, bool is_signed);

}  // namespace understudy::emu::ptx
