// SPDX-License-Identifier: Apache-2.0
#pragma once
// The SEMANTIC and SEMANTIC_FOR rows of semantics.inc as numbers, and the sets of generations that the latter
// name. The compiled loops are kept by row: an opcode that means different things on different generations
// has several.

#include <cstdint>

#include "emu/amd/isa/opcode.h"

namespace understudy::emu::amd {

enum class SemanticRow : uint16_t {
#define SEMANTIC(chapter, opcode, function, state, note) opcode,
#define SEMANTIC_FOR(chapter, generations, opcode, function, state, note) opcode##_##generations,
#define SAME(opcode, other)
#define WAVE_OP(opcode, function, state, note)
#define REFUSED(opcode, reason)
#include "emu/amd/semantics/semantics.inc"
#undef SEMANTIC
#undef SEMANTIC_FOR
#undef SAME
#undef WAVE_OP
#undef REFUSED
  kCount,
};

constexpr uint8_t GenerationBit(Isa isa) { return static_cast<uint8_t>(1u << static_cast<int>(isa)); }
constexpr uint8_t kGenerationsCdna3 = GenerationBit(Isa::kCdna3);
constexpr uint8_t kGenerationsCdna4 = GenerationBit(Isa::kCdna4);

}  // namespace understudy::emu::amd
