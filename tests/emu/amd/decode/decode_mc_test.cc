// SPDX-License-Identifier: Apache-2.0
// The RDNA decoders and disassembler against LLVM MC: what is an instruction, how long it is, what it is
// called.
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
#include "src/base/hex.h"
#include "tests/emu/amd/decode/mc_comparison.h"
#include "tests/emu/amd/decode/random_words.h"

namespace understudy::emu::amd {
namespace {

constexpr uint64_t kSeed = 20230;
constexpr int kRandomWords = 400000;
constexpr int kMaxReports = 20;

std::string Words(const uint32_t* w) { return absl::StrFormat("%08x %08x %08x", w[0], w[1], w[2]); }

// Compares and reports, up to kMaxReports.
class Comparison : public McComparison {
 public:
  using McComparison::McComparison;
  McOutcome Run(const uint32_t* words, Inst* inst) {
    const McOutcome outcome = McComparison::Run(words, inst);
    if (outcome == McOutcome::kWrong && reports_++ < kMaxReports) ADD_FAILURE() << report();
    return outcome;
  }

 private:
  int reports_ = 0;
};

// Opcodes that MC never takes, by the rows of the exception list.
bool UnknownToMc(const McReference& reference, const decode::Row& row) {
  const char* name = OpcodeName(row.op);
  // Halves are registers of their own only with +real-true16.
  bool half_moves = row.op == Opcode::V_MOV_B16 || row.op == Opcode::V_SWAP_B16;
  return std::strstr(name, "LOAD_LDS_") != nullptr || std::strstr(name, "FLAT_ATOMIC_CSUB") != nullptr ||
         (row.enc == Encoding::VOP3 && row.op == Opcode::V_READFIRSTLANE_B32) ||
         (half_moves && reference.isa == Isa::kRdna4 && !reference.name_halves);
}

void EveryOpcodeReadsAlike(const McReference& reference, int draws, uint64_t seed) {
  std::mt19937_64 rng(seed);
  Comparison compare(reference);
  int seen = 0;
  for (const decode::Row& row : decode::TableOf(reference.isa).rows()) {
    if (row.rdna35 && reference.isa == Isa::kRdna3) continue;
    if (row.enc == Encoding::VOPD && reference.wave_size == 64) continue;
    int valid = 0;
    for (int i = 0; i < draws; ++i) {
      uint32_t words[4];
      DrawWords(reference.isa, row, rng, i % 2 == 1, words);
      Inst inst;
      if (compare.Run(words, &inst) != McOutcome::kBothAccept) continue;
      ++valid;
      bool same = inst.op == row.op || (row.enc == Encoding::VOPD && inst.op_y == row.op);
      if (!same) ADD_FAILURE() << Words(words) << ": " << OpcodeName(row.op) << " came out as " << Text(inst);
    }
    seen += valid > 0;
    EXPECT_TRUE(valid > 0 || draws < 200 || UnknownToMc(reference, row))
        << reference.cpu << ": no valid draw for " << EncodingName(row.enc) << " " << row.number << " "
        << OpcodeName(row.op) << ", seed " << seed;
  }
  EXPECT_GT(seen, 1400);
}

TEST(DecodeMc, EveryOpcodeReadsAsInMcOnGfx1100) { EveryOpcodeReadsAlike(kGfx1100, 250, kSeed); }

TEST(DecodeMc, EveryOpcodeReadsAsInMcOnGfx1150) { EveryOpcodeReadsAlike(kGfx1150, 80, kSeed + 3); }

TEST(DecodeMc, EveryOpcodeReadsAsInMcOnGfx1200) { EveryOpcodeReadsAlike(kGfx1200Halves, 250, kSeed + 4); }

TEST(DecodeMc, EveryOpcodeReadsAsInMcOnGfx1201WithoutNamedHalves) {
  EveryOpcodeReadsAlike(kGfx1201, 80, kSeed + 5);
}

TEST(DecodeMc, EveryOpcodeReadsAsInMcInWave64) {
  McReference wave64 = kGfx1100;
  wave64.wave_size = 64;
  EveryOpcodeReadsAlike(wave64, 60, kSeed + 6);
  wave64 = kGfx1200Halves;
  wave64.wave_size = 64;
  EveryOpcodeReadsAlike(wave64, 60, kSeed + 7);
}

void RandomWordsReadAlike(const McReference& reference, uint64_t seed) {
  std::mt19937_64 rng(seed);
  Comparison compare(reference);
  // Uniform words are mostly VOP2 and scalar; the other encodings get half of the draws.
  constexpr uint32_t kTopSixBits[] = {0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38,
                                      0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x2f, 0x1f};
  std::map<McOutcome, int> count;
  for (int i = 0; i < kRandomWords; ++i) {
    uint32_t words[4];
    for (uint32_t& w : words) w = static_cast<uint32_t>(rng());
    if (i % 2) SetBits(&words[0], 31, 26, kTopSixBits[rng() % std::size(kTopSixBits)]);
    if (i % 4 == 3) words[0] &= ~0xff00u, words[1] &= static_cast<uint32_t>(rng());
    Inst inst;
    ++count[compare.Run(words, &inst)];
  }
  EXPECT_EQ(count[McOutcome::kWrong], 0) << reference.cpu << ", seed " << seed;
  EXPECT_GT(count[McOutcome::kBothAccept], kRandomWords / 4);
  EXPECT_GT(count[McOutcome::kBothRefuse], kRandomWords / 4);
}

TEST(DecodeMc, RandomWordsAreAcceptedOrRefusedAlikeOnGfx1100) { RandomWordsReadAlike(kGfx1100, kSeed + 1); }

TEST(DecodeMc, RandomWordsAreAcceptedOrRefusedAlikeOnGfx1200) {
  RandomWordsReadAlike(kGfx1200Halves, kSeed + 8);
}

TEST(DecodeMc, Wave64HasPairsForMasksAndNoDualIssue) {
  std::mt19937_64 rng(kSeed + 2);
  McReference wave64 = kGfx1100;
  wave64.wave_size = 64;
  Comparison compare(wave64);
  for (const decode::Row& row : decode::Rdna3Table().rows()) {
    bool masks = row.dst[0].type == DataType::M64 || row.dst[1].type == DataType::M64 ||
                 row.src[2].type == DataType::M64;
    if (!masks && row.enc != Encoding::VOPD) continue;
    for (int i = 0; i < 100; ++i) {
      uint32_t words[4];
      DrawWords(Isa::kRdna3, row, rng, true, words);
      if (masks) SetBits(&words[0], 7, 0, static_cast<uint32_t>(rng() % 128));
      Inst inst;
      compare.Run(words, &inst);
    }
  }
}

// Words that random draws reach too seldom.
TEST(DecodeMc, RareFormsReadAlike) {
  struct Rare {
    McReference reference;
    uint32_t words[4];
  };
  const Rare kRare[] = {
      {kGfx1100, {0xcc404000, 0x1be22108}},                    // v_wmma_f32_16x16x16_f16 .., 0.15915494
      {kGfx1200Halves, {0xf748bd07, 0x38ecefde}},              // s_load_b96 ttmp[8:10]
      {kGfx1200Halves, {0xd76a0072, 0x000326fa, 0x96f8f09e}},  // v_cvt_pk_bf8_f32_e64_dpp quad_perm:[0,0,3,3]
      {kGfx1200Halves, {0x03ed9cfa, 0xa3ae6b1c, 0xa87611cd}},  // v_cndmask_b32_dpp with abs
      {kGfx1200Halves, {0xd7105848, 0x02eb45e9}},              // v_permlanex16_var_b32 op_sel:[1,1]
      {kGfx1200Halves, {0xd5ee0077, 0x00032eff, 0x75e80018}},  // v_cvt_pk_f32_fp8_e64 lit(0x75e80018)
      {kGfx1200Halves, {0xd5ec2008, 0x046220fa, 0xff02e420}},  // v_cvt_f32_fp8_e64_dpp with op_sel bit 2
      {kGfx1100, {0x581020ff, 0x00000080}},                    // v_fmamk_f32 v8, 0x80, 0x80, v16
      {kGfx1100, {0x7e100ee9, 0x00008010}},                    // v_cvt_u32_f32_dpp dpp8:[0,0,2,0,0,0,0,0]
      {kGfx1100, {0xd52b0008, 0x046100fa, 0xff02e420}},        // v_fmac_f32_e64_dpp v8, v32, 0
  };
  for (const Rare& rare : kRare) {
    Comparison compare(rare.reference);
    Inst inst;
    EXPECT_NE(compare.Run(rare.words, &inst), McOutcome::kBothRefuse) << Words(rare.words);
  }
}

TEST(DecodeMc, ScalarFloatsAreRefusedBeforeGfx1150) {
  Comparison compare(kGfx1100);
  for (const decode::Row& row : decode::Rdna3Table().rows()) {
    if (!row.rdna35) continue;
    uint32_t words[4] = {0, 0x3f9d70a4, 0, 0};
    PlaceOpcode(Isa::kRdna3, row, words);
    Inst inst;
    EXPECT_EQ(compare.Run(words, &inst), McOutcome::kBothRefuse) << OpcodeName(row.op);
  }
}

// Instructions of the recorded programs whose text or validity differs, each with its reason.
struct Odd {
  const char* mc_text;
  const char* reason;
};
constexpr Odd kOddInstructions[] = {
    {"row_bcast", "DPP_CTRL 0x142 (row_bcast) ended with GFX9: both refuse"},
    {"", "S_FMAMK_F32 is gfx1150's; DS_CMPSTORE_B32 with an unused vdst field set"},
    {"v_interp_p10_f16_f32", "an SGPR as VINTERP source"},
};

TEST(DecodeMc, RecordedProgramsReadAlikeToTheLetter) {
  int programs = 0, instructions = 0, odd = 0;
  absl::Status status = ForEachJsonLine(
      "tests/data/conformance/amd/state.jsonl", [&](int line, const nlohmann::json& row) -> absl::Status {
        if (row["gfx"] != "gfx1100") return absl::OkStatus();
        auto code = HexToBytes(row["program"].get<std::string>());
        if (!code.ok()) return code.status();
        ++programs;
        for (const McDifference& d : CompareWithMc(code->data(), code->size())) {
          bool listed = false;
          for (const Odd& o : kOddInstructions) {
            listed |= *o.mc_text ? d.mc.find(o.mc_text) == 0 : d.mc.empty();
          }
          if (listed) {
            ++odd;
          } else {
            ADD_FAILURE() << "line " << line << " " << row["id"] << " at " << d.offset << ": " << d.what
                          << "\n  ours " << d.ours << "\n  MC   " << d.mc;
          }
        }
        for (const Line& l : Disassemble(Isa::kRdna3, code->data(), code->size())) instructions += l.valid;
        return absl::OkStatus();
      });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(programs, 499);
  EXPECT_GT(instructions, 50000);
  EXPECT_LE(odd, 4);
}

TEST(DecodeMc, CompiledCodeReadsAlikeToTheLetter) {
  for (const McReference& r : {kGfx1100, McReference{Isa::kRdna3, "gfx1100", 64}, kGfx1201,
                               McReference{Isa::kRdna4, "gfx1201", 64}}) {
    for (const char* level : {"O0", "O1", "O3"}) {
      auto code = ReadFile(
          absl::StrFormat("tests/emu/amd/decode/compiled_%s_%s_w%d.text", r.cpu, level, r.wave_size));
      ASSERT_TRUE(code.ok()) << code.status();
      const auto* bytes = reinterpret_cast<const uint8_t*>(code->data());
      CompareOptions options;
      options.isa = r.isa;
      options.cpu = r.cpu;
      options.wave_size = r.wave_size;
      for (const McDifference& d : CompareWithMc(bytes, code->size(), options)) {
        ADD_FAILURE() << r.cpu << " " << level << " wave" << r.wave_size << " at " << d.offset << ": "
                      << d.what << "\n  ours " << d.ours << "\n  MC   " << d.mc;
      }
      std::vector<Line> lines = Disassemble(r.isa, bytes, code->size());
      EXPECT_GT(lines.size(), 1500u);
      for (const Line& line : lines) EXPECT_TRUE(line.valid) << line.offset << " " << line.text;
    }
  }
}

// Runs last: a row of the exception list that nothing meets is stale.
TEST(DecodeMc, ZEveryExceptionIsStillNeeded) {
  EXPECT_THAT(UnmetExceptions(/*cdna=*/false), ::testing::IsEmpty());
}

}  // namespace
}  // namespace understudy::emu::amd
