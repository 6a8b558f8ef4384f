// SPDX-License-Identifier: Apache-2.0
// The recorded conformance programs, which people wrote by hand, in strict mode: what they violate is listed,
// with the reason, and nothing else is found.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "emu/amd/conform/conform.h"

namespace understudy::emu::amd::conform {
namespace {

constexpr const char* kVectors = "tests/data/conformance/amd/state.jsonl";

// The part of each program that writes the state down stores SCC, which most of the tested instructions leave
// as the launch left it: undefined.
bool IsDumpOfScc(const CheckReport& report) {
  return report.check == CheckKind::kUninit &&
         report.text == "global_store_b32 v240, v243, s[92:93] offset:68";
}

// v_add_co_u32 writes VCC and the next instruction reads it: gfx950 wants 2 wait states (CDNA4 ISA 4.5).
bool IsVccAtOnce(const Vector& vector, const CheckReport& report) {
  return report.check == CheckKind::kHazards &&
         vector.id.find("test_v_add_co_u32_e32_writes_vcc") != std::string::npos;
}

TEST(Recorded, ProgramsAreCleanButForWhatIsListed) {
  const auto vectors = LoadVectors(kVectors);
  ASSERT_TRUE(vectors.ok()) << vectors.status().ToString();
  CheckOptions checks;
  std::string error;
  ASSERT_TRUE(checks.Parse("all:warn", &error)) << error;
  int scc = 0, vcc = 0;
  for (const Vector& vector : *vectors) {
    const Outcome outcome = conform::Run(vector, checks);
    EXPECT_NE(outcome.verdict, Outcome::Verdict::kDifferent) << vector.id;
    for (const CheckReport& report : outcome.reports) {
      if (IsDumpOfScc(report)) {
        ++scc;
      } else if (IsVccAtOnce(vector, report)) {
        ++vcc;
      } else {
        ADD_FAILURE() << "line " << vector.line << " " << vector.id << ": " << report.message;
      }
    }
  }
  EXPECT_GT(scc, 0);
  EXPECT_EQ(vcc, 1);
}

}  // namespace
}  // namespace understudy::emu::amd::conform
