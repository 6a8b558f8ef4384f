// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bit fields of every layout of machine code, as AMD's machine-readable specification lists them
// (emu/amd/isa/data/*_encodings.tsv): where each operand and each modifier of an instruction lies. Tests that
// enumerate machine words walk these; our decoder does not use them.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/amd/decode/rows.h"

namespace understudy::emu::amd {

enum class FieldKind : uint8_t {
  kSource,        // 9 bits: scalar registers, constants, VGPRs
  kScalarSource,  // 8 bits
  kSgpr,          // 7 bits
  kTuple,         // a scalar tuple by its number of pairs or quads
  kVgpr,          // 8 bits
  kBits,          // anything else
};

struct WordField {
  std::string name;
  int hi = 0, lo = 0;  // bits of the whole instruction, from the first word's bit 0
  FieldKind kind = FieldKind::kBits;
  int width() const { return hi - lo + 1; }
};

enum class LayoutForm : uint8_t { kPlain, kLiteral, kDpp16, kDpp8, kSdwa };

struct Layout {
  std::string name;  // "VOP3_DPP16"
  Encoding enc = Encoding::kCount;
  LayoutForm form = LayoutForm::kPlain;
  int bits = 0;
  uint32_t fixed[4] = {};         // mask of the bits that tell the encoding, and of the opcode
  std::vector<WordField> fields;  // without the opcode
  const WordField* Find(const std::string& name) const;
};

// From the test's data files; CDNA2 and CDNA3 have CDNA4's layouts and images.
absl::StatusOr<std::vector<Layout>> LoadLayouts(Isa isa);

// Whether the layout is the row's: one encoding may have several, told apart by what the opcode writes.
bool Fits(const Layout& layout, const decode::Row& row);

uint32_t GetField(const uint32_t* words, int hi, int lo);
void SetField(uint32_t* words, int hi, int lo, uint32_t value);

}  // namespace understudy::emu::amd
