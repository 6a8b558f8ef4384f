// SPDX-License-Identifier: Apache-2.0
// Undefined bits through vector instructions and memory.

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>

#include "emu/amd/check/defined.h"
#include "emu/amd/semantics/find_exec.h"

namespace understudy::emu::amd::check {
namespace {

bool Named(const Facts& f, const char* prefix) {
  return std::strncmp(OpcodeName(f.inst.op), prefix, std::strlen(prefix)) == 0;
}
bool Contains(const Facts& f, const char* part) {
  return std::strstr(OpcodeName(f.inst.op), part) != nullptr;
}

bool IsVectorOperand(const Operand& operand) {
  return operand.kind == Operand::Kind::kVgpr || operand.kind == Operand::Kind::kAgpr;
}
int RegOf(const Operand& operand) {
  return operand.kind == Operand::Kind::kAgpr ? kAgprBase + operand.reg : operand.reg;
}
int Words(const Operand& operand) {
  return operand.kind == Operand::Kind::kNone ? 0 : std::max<int>(operand.dwords, 1);
}
bool IsMask(const Operand& operand) { return operand.type == DataType::M64; }

uint32_t Value(const Operand& operand, const WaveState& wave, int lane, int word = 0) {
  switch (operand.kind) {
    case Operand::Kind::kVgpr:
      return wave.Vgpr(operand.reg + word)[lane];
    case Operand::Kind::kAgpr:
      return wave.Agpr(operand.reg + word)[lane];
    case Operand::Kind::kSgpr:
      return operand.reg == kNull ? 0 : wave.sgpr[std::min(operand.reg + word, 127)];
    default:
      return static_cast<uint32_t>(operand.imm >> (32 * word));
  }
}

uint32_t AnyAll(uint32_t u) { return u == 0 ? 0 : ~0u; }
uint64_t Upwards(uint64_t u) { return u | (0u - u); }
uint32_t AndBits(uint32_t a, uint32_t ua, uint32_t b, uint32_t ub) { return (ua | ub) & (ua | a) & (ub | b); }
uint32_t OrBits(uint32_t a, uint32_t ua, uint32_t b, uint32_t ub) {
  return (ua | ub) & (ua | ~a) & (ub | ~b);
}

// A wave that executors can be tried on: registers of its own, everything else as the wave has it.
struct Bench {
  explicit Bench(const WaveState& wave) : state(wave), storage(new uint32_t[kRegisters * 64 + 16]) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(storage.get());
    state.vgpr = reinterpret_cast<uint32_t*>((at + 63) & ~uintptr_t{63});
    state.access_log = nullptr;
    std::fill(state.vgpr, state.vgpr + kRegisters * state.wave_size, 0);
  }
  static constexpr size_t kRegisters = 16;
  WaveState state;
  std::unique_ptr<uint32_t[]> storage;
};

}  // namespace

// The source lanes of a DPP instruction are found by moving lane numbers in the same way.
void DefinedTracker::DppSources(const Facts& facts, WaveState& wave) {
  Inst move;
  move.op = Opcode::V_MOV_B32;
  move.enc = Encoding::VOP1;
  move.isa = facts.inst.isa;
  move.size = 8;
  move.n_dst = move.n_src = 1;
  move.dpp = facts.inst.dpp;
  Operand reg;
  reg.kind = Operand::Kind::kVgpr;
  reg.type = DataType::B32;
  reg.dwords = 1;
  reg.bits = 32;
  move.src[0] = reg;
  reg.reg = 1;
  move.dst[0] = reg;
  std::string refusal;
  const ExecFn fn = FindExec(move, &refusal);
  has_dpp_ = true;
  for (int lane = 0; lane < kLanes; ++lane) dpp_source_[lane] = static_cast<int8_t>(lane);
  if (fn == nullptr) return;
  Bench bench(wave);
  for (int lane = 0; lane < wave.wave_size; ++lane) {
    bench.state.Vgpr(0)[lane] = static_cast<uint32_t>(lane) + 1;
    bench.state.Vgpr(1)[lane] = ~0u;
  }
  if (fn(move, bench.state) != ExecResult::kNext) return;
  for (int lane = 0; lane < wave.wave_size; ++lane) {
    const uint32_t id = bench.state.Vgpr(1)[lane];
    dpp_source_[lane] = static_cast<int8_t>(id == ~0u ? -2 : static_cast<int>(id) - 1);
  }
}

