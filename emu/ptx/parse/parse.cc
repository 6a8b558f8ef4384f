// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/parse/parse.h"

#include <utility>

#include "emu/ptx/parse/parser.h"

namespace understudy::emu::ptx {

ParseResult Parse(const std::string& text, const ParseOptions& options) {
  auto module = std::make_shared<Module>();
  module->name = options.name;
  module->source = text;
  Diagnostics diagnostics(options.max_errors == 0 ? 1 : options.max_errors);
  Parser(module->source, module.get(), &diagnostics).Run();
  ParseResult result;
  const bool ok = diagnostics.errors() == 0;
  result.name = options.name;
  result.diagnostics = diagnostics.Take();
  if (!result.diagnostics.empty()) result.source = text;
  if (ok) result.module = std::move(module);
  return result;
}

std::string ParseResult::Text() const {
  Module lines;  // for SourceLine
  lines.source = source;
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    out += name + ":" + std::to_string(d.location.line) + ":" + std::to_string(d.location.column) + ": " +
           (d.warning ? "warning: " : "error: ") + d.message + "\n";
    const std::string line = lines.SourceLine(d.location.line);
    if (!line.empty()) out += "    " + line.substr(0, 200) + "\n";
  }
  return out;
}

absl::StatusOr<std::shared_ptr<const Module>> ParseModule(const std::string& text,
                                                          const ParseOptions& options) {
  ParseResult result = Parse(text, options);
  if (result.module == nullptr) return absl::InvalidArgumentError(result.Text());
  return std::move(result.module);
}

}  // namespace understudy::emu::ptx
