// SPDX-License-Identifier: Apache-2.0
// Operands: registers, special registers, constants, addresses, vectors, pairs and the groups of call.
#include <utility>

#include "emu/ptx/parse/parser.h"
#include "emu/ptx/parse/suggest.h"

namespace understudy::emu::ptx {
namespace {

using Kind = Operand::Kind;

// What may follow a scalar register of a video instruction: .b0, .h1, .b320, .h31, .b7531.
bool IsSelector(std::string_view text) {
  if (text.size() < 2 || text.size() > 5 || (text[0] != 'b' && text[0] != 'h')) return false;
  for (char c : text.substr(1))
    if (c < '0' || c > '7') return false;
  return true;
}

int ElementOf(std::string_view text) {
  if (text.size() != 1) return -1;
  const size_t xyzw = std::string_view("xyzw").find(text[0]), rgba = std::string_view("rgba").find(text[0]);
  if (xyzw != std::string_view::npos) return static_cast<int>(xyzw);
  return rgba == std::string_view::npos ? -1 : static_cast<int>(rgba);
}

Operand FromConstant(const Constant& value, Location where) {
  Operand operand;
  operand.location = where;
  operand.kind = value.IsFloat() ? Kind::kFloat : Kind::kImmediate;
  operand.is_f32 = value.kind == Constant::Kind::kF32;
  operand.bits = value.bits;
  return operand;
}

// Instructions whose memory operand may be written as name[index].
bool TakesArrayElement(Op op) {
  return op == Op::kLd || op == Op::kSt || op == Op::kLdu || op == Op::kAtom || op == Op::kRed;
}

}  // namespace

Symbol Parser::Find(std::string_view name) {
  const Symbol symbol = scopes_.Find(name, [&](const Symbol& range) {
    Symbol made = range;
    made.kind = range.vector > 1 ? Symbol::Kind::kVectorRegister : Symbol::Kind::kRegister;
    made.count = range.vector;
    made.index = range.vector > 1 ? AddVectorRegister(name, range.type, range.vector)
                                  : AddRegister(std::string(name), range.type);
    return made;
  });
  if (symbol.kind != Symbol::Kind::kNone) return symbol;
  auto it = module_symbols_.find(name);
  return it == module_symbols_.end() ? Symbol{} : it->second;
}

std::string Parser::Suggest(std::string_view name) {
  // "%r20" of "%r<20>" is the commonest mistake of all.
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  if (digits < name.size())
    if (const Symbol* range = scopes_.FindRange(name.substr(0, digits)))
      return ": '" + std::string(name.substr(0, digits)) + "<" + std::to_string(range->count) +
             ">' ends before it";
  Nearest nearest(name);
  scopes_.ForEach([&](std::string_view candidate) { nearest.Try(candidate); });
  for (const auto& [candidate, symbol] : module_symbols_) nearest.Try(candidate);
  return nearest.Text();
}

const Variable* Parser::VariableOf(const Operand& operand) const {
  const auto index = static_cast<size_t>(operand.index);
  switch (operand.scope) {
    case Operand::Scope::kModule:
      return &module_.variables[index];
    case Operand::Scope::kFunctionLocal:
      return &function_->variables[index];
    case Operand::Scope::kParameter:
      return &function_->parameters[index];
    case Operand::Scope::kReturn:
      return &function_->returns[index];
  }
  return nullptr;
}

bool Parser::ParseOperands(Instruction* instruction) {
  if (cursor_.IsPunct(";")) return true;
  do {
    instruction->operands.emplace_back();
    Operand& operand = instruction->operands.back();
    if (!ParseOperand(instruction, &operand)) return false;
    if (!cursor_.IsPunct("|")) continue;
    Operand pair;
    pair.kind = Kind::kPredicatePair;
    pair.location = operand.location;
    cursor_.Next();
    Operand second;
    if (!ParseOperand(instruction, &second)) return false;
    pair.elements.push_back(std::move(operand));
    pair.elements.push_back(std::move(second));
    instruction->operands.back() = std::move(pair);
  } while (cursor_.AcceptPunct(","));
  return true;
}

bool Parser::ParseOperand(Instruction* instruction, Operand* operand) {
  const Token token = cursor_.Peek();
  operand->location = token.location;
  if (token.kind == Token::Kind::kPunct) {
    if (token.text == "[") return ParseAddress(instruction, operand);
    if (token.text == "{") return ParseVector(instruction, operand);
    if (token.text == "(" && instruction->op == Op::kCall) return ParseGroup(instruction, operand);
  }
  if (StartsConstant(cursor_)) {
    Constant value;
    if (!ParseConstant(&cursor_, &value)) return false;
    *operand = FromConstant(value, token.location);
    return true;
  }
  if (token.kind == Token::Kind::kPunct && (token.text == "!" || token.text == "-")) {
    cursor_.Next();
    if (!ParseNamed(instruction, operand)) return false;
    operand->location = token.location;
    operand->negated = true;
    const bool predicate = operand->kind == Kind::kRegister &&
                           function_->registers[static_cast<size_t>(operand->index)].type == Type::kPred;
    if (operand->kind == Kind::kSpecial && token.text == "-")
      return Fail(token.location, "'-' before the special register '%" + operand->special + "'");
    if (operand->kind != Kind::kRegister && operand->kind != Kind::kSpecial)
      return Fail(token.location, "'" + std::string(token.text) + "' before something that is no register");
    if (operand->kind == Kind::kRegister && predicate != (token.text == "!"))
      return Fail(token.location,
                  "'" + std::string(token.text) + "' before a register of type ." +
                      TypeName(function_->registers[static_cast<size_t>(operand->index)].type) +
                      (predicate ? ": expected '!'" : ": expected a .pred register"));
    return true;
  }
  if (token.kind == Token::Kind::kName) return ParseNamed(instruction, operand);
  return Fail(token.location, "expected an operand, got " + Describe(token));
}

bool Parser::SpecialOperand(const Token& token, Operand* operand) {
  const SpecialRegister* special = FindSpecialRegister(std::string(token.text.substr(1)));
  if (special == nullptr) return false;
  Require("'" + std::string(token.text) + "'", special->ptx_version, special->sm, token.location);
  operand->kind = Kind::kSpecial;
  operand->special = special->name;
  if (special->elements == 1) return true;
  static constexpr const char* kSuffixes[] = {".x", ".y", ".z", ".w"};
  if (cursor_.Peek().kind == Token::Kind::kDot && cursor_.Peek().glued &&
      ElementOf(cursor_.Peek().text) >= 0) {
    operand->special += kSuffixes[ElementOf(cursor_.Next().text)];
    return true;
  }
  Operand element = *operand;
  operand->kind = Kind::kVector;
  operand->special.clear();
  for (const char* suffix : kSuffixes) {
    operand->elements.push_back(element);
    operand->elements.back().special += suffix;
  }
  return true;
}

bool Parser::ParseNamed(Instruction* instruction, Operand* operand) {
  const Token token = cursor_.Next();
  operand->location = token.location;
  if (token.kind != Token::Kind::kName)
    return Fail(token.location, "expected a register or a variable, got " + Describe(token));
  if (token.text == "_") {
    operand->kind = Kind::kSink;
    return true;
  }
  const int position = static_cast<int>(instruction->operands.size()) - 1;
  const int index = static_cast<int>(function_->body.size());
  if (instruction->op == Op::kBra || (instruction->op == Op::kBrx && position == 1)) {
    operand->kind = Kind::kLabel;
    if (instruction->op == Op::kBrx && scopes_.FindLabel(token.text) == nullptr)
      return Fail(token.location,
                  "'" + std::string(token.text) + "' is no label of .branchtargets before this branch");
    scopes_.Use({instruction->op == Op::kBra ? LabelUse::Wanted::kBranch : LabelUse::Wanted::kBranchTargets,
                 token.text, token.location, index, position});
    return true;
  }
  const Symbol symbol = Find(token.text);
  const Token after = cursor_.Peek();
  const bool dotted = after.kind == Token::Kind::kDot && after.glued;
  switch (symbol.kind) {
    case Symbol::Kind::kRegister:
      operand->kind = Kind::kRegister;
      operand->index = symbol.index;
      if (!dotted) return true;
      if (!IsSelector(after.text))
        return Fail(after.location, "'" + std::string(token.text) + "' is no vector: '." +
                                        std::string(after.text) + "' has no meaning here");
      operand->selector = std::string(cursor_.Next().text);
      return true;
    case Symbol::Kind::kVectorRegister:
      if (dotted) {
        const int element = ElementOf(after.text);
        if (element < 0 || static_cast<uint64_t>(element) >= symbol.count)
          return Fail(after.location, "the vector '" + std::string(token.text) + "' has no element '." +
                                          std::string(after.text) + "'");
        cursor_.Next();
        operand->kind = Kind::kRegister;
        operand->index = symbol.index + element;
        return true;
      }
      operand->kind = Kind::kVector;
      for (uint64_t i = 0; i < symbol.count; ++i) {
        Operand element;
        element.kind = Kind::kRegister;
        element.index = symbol.index + static_cast<int>(i);
        element.location = token.location;
        operand->elements.push_back(std::move(element));
      }
      return true;
    case Symbol::Kind::kVariable:
      operand->kind = Kind::kVariable;
      operand->scope = symbol.scope;
      operand->index = symbol.index;
      if (cursor_.AcceptPunct("[")) {
        const Location where = cursor_.Peek().location;
        Constant element;
        if (!ParseInteger(&cursor_, "an array's index", &element) || !Expect("]", "after an array's index"))
          return false;
        const Variable& variable = *VariableOf(*operand);
        const int64_t bytes = TypeBytes(variable.type) * variable.vector;
        if (static_cast<int64_t>(element.bits) > (int64_t{1} << 40) ||
            static_cast<int64_t>(element.bits) < -(int64_t{1} << 40))
          return Fail(where, "the array's index " + std::to_string(static_cast<int64_t>(element.bits)) +
                                 " is out of range");
        operand->offset = static_cast<int64_t>(element.bits) * bytes;
        if (TakesArrayElement(instruction->op)) {
          operand->kind = Kind::kAddress;
          operand->base_kind = Operand::Base::kVariable;
        }
        return true;
      }
      return ParseOffsets(&operand->offset);
    case Symbol::Kind::kFunction:
      operand->kind = Kind::kFunction;
      operand->index = symbol.index;
      return true;
    default:
      break;
  }
  if (token.text[0] == '%' && SpecialOperand(token, operand)) return true;
  // The last operand of a call through a register.
  if (instruction->op == Op::kCall && position > 0 && !in_group_) {
    operand->kind = Kind::kPrototype;
    prototype_name_ = token.text;
    scopes_.Use({LabelUse::Wanted::kPrototype, token.text, token.location, index, position});
    bool callee = false;
    for (const Operand& before : instruction->operands)
      callee = callee ||
               ((before.kind == Kind::kRegister || before.kind == Kind::kFunction) && &before != operand);
    if (callee) return true;
    return Fail(token.location, "the function '" + std::string(token.text) +
                                    "' is not declared before its use" + Suggest(token.text));
  }
  if (instruction->op == Op::kCall && !in_group_)
    return Fail(token.location, "the function '" + std::string(token.text) +
                                    "' is not declared before its use" + Suggest(token.text));
  return Fail(token.location, "'" + std::string(token.text) + "' is not declared" + Suggest(token.text));
}

bool Parser::ParseOffsets(int64_t* offset) {
  while (cursor_.IsPunct("+") || cursor_.IsPunct("-")) {
    if (cursor_.IsPunct("-"))
      return Fail(cursor_.Peek().location, "'-' after an address: expected '+', as in [a+-8]");
    cursor_.Next();
    const Location where = cursor_.Peek().location;
    Constant value;
    if (!ParseConstantTerm(&cursor_, &value)) return false;
    if (value.IsFloat()) return Fail(where, "an address offset is a float: expected an integer");
    const uint64_t sum = static_cast<uint64_t>(*offset) + value.bits;
    *offset = static_cast<int64_t>(sum);
  }
  return true;
}

bool Parser::ParseAddressBase(Instruction* instruction, Operand* operand) {
  const Token token = cursor_.Peek();
  operand->kind = Kind::kAddress;
  operand->location = token.location;
  if (StartsConstant(cursor_)) {
    Constant value;
    if (!ParseInteger(&cursor_, "an address", &value)) return false;
    operand->base_kind = Operand::Base::kNone;
    operand->offset = static_cast<int64_t>(value.bits);
    return true;
  }
  if (token.kind != Token::Kind::kName)
    return Fail(token.location,
                "expected a register, a variable or a constant in '[]', got " + Describe(token));
  Operand base;
  if (token.text[0] == '%' && Find(token.text).kind == Symbol::Kind::kNone &&
      FindSpecialRegister(std::string(token.text.substr(1))))
    return Fail(token.location, "the special register '" + std::string(token.text) +
                                    "' as an address: expected a register that holds it");
  if (!ParseNamed(instruction, &base)) return false;
  if (base.kind == Kind::kRegister && base.selector.empty()) {
    operand->base_kind = Operand::Base::kRegister;
  } else if (base.kind == Kind::kVariable || base.kind == Kind::kAddress) {
    operand->base_kind = Operand::Base::kVariable;
  } else {
    return Fail(token.location, "'" + std::string(token.text) +
                                    "' is no address: expected a register, a variable or a constant");
  }
  operand->index = base.index;
  operand->scope = base.scope;
  operand->offset = base.offset;
  return ParseOffsets(&operand->offset);
}

bool Parser::ParseAddress(Instruction* instruction, Operand* operand) {
  const Location open = cursor_.Next().location;  // [
  if (!ParseAddressBase(instruction, operand)) return false;
  operand->location = open;
  if (cursor_.IsPunct(",")) {
    Operand tensor;
    tensor.kind = Kind::kTensor;
    tensor.location = open;
    tensor.elements.push_back(std::move(*operand));
    while (cursor_.AcceptPunct(",")) {
      Operand element;
      if (cursor_.IsPunct("[")) return Fail(cursor_.Peek().location, "'[' inside '[]'");
      if (!ParseOperand(instruction, &element)) return false;
      tensor.elements.push_back(std::move(element));
    }
    *operand = std::move(tensor);
  }
  return Expect("]", "after an address");
}

bool Parser::ParseVector(Instruction* instruction, Operand* operand) {
  operand->kind = Kind::kVector;
  cursor_.Next();  // {
  do {
    if (cursor_.IsPunct("[") || cursor_.IsPunct("{") || cursor_.IsPunct("}"))
      return Fail(cursor_.Peek().location,
                  "expected an element of a vector, got " + Describe(cursor_.Peek()));
    Operand element;
    if (!ParseOperand(instruction, &element)) return false;
    operand->elements.push_back(std::move(element));
  } while (cursor_.AcceptPunct(","));
  return Expect("}", "after the elements of a vector");
}

bool Parser::ParseGroup(Instruction* instruction, Operand* operand) {
  operand->kind = Kind::kGroup;
  cursor_.Next();  // (
  if (cursor_.AcceptPunct(")")) return true;
  in_group_ = true;
  bool ok = true;
  do {
    if (cursor_.IsPunct("(") || cursor_.IsPunct("[") || cursor_.IsPunct("{")) {
      ok = Fail(cursor_.Peek().location, "expected an argument, got " + Describe(cursor_.Peek()));
      break;
    }
    Operand element;
    const bool named = cursor_.IsName() && !StartsConstant(cursor_);
    const Token after = cursor_.Peek(1);
    ok = ParseOperand(instruction, &element);
    if (ok && named && (after.kind != Token::Kind::kPunct || (after.text != "," && after.text != ")")))
      ok = Fail(after.location, "expected an argument's name alone, got " + Describe(after) + " behind it");
    operand->elements.push_back(std::move(element));
  } while (ok && cursor_.AcceptPunct(","));
  in_group_ = false;
  return ok && Expect(")", "after the arguments of a call");
}

}  // namespace understudy::emu::ptx
