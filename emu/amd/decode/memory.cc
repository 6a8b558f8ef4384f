// SPDX-License-Identifier: Apache-2.0
// DS, FLAT/GLOBAL/SCRATCH and MUBUF/MTBUF, and RDNA4's VFLAT/VGLOBAL/VSCRATCH and VBUFFER.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "emu/amd/decode/cursor.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::emu::amd::decode {
namespace {

bool Contains(const char* name, const char* part) { return std::strstr(name, part) != nullptr; }

enum class Segment { kFlat, kScratch, kGlobal };

enum class GdsUse { kFree, kAlways, kNever };

// Global wave sync, ordered count and the GDS register adds live in GDS alone; the lane permutes and the BVH
// stack touch no memory that could be GDS.
GdsUse GdsUseOf(Opcode op) {
  switch (op) {
    case Opcode::DS_GWS_SEMA_RELEASE_ALL:
    case Opcode::DS_GWS_INIT:
    case Opcode::DS_GWS_SEMA_V:
    case Opcode::DS_GWS_SEMA_BR:
    case Opcode::DS_GWS_SEMA_P:
    case Opcode::DS_GWS_BARRIER:
    case Opcode::DS_ORDERED_COUNT:
    case Opcode::DS_ADD_GS_REG_RTN:
    case Opcode::DS_SUB_GS_REG_RTN:
      return GdsUse::kAlways;
    case Opcode::DS_PERMUTE_B32:
    case Opcode::DS_BPERMUTE_B32:
    case Opcode::DS_BVH_STACK_RTN_B32:
    case Opcode::DS_NOP:
      return GdsUse::kNever;
    default:
      return GdsUse::kFree;
  }
}

}  // namespace

absl::Status DecodeDs(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::DS, Field(c->w, 25, 18)));
  US_RETURN_IF_ERROR(SecondWord(c, inst));
  const Row& row = *c->row;
  inst->offset0 = static_cast<uint8_t>(Field(c->w, 7, 0));
  inst->offset1 = static_cast<uint8_t>(Field(c->w, 15, 8));
  inst->offset = static_cast<int32_t>(Field(c->w, 15, 0));
  inst->gds = Field(c->w, 17, 17);
  if (c->isa == Isa::kRdna4) US_RETURN_IF_ERROR(c->Zero(17, 17));  // GDS ended with RDNA3
  inst->n_src = 3;
  GdsUse use = GdsUseOf(row.op);
  if (use == GdsUse::kAlways && !inst->gds) return c->Refuse("needs the gds bit");
  if (use == GdsUse::kNever && inst->gds) return c->Refuse("takes no gds bit");
  if (row.dst[0].present()) {
    inst->n_dst = 1;
    US_RETURN_IF_ERROR(ReadVgpr(c, Field(c->w, 63, 56), row.dst[0], 3, &inst->dst[0], inst));
  }
  // Fields that the opcode does not use are free, as in the recorded programs that set them.
  for (int i = 0; i < 3; ++i) {
    if (!row.src[i].present()) continue;
    US_RETURN_IF_ERROR(ReadVgpr(c, Field(c->w, 39 + 8 * i, 32 + 8 * i), row.src[i], i, &inst->src[i], inst));
  }
  return absl::OkStatus();
}

