// SPDX-License-Identifier: Apache-2.0
// Normalisations. Statistics are computed in the type that stash_type names, f32 by default.
#include <cmath>

#include "src/tensor/elementwise_ops.h"
#include "src/tensor/internal.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/nn_internal.h"
#include "src/tensor/onnx/ops.h"

namespace understudy::onnx::ops {
namespace {

// {C} beside {N, C, ...}.
Tensor PerChannel(const Tensor& v, const Tensor& x) {
  Shape along(x.ndim(), 1);
  if (x.ndim() > 1) along[1] = -1;
  return v.Reshape(along);
}

// The population's mean and variance over axes, kept.
std::pair<Tensor, Tensor> Moments(const Tensor& x, const std::vector<int64_t>& axes) {
  const Tensor mean = x.Mean(axes, true);
  return {mean, (x - mean).Square().Mean(axes, true)};
}

std::vector<int64_t> From(int64_t axis, int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t i = axis; i < rank; ++i) axes.push_back(i);
  return axes;
}

DType Stash(NodeContext& c, const Tensor& x) {
  const auto stash = static_cast<ElemType>(c.Int("stash_type", 1));
  const DType t = HeldIn(stash);
  if (!t.IsFloat()) c.Refuse("stash_type ", ElemTypeName(stash));
  return x.dtype() == dtypes::kFloat64 ? x.dtype() : t;
}

}  // namespace

void BatchNormalization(NodeContext& c) {
  const Tensor x = c.In(0), mean = c.In(3), var = c.In(4);
  const double eps = c.Float("epsilon", 1e-5f), momentum = c.Float("momentum", 0.9f);
  if (!c.Want(x.ndim() >= 1, "an input without axes")) return;
  const bool training = c.opset() >= 14 ? c.Int("training_mode", 0) != 0 : c.num_outputs() > 1;
  if (training && c.opset() < 14) return c.Refuse("training before version 14");
  // Mixed types: everything in f32, f64 where the input is.
  const DType compute = x.dtype() == dtypes::kFloat64 ? x.dtype() : dtypes::kFloat32;
  const Tensor f = x.Cast(compute);
  Tensor m = PerChannel(mean, x).Cast(compute), v = PerChannel(var, x).Cast(compute);
  if (training) {
    std::vector<int64_t> axes;
    for (int64_t i = 0; i < x.ndim(); ++i) {
      if (i != 1) axes.push_back(i);
    }
    const auto [batch_mean, batch_var] = Moments(f, axes);
    c.Out(1, (m * momentum + batch_mean * (1 - momentum)).Reshape(mean.shape()).Cast(mean.dtype()));
    c.Out(2, (v * momentum + batch_var * (1 - momentum)).Reshape(var.shape()).Cast(var.dtype()));
    m = batch_mean;
    v = batch_var;
  }
  const Tensor scale = PerChannel(c.In(1), x).Cast(compute), bias = PerChannel(c.In(2), x).Cast(compute);
  c.Out(0, ((f - m) / (v + eps).Sqrt() * scale + bias).Cast(x.dtype()));
}

void InstanceNormalization(NodeContext& c) {
  const Tensor x = c.In(0);
  if (!c.Want(x.ndim() >= 3, "an input with ", x.ndim(), " axes")) return;
  const DType compute = AccType(x.dtype());
  const Tensor f = x.Cast(compute);
  const auto [mean, var] = Moments(f, From(2, x.ndim()));
  const Tensor y = (f - mean) / (var + c.Float("epsilon", 1e-5f)).Sqrt();
  c.Out(0, (y * PerChannel(c.In(1), x).Cast(compute) + PerChannel(c.In(2), x).Cast(compute)).Cast(x.dtype()));
}

void LayerNormalization(NodeContext& c) {
  const Tensor x = c.In(0);
  const int64_t axis = c.Axis(c.Int("axis", -1), x.ndim());
  const DType stash = Stash(c, x);
  if (!c.ok()) return;
  const Tensor f = x.Cast(stash);
  const auto [mean, var] = Moments(f, From(axis, x.ndim()));
  const Tensor inverse = (var + c.Float("epsilon", 1e-5f)).Sqrt().Reciprocal();
  Tensor y = ((f - mean) * inverse).Cast(x.dtype()) * c.In(1);
  if (c.Has(2)) y = y + c.In(2);
  c.Out(0, y.Cast(x.dtype()));
  c.Out(1, mean);
  c.Out(2, inverse);
}

void RmsNormalization(NodeContext& c) {
  const Tensor x = c.In(0);
  const int64_t axis = c.Axis(c.Int("axis", -1), x.ndim());
  const DType stash = Stash(c, x);
  if (!c.ok()) return;
  const Tensor f = x.Cast(stash);
  const Tensor square = f.Square().Mean(From(axis, x.ndim()), true);
  c.Out(0,
        ((f / (square + c.Float("epsilon", 1e-5f)).Sqrt()).Cast(x.dtype()) * c.In(1)).Cast(c.In(1).dtype()));
}

void GroupNormalization(NodeContext& c) {
  const Tensor x = c.In(0), scale = c.In(1), bias = c.In(2);
  const int64_t groups = c.Int("num_groups", 0);
  if (!c.Want(x.ndim() >= 2 && groups > 0 && x.shape()[1] % groups == 0, groups, " groups of ",
              tensor_internal::Text(x.shape())))
    return;
  const DType stash = c.opset() >= 21 ? Stash(c, x) : AccType(x.dtype());
  const int64_t n = x.shape()[0], channels = x.shape()[1];
  const Tensor f = x.Cast(stash).Reshape({n, groups, -1});
  const auto [mean, var] = Moments(f, {2});
  const Tensor y = (f - mean) / (var + c.Float("epsilon", 1e-5f)).Sqrt();
  // Scale and bias: one a channel; before version 21 one a group.
  const auto spread = [&](const Tensor& v) {
    Tensor t = v.Cast(stash);
    if (c.opset() < 21) t = RepeatInterleave(t, channels / groups);
    return PerChannel(t, x);
  };
  c.Out(0, (y.Reshape(x.shape()) * spread(scale) + spread(bias)).Cast(x.dtype()));
}

void MeanVarianceNormalization(NodeContext& c) {
  const Tensor x = c.In(0);
  std::vector<int64_t> axes = c.IntList("axes").value_or(std::vector<int64_t>{0, 2, 3});
  for (int64_t& a : axes) a = c.Axis(a, x.ndim());
  if (!c.ok()) return;
  const auto [mean, var] = Moments(x, axes);
  c.Out(0, (x - mean) / (var.Sqrt() + 1e-9));
}

void Lrn(NodeContext& c) {
  const Tensor x = c.In(0);
  const int64_t size = c.Int("size", 0);
  const double alpha = c.Float("alpha", 1e-4f), beta = c.Float("beta", 0.75), bias = c.Float("bias", 1);
  if (!c.Want(x.ndim() >= 2 && size >= 1 && size <= 65536, "a size of ", size)) return;
  // Across channels, the greater half after.
  const int64_t before = (size - 1) / 2, after = size - 1 - before;
  const Tensor padded = tensor_internal::PadAxis(x.Square(), 1, before, after);
  const Tensor sum = tensor_internal::Windows(padded, 1, size, 1, 1).Sum({2});
  c.Out(0, x / (sum * (alpha / static_cast<double>(size)) + bias).Pow(beta));
}

}  // namespace understudy::onnx::ops
