// SPDX-License-Identifier: Apache-2.0
#pragma once
// Machine words of an opcode, enumerated: from one legal instruction of a layout, each field takes every
// class of value that its bits can name (registers of each file, VCC, EXEC, M0, NULL, SCC, apertures, inline
// integers and floats, literal, reserved codes, every modifier), one field at a time. What is legal is not
// decided here: the test's two decoders say.

#include <cstdint>
#include <functional>
#include <random>
#include <string>

#include "emu/amd/decode/rows.h"
#include "tests/emu/amd/decode/layouts.h"

namespace understudy::emu::amd {

// Draws 16 bytes with the row's opcode in the layout's form; about half of the draws are legal.
void DrawForm(Isa isa, const decode::Row& row, const Layout& layout, std::mt19937_64& rng, uint32_t* words);

// Makes a legal instruction plain: modifiers off, operands in registers, each in one of its own, as far as
// `legal` still holds.
void Simplify(const Layout& layout, const std::function<bool(const uint32_t*)>& legal, uint32_t* words);

struct ClassWord {
  uint32_t words[4];
  std::string place;       // the field's name; "bit 13" for bits outside of all fields
  const char* class_name;  // "VCC"
  bool first_of_class;     // of this field
};

void ForEachClassWord(const Layout& layout, const uint32_t* base,
                      const std::function<void(const ClassWord&)>& visit);

}  // namespace understudy::emu::amd
