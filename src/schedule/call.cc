// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/call.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/schedule/normalise.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/inline.h"
#include "src/uop/sizes.h"
#include "src/uop/spec.h"

namespace understudy {
namespace {

// The mark left in a slot whose contents an assignment replaced. It keeps what replaced them alive: a graph
// that made the assignment names the old buffer only.
class OverwrittenContents : public StorageBase {
 public:
  explicit OverwrittenContents(std::shared_ptr<StorageSlot> next) : next_(std::move(next)) {}

 private:
  std::shared_ptr<StorageSlot> next_;
};

absl::Status Overwritten(const UOp& buffer) {
  return absl::FailedPreconditionError(
      absl::StrCat("call: reads ", BufferText(buffer),
                   " as it was before an assignment that has already been done, expected it to be realised "
                   "before or together with the assignment"));
}

// The buffer that was declared for this value alone and that nothing has written yet: the destination of a
// transfer. Whenever the value is computed it is stored there.
UOpRef OwnDestination(const UOp& assign) {
  if (assign.op() != Op::kAssign || assign.src(1)->op() != Op::kCopy) return nullptr;
  const UOp* u = assign.src(0).get();
  while (u->op() == Op::kReshape) u = u->src(0).get();
  if (u->op() != Op::kBuffer || u->arg_as<BufferArg>().slot->impl != nullptr) return nullptr;
  return UOpRef(u);
}

// All nodes that have to be looked at to compute the roots: not those below a value that is known.
std::vector<UOpRef> Unknown(const std::vector<UOpRef>& roots, const RealizedValues* realized) {
  std::vector<UOpRef> out, stack(roots);
  absl::flat_hash_set<const UOp*> seen;
  while (!stack.empty()) {
    const UOpRef u = stack.back();
    stack.pop_back();
    if (!seen.insert(u.get()).second) continue;
    if (realized != nullptr && u->num_src() > 0 && realized->Find(u) != nullptr) continue;
    out.push_back(u);
    // What is assigned over is not looked at for the value's sake.
    for (size_t i = u->op() == Op::kAssign ? 1 : 0; i < u->num_src(); ++i) stack.push_back(UOpRef(u->src(i)));
  }
  return out;
}

// Every device in the graph is one; the error names the two that meet.
absl::Status CheckDevices(absl::Span<const UOpRef> roots) {
  absl::flat_hash_map<const UOp*, std::string> device;
  for (const UOp* u : uop::Toposort(roots)) {
    std::string d;
    for (const UOpRef& s : u->src()) {
      const std::string& from = device[s.get()];
      if (!d.empty() && !from.empty() && d != from && u->op() != Op::kSink) {
        return absl::InvalidArgumentError(absl::StrCat("call: ", OpName(u->op()), " of values on devices ", d,
                                                       " and ", from, ", expected one device (COPY moves)"));
      }
      if (d.empty()) d = from;
    }
    if (u->op() == Op::kBuffer) d = u->arg_as<BufferArg>().device;
    if (u->op() == Op::kCopy) d = u->arg_as<std::string>();
    device[u] = std::move(d);
  }
  return absl::OkStatus();
}

// The first device that a value's graph names, "" for none. Remembers what it has looked at.
class FirstDevice {
 public:
  const std::string& operator()(const UOpRef& root) {
    std::vector<std::pair<const UOp*, size_t>> stack{{root.get(), 0}};
    keep_.push_back(root);
    while (!stack.empty()) {
      const UOp* u = stack.back().first;
      size_t& next = stack.back().second;
      if (next < u->num_src()) {
        const UOp* s = u->src(next++).get();
        if (!device_.contains(s)) stack.emplace_back(s, 0);
        continue;
      }
      stack.pop_back();
      std::string d;
      if (u->op() == Op::kBuffer) {
        d = u->arg_as<BufferArg>().device;
      } else if (u->op() == Op::kCopy) {
        d = u->arg_as<std::string>();
      } else {
        for (const UOpRef& s : u->src()) {
          if (d.empty()) d = device_.at(s.get());
        }
      }
      device_[u] = std::move(d);
    }
    return device_.at(root.get());
  }

