// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/engine.h"

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/runtime/joined_bytes.h"
#include "src/tensor/host_data.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/inline.h"
#include "src/uop/sizes.h"

namespace understudy {
namespace {

absl::Status Annotate(const absl::Status& status, const std::string& where) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(where, ": ", std::string(status.message())));
}

size_t ByteSize(const UOp& buffer) {
  return static_cast<size_t>(buffer.arg_as<BufferArg>().size) * buffer.dtype().SizeBytes();
}

// The BUFFER under RESHAPEs, when the value is all of it in its own order (up to what a variable size leaves
// out); else null.
UOpRef WholeBuffer(UOpRef u) {
  while (u->op() == Op::kReshape || uop::IsSizing(*u)) u = UOpRef(u->src(0));
  return u->op() == Op::kBuffer ? u : UOpRef();
}

thread_local EngineRecorder* current_recorder = nullptr;
// The same for a value of several devices: a MULTI whose parts are whole buffers or have no elements.
UOpRef Stored(UOpRef u) {
  while (u->op() == Op::kReshape) u = UOpRef(u->src(0));
  if (u->op() != Op::kMulti) return WholeBuffer(u);
  for (const UOpRef& part : u->src()) {
    if (part->numel() > 0 && WholeBuffer(part) == nullptr) return nullptr;
  }
  return u;
}

// The elements that exist, of row-major storage with room for `room`.
std::vector<uint8_t> WithoutRoom(const std::vector<uint8_t>& bytes, const Shape& room, const Shape& exists,
                                 size_t width) {
  std::vector<uint8_t> out;
  Shape at(room.size(), 0);
  for (const int64_t d : exists) {
    if (d == 0) return out;
  }
  for (;;) {
    // The last axis in one piece.
    size_t from = 0;
    for (size_t i = 0; i < room.size(); ++i)
      from = from * static_cast<size_t>(room[i]) + static_cast<size_t>(at[i]);
    const size_t row = room.empty() ? 1 : static_cast<size_t>(exists.back());
    const auto begin = bytes.begin() + static_cast<int64_t>(from * width);
    out.insert(out.end(), begin, begin + static_cast<int64_t>(row * width));
    size_t axis = room.empty() ? 0 : room.size() - 1;
    while (axis > 0 && ++at[axis - 1] == exists[axis - 1]) at[--axis] = 0;
    if (axis == 0) return out;
  }
}

}  // namespace

EngineRecorder* EngineRecorder::Current() { return current_recorder; }
void EngineRecorder::SetCurrent(EngineRecorder* recorder) { current_recorder = recorder; }

Engine::Engine(DeviceRegistry devices, EngineOptions options)
    : devices_(std::move(devices)), options_(std::move(options)) {}

absl::Status Engine::Realize(Tensor& tensor) {
  Tensor* const list[] = {&tensor};
  return Realize(list);
}

absl::Status Engine::Realize(absl::Span<Tensor* const> tensors) {
  const absl::Status status = RealizeAll(tensors);
  if (!absl::IsResourceExhausted(status)) return status;
  std::string use;
  for (const std::string& name : devices_.Names())
    absl::StrAppend(&use, "; ", name, ": ", (*devices_.Find(name))->memory_use().Text());
  return absl::ResourceExhaustedError(absl::StrCat(std::string(status.message()), use));
}

absl::Status Engine::RealizeAll(absl::Span<Tensor* const> tensors) {
  if (EngineRecorder::Current() != recorder_) {
    return absl::FailedPreconditionError(
        "Realize by another engine inside of a captured function: what it runs would not be replayed; "
        "expected the engine of the function");
  }
  ++stats_.realizes;
  std::vector<OutputRequest> requests;
  for (const Tensor* t : tensors) {
    US_RETURN_IF_ERROR(t->status());
    requests.push_back({t->uop(), t->device()});
  }
  US_ASSIGN_OR_RETURN(const SplitRequests split, Split(requests, &realized_, &shards_, options_.multi));
  for (const UOpRef& call : PendingCalls(split.requests(), &realized_)) US_RETURN_IF_ERROR(RunCall(call));
  US_ASSIGN_OR_RETURN(const std::vector<UOpRef> parts, RealizeValues(split.requests()));
  split.Commit(&realized_, &shards_);
  const std::vector<UOpRef> results = split.Join(parts);
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i]->Rebind(results[i]);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<UOpRef>> Engine::RealizeValues(absl::Span<const OutputRequest> requests) {
  US_ASSIGN_OR_RETURN(Call call, MakeCall(requests, &realized_));
  US_RETURN_IF_ERROR(Run(call));
  CommitCall(call, &realized_);
  return std::move(call.results);
}

