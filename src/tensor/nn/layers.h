// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layers without time that hold tensors: dense, convolutions, normalisation, tables, dropout and sequences of
// layers (activations, pools and the like: stateless.h; attention: transformer.h). Names, shapes, defaults
// and the distribution of fresh parameters are torch.nn's; the numbers come from an explicit Generator. A
// layer computes nothing: Forward gives a graph.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/tensor/conv.h"
#include "src/tensor/dropout.h"
#include "src/tensor/embedding.h"
#include "src/tensor/nn/module.h"

namespace understudy::nn {

struct Linear : Module {
  Tensor weight;               // {out, in}
  std::optional<Tensor> bias;  // {out}
  Linear(int64_t in, int64_t out, Generator& generator, bool with_bias = true,
         const TensorOptions& options = {});
  Tensor Forward(const Tensor& x) const;
  void Visit(const Visitor& v) override;
};

// One, two or three spatial axes.
struct ConvNd : Module {
  int axes;
  ConvOptions options;
  Tensor weight;  // {out, in / groups, kernel...}
  std::optional<Tensor> bias;
  ConvNd(int axes, int64_t in, int64_t out, const PerAxis& kernel, Generator& generator,
         const ConvOptions& options = {}, bool with_bias = true, const TensorOptions& tensor = {});
  Tensor Forward(const Tensor& x) const;
  void Visit(const Visitor& v) override;
};
template <int kAxes>
struct ConvOf : ConvNd {
  ConvOf(int64_t in, int64_t out, const PerAxis& kernel, Generator& generator,
         const ConvOptions& options = {}, bool with_bias = true, const TensorOptions& tensor = {})
      : ConvNd(kAxes, in, out, kernel, generator, options, with_bias, tensor) {}
};
using Conv1d = ConvOf<1>;
using Conv2d = ConvOf<2>;
using Conv3d = ConvOf<3>;

struct ConvTransposeNd : Module {
  int axes;
  ConvTransposeOptions options;
  Tensor weight;  // {in, out / groups, kernel...}
  std::optional<Tensor> bias;
  ConvTransposeNd(int axes, int64_t in, int64_t out, const PerAxis& kernel, Generator& generator,
                  const ConvTransposeOptions& options = {}, bool with_bias = true,
                  const TensorOptions& tensor = {});
  Tensor Forward(const Tensor& x) const;
  void Visit(const Visitor& v) override;
};
template <int kAxes>
struct ConvTransposeOf : ConvTransposeNd {
  ConvTransposeOf(int64_t in, int64_t out, const PerAxis& kernel, Generator& generator,
                  const ConvTransposeOptions& options = {}, bool with_bias = true,
                  const TensorOptions& tensor = {})
      : ConvTransposeNd(kAxes, in, out, kernel, generator, options, with_bias, tensor) {}
};
using ConvTranspose1d = ConvTransposeOf<1>;
using ConvTranspose2d = ConvTransposeOf<2>;
using ConvTranspose3d = ConvTransposeOf<3>;

// In training, Forward assigns the running statistics: realise them (State) with the step.
struct BatchNorm : Module {
  double eps, momentum;
  std::optional<Tensor> weight, bias;                                    // {channels}
  std::optional<Tensor> running_mean, running_var, num_batches_tracked;  // none: batch statistics always
  // `axes`: how many axes inputs may have, {least, most}.
  std::pair<int, int> axes;
  BatchNorm(std::pair<int, int> axes, int64_t channels, double eps = 1e-5, double momentum = 0.1,
            bool affine = true, bool track_running_stats = true, const TensorOptions& options = {});
  Tensor Forward(const Tensor& x);
  void Visit(const Visitor& v) override;
};
template <int kLeast, int kMost>
struct BatchNormOf : BatchNorm {
  explicit BatchNormOf(int64_t channels, double eps = 1e-5, double momentum = 0.1, bool affine = true,
                       bool track_running_stats = true, const TensorOptions& options = {})
      : BatchNorm({kLeast, kMost}, channels, eps, momentum, affine, track_running_stats, options) {}
};
using BatchNorm1d = BatchNormOf<2, 3>;
using BatchNorm2d = BatchNormOf<4, 4>;
using BatchNorm3d = BatchNormOf<5, 5>;

struct LayerNorm : Module {
  Shape normalized_shape;
  double eps;
  std::optional<Tensor> weight, bias;
  explicit LayerNorm(Shape normalized_shape, double eps = 1e-5, bool affine = true, bool with_bias = true,
                     const TensorOptions& options = {});
  Tensor Forward(const Tensor& x) const;
  void Visit(const Visitor& v) override;
};

struct RmsNorm : Module {
  Shape normalized_shape;
  double eps;  // negative: the type's epsilon
  std::optional<Tensor> weight;
  explicit RmsNorm(Shape normalized_shape, double eps = -1, bool affine = true,
                   const TensorOptions& options = {});
  Tensor Forward(const Tensor& x) const;
  void Visit(const Visitor& v) override;
};

struct GroupNorm : Module {
  int64_t groups;
  double eps;
  std::optional<Tensor> weight, bias;
  GroupNorm(int64_t groups, int64_t channels, double eps = 1e-5, bool affine = true,
            const TensorOptions& options = {});
  Tensor Forward(const Tensor& x) const;
  void Visit(const Visitor& v) override;
};

// With running statistics, training assigns them (num_batches_tracked stays 0, as PyTorch leaves it) and
// evaluation normalises by them.
struct InstanceNorm : Module {
  double eps, momentum;
  std::optional<Tensor> weight, bias;
  std::optional<Tensor> running_mean, running_var, num_batches_tracked;
  explicit InstanceNorm(int64_t channels, double eps = 1e-5, double momentum = 0.1, bool affine = false,
                        bool track_running_stats = false, const TensorOptions& options = {});
  Tensor Forward(const Tensor& x);
  void Visit(const Visitor& v) override;
};

struct Embedding : Module {
  std::optional<int64_t> padding_idx;  // its row starts as zeros and gets no gradient
  Tensor weight;                       // {num, dim}
  Embedding(int64_t num, int64_t dim, Generator& generator, std::optional<int64_t> padding_idx = std::nullopt,
            const TensorOptions& options = {});
  Tensor Forward(const Tensor& index) const;
  void Visit(const Visitor& v) override;
};

// Bags of rows of a table, each summed, averaged or maximised.
struct EmbeddingBag : Module {
  EmbeddingBagOptions::Mode mode;
  std::optional<int64_t> padding_idx;  // takes no part
  bool include_last_offset;            // the last offset is the end of the last bag
  Tensor weight;                       // {num, dim}
  EmbeddingBag(int64_t num, int64_t dim, Generator& generator,
               EmbeddingBagOptions::Mode mode = EmbeddingBagOptions::Mode::kMean,
               std::optional<int64_t> padding_idx = std::nullopt, bool include_last_offset = false,
               const TensorOptions& options = {});
  // index {bags, n}, or {n} with offsets; weights of the index's shape, for sums.
  Tensor Forward(const Tensor& index, const Tensor* offsets = nullptr,
                 const Tensor* per_sample_weights = nullptr) const;
  void Visit(const Visitor& v) override;
};

// a W[o] b + bias for every output o.
struct Bilinear : Module {
  Tensor weight;  // {out, in1, in2}
  std::optional<Tensor> bias;
  Bilinear(int64_t in1, int64_t in2, int64_t out, Generator& generator, bool with_bias = true,
           const TensorOptions& options = {});
  Tensor Forward(const Tensor& a, const Tensor& b) const;
  void Visit(const Visitor& v) override;
};

struct Prelu : Module {
  Tensor weight;  // {1} or {channels}
  explicit Prelu(int64_t num_parameters = 1, double init = 0.25, const TensorOptions& options = {});
  Tensor Forward(const Tensor& x) const;
  void Visit(const Visitor& v) override;
};

// Random layers draw from the generator, which must outlive them, when training.
struct RandomLayer : Module {
  Generator* generator;
  explicit RandomLayer(Generator& generator) : generator(&generator) {}
  void Visit(const Visitor&) override {}
};
struct Dropout : RandomLayer {
  double p;
  Dropout(double p, Generator& generator) : RandomLayer(generator), p(p) {}
  Tensor Forward(const Tensor& x) const { return understudy::Dropout(x, p, training(), *generator); }
};
struct AlphaDropout : RandomLayer {
  double p;
  AlphaDropout(double p, Generator& generator) : RandomLayer(generator), p(p) {}
  Tensor Forward(const Tensor& x) const { return understudy::AlphaDropout(x, p, training(), *generator); }
};
struct FeatureAlphaDropout : RandomLayer {
  double p;
  FeatureAlphaDropout(double p, Generator& generator) : RandomLayer(generator), p(p) {}
  Tensor Forward(const Tensor& x) const {
    return understudy::FeatureAlphaDropout(x, p, training(), *generator);
  }
};
// Whole channels of {N, C, spatial...}; of one or three spatial axes also {C, spatial...}.
template <int kAxes>
struct DropoutOf : RandomLayer {
  double p;
  DropoutOf(double p, Generator& generator) : RandomLayer(generator), p(p) {}
  Tensor Forward(const Tensor& x) const {
    if (kAxes != 2 && x.ok() && x.ndim() == kAxes + 1)
      return understudy::FeatureDropout(x.Unsqueeze(0), p, training(), *generator).Squeeze(0);
    return understudy::FeatureDropout(x, p, training(), *generator);
  }
};
using Dropout1d = DropoutOf<1>;
using Dropout2d = DropoutOf<2>;
using Dropout3d = DropoutOf<3>;
struct Rrelu : RandomLayer {
  double lower, upper;
  explicit Rrelu(Generator& generator, double lower = 1.0 / 8, double upper = 1.0 / 3)
      : RandomLayer(generator), lower(lower), upper(upper) {}
  Tensor Forward(const Tensor& x) const { return understudy::Rrelu(x, lower, upper, training(), *generator); }
};

// Grave et al., "Efficient softmax approximation for GPUs" (2017): frequent classes in the head, the others
// in clusters of falling width.
struct AdaptiveLogSoftmaxWithLoss : Module {
  std::vector<int64_t> cutoffs;  // rising, the last one the number of classes
  Linear head;                   // {cutoffs[0] + clusters, in}
  std::vector<std::pair<Linear, Linear>> tail;
  AdaptiveLogSoftmaxWithLoss(int64_t in, int64_t classes, std::vector<int64_t> cutoffs, Generator& generator,
                             double div_value = 4, bool head_bias = false, const TensorOptions& options = {});
  struct Result {
    Tensor output, loss;  // {N} log-probabilities of the targets, and minus their mean
  };
  Result Forward(const Tensor& x, const Tensor& target) const;  // {N, in}, {N}
  Tensor LogProb(const Tensor& x) const;                        // {N, classes}
  Tensor Predict(const Tensor& x) const;                        // {N}, the likeliest class
  void Visit(const Visitor& v) override;

 private:
  absl::Status status_;
};

// Layers one after another; names are their positions.
class Sequential : public Module {
 public:
  // A layer with Tensor Forward(const Tensor&).
  template <class L, std::enable_if_t<std::is_base_of_v<Module, L>, int> = 0>
  L& Add(L layer) {
    auto owned = std::make_unique<L>(std::move(layer));
    L* raw = owned.get();
    items_.push_back({[raw](const Tensor& x) { return raw->Forward(x); }, std::move(owned)});
    return *raw;
  }
  // A function such as an activation: it takes a position and has no parameters.
  void Add(std::function<Tensor(const Tensor&)> function) {
    items_.push_back({std::move(function), nullptr});
  }
  Tensor Forward(const Tensor& x);
  size_t size() const { return items_.size(); }
  void Visit(const Visitor& v) override;

 private:
  struct Item {
    std::function<Tensor(const Tensor&)> forward;
    std::unique_ptr<Module> module;
  };
  std::vector<Item> items_;
};

}  // namespace understudy::nn
