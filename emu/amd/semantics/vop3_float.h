// SPDX-License-Identifier: Apache-2.0
#pragma once
// VOP3 floating point beyond FMA: three-way minima and maxima, cube maps, and the division steps. RDNA3 ISA,
// "VOP3 & VOP3SD Instructions".

#include <cstdint>

namespace understudy::emu::amd {

// clang-format off: an instruction a line

#define US_FLOAT_TERNARY(name, expression)                                              \
  template <class B> constexpr void name##F16(B& b) {                                   \
    const auto x = b.SrcF16(0), y = b.SrcF16(1), z = b.SrcF16(2);                       \
    b.DstF16(expression);                                                               \
  }                                                                                     \
  template <class B> constexpr void name##F32(B& b) {                                   \
    const auto x = b.SrcF32(0), y = b.SrcF32(1), z = b.SrcF32(2);                       \
    b.DstF32(expression);                                                               \
  }
US_FLOAT_TERNARY(VMin3, b.FMin(b.FMin(x, y), z))
US_FLOAT_TERNARY(VMax3, b.FMax(b.FMax(x, y), z))
US_FLOAT_TERNARY(VMaxmin, b.FMin(b.FMax(x, y), z))
US_FLOAT_TERNARY(VMinmax, b.FMax(b.FMin(x, y), z))
// With a NaN among them the smallest, else what is left when the largest goes.
template <class B, class F> constexpr F Med3(B& b, F x, F y, F z) {
  const auto nan = b.Or(b.Or(b.IsNan(x), b.IsNan(y)), b.IsNan(z));
  const auto largest = b.FMax(b.FMax(x, y), z);
  const auto rest = b.Select(b.FEq(largest, x), b.FMax(y, z), b.Select(b.FEq(largest, y), b.FMax(x, z), b.FMax(x, y)));
  return b.Select(nan, b.FMin(b.FMin(x, y), z), rest);
}
US_FLOAT_TERNARY(VMed3, Med3(b, x, y, z))
#undef US_FLOAT_TERNARY

template <class B> constexpr void VMullitF32(B& b) {
  const auto y = b.SrcF32(1), z = b.SrcF32(2);
  const auto lowest = b.CF32(-3.402823466e+38f);
  const auto dark = b.Or(b.Or(b.FLe(y, lowest), b.IsNan(y)), b.Or(b.FLe(z, b.CF32(0.0f)), b.IsNan(z)));
  b.DstF32(b.Select(dark, lowest, b.FMulZero(b.SrcF32(0), y)));
}

// --- cube maps: the major axis is z, then y, then x ---
template <class B> struct CubeFace {
  typename B::F32 x, y, z;
  typename B::Bool major_z, major_y;
};
template <class B> constexpr CubeFace<B> Cube(B& b) {
  const auto x = b.SrcF32(0), y = b.SrcF32(1), z = b.SrcF32(2);
  const auto ax = b.FAbs(x), ay = b.FAbs(y), az = b.FAbs(z);
  return {x, y, z, b.And(b.FGe(az, ax), b.FGe(az, ay)), b.FGe(ay, ax)};
}
template <class B> constexpr auto Negative(B& b, typename B::F32 v) { return b.FLt(v, b.CF32(0.0f)); }
template <class B> constexpr void VCubeidF32(B& b) {
  const auto c = Cube(b);
  const auto fz = b.Select(Negative(b, c.z), b.CF32(5.0f), b.CF32(4.0f));
  const auto fy = b.Select(Negative(b, c.y), b.CF32(3.0f), b.CF32(2.0f));
  const auto fx = b.Select(Negative(b, c.x), b.CF32(1.0f), b.CF32(0.0f));
  b.DstF32(b.Select(c.major_z, fz, b.Select(c.major_y, fy, fx)));
}
template <class B> constexpr void VCubescF32(B& b) {
  const auto c = Cube(b);
  const auto fz = b.Select(Negative(b, c.z), b.FNeg(c.x), c.x);
  const auto fx = b.Select(Negative(b, c.x), c.z, b.FNeg(c.z));
  b.DstF32(b.Select(c.major_z, fz, b.Select(c.major_y, c.x, fx)));
}
template <class B> constexpr void VCubetcF32(B& b) {
  const auto c = Cube(b);
  const auto fy = b.Select(Negative(b, c.y), b.FNeg(c.z), c.z);
  b.DstF32(b.Select(b.And(b.Not(c.major_z), c.major_y), fy, b.FNeg(c.y)));
}
template <class B> constexpr void VCubemaF32(B& b) {
  const auto c = Cube(b);
  b.DstF32(b.FMul(b.Select(c.major_z, c.z, b.Select(c.major_y, c.y, c.x)), b.CF32(2.0f)));
}

