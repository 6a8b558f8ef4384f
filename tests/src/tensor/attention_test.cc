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
          "in_proj [4,4] for widths 4, 4 and 4, expected [12,4] and equal widths");
  const Tensor wide = zeros({2, 3, 6}), square = zeros({4, 4}), across = zeros({4, 6});
  w.q_proj = &square;
  refused(MultiHeadAttention(x, wide, wide, 2, w).output,
          "some of q_proj, k_proj and v_proj, expected all or none");
  w.k_proj = &across;
  w.v_proj = &square;
  refused(MultiHeadAttention(x, wide, wide, 2, w).output, "projection 2 of shape [4,4], expected [4,6]");
  w.v_proj = &across;
  EXPECT_TRUE(MultiHeadAttention(x, wide, wide, 2, w).output.ok());
  MultiHeadAttentionOptions dropping;
  dropping.dropout_p = 0.5;
  refused(MultiHeadAttention(x, wide, wide, 2, w, dropping).output,
          "dropout of 0.5 without a generator, expected one");
  const Tensor row = zeros({1, 1, 4});
  w.bias_k = &row;
  refused(MultiHeadAttention(x, wide, wide, 2, w).output, "one of bias_k and bias_v, expected both or none");
}

}  // namespace
}  // namespace understudy
