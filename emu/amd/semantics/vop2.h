// SPDX-License-Identifier: Apache-2.0
#pragma once
// VOP2 and the two-source VOP3 instructions. RDNA3 ISA, "VOP2 Instructions" and "VOP3 & VOP3SD Instructions".
// A tied accumulator (FMAC, DOT2ACC) arrives as source 2, the select and carry masks of CNDMASK and ADD_CO_CI
// as well.

#include <cstdint>

namespace understudy::emu::amd {

// clang-format off: an instruction a line

template <class B> constexpr void VCndmaskB32(B& b) {
  b.DstU32(b.Select(b.SrcMask(2), b.Bits(b.SrcF32(1)), b.Bits(b.SrcF32(0))));
}
template <class B> constexpr void VCndmaskB16(B& b) {
  b.DstU16(b.Select(b.SrcMask(2), b.Bits(b.SrcF16(1)), b.Bits(b.SrcF16(0))));
}

// --- floats, the same text at each precision ---
#define US_FLOAT_BINARY(name, expression)                                          \
  template <class B> constexpr void name##F16(B& b) {                              \
    const auto x = b.SrcF16(0), y = b.SrcF16(1);                                   \
    b.DstF16(expression);                                                          \
  }                                                                                \
  template <class B> constexpr void name##F32(B& b) {                              \
    const auto x = b.SrcF32(0), y = b.SrcF32(1);                                   \
    b.DstF32(expression);                                                          \
  }                                                                                \
  template <class B> constexpr void name##F64(B& b) {                              \
    const auto x = b.SrcF64(0), y = b.SrcF64(1);                                   \
    b.DstF64(expression);                                                          \
  }
US_FLOAT_BINARY(VAdd, b.FAdd(x, y))
US_FLOAT_BINARY(VSub, b.FSub(x, y))
US_FLOAT_BINARY(VSubrev, b.FSub(y, x))
US_FLOAT_BINARY(VMul, b.FMul(x, y))
US_FLOAT_BINARY(VMin, b.FMin(x, y))
US_FLOAT_BINARY(VMax, b.FMax(x, y))
#undef US_FLOAT_BINARY
template <class B> constexpr void VFmaF16(B& b) { b.DstF16(b.FFma(b.SrcF16(0), b.SrcF16(1), b.SrcF16(2))); }
template <class B> constexpr void VFmaF32(B& b) { b.DstF32(b.FFma(b.SrcF32(0), b.SrcF32(1), b.SrcF32(2))); }
template <class B> constexpr void VFmaF64(B& b) { b.DstF64(b.FFma(b.SrcF64(0), b.SrcF64(1), b.SrcF64(2))); }
template <class B> constexpr void VMulDx9ZeroF32(B& b) { b.DstF32(b.FMulZero(b.SrcF32(0), b.SrcF32(1))); }
template <class B> constexpr void VFmaDx9ZeroF32(B& b) {
  b.DstF32(b.FFmaZero(b.SrcF32(0), b.SrcF32(1), b.SrcF32(2)));
}
template <class B> constexpr void VLdexpF16(B& b) { b.DstF16(b.FLdexp(b.SrcF16(0), b.Sext32(b.SrcU16(1)))); }
template <class B> constexpr void VLdexpF32(B& b) { b.DstF32(b.FLdexp(b.SrcF32(0), b.SrcU32(1))); }
template <class B> constexpr void VLdexpF64(B& b) { b.DstF64(b.FLdexp(b.SrcF64(0), b.SrcU32(1))); }
template <class B> constexpr void VCvtPkRtzF16F32(B& b) {
  b.DstPkF16(b.F16FromF32Rtz(b.SrcF32(0)), b.F16FromF32Rtz(b.SrcF32(1)));
}
template <class B> constexpr void VPackB32F16(B& b) { b.DstPkU16(b.Bits(b.SrcF16(0)), b.Bits(b.SrcF16(1))); }

