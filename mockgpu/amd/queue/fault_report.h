// SPDX-License-Identifier: Apache-2.0
#pragma once
// Everything known about what stopped a queue: packet, wave, address. Hardware tells a process far less; this
// serves the reports of the mock machine and its tests. A report is complete when made and never changes.

#include <cstdint>
#include <string>

#include "emu/memory/address_space.h"

namespace understudy::mockgpu::amd {

enum class FaultClass : uint8_t {
#define QUEUE_FAULT(name, text, event) name,
#include "mockgpu/amd/queue/fault_classes.inc"
};
const char* FaultClassName(FaultClass fault);

struct FaultReport {
  FaultClass fault{};
  uint32_t gpu_id = 0, queue_id = 0;
  std::string engine;  // "compute" or "sdma"
  uint64_t time_ns = 0;

  // The packet concerned; for a wave, the dispatch packet.
  std::string packet;         // "DISPATCH_DIRECT"
  uint64_t packet_va = 0;     // of its header
  uint64_t packet_index = 0;  // dword in the ring or indirect buffer that holds it
  bool in_indirect_buffer = false;
  int dword = -1;     // of the packet, where one field is wrong
  std::string field;  // its name
  uint64_t field_value = 0;

  // The wave, where one faulted.
  bool has_wave = false;
  uint64_t kernel_va = 0;  // start of the program
  uint64_t pc = 0;
  std::string instruction;  // disassembly
  int workgroup[3] = {0, 0, 0};
  int wave = 0, lane = -1;
  uint64_t exec = 0;

  // The access, for kMemory.
  bool has_access = false;
  emu::MemoryFault access;

  std::string message;  // one sentence with all of the above
};

}  // namespace understudy::mockgpu::amd
