// SPDX-License-Identifier: Apache-2.0
// VOP1, VOP2, VOPC, VOP3, VOP3SD and VOP3P, with literals and DPP words.
#include "absl/strings/str_cat.h"
#include "emu/amd/decode/cursor.h"
#include "src/base/status.h"

namespace understudy::emu::amd::decode {
namespace {

// src0 codes that announce a DPP word (ISA manual, "DPP: Data Parallel Primitives").
constexpr uint32_t kDpp8 = 233, kDpp8Fi = 234, kDpp16 = 250;

bool IsDppCode(uint32_t src0) { return src0 == kDpp8 || src0 == kDpp8Fi || src0 == kDpp16; }

// DPP_CTRL: quad_perm, row_shl/shr/ror 1..15, row_mirror, row_half_mirror, row_share, row_xmask.
bool IsDppCtrl(uint32_t ctrl) {
  if (ctrl <= 0xff) return true;
  if (ctrl >= 0x101 && ctrl <= 0x12f) return (ctrl & 0xf) != 0;
  return ctrl == 0x140 || ctrl == 0x141 || (ctrl >= 0x150 && ctrl <= 0x16f);
}

// Reads the DPP word and with it src0. DPP16's own neg and abs bits count for the e32 encodings only.
absl::Status TakeDpp(Cursor* c, uint32_t code, Inst* inst) {
  const Row& row = *c->row;
  bool dpp16 = code == kDpp16;
  if (!(row.layouts & (dpp16 ? kLayDpp16 : kLayDpp8))) {
    return c->Refuse(absl::StrCat("has no ", dpp16 ? "DPP16" : "DPP8", " form"));
  }
  US_RETURN_IF_ERROR(c->Need(inst->size + 4));
  uint32_t word = c->Word(inst->size);
  inst->size += 4;
  DppInfo& dpp = inst->dpp;
  if (dpp16) {
    dpp.kind = DppInfo::Kind::kDpp16;
    dpp.ctrl = static_cast<uint16_t>(Field(word, 16, 8));
    dpp.fetch_inactive = Field(word, 18, 18);
    dpp.bound_ctrl = Field(word, 19, 19);
    dpp.bank_mask = static_cast<uint8_t>(Field(word, 27, 24));
    dpp.row_mask = static_cast<uint8_t>(Field(word, 31, 28));
    if (!IsDppCtrl(dpp.ctrl)) return c->Refuse(absl::StrCat("dpp_ctrl ", dpp.ctrl, " is reserved"));
    if (inst->enc != Encoding::VOP3 && inst->enc != Encoding::VOP3P) {
      inst->neg |= Field(word, 20, 20) | Field(word, 22, 22) << 1;
      inst->abs |= Field(word, 21, 21) | Field(word, 23, 23) << 1;
    }
  } else {
    dpp.kind = DppInfo::Kind::kDpp8;
    dpp.fetch_inactive = code == kDpp8Fi;
    for (int i = 0; i < 8; ++i) dpp.lane_sel[i] = static_cast<uint8_t>(Field(word, 10 + 3 * i, 8 + 3 * i));
  }
  return ReadVgpr(c, Field(word, 7, 0), row.src[0], 0, &inst->src[0], inst);
}

absl::Status CheckModifiers(Cursor* c, const Inst& inst) {
  const Row& row = *c->row;
  uint8_t wrong = (inst.neg | inst.abs) & ~row.float_mods;
  if (wrong != 0) {
    return c->Refuse(
        absl::StrCat("neg or abs on source mask ", int{wrong}, ", which is not a float operand"));
  }
  if (inst.clamp && !row.clamp) return c->Refuse("takes no clamp");
  if (inst.omod != 0 && !row.omod) return c->Refuse("takes no output modifier");
  return absl::OkStatus();
}

absl::Status ReadVectorDst(Cursor* c, uint32_t field, const Slot& slot, Inst* inst) {
  inst->n_dst = 1;
  if (slot.kind == OperandKind::VGPR) return ReadVgpr(c, field, slot, 3, &inst->dst[0], inst);
  if (field >= 128) return c->Refuse(absl::StrCat("sdst = ", field, " is not a scalar register"));
  if (slot.type != DataType::M64) {
    // RDNA4's scalar transcendentals (V_S_*) and the lane reads.
    bool transcendental = c->row->number >= 640 && c->row->number <= 649 && c->isa == Isa::kRdna4;
    if (transcendental && field > kRegM0) return c->Refuse("does not write EXEC");
    if (!transcendental && field == kRegM0) return c->Refuse("a lane read does not write M0");
  }
  return ReadSgpr(c, field, slot, &inst->dst[0]);
}

// RDNA4: op_sel is a byte's number.
bool SelectsByte(Opcode op) {
  return op == Opcode::V_CVT_F32_FP8 || op == Opcode::V_CVT_F32_BF8 || op == Opcode::V_CVT_SR_FP8_F32 ||
         op == Opcode::V_CVT_SR_BF8_F32;
}

absl::Status FindVop12c(Cursor* c, Inst* inst) {
  uint32_t top = Field(c->w, 31, 25);
  inst->enc = top == 0x3f ? Encoding::VOP1 : top == 0x3e ? Encoding::VOPC : Encoding::VOP2;
  uint32_t op = inst->enc == Encoding::VOP1   ? Field(c->w, 16, 9)
                : inst->enc == Encoding::VOPC ? Field(c->w, 24, 17)
                                              : Field(c->w, 30, 25);
  return FindRow(c, inst->enc, op);
}

}  // namespace

absl::Status DecodeVop12c(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindVop12c(c, inst));
  c->reg_half = true;
  const Row& row = *c->row;
  uint32_t src0 = Field(c->w, 8, 0);
  if (inst->enc == Encoding::VOPC) {
    inst->dst[0] = MaskRegister(row.cmpx ? kRegExecLo : kRegVccLo);
    inst->n_dst = 1;
  } else if (row.dst[0].present()) {
    US_RETURN_IF_ERROR(ReadVectorDst(c, Field(c->w, 24, 17), row.dst[0], inst));
  } else {
    US_RETURN_IF_ERROR(c->Zero(24, 17));
  }
  inst->n_src = row.n_src;
  // FMAMK and FMAAK always have their literal, which src0 may share.
  bool has_k = row.implicit == Implicit::kFmaLitMid || row.implicit == Implicit::kFmaLitLast;
  if (has_k) US_RETURN_IF_ERROR(TakeLiteral(c, inst));
  if (row.src[0].present()) {
    if (IsDppCode(src0)) {
      US_RETURN_IF_ERROR(TakeDpp(c, src0, inst));
    } else {
      US_RETURN_IF_ERROR(ReadSource(c, src0, row.src[0], 0, inst));
    }
  }
  if (row.src[1].present()) {
    US_RETURN_IF_ERROR(ReadVgpr(c, Field(c->w, 16, 9), row.src[1], 1, &inst->src[1], inst));
  }
  if (inst->dpp.kind != DppInfo::Kind::kNone) US_RETURN_IF_ERROR(CheckModifiers(c, *inst));
  AddImplicit(row, inst);
  return absl::OkStatus();
}

