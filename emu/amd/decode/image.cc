// SPDX-License-Identifier: Apache-2.0
// MIMG, and RDNA4's VIMAGE and VSAMPLE: how many address and data registers an image instruction reads
// follows from its name, dim, dmask, a16 and d16 (ISA manual, "Image instructions: VGPR usage").
#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "emu/amd/decode/cursor.h"
#include "src/base/status.h"

namespace understudy::emu::amd::decode {
namespace {

// Coordinates and gradients by dim: 1D 2D 3D CUBE 1D_ARRAY 2D_ARRAY 2D_MSAA 2D_MSAA_ARRAY.
struct Dim {
  uint8_t coords, gradients;
};
constexpr Dim kDims[8] = {{1, 2}, {2, 4}, {3, 6}, {3, 4}, {2, 2}, {3, 4}, {3, 4}, {4, 4}};

// What the name after IMAGE_ says about the address.
struct Name {
  bool sample, gather, atomic, store, bvh, resinfo, msaa, packed;
  bool d16;  // data may be 16-bit
  bool mip, offset, compare, bias, gradients, g16, lod, clamp;
};

Name Parse(const char* mnemonic) {
  Name n = {};
  const char* part = mnemonic;
  while (part != nullptr) {
    const char* end = std::strchr(part, '_');
    size_t length = end != nullptr ? static_cast<size_t>(end - part) : std::strlen(part);
    auto is = [&](const char* text) {
      return std::strlen(text) == length && std::strncmp(part, text, length) == 0;
    };
    n.gather |= is("GATHER4") || is("GATHER4H");
    n.sample |= is("SAMPLE") || is("GATHER4") || is("GATHER4H") || is("LOD");
    n.atomic |= is("ATOMIC");
    n.store |= is("STORE");
    n.bvh |= is("BVH") || is("BVH64") || is("BVH8");
    n.resinfo |= is("RESINFO");
    n.msaa |= is("MSAA");
    n.packed |= is("PCK");
    n.d16 |= is("SAMPLE") || is("LOAD") || n.store || n.gather;
    n.mip |= is("MIP");
    n.offset |= is("O");
    n.compare |= is("C");
    n.bias |= is("B");
    n.gradients |= is("D");
    n.g16 |= is("G16");
    n.lod |= is("L");
    n.clamp |= is("CL");
    part = end != nullptr ? end + 1 : nullptr;
  }
  n.d16 &= !n.packed;
  return n;
}

int AddressDwords(const Name& name, const Inst& inst) {
  const Dim& dim = kDims[inst.dim];
  int words = name.offset + name.compare + name.bias;
  int components = (name.resinfo ? 0 : dim.coords) + (name.lod || name.clamp || name.mip || name.resinfo);
  words += inst.a16 ? (components + 1) / 2 : components;
  if (name.gradients) {
    // 16-bit gradients are packed by direction: an odd count per direction leaves half a register free.
    words += name.g16 ? (dim.gradients / 2 + 1) / 2 * 2 : dim.gradients;
  }
  return words;
}

// The longest address of any form of the instruction. Multi-sample images are not sampled and have no levels.
int MaxAddressDwords(const Name& name) {
  Inst inst;
  int words = 0;
  bool multisample = name.msaa || (!name.sample && !name.mip);
  for (uint8_t dim = 0; dim < (multisample ? 8 : 6); ++dim) {
    inst.dim = dim;
    words = std::max(words, AddressDwords(name, inst));
  }
  return words;
}

int DataDwords(const Name& name, const Inst& inst) {
  if (name.bvh) return 4;
  // An empty mask still names a register.
  int n = name.gather || name.msaa ? 4 : std::max(1, std::popcount(inst.dmask));
  if (name.atomic) return n;
  if (inst.d16) n = (n + 1) / 2;
  return n + (inst.tfe && !name.store ? 1 : 0);
}

}  // namespace

namespace {

// The address registers: one tuple, or several where each number has a field of its own.
struct AddressFields {
  uint8_t reg[5];
  int fields;  // how many the layout has; the last holds what is left as a tuple
};

// BVH: node pointer, ray extent, origin, direction, inverse direction; a16 packs the two directions. RDNA4's
// wider trees: node base (64 bits), extent and mask, origin, direction, and the offsets of one or two nodes.
int BvhWords(const Inst& inst, Opcode op) {
  if (op == Opcode::IMAGE_BVH8_INTERSECT_RAY) return 11;
  if (op == Opcode::IMAGE_BVH_DUAL_INTERSECT_RAY) return 12;
  return (inst.a16 ? 8 : 11) + (op == Opcode::IMAGE_BVH64_INTERSECT_RAY);
}

// How many registers field i holds while `left` are left.
int FieldWords(Opcode op, bool bvh, int i, int fields, int left) {
  if (!bvh) return i == fields - 1 ? left : 1;
  bool wide = op == Opcode::IMAGE_BVH8_INTERSECT_RAY || op == Opcode::IMAGE_BVH_DUAL_INTERSECT_RAY;
  if (i == 0) return wide || op == Opcode::IMAGE_BVH64_INTERSECT_RAY ? 2 : 1;
  if (i == 1) return wide ? 2 : 1;
  return left < 3 ? left : 3;
}

absl::Status ReadAddress(Cursor* c, const AddressFields& address, int words, bool bvh, Inst* inst) {
  for (int i = 0, left = words; i < address.fields && left > 0; ++i) {
    Slot part = c->row->src[0];
    int take = address.fields == 1 ? left : FieldWords(c->row->op, bvh, i, address.fields, left);
    part.dwords = static_cast<uint8_t>(take);
    part.bits = part.dwords * 32;
    Operand operand;
    US_RETURN_IF_ERROR(ReadVgpr(c, address.reg[i], part, 0, &operand, inst));
    if (i == 0) {
      inst->src[0] = operand;
    } else {
      inst->nsa_vaddr[i - 1] = static_cast<uint8_t>(operand.reg);
      inst->nsa_dwords[i - 1] = static_cast<uint8_t>(take);
      inst->n_nsa = static_cast<uint8_t>(i);
    }
    left -= take;
  }
  return absl::OkStatus();
}

absl::Status ReadData(Cursor* c, const Name& name, uint32_t field, Inst* inst) {
  Slot data = c->row->src[3];
  // The wide trees give ten dwords (row); everything else counts by name and dmask.
  if (data.dwords <= 4) data.dwords = static_cast<uint8_t>(DataDwords(name, *inst));
  data.bits = data.dwords * 32;
  Operand vdata;
  US_RETURN_IF_ERROR(ReadVgpr(c, field, data, 3, &vdata, inst));
  if (name.store || name.atomic) inst->src[3] = vdata;
  if (!name.store && (!name.atomic || inst->glc)) {
    inst->dst[0] = vdata;
    inst->n_dst = 1;
  }
  return absl::OkStatus();
}

absl::Status ReadResource(Cursor* c, uint32_t field, Inst* inst) {
  Slot resource = c->row->src[1];
  if (inst->r128) resource.dwords = 4, resource.bits = 128;
  return ReadSgpr(c, field, resource, &inst->src[1]);
}

}  // namespace

absl::Status DecodeImage(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::MIMG, Field(c->w, 25, 18)));
  US_RETURN_IF_ERROR(SecondWord(c, inst));
  const Row& row = *c->row;
  inst->nsa = Field(c->w, 0, 0);
  inst->dim = static_cast<uint8_t>(Field(c->w, 4, 2));
  inst->unorm = Field(c->w, 7, 7);
  inst->dmask = static_cast<uint8_t>(Field(c->w, 11, 8));
  inst->slc = Field(c->w, 12, 12);
  inst->dlc = Field(c->w, 13, 13);
  inst->glc = Field(c->w, 14, 14);
  inst->r128 = Field(c->w, 15, 15);
  inst->a16 = Field(c->w, 16, 16);
  inst->d16 = Field(c->w, 17, 17);
  inst->tfe = Field(c->w, 53, 53);
  inst->lwe = Field(c->w, 54, 54);
  Name name = Parse(OpcodeName(row.op));
  inst->n_src = 4;

  if (name.bvh) {
    US_RETURN_IF_ERROR(c->Zero(4, 2));    // dim
    US_RETURN_IF_ERROR(c->Zero(14, 12));  // cache bits
    US_RETURN_IF_ERROR(c->Zero(54, 53));  // tfe, lwe
    if (inst->dmask != 0xf || !inst->unorm || !inst->r128)
      return c->Refuse("needs dmask 0xf, unorm and r128");
  }
  int words = name.bvh ? BvhWords(*inst, row.op) : AddressDwords(name, *inst);
  AddressFields address = {{static_cast<uint8_t>(Field(c->w, 39, 32))}, 1};
  if (inst->nsa) {
    US_RETURN_IF_ERROR(c->Need(12));
    uint32_t extra = c->Word(8);
    inst->size = 12;
    address.fields = 5;
    for (int i = 0; i < 4; ++i) address.reg[i + 1] = static_cast<uint8_t>(Field(extra, 8 * i + 7, 8 * i));
  }
  US_RETURN_IF_ERROR(ReadAddress(c, address, words, name.bvh, inst));
  US_RETURN_IF_ERROR(ReadData(c, name, Field(c->w, 47, 40), inst));
  US_RETURN_IF_ERROR(ReadResource(c, Field(c->w, 52, 48) << 2, inst));
  if (!row.src[2].present()) US_RETURN_IF_ERROR(c->Zero(62, 58));
  if (!name.d16) US_RETURN_IF_ERROR(c->Zero(17, 17));
  if (row.src[2].present()) {
    US_RETURN_IF_ERROR(ReadSgpr(c, Field(c->w, 62, 58) << 2, row.src[2], &inst->src[2]));
  }
  return absl::OkStatus();
}

