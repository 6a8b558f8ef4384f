// SPDX-License-Identifier: Apache-2.0
// Movement functions and einops patterns against PyTorch's and einops' results and gradients; what is
// refused.
#include "src/tensor/movement_ops.h"

#include <cmath>
#include <numeric>

#include "gmock/gmock.h"
#include "src/tensor/rearrange.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Ints = std::vector<int64_t>;

UNDERSTUDY_VECTOR_TESTS(Movement, "tests/data/ops/movement.json", vectors::MovementCalls);

Tensor Counted(Shape s) {
  int64_t n = 1;
  for (const int64_t d : s) n *= d;
  std::vector<float> v(n);
  std::iota(v.begin(), v.end(), 1.0f);
  return Tensor::FromData<float>(v, std::move(s));
}
std::string Error(const Tensor& t) { return std::string(t.status().message()); }

TEST(MovementErrors, NameOperationValuesAndExpectation) {
  const Tensor x = Counted({2, 3});
  EXPECT_THAT(Error(Unflatten(x, 1, {2, -1})),
              HasSubstr("axis 1 of size 3 into [2,-1], expected a product of 3"));
  EXPECT_THAT(Error(Movedim(x, {0, 0}, {0, 1})), HasSubstr("an axis appears twice"));
  EXPECT_THAT(Error(Movedim(x, {0}, {0, 1})), HasSubstr("1 axes to 2 places"));
  EXPECT_THAT(Error(Narrow(x, 1, 2, 2)), HasSubstr("start 2 and length 2 at axis 1 of size 3"));
  EXPECT_THAT(Error(Select(x, 0, 2)), HasSubstr("index 2 is outside axis 0 of size 2"));
  EXPECT_THAT(Error(Split(x, 0)[0]), HasSubstr("size 0 for axis 0 of size 2, expected above 0"));
  EXPECT_THAT(Error(Split(x, Ints{1, 2}, 1)[0]) + Error(Split(x, Ints{1, 1}, 1)[0]),
              HasSubstr("sizes [1,1] sum to 2, expected 3"));
  EXPECT_THAT(Error(Chunk(x, 0)[0]), HasSubstr("0 chunks"));
  EXPECT_THAT(Error(Unfold(x, 1, 4, 1)), HasSubstr("windows of 4 every 1 at axis 1 of size 3"));
  EXPECT_THAT(Error(Roll(x, {1, 2}, {0})), HasSubstr("2 shifts for 1 axes"));
  EXPECT_THAT(Error(Rot90(x, 1, 1, -1)), HasSubstr("expected two different ones"));
  EXPECT_THAT(Error(Fliplr(Counted({3}))), HasSubstr("rank 1, expected at least 2"));
  EXPECT_THAT(Error(Repeat(x, {2})), HasSubstr("1 repeats for rank 2"));
  EXPECT_THAT(Error(RepeatInterleave(x, Ints{1}, 0)), HasSubstr("1 repeats for axis 0 of size 2"));
  EXPECT_THAT(Error(Pad(x, {3, 0}, PadMode::kReflect)),
              HasSubstr("{3,0} at axis 1 of size 3, expected at most 2"));
  EXPECT_THAT(Error(Pad(x, {1})), HasSubstr("1 pads for rank 2"));
  EXPECT_THAT(Error(Diag(Counted({1, 1, 1}))), HasSubstr("rank 3, expected a vector or a matrix"));
  EXPECT_THAT(Error(Tril(Counted({3}))), HasSubstr("rank 1, expected at least 2"));
  EXPECT_THAT(Error(Meshgrid({x})[0]), HasSubstr("rank 2, expected scalars or vectors"));
  EXPECT_THAT(Error(Meshgrid({Counted({2})}, "yx")[0]), HasSubstr("'yx', expected 'ij' or 'xy'"));
  EXPECT_THAT(Error(Hstack({})), HasSubstr("no tensors"));
  EXPECT_THAT(Error(Tril(Select(x, 0, 9))), HasSubstr("Select: index 9"));
}

