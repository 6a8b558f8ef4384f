// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loss functions with PyTorch's definitions and defaults. Each answers the loss of every element (kNone),
// their mean or their sum; an empty mean is NaN. Class indices outside the classes cannot be refused before
// the data is known: they make the loss NaN. Optional tensors may be null.

#include <cstdint>
#include <optional>

#include "src/tensor/tensor.h"

namespace understudy {

enum class Reduction { kNone, kMean, kSum };

Tensor MseLoss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::kMean);
Tensor L1Loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::kMean);
Tensor SmoothL1Loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::kMean,
                    double beta = 1);
Tensor HuberLoss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::kMean,
                 double delta = 1);

struct ClassLossOptions {
  const Tensor* weight = nullptr;  // {C}
  int64_t ignore_index = -100;     // class indices only
  Reduction reduction = Reduction::kMean;
  double label_smoothing = 0;  // CrossEntropy only
};
// input {N, C, ...} or {C} logits; target {N, ...} class indices (integers) or {N, C, ...} probabilities
// (floats).
Tensor CrossEntropy(const Tensor& input, const Tensor& target, const ClassLossOptions& options = {});
// input as above, log-probabilities; target class indices.
Tensor NllLoss(const Tensor& input, const Tensor& target, const ClassLossOptions& options = {});

Tensor BinaryCrossEntropy(const Tensor& input, const Tensor& target, const Tensor* weight = nullptr,
                          Reduction reduction = Reduction::kMean);
Tensor BinaryCrossEntropyWithLogits(const Tensor& input, const Tensor& target, const Tensor* weight = nullptr,
                                    Reduction reduction = Reduction::kMean,
                                    const Tensor* pos_weight = nullptr);
// input: log-probabilities. `batch_mean` divides the sum by the first axis instead of by the number of
// elements.
Tensor KlDiv(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::kMean,
             bool log_target = false, bool batch_mean = false);
Tensor PoissonNllLoss(const Tensor& input, const Tensor& target, bool log_input = true, bool full = false,
                      double eps = 1e-8, Reduction reduction = Reduction::kMean);
Tensor GaussianNllLoss(const Tensor& input, const Tensor& target, const Tensor& var, bool full = false,
                       double eps = 1e-6, Reduction reduction = Reduction::kMean);

Tensor HingeEmbeddingLoss(const Tensor& input, const Tensor& target, double margin = 1,
                          Reduction reduction = Reduction::kMean);
Tensor MarginRankingLoss(const Tensor& a, const Tensor& b, const Tensor& target, double margin = 0,
                         Reduction reduction = Reduction::kMean);
Tensor CosineEmbeddingLoss(const Tensor& a, const Tensor& b, const Tensor& target, double margin = 0,
                           Reduction reduction = Reduction::kMean);
struct TripletMarginOptions {
  double margin = 1, p = 2, eps = 1e-6;
  bool swap = false;
  Reduction reduction = Reduction::kMean;
};
Tensor TripletMarginLoss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                         const TripletMarginOptions& options = {});
Tensor SoftMarginLoss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::kMean);
// input {N, C} or {C}; target {N} or {} class indices; weight {C}.
struct MultiMarginOptions {
  double p = 1, margin = 1;  // p: 1 or 2
  const Tensor* weight = nullptr;
  Reduction reduction = Reduction::kMean;
};
Tensor MultiMarginLoss(const Tensor& input, const Tensor& target, const MultiMarginOptions& options = {});
// input {N, C} or {C}; target of its shape: class indices up to the first negative one. The sum over targets
// j and other classes i of max(0, 1 - (x[j] - x[i])) / C.
Tensor MultiLabelMarginLoss(const Tensor& input, const Tensor& target,
                            Reduction reduction = Reduction::kMean);
// target {N, C} of 0 and 1.
Tensor MultiLabelSoftMarginLoss(const Tensor& input, const Tensor& target, const Tensor* weight = nullptr,
                                Reduction reduction = Reduction::kMean);

struct CtcLossOptions {
  int64_t blank = 0;
  Reduction reduction = Reduction::kMean;  // the mean divides each by its target's length first
  bool zero_infinity = false;
  // Of targets one after another; none: all of them, whose cost is as if every target had that length. A
  // longer target gives NaN.
  std::optional<int64_t> max_target_length = std::nullopt;
};
// log_probs {T, N, C}; targets {N, S}, or {sum of target lengths} one after another; lengths {N} each,
// integers.
Tensor CtcLoss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
               const Tensor& target_lengths, const CtcLossOptions& options = {});

}  // namespace understudy
