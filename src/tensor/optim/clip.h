// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gradient clipping as torch.nn.utils does it, as functions: new gradients are returned and nothing is
// written. Training loops call it between Gradients and Optimizer::Step.

#include <vector>

#include "src/tensor/tensor.h"

namespace understudy::optim {

struct ClippedGradients {
  std::vector<Tensor> gradients;
  Tensor total_norm;  // before clipping, a scalar
};
// All gradients times min(1, max_norm / (norm + 1e-6)), where norm is the norm_type-norm (inf: the largest
// size) of all their elements. One device; the first error is every result's.
ClippedGradients ClipGradNorm(const std::vector<Tensor>& gradients, double max_norm, double norm_type = 2);
// Each element into [-clip_value, clip_value].
std::vector<Tensor> ClipGradValue(const std::vector<Tensor>& gradients, double clip_value);

}  // namespace understudy::optim
