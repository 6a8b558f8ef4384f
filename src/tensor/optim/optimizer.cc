// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/optim/optimizer.h"

#include <cstring>
#include <map>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/tensor/watch.h"
#include "src/tensor/shard.h"

namespace understudy::optim {
namespace {

DType StateType(DType t) { return AccType(t); }

// In storage of its own from the start, so that the first step has the structure of all others.
Tensor Filled(const Shape& shape, DType t, double value, const std::string& device) {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  if (t == dtypes::kFloat64) return Tensor::FromData(std::vector<double>(n, value), shape, device);
  return Tensor::FromData(std::vector<float>(n, static_cast<float>(value)), shape, device);
}

// An optimiser that is stepped again may be gone.
absl::StatusOr<Optimizer*> Alive(const std::weak_ptr<Optimizer*>& self) {
  const std::shared_ptr<Optimizer*> alive = self.lock();
  if (alive == nullptr)
    return absl::FailedPreconditionError("an optimiser whose step is replayed no longer exists");
  return *alive;
}

}  // namespace

Optimizer::Optimizer(std::vector<Tensor> params, double lr, std::vector<std::string> state_names,
                     double state_value)
    : params_(std::move(params)),
      state_names_(std::move(state_names)),
      lr_(lr),
      self_(std::make_shared<Optimizer*>(this)) {
  for (const Tensor& p : params_) {
    std::vector<Tensor>& state = state_.emplace_back();
    for (size_t i = 0; i < state_names_.size(); ++i)
      state.push_back(ShardLike(Filled(p.shape(), StateType(p.dtype()), state_value, DevicesOf(p)[0]), p));
  }
}

// The step's numbers as scalars of one type on one device.
absl::StatusOr<Numbers> Optimizer::Upload(DType t, const std::string& device) const {
  const auto contents = [self = std::weak_ptr(self_), t]() -> absl::StatusOr<std::vector<uint8_t>> {
    US_ASSIGN_OR_RETURN(const Optimizer* const o, Alive(self));
    const bool wide = t == dtypes::kFloat64;
    std::vector<uint8_t> bytes(o->numbers_.size() * (wide ? 8 : 4));
    for (size_t i = 0; i < o->numbers_.size(); ++i) {
      const double v = o->numbers_[i];
      const auto narrow = static_cast<float>(v);
      if (wide)
        std::memcpy(bytes.data() + i * 8, &v, 8);
      else
        std::memcpy(bytes.data() + i * 4, &narrow, 4);
    }
    return bytes;
  };
  const auto count = static_cast<int64_t>(numbers_.size());
  const Tensor all =
      HostTensor(contents, t == dtypes::kFloat64 ? dtypes::kFloat64 : dtypes::kFloat32, {count}, device);
  US_RETURN_IF_ERROR(all.status());
  Numbers out;
  for (int64_t i = 0; i < count; ++i) out.push_back(all.Shrink({{i, i + 1}}).Reshape({}));
  return out;
}

absl::Status Optimizer::Step(const std::vector<Tensor>& gradients) {
  if (gradients.size() != params_.size()) {
    return absl::InvalidArgumentError(absl::StrCat("Step: ", gradients.size(), " gradients, expected ",
                                                   params_.size(), ", one a parameter"));
  }
  for (size_t i = 0; i < params_.size(); ++i) {
    if (!gradients[i].ok()) {
      return absl::Status(
          gradients[i].status().code(),
          absl::StrCat("Step: gradient ", i, ": ", std::string(gradients[i].status().message())));
    }
    US_RETURN_IF_ERROR(params_[i].status());
    if (gradients[i].shape() != params_[i].shape()) {
      return absl::InvalidArgumentError(absl::StrCat("Step: gradient ", i, " has ", gradients[i].numel(),
                                                     " elements or another shape than its parameter of ",
                                                     params_[i].numel(), ", expected equal shapes"));
    }
  }
  US_RETURN_IF_ERROR(HostWorkNow([self = std::weak_ptr(self_)]() -> absl::Status {
    US_ASSIGN_OR_RETURN(Optimizer* const o, Alive(self));
    ++o->steps_;
    o->numbers_ = o->StepNumbers();
    return absl::OkStatus();
  }));
  std::map<std::pair<std::string, int>, Numbers> uploaded;
  for (size_t i = 0; i < params_.size(); ++i) {
    Tensor& p = params_[i];
    if (p.numel() == 0) continue;
    const DType t = StateType(p.dtype());
    Numbers& numbers = uploaded[{p.device(), static_cast<int>(t.scalar)}];
    if (numbers.empty()) {
      US_ASSIGN_OR_RETURN(numbers, Upload(t, p.device()));
    }
    // Stored once where several kernels (one a state tensor, one for the parameter) read it.
    Tensor g = gradients[i].Detach().Cast(t);
    if (!state_names_.empty()) g = g.Contiguous();
    const Tensor updated = Update(p.Detach().Cast(t), g, state_[i], numbers);
    p.Assign(updated.Cast(p.dtype()));
    US_RETURN_IF_ERROR(p.status());
    for (const Tensor& s : state_[i]) US_RETURN_IF_ERROR(s.status());
  }
  return absl::OkStatus();
}

std::vector<Tensor*> Optimizer::Pending(std::vector<Tensor*> also) {
  for (size_t i = 0; i < params_.size(); ++i) {
    also.push_back(&params_[i]);
    for (Tensor& s : state_[i]) also.push_back(&s);
  }
  return also;
}

std::vector<std::pair<std::string, Tensor>> Optimizer::NamedState() const {
  std::vector<std::pair<std::string, Tensor>> out;
  for (size_t i = 0; i < state_.size(); ++i) {
    for (size_t k = 0; k < state_names_.size(); ++k)
      out.emplace_back(absl::StrCat(i, ".", state_names_[k]), state_[i][k]);
  }
  return out;
}

}  // namespace understudy::optim
