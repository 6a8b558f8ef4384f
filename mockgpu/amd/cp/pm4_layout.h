// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the packets of a generation look like to its command processor, where generations differ: lengths and
// bits without a meaning. One value a generation; Pm4Queue holds the one of its GPU. Which packets exist is a
// column of pm4_packets.inc, which registers one of registers.inc.

#include <cstdint>

#include "mockgpu/amd/queue/generations.h"

namespace understudy::mockgpu::amd {

struct Pm4Layout {
  const char* header;  // of the Linux driver, that lists the opcodes
  // ACQUIRE_MEM: dwords after the header, and where the caches are named.
  uint32_t acquire_mem_dwords;
  int acquire_mem_caches;
  uint32_t acquire_mem_reserved;  // of that dword
  uint32_t release_mem_reserved;  // of dword 1
  // DISPATCH_INITIATOR: bits that decide how waves start, and bits without effect here.
  uint32_t initiator_state, initiator_hints;
};

const Pm4Layout& Pm4LayoutOf(Gc gc);

}  // namespace understudy::mockgpu::amd
