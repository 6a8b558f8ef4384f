// SPDX-License-Identifier: Apache-2.0
#pragma once
// A GPT as a program would write it: modules of src/tensor/nn with nanoGPT's names, so that a file of weights
// loads by name.

#include <memory>
#include <string>
#include <vector>

#include "src/tensor/activation.h"
#include "src/tensor/attention.h"
#include "src/tensor/nn/layers.h"
#include "src/tensor/nn/module.h"

namespace understudy::models {

struct GptSizes {
  int64_t vocabulary, layers, heads, width, context;
};

struct GptBlock : nn::Module {
  int64_t heads;
  nn::LayerNorm ln_1, ln_2;
  nn::Linear attention, attention_out, up, down;

  GptBlock(const GptSizes& s, Generator& g, const TensorOptions& on)
      : heads(s.heads),
        ln_1({s.width}, 1e-5, true, true, on),
        ln_2({s.width}, 1e-5, true, true, on),
        attention(s.width, 3 * s.width, g, true, on),
        attention_out(s.width, s.width, g, true, on),
        up(s.width, 4 * s.width, g, true, on),
        down(4 * s.width, s.width, g, true, on) {}

  // {batch, time, width}
  Tensor Forward(const Tensor& x) const {
    const int64_t batch = x.shape()[0], time = x.shape()[1], width = x.shape()[2];
    const Tensor qkv = attention.Forward(ln_1.Forward(x));
    const auto part = [&](int64_t i) {
      return qkv.Shrink({{0, batch}, {0, time}, {i * width, (i + 1) * width}})
          .Reshape({batch, time, heads, width / heads})
          .Transpose(1, 2);
    };
    AttentionOptions causal;
    causal.is_causal = true;
    const Tensor seen = ScaledDotProductAttention(part(0), part(1), part(2), causal);
    const Tensor y = x + attention_out.Forward(seen.Transpose(1, 2).Reshape({batch, time, width}));
    return y + down.Forward(Gelu(up.Forward(ln_2.Forward(y)), GeluForm::kTanh));
  }
  void Visit(const nn::Visitor& v) override {
    v.Child("ln_1", ln_1);
    v.Child("ln_2", ln_2);
    v.Child("attn.c_attn", attention);
    v.Child("attn.c_proj", attention_out);
    v.Child("mlp.c_fc", up);
    v.Child("mlp.c_proj", down);
  }
};

struct Gpt : nn::Module {
  nn::Embedding wte, wpe;
  std::vector<std::unique_ptr<GptBlock>> h;
  nn::LayerNorm ln_f;

  Gpt(const GptSizes& s, Generator& g, const TensorOptions& on)
      : wte(s.vocabulary, s.width, g, std::nullopt, on),
        wpe(s.context, s.width, g, std::nullopt, on),
        ln_f({s.width}, 1e-5, true, true, on) {
    for (int64_t i = 0; i < s.layers; ++i) h.push_back(std::make_unique<GptBlock>(s, g, on));
  }

  // Tokens {batch, time} as logits {batch, time, vocabulary}; the table of tokens is also the output's.
  Tensor Forward(const Tensor& tokens) const {
    const Tensor positions = Tensor::Arange(0, tokens.shape()[1], 1, {dtypes::kInt64, tokens.device()});
    Tensor x = wte.Forward(tokens) + wpe.Forward(positions);
    for (const auto& block : h) x = block->Forward(x);
    return ln_f.Forward(x).Matmul(wte.weight.Transpose());
  }
  void Visit(const nn::Visitor& v) override {
    v.Child("wte", wte);
    v.Child("wpe", wpe);
    for (size_t i = 0; i < h.size(); ++i) v.Child("h." + std::to_string(i), *h[i]);
    v.Child("ln_f", ln_f);
  }
};

}  // namespace understudy::models
