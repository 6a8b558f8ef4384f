// SPDX-License-Identifier: Apache-2.0
// Operands against the specifications of a form.
#include <algorithm>
#include <utility>

#include "emu/ptx/isa/compiled_form.h"
#include "emu/ptx/parse/legality.h"

namespace understudy::emu::ptx {
namespace {

using Shape = OperandSpec::Shape;
using Kind = Operand::Kind;

bool ContainsOneOf(const std::vector<std::string>& words, const std::vector<std::string>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  });
}

std::string TypeText(Type type) { return std::string(".") + TypeName(type); }

bool IsBits(Type type) {
  switch (type) {
    case Type::kB1:
    case Type::kB4:
    case Type::kB6:
    case Type::kB8:
    case Type::kB16:
    case Type::kB32:
    case Type::kB64:
    case Type::kB128:
    case Type::kB256:
      return true;
    default:
      return false;
  }
}

bool IsPackedInteger(Type type) { return type == Type::kU16x2 || type == Type::kS16x2; }

Type BitsOf(int width) {
  switch (width) {
    case 8:
      return Type::kB8;
    case 16:
      return Type::kB16;
    case 64:
      return Type::kB64;
    case 128:
      return Type::kB128;
    default:
      return Type::kB32;
  }
}

// Whether a register of type `held` may hold a value of type `wanted` ("Operand Types" and "Operand Size
// Exceeding Instruction-Type Size").
bool RegisterFits(Type held, Type wanted, bool wider) {
  if (held == wanted) return true;
  if (held == Type::kPred || wanted == Type::kPred) return false;
  const int have = TypeBits(held), need = TypeBits(wanted);
  if (wider ? have < need : have != need) return false;
  if (IsBits(held) || IsBits(wanted)) return true;
  if (IsPackedInteger(wanted)) return held == Type::kF16x2;
  return !IsFloat(held) && !IsFloat(wanted);
}

// Elements of the operands of SIMD video instructions: vadd2, vset4; 0 of others.
size_t SimdElements(Op op) {
  const std::string name = OpName(op);
  if (name[0] != 'v' || (name.back() != '2' && name.back() != '4')) return 0;
  return static_cast<size_t>(name.back() - '0');
}

// What follows a register of a video instruction: .b0 .h1 of scalar ones; of SIMD ones a choice among both
// sources' parts (.h32, .b7531) and, of the result, a mask (.h1, .b310).
bool SelectorFits(const std::string& selector, size_t elements, bool destination) {
  const std::string digits = selector.substr(1);
  const bool halves = selector[0] == 'h';
  const auto below = [&](char end) {
    return std::all_of(digits.begin(), digits.end(), [end](char digit) { return digit < end; });
  };
  if (elements == 0) return digits.size() == 1 && below(halves ? '2' : '4');
  if (halves != (elements == 2)) return false;
  if (!destination) return digits.size() == elements && below(halves ? '4' : '8');
  return digits.size() <= elements && below(halves ? '2' : '4') &&
         std::is_sorted(digits.rbegin(), digits.rend()) &&
         std::adjacent_find(digits.begin(), digits.end()) == digits.end();
}

struct Checker {
  const Module& module;
  const Function& function;
  const Instruction& instruction;
  const OperandSpec& spec;
  size_t position;
  std::string* message;

