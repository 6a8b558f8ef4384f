// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/sort.h"

#include <bit>

#include "src/base/status.h"
#include "src/tensor/gather.h"
#include "src/tensor/internal.h"

namespace understudy {

using tensor_internal::Axis;
using tensor_internal::Bad;
using tensor_internal::Text;

namespace {

// Unsigned numbers in the order of the elements: u32, or u64 for 64-bit types. Zeros are equal, NaN is
// greatest.
Tensor OrderedKey(const Tensor& x) {
  const DType t = x.dtype();
  if (t.IsFloat()) {
    const bool wide = t == dtypes::kFloat64;
    const DType u = wide ? dtypes::kUInt64 : dtypes::kUInt32, s = wide ? dtypes::kInt64 : dtypes::kInt32;
    const int64_t top = wide ? INT64_MIN : int64_t{1} << 31;
    // -0 + 0 is 0.
    const Tensor v = x.Cast(wide ? t : dtypes::kFloat32) + 0.0;
    const Tensor bits = v.Bitcast(s), raw = v.Bitcast(u);
    const Tensor key = Where(bits.Lt(0), raw.BitwiseNot(), raw.BitXor(top));
    return Where(x.IsNan(), Tensor(uop::Const(u, MaxValue(u)), x.device()), key);
  }
  if (t == dtypes::kUInt64) return x;
  if (t == dtypes::kInt64) return x.Bitcast(dtypes::kUInt64).BitXor(INT64_MIN);
  if (t.IsSigned()) return x.Cast(dtypes::kInt32).Bitcast(dtypes::kUInt32).BitXor(int64_t{1} << 31);
  return x.Cast(dtypes::kUInt32);
}

// u32 {..., n} -> i64 {..., n}: the order of the last axis, equal keys in order of their position, by
// Batcher's bitonic network with every comparison in one direction. Key and position are one u64, so that a
// comparison is a minimum and a maximum. The axis is seen as axes of size 2, so that partners are flips and
// cost no divisions.
Tensor OrderOfWords(const Tensor& key) {
  const int64_t n = key.shape().back();
  const int bits = std::bit_width(static_cast<uint64_t>(n - 1));
  const auto lead = static_cast<int64_t>(key.ndim()) - 1;
  const auto axis_of = [&](int bit) { return lead + bits - 1 - bit; };
  Shape twos(key.shape().begin(), key.shape().end() - 1), wide = twos;
  twos.insert(twos.end(), bits, 2);
  wide.push_back(int64_t{1} << bits);
  std::vector<std::pair<int64_t, int64_t>> pad(key.ndim(), {0, 0}), cut;
  pad.back().second = wide.back() - n;
  for (const int64_t d : key.shape()) cut.push_back({0, d});
  const Tensor position = Tensor::Arange(0, n, 1, {dtypes::kUInt64, key.device()});
  // What fills up is greater than everything.
  Tensor k = key.Cast(dtypes::kUInt64).Shl(32).BitOr(position).Pad(pad, -1).Reshape(twos);
  const auto exchange = [&](const std::vector<int64_t>& flip, int bit) {
    Shape s(lead + bits, 1);
    s[axis_of(bit)] = 2;
    const Tensor low = Tensor::Arange(0, 2, 1, {dtypes::kInt32, key.device()}).Reshape(s).Eq(0);
    const Tensor partner = k.Flip(flip);
    k = Where(low, k.Minimum(partner), k.Maximum(partner));
  };
  for (int stage = 0; stage < bits; ++stage) {
    // Blocks of 2^stage are in order; the first step compares a block with the next one reversed.
    std::vector<int64_t> all;
    for (int b = stage; b >= 0; --b) all.push_back(axis_of(b));
    exchange(all, stage);
    for (int b = stage - 1; b >= 0; --b) exchange({axis_of(b)}, b);
  }
  return k.BitAnd(0xFFFFFFFF).Cast(dtypes::kInt64).Reshape(wide).Shrink(cut);
}

// {..., n} -> i64 {..., n}: the order of the last axis.
Tensor Order(const Tensor& x, bool descending) {
  if (!x.ok()) return x;
  const int64_t n = x.shape().back();
  if (n <= 1 || x.numel() == 0) return Tensor::Zeros(x.shape(), {dtypes::kInt64, x.device()});
  if (n > int64_t{1} << 32) return Tensor(Bad("Sort", "an axis of ", n, " elements, expected at most 2^32"));
  Tensor key = OrderedKey(x);
  if (descending) key = key.BitwiseNot();
  if (key.dtype() == dtypes::kUInt32) return OrderOfWords(key);
  // By the lower words, then, keeping that order, by the upper ones.
  const Tensor lower = OrderOfWords(key.Cast(dtypes::kUInt32));
  const Tensor upper = OrderOfWords(Gather(key.Shr(32).Cast(dtypes::kUInt32), -1, lower));
  return Gather(lower, -1, upper);
}

template <class F>
Tensor Along(const char* op, const Tensor& x, int64_t dim, F f) {
  if (!x.ok()) return x;
  const auto axis = Axis(op, dim, std::max(1, x.ndim()));
  if (!axis.ok()) return Tensor(axis.status());
  if (x.ndim() == 0) return f(x.Reshape({1})).Squeeze(0);
  return f(x.Transpose(*axis, -1)).Transpose(*axis, -1);
}

Tensor First(const Tensor& t, int64_t begin, int64_t end) {
  std::vector<std::pair<int64_t, int64_t>> bounds;
  for (const int64_t d : t.shape()) bounds.push_back({0, d});
  bounds.back() = {begin, end};
  return t.Shrink(bounds);
}

ValuesAndIndices At(const Tensor& x, int64_t dim, const Tensor& index, bool keepdim) {
  const Tensor values = Gather(x, dim, index);
  if (keepdim || x.ndim() == 0) return {values, index};
  return {values.Squeeze(dim), index.Squeeze(dim)};
}

// The index of the element in the middle of the order; {..., 1} along the last axis.
Tensor MiddleIndex(const Tensor& t, bool ignore_nan) {
  const int64_t n = t.shape().back();
  const Tensor order = Order(t, false);
  if (!t.dtype().IsFloat()) return First(order, (n - 1) / 2, (n - 1) / 2 + 1);
  // NaNs stand behind all numbers.
  const Tensor numbers = t.IsNan().LogicalNot().Sum({-1}, true);
  const Tensor middle =
      ignore_nan ? (numbers - 1).Maximum(0).Shr(1) : Where(numbers.Lt(n), numbers, int64_t{(n - 1) / 2});
  return Gather(order, -1, middle);
}

ValuesAndIndices MiddleAlong(const char* op, const Tensor& x, int64_t dim, bool keepdim, bool ignore_nan) {
  if (!x.ok()) return {x, x};
  const Tensor at = Along(op, x, dim, [&](const Tensor& t) {
    if (t.shape().back() == 0) return Tensor(Bad(op, "axis of shape ", Text(x.shape()), " has no elements"));
    return MiddleIndex(t, ignore_nan);
  });
  if (!at.ok()) return {at, at};
  return At(x, dim, at, keepdim);
}

Tensor Middle(const char* op, const Tensor& x, bool ignore_nan) {
  if (!x.ok()) return x;
  if (x.numel() == 0)
    return Tensor(Bad(op, "shape ", Text(x.shape()), " has no elements, expected at least one"));
  const Tensor flat = x.Reshape({-1}), value = MiddleAlong(op, flat, 0, true, ignore_nan).values.Detach();
  if (!x.dtype().IsFloat()) return value.Reshape({});
  // The least of the equal elements: its gradient is split evenly between them.
  return Where(flat.Eq(value), flat, Where(value.IsNan(), value, INFINITY)).Min();
}

}  // namespace

Tensor Argsort(const Tensor& x, int64_t dim, bool descending) {
  return Along("Argsort", x, dim, [&](const Tensor& t) { return Order(t, descending); });
}
ValuesAndIndices Sort(const Tensor& x, int64_t dim, bool descending) {
  const Tensor at = Along("Sort", x, dim, [&](const Tensor& t) { return Order(t, descending); });
  if (!at.ok()) return {at, at};
  return {Gather(x, dim, at), at};
}
Tensor Msort(const Tensor& x) { return Sort(x, 0).values; }

ValuesAndIndices Topk(const Tensor& x, int64_t k, int64_t dim, bool largest, bool) {
  if (!x.ok()) return {x, x};
  const Tensor at = Along("Topk", x, dim, [&](const Tensor& t) {
    if (k < 0 || k > t.shape().back())
      return Tensor(Bad("Topk", k, " elements of an axis of ", t.shape().back()));
    return First(Order(t, largest), 0, k);
  });
  if (!at.ok()) return {at, at};
  return {Gather(x, dim, at), at};
}

ValuesAndIndices Kthvalue(const Tensor& x, int64_t k, int64_t dim, bool keepdim) {
  if (!x.ok()) return {x, x};
  const Tensor at = Along("Kthvalue", x, dim, [&](const Tensor& t) {
    if (k < 1 || k > t.shape().back())
      return Tensor(
          Bad("Kthvalue", "element ", k, " of an axis of ", t.shape().back(), ", expected 1 to its size"));
    return First(Order(t, false), k - 1, k);
  });
  if (!at.ok()) return {at, at};
  return At(x, dim, at, keepdim);
}

ValuesAndIndices Median(const Tensor& x, int64_t dim, bool keepdim) {
  return MiddleAlong("Median", x, dim, keepdim, false);
}
ValuesAndIndices Nanmedian(const Tensor& x, int64_t dim, bool keepdim) {
  return MiddleAlong("Nanmedian", x, dim, keepdim, true);
}
Tensor Median(const Tensor& x) { return Middle("Median", x, false); }
Tensor Nanmedian(const Tensor& x) { return Middle("Nanmedian", x, true); }

}  // namespace understudy
