// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/call.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/schedule/index_expr.h"
#include "src/schedule/views.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/spec.h"

namespace understudy {
namespace {

// The mark left in a slot whose contents an assignment replaced.
class OverwrittenContents : public StorageBase {};

bool IsPassThrough(Op op) {
  return op == Op::kDetach || op == Op::kContiguousBackward || op == Op::kWithGradient;
}

std::string BufferText(const UOp& b) {
  const auto& arg = b.arg_as<BufferArg>();
  return absl::StrCat("buffer #", arg.id, " (", arg.size, " x ", b.dtype().Name(), " on ", arg.device, ")");
}

// Consecutive elements of a buffer in order: a view that needs no copy.
bool IsContiguousRange(const UOpRef& x) {
  if (x->numel() == 0) return false;
  Place at;
  int64_t id = 0;
  for (const int64_t d : x->shape()) at.index.push_back(d == 1 ? uop::IndexConst(0) : uop::Range(d, id++));
  const UOpRef in_order = Flatten(at.index, x->shape());
  const UOp* u = x.get();
  for (; u->op() == Op::kReshape || u->op() == Op::kShrink; u = u->src(0).get()) {
    UOpRef own;
    at = SourcePlace(*u, at, &own);
  }
  if (u->op() != Op::kBuffer) return false;
  index::Linear l = index::Decompose(at.index[0]);
  l.constant = 0;
  return index::Compose(std::move(l)) == in_order;
}

absl::Status Overwritten(const UOp& buffer) {
  return absl::FailedPreconditionError(
      absl::StrCat("call: reads ", BufferText(buffer),
                   " as it was before an assignment that has already been done, expected it to be realised "
                   "before or together with the assignment"));
}

bool IsVirtualConstant(const UOp* u) {
  while (IsMovement(u->op()) && u->op() != Op::kPad) u = u->src(0).get();
  return u->op() == Op::kConst;
}

// A graph without wrappers, assignments and values that are known already: what remains computes.
class Normaliser {
 public:
  explicit Normaliser(const RealizedValues* realized) : realized_(realized) {}

  UOpRef operator()(const UOpRef& root) {
    for (const UOp* u : uop::Toposort(root)) {
      if (!memo_.count(u)) memo_[u] = One(u);
    }
    return memo_.at(root.get());
  }

 private:
  const UOpRef& Of(const UOpRef& u) { return memo_.at(u.get()); }

  UOpRef One(const UOp* u) {
    keep_.push_back(UOpRef(u));
    if (realized_ != nullptr && u->num_src() > 0) {
      if (const UOpRef known = realized_->Find(UOpRef(u))) return uop::Reshape(known, u->shape());
    }
    if (IsPassThrough(u->op())) return Of(u->src(0));
    // The new contents of the target are the value; storing it there is the call's business.
    if (u->op() == Op::kAssign) return Of(u->src(1));
    if (u->op() == Op::kContiguous) {
      const UOpRef& x = Of(u->src(0));
      if (IsContiguousRange(x) || x->op() == Op::kContiguous || x->op() == Op::kCopy) return x;
      return uop::Contiguous(x);
    }
    if (u->num_src() == 0) return UOpRef(u);
    std::vector<UOpRef> src;
    for (const UOpRef& s : u->src()) src.push_back(Of(s));
    if (u->op() == Op::kReshape) {
      while (src[0]->op() == Op::kReshape) src[0] = UOpRef(src[0]->src(0));
      return uop::Reshape(src[0], u->shape());
    }
    return u->WithSrc(std::move(src));
  }

