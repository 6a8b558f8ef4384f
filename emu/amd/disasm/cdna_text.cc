// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/disasm/cdna_text.h"

#include <cstring>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "emu/amd/disasm/text_writer.h"

namespace understudy::emu::amd::disasm {
namespace {

constexpr uint16_t kFlatScratch = 102, kXnackMask = 104;

std::string Spelling(const Inst& inst) {
  struct Row {
    Isa isa;
    Opcode op;
    const char* text;
  };
  static constexpr Row kRows[] = {
#define AMD_SPELLING(isa, op, text) {Isa::isa, Opcode::op, text},
#include "emu/amd/isa/cdna_spellings.inc"
#undef AMD_SPELLING
  };
  for (const Row& row : kRows) {
    if (row.op == inst.op && row.isa == inst.isa) return row.text;
  }
  return Lower(OpcodeName(inst.op));
}

bool HasBf16InlineForm(uint64_t literal) {
  auto low = static_cast<int16_t>(literal);
  if (low >= -16 && low <= 64) return true;
  switch (static_cast<uint16_t>(low) & 0x7fff) {
    case 0x3f00:
    case 0x3f80:
    case 0x4000:
    case 0x4080:
      return true;
    default:
      return static_cast<uint16_t>(low) == 0x3e22;
  }
}

// s102 to s105 are FLAT_SCRATCH and XNACK_MASK here; constants of packed bytes read as 32-bit words.
std::string Register(Operand o, const TextOptions& options) {
  switch (o.type) {
    case DataType::FP8:
    case DataType::BF8:
    case DataType::PK2_FP8:
    case DataType::PK2_BF8:
    case DataType::PK2_FP4:
      o.type = DataType::B32;
      o.bits = 32;
      break;
    case DataType::BF16:
      // The whole literal, marked where its low half has an inline form.
      if (o.kind == Operand::Kind::kLiteral) {
        return HasBf16InlineForm(o.imm) ? absl::StrFormat("lit(0x%x)", o.imm)
                                        : absl::StrFormat("0x%x", o.imm);
      }
      break;
    default:
      break;
  }
  if (o.kind != Operand::Kind::kSgpr || o.reg < kFlatScratch || o.reg > kXnackMask + 1) {
    return OperandText(o, options);
  }
  std::string name = o.reg < kXnackMask ? "flat_scratch" : "xnack_mask";
  return o.dwords == 2 ? name : name + (o.reg % 2 == 0 ? "_lo" : "_hi");
}

// Builds "mnemonic op, op mod mod".
class Line {
 public:
  Line(const Inst& inst, const TextOptions& options)
      : inst_(inst), options_(options), text_(CdnaMnemonic(inst)) {}

  void Word(const std::string& text) {
    absl::StrAppend(&text_, first_ ? " " : ", ", text);
    first_ = false;
  }
  void Op(const Operand& o) { Word(Register(o, options_)); }
  void OpIfPresent(const Operand& o) {
    if (o.kind != Operand::Kind::kNone) Op(o);
  }
  // Source i with neg, abs and sext around it.
  void Source(int i) {
    Operand o = inst_.src[i];
    // The exponent of LDEXP is printed as the f16 that an inline float is there.
    if (inst_.op == Opcode::V_LDEXP_F16 && o.kind == Operand::Kind::kInlineFloat) o.type = DataType::F16;
    std::string text = Register(o, options_);
    if (inst_.abs >> i & 1) text = absl::StrCat("|", text, "|");
    if (inst_.neg >> i & 1) {
      bool constant = inst_.src[i].is_const() && !(inst_.abs >> i & 1);
      text = constant ? absl::StrCat("neg(", text, ")") : absl::StrCat("-", text);
    }
    if (i < 2 && inst_.sdwa.sext[i]) text = absl::StrCat("sext(", text, ")");
    Word(text);
  }
  void Mod(const std::string& text) { absl::StrAppend(&text_, " ", text); }
  void Flag(bool on, const char* name) {
    if (on) Mod(name);
  }
  void Number(const char* name, int64_t value) {
    if (value != 0) Mod(absl::StrCat(name, ":", value));
  }
  void BitList(const char* name, uint32_t bits, int n) {
    absl::StrAppend(&text_, " ", name, ":[");
    for (int i = 0; i < n; ++i) absl::StrAppend(&text_, i ? "," : "", bits >> i & 1);
    text_ += "]";
  }
  // gfx90a's GLC, SLC and SCC are gfx942's SC0, NT and SC1.
  void Cache() {
    bool old = inst_.isa == Isa::kCdna2;
    Flag(inst_.glc, old ? "glc" : "sc0");
    Flag(inst_.slc, old ? "slc" : "nt");
    Flag(inst_.sc1, old ? "scc" : "sc1");
  }
  std::string Take() { return std::move(text_); }

