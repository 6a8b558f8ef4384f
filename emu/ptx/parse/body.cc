// SPDX-License-Identifier: Apache-2.0
// Function bodies: blocks, labels, directives among the statements, instructions up to their operands.
#include <utility>

#include "emu/ptx/parse/parser.h"
#include "emu/ptx/parse/suggest.h"

namespace understudy::emu::ptx {
namespace {

constexpr size_t kMaxNesting = 1000;

bool FindSpace(const std::string& modifier, Space* space) {
  static constexpr std::pair<const char*, Space> kSpaces[] = {{"global", Space::kGlobal},
                                                              {"shared", Space::kShared},
                                                              {"param", Space::kParam},
                                                              {"local", Space::kLocal},
                                                              {"const", Space::kConst},
                                                              {"shared::cta", Space::kShared},
                                                              {"shared::cluster", Space::kSharedCluster},
                                                              {"param::entry", Space::kParam},
                                                              {"param::func", Space::kParam}};
  for (const auto& [word, value] : kSpaces)
    if (modifier == word) {
      *space = value;
      return true;
    }
  return false;
}

}  // namespace

void Parser::ParseBody() {
  while (!cursor_.AtEnd() && !diagnostics_.Full()) {
    if (cursor_.AcceptPunct("}")) {
      CloseScope();
      if (scopes_.depth() == 0) return;
      continue;
    }
    if (cursor_.IsPunct("{")) {
      if (scopes_.depth() >= kMaxNesting) {
        Fail(cursor_.Peek().location, "blocks are nested more than " + std::to_string(kMaxNesting) + " deep");
        while (!cursor_.AtEnd()) cursor_.Next();
        break;
      }
      cursor_.Next();
      scopes_.Push();
      continue;
    }
    const size_t before = cursor_.position();
    if (!Statement()) {
      cursor_.Rewind(before);  // braces of operands are counted from the statement's start
      Recover(true);
    }
    if (cursor_.position() == before) cursor_.Next();
  }
  if (!diagnostics_.Full())
    Fail(function_->location, "the body of '" + function_->name + "' has no closing '}'");
  while (scopes_.depth() > 0) CloseScope();
}

void Parser::CloseScope() {
  const std::vector<LabelUse> left =
      scopes_.Pop([this](const LabelUse& use, const LabelEntry& entry) { ResolveLabel(use, entry); });
  for (const LabelUse& use : left) {
    Nearest nearest(use.name);
    for (const auto& [name, index] : function_->labels) nearest.Try(name);
    const char* const what = use.wanted == LabelUse::Wanted::kPrototype ? "the prototype" : "the label";
    Fail(use.location, std::string(what) + " '" + std::string(use.name) +
                           "' is not defined in this block or around it" + nearest.Text());
  }
}

void Parser::ResolveLabel(const LabelUse& use, const LabelEntry& entry) {
  using Wanted = LabelUse::Wanted;
  using Kind = LabelEntry::Kind;
  const Kind wanted = use.wanted == Wanted::kPrototype       ? Kind::kPrototype
                      : use.wanted == Wanted::kBranchTargets ? Kind::kBranchTargets
                                                             : Kind::kCode;
  if (entry.kind != wanted) {
    static constexpr const char* kNames[] = {"a label of code", "a label of .branchtargets",
                                             "a label of .callprototype or .calltargets"};
    Fail(use.location, "'" + std::string(use.name) + "' is " + kNames[static_cast<int>(entry.kind)] +
                           ": expected " + kNames[static_cast<int>(wanted)]);
    return;
  }
  if (use.wanted == Wanted::kTargetElement) {
    function_->branch_targets[static_cast<size_t>(use.instruction)][static_cast<size_t>(use.operand)] =
        entry.index;
    return;
  }
  function_->body[static_cast<size_t>(use.instruction)].operands[static_cast<size_t>(use.operand)].index =
      entry.index;
}

bool Parser::Statement() {
  if (cursor_.AcceptPunct(";")) return true;
  const Token& token = cursor_.Peek();
  if (token.kind == Token::Kind::kDot) return DirectiveStatement();
  if (token.kind == Token::Kind::kName && cursor_.IsPunct(":", 1)) return LabelStatement();
  if (token.kind == Token::Kind::kName || cursor_.IsPunct("@")) return ParseInstruction();
  return Fail(token.location, "expected an instruction, a label or a directive, got " + Describe(token));
}

bool Parser::DirectiveStatement() {
  const Token word = cursor_.Peek();
  if (cursor_.AcceptDot("reg")) return ParseRegisterDeclaration();
  if (word.text == "loc") return ParseLoc();
  if (cursor_.AcceptDot("pragma")) return ParsePragma();
  if (cursor_.AcceptDot("file")) return ParseFile();
  if (cursor_.AcceptDot("section")) return ParseSection();
  Location where;
  const Linkage linkage = AcceptLinkage(&where);
  const Token space = cursor_.Peek();
  if (space.kind == Token::Kind::kDot)
    for (const char* name : {"local", "shared", "shared::cta", "param", "global", "const"})
      if (space.text == name) return ParseVariableDeclaration(linkage);
  if (word.text == "branchtargets" || word.text == "calltargets" || word.text == "callprototype")
    return Fail(word.location,
                Describe(word) + " has no label: expected 'name: " + "." + std::string(word.text) + " ...'");
  return Fail(word.location, "unknown directive " + Describe(word) + " in a function");
}

// .loc file line column [, function_name label [+ offset], inlined_at file line column]
bool Parser::ParseLoc() {
  const Location where = cursor_.Next().location;
  for (int i = 0; i < 3; ++i)
    if (cursor_.Next().kind != Token::Kind::kInteger)
      return Fail(where, "expected a file, a line and a column after .loc");
  if (!cursor_.AcceptPunct(",")) return true;
  if (cursor_.Peek().text == "function_name") {
    cursor_.Next();
    std::string_view name;
    Location at;
    if (!ParseName("a label of .debug_str", &name, &at)) return false;
    if (cursor_.AcceptPunct("+")) {
      Constant ignored;
      if (!ParseInteger(&cursor_, "an offset", &ignored)) return false;
    }
    if (!Expect(",", "before inlined_at")) return false;
  }
  if (cursor_.Peek().text != "inlined_at")
    return Fail(cursor_.Peek().location, "expected inlined_at, got " + Describe(cursor_.Peek()));
  cursor_.Next();
  for (int i = 0; i < 3; ++i)
    if (cursor_.Next().kind != Token::Kind::kInteger)
      return Fail(where, "expected a file, a line and a column after inlined_at");
  return true;
}

bool Parser::LabelStatement() {
  const Token label = cursor_.Next();
  cursor_.Next();  // :
  if (cursor_.AcceptDot("branchtargets")) return ParseBranchTargets(label.text, label.location);
  if (cursor_.AcceptDot("calltargets")) return ParseCallTargets(label.text, label.location);
  if (cursor_.AcceptDot("callprototype")) return ParseCallPrototype(label.text, label.location);
  const int index = static_cast<int>(function_->body.size());
  if (!scopes_.DeclareLabel(label.text, {LabelEntry::Kind::kCode, index})) {
    Fail(label.location, "the label '" + std::string(label.text) + "' is defined twice in this block");
    return true;
  }
  function_->labels.emplace_back(std::string(label.text), index);
  return true;
}

bool Parser::ParseBranchTargets(std::string_view label, Location where) {
  const int list = static_cast<int>(function_->branch_targets.size());
  function_->branch_targets.emplace_back();
  do {
    std::string_view name;
    Location at;
    if (!ParseName("a label", &name, &at)) return false;
    auto& targets = function_->branch_targets.back();
    uint64_t first = 0, count = 1;
    if (cursor_.AcceptPunct("<")) {  // L<5>: L0 to L4
      Constant value;
      if (!ParseConstantTerm(&cursor_, &value) || !Expect(">", "after a count of labels")) return false;
      if (value.IsFloat() || value.bits > 65536) return Fail(at, "a count of labels: expected 0 to 65536");
      count = value.bits;
      for (; first < count; ++first) {
        range_names_.push_back(std::make_unique<std::string>(std::string(name) + std::to_string(first)));
        scopes_.Use({LabelUse::Wanted::kTargetElement, *range_names_.back(), at, list,
                     static_cast<int>(targets.size())});
        targets.push_back(-1);
      }
      continue;
    }
    scopes_.Use({LabelUse::Wanted::kTargetElement, name, at, list, static_cast<int>(targets.size())});
    targets.push_back(-1);
  } while (cursor_.AcceptPunct(","));
  if (!scopes_.DeclareLabel(label, {LabelEntry::Kind::kBranchTargets, list}))
    return Fail(where, "the label '" + std::string(label) + "' is defined twice in this block");
  return Expect(";", "after .branchtargets");
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
    prototype.targets.push_back(symbol.index);
  } while (cursor_.AcceptPunct(","));
  if (!prototype.targets.empty()) {
    const Function& first = module_.functions[static_cast<size_t>(prototype.targets[0])];
    prototype.returns = first.returns;
    prototype.parameters = first.parameters;
    prototype.noreturn = first.noreturn;
  }
  if (!scopes_.DeclareLabel(label,
                            {LabelEntry::Kind::kPrototype, static_cast<int>(function_->prototypes.size())}))
    return Fail(where, "the label '" + std::string(label) + "' is defined twice in this block");
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
  if (cursor_.IsPunct("(") && !list(&prototype.returns)) return false;
  if (!cursor_.IsName())
    return Fail(cursor_.Peek().location, "expected '_' in .callprototype, got " + Describe(cursor_.Peek()));
  cursor_.Next();
  if (cursor_.IsPunct("(") && !list(&prototype.parameters)) return false;
  while (cursor_.Peek().kind == Token::Kind::kDot) {
    if (cursor_.AcceptDot("noreturn")) {
      prototype.noreturn = true;
      continue;
    }
    uint32_t ignored;
    if (!cursor_.AcceptDot("abi_preserve") && !cursor_.AcceptDot("abi_preserve_control"))
      return Fail(cursor_.Peek().location,
                  "unknown directive " + Describe(cursor_.Peek()) + " in .callprototype: expected .noreturn");
    if (!ParseCount(&ignored, "abi_preserve")) return false;
  }
  if (!scopes_.DeclareLabel(label,
                            {LabelEntry::Kind::kPrototype, static_cast<int>(function_->prototypes.size())}))
    return Fail(where, "the label '" + std::string(label) + "' is defined twice in this block");
  function_->prototypes.push_back(std::move(prototype));
  return Expect(";", "after .callprototype");
}

