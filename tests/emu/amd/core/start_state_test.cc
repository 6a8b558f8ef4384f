// SPDX-License-Identifier: Apache-2.0
// What a wave finds in its registers when it starts (LLVM AMDGPUUsage, "Initial Kernel Execution State"), and
// how registers of a dispatch that cannot run are refused.

#include <gtest/gtest.h>

#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

constexpr uint32_t kTgidX = 1u << 7, kTgidY = 1u << 8, kTgidZ = 1u << 9, kTgSize = 1u << 10;
constexpr uint32_t kTidXyz = 2u << 11;

class StartState : public testing::TestWithParam<int> {};

// Every work-item stores its packed id at the index that its ids name.
TEST_P(StartState, WorkItemIdsAreXFastestAndPacked) {
  KernelRunner runner(GetParam());
  const int out = runner.AddBuffer(7 * 3 * 5);
  runner.regs.num_thread[0] = 7, runner.regs.num_thread[1] = 3, runner.regs.num_thread[2] = 5;
  runner.regs.rsrc2 |= kTidXyz;
  runner.Program(R"(
    v_and_b32 v1, 0x3ff, v0
    v_bfe_u32 v2, v0, 10, 10
    v_bfe_u32 v3, v0, 20, 10
    v_mul_lo_u32 v3, v3, 3
    v_add_nc_u32 v2, v2, v3
    v_mul_lo_u32 v2, v2, 7
    v_add_nc_u32 v1, v1, v2
    v_lshlrev_b32 v1, 2, v1
    global_store_b32 v1, v0, s[0:1]
    s_endpgm)");
  runner.Run();
  for (uint32_t z = 0; z < 5; ++z) {
    for (uint32_t y = 0; y < 3; ++y) {
      for (uint32_t x = 0; x < 7; ++x) {
        EXPECT_EQ(runner.Buffer(out)[(z * 3 + y) * 7 + x], z << 20 | y << 10 | x);
      }
    }
  }
}

TEST_P(StartState, UnrequestedIdsAreZero) {
  KernelRunner runner(GetParam());
  const int out = runner.AddBuffer(8);
  runner.regs.num_thread[0] = 2, runner.regs.num_thread[1] = 4;
  runner.Program(R"(
    v_mbcnt_lo_u32_b32 v1, -1, 0
    v_lshlrev_b32 v1, 2, v1
    global_store_b32 v1, v0, s[0:1]
    s_endpgm)");
  runner.Run();
  for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(runner.Buffer(out)[i], i % 2) << "work-item " << i;
}

// System SGPRs follow the user SGPRs: workgroup ids in order x y z, then the workgroup info.
TEST_P(StartState, SystemSgprsFollowUserSgprs) {
  const int wave_size = GetParam();
  KernelRunner runner(wave_size);
  const int out = runner.AddBuffer(2 * 3 * 4 * 8);
  runner.regs.num_thread[0] = static_cast<uint32_t>(wave_size) + 1;  // two waves
  runner.regs.dim[0] = 2, runner.regs.dim[1] = 3, runner.regs.dim[2] = 4;
  runner.regs.rsrc2 |= kTgidX | kTgidY | kTgidZ | kTgSize;
  // s2 x, s3 y, s4 z, s5 info; one lane of each wave writes its row.
  runner.Program(R"(
    s_mul_i32 s6, s4, 3
    s_add_u32 s6, s6, s3
    s_lshl_b32 s6, s6, 1
    s_add_u32 s6, s6, s2
    s_lshl_b32 s6, s6, 5
    s_lshr_b32 s7, s5, 31
    s_lshl_b32 s7, s7, 4
    s_add_u32 s6, s6, s7
    v_mov_b32 v1, s6
    v_mov_b32 v2, s2
    v_mov_b32 v3, s3
    v_mov_b32 v4, s4
    v_mov_b32 v5, s5
    global_store_b128 v1, v[2:5], s[0:1]
    s_endpgm)");
  runner.Run();
  for (uint32_t z = 0, i = 0; z < 4; ++z) {
    for (uint32_t y = 0; y < 3; ++y) {
      for (uint32_t x = 0; x < 2; ++x, ++i) {
        const uint32_t* row = &runner.Buffer(out)[i * 8];
        for (uint32_t first = 0; first < 2; ++first) {
          EXPECT_EQ(row[4 * first + 0], x);
          EXPECT_EQ(row[4 * first + 1], y);
          EXPECT_EQ(row[4 * first + 2], z);
          EXPECT_EQ(row[4 * first + 3], first << 31 | 2u) << "first wave flag and waves in the workgroup";
        }
      }
    }
  }
}

