// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>

#include "src/tensor/activation.h"
#include "src/tensor/elementwise_ops.h"
#include "src/tensor/random.h"
#include "tests/src/tensor/calls/calls.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;
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

// A whole number stays one: it does not make a float of an integer tensor.
Number Num(const json& v) {
  return v.is_number_integer() ? Number(v.get<int64_t>()) : Number(v.get<double>());
}

}  // namespace

const Calls& ElementwiseCalls() {
  static const Calls* const calls = new Calls{
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
      {"pow_number", [](In x, const json& a) -> Out { return {x[0].Pow(Num(a["e"]))}; }},
      {"heaviside", [](In x, const json&) -> Out { return {Heaviside(x[0], x[1])}; }},
      {"isclose", [](In x, const json& a) -> Out { return {IsClose(x[0], x[1], 1e-5, 1e-8, a["nan"])}; }},
      {"allclose", [](In x, const json&) -> Out { return {AllClose(x[0], x[1])}; }},
      {"clamp_numbers", [](In x, const json& a) -> Out { return {x[0].Clamp(Num(a["lo"]), Num(a["hi"]))}; }},
      {"clamp",
       [](In x, const json&) -> Out { return {Clamp(x[0], &x[1], x.size() > 2 ? &x[2] : nullptr)}; }},
      {"masked_fill", [](In x, const json& a) -> Out { return {MaskedFill(x[0], x[1], Num(a["value"]))}; }},
      {"masked_fill_tensor", [](In x, const json&) -> Out { return {MaskedFill(x[0], x[1], x[2])}; }},
      {"lerp", [](In x, const json&) -> Out { return {x[0].Lerp(x[1], x[2])}; }},
      {"addcmul", [](In x, const json& a) -> Out { return {Addcmul(x[0], x[1], x[2], Num(a["value"]))}; }},
      {"addcdiv", [](In x, const json& a) -> Out { return {Addcdiv(x[0], x[1], x[2], Num(a["value"]))}; }},
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

}  // namespace understudy::vectors
