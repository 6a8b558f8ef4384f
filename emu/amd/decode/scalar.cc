// SPDX-License-Identifier: Apache-2.0
// SOP1, SOP2, SOPC, SOPK, SOPP and SMEM.
#include "absl/strings/str_cat.h"
#include "emu/amd/decode/cdna.h"
#include "emu/amd/decode/cursor.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::emu::amd::decode {
namespace {

absl::Status DecodeSop1(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::SOP1, Field(c->w, 15, 8)));
  const Row& row = *c->row;
  uint32_t sdst = Field(c->w, 22, 16), ssrc0 = Field(c->w, 7, 0);
  if (row.dst[0].present()) {
    inst->n_dst = 1;
    US_RETURN_IF_ERROR(ReadSgpr(c, sdst, row.dst[0], &inst->dst[0]));
  }
  if (row.src[0].present()) {
    inst->n_src = 1;
    if (row.src[0].kind == OperandKind::SENDMSG_RTN) {
      // The field is a message number, not an operand.
      inst->src[0].kind = Operand::Kind::kInlineInt;
      inst->src[0].type = row.src[0].type;
      inst->src[0].imm = ssrc0;
      inst->src[0].dwords = 1;
      inst->src[0].bits = 32;
      inst->simm = static_cast<int32_t>(ssrc0);
      return absl::OkStatus();
    }
    US_RETURN_IF_ERROR(ReadSource(c, ssrc0, row.src[0], 0, inst));
  }
  return absl::OkStatus();
}

absl::Status DecodeSop2(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::SOP2, Field(c->w, 29, 23)));
  const Row& row = *c->row;
  inst->n_dst = 1;
  inst->n_src = 2;
  US_RETURN_IF_ERROR(ReadSgpr(c, Field(c->w, 22, 16), row.dst[0], &inst->dst[0]));
  bool k_mid = row.implicit == Implicit::kFmaLitMid, k_last = row.implicit == Implicit::kFmaLitLast;
  if (k_mid || k_last) US_RETURN_IF_ERROR(TakeLiteral(c, inst));
  US_RETURN_IF_ERROR(ReadSource(c, Field(c->w, 7, 0), row.src[0], 0, inst));
  US_RETURN_IF_ERROR(ReadSource(c, Field(c->w, 15, 8), row.src[1], 1, inst));
  if (k_mid) inst->src[2] = inst->src[1], inst->src[1] = LiteralOperand(*inst, row.src[1]);
  if (k_last) inst->src[2] = LiteralOperand(*inst, row.src[1]);
  if (row.implicit == Implicit::kTiedSrc2) inst->src[2] = inst->dst[0], inst->src[2].implicit = true;
  if (row.implicit != Implicit::kNone) inst->n_src = 3;
  return absl::OkStatus();
}

absl::Status DecodeSopc(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::SOPC, Field(c->w, 22, 16)));
  inst->n_src = 2;
  US_RETURN_IF_ERROR(ReadSource(c, Field(c->w, 7, 0), c->row->src[0], 0, inst));
  return ReadSource(c, Field(c->w, 15, 8), c->row->src[1], 1, inst);
}

// Which of the SOPK instructions read their sdst field, and which write it.
struct SdstUse {
  bool reads, writes;
};

SdstUse SopkUse(Opcode op) {
  switch (op) {
    case Opcode::S_MOVK_I32:
    case Opcode::S_GETREG_B32:
    case Opcode::S_CALL_B64:
      return {false, true};
    case Opcode::S_ADDK_I32:
    case Opcode::S_ADDK_CO_I32:
    case Opcode::S_MULK_I32:
    case Opcode::S_CMOVK_I32:
      return {true, true};
    case Opcode::S_VERSION:
    case Opcode::S_SETREG_IMM32_B32:
      return {false, false};
    case Opcode::S_SUBVECTOR_LOOP_BEGIN:
    case Opcode::S_SUBVECTOR_LOOP_END:
      return {true, true};
    default:
      return {true, false};  // s_cmpk_*, s_setreg_b32, s_waitcnt_*cnt, s_cbranch_i_fork
  }
}

}  // namespace

absl::Status DecodeSopk(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::SOPK, Field(c->w, 27, 23)));
  inst->simm = static_cast<int16_t>(Field(c->w, 15, 0));
  const SdstUse use = SopkUse(c->row->op);
  const auto read = IsCdna(c->isa) ? ReadCdnaSgpr : ReadSgpr;
  Slot slot = c->row->dst[0];
  if (!slot.present()) {
    slot.kind = OperandKind::SDST;
    slot.type = DataType::B32;
    slot.bits = 32;
    slot.dwords = 1;
  }
  if (use.writes) {
    inst->n_dst = 1;
    US_RETURN_IF_ERROR(read(c, Field(c->w, 22, 16), slot, &inst->dst[0]));
  }
  if (use.reads) {
    inst->n_src = 1;
    US_RETURN_IF_ERROR(read(c, Field(c->w, 22, 16), slot, &inst->src[0]));
    inst->src[0].implicit = use.writes;
  }
  if (c->row->op == Opcode::S_SETREG_IMM32_B32) {
    US_RETURN_IF_ERROR(TakeLiteral(c, inst));
    inst->n_src = 1;
    slot.type = DataType::B32;
    slot.bits = 32;
    slot.dwords = 1;
    inst->src[0] = LiteralOperand(*inst, slot);
  }
  return absl::OkStatus();
}

