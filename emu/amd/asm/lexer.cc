// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/asm/lexer.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace understudy::emu::amd::assembler {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }

Token Trimmed(const std::string& text, size_t begin, size_t end, int column) {
  while (begin < end && IsSpace(text[begin])) ++begin;
  while (end > begin && IsSpace(text[end - 1])) --end;
  return {text.substr(begin, end - begin), column + static_cast<int>(begin)};
}

// Modifiers start with a name, and where they have a value it follows a colon.
bool LooksLikeModifier(const std::string& piece) {
  static constexpr const char* kFlags[] = {
      "clamp", "glc",   "slc",   "dlc",    "scc", "sc0",   "sc1",    "nt",         "nv",
      "gds",   "idxen", "offen", "lds",    "tfe", "lwe",   "unorm",  "r128",       "a16",
      "d16",   "da",    "done",  "row_en", "vm",  "compr", "addr64", "row_mirror", "row_half_mirror",
      "high",  "mul"};
  for (const char* flag : kFlags) {
    if (piece == flag) return true;
  }
  size_t i = 0;
  while (i < piece.size() && (std::isalnum(static_cast<unsigned char>(piece[i])) || piece[i] == '_')) ++i;
  return i > 0 && i < piece.size() && piece[i] == ':' && (i + 1 == piece.size() || piece[i + 1] != ':') &&
         !std::isdigit(static_cast<unsigned char>(piece[0]));
}

}  // namespace

absl::Status ErrorAt(int column, const std::string& message) {
  return absl::InvalidArgumentError(absl::StrCat(column, ": ", message));
}

bool ParseInteger(const std::string& text, int64_t* value) {
  size_t i = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  if (i >= text.size() || !std::isdigit(static_cast<unsigned char>(text[i]))) return false;
  errno = 0;
  char* end = nullptr;
  if (text[i] == '0' && i + 2 < text.size() && (text[i + 1] == 'b' || text[i + 1] == 'B')) {
    const uint64_t magnitude = std::strtoull(text.c_str() + i + 2, &end, 2);
    *value = static_cast<int64_t>(text[0] == '-' ? 0 - magnitude : magnitude);
  } else {
    const uint64_t magnitude = std::strtoull(text.c_str() + i, &end, 0);
    *value = static_cast<int64_t>(text[0] == '-' ? 0 - magnitude : magnitude);
  }
  return errno == 0 && *end == '\0';
}

std::vector<Token> SplitTopLevel(const std::string& text, int column, char separator) {
  std::vector<Token> out;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : separator;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    const bool at_separator = separator == ' ' ? IsSpace(c) : c == separator;
    if (i < text.size() && (!at_separator || depth > 0)) continue;
    Token piece = Trimmed(text, begin, i, column);
    if (!piece.text.empty() || separator != ' ') out.push_back(std::move(piece));
    begin = i + 1;
  }
  return out;
}

absl::StatusOr<ParsedLine> ParseLine(const std::string& text, int column) {
  ParsedLine line;
  size_t begin = 0;
  while (begin < text.size() && IsSpace(text[begin])) ++begin;
  size_t end = begin;
  while (end < text.size() && !IsSpace(text[end])) ++end;
  line.mnemonic = {text.substr(begin, end - begin), column + static_cast<int>(begin)};
  for (char& c : line.mnemonic.text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  line.rest = Trimmed(text, end, text.size(), column);
  if (line.rest.text.empty()) return line;
  int depth = 0;
  for (size_t i = 0; i < line.rest.text.size(); ++i) {
    const char c = line.rest.text[i];
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (depth < 0)
      return ErrorAt(line.rest.column + static_cast<int>(i),
                     absl::StrCat("'", std::string(1, c), "' closes nothing"));
  }
  if (depth != 0) return ErrorAt(line.rest.column, "a bracket is not closed");
  const std::vector<Token> items = SplitTopLevel(line.rest.text, line.rest.column, ',');
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].text.empty()) return ErrorAt(items[i].column, "an operand is missing");
    std::vector<Token> pieces = SplitTopLevel(items[i].text, items[i].column, ' ');
    size_t at = 0;
    std::string operand;
    const int operand_column = pieces[0].column;
    // An operand may hold spaces: "off done", "mrt0 v1", "instid0(A) | instskip(B)".
    // The first piece is one even where it has a flag's name (the AGPR a16), unless there are no operands at
    // all.
    const bool first_is_operand = i > 0 || items.size() > 1;
    while (at < pieces.size() && ((at == 0 && first_is_operand) || !LooksLikeModifier(pieces[at].text))) {
      absl::StrAppend(&operand, operand.empty() ? "" : " ", pieces[at].text);
      ++at;
    }
    if (!operand.empty()) line.operands.push_back({operand, operand_column});
    for (; at < pieces.size(); ++at) line.modifiers.push_back(pieces[at]);
    if (!line.modifiers.empty() && i + 1 < items.size()) {
      return ErrorAt(line.modifiers[0].column,
                     absl::StrCat("'", line.modifiers[0].text, "' must follow the last operand"));
    }
  }
  return line;
}

}  // namespace understudy::emu::amd::assembler