const Parser::Mnemonic& Parser::ReadMnemonic() {
  const Token first = cursor_.Next();
  const char* end = first.text.data() + first.text.size();
  const size_t begin = cursor_.position();
  while (cursor_.Peek().kind == Token::Kind::kDot) {
    const Token& dot = cursor_.Next();
    end = dot.text.data() + dot.text.size();
  }
  const std::string_view text(first.text.data(), static_cast<size_t>(end - first.text.data()));
  auto it = mnemonics_.find(text);
  if (it != mnemonics_.end()) return *it->second;
  auto mnemonic = std::make_unique<Mnemonic>();
  mnemonic->known = FindOp(std::string(first.text), &mnemonic->op);
  const size_t stop = cursor_.position();
  cursor_.Rewind(begin);
  while (cursor_.position() < stop) {
    std::string modifier(cursor_.Next().text);
    Type type;
    Space space;
    if (FindType(modifier, &type)) mnemonic->types.push_back(type);
    if (FindSpace(modifier, &space)) mnemonic->spaces.push_back(space);
    mnemonic->modifiers.push_back(std::move(modifier));
  }
  if (mnemonic->known)
    mnemonic->choice = ChooseForms(module_, mnemonic->op, mnemonic->modifiers, mnemonic->types);
  return *(mnemonics_[text] = std::move(mnemonic));
}

