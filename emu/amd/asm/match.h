// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a parsed line to machine code: the candidates that a mnemonic names, and the instruction that one of
// them makes of operands and modifiers. Names of modifiers and immediates are not listed here a second time:
// a name is found by asking the disassembler which value prints so. Internal to emu/amd/asm.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/amd/asm/encoding_operands.h"
#include "emu/amd/asm/lexer.h"
#include "emu/amd/decode/rows.h"

namespace understudy::emu::amd::assembler {

// What the modifiers ask for beside the plain form.
enum class Form : uint8_t { kPlain, kDpp16, kDpp8, kSdwa };

struct Candidate {
  const decode::Row* row = nullptr;
  Form form = Form::kPlain;
};

// The mnemonics of one generation, as the disassembler writes them and, for instructions with _e32 and _e64
// forms, without the suffix. Built once per generation.
class Mnemonics {
 public:
  explicit Mnemonics(Isa isa);
  // In order of preference: the shorter encoding first. nullptr for an unknown name.
  const std::vector<Candidate>* Find(const std::string& name) const;
  // The known name that is most like an unknown one.
  std::string Nearest(const std::string& name) const;

 private:
  void Add(const std::string& name, const Candidate& candidate);
  std::unordered_map<std::string, std::vector<Candidate>> by_name_;
};
const Mnemonics& MnemonicsOf(Isa isa);

// Bytes of the instruction. Errors are "COLUMN: message" (ErrorAt), the most telling of all candidates'.
absl::StatusOr<std::vector<uint8_t>> MatchLine(Isa isa, const ParsedLine& line, int wave_size,
                                               const LabelValue& label);

// True for an instruction whose last operand is a branch target.
bool TakesLabel(const std::string& mnemonic);

}  // namespace understudy::emu::amd::assembler
