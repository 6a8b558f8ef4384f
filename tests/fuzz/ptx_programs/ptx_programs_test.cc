// SPDX-License-Identifier: Apache-2.0
// Random PTX programs: what the generator promises, and that the emulator's results depend on no order of
// execution.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "emu/ptx/conform/backend.h"
#include "emu/ptx/parse/parse.h"
#include "fuzz/program_tree/node.h"
#include "fuzz/ptx_programs/forms.h"
#include "fuzz/ptx_programs/generate.h"
#include "fuzz/ptx_programs/program.h"
#include "fuzz/ptx_programs/run.h"

namespace understudy::ptx_programs {
namespace {

emu::ptx::LaunchOptions Options() {
  emu::ptx::LaunchOptions options;
  options.instruction_budget = 1 << 24;
  return options;
}

TEST(Generator, TheSameSeedGivesTheSameProgramAndOthersGiveOthers) {
  std::set<std::string> texts;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Program program = Generate(seed);
    EXPECT_EQ(Text(program), Text(Generate(seed)));
    EXPECT_TRUE(texts.insert(Text(program)).second) << seed;
    EXPECT_EQ(MakeProgramData(program).in, MakeProgramData(Generate(seed)).in);
  }
}

TEST(Generator, DrawsEveryFormAndEveryConstruct) {
  std::string all;
  for (uint64_t seed = 0; seed < 1800; ++seed) all += Text(Generate(seed));
  std::set<std::string> names;  // each line's first word, behind a guard
  for (size_t at = 0; at < all.size();) {
    at = std::min(all.find_first_not_of(' ', at), all.size());
    if (at < all.size() && all[at] == '@') at = all.find(' ', at) + 1;
    const size_t end = std::min(all.find('\n', at), all.size());
    names.insert(all.substr(at, std::min(all.find(' ', at), end) - at));
    at = end + 1;
  }
  int missing = 0;
  for (const Form& form : AllForms()) missing += names.count(form.name) == 0 ? 1 : 0;
  EXPECT_GT(AllForms().size(), 1300u);
  EXPECT_LT(missing, static_cast<int>(AllForms().size()) / 20);
  for (const char* construct : {"brx.idx",
                                "call (pr), f0",
                                ".callprototype",
                                "exit;",
                                "bar.sync 0;",
                                "bar.arrive",
                                "bar.red.popc",
                                "barrier.sync",
                                "barrier.cluster",
                                "mbarrier.try_wait",
                                "mbarrier.test_wait",
                                "cp.async.ca",
                                "ldmatrix",
                                "stmatrix",
                                "cvta.shared",
                                "cvta.local",
                                "ld.const.",
                                "ld.local.v4",
                                "st.local.",
                                "atom.global.",
                                "red.gpu.",
                                "atom.add.noftz.bf16x2",
                                ".shared.cas.b64",
                                "shfl.sync.up",
                                "vote.sync.uni",
                                "match.any.sync.b64",
                                "match.all",
                                "redux.sync.xor",
                                "elect.sync",
                                "bar.warp.sync",
                                "mma.sp::ordered_metadata",
                                "mma.sync.aligned.m16n8k16.row.col.f64",
                                ".extern .shared",
                                "madc.hi.cc",
                                "subc.cc",
                                "bra.uni",
                                "mov.b64 {%h2, _, %h0, _}"}) {
    EXPECT_NE(all.find(construct), std::string::npos) << construct;
  }
}

// Warps and blocks in random order, and several host threads: a program whose result may depend on neither
// has one result.
TEST(Emulator, GivesTheSameInEveryOrderAndOnSeveralThreads) {
  const auto in_order = emu::ptx::conform::MakeEmulator(Options());
  for (uint64_t seed = 0; seed < 450; ++seed) {
    const Program program = Generate(seed);
    const auto want = RunProgram(program, *in_order);
    ASSERT_TRUE(want.ok()) << "seed " << seed << ": " << want.status();
    emu::ptx::LaunchOptions options = Options();
    if (seed % 2 == 0) {
      options.threads = 4;
    } else {
      options.seed = seed + 1;
    }
    const auto other = emu::ptx::conform::MakeEmulator(options);
    EXPECT_EQ(Disagreement(program, RunProgram(program, *other), want), "") << "seed " << seed;
  }
}

// A backend that gets one instruction wrong.
class Wrong : public emu::ptx::conform::Backend {
 public:
  std::string name() const override { return "wrong"; }
  bool is_hardware() const override { return false; }
  absl::Status Run(emu::ptx::conform::Launch* launch) override {
    for (size_t at = 0; (at = launch->ptx.find("sub.s32", at)) != std::string::npos;)
      launch->ptx.replace(at, 3, "add");
    return right_->Run(launch);
  }
  absl::Status Load(const std::string& ptx) override { return right_->Load(ptx); }

