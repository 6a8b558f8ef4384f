// SPDX-License-Identifier: Apache-2.0
// Our assembler against LLVM MC: for every opcode of every generation, with drawn operands and modifiers, the
// text that both disassemblers print gives the same bytes in both assemblers. Then what people write, labels,
// and errors.
#include "emu/amd/asm/assembler.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "emu/amd/decode/rows.h"
#include "emu/amd/disasm/disasm.h"
#include "src/base/hex.h"
#include "tests/emu/amd/asm/assembler.h"
#include "tests/emu/amd/decode/cdna_words.h"
#include "tests/emu/amd/decode/random_words.h"
#include "tests/emu/amd/evidence/evidence.h"

namespace understudy::emu::amd {
namespace {

constexpr int kDrawsPerRow = 12;

std::string Mc(Isa isa, const std::string& text, int wave_size) {
  auto code = Assemble(IsaTarget(isa), text, IsRdna(isa) && wave_size == 64 ? "+wavefrontsize64" : "");
  return code.ok() ? BytesToHex(code->data(), code->size()) : "";
}

std::string Ours(Isa isa, const std::string& text, int wave_size) {
  auto code = AssembleInstruction(isa, text, {wave_size});
  return code.ok() ? BytesToHex(code->data(), code->size()) : std::string(code.status().message());
}

// Texts that MC reads otherwise than it writes them, so that its own bytes do not come back.
bool IsException(Isa isa, const std::string& text) {
  // Several masks print alike.
  if (text.find("swizzle(BITMASK_PERM") != std::string::npos) return true;
  // MC drops sc1 of an atomic that returns a float to AGPRs.
  return IsCdna(isa) && text.find("_atomic_") != std::string::npos && text.find(" a[") != std::string::npos &&
         text.find("sc1") != std::string::npos;
}

class AssemblerSweep : public ::testing::TestWithParam<Isa> {};

TEST_P(AssemblerSweep, EveryOpcodesTextGivesTheBytesOfLlvmMc) {
  const Isa isa = GetParam();
  std::mt19937 rng(7);
  std::mt19937_64 cdna_rng(7);
  std::vector<std::string> lines[2];  // by wave size
  std::vector<Opcode> ops[2];
  for (const decode::Row& row : decode::TableOf(isa).rows()) {
    if (row.rdna35 && isa == Isa::kRdna3) continue;
    for (int i = 0; i < kDrawsPerRow; ++i) {
      uint32_t words[5] = {};
      if (IsCdna(isa)) {
        Words drawn;
        DrawCdnaWords(row, cdna_rng, drawn);
        std::memcpy(words, drawn, sizeof(drawn));
      } else {
        for (uint32_t& w : words) w = static_cast<uint32_t>(rng());
        if (i % 4 != 3) Tame(isa, row, rng, words);
        PlaceOpcode(isa, row, words);
      }
      Inst inst;
      if (!DecodeInto(isa, reinterpret_cast<const uint8_t*>(words), sizeof(words), &inst).ok()) continue;
      const bool wide = IsCdna(isa) || (i % 2 != 0 && inst.enc != Encoding::VOPD);
      lines[wide].push_back(Text(inst, {wide ? 64 : 32}));
      ops[wide].push_back(inst.op);
    }
  }
  int compared = 0, rejected = 0, differ = 0;
  for (const bool wide : {false, true}) {
    const auto mc = AssembleLines(IsaTarget(isa), lines[wide], IsRdna(isa) && wide ? "+wavefrontsize64" : "");
    ASSERT_TRUE(mc.ok()) << mc.status();
    for (size_t i = 0; i < lines[wide].size(); ++i) {
      const std::string& text = lines[wide][i];
      const std::string want = BytesToHex((*mc)[i].data(), (*mc)[i].size());
      if (want.empty()) {
        ++rejected;  // MC does not read back everything that it prints
        continue;
      }
      if (IsException(isa, text)) continue;
      ++compared;
      const std::string got = Ours(isa, text, wide ? 64 : 32);
      if (got == want) RecordExecuted(isa, ops[wide][i]);
      if (got != want && ++differ <= 40) ADD_FAILURE() << text << "\n  MC   " << want << "\n  ours " << got;
    }
  }
  EXPECT_EQ(differ, 0);
  EXPECT_GT(compared, 8000);
  std::printf("%s: %d texts compared, %d that MC prints and does not read\n", IsaTarget(isa), compared,
              rejected);
}

INSTANTIATE_TEST_SUITE_P(Generations, AssemblerSweep, ::testing::ValuesIn(kAllIsas),
                         [](const auto& info) { return std::string(IsaTarget(info.param)); });

// What people write and no disassembler prints.
TEST(Assembler, ReadsWhatPeopleWrite) {
  const struct {
    Isa isa;
    const char* text;
  } kLines[] = {
      {Isa::kRdna3, "v_add_f32 v1, v2, v3"},
      {Isa::kRdna3, "v_add_f32 v1, v2, s3"},  // needs the long form
      {Isa::kRdna3, "V_ADD_F32 v1, 1.0, v3"},
      {Isa::kRdna3, "v_add_f32 v1, 3.5, v3"},  // a literal
      {Isa::kRdna3, "v_add_nc_u32 v1, 0x10, v3"},
      {Isa::kRdna3, "v_add_nc_u32 v1, 1000, v3"},
      {Isa::kRdna3, "s_mov_b32 s[4], -16"},
      {Isa::kRdna3, "s_mov_b64 s[4:5], 0b101"},
      {Isa::kRdna3, "s_waitcnt lgkmcnt(0) vmcnt(3)"},
      {Isa::kRdna3, "s_waitcnt vmcnt(3) & lgkmcnt(0)"},
      {Isa::kRdna3, "s_waitcnt 0"},
      {Isa::kRdna3, "v_cmp_lt_f32 vcc_lo, v1, v2"},
      {Isa::kRdna3, "v_cndmask_b32 v1, v2, v3, vcc_lo"},
      {Isa::kRdna3, "v_cndmask_b32 v1, v2, v3, s4"},
      {Isa::kRdna3, "global_load_b32 v1, v2, s[4:5] offset:16"},
      {Isa::kRdna3, "global_load_b32 v1, v[2:3], off"},
      {Isa::kRdna3, "v_mov_b32 v1, v2 row_shl:1 row_mask:0xf bank_mask:0xf"},
      {Isa::kRdna3, "v_pk_add_f16 v1, v2, v3 op_sel:[0,1] op_sel_hi:[1,0]"},
      {Isa::kRdna3, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf0"},
      {Isa::kCdna4, "v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[0:7], v[8:15], a[0:3], v20, v21"},
      {Isa::kCdna4,
       "v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[16:21], a[22:25], 1.0, v2, v4 op_sel:[1,0,0] "
       "op_sel_hi:[0,1,0] cbsz:2 blgp:4"},
      {Isa::kRdna4, "s_wait_loadcnt 0x0"},
      {Isa::kRdna4, "global_load_b32 v1, v[2:3], off th:TH_LOAD_NT scope:SCOPE_SYS"},
  };
  for (const auto& line : kLines) {
    const int wave_size = IsCdna(line.isa) ? 64 : 32;
    const std::string mc = Mc(line.isa, line.text, wave_size);
    EXPECT_NE(mc, "") << line.text;
    EXPECT_EQ(Ours(line.isa, line.text, wave_size), mc) << line.text;
  }
}

TEST(Assembler, BranchesReachLabelsInBothDirections) {
  const std::string text =
      "start:\n"
      "  s_cmp_eq_u32 s0, 0   // a comment\n"
      "  s_cbranch_scc1 end   ; another\n"
      "  s_sub_u32 s0, s0, 1  /* and\n"
      "     a third */\n"
      "  s_branch start\n"
      "end: s_endpgm\n"
      ".long 0x12345678, 2\n"
      ".byte 1, -1\n"
      ".p2align 2\n";
  const auto ours = AssembleText(Isa::kRdna3, text);
  ASSERT_TRUE(ours.ok()) << ours.status();
  // MC does not come to an end on an alignment that no instruction fills.
  const auto mc = Assemble("gfx1100", text.substr(0, text.find(".p2align")));
  ASSERT_TRUE(mc.ok());
  ASSERT_GE(mc->size(), 30u);
  EXPECT_EQ(BytesToHex(ours->code.data(), 30), BytesToHex(mc->data(), 30));
  EXPECT_EQ(ours->code.size(), 32u);
  EXPECT_EQ(ours->labels.at("start"), 0u);
  EXPECT_EQ(ours->labels.at("end"), 16u);
  ASSERT_EQ(ours->lines.size(), 8u);
  EXPECT_EQ(ours->lines[3].line, 6);
  EXPECT_EQ(ours->lines[3].offset, 12u);
}

TEST(Assembler, ErrorsSayWhereAndWhatAndAllOfThemAreReported) {
  std::vector<AsmError> errors;
  const auto result = AssembleText(Isa::kRdna3,
                                   "v_add_f3 v1, v2, v3\n"
                                   "  v_add_f32 v1, v2\n"
                                   "v_add_f32 v1, v2, v3, v4\n"
                                   "v_add_f32 v1, v2, q3\n"
                                   "s_branch nowhere\n"
                                   "s_mov_b32 s0, 1\n"
                                   "v_mov_b32 v300, 1\n"
                                   "s_load_b64 s[1:2], s[4:5], 0x0\n"
                                   "v_add_f32 v1, v2, v3 glob:1\n"
                                   ".float 1\n"
                                   "v_add_f32 v[1:2], v2, v3\n",
                                   {}, &errors);
  ASSERT_FALSE(result.ok());
  const auto text = [&](size_t i) {
    return std::to_string(errors[i].line) + ":" + std::to_string(errors[i].column) + ": " + errors[i].message;
  };
  ASSERT_EQ(errors.size(), 10u) << result.status();
  EXPECT_EQ(text(0), "1:1: gfx1100 has no instruction 'v_add_f3'; did you mean 'v_add_f32'?");
  EXPECT_EQ(text(1), "2:19: operand 3 is missing");
  EXPECT_EQ(text(2), "3:23: 'v4' is one operand too many");
  EXPECT_EQ(text(3), "4:19: 'q3' is no register and no number");
  EXPECT_EQ(text(4), "5:10: label 'nowhere' is nowhere");
  EXPECT_EQ(text(5), "7:11: 'v300' is no register and no number");
  EXPECT_EQ(errors[6].line, 8);
  EXPECT_NE(errors[6].message.find("multiple of 2"), std::string::npos) << text(6);
  EXPECT_EQ(text(7), "9:22: 'glob:1' is no modifier");
  EXPECT_EQ(text(8), "10:1: no directive '.float'");
  EXPECT_EQ(text(9), "11:11: 'v[1:2]' names 2 registers, expected 1");
}

}  // namespace
}  // namespace understudy::emu::amd
