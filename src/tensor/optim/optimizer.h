// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gradient descent rules with torch.optim's names, defaults and arithmetic. Training loops call Step with the
// gradients and then realise what it wrote; an optimiser never runs anything and draws no random numbers.
//
//   US_ASSIGN_OR_RETURN(auto optimizer, optim::AdamW(nn::Parameters(model)));
//   Tensor loss = ...;
//   US_RETURN_IF_ERROR(optimizer->Step(Gradients(loss, optimizer->params())));
//   US_RETURN_IF_ERROR(engine.Realize(optimizer->Pending({&loss})));

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/tensor/tensor.h"

namespace understudy::optim {

// The numbers of one step (learning rate, corrections of bias ...) are contents of a small tensor and not
// part of the graph, so that every step has the structure of the first and compiles nothing.
using Numbers = std::vector<Tensor>;

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // One step, written to params and state by Assign when those are realised. gradients[i] is that of
  // params()[i]. Nothing is changed when a gradient is an error or has another shape. Inside of a captured
  // function every replay counts as a step and takes lr() as it is then.
  absl::Status Step(const std::vector<Tensor>& gradients);
  // Everything that Step writes, after `also`, for Engine::Realize.
  std::vector<Tensor*> Pending(std::vector<Tensor*> also = {});

  const std::vector<Tensor>& params() const { return params_; }
  double lr() const { return lr_; }
  void set_lr(double lr) { lr_ = lr; }
  int64_t steps() const { return steps_; }
  // For a checkpoint that is loaded: with the state below, all that a step depends on.
  void set_steps(int64_t steps) { steps_ = steps; }
  // "<parameter number>.<torch.optim's name>": handles on the state, which loading may Assign.
  std::vector<std::pair<std::string, Tensor>> NamedState() const;

 protected:
  // State of f16, bf16 and 8-bit parameters is f32; of the rest, their own type.
  Optimizer(std::vector<Tensor> params, double lr, std::vector<std::string> state_names,
            double state_value = 0);
  // This step's numbers; steps() counts it already.
  virtual std::vector<double> StepNumbers() const = 0;
  // The parameter after the step, in the state's type. State is written by Assign.
  virtual Tensor Update(const Tensor& p, const Tensor& g, std::vector<Tensor>& state,
                        const Numbers& numbers) const = 0;

 private:
  absl::StatusOr<Numbers> Upload(DType t, const std::string& device) const;

  std::vector<Tensor> params_;
  std::vector<std::string> state_names_;
  std::vector<std::vector<Tensor>> state_;  // [parameter][name]
  double lr_;
  int64_t steps_ = 0;
  std::vector<double> numbers_;             // of the current step
  const std::shared_ptr<Optimizer*> self_;  // for replays: whether this still exists
};

using OptimizerOr = absl::StatusOr<std::unique_ptr<Optimizer>>;

// All of these refuse parameters that are no floats, errors, or given twice, and options out of range.

struct SgdOptions {
  double lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false, maximize = false;
};
OptimizerOr Sgd(std::vector<Tensor> params, const SgdOptions& options = {});

struct AdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  bool amsgrad = false, maximize = false;
};
// Weight decay is added to the gradient.
OptimizerOr Adam(std::vector<Tensor> params, const AdamOptions& options = {});
// Weight decay shrinks the parameter; torch's default is 1e-2.
OptimizerOr AdamW(std::vector<Tensor> params,
                  const AdamOptions& options = {1e-3, 0.9, 0.999, 1e-8, 1e-2, false, false});

struct RmsPropOptions {
  double lr = 1e-2, alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0;
  bool centered = false, maximize = false;
};
OptimizerOr RmsProp(std::vector<Tensor> params, const RmsPropOptions& options = {});

struct AdagradOptions {
  double lr = 1e-2, lr_decay = 0, weight_decay = 0, initial_accumulator_value = 0, eps = 1e-10;
  bool maximize = false;
};
OptimizerOr Adagrad(std::vector<Tensor> params, const AdagradOptions& options = {});

// You et al., "Large batch optimization for deep learning" (2020), algorithm 2: Adam's step, scaled by the
// ratio of the parameter's norm to the step's (1 where either is 0).
struct LambOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-6, weight_decay = 0;
};
OptimizerOr Lamb(std::vector<Tensor> params, const LambOptions& options = {});

// Momentum made orthogonal by Newton-Schulz steps (Jordan, 2024), for matrices only. The iteration runs in
// the state's type (published programs use bf16). Nesterov, weight decay and the choice of scale as
// torch.optim.Muon's.
struct MuonOptions {
  double lr = 1e-3, weight_decay = 0.1, momentum = 0.95, eps = 1e-7;
  bool nesterov = true;
  double a = 3.4445, b = -4.7750, c = 2.0315;  // of x <- a x + (b x x' + c (x x')^2) x
  int64_t ns_steps = 5;
  enum class Adjust { kOriginal, kMatchRmsAdamW };
  Adjust adjust = Adjust::kOriginal;  // sqrt(max(1, rows / columns)), or 0.2 sqrt(max(rows, columns))
};
OptimizerOr Muon(std::vector<Tensor> params, const MuonOptions& options = {});

}  // namespace understudy::optim