TEST_P(StartState, ExecCoversTheLiveWorkItems) {
  const int wave_size = GetParam();
  KernelRunner runner(wave_size);
  const int out = runner.AddBuffer(4);
  runner.regs.num_thread[0] = static_cast<uint32_t>(wave_size) + 5;
  runner.regs.rsrc2 |= kTgSize;  // s2
  runner.Program(R"(
    s_mov_b32 s4, exec_lo
    s_mov_b32 s5, exec_hi
    s_lshr_b32 s6, s2, 31
    s_lshl_b32 s6, s6, 3
    v_mov_b32 v1, s6
    v_mov_b32 v2, s4
    v_mov_b32 v3, s5
    global_store_b64 v1, v[2:3], s[0:1]
    s_endpgm)");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out)[0], 0x1fu) << "second wave";
  EXPECT_EQ(runner.Buffer(out)[1], 0u);
  EXPECT_EQ(runner.Buffer(out)[2], ~0u) << "first wave";
  EXPECT_EQ(runner.Buffer(out)[3], wave_size == 64 ? ~0u : 0u);
}

// FLOAT_MODE, DX10_CLAMP, IEEE_MODE and FP16_OVFL of COMPUTE_PGM_RSRC1 arrive in MODE.
TEST_P(StartState, ModeComesFromRsrc1) {
  KernelRunner runner(GetParam());
  const int out = runner.AddBuffer(1);
  runner.regs.rsrc1 = (runner.regs.rsrc1 & 0x3f) | 0xa5u << 12 | 1u << 21 | 1u << 23 | 1u << 26;
  runner.Program(R"(
    s_getreg_b32 s4, hwreg(HW_REG_MODE)
    v_mov_b32 v1, 0
    v_mov_b32 v2, s4
    global_store_b32 v1, v2, s[0:1]
    s_endpgm)");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out)[0], 0xa5u | 1u << 8 | 1u << 9 | 1u << 23);
}

// TTMP8-10 hold the workgroup ids and TTMP11 the wave's number, for trap handlers and debuggers (ROCm
// debugger API).
TEST_P(StartState, TrapTemporariesNameTheWave) {
  const int wave_size = GetParam();
  KernelRunner runner(wave_size);
  const int out = runner.AddBuffer(8);
  runner.regs.num_thread[0] = 2 * static_cast<uint32_t>(wave_size);
  runner.regs.start[0] = 4, runner.regs.start[1] = 5, runner.regs.start[2] = 6;
  runner.regs.dim[0] = 5, runner.regs.dim[1] = 6, runner.regs.dim[2] = 7;
  runner.Program(R"(
    s_and_b32 s4, ttmp11, 63
    s_lshl_b32 s5, s4, 4
    v_mov_b32 v1, s5
    v_mov_b32 v2, ttmp8
    v_mov_b32 v3, ttmp9
    v_mov_b32 v4, ttmp10
    v_mov_b32 v5, s4
    global_store_b128 v1, v[2:5], s[0:1]
    s_endpgm)");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out), (std::vector<uint32_t>{4, 5, 6, 0, 4, 5, 6, 1}));
}

INSTANTIATE_TEST_SUITE_P(WaveSizes, StartState, testing::Values(32, 64));

// Counts the work-items of each workgroup.
constexpr const char* kCountThreads = R"(
    s_lshl_b32 s5, s4, 2
    v_mov_b32 v1, s5
    v_mov_b32 v2, 1
    global_atomic_add_u32 v1, v2, s[0:1]
    s_endpgm)";

TEST(DispatchGrid, ThreadDimensionsGiveAPartialLastWorkgroup) {
  KernelRunner runner;
  const int out = runner.AddBuffer(4);
  runner.AddBuffer(1);
  runner.regs.rsrc2 |= kTgidX;  // s4
  runner.regs.num_thread[0] = 32;
  runner.regs.dim[0] = 100;
  runner.regs.initiator |= kUseThreadDimensions;
  runner.Program(kCountThreads);
  runner.Run();
  EXPECT_EQ(runner.Buffer(out), (std::vector<uint32_t>{32, 32, 32, 4}));
}

