// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/math_special.h"

#include <cmath>
#include <numbers>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "src/base/status.h"
#include "src/tensor/math.h"
#include "src/tensor/math_coefficients.inc"
#include "src/tensor/value_expr.h"

namespace understudy::tensor_internal::math {
namespace {

constexpr double kPi = std::numbers::pi, kPiLo = 0x1.1a62633145c07p-53;

// Bernoulli numbers B2, B4, ...
constexpr double kBernoulli[] = {1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,     5.0 / 66,
                                 -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};

Value Horner(const Value& x, absl::Span<const double> c) {
  Value r = x.Like(c.back());
  for (size_t i = c.size() - 1; i-- > 0;) r = Fma(r, x, c[i]);
  return r;
}
Value Sqrt(const Value& x) { return Value(uop::Sqrt(x.u)); }
Value Trunc(const Value& x) { return Value(uop::Trunc(x.u)); }
Value LogOf(const Value& x) { return Value(Log(x.u)); }
Value ExpOf(const Value& x) { return Value(Exp(x.u)); }
Value NotBelow(const Value& x, double limit) { return Not(x < limit); }

// F of the value in f64, in the type of the value, with its own derivative.
template <Value (*F)(const Value&)>
UOpRef Wide(const std::string& name, const UOpRef& x) {
  const Value y = F(Value(uop::Cast(x, dtypes::kFloat64)));
  return uop::WithGradient(name, uop::Cast(y.u, x->dtype()), {x});
}

// sin(pi r) and cos(pi r) of the distance r to the nearest integer (exact): those of x up to one sign.
struct Turn {
  Value sin, cos;
};
Turn HalfTurns(const Value& x) {
  const Value d = x - Trunc(x);
  const Value r = Select(Abs(d) > 0.5, d - Select(x < 0.0, -1.0, x.Like(1)), d);
  const Value p = r * kPi, lo = Fma(r, kPiLo, Fma(r, kPi, -p));
  const Value s(uop::Sin(p.u)), c(uop::Cos(p.u));
  return {Fma(lo, c, s), Fma(-lo, s, c)};
}

// --- Gamma ---

// y > 0. Stirling's series from 8 on; below, log gamma(2 + t) = t p(t) and the factors between.
Value LgammaPositive(const Value& y) {
  double stirling[9];
  for (int k = 0; k < 9; ++k) stirling[k] = kBernoulli[k] / (2.0 * (k + 1) * (2 * k + 1));
  const Value large = NotBelow(y, 8), whole = Trunc(y);
  const Value t = Select(y < 0.5, y, Select(y < 1.5, y - 1.0, Select(y < 3.0, y - 2.0, y - whole)));
  Value product = y.Like(1);
  for (int j = 1; j <= 5; ++j) product = product * Select(y < j + 2.0, 1.0, y - static_cast<double>(j));
  const Value factors = Select(y < 0.5, y * (y + 1.0), Select(y < 1.5, y, product));
  const Value l = LogOf(Select(large, y, factors));
  const Value near = Fma(t, Horner(t, kLgammaF64), Select(y < 1.5, -l, l));
  const Value z = 1.0 / y;
  // log(2 pi) / 2 - 1/2, so that the larger term is (y - 1/2) (log(y) - 1).
  const Value rest = Fma(z, Horner(z * z, stirling), 0.41893853320467274178);
  return Select(large, Fma(y - 0.5, l - 1.0, rest), near);
}
// log |gamma(x)| = log(pi / |sin(pi x)|) - log gamma(1 - x)
Value LgammaValue(const Value& x) {
  const Value negative = x < 0.0, core = LgammaPositive(Select(negative, 1.0 - x, Abs(x)));
  const Value reflected = -LogOf(Abs(HalfTurns(x).sin) / kPi) - core;
  return Select(Abs(x) == x.Like(INFINITY), INFINITY, Select(negative, reflected, core));
}

// y > 0. The asymptotic series from 10 on; below, (x - root) p(x) on [1, 2) and the steps between.
Value DigammaPositive(const Value& y) {
  constexpr double kRoot = 0x1.762d86356be3fp+0, kRootLo = 0x1.b86a722197829p-54;
  double series[9];
  for (int k = 0; k < 9; ++k) series[k] = -kBernoulli[k] / (2.0 * (k + 1));
  const Value tiny = y < 1.0;
  const Value u = Select(tiny, y + 1.0, y - Trunc(y) + 1.0);
  Value steps = y.Like(0);
  for (int j = 1; j <= 8; ++j) steps = steps + Select(y < j + 1.0, 0.0, 1.0 / (y - static_cast<double>(j)));
  const Value core = ((u - kRoot) - kRootLo) * Horner(u - 1.5, kDigammaF64);
  const Value near = core + Select(tiny, -1.0 / y, steps);
  const Value z = 1.0 / y, w = z * z;
  const Value far = LogOf(y) + Fma(w, Horner(w, series), z * -0.5);
  return Select(NotBelow(y, 10), far, near);
}
// digamma(x) = digamma(1 - x) - pi cot(pi x)
Value DigammaValue(const Value& x) {
  const Value negative = x < 0.0, core = DigammaPositive(Select(negative, 1.0 - x, x));
  const Turn turn = HalfTurns(x);
  const Value reflected = core - turn.cos / turn.sin * kPi;
  return Select(negative, Select(turn.sin == 0.0, NAN, reflected), core);
}

Value Power(const Value& x, int n) {
  if (n == 1) return x;
  const Value half = Power(x, n / 2), square = half * half;
  return n % 2 == 0 ? square : square * x;
}

// Hurwitz's zeta(s, y) for y > 0: ten terms, and the Euler-Maclaurin series of the rest.
Value Zeta(int s, const Value& y) {
  constexpr int kTerms = 10;
  double series[10];
  double factor = 1;  // s (s + 1) ... (s + 2 j - 2) / (2 j)!
  for (int j = 1; j <= 10; ++j) {
    factor *= j == 1 ? s / 2.0 : (s + 2.0 * j - 3) * (s + 2.0 * j - 2) / ((2.0 * j - 1) * (2.0 * j));
    series[j - 1] = kBernoulli[j - 1] * factor;
  }
  const Value z = 1.0 / (y + static_cast<double>(kTerms));
  const Value rest = Fma(z, Fma(z, Horner(z * z, series), 0.5), 1.0 / (s - 1));
  Value sum = Power(z, s - 1) * rest;
  for (int k = kTerms; k-- > 0;) sum = sum + Power(1.0 / (y + static_cast<double>(k)), s);
  return sum;
}
// psi_n(x) = (-1)^n psi_n(1 - x) - pi^(n+1) p_n(cot(pi x)), where d^n/dx^n cot(pi x) = pi^n p_n(cot(pi x)):
// p_0 = c, p_(k+1) = -(1 + c^2) p_k'.
Value PolygammaValue(int n, const Value& x) {
  const double sign = n % 2 == 0 ? 1 : -1;
  double factorial = 1;
  for (int k = 2; k <= n; ++k) factorial *= k;
  const Value negative = x < 0.0, y = Select(negative, 1.0 - x, Abs(x));
  const Value core = Zeta(n + 1, y) * (-sign * factorial);
  std::vector<double> p = {0, 1};  // from the constant term up; every second one is zero
  for (int k = 0; k < n; ++k) {
    std::vector<double> next(p.size() + 1, 0.0);
    for (size_t i = 1; i < p.size(); ++i) {
      next[i - 1] -= static_cast<double>(i) * p[i];
      next[i + 1] -= static_cast<double>(i) * p[i];
    }
    p = std::move(next);
  }
  const double scale = std::pow(kPi, n + 1);
  std::vector<double> terms;
  const size_t first = p.size() % 2 == 0 ? 1 : 0;
  for (size_t i = first; i < p.size(); i += 2) terms.push_back(-scale * p[i]);
  const Turn turn = HalfTurns(x);
  const Value c = turn.cos / turn.sin;
  const Value even = Horner(c * c, terms), poles = first == 1 ? even * c : even;
  return Select(negative, Fma(core, sign, poles), core);
}

// --- Error functions ---

constexpr double kSqrt2 = std::numbers::sqrt2;

// erfinv(x) / x for w = -log(1 - x^2) up to 6.25, erfinv(|x|) / sqrt(w) above.
struct Inverse {
  Value near, far, is_near;
};
Inverse InverseParts(const Value& w, bool tail) {
  const Value s = Sqrt(w), middle = Horner(s - 4.0, kErfinvMiddleF64);
  const Value end = tail ? Select(s < 6.0, middle, Horner((s - 12.0) / (s + 12.0), kErfinvTailF64)) : middle;
  return {Horner(w - 3.125, kErfinvF64), s * end, w < 6.25};
}
Value ErfinvValue(const Value& x) {
  const Value a = Abs(x), w = -LogOf((1.0 - a) * (a + 1.0));
  const Inverse p = InverseParts(w, false);
  const Value far = Select(a == 1.0, INFINITY, p.far);
  return Select(p.is_near, x * p.near, Select(x < 0.0, -far, far));
}
// sqrt(2) erfinv(2 p - 1), without the difference where p is small.
Value NdtriValue(const Value& p) {
  const Value w = -LogOf(p * 4.0 * (1.0 - p));
  const Inverse v = InverseParts(w, true);
  const Value far = Select(w == p.Like(INFINITY), INFINITY, v.far * kSqrt2);
  // Where 1 - p = 0 stands beside p = 0: both are the ends.
  return Select(v.is_near, (p * 2.0 - 1.0) * kSqrt2 * v.near, Select(p < 0.5, -far, far));
}

// a >= 1/2, up to 28.
Value ErfcxMiddle(const Value& a) {
  return Horner(a / (a + 2.0) - 0.5, kErfcxF64) / (a + 2.0);
}
Value ErfcxPositive(const Value& a) {
  // 1 - 1/(2 a^2) + 3/(4 a^4) - 15/(8 a^6) ...
  static constexpr double kSeries[] = {1,          -1.0 / 2,    3.0 / 4,     -15.0 / 8,
                                       105.0 / 16, -945.0 / 32, 10395.0 / 64};
  const Value u = 1.0 / a, far = u * Horner(u * u, kSeries) * std::numbers::inv_sqrtpi;
  const Value near = ExpOf(a * a) * Value(Erfc(a.u));
  return Select(a < 0.5, near, Select(a < 28.0, ErfcxMiddle(a), far));
}
// e^(factor a^2) with what rounding the square loses.
Value ExpOfSquare(const Value& a, double factor) {
  const Value s = a * a, lo = Fma(a, a, -s), e = ExpOf(s * factor);
  return Fma(e, lo * factor, e);
}
Value ErfcxValue(const Value& x) {
  const Value a = Abs(x), up = ErfcxPositive(a);
  const Value down = ExpOfSquare(Min(a, 26.7), 1) * 2.0 - up;
  return Select(x < 0.0, Select(a > 26.65, INFINITY, down), up);
}

// x <= -1: half of erfc(-x / sqrt(2)), whose square is not rounded before the exponential.
Value NdtrTail(const Value& x) {
  const Value in = Max(x, -39.0);
  return ErfcxMiddle(in * -(kSqrt2 / 2)) * ExpOfSquare(in, -0.5) * 0.5;
}
Value NdtrValue(const Value& x) {
  return Select(x < -1.0, NdtrTail(x), Value(Erfc((x * -(kSqrt2 / 2)).u)) * 0.5);
}
Value LogNdtrValue(const Value& x) {
  const Value tail = LogOf(ErfcxPositive(Abs(x) * (kSqrt2 / 2)) * 0.5) - x * x * 0.5;
  return Select(x < -1.0, tail, Value(Log1p((-NdtrValue(-x)).u)));
}

// --- Bessel ---

struct Bessel {
  Value near, far;  // I(|x|) up to 8, e^-|x| I(|x|) above
  Value a, is_near;
};
template <size_t N, size_t M>
Bessel BesselParts(const Value& x, const double (&near)[N], const double (&far)[M]) {
  const Value a = Abs(x), in = Min(a, 8.0);
  return {Horner(in * in * 0.25, near), Horner(1.0 / a - 0.0625, far) / Sqrt(a), a, a < 8.0};
}
// e^16 is taken out of e^a, which overflows before I(a) does.
Value Grown(const Bessel& b, const Value& near) {
  const Value far = ExpOf(b.a - 16.0) * (b.far * 0x1.0f2ebd0a80020p+23);
  return Select(b.is_near, near, Select(b.a > 720.0, INFINITY, far));
}
Value Scaled(const Bessel& b, const Value& near) { return Select(b.is_near, near * ExpOf(-b.a), b.far); }
Value BesselI0Value(const Value& x) {
  const Bessel b = BesselParts(x, kBesselI0F64, kBesselI0LargeF64);
  return Grown(b, b.near);
}
Value BesselI0eValue(const Value& x) {
  const Bessel b = BesselParts(x, kBesselI0F64, kBesselI0LargeF64);
  return Scaled(b, b.near);
}
Value WithSignOf(const Value& x, const Value& size) {
  return Select(x < 0.0, -size, Select(x == 0.0, x, size));
}
Value BesselI1Value(const Value& x) {
  const Bessel b = BesselParts(x, kBesselI1F64, kBesselI1LargeF64);
  return WithSignOf(x, Grown(b, b.near * b.a * 0.5));
}
Value BesselI1eValue(const Value& x) {
  const Bessel b = BesselParts(x, kBesselI1F64, kBesselI1LargeF64);
  return WithSignOf(x, Scaled(b, b.near * b.a * 0.5));
}

}  // namespace

UOpRef Lgamma(const UOpRef& x) { return Wide<LgammaValue>("lgamma", x); }
UOpRef Digamma(const UOpRef& x) { return Wide<DigammaValue>("digamma", x); }
UOpRef Polygamma(int n, const UOpRef& x) {
  US_CHECK(n >= 1 && n <= 160) << n;  // each derivative adds one
  const Value y = PolygammaValue(n, Value(uop::Cast(x, dtypes::kFloat64)));
  return uop::WithGradient(absl::StrCat("polygamma", n), uop::Cast(y.u, x->dtype()), {x});
}
UOpRef Erfinv(const UOpRef& x) { return Wide<ErfinvValue>("erfinv", x); }
UOpRef Erfcx(const UOpRef& x) { return Wide<ErfcxValue>("erfcx", x); }
UOpRef Ndtr(const UOpRef& x) { return Wide<NdtrValue>("ndtr", x); }
UOpRef LogNdtr(const UOpRef& x) { return Wide<LogNdtrValue>("log_ndtr", x); }
UOpRef Ndtri(const UOpRef& p) { return Wide<NdtriValue>("ndtri", p); }
UOpRef BesselI0(const UOpRef& x) { return Wide<BesselI0Value>("i0", x); }
UOpRef BesselI1(const UOpRef& x) { return Wide<BesselI1Value>("i1", x); }
UOpRef BesselI0e(const UOpRef& x) { return Wide<BesselI0eValue>("i0e", x); }
UOpRef BesselI1e(const UOpRef& x) { return Wide<BesselI1eValue>("i1e", x); }

}  // namespace understudy::tensor_internal::math
