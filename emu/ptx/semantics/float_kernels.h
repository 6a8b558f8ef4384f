// SPDX-License-Identifier: Apache-2.0
#pragma once
// The compiled loops of the float instructions, one set for each host instruction set. Filled by
// float_kernels.cc, float_min_max_kernels.cc and convert_kernels.cc; read by float_find.cc and
// float_compare.cc, and by nothing else.

#include <cstdint>

#include "emu/ptx/core/warp.h"

namespace understudy::emu::ptx {

struct FloatRelations {
  uint32_t less[2] = {}, equal[2] = {}, unordered[2] = {};  // masks of lanes; [1]: of the upper halves
};

enum class FloatOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kFma,
  kFmaOob,
  kDiv,
  kRcp,
  kSqrt,
  kAbs,
  kNeg,
  kCopySign,
  kCount
};
enum class FloatType : uint8_t { kF32, kF64, kF16, kF16x2, kBf16, kBf16x2, kF32x2, kCount };

// Conversions that have a loop of their own; all others go through `convert`.
enum class FastConvert : uint8_t {
  kF32FromF16,
  kF32FromBf16,
  kF16FromF32,
  kF16FromF32Relu,
  kBf16FromF32,
  kBf16FromF32Relu,
  kF16x2FromF32,
  kF16x2FromF32Relu,
  kBf16x2FromF32,
  kBf16x2FromF32Relu,
  kF32FromS32,
  kF32FromU32,
  kS32FromF32Truncated,
  kCount
};

struct FloatKernels {
  static constexpr int kOps = static_cast<int>(FloatOp::kCount);
  static constexpr int kTypes = static_cast<int>(FloatType::kCount);
  // Null where the combination does not exist. [clamp]: Clamp; [ftz].
  ExecFn arithmetic[kOps][kTypes][3][2] = {};
  // [type][max][NaN][MinMaxSign][ftz], and the three-operand f32 form.
  ExecFn min_max[kTypes][2][2][3][2] = {};
  ExecFn min_max3[2][2][3][2] = {};
  FloatRelations (*compare[kTypes][2])(const Warp&, Src, Src) = {};
  ExecFn fast_convert[static_cast<int>(FastConvert::kCount)] = {};
  ExecFn convert = nullptr;         // by a ConvertPlan in aux[0]
  ExecFn convert_packed = nullptr;  // two f32 into f16x2 or bf16x2
};

#define US_DECLARE_FLOAT_KERNELS(arch)           \
  namespace float_kernels_##arch {               \
    void RegisterArithmetic(FloatKernels * set); \
    void RegisterMinMax(FloatKernels * set);     \
    void RegisterConvert(FloatKernels * set);    \
  }
US_DECLARE_FLOAT_KERNELS(baseline)
US_DECLARE_FLOAT_KERNELS(avx2)
US_DECLARE_FLOAT_KERNELS(avx512)
#undef US_DECLARE_FLOAT_KERNELS

#define US_FLOAT_JOIN_(a, b) a##b
#define US_FLOAT_JOIN(a, b) US_FLOAT_JOIN_(a, b)
#define US_FLOAT_KERNELS US_FLOAT_JOIN(float_kernels_, US_SEMANTICS_ARCH)

// The set for this host (ChosenArch).
const FloatKernels& HostFloatKernels();

}  // namespace understudy::emu::ptx
