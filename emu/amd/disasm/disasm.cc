// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/disasm/disasm.h"

#include <cstring>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "emu/amd/disasm/operand_text.h"

namespace understudy::emu::amd {
namespace {

using disasm::HalfText;
using disasm::Hex;
using disasm::ImmediateText;
using disasm::OperandText;
using disasm::SourceText;

std::string Lower(const char* name) {
  std::string out = name;
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return out;
}

// Builds "mnemonic op, op mod mod".
class Writer {
 public:
  explicit Writer(std::string mnemonic) : text_(std::move(mnemonic)) {}
  void Operand(const std::string& text) {
    absl::StrAppend(&text_, first_ ? " " : ", ", text);
    first_ = false;
  }
  void Modifier(const std::string& text) { absl::StrAppend(&text_, " ", text); }
  void Flag(bool on, const char* name) {
    if (on) Modifier(name);
  }
  // "op_sel:[0,1]"
  void BitList(const char* name, uint32_t bits, int n) {
    absl::StrAppend(&text_, " ", name, ":[");
    for (int i = 0; i < n; ++i) absl::StrAppend(&text_, i ? "," : "", bits >> i & 1);
    text_ += "]";
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
  bool first_ = true;
};

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

bool IsPermlane(const Inst& i) {
  return i.op == Opcode::V_PERMLANE16_B32 || i.op == Opcode::V_PERMLANEX16_B32;
}

// Sources that the text names, in order.
int NamedSources(const Inst& inst) {
  int n = inst.n_src;
  while (n > 0 && inst.src[n - 1].implicit) --n;
  return n;
}

// The K of FMAMK and FMAAK, which is a literal by definition.
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

std::string VectorText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  bool e64 = inst.enc == Encoding::VOP3 || inst.enc == Encoding::VOP3SD;
  bool writes_exec = inst.n_dst > 0 && inst.dst[0].implicit && inst.dst[0].reg == kRegExecLo;
  if (inst.n_dst > 0 && !writes_exec) w.Operand(HalfText(inst.dst[0], inst.op_sel & 8, options));
  // A carry-out is named, VCC too.
  bool carry = inst.n_dst > 1 && inst.dst[1].type == DataType::M64;
  if (carry) w.Operand(OperandText(inst.dst[1], options));
  int n = NamedSources(inst);
  for (int i = 0; i < n; ++i) {
    w.Operand(IsFmaConstant(inst, i) ? Hex(inst.lit32) : SourceText(inst, i, true, options));
  }
  // VCC as carry-in or selector of the e32 encodings is written out; V_DIV_FMAS leaves it unsaid.
  if (!e64 && inst.n_src == 3 && inst.src[2].implicit && inst.src[2].type == DataType::M64) {
    w.Operand(OperandText(inst.src[2], options));
  }
  // The select of halves leaves its choice to the register names; an accumulator counts as a source without a
  // bit.
  if (e64 && inst.op_sel != 0 && inst.op != Opcode::V_CNDMASK_B16) {
    if (IsPermlane(inst)) {
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

bool IsFmaMix(Opcode op) {
  return op == Opcode::V_FMA_MIX_F32 || op == Opcode::V_FMA_MIXLO_F16 || op == Opcode::V_FMA_MIXHI_F16;
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
      return inst.dst[0].type != DataType::WMMA_DC_F32 && inst.dst[0].type != DataType::WMMA_DC_I32;
  }
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
  if (!mix && (inst.neg & all)) w.BitList("neg_lo", inst.neg, n);
  if (!mix && (inst.neg_hi & all)) w.BitList("neg_hi", inst.neg_hi, n);
  w.Flag(inst.clamp, "clamp");
  DppText(inst, &w);
  return w.Take();
}

std::string HalfOfPair(const Inst& half, const TextOptions& options) {
  Writer w(absl::StrCat("v_dual_", Lower(OpcodeName(half.op)).substr(2)));
  w.Operand(OperandText(half.dst[0], options));
  for (int i = 0; i < NamedSources(half); ++i) {
    w.Operand(IsFmaConstant(half, i) ? Hex(half.lit32) : OperandText(half.src[i], options));
  }
  return w.Take();
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

std::string LdsdirText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  w.Operand(OperandText(inst.dst[0], options));
  if (inst.op == Opcode::LDS_PARAM_LOAD)
    w.Operand(absl::StrCat("attr", inst.attr, ".", std::string(1, "xyzw"[inst.attr_chan])));
  w.Modifier(absl::StrCat("wait_vdst:", inst.wait_vdst));
  return w.Take();
}

std::string ExpTarget(uint32_t t) {
  if (t <= 7) return absl::StrCat("mrt", t);
  if (t == 8) return "mrtz";
  if (t >= 12 && t <= 16) return absl::StrCat("pos", t - 12);
  if (t == 20) return "prim";
  if (t == 21) return "dual_src_blend0";
  if (t == 22) return "dual_src_blend1";
  return absl::StrCat("invalid_target_", t);
}

std::string ExpText(const Inst& inst, const TextOptions& options) {
  Writer w("exp");
  w.Operand(ExpTarget(inst.exp_target));
  std::string out = w.Take();
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(&out, i ? ", " : " ", inst.exp_en >> i & 1 ? OperandText(inst.src[i], options) : "off");
  }
  if (inst.exp_done) out += " done";
  if (inst.exp_row) out += " row_en";
  return out;
}

std::string ScalarText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  switch (inst.enc) {
    case Encoding::SOPP: {
      switch (inst.op) {
        case Opcode::S_WAIT_IDLE:
        case Opcode::S_CODE_END:
        case Opcode::S_ENDPGM_SAVED:
        case Opcode::S_ENDPGM_ORDERED_PS_DONE:
        case Opcode::S_WAKEUP:
        case Opcode::S_TTRACEDATA:
        case Opcode::S_ICACHE_INV:
        case Opcode::S_BARRIER:
          return w.Take();
        default:
          break;
      }
      std::string immediate = ImmediateText(inst);
      if (!immediate.empty()) w.Operand(immediate);
      return w.Take();
    }
    case Encoding::SOPK:
      if (inst.op == Opcode::S_SETREG_B32 || inst.op == Opcode::S_SETREG_IMM32_B32) {
        w.Operand(ImmediateText(inst));
        w.Operand(OperandText(inst.src[0], options));
        return w.Take();
      }
      if (inst.n_dst) {
        w.Operand(OperandText(inst.dst[0], options));
      } else if (inst.n_src) {
        w.Operand(OperandText(inst.src[0], options));
      }
      w.Operand(ImmediateText(inst));
      return w.Take();
    default:
      break;
  }
  if (inst.n_dst) w.Operand(OperandText(inst.dst[0], options));
  if (inst.op == Opcode::S_SENDMSG_RTN_B32 || inst.op == Opcode::S_SENDMSG_RTN_B64) {
    w.Operand(ImmediateText(inst));
    return w.Take();
  }
  for (int i = 0; i < NamedSources(inst); ++i) {
    Operand o = inst.src[i];
    if (o.bits == 16 && o.type != DataType::F16)
      o.bits = 32, o.type = DataType::B32;  // integers read a whole word
    w.Operand(IsFmaConstant(inst, i) ? Hex(inst.lit32) : OperandText(o, options));
  }
  return w.Take();
}

std::string SmemText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  if (inst.n_src == 0) return w.Take();
  w.Operand(inst.n_dst        ? OperandText(inst.dst[0], options)
            : inst.simm <= 64 ? absl::StrCat(inst.simm)
                              : Hex(inst.simm));
  w.Operand(OperandText(inst.src[0], options));
  bool soffset = inst.src[1].kind != Operand::Kind::kNone;
  if (soffset) {
    w.Operand(OperandText(inst.src[1], options));
    if (inst.offset != 0) w.Modifier(absl::StrCat("offset:", Hex(inst.offset)));
  } else {
    w.Operand(inst.offset == 0 ? "null" : Hex(inst.offset));
  }
  w.Flag(inst.glc, "glc");
  w.Flag(inst.dlc, "dlc");
  return w.Take();
}

bool TwoOffsets(const Inst& inst) {
  const char* name = OpcodeName(inst.op);
  return std::strstr(name, "2ADDR") != nullptr;
}

std::string DsText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  if (inst.n_dst) w.Operand(OperandText(inst.dst[0], options));
  for (int i = 0; i < 3; ++i) {
    if (inst.src[i].kind != Operand::Kind::kNone) w.Operand(OperandText(inst.src[i], options));
  }
  if (TwoOffsets(inst)) {
    if (inst.offset0) w.Modifier(absl::StrCat("offset0:", inst.offset0));
    if (inst.offset1) w.Modifier(absl::StrCat("offset1:", inst.offset1));
  } else if (inst.offset) {
    w.Modifier(absl::StrCat("offset:", inst.offset));
  }
  w.Flag(inst.gds, "gds");
  return w.Take();
}

