// SPDX-License-Identifier: Apache-2.0
// Elementary functions of tensors as compiled for the CPU, over all exponents and densely where results are
// small or near overflow, against the host's 80-bit long double functions. The bounds are those of
// src/tensor/math.h; the largest error is printed. US_SWEEP_STRIDE=1 takes every f32.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "src/base/bits.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "src/tensor/activation.h"
#include "src/tensor/elementwise_ops.h"

namespace understudy {
namespace {

using Wide = long double;

Engine& CpuEngine() {
  static Engine* const engine = [] {
    DeviceRegistry devices;
    devices.Register(std::make_shared<CpuDevice>());
    return new Engine(devices);
  }();
  return *engine;
}

// Units in the last place of T at `exact`; infinities and NaNs must be met exactly.
template <class T>
double UlpError(T got, Wide exact) {
  if (std::isnan(exact)) return std::isnan(got) ? 0 : HUGE_VAL;
  if (std::isnan(got)) return HUGE_VAL;
  const int digits = std::numeric_limits<T>::digits, least = std::numeric_limits<T>::min_exponent - digits;
  if (std::isinf(exact)) return static_cast<Wide>(got) == exact ? 0 : HUGE_VAL;
  // An infinity stands one step beyond the largest number, and so does all that overflows.
  const Wide end = std::ldexp(Wide(1), std::numeric_limits<T>::max_exponent);
  exact = std::clamp(exact, -end, end);
  const Wide value = std::clamp(static_cast<Wide>(got), -end, end);
  int e = least;
  if (exact != 0) e = std::max(std::ilogb(exact) - digits + 1, least);
  e = std::min(e, std::numeric_limits<T>::max_exponent - digits);
  return static_cast<double>(std::fabs(value - exact) / std::ldexp(Wide(1), e));
}

template <class T>
void Check(const char* name, Tensor y, const std::function<Wide(size_t)>& exact,
           const std::function<std::string(size_t)>& where, double bound) {
  auto got = CpuEngine().Data<T>(y);
  ASSERT_TRUE(got.ok()) << name << ": " << got.status();
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < got->size(); ++i) {
    const double error = UlpError<T>((*got)[i], exact(i));
    if (error > worst) worst = error, at = i;
  }
  std::printf("%-10s f%zu: %zu points, largest error %.3f ulp at %s\n", name, sizeof(T) * 8, got->size(),
              worst, where(at).c_str());
  EXPECT_LE(worst, bound) << name << " at " << where(at) << ": " << (*got)[at];
}

std::string Hex(double x) {
  char text[64];
  std::snprintf(text, sizeof(text), "%a (%g)", x, x);
  return text;
}

struct Row {
  const char* name;
  std::function<Tensor(const Tensor&)> f;
  std::function<Wide(Wide)> exact;
  double bound32, bound64;
};

const Wide kPi = 3.14159265358979323846264338327950288L;

Wide SincOf(Wide x) {
  if (x == 0) return 1;
  if (std::isinf(x)) return NAN;
  // sin(pi x) = +-sin(pi (x - n)) for the nearest integer n; both steps are exact.
  const Wide n = std::nearbyint(x);
  const Wide sine = std::sin(kPi * (x - n));
  return (std::fmod(n, Wide(2)) == 0 ? sine : -sine) / (kPi * x);
}

const std::vector<Row>& Rows() {
  static const auto* const rows = new std::vector<Row>{
      {"Exp", [](const Tensor& x) { return x.Exp(); }, [](Wide x) { return std::exp(x); }, 2, 2},
      {"Expm1", Expm1, [](Wide x) { return std::expm1(x); }, 2.5, 2.5},
      {"Sigmoid", [](const Tensor& x) { return x.Sigmoid(); }, [](Wide x) { return 1 / (1 + std::exp(-x)); },
       3.5, 3.5},
      {"Log", [](const Tensor& x) { return x.Log(); }, [](Wide x) { return std::log(x); }, 2, 2},
      {"Log10", Log10, [](Wide x) { return std::log10(x); }, 2, 2},
      {"Log1p", Log1p, [](Wide x) { return std::log1p(x); }, 2.5, 2.5},
      {"Cos", [](const Tensor& x) { return x.Cos(); }, [](Wide x) { return std::cos(x); }, 1, 1},
      {"Tan", Tan, [](Wide x) { return std::tan(x); }, 2.5, 2.5},
      {"Asin", Asin, [](Wide x) { return std::asin(x); }, 3, 3},
      {"Acos", Acos, [](Wide x) { return std::acos(x); }, 2, 2},
      {"Atan", Atan, [](Wide x) { return std::atan(x); }, 2.5, 2.5},
      {"Sinh", Sinh, [](Wide x) { return std::sinh(x); }, 4, 4},
      {"Cosh", Cosh, [](Wide x) { return std::cosh(x); }, 3, 3},
      {"Tanh", [](const Tensor& x) { return x.Tanh(); }, [](Wide x) { return std::tanh(x); }, 3.5, 3.5},
      {"Asinh", Asinh, [](Wide x) { return std::asinh(x); }, 3.5, 3.5},
      {"Acosh", Acosh, [](Wide x) { return std::acosh(x); }, 3.5, 3.5},
      {"Atanh", Atanh, [](Wide x) { return std::atanh(x); }, 3.5, 3.5},
      {"Erf", Erf, [](Wide x) { return std::erf(x); }, 2, 2},
      {"Erfc", Erfc, [](Wide x) { return std::erfc(x); }, 5, 5},
      {"Sinc", Sinc, SincOf, 4, 4},
      {"Softplus", [](const Tensor& x) { return Softplus(x, 1, 1e30); },
       [](Wide x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }, 3.5, 3.5},
      {"Logit", [](const Tensor& x) { return Logit(x); },
       [](Wide x) {
         return std::fabs(x - 0.5L) < 0.25L ? std::log1p((2 * x - 1) / (1 - x)) : std::log(x / (1 - x));
       },
       3.5, 3.5},
  };
  return *rows;
}

std::vector<float> Points32() {
  const char* env = std::getenv("US_SWEEP_STRIDE");
  const uint64_t stride = env != nullptr ? std::strtoull(env, nullptr, 10) : 4201;  // no power of two
  std::vector<float> in;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += stride)
    in.push_back(BitCast<float>(static_cast<uint32_t>(bits)));
  std::mt19937_64 random(1);
  const auto more = [&](int n, float lo, float hi) {
    for (int i = 0; i < n; ++i) in.push_back(std::uniform_real_distribution<float>(lo, hi)(random));
  };
  more(60000, -1, 1);
  more(60000, -12, 12);
  more(60000, -110, 110);
  more(20000, 0.999f, 1.001f);
  for (uint32_t d = 0; d < 20000; ++d) in.push_back(BitCast<float>(0x3f800000u - 10000 + d));
  for (uint32_t d = 0; d < 4000; ++d) in.push_back(BitCast<float>(0x42b17218u - 2000 + d));  // e^x overflows
  for (int n = -20000; n < 20000; ++n) in.push_back(static_cast<float>(n * 1.5707963267948966));
  return in;
}