namespace {

// The fields of a FLAT-like instruction, wherever its generation has them.
struct FlatFields {
  uint32_t vdst, vaddr, vdata, saddr;
};

absl::Status ReadFlat(Cursor* c, Segment segment, const FlatFields& f, Inst* inst) {
  const Row& row = *c->row;
  inst->n_src = 3;
  if (segment == Segment::kFlat && f.saddr != kRegNull) return c->Refuse("saddr must be null (124)");
  bool with_saddr = f.saddr != kRegNull && row.src[2].present();
  bool atomic = Contains(OpcodeName(row.op), "_ATOMIC_");
  if (row.dst[0].present() && (!atomic || inst->glc)) {
    inst->n_dst = 1;
    Slot slot = row.dst[0];
    // A compare-and-swap returns the old value alone; its data is a pair of values.
    if (atomic && Contains(OpcodeName(row.op), "CMPSWAP")) {
      slot.dwords = row.src[1].dwords / 2;
      slot.bits = row.src[1].bits / 2;
    }
    US_RETURN_IF_ERROR(ReadVgpr(c, f.vdst, slot, 3, &inst->dst[0], inst));
  }
  // Scratch has a VGPR address where SVE is set; with saddr it is a 32-bit offset, everywhere else 64 bits.
  bool scratch = segment == Segment::kScratch;
  bool with_vaddr = row.src[0].present() && (!scratch || inst->sve);
  if (with_vaddr) {
    Slot slot = row.src[0];
    if (with_saddr || scratch) slot.dwords = 1, slot.bits = 32;
    US_RETURN_IF_ERROR(ReadVgpr(c, f.vaddr, slot, 0, &inst->src[0], inst));
  }
  if (row.src[1].present()) US_RETURN_IF_ERROR(ReadVgpr(c, f.vdata, row.src[1], 1, &inst->src[1], inst));
  if (with_saddr) {
    if (scratch ? f.saddr == kRegExecHi : f.saddr >= kRegM0) {
      return c->Refuse(absl::StrCat("saddr = ", f.saddr, " is not a register for addresses"));
    }
    Slot slot;
    slot.kind = OperandKind::SREG;
    slot.type = scratch ? DataType::B32 : DataType::B64;
    slot.bits = scratch ? 32 : 64;
    slot.dwords = slot.bits / 32;
    slot.sgpr_align = slot.dwords;
    US_RETURN_IF_ERROR(ReadSgpr(c, f.saddr, slot, &inst->src[2]));
  }
  return absl::OkStatus();
}

struct BufferFields {
  uint32_t vdata, vaddr, srsrc;
};

// Everything but soffset; the flags of `inst` are in place.
absl::Status ReadBuffer(Cursor* c, const BufferFields& f, Inst* inst) {
  const Row& row = *c->row;
  inst->n_src = 4;
  const char* name = OpcodeName(row.op);
  bool atomic = Contains(name, "_ATOMIC_"), store = Contains(name, "_STORE_");
  if (atomic && inst->tfe) return c->Refuse("an atomic takes no tfe");
  if (row.src[3].present()) {
    Slot slot = row.src[3];
    Operand vdata;
    if (!store && inst->tfe) slot.dwords += 1;  // the fault word follows the data
    US_RETURN_IF_ERROR(ReadVgpr(c, f.vdata, slot, 3, &vdata, inst));
    if (store || atomic) inst->src[3] = vdata;
    if ((!store && !atomic) || (atomic && inst->glc)) {
      inst->dst[0] = vdata;
      inst->n_dst = 1;
      // A compare-and-swap returns the old value alone.
      if (atomic && Contains(name, "CMPSWAP")) inst->dst[0].dwords /= 2, inst->dst[0].bits /= 2;
    }
  }
  if (inst->offen || inst->idxen) {
    Slot slot = row.src[0];
    slot.dwords = inst->offen && inst->idxen ? 2 : 1;
    slot.bits = slot.dwords * 32;
    US_RETURN_IF_ERROR(ReadVgpr(c, f.vaddr, slot, 0, &inst->src[0], inst));
  }
  return ReadSgpr(c, f.srsrc, row.src[1], &inst->src[1]);
}

}  // namespace

absl::Status DecodeFlat(Cursor* c, Inst* inst) {
  constexpr Encoding kSegments[] = {Encoding::FLAT, Encoding::SCRATCH, Encoding::GLOBAL, Encoding::kCount};
  uint32_t segment = Field(c->w, 17, 16);
  if (kSegments[segment] == Encoding::kCount) return c->Refuse("FLAT segment 3 is reserved");
  US_RETURN_IF_ERROR(FindRow(c, kSegments[segment], Field(c->w, 24, 18)));
  US_RETURN_IF_ERROR(SecondWord(c, inst));
  inst->dlc = Field(c->w, 13, 13);
  inst->glc = Field(c->w, 14, 14);
  inst->slc = Field(c->w, 15, 15);
  inst->sve = Field(c->w, 55, 55);
  inst->offset = SignExtend(Field(c->w, 12, 0), 13);
  Segment kind = static_cast<Segment>(segment);
  if (kind == Segment::kFlat && inst->offset < 0) {
    return c->Refuse(absl::StrCat("offset ", inst->offset, " must not be negative"));
  }
  if (kind != Segment::kScratch) US_RETURN_IF_ERROR(c->Zero(55, 55));  // SVE
  return ReadFlat(c, kind,
                  {Field(c->w, 63, 56), Field(c->w, 39, 32), Field(c->w, 47, 40), Field(c->w, 54, 48)}, inst);
}

