// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/reduce_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/status.h"
#include "src/tensor/gather.h"
#include "src/tensor/internal.h"

namespace understudy {

using tensor_internal::Axes;
using tensor_internal::Axis;
using tensor_internal::Bad;
using tensor_internal::ComputeType;
using tensor_internal::FloatType;
using tensor_internal::Text;

namespace {

using Dims = std::vector<int64_t>;

Tensor As(const Tensor& x, std::optional<DType> dtype) { return dtype ? x.Cast(*dtype) : x; }

// As PyTorch: a tensor of rank 0 may be reduced over axis 0, as if it had one.
Dims Of(const Tensor& x, const Dims& dim) {
  if (x.ok() && x.ndim() == 0 && dim.size() == 1 && (dim[0] == 0 || dim[0] == -1)) return {};
  return dim;
}

absl::Status WantFloats(const char* op, DType t) {
  if (t.IsFloat()) return absl::OkStatus();
  return Bad(op, "dtype ", t.Name(), ", expected floats (Cast first)");
}

// How many elements the axes hold together.
absl::StatusOr<int64_t> Count(const char* op, const Tensor& x, const Dims& dim) {
  US_ASSIGN_OR_RETURN(const Dims axes, Axes(op, dim, x.ndim()));
  int64_t n = 1;
  for (const int64_t a : axes) n *= x.shape()[a];
  return n;
}

Tensor NotZero(const Tensor& x) { return x.dtype().IsBool() ? x : x.Ne(0); }

// The index along `axis` of the first element where `hit` holds (n where none does).
Tensor FirstIndex(const Tensor& hit, int64_t axis, bool keepdim) {
  const int64_t n = hit.shape()[axis];
  const Tensor index = tensor_internal::PositionsAlong(hit, axis);
  return Where(hit, index, n).Min({axis}, keepdim);
}

Tensor ArgExtremum(const char* op, const Tensor& x, std::optional<int64_t> dim, bool keepdim, bool max) {
  if (!x.ok()) return x;
  if (!dim) {
    if (x.numel() == 0)
      return Tensor(Bad(op, "shape ", Text(x.shape()), " has no elements, expected at least one"));
    const Tensor flat = ArgExtremum(op, x.Reshape({-1}), 0, false, max);
    return keepdim ? flat.Reshape(Shape(x.ndim(), 1)) : flat;
  }
  if (x.ndim() == 0) return ArgExtremum(op, x.Reshape({1}), *dim, false, max);
  const auto axis = Axis(op, *dim, x.ndim());
  if (!axis.ok()) return Tensor(axis.status());
  if (x.shape()[*axis] == 0) {
    return Tensor(
        Bad(op, "axis ", *axis, " of shape ", Text(x.shape()), " has no elements, expected at least one"));
  }
  const Tensor top = max ? x.Max({*axis}, true) : x.Min({*axis}, true);
  Tensor hit = x.Eq(top);
  if (x.dtype().IsFloat()) hit = hit.BitOr(x.IsNan());
  return FirstIndex(hit, *axis, keepdim);
}

ValuesAndIndices Extremum(const char* op, const Tensor& x, int64_t dim, bool keepdim, bool max) {
  if (!x.ok()) return {x, x};
  if (x.ndim() == 0) {
    const auto axis = Axis(op, dim, 1);
    if (!axis.ok()) return {Tensor(axis.status()), Tensor(axis.status())};
    return {x, Tensor::Zeros({}, {dtypes::kInt64, x.device()})};
  }
  const Tensor at = ArgExtremum(op, x, dim, true, max);
  if (!at.ok()) return {at, at};
  const Tensor values = Gather(x, dim, at);
  return keepdim ? ValuesAndIndices{values, at} : ValuesAndIndices{values.Squeeze(dim), at.Squeeze(dim)};
}

}  // namespace

Tensor Sum(const Tensor& x, const Dims& dim, bool keepdim, std::optional<DType> dtype) {
  return As(x, dtype).Sum(Of(x, dim), keepdim);
}
Tensor Prod(const Tensor& x, const Dims& dim, bool keepdim, std::optional<DType> dtype) {
  return As(x, dtype).Prod(Of(x, dim), keepdim);
}
Tensor Mean(const Tensor& x, const Dims& dim, bool keepdim, std::optional<DType> dtype) {
  return As(x, dtype).Mean(Of(x, dim), keepdim);
}
Tensor Nansum(const Tensor& input, const Dims& dim0, bool keepdim, std::optional<DType> dtype) {
  const Tensor x = As(input, dtype);
  const Dims dim = Of(x, dim0);
  if (!x.ok() || !x.dtype().IsFloat()) return x.Sum(dim, keepdim);
  return Where(x.IsNan(), 0.0, x).Sum(dim, keepdim);
}
Tensor Nanmean(const Tensor& input, const Dims& dim0, bool keepdim, std::optional<DType> dtype) {
  const Tensor x = As(input, dtype);
  const Dims dim = Of(x, dim0);
  if (!x.ok()) return x;
  if (absl::Status s = WantFloats("Nanmean", x.dtype()); !s.ok()) return Tensor(s);
  const DType acc = AccType(x.dtype());
  const Tensor count = x.IsNan().LogicalNot().Cast(acc).Sum(dim, keepdim);
  return (Nansum(x.Cast(acc), dim, keepdim) / count).Cast(x.dtype());
}

Tensor Any(const Tensor& x, const Dims& dim0, bool keepdim) {
  if (!x.ok()) return x;
  const Dims dim = Of(x, dim0);
  const auto n = Count("Any", x, dim);
  if (!n.ok()) return Tensor(n.status());
  if (*n == 0) return NotZero(x).Cast(dtypes::kInt32).Sum(dim, keepdim).Ne(0);
  return NotZero(x).Max(dim, keepdim);
}
Tensor All(const Tensor& x, const Dims& dim0, bool keepdim) {
  if (!x.ok()) return x;
  const Dims dim = Of(x, dim0);
  const auto n = Count("All", x, dim);
  if (!n.ok()) return Tensor(n.status());
  if (*n == 0) return NotZero(x).Cast(dtypes::kInt32).Prod(dim, keepdim).Ne(0);
  return NotZero(x).Min(dim, keepdim);
}
Tensor CountNonzero(const Tensor& x, const Dims& dim) {
  if (!x.ok()) return x;
  return NotZero(x).Sum(Of(x, dim));
}

std::pair<Tensor, Tensor> VarMean(const Tensor& x, const Dims& dim0, double correction, bool keepdim) {
  const Dims dim = Of(x, dim0);
  const auto all = [](const absl::Status& s) { return std::pair<Tensor, Tensor>(Tensor(s), Tensor(s)); };
  if (!x.ok()) return all(x.status());
  if (absl::Status s = WantFloats("Var", x.dtype()); !s.ok()) return all(s);
  const auto n = Count("Var", x, dim);
  if (!n.ok()) return all(n.status());
  const Tensor wide = x.Cast(AccType(x.dtype())), mean = wide.Mean(dim, true);
  const Tensor squares = (wide - mean).Square().Sum(dim, keepdim);
  const auto count = tensor_internal::ElementsAlong(wide, *Axes("Var", dim, x.ndim()), wide.dtype());
  const Tensor var = (squares / tensor_internal::LessCorrection(count, correction)).Cast(x.dtype());
  return {var, (keepdim ? mean : mean.Reshape(var.shape())).Cast(x.dtype())};
}
std::pair<Tensor, Tensor> StdMean(const Tensor& x, const Dims& dim, double correction, bool keepdim) {
  if (!x.ok()) return {x, x};
  const auto [var, mean] = VarMean(x.Cast(AccType(x.dtype())), dim, correction, keepdim);
  if (!var.ok()) return {var, var};
  // The slope of the root at 0 is infinite; PyTorch's gradient there is 0.
  const Tensor zero = var.Eq(0.0);
  return {Where(zero, 0.0, Where(zero, 1.0, var).Sqrt()).Cast(x.dtype()), mean.Cast(x.dtype())};
}
Tensor Var(const Tensor& x, const Dims& dim, double correction, bool keepdim) {
  return VarMean(x, dim, correction, keepdim).first;
}
Tensor Std(const Tensor& x, const Dims& dim, double correction, bool keepdim) {
  return StdMean(x, dim, correction, keepdim).first;
}

Tensor Amax(const Tensor& x, const Dims& dim, bool keepdim) { return x.Max(Of(x, dim), keepdim); }
Tensor Amin(const Tensor& x, const Dims& dim, bool keepdim) { return x.Min(Of(x, dim), keepdim); }
std::pair<Tensor, Tensor> Aminmax(const Tensor& x, std::optional<int64_t> dim, bool keepdim) {
  const Dims dims = dim && x.ndim() > 0 ? Dims{*dim} : Dims{};
  return {x.Min(dims, keepdim), x.Max(dims, keepdim)};
}
ValuesAndIndices Max(const Tensor& x, int64_t dim, bool keepdim) {
  return Extremum("Max", x, dim, keepdim, true);
}
ValuesAndIndices Min(const Tensor& x, int64_t dim, bool keepdim) {
  return Extremum("Min", x, dim, keepdim, false);
}
Tensor Argmax(const Tensor& x, std::optional<int64_t> dim, bool keepdim) {
  return ArgExtremum("Argmax", x, dim, keepdim, true);
}
Tensor Argmin(const Tensor& x, std::optional<int64_t> dim, bool keepdim) {
  return ArgExtremum("Argmin", x, dim, keepdim, false);
}

Tensor Logsumexp(const Tensor& x, const Dims& dim0, bool keepdim) {
  if (!x.ok()) return x;
  const Dims dim = Of(x, dim0);
  const auto n = Count("Logsumexp", x, dim);
  if (!n.ok()) return Tensor(n.status());
  const DType out = FloatType(x.dtype()), t = ComputeType(out);
  const Tensor wide = x.Cast(t);
  // The sum of nothing is 0, whose logarithm is minus infinity.
  if (*n == 0) return wide.Sum(dim, keepdim).Log().Cast(out);
  // Infinite maxima shift nothing: inf - inf would be NaN.
  const double inf = std::numeric_limits<double>::infinity();
  Tensor top = wide.Max(dim, true).Detach();
  top = Where(top.Eq(inf).BitOr(top.Eq(-inf)), 0.0, top);
  const Tensor sum = (wide - top).Exp().Sum(dim, keepdim);
  return (sum.Log() + top.Reshape(sum.shape())).Cast(out);
}

Tensor Softmax(const Tensor& x, int64_t dim, std::optional<DType> dtype) {
  const Tensor t = As(x, dtype);
  return t.ok() && t.ndim() == 0 ? t.Reshape({1}).Softmax(dim).Reshape({}) : t.Softmax(dim);
}
Tensor LogSoftmax(const Tensor& x, int64_t dim, std::optional<DType> dtype) {
  const Tensor t = As(x, dtype);
  return t.ok() && t.ndim() == 0 ? t.Reshape({1}).LogSoftmax(dim).Reshape({}) : t.LogSoftmax(dim);
}

}  // namespace understudy
