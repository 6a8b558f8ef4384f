// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/movement_ops.h"

#include <algorithm>
#include <numeric>

#include "src/base/status.h"
#include "src/tensor/value_expr.h"

namespace understudy {

using tensor_internal::Axis;
using tensor_internal::Bad;
using tensor_internal::Combine;
using tensor_internal::Product;
using tensor_internal::Text;
using tensor_internal::Value;

namespace {

using Ints = std::vector<int64_t>;
using Bounds = std::vector<std::pair<int64_t, int64_t>>;

// Either the axis, or the error as a tensor.
struct AxisOf {
  AxisOf(const char* op, const Tensor& x, int64_t given, int extra = 0) {
    if (!x.ok()) {
      error = x;
      return;
    }
    const auto a = Axis(op, given, x.ndim() + extra);
    if (a.ok())
      axis = *a;
    else
      error = Tensor(a.status());
  }
  bool ok() const { return axis >= 0; }
  int64_t axis = -1;
  Tensor error;
};

// [begin, end) of one axis; the caller has checked the bounds.
Tensor Cut(const Tensor& x, int64_t axis, int64_t begin, int64_t end) {
  Bounds b;
  for (const int64_t d : x.shape()) b.push_back({0, d});
  b[axis] = {begin, end};
  return x.Shrink(b);
}
Tensor PadAxis(const Tensor& x, int64_t axis, int64_t before, int64_t after) {
  Bounds p(x.ndim(), {0, 0});
  p[axis] = {before, after};
  return x.Pad(p);
}

std::vector<Tensor> Failed(const Tensor& error) { return {error}; }

std::vector<Tensor> Pieces(const Tensor& x, int64_t axis, const Ints& sizes) {
  std::vector<Tensor> out;
  int64_t at = 0;
  for (const int64_t n : sizes) {
    out.push_back(Cut(x, axis, at, at + n));
    at += n;
  }
  return out;
}

absl::Status FirstError(const std::vector<Tensor>& tensors) {
  for (const Tensor& t : tensors) US_RETURN_IF_ERROR(t.status());
  return absl::OkStatus();
}

Tensor Joined(const char* op, const std::vector<Tensor>& tensors, int64_t axis,
              Tensor (*wider)(const Tensor&)) {
  if (tensors.empty()) return Tensor(Bad(op, "no tensors, expected at least one"));
  std::vector<Tensor> all;
  for (const Tensor& t : tensors) all.push_back(wider(t));
  return Cat(all, axis);
}

}  // namespace

// --- Shapes ---

Tensor View(const Tensor& x, Shape shape) { return x.Reshape(std::move(shape)); }
Tensor ViewAs(const Tensor& x, const Tensor& other) { return other.ok() ? x.Reshape(other.shape()) : other; }
Tensor Ravel(const Tensor& x) { return x.Reshape({-1}); }

Tensor Unflatten(const Tensor& x, int64_t axis, Shape sizes) {
  const AxisOf a("Unflatten", x, axis);
  if (!a.ok()) return a.error;
  const int64_t n = x.shape()[a.axis];
  int64_t known = 1;
  int64_t* hole = nullptr;
  for (int64_t& d : sizes) {
    if (d == -1 && hole == nullptr)
      hole = &d;
    else if (d < 0 || __builtin_mul_overflow(known, d, &known))
      return Tensor(Bad("Unflatten", "sizes ", Text(sizes), ", expected at least 0, or one -1"));
  }
  const Shape asked = sizes;
  if (hole != nullptr && known > 0 && n % known == 0) {
    *hole = n / known;
    known = n;
  }
  if (sizes.empty() || known != n || (hole != nullptr && *hole < 0)) {
    return Tensor(Bad("Unflatten", "axis ", axis, " of size ", n, " into ", Text(asked),
                      ", expected a product of ", n));
  }
  Shape out(x.shape().begin(), x.shape().begin() + a.axis);
  out.insert(out.end(), sizes.begin(), sizes.end());
  out.insert(out.end(), x.shape().begin() + a.axis + 1, x.shape().end());
  return x.Reshape(out);
}

Tensor Movedim(const Tensor& x, const Ints& from, const Ints& to) {
  if (!x.ok()) return x;
  if (from.size() != to.size()) {
    return Tensor(Bad("Movedim", from.size(), " axes to ", to.size(), " places, expected as many of each"));
  }
  Ints perm(x.ndim(), -1);
  std::vector<bool> moved(x.ndim(), false);
  for (size_t i = 0; i < from.size(); ++i) {
    const AxisOf a("Movedim", x, from[i]), b("Movedim", x, to[i]);
    if (!a.ok()) return a.error;
    if (!b.ok()) return b.error;
    if (moved[a.axis] || perm[b.axis] >= 0)
      return Tensor(Bad("Movedim", "axes ", Text(from), " to ", Text(to), ": an axis appears twice"));
    moved[a.axis] = true;
    perm[b.axis] = a.axis;
  }
  int64_t next = 0;
  for (int64_t& p : perm) {
    if (p >= 0) continue;
    while (moved[next]) ++next;
    p = next++;
  }
  return x.Permute(perm);
}
Tensor Swapaxes(const Tensor& x, int64_t a, int64_t b) { return x.Transpose(a, b); }
Tensor ExpandAs(const Tensor& x, const Tensor& other) { return other.ok() ? x.Expand(other.shape()) : other; }
Tensor BroadcastTo(const Tensor& x, Shape shape) { return x.Expand(std::move(shape)); }

std::vector<Tensor> BroadcastTensors(const std::vector<Tensor>& tensors) {
  Shape common;
  absl::Status error = FirstError(tensors);
  for (size_t i = 0; error.ok() && i < tensors.size(); ++i) {
    auto s = tensor_internal::BroadcastShapes("BroadcastTensors", common, tensors[i].shape());
    if (s.ok())
      common = *s;
    else
      error = s.status();
  }
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(error.ok() ? t.Expand(common) : Tensor(error));
  return out;
}

Tensor Atleast1d(const Tensor& x) { return x.ok() && x.ndim() == 0 ? x.Reshape({1}) : x; }
Tensor Atleast2d(const Tensor& x) {
  if (!x.ok() || x.ndim() >= 2) return x;
  return Atleast1d(x).Unsqueeze(0);
}
Tensor Atleast3d(const Tensor& x) {
  if (!x.ok() || x.ndim() >= 3) return x;
  return Atleast2d(x).Unsqueeze(-1);
}

// --- Parts ---

Tensor Narrow(const Tensor& x, int64_t axis, int64_t start, int64_t length) {
  const AxisOf a("Narrow", x, axis);
  if (!a.ok()) return a.error;
  const int64_t n = x.shape()[a.axis], begin = start < 0 ? start + n : start;
  if (begin < 0 || length < 0 || begin > n || length > n - begin) {
    return Tensor(Bad("Narrow", "start ", start, " and length ", length, " at axis ", axis, " of size ", n));
  }
  return Cut(x, a.axis, begin, begin + length);
}
Tensor Select(const Tensor& x, int64_t axis, int64_t index) {
  const AxisOf a("Select", x, axis);
  if (!a.ok()) return a.error;
  const int64_t n = x.shape()[a.axis];
  if (index < -n || index >= n)
    return Tensor(Bad("Select", "index ", index, " is outside axis ", axis, " of size ", n));
  const int64_t at = index < 0 ? index + n : index;
  Shape out = x.shape();
  out.erase(out.begin() + a.axis);
  return Cut(x, a.axis, at, at + 1).Reshape(out);
}

std::vector<Tensor> Split(const Tensor& x, int64_t size, int64_t axis) {
  const AxisOf a("Split", x, axis);
  if (!a.ok()) return Failed(a.error);
  const int64_t n = x.shape()[a.axis];
  if (size < 0 || (size == 0 && n != 0))
    return Failed(
        Tensor(Bad("Split", "size ", size, " for axis ", axis, " of size ", n, ", expected above 0")));
  Ints sizes;
  for (int64_t at = 0; at < n; at += size) sizes.push_back(std::min(size, n - at));
  if (sizes.empty()) sizes.push_back(0);
  return Pieces(x, a.axis, sizes);
}
std::vector<Tensor> Split(const Tensor& x, const Ints& sizes, int64_t axis) {
  const AxisOf a("Split", x, axis);
  if (!a.ok()) return Failed(a.error);
  const int64_t n = x.shape()[a.axis];
  int64_t sum = 0;
  for (const int64_t s : sizes) {
    if (s < 0 || __builtin_add_overflow(sum, s, &sum))
      return Failed(Tensor(Bad("Split", "sizes ", Text(sizes), ", expected none below 0")));
  }
  if (sum != n) {
    return Failed(Tensor(
        Bad("Split", "sizes ", Text(sizes), " sum to ", sum, ", expected ", n, ", the size of axis ", axis)));
  }
  return Pieces(x, a.axis, sizes);
}
std::vector<Tensor> Chunk(const Tensor& x, int64_t chunks, int64_t axis) {
  const AxisOf a("Chunk", x, axis);
  if (!a.ok()) return Failed(a.error);
  if (chunks <= 0) return Failed(Tensor(Bad("Chunk", chunks, " chunks, expected at least 1")));
  const int64_t n = x.shape()[a.axis];
  // An empty axis gives as many empty pieces as asked for.
  if (n == 0) return Pieces(x, a.axis, Ints(std::min<int64_t>(chunks, 1 << 16), 0));
  return Split(x, (n - 1) / chunks + 1, axis);
}
std::vector<Tensor> TensorSplit(const Tensor& x, int64_t sections, int64_t axis) {
  const AxisOf a("TensorSplit", x, axis);
  if (!a.ok()) return Failed(a.error);
  if (sections <= 0 || sections > 1 << 16)
    return Failed(Tensor(Bad("TensorSplit", sections, " sections, expected 1 to 65536")));
  const int64_t n = x.shape()[a.axis];
  Ints sizes;
  for (int64_t i = 0; i < sections; ++i) sizes.push_back(n / sections + (i < n % sections ? 1 : 0));
  return Pieces(x, a.axis, sizes);
}
std::vector<Tensor> TensorSplit(const Tensor& x, const Ints& positions, int64_t axis) {
  const AxisOf a("TensorSplit", x, axis);
  if (!a.ok()) return Failed(a.error);
  std::vector<Tensor> out;
  int64_t at = 0;
  const int64_t n = x.shape()[a.axis];
  // A slice's rule: positions count from the end when negative and are clamped; crossed ones give nothing.
  const auto clamped = [n](int64_t p) { return std::clamp<int64_t>(p < 0 ? p + n : p, 0, n); };
  for (size_t i = 0; i <= positions.size(); ++i) {
    const int64_t end = i < positions.size() ? clamped(positions[i]) : n;
    out.push_back(Cut(x, a.axis, std::min(at, end), end));
    at = end;
  }
  return out;
}
std::vector<Tensor> Unbind(const Tensor& x, int64_t axis) {
  const AxisOf a("Unbind", x, axis);
  if (!a.ok()) return Failed(a.error);
  std::vector<Tensor> out;
  for (int64_t i = 0; i < x.shape()[a.axis]; ++i) out.push_back(Select(x, a.axis, i));
  return out;
}

Tensor Unfold(const Tensor& x, int64_t axis, int64_t size, int64_t step) {
  if (x.ok() && x.ndim() == 0 && (axis == 0 || axis == -1) && (size == 0 || size == 1) && step > 0)
    return size == 1 ? x.Reshape({1}) : Cut(x.Reshape({1}), 0, 0, 0);
  const AxisOf a("Unfold", x, axis);
  if (!a.ok()) return a.error;
  const int64_t n = x.shape()[a.axis];
  if (size < 0 || size > n || step <= 0) {
    return Tensor(Bad("Unfold", "windows of ", size, " every ", step, " at axis ", axis, " of size ", n,
                      ", expected a size from 0 to it and a step above 0"));
  }
  const int64_t windows = (n - size) / step + 1;
  Tensor v = Movedim(x, {a.axis}, {-1});
  Shape lead(v.shape().begin(), v.shape().end() - 1);
  const auto shaped = [&](const Ints& tail) {
    Shape s = lead;
    s.insert(s.end(), tail.begin(), tail.end());
    return s;
  };
  if (size == 0) {
    v = Cut(v.Reshape(shaped({1, n})), v.ndim(), 0, 0).Expand(shaped({windows, 0}));
  } else if (size == 1) {
    v = v.Reshape(shaped({n, 1}));
    const int64_t at = v.ndim() - 2;
    std::vector<IndexItem> items{Ellipsis{}, Slice{0, std::nullopt, step}, Slice{}};
    v = Cut(v.Index(items), at, 0, windows);
  } else {
    // size + 1 copies in a row, read in lines of n + 1: line j begins at element j.
    const int64_t at = v.ndim() - 1;
    v = v.Reshape(shaped({1, n})).Expand(shaped({size + 1, n})).Reshape(shaped({(size + 1) * n}));
    v = Cut(v, at, 0, size * (n + 1)).Reshape(shaped({size, n + 1}));
    v = Cut(v, at + 1, 0, n - size + 1);
    if (step > 1) v = v.Index({Ellipsis{}, Slice{0, std::nullopt, step}});
    v = v.Transpose(-1, -2);
  }
  // The windows stand where the axis stood, their elements last.
  return Movedim(v, {v.ndim() - 2}, {a.axis});
}

// --- Order ---

Tensor Roll(const Tensor& x, const Ints& shifts, const Ints& axes) {
  if (!x.ok()) return x;
  if (axes.empty()) {
    if (shifts.size() != 1) return Tensor(Bad("Roll", shifts.size(), " shifts without axes, expected one"));
    return Roll(x.Reshape({-1}), shifts, {0}).Reshape(x.shape());
  }
  if (shifts.size() != axes.size())
    return Tensor(Bad("Roll", shifts.size(), " shifts for ", axes.size(), " axes, expected as many"));
  Tensor v = x;
  for (size_t i = 0; i < axes.size(); ++i) {
    const AxisOf a("Roll", x, axes[i]);
    if (!a.ok()) return a.error;
    const int64_t n = x.shape()[a.axis];
    if (n == 0) continue;
    const int64_t s = (shifts[i] % n + n) % n;
    if (s != 0) v = Cat({Cut(v, a.axis, n - s, n), Cut(v, a.axis, 0, n - s)}, a.axis);
  }
  return v;
}
Tensor Rot90(const Tensor& x, int64_t k, int64_t from, int64_t to) {
  const AxisOf a("Rot90", x, from), b("Rot90", x, to);
  if (!a.ok()) return a.error;
  if (!b.ok()) return b.error;
  if (a.axis == b.axis)
    return Tensor(Bad("Rot90", "axes ", from, " and ", to, ", expected two different ones"));
  switch ((k % 4 + 4) % 4) {
    case 0:
      return x;
    case 1:
      return x.Flip({b.axis}).Transpose(a.axis, b.axis);
    case 2:
      return x.Flip({a.axis, b.axis});
    default:
      return x.Flip({a.axis}).Transpose(a.axis, b.axis);
  }
}
Tensor Fliplr(const Tensor& x) {
  if (x.ok() && x.ndim() < 2) return Tensor(Bad("Fliplr", "rank ", x.ndim(), ", expected at least 2"));
  return x.Flip({1});
}
Tensor Flipud(const Tensor& x) {
  if (x.ok() && x.ndim() < 1) return Tensor(Bad("Flipud", "rank 0, expected at least 1"));
  return x.Flip({0});
}

// --- Copies of elements ---

Tensor Repeat(const Tensor& x, const Ints& repeats) {
  if (!x.ok()) return x;
  if (static_cast<int>(repeats.size()) < x.ndim())
    return Tensor(
        Bad("Repeat", repeats.size(), " repeats for rank ", x.ndim(), ", expected as many or more"));
  Shape own(repeats.size() - x.ndim(), 1), split, wide, out;
  own.insert(own.end(), x.shape().begin(), x.shape().end());
  for (size_t i = 0; i < own.size(); ++i) {
    int64_t n;
    if (repeats[i] < 0 || __builtin_mul_overflow(own[i], repeats[i], &n))
      return Tensor(Bad("Repeat", "repeats ", Text(repeats), " of shape ", Text(x.shape())));
    split.insert(split.end(), {1, own[i]});
    wide.insert(wide.end(), {repeats[i], own[i]});
    out.push_back(n);
  }
  return x.Reshape(split).Expand(wide).Reshape(out);
}
Tensor Tile(const Tensor& x, const Ints& repeats) {
  if (!x.ok()) return x;
  Ints all(std::max<int64_t>(0, x.ndim() - static_cast<int64_t>(repeats.size())), 1);
  all.insert(all.end(), repeats.begin(), repeats.end());
  return Repeat(x, all);
}
Tensor RepeatInterleave(const Tensor& x, int64_t repeats, std::optional<int64_t> axis) {
  if (!x.ok()) return x;
  if (!axis) return RepeatInterleave(x.Reshape({-1}), repeats, 0);
  const AxisOf a("RepeatInterleave", x, *axis);
  if (!a.ok()) return a.error;
  int64_t n;
  if (repeats < 0 || __builtin_mul_overflow(repeats, x.shape()[a.axis], &n))
    return Tensor(
        Bad("RepeatInterleave", repeats, " repeats of axis ", *axis, " of shape ", Text(x.shape())));
  Shape wide = x.shape(), out = x.shape();
  wide.insert(wide.begin() + a.axis + 1, repeats);
  out[a.axis] = n;
  return x.Unsqueeze(a.axis + 1).Expand(wide).Reshape(out);
}
Tensor RepeatInterleave(const Tensor& x, const Ints& repeats, std::optional<int64_t> axis) {
  if (!x.ok()) return x;
  if (!axis) return RepeatInterleave(x.Reshape({-1}), repeats, 0);
  const AxisOf a("RepeatInterleave", x, *axis);
  if (!a.ok()) return a.error;
  const int64_t n = x.shape()[a.axis];
  if (static_cast<int64_t>(repeats.size()) != n)
    return Tensor(Bad("RepeatInterleave", repeats.size(), " repeats for axis ", *axis, " of size ", n));
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < n; ++i) {
    if (repeats[i] < 0) return Tensor(Bad("RepeatInterleave", repeats[i], " repeats, expected at least 0"));
    if (repeats[i] == 0) continue;
    Shape wide = x.shape();
    wide[a.axis] = repeats[i];
    parts.push_back(Cut(x, a.axis, i, i + 1).Expand(wide));
  }
  return parts.empty() ? Cut(x, a.axis, 0, 0) : Cat(parts, a.axis);
}

