// SPDX-License-Identifier: Apache-2.0
// Small inputs that other emulators got wrong, with their right values: scalars, launches, and what the core
// decides. Each stands for its class; the classes have tests of their own.

#include <gtest/gtest.h>

#include "tests/emu/amd/core/dialect.h"
#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

class Cases : public testing::TestWithParam<Isa> {
 protected:
  Isa isa() const { return GetParam(); }
  int wave_size() const { return IsCdna(isa()) ? 64 : 32; }
  // Runs code that leaves results in s[16:19], in one wave.
  std::vector<uint32_t> Scalars(const std::string& code) {
    KernelRunner runner(wave_size(), isa());
    const int out = runner.AddBuffer(4);
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

TEST_P(Cases, Scalars) {
  // A signed bit-field extract sign-extends; a strict comparison of equals is false.
  auto got = Scalars(R"(
    s_mov_b32 s8, 0xf0
    s_bfe_i32 s16, s8, 0x40004
    s_cselect_b32 s17, 1, 0
    s_mov_b32 s8, 5
    s_cmp_lt_u32 s8, 5
    s_cselect_b32 s18, 1, 0
    s_mov_b32 s8, 0xdeadaaaa
    s_mov_b32 s9, 0xdeadbbbb
    s_pack_ll_b32_b16 s19, s8, s9
)");
  EXPECT_EQ(got, (std::vector<uint32_t>{0xffffffff, 1, 0, 0xbbbbaaaa}));
  // The readlane family writes an SGPR and leaves the VGPR of that number alone; the highest register counts.
  // A literal equal to a selector number is a value; 1/(2*pi) is a constant of its own.
  got = Scalars(R"(
    v_mov_b32 v20, 7
    v_mov_b32 v1, 9
    v_readfirstlane_b32 s20, v1
    v_readfirstlane_b32 s100, v1
    s_mov_b32 s16, s100
    v_readfirstlane_b32 s17, v20
    s_mov_b32 s8, 1
    s_add_u32 s18, s8, 0xe7
    v_mul_f32 v2, 0.15915494, 1.0
    v_readfirstlane_b32 s19, v2
)");
  EXPECT_EQ(got, (std::vector<uint32_t>{9, 7, 0xe8, 0x3e22f983}));
}

// Register 102 is general on RDNA; on CDNA it is FLAT_SCRATCH.
TEST_P(Cases, OperandNumbersAreTheGenerations) {
  const auto got = Scalars(IsCdna(isa()) ? "s_mov_b32 flat_scratch_lo, 5\ns_mov_b32 s16, flat_scratch_lo\n"
                                         : "s_mov_b32 s102, 5\ns_mov_b32 s16, s102\n");
  EXPECT_EQ(got[0], 5u);
}

// LDS of N bytes: a store of four at N-2 writes the two in range, and nothing else.
TEST_P(Cases, LdsIsBoundedPerByte) {
  KernelRunner runner(wave_size(), isa());
  const int out = runner.AddBuffer(2);
  runner.regs.num_thread[0] = 1;
  runner.regs.rsrc2 |= 1u << 15;
  runner.options.exact_lds_bytes = 102;
  runner.Program(Respell(isa(), wave_size(), 2, std::string(IsCdna(isa()) ? "s_mov_b32 m0, -1\n" : "") + R"(
    v_mov_b32 v1, 100
    v_mov_b32 v2, 0
    ds_store_b32 v1, v2
    v_mov_b32 v2, 0x44332211
    ds_store_b32 v1, v2
    s_waitcnt lgkmcnt(0)
    ds_load_b32 v4, v1
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v0, 0
    global_store_b32 v0, v4, s[0:1]
    s_endpgm)"));
  runner.Run();
  EXPECT_EQ(runner.Buffer(out)[0], 0x2211u);
}

// Two waves store their lane ids to scratch, meet at a barrier, and find their own.
TEST_P(Cases, ScratchIsPrivateAcrossABarrier) {
  KernelRunner runner(wave_size(), isa());
  const uint32_t items = static_cast<uint32_t>(2 * wave_size());
  const int out = runner.AddBuffer(items);
  runner.ReserveScratch(16, 2);
  runner.regs.num_thread[0] = items;
  std::string prologue;
  if (isa() == Isa::kCdna2) {
    prologue = "s_add_u32 flat_scratch_lo, s2, " + std::to_string(KernelRunner::kScratchVa) +
               "\ns_addc_u32 flat_scratch_hi, 0, 0\n";
  }
  runner.Program(Respell(isa(), wave_size(), 8, prologue + R"(
    s_mov_b32 s20, 4
    scratch_store_b32 off, v0, s20
    s_waitcnt_vscnt null, 0
    s_barrier
    scratch_load_b32 v2, off, s20
    s_waitcnt vmcnt(0)
    v_lshlrev_b32 v3, 2, v0
    global_store_b32 v3, v2, s[0:1]
    s_endpgm)"));
  runner.Run();
  for (uint32_t i = 0; i < items; ++i) ASSERT_EQ(runner.Buffer(out)[i], i);
}

// A lane that EXEC disables stores nothing, even where nothing is mapped.
TEST_P(Cases, InactiveLanesTouchNoMemory) {
  KernelRunner runner(wave_size(), isa());
  const int out = runner.AddBuffer(1);
  runner.Program(Respell(isa(), wave_size(), 2, R"(
    v_mul_u32_u24 v1, 0x100000, v0
    v_mov_b32 v2, 3
    s_mov_b32 exec_lo, 1
    s_mov_b32 exec_hi, 0
    global_store_b32 v1, v2, s[0:1]
    s_endpgm)"));
  runner.Run();
  EXPECT_EQ(runner.Buffer(out)[0], 3u);
}

INSTANTIATE_TEST_SUITE_P(Generations, Cases, testing::ValuesIn(kAllIsas),
                         [](const auto& info) { return std::string(IsaTarget(info.param)); });

}  // namespace
}  // namespace understudy::emu::amd
