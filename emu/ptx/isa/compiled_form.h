// SPDX-License-Identifier: Apache-2.0
#pragma once
// A form's syntax taken apart: slots of modifiers and specifications of operands. Made once per form; the
// parser's checker and the maker of examples read it. Knows no registers and no module.

#include <string>
#include <vector>

#include "emu/ptx/isa/forms.h"

namespace understudy::emu::ptx {

// One place of the modifier sequence: a choice of sequences of modifiers (mostly of one).
struct ModifierSlot {
  bool optional = false;
  std::vector<std::vector<std::string>> alternatives;
};

struct OperandSpec {
  enum class Shape : uint8_t {
    kValue,    // register, constant, special register, variable's address, vector: as the flags say
    kAddress,  // [a]; [a:b32]: in a register of 32 bits
    kTensor,   // [a, {c}]: a tensor map or texture with coordinates
    kLabel,    // of bra
    kTargets,  // of brx.idx
    kCallee,   // call's operands as a whole
    kSink      // _ alone
  };
  enum class Width : uint8_t {
    kFixed,        // `type`
    kTyped,        // the instruction's type number `type_index`
    kDouble,       // an integer of twice the width of that
    kAccumulator,  // that type, or two halves in 32 bits
    kAddress       // 32 or 64 bits
  };
  Shape shape = Shape::kValue;
  Width width = Width::kFixed;
  Type type = Type::kNone;
  int type_index = 0;
  std::string name;
  // Values that a constant may have (#size=4/8/16:u32, #n=24..256..8:u32); empty: any.
  struct Range {
    int64_t first, last, step;
  };
  std::vector<Range> values;
  std::string vector;        // rule that gives the number of elements (see VectorLength), "" for a scalar
  bool destination = false;  // written: must be a register
  bool constant = false;     // a constant only
  bool negatable = false;    // !p of a predicate
  bool minus = false;        // -r
  bool wider = false;        // a register wider than the type will do
  bool variable = false;     // the address of a variable or function too
  bool special = false;      // special registers too
  bool no_float = false;     // no register of a float type
  bool selector = false;     // .b0 .h1
  bool register_only = false;
  bool sink = false;  // _ too
  bool pair = false;  // d|p
  bool pair_optional = false;
  // May be left out; with `needs_modifier` it stands exactly when the instruction has one of them.
  bool optional = false;
  std::vector<std::string> needs_modifier;  // one of these
};

// "90a" of a form's targets.
struct TargetSpec {
  int sm = 0;
  char suffix = 0;      // 'a': that one alone; 'f': its family; 0: that and later ones
  int ptx_version = 0;  // x10: the first in which that target has it
  bool Admits(int sm_of_module, char suffix_of_module, int version_of_module) const;
};

struct CompiledForm {
  std::vector<ModifierSlot> slots;
  std::vector<std::string> name_words;  // where the modifiers begin with them, they keep their places
  std::vector<OperandSpec> operands;
  std::vector<TargetSpec> targets;
  size_t least_operands = 0;
};

const CompiledForm& Compiled(int form);
// The type of an operand in an instruction with these types; kNone where the rule does not fix one.
Type OperandType(const OperandSpec& spec, const std::vector<Type>& types);
// The forms of an instruction, by number.
const std::vector<int>& FormsOf(Op op);
// Modifiers that some form of the instruction has, each once.
std::vector<std::string> ModifiersOf(Op op);

// What modifiers (all of them together) need beyond their form.
struct ModifierNeed {
  bool any_op = false;
  Op op{};
  std::vector<std::string> modifiers;
  int ptx_version = 0;
  std::vector<TargetSpec> targets;
  bool AppliesTo(Op of, const std::vector<std::string>& have) const;
  std::string Text() const;  // "v8", "f64 with .ftz"
};
const std::vector<ModifierNeed>& ModifierNeeds();

// What modifiers ask of each other beyond the forms: where all of `when` stand, one group of `then` must as a
// whole (or, with `exclude`, none may).
struct ModifierRule {
  bool exclude = false;
  bool any_op = false;
  Op op{};
  std::vector<std::string> when;
  std::vector<std::vector<std::string>> then;
  std::string Text() const;  // "'.sat' does not go with '.u32'"
};
const std::vector<ModifierRule>& ModifierRules();
// The first rule that the modifiers break, and which of them is at fault; nullptr: none.
const ModifierRule* BrokenRule(Op op, const std::vector<std::string>& modifiers, int* at);

// Whether the modifiers fill the form's slots. ptxas takes them in any order except that types, state spaces
// and layouts keep theirs and that parts of the name come first; so does this. `canonical`: the modifiers in
// the form's order. With `loose` parts of the name may stand anywhere: for messages.
bool MatchModifiers(const CompiledForm& form, const std::vector<std::string>& modifiers,
                    std::vector<std::string>* canonical, bool loose = false);

// Coordinates of a tensor or texture operand: words that the geometry asks for, 0 where none is named.
int CoordinateCount(Op op, const std::vector<std::string>& modifiers);
// Elements that a rule asks for, from the modifiers; 0: a scalar; -1: any number.
int VectorLength(const std::string& rule, Op op, const std::vector<std::string>& modifiers,
                 const std::vector<Type>& types);

}  // namespace understudy::emu::ptx
