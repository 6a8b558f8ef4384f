// SPDX-License-Identifier: Apache-2.0
// Lists of targets and prototypes, and calls against what they call (PTX ISA, "Control Flow Instructions:
// call"; which types of arguments fit is what ptxas takes).
#include <algorithm>
#include <utility>

#include "emu/ptx/parse/parser.h"

namespace understudy::emu::ptx {
namespace {

using Kind = Operand::Kind;

bool IsBits(Type type) {
  return type == Type::kB8 || type == Type::kB16 || type == Type::kB32 || type == Type::kB64 ||
         type == Type::kB128;
}

// Whether a value of one type may be passed as the other: as many bits, and both floats or both integers.
bool Passes(Type formal, Type actual) {
  if (formal == actual) return true;
  if (formal == Type::kPred || actual == Type::kPred || TypeBits(formal) != TypeBits(actual)) return false;
  if (formal == Type::kF16x2 || actual == Type::kF16x2 || IsBits(formal) || IsBits(actual)) return true;
  return IsFloat(formal) == IsFloat(actual);
}

std::string TypeText(const Variable& variable) {
  std::string text;
  if (variable.vector > 1) text = ".v" + std::to_string(variable.vector) + " ";
  text += std::string(".") + TypeName(variable.type);
  for (uint64_t dim : variable.dims) text += "[" + (dim == 0 ? std::string() : std::to_string(dim)) + "]";
  if (variable.is_array) text = ".align " + std::to_string(variable.alignment) + " " + text;
  return text;
}

}  // namespace

bool Parser::ParseBranchTargets(std::string_view label, Location where) {
  const int list = static_cast<int>(function_->branch_targets.size());
  function_->branch_targets.emplace_back();
  do {
    std::string_view name;
    Location at;
    if (!ParseName("a label", &name, &at)) return false;
    auto& targets = function_->branch_targets.back();
    const auto use = [&](std::string_view target) {
      scopes_.Use({LabelUse::Wanted::kTargetElement, target, at, list, static_cast<int>(targets.size())});
      targets.push_back(-1);
    };
    if (!cursor_.AcceptPunct("<")) {
      use(name);
      continue;
    }
    Constant count;  // L<5>: L0 to L4
    const Location count_at = cursor_.Peek().location;
    if (!ParseLiteral("the count of labels", 65536, &count) || !Expect(">", "after a count of labels"))
      return false;
    if (count.bits == 0) return Fail(count_at, "the count of labels is 0: expected 1 or more");
    for (uint64_t i = 0; i < count.bits; ++i) {
      range_names_.push_back(std::make_unique<std::string>(std::string(name) + std::to_string(i)));
      use(*range_names_.back());
    }
  } while (cursor_.AcceptPunct(","));
  return DeclareLabel(label, {LabelEntry::Kind::kBranchTargets, list}, where) &&
         Expect(";", "after .branchtargets");
}

bool Parser::ParseCallTargets(std::string_view label, Location where) {
  Prototype prototype;
  prototype.label = std::string(label);
  do {
    std::string_view name;
    Location at;
    if (!ParseName("a function", &name, &at)) return false;
    const Symbol symbol = Find(name);
    if (symbol.kind != Symbol::Kind::kFunction)
      return Fail(at,
                  "the call target '" + std::string(name) + "' is not a declared function" + Suggest(name));
    if (module_.functions[static_cast<size_t>(symbol.index)].is_entry)
      return Fail(at, "the call target '" + std::string(name) + "' is a kernel: expected a .func");
    prototype.targets.push_back(symbol.index);
  } while (cursor_.AcceptPunct(","));
  const Function& first = module_.functions[static_cast<size_t>(prototype.targets[0])];
  prototype.returns = first.returns;
  prototype.parameters = first.parameters;
  prototype.noreturn = first.noreturn;
  if (!DeclareLabel(label, {LabelEntry::Kind::kPrototype, static_cast<int>(function_->prototypes.size())},
                    where))
    return false;
  function_->prototypes.push_back(std::move(prototype));
  return Expect(";", "after .calltargets");
}

bool Parser::ParseCallPrototype(std::string_view label, Location where) {
  Prototype prototype;
  prototype.label = std::string(label);
  const auto list = [this](std::vector<Variable>* parameters) {
    if (!Expect("(", "at the start of a prototype's parameters")) return false;
    if (cursor_.AcceptPunct(")")) return true;
    do {
      Variable parameter;
      if (!ParseOneParameter(&parameter, false, true)) return false;
      parameters->push_back(std::move(parameter));
    } while (cursor_.AcceptPunct(","));
    return Expect(")", "after a prototype's parameters");
  };
  if (cursor_.IsPunct("(") && (!list(&prototype.returns) || !CheckReturns(prototype.returns))) return false;
  if (cursor_.Peek().text != "_")
    return Fail(cursor_.Peek().location, "expected '_' in .callprototype, got " + Describe(cursor_.Peek()));
  cursor_.Next();
  if (cursor_.IsPunct("(") && !list(&prototype.parameters)) return false;
  if (!CheckParameters(prototype.parameters, where, false) ||
      !ParseFunctionDirectives(prototype.label, !prototype.returns.empty(), &prototype.noreturn))
    return false;
  if (!DeclareLabel(label, {LabelEntry::Kind::kPrototype, static_cast<int>(function_->prototypes.size())},
                    where))
    return false;
  function_->prototypes.push_back(std::move(prototype));
  return Expect(";", "after .callprototype");
}

// {(results),} callee {, (arguments)} {, prototype}: the shape of the operands, then each against its formal.
bool Parser::CheckCall(const Instruction& call) {
  const std::vector<Operand>& operands = call.operands;
  const Operand *results = nullptr, *arguments = nullptr, *prototype = nullptr;
  size_t next = 0;
  if (operands[next].kind == Kind::kGroup) results = &operands[next++];
  if (next == operands.size() ||
      (operands[next].kind != Kind::kFunction && operands[next].kind != Kind::kRegister))
    return Fail(next == operands.size() ? call.location : operands[next].location,
                "expected a function or a register with one's address");
  const Operand& callee = operands[next++];
  if (next < operands.size() && operands[next].kind == Kind::kGroup) arguments = &operands[next++];
  if (next < operands.size() && operands[next].kind == Kind::kPrototype) prototype = &operands[next++];
  if (next < operands.size())
    return Fail(operands[next].location,
                "an operand too many of 'call': expected call (result), fn, (arguments)");
  const auto check = [&](const std::string& name, const std::vector<Variable>& returns,
                         const std::vector<Variable>& parameters) {
    return CheckArguments(name, returns, results, true, call.location) &&
           CheckArguments(name, parameters, arguments, false, call.location);
  };
  if (callee.kind == Kind::kFunction) {
    const Function& function = module_.functions[static_cast<size_t>(callee.index)];
    if (prototype != nullptr)
      return Fail(prototype->location, "a prototype of the call of '" + function.name +
                                           "': expected it with a function's address in a register only");
    if (function.is_entry)
      return Fail(callee.location, "the call of '" + function.name + "', a kernel: expected a .func");
    return check("'" + function.name + "'", function.returns, function.parameters);
  }
  if (prototype == nullptr)
    return Fail(callee.location,
                "a call through a register without a prototype: expected the label of a "
                ".callprototype or .calltargets as its last operand");
  const LabelEntry* label = scopes_.FindLabel(prototype_name_);
  if (label == nullptr || label->kind != LabelEntry::Kind::kPrototype)
    return Fail(prototype->location,
                "'" + std::string(prototype_name_) +
                    "' is no label of a .callprototype or .calltargets before this call");
  const Prototype& found = function_->prototypes[static_cast<size_t>(label->index)];
  if (found.targets.empty()) return check("'" + found.label + "'", found.returns, found.parameters);
  for (int target : found.targets) {
    const Function& function = module_.functions[static_cast<size_t>(target)];
    if (!check("'" + function.name + "' of '" + found.label + "'", function.returns, function.parameters))
      return false;
  }
  return true;
}

bool Parser::CheckArguments(const std::string& callee, const std::vector<Variable>& formals,
                            const Operand* group, bool results, Location where) {
  const size_t have = group == nullptr ? 0 : group->elements.size();
  const char* const what = results ? " results" : " arguments";
  if (have != formals.size())
    return Fail(group == nullptr ? where : group->location, "the call of " + callee + " with " +
                                                                std::to_string(have) + what + ": it has " +
                                                                std::to_string(formals.size()));
  for (size_t i = 0; i < have; ++i)
    if (!CheckArgument(callee, formals[i], group->elements[i], results)) return false;
  return true;
}

bool Parser::CheckArgument(const std::string& callee, const Variable& formal, const Operand& actual,
                           bool result) {
  const auto fail = [&](const std::string& got) {
    return Fail(actual.location, std::string(result ? "the result '" : "the argument '") + formal.name +
                                     "' of " + callee + " is " + got + ": expected " +
                                     (formal.space == Space::kReg ? ".reg " : "") + TypeText(formal));
  };
  // The calling convention has no registers for these.
  if (formal.type == Type::kPred || formal.type == Type::kU8 || formal.type == Type::kS8) {
    if (!formal.is_array)
      return Fail(actual.location, "the call of " + callee + ", which has '" + formal.name + "' of type ." +
                                       TypeName(formal.type) + ": expected 16 bits or more, or .b8");
  }
  switch (actual.kind) {
    case Kind::kSink:
      return result || fail("'_'");
    case Kind::kVariable: {
      const Variable& variable = *VariableOf(actual);
      if (actual.scope == Operand::Scope::kParameter || actual.scope == Operand::Scope::kReturn)
        return fail("'" + variable.name + "', a parameter of the caller's own");
      if (variable.space != Space::kParam)
        return fail("'" + variable.name + "' in ." + SpaceName(variable.space));
      if (actual.offset != 0) return fail("a place in '" + variable.name + "'");
      const bool open = formal.is_array && formal.dims[0] == 0;
      const bool fits = formal.is_array && variable.is_array
                            ? (open || formal.size == variable.size) && formal.alignment == variable.alignment
                            : formal.is_array == variable.is_array && formal.vector == 1 &&
                                  Passes(formal.type, variable.type);
      return fits || fail("'" + variable.name + "' of type " + TypeText(variable));
    }
    case Kind::kRegister: {
      const Register& held = function_->registers[static_cast<size_t>(actual.index)];
      if (actual.negated || !actual.selector.empty()) return fail("a part of '" + held.name + "'");
      if (!formal.is_array && formal.vector == 1 && Passes(formal.type, held.type)) return true;
      return fail("'" + held.name + "' of type ." + TypeName(held.type));
    }
    case Kind::kVector: {
      // A vector register by its name.
      if (formal.is_array || static_cast<size_t>(formal.vector) != actual.elements.size())
        return fail("a vector of " + std::to_string(actual.elements.size()));
      const Type held = function_->registers[static_cast<size_t>(actual.elements[0].index)].type;
      return Passes(formal.type, held) || fail(std::string("a vector of type .") + TypeName(held));
    }
    case Kind::kImmediate:
      if (!result && !formal.is_array && formal.vector == 1 && formal.type != Type::kF16x2 &&
          !IsFloat(formal.type))
        return true;
      return fail("an integer constant");
    case Kind::kFloat:
      if (!result && !formal.is_array && formal.vector == 1 &&
          (IsFloat(formal.type) || IsBits(formal.type)) && (formal.type != Type::kF16x2 || actual.is_f32))
        return true;
      return fail("a float constant");
    default:
      return fail("none of these");
  }
}

}  // namespace understudy::emu::ptx