  bool Fail(const std::string& got, const std::string& expected) {
    *message = "operand " + std::to_string(position + 1) + " of '" + instruction.Name() + "' is " + got +
               ": expected " + expected;
    return false;
  }
  std::string Expected(Type type, int length) const {
    std::string what = type == Type::kNone ? "a .u32 or .u64 address" : TypeText(type);
    if (length > 0) return "a vector of " + std::to_string(length) + " registers of type " + what;
    if (length < 0) return "a vector of registers of type " + what;
    if (spec.constant) return "a constant of type " + what;
    return (spec.destination || spec.register_only ? "a register of type "
                                                   : "a register or constant of type ") +
           what + (spec.wider ? " or wider" : "");
  }
  static std::string Describe(const Function& function, const Operand& operand) {
    switch (operand.kind) {
      case Kind::kRegister:
        return "the register '" + function.registers[static_cast<size_t>(operand.index)].name + "' of type " +
               TypeText(function.registers[static_cast<size_t>(operand.index)].type);
      case Kind::kSpecial:
        return "the special register '%" + operand.special + "'";
      case Kind::kImmediate:
        return "an integer constant";
      case Kind::kFloat:
        return "a float constant";
      case Kind::kAddress:
        return "an address in []";
      case Kind::kVector:
        return "a vector of " + std::to_string(operand.elements.size());
      case Kind::kLabel:
        return "a label";
      case Kind::kVariable:
        return "a variable";
      case Kind::kFunction:
        return "a function";
      case Kind::kPrototype:
        return "a prototype";
      case Kind::kSink:
        return "'_'";
      case Kind::kPredicatePair:
        return "a pair";
      case Kind::kGroup:
        return "a group of arguments";
      case Kind::kTensor:
        return "an address with coordinates";
    }
    return "?";
  }

  std::string SelectorText() const {
    switch (SimdElements(instruction.op)) {
      case 2:
        return spec.destination ? "a mask of .h0, .h1 or .h10" : "two of four halves, as .h10 or .h32";
      case 4:
        return spec.destination ? "a mask like .b0 or .b3210" : "four of eight bytes, as .b3210 or .b7531";
      default:
        return "one of .b0 to .b3, .h0 and .h1";
    }
  }

  bool Scalar(const Operand& operand, Type type, int length) {
    const std::string got = Describe(function, operand);
    switch (operand.kind) {
      case Kind::kRegister: {
        const Type held = function.registers[static_cast<size_t>(operand.index)].type;
        if (spec.constant) return Fail(got, Expected(type, length));
        if (operand.negated && held == Type::kPred && !spec.negatable)
          return Fail("negated", "a predicate without '!'");
        if (operand.negated && held != Type::kPred && !spec.minus)
          return Fail("negated", "a register without '-'");
        if (!operand.selector.empty() && !spec.selector)
          return Fail("a part of a register", "a whole register");
        if (!operand.selector.empty() &&
            !SelectorFits(operand.selector, SimdElements(instruction.op), spec.destination))
          return Fail("a register with '." + operand.selector + "'", SelectorText());
        if (spec.width == OperandSpec::Width::kAddress
                ? !RegisterFits(held, Type::kU64, false) && !RegisterFits(held, Type::kU32, false)
                : !RegisterFits(held, type, spec.wider))
          return Fail(got, Expected(type, length));
        if (spec.no_float && IsFloat(held) && held != Type::kF16x2) return Fail(got, Expected(type, length));
        return true;
      }
      case Kind::kImmediate:
        if (spec.destination || IsFloat(type) || SimdElements(instruction.op) != 0 || spec.register_only ||
            IsPackedInteger(type) || spec.width == OperandSpec::Width::kAddress)
          return Fail(got, Expected(type, length));
        return Value(static_cast<int64_t>(operand.bits));
      case Kind::kFloat:
        // A bit pattern: 0f for 32 bits, 0d (or 1.0) for 64.
        if (spec.destination || spec.register_only || spec.no_float ||
            (type != Type::kF32 && type != Type::kF64 &&
             (operand.is_f32 ? type != Type::kB32 : type != Type::kB64)))
          return Fail(got, Expected(type, length));
        return true;
      case Kind::kSpecial: {
        const std::string base = operand.special.substr(0, operand.special.find('.'));
        const SpecialRegister* special = FindSpecialRegister(base);
        if (!spec.special || special == nullptr) return Fail(got, Expected(type, length));
        if (operand.negated && !(spec.negatable && special->type == Type::kPred))
          return Fail("negated", "a special register without '!' or '-'");
        if (IsFloat(type) || (!RegisterFits(special->type, type, spec.wider) &&
                              !(TypeBits(type) == 16 && TypeBits(special->type) == 32)))
          return Fail(got, Expected(type, length));
        return true;
      }
      case Kind::kVariable:
      case Kind::kFunction:
        if (!spec.variable) return Fail(got, Expected(type, length));
        if (operand.kind == Kind::kVariable && module.address_size == 64 && TypeBits(type) == 32 &&
            VariableOf(operand).space == Space::kGlobal)
          return Fail("the address of '" + VariableOf(operand).name + "'",
                      "64 bits for it, as .address_size says");
        if (TypeBits(type) < 16 || IsFloat(type)) return Fail(got, Expected(type, length));
        return true;
      case Kind::kSink:
        if (!spec.sink) return Fail(got, Expected(type, length));
        return true;
      default:
        return Fail(got, Expected(type, length));
    }
  }

