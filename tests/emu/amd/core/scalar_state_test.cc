// SPDX-License-Identifier: Apache-2.0
// No scalar opcode of any generation is in an unknown state: each executes, or is refused with a reason, and
// what is said of it is what happens when it is bound.

#include <gtest/gtest.h>

#include "emu/amd/decode/rows.h"
#include "emu/amd/semantics/find_exec.h"
#include "emu/amd/semantics/scalar_control.h"

namespace understudy::emu::amd {
namespace {

TEST(ScalarState, CoversEveryRow) {
  for (const Isa isa : kAllIsas) {
    int rows = 0, refused = 0;
    for (const decode::Row& row : decode::TableOf(isa).rows()) {
      if (row.enc != Encoding::SOP1 && row.enc != Encoding::SOP2 && row.enc != Encoding::SOPC &&
          row.enc != Encoding::SOPK && row.enc != Encoding::SOPP) {
        continue;
      }
      ++rows;
      const OpState state = ScalarState(isa, row.op);
      Inst inst;
      inst.isa = isa;
      inst.op = row.op;
      inst.enc = row.enc;
      std::string why;
      const bool executes = FindExec(inst, &why) != nullptr;
      EXPECT_EQ(executes, state.state != SemanticState::kRefused)
          << IsaName(isa) << " " << OpcodeName(row.op);
      if (executes) continue;
      ++refused;
      EXPECT_FALSE(state.note.empty()) << IsaName(isa) << " " << OpcodeName(row.op);
    }
    EXPECT_GT(rows, 150) << IsaName(isa);
    EXPECT_LE(refused, 1) << IsaName(isa) << ": only s_endpgm_ordered_ps_done";
  }
}

}  // namespace
}  // namespace understudy::emu::amd