// Lane exchanges move numbers that say register and lane, to see what they would move.
bool DefinedTracker::LaneExchange(const Facts& facts, WaveState& wave) {
  const Inst& inst = facts.inst;
  const int lanes = wave.wave_size;
  if (!facts.exchange) return false;
  if (Named(facts, "V_WRITELANE")) {
    const int lane = static_cast<int>(Value(inst.src[1], wave, 0)) & (lanes - 1);
    Result result{RegOf(inst.dst[0]), uint64_t{1} << lane, {}};
    result.bits[lane] = Scalar(inst.src[0], 0) | AnyAll(Scalar(inst.src[1], 0));
    results_.push_back(result);
    return true;
  }
  const bool lds = facts.effects.unit == Unit::kLds;
  const bool swizzle = Named(facts, "DS_SWIZZLE");
  const bool to_scalar = Named(facts, "V_READLANE") || Named(facts, "V_READFIRSTLANE");
  const bool permlane = Named(facts, "V_PERMLANE");
  if (!lds && !to_scalar && !permlane) return false;
  const bool swap = permlane && Contains(facts, "SWAP");
  const int data = lds && !swizzle ? 1 : 0;  // which source is moved
  if (!IsVectorOperand(inst.src[data])) return false;

  Inst edited = inst;
  Bench bench(wave);
  for (int i = 0; i < 4; ++i) {
    if (!IsVectorOperand(edited.src[i])) continue;
    const bool moved = i == data || swap;
    for (int lane = 0; lane < lanes; ++lane) {
      bench.state.Vgpr(i)[lane] =
          moved ? static_cast<uint32_t>(i << 8 | (lane + 1)) : Value(inst.src[i], wave, lane);
    }
    edited.src[i].kind = Operand::Kind::kVgpr;
    edited.src[i].reg = static_cast<uint16_t>(i);
  }
  for (int i = 0; i < 2; ++i) {
    if (!IsVectorOperand(edited.dst[i])) continue;
    edited.dst[i].kind = Operand::Kind::kVgpr;
    // A swap writes its sources: dst[0] is the register of src[1], dst[1] that of src[0].
    edited.dst[i].reg = static_cast<uint16_t>(swap ? 1 - i : 8 + i);
    if (swap) continue;
    std::fill(bench.state.Vgpr(8 + i), bench.state.Vgpr(8 + i) + lanes, ~0u);
  }
  if (facts.fn(edited, bench.state) != ExecResult::kNext) return true;
  const auto bits_of = [&](uint32_t id) -> uint32_t {
    if ((id & 0xff) == 0) return 0;
    return Row(RegOf(inst.src[id >> 8]))[(id & 0xff) - 1];
  };
  if (to_scalar) {
    if (!inst.dst[0].is_sgpr() || inst.dst[0].reg == kNull) return true;
    has_scalar_ = true;
    next_sgpr_[inst.dst[0].reg] = bits_of(bench.state.sgpr[inst.dst[0].reg]) | AnyAll(Scalar(inst.src[1], 0));
    return true;
  }
  for (int i = 0; i < 2; ++i) {
    if (!IsVectorOperand(inst.dst[i])) continue;
    Result result{RegOf(inst.dst[i]), 0, {}};
    for (int lane = 0; lane < lanes; ++lane) {
      const uint32_t id = bench.state.Vgpr(edited.dst[i].reg)[lane];
      if (id == ~0u) continue;
      result.lanes |= uint64_t{1} << lane;
      result.bits[lane] = bits_of(id);
    }
    results_.push_back(result);
  }
  return true;
}

