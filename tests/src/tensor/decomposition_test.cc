// SPDX-License-Identifier: Apache-2.0
// Factorisations and solutions against LAPACK's results, through PyTorch, and its gradients.
#include "src/tensor/decomposition.h"

#include "gmock/gmock.h"
#include "src/tensor/linalg.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

UNDERSTUDY_VECTOR_TESTS(DecompositionVectors, "tests/data/nn/decomposition.json",
                        vectors::DecompositionCalls);

TEST(DecompositionErrors, NameOperationValueAndExpectation) {
  const auto zeros = [](Shape s) { return Tensor::Zeros(std::move(s)); };
  const auto refused = [](const Tensor& t, const char* text) {
    EXPECT_FALSE(t.ok());
    EXPECT_THAT(std::string(t.status().message()), HasSubstr(text));
  };
  refused(Inverse(zeros({2, 3})), "Inverse: shape [2,3], expected square matrices");
  refused(Inverse(zeros({65, 65})), "matrices of 65 by 65, expected a smaller side of at most 64");
  refused(Det(zeros({3})), "Det: shape [3], expected matrices");
  refused(Solve(zeros({3, 3}), zeros({2, 1})), "Solve: shapes [3,3] and [2,1]");
  refused(Cholesky(Tensor::Zeros({2, 2}, {dtypes::kInt32})), "dtype i32, expected floats");
  refused(SolveTriangular(zeros({3, 3}), zeros({3}), true), "SolveTriangular: shapes [3,3] and [3]");
  refused(Qr(zeros({3})).q, "Qr: shape [3], expected matrices");
  refused(Svd(zeros({33, 33})).s, "Svd: matrices of 33 by 33, expected a smaller side of at most 32");
  refused(Slogdet(zeros({2, 3})).sign, "expected square matrices");
}

// The gradient of the gradient of det at a regular matrix, against differences of the gradient.
TEST(DecompositionGradient, SecondDerivativeOfDetAndInverse) {
  const std::vector<double> data = {2, 1, 0.5, -1, 3, 0.25, 0.75, -0.5, 1.5};
  const auto first = [](const std::vector<double>& v, bool inverse) {
    const Tensor a = Tensor::FromData<double>(v, {3, 3});
    const Tensor loss = inverse ? Inverse(a).Square().Sum() : Det(a).Square();
    return std::make_pair(a, Gradients(loss, {a})[0]);
  };
  for (const bool inverse : {false, true}) {
    const auto [a, g] = first(data, inverse);
    const Tensor w = Tensor::FromData<double>({1, -2, 3, 0.5, 1, -1, 2, 0.25, -0.75}, {3, 3});
    const std::vector<double> second = vectors::Values(Gradients((g * w).Sum(), {a})[0]);
    for (int i = 0; i < 9; ++i) {
      std::vector<double> up = data, down = data;
      up[i] += 1e-5;
      down[i] -= 1e-5;
      const double hi = vectors::Values((first(up, inverse).second * w).Sum())[0];
      const double lo = vectors::Values((first(down, inverse).second * w).Sum())[0];
      EXPECT_NEAR(second[i], (hi - lo) / 2e-5, 1e-4 * std::max(1.0, std::abs(second[i]))) << i;
    }
  }
}

}  // namespace
}  // namespace understudy
