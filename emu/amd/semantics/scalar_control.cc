// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/scalar_control.h"

#include "absl/strings/str_format.h"
#include "emu/amd/semantics/scalar_operands.h"
#include "src/base/bits.h"

namespace understudy::emu::amd {
namespace {

// STATUS register bits (RDNA3 ISA, "STATUS register").
constexpr uint32_t kStatusExecz = 1u << 9, kStatusVccz = 1u << 10;
constexpr uint32_t kStatusDebugUser = 1u << 20, kStatusDebugSystem = 1u << 21;

// S_SENDMSG messages and S_SENDMSG_RTN requests (RDNA3 ISA, "Message types").
constexpr uint32_t kMsgDeallocVgprs = 3;
constexpr uint32_t kMsgRtnGetRealtime = 0x83;

// Constant clock of the card against the wave clock that we count in instructions.
constexpr uint64_t kInstructionsPerRealtimeTick = 16;

uint64_t NextPc(const Inst& inst, const WaveState& wave) { return wave.pc + inst.size; }

ExecResult Nothing(const Inst&, WaveState&) { return ExecResult::kNext; }

ExecResult Jump(const Inst& inst, WaveState& wave) {
  wave.pc = NextPc(inst, wave) + static_cast<int64_t>(inst.simm) * 4;
  return ExecResult::kBranch;
}

enum class Condition {
  kAlways,
  kScc0,
  kScc1,
  kVccz,
  kVccnz,
  kExecz,
  kExecnz,
  kSystem,
  kUser,
  kEither,
  kBoth
};

template <Condition kCondition>
ExecResult Branch(const Inst& inst, WaveState& wave) {
  const bool user = (wave.status & kStatusDebugUser) != 0, system = (wave.status & kStatusDebugSystem) != 0;
  bool taken = true;
  switch (kCondition) {
    case Condition::kAlways:
      break;
    case Condition::kScc0:
      taken = !wave.scc;
      break;
    case Condition::kScc1:
      taken = wave.scc;
      break;
    case Condition::kVccz:
      taken = wave.vcc() == 0;
      break;
    case Condition::kVccnz:
      taken = wave.vcc() != 0;
      break;
    case Condition::kExecz:
      taken = wave.exec() == 0;
      break;
    case Condition::kExecnz:
      taken = wave.exec() != 0;
      break;
    case Condition::kSystem:
      taken = system;
      break;
    case Condition::kUser:
      taken = user;
      break;
    case Condition::kEither:
      taken = system || user;
      break;
    case Condition::kBoth:
      taken = system && user;
      break;
  }
  return taken ? Jump(inst, wave) : ExecResult::kNext;
}

ExecResult GetPc(const Inst& inst, WaveState& wave) {
  WriteScalar64(inst.dst[0], wave, NextPc(inst, wave));
  return ExecResult::kNext;
}

ExecResult SetPc(const Inst& inst, WaveState& wave) {
  wave.pc = ReadScalar64(inst.src[0], wave);
  return ExecResult::kBranch;
}

ExecResult SwapPc(const Inst& inst, WaveState& wave) {
  const uint64_t target = ReadScalar64(inst.src[0], wave);
  WriteScalar64(inst.dst[0], wave, NextPc(inst, wave));
  wave.pc = target;
  return ExecResult::kBranch;
}

ExecResult Call(const Inst& inst, WaveState& wave) {
  WriteScalar64(inst.dst[0], wave, NextPc(inst, wave));
  return Jump(inst, wave);
}

// --- Indexed SGPR moves: M0 is added to the register number --------------------------------------------

ExecResult BadIndex(WaveState& wave, uint64_t index) {
  return RaiseFault(
      wave, FaultKind::kIllegalInstruction, -1,
      absl::StrFormat("indexed scalar register %d is not one of s0-s%d", index, kSgprCount - 1));
}

template <int kDwords>
ExecResult MovRelS(const Inst& inst, WaveState& wave) {
  const uint64_t index = uint64_t{inst.src[0].reg} + wave.sgpr[kM0];
  if (index + kDwords > kSgprCount) return BadIndex(wave, index);
  Operand source = inst.src[0];
  source.reg = static_cast<uint16_t>(index);
  if (kDwords == 1) {
    WriteScalar32(inst.dst[0], wave, ReadScalar32(source, wave));
  } else {
    WriteScalar64(inst.dst[0], wave, ReadScalar64(source, wave));
  }
  return ExecResult::kNext;
}

template <int kDwords>
ExecResult MovRelD(const Inst& inst, WaveState& wave) {
  const uint64_t index = uint64_t{inst.dst[0].reg} + wave.sgpr[kM0];
  if (index + kDwords > kSgprCount) return BadIndex(wave, index);
  Operand destination = inst.dst[0];
  destination.reg = static_cast<uint16_t>(index);
  if (kDwords == 1) {
    WriteScalar32(destination, wave, ReadScalar32(inst.src[0], wave));
  } else {
    WriteScalar64(destination, wave, ReadScalar64(inst.src[0], wave));
  }
  return ExecResult::kNext;
}

// M0 9:0 is added to the source's number, 25:16 to the destination's.
ExecResult MovRelSD2(const Inst& inst, WaveState& wave) {
  const uint64_t source = inst.src[0].reg + Bits(wave.sgpr[kM0], 9, 0);
  const uint64_t destination = inst.dst[0].reg + Bits(wave.sgpr[kM0], 25, 16);
  if (source >= kSgprCount) return BadIndex(wave, source);
  if (destination >= kSgprCount) return BadIndex(wave, destination);
  wave.sgpr[destination] = wave.sgpr[source];
  return ExecResult::kNext;
}

// --- Hardware registers ---------------------------------------------------------------------------------

// Numbers of hwreg operands (RDNA3 ISA, "Hardware registers"; LLVM AMDGPU hwreg).
enum HardwareRegister : uint32_t {
  kHwMode = 1,
  kHwStatus = 2,
  kHwTrapsts = 3,
  kHwGprAlloc = 5,
  kHwLdsAlloc = 6,
  kHwIbSts = 7,
  kHwShMemBases = 15,
  kHwFlatScrLo = 20,
  kHwFlatScrHi = 21,
  kHwId1 = 23,
  kHwId2 = 24,
  kHwShaderCycles = 29,
};

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

ExecResult GetReg(const Inst& inst, WaveState& wave) {
  const HwField field(inst.simm);
  uint32_t value = 0;
  switch (field.id) {
    case kHwMode:
      value = wave.mode;
      break;
    case kHwStatus:
      value = (wave.status & ~(1u | kStatusExecz | kStatusVccz)) | (wave.scc ? 1 : 0) |
              (wave.exec() == 0 ? kStatusExecz : 0) | (wave.vcc() == 0 ? kStatusVccz : 0);
      break;
    case kHwTrapsts:
      value = wave.trapsts;
      break;
    case kHwGprAlloc:
      // VGPR_SIZE 19:12, in allocation blocks less one.
      value = (wave.num_vgprs / (wave.wave_size == 32 ? 8 : 4) - 1) << 12;
      break;
    case kHwLdsAlloc:
      // LDS_SIZE 20:12, in 512-byte blocks.
      value = ((wave.lds_bytes + 511) / 512) << 12;
      break;
    case kHwIbSts:
      break;  // every counter is 0: memory operations are complete when the next instruction starts
    case kHwShMemBases:
      value = static_cast<uint32_t>(wave.private_aperture >> 48) |
              static_cast<uint32_t>(wave.shared_aperture >> 48) << 16;
      break;
    case kHwFlatScrLo:
      value = static_cast<uint32_t>(wave.scratch_base);
      break;
    case kHwFlatScrHi:
      value = static_cast<uint32_t>(wave.scratch_base >> 32);
      break;
    case kHwId1:
      value = wave.wave_slot & 31;  // WAVE_ID 4:0
      break;
    case kHwId2:
      break;
    case kHwShaderCycles:
      value = static_cast<uint32_t>(wave.clock) & 0xfffffu;
      break;
    default:
      return UnknownHwReg(wave, "reading", field.id);
  }
  WriteScalar32(inst.dst[0], wave, (value >> field.shift) & field.mask);
  return ExecResult::kNext;
}

ExecResult SetReg(const Inst& inst, WaveState& wave) {
  const HwField field(inst.simm);
  uint32_t* reg = field.id == kHwMode ? &wave.mode : field.id == kHwTrapsts ? &wave.trapsts : nullptr;
  if (reg == nullptr) return UnknownHwReg(wave, "writing", field.id);
  const uint32_t mask = field.mask << field.shift;
  *reg = (*reg & ~mask) | ((ReadScalar32(inst.src[0], wave) << field.shift) & mask);
  return ExecResult::kNext;
}

ExecResult RoundMode(const Inst& inst, WaveState& wave) {
  wave.mode = (wave.mode & ~0xfu) | (static_cast<uint32_t>(inst.simm) & 0xfu);
  return ExecResult::kNext;
}

ExecResult DenormMode(const Inst& inst, WaveState& wave) {
  wave.mode = (wave.mode & ~0xf0u) | (static_cast<uint32_t>(inst.simm) & 0xfu) << 4;
  return ExecResult::kNext;
}

// --- Messages, ends and waits ---------------------------------------------------------------------------

ExecResult SendMsg(const Inst& inst, WaveState& wave) {
  const uint32_t message = static_cast<uint32_t>(inst.simm) & 0xff;
  // The wave gives its VGPRs back early: nothing that a program can see.
  if (message == kMsgDeallocVgprs) return ExecResult::kNext;
  return RaiseFault(wave, FaultKind::kUnsupported, -1, absl::StrFormat("message %d is refused", message));
}

template <int kDwords>
ExecResult SendMsgRtn(const Inst& inst, WaveState& wave) {
  const uint32_t message = static_cast<uint32_t>(inst.simm) & 0xff;
  if (message != kMsgRtnGetRealtime) {
    return RaiseFault(wave, FaultKind::kUnsupported, -1,
                      absl::StrFormat("message %d with return is refused", message));
  }
  const uint64_t time = wave.clock / kInstructionsPerRealtimeTick;
  if (kDwords == 1) {
    WriteScalar32(inst.dst[0], wave, static_cast<uint32_t>(time));
  } else {
    WriteScalar64(inst.dst[0], wave, time);
  }
  return ExecResult::kNext;
}

ExecResult Trap(const Inst& inst, WaveState& wave) {
  return RaiseFault(wave, FaultKind::kTrap, -1,
                    absl::StrFormat("trap %d, and no trap handler is installed", inst.simm & 0xff));
}

ExecResult CodeEnd(const Inst&, WaveState& wave) {
  return RaiseFault(wave, FaultKind::kIllegalInstruction, -1, "the wave ran past the end of its program");
}

ExecResult End(const Inst&, WaveState&) { return ExecResult::kEnd; }
ExecResult Barrier(const Inst&, WaveState&) { return ExecResult::kBarrier; }
ExecResult Yield(const Inst&, WaveState&) { return ExecResult::kYield; }
ExecResult FlushCode(const Inst&, WaveState&) { return ExecResult::kFlushCode; }

}  // namespace

ExecFn FindScalarControlExec(const Inst& inst) {
  switch (inst.op) {
    case Opcode::S_BRANCH:
      return &Branch<Condition::kAlways>;
    case Opcode::S_CBRANCH_SCC0:
      return &Branch<Condition::kScc0>;
    case Opcode::S_CBRANCH_SCC1:
      return &Branch<Condition::kScc1>;
    case Opcode::S_CBRANCH_VCCZ:
      return &Branch<Condition::kVccz>;
    case Opcode::S_CBRANCH_VCCNZ:
      return &Branch<Condition::kVccnz>;
    case Opcode::S_CBRANCH_EXECZ:
      return &Branch<Condition::kExecz>;
    case Opcode::S_CBRANCH_EXECNZ:
      return &Branch<Condition::kExecnz>;
    case Opcode::S_CBRANCH_CDBGSYS:
      return &Branch<Condition::kSystem>;
    case Opcode::S_CBRANCH_CDBGUSER:
      return &Branch<Condition::kUser>;
    case Opcode::S_CBRANCH_CDBGSYS_OR_USER:
      return &Branch<Condition::kEither>;
    case Opcode::S_CBRANCH_CDBGSYS_AND_USER:
      return &Branch<Condition::kBoth>;
    case Opcode::S_GETPC_B64:
      return &GetPc;
    case Opcode::S_SETPC_B64:
      return &SetPc;
    case Opcode::S_SWAPPC_B64:
      return &SwapPc;
    case Opcode::S_CALL_B64:
      return &Call;
    case Opcode::S_MOVRELS_B32:
      return &MovRelS<1>;
    case Opcode::S_MOVRELS_B64:
      return &MovRelS<2>;
    case Opcode::S_MOVRELD_B32:
      return &MovRelD<1>;
    case Opcode::S_MOVRELD_B64:
      return &MovRelD<2>;
    case Opcode::S_MOVRELSD_2_B32:
      return &MovRelSD2;
    case Opcode::S_GETREG_B32:
      return &GetReg;
    case Opcode::S_SETREG_B32:
    case Opcode::S_SETREG_IMM32_B32:
      return &SetReg;
    case Opcode::S_ROUND_MODE:
      return &RoundMode;
    case Opcode::S_DENORM_MODE:
      return &DenormMode;
    case Opcode::S_SENDMSG:
      return &SendMsg;
    case Opcode::S_SENDMSG_RTN_B32:
      return &SendMsgRtn<1>;
    case Opcode::S_SENDMSG_RTN_B64:
      return &SendMsgRtn<2>;
    case Opcode::S_TRAP:
      return &Trap;
    case Opcode::S_CODE_END:
      return &CodeEnd;
    case Opcode::S_ENDPGM:
    case Opcode::S_ENDPGM_SAVED:
      return &End;
    case Opcode::S_BARRIER:
      return &Barrier;
    case Opcode::S_SLEEP:
      return &Yield;
    case Opcode::S_ICACHE_INV:
      return &FlushCode;
    // Waits and hints: operations complete in order, so there is nothing to wait for.
    case Opcode::S_NOP:
    case Opcode::S_CLAUSE:
    case Opcode::S_DELAY_ALU:
    case Opcode::S_WAITCNT:
    case Opcode::S_WAITCNT_DEPCTR:
    case Opcode::S_WAITCNT_VSCNT:
    case Opcode::S_WAITCNT_VMCNT:
    case Opcode::S_WAITCNT_EXPCNT:
    case Opcode::S_WAITCNT_LGKMCNT:
    case Opcode::S_WAIT_IDLE:
    case Opcode::S_WAIT_EVENT:
    case Opcode::S_SET_INST_PREFETCH_DISTANCE:
    case Opcode::S_SETPRIO:
    case Opcode::S_WAKEUP:
    case Opcode::S_VERSION:
    case Opcode::S_INCPERFLEVEL:
    case Opcode::S_DECPERFLEVEL:
    case Opcode::S_TTRACEDATA:
    case Opcode::S_TTRACEDATA_IMM:
      return &Nothing;
    default:
      return nullptr;
  }
}

std::string ScalarRefusal(const Inst& inst) {
  switch (inst.op) {
    case Opcode::S_RFE_B64:
      return "returns from a trap handler, and none can be installed";
    case Opcode::S_SETKILL:
    case Opcode::S_SETHALT:
    case Opcode::S_SENDMSGHALT:
      return "stops a wave for a debugger";
    case Opcode::S_SUBVECTOR_LOOP_BEGIN:
    case Opcode::S_SUBVECTOR_LOOP_END:
      return "subvector loops are not modelled";
    case Opcode::S_ENDPGM_ORDERED_PS_DONE:
      return "a pixel shader instruction";
    default:
      return "";
  }
}

}  // namespace understudy::emu::amd