  const RealizedValues* realized_;
  absl::flat_hash_map<const UOp*, UOpRef> memo_;
  std::vector<UOpRef> keep_;
};

// Peels what only renames all the elements in order: the nodes from `u` (included) down to the one that makes
// them.
std::vector<UOpRef> Names(UOpRef u) {
  std::vector<UOpRef> out{u};
  while (u->op() == Op::kReshape || u->op() == Op::kContiguous || IsPassThrough(u->op())) {
    u = UOpRef(u->src(0));
    out.push_back(u);
  }
  return out;
}

// The buffer that a chain of whole assignments ends in.
const UOp* TargetOf(const UOp* assign) {
  const UOp* u = assign;
  for (;;) {
    if (u->op() == Op::kAssign || u->op() == Op::kReshape || IsPassThrough(u->op()))
      u = u->src(0).get();
    else
      return u;
  }
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

std::string FirstDevice(const UOpRef& root) {
  absl::flat_hash_map<const UOp*, std::string> device;
  for (const UOp* u : uop::Toposort(root)) {
    std::string d;
    if (u->op() == Op::kBuffer)
      d = u->arg_as<BufferArg>().device;
    else if (u->op() == Op::kCopy)
      d = u->arg_as<std::string>();
    else {
      for (const UOpRef& s : u->src()) {
        if (d.empty()) d = device[s.get()];
      }
    }
    device[u] = std::move(d);
  }
  return device[root.get()];
}

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

absl::StatusOr<Call> MakeCall(absl::Span<const OutputRequest> requests, const RealizedValues* realized) {
  Normaliser normal(realized);
  Call call;
  // Assignments asked for: per buffer the last one. Of two, one must be built on the other.
  absl::flat_hash_map<const UOp*, UOpRef> assigned;  // buffer -> ASSIGN
  for (const OutputRequest& r : requests) {
    if (r.value == nullptr) return absl::InvalidArgumentError("call: a request without a value");
    const UOpRef made = Names(r.value).back();
    if (made->op() != Op::kAssign || (realized != nullptr && realized->Find(made) != nullptr)) continue;
    const UOp* buffer = TargetOf(made.get());
    if (buffer->op() != Op::kBuffer) {
      return absl::InvalidArgumentError(
          absl::StrCat("call: assignment to ", OpName(buffer->op()), ", expected whole storage"));
    }
    UOpRef& last = assigned[buffer];
    if (last == nullptr || uop::Reaches(made->src(0), last)) {
      last = made;
    } else if (last != made && !uop::Reaches(last->src(0), made)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "call: two unordered assignments to ", BufferText(*buffer), ": of ", OpName(last->src(1)->op()),
          " (node ", last->id(), ") and of ", OpName(made->src(1)->op()), " (node ", made->id(),
          "), expected one to be made from the other's result"));
    }
  }

  struct Output {
    UOpRef value, buffer;
  };
  std::vector<Output> outputs;
  absl::flat_hash_map<const UOp*, UOpRef> storage;  // normalised value -> buffer
  std::vector<UOpRef> declared;                     // written by nothing
  for (const OutputRequest& r : requests) {
    const std::vector<UOpRef> names = Names(r.value);
    const UOpRef made = names.back();
    const UOpRef value = normal(r.value);
    const auto target = made->op() == Op::kAssign ? assigned.find(TargetOf(made.get())) : assigned.end();
    if (target != assigned.end() && target->second == made) {
      const UOpRef from(TargetOf(made.get()));
      const auto& arg = from->arg_as<BufferArg>();
      UOpRef to;
      for (const Call::Overwrite& o : call.overwrites) {
        if (o.from == from) to = o.to;
      }
      if (to == nullptr) {
        to = uop::NewBuffer(from->dtype(), arg.size, arg.device);
        call.overwrites.push_back({from, to});
        UOpRef stored = normal(made);
        while (stored->op() == Op::kReshape || stored->op() == Op::kContiguous)
          stored = UOpRef(stored->src(0));
        outputs.push_back({stored, from});
      }
      for (const UOpRef& name : names) call.realized.push_back({name, to});
      call.results.push_back(uop::Reshape(to, r.value->shape()));
      continue;
    }
    if (IsVirtualConstant(value.get()) || value->numel() == 0) {
      call.results.push_back(value->numel() == 0 ? uop::Expand(uop::Reshape(uop::Const(value->dtype(), 0),
                                                                            Shape(value->shape().size(), 1)),
                                                               value->shape())
                                                 : value);
      continue;
    }
    UOpRef base = value;
    while (base->op() == Op::kReshape || base->op() == Op::kContiguous) base = UOpRef(base->src(0));
    if (base->op() == Op::kBuffer && !assigned.contains(base.get())) {
      if (IsOverwritten(*base->arg_as<BufferArg>().slot)) return Overwritten(*base);
      if (base->arg_as<BufferArg>().slot->impl == nullptr &&
          !std::count(declared.begin(), declared.end(), base))
        declared.push_back(base);
      call.results.push_back(uop::Reshape(base, value->shape()));
      continue;
    }
    // A constant in a wrapper is stored as such. (A buffer comes here when this call overwrites it: what it
    // held before moves to storage of its own.)
    if (IsVirtualConstant(base.get())) base = uop::Contiguous(base);
    UOpRef& buffer = storage[base.get()];
    if (buffer == nullptr) {
      const std::string device = FirstDevice(base);
      buffer = uop::NewBuffer(base->dtype(), base->numel(), device.empty() ? r.device : device);
      outputs.push_back({base, buffer});
    }
    for (const UOpRef& name : names) call.realized.push_back({name, buffer});
    call.results.push_back(uop::Reshape(buffer, value->shape()));
  }

