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

std::string Hwreg(uint32_t v) {
  struct Name {
    uint32_t id;
    const char* text;
  };
  static constexpr Name kNames[] = {{1, "HW_REG_MODE"},
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
  uint32_t id = Bits(v, 5, 0), offset = Bits(v, 10, 6), size = Bits(v, 15, 11) + 1;
  std::string name = absl::StrCat(id);
  for (const Name& n : kNames) {
    if (n.id == id) name = n.text;
  }
  if (offset == 0 && size == 32) return absl::StrCat("hwreg(", name, ")");
  return absl::StrCat("hwreg(", name, ", ", offset, ", ", size, ")");
}

std::string Sendmsg(uint32_t v) {
  struct Name {
    uint32_t id;
    const char* text;
  };
  static constexpr Name kNames[] = {
      {1, "MSG_INTERRUPT"},          {2, "MSG_HS_TESSFACTOR"},   {3, "MSG_DEALLOC_VGPRS"},
      {5, "MSG_STALL_WAVE_GEN"},     {6, "MSG_HALT_WAVES"},      {9, "MSG_GS_ALLOC_REQ"},
      {128, "MSG_RTN_GET_DOORBELL"}, {129, "MSG_RTN_GET_DDID"},  {130, "MSG_RTN_GET_TMA"},
      {131, "MSG_RTN_GET_REALTIME"}, {132, "MSG_RTN_SAVE_WAVE"}, {133, "MSG_RTN_GET_TBA"},
      {134, "MSG_RTN_GET_TBA_TO_PC"}};
  uint32_t id = v & 0xff;
  for (const Name& n : kNames) {
    if (n.id == id) return absl::StrCat("sendmsg(", n.text, ")");
  }
  return v <= 0xff ? absl::StrCat("sendmsg(", id, ", 0, 0)") : absl::StrCat(v);
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
      return Depctr(v);
    case Opcode::S_SENDMSG:
    case Opcode::S_SENDMSGHALT:
    case Opcode::S_SENDMSG_RTN_B32:
    case Opcode::S_SENDMSG_RTN_B64:
      return Sendmsg(v);
    case Opcode::S_GETREG_B32:
    case Opcode::S_SETREG_B32:
    case Opcode::S_SETREG_IMM32_B32:
      return Hwreg(v);
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
