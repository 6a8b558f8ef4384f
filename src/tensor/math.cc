// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/math.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "absl/types/span.h"
#include "src/base/status.h"
#include "src/tensor/math_coefficients.inc"
#include "src/tensor/value_expr.h"

namespace understudy::tensor_internal::math {
namespace {

// A constant as the nearest value of the type at or below it and the rest, both positive for positive
// constants: the sum of their products with an infinity is then an infinity and no NaN.
struct Split {
  double hi, lo;
};
Split SplitOf(const Value& like, long double c) {
  if (like.dtype() == dtypes::kFloat32) {
    float hi = static_cast<float>(c);
    if (hi > c) hi = std::nextafter(hi, -std::numeric_limits<float>::infinity());
    return {hi, static_cast<double>(c - hi)};
  }
  double hi = static_cast<double>(c);
  if (hi > c) hi = std::nextafter(hi, -std::numeric_limits<double>::infinity());
  return {hi, static_cast<double>(c - hi)};
}

constexpr long double kLn2 = std::numbers::ln2_v<long double>, kLog2e = std::numbers::log2e_v<long double>,
                      kPi = std::numbers::pi_v<long double>;

bool IsF32(const Value& x) {
  US_CHECK(x.dtype() == dtypes::kFloat32 || x.dtype() == dtypes::kFloat64) << x.dtype().Name();
  return x.dtype() == dtypes::kFloat32;
}
double By(const Value& x, double f32, double f64) { return IsF32(x) ? f32 : f64; }

Value Horner(const Value& x, absl::Span<const double> c) {
  Value r = x.Like(c.back());
  for (size_t i = c.size() - 1; i-- > 0;) r = Fma(r, x, c[i]);
  return r;
}
template <size_t N, size_t M>
Value Polynomial(const Value& x, const double (&f32)[N], const double (&f64)[M]) {
  return IsF32(x) ? Horner(x, f32) : Horner(x, f64);
}

Value Exp2(const Value& x) { return Value(uop::Exp2(x.u)); }
Value Log2(const Value& x) { return Value(uop::Log2(x.u)); }
Value Sqrt(const Value& x) { return Value(uop::Sqrt(x.u)); }

Value TimesSplit(const Value& y, long double c) {
  const Split s = SplitOf(y, c);
  return Fma(y, s.hi, y * s.lo);
}

// A positive result takes the sign of x; arguments so small that f(x) == x stay as they are, which keeps -0
// and denormals.
Value Odd(const Value& x, const Value& magnitude, double tiny) {
  return Select(Abs(x) < tiny, x, Select(x < 0.0, -magnitude, magnitude));
}

// e^(x + lo) = 2^n (1 + p), p in [sqrt(1/2) - 1, sqrt(2) - 1].
struct Exponential {
  Value p;
  Value exponent;  // n where a number has its exponent, as an integer
  Value half;      // floor(n / 2), likewise
  int man_bits;

  // 2^(n + by), 2^floor(n / 2) and 2^(n - floor(n / 2) + by), which must be normal numbers.
  Value Power(int by) const { return Number(exponent, by); }
  Value HalfPower() const { return Number(half, 0); }
  Value RestPower(int by) const { return Number(exponent - half, by); }