 private:
  const std::unique_ptr<emu::ptx::conform::Backend> right_ = emu::ptx::conform::MakeEmulator(Options());
};

TEST(Reducer, LeavesLittleMoreThanTheInstructionThatIsWrong) {
  Wrong wrong;
  const auto right = emu::ptx::conform::MakeEmulator(Options());
  int differences = 0;
  for (uint64_t seed = 0; seed < 300 && differences < 8; ++seed) {
    const Program program = Generate(seed);
    if (Text(program).find("sub.s32") == std::string::npos ||
        Disagreement(program, RunProgram(program, wrong), RunProgram(program, *right)).empty())
      continue;
    ++differences;
    const Program reduced = ReduceProgram(program, 400, wrong, *right);
    EXPECT_NE(Disagreement(reduced, RunProgram(reduced, wrong), RunProgram(reduced, *right)), "") << seed;
    // Of the kernel's statements, without what sets up and stores registers.
    size_t before = 0, after = 0;
    for (const Node& node : program.nodes.back().children) before += node.removable ? 1 : 0;
    for (const Node& node : reduced.nodes.back().children) after += node.removable ? 1 : 0;
    EXPECT_LE(after, 4u) << seed << ": " << before << " statements\n" << Text(reduced);
  }
  EXPECT_GE(differences, 5);
}

// As the campaign does it: what nothing has set must not be read.
TEST(Reducer, LeavesTheLinesThatTheInstructionNeeds) {
  Wrong wrong;
  emu::ptx::LaunchOptions checking = Options();
  checking.checks.uninit = emu::ptx::CheckLevel::kFail;
  const auto right = emu::ptx::conform::MakeEmulator(checking);
  const auto holds = [&](const Program& candidate) {
    const auto want = RunProgram(candidate, *right);
    return want.ok() && !Disagreement(candidate, RunProgram(candidate, wrong), want).empty();
  };
  int reductions = 0;
  for (uint64_t seed = 0; seed < 300 && reductions < 3; ++seed) {
    const Program program = Generate(seed);
    // Functions keep their lines for calls and returns.
    if (Text(program).find("sub.s32") == std::string::npos || program.kind == ProgramClass::kCalls ||
        program.kind == ProgramClass::kMixed || !holds(program))
      continue;
    ++reductions;
    const Program lines = OneNodePerLine(program);
    EXPECT_TRUE(holds(lines)) << seed;
    const Program reduced = ReduceProgram(OneNodePerLine(ReduceProgram(program, 400, holds)), 2000, holds);
    EXPECT_TRUE(holds(reduced)) << seed;
    const std::string text = Text(reduced);
    const size_t open = text.find("ld.param");
    // Addresses, the thread's place, two operands, the difference, a store.
    EXPECT_LE(std::count(text.begin() + static_cast<int64_t>(open), text.end(), '\n'), 40) << seed << "\n"
                                                                                           << text;
  }
  EXPECT_EQ(reductions, 3);
}

}  // namespace
}  // namespace understudy::ptx_programs
