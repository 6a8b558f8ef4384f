// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the 64-byte kernel descriptor of a code object and a grid to the registers of a dispatch, as the
// packet processor of each generation sets them (LLVM AMDGPUUsage, "Kernel Descriptor" and "Initial Kernel
// Execution State"). Used by tests, the conformance runner and mock machines. It loads no code and reads no
// memory but the kernel arguments that it is asked to preload.

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "emu/amd/core/dispatch.h"
#include "emu/amd/isa/opcode.h"
#include "emu/memory/address_space.h"

namespace understudy::emu::amd {

// The 64 bytes at `name.kd`.
struct KernelDescriptor {
  static constexpr size_t kBytes = 64;
  uint32_t group_segment_fixed_size = 0, private_segment_fixed_size = 0, kernarg_size = 0;
  int64_t entry_offset = 0;  // of the code, from the descriptor
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint16_t properties = 0, kernarg_preload = 0;

  // Which user SGPRs the code expects, in this order.
  bool private_segment_buffer() const { return (properties & 1) != 0; }
  bool dispatch_ptr() const { return (properties >> 1 & 1) != 0; }
  bool queue_ptr() const { return (properties >> 2 & 1) != 0; }
  bool kernarg_ptr() const { return (properties >> 3 & 1) != 0; }
  bool dispatch_id() const { return (properties >> 4 & 1) != 0; }
  bool flat_scratch_init() const { return (properties >> 5 & 1) != 0; }
  bool private_segment_size() const { return (properties >> 6 & 1) != 0; }
  bool wave32() const { return (properties >> 10 & 1) != 0; }
  bool uses_dynamic_stack() const { return (properties >> 11 & 1) != 0; }
  uint32_t preload_dwords() const { return kernarg_preload & 0x7fu; }
  uint32_t preload_offset() const { return kernarg_preload >> 7; }  // dwords
  uint32_t user_sgprs() const { return rsrc2 >> 1 & 0x1f; }
};

// InvalidArgument where fewer than 64 bytes are there or a reserved field is not zero.
absl::StatusOr<KernelDescriptor> ParseKernelDescriptor(const uint8_t* bytes, size_t size);

// What an AQL packet and the queue say.
struct KernelLaunch {
  uint64_t descriptor_va = 0;    // the code is at descriptor_va + entry_offset
  uint32_t grid[3] = {1, 1, 1};  // work-items; the last workgroup of a dimension may be partial
  uint32_t workgroup[3] = {1, 1, 1};
  uint64_t kernarg_va = 0;
  uint64_t dispatch_packet_va = 0, queue_va = 0, dispatch_id = 0;
  uint32_t dynamic_lds = 0;  // bytes beyond the descriptor's
  // Scratch memory of the queue, ScratchBytes() or more; unused when the kernel has no private segment.
  uint64_t scratch_va = 0;
  uint32_t scratch_waves = 0;      // that find room there
  uint32_t stack_per_lane = 4096;  // bytes beyond the descriptor's for a kernel with a dynamic stack
};

int WaveSize(Isa isa, const KernelDescriptor& kernel);
// Bytes of private memory of one wave, as COMPUTE_TMPRING_SIZE can express them.
uint32_t ScratchWaveBytes(Isa isa, uint32_t bytes_per_lane, int wave_size);
// COMPUTE_TMPRING_SIZE for `waves` times `wave_bytes` (a result of ScratchWaveBytes).
uint32_t TmpringSize(Isa isa, uint32_t waves, uint32_t wave_bytes);
// The scratch memory that `launch.scratch_waves` waves need.
uint64_t ScratchBytes(Isa isa, const KernelDescriptor& kernel, const KernelLaunch& launch);
// Bytes of an allocation unit of LDS, and what a workgroup may have.
uint32_t LdsGranule(Isa isa);
uint32_t MaxLdsBytes(Isa isa);

// `memory` serves kernel argument preloading. InvalidArgument, naming the field, where descriptor and launch
// do not fit each other or the generation.
absl::StatusOr<DispatchRegs> MakeDispatchRegs(Isa isa, const KernelDescriptor& kernel,
                                              const KernelLaunch& launch, AddressSpace* memory);

}  // namespace understudy::emu::amd