// Moves, logic, selections and shifts of 32-bit registers. False for anything else.
bool DefinedTracker::Bitwise(const Facts& facts, const WaveState& wave, LaneBits* out) {
  const Inst& inst = facts.inst;
  const int lanes = wave.wave_size;
  const bool dpp = has_dpp_;
  using Rule = Facts::Rule;
  const Rule kind = facts.rule;
  if (kind == Rule::kAny || kind == Rule::kSum || inst.sdwa.present) return false;
  // 16-bit operations work on halves, which are brought down here and put back at the end.
  const bool half = inst.dst[0].bits == 16;
  int down[3] = {};
  LaneBits u[3];
  for (int i = 0; i < 3; ++i) {
    if (half && IsVectorOperand(inst.src[i]) && (inst.op_sel >> i & 1) != 0) down[i] = 16;
    if (inst.src[i].kind != Operand::Kind::kNone) {
      ReadSource(facts, wave, i, 0, &u[i]);
      if (!half) continue;
      for (int lane = 0; lane < lanes; ++lane) u[i][lane] = u[i][lane] >> down[i] & 0xffffu;
    } else {
      std::fill(u[i], u[i] + lanes, 0);
    }
  }
  const uint64_t mask_bits = kind == Rule::kSelect ? MaskBits(inst.src[2], wave) : 0;
  const uint64_t mask = kind == Rule::kSelect && inst.src[2].is_sgpr() ? wave.Mask(inst.src[2].reg) : 0;
  for (int lane = 0; lane < lanes; ++lane) {
    const int from = dpp ? std::max<int>(dpp_source_[lane], 0) : lane;
    const auto value = [&](int i) { return Value(inst.src[i], wave, i == 0 ? from : lane) >> down[i]; };
    const uint32_t a = u[0][lane], b = u[1][lane], c = u[2][lane];
    uint32_t& r = (*out)[lane];
    switch (kind) {
      case Rule::kMove:
        r = a;
        break;
      case Rule::kAnd:
        r = AndBits(value(0), a, value(1), b);
        break;
      case Rule::kOr:
        r = OrBits(value(0), a, value(1), b);
        break;
      case Rule::kXor:
        r = a | b;
        break;
      case Rule::kAndOr:
        r = OrBits(value(0) & value(1), AndBits(value(0), a, value(1), b), value(2), c);
        break;
      case Rule::kOr3:
        r = OrBits(value(0) | value(1), OrBits(value(0), a, value(1), b), value(2), c);
        break;
      case Rule::kXor3:
        r = a | b | c;
        break;
      case Rule::kBfi:
        r = a | (value(0) & b) | (~value(0) & c);
        break;
      case Rule::kLeft:
        r = a != 0 ? ~0u : b << (value(0) & (half ? 15 : 31));
        break;
      case Rule::kRight:
        r = a != 0 ? ~0u : b >> (value(0) & (half ? 15 : 31));
        break;
      case Rule::kArith:
        r = a != 0 ? ~0u : static_cast<uint32_t>(static_cast<int32_t>(b) >> (value(0) & 31));
        break;
      case Rule::kBfe: {
        const uint32_t width = value(2) & 31;
        r = (b | c) != 0 ? ~0u : (a >> (value(1) & 31)) & ((1u << width) - 1);
        break;
      }
      case Rule::kBfeSigned: {
        const uint32_t width = value(2) & 31, field = (a >> (value(1) & 31)) & ((1u << width) - 1);
        r = (b | c) != 0 ? ~0u : field;
        if (width != 0 && (field >> (width - 1) & 1) != 0) r |= ~0u << width;
        break;
      }
      case Rule::kSum16:
        r = static_cast<uint32_t>(Upwards(a | b));
        break;
      case Rule::kPerm: {
        r = 0;
        const uint64_t both = uint64_t{a} << 32 | b;
        for (int k = 0; k < 4; ++k) {
          const uint32_t select = value(2) >> 8 * k & 0xff;
          if ((c >> 8 * k & 0xff) != 0) {
            r |= 0xffu << 8 * k;
          } else if (select < 8) {
            r |= static_cast<uint32_t>(both >> 8 * select & 0xff) << 8 * k;
          } else if (select < 12) {  // a sign
            r |= (both >> (16 * (select - 8) + 15) & 1) != 0 ? 0xffu << 8 * k : 0;
          }
        }
        break;
      }
      case Rule::kAlign: {
        const uint64_t both = uint64_t{a} << 32 | b;
        r = c != 0 ? ~0u : static_cast<uint32_t>(both >> (value(2) & 31));
        break;
      }
      case Rule::kSelect:
        r = (mask_bits >> lane & 1) != 0 ? ~0u : (mask >> lane & 1) != 0 ? b : a;
        break;
      case Rule::kLeftOr:
        r = b != 0 ? ~0u : OrBits(value(0) << (value(1) & 31), a << (value(1) & 31), value(2), c);
        break;
      case Rule::kPack:
        r = ((a & 0xffff0000u) != 0 || (a & 0xffff) != 0 ? 0xffffu : 0) | ((b != 0) ? 0xffff0000u : 0);
        break;
      default:
        break;
    }
    if (half && IsRdna(inst.isa)) {
      const uint32_t old = Row(RegOf(inst.dst[0]))[lane];
      r = (inst.op_sel & 8) != 0 ? (old & 0xffffu) | r << 16 : (old & 0xffff0000u) | (r & 0xffffu);
    } else if (half) {
      r &= 0xffffu;
    }
  }
  return true;
}

