// SPDX-License-Identifier: Apache-2.0
#pragma once
// VOP1: one source. RDNA3 ISA, "VOP1 Instructions". Each function is the meaning of one opcode over a builder
// (builder.h); semantics.inc binds opcodes to functions.

#include <cstdint>

namespace understudy::emu::amd {

// clang-format off: an instruction a line

template <class B> constexpr void VNop(B&) {}

// Modifiers on a move act on the sign bit, whatever the bits mean.
template <class B> constexpr void VMovB32(B& b) { b.DstU32(b.Bits(b.SrcF32(0))); }
template <class B> constexpr void VMovB16(B& b) { b.DstU16(b.Bits(b.SrcF16(0))); }
template <class B> constexpr void VNotB32(B& b) { b.DstU32(b.Not(b.SrcU32(0))); }
template <class B> constexpr void VNotB16(B& b) { b.DstU16(b.Not(b.SrcU16(0))); }
template <class B> constexpr void VBfrevB32(B& b) { b.DstU32(b.BitReverse(b.SrcU32(0))); }

// No bit found gives -1.
template <class B> constexpr void VClzI32U32(B& b) {
  const auto x = b.SrcU32(0);
  b.DstU32(b.Select(b.Eq(x, b.C32(0)), b.C32(~0u), b.Clz(x)));
}
template <class B> constexpr void VCtzI32B32(B& b) {
  const auto x = b.SrcU32(0);
  b.DstU32(b.Select(b.Eq(x, b.C32(0)), b.C32(~0u), b.Ctz(x)));
}
template <class B> constexpr void VClsI32(B& b) {
  const auto x = b.SrcU32(0);
  const auto differs = b.Xor(x, b.Sar(x, b.C32(31)));
  b.DstU32(b.Select(b.Eq(differs, b.C32(0)), b.C32(~0u), b.Clz(differs)));
}
template <class B> constexpr void VSatPkU8I16(B& b) {
  const auto lo = b.SMin(b.SMax(b.Sext32(b.SrcPkU16(0, 0)), b.C32(0)), b.C32(255));
  const auto hi = b.SMin(b.SMax(b.Sext32(b.SrcPkU16(0, 1)), b.C32(0)), b.C32(255));
  b.DstU16(b.Lo16(b.Or(lo, b.Shl(hi, b.C32(8)))));
}
template <class B> constexpr void VCvtI32I16(B& b) { b.DstU32(b.Sext32(b.SrcU16(0))); }
template <class B> constexpr void VCvtU32U16(B& b) { b.DstU32(b.Zext32(b.SrcU16(0))); }

// --- conversions ---
template <class B> constexpr void VCvtI32F64(B& b) { b.DstU32(b.S32FromF64(b.SrcF64(0))); }
template <class B> constexpr void VCvtU32F64(B& b) { b.DstU32(b.U32FromF64(b.SrcF64(0))); }
template <class B> constexpr void VCvtF64I32(B& b) { b.DstF64(b.F64FromS32(b.SrcU32(0))); }
template <class B> constexpr void VCvtF64U32(B& b) { b.DstF64(b.F64FromU32(b.SrcU32(0))); }
template <class B> constexpr void VCvtF32I32(B& b) { b.DstF32(b.F32FromS32(b.SrcU32(0))); }
template <class B> constexpr void VCvtF32U32(B& b) { b.DstF32(b.F32FromU32(b.SrcU32(0))); }
template <class B> constexpr void VCvtU32F32(B& b) { b.DstU32(b.U32FromF32(b.SrcF32(0))); }
template <class B> constexpr void VCvtI32F32(B& b) { b.DstU32(b.S32FromF32(b.SrcF32(0))); }
template <class B> constexpr void VCvtF16F32(B& b) { b.DstF16(b.F16FromF32(b.SrcF32(0))); }
template <class B> constexpr void VCvtF32F16(B& b) { b.DstF32(b.F32FromF16(b.SrcF16(0))); }
template <class B> constexpr void VCvtF32F64(B& b) { b.DstF32(b.F32FromF64(b.SrcF64(0))); }
template <class B> constexpr void VCvtF64F32(B& b) { b.DstF64(b.F64FromF32(b.SrcF32(0))); }
template <class B> constexpr void VCvtF16U16(B& b) { b.DstF16(b.F16FromU16(b.SrcU16(0))); }
template <class B> constexpr void VCvtF16I16(B& b) { b.DstF16(b.F16FromS16(b.SrcU16(0))); }
template <class B> constexpr void VCvtU16F16(B& b) { b.DstU16(b.U16FromF16(b.SrcF16(0))); }
template <class B> constexpr void VCvtI16F16(B& b) { b.DstU16(b.S16FromF16(b.SrcF16(0))); }
// floor(x + 0.5), exactly: the sum is taken in f64.
template <class B> constexpr void VCvtNearestI32F32(B& b) {
  b.DstU32(b.S32FromF64(b.FFloor(b.FAdd(b.F64FromF32(b.SrcF32(0)), b.CF64(0.5)))));
}
template <class B> constexpr void VCvtFloorI32F32(B& b) { b.DstU32(b.S32FromF32(b.FFloor(b.SrcF32(0)))); }
// A table of sixteenths: the low 4 bits as a signed number, over 16.
template <class B> constexpr void VCvtOffF32I4(B& b) {
  b.DstF32(b.FMul(b.F32FromS32(b.template SextFrom<4>(b.SrcU32(0))), b.CF32(0.0625f)));
}
template <class B> constexpr void VCvtF32Ubyte0(B& b) { b.DstF32(b.F32FromU32(b.template Byte<0>(b.SrcU32(0)))); }
template <class B> constexpr void VCvtF32Ubyte1(B& b) { b.DstF32(b.F32FromU32(b.template Byte<1>(b.SrcU32(0)))); }
template <class B> constexpr void VCvtF32Ubyte2(B& b) { b.DstF32(b.F32FromU32(b.template Byte<2>(b.SrcU32(0)))); }
template <class B> constexpr void VCvtF32Ubyte3(B& b) { b.DstF32(b.F32FromU32(b.template Byte<3>(b.SrcU32(0)))); }

// [-1, 1] to [-32767, 32767] and [0, 1] to [0, 65535], to nearest even; NaN gives 0. The product is exact in f64.
template <class B, class F64> constexpr auto SNorm16(B& b, F64 x) {
  const auto low = b.Select(b.FLt(x, b.CF64(-1.0)), b.CF64(-1.0), x);
  const auto clamped = b.Select(b.FGt(low, b.CF64(1.0)), b.CF64(1.0), low);
  return b.Lo16(b.S32FromF64(b.FRndne(b.FMul(clamped, b.CF64(32767.0)))));
}
template <class B, class F64> constexpr auto UNorm16(B& b, F64 x) {
  const auto low = b.Select(b.FLt(x, b.CF64(0.0)), b.CF64(0.0), x);
  const auto clamped = b.Select(b.FGt(low, b.CF64(1.0)), b.CF64(1.0), low);
  return b.Lo16(b.U32FromF64(b.FRndne(b.FMul(clamped, b.CF64(65535.0)))));
}
template <class B> constexpr auto F64OfHalf(B& b, typename B::F16 x) { return b.F64FromF32(b.F32FromF16(x)); }
template <class B> constexpr void VCvtNormI16F16(B& b) { b.DstU16(SNorm16(b, F64OfHalf(b, b.SrcF16(0)))); }
template <class B> constexpr void VCvtNormU16F16(B& b) { b.DstU16(UNorm16(b, F64OfHalf(b, b.SrcF16(0)))); }

// --- one float in, one float out: the same text at each precision ---
#define US_FLOAT_UNARY(name, op)                                                                  \
  template <class B> constexpr void name##F16(B& b) { b.DstF16(b.op(b.SrcF16(0))); }              \
  template <class B> constexpr void name##F32(B& b) { b.DstF32(b.op(b.SrcF32(0))); }              \
  template <class B> constexpr void name##F64(B& b) { b.DstF64(b.op(b.SrcF64(0))); }
US_FLOAT_UNARY(VTrunc, FTrunc)
US_FLOAT_UNARY(VCeil, FCeil)
US_FLOAT_UNARY(VRndne, FRndne)
US_FLOAT_UNARY(VFloor, FFloor)
US_FLOAT_UNARY(VFract, FFract)
US_FLOAT_UNARY(VRcp, FRcp)
US_FLOAT_UNARY(VRsq, FRsq)
US_FLOAT_UNARY(VSqrt, FSqrt)
US_FLOAT_UNARY(VFrexpMant, FrexpMant)
#undef US_FLOAT_UNARY
template <class B> constexpr void VExpF16(B& b) { b.DstF16(b.FExp2(b.SrcF16(0))); }
template <class B> constexpr void VExpF32(B& b) { b.DstF32(b.FExp2(b.SrcF32(0))); }
template <class B> constexpr void VLogF16(B& b) { b.DstF16(b.FLog2(b.SrcF16(0))); }
template <class B> constexpr void VLogF32(B& b) { b.DstF32(b.FLog2(b.SrcF32(0))); }
template <class B> constexpr void VSinF16(B& b) { b.DstF16(b.FSinTurns(b.SrcF16(0))); }
template <class B> constexpr void VSinF32(B& b) { b.DstF32(b.FSinTurns(b.SrcF32(0))); }
template <class B> constexpr void VCosF16(B& b) { b.DstF16(b.FCosTurns(b.SrcF16(0))); }
template <class B> constexpr void VCosF32(B& b) { b.DstF32(b.FCosTurns(b.SrcF32(0))); }
template <class B> constexpr void VFrexpExpI16F16(B& b) { b.DstU16(b.Lo16(b.FrexpExp(b.SrcF16(0)))); }
template <class B> constexpr void VFrexpExpI32F32(B& b) { b.DstU32(b.FrexpExp(b.SrcF32(0))); }
template <class B> constexpr void VFrexpExpI32F64(B& b) { b.DstU32(b.FrexpExp(b.SrcF64(0))); }

// clang-format on
}  // namespace understudy::emu::amd
