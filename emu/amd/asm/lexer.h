// SPDX-License-Identifier: Apache-2.0
#pragma once
// A line of assembly as mnemonic, operands and modifiers, each with its column. Internal to emu/amd/asm.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace understudy::emu::amd::assembler {

struct Token {
  std::string text;
  int column = 0;  // from 1
};

// "v_add_f32_e64 v1, -|v2|, s3 clamp mul:2": operands are separated by commas outside of brackets, modifiers
// follow the last operand and are separated by spaces outside of brackets.
struct ParsedLine {
  Token mnemonic;
  std::vector<Token> operands;
  std::vector<Token> modifiers;
  Token rest;  // everything after the mnemonic, as written
};

// `text` holds one instruction without comment; `column` is where it starts in its line.
absl::StatusOr<ParsedLine> ParseLine(const std::string& text, int column);

// InvalidArgument "COLUMN: message", from which the assembler takes line and column.
absl::Status ErrorAt(int column, const std::string& message);

// A whole number in C's bases, with a sign; false if `text` is anything else.
bool ParseInteger(const std::string& text, int64_t* value);

// Splits at commas outside of brackets; columns are those of the trimmed pieces.
std::vector<Token> SplitTopLevel(const std::string& text, int column, char separator);

}  // namespace understudy::emu::amd::assembler