absl::Status DecodeVimage(Cursor* c, Inst* inst) {
  bool sample = Field(c->w, 31, 26) == 0x39;
  US_RETURN_IF_ERROR(FindRow(c, sample ? Encoding::VSAMPLE : Encoding::VIMAGE, Field(c->w, 21, 14)));
  US_RETURN_IF_ERROR(SecondWord(c, inst));
  US_RETURN_IF_ERROR(c->Need(12));
  inst->size = 12;
  uint32_t third = c->Word(8);
  const Row& row = *c->row;
  Name name = Parse(OpcodeName(row.op));
  inst->n_src = 4;
  inst->dim = static_cast<uint8_t>(Field(c->w, 2, 0));
  inst->r128 = Field(c->w, 4, 4);
  inst->d16 = Field(c->w, 5, 5);
  inst->a16 = Field(c->w, 6, 6);
  inst->nv = Field(c->w, 7, 7);
  inst->dmask = static_cast<uint8_t>(Field(c->w, 25, 22));
  inst->scope = static_cast<uint8_t>(Field(c->w, 51, 50));
  inst->th = static_cast<uint8_t>(Field(c->w, 54, 52));
  if (name.atomic) inst->glc = inst->th & 1;
  inst->tfe = sample ? Field(c->w, 3, 3) : Field(c->w, 55, 55);
  if (sample) {
    inst->unorm = Field(c->w, 13, 13);
    inst->lwe = Field(c->w, 40, 40);
  }
  if (name.bvh) {
    bool wide = row.op == Opcode::IMAGE_BVH8_INTERSECT_RAY || row.op == Opcode::IMAGE_BVH_DUAL_INTERSECT_RAY;
    US_RETURN_IF_ERROR(c->Zero(2, 0));             // dim
    US_RETURN_IF_ERROR(c->Zero(7, wide ? 6 : 7));  // a16, nv
    US_RETURN_IF_ERROR(c->Zero(55, 50));           // scope, th, tfe
    if (inst->dmask != 0xf || !inst->r128) return c->Refuse("needs dmask 0xf and r128");
  }
  if (!name.d16) US_RETURN_IF_ERROR(c->Zero(5, 5));
  AddressFields address = {{}, sample ? 4 : 5};
  for (int i = 0; i < 4; ++i) address.reg[i] = static_cast<uint8_t>(Field(third, 8 * i + 7, 8 * i));
  if (!sample) address.reg[4] = static_cast<uint8_t>(Field(c->w, 63, 56));
  int words = name.bvh ? BvhWords(*inst, row.op) : AddressDwords(name, *inst);
  US_RETURN_IF_ERROR(ReadAddress(c, address, words, name.bvh, inst));
  inst->nsa = inst->n_nsa > 0;
  // The last address field is free only for instructions that need it in some form.
  int last = address.fields - 1;
  if (address.reg[last] != 0 && (name.bvh ? inst->n_nsa < last : MaxAddressDwords(name) <= last)) {
    return c->Refuse(
        absl::StrCat("vaddr", last, " = ", int{address.reg[last]}, " has no meaning here and must be zero"));
  }
  if (sample && !row.src[2].present()) US_RETURN_IF_ERROR(c->Zero(63, 55));  // samp
  US_RETURN_IF_ERROR(ReadData(c, name, Field(c->w, 39, 32), inst));
  US_RETURN_IF_ERROR(ReadResource(c, Field(c->w, 49, 41), inst));
  if (row.src[2].present()) return ReadSgpr(c, Field(c->w, 63, 55), row.src[2], &inst->src[2]);
  return absl::OkStatus();
}

}  // namespace understudy::emu::amd::decode
