// SPDX-License-Identifier: Apache-2.0
// Every row of semantics.inc, compiled three ways, gives the same bits on random lanes: baseline with host
// arithmetic, AVX2 with host arithmetic, and the directed-rounding text (integer rounding, round-to-odd sums)
// set to nearest even.
#include <gtest/gtest.h>

#include <memory>
#include <sstream>

#include "emu/amd/semantics/kernels.h"
#include "emu/amd/semantics/semantics.h"
#include "tests/emu/amd/semantics/machine.h"

namespace understudy::emu::amd {
namespace {

using testing::Draws;

struct Row {
  Opcode op;
  Signature signature;
};
std::vector<Row> Rows() {
  return {
#define SEMANTIC(chapter, opcode, function, state, note) {Opcode::opcode, SignatureOf<semantic::opcode>()},
#define WAVE_OP(opcode, function, state, note)
#define REFUSED(opcode, reason)
#include "emu/amd/semantics/semantics.inc"
#undef SEMANTIC
#undef WAVE_OP
#undef REFUSED
  };
}

struct Lanes {
  uint32_t src[4][4][64];
  uint32_t dst[4][64];
  uint32_t mask[64];
};

LaneArrays Point(Lanes* lanes, const FpMode& mode, int wave_size, bool saturate, uint8_t signs) {
  LaneArrays a = {};
  for (int i = 0; i < 4; ++i) {
    for (int w = 0; w < 4; ++w) a.src[i][w] = lanes->src[i][w];
    a.dst[i] = lanes->dst[i];
  }
  a.mask = lanes->mask;
  a.mode = mode;
  a.saturate = saturate;
  a.signs = signs;
  a.lanes = wave_size;
  return a;
}

void DrawSources(const Signature& signature, Draws* draws, Lanes* lanes) {
  for (int i = 0; i < 4; ++i) {
    const SrcKind kind = signature.src[i];
    for (int lane = 0; lane < 64; ++lane) {
      for (int w = 0; w < 4; ++w) lanes->src[i][w][lane] = draws->Word();
      if (kind == SrcKind::kMask) lanes->src[i][0][lane] = draws->Below(2);
      if (kind == SrcKind::kU64 || kind == SrcKind::kF64) {
        const uint64_t v = draws->Long();
        lanes->src[i][0][lane] = static_cast<uint32_t>(v);
        lanes->src[i][1][lane] = static_cast<uint32_t>(v >> 32);
      }
    }
  }
}

std::string FirstDifference(const Row& row, const Lanes& a, const Lanes& b, int wave_size) {
  for (int lane = 0; lane < wave_size; ++lane) {
    for (int w = 0; w < DstWords(row.signature.dst); ++w) {
      if (a.dst[w][lane] != b.dst[w][lane]) {
        std::ostringstream text;
        text << OpcodeName(row.op) << " lane " << lane << " word " << w << std::hex << ": " << a.dst[w][lane]
             << " and " << b.dst[w][lane] << " for";
        for (int i = 0; i < 4; ++i) {
          for (int k = SrcWords(row.signature.src[i]) - 1; k >= 0; --k) text << " " << a.src[i][k][lane];
          text << ",";
        }
        return text.str();
      }
    }
    if (row.signature.writes_mask && a.mask[lane] != b.mask[lane]) {
      return std::string(OpcodeName(row.op)) + " mask of lane " + std::to_string(lane);
    }
  }
  return "";
}

TEST(Readings, BaselineAvx2AndDirectedTextAgreeBitForBit) {
  auto baseline = std::make_unique<KernelSet>(), wide = std::make_unique<KernelSet>();
  kernels_baseline::RegisterVop1(baseline.get());
  kernels_baseline::RegisterVop2(baseline.get());
  kernels_baseline::RegisterVop3(baseline.get());
  kernels_baseline::RegisterVopc(baseline.get());
  kernels_baseline::RegisterVop3p(baseline.get());
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_avx2) {
    kernels_avx2::RegisterVop1(wide.get());
    kernels_avx2::RegisterVop2(wide.get());
    kernels_avx2::RegisterVop3(wide.get());
    kernels_avx2::RegisterVopc(wide.get());
    kernels_avx2::RegisterVop3p(wide.get());
  }
  auto input = std::make_unique<Lanes>(), other = std::make_unique<Lanes>();
  int rows = 0;
  for (const Row& row : Rows()) {
    ++rows;
    for (int round = 0; round < 24; ++round) {
      Draws draws(static_cast<uint64_t>(row.op) * 1000 + static_cast<uint64_t>(round));
      FpMode mode;
      mode.flush_in32 = draws.Below(2) != 0;
      mode.flush_out32 = draws.Below(2) != 0;
      mode.flush_in16_64 = draws.Below(3) == 0;
      mode.flush_out16_64 = draws.Below(3) == 0;
      mode.ieee = draws.Below(2) != 0;
      const bool saturate = row.signature.saturates && draws.Below(2) != 0;
      const uint8_t signs = static_cast<uint8_t>(draws.Below(4));
      const int wave_size = draws.Below(2) != 0 ? 64 : 32;
      DrawSources(row.signature, &draws, input.get());
      const LaneKernel& kernel = baseline->kernels[static_cast<int>(row.op)];
      ASSERT_NE(kernel.host_like, nullptr) << OpcodeName(row.op);
      ASSERT_NE(kernel.directed, nullptr) << OpcodeName(row.op);
      kernel.host_like(Point(input.get(), mode, wave_size, saturate, signs));
      *other = *input;
      kernel.directed(Point(other.get(), mode, wave_size, saturate, signs));
      ASSERT_EQ(FirstDifference(row, *input, *other, wave_size), "")
          << "host and directed text, round " << round;
      if (!has_avx2) continue;
      *other = *input;
      wide->kernels[static_cast<int>(row.op)].host_like(Point(other.get(), mode, wave_size, saturate, signs));
      ASSERT_EQ(FirstDifference(row, *input, *other, wave_size), "") << "baseline and AVX2, round " << round;
    }
  }
  EXPECT_GT(rows, 460);
}

}  // namespace
}  // namespace understudy::emu::amd
