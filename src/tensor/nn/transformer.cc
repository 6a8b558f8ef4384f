// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/nn/transformer.h"

#include "absl/strings/str_cat.h"
#include "src/tensor/movement_ops.h"

namespace understudy::nn {
namespace {

const Tensor* Pointer(const std::optional<Tensor>& t) { return t ? &*t : nullptr; }

void VisitOptional(const Visitor& v, const char* name, std::optional<Tensor>& t) {
  if (t) v.Parameter(name, *t);
}

MultiheadAttentionOptions AttentionOf(const TransformerOptions& o) {
  MultiheadAttentionOptions a;
  a.with_bias = o.with_bias;
  a.batch_first = o.batch_first;
  a.dropout = o.dropout;
  a.tensor = o.tensor;
  return a;
}

LayerNorm NormOf(int64_t width, const TransformerOptions& o) {
  return LayerNorm({width}, o.layer_norm_eps, true, o.with_bias, o.tensor);
}

MultiHeadAttentionOptions SelfMasks(const TransformerMasks& m) {
  MultiHeadAttentionOptions o;
  o.attn_mask = m.mask;
  o.key_padding_mask = m.key_padding_mask;
  o.is_causal = m.is_causal;
  return o;
}
MultiHeadAttentionOptions MemoryMasks(const TransformerMasks& m) {
  MultiHeadAttentionOptions o;
  o.attn_mask = m.memory_mask;
  o.key_padding_mask = m.memory_key_padding_mask;
  o.is_causal = m.memory_is_causal;
  return o;
}

// One block of a layer: its norm before it, or after its sum with x.
template <class F>
Tensor Residual(const Tensor& x, const LayerNorm& norm, bool norm_first, F block) {
  return norm_first ? x + block(norm.Forward(x)) : norm.Forward(x + block(x));
}

}  // namespace

MultiheadAttention::MultiheadAttention(int64_t e, int64_t num_heads, Generator& generator,
                                       const MultiheadAttentionOptions& o)
    : num_heads(num_heads),
      batch_first(o.batch_first),
      add_zero_attn(o.add_zero_attn),
      dropout(o.dropout),
      generator(&generator),
      out_proj(e, e, generator, o.with_bias, o.tensor) {
  const int64_t kdim = o.kdim.value_or(e), vdim = o.vdim.value_or(e);
  const auto xavier = [&](int64_t rows, int64_t columns) {
    return XavierUniform({rows, columns}, generator, 1, o.tensor).Clone();
  };
  if (kdim == e && vdim == e) {
    in_proj_weight = xavier(3 * e, e);
  } else {
    q_proj_weight = xavier(e, e);
    k_proj_weight = xavier(e, kdim);
    v_proj_weight = xavier(e, vdim);
  }
  if (o.with_bias) {
    in_proj_bias = ConstantParameter({3 * e}, 0, o.tensor);
    out_proj.bias = ConstantParameter({e}, 0, o.tensor);
  }
  if (o.add_bias_kv) {
    bias_k = XavierNormal({1, 1, e}, generator, 1, o.tensor).Clone();
    bias_v = XavierNormal({1, 1, e}, generator, 1, o.tensor).Clone();
  }
}
MultiHeadAttentionResult MultiheadAttention::Forward(const Tensor& query, const Tensor& key,
                                                     const Tensor& value,
                                                     MultiHeadAttentionOptions options) const {
  MultiHeadAttentionWeights weights;
  if (in_proj_weight) weights.in_proj = *in_proj_weight;
  weights.in_proj_bias = Pointer(in_proj_bias);
  weights.out_proj = out_proj.weight;
  weights.out_proj_bias = Pointer(out_proj.bias);
  weights.q_proj = Pointer(q_proj_weight);
  weights.k_proj = Pointer(k_proj_weight);
  weights.v_proj = Pointer(v_proj_weight);
  weights.bias_k = Pointer(bias_k);
  weights.bias_v = Pointer(bias_v);
  weights.add_zero_attn = add_zero_attn;
  options.dropout_p = training() ? dropout : 0;
  options.generator = generator;
  const bool single = query.ok() && query.ndim() == 2;
  const auto in = [&](const Tensor& x) {
    return single ? x.Unsqueeze(0) : batch_first ? x : x.Transpose(0, 1);
  };
  Tensor padding;
  if (single && options.key_padding_mask != nullptr) {
    padding = options.key_padding_mask->Unsqueeze(0);
    options.key_padding_mask = &padding;
  }
  MultiHeadAttentionResult r = MultiHeadAttention(in(query), in(key), in(value), num_heads, weights, options);
  if (!r.output.ok()) return r;
  if (single) return {r.output.Squeeze(0), r.weights.Squeeze(0)};
  return {batch_first ? r.output : r.output.Transpose(0, 1), r.weights};
}
void MultiheadAttention::Visit(const Visitor& v) {
  VisitOptional(v, "in_proj_weight", in_proj_weight);
  VisitOptional(v, "q_proj_weight", q_proj_weight);
  VisitOptional(v, "k_proj_weight", k_proj_weight);
  VisitOptional(v, "v_proj_weight", v_proj_weight);
  VisitOptional(v, "in_proj_bias", in_proj_bias);
  VisitOptional(v, "bias_k", bias_k);
  VisitOptional(v, "bias_v", bias_v);
  v.Child("out_proj", out_proj);
}

TransformerEncoderLayer::TransformerEncoderLayer(int64_t d_model, int64_t heads, Generator& generator,
                                                 const TransformerOptions& o)
    : norm_first(o.norm_first),
      activation(o.activation),
      self_attn(d_model, heads, generator, AttentionOf(o)),
      linear1(d_model, o.dim_feedforward, generator, o.with_bias, o.tensor),
      linear2(o.dim_feedforward, d_model, generator, o.with_bias, o.tensor),
      norm1(NormOf(d_model, o)),
      norm2(NormOf(d_model, o)),
      dropout(o.dropout, generator) {}
Tensor TransformerEncoderLayer::Forward(const Tensor& x, const TransformerMasks& masks) const {
  const Tensor y = Residual(x, norm1, norm_first, [&](const Tensor& t) {
    return dropout.Forward(self_attn.Forward(t, t, t, SelfMasks(masks)).output);
  });
  return Residual(y, norm2, norm_first, [&](const Tensor& t) {
    return dropout.Forward(linear2.Forward(dropout.Forward(activation(linear1.Forward(t)))));
  });
}
void TransformerEncoderLayer::Visit(const Visitor& v) {
  v.Child("self_attn", self_attn);
  v.Child("linear1", linear1);
  v.Child("dropout", dropout);
  v.Child("linear2", linear2);
  v.Child("norm1", norm1);
  v.Child("norm2", norm2);
}

TransformerDecoderLayer::TransformerDecoderLayer(int64_t d_model, int64_t heads, Generator& generator,
                                                 const TransformerOptions& o)
    : norm_first(o.norm_first),
      activation(o.activation),
      self_attn(d_model, heads, generator, AttentionOf(o)),
      multihead_attn(d_model, heads, generator, AttentionOf(o)),
      linear1(d_model, o.dim_feedforward, generator, o.with_bias, o.tensor),
      linear2(o.dim_feedforward, d_model, generator, o.with_bias, o.tensor),
      norm1(NormOf(d_model, o)),
      norm2(NormOf(d_model, o)),
      norm3(NormOf(d_model, o)),
      dropout(o.dropout, generator) {}
Tensor TransformerDecoderLayer::Forward(const Tensor& x, const Tensor& memory,
                                        const TransformerMasks& masks) const {
  const Tensor y = Residual(x, norm1, norm_first, [&](const Tensor& t) {
    return dropout.Forward(self_attn.Forward(t, t, t, SelfMasks(masks)).output);
  });
  const Tensor z = Residual(y, norm2, norm_first, [&](const Tensor& t) {
    return dropout.Forward(multihead_attn.Forward(t, memory, memory, MemoryMasks(masks)).output);
  });
  return Residual(z, norm3, norm_first, [&](const Tensor& t) {
    return dropout.Forward(linear2.Forward(dropout.Forward(activation(linear1.Forward(t)))));
  });
}
void TransformerDecoderLayer::Visit(const Visitor& v) {
  v.Child("self_attn", self_attn);
  v.Child("multihead_attn", multihead_attn);
  v.Child("linear1", linear1);
  v.Child("dropout", dropout);
  v.Child("linear2", linear2);
  v.Child("norm1", norm1);
  v.Child("norm2", norm2);
  v.Child("norm3", norm3);
}

TransformerEncoder::TransformerEncoder(int64_t d_model, int64_t heads, int64_t num_layers,
                                       Generator& generator, const TransformerOptions& o, bool with_norm) {
  for (int64_t i = 0; i < num_layers; ++i) layers.emplace_back(d_model, heads, generator, o);
  if (with_norm) norm = NormOf(d_model, o);
}
Tensor TransformerEncoder::Forward(const Tensor& x, const TransformerMasks& masks) const {
  Tensor y = x;
  for (const TransformerEncoderLayer& layer : layers) y = layer.Forward(y, masks);
  return norm ? norm->Forward(y) : y;
}
void TransformerEncoder::Visit(const Visitor& v) {
  for (size_t i = 0; i < layers.size(); ++i) v.Child(absl::StrCat("layers.", i), layers[i]);
  if (norm) v.Child("norm", *norm);
}

TransformerDecoder::TransformerDecoder(int64_t d_model, int64_t heads, int64_t num_layers,
                                       Generator& generator, const TransformerOptions& o, bool with_norm) {
  for (int64_t i = 0; i < num_layers; ++i) layers.emplace_back(d_model, heads, generator, o);
  if (with_norm) norm = NormOf(d_model, o);
}
Tensor TransformerDecoder::Forward(const Tensor& x, const Tensor& memory,
                                   const TransformerMasks& masks) const {
  Tensor y = x;
  for (const TransformerDecoderLayer& layer : layers) y = layer.Forward(y, memory, masks);
  return norm ? norm->Forward(y) : y;
}
void TransformerDecoder::Visit(const Visitor& v) {
  for (size_t i = 0; i < layers.size(); ++i) v.Child(absl::StrCat("layers.", i), layers[i]);
  if (norm) v.Child("norm", *norm);
}

Transformer::Transformer(int64_t d_model, int64_t heads, int64_t encoder_layers, int64_t decoder_layers,
                         Generator& generator, const TransformerOptions& o)
    : encoder(d_model, heads, encoder_layers, generator, o, true),
      decoder(d_model, heads, decoder_layers, generator, o, true) {
  // Handles on the parameters: a matrix takes other contents.
  for (const NamedTensor& p : NamedParameters(*this)) {
    if (!p.tensor.ok() || p.tensor.ndim() < 2) continue;
    Tensor handle = p.tensor;
    handle.Assign(XavierUniform(p.tensor.shape(), generator, 1, {p.tensor.dtype(), p.tensor.device()}));
  }
}
Tensor Transformer::Forward(const Tensor& source, const Tensor& target, const TransformerMasks& source_masks,
                            const TransformerMasks& target_masks) const {
  return decoder.Forward(target, encoder.Forward(source, source_masks), target_masks);
}
void Transformer::Visit(const Visitor& v) {
  v.Child("encoder", encoder);
  v.Child("decoder", decoder);
}

}  // namespace understudy::nn
