// SPDX-License-Identifier: Apache-2.0
// What stands behind '=' in a variable's declaration (PTX ISA, "Initializers").
#include <algorithm>
#include <cstring>
#include <utility>

#include "emu/ptx/parse/parser.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint64_t kMaxInitialisedBytes = uint64_t{1} << 28;  // of a module: they are held in memory

}  // namespace

bool Parser::ParseInitializer(Variable* variable) {
  const Location where = cursor_.Peek().location;
  const uint64_t element = static_cast<uint64_t>(TypeBytes(variable->type));
  if (element == 0) return ParseOpaqueInitializer(*variable);
  if (variable->type == Type::kF16 || variable->type == Type::kF16x2)
    return Fail(where, std::string("an initialiser of type .") + TypeName(variable->type) +
                           ": expected .b16 or .b32 with the value's bits");
  const bool open = variable->is_array && variable->dims[0] == 0;
  const uint64_t limit = kMaxInitialisedBytes - initialised_bytes_;
  if (!open && variable->size > limit)
    return Fail(where, "the initialised variables of the module have more than 2^28 bytes");
  if (!open) variable->init.resize(variable->size);
  uint64_t position = 0;
  if (!variable->is_array && variable->vector == 1) {
    if (!ParseInitializerValue(variable, 0)) return false;
  } else if (!ParseInitializerList(variable, 0, &position)) {
    return false;
  }
  if (open) {
    uint64_t row = element * static_cast<uint64_t>(variable->vector);
    for (size_t i = 1; i < variable->dims.size(); ++i) row *= variable->dims[i];
    variable->dims[0] = row == 0 ? 0 : (variable->init.size() + row - 1) / row;
    if (variable->dims[0] == 0)
      return Fail(where, "the initialiser of '" + variable->name +
                             "' is empty: expected values, or its size in '[]'");
    if (!FinishSize(variable)) return false;
    variable->init.resize(variable->size);
  }
  initialised_bytes_ += variable->init.size();
  return true;
}

// `position`: the next element. Each brace stands for one dimension, a vector's elements for the last one; a
// vector has all its elements, a dimension may have fewer.
bool Parser::ParseInitializerList(Variable* variable, size_t dimension, uint64_t* position) {
  const size_t dims = variable->dims.size();
  const bool is_vector = dimension == dims;
  const std::string what = is_vector ? "the vector" : "the array";
  if (!Expect("{", "at the start of the values of " + what + " '" + variable->name + "'")) return false;
  // Elements below one entry of this level.
  uint64_t stride = is_vector ? 1 : static_cast<uint64_t>(variable->vector);
  for (size_t i = dimension + 1; i < dims; ++i) stride *= variable->dims[i];
  const uint64_t count = is_vector ? static_cast<uint64_t>(variable->vector) : variable->dims[dimension];
  const bool open = dimension == 0 && count == 0;
  const bool nested = dimension + 1 < dims || (dimension + 1 == dims && variable->vector > 1);
  const uint64_t begin = *position;
  uint64_t entries = 0;
  if (is_vector || !cursor_.IsPunct("}")) {
    do {
      const Location where = cursor_.Peek().location;
      if (!open && entries == count)
        return Fail(where, "the initialiser of '" + variable->name + "' has more than " +
                               std::to_string(count) + " values: expected at most its dimension");
      uint64_t at = begin + entries * stride;
      if (nested ? !ParseInitializerList(variable, dimension + 1, &at) : !ParseInitializerValue(variable, at))
        return false;
      ++entries;
    } while (cursor_.AcceptPunct(","));
  }
  const Location end = cursor_.Peek().location;
  if (!Expect("}", "after the initialiser of '" + variable->name + "'")) return false;
  if (is_vector && entries != count)
    return Fail(end, "the vector '" + variable->name + "' has " + std::to_string(entries) +
                         " values: expected " + std::to_string(count));
  *position = begin + (open ? entries : count) * stride;
  if (open && *position * static_cast<uint64_t>(TypeBytes(variable->type)) > variable->init.size())
    variable->init.resize(*position * static_cast<uint64_t>(TypeBytes(variable->type)));
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
  if (symbol.kind != Symbol::Kind::kVariable && symbol.kind != Symbol::Kind::kFunction)
    return Fail(where, "'" + relocation.symbol + "' in an initialiser is not declared" + Suggest(name));
  if (relocation.generic && !Expect(")", "after generic(" + relocation.symbol)) return false;
  const bool offset_follows = cursor_.IsPunct("+");
  if (!ParseOffsets(&relocation.addend)) return false;
  if (symbol.kind == Symbol::Kind::kFunction && (relocation.generic || offset_follows))
    return Fail(first.location, "the function '" + relocation.symbol + "' with " +
                                    (relocation.generic ? "generic()" : "an offset") +
                                    " in an initialiser: expected its name alone");
  if (symbol.kind == Symbol::Kind::kVariable) {
    Operand operand;
    operand.scope = symbol.scope;
    operand.index = symbol.index;
    const Variable& target = *VariableOf(operand);
    if (target.space != Space::kGlobal && target.space != Space::kConst)
      return Fail(where, "the address of '" + relocation.symbol + "' in ." + SpaceName(target.space) +
                             ": expected a variable in .global or .const");
  }
  // An address goes into an unsigned integer; a byte of one into any of one byte too.
  const bool whole = mask == ~uint64_t{0};
  const bool fits =
      variable->type == Type::kU32 || variable->type == Type::kU64 || (!whole && relocation.bytes == 1);
  if (!fits && whole && relocation.bytes < 4)
    return Fail(first.location, "the address of '" + relocation.symbol + "' in a value of " +
                                    std::to_string(relocation.bytes * 8) +
                                    " bits: expected 32 or 64, or a mask like 0xFF00(" + relocation.symbol +
                                    ")");
  if (!fits)
    return Fail(first.location, "the address of '" + relocation.symbol + "' in a value of type ." +
                                    TypeName(variable->type) + ": expected .u32 or .u64" +
                                    (whole ? "" : ", or 8 bits"));
  variable->relocations.push_back(std::move(relocation));
  return true;
}

