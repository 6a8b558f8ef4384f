// SPDX-License-Identifier: Apache-2.0
// The list of PTX forms: no form without a state, reasons where something is refused, and the list of
// recorded instructions is that of the recordings.
#include "emu/ptx/coverage/coverage.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "emu/ptx/conform/conform.h"
#include "emu/ptx/conform/kernel_text.h"
#include "emu/ptx/parse/parse.h"

namespace understudy::emu::ptx::coverage {
namespace {

// The instructions of a form's own text, without those that load its operands and store its result.
void AddInstructions(const conform::Form& form, std::set<std::string>* names) {
  int first = 0, last = 0;
  const std::string text = conform::FormKernel(form.op, form.d, form.s, 32, &first, &last);
  const auto module = ParseModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  for (const Instruction& inst : (*module)->functions[0].body)
    if (inst.location.line >= first && inst.location.line <= last) names->insert(inst.Name());
}

std::set<std::string> InstructionsOfRecordings() {
  std::set<std::string> names;
  for (const char* file :
       {"conformance/ptx/h200.jsonl", "conformance/ptx/mma.jsonl", "conformance/ptx/mma_more.jsonl",
        "conformance/ptx/programs.jsonl", "ptx/warp.jsonl.zst", "ptx/atomic.jsonl.zst",
        "ptx/convert.jsonl.zst", "ptx/half.jsonl.zst", "ptx/float.jsonl.zst", "ptx/integer.jsonl.zst",
        "ptx/integer_more.jsonl.zst", "ptx/matrix_move.jsonl.zst", "ptx/wmma.jsonl.zst",
        "ptx/special.jsonl.zst"}) {
    const auto vectors = conform::LoadVectors(std::string("tests/data/") + file);
    EXPECT_TRUE(vectors.ok()) << vectors.status();
    if (!vectors.ok()) continue;
    for (const conform::Vector& vector : *vectors) {
      if (const auto* form = std::get_if<conform::Form>(&vector.what)) {
        AddInstructions(*form, &names);
      } else if (const auto* kernel = std::get_if<conform::WholeKernel>(&vector.what)) {
        const auto module = ParseModule(kernel->launch.ptx);
        EXPECT_TRUE(module.ok()) << module.status();
        if (!module.ok()) continue;
        for (const Function& function : (*module)->functions)
          for (const Instruction& inst : function.body) names.insert(inst.Name());
      } else {
        names.insert(vector.id);
      }
    }
  }
  // Results of these are hashes; the instruction is the line's name.
  std::ifstream seeded("tests/data/conformance/ptx/mma_seeded.jsonl");
  for (std::string line; std::getline(seeded, line);)
    names.insert(nlohmann::json::parse(line)["op"].get<std::string>());
  return names;
}

TEST(Coverage, RecordedInstructionsAreThoseOfTheRecordings) {
  const std::set<std::string> recordings = InstructionsOfRecordings();
  const std::set<std::string> listed(RecordedInstructions().begin(), RecordedInstructions().end());
  if (std::getenv("PRINT_RECORDED") != nullptr)
    for (const std::string& name : recordings) std::printf("PTX_RECORDED(\"%s\")\n", name.c_str());
  EXPECT_TRUE(listed == recordings)
      << "recorded.inc is stale: PRINT_RECORDED=1 makes this test print its lines";
  EXPECT_GT(recordings.size(), 1500u);
}

TEST(Coverage, EveryFormHasAStateAndRefusalsHaveReasons) {
  const std::vector<FormCoverage> rows = Coverage();
  ASSERT_GT(rows.size(), 300u);
  for (const FormCoverage& row : rows) {
    EXPECT_GT(row.total(), 0) << row.syntax;
    EXPECT_TRUE(row.exact == row.total() || !row.note.empty()) << row.syntax;
    EXPECT_EQ(row.note.find("the parser does not take it"), std::string::npos)
        << row.syntax << ": " << row.note;
  }
  const std::vector<FamilyTotals> totals = Totals(rows);
  const FamilyTotals& all = totals.back();
  EXPECT_EQ(all.name, "all");
  EXPECT_EQ(all.forms, static_cast<int>(rows.size()));
  EXPECT_EQ(all.exact + all.approximate + all.partly + all.refused, all.forms);
}

}  // namespace
}  // namespace understudy::emu::ptx::coverage
