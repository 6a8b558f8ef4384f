// SPDX-License-Identifier: Apache-2.0
// The immediates of SOPP, SOPK and s_sendmsg_rtn in words: wait counters, delays, hardware registers,
// messages (RDNA3 ISA manual, chapters 4 and 16).
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "emu/amd/disasm/operand_text.h"

namespace understudy::emu::amd::disasm {
namespace {

uint32_t Bits(uint32_t value, int hi, int lo) { return (value >> lo) & ((1u << (hi - lo + 1)) - 1); }

std::string Waitcnt(uint32_t v) {
  // gfx11: expcnt 2:0, lgkmcnt 9:4, vmcnt 15:10. A counter at its maximum is not waited for and not printed,
  // unless all are.
  uint32_t exp = Bits(v, 2, 0), lgkm = Bits(v, 9, 4), vm = Bits(v, 15, 10);
  bool all = exp == 7 && lgkm == 63 && vm == 63;
  std::string out;
  auto add = [&](const char* name, uint32_t value, uint32_t max) {
    if (value == max && !all) return;
    if (!out.empty()) out += " ";
    absl::StrAppend(&out, name, "(", value, ")");
  };
  add("vmcnt", vm, 63);
  add("expcnt", exp, 7);
  add("lgkmcnt", lgkm, 63);
  return out;
}

std::string DelayAlu(uint32_t v) {
  static constexpr const char* kIds[] = {"",
                                         "VALU_DEP_1",
                                         "VALU_DEP_2",
                                         "VALU_DEP_3",
                                         "VALU_DEP_4",
                                         "TRANS32_DEP_1",
                                         "TRANS32_DEP_2",
                                         "TRANS32_DEP_3",
                                         "FMA_ACCUM_CYCLE_1",
                                         "SALU_CYCLE_1",
                                         "SALU_CYCLE_2",
                                         "SALU_CYCLE_3"};
  static constexpr const char* kSkips[] = {"SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"};
  auto id = [](uint32_t i) {
    return i < std::size(kIds) ? std::string(kIds[i]) : std::string("/* invalid instid value */");
  };
  uint32_t id0 = Bits(v, 3, 0), skip = Bits(v, 6, 4), id1 = Bits(v, 10, 7);
  std::string out;
  auto add = [&](const std::string& text) { absl::StrAppend(&out, out.empty() ? "" : " | ", text); };
  if (id0 != 0) add(absl::StrCat("instid0(", id(id0), ")"));
  if (skip != 0) {
    add(absl::StrCat("instskip(", skip < std::size(kSkips) ? kSkips[skip] : "/* invalid instskip value */",
                     ")"));
  }
  if (id1 != 0) add(absl::StrCat("instid1(", id(id1), ")"));
  return out.empty() ? "0" : out;
}

std::string Depctr(uint32_t v) {
  struct Counter {
    const char* name;
    int lo, bits;
  };
  static constexpr Counter kCounters[] = {
      {"depctr_hold_cnt", 7, 1}, {"depctr_sa_sdst", 0, 1}, {"depctr_va_vdst", 12, 4},
      {"depctr_va_sdst", 9, 3},  {"depctr_va_ssrc", 8, 1}, {"depctr_va_vcc", 1, 1},
      {"depctr_vm_vsrc", 2, 3},
  };
  uint32_t known = 0;
  std::string out, all;
  for (const Counter& c : kCounters) {
    uint32_t max = (1u << c.bits) - 1, value = (v >> c.lo) & max;
    known |= max << c.lo;
    std::string text = absl::StrCat(c.name, "(", value, ")");
    absl::StrAppend(&all, all.empty() ? "" : " ", text);
    if (value != max) absl::StrAppend(&out, out.empty() ? "" : " ", text);
  }
  if ((v & ~known) != 0) return absl::StrFormat("0x%x", v);
  return out.empty() ? all : out;
}

struct Name {
  uint32_t id;
  const char* text;
};

template <size_t n>
const char* Find(const Name (&names)[n], uint32_t id) {
  for (const Name& name : names) {
    if (name.id == id) return name.text;
  }
  return nullptr;
}

// RDNA4 renumbers and splits the registers (its ISA manual, "Hardware registers").
const char* HwregName(Isa isa, uint32_t id) {
  static constexpr Name kRdna3[] = {{1, "HW_REG_MODE"},
                                    {2, "HW_REG_STATUS"},
                                    {3, "HW_REG_TRAPSTS"},
                                    {5, "HW_REG_GPR_ALLOC"},
                                    {6, "HW_REG_LDS_ALLOC"},
                                    {7, "HW_REG_IB_STS"},
                                    {15, "HW_REG_SH_MEM_BASES"},
                                    {18, "HW_REG_PERF_SNAPSHOT_PC_LO"},
                                    {19, "HW_REG_PERF_SNAPSHOT_PC_HI"},
                                    {20, "HW_REG_FLAT_SCR_LO"},
                                    {21, "HW_REG_FLAT_SCR_HI"},
                                    {23, "HW_REG_HW_ID1"},
                                    {24, "HW_REG_HW_ID2"},
                                    {27, "HW_REG_PERF_SNAPSHOT_DATA"},
                                    {29, "HW_REG_SHADER_CYCLES"}};
  static constexpr Name kRdna4[] = {{1, "HW_REG_WAVE_MODE"},
                                    {2, "HW_REG_WAVE_STATUS"},
                                    {4, "HW_REG_WAVE_STATE_PRIV"},
                                    {5, "HW_REG_WAVE_GPR_ALLOC"},
                                    {6, "HW_REG_WAVE_LDS_ALLOC"},
                                    {7, "HW_REG_IB_STS"},
                                    {10, "HW_REG_PERF_SNAPSHOT_DATA"},
                                    {11, "HW_REG_PERF_SNAPSHOT_PC_LO"},
                                    {12, "HW_REG_PERF_SNAPSHOT_PC_HI"},
                                    {15, "HW_REG_PERF_SNAPSHOT_DATA1"},
                                    {16, "HW_REG_PERF_SNAPSHOT_DATA2"},
                                    {17, "HW_REG_WAVE_EXCP_FLAG_PRIV"},
                                    {18, "HW_REG_WAVE_EXCP_FLAG_USER"},
                                    {19, "HW_REG_WAVE_TRAP_CTRL"},
                                    {20, "HW_REG_WAVE_SCRATCH_BASE_LO"},
                                    {21, "HW_REG_WAVE_SCRATCH_BASE_HI"},
                                    {23, "HW_REG_WAVE_HW_ID1"},
                                    {24, "HW_REG_WAVE_HW_ID2"},
                                    {26, "HW_REG_WAVE_SCHED_MODE"},
                                    {29, "HW_REG_SHADER_CYCLES_LO"},
                                    {30, "HW_REG_SHADER_CYCLES_HI"},
                                    {31, "HW_REG_WAVE_DVGPR_ALLOC_LO"},
                                    {32, "HW_REG_WAVE_DVGPR_ALLOC_HI"}};
  return isa == Isa::kRdna4 ? Find(kRdna4, id) : Find(kRdna3, id);
}

std::string Hwreg(Isa isa, uint32_t v) {
  uint32_t id = Bits(v, 5, 0), offset = Bits(v, 10, 6), size = Bits(v, 15, 11) + 1;
  const char* known = HwregName(isa, id);
  std::string name = known != nullptr ? std::string(known) : absl::StrCat(id);
  if (offset == 0 && size == 32) return absl::StrCat("hwreg(", name, ")");
  return absl::StrCat("hwreg(", name, ", ", offset, ", ", size, ")");
}

const char* MessageName(Isa isa, uint32_t id) {
  static constexpr Name kBoth[] = {
      {1, "MSG_INTERRUPT"},     {2, "MSG_HS_TESSFACTOR"},      {3, "MSG_DEALLOC_VGPRS"},
      {9, "MSG_GS_ALLOC_REQ"},  {128, "MSG_RTN_GET_DOORBELL"}, {129, "MSG_RTN_GET_DDID"},
      {130, "MSG_RTN_GET_TMA"}, {131, "MSG_RTN_GET_REALTIME"}, {132, "MSG_RTN_SAVE_WAVE"},
      {133, "MSG_RTN_GET_TBA"}, {134, "MSG_RTN_GET_TBA_TO_PC"}};
  static constexpr Name kRdna3[] = {{5, "MSG_STALL_WAVE_GEN"}, {6, "MSG_HALT_WAVES"}};
  static constexpr Name kRdna4[] = {{135, "MSG_RTN_GET_SE_AID_ID"}};
  const char* name = Find(kBoth, id);
  if (name != nullptr) return name;
  return isa == Isa::kRdna4 ? Find(kRdna4, id) : Find(kRdna3, id);
}

std::string Sendmsg(Isa isa, uint32_t v) {
  uint32_t id = v & 0xff;
  const char* name = MessageName(isa, id);
  if (name != nullptr) return absl::StrCat("sendmsg(", name, ")");
  return v <= 0xff ? absl::StrCat("sendmsg(", id, ", 0, 0)") : absl::StrCat(v);
}

// S_VERSION: a generation and flags, as an expression that parses back.
std::string Version(uint32_t v) {
  static constexpr Name kGenerations[] = {
      {0, "UC_VERSION_GFX7"}, {4, "UC_VERSION_GFX10"}, {6, "UC_VERSION_GFX11"}, {9, "UC_VERSION_GFX12"}};
  static constexpr Name kFlags[] = {
      {0x2000, "UC_VERSION_W64_BIT"}, {0x4000, "UC_VERSION_W32_BIT"}, {0x8000, "UC_VERSION_MDP_BIT"}};
  if ((v & 0x1f00) != 0) return absl::StrFormat("0x%x", v);
  const char* generation = Find(kGenerations, v & 0xff);
  std::string out = generation != nullptr ? std::string(generation) : absl::StrCat(v & 0xff);
  bool compound = false;
  for (const Name& flag : kFlags) {
    if ((v & flag.id) == 0) continue;
    out = absl::StrCat(compound ? "(" : "", out, compound ? ")" : "", "|", flag.text);
    compound = true;
  }
  return out;
}

std::string SmallOrHex(uint32_t v) { return v <= 64 ? absl::StrCat(v) : absl::StrFormat("0x%x", v); }

}  // namespace

std::string ImmediateText(const Inst& inst) {
  uint32_t v = static_cast<uint32_t>(inst.simm) & 0xffff;
  switch (inst.op) {
    case Opcode::S_WAITCNT:
      return Waitcnt(v);
    case Opcode::S_DELAY_ALU:
      return DelayAlu(v);
    case Opcode::S_WAITCNT_DEPCTR:
    case Opcode::S_WAIT_ALU:
      return Depctr(v);
    case Opcode::S_SENDMSG:
    case Opcode::S_SENDMSGHALT:
    case Opcode::S_SENDMSG_RTN_B32:
    case Opcode::S_SENDMSG_RTN_B64:
      return Sendmsg(inst.isa, v);
    case Opcode::S_GETREG_B32:
    case Opcode::S_SETREG_B32:
    case Opcode::S_SETREG_IMM32_B32:
      return Hwreg(inst.isa, v);
    case Opcode::S_VERSION:
      return Version(v);
    case Opcode::S_BARRIER_WAIT:
    case Opcode::S_NOP:
    case Opcode::S_SETKILL:
    case Opcode::S_SETHALT:
    case Opcode::S_SLEEP:
    case Opcode::S_TRAP:
    case Opcode::S_DENORM_MODE:
    case Opcode::S_SETPRIO:
    case Opcode::S_INCPERFLEVEL:
    case Opcode::S_DECPERFLEVEL:
      return SmallOrHex(v);
    case Opcode::S_BRANCH:
    case Opcode::S_CBRANCH_SCC0:
    case Opcode::S_CBRANCH_SCC1:
    case Opcode::S_CBRANCH_VCCZ:
    case Opcode::S_CBRANCH_VCCNZ:
    case Opcode::S_CBRANCH_EXECZ:
    case Opcode::S_CBRANCH_EXECNZ:
    case Opcode::S_CBRANCH_CDBGSYS:
    case Opcode::S_CBRANCH_CDBGUSER:
    case Opcode::S_CBRANCH_CDBGSYS_OR_USER:
    case Opcode::S_CBRANCH_CDBGSYS_AND_USER:
    case Opcode::S_CALL_B64:
    case Opcode::S_SUBVECTOR_LOOP_BEGIN:
    case Opcode::S_SUBVECTOR_LOOP_END:
      return absl::StrCat(v);
    case Opcode::S_ENDPGM:
      return v == 0 ? "" : absl::StrCat(v);
    default:
      return absl::StrFormat("0x%x", v);
  }
}

}  // namespace understudy::emu::amd::disasm