  bool Value(int64_t value) {
    if (spec.values.empty()) return true;
    std::string list;
    for (size_t i = 0; i < spec.values.size(); ++i) {
      const OperandSpec::Range& range = spec.values[i];
      if (value >= range.first && value <= range.last && (value - range.first) % range.step == 0) return true;
      list += (i == 0 ? "" : i + 1 == spec.values.size() ? " or " : ", ") + std::to_string(range.first);
      if (range.last != range.first) list += " to " + std::to_string(range.last);
      if (range.step != 1) list += " in steps of " + std::to_string(range.step);
    }
    return Fail(std::to_string(value), list);
  }

  // ptxas gives a vector one type, its elements': bits where they differ.
  bool Vector(const Operand& operand, Type type, int length) {
    if (operand.kind != Kind::kVector) return Fail(Describe(function, operand), Expected(type, length));
    if (length > 0 && operand.elements.size() != static_cast<size_t>(length))
      return Fail(Describe(function, operand), Expected(type, length));
    Type common = Type::kNone;
    bool constants = false;
    for (const Operand& element : operand.elements) {
      if (element.kind == Kind::kSink && spec.destination && instruction.op != Op::kWgmma &&
          instruction.op != Op::kTcgen05)
        continue;
      Type held;
      if (element.kind == Kind::kRegister && !element.negated && element.selector.empty()) {
        held = function.registers[static_cast<size_t>(element.index)].type;
      } else if (element.kind == Kind::kFloat && !spec.destination) {
        held = element.is_f32 || TypeBits(type) == 32 ? Type::kF32 : Type::kF64;
      } else {
        if (!Scalar(element, type, length)) return false;
        constants = true;
        continue;
      }
      if (common != Type::kNone && common != held &&
          (TypeBits(common) != TypeBits(held) || common == Type::kPred || held == Type::kPred))
        return Fail("a vector of registers of types " + TypeText(common) + " and " + TypeText(held),
                    Expected(type, length));
      common = common == Type::kNone || common == held ? held : BitsOf(TypeBits(held));
    }
    if (common == Type::kNone && !constants) return Fail("a vector of '_' alone", Expected(type, length));
    if (common == Type::kNone)
      return instruction.op != Op::kMma || Fail("a vector of constants alone", Expected(type, length));
    if (!RegisterFits(common, type, spec.wider) ||
        ((spec.no_float || (spec.width == OperandSpec::Width::kAccumulator && type == Type::kB32)) &&
         IsFloat(common) && common != Type::kF16x2))
      return Fail("a vector of registers of type " + TypeText(common), Expected(type, length));
    return true;
  }

  // mov.b64 {a, b}, c: equal parts that make the whole.
  bool Packed(const Operand& operand, Type type) {
    if (operand.kind != Kind::kVector)
      return Fail(Describe(function, operand), "a vector of 2 or 4 registers");
    const size_t n = operand.elements.size();
    if (n != 2 && n != 4) return Fail(Describe(function, operand), "a vector of 2 or 4 registers");
    const int bits = TypeBits(type) / static_cast<int>(n);
    for (const Operand& element : operand.elements) {
      if (element.kind == Kind::kSink && spec.destination) continue;
      if (element.kind == Kind::kImmediate && !spec.destination) continue;
      if (element.kind != Kind::kRegister ||
          TypeBits(function.registers[static_cast<size_t>(element.index)].type) != bits)
        return Fail("a vector with " + Describe(function, element),
                    "registers of " + std::to_string(bits) + " bits, that make " + TypeText(type));
    }
    return true;
  }

