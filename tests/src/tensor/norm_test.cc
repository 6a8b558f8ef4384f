// SPDX-License-Identifier: Apache-2.0
// Normalisation, distances and the relatives of softmax against PyTorch's results and gradients.
#include "src/tensor/norm.h"

#include <cmath>

#include "gmock/gmock.h"
#include "src/tensor/softmax.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

UNDERSTUDY_VECTOR_TESTS(NormVectors, "tests/data/nn/norm.json", vectors::NormCalls);

TEST(NormErrors, NameOperationValueAndExpectation) {
  const auto zeros = [](Shape s) { return Tensor::Zeros(std::move(s)); };
  const auto refused = [](const Tensor& t, const char* text) {
    EXPECT_FALSE(t.ok());
    EXPECT_THAT(std::string(t.status().message()), HasSubstr(text));
  };
  const Tensor x = zeros({2, 4, 3}), three = zeros({3});
  refused(BatchNorm(x, nullptr, nullptr).output,
          "BatchNorm: no running statistics, expected them when not training");
  refused(BatchNorm(x, &three, &three).output, "running_mean of shape [3], expected [4]");
  refused(BatchNorm(x, &three, nullptr).output, "running_mean of shape [3], expected [4]");
  BatchNormOptions o;
  o.training = true;
  refused(BatchNorm(zeros({1, 4}), nullptr, nullptr, o).output,
          "1 values per channel when training, expected more than 1");
  refused(BatchNorm(x, nullptr, nullptr, o).running_mean, "no running statistics were given");
  refused(LayerNorm(x, {4}), "input [2,4,3] and normalized_shape [4], expected the input to end with it");
  refused(RmsNorm(x, {}), "normalized_shape []");
  refused(GroupNorm(x, 3), "4 channels in 3 groups, expected a divisor");
  refused(InstanceNorm(zeros({2, 3})), "expected [N,C,...] of rank 3 or more");
  refused(LocalResponseNorm(x, 0), "size 0, expected at least 1");
  refused(Normalize(x, 2, 5), "axis 5 is outside a tensor of rank 3");
  refused(CosineSimilarity(x, zeros({2})), "do not broadcast");
  refused(Cdist(x, three), "expected [...,n,d] and [...,m,d]");
  refused(Softmax2d(zeros({2, 2})), "expected rank 3 or 4");
  refused(GumbelSoftmax(x, three), "noise of shape [3], expected the logits' [2,4,3]");
  refused(LayerNorm(Tensor::Zeros({2}, {dtypes::kInt32}), {2}), "dtype i32, expected floats");
}

TEST(NormGradient, NormalizeOfZeroIsBoundedByEps) {
  const Tensor x = Tensor::Zeros({1, 2}, {dtypes::kFloat64}) + Tensor::FromData<double>({0, 0}, {1, 2});
  EXPECT_THAT(vectors::Values(Gradients(Normalize(x, 2, 1, 0.5).Sum(), {x})[0]), ElementsAre(2, 2));
}

}  // namespace
}  // namespace understudy