const std::vector<Facts>& DefinedTracker::Halves(const Facts& facts) {
  std::vector<Facts>& halves = halves_[&facts];
  if (halves.empty()) {
    for (int half = 0; half < 2; ++half)
      halves.push_back(FactsOf(VopdHalf(facts.inst, half), nullptr, facts.wave_size));
  }
  return halves;
}

void DefinedTracker::Vectors(const Facts& facts, WaveState& wave) {
  const Inst& inst = facts.inst;
  const int lanes = wave.wave_size;
  if (inst.enc == Encoding::VOPD && inst.op_y != Opcode::kCount) {
    for (const Facts& half : Halves(facts)) Vectors(half, wave);
    return;
  }
  uint64_t written = wave.exec();
  if (has_dpp_) {
    for (int lane = 0; lane < lanes; ++lane) {
      if (dpp_source_[lane] == -2) written &= ~(uint64_t{1} << lane);
    }
  }
  const Operand& dst = inst.dst[0];
  const auto push = [&](int reg, uint64_t where, auto&& bits_of) {
    Result result{reg, where, {}};
    for (int lane = 0; lane < lanes; ++lane) result.bits[lane] = bits_of(lane);
    results_.push_back(result);
  };
  if (Named(facts, "V_SWAP_B32")) {
    LaneBits u[2];
    for (int i = 0; i < 2; ++i) ReadSource(facts, wave, i, 0, &u[i]);
    for (int i = 0; i < 2; ++i) push(RegOf(inst.dst[i]), written, [&](int lane) { return u[i][lane]; });
    return;
  }
  if (Named(facts, "V_MOVREL")) {
    if (IsVectorOperand(dst)) push(RegOf(dst), written, [](int) { return 0u; });
    return;
  }
  const bool cancels =
      inst.dpp.kind == DppInfo::Kind::kNone && inst.src[0].kind == inst.src[1].kind &&
      IsVectorOperand(inst.src[0]) && inst.src[0].reg == inst.src[1].reg &&
      (Named(facts, "V_XOR_B32") || Named(facts, "V_SUB_NC_U32") || Named(facts, "V_SUB_U32"));
  LaneBits out;
  if (!cancels && IsVectorOperand(dst) && Words(dst) == 1 && Bitwise(facts, wave, &out)) {
    push(RegOf(dst), written, [&](int lane) { return out[lane]; });
    return;
  }
  // Everything else: which bits of each dword of any source are undefined, by lane.
  uint64_t any[kLanes] = {};  // the low and the high dword of 64-bit sources
  uint32_t packed_low[kLanes] = {}, packed_high[kLanes] = {};
  const bool wide_pack =
      Named(facts, "V_PK_") && (Contains(facts, "_F32") || Contains(facts, "V_PK_MOV_B32"));
  const bool packed = inst.enc == Encoding::VOP3P && Named(facts, "V_PK_") && !wide_pack;
  uint32_t all = 0;  // of A and B, for matrix instructions
  for (int i = 0; i < 6 && !cancels; ++i) {
    const Operand& source = inst.src[i];
    if (source.kind == Operand::Kind::kNone) continue;
    if (IsMask(source)) {
      const uint64_t bits = MaskBits(source, wave);
      for (int lane = 0; lane < lanes; ++lane) any[lane] |= bits >> lane & 1;
      continue;
    }
    for (int w = 0; w < Words(source); ++w) {
      LaneBits u;
      ReadSource(facts, wave, i, w, &u);
      for (int lane = 0; lane < lanes; ++lane) {
        if (u[lane] == 0) continue;
        any[lane] |= uint64_t{u[lane]} << (w == 1 ? 32 : 0);
        if (facts.effects.matrix && i < 2 && (wave.exec() >> lane & 1) != 0) all |= u[lane];
        if (packed) {
          const uint32_t halves[2] = {u[lane] & 0xffff, u[lane] >> 16};
          packed_low[lane] |= halves[inst.op_sel >> i & 1];
          packed_high[lane] |= halves[inst.op_sel_hi >> i & 1];
        } else if (wide_pack) {
          if ((inst.op_sel >> i & 1) == w) packed_low[lane] |= u[lane];
          if ((inst.op_sel_hi >> i & 1) == w) packed_high[lane] |= u[lane];
        }
      }
    }
  }
  if (all != 0) std::fill(any, any + lanes, 1);
  const auto mask_of = [&] {
    uint64_t mask = 0;
    for (int lane = 0; lane < lanes; ++lane) mask |= uint64_t{any[lane] != 0} << lane;
    return mask & written;
  };
  if (dst.is_sgpr()) {
    if (IsMask(dst)) {
      WriteMask(dst, mask_of(), wave);
    } else if (dst.reg != kNull) {  // pseudo-scalar transcendentals
      has_scalar_ = true;
      next_sgpr_[dst.reg] = AnyAll(static_cast<uint32_t>(any[0]));
    }
    return;
  }
  if (inst.dst[1].is_sgpr()) WriteMask(inst.dst[1], mask_of(), wave);
  if (!IsVectorOperand(dst)) return;
  const bool sum = facts.rule == Facts::Rule::kSum;
  for (int w = 0; w < Words(dst); ++w) {
    const uint32_t* old = Row(RegOf(dst) + w);
    push(RegOf(dst) + w, written, [&](int lane) -> uint32_t {
      if (packed) return (packed_low[lane] != 0 ? 0xffffu : 0) | (packed_high[lane] != 0 ? 0xffff0000u : 0);
      if (wide_pack) return AnyAll(w == 0 ? packed_low[lane] : packed_high[lane]);
      uint32_t bits = sum              ? static_cast<uint32_t>(Upwards(any[lane]) >> (32 * std::min(w, 1)))
                      : any[lane] != 0 ? ~0u
                                       : 0;
      if (inst.sdwa.present && inst.sdwa.dst_sel < 6) {
        const uint8_t s = inst.sdwa.dst_sel;
        const uint32_t part = s < 4 ? 0xffu << 8 * s : s == 4 ? 0xffffu : 0xffff0000u;
        return inst.sdwa.dst_unused == 2   ? (old[lane] & ~part) | (bits & part)
               : inst.sdwa.dst_unused == 1 ? bits
                                           : bits & part;
      }
      if (dst.bits == 16 && IsRdna(inst.isa)) {
        const uint32_t part = (inst.op_sel & 8) != 0 || facts.high ? 0xffff0000u : 0xffffu;
        return (old[lane] & ~part) | (bits & part);
      }
      return bits;
    });
  }
}

