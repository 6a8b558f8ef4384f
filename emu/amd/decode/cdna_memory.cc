// SPDX-License-Identifier: Apache-2.0
// DS, FLAT/GLOBAL/SCRATCH, MUBUF/MTBUF and gfx90a's MIMG. Of the bits that only some generations or opcodes
// have, the masks of CdnaBits tell which are there.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "emu/amd/decode/cdna.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::emu::amd::decode {
namespace {

constexpr uint32_t kSaddrOff = 0x7f;

bool Contains(const char* name, const char* part) { return std::strstr(name, part) != nullptr; }

Slot ScalarSlot(DataType type, int dwords) {
  Slot slot;
  slot.kind = OperandKind::SREG;
  slot.type = type;
  slot.dwords = static_cast<uint8_t>(dwords);
  slot.bits = static_cast<uint16_t>(32 * dwords);
  slot.sgpr_align = static_cast<uint8_t>(dwords);
  return slot;
}

// Reads the second word and refuses bits that this opcode of this generation has no use for.
absl::Status TakeBits(Cursor* c, Inst* inst, uint64_t operands, uint64_t* bits) {
  US_RETURN_IF_ERROR(TakeSecondWord(c, inst));
  return CheckCdnaBits(c, CdnaBitsOf(c->isa, *c->row).plain, operands, bits);
}

// A compare-and-swap returns the old value alone; its data is a pair of values.
void HalveIfCmpswap(const char* name, Operand* dst) {
  if (!Contains(name, "CMPSWAP")) return;
  dst->dwords /= 2;
  dst->bits /= 2;
}

}  // namespace

absl::Status DecodeCdnaDs(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::DS, Field(c->w, 24, 17)));
  const Row& row = *c->row;
  uint64_t operands = BitMask(24, 17) | BitMask(31, 26);
  if (row.dst[0].present()) operands |= BitMask(63, 56);
  for (int i = 0; i < 3; ++i) {
    if (row.src[i].present()) operands |= BitMask(39 + 8 * i, 32 + 8 * i);
  }
  uint64_t bits;
  US_RETURN_IF_ERROR(TakeBits(c, inst, operands, &bits));
  inst->offset0 = static_cast<uint8_t>(Field(bits, 7, 0));
  inst->offset1 = static_cast<uint8_t>(Field(bits, 15, 8));
  inst->offset = static_cast<int32_t>(Field(bits, 15, 0));
  inst->gds = Field(bits, 16, 16);
  bool acc = Field(bits, 25, 25);
  inst->n_src = 3;
  if (row.dst[0].present()) {
    inst->n_dst = 1;
    US_RETURN_IF_ERROR(ReadCdnaVgpr(c, Field(bits, 63, 56), row.dst[0], acc, &inst->dst[0]));
  }
  for (int i = 0; i < 3; ++i) {
    if (!row.src[i].present()) continue;
    bool agpr = acc && (i > 0 || row.src[i].kind == OperandKind::VGPR_OR_ACCVGPR);
    US_RETURN_IF_ERROR(ReadCdnaVgpr(c, Field(bits, 39 + 8 * i, 32 + 8 * i), row.src[i], agpr, &inst->src[i]));
  }
  return absl::OkStatus();
}

