// SPDX-License-Identifier: Apache-2.0
// Elementwise functions and activations against PyTorch's results and gradients, second derivatives against
// finite differences, and what is refused.
#include <cmath>
#include <random>

#include "gmock/gmock.h"
#include "src/tensor/activation.h"
#include "src/tensor/elementwise_ops.h"
#include "src/tensor/random.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

UNDERSTUDY_VECTOR_TESTS(Elementwise, "tests/data/ops/elementwise.json", vectors::ElementwiseCalls);

Tensor F64(const std::vector<double>& v) {
  return Tensor::FromData<double>(v, {static_cast<int64_t>(v.size())});
}

using Function = std::function<Tensor(const Tensor&)>;

// d/dx of the derivative, by central differences of the derivative.
TEST(SecondDerivative, MatchesFiniteDifferences) {
  struct Row {
    const char* name;
    Function f;
    double lo, hi;
  };
  const std::vector<Row> rows = {
      {"Exp", [](const Tensor& x) { return x.Exp(); }, -2, 2},
      {"Log", [](const Tensor& x) { return x.Log(); }, 0.3, 3},
      {"Cos", [](const Tensor& x) { return x.Cos(); }, -3, 3},
      {"Sigmoid", [](const Tensor& x) { return x.Sigmoid(); }, -3, 3},
      {"Tanh", [](const Tensor& x) { return x.Tanh(); }, -2, 2},
      {"Expm1", Expm1, -2, 2},
      {"Log1p", Log1p, -0.7, 3},
      {"Log10", Log10, 0.3, 3},
      {"Tan", Tan, -1.2, 1.2},
      {"Asin", Asin, -0.8, 0.8},
      {"Acos", Acos, -0.8, 0.8},
      {"Atan", Atan, -2, 2},
      {"Sinh", Sinh, -2, 2},
      {"Cosh", Cosh, -2, 2},
      {"Asinh", Asinh, -2, 2},
      {"Acosh", Acosh, 1.3, 3},
      {"Atanh", Atanh, -0.8, 0.8},
      {"Erf", Erf, -2, 2},
      {"Erfc", Erfc, -2, 2},
      {"Sinc", Sinc, 0.3, 2},
      {"Logit", [](const Tensor& x) { return Logit(x); }, 0.2, 0.8},
      {"Gelu", [](const Tensor& x) { return Gelu(x); }, -3, 3},
      {"Mish", Mish, -3, 3},
      {"Silu", Silu, -3, 3},
      {"Selu", Selu, -3, -0.1},
      {"Softplus", [](const Tensor& x) { return Softplus(x); }, -3, 3},
      {"LogSigmoid", LogSigmoid, -3, 3},
      {"Atan2", [](const Tensor& x) { return Atan2(x, x * x + 1); }, -2, 2},
      {"Hypot", [](const Tensor& x) { return Hypot(x, 2.0); }, -2, 2},
      {"Pow", [](const Tensor& x) { return x.Pow(x); }, 0.5, 2},
      {"PowNumber", [](const Tensor& x) { return x.Pow(2.5); }, 0.5, 2},
      {"LogAddExp", [](const Tensor& x) { return LogAddExp(x, x * x); }, -2, 2},
      {"LogAddExp2", [](const Tensor& x) { return LogAddExp2(x, x * x); }, -2, 2},
  };
  std::mt19937_64 random(4);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    std::vector<double> at(3);
    for (double& x : at) x = std::uniform_real_distribution<double>(row.lo, row.hi)(random);
    const auto slope = [&](const Tensor& x) { return Gradients(row.f(x).Sum(), {x})[0]; };
    const Tensor x = F64(at);
    const std::vector<double> second = vectors::Values(Gradients(slope(x).Sum(), {x})[0]);
    const double h = 1e-5;
    std::vector<double> up = at, down = at;
    for (size_t i = 0; i < at.size(); ++i) up[i] += h, down[i] -= h;
    const std::vector<double> high = vectors::Values(slope(F64(up))), low = vectors::Values(slope(F64(down)));
    for (size_t i = 0; i < at.size(); ++i) {
      const double want = (high[i] - low[i]) / (2 * h);
      EXPECT_NEAR(second[i], want, 1e-6 * std::max(1.0, std::abs(want))) << "at " << at[i];
    }
  }
}

