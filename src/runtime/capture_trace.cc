// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/capture_trace.h"

#include <algorithm>

#include "src/base/status.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy::capture_internal {

std::optional<StorageView> StorageView::Of(const UOpRef& value) {
  StorageView view;
  const UOp* u = value.get();
  for (; u->op() != Op::kBuffer; u = u->src(0).get()) {
    if (!IsMovement(u->op()) && u->op() != Op::kDetach && u->op() != Op::kContiguousBackward &&
        u->op() != Op::kSlice)
      return std::nullopt;
    view.steps.push_back({u->op(), u->arg(), {u->src().begin() + 1, u->src().end()}});
  }
  view.node = UOpRef(u);
  std::reverse(view.steps.begin(), view.steps.end());
  return view;
}

UOpRef StorageView::Over(const UOpRef& other) const {
  UOpRef u = other;
  for (const Step& s : steps) u = s.Over(u);
  return u;
}

UOpRef StorageView::Step::Over(const UOpRef& x) const {
  std::vector<UOpRef> src{x};
  src.insert(src.end(), more.begin(), more.end());
  return UOp::Make(op, x->dtype(), std::move(src), arg);
}

StorageView StorageView::Bound(const VariableValues& values) const {
  StorageView out = *this;
  for (Step& s : out.steps) {
    for (UOpRef& expr : s.more) {
      uop::SubstitutionMap map;
      for (const UOpRef& bind : uop::NodesOf(expr, Op::kBind)) {
        const auto it = values.find(bind->src(0)->arg_as<VarArg>().name);
        if (it != values.end()) map[bind] = uop::Bind(UOpRef(bind->src(0)), it->second);
      }
      if (!map.empty()) expr = uop::Substitute(expr, map);
    }
  }
  return out;
}

bool StorageView::SameSteps(const StorageView& o) const {
  return std::equal(steps.begin(), steps.end(), o.steps.begin(), o.steps.end(),
                    [](const Step& a, const Step& b) {
                      return a.op == b.op && ArgEquals(a.arg, b.arg) && a.more == b.more;
                    });
}

std::optional<int64_t> StorageView::Offset() const {
  int64_t offset = 0;
  UOpRef u = node;
  for (const Step& s : steps) {
    const UOpRef next = s.Over(u);
    if (s.op == Op::kShrink) {
      // One cut axis; those before it have one element left, those after it are whole.
      const auto& bounds = std::get<std::vector<int64_t>>(s.arg);
      const Shape& in = u->shape();
      bool single = true;
      int64_t at = 0;
      for (size_t i = 0; i < in.size(); ++i) {
        const int64_t size = bounds[2 * i + 1] - bounds[2 * i];
        if (!single && size != in[i]) return std::nullopt;
        single &= size == 1;
        at = at * in[i] + bounds[2 * i];
      }
      offset += at;
    } else if (s.op != Op::kReshape && s.op != Op::kDetach && s.op != Op::kContiguousBackward) {
      return std::nullopt;
    }
    u = next;
  }
  return offset;
}

std::vector<UOpRef> PartsOf(const UOpRef& value) {
  if (value->op() != Op::kMulti) return {value};
  std::vector<UOpRef> parts;
  for (const UOpRef& part : value->src()) {
    if (part->numel() > 0) parts.push_back(part);
  }
  return parts;
}

UOpRef WithParts(const UOpRef& value, const std::vector<UOpRef>& parts) {
  if (value->op() != Op::kMulti) return parts[0];
  std::vector<UOpRef> src(value->src().begin(), value->src().end());
  size_t next = 0;
  for (UOpRef& part : src) {
    if (part->numel() > 0) part = parts[next++];
  }
  return value->WithSrc(std::move(src));
}

std::optional<std::vector<StorageView>> StoredParts(const UOpRef& value) {
  std::vector<StorageView> out;
  for (const UOpRef& part : PartsOf(value)) {
    std::optional<StorageView> view = StorageView::Of(part);
    if (!view) return std::nullopt;
    out.push_back(*std::move(view));
  }
  return out;
}

Buffer* StorageView::buffer() const { return dynamic_cast<Buffer*>(slot().impl.get()); }

bool HasVariables(const UOpRef& value) {
  return !uop::NodesOf(value, Op::kBind).empty() || !uop::NodesOf(value, Op::kVar).empty();
}

bool IsSpread(const UOpRef& value) { return !uop::NodesOf(value, Op::kMulti).empty(); }

std::vector<bool> WrittenPositions(const UOpRef& kernel, size_t count) {
  std::vector<bool> writes(count);
  for (const UOp* u : uop::Toposort(kernel)) {
    if (u->op() != Op::kStore) continue;
    const UOp* place = u->src(0).get();
    while (place->op() != Op::kParam && place->num_src() > 0) place = place->src(0).get();
    if (place->op() != Op::kParam) continue;  // memory of the kernel's own
    const int64_t* position = std::get_if<int64_t>(&place->arg());
    US_CHECK(position != nullptr && static_cast<size_t>(*position) < count) << "a store's PARAM";
    writes[static_cast<size_t>(*position)] = true;
  }
  return writes;
}

Trace::Trace(bool record)
    : record_(record), first_id_(uop::NewBuffer(dtypes::kUInt8, 0, "")->arg_as<BufferArg>().id) {}

Trace::Scope::Scope(Trace& trace, EngineRecorder*& engine_recorder)
    : engine_recorder_(engine_recorder), watch_(&trace) {
  engine_recorder_ = &trace;
  SetCurrent(&trace);
}
Trace::Scope::~Scope() {
  engine_recorder_ = nullptr;
  SetCurrent(nullptr);
}