// --- 24-bit multiplication ---
template <class B> constexpr auto Low24(B& b, typename B::U32 x) { return b.And(x, b.C32(0xffffffu)); }
template <class B> constexpr void VMulI32I24(B& b) {
  b.DstU32(b.Mul(b.template SextFrom<24>(b.SrcU32(0)), b.template SextFrom<24>(b.SrcU32(1))));
}
template <class B> constexpr void VMulHiI32I24(B& b) {
  b.DstU32(b.MulHiS(b.template SextFrom<24>(b.SrcU32(0)), b.template SextFrom<24>(b.SrcU32(1))));
}
template <class B> constexpr void VMulU32U24(B& b) { b.DstU32(b.Mul(Low24(b, b.SrcU32(0)), Low24(b, b.SrcU32(1)))); }
template <class B> constexpr void VMulHiU32U24(B& b) {
  b.DstU32(b.MulHiU(Low24(b, b.SrcU32(0)), Low24(b, b.SrcU32(1))));
}

// --- 32-bit integers ---
#define US_INT_BINARY(name, expression)                 \
  template <class B> constexpr void name(B& b) {        \
    const auto x = b.SrcU32(0), y = b.SrcU32(1);        \
    b.DstU32(expression);                               \
  }
US_INT_BINARY(VMinI32, b.SMin(x, y))
US_INT_BINARY(VMaxI32, b.SMax(x, y))
US_INT_BINARY(VMinU32, b.UMin(x, y))
US_INT_BINARY(VMaxU32, b.UMax(x, y))
US_INT_BINARY(VLshlrevB32, b.Shl(y, x))
US_INT_BINARY(VLshrrevB32, b.Shr(y, x))
US_INT_BINARY(VAshrrevI32, b.Sar(y, x))
US_INT_BINARY(VAndB32, b.And(x, y))
US_INT_BINARY(VOrB32, b.Or(x, y))
US_INT_BINARY(VXorB32, b.Xor(x, y))
US_INT_BINARY(VXnorB32, b.Not(b.Xor(x, y)))
US_INT_BINARY(VMulLoU32, b.Mul(x, y))
US_INT_BINARY(VMulHiU32, b.MulHiU(x, y))
US_INT_BINARY(VMulHiI32, b.MulHiS(x, y))
US_INT_BINARY(VBfmB32, b.Shl(b.Sub(b.Shl(b.C32(1), x), b.C32(1)), y))
US_INT_BINARY(VBcntU32B32, b.Add(b.PopCount(x), y))
// Bits of the mask below this lane.
US_INT_BINARY(VMbcntLoU32B32,
              b.Add(b.PopCount(b.And(x, b.Select(b.ULt(b.LaneId(), b.C32(32)),
                                                 b.Sub(b.Shl(b.C32(1), b.LaneId()), b.C32(1)), b.C32(~0u)))),
                    y))
US_INT_BINARY(VMbcntHiU32B32,
              b.Add(b.PopCount(b.And(x, b.Select(b.ULt(b.LaneId(), b.C32(32)), b.C32(0),
                                                 b.Sub(b.Shl(b.C32(1), b.LaneId()), b.C32(1))))),
                    y))
US_INT_BINARY(VCvtPkU16U32, b.Or(b.UMin(x, b.C32(0xffff)), b.Shl(b.UMin(y, b.C32(0xffff)), b.C32(16))))
US_INT_BINARY(VCvtPkI16I32, b.Pack16(b.SatS16(x), b.SatS16(y)))
#undef US_INT_BINARY

// Sum and difference with CLAMP as saturation.
template <class B, class T> constexpr T SatAddU(B& b, T x, T y, T max) {
  const auto sum = b.Add(x, y);
  return b.Saturate(b.ULt(sum, x), max, sum);
}
template <class B, class T> constexpr T SatSubU(B& b, T x, T y, T zero) {
  return b.Saturate(b.ULt(x, y), zero, b.Sub(x, y));
}
// `min` has only the sign bit.
template <class B, class T> constexpr T SatAddS(B& b, T x, T y, T min, T zero) {
  const auto sum = b.Add(x, y);
  const auto overflow = b.SLt(b.And(b.Xor(sum, x), b.Xor(sum, y)), zero);
  return b.Saturate(overflow, b.Select(b.SLt(x, zero), min, b.Not(min)), sum);
}
template <class B, class T> constexpr T SatSubS(B& b, T x, T y, T min, T zero) {
  const auto difference = b.Sub(x, y);
  const auto overflow = b.SLt(b.And(b.Xor(x, y), b.Xor(difference, x)), zero);
  return b.Saturate(overflow, b.Select(b.SLt(x, zero), min, b.Not(min)), difference);
}
template <class B> constexpr auto SatAddU32(B& b, typename B::U32 x, typename B::U32 y) {
  return SatAddU(b, x, y, b.C32(~0u));
}
template <class B> constexpr auto SatAddS16(B& b, typename B::U16 x, typename B::U16 y) {
  return SatAddS(b, x, y, b.C16(0x8000), b.C16(0));
}
template <class B> constexpr auto SatSubS16(B& b, typename B::U16 x, typename B::U16 y) {
  return SatSubS(b, x, y, b.C16(0x8000), b.C16(0));
}
template <class B> constexpr auto SatAddU16(B& b, typename B::U16 x, typename B::U16 y) {
  return SatAddU(b, x, y, b.C16(0xffff));
}
template <class B> constexpr auto SatSubU16(B& b, typename B::U16 x, typename B::U16 y) {
  return SatSubU(b, x, y, b.C16(0));
}

