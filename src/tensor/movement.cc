// SPDX-License-Identifier: Apache-2.0
// Views: reshape, permute, expand, pad, shrink, flip, slicing, concatenation. Nothing here computes an
// element.
#include <algorithm>

#include "src/base/status.h"
#include "src/tensor/internal.h"

namespace understudy {

using tensor_internal::Axes;
using tensor_internal::Axis;
using tensor_internal::Bad;
using tensor_internal::Combine;
using tensor_internal::Text;

namespace {

using Ints = std::vector<int64_t>;

absl::StatusOr<Shape> ResolveShape(const Shape& in, Shape out) {
  int64_t known = 1, hole = -1;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == -1 && hole < 0) {
      hole = static_cast<int64_t>(i);
    } else if (out[i] < 0) {
      return Bad("Reshape", "from ", Text(in), " to ", Text(out), ": size ", out[i],
                 ", expected at least 0, or one -1");
    } else if (__builtin_mul_overflow(known, out[i], &known)) {
      return Bad("Reshape", "to ", Text(out), " has more than 2^63 elements");
    }
  }
  const int64_t n = tensor_internal::Product(in);
  if (hole >= 0) {
    if (known == 0 || n % known != 0)
      return Bad("Reshape", "from ", Text(in), " to ", Text(out), ": no size for -1 gives ", n, " elements");
    out[hole] = n / known;
  } else if (known != n) {
    return Bad("Reshape", "from ", Text(in), " (", n, " elements) to ", Text(out), " (", known, " elements)");
  }
  return out;
}

// x[begin, begin + step, ...] along one axis, `count` elements, step > 0.
UOpRef Strided(const UOpRef& x, int64_t axis, int64_t begin, int64_t count, int64_t step) {
  const auto cut = [](const UOpRef& v, int64_t at, int64_t b, int64_t e) {
    if (b == 0 && e == v->shape()[at]) return v;
    Ints bounds;
    for (size_t i = 0; i < v->shape().size(); ++i) bounds.insert(bounds.end(), {0, v->shape()[i]});
    bounds[2 * at] = b;
    bounds[2 * at + 1] = e;
    return uop::Shrink(v, bounds);
  };
  if (count == 0) return cut(x, axis, 0, 0);
  if (step == 1 || count == 1) return cut(x, axis, begin, begin + count);
  UOpRef v = cut(x, axis, begin, std::min(x->shape()[axis], begin + count * step));
  if (v->shape()[axis] < count * step) {
    Ints pad(2 * v->shape().size(), 0);
    pad[2 * axis + 1] = count * step - v->shape()[axis];
    v = uop::Pad(v, pad);
  }
  Shape split = v->shape();
  split[axis] = count;
  split.insert(split.begin() + axis + 1, step);
  v = cut(uop::Reshape(v, split), axis + 1, 0, 1);
  Shape joined = x->shape();
  joined[axis] = count;
  return uop::Reshape(v, joined);
}

}  // namespace

Tensor Tensor::Reshape(Shape out) const {
  if (!ok()) return *this;
  auto resolved = ResolveShape(shape(), std::move(out));
  return Combine("Reshape", {this},
                 resolved.ok() ? absl::StatusOr<UOpRef>(uop::Reshape(uop(), *resolved)) : resolved.status());
}

Tensor Tensor::Permute(const Ints& axes) const {
  if (!ok()) return *this;
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    if (static_cast<int>(axes.size()) != ndim())
      return Bad("Permute", "axes ", Text(axes), " for rank ", ndim(), ", expected each axis once");
    Ints perm;
    for (const int64_t a : axes) {
      US_ASSIGN_OR_RETURN(const int64_t axis, Axis("Permute", a, ndim()));
      if (std::count(perm.begin(), perm.end(), axis))
        return Bad("Permute", "axis ", a, " appears twice in ", Text(axes));
      perm.push_back(axis);
    }
    return std::is_sorted(perm.begin(), perm.end()) ? uop() : uop::Permute(uop(), perm);
  };
  return Combine("Permute", {this}, make());
}

