// SPDX-License-Identifier: Apache-2.0
// VOP1, VOP2, VOPC, VOP3, VOP3SD, VOP3P, VOPD, VINTERP.

#include "absl/strings/str_format.h"
#include "emu/amd/disasm/text_writer.h"

namespace understudy::emu::amd::disasm {
namespace {

void DppText(const Inst& inst, Writer* w) {
  const DppInfo& dpp = inst.dpp;
  if (dpp.kind == DppInfo::Kind::kNone) return;
  if (dpp.kind == DppInfo::Kind::kDpp8) {
    std::string list;
    for (int i = 0; i < 8; ++i) absl::StrAppend(&list, i ? "," : "", dpp.lane_sel[i]);
    w->Modifier(absl::StrCat("dpp8:[", list, "]"));
    w->Flag(dpp.fetch_inactive, "fi:1");
    return;
  }
  uint32_t c = dpp.ctrl;
  if (c <= 0xff) {
    w->Modifier(absl::StrCat("quad_perm:[", c & 3, ",", c >> 2 & 3, ",", c >> 4 & 3, ",", c >> 6 & 3, "]"));
  } else if (c == 0x140) {
    w->Modifier("row_mirror");
  } else if (c == 0x141) {
    w->Modifier("row_half_mirror");
  } else {
    const char* name = c < 0x110   ? "row_shl"
                       : c < 0x120 ? "row_shr"
                       : c < 0x130 ? "row_ror"
                       : c < 0x160 ? "row_share"
                                   : "row_xmask";
    w->Modifier(absl::StrCat(name, ":", c & 0xf));
  }
  w->Modifier(absl::StrFormat("row_mask:0x%x", dpp.row_mask));
  w->Modifier(absl::StrFormat("bank_mask:0x%x", dpp.bank_mask));
  w->Flag(dpp.bound_ctrl, "bound_ctrl:1");
  w->Flag(dpp.fetch_inactive, "fi:1");
}

void OutputModifiers(const Inst& inst, Writer* w) {
  w->Flag(inst.clamp, "clamp");
  constexpr const char* kOmod[] = {"", "mul:2", "mul:4", "div:2"};
  if (inst.omod) w->Modifier(kOmod[inst.omod]);
}

bool ByteOfSource(Opcode op) { return op == Opcode::V_CVT_F32_FP8 || op == Opcode::V_CVT_F32_BF8; }
bool ByteOfDestination(Opcode op) { return op == Opcode::V_CVT_SR_FP8_F32 || op == Opcode::V_CVT_SR_BF8_F32; }

bool IsPermlane(const Inst& i) {
  return i.op == Opcode::V_PERMLANE16_B32 || i.op == Opcode::V_PERMLANEX16_B32 ||
         i.op == Opcode::V_PERMLANE16_VAR_B32 || i.op == Opcode::V_PERMLANEX16_VAR_B32;
}

// Dot products of bytes and nibbles, and WMMAs with 32-bit results, have no halves to choose.
bool TakesOpSel(const Inst& inst) {
  switch (inst.op) {
    case Opcode::V_DOT4_I32_IU8:
    case Opcode::V_DOT4_U32_U8:
    case Opcode::V_DOT8_I32_IU4:
    case Opcode::V_DOT8_U32_U4:
      return false;
    default:
      break;
  }
  switch (inst.dst[0].type) {
    case DataType::WMMA_DC_F32:
    case DataType::WMMA_DC_I32:
    case DataType::WMMA_DC_16X16_F16:
    case DataType::WMMA_DC_16X16_BF16:
    case DataType::WMMA_DC_16X16_F32:
    case DataType::WMMA_DC_16X16_I32:
      return false;
    default:
      return true;
  }
}

std::string HalfOfPair(const Inst& half, const TextOptions& options) {
  Writer w(absl::StrCat("v_dual_", Lower(OpcodeName(half.op)).substr(2)));
  w.Operand(OperandText(half.dst[0], options));
  for (int i = 0; i < NamedSources(half); ++i) {
    w.Operand(IsFmaConstant(half, i) ? Hex(half.lit32) : OperandText(half.src[i], options));
  }
  return w.Take();
}

}  // namespace

int NamedSources(const Inst& inst) {
  int n = inst.n_src;
  while (n > 0 && inst.src[n - 1].implicit) --n;
  return n;
}

bool IsFmaConstant(const Inst& inst, int i) {
  switch (inst.op) {
    case Opcode::V_FMAMK_F32:
    case Opcode::V_FMAMK_F16:
    case Opcode::S_FMAMK_F32:
      return i == 1;
    case Opcode::V_FMAAK_F32:
    case Opcode::V_FMAAK_F16:
    case Opcode::S_FMAAK_F32:
      return i == 2;
    default:
      return false;
  }
}

// Whether registers of 16-bit operands are written with their half.
static bool NamesHalves(const Inst& inst, bool e64, const TextOptions& options) {
  if (inst.isa != Isa::kRdna4 || options.name_halves) return true;
  if (inst.op == Opcode::V_MOV_B16 || inst.op == Opcode::V_SWAP_B16) return true;
  return !e64 && inst.op_sel != 0;
}

std::string VectorText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  bool e64 = inst.enc == Encoding::VOP3 || inst.enc == Encoding::VOP3SD;
  bool halves = NamesHalves(inst, e64, options);
  bool writes_exec = inst.n_dst > 0 && inst.dst[0].implicit && inst.dst[0].reg == kRegExecLo;
  if (inst.n_dst > 0 && !writes_exec) {
    w.Operand(halves ? HalfText(inst.dst[0], inst.op_sel & 8, options) : OperandText(inst.dst[0], options));
  }
  // A carry-out is named, VCC too.
  bool carry = inst.n_dst > 1 && inst.dst[1].type == DataType::M64;
  if (carry) w.Operand(OperandText(inst.dst[1], options));
  int n = NamedSources(inst);
  for (int i = 0; i < n; ++i) {
    w.Operand(IsFmaConstant(inst, i) ? Hex(inst.lit32) : SourceText(inst, i, halves, options));
  }
  // VCC as carry-in or selector of the e32 encodings is written out; V_DIV_FMAS leaves it unsaid.
  if (!e64 && inst.n_src == 3 && inst.src[2].implicit && inst.src[2].type == DataType::M64) {
    w.Operand(OperandText(inst.src[2], options));
  }
  // The select of halves leaves its choice to the register names; an accumulator counts as a source without a
  // bit.
  if (e64 && inst.op_sel != 0 && inst.op != Opcode::V_CNDMASK_B16) {
    if (ByteOfSource(inst.op)) {
      w.Modifier(absl::StrCat("byte_sel:", (inst.op_sel & 1) << 1 | (inst.op_sel >> 1 & 1)));
    } else if (ByteOfDestination(inst.op)) {
      w.Modifier(absl::StrCat("byte_sel:", inst.op_sel >> 2));
    } else if (IsPermlane(inst)) {
      w.BitList("op_sel", inst.op_sel, 2);
    } else if (n == 2 && inst.n_src == 3) {
      w.BitList("op_sel", inst.op_sel & 0b1011, 4);
    } else {
      uint32_t bits = (inst.op_sel & ((1u << n) - 1)) | (inst.op_sel >> 3 & 1) << n;
      w.BitList("op_sel", bits, n + 1);
    }
  }
  OutputModifiers(inst, &w);
  DppText(inst, &w);
  return w.Take();
}

