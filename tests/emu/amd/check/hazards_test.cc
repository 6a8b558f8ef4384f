// SPDX-License-Identifier: Apache-2.0
// Every row of hazards.inc that an emulated wave can reach: one wait state too few is reported, exactly
// enough is not. The distances are those that LLVM's hazard recogniser inserts for the same pairs.

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

std::vector<CheckReport> Hazards(Isa isa, int wave_size, const std::string& body) {
  KernelRunner runner(wave_size, isa);
  runner.AddBuffer(1024);
  runner.options.checks.hazards = CheckMode::kWarn;
  if (IsCdna(isa)) {
    // 64 VGPRs and 64 AGPRs.
    runner.regs.rsrc1 = (runner.regs.rsrc1 & ~0x3fu) | 15u;
    runner.regs.rsrc3 = (runner.regs.rsrc3 & ~0x3fu) | 15u;
  }
  runner.Program(body + "\ns_endpgm");
  auto dispatch = runner.Start();
  dispatch->Step(1000);
  EXPECT_EQ(dispatch->state(), Dispatch::State::kDone) << dispatch->fault().message;
  return dispatch->reports();
}

std::string Nops(int states) {
  std::string text;
  for (; states > 0; states -= 16) text += "s_nop " + std::to_string(std::min(states, 16) - 1) + "\n";
  return text;
}

struct Distance {
  const char* name;
  std::vector<Isa> isas;
  const char* producer;
  const char* consumer;
  int states;
};

const std::vector<Isa> kCdna = {Isa::kCdna2, Isa::kCdna3, Isa::kCdna4}, kGfx940 = {Isa::kCdna3, Isa::kCdna4};

