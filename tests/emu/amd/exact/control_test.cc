// SPDX-License-Identifier: Apache-2.0
// Scalar instructions that speak to the wave's surroundings: ends, messages, returns from the trap handler,
// and an instruction that no assembler names. What they answer is what the host of the dispatch was told.

#include <gtest/gtest.h>

#include "emu/amd/decode/rows.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "tests/emu/amd/asm/assembler.h"
#include "tests/emu/amd/core/dialect.h"
#include "tests/emu/amd/core/kernel_runner.h"
#include "tests/emu/amd/evidence/evidence.h"

namespace understudy::emu::amd::exact {
namespace {

constexpr uint64_t kHandlerVa = 0x200000, kTmaVa = 0x123456700;

class Control : public testing::TestWithParam<Isa> {
 protected:
  Isa isa() const { return GetParam(); }
  // The words that a program stores at s[0:1].
  std::vector<uint32_t> Run(const std::string& program, const std::string& handler = "") {
    KernelRunner runner(64, isa());
    const int out = runner.AddBuffer(8);
    std::vector<uint8_t> handler_code;
    if (!handler.empty()) {
      auto code =
          Assemble(IsaTarget(isa()), Respell(isa(), 64, 0, handler), IsRdna(isa()) ? "+wavefrontsize64" : "");
      EXPECT_TRUE(code.ok()) << code.status().ToString();
      if (!code.ok()) return std::vector<uint32_t>(8);
      handler_code = *std::move(code);
      handler_code.resize(AlignUp(handler_code.size() + 64, 256));
      US_CHECK_OK(runner.memory.Map(kHandlerVa, handler_code.size(), handler_code.data(), Perm::kReadExec,
                                    "handler"));
      runner.options.trap_handler = kHandlerVa;
      runner.options.trap_memory = kTmaVa;
    }
    runner.options.doorbell = 0x12345;
    runner.Program(Respell(isa(), 64, 2, program));
    runner.Run();
    return runner.Buffer(out);
  }
};

const char* const kStore =
    "v_mov_b32 v1, 0\nv_mov_b32 v2, s8\nv_mov_b32 v3, s9\nglobal_store_b64 v1, v[2:3], s[0:1]\n";

TEST_P(Control, AnEndIsAnEnd) {
  for (const char* end : {"s_endpgm", "s_endpgm_saved"}) {
    const auto got = Run(std::string("s_mov_b32 s8, 7\ns_mov_b32 s9, 8\n") + kStore + end +
                         "\ns_mov_b32 s8, 9\n" + kStore + "s_endpgm");
    EXPECT_EQ(got[0], 7u) << end;
    EXPECT_EQ(got[1], 8u) << end;
  }
}

TEST_P(Control, MessagesThatAnswer) {
  if (IsCdna(isa())) return;  // they came with RDNA3
  const auto answer = [&](const char* message, const char* registers, const char* width) {
    return Run("s_mov_b32 s9, 0x77\ns_sendmsg_rtn_" + std::string(width) + " " + registers + ", sendmsg(" +
                   message + ")\ns_waitcnt lgkmcnt(0)\n" + kStore + "s_endpgm",
               "s_endpgm");
  };
  EXPECT_EQ(answer("MSG_RTN_GET_DOORBELL", "s8", "b32")[0], 0x12345u);
  EXPECT_EQ(answer("MSG_RTN_GET_DOORBELL", "s8", "b32")[1], 0x77u) << "one register is written";
  EXPECT_EQ(answer("MSG_RTN_GET_TMA", "s8", "b32")[0], static_cast<uint32_t>(kTmaVa >> 8));
  EXPECT_EQ(answer("MSG_RTN_GET_TBA", "s8", "b32")[0], static_cast<uint32_t>(kHandlerVa >> 8));
  EXPECT_EQ(answer("MSG_RTN_GET_TBA", "s[8:9]", "b64")[1], static_cast<uint32_t>(kHandlerVa >> 40));
}

// The instruction drops decoded code, its own record too: it is noted here.
TEST_P(Control, DroppingDecodedCodeChangesNoState) {
  const auto got =
      Run(std::string("s_mov_b32 s8, 3\ns_cmp_eq_u32 s8, 3\ns_icache_inv\ns_cselect_b32 s9, 1, 0\n") +
          kStore + "s_endpgm");
  EXPECT_EQ(got[0], 3u);
  EXPECT_EQ(got[1], 1u) << "SCC";
  RecordExecuted(isa(), Opcode::S_ICACHE_INV);
}

// A message and a halt: outside of the trap handler nobody could resume the wave.
TEST_P(Control, HaltingWithAMessage) {
  KernelRunner runner(64, isa());
  runner.Program("s_nop 0\ns_sendmsghalt sendmsg(MSG_INTERRUPT)\ns_endpgm");
  const WaveFault fault = runner.RunToFault();
  EXPECT_EQ(fault.kind, FaultKind::kHang);
  EXPECT_EQ(fault.pc, KernelRunner::kProgramVa + 4);
}

// Both returns continue at their first source; the handler's own registers stay as they were.
TEST_P(Control, ReturnsFromTheHandler) {
  std::vector<std::string> returns = {"s_rfe_b64 [ttmp0, ttmp1]"};
  if (IsCdna(isa())) returns.push_back("s_rfe_restore_b64 [ttmp0, ttmp1], s12");
  for (const std::string& text : returns) {
    const auto got =
        Run(std::string(
                "s_mov_b32 s8, 1\ns_mov_b32 s9, 0x55\ns_mov_b32 s12, 0\ns_trap 3\ns_add_u32 s8, s8, 1\n") +
                "s_getreg_b32 s9, hwreg(HW_REG_STATUS, 5, 1)\n" + kStore + "s_endpgm",
            "s_lshl_b32 s8, s8, 4\ns_add_u32 ttmp0, ttmp0, 4\ns_addc_u32 ttmp1, ttmp1, 0\n" + text);
    EXPECT_EQ(got[0], 0x11u) << text << ": once through the handler, then on behind the s_trap";
    EXPECT_EQ(got[1], 0u) << text << ": no privilege outside";
  }
}

// S_SET_VALU_COEXEC_MODE of gfx950, by its number: it speaks to the scheduler alone.
TEST(ControlWord, CoexecutionModeHasNoEffect) {
  const decode::Row* row = decode::TableOf(Isa::kCdna4).Find(Encoding::SOPP, Opcode::S_SET_VALU_COEXEC_MODE);
  ASSERT_NE(row, nullptr);
  KernelRunner runner(64, Isa::kCdna4);
  const int out = runner.AddBuffer(8);
  runner.Program("s_mov_b32 s8, 3\ns_cmp_eq_u32 s8, 3\ns_mov_b64 vcc, 5\n.long " +
                 std::to_string(0xbf800001u | uint32_t{row->number} << 16) +
                 "\ns_cselect_b32 s9, 1, 0\ns_mov_b32 s10, vcc_lo\ns_mov_b32 s11, exec_hi\n"
                 "v_mov_b32 v1, 0\nv_mov_b32 v2, s8\nv_mov_b32 v3, s9\nv_mov_b32 v4, s10\nv_mov_b32 v5, s11\n"
                 "global_store_dwordx4 v1, v[2:5], s[0:1]\ns_endpgm");
  runner.Run();
  EXPECT_EQ(std::vector<uint32_t>(runner.Buffer(out).begin(), runner.Buffer(out).begin() + 4),
            (std::vector<uint32_t>{3, 1, 5, 0xffffffff}));
}

INSTANTIATE_TEST_SUITE_P(Generations, Control, testing::ValuesIn(kAllIsas),
                         [](const auto& info) { return std::string(IsaTarget(info.param)); });

}  // namespace
}  // namespace understudy::emu::amd::exact
