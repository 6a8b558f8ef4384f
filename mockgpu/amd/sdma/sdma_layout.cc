// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/sdma/sdma_layout.h"

namespace understudy::mockgpu::amd {
namespace {

constexpr SdmaLayout kSdma4 = {
    .header = "vega10_sdma_pkt_open.h",
    .copy_has_cpv = false,
    .copy_count = 0xffc00000,      // 22 bits
    .copy_parameter = 0xfcfcffff,  // 17:16 and 25:24 swap
    .fill_header = 0x3fff0000,     // 31:30 fill size
    .fill_count = 0xffc00000,      // 22 bits
    .write_header = 0xffff0000,
    .write_count = 0xfcf00000,  // 25:24 swap
    .fence_header = 0xffff0000,
    .poll_header = 0x0bff0000,  // 26 HDP flush, 30:28 function, 31 memory
    .timestamp_header = 0xffff0000,
    .indirect_header = 0xfff0ff00,  // 19:16 VMID
};

constexpr SdmaLayout kSdma6 = {
    .header = "sdma_v6_0_0_pkt_open.h",
    .copy_has_cpv = false,
    .copy_count = 0xc0000000,      // 30 bits
    .copy_parameter = 0xe0e0ffff,  // 17:16 and 25:24 swap, 20:18 and 28:26 cache policies
    .fill_header = 0x28ff0000,     // 26:24 cache policy, 28 policy valid, 31:30 fill size
    .fill_count = 0xc0000000,      // 30 bits
    .write_header = 0xefff0000,    // 28 policy valid
    .write_count = 0xe0f00000,     // 25:24 swap, 28:26 cache policy
    // 18:16 memory type, 19, 20, 22, 23 coherence, 26:24 cache policy, 28 policy valid.
    .fence_header = 0xe8200000,
    // 22:20 cache policy, 24 policy valid, 26 HDP flush, 30:28 function, 31 memory.
    .poll_header = 0x0a8f0000,
    .timestamp_header = 0xe8ff0000,  // 26:24 cache policy, 28 policy valid
    .indirect_header = 0x7ff0ff00,   // 19:16 VMID, 31 privileged
};

constexpr SdmaLayout kSdma7 = [] {
  SdmaLayout layout = kSdma6;
  layout.copy_has_cpv = true;
  return layout;
}();

}  // namespace

const SdmaLayout& SdmaLayoutOf(Sdma sdma) {
  switch (sdma) {
    case Sdma::kSdma4:
      return kSdma4;
    case Sdma::kSdma6:
      return kSdma6;
    case Sdma::kSdma7:
      break;
  }
  return kSdma7;
}

}  // namespace understudy::mockgpu::amd
