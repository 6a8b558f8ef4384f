// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device around a queue, as its packet processor sees it: memory, clock, interrupts, and whom to tell of
// a fault. The kernel side implements it once a GPU; fuzzers and tests implement it with plain memory.

#include <cstdint>

#include "emu/amd/core/dispatch.h"
#include "emu/memory/address_space.h"
#include "mockgpu/amd/queue/fault_report.h"
#include "mockgpu/amd/queue/generations.h"
#include "mockgpu/machine/machine.h"

namespace understudy::mockgpu::amd {

// Counted by everything on one GPU.
struct Counters {
  uint64_t pm4_packets[256] = {};   // by opcode
  uint64_t sdma_packets[256] = {};  // by opcode
  uint64_t dispatches = 0, workgroups = 0, waves = 0, wave_instructions = 0;
  emu::Traffic wave_memory;
  uint64_t sdma_bytes = 0;
  uint64_t interrupts = 0, faults = 0;
};

class QueueHost {
 public:
  virtual ~QueueHost() = default;
  virtual Machine& machine() = 0;
  virtual emu::AddressSpace& memory() = 0;
  virtual Counters& counters() = 0;

  // Whose packets its queues take.
  virtual Gc gc() const = 0;
  virtual Sdma sdma() const = 0;
  // How kernels run on this GPU.
  virtual emu::amd::Isa isa() = 0;
  virtual emu::amd::Dispatch::Options DispatchOptions() = 0;
  // Wave instructions that the whole GPU retires in a microsecond, and bytes that one copy engine moves: for
  // virtual time alone.
  virtual uint64_t WaveInstructionsPerMicrosecond() = 0;
  virtual uint64_t CopyBytesPerMicrosecond() = 0;

  // The free-running counter that timestamps are taken from (100 MHz on GC 9 to 12).
  virtual uint64_t GpuClock() = 0;
  // An interrupt of a queue with its context value, of which the low `valid_bits` bits exist.
  virtual void Interrupt(uint32_t queue_id, uint32_t context, int valid_bits) = 0;
  // The queue has stopped for good.
  virtual void QueueFaulted(FaultReport report) = 0;
};

}  // namespace understudy::mockgpu::amd
