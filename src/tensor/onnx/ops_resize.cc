// SPDX-License-Identifier: Apache-2.0
// Resizing and sampling. RESIZE is separable: along each axis an output element is a weighted sum of a few
// input elements, whose places and weights are computed on the host (the sizes are known) and read by index.
#include <algorithm>
#include <cmath>

#include "src/tensor/elementwise_ops.h"
#include "src/tensor/gather.h"
#include "src/tensor/internal.h"
#include "src/tensor/linalg.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/onnx/ops.h"

namespace understudy::onnx::ops {
namespace {

struct ResizeMode {
  std::string kind;       // nearest, linear, cubic
  std::string transform;  // coordinate_transformation_mode
  std::string nearest;    // nearest_mode
  double cubic_a = -0.75;
  bool exclude_outside = false, antialias = false;
  double extrapolation = 0;
};

// The weight of an input element at distance d (in input elements, or output elements where shrunk).
double Kernel(const ResizeMode& m, double d) {
  d = std::abs(d);
  if (m.kind == "linear") return std::max(0.0, 1 - d);
  const double a = m.cubic_a;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

constexpr int64_t kMostTaps = 1 << 24;  // weights on the host, an axis

struct Taps {
  int64_t count = 0;             // a row's
  std::vector<int64_t> places;   // {out, count}
  std::vector<double> weights;   // the same
  std::vector<uint8_t> outside;  // {out}: takes the extrapolation value
};

// Where output `o` of an axis lies in the input.
double SourceOf(NodeContext& c, const ResizeMode& m, int64_t o, int64_t in, int64_t out, double scale,
                double start, double end) {
  const double y = static_cast<double>(o), n = static_cast<double>(in), width = scale * n;
  if (m.transform == "asymmetric") return y / scale;
  if (m.transform == "half_pixel") return (y + 0.5) / scale - 0.5;
  if (m.transform == "pytorch_half_pixel") return width == 1 ? -0.5 : (y + 0.5) / scale - 0.5;
  if (m.transform == "align_corners") return width == 1 ? 0 : y * (n - 1) / (width - 1);
  if (m.transform == "half_pixel_symmetric") {
    const double adjust = static_cast<double>(out) / width;
    return n / 2 * (1 - adjust) + (y + 0.5) / scale - 0.5;
  }
  if (m.transform == "tf_crop_and_resize") {
    return (width == 1 ? (end - start) * (n - 1) / 2 : y * (end - start) * (n - 1) / (width - 1)) +
           start * (n - 1);
  }
  c.Bad("coordinate_transformation_mode '", m.transform, "'");
  return 0;
}

double RoundTo(NodeContext& c, const std::string& mode, double x) {
  if (mode == "floor" || mode == "simple") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  c.Bad("nearest_mode '", mode, "'");
  return 0;
}

Taps TapsOf(NodeContext& c, const ResizeMode& m, int64_t in, int64_t out, double scale, double start,
            double end) {
  Taps t;
  const bool nearest = m.kind == "nearest";
  const double support = m.kind == "cubic" ? 2 : 1;
  const double shrink = m.antialias ? std::min(scale, 1.0) : 1.0;
  // A window of even width around the position.
  const int64_t half = nearest ? 0 : static_cast<int64_t>(std::min(std::ceil(support / shrink), 1e6));
  t.count = nearest ? 1 : 2 * half;
  if (!c.Want(out <= kMostTaps && t.count * std::max<int64_t>(out, 1) <= kMostTaps, "weights of ", t.count,
              " elements each"))
    return t;
  for (int64_t o = 0; o < out; ++o) {
    const double x = SourceOf(c, m, o, in, out, scale, start, end);
    if (!c.ok() || !c.Want(std::isfinite(x) && std::abs(x) < 1e15, "a position of ", x)) return t;
    t.outside.push_back(m.transform == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(in - 1)));
    if (nearest) {
      t.places.push_back(std::clamp<int64_t>(static_cast<int64_t>(RoundTo(c, m.nearest, x)), 0, in - 1));
      t.weights.push_back(1);
      continue;
    }
    const auto low = static_cast<int64_t>(std::floor(x)) - half + 1;
    double sum = 0;
    for (int64_t i = 0; i < t.count; ++i) {
      const int64_t place = low + i;
      double w = Kernel(m, (static_cast<double>(place) - x) * shrink);
      if (m.exclude_outside && (place < 0 || place >= in)) w = 0;
      t.places.push_back(std::clamp<int64_t>(place, 0, in - 1));
      t.weights.push_back(w);
      sum += w;
    }
    if ((m.antialias || m.exclude_outside) && sum != 0) {
      for (int64_t i = 0; i < t.count; ++i) t.weights[t.weights.size() - 1 - i] /= sum;
    }
  }
  return t;
}

Tensor ResizeAxis(NodeContext& c, const Tensor& x, int64_t axis, const Taps& t, int64_t out, bool nearest) {
  Tensor sum;
  for (int64_t k = 0; k < t.count; ++k) {
    std::vector<int64_t> places(out);
    std::vector<double> weights(out);
    for (int64_t o = 0; o < out; ++o) {
      places[o] = t.places[o * t.count + k];
      weights[o] = t.weights[o * t.count + k];
    }
    const Tensor part = IndexSelect(x, axis, c.Host(places, {out}));
    if (nearest) return part;
    Shape along(x.ndim(), 1);
    along[axis] = out;
    const Tensor term = part * c.Host(weights, along).Cast(x.dtype());
    sum = k == 0 ? term : sum + term;
  }
  return sum;
}

void ResizeTo(NodeContext& c, const Tensor& x, const ResizeMode& m, const std::vector<int64_t>& sizes,
              const std::vector<double>& scales, const std::vector<double>& roi) {
  const bool nearest = m.kind == "nearest";
  if (!c.Want(nearest || m.kind == "linear" || m.kind == "cubic", "mode '", m.kind,
              "', expected nearest, linear or cubic"))
    return;
  Tensor y = nearest || x.dtype() == dtypes::kFloat64 ? x : x.Cast(dtypes::kFloat32);
  std::optional<Tensor> outside;
  for (int64_t axis = 0; axis < x.ndim(); ++axis) {
    const double start = roi.empty() ? 0 : roi[axis], end = roi.empty() ? 1 : roi[x.ndim() + axis];
    const int64_t in = x.shape()[axis], out = sizes[axis];
    if (!c.Want(in > 0 || out == 0, "axis ", axis, " has no elements")) return;
    if (in == out && scales[axis] == 1 && m.transform != "tf_crop_and_resize") continue;
    if (!c.Want(scales[axis] > 0 && std::isfinite(scales[axis]), "a scale of ", scales[axis])) return;
    const Taps t = TapsOf(c, m, in, out, scales[axis], start, end);
    if (!c.ok()) return;
    y = ResizeAxis(c, y, axis, t, out, nearest);
    if (std::any_of(t.outside.begin(), t.outside.end(), [](uint8_t b) { return b != 0; })) {
      Shape along(x.ndim(), 1);
      along[axis] = out;
      const Tensor o = Tensor::FromBytes(t.outside, dtypes::kBool, along, c.device());
      outside = outside ? LogicalOr(*outside, o) : o;
    }
  }
  if (outside) y = understudy::Where(*outside, m.extrapolation, y);
  if (!nearest && x.dtype().IsInt())
    y = understudy::Round(y).Clamp(static_cast<double>(std::get<int64_t>(MinValue(x.dtype()))),
                                   static_cast<double>(std::get<int64_t>(MaxValue(x.dtype()))));
  c.OutMoved(0, y.Cast(x.dtype()));
}

int64_t Scaled(int64_t n, double scale) {
  return static_cast<int64_t>(std::floor(static_cast<double>(n) * scale));
}

}  // namespace

void Resize(NodeContext& c) {
  const Tensor x = c.In(0);
  if (!c.ok()) return;
  ResizeMode m;
  m.kind = c.Text("mode", "nearest");
  const auto rank = static_cast<size_t>(x.ndim());
  std::vector<double> roi, scales;
  std::vector<int64_t> sizes;
  if (c.opset() < 11) {
    m.transform = "asymmetric";
    m.nearest = "floor";
    scales = c.Doubles(1);
  } else {
    m.transform = c.Text("coordinate_transformation_mode", "half_pixel");
    m.nearest = c.Text("nearest_mode", "round_prefer_floor");
    m.cubic_a = c.Float("cubic_coeff_a", -0.75);
    m.exclude_outside = c.Int("exclude_outside", 0) != 0;
    m.antialias = c.Int("antialias", 0) != 0;
    m.extrapolation = c.Float("extrapolation_value", 0);
    if (c.Has(1) && m.transform == "tf_crop_and_resize") roi = c.Doubles(1);
    if (c.Has(2)) scales = c.Doubles(2);
    if (c.Has(3)) sizes = c.Ints(3);
  }
  std::vector<int64_t> axes;
  if (const auto given = c.IntList("axes")) {
    for (const int64_t a : *given) axes.push_back(c.Axis(a, x.ndim()));
  } else {
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  }
  if (!c.Want(scales.empty() != sizes.empty(), "either scales or sizes") ||
      !c.Want(scales.empty() || scales.size() == axes.size(), scales.size(), " scales of ", axes.size(),
              " axes") ||
      !c.Want(sizes.empty() || sizes.size() == axes.size(), sizes.size(), " sizes of ", axes.size(),
              " axes") ||
      !c.Want(roi.empty() || roi.size() == 2 * axes.size(), "a roi of ", roi.size(), " numbers")) {
    return;
  }
  std::vector<int64_t> all_sizes = x.shape();
  std::vector<double> all_scales(rank, 1), all_roi;
  if (m.transform == "tf_crop_and_resize") {
    all_roi.assign(2 * rank, 0);
    std::fill(all_roi.begin() + rank, all_roi.end(), 1);
  }
  const std::string policy = c.Text("keep_aspect_ratio_policy", "stretch");
  double common = 0;
  if (!sizes.empty() && policy != "stretch") {
    if (!c.Want(policy == "not_larger" || policy == "not_smaller", "keep_aspect_ratio_policy '", policy, "'"))
      return;
    for (size_t i = 0; i < axes.size(); ++i) {
      const double s =
          static_cast<double>(sizes[i]) / static_cast<double>(std::max<int64_t>(x.shape()[axes[i]], 1));
      common = i == 0 ? s : policy == "not_larger" ? std::min(common, s) : std::max(common, s);
    }
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i], in = x.shape()[axis];
    if (!sizes.empty()) {
      if (!c.Want(sizes[i] >= 0, "a size of ", sizes[i])) return;
      all_scales[axis] = policy == "stretch"
                             ? static_cast<double>(sizes[i]) / static_cast<double>(std::max<int64_t>(in, 1))
                             : common;
      all_sizes[axis] = policy == "stretch"
                            ? sizes[i]
                            : static_cast<int64_t>(std::floor(common * static_cast<double>(in) + 0.5));
    } else {
      if (!c.Want(scales[i] > 0 && scales[i] < 1e9, "a scale of ", scales[i])) return;
      all_scales[axis] = scales[i];
      all_sizes[axis] = Scaled(in, scales[i]);
    }
    if (!roi.empty()) {
      all_roi[axis] = roi[i];
      all_roi[rank + axis] = roi[axes.size() + i];
    }
  }
  ResizeTo(c, x, m, all_sizes, all_scales, all_roi);
}

