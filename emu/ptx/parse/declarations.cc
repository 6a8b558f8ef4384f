// SPDX-License-Identifier: Apache-2.0
// Variables with their arrays and initialisers, and registers.
#include <cstring>
#include <utility>

#include "emu/ptx/parse/parser.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 46;             // of one variable
constexpr uint64_t kMaxInitialisedBytes = uint64_t{1} << 28;  // of a module: they are held in memory
constexpr size_t kMaxDimensions = 32;
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

}  // namespace

bool Parser::ParseName(const char* what, std::string_view* name, Location* where) {
  const Token token = cursor_.Next();
  *where = token.location;
  if (token.kind != Token::Kind::kName || token.text == "_")
    return Fail(token.location, std::string("expected the name of ") + what + ", got " + Describe(token));
  *name = token.text;
  return true;
}

bool Parser::ParseTypeWord(Type* type) {
  const Token word = cursor_.Peek();
  if (word.kind != Token::Kind::kDot || !FindType(std::string(word.text), type)) return false;
  cursor_.Next();
  return true;
}

// .align, .attribute, .v2/.v4, the type, .ptr with its space and alignment, in the orders that the manual
// shows.
bool Parser::ParseHead(DeclarationHead* head, const char* what) {
  Variable& variable = head->variable;
  bool aligned = false;
  for (;;) {
    const Token word = cursor_.Peek();
    if (word.kind != Token::Kind::kDot) break;
    if (cursor_.AcceptDot("align")) {
      const Location where = cursor_.Peek().location;
      Constant value;
      if (!ParseInteger(&cursor_, "an alignment", &value)) return false;
      if (value.bits == 0 || (value.bits & (value.bits - 1)) != 0 || value.bits > (1u << 30))
        return Fail(where, "the alignment " + std::to_string(static_cast<int64_t>(value.bits)) +
                               ": expected a power of two");
      if (variable.is_pointer) continue;  // .ptr's own: the alignment of what it points to
      variable.alignment = value.bits;
      aligned = true;
    } else if (cursor_.AcceptDot("attribute")) {
      if (!Expect("(", "after .attribute")) return false;
      do {
        const Token attribute = cursor_.Next();
        if (attribute.kind == Token::Kind::kDot && attribute.text == "managed") {
          variable.managed = true;
        } else if (attribute.kind == Token::Kind::kDot && attribute.text == "unified") {
          Constant ignored;
          if (!Expect("(", "after .unified") || !ParseInteger(&cursor_, "a .unified id", &ignored) ||
              !Expect(",", "between the ids of .unified") ||
              !ParseInteger(&cursor_, "a .unified id", &ignored) || !Expect(")", "after the ids of .unified"))
            return false;
        } else {
          return Fail(attribute.location,
                      "unknown attribute " + Describe(attribute) + ": expected .managed or .unified");
        }
      } while (cursor_.AcceptPunct(","));
      if (!Expect(")", "after .attribute")) return false;
      if (variable.managed && variable.space != Space::kGlobal)
        return Fail(word.location, ".managed of a variable that is not in .global");
    } else if (cursor_.AcceptDot("v2") || cursor_.AcceptDot("v4") || cursor_.AcceptDot("v8")) {
      if (variable.vector != 1) return Fail(word.location, "a second vector size " + Describe(word));
      variable.vector = word.text[1] - '0';
    } else if (cursor_.AcceptDot("ptr")) {
      if (variable.space != Space::kParam)
        return Fail(word.location, ".ptr of something that is no kernel parameter");
      variable.is_pointer = true;
      if (cursor_.AcceptDot("const"))
        variable.pointer_space = Space::kConst;
      else if (cursor_.AcceptDot("global"))
        variable.pointer_space = Space::kGlobal;
      else if (cursor_.AcceptDot("local"))
        variable.pointer_space = Space::kLocal;
      else if (cursor_.AcceptDot("shared"))
        variable.pointer_space = Space::kShared;
    } else {
      Type type;
      if (!ParseTypeWord(&type))
        return Fail(word.location,
                    "unknown type or directive " + Describe(word) + " in the declaration of " + what);
      if (head->has_type)
        return Fail(word.location, "a second type " + Describe(word) + " in the declaration of " + what);
      if (!IsFundamental(type) && !IsOpaque(type))
        return Fail(word.location, "the type " + Describe(word) +
                                       " is for instructions only: expected one of .b8 to .b128, .u8 "
                                       "to .u64, .s8 to .s64, .f16, .f16x2, .f32, .f64, .pred");
      if (type == Type::kPred && variable.space != Space::kReg)
        return Fail(word.location, "a .pred variable in memory: expected it in .reg");
      if (IsOpaque(type) && variable.space == Space::kReg)
        return Fail(word.location, "an opaque type " + Describe(word) + " in .reg");
      variable.type = type;
      head->has_type = true;
    }
  }
  if (!head->has_type)
    return Fail(cursor_.Peek().location, std::string("expected a type in the declaration of ") + what +
                                             ", got " + Describe(cursor_.Peek()));
  if (variable.vector > 1 && TypeBits(variable.type) * variable.vector > 128 &&
      variable.space != Space::kParam)
    return Fail(cursor_.Peek().location, "a vector of " +
                                             std::to_string(TypeBits(variable.type) * variable.vector) +
                                             " bits: expected at most 128");
  const uint64_t natural = IsOpaque(variable.type) ? 8
                                                   : static_cast<uint64_t>(TypeBytes(variable.type)) *
                                                         static_cast<uint64_t>(variable.vector);
  if (!aligned) variable.alignment = natural == 0 ? 1 : natural;
  return true;
}

