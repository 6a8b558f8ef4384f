// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bytes of one RDNA instruction while they are written: bounded fields, operand codes, and the first
// thing that did not fit. Internal to emu/amd/decode.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/decode/rows.h"

namespace understudy::emu::amd::decode {

class Encoder {
 public:
  Encoder(const Inst& inst, const Row& row) : inst(inst), row(row) {}

  const Inst& inst;
  const Row& row;
  uint32_t words[4] = {};
  int n_words = 1;
  bool rdna4() const { return inst.isa == Isa::kRdna4; }

  // Puts `value` into bits hi:lo, counted from the first word; refuses what is wider than the field.
  void Put(int hi, int lo, uint64_t value, const char* what);
  // The same for a two's complement value.
  void PutSigned(int hi, int lo, int64_t value, const char* what);
  void Flag(int bit, bool on) { words[bit / 32] |= static_cast<uint32_t>(on) << (bit % 32); }

  // A register number; an absent operand is 0. `limit` is the file's size.
  void PutVgpr(int hi, int lo, const Operand& o, const char* what);
  // An SGPR number; an absent operand is `absent`.
  void PutSgpr(int hi, int lo, const Operand& o, const char* what, uint32_t absent = 0);
  // A source of 8 or 9 bits: registers, constants, special values; a literal is remembered.
  void PutSource(int hi, int lo, const Operand& o, const char* what);
  // Appends the literal if a source asked for one or `always`.
  void Finish(bool literal_always);
  void Append(uint32_t word);

  void Refuse(const std::string& what);
  const absl::Status& status() const { return status_; }

 private:
  bool literal_ = false;
  absl::Status status_;
};

void EncodeScalar(Encoder* e);  // SOP1 SOP2 SOPC SOPK SOPP
void EncodeSmem(Encoder* e);
void EncodeVop12c(Encoder* e);
void EncodeVop3(Encoder* e);
void EncodeVop3p(Encoder* e);
void EncodeVopd(Encoder* e, const Row& y);
void EncodeVinterp(Encoder* e);
void EncodeLdsdir(Encoder* e);
void EncodeExp(Encoder* e);
void EncodeDs(Encoder* e);
void EncodeFlat(Encoder* e);    // FLAT GLOBAL SCRATCH
void EncodeBuffer(Encoder* e);  // MUBUF MTBUF
void EncodeImage(Encoder* e);   // MIMG
void EncodeVflat(Encoder* e);   // VFLAT VGLOBAL VSCRATCH
void EncodeVbuffer(Encoder* e);
void EncodeVimage(Encoder* e);  // VIMAGE VSAMPLE

// The code 240..248 of an inline float by its pattern, whichever width that has; 0 if there is none.
uint32_t InlineFloatCode(uint64_t pattern);

}  // namespace understudy::emu::amd::decode
