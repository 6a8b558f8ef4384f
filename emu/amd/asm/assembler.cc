// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/asm/assembler.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "emu/amd/asm/lexer.h"
#include "emu/amd/asm/match.h"
#include "src/base/status.h"

namespace understudy::emu::amd {
namespace {

using assembler::ErrorAt;
using assembler::LabelValue;
using assembler::ParsedLine;
using assembler::Token;

// Comments become blanks of the same length, so that columns stay; newlines stay too.
std::string WithoutComments(const std::string& text) {
  std::string out = text;
  for (size_t i = 0; i < out.size();) {
    if (out.compare(i, 2, "/*") == 0) {
      const size_t end = out.find("*/", i + 2);
      const size_t stop = end == std::string::npos ? out.size() : end + 2;
      for (; i < stop; ++i) {
        if (out[i] != '\n') out[i] = ' ';
      }
    } else if (out[i] == ';' || out.compare(i, 2, "//") == 0) {
      for (; i < out.size() && out[i] != '\n'; ++i) out[i] = ' ';
    } else {
      ++i;
    }
  }
  return out;
}

bool IsName(char c, bool first) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$' ||
         (!first && std::isdigit(static_cast<unsigned char>(c)));
}

std::string LeadingName(const std::string& text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsName(text[end], end == at)) ++end;
  return text.substr(at, end - at);
}

// A statement whose bytes are known, or that waits for a label.
struct Statement {
  int line = 0;
  uint64_t offset = 0;
  ParsedLine parsed;
  std::string target;  // of a branch to a label
  int target_column = 0;
  std::vector<uint8_t> bytes;
};

class Assembler {
 public:
  Assembler(Isa isa, const AsmOptions& options)
      : isa_(isa), wave_size_(IsCdna(isa) ? 64 : options.wave_size) {}

  void Line(const std::string& text, int line) {
    size_t at = 0;
    for (;;) {
      while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
      const std::string name = LeadingName(text, at);
      if (name.empty() || at + name.size() >= text.size() || text[at + name.size()] != ':') break;
      if (!result_.labels.emplace(name, offset_).second)
        Error(line, static_cast<int>(at) + 1, absl::StrCat("label '", name, "' is already there"));
      at += name.size() + 1;
    }
    if (at >= text.size()) return;
    if (text[at] == '.') {
      Directive(text, at, line);
    } else {
      Instruction(text.substr(at), static_cast<int>(at) + 1, line);
    }
  }

  // Branches to labels, once all labels are known.
  void Resolve() {
    for (Statement& s : statements_) {
      if (!s.target.empty()) {
        const auto label = result_.labels.find(s.target);
        if (label == result_.labels.end()) {
          Error(s.line, s.target_column, absl::StrCat("label '", s.target, "' is nowhere"));
          continue;
        }
        const int64_t distance =
            static_cast<int64_t>(label->second) - static_cast<int64_t>(s.offset + s.bytes.size());
        if (distance % 4 != 0) {
          Error(s.line, s.target_column,
                absl::StrCat("label '", s.target, "' is not at a multiple of four bytes"));
          continue;
        }
        auto bytes = assembler::MatchLine(isa_, s.parsed, wave_size_, {true, distance / 4});
        if (!bytes.ok()) {
          Error(s.line, bytes.status());
          continue;
        }
        s.bytes = *std::move(bytes);
      }
      result_.lines.push_back({s.offset, static_cast<uint32_t>(s.bytes.size()), s.line});
      result_.code.insert(result_.code.end(), s.bytes.begin(), s.bytes.end());
    }
  }

  void SortErrors() {
    std::stable_sort(errors_.begin(), errors_.end(),
                     [](const AsmError& a, const AsmError& b) { return a.line < b.line; });
  }
  Assembly TakeResult() { return std::move(result_); }
  const std::vector<AsmError>& errors() const { return errors_; }

 private:
  void Error(int line, int column, const std::string& message) { errors_.push_back({line, column, message}); }
  // From "COLUMN: message".
  void Error(int line, const absl::Status& status) {
    const std::string text(status.message());
    const size_t colon = text.find(": ");
    Error(line, std::atoi(text.c_str()), colon == std::string::npos ? text : text.substr(colon + 2));
  }

  void Emit(Statement statement) {
    statement.offset = offset_;
    offset_ += statement.bytes.size();
    statements_.push_back(std::move(statement));
  }

