// SPDX-License-Identifier: Apache-2.0
// The hazards of RDNA, which end with an event (another VALU instruction, s_waitcnt_depctr) instead of a
// distance.

#include <algorithm>
#include <cstring>
#include <iterator>

#include "emu/amd/check/hazards.h"

namespace understudy::emu::amd::check {
namespace {

struct StateRow {
  const char* what;
  const char* source;
};
enum StateHazard {
#define HAZARD_STATE(name, isas, what, source) name,
#include "emu/amd/check/hazards.inc"
};
constexpr StateRow kStates[] = {
#define HAZARD_STATE(name, isas, what, source) {what, source},
#include "emu/amd/check/hazards.inc"
};

bool Named(const Facts& f, const char* prefix) {
  return std::strncmp(OpcodeName(f.inst.op), prefix, std::strlen(prefix)) == 0;
}

bool IsValu(const Facts& f) { return f.effects.unit == Unit::kValu; }
bool IsSalu(const Facts& f) { return f.effects.unit == Unit::kSalu || f.effects.unit == Unit::kBranch; }
bool IsVectorMemory(const Facts& f) {
  return f.effects.unit == Unit::kVmem || f.effects.unit == Unit::kFlat || f.effects.unit == Unit::kLds;
}

// Fields of s_waitcnt_depctr and s_wait_alu: va_vdst 15:12, va_sdst 11:9, vm_vsrc 4:2, va_vcc 1, sa_sdst 0.
struct DepCtr {
  bool va_vdst = false, va_sdst = false, vm_vsrc = false, va_vcc = false, sa_sdst = false;  // waits for 0

  explicit DepCtr(const Facts& f) {
    if (f.inst.op != Opcode::S_WAITCNT_DEPCTR && f.inst.op != Opcode::S_WAIT_ALU) return;
    const uint32_t imm = static_cast<uint32_t>(f.inst.simm);
    va_vdst = (imm >> 12 & 15) == 0;
    va_sdst = (imm >> 9 & 7) == 0;
    vm_vsrc = (imm >> 2 & 7) == 0;
    va_vcc = (imm >> 1 & 1) == 0;
    sa_sdst = (imm & 1) == 0;
  }
};

bool EndsValu(const Facts& f) {
  return IsVectorMemory(f) || f.effects.unit == Unit::kExport || DepCtr(f).va_vdst;
}

bool Uses(const std::vector<RegSpan>& spans, int reg) {
  return std::any_of(spans.begin(), spans.end(),
                     [reg](const RegSpan& s) { return reg >= s.first && reg < s.first + s.count; });
}

// Calls and returns take longer than these hazards last (LLVM looks at one function).
bool LeavesFunction(const Facts& f) {
  return f.inst.op == Opcode::S_SETPC_B64 || f.inst.op == Opcode::S_SWAPPC_B64 ||
         f.inst.op == Opcode::S_CALL_B64;
}

bool Touches(const std::vector<RegSpan>& spans, const RegSpan& wanted) {
  return std::any_of(spans.begin(), spans.end(), [&wanted](const RegSpan& s) {
    return s.first < wanted.first + wanted.count && wanted.first < s.first + s.count;
  });
}

// VGPRs that an instruction reads through its operands; tied accumulators count as one of them.
template <class Fn>
void ForEachVgprRead(const Facts& f, Fn&& fn) {
  for (const RegSpan& span : f.reads) {
    if (span.operand < 0 || !IsVector(span.first)) continue;
    for (int reg = span.first; reg < span.first + span.count; ++reg) fn(reg);
  }
}

int Index(int reg) { return reg - kFirstSgpr; }
bool IsTrackedSgpr(int reg) {
  if (reg < kFirstSgpr || reg >= kFirstSgpr + 128) return false;
  const int s = Index(reg);
  return s != kM0 && s != kNull && s != kExecLo && s != kExecHi;
}
bool IsVccReg(int s) { return s == kVccLo || s == kVccHi; }

// The scalar registers that a VALU instruction reads as a lane mask.
const Operand* MaskSource(const Inst& inst) {
  const char* name = OpcodeName(inst.op);
  for (const char* prefix : {"V_CNDMASK", "V_ADD_CO_CI", "V_SUB_CO_CI", "V_SUBREV_CO_CI"}) {
    if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) return &inst.src[2];
  }
  if (std::strncmp(name, "V_DIV_FMAS", 10) == 0) return &inst.src[3];
  return nullptr;
}

}  // namespace

