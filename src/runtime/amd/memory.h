// SPDX-License-Identifier: Apache-2.0
#pragma once
// GPU memory of one process on one device: reserves virtual addresses, asks the kernel driver for the pages,
// maps them on the GPU and, where the host may look, in the host. Used by the driver for rings, signals, code
// and buffers. Knows nothing of queues: the caller makes sure that the GPU is done with what it frees.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "src/runtime/amd/kfd.h"
#include "src/runtime/os/syscalls.h"

namespace understudy::amd {

enum class MemoryKind : uint8_t {
  kVram,     // device local; the host has the address but no mapping
  kGtt,      // host memory that the GPU reaches uncached: rings, signals, staging
  kUserptr,  // the caller's own pages, mapped to the GPU
};

struct MemoryOptions {
  bool writable = true;     // by the GPU
  bool executable = false;  // instruction fetch
  std::string label;        // appears in fault reports
};

struct GpuBuffer {
  uint64_t va = 0;  // same address on the GPU and, where mapped, in the host
  size_t size = 0;  // whole pages
  uint64_t handle = 0;
  MemoryKind kind = MemoryKind::kVram;
  uint8_t* host = nullptr;  // null for kVram
};

class GpuMemory {
 public:
  static constexpr size_t kPage = 4096;

  GpuMemory(Kfd& kfd, int render_fd, uint32_t gpu_id) : kfd_(kfd), render_fd_(render_fd), gpu_id_(gpu_id) {}
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;

  // `size` is rounded up to pages. On failure everything taken on the way is given back.
  absl::StatusOr<GpuBuffer> Allocate(size_t size, MemoryKind kind, const MemoryOptions& options = {});
  // `host` must be page aligned and stay valid until Free.
  absl::StatusOr<GpuBuffer> MapHost(void* host, size_t size, const MemoryOptions& options = {});
  // Goes through all steps even when one fails; the first failure is returned.
  absl::Status Free(const GpuBuffer& buffer);

  // Takes the host's mapping away and leaves the pages to the kernel, which frees them with the process.
  absl::Status Abandon(const GpuBuffer& buffer);
  // For buffers that change hands without going back to the kernel.
  void Relabel(uint64_t va, const std::string& label);
  // Whatever is still allocated, for the end of a device.
  absl::Status FreeAll();

  int64_t live_buffers() const { return static_cast<int64_t>(live_.size()); }
  uint64_t live_bytes() const { return live_bytes_; }

  bool Contains(uint64_t va) const;
  // "0x40 bytes past the end of 'input' [0x7f.., 4096 bytes]": what a reader of a fault report wants first.
  std::string Describe(uint64_t va) const;

 private:
  struct Live {
    GpuBuffer buffer;
    std::string label;
  };
  void Keep(const GpuBuffer& buffer, const std::string& label);
  absl::Status UnmapFromHost(const GpuBuffer& buffer);
  absl::Status Forget(const GpuBuffer& buffer);
  absl::StatusOr<GpuBuffer> AllocateAt(void* va, size_t size, MemoryKind kind, uint32_t flags,
                                       uint64_t mmap_offset);

  Kfd& kfd_;
  const int render_fd_;
  const uint32_t gpu_id_;
  std::map<uint64_t, Live> live_;  // by va
  uint64_t live_bytes_ = 0;
};

}  // namespace understudy::amd
