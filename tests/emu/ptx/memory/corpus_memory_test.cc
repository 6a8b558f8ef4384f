// SPDX-License-Identifier: Apache-2.0
// No memory instruction of the recorded programs and of the corpus is refused.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "emu/ptx/parse/parse.h"
#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx {
namespace {

TEST(MemoryCorpus, EveryMemoryInstructionHasAnExactExecutor) {
  const std::set<Op> family = {Op::kLd,       Op::kSt,       Op::kAtom,     Op::kRed,      Op::kCvta,
                               Op::kFence,    Op::kMembar,   Op::kCp,       Op::kMbarrier, Op::kCreatepolicy,
                               Op::kLdmatrix, Op::kStmatrix, Op::kPrefetch, Op::kMapa,     Op::kIsspacep};
  std::map<std::string, int> found;
  for (const char* name : {"programs.jsonl", "corpus.jsonl"}) {
    std::ifstream file(std::string("tests/data/conformance/ptx/") + name);
    for (std::string line; std::getline(file, line);) {
      const nlohmann::json json = nlohmann::json::parse(line);
      const ParseResult result = Parse(json["ptx"], {json["name"], 50});
      ASSERT_NE(result.module, nullptr) << result.Text();
      for (const Function& function : result.module->functions)
        for (const Instruction& inst : function.body) {
          if (family.count(inst.op) == 0) continue;
          const Exec exec = FindMemoryExec(inst, {result.module.get(), &function});
          EXPECT_NE(exec.fn, nullptr) << inst.Name() << ": " << exec.note;
          EXPECT_EQ(exec.state, SemanticState::kExact) << inst.Name();
          ++found[inst.Name()];
        }
    }
  }
  EXPECT_GE(found.size(), 70u);
  EXPECT_GE(found["cp.async.cg.shared.global"], 160);
}

}  // namespace
}  // namespace understudy::emu::ptx
