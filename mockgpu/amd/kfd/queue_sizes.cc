// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/kfd/queue_sizes.h"

#include <algorithm>

#include "src/base/bits.h"

namespace understudy::mockgpu::amd {
namespace {

constexpr uint64_t kPage = 4096;

uint64_t VgprBytesPerCu(uint32_t version) {
  switch (version) {
    case 90008:
    case 90010:
    case 90402:
    case 90500:
      return 0x80000;
    case 110000:
    case 110001:
    case 110501:
    case 120000:
    case 120001:
      return 0x60000;
    default:
      return 0x40000;
  }
}

}  // namespace

QueueSizes QueueSizesOf(const GpuProfile& gpu) {
  constexpr uint64_t kSgprBytes = 0x4000, kHwRegBytes = 0x1000, kSaveAreaHeader = 40, kDebuggerBytes = 32;
  const uint32_t version = gpu.gfx_target_version;
  const bool before_gfx10 = version < 100100;
  const uint64_t cus = gpu.compute_units() / gpu.num_xcc;
  const uint64_t waves = before_gfx10 ? std::min<uint64_t>(cus * 40, gpu.shader_engines() * 512) : cus * 32;
  const uint64_t lds_bytes = version == 90500 ? gpu.lds_size_kb * 1024 : 0x10000;
  const uint64_t groups =
      AlignUp(cus * (VgprBytesPerCu(version) + kSgprBytes + lds_bytes + kHwRegBytes), kPage);
  QueueSizes sizes;
  sizes.control_stack =
      static_cast<uint32_t>(AlignUp(kSaveAreaHeader + waves * (before_gfx10 ? 8 : 12) + 8, kPage));
  sizes.save_area = static_cast<uint32_t>(sizes.control_stack + groups);
  sizes.save_memory = AlignUp((sizes.save_area + AlignUp(waves * kDebuggerBytes, 64)) * gpu.num_xcc, kPage);
  return sizes;
}

}  // namespace understudy::mockgpu::amd
