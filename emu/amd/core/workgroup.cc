// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/core/workgroup.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_format.h"
#include "emu/amd/core/kernel_descriptor.h"
#include "src/base/bits.h"

namespace understudy::emu::amd {
namespace {

constexpr uint32_t kMaxArchVgprs = 256, kMaxUnifiedVgprs = 512;
constexpr uint32_t kMaxGroupThreads = 1024;
constexpr uint32_t kCdnaSgprs = 102;
// TTMPs that name the wave to trap handlers and debuggers. TTMP8-10: workgroup id, TTMP11: wave in group
// (ROCm debugger interface). RDNA4 supplies the ids to every program there: TTMP9 x, TTMP7 z:y, TTMP8 29:25
// the wave (LLVM AMDGPUUsage, architected SGPRs).
constexpr int kTtmp7 = kTtmp0 + 7, kTtmp8 = kTtmp0 + 8, kTtmp9 = kTtmp0 + 9, kTtmp11 = kTtmp0 + 11;

// STATUS fields (RDNA3 ISA, "STATUS register").
constexpr uint32_t kStatusInWorkgroup = 1u << 11;
constexpr uint32_t kStatusValid = 1u << 16;

size_t StoredVgprs(Isa isa) { return IsCdna(isa) ? kMaxUnifiedVgprs : kMaxArchVgprs; }

// MODE as COMPUTE_PGM_RSRC1 asks for it: FLOAT_MODE and FP16_OVFL; before RDNA4 also DX10_CLAMP and
// IEEE_MODE, whose bits mean other things there.
uint32_t InitialMode(Isa isa, uint32_t rsrc1) {
  uint32_t mode = static_cast<uint32_t>(Bits(rsrc1, 19, 12) | Bits(rsrc1, 26, 26) << 23);
  if (isa != Isa::kRdna4) mode |= static_cast<uint32_t>(Bits(rsrc1, 21, 21) << 8 | Bits(rsrc1, 23, 23) << 9);
  return mode;
}

// Registers and LDS of every launch are filled: at the speed of memset and memcpy.
void FillWords(uint32_t* words, size_t count, uint32_t value) {
  if (count == 0) return;
  if (value == (value & 0xff) * 0x01010101u) {
    std::memset(words, static_cast<int>(value & 0xff), 4 * count);
    return;
  }
  words[0] = value;
  for (size_t done = 1; done < count; done *= 2) {
    std::memcpy(words + done, words, 4 * std::min(done, count - done));
  }
}

}  // namespace

std::string LaunchPlan::Decode(Isa generation, const DispatchRegs& registers, const Dispatch::Options& opts) {
  isa = generation;
  regs = registers;
  options = opts;
  std::string wrong = DecodeRegisters();
  if (wrong.empty()) wrong = DecodeGrid();
  if (wrong.empty()) wrong = DecodeScratch();
  return wrong;
}

std::string LaunchPlan::DecodeRegisters() {
  wave_size = (regs.initiator & kCsW32En) != 0 ? 32 : 64;
  if (IsCdna(isa)) {
    if (wave_size == 32)
      return absl::StrFormat("CS_W32_EN, and %s has waves of 64 lanes only", IsaTarget(isa));
    // COMPUTE_PGM_RSRC1.VGPRS counts blocks of 8 of the unified file; RSRC3.ACCUM_OFFSET splits it.
    vgpr_granule = 8;
    const uint32_t total = static_cast<uint32_t>(Bits(regs.rsrc1, 5, 0) + 1) * vgpr_granule;
    const uint32_t offset = static_cast<uint32_t>(Bits(regs.rsrc3, 5, 0) + 1) * 4;
    if (offset > total) {
      return absl::StrFormat(
          "COMPUTE_PGM_RSRC3.ACCUM_OFFSET is %d, expected at most the %d registers of RSRC1.VGPRS", offset,
          total);
    }
    num_vgprs = offset;
    num_agprs = std::min(total - offset, kMaxArchVgprs);
    // SGPRS counts blocks of 8, given out by 16.
    num_sgprs =
        std::min<uint32_t>(static_cast<uint32_t>(AlignUp((Bits(regs.rsrc1, 9, 6) + 1) * 8, 16)), kCdnaSgprs);
    if (Bits(regs.rsrc3, 16, 16) != 0 && Bits(regs.rsrc2, 23, 15) != 0) {
      return "COMPUTE_PGM_RSRC3.TG_SPLIT with LDS: waves of a split workgroup have none";
    }
  } else {
    // Blocks of 8 (wave32) or 4 (wave64).
    vgpr_granule = wave_size == 32 ? 8 : 4;
    num_vgprs = static_cast<uint32_t>(Bits(regs.rsrc1, 5, 0) + 1) * vgpr_granule;
    if (num_vgprs > kMaxArchVgprs) {
      return absl::StrFormat("COMPUTE_PGM_RSRC1.VGPRS asks for %d registers, expected at most %d", num_vgprs,
                             kMaxArchVgprs);
    }
    num_sgprs = kSgprCount;
  }
  if (isa == Isa::kRdna3 || isa == Isa::kRdna35) {
    // COMPUTE_PGM_RSRC3 on GFX11: SHARED_VGPR_COUNT 3:0, INST_PREF_SIZE 9:4, TRAP_ON_START 10,
    // TRAP_ON_END 11.
    if (Bits(regs.rsrc3, 3, 0) != 0)
      return "COMPUTE_PGM_RSRC3.SHARED_VGPR_COUNT is not 0: shared VGPRs are not modelled";
    if (Bits(regs.rsrc3, 11, 10) != 0)
      return "COMPUTE_PGM_RSRC3 asks for a trap at start or end, and there is no handler";
  }
  const uint32_t lds_limit = options.max_lds_bytes != 0 ? options.max_lds_bytes : MaxLdsBytes(isa);
  lds_bytes = static_cast<uint32_t>(Bits(regs.rsrc2, 23, 15)) * LdsGranule(isa);
  if (lds_bytes > lds_limit) {
    return absl::StrFormat("COMPUTE_PGM_RSRC2.LDS_SIZE asks for %d bytes, expected at most %d", lds_bytes,
                           lds_limit);
  }
  if (options.trap_handler % 256 != 0 || options.trap_memory % 256 != 0) {
    return absl::StrFormat("trap handler 0x%x and its memory 0x%x are not multiples of 256",
                           options.trap_handler, options.trap_memory);
  }
  if (isa == Isa::kRdna4 && Bits(regs.rsrc2, 6, 6) != 0) {
    if (wave_size == 64) return "COMPUTE_PGM_RSRC2.DYNAMIC_VGPR with waves of 64 lanes";
    if (options.dynamic_vgpr_block != 16 && options.dynamic_vgpr_block != 32) {
      return absl::StrFormat("dynamic VGPRs in blocks of %d, expected 16 or 32", options.dynamic_vgpr_block);
    }
  }
  if (options.exact_lds_bytes != 0) lds_bytes = std::min(lds_bytes, options.exact_lds_bytes);
  return "";
}

std::string LaunchPlan::DecodeGrid() {
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    const uint32_t full = Bits(regs.num_thread[i], 15, 0);
    const uint32_t partial = Bits(regs.num_thread[i], 31, 16);
    if (full == 0) return absl::StrFormat("COMPUTE_NUM_THREAD_%c is 0", "XYZ"[i]);
    group_dim[i] = partial_dim[i] = full;
    first_group[i] = (regs.initiator & kForceStartAt000) != 0 ? 0 : regs.start[i];
    end_group[i] = regs.dim[i];
    if ((regs.initiator & kUseThreadDimensions) != 0) {
      end_group[i] = regs.dim[i] / full + (regs.dim[i] % full != 0);
      if (regs.dim[i] % full != 0) partial_dim[i] = regs.dim[i] % full;
    } else if ((regs.initiator & kPartialTgEn) != 0 && partial != 0) {
      partial_dim[i] = partial;
      if (partial > full) {
        return absl::StrFormat("COMPUTE_NUM_THREAD_%c: partial size %d exceeds full size %d", "XYZ"[i],
                               partial, full);
      }
    }
    threads *= full;
  }
  if (threads > kMaxGroupThreads) {
    return absl::StrFormat("workgroup of %d x %d x %d work-items, expected at most %d in all", group_dim[0],
                           group_dim[1], group_dim[2], kMaxGroupThreads);
  }
  // TTMP7 has 16 bits for y as soon as z is in use.
  if (isa == Isa::kRdna4 && end_group[2] > 1 && (end_group[1] > 0x10000 || end_group[2] > 0x10000)) {
    return absl::StrFormat("grid of %d x %d x %d workgroups, expected at most 65536 in y and z", end_group[0],
                           end_group[1], end_group[2]);
  }
  waves_per_group = static_cast<uint32_t>((threads + wave_size - 1) / wave_size);
  return "";
}

