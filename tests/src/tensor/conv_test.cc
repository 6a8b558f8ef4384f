// SPDX-License-Identifier: Apache-2.0
// Convolutions, their transposes and windows as columns against PyTorch's results and gradients.
#include "src/tensor/conv.h"

#include "gmock/gmock.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

UNDERSTUDY_VECTOR_TESTS(ConvVectors, "tests/data/nn/conv.json", vectors::ConvCalls);

TEST(ConvErrors, NameOperationValueAndExpectation) {
  const auto zeros = [](Shape s) { return Tensor::Zeros(std::move(s)); };
  const auto refused = [](const Tensor& t, const char* text) {
    EXPECT_FALSE(t.ok());
    EXPECT_THAT(std::string(t.status().message()), HasSubstr(text));
  };
  const Tensor x = zeros({1, 2, 5, 5}), w = zeros({3, 2, 3, 3}), bias = zeros({2});
  refused(Conv2d(zeros({5, 5}), w),
          "Conv2d: input [5,5] and weight [3,2,3,3], expected rank 3 or 4 and rank 4");
  refused(Conv2d(x, zeros({3, 1, 3, 3})), "2 input channels, weight [3,1,3,3] and 1 groups do not fit");
  refused(Conv2d(x, w, &bias), "bias of shape [2], expected [3]");
  refused(Conv2d(x, zeros({3, 2, 6, 3})), "is smaller than the kernel's reach [6,3]");
  ConvOptions o;
  o.stride = 0;
  refused(Conv2d(x, w, nullptr, o), "stride [0], expected 1 to 2^31");
  o.stride = {1, 2, 3};
  refused(Conv2d(x, w, nullptr, o), "stride [1,2,3] for 2 spatial axes");
  o.stride = 2;
  o.padding = PaddingMode::kSame;
  refused(Conv2d(x, w, nullptr, o), "padding \"same\" with stride 2");
  o.padding = -1;
  refused(Conv2d(x, w, nullptr, o), "padding [-1], expected 0 to 2^31");
  o.padding = 0;
  o.dilation = int64_t{1} << 31;
  refused(Conv2d(x, w, nullptr, o), "is smaller than the kernel's reach");
  ConvTransposeOptions t;
  t.output_padding = 1;
  refused(ConvTranspose2d(x, zeros({2, 3, 3, 3}), nullptr, t),
          "output_padding 1, expected less than stride 1 or dilation 1");
  t.output_padding = 0;
  t.padding = 9;
  refused(ConvTranspose2d(x, zeros({2, 3, 3, 3}), nullptr, t), "gives no output at spatial axis 0");
  refused(Im2col(x, 7), "padded size 5 of spatial axis 0 is smaller than the kernel's reach 7");
  refused(Col2im(zeros({1, 7, 4}), 3, 2), "expected a multiple of 4 rows and 4 columns");
  refused(Conv1d(zeros({-1}), w), "negative size");
}

// The view of the windows and its transpose need no division or remainder: sums of ranges and comparisons say
// where every element is.
TEST(ConvIndices, StrideOneGradientDoesNotDivide) {
  const Tensor x = Tensor::Uniform({1, 2, 9, 9}, 1), w = Tensor::Uniform({2, 2, 3, 3}, 2);
  const Tensor loss = Conv2d(x, w).Square().Sum();
  for (const Tensor& g : Gradients(loss, {x, w})) {
    EXPECT_EQ(vectors::DivisionsIn(g), 0);
  }
  EXPECT_EQ(vectors::DivisionsIn(Conv2d(x, w)), 0);
}

}  // namespace
}  // namespace understudy