 private:
  absl::flat_hash_map<const UOp*, std::string> device_;
  std::vector<UOpRef> keep_;
};

}  // namespace

UOpRef RealizedValues::Find(const UOpRef& value) const {
  const auto it = entries_.find(value->id());
  if (it == entries_.end()) return nullptr;
  std::shared_ptr<StorageSlot> slot = it->second.slot.lock();
  if (slot == nullptr || slot->impl == nullptr || IsOverwritten(*slot)) return nullptr;
  return uop::Buffer(value->dtype(),
                     BufferArg{it->second.buffer_id, it->second.device, it->second.size, std::move(slot)});
}

void RealizedValues::Remember(const UOpRef& value, const UOpRef& buffer) {
  if (entries_.size() >= sweep_at_) {
    absl::erase_if(entries_, [](const auto& e) { return e.second.slot.expired(); });
    sweep_at_ = std::max<size_t>(1024, 2 * entries_.size());
  }
  const auto& b = buffer->arg_as<BufferArg>();
  entries_[value->id()] = Entry{b.id, b.device, b.size, b.slot};
}

bool IsOverwritten(const StorageSlot& slot) {
  return dynamic_cast<const OverwrittenContents*>(slot.impl.get()) != nullptr;
}

namespace {

// One value to realise, after calls became expressions.
struct Wanted {
  UOpRef value;
  std::string device;
  std::vector<UOpRef> names;  // nodes that have this value, up to order-keeping views
  UOpRef own;                 // the BUFFER that was declared for it, if any
  int request = -1;           // whose result it is; -1: an effect that comes with one
  bool computed = false;      // a value that equal graphs share, rather than contents of storage
};

// The BUFFER that a call declared for its result at that position and that nothing has written yet.
UOpRef OwnResult(const UOp& call, int position) {
  const auto& outputs = call.arg_as<CallArg>().outputs;
  if (!std::count(outputs.begin(), outputs.end(), position)) return nullptr;
  const UOp* u = call.src(static_cast<size_t>(position) + 1).get();
  while (u->op() == Op::kReshape) u = u->src(0).get();
  if (u->op() != Op::kBuffer || u->arg_as<BufferArg>().slot->impl != nullptr) return nullptr;
  return UOpRef(u);
}

// Arguments and body of a precompiled call, as what is run.
absl::Status CheckArgument(const UOp& call, size_t position, const UOp& buffer) {
  const UOp& arg = *call.src(position + 1);
  if (buffer.op() == Op::kBuffer && buffer.dtype() == arg.dtype() &&
      buffer.arg_as<BufferArg>().size == arg.numel())
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "call ", call.arg_as<CallArg>().name, ": argument ", position, " is ", OpName(buffer.op()), " of ",
      buffer.dtype().Name(), ", expected a BUFFER of ", arg.numel(), " x ", arg.dtype().Name()));
}

class CallMaker {
 public:
  explicit CallMaker(const RealizedValues* realized)
      : realized_(realized), normal_(realized), inline_([realized](const UOp& n) -> UOpRef {
          if (realized == nullptr || n.num_src() == 0 || n.dtype().IsVoid()) return nullptr;
          const UOpRef known = realized->Find(UOpRef(&n));
          return known == nullptr ? nullptr : uop::Sized(uop::Reshape(known, n.shape()), n.sizes());
        }) {}

