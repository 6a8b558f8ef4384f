// SPDX-License-Identifier: Apache-2.0
// Each recorded instruction, matrix instruction and kernel on the emulator and, with USE_HW=1, on the first
// GPU of this machine through libcuda.so.1: the same bits. Links no compiler, so that this binary and
// tests/data are all that has to be carried to the machine with the card.

#include <gtest/gtest.h>

#include <cstdio>

#include "emu/ptx/conform/conform.h"
#include "src/base/use_hardware.h"

namespace understudy::emu::ptx::conform {
namespace {

class PtxConform : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() {
    if (!UseHardware()) return;
    auto card = OpenDriver();
    card_ = card.ok() ? card->release() : nullptr;
    reason_ = std::string(card.status().message());
  }
  static void TearDownTestSuite() {
    delete card_;
    card_ = nullptr;
  }

  static inline Backend* card_ = nullptr;
  static inline std::string reason_;
};
INSTANTIATE_TEST_SUITE_P(Files, PtxConform,
                         testing::Values("conformance/ptx/h200.jsonl", "conformance/ptx/mma.jsonl",
                                         "conformance/ptx/mma_more.jsonl", "conformance/ptx/mma_seeded.jsonl",
                                         "conformance/ptx/wmma_fragments.jsonl",
                                         "conformance/ptx/programs.jsonl", "conformance/ptx/corpus.jsonl",
                                         "ptx/warp.jsonl.zst", "ptx/atomic.jsonl.zst",
                                         "ptx/convert.jsonl.zst", "ptx/half.jsonl.zst", "ptx/float.jsonl.zst",
                                         "ptx/integer.jsonl.zst", "ptx/integer_more.jsonl.zst",
                                         "ptx/contraction.jsonl.zst", "ptx/matrix_move.jsonl.zst",
                                         "ptx/wmma.jsonl.zst", "ptx/copies.jsonl.zst",
                                         "ptx/special.jsonl.zst"),
                         [](const auto& info) {
                           std::string name = info.param;
                           name = name.substr(name.rfind('/') + 1);
                           return name.substr(0, name.find('.'));
                         });

bool IsDeviation(const Vector& vector) {
  for (const Deviation& deviation : Deviations())
    if (vector.id.find(deviation.instruction) != std::string::npos) return true;
  return false;
}

TEST_P(PtxConform, TheEmulatorGivesWhatTheCardGives) {
  if (!UseHardware()) GTEST_SKIP() << "no card: USE_HW is not 1 (recordings: //tests/emu/ptx/conform)";
  if (card_ == nullptr) GTEST_SKIP() << "no card: " << reason_;
  std::printf("target: emulator; oracle: %s\n", card_->name().c_str());
  const auto vectors = LoadVectors(std::string("tests/data/") + GetParam());
  ASSERT_TRUE(vectors.ok()) << vectors.status();
  const std::unique_ptr<Backend> emulator = MakeEmulator();
  size_t equal = 0, deviations = 0, not_accepted = 0;
  for (const Vector& vector : *vectors) {
    // Recorded is an error: of a fault, the card would be lost to this process.
    if (!vector.not_accepted.empty()) {
      EXPECT_EQ(RunVector(vector, *emulator).verdict, Outcome::Verdict::kPass) << vector.id;
      ++not_accepted;
      continue;
    }
    const auto wanted = Evaluate(vector, *card_);
    if (absl::IsInvalidArgument(wanted.status())) {
      // The driver wants debug sections where a kernel says that it has some.
      EXPECT_NE(wanted.status().message().find("Debug information not found"), absl::string_view::npos)
          << vector.id << ": " << wanted.status();
      ++not_accepted;
      continue;
    }
    const auto got = Evaluate(vector, *emulator);
    ASSERT_TRUE(wanted.ok()) << vector.id << ": the card: " << wanted.status();
    if (!got.ok()) {
      ADD_FAILURE() << "line " << vector.line << ": " << vector.id << ": the emulator: " << got.status();
      continue;
    }
    const Outcome outcome = Compare(vector, *wanted, *got);
    if (outcome.verdict == Outcome::Verdict::kPass) {
      ++equal;
    } else if (IsDeviation(vector)) {
      ++deviations;
    } else {
      std::string text;
      for (const Difference& d : outcome.first) text += "\n    " + DifferenceText(d);
      ADD_FAILURE() << "line " << vector.line << ": " << vector.id << ": " << outcome.different << " of "
                    << outcome.values << " differ" << text;
    }
  }
  std::printf("%zu vectors: %zu equal, %zu known deviations, %zu that the driver does not accept\n",
              vectors->size(), equal, deviations, not_accepted);
}

}  // namespace
}  // namespace understudy::emu::ptx::conform
