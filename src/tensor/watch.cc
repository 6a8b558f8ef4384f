// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/watch.h"

#include "src/base/status.h"
#include "src/tensor/internal.h"

namespace understudy {
namespace {

thread_local TensorWatch* current_watch = nullptr;

}  // namespace

WeakTensor::WeakTensor(const Tensor& t) : state_(t.state_), id_(t.state_.get()) {}

std::optional<Tensor> WeakTensor::Lock() const {
  std::shared_ptr<Tensor::State> state = state_.lock();
  if (state == nullptr) return std::nullopt;
  return Tensor(std::move(state));
}

int64_t WeakTensor::holders() const { return state_.use_count(); }

std::optional<Tensor> WeakTensor::BaseOf(const Tensor& t) {
  if (t.state_->base == nullptr) return std::nullopt;
  return Tensor(t.state_->base);
}

UOpRef WeakTensor::Shown(const Tensor& view, const UOpRef& of) {
  UOpRef u = of;
  for (const Tensor::State::Step& step : view.state_->steps) u = step.Over(u);
  return u;
}

void WeakTensor::LookAgain(Tensor& t) {
  Tensor::State& s = *t.state_;
  if (s.base == nullptr || s.uop == nullptr || s.base->uop == nullptr || s.shown != s.base->version) return;
  s.uop = Shown(t, s.base->uop);
}

void WeakTensor::Replace(Tensor& t, UOpRef storage) {
  US_CHECK(t.state_->base == nullptr && t.ok() && storage != nullptr && storage->dtype() == t.dtype() &&
           storage->shape() == t.shape());
  t.SetContents(std::move(storage), false);
}

TensorWatch* TensorWatch::Current() { return current_watch; }

TensorWatch::Scope::Scope(TensorWatch* watch) : before_(current_watch) { current_watch = watch; }
TensorWatch::Scope::~Scope() { current_watch = before_; }

absl::Status HostWorkNow(std::function<absl::Status()> work) {
  US_RETURN_IF_ERROR(work());
  if (TensorWatch* watch = TensorWatch::Current()) watch->OnHostWork(std::move(work));
  return absl::OkStatus();
}

Tensor HostTensor(TensorWatch::HostContents contents, DType dtype, Shape shape, const std::string& device) {
  absl::StatusOr<std::vector<uint8_t>> bytes = contents();
  if (!bytes.ok()) return Tensor(bytes.status());
  TensorWatch* const watch = TensorWatch::Current();
  Tensor t;
  {
    TensorWatch::Scope unseen(nullptr);
    t = Tensor::FromBytes(*std::move(bytes), dtype, std::move(shape), device);
    if (!t.ok() || watch == nullptr) return t;
  }
  UOpRef node = t.uop();
  while (node->op() != Op::kBuffer) node = UOpRef(node->src(0));
  watch->OnHostContents(node, std::move(contents));
  return t;
}

}  // namespace understudy
