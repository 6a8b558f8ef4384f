// SPDX-License-Identifier: Apache-2.0
// RDNA4's split and named barriers, and its dynamic allocation of VGPRs (RDNA4 ISA, S_BARRIER_SIGNAL to
// S_ALLOC_VGPR): what waves see of each other, the state that is read back, and waits that never end.

#include <gtest/gtest.h>

#include <memory>

#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

constexpr uint32_t kLds1K = 2u << 15;

KernelRunner* Rdna4(std::unique_ptr<KernelRunner>* owner, int wave_size, uint32_t threads) {
  *owner = std::make_unique<KernelRunner>(wave_size, Isa::kRdna4);
  (*owner)->regs.num_thread[0] = threads;
  return owner->get();
}

// Each work-item writes its id to LDS, signals, does something else, waits, and reads its mirror image.
TEST(SplitBarrier, OrdersLdsBetweenSignalAndWait) {
  for (const int wave_size : {32, 64}) {
    std::unique_ptr<KernelRunner> owner;
    KernelRunner& runner = *Rdna4(&owner, wave_size, 256);
    const int out = runner.AddBuffer(256);
    runner.regs.rsrc2 |= kLds1K;
    runner.Program(R"(
      s_mov_b32 s6, 3
    again:
      v_lshlrev_b32 v1, 2, v0
      v_sub_nc_u32 v2, 0x3fc, v1
      ds_store_b32 v1, v0
      s_wait_dscnt 0
      s_barrier_signal -1
      v_mov_b32 v5, 7
      s_barrier_wait -1
      ds_load_b32 v3, v2
      s_wait_dscnt 0
      s_barrier_signal -1
      s_barrier_wait -1
      s_sub_co_u32 s6, s6, 1
      s_cmp_lg_u32 s6, 0
      s_cbranch_scc1 again
      global_store_b32 v1, v3, s[0:1]
      s_endpgm)");
    runner.Run();
    for (uint32_t i = 0; i < 256; ++i) ASSERT_EQ(runner.Buffer(out)[i], 255 - i);
  }
}

// Exactly one wave is the first to signal; the others find the counts of those before.
TEST(SplitBarrier, OneWaveIsFirstAndTheStateCounts) {
  std::unique_ptr<KernelRunner> owner;
  KernelRunner& runner = *Rdna4(&owner, 32, 128);
  const int out = runner.AddBuffer(2);
  runner.Program(R"(
    s_get_barrier_state s8, -1
    s_wait_kmcnt 0
    s_barrier_signal_isfirst -1
    s_cselect_b32 s9, 1, 0
    s_get_barrier_state s10, -1
    s_wait_kmcnt 0
    s_bfe_u32 s10, s10, 0x70010            ; signals
    s_barrier_wait -1
    v_mov_b32 v1, 0
    v_mov_b32 v2, s9
    v_mbcnt_lo_u32_b32 v4, -1, 0
    v_cmpx_eq_u32 0, v4
    global_atomic_add_u32 v1, v2, s[0:1]
    s_bfe_u32 s8, s8, 0x70004              ; members
    v_mov_b32 v2, s8
    global_atomic_add_u32 v1, v2, s[0:1] offset:4
    s_endpgm)");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out)[0], 1u);
  EXPECT_EQ(runner.Buffer(out)[1], 16u) << "four waves each saw four members";
}

TEST(SplitBarrier, EndedWavesAreNoMembers) {
  std::unique_ptr<KernelRunner> owner;
  KernelRunner& runner = *Rdna4(&owner, 32, 128);
  const int out = runner.AddBuffer(1);
  runner.Program(R"(
    v_readfirstlane_b32 s4, v0
    s_cmp_lt_u32 s4, 64
    s_cbranch_scc1 end
    s_barrier_signal -1
    s_barrier_wait -1
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    global_atomic_add_u32 v1, v2, s[0:1]
  end:
    s_endpgm)");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out)[0], 64u);
}