absl::Status Engine::RunCall(const UOpRef& node) {
  const UOp& call = *node;
  const size_t count = call.num_src() - 1;
  std::vector<UOpRef> buffers(count);
  std::string device;
  for (size_t p = 0; p < count; ++p) {
    buffers[p] = WholeBuffer(UOpRef(call.src(p + 1)));
    if (buffers[p] != nullptr && device.empty()) device = buffers[p]->arg_as<BufferArg>().device;
  }
  const auto stored = [&](size_t p) { return uop::StoreTo(call, static_cast<int>(p)) != nullptr; };
  // Every argument in a buffer: its own where it is whole storage, else a copy.
  std::vector<OutputRequest> requests;
  std::vector<size_t> requested;
  for (size_t p = 0; p < count; ++p) {
    const UOpRef arg(call.src(p + 1));
    if (arg->numel() == 0) {
      buffers[p] = uop::NewBuffer(arg->dtype(), 0, device);
      continue;
    }
    bool written = false;  // the same buffer, at another position
    for (size_t q = 0; q < count; ++q)
      written |= q != p && buffers[p] != nullptr && buffers[q] == buffers[p] && stored(q);
    if (stored(p) && written) {
      return absl::InvalidArgumentError(absl::StrCat("call ", call.arg_as<CallArg>().name, ": argument ", p,
                                                     " is written under two positions"));
    }
    if (buffers[p] != nullptr && !written) {
      const StorageSlot* slot = buffers[p]->arg_as<BufferArg>().slot.get();
      if (slot == nullptr || !IsOverwritten(*slot)) continue;
    }
    UOpRef value = arg;
    if (!stored(p)) {
      // What is assigned but not yet written there stays so: others may still ask for the old contents.
      bool pending = written;
      for (const UOpRef& a : uop::NodesOf(arg, Op::kAssign)) pending |= a->src(1)->op() != Op::kCopy;
      value = pending ? uop::Copy(arg, device) : uop::Contiguous(arg);
    }
    requests.push_back({value, device});
    requested.push_back(p);
  }
  US_ASSIGN_OR_RETURN(const std::vector<UOpRef> results, RealizeValues(requests));
  for (size_t i = 0; i < results.size(); ++i) {
    buffers[requested[i]] = WholeBuffer(results[i]);
    if (buffers[requested[i]] == nullptr) {
      return absl::InternalError(absl::StrCat("call ", call.arg_as<CallArg>().name, ": argument ",
                                              requested[i], " has no buffer after it was realised"));
    }
  }
  US_ASSIGN_OR_RETURN(const Call run, MakeBodyCall(node, buffers));
  US_RETURN_IF_ERROR(Run(run));
  CommitCall(run, &realized_);
  return absl::OkStatus();
}

absl::StatusOr<Engine::CachedSchedule*> Engine::FindSchedule(const Call& call) {
  const auto key = std::pair(static_cast<const UOp*>(call.sink.get()), call.devices);
  if (const auto it = schedules_.find(key); it != schedules_.end()) {
    ++stats_.schedule_cache_hits;
    return it->second.get();
  }
  ScheduleOptions schedule_options;
  for (const std::string& name : call.devices) {
    const auto device = devices_.Find(name);
    if (device.ok() && (*device)->target().pack_bytes > 0)
      schedule_options.row_bytes[name] = (*device)->target().pack_bytes;
  }
  US_ASSIGN_OR_RETURN(Schedule schedule, MakeSchedule(call, schedule_options));
  ++stats_.schedules_made;
  auto cached = std::make_unique<CachedSchedule>();
  cached->sink = call.sink;
  cached->programs.resize(schedule.items.size());
  cached->schedule = std::move(schedule);
  return (schedules_[key] = std::move(cached)).get();
}

