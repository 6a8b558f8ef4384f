// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/amd/kfd.h"

#include <fcntl.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/status.h"

namespace understudy::amd {

absl::StatusOr<std::unique_ptr<Kfd>> Kfd::Open(os::Syscalls& sys) {
  const int fd = sys.Open("/dev/kfd", O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    absl::Status s = os::ErrnoStatus(fd, "open /dev/kfd");
    return absl::Status(s.code(),
                        absl::StrCat(std::string(s.message()),
                                     "; the AMD device needs the amdgpu kernel driver and permission on its "
                                     "node (group render), or the mock machine in its place"));
  }
  return std::unique_ptr<Kfd>(new Kfd(sys, fd));
}

Kfd::~Kfd() { sys_.Close(fd_); }

absl::Status Kfd::Call(unsigned long request, const char* name, void* args, const std::string& detail) {
  // The kernel may interrupt a call that has had no effect yet; libhsakmt repeats it as we do. The bound
  // keeps a kernel that always interrupts from hanging the caller.
  constexpr int kTries = 100;
  int rc = 0;
  for (int i = 0; i < kTries; ++i) {
    rc = sys_.Ioctl(fd_, request, args);
    if (rc != -EINTR && rc != -EAGAIN) break;
    sys_.Pause();
  }
  if (rc >= 0) return absl::OkStatus();
  absl::Status s = os::ErrnoStatus(rc, absl::StrCat("ioctl ", name, " (", detail, ")"));
  // The kernel's words for "none left"; callers tell it from every other failure by the code.
  if (rc == -ENOMEM || rc == -ENOSPC) return absl::ResourceExhaustedError(std::string(s.message()));
  return s;
}

#define KFD_CALL(NAME, args, detail) Call(AMDKFD_IOC_##NAME, "AMDKFD_IOC_" #NAME, &(args), detail)

absl::StatusOr<kfd_ioctl_get_version_args> Kfd::GetVersion() {
  kfd_ioctl_get_version_args args = {};
  US_RETURN_IF_ERROR(KFD_CALL(GET_VERSION, args, "no argument"));
  return args;
}

absl::Status Kfd::AcquireVm(uint32_t gpu_id, int drm_fd) {
  kfd_ioctl_acquire_vm_args args = {};
  args.drm_fd = static_cast<uint32_t>(drm_fd);
  args.gpu_id = gpu_id;
  return KFD_CALL(ACQUIRE_VM, args, absl::StrCat("gpu_id ", gpu_id, ", drm fd ", drm_fd));
}

absl::StatusOr<kfd_process_device_apertures> Kfd::GetApertures(uint32_t gpu_id) {
  // num_of_nodes in: room in the array; out: entries that the kernel filled.
  std::vector<kfd_process_device_apertures> list(64);
  kfd_ioctl_get_process_apertures_new_args args = {};
  args.kfd_process_device_apertures_ptr = reinterpret_cast<uint64_t>(list.data());
  args.num_of_nodes = static_cast<uint32_t>(list.size());
  US_RETURN_IF_ERROR(
      KFD_CALL(GET_PROCESS_APERTURES_NEW, args, absl::StrCat("room for ", list.size(), " nodes")));
  for (uint32_t i = 0; i < args.num_of_nodes && i < list.size(); ++i) {
    if (list[i].gpu_id == gpu_id) return list[i];
  }
  return absl::NotFoundError(absl::StrCat("ioctl AMDKFD_IOC_GET_PROCESS_APERTURES_NEW: ", args.num_of_nodes,
                                          " entries, none for gpu_id ", gpu_id));
}

absl::StatusOr<kfd_ioctl_get_clock_counters_args> Kfd::GetClockCounters(uint32_t gpu_id) {
  kfd_ioctl_get_clock_counters_args args = {};
  args.gpu_id = gpu_id;
  US_RETURN_IF_ERROR(KFD_CALL(GET_CLOCK_COUNTERS, args, absl::StrCat("gpu_id ", gpu_id)));
  return args;
}

absl::Status Kfd::AllocMemory(kfd_ioctl_alloc_memory_of_gpu_args& args) {
  return KFD_CALL(ALLOC_MEMORY_OF_GPU, args,
                  absl::StrFormat("va 0x%x, %d bytes, flags 0x%08x", args.va_addr, args.size, args.flags));
}

absl::Status Kfd::FreeMemory(uint64_t handle) {
  kfd_ioctl_free_memory_of_gpu_args args = {};
  args.handle = handle;
  return KFD_CALL(FREE_MEMORY_OF_GPU, args, absl::StrFormat("handle 0x%x", handle));
}

absl::Status Kfd::MapMemory(uint64_t handle, uint32_t gpu_id) {
  kfd_ioctl_map_memory_to_gpu_args args = {};
  args.handle = handle;
  args.device_ids_array_ptr = reinterpret_cast<uint64_t>(&gpu_id);
  args.n_devices = 1;
  US_RETURN_IF_ERROR(
      KFD_CALL(MAP_MEMORY_TO_GPU, args, absl::StrFormat("handle 0x%x, gpu_id %d", handle, gpu_id)));
  if (args.n_success != 1) {
    return absl::InternalError(
        absl::StrFormat("ioctl AMDKFD_IOC_MAP_MEMORY_TO_GPU (handle 0x%x): mapped on %d of 1 devices", handle,
                        args.n_success));
  }
  return absl::OkStatus();
}

absl::Status Kfd::UnmapMemory(uint64_t handle, uint32_t gpu_id) {
  kfd_ioctl_unmap_memory_from_gpu_args args = {};
  args.handle = handle;
  args.device_ids_array_ptr = reinterpret_cast<uint64_t>(&gpu_id);
  args.n_devices = 1;
  US_RETURN_IF_ERROR(
      KFD_CALL(UNMAP_MEMORY_FROM_GPU, args, absl::StrFormat("handle 0x%x, gpu_id %d", handle, gpu_id)));
  if (args.n_success != 1) {
    return absl::InternalError(
        absl::StrFormat("ioctl AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU (handle 0x%x): unmapped on %d of 1 devices",
                        handle, args.n_success));
  }
  return absl::OkStatus();
}

absl::Status Kfd::CreateQueue(kfd_ioctl_create_queue_args& args) {
  return KFD_CALL(CREATE_QUEUE, args,
                  absl::StrFormat("type %d, ring 0x%x of %d bytes", args.queue_type, args.ring_base_address,
                                  args.ring_size));
}

absl::Status Kfd::DestroyQueue(uint32_t queue_id) {
  kfd_ioctl_destroy_queue_args args = {};
  args.queue_id = queue_id;
  return KFD_CALL(DESTROY_QUEUE, args, absl::StrCat("queue ", queue_id));
}

absl::StatusOr<kfd_ioctl_create_event_args> Kfd::CreateEvent(uint32_t type, uint32_t node_id,
                                                             uint64_t event_page_handle) {
  kfd_ioctl_create_event_args args = {};
  args.event_page_offset = event_page_handle;
  args.event_type = type;
  args.auto_reset = 1;
  args.node_id = node_id;
  US_RETURN_IF_ERROR(KFD_CALL(CREATE_EVENT, args, absl::StrCat("type ", type)));
  return args;
}

absl::Status Kfd::DestroyEvent(uint32_t event_id) {
  kfd_ioctl_destroy_event_args args = {};
  args.event_id = event_id;
  return KFD_CALL(DESTROY_EVENT, args, absl::StrCat("event ", event_id));
}

absl::StatusOr<bool> Kfd::WaitEvents(absl::Span<kfd_event_data> events, uint32_t timeout_ms) {
  kfd_ioctl_wait_events_args args = {};
  args.events_ptr = reinterpret_cast<uint64_t>(events.data());
  args.num_events = static_cast<uint32_t>(events.size());
  args.wait_for_all = 0;
  args.timeout = timeout_ms;
  US_RETURN_IF_ERROR(
      KFD_CALL(WAIT_EVENTS, args, absl::StrCat(events.size(), " events, timeout ", timeout_ms, " ms")));
  if (args.wait_result == KFD_IOC_WAIT_RESULT_FAIL) {
    return absl::InternalError(
        "ioctl AMDKFD_IOC_WAIT_EVENTS: wait_result is FAIL (an event no longer exists)");
  }
  return args.wait_result == KFD_IOC_WAIT_RESULT_COMPLETE;
}

}  // namespace understudy::amd
