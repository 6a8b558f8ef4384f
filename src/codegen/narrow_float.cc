// SPDX-License-Identifier: Apache-2.0
#include "src/codegen/narrow_float.h"

#include <cmath>

#include "src/codegen/math_builder.h"

namespace understudy {
namespace {

using namespace math;       // NOLINT
using namespace uop::expr;  // NOLINT
using uop::Where;

constexpr DType kU32 = dtypes::kUInt32, kF32 = dtypes::kFloat32, kU64 = dtypes::kUInt64,
                kI64 = dtypes::kInt64, kF64 = dtypes::kFloat64;

UOpRef Equal(const UOpRef& a, int64_t v) { return uop::CmpEq(a, uop::ConstLike(a, v)); }

}  // namespace

UOpRef DecodeNarrow(DType type, const UOpRef& bits) {
  const FloatFormat& f = FormatOf(type.Element());
  const UOpRef u = To(bits, kU32);
  if (f.exp_bits == 8) return Bits(u << (23 - f.man_bits), kF32);
  const auto magnitude_mask = static_cast<int64_t>(f.sign_mask() - 1);
  const UOpRef magnitude = u & magnitude_mask;
  const UOpRef sign = (u >> (f.exp_bits + f.man_bits)) << 31;
  // The fields in f32's places mean the value times 2^(bias - 127), for normal and denormal numbers alike.
  const UOpRef scaled = Bits(magnitude << (23 - f.man_bits), kF32) * std::ldexp(1.0, 127 - f.bias);
  UOpRef code = Bits(scaled, kU32);
  const UOpRef quiet_nan = C(code, kU32, int64_t{0x7fc00000});
  if (f.nan == NanEncoding::kIeee) {
    const UOpRef inf = uop::ConstLike(code, ConstValue(static_cast<int64_t>(f.inf_bits())));
    code = Where(magnitude < inf, code,
                 Where(uop::CmpEq(magnitude, inf), C(code, kU32, int64_t{0x7f800000}), quiet_nan));
  } else if (f.nan == NanEncoding::kAllOnes) {
    code = Where(Equal(magnitude, static_cast<int64_t>(f.nan_bits())), quiet_nan, code);
  } else {  // kNegativeZero: the only pattern with a sign and no magnitude
    return Bits(Where(Equal(u, static_cast<int64_t>(f.nan_bits())), quiet_nan, code | sign), kF32);
  }
  return Bits(code | sign, kF32);
}

UOpRef EncodeNarrow(DType type, const UOpRef& value) {
  const FloatFormat& f = FormatOf(type.Element());
  const DType storage = StorageOf(type.Element());
  const UOpRef bits = Bits(value, kU32);
  const UOpRef magnitude = bits & 0x7fffffff;
  const UOpRef sign = (bits >> 31) << (f.exp_bits + f.man_bits);
  const int drop = 23 - f.man_bits;
  // Round to nearest even at the last kept bit, then move the exponent from f32's bias to the type's.
  const UOpRef odd = (magnitude >> drop) & 1;
  const UOpRef rounded = (magnitude + ((int64_t{1} << (drop - 1)) - 1) + odd) >> drop;
  UOpRef code = rounded - (int64_t{127 - f.bias} << f.man_bits);
  if (f.exp_bits != 8) {
    // Below the least normal number: adding a power of two whose last bit is the type's last bit rounds in
    // one step.
    const double magic = std::ldexp(1.0, f.min_exp() - f.man_bits + 23);
    const UOpRef shifted = Bits(Bits(magnitude, kF32) + magic, kU32) - Bits(C(value, kF32, magic), kU32);
    code = Where(Bits(magnitude, kF32) < std::ldexp(1.0, f.min_exp()), shifted, code);
  }
  const auto nan = static_cast<int64_t>(f.nan_bits()), max = static_cast<int64_t>(f.max_bits());
  const UOpRef nan_code = C(code, kU32, nan);
  const UOpRef overflow = f.has_inf ? C(code, kU32, static_cast<int64_t>(f.inf_bits())) : nan_code;
  const UOpRef too_large = uop::CmpLt(C(code, kU32, max), code);
  UOpRef result;
  if (f.has_neg_zero) {
    result = Where(too_large, overflow, code) | sign;
  } else {
    // Negative zero is the NaN, so that zeros lose their sign.
    result = Where(too_large, overflow, Where(Equal(code, 0), code, code | sign));
  }
  if (!f.has_inf && f.has_neg_zero) result = Where(too_large, nan_code, result);
  return To(Where(IsNan(value), nan_code, result), storage);
}

UOpRef RoundToNarrow(DType type, const UOpRef& value, const Target& target) {
  if (target.arithmetic.Has(type)) return To(To(value, type.Element()), kF32);
  return DecodeNarrow(type, EncodeNarrow(type, value));
}

UOpRef NarrowToOdd(const UOpRef& x) {
  const UOpRef y = To(x, kF32), back = To(y, kF64);
  const auto magnitude = [](const UOpRef& v) {
    return Bits(Bits(v, kI64) & std::numeric_limits<int64_t>::max(), kF64);
  };
  const UOpRef bits = Bits(y, kU32);
  // Inexact: truncate toward zero, then set the last bit.
  const UOpRef truncated = Where(magnitude(x) < magnitude(back), bits - 1, bits);
  const UOpRef odd = Bits(truncated | 1, kF32);
  return Where(uop::CmpNe(back, x), Where(IsNan(x), y, odd), y);
}

UOpRef IntegerForNarrow(const UOpRef& x) {
  const DType t = x->dtype();
  if (t.IsBool() || t.BitWidth() <= 16) return To(x, kF32);
  if (t.BitWidth() <= 32) return NarrowToOdd(To(x, kF64));
  // Past 53 bits: drop 11 bits, keeping in the last bit whether any of them was set.
  const UOpRef zero = uop::ConstLike(x, 0);
  const UOpRef negative = t.IsSigned() ? uop::CmpLt(x, zero) : nullptr;
  const UOpRef magnitude = To(negative == nullptr ? x : Where(negative, -x, x), kU64);
  const UOpRef sticky = To(uop::CmpNe(magnitude & 2047, uop::ConstLike(magnitude, 0)), kU64);
  const UOpRef large = uop::CmpNe(magnitude >> 53, uop::ConstLike(magnitude, 0));
  const UOpRef kept = To(Where(large, (magnitude >> 11) | sticky, magnitude), kF64);
  const UOpRef value = Where(large, kept * 2048.0, kept);
  return NarrowToOdd(negative == nullptr ? value : Where(negative, -value, value));
}

UOpRef MulAccForNarrow(const UOpRef& a, const UOpRef& b, const UOpRef& c) {
  // The product is exact in f64; the sum is rounded to odd: where it is inexact, step toward zero if it went
  // away from it, and set the last bit.
  const Pair sum = TwoSum(To(a, kF64) * To(b, kF64), To(c, kF64));
  const UOpRef bits = Bits(sum.hi, kI64);
  const UOpRef zero = uop::ConstLike(sum.hi, 0.0);
  const UOpRef away = uop::CmpNe(sum.hi < zero, sum.lo < zero);
  const UOpRef odd = Bits(Where(away, bits - 1, bits) | 1, kF64);
  // A NaN or infinite sum has a NaN error: keep the sum.
  const UOpRef inexact = uop::CmpLt(sum.lo, zero) | uop::CmpLt(zero, sum.lo);
  return NarrowToOdd(Where(inexact, odd, sum.hi));
}

}  // namespace understudy
