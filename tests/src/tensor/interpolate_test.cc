// SPDX-License-Identifier: Apache-2.0
// Resizing, shuffling and sampling against PyTorch's results and gradients.
#include "src/tensor/interpolate.h"

#include "gmock/gmock.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

UNDERSTUDY_VECTOR_TESTS(InterpolateVectors, "tests/data/nn/interpolate.json", vectors::InterpolateCalls);

TEST(InterpolateErrors, NameOperationValueAndExpectation) {
  const auto refused = [](const Tensor& t, const char* text) {
    EXPECT_FALSE(t.ok());
    EXPECT_THAT(std::string(t.status().message()), HasSubstr(text));
  };
  const Tensor x = Tensor::Zeros({1, 2, 4, 4});
  InterpolateOptions o;
  refused(Interpolate(x, o), "Interpolate: expected exactly one of size and scale_factor");
  o.size = 8;
  refused(Interpolate(Tensor::Zeros({2, 2}), o), "expected [N,C,spatial...]");
  o.align_corners = true;
  refused(Interpolate(x, o), "align_corners in a mode other than kLinear and kCubic");
  o.mode = InterpolateMode::kCubic;
  refused(Interpolate(Tensor::Zeros({1, 1, 4}), o), "kCubic of 1 spatial axes, expected 2");
  o.size = 0;
  refused(Interpolate(x, o), "size [0], expected 1 to 2^31");
  o.size.reset();
  o.scale_factor = {-1};
  refused(Interpolate(x, o), "scale factor -1 of size 4, expected a size of at least 1");
  o.scale_factor = {1, 2, 3};
  refused(Interpolate(x, o), "3 scale factors for 2 spatial axes");
  refused(PixelShuffle(x, 2), "input [1,2,4,4] by 2, expected [...,C*r*r,H,W]");
  refused(PixelUnshuffle(x, 3), "expected [...,C,H*r,W*r]");
  refused(ChannelShuffle(x, 3), "expected [N,C,...] with a divisor of C");
  refused(GridSample(x, x), "expected [N,C,H,W] and [N,OH,OW,2]");
}

}  // namespace
}  // namespace understudy