TEST(DispatchGrid, PartialSizesApplyToTheLastWorkgroupWhenEnabled) {
  for (const bool enabled : {false, true}) {
    KernelRunner runner;
    const int out = runner.AddBuffer(3);
    runner.AddBuffer(1);
    runner.regs.rsrc2 |= kTgidX;
    runner.regs.num_thread[0] = 64 | 10u << 16;
    runner.regs.dim[0] = 3;
    if (enabled) runner.regs.initiator |= kPartialTgEn;
    runner.Program(kCountThreads);
    runner.Run();
    EXPECT_EQ(runner.Buffer(out), (std::vector<uint32_t>{64, 64, enabled ? 10u : 64u}));
  }
}

TEST(DispatchGrid, StartOffsetsWorkgroupIdsUnlessForcedToZero) {
  for (const bool forced : {false, true}) {
    KernelRunner runner;
    const int out = runner.AddBuffer(4);
    runner.AddBuffer(1);
    runner.regs.rsrc2 |= kTgidX;
    runner.regs.num_thread[0] = 1;
    runner.regs.start[0] = 2;
    runner.regs.dim[0] = 4;
    if (forced) runner.regs.initiator |= kForceStartAt000;
    runner.Program(kCountThreads);
    runner.Run();
    const uint32_t low = forced ? 1 : 0;
    EXPECT_EQ(runner.Buffer(out), (std::vector<uint32_t>{low, low, 1, 1}));
  }
}

TEST(DispatchGrid, AnEmptyGridIsDoneAtOnce) {
  KernelRunner runner;
  runner.AddBuffer(1);
  runner.Program("s_trap 2");
  runner.regs.dim[1] = 0;
  auto dispatch = runner.Start();
  EXPECT_EQ(dispatch->Step(1), Dispatch::State::kDone);
  EXPECT_EQ(dispatch->stats().waves, 0u);
}

TEST(DispatchGrid, ImpossibleRegistersAreRefusedByName) {
  const auto message = [](auto change) {
    KernelRunner runner;
    runner.Program("s_endpgm");
    change(runner);
    return runner.RunToFault().message;
  };
  EXPECT_EQ(message([](KernelRunner& r) { r.regs.num_thread[1] = 0; }),
            "bad dispatch: COMPUTE_NUM_THREAD_Y is 0");
  EXPECT_EQ(message([](KernelRunner& r) { r.regs.num_thread[0] = r.regs.num_thread[1] = 64; }),
            "bad dispatch: workgroup of 64 x 64 x 1 work-items, expected at most 1024 in all");
  EXPECT_EQ(message([](KernelRunner& r) { r.regs.rsrc2 |= 129u << 15; }),
            "bad dispatch: COMPUTE_PGM_RSRC2.LDS_SIZE asks for 66048 bytes, expected at most 65536");
  EXPECT_EQ(message([](KernelRunner& r) { r.regs.rsrc1 |= 0x3f; }),
            "bad dispatch: COMPUTE_PGM_RSRC1.VGPRS asks for 512 registers, expected at most 256");
  EXPECT_EQ(message([](KernelRunner& r) { r.regs.rsrc3 = 1; }),
            "bad dispatch: COMPUTE_PGM_RSRC3.SHARED_VGPR_COUNT is not 0: shared VGPRs are not modelled");
  EXPECT_EQ(message([](KernelRunner& r) { r.regs.rsrc3 = 1u << 10; }),
            "bad dispatch: COMPUTE_PGM_RSRC3 asks for a trap at start or end, and there is no handler");
  EXPECT_EQ(message([](KernelRunner& r) { r.regs.pgm_addr += 4; }),
            "bad dispatch: program address 0x10004 is not a multiple of 256");
  EXPECT_EQ(message([](KernelRunner& r) {
              r.ReserveScratch(64, 2);
              r.regs.num_thread[0] = 96;
            }),
            "bad dispatch: COMPUTE_TMPRING_SIZE has scratch for 2 waves, expected 3 for one workgroup");
}

}  // namespace
}  // namespace understudy::emu::amd
