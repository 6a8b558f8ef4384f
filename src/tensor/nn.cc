// SPDX-License-Identifier: Apache-2.0
// The network functions that are methods of Tensor, as formulas or through the families.
#include <algorithm>
#include <cmath>

#include "src/base/status.h"
#include "src/tensor/conv.h"
#include "src/tensor/nn_internal.h"

namespace understudy {

using tensor_internal::Bad;
using tensor_internal::Text;

Tensor Tensor::Softmax(int64_t axis) const {
  if (!ok()) return *this;
  if (!dtype().IsFloat()) return Tensor(Bad("Softmax", "dtype ", dtype().Name(), ", expected floats"));
  const auto a = tensor_internal::Axis("Softmax", axis, ndim());
  if (ndim() == 0) return Full({}, 1, {dtype(), device()});
  if (!a.ok()) return Tensor(a.status());
  if (numel() == 0) return *this;
  const Tensor x = Cast(tensor_internal::ComputeType(dtype()));
  const Tensor e = (x - x.Detach().Max({*a}, true)).Exp();
  return (e * e.Sum({*a}, true).Reciprocal()).Cast(dtype());
}

Tensor Tensor::LogSoftmax(int64_t axis) const {
  if (!ok()) return *this;
  if (!dtype().IsFloat()) return Tensor(Bad("LogSoftmax", "dtype ", dtype().Name(), ", expected floats"));
  const auto a = tensor_internal::Axis("LogSoftmax", axis, ndim());
  if (ndim() == 0) return Full({}, 0, {dtype(), device()});
  if (!a.ok()) return Tensor(a.status());
  if (numel() == 0) return *this;
  const Tensor x = Cast(tensor_internal::ComputeType(dtype()));
  const Tensor shifted = x - x.Detach().Max({*a}, true);
  return (shifted - shifted.Exp().Sum({*a}, true).Log()).Cast(dtype());
}

Tensor Tensor::Conv2d(const Tensor& weight, const Tensor* bias, const Conv2dOptions& o) const {
  return understudy::Conv2d(*this, weight, bias,
                            {.stride = {o.stride.first, o.stride.second},
                             .padding = {o.padding.first, o.padding.second},
                             .dilation = {o.dilation.first, o.dilation.second},
                             .groups = o.groups});
}

}  // namespace understudy
