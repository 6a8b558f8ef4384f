// SPDX-License-Identifier: Apache-2.0
// Pools against PyTorch's results, indices and gradients.
#include "src/tensor/pool.h"

#include "gmock/gmock.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

UNDERSTUDY_VECTOR_TESTS(PoolVectors, "tests/data/nn/pool.json", vectors::PoolCalls);

TEST(PoolErrors, NameOperationValueAndExpectation) {
  const auto zeros = [](Shape s) { return Tensor::Zeros(std::move(s)); };
  const auto refused = [](const Tensor& t, const char* text) {
    EXPECT_FALSE(t.ok());
    EXPECT_THAT(std::string(t.status().message()), HasSubstr(text));
  };
  const Tensor x = zeros({1, 2, 5, 5});
  refused(MaxPool2d(zeros({5, 5}), 2), "MaxPool2d: input [5,5], expected rank 3 or 4");
  refused(MaxPool2d(zeros({1, 2, 0, 5}), 2), "expected spatial axes with elements");
  refused(MaxPool2d(x, 6), "padded size 5 of spatial axis 0 is smaller than the kernel's reach 6");
  refused(MaxPool2d(x, 0), "kernel [0], expected 1 to 2^31");
  MaxPoolOptions o;
  o.padding = 2;
  refused(MaxPool2d(x, 3, o), "padding 2 for a kernel that reaches over 3, expected at most half of it");
  AvgPoolOptions a;
  a.divisor_override = 0;
  refused(AvgPool2d(x, 2, a), "divisor_override 0");
  refused(AvgPool2d(Tensor::Zeros({1, 4, 4}, {dtypes::kInt32}), 2), "dtype i32, expected floats");
  refused(AdaptiveAvgPool2d(x, 0), "output_size 0");
  refused(LpPool2d(x, 0, 2), "norm_type 0, expected a positive number");
  refused(MaxUnpool2d(x, Tensor::Zeros({1, 2, 5, 4}, {dtypes::kInt64}), 2),
          "expected integers of the input's shape [1,2,5,5]");
  refused(MaxPool2dWithIndices(zeros({-1}), 2).indices, "negative size");
}

}  // namespace
}  // namespace understudy
