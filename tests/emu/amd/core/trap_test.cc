// SPDX-License-Identifier: Apache-2.0
// Trap handlers (RDNA3, RDNA4 and CDNA3 ISA, S_TRAP and S_RFE_B64; the kernel's cwsr_trap_handler_gfx*.asm):
// what a handler finds, what only it may do, and how the wave goes on.

#include <gtest/gtest.h>

#include "src/base/bits.h"
#include "src/base/status.h"
#include "tests/emu/amd/asm/assembler.h"
#include "tests/emu/amd/core/dialect.h"
#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

constexpr uint64_t kHandlerVa = 0x200000, kTmaVa = 0x123456700;

class Traps : public testing::TestWithParam<Isa> {
 protected:
  void Handler(KernelRunner& runner, const std::string& text) {
    auto code = Assemble(IsaTarget(GetParam()), Respell(GetParam(), 64, 0, text), Features());
    ASSERT_TRUE(code.ok()) << code.status().ToString();
    handler_ = *std::move(code);
    handler_.resize(AlignUp(handler_.size() + 64, 256));
    US_CHECK_OK(
        runner.memory.Map(kHandlerVa, handler_.size(), handler_.data(), Perm::kReadExec, "trap handler"));
    runner.options.trap_handler = kHandlerVa;
    runner.options.trap_memory = kTmaVa;
  }
  std::string Features() const { return IsRdna(GetParam()) ? "+wavefrontsize64" : ""; }
  std::vector<uint8_t> handler_;
};

// The handler counts in s8, notes TTMP0 and TTMP1, returns behind the s_trap with SCC as it was.
TEST_P(Traps, AHandlerIsEnteredWithTheTrapAndReturns) {
  const Isa isa = GetParam();
  KernelRunner runner(64, isa);
  const int out = runner.AddBuffer(8);
  const std::string status = isa == Isa::kRdna4 ? "hwreg(HW_REG_STATE_PRIV)" : "hwreg(HW_REG_STATUS)";
  Handler(runner, "s_getreg_b32 ttmp2, " + status + R"(
    s_getreg_b32 s12, hwreg(HW_REG_STATUS)
    s_add_u32 s8, s8, 1
    s_mov_b32 s9, ttmp0
    s_mov_b32 s10, ttmp1
    s_add_u32 ttmp0, ttmp0, 4
    s_addc_u32 ttmp1, ttmp1, 0
    s_setreg_b32 )" + status +
                      R"(, ttmp2
    s_rfe_b64 [ttmp0, ttmp1])");
  runner.Program(Respell(isa, 64, 2, R"(
    s_mov_b32 s8, 0
    s_cmp_eq_u32 s8, 0
    s_trap 3
    s_cselect_b32 s11, 1, 0
    s_trap 5
    s_getreg_b32 s13, hwreg(HW_REG_STATUS)
    v_mov_b32 v1, 0
    v_mov_b32 v2, s8
    v_mov_b32 v3, s9
    v_mov_b32 v4, s10
    v_mov_b32 v5, s11
    global_store_b128 v1, v[2:5], s[0:1]
    v_mov_b32 v2, s12
    v_mov_b32 v3, s13
    global_store_b64 v1, v[2:3], s[0:1] offset:16
    s_endpgm)"));
  runner.Run();
  const std::vector<uint32_t>& got = runner.Buffer(out);
  EXPECT_EQ(got[0], 2u) << "both traps were taken";
  EXPECT_EQ(got[1], KernelRunner::kProgramVa + 16) << "of the s_trap itself";
  EXPECT_EQ(got[2], isa == Isa::kRdna4 ? 5u << 28 : 5u << 16) << "the trap's number above PC 47:32";
  EXPECT_EQ(got[3], 1u) << "SCC";
  EXPECT_EQ(got[4] & 0x60, 0x60u) << "STATUS.PRIV and TRAP_EN inside";
  EXPECT_EQ(got[5] & 0x60, 0x40u) << "outside";
}

TEST_P(Traps, TmaIsReadInUnitsOf256Bytes) {
  const Isa isa = GetParam();
  KernelRunner runner(64, isa);
  const int out = runner.AddBuffer(2);
  Handler(runner, "s_add_u32 ttmp0, ttmp0, 4\ns_addc_u32 ttmp1, ttmp1, 0\n" +
                      std::string(IsCdna(isa) ? "s_getreg_b32 s8, hwreg(HW_REG_TMA_LO)\n"
                                                "s_getreg_b32 s9, hwreg(HW_REG_TMA_HI)\n"
                                              : "s_sendmsg_rtn_b64 s[8:9], sendmsg(MSG_RTN_GET_TMA)\n") +
                      "s_waitcnt lgkmcnt(0)\ns_rfe_b64 [ttmp0, ttmp1]");
  runner.Program(Respell(isa, 64, 2, R"(
    s_trap 1
    v_mov_b32 v1, 0
    v_mov_b32 v2, s8
    v_mov_b32 v3, s9
    global_store_b64 v1, v[2:3], s[0:1]
    s_endpgm)"));
  runner.Run();
  EXPECT_EQ(runner.Buffer(out)[0], static_cast<uint32_t>(kTmaVa >> 8));
  EXPECT_EQ(runner.Buffer(out)[1], static_cast<uint32_t>(kTmaVa >> 40));
}

TEST_P(Traps, WhatIsWrongIsAFault) {
  const Isa isa = GetParam();
  const auto message = [&](const char* program, const char* handler) {
    KernelRunner runner(64, isa);
    if (*handler != 0) Handler(runner, handler);
    runner.Program(program);
    return runner.RunToFault().message;
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(message("s_trap 2", ""), "trap 2, and no trap handler is installed"));
  EXPECT_TRUE(has(message("s_trap 2", "s_trap 3"), "trap 3 inside the trap handler"));
  EXPECT_TRUE(has(message("s_rfe_b64 s[0:1]", ""), "a return from the trap handler outside of it"));
  // A halt inside the handler takes effect when it returns.
  EXPECT_TRUE(has(message("s_trap 2\ns_endpgm", "s_sethalt 1\ns_nop 0\ns_rfe_b64 [ttmp0, ttmp1]"),
                  "(s_rfe_b64 [ttmp0, ttmp1])") ||
              has(message("s_trap 2\ns_endpgm", "s_sethalt 1\ns_nop 0\ns_rfe_b64 [ttmp0, ttmp1]"),
                  "the wave is halted"));
}

// Outside the handler STATUS (STATE_PRIV) cannot be written.
TEST_P(Traps, PrivilegedRegistersAreWrittenInTheHandlerOnly) {
  const Isa isa = GetParam();
  KernelRunner runner(64, isa);
  const int out = runner.AddBuffer(1);
  runner.Program(Respell(isa, 64, 2,
                         std::string("s_cmp_eq_u32 s0, s0\ns_setreg_imm32_b32 ") +
                             (isa == Isa::kRdna4 ? "hwreg(HW_REG_STATE_PRIV)" : "hwreg(HW_REG_STATUS)") +
                             R"(, 0
    s_cselect_b32 s8, 1, 0
    v_mov_b32 v1, 0
    v_mov_b32 v2, s8
    global_store_b32 v1, v2, s[0:1]
    s_endpgm)"));
  runner.Run();
  EXPECT_EQ(runner.Buffer(out)[0], 1u);
}

INSTANTIATE_TEST_SUITE_P(Generations, Traps, testing::ValuesIn(kAllIsas),
                         [](const auto& info) { return std::string(IsaTarget(info.param)); });

}  // namespace
}  // namespace understudy::emu::amd
