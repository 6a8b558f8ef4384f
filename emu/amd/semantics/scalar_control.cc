// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/scalar_control.h"

#include <bit>

#include "absl/strings/str_format.h"
#include "emu/amd/core/hw_state.h"
#include "emu/amd/semantics/find_exec.h"
#include "emu/amd/semantics/scalar_operands.h"
#include "src/base/bits.h"

namespace understudy::emu::amd {
namespace {

// STATUS register bits (RDNA3 ISA, "STATUS register").
constexpr uint32_t kStatusDebugUser = 1u << 20, kStatusDebugSystem = 1u << 21;

// S_SENDMSG messages and S_SENDMSG_RTN requests (RDNA3 ISA, "Message types").
constexpr uint32_t kMsgInterrupt = 1, kMsgDeallocVgprs = 3, kMsgGetDoorbell = 10;
constexpr uint32_t kMsgRtnGetDoorbell = 0x80, kMsgRtnGetDdid = 0x81, kMsgRtnGetTma = 0x82,
                   kMsgRtnGetRealtime = 0x83, kMsgRtnGetTba = 0x85, kMsgRtnGetSeAidId = 0x87;

// Names of the messages that are refused (LLVM AMDGPU sendmsg).
const char* MessageName(Isa isa, uint32_t message) {
  switch (message) {
    case 2:
      return IsCdna(isa) ? "MSG_GS" : "MSG_HS_TESSFACTOR";
    case 3:
      return "MSG_GS_DONE";
    case 4:
      return "MSG_SAVEWAVE";
    case 5:
      return "MSG_STALL_WAVE_GEN";
    case 6:
      return "MSG_HALT_WAVES";
    case 7:
      return "MSG_ORDERED_PS_DONE";
    case 8:
      return "MSG_EARLY_PRIM_DEALLOC";
    case 9:
      return "MSG_GS_ALLOC_REQ";
    case 15:
      return "MSG_SYSMSG";
    case 0x84:
      return "MSG_RTN_SAVE_WAVE";
    case 0x86:
      return "MSG_RTN_GET_TBA_TO_PC";
    default:
      return "not a message of this generation";
  }
}

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

ExecResult RoundMode(const Inst& inst, WaveState& wave) {
  wave.mode = (wave.mode & ~0xfu) | (static_cast<uint32_t>(inst.simm) & 0xfu);
  return ExecResult::kNext;
}

ExecResult DenormMode(const Inst& inst, WaveState& wave) {
  wave.mode = (wave.mode & ~0xf0u) | (static_cast<uint32_t>(inst.simm) & 0xfu) << 4;
  return ExecResult::kNext;
}

// --- The branch stack of CDNA: a fork runs the smaller half of EXEC first, a join comes back for the other
// --

uint32_t StackDepth(const WaveState& wave) { return wave.mode >> kModeCspShift; }
void SetStackDepth(WaveState& wave, uint32_t depth) {
  wave.mode = (wave.mode & ((1u << kModeCspShift) - 1)) | depth << kModeCspShift;
}

// An entry is four SGPRs from s(4 * depth): EXEC, then the program counter.
ExecResult Fork(WaveState& wave, uint64_t mask, uint64_t target, uint64_t next) {
  const uint64_t exec = wave.exec();
  const uint64_t pass = mask & exec, fail = ~mask & exec;
  if (pass == exec || fail == exec) {
    wave.pc = pass == exec ? target : next;
    return ExecResult::kBranch;
  }
  const uint32_t depth = StackDepth(wave);
  if (4 * depth + 4 > wave.num_sgprs || depth == 7) {
    return RaiseFault(wave, FaultKind::kIllegalInstruction, -1,
                      absl::StrFormat("a fork at depth %d of the branch stack, which ends at 7 and at s%d",
                                      depth, wave.num_sgprs - 1));
  }
  const bool run_fail = std::popcount(fail) < std::popcount(pass);
  const uint64_t later_exec = run_fail ? pass : fail, later_pc = run_fail ? target : next;
  uint32_t* entry = &wave.sgpr[4 * depth];
  entry[0] = static_cast<uint32_t>(later_exec);
  entry[1] = static_cast<uint32_t>(later_exec >> 32);
  entry[2] = static_cast<uint32_t>(later_pc);
  entry[3] = static_cast<uint32_t>(later_pc >> 32);
  SetStackDepth(wave, depth + 1);
  wave.set_exec(run_fail ? fail : pass);
  wave.pc = run_fail ? next : target;
  return ExecResult::kBranch;
}

ExecResult ForkG(const Inst& inst, WaveState& wave) {
  return Fork(wave, ReadScalar64(inst.src[0], wave), ReadScalar64(inst.src[1], wave), NextPc(inst, wave));
}

ExecResult ForkI(const Inst& inst, WaveState& wave) {
  const uint64_t next = NextPc(inst, wave);
  return Fork(wave, ReadScalar64(SopkRegister(inst), wave), next + static_cast<int64_t>(inst.simm) * 4, next);
}

ExecResult Join(const Inst& inst, WaveState& wave) {
  const uint32_t depth = StackDepth(wave);
  if (depth == ReadScalar32(inst.src[0], wave)) return ExecResult::kNext;
  if (depth == 0) {
    return RaiseFault(wave, FaultKind::kIllegalInstruction, -1, "a join while the branch stack is empty");
  }
  SetStackDepth(wave, depth - 1);
  const uint32_t* entry = &wave.sgpr[4 * (depth - 1)];
  const uint64_t exec = entry[0] | uint64_t{entry[1]} << 32, pc = entry[2] | uint64_t{entry[3]} << 32;
  wave.set_exec(exec);
  wave.pc = pc;
  return ExecResult::kBranch;
}

// --- VGPR indexing and vector skipping of CDNA ----------------------------------------------------------

void SetIndexedOperands(WaveState& wave, uint32_t which) {
  wave.sgpr[kM0] = (wave.sgpr[kM0] & ~0xf000u) | (which & 0xf) << 12;
}
void SetIndex(WaveState& wave, uint32_t index) {
  wave.sgpr[kM0] = (wave.sgpr[kM0] & ~0xffu) | (index & 0xff);
}

// The second source field itself says which operands are indexed.
ExecResult IndexOn(const Inst& inst, WaveState& wave) {
  const uint32_t index = ReadScalar32(inst.src[0], wave);
  wave.mode |= kModeGprIdxEn;
  SetIndex(wave, index);
  SetIndexedOperands(wave, static_cast<uint32_t>(inst.src[1].imm));
  return ExecResult::kNext;
}
ExecResult IndexOff(const Inst&, WaveState& wave) {
  wave.mode &= ~kModeGprIdxEn;
  return ExecResult::kNext;
}
ExecResult IndexMode(const Inst& inst, WaveState& wave) {
  SetIndexedOperands(wave, static_cast<uint32_t>(inst.simm));
  return ExecResult::kNext;
}
ExecResult IndexIndex(const Inst& inst, WaveState& wave) {
  SetIndex(wave, ReadScalar32(inst.src[0], wave));
  return ExecResult::kNext;
}

ExecResult SetVskip(const Inst& inst, WaveState& wave) {
  const uint32_t bit = ReadScalar32(inst.src[0], wave) >> (ReadScalar32(inst.src[1], wave) & 31) & 1;
  wave.mode = (wave.mode & ~kModeVskip) | (bit != 0 ? kModeVskip : 0);
  wave.CountRegisters();
  return ExecResult::kNext;
}

// --- Subvector loops of RDNA3: the halves of a wave64 one after the other --------------------------------

ExecResult SubvectorLoop(const Inst& inst, WaveState& wave, bool begin) {
  if (wave.wave_size != 64) {
    return RaiseFault(wave, FaultKind::kIllegalInstruction, -1, "a subvector loop in a wave of 32 lanes");
  }
  uint32_t& lo = wave.sgpr[kExecLo];
  uint32_t& hi = wave.sgpr[kExecHi];
  const Operand& saved = SopkRegister(inst);
  if (begin) {
    if (lo == 0 && hi == 0) return Jump(inst, wave);
    WriteScalar32(saved, wave, lo == 0 ? 0 : hi);
    if (lo != 0) hi = 0;
    return ExecResult::kNext;
  }
  const uint32_t other = ReadScalar32(saved, wave);
  if (hi != 0) {  // the high pass ends
    lo = other;
    return ExecResult::kNext;
  }
  if (other == 0) return ExecResult::kNext;  // there is no high pass
  WriteScalar32(saved, wave, lo);
  hi = other;
  lo = 0;
  return Jump(inst, wave);
}
ExecResult SubvectorBegin(const Inst& inst, WaveState& wave) { return SubvectorLoop(inst, wave, true); }
ExecResult SubvectorEnd(const Inst& inst, WaveState& wave) { return SubvectorLoop(inst, wave, false); }

// --- Messages, traps, ends and waits --------------------------------------------------------------------

// A halted wave runs on in its trap handler, and stops for good outside it: there is no debugger to resume
// it.
ExecResult StopIfHalted(WaveState& wave) {
  if (!wave.hw->halt || wave.hw->priv) return ExecResult::kNext;
  return RaiseFault(wave, FaultKind::kHang, -1, "the wave is halted, and there is no debugger to resume it");
}

ExecResult RefuseMessage(WaveState& wave, uint32_t message) {
  return RaiseFault(wave, FaultKind::kUnsupported, -1,
                    absl::StrFormat("message %d (%s) is refused", message, MessageName(wave.isa, message)));
}

ExecResult SendMsg(const Inst& inst, WaveState& wave) {
  const uint32_t message = static_cast<uint32_t>(inst.simm) & (IsCdna(wave.isa) ? 0xf : 0xff);
  if (message == kMsgInterrupt) return ExecResult::kNext;  // the host learns of it by other means
  // The wave gives its VGPRs back early: nothing that a program can see.
  if (IsRdna(wave.isa) && message == kMsgDeallocVgprs) return ExecResult::kNext;
  if (IsCdna(wave.isa) && message == kMsgGetDoorbell) {
    // The doorbell's number arrives in EXEC_LO, whose bit 31 says "not yet" (ROCr's trap handler).
    wave.sgpr[kExecLo] = wave.hw->doorbell & 0x7fffffffu;
    return ExecResult::kNext;
  }
  return RefuseMessage(wave, message);
}

ExecResult SendMsgHalt(const Inst& inst, WaveState& wave) {
  const ExecResult sent = SendMsg(inst, wave);
  if (sent != ExecResult::kNext) return sent;
  wave.hw->halt = true;
  return StopIfHalted(wave);
}

template <int kDwords>
ExecResult SendMsgRtn(const Inst& inst, WaveState& wave) {
  const uint32_t message = static_cast<uint32_t>(inst.simm) & 0xff;
  uint64_t value = 0;
  switch (message) {
    case kMsgRtnGetDoorbell:
      value = wave.hw->doorbell;
      break;
    case kMsgRtnGetDdid:
      break;  // draws have one, dispatches do not
    case kMsgRtnGetTma:
      value = wave.hw->tma >> 8;
      break;
    case kMsgRtnGetRealtime:
      value = wave.clock / kInstructionsPerRealtimeTick;
      break;
    case kMsgRtnGetTba:
      value = wave.hw->tba >> 8;
      break;
    case kMsgRtnGetSeAidId:
      if (wave.isa != Isa::kRdna4) return RefuseMessage(wave, message);
      break;  // shader engine 0
    default:
      return RefuseMessage(wave, message);
  }
  if (kDwords == 1) {
    WriteScalar32(inst.dst[0], wave, static_cast<uint32_t>(value));
  } else {
    WriteScalar64(inst.dst[0], wave, value);
  }
  return ExecResult::kNext;
}

// The handler gets the address of the s_trap itself and the trap's number in TTMP0 and TTMP1.
ExecResult Trap(const Inst& inst, WaveState& wave) {
  WaveHw& hw = *wave.hw;
  const uint32_t id = static_cast<uint32_t>(inst.simm) & (wave.isa == Isa::kRdna4 ? 0xf : 0xff);
  if (hw.tba == 0) {
    return RaiseFault(wave, FaultKind::kTrap, -1,
                      absl::StrFormat("trap %d, and no trap handler is installed", inst.simm & 0xff));
  }
  if (hw.priv) {
    return RaiseFault(wave, FaultKind::kTrap, -1, absl::StrFormat("trap %d inside the trap handler", id));
  }
  wave.sgpr[kTtmp0] = static_cast<uint32_t>(wave.pc);
  wave.sgpr[kTtmp0 + 1] =
      (static_cast<uint32_t>(wave.pc >> 32) & 0xffff) | id << (wave.isa == Isa::kRdna4 ? 28 : 16);
  hw.priv = true;
  wave.pc = hw.tba;
  return ExecResult::kBranch;
}

ExecResult ReturnFromTrap(const Inst& inst, WaveState& wave) {
  if (!wave.hw->priv) {
    return RaiseFault(wave, FaultKind::kIllegalInstruction, -1,
                      "a return from the trap handler outside of it");
  }
  wave.hw->priv = false;
  const ExecResult stop = StopIfHalted(wave);
  if (stop != ExecResult::kNext) return stop;
  wave.pc = ReadScalar64(inst.src[0], wave) & LowMask(48);  // the handler need not clear the trap number
  return ExecResult::kBranch;
}

ExecResult SetHalt(const Inst& inst, WaveState& wave) {
  wave.hw->halt = (inst.simm & 1) != 0;
  return StopIfHalted(wave);
}

ExecResult SetKill(const Inst& inst, WaveState&) {
  return (inst.simm & 1) != 0 ? ExecResult::kEnd : ExecResult::kNext;
}

ExecResult CodeEnd(const Inst&, WaveState& wave) {
  return RaiseFault(wave, FaultKind::kIllegalInstruction, -1, "the wave ran past the end of its program");
}

ExecResult End(const Inst&, WaveState&) { return ExecResult::kEnd; }
ExecResult Yield(const Inst&, WaveState&) { return ExecResult::kYield; }
ExecResult FlushCode(const Inst&, WaveState&) { return ExecResult::kFlushCode; }

}  // namespace

ExecFn FindScalarControlExec(const Inst& inst) {
  if (const ExecFn fn = FindHwRegExec(inst)) return fn;
  if (const ExecFn fn = FindBarrierExec(inst)) return fn;
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
    case Opcode::S_CBRANCH_G_FORK:
      return &ForkG;
    case Opcode::S_CBRANCH_I_FORK:
      return &ForkI;
    case Opcode::S_CBRANCH_JOIN:
      return &Join;
    case Opcode::S_SET_GPR_IDX_ON:
      return &IndexOn;
    case Opcode::S_SET_GPR_IDX_OFF:
      return &IndexOff;
    case Opcode::S_SET_GPR_IDX_MODE:
      return &IndexMode;
    case Opcode::S_SET_GPR_IDX_IDX:
      return &IndexIndex;
    case Opcode::S_SETVSKIP:
      return &SetVskip;
    case Opcode::S_SUBVECTOR_LOOP_BEGIN:
      return &SubvectorBegin;
    case Opcode::S_SUBVECTOR_LOOP_END:
      return &SubvectorEnd;
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
    case Opcode::S_SENDMSGHALT:
      return &SendMsgHalt;
    case Opcode::S_TRAP:
      return &Trap;
    case Opcode::S_RFE_B64:
    case Opcode::S_RFE_RESTORE_B64:
      return &ReturnFromTrap;
    case Opcode::S_SETHALT:
      return &SetHalt;
    case Opcode::S_SETKILL:
      return &SetKill;
    case Opcode::S_CODE_END:
      return &CodeEnd;
    case Opcode::S_ENDPGM:
    case Opcode::S_ENDPGM_SAVED:
      return &End;
    case Opcode::S_SLEEP:
    case Opcode::S_SLEEP_VAR:
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
    case Opcode::S_WAIT_ALU:
    case Opcode::S_WAIT_LOADCNT:
    case Opcode::S_WAIT_STORECNT:
    case Opcode::S_WAIT_SAMPLECNT:
    case Opcode::S_WAIT_BVHCNT:
    case Opcode::S_WAIT_EXPCNT:
    case Opcode::S_WAIT_DSCNT:
    case Opcode::S_WAIT_KMCNT:
    case Opcode::S_WAIT_LOADCNT_DSCNT:
    case Opcode::S_WAIT_STORECNT_DSCNT:
    case Opcode::S_SET_VALU_COEXEC_MODE:
      return &Nothing;
    default:
      return nullptr;
  }
}

