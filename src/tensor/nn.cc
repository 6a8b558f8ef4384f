// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication, convolution, normalisation and losses, as formulas over the other Tensor operations.
#include <algorithm>
#include <cmath>

#include "src/base/status.h"
#include "src/tensor/internal.h"

namespace understudy {

using tensor_internal::Bad;
using tensor_internal::Text;

namespace {

// Floats multiply and accumulate in AccType (products of narrow floats are exact there); integers keep their
// type and wrap; bool is OR of ANDs.
Tensor SumOfProducts(const Tensor& a, const Tensor& b, const std::vector<int64_t>& axes) {
  const DType t = Promote(a.dtype(), b.dtype());
  if (t.IsBool()) return a.BitAnd(b).Max(axes);
  const DType acc = t.IsFloat() ? AccType(t) : t;
  const Tensor product = a.Cast(acc) * b.Cast(acc);
  if (!product.ok()) return product;
  // Reduced without Sum's widening of integers.
  Shape out;
  for (int i = 0; i < product.ndim(); ++i) {
    if (!std::count(axes.begin(), axes.end(), i)) out.push_back(product.shape()[i]);
  }
  return tensor_internal::Combine("Matmul", {&product},
                                  uop::Reshape(uop::ReduceAxis(product.uop(), Op::kAdd, axes), out))
      .Cast(t);
}

// Windows along one axis of size n: the axis becomes {count, k}, element {o, j} being x[o * stride + j *
// dilation].
Tensor Windows(const Tensor& x, int64_t axis, int64_t k, int64_t stride, int64_t dilation) {
  const int64_t n = x.shape()[axis], count = (n - dilation * (k - 1) - 1) / stride + 1;
  const auto with = [&](std::initializer_list<int64_t> dims) {
    Shape s(x.shape().begin(), x.shape().begin() + axis);
    s.insert(s.end(), dims);
    s.insert(s.end(), x.shape().begin() + axis + 1, x.shape().end());
    return s;
  };
  const auto cut = [](const Tensor& t, int64_t at, int64_t end) {
    std::vector<std::pair<int64_t, int64_t>> bounds;
    for (const int64_t d : t.shape()) bounds.push_back({0, d});
    bounds[at].second = end;
    return t.Shrink(bounds);
  };
  if (k == 1) {
    std::vector<IndexItem> items(axis, Slice{});
    items.push_back(Slice{0, std::nullopt, stride});
    return x.Index(items).Reshape(with({count, 1}));
  }
  if (stride == k && dilation == 1) return cut(x, axis, count * k).Reshape(with({count, k}));
  // Repeat the axis and read it with period p = f * n + dilation: row j starts j * dilation further on,
  // modulo n.
  const int64_t f = std::max<int64_t>(1, (count * stride - dilation + n - 1) / n), p = f * n + dilation;
  const int64_t repeats = (k * p + n - 1) / n;
  Tensor t = x.Reshape(with({1, n})).Expand(with({repeats, n})).Reshape(with({repeats * n}));
  t = cut(t, axis, k * p).Reshape(with({k, p}));
  t = cut(t, axis + 1, count * stride).Reshape(with({k, count, stride}));
  return cut(t, axis + 2, 1).Reshape(with({k, count})).Transpose(axis, axis + 1);
}

}  // namespace

Tensor Tensor::Matmul(const Tensor& other) const {
  if (!ok()) return *this;
  if (!other.ok()) return other;
  if (ndim() == 0 || other.ndim() == 0) {
    return Tensor(
        Bad("Matmul", "shapes ", Text(shape()), " and ", Text(other.shape()), ", expected at least rank 1"));
  }
  const Tensor a = ndim() == 1 ? Unsqueeze(0) : *this;
  const Tensor b = other.ndim() == 1 ? other.Unsqueeze(1) : other;
  const int64_t k = a.shape().back(), m = a.shape()[a.ndim() - 2], n = b.shape().back();
  if (b.shape()[b.ndim() - 2] != k) {
    return Tensor(Bad("Matmul", "shapes ", Text(shape()), " and ", Text(other.shape()), ": inner sizes ", k,
                      " and ", b.shape()[b.ndim() - 2], ", expected equal"));
  }
  const auto batch = tensor_internal::BroadcastShapes("Matmul", Shape(a.shape().begin(), a.shape().end() - 2),
                                                      Shape(b.shape().begin(), b.shape().end() - 2));
  if (!batch.ok()) return Tensor(batch.status());
  Shape out = *batch;
  if (ndim() > 1) out.push_back(m);
  if (other.ndim() > 1) out.push_back(n);
  const Tensor rows = a.Unsqueeze(-2), columns = b.Transpose().Unsqueeze(-3);
  const int64_t last = static_cast<int64_t>(batch->size()) + 2;
  return SumOfProducts(rows, columns, {last}).Reshape(out);
}

Tensor Tensor::Softmax(int64_t axis) const {
  if (!ok()) return *this;
  if (!dtype().IsFloat()) return Tensor(Bad("Softmax", "dtype ", dtype().Name(), ", expected floats"));
  const auto a = tensor_internal::Axis("Softmax", axis, ndim());
  if (ndim() == 0) return Full({}, 1, {dtype(), device()});
  if (!a.ok()) return Tensor(a.status());
  if (numel() == 0) return *this;
  const Tensor x = Cast(tensor_internal::ComputeType(dtype()));
  const Tensor e = (x - x.Detach().Max({*a}, true)).Exp();
  return (e / e.Sum({*a}, true)).Cast(dtype());
}

Tensor Tensor::LogSoftmax(int64_t axis) const {
  if (!ok()) return *this;
  if (!dtype().IsFloat()) return Tensor(Bad("LogSoftmax", "dtype ", dtype().Name(), ", expected floats"));
  const auto a = tensor_internal::Axis("LogSoftmax", axis, ndim());
  if (ndim() == 0) return Full({}, 0, {dtype(), device()});
  if (!a.ok()) return Tensor(a.status());
  if (numel() == 0) return *this;
  const Tensor x = Cast(tensor_internal::ComputeType(dtype()));
  const Tensor shifted = x - x.Detach().Max({*a}, true);
  return (shifted - shifted.Exp().Sum({*a}, true).Log()).Cast(dtype());
}

Tensor Tensor::LayerNorm(int64_t num_axes, const Tensor* weight, const Tensor* bias, double eps) const {
  if (!ok()) return *this;
  if (!dtype().IsFloat()) return Tensor(Bad("LayerNorm", "dtype ", dtype().Name(), ", expected floats"));
  if (num_axes < 1 || num_axes > ndim())
    return Tensor(
        Bad("LayerNorm", num_axes, " axes of a tensor of rank ", ndim(), ", expected 1 to ", ndim()));
  const Shape normal(shape().end() - num_axes, shape().end());
  for (const Tensor* p : {weight, bias}) {
    if (p == nullptr) continue;
    if (!p->ok()) return *p;
    if (p->shape() != normal)
      return Tensor(
          Bad("LayerNorm", "weight or bias of shape ", Text(p->shape()), ", expected ", Text(normal)));
  }
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < num_axes; ++i) axes.push_back(ndim() - num_axes + i);
  const Tensor x = Cast(tensor_internal::ComputeType(dtype()));
  const Tensor centred = x - x.Mean(axes, true);
  Tensor y = centred * (centred.Square().Mean(axes, true) + eps).Rsqrt();
  if (weight != nullptr) y = y * weight->Cast(y.dtype());
  if (bias != nullptr) y = y + bias->Cast(y.dtype());
  return y.Cast(dtype());
}

