// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/check/facts.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_format.h"
#include "emu/amd/disasm/disasm.h"

namespace understudy::emu::amd::check {
namespace {

bool Has(const char* name, const char* part) { return std::strstr(name, part) != nullptr; }
bool Ends(const char* name, const char* part) {
  const size_t n = std::strlen(name), m = std::strlen(part);
  return n >= m && std::strcmp(name + n - m, part) == 0;
}

void AddSpan(const Operand& operand, int index, std::vector<RegSpan>* spans) {
  const int count = std::max<int>(operand.dwords, 1);
  RegSpan span;
  span.operand = static_cast<int8_t>(index);
  switch (operand.kind) {
    case Operand::Kind::kVgpr:
      span.first = operand.reg;
      break;
    case Operand::Kind::kAgpr:
      span.first = static_cast<uint16_t>(kAgprBase + operand.reg);
      break;
    case Operand::Kind::kSgpr:
      if (operand.reg == kNull) return;
      span.first = static_cast<uint16_t>(kFirstSgpr + operand.reg);
      break;
    case Operand::Kind::kScc:
      span.first = kSccReg;
      break;
    case Operand::Kind::kVccz:
      span.first = kFirstSgpr + kVccLo;
      span.count = 2;
      spans->push_back(span);
      return;
    default:
      return;
  }
  const int file_end = IsVector(span.first) ? (span.first < kAgprBase ? kAgprBase : kFirstSgpr) : kRegs;
  span.count = static_cast<uint8_t>(std::min(count, file_end - span.first));
  spans->push_back(span);
}

void AddSpecial(uint8_t uses, Isa isa, int wave_size, std::vector<RegSpan>* spans) {
  const uint8_t mask_words = wave_size == 64 ? 2 : 1;
  const auto add = [spans](int first, uint8_t count) {
    spans->push_back({static_cast<uint16_t>(first), count, -1});
  };
  if ((uses & kUsesScc) != 0) add(kSccReg, 1);
  if ((uses & kUsesVcc) != 0) add(kFirstSgpr + kVccLo, mask_words);
  if ((uses & kUsesExec) != 0) add(kFirstSgpr + kExecLo, mask_words);
  if ((uses & kUsesM0) != 0) add(kFirstSgpr + kM0, 1);
  if ((uses & kUsesFlatScratch) != 0 && isa == Isa::kCdna2) add(kFirstSgpr + 102, 2);
}

// Loads of 16 bits (or 8, extended to 16) into half of a register leave the other half alone.
uint32_t LateBits(const char* name) {
  if (!Has(name, "LOAD") && !Has(name, "READ")) return 0xffffffff;
  if (Has(name, "D16_HI")) return 0xffff0000;
  if (Ends(name, "_D16") || Ends(name, "D16_FORMAT_X")) return 0x0000ffff;
  return 0xffffffff;
}

bool CrossesLanes(const Inst& inst, const char* name) {
  if (inst.dpp.kind != DppInfo::Kind::kNone && inst.dpp.fetch_inactive) return true;
  return std::strncmp(name, "V_READLANE", 10) == 0 || std::strncmp(name, "V_WRITELANE", 11) == 0 ||
         std::strncmp(name, "V_PERMLANE", 10) == 0 || std::strncmp(name, "V_WMMA", 6) == 0 ||
         std::strncmp(name, "V_SWMMAC", 8) == 0 || std::strncmp(name, "V_MFMA", 6) == 0 ||
         std::strncmp(name, "V_SMFMAC", 8) == 0;
}

}  // namespace

std::string RegName(int reg) {
  if (reg < kAgprBase) return absl::StrFormat("v%d", reg);
  if (reg < kFirstSgpr) return absl::StrFormat("a%d", reg - kAgprBase);
  if (reg == kSccReg) return "scc";
  const int s = reg - kFirstSgpr;
  switch (s) {
    case kVccLo:
      return "vcc_lo";
    case kVccHi:
      return "vcc_hi";
    case kM0:
      return "m0";
    case kExecLo:
      return "exec_lo";
    case kExecHi:
      return "exec_hi";
    default:
      return s >= kTtmp0 ? absl::StrFormat("ttmp%d", s - kTtmp0) : absl::StrFormat("s%d", s);
  }
}

std::string Facts::Text() const { return amd::Text(inst, {.wave_size = wave_size}); }

Facts FactsOf(const Inst& inst, ExecFn fn, int wave_size) {
  Facts f;
  f.inst = inst;
  f.fn = fn;
  f.wave_size = wave_size;
  f.effects = EffectsOf(inst);
  f.wait = WaitClassOf(inst);
  const char* name = OpcodeName(inst.op);
  for (int i = 0; i < static_cast<int>(std::size(inst.src)); ++i) AddSpan(inst.src[i], i, &f.reads);
  for (int i = 0; i < static_cast<int>(std::size(inst.dst)); ++i) AddSpan(inst.dst[i], i, &f.writes);
  for (int i = 0; i < inst.n_nsa; ++i) {
    f.reads.push_back({inst.nsa_vaddr[i], inst.nsa_dwords[i], -1});
  }
  AddSpecial(f.effects.reads, inst.isa, wave_size, &f.reads);
  AddSpecial(f.effects.writes, inst.isa, wave_size, &f.writes);
  switch (f.effects.unit) {
    case Unit::kSalu:
    case Unit::kBranch:
    case Unit::kScalarMemory:
      break;
    default:
      f.vector = true;
  }
  f.crosses_lanes = CrossesLanes(inst, name);
  const bool to_lds = inst.lds || Has(name, "_LOAD_LDS_");
  const bool isfirst = std::strncmp(name, "S_BARRIER_SIGNAL_ISFIRST", 24) == 0;
  f.writes_late = f.wait.count != 0 && (!f.writes.empty() || to_lds) && !isfirst;
  f.reads_late =
      f.wait.count != 0 && f.wait.Increments(WaitCounter::kExp) && f.effects.unit != Unit::kLdsDirect;
  if (f.writes_late) f.late_bits = LateBits(name);
  f.hazard_rows = HazardRows(f);
  return f;
}

const Facts& Program::At(const Inst& inst, ExecFn fn, WaveState& wave) {
  Slot& slot = slots_[wave.pc];
  if (slot.facts != nullptr && slot.epoch == epoch_) return *slot.facts;
  slot.epoch = epoch_;
  uint8_t bytes[20] = {};
  const bool readable = wave.mem->Read(wave.pc, bytes, inst.size, Access::kExecute);
  if (slot.facts != nullptr && readable && slot.facts->bytes.size() == inst.size &&
      std::equal(bytes, bytes + inst.size, slot.facts->bytes.begin())) {
    return *slot.facts;
  }
  facts_.push_back(FactsOf(inst, fn, wave_size_));
  Facts& facts = facts_.back();
  facts.pc = wave.pc;
  facts.bytes.assign(bytes, bytes + inst.size);
  slot.facts = &facts;
  return facts;
}

}  // namespace understudy::emu::amd::check
