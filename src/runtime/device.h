// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every device offers the Engine: memory, copies, a compiler from kernel graphs to programs, and
// launches that run in the order in which they were given. REF, CPU, NULL and AMD implement it; the Engine
// and tests use it and know a device by its name only.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/uop/uop.h"

namespace understudy {

struct Target;          // src/schedule/target.h
struct CompiledKernel;  // src/render: machine code as LLVM made it
struct ChoiceList;      // src/codegen: optimisation choices; nullptr = heuristic, empty = none
struct GraphPlan;       // src/runtime/graph.h
class CommandGraph;

// A range of device memory: plain numbers, copied freely, owned by nobody. `address` is what a kernel
// receives: a host pointer on CPU and REF, a GPU virtual address on AMD. `base` names the allocation that the
// range lies in.
struct Allocation {
  uint64_t address = 0;
  size_t bytes = 0;
  uint64_t base = 0;

  Allocation Slice(size_t offset, size_t length) const { return {address + offset, length, base}; }
};

// What a device has handed out through AllocateCached and what it keeps ready for the next caller.
struct MemoryUse {
  size_t in_use = 0, cached = 0;          // bytes
  std::map<size_t, int64_t> allocations;  // size -> how many are in use
  std::string Text() const;               // "1200 bytes in use (1 x 400, 2 x 400), 64 cached"
};

// Filled by Launch when the caller asks; asking makes the launch synchronous.
struct LaunchInfo {
  uint64_t device_ns = 0;          // between the device's own timestamps, or host time where it has none
  uint64_t begin_ns = 0;           // on the device's clock
  std::array<int64_t, 3> grid{};   // workgroups
  std::array<int64_t, 3> block{};  // work-items a workgroup
  // What the kernel did, where the device counts it (an emulated GPU does, hardware does not); 0 elsewhere:
  // instructions of waves, bytes that their lanes loaded and stored, and cache lines of 128 bytes that these
  // accesses touched, an instruction at a time.
  uint64_t instructions = 0, memory_bytes = 0, memory_lines = 0;
};

// A kernel compiled for one device. Belongs to its device and must not outlive it.
class Program {
 public:
  virtual ~Program() = default;
  virtual const std::string& name() const = 0;
  // What was compiled, for people: LLVM IR, or empty where there is no text.
  virtual const std::string& text() const = 0;
  // The machine code as it was loaded (a code object on AMD); empty where there is none.
  virtual absl::Span<const uint8_t> code() const { return {}; }
};

class Device : public std::enable_shared_from_this<Device> {
 public:
  virtual ~Device() = default;

  virtual const std::string& name() const = 0;  // "REF", "CPU", "NULL", "AMD"
  virtual const Target& target() const = 0;

  // At least 1 byte; contents undefined. ResourceExhausted when memory has run out.
  virtual absl::StatusOr<Allocation> Allocate(size_t bytes) = 0;
  // `allocation` is what Allocate returned. Work already launched may still use it: the device keeps the
  // memory until that work is done.
  virtual absl::Status Free(const Allocation& allocation) = 0;

  // The same through a cache of freed ranges of equal size (least recently freed first out, at most
  // `cache_limit` bytes; 0, the default, keeps none). When Allocate finds no memory, everything cached is
  // given back before the ResourceExhausted error, which lists the sizes in use. Thread safe.
  absl::StatusOr<Allocation> AllocateCached(size_t bytes);
  absl::Status FreeCached(const Allocation& allocation);
  absl::Status FlushCache();
  void set_cache_limit(size_t bytes);
  MemoryUse memory_use() const;

  // Where the host sees the range, for as long as it is allocated; the caller waits for the device first.
  // Unimplemented where the host does not reach the device's memory.
  virtual absl::StatusOr<void*> HostPointer(const Allocation& range);
  // Memory of the caller's as a range of this device: it must outlive the range and is never freed by it.
  virtual absl::StatusOr<Allocation> Wrap(void* pointer, size_t bytes);
  virtual absl::Status Unwrap(const Allocation& range);
  // A whole allocation of `owner` as this device sees it. Unimplemented when it does not.
  virtual absl::StatusOr<Allocation> MapFrom(Device& owner, const Allocation& allocation);
  virtual absl::Status Unmap(const Allocation& mapping);

  // Ordered with launches: CopyIn after what was launched before it, CopyOut after everything. When CopyIn
  // returns, `src` may be reused; when CopyOut returns, `dst` is filled.
  virtual absl::Status CopyIn(const Allocation& dst, const void* src, size_t bytes) = 0;
  virtual absl::Status CopyOut(void* dst, const Allocation& src, size_t bytes) = 0;
  // Between two ranges of this device that do not overlap.
  virtual absl::Status CopyWithin(const Allocation& dst, const Allocation& src, size_t bytes);

  // `kernel` is a SINK as the schedule makes it. Unimplemented names the op or type that the device lacks.
  virtual absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef& kernel,
                                                           const ChoiceList* choices) = 0;
  // Whether Compile is LowerKernel and RenderLlvm for target() and then Load: such kernels may be compiled
  // elsewhere (by a process that may crash).
  virtual bool loads_compiled() const { return false; }
  virtual absl::StatusOr<std::unique_ptr<Program>> Load(CompiledKernel&& compiled);
  // One buffer a PARAM in position order; vars in name order. Errors of the kernel itself (a fault) may be
  // reported by a later call, at the latest by Synchronize.
  virtual absl::Status Launch(Program& program, absl::Span<const Allocation> buffers,
                              absl::Span<const int64_t> vars, LaunchInfo* info) = 0;
  absl::Status Launch(Program& program, absl::Span<const Allocation> buffers) {
    return Launch(program, buffers, {}, nullptr);
  }
  // Launches that are given again and again, encoded once (graph.h). By default they are given one by one.
  virtual absl::StatusOr<std::unique_ptr<CommandGraph>> MakeGraph(GraphPlan plan);
  // Returns when all work is done, with the first error of it.
  virtual absl::Status Synchronize() = 0;
  // After an error that stopped the device: brings it back. Memory keeps its contents unless the error said
  // that they are lost. A device that cannot fail returns OK.
  virtual absl::Status Recover() { return absl::OkStatus(); }

 private:
  mutable std::mutex cache_mutex_;
  size_t cache_limit_ = 0;
  MemoryUse use_;                  // guarded by cache_mutex_, as are the two below
  std::vector<Allocation> cache_;  // least recently freed first
};

// The devices of one process, by name. An explicit object: nothing registers itself.
class DeviceRegistry {
 public:
  // A later device of the same name replaces the earlier one; buffers keep theirs alive.
  void Register(std::shared_ptr<Device> device);
  // NotFound lists the names that exist.
  absl::StatusOr<std::shared_ptr<Device>> Find(const std::string& name) const;
  std::vector<std::string> Names() const;

 private:
  std::map<std::string, std::shared_ptr<Device>> devices_;
};

}  // namespace understudy
