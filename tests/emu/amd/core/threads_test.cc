// SPDX-License-Identifier: Apache-2.0
// Workgroups on several host threads give what one thread gives: memory, state, counts, and the fault of the
// lowest workgroup that has one.

#include <gtest/gtest.h>

#include <functional>
#include <tuple>

#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

constexpr uint32_t kTgidX = 1u << 7, kThreads[] = {1, 2, 4, 7};

struct Result {
  std::vector<uint32_t> out;
  Dispatch::State state;
  std::string message;
  uint64_t instructions = 0, waves = 0, groups = 0;
};

Result RunWith(uint32_t threads, uint64_t step, uint32_t groups, uint32_t items, const std::string& program,
               const std::function<void(KernelRunner&)>& change = {}) {
  KernelRunner runner;
  const int out = runner.AddBuffer(size_t{groups} * items);
  runner.AddBuffer(64);
  runner.regs.rsrc2 |= kTgidX | 2u << 15;  // s4; 1 KiB of LDS
  runner.regs.num_thread[0] = items;
  runner.regs.dim[0] = groups;
  runner.options.threads = threads;
  if (change) change(runner);
  runner.Program(program);
  auto dispatch = runner.Start();
  while (dispatch->Step(step) == Dispatch::State::kRunning) {
  }
  const Dispatch::Stats& stats = dispatch->stats();
  return {runner.Buffer(out),      dispatch->state(), dispatch->fault().message,
          stats.wave_instructions, stats.waves,       stats.workgroups};
}

// Waves exchange through LDS, loop a number of times that depends on the workgroup, count in memory, and read
// a clock.
constexpr const char* kBusy = R"(
    s_mul_i32 s5, s4, 0x9e3779b1
    s_and_b32 s6, s5, 0xff
    s_add_u32 s6, s6, 1
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v3, s5
  loop:
    v_mul_lo_u32 v3, v3, 0x10dcd
    v_add_nc_u32 v3, v3, v0
    ds_store_b32 v1, v3
    s_waitcnt lgkmcnt(0)
    s_barrier
    v_xor_b32 v2, 0x80, v1
    ds_load_b32 v4, v2
    s_waitcnt lgkmcnt(0)
    s_barrier
    v_xor_b32 v3, v3, v4
    s_sub_u32 s6, s6, 1
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 loop
    s_getreg_b32 s7, hwreg(HW_REG_SHADER_CYCLES)
    v_add_nc_u32 v3, s7, v3
    v_mov_b32 v5, 0
    v_mov_b32 v6, 1
    global_atomic_add_u32 v5, v6, s[2:3]
    s_mul_i32 s8, s4, 256
    v_add_nc_u32 v1, s8, v1
    global_store_b32 v1, v3, s[0:1]
    s_endpgm)";

TEST(Threads, MemoryAndCountsAreThoseOfOneThread) {
  const Result one = RunWith(1, 1'000'000'000, 200, 64, kBusy);
  ASSERT_EQ(one.state, Dispatch::State::kDone) << one.message;
  EXPECT_EQ(one.groups, 200u);
  for (const uint32_t threads : kThreads) {
    for (const uint64_t step : {uint64_t{1'000'000'000}, uint64_t{30'000}, uint64_t{997}}) {
      const Result result = RunWith(threads, step, 200, 64, kBusy);
      EXPECT_EQ(result.state, one.state);
      EXPECT_TRUE(result.out == one.out) << threads << " threads, steps of " << step;
      EXPECT_EQ(std::tie(result.instructions, result.waves, result.groups),
                std::tie(one.instructions, one.waves, one.groups));
    }
  }
}

// Workgroups 17, 23 and 60 store to unmapped memory, 17 after a long loop: its fault is the one reported.
TEST(Threads, TheFaultIsThatOfTheLowestWorkgroup) {
  const std::string program = R"(
    s_cmp_eq_u32 s4, 60
    s_cbranch_scc1 bad
    s_cmp_eq_u32 s4, 23
    s_cbranch_scc1 bad
    s_cmp_eq_u32 s4, 17
    s_cbranch_scc0 end
    s_mov_b32 s6, 0x10000
  loop:
    s_sub_u32 s6, s6, 1
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 loop
  bad:
    v_mov_b32 v1, 0x80000
    global_store_b32 v1, v1, s[2:3]
  end:
    s_endpgm)";
  for (const uint32_t threads : kThreads) {
    for (const uint64_t step : {uint64_t{1'000'000'000}, uint64_t{5'000}}) {
      const Result result = RunWith(threads, step, 100, 32, program);
      EXPECT_EQ(result.state, Dispatch::State::kFault);
      EXPECT_NE(result.message.find("workgroup (17,0,0) wave 0 lane 0"), std::string::npos)
          << threads << " threads: " << result.message;
    }
  }
}

// Workgroup 0 spins until the last workgroup has stored a flag: later workgroups get their turn.
TEST(Threads, WorkgroupsThatWaitForLaterOnesGetOn) {
  const std::string program = R"(
    s_cmp_eq_u32 s4, 0
    s_cbranch_scc0 store
  spin:
    v_mov_b32 v1, 0
    global_load_b32 v2, v1, s[2:3] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s6, v2
    s_cmp_eq_u32 s6, 0
    s_cbranch_scc1 spin
    s_branch end
  store:
    s_cmp_eq_u32 s4, 39
    s_cbranch_scc0 end
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    global_store_b32 v1, v2, s[2:3]
  end:
    s_endpgm)";
  for (const uint32_t threads : kThreads) {
    EXPECT_EQ(RunWith(threads, 1'000'000'000, 40, 32, program).state, Dispatch::State::kDone) << threads;
  }
}

TEST(Threads, AHangNamesTheLowestWorkgroup) {
  for (const uint32_t threads : kThreads) {
    const Result result = RunWith(threads, 1'000'000'000, 8, 32, "l: s_branch l",
                                  [](KernelRunner& r) { r.options.instruction_budget = 3'000'000; });
    EXPECT_EQ(result.state, Dispatch::State::kFault);
    EXPECT_EQ(result.message.find("hang at pc 0x10000 (s_branch 65535) in workgroup (0,0,0) wave 0"), 0u)
        << result.message;
    EXPECT_EQ(result.instructions, 3'000'000u);
  }
}

// Scratch holds as many workgroups as TMPRING_SIZE says, however many threads there are.
TEST(Threads, ScratchIsNotShared) {
  const std::string program = R"(
    v_mov_b32 v1, s4
    scratch_store_b32 off, v1, off offset:4
    s_movk_i32 s6, 0x4000
  loop:
    s_sub_u32 s6, s6, 1
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 loop
    s_waitcnt_vscnt null, 0
    scratch_load_b32 v2, off, off offset:4
    s_waitcnt vmcnt(0)
    v_lshlrev_b32 v3, 2, v0
    s_lshl_b32 s5, s4, 7
    v_add_nc_u32 v3, s5, v3
    global_store_b32 v3, v2, s[0:1]
    s_endpgm)";
  for (const uint32_t threads : kThreads) {
    const Result result =
        RunWith(threads, 1'000'000'000, 30, 32, program, [](KernelRunner& r) { r.ReserveScratch(16, 3); });
    ASSERT_EQ(result.state, Dispatch::State::kDone) << result.message;
    for (uint32_t i = 0; i < 30 * 32; ++i) ASSERT_EQ(result.out[i], i / 32) << threads << " threads";
  }
}

}  // namespace
}  // namespace understudy::emu::amd