Tensor Tensor::Transpose(int64_t a, int64_t b) const {
  if (!ok()) return *this;
  const auto x = Axis("Transpose", a, ndim()), y = Axis("Transpose", b, ndim());
  if (!x.ok()) return Tensor(x.status());
  if (!y.ok()) return Tensor(y.status());
  Ints perm;
  for (int i = 0; i < ndim(); ++i) perm.push_back(i);
  std::swap(perm[*x], perm[*y]);
  return Permute(perm);
}

Tensor Tensor::Expand(Shape out) const {
  if (!ok()) return *this;
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    if (out.size() < shape().size())
      return Bad("Expand", "from ", Text(shape()), " to ", Text(out), " drops axes");
    const size_t added = out.size() - shape().size();
    for (size_t i = 0; i < out.size(); ++i) {
      const int64_t have = i < added ? 1 : shape()[i - added];
      if (out[i] == -1 && i >= added) out[i] = have;
      if (out[i] < 0 || (have != 1 && have != out[i])) {
        return Bad("Expand", "from ", Text(shape()), " to ", Text(out), ": axis ", i, " has size ", have,
                   ", expected 1 or ", out[i]);
      }
    }
    int64_t n = 1;
    for (const int64_t d : out) {
      if (__builtin_mul_overflow(n, d, &n))
        return Bad("Expand", "to ", Text(out), " has more than 2^63 elements");
    }
    return tensor_internal::BroadcastTo(uop(), out);
  };
  return Combine("Expand", {this}, make());
}

Tensor Tensor::Pad(const std::vector<std::pair<int64_t, int64_t>>& amounts, Number value) const {
  if (!ok()) return *this;
  for (int i = 0; static_cast<int>(amounts.size()) == ndim() && i < ndim(); ++i) {
    const auto [lo, hi] = amounts[i];
    if ((lo == 0 && hi == 0) || !tensor_internal::IsVariableAxis(*this, i)) continue;
    auto others = amounts;
    others[i] = {0, 0};
    return tensor_internal::PadVariable(Pad(others, value), i, lo, hi, value);
  }
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    if (static_cast<int>(amounts.size()) != ndim())
      return Bad("Pad", amounts.size(), " pairs for rank ", ndim(), ", expected one an axis");
    Ints bounds, pad;
    bool cuts = false, grows = false;
    for (int i = 0; i < ndim(); ++i) {
      const auto [lo, hi] = amounts[i];
      const int64_t n = shape()[i], b = std::max<int64_t>(0, -lo), e = n - std::max<int64_t>(0, -hi);
      if (b > e) return Bad("Pad", "{", lo, ",", hi, "} cuts more than the ", n, " elements of axis ", i);
      if (lo > (int64_t{1} << 40) || hi > (int64_t{1} << 40))
        return Bad("Pad", "{", lo, ",", hi, "} at axis ", i, " is too large");
      bounds.insert(bounds.end(), {b, e});
      pad.insert(pad.end(), {std::max<int64_t>(0, lo), std::max<int64_t>(0, hi)});
      cuts |= b != 0 || e != n;
      grows |= pad[2 * i] != 0 || pad[2 * i + 1] != 0;
    }
    US_ASSIGN_OR_RETURN(const UOpRef fill, tensor_internal::NumberConst("Pad", dtype(), value));
    const UOpRef inner = cuts ? uop::Shrink(uop(), bounds) : uop();
    if (!grows) return inner;
    US_ASSIGN_OR_RETURN(const UOpRef padded, UOp::MakeChecked(Op::kPad, dtype(), {inner}, pad));
    if (SameConst(fill->value(), uop::Const(dtype(), 0)->value())) return padded;
    // A mask keeps the fill and the elements apart exactly, whatever they are.
    const UOpRef mask = uop::Pad(tensor_internal::Constant(dtypes::kBool, int64_t{1}, inner->shape()), pad);
    return uop::Where(mask, padded, tensor_internal::BroadcastTo(fill, padded->shape()));
  };
  return Combine("Pad", {this}, make());
}

