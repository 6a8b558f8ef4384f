// SPDX-License-Identifier: Apache-2.0
// Losses against PyTorch's results and gradients.
#include "src/tensor/loss.h"

#include <cmath>

#include "gmock/gmock.h"
#include "tests/src/tensor/nn_args.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using vectors::In;
using vectors::Optional;
using vectors::Out;

Reduction Red(const json& a) {
  const std::string r = a["reduction"];
  return r == "none" ? Reduction::kNone : r == "sum" ? Reduction::kSum : Reduction::kMean;
}

ClassLossOptions Classes(In x, const json& a) {
  return {Optional(x, 2), a["ignore_index"], Red(a), a["label_smoothing"].get<double>()};
}

const vectors::Calls& LossCalls() {
  static const vectors::Calls* const calls = new vectors::Calls{
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

UNDERSTUDY_VECTOR_TESTS(LossVectors, "tests/data/nn/loss.json", LossCalls);

TEST(LossErrors, NameOperationValueAndExpectation) {
  const auto zeros = [](Shape s, DType t = dtypes::kFloat32) { return Tensor::Zeros(std::move(s), {t}); };
  const auto refused = [](const Tensor& t, const char* text) {
    EXPECT_FALSE(t.ok());
    EXPECT_THAT(std::string(t.status().message()), HasSubstr(text));
  };
  const Tensor x = zeros({2, 3}), index = zeros({2}, dtypes::kInt64), four = zeros({4});
  refused(MseLoss(x, zeros({2})), "MseLoss: shapes [2,3] and [2] do not broadcast");
  refused(L1Loss(index, index), "L1Loss: dtype i64, expected floats");
  refused(SmoothL1Loss(x, x, Reduction::kMean, -1), "beta -1, expected at least 0");
  refused(HuberLoss(x, x, Reduction::kMean, 0), "delta 0, expected more than 0");
  refused(CrossEntropy(x, zeros({3}, dtypes::kInt64)),
          "target of i64[3] for input [2,3], expected integers (class indices) of shape [2]");
  refused(CrossEntropy(x, zeros({2})), "probabilities of shape [2], expected the input's [2,3]");
  ClassLossOptions o;
  o.weight = &four;
  refused(CrossEntropy(x, index, o), "weight of shape [4], expected [3]");
  o.weight = nullptr;
  o.label_smoothing = 1.5;
  refused(CrossEntropy(x, index, o), "label_smoothing 1.5, expected 0 to 1");
  refused(NllLoss(x, index, o), "NllLoss: label_smoothing 1.5, expected none");
  refused(NllLoss(x, zeros({2})), "target of f32[2]");
  refused(BinaryCrossEntropy(x, four), "expected equal shapes");
  refused(BinaryCrossEntropyWithLogits(x, four), "expected equal shapes");
  refused(KlDiv(zeros({}), zeros({}), Reduction::kMean, false, true), "with batch_mean, expected a batch");
  refused(GaussianNllLoss(x, x, four), "expected equal shapes but for a last axis of 1");
  refused(CosineEmbeddingLoss(x, x, four), "expected [N,D], [N,D] and [N]");
  MultiMarginOptions m;
  m.p = 3;
  refused(MultiMarginLoss(x, index, m), "p 3, expected 1 or 2");
  refused(MultiLabelSoftMarginLoss(x, four), "expected equal shapes [...,C]");
  refused(CtcLoss(x, x, index, index), "expected [T,N,C], [N,S], [N] and [N]");
}

TEST(LossValues, ClassOutsideIsNanUnlessIgnored) {
  const Tensor x = Tensor::FromData<float>({1, 2, 3, 1, 2, 3}, {2, 3});
  const Tensor wrong = Tensor::FromData<int64_t>({0, 3}, {2});
  EXPECT_TRUE(std::isnan(vectors::Values(CrossEntropy(x, wrong))[0]));
  ClassLossOptions o;
  o.ignore_index = 3;
  EXPECT_NEAR(vectors::Values(CrossEntropy(x, wrong, o))[0], 2.4076059, 1e-6);
  EXPECT_TRUE(std::isnan(vectors::Values(x.CrossEntropy(Tensor::FromData<int64_t>({0, -100}, {2})))[0]));
  // The mean of nothing.
  EXPECT_TRUE(std::isnan(vectors::Values(MseLoss(Tensor::Zeros({0}), Tensor::Zeros({0})))[0]));
}

}  // namespace
}  // namespace understudy
