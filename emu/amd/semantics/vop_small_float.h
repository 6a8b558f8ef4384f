// SPDX-License-Identifier: Apache-2.0
#pragma once
// Conversions and dot products of 8-bit floats and bfloat16 (CDNA3, CDNA4, RDNA4). RDNA4 and CDNA4 have the formats of
// OCP, CDNA3 those called FNUZ; semantics.inc binds each generation to its own. Conversions with a block scale are in
// scaled_convert.cc.

#include "emu/amd/semantics/float_bits.h"

namespace understudy::emu::amd {

// clang-format off: an instruction a line

template <class Format, class B> constexpr auto SmallByte(B& b, typename B::U32 word, int i) {
  return b.template F32FromSmall<Format>(b.And(b.Shr(word, b.C32(static_cast<uint32_t>(8 * i))), b.C32(0xff)));
}
template <class Format, class B> constexpr void CvtPkF32Small(B& b) {
  const auto pair = b.Zext32(b.SrcU16(0));
  b.DstPkF32(SmallByte<Format>(b, pair, 0), SmallByte<Format>(b, pair, 1));
}
template <class Format, class B> constexpr void CvtPkSmallF32(B& b) {
  const auto lo = b.template SmallFromF32<Format>(b.SrcF32(0)), hi = b.template SmallFromF32<Format>(b.SrcF32(1));
  b.DstU16(b.Lo16(b.Or(lo, b.Shl(hi, b.C32(8)))));
}
#define US_SMALL(suffix, Format)                                                                                    \
  template <class B> constexpr void VCvtF32##suffix(B& b) { b.DstF32(b.template F32FromSmall<Format>(b.SrcByte(0))); } \
  template <class B> constexpr void VCvtPkF32##suffix(B& b) { CvtPkF32Small<Format>(b); }
US_SMALL(Fp8, Fp8)
US_SMALL(Bf8, Bf8)
US_SMALL(Fp8Fnuz, Fp8Fnuz)
US_SMALL(Bf8Fnuz, Bf8Fnuz)
#undef US_SMALL
#define US_SMALL(name, Format)                                                               \
  template <class B> constexpr void VCvtPk##name(B& b) { CvtPkSmallF32<Format>(b); }         \
  template <class B> constexpr void VCvtSr##name(B& b) {                                     \
    b.DstByte(b.template SmallFromF32Random<Format>(b.SrcF32(0), b.SrcU32(1)));              \
  }
US_SMALL(Fp8F32, Fp8)
US_SMALL(Bf8F32, Bf8)
US_SMALL(Fp8F32Fnuz, Fp8Fnuz)
US_SMALL(Bf8F32Fnuz, Bf8Fnuz)
#undef US_SMALL

// "+= product" with one rounding each: a product of two 8-bit floats is exact in f32.
template <class FormatA, class FormatB, class B> constexpr void Dot4(B& b) {
  auto sum = b.SrcF32(2);
  const auto x = b.SrcU32(0), y = b.SrcU32(1);
  for (int i = 0; i < 4; ++i) sum = b.FFma(SmallByte<FormatA>(b, x, i), SmallByte<FormatB>(b, y, i), sum);
  b.DstF32(sum);
}
template <class B> constexpr void VDot4F32Fp8Fp8(B& b) { Dot4<Fp8, Fp8>(b); }
template <class B> constexpr void VDot4F32Fp8Bf8(B& b) { Dot4<Fp8, Bf8>(b); }
template <class B> constexpr void VDot4F32Bf8Fp8(B& b) { Dot4<Bf8, Fp8>(b); }
template <class B> constexpr void VDot4F32Bf8Bf8(B& b) { Dot4<Bf8, Bf8>(b); }

// --- bfloat16 and f16, to nearest even whatever MODE says ---
template <class B> constexpr void VCvtF32Bf16(B& b) { b.DstF32(b.F32FromBF16(b.SrcBF16(0))); }
template <class B> constexpr void VCvtPkBf16F32(B& b) {
  b.DstPkU16(b.Bits(b.BF16FromF32(b.SrcF32(0))), b.Bits(b.BF16FromF32(b.SrcF32(1))));
}
template <class B> constexpr void VCvtPkF16F32(B& b) {
  b.DstPkU16(b.Bits(b.F16FromF32Nearest(b.SrcF32(0))), b.Bits(b.F16FromF32Nearest(b.SrcF32(1))));
}
template <class B> constexpr void VCvtSrF16F32(B& b) {
  b.DstU16(b.Lo16(b.template SmallFromF32Random<Binary16>(b.SrcF32(0), b.SrcU32(1))));
}
template <class B> constexpr void VCvtSrBf16F32(B& b) {
  b.DstU16(b.Lo16(b.template SmallFromF32Random<BFloat16>(b.SrcF32(0), b.SrcU32(1))));
}

// clang-format on
}  // namespace understudy::emu::amd