absl::Status DecodeCdnaFlat(Cursor* c, Inst* inst) {
  constexpr Encoding kSegments[] = {Encoding::FLAT, Encoding::SCRATCH, Encoding::GLOBAL, Encoding::kCount};
  Encoding enc = kSegments[Field(c->w, 15, 14)];
  if (enc == Encoding::kCount) return c->Refuse("FLAT segment 3 is reserved");
  US_RETURN_IF_ERROR(FindRow(c, enc, Field(c->w, 24, 18)));
  const Row& row = *c->row;
  const char* name = OpcodeName(row.op);
  uint64_t operands = BitMask(31, 26) | BitMask(24, 18) | BitMask(15, 14);
  bool atomic = Contains(name, "_ATOMIC_");
  if (row.dst[0].present() && (!atomic || Field(c->w, 16, 16))) operands |= BitMask(63, 56);
  if (row.src[0].present()) operands |= BitMask(39, 32);
  if (row.src[1].present()) operands |= BitMask(47, 40);
  if (enc != Encoding::FLAT) operands |= BitMask(54, 48);
  uint64_t bits;
  US_RETURN_IF_ERROR(TakeBits(c, inst, operands, &bits));
  inst->glc = Field(bits, 16, 16);
  inst->slc = Field(bits, 17, 17);
  inst->sc1 = Field(bits, 25, 25);
  bool acc = Field(bits, 55, 55);
  // Bit 13 is LDS on gfx90a, and on gfx942 says that a scratch access has a VGPR address.
  if (c->isa == Isa::kCdna2) {
    inst->lds = Field(bits, 13, 13);
    if (inst->lds && acc) return c->Refuse("data that goes to LDS takes no AGPR");
  } else {
    inst->sve = Field(bits, 13, 13);
  }
  inst->offset =
      enc == Encoding::FLAT ? static_cast<int32_t>(Field(bits, 11, 0)) : SignExtend(Field(bits, 12, 0), 13);
  inst->n_src = 3;
  uint32_t saddr = enc == Encoding::FLAT ? kSaddrOff : Field(bits, 54, 48);
  bool with_saddr = saddr != kSaddrOff;
  if (row.dst[0].present() && !inst->lds && (!atomic || inst->glc)) {
    inst->n_dst = 1;
    Slot slot = row.dst[0];
    if (Contains(name, "_ATOMIC_CMPSWAP")) {
      slot.dwords = row.src[1].dwords / 2;
      slot.bits = row.src[1].bits / 2;
    }
    US_RETURN_IF_ERROR(ReadCdnaVgpr(c, Field(bits, 63, 56), slot, acc, &inst->dst[0]));
  }
  // gfx90a's scratch has either a VGPR or an SGPR address, gfx942's any of both.
  bool with_vaddr = row.src[0].present();
  if (enc == Encoding::SCRATCH) with_vaddr = c->isa == Isa::kCdna2 ? !with_saddr : inst->sve;
  if (with_vaddr) {
    Slot slot = row.src[0];
    slot.dwords = with_saddr || enc == Encoding::SCRATCH ? 1 : 2;
    slot.bits = static_cast<uint16_t>(32 * slot.dwords);
    US_RETURN_IF_ERROR(ReadCdnaVgpr(c, Field(bits, 39, 32), slot, false, &inst->src[0]));
  }
  if (row.src[1].present()) {
    US_RETURN_IF_ERROR(ReadCdnaVgpr(c, Field(bits, 47, 40), row.src[1], acc, &inst->src[1]));
  }
  if (!with_saddr) return absl::OkStatus();
  bool scratch = enc == Encoding::SCRATCH;
  if (!scratch && saddr >= kCdnaM0) {
    return c->Refuse(absl::StrCat("saddr = operand ", saddr, " is not a register for addresses"));
  }
  return ReadCdnaSgpr(c, saddr, ScalarSlot(scratch ? DataType::B32 : DataType::B64, scratch ? 1 : 2),
                      &inst->src[2]);
}

absl::Status DecodeCdnaBuffer(Cursor* c, Inst* inst) {
  bool typed = Field(c->w, 31, 26) == 0x3a;
  US_RETURN_IF_ERROR(typed ? FindRow(c, Encoding::MTBUF, Field(c->w, 18, 15))
                           : FindRow(c, Encoding::MUBUF, Field(c->w, 24, 18)));
  const Row& row = *c->row;
  const char* name = OpcodeName(row.op);
  uint64_t operands = BitMask(31, 26) | (typed ? BitMask(25, 15) : BitMask(24, 18));
  if (row.src[1].present()) operands |= BitMask(52, 48) | BitMask(63, 56);
  if (row.src[0].present()) operands |= BitMask(39, 32);
  if (row.src[3].present()) operands |= BitMask(47, 40);
  uint64_t bits;
  US_RETURN_IF_ERROR(TakeBits(c, inst, operands, &bits));
  inst->offset = static_cast<int32_t>(Field(bits, 11, 0));
  inst->offen = Field(bits, 12, 12);
  inst->idxen = Field(bits, 13, 13);
  inst->glc = Field(bits, 14, 14);
  if (typed) {
    inst->format = static_cast<uint8_t>(Field(bits, 25, 19));  // nfmt:dfmt
    inst->sc1 = Field(bits, 53, 53);
    inst->slc = Field(bits, 54, 54);
  } else {
    inst->sc1 = Field(bits, 15, 15);
    inst->lds = Field(bits, 16, 16);
    inst->slc = Field(bits, 17, 17);
  }
  bool acc = Field(bits, 55, 55);
  if (inst->lds && acc) return c->Refuse("data that goes to LDS takes no AGPR");
  if (row.n_src == 0) return absl::OkStatus();  // cache write-backs and invalidations
  inst->n_src = 4;
  bool atomic = Contains(name, "_ATOMIC_"), store = Contains(name, "_STORE_");
  if (row.src[3].present() && !inst->lds) {
    Operand vdata;
    US_RETURN_IF_ERROR(ReadCdnaVgpr(c, Field(bits, 47, 40), row.src[3], acc, &vdata));
    if (store || atomic) inst->src[3] = vdata;
    if ((!store && !atomic) || (atomic && inst->glc)) {
      inst->dst[0] = vdata;
      inst->n_dst = 1;
      if (atomic) HalveIfCmpswap(name, &inst->dst[0]);
    }
  }
  if (inst->offen || inst->idxen) {
    Slot slot = row.src[0];
    slot.dwords = inst->offen && inst->idxen ? 2 : 1;
    slot.bits = static_cast<uint16_t>(slot.dwords * 32);
    US_RETURN_IF_ERROR(ReadCdnaVgpr(c, Field(bits, 39, 32), slot, false, &inst->src[0]));
  }
  US_RETURN_IF_ERROR(ReadCdnaSgpr(c, Field(bits, 52, 48) << 2, row.src[1], &inst->src[1]));
  return ReadCdnaSource(c, Field(bits, 63, 56), row.src[2], 2, false, inst);
}

