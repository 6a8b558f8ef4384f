// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/amd/memory.h"

#include <sys/mman.h>

#include <iterator>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::amd {
namespace {

uint32_t Flags(MemoryKind kind, const MemoryOptions& options) {
  uint32_t flags = KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE;
  switch (kind) {
    case MemoryKind::kVram:
      flags |= KFD_IOC_ALLOC_MEM_FLAGS_VRAM;
      break;
    case MemoryKind::kGtt:
      flags |= KFD_IOC_ALLOC_MEM_FLAGS_GTT | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT |
               KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC;
      break;
    case MemoryKind::kUserptr:
      flags |=
          KFD_IOC_ALLOC_MEM_FLAGS_USERPTR | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC;
      break;
  }
  if (options.writable) flags |= KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE;
  if (options.executable) flags |= KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE;
  return flags;
}

}  // namespace

absl::StatusOr<GpuBuffer> GpuMemory::Allocate(size_t size, MemoryKind kind, const MemoryOptions& options) {
  US_CHECK(kind != MemoryKind::kUserptr) << "host memory goes through MapHost";
  if (size == 0 || size > (uint64_t{1} << 40)) {
    return absl::InvalidArgumentError(absl::StrCat("GPU allocation '", options.label, "' of ", size,
                                                   " bytes, expected 1 to ", uint64_t{1} << 40));
  }
  size = AlignUp(size, kPage);
  os::Syscalls& sys = kfd_.sys();
  // The host's address space is the GPU's too (shared virtual memory): reserving the range here keeps malloc
  // and the GPU from ever giving two meanings to one address.
  auto reserved = sys.Mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (!reserved.ok()) {
    return absl::Status(reserved.status().code(),
                        absl::StrCat("reserving addresses for '", options.label,
                                     "': ", std::string(reserved.status().message())));
  }
  void* const va = *reserved;
  auto unreserve = absl::MakeCleanup([&] { sys.Munmap(va, size); });
  US_ASSIGN_OR_RETURN(GpuBuffer buffer, AllocateAt(va, size, kind, Flags(kind, options), 0));
  std::move(unreserve).Cancel();
  Keep(buffer, options.label);
  return buffer;
}

absl::StatusOr<GpuBuffer> GpuMemory::MapHost(void* host, size_t size, const MemoryOptions& options) {
  const uint64_t address = reinterpret_cast<uint64_t>(host);
  if (address == 0 || address % kPage != 0 || size == 0 || size % kPage != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("mapping host memory 0x%x of %d bytes to the GPU: both must be multiples of %d",
                        address, size, kPage));
  }
  US_ASSIGN_OR_RETURN(GpuBuffer buffer, AllocateAt(host, size, MemoryKind::kUserptr,
                                                   Flags(MemoryKind::kUserptr, options), address));
  Keep(buffer, options.label);
  return buffer;
}

void GpuMemory::Keep(const GpuBuffer& buffer, const std::string& label) {
  live_[buffer.va] = {buffer, label};
  live_bytes_ += buffer.size;
}

absl::StatusOr<GpuBuffer> GpuMemory::AllocateAt(void* va, size_t size, MemoryKind kind, uint32_t flags,
                                                uint64_t mmap_offset) {
  kfd_ioctl_alloc_memory_of_gpu_args args = {};
  args.va_addr = reinterpret_cast<uint64_t>(va);
  args.size = size;
  args.gpu_id = gpu_id_;
  args.flags = flags;
  args.mmap_offset = mmap_offset;
  US_RETURN_IF_ERROR(kfd_.AllocMemory(args));
  auto release = absl::MakeCleanup([&] { kfd_.FreeMemory(args.handle).IgnoreError(); });

  GpuBuffer buffer = {args.va_addr, size, args.handle, kind, nullptr};
  if (kind == MemoryKind::kGtt) {
    US_ASSIGN_OR_RETURN(void* host, kfd_.sys().Mmap(va, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                                                    render_fd_, static_cast<int64_t>(args.mmap_offset)));
    buffer.host = static_cast<uint8_t*>(host);
  } else if (kind == MemoryKind::kUserptr) {
    buffer.host = static_cast<uint8_t*>(va);
  }
  US_RETURN_IF_ERROR(kfd_.MapMemory(args.handle, gpu_id_));
  std::move(release).Cancel();
  return buffer;
}

absl::Status GpuMemory::Forget(const GpuBuffer& buffer) {
  const auto it = live_.find(buffer.va);
  if (it == live_.end()) {
    return absl::InvalidArgumentError(absl::StrFormat("freeing 0x%x, which is not allocated", buffer.va));
  }
  live_bytes_ -= it->second.buffer.size;
  live_.erase(it);
  return absl::OkStatus();
}

absl::Status GpuMemory::UnmapFromHost(const GpuBuffer& buffer) {
  if (buffer.kind == MemoryKind::kUserptr) return absl::OkStatus();  // the caller's
  const int rc = kfd_.sys().Munmap(reinterpret_cast<void*>(buffer.va), buffer.size);
  if (rc >= 0) return absl::OkStatus();
  return os::ErrnoStatus(rc, absl::StrFormat("munmap 0x%x, %d bytes", buffer.va, buffer.size));
}

absl::Status GpuMemory::Free(const GpuBuffer& buffer) {
  US_RETURN_IF_ERROR(Forget(buffer));
  absl::Status status = kfd_.UnmapMemory(buffer.handle, gpu_id_);
  status.Update(kfd_.FreeMemory(buffer.handle));
  status.Update(UnmapFromHost(buffer));
  return status;
}

absl::Status GpuMemory::Abandon(const GpuBuffer& buffer) {
  US_RETURN_IF_ERROR(Forget(buffer));
  return UnmapFromHost(buffer);
}

void GpuMemory::Relabel(uint64_t va, const std::string& label) {
  const auto it = live_.find(va);
  US_CHECK(it != live_.end()) << "relabelling memory that is not allocated";
  it->second.label = label;
}

absl::Status GpuMemory::FreeAll() {
  absl::Status status;
  while (!live_.empty()) status.Update(Free(GpuBuffer(live_.begin()->second.buffer)));
  return status;
}

bool GpuMemory::Contains(uint64_t va) const {
  const auto after = live_.upper_bound(va);
  return after != live_.begin() && va - std::prev(after)->first < std::prev(after)->second.buffer.size;
}

std::string GpuMemory::Describe(uint64_t va) const {
  if (live_.empty()) return "no allocation exists";
  const auto text = [](const char* relation, uint64_t distance, const std::pair<const uint64_t, Live>& e) {
    return absl::StrFormat("0x%x bytes %s '%s' [0x%x, %d bytes]", distance, relation, e.second.label, e.first,
                           e.second.buffer.size);
  };
  const auto after = live_.upper_bound(va);
  const uint64_t below = after == live_.begin() ? UINT64_MAX : [&] {
    const auto& e = *std::prev(after);
    const uint64_t end = e.first + e.second.buffer.size;
    return va < end ? 0 : va - end;
  }();
  if (after != live_.begin() && below == 0)
    return text("into", va - std::prev(after)->first, *std::prev(after));
  if (after == live_.end() || (after != live_.begin() && below <= after->first - va)) {
    return text("past the end of", below, *std::prev(after));
  }
  return text("before", after->first - va, *after);
}

}  // namespace understudy::amd