absl::StatusOr<std::shared_ptr<Program>> Engine::FindProgram(const UOpRef& kernel, Device& device,
                                                             absl::Span<const size_t> buffer_bytes) {
  // Kernel graphs are interned: equal structure is the same node.
  const auto key = std::pair(static_cast<const UOp*>(kernel.get()), static_cast<const Device*>(&device));
  if (const auto it = programs_.find(key); it != programs_.end()) {
    ++stats_.program_cache_hits;
    return it->second.program;
  }
  std::optional<ChoiceList> choices = options_.choices;
  if (!choices.has_value() && options_.search != nullptr) {
    auto found = options_.search->Find(kernel, device, buffer_bytes);
    if (!found.ok()) {
      return Annotate(found.status(), absl::StrCat("searching the choices of ",
                                                   kernel->arg_as<KernelArg>().name, " for ", device.name()));
    }
    choices = *std::move(found);
  }
  auto program = device.Compile(kernel, choices.has_value() ? &*choices : nullptr);
  if (!program.ok()) {
    return Annotate(program.status(),
                    absl::StrCat("compiling ", kernel->arg_as<KernelArg>().name, " for ", device.name()));
  }
  ++stats_.kernels_compiled;
  // A program goes before its device.
  std::shared_ptr<Program> kept((*program).release(),
                                [device = device.shared_from_this()](Program* p) { delete p; });
  programs_[key] = {kernel, kept};
  return kept;
}

absl::StatusOr<Buffer*> Engine::Storage(const UOpRef& node, bool output) {
  const BufferArg& arg = node->arg_as<BufferArg>();
  if (arg.slot == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("buffer ", arg.id, " on ", arg.device, " has no storage slot"));
  }
  std::unique_ptr<StorageBase>& impl = arg.slot->impl;
  if (auto* buffer = dynamic_cast<Buffer*>(impl.get())) return buffer;
  auto* host = dynamic_cast<HostData*>(impl.get());
  if (impl != nullptr && host == nullptr) {
    return absl::InternalError(
        absl::StrCat("buffer ", arg.id, " on ", arg.device, " holds storage of an unknown kind"));
  }
  if (impl == nullptr && !output && arg.size > 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("buffer ", arg.id, " on ", arg.device, " is read, but nothing was ever written to it"));
  }
  US_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, devices_.Find(arg.device));
  auto buffer = std::make_unique<Buffer>(std::move(device), ByteSize(*node));
  if (host != nullptr) {
    US_RETURN_IF_ERROR(buffer->CopyIn(host->bytes().data(), host->bytes().size()));
    stats_.bytes_in += static_cast<int64_t>(host->bytes().size());
  }
  if (recorder_ != nullptr) recorder_->OnStorage(*node, *buffer, host);
  impl = std::move(buffer);
  return static_cast<Buffer*>(impl.get());
}

absl::Status Engine::RunKernel(Program& program, Device& device, absl::Span<Buffer* const> slots,
                               const ScheduleItem& item, const VariableValues& variables) {
  US_ASSIGN_OR_RETURN(const std::vector<int64_t> vars, ValuesOf(item.variables, variables));
  std::vector<Allocation> buffers;
  for (const int slot : item.slots) {
    US_CHECK(slot >= 0 && static_cast<size_t>(slot) < slots.size())
        << "slot " << slot << " of " << slots.size();
    if (&slots[slot]->device() != &device) {
      return absl::InternalError(absl::StrCat("kernel ", program.name(), " on ", device.name(),
                                              " names a buffer on ", slots[slot]->device().name()));
    }
    US_ASSIGN_OR_RETURN(const Allocation a, slots[slot]->Get());
    buffers.push_back(a);
  }
  LaunchInfo info;
  ++stats_.kernels_launched;
  US_RETURN_IF_ERROR(Annotate(device.Launch(program, buffers, vars, options_.profile ? &info : nullptr),
                              absl::StrCat("launching ", program.name(), " on ", device.name())));
  if (options_.profile) launches_.push_back({program.name(), device.name(), info});
  return absl::OkStatus();
}

