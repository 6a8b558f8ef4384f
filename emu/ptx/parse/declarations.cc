// SPDX-License-Identifier: Apache-2.0
// Declarations of variables and registers.
#include <utility>

#include "emu/ptx/parse/parser.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 46;  // of one variable
constexpr uint64_t kMaxNumbered = 65536;           // names of one declaration
constexpr size_t kMaxDimensions = 32;
constexpr int kBanksSince = 15, kBanksUntil = 22;  // .const[n]
constexpr const char* kElements = "xyzw";

// Fundamental types (PTX ISA, "Fundamental Types"): what registers and variables may have.
bool IsFundamental(Type type) {
  switch (type) {
    case Type::kPred:
    case Type::kB8:
    case Type::kU8:
    case Type::kS8:
    case Type::kB16:
    case Type::kU16:
    case Type::kS16:
    case Type::kB32:
    case Type::kU32:
    case Type::kS32:
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kB128:
    case Type::kF16:
    case Type::kF16x2:
    case Type::kF32:
    case Type::kF64:
      return true;
    default:
      return false;
  }
}
bool IsOpaque(Type type) {
  return type == Type::kTexref || type == Type::kSamplerref || type == Type::kSurfref;
}

// The first PTX version (x10) and target that have a type in declarations, where not all have it.
struct TypeNeed {
  Type type;
  int since, sm;
};
constexpr TypeNeed kTypeNeeds[] = {{Type::kB128, 83, 70},
                                   {Type::kF16x2, 10, 53},
                                   {Type::kTexref, 15, 0},
                                   {Type::kSamplerref, 15, 0},
                                   {Type::kSurfref, 15, 0}};

const char* What(bool is_register, bool is_parameter) {
  return is_register ? "a register" : is_parameter ? "a parameter" : "a variable";
}

}  // namespace

bool Parser::ParseName(const char* what, std::string_view* name, Location* where) {
  const Token token = cursor_.Next();
  *where = token.location;
  if (token.kind != Token::Kind::kName || token.text == "_" || token.text == "WARP_SZ")
    return Fail(token.location, std::string("expected the name of ") + what + ", got " + Describe(token));
  *name = token.text;
  return true;
}

bool Parser::ParseLiteral(const std::string& what, uint64_t limit, Constant* value) {
  const Token token = cursor_.Peek();
  if (token.kind == Token::Kind::kName && token.text == "WARP_SZ") {
    *value = {Constant::Kind::kS64, 32};
  } else if (token.kind == Token::Kind::kInteger || token.kind == Token::Kind::kUnsigned) {
    *value = {token.kind == Token::Kind::kInteger ? Constant::Kind::kS64 : Constant::Kind::kU64, token.value};
  } else {
    return Fail(token.location, "expected an integer as " + what + ", got " + Describe(token));
  }
  if (value->bits > limit)
    return Fail(token.location,
                what + " is " + std::string(token.text) + ": expected at most " + std::to_string(limit));
  cursor_.Next();
  return true;
}

bool Parser::ParseTypeWord(Type* type) {
  const Token word = cursor_.Peek();
  if (word.kind != Token::Kind::kDot || !FindType(std::string(word.text), type)) return false;
  cursor_.Next();
  return true;
}

bool Parser::ParseAlignment(uint64_t* alignment) {
  const Location where = cursor_.Peek().location;
  Constant value;
  if (!ParseLiteral("an alignment", UINT32_MAX, &value)) return false;
  if (value.bits == 0 || (value.bits & (value.bits - 1)) != 0 || value.bits > (1u << 30))
    return Fail(where, "the alignment " + std::to_string(value.bits) + ": expected a power of two");
  *alignment = value.bits;
  return true;
}

// At .unified; through its ')'.
bool Parser::ParseUnified() {
  Require(DirectiveId::kUnified, cursor_.Next().location);
  Constant ignored;
  return Expect("(", "after .unified") && ParseLiteral("an id of .unified", UINT64_MAX, &ignored) &&
         Expect(",", "between the ids of .unified") &&
         ParseLiteral("an id of .unified", UINT64_MAX, &ignored) && Expect(")", "after the ids of .unified");
}

