// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "src/tensor/norm.h"
#include "src/tensor/softmax.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/nn_args.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;

double P(const json& a) { return std::stod(a["p"].get<std::string>()); }

BatchNormResult Batch(In x, const json& a) {
  return BatchNorm(
      x[0], &x[1], &x[2],
      {Optional(x, 3), Optional(x, 4), a["training"], a["momentum"].get<double>(), a["eps"].get<double>()});
}

}  // namespace

const Calls& NormCalls() {
  static const Calls* const calls = new Calls{
      {"batch_norm",
       [](In x, const json& a) -> Out {
         const BatchNormResult r = Batch(x, a);
         return {r.output, r.running_mean, r.running_var};
       }},
      {"batch_norm_output", [](In x, const json& a) -> Out { return {Batch(x, a).output}; }},
      {"batch_norm_fresh",
       [](In x, const json&) -> Out {
         BatchNormOptions o;
         o.training = true;
         return {BatchNorm(x[0], nullptr, nullptr, o).output};
       }},
      {"layer_norm",
       [](In x, const json& a) -> Out {
         return {LayerNorm(x[0], a["shape"].get<Shape>(), Optional(x, 1), Optional(x, 2), a["eps"])};
       }},
      {"rms_norm",
       [](In x, const json& a) -> Out {
         return {RmsNorm(x[0], a["shape"].get<Shape>(), Optional(x, 1), a["eps"])};
       }},
      {"group_norm",
       [](In x, const json& a) -> Out {
         return {GroupNorm(x[0], a["groups"], Optional(x, 1), Optional(x, 2), a["eps"])};
       }},
      {"instance_norm",
       [](In x, const json&) -> Out { return {InstanceNorm(x[0], Optional(x, 1), Optional(x, 2))}; }},
      {"local_response_norm",
       [](In x, const json& a) -> Out {
         return {LocalResponseNorm(x[0], a["size"], a["alpha"], a["beta"], a["k"])};
       }},
      {"normalize", [](In x, const json& a) -> Out { return {Normalize(x[0], P(a), a["dim"])}; }},
      {"cosine_similarity",
       [](In x, const json& a) -> Out { return {CosineSimilarity(x[0], x[1], a["dim"])}; }},
      {"pairwise_distance",
       [](In x, const json& a) -> Out { return {PairwiseDistance(x[0], x[1], a["p"], 1e-6, a["keepdim"])}; }},
      {"cdist", [](In x, const json& a) -> Out { return {Cdist(x[0], x[1], a["p"])}; }},
      {"softmin", [](In x, const json& a) -> Out { return {Softmin(x[0], a["dim"])}; }},
      {"softmax2d", [](In x, const json&) -> Out { return {Softmax2d(x[0])}; }},
      {"gumbel_softmax",
       [](In x, const json& a) -> Out { return {GumbelSoftmax(x[0], x[1], a["tau"], a["hard"])}; }},
  };
  return *calls;
}

}  // namespace understudy::vectors