// --- Padding ---

namespace {
absl::StatusOr<Tensor> PadAround(const Tensor& x, int64_t axis, int64_t before, int64_t after, PadMode mode) {
  const int64_t n = x.shape()[axis];
  if (before < 0 || after < 0)
    return Bad("Pad", "{", before, ",", after, "} at axis ", axis, ", expected none below 0 in this mode");
  const int64_t most = mode == PadMode::kReflect ? n - 1 : n;
  if (mode != PadMode::kReplicate && (before > most || after > most)) {
    return Bad("Pad", "{", before, ",", after, "} at axis ", axis, " of size ", n, ", expected at most ",
               most);
  }
  if (n == 0 && before + after > 0) return Bad("Pad", "axis ", axis, " is empty");
  std::vector<Tensor> parts;
  const auto edge = [&](int64_t at, int64_t count) {
    Shape wide = x.shape();
    wide[axis] = count;
    return Cut(x, axis, at, at + 1).Expand(wide);
  };
  if (before > 0) {
    parts.push_back(mode == PadMode::kReflect     ? Cut(x, axis, 1, before + 1).Flip({axis})
                    : mode == PadMode::kReplicate ? edge(0, before)
                                                  : Cut(x, axis, n - before, n));
  }
  parts.push_back(x);
  if (after > 0) {
    parts.push_back(mode == PadMode::kReflect     ? Cut(x, axis, n - 1 - after, n - 1).Flip({axis})
                    : mode == PadMode::kReplicate ? edge(n - 1, after)
                                                  : Cut(x, axis, 0, after));
  }
  return parts.size() == 1 ? x : Cat(parts, axis);
}
}  // namespace