const Distance kDistances[] = {
    {"VALU SGPR, memory", kCdna, "v_readfirstlane_b32 s0, v9", "global_load_dword v2, v1, s[0:1]", 5},
    {"VALU VCC, v_div_fmas", kCdna, "v_cmp_eq_u32 vcc, v0, v1", "v_div_fmas_f32 v2, v3, v4, v5", 4},
    {"VALU VGPR, DPP", kCdna, "v_mov_b32 v2, 1", "v_mov_b32_dpp v3, v2 quad_perm:[1,0,3,2]", 2},
    {"VALU EXEC, DPP", kCdna, "v_cmpx_eq_u32 vcc, v0, v0", "v_mov_b32_dpp v3, v2 quad_perm:[1,0,3,2]", 5},
    {"VALU SGPR, lane select", kCdna, "v_readfirstlane_b32 s4, v0", "v_readlane_b32 s5, v9, s4", 4},
    {"s_setreg, s_getreg", kCdna, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0",
     "s_getreg_b32 s4, hwreg(HW_REG_MODE)", 2},
    {"M0, s_movrels", kCdna, "s_mov_b32 m0, 1", "s_movrels_b32 s4, s6", 1},
    {"wide store", {Isa::kCdna2}, "global_store_dwordx4 v1, v[4:7], s[0:1]", "v_mov_b32 v6, 0", 1},
    {"wide store", kGfx940, "global_store_dwordx4 v1, v[4:7], s[0:1]", "v_mov_b32 v6, 0", 2},
    {"transcendental", kGfx940, "v_rcp_f32 v2, v3", "v_add_f32 v4, v2, v2", 1},
    {"op_sel destination", kGfx940, "v_mad_i16 v2, v3, v4, v5 op_sel:[0,0,0,1]", "v_add_u32 v4, v2, v2", 1},
    {"VALU SGPR, VALU", kGfx940, "v_cmp_eq_u32 s[6:7], v0, v1", "v_cndmask_b32 v2, v3, v4, s[6:7]", 2},
    {"VALU VGPR, readlane", kGfx940, "v_mov_b32 v2, 1", "v_readlane_b32 s5, v2, 3", 1},
    {"VALU EXEC, writelane", kGfx940, "v_cmpx_eq_u32 vcc, v0, v0", "v_writelane_b32 v2, s5, 3", 4},
    {"VALU VGPR, permlane", {Isa::kCdna4}, "v_mov_b32 v2, 1", "v_permlane32_swap_b32 v2, v3", 2},
    {"VALU VGPR, MFMA", kCdna, "v_mov_b32 v2, 1", "v_mfma_f32_4x4x1f32 a[0:3], v2, v3, a[0:3]", 2},
    {"VALU EXEC, MFMA", kCdna, "v_cmpx_eq_u32 vcc, v0, v0", "v_mfma_f32_4x4x1f32 a[0:3], v2, v3, a[0:3]", 4},
    {"dot product, VALU", kCdna, "v_dot2_f32_f16 v2, v3, v4, v5", "v_add_f32 v6, v2, v2", 3},
    {"dot product, the same one's source", kCdna, "v_dot2_f32_f16 v2, v3, v4, v5",
     "v_dot2_f32_f16 v6, v2, v4, v5", 3},
    {"dot product, the same one's accumulator", kCdna, "v_dot2_f32_f16 v2, v3, v4, v5",
     "v_dot2_f32_f16 v6, v3, v4, v2", 0},
    {"4x4 MFMA, VALU",
     {Isa::kCdna2},
     "v_mfma_f32_4x4x1f32 v[8:11], v2, v3, v[8:11]",
     "v_add_f32 v6, v8, v8",
     5},
    {"4x4 MFMA, VALU", kGfx940, "v_mfma_f32_4x4x1f32 v[8:11], v2, v3, v[8:11]", "v_add_f32 v6, v8, v8", 4},
    {"16x16 MFMA, VALU",
     {Isa::kCdna2},
     "v_mfma_f32_16x16x4f32 v[8:11], v2, v3, v[8:11]",
     "v_add_f32 v6, v8, v8",
     11},
    {"16x16 MFMA, VALU", kGfx940, "v_mfma_f32_16x16x4f32 v[8:11], v2, v3, v[8:11]", "v_add_f32 v6, v8, v8",
     10},
    {"16x16 XDL MFMA, store",
     {Isa::kCdna3},
     "v_mfma_f32_16x16x16_f16 v[8:11], v[2:3], v[4:5], v[8:11]",
     "global_store_dword v1, v9, s[0:1]",
     7},
    {"16x16 XDL MFMA, store",
     {Isa::kCdna4},
     "v_mfma_f32_16x16x16_f16 v[8:11], v[2:3], v[4:5], v[8:11]",
     "global_store_dword v1, v9, s[0:1]",
     8},
    {"32x32 MFMA, write",
     {Isa::kCdna2},
     "v_mfma_f32_32x32x2f32 v[8:23], v2, v3, v[8:23]",
     "v_mov_b32 v20, 0",
     19},
    {"16x16 MFMA, A",
     {Isa::kCdna2},
     "v_mfma_f32_16x16x4f32 v[8:11], v2, v3, v[8:11]",
     "v_mfma_f32_16x16x4f32 v[12:15], v9, v3, v[12:15]",
     11},
    {"16x16 MFMA, C in the same place", kCdna, "v_mfma_f32_16x16x4f32 v[8:11], v2, v3, v[8:11]",
     "v_mfma_f32_16x16x4f32 v[8:11], v2, v3, v[8:11]", 0},
    {"f64 MFMA, VALU", kCdna, "v_mfma_f64_4x4x4f64 v[8:9], v[2:3], v[4:5], v[8:9]",
     "v_add_f64 v[6:7], v[8:9], v[8:9]", 6},
    {"f64 MFMA, store", kCdna, "v_mfma_f64_16x16x4f64 v[8:15], v[2:3], v[4:5], v[8:15]",
     "global_store_dwordx2 v1, v[8:9], s[0:1]", 18},
    {"16x16 f64 MFMA, VALU",
     {Isa::kCdna2, Isa::kCdna3},
     "v_mfma_f64_16x16x4f64 v[8:15], v[2:3], v[4:5], v[8:15]",
     "v_add_f64 v[6:7], v[8:9], v[8:9]",
     11},
    {"16x16 f64 MFMA, VALU",
     {Isa::kCdna4},
     "v_mfma_f64_16x16x4f64 v[8:15], v[2:3], v[4:5], v[8:15]",
     "v_add_f64 v[6:7], v[8:9], v[8:9]",
     19},
    {"f64 MFMA, v_fma_f64", kCdna, "v_mfma_f64_4x4x4f64 v[8:9], v[2:3], v[4:5], v[8:9]",
     "v_fma_f64 v[16:17], v[2:3], v[4:5], v[16:17]", 2},
};

