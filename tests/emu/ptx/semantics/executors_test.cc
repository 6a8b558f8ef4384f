// SPDX-License-Identifier: Apache-2.0
// Which instructions have an executor: every form of the manual's integer, logic, comparison, conversion and
// video chapters, and everything that the recorded producers' kernels contain.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "emu/ptx/conform/ptx_runner.h"
#include "emu/ptx/isa/forms.h"
#include "emu/ptx/parse/parse.h"
#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx {
namespace {

// Instructions of the module without executor, each with the family's reason; counts those that have one.
std::map<std::string, std::string> WithoutExecutor(const Module& module, std::map<std::string, int>* found) {
  std::map<std::string, std::string> missing;
  for (const Function& function : module.functions) {
    for (const Instruction& inst : function.body) {
      const Exec exec = FindExec(inst, {&module, &function});
      if (exec.fn == nullptr || exec.state == SemanticState::kRefused) {
        missing.emplace(inst.Name(), exec.note);
      } else {
        ++(*found)[inst.Name()];
      }
    }
  }
  return missing;
}

TEST(Executors, EveryFormOfTheIntegerChaptersHasOne) {
  const std::set<FormFamily> families = {FormFamily::kInteger, FormFamily::kExtended, FormFamily::kCompare,
                                         FormFamily::kLogic,   FormFamily::kConvert,  FormFamily::kVideo};
  std::map<std::string, int> found;
  int forms = 0;
  for (size_t form = 0; form < Forms().size(); ++form) {
    const int number = static_cast<int>(form);
    const bool mine = families.count(Forms()[form].family) != 0 || Forms()[form].op == Op::kMov ||
                      Forms()[form].op == Op::kPrmt;
    if (!mine) continue;
    ++forms;
    const std::string text = FormModule(FormExamples(number), FormVersion(number), FormTarget(number));
    const ParseResult result = Parse(text, {Forms()[form].syntax, 5});
    ASSERT_NE(result.module, nullptr) << result.Text();
    for (const auto& [name, reason] : WithoutExecutor(*result.module, &found))
      ADD_FAILURE() << Forms()[form].syntax << ": " << name << ": " << reason;
  }
  EXPECT_GT(forms, 150);
  EXPECT_GT(found.size(), 1100u);
}

TEST(Executors, EverythingInTheCorpusHasOne) {
  std::map<std::string, int> found;
  int files = 0;
  for (const char* name : {"programs.jsonl", "corpus.jsonl"}) {
    std::ifstream file(std::string("tests/data/conformance/ptx/") + name);
    for (std::string line; std::getline(file, line); ++files) {
      const nlohmann::json json = nlohmann::json::parse(line);
      const std::string ptx = json["ptx"];
      // Binds, with the module's variables placed.
      const PtxRunner runner(ptx);
      ASSERT_TRUE(runner.status().ok()) << json["name"] << ": " << runner.status();
      for (const auto& [inst, reason] : WithoutExecutor(runner.program().module(), &found))
        ADD_FAILURE() << json["name"] << ": " << inst << ": " << reason;
    }
  }
  EXPECT_EQ(files, 102);
  EXPECT_GE(found.size(), 240u);
  // Of each family something.
  for (const char* inst : {"fma.rn.f32", "ld.global.v4.b32", "shfl.sync.bfly.b32", "bar.sync", "mad.lo.s32",
                           "ex2.approx.ftz.f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"})
    EXPECT_GT(found[inst], 0) << inst;
}

}  // namespace
}  // namespace understudy::emu::ptx