std::vector<double> Points64() {
  std::mt19937_64 random(2);
  std::vector<double> in(150000);
  for (double& x : in) x = BitCast<double>(random());
  const auto more = [&](int n, double lo, double hi) {
    for (int i = 0; i < n; ++i) in.push_back(std::uniform_real_distribution<double>(lo, hi)(random));
  };
  more(30000, -1, 1);
  more(30000, -30, 30);
  more(30000, -760, 760);
  more(10000, 0.999, 1.001);
  more(10000, 709.7, 709.8);
  for (int i = 0; i < 20000; ++i)
    in.push_back(
        std::ldexp(std::uniform_real_distribution<double>(-2, 2)(random), -static_cast<int>(random() % 70)));
  for (int n = -5000; n < 5000; ++n) in.push_back(n * 1.5707963267948966);
  return in;
}

template <class T>
void Sweep(const std::vector<T>& in) {
  const Tensor x = Tensor::FromData<T>(in, {static_cast<int64_t>(in.size())});
  for (const Row& row : Rows()) {
    Check<T>(
        row.name, row.f(x), [&](size_t i) { return row.exact(in[i]); }, [&](size_t i) { return Hex(in[i]); },
        sizeof(T) == 4 ? row.bound32 : row.bound64);
  }
}

TEST(MathSweep, F32) { Sweep(Points32()); }
TEST(MathSweep, F64) { Sweep(Points64()); }

struct PairRow {
  const char* name;
  std::function<Tensor(const Tensor&, const Tensor&)> f;
  std::function<Wide(Wide, Wide)> exact;
  double bound32, bound64;
};

