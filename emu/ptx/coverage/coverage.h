// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is known of every instruction form of PTX: whether the emulator executes its instructions and how
// well, and which of them an H200 has been asked. The source of `understudy conform --list` and of the PTX
// half of docs/fidelity.md. It runs nothing: states are what FindExec answers for instructions of each form.

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace understudy::emu::ptx::coverage {

struct FormCoverage {
  std::string op, syntax, family, version, target;
  // Instructions of the form that were asked about: every alternative of every choice, not every combination.
  int exact = 0, approximate = 0, refused = 0;
  int recorded = 0;  // of these, in a recording (recorded.inc)
  // Why instructions are refused, or what the bound is: different reasons, joined by "; ".
  std::string note;

  int total() const { return exact + approximate + refused; }
  // "exact", "approximate", "in part" (some instructions are refused) or "refused".
  const char* StateName() const;
};

// Every form, in the table's order.
std::vector<FormCoverage> Coverage();

struct FamilyTotals {
  std::string name;
  int forms = 0, exact = 0, approximate = 0, partly = 0, refused = 0;
  int recorded = 0;  // forms of which some instruction is in a recording
};
// By family, in the order of their first form; "all" last.
std::vector<FamilyTotals> Totals(const std::vector<FormCoverage>& rows);

// Instructions (names with all modifiers) that a recording compares: recorded.inc.
absl::Span<const std::string_view> RecordedInstructions();

// The PTX half of the page docs/fidelity.md.
std::string FidelityPage();

}  // namespace understudy::emu::ptx::coverage
