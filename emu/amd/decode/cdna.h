// SPDX-License-Identifier: Apache-2.0
#pragma once
// The pieces of the CDNA decoder: operands by CDNA's numbering, and one function an encoding. Internal to
// emu/amd/decode.

#include <cstdint>

#include "emu/amd/decode/cdna_bits.h"
#include "emu/amd/decode/cursor.h"
#include "emu/amd/decode/rows.h"

namespace understudy::emu::amd::decode {

// Refuses what the opcode has no use for outside of `operands` (a mask), and returns in *bits the word with
// the ignored bits cleared.
absl::Status CheckCdnaBits(Cursor* c, const CdnaBits& allowed, uint64_t operands, uint64_t* bits);

// A scalar register by its 7-bit code.
absl::Status ReadCdnaSgpr(Cursor* c, uint32_t code, const Slot& slot, Operand* out);
// A source by its 8- or 9-bit code, into inst->src[i]; with `agpr` the registers of 256 and more are AGPRs.
absl::Status ReadCdnaSource(Cursor* c, uint32_t code, const Slot& slot, int i, bool agpr, Inst* inst);
// VGPR or AGPR 0..255. Tuples start at an even register.
absl::Status ReadCdnaVgpr(Cursor* c, uint32_t reg, const Slot& slot, bool agpr, Operand* out);
// Reads the second word into c->w.
absl::Status TakeSecondWord(Cursor* c, Inst* inst);

absl::Status DecodeCdnaScalar(Cursor* c, Inst* inst);
absl::Status DecodeCdnaSmem(Cursor* c, Inst* inst);
absl::Status DecodeCdnaVop12c(Cursor* c, Inst* inst);
absl::Status DecodeCdnaVop3(Cursor* c, Inst* inst);
absl::Status DecodeCdnaVop3p(Cursor* c, Inst* inst);
absl::Status DecodeCdnaDs(Cursor* c, Inst* inst);
absl::Status DecodeCdnaFlat(Cursor* c, Inst* inst);
absl::Status DecodeCdnaBuffer(Cursor* c, Inst* inst);
absl::Status DecodeCdnaImage(Cursor* c, Inst* inst);

}  // namespace understudy::emu::amd::decode