  bool Run(const Operand& operand) {
    switch (spec.shape) {
      case Shape::kLabel:
        return operand.kind == Kind::kLabel || Fail(Describe(function, operand), "a label");
      case Shape::kTargets:
        return operand.kind == Kind::kLabel || Fail(Describe(function, operand), "a label of .branchtargets");
      case Shape::kCallee:
        return true;
      case Shape::kSink:
        return operand.kind == Kind::kSink || Fail(Describe(function, operand), "'_'");
      case Shape::kAddress:
        return Address(operand);
      case Shape::kTensor:
        return Tensor(operand);
      case Shape::kValue:
        break;
    }
    const Type type = OperandType(spec, instruction.types);
    const int length = VectorLength(spec.vector, instruction.op, instruction.modifiers, instruction.types);
    const Operand* value = &operand;
    if (operand.kind == Kind::kPredicatePair) {
      if (!spec.pair) return Fail("a pair", Expected(type, length));
      const Operand& second = operand.elements[1];
      if (second.kind != Kind::kSink &&
          (second.kind != Kind::kRegister || second.negated ||
           function.registers[static_cast<size_t>(second.index)].type != Type::kPred))
        return Fail("a pair with " + Describe(function, second), "a predicate after '|'");
      value = &operand.elements[0];
      if (value->kind == Kind::kSink) return true;
    } else if (spec.pair && !spec.pair_optional) {
      return Fail(Describe(function, operand), "a pair with a predicate after '|'");
    }
    if (spec.vector == "pack") return Packed(*value, type);
    if (length == 0 && spec.vector == "V" && value->kind == Kind::kVector && value->elements.size() == 1 &&
        (instruction.op == Op::kLd || instruction.op == Op::kSt || instruction.op == Op::kLdu))
      value = &value->elements[0];
    if (length == 0) return Scalar(*value, type, 0);
    if (value->kind == Kind::kSink && spec.sink) return true;
    return Vector(*value, type, length);
  }

  // [tensorMap, {coordinates}]. Textures' coordinates are not looked at.
  bool Tensor(const Operand& operand) {
    if (operand.kind != Kind::kTensor || operand.elements.size() < 2)
      return Fail(Describe(function, operand), "an address with coordinates in []");
    if (instruction.op != Op::kCp) return true;
    const int count = CoordinateCount(instruction.op, instruction.modifiers);
    const Operand& coordinates = operand.elements[1];
    const std::string expected = std::to_string(count) + " coordinates in {}, of 32 bits that are no float";
    if (coordinates.kind != Kind::kVector || coordinates.elements.size() != static_cast<size_t>(count))
      return Fail("an address with " + Describe(function, coordinates), expected);
    for (const Operand& element : coordinates.elements) {
      if (element.kind == Kind::kImmediate) continue;
      const Type held = element.kind == Kind::kRegister
                            ? function.registers[static_cast<size_t>(element.index)].type
                            : Type::kNone;
      if (TypeBits(held) != 32 || IsFloat(held))
        return Fail("an address with the coordinate " + Describe(function, element), expected);
    }
    return true;
  }

  const Variable& VariableOf(const Operand& operand) const {
    const auto index = static_cast<size_t>(operand.index);
    switch (operand.scope) {
      case Operand::Scope::kModule:
        return module.variables[index];
      case Operand::Scope::kFunctionLocal:
        return function.variables[index];
      case Operand::Scope::kParameter:
        return function.parameters[index];
      case Operand::Scope::kReturn:
        break;
    }
    return function.returns[index];
  }