ExecResult HazardTracker::CheckRdna(const Facts& facts, WaveState& wave) {
  const Isa isa = facts.inst.isa;
  const auto report = [&](StateHazard hazard, const Facts& other, int reg) {
    return Report(facts, other, reg, kStates[hazard].what, "a data hazard", kStates[hazard].source, wave);
  };
  if (Named(facts, "V_PERMLANE")) {
    for (const Past& past : past_) {
      if (!IsValu(*past.facts) || past.facts->inst.op == Opcode::V_NOP) continue;
      if (Named(*past.facts, "V_CMPX") && report(kVcmpxPermlane, *past.facts, -1) == ExecResult::kFault) {
        return ExecResult::kFault;
      }
      break;
    }
  }
  if (facts.effects.matrix) {
    for (const Past& past : past_) {
      if (!IsValu(*past.facts)) continue;
      if (!past.facts->effects.matrix) break;
      for (const RegSpan& span : facts.reads) {
        const bool index = span.operand == 2 && isa == Isa::kRdna4 && Named(facts, "V_SWMMAC");
        if ((span.operand != 0 && span.operand != 1 && !index) || !IsVector(span.first)) continue;
        for (int reg = span.first; reg < span.first + span.count; ++reg) {
          if (Uses(past.facts->writes, reg)) {
            if (report(kWmma, *past.facts, reg) == ExecResult::kFault) return ExecResult::kFault;
            break;
          }
        }
      }
      break;
    }
  }
  if (facts.effects.unit == Unit::kLdsDirect && CheckLdsDirect(facts, wave) == ExecResult::kFault) {
    return ExecResult::kFault;
  }
  if (isa == Isa::kRdna3 && IsValu(facts) && CheckTransUse(facts, wave) == ExecResult::kFault) {
    return ExecResult::kFault;
  }
  if (isa == Isa::kRdna4) return CheckSgprRead(facts, wave);
  if (wave.wave_size == 64) {
    if (IsValu(facts) && CheckPartialForwarding(facts, wave) == ExecResult::kFault) return ExecResult::kFault;
    return CheckMaskWrite(facts, wave);
  }
  return ExecResult::kNext;
}

// Within 5 VALU and 1 transcendental instructions.
ExecResult HazardTracker::CheckTransUse(const Facts& facts, WaveState& wave) {
  int valus = 0, transes = 0;
  for (const Past& past : past_) {
    const Facts& p = *past.facts;
    if (valus > 5 || transes > 1 || EndsValu(p)) return ExecResult::kNext;
    if (!IsValu(p)) continue;
    if (p.effects.trans) {
      int used = -1;
      ForEachVgprRead(facts, [&](int reg) {
        if (used < 0 && Uses(p.writes, reg)) used = reg;
      });
      if (used >= 0) {
        return Report(facts, p, used, kStates[kTransUse].what, "a data hazard", kStates[kTransUse].source,
                      wave);
      }
      ++transes;
    }
    ++valus;
  }
  return ExecResult::kNext;
}

