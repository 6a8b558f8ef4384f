// SPDX-License-Identifier: Apache-2.0
// From a trace to a recording: which memory is what, what would go wrong at a replay, where temporaries lie,
// which launches become one graph.
#include "src/runtime/capture_plan.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy::capture_internal {
namespace {

constexpr size_t kArenaAlign = 256;

std::string Bytes(const Buffer& b) { return absl::StrCat(b.bytes(), " bytes on ", b.device().name()); }

class Planner {
 public:
  Planner(Trace& trace, const TracedCall& call)
      : trace_(trace), call_(call), out_(std::make_unique<Recording>()) {}

  absl::StatusOr<std::unique_ptr<Recording>> Make() {
    US_RETURN_IF_ERROR(Inputs());
    US_RETURN_IF_ERROR(SpreadInputs());
    Results();
    US_RETURN_IF_ERROR(Handles());
    US_RETURN_IF_ERROR(Escapes());
    US_RETURN_IF_ERROR(Sharing());
    US_RETURN_IF_ERROR(Variables());
    Uploads();
    Arenas();
    US_RETURN_IF_ERROR(Steps());
    return std::move(out_);
  }

 private:
  template <class... A>
  absl::Status Refuse(const A&... a) const {
    return absl::FailedPreconditionError(absl::StrCat(a...));
  }

  static absl::Status Spread(const char* what) {
    return absl::UnimplementedError(
        absl::StrCat(what, " is spread over several devices (MULTI); expected values of one device"));
  }

  size_t num_inputs() const { return call_.inputs->size(); }

  absl::Status Inputs() {
    out_->memories.resize(trace_.memories.size());
    out_->inputs.resize(num_inputs());
    for (size_t i = 0; i < num_inputs(); ++i) {
      const Tensor& stand_in = (*call_.stand_ins)[i];
      const Tensor& given = (*call_.inputs)[i].tensor;
      US_RETURN_IF_ERROR(stand_in.status());
      out_->inputs[i] = {given.shape(), given.dtype(), given.device()};
      InputSpec& spec = out_->inputs[i];
      for (size_t m = 0; m < trace_.memories.size(); ++m) {
        if (trace_.memories[m].input != static_cast<int>(i)) continue;
        out_->memories[m].kind = MemoryKind::kInput;
        out_->memories[m].input = static_cast<int>(i);
        if (trace_.memories[m].first < 0) continue;
        spec.memory = static_cast<int>(m);
        spec.written = trace_.memories[m].written;
      }
      if (spec.written && (*call_.inputs)[i].copy.has_value()) {
        return Refuse("it assigns to input ", i,
                      ", which is a constant or a view that is no range of its storage; expected a tensor "
                      "with storage of its own (Clone)");
      }
      if (stand_in.uop() == call_.stand_in_values[i] || stand_in.numel() == 0) continue;
      const auto view = StorageView::Of(stand_in.uop());
      if (!view || view->buffer() == nullptr || trace_.Find(*view->buffer()) < 0 ||
          trace_.memories[static_cast<size_t>(trace_.Find(*view->buffer()))].input != static_cast<int>(i)) {
        return Refuse("input ", i,
                      " was assigned a value that lies in other storage than its own; expected an assignment "
                      "in place");
      }
    }
    return absl::OkStatus();
  }

  // The input (or its first part) whose stand-in this tensor is, or -1.
  int StandIn(const void* id) const {
    for (size_t i = 0; i < call_.spread_stand_ins->size(); ++i) {
      if (WeakTensor((*call_.spread_stand_ins)[i]).id() == id) return call_.spread_firsts[i];
    }
    for (size_t i = 0; i < num_inputs(); ++i) {
      if (WeakTensor((*call_.stand_ins)[i]).id() == id) return static_cast<int>(i);
    }
    return -1;
  }

  // Spread inputs that were assigned to keep the storage of their parts.
  absl::Status SpreadInputs() {
    for (size_t i = 0; i < call_.spread_stand_ins->size(); ++i) {
      const Tensor& t = (*call_.spread_stand_ins)[i];
      US_RETURN_IF_ERROR(t.status());
      if (t.uop() == call_.spread_values[i]) continue;
      const auto views = StoredParts(t.uop());
      bool own = views.has_value();
      for (size_t p = 0; own && p < views->size(); ++p) {
        const int memory = MemoryOf((*views)[p]);
        own = memory >= 0 && trace_.memories[static_cast<size_t>(memory)].input ==
                                 call_.spread_firsts[i] + static_cast<int>(p);
      }
      if (!own) {
        return Refuse(
            "an input of several devices was assigned a value that lies in other storage than its "
            "own; expected an assignment in place");
      }
    }
    return absl::OkStatus();
  }