absl::Status DecodeSopp(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::SOPP, Field(c->w, 22, 16)));
  inst->simm = static_cast<int16_t>(Field(c->w, 15, 0));
  if (!c->row->has_immediate && c->row->op != Opcode::S_ENDPGM) return c->Zero(15, 0);
  return absl::OkStatus();
}

absl::Status DecodeScalar(Cursor* c, Inst* inst) {
  // 10.......: SOP2 except where bits 29:23 are one of the three prefixes above its last opcode, or 1011:
  // SOPK.
  switch (Field(c->w, 31, 23)) {
    case 0x17d:
      return DecodeSop1(c, inst);
    case 0x17e:
      return DecodeSopc(c, inst);
    case 0x17f:
      return DecodeSopp(c, inst);
    default:
      return Field(c->w, 31, 28) == 0xb ? DecodeSopk(c, inst) : DecodeSop2(c, inst);
  }
}

namespace {

// Prefetches and probes have a small number in place of the destination.
bool SdataIsNumber(const Slot& slot) {
  return slot.kind == OperandKind::SIMM8 || slot.kind == OperandKind::SIMM5;
}

// sdata, sbase and soffset, which lie in the same bits on every generation.
absl::Status ReadSmem(Cursor* c, Inst* inst) {
  const Row& row = *c->row;
  uint32_t sdata = Field(c->w, 12, 6);
  if (SdataIsNumber(row.dst[0])) {
    inst->simm = static_cast<int32_t>(sdata);
  } else {
    inst->n_dst = 1;
    if (sdata > kRegNull)
      return c->Refuse(absl::StrCat("sdata = ", sdata, ": loads do not write M0 or EXEC"));
    US_RETURN_IF_ERROR(ReadSgpr(c, sdata, row.dst[0], &inst->dst[0]));
  }
  inst->n_src = 2;
  if (row.src[0].present()) {
    US_RETURN_IF_ERROR(ReadSgpr(c, Field(c->w, 5, 0) << 1, row.src[0], &inst->src[0]));
  }
  uint32_t soffset = Field(c->w, 63, 57);
  if (soffset == kRegNull) return absl::OkStatus();
  return ReadSgpr(c, soffset, row.src[1], &inst->src[1]);
}

absl::Status DecodeSmemRdna4(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::SMEM, Field(c->w, 18, 13)));
  US_RETURN_IF_ERROR(SecondWord(c, inst));
  if (c->row->n_src == 0) return absl::OkStatus();  // cache invalidations
  inst->offset = SignExtend(Field(c->w, 55, 32), 24);
  if (inst->offset < 0 && c->row->src[0].dwords == 4) {
    return c->Refuse(absl::StrCat("offset ", inst->offset, " into a buffer must not be negative"));
  }
  if (SdataIsNumber(c->row->dst[0])) {
    US_RETURN_IF_ERROR(c->Zero(12, 11));
  } else {
    inst->nv = Field(c->w, 20, 20);
    inst->scope = static_cast<uint8_t>(Field(c->w, 22, 21));
    inst->th = static_cast<uint8_t>(Field(c->w, 24, 23));
    if (Field(c->w, 56, 56)) return c->Refuse("scale_offset (bit 56) came after RDNA4");
  }
  return ReadSmem(c, inst);
}

}  // namespace

absl::Status DecodeSmem(Cursor* c, Inst* inst) {
  if (c->isa == Isa::kRdna4) return DecodeSmemRdna4(c, inst);
  US_RETURN_IF_ERROR(FindRow(c, Encoding::SMEM, Field(c->w, 25, 18)));
  US_RETURN_IF_ERROR(SecondWord(c, inst));
  const Row& row = *c->row;
  if (!row.src[0].present() || SdataIsNumber(row.dst[0])) US_RETURN_IF_ERROR(c->Zero(14, 13));
  if (!row.src[0].present()) return absl::OkStatus();  // cache invalidations
  inst->offset = SignExtend(Field(c->w, 52, 32), 21);
  inst->glc = Field(c->w, 14, 14);
  inst->dlc = Field(c->w, 13, 13);
  return ReadSmem(c, inst);
}

}  // namespace understudy::emu::amd::decode
