// SPDX-License-Identifier: Apache-2.0
// What a call of a captured function is given, and the tensors that it captured: bound to memory, checked
// against the recording, and given new identities when they were assigned to.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/status.h"
#include "src/runtime/capture.h"
#include "src/runtime/capture_plan.h"
#include "src/uop/build.h"

namespace understudy {

using namespace capture_internal;  // NOLINT: this file implements them

namespace {

std::string ShapeText(DType dtype, const Shape& shape) {
  return absl::StrCat(dtype.Name(), "[", absl::StrJoin(shape, ","), "]");
}

// The contents of `from`'s slot move to a BUFFER of their own, and whoever still names the old one is
// refused.
UOpRef MovedStorage(const UOpRef& from) {
  const auto& arg = from->arg_as<BufferArg>();
  UOpRef to = uop::NewBuffer(from->dtype(), arg.size, arg.device);
  Call call;
  call.overwrites.push_back({from, to});
  CommitCall(call, nullptr);
  return to;
}

// The tensor itself, or what it is a view of: whoever has contents of its own.
Tensor Owner(const Tensor& t) {
  const auto base = WeakTensor::BaseOf(t);
  return base ? *base : t;
}

}  // namespace

absl::StatusOr<BoundInput> CapturedFunction::Bind(const Tensor& input) {
  US_RETURN_IF_ERROR(input.status());
  BoundInput out;
  out.tensor = input;
  if (input.numel() == 0) return out;
  auto view = StorageView::Of(input.uop());
  if (HasVariables(input.uop())) {
    return absl::UnimplementedError(
        "it depends on a variable (a slice of variable size or place); expected the whole tensor, cut inside "
        "of "
        "the function by the values that the call gives");
  }
  if (!view) {
    US_RETURN_IF_ERROR(engine_.Realize(out.tensor));
    view = StorageView::Of(input.uop());
  }
  auto offset = view ? view->Offset() : std::nullopt;
  if (!offset) {
    out.copy = input.Clone();
    US_RETURN_IF_ERROR(engine_.Realize(*out.copy));
    view = StorageView::Of(out.copy->uop());
    offset = view ? view->Offset() : std::nullopt;
    if (!offset) return absl::InternalError("a copy of an input has no storage of its own");
  }
  if (IsOverwritten(view->slot())) {
    return absl::FailedPreconditionError(
        "it is storage as it was before an assignment that has been done since; expected its present "
        "contents");
  }
  out.node = view->node;
  US_ASSIGN_OR_RETURN(Buffer* const all, engine_.Storage(out.node, /*output=*/false));
  const size_t size = input.dtype().SizeBytes();
  US_ASSIGN_OR_RETURN(
      out.buffer, all->View(static_cast<size_t>(*offset) * size, static_cast<size_t>(input.numel()) * size));
  if (!out.buffer->allocated()) {
    return absl::FailedPreconditionError(
        absl::StrCat("its memory of ", all->bytes(), " bytes on ", all->device().name(), " was freed"));
  }
  return out;
}

absl::StatusOr<std::vector<Tensor>> CapturedFunction::Flatten(Inputs inputs, std::vector<SpreadSpec>* specs) {
  std::vector<Tensor> flat;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor t = inputs[i];
    US_RETURN_IF_ERROR(t.status());
    if (!IsSpread(t.uop()) || t.numel() == 0) {
      specs->push_back(SpreadSpec::Of(uop::BoolConst(true), static_cast<int>(flat.size())));
      flat.push_back(t);
      continue;
    }
    if (!StoredParts(t.uop())) US_RETURN_IF_ERROR(engine_.Realize(t));
    if (!StoredParts(t.uop())) {
      return absl::UnimplementedError(absl::StrCat(
          "input ", i,
          " is a view of a tensor of several devices, expected one with storage of its own (Clone)"));
    }
    specs->push_back(SpreadSpec::Of(t.uop(), static_cast<int>(flat.size())));
    for (const UOpRef& part : PartsOf(t.uop())) {
      const auto device = StorageView::Of(part)->node->arg_as<BufferArg>().device;
      flat.push_back(Tensor(part, device));
      flat.back().set_requires_grad(t.requires_grad());
    }
  }
  return flat;
}