absl::Status Engine::Run(const Call& call) {
  US_ASSIGN_OR_RETURN(CachedSchedule * cached, FindSchedule(call));
  const Schedule& schedule = cached->schedule;

  std::vector<bool> is_output(call.buffers.size());
  for (const int position : call.outputs) is_output[position] = true;
  std::vector<Buffer*> slots;
  for (size_t i = 0; i < call.buffers.size(); ++i) {
    US_ASSIGN_OR_RETURN(Buffer * buffer, Storage(call.buffers[i], is_output[i]));
    slots.push_back(buffer);
  }
  // Temporaries are views of one arena a device. The arenas go when this returns; devices keep the memory
  // until the work that uses it is done.
  std::map<std::string, std::unique_ptr<Buffer>> arenas;
  for (const auto& [name, bytes] : schedule.arena_bytes) {
    US_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, devices_.Find(name));
    arenas[name] = std::make_unique<Buffer>(std::move(device), static_cast<size_t>(bytes));
  }
  std::vector<EngineRecorder::Slot> recorded;
  if (recorder_ != nullptr) {
    for (size_t i = 0; i < slots.size(); ++i) recorded.push_back({slots[i], call.buffers[i].get()});
  }
  std::vector<std::unique_ptr<Buffer>> temporaries;
  for (const Temporary& t : schedule.temporaries) {
    US_CHECK(arenas.contains(t.device)) << "no arena for " << t.device;
    US_ASSIGN_OR_RETURN(auto view,
                        arenas[t.device]->View(static_cast<size_t>(t.offset), static_cast<size_t>(t.bytes)));
    slots.push_back(view.get());
    if (recorder_ != nullptr) recorded.push_back({view.get(), nullptr});
    temporaries.push_back(std::move(view));
  }

  for (size_t i = 0; i < schedule.items.size(); ++i) {
    const ScheduleItem& item = schedule.items[i];
    if (item.kind == ScheduleItem::Kind::kCopy) {
      US_CHECK(item.slots.size() == 2) << item.slots.size();
      Buffer &to = *slots[item.slots[0]], &from = *slots[item.slots[1]];
      US_RETURN_IF_ERROR(Annotate(CopyBuffer(to, from), absl::StrCat("copying from ", from.device().name(),
                                                                     " to ", to.device().name())));
      ++stats_.copies;
      stats_.bytes_copied += static_cast<int64_t>(to.bytes());
      if (recorder_ != nullptr) recorder_->OnCopy(recorded[item.slots[0]], recorded[item.slots[1]]);
      stats_.bytes_between[{from.device().name(), to.device().name()}] += static_cast<int64_t>(to.bytes());
      continue;
    }
    US_ASSIGN_OR_RETURN(const std::shared_ptr<Device> device, devices_.Find(item.device));
    if (cached->programs[i] == nullptr) {
      std::vector<size_t> bytes;
      for (const int slot : item.slots) bytes.push_back(slots[slot]->bytes());
      US_ASSIGN_OR_RETURN(cached->programs[i], FindProgram(item.kernel, *device, bytes));
    } else {
      ++stats_.program_cache_hits;
    }
    US_RETURN_IF_ERROR(RunKernel(*cached->programs[i], *device, slots, item, call.variables));
    if (recorder_ != nullptr)
      recorder_->OnKernel(cached->programs[i], device, item, recorded, call.variables);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint8_t>> Engine::Bytes(Tensor& tensor) {
  if (EngineRecorder* recorder = EngineRecorder::Current()) US_RETURN_IF_ERROR(recorder->OnHostRead());
  US_RETURN_IF_ERROR(Realize(tensor));
  if (tensor.numel() == 0) return std::vector<uint8_t>();
  UOpRef node = Stored(tensor.uop());
  Tensor contiguous;
  if (node == nullptr) {
    // A constant, or a view in another order: give the value storage of its own, and leave the caller's
    // tensor as it is.
    contiguous = tensor.Clone();
    US_RETURN_IF_ERROR(Realize(contiguous));
    node = Stored(contiguous.uop());
  }
  if (node == nullptr) return absl::InternalError("Engine::Bytes: a clone has no buffer of its own");
  US_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, StoredBytes(node));
  const UOp& shown = *(contiguous.ok() ? contiguous : tensor).uop();
  if (shown.sizes().empty()) return bytes;
  US_ASSIGN_OR_RETURN(const Shape exists, uop::TrueShape(shown));
  return WithoutRoom(bytes, shown.shape(), exists, static_cast<size_t>(tensor.dtype().ScalarBytes()));
}

absl::StatusOr<std::vector<uint8_t>> Engine::StoredBytes(const UOpRef& node) {
  if (node->op() == Op::kMulti) {
    return JoinedBytes(*node, [&](const UOpRef& part) { return StoredBytes(WholeBuffer(part)); });
  }
  US_ASSIGN_OR_RETURN(Buffer * buffer, Storage(node, /*output=*/false));
  std::vector<uint8_t> bytes(buffer->bytes());
  US_RETURN_IF_ERROR(buffer->CopyOut(bytes.data(), bytes.size()));
  stats_.bytes_out += static_cast<int64_t>(bytes.size());
  return bytes;
}

absl::Status Engine::Synchronize() {
  absl::Status status;
  for (const std::string& name : devices_.Names()) {
    US_ASSIGN_OR_RETURN(const std::shared_ptr<Device> device, devices_.Find(name));
    status.Update(Annotate(device->Synchronize(), name));
  }
  return status;
}

void Engine::ResetStats() {
  stats_ = {};
  launches_.clear();
}

void Engine::ClearCaches() {
  schedules_.clear();
  programs_.clear();
}

}  // namespace understudy
