// SPDX-License-Identifier: Apache-2.0
// Numbers to quantised numbers and back: a scale and a zero point for the whole tensor, for each row of an
// axis, or for each block of one.
#include <cmath>

#include "src/tensor/elementwise_ops.h"
#include "src/tensor/internal.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/onnx/ops.h"

namespace understudy::onnx::ops {
namespace {

// The scale or zero point so that it broadcasts to x.
Tensor Spread(NodeContext& c, const Tensor& v, const Tensor& x) {
  if (!c.ok()) return Tensor(c.status());
  if (v.numel() == 1) return v.Reshape({});
  const int64_t axis = c.Axis(c.Int("axis", 1), x.ndim()), block = c.Int("block_size", 0);
  if (!c.Want(block >= 0, "block_size ", block)) return Tensor(c.status());
  if (block == 0) {
    if (!c.Want(v.ndim() == 1, "scales with ", v.ndim(), " axes, expected one")) return Tensor(c.status());
    Shape along(x.ndim(), 1);
    along[axis] = v.numel();
    return v.Reshape(along);
  }
  if (!c.Want(v.ndim() == x.ndim() && v.shape()[axis] > 0 &&
                  block >= (x.shape()[axis] + v.shape()[axis] - 1) / v.shape()[axis],
              "scales ", tensor_internal::Text(v.shape()), " for blocks of ", block, " of ",
              tensor_internal::Text(x.shape()))) {
    return Tensor(c.status());
  }
  return Narrow(RepeatInterleave(v, block, axis), axis, 0, x.shape()[axis]);
}

// Range of a quantised type, in bits below 8 too.
std::pair<double, double> Range(ElemType t) {
  const int bits = RawBits(t);
  if (HeldIn(t).IsSigned()) return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
  return {0, std::ldexp(1.0, bits) - 1};
}

}  // namespace

void QuantizeLinear(NodeContext& c) {
  const Tensor x = c.In(0), scale = c.In(1);
  ElemType type = ElemType::kUInt8;
  if (c.Has(2))
    type = c.TypeOf(2);
  else if (c.Int("output_dtype", 0) != 0)
    type = static_cast<ElemType>(c.Int("output_dtype", 0));
  const DType held = HeldIn(type);
  if (held.IsVoid() || held.IsBool()) return c.Refuse("quantising to ", ElemTypeName(type));
  // Divided in `precision`, or in the scale's type, but narrow floats are too narrow for the sum.
  DType compute = x.dtype().IsFloat() && x.dtype() != dtypes::kFloat64 ? dtypes::kFloat32 : scale.dtype();
  const auto precision = static_cast<ElemType>(c.Int("precision", 0));
  if (precision != ElemType::kUndefined) compute = HeldIn(precision);
  if (!compute.IsFloat()) compute = dtypes::kFloat32;
  Tensor y = x.Cast(compute) / Spread(c, scale, x).Cast(compute);
  if (!c.ok()) return;
  if (held.IsFloat()) {
    if (c.Has(2)) y = y + Spread(c, c.In(2), x).Cast(compute);
    return c.Out(0, CastTo(c, y, type, c.Int("saturate", 1) != 0), type);
  }
  y = understudy::Round(y.Cast(dtypes::kFloat32));
  if (c.Has(2)) y = y + Spread(c, c.In(2), x).Cast(dtypes::kFloat32);
  const auto [low, high] = Range(type);
  c.Out(0, y.Clamp(low, high).Cast(held), type);
}

void DequantizeLinear(NodeContext& c) {
  const Tensor x = c.In(0), scale = c.In(1);
  DType out = scale.dtype();
  ElemType type = c.TypeOf(1);
  if (const auto to = static_cast<ElemType>(c.Int("output_dtype", 0)); to != ElemType::kUndefined) {
    type = to;
    out = HeldIn(to);
  }
  if (!c.Want(out.IsFloat(), "an output of ", ElemTypeName(type))) return;
  Tensor y;
  if (x.dtype().IsInt()) {
    // i32 exactly: the difference is taken in integers.
    y = x.Cast(dtypes::kInt64);
    if (c.Has(2)) y = y - Spread(c, c.In(2), x).Cast(dtypes::kInt64);
    y = y.Cast(dtypes::kFloat32);
  } else {
    y = x.Cast(dtypes::kFloat32);  // the zero point of floats is 0
  }
  c.Out(0, (y * Spread(c, scale, x).Cast(dtypes::kFloat32)).Cast(out), type);
}

// To u8, with the scale that covers the tensor's range and 0.
void DynamicQuantizeLinear(NodeContext& c) {
  const Tensor x = c.In(0);
  if (!c.Want(x.numel() > 0, "a tensor without elements")) return;
  const Tensor high = x.Max().Maximum(0), low = x.Min().Minimum(0);
  const Tensor scale = (high - low) / 255;
  const Tensor zero = understudy::Round((-low / scale).Clamp(0, 255));
  c.Out(0, (understudy::Round(x / scale) + zero).Clamp(0, 255).Cast(dtypes::kUInt8));
  c.Out(1, scale);
  c.Out(2, zero.Cast(dtypes::kUInt8));
}

}  // namespace understudy::onnx::ops
