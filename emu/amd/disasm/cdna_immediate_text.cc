// SPDX-License-Identifier: Apache-2.0
// The immediates of CDNA's SOPP and SOPK in words (CDNA3 ISA manual, "Program flow control" and "Hardware
// registers").
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "emu/amd/disasm/cdna_text.h"

namespace understudy::emu::amd::disasm {
namespace {

uint32_t Bits(uint32_t value, int hi, int lo) { return (value >> lo) & ((1u << (hi - lo + 1)) - 1); }

struct Name {
  uint32_t id;
  const char* text;
};

template <size_t N>
const char* Find(const Name (&names)[N], uint32_t id) {
  for (const Name& name : names) {
    if (name.id == id) return name.text;
  }
  return nullptr;
}

std::string Waitcnt(uint32_t v) {
  // vmcnt 15:14 and 3:0, expcnt 6:4, lgkmcnt 11:8. A counter at its maximum is not waited for and not
  // printed, unless all are.
  uint32_t vm = Bits(v, 15, 14) << 4 | Bits(v, 3, 0), exp = Bits(v, 6, 4), lgkm = Bits(v, 11, 8);
  bool all = vm == 63 && exp == 7 && lgkm == 15;
  std::string out;
  auto add = [&](const char* name, uint32_t value, uint32_t max) {
    if (value == max && !all) return;
    absl::StrAppend(&out, out.empty() ? "" : " ", name, "(", value, ")");
  };
  add("vmcnt", vm, 63);
  add("expcnt", exp, 7);
  add("lgkmcnt", lgkm, 15);
  return out;
}

std::string Hwreg(Isa isa, uint32_t v) {
  static constexpr Name kNames[] = {
      {1, "HW_REG_MODE"},      {2, "HW_REG_STATUS"},    {3, "HW_REG_TRAPSTS"}, {4, "HW_REG_HW_ID"},
      {5, "HW_REG_GPR_ALLOC"}, {6, "HW_REG_LDS_ALLOC"}, {7, "HW_REG_IB_STS"},  {15, "HW_REG_SH_MEM_BASES"},
      {16, "HW_REG_TBA_LO"},   {17, "HW_REG_TBA_HI"},   {18, "HW_REG_TMA_LO"}, {19, "HW_REG_TMA_HI"},
  };
  static constexpr Name kFromGfx942[] = {
      {20, "HW_REG_XCC_ID"},
      {21, "HW_REG_SQ_PERF_SNAPSHOT_DATA"},
      {22, "HW_REG_SQ_PERF_SNAPSHOT_DATA1"},
      {23, "HW_REG_SQ_PERF_SNAPSHOT_PC_LO"},
      {24, "HW_REG_SQ_PERF_SNAPSHOT_PC_HI"},
  };
  uint32_t id = Bits(v, 5, 0), offset = Bits(v, 10, 6), size = Bits(v, 15, 11) + 1;
  const char* name = Find(kNames, id);
  if (name == nullptr && isa != Isa::kCdna2) name = Find(kFromGfx942, id);
  std::string text = name != nullptr ? name : absl::StrCat(id);
  if (offset == 0 && size == 32) return absl::StrCat("hwreg(", text, ")");
  return absl::StrCat("hwreg(", text, ", ", offset, ", ", size, ")");
}

std::string Sendmsg(uint32_t v) {
  static constexpr Name kNames[] = {
      {1, "MSG_INTERRUPT"},       {2, "MSG_GS"},
      {3, "MSG_GS_DONE"},         {4, "MSG_SAVEWAVE"},
      {5, "MSG_STALL_WAVE_GEN"},  {6, "MSG_HALT_WAVES"},
      {7, "MSG_ORDERED_PS_DONE"}, {8, "MSG_EARLY_PRIM_DEALLOC"},
      {9, "MSG_GS_ALLOC_REQ"},    {10, "MSG_GET_DOORBELL"},
  };
  static constexpr const char* kGsOps[] = {"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"};
  static constexpr const char* kSysOps[] = {"", "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD", nullptr,
                                            "SYSMSG_OP_TTRACE_PC"};
  uint32_t id = Bits(v, 3, 0), op = Bits(v, 6, 4), stream = Bits(v, 9, 8);
  // The names are used where they say all that the three fields hold, whatever the other bits are.
  const char* name = Find(kNames, id);
  if (id == 2 || id == 3) {
    if (op >= 1 && op <= 3) return absl::StrCat("sendmsg(", name, ", ", kGsOps[op], ", ", stream, ")");
    if (id == 3 && op == 0 && stream == 0) return absl::StrCat("sendmsg(", name, ", ", kGsOps[0], ")");
  } else if (id == 15) {
    if (op >= 1 && op <= 4 && op != 3 && stream == 0)
      return absl::StrCat("sendmsg(MSG_SYSMSG, ", kSysOps[op], ")");
  } else if (name != nullptr && op == 0 && stream == 0) {
    return absl::StrCat("sendmsg(", name, ")");
  }
  if ((v & ~0x37fu) != 0) return absl::StrCat(v);
  return absl::StrCat("sendmsg(", id, ", ", op, ", ", stream, ")");
}

std::string GprIdx(uint32_t v) {
  if (v > 15) return absl::StrFormat("0x%x", v);
  static constexpr const char* kNames[] = {"SRC0", "SRC1", "SRC2", "DST"};
  std::string list;
  for (int i = 0; i < 4; ++i) {
    if (v >> i & 1) absl::StrAppend(&list, list.empty() ? "" : ",", kNames[i]);
  }
  return absl::StrCat("gpr_idx(", list, ")");
}

std::string SmallOrHex(uint32_t v) { return v <= 64 ? absl::StrCat(v) : absl::StrFormat("0x%x", v); }

}  // namespace

// CDNA3 ISA manual, DS_SWIZZLE_B32: the offset's top bits choose the mode.
std::string SwizzleText(uint32_t v) {
  if (v >= 0xe000) return absl::StrCat("swizzle(FFT,", v & 31, ")");
  if (v >= 0xc000) return absl::StrCat("swizzle(ROTATE,", Bits(v, 10, 10), ",", Bits(v, 9, 5), ")");
  if ((v & 0xff00) == 0x8000) {
    return absl::StrCat("swizzle(QUAD_PERM,", v & 3, ",", v >> 2 & 3, ",", v >> 4 & 3, ",", v >> 6 & 3, ")");
  }
  if (v & 0x8000) return absl::StrCat(v);
  uint32_t and_mask = Bits(v, 4, 0), or_mask = Bits(v, 9, 5), xor_mask = Bits(v, 14, 10);
  auto is_power = [](uint32_t n) { return n != 0 && (n & (n - 1)) == 0; };
  if (and_mask == 31 && or_mask == 0 && is_power(xor_mask))
    return absl::StrCat("swizzle(SWAP,", xor_mask, ")");
  if (and_mask == 31 && or_mask == 0 && xor_mask > 0 && is_power(xor_mask + 1)) {
    return absl::StrCat("swizzle(REVERSE,", xor_mask + 1, ")");
  }
  uint32_t group = 32 - and_mask;
  if (group > 1 && is_power(group) && or_mask < group && xor_mask == 0) {
    return absl::StrCat("swizzle(BROADCAST,", group, ",", or_mask, ")");
  }
  uint32_t of_zeros = or_mask ^ xor_mask, of_ones = (and_mask | or_mask) ^ xor_mask;
  std::string mask;
  for (int bit = 4; bit >= 0; --bit) {
    // What becomes of a zero and of a one: both 0, kept, inverted, both 1.
    mask += "0pi1"[(of_zeros >> bit & 1) << 1 | (of_ones >> bit & 1)];
  }
  return absl::StrCat("swizzle(BITMASK_PERM,\"", mask, "\")");
}

std::string CdnaImmediateText(const Inst& inst) {
  uint32_t v = static_cast<uint32_t>(inst.simm) & 0xffff;
  switch (inst.op) {
    case Opcode::S_WAITCNT:
      return Waitcnt(v);
    case Opcode::S_SENDMSG:
    case Opcode::S_SENDMSGHALT:
      return Sendmsg(v);
    case Opcode::S_GETREG_B32:
    case Opcode::S_SETREG_B32:
    case Opcode::S_SETREG_IMM32_B32:
      return Hwreg(inst.isa, v);
    case Opcode::S_SET_GPR_IDX_ON:
    case Opcode::S_SET_GPR_IDX_MODE:
      return GprIdx(v);
    case Opcode::S_ENDPGM:
      return v == 0 ? "" : absl::StrCat(v);
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
    case Opcode::S_CBRANCH_I_FORK:
    case Opcode::S_CALL_B64:
      return absl::StrCat(v);
    default:
      return inst.enc == Encoding::SOPK ? absl::StrFormat("0x%x", v) : SmallOrHex(v);
  }
}

}  // namespace understudy::emu::amd::disasm
