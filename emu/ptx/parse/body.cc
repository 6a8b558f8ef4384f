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
    Fail(cursor_.Peek().location, "the body of '" + function_->name + "', which begins in line " +
                                      std::to_string(function_->location.line) + ", has no closing '}'");
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
  const Token& token = cursor_.Peek();
  if (token.kind == Token::Kind::kDot) return DirectiveStatement();
  if (token.kind == Token::Kind::kName && cursor_.IsPunct(":", 1)) return LabelStatement();
  if (token.kind == Token::Kind::kName || cursor_.IsPunct("@")) return ParseInstruction();
  Fail(token.location, "expected an instruction, a label or a directive, got " + Describe(token));
  return cursor_.AcceptPunct(";");
}

bool Parser::DirectiveStatement() {
  const Token word = cursor_.Peek();
  const Directive* directive = FindDirective(word.text);
  if (directive == nullptr) {
    Nearest nearest(word.text);
    ForEachDirective(kInBody, [&](const Directive& d) { nearest.Try(d.name); });
    return Fail(word.location, "unknown directive " + Describe(word) + " in a function" + nearest.Text());
  }
  switch (directive->id) {
    case DirectiveId::kReg:
      cursor_.Next();
      return ParseRegisterDeclaration();
    case DirectiveId::kLoc:
      return ParseLoc();
    case DirectiveId::kPragma:
      Require(directive->id, cursor_.Next().location);
      return ParsePragma(kInBody);
    case DirectiveId::kAlias:
      Require(directive->id, cursor_.Next().location);
      return ParseAlias();
    case DirectiveId::kBranchtargets:
    case DirectiveId::kCalltargets:
    case DirectiveId::kCallprototype:
      return Fail(word.location, Describe(word) + " has no label: expected 'name: " + "." +
                                     std::string(word.text) + " ...'");
    default:
      if ((directive->places & kInBody) != 0) return ParseVariableDeclaration(Linkage::kNone, {});
      return Fail(word.location, "'." + std::string(word.text) + "' in a function: expected it " +
                                     PlacesText(directive->places));
  }
}

bool Parser::LabelStatement() {
  const Token label = cursor_.Next();
  cursor_.Next();  // :
  if (label.text == "_" || label.text == "WARP_SZ")
    return Fail(label.location, "expected the name of a label, got " + Describe(label));
  const Token word = cursor_.Peek();
  if (word.kind == Token::Kind::kDot) {
    const Directive* directive = FindDirective(word.text);
    if (directive != nullptr && (directive->places & kAtLabel) != 0) {
      Require(directive->id, cursor_.Next().location);
      return directive->id == DirectiveId::kBranchtargets ? ParseBranchTargets(label.text, label.location)
             : directive->id == DirectiveId::kCalltargets ? ParseCallTargets(label.text, label.location)
                                                          : ParseCallPrototype(label.text, label.location);
    }
  }
  const int index = static_cast<int>(function_->body.size());
  if (DeclareLabel(label.text, {LabelEntry::Kind::kCode, index}, label.location))
    function_->labels.emplace_back(std::string(label.text), index);
  return true;
}

bool Parser::DeclareLabel(std::string_view name, const LabelEntry& entry, Location where) {
  if (scopes_.DeclareLabel(name, entry)) return true;
  return Fail(where,
              scopes_.Declares(name)
                  ? "'" + std::string(name) + "' is declared in this block already: expected a new label"
                  : "the label '" + std::string(name) + "' is defined twice in this block");
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
  else if (instruction.op == Op::kCall && !choice.candidates.empty())
    CheckCall(instruction);
  function_->body.push_back(std::move(instruction));
  return true;
}

}  // namespace understudy::emu::ptx