 private:
  const Inst& inst_;
  const TextOptions& options_;
  std::string text_;
  bool first_ = true;
};

// The K of MADMK and its kin, a literal by definition.
bool IsLiteralK(const Inst& inst, int i) {
  switch (inst.op) {
    case Opcode::V_MADMK_F32:
    case Opcode::V_MADMK_F16:
    case Opcode::V_FMAMK_F32:
      return i == 1;
    case Opcode::V_MADAK_F32:
    case Opcode::V_MADAK_F16:
    case Opcode::V_FMAAK_F32:
      return i == 2;
    default:
      return false;
  }
}

void DppText(const Inst& inst, Line* line) {
  const DppInfo& dpp = inst.dpp;
  uint32_t c = dpp.ctrl;
  if (c <= 0xff) {
    line->Mod(absl::StrCat("quad_perm:[", c & 3, ",", c >> 2 & 3, ",", c >> 4 & 3, ",", c >> 6 & 3, "]"));
  } else if (c < 0x130) {
    line->Mod(absl::StrCat(c < 0x110 ? "row_shl:" : c < 0x120 ? "row_shr:" : "row_ror:", c & 0xf));
  } else if (c >= 0x150) {
    line->Mod(absl::StrCat("row_newbcast:", c & 0xf));
  } else {
    line->Mod(c == 0x130   ? "wave_shl:1"
              : c == 0x134 ? "wave_rol:1"
              : c == 0x138 ? "wave_shr:1"
              : c == 0x13c ? "wave_ror:1"
              : c == 0x140 ? "row_mirror"
              : c == 0x141 ? "row_half_mirror"
              : c == 0x142 ? "row_bcast:15"
                           : "row_bcast:31");
  }
  line->Mod(absl::StrFormat("row_mask:0x%x", dpp.row_mask));
  line->Mod(absl::StrFormat("bank_mask:0x%x", dpp.bank_mask));
  line->Flag(dpp.bound_ctrl, "bound_ctrl:1");
}

// These write whole registers, and their SDWA form selects the source alone.
bool IsByteConversion(Opcode op) {
  switch (op) {
    case Opcode::V_CVT_F32_FP8:
    case Opcode::V_CVT_F32_BF8:
    case Opcode::V_CVT_PK_F32_FP8:
    case Opcode::V_CVT_PK_F32_BF8:
      return true;
    default:
      return false;
  }
}

void SdwaText(const Inst& inst, Line* line) {
  static constexpr const char* kSel[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                         "WORD_0", "WORD_1", "DWORD",  "?"};
  static constexpr const char* kUnused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "?"};
  const SdwaInfo& sdwa = inst.sdwa;
  if (inst.enc != Encoding::VOPC && !IsByteConversion(inst.op)) {
    line->Mod(absl::StrCat("dst_sel:", kSel[sdwa.dst_sel & 7]));
    line->Mod(absl::StrCat("dst_unused:", kUnused[sdwa.dst_unused & 3]));
  }
  line->Mod(absl::StrCat("src0_sel:", kSel[sdwa.src_sel[0] & 7]));
  if (inst.enc != Encoding::VOP1) line->Mod(absl::StrCat("src1_sel:", kSel[sdwa.src_sel[1] & 7]));
}

bool IsPermlaneSwap(Opcode op) {
  return op == Opcode::V_PERMLANE16_SWAP_B32 || op == Opcode::V_PERMLANE32_SWAP_B32;
}

// Conversions whose op_sel bits 2 and 3 together choose the byte that is written.
bool SelectsByte(Opcode op) {
  switch (op) {
    case Opcode::V_CVT_SR_FP8_F32:
    case Opcode::V_CVT_SR_BF8_F32:
    case Opcode::V_CVT_SCALEF32_PK_FP4_F16:
    case Opcode::V_CVT_SCALEF32_PK_FP4_BF16:
      return true;
    default:
      return false;
  }
}

std::string CdnaVectorText(const Inst& inst, const TextOptions& options) {
  Line line(inst, options);
  if (inst.n_dst > 0) line.Op(inst.dst[0]);
  // A carry-out is named, VCC too; EXEC as the second destination of v_cmpx is not.
  bool carry = inst.n_dst > 1 && inst.dst[1].type == DataType::M64 &&
               !(inst.dst[1].implicit && inst.dst[1].reg == kRegExecLo);
  if (carry) line.Op(inst.dst[1]);
  int n = NamedSources(inst);
  for (int i = 0; i < n; ++i) {
    if (IsLiteralK(inst, i)) {
      line.Word(Hex(inst.lit32));
    } else {
      line.Source(i);
    }
  }
  // VCC as carry-in or selector of the e32 encodings is written out.
  bool e64 = inst.enc == Encoding::VOP3 || inst.enc == Encoding::VOP3SD;
  if (!e64 && inst.n_src == 3 && inst.src[2].implicit && inst.src[2].type == DataType::M64)
    line.Op(inst.src[2]);
  if (inst.op == Opcode::V_BITOP3_B32 || inst.op == Opcode::V_BITOP3_B16) {
    if (inst.bitop3 != 0)
      line.Mod(inst.bitop3 <= 10 ? absl::StrCat("bitop3:", inst.bitop3)
                                 : absl::StrFormat("bitop3:0x%x", inst.bitop3));
  }
  if (IsPermlaneSwap(inst.op)) {
    line.Flag(inst.op_sel & 2, "bound_ctrl:1");
    line.Flag(inst.op_sel & 1, "fi:1");
  } else if (e64 && inst.op_sel != 0) {
    if (SelectsByte(inst.op)) n = 3;
    line.BitList("op_sel", (inst.op_sel & ((1u << n) - 1)) | (inst.op_sel >> 3 & 1) << n, n + 1);
  }
  line.Flag(inst.clamp, "clamp");
  static constexpr const char* kOmod[] = {"", "mul:2", "mul:4", "div:2"};
  if (inst.omod) line.Mod(kOmod[inst.omod & 3]);
  if (inst.dpp.kind != DppInfo::Kind::kNone) DppText(inst, &line);
  if (inst.sdwa.present) SdwaText(inst, &line);
  return line.Take();
}

// Dot products of bytes and nibbles have no halves to choose, moves of AGPRs nothing at all.
bool HasOpSel(Opcode op) {
  switch (op) {
    case Opcode::V_DOT4_I32_I8:
    case Opcode::V_DOT4_U32_U8:
    case Opcode::V_DOT8_I32_I4:
    case Opcode::V_DOT8_U32_U4:
    case Opcode::V_ACCVGPR_READ:
    case Opcode::V_ACCVGPR_WRITE:
      return false;
    default:
      return true;
  }
}

std::string CdnaPackedText(const Inst& inst, const TextOptions& options) {
  bool mix = IsFmaMix(inst.op);
  Inst plain = inst;
  if (!mix) plain.neg = plain.abs = 0;
  Line line(plain, options);
  if (inst.n_dst > 0) line.Op(inst.dst[0]);
  int n = NamedSources(inst);
  for (int i = 0; i < n; ++i) line.Source(i);
  uint32_t all = (1u << n) - 1;
  if (HasOpSel(inst.op)) {
    if (inst.op_sel & all) line.BitList("op_sel", inst.op_sel, n);
    // Ones are the default of op_sel_hi, except for the mixed-precision FMAs, whose default is 32-bit
    // sources.
    if ((inst.op_sel_hi & all) != (mix ? 0 : all)) line.BitList("op_sel_hi", inst.op_sel_hi, n);
  }
  if (!mix && (inst.neg & all)) line.BitList("neg_lo", inst.neg, n);
  if (!mix && (inst.neg_hi & all)) line.BitList("neg_hi", inst.neg_hi, n);
  line.Flag(inst.clamp, "clamp");
  return line.Take();
}

bool IsF64(const Inst& inst) { return inst.src[0].type == DataType::F64; }

std::string MatrixText(const Inst& inst, const TextOptions& options) {
  Line line(inst, options);
  line.Op(inst.dst[0]);
  for (int i = 0; i < NamedSources(inst); ++i) line.Op(inst.src[i]);
  if (inst.enc == Encoding::VOP3PX2) {
    if (inst.op_sel & 3) line.BitList("op_sel", inst.op_sel, 3);
    line.BitList("op_sel_hi", inst.op_sel_hi, 3);
  }
  line.Number("cbsz", inst.cbsz);
  if (inst.enc != Encoding::VOP3PX2) line.Number("abid", inst.abid);
  if (IsF64(inst) && inst.isa != Isa::kCdna2) {
    if (inst.blgp) line.BitList("neg", inst.blgp, 3);
  } else {
    line.Number("blgp", inst.blgp);
  }
  return line.Take();
}

std::string CdnaScalarText(const Inst& inst, const TextOptions& options) {
  Line line(inst, options);
  switch (inst.enc) {
    case Encoding::SOPP:
      switch (inst.op) {
        case Opcode::S_WAKEUP:
        case Opcode::S_BARRIER:
        case Opcode::S_ICACHE_INV:
        case Opcode::S_TTRACEDATA:
        case Opcode::S_ENDPGM_SAVED:
        case Opcode::S_SET_GPR_IDX_OFF:
        case Opcode::S_ENDPGM_ORDERED_PS_DONE:
          return line.Take();
        default:
          break;
      }
      if (std::string immediate = CdnaImmediateText(inst); !immediate.empty()) line.Word(immediate);
      return line.Take();
    case Encoding::SOPK:
      if (inst.op == Opcode::S_SETREG_B32 || inst.op == Opcode::S_SETREG_IMM32_B32) {
        line.Word(CdnaImmediateText(inst));
        line.Word(inst.op == Opcode::S_SETREG_B32 ? Register(inst.src[0], options) : NumberText(inst.lit32));
        return line.Take();
      }
      line.Op(inst.n_dst ? inst.dst[0] : inst.src[0]);
      line.Word(CdnaImmediateText(inst));
      return line.Take();
    default:
      break;
  }
  if (inst.n_dst) line.Op(inst.dst[0]);
  for (int i = 0; i < NamedSources(inst); ++i) {
    Operand o = inst.src[i];
    if (o.bits == 16) o.bits = 32, o.type = DataType::B32;  // integers read a whole word
    if (inst.op == Opcode::S_SET_GPR_IDX_ON && i == 1) {
      line.Word(CdnaImmediateText(inst));
    } else {
      line.Op(o);
    }
  }
  return line.Take();
}

std::string CdnaSmemText(const Inst& inst, const TextOptions& options) {
  Line line(inst, options);
  bool probe = inst.op == Opcode::S_ATC_PROBE || inst.op == Opcode::S_ATC_PROBE_BUFFER;
  if (probe) line.Word(inst.simm <= 64 ? absl::StrCat(inst.simm) : Hex(inst.simm));
  if (inst.n_src == 3) {
    line.Op(inst.src[2]);
  } else if (inst.n_dst) {
    line.Op(inst.dst[0]);
  }
  if (inst.n_src == 0) return line.Take();
  line.Op(inst.src[0]);
  if (inst.src[1].kind != Operand::Kind::kNone) {
    line.Op(inst.src[1]);
    if (inst.offen) line.Mod(absl::StrCat("offset:", Hex(inst.offset)));
  } else {
    line.Word(Hex(inst.offset));
  }
  line.Flag(inst.glc, "glc");
  return line.Take();
}

bool TwoOffsets(const char* name) {
  return std::strstr(name, "READ2") != nullptr || std::strstr(name, "WRITE2") != nullptr ||
         std::strstr(name, "WRXCHG2") != nullptr;
}

std::string CdnaDsText(const Inst& inst, const TextOptions& options) {
  Line line(inst, options);
  if (inst.n_dst) line.Op(inst.dst[0]);
  for (int i = 0; i < 3; ++i) line.OpIfPresent(inst.src[i]);
  if (TwoOffsets(OpcodeName(inst.op))) {
    line.Number("offset0", inst.offset0);
    line.Number("offset1", inst.offset1);
  } else if (inst.op == Opcode::DS_SWIZZLE_B32 && inst.offset != 0) {
    line.Mod(absl::StrCat("offset:", SwizzleText(static_cast<uint32_t>(inst.offset))));
  } else {
    line.Number("offset", inst.offset);
  }
  line.Flag(inst.gds, "gds");
  return line.Take();
}

std::string CdnaFlatText(const Inst& inst, const TextOptions& options) {
  Line line(inst, options);
  if (inst.n_dst && !inst.lds) line.Op(inst.dst[0]);
  line.Op(inst.src[0]);
  line.OpIfPresent(inst.src[1]);
  if (inst.enc != Encoding::FLAT) line.Op(inst.src[2]);
  line.Number("offset", inst.offset);
  line.Cache();
  line.Flag(inst.lds, "lds");
  return line.Take();
}

// MTBUF's data and number formats (CDNA3 ISA manual, "MTBUF"); 8 and UNORM are the defaults.
std::string FormatText(uint32_t format) {
  static constexpr const char* kData[] = {"INVALID",     "8",          "16",          "8_8",
                                          "32",          "16_16",      "10_11_11",    "11_11_10",
                                          "10_10_10_2",  "2_10_10_10", "8_8_8_8",     "32_32",
                                          "16_16_16_16", "32_32_32",   "32_32_32_32", "RESERVED_15"};
  static constexpr const char* kNumber[] = {"UNORM", "SNORM", "USCALED",    "SSCALED",
                                            "UINT",  "SINT",  "RESERVED_6", "FLOAT"};
  uint32_t data = format & 15, number = format >> 4 & 7;
  std::string data_text = absl::StrCat("BUF_DATA_FORMAT_", kData[data]);
  std::string number_text = absl::StrCat("BUF_NUM_FORMAT_", kNumber[number]);
  if (data == 1 && number == 0) return "";
  if (number == 0) return absl::StrCat("format:[", data_text, "]");
  if (data == 1) return absl::StrCat("format:[", number_text, "]");
  return absl::StrCat("format:[", data_text, ",", number_text, "]");
}

std::string CdnaBufferText(const Inst& inst, const TextOptions& options) {
  Line line(inst, options);
  if (inst.n_src == 0) {
    line.Cache();
    return line.Take();
  }
  const Operand& data = inst.src[3].kind != Operand::Kind::kNone ? inst.src[3] : inst.dst[0];
  line.OpIfPresent(data);
  if (inst.op != Opcode::BUFFER_STORE_LDS_DWORD) line.Op(inst.src[0]);
  line.Op(inst.src[1]);
  line.Op(inst.src[2]);
  if (inst.enc == Encoding::MTBUF) {
    if (std::string format = FormatText(inst.format); !format.empty()) line.Mod(format);
  }
  line.Flag(inst.idxen, "idxen");
  line.Flag(inst.offen, "offen");
  line.Number("offset", inst.offset);
  bool stores_lds = inst.op == Opcode::BUFFER_STORE_LDS_DWORD;
  line.Flag(stores_lds, "lds");
  line.Cache();
  line.Flag(inst.lds && !stores_lds, "lds");
  return line.Take();
}

std::string CdnaImageText(const Inst& inst, const TextOptions& options) {
  Line line(inst, options);
  line.Op(inst.src[3].kind != Operand::Kind::kNone ? inst.src[3] : inst.dst[0]);
  line.Op(inst.src[0]);
  line.Op(inst.src[1]);
  line.OpIfPresent(inst.src[2]);
  if (inst.dmask) line.Mod(absl::StrFormat("dmask:0x%x", inst.dmask));
  line.Flag(inst.unorm, "unorm");
  line.Cache();
  line.Flag(inst.a16, "a16");
  line.Flag(inst.lwe, "lwe");
  line.Flag(inst.dim, "da");
  line.Flag(inst.d16, "d16");
  return line.Take();
}

bool IsMatrix(const Inst& inst) {
  const char* name = OpcodeName(inst.op);
  return (std::strncmp(name, "V_MFMA_", 7) == 0 && inst.op != Opcode::V_MFMA_LD_SCALE_B32) ||
         std::strncmp(name, "V_SMFMAC_", 9) == 0;
}

}  // namespace

