// SPDX-License-Identifier: Apache-2.0
// Embeddings and bags of them against PyTorch's results and gradients.
#include "src/tensor/embedding.h"

#include <cmath>

#include "gmock/gmock.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

UNDERSTUDY_VECTOR_TESTS(EmbeddingVectors, "tests/data/nn/embedding.json", vectors::EmbeddingCalls);

TEST(EmbeddingErrors, NameOperationValueAndExpectation) {
  const auto refused = [](const Tensor& t, const char* text) {
    EXPECT_FALSE(t.ok());
    EXPECT_THAT(std::string(t.status().message()), HasSubstr(text));
  };
  const Tensor table = Tensor::Zeros({4, 2}), index = Tensor::Zeros({3}, {dtypes::kInt64});
  refused(Embedding(table, table), "Embedding: indices of dtype f32, expected integers");
  refused(Embedding(index, index), "weight [3], expected [V,E]");
  refused(Embedding(index, table, 4), "padding_idx 4 is outside a table of 4 rows");
  refused(EmbeddingBag(index, table), "input [3], expected [B,N], or [n] with offsets");
  EmbeddingBagOptions o;
  o.per_sample_weights = &table;
  refused(EmbeddingBag(index, table, o), "per_sample_weights with a mode other than kSum");
  refused(OneHot(index, 0), "0 classes, expected at least 1");
  refused(OneHot(table, 2), "indices of dtype f32, expected integers");
}

TEST(EmbeddingValues, IndexOutsideGivesNan) {
  const Tensor table = Tensor::FromData<float>({1, 2, 3, 4}, {2, 2});
  const std::vector<double> v = vectors::Values(Embedding(Tensor::FromData<int64_t>({1, 2, -1}, {3}), table));
  EXPECT_EQ(v[0], 3);
  EXPECT_EQ(v[1], 4);
  for (int i = 2; i < 6; ++i) EXPECT_TRUE(std::isnan(v[i]));
}

}  // namespace
}  // namespace understudy
