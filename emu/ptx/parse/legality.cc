// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/parse/legality.h"

#include <algorithm>
#include <utility>

#include "emu/ptx/isa/compiled_form.h"
#include "emu/ptx/parse/suggest.h"

namespace understudy::emu::ptx {
namespace {

using Shape = OperandSpec::Shape;
using Kind = Operand::Kind;

std::string Spell(Op op, const std::vector<std::string>& modifiers) {
  std::string text = OpName(op);
  for (const std::string& modifier : modifiers) text += "." + modifier;
  return text;
}

bool Contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The modifiers' part of a form's syntax, for messages.
std::string Mnemonic(int form) {
  const std::string& syntax = Forms()[static_cast<size_t>(form)].syntax;
  return syntax.substr(0, syntax.find(' '));
}

std::string VersionText(int version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

std::string TargetsText(const std::vector<TargetSpec>& targets) {
  std::string text;
  for (const TargetSpec& target : targets) {
    if (!text.empty()) text += " or ";
    text += "sm_" + std::to_string(target.sm);
    if (target.suffix != 0)
      text += target.suffix;
    else
      text += " or later";
    if (target.suffix == 'f') text += " (or its family's)";
  }
  return text;
}

// "" when the module is new enough, else what it lacks.
std::string Lacks(const Module& module, int version, const std::vector<TargetSpec>& targets) {
  std::string text;
  if (module.version_major * 10 + module.version_minor < version) text = "PTX " + VersionText(version);
  bool admitted = targets.empty();
  for (const TargetSpec& target : targets) admitted = admitted || target.Admits(module.sm, module.sm_suffix);
  if (!admitted) text += (text.empty() ? "" : " and ") + ("target " + TargetsText(targets));
  return text;
}

std::string Has(const Module& module) {
  return "the module has PTX " + std::to_string(module.version_major) + "." +
         std::to_string(module.version_minor) + " and " + module.target;
}

// Modifiers that some form of the instruction has.
std::vector<std::string> KnownModifiers(Op op) {
  std::vector<std::string> words;
  for (int form : FormsOf(op))
    for (const ModifierSlot& slot : Compiled(form).slots)
      for (const auto& sequence : slot.alternatives)
        for (const std::string& word : sequence)
          if (!Contains(words, word)) words.push_back(word);
  return words;
}

bool ContainsOneOf(const std::vector<std::string>& words, const std::vector<std::string>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](const std::string& word) { return Contains(words, word); });
}

bool AnyMatches(Op op, const std::vector<std::string>& modifiers) {
  for (int form : FormsOf(op))
    if (MatchModifiers(Compiled(form), modifiers, nullptr)) return true;
  return false;
}

// How many of the modifiers a form has a place for.
size_t Overlap(int form, const std::vector<std::string>& modifiers) {
  size_t count = 0;
  for (const std::string& modifier : modifiers) {
    bool found = false;
    for (const ModifierSlot& slot : Compiled(form).slots)
      for (const auto& sequence : slot.alternatives) found = found || Contains(sequence, modifier);
    count += found ? 2 : 0;
  }
  return count;
}

// The form that the writer most likely meant.
int Likeliest(Op op, const std::vector<std::string>& modifiers) {
  int best = -1;
  size_t best_score = 0;
  for (int form : FormsOf(op)) {
    size_t mandatory = 0;
    for (const ModifierSlot& slot : Compiled(form).slots) mandatory += slot.optional ? 0 : 1;
    const size_t score = 1000 + Overlap(form, modifiers) - std::min<size_t>(mandatory, 100);
    if (best < 0 || score > best_score) {
      best = form;
      best_score = score;
    }
  }
  return best;
}

void ExplainModifiers(Op op, const std::vector<std::string>& modifiers, FormChoice* choice) {
  const std::string name = OpName(op);
  const std::vector<std::string> known = KnownModifiers(op);
  for (size_t i = 0; i < modifiers.size(); ++i) {
    if (Contains(known, modifiers[i])) continue;
    const std::string dotted = "." + modifiers[i];
    Nearest nearest(dotted);
    for (const std::string& word : known) nearest.Try("." + word);
    Type type;
    choice->modifier = static_cast<int>(i);
    choice->error = FindType(modifiers[i], &type)
                        ? "'" + name + "' has no form with the type '." + modifiers[i] + "'" + nearest.Text()
                        : "unknown modifier '." + modifiers[i] + "' of '" + name + "'" + nearest.Text();
    return;
  }
  const std::string whole = Spell(op, modifiers);
  for (size_t i = 0; i < modifiers.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (modifiers[i] == modifiers[j]) {
        std::vector<std::string> fewer = modifiers;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        if (!AnyMatches(op, fewer)) continue;
        choice->modifier = static_cast<int>(i);
        choice->error = "'." + modifiers[i] + "' stands twice in '" + whole + "'";
        return;
      }
  const int likeliest = Likeliest(op, modifiers);
  if (modifiers.size() > 24) {
    choice->error = "'" + whole.substr(0, 200) + "' has " + std::to_string(modifiers.size()) +
                    " modifiers: no form has so many";
    return;
  }
  const std::string expected = likeliest < 0 ? "" : ": expected " + Mnemonic(likeliest);
  // One modifier too many, from the end: types stand there and are seldom the mistake.
  for (size_t i = 0; i < modifiers.size(); ++i) {
    std::vector<std::string> fewer = modifiers;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (!AnyMatches(op, fewer)) continue;
    std::vector<std::string> with;
    for (int form : FormsOf(op))
      if (MatchModifiers(Compiled(form), fewer, nullptr)) with.push_back(Mnemonic(form));
    choice->modifier = static_cast<int>(i);
    choice->error = "the modifier '." + modifiers[i] + "' does not go with '" + Spell(op, fewer) +
                    "': expected " + with[0];
    return;
  }
  // One that is missing.
  for (const std::string& word : known)
    for (size_t at = 0; at <= modifiers.size(); ++at) {
      std::vector<std::string> more = modifiers;
      more.insert(more.begin() + static_cast<std::ptrdiff_t>(at), word);
      if (!AnyMatches(op, more)) continue;
      choice->error = "'" + whole + "' lacks a modifier like '." + word + "'" + expected;
      return;
    }
  // One that should be another.
  for (size_t i = modifiers.size(); i-- > 0;) {
    std::vector<std::string> other = modifiers;
    std::vector<std::string> fit;
    for (const std::string& word : known) {
      other[i] = word;
      if (AnyMatches(op, other)) fit.push_back(word);
    }
    if (fit.empty()) continue;
    Type type;
    const bool is_type = FindType(modifiers[i], &type);
    std::string list;
    for (size_t j = 0; j < fit.size() && j < 12; ++j)
      list += (j == 0 ? "." : j + 1 == fit.size() ? " or ." : ", .") + fit[j];
    if (fit.size() > 12) list += " ...";
    choice->modifier = static_cast<int>(i);
    choice->error = std::string(is_type ? "the type '." : "the modifier '.") + modifiers[i] +
                    "' does not fit in '" + whole + "': expected " + list;
    return;
  }
  choice->error = "'" + whole + "' is no form of '" + name + "'" + expected;
}

// Forms that a later version withdrew.
struct Withdrawal {
  Op op;
  const char* without;
  int version, sm;
};
constexpr Withdrawal kWithdrawn[] = {{Op::kShfl, "sync", 64, 70}, {Op::kVote, "sync", 64, 70}};

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

struct Checker {
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
    return (spec.destination ? "a register of type " : "a register or constant of type ") + what +
           (spec.wider ? " or wider" : "");
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
        if (spec.width == OperandSpec::Width::kAddress
                ? !RegisterFits(held, Type::kU64, false) && !RegisterFits(held, Type::kU32, false)
                : !RegisterFits(held, type, spec.wider))
          return Fail(got, Expected(type, length));
        if (spec.no_float && IsFloat(held) && held != Type::kF16x2) return Fail(got, Expected(type, length));
        return true;
      }
      case Kind::kImmediate:
        if (spec.destination || IsFloat(type) || IsPackedInteger(type) ||
            spec.width == OperandSpec::Width::kAddress)
          return Fail(got, Expected(type, length));
        return Value(static_cast<int64_t>(operand.bits));
      case Kind::kFloat:
        // A bit pattern: 0f for 32 bits, 0d (or 1.0) for 64.
        if (spec.destination || (type != Type::kF32 && type != Type::kF64 &&
                                 (operand.is_f32 ? type != Type::kB32 : type != Type::kB64)))
          return Fail(got, Expected(type, length));
        return true;
      case Kind::kSpecial: {
        const std::string base = operand.special.substr(0, operand.special.find('.'));
        const SpecialRegister* special = FindSpecialRegister(base);
        if (!spec.special || special == nullptr) return Fail(got, Expected(type, length));
        if (IsFloat(type) || (!RegisterFits(special->type, type, spec.wider) &&
                              !(TypeBits(type) == 16 && TypeBits(special->type) == 32)))
          return Fail(got, Expected(type, length));
        return true;
      }
      case Kind::kVariable:
      case Kind::kFunction:
        if (!spec.variable) return Fail(got, Expected(type, length));
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

  bool Vector(const Operand& operand, Type type, int length) {
    if (operand.kind != Kind::kVector) return Fail(Describe(function, operand), Expected(type, length));
    if (length > 0 && operand.elements.size() != static_cast<size_t>(length))
      return Fail(Describe(function, operand), Expected(type, length));
    for (const Operand& element : operand.elements) {
      if (element.kind == Kind::kSink && spec.destination) continue;
      if (!Scalar(element, type, length)) return false;
    }
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
        return operand.kind == Kind::kTensor ||
               Fail(Describe(function, operand), "an address with coordinates in []");
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

  bool Address(const Operand& operand) {
    if (operand.kind != Kind::kAddress) return Fail(Describe(function, operand), "an address in []");
    if (operand.base_kind != Operand::Base::kRegister) return true;
    const Type held = function.registers[static_cast<size_t>(operand.index)].type;
    if (IsFloat(held) || TypeBits(held) < 32 || TypeBits(held) > (spec.type == Type::kB32 ? 32 : 64))
      return Fail("an address in a register of type " + TypeText(held),
                  spec.type == Type::kB32 ? "a register of 32 bits that is no float"
                                          : "a register of 32 or 64 bits that is no float");
    return true;
  }
};

// Tries the operands in order; where an optional one does not fit, without it. `reached`: the furthest
// operand that was looked at, whose fault is the likeliest mistake.
struct Attempt {
  const Function& function;
  const Instruction& instruction;
  const CompiledForm& form;
  size_t reached = 0;
  std::string message;
  bool count_fault = true;

  bool Try(size_t spec, size_t operand) {
    const size_t have = instruction.operands.size();
    if (spec == form.operands.size()) {
      if (operand == have) return true;
      return false;
    }
    const OperandSpec& rule = form.operands[spec];
    if (rule.shape == Shape::kCallee) return true;
    const bool must = !rule.optional || (!rule.needs_modifier.empty() &&
                                         ContainsOneOf(instruction.modifiers, rule.needs_modifier));
    const bool may = must || rule.needs_modifier.empty();
    if (may && operand < have) {
      std::string why;
      Checker checker{function, instruction, rule, operand, &why};
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

FormChoice ChooseForms(const Module& module, Op op, const std::vector<std::string>& modifiers,
                       const std::vector<Type>& types) {
  FormChoice choice;
  std::vector<FormChoice::Candidate> matching;
  for (int form : FormsOf(op)) {
    FormChoice::Candidate candidate;
    candidate.form = form;
    if (MatchModifiers(Compiled(form), modifiers, &candidate.modifiers))
      matching.push_back(std::move(candidate));
  }
  (void)types;
  if (matching.empty()) {
    ExplainModifiers(op, modifiers, &choice);
    return choice;
  }
  const std::string whole = Spell(op, modifiers);
  if (const ModifierRule* broken = BrokenRule(op, modifiers, &choice.modifier)) {
    choice.error = "in '" + whole + "' " + broken->Text();
    return choice;
  }
  for (const Withdrawal& row : kWithdrawn)
    if (row.op == op && !Contains(modifiers, row.without) && module.sm >= row.sm &&
        module.version_major * 10 + module.version_minor >= row.version) {
      choice.error = "'" + whole + "' without '." + row.without + "' ended with PTX " +
                     VersionText(row.version) + " on sm_" + std::to_string(row.sm) +
                     " and later: " + Has(module);
      return choice;
    }
  for (const ModifierNeed& need : ModifierNeeds()) {
    if (!need.AppliesTo(op, modifiers)) continue;
    const std::string lacks = Lacks(module, need.ptx_version, need.targets);
    if (lacks.empty()) continue;
    for (size_t i = 0; i < modifiers.size(); ++i)
      if (modifiers[i] == need.modifiers[0]) choice.modifier = static_cast<int>(i);
    choice.error = "'." + need.Text() + "' of '" + OpName(op) + "' needs " + lacks + ": " + Has(module);
    return choice;
  }
  std::string lacks;
  for (FormChoice::Candidate& candidate : matching) {
    const std::string now = Lacks(module, Forms()[static_cast<size_t>(candidate.form)].ptx_version,
                                  Compiled(candidate.form).targets);
    if (now.empty())
      choice.candidates.push_back(std::move(candidate));
    else if (lacks.empty())
      lacks = now;
  }
  if (choice.candidates.empty()) choice.error = "'" + whole + "' needs " + lacks + ": " + Has(module);
  return choice;
}

bool CheckOperands(const Function& function, const FormChoice& choice, Instruction* instruction,
                   OperandFault* fault) {
  size_t reached = 0;
  bool any_count = false;
  const size_t have = instruction->operands.size();
  for (const FormChoice::Candidate& candidate : choice.candidates) {
    const CompiledForm& form = Compiled(candidate.form);
    Attempt attempt{function, *instruction, form, 0, "", true};
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
      fault->location = instruction->operands[attempt.reached].location;
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