std::string FlatText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  bool addtid = std::strstr(OpcodeName(inst.op), "ADDTID") != nullptr;
  if (inst.n_dst) w.Operand(OperandText(inst.dst[0], options));
  if (!addtid) w.Operand(OperandText(inst.src[0], options));
  if (inst.src[1].kind != Operand::Kind::kNone) w.Operand(OperandText(inst.src[1], options));
  if (inst.enc != Encoding::FLAT) w.Operand(OperandText(inst.src[2], options));
  if (inst.offset) w.Modifier(absl::StrCat("offset:", inst.offset));
  w.Flag(inst.glc, "glc");
  w.Flag(inst.slc, "slc");
  w.Flag(inst.dlc, "dlc");
  return w.Take();
}

constexpr uint8_t kFormat8Unorm = 1;  // the default, which the text leaves out

std::string FormatText(uint8_t format) {
  static constexpr const char* kNames[] = {
#define AMD_BUFFER_FORMAT(number, name) #name,
#include "emu/amd/isa/buffer_formats.inc"
#undef AMD_BUFFER_FORMAT
  };
  if (format >= std::size(kNames)) return absl::StrCat("format:", format);
  return absl::StrCat("format:[BUF_FMT_", kNames[format], "]");
}

std::string BufferText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  if (inst.n_src == 0) return w.Take();
  const Operand& data = inst.src[3].kind != Operand::Kind::kNone ? inst.src[3] : inst.dst[0];
  if (data.kind != Operand::Kind::kNone) w.Operand(OperandText(data, options));
  w.Operand(OperandText(inst.src[0], options));
  w.Operand(OperandText(inst.src[1], options));
  w.Operand(OperandText(inst.src[2], options));
  if (inst.enc == Encoding::MTBUF && inst.format != kFormat8Unorm) w.Modifier(FormatText(inst.format));
  w.Flag(inst.idxen, "idxen");
  w.Flag(inst.offen, "offen");
  if (inst.offset) w.Modifier(absl::StrCat("offset:", inst.offset));
  w.Flag(inst.glc, "glc");
  w.Flag(inst.slc, "slc");
  w.Flag(inst.dlc, "dlc");
  w.Flag(inst.tfe, "tfe");
  return w.Take();
}

