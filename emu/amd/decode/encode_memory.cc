// SPDX-License-Identifier: Apache-2.0
// SMEM, DS, FLAT, buffers and images of RDNA3 and RDNA4.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "emu/amd/decode/encoder.h"

namespace understudy::emu::amd::decode {
namespace {

// What a load or a returning atomic writes, else what a store reads: one field for both.
const Operand& Data(const Inst& inst) {
  return inst.src[3].kind != Operand::Kind::kNone ? inst.src[3] : inst.dst[0];
}

// A field that counts SGPRs by `step`.
void PutSgprStep(Encoder* e, int hi, int lo, const Operand& o, uint32_t step, const char* what) {
  Operand scaled = o;
  if (o.kind == Operand::Kind::kSgpr && o.reg % step != 0) {
    e->Refuse(absl::StrCat(what, " = s", o.reg, " must be a multiple of ", step));
  }
  scaled.reg /= step;
  e->PutSgpr(hi, lo, scaled, what);
}

void CacheBits(Encoder* e, int slc, int dlc, int glc) {
  e->Flag(slc, e->inst.slc);
  e->Flag(dlc, e->inst.dlc);
  e->Flag(glc, e->inst.glc);
}

void ThreeWords(Encoder* e) {
  e->n_words = 3;
  e->Put(21, 14, e->row.number, "");
  e->Flag(7, e->inst.nv);
  e->Put(51, 50, e->inst.scope, "scope");
  e->Put(54, 52, e->inst.th, "th");
}

}  // namespace

void EncodeSmem(Encoder* e) {
  const Inst& inst = e->inst;
  const Row& row = e->row;
  e->n_words = 2;
  e->Put(31, 26, 0x3d, "");
  if (e->rdna4()) {
    e->Put(18, 13, row.number, "");
  } else {
    e->Put(25, 18, row.number, "");
  }
  if (row.n_src == 0) return;  // cache invalidations
  bool number = row.dst[0].kind == OperandKind::SIMM8 || row.dst[0].kind == OperandKind::SIMM5;
  if (number) {
    e->Put(12, 6, static_cast<uint32_t>(inst.simm), "the number in place of sdata");
  } else {
    e->PutSgpr(12, 6, inst.dst[0], "sdata");
  }
  PutSgprStep(e, 5, 0, inst.src[0], 2, "sbase");
  e->PutSgpr(63, 57, inst.src[1], "soffset", kRegNull);
  if (e->rdna4()) {
    e->Flag(20, inst.nv);
    e->Put(22, 21, inst.scope, "scope");
    e->Put(24, 23, inst.th, "th");
    e->PutSigned(55, 32, inst.offset, "offset");
  } else {
    e->Flag(14, inst.glc);
    e->Flag(13, inst.dlc);
    e->PutSigned(52, 32, inst.offset, "offset");
  }
}

void EncodeDs(Encoder* e) {
  const Inst& inst = e->inst;
  e->n_words = 2;
  e->Put(31, 26, 0x36, "");
  e->Put(25, 18, e->row.number, "");
  e->Flag(17, inst.gds);
  e->Put(15, 0, static_cast<uint32_t>(inst.offset), "offset");
  e->PutVgpr(39, 32, inst.src[0], "addr");
  e->PutVgpr(47, 40, inst.src[1], "data0");
  e->PutVgpr(55, 48, inst.src[2], "data1");
  e->PutVgpr(63, 56, inst.dst[0], "vdst");
}

void EncodeFlat(Encoder* e) {
  const Inst& inst = e->inst;
  e->n_words = 2;
  e->Put(31, 26, 0x37, "");
  e->Put(24, 18, e->row.number, "");
  e->Put(17, 16, inst.enc == Encoding::FLAT ? 0 : inst.enc == Encoding::SCRATCH ? 1 : 2, "");
  CacheBits(e, 15, 13, 14);
  e->Flag(55, inst.enc == Encoding::SCRATCH && inst.src[0].kind != Operand::Kind::kNone);
  e->PutSigned(12, 0, inst.offset, "offset");
  e->PutVgpr(39, 32, inst.src[0], "addr");
  e->PutVgpr(47, 40, inst.src[1], "data");
  e->PutSgpr(54, 48, inst.src[2], "saddr", kRegNull);
  e->PutVgpr(63, 56, inst.dst[0], "vdst");
}

void EncodeBuffer(Encoder* e) {
  const Inst& inst = e->inst;
  e->n_words = 2;
  if (inst.enc == Encoding::MTBUF) {
    e->Put(31, 26, 0x3a, "");
    e->Put(18, 15, e->row.number, "");
    e->Put(25, 19, inst.format, "format");
  } else {
    e->Put(31, 26, 0x38, "");
    e->Put(25, 18, e->row.number, "");
  }
  if (e->row.n_src == 0) return;
  e->Put(11, 0, static_cast<uint32_t>(inst.offset), "offset");
  CacheBits(e, 12, 13, 14);
  e->Flag(53, inst.tfe);
  e->Flag(54, inst.offen);
  e->Flag(55, inst.idxen);
  e->PutVgpr(39, 32, inst.src[0], "vaddr");
  e->PutVgpr(47, 40, Data(inst), "vdata");
  PutSgprStep(e, 52, 48, inst.src[1], 4, "srsrc");
  e->PutSource(63, 56, inst.src[2], "soffset");
  e->Finish(false);
}

void EncodeImage(Encoder* e) {
  const Inst& inst = e->inst;
  // A list of one address is written without the third word.
  bool nsa = inst.n_nsa > 0;
  e->n_words = nsa ? 3 : 2;
  e->Put(31, 26, 0x3c, "");
  e->Put(25, 18, e->row.number, "");
  e->Flag(0, nsa);
  e->Put(4, 2, inst.dim, "dim");
  e->Flag(7, inst.unorm);
  e->Put(11, 8, inst.dmask, "dmask");
  CacheBits(e, 12, 13, 14);
  e->Flag(15, inst.r128);
  e->Flag(16, inst.a16);
  e->Flag(17, inst.d16);
  e->Flag(53, inst.tfe);
  e->Flag(54, inst.lwe);
  e->PutVgpr(39, 32, inst.src[0], "vaddr");
  e->PutVgpr(47, 40, Data(inst), "vdata");
  PutSgprStep(e, 52, 48, inst.src[1], 4, "srsrc");
  PutSgprStep(e, 62, 58, inst.src[2], 4, "ssamp");
  for (int i = 0; i < inst.n_nsa; ++i)
    e->Put(71 + 8 * i, 64 + 8 * i, inst.nsa_vaddr[i], "an address register");
}

void EncodeVflat(Encoder* e) {
  const Inst& inst = e->inst;
  ThreeWords(e);
  e->Put(31, 24, inst.enc == Encoding::VFLAT ? 0xec : inst.enc == Encoding::VSCRATCH ? 0xed : 0xee, "");
  e->Flag(49, inst.enc == Encoding::VSCRATCH && inst.src[0].kind != Operand::Kind::kNone);
  e->PutSgpr(6, 0, inst.src[2], "saddr", kRegNull);
  e->PutVgpr(39, 32, inst.dst[0], "vdst");
  e->PutVgpr(62, 55, inst.src[1], "vsrc");
  e->PutVgpr(71, 64, inst.src[0], "vaddr");
  e->PutSigned(95, 72, inst.offset, "offset");
}

void EncodeVbuffer(Encoder* e) {
  const Inst& inst = e->inst;
  ThreeWords(e);
  e->Put(31, 26, 0x31, "");
  e->PutSgpr(6, 0, inst.src[2], "soffset");
  e->Flag(22, inst.tfe);
  e->PutVgpr(39, 32, Data(inst), "vdata");
  e->PutSgpr(49, 41, inst.src[1], "rsrc");
  // Untyped accesses have format 1, as assemblers write it.
  bool typed = std::strncmp(OpcodeName(inst.op), "TBUFFER_", 8) == 0;
  e->Put(61, 55, typed ? inst.format : 1, "format");
  e->Flag(62, inst.offen);
  e->Flag(63, inst.idxen);
  e->PutVgpr(71, 64, inst.src[0], "vaddr");
  e->PutSigned(95, 72, inst.offset, "offset");
}

void EncodeVimage(Encoder* e) {
  const Inst& inst = e->inst;
  bool sample = inst.enc == Encoding::VSAMPLE;
  ThreeWords(e);
  e->Put(31, 26, sample ? 0x39 : 0x34, "");
  e->Put(2, 0, inst.dim, "dim");
  e->Flag(sample ? 3 : 55, inst.tfe);
  e->Flag(4, inst.r128);
  e->Flag(5, inst.d16);
  e->Flag(6, inst.a16);
  e->Put(25, 22, inst.dmask, "dmask");
  if (sample) {
    e->Flag(13, inst.unorm);
    e->Flag(40, inst.lwe);
    e->PutSgpr(63, 55, inst.src[2], "samp");
  }
  e->PutVgpr(39, 32, Data(inst), "vdata");
  e->PutSgpr(49, 41, inst.src[1], "rsrc");
  e->PutVgpr(71, 64, inst.src[0], "vaddr0");
  for (int i = 0; i < inst.n_nsa; ++i) {
    if (i == 3 && !sample) {
      e->Put(63, 56, inst.nsa_vaddr[i], "vaddr4");
    } else {
      e->Put(79 + 8 * i, 72 + 8 * i, inst.nsa_vaddr[i], "an address register");
    }
  }
}

}  // namespace understudy::emu::amd::decode