 private:
  Value Number(const Value& shifted, int by) const {
    const int64_t bias = man_bits == 23 ? 127 : 1023;
    return Value(uop::Bitcast((shifted + shifted.LikeInt((bias + by) << man_bits)).u, p.dtype()));
  }
};
Exponential ExpOf(const Value& x, const Value& lo = {}) {
  const bool f32 = IsF32(x);
  // Adding it rounds to an integer, which is left in the low bits. Its own bits are far from those.
  const double magic = By(x, 0x1.8p+23, 0x1.8p+52);
  const Value sum = Fma(x, x.Like(static_cast<double>(kLog2e)), magic), n = sum - magic;
  const Split ln2 = SplitOf(x, kLn2);
  Value r = Fma(n, -ln2.lo, Fma(n, -ln2.hi, x));
  if (lo.u != nullptr) r = r + lo;
  const int man_bits = f32 ? 23 : 52;
  const Value bits(uop::Bitcast(sum.u, f32 ? dtypes::kInt32 : dtypes::kInt64));
  const auto shifted = [&](const UOpRef& v) { return Value(uop::Shl(v, bits.LikeInt(man_bits).u)); };
  return {Fma(r * r, Polynomial(r, kExpm1F32, kExpm1F64), r), shifted(bits.u),
          shifted(uop::Shr(bits.u, bits.LikeInt(1).u)), man_bits};
}

// e^x / 2^shift. 2^n is two factors, because it may be outside of the normal numbers; only the last product
// can round.
Value ExpScaled(const Value& x, int shift) {
  const Exponential e = ExpOf(Max(Min(x, By(x, 90, 712)), By(x, -104, -746)));
  return (e.p + 1.0) * e.HalfPower() * e.RestPower(-shift);
}
// e^(x + lo), x <= 0. n spans fewer exponents than there are: one factor and a constant are enough.
Value ExpOfNegative(const Value& x, const Value& lo = {}) {
  const Exponential e = ExpOf(Max(x, By(x, -120, -800)), lo);
  const int up = static_cast<int>(By(x, 80, 540));
  return (e.p + 1.0) * e.Power(up) * std::ldexp(1.0, -up);
}

// e^x - 1 = 2^n (1 + p) - 1, halved until the end because 2^128 is no f32.
Value Expm1Value(const Value& x) {
  const Exponential e = ExpOf(Min(Max(x, By(x, -30, -60)), By(x, 89, 710)));
  const Value s = e.Power(-1);
  return Select(Abs(x) < By(x, 0x1p-25, 0x1p-54), x, Fma(s, e.p, s - 0.5) * 2.0);
}

Value LogValue(const Value& x) { return TimesSplit(Log2(x), kLn2); }

// log(1 + x) = log(u) + c / u, where u + c is 1 + x exactly.
Value Log1pValue(const Value& x) {
  const Value u = x + 1.0, t = u - 1.0, c = (1.0 - (u - t)) + (x - t);
  const Value usable = (u > 0.0) & (u < u.Like(INFINITY));
  const Value sum = LogValue(u) + Select(usable, c / u, 0.0);
  return Select(Abs(x) < By(x, 0x1p-25, 0x1p-54), x, sum);
}

// asin(w) for 0 <= w <= 1/2, with z = w^2.
Value AsinCore(const Value& w, const Value& z) { return Fma(w * z, Polynomial(z, kAsinF32, kAsinF64), w); }

// atan(num / den) for |num / den| below tan(pi/8), plus a multiple of pi/4 given as a split constant.
Value AtanCore(const Value& t, const Value& base_hi, const Value& base_lo) {
  const Value z = t * t;
  return base_hi + (t + Fma(t * z, Polynomial(z, kAtanF32, kAtanF64), base_lo));
}

// erfc(a) for a >= 0: e^(-a^2) times a slowly varying factor; what rounding a^2 loses is put back.
Value ErfcTail(const Value& a0) {
  const Value a = Min(a0, By(a0, 10.5, 27.5));
  const Value s = a * a, lo = Fma(a, a, -s);
  // The polynomial's argument is exact to the last bit of 1/2 about a = 0, and small about a = 2.
  const Value w = 1.0 / (a + 2.0), t = Fma(a, w, -0.5);
  return ExpOfNegative(-s, -lo) * (w * Polynomial(t, kErfcxF32, kErfcxF64));
}
// erf(x) = x + x p(x^2), |x| <= 1.
Value ErfCore(const Value& x) { return Fma(x, Polynomial(x * x, kErfF32, kErfF64), x); }

// --- pow in f64, where no wider type helps: log2 of the base as a sum of two doubles ---

struct Sum {
  Value hi, lo;
};
Sum FastTwoSum(const Value& a, const Value& b) {
  const Value s = a + b;
  return {s, b - (s - a)};
}
Sum TwoProduct(const Value& a, const Value& b) {
  const Value p = a * b;
  return {p, Fma(a, b, -p)};
}

Sum Log2Wide(const Value& x0) {
  const Value denormal = x0 < 0x1p-1022, x = Select(denormal, x0 * 0x1p+54, x0);
  const Value bits(uop::Bitcast(x.u, dtypes::kInt64));
  // m in [sqrt(1/2), sqrt(2)).
  const Value from(uop::Add(bits.u, bits.LikeInt(-0x3fe6a09e667f3bcd).u));
  const Value exponent(uop::Shr(from.u, from.LikeInt(52).u));
  const Value m(uop::Bitcast(uop::Add(bits.u, uop::Neg(uop::Shl(exponent.u, exponent.LikeInt(52).u))),
                             dtypes::kFloat64));
  const Value e = Value(uop::Cast(exponent.u, dtypes::kFloat64)) - Select(denormal, 54.0, x.Like(0));
  // log2(m) = 2/ln2 (s + s^3/3 + s^5/5 + ...), s = (m - 1) / (m + 1)
  const Value f = m - 1.0;
  const Sum d = FastTwoSum(m.Like(1), m);
  const Value s = f / d.hi, s_lo = (Fma(-s, d.hi, f) - s * d.lo) / d.hi;
  const long double c0 = 2 / kLn2, c1 = c0 / 3;
  const Split k0 = SplitOf(x, c0), k1 = SplitOf(x, c1);
  double rest[11];
  for (int k = 0; k < 11; ++k) rest[k] = static_cast<double>(c0 / (2 * k + 5));
  const Sum z = TwoProduct(s, s), cube = TwoProduct(s, z.hi);
  const Value cube_lo = cube.lo + (s * Fma(s * 2.0, s_lo, z.lo) + s_lo * z.hi);
  const Sum first = TwoProduct(s, s.Like(k0.hi)), second = TwoProduct(cube.hi, s.Like(k1.hi));
  const Value first_lo = first.lo + Fma(s_lo, k0.hi, s * k0.lo);
  const Value second_lo = second.lo + Fma(cube.hi, k1.lo, cube_lo * k1.hi);
  const Value tail = cube.hi * z.hi * Horner(z.hi, rest);
  const Sum a = FastTwoSum(first.hi, second.hi), b = FastTwoSum(e, a.hi);
  return FastTwoSum(b.hi, b.lo + (a.lo + (first_lo + (second_lo + tail))));
}

// 2^(y log2(x)) for x >= 0.
Value PowMagnitude(const Value& x, const Value& y, bool wide) {
  const Value product = y * Log2(x), plain = Exp2(product);
  if (!wide) return plain;
  const Sum l = Log2Wide(x);
  const Sum q = TwoProduct(y, l.hi);
  const Value top = Min(q.hi, 0x1.fffffffffffffp+9);
  const Value lo = (q.hi - top) + Fma(y, l.lo, q.lo), e = Exp2(top);
  return Select(Abs(product) < 1100.0, Fma(e, lo * static_cast<double>(kLn2), e), plain);
}

UOpRef Own(const char* name, const Value& value, std::vector<UOpRef> inputs) {
  return uop::WithGradient(name, value.u, std::move(inputs));
}

}  // namespace

UOpRef Exp(const UOpRef& x) { return Own("exp", ExpScaled(x, 0), {x}); }
UOpRef Expm1(const UOpRef& x) { return Own("expm1", Expm1Value(x), {x}); }
UOpRef Sigmoid(const UOpRef& node) {
  // 1 / (1 + e^-x), and e^x / (1 + e^x) below 0: neither overflows, and small results keep their precision.
  const Value x(node), e = ExpOfNegative(Min(x, -x));
  return Own("sigmoid", Select(x < 0.0, e, x.Like(1)) / (e + 1.0), {node});
}
UOpRef Log(const UOpRef& x) { return Own("log", LogValue(x), {x}); }
UOpRef Log10(const UOpRef& x) {
  return Own("log10", TimesSplit(Log2(x), kLn2 / std::numbers::ln10_v<long double>), {x});
}
UOpRef Log1p(const UOpRef& x) { return Own("log1p", Log1pValue(x), {x}); }

UOpRef Sinh(const UOpRef& node) {
  const Value x(node), a = Abs(x), e = ExpScaled(a, 1), z = x * x;
  const Value small = Fma(a * z, Polynomial(z, kSinhF32, kSinhF64), a);
  return Own("sinh", Odd(x, Select(a < 1.0, small, e - 0.25 / e), By(x, 0x1p-13, 0x1p-28)), {node});
}
UOpRef Cosh(const UOpRef& node) {
  const Value e = ExpScaled(Abs(node), 1);
  return Own("cosh", e + 0.25 / e, {node});
}
UOpRef Tanh(const UOpRef& node) {
  const Value x(node), limit = x.Like(By(x, 10, 20));
  const Value t = Expm1Value(Min(Max(x, -limit), limit) * 2.0);
  return Own("tanh", Select(Abs(x) < By(x, 0x1p-13, 0x1p-28), x, t / (t + 2.0)), {node});
}
UOpRef Tan(const UOpRef& node) { return Own("tan", Value(uop::Sin(node)) / Value(uop::Cos(node)), {node}); }

UOpRef Asin(const UOpRef& node) {
  const Value x(node), a = Abs(x), small = a < 0.5;
  const Value z = Select(small, x * x, (1.0 - a) * 0.5), core = AsinCore(Select(small, a, Sqrt(z)), z);
  const Split half_pi = SplitOf(x, kPi / 2);
  const Value large = half_pi.hi - (core * 2.0 - half_pi.lo);
  return Own("asin", Odd(x, Select(small, core, large), By(x, 0x1p-13, 0x1p-28)), {node});
}
UOpRef Acos(const UOpRef& node) {
  const Value x(node), a = Abs(x), small = a < 0.5;
  const Value z = Select(small, x * x, (1.0 - a) * 0.5), w = Select(small, x, Sqrt(z));
  const Value core = AsinCore(w, z);
  const Split half_pi = SplitOf(x, kPi / 2), pi = SplitOf(x, kPi);
  const Value middle = half_pi.hi - (core - half_pi.lo);
  const Value ends = Select(x < 0.0, pi.hi - (core * 2.0 - pi.lo), core * 2.0);
  return Own("acos", Select(small, middle, ends), {node});
}
UOpRef Atan(const UOpRef& node) {
  const Value x(node), a = Abs(x), first = a < 0x1.a8p-2, second = a < 0x1.35p+1;  // tan(pi/8), tan(3 pi/8)
  const Split quarter = SplitOf(x, kPi / 4);
  const Value num = Select(first, a, Select(second, a - 1.0, x.Like(-1)));
  const Value den = Select(first, 1.0, Select(second, a + 1.0, a));
  const Value hi = Select(first, 0.0, Select(second, quarter.hi, x.Like(2 * quarter.hi)));
  const Value lo = Select(first, 0.0, Select(second, quarter.lo, x.Like(2 * quarter.lo)));
  return Own("atan", Odd(x, AtanCore(num / den, hi, lo), By(x, 0x1p-13, 0x1p-28)), {node});
}
UOpRef Atan2(const UOpRef& y_node, const UOpRef& x_node) {
  const Value y(y_node), x(x_node), inf = x.Like(INFINITY);
  // Powers of two that keep sums and quotients inside the range.
  const Value most = Max(Abs(y), Abs(x));
  const double top = By(x, 0x1p+100, 0x1p+1000), bottom = By(x, 0x1p-100, 0x1p-900);
  const Value scale = Select(most > top, 0x1p-4, Select(most < bottom, By(x, 0x1p+24, 0x1p+54), x.Like(1)));
  const Value a = Abs(y) * scale, b = Abs(x) * scale;
  const Value first = a < b * 0x1.a8p-2, second = a < b * 0x1.35p+1;
  const Split quarter = SplitOf(x, kPi / 4);
  const Value num = Select(first, a, Select(second, a - b, -b));
  const Value den = Select(first, b, Select(second, a + b, a));
  const Value both = (a == inf) & (b == inf);
  // 0 / 0 and inf - inf are an angle of their own axis.
  const Value t = Select((num == 0.0) | both, x.Like(0), num / den);
  const Value in_first = first | (a == 0.0), in_second = second | both;
  const Value hi = Select(in_first, 0.0, Select(in_second, quarter.hi, x.Like(2 * quarter.hi)));
  const Value lo = Select(in_first, 0.0, Select(in_second, quarter.lo, x.Like(2 * quarter.lo)));
  const Value angle = AtanCore(Select(a == 0.0, 0.0, t), hi, lo);
  const Split pi = SplitOf(x, kPi);
  const auto negative = [](const Value& v) {
    const DType bits = v.dtype() == dtypes::kFloat32 ? dtypes::kInt32 : dtypes::kInt64;
    return Value(uop::Bitcast(v.u, bits)) < 0.0;  // -0 too
  };
  const Value turned = Select(negative(x), pi.hi - (angle - pi.lo), angle);
  const Value result = Select(negative(y), -turned, turned);
  return Own("atan2", Select((x != x) | (y != y), x + y, result), {y_node, x_node});
}

UOpRef Asinh(const UOpRef& node) {
  const Value x(node), a = Abs(x), huge = a > By(x, 0x1p+30, 0x1p+60), square = a * a;
  const Value l = Log1pValue(Select(huge, a, a + square / (Sqrt(square + 1.0) + 1.0)));
  const Value sum = l + Select(huge, x.Like(static_cast<double>(kLn2)), 0.0);
  return Own("asinh", Odd(x, sum, By(x, 0x1p-13, 0x1p-28)), {node});
}
UOpRef Acosh(const UOpRef& node) {
  const Value x(node), t = x - 1.0, huge = x > By(x, 0x1p+30, 0x1p+60);
  const Value l = Log1pValue(Select(huge, x, t + Sqrt(t * (t + 2.0))));
  const Value sum = l + Select(huge, x.Like(static_cast<double>(kLn2)), 0.0);
  return Own("acosh", Select(x < 1.0, x.Like(NAN), sum), {node});
}
UOpRef Atanh(const UOpRef& node) {
  const Value x(node), a = Abs(x);
  return Own("atanh", Odd(x, Log1pValue(a * 2.0 / (1.0 - a)) * 0.5, By(x, 0x1p-13, 0x1p-28)), {node});
}

UOpRef Erf(const UOpRef& node) {
  const Value x(node), a = Abs(x), tail = 1.0 - ErfcTail(a);
  return Own("erf", Select(a < 1.0, ErfCore(x), Select(x < 0.0, -tail, tail)), {node});
}
UOpRef Erfc(const UOpRef& node) {
  const Value x(node), tail = ErfcTail(Abs(x));
  return Own("erfc", Select(x < 0.0, 2.0 - tail, tail), {node});
}

UOpRef Softplus(const UOpRef& node) {
  const Value x(node);
  return Own("softplus", Max(x, 0.0) + Log1pValue(ExpOfNegative(Min(x, -x))), {node});
}
UOpRef Logit(const UOpRef& node) {
  const Value x(node), rest = 1.0 - x;
  // About 1/2 the quotient is near 1: what it lacks of 1 is exact before the division.
  const Value middle = (x > 0.3) & (x < 0.7);
  return Own("logit", Select(middle, Log1pValue((x + x - 1.0) / rest), LogValue(x / rest)), {node});
}
UOpRef Sinc(const UOpRef& node) {
  // sin(pi x) = +-sin(pi r) for the distance r to the nearest integer; both steps to it are exact.
  const Value x(node), t(uop::Trunc(x.u)), d = x - t, half_t = t * 0.5, up = Abs(d) > 0.5;
  const Value r = Select(up, d - Select(x < 0.0, -1.0, x.Like(1)), d);
  const Value odd = (Value(uop::Trunc(half_t.u)) != half_t) ^ up;
  const Split pi = SplitOf(x, kPi);
  const Value p = r * pi.hi, lo = Fma(r, pi.lo, Fma(r, pi.hi, -p));
  const Value sine = Fma(lo, Value(uop::Cos(p.u)), Value(uop::Sin(p.u)));
  const Value quotient = Select(odd, -sine, sine) / (x * static_cast<double>(kPi));
  // Below these 1 - (pi x)^2 / 6 is 1.
  return Own("sinc", Select(Abs(x) < By(x, 0x1p-14, 0x1p-29), 1.0, quotient), {node});
}

UOpRef LogAddExp(const UOpRef& a_node, const UOpRef& b_node) {
  const Value a(a_node), b(b_node), most = Max(a, b), d = Abs(a - b);
  // Equal infinities have no difference.
  const Value sum = Select((a == b) & (Abs(a) == a.Like(INFINITY)), a, most + Log1pValue(ExpOfNegative(-d)));
  return Own("logaddexp", sum, {a_node, b_node});
}
UOpRef LogAddExp2(const UOpRef& a_node, const UOpRef& b_node) {
  const Value a(a_node), b(b_node), most = Max(a, b), d = Abs(a - b);
  const Value sum = most + TimesSplit(Log1pValue(Exp2(-d)), kLog2e);
  return Own("logaddexp2", Select((a == b) & (Abs(a) == a.Like(INFINITY)), a, sum), {a_node, b_node});
}

UOpRef Hypot(const UOpRef& a_node, const UOpRef& b_node) {
  const Value a = Abs(a_node), b = Abs(b_node), most = Max(a, b), inf = a.Like(INFINITY);
  const Value large = most > By(a, 0x1p+60, 0x1p+500), small = most < By(a, 0x1p-60, 0x1p-500);
  const double step = By(a, 0x1p+70, 0x1p+600);
  const auto either = [&](double when_large, double when_small) {
    return Select(large, when_large, Select(small, when_small, a.Like(1)));
  };
  const Value down = either(1 / step, step), up = either(step, 1 / step), p = a * down, q = b * down;
  return Own("hypot", Select((a == inf) | (b == inf), inf, Sqrt(Fma(p, p, q * q)) * up), {a_node, b_node});
}

UOpRef Pow(const UOpRef& base, const UOpRef& exponent) {
  const DType t = base->dtype();
  // f32 is computed in f64, where the product y log2(x) has bits to spare.
  const Value x(uop::Cast(base, dtypes::kFloat64)), y(uop::Cast(exponent, dtypes::kFloat64));
  const Value size = PowMagnitude(Abs(x), y, t == dtypes::kFloat64);
  const Value whole = Value(uop::Trunc(y.u)) == y, halved = y * 0.5;
  const Value odd = whole & (Value(uop::Trunc(halved.u)) != halved);
  // A zero base keeps its sign under odd exponents; infinite exponents count as even.
  const Value bits(uop::Bitcast(x.u, dtypes::kInt64));
  const Value negative = (bits < 0.0) & (x == x);
  const Value below = (x < 0.0) & (x > -INFINITY);
  Value r = Select(negative & odd, -size, Select(below & Not(whole), NAN, size));
  r = Select((y == 0.0) | (x == 1.0), 1.0, r);
  r = Select((x == -1.0) & (Abs(y) == y.Like(INFINITY)), 1.0, r);
  return Own("pow", Value(uop::Cast(r.u, t)), {base, exponent});
}

}  // namespace understudy::tensor_internal::math