// Va <- VALU; at most 2 VALU around a SALU write of EXEC; Vb <- VALU; at most 4 VALU; an instruction that
// reads both.
ExecResult HazardTracker::CheckPartialForwarding(const Facts& facts, WaveState& wave) {
  // One of these is an operand, of one or more registers, of which the last write counts.
  const RegSpan* sources[8];
  int count = 0;
  for (const RegSpan& span : facts.reads) {
    if (span.operand < 0 || !IsVector(span.first) || count == 8) continue;
    const bool seen = std::any_of(sources, sources + count, [&span](const RegSpan* s) {
      return s->first == span.first && s->count == span.count;
    });
    if (!seen) sources[count++] = &span;
  }
  if (count <= 1) return ExecResult::kNext;
  constexpr int kNone = 1 << 20;
  int written_at[8];
  const Facts* writer[8] = {};
  std::fill(std::begin(written_at), std::end(written_at), kNone);
  int exec_at = kNone, valus = 0;
  for (const Past& past : past_) {
    const Facts& p = *past.facts;
    if (valus > 8 || EndsValu(p) || LeavesFunction(p)) return ExecResult::kNext;
    bool any = false;
    if (IsValu(p)) {
      for (int i = 0; i < count; ++i) {
        if (written_at[i] == kNone && Touches(p.writes, *sources[i])) {
          written_at[i] = valus;
          writer[i] = &p;
        }
      }
      ++valus;
    } else if (IsSalu(p) && exec_at == kNone &&
               (Uses(p.writes, kFirstSgpr + kExecLo) || Uses(p.writes, kFirstSgpr + kExecHi)) &&
               std::any_of(written_at, written_at + count, [](int at) { return at != kNone; })) {
      exec_at = valus;
    }
    for (int i = 0; i < count; ++i) any |= written_at[i] != kNone;
    if (valus > 5 && !any) return ExecResult::kNext;
    if (exec_at == kNone) continue;
    int before = kNone, after = kNone, before_index = -1;
    for (int i = 0; i < count; ++i) {
      if (written_at[i] == kNone) continue;
      if (written_at[i] >= exec_at) {
        if (written_at[i] < before) before = written_at[i], before_index = i;
      } else {
        after = std::min(after, written_at[i]);
      }
    }
    if (after == kNone || after > 4 || exec_at - after - 1 > 2) return ExecResult::kNext;
    if (before == kNone) continue;
    if (before - exec_at + exec_at - after - 1 > 2) return ExecResult::kNext;
    return Report(facts, *writer[before_index], sources[before_index]->first,
                  kStates[kPartialForwarding].what, "a data hazard", kStates[kPartialForwarding].source,
                  wave);
  }
  return ExecResult::kNext;
}

ExecResult HazardTracker::CheckLdsDirect(const Facts& facts, WaveState& wave) {
  if (facts.writes.empty()) return ExecResult::kNext;
  const int reg = facts.writes[0].first;
  int valus = 0;
  bool trans = false;
  for (const Past& past : past_) {
    const Facts& p = *past.facts;
    if (valus >= 15 || IsVectorMemory(p) || p.effects.unit == Unit::kExport) break;
    if (!IsValu(p)) continue;
    trans |= p.effects.trans;
    if (Uses(p.reads, reg) || Uses(p.writes, reg)) {
      if (facts.inst.wait_vdst > (trans ? 0 : valus) &&
          Report(facts, p, reg, kStates[kLdsDirectValu].what, "its wait_vdst is too large",
                 kStates[kLdsDirectValu].source, wave) == ExecResult::kFault) {
        return ExecResult::kFault;
      }
      break;
    }
    ++valus;
  }
  for (const Past& past : past_) {
    const Facts& p = *past.facts;
    const bool waits_all = p.inst.op == Opcode::S_WAITCNT && (p.inst.simm & 0xffff) == 0;
    if (IsValu(p) || p.effects.unit == Unit::kExport || DepCtr(p).vm_vsrc || waits_all) break;
    if (!IsVectorMemory(p) || (!Uses(p.reads, reg) && !Uses(p.writes, reg))) continue;
    return Report(facts, p, reg, kStates[kLdsDirectVmem].what, "no vm_vsrc(0)",
                  kStates[kLdsDirectVmem].source, wave);
  }
  return ExecResult::kNext;
}

