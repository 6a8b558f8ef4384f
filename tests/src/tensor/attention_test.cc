// SPDX-License-Identifier: Apache-2.0
// Attention against PyTorch's results and gradients.
#include "src/tensor/attention.h"

#include "gmock/gmock.h"
#include "tests/src/tensor/nn_args.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using vectors::In;
using vectors::Optional;
using vectors::Out;

const vectors::Calls& AttentionCalls() {
  static const vectors::Calls* const calls = new vectors::Calls{
      {"sdpa",
       [](In x, const json& a) -> Out {
         AttentionOptions o;
         o.mask = Optional(x, 3);
         o.is_causal = a.value("is_causal", false);
         o.enable_gqa = a.value("enable_gqa", false);
         if (a.contains("scale")) o.scale = a["scale"].get<double>();
         return {ScaledDotProductAttention(x[0], x[1], x[2], o)};
       }},
      {"mha",
       [](In x, const json& a) -> Out {
         MultiHeadAttentionWeights w;
         w.in_proj = x[3];
         w.out_proj = x[4];
         size_t next = 5;
         if (a["bias"]) {
           w.in_proj_bias = &x[next++];
           w.out_proj_bias = &x[next++];
         }
         MultiHeadAttentionOptions o;
         if (a["attn_mask"]) o.attn_mask = &x[next++];
         if (a["padding"]) o.key_padding_mask = &x[next++];
         o.average_weights = a["average"];
         const MultiHeadAttentionResult r = MultiHeadAttention(x[0], x[1], x[2], a["heads"], w, o);
         return {r.output, r.weights};
       }},
  };
  return *calls;
}

UNDERSTUDY_VECTOR_TESTS(AttentionVectors, "tests/data/nn/attention.json", AttentionCalls);

TEST(AttentionErrors, NameOperationValueAndExpectation) {
  const auto zeros = [](Shape s) { return Tensor::Zeros(std::move(s)); };
  const auto refused = [](const Tensor& t, const char* text) {
    EXPECT_FALSE(t.ok());
    EXPECT_THAT(std::string(t.status().message()), HasSubstr(text));
  };
  const Tensor q = zeros({2, 4, 3, 2}), k = zeros({2, 2, 5, 2}), mask = zeros({4, 5});
  refused(ScaledDotProductAttention(q, zeros({5, 3}), zeros({5, 3})),
          "expected [...,L,E], [...,S,E] and [...,S,V]");
  refused(ScaledDotProductAttention(q, k, k), "do not broadcast");
  AttentionOptions o;
  o.enable_gqa = true;
  refused(ScaledDotProductAttention(q, zeros({2, 3, 5, 2}), k, o),
          "4 heads of the query and 3 of the key or value, expected a divisor");
  o.mask = &mask;
  refused(ScaledDotProductAttention(q, k, k, o), "do not broadcast");
  o.is_causal = true;
  refused(ScaledDotProductAttention(q, k, k, o), "a mask and is_causal, expected one of them");
  const Tensor x = zeros({2, 3, 4});
  MultiHeadAttentionWeights w;
  w.in_proj = zeros({12, 4});
  w.out_proj = zeros({4, 4});
  refused(MultiHeadAttention(x, x, x, 3, w).output, "width 4 in 3 heads, expected a divisor");
  refused(MultiHeadAttention(x, x, zeros({2, 4, 4}), 2, w).output, "expected [N,L,E], [N,S,E] and [N,S,E]");
  w.in_proj = zeros({4, 4});
  refused(MultiHeadAttention(x, x, x, 2, w).weights,
          "in_proj [4,4] and out_proj [4,4], expected [12,4] and [4,4]");
}

}  // namespace
}  // namespace understudy