// --- division ---
// The parameters of the division steps at one precision.
struct Division32 {
  static constexpr int kScale = 64, kNear = 96, kTiny = 23, kUnderflow = 150, kBias = 127;
};
struct Division64 {
  static constexpr int kScale = 128, kNear = 768, kTiny = 53, kUnderflow = 1075, kBias = 1023;
};
constexpr uint32_t Signed(int v) { return static_cast<uint32_t>(v); }

// Scales S0 (the denominator S1 or the numerator S2) so that neither the reciprocal nor the remainders of a
// Newton-Raphson step become denormal; the mask says that DIV_FMAS must scale the quotient back. Where the manual
// says "1 / S1 is denormal" the precision of the operation is meant, and the denominator of a quotient that would be
// denormal as well is scaled down: with either reading otherwise the division macro gives wrong quotients.
template <class P, class B, class F> constexpr auto DivScale(B& b, F s0, F s1, F s2, F one, F nan) {
  const auto up = b.C32(P::kScale), down = b.C32(Signed(-P::kScale));
  const auto is_den = b.FEq(s0, s1), is_num = b.FEq(s0, s2);
  const auto invalid = b.Or(b.IsZero(b.In(s1)), b.IsZero(b.In(s2)));
  const auto distance = b.Sub(b.ExpField(s2), b.ExpField(s1));
  const auto near_overflow = b.SGe(distance, b.C32(P::kNear));
  const auto den_denormal = b.IsDenorm(s1);
  // |S1| >= 2^(bias - 1) has a denormal reciprocal, but for the power of two itself.
  const auto rcp_denormal = b.And(b.FGt(b.FAbs(s1), b.FLdexp(one, b.C32(P::kBias - 1))), b.Not(b.IsInf(s1)));
  // The quotient of the significands lies in (1/2, 2), which settles a tie of the exponents.
  const auto exact_distance = b.Sub(b.FrexpExp(s2), b.FrexpExp(s1));
  const auto m1 = b.FAbs(b.FrexpMant(s1)), m2 = b.FAbs(b.FrexpMant(s2));
  const auto least_normal = b.C32(Signed(1 - P::kBias)), vanishing = b.C32(Signed(-P::kUnderflow));
  const auto below_normal = b.Or(b.SLt(exact_distance, least_normal), b.And(b.Eq(exact_distance, least_normal), b.FLt(m2, m1)));
  const auto above_zero = b.Or(b.SGt(exact_distance, vanishing), b.And(b.Eq(exact_distance, vanishing), b.FGt(m2, m1)));
  const auto quotient_denormal = b.And(below_normal, above_zero);
  const auto tiny = b.ULe(b.ExpField(s2), b.C32(P::kTiny));
  const auto scaled_up = b.FLdexp(s0, up), scaled_down = b.FLdexp(s0, down);

  auto result = b.Select(tiny, scaled_up, s0);
  auto post = b.CBool(false);
  result = b.Select(quotient_denormal, b.Select(is_num, scaled_up, s0), result);
  post = b.Or(post, quotient_denormal);
  result = b.Select(rcp_denormal, b.Select(quotient_denormal, b.Select(is_den, scaled_down, s0), scaled_down), result);
  post = b.And(post, b.Or(b.Not(rcp_denormal), quotient_denormal));
  result = b.Select(den_denormal, scaled_up, result);
  post = b.And(post, b.Not(den_denormal));
  result = b.Select(near_overflow, b.Select(is_den, scaled_up, s0), result);
  post = b.Or(post, near_overflow);
  result = b.Select(invalid, nan, result);
  // The manual clears the mask for a zero; cards set it.
  b.DstMask(b.Or(post, invalid));
  return result;
}
template <class B> constexpr void VDivScaleF32(B& b) {
  b.DstF32(DivScale<Division32>(b, b.SrcF32(0), b.SrcF32(1), b.SrcF32(2), b.CF32(1.0f), b.AsF32(b.C32(0x7fc00000u))));
}
template <class B> constexpr void VDivScaleF64(B& b) {
  b.DstF64(DivScale<Division64>(b, b.SrcF64(0), b.SrcF64(1), b.SrcF64(2), b.CF64(1.0),
                                b.AsF64(b.C64(0x7ff8000000000000u))));
}