  std::vector<UOpRef> stores;
  absl::flat_hash_set<UOpRef> written(declared.begin(), declared.end());
  for (const Output& o : outputs) {
    if (o.value->numel() == 0) continue;
    stores.push_back(uop::Store(o.buffer, o.value));
    written.insert(o.buffer);
  }
  UOpRef sink = uop::Sink(stores);
  US_RETURN_IF_ERROR(CheckDevices({sink}));

  uop::SubstitutionMap params;
  absl::flat_hash_set<const UOp*> read;
  for (const UOp* u : uop::Toposort(sink)) {
    for (const UOpRef& s : u->src()) {
      if (s->op() == Op::kBuffer && !(u->op() == Op::kStore && s == u->src(0))) read.insert(s.get());
    }
    if (u->op() != Op::kBuffer) continue;
    const UOpRef buffer(u);
    params[buffer] = uop::TensorParam(u->dtype(), static_cast<int64_t>(call.buffers.size()), u->shape());
    if (written.count(buffer)) call.outputs.push_back(static_cast<int>(call.buffers.size()));
    call.buffers.push_back(buffer);
    call.devices.push_back(u->arg_as<BufferArg>().device);
  }
  for (const UOpRef& buffer : call.buffers) {
    if (!read.count(buffer.get())) continue;
    const StorageSlot& slot = *buffer->arg_as<BufferArg>().slot;
    if (IsOverwritten(slot)) return Overwritten(*buffer);
    if (slot.impl == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat("call: reads ", BufferText(*buffer),
                       ", which has no contents, expected data or an assignment before"));
    }
  }
  for (const UOpRef& buffer : declared) {
    if (params.count(buffer)) continue;
    call.outputs.push_back(static_cast<int>(call.buffers.size()));
    call.buffers.push_back(buffer);
    call.devices.push_back(buffer->arg_as<BufferArg>().device);
  }
  call.sink = uop::Substitute(sink, params);
  US_RETURN_IF_ERROR(uop::CheckSpec(call.sink, uop::Stage::kCall));
  return call;
}

void CommitCall(const Call& call, RealizedValues* realized) {
  for (const Call::Overwrite& o : call.overwrites) {
    StorageSlot &from = *o.from->arg_as<BufferArg>().slot, &to = *o.to->arg_as<BufferArg>().slot;
    to.impl = std::move(from.impl);
    from.impl = std::make_unique<OverwrittenContents>();
  }
  if (realized == nullptr) return;
  for (const auto& [value, buffer] : call.realized) realized->Remember(value, buffer);
}

}  // namespace understudy
