// SPDX-License-Identifier: Apache-2.0
// EXP2, LOG2, SIN and COS as compiled for the CPU, over the whole range of arguments, against the host's
// wider types: f32 against double, f64 against long double (x87). The bound is 1 ulp; the largest error is
// printed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "src/base/bits.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/uop/build.h"

namespace understudy {
namespace {

template <class T>
std::vector<T> RunUnary(Op op, const std::vector<T>& in) {
  const DType t = sizeof(T) == 4 ? dtypes::kFloat32 : dtypes::kFloat64;
  const UOpRef i = uop::Range(static_cast<int64_t>(in.size()), 0, AxisKind::kGlobal);
  const UOpRef x = uop::Load(uop::IndexOf(uop::Param(t, 1), i));
  const UOpRef kernel =
      uop::Sink({uop::Store(uop::IndexOf(uop::Param(t, 0), i), uop::Unary(op, x), {i})}, OpName(op));
  CpuDevice cpu;
  auto program = cpu.Compile(kernel, nullptr);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  const size_t bytes = in.size() * sizeof(T);
  const Allocation a = *cpu.Allocate(bytes), b = *cpu.Allocate(bytes);
  EXPECT_TRUE(cpu.CopyIn(b, in.data(), bytes).ok());
  EXPECT_TRUE(cpu.Launch(**program, {a, b}).ok());
  std::vector<T> out(in.size());
  EXPECT_TRUE(cpu.CopyOut(out.data(), a, bytes).ok());
  return out;
}

template <class Wide>
Wide Exact(Op op, Wide x) {
  return op == Op::kExp2   ? std::exp2(x)
         : op == Op::kLog2 ? std::log2(x)
         : op == Op::kSin  ? std::sin(x)
                           : std::cos(x);
}

// Units in the last place of T at `exact`; infinities and NaNs must be met exactly.
template <class T, class Wide>
double UlpError(T got, Wide exact) {
  if (std::isnan(exact)) return std::isnan(got) ? 0 : HUGE_VAL;
  const T rounded = static_cast<T>(exact);
  if (std::isinf(rounded) || std::isinf(got)) return rounded == got ? 0 : HUGE_VAL;
  if (std::isnan(got)) return HUGE_VAL;
  const int digits = std::numeric_limits<T>::digits, least = std::numeric_limits<T>::min_exponent - digits;
  int e = least;
  if (exact != 0) e = std::max(std::ilogb(exact) - digits + 1, least);
  return static_cast<double>(std::fabs(static_cast<Wide>(got) - exact) / std::ldexp(Wide(1), e));
}

template <class T, class Wide>
void CheckAll(Op op, const std::vector<T>& in) {
  const std::vector<T> out = RunUnary(op, in);
  double worst = 0;
  T at = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    const double error = UlpError<T, Wide>(out[i], Exact<Wide>(op, in[i]));
    if (error > worst) {
      worst = error;
      at = in[i];
    }
  }
  std::printf("%s f%zu: %zu points, largest error %.4f ulp at %a\n", OpName(op), sizeof(T) * 8, in.size(),
              worst, static_cast<double>(at));
  EXPECT_LE(worst, 1.0) << OpName(op) << " at " << at << " = " << std::hexfloat << at;
}

// Zero signs do not show in a distance.
template <class T>
void CheckSpecials() {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN(),
          tiny = std::numeric_limits<T>::denorm_min();
  const auto one = [](Op op, T x) { return RunUnary<T>(op, {x})[0]; };
  EXPECT_TRUE(std::signbit(one(Op::kSin, T(-0.0))));
  EXPECT_FALSE(std::signbit(one(Op::kSin, T(0.0))));
  EXPECT_EQ(one(Op::kSin, -tiny), -tiny);
  EXPECT_TRUE(std::isnan(one(Op::kSin, inf)));
  EXPECT_TRUE(std::isnan(one(Op::kCos, -inf)));
  EXPECT_EQ(one(Op::kCos, T(-0.0)), 1);
  EXPECT_EQ(one(Op::kCos, tiny), 1);
  EXPECT_TRUE(std::isnan(one(Op::kLog2, T(-1))));
  EXPECT_EQ(one(Op::kLog2, T(-0.0)), -inf);
  EXPECT_EQ(one(Op::kLog2, T(0.0)), -inf);
  EXPECT_EQ(one(Op::kLog2, inf), inf);
  EXPECT_EQ(one(Op::kExp2, -inf), 0);
  EXPECT_EQ(one(Op::kExp2, inf), inf);
  for (const Op op : {Op::kExp2, Op::kLog2, Op::kSin, Op::kCos}) EXPECT_TRUE(std::isnan(one(op, nan)));
  std::vector<T> integers, powers;
  for (int n = -40; n <= 40; ++n) {
    integers.push_back(T(n));
    powers.push_back(std::ldexp(T(1), n));
  }
  EXPECT_EQ(RunUnary(Op::kExp2, integers), powers);
  EXPECT_EQ(RunUnary(Op::kLog2, powers), integers);
}

TEST(Math, Specials) {
  CheckSpecials<float>();
  CheckSpecials<double>();
}

// Every 317th bit pattern (a prime, so that all exponents and low bits are met), and the neighbourhood of 1
// and of multiples of pi/2 densely.
TEST(Math, F32OverAllExponents) {
  std::vector<float> in;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 317)
    in.push_back(BitCast<float>(static_cast<uint32_t>(bits)));
  for (uint32_t d = 0; d < 200000; ++d) in.push_back(BitCast<float>(0x3f800000u - 100000 + d));
  for (int n = -60000; n < 60000; ++n) in.push_back(static_cast<float>(n * 1.5707963267948966));
  for (const Op op : {Op::kExp2, Op::kLog2, Op::kSin, Op::kCos}) CheckAll<float, double>(op, in);
}

// Where results are neither 0 nor infinite, EXP2 is dense.
TEST(Math, F32Exp2WhereItIsFinite) {
  std::mt19937_64 random(1);
  std::vector<float> in(4000000);
  for (float& x : in) x = std::uniform_real_distribution<float>(-151, 129)(random);
  CheckAll<float, double>(Op::kExp2, in);
}

TEST(Math, F64OverAllExponents) {
  std::mt19937_64 random(2);
  std::vector<double> in(1000000), small(1000000);
  for (double& x : in) x = BitCast<double>(random());
  for (size_t i = 0; i < small.size(); ++i) {
    small[i] = i % 4 == 0 ? 1 + std::uniform_real_distribution<double>(-1e-3, 1e-3)(random)
                          : std::uniform_real_distribution<double>(-1080, 1030)(random);
    if (i % 4 == 1)
      small[i] = static_cast<double>(static_cast<int64_t>(small[i] * 1000)) * 1.5707963267948966;
  }
  for (const Op op : {Op::kExp2, Op::kLog2, Op::kSin, Op::kCos}) {
    CheckAll<double, long double>(op, in);
    CheckAll<double, long double>(op, small);
  }
  // The double nearest to a multiple of pi/2 (Muller et al., Handbook of Floating-Point Arithmetic, table of
  // worst cases).
  for (const Op op : {Op::kSin, Op::kCos})
    CheckAll<double, long double>(
        op, {0x1.6ac5b262ca1ffp+849, -0x1.6ac5b262ca1ffp+849, 0x1p+1023, 0x1.fffffffffffffp+1023});
}

}  // namespace
}  // namespace understudy
