// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/nn/layers.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/tensor/activation.h"
#include "src/tensor/linalg.h"
#include "src/tensor/loss.h"
#include "src/tensor/norm.h"

namespace understudy::nn {
namespace {

const Tensor* Pointer(const std::optional<Tensor>& t) { return t ? &*t : nullptr; }

void VisitOptional(const Visitor& v, const char* name, std::optional<Tensor>& t) {
  if (t) v.Parameter(name, *t);
}

// Kaiming's uniform distribution with a = sqrt(5), which is what torch.nn's layers use: 1 / sqrt(fan in).
double Bound(int64_t fan_in) { return fan_in > 0 ? 1 / std::sqrt(static_cast<double>(fan_in)) : 0; }

// Rows of standard normal numbers, zeros in the padding's.
Tensor Table(const char* op, int64_t num, int64_t dim, Generator& generator, std::optional<int64_t> padding,
             const TensorOptions& options) {
  if (padding && (*padding < -num || *padding >= num)) {
    return Tensor(absl::InvalidArgumentError(
        absl::StrCat(op, ": padding_idx ", *padding, " of ", num, " rows, expected one of them")));
  }
  Tensor drawn = Randn({num, dim}, generator, options);
  if (padding) {
    const int64_t row = *padding < 0 ? *padding + num : *padding;
    const Tensor rows = Tensor::Arange(0, num, 1, {dtypes::kInt64, options.device}).Reshape({num, 1});
    drawn = Where(rows.Eq(row), 0.0, drawn);
  }
  return drawn.Clone();
}

struct ConvShape {
  Shape weight;
  int64_t fan_in;
};
absl::StatusOr<ConvShape> ShapeOfConv(const char* op, int axes, int64_t first, int64_t second, int64_t groups,
                                      int64_t channels, const PerAxis& kernel) {
  if (groups < 1 || first % groups != 0 || second % groups != 0) {
    return absl::InvalidArgumentError(absl::StrCat(op, ": ", first, " and ", second, " channels in ", groups,
                                                   " groups, expected a divisor of both"));
  }
  US_ASSIGN_OR_RETURN(const std::vector<int64_t> k, kernel.Resolve(op, "kernel", axes, 1));
  ConvShape s{{first, channels / groups}, channels / groups};
  for (const int64_t n : k) {
    s.weight.push_back(n);
    s.fan_in *= n;
  }
  return s;
}

}  // namespace

Linear::Linear(int64_t in, int64_t out, Generator& generator, bool with_bias, const TensorOptions& options)
    : weight(UniformParameter({out, in}, Bound(in), generator, options)) {
  if (with_bias) bias = UniformParameter({out}, Bound(in), generator, options);
}
Tensor Linear::Forward(const Tensor& x) const { return understudy::Linear(x, weight, Pointer(bias)); }
void Linear::Visit(const Visitor& v) {
  v.Parameter("weight", weight);
  VisitOptional(v, "bias", bias);
}

ConvNd::ConvNd(int axes, int64_t in, int64_t out, const PerAxis& kernel, Generator& generator,
               const ConvOptions& options, bool with_bias, const TensorOptions& tensor)
    : axes(axes), options(options) {
  const auto s = ShapeOfConv("Conv", axes, out, in, options.groups, in, kernel);
  weight = s.ok() ? UniformParameter(s->weight, Bound(s->fan_in), generator, tensor) : Tensor(s.status());
  if (with_bias) bias = s.ok() ? UniformParameter({out}, Bound(s->fan_in), generator, tensor) : weight;
}
Tensor ConvNd::Forward(const Tensor& x) const {
  if (!weight.ok()) return weight;
  const auto conv = axes == 1 ? understudy::Conv1d : axes == 2 ? understudy::Conv2d : understudy::Conv3d;
  return conv(x, weight, Pointer(bias), options);
}
void ConvNd::Visit(const Visitor& v) {
  v.Parameter("weight", weight);
  VisitOptional(v, "bias", bias);
}

ConvTransposeNd::ConvTransposeNd(int axes, int64_t in, int64_t out, const PerAxis& kernel,
                                 Generator& generator, const ConvTransposeOptions& options, bool with_bias,
                                 const TensorOptions& tensor)
    : axes(axes), options(options) {
  const auto s = ShapeOfConv("ConvTranspose", axes, in, out, options.groups, out, kernel);
  weight = s.ok() ? UniformParameter(s->weight, Bound(s->fan_in), generator, tensor) : Tensor(s.status());
  if (with_bias) bias = s.ok() ? UniformParameter({out}, Bound(s->fan_in), generator, tensor) : weight;
}
Tensor ConvTransposeNd::Forward(const Tensor& x) const {
  if (!weight.ok()) return weight;
  const auto conv = axes == 1   ? understudy::ConvTranspose1d
                    : axes == 2 ? understudy::ConvTranspose2d
                                : understudy::ConvTranspose3d;
  return conv(x, weight, Pointer(bias), options);
}
void ConvTransposeNd::Visit(const Visitor& v) {
  v.Parameter("weight", weight);
  VisitOptional(v, "bias", bias);
}

BatchNorm::BatchNorm(std::pair<int, int> axes, int64_t channels, double eps, double momentum, bool affine,
                     bool track_running_stats, const TensorOptions& options)
    : eps(eps), momentum(momentum), axes(axes) {
  if (affine) {
    weight = ConstantParameter({channels}, 1, options);
    bias = ConstantParameter({channels}, 0, options);
  }
  if (track_running_stats) {
    running_mean = ConstantParameter({channels}, 0, options);
    running_var = ConstantParameter({channels}, 1, options);
    num_batches_tracked = ConstantParameter({}, 0, {dtypes::kInt64, options.device});
  }
}
Tensor BatchNorm::Forward(const Tensor& x) {
  if (!x.ok()) return x;
  if (x.ndim() < axes.first || x.ndim() > axes.second) {
    return Tensor(absl::InvalidArgumentError(
        absl::StrCat("BatchNorm: input of ", x.ndim(), " axes, expected ", axes.first, " to ", axes.second)));
  }
  const bool batch = training() || !running_mean;
  const BatchNormOptions options{Pointer(weight), Pointer(bias), batch, momentum, eps};
  const BatchNormResult r = understudy::BatchNorm(x, Pointer(running_mean), Pointer(running_var), options);
  if (batch && running_mean && r.output.ok()) {
    running_mean->Assign(r.running_mean.Detach());
    running_var->Assign(r.running_var.Detach());
    num_batches_tracked->Assign(*num_batches_tracked + 1);
  }
  return r.output;
}
void BatchNorm::Visit(const Visitor& v) {
  VisitOptional(v, "weight", weight);
  VisitOptional(v, "bias", bias);
  if (!running_mean) return;
  v.Buffer("running_mean", *running_mean);
  v.Buffer("running_var", *running_var);
  v.Buffer("num_batches_tracked", *num_batches_tracked);
}

LayerNorm::LayerNorm(Shape shape, double eps, bool affine, bool with_bias, const TensorOptions& options)
    : normalized_shape(std::move(shape)), eps(eps) {
  if (affine) weight = ConstantParameter(normalized_shape, 1, options);
  if (affine && with_bias) bias = ConstantParameter(normalized_shape, 0, options);
}
Tensor LayerNorm::Forward(const Tensor& x) const {
  return understudy::LayerNorm(x, normalized_shape, Pointer(weight), Pointer(bias), eps);
}
void LayerNorm::Visit(const Visitor& v) {
  VisitOptional(v, "weight", weight);
  VisitOptional(v, "bias", bias);
}

RmsNorm::RmsNorm(Shape shape, double eps, bool affine, const TensorOptions& options)
    : normalized_shape(std::move(shape)), eps(eps) {
  if (affine) weight = ConstantParameter(normalized_shape, 1, options);
}
Tensor RmsNorm::Forward(const Tensor& x) const {
  return understudy::RmsNorm(x, normalized_shape, Pointer(weight), eps);
}
void RmsNorm::Visit(const Visitor& v) { VisitOptional(v, "weight", weight); }

GroupNorm::GroupNorm(int64_t groups, int64_t channels, double eps, bool affine, const TensorOptions& options)
    : groups(groups), eps(eps) {
  if (!affine) return;
  weight = ConstantParameter({channels}, 1, options);
  bias = ConstantParameter({channels}, 0, options);
}
Tensor GroupNorm::Forward(const Tensor& x) const {
  return understudy::GroupNorm(x, groups, Pointer(weight), Pointer(bias), eps);
}
void GroupNorm::Visit(const Visitor& v) {
  VisitOptional(v, "weight", weight);
  VisitOptional(v, "bias", bias);
}

InstanceNorm::InstanceNorm(int64_t channels, double eps, double momentum, bool affine,
                           bool track_running_stats, const TensorOptions& options)
    : eps(eps), momentum(momentum) {
  if (affine) {
    weight = ConstantParameter({channels}, 1, options);
    bias = ConstantParameter({channels}, 0, options);
  }
  if (track_running_stats) {
    running_mean = ConstantParameter({channels}, 0, options);
    running_var = ConstantParameter({channels}, 1, options);
    num_batches_tracked = ConstantParameter({}, 0, {dtypes::kInt64, options.device});
  }
}
Tensor InstanceNorm::Forward(const Tensor& x) {
  if (!x.ok()) return x;
  if (!training() && running_mean) {
    const BatchNormOptions options{Pointer(weight), Pointer(bias), false, momentum, eps};
    return understudy::BatchNorm(x, &*running_mean, &*running_var, options).output;
  }
  const Tensor y = understudy::InstanceNorm(x, Pointer(weight), Pointer(bias), eps);
  if (running_mean && y.ok()) {
    // Each sample's statistics, averaged over the batch.
    const Tensor wide = x.Detach().Cast(running_mean->dtype()).Flatten(2);
    const auto mix = [&](Tensor& running, const Tensor& now) {
      running.Assign(running * (1 - momentum) + now.Mean({0}) * momentum);
    };
    mix(*running_mean, wide.Mean({2}));
    mix(*running_var, wide.Var({2}));
  }
  return y;
}
void InstanceNorm::Visit(const Visitor& v) {
  VisitOptional(v, "weight", weight);
  VisitOptional(v, "bias", bias);
  if (!running_mean) return;
  v.Buffer("running_mean", *running_mean);
  v.Buffer("running_var", *running_var);
  v.Buffer("num_batches_tracked", *num_batches_tracked);
}

Embedding::Embedding(int64_t num, int64_t dim, Generator& generator, std::optional<int64_t> padding,
                     const TensorOptions& options)
    : padding_idx(padding), weight(Table("Embedding", num, dim, generator, padding, options)) {}
Tensor Embedding::Forward(const Tensor& index) const {
  return understudy::Embedding(index, weight, padding_idx);
}
void Embedding::Visit(const Visitor& v) { v.Parameter("weight", weight); }

EmbeddingBag::EmbeddingBag(int64_t num, int64_t dim, Generator& generator, EmbeddingBagOptions::Mode mode,
                           std::optional<int64_t> padding, bool include_last_offset,
                           const TensorOptions& options)
    : mode(mode),
      padding_idx(padding),
      include_last_offset(include_last_offset),
      weight(Table("EmbeddingBag", num, dim, generator, padding, options)) {}
Tensor EmbeddingBag::Forward(const Tensor& index, const Tensor* offsets,
                             const Tensor* per_sample_weights) const {
  const EmbeddingBagOptions options{mode, per_sample_weights, padding_idx};
  if (offsets == nullptr) return understudy::EmbeddingBag(index, weight, options);
  if (!include_last_offset || !offsets->ok() || offsets->ndim() != 1 || offsets->numel() == 0)
    return understudy::EmbeddingBag(index, weight, *offsets, options);
  return understudy::EmbeddingBag(index, weight, offsets->Shrink({{0, offsets->numel() - 1}}), options);
}
void EmbeddingBag::Visit(const Visitor& v) { v.Parameter("weight", weight); }

Bilinear::Bilinear(int64_t in1, int64_t in2, int64_t out, Generator& generator, bool with_bias,
                   const TensorOptions& options)
    : weight(UniformParameter({out, in1, in2}, Bound(in1), generator, options)) {
  if (with_bias) bias = UniformParameter({out}, Bound(in1), generator, options);
}
Tensor Bilinear::Forward(const Tensor& a, const Tensor& b) const {
  return understudy::Bilinear(a, b, weight, Pointer(bias));
}
void Bilinear::Visit(const Visitor& v) {
  v.Parameter("weight", weight);
  VisitOptional(v, "bias", bias);
}

Prelu::Prelu(int64_t num_parameters, double init, const TensorOptions& options)
    : weight(ConstantParameter({num_parameters}, init, options)) {}
Tensor Prelu::Forward(const Tensor& x) const { return understudy::Prelu(x, weight); }
void Prelu::Visit(const Visitor& v) { v.Parameter("weight", weight); }

AdaptiveLogSoftmaxWithLoss::AdaptiveLogSoftmaxWithLoss(int64_t in, int64_t classes,
                                                       std::vector<int64_t> limits, Generator& generator,
                                                       double div_value, bool head_bias,
                                                       const TensorOptions& options)
    : cutoffs(std::move(limits)),
      head(in, cutoffs.empty() ? 1 : cutoffs[0] + static_cast<int64_t>(cutoffs.size()), generator, head_bias,
           options) {
  cutoffs.push_back(classes);
  for (size_t i = 0; i < cutoffs.size(); ++i) {
    if (cutoffs.size() < 2 || cutoffs[i] <= (i == 0 ? 0 : cutoffs[i - 1])) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat("AdaptiveLogSoftmaxWithLoss: cutoffs that do not rise from above 0 to below ", classes,
                       " classes"));
      return;
    }
  }
  double width = static_cast<double>(in);
  for (size_t i = 0; i + 1 < cutoffs.size(); ++i) {
    width /= div_value;
    const auto inner = static_cast<int64_t>(width);
    tail.emplace_back(Linear(in, inner, generator, false, options),
                      Linear(inner, cutoffs[i + 1] - cutoffs[i], generator, false, options));
  }
}
Tensor AdaptiveLogSoftmaxWithLoss::LogProb(const Tensor& x) const {
  if (!status_.ok()) return Tensor(status_);
  if (x.ok() && x.ndim() != 2)
    return Tensor(absl::InvalidArgumentError(
        absl::StrCat("AdaptiveLogSoftmaxWithLoss: input of ", x.ndim(), " axes, expected [N,in]")));
  const Tensor first = head.Forward(x).LogSoftmax(1);
  if (!first.ok()) return first;
  const int64_t n = x.shape()[0];
  std::vector<Tensor> parts = {first.Shrink({{0, n}, {0, cutoffs[0]}})};
  for (size_t i = 0; i < tail.size(); ++i) {
    const int64_t at = cutoffs[0] + static_cast<int64_t>(i);
    const Tensor inside = tail[i].second.Forward(tail[i].first.Forward(x)).LogSoftmax(1);
    parts.push_back(inside + first.Shrink({{0, n}, {at, at + 1}}));
  }
  return Cat(parts, 1);
}
AdaptiveLogSoftmaxWithLoss::Result AdaptiveLogSoftmaxWithLoss::Forward(const Tensor& x,
                                                                       const Tensor& target) const {
  const Tensor output = -NllLoss(LogProb(x), target, {nullptr, -100, Reduction::kNone, 0});
  return {output, -output.Mean()};
}
Tensor AdaptiveLogSoftmaxWithLoss::Predict(const Tensor& x) const { return LogProb(x).Argmax(1); }
void AdaptiveLogSoftmaxWithLoss::Visit(const Visitor& v) {
  v.Child("head", head);
  for (size_t i = 0; i < tail.size(); ++i) {
    v.Child(absl::StrCat("tail.", i, ".0"), tail[i].first);
    v.Child(absl::StrCat("tail.", i, ".1"), tail[i].second);
  }
}

Tensor Sequential::Forward(const Tensor& x) {
  Tensor y = x;
  for (const Item& item : items_) y = item.forward(y);
  return y;
}
void Sequential::Visit(const Visitor& v) {
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].module != nullptr) v.Child(absl::StrCat(i), *items_[i].module);
  }
}

}  // namespace understudy::nn