Tensor Pad(const Tensor& x, const Ints& pads, PadMode mode, Number value) {
  if (!x.ok()) return x;
  if (pads.size() % 2 != 0 || static_cast<int64_t>(pads.size() / 2) > x.ndim()) {
    return Tensor(Bad("Pad", pads.size(), " pads for rank ", x.ndim(), ", expected two an axis at most"));
  }
  Bounds amounts(x.ndim(), {0, 0});
  for (size_t i = 0; i < pads.size() / 2; ++i) amounts[x.ndim() - 1 - i] = {pads[2 * i], pads[2 * i + 1]};
  if (mode == PadMode::kConstant) return x.Pad(amounts, value);
  Tensor v = x;
  for (int64_t axis = 0; axis < x.ndim(); ++axis) {
    const auto next = PadAround(v, axis, amounts[axis].first, amounts[axis].second, mode);
    if (!next.ok()) return Tensor(next.status());
    v = *next;
  }
  return v;
}

// --- Matrices ---

Tensor Diagonal(const Tensor& x, int64_t offset, int64_t axis1, int64_t axis2) {
  const AxisOf a("Diagonal", x, axis1), b("Diagonal", x, axis2);
  if (!a.ok()) return a.error;
  if (!b.ok()) return b.error;
  if (a.axis == b.axis)
    return Tensor(Bad("Diagonal", "axes ", axis1, " and ", axis2, ", expected two different ones"));
  Tensor v = Movedim(x, {a.axis, b.axis}, {-2, -1});
  const int64_t at = v.ndim() - 2, rows = v.shape()[at], cols = v.shape()[at + 1];
  const int64_t row0 = std::min(rows, std::max<int64_t>(0, -offset)),
                col0 = std::min(cols, std::max<int64_t>(0, offset));
  const int64_t n = std::min(rows - row0, cols - col0);
  v = Cut(Cut(v, at, row0, row0 + n), at + 1, col0, col0 + n);
  Shape lead(v.shape().begin(), v.shape().end() - 2);
  const auto shaped = [&](const Ints& tail) {
    Shape s = lead;
    s.insert(s.end(), tail.begin(), tail.end());
    return s;
  };
  if (n == 0) return v.Reshape(shaped({0}));
  // In lines of n + 1, element i of the diagonal begins line i.
  v = PadAxis(v.Reshape(shaped({n * n})), at, 0, n).Reshape(shaped({n, n + 1}));
  return Cut(v, at + 1, 0, 1).Reshape(shaped({n}));
}
Tensor DiagEmbed(const Tensor& x, int64_t offset, int64_t axis1, int64_t axis2) {
  if (!x.ok()) return x;
  if (x.ndim() == 0) return Tensor(Bad("DiagEmbed", "a scalar, expected at least one axis"));
  const AxisOf a("DiagEmbed", x, axis1, 1), b("DiagEmbed", x, axis2, 1);
  if (!a.ok()) return a.error;
  if (!b.ok()) return b.error;
  if (a.axis == b.axis)
    return Tensor(Bad("DiagEmbed", "axes ", axis1, " and ", axis2, ", expected two different ones"));
  const int64_t n = x.shape().back(), at = x.ndim() - 1;
  Shape lead(x.shape().begin(), x.shape().end() - 1);
  const auto shaped = [&](const Ints& tail) {
    Shape s = lead;
    s.insert(s.end(), tail.begin(), tail.end());
    return s;
  };
  Tensor v = x.Reshape(shaped({n, 1}));
  if (n > 0) {
    v = PadAxis(v, at + 1, 0, n).Reshape(shaped({n * (n + 1)}));
    v = Cut(v, at, 0, n * n).Reshape(shaped({n, n}));
  } else {
    v = v.Reshape(shaped({0, 0}));
  }
  const int64_t k = std::abs(offset);
  if (k > 0) {
    v = offset > 0 ? PadAxis(PadAxis(v, at, 0, k), at + 1, k, 0)
                   : PadAxis(PadAxis(v, at, k, 0), at + 1, 0, k);
  }
  return Movedim(v, {-2, -1}, {a.axis, b.axis});
}
Tensor Diag(const Tensor& x, int64_t offset) {
  if (x.ok() && x.ndim() != 1 && x.ndim() != 2)
    return Tensor(Bad("Diag", "rank ", x.ndim(), ", expected a vector or a matrix"));
  return x.ok() && x.ndim() == 1 ? DiagEmbed(x, offset) : Diagonal(x, offset);
}