// A float in bits is its pattern, f32 in .b32, f64 in .b64.
bool Parser::StoreConstant(Variable* variable, uint64_t offset, const Constant& value, Location where) {
  const int bytes = TypeBytes(variable->type);
  uint64_t bits = value.bits;
  if (value.IsFloat()) {
    if (variable->type == Type::kF64) {
      const double d = value.AsDouble();
      std::memcpy(&bits, &d, 8);
    } else if (variable->type == Type::kF32 || variable->type == Type::kB32) {
      if (value.kind == Constant::Kind::kF64) {
        const float f = static_cast<float>(value.AsDouble());
        uint32_t word;
        std::memcpy(&word, &f, 4);
        bits = word;
      }
    } else if (variable->type != Type::kB64) {
      return Fail(where, "a float in the initialiser of '" + variable->name + "' of type ." +
                             TypeName(variable->type) + ": expected an integer");
    }
  } else if (variable->type == Type::kF32 || variable->type == Type::kF64) {
    return Fail(where, "an integer in the initialiser of '" + variable->name + "' of type ." +
                           TypeName(variable->type) + ": expected a float");
  }
  for (int i = 0; i < bytes; ++i)  // 128 bits: zeros above 64, as in ptxas
    variable->init[offset + static_cast<uint64_t>(i)] =
        i < 8 ? static_cast<uint8_t>(bits >> (8 * i)) : uint8_t{0};
  return true;
}

// .texref, .samplerref, .surfref = { name = value, ... } (PTX ISA, "Texture, Sampler and Surface Types").
bool Parser::ParseOpaqueInitializer(const Variable& variable) {
  static constexpr const char* kNumbers[] = {"width",
                                             "height",
                                             "depth",
                                             "array_size",
                                             "normalized_coords",
                                             "force_unnormalized_coords",
                                             "num_mipmap_levels",
                                             "num_samples",
                                             "channel_data_type",
                                             "channel_order"};
  static constexpr const char* kModes[] = {"addr_mode_0", "addr_mode_1", "addr_mode_2"};
  static constexpr const char* kModeValues[] = {"wrap", "mirror", "clamp_ogl", "clamp_to_edge",
                                                "clamp_to_border"};
  static constexpr const char* kFilters[] = {"nearest", "linear"};
  const auto in = [](const auto& list, std::string_view word) {
    return std::any_of(std::begin(list), std::end(list), [&](const char* entry) { return word == entry; });
  };
  if (!Expect("{", "at the start of the initialiser of '" + variable.name + "'")) return false;
  if (cursor_.AcceptPunct("}")) return true;
  do {
    std::string_view name;
    Location where;
    if (!ParseName("a field", &name, &where)) return false;
    const bool number = in(kNumbers, name), mode = in(kModes, name);
    if (!number && !mode && name != "filter_mode")
      return Fail(where, "'" + std::string(name) + "' is no field of ." + TypeName(variable.type) +
                             ": expected width, height, depth, filter_mode, addr_mode_0 or the like");
    if (!Expect("=", "after a field's name")) return false;
    if (number) {
      Constant value;
      if (!ParseLiteral("the value of '" + std::string(name) + "'", UINT32_MAX, &value)) return false;
      continue;
    }
    const Token value = cursor_.Next();
    if (value.kind != Token::Kind::kName || !(mode ? in(kModeValues, value.text) : in(kFilters, value.text)))
      return Fail(value.location,
                  "expected " +
                      std::string(mode ? "wrap, mirror, clamp_ogl, clamp_to_edge or clamp_to_border"
                                       : "nearest or linear") +
                      " as the value of '" + std::string(name) + "', got " + Describe(value));
  } while (cursor_.AcceptPunct(","));
  return Expect("}", "after the initialiser of '" + variable.name + "'");
}

}  // namespace understudy::emu::ptx
