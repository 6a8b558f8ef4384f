// SPDX-License-Identifier: Apache-2.0
// A seed chooses who runs: the same seed gives the same run, a race gives different answers, a program
// without one the same answer for every seed.
#include <gtest/gtest.h>

#include <set>

#include "tests/emu/ptx/check/check_machine.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint64_t kSeeds = 40;

// Neighbours exchange a word through shared memory; `sync` stands between store and load.
std::string Exchange(const std::string& sync) {
  return CheckKernel(
      "mov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r3, %r1, %r2;\nadd.u32 %r4, %r0, 1000;\n"
      "st.shared.u32 [%r3], %r4;\n" +
          sync +
          "xor.b32 %r5, %r2, 128;\nadd.u32 %r5, %r1, %r5;\nld.shared.u32 %r6, [%r5];\n"
          "st.global.u32 [%i], %r6;\nret;",
      ".shared .align 4 .b8 s[1024];\n");
}

std::set<std::vector<uint32_t>> Answers(const std::string& ptx, uint32_t threads, Dim3 grid = {}) {
  std::set<std::vector<uint32_t>> answers;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CheckSetup setup;
    setup.checks = "all:off";
    setup.threads = threads;
    setup.grid = grid;
    setup.seed = seed;
    const Checked run = RunChecked(ptx, setup);
    EXPECT_EQ(run.fault.message, "");
    const Checked again = RunChecked(ptx, setup);
    EXPECT_EQ(run.values, again.values) << "seed " << seed;
    answers.insert(run.values);
  }
  return answers;
}

TEST(SeedTest, ARaceBetweenWarpsGivesDifferentAnswers) {
  EXPECT_GT(Answers(Exchange(""), 128).size(), 1u);
  const auto right = Answers(Exchange("bar.sync 0;\n"), 128);
  ASSERT_EQ(right.size(), 1u);
  for (uint32_t t = 0; t < 128; ++t) EXPECT_EQ((*right.begin())[t], 1000 + (t ^ 32)) << t;
}

TEST(SeedTest, DivergedLanesRunInAnyOrder) {
  const std::string ptx = CheckKernel(
      "setp.lt.u32 %p, %r0, 16;\n@%p bra A;\nst.volatile.global.u32 [%o], 1;\nbra.uni B;\nA:\n"
      "st.volatile.global.u32 [%o], 2;\nB:\nret;");
  EXPECT_EQ(Answers(ptx, 32).size(), 2u);
}

TEST(SeedTest, BlocksRunInAnyOrder) {
  const std::string ptx = CheckKernel("mov.u32 %r1, %ctaid.x;\nst.volatile.global.u32 [%o], %r1;\nret;");
  EXPECT_GT(Answers(ptx, 1, Dim3{6}).size(), 2u);
}

TEST(SeedTest, SumsByAtomicsAreTheSameInEveryOrder) {
  const std::string ptx = CheckKernel(
      "setp.lt.u32 %p, %r0, 40;\n@%p bra A;\nadd.u32 %r1, %r0, 7;\nbra.uni B;\nA:\nmul.lo.u32 %r1, %r0, "
      "3;\nB:\n"
      "red.global.add.u32 [%o], %r1;\nbar.sync 0;\nshfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\n"
      "red.global.add.u32 [%o+4], %r2;\nret;");
  EXPECT_EQ(Answers(ptx, 96, Dim3{5}).size(), 1u);
}

}  // namespace
}  // namespace understudy::emu::ptx
