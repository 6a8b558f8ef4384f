// SPDX-License-Identifier: Apache-2.0
#pragma once
// The losses of src/tensor/loss.h as modules with torch.nn's names and defaults. Weights are buffers, as in
// PyTorch: saved and loaded, not trained.

#include <functional>
#include <optional>

#include "src/tensor/loss.h"
#include "src/tensor/nn/stateless.h"

namespace understudy::nn {

template <auto kLoss>
struct ReducedLoss : Stateless {
  Reduction reduction;
  explicit ReducedLoss(Reduction reduction = Reduction::kMean) : reduction(reduction) {}
  Tensor Forward(const Tensor& input, const Tensor& target) const { return kLoss(input, target, reduction); }
};
using MseLoss = ReducedLoss<&understudy::MseLoss>;
using L1Loss = ReducedLoss<&understudy::L1Loss>;
using SoftMarginLoss = ReducedLoss<&understudy::SoftMarginLoss>;
using MultiLabelMarginLoss = ReducedLoss<&understudy::MultiLabelMarginLoss>;

// A loss with one number of its own.
template <auto kLoss>
struct SmoothedLoss : Stateless {
  double threshold;
  Reduction reduction;
  explicit SmoothedLoss(double threshold = 1, Reduction reduction = Reduction::kMean)
      : threshold(threshold), reduction(reduction) {}
  Tensor Forward(const Tensor& input, const Tensor& target) const {
    return kLoss(input, target, reduction, threshold);
  }
};
using SmoothL1Loss = SmoothedLoss<&understudy::SmoothL1Loss>;
using HuberLoss = SmoothedLoss<&understudy::HuberLoss>;

struct WeightedLoss : Module {
  std::optional<Tensor> weight;
  explicit WeightedLoss(std::optional<Tensor> weight) : weight(std::move(weight)) {}
  const Tensor* pointer() const { return weight ? &*weight : nullptr; }
  void Visit(const Visitor& v) override {
    if (weight) v.Buffer("weight", *weight);
  }
};
struct CrossEntropyLoss : WeightedLoss {
  int64_t ignore_index;
  Reduction reduction;
  double label_smoothing;
  explicit CrossEntropyLoss(std::optional<Tensor> weight = std::nullopt, int64_t ignore_index = -100,
                            Reduction reduction = Reduction::kMean, double label_smoothing = 0)
      : WeightedLoss(std::move(weight)),
        ignore_index(ignore_index),
        reduction(reduction),
        label_smoothing(label_smoothing) {}
  Tensor Forward(const Tensor& input, const Tensor& target) const {
    return CrossEntropy(input, target, {pointer(), ignore_index, reduction, label_smoothing});
  }
};
struct NllLoss : WeightedLoss {
  int64_t ignore_index;
  Reduction reduction;
  explicit NllLoss(std::optional<Tensor> weight = std::nullopt, int64_t ignore_index = -100,
                   Reduction reduction = Reduction::kMean)
      : WeightedLoss(std::move(weight)), ignore_index(ignore_index), reduction(reduction) {}
  Tensor Forward(const Tensor& input, const Tensor& target) const {
    return understudy::NllLoss(input, target, {pointer(), ignore_index, reduction, 0});
  }
};
struct BceLoss : WeightedLoss {
  Reduction reduction;
  explicit BceLoss(std::optional<Tensor> weight = std::nullopt, Reduction reduction = Reduction::kMean)
      : WeightedLoss(std::move(weight)), reduction(reduction) {}
  Tensor Forward(const Tensor& input, const Tensor& target) const {
    return BinaryCrossEntropy(input, target, pointer(), reduction);
  }
};
struct BceWithLogitsLoss : WeightedLoss {
  std::optional<Tensor> pos_weight;
  Reduction reduction;
  explicit BceWithLogitsLoss(std::optional<Tensor> weight = std::nullopt,
                             std::optional<Tensor> pos_weight = std::nullopt,
                             Reduction reduction = Reduction::kMean)
      : WeightedLoss(std::move(weight)), pos_weight(std::move(pos_weight)), reduction(reduction) {}
  Tensor Forward(const Tensor& input, const Tensor& target) const {
    return BinaryCrossEntropyWithLogits(input, target, pointer(), reduction,
                                        pos_weight ? &*pos_weight : nullptr);
  }
  void Visit(const Visitor& v) override {
    WeightedLoss::Visit(v);
    if (pos_weight) v.Buffer("pos_weight", *pos_weight);
  }
};
struct MultiLabelSoftMarginLoss : WeightedLoss {
  Reduction reduction;
  explicit MultiLabelSoftMarginLoss(std::optional<Tensor> weight = std::nullopt,
                                    Reduction reduction = Reduction::kMean)
      : WeightedLoss(std::move(weight)), reduction(reduction) {}
  Tensor Forward(const Tensor& input, const Tensor& target) const {
    return understudy::MultiLabelSoftMarginLoss(input, target, pointer(), reduction);
  }
};
struct MultiMarginLoss : WeightedLoss {
  double p, margin;
  Reduction reduction;
  explicit MultiMarginLoss(double p = 1, double margin = 1, std::optional<Tensor> weight = std::nullopt,
                           Reduction reduction = Reduction::kMean)
      : WeightedLoss(std::move(weight)), p(p), margin(margin), reduction(reduction) {}
  Tensor Forward(const Tensor& input, const Tensor& target) const {
    return understudy::MultiMarginLoss(input, target, {p, margin, pointer(), reduction});
  }
};

struct KlDivLoss : Stateless {
  Reduction reduction;
  bool log_target, batch_mean;
  explicit KlDivLoss(Reduction reduction = Reduction::kMean, bool log_target = false, bool batch_mean = false)
      : reduction(reduction), log_target(log_target), batch_mean(batch_mean) {}
  Tensor Forward(const Tensor& input, const Tensor& target) const {
    return KlDiv(input, target, reduction, log_target, batch_mean);
  }
};
struct PoissonNllLoss : Stateless {
  bool log_input, full;
  double eps;
  Reduction reduction;
  explicit PoissonNllLoss(bool log_input = true, bool full = false, double eps = 1e-8,
                          Reduction reduction = Reduction::kMean)
      : log_input(log_input), full(full), eps(eps), reduction(reduction) {}
  Tensor Forward(const Tensor& input, const Tensor& target) const {
    return understudy::PoissonNllLoss(input, target, log_input, full, eps, reduction);
  }
};
struct GaussianNllLoss : Stateless {
  bool full;
  double eps;
  Reduction reduction;
  explicit GaussianNllLoss(bool full = false, double eps = 1e-6, Reduction reduction = Reduction::kMean)
      : full(full), eps(eps), reduction(reduction) {}
  Tensor Forward(const Tensor& input, const Tensor& target, const Tensor& var) const {
    return understudy::GaussianNllLoss(input, target, var, full, eps, reduction);
  }
};
struct HingeEmbeddingLoss : Stateless {
  double margin;
  Reduction reduction;
  explicit HingeEmbeddingLoss(double margin = 1, Reduction reduction = Reduction::kMean)
      : margin(margin), reduction(reduction) {}
  Tensor Forward(const Tensor& input, const Tensor& target) const {
    return understudy::HingeEmbeddingLoss(input, target, margin, reduction);
  }
};
// Two inputs and a target of 1 and -1.
template <auto kLoss>
struct PairLoss : Stateless {
  double margin;
  Reduction reduction;
  explicit PairLoss(double margin = 0, Reduction reduction = Reduction::kMean)
      : margin(margin), reduction(reduction) {}
  Tensor Forward(const Tensor& a, const Tensor& b, const Tensor& target) const {
    return kLoss(a, b, target, margin, reduction);
  }
};
using MarginRankingLoss = PairLoss<&understudy::MarginRankingLoss>;
using CosineEmbeddingLoss = PairLoss<&understudy::CosineEmbeddingLoss>;

struct TripletMarginLoss : Stateless {
  TripletMarginOptions options;
  explicit TripletMarginLoss(const TripletMarginOptions& options = {}) : options(options) {}
  Tensor Forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative) const {
    return understudy::TripletMarginLoss(anchor, positive, negative, options);
  }
};
// The same with a distance of the caller's.
struct TripletMarginWithDistanceLoss : Stateless {
  std::function<Tensor(const Tensor&, const Tensor&)> distance;
  double margin;
  bool swap;
  Reduction reduction;
  explicit TripletMarginWithDistanceLoss(std::function<Tensor(const Tensor&, const Tensor&)> distance,
                                         double margin = 1, bool swap = false,
                                         Reduction reduction = Reduction::kMean)
      : distance(std::move(distance)), margin(margin), swap(swap), reduction(reduction) {}
  Tensor Forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative) const {
    Tensor far = distance(anchor, negative);
    if (swap) far = far.Minimum(distance(positive, negative));
    const Tensor gap = distance(anchor, positive) - far + margin;
    const Tensor loss = Where(gap.Lt(0), 0.0, gap);
    return reduction == Reduction::kNone ? loss : reduction == Reduction::kSum ? loss.Sum() : loss.Mean();
  }
};
struct CtcLoss : Stateless {
  CtcLossOptions options;
  explicit CtcLoss(const CtcLossOptions& options = {}) : options(options) {}
  Tensor Forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                 const Tensor& target_lengths) const {
    return understudy::CtcLoss(log_probs, targets, input_lengths, target_lengths, options);
  }
};

}  // namespace understudy::nn
