// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "emu/amd/decode/cursor.h"
#include "src/base/status.h"

namespace understudy::emu::amd {
namespace decode {

std::string Cursor::Where() const {
  std::string out = IsaName(isa);
  if (enc != Encoding::kCount) absl::StrAppend(&out, " ", EncodingName(enc), " opcode ", op);
  if (row != nullptr) absl::StrAppend(&out, " (", OpcodeName(row->op), ")");
  absl::StrAppend(&out, ", words");
  for (size_t at = 0; at + 4 <= n && at < 12; at += 4) absl::StrAppendFormat(&out, " %08x", Word(at));
  return out;
}

absl::Status Cursor::TooShort(size_t need) const {
  return absl::OutOfRangeError(
      absl::StrCat(Where(), ": the instruction needs ", need, " bytes, ", n, " are there"));
}

absl::Status Cursor::Zero(int hi, int lo) const {
  if (Field(w, hi, lo) == 0) return absl::OkStatus();
  return Refuse(absl::StrCat("bits ", hi, ":", lo, " have no meaning here and must be zero"));
}

absl::Status SecondWord(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(c->Need(8));
  inst->size = 8;
  c->w |= static_cast<uint64_t>(c->Word(4)) << 32;
  return absl::OkStatus();
}

absl::Status FindRow(Cursor* c, Encoding enc, uint32_t op) {
  c->enc = enc;
  c->op = op;
  c->row = c->table->Find(enc, op);
  if (c->row == nullptr) return c->Refuse("no such opcode");
  if (c->row->rdna35 && c->isa == Isa::kRdna3) return c->Refuse("exists from gfx1150 (rdna3.5) on");
  return absl::OkStatus();
}

namespace {

using Decoder = absl::Status (*)(Cursor*, Inst*);

// By the top six bits of the first word (ISA manual, "Instruction formats"): the encodings differ in the
// length of their fixed prefix, and each prefix of up to six bits owns the entries it covers.
struct TopLevel {
  Decoder decoder[64] = {};
  constexpr explicit TopLevel(bool rdna4) {
    for (int i = 0; i < 32; ++i) decoder[i] = DecodeVop12c;   // 0: VOP2, with VOP1 and VOPC at its end
    for (int i = 32; i < 48; ++i) decoder[i] = DecodeScalar;  // 10: SOP2, SOPK, SOP1, SOPC, SOPP
    decoder[0x32] = DecodeVopd;
    decoder[0x33] = nullptr;  // VOP3P, VINTERP, LDSDIR: by two more bits
    decoder[0x35] = DecodeVop3;
    decoder[0x36] = DecodeDs;
    decoder[0x3d] = DecodeSmem;
    decoder[0x3e] = DecodeExp;
    if (rdna4) {
      decoder[0x31] = DecodeVbuffer;
      decoder[0x34] = DecodeVimage;
      decoder[0x39] = DecodeVimage;
      decoder[0x3b] = DecodeVflat;
    } else {
      decoder[0x37] = DecodeFlat;
      decoder[0x38] = DecodeBuffer;
      decoder[0x3a] = DecodeBuffer;
      decoder[0x3c] = DecodeImage;
    }
  }
};
constexpr TopLevel kRdna3Top(false), kRdna4Top(true);

absl::Status DecodeRdna(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(c->Need(4));
  uint32_t word = c->Word(0);
  c->w = word;
  inst->size = 4;
  Decoder decoder = (c->isa == Isa::kRdna4 ? kRdna4Top : kRdna3Top).decoder[word >> 26];
  if (word >> 26 == 0x33) {
    constexpr Decoder kByTwoBits[] = {DecodeVop3p, DecodeVinterp, DecodeLdsdir, nullptr};
    decoder = kByTwoBits[Field(word, 25, 24)];
  }
  if (decoder == nullptr) return c->Refuse(absl::StrFormat("no encoding has bits 31:26 = 0x%x", word >> 26));
  return decoder(c, inst);
}

}  // namespace
}  // namespace decode

absl::Status DecodeInto(Isa isa, const uint8_t* bytes, size_t n, Inst* out) {
  *out = Inst();
  out->isa = isa;
  decode::Cursor cursor{bytes, n, isa};
  cursor.table = &decode::TableOf(isa);
  US_RETURN_IF_ERROR(IsCdna(isa) ? decode::DecodeCdna(&cursor, out) : decode::DecodeRdna(&cursor, out));
  const decode::Row& row = *cursor.row;
  out->op = row.op;
  out->enc = row.enc;
  out->has_e32_suffix = row.e32_suffix;
  out->has_e64_suffix = row.e64_suffix;
  return absl::OkStatus();
}

absl::StatusOr<Inst> Decode(Isa isa, const uint8_t* bytes, size_t n) {
  absl::StatusOr<Inst> result = Inst();
  absl::Status status = DecodeInto(isa, bytes, n, &*result);
  if (!status.ok()) return status;
  return result;
}

}  // namespace understudy::emu::amd
