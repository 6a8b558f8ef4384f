// SPDX-License-Identifier: Apache-2.0
#pragma once
// Learning rates over time, with the names and values of torch.optim.lr_scheduler. A schedule is a plain
// function of the step (0 is the first), so that a loop may start anywhere:
//
//   US_ASSIGN_OR_RETURN(const auto lr, optim::CosineAnnealingLr(0.1, 100));
//   for (int64_t step = 0; ...; ++step) { optimizer->set_lr(lr(step)); ... }

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"

namespace understudy::optim {

using LrSchedule = std::function<double(int64_t step)>;
using LrScheduleOr = absl::StatusOr<LrSchedule>;

// All refuse sizes below 1 and orders that make no sense, with InvalidArgument.
LrScheduleOr StepLr(double base, int64_t step_size, double gamma = 0.1);
LrScheduleOr MultiStepLr(double base, std::vector<int64_t> milestones, double gamma = 0.1);
LrScheduleOr ExponentialLr(double base, double gamma);
// base * factor before total_iters, then base.
LrScheduleOr ConstantLr(double base, double factor = 1.0 / 3, int64_t total_iters = 5);
// The factor goes from start to end in total_iters steps: a linear warm-up.
LrScheduleOr LinearLr(double base, double start_factor = 1.0 / 3, double end_factor = 1,
                      int64_t total_iters = 5);
LrScheduleOr PolynomialLr(double base, int64_t total_iters = 5, double power = 1);
LrScheduleOr CosineAnnealingLr(double base, int64_t t_max, double eta_min = 0);
LrScheduleOr CosineAnnealingWarmRestarts(double base, int64_t t_0, int64_t t_mult = 1, double eta_min = 0);

struct OneCycleOptions {
  double pct_start = 0.3, div_factor = 25, final_div_factor = 1e4;
  bool linear = false;  // else by cosine
  bool three_phase = false;
};
// Defined on steps 0 .. total_steps - 1; later ones stay at the last. The momentum is not cycled.
LrScheduleOr OneCycleLr(double max_lr, int64_t total_steps, const OneCycleOptions& options = {});

// parts[0] until milestones[0], then parts[1] counted from there, and so on.
LrScheduleOr SequentialLr(std::vector<LrSchedule> parts, std::vector<int64_t> milestones);

struct PlateauOptions {
  bool maximize = false;  // else the metric is to fall
  double factor = 0.1;
  int64_t patience = 10, cooldown = 0;
  double threshold = 1e-4, min_lr = 0, eps = 1e-8;
  bool absolute_threshold = false;  // else relative to the best
};
// Lowers the rate when a metric has not improved for more than `patience` calls.
class ReduceLrOnPlateau {
 public:
  explicit ReduceLrOnPlateau(double lr, const PlateauOptions& options = {});
  // The rate after this metric.
  double Step(double metric);
  double lr() const { return lr_; }

 private:
  bool Better(double metric) const;
  double lr_;
  const PlateauOptions options_;
  double best_;
  int64_t bad_ = 0, cooling_ = 0;
};

}  // namespace understudy::optim
