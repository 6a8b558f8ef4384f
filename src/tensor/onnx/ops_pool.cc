// SPDX-License-Identifier: Apache-2.0
// Pools: reductions of windows, with ONNX's padding, rounding of sizes and indices.
#include <algorithm>
#include <cmath>

#include "src/tensor/elementwise_ops.h"
#include "src/tensor/gather.h"
#include "src/tensor/internal.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/onnx/ops.h"
#include "src/tensor/onnx/windows.h"

namespace understudy::onnx::ops {
namespace {

std::optional<SpatialWindows> PoolWindows(NodeContext& c, const Tensor& x) {
  const auto kernel = c.IntList("kernel_shape");
  if (!c.Want(kernel.has_value(), "attribute 'kernel_shape' is missing")) return std::nullopt;
  return ReadWindows(c, x.shape(), *kernel, c.Int("ceil_mode", 0) != 0);
}

std::vector<int64_t> KernelAxes(const SpatialWindows& w) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < w.kernel.size(); ++i) axes.push_back(static_cast<int64_t>(2 + w.kernel.size() + i));
  return axes;
}

// How many elements of the input (with `with_pads`: and of its padding) each window has: {count...}.
Tensor Counts(NodeContext& c, const SpatialWindows& w, const Shape& input, bool with_pads) {
  Tensor all;
  const size_t axes = w.kernel.size();
  for (size_t i = 0; i < axes; ++i) {
    if (!c.Want(w.count[i] <= (1 << 24), w.count[i], " windows along an axis")) return Tensor(c.status());
    std::vector<float> counts;
    const int64_t low = with_pads ? -w.pads[i].first : 0;
    const int64_t high = input[i + 2] + (with_pads ? w.pads[i].second : 0);
    for (int64_t o = 0; o < w.count[i]; ++o) {
      const int64_t first = o * w.stride[i] - w.pads[i].first;
      // Of first + j d for j in [0, k): those in [low, high).
      const int64_t d = w.dilation[i], k = w.kernel[i];
      const int64_t from = first >= low ? 0 : (low - first + d - 1) / d;
      const int64_t to = high <= first ? 0 : std::min(k, (high - first + d - 1) / d);
      const int64_t n = std::max<int64_t>(to - from, 0);
      counts.push_back(static_cast<float>(n));
    }
    Shape along(axes, 1);
    along[i] = w.count[i];
    const Tensor t = c.Host(counts, along);
    all = i == 0 ? t : all * t;
  }
  return all;
}

}  // namespace

void AveragePool(NodeContext& c) {
  const Tensor x = c.In(0);
  if (!c.ok()) return;
  const auto w = PoolWindows(c, x);
  if (!w) return;
  const Tensor sum = WindowsOf(x, *w, 0).Cast(AccType(x.dtype())).Sum(KernelAxes(*w));
  const Tensor counts = Counts(c, *w, x.shape(), c.Int("count_include_pad", 0) != 0);
  c.Out(0, (sum / counts.Cast(sum.dtype())).Cast(x.dtype()));
}

void LpPool(NodeContext& c) {
  const Tensor x = c.In(0);
  if (!c.ok()) return;
  const auto w = PoolWindows(c, x);
  if (!w) return;
  const int64_t p = c.Int("p", 2);
  if (!c.Want(p >= 1, "p ", p)) return;
  const Tensor a = WindowsOf(x, *w, 0).Abs();
  const Tensor sum = (p == 1 ? a : p == 2 ? a.Square() : a.Pow(p)).Sum(KernelAxes(*w));
  c.Out(0, p == 1 ? sum : p == 2 ? sum.Sqrt() : sum.Pow(1.0 / static_cast<double>(p)));
}

