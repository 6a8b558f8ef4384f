// SPDX-License-Identifier: Apache-2.0
// Reductions, scans, softmaxes and selections of the greatest. Sums keep the element type (ONNX), where
// PyTorch widens integers.
#include <cmath>

#include "src/tensor/elementwise_ops.h"
#include "src/tensor/embedding.h"
#include "src/tensor/gather.h"
#include "src/tensor/internal.h"
#include "src/tensor/linalg.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/onnx/ops.h"
#include "src/tensor/reduce_ops.h"
#include "src/tensor/scan.h"
#include "src/tensor/sort.h"

namespace understudy::onnx::ops {
namespace {

using Reduction = Tensor (*)(const Tensor& x, const std::vector<int64_t>& axes, bool keepdims);

// The axes: an attribute before `since`, input 1 after. No axes: all, or none with noop_with_empty_axes; then
// `alone` is applied to each element.
void Reduce(NodeContext& c, int64_t since, Reduction f, Tensor (*alone)(const Tensor&) = nullptr) {
  const Tensor x = c.In(0);
  std::vector<int64_t> axes;
  if (c.opset() < since)
    axes = c.IntList("axes").value_or(axes);
  else if (c.Has(1))
    axes = c.Ints(1);
  if (!c.ok()) return;
  if (axes.empty() && c.Int("noop_with_empty_axes", 0) != 0) return c.Out(0, alone == nullptr ? x : alone(x));
  const bool keep = c.Int("keepdims", 1) != 0;
  if (axes.empty()) {
    for (int64_t i = 0; i < x.ndim(); ++i) axes.push_back(i);
  }
  for (int64_t& a : axes) a = c.Axis(a, x.ndim());
  if (!c.ok()) return;
  // A tensor without axes has itself as the only element.
  if (x.ndim() == 0) return c.Out(0, f(x.Reshape({1}), {0}, false));
  c.Out(0, f(x, axes, keep));
}

Tensor SumOf(const Tensor& x, const std::vector<int64_t>& axes, bool keep) {
  return x.Sum(axes, keep).Cast(x.dtype());
}

bool IsEmptyOver(const Tensor& x, const std::vector<int64_t>& axes) {
  for (const int64_t a : axes) {
    if (x.shape()[a] == 0) return true;
  }
  return false;
}
Tensor Filled(const Tensor& x, const std::vector<int64_t>& axes, bool keep, Number value) {
  Shape shape;
  for (int64_t i = 0; i < x.ndim(); ++i) {
    const bool gone = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!gone || keep) shape.push_back(gone ? 1 : x.shape()[i]);
  }
  return Tensor::Full(shape, value, {x.dtype(), x.device()});
}
// The extremum of nothing is the type's other end (infinite for floats).
Tensor MaxOf(const Tensor& x, const std::vector<int64_t>& axes, bool keep) {
  if (!IsEmptyOver(x, axes)) return x.Max(axes, keep);
  if (x.dtype().IsFloat()) return Filled(x, axes, keep, -INFINITY);
  return Filled(x, axes, keep, std::get<int64_t>(MinValue(x.dtype())));
}
Tensor MinOf(const Tensor& x, const std::vector<int64_t>& axes, bool keep) {
  if (!IsEmptyOver(x, axes)) return x.Min(axes, keep);
  if (x.dtype().IsFloat()) return Filled(x, axes, keep, INFINITY);
  return Filled(x, axes, keep, std::get<int64_t>(MaxValue(x.dtype())));
}

}  // namespace

void ReduceSum(NodeContext& c) { Reduce(c, 13, SumOf); }
void ReduceMean(NodeContext& c) {
  Reduce(c, 18, [](const Tensor& x, const std::vector<int64_t>& axes, bool keep) {
    if (x.dtype().IsFloat()) return x.Mean(axes, keep);
    int64_t n = 1;
    for (const int64_t a : axes) n *= x.shape()[a];
    return x.Sum(axes, keep).TruncDiv(n).Cast(x.dtype());
  });
}
void ReduceProd(NodeContext& c) {
  Reduce(c, 18, [](const Tensor& x, const std::vector<int64_t>& axes, bool keep) {
    return x.Prod(axes, keep).Cast(x.dtype());
  });
}
void ReduceMax(NodeContext& c) { Reduce(c, 18, MaxOf); }
void ReduceMin(NodeContext& c) { Reduce(c, 18, MinOf); }
void ReduceSumSquare(NodeContext& c) {
  Reduce(
      c, 18,
      [](const Tensor& x, const std::vector<int64_t>& axes, bool keep) {
        return SumOf(x.Square(), axes, keep);
      },
      [](const Tensor& x) { return x.Square(); });
}
void ReduceL1(NodeContext& c) {
  Reduce(
      c, 18,
      [](const Tensor& x, const std::vector<int64_t>& axes, bool keep) { return SumOf(x.Abs(), axes, keep); },
      [](const Tensor& x) { return x.Abs(); });
}
void ReduceL2(NodeContext& c) {
  Reduce(
      c, 18,
      [](const Tensor& x, const std::vector<int64_t>& axes, bool keep) {
        return SumOf(x.Square(), axes, keep).Sqrt().Cast(x.dtype());
      },
      [](const Tensor& x) { return x.Abs(); });
}
void ReduceLogSum(NodeContext& c) {
  Reduce(
      c, 18,
      [](const Tensor& x, const std::vector<int64_t>& axes, bool keep) {
        return SumOf(x, axes, keep).Log().Cast(x.dtype());
      },
      [](const Tensor& x) { return x.Log(); });
}
void ReduceLogSumExp(NodeContext& c) {
  Reduce(
      c, 18,
      [](const Tensor& x, const std::vector<int64_t>& axes, bool keep) {
        if (IsEmptyOver(x, axes)) return Filled(x, axes, keep, -INFINITY);
        return Logsumexp(x, axes, keep).Cast(x.dtype());
      },
      [](const Tensor& x) { return x; });
}

