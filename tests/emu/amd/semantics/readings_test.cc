// SPDX-License-Identifier: Apache-2.0
// Every row of semantics.inc, compiled four ways, gives the same bits on random lanes: baseline, AVX2 and
// AVX-512 with host arithmetic, and the directed-rounding text (integer rounding, round-to-odd sums) set to
// nearest even.
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
  const char* name;
  SemanticRow row;
  Signature signature;
};
std::vector<Row> Rows() {
  return {
#define SEMANTIC(chapter, opcode, function, state, note) \
  {#opcode, SemanticRow::opcode, SignatureOf<semantic::opcode>()},
#define SEMANTIC_FOR(chapter, generations, opcode, function, state, note) \
  {#opcode, SemanticRow::opcode##_##generations, SignatureOf<semantic::opcode##_##generations>()},
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
  a.selects = static_cast<uint8_t>(signs >> 2);
  a.truth_table = static_cast<uint8_t>(signs * 37);
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
        text << row.name << " lane " << lane << " word " << w << std::hex << ": " << a.dst[w][lane] << " and "
             << b.dst[w][lane] << " for";
        for (int i = 0; i < 4; ++i) {
          for (int k = SrcWords(row.signature.src[i]) - 1; k >= 0; --k) text << " " << a.src[i][k][lane];
          text << ",";
        }
        return text.str();
      }
    }
    if (row.signature.writes_mask && a.mask[lane] != b.mask[lane]) {
      return std::string(row.name) + " mask of lane " + std::to_string(lane);
    }
  }
  return "";
}

#define US_REGISTER_ALL(arch, set)      \
  do {                                  \
    kernels_##arch::RegisterVop1(set);  \
    kernels_##arch::RegisterVop2(set);  \
    kernels_##arch::RegisterVop3(set);  \
    kernels_##arch::RegisterVopc(set);  \
    kernels_##arch::RegisterVop3p(set); \
  } while (false)

TEST(Readings, BaselineAvx2Avx512AndDirectedTextAgreeBitForBit) {
  auto baseline = std::make_unique<KernelSet>(), avx2 = std::make_unique<KernelSet>(),
       avx512 = std::make_unique<KernelSet>();
  US_REGISTER_ALL(baseline, baseline.get());
  std::vector<std::pair<const char*, const KernelSet*>> wide;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    US_REGISTER_ALL(avx2, avx2.get());
    wide.emplace_back("AVX2", avx2.get());
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    US_REGISTER_ALL(avx512, avx512.get());
    wide.emplace_back("AVX-512", avx512.get());
  }
  auto input = std::make_unique<Lanes>(), other = std::make_unique<Lanes>();
  int rows = 0;
  for (const Row& row : Rows()) {
    ++rows;
    const int index = static_cast<int>(row.row);
    for (int round = 0; round < 24; ++round) {
      Draws draws(static_cast<uint64_t>(index) * 1000 + static_cast<uint64_t>(round));
      FpMode mode;
      mode.flush_in32 = draws.Below(2) != 0;
      mode.flush_out32 = draws.Below(2) != 0;
      mode.flush_in16_64 = draws.Below(3) == 0;
      mode.flush_out16_64 = draws.Below(3) == 0;
      mode.ieee = draws.Below(2) != 0;
      const bool saturate = row.signature.saturates && draws.Below(2) != 0;
      const uint8_t signs = static_cast<uint8_t>(draws.Below(16));
      const int wave_size = draws.Below(2) != 0 ? 64 : 32;
      DrawSources(row.signature, &draws, input.get());
      const LaneKernel& kernel = baseline->kernels[index];
      ASSERT_NE(kernel.host_like, nullptr) << row.name;
      ASSERT_NE(kernel.directed, nullptr) << row.name;
      kernel.host_like(Point(input.get(), mode, wave_size, saturate, signs));
      *other = *input;
      kernel.directed(Point(other.get(), mode, wave_size, saturate, signs));
      ASSERT_EQ(FirstDifference(row, *input, *other, wave_size), "")
          << "host and directed text, round " << round;
      for (const auto& [arch, kernels] : wide) {
        *other = *input;
        kernels->kernels[index].host_like(Point(other.get(), mode, wave_size, saturate, signs));
        ASSERT_EQ(FirstDifference(row, *input, *other, wave_size), "")
            << "baseline and " << arch << ", round " << round;
      }
    }
  }
  EXPECT_GT(rows, 420);
}

}  // namespace
}  // namespace understudy::emu::amd