template <class B> constexpr void VAddNcU32(B& b) { b.DstU32(SatAddU32(b, b.SrcU32(0), b.SrcU32(1))); }
template <class B> constexpr void VSubNcU32(B& b) { b.DstU32(SatSubU(b, b.SrcU32(0), b.SrcU32(1), b.C32(0))); }
template <class B> constexpr void VSubrevNcU32(B& b) { b.DstU32(SatSubU(b, b.SrcU32(1), b.SrcU32(0), b.C32(0))); }
template <class B> constexpr void VAddNcI32(B& b) {
  b.DstU32(SatAddS(b, b.SrcU32(0), b.SrcU32(1), b.C32(0x80000000u), b.C32(0)));
}
template <class B> constexpr void VSubNcI32(B& b) {
  b.DstU32(SatSubS(b, b.SrcU32(0), b.SrcU32(1), b.C32(0x80000000u), b.C32(0)));
}

// --- carries ---
template <class B> constexpr void VAddCoU32(B& b) {
  const auto x = b.SrcU32(0), sum = b.Add(x, b.SrcU32(1));
  const auto carry = b.ULt(sum, x);
  b.DstMask(carry);
  b.DstU32(b.Saturate(carry, b.C32(~0u), sum));
}
template <class B> constexpr void SubCo(B& b, typename B::U32 x, typename B::U32 y) {
  const auto borrow = b.ULt(x, y);
  b.DstMask(borrow);
  b.DstU32(b.Saturate(borrow, b.C32(0), b.Sub(x, y)));
}
template <class B> constexpr void VSubCoU32(B& b) { SubCo(b, b.SrcU32(0), b.SrcU32(1)); }
template <class B> constexpr void VSubrevCoU32(B& b) { SubCo(b, b.SrcU32(1), b.SrcU32(0)); }
template <class B> constexpr void VAddCoCiU32(B& b) {
  const auto x = b.SrcU32(0), partial = b.Add(x, b.SrcU32(1));
  const auto sum = b.Add(partial, b.FromBool(b.SrcMask(2)));
  const auto carry = b.Or(b.ULt(partial, x), b.ULt(sum, partial));
  b.DstMask(carry);
  b.DstU32(b.Saturate(carry, b.C32(~0u), sum));
}
template <class B> constexpr void SubCoCi(B& b, typename B::U32 x, typename B::U32 y) {
  const auto in = b.FromBool(b.SrcMask(2));
  const auto partial = b.Sub(x, y);
  const auto borrow = b.Or(b.ULt(x, y), b.ULt(partial, in));
  b.DstMask(borrow);
  b.DstU32(b.Saturate(borrow, b.C32(0), b.Sub(partial, in)));
}
template <class B> constexpr void VSubCoCiU32(B& b) { SubCoCi(b, b.SrcU32(0), b.SrcU32(1)); }
template <class B> constexpr void VSubrevCoCiU32(B& b) { SubCoCi(b, b.SrcU32(1), b.SrcU32(0)); }

// --- 16-bit integers ---
#define US_INT16_BINARY(name, expression)               \
  template <class B> constexpr void name(B& b) {        \
    const auto x = b.SrcU16(0), y = b.SrcU16(1);        \
    b.DstU16(expression);                               \
  }
