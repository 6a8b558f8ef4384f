// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "src/tensor/linalg.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/nn_args.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;

Number Factor(const json& v) {
  return v.is_number_integer() ? Number(v.get<int64_t>()) : Number(v.get<double>());
}

template <Tensor (*F)(const Tensor&, const Tensor&)>
Out Two(In x, const json&) {
  return {F(x[0], x[1])};
}
template <Tensor (*F)(const Tensor&, const Tensor&, const Tensor&, Number, Number)>
Out Blended(In x, const json& a) {
  return {F(x[0], x[1], x[2], Factor(a["beta"]), Factor(a["alpha"]))};
}

}  // namespace

const Calls& LinalgCalls() {
  static const Calls* const calls = new Calls{
      {"matmul", [](In x, const json&) -> Out { return {Matmul(x[0], x[1])}; }},
      {"dot", Two<Dot>},
      {"vdot", Two<Vdot>},
      {"inner", Two<Inner>},
      {"outer", Two<Outer>},
      {"mv", Two<Mv>},
      {"mm", Two<Mm>},
      {"bmm", Two<Bmm>},
      {"kron", Two<Kron>},
      {"addmm", Blended<Addmm>},
      {"addmv", Blended<Addmv>},
      {"addr", Blended<Addr>},
      {"baddbmm", Blended<Baddbmm>},
      {"addbmm", Blended<Addbmm>},
      {"multi_dot", [](In x, const json&) -> Out { return {MultiDot(x)}; }},
      {"tensordot",
       [](In x, const json& a) -> Out { return {Tensordot(x[0], x[1], a["dims"].get<int64_t>())}; }},
      {"tensordot_axes",
       [](In x, const json& a) -> Out {
         return {Tensordot(x[0], x[1], a["axes"][0].get<Shape>(), a["axes"][1].get<Shape>())};
       }},
      {"linear", [](In x, const json&) -> Out { return {Linear(x[0], x[1], Optional(x, 2))}; }},
      {"bilinear", [](In x, const json&) -> Out { return {Bilinear(x[0], x[1], x[2], Optional(x, 3))}; }},
      {"trace", [](In x, const json&) -> Out { return {Trace(x[0])}; }},
      {"cross", [](In x, const json& a) -> Out { return {Cross(x[0], x[1], a["dim"])}; }},
      {"matrix_power", [](In x, const json& a) -> Out { return {MatrixPower(x[0], a["n"])}; }},
      {"einsum", [](In x, const json& a) -> Out { return {Einsum(a["equation"], x)}; }},
      {"vector_norm",
       [](In x, const json& a) -> Out {
         return {
             VectorNorm(x[0], std::stod(a["p"].get<std::string>()), a["axes"].get<Shape>(), a["keepdim"])};
       }},
  };
  return *calls;
}

}  // namespace understudy::vectors