bool Parser::ParseDimensions(Variable* variable, bool allow_open) {
  variable->is_array = true;
  while (cursor_.AcceptPunct("[")) {
    const Location where = cursor_.Peek().location;
    if (variable->dims.size() == kMaxDimensions)
      return Fail(where, "an array of more than " + std::to_string(kMaxDimensions) + " dimensions");
    if (cursor_.AcceptPunct("]")) {
      if (!variable->dims.empty() || !allow_open)
        return Fail(where, "an array's dimension is missing: only the first may be");
      variable->dims.push_back(0);
      continue;
    }
    Constant value;
    if (!ParseInteger(&cursor_, "an array's dimension", &value)) return false;
    if (static_cast<int64_t>(value.bits) < 0 || (value.bits == 0 && !variable->dims.empty()))
      return Fail(where, "the array's dimension " + std::to_string(static_cast<int64_t>(value.bits)) +
                             ": expected 1 or more");
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

bool Parser::ParseRegisterDeclaration() {
  DeclarationHead head;
  head.variable.space = Space::kReg;
  if (!ParseHead(&head, "a register")) return false;
  const Type type = head.variable.type;
  const int vector = head.variable.vector;
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
      const Location count_at = cursor_.Peek().location;
      Constant count;
      if (!ParseConstantTerm(&cursor_, &count) || !Expect(">", "after a count of registers")) return false;
      if (count.IsFloat() || static_cast<int64_t>(count.bits) < 0)
        return Fail(count_at, "the count of registers '" + std::string(name) +
                                  "<...>': expected an integer of 0 or more");
      symbol.kind = Symbol::Kind::kRange;
      symbol.count = count.bits;
      if (!scopes_.DeclareRange(name, symbol))
        return Fail(where, "the registers '" + std::string(name) + "<...>' are declared twice in this block");
      continue;
    }
    if (scopes_.Declares(name))
      return Fail(where, "'" + std::string(name) + "' is declared twice in this block");
    symbol.index = vector > 1 ? AddVectorRegister(name, type, vector) : AddRegister(std::string(name), type);
    scopes_.Declare(name, symbol);
  } while (cursor_.AcceptPunct(","));
  return Expect(";", "after a declaration of registers");
}

