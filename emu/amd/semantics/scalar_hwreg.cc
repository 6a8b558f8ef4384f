// SPDX-License-Identifier: Apache-2.0
// s_getreg and s_setreg: the hardware registers of each generation (RDNA3, RDNA4 and CDNA3 ISA, "Hardware
// registers"; numbers as LLVM AMDGPU hwreg has them; fields as the kernel's trap handlers,
// cwsr_trap_handler_gfx*.asm, use them).

#include "absl/strings/str_format.h"
#include "emu/amd/core/hw_state.h"
#include "emu/amd/semantics/scalar_control.h"
#include "emu/amd/semantics/scalar_operands.h"
#include "src/base/bits.h"

namespace understudy::emu::amd {
namespace {

// STATUS bits. On RDNA4 SCC and HALT are STATE_PRIV's.
constexpr uint32_t kStatusScc = 1u << 0, kStatusPriv = 1u << 5, kStatusTrapEn = 1u << 6,
                   kStatusExecz = 1u << 9, kStatusVccz = 1u << 10, kStatusHalt = 1u << 13,
                   kStatusScratchEn = 1u << 29, kStatusWave64 = 1u << 29;
constexpr uint32_t kStatePrivBarrierComplete = 1u << 2, kStatePrivNamedComplete = 1u << 3,
                   kStatePrivTrapComplete = 1u << 4, kStatePrivScc = 1u << 9, kStatePrivHalt = 1u << 14;
// MODE bits that would single-step the wave into a trap handler after each instruction.
constexpr uint32_t kModeDebugEn = 1u << 11;

// The registers by meaning; numbers differ by generation.
enum class HwReg : uint8_t {
  kNone,
  kMode,
  kStatus,
  kTrapsts,
  kStatePriv,
  kHwId,
  kGprAlloc,
  kLdsAlloc,
  kIbSts,
  kShMemBases,
  kTbaLo,
  kTbaHi,
  kTmaLo,
  kTmaHi,
  kFlatScrLo,
  kFlatScrHi,
  kHwId1,
  kHwId2,
  kXccId,
  kShaderCycles,
  kShaderCyclesLo,
  kShaderCyclesHi,
  kExcpFlagPriv,
  kExcpFlagUser,
  kTrapCtrl,
  kSchedMode,
  kDvgprAlloc,    // both halves
  kPerfSnapshot,  // no sample was ever taken: 0
};

HwReg RegisterOf(Isa isa, uint32_t id) {
  switch (id) {
    case 1:
      return HwReg::kMode;
    case 2:
      return HwReg::kStatus;
    case 5:
      return HwReg::kGprAlloc;
    case 6:
      return HwReg::kLdsAlloc;
    case 7:
      return HwReg::kIbSts;
    default:
      break;
  }
  if (isa == Isa::kRdna4) {
    switch (id) {
      case 4:
        return HwReg::kStatePriv;
      case 10:
      case 11:
      case 12:
      case 15:
      case 16:
        return HwReg::kPerfSnapshot;
      case 17:
        return HwReg::kExcpFlagPriv;
      case 18:
        return HwReg::kExcpFlagUser;
      case 19:
        return HwReg::kTrapCtrl;
      case 20:
        return HwReg::kFlatScrLo;
      case 21:
        return HwReg::kFlatScrHi;
      case 23:
        return HwReg::kHwId1;
      case 24:
        return HwReg::kHwId2;
      case 26:
        return HwReg::kSchedMode;
      case 29:
        return HwReg::kShaderCyclesLo;
      case 30:
        return HwReg::kShaderCyclesHi;
      case 31:
      case 32:
        return HwReg::kDvgprAlloc;
      default:
        return HwReg::kNone;
    }
  }
  if (id == 3) return HwReg::kTrapsts;
  if (id == 15) return HwReg::kShMemBases;
  if (IsCdna(isa)) {
    switch (id) {
      case 4:
        return HwReg::kHwId;
      case 16:
        return HwReg::kTbaLo;
      case 17:
        return HwReg::kTbaHi;
      case 18:
        return HwReg::kTmaLo;
      case 19:
        return HwReg::kTmaHi;
      case 20:
        return isa == Isa::kCdna2 ? HwReg::kNone : HwReg::kXccId;
      case 21:
      case 22:
      case 23:
      case 24:
        return isa == Isa::kCdna2 ? HwReg::kNone : HwReg::kPerfSnapshot;
      default:
        return HwReg::kNone;
    }
  }
  switch (id) {
    case 18:
    case 19:
    case 27:
      return HwReg::kPerfSnapshot;
    case 20:
      return HwReg::kFlatScrLo;
    case 21:
      return HwReg::kFlatScrHi;
    case 23:
      return HwReg::kHwId1;
    case 24:
      return HwReg::kHwId2;
    case 29:
      return HwReg::kShaderCycles;
    default:
      return HwReg::kNone;
  }
}

struct HwField {
  uint32_t id, shift, mask;
  explicit HwField(int32_t simm)
      : id(static_cast<uint32_t>(simm) & 63),
        shift((static_cast<uint32_t>(simm) >> 6) & 31),
        mask(static_cast<uint32_t>(LowMask(static_cast<int>((static_cast<uint32_t>(simm) >> 11) & 31) + 1))) {
  }
};

ExecResult UnknownHwReg(WaveState& wave, const char* what, uint32_t id) {
  return RaiseFault(wave, FaultKind::kUnsupported, -1,
                    absl::StrFormat("%s of hardware register %d is refused", what, id));
}

uint32_t Status(const WaveState& wave) {
  const WaveHw& hw = *wave.hw;
  uint32_t value = wave.status | (hw.priv ? kStatusPriv : 0) | (hw.tba != 0 ? kStatusTrapEn : 0) |
                   (wave.exec() == 0 ? kStatusExecz : 0) | (wave.vcc() == 0 ? kStatusVccz : 0);
  if (wave.isa == Isa::kRdna4) return value | (wave.wave_size == 64 ? kStatusWave64 : 0);
  value |= (wave.scc ? kStatusScc : 0) | (hw.halt ? kStatusHalt : 0);
  if (IsRdna(wave.isa) && hw.scratch) value |= kStatusScratchEn;
  return value;
}

uint32_t StatePriv(const WaveState& wave) {
  const WaveHw& hw = *wave.hw;
  const SplitBarrier* barrier = hw.group->barrier;
  uint32_t value = (wave.scc ? kStatePrivScc : 0) | (hw.halt ? kStatePrivHalt : 0);
  if (barrier[kWorkgroupBarrier].completions != hw.seen_workgroup) value |= kStatePrivBarrierComplete;
  if (hw.named_barrier != 0 && barrier[hw.named_barrier].completions != hw.seen_named) {
    value |= kStatePrivNamedComplete;
  }
  if (barrier[kTrapBarrier].completions != hw.seen_trap) value |= kStatePrivTrapComplete;
  return value;
}

// Sizes in allocation blocks, less one.
uint32_t GprAlloc(const WaveState& wave) {
  const uint32_t granule = wave.hw->vgpr_granule;
  if (IsRdna(wave.isa)) return (wave.num_vgprs / granule - 1) << 12;  // VGPR_SIZE 19:12
  // VGPR_SIZE 13:8 of the unified file, SGPR_SIZE 27:24 in sixteens.
  return ((wave.num_vgprs + wave.num_agprs) / granule - 1) << 8 | ((wave.num_sgprs + 15) / 16 - 1) << 24;
}

ExecResult GetReg(const Inst& inst, WaveState& wave) {
  const HwField field(inst.simm);
  const WaveHw& hw = *wave.hw;
  uint32_t value = 0;
  switch (RegisterOf(wave.isa, field.id)) {
    case HwReg::kNone:
      return UnknownHwReg(wave, "reading", field.id);
    case HwReg::kMode:
      value = wave.mode;
      break;
    case HwReg::kStatus:
      value = Status(wave);
      break;
    case HwReg::kTrapsts:
      value = wave.trapsts;
      break;
    case HwReg::kStatePriv:
      value = StatePriv(wave);
      break;
    case HwReg::kGprAlloc:
      value = GprAlloc(wave);
      break;
    case HwReg::kLdsAlloc:
      value = ((wave.lds_bytes + hw.lds_granule - 1) / hw.lds_granule) << 12;  // LDS_SIZE 20:12
      break;
    case HwReg::kIbSts:
      break;  // every counter is 0: memory operations are complete when the next instruction starts
    case HwReg::kShMemBases:
      value = static_cast<uint32_t>(wave.private_aperture >> 48) |
              static_cast<uint32_t>(wave.shared_aperture >> 48) << 16;
      break;
    case HwReg::kTbaLo:
      value = static_cast<uint32_t>(hw.tba >> 8);
      break;
    case HwReg::kTbaHi:
      value = static_cast<uint32_t>(hw.tba >> 40);
      break;
    case HwReg::kTmaLo:
      value = static_cast<uint32_t>(hw.tma >> 8);
      break;
    case HwReg::kTmaHi:
      value = static_cast<uint32_t>(hw.tma >> 40);
      break;
    case HwReg::kFlatScrLo:
      value = static_cast<uint32_t>(wave.scratch_base);
      break;
    case HwReg::kFlatScrHi:
      value = static_cast<uint32_t>(wave.scratch_base >> 32);
      break;
    case HwReg::kHwId:
      value = (wave.wave_slot & 15) | (wave.wave_slot >> 4 & 3) << 4;  // WAVE_ID 3:0, SIMD_ID 5:4
      break;
    case HwReg::kHwId1:
      value = wave.wave_slot & 31;  // WAVE_ID 4:0
      break;
    case HwReg::kHwId2:
    case HwReg::kXccId:
    case HwReg::kPerfSnapshot:
      break;
    case HwReg::kDvgprAlloc:
      if (hw.dynamic_vgpr_block != 0) return UnknownHwReg(wave, "reading", field.id);
      break;
    case HwReg::kShaderCycles:
      value = static_cast<uint32_t>(wave.clock) & 0xfffffu;
      break;
    case HwReg::kShaderCyclesLo:
      value = static_cast<uint32_t>(wave.clock);
      break;
    case HwReg::kShaderCyclesHi:
      value = static_cast<uint32_t>(wave.clock >> 32);
      break;
    case HwReg::kExcpFlagPriv:
      value = hw.excp_flag_priv;
      break;
    case HwReg::kExcpFlagUser:
      value = hw.excp_flag_user;
      break;
    case HwReg::kTrapCtrl:
      value = hw.trap_ctrl;
      break;
    case HwReg::kSchedMode:
      value = hw.sched_mode;
      break;
  }
  WriteScalar32(inst.dst[0], wave, (value >> field.shift) & field.mask);
  return ExecResult::kNext;
}

// Writes outside the trap handler to what only it may change have no effect, as on hardware.
ExecResult SetReg(const Inst& inst, WaveState& wave) {
  const HwField field(inst.simm);
  WaveHw& hw = *wave.hw;
  const uint32_t mask = field.mask << field.shift;
  const uint32_t value = ReadScalar32(inst.src[0], wave) << field.shift & mask;
  const auto merge = [&](uint32_t* reg) { *reg = (*reg & ~mask) | value; };
  switch (RegisterOf(wave.isa, field.id)) {
    case HwReg::kMode: {
      uint32_t mode = wave.mode;
      merge(&mode);
      if (wave.isa != Isa::kRdna4 && (mode & kModeDebugEn) != 0) {
        return RaiseFault(wave, FaultKind::kUnsupported, -1, "MODE.DEBUG_EN: single-stepping is refused");
      }
      wave.mode = mode;
      wave.CountRegisters();  // VSKIP
      break;
    }
    case HwReg::kTrapsts:
      merge(&wave.trapsts);
      break;
    case HwReg::kStatus:
      if (wave.isa == Isa::kRdna4 || !hw.priv) break;
      if ((mask & kStatusScc) != 0) wave.scc = (value & kStatusScc) != 0;
      if ((mask & kStatusHalt) != 0) hw.halt = (value & kStatusHalt) != 0;
      break;
    case HwReg::kStatePriv:
      if (!hw.priv) break;
      if ((mask & kStatePrivScc) != 0) wave.scc = (value & kStatePrivScc) != 0;
      if ((mask & kStatePrivHalt) != 0) hw.halt = (value & kStatePrivHalt) != 0;
      break;
    case HwReg::kExcpFlagPriv:
      if (hw.priv) merge(&hw.excp_flag_priv);
      break;
    case HwReg::kExcpFlagUser:
      merge(&hw.excp_flag_user);
      break;
    case HwReg::kTrapCtrl:
      if (hw.priv) merge(&hw.trap_ctrl);
      break;
    case HwReg::kSchedMode:
      merge(&hw.sched_mode);
      break;
    case HwReg::kIbSts:
      break;  // replay state of address translation, which never has any
    default:
      return UnknownHwReg(wave, "writing", field.id);
  }
  return ExecResult::kNext;
}

}  // namespace

ExecFn FindHwRegExec(const Inst& inst) {
  switch (inst.op) {
    case Opcode::S_GETREG_B32:
      return &GetReg;
    case Opcode::S_SETREG_B32:
    case Opcode::S_SETREG_IMM32_B32:
      return &SetReg;
    default:
      return nullptr;
  }
}

}  // namespace understudy::emu::amd
