// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/capture.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/runtime/capture_plan.h"
#include "src/runtime/capture_trace.h"
#include "src/uop/build.h"

namespace understudy {

using namespace capture_internal;  // NOLINT: this file implements them

CapturedFunction::CapturedFunction(Engine& engine, VariableBody body, std::string name)
    : engine_(engine), body_(std::move(body)), name_(std::move(name)) {}
CapturedFunction::CapturedFunction(Engine& engine, Body body, std::string name)
    : CapturedFunction(engine, VariableBody([body = std::move(body)](Inputs in, const VariableValues&) {
                         return body(in);
                       }),
                       std::move(name)) {}
CapturedFunction::~CapturedFunction() = default;

absl::Status CapturedFunction::Named(const absl::Status& status) const {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("captured function ", name_, ": ", std::string(status.message())));
}

void CapturedFunction::Reset() {
  recording_ = nullptr;
  addresses_.clear();
  known_.clear();
  calls_ = retries_ = 0;
}

std::string CapturedFunction::Text() const { return recording_ == nullptr ? "" : recording_->Text(); }

absl::StatusOr<std::vector<Tensor>> CapturedFunction::operator()(Inputs inputs,
                                                                 const VariableValues& variables) {
  if (EngineRecorder::Current() != nullptr) {
    if (EngineRecorder::Current() != engine_.recorder_) {
      return Named(absl::FailedPreconditionError(
          "called inside of a captured function of another engine, whose replays would not run it"));
    }
    return body_(inputs, variables);
  }
  absl::StatusOr<Results> out = recording_ != nullptr ? Replay(inputs, variables)
                                : calls_ == 0         ? Eager(inputs, variables)
                                                      : Capture(inputs, variables);
  if (!out.ok()) return Named(out.status());
  return out;
}

absl::StatusOr<std::vector<Tensor>> CapturedFunction::RunBody(Trace& trace, Inputs inputs,
                                                              const VariableValues& variables) {
  const Trace::Scope scope(trace, engine_.recorder_);
  US_ASSIGN_OR_RETURN(Results results, body_(inputs, variables));
  std::vector<Tensor> all = results;
  for (const WeakTensor& weak : trace.assigned) {
    if (const auto t = weak.Lock()) all.push_back(*t);
  }
  std::vector<Tensor*> list;
  for (Tensor& t : all) list.push_back(&t);
  US_RETURN_IF_ERROR(engine_.Realize(list));
  // Contents that wait on the host for somebody to read them belong to the call all the same.
  for (const Tensor& t : results) {
    const auto views = t.numel() > 0 ? StoredParts(t.uop()) : std::nullopt;
    for (const StorageView& view : views.value_or(std::vector<StorageView>())) {
      if (view.buffer() == nullptr) US_RETURN_IF_ERROR(engine_.Storage(view.node, false).status());
    }
  }
  for (const SeenTensor& seen : trace.seen) {
    std::optional<Tensor> t = seen.tensor.Lock();
    const auto base = t ? WeakTensor::BaseOf(*t) : std::nullopt;
    if (base && t->ok() && base->ok() && !StorageView::Of(t->uop()) && StorageView::Of(base->uop()))
      WeakTensor::LookAgain(*t);
  }
  return results;
}

absl::StatusOr<std::vector<Tensor>> CapturedFunction::Eager(Inputs inputs, const VariableValues& variables) {
  Trace trace(/*record=*/false);
  US_ASSIGN_OR_RETURN(Results results, RunBody(trace, inputs, variables));
  ++calls_;
  Know(trace);
  return results;
}

void CapturedFunction::Know(const Trace& trace) {
  known_.clear();
  for (const SeenTensor& seen : trace.seen) {
    if (seen.tensor.holders() > 0) known_.push_back(seen.tensor);
  }
}

