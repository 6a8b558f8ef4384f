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

struct NamedRule {
  const char* prefix;
  Facts::Rule rule;
};
using Rule = Facts::Rule;
// The longest matching prefix counts.
constexpr NamedRule kRules[] = {
    {"V_MOV_B32", Rule::kMove},       {"V_NOT_B32", Rule::kMove},       {"V_ACCVGPR_", Rule::kMove},
    {"V_AND_B32", Rule::kAnd},        {"V_OR_B32", Rule::kOr},          {"V_XOR_B32", Rule::kXor},
    {"V_XNOR_B32", Rule::kXor},       {"V_AND_OR_B32", Rule::kAndOr},   {"V_OR3_B32", Rule::kOr3},
    {"V_XOR3_B32", Rule::kXor3},      {"V_BFI_B32", Rule::kBfi},        {"V_LSHLREV_B32", Rule::kLeft},
    {"V_LSHRREV_B32", Rule::kRight},  {"V_ASHRREV_I32", Rule::kArith},  {"V_BFE_U32", Rule::kBfe},
    {"V_BFE_I32", Rule::kBfeSigned},  {"V_PERM_B32", Rule::kPerm},      {"V_ALIGNBIT_B32", Rule::kAlign},
    {"V_CNDMASK_B32", Rule::kSelect}, {"V_LSHL_OR_B32", Rule::kLeftOr}, {"V_PACK_B32_F16", Rule::kPack},
    {"V_MOV_B16", Rule::kMove},       {"V_NOT_B16", Rule::kMove},       {"V_AND_B16", Rule::kAnd},
    {"V_OR_B16", Rule::kOr},          {"V_XOR_B16", Rule::kXor},        {"V_LSHLREV_B16", Rule::kLeft},
    {"V_LSHRREV_B16", Rule::kRight},  {"V_CNDMASK_B16", Rule::kSelect}, {"V_ADD_NC_U16", Rule::kSum16},
    {"V_ADD_NC_I16", Rule::kSum16},   {"V_SUB_NC_U16", Rule::kSum16},   {"V_MUL_LO_U16", Rule::kSum16},
    {"V_ADD_U16", Rule::kSum16},      {"V_SUB_U16", Rule::kSum16},      {"V_ADD_NC_U32", Rule::kSum},
    {"V_ADD_U32", Rule::kSum},        {"V_SUB_NC_U32", Rule::kSum},     {"V_SUB_U32", Rule::kSum},
    {"V_SUBREV_NC_U32", Rule::kSum},  {"V_SUBREV_U32", Rule::kSum},     {"V_ADD_CO_", Rule::kSum},
    {"V_SUB_CO_", Rule::kSum},        {"V_SUBREV_CO_", Rule::kSum},     {"V_ADDC_CO_", Rule::kSum},
    {"V_SUBB_CO_", Rule::kSum},       {"V_SUBBREV_CO_", Rule::kSum},    {"V_ADD3_U32", Rule::kSum},
    {"V_MUL_LO_U32", Rule::kSum},     {"V_MAD_U64_U32", Rule::kSum},    {"V_MAD_CO_U64_U32", Rule::kSum},
    {"V_LSHL_ADD_U64", Rule::kSum},   {"S_ADD_U32", Rule::kSum},        {"S_ADD_I32", Rule::kSum},
    {"S_ADD_CO_", Rule::kSum},        {"S_ADDC_U32", Rule::kSum},       {"S_SUB_U32", Rule::kSum},
    {"S_SUB_I32", Rule::kSum},        {"S_SUB_CO_", Rule::kSum},        {"S_SUBB_U32", Rule::kSum},
    {"S_MUL_I32", Rule::kSum},        {"S_ADDK_", Rule::kSum},          {"S_MULK_", Rule::kSum},
};

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
  for (const NamedRule& r : kRules) {
    if (std::strncmp(name, r.prefix, std::strlen(r.prefix)) == 0) f.rule = r.rule;
  }
  f.mix = Has(name, "_FMA_MIX") || Has(name, "_MAD_MIX");
  f.high = Has(name, "_MIXHI_");
  for (const char* prefix : {"V_READLANE", "V_READFIRSTLANE", "V_WRITELANE", "V_PERMLANE", "DS_SWIZZLE",
                             "DS_PERMUTE", "DS_BPERMUTE"}) {
    f.exchange |= std::strncmp(name, prefix, std::strlen(prefix)) == 0;
  }
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