namespace {
Tensor Triangle(const char* op, const Tensor& x, int64_t diagonal, bool lower) {
  if (!x.ok()) return x;
  if (x.ndim() < 2) return Tensor(Bad(op, "rank ", x.ndim(), ", expected at least 2"));
  const int64_t rows = x.shape()[x.ndim() - 2], cols = x.shape()[x.ndim() - 1];
  const int64_t k = std::clamp(diagonal, -rows - 1, cols + 1);
  const UOpRef row =
      tensor_internal::BroadcastTo(uop::Reshape(uop::Iota(dtypes::kInt64, rows), {rows, 1}), x.shape());
  const UOpRef col = tensor_internal::BroadcastTo(uop::Iota(dtypes::kInt64, cols), x.shape());
  const Value edge = Value(row) + Value(row).LikeInt(lower ? k + 1 : k);
  const Value keep = lower ? Value(col) < edge : Not(Value(col) < edge);
  return Combine(op, {&x}, uop::Where(keep.u, x.uop(), Value(x.uop()).Like(0).u));
}
}  // namespace
Tensor Tril(const Tensor& x, int64_t diagonal) { return Triangle("Tril", x, diagonal, true); }
Tensor Triu(const Tensor& x, int64_t diagonal) { return Triangle("Triu", x, diagonal, false); }