US_INT16_BINARY(VAddNcU16, SatAddU16(b, x, y))
US_INT16_BINARY(VSubNcU16, SatSubU16(b, x, y))
US_INT16_BINARY(VAddNcI16, SatAddS16(b, x, y))
US_INT16_BINARY(VSubNcI16, SatSubS16(b, x, y))
US_INT16_BINARY(VMaxU16, b.UMax(x, y))
US_INT16_BINARY(VMaxI16, b.SMax(x, y))
US_INT16_BINARY(VMinU16, b.UMin(x, y))
US_INT16_BINARY(VMinI16, b.SMin(x, y))
US_INT16_BINARY(VLshlrevB16, b.Shl(y, b.Zext32(x)))
US_INT16_BINARY(VLshrrevB16, b.Shr(y, b.Zext32(x)))
US_INT16_BINARY(VAshrrevI16, b.Sar(y, b.Zext32(x)))
US_INT16_BINARY(VAndB16, b.And(x, y))
US_INT16_BINARY(VOrB16, b.Or(x, y))
US_INT16_BINARY(VXorB16, b.Xor(x, y))
#undef US_INT16_BINARY
template <class B> constexpr void VMulLoU16(B& b) {
  const auto product = b.Mul(b.Zext32(b.SrcU16(0)), b.Zext32(b.SrcU16(1)));
  b.DstU16(b.Saturate(b.UGt(product, b.C32(0xffff)), b.C16(0xffff), b.Lo16(product)));
}

// --- 64-bit shifts ---
template <class B> constexpr void VLshlrevB64(B& b) { b.DstU64(b.Shl(b.SrcU64(1), b.SrcU32(0))); }
template <class B> constexpr void VLshrrevB64(B& b) { b.DstU64(b.Shr(b.SrcU64(1), b.SrcU32(0))); }
template <class B> constexpr void VAshrrevI64(B& b) { b.DstU64(b.Sar(b.SrcU64(1), b.SrcU32(0))); }

// --- packing conversions ---
template <class B> constexpr void VCvtPkI16F32(B& b) {
  b.DstPkU16(b.SatS16(b.S32FromF32(b.SrcF32(0))), b.SatS16(b.S32FromF32(b.SrcF32(1))));
}
template <class B> constexpr void VCvtPkU16F32(B& b) {
  const auto max = b.C32(0xffff);
  b.DstPkU16(b.Lo16(b.UMin(b.U32FromF32(b.SrcF32(0)), max)), b.Lo16(b.UMin(b.U32FromF32(b.SrcF32(1)), max)));
}
template <class B> constexpr void VCvtPkNormI16F16(B& b) {
  b.DstPkU16(SNorm16(b, F64OfHalf(b, b.SrcF16(0))), SNorm16(b, F64OfHalf(b, b.SrcF16(1))));
}
template <class B> constexpr void VCvtPkNormU16F16(B& b) {
  b.DstPkU16(UNorm16(b, F64OfHalf(b, b.SrcF16(0))), UNorm16(b, F64OfHalf(b, b.SrcF16(1))));
}
template <class B> constexpr void VCvtPkNormI16F32(B& b) {
  b.DstPkU16(SNorm16(b, b.F64FromF32(b.SrcF32(0))), SNorm16(b, b.F64FromF32(b.SrcF32(1))));
}
template <class B> constexpr void VCvtPkNormU16F32(B& b) {
  b.DstPkU16(UNorm16(b, b.F64FromF32(b.SrcF32(0))), UNorm16(b, b.F64FromF32(b.SrcF32(1))));
}

// Window S1[4:0] of 2/pi for an argument of S0's exponent, scaled so that large arguments do not lose bits to
// denormals.
template <class B> constexpr void VTrigPreopF64(B& b) {
  const auto exponent = b.ExpField(b.SrcF64(0));
  const auto segment = b.Mul(b.And(b.SrcU32(1), b.C32(31)), b.C32(53));
  const auto shift = b.Add(segment, b.Select(b.UGt(exponent, b.C32(1077)), b.Sub(exponent, b.C32(1077)), b.C32(0)));
  const auto bits = b.TwoOverPiBits(shift);
  // The window is below 2^53: its two halves convert exactly.
  const auto high = b.FMul(b.F64FromU32(b.Hi32(bits)), b.CF64(4294967296.0));
  const auto value = b.FAdd(high, b.F64FromU32(b.Lo32(bits)));
  const auto scale = b.Sub(b.C32(static_cast<uint32_t>(-53)), shift);
  const auto extra = b.Select(b.UGe(exponent, b.C32(1968)), b.C32(128), b.C32(0));
  b.DstF64(b.FLdexp(value, b.Add(scale, extra)));
}

// clang-format on
}  // namespace understudy::emu::amd
