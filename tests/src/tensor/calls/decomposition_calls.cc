// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/decomposition.h"
#include "src/tensor/linalg.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/nn_args.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;

}  // namespace

const Calls& DecompositionCalls() {
  static const Calls* const calls = new Calls{
      {"inverse", [](In x, const json&) -> Out { return {Inverse(x[0])}; }},
      {"det", [](In x, const json&) -> Out { return {Det(x[0])}; }},
      {"slogdet",
       [](In x, const json&) -> Out {
         const SlogdetResult r = Slogdet(x[0]);
         return {r.sign, r.logabsdet};
       }},
      {"solve", [](In x, const json&) -> Out { return {Solve(x[0], x[1])}; }},
      {"cholesky_of_product",
       [](In x, const json& a) -> Out {
         const Tensor half = Tensor::Eye(x[0].shape().back(), std::nullopt, {x[0].dtype()}) * 0.5;
         return {Cholesky(x[0].Matmul(x[0].Transpose()) + half, a["upper"])};
       }},
      {"solve_triangular",
       [](In x, const json& a) -> Out { return {SolveTriangular(x[0], x[1], a["upper"], a["unit"])}; }},
      {"qr",
       [](In x, const json& a) -> Out {
         const QrResult r = Qr(x[0], a["complete"]);
         return {r.q, r.r};
       }},
      {"svdvals", [](In x, const json&) -> Out { return {SvdVals(x[0])}; }},
      {"svd_signless",
       [](In x, const json&) -> Out {
         const SvdResult r = Svd(x[0]);
         return {r.u.Square(), (r.u * r.s.Sqrt().Unsqueeze(-2)).Matmul(r.vh)};
       }},
      {"svd_product",
       [](In x, const json&) -> Out {
         const SvdResult r = Svd(x[0]);
         return {(r.u * r.s.Unsqueeze(-2)).Matmul(r.vh), r.u.Transpose().Matmul(r.u),
                 r.vh.Matmul(r.vh.Transpose())};
       }},
  };
  return *calls;
}

}  // namespace understudy::vectors
