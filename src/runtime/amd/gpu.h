// SPDX-License-Identifier: Apache-2.0
#pragma once
// One AMD GPU, driven from user mode over /dev/kfd: memory, copies, code objects, launches, faults and
// recovery. All that it knows of the machine comes through os::Syscalls. AmdDevice gives it to the Engine;
// tests and the demo use it directly for kernels that our compiler did not make. Knows no tensors and no
// kernel graphs.
//
//   US_ASSIGN_OR_RETURN(auto gpu, AmdGpu::Open(sys));
//   US_ASSIGN_OR_RETURN(const LoadedCode* code, gpu->Load(file));
//   US_ASSIGN_OR_RETURN(auto kernel, code->Kernel("add"));
//   US_RETURN_IF_ERROR(gpu->Launch(kernel, {{grid}, {block}}, {GlobalPointer{a}, Scalar(n)}));
//   US_RETURN_IF_ERROR(gpu->Synchronize());
//
// Work runs in the order in which it was given, across both queues. Calls are thread safe.

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/runtime/amd/code_object.h"
#include "src/runtime/amd/generation.h"
#include "src/runtime/amd/kernel_args.h"
#include "src/runtime/amd/kfd.h"
#include "src/runtime/amd/memory.h"
#include "src/runtime/amd/pm4.h"
#include "src/runtime/amd/queue.h"
#include "src/runtime/amd/ring_allocator.h"
#include "src/runtime/amd/sdma.h"
#include "src/runtime/amd/topology.h"

namespace understudy::amd {

struct GpuOptions {
  size_t compute_ring_bytes = 256 << 10;
  size_t sdma_ring_bytes = 64 << 10;
  size_t kernarg_bytes = 1 << 20;
  size_t staging_bytes = 4 << 20;
  uint64_t scratch_limit = uint64_t{256} << 20;
  uint64_t cache_limit = uint64_t{256} << 20;          // bytes of freed memory kept for reuse
  uint64_t first_timeline = 0;                         // where the 64-bit timelines start
  uint64_t timeout_ns = uint64_t{60} * 1'000'000'000;  // without progress of the work waited for
};

struct FaultInfo {
  // kDriver: the queues could not be driven (an ioctl failed half way).
  enum class Kind : uint8_t { kMemory, kHardware, kTimeout, kDriver };
  Kind kind = Kind::kMemory;
  std::string work;      // "kernel 'add'", "copy of 64 bytes": the first work that had not finished
  uint64_t address = 0;  // kMemory
  bool not_present = false, read_only = false, no_execute = false, imprecise = false;
  bool memory_lost = false;  // kHardware: contents of all allocations are gone
  std::string message;
};

struct GpuStats {
  int64_t launches = 0, copies = 0, code_objects = 0, recoveries = 0;
  int64_t submissions = 0;  // to the compute queue: one doorbell each
  int64_t graphs = 0, graph_launches = 0, graph_patches = 0;
  int64_t bytes_in = 0, bytes_out = 0, bytes_within = 0;
  int64_t cache_hits = 0, compute_words = 0, sdma_words = 0;
  int64_t compute_ring_wraps = 0, sdma_ring_wraps = 0, kernarg_wraps = 0, timeline_wraps = 0;
};

// GPU clock ticks and what they are in time.
struct LaunchTimes {
  uint64_t begin_ticks = 0, end_ticks = 0;
  uint64_t begin_ns = 0, device_ns = 0;
};

// The GPU's clock and CLOCK_MONOTONIC's relative at one moment: lays device timestamps beside the host's.
struct ClockReading {
  uint64_t gpu_ticks = 0, host_ns = 0;
};

class LoadedCode;
class GpuGraph;  // gpu_graph.h
struct GraphProgress;

// Valid as long as its code object is loaded.
struct LoadedKernel {
  const KernelSymbol* symbol = nullptr;
  uint64_t entry_va = 0;
};

class LoadedCode {
 public:
  const CodeObject& object() const { return object_; }
  absl::StatusOr<LoadedKernel> Kernel(const std::string& name) const;
  // Address of a variable or function of the file.
  absl::StatusOr<uint64_t> SymbolAddress(const std::string& name) const;

