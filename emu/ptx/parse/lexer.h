// SPDX-License-Identifier: Apache-2.0
#pragma once
// PTX text to tokens (PTX ISA, "Source Format", "Identifiers", "Constants"). Used by the parser alone; knows
// no instruction and no directive.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emu/ptx/parse/diagnostics.h"

namespace understudy::emu::ptx {

struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kName,      // "foo", "%r1", "$L1", "_"
    kDot,       // ".global", ".L1::evict_last", ".2d"; the text without the dot
    kInteger,   // value
    kUnsigned,  // value, with the suffix U
    kF64,       // value: bits
    kF32,       // value: bits, of a 0f literal
    kString,    // the text between the quotes
    kPunct,     // one or two characters
  };
  Kind kind = Kind::kEnd;
  bool glued = false;  // nothing between it and the token before
  Location location;
  std::string_view text;
  uint64_t value = 0;
};

// The tokens, the last one kEnd. `source` must outlive them.
std::vector<Token> Lex(std::string_view source, Diagnostics* diagnostics);

// How a message calls a token: "'foo'", "the end of the text".
std::string Describe(const Token& token);

}  // namespace understudy::emu::ptx