absl::Status DecodeCdnaImage(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::MIMG, Field(c->w, 24, 18)));
  const Row& row = *c->row;
  const char* name = OpcodeName(row.op);
  uint64_t operands = BitMask(31, 26) | BitMask(24, 18) | BitMask(52, 32);
  if (row.src[2].present()) operands |= BitMask(57, 53);
  uint64_t bits;
  US_RETURN_IF_ERROR(TakeBits(c, inst, operands, &bits));
  inst->sc1 = Field(bits, 7, 7);
  inst->dmask = static_cast<uint8_t>(Field(bits, 11, 8));
  inst->unorm = Field(bits, 12, 12);
  inst->glc = Field(bits, 13, 13);
  inst->dim = static_cast<uint8_t>(Field(bits, 14, 14));  // DA: the image is an array
  inst->a16 = Field(bits, 15, 15);
  bool acc = Field(bits, 16, 16);
  inst->lwe = Field(bits, 17, 17);
  inst->slc = Field(bits, 25, 25);
  inst->d16 = Field(bits, 63, 63);
  inst->n_src = 4;
  bool atomic = Contains(name, "_ATOMIC_"), store = Contains(name, "_STORE"),
       cmpswap = Contains(name, "CMPSWAP");
  Slot data = row.src[3];
  int components = __builtin_popcount(inst->dmask);
  if (atomic) {
    int wanted = cmpswap ? 2 : 1;
    if (components != wanted && components != 2 * wanted) {
      return c->Refuse(absl::StrCat("dmask ", int{inst->dmask}, " does not fit the data of an atomic"));
    }
  }
  // Packed halves of D16 take one register for two components.
  data.dwords = static_cast<uint8_t>(components == 0 ? 1 : inst->d16 ? (components + 1) / 2 : components);
  data.bits = static_cast<uint16_t>(32 * data.dwords);
  Operand vdata;
  US_RETURN_IF_ERROR(ReadCdnaVgpr(c, Field(bits, 47, 40), data, acc, &vdata));
  if (store || atomic) inst->src[3] = vdata;
  if ((!store && !atomic) || (atomic && inst->glc)) {
    inst->dst[0] = vdata;
    inst->n_dst = 1;
    if (atomic) HalveIfCmpswap(name, &inst->dst[0]);
  }
  Slot address = row.src[0];
  address.dwords = 1;
  address.bits = 32;
  US_RETURN_IF_ERROR(ReadCdnaVgpr(c, Field(bits, 39, 32), address, false, &inst->src[0]));
  US_RETURN_IF_ERROR(ReadCdnaSgpr(c, Field(bits, 52, 48) << 2, row.src[1], &inst->src[1]));
  if (!row.src[2].present()) return absl::OkStatus();
  return ReadCdnaSgpr(c, Field(bits, 57, 53) << 2, row.src[2], &inst->src[2]);
}

}  // namespace understudy::emu::amd::decode