 private:
  friend class AmdGpu;
  CodeObject object_;
  GpuBuffer memory_;
};

// A launch's arguments are followed by its dispatch packet, where the code wants one.
inline constexpr uint64_t kDispatchPacketBytes = 64;  // hsa_kernel_dispatch_packet_t
inline uint64_t DispatchPacketAt(const KernelDescriptor& d) {
  return (d.kernarg_size + kDispatchPacketBytes - 1) / kDispatchPacketBytes * kDispatchPacketBytes;
}
void WriteDispatchPacket(uint8_t* p, const KernelSymbol& kernel, const LaunchShape& shape,
                         uint64_t kernarg_va);

class AmdGpu {
 public:
  // The `index`-th GPU of the topology. NotFound when there is none; Unimplemented names a GPU that is not
  // in generations.inc. On failure everything taken on the way is given back.
  static absl::StatusOr<std::unique_ptr<AmdGpu>> Open(os::Syscalls& sys, int index = 0,
                                                      const GpuOptions& options = {});
  ~AmdGpu();
  AmdGpu(const AmdGpu&) = delete;
  AmdGpu& operator=(const AmdGpu&) = delete;

  const GpuNode& node() const { return node_; }
  std::string isa() const { return node_.isa(); }
  uint32_t lds_bytes() const { return node_.lds_size_in_kb * 1024; }

  // VRAM by default. ResourceExhausted when none is left even after the cache was emptied.
  absl::StatusOr<GpuBuffer> Allocate(size_t bytes, MemoryKind kind = MemoryKind::kVram,
                                     const MemoryOptions& options = {});
  absl::StatusOr<GpuBuffer> MapHost(void* host, size_t bytes, const MemoryOptions& options = {});
  // Work already given may still use the memory: it goes back to the kernel when that work is done.
  absl::Status Free(const GpuBuffer& buffer);

  absl::Status CopyIn(uint64_t dst, const void* src, size_t bytes);   // src may be reused on return
  absl::Status CopyOut(void* dst, uint64_t src, size_t bytes);        // complete on return
  absl::Status CopyWithin(uint64_t dst, uint64_t src, size_t bytes);  // no overlap

  absl::StatusOr<const LoadedCode*> Load(absl::Span<const uint8_t> file);
  absl::Status Unload(const LoadedCode* code);

  // `kernarg`: the explicit arguments; hidden ones are filled in. With `times` the call waits for the kernel.
  absl::Status LaunchRaw(const LoadedKernel& kernel, const LaunchShape& shape,
                         absl::Span<const uint8_t> kernarg, LaunchTimes* times = nullptr);
  // Typed arguments; __local sizes add to the shape's dynamic LDS.
  absl::Status Launch(const LoadedKernel& kernel, const LaunchShape& shape, const std::vector<ArgValue>& args,
                      LaunchTimes* times = nullptr);

  absl::StatusOr<ClockReading> ReadClocks();

  // Waits for everything. After a fault: Aborted with the report, as every call that needs the queues, until
  // Recover.
  absl::Status Synchronize();
  // The fault that stopped the device, if any.
  std::optional<FaultInfo> fault() const;
  // New queues in place of the old; unfinished work is dropped, allocations and code stay.
  absl::Status Recover();

  GpuStats stats() const;
  int64_t live_buffers() const;
  uint64_t live_bytes() const;  // cached memory included
  // Frees all memory kept for reuse.
  absl::Status TrimCache();
  // Destroys queues, events and memory, and closes files, with the first error. The destructor does it
  // otherwise.
  absl::Status Close();

 private:
  friend class GpuGraph;
  struct Timeline {
    volatile uint64_t* host = nullptr;
    uint64_t va = 0;
    uint64_t last = 0;  // last value handed out
    uint64_t Read() const { return *host; }
  };
  struct Pending {
    QueueKind queue;
    uint64_t value;
    std::string work;
    std::shared_ptr<const GraphProgress> graph;  // which of its kernels it is at
  };
  struct Freed {
    GpuBuffer buffer;
    MemoryOptions options;
    bool reusable;
    uint64_t compute, sdma;  // timeline values to pass before the kernel may have it back
  };

