// SPDX-License-Identifier: Apache-2.0
// The update rules. Each follows torch.optim's order of operations, so that float32 trajectories stay
// together; numbers that change from step to step come from `Numbers`, constant ones are in the graph.
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/tensor/optim/optimizer.h"

namespace understudy::optim {
namespace {

struct Limit {
  const char* name;
  double value, low, high;  // low <= value < high
};

absl::Status Check(const char* op, const std::vector<Tensor>& params, const std::vector<Limit>& limits) {
  for (const Limit& l : limits) {
    if (!(l.value >= l.low && l.value < l.high)) {
      return absl::InvalidArgumentError(
          absl::StrCat(op, ": ", l.name, " ", l.value, ", expected at least ", l.low,
                       std::isinf(l.high) ? "" : absl::StrCat(" and below ", l.high)));
    }
  }
  if (params.empty()) return absl::InvalidArgumentError(absl::StrCat(op, ": no parameters"));
  absl::flat_hash_set<const UOp*> seen;
  for (size_t i = 0; i < params.size(); ++i) {
    US_RETURN_IF_ERROR(params[i].status());
    if (!params[i].dtype().IsFloat()) {
      return absl::InvalidArgumentError(
          absl::StrCat(op, ": parameter ", i, " is ", params[i].dtype().Name(), ", expected a float"));
    }
    if (!seen.insert(params[i].uop().get()).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          op, ": parameter ", i, " is the same value as an earlier one, expected each parameter once"));
    }
  }
  return absl::OkStatus();
}

constexpr double kNoLimit = INFINITY;

class SgdRule : public Optimizer {
 public:
  SgdRule(std::vector<Tensor> params, const SgdOptions& o)
      : Optimizer(std::move(params), o.lr,
                  o.momentum != 0 ? std::vector<std::string>{"momentum_buffer"} : std::vector<std::string>{}),
        o_(o) {}

 protected:
  // The first step takes the gradient itself as momentum.
  std::vector<double> StepNumbers() const override {
    const bool first = steps() == 1;
    return {lr(), first ? 0 : o_.momentum, first ? 1 : 1 - o_.dampening};
  }
  Tensor Update(const Tensor& p, const Tensor& gradient, std::vector<Tensor>& state,
                const Numbers& n) const override {
    Tensor g = o_.maximize ? -gradient : gradient;
    if (o_.weight_decay != 0) g = g + p * o_.weight_decay;
    if (o_.momentum != 0) {
      Tensor& buffer = state[0];
      buffer.Assign(buffer * n[1] + g * n[2]);
      g = o_.nesterov ? g + buffer * o_.momentum : buffer;
    }
    return p - g * n[0];
  }

 private:
  const SgdOptions o_;
};

class AdamRule : public Optimizer {
 public:
  AdamRule(std::vector<Tensor> params, const AdamOptions& o, bool decoupled)
      : Optimizer(std::move(params), o.lr,
                  o.amsgrad ? std::vector<std::string>{"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}
                            : std::vector<std::string>{"exp_avg", "exp_avg_sq"}),
        o_(o),
        decoupled_(decoupled) {}

 protected:
  std::vector<double> StepNumbers() const override {
    const double step = static_cast<double>(steps());
    return {lr() / (1 - std::pow(o_.beta1, step)), std::sqrt(1 - std::pow(o_.beta2, step)),
            1 - lr() * o_.weight_decay};
  }
  Tensor Update(const Tensor& param, const Tensor& gradient, std::vector<Tensor>& state,
                const Numbers& n) const override {
    Tensor p = param, g = o_.maximize ? -gradient : gradient;
    if (o_.weight_decay != 0) {
      if (decoupled_)
        p = p * n[2];
      else
        g = g + p * o_.weight_decay;
    }
    Tensor &m = state[0], &v = state[1];
    m.Assign(m + (g - m) * (1 - o_.beta1));
    v.Assign(v * o_.beta2 + g * g * (1 - o_.beta2));
    Tensor second = v;
    if (o_.amsgrad) {
      state[2].Assign(state[2].Maximum(v));
      second = state[2];
    }
    return p - m / (second.Sqrt() / n[1] + o_.eps) * n[0];
  }

 private:
  const AdamOptions o_;
  const bool decoupled_;
};

std::vector<std::string> RmsPropState(const RmsPropOptions& o) {
  std::vector<std::string> names = {"square_avg"};
  if (o.momentum > 0) names.push_back("momentum_buffer");
  if (o.centered) names.push_back("grad_avg");
  return names;
}

class RmsPropRule : public Optimizer {
 public:
  RmsPropRule(std::vector<Tensor> params, const RmsPropOptions& o)
      : Optimizer(std::move(params), o.lr, RmsPropState(o)), o_(o) {}