std::string ImageText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  bool bvh = std::strstr(OpcodeName(inst.op), "_BVH") != nullptr;
  const Operand& data = inst.src[3].kind != Operand::Kind::kNone ? inst.src[3] : inst.dst[0];
  w.Operand(OperandText(data, options));
  if (inst.nsa) {
    std::string list = OperandText(inst.src[0], options);
    for (int i = 0; i < inst.n_nsa; ++i) {
      Operand o = inst.src[0];
      o.reg = inst.nsa_vaddr[i];
      o.dwords = inst.nsa_dwords[i];
      absl::StrAppend(&list, ", ", OperandText(o, options));
    }
    w.Operand(absl::StrCat("[", list, "]"));
  } else {
    w.Operand(OperandText(inst.src[0], options));
  }
  w.Operand(OperandText(inst.src[1], options));
  if (inst.src[2].kind != Operand::Kind::kNone) w.Operand(OperandText(inst.src[2], options));
  if (!bvh) {
    static constexpr const char* kDims[] = {"1D",       "2D",       "3D",      "CUBE",
                                            "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY"};
    if (inst.dmask) w.Modifier(absl::StrFormat("dmask:0x%x", inst.dmask));
    w.Modifier(absl::StrCat("dim:SQ_RSRC_IMG_", kDims[inst.dim]));
    w.Flag(inst.unorm, "unorm");
    w.Flag(inst.glc, "glc");
    w.Flag(inst.slc, "slc");
    w.Flag(inst.dlc, "dlc");
    w.Flag(inst.r128, "r128");
  }
  w.Flag(inst.a16, "a16");
  w.Flag(inst.tfe, "tfe");
  w.Flag(inst.lwe, "lwe");
  w.Flag(inst.d16, "d16");
  return w.Take();
}

}  // namespace

