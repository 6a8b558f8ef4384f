// SPDX-License-Identifier: Apache-2.0
// Every recorded vector runs and agrees; what does not is listed with a reason, and nothing else.

#include "emu/amd/conform/conform.h"

#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_format.h"
#include "emu/amd/decode/inst.h"
#include "tests/emu/amd/evidence/evidence.h"

namespace understudy::emu::amd::conform {
namespace {

constexpr const char* kVectors = "tests/data/conformance/amd/state.jsonl";

// Vectors that agree, bit for bit or within the bound of a transcendental. Raise it when more do; never lower
// it.
constexpr int kFloor = 500;

std::string Describe(const Vector& vector, const Outcome& outcome) {
  std::string text = absl::StrFormat("line %d %s: %s %s", vector.line, vector.id,
                                     VerdictName(outcome.verdict), outcome.reason);
  for (size_t i = 0; i < outcome.differences.size() && i < 4; ++i) {
    const Difference& d = outcome.differences[i];
    absl::StrAppendFormat(&text, "\n  %s: expected %08x, got %08x", d.place, d.expected, d.got);
  }
  for (const std::string& line : outcome.disassembly) text += "\n    " + line;
  return text;
}

// A passing vector is evidence for the instructions of its body.
void NoteInstructions(const Vector& vector) {
  Isa isa;
  if (!IsaOfTarget(vector.gfx.c_str(), &isa)) return;
  const std::vector<uint8_t>& code = vector.is_state ? vector.body : vector.program;
  for (size_t at = 0; at < code.size();) {
    Inst inst;
    if (!DecodeInto(isa, code.data() + at, code.size() - at, &inst).ok()) return;
    RecordExecuted(isa, inst.op);
    if (inst.op_y != Opcode::kCount) RecordExecuted(isa, inst.op_y);
    at += inst.size;
  }
}

TEST(Conform, EveryVectorAgreesOrIsAListedException) {
  const auto vectors = LoadVectors(kVectors);
  ASSERT_TRUE(vectors.ok()) << vectors.status().ToString();
  ASSERT_EQ(vectors->size(), 505u);
  std::map<Outcome::Verdict, int> count;
  for (const Vector& vector : *vectors) {
    const Outcome outcome = conform::Run(vector);
    ++count[outcome.verdict];
    if (outcome.verdict == Outcome::Verdict::kPass || outcome.verdict == Outcome::Verdict::kWithinBound) {
      NoteInstructions(vector);
    }
    EXPECT_TRUE(outcome.verdict == Outcome::Verdict::kPass ||
                outcome.verdict == Outcome::Verdict::kWithinBound ||
                outcome.verdict == Outcome::Verdict::kException)
        << Describe(vector, outcome);
  }
  for (const auto& [verdict, n] : count)
    std::printf("%s: %d of %zu\n", VerdictName(verdict), n, vectors->size());
  EXPECT_GE(count[Outcome::Verdict::kPass] + count[Outcome::Verdict::kWithinBound], kFloor);
}

// The runner can fail: a vector whose expectation is changed is reported with its place.
TEST(Conform, AWrongExpectationIsReportedWithItsPlace) {
  auto vectors = LoadVectors(kVectors);
  ASSERT_TRUE(vectors.ok());
  for (Vector& vector : *vectors) {
    if (vector.gfx != "gfx1100" || !vector.is_state || vector.lanes < 4) continue;
    if (conform::Run(vector).verdict != Outcome::Verdict::kPass) continue;
    vector.expected[3 * vector.lanes + 2] ^= 0x10;
    const Outcome outcome = conform::Run(vector);
    ASSERT_EQ(outcome.verdict, Outcome::Verdict::kDifferent);
    ASSERT_EQ(outcome.differences.size(), 1u);
    EXPECT_EQ(outcome.differences[0].place, "v3 lane 2");
    EXPECT_EQ(outcome.differences[0].expected, outcome.differences[0].got ^ 0x10);
    EXPECT_FALSE(outcome.disassembly.empty());
    return;
  }
  FAIL() << "no passing vector of at least four lanes";
}

TEST(Conform, AMissingFileIsAnError) { EXPECT_FALSE(LoadVectors("tests/data/none.jsonl").ok()); }

}  // namespace
}  // namespace understudy::emu::amd::conform