absl::StatusOr<std::vector<Tensor>> CapturedFunction::Capture(Inputs given_inputs,
                                                              const VariableValues& variables) {
  // Captured tensors get their storage before they are recorded, so that what computes them is no part of the
  // recording and they may change afterwards.
  for (const WeakTensor& weak : known_) {
    std::optional<Tensor> t = weak.Lock();
    if (t && t->ok() && t->numel() > 0 && !t->ConstantValue() && !StoredParts(t->uop()))
      engine_.Realize(*t).IgnoreError();
  }
  std::vector<SpreadSpec> given;
  US_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, Flatten(given_inputs, &given));
  std::vector<BoundInput> bound(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    US_ASSIGN_OR_RETURN(bound[i], Bind(inputs[i]));
    US_RETURN_IF_ERROR(Unshare(bound[i]));
  }
  JoinInputs(given_inputs, given, inputs);

  // The body sees stand-ins, so that an input can be told from the same storage as a captured tensor.
  Trace trace(/*record=*/true);
  std::vector<Tensor> stand_ins;
  std::vector<UOpRef> values;
  std::vector<std::weak_ptr<StorageSlot>> slots(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = bound[i].tensor;
    if (bound[i].node == nullptr) {
      stand_ins.push_back(Tensor(t.uop(), t.device()));
    } else {
      const UOpRef node = uop::NewBuffer(t.dtype(), t.numel(), t.device());
      auto buffer = bound[i].buffer->View(0, bound[i].buffer->bytes());
      US_RETURN_IF_ERROR(buffer.status());
      trace.AddInput(static_cast<int>(i), **buffer);
      node->arg_as<BufferArg>().slot->impl = *std::move(buffer);
      slots[i] = node->arg_as<BufferArg>().slot;
      stand_ins.push_back(Tensor(uop::Reshape(node, t.shape()), t.device()));
    }
    stand_ins.back().set_requires_grad(t.requires_grad());
    values.push_back(stand_ins.back().uop());
  }
  ++calls_;
  TracedCall call;
  std::vector<Tensor> spread_stand_ins, spread_results, body_inputs;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i].arg) {
      body_inputs.push_back(stand_ins[static_cast<size_t>(given[i].first)]);
      continue;
    }
    Tensor t(given[i].Join(stand_ins), given_inputs[i].device());
    t.set_requires_grad(given_inputs[i].requires_grad());
    body_inputs.push_back(t);
    spread_stand_ins.push_back(t);
    call.spread_firsts.push_back(given[i].first);
    call.spread_values.push_back(t.uop());
  }
  auto ran = RunBody(trace, body_inputs, variables);
  body_inputs.clear();
  // Written inputs are new contents for whoever holds them, whatever becomes of the recording.
  for (const TracedMemory& m : trace.memories) {
    if (m.input < 0 || !m.written || bound[static_cast<size_t>(m.input)].copy) continue;
    US_RETURN_IF_ERROR(Renew(bound[static_cast<size_t>(m.input)]));
  }
  JoinInputs(given_inputs, given, inputs);
  US_RETURN_IF_ERROR(ran.status());
  Results results = *std::move(ran);
  // Views of a value that only they hold are apart, as those that replays make.
  absl::flat_hash_map<const void*, Tensor> apart;
  std::vector<Tensor> views;
  const auto is_result = [&](const Tensor& t) {
    return std::any_of(results.begin(), results.end(),
                       [&](const Tensor& r) { return WeakTensor(r).id() == WeakTensor(t).id(); });
  };
  for (Tensor& t : results) {
    const auto base = WeakTensor::BaseOf(t);
    if (!base || is_result(*base) || !StorageView::Of(t.uop())) continue;
    if (const auto of = StorageView::Of(base->uop()); of && !trace.IsNew(*of->node)) continue;
    views.push_back(t);  // keeps its id from being another's
    auto& own = apart.try_emplace(WeakTensor(t).id(), t.uop(), t.device()).first->second;
    t = own.set_requires_grad(t.requires_grad());
  }
  apart.clear();
  views.clear();

  // Results of several devices as their parts, but for inputs and captured tensors.
  std::vector<SpreadSpec> given_results;
  std::vector<Tensor> flat_results;
  for (Tensor& t : results) {
    const bool spread = t.numel() > 0 && StoredParts(t.uop()) && t.uop()->op() == Op::kMulti;
    given_results.push_back(
        SpreadSpec::Of(spread ? t.uop() : uop::BoolConst(true), static_cast<int>(flat_results.size())));
    SpreadSpec& spec = given_results.back();
    spec.requires_grad = t.requires_grad();
    if (!spread) {
      flat_results.push_back(t);
      continue;
    }
    const WeakTensor weak(t);
    for (size_t i = 0, k = 0; i < given.size(); ++i) {
      if (given[i].arg && WeakTensor(spread_stand_ins[k++]).id() == weak.id())
        spec.input = static_cast<int>(i);
    }
    const auto views = StoredParts(t.uop());
    const bool made =
        std::any_of(views->begin(), views->end(), [&](const StorageView& v) { return trace.IsNew(*v.node); });
    const bool known = std::any_of(trace.seen.begin(), trace.seen.end(), [&](const SeenTensor& s) {
      return s.tensor.id() == weak.id() && s.first.has_value();
    });
    if (spec.input < 0 && (known || !made)) spec.tensor = weak;
    if (spec.input < 0 && !spec.tensor) {
      for (size_t p = 0; p < views->size(); ++p) {
        flat_results.push_back(Tensor(PartsOf(t.uop())[p], (*views)[p].node->arg_as<BufferArg>().device));
      }
    }
    spread_results.push_back(t);
  }
  results = std::move(flat_results);

  call.spread_stand_ins = &spread_stand_ins;
  call.spread_results = &spread_results;
  call.inputs = &bound;
  call.stand_ins = &stand_ins;
  call.stand_in_values = values;
  call.results = &results;
  call.given = variables;
  call.timed = engine_.options_.profile;
  auto recording = MakeRecording(trace, call);
  Know(trace);
  if (absl::IsUnavailable(recording.status()) && retries_++ < 3) {
    // The values are those of a run; the next call records.
    for (size_t k = 0; k < results.size(); ++k) {
      for (size_t i = 0; i < stand_ins.size(); ++i) {
        if (WeakTensor(results[k]).id() == WeakTensor(stand_ins[i]).id()) results[k] = inputs[i];
      }
    }
    Results all;
    for (size_t k = 0, spread = 0; k < given_results.size(); ++k) {
      const SpreadSpec& spec = given_results[k];
      all.push_back(!spec.arg         ? results[static_cast<size_t>(spec.first)]
                    : spec.input >= 0 ? given_inputs[static_cast<size_t>(spec.input)]
                                      : spread_results[spread]);
      spread += spec.arg.has_value();
    }
    return all;
  }
  US_RETURN_IF_ERROR(recording.status());
  recording_ = *std::move(recording);
  recording_->given_inputs = given;
  recording_->given_results = std::move(given_results);
  engine_.stats_.graphs_made += recording_->graphs;
  // This call's outputs are where it left them; replays leave them alone while somebody holds them.
  for (size_t k = 0; k < results.size(); ++k) {
    const ResultSpec& spec = recording_->results[k];
    if (spec.kind == ResultSpec::Kind::kInput) {
      results[k] = inputs[static_cast<size_t>(spec.index)];
    } else if (spec.kind == ResultSpec::Kind::kInputView) {
      results[k] = ViewOfInput(spec, inputs[static_cast<size_t>(spec.index)]);
    } else if (spec.kind == ResultSpec::Kind::kSame) {
      results[k] = results[static_cast<size_t>(spec.index)];
    }
  }
  for (ResultSpec& spec : recording_->results) {
    if (spec.kind != ResultSpec::Kind::kKept) spec.view.node = nullptr;
  }
  stand_ins.clear();
  values.clear();
  call.stand_in_values.clear();
  spread_stand_ins.clear();
  call.spread_values.clear();
  spread_results.clear();
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].expired()) continue;
    recording_ = nullptr;
    return absl::FailedPreconditionError(
        absl::StrCat("it leaves a tensor behind that depends on input ", i,
                     " and is neither returned nor realised: replays would not make it anew; expected it "
                     "among the results"));
  }
  return JoinResults(given_inputs, results);
}

