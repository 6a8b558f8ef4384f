// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/nn/layers.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/tensor/embedding.h"
#include "src/tensor/linalg.h"
#include "src/tensor/norm.h"

namespace understudy::nn {
namespace {

const Tensor* Pointer(const std::optional<Tensor>& t) { return t ? &*t : nullptr; }

void VisitOptional(const Visitor& v, const char* name, std::optional<Tensor>& t) {
  if (t) v.Parameter(name, *t);
}

// Kaiming's uniform distribution with a = sqrt(5), which is what torch.nn's layers use: 1 / sqrt(fan in).
double Bound(int64_t fan_in) { return fan_in > 0 ? 1 / std::sqrt(static_cast<double>(fan_in)) : 0; }

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

InstanceNorm::InstanceNorm(int64_t channels, double eps, bool affine, const TensorOptions& options)
    : eps(eps) {
  if (!affine) return;
  weight = ConstantParameter({channels}, 1, options);
  bias = ConstantParameter({channels}, 0, options);
}
Tensor InstanceNorm::Forward(const Tensor& x) const {
  return understudy::InstanceNorm(x, Pointer(weight), Pointer(bias), eps);
}
void InstanceNorm::Visit(const Visitor& v) {
  VisitOptional(v, "weight", weight);
  VisitOptional(v, "bias", bias);
}

Embedding::Embedding(int64_t num, int64_t dim, Generator& generator, std::optional<int64_t> padding,
                     const TensorOptions& options)
    : padding_idx(padding) {
  if (padding && (*padding < -num || *padding >= num)) {
    weight = Tensor(absl::InvalidArgumentError(
        absl::StrCat("Embedding: padding_idx ", *padding, " of ", num, " rows, expected one of them")));
    return;
  }
  Tensor drawn = Randn({num, dim}, generator, options);
  if (padding) {
    const int64_t row = *padding < 0 ? *padding + num : *padding;
    const Tensor rows = Tensor::Arange(0, num, 1, {dtypes::kInt64, options.device}).Reshape({num, 1});
    drawn = Where(rows.Eq(row), 0.0, drawn);
  }
  weight = drawn.Clone();
}
Tensor Embedding::Forward(const Tensor& index) const {
  return understudy::Embedding(index, weight, padding_idx);
}
void Embedding::Visit(const Visitor& v) { v.Parameter("weight", weight); }

MultiheadAttention::MultiheadAttention(int64_t e, int64_t num_heads, Generator& generator, bool with_bias,
                                       const TensorOptions& options)
    : num_heads(num_heads),
      in_proj_weight(XavierUniform({3 * e, e}, generator, 1, options).Clone()),
      out_proj(e, e, generator, with_bias, options) {
  if (!with_bias) return;
  in_proj_bias = ConstantParameter({3 * e}, 0, options);
  out_proj.bias = ConstantParameter({e}, 0, options);
}
MultiHeadAttentionResult MultiheadAttention::Forward(const Tensor& query, const Tensor& key,
                                                     const Tensor& value,
                                                     const MultiHeadAttentionOptions& options) const {
  const MultiHeadAttentionWeights weights{in_proj_weight, Pointer(in_proj_bias), out_proj.weight,
                                          Pointer(out_proj.bias)};
  return MultiHeadAttention(query, key, value, num_heads, weights, options);
}
void MultiheadAttention::Visit(const Visitor& v) {
  v.Parameter("in_proj_weight", in_proj_weight);
  VisitOptional(v, "in_proj_bias", in_proj_bias);
  v.Child("out_proj", out_proj);
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
