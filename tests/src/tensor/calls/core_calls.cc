// SPDX-License-Identifier: Apache-2.0
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
        {"cast",
         [](In x, const json& a) -> Out {
           const auto t = ParseDType(a.at("to").get<std::string>());
           return {t.ok() ? x[0].Cast(*t) : Tensor(t.status())};
         }},
    };
    // The other elementwise operations, so that one table serves the vectors of all element types.
    all->insert(ElementwiseCalls().begin(), ElementwiseCalls().end());
    return all;
  }();
  return *calls;
}

}  // namespace understudy::vectors