Tensor Tensor::Shrink(const std::vector<std::pair<int64_t, int64_t>>& bounds) const {
  if (!ok()) return *this;
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    if (static_cast<int>(bounds.size()) != ndim())
      return Bad("Shrink", bounds.size(), " pairs for rank ", ndim(), ", expected one an axis");
    Ints flat;
    bool cuts = false;
    for (int i = 0; i < ndim(); ++i) {
      const auto [b, e] = bounds[i];
      if (b < 0 || e < b || e > shape()[i])
        return Bad("Shrink", "[", b, ",", e, ") is not inside axis ", i, " of ", Text(shape()));
      flat.insert(flat.end(), {b, e});
      cuts |= b != 0 || e != shape()[i];
    }
    return cuts ? uop::Shrink(uop(), flat) : uop();
  };
  return Combine("Shrink", {this}, make());
}

Tensor Tensor::Flip(const Ints& axes) const {
  if (!ok()) return *this;
  if (axes.empty()) return *this;
  auto a = Axes("Flip", axes, ndim());
  for (size_t i = 0; a.ok() && i < a->size(); ++i) {
    if (!tensor_internal::IsVariableAxis(*this, (*a)[i])) continue;
    Ints others = *a;
    others.erase(others.begin() + static_cast<int64_t>(i));
    return tensor_internal::FlipVariable(Flip(others), (*a)[i]);
  }
  return Combine("Flip", {this}, a.ok() ? absl::StatusOr<UOpRef>(uop::Flip(uop(), *a)) : a.status());
}

Tensor Tensor::Index(const std::vector<IndexItem>& items) const {
  if (!ok()) return *this;
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    int used = 0, ellipses = 0;
    for (const IndexItem& item : items) {
      used += std::holds_alternative<int64_t>(item) || std::holds_alternative<Slice>(item);
      ellipses += std::holds_alternative<Ellipsis>(item);
    }
    if (ellipses > 1) return Bad("Index", ellipses, " ellipses, expected at most one");
    if (used > ndim()) return Bad("Index", used, " indices for a tensor of rank ", ndim());
    UOpRef x = uop();
    Shape result;
    int64_t axis = 0;
    for (const IndexItem& item : items) {
      if (std::holds_alternative<NewAxis>(item)) {
        result.push_back(1);
      } else if (std::holds_alternative<Ellipsis>(item)) {
        for (int i = used; i < ndim(); ++i) result.push_back(x->shape()[axis++]);
      } else if (const int64_t* at = std::get_if<int64_t>(&item)) {
        const int64_t n = x->shape()[axis];
        if (*at < -n || *at >= n) return Bad("Index", *at, " is outside axis ", axis, " of size ", n);
        x = Strided(x, axis++, *at < 0 ? *at + n : *at, 1, 1);
      } else {
        const Slice& s = std::get<Slice>(item);
        const int64_t n = x->shape()[axis];
        if (s.step == 0 || s.step == INT64_MIN)
          return Bad("Index", "slice step ", s.step, " at axis ", axis, ", expected another number");
        // Python's rule: bounds count from the end when negative, and are clamped to the axis.
        const bool back = s.step < 0;
        const int64_t low = back ? -1 : 0, high = back ? n - 1 : n;
        const auto bound = [&](const std::optional<int64_t>& v, int64_t missing) {
          if (!v) return missing;
          return std::clamp(*v < 0 ? (*v < -n ? low : *v + n) : *v, low, high);
        };
        const int64_t start = bound(s.start, back ? high : low), stop = bound(s.stop, back ? low : high);
        const int64_t step = back ? -s.step : s.step, span = back ? start - stop : stop - start;
        const int64_t count = span > 0 ? (span - 1) / step + 1 : 0;
        if (back && count > 0) x = uop::Flip(x, {axis});
        x = Strided(x, axis, back ? n - 1 - start : start, count, std::min(step, std::max<int64_t>(1, n)));
        result.push_back(count);
        ++axis;
      }
    }
    for (; axis < ndim(); ++axis) result.push_back(x->shape()[axis]);
    return uop::Reshape(x, result);
  };
  return Combine("Index", {this}, make());
}