bool Parser::ParseInstruction() {
  Instruction instruction{};
  if (cursor_.AcceptPunct("@")) {
    instruction.has_guard = true;
    instruction.guard_negated = cursor_.AcceptPunct("!");
    const Token name = cursor_.Next();
    const Symbol symbol = name.kind == Token::Kind::kName ? Find(name.text) : Symbol{};
    if (symbol.kind != Symbol::Kind::kRegister)
      return Fail(name.location, "the guard " + Describe(name) + " is not a declared register" +
                                     (name.kind == Token::Kind::kName ? Suggest(name.text) : ""));
    if (symbol.type != Type::kPred)
      return Fail(name.location, "the guard " + Describe(name) + " is of type ." + TypeName(symbol.type) +
                                     ": expected .pred");
    instruction.guard = symbol.index;
  }
  const Token first = cursor_.Peek();
  if (first.kind != Token::Kind::kName)
    return Fail(first.location, "expected an instruction after the guard, got " + Describe(first));
  instruction.location = first.location;
  const size_t mnemonic_at = cursor_.position();
  const Mnemonic& mnemonic = ReadMnemonic();
  if (!mnemonic.known) {
    Nearest nearest(first.text);
#define PTX_OP(id, name) nearest.Try(name);
#include "emu/ptx/isa/opcodes.inc"
#undef PTX_OP
    return Fail(first.location, "unknown instruction " + Describe(first) + nearest.Text());
  }
  instruction.op = mnemonic.op;
  instruction.modifiers = mnemonic.modifiers;
  instruction.types = mnemonic.types;
  instruction.spaces = mnemonic.spaces;
  const FormChoice& choice = mnemonic.choice;
  if (choice.candidates.empty()) {
    const size_t now = cursor_.position();
    cursor_.Rewind(mnemonic_at + static_cast<size_t>(choice.modifier + 1));
    Fail(cursor_.Peek().location, choice.error);
    cursor_.Rewind(now);
  }
  const size_t uses = scopes_.uses();
  if (!ParseOperands(&instruction) || !Expect(";", "after an instruction's operands")) {
    scopes_.DropUses(uses);
    return false;
  }
  OperandFault fault;
  if (!choice.candidates.empty() && !CheckOperands(module_, *function_, choice, &instruction, &fault))
    Fail(fault.location, fault.message);
  function_->body.push_back(std::move(instruction));
  return true;
}

}  // namespace understudy::emu::ptx
