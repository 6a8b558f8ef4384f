// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/check/hazards.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "absl/strings/str_format.h"

namespace understudy::emu::amd::check {
namespace {

constexpr size_t kPast = 32;

constexpr uint8_t Of(Isa isa) { return static_cast<uint8_t>(1u << static_cast<int>(isa)); }
constexpr uint8_t kCdna2Only = Of(Isa::kCdna2), kCdna4Only = Of(Isa::kCdna4),
                  kCdna3And4 = Of(Isa::kCdna3) | Of(Isa::kCdna4), kAnyCdna = kCdna2Only | kCdna3And4;

enum class Class : uint8_t {
  kAny,
  kAnyVector,         // whatever reads VGPRs
  kValu,              // vector ALU, matrix instructions included
  kLegacyValu,        // vector ALU but matrix instructions
  kLegacyValuNotDot,  // nor dot products
  kValuReader,
  kValuWriter,
  kNonTrans,
  kTrans,
  kSalu,
  kVectorMemory,  // buffers, images, FLAT
  kValuOrMemory,  // but matrix instructions
  kDpp,
  kDivFmas,
  kReadWriteLane,  // with a lane select
  kReadlane,
  kAnyLane,
  kPermlane,
  kCmpx,
  kSetReg,
  kGetReg,
  kM0Reader,
  kWideStoreData,
  kPartialWrite,
  kMatrix,
  kDgemm,
  kDot,
  kFmaF64,
};

enum class Relation : uint8_t {
  kNoRegister,
  kScalarReadAfterWrite,
  kVectorReadAfterWrite,
  kVectorWriteAfterWrite,
  kVectorWriteAfterRead,  // of the producer's store data
  kAccumulatorWriteAfterRead,
  kDotReadAfterWrite,
  kDotWriteAfterWrite,
  kExecReadAfterWrite,
  kVccReadAfterWrite,
  kM0ReadAfterWrite,
  kLaneSelect,
  kSameHwReg,
};

struct Row {
  uint8_t isas;
  Class producer;
  Relation relation;
  Class consumer;
  int states;
  const char* what;
  const char* source;
};

constexpr Row kRows[] = {
#define HAZARD(name, isas, producer, relation, consumer, states, what, source) \
  {isas, Class::producer, Relation::relation, Class::consumer, states, what, source},
#include "emu/amd/check/hazards.inc"
};

bool Named(const Facts& f, const char* prefix) {
  return std::strncmp(OpcodeName(f.inst.op), prefix, std::strlen(prefix)) == 0;
}

bool IsMemory(const Facts& f) {
  return f.effects.unit == Unit::kVmem || f.effects.unit == Unit::kFlat || f.effects.unit == Unit::kLds;
}

// The register span of a store's data where it is wider than 64 bits; MUBUF only where soffset is no
// register.
const RegSpan* WideStoreData(const Facts& f) {
  if (!f.effects.store) return nullptr;
  int operand = 0;
  if (f.effects.unit == Unit::kFlat) {
    operand = 1;
  } else if (f.inst.enc == Encoding::MUBUF || f.inst.enc == Encoding::MTBUF) {
    if (f.inst.src[2].is_sgpr()) return nullptr;
    operand = 3;
  } else {
    return nullptr;
  }
  for (const RegSpan& span : f.reads) {
    if (span.operand == operand && span.count > 2 && IsVector(span.first)) return &span;
  }
  return nullptr;
}

bool IsA(const Facts& f, Class c) {
  const Inst& inst = f.inst;
  const bool valu = f.effects.unit == Unit::kValu;
  const bool matrix = valu && f.effects.matrix;
  const bool dot = valu && Named(f, "V_DOT");
  switch (c) {
    case Class::kAny:
      return true;
    case Class::kAnyVector:
      return f.vector;
    case Class::kValu:
    case Class::kValuReader:
    case Class::kValuWriter:
      return valu;
    case Class::kLegacyValu:
      return valu && !matrix;
    case Class::kLegacyValuNotDot:
      return valu && !matrix && !dot;
    case Class::kNonTrans:
      return valu && !f.effects.trans;
    case Class::kTrans:
      return valu && f.effects.trans;
    case Class::kSalu:
      return f.effects.unit == Unit::kSalu;
    case Class::kVectorMemory:
      return f.effects.unit == Unit::kVmem || f.effects.unit == Unit::kFlat;
    case Class::kValuOrMemory:
      return (valu && !matrix) || IsMemory(f) || f.effects.unit == Unit::kExport;
    case Class::kDpp:
      return valu && inst.dpp.kind != DppInfo::Kind::kNone;
    case Class::kDivFmas:
      return Named(f, "V_DIV_FMAS");
    case Class::kReadWriteLane:
      return Named(f, "V_READLANE") || Named(f, "V_WRITELANE");
    case Class::kReadlane:
      return Named(f, "V_READLANE") || Named(f, "V_READFIRSTLANE");
    case Class::kAnyLane:
      return Named(f, "V_READLANE") || Named(f, "V_READFIRSTLANE") || Named(f, "V_WRITELANE");
    case Class::kPermlane:
      return Named(f, "V_PERMLANE");
    case Class::kCmpx:
      return Named(f, "V_CMPX");
    case Class::kSetReg:
      return Named(f, "S_SETREG");
    case Class::kGetReg:
      return Named(f, "S_GETREG");
    case Class::kM0Reader:
      return (f.effects.reads & kUsesM0) != 0 ||
             std::any_of(std::begin(inst.src), std::end(inst.src),
                         [](auto& o) { return o.kind == Operand::Kind::kLdsDirect; });
    case Class::kWideStoreData:
      return WideStoreData(f) != nullptr;
    case Class::kPartialWrite:
      if (!valu) return false;
      if (inst.sdwa.present) return inst.sdwa.dst_sel != 6;
      return (inst.op_sel & 8) != 0 || (inst.isa == Isa::kCdna4 && Named(f, "V_CVT_SCALEF32"));
    case Class::kMatrix:
      return matrix;
    case Class::kDgemm:
      return f.effects.dgemm;
    case Class::kDot:
      return dot;
    case Class::kFmaF64:
      return Named(f, "V_FMA_F64") || Named(f, "V_FMAC_F64");
  }
  return false;
}

// The first register of `a` that is in `b`, -1 for none.
int Overlap(const RegSpan& a, const RegSpan& b) {
  const int first = std::max(a.first, b.first), end = std::min(a.first + a.count, b.first + b.count);
  return first < end ? first : -1;
}

template <class Filter>
int OverlapAny(const std::vector<RegSpan>& a, const std::vector<RegSpan>& b, Filter&& filter) {
  for (const RegSpan& x : a) {
    for (const RegSpan& y : b) {
      const int reg = Overlap(x, y);
      if (reg >= 0 && filter(reg, x, y)) return reg;
    }
  }
  return -1;
}

bool IsSgprOrVcc(int reg) {
  return reg >= kFirstSgpr && reg < kFirstSgpr + kExecLo && reg != kFirstSgpr + kM0;
}

// The accumulator: C of MFMA; of SMFMAC the operand tied to D, whose src[2] is the index.
int AccumulatorOperand(const Facts& f) { return Named(f, "V_SMFMAC") ? 3 : 2; }
int DotAccumulatorOperand() { return 2; }

// The wait states that `consumer` needs after the matrix instruction `producer` when it reads or writes `reg`
// through its operand `span`. LLVM checkMAIHazards90A and checkMAIVALUHazards, by passes.
int MatrixDistance(const Facts& producer, const Facts& consumer, Relation relation, const RegSpan& written,
                   const RegSpan& span) {
  const Effects &p = producer.effects, &c = consumer.effects;
  const int n = p.passes;
  const Isa isa = producer.inst.isa;
  const bool gfx940 = isa != Isa::kCdna2;
  const int late = isa == Isa::kCdna4 && n != 2 && p.xdl ? 1 : 0;  // gfx950 needs one more
  const bool small_dgemm = p.dgemm && n == 4;
  if (relation == Relation::kAccumulatorWriteAfterRead) {
    if (p.dgemm || (gfx940 && !p.xdl)) return 0;
    return n - 1;
  }
  if (relation == Relation::kVectorWriteAfterWrite || !c.matrix) {
    const bool read = relation != Relation::kVectorWriteAfterWrite;
    if (p.dgemm) {
      if (read && consumer.effects.unit != Unit::kValu) return small_dgemm ? 9 : 18;
      return small_dgemm ? 6 : n == 16 ? 19 : 11;
    }
    return n + (gfx940 && !p.xdl ? 2 : 3) + late;
  }
  if (span.operand == AccumulatorOperand(consumer)) {
    if (!c.dgemm && !gfx940 && p.dgemm) return 0;
    if (written.first == span.first && written.count == span.count) {
      if (c.dgemm && c.passes == 4 && small_dgemm) return 4;
      return gfx940 && n == 2 ? 2 : 0;
    }
    if (p.dgemm) return c.xdl ? 0 : small_dgemm ? 4 : n == 16 ? 17 : 9;
    if (gfx940) {
      if (c.xdl && !p.xdl) return 0;
      return p.xdl ? n + 1 + late : n;
    }
    return c.dgemm ? n + 1 : n;
  }
  if (p.dgemm) return small_dgemm ? 6 : n == 16 ? 19 : 11;
  return n + (gfx940 && !p.xdl ? 2 : 3) + late;
}

// The register by which the two are related, kNoRegister's -1, or -2 where they are not. *distance is lowered
// for matrix instructions.
int Related(const Row& row, const Facts& producer, const Facts& consumer, int passed, int* distance) {
  constexpr int kUnrelated = -2;
  const auto found = [](int reg) { return reg < 0 ? kUnrelated : reg; };
  const auto single = [&](int first, int count) {
    const RegSpan wanted{static_cast<uint16_t>(first), static_cast<uint8_t>(count), -1};
    for (const RegSpan& span : producer.writes) {
      const int reg = Overlap(span, wanted);
      if (reg >= 0) return reg;
    }
    return kUnrelated;
  };
  const bool matrix = row.producer == Class::kMatrix;
  const auto matrix_filter = [&](const RegSpan& theirs, const RegSpan& ours) {
    if (!matrix) return true;
    *distance = MatrixDistance(producer, consumer, row.relation, theirs, ours);
    return passed < *distance;
  };
  switch (row.relation) {
    case Relation::kNoRegister:
      return -1;
    case Relation::kScalarReadAfterWrite:
      return found(OverlapAny(producer.writes, consumer.reads,
                              [](int reg, const RegSpan&, const RegSpan&) { return IsSgprOrVcc(reg); }));
    case Relation::kVectorReadAfterWrite:
      return found(OverlapAny(
          producer.writes, consumer.reads,
          [&](int reg, const RegSpan& w, const RegSpan& r) { return IsVector(reg) && matrix_filter(w, r); }));
    case Relation::kVectorWriteAfterWrite:
      return found(OverlapAny(
          producer.writes, consumer.writes,
          [&](int reg, const RegSpan& w, const RegSpan& r) { return IsVector(reg) && matrix_filter(w, r); }));
    case Relation::kVectorWriteAfterRead: {
      const RegSpan* data = WideStoreData(producer);
      for (const RegSpan& span : consumer.writes) {
        const int reg = Overlap(*data, span);
        if (reg >= 0) return reg;
      }
      return kUnrelated;
    }
    case Relation::kAccumulatorWriteAfterRead: {
      const int accumulator = AccumulatorOperand(producer);
      return found(
          OverlapAny(producer.reads, consumer.writes, [&](int reg, const RegSpan& r, const RegSpan& w) {
            return IsVector(reg) && r.operand == accumulator && matrix_filter(r, w);
          }));
    }
    case Relation::kDotReadAfterWrite:
      return found(
          OverlapAny(producer.writes, consumer.reads, [&](int reg, const RegSpan&, const RegSpan& r) {
            return IsVector(reg) &&
                   !(producer.inst.op == consumer.inst.op && r.operand == DotAccumulatorOperand());
          }));
    case Relation::kDotWriteAfterWrite:
      if (producer.inst.op == consumer.inst.op) return kUnrelated;
      return found(OverlapAny(producer.writes, consumer.writes,
                              [](int reg, const RegSpan&, const RegSpan&) { return IsVector(reg); }));
    case Relation::kExecReadAfterWrite:
      return single(kFirstSgpr + kExecLo, 2);
    case Relation::kVccReadAfterWrite:
      return single(kFirstSgpr + kVccLo, 2);
    case Relation::kM0ReadAfterWrite:
      return single(kFirstSgpr + kM0, 1);
    case Relation::kLaneSelect: {
      const Operand& select = consumer.inst.src[1];
      return select.is_sgpr() ? single(kFirstSgpr + select.reg, 1) : kUnrelated;
    }
    case Relation::kSameHwReg:
      return (producer.inst.simm & 0x3f) == (consumer.inst.simm & 0x3f) ? -1 : kUnrelated;
  }
  return kUnrelated;
}

}  // namespace

void HazardTracker::Start() {
  past_.clear();
  tracked_.reset();
  std::fill(std::begin(tracked_by_), std::end(tracked_by_), nullptr);
  std::fill(std::begin(salu_written_), std::end(salu_written_), nullptr);
  std::fill(std::begin(valu_written_), std::end(valu_written_), nullptr);
}

ExecResult HazardTracker::Report(const Facts& facts, const Facts& other, int reg, const char* what,
                                 const std::string& missing, const char* source, WaveState& wave) {
  const std::string name = reg >= 0 ? RegName(reg) : "";
  return sink_->Add(CheckKind::kHazards, wave, facts, &other, wave.wave_in_group, -1, name,
                    absl::StrFormat("%s%s%s after '%s' at pc 0x%x: %s (%s)", what, name.empty() ? "" : ", ",
                                    name, other.Text(), other.pc, missing, source));
}

uint64_t HazardRows(const Facts& facts) {
  uint64_t rows = 0;
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if ((kRows[i].isas & Of(facts.inst.isa)) != 0 && IsA(facts, kRows[i].consumer)) rows |= uint64_t{1} << i;
  }
  return rows;
}