  // Handles that are not those of the results (and what those are views of), nor the caller's of this moment.
  int64_t HoldersOutside(const WeakTensor& t, int64_t own) const {
    int64_t known = own;
    absl::flat_hash_set<const void*> counted;
    for (const Tensor& r : *call_.spread_results) known += WeakTensor(r).id() == t.id();
    for (const Tensor& r : *call_.results) {
      const WeakTensor w(r);
      known += w.id() == t.id();
      if (!counted.insert(w.id()).second) continue;
      if (const auto base = WeakTensor::BaseOf(r)) known += WeakTensor(*base).id() == t.id();
    }
    return t.holders() - known;
  }

  void Results() {
    for (size_t r = 0; r < call_.results->size(); ++r) {
      const Tensor& t = (*call_.results)[r];
      ResultSpec& spec = out_->results.emplace_back();
      spec.device = t.device();
      spec.requires_grad = t.requires_grad();
      const WeakTensor weak(t);
      bool same = false;
      for (size_t k = 0; k < r && !same; ++k) {
        if (WeakTensor((*call_.results)[k]).id() != weak.id()) continue;
        spec.kind = ResultSpec::Kind::kSame;
        spec.index = static_cast<int>(k);
        same = true;
      }
      if (same) continue;
      if (const int input = StandIn(weak.id()); input >= 0) {
        spec.kind = ResultSpec::Kind::kInput;
        spec.index = input;
        continue;
      }
      const auto view = StorageView::Of(t.uop());
      if (!view || view->buffer() == nullptr) {
        spec.kind = ResultSpec::Kind::kConstant;
        spec.value = t.uop();
        continue;
      }
      spec.view = *view;
      const int memory = trace_.Find(*view->buffer());
      const TracedMemory* m = memory < 0 ? nullptr : &trace_.memories[static_cast<size_t>(memory)];
      if (m != nullptr && m->input >= 0) {
        spec.kind = ResultSpec::Kind::kInputView;
        spec.index = m->input;
      } else if (m != nullptr && m->created) {
        spec.kind = ResultSpec::Kind::kOutput;
        spec.index = memory;
        if (const auto base = WeakTensor::BaseOf(t)) FindBase(spec, t, *base);
        spec.storage_dtype = view->node->dtype();
        spec.storage_size = view->node->arg_as<BufferArg>().size;
        spec.storage_device = view->node->arg_as<BufferArg>().device;
        out_->memories[static_cast<size_t>(memory)].kind = MemoryKind::kOutput;
      } else if (HoldersOutside(weak, 0) > 0) {
        spec.kind = ResultSpec::Kind::kHandle;
        spec.tensor = weak;
      } else if (const auto base = WeakTensor::BaseOf(t)) {
        spec.kind = ResultSpec::Kind::kHandleView;
        spec.tensor = WeakTensor(*base);
      } else {
        spec.kind = ResultSpec::Kind::kKept;
        spec.index = memory;
      }
    }
  }

  void FindBase(ResultSpec& spec, const Tensor& t, const Tensor& base) {
    for (size_t k = 0; k < call_.results->size() && spec.base < 0; ++k) {
      if (WeakTensor((*call_.results)[k]).id() == WeakTensor(base).id()) spec.base = static_cast<int>(k);
    }
    if (spec.base < 0) return;
    for (UOpRef u = WeakTensor::Shown(t, base.uop()); u != base.uop(); u = UOpRef(u->src(0)))
      spec.base_steps.push_back({u->op(), u->arg(), {u->src().begin() + 1, u->src().end()}});
    std::reverse(spec.base_steps.begin(), spec.base_steps.end());
  }

  bool IsStandInNode(const UOp* node) const {
    return std::any_of(call_.stand_in_values.begin(), call_.stand_in_values.end(), [&](const UOpRef& v) {
      if (v == nullptr) return false;
      const auto view = StorageView::Of(v);
      return view && view->node.get() == node;
    });
  }

  absl::Status Left(const std::string& what) const {
    return Refuse(
        "it leaves ", what,
        " behind that it neither returns nor assigns to a tensor from before (Assign): replays would "
        "not make it anew");
  }

  // Memory that a tensor's view of storage is, -1 when no item names it.
  int MemoryOf(const std::optional<StorageView>& view) const {
    return view && view->buffer() != nullptr ? trace_.Find(*view->buffer()) : -1;
  }
  int MemoryOf(const UOpRef& value, size_t part) const {
    const auto views = StoredParts(value);
    return views && part < views->size() ? MemoryOf((*views)[part]) : -1;
  }