// At .attribute.
bool Parser::ParseAttributes(Variable* variable) {
  const Token word = cursor_.Next();
  Require(DirectiveId::kAttribute, word.location);
  if (!Expect("(", "after .attribute")) return false;
  do {
    const Token attribute = cursor_.Peek();
    if (attribute.kind != Token::Kind::kDot || (attribute.text != "managed" && attribute.text != "unified"))
      return Fail(attribute.location,
                  "unknown attribute " + Describe(attribute) + ": expected .managed or .unified");
    if (variable->space != Space::kGlobal)
      return Fail(attribute.location, Describe(attribute) + " of a variable that is not in .global");
    if (cursor_.AcceptDot("managed")) {
      Require(DirectiveId::kManaged, attribute.location);
      variable->managed = true;
    } else if (!ParseUnified()) {
      return false;
    }
  } while (cursor_.AcceptPunct(","));
  return Expect(")", "after .attribute");
}

// Behind a kernel parameter's type: .ptr {space} {.align n}, or .align alone.
bool Parser::ParsePointer(Variable* variable) {
  uint64_t pointed_at = 1;
  if (cursor_.AcceptDot("align")) return ParseAlignment(&pointed_at);
  const Token word = cursor_.Peek();
  if (!cursor_.AcceptDot("ptr")) return true;
  Require(DirectiveId::kPtr, word.location);
  variable->is_pointer = true;
  static constexpr std::pair<const char*, Space> kSpaces[] = {{"const", Space::kConst},
                                                              {"global", Space::kGlobal},
                                                              {"local", Space::kLocal},
                                                              {"shared", Space::kShared}};
  for (const auto& [name, space] : kSpaces)
    if (variable->pointer_space == Space::kGeneric && cursor_.AcceptDot(name))
      variable->pointer_space = space;
  return !cursor_.AcceptDot("align") || ParseAlignment(&pointed_at);
}

// {.attribute(...)} {.align n} {.v2|.v4} .type, and of a kernel parameter what ParsePointer reads.
bool Parser::ParseHead(Variable* variable, Declared declared) {
  const char* const what =
      What(declared == Declared::kRegister,
           declared == Declared::kKernelParameter || declared == Declared::kFunctionParameter);
  uint64_t alignment = 0;
  for (;;) {
    if (cursor_.IsDot("attribute")) {
      if (!ParseAttributes(variable)) return false;
    } else if (cursor_.AcceptDot("align")) {
      if (!ParseAlignment(&alignment)) return false;
    } else {
      break;
    }
  }
  const Location start = cursor_.Peek().location;
  if (cursor_.AcceptDot("v2"))
    variable->vector = 2;
  else if (cursor_.AcceptDot("v4"))
    variable->vector = 4;
  const Token word = cursor_.Peek();
  if (word.kind != Token::Kind::kDot)
    return Fail(word.location,
                std::string("expected a type in the declaration of ") + what + ", got " + Describe(word));
  if (!ParseTypeWord(&variable->type))
    return Fail(word.location,
                "unknown type or directive " + Describe(word) + " in the declaration of " + what);
  if (!CheckType(*variable, declared, variable->vector > 1 ? start : word.location)) return false;
  if (declared == Declared::kKernelParameter && !ParsePointer(variable)) return false;
  const Token more = cursor_.Peek();
  if (more.kind == Token::Kind::kDot) {
    Type second;
    const bool known = FindDirective(more.text) != nullptr || more.text == "v2" || more.text == "v4";
    return Fail(more.location, (FindType(std::string(more.text), &second) ? "a second type "
                                : known                                   ? "misplaced "
                                                                          : "unknown type or directive ") +
                                   Describe(more) + " in the declaration of " + what);
  }
  const uint64_t natural = IsOpaque(variable->type) ? 8
                                                    : static_cast<uint64_t>(TypeBytes(variable->type)) *
                                                          static_cast<uint64_t>(variable->vector);
  variable->alignment = alignment != 0 ? alignment : natural == 0 ? 1 : natural;
  return true;
}