TEST(Hazards, DistancesOfCdnaAreExact) {
  for (const Distance& d : kDistances) {
    for (Isa isa : d.isas) {
      SCOPED_TRACE(std::string(d.name) + " on " + IsaName(isa));
      // Registers that both need, well before.
      const std::string before =
          "v_lshlrev_b32 v1, 2, v0\nv_mov_b32 v9, s0\ns_mov_b32 s5, 0\ns_mov_b32 s4, 0\n" + Nops(16) +
          Nops(16);
      const auto run = [&](int states) {
        return Hazards(isa, 64, before + d.producer + "\n" + Nops(states) + d.consumer);
      };
      for (const CheckReport& report : run(d.states)) ADD_FAILURE() << report.message;
      if (d.states == 0) continue;
      const std::vector<CheckReport> reports = run(d.states - 1);
      ASSERT_GE(reports.size(), 1u);
      EXPECT_TRUE(absl::StrContains(
          reports[0].message.c_str(),
          (std::to_string(d.states) + " wait states are needed, " + std::to_string(d.states - 1) + " passed")
              .c_str()))
          << reports[0].message;
    }
  }
}

struct Event {
  const char* name;
  std::vector<Isa> isas;
  int wave_size;
  const char* body;
  const char* what;  // "" for none
};

