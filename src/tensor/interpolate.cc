// SPDX-License-Identifier: Apache-2.0
// Resizing as small sums of products along one axis after another, with coefficients made on the host.
#include "src/tensor/interpolate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/base/status.h"
#include "src/tensor/nn_internal.h"
#include "src/tensor/pool.h"

namespace understudy {
namespace {

using tensor_internal::Bad;
using tensor_internal::Refuse;
using tensor_internal::Text;

using Ints = std::vector<int64_t>;

Tensor OrError(absl::StatusOr<Tensor> t) { return t.ok() ? *std::move(t) : Tensor(t.status()); }

// What one output element takes: weights of input elements from `first` on, which may lie outside (the
// nearest element inside stands for them).
struct Taps {
  int64_t first;
  std::vector<double> weights;
};

// The source position of output o: PyTorch's area_pixel_compute_source_index.
struct Axis {
  int64_t n, out;
  double scale;  // input elements an output element
  bool align;
  double Position(int64_t o) const {
    return align ? scale * static_cast<double>(o) : scale * (static_cast<double>(o) + 0.5) - 0.5;
  }
};

Taps TapsOf(const Axis& a, InterpolateMode mode, int64_t o) {
  if (mode == InterpolateMode::kNearest || mode == InterpolateMode::kNearestExact) {
    // In single precision, as PyTorch for every type: it decides which element is nearest.
    const float shift = mode == InterpolateMode::kNearest ? 0.0f : 0.5f;
    const float at = std::floor((static_cast<float>(o) + shift) * static_cast<float>(a.scale));
    return {std::min(static_cast<int64_t>(at), a.n - 1), {1}};
  }
  const double at = a.Position(o), base = std::floor(at), t = at - base;
  const auto first = static_cast<int64_t>(base);
  if (mode == InterpolateMode::kLinear) return {first, {1 - t, t}};
  // Keys' cubic convolution with a = -0.75.
  const double k = -0.75;
  const auto near = [&](double x) { return ((k + 2) * x - (k + 3)) * x * x + 1; };
  const auto far = [&](double x) { return ((k * x - 5 * k) * x + 8 * k) * x - 4 * k; };
  return {first - 1, {far(t + 1), near(t), near(1 - t), far(2 - t)}};
}

// sum_j c[.., j] x_j over the last axis of x, where a coefficient of 0 leaves its element out (so that an
// infinity there stays there). x {..., 1, k}, c {p, k}.
Tensor Weighted(const Tensor& x, const std::vector<double>& c, int64_t p, int64_t k) {
  std::vector<double> used(c.size());
  for (size_t i = 0; i < c.size(); ++i) used[i] = c[i] != 0;
  const Tensor take = tensor_internal::HostNumbers(used, {p, k}, dtypes::kBool, x);
  const Tensor coefficients = tensor_internal::HostNumbers(c, {p, k}, x.dtype(), x);
  return tensor_internal::PlainSum("Interpolate", Where(take, x * coefficients, 0.0), {x.ndim() - 1});
}

Tensor ResizeAxis(const Tensor& x, int64_t axis, const Axis& a, InterpolateMode mode) {
  std::vector<Taps> taps;
  for (int64_t o = 0; o < a.out; ++o) taps.push_back(TapsOf(a, mode, o));
  // Whole steps of q input elements may repeat every p outputs: then each window of the input gives p
  // outputs.
  const int64_t g = std::gcd(a.n, a.out), p = a.out / g, q = a.n / g;
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  bool periodic = !a.align && g > 1;
  for (int64_t o = 0; o < a.out && periodic; ++o) {
    const Taps &t = taps[o], &r = taps[o % p];
    periodic = t.first - r.first == o / p * q;
    for (size_t i = 0; i < t.weights.size() && periodic; ++i)
      periodic = std::abs(t.weights[i] - r.weights[i]) < 1e-9;
    lo = std::min(lo, r.first);
    hi = std::max(hi, r.first + static_cast<int64_t>(r.weights.size()) - 1);
  }
  if (!periodic) {
    // Every output against every input.
    std::vector<double> c(a.out * a.n);
    for (int64_t o = 0; o < a.out; ++o) {
      for (size_t i = 0; i < taps[o].weights.size(); ++i)
        c[o * a.n + std::clamp<int64_t>(taps[o].first + static_cast<int64_t>(i), 0, a.n - 1)] +=
            taps[o].weights[i];
    }
    Tensor y = Weighted(x.Transpose(axis, -1).Unsqueeze(-2), c, a.out, a.n);
    return y.Transpose(axis, -1);
  }
  const int64_t k = hi - lo + 1, before = std::max<int64_t>(0, -lo);
  const int64_t after = std::max<int64_t>(0, (g - 1) * q + hi - (a.n - 1));
  Tensor wide = x;
  const auto edge = [&](int64_t at, int64_t times) {
    Shape s = x.shape();
    s[axis] = times;
    return tensor_internal::Cut(x, axis, at, at + 1).Expand(s);
  };
  std::vector<Tensor> parts;
  if (before > 0) parts.push_back(edge(0, before));
  parts.push_back(x);
  if (after > 0) parts.push_back(edge(a.n - 1, after));
  if (parts.size() > 1) wide = Cat(parts, axis);
  if (lo > 0) wide = tensor_internal::Cut(wide, axis, lo, wide.shape()[axis]);
  // {.., g, k, ..} -> {.., g, ..., k}
  const Tensor w = tensor_internal::Cut(tensor_internal::Windows(wide, axis, k, q, 1), axis, 0, g);
  Ints order;
  for (int i = 0; i < w.ndim(); ++i) {
    if (i != axis + 1) order.push_back(i);
  }
  order.push_back(axis + 1);
  std::vector<double> c(p * k);
  for (int64_t r = 0; r < p; ++r) {
    for (size_t i = 0; i < taps[r].weights.size(); ++i)
      c[r * k + taps[r].first - lo + static_cast<int64_t>(i)] = taps[r].weights[i];
  }
  const Tensor last = w.Permute(order).Unsqueeze(-2);
  Tensor y;
  if (mode == InterpolateMode::kNearest || mode == InterpolateMode::kNearestExact) {
    // One element each: moved, not summed, when all of a window's outputs take the same one.
    const bool same =
        std::all_of(taps.begin(), taps.begin() + p, [&](const Taps& t) { return t.first == taps[0].first; });
    if (same) {
      const Tensor one =
          tensor_internal::Cut(last, last.ndim() - 1, taps[0].first - lo, taps[0].first - lo + 1);
      Shape s = one.shape();
      s[s.size() - 2] = p;
      y = one.Expand(s).Squeeze(-1);
    }
  }
  if (!y.ok()) y = Weighted(last, c, p, k);
  // {.., g, ..., p} -> {.., g p, ..}
  Ints back;
  for (int i = 0; i + 1 < y.ndim(); ++i) back.push_back(i);
  back.insert(back.begin() + axis + 1, y.ndim() - 1);
  Shape joined = x.shape();
  joined[axis] = a.out;
  return y.Permute(back).Reshape(joined);
}

absl::StatusOr<Tensor> Resize(const Tensor& input, const InterpolateOptions& o) {
  const char* op = "Interpolate";
  US_RETURN_IF_ERROR(input.status());
  const int n = input.ndim() - 2;
  if (n < 1 || n > 3)
    return Bad(op, "input ", Text(input.shape()), ", expected [N,C,spatial...] of one to three spatial axes");
  if (o.size.has_value() == !o.scale_factor.empty())
    return Bad(op, "expected exactly one of size and scale_factor");
  const bool smooth = o.mode == InterpolateMode::kLinear || o.mode == InterpolateMode::kCubic;
  if (o.align_corners && !smooth) return Bad(op, "align_corners in a mode other than kLinear and kCubic");
  if (o.mode == InterpolateMode::kCubic && n != 2)
    return Bad(op, "kCubic of ", n, " spatial axes, expected 2");
  if (smooth || o.mode == InterpolateMode::kArea)
    US_RETURN_IF_ERROR(tensor_internal::WantFloats(op, {&input}));
  Ints out(n);
  std::vector<double> factor(n, 0);
  if (o.size) {
    US_ASSIGN_OR_RETURN(out, o.size->Resolve(op, "size", n, 1));
  } else {
    if (o.scale_factor.size() != 1 && static_cast<int>(o.scale_factor.size()) != n)
      return Bad(op, o.scale_factor.size(), " scale factors for ", n,
                 " spatial axes, expected one or one an axis");
    for (int i = 0; i < n; ++i) {
      factor[i] = o.scale_factor.size() == 1 ? o.scale_factor[0] : o.scale_factor[i];
      const double size = std::floor(static_cast<double>(input.shape()[2 + i]) * factor[i]);
      if (!(factor[i] > 0) || !(size >= 1) || size > 1e9)
        return Bad(op, "scale factor ", factor[i], " of size ", input.shape()[2 + i],
                   ", expected a size of at least 1");
      out[i] = static_cast<int64_t>(size);
    }
  }
  for (int i = 0; i < n; ++i) {
    if (input.shape()[2 + i] < 1)
      return Bad(op, "input ", Text(input.shape()), ", expected spatial axes with elements");
  }
  if (o.mode == InterpolateMode::kArea) {
    return n == 1   ? AdaptiveAvgPool1d(input, out)
           : n == 2 ? AdaptiveAvgPool2d(input, out)
                    : AdaptiveAvgPool3d(input, out);
  }
  Tensor x = smooth ? input.Cast(AccType(input.dtype())) : input;
  for (int i = 0; i < n; ++i) {
    Axis a{input.shape()[2 + i], out[i], 0, o.align_corners};
    const double size = static_cast<double>(a.n), wanted = static_cast<double>(a.out);
    if (o.align_corners)
      a.scale = a.out > 1 ? (size - 1) / (wanted - 1) : 0;
    else
      a.scale = factor[i] > 0 && !o.recompute_scale_factor ? 1 / factor[i] : size / wanted;
    if (a.n == a.out && (o.align_corners || a.scale == 1)) continue;
    x = ResizeAxis(x, 2 + i, a, o.mode);
  }
  return x.Cast(input.dtype());
}

// --- Sampling ---

// x mirrored at lo and hi until it lies between.
Tensor Reflected(const Tensor& x, double lo, double hi) {
  if (hi <= lo) return x * 0.0;
  const double span = hi - lo;
  const Tensor d = (x - lo).Abs(), turns = (d / span).Detach().Floor(), rest = d - turns * span;
  const Tensor odd = (turns * 0.5).Floor() * 2.0;
  return Where(turns.Eq(odd), rest + lo, span - rest + lo);
}

absl::StatusOr<Tensor> Sample(const Tensor& input, const Tensor& grid, const GridSampleOptions& o) {
  const char* op = "GridSample";
  US_RETURN_IF_ERROR(tensor_internal::WantFloats(op, {&input, &grid}));
  if (input.ndim() != 4 || grid.ndim() != 4 || grid.shape()[3] != 2 || grid.shape()[0] != input.shape()[0] ||
      input.shape()[2] < 1 || input.shape()[3] < 1) {
    return Bad(op, "input ", Text(input.shape()), " and grid ", Text(grid.shape()),
               ", expected [N,C,H,W] and [N,OH,OW,2]");
  }
  const int64_t batch = input.shape()[0], channels = input.shape()[1], h = input.shape()[2],
                w = input.shape()[3];
  const int64_t cells = grid.shape()[1] * grid.shape()[2];
  const DType compute = AccType(Promote(input.dtype(), grid.dtype()));
  const Tensor x = input.Cast(compute), g = grid.Cast(compute).Reshape({batch, cells, 2});
  const auto place = [&](int64_t which, int64_t size) {
    const double n = static_cast<double>(size);
    const Tensor u = tensor_internal::Cut(g, 2, which, which + 1).Squeeze(2);
    Tensor at = o.align_corners ? (u + 1.0) * ((n - 1) / 2) : ((u + 1.0) * n - 1.0) * 0.5;
    if (o.padding == GridSampleOptions::Padding::kReflection)
      at = o.align_corners ? Reflected(at, 0, n - 1) : Reflected(at, -0.5, n - 0.5);
    if (o.padding != GridSampleOptions::Padding::kZeros)
      at = Where(at.Le(0), 0.0, Where(at.Ge(n - 1), n - 1, at));  // on the border the slope is that outside
    return at;
  };
  const Tensor px = place(0, w), py = place(1, h);
  const Tensor flat = x.Reshape({batch, channels, 1, h * w});
  const Tensor position = tensor_internal::Positions(h * w, 3, 4, x).Cast(compute);
  // Picks by (row, column) as floats, which are whole numbers; outside gives 0.
  const auto pick = [&](const Tensor& column, const Tensor& row) {
    const Tensor inside = column.Ge(0)
                              .BitAnd(column.Lt(static_cast<double>(w)))
                              .BitAnd(row.Ge(0))
                              .BitAnd(row.Lt(static_cast<double>(h)));
    const Tensor index =
        Where(inside, row * static_cast<double>(w) + column, -1.0).Reshape({batch, 1, cells, 1});
    return tensor_internal::PlainSum(op, Where(index.Eq(position), flat, 0.0), {3});  // {N, C, cells}
  };
  Tensor y;
  if (o.mode == GridSampleOptions::Mode::kNearest) {
    // Half to even, as nearbyint: x + 0.5 down, less one where that made an odd number of a half.
    const auto nearest = [](const Tensor& v) {
      const Tensor d = v.Detach(), up = (d + 0.5).Floor();
      const Tensor half = (up - d).Eq(0.5), odd = ((up * 0.5).Floor() * 2.0).Ne(up);
      return Where(half.BitAnd(odd), up - 1.0, up);
    };
    y = pick(nearest(px), nearest(py));
  } else {
    const Tensor x0 = px.Detach().Floor(), y0 = py.Detach().Floor();
    const Tensor fx = px - x0, fy = py - y0;
    for (int i = 0; i < 4; ++i) {
      const bool right = i % 2 == 1, below = i / 2 == 1;
      const Tensor weight = (right ? fx : 1.0 - fx) * (below ? fy : 1.0 - fy);
      const Tensor part = pick(right ? x0 + 1.0 : x0, below ? y0 + 1.0 : y0) * weight.Unsqueeze(1);
      y = i == 0 ? part : y + part;
    }
  }
  return y.Reshape({batch, channels, grid.shape()[1], grid.shape()[2]}).Cast(input.dtype());
}

}  // namespace

Tensor Interpolate(const Tensor& input, const InterpolateOptions& options) {
  return OrError(Resize(input, options));
}

Tensor GridSample(const Tensor& input, const Tensor& grid, const GridSampleOptions& options) {
  return OrError(Sample(input, grid, options));
}

Tensor PixelShuffle(const Tensor& input, int64_t r) {
  if (!input.ok()) return input;
  const int rank = input.ndim();
  if (rank < 3 || r < 1 || r > (1 << 20) || input.shape()[rank - 3] % (r * r) != 0) {
    return Refuse("PixelShuffle", "input ", Text(input.shape()), " by ", r, ", expected [...,C*r*r,H,W]");
  }
  const Shape lead(input.shape().begin(), input.shape().end() - 3);
  const int64_t c = input.shape()[rank - 3] / (r * r), h = input.shape()[rank - 2],
                w = input.shape()[rank - 1];
  const int64_t n = tensor_internal::Product(lead);
  Shape out = lead;
  out.insert(out.end(), {c, h * r, w * r});
  return input.Reshape({n, c, r, r, h, w}).Permute({0, 1, 4, 2, 5, 3}).Reshape(out);
}

Tensor PixelUnshuffle(const Tensor& input, int64_t r) {
  if (!input.ok()) return input;
  const int rank = input.ndim();
  if (rank < 3 || r < 1 || r > (1 << 20) || input.shape()[rank - 2] % r != 0 ||
      input.shape()[rank - 1] % r != 0) {
    return Refuse("PixelUnshuffle", "input ", Text(input.shape()), " by ", r, ", expected [...,C,H*r,W*r]");
  }
  const Shape lead(input.shape().begin(), input.shape().end() - 3);
  const int64_t c = input.shape()[rank - 3], h = input.shape()[rank - 2] / r, w = input.shape()[rank - 1] / r;
  const int64_t n = tensor_internal::Product(lead);
  Shape out = lead;
  out.insert(out.end(), {c * r * r, h, w});
  return input.Reshape({n, c, h, r, w, r}).Permute({0, 1, 3, 5, 2, 4}).Reshape(out);
}

Tensor ChannelShuffle(const Tensor& input, int64_t groups) {
  if (!input.ok()) return input;
  if (input.ndim() < 3 || groups < 1 || input.shape()[1] % groups != 0)
    return Refuse("ChannelShuffle", "input ", Text(input.shape()), " in ", groups,
                  " groups, expected [N,C,...] with a divisor of C");
  const int64_t n = input.shape()[0], c = input.shape()[1];
  Shape split{n, groups, c / groups};
  split.insert(split.end(), input.shape().begin() + 2, input.shape().end());
  return input.Reshape(split).Transpose(1, 2).Reshape(input.shape());
}

}  // namespace understudy