  absl::Status Handles() {
    absl::flat_hash_set<const void*> done;
    std::vector<SeenTensor> all = trace_.seen;
    for (const WeakTensor& t : trace_.assigned) all.push_back({t, std::nullopt});
    for (const SeenTensor& seen : all) {
      const WeakTensor& weak = seen.tensor;
      if (!done.insert(weak.id()).second || StandIn(weak.id()) >= 0) continue;
      std::optional<Tensor> t = weak.Lock();
      if (!t || !t->ok() || t->numel() == 0 || HoldersOutside(weak, 1) <= 0) continue;
      const size_t count = seen.first ? seen.first->size() : PartsOf(t->uop()).size();
      for (size_t part = 0; part < count; ++part) US_RETURN_IF_ERROR(AddHandle(seen, *t, part));
    }
    return absl::OkStatus();
  }

  absl::Status AddHandle(const SeenTensor& seen, const Tensor& t, size_t part) {
    const auto views = StoredParts(t.uop());
    const StorageView* view = views && part < views->size() ? &(*views)[part] : nullptr;
    const StorageView* first = seen.first ? &(*seen.first)[part] : nullptr;
    const int before = first != nullptr ? trace_.FindSlot(first->slot()) : -1;
    const int after = view != nullptr ? MemoryOf(*view) : -1;
    if (after >= 0) {
      const TracedMemory& m = trace_.memories[static_cast<size_t>(after)];
      if (m.input >= 0) return Left(absl::StrCat("a view of input ", m.input));
      if (m.created && before >= 0) {
        return absl::UnavailableError(
            "a captured tensor that shares its storage with an equal one was assigned to, and has storage "
            "of "
            "its own from now on");
      }
      if (m.created && out_->memories[static_cast<size_t>(after)].kind == MemoryKind::kOutput)
        return absl::OkStatus();
      if (m.created) return Left(absl::StrCat("a tensor of ", Bytes(*view->buffer())));
    }
    if (part == 0 && (view == nullptr || view->buffer() == nullptr))
      US_RETURN_IF_ERROR(Freeze(seen.tensor, t));
    if (seen.pending && after >= 0) {
      return absl::UnavailableError(
          "a captured tensor was computed during the call, as what it was assigned before");
    }
    // What was read need not be what it shows now: a view may have had a copy of its own.
    const int memory = first != nullptr ? before : after;
    if (memory < 0) return absl::OkStatus();  // nothing that ran names it
    // Its base, which is looked at, says what a view shows.
    if (const auto base = WeakTensor::BaseOf(t)) {
      for (size_t p = 0; p < PartsOf(base->uop()).size(); ++p) {
        if (MemoryOf(base->uop(), p) == memory) return absl::OkStatus();
      }
    }
    const bool same = memory == after && (first == nullptr || view->SameSteps(*first));
    out_->handles.push_back({seen.tensor, same ? t.uop() : UOpRef(), memory, same ? *view : *first, part});
    return absl::OkStatus();
  }

  absl::Status Freeze(const WeakTensor& weak, const Tensor& t) {
    if (IsSpread(t.uop())) return Spread("a captured tensor");
    Frozen frozen{weak, t.uop(), {}};
    for (const UOpRef& node : uop::NodesOf(t.uop(), Op::kBuffer)) {
      if (IsStandInNode(node.get())) return Left("a tensor that depends on an input and is not realised");
      if (trace_.IsNew(*node)) return Left("a tensor that is not realised");
      frozen.slots.push_back(node->arg_as<BufferArg>().slot);
    }
    out_->frozen.push_back(std::move(frozen));
    return absl::OkStatus();
  }

  absl::Status Escapes() {
    for (size_t i = 0; i < trace_.memories.size(); ++i) {
      TracedMemory& from = trace_.memories[i];
      Memory& m = out_->memories[i];
      m.written = from.written;
      m.named = from.first >= 0;
      if (m.kind == MemoryKind::kInput) continue;
      m.buffer = std::move(from.all);
      if (m.kind == MemoryKind::kOutput) continue;
      if (!from.created) {
        const bool handled = std::any_of(out_->handles.begin(), out_->handles.end(),
                                         [&](const Handle& h) { return h.memory == static_cast<int>(i); });
        if (!handled) m.slots = std::move(from.slots);
        from.slots.clear();
        continue;
      }
      if (m.buffer->sharers() > 1) return Left(absl::StrCat("a value of ", Bytes(*m.buffer)));
      // What the host put there once stays; what is read before it is written must not move.
      const bool constant = !from.written && (from.upload || from.first < 0);
      if (from.host < 0 && !from.upload && !constant && from.written_first) m.kind = MemoryKind::kInternal;
    }
    return absl::OkStatus();
  }

