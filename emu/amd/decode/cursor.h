// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bytes of one instruction while it is decoded: bounded reads, and refusals that say where they stand.
// Internal to emu/amd/decode.

#include <cstdint>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/decode/rows.h"

namespace understudy::emu::amd::decode {

constexpr uint32_t Field(uint64_t word, int hi, int lo) {
  return static_cast<uint32_t>((word >> lo) & ((1ull << (hi - lo + 1)) - 1));
}

struct Cursor {
  const uint8_t* bytes;
  size_t n;
  Isa isa;
  const Table* table = nullptr;
  uint64_t w = 0;            // the first 32 or 64 bits
  const Row* row = nullptr;  // once the opcode is known
  Encoding enc = Encoding::kCount;
  uint32_t op = 0;
  bool reg_half = false;  // bit 7 of a VGPR number selects the half of a 16-bit operand (VOP1, VOP2, VOPC)
  int literal_at = 0;     // byte offset of the literal, once an operand asks for one

  uint32_t Word(size_t byte) const {
    uint32_t v;
    std::memcpy(&v, bytes + byte, 4);
    return v;
  }

  // "rdna3 VOP3 opcode 531 (V_FMA_F32), words d6130004 ...": what every refusal starts with.
  std::string Where() const;
  absl::Status Refuse(const std::string& what) const {
    return absl::InvalidArgumentError(Where() + ": " + what);
  }
  absl::Status TooShort(size_t need) const;

  // Refuses bits hi:lo of w unless they are zero: fields that this opcode does not use.
  absl::Status Zero(int hi, int lo) const;

  // Makes sure that `need` bytes may be read.
  absl::Status Need(size_t need) const { return n >= need ? absl::OkStatus() : TooShort(need); }
};

// Decodes a source operand field of 8 or 9 bits into inst->src[i] (VGPR = 256..511). `allow_literal_at` is
// where the literal would stand.
absl::Status ReadSource(Cursor* c, uint32_t field, const Slot& slot, int i, Inst* inst);
// A VGPR by its number 0..255, as source i (i = 3 with dst: op_sel's destination bit).
absl::Status ReadVgpr(Cursor* c, uint32_t reg, const Slot& slot, int op_sel_bit, Operand* out, Inst* inst);
// An SGPR field (7 bits) used as destination or address.
absl::Status ReadSgpr(Cursor* c, uint32_t field, const Slot& slot, Operand* out);
// The f16 pattern of an inline constant given as f32.
uint64_t InlineFloatAsF16(uint64_t f32);
// Operand without an encoding of its own.
Operand MaskRegister(uint16_t reg);
// Fetches the literal after `base` bytes; sets inst->has_literal, lit32 and size.
absl::Status TakeLiteral(Cursor* c, Inst* inst);
Operand LiteralOperand(const Inst& inst, const Slot& slot);

absl::Status FindRow(Cursor* c, Encoding enc, uint32_t op);

// Operands without a field of their own; src[0], src[1], dst[0] and op_sel are in place.
void AddImplicit(const Row& row, Inst* inst);

absl::Status DecodeScalar(Cursor* c, Inst* inst);  // SOP1 SOP2 SOPC SOPK SOPP
// Alike on every generation.
absl::Status DecodeSopk(Cursor* c, Inst* inst);
absl::Status DecodeSopp(Cursor* c, Inst* inst);
absl::Status DecodeSmem(Cursor* c, Inst* inst);
absl::Status DecodeVop12c(Cursor* c, Inst* inst);  // VOP1 VOP2 VOPC
absl::Status DecodeVop3(Cursor* c, Inst* inst);    // VOP3 VOP3SD
absl::Status DecodeVop3p(Cursor* c, Inst* inst);
absl::Status DecodeVopd(Cursor* c, Inst* inst);
absl::Status DecodeVinterp(Cursor* c, Inst* inst);
absl::Status DecodeLdsdir(Cursor* c, Inst* inst);
absl::Status DecodeExp(Cursor* c, Inst* inst);
absl::Status DecodeDs(Cursor* c, Inst* inst);
absl::Status DecodeFlat(Cursor* c, Inst* inst);    // FLAT GLOBAL SCRATCH
absl::Status DecodeBuffer(Cursor* c, Inst* inst);  // MUBUF MTBUF
absl::Status DecodeImage(Cursor* c, Inst* inst);
// RDNA4's memory encodings, three words each.
absl::Status DecodeVflat(Cursor* c, Inst* inst);  // VFLAT VGLOBAL VSCRATCH
absl::Status DecodeVbuffer(Cursor* c, Inst* inst);
absl::Status DecodeVimage(Cursor* c, Inst* inst);  // VIMAGE VSAMPLE

// Makes sure of the second word and adds it to c->w.
absl::Status SecondWord(Cursor* c, Inst* inst);

// A whole instruction of CDNA2, CDNA3 or CDNA4: like the decoders above it sets c->row, from which the caller
// takes op, enc and the suffixes (cdna_decode.cc).
absl::Status DecodeCdna(Cursor* c, Inst* inst);

}  // namespace understudy::emu::amd::decode
