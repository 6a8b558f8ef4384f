// SPDX-License-Identifier: Apache-2.0
// Every vector mnemonic in the tables of every generation is executable or refused for a reason that is
// stated.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/emu/amd/semantics/machine.h"

namespace understudy::emu::amd {
namespace {

// The matrix instructions have tests of their own (tests/emu/amd/matrix).
bool IsMatrix(const std::string& name) {
  for (const char* const family : {"V_MFMA_", "V_SMFMAC_", "V_WMMA_", "V_SWMMAC_"}) {
    if (name.rfind(family, 0) == 0) return true;
  }
  return false;
}

TEST(VectorCoverage, NoGenerationHasAMnemonicInAnUnknownState) {
  const std::set<std::string> refused = {"LDS_PARAM_LOAD", "DS_PARAM_LOAD", "V_SCREEN_PARTITION_4SE_B32"};
  for (const Isa isa : kAllIsas) {
    const CoverageReport report = VectorCoverage(isa);
    EXPECT_GT(report.rows.size(), 400u) << IsaName(isa);
    for (const CoverageRow& row : report.rows) {
      const std::string name = OpcodeName(row.op);
      if (IsMatrix(name)) continue;
      EXPECT_NE(row.note, "not implemented") << IsaName(isa) << " " << name;
      if (row.state == SemanticState::kRefused) {
        EXPECT_EQ(refused.count(name), 1u) << IsaName(isa) << " " << name << ": " << row.note;
      }
      EXPECT_EQ(row.note.empty(), row.state == SemanticState::kExact) << name;
    }
  }
}

TEST(VectorCoverage, OnlyWhatMeansDifferentThingsIsBoundByGeneration) {
  EXPECT_NE(VectorEntryOf(Isa::kCdna3, Opcode::V_CVT_F32_FP8).kernel.host_like,
            VectorEntryOf(Isa::kCdna4, Opcode::V_CVT_F32_FP8).kernel.host_like);
  EXPECT_EQ(VectorEntryOf(Isa::kRdna4, Opcode::V_CVT_F32_FP8).kernel.host_like,
            VectorEntryOf(Isa::kCdna4, Opcode::V_CVT_F32_FP8).kernel.host_like);
  EXPECT_EQ(VectorEntryOf(Isa::kRdna3, Opcode::V_ADD_F32).kernel.host_like,
            VectorEntryOf(Isa::kCdna2, Opcode::V_ADD_F32).kernel.host_like);
}

}  // namespace
}  // namespace understudy::emu::amd