 protected:
  std::vector<double> StepNumbers() const override { return {lr()}; }
  Tensor Update(const Tensor& p, const Tensor& gradient, std::vector<Tensor>& state,
                const Numbers& n) const override {
    Tensor g = o_.maximize ? -gradient : gradient;
    if (o_.weight_decay != 0) g = g + p * o_.weight_decay;
    Tensor& square = state[0];
    square.Assign(square * o_.alpha + g * g * (1 - o_.alpha));
    Tensor variance = square;
    if (o_.centered) {
      Tensor& average = state.back();
      average.Assign(average + (g - average) * (1 - o_.alpha));
      variance = square - average * average;
    }
    const Tensor step = g / (variance.Sqrt() + o_.eps);
    if (!(o_.momentum > 0)) return p - step * n[0];
    state[1].Assign(state[1] * o_.momentum + step);
    return p - state[1] * n[0];
  }

 private:
  const RmsPropOptions o_;
};

class AdagradRule : public Optimizer {
 public:
  AdagradRule(std::vector<Tensor> params, const AdagradOptions& o)
      : Optimizer(std::move(params), o.lr, {"sum"}, o.initial_accumulator_value), o_(o) {}

 protected:
  std::vector<double> StepNumbers() const override {
    return {lr() / (1 + static_cast<double>(steps() - 1) * o_.lr_decay)};
  }
  Tensor Update(const Tensor& p, const Tensor& gradient, std::vector<Tensor>& state,
                const Numbers& n) const override {
    Tensor g = o_.maximize ? -gradient : gradient;
    if (o_.weight_decay != 0) g = g + p * o_.weight_decay;
    Tensor& sum = state[0];
    sum.Assign(sum + g * g);
    return p - g / (sum.Sqrt() + o_.eps) * n[0];
  }

 private:
  const AdagradOptions o_;
};

class LambRule : public Optimizer {
 public:
  LambRule(std::vector<Tensor> params, const LambOptions& o)
      : Optimizer(std::move(params), o.lr, {"exp_avg", "exp_avg_sq"}), o_(o) {}

 protected:
  std::vector<double> StepNumbers() const override {
    const double step = static_cast<double>(steps());
    return {lr(), 1 - std::pow(o_.beta1, step), 1 - std::pow(o_.beta2, step)};
  }
  Tensor Update(const Tensor& p, const Tensor& g, std::vector<Tensor>& state,
                const Numbers& n) const override {
    Tensor &m = state[0], &v = state[1];
    m.Assign(m * o_.beta1 + g * (1 - o_.beta1));
    v.Assign(v * o_.beta2 + g * g * (1 - o_.beta2));
    Tensor step = m / n[1] / ((v / n[2]).Sqrt() + o_.eps);
    if (o_.weight_decay != 0) step = step + p * o_.weight_decay;
    const Tensor p_norm = p.Square().Sum().Sqrt(), step_norm = step.Square().Sum().Sqrt();
    const Tensor ratio = Where(p_norm > 0, Where(step_norm > 0, p_norm / step_norm, 1.0), 1.0);
    return p - step * (ratio * n[0]);
  }

 private:
  const LambOptions o_;
};

class MuonRule : public Optimizer {
 public:
  MuonRule(std::vector<Tensor> params, const MuonOptions& o)
      : Optimizer(std::move(params), o.lr, {"momentum_buffer"}), o_(o) {}

 protected:
  std::vector<double> StepNumbers() const override { return {lr(), 1 - lr() * o_.weight_decay}; }
  Tensor Update(const Tensor& p, const Tensor& g, std::vector<Tensor>& state,
                const Numbers& n) const override {
    Tensor& buffer = state[0];
    buffer.Assign(buffer + (g - buffer) * (1 - o_.momentum));
    const Tensor step = o_.nesterov ? g + (buffer - g) * o_.momentum : buffer;
    const auto rows = static_cast<double>(p.shape()[0]), columns = static_cast<double>(p.shape()[1]);
    const double scale = o_.adjust == MuonOptions::Adjust::kOriginal
                             ? std::sqrt(std::max(1.0, rows / columns))
                             : 0.2 * std::sqrt(std::max(rows, columns));
    return p * n[1] - Orthogonal(step) * (n[0] * scale);
  }