std::string PackedText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  w.Operand(OperandText(inst.dst[0], options));
  bool mix = IsFmaMix(inst.op);
  Inst plain = inst;
  if (!mix) plain.neg = plain.abs = 0;
  int n = NamedSources(inst);
  for (int i = 0; i < n; ++i) w.Operand(SourceText(plain, i, false, options));
  uint32_t all = (1u << n) - 1;
  if (inst.op_sel & all) w.BitList("op_sel", inst.op_sel, n);
  // Ones are the default of op_sel_hi, except for the mixed-precision FMAs, whose default is 32-bit sources.
  uint32_t hi_default = mix ? 0 : all;
  if (TakesOpSel(inst) && (inst.op_sel_hi & all) != hi_default) w.BitList("op_sel_hi", inst.op_sel_hi, n);
  if (inst.index_key) w.Modifier(absl::StrCat("index_key:", inst.index_key));
  if (!mix && (inst.neg & all)) w.BitList("neg_lo", inst.neg, n);
  if (!mix && (inst.neg_hi & all)) w.BitList("neg_hi", inst.neg_hi, n);
  w.Flag(inst.clamp, "clamp");
  DppText(inst, &w);
  return w.Take();
}

std::string PairText(const Inst& inst, const TextOptions& options) {
  return absl::StrCat(HalfOfPair(VopdHalf(inst, 0), options), " :: ", HalfOfPair(VopdHalf(inst, 1), options));
}

std::string InterpText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  w.Operand(HalfText(inst.dst[0], inst.op_sel & 8, options));
  for (int i = 0; i < 3; ++i) w.Operand(SourceText(inst, i, true, options));
  w.Flag(inst.clamp, "clamp");
  if (inst.op_sel) w.BitList("op_sel", inst.op_sel, 4);
  w.Modifier(absl::StrCat("wait_exp:", inst.wait_exp));
  return w.Take();
}

}  // namespace understudy::emu::amd::disasm
