// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "src/tensor/loss.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/nn_args.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;

Reduction Red(const json& a) {
  const std::string r = a["reduction"];
  return r == "none" ? Reduction::kNone : r == "sum" ? Reduction::kSum : Reduction::kMean;
}

ClassLossOptions Classes(In x, const json& a) {
  return {Optional(x, 2), a["ignore_index"], Red(a), a["label_smoothing"].get<double>()};
}

}  // namespace

const Calls& LossCalls() {
  static const Calls* const calls = new Calls{
      {"mse", [](In x, const json& a) -> Out { return {MseLoss(x[0], x[1], Red(a))}; }},
      {"l1", [](In x, const json& a) -> Out { return {L1Loss(x[0], x[1], Red(a))}; }},
      {"smooth_l1", [](In x, const json& a) -> Out { return {SmoothL1Loss(x[0], x[1], Red(a), a["beta"])}; }},
      {"huber", [](In x, const json& a) -> Out { return {HuberLoss(x[0], x[1], Red(a), a["delta"])}; }},
      {"cross_entropy", [](In x, const json& a) -> Out { return {CrossEntropy(x[0], x[1], Classes(x, a))}; }},
      {"nll", [](In x, const json& a) -> Out { return {NllLoss(x[0], x[1], Classes(x, a))}; }},
      {"bce",
       [](In x, const json& a) -> Out { return {BinaryCrossEntropy(x[0], x[1], Optional(x, 2), Red(a))}; }},
      {"bce_logits",
       [](In x, const json& a) -> Out {
         return {BinaryCrossEntropyWithLogits(x[0], x[1], Optional(x, 2), Red(a), Optional(x, 3))};
       }},
      {"kl_div",
       [](In x, const json& a) -> Out {
         return {KlDiv(x[0], x[1], Red(a), a["log_target"], a["reduction"] == "batchmean")};
       }},
      {"poisson_nll",
       [](In x, const json& a) -> Out {
         return {PoissonNllLoss(x[0], x[1], a["log_input"], a["full"], 1e-8, Red(a))};
       }},
      {"gaussian_nll",
       [](In x, const json& a) -> Out {
         return {GaussianNllLoss(x[0], x[1], x[2], a["full"], a.value("eps", 1e-6), Red(a))};
       }},
      {"hinge_embedding",
       [](In x, const json& a) -> Out { return {HingeEmbeddingLoss(x[0], x[1], a["margin"], Red(a))}; }},
      {"margin_ranking",
       [](In x, const json& a) -> Out { return {MarginRankingLoss(x[0], x[1], x[2], a["margin"], Red(a))}; }},
      {"cosine_embedding",
       [](In x, const json& a) -> Out {
         return {CosineEmbeddingLoss(x[0], x[1], x[2], a["margin"], Red(a))};
       }},
      {"triplet_margin",
       [](In x, const json& a) -> Out {
         return {TripletMarginLoss(
             x[0], x[1], x[2], {a["margin"].get<double>(), a["p"].get<double>(), 1e-6, a["swap"], Red(a)})};
       }},
      {"soft_margin", [](In x, const json& a) -> Out { return {SoftMarginLoss(x[0], x[1], Red(a))}; }},
      {"multi_margin",
       [](In x, const json& a) -> Out {
         return {MultiMarginLoss(x[0], x[1],
                                 {a["p"].get<double>(), a["margin"].get<double>(), Optional(x, 2), Red(a)})};
       }},
      {"multi_label_soft_margin",
       [](In x, const json& a) -> Out {
         return {MultiLabelSoftMarginLoss(x[0], x[1], Optional(x, 2), Red(a))};
       }},
      {"ctc",
       [](In x, const json& a) -> Out {
         return {CtcLoss(x[0].LogSoftmax(2), x[1], x[2], x[3], {a["blank"], Red(a), a["zero_infinity"]})};
       }},
  };
  return *calls;
}

}  // namespace understudy::vectors