 private:
  Tensor Orthogonal(const Tensor& matrix) const {
    const bool tall = matrix.shape()[0] > matrix.shape()[1];
    Tensor x = tall ? matrix.Transpose() : matrix;
    x = x / x.Square().Sum().Sqrt().Maximum(o_.eps);
    for (int64_t i = 0; i < o_.ns_steps; ++i) {
      x = x.Contiguous();
      const Tensor gram = x.Matmul(x.Transpose()).Contiguous();
      const Tensor mixed = (gram * o_.b + gram.Matmul(gram) * o_.c).Contiguous();
      x = x * o_.a + mixed.Matmul(x);
    }
    return tall ? x.Transpose() : x;
  }
  const MuonOptions o_;
};

}  // namespace

OptimizerOr Sgd(std::vector<Tensor> params, const SgdOptions& o) {
  US_RETURN_IF_ERROR(Check("Sgd", params,
                           {{"lr", o.lr, 0, kNoLimit},
                            {"momentum", o.momentum, 0, kNoLimit},
                            {"weight_decay", o.weight_decay, 0, kNoLimit}}));
  if (o.nesterov && (o.momentum <= 0 || o.dampening != 0))
    return absl::InvalidArgumentError("Sgd: nesterov, expected a momentum above 0 and a dampening of 0");
  return std::make_unique<SgdRule>(std::move(params), o);
}

namespace {

OptimizerOr MakeAdam(const char* op, std::vector<Tensor> params, const AdamOptions& o, bool decoupled) {
  US_RETURN_IF_ERROR(Check(op, params,
                           {{"lr", o.lr, 0, kNoLimit},
                            {"beta1", o.beta1, 0, 1},
                            {"beta2", o.beta2, 0, 1},
                            {"eps", o.eps, 0, kNoLimit},
                            {"weight_decay", o.weight_decay, 0, kNoLimit}}));
  return std::make_unique<AdamRule>(std::move(params), o, decoupled);
}

}  // namespace

OptimizerOr Adam(std::vector<Tensor> params, const AdamOptions& o) {
  return MakeAdam("Adam", std::move(params), o, false);
}
OptimizerOr AdamW(std::vector<Tensor> params, const AdamOptions& o) {
  return MakeAdam("AdamW", std::move(params), o, true);
}

OptimizerOr RmsProp(std::vector<Tensor> params, const RmsPropOptions& o) {
  US_RETURN_IF_ERROR(Check("RmsProp", params,
                           {{"lr", o.lr, 0, kNoLimit},
                            {"alpha", o.alpha, 0, kNoLimit},
                            {"eps", o.eps, 0, kNoLimit},
                            {"momentum", o.momentum, 0, kNoLimit},
                            {"weight_decay", o.weight_decay, 0, kNoLimit}}));
  return std::make_unique<RmsPropRule>(std::move(params), o);
}

OptimizerOr Adagrad(std::vector<Tensor> params, const AdagradOptions& o) {
  US_RETURN_IF_ERROR(Check("Adagrad", params,
                           {{"lr", o.lr, 0, kNoLimit},
                            {"lr_decay", o.lr_decay, 0, kNoLimit},
                            {"eps", o.eps, 0, kNoLimit},
                            {"initial_accumulator_value", o.initial_accumulator_value, 0, kNoLimit},
                            {"weight_decay", o.weight_decay, 0, kNoLimit}}));
  return std::make_unique<AdagradRule>(std::move(params), o);
}

OptimizerOr Lamb(std::vector<Tensor> params, const LambOptions& o) {
  US_RETURN_IF_ERROR(Check("Lamb", params,
                           {{"lr", o.lr, 0, kNoLimit},
                            {"beta1", o.beta1, 0, 1},
                            {"beta2", o.beta2, 0, 1},
                            {"eps", o.eps, 0, kNoLimit},
                            {"weight_decay", o.weight_decay, 0, kNoLimit}}));
  return std::make_unique<LambRule>(std::move(params), o);
}

OptimizerOr Muon(std::vector<Tensor> params, const MuonOptions& o) {
  US_RETURN_IF_ERROR(Check("Muon", params,
                           {{"lr", o.lr, 0, kNoLimit},
                            {"momentum", o.momentum, 0, kNoLimit},
                            {"eps", o.eps, 0, kNoLimit},
                            {"ns_steps", static_cast<double>(o.ns_steps), 0, 100},
                            {"weight_decay", o.weight_decay, 0, kNoLimit}}));
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].ndim() != 2) {
      return absl::InvalidArgumentError(
          absl::StrCat("Muon: parameter ", i, " has ", params[i].ndim(), " axes, expected a matrix"));
    }
  }
  return std::make_unique<MuonRule>(std::move(params), o);
}

}  // namespace understudy::optim