  absl::StatusOr<Call> Make(absl::Span<const OutputRequest> requests) {
    call_.results.resize(requests.size());
    for (size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].value == nullptr) return absl::InvalidArgumentError("call: a request without a value");
      Want(requests[i].value, requests[i].device, static_cast<int>(i));
    }
    AddTransfers();
    US_RETURN_IF_ERROR(FindAssignments());
    // A call whose argument goes with this run leaves all its results: nobody could compute them later.
    if (!assigned_.empty()) {
      const size_t before = wanted_.size();
      for (const UOpRef& u : Unknown(asked_, realized_)) {
        const int position = uop::ResultPosition(*u);
        if (position < 0 || OwnResult(*u->src(1), position) == nullptr) continue;
        for (size_t i = 1; i < u->src(1)->num_src(); ++i) {
          const UOpRef arg(u->src(1)->src(i));
          if (std::any_of(assigned_.begin(), assigned_.end(),
                          [&](const auto& a) { return uop::Reaches(arg, UOpRef(a.first)); })) {
            Want(u, OwnResult(*u->src(1), position)->arg_as<BufferArg>().device, -1);
            break;
          }
        }
      }
      if (wanted_.size() > before) US_RETURN_IF_ERROR(FindAssignments());
    }
    for (const Wanted& w : wanted_) US_RETURN_IF_ERROR(Place(w));
    return Finish();
  }

 private:
  bool IsKnown(const UOpRef& u) const {
    return realized_ != nullptr && u->num_src() > 0 && realized_->Find(u) != nullptr;
  }

  void Want(const UOpRef& value, const std::string& device, int request) {
    if (request < 0 && !effects_.insert(value.get()).second) return;
    asked_.push_back(value);
    Wanted w{nullptr, device, Names(value), nullptr, request};
    const UOpRef made = w.names.back(), root = ViewRoot(made);
    w.computed =
        request >= 0 && made->op() != Op::kBuffer && made->op() != Op::kAssign && made->op() != Op::kAfter;
    const int position = uop::ResultPosition(*root);
    if (position >= 0 && !IsKnown(root)) {
      // The body runs as a whole, so that no result of it is computed twice or from changed arguments.
      const UOpRef call(root->src(1));
      if (root == made) w.own = OwnResult(*call, position);
      for (const int p : uop::StoredPositions(*call)) {
        const UOpRef other = uop::After(UOpRef(call->src(static_cast<size_t>(p) + 1)), {call});
        if (other != root && uop::ResultPosition(*other) == p) Want(other, device, -1);
      }
      if (root != made) Want(root, device, -1);
    } else if (root != made && root->op() == Op::kAssign && !IsKnown(root)) {
      Want(root, device, -1);  // a view of storage that is to be written
    }
    w.value = inline_(value);
    for (const UOpRef& name : Names(w.value)) {
      if (!std::count(w.names.begin(), w.names.end(), name)) w.names.push_back(name);
    }
    // The gradient meets the body's value itself.
    if (w.own != nullptr && w.names.back()->op() == Op::kAssign)
      w.names.push_back(UOpRef(w.names.back()->src(1)));
    if (w.own == nullptr) w.own = OwnDestination(*Names(w.value).back());
    wanted_.push_back(std::move(w));
  }

  // A transfer that is computed for another value's sake is stored where it belongs all the same: its source
  // may change before it is asked for.
  void AddTransfers() {
    const auto add = [&](const UOpRef& u, const UOpRef& value) {
      UOpRef own = OwnDestination(*u);
      if (own == nullptr || u->numel() == 0) return;
      for (Wanted& w : wanted_) {
        if (w.own == own) return;
      }
      Wanted w{value, own->arg_as<BufferArg>().device, {u}, own, -1};
      if (value != u) w.names.push_back(value);
      wanted_.push_back(std::move(w));
    };
    // Known values and calls were written into the graph: a transfer over them keeps the name that it has in
    // the tensors' graphs.
    std::vector<UOpRef> roots;
    for (const Wanted& w : wanted_) roots.push_back(w.value);
    for (const UOpRef& u : Unknown(asked_, realized_)) {
      if (OwnDestination(*u) != nullptr) add(u, inline_(u));
    }
    for (const UOpRef& u : Unknown(roots, realized_)) add(u, u);
  }

  // Assignments asked for: per buffer the last one. Of two, one must be built on the other.
  absl::Status FindAssignments() {
    for (const Wanted& w : wanted_) {
      const UOpRef made = Names(w.value).back();
      if (made->op() != Op::kAssign || w.own != nullptr || IsKnown(made)) continue;
      const UOp* buffer = TargetOf(made.get());
      if (buffer->op() != Op::kBuffer) {
        // A value in the place of storage (an argument of a call): what is assigned is simply a value.
        continue;
      }
      UOpRef& last = assigned_[buffer];
      if (last == nullptr || uop::Reaches(made->src(0), last)) {
        last = made;
      } else if (last != made && !uop::Reaches(last->src(0), made)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "call: two unordered assignments to ", BufferText(*buffer), ": of ", OpName(last->src(1)->op()),
            " (node ", last->id(), ") and of ", OpName(made->src(1)->op()), " (node ", made->id(),
            "), expected one to be made from the other's result"));
      }
    }
    // What is overwritten in the same run is never stored itself.
    std::erase_if(wanted_, [&](const Wanted& w) {
      return w.request < 0 && w.own != nullptr && assigned_.contains(w.own.get());
    });
    for (Wanted& w : wanted_) {
      if (w.own != nullptr && assigned_.contains(w.own.get())) w.own = nullptr;
    }
    return absl::OkStatus();
  }

  void Result(const Wanted& w, UOpRef value) {
    if (w.request >= 0) call_.results[w.request] = std::move(value);
  }
  // The value is in `buffer` afterwards.
  void InBuffer(const Wanted& w, const UOpRef& buffer) {
    for (const UOpRef& name : w.names) {
      if (name->num_src() > 0 && !IsVirtualConstant(name.get())) call_.realized.push_back({name, buffer});
    }
    if (w.computed) call_.shown.push_back(buffer);
    Result(w, uop::Sized(uop::Reshape(buffer, w.value->shape()), w.value->sizes()));
  }

  absl::Status Place(const Wanted& w) {
    const UOpRef made = Names(w.value).back();
    const UOpRef value = normal_(w.value);
    if (w.own != nullptr && value->numel() != 0) {
      UOpRef base = value;
      while (base->op() == Op::kReshape || base->op() == Op::kContiguous) base = UOpRef(base->src(0));
      if (IsVirtualConstant(base.get())) base = uop::Contiguous(base);
      if (!owned_.insert(w.own.get()).second) return InBuffer(w, w.own), absl::OkStatus();
      outputs_.push_back({base, w.own});
      storage_.emplace(base.get(), w.own);
      keep_.push_back(base);
      InBuffer(w, w.own);
      return absl::OkStatus();
    }
    const auto target = made->op() == Op::kAssign ? assigned_.find(TargetOf(made.get())) : assigned_.end();
    if (target != assigned_.end() && target->second == made) {
      const UOpRef from(TargetOf(made.get()));
      const auto& arg = from->arg_as<BufferArg>();
      UOpRef& to = replaced_[from.get()];
      if (to == nullptr) {
        to = uop::NewBuffer(from->dtype(), arg.size, arg.device);
        const bool in_place = arg.slot->shown < 2;
        if (in_place) call_.overwrites.push_back({from, to});
        UOpRef stored = normal_(made);
        while (stored->op() == Op::kReshape || stored->op() == Op::kContiguous)
          stored = UOpRef(stored->src(0));
        outputs_.push_back({stored, in_place ? from : to});
        keep_.push_back(stored);
      }
      InBuffer(w, to);
      return absl::OkStatus();
    }
    if (w.request < 0) return absl::OkStatus();  // an earlier contents of what is assigned
    if (IsVirtualConstant(value.get()) || value->numel() == 0) {
      Result(w, value->numel() == 0 ? uop::Expand(uop::Reshape(uop::Const(value->dtype(), 0),
                                                               Shape(value->shape().size(), 1)),
                                                  value->shape())
                                    : value);
      return absl::OkStatus();
    }
    UOpRef base = value;
    while (base->op() == Op::kReshape || base->op() == Op::kContiguous) base = UOpRef(base->src(0));
    UOpRef stored = base;
    while (stored->op() == Op::kReshape || stored->op() == Op::kContiguous || uop::IsSizing(*stored))
      stored = UOpRef(stored->src(0));
    if (stored->op() == Op::kBuffer && !assigned_.contains(stored.get())) base = stored;
    if (base->op() == Op::kBuffer && !assigned_.contains(base.get())) {
      if (IsOverwritten(*base->arg_as<BufferArg>().slot)) return Overwritten(*base);
      if (base->arg_as<BufferArg>().slot->impl == nullptr && !owned_.contains(base.get()) &&
          !std::count(declared_.begin(), declared_.end(), base))
        declared_.push_back(base);
      if (w.computed) call_.shown.push_back(base);
      Result(w, uop::Sized(uop::Reshape(base, value->shape()), value->sizes()));
      return absl::OkStatus();
    }
    // A constant in a wrapper is stored as such. (A buffer comes here when this call overwrites it: what it
    // held before moves to storage of its own.)
    if (IsVirtualConstant(base.get())) base = uop::Contiguous(base);
    keep_.push_back(base);
    UOpRef& buffer = storage_[base.get()];
    if (buffer == nullptr) {
      const std::string device = first_device_(base);
      buffer = uop::NewBuffer(base->dtype(), base->numel(), device.empty() ? w.device : device);
      outputs_.push_back({base, buffer});
    }
    InBuffer(w, buffer);
    return absl::OkStatus();
  }

  absl::StatusOr<Call> Finish();

  struct Output {
    UOpRef value, buffer;
  };
  const RealizedValues* realized_;
  Normaliser normal_;
  FirstDevice first_device_;
  uop::CallInliner inline_;
  Call call_;
  std::vector<Wanted> wanted_;
  std::vector<UOpRef> asked_;  // the values of wanted_ as they were asked for
  absl::flat_hash_set<const UOp*> effects_;
  absl::flat_hash_map<const UOp*, UOpRef> assigned_;  // buffer -> ASSIGN
  std::vector<Output> outputs_;
  absl::flat_hash_map<const UOp*, UOpRef> storage_;  // normalised value -> buffer
  absl::flat_hash_set<const UOp*> owned_;
  std::vector<UOpRef> declared_;                      // written by nothing
  absl::flat_hash_map<const UOp*, UOpRef> replaced_;  // assigned buffer -> the one with its new contents
  std::vector<UOpRef> keep_;
};