  // The space that an instruction's address number `which` is in, by its modifiers; false: not known.
  bool SpaceOfAddress(size_t which, Space* space) const {
    const std::vector<Space>& spaces = instruction.spaces;
    switch (instruction.op) {
      case Op::kLd:
      case Op::kLdu:
      case Op::kSt:
      case Op::kAtom:
      case Op::kRed:
      case Op::kPrefetch:
      case Op::kMbarrier:
      case Op::kMultimem:
        *space = which > 0 ? Space::kShared : spaces.empty() ? Space::kGeneric : spaces[0];
        return true;
      case Op::kLdmatrix:
      case Op::kStmatrix:
      case Op::kWmma:
        if (spaces.empty()) return false;
        *space = spaces[0];
        return true;
      case Op::kClusterlaunchcontrol:
        *space = Space::kShared;
        return !spaces.empty();
      case Op::kCp:
        if (spaces.empty() || (spaces.size() == 1 && which > 0)) return false;
        *space = which < 2 ? spaces[which] : Space::kShared;
        return true;
      default:
        return false;
    }
  }

  bool InSpace(const Operand& operand, Space space) {
    const Variable& variable = VariableOf(operand);
    const bool parameter = operand.scope == Operand::Scope::kParameter;
    bool fits;
    switch (space) {
      case Space::kGeneric:
        fits = variable.space == Space::kGlobal || variable.space == Space::kShared ||
               (variable.space == Space::kLocal && instruction.op != Op::kMbarrier);
        if (instruction.op == Op::kMbarrier) fits = variable.space == Space::kShared;
        break;
      case Space::kSharedCluster:
        fits = variable.space == Space::kShared;
        break;
      default:
        fits = variable.space == space;
    }
    if (!fits)
      return Fail("the variable '" + variable.name + "' in ." + SpaceName(variable.space),
                  space == Space::kGeneric ? "a variable that has a generic address"
                                           : std::string("a variable in .") + SpaceName(space));
    if (parameter && function.is_entry && instruction.op == Op::kSt)
      return Fail("the kernel's parameter '" + variable.name + "'", "memory that can be written");
    return true;
  }

  bool Address(const Operand& operand) {
    if (operand.kind != Kind::kAddress) return Fail(Describe(function, operand), "an address in []");
    size_t which = 0;
    for (size_t i = 0; i < position; ++i)
      which +=
          instruction.operands[i].kind == Kind::kAddress || instruction.operands[i].kind == Kind::kTensor;
    Space space = Space::kGeneric;
    const bool known = SpaceOfAddress(which, &space);
    switch (operand.base_kind) {
      case Operand::Base::kNone:
        return space == Space::kLocal || Fail("a constant address", "a register or a variable");
      case Operand::Base::kVariable:
        if (spec.type == Type::kB32) return Fail("a variable", "a register of 32 bits");
        return !known || InSpace(operand, space);
      case Operand::Base::kRegister:
        break;
    }
    const Type held = function.registers[static_cast<size_t>(operand.index)].type;
    if (IsFloat(held) || TypeBits(held) < 32 || TypeBits(held) > (spec.type == Type::kB32 ? 32 : 64))
      return Fail("an address in a register of type " + TypeText(held),
                  spec.type == Type::kB32 ? "a register of 32 bits that is no float"
                                          : "a register of 32 or 64 bits that is no float");
    if (known && module.address_size == 64 && !ContainsOneOf(instruction.modifiers, {"tensormap"}) &&
        TypeBits(held) == 32 && instruction.op != Op::kCp &&
        (space == Space::kGeneric || space == Space::kGlobal))
      return Fail("an address in a register of type " + TypeText(held),
                  "a register of 64 bits, as .address_size says");
    return true;
  }
};

// Tries the operands in order; where an optional one does not fit, without it. `reached`: the furthest
// operand that was looked at, whose fault is the likeliest mistake.
struct Attempt {
  const Module& module;
  const Function& function;
  const Instruction& instruction;
  const CompiledForm& form;
  size_t reached = 0;
  std::string message;
  bool count_fault = true;

