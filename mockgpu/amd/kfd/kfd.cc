// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/kfd/kfd.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "mockgpu/amd/kfd/user_memory.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::mockgpu::amd {
namespace {

// Apertures of GC 9 and later (kfd_flat_memory.c): LDS at 1 << 48, private memory at 2 << 48, 4 GiB each.
constexpr uint64_t kLdsBase = uint64_t{1} << 48, kScratchBase = uint64_t{2} << 48,
                   kApertureBytes = uint64_t{1} << 32;
constexpr uint64_t kGpuvmBase = 0x4000;

}  // namespace

Kfd::Kfd(Machine* machine, HostGate* gate, std::vector<std::unique_ptr<Gpu>> gpus, DeviceFile kfd_file)
    : machine_(machine),
      gate_(gate),
      gpus_(std::move(gpus)),
      kfd_file_(std::move(kfd_file)),
      events_(machine) {
  for (const auto& gpu : gpus_) {
    Gpu* raw = gpu.get();
    raw->on_interrupt = [this](uint32_t context, int valid_bits) {
      events_.SignalFromInterrupt(context, valid_bits);
    };
    raw->on_fault = [this, raw](FaultReport report) { OnFault(*raw, std::move(report)); };
  }
}

Kfd::~Kfd() {
  for (auto& [id, queue] : queues_) machine_->RemoveActor(queue.actor);
  queues_.clear();
  for (auto& [handle, buffer] : buffers_) {
    for (Gpu* gpu : buffer.mapped) (void)gpu->memory().Unmap(buffer.va, buffer.size);
    if (buffer.range.size != 0) buffer.gpu->render_file().Free(buffer.range);
  }
  for (const auto& gpu : gpus_) {
    if (gpu->doorbells().size != 0) kfd_file_.Free(gpu->doorbells());
  }
  if (event_page_.size != 0) kfd_file_.Free(event_page_);
  if (mmio_page_.size != 0) kfd_file_.Free(mmio_page_);
}

int Kfd::Ioctl(unsigned long request, void* arg, std::unique_lock<std::mutex>& lock) {
  ++ioctls_;
  const uint32_t number = _IOC_NR(request);
  const size_t user_bytes = _IOC_SIZE(request);
  int (Kfd::*handler)(void*, Lock&) = nullptr;
  size_t kernel_bytes = 0;
  bool reads = false, writes = false;
  int result = -EINVAL;
  switch (number) {
#define KFD_IOCTL(name, value, bytes, in, out, function) \
  case value:                                            \
    handler = &Kfd::function;                            \
    kernel_bytes = bytes;                                \
    reads = in;                                          \
    writes = out;                                        \
    break;
#define KFD_REFUSED(name, value, error, why) \
  case value:                                \
    result = -error;                         \
    break;
#include "mockgpu/amd/kfd/ioctls.inc"
    default:
      break;
  }
  if (handler != nullptr) {
    // Clients may be built against a longer or shorter struct: what they did not give reads as zero
    // (kfd_ioctl() in kfd_chardev.c).
    std::vector<uint64_t> data((std::max(user_bytes, kernel_bytes) + 7) / 8, 0);
    const uint64_t user = reinterpret_cast<uint64_t>(arg);
    if (reads && !CopyFromUser(data.data(), user, user_bytes)) {
      result = -EFAULT;
    } else {
      const int injected = machine_->Inject(FaultPoint::kIoctl, number);
      result = injected != 0 ? -injected : (this->*handler)(data.data(), lock);
      if (writes && injected == 0 && !CopyToUser(user, data.data(), user_bytes)) result = -EFAULT;
    }
  }
  machine_->Log(EventKind::kHostCall, number, static_cast<uint64_t>(static_cast<int64_t>(result)));
  return result;
}

Gpu* Kfd::FindGpu(uint32_t gpu_id) {
  for (const auto& gpu : gpus_) {
    if (gpu->gpu_id() == gpu_id) return gpu.get();
  }
  return nullptr;
}

int Kfd::GetVersion(void* data, Lock&) {
  auto* args = static_cast<kfd_ioctl_get_version_args*>(data);
  args->major_version = 1;
  args->minor_version = 14;
  return 0;
}

std::vector<kfd_process_device_apertures> Kfd::Apertures() const {
  std::vector<kfd_process_device_apertures> all;
  for (const auto& gpu : gpus_) {
    kfd_process_device_apertures aperture{};
    aperture.gpu_id = gpu->gpu_id();
    aperture.lds_base = kLdsBase;
    aperture.lds_limit = kLdsBase + kApertureBytes - 1;
    aperture.scratch_base = kScratchBase;
    aperture.scratch_limit = kScratchBase + kApertureBytes - 1;
    aperture.gpuvm_base = kGpuvmBase;
    aperture.gpuvm_limit = Gpu::kVirtualEnd - 1;
    all.push_back(aperture);
  }
  return all;
}

int Kfd::GetProcessApertures(void* data, Lock&) {
  auto* args = static_cast<kfd_ioctl_get_process_apertures_args*>(data);
  const auto all = Apertures();
  args->num_of_nodes = static_cast<uint32_t>(std::min<size_t>(all.size(), NUM_OF_SUPPORTED_GPUS));
  std::copy_n(all.begin(), args->num_of_nodes, args->process_apertures);
  return 0;
}

