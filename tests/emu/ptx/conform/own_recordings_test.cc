// SPDX-License-Identifier: Apache-2.0
// What an H200 gave for our own instructions (tests/data/ptx), the emulator gives bit for bit, but where
// deviations.inc says why not.
#include <gtest/gtest.h>

#include <cstdio>

#include "emu/ptx/conform/conform.h"

namespace understudy::emu::ptx::conform {
namespace {

struct Recording {
  std::string name;
  size_t vectors, deviations;
  size_t different = 0;  // not understood yet
};
void PrintTo(const Recording& recording, std::ostream* out) { *out << recording.name; }

class OwnRecordings : public testing::TestWithParam<Recording> {};
INSTANTIATE_TEST_SUITE_P(Files, OwnRecordings,
                         testing::Values(Recording{"warp", 670, 0}, Recording{"atomic", 454, 12},
                                         Recording{"convert", 713, 0}, Recording{"half", 428, 0},
                                         Recording{"float", 463, 0}, Recording{"integer", 753, 0},
                                         Recording{"integer_more", 997, 0}, Recording{"contraction", 104, 0},
                                         Recording{"matrix_move", 57, 0}, Recording{"wmma", 608, 0},
                                         Recording{"copies", 1618, 3}, Recording{"special", 43, 0}),
                         [](const auto& info) { return info.param.name; });

TEST_P(OwnRecordings, AreGivenBitForBit) {
  const auto vectors = LoadVectors("tests/data/ptx/" + GetParam().name + ".jsonl.zst");
  ASSERT_TRUE(vectors.ok()) << vectors.status();
  EXPECT_EQ(vectors->size(), GetParam().vectors);
  const std::unique_ptr<Backend> emulator = MakeEmulator();
  size_t passes = 0, deviations = 0;
  for (const Vector& vector : *vectors) {
    EXPECT_FALSE(vector.emulated) << "line " << vector.line << " is no recorded truth";
    const Outcome outcome = RunVector(vector, *emulator);
    passes += outcome.verdict == Outcome::Verdict::kPass;
    deviations += outcome.verdict == Outcome::Verdict::kDeviation;
    if (outcome.verdict == Outcome::Verdict::kPass || outcome.verdict == Outcome::Verdict::kDeviation)
      continue;
    std::printf("line %d: %s: %s %s, %zu of %zu differ\n", vector.line, vector.id.c_str(),
                VerdictName(outcome.verdict), outcome.reason.c_str(), static_cast<size_t>(outcome.different),
                static_cast<size_t>(outcome.values));
    for (const Difference& d : outcome.first) std::printf("    %s\n", DifferenceText(d).c_str());
  }
  EXPECT_EQ(deviations, GetParam().deviations);
  EXPECT_EQ(passes + deviations + GetParam().different, vectors->size());
}

// A deviation that no recording shows any more is stale.
TEST(Deviations, EachOccurs) {
  auto vectors = LoadVectors("tests/data/ptx/atomic.jsonl.zst");
  ASSERT_TRUE(vectors.ok()) << vectors.status();
  auto copies = LoadVectors("tests/data/ptx/copies.jsonl.zst");
  ASSERT_TRUE(copies.ok()) << copies.status();
  vectors->insert(vectors->end(), copies->begin(), copies->end());
  const std::unique_ptr<Backend> emulator = MakeEmulator();
  for (const Deviation& deviation : Deviations()) {
    bool occurs = false;
    for (const Vector& vector : *vectors)
      if (!occurs && vector.id.find(deviation.instruction) != std::string::npos)
        occurs = RunVector(vector, *emulator).verdict == Outcome::Verdict::kDeviation;
    EXPECT_TRUE(occurs) << deviation.instruction;
  }
}

}  // namespace
}  // namespace understudy::emu::ptx::conform