absl::StatusOr<Call> CallMaker::Finish() {
  std::vector<UOpRef> stores;
  absl::flat_hash_set<UOpRef> written(declared_.begin(), declared_.end());
  for (const Output& o : outputs_) {
    if (o.value->numel() == 0) continue;
    stores.push_back(uop::Store(o.buffer, o.value));
    written.insert(o.buffer);
  }
  UOpRef sink = uop::Sink(stores);
  US_RETURN_IF_ERROR(CheckSizes(sink));
  US_RETURN_IF_ERROR(CheckDevices({sink}));

  uop::SubstitutionMap params;
  absl::flat_hash_set<const UOp*> read;
  for (const UOp* u : uop::Toposort(sink)) {
    for (const UOpRef& s : u->src()) {
      if (s->op() == Op::kBuffer && !(u->op() == Op::kStore && s == u->src(0))) read.insert(s.get());
    }
    if (u->op() != Op::kBuffer) continue;
    const UOpRef buffer(u);
    params[buffer] = uop::TensorParam(u->dtype(), static_cast<int64_t>(call_.buffers.size()), u->shape());
    if (written.count(buffer)) call_.outputs.push_back(static_cast<int>(call_.buffers.size()));
    call_.buffers.push_back(buffer);
    call_.devices.push_back(u->arg_as<BufferArg>().device);
  }
  for (const UOpRef& buffer : call_.buffers) {
    if (!read.count(buffer.get())) continue;
    const StorageSlot& slot = *buffer->arg_as<BufferArg>().slot;
    if (IsOverwritten(slot)) return Overwritten(*buffer);
    if (slot.impl == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat("call: reads ", BufferText(*buffer),
                       ", which has no contents, expected data or an assignment before"));
    }
  }
  for (const UOpRef& buffer : declared_) {
    if (params.count(buffer)) continue;
    call_.outputs.push_back(static_cast<int>(call_.buffers.size()));
    call_.buffers.push_back(buffer);
    call_.devices.push_back(buffer->arg_as<BufferArg>().device);
  }
  US_ASSIGN_OR_RETURN(sink, Unbind(sink, &call_.variables));
  call_.sink = uop::Substitute(sink, params);
  US_RETURN_IF_ERROR(uop::CheckSpec(call_.sink, uop::Stage::kCall));
  return std::move(call_);
}

}  // namespace