void Trace::OnRead(const Tensor& t, const UOpRef& value) {
  SeenTensor s{WeakTensor(t), std::nullopt};
  if (!seen_ids_.insert(s.tensor.id()).second) return;
  auto views = StoredParts(value);
  const bool stored = views.has_value();
  if (views &&
      std::none_of(views->begin(), views->end(), [&](const StorageView& v) { return IsNew(*v.node); }))
    s.first = std::move(views);
  const UOp* u = value.get();
  while (u->op() != Op::kPad && IsMovement(u->op())) u = u->src(0).get();
  s.pending = !stored && u->op() != Op::kConst;
  seen.push_back(std::move(s));
}

void Trace::OnAssigned(const Tensor& t) {
  WeakTensor weak(t);
  if (assigned_ids_.insert(weak.id()).second) assigned.push_back(std::move(weak));
}

int Trace::FindSlot(const StorageSlot& slot) const {
  for (size_t m = 0; m < memories.size(); ++m) {
    for (const auto& s : memories[m].slots) {
      if (s.get() == &slot) return static_cast<int>(m);
    }
  }
  return -1;
}

void Trace::AddInput(int input, const Buffer& stand_in) {
  const auto number = static_cast<int>(memories.size());
  TracedMemory& m = memories.emplace_back();
  m.all = *stand_in.View(0, stand_in.bytes());
  m.input = input;
  stand_ins_[&stand_in] = number;
}

int Trace::Find(const Buffer& buffer) const {
  if (const auto it = stand_ins_.find(&buffer); it != stand_ins_.end()) return it->second;
  const auto it = by_id_.find(buffer.memory_id());
  return it == by_id_.end() ? -1 : it->second;
}

int Trace::MemoryOf(const Buffer& buffer) {
  if (const int known = Find(buffer); known >= 0) return known;
  const auto number = static_cast<int>(memories.size());
  memories.emplace_back().all = buffer.Whole();
  by_id_[buffer.memory_id()] = number;
  return number;
}

int Trace::PlaceOf(const Slot& slot, bool write) {
  const int memory = MemoryOf(*slot.buffer);
  TracedMemory& m = memories[static_cast<size_t>(memory)];
  const auto item = static_cast<int>(items.size());
  if (slot.node == nullptr) m.created = true;
  if (m.first < 0) m.first = item, m.written_first = write;
  m.last = item;
  m.written |= write;
  if (slot.node != nullptr && !IsNew(*slot.node) && m.input < 0) {
    const auto& held = slot.node->arg_as<BufferArg>().slot;
    if (!std::count(m.slots.begin(), m.slots.end(), held)) m.slots.push_back(held);
  }
  const size_t offset = slot.buffer->offset() - m.all->offset();
  const auto key = std::make_tuple(memory, offset, slot.buffer->bytes());
  const auto [it, fresh] = place_numbers_.emplace(key, static_cast<int>(places.size()));
  if (fresh) places.push_back({memory, offset, slot.buffer->bytes()});
  return it->second;
}

void Trace::OnKernel(const std::shared_ptr<Program>& program, const std::shared_ptr<Device>& device,
                     const ScheduleItem& item, absl::Span<const Slot> slots, const VariableValues& values) {
  if (!record_) return;
  TracedItem out;
  out.program = program;
  out.device = device;
  out.writes = WrittenPositions(item.kernel, item.slots.size());
  for (size_t p = 0; p < item.slots.size(); ++p)
    out.places.push_back(PlaceOf(slots[static_cast<size_t>(item.slots[p])], out.writes[p]));
  for (const std::string& name : item.variables) {
    const int64_t value = values.at(name);
    const auto [it, fresh] =
        variable_numbers_.emplace(std::pair(name, value), static_cast<int>(variables.size()));
    if (fresh) {
      TracedVariable& v = variables.emplace_back();
      v.name = name;
      v.value = value;
      v.min = v.max = value;
      for (const UOpRef& var : uop::NodesOf(item.kernel, Op::kVar)) {
        const auto& arg = var->arg_as<VarArg>();
        if (arg.name == name) v.min = arg.min, v.max = arg.max;
      }
    }
    out.vars.push_back(it->second);
  }
  items.push_back(std::move(out));
}

void Trace::OnCopy(const Slot& to, const Slot& from) {
  if (!record_) return;
  TracedItem out;
  out.copy = true;
  out.device = to.buffer->device_ref();
  out.places = {PlaceOf(to, true), PlaceOf(from, false)};
  // A copy inside of one memory reads before it writes.
  out.writes = {true, false};
  items.push_back(std::move(out));
}

void Trace::OnStorage(const UOp& node, const Buffer& buffer, const HostData* data) {
  if (!record_) return;
  TracedMemory& m = memories[static_cast<size_t>(MemoryOf(buffer))];
  m.created = IsNew(node);
  if (data == nullptr || !m.created) return;
  if (const auto it = host_of_.find(node.arg_as<BufferArg>().id); it != host_of_.end())
    m.host = it->second;
  else
    m.upload = data->bytes();
}

absl::Status Trace::OnHostRead() {
  return absl::FailedPreconditionError(
      "Data inside of a captured function: replays would go by the value that it had when the function was "
      "recorded; expected the tensor among the results, read after the call");
}

void Trace::OnHostContents(const UOpRef& node, HostContents again) {
  host_of_[node->arg_as<BufferArg>().id] = static_cast<int>(host.size());
  host.push_back({nullptr, std::move(again)});
}

}  // namespace understudy::capture_internal
