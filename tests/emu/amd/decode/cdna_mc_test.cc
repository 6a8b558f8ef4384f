// SPDX-License-Identifier: Apache-2.0
// The decoder and disassembler of CDNA2, CDNA3 and CDNA4 against LLVM MC for gfx90a, gfx942 and gfx950: what
// is an instruction, how long it is, how it is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <string>

#include "absl/strings/str_format.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/decode/rows.h"
#include "emu/amd/disasm/disasm.h"
#include "src/base/file.h"
#include "tests/emu/amd/decode/cdna_words.h"
#include "tests/emu/amd/decode/mc_comparison.h"

namespace understudy::emu::amd {
namespace {

constexpr uint64_t kSeed = 90942950;
constexpr int kDrawsPerOpcode = 200;
constexpr int kRandomWords = 250000;
constexpr int kMaxReports = 20;
constexpr Isa kIsas[] = {Isa::kCdna2, Isa::kCdna3, Isa::kCdna4};

// Compares and reports, up to kMaxReports.
class Comparison : public McComparison {
 public:
  explicit Comparison(Isa isa) : McComparison({isa, IsaTarget(isa), 64}) {}
  McOutcome Run(const uint32_t* words, Inst* inst) {
    const McOutcome outcome = McComparison::Run(words, inst);
    if (outcome == McOutcome::kWrong && reports_++ < kMaxReports) ADD_FAILURE() << report();
    return outcome;
  }

 private:
  int reports_ = 0;
};

TEST(CdnaMc, EveryOpcodeReadsAsInMcUnderRandomOperands) {
  for (Isa isa : kIsas) {
    std::mt19937_64 rng(kSeed);
    Comparison compare(isa);
    int seen = 0;
    for (const decode::Row& row : decode::TableOf(isa).rows()) {
      int valid = 0;
      for (int i = 0; i < kDrawsPerOpcode; ++i) {
        Words words;
        DrawCdnaWords(row, rng, words);
        if (McFailsOn(words)) continue;
        Inst inst;
        if (compare.Run(words, &inst) != McOutcome::kBothAccept) continue;
        // The loads of scales before a matrix product are drawn as the pair that they are.
        bool pair = row.op == Opcode::V_MFMA_LD_SCALE_B32 || inst.op == Opcode::V_MFMA_LD_SCALE_B32;
        if (inst.op != row.op && !pair) {
          ADD_FAILURE() << OpcodeName(row.op) << " came out as " << Text(inst);
        }
        ++valid;
      }
      seen += valid > 0;
      EXPECT_TRUE(valid > 0 || row.op == Opcode::S_SET_VALU_COEXEC_MODE)
          << "no valid draw for " << IsaTarget(isa) << " " << EncodingName(row.enc) << " " << row.number
          << " " << OpcodeName(row.op) << ", seed " << kSeed;
    }
    EXPECT_GT(seen, 1450);
  }
}

TEST(CdnaMc, RandomWordsAreAcceptedOrRefusedAlike) {
  constexpr uint32_t kTopSixBits[] = {0x30, 0x34, 0x34, 0x36, 0x37, 0x37, 0x38, 0x3a, 0x3c, 0x2f, 0x1f, 0x31};
  for (Isa isa : kIsas) {
    std::mt19937_64 rng(kSeed + 1);
    Comparison compare(isa);
    std::map<McOutcome, int> count;
    for (int i = 0; i < kRandomWords; ++i) {
      Words words;
      for (uint32_t& w : words) w = static_cast<uint32_t>(rng());
      if (i % 2) words[0] = (words[0] & 0x3ffffff) | kTopSixBits[rng() % std::size(kTopSixBits)] << 26;
      if (i % 4 == 3) words[0] &= ~0xff00u, words[1] &= static_cast<uint32_t>(rng());
      if (McFailsOn(words)) continue;
      Inst inst;
      ++count[compare.Run(words, &inst)];
    }
    EXPECT_EQ(count[McOutcome::kWrong], 0) << IsaTarget(isa) << ", seed " << kSeed + 1;
    EXPECT_GT(count[McOutcome::kBothAccept], kRandomWords / 4);
    EXPECT_GT(count[McOutcome::kBothRefuse], kRandomWords / 8);
  }
}

// An opcode of one generation is refused on the others where MC refuses it, by name.
TEST(CdnaMc, OpcodesOfOtherGenerationsAreRefused) {
  for (Isa isa : kIsas) {
    Comparison compare(isa);
    std::mt19937_64 rng(kSeed + 2);
    for (Isa other : kIsas) {
      for (const decode::Row& row : decode::TableOf(other).rows()) {
        if (decode::TableOf(isa).Find(row.enc, row.number) != nullptr) continue;
        for (int i = 0; i < 20; ++i) {
          Words words;
          DrawCdnaWords(row, rng, words);
          if (McFailsOn(words)) continue;
          Inst inst;
          McOutcome outcome = compare.Run(words, &inst);
          EXPECT_TRUE(outcome == McOutcome::kBothRefuse || row.enc == Encoding::VOP3PX2 ||
                      row.op == Opcode::S_SET_VALU_COEXEC_MODE)
              << IsaTarget(isa) << " takes " << OpcodeName(row.op);
        }
      }
    }
  }
}

TEST(CdnaMc, CompiledCodeReadsAlikeToTheLetter) {
  for (Isa isa : kIsas) {
    for (const char* level : {"O0", "O1", "O3"}) {
      auto code =
          ReadFile(absl::StrFormat("tests/emu/amd/decode/compiled_%s_%s_w64.text", IsaTarget(isa), level));
      ASSERT_TRUE(code.ok()) << code.status();
      const auto* bytes = reinterpret_cast<const uint8_t*>(code->data());
      CompareOptions options;
      options.isa = isa;
      options.cpu = IsaTarget(isa);
      options.wave_size = 64;
      for (const McDifference& d : CompareWithMc(bytes, code->size(), options)) {
        ADD_FAILURE() << options.cpu << " " << level << " at " << d.offset << ": " << d.what << "\n  ours "
                      << d.ours << "\n  MC   " << d.mc;
      }
      std::vector<Line> lines = Disassemble(isa, bytes, code->size());
      EXPECT_GT(lines.size(), 1200u);
      for (const Line& line : lines) EXPECT_TRUE(line.valid) << line.offset << " " << line.text;
    }
  }
}

// Runs last: a row of the exception list that nothing meets is stale.
TEST(CdnaMc, ZEveryExceptionIsStillNeeded) {
  EXPECT_THAT(UnmetExceptions(/*cdna=*/true), ::testing::IsEmpty());
}

}  // namespace
}  // namespace understudy::emu::amd