Tensor BlockDiag(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) return Tensor::Zeros({1, 0});
  int64_t cols = 0;
  std::vector<Tensor> blocks;
  for (const Tensor& t : tensors) {
    if (!t.ok()) return t;
    if (t.ndim() > 2) return Tensor(Bad("BlockDiag", "rank ", t.ndim(), ", expected at most 2"));
    blocks.push_back(Atleast2d(t));
    cols += blocks.back().shape()[1];
  }
  int64_t at = 0;
  for (Tensor& b : blocks) {
    const int64_t n = b.shape()[1];
    b = PadAxis(b, 1, at, cols - at - n);
    at += n;
  }
  return Cat(blocks, 0);
}

// --- Several tensors ---

Tensor Hstack(const std::vector<Tensor>& tensors) {
  if (!tensors.empty() && tensors[0].ok() && tensors[0].ndim() <= 1)
    return Joined("Hstack", tensors, 0, Atleast1d);
  return Joined("Hstack", tensors, 1, Atleast1d);
}
Tensor Vstack(const std::vector<Tensor>& tensors) { return Joined("Vstack", tensors, 0, Atleast2d); }
Tensor Dstack(const std::vector<Tensor>& tensors) { return Joined("Dstack", tensors, 2, Atleast3d); }
Tensor ColumnStack(const std::vector<Tensor>& tensors) {
  return Joined("ColumnStack", tensors, 1,
                [](const Tensor& t) { return t.ok() && t.ndim() <= 1 ? t.Reshape({t.numel(), 1}) : t; });
}

