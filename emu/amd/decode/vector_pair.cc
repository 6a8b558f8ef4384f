// SPDX-License-Identifier: Apache-2.0
// VOPD (two instructions in one word pair), VINTERP, LDSDIR and EXP.
#include "absl/strings/str_cat.h"
#include "emu/amd/decode/cursor.h"
#include "src/base/status.h"

namespace understudy::emu::amd::decode {
namespace {

// One half; `at` is its first source slot. The literal, where any operand uses one, is shared by both halves.
absl::Status DecodeHalf(Cursor* c, const Row& row, uint32_t src0, uint32_t vsrc1, uint32_t vdst, int half,
                        Inst* inst) {
  const int at = half * 3;
  US_RETURN_IF_ERROR(ReadVgpr(c, vdst, row.dst[0], 3, &inst->dst[half], inst));
  US_RETURN_IF_ERROR(ReadSource(c, src0, row.src[0], at, inst));
  int n = 1;
  if (row.src[1].present()) {
    US_RETURN_IF_ERROR(ReadVgpr(c, vsrc1, row.src[1], 1, &inst->src[at + 1], inst));
    n = 2;
  } else if (vsrc1 != 0) {
    return c->Refuse(absl::StrCat("vsrc", half == 0 ? "x" : "y", "1 has no meaning here and must be zero"));
  }
  switch (row.implicit) {
    case Implicit::kTiedSrc2:
      inst->src[at + 2] = inst->dst[half];
      inst->src[at + 2].implicit = true;
      n = 3;
      break;
    case Implicit::kVccSrc2:
      inst->src[at + 2] = MaskRegister(kRegVccLo);
      n = 3;
      break;
    case Implicit::kFmaLitMid:
      inst->src[at + 2] = inst->src[at + 1];
      inst->src[at + 1] = LiteralOperand(*inst, row.src[1]);
      n = 3;
      break;
    case Implicit::kFmaLitLast:
      inst->src[at + 2] = LiteralOperand(*inst, row.src[1]);
      n = 3;
      break;
    default:
      break;
  }
  (half == 0 ? inst->n_src : inst->n_src_y) = static_cast<uint8_t>(n);
  return absl::OkStatus();
}

bool NeedsLiteral(const Row& row) {
  return row.implicit == Implicit::kFmaLitMid || row.implicit == Implicit::kFmaLitLast;
}

}  // namespace

absl::Status DecodeVopd(Cursor* c, Inst* inst) {
  uint32_t opx = Field(c->w, 25, 22), opy = Field(c->w, 21, 17);
  US_RETURN_IF_ERROR(FindRow(c, Encoding::VOPD, opy));
  const Row* y = c->row;
  US_RETURN_IF_ERROR(FindRow(c, Encoding::VOPD, opx));
  const Row* x = c->row;
  inst->enc = Encoding::VOPD;
  US_RETURN_IF_ERROR(SecondWord(c, inst));
  if (NeedsLiteral(*x) || NeedsLiteral(*y)) US_RETURN_IF_ERROR(TakeLiteral(c, inst));
  uint32_t vdstx = Field(c->w, 63, 56);
  // The destinations lie in different banks: bit 0 of vdsty is the opposite of vdstx's.
  uint32_t vdsty = Field(c->w, 55, 49) << 1 | (~vdstx & 1);
  inst->n_dst = 2;
  inst->op_y = y->op;
  US_RETURN_IF_ERROR(DecodeHalf(c, *x, Field(c->w, 8, 0), Field(c->w, 16, 9), vdstx, 0, inst));
  return DecodeHalf(c, *y, Field(c->w, 40, 32), Field(c->w, 48, 41), vdsty, 1, inst);
}

absl::Status DecodeVinterp(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::VINTERP, Field(c->w, c->isa == Isa::kRdna4 ? 20 : 22, 16)));
  US_RETURN_IF_ERROR(SecondWord(c, inst));
  const Row& row = *c->row;
  inst->n_dst = 1;
  inst->n_src = 3;
  inst->neg = static_cast<uint8_t>(Field(c->w, 63, 61));
  inst->clamp = Field(c->w, 15, 15);
  inst->op_sel = static_cast<uint8_t>(Field(c->w, 14, 11)) & row.op_sel;
  inst->wait_exp = static_cast<uint8_t>(Field(c->w, 10, 8));
  US_RETURN_IF_ERROR(ReadVgpr(c, Field(c->w, 7, 0), row.dst[0], 3, &inst->dst[0], inst));
  US_RETURN_IF_ERROR(ReadSource(c, Field(c->w, 40, 32), row.src[0], 0, inst));
  US_RETURN_IF_ERROR(ReadSource(c, Field(c->w, 49, 41), row.src[1], 1, inst));
  return ReadSource(c, Field(c->w, 58, 50), row.src[2], 2, inst);
}

absl::Status DecodeLdsdir(Cursor* c, Inst* inst) {
  bool rdna4 = c->isa == Isa::kRdna4;
  US_RETURN_IF_ERROR(FindRow(c, rdna4 ? Encoding::VDSDIR : Encoding::LDSDIR, Field(c->w, 21, 20)));
  US_RETURN_IF_ERROR(c->Zero(rdna4 ? 22 : 23, 22));
  if (rdna4) inst->wait_vm_vsrc = static_cast<uint8_t>(Field(c->w, 23, 23));
  inst->n_dst = 1;
  inst->wait_vdst = static_cast<uint8_t>(Field(c->w, 19, 16));
  if (c->op == 0) {  // the direct load, opcode 1, has no attribute
    inst->attr = static_cast<uint8_t>(Field(c->w, 15, 10));
    inst->attr_chan = static_cast<uint8_t>(Field(c->w, 9, 8));
  }
  return ReadVgpr(c, Field(c->w, 7, 0), c->row->dst[0], 3, &inst->dst[0], inst);
}

absl::Status DecodeExp(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, c->isa == Isa::kRdna4 ? Encoding::VEXPORT : Encoding::EXP, 0));
  US_RETURN_IF_ERROR(SecondWord(c, inst));
  inst->exp_en = static_cast<uint8_t>(Field(c->w, 3, 0));
  inst->exp_target = static_cast<uint8_t>(Field(c->w, 9, 4));
  inst->exp_done = Field(c->w, 11, 11);
  inst->exp_row = Field(c->w, 13, 13);
  inst->n_src = 4;
  for (int i = 0; i < 4; ++i) {
    if (!(inst->exp_en >> i & 1)) continue;
    US_RETURN_IF_ERROR(
        ReadVgpr(c, Field(c->w, 39 + 8 * i, 32 + 8 * i), c->row->src[i], i, &inst->src[i], inst));
  }
  return absl::OkStatus();
}

}  // namespace understudy::emu::amd::decode

namespace understudy::emu::amd {

Inst VopdHalf(const Inst& inst, int half) {
  Inst out = inst;
  out.op_y = Opcode::kCount;
  out.n_dst = 1;
  out.n_src_y = 0;
  out.dst[1] = Operand();
  for (int i = 3; i < 6; ++i) out.src[i] = Operand();
  if (half == 0) return out;
  out.op = inst.op_y;
  out.dst[0] = inst.dst[1];
  out.n_src = inst.n_src_y;
  for (int i = 0; i < 3; ++i) out.src[i] = inst.src[i + 3];
  return out;
}

}  // namespace understudy::emu::amd
