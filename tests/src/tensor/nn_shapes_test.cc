// SPDX-License-Identifier: Apache-2.0
// Sizes of zero and one through every family, and second derivatives against differences of the first.
#include <cmath>
#include <functional>
#include <random>

#include "gmock/gmock.h"
#include "src/tensor/attention.h"
#include "src/tensor/conv.h"
#include "src/tensor/decomposition.h"
#include "src/tensor/embedding.h"
#include "src/tensor/interpolate.h"
#include "src/tensor/linalg.h"
#include "src/tensor/loss.h"
#include "src/tensor/norm.h"
#include "src/tensor/pool.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using ::testing::ElementsAre;

Tensor Ones(Shape s) { return Tensor::Ones(std::move(s)); }

TEST(NnShapes, NoBatchGivesNoElements) {
  const Tensor image = Ones({0, 2, 4, 4}), kernel = Ones({3, 2, 3, 3});
  InterpolateOptions twice;
  twice.scale_factor = {2};
  const std::pair<Tensor, Shape> cases[] = {
      {Conv2d(image, kernel), {0, 3, 2, 2}},
      {ConvTranspose2d(image, Ones({2, 3, 3, 3})), {0, 3, 6, 6}},
      {Im2col(image, 2), {0, 8, 9}},
      {MaxPool2d(image, 2), {0, 2, 2, 2}},
      {MaxPool2dWithIndices(image, 2).indices, {0, 2, 2, 2}},
      {AvgPool2d(image, 2), {0, 2, 2, 2}},
      {AdaptiveAvgPool2d(image, 3), {0, 2, 3, 3}},
      {GroupNorm(image, 2), {0, 2, 4, 4}},
      {LayerNorm(Ones({0, 3}), {3}), {0, 3}},
      {Interpolate(image, twice), {0, 2, 8, 8}},
      {ScaledDotProductAttention(Ones({0, 3, 2}), Ones({0, 5, 2}), Ones({0, 5, 2})), {0, 3, 2}},
      {Embedding(Tensor::Zeros({0}, {dtypes::kInt64}), Ones({4, 2})), {0, 2}},
      {MseLoss(Ones({0, 2}), Ones({0, 2}), Reduction::kNone), {0, 2}},
      {Inverse(Ones({0, 3, 3})), {0, 3, 3}},
      {Linear(Ones({0, 3}), Ones({4, 3})), {0, 4}},
      {PixelShuffle(Ones({0, 4, 2, 2}), 2), {0, 1, 4, 4}},
  };
  for (const auto& [t, shape] : cases) {
    ASSERT_TRUE(t.ok()) << t.status();
    EXPECT_EQ(t.shape(), shape);
    EXPECT_TRUE(vectors::Values(t).empty());
  }
}

