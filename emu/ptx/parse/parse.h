// SPDX-License-Identifier: Apache-2.0
#pragma once
// PTX text to a Module. Reads any bytes without crashing; goes on after an error to report the next one.
// Never includes files and never looks names up outside the text.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/ptx/parse/module.h"

namespace understudy::emu::ptx {

struct Diagnostic {
  Location location;
  bool warning = false;
  std::string message;  // names the thing, the value and what was expected
};

struct ParseOptions {
  std::string name = "module";  // in messages
  size_t max_errors = 50;
};

struct ParseResult {
  std::shared_ptr<const Module> module;  // null when there are errors
  std::vector<Diagnostic> diagnostics;   // in the order of the text
  // "name:12:5: error: ..." a line each, with the line's text.
  std::string Text() const;
  std::string name, source;  // for Text(); source: empty when nothing is wrong
};

ParseResult Parse(const std::string& text, const ParseOptions& options = {});
// The same; InvalidArgument with Text() when there are errors.
absl::StatusOr<std::shared_ptr<const Module>> ParseModule(const std::string& text,
                                                          const ParseOptions& options = {});

}  // namespace understudy::emu::ptx