ExecResult HazardTracker::CheckDistances(const Facts& facts, WaveState& wave) {
  for (uint64_t rows = facts.hazard_rows; rows != 0; rows &= rows - 1) {
    const Row& row = kRows[__builtin_ctzll(rows)];
    int passed = 0;
    for (const Past& past : past_) {
      if (passed >= row.states) break;
      int distance = row.states;
      if (IsA(*past.facts, row.producer)) {
        const int reg = Related(row, *past.facts, facts, passed, &distance);
        if (reg != -2 && passed < distance) {
          if (Report(facts, *past.facts, reg, row.what,
                     absl::StrFormat("%d wait states are needed, %d passed", distance, passed), row.source,
                     wave) == ExecResult::kFault) {
            return ExecResult::kFault;
          }
          break;
        }
      }
      passed += past.states;
    }
  }
  return ExecResult::kNext;
}

ExecResult HazardTracker::Before(const Facts& facts, WaveState& wave) {
  const ExecResult result = IsCdna(facts.inst.isa) ? CheckDistances(facts, wave) : CheckRdna(facts, wave);
  if (result == ExecResult::kFault) return result;
  past_.push_front({&facts, facts.inst.op == Opcode::S_NOP ? (facts.inst.simm & 15) + 1 : 1});
  if (past_.size() > kPast) past_.pop_back();
  return ExecResult::kNext;
}

}  // namespace understudy::emu::amd::check