TEST(NnShapes, SumsOfNothingAreZero) {
  EXPECT_THAT(vectors::Values(Matmul(Ones({2, 0}), Ones({0, 2}))), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(vectors::Values(Conv1d(Ones({1, 0, 3}), Ones({2, 0, 3}))), ElementsAre(0, 0));
  EXPECT_THAT(vectors::Values(VectorNorm(Ones({0}))), ElementsAre(0));
  EXPECT_THAT(vectors::Values(VectorNorm(Ones({0}), INFINITY)), ElementsAre(0));
  EXPECT_THAT(vectors::Values(ScaledDotProductAttention(Ones({2, 3}), Ones({0, 3}), Ones({0, 2}))),
              ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(vectors::Values(MseLoss(Ones({0}), Ones({0}), Reduction::kSum)), ElementsAre(0));
  EXPECT_THAT(vectors::Values(Det(Ones({0, 0}))), ElementsAre(1));
  EXPECT_THAT(vectors::Values(Einsum("ij->", {Ones({0, 3})})), ElementsAre(0));
}

TEST(NnShapes, SizesOfOne) {
  EXPECT_THAT(vectors::Values(Conv2d(Ones({1, 1, 1, 1}), Ones({1, 1, 1, 1}))), ElementsAre(1));
  EXPECT_THAT(vectors::Values(MaxPool1d(Ones({1, 1}), 1)), ElementsAre(1));
  EXPECT_THAT(vectors::Values(Svd(Ones({1, 1})).s), ElementsAre(1));
  EXPECT_THAT(vectors::Values(MseLoss(Tensor::Full({}, 3), Tensor::Full({}, 1))), ElementsAre(4));
}

TEST(NnGradient, HalfPrecisionKeepsItsType) {
  const Tensor x = Tensor::Uniform({1, 1, 4, 4}, 1).Cast(dtypes::kFloat16).Contiguous();
  const Tensor w = Tensor::Uniform({1, 1, 2, 2}, 2).Cast(dtypes::kFloat16).Contiguous();
  for (const Tensor& g : Gradients(Conv2d(x, w).Sum(), {x, w})) {
    ASSERT_TRUE(g.ok()) << g.status();
    EXPECT_EQ(g.dtype(), dtypes::kFloat16);
  }
}

// d/dx of <d/dx sum(f(x) w), v>, element by element.
void CheckSecondDerivative(const std::function<Tensor(const Tensor&)>& f, const Shape& shape,
                           double tolerance) {
  std::mt19937_64 rng(11);
  std::uniform_real_distribution<double> uniform(-1.5, 1.5);
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  std::vector<double> at(n), direction(n);
  for (double& v : at) v = uniform(rng);
  for (double& v : direction) v = uniform(rng);
  const auto slope = [&](const std::vector<double>& v, Tensor* x) {
    *x = Tensor::FromData<double>(v, shape);
    const Tensor y = f(*x);
    const Tensor loss =
        (y * Tensor::Linspace(0.5, 1.5, y.numel(), {dtypes::kFloat64}).Reshape(y.shape())).Square().Sum();
    return (Gradients(loss, {*x})[0] * Tensor::FromData<double>(direction, shape)).Sum();
  };
  Tensor x;
  const Tensor s = slope(at, &x);
  const Tensor second = Gradients(s, {x})[0];
  ASSERT_TRUE(second.ok()) << second.status();
  const std::vector<double> got = vectors::Values(second);
  for (int64_t i = 0; i < n; ++i) {
    Tensor unused;
    std::vector<double> up = at, down = at;
    up[i] += 1e-5;
    down[i] -= 1e-5;
    const double want =
        (vectors::Values(slope(up, &unused))[0] - vectors::Values(slope(down, &unused))[0]) / 2e-5;
    ASSERT_NEAR(got[i], want, tolerance * std::max(1.0, std::abs(want))) << "element " << i;
  }
}

TEST(NnGradient, SecondDerivatives) {
  const Tensor w = Tensor::Uniform({2, 1, 2, 2}, 3, -1, 1, {dtypes::kFloat64});
  CheckSecondDerivative([&](const Tensor& x) { return Conv2d(x, w.Mul(x.Mean())); }, {1, 1, 3, 3}, 1e-5);
  CheckSecondDerivative([](const Tensor& x) { return ScaledDotProductAttention(x, x, x); }, {3, 2}, 1e-5);
  CheckSecondDerivative([](const Tensor& x) { return LayerNorm(x, {3}); }, {2, 3}, 1e-5);
  CheckSecondDerivative([](const Tensor& x) { return AvgPool1d(x, 2).Square(); }, {1, 4}, 1e-5);
  CheckSecondDerivative(
      [](const Tensor& x) { return CrossEntropy(x, Tensor::FromData<int64_t>({1, 0}, {2})); }, {2, 3}, 1e-5);
  CheckSecondDerivative([](const Tensor& x) { return VectorNorm(x, 3, {1}); }, {2, 3}, 1e-5);
  CheckSecondDerivative([](const Tensor& x) { return Qr(x).r; }, {3, 2}, 1e-4);
  CheckSecondDerivative([](const Tensor& x) { return SvdVals(x); }, {3, 2}, 1e-4);
}

}  // namespace
}  // namespace understudy