bool Parser::CheckType(const Variable& variable, Declared declared, Location where) {
  const Type type = variable.type;
  const std::string name = std::string("'.") + TypeName(type) + "'";
  if (!IsFundamental(type) && !IsOpaque(type))
    return Fail(where, "the type " + name +
                           " is for instructions only: expected one of .b8 to .b128, .u8 "
                           "to .u64, .s8 to .s64, .f16, .f16x2, .f32, .f64, .pred");
  for (const TypeNeed& need : kTypeNeeds)
    if (need.type == type) Require("the type " + name, need.since, need.sm, where);
  if (type == Type::kPred && variable.space != Space::kReg)
    return Fail(where, "a .pred variable in memory: expected it in .reg");
  if (variable.vector > 1 && (type == Type::kPred || IsOpaque(type)))
    return Fail(where, "a vector of " + name + ": expected a type of numbers");
  if (variable.vector > 1 && TypeBits(type) * variable.vector > 128)
    return Fail(where, "a vector of " + std::to_string(TypeBits(type) * variable.vector) +
                           " bits: expected at most 128");
  if (variable.space == Space::kParam && (variable.vector > 1 || type == Type::kF16x2))
    return Fail(where, std::string(variable.vector > 1 ? "a vector" : "the type '.f16x2'") +
                           " in .param: expected an array or a scalar");
  if (variable.space == Space::kTex) {
    if (type == Type::kU32 || type == Type::kU64) return true;
    return Fail(where, "the type " + name + " in .tex: expected .u32 or .u64");
  }
  if (!IsOpaque(type)) return true;
  const bool at_module = declared == Declared::kVariable && function_ == nullptr;
  if (declared != Declared::kKernelParameter && (!at_module || variable.space != Space::kGlobal))
    return Fail(where, "the opaque type " + name +
                           ": expected it of a .global variable at module level or a "
                           "kernel's parameter");
  if (type == Type::kSamplerref && !module_.texmode_independent)
    return Fail(where,
                "'.samplerref' in a module of texmode_unified: expected texmode_independent in .target");
  return true;
}

bool Parser::ParseDimensions(Variable* variable, size_t most) {
  variable->is_array = true;
  while (cursor_.IsPunct("[")) {
    const Location open = cursor_.Next().location;
    if (variable->dims.size() == most)
      return Fail(
          open, "an array of more than " + std::to_string(most) + (most == 1 ? " dimension" : " dimensions"));
    const Location where = cursor_.Peek().location;
    if (cursor_.AcceptPunct("]")) {
      if (!variable->dims.empty())
        return Fail(where, "an array's dimension is missing: only the first may be");
      variable->dims.push_back(0);
      continue;
    }
    Constant value;
    if (!ParseLiteral("an array's dimension", INT64_MAX, &value)) return false;
    if (value.bits == 0 && !variable->dims.empty())
      return Fail(where, "the array's dimension 0: expected 1 or more");
    variable->dims.push_back(value.bits);
    if (!Expect("]", "after an array's dimension")) return false;
  }
  return true;
}

// size, from type, vector and dimensions.
bool Parser::FinishSize(Variable* variable) {
  uint64_t size = static_cast<uint64_t>(IsOpaque(variable->type) ? 8 : TypeBytes(variable->type)) *
                  static_cast<uint64_t>(variable->vector);
  for (uint64_t dim : variable->dims) {
    if (dim != 0 && size > kMaxBytes / dim)
      return Fail(variable->location, "the array '" + variable->name + "' has more than 2^46 bytes");
    size *= dim;
  }
  variable->size = size;
  return true;
}

int Parser::AddRegister(std::string name, Type type) {
  function_->registers.push_back({std::move(name), type});
  return static_cast<int>(function_->registers.size()) - 1;
}

int Parser::AddVectorRegister(std::string_view name, Type type, int vector) {
  const int first = static_cast<int>(function_->registers.size());
  for (int i = 0; i < vector; ++i) AddRegister(std::string(name) + "." + kElements[i % 4], type);
  return first;
}

bool Parser::Declare(std::string_view name, const Symbol& symbol, Location where) {
  return scopes_.Declare(name, symbol) ||
         Fail(where, "'" + std::string(name) + "' is declared twice in this block");
}

