// SPDX-License-Identifier: Apache-2.0
#pragma once
// VOP3 with three sources: integers, bit fields, bytes and sums of absolute differences. RDNA3 ISA, "VOP3 &
// VOP3SD Instructions". The floating-point ones are in vop3_float.h.

#include <cstdint>

namespace understudy::emu::amd {

// clang-format off: an instruction a line

#define US_INT_TERNARY(name, expression)                               \
  template <class B> constexpr void name(B& b) {                       \
    const auto x = b.SrcU32(0), y = b.SrcU32(1), z = b.SrcU32(2);      \
    b.DstU32(expression);                                              \
  }
US_INT_TERNARY(VBfeU32, b.And(b.Shr(x, y), b.Sub(b.Shl(b.C32(1), z), b.C32(1))))
US_INT_TERNARY(VBfiB32, b.Or(b.And(x, y), b.And(b.Not(x), z)))
US_INT_TERNARY(VMin3I32, b.SMin(b.SMin(x, y), z))
US_INT_TERNARY(VMin3U32, b.UMin(b.UMin(x, y), z))
US_INT_TERNARY(VMax3I32, b.SMax(b.SMax(x, y), z))
US_INT_TERNARY(VMax3U32, b.UMax(b.UMax(x, y), z))
US_INT_TERNARY(VMed3I32, b.SMax(b.SMin(x, y), b.SMin(b.SMax(x, y), z)))
US_INT_TERNARY(VMed3U32, b.UMax(b.UMin(x, y), b.UMin(b.UMax(x, y), z)))
US_INT_TERNARY(VMaxminI32, b.SMin(b.SMax(x, y), z))
US_INT_TERNARY(VMaxminU32, b.UMin(b.UMax(x, y), z))
US_INT_TERNARY(VMinmaxI32, b.SMax(b.SMin(x, y), z))
US_INT_TERNARY(VMinmaxU32, b.UMax(b.UMin(x, y), z))
US_INT_TERNARY(VXor3B32, b.Xor(b.Xor(x, y), z))
US_INT_TERNARY(VXadU32, b.Add(b.Xor(x, y), z))
US_INT_TERNARY(VLshlAddU32, b.Add(b.Shl(x, y), z))
US_INT_TERNARY(VAddLshlU32, b.Shl(b.Add(x, y), z))
US_INT_TERNARY(VAdd3U32, b.Add(b.Add(x, y), z))
US_INT_TERNARY(VLshlOrB32, b.Or(b.Shl(x, y), z))
US_INT_TERNARY(VAndOrB32, b.Or(b.And(x, y), z))
US_INT_TERNARY(VOr3B32, b.Or(b.Or(x, y), z))
#undef US_INT_TERNARY

// The amount is a 16-bit source: op_sel chooses the half of its register.
template <class B> constexpr void VAlignbitB32(B& b) {
  const auto amount = b.And(b.Zext32(b.SrcU16(2)), b.C32(31));
  b.DstU32(b.Lo32(b.Shr(b.Pack32(b.SrcU32(1), b.SrcU32(0)), amount)));
}
template <class B> constexpr void VAlignbyteB32(B& b) {
  const auto amount = b.Shl(b.And(b.Zext32(b.SrcU16(2)), b.C32(3)), b.C32(3));
  b.DstU32(b.Lo32(b.Shr(b.Pack32(b.SrcU32(1), b.SrcU32(0)), amount)));
}

// The field is sign-extended from its own top bit; a width of 0 gives 0.
template <class B> constexpr void VBfeI32(B& b) {
  const auto width = b.And(b.SrcU32(2), b.C32(31));
  const auto one = b.C32(1);
  const auto field = b.And(b.Sar(b.SrcU32(0), b.SrcU32(1)), b.Sub(b.Shl(one, width), one));
  const auto sign = b.Shl(one, b.Sub(width, one));
  b.DstU32(b.Select(b.Eq(width, b.C32(0)), b.C32(0), b.Sub(b.Xor(field, sign), sign)));
}

// --- 16-bit ---
#define US_INT16_TERNARY(name, expression)                             \
  template <class B> constexpr void name(B& b) {                       \
    const auto x = b.SrcU16(0), y = b.SrcU16(1), z = b.SrcU16(2);      \
    b.DstU16(expression);                                              \
  }
US_INT16_TERNARY(VMin3I16, b.SMin(b.SMin(x, y), z))
US_INT16_TERNARY(VMin3U16, b.UMin(b.UMin(x, y), z))
US_INT16_TERNARY(VMax3I16, b.SMax(b.SMax(x, y), z))
US_INT16_TERNARY(VMax3U16, b.UMax(b.UMax(x, y), z))
US_INT16_TERNARY(VMed3I16, b.SMax(b.SMin(x, y), b.SMin(b.SMax(x, y), z)))
US_INT16_TERNARY(VMed3U16, b.UMax(b.UMin(x, y), b.UMin(b.UMax(x, y), z)))
#undef US_INT16_TERNARY
// x * y + z fits 32 bits in both domains.
template <class B> constexpr auto MadU16(B& b, typename B::U16 x, typename B::U16 y, typename B::U16 z) {
  const auto exact = b.Add(b.Mul(b.Zext32(x), b.Zext32(y)), b.Zext32(z));
  return b.Saturate(b.UGt(exact, b.C32(0xffff)), b.C16(0xffff), b.Lo16(exact));
}
template <class B> constexpr auto MadI16(B& b, typename B::U16 x, typename B::U16 y, typename B::U16 z) {
  const auto exact = b.Add(b.Mul(b.Sext32(x), b.Sext32(y)), b.Sext32(z));
  const auto limited = b.SatS16(exact);
  return b.Saturate(b.Ne(b.Sext32(limited), exact), limited, b.Lo16(exact));
}
template <class B> constexpr void VMadU16(B& b) { b.DstU16(MadU16(b, b.SrcU16(0), b.SrcU16(1), b.SrcU16(2))); }
template <class B> constexpr void VMadI16(B& b) { b.DstU16(MadI16(b, b.SrcU16(0), b.SrcU16(1), b.SrcU16(2))); }

// --- multiply-add; the exact sum fits 64 bits ---
template <class B> constexpr void DstSatU32(B& b, typename B::U64 exact) {
  b.DstU32(b.Saturate(b.Ne(b.Hi32(exact), b.C32(0)), b.C32(~0u), b.Lo32(exact)));
}
template <class B> constexpr void DstSatS32(B& b, typename B::U64 exact) {
  const auto overflow = b.Ne(b.Sext64(b.Lo32(exact)), exact);
  const auto limit = b.Select(b.SLt(exact, b.C64(0)), b.C32(0x80000000u), b.C32(0x7fffffffu));
  b.DstU32(b.Saturate(overflow, limit, b.Lo32(exact)));
}
template <class B> constexpr void VMadU32U24(B& b) {
  const auto product = b.Mul(b.Zext64(Low24(b, b.SrcU32(0))), b.Zext64(Low24(b, b.SrcU32(1))));
  DstSatU32(b, b.Add(product, b.Zext64(b.SrcU32(2))));
}
template <class B> constexpr void VMadI32I24(B& b) {
  const auto x = b.template SextFrom<24>(b.SrcU32(0)), y = b.template SextFrom<24>(b.SrcU32(1));
  DstSatS32(b, b.Add(b.Mul(b.Sext64(x), b.Sext64(y)), b.Sext64(b.SrcU32(2))));
}
template <class B> constexpr void VMadU32U16(B& b) {
  const auto product = b.Mul(b.Zext64(b.Zext32(b.SrcU16(0))), b.Zext64(b.Zext32(b.SrcU16(1))));
  DstSatU32(b, b.Add(product, b.Zext64(b.SrcU32(2))));
}
template <class B> constexpr void VMadI32I16(B& b) {
  const auto product = b.Mul(b.Sext64(b.Sext32(b.SrcU16(0))), b.Sext64(b.Sext32(b.SrcU16(1))));
  DstSatS32(b, b.Add(product, b.Sext64(b.SrcU32(2))));
}
template <class B> constexpr void VMadU64U32(B& b) {
  const auto product = b.Mul(b.Zext64(b.SrcU32(0)), b.Zext64(b.SrcU32(1)));
  const auto sum = b.Add(product, b.SrcU64(2));
  const auto carry = b.ULt(sum, product);
  b.DstMask(carry);
  b.DstU64(b.Saturate(carry, b.C64(~uint64_t{0}), sum));
}
// The mask receives bit 64 of the 65-bit signed sum: its sign.
template <class B> constexpr void VMadI64I32(B& b) {
  const auto product = b.Mul(b.Sext64(b.SrcU32(0)), b.Sext64(b.SrcU32(1)));
  const auto addend = b.SrcU64(2), sum = b.Add(product, addend);
  const auto zero = b.C64(0);
  const auto overflow = b.SLt(b.And(b.Xor(sum, product), b.Xor(sum, addend)), zero);
  const auto negative = b.Xor(b.SLt(sum, zero), overflow);
  b.DstMask(negative);
  const auto limit = b.Select(negative, b.C64(0x8000000000000000u), b.C64(0x7fffffffffffffffu));
  b.DstU64(b.Saturate(overflow, limit, sum));
}

// --- bytes ---
template <class B> constexpr auto AnyByte(B& b, typename B::U32 word, int i) {
  return b.And(b.Shr(word, b.C32(static_cast<uint32_t>(8 * i))), b.C32(0xff));
}
// A selector of 0-7 takes a byte of {S0, S1}; 8-11 replicate the sign of byte 1, 3, 5, 7; 12 is 00, above that FF.
template <class B> constexpr void VPermB32(B& b) {
  const auto data = b.Pack32(b.SrcU32(1), b.SrcU32(0));
  auto result = b.C32(0);
  for (int i = 0; i < 4; ++i) {
    const auto sel = AnyByte(b, b.SrcU32(2), i);
    const auto is_sign = b.And(b.UGe(sel, b.C32(8)), b.ULe(sel, b.C32(11)));
    const auto odd = b.Or(b.Shl(b.And(sel, b.C32(3)), b.C32(1)), b.C32(1));
    const auto index = b.Select(is_sign, odd, b.And(sel, b.C32(7)));
    const auto byte = b.And(b.Lo32(b.Shr(data, b.Shl(index, b.C32(3)))), b.C32(0xff));
    const auto sign = b.Select(b.UGe(byte, b.C32(0x80)), b.C32(0xff), b.C32(0));
    const auto fixed = b.Select(b.Eq(sel, b.C32(12)), b.C32(0), b.C32(0xff));
    const auto value = b.Select(b.UGe(sel, b.C32(12)), fixed, b.Select(is_sign, sign, byte));
    result = b.Or(result, b.Shl(value, b.C32(static_cast<uint32_t>(8 * i))));
  }
  b.DstU32(result);
}
template <class B> constexpr void VLerpU8(B& b) {
  auto result = b.C32(0);
  for (int i = 0; i < 4; ++i) {
    const auto round = b.And(AnyByte(b, b.SrcU32(2), i), b.C32(1));
    const auto sum = b.Add(b.Add(AnyByte(b, b.SrcU32(0), i), AnyByte(b, b.SrcU32(1), i)), round);
    result = b.Or(result, b.Shl(b.Shr(sum, b.C32(1)), b.C32(static_cast<uint32_t>(8 * i))));
  }
  b.DstU32(result);
}
// Truncates as the other float-to-integer conversions do; NaN gives 0.
template <class B> constexpr void VCvtPkU8F32(B& b) {
  const auto shift = b.Shl(b.And(b.SrcU32(1), b.C32(3)), b.C32(3));
  const auto byte = b.UMin(b.U32FromF32(b.SrcF32(0)), b.C32(255));
  b.DstU32(b.Or(b.And(b.SrcU32(2), b.Not(b.Shl(b.C32(0xff), shift))), b.Shl(byte, shift)));
}

template <class B, class T> constexpr T AbsDiff(B& b, T x, T y) { return b.Sub(b.UMax(x, y), b.UMin(x, y)); }
template <class B> constexpr auto SadU8(B& b, typename B::U32 x, typename B::U32 y) {
  auto sum = b.C32(0);
  for (int i = 0; i < 4; ++i) sum = b.Add(sum, AbsDiff(b, AnyByte(b, x, i), AnyByte(b, y, i)));
  return sum;
}
// Bytes whose reference y is zero do not count.
template <class B> constexpr auto MsadU8(B& b, typename B::U32 x, typename B::U32 y) {
  auto sum = b.C32(0);
  for (int i = 0; i < 4; ++i) {
    const auto reference = AnyByte(b, y, i);
    const auto term = AbsDiff(b, AnyByte(b, x, i), reference);
    sum = b.Add(sum, b.Select(b.Eq(reference, b.C32(0)), b.C32(0), term));
  }
  return sum;
}
template <class B> constexpr void VSadU8(B& b) {
  b.DstU32(SatAddU32(b, SadU8(b, b.SrcU32(0), b.SrcU32(1)), b.SrcU32(2)));
}
template <class B> constexpr void VSadHiU8(B& b) {
  b.DstU32(SatAddU32(b, b.Shl(SadU8(b, b.SrcU32(0), b.SrcU32(1)), b.C32(16)), b.SrcU32(2)));
}
template <class B> constexpr void VSadU16(B& b) {
  const auto x = b.SrcU32(0), y = b.SrcU32(1);
  const auto lo = AbsDiff(b, b.Zext32(b.Lo16(x)), b.Zext32(b.Lo16(y)));
  const auto hi = AbsDiff(b, b.Zext32(b.Hi16(x)), b.Zext32(b.Hi16(y)));
  b.DstU32(SatAddU32(b, b.Add(lo, hi), b.SrcU32(2)));
}
template <class B> constexpr void VSadU32(B& b) {
  b.DstU32(SatAddU32(b, AbsDiff(b, b.SrcU32(0), b.SrcU32(1)), b.SrcU32(2)));
}
template <class B> constexpr void VMsadU8(B& b) {
  b.DstU32(SatAddU32(b, MsadU8(b, b.SrcU32(0), b.SrcU32(1)), b.SrcU32(2)));
}
// Four sums over windows of S0 that start a byte apart.
template <class B> constexpr auto ByteWindow(B& b, int i) {
  return b.Lo32(b.Shr(b.SrcU64(0), b.C32(static_cast<uint32_t>(8 * i))));
}
template <class B, bool kMasked> constexpr void QsadPk(B& b) {
  auto result = b.C64(0);
  for (int i = 0; i < 4; ++i) {
    const auto at = b.C32(static_cast<uint32_t>(16 * i));
    const auto window = ByteWindow(b, i);
    auto sum = b.C32(0);
    if constexpr (kMasked) {
      sum = MsadU8(b, window, b.SrcU32(1));
    } else {
      sum = SadU8(b, window, b.SrcU32(1));
    }
    const auto addend = b.Lo16(b.Lo32(b.Shr(b.SrcU64(2), at)));
    const auto total = SatAddU16(b, b.Lo16(sum), addend);  // a sum of four bytes fits 16 bits
    result = b.Or(result, b.Shl(b.Zext64(b.Zext32(total)), at));
  }
  b.DstU64(result);
}
template <class B> constexpr void VQsadPkU16U8(B& b) { QsadPk<B, false>(b); }
template <class B> constexpr void VMqsadPkU16U8(B& b) { QsadPk<B, true>(b); }
template <class B> constexpr void VMqsadU32U8(B& b) {
  for (int i = 0; i < 4; ++i) {
    b.DstWord(i, SatAddU32(b, MsadU8(b, ByteWindow(b, i), b.SrcU32(1)), b.SrcWord(2, i)));
  }
}

// clang-format on
}  // namespace understudy::emu::amd
