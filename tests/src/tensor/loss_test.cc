// SPDX-License-Identifier: Apache-2.0
// Losses against PyTorch's results and gradients.
#include "src/tensor/loss.h"

#include <cmath>

#include "gmock/gmock.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

UNDERSTUDY_VECTOR_TESTS(LossVectors, "tests/data/nn/loss.json", vectors::LossCalls);

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