namespace {

void Arg(NodeContext& c, bool greatest) {
  Tensor x = c.In(0);
  const int64_t axis = c.Axis(c.Int("axis", 0), x.ndim());
  const bool keep = c.Int("keepdims", 1) != 0, last = c.Int("select_last_index", 0) != 0;
  if (!c.ok()) return;
  if (last) x = x.Flip({axis});
  Tensor i = greatest ? Argmax(x, axis, keep) : Argmin(x, axis, keep);
  if (last) i = Number(x.shape()[axis] - 1) - i;
  c.Out(0, i);
}

void Cumulative(NodeContext& c, bool product) {
  Tensor x = c.In(0);
  const DType dtype = x.dtype();
  const int64_t axis = c.Axis(c.IntOf(1), x.ndim());
  const bool exclusive = c.Int("exclusive", 0) != 0, reverse = c.Int("reverse", 0) != 0;
  if (!c.ok()) return;
  if (reverse) x = x.Flip({axis});
  if (exclusive) {
    // Moved by one element; the identity comes in.
    std::vector<std::pair<int64_t, int64_t>> move(x.ndim());
    move[axis] = {1, -1};
    x = x.Pad(move, product ? 1 : 0);
  }
  Tensor y = (product ? Cumprod(x, axis) : Cumsum(x, axis)).Cast(dtype);
  if (reverse) y = y.Flip({axis});
  c.Out(0, y);
}

// Before version 13 the tensor is seen as a matrix whose rows begin at `axis`.
void OverAxis(NodeContext& c, Tensor (*f)(const Tensor&, int64_t)) {
  const Tensor x = c.In(0);
  if (c.opset() >= 13) {
    const int64_t axis = c.Axis(c.Int("axis", -1), x.ndim());
    if (c.ok()) c.Out(0, f(x, axis));
    return;
  }
  const int64_t axis = c.Axis(c.Int("axis", 1), x.ndim());
  if (!c.ok()) return;
  const Shape& s = x.shape();
  const int64_t rows = tensor_internal::Product(Shape(s.begin(), s.begin() + axis));
  const int64_t cols = tensor_internal::Product(Shape(s.begin() + axis, s.end()));
  c.Out(0, f(x.Reshape({rows, cols}), 1).Reshape(s));
}

}  // namespace

void ArgMax(NodeContext& c) { Arg(c, true); }
void ArgMin(NodeContext& c) { Arg(c, false); }
void CumSum(NodeContext& c) { Cumulative(c, false); }
void CumProd(NodeContext& c) { Cumulative(c, true); }
void Softmax(NodeContext& c) {
  OverAxis(c, [](const Tensor& x, int64_t axis) { return x.Softmax(axis); });
}
void LogSoftmax(NodeContext& c) {
  OverAxis(c, [](const Tensor& x, int64_t axis) { return x.LogSoftmax(axis); });
}
void Hardmax(NodeContext& c) {
  OverAxis(c, [](const Tensor& x, int64_t axis) {
    Shape along(x.ndim(), 1);
    along[axis] = x.shape()[axis];
    const Tensor i = Tensor::Arange(0, x.shape()[axis], 1, {dtypes::kInt64, x.device()}).Reshape(along);
    return i.Eq(x.Argmax(axis, true)).Cast(x.dtype());
  });
}

void TopK(NodeContext& c) {
  const Tensor x = c.In(0);
  const int64_t k = c.opset() < 10 ? c.Int("k", 0) : c.IntOf(1);
  const int64_t axis = c.Axis(c.Int("axis", -1), x.ndim());
  if (!c.ok()) return;
  const ValuesAndIndices r = Topk(x, k, axis, c.Int("largest", 1) != 0);
  c.Out(0, r.values);
  c.Out(1, r.indices);
}

void LpNormalization(NodeContext& c) {
  const Tensor x = c.In(0);
  const int64_t axis = c.Axis(c.Int("axis", -1), x.ndim()), p = c.Int("p", 2);
  if (!c.Want(p == 1 || p == 2, "p ", p, ", expected 1 or 2")) return;
  const Tensor norm = VectorNorm(x, static_cast<double>(p), {axis}, true);
  c.Out(0, understudy::Where(norm.Eq(0), 0, x / norm).Cast(x.dtype()));
}

void OneHot(NodeContext& c) {
  const Tensor values = c.In(2);
  const int64_t depth = static_cast<int64_t>(c.DoubleOf(1));
  Tensor index = c.In(0).Cast(dtypes::kInt64);
  const int64_t rank = index.ndim() + 1;
  const int64_t axis = c.Axis(c.Int("axis", -1), rank);
  if (!c.Want(depth >= 0 && values.numel() == 2, "depth ", depth, ", ", values.numel(), " values")) return;
  index = understudy::Where(index < 0, index + depth, index).Unsqueeze(axis);
  Shape along(rank, 1);
  along[axis] = depth;
  const Tensor i = Tensor::Arange(0, depth, 1, c.Options(dtypes::kInt64)).Reshape(along);
  const Tensor off_on = values.Reshape({2});
  c.Out(0, understudy::Where(i.Eq(index), Select(off_on, 0, 1), Select(off_on, 0, 0)), c.TypeOf(2));
}

}  // namespace understudy::onnx::ops
