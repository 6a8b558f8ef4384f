// SPDX-License-Identifier: Apache-2.0
// Text of single instructions and the walk over code. Expected texts are llvm-mc's (version 22, gfx1100) for
// these bytes; tests/emu/amd/decode compares the two on whole programs.
#include "emu/amd/disasm/disasm.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace understudy::emu::amd {
namespace {

struct Case {
  std::vector<uint32_t> words;
  const char* text;
};

TEST(Disasm, PrintsWhatLlvmPrints) {
  const Case kCases[] = {
      {{0xd53600ff, 0x00020501}, "v_fmac_f16_e64 v255.l, v1.l, v2.l"},
      {{0xd4ca007e, 0x0001010c}, "v_cmpx_eq_u32_e64 v12, 0"},
      {{0xd4c20000, 0x000204e9, 0x05397701}, "v_cmpx_eq_i32_e64_dpp v1, v2 dpp8:[7,6,5,4,3,2,1,0]"},
      {{0x8c0a04fd}, "s_or_b32 s10, src_scc, s4"},
      {{0x7e0002ff, 0x00000005}, "v_mov_b32_e32 v0, lit(0x5)"},
      {{0x7e0002f8}, "v_mov_b32_e32 v0, 0.15915494"},
      {{0xbe8001f8}, "s_mov_b64 s[0:1], 0.15915494309189532"},
      {{0xd5030005, 0x200204f2}, "v_add_f32_e64 v5, neg(1.0), v2"},
      {{0xd5320805, 0x00020501}, "v_add_f16_e64 v5.l, v1.h, v2.l op_sel:[1,0,0]"},
      {{0xd5360800, 0x00020300}, "v_fmac_f16_e64 v0.l, v0.h, v1.l op_sel:[1,0,0,0]"},
      {{0xd65d5011, 0x01aa6700}, "v_cndmask_b16 v17.h, v0.l, v51.h, vcc_lo"},
      {{0x7e0002fa, 0xff08e401},
       "v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf bound_ctrl:1"},
      {{0xc8900100, 0x02020100, 0x40a00000},
       "v_dual_fmamk_f32 v2, v0, 0x40a00000, v0 :: v_dual_mov_b32 v3, v0"},
      {{0xcc0f4001, 0x180200f4}, "v_pk_add_f16 v1, 2.0, v0"},
      {{0xf4000141, 0xf81ffff8}, "s_load_b32 s5, s[2:3], -0x8"},
      {{0xdc520100, 0x03020000}, "global_load_b32 v3, v0, s[2:3] offset:256"},
      {{0xdcd24000, 0x047c0200}, "global_atomic_cmpswap_b32 v4, v[0:1], v[2:3], off glc"},
      {{0xdbfc0000, 0x0400000a}, "ds_load_b128 v[4:7], v10"},
      {{0xbf89fc07}, "s_waitcnt lgkmcnt(0)"},
      {{0xbf8700a1}, "s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)"},
      {{0xb8820801}, "s_getreg_b32 s2, hwreg(HW_REG_MODE, 0, 2)"},
      {{0xbfb60003}, "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)"},
      {{0xbfb00000}, "s_endpgm"},
  };
  for (const Case& c : kCases) {
    auto inst = Decode(Isa::kRdna3, reinterpret_cast<const uint8_t*>(c.words.data()), c.words.size() * 4);
    ASSERT_TRUE(inst.ok()) << inst.status();
    EXPECT_EQ(Text(*inst), c.text);
  }
}

TEST(Disasm, MasksPrintByWaveSize) {
  const uint32_t words[] = {0xd4ca0002 - 0x800000, 0x0001010c};  // v_cmp_eq_u32_e64
  auto inst = Decode(Isa::kRdna3, reinterpret_cast<const uint8_t*>(words), 8);
  ASSERT_TRUE(inst.ok()) << inst.status();
  EXPECT_EQ(Text(*inst, {32}), "v_cmp_eq_u32_e64 s2, v12, 0");
  EXPECT_EQ(Text(*inst, {64}), "v_cmp_eq_u32_e64 s[2:3], v12, 0");
}

TEST(Disasm, AWalkGoesOnAfterWhatDoesNotDecode) {
  const uint32_t words[] = {0xbf800000, 0xd0000000, 0xbfb00000, 0x7e0002ff};
  std::vector<Line> lines = Disassemble(Isa::kRdna3, reinterpret_cast<const uint8_t*>(words), sizeof(words));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].text, "s_nop 0");
  EXPECT_FALSE(lines[1].valid);
  EXPECT_EQ(lines[1].text.find(".long 0xd0000000 // rdna3"), 0u) << lines[1].text;
  EXPECT_EQ(lines[2].text, "s_endpgm");
  EXPECT_NE(lines[3].text.find("needs 8 bytes, 4 are there"), std::string::npos) << lines[3].text;
  std::string text = DisassembleToText(Isa::kRdna3, reinterpret_cast<const uint8_t*>(words), 4, 0x1000);
  EXPECT_EQ(text, "001000: bf800000                    s_nop 0\n");
}

TEST(Disasm, BranchTargetsHaveLabels) {
  // s_nop 0; s_cbranch_scc0 -2; s_branch 100; s_endpgm
  const uint32_t words[] = {0xbf800000, 0xbfa1fffe, 0xbfa00064, 0xbfb00000};
  EXPECT_EQ(DisassembleToText(Isa::kRdna3, reinterpret_cast<const uint8_t*>(words), sizeof(words), 0x100),
            "L_000100:\n"
            "000100: bf800000                    s_nop 0\n"
            "000104: bfa1fffe                    s_cbranch_scc0 65534 // L_000100\n"
            "000108: bfa00064                    s_branch 100 // 0x29c, outside\n"
            "00010c: bfb00000                    s_endpgm\n");
}

TEST(Disasm, Rdna4HalvesAreNamedOnRequest) {
  const uint32_t words[] = {0x64040a00u | 0x103};
  auto inst = Decode(Isa::kRdna4, reinterpret_cast<const uint8_t*>(words), 4);
  ASSERT_TRUE(inst.ok()) << inst.status();
  EXPECT_EQ(Text(*inst), "v_add_f16_e32 v2, v3, v5");
  EXPECT_EQ(Text(*inst, {32, true}), "v_add_f16_e32 v2.l, v3.l, v5.l");
}

}  // namespace
}  // namespace understudy::emu::amd
