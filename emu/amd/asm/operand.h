// SPDX-License-Identifier: Apache-2.0
#pragma once
// The operands of a line of assembly, before an instruction gives them a width and a type. Internal to
// emu/amd/asm.

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "emu/amd/asm/lexer.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/decode/rows.h"

namespace understudy::emu::amd::assembler {

struct ParsedOperand {
  enum class Kind : uint8_t { kOff, kSgpr, kVgpr, kAgpr, kInteger, kFloat, kSpecial, kOther };
  Kind kind = Kind::kOther;
  int reg = 0, count = 1;
  // kSpecial: src_scc and the like.
  Operand::Kind special = Operand::Kind::kNone;
  int64_t integer = 0;
  double number = 0;
  bool literal = false;  // lit(...): a literal even where an inline constant would do
  bool neg = false, abs = false, sext = false;
  int half = -1;  // .l 0, .h 1
  Token token;

  bool is_register() const { return kind == Kind::kSgpr || kind == Kind::kVgpr || kind == Kind::kAgpr; }
};

// kOther for what is no operand of this kind (a label, an immediate in words): its text decides later.
absl::StatusOr<ParsedOperand> ParseOperand(Isa isa, const Token& token);

// The operand in the place that `slot` describes, as the decoder would leave it. `wave_size` gives the width
// of a lane mask. *literal receives the literal word and *has_literal is set where it takes one; two
// different literals in an instruction are an error.
absl::Status Place(Isa isa, const ParsedOperand& parsed, const decode::Slot& slot, int wave_size, Inst* inst,
                   Operand* out);

}  // namespace understudy::emu::amd::assembler