std::string CdnaMnemonic(const Inst& inst) {
  std::string name = Spelling(inst);
  if (inst.dpp.kind != DppInfo::Kind::kNone) return name + "_dpp";
  if (inst.sdwa.present) return name + "_sdwa";
  switch (inst.enc) {
    case Encoding::VOP1:
    case Encoding::VOP2:
    case Encoding::VOPC:
      return inst.has_e32_suffix ? name + "_e32" : name;
    case Encoding::VOP3:
    case Encoding::VOP3SD:
      return inst.has_e64_suffix ? name + "_e64" : name;
    default:
      return name;
  }
}

std::string CdnaText(const Inst& inst, const TextOptions& /*options*/) {
  TextOptions options;
  options.wave_size = 64;  // CDNA has no other
  switch (inst.enc) {
    case Encoding::SOP1:
    case Encoding::SOP2:
    case Encoding::SOPC:
    case Encoding::SOPK:
    case Encoding::SOPP:
      return CdnaScalarText(inst, options);
    case Encoding::SMEM:
      return CdnaSmemText(inst, options);
    case Encoding::VOP1:
    case Encoding::VOP2:
    case Encoding::VOPC:
    case Encoding::VOP3:
    case Encoding::VOP3SD:
      return CdnaVectorText(inst, options);
    case Encoding::VOP3P:
    case Encoding::VOP3PX2:
      return IsMatrix(inst) ? MatrixText(inst, options) : CdnaPackedText(inst, options);
    case Encoding::DS:
      return CdnaDsText(inst, options);
    case Encoding::FLAT:
    case Encoding::GLOBAL:
    case Encoding::SCRATCH:
      return CdnaFlatText(inst, options);
    case Encoding::MUBUF:
    case Encoding::MTBUF:
      return CdnaBufferText(inst, options);
    case Encoding::MIMG:
      return CdnaImageText(inst, options);
    default:
      return CdnaMnemonic(inst);
  }
}

}  // namespace understudy::emu::amd::disasm
