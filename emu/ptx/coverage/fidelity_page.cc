// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "emu/ptx/conform/conform.h"
#include "emu/ptx/coverage/coverage.h"

namespace understudy::emu::ptx::coverage {
namespace {

// Text in a cell of a table.
std::string Cell(const std::string& text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}, {"\n", " "}, {"<", "&lt;"}});
}

// Forms in a state, those with one reason together.
std::string ByReason(const std::vector<FormCoverage>& rows, const std::string& state) {
  std::vector<std::string> order;
  std::map<std::string, std::string> forms;
  for (const FormCoverage& row : rows) {
    if (row.StateName() != state) continue;
    std::string& list = forms[row.note];
    if (list.empty()) order.push_back(row.note);
    const std::string mnemonic = row.syntax.substr(0, row.syntax.find(' '));
    absl::StrAppend(&list, list.empty() ? "" : ", ", "`", mnemonic, "`");
  }
  std::string text;
  for (const std::string& reason : order)
    absl::StrAppend(&text, "* ", absl::StrReplaceAll(reason, {{"\n", " "}, {"<", "&lt;"}}), ": ",
                    forms[reason], "\n");
  return text;
}

}  // namespace

std::string FidelityPage() {
  const std::vector<FormCoverage> rows = Coverage();
  std::string page =
      "\n# PTX\n\n"
      "Every instruction form of PTX ISA 8.8 (`emu/ptx/isa/forms.inc`). *exact*: what an H200 gives, bit for "
      "bit, as far as "
      "recordings go (elsewhere what the\n"
      "manual says); *in part*: some of the form's instructions are refused; *refused*: by name, when a "
      "program reaches "
      "it. States are those of instructions\n"
      "that use every alternative of every choice of the form. *Recorded*: instructions among these that an "
      "H200 was "
      "asked and that tests compare\n"
      "(`tests/data/conformance/ptx`, `tests/data/ptx`; `understudy conform FILE` repeats it, with "
      "`USE_HW=1` on the "
      "card).\n\n"
      "| family | forms | exact | approximate | in part | refused | with recorded instructions |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const FamilyTotals& t : Totals(rows))
    absl::StrAppendFormat(&page, "| %s | %d | %d | %d | %d | %d | %d |\n", t.name, t.forms, t.exact,
                          t.approximate, t.partly, t.refused, t.recorded);
  page += "\n## Deviations from recorded results\n\n";
  for (const conform::Deviation& deviation : conform::Deviations())
    absl::StrAppend(&page, "* `", deviation.instruction, "`: ", deviation.reason, "\n");
  for (const char* state : {"approximate", "in part", "refused"}) {
    const std::string list = ByReason(rows, state);
    if (!list.empty())
      absl::StrAppend(&page, "\n## ",
                      state[0] == 'a'   ? "Approximate"
                      : state[0] == 'i' ? "Refused in part"
                                        : "Refused",
                      " PTX\n\n", list);
  }
  page +=
      "\n## Every PTX form\n\n| form | PTX | target | state | instructions | recorded "
      "|\n|---|---|---|---|---|---|\n";
  for (const FormCoverage& row : rows)
    absl::StrAppendFormat(&page, "| `%s` | %s | %s | %s | %d | %d |\n", Cell(row.syntax), row.version,
                          row.target, row.StateName(), row.total(), row.recorded);
  return page;
}

}  // namespace understudy::emu::ptx::coverage
