// SPDX-License-Identifier: Apache-2.0
#pragma once
// Activation functions with PyTorch's names, defaults and formulas (torch.nn.functional), on floats; integers
// answer in f32 where PyTorch has no integer form. f16, bf16 and 8-bit floats are computed in f32 and rounded
// once. Relu, Sigmoid, Tanh and the tanh form of Gelu are methods of Tensor.

#include "src/tensor/tensor.h"

namespace understudy {

Tensor Relu6(const Tensor& x);
Tensor LeakyRelu(const Tensor& x, double negative_slope = 0.01);
// weight: one element, or one a channel (axis 1 of x, or its only axis).
Tensor Prelu(const Tensor& x, const Tensor& weight);
// The random leaky slope of evaluation: (lower + upper) / 2.
Tensor RreluEval(const Tensor& x, double lower = 1.0 / 8, double upper = 1.0 / 3);
Tensor Elu(const Tensor& x, double alpha = 1);
Tensor Celu(const Tensor& x, double alpha = 1);
Tensor Selu(const Tensor& x);
Tensor Silu(const Tensor& x);
inline Tensor Swish(const Tensor& x) { return Silu(x); }
Tensor Mish(const Tensor& x);
enum class GeluForm { kExact, kTanh };
Tensor Gelu(const Tensor& x, GeluForm form = GeluForm::kExact);
Tensor QuickGelu(const Tensor& x);  // x sigmoid(1.702 x)
// log(1 + e^(beta x)) / beta; x itself where beta x is above the threshold.
Tensor Softplus(const Tensor& x, double beta = 1, double threshold = 20);
Tensor Softsign(const Tensor& x);
Tensor LogSigmoid(const Tensor& x);
Tensor Hardtanh(const Tensor& x, double min = -1, double max = 1);
Tensor Hardsigmoid(const Tensor& x);
Tensor Hardswish(const Tensor& x);
Tensor Hardshrink(const Tensor& x, double lambda = 0.5);
Tensor Softshrink(const Tensor& x, double lambda = 0.5);
Tensor Tanhshrink(const Tensor& x);
// x above the threshold, else value.
Tensor Threshold(const Tensor& x, double threshold, double value);
// The first half along the axis times the sigmoid of the second.
Tensor Glu(const Tensor& x, int64_t axis = -1);

}  // namespace understudy
