// SPDX-License-Identifier: Apache-2.0
// Reductions. Floats accumulate in AccType and are rounded once; integers answer in SumResultType.
#include <algorithm>

#include "src/base/status.h"
#include "src/tensor/internal.h"
#include "src/uop/sizes.h"

namespace understudy {

using tensor_internal::Axes;
using tensor_internal::Bad;
using tensor_internal::Combine;
using tensor_internal::Text;

namespace {

Shape WithoutAxes(const Shape& shape, const std::vector<int64_t>& axes) {
  Shape out;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!std::count(axes.begin(), axes.end(), static_cast<int64_t>(i))) out.push_back(shape[i]);
  }
  return out;
}

// Reduces in `acc` and answers in `out`.
Tensor Reduced(const char* name, const Tensor& t, Op op, const std::vector<int64_t>& axes, bool keepdim,
               DType acc, DType out) {
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    US_ASSIGN_OR_RETURN(const std::vector<int64_t> a, Axes(name, axes, t.ndim()));
    if (op == Op::kMax || op == Op::kMin) {
      for (const int64_t axis : a) {
        if (t.shape()[axis] == 0) {
          return Bad(name, "axis ", axis, " of shape ", Text(t.shape()),
                     " has no elements, expected at least one");
        }
        const UOpRef length = uop::LengthOf(t.uop(), static_cast<size_t>(axis));
        const auto exists = uop::SizeValue(length);
        if (exists.ok() && *exists == 0) {
          return Bad(name, "axis ", axis, " of size ", uop::SizeText(length),
                     " = 0 has no elements, expected at least one");
        }
      }
    }
    UOpRef x = uop::Cast(t.uop(), acc);
    if (!a.empty()) x = uop::ReduceAxis(x, op, a);
    x = uop::Cast(x, out);
    return keepdim ? x : uop::Reshape(x, WithoutAxes(t.shape(), a));
  };
  if (!t.ok()) return t;
  return Combine(name, {&t}, make());
}

DType SumAcc(DType t) { return t.IsFloat() ? AccType(t) : SumResultType(t); }

absl::Status WantFloats(const char* op, DType t) {
  if (t.IsFloat()) return absl::OkStatus();
  return Bad(op, "dtype ", t.Name(), ", expected floats (Cast first)");
}

}  // namespace

namespace tensor_internal {

Operand ElementsAlong(const Tensor& x, const std::vector<int64_t>& axes, DType dtype) {
  int64_t n = 1;
  Tensor variable;
  for (const int64_t axis : axes) {
    const UOpRef length = uop::LengthOf(x.uop(), static_cast<size_t>(axis));
    if (length->IsConst()) {
      n *= length->const_int();
      continue;
    }
    const Tensor t(uop::Cast(length, dtypes::kInt64), x.device());
    variable = variable.ok() ? variable * t : t;
  }
  if (!variable.ok()) return static_cast<double>(n);
  return (variable * n).Cast(dtype);
}

Operand LessCorrection(const Operand& count, double correction) {
  if (count.number() != nullptr) return std::max(0.0, count.number()->as_double() - correction);
  return (*count.tensor() - correction).Maximum(0.0);
}

Tensor PositionsAlong(const Tensor& x, int64_t axis) {
  Shape along(x.ndim(), 1);
  const int64_t n = along[axis] = x.shape()[axis];
  const Tensor all = Tensor::Arange(0, n, 1, {dtypes::kInt64, x.device()}).Reshape(along);
  std::vector<UOpRef> sizes(along.size());
  if (!x.uop()->sizes().empty()) sizes[axis] = x.uop()->sizes()[axis];
  return Tensor(uop::Sized(all.uop(), sizes), x.device());
}

absl::Status FixedSizes(const char* op, const Tensor& x) {
  if (!x.ok()) return x.status();
  for (size_t i = 0; i < x.uop()->sizes().size(); ++i) {
    if (x.uop()->sizes()[i] == nullptr) continue;
    return absl::UnimplementedError(absl::StrCat(op, ": axis ", i, " of variable size ",
                                                 uop::SizeText(x.uop()->sizes()[i]),
                                                 ", expected fixed sizes"));
  }
  return absl::OkStatus();
}

}  // namespace tensor_internal

Tensor Tensor::Sum(const std::vector<int64_t>& axes, bool keepdim) const {
  return Reduced("Sum", *this, Op::kAdd, axes, keepdim, SumAcc(dtype()), SumResultType(dtype()));
}
Tensor Tensor::Prod(const std::vector<int64_t>& axes, bool keepdim) const {
  return Reduced("Prod", *this, Op::kMul, axes, keepdim, SumAcc(dtype()), SumResultType(dtype()));
}
Tensor Tensor::Max(const std::vector<int64_t>& axes, bool keepdim) const {
  return Reduced("Max", *this, Op::kMax, axes, keepdim, dtype(), dtype());
}
Tensor Tensor::Min(const std::vector<int64_t>& axes, bool keepdim) const {
  return Reduced("Min", *this, Op::kMin, axes, keepdim, dtype(), dtype());
}

Tensor Tensor::Mean(const std::vector<int64_t>& axes, bool keepdim) const {
  if (!ok()) return *this;
  if (absl::Status s = WantFloats("Mean", dtype()); !s.ok()) return Tensor(s);
  const auto a = Axes("Mean", axes, ndim());
  if (!a.ok()) return Tensor(a.status());
  const DType acc = AccType(dtype());
  return (Reduced("Mean", *this, Op::kAdd, axes, keepdim, acc, acc) /
          tensor_internal::ElementsAlong(*this, *a, acc))
      .Cast(dtype());
}

Tensor Tensor::Var(const std::vector<int64_t>& axes, int64_t correction, bool keepdim) const {
  if (!ok()) return *this;
  if (absl::Status s = WantFloats("Var", dtype()); !s.ok()) return Tensor(s);
  const auto a = Axes("Var", axes, ndim());
  if (!a.ok()) return Tensor(a.status());
  const Tensor x = Cast(AccType(dtype()));
  const Tensor squares = (x - x.Mean(*a, true)).Square().Sum(*a, keepdim);
  return (squares / tensor_internal::LessCorrection(tensor_internal::ElementsAlong(x, *a, x.dtype()),
                                                    static_cast<double>(correction)))
      .Cast(dtype());
}

Tensor Tensor::Argmax(int64_t axis, bool keepdim) const {
  if (!ok()) return *this;
  const auto a = tensor_internal::Axis("Argmax", axis, ndim());
  if (!a.ok()) return Tensor(a.status());
  const int64_t n = shape()[*a];
  if (n == 0)
    return Tensor(
        Bad("Argmax", "axis ", *a, " of shape ", Text(shape()), " has no elements, expected at least one"));
  // The first of the largest: the smallest index where the element is the maximum (or NaN, which the maximum
  // is then).
  const Tensor top = Max({*a}, true);
  Tensor hit = Eq(top);
  if (dtype().IsFloat()) hit = hit.BitOr(IsNan());
  const Tensor index = tensor_internal::PositionsAlong(*this, *a);
  return Where(hit, index, n).Min({*a}, keepdim);
}

}  // namespace understudy
