// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/check/defined.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "absl/strings/str_format.h"

namespace understudy::emu::amd::check {
namespace {

bool Named(const Facts& f, const char* prefix) {
  return std::strncmp(OpcodeName(f.inst.op), prefix, std::strlen(prefix)) == 0;
}
bool Contains(const Facts& f, const char* part) {
  return std::strstr(OpcodeName(f.inst.op), part) != nullptr;
}

// Sums and products: a bit depends on those at and below its place.
uint32_t Upwards(uint32_t u) { return u | (0u - u); }
uint32_t AnyAll(uint32_t u) { return u == 0 ? 0 : ~0u; }

bool SameRegister(const Operand& a, const Operand& b) {
  return a.kind == b.kind && a.reg == b.reg &&
         (a.kind == Operand::Kind::kVgpr || a.kind == Operand::Kind::kSgpr);
}

// Results that do not depend on their source where both are one register.
bool CancelsItself(const Facts& f) {
  if (f.inst.dpp.kind != DppInfo::Kind::kNone || !SameRegister(f.inst.src[0], f.inst.src[1])) return false;
  return Named(f, "V_XOR_B32") || Named(f, "S_XOR_B") || Named(f, "V_SUB_NC_U32") || Named(f, "V_SUB_U32") ||
         Named(f, "S_SUB_U32") || Named(f, "S_SUB_I32");
}

int RegOf(const Operand& operand) {
  return operand.kind == Operand::Kind::kAgpr ? kAgprBase + operand.reg : operand.reg;
}
bool IsVectorOperand(const Operand& operand) {
  return operand.kind == Operand::Kind::kVgpr || operand.kind == Operand::Kind::kAgpr;
}

// Undefined bits of a & b and a | b: where the defined bits of the other do not decide.
uint32_t AndBits(uint32_t a, uint32_t ua, uint32_t b, uint32_t ub) { return (ua | ub) & (ua | a) & (ub | b); }
uint32_t OrBits(uint32_t a, uint32_t ua, uint32_t b, uint32_t ub) {
  return (ua | ub) & (ua | ~a) & (ub | ~b);
}

uint32_t ShiftBits(const char* kind, uint32_t bits, uint32_t amount) {
  amount &= 31;
  if (*kind == 'l') return bits << amount;
  if (*kind == 'r') return bits >> amount;
  return static_cast<uint32_t>(static_cast<int32_t>(bits) >> amount);
}

}  // namespace

void DefinedTracker::Start(const WaveState& wave, std::vector<uint8_t>* lds) {
  lds_ = lds;
  private_.clear();
  const size_t registers = wave.num_agprs != 0 || IsCdna(wave.isa) ? 512 : 256;
  vgpr_.assign(registers * kLanes, ~0u);
  for (uint32_t reg = 0; reg < wave.num_vgprs && reg < 256; ++reg) {
    for (int lane = 0; lane < wave.wave_size; ++lane) {
      Row(static_cast<int>(reg))[lane] = wave.Vgpr(static_cast<int>(reg))[lane] == kUndefinedFill ? ~0u : 0;
    }
  }
  for (int s = 0; s < 128; ++s) sgpr_[s] = wave.sgpr[s] == kUndefinedFill ? ~0u : 0;
  // Hardware state and constants; VCC and M0 are the program's.
  sgpr_[kNull] = sgpr_[kExecLo] = sgpr_[kExecHi] = 0;
  for (int s = kTtmp0; s < kTtmp0 + 16; ++s) sgpr_[s] = 0;
  scc_ = true;
}

uint32_t DefinedTracker::Scalar(const Operand& operand, int word) const {
  if (operand.kind == Operand::Kind::kScc) return word == 0 && scc_ ? 1 : 0;
  if (operand.kind == Operand::Kind::kVccz) return (sgpr_[kVccLo] | sgpr_[kVccHi]) != 0 ? 1 : 0;
  if (!operand.is_sgpr() || operand.reg == kNull || operand.reg + word >= 128) return 0;
  return sgpr_[operand.reg + word];
}

uint64_t DefinedTracker::MaskBits(const Operand& operand, const WaveState& wave) const {
  uint64_t bits = Scalar(operand, 0);
  if (wave.wave_size == 64) bits |= uint64_t{Scalar(operand, 1)} << 32;
  return bits;
}

void DefinedTracker::WriteMask(const Operand& operand, uint64_t bits, const WaveState& wave) {
  if (!operand.is_sgpr() || operand.reg == kNull) return;
  has_scalar_ = true;
  next_sgpr_[operand.reg] = static_cast<uint32_t>(bits);
  if (wave.wave_size == 64 && operand.reg + 1 < 128)
    next_sgpr_[operand.reg + 1] = static_cast<uint32_t>(bits >> 32);
}

void DefinedTracker::ReadSource(const Facts& facts, const WaveState& wave, int index, int word,
                                LaneBits* bits) {
  const Operand& operand = facts.inst.src[index];
  const int lanes = wave.wave_size;
  if (!IsVectorOperand(operand)) {
    const uint32_t u = Scalar(operand, word);
    std::fill(*bits, *bits + lanes, u);
    return;
  }
  const uint32_t* row = Row(RegOf(operand) + word);
  if (index == 0 && has_dpp_) {
    for (int lane = 0; lane < lanes; ++lane)
      (*bits)[lane] = dpp_source_[lane] >= 0 ? row[dpp_source_[lane]] : 0;
  } else {
    std::copy(row, row + lanes, *bits);
  }
  // Halves and smaller parts.
  uint32_t part = ~0u;
  if (index < 2 && facts.inst.sdwa.present) {
    const uint8_t select = facts.inst.sdwa.src_sel[index];
    part = select < 4 ? 0xffu << 8 * select : select == 4 ? 0xffffu : select == 5 ? 0xffff0000u : ~0u;
  } else if (facts.effects.unit == Unit::kValu &&
             (facts.mix ? operand.type == DataType::F16
                        : operand.bits == 16 && facts.inst.enc != Encoding::VOP3P)) {
    part = (facts.inst.op_sel >> index & 1) != 0 ? 0xffff0000u : 0xffffu;
  }
  if (part != ~0u) {
    for (int lane = 0; lane < lanes; ++lane) (*bits)[lane] &= part;
  }
}

ExecResult DefinedTracker::Report(const Facts& facts, int lane, int reg, const char* what, WaveState& wave) {
  return sink_->Add(CheckKind::kUninit, wave, facts, nullptr, 0, lane, RegName(reg),
                    absl::StrFormat("%s depends on %s, which was never written or was computed from such",
                                    what, RegName(reg)));
}

// Where undefined bits decide something.
ExecResult DefinedTracker::Uses(const Facts& facts, WaveState& wave) {
  const Inst& inst = facts.inst;
  const uint64_t exec = wave.exec();
  const auto check_scalars = [&](const Operand& operand, const char* what) {
    for (int w = 0; w < std::max<int>(operand.dwords, 1); ++w) {
      if (Scalar(operand, w) == 0 || !operand.is_sgpr()) continue;
      if (Report(facts, -1, kFirstSgpr + operand.reg + w, what, wave) == ExecResult::kFault)
        return ExecResult::kFault;
      break;
    }
    return ExecResult::kNext;
  };
  const auto check_lanes = [&](const Operand& operand, const char* what) {
    if (!IsVectorOperand(operand)) return check_scalars(operand, what);
    for (int w = 0; w < std::max<int>(operand.dwords, 1); ++w) {
      for (uint64_t mask = exec; mask != 0; mask &= mask - 1) {
        const int lane = __builtin_ctzll(mask);
        if (Row(RegOf(operand) + w)[lane] != 0) return Report(facts, lane, RegOf(operand) + w, what, wave);
      }
    }
    return ExecResult::kNext;
  };
  const auto any = [](std::initializer_list<ExecResult> results) {
    return std::find(results.begin(), results.end(), ExecResult::kFault) != results.end() ? ExecResult::kFault
                                                                                          : ExecResult::kNext;
  };
  switch (facts.effects.unit) {
    case Unit::kScalarMemory:
      return any({check_scalars(inst.src[0], "the address"), check_scalars(inst.src[1], "the address")});
    case Unit::kLds:
      if (exec == 0) return ExecResult::kNext;
      if ((facts.effects.reads & kUsesM0) != 0 && sgpr_[kM0] != 0 &&
          Report(facts, -1, kFirstSgpr + kM0, "the address", wave) == ExecResult::kFault) {
        return ExecResult::kFault;
      }
      if (Named(facts, "DS_SWIZZLE")) return ExecResult::kNext;
      return check_lanes(inst.src[0], "the address");
    case Unit::kFlat:
      if (exec == 0) return ExecResult::kNext;
      return any({check_lanes(inst.src[0], "the address"), check_scalars(inst.src[2], "the address")});
    case Unit::kVmem:
      if (exec == 0) return ExecResult::kNext;
      return any({check_lanes(inst.src[0], "the address"), check_scalars(inst.src[1], "the address"),
                  check_scalars(inst.src[2], "the address")});
    case Unit::kBranch: {
      if ((facts.effects.reads & kUsesScc) != 0 && scc_) {
        return Report(facts, -1, kSccReg, "the branch", wave);
      }
      if ((facts.effects.reads & kUsesVcc) != 0) {
        const uint64_t undefined = (sgpr_[kVccLo] | uint64_t{sgpr_[kVccHi]} << 32) & wave.lane_mask;
        if (undefined != 0 && (wave.vcc() & ~undefined) == 0) {
          return Report(facts, -1, kFirstSgpr + kVccLo, "the branch", wave);
        }
      }
      if (inst.op == Opcode::S_SETPC_B64 || inst.op == Opcode::S_SWAPPC_B64) {
        return check_scalars(inst.src[0], "the branch target");
      }
      return ExecResult::kNext;
    }
    default:
      return ExecResult::kNext;
  }
}

ExecResult DefinedTracker::Before(const Facts& facts, WaveState& wave) {
  results_.clear();
  has_scalar_ = has_dpp_ = false;
  if (Uses(facts, wave) == ExecResult::kFault) return ExecResult::kFault;
  switch (facts.effects.unit) {
    case Unit::kSalu:
    case Unit::kBranch:
    case Unit::kScalarMemory:
      std::copy(std::begin(sgpr_), std::end(sgpr_), next_sgpr_);
      next_scc_ = scc_;
      has_scalar_ = true;
      Scalars(facts, wave);
      break;
    case Unit::kValu:
      std::copy(std::begin(sgpr_), std::end(sgpr_), next_sgpr_);
      next_scc_ = scc_;
      if (facts.inst.dpp.kind != DppInfo::Kind::kNone) DppSources(facts, wave);
      if (!LaneExchange(facts, wave)) Vectors(facts, wave);
      break;
    case Unit::kLds:
      // Exchanges through LDS touch no memory.
      LaneExchange(facts, wave);
      break;
    default:
      break;
  }
  return ExecResult::kNext;
}

ExecResult DefinedTracker::After(const Facts& facts, uint64_t exec, const AccessLog& log, WaveState& wave) {
  for (const Result& result : results_) {
    uint32_t* row = Row(result.reg);
    for (uint64_t mask = result.lanes; mask != 0; mask &= mask - 1) {
      const int lane = __builtin_ctzll(mask);
      row[lane] = result.bits[lane];
    }
  }
  if (has_scalar_) {
    std::copy(std::begin(next_sgpr_), std::end(next_sgpr_), sgpr_);
    scc_ = next_scc_;
    sgpr_[kNull] = 0;
    const uint64_t undefined = (sgpr_[kExecLo] | uint64_t{sgpr_[kExecHi]} << 32) & wave.lane_mask;
    sgpr_[kExecLo] = sgpr_[kExecHi] = 0;
    if (undefined != 0 &&
        Report(facts, __builtin_ctzll(undefined), kFirstSgpr + kExecLo, "EXEC", wave) == ExecResult::kFault) {
      return ExecResult::kFault;
    }
  }
  return Memory(facts, exec, log, wave);
}

void DefinedTracker::Scalars(const Facts& facts, const WaveState& wave) {
  const Inst& inst = facts.inst;
  const Operand& dst = inst.dst[0];
  const int words = dst.kind == Operand::Kind::kNone ? 0 : std::max<int>(dst.dwords, 1);
  uint32_t sources[3][2] = {};
  uint32_t any = 0;
  for (int i = 0; i < 3; ++i) {
    for (int w = 0; w < std::min<int>(std::max<int>(inst.src[i].dwords, 1), 2); ++w) {
      sources[i][w] = Scalar(inst.src[i], w);
      any |= sources[i][w];
    }
  }
  const auto set = [&](int word, uint32_t bits) {
    if (dst.is_sgpr() && dst.reg != kNull && dst.reg + word < 128) next_sgpr_[dst.reg + word] = bits;
  };
  const auto value = [&](int i, int w) {
    const Operand& o = inst.src[i];
    if (o.is_sgpr()) return o.reg == kNull ? 0u : wave.sgpr[std::min(o.reg + w, 127)];
    return static_cast<uint32_t>(o.imm >> (32 * w));
  };
  if (facts.effects.unit == Unit::kScalarMemory || facts.effects.unit == Unit::kBranch) {
    for (int w = 0; w < words; ++w) set(w, 0);
    return;
  }
  const bool reads_scc = (facts.effects.reads & kUsesScc) != 0,
             writes_scc = (facts.effects.writes & kUsesScc) != 0;
  if (CancelsItself(facts)) {
    for (int w = 0; w < words; ++w) set(w, 0);
    if (writes_scc) next_scc_ = false;
    return;
  }
  uint32_t out[2] = {};
  bool exact = true;
  const bool saves = Contains(facts, "SAVEEXEC"), writes_exec = saves || Contains(facts, "WREXEC");
  for (int w = 0; w < 2; ++w) {
    uint32_t a = value(0, w), b = value(1, w), ua = sources[0][w], ub = sources[1][w];
    if (writes_exec) b = wave.sgpr[kExecLo + w], ub = 0;
    if (Named(facts, "S_MOV_B") || Named(facts, "S_NOT_B") || Named(facts, "S_MOVK")) {
      out[w] = ua;
    } else if (Named(facts, "S_XOR_") || Named(facts, "S_XNOR_")) {
      out[w] = ua | ub;
    } else if (Named(facts, "S_ANDN2_") || Named(facts, "S_AND_NOT1_")) {
      // src1 is inverted; of the EXEC forms, EXEC is src1.
      out[w] = AndBits(a, ua, ~b, ub);
    } else if (Named(facts, "S_ANDN1_") || Named(facts, "S_AND_NOT0_")) {
      out[w] = AndBits(~a, ua, b, ub);
    } else if (Named(facts, "S_ORN2_") || Named(facts, "S_OR_NOT1_")) {
      out[w] = OrBits(a, ua, ~b, ub);
    } else if (Named(facts, "S_ORN1_") || Named(facts, "S_OR_NOT0_")) {
      out[w] = OrBits(~a, ua, b, ub);
    } else if (Named(facts, "S_AND_") || Named(facts, "S_NAND_")) {
      out[w] = AndBits(a, ua, b, ub);
    } else if (Named(facts, "S_OR_") || Named(facts, "S_NOR_")) {
      out[w] = OrBits(a, ua, b, ub);
    } else if (Named(facts, "S_CSELECT")) {
      out[w] = scc_ ? ~0u : wave.scc ? ua : ub;
    } else if (Named(facts, "S_CMOV")) {
      const uint32_t old = dst.is_sgpr() ? sgpr_[std::min(dst.reg + w, 127)] : 0;
      out[w] = scc_ ? ~0u : wave.scc ? ua : old;
    } else if (Named(facts, "S_PACK_LL")) {
      out[w] = w == 0 ? (sources[0][0] & 0xffff) | sources[1][0] << 16 : 0;
    } else if (w == 0 && sources[1][0] == 0 &&
               (Named(facts, "S_LSHL_B32") || Named(facts, "S_LSHR_B32") || Named(facts, "S_ASHR_I32"))) {
      out[0] = ShiftBits(Named(facts, "S_LSHL") ? "l" : Named(facts, "S_LSHR") ? "r" : "a", ua, b);
    } else {
      exact = false;
      break;
    }
    if (words == 1 || (words == 0 && !writes_exec)) break;
  }
  if (!exact) {
    if (reads_scc && scc_) any |= 1;
    if (facts.rule == Facts::Rule::kSum && words == 1) {
      out[0] = Upwards(any);
    } else {
      out[0] = out[1] = AnyAll(any);
    }
    if (Contains(facts, "GETREG") || Named(facts, "S_GETPC") || Named(facts, "S_SENDMSG") ||
        Named(facts, "S_MOVREL")) {
      out[0] = out[1] = 0;
    }
  }
  if (writes_exec) {
    for (int w = 0; w < (wave.wave_size == 64 ? 2 : 1); ++w) {
      set(w, saves ? 0 : out[w]);
      next_sgpr_[kExecLo + w] = out[w];
    }
  } else {
    for (int w = 0; w < words; ++w) set(w, out[std::min(w, 1)]);
  }
  if (writes_scc) next_scc_ = exact ? (out[0] | out[1]) != 0 : any != 0;
}

}  // namespace understudy::emu::amd::check