const Event kEvents[] = {
    {"trans use", {Isa::kRdna3}, 32, "v_rcp_f32 v2, v3\nv_add_f32 v4, v2, v2", "transcendental"},
    {"trans use, waited for",
     {Isa::kRdna3},
     32,
     "v_rcp_f32 v2, v3\ns_waitcnt_depctr 0xfff\nv_add_f32 v4, v2, v2",
     ""},
    {"trans use, 5 between",
     {Isa::kRdna3},
     32,
     "v_rcp_f32 v2, v3\nv_mov_b32 v5, 0\nv_mov_b32 v5, 0\nv_mov_b32 v5, 0\nv_mov_b32 v5, 0\nv_mov_b32 v5, 0\n"
     "v_add_f32 v4, v2, v2",
     "transcendental"},
    {"trans use, 6 between",
     {Isa::kRdna3},
     32,
     "v_rcp_f32 v2, v3\nv_mov_b32 v5, 0\nv_mov_b32 v5, 0\nv_mov_b32 v5, 0\nv_mov_b32 v5, 0\nv_mov_b32 v5, 0\n"
     "v_mov_b32 v5, 0\nv_add_f32 v4, v2, v2",
     ""},
    {"trans use elsewhere", {Isa::kRdna35, Isa::kRdna4}, 32, "v_rcp_f32 v2, v3\nv_add_f32 v4, v2, v2", ""},
    {"v_cmpx and permlane",
     {Isa::kRdna3, Isa::kRdna35, Isa::kRdna4},
     32,
     "v_cmpx_eq_u32 v0, v0\nv_permlane16_b32 v2, v3, s4, s5",
     "v_cmpx before v_permlane"},
    {"v_cmpx, VALU, permlane",
     {Isa::kRdna3, Isa::kRdna35, Isa::kRdna4},
     32,
     "v_cmpx_eq_u32 v0, v0\nv_mov_b32 v4, v4\nv_permlane16_b32 v2, v3, s4, s5",
     ""},
    {"mask write",
     {Isa::kRdna3, Isa::kRdna35},
     64,
     "v_cndmask_b32 v2, v3, v4, s[6:7]\ns_mov_b64 s[6:7], 0\ns_add_u32 s8, s6, 1",
     "read as a mask"},
    {"mask write, waited for",
     {Isa::kRdna3, Isa::kRdna35},
     64,
     "v_cndmask_b32 v2, v3, v4, s[6:7]\ns_mov_b64 s[6:7], 0\ns_waitcnt_depctr 0xfffe\ns_add_u32 s8, s6, 1",
     ""},
    {"mask write in wave32",
     {Isa::kRdna3},
     32,
     "v_cndmask_b32 v2, v3, v4, s6\ns_mov_b32 s6, 0\ns_add_u32 s8, s6, 1",
     ""},
    {"partial forwarding",
     {Isa::kRdna3, Isa::kRdna35},
     64,
     "v_mov_b32 v2, 0\ns_mov_b64 exec, 3\nv_mov_b32 v3, 0\nv_add_f32 v4, v2, v3",
     "before and after a SALU write"},
    {"partial forwarding, waited for",
     {Isa::kRdna3, Isa::kRdna35},
     64,
     "v_mov_b32 v2, 0\ns_mov_b64 exec, 3\nv_mov_b32 v3, 0\ns_waitcnt_depctr 0xfff\nv_add_f32 v4, v2, v3",
     ""},
    {"WMMA after WMMA",
     {Isa::kRdna3},
     32,
     "v_wmma_f32_16x16x16_f16 v[8:15], v[16:23], v[24:31], v[8:15]\n"
     "v_wmma_f32_16x16x16_f16 v[32:39], v[8:15], v[24:31], v[32:39]",
     "WMMA result used"},
    {"WMMA, another VALU, WMMA",
     {Isa::kRdna3},
     32,
     "v_wmma_f32_16x16x16_f16 v[8:15], v[16:23], v[24:31], v[8:15]\nv_nop\n"
     "v_wmma_f32_16x16x16_f16 v[32:39], v[8:15], v[24:31], v[32:39]",
     ""},
    {"SGPR read", {Isa::kRdna4}, 32, "v_mov_b32 v2, s6\ns_mov_b32 s6, 0\nv_mov_b32 v3, s6", "no sa_sdst(0)"},
    {"SGPR read, waited for",
     {Isa::kRdna4},
     32,
     "v_mov_b32 v2, s6\ns_mov_b32 s6, 0\ns_wait_alu 0xfffe\nv_mov_b32 v3, s6",
     ""},
    {"SGPR read after a VALU write",
     {Isa::kRdna4},
     32,
     "v_mov_b32 v2, s6\nv_readfirstlane_b32 s6, v0\nv_mov_b32 v3, s6",
     "no va_sdst(0)"},
    {"SGPR never read by the VALU before", {Isa::kRdna4}, 32, "s_mov_b32 s6, 0\nv_mov_b32 v3, s6", ""},
    {"VCC",
     {Isa::kRdna4},
     32,
     "v_cndmask_b32 v2, v3, v4, vcc_lo\nv_cmp_eq_u32 vcc_lo, v0, v1\nv_cndmask_b32 v2, v3, v4, vcc_lo",
     "no va_vcc(0)"},
};

TEST(Hazards, EventsOfRdna) {
  for (const Event& e : kEvents) {
    for (Isa isa : e.isas) {
      SCOPED_TRACE(std::string(e.name) + " on " + IsaName(isa));
      const std::vector<CheckReport> reports = Hazards(isa, e.wave_size, e.body);
      if (*e.what == '\0') {
        EXPECT_TRUE(reports.empty()) << reports[0].message;
        continue;
      }
      ASSERT_EQ(reports.size(), 1u);
      EXPECT_TRUE(absl::StrContains(reports[0].message.c_str(), e.what)) << reports[0].message;
      EXPECT_LT(reports[0].other_pc, reports[0].pc);
    }
  }
}

}  // namespace
}  // namespace understudy::emu::amd