absl::StatusOr<std::vector<Tensor>> CapturedFunction::JoinResults(Inputs inputs,
                                                                  absl::Span<const Tensor> flat) {
  Results out;
  for (const SpreadSpec& spec : recording_->given_results) {
    if (!spec.arg) {
      out.push_back(flat[static_cast<size_t>(spec.first)]);
    } else if (spec.input >= 0) {
      out.push_back(inputs[static_cast<size_t>(spec.input)]);
    } else if (spec.tensor) {
      std::optional<Tensor> t = spec.tensor->Lock();
      if (!t)
        return absl::FailedPreconditionError(
            "a captured tensor that it returns is gone (Reset records anew)");
      out.push_back(*t);
    } else {
      Tensor t(spec.Join(flat), GroupName(spec.arg->devices));
      out.push_back(t.set_requires_grad(spec.requires_grad));
    }
  }
  return out;
}

absl::StatusOr<std::vector<Tensor>> CapturedFunction::Replay(Inputs given_inputs,
                                                             const VariableValues& variables) {
  Recording& r = *recording_;
  US_RETURN_IF_ERROR(CheckSpread(given_inputs));
  std::vector<SpreadSpec> given;
  US_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, Flatten(given_inputs, &given));
  US_RETURN_IF_ERROR(CheckInputs(inputs));
  US_RETURN_IF_ERROR(SetVariables(variables));
  US_RETURN_IF_ERROR(LookAtHandles());
  std::vector<BoundInput> bound(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto input = Bind(inputs[i]);
    if (!input.ok()) {
      return absl::Status(input.status().code(),
                          absl::StrCat("input ", i, ": ", std::string(input.status().message())));
    }
    bound[i] = *std::move(input);
    if (r.inputs[i].written) US_RETURN_IF_ERROR(Unshare(bound[i]));
  }
  US_RETURN_IF_ERROR(CheckSharing(bound));
  // Results that somebody holds keep their memory.
  for (Memory& m : r.memories) {
    if (m.kind != MemoryKind::kOutput || m.buffer->sharers() == 1) continue;
    m.buffer = std::make_unique<Buffer>(m.buffer->device_ref(), m.buffer->bytes());
  }
  US_RETURN_IF_ERROR(FindAddresses(bound));
  US_RETURN_IF_ERROR(RunUploads());
  ++engine_.stats_.replays;
  US_RETURN_IF_ERROR(RunSteps(bound));
  US_RETURN_IF_ERROR(RenewHandles());
  for (size_t i = 0; i < bound.size(); ++i) {
    if (r.inputs[i].written) US_RETURN_IF_ERROR(Renew(bound[i]));
  }
  JoinInputs(given_inputs, given, inputs);
  US_ASSIGN_OR_RETURN(const Results flat, MakeResults(inputs, variables));
  return JoinResults(given_inputs, flat);
}

