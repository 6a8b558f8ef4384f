// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/elementwise_ops.h"
#include "tests/src/tensor/calls/calls.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;

template <Tensor (Tensor::*F)() const>
Out One(In x, const json&) {
  return {(x[0].*F)()};
}
template <Tensor (Tensor::*F)(const Operand&) const>
Out Two(In x, const json&) {
  return {(x[0].*F)(x[1])};
}

DType To(const json& a) {
  const auto t = ParseDType(a.at("to").get<std::string>());
  return t.ok() ? *t : dtypes::kVoid;
}
std::vector<int64_t> Axes(const json& a) { return a.at("axes").get<std::vector<int64_t>>(); }
bool Keep(const json& a) { return a.at("keepdim").get<bool>(); }
// A whole number stays one: it does not make a float of an integer tensor.
Number Num(const json& v) {
  return v.is_number_integer() ? Number(v.get<int64_t>()) : Number(v.get<double>());
}
std::optional<Number> Bound(const json& v) {
  return v.is_null() ? std::nullopt : std::optional<Number>(Num(v));
}
Number N(const json& a) { return Num(a.at("n")); }
template <Tensor (Tensor::*F)(const std::vector<int64_t>&, bool) const>
Out Reduced(In x, const json& a) {
  return {(x[0].*F)(Axes(a), Keep(a))};
}

}  // namespace

const Calls& CoreCalls() {
  static const Calls* const calls = [] {
    auto* const all = new Calls{
        {"neg", One<&Tensor::Neg>},
        {"abs", One<&Tensor::Abs>},
        {"sqrt", One<&Tensor::Sqrt>},
        {"rsqrt", One<&Tensor::Rsqrt>},
        {"exp2", One<&Tensor::Exp2>},
        {"log2", One<&Tensor::Log2>},
        {"reciprocal", One<&Tensor::Reciprocal>},
        {"floor", One<&Tensor::Floor>},
        {"ceil", One<&Tensor::Ceil>},
        {"trunc", One<&Tensor::Trunc>},
        {"sign", One<&Tensor::Sign>},
        {"square", One<&Tensor::Square>},
        {"logical_not", One<&Tensor::LogicalNot>},
        {"bitwise_not", One<&Tensor::BitwiseNot>},
        {"add", Two<&Tensor::Add>},
        {"sub", Two<&Tensor::Sub>},
        {"mul", Two<&Tensor::Mul>},
        {"div", Two<&Tensor::Div>},
        {"floor_div", Two<&Tensor::FloorDiv>},
        {"trunc_div", Two<&Tensor::TruncDiv>},
        {"lt", Two<&Tensor::Lt>},
        {"le", Two<&Tensor::Le>},
        {"gt", Two<&Tensor::Gt>},
        {"ge", Two<&Tensor::Ge>},
        {"eq", Two<&Tensor::Eq>},
        {"ne", Two<&Tensor::Ne>},
        {"cast", [](In x, const json& a) -> Out { return {x[0].Cast(To(a))}; }},
        {"bitcast", [](In x, const json& a) -> Out { return {x[0].Bitcast(To(a))}; }},
        {"mod", Two<&Tensor::Mod>},
        {"where", [](In x, const json&) -> Out { return {Where(x[0], x[1], x[2])}; }},
        {"where_number", [](In x, const json& a) -> Out { return {Where(x[0], x[1], Num(a["value"]))}; }},
        {"clamp_bounds",
         [](In x, const json& a) -> Out { return {x[0].Clamp(Bound(a["lo"]), Bound(a["hi"]))}; }},
        {"lerp_number",
         [](In x, const json& a) -> Out { return {x[0].Lerp(x[1], a["weight"].get<double>())}; }},
        {"add_number", [](In x, const json& a) -> Out { return {x[0] + N(a)}; }},
        {"number_minus", [](In x, const json& a) -> Out { return {N(a) - x[0]}; }},
        {"mul_number", [](In x, const json& a) -> Out { return {x[0] * N(a)}; }},
        {"number_over", [](In x, const json& a) -> Out { return {N(a) / x[0]}; }},
        {"detach_product", [](In x, const json&) -> Out { return {x[0] * x[0].Detach()}; }},
        {"gelu_method", One<&Tensor::Gelu>},
        {"sum_method", Reduced<&Tensor::Sum>},
        {"mean_method", Reduced<&Tensor::Mean>},
        {"max_method", Reduced<&Tensor::Max>},
        {"min_method", Reduced<&Tensor::Min>},
        {"prod_method", Reduced<&Tensor::Prod>},
        {"var_method",
         [](In x, const json& a) -> Out {
           return {x[0].Var(Axes(a), a["correction"].get<int64_t>(), Keep(a))};
         }},
        {"argmax_method", [](In x, const json& a) -> Out { return {x[0].Argmax(a["axis"], Keep(a))}; }},
        {"softmax_method", [](In x, const json& a) -> Out { return {x[0].Softmax(a["axis"])}; }},
        {"log_softmax_method", [](In x, const json& a) -> Out { return {x[0].LogSoftmax(a["axis"])}; }},
        {"matmul_method", [](In x, const json&) -> Out { return {x[0].Matmul(x[1])}; }},
        {"layer_norm_method",
         [](In x, const json& a) -> Out {
           return {x[0].LayerNorm(a["axes"], Optional(x, 1), Optional(x, 2))};
         }},
        {"conv2d_method",
         [](In x, const json& a) -> Out {
           Tensor::Conv2dOptions o;
           o.stride = a.value("stride", o.stride);
           o.padding = a.value("padding", o.padding);
           o.groups = a.value("groups", o.groups);
           return {x[0].Conv2d(x[1], Optional(x, 2), o)};
         }},
        {"cross_entropy_method", [](In x, const json&) -> Out { return {x[0].CrossEntropy(x[1])}; }},
    };
    // The other elementwise operations, so that one table serves the vectors of all element types.
    all->insert(ElementwiseCalls().begin(), ElementwiseCalls().end());
    return all;
  }();
  return *calls;
}

}  // namespace understudy::vectors