  AmdGpu(os::Syscalls& sys, const GpuOptions& options) : sys_(sys), options_(options) {}
  absl::Status Init(int index);
  absl::Status CreateEvents();
  absl::Status CreateQueues();

  Timeline& timeline(QueueKind q) { return q == QueueKind::kCompute ? compute_timeline_ : sdma_timeline_; }
  absl::Status CheckUsable() const;
  absl::StatusOr<uint64_t> NextValue(QueueKind queue);
  absl::Status WaitFor(QueueKind queue, uint64_t value);
  absl::Status WaitAll();
  absl::Status PollEvents(uint32_t timeout_ms);
  absl::Status FaultStatus() const;
  absl::Status RaiseFault(FaultInfo fault);
  std::string FirstPending();
  void ReleaseFinished();

  HwQueue::Idle WhileFull();
  absl::Status Submitted(absl::Status status);
  absl::Status SubmitCompute(pm4::Builder& packets, const std::string& work, uint64_t value,
                             std::shared_ptr<const GraphProgress> graph = nullptr);
  absl::StatusOr<uint64_t> SubmitCopy(uint64_t dst, uint64_t src, size_t bytes, const std::string& work);
  absl::StatusOr<uint64_t> AllocateRing(RingAllocator& ring, QueueKind queue, uint64_t size,
                                        uint64_t alignment);
  absl::Status CopyInLocked(uint64_t dst, const void* src, size_t bytes);
  absl::Status LaunchLocked(const LoadedKernel& kernel, const LaunchShape& shape,
                            absl::Span<const uint8_t> kernarg, LaunchTimes* times);
  // Waits for the copies before it, then sees what they wrote.
  void AfterCopies(pm4::Builder& packets);
  absl::StatusOr<std::vector<uint32_t>> UserSgprs(const KernelSymbol& kernel, uint64_t args_va,
                                                  uint64_t packet_va) const;
  void Dispatch(pm4::Builder& packets, const LoadedKernel& kernel, const LaunchShape& shape,
                absl::Span<const uint32_t> user) const;
  absl::Status CheckLaunch(const KernelSymbol& kernel, const LaunchShape& shape) const;
  absl::Status EnsureScratch(uint32_t bytes_per_lane);

  void Defer(const GpuBuffer& buffer, const MemoryOptions& options, bool reusable);
  absl::Status ReapFreed(uint64_t keep_bytes);
  absl::Status CloseLocked();

  os::Syscalls& sys_;
  const GpuOptions options_;
  mutable std::mutex mutex_;

  std::unique_ptr<Kfd> kfd_;
  GpuNode node_;
  Generation generation_;
  int render_fd_ = -1;
  std::unique_ptr<GpuMemory> memory_;
  Apertures apertures_;

  GpuBuffer signals_, event_page_, kernarg_, staging_, scratch_;
  std::vector<kfd_event_data> events_;  // signal, memory exception, hardware exception
  uint64_t mailbox_va_ = 0;
  uint64_t shared_event_page_ = 0;   // handle of another GPU's page of events, mapped here
  bool counted_event_page_ = false;  // among the users of that page, or of this one's own
  bool event_page_taken_ = false;    // by the kernel, for as long as the process lives
  std::unique_ptr<HwQueue> compute_, sdma_;
  Timeline compute_timeline_, sdma_timeline_;
  uint64_t compute_saw_sdma_ = 0, sdma_saw_compute_ = 0;  // values that the other queue already waits for
  RingAllocator kernarg_ring_{1}, staging_ring_{1};
  uint32_t scratch_per_lane_ = 0, tmpring_size_ = 0;
  uint64_t dispatches_ = 0;

  std::deque<Pending> pending_;
  std::optional<FaultInfo> fault_;
  std::list<std::unique_ptr<LoadedCode>> codes_;
  std::list<Freed> freed_;
  uint64_t freed_bytes_ = 0;
  std::map<uint64_t, MemoryOptions> options_of_;  // of live user buffers, by va
  GpuStats stats_;
};

}  // namespace understudy::amd
