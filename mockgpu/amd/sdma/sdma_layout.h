// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the packets of a copy engine's generation look like, where generations differ: bits without a meaning,
// dword by dword. One value a generation; SdmaQueue holds the one of its GPU. Which packets exist is a column
// of sdma_packets.inc.

#include <cstdint>

#include "mockgpu/amd/queue/generations.h"

namespace understudy::mockgpu::amd {

struct SdmaLayout {
  const char* header;  // of the Linux driver, that lists the opcodes
  bool copy_has_cpv;   // COPY_LINEAR: header bit 19 announces an eighth dword, of compressed memory
  // Bits that must be zero.
  uint32_t copy_count, copy_parameter;
  uint32_t fill_header, fill_count;
  uint32_t write_header, write_count;
  uint32_t fence_header, poll_header, timestamp_header, indirect_header;
};

const SdmaLayout& SdmaLayoutOf(Sdma sdma);

}  // namespace understudy::mockgpu::amd