TEST(Threefry, MatchesTheHostsBits) {
  std::vector<uint64_t> counters, keys;
  for (uint64_t i = 0; i < 20; ++i) {
    counters.push_back(i * 0x9E3779B97F4A7C15u);
    keys.push_back(i % 3 * 0x123456789ABCDEFu);
  }
  const Tensor y =
      Threefry(Tensor::FromData<uint64_t>(counters, {20}), Tensor::FromData<uint64_t>(keys, {20}));
  const Tensor low = y.Cast(dtypes::kUInt32), high = y.Shr(32).Cast(dtypes::kUInt32);
  const std::vector<double> got_low = vectors::Values(low), got_high = vectors::Values(high);
  for (size_t i = 0; i < 20; ++i) {
    const auto want =
        Threefry2x32({static_cast<uint32_t>(keys[i]), static_cast<uint32_t>(keys[i] >> 32)},
                     {static_cast<uint32_t>(counters[i]), static_cast<uint32_t>(counters[i] >> 32)});
    EXPECT_EQ(got_low[i], want[0]) << i;
    EXPECT_EQ(got_high[i], want[1]) << i;
  }
  // Salmon et al.'s known answer for key and counter of all ones.
  const Tensor ones = Tensor::Full({1}, 0xFFFFFFFFll, {dtypes::kUInt32});
  const auto [a, b] = Threefry2x32(ones, ones, ones, ones);
  EXPECT_THAT(vectors::Values(a), ElementsAre(0x1cb996fc));
  EXPECT_THAT(vectors::Values(b), ElementsAre(0xbb002be7));
}

TEST(Elementwise, AtKinksSubgradientsAreFinite) {
  // Where the chosen branch is flat, the other one's infinite slope must not come through.
  const Tensor x = F64({0, 0, 2});
  EXPECT_THAT(vectors::Values(Gradients(Xlogy(x, F64({1, 2, 3})).Sum(), {x})[0]),
              ElementsAre(0, 0, DoubleNear(std::log(3.0), 1e-12)));
  EXPECT_THAT(vectors::Values(Gradients(Elu(F64({1000}) * x.Shrink({{0, 1}}) + 1000).Sum(), {x})[0]),
              ElementsAre(1000, 0, 0));
  EXPECT_THAT(vectors::Values(Gradients(Hypot(x, F64({0, 3, 0})).Sum(), {x})[0]), ElementsAre(0, 0, 1));
}

TEST(Elementwise, Errors) {
  const Tensor x = F64({1, 2}), i = Tensor::FromData<int64_t>({1, 2}, {2}), wide = F64({1, 2, 3});
  const auto error = [](const Tensor& t) { return std::string(t.status().message()); };
  EXPECT_THAT(error(Atan2(x, wide)), HasSubstr("Atan2: shapes [2] and [3] do not broadcast"));
  EXPECT_THAT(error(Expm1(Atan2(x, wide))), HasSubstr("Atan2: shapes"));
  EXPECT_THAT(error(Logit(x, 0.7)), HasSubstr("eps 0.7, expected 0 to 0.5"));
  EXPECT_THAT(error(Round(i, 2)), HasSubstr("dtype i64 with 2 decimals, expected floats"));
  EXPECT_THAT(error(IsClose(x, x, -1)), HasSubstr("expected none below 0"));
  EXPECT_THAT(error(Clamp(x, nullptr, nullptr)), HasSubstr("expected at least one"));
  EXPECT_THAT(error(MaskedFill(i, i.Gt(1), 0.5)), HasSubstr("value 0.5 into i64"));
  EXPECT_THAT(error(Addcdiv(i, i, i)), HasSubstr("expected floats"));
  EXPECT_THAT(error(Threefry(i, i)), HasSubstr("dtype i64, expected u64"));
  EXPECT_THAT(error(Prelu(x, wide)), HasSubstr("expected one element or one a channel"));
  EXPECT_THAT(error(Glu(wide)), HasSubstr("size 3, expected an even size"));
  EXPECT_THAT(error(Softplus(x, 0)), HasSubstr("beta 0"));
  EXPECT_THAT(error(Hardtanh(x, 2, 1)), HasSubstr("wrong order"));
  EXPECT_THAT(error(Softshrink(x, -1)), HasSubstr("lambda -1"));
}

}  // namespace
}  // namespace understudy