std::string LaunchPlan::DecodeScratch() {
  max_resident = std::max<uint32_t>(options.max_resident_workgroups, 1);
  if (Bits(regs.rsrc2, 0, 0) == 0) return "";
  // COMPUTE_TMPRING_SIZE.WAVESIZE: 13 bits of KiB on GFX9, 15 of 256 bytes on GFX11, 18 on GFX12.
  scratch_wave_bytes = static_cast<uint32_t>(IsCdna(isa)          ? Bits(regs.tmpring_size, 24, 12) * 1024
                                             : isa == Isa::kRdna4 ? Bits(regs.tmpring_size, 29, 12) * 256
                                                                  : Bits(regs.tmpring_size, 26, 12) * 256);
  if (scratch_wave_bytes == 0) return "";
  const uint32_t waves = Bits(regs.tmpring_size, 11, 0) * std::max<uint32_t>(options.shader_engines, 1);
  if (waves < waves_per_group) {
    return absl::StrFormat("COMPUTE_TMPRING_SIZE has scratch for %d waves, expected %d for one workgroup",
                           waves, waves_per_group);
  }
  max_resident = std::min(max_resident, waves / waves_per_group);
  return "";
}

Workgroup::Workgroup(const LaunchPlan& plan, AddressSpace* memory, uint32_t slot)
    : plan_(plan),
      translator_(memory),
      slot_(slot),
      waves_(plan.waves_per_group),
      lds_((plan.lds_bytes + 3) / 4) {
  for (Wave& wave : waves_) {
    const size_t words = StoredVgprs(plan.isa) * plan.wave_size;
    wave.vgpr_allocation = std::make_unique<uint32_t[]>(words + 16);
    wave.vgpr_storage =
        reinterpret_cast<uint32_t*>(AlignUp(reinterpret_cast<uintptr_t>(wave.vgpr_allocation.get()), 64));
  }
}

