// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random machine words for a given opcode of the CDNA tables, and the words that LLVM MC's disassembler does
// not survive.

#include <cstdint>
#include <random>

#include "emu/amd/decode/rows.h"

namespace understudy::emu::amd {

using Words = uint32_t[4];

// Draws the four words of an instruction with `row`'s opcode. Half of the draws are uniform outside of the
// opcode; the others are shaped so that most are valid: even registers, few modifiers.
void DrawCdnaWords(const decode::Row& row, std::mt19937_64& rng, Words w);

// True where MC 22 aborts or reads through a null pointer instead of refusing: reserved SDWA selectors,
// literals where GFX9 has none, constants as destination of a comparison, F8F6F4 matrices in scalar
// registers.
bool McFailsOn(const Words w);

}  // namespace understudy::emu::amd