absl::Status DecodeVop3(Cursor* c, Inst* inst) {
  uint32_t op = Field(c->w, 25, 16);
  // A second layout with a scalar destination in place of abs and op_sel, for the opcodes that have one.
  bool sd = c->table->Find(Encoding::VOP3SD, op) != nullptr;
  US_RETURN_IF_ERROR(FindRow(c, sd ? Encoding::VOP3SD : Encoding::VOP3, op));
  inst->enc = Encoding::VOP3;
  US_RETURN_IF_ERROR(SecondWord(c, inst));
  const Row& row = *c->row;
  inst->neg = static_cast<uint8_t>(Field(c->w, 63, 61));
  inst->omod = static_cast<uint8_t>(Field(c->w, 60, 59));
  inst->clamp = Field(c->w, 15, 15);
  if (!sd) {
    inst->abs = static_cast<uint8_t>(Field(c->w, 10, 8));
    // Where no half is selected the field has no meaning, and assemblers leave it free.
    inst->op_sel = static_cast<uint8_t>(Field(c->w, 14, 11)) & row.op_sel;
    if (SelectsByte(row.op) && inst->op_sel != Field(c->w, 14, 11)) {
      return c->Refuse(absl::StrCat("op_sel = ", Field(c->w, 14, 11), " is more than the number of a byte"));
    }
  }
  if (row.cmpx) {
    // EXEC whatever the field says; assemblers have written its number and zero.
    uint32_t vdst = Field(c->w, 7, 0);
    if (vdst != kRegExecLo && vdst != 0)
      return c->Refuse(absl::StrCat("vdst = ", vdst, " must be exec_lo (126) or 0"));
    inst->dst[0] = MaskRegister(kRegExecLo);
    inst->n_dst = 1;
  } else if (row.dst[0].present()) {
    US_RETURN_IF_ERROR(ReadVectorDst(c, Field(c->w, 7, 0), row.dst[0], inst));
  } else {
    US_RETURN_IF_ERROR(c->Zero(7, 0));
  }
  if (sd) {
    US_RETURN_IF_ERROR(ReadSgpr(c, Field(c->w, 14, 8), row.dst[1], &inst->dst[1]));
    inst->n_dst = 2;
  }
  inst->n_src = row.n_src;
  uint32_t src[3] = {Field(c->w, 40, 32), Field(c->w, 49, 41), Field(c->w, 58, 50)};
  for (int i = 0; i < 3; ++i) {
    if (!row.src[i].present()) continue;
    if (i == 0 && IsDppCode(src[0])) {
      US_RETURN_IF_ERROR(TakeDpp(c, src[0], inst));
    } else {
      US_RETURN_IF_ERROR(ReadSource(c, src[i], row.src[i], i, inst));
    }
  }
  if (inst->dpp.kind != DppInfo::Kind::kNone && inst->has_literal) {
    return c->Refuse("a DPP word and a literal cannot both follow");
  }
  US_RETURN_IF_ERROR(CheckModifiers(c, *inst));
  AddImplicit(row, inst);
  return absl::OkStatus();
}

