// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/kfd/drm.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "mockgpu/amd/kfd/user_memory.h"

namespace understudy::mockgpu::amd {
namespace {

// Layouts and numbers of drm.h and amdgpu_drm.h, which libc's headers do not include.
struct DrmVersion {
  int32_t major, minor, patch;
  uint64_t name_length, name, date_length, date, description_length, description;
};
struct AmdgpuInfo {
  uint64_t return_pointer;
  uint32_t return_size, query;
  uint32_t arguments[4];
};
struct AmdgpuVramGtt {
  uint64_t vram_size, vram_cpu_accessible_size, gtt_size;
};
constexpr uint32_t kVersion = 0x00, kAmdgpuInfo = 0x45;
constexpr uint32_t kInfoAccelWorking = 0x00, kInfoVramGtt = 0x14;

// The string is copied as far as the client has room; the length is the whole one's.
bool CopyString(const char* text, uint64_t* length, uint64_t to) {
  const uint64_t room = *length;
  *length = std::strlen(text);
  const uint64_t n = std::min(room, *length);
  return to == 0 || n == 0 || CopyToUser(to, text, n);
}

int Version(uint64_t user) {
  DrmVersion version{};
  if (!CopyFromUser(&version, user, sizeof version)) return -EFAULT;
  version.major = 3;
  version.minor = 54;
  version.patch = 0;
  if (!CopyString("amdgpu", &version.name_length, version.name) ||
      !CopyString("20150101", &version.date_length, version.date) ||
      !CopyString("AMD GPU", &version.description_length, version.description)) {
    return -EFAULT;
  }
  return CopyToUser(user, &version, sizeof version) ? 0 : -EFAULT;
}

int Info(Gpu& gpu, uint64_t user) {
  AmdgpuInfo info{};
  if (!CopyFromUser(&info, user, sizeof info)) return -EFAULT;
  if (info.return_size == 0 || info.return_pointer == 0) return -EINVAL;
  const auto answer = [&](const void* data, size_t size) {
    return CopyToUser(info.return_pointer, data, std::min<size_t>(size, info.return_size)) ? 0 : -EFAULT;
  };
  switch (info.query) {
    case kInfoAccelWorking: {
      const uint32_t working = 1;
      return answer(&working, sizeof working);
    }
    case kInfoVramGtt: {
      const AmdgpuVramGtt sizes{gpu.profile().vram_bytes, gpu.profile().vram_bytes, uint64_t{48} << 30};
      return answer(&sizes, sizeof sizes);
    }
    default:
      return -EINVAL;
  }
}

}  // namespace

int DrmIoctl(Gpu& gpu, unsigned long request, void* arg) {
  if (_IOC_TYPE(request) != 'd') return -ENOTTY;
  const uint64_t user = reinterpret_cast<uint64_t>(arg);
  switch (_IOC_NR(request)) {
    case kVersion:
      return Version(user);
    case kAmdgpuInfo:
      return Info(gpu, user);
    default:
      return -EINVAL;
  }
}

}  // namespace understudy::mockgpu::amd
