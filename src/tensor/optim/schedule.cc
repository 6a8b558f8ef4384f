// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy::optim {
namespace {

absl::Status AtLeast(const char* op, const char* what, int64_t value, int64_t least) {
  if (value >= least) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(op, ": ", what, " ", value, ", expected at least ", least));
}

double Cosine(double from, double to, double part) {
  return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * part));
}

}  // namespace

LrScheduleOr StepLr(double base, int64_t step_size, double gamma) {
  US_RETURN_IF_ERROR(AtLeast("StepLr", "step_size", step_size, 1));
  return [=](int64_t step) { return base * std::pow(gamma, static_cast<double>(step / step_size)); };
}

LrScheduleOr MultiStepLr(double base, std::vector<int64_t> milestones, double gamma) {
  std::sort(milestones.begin(), milestones.end());
  return [=](int64_t step) {
    const auto passed = std::upper_bound(milestones.begin(), milestones.end(), step) - milestones.begin();
    return base * std::pow(gamma, static_cast<double>(passed));
  };
}

LrScheduleOr ExponentialLr(double base, double gamma) {
  return [=](int64_t step) { return base * std::pow(gamma, static_cast<double>(step)); };
}

LrScheduleOr ConstantLr(double base, double factor, int64_t total_iters) {
  US_RETURN_IF_ERROR(AtLeast("ConstantLr", "total_iters", total_iters, 0));
  return [=](int64_t step) { return step < total_iters ? base * factor : base; };
}

LrScheduleOr LinearLr(double base, double start_factor, double end_factor, int64_t total_iters) {
  US_RETURN_IF_ERROR(AtLeast("LinearLr", "total_iters", total_iters, 1));
  if (!(start_factor > 0 && start_factor <= 1))
    return absl::InvalidArgumentError(
        absl::StrCat("LinearLr: start_factor ", start_factor, ", expected above 0 and at most 1"));
  if (!(end_factor >= 0 && end_factor <= 1))
    return absl::InvalidArgumentError(absl::StrCat("LinearLr: end_factor ", end_factor, ", expected 0 to 1"));
  return [=](int64_t step) {
    const double part = static_cast<double>(std::min(step, total_iters)) / static_cast<double>(total_iters);
    return base * (start_factor + (end_factor - start_factor) * part);
  };
}

LrScheduleOr PolynomialLr(double base, int64_t total_iters, double power) {
  US_RETURN_IF_ERROR(AtLeast("PolynomialLr", "total_iters", total_iters, 1));
  return [=](int64_t step) {
    const double part = static_cast<double>(std::min(step, total_iters)) / static_cast<double>(total_iters);
    return base * std::pow(1 - part, power);
  };
}

LrScheduleOr CosineAnnealingLr(double base, int64_t t_max, double eta_min) {
  US_RETURN_IF_ERROR(AtLeast("CosineAnnealingLr", "t_max", t_max, 1));
  return [=](int64_t step) {
    return Cosine(base, eta_min, static_cast<double>(step) / static_cast<double>(t_max));
  };
}

LrScheduleOr CosineAnnealingWarmRestarts(double base, int64_t t_0, int64_t t_mult, double eta_min) {
  US_RETURN_IF_ERROR(AtLeast("CosineAnnealingWarmRestarts", "t_0", t_0, 1));
  US_RETURN_IF_ERROR(AtLeast("CosineAnnealingWarmRestarts", "t_mult", t_mult, 1));
  return [=](int64_t step) {
    int64_t length = t_0, at = step;
    if (t_mult == 1) {
      at %= length;
    } else {
      while (at >= length) {
        at -= length;
        if (length > INT64_MAX / t_mult) break;  // longer than any step
        length *= t_mult;
      }
    }
    return Cosine(base, eta_min, static_cast<double>(at) / static_cast<double>(length));
  };
}

LrScheduleOr OneCycleLr(double max_lr, int64_t total_steps, const OneCycleOptions& o) {
  US_RETURN_IF_ERROR(AtLeast("OneCycleLr", "total_steps", total_steps, 1));
  if (!(o.pct_start >= 0 && o.pct_start <= 1))
    return absl::InvalidArgumentError(
        absl::StrCat("OneCycleLr: pct_start ", o.pct_start, ", expected 0 to 1"));
  const double total = static_cast<double>(total_steps), initial = max_lr / o.div_factor,
               least = initial / o.final_div_factor;
  struct Phase {
    double end, from, to;
  };
  std::vector<Phase> phases;
  if (o.three_phase) {
    phases = {{o.pct_start * total - 1, initial, max_lr},
              {2 * o.pct_start * total - 2, max_lr, initial},
              {total - 1, initial, least}};
  } else {
    phases = {{o.pct_start * total - 1, initial, max_lr}, {total - 1, max_lr, least}};
  }
  return [=, linear = o.linear](int64_t step) {
    const double at = static_cast<double>(std::min(step, total_steps - 1));
    double start = 0;
    for (size_t i = 0; i < phases.size(); ++i) {
      const Phase& p = phases[i];
      if (at <= p.end || i + 1 == phases.size()) {
        const double part = p.end == start ? 1 : (at - start) / (p.end - start);
        return linear ? p.from + (p.to - p.from) * part : Cosine(p.from, p.to, part);
      }
      start = p.end;
    }
    return least;
  };
}

LrScheduleOr SequentialLr(std::vector<LrSchedule> parts, std::vector<int64_t> milestones) {
  if (parts.empty() || milestones.size() + 1 != parts.size() ||
      !std::is_sorted(milestones.begin(), milestones.end())) {
    return absl::InvalidArgumentError(absl::StrCat("SequentialLr: ", parts.size(), " schedules and ",
                                                   milestones.size(),
                                                   " milestones, expected one less milestone, in order"));
  }
  return [=](int64_t step) {
    const auto i = std::upper_bound(milestones.begin(), milestones.end(), step) - milestones.begin();
    return parts[i](i == 0 ? step : step - milestones[i - 1]);
  };
}

ReduceLrOnPlateau::ReduceLrOnPlateau(double lr, const PlateauOptions& options)
    : lr_(lr), options_(options), best_(options.maximize ? -INFINITY : INFINITY) {}

bool ReduceLrOnPlateau::Better(double metric) const {
  const double t = options_.threshold;
  if (options_.absolute_threshold) return options_.maximize ? metric > best_ + t : metric < best_ - t;
  return options_.maximize ? metric > best_ * (1 + t) : metric < best_ * (1 - t);
}

double ReduceLrOnPlateau::Step(double metric) {
  if (Better(metric)) {
    best_ = metric;
    bad_ = 0;
  } else {
    ++bad_;
  }
  if (cooling_ > 0) {
    --cooling_;
    bad_ = 0;
  }
  if (bad_ > options_.patience) {
    const double lower = std::max(lr_ * options_.factor, options_.min_lr);
    if (lr_ - lower > options_.eps) lr_ = lower;
    cooling_ = options_.cooldown;
    bad_ = 0;
  }
  return lr_;
}

}  // namespace understudy::optim
