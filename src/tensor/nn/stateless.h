// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layers without tensors, with torch.nn's names and defaults: the functions of src/tensor as modules, for
// Sequential and for networks that hold their layers by name. (A function can be added to a Sequential by
// itself too.)

#include <cstdint>
#include <utility>
#include <vector>

#include "src/tensor/activation.h"
#include "src/tensor/conv.h"
#include "src/tensor/interpolate.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/nn/module.h"
#include "src/tensor/norm.h"
#include "src/tensor/pool.h"
#include "src/tensor/softmax.h"

namespace understudy::nn {

struct Stateless : Module {
  void Visit(const Visitor&) override {}
};

struct Identity : Stateless {
  Tensor Forward(const Tensor& x) const { return x; }
};

// --- Activations ---

#define UNDERSTUDY_ACTIVATION(Name, expression)                  \
  struct Name : Stateless {                                      \
    Tensor Forward(const Tensor& x) const { return expression; } \
  };
UNDERSTUDY_ACTIVATION(Relu, x.Relu())
UNDERSTUDY_ACTIVATION(Relu6, understudy::Relu6(x))
UNDERSTUDY_ACTIVATION(Selu, understudy::Selu(x))
UNDERSTUDY_ACTIVATION(Silu, understudy::Silu(x))
UNDERSTUDY_ACTIVATION(Mish, understudy::Mish(x))
UNDERSTUDY_ACTIVATION(Sigmoid, x.Sigmoid())
UNDERSTUDY_ACTIVATION(Tanh, x.Tanh())
UNDERSTUDY_ACTIVATION(Softsign, understudy::Softsign(x))
UNDERSTUDY_ACTIVATION(LogSigmoid, understudy::LogSigmoid(x))
UNDERSTUDY_ACTIVATION(Hardsigmoid, understudy::Hardsigmoid(x))
UNDERSTUDY_ACTIVATION(Hardswish, understudy::Hardswish(x))
UNDERSTUDY_ACTIVATION(Tanhshrink, understudy::Tanhshrink(x))
UNDERSTUDY_ACTIVATION(Softmax2d, understudy::Softmax2d(x))
#undef UNDERSTUDY_ACTIVATION

struct Gelu : Stateless {
  GeluForm form;
  explicit Gelu(GeluForm form = GeluForm::kExact) : form(form) {}
  Tensor Forward(const Tensor& x) const { return understudy::Gelu(x, form); }
};
struct LeakyRelu : Stateless {
  double negative_slope;
  explicit LeakyRelu(double negative_slope = 0.01) : negative_slope(negative_slope) {}
  Tensor Forward(const Tensor& x) const { return understudy::LeakyRelu(x, negative_slope); }
};
struct Elu : Stateless {
  double alpha;
  explicit Elu(double alpha = 1) : alpha(alpha) {}
  Tensor Forward(const Tensor& x) const { return understudy::Elu(x, alpha); }
};
struct Celu : Stateless {
  double alpha;
  explicit Celu(double alpha = 1) : alpha(alpha) {}
  Tensor Forward(const Tensor& x) const { return understudy::Celu(x, alpha); }
};
struct Softplus : Stateless {
  double beta, threshold;
  explicit Softplus(double beta = 1, double threshold = 20) : beta(beta), threshold(threshold) {}
  Tensor Forward(const Tensor& x) const { return understudy::Softplus(x, beta, threshold); }
};
struct Hardtanh : Stateless {
  double min, max;
  explicit Hardtanh(double min = -1, double max = 1) : min(min), max(max) {}
  Tensor Forward(const Tensor& x) const { return understudy::Hardtanh(x, min, max); }
};
struct Hardshrink : Stateless {
  double lambda;
  explicit Hardshrink(double lambda = 0.5) : lambda(lambda) {}
  Tensor Forward(const Tensor& x) const { return understudy::Hardshrink(x, lambda); }
};
struct Softshrink : Stateless {
  double lambda;
  explicit Softshrink(double lambda = 0.5) : lambda(lambda) {}
  Tensor Forward(const Tensor& x) const { return understudy::Softshrink(x, lambda); }
};
struct Threshold : Stateless {
  double threshold, value;
  Threshold(double threshold, double value) : threshold(threshold), value(value) {}
  Tensor Forward(const Tensor& x) const { return understudy::Threshold(x, threshold, value); }
};
struct Glu : Stateless {
  int64_t dim;
  explicit Glu(int64_t dim = -1) : dim(dim) {}
  Tensor Forward(const Tensor& x) const { return understudy::Glu(x, dim); }
};
struct Softmax : Stateless {
  int64_t dim;
  explicit Softmax(int64_t dim = -1) : dim(dim) {}
  Tensor Forward(const Tensor& x) const { return x.Softmax(dim); }
};
struct LogSoftmax : Stateless {
  int64_t dim;
  explicit LogSoftmax(int64_t dim = -1) : dim(dim) {}
  Tensor Forward(const Tensor& x) const { return x.LogSoftmax(dim); }
};
struct Softmin : Stateless {
  int64_t dim;
  explicit Softmin(int64_t dim = -1) : dim(dim) {}
  Tensor Forward(const Tensor& x) const { return understudy::Softmin(x, dim); }
};

// --- Shapes ---

struct Flatten : Stateless {
  int64_t start, end;
  explicit Flatten(int64_t start = 1, int64_t end = -1) : start(start), end(end) {}
  Tensor Forward(const Tensor& x) const { return x.Flatten(start, end); }
};
struct Unflatten : Stateless {
  int64_t axis;
  Shape sizes;
  Unflatten(int64_t axis, Shape sizes) : axis(axis), sizes(std::move(sizes)) {}
  Tensor Forward(const Tensor& x) const { return understudy::Unflatten(x, axis, sizes); }
};
struct PixelShuffle : Stateless {
  int64_t factor;
  explicit PixelShuffle(int64_t factor) : factor(factor) {}
  Tensor Forward(const Tensor& x) const { return understudy::PixelShuffle(x, factor); }
};
struct PixelUnshuffle : Stateless {
  int64_t factor;
  explicit PixelUnshuffle(int64_t factor) : factor(factor) {}
  Tensor Forward(const Tensor& x) const { return understudy::PixelUnshuffle(x, factor); }
};
struct ChannelShuffle : Stateless {
  int64_t groups;
  explicit ChannelShuffle(int64_t groups) : groups(groups) {}
  Tensor Forward(const Tensor& x) const { return understudy::ChannelShuffle(x, groups); }
};
// torch.nn.Unfold and Fold.
struct Unfold : Stateless {
  PerAxis kernel;
  WindowOptions options;
  explicit Unfold(PerAxis kernel, const WindowOptions& options = {})
      : kernel(std::move(kernel)), options(options) {}
  Tensor Forward(const Tensor& x) const { return Im2col(x, kernel, options); }
};
struct Fold : Stateless {
  PerAxis output_size, kernel;
  WindowOptions options;
  Fold(PerAxis output_size, PerAxis kernel, const WindowOptions& options = {})
      : output_size(std::move(output_size)), kernel(std::move(kernel)), options(options) {}
  Tensor Forward(const Tensor& x) const { return Col2im(x, output_size, kernel, options); }
};
struct Upsample : Stateless {
  InterpolateOptions options;
  explicit Upsample(InterpolateOptions options) : options(std::move(options)) {}
  Tensor Forward(const Tensor& x) const { return Interpolate(x, options); }
};

// --- Padding: one number for every side, or {before, after} of the last axis, then of the one before it ...
// ---

template <int kAxes, PadMode kMode>
struct PadOf : Stateless {
  std::vector<int64_t> pads;
  double value = 0;
  explicit PadOf(int64_t pad, double value = 0) : pads(2 * kAxes, pad), value(value) {}
  explicit PadOf(std::vector<int64_t> pads, double value = 0) : pads(std::move(pads)), value(value) {}
  Tensor Forward(const Tensor& x) const {
    if (pads.size() != 2 * kAxes) {
      return Tensor(absl::InvalidArgumentError("Pad: " + std::to_string(pads.size()) + " amounts, expected " +
                                               std::to_string(2 * kAxes)));
    }
    return understudy::Pad(x, pads, kMode, value);
  }
};
using ConstantPad1d = PadOf<1, PadMode::kConstant>;
using ConstantPad2d = PadOf<2, PadMode::kConstant>;
using ConstantPad3d = PadOf<3, PadMode::kConstant>;
using ZeroPad1d = ConstantPad1d;
using ZeroPad2d = ConstantPad2d;
using ZeroPad3d = ConstantPad3d;
using ReflectionPad1d = PadOf<1, PadMode::kReflect>;
using ReflectionPad2d = PadOf<2, PadMode::kReflect>;
using ReflectionPad3d = PadOf<3, PadMode::kReflect>;
using ReplicationPad1d = PadOf<1, PadMode::kReplicate>;
using ReplicationPad2d = PadOf<2, PadMode::kReplicate>;
using ReplicationPad3d = PadOf<3, PadMode::kReplicate>;
using CircularPad1d = PadOf<1, PadMode::kCircular>;
using CircularPad2d = PadOf<2, PadMode::kCircular>;
using CircularPad3d = PadOf<3, PadMode::kCircular>;

// --- Pools ---

template <auto kPool, class Options>
struct PoolOf : Stateless {
  PerAxis kernel;
  Options options;
  explicit PoolOf(PerAxis kernel, const Options& options = {})
      : kernel(std::move(kernel)), options(options) {}
  Tensor Forward(const Tensor& x) const { return kPool(x, kernel, options); }
};
using MaxPool1d = PoolOf<&understudy::MaxPool1d, MaxPoolOptions>;
using MaxPool2d = PoolOf<&understudy::MaxPool2d, MaxPoolOptions>;
using MaxPool3d = PoolOf<&understudy::MaxPool3d, MaxPoolOptions>;
using AvgPool1d = PoolOf<&understudy::AvgPool1d, AvgPoolOptions>;
using AvgPool2d = PoolOf<&understudy::AvgPool2d, AvgPoolOptions>;
using AvgPool3d = PoolOf<&understudy::AvgPool3d, AvgPoolOptions>;

template <auto kPool>
struct LpPoolOf : Stateless {
  double p;
  PerAxis kernel;
  LpPoolOptions options;
  LpPoolOf(double p, PerAxis kernel, const LpPoolOptions& options = {})
      : p(p), kernel(std::move(kernel)), options(options) {}
  Tensor Forward(const Tensor& x) const { return kPool(x, p, kernel, options); }
};
using LpPool1d = LpPoolOf<&understudy::LpPool1d>;
using LpPool2d = LpPoolOf<&understudy::LpPool2d>;
using LpPool3d = LpPoolOf<&understudy::LpPool3d>;

template <auto kUnpool>
struct UnpoolOf : Stateless {
  PerAxis kernel;
  MaxUnpoolOptions options;
  explicit UnpoolOf(PerAxis kernel, const MaxUnpoolOptions& options = {})
      : kernel(std::move(kernel)), options(options) {}
  Tensor Forward(const Tensor& x, const Tensor& indices) const {
    return kUnpool(x, indices, kernel, options);
  }
};
using MaxUnpool1d = UnpoolOf<&understudy::MaxUnpool1d>;
using MaxUnpool2d = UnpoolOf<&understudy::MaxUnpool2d>;
using MaxUnpool3d = UnpoolOf<&understudy::MaxUnpool3d>;

template <auto kPool>
struct AdaptivePoolOf : Stateless {
  PerAxis output_size;
  explicit AdaptivePoolOf(PerAxis output_size) : output_size(std::move(output_size)) {}
  Tensor Forward(const Tensor& x) const { return kPool(x, output_size); }
};
using AdaptiveAvgPool1d = AdaptivePoolOf<&understudy::AdaptiveAvgPool1d>;
using AdaptiveAvgPool2d = AdaptivePoolOf<&understudy::AdaptiveAvgPool2d>;
using AdaptiveAvgPool3d = AdaptivePoolOf<&understudy::AdaptiveAvgPool3d>;
using AdaptiveMaxPool1d = AdaptivePoolOf<&understudy::AdaptiveMaxPool1d>;
using AdaptiveMaxPool2d = AdaptivePoolOf<&understudy::AdaptiveMaxPool2d>;
using AdaptiveMaxPool3d = AdaptivePoolOf<&understudy::AdaptiveMaxPool3d>;

// --- Norms and distances ---

struct LocalResponseNorm : Stateless {
  int64_t size;
  double alpha, beta, k;
  explicit LocalResponseNorm(int64_t size, double alpha = 1e-4, double beta = 0.75, double k = 1)
      : size(size), alpha(alpha), beta(beta), k(k) {}
  Tensor Forward(const Tensor& x) const { return understudy::LocalResponseNorm(x, size, alpha, beta, k); }
};
struct CosineSimilarity : Stateless {
  int64_t dim;
  double eps;
  explicit CosineSimilarity(int64_t dim = 1, double eps = 1e-8) : dim(dim), eps(eps) {}
  Tensor Forward(const Tensor& a, const Tensor& b) const {
    return understudy::CosineSimilarity(a, b, dim, eps);
  }
};
struct PairwiseDistance : Stateless {
  double p, eps;
  bool keepdim;
  explicit PairwiseDistance(double p = 2, double eps = 1e-6, bool keepdim = false)
      : p(p), eps(eps), keepdim(keepdim) {}
  Tensor Forward(const Tensor& a, const Tensor& b) const {
    return understudy::PairwiseDistance(a, b, p, eps, keepdim);
  }
};

}  // namespace understudy::nn