Tensor Tensor::Squeeze(std::optional<int64_t> axis) const {
  if (!ok()) return *this;
  Shape out = shape();
  if (axis) {
    auto a = Axis("Squeeze", *axis, ndim());
    if (!a.ok()) return Tensor(a.status());
    if (out[*a] != 1) return *this;
    out.erase(out.begin() + *a);
  } else {
    std::erase(out, 1);
  }
  return Reshape(out);
}

Tensor Tensor::Unsqueeze(int64_t axis) const {
  if (!ok()) return *this;
  auto a = Axis("Unsqueeze", axis, ndim() + 1);
  if (!a.ok()) return Tensor(a.status());
  Shape out = shape();
  out.insert(out.begin() + *a, 1);
  return Reshape(out);
}

Tensor Tensor::Flatten(int64_t start, int64_t end) const {
  if (!ok()) return *this;
  if (ndim() == 0) return Reshape({1});
  const auto a = Axis("Flatten", start, ndim()), b = Axis("Flatten", end, ndim());
  if (!a.ok()) return Tensor(a.status());
  if (!b.ok()) return Tensor(b.status());
  if (*a > *b) return Tensor(Bad("Flatten", "axes ", start, " to ", end, " are in the wrong order"));
  Shape out(shape().begin(), shape().begin() + *a);
  int64_t n = 1;
  for (int64_t i = *a; i <= *b; ++i) n *= shape()[i];
  out.push_back(n);
  out.insert(out.end(), shape().begin() + *b + 1, shape().end());
  return Reshape(out);
}

Tensor Cat(const std::vector<Tensor>& tensors, int64_t axis) {
  if (tensors.empty()) return Tensor(Bad("Cat", "no tensors, expected at least one"));
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) {
    if (!t.ok()) return t;
    dtype = Promote(dtype, t.dtype());
  }
  const Shape& first = tensors[0].shape();
  const auto a = Axis("Cat", axis, static_cast<int>(first.size()));
  if (!a.ok()) return Tensor(a.status());
  int64_t total = 0;
  for (size_t k = 0; k < tensors.size(); ++k) {
    Shape s = tensors[k].shape();
    bool fits = s.size() == first.size();
    for (size_t i = 0; fits && i < s.size(); ++i) fits = static_cast<int64_t>(i) == *a || s[i] == first[i];
    if (!fits) {
      return Tensor(
          Bad("Cat", "tensor ", k, " has shape ", Text(s), ", expected ", Text(first), " but for axis ", *a));
    }
    total += s[*a];
  }
  for (const Tensor& t : tensors) {
    if (!tensor_internal::IsVariableAxis(t, *a)) continue;
    std::vector<Tensor> same;
    for (const Tensor& x : tensors) same.push_back(x.Cast(dtype));
    return tensor_internal::CatVariable(same, *a);
  }
  // Nested selects on position masks, so that -0.0, NaN and infinities arrive as they are.
  Tensor out;
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    const int64_t n = t.shape()[*a];
    std::vector<std::pair<int64_t, int64_t>> pad(first.size(), {0, 0});
    pad[*a] = {at, total - at - n};
    at += n;
    if (n == 0 && total != 0) continue;
    const Tensor padded = t.Cast(dtype).Pad(pad);
    if (!out.ok()) {
      out = padded;
      continue;
    }
    const Tensor mask = Tensor::Full(t.shape(), true, {dtypes::kBool, t.device()}).Pad(pad);
    out = Where(mask, padded, out);
  }
  return out;
}

Tensor Stack(const std::vector<Tensor>& tensors, int64_t axis) {
  if (tensors.empty()) return Tensor(Bad("Stack", "no tensors, expected at least one"));
  std::vector<Tensor> wider;
  for (const Tensor& t : tensors) {
    if (!t.ok()) return t;
    if (t.shape() != tensors[0].shape()) {
      return Tensor(Bad("Stack", "shapes ", Text(tensors[0].shape()), " and ", Text(t.shape()),
                        ", expected equal shapes"));
    }
    wider.push_back(t.Unsqueeze(axis));
  }
  return Cat(wider, axis < 0 ? axis + tensors[0].ndim() + 1 : axis);
}

}  // namespace understudy