absl::Status CapturedFunction::RunUploads() {
  Recording& r = *recording_;
  // In the order in which the function did it, before anything runs: an error leaves all tensors as they are.
  std::vector<std::vector<uint8_t>> made(r.host.size());
  for (size_t i = 0; i < r.host.size(); ++i) {
    if (r.host[i].work != nullptr) {
      US_RETURN_IF_ERROR(r.host[i].work());
    } else {
      US_ASSIGN_OR_RETURN(made[i], r.host[i].contents());
    }
  }
  for (const Upload& u : r.uploads) {
    Buffer& to = *r.memories[static_cast<size_t>(u.memory)].buffer;
    const std::vector<uint8_t>& bytes = u.host >= 0 ? made[static_cast<size_t>(u.host)] : u.bytes;
    US_RETURN_IF_ERROR(to.CopyIn(bytes.data(), bytes.size()));
    engine_.stats_.bytes_in += static_cast<int64_t>(bytes.size());
  }
  return absl::OkStatus();
}

absl::Status CapturedFunction::RunSteps(absl::Span<const BoundInput> inputs) {
  Recording& r = *recording_;
  for (Step& step : r.steps) {
    if (step.graph != nullptr) {
      for (size_t p = 0; p < step.places.size(); ++p)
        step.addresses[p] = addresses_[static_cast<size_t>(step.places[p])];
      US_RETURN_IF_ERROR(step.graph->Replay(step.addresses, r.values));
      ++engine_.stats_.graph_launches;
      engine_.stats_.kernels_launched += static_cast<int64_t>(step.kernels.size());
      if (step.list == nullptr) continue;
      for (size_t k = 0; k < step.kernels.size(); ++k)
        engine_.launches_.push_back({step.kernels[k], step.device->name(), step.list->times()[k]});
      continue;
    }
    std::unique_ptr<Buffer> ends[2];
    for (size_t p = 0; p < 2; ++p) {
      const TracedPlace& place = r.places[static_cast<size_t>(step.places[p])];
      const Memory& m = r.memories[static_cast<size_t>(place.memory)];
      const Buffer& all =
          m.kind == MemoryKind::kInput ? *inputs[static_cast<size_t>(m.input)].buffer : *m.buffer;
      US_ASSIGN_OR_RETURN(ends[p], all.View(place.offset, place.bytes));
    }
    US_RETURN_IF_ERROR(CopyBuffer(*ends[0], *ends[1]));
    ++engine_.stats_.copies;
    engine_.stats_.bytes_copied += static_cast<int64_t>(ends[0]->bytes());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> CapturedFunction::MakeResults(Inputs inputs,
                                                                  const VariableValues& variables) {
  Recording& r = *recording_;
  Results out;
  absl::flat_hash_map<int, UOpRef> nodes;  // by memory
  const auto of_storage = [&](const ResultSpec& spec, const UOpRef& storage) {
    Tensor t(spec.view.Bound(variables).Over(storage), spec.device);
    t.set_requires_grad(spec.requires_grad);
    return t;
  };
  for (const ResultSpec& spec : r.results) {
    switch (spec.kind) {
      case ResultSpec::Kind::kConstant: {
        Tensor t(spec.value, spec.device);
        out.push_back(t.set_requires_grad(spec.requires_grad));
        break;
      }
      case ResultSpec::Kind::kInput:
        out.push_back(inputs[static_cast<size_t>(spec.index)]);
        break;
      case ResultSpec::Kind::kInputView:
        out.push_back(ViewOfInput(spec, inputs[static_cast<size_t>(spec.index)]));
        break;
      case ResultSpec::Kind::kHandle:
      case ResultSpec::Kind::kHandleView: {
        std::optional<Tensor> t = spec.tensor->Lock();
        // No launch needed it: what was assigned to it may wait.
        if (t && t->ok() && !StorageView::Of(t->uop())) US_RETURN_IF_ERROR(engine_.Realize(*t));
        const auto view = t && t->ok() ? StorageView::Of(t->uop()) : std::nullopt;
        if (!view)
          return absl::FailedPreconditionError(
              "a captured tensor that it returns is gone (Reset records anew)");
        if (spec.kind == ResultSpec::Kind::kHandle) {
          out.push_back(*t);
          break;
        }
        out.push_back(of_storage(spec, view->node));
        tensor_internal::LinkView(out.back(), *t);
        break;
      }
      case ResultSpec::Kind::kKept:
        out.push_back(of_storage(spec, spec.view.node));
        break;
      case ResultSpec::Kind::kOutput: {
        UOpRef& node = nodes[spec.index];
        if (node == nullptr) {
          node = uop::NewBuffer(spec.storage_dtype, spec.storage_size, spec.storage_device);
          Buffer& all = *r.memories[static_cast<size_t>(spec.index)].buffer;
          US_ASSIGN_OR_RETURN(node->arg_as<BufferArg>().slot->impl, all.View(0, all.bytes()));
        }
        ++node->arg_as<BufferArg>().slot->shown;
        out.push_back(of_storage(spec, node));
        break;
      }
      case ResultSpec::Kind::kSame:
        out.push_back(out[static_cast<size_t>(spec.index)]);
        break;
    }
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const ResultSpec& spec = r.results[i];
    if (spec.kind != ResultSpec::Kind::kOutput || spec.base < 0) continue;
    const Tensor& of = out[static_cast<size_t>(spec.base)];
    UOpRef u = of.uop();
    for (const StorageView::Step& step : spec.base_steps) u = step.Over(u);
    Tensor view(u, spec.device);
    tensor_internal::LinkView(view, of);
    view.Rebind(out[i].uop());
    out[i] = view.set_requires_grad(spec.requires_grad);
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (r.results[i].kind == ResultSpec::Kind::kSame) out[i] = out[static_cast<size_t>(r.results[i].index)];
  }
  return out;
}

Tensor CapturedFunction::ViewOfInput(const ResultSpec& spec, const Tensor& input) {
  Tensor t(spec.view.Over(uop::Reshape(input.uop(), {input.numel()})), spec.device);
  t.set_requires_grad(spec.requires_grad);
  tensor_internal::LinkView(t, input);
  return t;
}

}  // namespace understudy
