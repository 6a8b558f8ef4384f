// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/special.h"
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

}  // namespace

const Calls& SpecialCalls() {
  static const Calls* const calls = new Calls{
      {"lgamma", One<Lgamma>},
      {"digamma", One<Digamma>},
      {"erfinv", One<Erfinv>},
      {"erfcx", One<Erfcx>},
      {"ndtr", One<Ndtr>},
      {"log_ndtr", One<LogNdtr>},
      {"ndtri", One<Ndtri>},
      {"i0", One<I0>},
      {"i0e", One<I0e>},
      {"i1", One<I1>},
      {"i1e", One<I1e>},
      {"expit", One<Expit>},
      {"entr", One<Entr>},
      {"polygamma", [](In x, const json& a) -> Out { return {Polygamma(a["n"], x[0])}; }},
      {"mvlgamma", [](In x, const json& a) -> Out { return {Mvlgamma(x[0], a["p"])}; }},
      {"xlog1py", [](In x, const json&) -> Out { return {Xlog1py(x[0], x[1])}; }},
  };
  return *calls;
}

}  // namespace understudy::vectors
