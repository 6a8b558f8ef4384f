// SPDX-License-Identifier: Apache-2.0
// MIMG: how many address and data registers an image instruction reads follows from its name, dim, dmask, a16
// and d16 (ISA manual, "Image instructions: VGPR usage").
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
  bool gather, atomic, store, bvh, resinfo, msaa, packed;
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
    n.atomic |= is("ATOMIC");
    n.store |= is("STORE");
    n.bvh |= is("BVH") || is("BVH64");
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

int DataDwords(const Name& name, const Inst& inst) {
  if (name.bvh) return 4;
  // An empty mask still names a register.
  int n = name.gather || name.msaa ? 4 : std::max(1, std::popcount(inst.dmask));
  if (name.atomic) return n;
  if (inst.d16) n = (n + 1) / 2;
  return n + (inst.tfe && !name.store ? 1 : 0);
}

}  // namespace

absl::Status DecodeImage(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(FindRow(c, Encoding::MIMG, Field(c->w, 25, 18)));
  US_RETURN_IF_ERROR(c->Need(8));
  inst->size = 8;
  c->w |= static_cast<uint64_t>(c->Word(4)) << 32;
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
  // BVH: node pointer, ray extent, origin, direction, inverse direction; a16 packs the two directions.
  int words = name.bvh ? (inst->a16 ? 8 : 11) + (row.op == Opcode::IMAGE_BVH64_INTERSECT_RAY)
                       : AddressDwords(name, *inst);
  Slot address = row.src[0];
  if (inst->nsa) {
    US_RETURN_IF_ERROR(c->Need(12));
    uint32_t extra = c->Word(8);
    inst->size = 12;
    // Each address register apart; a fifth holds what is left as a tuple. BVH groups its vectors by three.
    address.dwords = static_cast<uint8_t>(row.op == Opcode::IMAGE_BVH64_INTERSECT_RAY ? 2 : 1);
    int left = words - address.dwords;
    for (int i = 0; i < 4 && left > 0; ++i) {
      int take = name.bvh && i > 0 ? 3 : i == 3 ? left : 1;
      Slot part = address;
      part.dwords = static_cast<uint8_t>(take);
      Operand operand;
      US_RETURN_IF_ERROR(ReadVgpr(c, Field(extra, 8 * i + 7, 8 * i), part, 0, &operand, inst));
      inst->nsa_vaddr[i] = static_cast<uint8_t>(operand.reg);
      inst->nsa_dwords[i] = static_cast<uint8_t>(take);
      inst->n_nsa = static_cast<uint8_t>(i + 1);
      left -= take;
    }
  } else {
    address.dwords = static_cast<uint8_t>(words);
  }
  address.bits = address.dwords * 32;
  US_RETURN_IF_ERROR(ReadVgpr(c, Field(c->w, 39, 32), address, 0, &inst->src[0], inst));

  Slot data = row.src[3];
  data.dwords = static_cast<uint8_t>(DataDwords(name, *inst));
  data.bits = data.dwords * 32;
  Operand vdata;
  US_RETURN_IF_ERROR(ReadVgpr(c, Field(c->w, 47, 40), data, 3, &vdata, inst));
  if (name.store || name.atomic) inst->src[3] = vdata;
  if (!name.store && (!name.atomic || inst->glc)) {
    inst->dst[0] = vdata;
    inst->n_dst = 1;
  }

  Slot resource = row.src[1];
  if (inst->r128) resource.dwords = 4, resource.bits = 128;
  US_RETURN_IF_ERROR(ReadSgpr(c, Field(c->w, 52, 48) << 2, resource, &inst->src[1]));
  if (!row.src[2].present()) US_RETURN_IF_ERROR(c->Zero(62, 58));
  if (!name.d16) US_RETURN_IF_ERROR(c->Zero(17, 17));
  if (row.src[2].present()) {
    US_RETURN_IF_ERROR(ReadSgpr(c, Field(c->w, 62, 58) << 2, row.src[2], &inst->src[2]));
  }
  return absl::OkStatus();
}

}  // namespace understudy::emu::amd::decode
