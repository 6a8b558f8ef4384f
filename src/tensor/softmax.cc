// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/softmax.h"

#include "src/base/status.h"
#include "src/tensor/nn_internal.h"

namespace understudy {

using tensor_internal::Refuse;
using tensor_internal::Text;

Tensor Softmin(const Tensor& input, int64_t dim) {
  if (absl::Status s = tensor_internal::WantFloats("Softmin", {&input}); !s.ok()) return Tensor(s);
  return (-input).Softmax(dim);
}

Tensor Softmax2d(const Tensor& input) {
  if (!input.ok()) return input;
  if (input.ndim() != 3 && input.ndim() != 4)
    return Refuse("Softmax2d", "input ", Text(input.shape()), ", expected rank 3 or 4 ({N,C,H,W})");
  return input.Softmax(-3);
}

Tensor GumbelSoftmax(const Tensor& logits, const Tensor& noise, double tau, bool hard, int64_t dim) {
  if (absl::Status s = tensor_internal::WantFloats("GumbelSoftmax", {&logits, &noise}); !s.ok())
    return Tensor(s);
  if (noise.shape() != logits.shape())
    return Refuse("GumbelSoftmax", "noise of shape ", Text(noise.shape()), ", expected the logits' ",
                  Text(logits.shape()));
  const auto axis = tensor_internal::Axis("GumbelSoftmax", dim, logits.ndim());
  if (!axis.ok()) return Tensor(axis.status());
  const DType t = logits.dtype(), compute = tensor_internal::ComputeType(t);
  const Tensor soft = ((logits.Cast(compute) + noise.Cast(compute)) / tau).Softmax(*axis).Cast(t);
  if (!hard || soft.numel() == 0) return soft;
  const Tensor chosen = soft.Detach().Argmax(*axis, true);
  const Tensor one =
      chosen.Eq(tensor_internal::Positions(soft.shape()[*axis], static_cast<int>(*axis), soft.ndim(), soft));
  // The value is one-hot, the gradient the soft one's.
  return one.Cast(t) + (soft - soft.Detach());
}

}  // namespace understudy
