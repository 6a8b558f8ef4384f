// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/core/kernel_descriptor.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "src/base/bits.h"

namespace understudy::emu::amd {
namespace {

constexpr uint32_t kUserSgprs = 16;

// Word 3 of the private segment buffer's descriptor on gfx90a: INDEX_STRIDE 64 lanes (bits 22:21 = 3) and
// ADD_TID_ENABLE (bit 23); word 1 has SWIZZLE_ENABLE (bit 31). Elements are 4 bytes, so that dword d of lane
// l lies at (d * 64 + l) * 4, as flat scratch has it (LLVM SIISelLowering; MI200 ISA, "Buffer Addressing").
constexpr uint32_t kScratchWord3 = 3u << 21 | 1u << 23;
constexpr uint32_t kScratchSwizzle = 1u << 31;

bool HasPrivateSegment(const KernelDescriptor& kernel) { return (kernel.rsrc2 & 1) != 0; }

uint32_t LaneBytes(const KernelDescriptor& kernel, const KernelLaunch& launch) {
  return kernel.private_segment_fixed_size + (kernel.uses_dynamic_stack() ? launch.stack_per_lane : 0);
}

uint32_t ScratchGranule(Isa isa) { return IsCdna(isa) ? 1024 : 256; }

}  // namespace

absl::StatusOr<KernelDescriptor> ParseKernelDescriptor(const uint8_t* bytes, size_t size) {
  if (size < KernelDescriptor::kBytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("kernel descriptor of %d bytes, expected %d", size, KernelDescriptor::kBytes));
  }
  KernelDescriptor kernel;
  kernel.group_segment_fixed_size = LoadLE<uint32_t>(bytes);
  kernel.private_segment_fixed_size = LoadLE<uint32_t>(bytes + 4);
  kernel.kernarg_size = LoadLE<uint32_t>(bytes + 8);
  kernel.entry_offset = LoadLE<int64_t>(bytes + 16);
  kernel.rsrc3 = LoadLE<uint32_t>(bytes + 44);
  kernel.rsrc1 = LoadLE<uint32_t>(bytes + 48);
  kernel.rsrc2 = LoadLE<uint32_t>(bytes + 52);
  kernel.properties = LoadLE<uint16_t>(bytes + 56);
  kernel.kernarg_preload = LoadLE<uint16_t>(bytes + 58);
  for (size_t at = 12; at < 64; ++at) {
    if ((at >= 16 && at < 24) || (at >= 44 && at < 60) || bytes[at] == 0) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("kernel descriptor: reserved byte %d is 0x%02x, expected 0", at, bytes[at]));
  }
  return kernel;
}

int WaveSize(Isa isa, const KernelDescriptor& kernel) { return IsRdna(isa) && kernel.wave32() ? 32 : 64; }

uint32_t ScratchWaveBytes(Isa isa, uint32_t bytes_per_lane, int wave_size) {
  return static_cast<uint32_t>(
      AlignUp(AlignUp(bytes_per_lane, 4) * static_cast<uint64_t>(wave_size), ScratchGranule(isa)));
}

uint32_t TmpringSize(Isa isa, uint32_t waves, uint32_t wave_bytes) {
  return waves | wave_bytes / ScratchGranule(isa) << 12;
}

uint64_t ScratchBytes(Isa isa, const KernelDescriptor& kernel, const KernelLaunch& launch) {
  if (!HasPrivateSegment(kernel)) return 0;
  return uint64_t{launch.scratch_waves} *
         ScratchWaveBytes(isa, LaneBytes(kernel, launch), WaveSize(isa, kernel));
}

uint32_t LdsGranule(Isa isa) { return isa == Isa::kCdna4 ? 1280 : 512; }
uint32_t MaxLdsBytes(Isa isa) { return isa == Isa::kCdna4 ? 160 << 10 : 64 << 10; }

