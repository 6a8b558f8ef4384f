// SPDX-License-Identifier: Apache-2.0
// CDNA2, CDNA3 and CDNA4: which encoding a first word belongs to.
#include "absl/strings/str_format.h"
#include "emu/amd/decode/cdna.h"
#include "src/base/status.h"

namespace understudy::emu::amd::decode {
namespace {

using Decoder = absl::Status (*)(Cursor*, Inst*);

// By the top six bits of the first word (CDNA3 ISA manual, "Instruction formats").
struct TopLevel {
  Decoder decoder[64] = {};
  constexpr TopLevel() {
    for (int i = 0; i < 32; ++i) decoder[i] = DecodeCdnaVop12c;
    for (int i = 32; i < 48; ++i) decoder[i] = DecodeCdnaScalar;
    decoder[0x30] = DecodeCdnaSmem;
    decoder[0x34] = DecodeCdnaVop3;  // and VOP3P, whose opcodes begin with 111
    decoder[0x36] = DecodeCdnaDs;
    decoder[0x37] = DecodeCdnaFlat;
    decoder[0x38] = DecodeCdnaBuffer;
    decoder[0x3a] = DecodeCdnaBuffer;
    decoder[0x3c] = DecodeCdnaImage;
  }
};
constexpr TopLevel kTopLevel;

}  // namespace

absl::Status DecodeCdna(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(c->Need(4));
  uint32_t word = c->Word(0);
  c->w = word;
  inst->size = 4;
  Decoder decoder = kTopLevel.decoder[word >> 26];
  if (Field(word, 31, 23) == 0x1a7) decoder = DecodeCdnaVop3p;
  if (decoder == nullptr) return c->Refuse(absl::StrFormat("no encoding has bits 31:26 = 0x%x", word >> 26));
  return decoder(c, inst);
}

}  // namespace understudy::emu::amd::decode