int Kfd::GetProcessAperturesNew(void* data, Lock&) {
  auto* args = static_cast<kfd_ioctl_get_process_apertures_new_args*>(data);
  const auto all = Apertures();
  if (args->num_of_nodes == 0) {
    args->num_of_nodes = static_cast<uint32_t>(all.size());
    return 0;
  }
  const size_t count = std::min<size_t>(args->num_of_nodes, all.size());
  args->num_of_nodes = static_cast<uint32_t>(count);
  return CopyToUser(args->kfd_process_device_apertures_ptr, all.data(), count * sizeof(all[0])) ? 0 : -EFAULT;
}

int Kfd::GetClockCounters(void* data, Lock&) {
  auto* args = static_cast<kfd_ioctl_get_clock_counters_args*>(data);
  Gpu* gpu = FindGpu(args->gpu_id);
  args->gpu_clock_counter = gpu == nullptr ? 0 : gpu->GpuClock();
  args->cpu_clock_counter = machine_->now();
  args->system_clock_counter = machine_->now();
  args->system_clock_freq = 1000000000;
  return 0;
}

int Kfd::AcquireVm(void* data, Lock&) {
  auto* args = static_cast<kfd_ioctl_acquire_vm_args*>(data);
  size_t index = 0;
  uint64_t description = 0;
  if (!find_render_fd(args->drm_fd, &index, &description)) return -EINVAL;
  Gpu* gpu = FindGpu(args->gpu_id);
  if (gpu == nullptr || gpus_[index].get() != gpu) return -EINVAL;
  if (gpu->vm_acquired) return gpu->drm_description == description ? 0 : -EBUSY;
  if (gpu->doorbells().size == 0) {
    auto range = kfd_file_.Allocate(Gpu::kDoorbellBytes);
    if (!range.ok()) return -ENOMEM;
    gpu->SetDoorbells(*range);
  }
  gpu->vm_acquired = true;
  gpu->drm_description = description;
  return 0;
}

int Kfd::SetMemoryPolicy(void* data, Lock&) {
  auto* args = static_cast<kfd_ioctl_set_memory_policy_args*>(data);
  if (args->default_policy > KFD_IOC_CACHE_POLICY_NONCOHERENT ||
      args->alternate_policy > KFD_IOC_CACHE_POLICY_NONCOHERENT) {
    return -EINVAL;
  }
  Gpu* gpu = FindGpu(args->gpu_id);
  if (gpu == nullptr) return -EINVAL;
  return gpu->vm_acquired ? 0 : -ESRCH;
}

int Kfd::SetTrapHandler(void* data, Lock&) {
  auto* args = static_cast<kfd_ioctl_set_trap_handler_args*>(data);
  Gpu* gpu = FindGpu(args->gpu_id);
  if (gpu == nullptr) return -EINVAL;
  return gpu->vm_acquired ? 0 : -ESRCH;
}

int Kfd::SetScratchBackingVa(void* data, Lock&) {
  auto* args = static_cast<kfd_ioctl_set_scratch_backing_va_args*>(data);
  Gpu* gpu = FindGpu(args->gpu_id);
  if (gpu == nullptr) return -EINVAL;
  return gpu->vm_acquired ? 0 : -ENODEV;
}

int Kfd::SetXnackMode(void* data, Lock&) {
  auto* args = static_cast<kfd_ioctl_set_xnack_mode_args*>(data);
  if (args->xnack_enabled < 0) {
    args->xnack_enabled = 0;
    return 0;
  }
  if (!queues_.empty()) return -EBUSY;
  // GC 10 and later cannot retry page faults, and the retries of GC 9.4 are not modelled.
  return args->xnack_enabled == 0 ? 0 : -EPERM;
}

int Kfd::RuntimeEnable(void* data, Lock&) {
  constexpr uint32_t kEnable = 1;
  auto* args = static_cast<RuntimeEnableArgs*>(data);
  if ((args->mode_mask & kEnable) == 0) {
    runtime_enabled_ = false;
    return 0;
  }
  if (runtime_enabled_) return -EBUSY;
  if (!queues_.empty()) return -EEXIST;
  runtime_enabled_ = true;
  return 0;
}

void Kfd::OnFault(Gpu& gpu, FaultReport report) {
  static constexpr uint32_t kEventTypes[] = {
#define QUEUE_FAULT(name, text, event) event,
#include "mockgpu/amd/queue/fault_classes.inc"
  };
  if (kEventTypes[static_cast<size_t>(report.fault)] == KFD_IOC_EVENT_MEMORY) {
    // Hardware reports the page and why translation failed (kfd_signal_vm_fault_event).
    kfd_hsa_memory_exception_data exception{};
    exception.gpu_id = gpu.gpu_id();
    exception.va = AlignDown(report.access.address, 4096);
    switch (report.access.kind) {
      case emu::MemoryFaultKind::kReadOnly:
        exception.failure.ReadOnly = 1;
        break;
      case emu::MemoryFaultKind::kNoExecute:
        exception.failure.NoExecute = 1;
        break;
      default:
        exception.failure.NotPresent = 1;
        break;
    }
    events_.RaiseMemoryException(exception);
  } else {
    kfd_hsa_hw_exception_data exception{};
    exception.gpu_id = gpu.gpu_id();
    exception.reset_type = KFD_HW_EXCEPTION_PER_ENGINE_RESET;
    exception.reset_cause = KFD_HW_EXCEPTION_GPU_HANG;
    exception.memory_lost = 0;
    events_.RaiseHwException(exception);
  }
  faults_.push_back(std::move(report));
}

}  // namespace understudy::mockgpu::amd