bool Parser::ParseVariableDeclaration(Linkage linkage) {
  const Token space = cursor_.Next();
  DeclarationHead head;
  static constexpr std::pair<const char*, Space> kSpaces[] = {
      {"global", Space::kGlobal}, {"const", Space::kConst},
      {"shared", Space::kShared}, {"shared::cta", Space::kShared},
      {"local", Space::kLocal},   {"param", Space::kParam},
      {"tex", Space::kTex}};
  for (const auto& [word, value] : kSpaces)
    if (space.text == word) head.variable.space = value;
  head.variable.linkage = linkage;
  if (!ParseHead(&head, "a variable")) return false;
  do {
    Variable variable = head.variable;
    std::string_view name;
    if (!ParseName("a variable", &name, &variable.location)) return false;
    variable.name = std::string(name);
    declared_name_ = name;
    if (cursor_.AcceptPunct("<")) {  // parameterised names: foo<3> declares foo0, foo1, foo2
      return Fail(variable.location,
                  "'" + variable.name + "<...>': expected numbered names of registers only");
    }
    if (cursor_.IsPunct("[") && !ParseDimensions(&variable, true)) return false;
    if (!FinishSize(&variable)) return false;
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
    } else if (!variable.dims.empty() && variable.dims[0] == 0 && linkage != Linkage::kExtern &&
               variable.space != Space::kParam && variable.size == 0 && variable.space != Space::kShared) {
      return Fail(variable.location, "the size of '" + variable.name +
                                         "' is missing: expected it in '[]', an initialiser or .extern");
    }
    if (!DeclareVariable(std::move(variable))) return false;
  } while (cursor_.AcceptPunct(","));
  return Expect(";", "after a variable's declaration");
}

