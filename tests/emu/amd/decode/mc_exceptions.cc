// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/decode/mc_exceptions.h"

#include <cstring>

#include "emu/amd/disasm/disasm.h"

namespace understudy::emu::amd {
namespace {

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
bool Refused(const Disagreement& d, const char* part) { return d.ours == nullptr && Has(d.refusal, part); }
bool NameHas(const Disagreement& d, const char* part) {
  return d.ours != nullptr && std::strstr(OpcodeName(d.ours->op), part) != nullptr;
}
bool Vop3Op(const Disagreement& d, Opcode op) {
  return d.ours != nullptr && d.ours->enc == Encoding::VOP3 && d.ours->op == op;
}

bool ReadsDppCtrlWrongly(const Disagreement& d) {
  return NameHas(d, "V_FMA_MIX") || NameHas(d, "V_CVT_PK_FP8_F32") || NameHas(d, "V_CVT_PK_BF8_F32");
}
bool IsImage(const Disagreement& d) {
  return d.ours != nullptr && (d.ours->enc == Encoding::MIMG || d.ours->enc == Encoding::VIMAGE ||
                               d.ours->enc == Encoding::VSAMPLE);
}
bool IsBuffer(const Disagreement& d) {
  return d.ours != nullptr && (d.ours->enc == Encoding::MUBUF || d.ours->enc == Encoding::MTBUF ||
                               d.ours->enc == Encoding::VBUFFER);
}

const McException kExceptions[] = {
    // We refuse what MC takes.
    {"register past v255", "MC prints tuples such as v[255:256], which no machine has.",
     [](const Disagreement& d) { return Refused(d, " past v255"); }},
    {"VINTERP source without bit 8",
     "For the f16 forms MC takes the low 8 bits of the 9-bit field as a VGPR, whatever the top bit says.",
     [](const Disagreement& d) { return Refused(d, " VINTERP "); }},
    {"later operand codes",
     "Codes 230 and 231 (flat_scratch_base) came after RDNA3, 254 (lds_direct) ended with RDNA2; MC's "
     "operand table is "
     "shared by generations.",
     [](const Disagreement& d) {
       return Refused(d, "operand 230 ") || Refused(d, "operand 231 ") || Refused(d, "operand 254 ");
     }},
    {"literal as buffer soffset",
     "MUBUF and MTBUF have no layout with a literal; soffset is a register or an inline constant.",
     [](const Disagreement& d) { return Refused(d, "src2 cannot be a literal"); }},
    {"operand of the wrong file",
     "MC decodes a source field by one table and does not check that the instruction takes a VGPR (or a "
     "scalar) there.",
     [](const Disagreement& d) {
       return Refused(d, "must be a VGPR") || Refused(d, "must be scalar") ||
              Refused(d, "must be a register") || Refused(d, "cannot be a literal");
     }},
    {"scalar destination above 127",
     "MC decodes the 8-bit sdst of VOP3 and VOP1 with the source table (src_scc as a destination).",
     [](const Disagreement& d) { return Refused(d, "is not a scalar register"); }},
    {"neg or abs on an integer",
     "The manual gives input modifiers to float operands. MC's source modifiers of 16-bit operands also "
     "carry op_sel and "
     "let the other bits through.",
     [](const Disagreement& d) {
       return Refused(d, "not a float operand") || Refused(d, "cannot be negated");
     }},
    {"output modifier on an integer result",
     "omod scales floats; MC allows it for conversions to integer too.",
     [](const Disagreement& d) { return Refused(d, "takes no output modifier"); }},
    {"clamp on V_ALIGNBIT and V_ALIGNBYTE", "Clamp means nothing for a byte shift; MC's profile has the bit.",
     [](const Disagreement& d) { return Refused(d, "takes no clamp"); }},
    {"DPP word and literal",
     "An instruction has one extension word (ISA manual, DPP); MC reads a literal after the DPP word.",
     [](const Disagreement& d) { return Refused(d, "cannot both follow"); }},
    {"FLAT with offset bit 12", "FLAT offsets are 12 bits unsigned on RDNA3 (ISA manual, FLAT offset).",
     [](const Disagreement& d) { return Refused(d, "must not be negative"); }},
    {"EXEC as address of an addtid access",
     "saddr is an SGPR pair or VCC for GLOBAL; MC checks it except for *_ADDTID.",
     [](const Disagreement& d) { return Refused(d, "is not a register for addresses"); }},
    {"VOP3P of an older generation",
     "MC falls back to GFX9's VOP3P prefix 110100111 for the mixed-precision FMAs.",
     [](const Disagreement& d) {
       return d.ours == nullptr && d.words[0] >> 23 == 0x1a7 && Has(d.mc.mnemonic, "_mix");
     }},
    {"scaled offsets",
     "scale_offset is a bit of gfx1250; MC reads it for gfx1200, whose manual has no such bit.",
     [](const Disagreement& d) { return Refused(d, "scale_offset"); }},

    {"number of a byte in DPP forms",
     "V_CVT_F32_FP8 and kin take the byte's number from two bits of op_sel; in the DPP forms MC ignores the "
     "others.",
     [](const Disagreement& d) { return Refused(d, "is more than the number of"); }},

    // We take what MC refuses.
    {"V_CMPX e64 with vdst 0",
     "vdst has no meaning, EXEC is written; assemblers have left it zero. MC wants 126.",
     [](const Disagreement& d) {
       return NameHas(d, "V_CMPX_") && d.ours->enc == Encoding::VOP3 && (d.words[0] & 0xff) == 0;
     }},
    {"loads to LDS", "AMD's specification lists them for RDNA3; MC has them for other generations only.",
     [](const Disagreement& d) { return NameHas(d, "LOAD_LDS_"); }},
    {"FLAT_ATOMIC_CSUB_U32", "In AMD's specification beside the GLOBAL and MUBUF forms; MC has those alone.",
     [](const Disagreement& d) { return NameHas(d, "FLAT_ATOMIC_CSUB"); }},
    {"V_READFIRSTLANE_B32 e64", "In AMD's specification; MC decodes the e32 form alone.",
     [](const Disagreement& d) { return Vop3Op(d, Opcode::V_READFIRSTLANE_B32); }},
    {"V_FMA_DX9_ZERO_F32 with DPP", "In AMD's specification; MC has no DPP form of it.",
     [](const Disagreement& d) {
       return Vop3Op(d, Opcode::V_FMA_DX9_ZERO_F32) && d.ours->dpp.kind != DppInfo::Kind::kNone;
     }},
    {"DPP control of the mixed FMAs and packed conversions to fp8",
     "For v_fma_mix* and v_cvt_pk_fp8/bf8_f32 MC reads dpp_ctrl as if it were an operand code: quad_perm "
     "0xcd prints as an invalid "
     "control.",
     [](const Disagreement& d) {
       return ReadsDppCtrlWrongly(d) && d.ours->dpp.kind == DppInfo::Kind::kDpp16;
     }},
    {"halves of e32 encodings on gfx1200",
     "The machine selects halves by bit 7 of a register's number; LLVM leaves that off without +real-true16.",
     [](const Disagreement& d) {
       if (d.ours == nullptr || d.ours->isa != Isa::kRdna4) return false;
       bool e32 =
           d.ours->enc == Encoding::VOP1 || d.ours->enc == Encoding::VOP2 || d.ours->enc == Encoding::VOPC;
       return (e32 && d.ours->op_sel != 0) || NameHas(d, "V_MOV_B16") || NameHas(d, "V_SWAP_B16");
     }},
    {"typed buffers with tfe", "The layouts have the bit; MC has no typed buffer instruction with it.",
     [](const Disagreement& d) { return IsBuffer(d) && NameHas(d, "TBUFFER_") && d.ours->tfe; }},
    {"three TTMP registers",
     "s_load_b96 and s_buffer_load_b96 may name ttmp[8:10]; MC numbers its class of three registers wrongly.",
     [](const Disagreement& d) { return NameHas(d, "LOAD_B96") && d.ours->dst[0].reg >= kRegTtmp0; }},
    {"image resource of four registers",
     "r128 makes the resource four registers long; MC reads eight, past the last SGPR.",
     [](const Disagreement& d) { return IsImage(d) && d.ours->r128; }},
    {"unused DS fields",
     "MC wants zero where the opcode has no address, data or result. The machine does not look: programs "
     "recorded with "
     "such fields run.",
     [](const Disagreement& d) { return d.ours != nullptr && d.ours->enc == Encoding::DS; }},
    {"reserved delay",
     "MC prints reserved codes of S_DELAY_ALU as comments; the instruction is a hint and stays one.",
     [](const Disagreement& d) { return d.ours != nullptr && d.ours->op == Opcode::S_DELAY_ALU; }},
    {"op_sel of an absent source",
     "MC insists on zero for the 16-bit instructions it models with op_sel, and ignores the bits for all "
     "others.",
     [](const Disagreement& d) {
       return d.ours != nullptr && d.ours->enc == Encoding::VOP3 && (d.words[0] & 0x3000) != 0;
     }},
    {"scalar source of VINTERP",
     "The fields have nine bits and take the codes of other sources; a recorded program has an SGPR there.",
     [](const Disagreement& d) { return d.ours != nullptr && d.ours->enc == Encoding::VINTERP; }},
};

bool Is16BitForm(const Disagreement& d) {
  for (const Operand& o : d.ours->src) {
    if (o.bits == 16) return true;
  }
  return d.ours->dst[0].bits == 16;
}

const McException kTextExceptions[] = {
    {"image resource of four registers", "We print the four registers that r128 says; MC prints eight.",
     [](const Disagreement& d) { return IsImage(d) && d.ours->r128; }},
    {"data of a store or atomic with tfe",
     "What is stored has no fault word; MC prints one more data register.",
     [](const Disagreement& d) {
       return (IsBuffer(d) || IsImage(d)) && d.ours->tfe && d.ours->src[3].kind != Operand::Kind::kNone;
     }},
    {"16-bit operands in VOP3 with unused bits set",
     "Where op_sel or src2 bits beyond the operands are set, MC falls back to its table without register "
     "halves.",
     [](const Disagreement& d) {
       return d.ours->enc == Encoding::VOP3 && Is16BitForm(d) &&
              ((d.words[0] & 0x7800) != 0 || (d.words[1] & 0x07fc0000) != 0);
     }},
    {"halves of VINTERP", "MC prints the raw op_sel bits, and a VGPR where bit 8 of a source is clear.",
     [](const Disagreement& d) { return d.ours->enc == Encoding::VINTERP; }},
    {"mixed FMAs", "MC prints a literal's low half even for f32 sources, and misreads the DPP control.",
     [](const Disagreement& d) {
       return NameHas(d, "V_FMA_MIX") ||
              (ReadsDppCtrlWrongly(d) && d.ours->dpp.kind == DppInfo::Kind::kDpp16);
     }},
    {"DS_SWIZZLE_B32", "MC spells the pattern out; we print the offset that encodes it.",
     [](const Disagreement& d) { return d.ours->op == Opcode::DS_SWIZZLE_B32; }},
    {"image atomic with a dmask that selects no type",
     "An image atomic works on one or two dwords (a compare-and-swap on two or four); for other masks MC "
     "prints its first "
     "variant.",
     [](const Disagreement& d) {
       if (!NameHas(d, "IMAGE_ATOMIC_")) return false;
       int n = __builtin_popcount(d.ours->dmask);
       return d.ours->op == Opcode::IMAGE_ATOMIC_CMPSWAP ? n != 2 && n != 4 : n != 1 && n != 2;
     }},
    {"image register counts that MC lacks",
     "MC defines the counts that its compiler uses and prints its first variant for the others: multi-sample "
     "and mip "
     "forms, 16-bit data, some address lists. The modifiers must agree all the same.",
     [](const Disagreement& d) {
       if (!IsImage(d)) return false;
       std::string ours = Text(*d.ours);
       size_t our_dim = ours.find(" dim:"), mc_dim = d.mc.text.find(" dim:");
       bool rare = d.ours->dim >= 6 || d.ours->d16 || (d.ours->enc == Encoding::MIMG && d.ours->nsa);
       return rare && our_dim != std::string::npos && mc_dim != std::string::npos &&
              ours.substr(our_dim) == d.mc.text.substr(mc_dim);
     }},
    {"select by VCC with abs and DPP", "MC closes the bar behind the implicit vcc: |v1, vcc_lo|.",
     [](const Disagreement& d) {
       return d.ours->op == Opcode::V_CNDMASK_B32 &&
              (Has(d.mc.text, ", vcc_lo|") || Has(d.mc.text, ", vcc|"));
     }},
    {"scalar f16 constants",
     "MC gives gfx1150's scalar f16 instructions integer or 32-bit operands and prints bit patterns.",
     [](const Disagreement& d) {
       return (d.ours->enc == Encoding::SOP1 || d.ours->enc == Encoding::SOPC) &&
              d.ours->src[0].type == DataType::F16;
     }},
    {"K below 256", "MC takes the K of FMAMK and FMAAK for an operand code where it could be one.",
     [](const Disagreement& d) {
       if (d.ours->lit32 > 255) return false;
       const char* y = d.ours->enc == Encoding::VOPD ? OpcodeName(d.ours->op_y) : "";
       return NameHas(d, "FMAMK_") || NameHas(d, "FMAAK_") || std::strstr(y, "FMAMK_") != nullptr ||
              std::strstr(y, "FMAAK_") != nullptr;
     }},
    {"DPP8 selection below 256",
     "MC takes the 24 bits of eight lanes for an operand code where they could be one.",
     [](const Disagreement& d) {
       const DppInfo& dpp = d.ours->dpp;
       uint32_t selection = 0;
       for (int i = 7; i >= 0; --i) selection = selection << 3 | dpp.lane_sel[i];
       return dpp.kind == DppInfo::Kind::kDpp8 && selection < 256;
     }},
    {"V_FMAC_F32 with DPP and a constant", "MC prints the code of the constant (0x80 for 0).",
     [](const Disagreement& d) {
       return Vop3Op(d, Opcode::V_FMAC_F32) && d.ours->dpp.kind != DppInfo::Kind::kNone &&
              d.ours->src[1].is_const();
     }},
    {"1/(2*pi) as a matrix",
     "MC prints the inline constant of a WMMA accumulator with the digits of a double.",
     [](const Disagreement& d) { return NameHas(d, "V_WMMA_") && Has(d.mc.text, "0.15915494309189532"); }},
};

}  // namespace

const std::vector<McException>& McTextExceptions() {
  static const auto* const rows =
      new std::vector<McException>(std::begin(kTextExceptions), std::end(kTextExceptions));
  return *rows;
}

int FindTextException(const Disagreement& d) {
  const auto& rows = McTextExceptions();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].covers(d)) return static_cast<int>(i);
  }
  return -1;
}

const std::vector<McException>& McExceptions() {
  static const auto* const rows =
      new std::vector<McException>(std::begin(kExceptions), std::end(kExceptions));
  return *rows;
}

int FindException(const Disagreement& d) {
  const auto& rows = McExceptions();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].covers(d)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace understudy::emu::amd
