// SPDX-License-Identifier: Apache-2.0
// Memory objects: allocate, free, map to GPUs. Checks and errno values follow kfd_chardev.c and
// amdgpu_amdkfd_gpuvm.c.
#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "mockgpu/amd/kfd/kfd.h"
#include "mockgpu/amd/kfd/user_memory.h"
#include "src/base/bits.h"

namespace understudy::mockgpu::amd {
namespace {

constexpr uint64_t kPage = 4096;
// What the kernel lets a process pin of host memory.
constexpr uint64_t kHostMemoryLimit = uint64_t{48} << 30;
constexpr uint32_t kMostDevices = 1 << 20;

constexpr uint32_t kVram = KFD_IOC_ALLOC_MEM_FLAGS_VRAM, kGtt = KFD_IOC_ALLOC_MEM_FLAGS_GTT,
                   kUserptr = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR, kDoorbell = KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL,
                   kMmio = KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP;

const char* KindName(uint32_t flags) {
  if (flags & kVram) return "VRAM";
  if (flags & kGtt) return "GTT";
  if (flags & kUserptr) return "user memory";
  if (flags & kDoorbell) return "doorbells";
  return "MMIO";
}

emu::Perm PermOf(uint32_t flags) {
  emu::Perm perm = emu::Perm::kRead;
  if (flags & (KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE | kDoorbell | kMmio)) perm = perm | emu::Perm::kWrite;
  if (flags & KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE) perm = perm | emu::Perm::kExec;
  return perm;
}

uint32_t GpuIdOfHandle(uint64_t handle) { return static_cast<uint32_t>(handle >> 32); }

}  // namespace

Buffer* Kfd::FindBuffer(uint64_t handle) {
  const auto it = buffers_.find(handle);
  return it == buffers_.end() ? nullptr : &it->second;
}

int Kfd::AllocMemory(void* data, Lock&) {
  auto* args = static_cast<kfd_ioctl_alloc_memory_of_gpu_args*>(data);
  if (args->size == 0) return -EINVAL;
  Gpu* gpu = FindGpu(args->gpu_id);
  if (gpu == nullptr) return -EINVAL;
  if (!gpu->vm_acquired) return -ENODEV;
  const uint32_t flags = args->flags;
  // A doubly mapped ring for AQL; docs/limits.md.
  if (flags & KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM) return -EINVAL;
  if ((flags & (kVram | kGtt | kUserptr | kDoorbell | kMmio)) == 0) return -EINVAL;
  if (args->size > Gpu::kVirtualEnd) return -ENOMEM;

  Buffer buffer;
  buffer.gpu = gpu;
  buffer.va = args->va_addr;
  buffer.size = AlignUp(args->size, kPage);
  buffer.flags = flags;
  const bool pages = (flags & (kVram | kGtt)) != 0;
  const bool of_host = (flags & kVram) == 0 && (flags & (kGtt | kUserptr)) != 0;
  if (of_host && buffer.size > kHostMemoryLimit - host_used_) return -ENOMEM;
  if (pages) {
    if ((flags & kVram) && buffer.size > gpu->profile().vram_bytes - gpu->vram_used) return -ENOMEM;
  } else if (flags & kUserptr) {
    if (args->mmap_offset == 0 || args->mmap_offset % kPage != 0) return -EINVAL;
    if (!UserRangeMapped(args->mmap_offset, buffer.size, (flags & KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE) != 0))
      return -EFAULT;
  } else if (args->size != ((flags & kDoorbell) ? Gpu::kDoorbellBytes : kPage)) {
    return -EINVAL;
  }
  const int injected = machine_->Inject(FaultPoint::kAllocate, buffer.size);
  if (injected != 0) return -injected;

  if (pages) {
    auto range = gpu->render_file().Allocate(buffer.size);
    if (!range.ok()) return -ENOMEM;
    buffer.range = *range;
    buffer.host = range->host;
    buffer.mmap_offset = range->offset;
    if (flags & kVram) {
      buffer.vram_charged = buffer.size;
      gpu->vram_used += buffer.size;
    }
  } else if (flags & kUserptr) {
    buffer.host = reinterpret_cast<uint8_t*>(args->mmap_offset);
    buffer.mmap_offset = args->mmap_offset;
  } else if (flags & kDoorbell) {
    buffer.host = gpu->doorbells().host;
    buffer.mmap_offset = gpu->doorbells().offset;
  } else {
    // The page of HDP flush registers: memory is coherent here, so stores to it change nothing.
    if (mmio_page_.size == 0) {
      auto range = kfd_file_.Allocate(kPage);
      if (!range.ok()) return -ENOMEM;
      mmio_page_ = *range;
    }
    buffer.host = mmio_page_.host;
    buffer.mmap_offset = mmio_page_.offset;
  }
  if (of_host) {
    buffer.host_charged = buffer.size;
    host_used_ += buffer.size;
  }
  const uint32_t object = next_object_++;
  buffer.handle = uint64_t{args->gpu_id} << 32 | object;
  buffer.name = absl::StrCat(KindName(flags), " #", object);
  args->handle = buffer.handle;
  args->mmap_offset = buffer.mmap_offset;
  machine_->Log(EventKind::kAllocate, buffer.va, buffer.size, flags);
  buffers_[buffer.handle] = std::move(buffer);
  return 0;
}

int Kfd::FreeMemory(void* data, Lock&) {
  auto* args = static_cast<kfd_ioctl_free_memory_of_gpu_args*>(data);
  if (event_page_handle_ != 0 && args->handle == event_page_handle_) return -EPERM;
  if (FindGpu(GpuIdOfHandle(args->handle)) == nullptr) return -EINVAL;
  Buffer* buffer = FindBuffer(args->handle);
  if (buffer == nullptr) return -EINVAL;
  if (!buffer->mapped.empty()) return -EBUSY;
  machine_->Log(EventKind::kFree, buffer->va, buffer->size);
  buffer->gpu->vram_used -= buffer->vram_charged;
  host_used_ -= buffer->host_charged;
  if (buffer->range.size != 0) buffer->gpu->render_file().Free(buffer->range);
  buffers_.erase(args->handle);
  return 0;
}

int Kfd::MapOn(Buffer& buffer, Gpu& gpu) {
  if (std::find(buffer.mapped.begin(), buffer.mapped.end(), &gpu) != buffer.mapped.end()) return 0;
  if (buffer.va == 0 || buffer.va % kPage != 0 || buffer.va >= Gpu::kVirtualEnd ||
      buffer.size > Gpu::kVirtualEnd - buffer.va) {
    return -EINVAL;
  }
  if (buffer.host == nullptr) return -EFAULT;  // user memory that has gone
  if (!gpu.memory().Map(buffer.va, buffer.size, buffer.host, PermOf(buffer.flags), buffer.name).ok())
    return -EINVAL;
  buffer.mapped.push_back(&gpu);
  machine_->Log(EventKind::kMap, buffer.va, buffer.size, gpu.gpu_id());
  return 0;
}

void Kfd::UnmapFrom(Buffer& buffer, Gpu& gpu) {
  const auto it = std::find(buffer.mapped.begin(), buffer.mapped.end(), &gpu);
  if (it == buffer.mapped.end()) return;
  buffer.mapped.erase(it);
  (void)gpu.memory().Unmap(buffer.va, buffer.size);
  machine_->Log(EventKind::kUnmap, buffer.va, buffer.size, gpu.gpu_id());
}

template <class Args>
int Kfd::MapOrUnmap(Args* args, bool map) {
  if (args->n_devices == 0 || args->n_success > args->n_devices) return -EINVAL;
  if (args->n_devices > kMostDevices) return -ENOMEM;
  std::vector<uint32_t> devices(args->n_devices);
  if (!CopyFromUser(devices.data(), args->device_ids_array_ptr, devices.size() * sizeof(uint32_t)))
    return -EFAULT;
  Gpu* owner = FindGpu(GpuIdOfHandle(args->handle));
  if (owner == nullptr) return -EINVAL;
  if (map && !owner->vm_acquired) return -ENODEV;
  Buffer* buffer = FindBuffer(args->handle);
  if (buffer == nullptr) return -ENOMEM;
  for (uint32_t i = args->n_success; i < args->n_devices; ++i) {
    Gpu* gpu = FindGpu(devices[i]);
    if (gpu == nullptr) return -EINVAL;
    if (map) {
      if (!gpu->vm_acquired) return -ENODEV;
      const int result = MapOn(*buffer, *gpu);
      if (result != 0) return result;
    } else {
      UnmapFrom(*buffer, *gpu);
    }
    args->n_success = i + 1;
  }
  return 0;
}

int Kfd::MapMemory(void* data, Lock&) {
  return MapOrUnmap(static_cast<kfd_ioctl_map_memory_to_gpu_args*>(data), true);
}

int Kfd::UnmapMemory(void* data, Lock&) {
  return MapOrUnmap(static_cast<kfd_ioctl_unmap_memory_from_gpu_args*>(data), false);
}

int Kfd::AvailableMemory(void* data, Lock&) {
  auto* args = static_cast<kfd_ioctl_get_available_memory_args*>(data);
  Gpu* gpu = FindGpu(args->gpu_id);
  if (gpu == nullptr) return -EINVAL;
  args->available = gpu->profile().vram_bytes - gpu->vram_used;
  return 0;
}

bool Kfd::MmapAllowedOnKfd(uint64_t offset, uint64_t length) const {
  const auto inside = [&](const DeviceFile::Range& range) {
    return range.size != 0 && offset >= range.offset && offset - range.offset < range.size &&
           length <= range.size - (offset - range.offset);
  };
  for (const auto& gpu : gpus_) {
    if (inside(gpu->doorbells())) return true;
  }
  return inside(event_page_) || inside(mmio_page_);
}

bool Kfd::MmapAllowedOnRender(const Gpu& gpu, uint64_t offset, uint64_t length) const {
  for (const auto& [handle, buffer] : buffers_) {
    if (buffer.gpu != &gpu || buffer.range.size == 0) continue;
    const DeviceFile::Range& range = buffer.range;
    if (offset >= range.offset && offset - range.offset < range.size &&
        length <= range.size - (offset - range.offset))
      return true;
  }
  return false;
}

void Kfd::HostRangeGone(uint64_t address, uint64_t length) {
  for (auto& [handle, buffer] : buffers_) {
    if ((buffer.flags & (kVram | kGtt | kUserptr)) != kUserptr || buffer.host == nullptr) continue;
    const uint64_t begin = reinterpret_cast<uint64_t>(buffer.host);
    if (address >= begin + buffer.size || begin >= address + length) continue;
    for (Gpu* gpu : buffer.mapped) (void)gpu->memory().Unmap(buffer.va, buffer.size);
    buffer.mapped.clear();
    buffer.host = nullptr;
  }
}

bool Kfd::NameAllocation(uint64_t va, const std::string& name) {
  for (auto& [handle, buffer] : buffers_) {
    if (va < buffer.va || va - buffer.va >= buffer.size) continue;
    buffer.name = name;
    for (Gpu* gpu : buffer.mapped) {
      // The label lives in the map.
      (void)gpu->memory().Unmap(buffer.va, buffer.size);
      (void)gpu->memory().Map(buffer.va, buffer.size, buffer.host, PermOf(buffer.flags), name);
    }
    return true;
  }
  return false;
}

}  // namespace understudy::mockgpu::amd
