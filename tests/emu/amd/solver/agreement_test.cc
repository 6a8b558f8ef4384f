// SPDX-License-Identifier: Apache-2.0
// The solver's reading and the interpreter's reading of each integer row give the same bits for random lanes.
#include <gtest/gtest.h>

#include <memory>

#include "emu/amd/semantics/kernels.h"
#include "emu/amd/semantics/semantics.h"
#include "emu/amd/solver/reading.h"
#include "tests/emu/amd/semantics/machine.h"

namespace understudy::emu::amd::solver {
namespace {

using testing::Draws;

struct Row {
  Opcode op;
  SemanticRow row;
  Signature signature;
};
std::vector<Row> Rows() {
  return {
#define SEMANTIC(chapter, opcode, function, state, note) \
  {Opcode::opcode, SemanticRow::opcode, SignatureOf<semantic::opcode>()},
#define SEMANTIC_FOR(chapter, generations, opcode, function, state, note)
#define SAME(opcode, other)
#define WAVE_OP(opcode, function, state, note)
#define REFUSED(opcode, reason)
#include "emu/amd/semantics/semantics.inc"
#undef SEMANTIC
#undef SEMANTIC_FOR
#undef SAME
#undef WAVE_OP
#undef REFUSED
  };
}

struct Lanes {
  uint32_t src[4][4][64] = {};
  uint32_t dst[4][64] = {};
  uint32_t mask[64] = {};
};

z3::expr SourceTerm(z3::context& c, const Lanes& lanes, int i, SrcKind kind, int lane) {
  if (kind == SrcKind::kMask) return c.bool_val(lanes.src[i][0][lane] != 0);
  z3::expr e = c.bv_val(lanes.src[i][0][lane], 32);
  for (int w = 1; w < SrcWords(kind); ++w) e = z3::concat(c.bv_val(lanes.src[i][w][lane], 32), e);
  return e;
}

uint64_t Number(const z3::expr& e) { return e.simplify().get_numeral_uint64(); }

TEST(Readings, SolverAndInterpreterAgree) {
  auto baseline = std::make_unique<KernelSet>();
  kernels_baseline::RegisterVop1(baseline.get());
  kernels_baseline::RegisterVop2(baseline.get());
  kernels_baseline::RegisterVop3(baseline.get());
  kernels_baseline::RegisterVopc(baseline.get());
  kernels_baseline::RegisterVop3p(baseline.get());
  auto lanes = std::make_unique<Lanes>();
  int rows = 0;
  for (const Row& row : Rows()) {
    if (!ReadsVector(row.op)) continue;
    ++rows;
    Draws draws(static_cast<uint64_t>(row.op) + 77);
    for (auto& operand : lanes->src) {
      for (auto& word : operand) {
        for (uint32_t& lane : word) lane = draws.Word();
      }
    }
    const bool clamp = row.signature.saturates && draws.Below(2) != 0;
    const uint8_t signs = static_cast<uint8_t>(draws.Below(4)),
                  selects = static_cast<uint8_t>(draws.Below(4));
    const uint32_t truth_table = draws.Below(256);
    LaneArrays a = {};
    for (int i = 0; i < 4; ++i) {
      if (row.signature.src[i] == SrcKind::kMask) {
        for (uint32_t& lane : lanes->src[i][0]) lane &= 1;
      }
      for (int w = 0; w < 4; ++w) a.src[i][w] = lanes->src[i][w];
      a.dst[i] = lanes->dst[i];
    }
    a.mask = lanes->mask;
    a.saturate = clamp;
    a.signs = signs;
    a.selects = selects;
    a.truth_table = truth_table;
    a.lanes = 32;
    baseline->kernels[static_cast<size_t>(row.row)].host_like(a);
    for (int lane = 0; lane < 4; ++lane) {
      z3::context c;
      std::vector<z3::expr> sources;
      for (int i = 0; i < 4; ++i) {
        const SrcKind kind = row.signature.src[i];
        sources.push_back(kind == SrcKind::kNone ? c.bv_val(0, 32) : SourceTerm(c, *lanes, i, kind, lane));
      }
      auto result = VectorTerms(row.op, sources, {.clamp = clamp, .signs = signs, .selects = selects});
      ASSERT_TRUE(result.ok()) << result.status();
      if (result->value) {
        z3::expr_vector from(c), to(c);
        from.push_back(c.bv_const("truth_table", 32));
        to.push_back(c.bv_val(truth_table, 32));
        result->value = result->value->substitute(from, to);
      }
      for (int w = 0; w < DstWords(row.signature.dst); ++w) {
        const unsigned at = 32 * static_cast<unsigned>(w);
        ASSERT_EQ(Number(result->value->extract(at + 31, at)), lanes->dst[w][lane])
            << OpcodeName(row.op) << " word " << w << " lane " << lane;
      }
      if (row.signature.writes_mask) {
        ASSERT_EQ(result->mask->simplify().is_true(), lanes->mask[lane] != 0)
            << OpcodeName(row.op) << " mask";
      }
    }
  }
  EXPECT_GT(rows, 150);
}

TEST(Readings, AMissingOrNarrowSourceIsRefused) {
  z3::context c;
  EXPECT_EQ(VectorTerms(Opcode::V_ADD_NC_U32, {c.bv_val(1, 32)}).status().message(),
            "V_ADD_NC_U32: source 1 is missing");
  EXPECT_EQ(VectorTerms(Opcode::V_LSHLREV_B64, {c.bv_val(1, 32), c.bv_val(1, 32)}).status().message(),
            "V_LSHLREV_B64: source 1 is (_ BitVec 32), expected 64 bits");
  EXPECT_EQ(VectorTerms(Opcode::V_ADD_F32, {c.bv_val(1, 32), c.bv_val(1, 32)}).status().message(),
            "V_ADD_F32 has no solver reading");
}

}  // namespace
}  // namespace understudy::emu::amd::solver