// fma, scaled back by DIV_SCALE's factor where its mask is set: up when the quotient is large, else down. (The
// manual's text has a fixed factor, which contradicts DIV_SCALE's own.) Rounded once: the macro's denormal quotients
// are right only so.
template <class P, class B, class F> constexpr F DivFmas(B& b, F s0, F s1, F s2) {
  const auto fused = b.FFma(s0, s1, s2);
  const auto large = b.UGt(b.ExpField(s2), b.C32(P::kBias));
  const auto factor = b.Select(large, b.C32(P::kScale), b.C32(Signed(-P::kScale)));
  return b.Select(b.SrcMask(3), b.FFmaScaled(s0, s1, s2, factor), fused);
}
template <class B> constexpr void VDivFmasF32(B& b) {
  b.DstF32(DivFmas<Division32>(b, b.SrcF32(0), b.SrcF32(1), b.SrcF32(2)));
}
template <class B> constexpr void VDivFmasF64(B& b) {
  b.DstF64(DivFmas<Division64>(b, b.SrcF64(0), b.SrcF64(1), b.SrcF64(2)));
}

// The special cases of a division: quotient S0, denominator S1, numerator S2. The result's sign is that of S1 ^ S2.
template <class B, class F> constexpr F DivSpecial(B& b, F quotient, F s1, F s2, F zero, F infinity, F default_nan) {
  const auto negative = b.Xor(b.SignBit(s1), b.SignBit(s2));
  const auto den_zero = b.IsZero(b.In(s1)), num_zero = b.IsZero(b.In(s2));
  const auto den_inf = b.IsInf(s1), num_inf = b.IsInf(s2);
  auto r = b.FAbs(quotient);
  r = b.Select(b.Or(den_inf, num_zero), zero, r);
  r = b.Select(b.Or(den_zero, num_inf), infinity, r);
  r = b.Select(negative, b.FNeg(r), r);
  r = b.Select(b.Or(b.And(den_zero, num_zero), b.And(den_inf, num_inf)), default_nan, r);
  r = b.Select(b.IsNan(s1), b.Quiet(s1), r);
  return b.Select(b.IsNan(s2), b.Quiet(s2), r);
}
// Adds the sure underflow, rounded as MODE says.
template <class P, class B, class F> constexpr F DivFixup(B& b, F s0, F s1, F s2, F zero, F inf, F nan, F least) {
  const auto distance = b.Sub(b.ExpField(s2), b.ExpField(s1));
  const auto underflow = b.SLt(distance, b.C32(Signed(-P::kUnderflow)));
  const auto negative = b.Xor(b.SignBit(s1), b.SignBit(s2));
  const auto vanishing = b.FMul(b.Select(negative, b.FNeg(least), least), least);
  // Cards give the overflow for an estimate that is NaN; the manual's text would pass the NaN on.
  const auto estimate = b.Select(b.IsNan(s0), inf, s0);
  return DivSpecial(b, b.Select(underflow, vanishing, estimate), s1, s2, zero, inf, nan);
}
template <class B> constexpr void VDivFixupF16(B& b) {
  b.DstF16(DivSpecial(b, b.SrcF16(0), b.SrcF16(1), b.SrcF16(2), b.CF16(0), b.CF16(0x7c00), b.CF16(0xfe00)));
}
template <class B> constexpr void VDivFixupF32(B& b) {
  b.DstF32(DivFixup<Division32>(b, b.SrcF32(0), b.SrcF32(1), b.SrcF32(2), b.CF32(0.0f), b.AsF32(b.C32(0x7f800000u)),
                                b.AsF32(b.C32(0xffc00000u)), b.AsF32(b.C32(0x00800000u))));
}
template <class B> constexpr void VDivFixupF64(B& b) {
  b.DstF64(DivFixup<Division64>(b, b.SrcF64(0), b.SrcF64(1), b.SrcF64(2), b.CF64(0.0),
                                b.AsF64(b.C64(0x7ff0000000000000u)), b.AsF64(b.C64(0xfff8000000000000u)),
                                b.AsF64(b.C64(0x0010000000000000u))));
}

// clang-format on
}  // namespace understudy::emu::amd
