// SPDX-License-Identifier: Apache-2.0
#pragma once
// Relatives of Tensor::Softmax, with PyTorch's names.

#include <cstdint>

#include "src/tensor/tensor.h"

namespace understudy {

Tensor Softmin(const Tensor& input, int64_t dim = -1);
// Over the channels of {N, C, H, W} or {C, H, W}.
Tensor Softmax2d(const Tensor& input);
// `noise` is the caller's: samples of Gumbel(0, 1) of the logits' shape (-log(-log(u)) of uniform u). With
// `hard` the result is one-hot and its gradient that of the soft one.
Tensor GumbelSoftmax(const Tensor& logits, const Tensor& noise, double tau = 1, bool hard = false,
                     int64_t dim = -1);

}  // namespace understudy
