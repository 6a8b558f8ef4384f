// SPDX-License-Identifier: Apache-2.0
// Debug data: .file, .loc, .section and PTX 1's @@DWARF lines. Checked as ptxas checks them; of all this the
// module keeps the files' names.
#include <utility>

#include "emu/ptx/parse/parser.h"
#include "emu/ptx/parse/suggest.h"

namespace understudy::emu::ptx {
namespace {

constexpr size_t kMaxFiles = 4096;  // that are kept
constexpr int kFileTimesSince = 32, kInlinedSince = 70, kLabelsSince = 70, kDwarfUntil = 20;

// Bits of a type in a .section; 0: none.
int SectionBits(std::string_view type) {
  return type == "b8" ? 8 : type == "b16" ? 16 : type == "b32" ? 32 : type == "b64" ? 64 : 0;
}

}  // namespace

// .file n "name" {, time, size}
bool Parser::ParseFile() {
  const Location where = cursor_.Peek().location;
  Constant number, ignored;
  if (!ParseLiteral("the number of a .file", UINT32_MAX, &number)) return false;
  const Token name = cursor_.Next();
  if (name.kind != Token::Kind::kString)
    return Fail(name.location,
                "expected a file's name in quotes after .file and its number, got " + Describe(name));
  if (number.bits < kMaxFiles) {
    if (module_.files.size() <= number.bits) module_.files.resize(number.bits + 1);
    module_.files[number.bits] = std::string(name.text);
  }
  if (!file_numbers_.insert(number.bits).second)
    Fail(where, "the number " + std::to_string(number.bits) + " of a .file is taken: expected a new one");
  if (!cursor_.IsPunct(",")) return true;
  Require("a time in .file", kFileTimesSince, 0, cursor_.Next().location);
  if (!ParseLiteral("the time of a .file", UINT64_MAX, &ignored)) return false;
  return !cursor_.AcceptPunct(",") || ParseLiteral("the size of a .file", UINT64_MAX, &ignored);
}

// .loc file line column {, function_name label {+ offset}, inlined_at file line column}
bool Parser::ParseLoc() {
  cursor_.Next();
  const auto place = [this](const char* what, Place* out) {
    uint64_t* const parts[] = {&out->file, &out->line, &out->column};
    static constexpr const char* kParts[] = {"file", "line", "column"};
    for (size_t i = 0; i < 3; ++i) {
      Constant value;
      if (!ParseLiteral(std::string("the ") + kParts[i] + " of " + what, UINT32_MAX, &value)) return false;
      *parts[i] = value.bits;
    }
    return true;
  };
  Place here{};
  if (!place(".loc", &here)) return false;
  if (cursor_.AcceptPunct(",")) {
    const Token attribute = cursor_.Next();
    if (attribute.text != "function_name")
      return Fail(attribute.location, "expected function_name after '.loc', got " + Describe(attribute));
    Require("'function_name'", kInlinedSince, 0, attribute.location);
    if (cursor_.Peek().kind == Token::Kind::kDot) {
      cursor_.Next();  // .debug_str
    } else {
      std::string_view name;
      Location at;
      if (!ParseName("a label of .debug_str", &name, &at)) return false;
      function_names_.emplace_back(name, at);
    }
    Constant ignored;
    if (cursor_.AcceptPunct("+") && !ParseLiteral("an offset", UINT32_MAX, &ignored)) return false;
    if (!Expect(",", "before inlined_at")) return false;
    const Token inlined = cursor_.Next();
    if (inlined.text != "inlined_at")
      return Fail(inlined.location, "expected inlined_at, got " + Describe(inlined));
    const Location at = cursor_.Peek().location;
    Place there{};
    if (!place("inlined_at", &there)) return false;
    if (places_.count(there) == 0)
      Fail(at, "no .loc before this one is at " + std::to_string(there.file) + " " +
                   std::to_string(there.line) + " " + std::to_string(there.column) +
                   ": expected the place of one after inlined_at");
  }
  places_.insert(here);
  return true;
}

// .section .name { label: .b32 1, -2, label, label+4, label-label, .section, .section+4 ... }
bool Parser::ParseSection() {
  has_section_ = true;
  if (cursor_.Peek().kind != Token::Kind::kDot)
    return Fail(cursor_.Peek().location,
                "expected a section's name like .debug_info, got " + Describe(cursor_.Peek()));
  cursor_.Next();
  if (!Expect("{", "after a section's name")) return false;
  while (!cursor_.AcceptPunct("}")) {
    const Token token = cursor_.Next();
    if (token.kind == Token::Kind::kEnd) return Fail(token.location, "a .section has no closing '}'");
    if (token.kind == Token::Kind::kName && cursor_.AcceptPunct(":")) {
      Require("a label in a .section", kLabelsSince, 0, token.location);
      if (!section_labels_.emplace(token.text, token.location).second)
        Fail(token.location, "the label '" + std::string(token.text) + "' of a .section is defined twice");
      continue;
    }
    if (token.kind != Token::Kind::kDot || SectionBits(token.text) == 0)
      return Fail(token.location,
                  "expected a label or .b8, .b16, .b32 or .b64 in a .section, got " + Describe(token));
    if (!ParseSectionValues(token.text)) return false;
  }
  return true;
}

bool Parser::ParseSectionValues(std::string_view type) {
  const int bits = SectionBits(type);
  do {
    const Token value = cursor_.Peek();
    Constant number;
    if (value.kind == Token::Kind::kName || value.kind == Token::Kind::kDot) {
      if (value.text == "WARP_SZ")
        return Fail(value.location, "expected a value of a .section, got 'WARP_SZ'");
      if (bits < 32)
        return Fail(value.location, "the address of " + Describe(value) + " in ." + std::string(type) +
                                        ": expected .b32 or .b64");
      cursor_.Next();
      std::string_view other;
      Location at;
      if (cursor_.AcceptPunct("+")) {
        if (!ParseLiteral("an offset", UINT64_MAX, &number)) return false;
      } else if (value.kind == Token::Kind::kName && cursor_.AcceptPunct("-")) {
        if (!ParseName("a label", &other, &at)) return false;
      }
      continue;
    }
    const bool negative = cursor_.AcceptPunct("-");
    if (cursor_.Peek().text == "WARP_SZ" || !ParseLiteral("a value of a .section", UINT64_MAX, &number))
      return cursor_.Peek().text == "WARP_SZ" ? Fail(value.location, "expected a number, got 'WARP_SZ'")
                                              : false;
    const uint64_t limit = negative ? uint64_t{1} << (bits - 1) : (uint64_t{1} << (bits & 63)) - 1;
    if (bits < 32 && number.bits > limit)
      return Fail(value.location, std::string(negative ? "-" : "") + std::to_string(number.bits) +
                                      " does not fit into ." + std::string(type));
  } while (cursor_.AcceptPunct(","));
  return true;
}

// @@DWARF .section .name, "", @progbits   @@DWARF .byte 1, 2   @@DWARF .4byte label   @@DWARF label:
bool Parser::ParseDwarfLine() {
  const Location where = cursor_.Next().location;
  cursor_.Next();
  const Token name = cursor_.Next();
  if (name.text != "DWARF") return Fail(name.location, "expected DWARF after '@@', got " + Describe(name));
  if (stage_ == Stage::kVersion || stage_ == Stage::kTarget)
    Fail(where, "'@@DWARF' before .version and .target: expected it behind them");
  stage_ = Stage::kRest;
  if (module_.version_major * 10 + module_.version_minor >= kDwarfUntil)
    Fail(where, "'@@DWARF' ended with PTX 2.0: expected .section");
  const Token word = cursor_.Next();
  if (word.kind == Token::Kind::kName && cursor_.AcceptPunct(":")) return true;
  if (word.kind == Token::Kind::kDot && word.text == "section") {
    has_section_ = true;
    if (cursor_.Next().kind != Token::Kind::kDot)
      return Fail(word.location, "expected a section's name like .debug_info after .section");
    return Expect(",", "after a section's name") &&
           (cursor_.Next().kind == Token::Kind::kString ||
            Fail(word.location, "expected a string after a section's name")) &&
           Expect(",", "after a section's flags") && Expect("@", "before progbits") &&
           (cursor_.Next().text == "progbits" || Fail(word.location, "expected progbits after '@'"));
  }
  if (word.kind != Token::Kind::kDot || (word.text != "byte" && word.text != "4byte" && word.text != "quad"))
    return Fail(word.location,
                "expected .section, .byte, .4byte, .quad or a label after @@DWARF, got " + Describe(word));
  if (!has_section_)
    return Fail(word.location,
                "'." + std::string(word.text) + "' before a section: expected @@DWARF .section");
  do {
    Constant value;
    if (word.text != "byte" && cursor_.IsName())
      cursor_.Next();
    else if (!ParseLiteral("a value of debug data", UINT64_MAX, &value))
      return false;
  } while (cursor_.AcceptPunct(","));
  return true;
}

// What later lines could still have made good.
void Parser::CheckDebugData() {
  for (const auto& [name, where] : function_names_) {
    if (section_labels_.count(name) != 0) continue;
    Nearest nearest(name);
    for (const auto& [label, at] : section_labels_) nearest.Try(label);
    Fail(where, "the label '" + std::string(name) + "' of function_name is in no .section" + nearest.Text());
  }
}

}  // namespace understudy::emu::ptx
