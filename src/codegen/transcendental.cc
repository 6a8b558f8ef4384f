// SPDX-License-Identifier: Apache-2.0
#include "src/codegen/transcendental.h"

#include <limits>

#include "src/base/status.h"
#include "src/codegen/math_builder.h"
#include "src/codegen/payne_hanek.h"

// Coefficients are near-minimax fits (Chebyshev interpolation at 200 bits) rounded to the type.
namespace understudy {
namespace {

using namespace math;       // NOLINT
using namespace uop::expr;  // NOLINT
using uop::Where;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// What differs between the two widths.
struct Width {
  DType value, integer;
  int man_bits, bias;
  double round_magic;  // 1.5 * 2^man_bits: adding and subtracting it rounds to an integer
};
constexpr Width kF32{dtypes::kFloat32, dtypes::kInt32, 23, 127, 0x1.8p+23};
constexpr Width kF64{dtypes::kFloat64, dtypes::kInt64, 52, 1023, 0x1.8p+52};
const Width& WidthOf(const UOpRef& x) { return x->dtype().scalar == Scalar::kFloat64 ? kF64 : kF32; }

// x rounded to an integer, as a float and as an integer (|x| below 2^(man_bits - 1)). The sum holds the
// integer in its low bits: no conversion is needed, which x86 has no vector instruction for where it must
// saturate.
struct Rounded {
  UOpRef value, integer;
};
Rounded RoundToInteger(const UOpRef& x) {
  const Width& w = WidthOf(x);
  const UOpRef magic = uop::ConstLike(x, w.round_magic), sum = x + magic;
  return {sum - magic,
          Bits(sum, w.integer) - (w.bias == 127 ? int64_t{0x4b400000} : int64_t{0x4338000000000000})};
}

// 2^n for an integer n within the exponents of normal numbers.
UOpRef PowerOfTwo(const Width& w, const UOpRef& n) {
  return Bits((n + w.bias) << uop::ConstLike(n, w.man_bits), w.value);
}

// (2^f - 1) / f on [-1/2, 1/2].
constexpr double kExp2F32[] = {0x1.62e43p-1,  0x1.ebfbep-3,  0x1.c6af6cp-5,
                               0x1.3b2a54p-7, 0x1.5f089p-10, 0x1.44138ap-13};
constexpr double kExp2F64[] = {0x1.62e42fefa39efp-1,  0x1.ebfbdff82c598p-3,  0x1.c6b08d704a0c2p-5,
                               0x1.3b2ab6fba1ddap-7,  0x1.5d87fe78a5276p-10, 0x1.430913096fd9fp-13,
                               0x1.ffcbfc670dcd4p-17, 0x1.62bfd47773353p-20, 0x1.b524fae627834p-24,
                               0x1.e6063f7217bc6p-28, 0x1.e9d3fe3952179p-32};

// (log2(1+f) - f/ln2) / f^2 on [sqrt(1/2)-1, sqrt(2)-1].
constexpr double kLog2F32[] = {-0x1.715476p-1, 0x1.ec7094p-2,  -0x1.71548p-2, 0x1.277c5cp-2,  -0x1.ec77b4p-3,
                               0x1.a47dc4p-3,  -0x1.6eee36p-3, 0x1.5d2458p-3, -0x1.55f746p-3, 0x1.90947cp-4};
constexpr double kLog2eHiF32 = 0x1.715476p+0, kLog2eLoF32 = 0x1.4ae0cp-26;
// (2/ln2) (atanh(s) - s) / s^3 in z = s^2, s up to (sqrt(2)-1)/(sqrt(2)+1).
constexpr double kLog2F64[] = {0x1.ec709dc3a03fdp-1, 0x1.2776c50ef9c71p-1, 0x1.a61762a786080p-2,
                               0x1.484b1401f9806p-2, 0x1.0c9a6eaf44f5ap-2, 0x1.c69ba98da5e4ep-3,
                               0x1.880a5927d1ce1p-3, 0x1.82b449148ad7dp-3};
constexpr double kTwoOverLn2Hi = 0x1.71547652b82fep+1, kTwoOverLn2Lo = 0x1.777d0ffda0d24p-55;

// (sin(r) - r) / r^3 and (cos(r) - 1 + z/2) / z^2 in z = r^2, |r| up to pi/4.
constexpr double kSinF32[] = {-0x1.555556p-3, 0x1.11110ep-7, -0x1.a01366p-13, 0x1.6da8ecp-19};
constexpr double kCosF32[] = {0x1.555554p-5, -0x1.6c12aap-10, 0x1.9bc2d4p-16};
constexpr double kSinF64[] = {-0x1.5555555555555p-3, 0x1.1111111110b23p-7,   -0x1.a01a019e620eep-13,
                              0x1.71de376b644ccp-19, -0x1.ae5fde7f12068p-26, 0x1.5dfb39c3139b6p-33};
constexpr double kCosF64[] = {0x1.5555555555555p-5,   -0x1.6c16c16c1691fp-10, 0x1.a01a019f3dde1p-16,
                              -0x1.27e4fa0241f7cp-22, 0x1.1eeb52a201da3p-29,  -0x1.906dbf4fda044p-37};

// pi/2 as a sum of three numbers of the type.
constexpr double kPio2F32[] = {0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50};
constexpr double kPio2F64[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};

// |x| = n pi/2 + hi + lo by Cody and Waite's reduction. The first step is exact because |x| - n P1 needs no
// more bits than the type has; the second keeps its rounding error; the third is below the last bit of lo.
ReducedAngle ReduceSmall(const Width& w, const UOpRef& ax) {
  const double (&p)[3] = w.man_bits == 23 ? kPio2F32 : kPio2F64;
  const Rounded n = RoundToInteger(ax * 0x1.45f306dc9c883p-1);
  const UOpRef minus_n = -n.value;
  const UOpRef r = Fma(minus_n, uop::ConstLike(ax, p[0]), ax);
  const Pair product = TwoProduct(minus_n, uop::ConstLike(ax, p[1]));
  const Pair sum = TwoSum(r, product.hi);
  return {n.integer, sum.hi, sum.lo + Fma(minus_n, uop::ConstLike(ax, p[2]), product.lo)};
}

}  // namespace

UOpRef Exp2Polynomial(const UOpRef& x) {
  const Width& w = WidthOf(x);
  // Past these the result is infinity or zero; a NaN fails both comparisons and stays.
  const UOpRef low = uop::ConstLike(x, w.bias == 127 ? -160.0 : -1100.0),
               high = uop::ConstLike(x, w.bias == 127 ? 130.0 : 1030.0);
  const UOpRef clamped = Where(x < low, low, Where(high < x, high, x));
  const Rounded n = RoundToInteger(clamped);
  const UOpRef f = clamped - n.value;
  const UOpRef q = w.bias == 127 ? Polynomial(f, kExp2F32) : Polynomial(f, kExp2F64);
  const UOpRef p = Fma(f, q, uop::ConstLike(x, 1.0));
  // Two factors, because 2^n itself may be outside the normal numbers; only the last product can round.
  const UOpRef i = n.integer, half = i >> 1;
  return p * PowerOfTwo(w, half) * PowerOfTwo(w, i - half);
}

UOpRef Log2Polynomial(const UOpRef& x) {
  const Width& w = WidthOf(x);
  const bool f32 = w.bias == 127;
  const double scale_bits = 64;
  const UOpRef denormal = x < (f32 ? 0x1p-126 : 0x1p-1022);
  const UOpRef scaled = Where(denormal, x * 0x1p+64, x);
  // x = 2^e m with m in [sqrt(1/2), sqrt(2)).
  const UOpRef bits = Bits(scaled, w.integer);
  const UOpRef exponent = (bits - (f32 ? int64_t{0x3f3504f3} : int64_t{0x3fe6a09e667f3bcd})) >> w.man_bits;
  const UOpRef m = Bits(bits - (exponent << w.man_bits), w.value);
  const UOpRef e =
      To(exponent, w.value) + Where(denormal, uop::ConstLike(x, -scale_bits), uop::ConstLike(x, 0.0));
  const UOpRef f = m - 1.0;
  Pair main;    // the large part of log2(m)
  UOpRef tail;  // the rest
  if (f32) {
    main = TwoProduct(f, uop::ConstLike(x, kLog2eHiF32));
    tail = Fma(f * f, Polynomial(f, kLog2F32), Fma(f, uop::ConstLike(x, kLog2eLoF32), main.lo));
  } else {
    // log(m) = 2 atanh(s), s = f / (2 + f), with the quotient's error made good.
    const Pair d = FastTwoSum(uop::ConstLike(x, 1.0), m);
    const UOpRef s = f / d.hi, z = s * s;
    const UOpRef s_lo = (Fma(-s, d.hi, f) - s * d.lo) / d.hi;
    main = TwoProduct(s, uop::ConstLike(x, kTwoOverLn2Hi));
    const UOpRef low =
        Fma(s_lo, uop::ConstLike(x, kTwoOverLn2Hi), Fma(s, uop::ConstLike(x, kTwoOverLn2Lo), main.lo));
    tail = Fma(s * z, Polynomial(z, kLog2F64), low);
  }
  const Pair sum = FastTwoSum(e, main.hi);
  const UOpRef finite = sum.hi + (sum.lo + tail);
  const UOpRef zero = uop::ConstLike(x, 0.0), inf = uop::ConstLike(x, kInf);
  const UOpRef positive = Where(uop::CmpEq(x, inf), inf, finite);
  return Where(zero < x, positive,
               Where(uop::CmpEq(x, zero), uop::ConstLike(x, -kInf), uop::ConstLike(x, kNan)));
}

namespace {

// sin(|x|) up to the sign that the quadrant gives, and cos(|x|), of |x| reduced to quadrant * pi/2 + hi + lo.
struct SineCosine {
  UOpRef bits, ax, quadrant, sine, cosine;
};
SineCosine Reduced(const UOpRef& x) {
  const Width& w = WidthOf(x);
  const bool f32 = w.bias == 127;
  SineCosine r;
  r.bits = Bits(x, w.integer);
  r.ax = Bits(r.bits & (f32 ? int64_t{0x7fffffff} : std::numeric_limits<int64_t>::max()), w.value);
  const ReducedAngle small = ReduceSmall(w, r.ax);
  const ReducedAngle large = f32 ? PayneHanekF32(r.ax) : PayneHanekF64(r.ax);
  const UOpRef is_small = r.ax < (f32 ? 0x1p+15 : 0x1p+20);
  r.quadrant = Where(is_small, small.quadrant, large.quadrant);
  const UOpRef hi = Where(is_small, small.hi, large.hi), lo = Where(is_small, small.lo, large.lo);

  const UOpRef z = hi * hi, half_z = z * 0.5, one = uop::ConstLike(x, 1.0);
  const UOpRef sine_poly = f32 ? Polynomial(z, kSinF32) : Polynomial(z, kSinF64);
  const UOpRef cosine_poly = f32 ? Polynomial(z, kCosF32) : Polynomial(z, kCosF64);
  r.sine = hi + Fma(hi * z, sine_poly, lo * (one - half_z));
  const UOpRef head = one - half_z;
  r.cosine = head + (((one - head) - half_z) + Fma(z * z, cosine_poly, -(hi * lo)));
  return r;
}

UOpRef IsOdd(const UOpRef& quadrant, int64_t bit) {
  return uop::CmpNe(quadrant & bit, uop::ConstLike(quadrant, 0));
}

}  // namespace

UOpRef SinPolynomial(const UOpRef& x) {
  const bool f32 = WidthOf(x).bias == 127;
  const SineCosine r = Reduced(x);
  const UOpRef value = Where(IsOdd(r.quadrant, 1), r.cosine, r.sine);
  const UOpRef negative = IsOdd(r.quadrant, 2) ^ (r.bits < 0);
  const UOpRef signed_value = Where(negative, -value, value);
  // sin x == x to the last bit below; this also keeps -0 and denormals.
  const UOpRef result = Where(r.ax < (f32 ? 0x1p-13 : 0x1p-27), x, signed_value);
  return Where(r.ax < kInf, result, uop::ConstLike(x, kNan));
}

UOpRef CosPolynomial(const UOpRef& x) {
  const SineCosine r = Reduced(x);
  const UOpRef value = Where(IsOdd(r.quadrant, 1), r.sine, r.cosine);
  // cos is negative in quadrants 1 and 2.
  const UOpRef negative = IsOdd(r.quadrant + 1, 2);
  return Where(r.ax < kInf, Where(negative, -value, value), uop::ConstLike(x, kNan));
}

}  // namespace understudy