absl::StatusOr<DispatchRegs> MakeDispatchRegs(Isa isa, const KernelDescriptor& kernel,
                                              const KernelLaunch& launch, AddressSpace* memory) {
  const auto bad = [](const std::string& what) {
    return absl::InvalidArgumentError("kernel launch: " + what);
  };
  const bool architected_scratch = isa != Isa::kCdna2;
  if (architected_scratch && (kernel.private_segment_buffer() || kernel.flat_scratch_init())) {
    return bad(
        absl::StrFormat("the descriptor asks for a private segment buffer or flat scratch "
                        "initialisation, and %s has architected flat scratch",
                        IsaTarget(isa)));
  }
  if (IsCdna(isa) && kernel.wave32()) return bad(absl::StrFormat("wave32 on %s", IsaTarget(isa)));
  const bool can_preload = IsCdna(isa);
  if (!can_preload && kernel.kernarg_preload != 0) {
    return bad(absl::StrFormat("kernel arguments preloaded on %s", IsaTarget(isa)));
  }

  DispatchRegs regs;
  regs.pgm_addr = launch.descriptor_va + static_cast<uint64_t>(kernel.entry_offset);
  // Code for preloaded arguments opens with 256 bytes for firmware that does not preload.
  if (kernel.preload_dwords() != 0) regs.pgm_addr += 256;
  regs.rsrc1 = kernel.rsrc1;
  regs.rsrc3 = kernel.rsrc3;
  const uint64_t lds = uint64_t{kernel.group_segment_fixed_size} + launch.dynamic_lds;
  const uint64_t lds_blocks = AlignUp(lds, LdsGranule(isa)) / LdsGranule(isa);
  if (lds > MaxLdsBytes(isa)) {
    return bad(absl::StrFormat("%d bytes of LDS, expected at most %d", lds, MaxLdsBytes(isa)));
  }
  regs.rsrc2 = (kernel.rsrc2 & ~(0x1ffu << 15)) | static_cast<uint32_t>(lds_blocks) << 15;

  if (HasPrivateSegment(kernel)) {
    const uint32_t wave_bytes = ScratchWaveBytes(isa, LaneBytes(kernel, launch), WaveSize(isa, kernel));
    regs.scratch_base = launch.scratch_va;
    regs.tmpring_size = TmpringSize(isa, launch.scratch_waves, wave_bytes);
  }

  uint32_t next = 0;
  const auto push = [&](uint32_t value) {
    // Requests beyond the sixteenth register are ignored.
    if (next < kUserSgprs) regs.user_data[next] = value;
    ++next;
  };
  const auto push64 = [&](uint64_t value) {
    push(static_cast<uint32_t>(value));
    push(static_cast<uint32_t>(value >> 32));
  };
  if (kernel.private_segment_buffer()) {
    push(static_cast<uint32_t>(launch.scratch_va));
    push((static_cast<uint32_t>(launch.scratch_va >> 32) & 0xffff) | kScratchSwizzle);
    push(static_cast<uint32_t>(std::min<uint64_t>(ScratchBytes(isa, kernel, launch), UINT32_MAX)));
    push(kScratchWord3);
  }
  if (kernel.dispatch_ptr()) push64(launch.dispatch_packet_va);
  if (kernel.queue_ptr()) push64(launch.queue_va);
  if (kernel.kernarg_ptr()) push64(launch.kernarg_va);
  if (kernel.dispatch_id()) push64(launch.dispatch_id);
  if (kernel.flat_scratch_init()) push64(launch.scratch_va);
  if (kernel.private_segment_size()) push(static_cast<uint32_t>(AlignUp(LaneBytes(kernel, launch), 4)));
  for (uint32_t i = 0; i < kernel.preload_dwords(); ++i) {
    uint32_t word = 0;
    const uint64_t at = launch.kernarg_va + 4 * (uint64_t{kernel.preload_offset()} + i);
    if (memory == nullptr || !memory->Read(at, &word, 4)) {
      return bad(absl::StrFormat("preloaded kernel argument at 0x%x is not readable", at));
    }
    push(word);
  }
  if (std::min(next, kUserSgprs) > kernel.user_sgprs() || kernel.user_sgprs() > kUserSgprs) {
    return bad(
        absl::StrFormat("%d user SGPRs by the kernel's properties, %d by its program resources, at most %d",
                        next, kernel.user_sgprs(), kUserSgprs));
  }

  regs.initiator = kForceStartAt000 | kUseThreadDimensions | (WaveSize(isa, kernel) == 32 ? kCsW32En : 0);
  for (int i = 0; i < 3; ++i) {
    if (launch.workgroup[i] == 0 || launch.workgroup[i] > 1024) {
      return bad(absl::StrFormat("workgroup size %d in dimension %d", launch.workgroup[i], i));
    }
    regs.num_thread[i] = launch.workgroup[i];
    regs.dim[i] = launch.grid[i];
  }
  return regs;
}

}  // namespace understudy::emu::amd
