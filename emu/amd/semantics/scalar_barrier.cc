// SPDX-License-Identifier: Apache-2.0
// Barriers (RDNA3 ISA S_BARRIER; RDNA4 ISA, "Barriers" and S_BARRIER_SIGNAL to S_GET_BARRIER_STATE) and the
// dynamic allocation of VGPRs (RDNA4 ISA, S_ALLOC_VGPR). What waits is woken by the dispatch loop.

#include <algorithm>

#include "absl/strings/str_format.h"
#include "emu/amd/core/hw_state.h"
#include "emu/amd/semantics/scalar_control.h"
#include "emu/amd/semantics/scalar_operands.h"
#include "src/base/bits.h"

namespace understudy::emu::amd {
namespace {

ExecResult WholeBarrier(const Inst&, WaveState&) { return ExecResult::kBarrier; }

// -1 the workgroup's, -2 the trap handlers', 1 to 16 named; 0 is none. M0 4:0 cannot name the negative ones.
int BarrierNumber(const Inst& inst, const WaveState& wave) {
  const Operand& id = inst.src[0];
  if (id.is_sgpr()) return static_cast<int>(ReadScalar32(id, wave) & 31);
  return static_cast<int>(static_cast<int32_t>(id.imm));
}

// nullptr where signalling has no effect.
SplitBarrier* FindBarrier(WaveState& wave, int number) {
  WaveHw& hw = *wave.hw;
  if (number == -1) return wave.waves_in_group > 1 ? &hw.group->barrier[kWorkgroupBarrier] : nullptr;
  if (number == -2) return hw.priv && wave.waves_in_group > 1 ? &hw.group->barrier[kTrapBarrier] : nullptr;
  if (number >= 1 && number <= kNamedBarriers) return &hw.group->barrier[number];
  return nullptr;
}

ExecResult BadBarrier(WaveState& wave, int number) {
  return RaiseFault(wave, FaultKind::kIllegalInstruction, -1,
                    absl::StrFormat("barrier %d, expected -2, -1 or 0 to %d", number, kNamedBarriers));
}

ExecResult Signal(const Inst& inst, WaveState& wave) {
  const int number = BarrierNumber(inst, wave);
  if (number < -2 || number > kNamedBarriers) return BadBarrier(wave, number);
  if (SplitBarrier* barrier = FindBarrier(wave, number)) {
    ++barrier->signals;
    wave.hw->group->CompleteIfFull(*barrier);
  }
  return ExecResult::kNext;
}

ExecResult SignalIsFirst(const Inst& inst, WaveState& wave) {
  const int number = BarrierNumber(inst, wave);
  if (number < -2 || number > kNamedBarriers) return BadBarrier(wave, number);
  SplitBarrier* barrier = FindBarrier(wave, number);
  wave.scc = barrier != nullptr && barrier->signals == 0;
  return Signal(inst, wave);
}

// The wave's "complete" bit of the barrier: set by each completion, cleared by the wait. Negative numbers are
// the workgroup's and the trap handlers' barrier; others mean the named barrier that the wave has joined.
ExecResult Wait(const Inst& inst, WaveState& wave) {
  WaveHw& hw = *wave.hw;
  SplitBarrier* barrier = nullptr;
  uint64_t* seen = nullptr;
  if (inst.simm < 0) {
    barrier = FindBarrier(wave, inst.simm == -1 ? -1 : -2);
    seen = inst.simm == -1 ? &hw.seen_workgroup : &hw.seen_trap;
  } else if (hw.named_barrier != 0) {
    barrier = &hw.group->barrier[hw.named_barrier];
    seen = &hw.seen_named;
  }
  if (barrier == nullptr) return ExecResult::kNext;
  if (barrier->completions == *seen) return ExecResult::kWait;
  *seen = barrier->completions;
  return ExecResult::kNext;
}

uint32_t MembersInM0(const WaveState& wave) { return static_cast<uint32_t>(Bits(wave.sgpr[kM0], 22, 16)); }

ExecResult Named(WaveState& wave, int number) {
  return RaiseFault(wave, FaultKind::kIllegalInstruction, -1,
                    absl::StrFormat("barrier %d has no name, expected 1 to %d", number, kNamedBarriers));
}

ExecResult Init(const Inst& inst, WaveState& wave) {
  const int number = BarrierNumber(inst, wave);
  if (number < 1 || number > kNamedBarriers) return Named(wave, number);
  SplitBarrier& barrier = wave.hw->group->barrier[number];
  barrier.members = MembersInM0(wave);
  barrier.signals = 0;
  return ExecResult::kNext;
}

ExecResult Join(const Inst& inst, WaveState& wave) {
  const int number = BarrierNumber(inst, wave);
  if (number < 0 || number > kNamedBarriers) return Named(wave, number);
  wave.hw->named_barrier = number;
  wave.hw->seen_named = number == 0 ? 0 : wave.hw->group->barrier[number].completions;
  return ExecResult::kNext;
}

// The wave no longer counts as a member of the named barrier that it has joined; SCC says whether there was
// one.
ExecResult Leave(const Inst&, WaveState& wave) {
  WaveHw& hw = *wave.hw;
  wave.scc = hw.named_barrier != 0;
  if (hw.named_barrier == 0) return ExecResult::kNext;
  SplitBarrier& barrier = hw.group->barrier[hw.named_barrier];
  if (barrier.members > 0) --barrier.members;
  hw.named_barrier = 0;
  hw.group->CompleteIfFull(barrier);
  return ExecResult::kNext;
}

// {signals 22:16, members 10:4, valid 0}
ExecResult GetState(const Inst& inst, WaveState& wave) {
  const int number = BarrierNumber(inst, wave);
  if (number < -2 || number > kNamedBarriers) return BadBarrier(wave, number);
  const int index = number == -1 ? kWorkgroupBarrier : number == -2 ? kTrapBarrier : number;
  const SplitBarrier& barrier = wave.hw->group->barrier[index];
  const bool exists = number != 0;
  const uint32_t state =
      (barrier.signals & 0x7f) << 16 | (barrier.members & 0x7f) << 4 | (barrier.members != 0);
  WriteScalar32(inst.dst[0], wave, exists ? state : 0);
  return ExecResult::kNext;
}

// Waves never compete for registers here, so a request fails only beyond the limit of eight blocks.
ExecResult AllocVgpr(const Inst& inst, WaveState& wave) {
  WaveHw& hw = *wave.hw;
  if (hw.dynamic_vgpr_block == 0 || wave.wave_size != 32) {
    return RaiseFault(wave, FaultKind::kIllegalInstruction, -1,
                      "s_alloc_vgpr without COMPUTE_PGM_RSRC2.DYNAMIC_VGPR, or in a wave of 64 lanes");
  }
  const uint32_t asked = ReadScalar32(inst.src[0], wave) & 0x1ff;
  const uint32_t rounded = static_cast<uint32_t>(AlignUp(asked, hw.dynamic_vgpr_block));
  wave.scc = rounded <= hw.max_vgprs;
  if (!wave.scc) return ExecResult::kNext;
  // What the launch allocated stays.
  const uint32_t now = std::max(rounded, hw.first_vgprs);
  if (now > wave.num_vgprs) {
    std::fill(wave.Vgpr(static_cast<int>(wave.num_vgprs)), wave.Vgpr(static_cast<int>(now)), hw.fill);
  }
  wave.num_vgprs = now;
  wave.CountRegisters();
  return ExecResult::kNext;
}

}  // namespace

ExecFn FindBarrierExec(const Inst& inst) {
  switch (inst.op) {
    case Opcode::S_BARRIER:
      return &WholeBarrier;
    case Opcode::S_BARRIER_SIGNAL:
      return &Signal;
    case Opcode::S_BARRIER_SIGNAL_ISFIRST:
      return &SignalIsFirst;
    case Opcode::S_BARRIER_WAIT:
      return &Wait;
    case Opcode::S_BARRIER_INIT:
      return &Init;
    case Opcode::S_BARRIER_JOIN:
      return &Join;
    case Opcode::S_BARRIER_LEAVE:
      return &Leave;
    case Opcode::S_GET_BARRIER_STATE:
      return &GetState;
    case Opcode::S_ALLOC_VGPR:
      return &AllocVgpr;
    default:
      return nullptr;
  }
}

}  // namespace understudy::emu::amd
