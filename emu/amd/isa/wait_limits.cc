// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/isa/wait_limits.h"

namespace understudy::emu::amd {

WaitLimits WaitLimitsOf(const Inst& inst, uint32_t source) {
  WaitLimits w;
  const uint32_t imm = static_cast<uint32_t>(inst.simm) & 0xffffu;
  const auto set = [&w](WaitCounter counter, uint32_t limit) {
    w.limit[static_cast<int>(counter)] = static_cast<int>(limit);
    w.any = true;
  };
  if (inst.enc == Encoding::VINTERP) {
    set(WaitCounter::kExp, inst.wait_exp);
    return w;
  }
  switch (inst.op) {
    case Opcode::S_WAITCNT:
      if (IsCdna(inst.isa)) {
        set(WaitCounter::kVm, (imm & 15) | (imm >> 14 & 3) << 4);
        set(WaitCounter::kExp, imm >> 4 & 7);
        set(WaitCounter::kLgkm, imm >> 8 & 15);
      } else {
        set(WaitCounter::kExp, imm & 7);
        set(WaitCounter::kLgkm, imm >> 4 & 63);
        set(WaitCounter::kVm, imm >> 10 & 63);
      }
      break;
    case Opcode::S_WAITCNT_VMCNT:
      set(WaitCounter::kVm, (imm + source) & 63);
      break;
    case Opcode::S_WAITCNT_VSCNT:
      set(WaitCounter::kVs, (imm + source) & 63);
      break;
    case Opcode::S_WAITCNT_EXPCNT:
      set(WaitCounter::kExp, (imm + source) & 7);
      break;
    case Opcode::S_WAITCNT_LGKMCNT:
      set(WaitCounter::kLgkm, (imm + source) & 63);
      break;
    case Opcode::S_WAIT_LOADCNT:
      set(WaitCounter::kLoad, imm & 63);
      break;
    case Opcode::S_WAIT_STORECNT:
      set(WaitCounter::kStore, imm & 63);
      break;
    case Opcode::S_WAIT_SAMPLECNT:
      set(WaitCounter::kSample, imm & 63);
      break;
    case Opcode::S_WAIT_BVHCNT:
      set(WaitCounter::kBvh, imm & 7);
      break;
    case Opcode::S_WAIT_EXPCNT:
      set(WaitCounter::kExp, imm & 7);
      break;
    case Opcode::S_WAIT_DSCNT:
      set(WaitCounter::kDs, imm & 63);
      break;
    case Opcode::S_WAIT_KMCNT:
      set(WaitCounter::kKm, imm & 31);
      break;
    case Opcode::S_WAIT_LOADCNT_DSCNT:
      set(WaitCounter::kDs, imm & 63);
      set(WaitCounter::kLoad, imm >> 8 & 63);
      break;
    case Opcode::S_WAIT_STORECNT_DSCNT:
      set(WaitCounter::kDs, imm & 63);
      set(WaitCounter::kStore, imm >> 8 & 63);
      break;
    case Opcode::S_WAIT_IDLE:
      for (int c = 0; c < kNumWaitCounters; ++c) set(static_cast<WaitCounter>(c), 0);
      break;
    default:
      break;
  }
  return w;
}

}  // namespace understudy::emu::amd