template <class T>
void SweepPairs() {
  const std::vector<PairRow> rows = {
      {"Pow", [](const Tensor& a, const Tensor& b) { return a.Pow(b); },
       [](Wide a, Wide b) { return std::pow(a, b); }, 1, 3},
      {"Atan2", [](const Tensor& a, const Tensor& b) { return Atan2(a, b); },
       [](Wide a, Wide b) { return std::atan2(a, b); }, 3.5, 3.5},
      {"Hypot", [](const Tensor& a, const Tensor& b) { return Hypot(a, b); },
       [](Wide a, Wide b) { return std::hypot(a, b); }, 1.5, 1.5},
      {"LogAddExp", [](const Tensor& a, const Tensor& b) { return LogAddExp(a.Abs(), b.Abs()); },
       [](Wide a, Wide b) {
         a = std::fabs(a), b = std::fabs(b);
         if (a == b && std::isinf(a)) return a;
         return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b))) + (a != a || b != b ? NAN : 0);
       },
       2, 2},
  };
  std::mt19937_64 random(3);
  std::vector<T> a, b;
  const auto uniform = [&](T lo, T hi) { return std::uniform_real_distribution<T>(lo, hi)(random); };
  for (int i = 0; i < 300000; ++i) {
    switch (i % 4) {
      case 0:
        a.push_back(sizeof(T) == 4 ? static_cast<T>(BitCast<float>(static_cast<uint32_t>(random())))
                                   : static_cast<T>(BitCast<double>(random())));
        b.push_back(sizeof(T) == 4 ? static_cast<T>(BitCast<float>(static_cast<uint32_t>(random())))
                                   : static_cast<T>(BitCast<double>(random())));
        break;
      case 1:
        a.push_back(uniform(0, 20));
        b.push_back(uniform(-40, 40));
        break;
      case 2:
        a.push_back(uniform(T(0.99), T(1.01)));
        b.push_back(uniform(-10000, 10000));
        break;
      default:
        a.push_back(uniform(-5, 5));
        b.push_back(static_cast<T>(static_cast<int>(random() % 21) - 10));
    }
  }
  const auto n = static_cast<int64_t>(a.size());
  const Tensor ta = Tensor::FromData<T>(a, {n}), tb = Tensor::FromData<T>(b, {n});
  for (const PairRow& row : rows) {
    Check<T>(
        row.name, row.f(ta, tb), [&](size_t i) { return row.exact(a[i], b[i]); },
        [&](size_t i) { return Hex(a[i]) + ", " + Hex(b[i]); }, sizeof(T) == 4 ? row.bound32 : row.bound64);
  }
}

TEST(MathSweep, PairsF32) { SweepPairs<float>(); }
TEST(MathSweep, PairsF64) { SweepPairs<double>(); }

// Signs of zeros do not show in a distance.
template <class T>
void Specials() {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN(),
          tiny = std::numeric_limits<T>::denorm_min();
  const auto expect = [](Tensor y, const std::vector<T>& want) {
    auto got = CpuEngine().Data<T>(y);
    ASSERT_TRUE(got.ok()) << got.status();
    for (size_t i = 0; i < want.size(); ++i) {
      const bool same = std::isnan(want[i])
                            ? std::isnan((*got)[i])
                            : (*got)[i] == want[i] && std::signbit((*got)[i]) == std::signbit(want[i]);
      EXPECT_TRUE(same) << "element " << i << ": " << (*got)[i] << ", expected " << want[i];
    }
  };
  const Tensor x = Tensor::FromData<T>({T(0.0), T(-0.0), -tiny, inf, -inf, nan}, {6});
  for (const auto& f : {Expm1, Log1p, Tan, Asin, Atan, Sinh, Asinh, Atanh, Erf}) {
    expect(f(x).Shrink({{0, 3}}), {T(0.0), T(-0.0), -tiny});
    expect(f(x).Shrink({{5, 6}}), {nan});
  }
  expect(x.Tanh(), {T(0.0), T(-0.0), -tiny, 1, -1, nan});
  expect(Expm1(x).Shrink({{3, 5}}), {inf, -1});
  expect(Erfc(x).Shrink({{3, 6}}), {0, 2, nan});
  const std::vector<T> y = {T(0.0), T(-0.0), T(0.0), T(-0.0), inf, -inf, inf, 1, 1, -1, nan, 3};
  const std::vector<T> z = {T(0.0), T(0.0), T(-0.0), T(-0.0), inf, inf, -inf, inf, -inf, -inf, 1, nan};
  std::vector<T> angles, powers, lengths;
  for (size_t i = 0; i < y.size(); ++i) {
    angles.push_back(std::atan2(y[i], z[i]));
    powers.push_back(std::pow(y[i], z[i]));
    lengths.push_back(i >= 10 ? nan : std::hypot(y[i], z[i]));
  }
  const Tensor ty = Tensor::FromData<T>(y, {12}), tz = Tensor::FromData<T>(z, {12});
  expect(Atan2(ty, tz), angles);
  expect(Hypot(ty, tz), lengths);
  expect(ty.Pow(tz), powers);
  const std::vector<T> bases = {T(-0.0), T(-0.0), T(-0.0), T(0.0), -inf, -inf, -inf,
                                -2,      -2,      -1,      1,      nan,  0,    T(0.5)};
  const std::vector<T> exponents = {3, -3, 2, -1, 3, T(2.5), -3, T(0.5), 3, -inf, nan, 0, -inf, inf};
  std::vector<T> want;
  for (size_t i = 0; i < bases.size(); ++i) want.push_back(std::pow(bases[i], exponents[i]));
  expect(Tensor::FromData<T>(bases, {14}).Pow(Tensor::FromData<T>(exponents, {14})), want);
}
TEST(MathSweep, SpecialsF32) { Specials<float>(); }
TEST(MathSweep, SpecialsF64) { Specials<double>(); }

}  // namespace
}  // namespace understudy
