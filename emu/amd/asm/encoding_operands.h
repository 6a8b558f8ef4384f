// SPDX-License-Identifier: Apache-2.0
#pragma once
// The operands of a line put into the places that an encoding has for them. Internal to emu/amd/asm.

#include <cstdint>

#include "absl/status/status.h"
#include "emu/amd/asm/lexer.h"
#include "emu/amd/decode/rows.h"

namespace understudy::emu::amd::assembler {

// The value of a branch target that is a label: dwords from the end of the instruction. Zero while sizes are
// found.
struct LabelValue {
  bool is_label = false;
  int64_t dwords = 0;
};

// Fills dst, src and immediates of *inst, whose opcode, encoding and plain modifiers are in place. Operands
// that the text does not name are left out. Errors are "COLUMN: message" (ErrorAt).
absl::Status ReadOperands(const decode::Row& row, const ParsedLine& line, int wave_size,
                          const LabelValue& label, Inst* inst);

}  // namespace understudy::emu::amd::assembler
