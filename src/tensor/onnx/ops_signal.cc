// SPDX-License-Identifier: Apache-2.0
// Fourier transforms (as products with a matrix of roots of unity: O(n^2)), windows, mel weights, EINSUM and
// DET.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "src/tensor/decomposition.h"
#include "src/tensor/internal.h"
#include "src/tensor/linalg.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/onnx/ops.h"

namespace understudy::onnx::ops {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr int64_t kMostRoots = int64_t{1} << 25;  // elements of the matrix

// The transform of the last axis of re (and im, when given), which has n elements or fewer after padding.
struct Complex {
  Tensor re, im;
};
// matrix[i][k] = scale_i cos or sin (2 pi i k / n).
Tensor Roots(NodeContext& c, int64_t in, int64_t out, int64_t n, bool sine, DType dtype,
             const std::vector<double>& scale = {}) {
  if (!c.Want(in <= kMostRoots && out <= kMostRoots && in * out <= kMostRoots, "a transform of ", n,
              " points"))
    return Tensor(c.status());
  std::vector<double> m(in * out);
  for (int64_t i = 0; i < in; ++i) {
    for (int64_t k = 0; k < out; ++k) {
      const double angle = kTurn * static_cast<double>(i * k % n) / static_cast<double>(n);
      m[i * out + k] = (sine ? std::sin(angle) : std::cos(angle)) * (scale.empty() ? 1 : scale[i]);
    }
  }
  return c.Host(m, {in, out}).Cast(dtype);
}

// The first n elements of the last axis, zeros after.
Tensor Fit(const Tensor& x, int64_t n) {
  std::vector<std::pair<int64_t, int64_t>> amounts(x.ndim());
  if (!amounts.empty()) amounts.back() = {0, n - x.shape().back()};
  return x.Pad(amounts);
}

// Of {..., n, 1 or 2} along `axis` -> {..., out, 2}; inverse and onesided: {..., out, 1}.
Tensor Transform(NodeContext& c, const Tensor& in, int64_t axis, int64_t n, bool inverse, bool onesided) {
  if (!c.Want(n > 0 && n <= kMostRoots, "a transform of ", n, " points") ||
      !c.Want(in.ndim() >= 2 && (in.shape().back() == 1 || in.shape().back() == 2), "a signal ",
              tensor_internal::Text(in.shape()), ", expected one or two numbers an element")) {
    return Tensor(c.status());
  }
  const DType dtype = in.dtype() == dtypes::kFloat64 ? in.dtype() : dtypes::kFloat32;
  const Tensor x = in.Cast(dtype);
  const auto part = [&](int64_t i) { return Movedim(Select(x, -1, i), {axis}, {-1}); };
  const bool complex = in.shape().back() == 2;
  Tensor re = part(0), im = complex ? part(1) : Tensor();
  const int64_t rank = re.ndim();
  if (inverse && onesided) {
    // Bins other than the first (and the middle one of an even number) stand for two.
    const int64_t bins = n / 2 + 1;
    std::vector<double> scale(bins, 2.0 / static_cast<double>(n));
    scale[0] = 1.0 / static_cast<double>(n);
    if (n % 2 == 0) scale[bins - 1] = 1.0 / static_cast<double>(n);
    Tensor y = Fit(re, bins).Matmul(Roots(c, bins, n, n, false, dtype, scale));
    if (complex) y = y - Fit(im, bins).Matmul(Roots(c, bins, n, n, true, dtype, scale));
    return Movedim(y, {rank - 1}, {axis}).Unsqueeze(-1).Cast(in.dtype());
  }
  const int64_t out = onesided ? n / 2 + 1 : n;
  const Tensor cos = Roots(c, n, out, n, false, dtype), sin = Roots(c, n, out, n, true, dtype);
  re = Fit(re, n);
  // e^(-i a) forwards, e^(i a) / n backwards.
  const double sign = inverse ? -1 : 1;
  Tensor yr = re.Matmul(cos), yi = re.Matmul(sin) * -sign;
  if (complex) {
    im = Fit(im, n);
    yr = yr + im.Matmul(sin) * sign;
    yi = yi + im.Matmul(cos);
  }
  Tensor y = Stack({Movedim(yr, {rank - 1}, {axis}), Movedim(yi, {rank - 1}, {axis})}, -1);
  if (inverse) y = y * (1.0 / static_cast<double>(n));
  return y.Cast(in.dtype());
}

void Window(NodeContext& c, double a, double b, double d) {
  const int64_t size = c.IntOf(0);
  const auto type = static_cast<ElemType>(c.Int("output_datatype", 1));
  if (HeldIn(type).IsVoid()) return c.Refuse("elements of ", ElemTypeName(type));
  if (!c.Want(size >= 0 && size <= (int64_t{1} << 24), "a window of ", size)) return;
  const double period = static_cast<double>(c.Int("periodic", 1) != 0 ? size : size - 1);
  std::vector<double> w(size);
  for (int64_t i = 0; i < size; ++i) {
    const double t = period == 0 ? 0 : kTurn * static_cast<double>(i) / period;
    w[i] = a - b * std::cos(t) + d * std::cos(2 * t);
  }
  c.Out(0, c.Host(w, {size}).Cast(HeldIn(type)), type);
}

}  // namespace