absl::Status CapturedFunction::CheckSpread(Inputs inputs) const {
  const auto& specs = recording_->given_inputs;
  if (inputs.size() != specs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(inputs.size(), " inputs, recorded with ", specs.size(), " (Reset records anew)"));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].ok() || inputs[i].numel() == 0) continue;
    const bool spread = IsSpread(inputs[i].uop());
    if (spread != specs[i].arg.has_value() || (spread && !specs[i].SameSharding(inputs[i].uop()))) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", i, " lies on ", inputs[i].device(),
                       " in other parts than it was recorded with (Shard and To move, Reset records anew)"));
    }
  }
  return absl::OkStatus();
}

// Parts that have other storage, or were assigned to, make a new value of their tensor.
void CapturedFunction::JoinInputs(Inputs inputs, absl::Span<const SpreadSpec> specs,
                                  absl::Span<const Tensor> flat) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!specs[i].arg) continue;
    const UOpRef now = specs[i].Join(flat);
    if (now == inputs[i].uop()) continue;
    Tensor owner = Owner(inputs[i]);
    if (owner.uop() == inputs[i].uop()) WeakTensor::Replace(owner, now);
  }
}

absl::Status CapturedFunction::Unshare(BoundInput& input) {
  if (input.node == nullptr || input.copy || input.node->arg_as<BufferArg>().slot->shown < 2)
    return absl::OkStatus();
  Tensor owner = Owner(input.tensor);
  const auto view = StorageView::Of(owner.uop());
  if (!view || view->node != input.node) return absl::OkStatus();
  US_ASSIGN_OR_RETURN(Buffer* const from, engine_.Storage(input.node, false));
  const auto& arg = input.node->arg_as<BufferArg>();
  const UOpRef node = uop::NewBuffer(input.node->dtype(), arg.size, arg.device);
  auto own = std::make_unique<Buffer>(from->device_ref(), from->bytes());
  US_RETURN_IF_ERROR(CopyBuffer(*own, *from));
  ++engine_.stats_.copies;
  engine_.stats_.bytes_copied += static_cast<int64_t>(own->bytes());
  node->arg_as<BufferArg>().slot->impl = std::move(own);
  WeakTensor::Replace(owner, view->Over(node));
  US_ASSIGN_OR_RETURN(input, Bind(input.tensor));
  return absl::OkStatus();
}

absl::Status CapturedFunction::Renew(BoundInput& input) {
  Tensor owner = Owner(input.tensor);
  const auto view = StorageView::Of(owner.uop());
  if (!view || view->node != input.node) {
    return absl::FailedPreconditionError(
        "it was assigned to, and is a view of a tensor that has other storage; expected a tensor of its own "
        "(Clone)");
  }
  WeakTensor::Replace(owner, view->Over(MovedStorage(view->node)));
  return absl::OkStatus();
}

absl::Status CapturedFunction::CheckInputs(Inputs inputs) const {
  const auto& specs = recording_->inputs;
  if (inputs.size() != specs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(inputs.size(), " inputs, recorded with ", specs.size(), " (Reset records anew)"));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = inputs[i];
    const InputSpec& s = specs[i];
    US_RETURN_IF_ERROR(t.status());
    if (t.shape() != s.shape || t.dtype() != s.dtype) {
      return absl::InvalidArgumentError(absl::StrCat("input ", i, " is ", ShapeText(t.dtype(), t.shape()),
                                                     ", recorded as ", ShapeText(s.dtype, s.shape),
                                                     " (Reset records anew)"));
    }
    if (t.device() != s.device) {
      return absl::InvalidArgumentError(absl::StrCat("input ", i, " is on ", t.device(), ", recorded on ",
                                                     s.device, " (To moves, Reset records anew)"));
    }
  }
  return absl::OkStatus();
}