void Upsample(NodeContext& c) {
  const Tensor x = c.In(0);
  ResizeMode m;
  m.kind = c.Text("mode", "nearest");
  m.transform = "asymmetric";
  m.nearest = "floor";
  std::vector<double> scales;
  if (c.opset() < 9) {
    for (const float f : c.FloatList("scales")) scales.push_back(f);
  } else {
    scales = c.Doubles(1);
  }
  if (!c.Want(static_cast<int>(scales.size()) == x.ndim(), scales.size(), " scales of ", x.ndim(), " axes"))
    return;
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < scales.size(); ++i) {
    if (!c.Want(scales[i] >= 1 && scales[i] < 1e9, "a scale of ", scales[i])) return;
    sizes.push_back(Scaled(x.shape()[i], scales[i]));
  }
  ResizeTo(c, x, m, sizes, scales, {});
}

// --- Sampling at computed positions ---

namespace {

enum class Border { kZeros, kBorder, kReflection };

// A position beyond the ends, mirrored until it lies between `low` and `high`.
Tensor Reflected(const Tensor& x, double low, double high) {
  const double span = high - low;
  if (span <= 0) return x * 0;
  const Tensor d = (x - low).Abs();
  const Tensor extra = d.Fmod(span), flips = (d / span).Floor();
  return understudy::Where(flips.Mod(2.0).Eq(0), extra + low, Number(high) - extra);
}

// x {N, C, spatial...} at positions (one f32 or f64 tensor {N, places} an axis, in elements) by taps of one
// axis: positions and weights, all combinations of which are summed.
struct AxisTap {
  Tensor place;  // i64
  Tensor weight;
  Tensor inside;  // bool, of kZeros
};

Tensor SampleTaps(const Tensor& x, const std::vector<std::vector<AxisTap>>& taps, bool zeros) {
  const size_t axes = taps.size();
  const int64_t n = x.shape()[0], channels = x.shape()[1];
  const Tensor flat = x.Reshape({n, channels, -1});
  std::vector<size_t> pick(axes, 0);
  Tensor sum;
  for (bool first = true;; first = false) {
    Tensor place, weight, inside;
    for (size_t a = 0; a < axes; ++a) {
      const AxisTap& t = taps[a][pick[a]];
      place = a == 0 ? t.place : place * x.shape()[a + 2] + t.place;
      weight = a == 0 ? t.weight : weight * t.weight;
      if (zeros) inside = a == 0 ? t.inside : LogicalAnd(inside, t.inside);
    }
    const int64_t places = place.ok() ? place.shape()[1] : 0;
    Tensor part = understudy::Gather(flat, 2, BroadcastTo(place.Unsqueeze(1), {n, channels, places}));
    if (zeros) part = understudy::Where(inside.Unsqueeze(1), part, 0);
    part = part * weight.Unsqueeze(1).Cast(x.dtype());
    sum = first ? part : sum + part;
    size_t a = axes;
    while (a > 0 && ++pick[a - 1] == taps[a - 1].size()) pick[--a] = 0;
    if (a == 0) return sum;
  }
}

}  // namespace

