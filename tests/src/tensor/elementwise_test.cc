// SPDX-License-Identifier: Apache-2.0
// Elementwise functions and activations against PyTorch's results and gradients, second derivatives against
// finite differences, and what is refused.
#include <cmath>
#include <random>

#include "gmock/gmock.h"
#include "src/tensor/activation.h"
#include "src/tensor/elementwise_ops.h"
#include "src/tensor/random.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using In = const std::vector<Tensor>&;
using Out = std::vector<Tensor>;

template <Tensor (*F)(const Tensor&)>
Out One(In x, const json&) {
  return {F(x[0])};
}
template <Tensor (Tensor::*F)() const>
Out Method(In x, const json&) {
  return {(x[0].*F)()};
}
template <Tensor (*F)(const Tensor&, const Operand&)>
Out Two(In x, const json&) {
  return {F(x[0], x[1])};
}
template <Tensor (Tensor::*F)(const Operand&) const>
Out TwoMethod(In x, const json&) {
  return {(x[0].*F)(x[1])};
}

const vectors::Calls& ElementwiseCalls() {
  static const vectors::Calls* const calls = new vectors::Calls{
      {"exp", Method<&Tensor::Exp>},
      {"log", Method<&Tensor::Log>},
      {"sin", Method<&Tensor::Sin>},
      {"cos", Method<&Tensor::Cos>},
      {"tanh", Method<&Tensor::Tanh>},
      {"sigmoid", Method<&Tensor::Sigmoid>},
      {"relu", Method<&Tensor::Relu>},
      {"isnan", Method<&Tensor::IsNan>},
      {"expm1", One<Expm1>},
      {"log10", One<Log10>},
      {"log1p", One<Log1p>},
      {"tan", One<Tan>},
      {"asin", One<Asin>},
      {"acos", One<Acos>},
      {"atan", One<Atan>},
      {"sinh", One<Sinh>},
      {"cosh", One<Cosh>},
      {"asinh", One<Asinh>},
      {"acosh", One<Acosh>},
      {"atanh", One<Atanh>},
      {"erf", One<Erf>},
      {"erfc", One<Erfc>},
      {"sinc", One<Sinc>},
      {"frac", One<Frac>},
      {"isinf", One<IsInf>},
      {"isfinite", One<IsFinite>},
      {"signbit", One<Signbit>},
      {"logit",
       [](In x, const json& a) -> Out {
         return {a.contains("eps") ? Logit(x[0], a["eps"].get<double>()) : Logit(x[0])};
       }},
      {"round", [](In x, const json& a) -> Out { return {Round(x[0], a["decimals"])}; }},
      {"nan_to_num",
       [](In x, const json& a) -> Out {
         return {a.empty() ? NanToNum(x[0])
                           : NanToNum(x[0], a["nan"], a["pos"].get<double>(), a["neg"].get<double>())};
       }},
      {"atan2", Two<Atan2>},
      {"hypot", Two<Hypot>},
      {"copysign", Two<Copysign>},
      {"logaddexp", Two<LogAddExp>},
      {"logaddexp2", Two<LogAddExp2>},
      {"xlogy", Two<Xlogy>},
      {"remainder", Two<Remainder>},
      {"fmax", Two<Fmax>},
      {"fmin", Two<Fmin>},
      {"ldexp", Two<Ldexp>},
      {"logical_and", Two<LogicalAnd>},
      {"logical_or", Two<LogicalOr>},
      {"logical_xor", Two<LogicalXor>},
      {"fmod", TwoMethod<&Tensor::Fmod>},
      {"maximum", TwoMethod<&Tensor::Maximum>},
      {"minimum", TwoMethod<&Tensor::Minimum>},
      {"pow", TwoMethod<&Tensor::Pow>},
      {"bitwise_and", TwoMethod<&Tensor::BitAnd>},
      {"bitwise_or", TwoMethod<&Tensor::BitOr>},
      {"bitwise_xor", TwoMethod<&Tensor::BitXor>},
      {"shl", TwoMethod<&Tensor::Shl>},
      {"shr", TwoMethod<&Tensor::Shr>},
      {"pow_number", [](In x, const json& a) -> Out { return {x[0].Pow(a["e"].get<double>())}; }},
      {"heaviside", [](In x, const json&) -> Out { return {Heaviside(x[0], x[1])}; }},
      {"isclose", [](In x, const json& a) -> Out { return {IsClose(x[0], x[1], 1e-5, 1e-8, a["nan"])}; }},
      {"allclose", [](In x, const json&) -> Out { return {AllClose(x[0], x[1])}; }},
      {"clamp_numbers",
       [](In x, const json& a) -> Out { return {x[0].Clamp(a["lo"].get<double>(), a["hi"].get<double>())}; }},
      {"clamp",
       [](In x, const json&) -> Out { return {Clamp(x[0], &x[1], x.size() > 2 ? &x[2] : nullptr)}; }},
      {"masked_fill",
       [](In x, const json& a) -> Out { return {MaskedFill(x[0], x[1], a["value"].get<double>())}; }},
      {"masked_fill_tensor", [](In x, const json&) -> Out { return {MaskedFill(x[0], x[1], x[2])}; }},
      {"lerp", [](In x, const json&) -> Out { return {x[0].Lerp(x[1], x[2])}; }},
      {"addcmul",
       [](In x, const json& a) -> Out { return {Addcmul(x[0], x[1], x[2], a["value"].get<double>())}; }},
      {"addcdiv",
       [](In x, const json& a) -> Out { return {Addcdiv(x[0], x[1], x[2], a["value"].get<double>())}; }},
      {"relu6", One<Relu6>},
      {"leaky_relu", [](In x, const json& a) -> Out { return {LeakyRelu(x[0], a["slope"])}; }},
      {"rrelu_eval", [](In x, const json& a) -> Out { return {RreluEval(x[0], a["lower"], a["upper"])}; }},
      {"elu", [](In x, const json& a) -> Out { return {Elu(x[0], a["alpha"])}; }},
      {"celu", [](In x, const json& a) -> Out { return {Celu(x[0], a["alpha"])}; }},
      {"selu", One<Selu>},
      {"silu", One<Silu>},
      {"mish", One<Mish>},
      {"gelu", [](In x, const json&) -> Out { return {Gelu(x[0])}; }},
      {"gelu_tanh", [](In x, const json&) -> Out { return {Gelu(x[0], GeluForm::kTanh)}; }},
      {"quick_gelu", One<QuickGelu>},
      {"softplus", [](In x, const json&) -> Out { return {Softplus(x[0])}; }},
      {"softplus_beta",
       [](In x, const json& a) -> Out { return {Softplus(x[0], a["beta"], a["threshold"])}; }},
      {"softsign", One<Softsign>},
      {"log_sigmoid", One<LogSigmoid>},
      {"hardtanh", [](In x, const json& a) -> Out { return {Hardtanh(x[0], a["min"], a["max"])}; }},
      {"hardsigmoid", One<Hardsigmoid>},
      {"hardswish", One<Hardswish>},
      {"hardshrink", [](In x, const json& a) -> Out { return {Hardshrink(x[0], a["lambda"])}; }},
      {"softshrink", [](In x, const json& a) -> Out { return {Softshrink(x[0], a["lambda"])}; }},
      {"tanhshrink", One<Tanhshrink>},
      {"threshold", [](In x, const json& a) -> Out { return {Threshold(x[0], a["threshold"], a["value"])}; }},
      {"prelu", [](In x, const json&) -> Out { return {Prelu(x[0], x[1])}; }},
      {"glu", [](In x, const json& a) -> Out { return {Glu(x[0], a["axis"])}; }},
  };
  return *calls;
}

UNDERSTUDY_VECTOR_TESTS(Elementwise, "tests/data/ops/elementwise.json", ElementwiseCalls);

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