  bool Callable(Type held) const { return !IsFloat(held) && TypeBits(held) == module.address_size; }

  bool Try(size_t spec, size_t operand) {
    const size_t have = instruction.operands.size();
    if (spec == form.operands.size()) {
      if (operand == have) return true;
      return false;
    }
    const OperandSpec& rule = form.operands[spec];
    if (rule.shape == Shape::kCallee) {
      const auto fits = [&](const Operand& part) {
        return part.kind == Kind::kGroup || part.kind == Kind::kFunction || part.kind == Kind::kPrototype ||
               (part.kind == Kind::kRegister &&
                Callable(function.registers[static_cast<size_t>(part.index)].type));
      };
      if (have > 0 && std::all_of(instruction.operands.begin(), instruction.operands.end(), fits) &&
          (have > 1 || instruction.operands[0].kind == Kind::kFunction))
        return true;
      message = "'" + instruction.Name() +
                "' names no function: expected call fn or call (result), fn, (arguments)";
      count_fault = false;
      return false;
    }
    const bool must = !rule.optional || (!rule.needs_modifier.empty() &&
                                         ContainsOneOf(instruction.modifiers, rule.needs_modifier));
    const bool may = must || rule.needs_modifier.empty();
    if (may && operand < have) {
      std::string why;
      Checker checker{module, function, instruction, rule, operand, &why};
      if (checker.Run(instruction.operands[operand])) {
        if (Try(spec + 1, operand + 1)) return true;
      } else if (operand >= reached) {
        reached = operand;
        message = why;
        count_fault = false;
      }
    }
    return !must && Try(spec + 1, operand);
  }
};

std::pair<size_t, size_t> OperandRange(const CompiledForm& form, const std::vector<std::string>& modifiers) {
  size_t least = 0, most = 0;
  for (const OperandSpec& spec : form.operands) {
    const bool conditional = !spec.needs_modifier.empty();
    const bool there = conditional && ContainsOneOf(modifiers, spec.needs_modifier);
    if (!spec.optional || there) ++least;
    if (!spec.optional || !conditional || there) ++most;
  }
  return {least, most};
}

}  // namespace

bool CheckOperands(const Module& module, const Function& function, const FormChoice& choice,
                   Instruction* instruction, OperandFault* fault) {
  size_t reached = 0;
  bool any_count = false;
  const size_t have = instruction->operands.size();
  for (const FormChoice::Candidate& candidate : choice.candidates) {
    const CompiledForm& form = Compiled(candidate.form);
    Attempt attempt{module, function, *instruction, form, 0, "", true};
    if (attempt.Try(0, 0)) {
      instruction->form = candidate.form;
      if (instruction->modifiers != candidate.modifiers) instruction->modifiers = candidate.modifiers;
      return true;
    }
    const auto [least, most] = OperandRange(form, candidate.modifiers);
    const bool fits = have >= least && have <= most;
    if (fits && !attempt.message.empty() && (!any_count || attempt.reached > reached)) {
      any_count = true;
      reached = attempt.reached;
      fault->message = attempt.message;
      fault->location = have == 0 ? instruction->location : instruction->operands[attempt.reached].location;
    }
  }
  if (any_count) return false;
  size_t least = ~size_t{0}, most = 0;
  for (const FormChoice::Candidate& candidate : choice.candidates) {
    const auto [low, high] = OperandRange(Compiled(candidate.form), candidate.modifiers);
    least = std::min(least, low);
    most = std::max(most, high);
  }
  const std::string& syntax = Forms()[static_cast<size_t>(choice.candidates[0].form)].syntax;
  fault->message = "'" + instruction->Name() + "' has " + std::to_string(have) + " operands: expected " +
                   std::to_string(least) + (most > least ? " to " + std::to_string(most) : "") + " as in '" +
                   syntax + "'";
  fault->location = have > most ? instruction->operands[most].location : instruction->location;
  return false;
}

}  // namespace understudy::emu::ptx