void GridSample(NodeContext& c) {
  const Tensor x = c.In(0), grid = c.In(1);
  std::string mode = c.Text("mode", c.opset() < 20 ? "bilinear" : "linear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  const std::string padding = c.Text("padding_mode", "zeros");
  const bool align = c.Int("align_corners", 0) != 0;
  if (!c.Want(mode == "linear" || mode == "cubic" || mode == "nearest", "mode '", mode, "'") ||
      !c.Want(padding == "zeros" || padding == "border" || padding == "reflection", "padding_mode '", padding,
              "'") ||
      !c.Want(x.ndim() >= 3 && grid.ndim() == x.ndim() && grid.shape().back() == x.ndim() - 2, "a grid ",
              tensor_internal::Text(grid.shape()), " over ", tensor_internal::Text(x.shape()))) {
    return;
  }
  const int axes = x.ndim() - 2;
  if (!c.Want(axes <= 3, "more than three axes")) return;
  const DType work = x.dtype() == dtypes::kFloat64 ? x.dtype() : dtypes::kFloat32;
  const Tensor f = x.Cast(work);
  std::vector<std::vector<AxisTap>> taps;
  for (int a = 0; a < axes; ++a) {
    const int64_t n = x.shape()[a + 2];
    if (!c.Want(n > 0, "axis ", a + 2, " has no elements")) return;
    const auto last = static_cast<double>(n - 1);
    const double low = align ? 0 : -0.5, high = align ? last : last + 0.5;
    // The grid's last axis is (x, y, z): the innermost axis first. Every position of the output is a place.
    const Tensor g = Select(grid, -1, axes - 1 - a).Cast(work).Reshape({grid.shape()[0], -1});
    Tensor at = align ? (g + 1) / 2 * last : ((g + 1) * static_cast<double>(n) - 1) / 2;
    // Positions are folded or clamped before the taps are taken; those of cubic windows each by itself.
    const auto fold = [&](const Tensor& p) {
      if (padding == "border") return p.Clamp(0, last);
      if (padding == "reflection") return Reflected(p, low, high).Clamp(0, last);
      return p;
    };
    if (mode != "cubic") at = fold(at);
    std::vector<AxisTap> row;
    const auto add = [&](const Tensor& p, const Tensor& weight) {
      const Tensor place = mode == "cubic" ? fold(p) : p;
      const Tensor inside = LogicalAnd(place >= 0, place <= last);
      row.push_back({place.Clamp(0, last).Cast(dtypes::kInt64), weight, inside});
    };
    if (mode == "nearest") {
      add(understudy::Round(at), at * 0 + 1);
    } else {
      const Tensor base = at.Floor(), t = at - base;
      if (mode == "linear") {
        add(base, Number(1) - t);
        add(base + 1, t);
      } else {
        constexpr double kA = -0.75;
        const auto near = [&](const Tensor& d) { return ((d * (kA + 2) - (kA + 3)) * d * d) + 1; };
        const auto far = [&](const Tensor& d) { return ((d * kA - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
        add(base - 1, far(t + 1));
        add(base, near(t));
        add(base + 1, near(Number(1) - t));
        add(base + 2, far(Number(2) - t));
      }
    }
    taps.push_back(std::move(row));
  }
  const Tensor y = SampleTaps(f, taps, padding == "zeros");
  Shape shape = {x.shape()[0], x.shape()[1]};
  shape.insert(shape.end(), grid.shape().begin() + 1, grid.shape().end() - 1);
  c.Out(0, y.Reshape(shape).Cast(x.dtype()));
}

void AffineGrid(NodeContext& c) {
  const Tensor theta = c.In(0);
  const std::vector<int64_t> size = c.Ints(1);
  const bool align = c.Int("align_corners", 0) != 0;
  if (!c.Want(size.size() == 4 || size.size() == 5, "a size with ", size.size(), " axes")) return;
  const auto axes = static_cast<int64_t>(size.size()) - 2;
  if (!c.Want(theta.ndim() == 3 && theta.shape()[1] == axes && theta.shape()[2] == axes + 1, "theta ",
              tensor_internal::Text(theta.shape())))
    return;
  Shape spatial(size.begin() + 2, size.end()), wide = spatial;
  wide.push_back(1);
  std::vector<Tensor> columns;  // x, y, z, 1
  for (int64_t a = axes; a-- > 0;) {
    const int64_t n = spatial[a];
    if (!c.Want(n >= 0 && n <= kMostTaps, "a size of ", n)) return;
    std::vector<double> at(n);
    for (int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<double>(i), m = static_cast<double>(n);
      at[i] = align ? (n == 1 ? 0 : -1 + 2 * k / (m - 1)) : (2 * k + 1) / m - 1;
    }
    Shape along(axes + 1, 1);
    along[a] = n;
    columns.push_back(BroadcastTo(c.Host(at, along).Cast(theta.dtype()), wide));
  }
  columns.push_back(Tensor::Ones(wide, c.Options(theta.dtype())));
  const Tensor grid = Cat(columns, axes).Reshape({-1, axes + 1});  // {places, axes + 1}
  Shape shape = {theta.shape()[0]};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  shape.push_back(axes);
  c.Out(0, understudy::Matmul(grid, theta.Transpose()).Reshape(shape));
}

// Regions of fixed size by samples on a grid in each; regions are evaluated, as their grids depend on them.
void RoiAlign(NodeContext& c) {
  const Tensor x = c.In(0);
  const std::vector<double> rois = c.Doubles(1);
  const std::vector<int64_t> batches = c.Ints(2);
  if (!c.Want(x.ndim() == 4 && rois.size() == 4 * batches.size(), rois.size(), " numbers for ",
              batches.size(), " regions"))
    return;
  const bool half = c.Text("coordinate_transformation_mode",
                           c.opset() < 16 ? "output_half_pixel" : "half_pixel") == "half_pixel";
  const bool most = c.Text("mode", "avg") == "max";
  const int64_t oh = c.Int("output_height", 1), ow = c.Int("output_width", 1),
                ratio = c.Int("sampling_ratio", 0);
  const double scale = c.Float("spatial_scale", 1), shift = half ? 0.5 : 0;
  const int64_t h = x.shape()[2], w = x.shape()[3];
  if (!c.Want(oh > 0 && ow > 0 && oh < 65536 && ow < 65536 && h > 0 && w > 0, "regions of ", oh, " by ", ow))
    return;
  // Two taps a sample and axis: {place, weight}; weight 0 outside.
  struct Axis {
    int64_t grid;
    std::vector<int64_t> low, high;
    std::vector<double> wl, wh;
  };
  const auto axis = [&](double from, double to, int64_t out, int64_t n) {
    Axis a;
    double size = to - from;
    if (!half) size = std::max(size, 1.0);
    const double bin = size / static_cast<double>(out);
    if (!c.Want(std::isfinite(bin) && std::abs(bin) < 1e6 && ratio < 65536, "a region from ", from, " to ",
                to)) {
      return a;
    }
    a.grid = ratio > 0 ? ratio : static_cast<int64_t>(std::ceil(bin));
    if (!c.Want(a.grid * out <= kMostTaps, a.grid, " samples each")) return a;
    a.grid = std::max<int64_t>(a.grid, 1);
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t i = 0; i < a.grid; ++i) {
        double y = from + static_cast<double>(o) * bin +
                   (static_cast<double>(i) + 0.5) * bin / static_cast<double>(a.grid);
        const bool outside = y < -1 || y > static_cast<double>(n);
        y = std::clamp(y, 0.0, static_cast<double>(n - 1));
        const auto low = std::min(static_cast<int64_t>(y), n - 1), high = std::min(low + 1, n - 1);
        const double t = y - static_cast<double>(low);
        a.low.push_back(low);
        a.high.push_back(high);
        a.wl.push_back(outside ? 0 : 1 - t);
        a.wh.push_back(outside ? 0 : t);
      }
    }
    return a;
  };
  c.Fail(c.runner().CountSteps(static_cast<int64_t>(batches.size())));
  std::vector<Tensor> out;
  for (size_t r = 0; c.ok() && r < batches.size(); ++r) {
    if (!c.Want(batches[r] >= 0 && batches[r] < x.shape()[0], "image ", batches[r], " of ", x.shape()[0]))
      return;
    const double* roi = &rois[4 * r];
    const Axis ya = axis(roi[1] * scale - shift, roi[3] * scale - shift, oh, h),
               xa = axis(roi[0] * scale - shift, roi[2] * scale - shift, ow, w);
    if (!c.ok()) return;
    const Tensor image = Select(x, 0, batches[r]);  // {C, H, W}
    const int64_t ny = oh * ya.grid, nx = ow * xa.grid;
    std::optional<Tensor> sum;
    for (const bool y_high : {false, true}) {
      for (const bool x_high : {false, true}) {
        const Tensor rows = IndexSelect(image, 1, c.Host(y_high ? ya.high : ya.low, {ny}));
        const Tensor part = IndexSelect(rows, 2, c.Host(x_high ? xa.high : xa.low, {nx}));
        const Tensor weight = c.Host(y_high ? ya.wh : ya.wl, {ny, 1}) * c.Host(x_high ? xa.wh : xa.wl, {nx});
        const Tensor term = part * weight.Cast(x.dtype());
        // The maximum is over the weighted corners, not over their sums.
        sum = !sum ? term : most ? sum->Maximum(term) : *sum + term;
      }
    }
    const Tensor samples = sum->Reshape({x.shape()[1], oh, ya.grid, ow, xa.grid});
    out.push_back(most ? samples.Max({2, 4}) : samples.Mean({2, 4}));
  }
  if (!c.ok()) return;
  if (out.empty()) return c.Out(0, Tensor::Zeros({0, x.shape()[1], oh, ow}, c.Options(x.dtype())));
  c.Out(0, Stack(out, 0));
}

// A convolution whose windows are moved element by element: bilinear samples, times a mask.
void DeformConv(NodeContext& c) {
  const Tensor x = c.In(0), w = c.In(1), offset = c.In(2);
  if (!c.Want(x.ndim() == 4 && w.ndim() == 4 && offset.ndim() == 4, "an input with ", x.ndim(),
              " axes, expected 4"))
    return;
  const int64_t n = x.shape()[0], channels = x.shape()[1], h = x.shape()[2], wd = x.shape()[3];
  const int64_t out_channels = w.shape()[0], kh = w.shape()[2], kw = w.shape()[3];
  const int64_t groups = c.Int("group", 1), offset_groups = c.Int("offset_group", 1);
  const std::vector<int64_t> stride = c.IntList("strides").value_or(std::vector<int64_t>{1, 1}),
                             dilation = c.IntList("dilations").value_or(std::vector<int64_t>{1, 1}),
                             pads = c.IntList("pads").value_or(std::vector<int64_t>{0, 0, 0, 0});
  const int64_t oh = offset.shape()[2], ow = offset.shape()[3];
  if (!c.Want(stride.size() == 2 && dilation.size() == 2 && pads.size() == 4, "attributes of another rank") ||
      !c.Want(groups > 0 && offset_groups > 0 && channels % groups == 0 && channels % offset_groups == 0 &&
                  out_channels % groups == 0 && w.shape()[1] * groups == channels &&
                  offset.shape()[1] == offset_groups * kh * kw * 2 && h > 0 && wd > 0,
              "weights ", tensor_internal::Text(w.shape()), ", offsets ",
              tensor_internal::Text(offset.shape()), " of ", tensor_internal::Text(x.shape()))) {
    return;
  }
  const DType work = AccType(x.dtype());
  const int64_t each = channels / offset_groups, places = kh * kw * oh * ow;
  // Images {n offset_groups, each, h, w} at {n offset_groups, kh kw oh ow}.
  const Tensor images = x.Cast(work).Reshape({n * offset_groups, each, h, wd});
  const Tensor off = offset.Cast(work).Reshape({n * offset_groups, kh, kw, 2, oh, ow});
  std::vector<std::vector<AxisTap>> taps;
  for (int a = 0; a < 2; ++a) {
    const int64_t size = a == 0 ? h : wd, k = a == 0 ? kh : kw, o = a == 0 ? oh : ow;
    Shape kernel_axis = {1, 1, 1, 1, 1}, out_axis = {1, 1, 1, 1, 1};
    kernel_axis[1 + a] = k;
    out_axis[3 + a] = o;
    const Tensor start =
        Tensor::Arange(0, o, 1, c.Options(dtypes::kInt64)).Reshape(out_axis) * stride[a] - pads[a];
    const Tensor in_kernel =
        Tensor::Arange(0, k, 1, c.Options(dtypes::kInt64)).Reshape(kernel_axis) * dilation[a];
    const Tensor at =
        (Select(off, 3, a) + (start + in_kernel).Cast(work)).Reshape({n * offset_groups, places});
    const Tensor base = at.Floor(), t = at - base;
    std::vector<AxisTap> row;
    for (const auto& [p, weight] : {std::pair<Tensor, Tensor>{base, Number(1) - t}, {base + 1, t}}) {
      const auto last = static_cast<double>(size - 1);
      row.push_back({p.Clamp(0, last).Cast(dtypes::kInt64), weight, LogicalAnd(p >= 0, p <= last)});
    }
    taps.push_back(std::move(row));
  }
  Tensor samples = SampleTaps(images, taps, true).Reshape({n, offset_groups, each, kh * kw, oh * ow});
  if (c.Has(4)) samples = samples * c.In(4).Cast(work).Reshape({n, offset_groups, 1, kh * kw, oh * ow});
  // {n, groups, channels / groups * kernel, places} times {groups, out / groups, channels / groups * kernel}.
  const Tensor columns = samples.Reshape({n, groups, channels / groups * kh * kw, oh * ow});
  const Tensor weights = w.Cast(work).Reshape({groups, out_channels / groups, channels / groups * kh * kw});
  Tensor y = understudy::Matmul(weights, columns).Reshape({n, out_channels, oh, ow});
  if (c.Has(3)) y = y + c.In(3).Cast(work).Reshape({1, out_channels, 1, 1});
  c.Out(0, y.Cast(x.dtype()));
}

}  // namespace understudy::onnx::ops