namespace {

enum class PackedNeg { kNone, kLowOnly, kBoth };

// neg and neg_hi negate float halves; on the mixed-sign dot products and matrix products of integers neg says
// that a source is signed.
PackedNeg PackedNegOf(const Row& row, int i) {
  if (IsFmaMix(row.op)) return PackedNeg::kBoth;
  switch (row.src[i].type) {
    case DataType::PK2_F16:
    case DataType::PK2_BF16:
    case DataType::F32:
    case DataType::PK4_IU8:
    case DataType::PK8_IU4:
    case DataType::WMMA_AB_F16:
    case DataType::WMMA_AB_BF16:
    case DataType::WMMA_AB_IU8:
    case DataType::WMMA_AB_IU4:
    case DataType::WMMA_DC_F16:
    case DataType::WMMA_DC_BF16:
    case DataType::WMMA_DC_F32:
    case DataType::WMMA_AB_16X16_F16:
    case DataType::WMMA_AB_16X32_F16:
    case DataType::WMMA_AB_16X16_BF16:
    case DataType::WMMA_AB_16X32_BF16:
    case DataType::WMMA_DC_16X16_F16:
    case DataType::WMMA_DC_16X16_BF16:
    case DataType::WMMA_DC_16X16_F32:
      return PackedNeg::kBoth;
    case DataType::WMMA_AB_16X16_IU8:
    case DataType::WMMA_AB_16X32_IU8:
    case DataType::WMMA_AB_16X16_IU4:
    case DataType::WMMA_AB_16X32_IU4:
    case DataType::WMMA_AB_16X64_IU4:
      return PackedNeg::kLowOnly;
    default:
      return PackedNeg::kNone;
  }
}

bool IsWmma(const Row& row) { return row.number >= 64; }

// v_fma_mix*: op_sel_hi says source by source whether it is an f32 or one half of a register as f16.
void ResolveMixSources(Inst* inst) {
  for (int i = 0; i < 3; ++i) {
    Operand& o = inst->src[i];
    bool half = inst->op_sel_hi >> i & 1;
    o.type = half ? DataType::F16 : DataType::F32;
    if (half && o.kind == Operand::Kind::kInlineFloat) o.imm = InlineFloatAsF16(o.imm);
  }
}

bool IsDot4F32(Opcode op) {
  return op == Opcode::V_DOT4_F32_FP8_BF8 || op == Opcode::V_DOT4_F32_BF8_FP8 ||
         op == Opcode::V_DOT4_F32_FP8_FP8 || op == Opcode::V_DOT4_F32_BF8_BF8;
}

// Instructions without halves have op_sel_hi all ones and op_sel all zeros, but for the index key of SWMMAC.
absl::Status CheckRdna4Matrix(Cursor* c, const Inst& inst) {
  const Row& row = *c->row;
  if (inst.op_sel_hi != 7) return c->Refuse(absl::StrCat("op_sel_hi = ", inst.op_sel_hi, " must be 7"));
  if (inst.op_sel != 0) return c->Refuse("takes no op_sel");
  if (inst.clamp && row.dst[0].type != DataType::WMMA_DC_16X16_I32) return c->Refuse("takes no clamp");
  return absl::OkStatus();
}

absl::Status CheckPackedModifiers(Cursor* c, const Inst& inst) {
  const Row& row = *c->row;
  for (int i = 0; i < 3; ++i) {
    PackedNeg takes = PackedNegOf(row, i);
    bool low = inst.neg >> i & 1, high = (inst.neg_hi | inst.abs) >> i & 1;
    if (takes == PackedNeg::kBoth) low = high = false;
    if (takes == PackedNeg::kLowOnly) low = false;
    if (low || high) return c->Refuse(absl::StrCat("source ", i, " cannot be negated"));
    if (!row.src[i].present() && (inst.op_sel >> i & 1)) {
      return c->Refuse(absl::StrCat("op_sel names source ", i, ", which does not exist"));
    }
  }
  if (c->isa == Isa::kRdna4 && (IsWmma(row) || IsDot4F32(row.op))) return CheckRdna4Matrix(c, inst);
  bool integer = row.dst[0].type == DataType::WMMA_DC_I32;
  if (IsWmma(row) && !integer && inst.clamp) return c->Refuse("takes no clamp");
  bool halves = row.dst[0].type == DataType::WMMA_DC_F16 || row.dst[0].type == DataType::WMMA_DC_BF16;
  bool dot48 = row.op == Opcode::V_DOT4_I32_IU8 || row.op == Opcode::V_DOT4_U32_U8 ||
               row.op == Opcode::V_DOT8_I32_IU4 || row.op == Opcode::V_DOT8_U32_U4;
  if (((IsWmma(row) && !halves) || dot48) && inst.op_sel != 0) return c->Refuse("takes no op_sel");
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeVop3p(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::VOP3P, Field(c->w, 22, 16)));
  US_RETURN_IF_ERROR(c->Zero(23, 23));
  inst->enc = Encoding::VOP3P;
  US_RETURN_IF_ERROR(SecondWord(c, inst));
  const Row& row = *c->row;
  inst->neg = static_cast<uint8_t>(Field(c->w, 63, 61));
  inst->neg_hi = static_cast<uint8_t>(Field(c->w, 10, 8));
  inst->clamp = Field(c->w, 15, 15);
  inst->op_sel = static_cast<uint8_t>(Field(c->w, 13, 11));
  inst->op_sel_hi = static_cast<uint8_t>(Field(c->w, 60, 59) | Field(c->w, 14, 14) << 2);
  if (IsFmaMix(row.op)) {
    inst->abs = inst->neg_hi;
    inst->neg_hi = 0;
  }
  if (row.implicit == Implicit::kTiedSrc3) {
    // Bits 12:11 choose a part of the index register; bit 13 has no meaning.
    inst->index_key = inst->op_sel & 3;
    inst->op_sel &= 4;
  }
  US_RETURN_IF_ERROR(CheckPackedModifiers(c, *inst));
  US_RETURN_IF_ERROR(ReadVectorDst(c, Field(c->w, 7, 0), row.dst[0], inst));
  inst->n_src = row.n_src;
  uint32_t src[3] = {Field(c->w, 40, 32), Field(c->w, 49, 41), Field(c->w, 58, 50)};
  for (int i = 0; i < 3; ++i) {
    if (!row.src[i].present()) continue;
    if (i == 0 && IsDppCode(src[0])) {
      US_RETURN_IF_ERROR(TakeDpp(c, src[0], inst));
    } else if (inst->dpp.kind != DppInfo::Kind::kNone && src[i] < 256 &&
               ((i == 1 && IsFmaMix(row.op)) || IsDot4F32(row.op))) {
      return c->Refuse(absl::StrCat("src", i, " = operand ", src[i], " must be a VGPR beside a DPP word"));
    } else {
      US_RETURN_IF_ERROR(ReadSource(c, src[i], row.src[i], i, inst));
    }
  }
  if (inst->dpp.kind != DppInfo::Kind::kNone && inst->has_literal) {
    return c->Refuse("a DPP word and a literal cannot both follow");
  }
  if (IsFmaMix(row.op)) ResolveMixSources(inst);
  if (row.implicit == Implicit::kTiedSrc3) AddImplicit(row, inst);
  return absl::OkStatus();
}