TEST(SplitBarrier, AWaveAloneDoesNotWait) {
  std::unique_ptr<KernelRunner> owner;
  KernelRunner& runner = *Rdna4(&owner, 32, 32);
  runner.Program("s_barrier_wait -1\ns_barrier_signal -1\ns_barrier_wait -1\ns_endpgm");
  runner.Run();
}

TEST(SplitBarrier, AWaitWithoutASignalIsAHang) {
  std::unique_ptr<KernelRunner> owner;
  KernelRunner& runner = *Rdna4(&owner, 32, 64);
  runner.Program("s_barrier_wait -1\ns_endpgm");
  const WaveFault fault = runner.RunToFault();
  EXPECT_EQ(fault.kind, FaultKind::kHang);
  EXPECT_NE(fault.message.find("every wave of the workgroup waits at a barrier"), std::string::npos)
      << fault.message;
}

// Waves 0 and 1 meet at barrier 3, waves 2 and 3 at barrier 4: neither pair waits for the other.
TEST(NamedBarrier, PairsMeetApart) {
  std::unique_ptr<KernelRunner> owner;
  KernelRunner& runner = *Rdna4(&owner, 32, 128);
  const int out = runner.AddBuffer(4);
  runner.regs.rsrc2 |= kLds1K;
  runner.Program(R"(
    v_readfirstlane_b32 s4, v0
    s_lshr_b32 s4, s4, 5                    ; wave
    s_lshr_b32 s5, s4, 1                    ; pair
    s_add_co_u32 s6, s5, 3                  ; barrier
    s_cmp_eq_u32 s4, 0
    s_cbranch_scc0 initialised
    s_mov_b32 m0, 0x20003
    s_barrier_init m0
    s_mov_b32 m0, 0x20004
    s_barrier_init m0
  initialised:
    s_barrier_signal -1
    s_barrier_wait -1
    s_mov_b32 m0, s6
    s_barrier_join m0
    s_lshl_b32 s7, s4, 2
    v_mov_b32 v1, s7
    v_mov_b32 v2, s4
    ds_store_b32 v1, v2
    s_wait_dscnt 0
    s_barrier_signal m0
    s_barrier_wait 1
    v_xor_b32 v3, 4, v1
    ds_load_b32 v4, v3
    s_wait_dscnt 0
    global_store_b32 v1, v4, s[0:1]
    s_barrier_leave
    s_endpgm)");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out), (std::vector<uint32_t>{1, 0, 3, 2}));
}

TEST(DynamicVgprs, GrowAndShrinkByBlocks) {
  KernelRunner runner(32, Isa::kRdna4);
  const int out = runner.AddBuffer(4);
  runner.regs.rsrc1 = (runner.regs.rsrc1 & ~0x3fu) | 1;  // 16 registers at launch
  runner.regs.rsrc2 |= 1u << 6;
  runner.Program(R"(
    s_alloc_vgpr 40
    s_cselect_b32 s8, 1, 0
    v_mov_b32 v47, 5                        ; 40 is rounded up to 48
    v_mov_b32 v1, v47
    s_alloc_vgpr 0x90
    s_cselect_b32 s9, 1, 0                  ; beyond eight blocks of 16
    v_mov_b32 v0, 0
    v_mov_b32 v2, s8
    v_mov_b32 v3, s9
    global_store_b96 v0, v[1:3], s[0:1]
    s_alloc_vgpr 0
    v_mov_b32 v16, 1
    s_endpgm)");
  const WaveFault fault = runner.RunToFault();
  EXPECT_NE(fault.message.find("names v16, but the dispatch allocated 16 VGPRs"), std::string::npos)
      << fault.message;
  EXPECT_EQ(runner.Buffer(out), (std::vector<uint32_t>{5, 1, 0, 0}));
}

}  // namespace
}  // namespace understudy::emu::amd