absl::Status DecodeBuffer(Cursor* c, Inst* inst) {
  bool typed = Field(c->w, 31, 26) == 0x3a;
  if (typed) {
    US_RETURN_IF_ERROR(FindRow(c, Encoding::MTBUF, Field(c->w, 18, 15)));
    inst->format = static_cast<uint8_t>(Field(c->w, 25, 19));
  } else {
    US_RETURN_IF_ERROR(FindRow(c, Encoding::MUBUF, Field(c->w, 25, 18)));
  }
  US_RETURN_IF_ERROR(SecondWord(c, inst));
  if (c->row->n_src == 0) {  // cache invalidations: no other field has a meaning
    US_RETURN_IF_ERROR(c->Zero(14, 13));
    return c->Zero(55, 53);
  }
  inst->offset = static_cast<int32_t>(Field(c->w, 11, 0));
  inst->slc = Field(c->w, 12, 12);
  inst->dlc = Field(c->w, 13, 13);
  inst->glc = Field(c->w, 14, 14);
  inst->tfe = Field(c->w, 53, 53);
  inst->offen = Field(c->w, 54, 54);
  inst->idxen = Field(c->w, 55, 55);
  US_RETURN_IF_ERROR(
      ReadBuffer(c, {Field(c->w, 47, 40), Field(c->w, 39, 32), Field(c->w, 52, 48) << 2}, inst));
  return ReadSource(c, Field(c->w, 63, 56), c->row->src[2], 2, inst);
}

namespace {

// The three words of RDNA4's memory encodings (ISA manual, chapter 15): opcode in bits 21:14, scope and th in
// the second word, the offset (where there is one) in the third.
absl::Status ThreeWords(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(SecondWord(c, inst));
  US_RETURN_IF_ERROR(c->Need(12));
  inst->size = 12;
  inst->nv = Field(c->w, 7, 7);
  inst->scope = static_cast<uint8_t>(Field(c->w, 51, 50));
  inst->th = static_cast<uint8_t>(Field(c->w, 54, 52));
  if (Contains(OpcodeName(c->row->op), "_ATOMIC_")) inst->glc = inst->th & 1;
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeVflat(Cursor* c, Inst* inst) {
  constexpr Encoding kSegments[] = {Encoding::VFLAT, Encoding::VSCRATCH, Encoding::VGLOBAL, Encoding::kCount};
  uint32_t segment = Field(c->w, 25, 24);
  if (kSegments[segment] == Encoding::kCount) return c->Refuse("no encoding has bits 31:24 = 0xef");
  US_RETURN_IF_ERROR(FindRow(c, kSegments[segment], Field(c->w, 21, 14)));
  US_RETURN_IF_ERROR(ThreeWords(c, inst));
  uint32_t third = c->Word(8);
  inst->sve = Field(c->w, 49, 49);
  if (Field(c->w, 48, 48)) return c->Refuse("scale_offset (bit 48) came after RDNA4");
  if (static_cast<Segment>(segment) != Segment::kScratch) US_RETURN_IF_ERROR(c->Zero(49, 49));  // SVE
  if (c->row->n_src == 0) {  // cache write-backs and invalidations
    if (Field(c->w, 6, 0) != kRegNull) return c->Refuse("saddr must be null (124)");
    return absl::OkStatus();
  }
  inst->offset = SignExtend(Field(third, 31, 8), 24);
  return ReadFlat(c, static_cast<Segment>(segment),
                  {Field(c->w, 39, 32), Field(third, 7, 0), Field(c->w, 62, 55), Field(c->w, 6, 0)}, inst);
}

absl::Status DecodeVbuffer(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::VBUFFER, Field(c->w, 21, 14)));
  US_RETURN_IF_ERROR(ThreeWords(c, inst));
  uint32_t third = c->Word(8);
  inst->tfe = Field(c->w, 22, 22);
  inst->format = static_cast<uint8_t>(Field(c->w, 61, 55));
  inst->offen = Field(c->w, 62, 62);
  inst->idxen = Field(c->w, 63, 63);
  inst->offset = SignExtend(Field(third, 31, 8), 24);
  if (inst->offset < 0) return c->Refuse(absl::StrCat("offset ", inst->offset, " must not be negative"));
  US_RETURN_IF_ERROR(ReadBuffer(c, {Field(c->w, 39, 32), Field(third, 7, 0), Field(c->w, 49, 41)}, inst));
  return ReadSgpr(c, Field(c->w, 6, 0), c->row->src[2], &inst->src[2]);
}

}  // namespace understudy::emu::amd::decode
