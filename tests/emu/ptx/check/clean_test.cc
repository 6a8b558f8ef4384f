// SPDX-License-Identifier: Apache-2.0
// The checks find nothing in what is right: every recorded instruction form, matrix instruction and whole
// kernel of real producers passes with all of them set to fail, and kernels give the same results for every
// seed.
#include <gtest/gtest.h>

#include <cstdio>

#include "emu/ptx/conform/conform.h"
#include "fuzz/ptx_programs/generate.h"
#include "fuzz/ptx_programs/program.h"
#include "fuzz/ptx_programs/run.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint64_t kRandomPrograms = 250;

LaunchOptions Checking() {
  LaunchOptions options;
  std::string error;
  EXPECT_TRUE(options.checks.Parse("all:fail", &error)) << error;
  return options;
}

// Vectors whose verdict is another than without the options.
size_t Changed(const char* file, const LaunchOptions& options) {
  const auto vectors = conform::LoadVectors(std::string("tests/data/conformance/ptx/") + file);
  EXPECT_TRUE(vectors.ok()) << vectors.status();
  if (!vectors.ok()) return ~size_t{0};
  const auto plain = conform::MakeEmulator(), checked = conform::MakeEmulator(options);
  size_t changed = 0;
  for (const conform::Vector& vector : *vectors) {
    const conform::Outcome expected = conform::RunVector(vector, *plain);
    const conform::Outcome outcome = conform::RunVector(vector, *checked);
    if (outcome.verdict == expected.verdict && outcome.different == expected.different) continue;
    if (++changed <= 20)
      std::printf("%s:%d: %s: %s %s\n", file, vector.line, vector.id.c_str(),
                  conform::VerdictName(outcome.verdict), outcome.reason.c_str());
  }
  return changed;
}

TEST(CleanTest, InstructionForms) { EXPECT_EQ(Changed("h200.jsonl", Checking()), 0u); }
TEST(CleanTest, MatrixInstructions) {
  EXPECT_EQ(Changed("mma.jsonl", Checking()), 0u);
  EXPECT_EQ(Changed("mma_more.jsonl", Checking()), 0u);
}
TEST(CleanTest, WholeKernels) { EXPECT_EQ(Changed("programs.jsonl", Checking()), 0u); }

// Divergence, calls, shared memory, barriers, atomics, mbarriers, copies and matrix instructions.
TEST(CleanTest, RandomPrograms) {
  LaunchOptions options = Checking();
  options.instruction_budget = 1 << 24;
  const auto checked = conform::MakeEmulator(options);
  int wrong = 0;
  for (uint64_t seed = 5000; seed < 5000 + kRandomPrograms; ++seed) {
    const auto result = ptx_programs::RunProgram(ptx_programs::Generate(seed), *checked);
    if (result.ok()) continue;
    if (++wrong <= 10)
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
                  result.status().ToString().c_str());
  }
  EXPECT_EQ(wrong, 0);
}

TEST(CleanTest, WholeKernelsAreTheSameForEverySeed) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    LaunchOptions options;
    options.seed = seed;
    EXPECT_EQ(Changed("programs.jsonl", options), 0u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace understudy::emu::ptx