Tensor Tensor::Conv2d(const Tensor& weight, const Tensor* bias, const Conv2dOptions& o) const {
  if (!ok()) return *this;
  if (!weight.ok()) return weight;
  if (bias != nullptr && !bias->ok()) return *bias;
  if (ndim() != 4 || weight.ndim() != 4) {
    return Tensor(Bad("Conv2d", "input ", Text(shape()), " and weight ", Text(weight.shape()),
                      ", expected rank 4 ({N,C,H,W} and {O,C/groups,KH,KW})"));
  }
  const int64_t batch = shape()[0], channels = shape()[1], out = weight.shape()[0], per = weight.shape()[1];
  const int64_t kh = weight.shape()[2], kw = weight.shape()[3], groups = o.groups;
  if (groups < 1 || channels != per * groups || out % groups != 0) {
    return Tensor(Bad("Conv2d", channels, " input channels, weight ", Text(weight.shape()), " and ", groups,
                      " groups do not fit"));
  }
  if (o.stride.first < 1 || o.stride.second < 1 || o.dilation.first < 1 || o.dilation.second < 1 ||
      o.padding.first < 0 || o.padding.second < 0) {
    return Tensor(Bad("Conv2d", "stride {", o.stride.first, ",", o.stride.second, "}, dilation {",
                      o.dilation.first, ",", o.dilation.second, "}, padding {", o.padding.first, ",",
                      o.padding.second,
                      "}, expected positive strides and dilations, and no negative padding"));
  }
  if (bias != nullptr && bias->shape() != Shape{out}) {
    return Tensor(Bad("Conv2d", "bias of shape ", Text(bias->shape()), ", expected [", out, "]"));
  }
  const Tensor padded =
      Pad({{0, 0}, {0, 0}, {o.padding.first, o.padding.first}, {o.padding.second, o.padding.second}});
  const int64_t reach_h = o.dilation.first * (kh - 1) + 1, reach_w = o.dilation.second * (kw - 1) + 1;
  if (kh < 1 || kw < 1 || padded.shape()[2] < reach_h || padded.shape()[3] < reach_w) {
    return Tensor(Bad("Conv2d", "padded input ", Text(padded.shape()),
                      " is smaller than the kernel's reach [", reach_h, ",", reach_w, "]"));
  }
  // {N, C, OH, KH, OW, KW}
  const Tensor w1 = Windows(padded, 2, kh, o.stride.first, o.dilation.first);
  const Tensor w2 = Windows(w1, 4, kw, o.stride.second, o.dilation.second);
  const int64_t oh = w2.shape()[2], ow = w2.shape()[4];
  // {N, G, 1, OH, OW, C/G, KH, KW} times {G, O/G, 1, 1, C/G, KH, KW}
  const Tensor x = w2.Reshape({batch, groups, 1, per, oh, kh, ow, kw}).Permute({0, 1, 2, 4, 6, 3, 5, 7});
  const Tensor w = weight.Reshape({groups, out / groups, 1, 1, per, kh, kw});
  Tensor y = SumOfProducts(x, w, {5, 6, 7}).Reshape({batch, out, oh, ow});
  if (bias != nullptr) y = y + bias->Reshape({out, 1, 1});
  return y;
}

Tensor Tensor::CrossEntropy(const Tensor& target) const {
  if (!ok()) return *this;
  if (!target.ok()) return target;
  if (ndim() != 2 || target.ndim() != 1 || target.shape()[0] != shape()[0]) {
    return Tensor(Bad("CrossEntropy", "logits ", Text(shape()), " and target ", Text(target.shape()),
                      ", expected [N,C] and [N]"));
  }
  if (!target.dtype().IsInt())
    return Tensor(Bad("CrossEntropy", "target of dtype ", target.dtype().Name(),
                      ", expected integers (class indices)"));
  const int64_t classes = shape()[1];
  const Tensor index = Arange(0, classes, 1, {dtypes::kInt64, target.device()});
  const Tensor wanted = target.Cast(dtypes::kInt64).Unsqueeze(1);
  const Tensor picked = Where(wanted.Eq(index), LogSoftmax(1), 0.0).Sum({1});
  // A class outside [0, C) cannot be refused before the data is known: it makes the loss NaN.
  const Tensor inside = target.Cast(dtypes::kInt64).Ge(0).BitAnd(target.Cast(dtypes::kInt64).Lt(classes));
  return -Where(inside, picked, NAN).Mean();
}

}  // namespace understudy
