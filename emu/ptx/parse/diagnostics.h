// SPDX-License-Identifier: Apache-2.0
#pragma once
// Collects what is wrong with a PTX text. The lexer, the parser and the checker add to it; it never prints
// and never stops them, it only says when enough has been found.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "emu/ptx/parse/parse.h"

namespace understudy::emu::ptx {

class Diagnostics {
 public:
  explicit Diagnostics(size_t max_errors) : max_errors_(max_errors) {}

  void Error(Location location, std::string message) {
    if (Full()) return;
    ++errors_;
    list_.push_back({location, false, std::move(message)});
  }
  void Warning(Location location, std::string message) {
    if (!Full()) list_.push_back({location, true, std::move(message)});
  }
  size_t errors() const { return errors_; }
  bool Full() const { return errors_ >= max_errors_ || list_.size() >= 4 * max_errors_ + 16; }

  // In the order of the text: unresolved labels are found at the end of their function.
  std::vector<Diagnostic> Take() {
    std::stable_sort(list_.begin(), list_.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::pair(a.location.line, a.location.column) < std::pair(b.location.line, b.location.column);
    });
    return std::move(list_);
  }

 private:
  size_t max_errors_, errors_ = 0;
  std::vector<Diagnostic> list_;
};

}  // namespace understudy::emu::ptx
