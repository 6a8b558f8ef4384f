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
  return (e / e.Sum({*a}, true)).Cast(dtype());
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

Tensor Tensor::CrossEntropy(const Tensor& target) const {
  if (!ok()) return *this;
  if (!target.ok()) return target;
  if (ndim() != 2 || target.ndim() != 1 || target.shape()[0] != shape()[0]) {
    return Tensor(Bad("CrossEntropy", "logits ", Text(shape()), " and target ", Text(target.shape()),
                      ", expected [N,C] and [N]"));
  }
  if (!target.dtype().IsInt())
    return Tensor(Bad("CrossEntropy", "target of dtype ", target.dtype().Name(),
                      ", expected integers (class indices)"));
  const int64_t classes = shape()[1];
  const Tensor index = Arange(0, classes, 1, {dtypes::kInt64, target.device()});
  const Tensor wanted = target.Cast(dtypes::kInt64).Unsqueeze(1);
  const Tensor picked = Where(wanted.Eq(index), LogSoftmax(1), 0.0).Sum({1});
  // A class outside [0, C) cannot be refused before the data is known: it makes the loss NaN.
  const Tensor inside = target.Cast(dtypes::kInt64).Ge(0).BitAnd(target.Cast(dtypes::kInt64).Lt(classes));
  return -Where(inside, picked, NAN).Mean();
}

}  // namespace understudy
