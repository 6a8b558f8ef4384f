// SPDX-License-Identifier: Apache-2.0
// Indexing and assignment with index tensors and masks against PyTorch's results and gradients; duplicates,
// indices out of range, in-place writes, and what is refused.
#include "src/tensor/indexing.h"

#include "gmock/gmock.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

UNDERSTUDY_VECTOR_TESTS(Indexing, "tests/data/ops/indexing.json", vectors::IndexingCalls);

Tensor F(const std::vector<float>& v) { return Tensor::FromData<float>(v, {static_cast<int64_t>(v.size())}); }
Tensor I(const std::vector<int64_t>& v) {
  return Tensor::FromData<int64_t>(v, {static_cast<int64_t>(v.size())});
}

TEST(IndexPut, TheLastOfSeveralValuesCounts) {
  const Tensor x = F({1, 2, 3, 4}), v = F({10, 20, 30, 40});
  const Tensor y = IndexPut(x, {I({1, 1, 3, 1})}, v);
  const std::vector<Tensor> g = Gradients(y.Sum(), {x, v});
  EXPECT_THAT(vectors::Values(y), ElementsAre(1, 40, 3, 30));
  EXPECT_THAT(vectors::Values(g[0]), ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(vectors::Values(g[1]), ElementsAre(0, 0, 1, 1));
}

TEST(IndexBy, OutOfRangeReadsZeroAndWritesNothing) {
  const Tensor x = F({1, 2, 3}), at = I({0, 3, -3, -4, 100});
  EXPECT_THAT(vectors::Values(IndexBy(x, {at})), ElementsAre(1, 0, 1, 0, 0));
  EXPECT_THAT(vectors::Values(IndexPut(x, {at}, F({5, 6, 7, 8, 9}))), ElementsAre(7, 2, 3));
  EXPECT_THAT(vectors::Values(IndexPut(x, {at}, F({5, 6, 7, 8, 9}), true)), ElementsAre(13, 2, 3));
  const Tensor m = Tensor::FromData<float>({1, 2, 3, 4}, {2, 2});
  // A part out of range must not fold into another row.
  EXPECT_THAT(vectors::Values(IndexBy(m, {I({0, 1, 0}), I({2, 1, -3})})), ElementsAre(0, 4, 0));
}

TEST(IndexBy, MasksGiveTheFirstCount) {
  const Tensor x = F({1, 2, 3, 4}), m = x.Gt(1.5);
  EXPECT_THAT(vectors::Values(IndexBy(x, {Mask{m, 2}})), ElementsAre(2, 3));
  EXPECT_THAT(vectors::Values(IndexBy(x, {Mask{m, 5}})), ElementsAre(2, 3, 4, 0, 0));
  EXPECT_THAT(vectors::Values(IndexBy(x, {Mask{m, 0}})), ElementsAre());
  EXPECT_THAT(vectors::Values(IndexPut(x, {m}, 9)), ElementsAre(1, 9, 9, 9));
}

TEST(AssignIndexBy, WritesInPlace) {
  Tensor x = F({1, 2, 3, 4}).Clone();
  AssignIndexBy(x, {I({2, 0})}, F({7, 8}));
  EXPECT_THAT(vectors::Values(x), ElementsAre(8, 2, 7, 4));
  AssignIndexBy(x, {I({1, 1})}, 1, true);
  EXPECT_THAT(vectors::Values(x), ElementsAre(8, 4, 7, 4));
}

TEST(Indexing, SecondDerivative) {
  // d/dx of the gradient of sum(x[i]^3).
  const Tensor x = Tensor::FromData<double>({1, 2, 3}, {3}), at = I({0, 2, 2});
  const Tensor g = Gradients(IndexBy(x, {at}).Pow(3).Sum(), {x})[0];
  EXPECT_THAT(vectors::Values(Gradients(g.Sum(), {x})[0]), ElementsAre(6, 0, 36));
}

TEST(Indexing, Errors) {
  const Tensor x = Tensor::FromData<float>({1, 2, 3, 4, 5, 6}, {2, 3}), m = x.Gt(2);
  const auto error = [](const Tensor& t) { return std::string(t.status().message()); };
  EXPECT_THAT(error(IndexBy(x, {F({1})})), HasSubstr("index tensor of dtype f32, expected integers or bool"));
  EXPECT_THAT(error(IndexBy(x, {I({0}), I({0}), I({0})})), HasSubstr("3 indices for a tensor of rank 2"));
  EXPECT_THAT(error(IndexBy(x, {I({0, 1}), I({0, 1, 2})})), HasSubstr("do not broadcast"));
  EXPECT_THAT(error(IndexBy(x, {m})), HasSubstr("expected Mask{mask, count}"));
  EXPECT_THAT(error(IndexBy(x, {Mask{F({1, 2}), 1}})), HasSubstr("mask of dtype f32"));
  EXPECT_THAT(error(IndexBy(x, {Mask{F({1, 2, 3}).Gt(1), 1}})), HasSubstr("mask of shape [3] at axis 0"));
  EXPECT_THAT(error(IndexBy(x, {Mask{m, -1}})), HasSubstr("count of -1"));
  EXPECT_THAT(error(IndexBy(x, {Ellipsis{}, Ellipsis{}, I({0})})), HasSubstr("2 ellipses"));
  EXPECT_THAT(error(IndexPut(x, {I({0})}, F({1, 2}))), HasSubstr("value of shape [2] does not broadcast"));
  EXPECT_THAT(error(IndexPut(x, {I({0})}, I({1}))), HasSubstr("value of dtype i64 into f32"));
  EXPECT_THAT(error(IndexPut(x, {m}, F({1, 2, 3, 4}))), HasSubstr("through a mask of unknown count"));
  EXPECT_THAT(error(IndexBy(x, {2, I({0})})), HasSubstr("2 is outside axis 0"));
}

}  // namespace
}  // namespace understudy
