// SPDX-License-Identifier: Apache-2.0
#pragma once
// What gfx9 has and RDNA does not: multiply-add in two roundings, packed f32, 64-bit moves and sums, truth tables and
// dot products of one signedness. CDNA2, CDNA3 and CDNA4 ISA, "VOP1" to "VOP3P Instructions".

#include <cstdint>

namespace understudy::emu::amd {

// clang-format off: an instruction a line

template <class B> constexpr void VMadF16(B& b) { b.DstF16(b.FMad(b.SrcF16(0), b.SrcF16(1), b.SrcF16(2))); }
template <class B> constexpr void VMadF32(B& b) { b.DstF32(b.FMad(b.SrcF32(0), b.SrcF32(1), b.SrcF32(2))); }
template <class B> constexpr void VMadLegacyF32(B& b) { b.DstF32(b.FMadZero(b.SrcF32(0), b.SrcF32(1), b.SrcF32(2))); }

template <class B> constexpr void VMovU32(B& b) { b.DstU32(b.SrcU32(0)); }
template <class B> constexpr void VMovB64(B& b) { b.DstU64(b.SrcU64(0)); }
template <class B> constexpr void VSubrevU16(B& b) { b.DstU16(SatSubU16(b, b.SrcU16(1), b.SrcU16(0))); }
template <class B> constexpr void VLshlAddU64(B& b) {
  b.DstU64(b.Add(b.Shl(b.SrcU64(0), b.And(b.SrcU32(1), b.C32(7))), b.SrcU64(2)));
}
// A step of a linear feedback shift register.
template <class B> constexpr void VPrngB32(B& b) {
  const auto x = b.SrcU32(0);
  b.DstU32(b.Xor(b.Shl(x, b.C32(1)), b.Select(b.SLt(x, b.C32(0)), b.C32(0xc5), b.C32(0))));
}

// Bit i of the truth table is the result where {S0, S1, S2} has the value i.
template <class B, class T> constexpr T BitOp3(B& b, T x, T y, T z, T zero) {
  auto result = zero;
  for (uint32_t i = 0; i < 8; ++i) {
    const auto wanted = b.Ne(b.And(b.TruthTable(), b.C32(1u << i)), b.C32(0));
    const auto term = b.And(b.And((i & 4) != 0 ? x : b.Not(x), (i & 2) != 0 ? y : b.Not(y)), (i & 1) != 0 ? z : b.Not(z));
    result = b.Or(result, b.Select(wanted, term, zero));
  }
  return result;
}
template <class B> constexpr void VBitop3B32(B& b) {
  b.DstU32(BitOp3(b, b.SrcU32(0), b.SrcU32(1), b.SrcU32(2), b.C32(0)));
}
template <class B> constexpr void VBitop3B16(B& b) {
  b.DstU16(BitOp3(b, b.SrcU16(0), b.SrcU16(1), b.SrcU16(2), b.C16(0)));
}

template <class B> constexpr auto AshrSat8(B& b, int source, uint32_t low, uint32_t high) {
  const auto shifted = b.Sar(b.SrcU32(source), b.SrcU32(2));
  return b.And(b.SMin(b.SMax(shifted, b.C32(low)), b.C32(high)), b.C32(0xff));
}
template <class B> constexpr void VAshrPkI8I32(B& b) {
  const auto lo = AshrSat8(b, 0, 0xffffff80u, 0x7f), hi = AshrSat8(b, 1, 0xffffff80u, 0x7f);
  b.DstU16(b.Lo16(b.Or(lo, b.Shl(hi, b.C32(8)))));
}
template <class B> constexpr void VAshrPkU8I32(B& b) {
  const auto lo = AshrSat8(b, 0, 0, 0xff), hi = AshrSat8(b, 1, 0, 0xff);
  b.DstU16(b.Lo16(b.Or(lo, b.Shl(hi, b.C32(8)))));
}

// --- packed f32 ---
template <class B> constexpr void VPkFmaF32(B& b) {
  b.DstPkF32(b.FFma(b.SrcPkF32(0, 0), b.SrcPkF32(1, 0), b.SrcPkF32(2, 0)),
             b.FFma(b.SrcPkF32(0, 1), b.SrcPkF32(1, 1), b.SrcPkF32(2, 1)));
}
template <class B> constexpr void VPkMulF32(B& b) {
  b.DstPkF32(b.FMul(b.SrcPkF32(0, 0), b.SrcPkF32(1, 0)), b.FMul(b.SrcPkF32(0, 1), b.SrcPkF32(1, 1)));
}
template <class B> constexpr void VPkAddF32(B& b) {
  b.DstPkF32(b.FAdd(b.SrcPkF32(0, 0), b.SrcPkF32(1, 0)), b.FAdd(b.SrcPkF32(0, 1), b.SrcPkF32(1, 1)));
}
// op_sel[0] chooses the dword of source 0 for the low result, op_sel[1] that of source 1 for the high one.
template <class B> constexpr void VPkMovB32(B& b) {
  const auto x = b.SrcU64(0), y = b.SrcU64(1);
  b.DstU64(b.Pack32(b.Select(b.SelectsHigh(0), b.Hi32(x), b.Lo32(x)), b.Select(b.SelectsHigh(1), b.Hi32(y), b.Lo32(y))));
}

// --- dot products; CLAMP saturates the sum ---
template <int kBits, class B> constexpr auto DotSigned(B& b, int source, int i) {
  return b.template SextFrom<kBits>(b.Shr(b.SrcU32(source), b.C32(static_cast<uint32_t>(kBits * i))));
}
template <int kBits, class B> constexpr void DotI(B& b) {
  auto sum = b.Sext64(b.SrcU32(2));
  for (int i = 0; i < 32 / kBits; ++i) {
    sum = b.Add(sum, b.Sext64(b.Mul(DotSigned<kBits>(b, 0, i), DotSigned<kBits>(b, 1, i))));
  }
  DstSatS32(b, sum);
}
template <class B> constexpr void VDot4I32I8(B& b) { DotI<8>(b); }
template <class B> constexpr void VDot8I32I4(B& b) { DotI<4>(b); }
// op_sel chooses halves here, as in the float dot products.
template <class B> constexpr void VDot2I32I16(B& b) {
  auto sum = b.Sext64(b.SrcU32(2));
  for (int i = 0; i < 2; ++i) sum = b.Add(sum, b.Sext64(b.Mul(b.Sext32(b.SrcPkU16(0, i)), b.Sext32(b.SrcPkU16(1, i)))));
  DstSatS32(b, sum);
}
template <class B> constexpr void VDot2U32U16(B& b) {
  auto sum = b.Zext64(b.SrcU32(2));
  for (int i = 0; i < 2; ++i) sum = b.Add(sum, b.Zext64(b.Mul(b.Zext32(b.SrcPkU16(0, i)), b.Zext32(b.SrcPkU16(1, i)))));
  DstSatU32(b, sum);
}
// The products first, then the accumulator.
template <class B> constexpr void VDot2F32Bf16Cdna(B& b) {
  const auto low = b.FMul(b.F32FromBF16(b.SrcPkBF16(0, 0)), b.F32FromBF16(b.SrcPkBF16(1, 0)));
  const auto both = b.FFma(b.F32FromBF16(b.SrcPkBF16(0, 1)), b.F32FromBF16(b.SrcPkBF16(1, 1)), low);
  b.DstF32(b.FAdd(both, b.SrcF32(2)));
}

// clang-format on
}  // namespace understudy::emu::amd
