// SPDX-License-Identifier: Apache-2.0
// Products, einsum and norms against PyTorch's results and gradients.
#include "src/tensor/linalg.h"

#include <cmath>

#include "gmock/gmock.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

UNDERSTUDY_VECTOR_TESTS(LinalgVectors, "tests/data/nn/linalg.json", vectors::LinalgCalls);

Tensor Zeros(Shape s, DType t = dtypes::kFloat32) { return Tensor::Zeros(std::move(s), {t}); }

void Refused(const Tensor& t, const char* text) {
  EXPECT_FALSE(t.ok());
  EXPECT_THAT(std::string(t.status().message()), HasSubstr(text));
}

TEST(LinalgErrors, NameOperationValueAndExpectation) {
  Refused(Matmul(Zeros({2, 3}), Zeros({2, 3})),
          "Matmul: shapes [2,3] and [2,3]: inner sizes 3 and 2, expected equal");
  Refused(Matmul(Zeros({}), Zeros({2})), "expected at least rank 1");
  Refused(Matmul(Zeros({2, 2, 3}), Zeros({3, 3, 2})), "do not broadcast");
  Refused(Matmul(Zeros({2}, dtypes::kInt32), Zeros({2}, dtypes::kInt32), dtypes::kFloat32),
          "expected floats");
  Refused(Dot(Zeros({2}), Zeros({2, 1})), "Dot: shapes [2] and [2,1], expected rank 1 and rank 1");
  Refused(Bmm(Zeros({2, 2, 3}), Zeros({3, 3, 2})), "Bmm: batches of 2 and 3 matrices");
  Refused(Addmm(Zeros({5}), Zeros({2, 3}), Zeros({3, 4})), "do not broadcast");
  Refused(Addmm(Zeros({2, 2, 4}), Zeros({2, 3}), Zeros({3, 4})),
          "does not broadcast to the product's shape [2,4]");
  Refused(
      Addmm(Zeros({2}, dtypes::kInt32), Zeros({2, 2}, dtypes::kInt32), Zeros({2, 2}, dtypes::kInt32), 0.5),
      "factor 0.5 for dtype i32, expected an integer");
  Refused(Einsum("ij,jk", {Zeros({2, 3})}), "has 2 terms for 1 operands");
  Refused(Einsum("ij,jk", {Zeros({2, 3}), Zeros({4, 2})}), "has size 4 at axis 0, another operand has 3");
  Refused(Einsum("ij->ik", {Zeros({2, 3})}), "output label 'k'");
  Refused(Einsum("ij->ii", {Zeros({2, 3})}), "output label 'i', expected each once");
  Refused(Einsum("i", {Zeros({2, 3})}), "operand 0 has shape [2,3], its term 1 labels");
  Refused(Einsum("i.j", {Zeros({2, 3})}), "a '.' that is not of one");
  Refused(Einsum("i1", {Zeros({2, 3})}), "character '1'");
  Refused(Einsum("ii", {Zeros({2, 3})}), "has size 3 at axis 1, another operand has 2");
  Refused(Einsum("ii", {Zeros({1, 3})}), "label 'i' twice in one operand with sizes 1 and 3");
  Refused(Einsum("", {}), "no operands");
  Refused(Tensordot(Zeros({2, 3}), Zeros({2, 3}), 1), "expected equal sizes");
  Refused(Tensordot(Zeros({2, 3}), Zeros({2, 3}), 3), "3 axes of shapes");
  Refused(Linear(Zeros({2, 3}), Zeros({4, 2})), "Linear: input [2,3] and weight [4,2]");
  Refused(Cross(Zeros({2, 2}), Zeros({2, 2})), "expected size 3");
  Refused(MatrixPower(Zeros({2, 3}), 2), "expected square matrices");
  Refused(VectorNorm(Zeros({2}, dtypes::kInt64)), "VectorNorm: dtype i64, expected floats");
  Refused(VectorNorm(Zeros({0}), -INFINITY), "no elements");
  Refused(MultiDot({Zeros({2, 2})}), "1 tensors, expected at least 2");
  Refused(Trace(Zeros({2})), "expected a matrix");
  // Errors pass on.
  const Tensor bad = Zeros({-1});
  for (const Tensor& t : {Matmul(bad, Zeros({2})), Linear(Zeros({2}), bad), Einsum("i", {bad}),
                          VectorNorm(bad), Addmm(bad, bad, bad), Kron(Zeros({2}), bad)}) {
    Refused(t, "negative size");
  }
}

TEST(LinalgTypes, HalvesAccumulateInSingleAndBoolsInAnyOfAnd) {
  // A sum of ones in f16 would stop at 2048.
  const Tensor ones = Tensor::Ones({4096}, {dtypes::kFloat16});
  EXPECT_EQ(Matmul(ones, ones).dtype(), dtypes::kFloat16);
  EXPECT_THAT(vectors::Values(Matmul(ones, ones)), ElementsAre(4096));
  EXPECT_THAT(vectors::Values(Matmul(ones, ones, dtypes::kFloat16)), ElementsAre(2048));
  const Tensor bits = Tensor::FromData<bool>({true, false, false, true}, {2, 2});
  EXPECT_EQ(Matmul(bits, bits).dtype(), dtypes::kBool);
  EXPECT_THAT(vectors::Values(Matmul(bits, bits)), ElementsAre(1, 0, 0, 1));
}

}  // namespace
}  // namespace understudy