absl::StatusOr<Call> MakeCall(absl::Span<const OutputRequest> requests, const RealizedValues* realized) {
  return CallMaker(realized).Make(requests);
}

std::vector<UOpRef> PendingCalls(absl::Span<const OutputRequest> requests, const RealizedValues* realized) {
  std::vector<UOpRef> out;
  absl::flat_hash_set<const UOp*> seen;
  std::vector<std::pair<UOpRef, size_t>> stack;
  const auto push = [&](const UOpRef& u) {
    if (!seen.insert(u.get()).second) return;
    if (realized != nullptr && u->num_src() > 0 && realized->Find(u) != nullptr) return;
    // The body of a call is no part of the graph.
    stack.push_back({u, u->op() == Op::kCall ? 1 : 0});
  };
  for (const OutputRequest& r : requests) {
    push(r.value);
    while (!stack.empty()) {
      const UOpRef u = stack.back().first;
      if (stack.back().second < u->num_src()) {
        push(UOpRef(u->src(stack.back().second++)));
        continue;
      }
      stack.pop_back();
      if (u->op() == Op::kCall && u->arg_as<CallArg>().precompile) out.push_back(u);
    }
  }
  return out;
}

absl::StatusOr<Call> MakeBodyCall(const UOpRef& node, const std::vector<UOpRef>& buffers) {
  const UOp& call = *node;
  US_CHECK(buffers.size() + 1 == call.num_src());
  Call out;
  out.buffers = buffers;
  std::vector<UOpRef> stores;
  Normaliser normal(nullptr);
  uop::CallInliner inner;
  for (const UOpRef& store : call.src(0)->src()) {
    UOpRef value = normal(inner(UOpRef(store->src(1))));
    if (value->numel() == 0) continue;
    while (value->op() == Op::kReshape || value->op() == Op::kContiguous) value = UOpRef(value->src(0));
    if (IsVirtualConstant(value.get())) value = uop::Contiguous(value);
    stores.push_back(uop::Store(UOpRef(store->src(0)), value));
  }
  US_ASSIGN_OR_RETURN(out.sink, Unbind(uop::Sink(std::move(stores)), &out.variables));
  absl::flat_hash_set<int64_t> used;
  for (const UOpRef& p : uop::NodesOf(out.sink, Op::kParam))
    used.insert(p->arg_as<std::vector<int64_t>>()[0]);
  uop::CallInliner whole;
  for (size_t p = 0; p < buffers.size(); ++p) {
    US_RETURN_IF_ERROR(CheckArgument(call, p, *buffers[p]));
    const auto& b = buffers[p]->arg_as<BufferArg>();
    out.devices.push_back(b.device);
    const int position = static_cast<int>(p);
    const bool stored = uop::StoreTo(call, position) != nullptr;
    const bool own = OwnResult(call, position) == buffers[p];
    if (!stored && !own) {
      // A result that is an argument as it was.
      const UOpRef as_it_was = uop::After(UOpRef(call.src(p + 1)), {node});
      if (uop::ResultPosition(*as_it_was) == position) out.realized.push_back({as_it_was, buffers[p]});
      // What a body inside declared for itself is never stored.
      if (!used.contains(position)) out.buffers[p] = uop::NewBuffer(buffers[p]->dtype(), 0, b.device);
      continue;
    }
    out.outputs.push_back(position);
    UOpRef holds = buffers[p];
    if (stored && !own) {
      holds = uop::NewBuffer(buffers[p]->dtype(), b.size, b.device);
      out.overwrites.push_back({buffers[p], holds});
    }
    const UOpRef after = uop::After(UOpRef(call.src(p + 1)), {node});
    if (uop::ResultPosition(*after) != position) continue;
    out.realized.push_back({after, holds});
    if (!own) continue;
    // The gradient meets the body's value itself.
    const UOpRef assign = whole(after);
    out.realized.push_back({assign, holds});
    if (assign->op() == Op::kAssign && assign->src(1)->num_src() > 0 &&
        !IsVirtualConstant(assign->src(1).get()))
      out.realized.push_back({UOpRef(assign->src(1)), holds});
  }
  US_RETURN_IF_ERROR(uop::CheckSpec(out.sink, uop::Stage::kCall));
  return out;
}

void CommitCall(const Call& call, RealizedValues* realized) {
  for (const Call::Overwrite& o : call.overwrites) {
    StorageSlot &from = *o.from->arg_as<BufferArg>().slot, &to = *o.to->arg_as<BufferArg>().slot;
    to.impl = std::move(from.impl);
    from.impl = std::make_unique<OverwrittenContents>(o.to->arg_as<BufferArg>().slot);
  }
  for (const UOpRef& buffer : call.shown) ++buffer->arg_as<BufferArg>().slot->shown;
  if (realized == nullptr) return;
  for (const auto& [value, buffer] : call.realized) realized->Remember(value, buffer);
}

}  // namespace understudy
