// SPDX-License-Identifier: Apache-2.0
#pragma once
// /dev/kfd as typed calls: each ioctl of <linux/kfd_ioctl.h> that the driver uses, its failure a Status that
// names the ioctl, the argument that matters and the errno text. Holds the file descriptor and nothing else;
// what is allocated through it belongs to the caller.

#include <linux/kfd_ioctl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/runtime/os/syscalls.h"

namespace understudy::amd {

class Kfd {
 public:
  // NotFound with a hint when there is no /dev/kfd.
  static absl::StatusOr<std::unique_ptr<Kfd>> Open(os::Syscalls& sys);
  ~Kfd();
  Kfd(const Kfd&) = delete;
  Kfd& operator=(const Kfd&) = delete;

  os::Syscalls& sys() { return sys_; }
  int fd() const { return fd_; }

  absl::StatusOr<kfd_ioctl_get_version_args> GetVersion();
  absl::Status AcquireVm(uint32_t gpu_id, int drm_fd);
  // The entry of this GPU.
  absl::StatusOr<kfd_process_device_apertures> GetApertures(uint32_t gpu_id);
  absl::StatusOr<kfd_ioctl_get_clock_counters_args> GetClockCounters(uint32_t gpu_id);

  // Returns the handle and the mmap offset in the arguments. ResourceExhausted when memory has run out.
  absl::Status AllocMemory(kfd_ioctl_alloc_memory_of_gpu_args& args);
  absl::Status FreeMemory(uint64_t handle);
  absl::Status MapMemory(uint64_t handle, uint32_t gpu_id);
  absl::Status UnmapMemory(uint64_t handle, uint32_t gpu_id);

  absl::Status CreateQueue(kfd_ioctl_create_queue_args& args);
  absl::Status DestroyQueue(uint32_t queue_id);

  // event_page_handle: the first event of a process hands the kernel the page in which signal events have
  // slots.
  absl::StatusOr<kfd_ioctl_create_event_args> CreateEvent(uint32_t type, uint32_t node_id,
                                                          uint64_t event_page_handle);
  absl::Status DestroyEvent(uint32_t event_id);
  // True when at least one event is signalled; their data is filled in. False after `timeout_ms`.
  absl::StatusOr<bool> WaitEvents(absl::Span<kfd_event_data> events, uint32_t timeout_ms);

 private:
  Kfd(os::Syscalls& sys, int fd) : sys_(sys), fd_(fd) {}
  absl::Status Call(unsigned long request, const char* name, void* args, const std::string& detail);

  os::Syscalls& sys_;
  int fd_;
};

}  // namespace understudy::amd