bool Parser::ParseRegisterDeclaration() {
  Variable head;
  head.space = Space::kReg;
  if (!ParseHead(&head, Declared::kRegister)) return false;
  const Type type = head.type;
  const int vector = head.vector;
  do {
    std::string_view name;
    Location where;
    if (!ParseName("a register", &name, &where)) return false;
    Symbol symbol{vector > 1 ? Symbol::Kind::kVectorRegister : Symbol::Kind::kRegister,
                  Operand::Scope::kModule,
                  type,
                  static_cast<uint8_t>(vector),
                  -1,
                  static_cast<uint64_t>(vector)};
    if (cursor_.AcceptPunct("<")) {
      Constant count;
      if (!ParseLiteral("the count of registers '" + std::string(name) + "<...>'", INT32_MAX, &count) ||
          !Expect(">", "after a count of registers"))
        return false;
      symbol.kind = Symbol::Kind::kRange;
      symbol.count = count.bits;
      if (!scopes_.DeclareRange(name, symbol))
        return Fail(where, "the registers '" + std::string(name) + "<...>' are declared twice in this block");
      continue;
    }
    symbol.index = static_cast<int>(function_->registers.size());
    if (!Declare(name, symbol, where)) return false;
    if (vector > 1)
      AddVectorRegister(name, type, vector);
    else
      AddRegister(std::string(name), type);
  } while (cursor_.AcceptPunct(","));
  return Expect(";", "after a declaration of registers");
}

bool Parser::ParseVariableDeclaration(Linkage linkage, const Variable& attributes) {
  const Token space = cursor_.Next();
  Variable head = attributes;
  static constexpr std::pair<const char*, Space> kSpaces[] = {
      {"global", Space::kGlobal}, {"const", Space::kConst}, {"shared", Space::kShared},
      {"local", Space::kLocal},   {"param", Space::kParam}, {"tex", Space::kTex}};
  for (const auto& [word, value] : kSpaces)
    if (space.text == word) head.space = value;
  head.linkage = linkage;
  if (const Directive* directive = FindDirective(space.text)) Require(directive->id, space.location);
  if (linkage == Linkage::kCommon && head.space != Space::kGlobal)
    return Fail(space.location,
                "'.common' of a variable in ." + std::string(SpaceName(head.space)) + ": expected .global");
  bool banked = false;
  if (head.space == Space::kConst && cursor_.IsPunct("[") && !ParseBank(&banked)) return false;
  if (!ParseHead(&head, Declared::kVariable)) return false;
  if (linkage == Linkage::kCommon && IsOpaque(head.type))
    return Fail(space.location, std::string("'.common' of a .") + TypeName(head.type) + ": expected numbers");
  do {
    Variable variable = head;
    std::string_view name;
    if (!ParseName("a variable", &name, &variable.location)) return false;
    variable.name = std::string(name);
    declared_name_ = name;
    if (function_ == nullptr && name[0] == '%' && FindSpecialRegister(variable.name.substr(1)) != nullptr)
      return Fail(variable.location, "'" + variable.name + "' is a special register: expected another name");
    if (cursor_.IsPunct("<")) {
      if (!FinishSize(&variable) || !DeclareNumbered(variable)) return false;
      continue;
    }
    if (cursor_.IsPunct("[") && !ParseDimensions(&variable, kMaxDimensions)) return false;
    if (!FinishSize(&variable)) return false;
    const bool open = variable.is_array && variable.dims[0] == 0;
    if (banked && (!open || linkage != Linkage::kExtern))
      return Fail(variable.location,
                  "'" + variable.name + "' in a bank of constants other than 0: expected .extern and '[]'");
    if (open && head.space == Space::kConst && linkage == Linkage::kExtern && !banked &&
        module_.version_major * 10 + module_.version_minor < kBanksUntil)
      return Fail(variable.location,
                  "'" + variable.name + "[]' in bank 0 of the constants: expected .const[1] to .const[10]");
    if (variable.space == Space::kTex && variable.is_array)
      return Fail(variable.location, "an array '" + variable.name + "' in .tex: expected .u32 or .u64 alone");
    const Token assign = cursor_.Peek();
    if (cursor_.AcceptPunct("=")) {
      if (linkage == Linkage::kExtern)
        return Fail(assign.location, "an initialiser of the .extern variable '" + variable.name + "'");
      if (variable.space != Space::kGlobal && variable.space != Space::kConst)
        return Fail(assign.location, "an initialiser of '" + variable.name + "' in ." +
                                         SpaceName(variable.space) + ": expected .global or .const");
      if (!ParseInitializer(&variable)) {
        DeclareVariable(std::move(variable));  // so that its uses are no errors too
        return false;
      }
    } else if (open && linkage != Linkage::kExtern) {
      return Fail(variable.location, "the size of '" + variable.name +
                                         "' is missing: expected it in '[]', an initialiser or .extern");
    }
    if (!DeclareVariable(std::move(variable))) return false;
  } while (cursor_.AcceptPunct(","));
  return Expect(";", "after a variable's declaration");
}

