// SPDX-License-Identifier: Apache-2.0
#pragma once
// Attention with PyTorch's arguments. Scores and weights of narrow floats stay in f32 until the result is
// rounded. Dropout of the weights draws from the caller's generator.

#include <cstdint>
#include <optional>

#include "src/tensor/random.h"
#include "src/tensor/tensor.h"

namespace understudy {

struct AttentionOptions {
  const Tensor* mask =
      nullptr;             // bool: true takes part; float: added to the scores. Broadcasts to {..., L, S}.
  bool is_causal = false;  // row i sees columns 0..i
  std::optional<double> scale;  // 1 / sqrt(E)
  bool enable_gqa = false;      // axis -3 of key and value divides that of query
  double dropout_p = 0;         // above 0: weights are dropped, whoever calls
  Generator* generator = nullptr;
};
// query {..., L, E}, key {..., S, E}, value {..., S, V} -> {..., L, V}. A row that sees nothing is 0.
Tensor ScaledDotProductAttention(const Tensor& query, const Tensor& key, const Tensor& value,
                                 const AttentionOptions& options = {});

// Projections of torch.nn.MultiheadAttention, batch first.
struct MultiHeadAttentionWeights {
  Tensor in_proj;                         // {3 E, E}: query, key, value; unused where q_proj is given
  const Tensor* in_proj_bias = nullptr;   // {3 E}
  Tensor out_proj;                        // {E, E}
  const Tensor* out_proj_bias = nullptr;  // {E}
  // All or none: {E, E}, {E, width of key}, {E, width of value}.
  const Tensor *q_proj = nullptr, *k_proj = nullptr, *v_proj = nullptr;
  // Both or none, {1, 1, E}: one more projected key and value after those of the sequence.
  const Tensor *bias_k = nullptr, *bias_v = nullptr;
  bool add_zero_attn = false;  // and one of zeros
};
struct MultiHeadAttentionOptions {
  const Tensor* attn_mask = nullptr;  // {L, S} or {N * heads, L, S}; bool: true is left out; float: added
  const Tensor* key_padding_mask = nullptr;  // {N, S}; bool: true is left out; float: added
  bool is_causal = false;
  bool average_weights = true;  // over the heads
  double dropout_p = 0;         // of the weights, those of the result too
  Generator* generator = nullptr;
};
struct MultiHeadAttentionResult {
  Tensor output;   // {N, L, E}
  Tensor weights;  // {N, L, S}, or {N, heads, L, S}; S counts bias_k and the zeros
};
// query {N, L, E}, key and value {N, S, E} (or the widths of k_proj and v_proj). Masks have S columns: what
// is added to the sequence is seen by all.
MultiHeadAttentionResult MultiHeadAttention(const Tensor& query, const Tensor& key, const Tensor& value,
                                            int64_t num_heads, const MultiHeadAttentionWeights& weights,
                                            const MultiHeadAttentionOptions& options = {});

}  // namespace understudy