absl::Status CapturedFunction::CheckSharing(absl::Span<const BoundInput> inputs) const {
  const Recording& r = *recording_;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (r.inputs[i].memory < 0) continue;
    const void* id = inputs[i].buffer->memory_id();
    const auto refuse = [&](const std::string& with) {
      return absl::FailedPreconditionError(
          absl::StrCat("input ", i, " shares storage with ", with,
                       ", and the function assigns to one of them; expected storage of its own (Clone)"));
    };
    if (r.inputs[i].written && inputs[i].copy) {
      return absl::FailedPreconditionError(
          absl::StrCat("the function assigns to input ", i,
                       ", which is a constant or a view that is no range of its storage; expected a tensor "
                       "with storage of its own (Clone)"));
    }
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (k == i || r.inputs[k].memory < 0 || !(r.inputs[i].written || r.inputs[k].written)) continue;
      if (inputs[k].buffer->memory_id() == id) return refuse(absl::StrCat("input ", k));
    }
    for (const Memory& m : r.memories) {
      if (m.kind != MemoryKind::kKept || m.buffer == nullptr || !(m.written || r.inputs[i].written)) continue;
      if (m.buffer->memory_id() == id) return refuse("a tensor that it captured");
    }
  }
  return absl::OkStatus();
}

absl::Status CapturedFunction::SetVariables(const VariableValues& variables) {
  Recording& r = *recording_;
  const auto names = [](const VariableValues& v) {
    return absl::StrJoin(v, ", ", [](std::string* out, const auto& e) { out->append(e.first); });
  };
  const bool same = std::equal(variables.begin(), variables.end(), r.given.begin(), r.given.end(),
                               [](const auto& a, const auto& b) { return a.first == b.first; });
  if (!same) {
    return absl::InvalidArgumentError(absl::StrCat("variables {", names(variables), "}, recorded with {",
                                                   names(r.given), "} (Reset records anew)"));
  }
  for (size_t i = 0; i < r.variables.size(); ++i) {
    const TracedVariable& v = r.variables[i];
    const auto it = variables.find(v.name);
    if (it == variables.end()) continue;  // as recorded
    if (it->second < v.min || it->second > v.max) {
      return absl::OutOfRangeError(
          absl::StrCat("variable ", v.name, " is ", it->second, ", expected ", v.min, " to ", v.max));
    }
    r.values[i] = it->second;
  }
  return absl::OkStatus();
}

// Captured tensors may have been assigned to, or moved to other storage, since they were last looked at.
absl::Status CapturedFunction::LookAtHandles() {
  Recording& r = *recording_;
  const auto gone = [] {
    return absl::FailedPreconditionError(
        "a tensor that the function captured is gone (its variable holds another tensor now, or does not "
        "exist); "
        "expected Assign, which keeps the tensor, or an input (Reset records anew)");
  };
  bool looked = false;
  for (Handle& h : r.handles) {
    std::optional<Tensor> t = h.tensor.Lock();
    if (!t) return gone();
    US_RETURN_IF_ERROR(t->status());
    if (t->uop() == h.seen) continue;
    looked = true;
    const auto look = [&]() -> std::optional<StorageView> {
      const std::vector<UOpRef> parts = PartsOf(t->uop());
      return h.part < parts.size() ? StorageView::Of(parts[h.part]) : std::nullopt;
    };
    auto view = look();
    if (!view || !view->SameSteps(h.view)) {
      US_RETURN_IF_ERROR(engine_.Realize(*t));
      view = look();
    }
    Memory& m = r.memories[static_cast<size_t>(h.memory)];
    Buffer* buffer = nullptr;
    if (view && view->SameSteps(h.view) && !IsOverwritten(view->slot())) {
      US_ASSIGN_OR_RETURN(buffer, engine_.Storage(view->node, false));
    }
    if (buffer == nullptr || buffer->bytes() != m.buffer->bytes() ||
        &buffer->device() != &m.buffer->device()) {
      return absl::FailedPreconditionError(
          absl::StrCat("a captured tensor, ", ShapeText(t->dtype(), t->shape()),
                       ", is another view of storage than it was, or a constant (Reset records anew)"));
    }
    if (buffer->memory_id() != m.buffer->memory_id()) {
      m.buffer = buffer->Whole();
    }
    h.view = *std::move(view);
    h.seen = t->uop();
  }
  for (const Handle& h : r.handles) {
    if (!looked) break;
    const Memory& m = r.memories[static_cast<size_t>(h.memory)];
    const Buffer* buffer = h.view.buffer();
    if (buffer == nullptr || buffer->memory_id() != m.buffer->memory_id()) {
      return absl::FailedPreconditionError(
          "two captured tensors that shared storage no longer do (Reset records anew)");
    }
  }
  for (const Handle& h : r.handles) {
    const Memory& m = r.memories[static_cast<size_t>(h.memory)];
    if (!m.written || h.view.slot().shown < 2) continue;
    return absl::FailedPreconditionError(
        "a captured tensor that the function assigns to shares its storage with an equal tensor now; "
        "expected "
        "storage of its own (Clone)");
  }
  const auto overwritten = [](const std::vector<std::shared_ptr<StorageSlot>>& slots) {
    return std::any_of(slots.begin(), slots.end(), [](const auto& s) { return IsOverwritten(*s); });
  };
  for (const Frozen& f : r.frozen) {
    const std::optional<Tensor> t = f.tensor.Lock();
    if (!t) return gone();
    if (!t->ok() || t->uop() != f.value || overwritten(f.slots)) {
      return absl::FailedPreconditionError(
          absl::StrCat("a captured tensor, ", ShapeText(t->dtype(), t->shape()),
                       ", had no storage when the function was recorded and has changed since; expected it "
                       "to be realised before the first call (Reset records anew)"));
    }
  }
  for (const Memory& m : r.memories) {
    if (overwritten(m.slots)) {
      return absl::FailedPreconditionError(
          "the function reads storage as it was before an assignment that has been done since (Reset records "
          "anew)");
    }
  }
  return absl::OkStatus();
}

