// SPDX-License-Identifier: Apache-2.0
#pragma once
// Modifiers of a line of assembly. Flags and numbers are set directly; names (formats, dimensions, cache
// policies, lane controls, selectors) are found by asking the disassembler which value prints so. Internal to
// emu/amd/asm.

#include <vector>

#include "absl/status/status.h"
#include "emu/amd/asm/lexer.h"
#include "emu/amd/decode/rows.h"
#include "emu/amd/disasm/disasm.h"

namespace understudy::emu::amd::assembler {

// What an instruction has where the text says nothing.
void SetDefaults(const decode::Row& row, Inst* inst);
// Flags and numbers. Leaves named modifiers alone.
absl::Status ApplyPlainModifiers(const std::vector<Token>& modifiers, Inst* inst);
// Names that decide how many registers the operands have (dim), before the instruction is encoded for the
// first time.
absl::Status FindShapeModifiers(const std::vector<Token>& modifiers, const TextOptions& options, Inst* inst);
// All other names, on an instruction whose operands are complete. Unknown modifiers are errors here.
absl::Status FindNamedModifiers(const std::vector<Token>& modifiers, const TextOptions& options, Inst* inst);

// "mrt0" and "attr3.x".
absl::Status FindTarget(const Token& token, Inst* inst);
absl::Status FindAttribute(const Token& token, Inst* inst);

}  // namespace understudy::emu::amd::assembler