  void Instruction(const std::string& text, int column, int line) {
    auto parsed = assembler::ParseLine(text, column);
    if (!parsed.ok()) return Error(line, parsed.status());
    Statement s;
    s.line = line;
    s.parsed = *std::move(parsed);
    LabelValue label;
    int64_t number;
    if (assembler::TakesLabel(s.parsed.mnemonic.text) && !s.parsed.operands.empty()) {
      const Token& last = s.parsed.operands.back();
      if (!assembler::ParseInteger(last.text, &number)) {
        s.target = last.text;
        s.target_column = last.column;
        label.is_label = true;
      }
    }
    auto bytes = assembler::MatchLine(isa_, s.parsed, wave_size_, label);
    if (!bytes.ok()) return Error(line, bytes.status());
    s.bytes = *std::move(bytes);
    Emit(std::move(s));
  }

  void Directive(const std::string& text, size_t at, int line) {
    const std::string name = LeadingName(text, at);
    const int column = static_cast<int>(at) + 1;
    const size_t rest = at + name.size();
    const auto values = assembler::SplitTopLevel(text.substr(rest), static_cast<int>(rest) + 1, ',');
    for (const char* quiet : {".text", ".globl", ".global", ".type", ".size", ".section", ".amdgcn_target"}) {
      if (name == quiet) return;
    }
    Statement s;
    s.line = line;
    const int width = name == ".byte"                                         ? 1
                      : name == ".short" || name == ".2byte"                  ? 2
                      : name == ".long" || name == ".4byte" || name == ".int" ? 4
                      : name == ".quad" || name == ".8byte"                   ? 8
                                                                              : 0;
    int64_t v = 0;
    if (name == ".p2align") {
      if (values.empty() || !assembler::ParseInteger(values[0].text, &v) || v < 0 || v > 16)
        return Error(line, column, ".p2align takes an exponent of 0 to 16");
      const uint64_t end = (offset_ + (uint64_t{1} << v) - 1) >> v << v;
      // Code is padded with instructions that do nothing, data with zeros.
      const std::vector<uint8_t> nop = {0, 0, 0x80, 0xbf};
      while (offset_ + s.bytes.size() < end) {
        const bool whole = (offset_ + s.bytes.size()) % 4 == 0 && end - (offset_ + s.bytes.size()) >= 4;
        if (whole) {
          s.bytes.insert(s.bytes.end(), nop.begin(), nop.end());
        } else {
          s.bytes.push_back(0);
        }
      }
      return Emit(std::move(s));
    }
    if (width == 0) return Error(line, column, absl::StrCat("no directive '", name, "'"));
    for (const Token& value : values) {
      if (!assembler::ParseInteger(value.text, &v))
        return Error(line, value.column, absl::StrCat("'", value.text, "' is no number"));
      if (width < 8 && (v >= int64_t{1} << (8 * width) || v < -(int64_t{1} << (8 * width - 1)))) {
        return Error(line, value.column, absl::StrCat("'", value.text, "' does not fit ", width, " bytes"));
      }
      for (int i = 0; i < width; ++i)
        s.bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(v) >> (8 * i)));
    }
    Emit(std::move(s));
  }

  const Isa isa_;
  const int wave_size_;
  uint64_t offset_ = 0;
  std::vector<Statement> statements_;
  Assembly result_;
  std::vector<AsmError> errors_;
};

}  // namespace

absl::StatusOr<Assembly> AssembleText(Isa isa, const std::string& text, const AsmOptions& options,
                                      std::vector<AsmError>* errors) {
  Assembler assembler(isa, options);
  const std::string clean = WithoutComments(text);
  int line = 1;
  for (size_t begin = 0; begin <= clean.size(); ++line) {
    size_t end = clean.find('\n', begin);
    if (end == std::string::npos) end = clean.size();
    assembler.Line(clean.substr(begin, end - begin), line);
    begin = end + 1;
  }
  assembler.Resolve();
  assembler.SortErrors();
  if (errors != nullptr) *errors = assembler.errors();
  if (assembler.errors().empty()) return assembler.TakeResult();
  std::string message;
  for (const AsmError& e : assembler.errors()) {
    absl::StrAppend(&message, message.empty() ? "" : "\n", e.line, ":", e.column, ": ", e.message);
  }
  return absl::InvalidArgumentError(message);
}

absl::StatusOr<std::vector<uint8_t>> AssembleInstruction(Isa isa, const std::string& text,
                                                         const AsmOptions& options) {
  US_ASSIGN_OR_RETURN(Assembly assembly, AssembleText(isa, text, options));
  return std::move(assembly.code);
}

}  // namespace understudy::emu::amd