void AddImplicit(const Row& row, Inst* inst) {
  switch (row.implicit) {
    case Implicit::kNone:
      return;
    case Implicit::kTiedSrc2:
      inst->src[2] = inst->dst[0];
      inst->src[2].implicit = true;
      // The accumulator is the destination's half.
      if (row.dst[0].half && (inst->op_sel & 8)) inst->op_sel |= 4;
      inst->n_src = 3;
      return;
    case Implicit::kVccSrc2:
      inst->src[2] = MaskRegister(kRegVccLo);
      inst->n_src = 3;
      return;
    case Implicit::kVccCarry:
      inst->dst[1] = inst->src[2] = MaskRegister(kRegVccLo);
      inst->n_dst = 2;
      inst->n_src = 3;
      return;
    case Implicit::kVccOut:
      inst->dst[1] = MaskRegister(kRegVccLo);
      inst->n_dst = 2;
      return;
    case Implicit::kVccSrc3:
      inst->src[3] = MaskRegister(kRegVccLo);
      inst->n_src = 4;
      return;
    case Implicit::kTiedSrc3:
      inst->src[3] = inst->dst[0];
      inst->src[3].implicit = true;
      inst->n_src = 4;
      return;
    case Implicit::kSwap:
      inst->dst[1] = inst->src[0];
      inst->src[1] = inst->dst[0];
      inst->dst[1].implicit = inst->src[1].implicit = true;
      if (row.dst[0].half && (inst->op_sel & 8)) inst->op_sel |= 2;
      inst->n_dst = 2;
      inst->n_src = 2;
      return;
    case Implicit::kFmaLitMid:
      inst->src[2] = inst->src[1];
      inst->op_sel = (inst->op_sel & 9) | ((inst->op_sel & 2) << 1);
      inst->src[1] = LiteralOperand(*inst, row.src[1]);
      inst->n_src = 3;
      return;
    case Implicit::kFmaLitLast:
      inst->src[2] = LiteralOperand(*inst, row.src[1]);
      inst->n_src = 3;
      return;
  }
}

}  // namespace understudy::emu::amd::decode