TEST(EinopsErrors, TeachThePattern) {
  const Tensor x = Counted({2, 6});
  const auto error = [&](const std::string& p, const AxisSizes& s = {}) { return Error(Rearrange(x, p, s)); };
  EXPECT_THAT(error("a b"), HasSubstr("pattern 'a b': expected one '->'"));
  EXPECT_THAT(error("a b -> a"), HasSubstr("axis 'b' is on the left alone, expected it on both sides"));
  EXPECT_THAT(error("a b -> a b c"), HasSubstr("axis 'c' is on the right alone"));
  EXPECT_THAT(error("a a -> a a"), HasSubstr("axis 'a' appears twice on one side"));
  EXPECT_THAT(error("a (b c) -> a b c"), HasSubstr("sizes of 'b' and 'c' are both unknown"));
  EXPECT_THAT(error("a (b c) -> a b c", {{"b", 4}}),
              HasSubstr("axis 1 of size 6 for (b c), expected a multiple of 4"));
  EXPECT_THAT(error("a (b c) -> a b c", {{"b", 2}, {"c", 2}}), HasSubstr("expected 4"));
  EXPECT_THAT(error("a -> a"), HasSubstr("1 axes on the left for a tensor of rank 2, shape [2,6]"));
  EXPECT_THAT(error("a b c ... -> a b c ..."),
              HasSubstr("3 axes and '...' on the left for a tensor of rank 2"));
  EXPECT_THAT(error("a (b -> a b"), HasSubstr("'(' without ')'"));
  EXPECT_THAT(error("a b) -> a b"), HasSubstr("')' without '('"));
  EXPECT_THAT(error("a ((b) c) -> a b c"), HasSubstr("'(' inside parentheses"));
  EXPECT_THAT(error("a b -> a+b"), HasSubstr("'+', expected an axis"));
  EXPECT_THAT(error("a b -> b a", {{"q", 2}}), HasSubstr("size given for 'q', which is no axis"));
  EXPECT_THAT(error("a b -> b a ..."), HasSubstr("'...' on the right alone"));
  EXPECT_THAT(error("a 6 -> a 6"), HasSubstr("axis '6', expected names or 1"));
  EXPECT_THAT(Error(EinopsRepeat(x, "a b -> a b c")), HasSubstr("the repeated axis 'c' needs a size"));
  EXPECT_THAT(Error(EinopsReduce(x, "a (b 4) -> a b", EinopsReduction::kSum)),
              HasSubstr("expected a multiple of 4"));
}

// Values move exactly: NaN, infinities and the signs of zeros.
TEST(Movement, MovesBitsAsTheyAre) {
  const Tensor x = Tensor::FromData<float>({-0.0f, NAN, INFINITY, 3}, {4});
  const auto check = [](const Tensor& t, const std::vector<double>& want) {
    const std::vector<double> got = vectors::Values(t);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(std::isnan(want[i]) ? std::isnan(got[i])
                                      : got[i] == want[i] && std::signbit(got[i]) == std::signbit(want[i]))
          << i << ": " << got[i];
    }
  };
  check(Roll(x, {1}, {0}), {3, -0.0, NAN, INFINITY});
  check(Unfold(x, 0, 2, 2), {-0.0, NAN, INFINITY, 3});
  check(Pad(x, {1, 1}, PadMode::kReflect), {NAN, -0.0, NAN, INFINITY, 3, INFINITY});
  check(Pad(x, {1, 1}, PadMode::kReplicate), {-0.0, -0.0, NAN, INFINITY, 3, 3});
  check(Diagonal(Diag(x)), {-0.0, NAN, INFINITY, 3});
  check(RepeatInterleave(x, 2), {-0.0, -0.0, NAN, NAN, INFINITY, INFINITY, 3, 3});
}

}  // namespace
}  // namespace understudy