void MaxPool(NodeContext& c) {
  const Tensor x = c.In(0);
  if (!c.ok()) return;
  const auto w = PoolWindows(c, x);
  if (!w) return;
  const Number least =
      x.dtype().IsFloat() ? Number(-INFINITY) : Number(std::get<int64_t>(MinValue(x.dtype())));
  const Tensor windows = WindowsOf(x, *w, least);
  const std::vector<int64_t> axes = KernelAxes(*w);
  const Tensor y = windows.Max(axes);
  c.Out(0, y);
  if (!c.Wants(1)) return;
  // The position in the whole input of the first element of a window that is its maximum; row-major order of
  // the spatial axes, or column-major.
  const size_t rank = w->kernel.size();
  const bool columns = c.Int("storage_order", 0) != 0;
  Tensor position, inside;
  int64_t spatial = 1;
  for (size_t i = 0; i < rank; ++i) spatial *= x.shape()[i + 2];
  for (size_t i = 0; i < rank; ++i) {
    int64_t step = 1;
    for (size_t k = 0; k < rank; ++k) {
      if (columns ? k < i : k > i) step *= x.shape()[k + 2];
    }
    Shape starts(2 * rank, 1), offsets(2 * rank, 1);
    starts[i] = w->count[i];
    offsets[rank + i] = w->kernel[i];
    const Tensor start =
        Tensor::Arange(0, w->count[i], 1, c.Options(dtypes::kInt64)).Reshape(starts) * w->stride[i];
    const Tensor offset =
        Tensor::Arange(0, w->kernel[i], 1, c.Options(dtypes::kInt64)).Reshape(offsets) * w->dilation[i];
    const Tensor at = start + offset - w->pads[i].first;
    const Tensor in = LogicalAnd(at >= 0, at < x.shape()[i + 2]);
    position = i == 0 ? at * step : position + at * step;
    inside = i == 0 ? in : LogicalAnd(inside, in);
  }
  // Ties go to the first in the window's own order, so that both orders name the same element.
  Tensor order;
  for (size_t i = 0; i < rank; ++i) {
    Shape offsets(2 * rank, 1);
    offsets[rank + i] = w->kernel[i];
    const Tensor j = Tensor::Arange(0, w->kernel[i], 1, c.Options(dtypes::kInt64)).Reshape(offsets);
    order = i == 0 ? j : order * w->kernel[i] + j;
  }
  Tensor top = y;
  for (size_t i = 0; i < rank; ++i) top = top.Unsqueeze(-1);
  const Tensor equal = LogicalOr(windows.Eq(top), LogicalAnd(windows.Ne(windows), top.Ne(top)));
  const Tensor candidate = LogicalAnd(equal, inside);
  constexpr int64_t kFar = int64_t{1} << 40;
  Tensor first = understudy::Where(candidate, order, kFar).Min(axes, true);
  const Tensor place = understudy::Where(LogicalAnd(candidate, order.Eq(first)), position, 0).Sum(axes);
  const Tensor plane = Tensor::Arange(0, x.shape()[0] * x.shape()[1], 1, c.Options(dtypes::kInt64)) * spatial;
  Shape planes(2 + rank, 1);
  planes[0] = x.shape()[0];
  planes[1] = x.shape()[1];
  c.Out(1, place + plane.Reshape(planes));
}

namespace {
std::vector<int64_t> SpatialAxes(NodeContext& c, const Tensor& x) {
  std::vector<int64_t> axes;
  for (int64_t i = 2; i < x.ndim(); ++i) axes.push_back(i);
  c.Want(!axes.empty(), "an input with ", x.ndim(), " axes");
  return axes;
}
}  // namespace

void GlobalAveragePool(NodeContext& c) {
  const Tensor x = c.In(0);
  const auto axes = SpatialAxes(c, x);
  if (c.ok()) c.Out(0, x.Mean(axes, true));
}
void GlobalMaxPool(NodeContext& c) {
  const Tensor x = c.In(0);
  const auto axes = SpatialAxes(c, x);
  if (c.ok()) c.Out(0, x.Max(axes, true));
}
void GlobalLpPool(NodeContext& c) {
  const Tensor x = c.In(0);
  const auto axes = SpatialAxes(c, x);
  const auto p = static_cast<double>(c.Int("p", 2));
  if (c.ok()) c.Out(0, x.Abs().Pow(p).Sum(axes, true).Pow(1 / p));
}

// Values at their positions in the whole output, zeros elsewhere.
void MaxUnpool(NodeContext& c) {
  const Tensor x = c.In(0), indices = c.In(1);
  if (!c.ok()) return;
  const std::vector<int64_t> kernel = c.IntList("kernel_shape").value_or(std::vector<int64_t>{});
  const size_t axes = kernel.size();
  const std::vector<int64_t> stride = c.IntList("strides").value_or(std::vector<int64_t>(axes, 1));
  const std::vector<int64_t> pads = c.IntList("pads").value_or(std::vector<int64_t>(2 * axes, 0));
  if (!c.Want(x.ndim() == static_cast<int>(axes) + 2 && stride.size() == axes && pads.size() == 2 * axes &&
                  indices.shape() == x.shape(),
              "a kernel over ", axes, " axes of ", tensor_internal::Text(x.shape()))) {
    return;
  }
  Shape inferred = {x.shape()[0], x.shape()[1]};
  for (size_t i = 0; i < axes; ++i) {
    inferred.push_back((x.shape()[i + 2] - 1) * stride[i] - pads[i] - pads[i + axes] + kernel[i]);
    if (!c.Want(inferred.back() >= 0, "a size of ", inferred.back())) return;
  }
  const int64_t n = tensor_internal::Product(inferred);
  Tensor y = understudy::Scatter(Tensor::Zeros({n}, c.Options(x.dtype())), 0,
                                 indices.Reshape({x.numel()}).Cast(dtypes::kInt64), x.Reshape({x.numel()}))
                 .Reshape(inferred);
  if (c.Has(2)) {
    const std::vector<int64_t> shape = c.Ints(2);
    if (!c.Want(shape.size() == inferred.size(), "output_shape has another rank")) return;
    std::vector<std::pair<int64_t, int64_t>> more;
    for (size_t i = 0; i < shape.size(); ++i) more.emplace_back(0, shape[i] - inferred[i]);
    y = y.Pad(more);
  }
  c.Out(0, y);
}

}  // namespace understudy::onnx::ops