void Dft(NodeContext& c) {
  const Tensor x = c.In(0);
  if (!c.ok()) return;
  int64_t axis = c.opset() < 20 ? c.Int("axis", 1) : c.Has(2) ? c.IntOf(2) : -2;
  axis = c.Axis(axis, x.ndim());
  const bool inverse = c.Int("inverse", 0) != 0, onesided = c.Int("onesided", 0) != 0;
  if (!c.Want(axis < x.ndim() - 1, "axis ", axis, " holds the parts of a number")) return;
  int64_t n = inverse && onesided ? 2 * (x.shape()[axis] - 1) : x.shape()[axis];
  if (c.Has(1)) n = c.IntOf(1);
  if (!c.ok()) return;
  c.Out(0, Transform(c, x, axis, n, inverse, onesided));
}

void Stft(NodeContext& c) {
  const Tensor x = c.In(0);
  const int64_t step = c.IntOf(1);
  if (!c.Want(x.ndim() == 3 && step > 0, "a signal ", tensor_internal::Text(x.shape()), " by steps of ",
              step))
    return;
  int64_t n = x.shape()[1];
  if (c.Has(2)) n = c.In(2).numel();
  if (c.Has(3)) n = c.IntOf(3);
  if (!c.Want(n > 0 && n <= x.shape()[1], "frames of ", n, " of ", x.shape()[1])) return;
  Tensor frames = Movedim(Unfold(x, 1, n, step), {3}, {2});  // {batch, frames, n, 1 or 2}
  if (c.Has(2)) {
    if (!c.Want(c.In(2).numel() == n, "a window of ", c.In(2).numel(), " for frames of ", n)) return;
    frames = frames * c.In(2).Reshape({n, 1});
  }
  c.Out(0, Transform(c, frames, 2, n, false, c.Int("onesided", 1) != 0));
}

void HannWindow(NodeContext& c) { Window(c, 0.5, 0.5, 0); }
void HammingWindow(NodeContext& c) { Window(c, 25.0 / 46, 21.0 / 46, 0); }
void BlackmanWindow(NodeContext& c) { Window(c, 0.42, 0.5, 0.08); }

void MelWeightMatrix(NodeContext& c) {
  const int64_t bins = c.IntOf(0), length = c.IntOf(1), rate = c.IntOf(2);
  const double low = c.DoubleOf(3), high = c.DoubleOf(4);
  const auto type = static_cast<ElemType>(c.Int("output_datatype", 1));
  if (HeldIn(type).IsVoid()) return c.Refuse("elements of ", ElemTypeName(type));
  if (!c.Want(bins > 0 && bins < 65536 && length >= 0 && length < (1 << 24) && rate > 0 && low >= 0 &&
                  low <= high,
              bins, " bins of ", length, " points at ", rate))
    return;
  const int64_t rows = length / 2 + 1;
  if (!c.Want(rows * bins <= (int64_t{1} << 24), "a matrix of ", rows, " by ", bins)) return;
  const auto mel = [](double hz) { return 2595 * std::log10(1 + hz / 700); };
  std::vector<int64_t> edges;
  const double step = (mel(high) - mel(low)) / static_cast<double>(bins + 2);
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double hz = 700 * (std::pow(10, (static_cast<double>(i) * step + mel(low)) / 2595) - 1);
    edges.push_back(
        static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * hz / static_cast<double>(rate))));
    if (!c.Want(edges.back() >= 0 && edges.back() < rows, "an edge at ", hz, " Hz, beyond the spectrum"))
      return;
  }
  std::vector<double> m(rows * bins);
  for (int64_t i = 0; i < bins; ++i) {
    const int64_t left = edges[i], centre = edges[i + 1], right = edges[i + 2];
    if (left == centre) m[centre * bins + i] = 1;
    for (int64_t j = left; left != centre && j <= centre; ++j)
      m[j * bins + i] = static_cast<double>(j - left) / static_cast<double>(centre - left);
    for (int64_t j = centre; j < right; ++j)
      m[j * bins + i] = static_cast<double>(right - j) / static_cast<double>(right - centre);
  }
  c.Out(0, c.Host(m, {rows, bins}).Cast(HeldIn(type)), type);
}

void Einsum(NodeContext& c) {
  std::vector<Tensor> operands;
  for (int i = 0; i < c.num_inputs(); ++i) operands.push_back(c.In(i));
  std::string equation = c.Text("equation", "");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  c.Out(0, understudy::Einsum(equation, operands));
}

void Det(NodeContext& c) { c.Out(0, understudy::Det(c.In(0))); }

}  // namespace understudy::onnx::ops
