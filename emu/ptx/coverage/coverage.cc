// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/coverage/coverage.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "emu/ptx/isa/forms.h"
#include "emu/ptx/parse/parse.h"
#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx::coverage {
namespace {

constexpr size_t kExamples = 64;

// "add.s32: why" without the instruction, so that reasons of a form fall together.
std::string Reason(const Instruction& inst, const std::string& note) {
  const std::string prefix = inst.Name() + ": ";
  if (note.compare(0, prefix.size(), prefix) == 0) return note.substr(prefix.size());
  const std::string name = inst.Name() + " ";
  return note.compare(0, name.size(), name) == 0 ? note.substr(name.size()) : note;
}

}  // namespace

absl::Span<const std::string_view> RecordedInstructions() {
  // An array of views: thousands of std::string in one initialiser take a compiler minutes.
  static constexpr std::string_view names[] = {
#define PTX_RECORDED(name) name,
#include "emu/ptx/coverage/recorded.inc"
#undef PTX_RECORDED
  };
  return names;
}

const char* FormCoverage::StateName() const {
  if (refused == total()) return "refused";
  if (refused != 0) return "in part";
  return approximate != 0 ? "approximate" : "exact";
}

std::vector<FormCoverage> Coverage() {
  const std::set<std::string_view> recorded(RecordedInstructions().begin(), RecordedInstructions().end());
  std::vector<FormCoverage> rows;
  const std::vector<Form>& forms = Forms();
  for (size_t i = 0; i < forms.size(); ++i) {
    const int form = static_cast<int>(i);
    FormCoverage row;
    row.op = OpName(forms[i].op);
    row.syntax = forms[i].syntax;
    row.family = FormFamilyName(forms[i].family);
    row.version = FormVersion(form);
    row.target = FormTarget(form);
    std::vector<std::string> reasons;
    const auto parsed = ParseModule(FormModule(FormExamples(form, kExamples), row.version, row.target));
    if (!parsed.ok()) {
      row.refused = 1;
      reasons.push_back(
          absl::StrCat("the parser does not take it: ", std::string(parsed.status().message())));
    } else {
      const Module& module = **parsed;
      const Function* const kernel = module.FindFunction("k");
      for (const Instruction& inst : kernel->body) {
        // What surrounds an example is of other opcodes, but for the last instruction, a return.
        if (inst.op != forms[i].op || (&inst == &kernel->body.back() && kernel->body.size() > 1)) continue;
        const Exec exec = FindExec(inst, ExecContext{&module, kernel});
        ++(exec.fn == nullptr                          ? row.refused
           : exec.state == SemanticState::kApproximate ? row.approximate
                                                       : row.exact);
        row.recorded += recorded.count(inst.Name());
        if (exec.fn != nullptr && exec.state == SemanticState::kExact) continue;
        const std::string reason = Reason(inst, exec.note);
        if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(reason);
      }
    }
    for (const std::string& reason : reasons)
      absl::StrAppend(&row.note, row.note.empty() ? "" : "; ", reason);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<FamilyTotals> Totals(const std::vector<FormCoverage>& rows) {
  std::vector<FamilyTotals> totals;
  FamilyTotals all;
  all.name = "all";
  for (const FormCoverage& row : rows) {
    auto it = std::find_if(totals.begin(), totals.end(), [&](const auto& t) { return t.name == row.family; });
    if (it == totals.end()) {
      it = totals.emplace(totals.end());
      it->name = row.family;
    }
    for (FamilyTotals* t : {&*it, &all}) {
      ++t->forms;
      const std::string state = row.StateName();
      ++(state == "exact"         ? t->exact
         : state == "approximate" ? t->approximate
         : state == "in part"     ? t->partly
                                  : t->refused);
      t->recorded += row.recorded != 0;
    }
  }
  totals.push_back(all);
  return totals;
}

}  // namespace understudy::emu::ptx::coverage
