// SPDX-License-Identifier: Apache-2.0
// Waves of a workgroup meet at barriers, share LDS and nothing else; workgroups that wait for each other get
// on; how the caller cuts the run into steps changes nothing.

#include <gtest/gtest.h>

#include "emu/amd/core/program_cache.h"
#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

constexpr uint32_t kTgidX = 1u << 7;
constexpr uint32_t kLds1K = 2u << 15;

// Each of 256 work-items writes its id to LDS, then reads the word of its mirror image, in another wave.
TEST(Schedule, BarrierOrdersLdsAcrossWaves) {
  for (const int wave_size : {32, 64}) {
    KernelRunner runner(wave_size);
    const int out = runner.AddBuffer(256);
    runner.regs.num_thread[0] = 256;
    runner.regs.rsrc2 |= kLds1K;
    runner.Program(R"(
      v_lshlrev_b32 v1, 2, v0
      v_sub_nc_u32 v2, 0x3fc, v1
      ds_store_b32 v1, v0
      s_waitcnt lgkmcnt(0)
      s_barrier
      ds_load_b32 v3, v2
      s_waitcnt lgkmcnt(0)
      global_store_b32 v1, v3, s[0:1]
      s_endpgm)");
    runner.Run();
    for (uint32_t i = 0; i < 256; ++i) EXPECT_EQ(runner.Buffer(out)[i], 255 - i);
  }
}

// A wave that ends no longer takes part in barriers.
TEST(Schedule, EndedWavesDoNotHoldABarrier) {
  KernelRunner runner;
  const int out = runner.AddBuffer(1);
  runner.regs.num_thread[0] = 128;
  runner.Program(R"(
    v_readfirstlane_b32 s4, v0
    s_cmp_lt_u32 s4, 64
    s_cbranch_scc1 end
    s_barrier
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    global_atomic_add_u32 v1, v2, s[0:1]
  end:
    s_endpgm)");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out)[0], 64u);
}

TEST(Schedule, LdsBelongsToOneWorkgroup) {
  KernelRunner runner;
  const int out = runner.AddBuffer(8);
  runner.AddBuffer(1);
  runner.options.vgpr_fill = 0xdeadbeef;
  runner.regs.num_thread[0] = 1;
  runner.regs.dim[0] = 8;
  runner.regs.rsrc2 |= kTgidX | kLds1K;
  runner.Program(R"(
    v_mov_b32 v1, 0
    v_mov_b32 v2, s4
    ds_load_b32 v3, v1
    ds_store_b32 v1, v2
    s_lshl_b32 s5, s4, 2
    v_mov_b32 v1, s5
    global_store_b32 v1, v3, s[0:1]
    s_endpgm)");
  runner.Run();
  for (uint32_t i = 0; i < 8; ++i)
    EXPECT_EQ(runner.Buffer(out)[i], 0xdeadbeefu) << "nothing leaks from workgroup to workgroup";
}

// Scratch is private to a lane of a wave, also across a barrier.
TEST(Schedule, ScratchIsPrivate) {
  for (const int wave_size : {32, 64}) {
    KernelRunner runner(wave_size);
    const int out = runner.AddBuffer(256);
    runner.AddBuffer(1);
    runner.ReserveScratch(64, 512 / static_cast<uint32_t>(wave_size));
    runner.regs.num_thread[0] = 128;
    runner.regs.dim[0] = 2;
    runner.regs.rsrc2 |= kTgidX;
    runner.Program(R"(
      s_lshl_b32 s5, s4, 7
      v_add_nc_u32 v1, s5, v0
      scratch_store_b32 off, v1, off offset:16
      s_barrier
      scratch_load_b32 v2, off, off offset:16
      s_waitcnt vmcnt(0)
      v_lshlrev_b32 v3, 2, v1
      global_store_b32 v3, v2, s[0:1]
      s_endpgm)");
    runner.Run();
    for (uint32_t i = 0; i < 256; ++i) EXPECT_EQ(runner.Buffer(out)[i], i);
  }
}

// Workgroup 0 spins on a flag that workgroup 7 sets.
TEST(Schedule, AWorkgroupMayWaitForALaterOne) {
  KernelRunner runner;
  const int out = runner.AddBuffer(2);
  runner.AddBuffer(1);
  runner.regs.num_thread[0] = 1;
  runner.regs.dim[0] = 8;
  runner.regs.rsrc2 |= kTgidX;
  runner.Program(R"(
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    s_cmp_eq_u32 s4, 7
    s_cbranch_scc1 set
    s_cmp_eq_u32 s4, 0
    s_cbranch_scc0 end
  spin:
    s_sleep 1
    global_load_b32 v3, v1, s[0:1] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s5, v3
    s_cmp_eq_u32 s5, 0
    s_cbranch_scc1 spin
    global_store_b32 v1, v2, s[0:1] offset:4
    s_branch end
  set:
    global_store_b32 v1, v2, s[0:1]
  end:
    s_endpgm)");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out), (std::vector<uint32_t>{1, 1}));
}

