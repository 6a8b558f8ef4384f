// SPDX-License-Identifier: Apache-2.0
// SOP1, SOP2, SOPC, SOPK, SOPP and SMEM of CDNA.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "emu/amd/decode/cdna.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::emu::amd::decode {
namespace {

absl::Status DecodeSop1(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::SOP1, Field(c->w, 15, 8)));
  const Row& row = *c->row;
  if (row.dst[0].present()) {
    inst->n_dst = 1;
    US_RETURN_IF_ERROR(ReadCdnaSgpr(c, Field(c->w, 22, 16), row.dst[0], &inst->dst[0]));
  }
  if (!row.src[0].present()) return absl::OkStatus();
  inst->n_src = 1;
  return ReadCdnaSource(c, Field(c->w, 7, 0), row.src[0], 0, false, inst);
}

absl::Status DecodeSop2(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::SOP2, Field(c->w, 29, 23)));
  const Row& row = *c->row;
  if (row.dst[0].present()) {
    inst->n_dst = 1;
    US_RETURN_IF_ERROR(ReadCdnaSgpr(c, Field(c->w, 22, 16), row.dst[0], &inst->dst[0]));
  }
  inst->n_src = 2;
  US_RETURN_IF_ERROR(ReadCdnaSource(c, Field(c->w, 7, 0), row.src[0], 0, false, inst));
  return ReadCdnaSource(c, Field(c->w, 15, 8), row.src[1], 1, false, inst);
}

absl::Status DecodeSopc(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::SOPC, Field(c->w, 22, 16)));
  const Row& row = *c->row;
  inst->n_src = 2;
  US_RETURN_IF_ERROR(ReadCdnaSource(c, Field(c->w, 7, 0), row.src[0], 0, false, inst));
  if (row.op != Opcode::S_SET_GPR_IDX_ON) {
    return ReadCdnaSource(c, Field(c->w, 15, 8), row.src[1], 1, false, inst);
  }
  // The field is a mask: bits 0 to 2 index the sources, bit 3 the destination.
  Operand& mask = inst->src[1];
  mask.kind = Operand::Kind::kInlineInt;
  mask.type = DataType::B32;
  mask.dwords = 1;
  mask.bits = 32;
  mask.imm = Field(c->w, 15, 8);
  inst->simm = static_cast<int32_t>(mask.imm);
  return absl::OkStatus();
}

bool HasPrefix(const char* name, const char* prefix) {
  return std::strncmp(name, prefix, std::strlen(prefix)) == 0;
}

}  // namespace

absl::Status DecodeCdnaScalar(Cursor* c, Inst* inst) {
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

absl::Status DecodeCdnaSmem(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::SMEM, Field(c->w, 25, 18)));
  US_RETURN_IF_ERROR(TakeSecondWord(c, inst));
  const Row& row = *c->row;
  const char* name = OpcodeName(row.op);
  bool has_address = row.src[0].present();
  bool probe = row.dst[0].kind == OperandKind::SIMM8;
  uint64_t operands = BitMask(31, 18);
  // imm, soffset_en, the offset and both of its registers.
  if (has_address)
    operands |= BitMask(5, 0) | BitMask(14, 14) | BitMask(17, 17) | BitMask(52, 32) | BitMask(63, 57);
  if (row.dst[0].present()) operands |= BitMask(12, 6);
  uint64_t bits;
  US_RETURN_IF_ERROR(CheckCdnaBits(c, CdnaBitsOf(c->isa, row).plain, operands, &bits));
  inst->glc = Field(bits, 16, 16);
  uint32_t sdata = Field(bits, 12, 6);
  bool store = std::strstr(name, "_STORE_") != nullptr, atomic = std::strstr(name, "ATOMIC_") != nullptr;
  if (probe) {
    inst->simm = static_cast<int32_t>(sdata);  // s_atc_probe: a permission mask
  } else if (row.dst[0].present()) {
    Operand data;
    US_RETURN_IF_ERROR(ReadCdnaSgpr(c, sdata, row.dst[0], &data));
    if (data.reg >= kRegM0) {
      return c->Refuse(absl::StrCat("sdata = ", sdata, ": M0 and EXEC hold no data of scalar memory"));
    }
    if (store || atomic) inst->src[2] = data;
    if (!store && (!atomic || inst->glc)) {
      inst->n_dst = 1;
      inst->dst[0] = data;
      // A compare-and-swap returns the old value alone; its data is a pair of values.
      if (atomic && HasPrefix(std::strstr(name, "ATOMIC_"), "ATOMIC_CMPSWAP")) {
        inst->dst[0].dwords /= 2;
        inst->dst[0].bits /= 2;
      }
    }
  }
  if (!has_address) return absl::OkStatus();
  inst->n_src = store || atomic ? 3 : 2;
  US_RETURN_IF_ERROR(ReadCdnaSgpr(c, Field(bits, 5, 0) << 1, row.src[0], &inst->src[0]));
  // imm says that the offset field is a number (else it names a register), soffset_en that there is a
  // register at the end of the word; with neither bit the register is in the offset field.
  bool imm = Field(bits, 17, 17), soffset_en = Field(bits, 14, 14);
  if (imm) inst->offset = SignExtend(Field(bits, 52, 32), 21);
  inst->offen = imm && soffset_en;  // the register and the offset both count
  if (!imm || soffset_en) {
    Slot slot;
    slot.kind = OperandKind::SREG;
    slot.type = DataType::B32;
    slot.bits = 32;
    slot.dwords = 1;
    uint32_t code = soffset_en ? Field(bits, 63, 57) : Field(bits, 38, 32);
    US_RETURN_IF_ERROR(ReadCdnaSgpr(c, code, slot, &inst->src[1]));
  }
  return absl::OkStatus();
}

}  // namespace understudy::emu::amd::decode
