// SPDX-License-Identifier: Apache-2.0
// Timelines, waiting, copies, faults and recovery.
//
// Each queue has a timeline: a 64-bit value in GTT memory that the end of each submission raises. Queues wait
// for each other by comparing 32 bits, which is all that POLL_REGMEM can, and SDMA's FENCE writes 32 bits. So
// whatever is in flight on a timeline lies in one span of 2^32 values; at the end of a span the host drains
// the queues and writes the upper half itself (NextValue).
#include <algorithm>
#include <atomic>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/status.h"
#include "src/runtime/amd/gpu.h"
#include "src/runtime/amd/gpu_graph.h"

namespace understudy::amd {
namespace {

const char* QueueName(QueueKind q) { return q == QueueKind::kCompute ? "compute" : "SDMA"; }

}  // namespace

absl::StatusOr<uint64_t> AmdGpu::NextValue(QueueKind queue) {
  Timeline& t = timeline(queue);
  if (static_cast<uint32_t>(t.last + 1) == 0) {
    US_RETURN_IF_ERROR(WaitAll());
    ++t.last;  // low half 0: every 32-bit wait for a later value is now unmet until that value is written
    *t.host = t.last;
    ++stats_.timeline_wraps;
    // Waits that name the other span would never be met; all of them are over.
    compute_saw_sdma_ = sdma_timeline_.last;
    sdma_saw_compute_ = compute_timeline_.last;
  }
  return ++t.last;
}

void AmdGpu::ReleaseFinished() {
  const uint64_t compute = compute_timeline_.Read(), sdma = sdma_timeline_.Read();
  kernarg_ring_.Release(compute);
  staging_ring_.Release(sdma);
  while (!pending_.empty() &&
         pending_.front().value <= (pending_.front().queue == QueueKind::kCompute ? compute : sdma)) {
    pending_.pop_front();
  }
}

std::string AmdGpu::FirstPending() {
  ReleaseFinished();
  if (pending_.empty()) return "no work";
  const Pending& first = pending_.front();
  return first.graph == nullptr ? first.work : absl::StrCat(first.graph->Current(), " of ", first.work);
}

absl::Status AmdGpu::WaitFor(QueueKind queue, uint64_t value) {
  US_RETURN_IF_ERROR(CheckUsable());
  const Timeline& t = timeline(queue);
  uint64_t seen = t.Read();
  uint64_t since = sys_.MonotonicNanos();
  // Spinning is quickest for short kernels; after that the kernel driver wakes us, on completion or on a
  // fault.
  for (uint64_t spins = 1; t.Read() < value; ++spins) {
    sys_.Pause();
    if (spins % 64 != 0) continue;
    US_RETURN_IF_ERROR(PollEvents(spins < 4096 ? 0 : 20));
    const uint64_t now = sys_.MonotonicNanos();
    if (const uint64_t current = t.Read(); current != seen) {
      seen = current;
      since = now;
    } else if (now - since > options_.timeout_ns) {
      FaultInfo fault;
      fault.kind = FaultInfo::Kind::kTimeout;
      fault.work = FirstPending();
      fault.message =
          absl::StrFormat("%s has not finished after %d ms: %s timeline is at %d, waited for %d; %s; %s",
                          fault.work, (now - since) / 1'000'000, QueueName(queue), current, value,
                          compute_->Describe(), sdma_->Describe());
      return RaiseFault(std::move(fault));
    }
  }
  std::atomic_thread_fence(std::memory_order_acquire);  // what the GPU wrote before it raised the value
  ReleaseFinished();
  return absl::OkStatus();
}

absl::Status AmdGpu::WaitAll() {
  US_RETURN_IF_ERROR(WaitFor(QueueKind::kCompute, compute_timeline_.last));
  return WaitFor(QueueKind::kSdma, sdma_timeline_.last);
}

absl::Status AmdGpu::PollEvents(uint32_t timeout_ms) {
  for (kfd_event_data& e : events_) {
    const uint32_t id = e.event_id;
    e = {};
    e.event_id = id;
  }
  US_ASSIGN_OR_RETURN(const bool signalled, kfd_->WaitEvents(absl::MakeSpan(events_), timeout_ms));
  if (!signalled) return absl::OkStatus();

  if (const kfd_hsa_memory_exception_data& m = events_[1].memory_exception_data; m.gpu_id != 0) {
    FaultInfo fault;
    fault.kind = FaultInfo::Kind::kMemory;
    fault.work = FirstPending();
    fault.address = m.va;
    fault.not_present = m.failure.NotPresent;
    fault.read_only = m.failure.ReadOnly;
    fault.no_execute = m.failure.NoExecute;
    fault.imprecise = m.failure.imprecise;
    std::string cause;
    const auto add = [&](bool set, const char* text) {
      if (set) absl::StrAppend(&cause, cause.empty() ? "" : ", ", text);
    };
    // The kernel reports whole pages, and has no bit for alignment.
    const bool mapped = memory_->Contains(m.va);
    add(fault.not_present && !mapped, "page not present");
    add(fault.not_present && mapped,
        "refused on a page that is present (a misaligned access, or one past the end of its "
        "allocation)");
    add(fault.read_only, "write to a read-only page");
    add(fault.no_execute, "fetch from a page without execute permission");
    add(m.ErrorType != KFD_MEM_ERR_NO_RAS, "memory error (RAS)");
    add(fault.imprecise, "the address is not exact");
    if (cause.empty()) cause = "no cause given";
    fault.message = absl::StrFormat("%s: memory fault at 0x%x: %s; the address is %s", fault.work, m.va,
                                    cause, memory_->Describe(m.va));
    return RaiseFault(std::move(fault));
  }
  if (const kfd_hsa_hw_exception_data& h = events_[2].hw_exception_data; h.gpu_id != 0) {
    FaultInfo fault;
    fault.kind = FaultInfo::Kind::kHardware;
    fault.work = FirstPending();
    fault.memory_lost = h.memory_lost != 0;
    fault.message = absl::StrFormat(
        "%s: hardware exception: %s, %s%s", fault.work,
        h.reset_cause == KFD_HW_EXCEPTION_ECC ? "uncorrectable memory error" : "a wave stopped or hung",
        h.reset_type == KFD_HW_EXCEPTION_WHOLE_GPU_RESET ? "whole GPU reset" : "engine reset",
        fault.memory_lost ? ", memory contents lost" : "");
    return RaiseFault(std::move(fault));
  }
  return absl::OkStatus();
}

absl::Status AmdGpu::RaiseFault(FaultInfo fault) {
  fault_ = std::move(fault);
  return FaultStatus();
}

absl::Status AmdGpu::FaultStatus() const {
  const std::string text =
      absl::StrCat("AMD ", isa(), ": ", fault_->message, " (Recover brings the device back)");
  return fault_->kind == FaultInfo::Kind::kTimeout ? absl::DeadlineExceededError(text)
                                                   : absl::AbortedError(text);
}

std::optional<FaultInfo> AmdGpu::fault() const {
  std::lock_guard lock(mutex_);
  return fault_;
}

absl::Status AmdGpu::Synchronize() {
  std::lock_guard lock(mutex_);
  US_RETURN_IF_ERROR(CheckUsable());
  US_RETURN_IF_ERROR(WaitAll());
  return ReapFreed(options_.cache_limit);
}

absl::Status AmdGpu::Recover() {
  std::lock_guard lock(mutex_);
  if (memory_ == nullptr) return absl::FailedPreconditionError("the AMD GPU is closed");
  const bool memory_lost = fault_ && fault_->memory_lost;
  if (!fault_) {
    US_RETURN_IF_ERROR(WaitAll());  // nothing is wrong: nothing may be dropped
  }
  // Until the end of this function the device counts as stopped.
  if (!fault_) {
    fault_.emplace();
    fault_->kind = FaultInfo::Kind::kDriver;
    fault_->message = "recovery did not finish";
  }
  absl::Status status;
  for (std::unique_ptr<HwQueue>* queue : {&compute_, &sdma_}) {
    if (*queue == nullptr) continue;
    (queue == &compute_ ? stats_.compute_ring_wraps : stats_.sdma_ring_wraps) +=
        static_cast<int64_t>((*queue)->wraps());
    status.Update((*queue)->Close());
    queue->reset();
  }
  US_RETURN_IF_ERROR(status);
  // What was submitted and never ran counts as passed: nobody may wait for it any more.
  for (Timeline* t : {&compute_timeline_, &sdma_timeline_}) *t->host = t->last;
  compute_saw_sdma_ = sdma_timeline_.last;
  sdma_saw_compute_ = compute_timeline_.last;
  pending_.clear();
  ReleaseFinished();
  // Events of the dropped work (several waves may have faulted) must not blame later work.
  const FaultInfo cause = *fault_;
  PollEvents(0).IgnoreError();
  fault_ = cause;
  US_RETURN_IF_ERROR(CreateQueues());
  fault_.reset();
  ++stats_.recoveries;
  if (memory_lost) {
    for (const auto& code : codes_) {
      const std::vector<uint8_t> image = code->object_.Image(code->memory_.va);
      US_RETURN_IF_ERROR(CopyInLocked(code->memory_.va, image.data(), image.size()));
    }
  }
  return ReapFreed(options_.cache_limit);
}

absl::Status AmdGpu::SubmitCompute(pm4::Builder& packets, const std::string& work, uint64_t value,
                                   std::shared_ptr<const GraphProgress> graph) {
  packets.ReleaseMem64(compute_timeline_.va, value);
  packets.ReleaseMemInterrupt(mailbox_va_, events_[0].event_id);
  pending_.push_back({QueueKind::kCompute, value, work, std::move(graph)});
  ++stats_.submissions;
  stats_.compute_words += static_cast<int64_t>(packets.size());
  return Submitted(compute_->Submit(packets.words(), {}, WhileFull()));
}

HwQueue::Idle AmdGpu::WhileFull() {
  return [this, spins = uint64_t{0}, since = sys_.MonotonicNanos()]() mutable {
    if (++spins % 64 != 0) return absl::OkStatus();
    US_RETURN_IF_ERROR(PollEvents(spins < 4096 ? 0 : 20));
    if (sys_.MonotonicNanos() - since <= options_.timeout_ns) return absl::OkStatus();
    return absl::DeadlineExceededError(
        absl::StrCat("no room in the ring: ", compute_->Describe(), "; ", sdma_->Describe()));
  };
}

// A value was handed out that nothing will ever signal: the queues are of no more use.
absl::Status AmdGpu::Submitted(absl::Status status) {
  if (status.ok() || fault_) return status;
  FaultInfo fault;
  fault.kind = FaultInfo::Kind::kDriver;
  fault.work = FirstPending();
  fault.message = absl::StrCat("submitting work failed: ", std::string(status.message()));
  return RaiseFault(std::move(fault));
}

absl::StatusOr<uint64_t> AmdGpu::SubmitCopy(uint64_t dst, uint64_t src, size_t bytes,
                                            const std::string& work) {
  sdma::Builder packets(generation_.sdma);
  US_ASSIGN_OR_RETURN(const uint64_t value, NextValue(QueueKind::kSdma));
  if (sdma_saw_compute_ != compute_timeline_.last) {
    packets.WaitMemGreaterEqual(compute_timeline_.va, static_cast<uint32_t>(compute_timeline_.last));
    sdma_saw_compute_ = compute_timeline_.last;
  }
  packets.Copy(dst, src, bytes);
  packets.Fence(sdma_timeline_.va, static_cast<uint32_t>(value));
  packets.Fence(mailbox_va_, events_[0].event_id);
  packets.Trap(events_[0].event_id);
  pending_.push_back({QueueKind::kSdma, value, work, nullptr});
  stats_.sdma_words += static_cast<int64_t>(packets.words().size());
  ++stats_.copies;
  US_RETURN_IF_ERROR(Submitted(sdma_->Submit(packets.words(), packets.packets(), WhileFull())));
  return value;
}

absl::StatusOr<uint64_t> AmdGpu::AllocateRing(RingAllocator& ring, QueueKind queue, uint64_t size,
                                              uint64_t alignment) {
  if (size > ring.capacity()) {
    return absl::InvalidArgumentError(absl::StrCat(size, " bytes of a ring of ", ring.capacity()));
  }
  ReleaseFinished();
  for (;;) {
    if (const auto offset = ring.TryAllocate(size, alignment)) return *offset;
    const auto oldest = ring.OldestValue();
    US_CHECK(oldest.has_value()) << "a ring with nothing in flight has no room for " << size << " bytes";
    US_RETURN_IF_ERROR(WaitFor(queue, *oldest));
  }
}

absl::Status AmdGpu::CopyInLocked(uint64_t dst, const void* src, size_t bytes) {
  US_RETURN_IF_ERROR(CheckUsable());
  const auto* from = static_cast<const uint8_t*>(src);
  stats_.bytes_in += static_cast<int64_t>(bytes);
  const size_t chunk = staging_.size / 4;
  while (bytes > 0) {
    const size_t n = std::min(bytes, chunk);
    US_ASSIGN_OR_RETURN(const uint64_t offset, AllocateRing(staging_ring_, QueueKind::kSdma, n, 64));
    std::memcpy(staging_.host + offset, from, n);
    US_ASSIGN_OR_RETURN(
        const uint64_t value,
        SubmitCopy(dst, staging_.va + offset, n, absl::StrCat("copy of ", n, " bytes to the device")));
    staging_ring_.Retire(value);
    dst += n;
    from += n;
    bytes -= n;
  }
  return absl::OkStatus();
}

absl::Status AmdGpu::CopyIn(uint64_t dst, const void* src, size_t bytes) {
  std::lock_guard lock(mutex_);
  return CopyInLocked(dst, src, bytes);
}

absl::Status AmdGpu::CopyOut(void* dst, uint64_t src, size_t bytes) {
  std::lock_guard lock(mutex_);
  US_RETURN_IF_ERROR(CheckUsable());
  auto* to = static_cast<uint8_t*>(dst);
  stats_.bytes_out += static_cast<int64_t>(bytes);
  const size_t chunk = staging_.size / 4;
  // Two chunks in flight: the engine copies one while the host takes the other.
  struct Chunk {
    uint64_t offset, value;
    size_t bytes;
  };
  std::deque<Chunk> flight;
  while (bytes > 0 || !flight.empty()) {
    if (bytes > 0 && flight.size() < 2) {
      const size_t n = std::min(bytes, chunk);
      US_ASSIGN_OR_RETURN(const uint64_t offset, AllocateRing(staging_ring_, QueueKind::kSdma, n, 64));
      US_ASSIGN_OR_RETURN(
          const uint64_t value,
          SubmitCopy(staging_.va + offset, src, n, absl::StrCat("copy of ", n, " bytes from the device")));
      flight.push_back({offset, value, n});
      src += n;
      bytes -= n;
      continue;
    }
    const Chunk c = flight.front();
    flight.pop_front();
    US_RETURN_IF_ERROR(WaitFor(QueueKind::kSdma, c.value));
    std::memcpy(to, staging_.host + c.offset, c.bytes);
    to += c.bytes;
    // Only now: until the host has read them the bytes are in use, whatever the timeline says. (The chunk
    // behind it is retired along with it, but two quarters of the ring cannot be handed out again before it
    // is read.)
    staging_ring_.Retire(c.value);
  }
  return absl::OkStatus();
}

absl::Status AmdGpu::CopyWithin(uint64_t dst, uint64_t src, size_t bytes) {
  std::lock_guard lock(mutex_);
  US_RETURN_IF_ERROR(CheckUsable());
  if (bytes == 0) return absl::OkStatus();
  if (dst < src + bytes && src < dst + bytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("copy of %d bytes from 0x%x to 0x%x: the ranges overlap", bytes, src, dst));
  }
  stats_.bytes_within += static_cast<int64_t>(bytes);
  return SubmitCopy(dst, src, bytes, absl::StrCat("copy of ", bytes, " bytes on the device")).status();
}

}  // namespace understudy::amd
