// SPDX-License-Identifier: Apache-2.0
// Headers of kernels and functions: parameters, results, the directives behind them, declarations against
// definitions.
#include <algorithm>
#include <utility>

#include "emu/ptx/parse/parser.h"
#include "emu/ptx/parse/suggest.h"

namespace understudy::emu::ptx {
namespace {

// Kernel parameters in all (PTX ISA, "Kernel Function Parameters").
constexpr uint64_t kParameterBytes = 4352, kLargeParameterBytes = 32764;
constexpr int kLargeParametersSince = 81, kLargeParametersSm = 70;

}  // namespace

bool Parser::ParseFunction(Linkage linkage, const Token& word, bool is_entry) {
  Function function;
  function.is_entry = is_entry;
  function.linkage = linkage;
  function.is_declaration = true;
  function.location = word.location;
  if (linkage == Linkage::kCommon)
    return Fail(word.location, "'.common' of " + std::string(is_entry ? "a kernel" : "a function") +
                                   ": expected a .global variable");
  function_ = &function;
  scopes_.Clear();
  scopes_.Push();
  struct Leave {
    Parser* parser;
    ~Leave() {
      parser->function_ = nullptr;
      parser->scopes_.Clear();
    }
  } leave{this};
  if (!is_entry && cursor_.IsDot("attribute")) {
    Require(DirectiveId::kAttribute, cursor_.Next().location);
    if (!Expect("(", "after .attribute")) return false;
    if (!cursor_.IsDot("unified"))
      return Fail(cursor_.Peek().location,
                  "expected .unified in the .attribute of a function, got " + Describe(cursor_.Peek()));
    if (!ParseUnified() || !Expect(")", "after .attribute")) return false;
  }
  if (cursor_.IsPunct("(")) {
    if (is_entry)
      return Fail(cursor_.Peek().location, "a kernel returns nothing: expected its name after .entry");
    if (!ParseParameters(&function.returns, &function.return_registers, Operand::Scope::kReturn, false) ||
        !CheckReturns(function.returns))
      return false;
  }
  std::string_view name;
  Location name_at;
  if (!ParseName(is_entry ? "a kernel" : "a function", &name, &name_at)) return false;
  function.name = std::string(name);
  if (name[0] == '%' && FindSpecialRegister(std::string(name.substr(1))) != nullptr)
    return Fail(name_at, "'" + function.name + "' is a special register: expected another name");
  if (cursor_.IsPunct("(") && !ParseParameters(&function.parameters, &function.parameter_registers,
                                               Operand::Scope::kParameter, is_entry))
    return false;
  if (!CheckParameters(function.parameters, name_at, is_entry)) return false;
  const bool plain = cursor_.Peek().kind != Token::Kind::kDot;
  if (is_entry ? !ParsePerformanceDirectives(&function)
               : !ParseFunctionDirectives(function.name, !function.returns.empty(), &function.noreturn))
    return false;
  const bool has_body = cursor_.IsPunct("{");
  if (has_body && linkage == Linkage::kExtern)
    return Fail(name_at, "the .extern function '" + function.name + "' has a body: expected ';'");
  if (!has_body && is_entry && !plain)
    return Fail(cursor_.Peek().location, "expected '{' after the performance directives of '" +
                                             function.name + "', got " + Describe(cursor_.Peek()));
  if (!has_body && !cursor_.IsPunct(";"))
    return Fail(cursor_.Peek().location,
                "expected '{', ';' or a performance directive after the header of '" + function.name +
                    "', got " + Describe(cursor_.Peek()));
  function.is_declaration = !has_body;
  int index = -1;
  if (!AddFunction(std::move(function), &index)) return false;
  module_symbols_[name] = {Symbol::Kind::kFunction, Operand::Scope::kModule, Type::kNone, 1, index, 0};
  if (!has_body) return Expect(";", "after a function's declaration");
  function_ = &module_.functions[static_cast<size_t>(index)];
  cursor_.Next();
  ParseBody();
  return true;
}

// A declaration and the definition after it are one function.
bool Parser::AddFunction(Function function, int* index) {
  auto symbol = module_symbols_.find(function.name);
  if (symbol == module_symbols_.end()) {
    *index = static_cast<int>(module_.functions.size());
    module_.functions.push_back(std::move(function));
    return true;
  }
  if (symbol->second.kind != Symbol::Kind::kFunction)
    return Fail(function.location, "'" + function.name + "' is a variable already: expected a new name");
  *index = symbol->second.index;
  Function& before = module_.functions[static_cast<size_t>(*index)];
  const std::string line = std::to_string(before.location.line);
  if (!before.is_declaration)
    return Fail(function.location, "'" + function.name + "' is defined " +
                                       (function.is_declaration ? "already" : "twice: first") + " in line " +
                                       line);
  if (!before.alias_of.empty() && !function.is_declaration)
    return Fail(function.location,
                "'" + function.name + "' is an alias of '" + before.alias_of + "' already");
  const std::string difference =
      before.is_entry != function.is_entry ? ".entry and .func" : SignatureDifference(before, function);
  if (!difference.empty())
    return Fail(function.location,
                "'" + function.name + "' differs from its declaration in line " + line + " in " + difference);
  if (function.linkage != before.linkage &&
      (function.linkage != Linkage::kNone || before.linkage == Linkage::kExtern))
    return Fail(function.location, "'" + function.name + "' differs from its declaration in line " + line +
                                       " in its linking directive");
  if (function.linkage == Linkage::kNone) function.linkage = before.linkage;
  function.alias_of = before.alias_of;
  before = std::move(function);
  return true;
}

std::string Parser::SignatureDifference(const Function& a, const Function& b) const {
  if (a.parameters.size() != b.parameters.size()) return "the number of parameters";
  if (a.returns.size() != b.returns.size()) return "the number of results";
  const auto compare = [](const std::vector<Variable>& x, const std::vector<Variable>& y,
                          const std::string& what) -> std::string {
    for (size_t i = 0; i < x.size(); ++i) {
      const std::string which = what + " '" + y[i].name + "'";
      if (x[i].space != y[i].space) return "the state space of " + which;
      if (x[i].type != y[i].type || x[i].vector != y[i].vector || x[i].is_array != y[i].is_array ||
          x[i].dims != y[i].dims)
        return "the type of " + which;
      if (x[i].alignment != y[i].alignment) return "the alignment of " + which;
    }
    return "";
  };
  std::string difference = compare(a.parameters, b.parameters, "the parameter");
  if (difference.empty()) difference = compare(a.returns, b.returns, "the result");
  if (difference.empty() && a.noreturn != b.noreturn) difference = ".noreturn";
  return difference;
}

bool Parser::ParseParameters(std::vector<Variable>* parameters, std::vector<int>* registers,
                             Operand::Scope scope, bool is_entry) {
  cursor_.Next();  // (
  if (cursor_.AcceptPunct(")")) return true;
  do {
    Variable parameter;
    if (!ParseOneParameter(&parameter, is_entry, false)) return false;
    int index = -1;
    Symbol symbol{Symbol::Kind::kVariable, scope, Type::kNone, 1, static_cast<int>(parameters->size()), 0};
    if (parameter.space == Space::kReg) {
      const bool vector = parameter.vector > 1;
      index = vector ? AddVectorRegister(parameter_name_, parameter.type, parameter.vector)
                     : AddRegister(parameter.name, parameter.type);
      symbol = {vector ? Symbol::Kind::kVectorRegister : Symbol::Kind::kRegister,
                Operand::Scope::kModule,
                parameter.type,
                static_cast<uint8_t>(parameter.vector),
                index,
                static_cast<uint64_t>(parameter.vector)};
    }
    if (!scopes_.Declare(parameter_name_, symbol))
      return Fail(parameter.location, "the parameter '" + parameter.name + "' is declared twice");
    registers->push_back(index);
    parameters->push_back(std::move(parameter));
  } while (cursor_.AcceptPunct(","));
  return Expect(")", "after the parameters");
}

bool Parser::ParseOneParameter(Variable* parameter, bool is_entry, bool allow_unnamed) {
  const Token space = cursor_.Peek();
  if (cursor_.AcceptDot("param")) {
    parameter->space = Space::kParam;
    if (!is_entry) Require("'.param' of a function", 20, 20, space.location);
  } else if (!is_entry && cursor_.AcceptDot("reg")) {
    parameter->space = Space::kReg;
  } else {
    return Fail(space.location, std::string("expected .param ") + (is_entry ? "" : "or .reg ") +
                                    "at the start of a parameter, got " + Describe(space));
  }
  if (!ParseHead(parameter, is_entry ? Declared::kKernelParameter : Declared::kFunctionParameter))
    return false;
  parameter->location = cursor_.Peek().location;
  if (allow_unnamed && cursor_.Peek().text == "_") {
    cursor_.Next();
    parameter->name = "_";
  } else {
    if (!ParseName("a parameter", &parameter_name_, &parameter->location)) return false;
    parameter->name = std::string(parameter_name_);
  }
  if (cursor_.IsPunct("[")) {
    if (parameter->space == Space::kReg)
      return Fail(cursor_.Peek().location,
                  "an array '" + parameter->name + "' of registers: expected .param");
    if (!ParseDimensions(parameter, 1)) return false;
  }
  return FinishSize(parameter);
}

bool Parser::CheckParameters(const std::vector<Variable>& parameters, Location where, bool is_entry) {
  uint64_t bytes = 0;
  for (const Variable& parameter : parameters) {
    const bool open = parameter.is_array && parameter.dims[0] == 0;
    if (open && is_entry)
      return Fail(parameter.location, "the size of the kernel's parameter '" + parameter.name +
                                          "' is missing: expected it in '[]'");
    if (open && &parameter != &parameters.back())
      return Fail(parameter.location, "the size of '" + parameter.name +
                                          "' is missing: expected it of all parameters but the last");
    bytes = (bytes + parameter.alignment - 1) / parameter.alignment * parameter.alignment + parameter.size;
  }
  if (!is_entry || bytes <= kParameterBytes || module_.sm == 0) return true;
  const bool large = module_.version_major * 10 + module_.version_minor >= kLargeParametersSince;
  if (large && bytes <= kLargeParameterBytes) {
    Require("more than " + std::to_string(kParameterBytes) + " bytes of kernel parameters",
            kLargeParametersSince, kLargeParametersSm, where);
    return true;
  }
  Fail(where, "the kernel's parameters have " + std::to_string(bytes) + " bytes in all: expected at most " +
                  std::to_string(large ? kLargeParameterBytes : kParameterBytes));
  return true;
}

bool Parser::CheckReturns(const std::vector<Variable>& returns) {
  if (returns.size() < 2) return true;
  for (const Variable& result : returns)
    if (result.space != Space::kReg)
      return Fail(result.location, "the result '" + result.name + "' in .param is one of " +
                                       std::to_string(returns.size()) + ": expected .reg, or one alone");
  return true;
}

// .noreturn, .abi_preserve: of functions and prototypes.
bool Parser::ParseFunctionDirectives(const std::string& name, bool returns, bool* noreturn) {
  uint32_t preserved = 0, control = 0;
  while (cursor_.Peek().kind == Token::Kind::kDot) {
    const Token word = cursor_.Next();
    const Directive* directive = FindDirective(word.text);
    if (directive == nullptr || (directive->places & kAfterFunction) == 0) {
      if (directive != nullptr && (directive->places & kAfterKernel) != 0)
        return Fail(word.location, "." + std::string(word.text) +
                                       " of a function that is no kernel: expected it after .entry");
      return Fail(word.location, "unknown directive " + Describe(word) + " after the header of '" + name +
                                     "': expected .noreturn, .abi_preserve or .abi_preserve_control");
    }
    Require(directive->id, word.location);
    if (directive->id == DirectiveId::kNoreturn) {
      if (*noreturn)
        return Fail(word.location, "'.noreturn' stands twice after the header of '" + name + "'");
      if (returns) return Fail(word.location, "'.noreturn' of '" + name + "', which has a result");
      *noreturn = true;
      continue;
    }
    uint32_t& count = directive->id == DirectiveId::kAbiPreserve ? preserved : control;
    if (count != 0)
      return Fail(word.location,
                  "'." + std::string(word.text) + "' stands twice after the header of '" + name + "'");
    const Location at = cursor_.Peek().location;
    Constant value;
    if (!ParseLiteral("the count of ." + std::string(word.text), UINT32_MAX, &value)) return false;
    if (value.bits > 255)
      return Fail(at, "the count of ." + std::string(word.text) + " is " + std::to_string(value.bits) +
                          ": expected at most 255");
    count = static_cast<uint32_t>(value.bits) + 1;
  }
  return true;
}

bool Parser::ParsePerformanceDirectives(Function* function) {
  Location at[2][2] = {};  // of the pairs that exclude each other
  static constexpr DirectiveId kExclusive[2][2] = {
      {DirectiveId::kMaxntid, DirectiveId::kReqntid},
      {DirectiveId::kReqnctapercluster, DirectiveId::kMaxclusterrank}};
  while (cursor_.Peek().kind == Token::Kind::kDot) {
    const Token word = cursor_.Next();
    const Directive* directive = FindDirective(word.text);
    if (directive == nullptr || (directive->places & kAfterKernel) == 0) {
      if (directive != nullptr && directive->places == kAfterFunction)
        return Fail(word.location, "." + std::string(word.text) + " of a kernel: expected a .func");
      Nearest nearest(word.text);
      ForEachDirective(kAfterKernel, [&](const Directive& d) { nearest.Try(d.name); });
      return Fail(word.location, "unknown directive " + Describe(word) + " after the header of '" +
                                     function->name + "': expected a performance directive" + nearest.Text());
    }
    Require(directive->id, word.location);
    if (!ParsePerformanceDirective(*directive, word, function)) return false;
    for (size_t pair = 0; pair < 2; ++pair)
      for (size_t which = 0; which < 2; ++which)
        if (directive->id == kExclusive[pair][which]) {
          at[pair][which] = word.location;
          if (at[pair][1 - which].line != 0)
            Fail(word.location, "'." + std::string(word.text) + "' of '" + function->name +
                                    "', which has '." + DirectiveOf(kExclusive[pair][1 - which]).name +
                                    "': expected one of them");
        }
  }
  return true;
}

// Of a directive that stands again, the last one counts, as in ptxas.
bool Parser::ParsePerformanceDirective(const Directive& directive, const Token& word, Function* function) {
  const std::string name(word.text);
  switch (directive.id) {
    case DirectiveId::kPragma:
      return ParsePragma(kAfterKernel);
    case DirectiveId::kMaxntid:
      return ParseCounts(function->max_threads, name, false);
    case DirectiveId::kReqntid:
      return ParseCounts(function->required_threads, name, false);
    case DirectiveId::kReqnctapercluster:
      return ParseCounts(function->cluster, name, true);
    case DirectiveId::kMinnctapersm:
      return ParseCount(&function->min_blocks_per_sm, name);
    case DirectiveId::kMaxnctapersm:
      return ParseCount(&function->max_blocks_per_sm, name);
    case DirectiveId::kMaxnreg:
      return ParseCount(&function->max_registers, name);
    case DirectiveId::kMaxclusterrank:
      return ParseCount(&function->max_cluster_rank, name, true);
    case DirectiveId::kExplicitcluster:
      function->explicit_cluster = true;
      return true;
    default:
      function->blocks_are_clusters = true;
      return true;
  }
}

bool Parser::ParseCount(uint32_t* count, const std::string& directive, bool zero_is_none) {
  const Location where = cursor_.Peek().location;
  Constant value;
  const std::string what = "the count of ." + directive;
  if (!ParseLiteral(what, 0x7fffffff, &value)) return false;
  if (value.bits == 0 && !zero_is_none) return Fail(where, what + " is 0: expected 1 or more");
  *count = static_cast<uint32_t>(value.bits);
  return true;
}

// One to three counts; those left out are 1. With `zero_is_none` a count of 0 stands for none at all.
bool Parser::ParseCounts(uint32_t* counts, const std::string& directive, bool zero_is_none) {
  for (int i = 0; i < 3; ++i) counts[i] = 1;
  bool more = true;
  for (int i = 0; i < 3 && more; ++i) {
    if (!ParseCount(&counts[i], directive, zero_is_none)) return false;
    more = cursor_.AcceptPunct(",");
  }
  if (more) return Fail(cursor_.Peek().location, "." + directive + " has more than three counts");
  if (std::find(counts, counts + 3, 0u) != counts + 3) std::fill(counts, counts + 3, 0u);
  return true;
}

}  // namespace understudy::emu::ptx
