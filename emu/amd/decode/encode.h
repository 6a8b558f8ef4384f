// SPDX-License-Identifier: Apache-2.0
#pragma once
// Machine code of decoded instructions: the inverse of Decode, for assemblers, patches and tests. Of several
// encodings of one instruction it gives LLVM MC's. It reads `enc`, `op` and the fields that inst.h names for
// that encoding, as Decode leaves them; it never changes an instruction to make it fit.

#include <cstdint>

#include "absl/status/statusor.h"
#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {

inline constexpr int kMaxInstBytes = 20;

// Writes the instruction to `out` and returns how many bytes it has. Decode(Encode(i)) gives i;
// Encode(Decode(b)) gives b where b is what an assembler writes (fields without a meaning hold other bits in
// some programs). Takes instructions as Decode leaves them as well as those that ResolveWaveSize has fitted
// to a wave. Errors: kInvalidArgument - an operand, immediate or modifier that the encoding cannot hold
// (message: which, with value); kUnimplemented - a generation without an encoder.
absl::StatusOr<int> Encode(const Inst& inst, uint8_t out[kMaxInstBytes]);

// Encode for an instruction of which only the operands that its text names are in place, as an assembler
// fills it: implicit ones are neither read nor compared. Decode gives the whole instruction.
absl::StatusOr<int> EncodeNamed(const Inst& inst, uint8_t out[kMaxInstBytes]);

// The parts of Encode by family of generations.
absl::StatusOr<int> EncodeRdna(const Inst& inst, uint8_t out[kMaxInstBytes], bool named_only);
absl::StatusOr<int> EncodeCdna(const Inst& inst, uint8_t out[kMaxInstBytes]);  // cdna_encode.cc

}  // namespace understudy::emu::amd