// Waves of one workgroup may wait for each other without a barrier.
TEST(Schedule, WavesTakeTurns) {
  KernelRunner runner;
  const int out = runner.AddBuffer(2);
  runner.regs.num_thread[0] = 64;
  runner.Program(R"(
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    v_readfirstlane_b32 s4, v0
    s_cmp_eq_u32 s4, 0
    s_cbranch_scc0 set
  spin:
    global_load_b32 v3, v1, s[0:1] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s5, v3
    s_cmp_eq_u32 s5, 0
    s_cbranch_scc1 spin
    global_store_b32 v1, v2, s[0:1] offset:4
    s_endpgm
  set:
    global_store_b32 v1, v2, s[0:1]
    s_endpgm)");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out), (std::vector<uint32_t>{1, 1}));
}

// A kernel whose result depends on the order of its waves: every wave appends its number to a log, many
// times.
constexpr const char* kRacy = R"(
    s_lshl_b32 s5, s4, 8
    v_readfirstlane_b32 s6, v0
    s_or_b32 s5, s5, s6
    v_mov_b32 v1, 0
    v_mov_b32 v5, 4
    v_mov_b32 v6, s5
    s_mov_b32 exec_lo, 1
    s_movk_i32 s7, 300
  loop:
    global_atomic_add_u32 v4, v1, v5, s[0:1] glc
    s_waitcnt vmcnt(0)
    global_store_b32 v4, v6, s[2:3]
    s_sub_u32 s7, s7, 1
    s_cmp_lg_u32 s7, 0
    s_cbranch_scc1 loop
    s_endpgm)";

std::vector<uint32_t> RunRacy(uint64_t step, uint64_t* instructions) {
  KernelRunner runner;
  runner.AddBuffer(1);
  const int log = runner.AddBuffer(300 * 3 * 5);
  runner.regs.num_thread[0] = 96;
  runner.regs.dim[0] = 5;
  runner.regs.rsrc2 |= kTgidX;
  runner.Program(kRacy);
  auto dispatch = runner.Start();
  while (dispatch->Step(step) == Dispatch::State::kRunning) {
  }
  EXPECT_EQ(dispatch->state(), Dispatch::State::kDone) << dispatch->fault().message;
  EXPECT_EQ(dispatch->stats().workgroups, 5u);
  EXPECT_EQ(dispatch->stats().waves, 15u);
  *instructions = dispatch->stats().wave_instructions;
  return runner.Buffer(log);
}

TEST(Schedule, StepSizeDoesNotChangeTheRun) {
  uint64_t instructions = 0;
  const std::vector<uint32_t> whole = RunRacy(1'000'000, &instructions);
  for (const uint64_t step : {1, 7, 512, 1000, 65537}) {
    uint64_t n = 0;
    EXPECT_EQ(RunRacy(step, &n), whole) << "step " << step;
    EXPECT_EQ(n, instructions);
  }
}

// Code that the host has rewritten is decoded anew, also through a cache that outlives the dispatch.
TEST(Schedule, RewrittenCodeIsDecodedAnew) {
  ProgramCache cache(Isa::kRdna3);
  KernelRunner runner;
  runner.options.program_cache = &cache;
  const int out = runner.AddBuffer(1);
  for (const uint32_t value : {1u, 2u, 3u}) {
    runner.Program("v_mov_b32 v1, 0\nv_mov_b32 v2, " + std::to_string(value) +
                   "\nglobal_store_b32 v1, v2, s[0:1]\ns_endpgm");
    runner.Run();
    EXPECT_EQ(runner.Buffer(out)[0], value);
  }
}

// Two dispatches that run in turns, from different address spaces, through one cache.
TEST(Schedule, DispatchesShareACacheInTurns) {
  ProgramCache cache(Isa::kRdna3);
  KernelRunner runners[2];
  std::unique_ptr<Dispatch> dispatches[2];
  for (int i = 0; i < 2; ++i) {
    KernelRunner& runner = runners[i];
    runner.AddBuffer(1);
    runner.options.program_cache = &cache;
    runner.regs.num_thread[0] = 1;
    runner.Program(std::string("s_movk_i32 s4, 100\nv_mov_b32 v1, 0\nv_mov_b32 v2, ") + (i == 0 ? "1" : "3") +
                   R"(
    loop:
      global_atomic_add_u32 v1, v2, s[0:1]
      s_sub_u32 s4, s4, 1
      s_cmp_lg_u32 s4, 0
      s_cbranch_scc1 loop
      s_endpgm)");
    dispatches[i] = runner.Start();
  }
  for (int turn = 0; dispatches[0]->state() == Dispatch::State::kRunning ||
                     dispatches[1]->state() == Dispatch::State::kRunning;
       ++turn) {
    dispatches[turn % 2]->Step(7);
  }
  EXPECT_EQ(dispatches[0]->state(), Dispatch::State::kDone) << dispatches[0]->fault().message;
  EXPECT_EQ(dispatches[1]->state(), Dispatch::State::kDone) << dispatches[1]->fault().message;
  EXPECT_EQ(runners[0].Buffer(0)[0], 100u);
  EXPECT_EQ(runners[1].Buffer(0)[0], 300u);
}

}  // namespace
}  // namespace understudy::emu::amd
