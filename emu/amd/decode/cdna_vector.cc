// SPDX-License-Identifier: Apache-2.0
// VOP1, VOP2, VOPC with literals, DPP and SDWA words, and VOP3 of CDNA.
#include "absl/strings/str_cat.h"
#include "emu/amd/decode/cdna.h"
#include "src/base/status.h"

namespace understudy::emu::amd::decode {
namespace {

// src0 codes that announce a second word (CDNA3 ISA manual, "SDWA" and "DPP").
constexpr uint32_t kSdwa = 249, kDpp = 250;

// DPP_CTRL: quad_perm, row_shl/shr/ror 1..15, wave_shl, wave_rol, wave_shr, wave_ror, row_mirror,
// row_half_mirror, row_bcast 15 and 31, row_newbcast.
bool IsDppCtrl(uint32_t ctrl) {
  if (ctrl <= 0xff) return true;
  if (ctrl >= 0x101 && ctrl <= 0x12f) return (ctrl & 0xf) != 0;
  if (ctrl >= 0x150 && ctrl <= 0x15f) return true;
  switch (ctrl) {
    case 0x130:
    case 0x134:
    case 0x138:
    case 0x13c:
    case 0x140:
    case 0x141:
    case 0x142:
    case 0x143:
      return true;
    default:
      return false;
  }
}

bool HasWideOperand(const Row& row) {
  return row.dst[0].dwords > 1 || row.src[0].dwords > 1 || row.src[1].dwords > 1;
}

// The register of a field whose kind says VGPR or AGPR by itself.
absl::Status ReadVectorDst(Cursor* c, uint32_t field, const Slot& slot, Inst* inst) {
  inst->n_dst = 1;
  switch (slot.kind) {
    case OperandKind::VGPR:
      return ReadCdnaVgpr(c, field, slot, false, &inst->dst[0]);
    case OperandKind::ACCVGPR:
      return ReadCdnaVgpr(c, field, slot, true, &inst->dst[0]);
    default:
      break;
  }
  if (slot.kind == OperandKind::SREG_NOVCC && field == kCdnaM0)
    return c->Refuse("a lane read does not write M0");
  return ReadCdnaSgpr(c, field, slot, &inst->dst[0]);
}

absl::Status TakeDpp(Cursor* c, uint64_t bits, Inst* inst) {
  DppInfo& dpp = inst->dpp;
  dpp.kind = DppInfo::Kind::kDpp16;
  dpp.ctrl = static_cast<uint16_t>(Field(bits, 48, 40));
  dpp.fetch_inactive = false;
  dpp.bound_ctrl = Field(bits, 51, 51);
  dpp.bank_mask = static_cast<uint8_t>(Field(bits, 59, 56));
  dpp.row_mask = static_cast<uint8_t>(Field(bits, 63, 60));
  inst->neg = static_cast<uint8_t>(Field(bits, 52, 52) | Field(bits, 54, 54) << 1);
  inst->abs = static_cast<uint8_t>(Field(bits, 53, 53) | Field(bits, 55, 55) << 1);
  if (!IsDppCtrl(dpp.ctrl)) return c->Refuse(absl::StrCat("dpp_ctrl ", dpp.ctrl, " is reserved"));
  if (HasWideOperand(*c->row) && dpp.ctrl < 0x150) {
    return c->Refuse(absl::StrCat("dpp_ctrl ", dpp.ctrl, ": 64-bit operands have row_newbcast alone"));
  }
  return ReadCdnaVgpr(c, Field(bits, 39, 32), c->row->src[0], false, &inst->src[0]);
}

// A source of an SDWA word: a VGPR, or with the top bit `scalar` an SGPR.
absl::Status SdwaSource(Cursor* c, uint32_t reg, bool scalar, int i, Inst* inst) {
  Slot slot = c->row->src[i];
  if (!scalar) return ReadCdnaVgpr(c, reg, slot, false, &inst->src[i]);
  slot.kind = OperandKind::SRC_SIMPLE;
  return ReadCdnaSource(c, reg, slot, i, false, inst);
}

absl::Status TakeSdwa(Cursor* c, uint64_t bits, Inst* inst) {
  const Row& row = *c->row;
  SdwaInfo& sdwa = inst->sdwa;
  sdwa.present = true;
  sdwa.src_sel[0] = static_cast<uint8_t>(Field(bits, 50, 48));
  sdwa.sext[0] = Field(bits, 51, 51);
  inst->neg = static_cast<uint8_t>(Field(bits, 52, 52));
  inst->abs = static_cast<uint8_t>(Field(bits, 53, 53));
  bool two = row.src[1].present();
  if (two) {
    sdwa.src_sel[1] = static_cast<uint8_t>(Field(bits, 58, 56));
    sdwa.sext[1] = Field(bits, 59, 59);
    inst->neg |= Field(bits, 60, 60) << 1;
    inst->abs |= Field(bits, 61, 61) << 1;
  }
  if (row.enc == Encoding::VOPC) {
    if (Field(bits, 47, 47)) {
      Slot slot = row.dst[0];
      slot.kind = OperandKind::SDST;
      slot.type = DataType::M64;
      slot.bits = 64;
      slot.dwords = 2;
      slot.sgpr_align = 2;
      US_RETURN_IF_ERROR(ReadCdnaSgpr(c, Field(bits, 46, 40), slot, &inst->dst[0]));
    }
  } else {
    sdwa.dst_sel = static_cast<uint8_t>(Field(bits, 42, 40));
    sdwa.dst_unused = static_cast<uint8_t>(Field(bits, 44, 43));
    inst->clamp = Field(bits, 45, 45);
    inst->omod = static_cast<uint8_t>(Field(bits, 47, 46));
    if (sdwa.dst_sel == 7) return c->Refuse("dst_sel 7 is reserved");
    if (sdwa.dst_unused == 3) return c->Refuse("dst_unused 3 is reserved");
  }
  for (int i = 0; i <= static_cast<int>(two); ++i) {
    if (sdwa.src_sel[i] == 7) return c->Refuse(absl::StrCat("src", i, "_sel 7 is reserved"));
  }
  US_RETURN_IF_ERROR(SdwaSource(c, Field(bits, 39, 32), Field(bits, 55, 55), 0, inst));
  if (!two) return absl::OkStatus();
  return SdwaSource(c, Field(bits, 16, 9), Field(bits, 63, 63), 1, inst);
}

}  // namespace

absl::Status DecodeCdnaVop12c(Cursor* c, Inst* inst) {
  uint32_t top = Field(c->w, 31, 25);
  inst->enc = top == 0x3f ? Encoding::VOP1 : top == 0x3e ? Encoding::VOPC : Encoding::VOP2;
  uint32_t op = inst->enc == Encoding::VOP1   ? Field(c->w, 16, 9)
                : inst->enc == Encoding::VOPC ? Field(c->w, 24, 17)
                                              : Field(c->w, 30, 25);
  US_RETURN_IF_ERROR(FindRow(c, inst->enc, op));
  const Row& row = *c->row;
  uint32_t src0 = Field(c->w, 8, 0);
  bool extended = row.src[0].present() && (src0 == kDpp || src0 == kSdwa);
  uint64_t bits = c->w;
  if (extended) {
    bool sdwa = src0 == kSdwa;
    const char* what = sdwa ? "SDWA" : "DPP";
    if (!(row.layouts & (sdwa ? kLaySdwa : kLayDpp16)))
      return c->Refuse(absl::StrCat("has no ", what, " form"));
    US_RETURN_IF_ERROR(TakeSecondWord(c, inst));
    const CdnaRowBits& row_bits = CdnaBitsOf(c->isa, row);
    uint64_t operands = BitMask(31, 0) | BitMask(39, 32);
    if (!sdwa) operands |= BitMask(48, 40) | BitMask(63, 56);
    if (sdwa && row.enc == Encoding::VOPC) operands |= BitMask(47, 40);
    US_RETURN_IF_ERROR(CheckCdnaBits(c, sdwa ? row_bits.sdwa : row_bits.dpp, operands, &bits));
  }
  if (inst->enc == Encoding::VOPC) {
    inst->dst[0] = MaskRegister(kRegVccLo);
    inst->n_dst = 1;
  } else if (row.dst[0].present()) {
    US_RETURN_IF_ERROR(ReadVectorDst(c, Field(bits, 24, 17), row.dst[0], inst));
  } else {
    US_RETURN_IF_ERROR(c->Zero(24, 17));
  }
  if (row.op == Opcode::V_NOP && (src0 == kDpp || src0 == kSdwa)) {
    return c->Refuse("has neither a DPP nor an SDWA form");
  }
  inst->n_src = row.n_src;
  bool has_k = row.implicit == Implicit::kFmaLitMid || row.implicit == Implicit::kFmaLitLast;
  if (has_k) US_RETURN_IF_ERROR(TakeLiteral(c, inst));
  if (extended && src0 == kSdwa) {
    US_RETURN_IF_ERROR(TakeSdwa(c, bits, inst));
  } else {
    if (extended) {
      US_RETURN_IF_ERROR(TakeDpp(c, bits, inst));
    } else if (row.src[0].present()) {
      bool agpr = row.src[0].kind == OperandKind::SRC_ACCVGPR;
      US_RETURN_IF_ERROR(ReadCdnaSource(c, src0, row.src[0], 0, agpr, inst));
    }
    if (row.src[1].present()) {
      US_RETURN_IF_ERROR(ReadCdnaVgpr(c, Field(bits, 16, 9), row.src[1], false, &inst->src[1]));
    }
  }
  AddImplicit(row, inst);
  // The comparison that also writes EXEC has it as its second destination: on CDNA the mask goes to both.
  if (row.cmpx) {
    inst->dst[1] = MaskRegister(kRegExecLo);
    inst->n_dst = 2;
  }
  return absl::OkStatus();
}

absl::Status DecodeCdnaVop3(Cursor* c, Inst* inst) {
  uint32_t op = Field(c->w, 25, 16);
  bool sd = c->table->Find(Encoding::VOP3SD, op) != nullptr;
  US_RETURN_IF_ERROR(FindRow(c, sd ? Encoding::VOP3SD : Encoding::VOP3, op));
  inst->enc = Encoding::VOP3;
  US_RETURN_IF_ERROR(TakeSecondWord(c, inst));
  const Row& row = *c->row;
  uint64_t operands = BitMask(31, 16);
  if (row.dst[0].present()) operands |= BitMask(7, 0);
  if (sd) operands |= BitMask(14, 8);
  for (int i = 0; i < 3; ++i) {
    if (row.src[i].present()) operands |= BitMask(40 + 9 * i, 32 + 9 * i);
  }
  uint64_t bits;
  US_RETURN_IF_ERROR(CheckCdnaBits(c, CdnaBitsOf(c->isa, row).plain, operands, &bits));
  inst->neg = static_cast<uint8_t>(Field(bits, 63, 61));
  inst->clamp = Field(bits, 15, 15);
  if (row.op == Opcode::V_BITOP3_B32 || row.op == Opcode::V_BITOP3_B16) {
    // The truth table takes the places of neg, omod and abs.
    inst->bitop3 =
        static_cast<uint8_t>(Field(bits, 63, 61) | Field(bits, 10, 8) << 3 | Field(bits, 60, 59) << 6);
    inst->neg = 0;
    inst->op_sel = static_cast<uint8_t>(Field(bits, 14, 11));
  } else {
    inst->omod = static_cast<uint8_t>(Field(bits, 60, 59));
    if (!sd) {
      inst->abs = static_cast<uint8_t>(Field(bits, 10, 8));
      inst->op_sel = static_cast<uint8_t>(Field(bits, 14, 11));
    }
  }
  if (row.dst[0].present()) US_RETURN_IF_ERROR(ReadVectorDst(c, Field(bits, 7, 0), row.dst[0], inst));
  if (sd) {
    US_RETURN_IF_ERROR(ReadCdnaSgpr(c, Field(bits, 14, 8), row.dst[1], &inst->dst[1]));
    inst->n_dst = 2;
  }
  inst->n_src = row.n_src;
  for (int i = 0; i < 3; ++i) {
    if (!row.src[i].present()) continue;
    US_RETURN_IF_ERROR(ReadCdnaSource(c, Field(bits, 40 + 9 * i, 32 + 9 * i), row.src[i], i, false, inst));
  }
  AddImplicit(row, inst);
  if (row.cmpx) {
    inst->dst[1] = MaskRegister(kRegExecLo);
    inst->n_dst = 2;
  }
  return absl::OkStatus();
}

}  // namespace understudy::emu::amd::decode