// VALU reads s as a mask (tracked_by_), SALU writes s (salu_written_), SALU reads s.
ExecResult HazardTracker::CheckMaskWrite(const Facts& facts, WaveState& wave) {
  const DepCtr wait(facts);
  if (wait.sa_sdst || wait.va_sdst || wait.va_vcc || LeavesFunction(facts)) {
    tracked_.reset();
    std::fill(std::begin(salu_written_), std::end(salu_written_), nullptr);
    return ExecResult::kNext;
  }
  if (IsSalu(facts)) {
    for (const RegSpan& span : facts.reads) {
      for (int reg = span.first; reg < span.first + span.count; ++reg) {
        if (!IsTrackedSgpr(reg) || salu_written_[Index(reg)] == nullptr) continue;
        const Facts& writer = *salu_written_[Index(reg)];
        salu_written_[Index(reg)] = nullptr;
        if (Report(facts, writer, reg, kStates[kMaskWrite].what, "no sa_sdst(0)", kStates[kMaskWrite].source,
                   wave) == ExecResult::kFault) {
          return ExecResult::kFault;
        }
      }
    }
    for (const RegSpan& span : facts.writes) {
      for (int reg = span.first; reg < span.first + span.count; ++reg) {
        if (IsTrackedSgpr(reg) && tracked_[Index(reg)]) salu_written_[Index(reg)] = &facts;
      }
    }
    return ExecResult::kNext;
  }
  if (!IsValu(facts)) return ExecResult::kNext;
  const Operand* mask = MaskSource(facts.inst);
  // Reading any other SGPR or a literal ends what earlier mask reads began.
  bool other = facts.inst.has_literal;
  for (const RegSpan& span : facts.reads) other |= span.operand >= 0 && IsTrackedSgpr(span.first);
  if (other) tracked_.reset();
  if (mask != nullptr && mask->is_sgpr()) {
    for (int i = 0; i < std::max<int>(mask->dwords, 1); ++i) tracked_.set(mask->reg + i);
  }
  return ExecResult::kNext;
}

ExecResult HazardTracker::CheckSgprRead(const Facts& facts, WaveState& wave) {
  const bool valu = IsValu(facts), salu = IsSalu(facts);
  if (facts.effects.unit == Unit::kVmem || facts.effects.unit == Unit::kScalarMemory) {
    std::fill(std::begin(salu_written_), std::end(salu_written_), nullptr);
    std::fill(std::begin(valu_written_), std::end(valu_written_), nullptr);
    return ExecResult::kNext;
  }
  const DepCtr wait(facts);
  for (int s = 0; s < 128; ++s) {
    if (wait.sa_sdst) salu_written_[s] = nullptr;
    if (IsVccReg(s) ? wait.va_vcc : wait.va_sdst) valu_written_[s] = nullptr;
  }
  if (!valu && !salu) return ExecResult::kNext;
  const auto for_each = [](const std::vector<RegSpan>& spans, auto&& fn) {
    for (const RegSpan& span : spans) {
      for (int reg = span.first; reg < span.first + span.count; ++reg) {
        if (IsTrackedSgpr(reg)) fn(Index(reg));
      }
    }
  };
  ExecResult result = ExecResult::kNext;
  for_each(facts.reads, [&](int s) {
    if (!tracked_[s]) return;
    // The SALU waits for VALU results by itself, and so for all before them.
    if (salu) {
      for (int i = 0; i < 128; ++i) {
        if (IsVccReg(i) == IsVccReg(s)) valu_written_[i] = nullptr;
      }
    }
    const Facts* writer = salu_written_[s] != nullptr ? salu_written_[s] : valu_written_[s];
    if (writer == nullptr) return;
    const char* missing = salu_written_[s] != nullptr ? "no sa_sdst(0)"
                          : IsVccReg(s)               ? "no va_vcc(0)"
                                                      : "no va_sdst(0)";
    salu_written_[s] = valu_written_[s] = nullptr;
    if (Report(facts, *writer, kFirstSgpr + s, kStates[kSgprRead].what, missing, kStates[kSgprRead].source,
               wave) == ExecResult::kFault) {
      result = ExecResult::kFault;
    }
  });
  if (result == ExecResult::kFault) return result;
  if (valu) {
    for_each(facts.reads, [&](int s) {
      tracked_.set(s & ~1);
      tracked_.set(s | 1);
    });
  }
  for_each(facts.writes, [&](int s) {
    if (!tracked_[s]) return;
    (salu ? salu_written_ : valu_written_)[s] = &facts;
    (salu ? valu_written_ : salu_written_)[s] = nullptr;
  });
  return ExecResult::kNext;
}

}  // namespace understudy::emu::amd::check