  // Storage that is written must have one name only.
  absl::Status Sharing() {
    for (size_t i = 0; i < num_inputs(); ++i) {
      const int a = out_->inputs[i].memory;
      if (a < 0) continue;
      const void* id = (*call_.inputs)[i].buffer->memory_id();
      for (size_t k = 0; k < trace_.memories.size(); ++k) {
        if (static_cast<int>(k) == a || trace_.memories[k].first < 0) continue;
        const int other = trace_.memories[k].input;
        const void* of = other >= 0 ? (*call_.inputs)[static_cast<size_t>(other)].buffer->memory_id()
                                    : out_->memories[k].buffer->memory_id();
        if (of != id || !(trace_.memories[k].written || out_->inputs[i].written)) continue;
        return Refuse("input ", i, " shares storage with ",
                      other >= 0 ? absl::StrCat("input ", other) : std::string("a tensor that it captured"),
                      ", and it assigns to one of them; expected storage of its own (Clone)");
      }
    }
    return absl::OkStatus();
  }

  absl::Status Variables() {
    out_->given = call_.given;
    for (const TracedVariable& v : trace_.variables) {
      const auto it = call_.given.find(v.name);
      if (it == call_.given.end() || it->second == v.value) continue;
      return Refuse("variable ", v.name, " is bound to ", v.value, ", and the call gave ", it->second,
                    "; expected the function to bind the value that it is given");
    }
    out_->variables = trace_.variables;
    for (const TracedVariable& v : out_->variables) out_->values.push_back(v.value);
    return absl::OkStatus();
  }

  void Uploads() {
    for (size_t i = 0; i < trace_.memories.size(); ++i) {
      TracedMemory& m = trace_.memories[i];
      if (m.host >= 0) {
        out_->uploads.push_back({static_cast<int>(i), {}, m.host});
      } else if (m.upload && (m.written || out_->memories[i].kind == MemoryKind::kOutput)) {
        out_->uploads.push_back({static_cast<int>(i), *std::move(m.upload), -1});
      }
    }
    out_->host = std::move(trace_.host);
  }

  // Temporaries of all runs of the call, packed by when they live.
  void Arenas() {
    struct Range {
      size_t begin, end;
      int first, last;
    };
    std::map<Device*, std::vector<size_t>> by_device;
    for (size_t i = 0; i < out_->memories.size(); ++i) {
      if (out_->memories[i].kind == MemoryKind::kInternal)
        by_device[&out_->memories[i].buffer->device()].push_back(i);
    }
    for (auto& [device, list] : by_device) {
      // Largest first, each at the lowest place that nothing alive at the same time has.
      std::stable_sort(list.begin(), list.end(), [&](size_t a, size_t b) {
        return out_->memories[a].buffer->bytes() > out_->memories[b].buffer->bytes();
      });
      std::vector<Range> placed;
      std::vector<size_t> offsets;
      size_t total = 0;
      for (const size_t m : list) {
        const TracedMemory& t = trace_.memories[m];
        const size_t bytes = AlignUp(std::max<size_t>(out_->memories[m].buffer->bytes(), 1), kArenaAlign);
        std::vector<Range> alive;
        for (const Range& r : placed) {
          if (r.first <= t.last && t.first <= r.last) alive.push_back(r);
        }
        std::sort(alive.begin(), alive.end(),
                  [](const Range& a, const Range& b) { return a.begin < b.begin; });
        size_t at = 0;
        for (const Range& r : alive) {
          if (r.begin >= at + bytes) break;
          at = std::max(at, r.end);
        }
        placed.push_back({at, at + bytes, t.first, t.last});
        offsets.push_back(at);
        total = std::max(total, at + bytes);
      }
      const Buffer arena(out_->memories[list[0]].buffer->device_ref(), total);
      for (size_t k = 0; k < list.size(); ++k) {
        Memory& m = out_->memories[list[k]];
        m.buffer = *arena.View(offsets[k], m.buffer->bytes());
      }
    }
  }

