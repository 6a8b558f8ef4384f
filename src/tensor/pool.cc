// SPDX-License-Identifier: Apache-2.0
// Pools as reductions over windows. Sizes, and the elements that an average counts, are PyTorch's.
#include "src/tensor/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/status.h"
#include "src/tensor/nn_internal.h"
#include "src/uop/eval.h"

namespace understudy {
namespace {

using tensor_internal::Bad;
using tensor_internal::Text;

using Ints = std::vector<int64_t>;

Tensor OrError(absl::StatusOr<Tensor> t) { return t.ok() ? *std::move(t) : Tensor(t.status()); }
PoolWithIndices OrError(absl::StatusOr<PoolWithIndices> t) {
  return t.ok() ? *std::move(t) : PoolWithIndices{Tensor(t.status()), Tensor(t.status())};
}

// The last n axes are spatial; one or two come before.
absl::Status CheckInput(const char* op, int n, const Tensor& x) {
  US_RETURN_IF_ERROR(x.status());
  if (x.ndim() != n + 1 && x.ndim() != n + 2)
    return Bad(op, "input ", Text(x.shape()), ", expected rank ", n + 1, " or ", n + 2);
  for (int i = 0; i < n; ++i) {
    const int64_t d = x.shape()[x.ndim() - n + i];
    if (d < 1 || d > (int64_t{1} << 40))
      return Bad(op, "input ", Text(x.shape()), ", expected spatial axes with elements");
  }
  return absl::OkStatus();
}

struct Geometry {
  Ints size, kernel, stride, padding, dilation;
  Ints count;  // windows
  Ints after;  // elements of padding after, so that the last window fits
};
// PyTorch's pooling_output_shape: with ceil_mode a last window may hang over, if it starts in the input or in
// the padding before it.
absl::StatusOr<Geometry> ResolveGeometry(const char* op, int n, const Tensor& x, const PerAxis& kernel,
                                         const std::optional<PerAxis>& stride, const PerAxis& padding,
                                         const PerAxis& dilation, bool ceil_mode) {
  US_RETURN_IF_ERROR(CheckInput(op, n, x));
  Geometry g;
  US_ASSIGN_OR_RETURN(g.kernel, kernel.Resolve(op, "kernel", n, 1));
  US_ASSIGN_OR_RETURN(g.stride, stride.value_or(kernel).Resolve(op, "stride", n, 1));
  US_ASSIGN_OR_RETURN(g.padding, padding.Resolve(op, "padding", n, 0));
  US_ASSIGN_OR_RETURN(g.dilation, dilation.Resolve(op, "dilation", n, 1));
  for (int i = 0; i < n; ++i) {
    const int64_t size = x.shape()[x.ndim() - n + i],
                  reach = tensor_internal::Reach(g.kernel[i], g.dilation[i]);
    if (2 * g.padding[i] > reach)
      return Bad(op, "padding ", g.padding[i], " for a kernel that reaches over ", reach,
                 ", expected at most half of it");
    const int64_t room = size + 2 * g.padding[i] - reach;
    const int64_t steps = room + (ceil_mode ? g.stride[i] - 1 : 0);
    int64_t count = steps < 0 ? 0 : steps / g.stride[i] + 1;
    if (ceil_mode && count > 0 && (count - 1) * g.stride[i] >= size + g.padding[i]) --count;
    if (count < 1)
      return Bad(op, "padded size ", size + 2 * g.padding[i], " of spatial axis ", i,
                 " is smaller than the kernel's reach ", reach);
    g.size.push_back(size);
    g.count.push_back(count);
    g.after.push_back(std::max(g.padding[i], (count - 1) * g.stride[i] + reach - size - g.padding[i]));
  }
  return g;
}

// {..., O1, .., On, K1, .., Kn}, with `fill` around.
Tensor WindowsOf(const Tensor& x, const Geometry& g, Number fill) {
  const int n = static_cast<int>(g.size.size()), lead = x.ndim() - n;
  std::vector<std::pair<int64_t, int64_t>> amounts(lead, {0, 0});
  for (int i = 0; i < n; ++i) amounts.push_back({g.padding[i], g.after[i]});
  Tensor w = x.Pad(amounts, fill);
  for (int i = 0; i < n; ++i) {
    w = tensor_internal::Windows(w, lead + 2 * i, g.kernel[i], g.stride[i], g.dilation[i]);
    // Padding may have made room for more.
    w = tensor_internal::Cut(w, lead + 2 * i, 0, g.count[i]);
  }
  Ints order;
  for (int i = 0; i < lead; ++i) order.push_back(i);
  for (int i = 0; i < n; ++i) order.push_back(lead + 2 * i);
  for (int i = 0; i < n; ++i) order.push_back(lead + 2 * i + 1);
  return w.Permute(order);
}

Ints LastAxes(const Tensor& w, int n) {
  Ints axes;
  for (int i = 0; i < n; ++i) axes.push_back(w.ndim() - n + i);
  return axes;
}

// Below every element: the identity of MAX, which in a float without infinities is finite.
Number Lowest(DType t) {
  const ConstValue v = uop::IdentityOf(Op::kMax, t);
  if (t.IsBool()) return false;
  return std::holds_alternative<double>(v) ? Number(std::get<double>(v)) : Number(std::get<int64_t>(v));
}

// Row-major positions in the spatial axes, -1 where there is no element.
Tensor SpatialPositions(const Tensor& x, int n) {
  Shape s(x.shape().end() - n, x.shape().end());
  return tensor_internal::Positions(tensor_internal::Product(s), 0, 1, x).Reshape(s);
}

// The position of the first element of each window that is its largest; NaN counts as larger, the last of
// them.
Tensor PositionOfMax(const Tensor& w, const Tensor& positions, const Tensor& top, const Ints& axes) {
  const Tensor real = positions.Ge(0);
  const Tensor first =
      Where(w.Eq(top).BitAnd(real), positions, std::numeric_limits<int64_t>::max()).Min(axes);
  if (!w.dtype().IsFloat()) return first;
  const Tensor last_nan = Where(w.IsNan().BitAnd(real), positions, -1).Max(axes);
  return Where(last_nan.Ge(0), last_nan, first);
}

// `top` ({..., 1...}) is the largest of `w` over `axes`, where `positions` broadcasts to w. The index is the
// first's, and so is the gradient, as in PyTorch, instead of being shared by all that are equal.
PoolWithIndices LargestOf(const Tensor& top, const Tensor& w, const Tensor& positions, const Ints& axes) {
  const Tensor indices = PositionOfMax(w.Detach(), positions, top.Detach(), axes);
  if (!indices.ok()) return {indices, indices};
  if (!w.dtype().IsFloat()) return {top.Reshape(indices.shape()), indices};
  const Tensor at = positions.Expand(w.shape()), chosen = indices.Reshape(top.shape()).Expand(w.shape());
  if (!at.ok()) return {at, indices};
  const Tensor value =
      tensor_internal::Combine("MaxPool", {&top, &w, &at, &chosen},
                               uop::WithGradient("chosen", top.uop(), {w.uop(), at.uop(), chosen.uop()}));
  return {value.Reshape(indices.shape()), indices};
}

absl::StatusOr<PoolWithIndices> MaxWithIndices(const char* op, int n, const Tensor& x, const PerAxis& kernel,
                                               const MaxPoolOptions& o) {
  US_ASSIGN_OR_RETURN(const Geometry g,
                      ResolveGeometry(op, n, x, kernel, o.stride, o.padding, o.dilation, o.ceil_mode));
  const Tensor w = WindowsOf(x, g, Lowest(x.dtype()));
  const Ints axes = LastAxes(w, n);
  return LargestOf(w.Max(axes, true), w, WindowsOf(SpatialPositions(x, n), g, -1), axes);
}

absl::StatusOr<Tensor> MaxOf(const char* op, int n, const Tensor& x, const PerAxis& kernel,
                             const MaxPoolOptions& o) {
  US_ASSIGN_OR_RETURN(const PoolWithIndices r, MaxWithIndices(op, n, x, kernel, o));
  return r.values;
}

// How many elements of [lo, hi) each window along one axis covers.
Tensor Counts(const Geometry& g, int i, int n, int64_t lo, int64_t hi, const Tensor& like, DType t) {
  std::vector<double> c;
  for (int64_t o = 0; o < g.count[i]; ++o) {
    const int64_t start = o * g.stride[i] - g.padding[i];
    c.push_back(static_cast<double>(std::min(start + g.kernel[i], hi) - std::max(start, lo)));
  }
  Shape s(n, 1);
  s[i] = g.count[i];
  if (std::equal(c.begin() + 1, c.end(), c.begin()))
    return Tensor::Full(Shape(n, 1), c[0], {t, like.device()});
  return tensor_internal::HostNumbers(c, s, t, like);
}

absl::StatusOr<Tensor> AvgOf(const char* op, int n, const Tensor& x, const PerAxis& kernel,
                             const AvgPoolOptions& o) {
  US_RETURN_IF_ERROR(tensor_internal::WantFloats(op, {&x}));
  US_ASSIGN_OR_RETURN(const Geometry g,
                      ResolveGeometry(op, n, x, kernel, o.stride, o.padding, 1, o.ceil_mode));
  if (o.divisor_override && *o.divisor_override == 0)
    return Bad(op, "divisor_override 0, expected another number");
  const DType acc = AccType(x.dtype());
  const Tensor w = WindowsOf(x.Cast(acc), g, 0);
  const Tensor sum = w.Sum(LastAxes(w, n));
  if (o.divisor_override) return (sum / static_cast<double>(*o.divisor_override)).Cast(x.dtype());
  // What hangs over the padding never counts.
  Tensor divisor;
  for (int i = 0; i < n; ++i) {
    const int64_t p = o.count_include_pad ? g.padding[i] : 0;
    const Tensor c = Counts(g, i, n, -p, g.size[i] + p, x, acc);
    divisor = i == 0 ? c : divisor * c;
  }
  return (sum / divisor).Cast(x.dtype());
}

absl::StatusOr<Tensor> LpOf(const char* op, int n, const Tensor& x, double p, const PerAxis& kernel,
                            const LpPoolOptions& o) {
  US_RETURN_IF_ERROR(tensor_internal::WantFloats(op, {&x}));
  if (!(p > 0) || std::isinf(p)) return Bad(op, "norm_type ", p, ", expected a positive number");
  US_ASSIGN_OR_RETURN(const Ints sizes, kernel.Resolve(op, "kernel", n, 1));
  double area = 1;
  for (const int64_t k : sizes) area *= static_cast<double>(k);
  const Tensor wide = x.Cast(AccType(x.dtype()));
  AvgPoolOptions average;
  average.stride = o.stride;
  average.ceil_mode = o.ceil_mode;
  US_ASSIGN_OR_RETURN(const Tensor mean, AvgOf(op, n, wide.Pow(p), kernel, average));
  const Tensor positive = mean.Sign() * mean.Abs().Relu() * area;
  return positive.Pow(1 / p).Cast(x.dtype());
}

// --- Adaptive pools ---

struct Adaptive {
  Ints size, out;
  bool even = true;  // every axis divides
};
absl::StatusOr<Adaptive> ResolveAdaptive(const char* op, int n, const Tensor& x, const PerAxis& output_size) {
  US_RETURN_IF_ERROR(CheckInput(op, n, x));
  Adaptive a;
  US_ASSIGN_OR_RETURN(a.out, output_size.Resolve(op, "output_size", n, -1));
  for (int i = 0; i < n; ++i) {
    a.size.push_back(x.shape()[x.ndim() - n + i]);
    if (a.out[i] == -1) a.out[i] = a.size[i];
    if (a.out[i] == 0) return Bad(op, "output_size 0, expected at least 1");
    a.even &= a.size[i] % a.out[i] == 0;
  }
  return a;
}

// {out, size}: whether an element belongs to an output.
Tensor Membership(int64_t size, int64_t out, const Tensor& like) {
  std::vector<double> v(out * size);
  for (int64_t i = 0; i < out; ++i) {
    for (int64_t j = i * size / out; j < ((i + 1) * size + out - 1) / out; ++j) v[i * size + j] = 1;
  }
  return tensor_internal::HostNumbers(v, {out, size}, dtypes::kBool, like);
}

PerAxis EvenKernel(const Adaptive& a) {
  Ints k;
  for (size_t i = 0; i < a.size.size(); ++i) k.push_back(a.size[i] / a.out[i]);
  return k;
}

absl::StatusOr<Tensor> AdaptiveAvg(const char* op, int n, const Tensor& x, const PerAxis& output_size) {
  US_RETURN_IF_ERROR(tensor_internal::WantFloats(op, {&x}));
  US_ASSIGN_OR_RETURN(const Adaptive a, ResolveAdaptive(op, n, x, output_size));
  if (a.even) return AvgOf(op, n, x, EvenKernel(a), {});
  // A mean over a box is the mean of means, axis by axis.
  Tensor y = x.Cast(AccType(x.dtype()));
  for (int i = 0; i < n; ++i) {
    const int axis = x.ndim() - n + i;
    if (a.size[i] == a.out[i]) continue;
    std::vector<double> w(a.out[i] * a.size[i]);
    for (int64_t o = 0; o < a.out[i]; ++o) {
      const int64_t b = o * a.size[i] / a.out[i], e = ((o + 1) * a.size[i] + a.out[i] - 1) / a.out[i];
      for (int64_t j = b; j < e; ++j) w[o * a.size[i] + j] = 1 / static_cast<double>(e - b);
    }
    const Tensor weights = tensor_internal::HostNumbers(w, {a.out[i], a.size[i]}, y.dtype(), x);
    Ints back;
    for (int k = 0; k < y.ndim(); ++k) back.push_back(k);
    back.pop_back();
    back.insert(back.begin() + axis, y.ndim() - 1);
    Ints forward;
    for (int k = 0; k < y.ndim(); ++k) {
      if (k != axis) forward.push_back(k);
    }
    forward.push_back(axis);
    y = tensor_internal::MatmulIn(op, y.Permute(forward), weights.Transpose(), y.dtype()).Permute(back);
  }
  return y.Cast(x.dtype());
}

// {..., O1, S1, .., On, Sn} with the lowest value where an element does not belong.
absl::StatusOr<PoolWithIndices> AdaptiveMax(const char* op, int n, const Tensor& x,
                                            const PerAxis& output_size) {
  US_ASSIGN_OR_RETURN(const Adaptive a, ResolveAdaptive(op, n, x, output_size));
  if (a.even) return MaxWithIndices(op, n, x, EvenKernel(a), {});
  const int lead = x.ndim() - n;
  Tensor y = x;
  for (int i = 0; i < n; ++i) {
    const Tensor member = Membership(a.size[i], a.out[i], x);
    Shape along(n - i + 1, 1);
    along[0] = a.out[i];
    along[1] = a.size[i];
    // Axis by axis: the largest of the largest.
    y = Where(member.Reshape(along), y.Unsqueeze(lead + i),
              Tensor::Full({}, Lowest(x.dtype()), {x.dtype(), x.device()}))
            .Max({lead + i + 1});
  }
  // All positions against all outputs at once; only indices and gradients look at them.
  Tensor inside;
  for (int i = 0; i < n; ++i) {
    Shape along(2 * n, 1);
    along[i] = a.out[i];
    along[n + i] = a.size[i];
    const Tensor member = Membership(a.size[i], a.out[i], x).Reshape(along);
    inside = i == 0 ? member : inside.BitAnd(member);
  }
  Shape one = x.shape(), wide = y.shape(), top = y.shape();
  one.insert(one.begin() + lead, n, 1);
  wide.insert(wide.end(), a.size.begin(), a.size.end());
  top.insert(top.end(), n, 1);
  const Tensor positions = Where(inside, SpatialPositions(x, n), -1);
  Ints axes;
  for (int i = 0; i < n; ++i) axes.push_back(lead + n + i);
  return LargestOf(y.Reshape(top), x.Reshape(one).Expand(wide), positions, axes);
}

absl::StatusOr<Tensor> Unpool(const char* op, int n, const Tensor& x, const Tensor& indices,
                              const PerAxis& kernel, const MaxUnpoolOptions& o) {
  US_RETURN_IF_ERROR(CheckInput(op, n, x));
  US_RETURN_IF_ERROR(indices.status());
  if (indices.shape() != x.shape() || !indices.dtype().IsInt()) {
    return Bad(op, "indices of ", indices.dtype().Name(), Text(indices.shape()),
               ", expected integers of the input's shape ", Text(x.shape()));
  }
  US_ASSIGN_OR_RETURN(const Ints k, kernel.Resolve(op, "kernel", n, 1));
  US_ASSIGN_OR_RETURN(const Ints stride, o.stride.value_or(kernel).Resolve(op, "stride", n, 1));
  US_ASSIGN_OR_RETURN(const Ints padding, o.padding.Resolve(op, "padding", n, 0));
  const int lead = x.ndim() - n;
  Ints out;
  if (o.output_size) {
    US_ASSIGN_OR_RETURN(out, o.output_size->Resolve(op, "output_size", n, 1));
  } else {
    for (int i = 0; i < n; ++i) out.push_back((x.shape()[lead + i] - 1) * stride[i] - 2 * padding[i] + k[i]);
  }
  Shape result(x.shape().begin(), x.shape().begin() + lead), flat = result;
  int64_t cells = 1;
  for (const int64_t d : out) {
    if (d < 1) return Bad(op, "output size ", Text(out), ", expected at least 1");
    cells *= d;
  }
  result.insert(result.end(), out.begin(), out.end());
  flat.push_back(-1);
  const Tensor values = x.Reshape(flat).Unsqueeze(-2),
               index = indices.Cast(dtypes::kInt64).Reshape(flat).Unsqueeze(-2);
  const int rank = values.ndim();
  // {..., cells, values}: the last value that names a cell.
  const Tensor hit = index.Eq(tensor_internal::Positions(cells, rank - 2, rank, x));
  const Tensor order = tensor_internal::Positions(values.shape().back(), rank - 1, rank, x);
  const Tensor last = Where(hit, order, -1).Max({rank - 1}, true);
  return tensor_internal::PlainSum(
             op, Where(order.Eq(last), values, Tensor::Full({}, 0, {x.dtype(), x.device()})), {rank - 1})
      .Reshape(result);
}

}  // namespace

#define UNDERSTUDY_POOLS(n)                                                                               \
  Tensor MaxPool##n##d(const Tensor& x, const PerAxis& k, const MaxPoolOptions& o) {                      \
    return OrError(MaxOf("MaxPool" #n "d", n, x, k, o));                                                  \
  }                                                                                                       \
  PoolWithIndices MaxPool##n##dWithIndices(const Tensor& x, const PerAxis& k, const MaxPoolOptions& o) {  \
    return OrError(MaxWithIndices("MaxPool" #n "dWithIndices", n, x, k, o));                              \
  }                                                                                                       \
  Tensor MaxUnpool##n##d(const Tensor& x, const Tensor& i, const PerAxis& k, const MaxUnpoolOptions& o) { \
    return OrError(Unpool("MaxUnpool" #n "d", n, x, i, k, o));                                            \
  }                                                                                                       \
  Tensor AvgPool##n##d(const Tensor& x, const PerAxis& k, const AvgPoolOptions& o) {                      \
    return OrError(AvgOf("AvgPool" #n "d", n, x, k, o));                                                  \
  }                                                                                                       \
  Tensor LpPool##n##d(const Tensor& x, double p, const PerAxis& k, const LpPoolOptions& o) {              \
    return OrError(LpOf("LpPool" #n "d", n, x, p, k, o));                                                 \
  }                                                                                                       \
  Tensor AdaptiveAvgPool##n##d(const Tensor& x, const PerAxis& s) {                                       \
    return OrError(AdaptiveAvg("AdaptiveAvgPool" #n "d", n, x, s));                                       \
  }                                                                                                       \
  Tensor AdaptiveMaxPool##n##d(const Tensor& x, const PerAxis& s) {                                       \
    return OrError(AdaptiveMax("AdaptiveMaxPool" #n "d", n, x, s)).values;                                \
  }                                                                                                       \
  PoolWithIndices AdaptiveMaxPool##n##dWithIndices(const Tensor& x, const PerAxis& s) {                   \
    return OrError(AdaptiveMax("AdaptiveMaxPool" #n "dWithIndices", n, x, s));                            \
  }
UNDERSTUDY_POOLS(1)
UNDERSTUDY_POOLS(2)
UNDERSTUDY_POOLS(3)
#undef UNDERSTUDY_POOLS

}  // namespace understudy
