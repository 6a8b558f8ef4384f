// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether an instruction is one that the ISA has: its modifiers, types and operands against the rows of
// emu/ptx/isa/forms.inc, its form's needs against the module's version and target. The parser asks it about
// each instruction; it reports nothing itself and knows no names.

#include <string>
#include <vector>

#include "emu/ptx/parse/module.h"

namespace understudy::emu::ptx {

// What a mnemonic (with its modifiers) can be in a module: the same for every instruction that has it.
struct FormChoice {
  struct Candidate {
    int form = -1;
    std::vector<std::string> modifiers;  // in the form's order
  };
  std::vector<Candidate> candidates;
  // Where there are none: why, and which modifier is at fault (-1: the instruction as a whole).
  std::string error;
  int modifier = -1;
};
FormChoice ChooseForms(const Module& module, Op op, const std::vector<std::string>& modifiers,
                       const std::vector<Type>& types);

struct OperandFault {
  std::string message;
  Location location;
};
// Sets Instruction::form and puts the modifiers in that form's order, or says which operand is wrong.
bool CheckOperands(const Module& module, const Function& function, const FormChoice& choice,
                   Instruction* instruction, OperandFault* fault);

}  // namespace understudy::emu::ptx
