// SPDX-License-Identifier: Apache-2.0
// What differs between generations when a wave starts and in what it can read of itself: workgroup ids in
// SGPRs or TTMPs, register allocation, MODE, LDS and scratch, hardware registers, messages (LLVM AMDGPUUsage,
// "Initial Kernel Execution State"; the ISA manuals' "Hardware registers").

#include <gtest/gtest.h>

#include <functional>

#include "absl/strings/str_format.h"
#include "tests/emu/amd/core/dialect.h"
#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

constexpr uint32_t kTgidXyz = 7u << 7, kTidXyz = 2u << 11;

class Generation : public testing::TestWithParam<Isa> {
 protected:
  Isa isa() const { return GetParam(); }
  int wave_size() const { return IsCdna(isa()) ? 64 : 32; }
  // Runs scalar code that leaves its results in s[16:19] in one wave, and gives them back.
  std::vector<uint32_t> Scalars(const std::string& code,
                                const std::function<void(KernelRunner&)>& change = {}) {
    KernelRunner runner(wave_size(), isa());
    const int out = runner.AddBuffer(4);
    if (change) change(runner);
    runner.Program(Respell(isa(), wave_size(), 2, code + R"(
      v_mov_b32 v0, 0
      v_mov_b32 v2, s16
      v_mov_b32 v3, s17
      v_mov_b32 v4, s18
      v_mov_b32 v5, s19
      global_store_b128 v0, v[2:5], s[0:1]
      s_endpgm)"));
    runner.Run();
    return runner.Buffer(out);
  }
};

// A grid of partial workgroups: every work-item stores its ids at the index they name.
TEST_P(Generation, IdsNameEveryWorkItemOnce) {
  KernelRunner runner(wave_size(), isa());
  constexpr uint32_t kGrid[3] = {11, 5, 6}, kGroup[3] = {4, 3, 2};
  const int out = runner.AddBuffer(11 * 5 * 6);
  for (int i = 0; i < 3; ++i) runner.regs.num_thread[i] = kGroup[i], runner.regs.dim[i] = kGrid[i];
  runner.regs.initiator |= kUseThreadDimensions;
  runner.regs.rsrc2 |= kTgidXyz | kTidXyz;
  runner.Program(Respell(isa(), wave_size(), 2, R"(
    v_and_b32 v1, 0x3ff, v0
    v_bfe_u32 v2, v0, 10, 10
    v_bfe_u32 v3, v0, 20, 10
    s_mul_i32 s8, $wgx, 4
    s_mul_i32 s9, $wgy, 3
    s_mul_i32 s10, $wgz, 2
    v_add_nc_u32 v1, s8, v1
    v_add_nc_u32 v2, s9, v2
    v_add_nc_u32 v3, s10, v3
    v_mul_lo_u32 v4, v3, 5
    v_add_nc_u32 v4, v4, v2
    v_mul_lo_u32 v4, v4, 11
    v_add_nc_u32 v4, v4, v1
    v_lshlrev_b32 v4, 2, v4
    v_lshlrev_b32 v2, 8, v2
    v_lshlrev_b32 v3, 16, v3
    v_or_b32 v1, v1, v2
    v_or_b32 v1, v1, v3
    v_mov_b32 v5, 1
    v_lshlrev_b32 v5, 24, v5
    v_or_b32 v1, v1, v5
    global_atomic_add_u32 v4, v1, s[0:1]
    s_endpgm)"));
  runner.Run();
  for (uint32_t z = 0, i = 0; z < 6; ++z) {
    for (uint32_t y = 0; y < 5; ++y) {
      for (uint32_t x = 0; x < 11; ++x, ++i)
        ASSERT_EQ(runner.Buffer(out)[i], 1u << 24 | z << 16 | y << 8 | x);
    }
  }
}

TEST_P(Generation, ModeHasTheBitsOfTheGeneration) {
  const auto got = Scalars("s_getreg_b32 s16, hwreg(HW_REG_MODE)\n", [](KernelRunner& r) {
    r.regs.rsrc1 = (r.regs.rsrc1 & 0x3ff) | 0xa5u << 12 | 1u << 21 | 1u << 23 | 1u << 26;
  });
  EXPECT_EQ(got[0], 0xa5u | 1u << 23 | (isa() == Isa::kRdna4 ? 0 : 3u << 8));
}

// Registers beyond the allocation are named with their file.
TEST_P(Generation, RegistersEndWhereTheAllocationDoes) {
  const auto message = [&](const char* text) {
    KernelRunner runner(wave_size(), isa());
    if (IsCdna(isa())) {
      // 24 of the unified file, 12 of them VGPRs; 32 SGPRs.
      runner.regs.rsrc1 = 2 | 3u << 6;
      runner.regs.rsrc3 = 2;
    } else {
      runner.regs.rsrc1 = 2;
    }
    runner.Program(std::string(text) + "\ns_endpgm");
    auto dispatch = runner.Start();
    dispatch->Step(100);
    return dispatch->fault().message;
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  if (!IsCdna(isa())) {
    EXPECT_EQ(message("v_mov_b32 v23, 0"), "");
    EXPECT_TRUE(has(message("v_mov_b32 v24, 0"), "names v24, but the dispatch allocated 24 VGPRs"));
    return;
  }
  EXPECT_EQ(message("v_mov_b32 v11, 0\nv_accvgpr_write_b32 a11, 0\ns_mov_b32 s31, 0"), "");
  EXPECT_TRUE(has(message("v_mov_b32 v12, 0"), "names v12, but the dispatch allocated 12 VGPRs"));
  EXPECT_TRUE(has(message("v_accvgpr_write_b32 a12, 0"), "names a12, but the dispatch allocated 12 AGPRs"));
  EXPECT_TRUE(has(message("s_mov_b32 s32, 0"), "names s32, but the dispatch allocated 32 SGPRs"));
  EXPECT_EQ(message("s_mov_b64 vcc, 0\ns_mov_b32 m0, 0\ns_mov_b64 flat_scratch, 0"), "")
      << "these are not general";
}

TEST_P(Generation, LdsIsAllocatedInTheGenerationsBlocks) {
  const auto got = Scalars("s_getreg_b32 s16, hwreg(HW_REG_LDS_ALLOC, 12, 9)\n",
                           [](KernelRunner& r) { r.regs.rsrc2 |= 5u << 15; });
  EXPECT_EQ(got[0], 5u);
  KernelRunner runner(wave_size(), isa());
  runner.Program("s_endpgm");
  runner.regs.rsrc2 |= 129u << 15;
  auto dispatch = runner.Start();
  if (isa() == Isa::kCdna4) {
    EXPECT_EQ(dispatch->state(), Dispatch::State::kFault);
    EXPECT_NE(dispatch->fault().message.find("expected at most 163840"), std::string::npos);
  } else {
    EXPECT_NE(dispatch->fault().message.find("asks for 66048 bytes, expected at most 65536"),
              std::string::npos);
  }
}

// Each lane's private memory is its own; the wave finds it as its generation does.
TEST_P(Generation, ScratchIsPrivateToALane) {
  KernelRunner runner(wave_size(), isa());
  const uint32_t lanes = static_cast<uint32_t>(2 * wave_size());
  const int out = runner.AddBuffer(lanes);
  runner.ReserveScratch(16, 2);
  runner.regs.num_thread[0] = lanes;
  std::string prologue;
  if (isa() == Isa::kCdna2) {
    // s2: the wave's offset; FLAT_SCRATCH is set by the program.
    prologue = "s_add_u32 flat_scratch_lo, s2, " + std::to_string(KernelRunner::kScratchVa) +
               "\ns_addc_u32 flat_scratch_hi, 0, 0\n";
  }
  runner.Program(Respell(isa(), wave_size(), 8, prologue + R"(
    v_add_nc_u32 v1, 100, v0
    s_mov_b32 s20, 8
    scratch_store_b32 off, v1, s20
    s_waitcnt_vscnt null, 0
    scratch_load_b32 v2, off, s20
    s_waitcnt vmcnt(0)
    v_lshlrev_b32 v3, 2, v0
    global_store_b32 v3, v2, s[0:1]
    s_endpgm)"));
  runner.Run();
  for (uint32_t i = 0; i < lanes; ++i) EXPECT_EQ(runner.Buffer(out)[i], 100 + i);
}

TEST_P(Generation, ClocksCountInstructionsOfTheWorkgroup) {
  if (IsCdna(isa())) GTEST_SKIP() << "CDNA reads its clock with s_memtime";
  const std::string cycles =
      isa() == Isa::kRdna4 ? "hwreg(HW_REG_SHADER_CYCLES_LO)" : "hwreg(HW_REG_SHADER_CYCLES)";
  const auto got =
      Scalars("s_getreg_b32 s16, " + cycles + "\ns_nop 0\ns_nop 0\ns_getreg_b32 s17, " + cycles +
              "\ns_sendmsg_rtn_b64 s[18:19], sendmsg(MSG_RTN_GET_REALTIME)\ns_waitcnt lgkmcnt(0)\n");
  EXPECT_EQ(got[1] - got[0], 3u);
  EXPECT_EQ(got[3], 0u);
}

// The registers whose value a program can predict.
TEST_P(Generation, HardwareRegisters) {
  if (isa() == Isa::kRdna4) {
    const auto got = Scalars(R"(
      s_cmp_eq_u32 s0, s0
      s_getreg_b32 s16, hwreg(HW_REG_STATE_PRIV)
      s_getreg_b32 s17, hwreg(HW_REG_STATUS)
      s_setreg_imm32_b32 hwreg(HW_REG_EXCP_FLAG_USER), 0x15
      s_getreg_b32 s18, hwreg(HW_REG_EXCP_FLAG_USER)
      s_setreg_imm32_b32 hwreg(26, 0, 2), 2
      s_getreg_b32 s19, hwreg(26)
)");
    EXPECT_EQ(got[0], 1u << 9) << "SCC";
    EXPECT_EQ(got[1] & (1u << 16 | 1u << 11 | 1), 1u << 16) << "VALID, not IN_WG; SCC is not there";
    EXPECT_EQ(got[2], 0x15u);
    EXPECT_EQ(got[3], 2u);
    return;
  }
  const auto got = Scalars(R"(
      s_cmp_eq_u32 s0, s0
      s_getreg_b32 s16, hwreg(HW_REG_STATUS)
      s_getreg_b32 s17, hwreg(HW_REG_SH_MEM_BASES)
      s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 3, 4), 0x9
      s_getreg_b32 s18, hwreg(HW_REG_TRAPSTS)
      s_getreg_b32 s19, hwreg(HW_REG_GPR_ALLOC)
)");
  EXPECT_EQ(got[0] & (1u << 16 | 1u << 11 | 1), 1u << 16 | 1) << "VALID, not IN_WG, SCC";
  EXPECT_EQ(got[1], 0x10002u);
  EXPECT_EQ(got[2], 9u << 3);
  EXPECT_EQ(got[3], IsCdna(isa()) ? 15u << 8 | 6u << 24 : 7u << 12);
}

TEST_P(Generation, EmptyMasksShow) {
  if (!IsCdna(isa())) GTEST_SKIP() << "RDNA3 and later have no such operands";
  const auto got = Scalars(R"(
      s_mov_b32 vcc_lo, 0
      s_mov_b32 vcc_hi, 0
      s_mov_b32 exec_hi, 0
      s_mov_b32 s16, src_vccz
      s_mov_b32 s8, exec_lo
      s_mov_b32 exec_lo, 0
      s_mov_b32 s17, src_execz
      s_mov_b32 exec_lo, s8
      s_mov_b32 vcc_lo, 4
      s_mov_b32 s18, 7
      s_cbranch_vccz end
      s_mov_b32 s18, 8
    end:
      s_mov_b32 s19, src_execz
)");
  EXPECT_EQ(got, (std::vector<uint32_t>{1, 1, 8, 0}));
}

INSTANTIATE_TEST_SUITE_P(All, Generation, testing::ValuesIn(kAllIsas),
                         [](const auto& info) { return std::string(IsaTarget(info.param)); });

class SubvectorLoop : public testing::TestWithParam<Isa> {};

// The halves of a wave64, one after the other: each lane adds in its own pass, the passes are counted.
TEST_P(SubvectorLoop, RunsTheHalvesThatHaveLanes) {
  struct Run {
    uint64_t exec;
    uint32_t passes;
  };
  for (const Run& run : {Run{~uint64_t{0}, 2}, Run{0xf0, 1}, Run{0xf000000000, 1}, Run{0, 0}}) {
    KernelRunner runner(64, GetParam());
    const int out = runner.AddBuffer(65);
    runner.Program("s_mov_b32 s8, 0x" + absl::StrFormat("%x", static_cast<uint32_t>(run.exec)) +
                   "\ns_mov_b32 s9, 0x" + absl::StrFormat("%x", static_cast<uint32_t>(run.exec >> 32)) + R"(
      s_mov_b32 s10, 0
      v_mov_b32 v2, 0
      v_mbcnt_lo_u32_b32 v1, -1, 0
      v_mbcnt_hi_u32_b32 v1, -1, v1
      s_mov_b64 exec, s[8:9]
      s_subvector_loop_begin s11, done
    again:
      v_add_nc_u32 v2, 1, v2
      s_add_u32 s10, s10, 1
      s_subvector_loop_end s11, again
    done:
      s_mov_b64 s[12:13], exec
      s_mov_b64 exec, -1
      v_lshlrev_b32 v1, 2, v1
      global_store_b32 v1, v2, s[0:1]
      v_mov_b32 v3, 0
      v_mov_b32 v4, s10
      global_store_b32 v3, v4, s[0:1] offset:256
      s_cmp_eq_u64 s[12:13], s[8:9]
      s_cbranch_scc1 end
      s_trap 1
    end:
      s_endpgm)");
    runner.Run();
    for (uint32_t lane = 0; lane < 64; ++lane)
      EXPECT_EQ(runner.Buffer(out)[lane], run.exec >> lane & 1) << lane;
    EXPECT_EQ(runner.Buffer(out)[64], run.passes);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SubvectorLoop, testing::Values(Isa::kRdna3, Isa::kRdna35),
                         [](const auto& info) { return std::string(IsaTarget(info.param)); });

class OnCdna : public testing::TestWithParam<Isa> {};

// CDNA's branch stack: both sides of a fork run, each with its lanes, and meet at the join.
TEST_P(OnCdna, BothSidesOfAForkRunWithTheirLanes) {
  for (const char* fork : {"s_cbranch_g_fork s[8:9], s[10:11]", "s_cbranch_i_fork s[8:9], right"}) {
    KernelRunner runner(64, GetParam());
    const int out = runner.AddBuffer(65);
    // s[0:3] are the stack's: the buffer's address moves out of the way.
    runner.Program(std::string(R"(
      s_mov_b64 s[4:5], s[0:1]
      s_mov_b32 s8, 0xff
      s_mov_b32 s9, 0
      s_mov_b32 s14, 0
      s_getpc_b64 s[10:11]
    here:
      s_add_u32 s10, s10, right-here
      s_addc_u32 s11, s11, 0
      s_getreg_b32 s12, hwreg(HW_REG_MODE, 29, 3)
      v_mov_b32 v1, 0
      )") + fork + R"(
      v_add_u32 v1, 1, v1
      s_add_u32 s14, s14, 1
      s_branch meet
    right:
      v_add_u32 v1, 2, v1
      s_add_u32 s14, s14, 0x10
    meet:
      s_cbranch_join s12
      s_mov_b64 exec, -1
      v_lshlrev_b32 v2, 2, v0
      global_store_dword v2, v1, s[4:5]
      v_mov_b32 v3, 0
      v_mov_b32 v4, s14
      global_store_dword v3, v4, s[4:5] offset:256
      s_endpgm)");
    runner.Run();
    for (uint32_t lane = 0; lane < 64; ++lane)
      EXPECT_EQ(runner.Buffer(out)[lane], lane < 8 ? 2u : 1u) << fork;
    EXPECT_EQ(runner.Buffer(out)[64], 0x11u) << "each side once";
  }
}

// While VSKIP is set only scalar instructions execute.
TEST_P(OnCdna, VectorInstructionsAreSkipped) {
  KernelRunner runner(64, GetParam());
  const int out = runner.AddBuffer(1);
  runner.Program(R"(
    v_mov_b32 v1, 1
    s_mov_b32 s8, 0
    s_setvskip -1, 0
    v_mov_b32 v1, 2
    global_store_dword v1, v1, s[0:1] offset:4000
    s_mov_b32 s8, 4
    s_setvskip 0, 0
    v_add_u32 v1, s8, v1
    v_mov_b32 v0, 0
    global_store_dword v0, v1, s[0:1]
    s_endpgm)");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out)[0], 5u);
}

INSTANTIATE_TEST_SUITE_P(All, OnCdna, testing::Values(Isa::kCdna2, Isa::kCdna3, Isa::kCdna4),
                         [](const auto& info) { return std::string(IsaTarget(info.param)); });

TEST(Kill, AKilledWaveEnds) {
  KernelRunner runner;
  const int out = runner.AddBuffer(1);
  runner.Program(R"(
    v_mov_b32 v0, 0
    v_mov_b32 v1, 1
    s_setkill 0
    global_store_b32 v0, v1, s[0:1]
    s_setkill 1
    v_mov_b32 v1, 2
    global_store_b32 v0, v1, s[0:1]
    s_endpgm)");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out)[0], 1u);
}

}  // namespace
}  // namespace understudy::emu::amd