std::string ScalarRefusal(const Inst& inst) {
  return inst.op == Opcode::S_ENDPGM_ORDERED_PS_DONE ? "a pixel shader instruction" : "";
}

OpState ScalarState(Isa isa, Opcode op) {
  Inst inst;
  inst.isa = isa;
  inst.op = op;
  switch (op) {
    case Opcode::S_SENDMSG:
    case Opcode::S_SENDMSGHALT:
      return {SemanticState::kExact,
              "MSG_INTERRUPT, MSG_DEALLOC_VGPRS and (CDNA) MSG_GET_DOORBELL; others are refused"};
    case Opcode::S_SENDMSG_RTN_B32:
    case Opcode::S_SENDMSG_RTN_B64:
      return {SemanticState::kExact,
              "all but MSG_RTN_SAVE_WAVE and MSG_RTN_GET_TBA_TO_PC; the clock counts instructions"};
    case Opcode::S_TRAP:
      return {SemanticState::kExact,
              "enters the handler that the host installed; a fault where there is none"};
    case Opcode::S_SETHALT:
      return {SemanticState::kExact, "a halted wave is a hang: there is no debugger to resume it"};
    default:
      if (FindScalarExec(inst) != nullptr) return {SemanticState::kExact, ""};
      return {SemanticState::kRefused, ScalarRefusal(inst)};
  }
}

}  // namespace understudy::emu::amd
