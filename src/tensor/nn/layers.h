// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layers without time: dense, convolutions, normalisation, tables, dropout, attention and sequences of
// layers. Names, shapes, defaults and the distribution of fresh parameters are torch.nn's; the numbers come
// from an explicit Generator. A layer computes nothing: Forward gives a graph.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/tensor/attention.h"
#include "src/tensor/conv.h"
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

// Without running statistics (PyTorch's default).
struct InstanceNorm : Module {
  double eps;
  std::optional<Tensor> weight, bias;
  explicit InstanceNorm(int64_t channels, double eps = 1e-5, bool affine = false,
                        const TensorOptions& options = {});
  Tensor Forward(const Tensor& x) const;
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

// Draws from the generator, which must outlive it, when training.
struct Dropout : Module {
  double p;
  Generator* generator;
  Dropout(double p, Generator& generator) : p(p), generator(&generator) {}
  Tensor Forward(const Tensor& x) const { return understudy::Dropout(x, p, training(), *generator); }
  void Visit(const Visitor&) override {}
};

// Batch first. No dropout of the attention weights, no bias_k, no kdim or vdim.
struct MultiheadAttention : Module {
  int64_t num_heads;
  Tensor in_proj_weight;  // {3 E, E}
  std::optional<Tensor> in_proj_bias;
  Linear out_proj;
  MultiheadAttention(int64_t embed_dim, int64_t num_heads, Generator& generator, bool with_bias = true,
                     const TensorOptions& options = {});
  MultiHeadAttentionResult Forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const MultiHeadAttentionOptions& options = {}) const;
  void Visit(const Visitor& v) override;
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
