// SPDX-License-Identifier: Apache-2.0
#pragma once
// torch.nn's attention and Transformer layers, with its names, defaults and fresh parameters. Inputs are
// {length, batch, width} unless batch_first; the generator of a layer must outlive it where it drops.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "src/tensor/attention.h"
#include "src/tensor/nn/layers.h"

namespace understudy::nn {

struct MultiheadAttentionOptions {
  bool with_bias = true, batch_first = false, add_bias_kv = false, add_zero_attn = false;
  double dropout = 0;                 // of the weights, in training
  std::optional<int64_t> kdim, vdim;  // widths of key and value; embed_dim
  TensorOptions tensor;
};
struct MultiheadAttention : Module {
  int64_t num_heads;
  bool batch_first, add_zero_attn;
  double dropout;
  Generator* generator;
  std::optional<Tensor> in_proj_weight;  // {3 E, E}; the next three where kdim or vdim differ
  std::optional<Tensor> q_proj_weight, k_proj_weight, v_proj_weight;
  std::optional<Tensor> in_proj_bias;
  std::optional<Tensor> bias_k, bias_v;  // {1, 1, E}
  Linear out_proj;
  MultiheadAttention(int64_t embed_dim, int64_t num_heads, Generator& generator,
                     const MultiheadAttentionOptions& options = {});
  // Without a batch axis too. The masks are those of MultiHeadAttention (attention.h); dropout is the
  // module's.
  MultiHeadAttentionResult Forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                   MultiHeadAttentionOptions options = {}) const;
  void Visit(const Visitor& v) override;
};

struct TransformerOptions {
  int64_t dim_feedforward = 2048;
  double dropout = 0.1, layer_norm_eps = 1e-5;
  bool batch_first = false, norm_first = false, with_bias = true;
  std::function<Tensor(const Tensor&)> activation = [](const Tensor& x) { return x.Relu(); };
  TensorOptions tensor;
};
// Of self-attention; of attention to an encoder's output (`memory`) too. See MultiHeadAttentionOptions.
struct TransformerMasks {
  const Tensor *mask = nullptr, *key_padding_mask = nullptr;
  bool is_causal = false;
  const Tensor *memory_mask = nullptr, *memory_key_padding_mask = nullptr;
  bool memory_is_causal = false;
};

struct TransformerEncoderLayer : Module {
  bool norm_first;
  std::function<Tensor(const Tensor&)> activation;
  MultiheadAttention self_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2;
  Dropout dropout;
  TransformerEncoderLayer(int64_t d_model, int64_t heads, Generator& generator,
                          const TransformerOptions& options = {});
  Tensor Forward(const Tensor& x, const TransformerMasks& masks = {}) const;
  void Visit(const Visitor& v) override;
};

struct TransformerDecoderLayer : Module {
  bool norm_first;
  std::function<Tensor(const Tensor&)> activation;
  MultiheadAttention self_attn, multihead_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout;
  TransformerDecoderLayer(int64_t d_model, int64_t heads, Generator& generator,
                          const TransformerOptions& options = {});
  Tensor Forward(const Tensor& x, const Tensor& memory, const TransformerMasks& masks = {}) const;
  void Visit(const Visitor& v) override;
};

// Each layer has parameters of its own (torch.nn.TransformerEncoder copies one layer's).
struct TransformerEncoder : Module {
  std::vector<TransformerEncoderLayer> layers;
  std::optional<LayerNorm> norm;
  TransformerEncoder(int64_t d_model, int64_t heads, int64_t num_layers, Generator& generator,
                     const TransformerOptions& options = {}, bool with_norm = false);
  Tensor Forward(const Tensor& x, const TransformerMasks& masks = {}) const;
  void Visit(const Visitor& v) override;
};
struct TransformerDecoder : Module {
  std::vector<TransformerDecoderLayer> layers;
  std::optional<LayerNorm> norm;
  TransformerDecoder(int64_t d_model, int64_t heads, int64_t num_layers, Generator& generator,
                     const TransformerOptions& options = {}, bool with_norm = false);
  Tensor Forward(const Tensor& x, const Tensor& memory, const TransformerMasks& masks = {}) const;
  void Visit(const Visitor& v) override;
};

// Both, with a norm after each. All matrices are Xavier's.
struct Transformer : Module {
  TransformerEncoder encoder;
  TransformerDecoder decoder;
  Transformer(int64_t d_model, int64_t heads, int64_t encoder_layers, int64_t decoder_layers,
              Generator& generator, const TransformerOptions& options = {});
  Tensor Forward(const Tensor& source, const Tensor& target, const TransformerMasks& source_masks = {},
                 const TransformerMasks& target_masks = {}) const;
  void Visit(const Visitor& v) override;
};

}  // namespace understudy::nn
