// SPDX-License-Identifier: Apache-2.0
// Convolutions and products of matrices, of floats and of quantised integers.
#include <algorithm>
#include <cmath>

#include "src/tensor/conv.h"
#include "src/tensor/elementwise_ops.h"
#include "src/tensor/gather.h"
#include "src/tensor/internal.h"
#include "src/tensor/linalg.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/onnx/ops.h"
#include "src/tensor/onnx/windows.h"

namespace understudy::onnx::ops {
namespace {

Tensor ConvNd(NodeContext& c, const Tensor& x, const Tensor& w, const Tensor* b, const ConvOptions& o) {
  switch (x.ndim()) {
    case 3:
      return Conv1d(x, w, b, o);
    case 4:
      return Conv2d(x, w, b, o);
    case 5:
      return Conv3d(x, w, b, o);
    default:
      c.Refuse("a convolution over ", x.ndim() - 2, " axes, expected 1 to 3");
      return Tensor(c.status());
  }
}

// x (N, C, spatial...) with w (O, C / group, kernel...) and the node's attributes.
Tensor Convolution(NodeContext& c, const Tensor& x, const Tensor& w, const Tensor* b) {
  if (!c.ok()) return Tensor(c.status());
  if (!c.Want(x.ndim() >= 3 && w.ndim() == x.ndim(), "an input with ", x.ndim(), " axes and weights with ",
              w.ndim())) {
    return Tensor(c.status());
  }
  const Shape kernel(w.shape().begin() + 2, w.shape().end());
  const auto given = c.IntList("kernel_shape");
  if (!c.Want(!given || *given == kernel, "kernel_shape is not that of the weights"))
    return Tensor(c.status());
  const auto windows = ReadWindows(c, x.shape(), kernel);
  if (!windows) return Tensor(c.status());
  ConvOptions o;
  o.stride = windows->stride;
  o.dilation = windows->dilation;
  o.padding = ConvPadding(windows->pads);
  o.groups = c.Int("group", 1);
  return ConvNd(c, x, w, b, o);
}

// A quantised operand without its zero point, as integers that sums of products do not overflow... i32, as
// ONNX has it. The zero point is a scalar or one a row of `axis`.
Tensor Centred(NodeContext& c, const Tensor& x, int zero_input, int64_t axis) {
  Tensor y = x.Cast(dtypes::kInt32);
  if (!c.Has(zero_input)) return y;
  const Tensor zero = c.In(zero_input).Cast(dtypes::kInt32);
  if (zero.numel() == 1) return y - zero.Reshape({});
  if (zero.ndim() > 1) return y - zero;
  Shape along(y.ndim(), 1);
  along[axis] = zero.numel();
  return y - zero.Reshape(along);
}

// round(x scale) + zero of the output's type; x: i32.
Tensor Requantised(const Tensor& x, const Tensor& scale, const Tensor& zero) {
  const DType t = zero.dtype();
  const double low = static_cast<double>(std::get<int64_t>(MinValue(t))),
               high = static_cast<double>(std::get<int64_t>(MaxValue(t)));
  const Tensor y = understudy::Round(x.Cast(dtypes::kFloat32) * scale.Cast(dtypes::kFloat32));
  return (y + zero.Cast(dtypes::kFloat32)).Clamp(low, high).Cast(t);
}

// A scale or zero point for products of matrices: scalars stay, vectors of the left operand become columns.
Tensor PerRow(const Tensor& s, bool left) {
  if (s.numel() == 1) return s.Reshape({});
  return left && s.ndim() == 1 ? s.Unsqueeze(-1) : s;
}

}  // namespace

void MatMul(NodeContext& c) { c.Out(0, understudy::Matmul(c.In(0), c.In(1))); }

void Gemm(NodeContext& c) {
  Tensor a = c.In(0), b = c.In(1);
  if (!c.Want(a.ndim() == 2 && b.ndim() == 2, "operands with ", a.ndim(), " and ", b.ndim(),
              " axes, expected 2"))
    return;
  if (c.Int("transA", 0) != 0) a = a.Transpose();
  if (c.Int("transB", 0) != 0) b = b.Transpose();
  const double alpha = c.Float("alpha", 1), beta = c.Float("beta", 1);
  Tensor y = a.Matmul(b);
  if (alpha != 1) y = (y * alpha).Cast(a.dtype());
  if (c.Has(2) && beta != 0) y = y + (beta == 1 ? c.In(2) : (c.In(2) * beta).Cast(a.dtype()));
  c.Out(0, y);
}

void Conv(NodeContext& c) {
  const Tensor x = c.In(0), w = c.In(1);
  if (!c.Has(2)) return c.Out(0, Convolution(c, x, w, nullptr));
  const Tensor b = c.In(2);
  c.Out(0, Convolution(c, x, w, &b));
}

void ConvTranspose(NodeContext& c) {
  const Tensor x = c.In(0), w = c.In(1);
  if (!c.Want(x.ndim() >= 3 && x.ndim() <= 5 && w.ndim() == x.ndim(), "an input with ", x.ndim(),
              " axes and weights with ", w.ndim()))
    return;
  const int axes = x.ndim() - 2;
  const auto list = [&](const char* name, int64_t otherwise, size_t n) {
    std::vector<int64_t> v = c.IntList(name).value_or(std::vector<int64_t>(n, otherwise));
    if (v.size() != n) c.Bad(name, " has ", v.size(), " entries, expected ", n);
    for (const int64_t i : v) c.Want(i >= 0 && i <= INT32_MAX, name, " ", i);
    v.resize(n, otherwise);
    return v;
  };
  const std::vector<int64_t> stride = list("strides", 1, axes), dilation = list("dilations", 1, axes),
                             extra = list("output_padding", 0, axes);
  std::vector<int64_t> pads = list("pads", 0, 2 * static_cast<size_t>(axes));
  const std::string auto_pad = c.Text("auto_pad", "NOTSET");
  const auto output_shape = c.IntList("output_shape");
  if (!c.ok()) return;
  ConvTransposeOptions o;
  o.stride = stride;
  o.dilation = dilation;
  o.groups = c.Int("group", 1);
  // The whole, then cut (or extended by output_padding) to size.
  Tensor y = axes == 1   ? ConvTranspose1d(x, w, nullptr, o)
             : axes == 2 ? ConvTranspose2d(x, w, nullptr, o)
                         : ConvTranspose3d(x, w, nullptr, o);
  if (!c.Want(y.ok(), std::string(y.status().message()))) return;
  std::vector<std::pair<int64_t, int64_t>> amounts(y.ndim());
  for (int i = 0; i < axes; ++i) {
    const int64_t whole = y.shape()[i + 2] + extra[i];
    if (output_shape || auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
      if (!c.Want(!output_shape || static_cast<int>(output_shape->size()) == axes,
                  "output_shape has another rank"))
        return;
      const int64_t size = output_shape ? (*output_shape)[i] : x.shape()[i + 2] * stride[i];
      const int64_t total = std::max<int64_t>(whole - size, 0), half = total / 2;
      pads[i] = auto_pad == "SAME_UPPER" ? half : total - half;
      pads[i + axes] = total - pads[i];
      amounts[i + 2] = {-pads[i], extra[i] - pads[i + axes] + std::max<int64_t>(size - whole, 0)};
    } else {
      amounts[i + 2] = {-pads[i], extra[i] - pads[i + axes]};
    }
  }
  y = y.Pad(amounts);
  if (c.Has(2)) {
    Shape along(y.ndim(), 1);
    along[1] = -1;
    y = y + c.In(2).Reshape(along);
  }
  c.Out(0, y);
}

void ConvInteger(NodeContext& c) {
  const Tensor x = Centred(c, c.In(0), 2, 1), w = Centred(c, c.In(1), 3, 0);
  c.Out(0, Convolution(c, x, w, nullptr).Cast(dtypes::kInt32));
}

void MatMulInteger(NodeContext& c) {
  Tensor a = c.In(0).Cast(dtypes::kInt32), b = c.In(1).Cast(dtypes::kInt32);
  if (c.Has(2)) a = a - PerRow(c.In(2), true).Cast(dtypes::kInt32);
  if (c.Has(3)) b = b - PerRow(c.In(3), false).Cast(dtypes::kInt32);
  c.Out(0, understudy::Matmul(a, b).Cast(dtypes::kInt32));
}

void QLinearConv(NodeContext& c) {
  const Tensor x = Centred(c, c.In(0), 2, 1), w = Centred(c, c.In(3), 5, 0), zero = c.In(7);
  Tensor scale = c.In(4);
  if (!c.ok()) return;
  Tensor y;
  if (c.Has(8)) {
    const Tensor b = c.In(8);
    y = Convolution(c, x, w, &b);
  } else {
    y = Convolution(c, x, w, nullptr);
  }
  if (!c.ok()) return;
  Shape along(x.ndim(), 1);
  if (scale.numel() != 1) {
    along[1] = scale.numel();
    scale = scale.Reshape(along);
  } else {
    scale = scale.Reshape({});
  }
  c.Out(0, Requantised(y, c.In(1).Reshape({}) * scale / c.In(6).Reshape({}), zero.Reshape({})));
}

void QLinearMatMul(NodeContext& c) {
  const Tensor a = c.In(0).Cast(dtypes::kInt32) - PerRow(c.In(2), true).Cast(dtypes::kInt32);
  const Tensor b = c.In(3).Cast(dtypes::kInt32) - PerRow(c.In(5), false).Cast(dtypes::kInt32);
  const Tensor zero = c.In(7);
  if (!c.ok()) return;
  const Tensor scale = PerRow(c.In(1), true).Cast(dtypes::kFloat32) *
                       PerRow(c.In(4), false).Cast(dtypes::kFloat32) /
                       PerRow(c.In(6), true).Cast(dtypes::kFloat32);
  c.Out(0, Requantised(understudy::Matmul(a, b), scale, PerRow(zero, true)));
}

// Depthwise, over the past inputs that a state carries on.
void CausalConvWithState(NodeContext& c) {
  const Tensor x = c.In(0), w = c.In(1);
  const std::string activation = c.Text("activation", "none");
  if (!c.Want(x.ndim() == 3 && w.ndim() == 3 && w.shape()[2] >= 1, "an input with ", x.ndim(),
              " axes, expected 3"))
    return;
  if (!c.Want(activation == "none" || activation == "silu" || activation == "swish", "activation '",
              activation, "'"))
    return;
  const int64_t k = w.shape()[2];
  const Tensor past =
      c.Has(3) ? c.In(3) : Tensor::Zeros({x.shape()[0], x.shape()[1], k - 1}, c.Options(x.dtype()));
  const Tensor padded = Cat({past, x}, 2);
  ConvOptions o;
  o.groups = x.shape()[1];
  Tensor y;
  if (c.Has(2)) {
    const Tensor b = c.In(2);
    y = Conv1d(padded, w, &b, o);
  } else {
    y = Conv1d(padded, w, nullptr, o);
  }
  if (activation != "none") {
    const Tensor f = y.Cast(dtypes::kFloat32);
    y = (f * f.Sigmoid()).Cast(x.dtype());
  }
  c.Out(0, y);
  if (!c.Want(padded.ok(), std::string(padded.status().message()))) return;
  const int64_t n = padded.shape()[2];
  c.Out(1, Narrow(padded, 2, n - (k - 1), k - 1));
}

// Columns back to images: what falls on one element is added up.
void Col2Im(NodeContext& c) {
  const Tensor x = c.In(0);
  const std::vector<int64_t> image = c.Ints(1), block = c.Ints(2);
  if (!c.ok()) return;
  const auto axes = static_cast<int>(image.size());
  Shape like = {1, 1};
  like.insert(like.end(), image.begin(), image.end());
  const auto windows = ReadWindows(c, like, block);
  if (!windows) return;
  int64_t k = 1;
  for (const int64_t b : block) k *= b;
  if (!c.Want(x.ndim() == 3 && k > 0 && x.shape()[1] % k == 0, "columns ", tensor_internal::Text(x.shape()),
              " of blocks of ", k))
    return;
  const int64_t n = x.shape()[0], channels = x.shape()[1] / k;
  Shape shape = {n, channels};
  shape.insert(shape.end(), block.begin(), block.end());
  shape.insert(shape.end(), windows->count.begin(), windows->count.end());
  Tensor y = x.Reshape(shape);
  // Axis by axis: {kernel, count} becomes one axis of the padded image.
  for (int i = 0; i < axes; ++i) {
    const int64_t kernel_axis = 2 + i, size = image[i] + windows->pads[i].first + windows->pads[i].second;
    y = PlaceAxis(y, kernel_axis, y.ok() ? 2 + axes : 0, size, windows->stride[i], windows->dilation[i]);
  }
  std::vector<std::pair<int64_t, int64_t>> cut(2 + axes);
  for (int i = 0; i < axes; ++i) cut[i + 2] = {-windows->pads[i].first, -windows->pads[i].second};
  c.Out(0, y.Pad(cut));
}

}  // namespace understudy::onnx::ops
