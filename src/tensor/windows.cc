// SPDX-License-Identifier: Apache-2.0
// Windows of an axis as views, and what else the network functions share.
#include <algorithm>

#include "src/base/status.h"
#include "src/tensor/nn_internal.h"
#include "src/tensor/per_axis.h"

namespace understudy {
namespace tensor_internal {

absl::Status FirstError(std::initializer_list<const Tensor*> inputs) {
  for (const Tensor* t : inputs) {
    if (t != nullptr && !t->ok()) return t->status();
  }
  return absl::OkStatus();
}

absl::Status WantFloats(const char* op, std::initializer_list<const Tensor*> inputs) {
  US_RETURN_IF_ERROR(FirstError(inputs));
  for (const Tensor* t : inputs) {
    if (t != nullptr && !t->dtype().IsFloat())
      return Bad(op, "dtype ", t->dtype().Name(), ", expected floats (Cast first)");
  }
  return absl::OkStatus();
}

DType ProductType(DType t) { return t.IsFloat() ? AccType(t) : t; }

Tensor PlainSum(const char* op, const Tensor& x, const std::vector<int64_t>& axes) {
  if (!x.ok() || axes.empty()) return x;
  Shape out;
  for (int i = 0; i < x.ndim(); ++i) {
    if (!std::count(axes.begin(), axes.end(), i)) out.push_back(x.shape()[i]);
  }
  if (x.dtype().IsBool()) {
    const UOpRef ones = uop::ReduceAxis(uop::Cast(x.uop(), dtypes::kInt64), Op::kAdd, axes);
    return Combine(op, {&x}, uop::Reshape(ones, out)).Ne(0);
  }
  return Combine(op, {&x}, uop::Reshape(uop::ReduceAxis(x.uop(), Op::kAdd, axes), out));
}

Tensor SumOfProducts(const char* op, const Tensor& a, const Tensor& b, const std::vector<int64_t>& axes,
                     DType acc) {
  return PlainSum(op, a.Cast(acc) * b.Cast(acc), axes);
}

Tensor Cut(const Tensor& x, int64_t axis, int64_t begin, int64_t end) {
  if (!x.ok()) return x;
  std::vector<std::pair<int64_t, int64_t>> bounds;
  for (const int64_t d : x.shape()) bounds.push_back({0, d});
  bounds[axis] = {begin, end};
  return x.Shrink(bounds);
}

Tensor PadAxis(const Tensor& x, int64_t axis, int64_t before, int64_t after, Number value) {
  if (!x.ok() || (before == 0 && after == 0)) return x;
  std::vector<std::pair<int64_t, int64_t>> amounts(x.ndim(), {0, 0});
  amounts[axis] = {before, after};
  return x.Pad(amounts, value);
}

Tensor SplitAxis(const Tensor& x, int64_t axis, std::initializer_list<int64_t> sizes) {
  if (!x.ok()) return x;
  Shape s(x.shape().begin(), x.shape().begin() + axis);
  s.insert(s.end(), sizes);
  s.insert(s.end(), x.shape().begin() + axis + 1, x.shape().end());
  return x.Reshape(s);
}

int64_t Reach(int64_t k, int64_t dilation) {
  int64_t r;
  if (__builtin_mul_overflow(k - 1, dilation, &r) || r >= INT64_MAX / 4) return INT64_MAX / 4;
  return r + 1;
}

// Rows that are each shifted by `dilation` more than the one before are a reshape from rows of one length to
// rows of another. With (k - 1) * dilation of padding on both sides no row meets its neighbour within the
// bounds of the indices, so that neither the view nor its transpose keeps a division:
//   x {n} -> k copies, padded to length r - dilation -> all rows as one, k * r long -> rows of r
Tensor Windows(const Tensor& x, int64_t axis, int64_t k, int64_t stride, int64_t dilation) {
  if (!x.ok()) return x;
  const int64_t n = x.shape()[axis], reach = Reach(k, dilation), count = (n - reach) / stride + 1;
  if (stride >= reach) {
    const Tensor whole =
        count * stride > n ? PadAxis(x, axis, 0, count * stride - n) : Cut(x, axis, 0, count * stride);
    std::vector<IndexItem> items(axis + 1, Slice{});
    items.push_back(Slice{0, reach, dilation});
    return SplitAxis(whole, axis, {count, stride}).Index(items);
  }
  const int64_t shift = reach - 1, r = n + shift, used = (count - 1) * stride + 1;
  Tensor t = SplitAxis(x, axis, {1, n});
  Shape copies = t.shape();
  copies[axis] = k;
  t = PadAxis(t.Expand(copies), axis + 1, 0, r - dilation - n);
  // Two axes into one and that into two: {k, r - dilation} -> {k * (r - dilation)} -> {k * r} -> {k, r}.
  Shape flat = x.shape();
  flat[axis] = k * (r - dilation);
  t = PadAxis(t.Reshape(flat), axis, shift, k * dilation - shift);
  t = Cut(SplitAxis(t, axis, {k, r}), axis + 1, shift, shift + used);
  if (stride > 1) {
    t = SplitAxis(PadAxis(t, axis + 1, 0, count * stride - used), axis + 1, {count, stride});
    t = Cut(t, axis + 2, 0, 1);
    Shape without = t.shape();
    without.erase(without.begin() + axis + 2);
    t = t.Reshape(without);
  }
  return t.Transpose(axis, axis + 1);
}

Tensor SpreadAxis(const Tensor& x, int64_t axis, int64_t stride) {
  if (!x.ok() || stride == 1 || x.shape()[axis] == 0) return x;
  const int64_t n = x.shape()[axis];
  const Tensor t = PadAxis(SplitAxis(x, axis, {n, 1}), axis + 1, 0, stride - 1);
  Shape joined = x.shape();
  joined[axis] = n * stride;
  return Cut(t.Reshape(joined), axis, 0, (n - 1) * stride + 1);
}

Tensor PlaceWindows(const Tensor& x, int64_t axis, int64_t n, int64_t stride, int64_t dilation) {
  if (!x.ok()) return x;
  const int64_t k = x.shape()[axis + 1], shift = Reach(k, dilation) - 1;
  Tensor t = SpreadAxis(x.Transpose(axis, axis + 1), axis + 1, stride);
  // What does not fit n would lie outside: the windows cover at most n.
  const int64_t used = t.shape()[axis + 1], reached = used + shift;
  if (k == 1) return PadAxis(t, axis + 1, 0, n - used);
  const int64_t r = reached + shift;
  Shape flat = x.shape();
  flat.erase(flat.begin() + axis);
  flat[axis] = k * r;
  t = Cut(PadAxis(t, axis + 1, shift, shift).Reshape(flat), axis, shift, shift + k * (r - dilation));
  t = Cut(SplitAxis(t, axis, {k, r - dilation}), axis + 1, 0, reached);
  return PadAxis(t, axis + 1, 0, n - reached);
}

Tensor HostNumbers(const std::vector<double>& v, Shape shape, DType dtype, const Tensor& like) {
  std::vector<uint8_t> bytes(v.size() * dtype.ScalarBytes());
  for (size_t i = 0; i < v.size(); ++i) {
    const uint64_t bits = ToBits(dtype, Canonical(dtype, ConstValue(v[i])));
    __builtin_memcpy(&bytes[i * dtype.ScalarBytes()], &bits, dtype.ScalarBytes());
  }
  return Tensor::FromBytes(std::move(bytes), dtype, std::move(shape), like.device());
}

Tensor Positions(int64_t n, int axis, int rank, const Tensor& like) {
  Shape s(rank, 1);
  s[axis] = n;
  return Tensor::Arange(0, n, 1, {dtypes::kInt64, like.device()}).Reshape(s);
}

Tensor TakeAlong(const Tensor& x, int64_t axis, const Tensor& index, Number outside) {
  if (!x.ok()) return x;
  if (!index.ok()) return index;
  const int64_t n = x.shape()[axis];
  // {..., 1, n, ...} beside {..., m, 1, ...}: at most one hit a row, so the sum moves it exactly.
  const Tensor wanted = index.Unsqueeze(axis + 1);
  const Tensor hit = wanted.Eq(Positions(n, static_cast<int>(axis) + 1, x.ndim() + 1, x));
  const Tensor picked = PlainSum(
      "TakeAlong", Where(hit, x.Unsqueeze(axis), Tensor::Full({}, 0, {x.dtype(), x.device()})), {axis + 1});
  return Where(index.Ge(0).BitAnd(index.Lt(n)), picked, outside);
}

}  // namespace tensor_internal

absl::StatusOr<std::vector<int64_t>> PerAxis::Resolve(const char* op, const char* what, int axes,
                                                      int64_t least) const {
  if (v_.size() != 1 && static_cast<int>(v_.size()) != axes) {
    return tensor_internal::Bad(op, what, " ", tensor_internal::Text(v_), " for ", axes,
                                " spatial axes, expected one number or one an axis");
  }
  std::vector<int64_t> out(axes);
  for (int i = 0; i < axes; ++i) {
    out[i] = v_.size() == 1 ? v_[0] : v_[i];
    if (out[i] < least || out[i] > (int64_t{1} << 31)) {
      return tensor_internal::Bad(op, what, " ", tensor_internal::Text(v_), ", expected ", least, " to 2^31");
    }
  }
  return out;
}

absl::StatusOr<std::vector<std::pair<int64_t, int64_t>>> ConvPadding::Resolve(
    const char* op, const std::vector<int64_t>& reach, const std::vector<int64_t>& stride) const {
  std::vector<std::pair<int64_t, int64_t>> out(reach.size());
  if (same_) {
    for (size_t i = 0; i < reach.size(); ++i) {
      if (stride[i] != 1)
        return tensor_internal::Bad(op, "padding \"same\" with stride ", stride[i], ", expected stride 1");
      if (reach[i] > (int64_t{1} << 31))
        return tensor_internal::Bad(op, "kernel reaches over ", reach[i], " elements");
      out[i] = {(reach[i] - 1) / 2, reach[i] - 1 - (reach[i] - 1) / 2};
    }
    return out;
  }
  if (!pairs_.empty()) {
    if (pairs_.size() != reach.size())
      return tensor_internal::Bad(op, pairs_.size(), " pairs of padding for ", reach.size(), " spatial axes");
    for (const auto& [before, after] : pairs_) {
      if (before < 0 || after < 0 || before > (int64_t{1} << 31) || after > (int64_t{1} << 31))
        return tensor_internal::Bad(op, "padding {", before, ",", after, "}, expected 0 to 2^31");
    }
    return pairs_;
  }
  US_ASSIGN_OR_RETURN(const std::vector<int64_t> both,
                      both_.Resolve(op, "padding", static_cast<int>(reach.size()), 0));
  for (size_t i = 0; i < reach.size(); ++i) out[i] = {both[i], both[i]};
  return out;
}

}  // namespace understudy
