// SPDX-License-Identifier: Apache-2.0
// VOP3P of CDNA: packed arithmetic, moves between VGPRs and AGPRs, MFMA, SMFMAC and the 16-byte scaled MFMA.
#include "absl/strings/str_cat.h"
#include "emu/amd/decode/cdna.h"
#include "src/base/status.h"

namespace understudy::emu::amd::decode {
namespace {

// v_fma_mix*: op_sel_hi says source by source whether it is an f32 or one half of a register as f16.
void ResolveMixSources(Inst* inst) {
  for (int i = 0; i < 3; ++i) {
    Operand& o = inst->src[i];
    bool half = inst->op_sel_hi >> i & 1;
    o.type = half ? DataType::F16 : DataType::F32;
    if (half && o.kind == Operand::Kind::kInlineFloat) o.imm = InlineFloatAsF16(o.imm);
  }
}

absl::Status DecodePacked(Cursor* c, uint64_t bits, Inst* inst) {
  const Row& row = *c->row;
  inst->neg = static_cast<uint8_t>(Field(bits, 63, 61));
  inst->neg_hi = static_cast<uint8_t>(Field(bits, 10, 8));
  inst->clamp = Field(bits, 15, 15);
  inst->op_sel = static_cast<uint8_t>(Field(bits, 13, 11));
  inst->op_sel_hi = static_cast<uint8_t>(Field(bits, 60, 59) | Field(bits, 14, 14) << 2);
  if (IsFmaMix(row.op)) {
    inst->abs = inst->neg_hi;
    inst->neg_hi = 0;
  }
  if (row.dst[0].present()) {
    inst->n_dst = 1;
    bool agpr = row.dst[0].kind == OperandKind::ACCVGPR;
    US_RETURN_IF_ERROR(ReadCdnaVgpr(c, Field(bits, 7, 0), row.dst[0], agpr, &inst->dst[0]));
  }
  inst->n_src = row.n_src;
  for (int i = 0; i < 3; ++i) {
    if (!row.src[i].present()) continue;
    bool agpr = row.src[i].kind == OperandKind::SRC_ACCVGPR;
    US_RETURN_IF_ERROR(ReadCdnaSource(c, Field(bits, 40 + 9 * i, 32 + 9 * i), row.src[i], i, agpr, inst));
  }
  if (IsFmaMix(row.op)) ResolveMixSources(inst);
  return absl::OkStatus();
}

// The fields that the plain and the scaled layouts share; `bits` is the word that holds them.
absl::Status DecodeMatrix(Cursor* c, uint64_t bits, Inst* inst) {
  const Row& row = *c->row;
  bool smfmac = IsSmfmac(row.op);
  inst->cbsz = static_cast<uint8_t>(Field(bits, 10, 8));
  inst->abid = static_cast<uint8_t>(Field(bits, 14, 11));
  inst->blgp = static_cast<uint8_t>(Field(bits, 63, 61));
  bool acc_cd = Field(bits, 15, 15), acc_a = Field(bits, 59, 59), acc_b = Field(bits, 60, 60);
  Slot a = row.src[0], b = row.src[1];
  if (IsF8f6f4(row.op)) {
    if (inst->cbsz > 4 || inst->blgp > 4) {
      return c->Refuse(absl::StrCat("formats ", int{inst->cbsz}, " and ", int{inst->blgp},
                                    ": 0 to 4 are FP8, BF8, FP6, BF6 and FP4"));
    }
    a.dwords = static_cast<uint8_t>(F8f6f4Dwords(inst->cbsz));
    b.dwords = static_cast<uint8_t>(F8f6f4Dwords(inst->blgp));
    a.bits = static_cast<uint16_t>(32 * a.dwords);
    b.bits = static_cast<uint16_t>(32 * b.dwords);
  }
  inst->n_dst = 1;
  inst->n_src = 3;
  US_RETURN_IF_ERROR(ReadCdnaVgpr(c, Field(bits, 7, 0), row.dst[0], acc_cd, &inst->dst[0]));
  US_RETURN_IF_ERROR(ReadCdnaSource(c, Field(bits, 40, 32), a, 0, acc_a, inst));
  US_RETURN_IF_ERROR(ReadCdnaSource(c, Field(bits, 49, 41), b, 1, acc_b, inst));
  US_RETURN_IF_ERROR(ReadCdnaSource(c, Field(bits, 58, 50), row.src[2], 2, !smfmac && acc_cd, inst));
  if (smfmac) {
    inst->src[3] = inst->dst[0];
    inst->src[3].implicit = true;
    inst->n_src = 4;
  }
  return absl::OkStatus();
}

// The first eight bytes hold the scales, the other eight an MFMA (CDNA4 ISA manual, "VOP3PX2").
absl::Status DecodeScaled(Cursor* c, Inst* inst) {
  uint64_t low = c->w, high = c->Word(8) | static_cast<uint64_t>(c->Word(12)) << 32;
  US_RETURN_IF_ERROR(FindRow(c, Encoding::VOP3PX2, Field(high, 22, 16)));
  inst->enc = Encoding::VOP3PX2;
  inst->size = 16;
  US_RETURN_IF_ERROR(DecodeMatrix(c, high, inst));
  inst->op_sel = static_cast<uint8_t>(Field(low, 12, 11));
  inst->op_sel_hi = static_cast<uint8_t>(Field(low, 60, 59));
  Slot scale;
  scale.kind = OperandKind::SRC_VGPR;
  scale.type = DataType::B32;
  scale.bits = 32;
  scale.dwords = 1;
  US_RETURN_IF_ERROR(ReadCdnaSource(c, Field(low, 40, 32), scale, 3, false, inst));
  US_RETURN_IF_ERROR(ReadCdnaSource(c, Field(low, 49, 41), scale, 4, false, inst));
  inst->n_src = 5;
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeCdnaVop3p(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::VOP3P, Field(c->w, 22, 16)));
  US_RETURN_IF_ERROR(TakeSecondWord(c, inst));
  const Row& row = *c->row;
  inst->enc = Encoding::VOP3P;
  // A load of scales and the MFMA that follows it are one instruction, where the MFMA says so (abid bit 0):
  // which of the two it is takes all sixteen bytes, and every load of scales has them.
  if (row.op == Opcode::V_MFMA_LD_SCALE_B32) {
    US_RETURN_IF_ERROR(c->Need(16));
    bool scaled = Field(c->Word(8), 31, 23) == 0x1a7 && Field(c->Word(8), 14, 11) == 1 &&
                  c->table->Find(Encoding::VOP3PX2, Field(c->Word(8), 22, 16)) != nullptr;
    if (scaled) return DecodeScaled(c, inst);
  }
  bool matrix = IsMfma(row.op) || IsSmfmac(row.op);
  uint64_t operands = BitMask(31, 16);
  if (row.dst[0].present()) operands |= BitMask(7, 0);
  for (int i = 0; i < 3; ++i) {
    if (row.src[i].present()) operands |= BitMask(40 + 9 * i, 32 + 9 * i);
  }
  if (matrix) operands |= BitMask(60, 59);
  uint64_t bits;
  US_RETURN_IF_ERROR(CheckCdnaBits(c, CdnaBitsOf(c->isa, row).plain, operands, &bits));
  return matrix ? DecodeMatrix(c, bits, inst) : DecodePacked(c, bits, inst);
}

}  // namespace understudy::emu::amd::decode
