// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random parts of networks beyond Dropout (random.h), with PyTorch's names and formulas. Modules use them;
// every draw comes from the caller's Generator.

#include "src/tensor/random.h"
#include "src/tensor/tensor.h"

namespace understudy {

// Whole channels of {N, C, ...}: 0 with probability p, else x / (1 - p). x itself unless `training`.
Tensor FeatureDropout(const Tensor& x, double p, bool training, Generator& generator);
// For inputs of mean 0 and variance 1, which it keeps: what is dropped becomes Selu's limit at minus
// infinity, and all is scaled and shifted.
Tensor AlphaDropout(const Tensor& x, double p, bool training, Generator& generator);
// The same of whole channels.
Tensor FeatureAlphaDropout(const Tensor& x, double p, bool training, Generator& generator);
// Each x <= 0 times a slope of its own from [lower, upper); the mean slope unless `training`.
Tensor Rrelu(const Tensor& x, double lower, double upper, bool training, Generator& generator);

}  // namespace understudy