std::string Mnemonic(const Inst& inst) {
  std::string name = Lower(OpcodeName(inst.op));
  bool dpp = inst.dpp.kind != DppInfo::Kind::kNone;
  switch (inst.enc) {
    case Encoding::VOPD:
      return absl::StrCat("v_dual_", name.substr(2));
    case Encoding::VOP1:
    case Encoding::VOP2:
      if (dpp) return name + "_dpp";
      return inst.has_e32_suffix ? name + "_e32" : name;
    case Encoding::VOPC:
      return dpp || !inst.has_e32_suffix ? name : name + "_e32";
    case Encoding::VOP3:
    case Encoding::VOP3SD:
    case Encoding::VOP3P:
      if (dpp) return name + "_e64_dpp";
      return inst.has_e64_suffix ? name + "_e64" : name;
    default:
      return name;
  }
}

std::string Text(const Inst& inst, const TextOptions& options) {
  switch (inst.enc) {
    case Encoding::SOP1:
    case Encoding::SOP2:
    case Encoding::SOPC:
    case Encoding::SOPK:
    case Encoding::SOPP:
      return ScalarText(inst, options);
    case Encoding::SMEM:
      return SmemText(inst, options);
    case Encoding::VOP1:
    case Encoding::VOP2:
    case Encoding::VOPC:
    case Encoding::VOP3:
    case Encoding::VOP3SD:
      return VectorText(inst, options);
    case Encoding::VOP3P:
      return PackedText(inst, options);
    case Encoding::VOPD:
      return absl::StrCat(HalfOfPair(VopdHalf(inst, 0), options),
                          " :: ", HalfOfPair(VopdHalf(inst, 1), options));
    case Encoding::VINTERP:
      return InterpText(inst, options);
    case Encoding::LDSDIR:
      return LdsdirText(inst, options);
    case Encoding::EXP:
      return ExpText(inst, options);
    case Encoding::DS:
      return DsText(inst, options);
    case Encoding::FLAT:
    case Encoding::GLOBAL:
    case Encoding::SCRATCH:
      return FlatText(inst, options);
    case Encoding::MUBUF:
    case Encoding::MTBUF:
      return BufferText(inst, options);
    case Encoding::MIMG:
      return ImageText(inst, options);
    default:
      return Mnemonic(inst);
  }
}

std::vector<Line> Disassemble(Isa isa, const uint8_t* code, size_t n, const TextOptions& options) {
  std::vector<Line> lines;
  Inst inst;
  for (size_t at = 0; at < n;) {
    Line line;
    line.offset = at;
    absl::Status status = DecodeInto(isa, code + at, n - at, &inst);
    if (status.ok()) {
      line.size = inst.size;
      line.valid = true;
      line.text = Text(inst, options);
    } else if (n - at < 4) {
      line.size = n - at;
      line.text = absl::StrCat(".byte // ", n - at, " bytes are left, fewer than a word");
    } else {
      uint32_t word;
      std::memcpy(&word, code + at, 4);
      line.size = 4;
      line.text = absl::StrFormat(".long 0x%08x // ", word);
      absl::StrAppend(&line.text, status.message());
    }
    at += line.size;
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string DisassembleToText(Isa isa, const uint8_t* code, size_t n, uint64_t base,
                              const TextOptions& options) {
  std::string out;
  for (const Line& line : Disassemble(isa, code, n, options)) {
    std::string words;
    for (size_t i = 0; i + 4 <= line.size; i += 4) {
      uint32_t word;
      std::memcpy(&word, code + line.offset + i, 4);
      absl::StrAppendFormat(&words, "%s%08x", i ? " " : "", word);
    }
    absl::StrAppendFormat(&out, "%06x: %-27s %s\n", base + line.offset, words, line.text);
  }
  return out;
}

}  // namespace understudy::emu::amd