void Workgroup::Start(const uint32_t id[3]) {
  uint32_t dims[3];
  uint32_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    dims[i] = id[i] + 1 == plan_.end_group[i] ? plan_.partial_dim[i] : plan_.group_dim[i];
    threads *= dims[i];
  }
  FillWords(lds_.data(), lds_.size(), plan_.options.vgpr_fill);
  active_waves = running = (threads + plan_.wave_size - 1) / plan_.wave_size;
  at_barrier = waiting = current = 0;
  seen_events = clock = 0;
  hw_ = GroupHw();
  hw_.barrier[kWorkgroupBarrier].members = hw_.barrier[kTrapBarrier].members = active_waves;
  quantum_left = slice_left = 0;
  for (uint32_t i = 0; i < active_waves; ++i) StartWave(waves_[i], i, id, dims, threads);
}

void Workgroup::StartWave(Wave& wave, uint32_t index, const uint32_t id[3], const uint32_t dims[3],
                          uint32_t threads) {
  const DispatchRegs& regs = plan_.regs;
  const uint32_t fill = plan_.options.vgpr_fill;
  const uint32_t lanes = plan_.wave_size;
  WaveState& s = wave.state;
  wave.status = Wave::Status::kReady;
  FillWords(s.sgpr, std::size(s.sgpr), fill);
  s.sgpr[kNull] = 0;
  s.pc = regs.pgm_addr;
  s.scc = false;
  s.mode = InitialMode(plan_.isa, regs.rsrc1);
  s.status = kStatusValid | (active_waves > 1 ? kStatusInWorkgroup : 0);
  s.trapsts = 0;
  s.wave_size = static_cast<int>(lanes);
  s.lane_mask = LowMask(s.wave_size);
  s.isa = plan_.isa;
  s.num_vgprs = plan_.num_vgprs;
  s.num_agprs = plan_.num_agprs;
  s.num_sgprs = plan_.num_sgprs;
  s.CountRegisters();
  s.vgpr = wave.vgpr_storage;
  s.lds = reinterpret_cast<uint8_t*>(lds_.data());
  s.lds_bytes = plan_.lds_bytes;
  s.mem = &translator_;
  s.wave_slot = slot_ * plan_.waves_per_group + index;
  s.scratch_base = regs.scratch_base + uint64_t{s.wave_slot} * plan_.scratch_wave_bytes;
  s.scratch_bytes_per_lane = plan_.scratch_wave_bytes / lanes;
  s.shared_aperture = plan_.options.shared_aperture;
  s.private_aperture = plan_.options.private_aperture;
  s.wave_in_group = static_cast<int>(index);
  s.waves_in_group = static_cast<int>(active_waves);
  s.clock = 0;
  s.fault = &fault_;
  s.hw = &wave.hw;
  wave.hw = WaveHw();
  wave.hw.group = &hw_;
  wave.hw.tba = plan_.options.trap_handler;
  wave.hw.tma = plan_.options.trap_memory;
  wave.hw.doorbell = plan_.options.doorbell;
  wave.hw.scratch = Bits(regs.rsrc2, 0, 0) != 0;
  wave.hw.lds_granule = LdsGranule(plan_.isa);
  wave.hw.vgpr_granule = plan_.vgpr_granule;
  wave.hw.first_vgprs = plan_.num_vgprs;
  wave.hw.fill = fill;
  if (plan_.isa == Isa::kRdna4 && Bits(regs.rsrc2, 6, 6) != 0) {
    wave.hw.dynamic_vgpr_block = plan_.options.dynamic_vgpr_block;
    wave.hw.max_vgprs = std::min<uint32_t>(8 * plan_.options.dynamic_vgpr_block, kMaxArchVgprs);
  }

  // User SGPRs, then the enabled system SGPRs in hardware order (LLVM AMDGPUUsage, "Initial Kernel
  // Execution State").
  uint32_t next = 0;
  for (uint32_t i = 0; i < std::min<uint32_t>(Bits(regs.rsrc2, 5, 1), 16); ++i)
    s.sgpr[next++] = regs.user_data[i];
  std::copy(id, id + 3, s.workgroup);
  if (plan_.isa == Isa::kRdna4) {
    s.sgpr[kTtmp7] = id[1] | id[2] << 16;
    s.sgpr[kTtmp8] = index << 25;
    s.sgpr[kTtmp9] = id[0];
  } else {
    for (int i = 0; i < 3; ++i) {
      s.sgpr[kTtmp8 + i] = id[i];
      if (Bits(regs.rsrc2, 7 + i, 7 + i) != 0) s.sgpr[next++] = id[i];
    }
    s.sgpr[kTtmp11] = index;
    if (Bits(regs.rsrc2, 10, 10) != 0) s.sgpr[next++] = (index == 0 ? 1u << 31 : 0) | active_waves;
  }
  if (plan_.isa == Isa::kCdna2) {
    // The wave's offset into the scratch of the queue; FLAT_SCRATCH is the program's to set.
    if (Bits(regs.rsrc2, 0, 0) != 0) s.sgpr[next++] = s.wave_slot * plan_.scratch_wave_bytes;
  } else if (IsCdna(plan_.isa)) {
    s.sgpr[kFlatScratchLo] = static_cast<uint32_t>(s.scratch_base);
    s.sgpr[kFlatScratchLo + 1] = static_cast<uint32_t>(s.scratch_base >> 32);
  }

  const uint32_t first = index * lanes;
  const uint32_t live = std::min(threads - first, lanes);
  s.sgpr[kExecLo] = static_cast<uint32_t>(LowMask(live));
  s.sgpr[kExecHi] = lanes == 64 ? static_cast<uint32_t>(LowMask(live) >> 32) : 0;

  FillWords(s.vgpr, static_cast<size_t>(s.num_vgprs) * lanes, fill);
  FillWords(s.Agpr(0), static_cast<size_t>(s.num_agprs) * lanes, fill);
  // Work-item ids packed as z 29:20, y 19:10, x 9:0; TIDIG_COMP_CNT says how many are supplied.
  const uint64_t components = Bits(regs.rsrc2, 12, 11);
  const uint32_t y_unit = components >= 1 ? 1u << 10 : 0, z_unit = components >= 2 ? 1u << 20 : 0;
  uint32_t x = first % dims[0], y = first / dims[0] % dims[1], z = first / dims[0] / dims[1];
  for (uint32_t lane = 0; lane < live;) {
    // A run of work-items along x.
    const uint32_t run = std::min(dims[0] - x, live - lane), id = x + y * y_unit + z * z_unit;
    for (uint32_t i = 0; i < run; ++i) s.vgpr[lane + i] = id + i;
    lane += run;
    x = 0;
    if (++y < dims[1]) continue;
    y = 0;
    ++z;
  }
}

}  // namespace understudy::emu::amd
