// SPDX-License-Identifier: Apache-2.0
// The families of network functions, as cases on every device.
#include "src/tensor/attention.h"
#include "src/tensor/conv.h"
#include "src/tensor/decomposition.h"
#include "src/tensor/embedding.h"
#include "src/tensor/interpolate.h"
#include "src/tensor/linalg.h"
#include "src/tensor/loss.h"
#include "src/tensor/norm.h"
#include "src/tensor/pool.h"
#include "tests/e2e/op_cases.h"

namespace understudy {

const std::vector<OpCase>& LayerCases() {
  static const std::vector<OpCase> table = {
      {"einsum", Types::kNumbers, kExact,
       [](CaseGen& g) {
         return Einsum("bij,kj,b->ki", {g.Small({2, 3, 4}), g.Small({5, 4}), g.Small({2})});
       }},
      {"einsum_diagonal", Types::kAll, kExact,
       [](CaseGen& g) { return Einsum("iij->j", {g.Small({3, 3, 2})}); }},
      {"conv1d", Types::kNumbers, kExact,
       [](CaseGen& g) {
         ConvOptions o;
         o.stride = g.Int(1, 3);
         o.dilation = g.Int(1, 2);
         o.padding = g.Int(0, 2);
         return Conv1d(g.Small({2, 3, 9}), g.Small({2, 3, 3}), nullptr, o);
       }},
      {"conv3d", Types::kOnce, kExact,
       [](CaseGen& g) { return Conv3d(g.Small({1, 2, 4, 4, 3}), g.Small({2, 2, 2, 3, 2})); }},
      {"conv_transpose2d", Types::kWideFloats, kExact,
       [](CaseGen& g) {
         ConvTransposeOptions o;
         o.stride = {2, 1};
         o.padding = {1, 0};
         o.output_padding = {1, 0};
         return ConvTranspose2d(g.Small({1, 2, 3, 4}), g.Small({2, 3, 3, 2}), nullptr, o);
       }},
      {"gradient_of_conv_transpose2d", Types::kOnce, kExact,
       [](CaseGen& g) {
         const Tensor x = g.Small({1, 2, 3, 3}), w = g.Small({2, 2, 3, 3}), y = ConvTranspose2d(x, w);
         const std::vector<Tensor> d = Gradients((y * g.Small(y.shape())).Sum(), {x, w});
         return Cat({d[0].Flatten(), d[1].Flatten()});
       }},
      {"col2im", Types::kWideFloats, kExact,
       [](CaseGen& g) { return Col2im(g.Small({1, 8, 12}), {4, 5}, 2); }},
      {"max_pool2d", Types::kAll, kExact,
       [](CaseGen& g) {
         MaxPoolOptions o;
         o.stride = 2;
         o.padding = 1;
         o.ceil_mode = g.Chance(0.5);
         return MaxPool2d(g.Anything({1, 2, 6, 5}), 3, o);
       }},
      {"max_pool2d_indices", Types::kInts, kExact,
       [](CaseGen& g) { return MaxPool2dWithIndices(g.Anything({1, 2, 6, 6}), 2).indices; }},
      {"avg_pool2d", Types::kWideFloats, Absolute(4),
       [](CaseGen& g) {
         AvgPoolOptions o;
         o.padding = 1;
         o.count_include_pad = false;
         return AvgPool2d(g.Within({1, 2, 6, 5}, -4, 4), 3, o);
       }},
      {"adaptive_avg_pool2d", Types::kOnce, Absolute(8),
       [](CaseGen& g) { return AdaptiveAvgPool2d(g.Within({1, 2, 7, 5}, -4, 4), {3, 2}); }},
      {"batch_norm", Types::kWideFloats, Absolute(64),
       [](CaseGen& g) {
         BatchNormOptions o;
         o.training = true;
         return BatchNorm(g.Within({4, 3, 5}, -4, 4), nullptr, nullptr, o).output;
       }},
      {"rms_norm", Types::kWideFloats, Absolute(64),
       [](CaseGen& g) { return RmsNorm(g.Within({3, 8}, -4, 4), {8}); }},
      {"group_norm", Types::kWideFloats, Absolute(64),
       [](CaseGen& g) { return GroupNorm(g.Within({2, 4, 3}, -4, 4), 2); }},
      {"attention_causal", Types::kWideFloats, Absolute(64),
       [](CaseGen& g) {
         AttentionOptions o;
         o.is_causal = true;
         o.enable_gqa = true;
         return ScaledDotProductAttention(g.Within({1, 4, 5, 4}, -2, 2), g.Within({1, 2, 5, 4}, -2, 2),
                                          g.Within({1, 2, 5, 4}, -2, 2), o);
       }},
      {"gradient_of_attention", Types::kOnce, Absolute(256),
       [](CaseGen& g) {
         const Tensor q = g.Within({2, 3, 4}, -2, 2), k = g.Within({2, 5, 4}, -2, 2),
                      v = g.Within({2, 5, 4}, -2, 2);
         const Tensor y = ScaledDotProductAttention(q, k, v);
         const std::vector<Tensor> d = Gradients((y * g.Within(y.shape(), -1, 1)).Sum(), {q, k, v});
         return Cat({d[0].Flatten(), d[1].Flatten(), d[2].Flatten()});
       }},
      {"cross_entropy_smoothed", Types::kWideFloats, Absolute(64),
       [](CaseGen& g) {
         const Tensor w = g.Within({5}, 0.5, 1.5);
         ClassLossOptions o;
         o.weight = &w;
         o.label_smoothing = 0.1;
         return CrossEntropy(g.Within({4, 5}, -3, 3),
                             Tensor::FromData<int64_t>({0, -100, 2, 4}, {4}, g.device), o);
       }},
      {"bce_with_logits", Types::kWideFloats, Absolute(64),
       [](CaseGen& g) {
         return BinaryCrossEntropyWithLogits(g.Within({3, 4}, -8, 8), g.Within({3, 4}, 0, 1));
       }},
      {"embedding", Types::kNumbers, kExact,
       [](CaseGen& g) {
         return Embedding(Tensor::FromData<int32_t>({3, 0, 4, 4, 1, 2}, {2, 3}, g.device),
                          g.Anything({5, 3}));
       }},
      {"interpolate_bilinear", Types::kWideFloats, Absolute(16),
       [](CaseGen& g) {
         InterpolateOptions o;
         o.size = {8, 9};
         o.mode = InterpolateMode::kLinear;
         return Interpolate(g.Within({1, 2, 4, 6}, -4, 4), o);
       }},
      {"interpolate_nearest", Types::kIntsAndBool, kExact,
       [](CaseGen& g) {
         InterpolateOptions o;
         o.size = {8, 4};
         return Interpolate(g.Small({1, 2, 4, 6}), o);
       }},
      {"pixel_shuffle", Types::kWideFloats, kExact,
       [](CaseGen& g) { return PixelShuffle(g.Anything({1, 8, 2, 3}), 2); }},
      {"solve", Types::kOnce, Absolute(4096),
       [](CaseGen& g) {
         const Tensor a = g.Within({4, 4}, -1, 1) + Tensor::Eye(4, std::nullopt, {g.dtype, g.device}) * 3.0;
         return Solve(a, g.Within({4, 2}, -1, 1));
       }},
  };
  return table;
}

}  // namespace understudy
