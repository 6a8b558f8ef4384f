// SPDX-License-Identifier: Apache-2.0
// Normalisation: centre, divide by a deviation, scale and shift, each in the compute type of the input.
#include "src/tensor/norm.h"

#include <algorithm>
#include <cmath>

#include "src/base/status.h"
#include "src/tensor/linalg.h"
#include "src/tensor/nn_internal.h"

namespace understudy {
namespace {

using tensor_internal::Bad;
using tensor_internal::ComputeType;
using tensor_internal::Refuse;
using tensor_internal::Text;
using tensor_internal::WantFloats;

using Ints = std::vector<int64_t>;

Tensor OrError(absl::StatusOr<Tensor> t) { return t.ok() ? *std::move(t) : Tensor(t.status()); }

absl::Status WantShape(const char* op, const char* what, const Tensor* t, const Shape& shape) {
  if (t == nullptr || t->shape() == shape) return absl::OkStatus();
  return Bad(op, what, " of shape ", Text(t->shape()), ", expected ", Text(shape));
}

absl::Status WantChannels(const char* op, const Tensor& x) {
  if (x.ndim() >= 2) return absl::OkStatus();
  return Bad(op, "input ", Text(x.shape()), ", expected [N,C,...]");
}

// A {C} tensor along axis 1 of `rank` axes.
Tensor Channels(const Tensor& t, int rank) {
  Shape s(rank, 1);
  s[1] = t.shape()[0];
  return t.Reshape(s);
}

// y * weight + bias, shaped by `place`.
template <class F>
Tensor Affine(Tensor y, const Tensor* weight, const Tensor* bias, F place) {
  if (weight != nullptr) y = y * place(weight->Cast(y.dtype()));
  if (bias != nullptr) y = y + place(bias->Cast(y.dtype()));
  return y;
}

// (x - mean) / sqrt(variance + eps) over the axes.
Tensor Standardised(const Tensor& x, const Ints& axes, double eps) {
  const Tensor centred = x - x.Mean(axes, true);
  return centred * (centred.Square().Mean(axes, true) + eps).Rsqrt();
}

absl::StatusOr<Ints> LastAxes(const char* op, const Tensor& x, const Shape& normal) {
  if (normal.empty() || normal.size() > x.shape().size() ||
      !std::equal(normal.rbegin(), normal.rend(), x.shape().rbegin())) {
    return Bad(op, "input ", Text(x.shape()), " and normalized_shape ", Text(normal),
               ", expected the input to end with it");
  }
  Ints axes;
  for (size_t i = 0; i < normal.size(); ++i)
    axes.push_back(x.ndim() - static_cast<int64_t>(normal.size() - i));
  return axes;
}

absl::StatusOr<Tensor> Layer(const Tensor& input, const Shape& normal, const Tensor* weight,
                             const Tensor* bias, double eps) {
  US_RETURN_IF_ERROR(WantFloats("LayerNorm", {&input, weight, bias}));
  US_ASSIGN_OR_RETURN(const Ints axes, LastAxes("LayerNorm", input, normal));
  US_RETURN_IF_ERROR(WantShape("LayerNorm", "weight", weight, normal));
  US_RETURN_IF_ERROR(WantShape("LayerNorm", "bias", bias, normal));
  const Tensor y = Standardised(input.Cast(ComputeType(input.dtype())), axes, eps);
  return Affine(y, weight, bias, [](const Tensor& t) { return t; }).Cast(input.dtype());
}

absl::StatusOr<Tensor> Rms(const Tensor& input, const Shape& normal, const Tensor* weight, double eps) {
  US_RETURN_IF_ERROR(WantFloats("RmsNorm", {&input, weight}));
  US_ASSIGN_OR_RETURN(const Ints axes, LastAxes("RmsNorm", input, normal));
  US_RETURN_IF_ERROR(WantShape("RmsNorm", "weight", weight, normal));
  const Tensor x = input.Cast(ComputeType(input.dtype()));
  if (eps < 0) eps = std::ldexp(1.0, -FormatOf(input.dtype()).man_bits);
  const Tensor y = x * (x.Square().Mean(axes, true) + eps).Rsqrt();
  return Affine(y, weight, nullptr, [](const Tensor& t) { return t; }).Cast(input.dtype());
}

// Groups of channels by themselves; `op` names it in errors.
absl::StatusOr<Tensor> Grouped(const char* op, const Tensor& input, int64_t groups, const Tensor* weight,
                               const Tensor* bias, double eps) {
  US_RETURN_IF_ERROR(WantFloats(op, {&input, weight, bias}));
  US_RETURN_IF_ERROR(WantChannels(op, input));
  const int64_t batch = input.shape()[0], channels = input.shape()[1];
  if (groups < 1 || channels % groups != 0)
    return Bad(op, channels, " channels in ", groups, " groups, expected a divisor");
  US_RETURN_IF_ERROR(WantShape(op, "weight", weight, {channels}));
  US_RETURN_IF_ERROR(WantShape(op, "bias", bias, {channels}));
  if (input.numel() == 0) return input;
  const Tensor x = input.Cast(ComputeType(input.dtype())).Reshape({batch, groups, -1});
  const Tensor y = Standardised(x, {2}, eps).Reshape(input.shape());
  return Affine(y, weight, bias, [&](const Tensor& t) { return Channels(t, input.ndim()); })
      .Cast(input.dtype());
}

absl::StatusOr<BatchNormResult> Batch(const Tensor& input, const Tensor* mean, const Tensor* var,
                                      const BatchNormOptions& o) {
  US_RETURN_IF_ERROR(WantFloats("BatchNorm", {&input, mean, var, o.weight, o.bias}));
  US_RETURN_IF_ERROR(WantChannels("BatchNorm", input));
  const Shape channels{input.shape()[1]};
  US_RETURN_IF_ERROR(WantShape("BatchNorm", "running_mean", mean, channels));
  US_RETURN_IF_ERROR(WantShape("BatchNorm", "running_var", var, channels));
  US_RETURN_IF_ERROR(WantShape("BatchNorm", "weight", o.weight, channels));
  US_RETURN_IF_ERROR(WantShape("BatchNorm", "bias", o.bias, channels));
  if ((mean == nullptr) != (var == nullptr))
    return Bad("BatchNorm", "one of running_mean and running_var, expected both or none");
  const int rank = input.ndim();
  const DType compute = ComputeType(input.dtype());
  const Tensor x = input.Cast(compute);
  const auto finish = [&](const Tensor& y) {
    return Affine(y, o.weight, o.bias, [&](const Tensor& t) { return Channels(t, rank); })
        .Cast(input.dtype());
  };
  const Tensor none(absl::FailedPreconditionError("BatchNorm: no running statistics were given"));
  if (!o.training) {
    if (mean == nullptr) return Bad("BatchNorm", "no running statistics, expected them when not training");
    const Tensor deviation = (Channels(var->Cast(compute), rank) + o.eps).Rsqrt();
    return BatchNormResult{finish((x - Channels(mean->Cast(compute), rank)) * deviation), *mean, *var};
  }
  Ints axes{0};
  int64_t n = input.shape()[0];
  for (int i = 2; i < rank; ++i) {
    axes.push_back(i);
    n *= input.shape()[i];
  }
  if (n <= 1)
    return Bad("BatchNorm", n, " values per channel when training, expected more than 1 (input ",
               Text(input.shape()), ")");
  const Tensor m = x.Mean(axes, true), centred = x - m, v = centred.Square().Mean(axes, true);
  BatchNormResult r{finish(centred * (v + o.eps).Rsqrt()), none, none};
  if (mean != nullptr) {
    // The running variance takes the unbiased one. No gradient flows into the statistics.
    const Operand count = tensor_internal::ElementsAlong(x, axes, compute);
    const Tensor unbiased = count.number() != nullptr
                                ? v * (static_cast<double>(n) / static_cast<double>(n - 1))
                                : v * (*count.tensor() / tensor_internal::LessCorrection(count, 1));
    const auto blend = [&](const Tensor& old, const Tensor& fresh) {
      return (old.Cast(compute) * (1 - o.momentum) + fresh.Detach().Reshape(channels) * o.momentum)
          .Cast(old.dtype());
    };
    r.running_mean = blend(*mean, m);
    r.running_var = blend(*var, unbiased);
  }
  return r;
}

absl::StatusOr<Tensor> LocalResponse(const Tensor& input, int64_t size, double alpha, double beta, double k) {
  US_RETURN_IF_ERROR(WantFloats("LocalResponseNorm", {&input}));
  if (input.ndim() < 3)
    return Bad("LocalResponseNorm", "input ", Text(input.shape()), ", expected [N,C,...] of rank 3 or more");
  if (size < 1) return Bad("LocalResponseNorm", "size ", size, ", expected at least 1");
  if (input.numel() == 0) return input;
  const Tensor x = input.Cast(ComputeType(input.dtype()));
  // The mean of the squares of size channels around each, those outside counting as 0.
  const Tensor padded = tensor_internal::PadAxis(x.Square(), 1, size / 2, (size - 1) / 2);
  const Tensor mean = tensor_internal::Windows(padded, 1, size, 1, 1).Sum({2}) / static_cast<double>(size);
  return (x / (mean * alpha + k).Pow(beta)).Cast(input.dtype());
}

}  // namespace

Tensor LayerNorm(const Tensor& input, const Shape& normalized_shape, const Tensor* weight, const Tensor* bias,
                 double eps) {
  return OrError(Layer(input, normalized_shape, weight, bias, eps));
}

Tensor Tensor::LayerNorm(int64_t num_axes, const Tensor* weight, const Tensor* bias, double eps) const {
  if (!ok()) return *this;
  if (num_axes < 1 || num_axes > ndim()) {
    return Refuse("LayerNorm", num_axes, " axes of a tensor of rank ", ndim(), ", expected 1 to ", ndim());
  }
  return understudy::LayerNorm(*this, Shape(shape().end() - num_axes, shape().end()), weight, bias, eps);
}

Tensor RmsNorm(const Tensor& input, const Shape& normalized_shape, const Tensor* weight, double eps) {
  return OrError(Rms(input, normalized_shape, weight, eps));
}

Tensor GroupNorm(const Tensor& input, int64_t num_groups, const Tensor* weight, const Tensor* bias,
                 double eps) {
  return OrError(Grouped("GroupNorm", input, num_groups, weight, bias, eps));
}

Tensor InstanceNorm(const Tensor& input, const Tensor* weight, const Tensor* bias, double eps) {
  if (!input.ok()) return input;
  if (input.ndim() < 3)
    return Refuse("InstanceNorm", "input ", Text(input.shape()), ", expected [N,C,...] of rank 3 or more");
  return OrError(Grouped("InstanceNorm", input, std::max<int64_t>(1, input.shape()[1]), weight, bias, eps));
}

BatchNormResult BatchNorm(const Tensor& input, const Tensor* running_mean, const Tensor* running_var,
                          const BatchNormOptions& options) {
  auto r = Batch(input, running_mean, running_var, options);
  return r.ok() ? *r : BatchNormResult{Tensor(r.status()), Tensor(r.status()), Tensor(r.status())};
}

Tensor LocalResponseNorm(const Tensor& input, int64_t size, double alpha, double beta, double k) {
  return OrError(LocalResponse(input, size, alpha, beta, k));
}

Tensor Normalize(const Tensor& input, double p, int64_t dim, double eps) {
  if (absl::Status s = WantFloats("Normalize", {&input}); !s.ok()) return Tensor(s);
  const auto axis = tensor_internal::Axis("Normalize", dim, input.ndim());
  if (!axis.ok()) return Tensor(axis.status());
  const Tensor x = input.Cast(ComputeType(input.dtype())), norm = VectorNorm(x, p, {*axis}, true);
  // A select and not MAX: at the bound the whole gradient is the bound's, as clamp_min's is the norm's above
  // it.
  return (x / Where(norm.Lt(eps), eps, norm)).Cast(input.dtype());
}

Tensor CosineSimilarity(const Tensor& a, const Tensor& b, int64_t dim, double eps) {
  if (absl::Status s = WantFloats("CosineSimilarity", {&a, &b}); !s.ok()) return Tensor(s);
  const auto shape = tensor_internal::BroadcastShapes("CosineSimilarity", a.shape(), b.shape());
  if (!shape.ok()) return Tensor(shape.status());
  const auto axis = tensor_internal::Axis("CosineSimilarity", dim, static_cast<int>(shape->size()));
  if (!axis.ok()) return Tensor(axis.status());
  const DType t = Promote(a.dtype(), b.dtype()), compute = ComputeType(t);
  const Tensor x = a.Cast(compute).Expand(*shape), y = b.Cast(compute).Expand(*shape);
  // Each norm is at least eps by itself.
  const auto size = [&](const Tensor& v) {
    const Tensor norm = VectorNorm(v, 2, {*axis}, true);
    return Where(norm.Lt(eps), eps, norm);
  };
  return ((x / size(x)) * (y / size(y))).Sum({*axis}).Cast(t);
}

Tensor PairwiseDistance(const Tensor& a, const Tensor& b, double p, double eps, bool keepdim) {
  if (absl::Status s = WantFloats("PairwiseDistance", {&a, &b}); !s.ok()) return Tensor(s);
  const DType t = Promote(a.dtype(), b.dtype()), compute = ComputeType(t);
  const Tensor difference = a.Cast(compute) - b.Cast(compute) + eps;
  if (difference.ok() && difference.ndim() < 1)
    return Refuse("PairwiseDistance", "scalars, expected rank 1 or more");
  return VectorNorm(difference, p, {-1}, keepdim).Cast(t);
}

Tensor Cdist(const Tensor& a, const Tensor& b, double p) {
  if (absl::Status s = WantFloats("Cdist", {&a, &b}); !s.ok()) return Tensor(s);
  if (a.ndim() < 2 || b.ndim() < 2 || a.shape().back() != b.shape().back()) {
    return Refuse("Cdist", "shapes ", Text(a.shape()), " and ", Text(b.shape()),
                  ", expected [...,n,d] and [...,m,d]");
  }
  const DType t = Promote(a.dtype(), b.dtype()), compute = ComputeType(t);
  return VectorNorm(a.Cast(compute).Unsqueeze(-2) - b.Cast(compute).Unsqueeze(-3), p, {-1}).Cast(t);
}

}  // namespace understudy