// PTX 1.5 to 2.1: .const[n], banks 1 to 10 for arrays that the host places.
bool Parser::HasBanks() const {
  const int version = module_.version_major * 10 + module_.version_minor;
  return version >= kBanksSince && version < kBanksUntil;
}

bool Parser::ParseBank(bool* banked) {
  const Location where = cursor_.Next().location;
  Constant bank;
  if (!HasBanks()) return Fail(where, "a bank of constants: expected it in PTX 1.5 to 2.1 only");
  if (!ParseLiteral("the number of a bank", 10, &bank)) return false;
  *banked = bank.bits != 0;
  return Expect("]", "after the number of a bank");
}

// foo<3> declares foo0, foo1, foo2.
bool Parser::DeclareNumbered(const Variable& variable) {
  const std::string_view prefix = declared_name_;
  cursor_.Next();  // <
  Constant count;
  if (!ParseLiteral("the count of variables '" + variable.name + "<...>'", kMaxNumbered, &count) ||
      !Expect(">", "after a count of variables"))
    return false;
  for (uint64_t i = 0; i < count.bits; ++i) {
    range_names_.push_back(std::make_unique<std::string>(std::string(prefix) + std::to_string(i)));
    Variable one = variable;
    one.name = *range_names_.back();
    declared_name_ = *range_names_.back();
    if (!DeclareVariable(std::move(one))) return false;
  }
  return true;
}

bool Parser::DeclareVariable(Variable variable) {
  const std::string name = variable.name;
  const Location where = variable.location;
  if (variable.space == Space::kConst && variable.linkage != Linkage::kExtern) {
    constant_bytes_ = (constant_bytes_ + variable.alignment - 1) / variable.alignment * variable.alignment;
    constant_bytes_ += variable.size;
  }
  if (function_ != nullptr) {
    const Symbol symbol{Symbol::Kind::kVariable,
                        Operand::Scope::kFunctionLocal,
                        Type::kNone,
                        1,
                        static_cast<int>(function_->variables.size()),
                        0};
    if (!Declare(declared_name_, symbol, where)) return false;
    function_->variables.push_back(std::move(variable));
    return true;
  }
  auto it = module_symbols_.find(declared_name_);
  if (it == module_symbols_.end()) {
    module_symbols_[declared_name_] = {Symbol::Kind::kVariable,
                                       Operand::Scope::kModule,
                                       Type::kNone,
                                       1,
                                       static_cast<int>(module_.variables.size()),
                                       0};
    module_.variables.push_back(std::move(variable));
    return true;
  }
  if (it->second.kind != Symbol::Kind::kVariable)
    return Fail(where, "'" + name + "' is a function already: expected a new name");
  Variable& before = module_.variables[static_cast<size_t>(it->second.index)];
  if (!CheckRedeclaration(before, variable)) return false;
  if (before.linkage == Linkage::kExtern) before = std::move(variable);
  return true;
}

// An .extern declaration may come before the definition, after it, or again.
bool Parser::CheckRedeclaration(const Variable& before, const Variable& now) {
  const Location where = now.location;
  const std::string line = std::to_string(before.location.line);
  if (before.linkage != Linkage::kExtern && now.linkage != Linkage::kExtern)
    return Fail(where, "'" + now.name + "' is declared twice: first in line " + line);
  // "[]" stands for any first dimension.
  const bool open = before.is_array && now.is_array && (before.dims[0] == 0 || now.dims[0] == 0) &&
                    before.dims.size() == now.dims.size() &&
                    std::vector<uint64_t>(before.dims.begin() + 1, before.dims.end()) ==
                        std::vector<uint64_t>(now.dims.begin() + 1, now.dims.end());
  if (before.space != now.space || before.type != now.type || before.vector != now.vector ||
      before.is_array != now.is_array || (before.dims != now.dims && !open))
    return Fail(where,
                "'" + now.name + "' differs in state space or type from its declaration in line " + line);
  if (before.linkage == Linkage::kExtern && now.linkage == Linkage::kNone)
    return Fail(where, "'" + now.name + "' is .extern in line " + line +
                           " and has no linking directive here: expected .visible, .weak or .common");
  return true;
}

}  // namespace understudy::emu::ptx
