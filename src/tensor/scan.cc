// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/scan.h"

#include <cmath>

#include "src/base/status.h"
#include "src/tensor/gather.h"
#include "src/tensor/internal.h"
#include "src/uop/eval.h"

namespace understudy {

using tensor_internal::Axis;
using tensor_internal::Bad;
using tensor_internal::Text;

namespace {

// Elements of a block: each is reduced by itself, so a block costs its square.
constexpr int64_t kBlock = 32;

Tensor Identity(Op op, const Tensor& x) {
  return Tensor(uop::Const(x.dtype(), uop::IdentityOf(op, x.dtype())), x.device());
}

Tensor Reduced(const Tensor& x, Op op) {
  const auto last = static_cast<int64_t>(x.ndim()) - 1;
  Shape shape(x.shape().begin(), x.shape().end() - 1);
  return tensor_internal::Combine("Scan", {&x}, uop::Reshape(uop::ReduceAxis(x.uop(), op, {last}), shape));
}

Tensor Combined(const Tensor& a, const Tensor& b, Op op) {
  switch (op) {
    case Op::kAdd:
      return a + b;
    case Op::kMul:
      return a * b;
    case Op::kMax:
      return a.Maximum(b);
    default:
      return a.Minimum(b);
  }
}

// k <= i as {n (i), n (k)}.
Tensor Before(int64_t n, const std::string& device) {
  const Tensor i = Tensor::Arange(0, n, 1, {dtypes::kInt32, device});
  return i.Unsqueeze(0).Le(i.Unsqueeze(1));
}

// A scan along the last axis: `block` scans up to kBlock elements, `join` puts what came before to a block's
// result.
template <class BlockFn, class JoinFn>
Tensor Blocked(const Tensor& x, const Tensor& identity, BlockFn block, JoinFn join) {
  const int64_t n = x.shape().back();
  if (n <= kBlock) return n <= 1 ? x : block(x);
  const int64_t blocks = (n + kBlock - 1) / kBlock;
  const auto padded = [&](const Tensor& t, int64_t before, int64_t after) {
    std::vector<std::pair<int64_t, int64_t>> pad(t.ndim(), {0, 0});
    pad.back() = {before, after};
    // Not by Pad's own value: the mask is cheaper than a number of every type.
    const Tensor inside = Tensor::Full(t.shape(), true, {dtypes::kBool, t.device()}).Pad(pad);
    return before + after == 0 ? t : Where(inside, t.Pad(pad), identity);
  };
  const auto cut = [](const Tensor& t, int64_t begin, int64_t end) {
    std::vector<std::pair<int64_t, int64_t>> bounds;
    for (const int64_t d : t.shape()) bounds.push_back({0, d});
    bounds.back() = {begin, end};
    return t.Shrink(bounds);
  };
  Shape split = x.shape();
  split.back() = blocks;
  split.push_back(kBlock);
  const Tensor inner = block(padded(x, 0, blocks * kBlock - n).Reshape(split));
  Shape totals_shape = x.shape();
  totals_shape.back() = blocks;
  const Tensor totals = cut(cut(inner, kBlock - 1, kBlock).Reshape(totals_shape), 0, blocks - 1);
  const Tensor before = padded(Blocked(totals, identity, block, join), 1, 0);
  Shape whole = x.shape();
  whole.back() = blocks * kBlock;
  return cut(join(before.Unsqueeze(-1).Expand(split), inner).Reshape(whole), 0, n);
}

// A running reduction along the last axis in x's own type.
Tensor Running(const Tensor& x, Op op) {
  if (!x.ok()) return x;
  const Tensor identity = Identity(op, x);
  return Blocked(
      x, identity,
      [&](const Tensor& b) {
        return Reduced(Where(Before(b.shape().back(), b.device()), b.Unsqueeze(-2), identity), op);
      },
      [&](const Tensor& before, const Tensor& inner) { return Combined(before, inner, op); });
}

// f on the tensor with `dim` last.
template <class F>
Tensor Along(const char* op, const Tensor& x, int64_t dim, F f) {
  if (!x.ok()) return x;
  const auto axis = Axis(op, dim, std::max(1, x.ndim()));
  if (!axis.ok()) return Tensor(axis.status());
  if (x.ndim() == 0) return f(x.Reshape({1})).Reshape({});
  if (x.numel() == 0) return f(x.Reshape({0})).Reshape(x.shape());
  return f(x.Transpose(*axis, -1)).Transpose(*axis, -1);
}

Tensor RunningSum(const char* name, const Tensor& x, int64_t dim, std::optional<DType> dtype, Op op) {
  return Along(name, dtype ? x.Cast(*dtype) : x, dim, [&](const Tensor& t) {
    const DType out = dtype ? *dtype : SumResultType(t.dtype());
    if (out.IsBool()) return Tensor(Bad(name, "dtype bool, expected a number"));
    return Running(t.Cast(out.IsFloat() ? AccType(out) : out), op).Cast(out);
  });
}

ValuesAndIndices RunningExtremum(const char* name, const Tensor& x, int64_t dim, Op op) {
  const Tensor at = Along(name, x, dim, [&](const Tensor& t) {
    const Tensor best = Running(t, op);
    Tensor hit = t.Eq(best);
    if (t.dtype().IsFloat()) hit = hit.BitOr(t.IsNan());
    const Tensor position = Tensor::Arange(0, t.shape().back(), 1, {dtypes::kInt64, t.device()});
    return Running(Where(hit, position, int64_t{0}), Op::kMax);
  });
  return {Gather(x, dim, at), at};
}

// log(exp(a) + exp(b))
Tensor LogAdd(const Tensor& a, const Tensor& b) {
  Tensor top = a.Maximum(b).Detach();
  top = Where(top.Eq(INFINITY).BitOr(top.Eq(-INFINITY)), 0.0, top);
  return ((a - top).Exp() + (b - top).Exp()).Log() + top;
}

Tensor Cut(const Tensor& t, int64_t axis, int64_t begin, int64_t end) {
  std::vector<std::pair<int64_t, int64_t>> bounds;
  for (const int64_t d : t.shape()) bounds.push_back({0, d});
  bounds[axis] = {begin, end};
  return t.Shrink(bounds);
}

// The areas between neighbours.
Tensor Trapezoids(const char* op, const Tensor& y, const Tensor* x, double dx, int64_t dim) {
  if (!y.ok()) return y;
  if (x != nullptr && !x->ok()) return *x;
  const auto axis = Axis(op, dim, y.ndim());
  if (!axis.ok()) return Tensor(axis.status());
  const int64_t n = y.shape()[*axis];
  const auto from = [&](const Tensor& t, int64_t a) { return Cut(t, a, std::min<int64_t>(1, n), n); };
  const auto to = [&](const Tensor& t, int64_t a) { return Cut(t, a, 0, std::max<int64_t>(0, n - 1)); };
  const Tensor sum = (from(y, *axis) + to(y, *axis));
  if (x == nullptr) return sum * (dx / 2);
  Tensor at = *x;
  if (at.ndim() == 1) {
    Shape along(y.ndim(), 1);
    if (at.shape()[0] != n) {
      return Tensor(
          Bad(op, "places of shape ", Text(at.shape()), " for axis ", *axis, " of ", Text(y.shape())));
    }
    along[*axis] = n;
    at = at.Reshape(along);
  }
  if (at.ndim() != y.ndim() || at.shape()[*axis] != n) {
    return Tensor(Bad(op, "places of shape ", Text(x->shape()), " for values of shape ", Text(y.shape())));
  }
  return (from(at, *axis) - to(at, *axis)) * sum / 2.0;
}

}  // namespace

Tensor Cumsum(const Tensor& x, int64_t dim, std::optional<DType> dtype) {
  return RunningSum("Cumsum", x, dim, dtype, Op::kAdd);
}
Tensor Cumprod(const Tensor& x, int64_t dim, std::optional<DType> dtype) {
  return RunningSum("Cumprod", x, dim, dtype, Op::kMul);
}
ValuesAndIndices Cummax(const Tensor& x, int64_t dim) { return RunningExtremum("Cummax", x, dim, Op::kMax); }
ValuesAndIndices Cummin(const Tensor& x, int64_t dim) { return RunningExtremum("Cummin", x, dim, Op::kMin); }

Tensor Logcumsumexp(const Tensor& x, int64_t dim) {
  return Along("Logcumsumexp", x, dim, [](const Tensor& t) {
    if (!t.dtype().IsFloat())
      return Tensor(Bad("Logcumsumexp", "dtype ", t.dtype().Name(), ", expected a float"));
    const Tensor wide = t.Cast(AccType(t.dtype()));
    const Tensor none(uop::Const(wide.dtype(), -INFINITY), t.device());
    return Blocked(
               wide, none,
               [&](const Tensor& b) {
                 const Tensor before = Before(b.shape().back(), b.device()), pairs = b.Unsqueeze(-2);
                 Tensor top = Reduced(Where(before, pairs, none), Op::kMax).Detach();
                 top = Where(top.Eq(INFINITY).BitOr(top.Eq(-INFINITY)), 0.0, top);
                 // Masked before EXP: what is left out must not make 0 * inf in the gradient.
                 const Tensor shifted = Where(before, pairs - top.Unsqueeze(-1), none);
                 return shifted.Exp().Sum({-1}).Log() + top;
               },
               LogAdd)
        .Cast(t.dtype());
  });
}

Tensor Diff(const Tensor& x0, int64_t n, int64_t dim, const Tensor* prepend, const Tensor* append) {
  if (!x0.ok()) return x0;
  if (x0.ndim() == 0) return Tensor(Bad("Diff", "a tensor of rank 0, expected at least one axis"));
  if (n < 0) return Tensor(Bad("Diff", n, " times, expected at least 0"));
  const auto axis = Axis("Diff", dim, x0.ndim());
  if (!axis.ok()) return Tensor(axis.status());
  std::vector<Tensor> parts{x0};
  if (prepend != nullptr) parts.insert(parts.begin(), *prepend);
  if (append != nullptr) parts.push_back(*append);
  Tensor x = n == 0 || parts.size() == 1 ? x0 : Cat(parts, *axis);
  for (int64_t i = 0; i < n && x.ok(); ++i) {
    const int64_t size = x.shape()[*axis];
    const Tensor after = Cut(x, *axis, std::min<int64_t>(1, size), size),
                 before = Cut(x, *axis, 0, std::max<int64_t>(0, size - 1));
    x = x.dtype().IsBool() ? after.Ne(before) : after - before;
    if (size == 0) break;
  }
  return x;
}

Tensor Trapezoid(const Tensor& y, double dx, int64_t dim) {
  const Tensor areas = Trapezoids("Trapezoid", y, nullptr, dx, dim);
  return areas.Sum({dim});
}
Tensor Trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  return Trapezoids("Trapezoid", y, &x, 1, dim).Sum({dim});
}
Tensor CumulativeTrapezoid(const Tensor& y, double dx, int64_t dim) {
  return Cumsum(Trapezoids("CumulativeTrapezoid", y, nullptr, dx, dim), dim);
}
Tensor CumulativeTrapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  return Cumsum(Trapezoids("CumulativeTrapezoid", y, &x, 1, dim), dim);
}

}  // namespace understudy
