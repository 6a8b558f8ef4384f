// SPDX-License-Identifier: Apache-2.0
#pragma once
// Normalisation layers as functions, with PyTorch's arguments. Statistics of f16, bf16 and 8-bit floats are
// computed in f32 and the result is rounded once. Optional tensors may be null.

#include <cstdint>
#include <vector>

#include "src/tensor/tensor.h"

namespace understudy {

struct BatchNormOptions {
  const Tensor* weight = nullptr;  // {C}
  const Tensor* bias = nullptr;    // {C}
  bool training = false;
  double momentum = 0.1, eps = 1e-5;
};
// Nothing is written: the running statistics after this batch are returned (those given, when not training;
// errors with FailedPrecondition when none were given).
struct BatchNormResult {
  Tensor output, running_mean, running_var;
};
// input {N, C, ...}. Without training the running statistics are needed.
BatchNormResult BatchNorm(const Tensor& input, const Tensor* running_mean, const Tensor* running_var,
                          const BatchNormOptions& options = {});

// Over the last axes, which must have this shape.
Tensor LayerNorm(const Tensor& input, const Shape& normalized_shape, const Tensor* weight = nullptr,
                 const Tensor* bias = nullptr, double eps = 1e-5);
// x / sqrt(mean(x^2) + eps); a negative eps means the type's epsilon, PyTorch's default.
Tensor RmsNorm(const Tensor& input, const Shape& normalized_shape, const Tensor* weight = nullptr,
               double eps = -1);
// Groups of channels of {N, C, ...}; weight and bias are {C}.
Tensor GroupNorm(const Tensor& input, int64_t num_groups, const Tensor* weight = nullptr,
                 const Tensor* bias = nullptr, double eps = 1e-5);
// Each channel of each sample by itself.
Tensor InstanceNorm(const Tensor& input, const Tensor* weight = nullptr, const Tensor* bias = nullptr,
                    double eps = 1e-5);
// Across `size` neighbouring channels of {N, C, ...}.
Tensor LocalResponseNorm(const Tensor& input, int64_t size, double alpha = 1e-4, double beta = 0.75,
                         double k = 1);

// x / max(norm_p(x), eps) along an axis.
Tensor Normalize(const Tensor& input, double p = 2, int64_t dim = 1, double eps = 1e-12);
Tensor CosineSimilarity(const Tensor& a, const Tensor& b, int64_t dim = 1, double eps = 1e-8);
// norm_p(a - b + eps) over the last axis.
Tensor PairwiseDistance(const Tensor& a, const Tensor& b, double p = 2, double eps = 1e-6,
                        bool keepdim = false);
// {..., n, d}, {..., m, d} -> {..., n, m}: norm_p of every difference.
Tensor Cdist(const Tensor& a, const Tensor& b, double p = 2);

}  // namespace understudy
