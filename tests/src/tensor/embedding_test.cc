// SPDX-License-Identifier: Apache-2.0
// Embeddings and bags of them against PyTorch's results and gradients.
#include "src/tensor/embedding.h"

#include <cmath>

#include "gmock/gmock.h"
#include "tests/src/tensor/nn_args.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using vectors::In;
using vectors::Out;

std::optional<int64_t> Padding(const json& a) {
  if (!a.contains("padding_idx") || a["padding_idx"].is_null()) return std::nullopt;
  return a["padding_idx"].get<int64_t>();
}

EmbeddingBagOptions Options(const json& a) {
  EmbeddingBagOptions o;
  using Mode = EmbeddingBagOptions::Mode;
  o.mode = a["mode"] == "sum" ? Mode::kSum : a["mode"] == "mean" ? Mode::kMean : Mode::kMax;
  o.padding_idx = Padding(a);
  return o;
}

const vectors::Calls& EmbeddingCalls() {
  static const vectors::Calls* const calls = new vectors::Calls{
      {"embedding", [](In x, const json& a) -> Out { return {Embedding(x[1], x[0], Padding(a))}; }},
      {"embedding_bag", [](In x, const json& a) -> Out { return {EmbeddingBag(x[1], x[0], Options(a))}; }},
      {"embedding_bag_offsets",
       [](In x, const json& a) -> Out { return {EmbeddingBag(x[1], x[0], x[2], Options(a))}; }},
      {"embedding_bag_weighted",
       [](In x, const json&) -> Out {
         EmbeddingBagOptions o;
         o.mode = EmbeddingBagOptions::Mode::kSum;
         o.per_sample_weights = &x[2];
         return {EmbeddingBag(x[1], x[0], o)};
       }},
      {"one_hot", [](In x, const json& a) -> Out { return {OneHot(x[0], a["classes"])}; }},
  };
  return *calls;
}

UNDERSTUDY_VECTOR_TESTS(EmbeddingVectors, "tests/data/nn/embedding.json", EmbeddingCalls);

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
