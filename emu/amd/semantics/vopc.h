// SPDX-License-Identifier: Apache-2.0
#pragma once
// VOPC: comparisons and class tests. RDNA3 ISA, "VOPC Instructions". V_CMP writes VCC or a scalar mask and
// V_CMPX writes EXEC: the destination operand decides, the meaning is the same.

#include <cstdint>

namespace understudy::emu::amd {

// clang-format off: an instruction a line

template <class B> constexpr void VCmpF(B& b) { b.DstMask(b.CBool(false)); }
template <class B> constexpr void VCmpT(B& b) { b.DstMask(b.CBool(true)); }

// The float predicates, at each precision. An unordered pair makes the negated ones true.
#define US_CMP_FLOAT(name, expression)                                       \
  template <class B> constexpr void name##F16(B& b) {                        \
    const auto x = b.SrcF16(0), y = b.SrcF16(1);                             \
    b.DstMask(expression);                                                   \
  }                                                                          \
  template <class B> constexpr void name##F32(B& b) {                        \
    const auto x = b.SrcF32(0), y = b.SrcF32(1);                             \
    b.DstMask(expression);                                                   \
  }                                                                          \
  template <class B> constexpr void name##F64(B& b) {                        \
    const auto x = b.SrcF64(0), y = b.SrcF64(1);                             \
    b.DstMask(expression);                                                   \
  }
US_CMP_FLOAT(VCmpLt, b.FLt(x, y))
US_CMP_FLOAT(VCmpEq, b.FEq(x, y))
US_CMP_FLOAT(VCmpLe, b.FLe(x, y))
US_CMP_FLOAT(VCmpGt, b.FGt(x, y))
US_CMP_FLOAT(VCmpLg, b.FLg(x, y))
US_CMP_FLOAT(VCmpGe, b.FGe(x, y))
US_CMP_FLOAT(VCmpO, b.Not(b.FUnord(x, y)))
US_CMP_FLOAT(VCmpU, b.FUnord(x, y))
US_CMP_FLOAT(VCmpNge, b.Not(b.FGe(x, y)))
US_CMP_FLOAT(VCmpNlg, b.Not(b.FLg(x, y)))
US_CMP_FLOAT(VCmpNgt, b.Not(b.FGt(x, y)))
US_CMP_FLOAT(VCmpNle, b.Not(b.FLe(x, y)))
US_CMP_FLOAT(VCmpNeq, b.Not(b.FEq(x, y)))
US_CMP_FLOAT(VCmpNlt, b.Not(b.FLt(x, y)))
#undef US_CMP_FLOAT

#define US_CMP_INT(name, signed_op, unsigned_op)                                                           \
  template <class B> constexpr void name##I16(B& b) { b.DstMask(b.signed_op(b.SrcU16(0), b.SrcU16(1))); }   \
  template <class B> constexpr void name##U16(B& b) { b.DstMask(b.unsigned_op(b.SrcU16(0), b.SrcU16(1))); } \
  template <class B> constexpr void name##I32(B& b) { b.DstMask(b.signed_op(b.SrcU32(0), b.SrcU32(1))); }   \
  template <class B> constexpr void name##U32(B& b) { b.DstMask(b.unsigned_op(b.SrcU32(0), b.SrcU32(1))); } \
  template <class B> constexpr void name##I64(B& b) { b.DstMask(b.signed_op(b.SrcU64(0), b.SrcU64(1))); }   \
  template <class B> constexpr void name##U64(B& b) { b.DstMask(b.unsigned_op(b.SrcU64(0), b.SrcU64(1))); }
US_CMP_INT(VCmpLt, SLt, ULt)
US_CMP_INT(VCmpEq, Eq, Eq)
US_CMP_INT(VCmpLe, SLe, ULe)
US_CMP_INT(VCmpGt, SGt, UGt)
US_CMP_INT(VCmpNe, Ne, Ne)
US_CMP_INT(VCmpGe, SGe, UGe)
#undef US_CMP_INT

// Bits of the class mask: 0 signalling NaN, 1 quiet NaN, 2 -inf, 3 -normal, 4 -denormal, 5 -0, 6 +0, 7 +denormal,
// 8 +normal, 9 +inf. The value is tested as it is, never flushed.
template <class B, class F> constexpr auto ClassBit(B& b, F x, uint32_t max_exp) {
  const auto exp = b.ExpField(x);
  const auto finite = b.Select(b.Eq(exp, b.C32(0)), b.Select(b.IsZero(x), b.C32(6), b.C32(7)),
                               b.Select(b.Eq(exp, b.C32(max_exp)), b.C32(9), b.C32(8)));
  // The negative classes mirror the positive ones: 6..9 become 5..2.
  const auto signed_class = b.Select(b.SignBit(x), b.Sub(b.C32(11), finite), finite);
  const auto nan_class = b.Select(b.IsSNan(x), b.C32(0), b.C32(1));
  return b.Select(b.IsNan(x), nan_class, signed_class);
}
template <class B, class F> constexpr void CmpClass(B& b, F x, typename B::U32 mask, uint32_t max_exp) {
  b.DstMask(b.Ne(b.And(b.Shr(mask, ClassBit(b, x, max_exp)), b.C32(1)), b.C32(0)));
}
template <class B> constexpr void VCmpClassF16(B& b) { CmpClass(b, b.SrcF16(0), b.Zext32(b.SrcU16(1)), 0x1f); }
template <class B> constexpr void VCmpClassF32(B& b) { CmpClass(b, b.SrcF32(0), b.SrcU32(1), 0xff); }
template <class B> constexpr void VCmpClassF64(B& b) { CmpClass(b, b.SrcF64(0), b.SrcU32(1), 0x7ff); }

// clang-format on
}  // namespace understudy::emu::amd