bool Parser::DeclareVariable(Variable variable) {
  const std::string name = variable.name;
  const Location where = variable.location;
  if (function_ != nullptr) {
    Symbol symbol{Symbol::Kind::kVariable,
                  Operand::Scope::kFunctionLocal,
                  Type::kNone,
                  1,
                  static_cast<int>(function_->variables.size()),
                  0};
    if (!scopes_.Declare(declared_name_, symbol))
      return Fail(where, "'" + name + "' is declared twice in this block");
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
  // An .extern declaration may come before the definition, or again.
  if (before.linkage != Linkage::kExtern && variable.linkage != Linkage::kExtern)
    return Fail(where,
                "'" + name + "' is declared twice: first in line " + std::to_string(before.location.line));
  if (before.space != variable.space || TypeBits(before.type) != TypeBits(variable.type))
    return Fail(where, "'" + name + "' differs in state space or type from its declaration in line " +
                           std::to_string(before.location.line));
  if (before.linkage == Linkage::kExtern) before = std::move(variable);
  return true;
}

bool Parser::ParseInitializer(Variable* variable) {
  const Location where = cursor_.Peek().location;
  const uint64_t element = static_cast<uint64_t>(TypeBytes(variable->type));
  if (element == 0) {  // texref, samplerref, surfref = { name = value, ... }
    if (!cursor_.AcceptPunct("{"))
      return Fail(where, "expected '{' at the start of an opaque variable's initialiser");
    while (!cursor_.IsPunct("}")) {
      if (cursor_.AtEnd() || cursor_.IsPunct(";"))
        return Fail(where, "an opaque variable's initialiser has no closing '}'");
      cursor_.Next();
    }
    cursor_.Next();
    return true;
  }
  const bool open = variable->is_array && !variable->dims.empty() && variable->dims[0] == 0;
  const uint64_t limit = kMaxInitialisedBytes - initialised_bytes_;
  if (!open && variable->size > limit)
    return Fail(where, "the initialised variables of the module have more than 2^28 bytes");
  if (!open) variable->init.resize(variable->size);
  uint64_t position = 0;
  if (!variable->is_array && variable->vector == 1) {
    const bool braces = cursor_.AcceptPunct("{");
    if (!ParseInitializerValue(variable, 0)) return false;
    if (braces && !Expect("}", "after the value of '" + variable->name + "'")) return false;
  } else {
    if (!cursor_.IsPunct("{"))
      return Fail(where, "expected '{' at the start of the initialiser of the array '" + variable->name +
                             "', got " + Describe(cursor_.Peek()));
    if (!ParseInitializerList(variable, 0, &position)) return false;
  }
  if (open) {
    uint64_t row = element * static_cast<uint64_t>(variable->vector);
    for (size_t i = 1; i < variable->dims.size(); ++i) row *= variable->dims[i];
    variable->dims[0] = row == 0 ? 0 : (variable->init.size() + row - 1) / row;
    if (!FinishSize(variable)) return false;
    variable->init.resize(variable->size);
  }
  initialised_bytes_ += variable->init.size();
  return true;
}

// `position`: the next element. Each brace stands for one dimension (a vector's elements are the last one).
bool Parser::ParseInitializerList(Variable* variable, size_t dimension, uint64_t* position) {
  const Location brace = cursor_.Peek().location;
  cursor_.Next();  // {
  const size_t levels = variable->dims.size() + (variable->vector > 1 ? 1 : 0);
  if (dimension >= levels)
    return Fail(brace, "the initialiser of '" + variable->name + "' is nested deeper than its " +
                           std::to_string(levels) + " dimensions");
  // Elements below one entry of this level.
  uint64_t stride = 1;
  for (size_t i = dimension + 1; i < variable->dims.size(); ++i) stride *= variable->dims[i];
  if (variable->vector > 1 && dimension < variable->dims.size())
    stride *= static_cast<uint64_t>(variable->vector);
  const uint64_t count =
      dimension < variable->dims.size() ? variable->dims[dimension] : static_cast<uint64_t>(variable->vector);
  const uint64_t begin = *position;
  const bool open = dimension == 0 && count == 0;
  while (!cursor_.IsPunct("}")) {
    const Location where = cursor_.Peek().location;
    if (!open && *position >= begin + count * stride)
      return Fail(where, "the initialiser of '" + variable->name + "' has more than " +
                             std::to_string(count) + " values: expected at most its dimension");
    if (cursor_.IsPunct("{")) {
      const uint64_t entry = *position;
      if (!ParseInitializerList(variable, dimension + 1, position)) return false;
      *position = entry + stride;
    } else {
      if (!ParseInitializerValue(variable, *position)) return false;
      ++*position;
    }
    if (!cursor_.AcceptPunct(",")) break;
  }
  if (!Expect("}", "after the initialiser of '" + variable->name + "'")) return false;
  if (!open) *position = begin + count * stride;
  if (open && *position % (stride == 0 ? 1 : stride) != 0) *position += stride - *position % stride;
  return true;
}

bool Parser::ParseInitializerValue(Variable* variable, uint64_t position) {
  const uint64_t bytes = static_cast<uint64_t>(TypeBytes(variable->type));
  const uint64_t offset = position * bytes;
  const Token token = cursor_.Peek();
  if (offset + bytes > variable->init.size()) {
    if (offset + bytes > kMaxInitialisedBytes - initialised_bytes_)
      return Fail(token.location, "the initialised variables of the module have more than 2^28 bytes");
    variable->init.resize(offset + bytes);
  }
  if (token.kind == Token::Kind::kName && token.text != "WARP_SZ")
    return ParseSymbolValue(variable, offset, 0, ~uint64_t{0});
  // 0xFF00(symbol): a byte of an address.
  if ((token.kind == Token::Kind::kInteger || token.kind == Token::Kind::kUnsigned) &&
      cursor_.IsPunct("(", 1)) {
    int shift = 0;
    while (shift < 64 && token.value != uint64_t{0xff} << shift) shift += 8;
    if (shift == 64)
      return Fail(token.location, "the mask " + std::string(token.text) +
                                      " of an address: expected 0xFF, shifted left by 0 to "
                                      "56 bits in steps of 8");
    cursor_.Next();
    cursor_.Next();
    return ParseSymbolValue(variable, offset, shift, 0xff) && Expect(")", "after the masked address");
  }
  Constant value;
  return ParseConstant(&cursor_, &value) && StoreConstant(variable, offset, value, token.location);
}

bool Parser::ParseSymbolValue(Variable* variable, uint64_t offset, int shift, uint64_t mask) {
  Relocation relocation;
  relocation.offset = offset;
  relocation.bytes = TypeBytes(variable->type);
  relocation.shift = shift;
  relocation.mask = mask;
  const Token first = cursor_.Peek();
  if (first.text == "generic" && cursor_.IsPunct("(", 1)) {
    relocation.generic = true;
    cursor_.Next();
    cursor_.Next();
  }
  std::string_view name;
  Location where;
  if (!ParseName("a variable or a function", &name, &where)) return false;
  relocation.symbol = std::string(name);
  const Symbol symbol = Find(name);
  if (symbol.kind != Symbol::Kind::kVariable && symbol.kind != Symbol::Kind::kFunction &&
      name != declared_name_)
    return Fail(where, "'" + relocation.symbol + "' in an initialiser is not declared" + Suggest(name));
  if (relocation.generic && !ParseOffsets(&relocation.addend)) return false;
  if (relocation.generic && !Expect(")", "after generic(...")) return false;
  int64_t more = 0;
  if (!ParseOffsets(&more)) return false;
  relocation.addend =
      static_cast<int64_t>(static_cast<uint64_t>(relocation.addend) + static_cast<uint64_t>(more));
  if (mask == ~uint64_t{0} && relocation.bytes * 8 < 32)
    return Fail(first.location, "the address of '" + relocation.symbol + "' in a value of " +
                                    std::to_string(relocation.bytes * 8) +
                                    " bits: expected 32 or 64, or a mask like 0xFF00(" + relocation.symbol +
                                    ")");
  if (IsFloat(variable->type))
    return Fail(first.location,
                "the address of '" + relocation.symbol + "' in a float: expected an integer type");
  variable->relocations.push_back(std::move(relocation));
  return true;
}

bool Parser::StoreConstant(Variable* variable, uint64_t offset, const Constant& value, Location where) {
  const int bytes = TypeBytes(variable->type);
  uint64_t bits = value.bits;
  if (value.IsFloat()) {
    if (variable->type == Type::kF64) {
      const double d = value.AsDouble();
      std::memcpy(&bits, &d, 8);
    } else if (variable->type == Type::kF32) {
      if (value.kind == Constant::Kind::kF64) {
        const float f = static_cast<float>(value.AsDouble());
        uint32_t word;
        std::memcpy(&word, &f, 4);
        bits = word;
      }
    } else {
      return Fail(where, "a float in the initialiser of '" + variable->name + "' of type ." +
                             TypeName(variable->type) + ": expected an integer");
    }
  } else if (variable->type == Type::kF32 || variable->type == Type::kF64) {
    return Fail(where, "an integer in the initialiser of '" + variable->name + "' of type ." +
                           TypeName(variable->type) + ": expected a float");
  }
  for (int i = 0; i < bytes; ++i) {
    // A 128-bit value of 64 bits: its sign goes on.
    const bool negative = value.kind == Constant::Kind::kS64 && bits >> 63;
    variable->init[offset + static_cast<uint64_t>(i)] = i < 8      ? static_cast<uint8_t>(bits >> (8 * i))
                                                        : negative ? uint8_t{0xff}
                                                                   : uint8_t{0};
  }
  return true;
}

}  // namespace understudy::emu::ptx
