// SPDX-License-Identifier: Apache-2.0
#pragma once
// VOP3P: packed halves, mixed-precision FMA and dot products. RDNA3 ISA, "VOP3P Instructions". The matrix
// instructions work on whole waves and are in matrix_*.cc.

#include <cstdint>

namespace understudy::emu::amd {

// clang-format off: an instruction a line

#define US_PK_INT(name, expression)                                                                     \
  template <class B> constexpr auto name##Half(B& b, int half) {                                        \
    const auto x = b.SrcPkU16(0, half), y = b.SrcPkU16(1, half);                                        \
    return expression;                                                                                  \
  }                                                                                                     \
  template <class B> constexpr void name(B& b) { b.DstPkU16(name##Half(b, 0), name##Half(b, 1)); }
US_PK_INT(VPkMulLoU16, b.Mul(x, y))
US_PK_INT(VPkAddI16, SatAddS16(b, x, y))
US_PK_INT(VPkSubI16, SatSubS16(b, x, y))
US_PK_INT(VPkAddU16, SatAddU16(b, x, y))
US_PK_INT(VPkSubU16, SatSubU16(b, x, y))
US_PK_INT(VPkLshlrevB16, b.Shl(y, b.Zext32(x)))
US_PK_INT(VPkLshrrevB16, b.Shr(y, b.Zext32(x)))
US_PK_INT(VPkAshrrevI16, b.Sar(y, b.Zext32(x)))
US_PK_INT(VPkMaxI16, b.SMax(x, y))
US_PK_INT(VPkMinI16, b.SMin(x, y))
US_PK_INT(VPkMaxU16, b.UMax(x, y))
US_PK_INT(VPkMinU16, b.UMin(x, y))
US_PK_INT(VPkMadI16, MadI16(b, x, y, b.SrcPkU16(2, half)))
US_PK_INT(VPkMadU16, MadU16(b, x, y, b.SrcPkU16(2, half)))
#undef US_PK_INT

#define US_PK_FLOAT(name, expression)                                                                   \
  template <class B> constexpr auto name##Half(B& b, int half) {                                        \
    const auto x = b.SrcPkF16(0, half), y = b.SrcPkF16(1, half);                                        \
    return expression;                                                                                  \
  }                                                                                                     \
  template <class B> constexpr void name(B& b) { b.DstPkF16(name##Half(b, 0), name##Half(b, 1)); }
US_PK_FLOAT(VPkAddF16, b.FAdd(x, y))
US_PK_FLOAT(VPkMulF16, b.FMul(x, y))
US_PK_FLOAT(VPkMinF16, b.FMin(x, y))
US_PK_FLOAT(VPkMaxF16, b.FMax(x, y))
US_PK_FLOAT(VPkFmaF16, b.FFma(x, y, b.SrcPkF16(2, half)))
#undef US_PK_FLOAT

template <class B> constexpr void VFmaMixF32(B& b) {
  b.DstF32(b.FFma(b.SrcMixF32(0), b.SrcMixF32(1), b.SrcMixF32(2)));
}
template <class B> constexpr void VFmaMixloF16(B& b) {
  b.DstLoF16(b.FFmaTo16(b.SrcMixF32(0), b.SrcMixF32(1), b.SrcMixF32(2)));
}
template <class B> constexpr void VFmaMixhiF16(B& b) {
  b.DstHiF16(b.FFmaTo16(b.SrcMixF32(0), b.SrcMixF32(1), b.SrcMixF32(2)));
}

// --- dot products: the accumulator first, then the products in order, each with one rounding ---
template <class B> constexpr void VDot2F32F16(B& b) {
  auto sum = b.SrcF32(2);
  for (int half = 0; half < 2; ++half) {
    sum = b.FFma(b.F32FromF16(b.SrcPkF16(0, half)), b.F32FromF16(b.SrcPkF16(1, half)), sum);
  }
  b.DstF32(sum);
}
template <class B> constexpr void VDot2F32Bf16(B& b) {
  auto sum = b.SrcF32(2);
  for (int half = 0; half < 2; ++half) {
    sum = b.FFma(b.F32FromBF16(b.SrcPkBF16(0, half)), b.F32FromBF16(b.SrcPkBF16(1, half)), sum);
  }
  b.DstF32(sum);
}
template <class B> constexpr void VDot2F16F16(B& b) {
  auto sum = b.SrcF16(2);
  for (int half = 0; half < 2; ++half) sum = b.FFma(b.SrcPkF16(0, half), b.SrcPkF16(1, half), sum);
  b.DstF16(sum);
}
template <class B> constexpr void VDot2Bf16Bf16(B& b) {
  auto sum = b.SrcBF16(2);
  for (int half = 0; half < 2; ++half) {
    const auto x = b.F32FromBF16(b.SrcPkBF16(0, half)), y = b.F32FromBF16(b.SrcPkBF16(1, half));
    sum = b.BF16FromF32(b.FFma(x, y, b.F32FromBF16(sum)));
  }
  b.DstBF16(sum);
}

// Element i of `kBits` bits, signed where the source's NEG bit says so.
template <int kBits, class B> constexpr auto DotElement(B& b, int source, int i) {
  const auto shifted = b.Shr(b.SrcU32(source), b.C32(static_cast<uint32_t>(kBits * i)));
  const auto as_unsigned = b.And(shifted, b.C32((1u << kBits) - 1));
  return b.Select(b.SrcIsSigned(source), b.template SextFrom<kBits>(shifted), as_unsigned);
}
template <int kBits, class B> constexpr auto DotUnsigned(B& b, int source, int i) {
  return b.And(b.Shr(b.SrcU32(source), b.C32(static_cast<uint32_t>(kBits * i))), b.C32((1u << kBits) - 1));
}
template <int kBits, class B> constexpr void DotIu(B& b) {
  auto sum = b.C32(0);
  for (int i = 0; i < 32 / kBits; ++i) sum = b.Add(sum, b.Mul(DotElement<kBits>(b, 0, i), DotElement<kBits>(b, 1, i)));
  DstSatS32(b, b.Add(b.Sext64(sum), b.Sext64(b.SrcU32(2))));
}
template <int kBits, class B> constexpr void DotU(B& b) {
  auto sum = b.C32(0);
  for (int i = 0; i < 32 / kBits; ++i) {
    sum = b.Add(sum, b.Mul(DotUnsigned<kBits>(b, 0, i), DotUnsigned<kBits>(b, 1, i)));
  }
  DstSatU32(b, b.Add(b.Zext64(sum), b.Zext64(b.SrcU32(2))));
}
template <class B> constexpr void VDot4I32Iu8(B& b) { DotIu<8>(b); }
template <class B> constexpr void VDot8I32Iu4(B& b) { DotIu<4>(b); }
template <class B> constexpr void VDot4U32U8(B& b) { DotU<8>(b); }
template <class B> constexpr void VDot8U32U4(B& b) { DotU<4>(b); }

// clang-format on
}  // namespace understudy::emu::amd
