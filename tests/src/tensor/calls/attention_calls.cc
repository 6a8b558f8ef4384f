// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/attention.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/nn_args.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;

}  // namespace

const Calls& AttentionCalls() {
  static const Calls* const calls = new Calls{
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

}  // namespace understudy::vectors