absl::Status CapturedFunction::RenewHandles() {
  Recording& r = *recording_;
  absl::flat_hash_map<UOpRef, UOpRef> moved;
  for (Handle& h : r.handles) {
    if (!r.memories[static_cast<size_t>(h.memory)].written) continue;
    std::optional<Tensor> t = h.tensor.Lock();
    if (!t || WeakTensor::BaseOf(*t)) continue;
    UOpRef& to = moved[h.view.node];
    if (to == nullptr) to = MovedStorage(h.view.node);
    h.view.node = to;
    std::vector<UOpRef> parts = PartsOf(t->uop());
    if (h.part >= parts.size()) continue;
    parts[h.part] = h.view.Over(to);
    WeakTensor::Replace(*t, WithParts(t->uop(), parts));
  }
  // All parts of a tensor have been looked at together.
  for (Handle& h : r.handles) {
    if (!r.memories[static_cast<size_t>(h.memory)].written) continue;
    if (const std::optional<Tensor> t = h.tensor.Lock(); t && !WeakTensor::BaseOf(*t)) h.seen = t->uop();
  }
  return absl::OkStatus();
}

absl::Status CapturedFunction::FindAddresses(absl::Span<const BoundInput> inputs) {
  Recording& r = *recording_;
  std::vector<Allocation> inputs_at(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].buffer == nullptr) continue;
    US_ASSIGN_OR_RETURN(inputs_at[i], inputs[i].buffer->Get());
  }
  for (const Memory& m : r.memories) {
    if (m.kind != MemoryKind::kKept || !m.named || m.buffer->allocated() || m.buffer->bytes() == 0) continue;
    return absl::FailedPreconditionError(absl::StrCat("memory of ", m.buffer->bytes(), " bytes on ",
                                                      m.buffer->device().name(),
                                                      " that the function captured was freed"));
  }
  addresses_.resize(r.places.size());
  for (size_t p = 0; p < r.places.size(); ++p) {
    const TracedPlace& place = r.places[p];
    Memory& m = r.memories[static_cast<size_t>(place.memory)];
    if (m.kind == MemoryKind::kInput) {
      addresses_[p] = inputs_at[static_cast<size_t>(m.input)].Slice(place.offset, place.bytes);
    } else {
      US_ASSIGN_OR_RETURN(const Allocation all, m.buffer->Get());
      addresses_[p] = all.Slice(place.offset, place.bytes);
    }
  }
  return absl::OkStatus();
}

}  // namespace understudy
