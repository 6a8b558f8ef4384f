// SPDX-License-Identifier: Apache-2.0
// Attention against PyTorch's results and gradients.
#include "src/tensor/attention.h"

#include "gmock/gmock.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

UNDERSTUDY_VECTOR_TESTS(AttentionVectors, "tests/data/nn/attention.json", vectors::AttentionCalls);

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