std::vector<Tensor> Meshgrid(const std::vector<Tensor>& tensors, const std::string& indexing) {
  const auto fail = [&](const absl::Status& s) {
    return std::vector<Tensor>(std::max<size_t>(1, tensors.size()), Tensor(s));
  };
  if (tensors.empty()) return fail(Bad("Meshgrid", "no tensors, expected at least one"));
  if (absl::Status s = FirstError(tensors); !s.ok()) return fail(s);
  if (indexing != "ij" && indexing != "xy")
    return fail(Bad("Meshgrid", "indexing '", indexing, "', expected 'ij' or 'xy'"));
  const bool swap = indexing == "xy" && tensors.size() >= 2;
  Shape grid;
  for (const Tensor& t : tensors) {
    if (t.ndim() > 1) return fail(Bad("Meshgrid", "rank ", t.ndim(), ", expected scalars or vectors"));
    grid.push_back(t.numel());
  }
  if (swap) std::swap(grid[0], grid[1]);
  std::vector<Tensor> out;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const size_t place = swap && i < 2 ? 1 - i : i;
    Shape s(tensors.size(), 1);
    s[place] = tensors[i].numel();
    out.push_back(tensors[i].Reshape(s).Expand(grid));
  }
  return out;
}
Tensor CartesianProd(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> columns = Meshgrid(tensors);
  for (Tensor& c : columns) c = c.Reshape({-1});
  return columns.size() == 1 ? columns[0] : Stack(columns, 1);
}

}  // namespace understudy