uint8_t* DefinedTracker::PrivateByte(int lane, uint64_t offset) {
  std::vector<uint8_t>& block = private_[static_cast<uint64_t>(lane) << 40 | offset / kBlock];
  if (block.empty()) block.assign(kBlock, 0xff);
  return &block[offset % kBlock];
}

ExecResult DefinedTracker::Memory(const Facts& facts, uint64_t exec, const AccessLog& log, WaveState& wave) {
  const Inst& inst = facts.inst;
  const Unit unit = facts.effects.unit;
  if (unit != Unit::kFlat && unit != Unit::kVmem && unit != Unit::kLds && unit != Unit::kLdsDirect) {
    return ExecResult::kNext;
  }
  if (!results_.empty() || (unit == Unit::kLds && log.entries.empty() && !IsVectorOperand(inst.dst[0]))) {
    return ExecResult::kNext;  // a lane exchange
  }
  const bool to_lds = facts.writes_late && !IsVectorOperand(inst.dst[0]);
  const int data = unit == Unit::kVmem ? 3 : 1;
  const uint32_t shift = Contains(facts, "D16_HI") ? 16 : 0;
  // Loaded registers are defined but for what comes from undefined bytes of LDS and private memory.
  std::vector<Result> loaded;
  for (int w = 0; w < Words(inst.dst[0]) && IsVectorOperand(inst.dst[0]); ++w) {
    loaded.push_back({RegOf(inst.dst[0]) + w, exec, {}});
  }
  uint32_t at[kLanes] = {};  // bytes of the result that entries of the lane have filled
  int entries_of[kLanes] = {};
  bool reported = false;
  ExecResult result = ExecResult::kNext;
  for (const AccessLog::Entry& entry : log.entries) {
    if (entry.lane < 0 || entry.lane >= kLanes) continue;
    const int lane = entry.lane;
    const bool reads = entry.access != emu::Access::kWrite, writes = entry.access != emu::Access::kRead;
    // The second value of a pair is the second operand.
    const Operand* source = &inst.src[data];
    if (unit == Unit::kLds && entry.access == emu::Access::kWrite && entries_of[lane] > 0 &&
        IsVectorOperand(inst.src[2])) {
      source = &inst.src[2];
    }
    if (entry.access == emu::Access::kWrite) ++entries_of[lane];
    const uint32_t first = at[lane];
    for (uint32_t i = 0; i < entry.bytes; ++i) {
      const uint64_t byte = entry.address + i;
      uint8_t* shadow = nullptr;
      if (entry.space == MemorySpace::kPrivate) {
        shadow = PrivateByte(lane, byte);
      } else if (entry.space == MemorySpace::kLds && byte < lds_->size()) {
        shadow = &(*lds_)[byte];
      }
      uint8_t bits = 0;
      if (writes && !to_lds && IsVectorOperand(*source) && static_cast<int>(i / 4) < Words(*source)) {
        bits = static_cast<uint8_t>(Row(RegOf(*source) + static_cast<int>(i / 4))[lane] >> shift >>
                                    (8 * (i % 4)));
      }
      const uint8_t old = shadow == nullptr ? 0 : *shadow;
      if (writes) {
        if (shadow != nullptr) {
          *shadow = entry.access == emu::Access::kAtomic ? static_cast<uint8_t>(bits | old) : bits;
        } else if (bits != 0 && !reported && entry.space == MemorySpace::kGlobal) {
          reported = true;
          result = Report(facts, lane, RegOf(*source) + static_cast<int>(i / 4), "the stored value", wave);
        }
      }
      if (reads && old != 0) {
        const uint32_t word = (first + i) / 4;
        if (word < loaded.size()) loaded[word].bits[lane] |= uint32_t{old} << (8 * ((first + i) % 4));
      }
    }
    if (reads) at[lane] += (entry.bytes + 3) / 4 * 4;
    if (reads && entry.bytes < 4 && !loaded.empty() && loaded[0].bits[lane] != 0 && facts.late_bits == ~0u) {
      loaded[0].bits[lane] = Contains(facts, "_I8") || Contains(facts, "_I16") || Contains(facts, "_S")
                                 ? ~0u
                                 : loaded[0].bits[lane];
    }
  }
  for (Result& r : loaded) {
    uint32_t* row = Row(r.reg);
    for (uint64_t mask = r.lanes; mask != 0; mask &= mask - 1) {
      const int lane = __builtin_ctzll(mask);
      const uint32_t keep = ~facts.late_bits;
      const uint32_t bits = facts.late_bits == 0xffff0000u ? r.bits[lane] << 16 : r.bits[lane];
      row[lane] = (row[lane] & keep) | (bits & facts.late_bits);
    }
  }
  return result;
}

}  // namespace understudy::emu::amd::check