  absl::Status Steps() {
    out_->places = trace_.places;
    GraphPlan plan;
    Step step;
    std::map<int, int> local;        // place -> the plan's
    std::map<const void*, int> ids;  // memory -> the plan's
    const auto flush = [&]() -> absl::Status {
      if (plan.launches.empty()) return absl::OkStatus();
      plan.num_vars = static_cast<int>(out_->variables.size());
      step.addresses.resize(step.places.size());
      if (call_.timed) {
        auto list = std::make_unique<LaunchList>(*step.device, std::move(plan));
        list->RecordTimes(true);
        step.list = list.get();
        step.graph = std::move(list);
      } else {
        US_ASSIGN_OR_RETURN(step.graph, step.device->MakeGraph(std::move(plan)));
      }
      ++out_->graphs;
      out_->steps.push_back(std::move(step));
      plan = {};
      step = {};
      local.clear();
      ids.clear();
      return absl::OkStatus();
    };
    for (TracedItem& item : trace_.items) {
      if (item.copy) {
        US_RETURN_IF_ERROR(flush());
        Step copy;
        copy.device = item.device;
        copy.places = item.places;
        copy.addresses.resize(2);
        out_->steps.push_back(std::move(copy));
        ++out_->copies;
        continue;
      }
      if (step.device != nullptr && step.device != item.device) US_RETURN_IF_ERROR(flush());
      step.device = item.device;
      step.kernels.push_back(item.program->name());
      ++out_->kernels;
      GraphLaunch launch;
      launch.program = item.program;
      launch.writes = item.writes;
      launch.vars = item.vars;
      for (const int p : item.places) {
        const auto [it, fresh] = local.emplace(p, static_cast<int>(plan.places.size()));
        if (fresh) {
          const TracedPlace& place = out_->places[static_cast<size_t>(p)];
          const Memory& m = out_->memories[static_cast<size_t>(place.memory)];
          const void* id = m.buffer == nullptr ? static_cast<const void*>(&m) : m.buffer->memory_id();
          const size_t base = m.buffer == nullptr ? 0 : m.buffer->offset();
          const int number = ids.emplace(id, static_cast<int>(ids.size())).first->second;
          plan.places.push_back({number, base + place.offset, place.bytes});
          step.places.push_back(p);
        }
        launch.places.push_back(it->second);
      }
      plan.launches.push_back(std::move(launch));
    }
    return flush();
  }

  Trace& trace_;
  const TracedCall& call_;
  std::unique_ptr<Recording> out_;
};

}  // namespace

SpreadSpec SpreadSpec::Of(const UOpRef& value, int first) {
  SpreadSpec out;
  out.first = first;
  if (value->op() != Op::kMulti) return out;
  out.arg = value->arg_as<MultiArg>();
  for (const UOpRef& part : value->src()) out.empty.push_back(part->numel() == 0 ? part : UOpRef());
  return out;
}

bool SpreadSpec::SameSharding(const UOpRef& value) const {
  if (value->op() != Op::kMulti || !arg) return value->op() != Op::kMulti && !arg;
  return ArgEquals(value->arg(), Arg(*arg)) && value->num_src() == empty.size();
}

UOpRef SpreadSpec::Join(absl::Span<const Tensor> parts) const {
  if (!arg) return parts[static_cast<size_t>(first)].uop();
  std::vector<UOpRef> src = empty;
  auto next = static_cast<size_t>(first);
  for (UOpRef& part : src) {
    if (part == nullptr) part = parts[next++].uop();
  }
  return uop::Multi(std::move(src), *arg);
}

absl::StatusOr<std::unique_ptr<Recording>> MakeRecording(Trace& trace, const TracedCall& call) {
  return Planner(trace, call).Make();
}

std::string Recording::Text() const {
  std::string text =
      absl::StrCat(kernels, " kernels in ", graphs, " graphs, ", copies, " copies, ", uploads.size(),
                   " uploads; ", inputs.size(), " inputs, ", results.size(), " results\n");
  for (const Upload& u : uploads) {
    absl::StrAppend(&text, "upload ", memories[static_cast<size_t>(u.memory)].buffer->bytes(), " bytes to ",
                    memories[static_cast<size_t>(u.memory)].buffer->device().name(),
                    u.host >= 0 ? ", made by the host\n" : "\n");
  }
  for (const Step& s : steps) {
    if (s.graph == nullptr) {
      absl::StrAppend(&text, "copy ", places[static_cast<size_t>(s.places[0])].bytes, " bytes to ",
                      s.device->name(), "\n");
      continue;
    }
    absl::StrAppend(&text, "graph on ", s.device->name(), ":");
    for (const std::string& k : s.kernels) absl::StrAppend(&text, " ", k);
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace understudy::capture_internal
