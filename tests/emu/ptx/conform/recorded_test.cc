// SPDX-License-Identifier: Apache-2.0
// What an H200 gave, the emulator gives bit for bit: instruction forms (warp-wide ones included), matrix
// instructions and whole kernels of real producers, each in a launch of its own.
#include <gtest/gtest.h>

#include <cstdio>

#include "emu/ptx/conform/conform.h"

namespace understudy::emu::ptx::conform {
namespace {

// Vectors of a file that pass; prints the others.
size_t Passes(const char* file, size_t expected_vectors) {
  const auto vectors = LoadVectors(std::string("tests/data/conformance/ptx/") + file);
  EXPECT_TRUE(vectors.ok()) << vectors.status();
  if (!vectors.ok()) return 0;
  EXPECT_EQ(vectors->size(), expected_vectors);
  const std::unique_ptr<Backend> emulator = MakeEmulator();
  size_t passes = 0;
  for (const Vector& vector : *vectors) {
    const Outcome outcome = RunVector(vector, *emulator);
    passes += outcome.verdict == Outcome::Verdict::kPass;
    if (outcome.verdict == Outcome::Verdict::kPass) continue;
    std::printf("%s:%d: %s: %s %s, %llu of %llu differ\n", file, vector.line, vector.id.c_str(),
                VerdictName(outcome.verdict), outcome.reason.c_str(),
                static_cast<unsigned long long>(outcome.different),
                static_cast<unsigned long long>(outcome.values));
    for (const Difference& d : outcome.first) std::printf("    %s\n", DifferenceText(d).c_str());
  }
  return passes;
}

TEST(Recorded, InstructionForms) { EXPECT_EQ(Passes("h200.jsonl", 954), 954u); }
TEST(Recorded, MatrixInstructions) { EXPECT_EQ(Passes("mma.jsonl", 448), 448u); }
TEST(Recorded, MoreMatrixInstructions) { EXPECT_EQ(Passes("mma_more.jsonl", 120), 120u); }
TEST(Recorded, SeededMatrixInstructions) { EXPECT_EQ(Passes("mma_seeded.jsonl", 2026), 2026u); }
TEST(Recorded, PlacesOfFragments) { EXPECT_EQ(Passes("wmma_fragments.jsonl", 84), 84u); }
TEST(Recorded, Modules) { EXPECT_EQ(Passes("corpus.jsonl", 79), 79u); }
TEST(Recorded, WholeKernels) { EXPECT_EQ(Passes("programs.jsonl", 23), 23u); }

}  // namespace
}  // namespace understudy::emu::ptx::conform
