// SPDX-License-Identifier: Apache-2.0
// Every way in which a wave can go wrong ends in a fault that names it, and leaves memory as it was.

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "emu/amd/core/program_cache.h"
#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

testing::AssertionResult Contains(const std::string& text, const std::string& part) {
  if (absl::StrContains(text.c_str(), part.c_str())) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << part << "' in: " << text;
}

TEST(Faults, AStorePastTheEndNamesLaneAddressAndAllocation) {
  KernelRunner runner;
  const int out = runner.AddBuffer(20);  // lanes 20.. run over
  runner.Program(R"(
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v2, 7
    global_store_b32 v1, v2, s[0:1]
    s_endpgm)");
  const WaveFault fault = runner.RunToFault();
  EXPECT_EQ(fault.kind, FaultKind::kMemory);
  EXPECT_EQ(fault.lane, 20);
  EXPECT_EQ(fault.wave, 0);
  EXPECT_EQ(fault.pc, KernelRunner::kProgramVa + 8);
  EXPECT_EQ(fault.exec, 0xffffffffu);
  EXPECT_EQ(fault.memory.kind, MemoryFaultKind::kUnmapped);
  EXPECT_EQ(fault.memory.address, runner.BufferVa(out) + 80);
  EXPECT_EQ(fault.memory.nearest_label, "buffer0");
  EXPECT_TRUE(Contains(fault.message, "memory violation at pc 0x10008 (global_store_b32"));
  EXPECT_TRUE(Contains(fault.message,
                       "in workgroup (0,0,0) wave 0 lane 20: write of 4 bytes at 0x1000050: unmapped; 0 "
                       "bytes past the end of 'buffer0' [0x1000000, 0x1000050)"));
}

// VOPD exists in wave32 only, and a lane mask of wave64 is an even pair (RDNA3 ISA manual). The same bytes
// run as wave32, also when both wave sizes share one decoded program.
TEST(Faults, WhatOnlyWave32HasIsIllegalInWave64) {
  struct Case {
    const char* name;
    const char* body;
  };
  const Case kCases[] = {
      {"VOPD", ".long 0xca220080, 0x02000082"},  // v_dual_mov_b32 v2, 0 :: v_dual_lshlrev_b32 v1, 2, v0
      {"a mask in an odd register", ".long 0xd44a0005, 0x00020300"},  // v_cmp_eq_u32_e64 s5, v0, v1
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    ProgramCache cache(Isa::kRdna3);
    KernelRunner narrow(32), wide(64);
    narrow.options.program_cache = wide.options.program_cache = &cache;
    narrow.Program(std::string(c.body) + "\ns_endpgm");
    narrow.Run();
    wide.Program(std::string(c.body) + "\ns_endpgm");
    const WaveFault fault = wide.RunToFault();
    EXPECT_EQ(fault.kind, FaultKind::kIllegalInstruction);
    EXPECT_EQ(fault.pc, KernelRunner::kProgramVa);
  }
}

TEST(Faults, InactiveLanesTouchNothing) {
  KernelRunner runner;
  const int out = runner.AddBuffer(2);
  runner.Program(R"(
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v2, 7
    s_mov_b32 exec_lo, 2
    global_store_b32 v1, v2, s[0:1]
    global_load_b32 v3, v1, s[0:1]
    s_mov_b32 exec_lo, 0
    v_mov_b32 v4, -1
    v_mov_b32 v5, -1
    flat_store_b32 v[4:5], v2
    s_endpgm)");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out), (std::vector<uint32_t>{0, 7}));
}

TEST(Faults, CausesAreTold) {
  struct Case {
    const char* name;
    Perm perm;
    const char* body;
    const char* message;
  };
  const Case kCases[] = {
      {"read-only", Perm::kRead, "global_store_b32 v1, v2, s[0:1]",
       "write of 4 bytes at 0x1000000: read-only"},
      {"atomic on read-only", Perm::kRead, "global_atomic_add_u32 v1, v2, s[0:1]",
       "atomic of 4 bytes at 0x1000000: read-only"},
      {"write-only", Perm::kWrite, "global_load_b32 v2, v1, s[0:1]",
       "read of 4 bytes at 0x1000000: not readable"},
      {"scalar load", Perm::kWrite, "s_load_b64 s[4:5], s[0:1], 0x8",
       "read of 8 bytes at 0x1000008: not readable"},
      {"misaligned atomic", Perm::kReadWrite, "global_atomic_add_u32 v1, v2, s[0:1] offset:2",
       "atomic of 4 bytes at 0x1000002: misaligned"},
      {"no-execute", Perm::kReadWrite, "s_setpc_b64 s[0:1]",
       "instruction fetch of 4 bytes at 0x1000000: no-execute"},
      {"misaligned code", Perm::kReadWrite, "s_add_u32 s0, s0, 2\ns_setpc_b64 s[0:1]",
       "instruction fetch of 4 bytes at 0x1000002: misaligned"},
      {"no scratch", Perm::kReadWrite, "scratch_load_b32 v2, off, off",
       "read of 4 bytes at private offset 0x0: the dispatch reserved 0 bytes a lane"},
  };
  for (const Case& c : kCases) {
    KernelRunner runner;
    runner.AddBuffer(4, c.perm);
    runner.Program(std::string("v_mov_b32 v1, 0\nv_mov_b32 v2, 0\n") + c.body + "\ns_endpgm");
    const WaveFault fault = runner.RunToFault();
    EXPECT_EQ(fault.kind, FaultKind::kMemory) << c.name;
    EXPECT_TRUE(Contains(fault.message, c.message)) << c.name;
  }
}

TEST(Faults, UseAfterFreeSaysSo) {
  KernelRunner runner;
  const int out = runner.AddBuffer(4);
  ASSERT_TRUE(runner.memory.Unmap(runner.BufferVa(out), 16).ok());
  runner.Program("s_load_b32 s4, s[0:1], 0x4\ns_endpgm");
  EXPECT_TRUE(
      Contains(runner.RunToFault().message, "inside 'buffer0' [0x1000000, 0x1000010), which was freed"));
}

TEST(Faults, ControlFlow) {
  struct Case {
    const char* body;
    FaultKind kind;
    const char* message;
  };
  const Case kCases[] = {
      {"s_trap 2", FaultKind::kTrap, "trap without a handler at pc 0x10000 (s_trap 2)"},
      {"l: s_branch l", FaultKind::kHang, "not finished after 1000 wave instructions"},
      {"s_code_end", FaultKind::kIllegalInstruction, "the wave ran past the end of its program"},
      {".long 0xbfff0000", FaultKind::kIllegalInstruction, "illegal instruction at pc 0x10000"},
      {"s_setpc_b64 0", FaultKind::kMemory, "instruction fetch of 4 bytes at 0x0: unmapped"},
      {"s_sendmsg sendmsg(MSG_STALL_WAVE_GEN)", FaultKind::kUnsupported,
       "message 5 (MSG_STALL_WAVE_GEN) is refused"},
      {"s_sethalt 1", FaultKind::kHang, "the wave is halted, and there is no debugger to resume it"},
      {"s_rfe_b64 s[0:1]", FaultKind::kIllegalInstruction, "a return from the trap handler outside of it"},
      {"s_getreg_b32 s0, hwreg(62)", FaultKind::kUnsupported, "reading of hardware register 62 is refused"},
      {"ds_gws_barrier v0 gds", FaultKind::kUnsupported, "global data share is not modelled"},
      {"v_mov_b32 v64, 0", FaultKind::kIllegalInstruction, "names v64, but the dispatch allocated 64 VGPRs"},
      {"s_movrels_b32 s0, s105\ns_endpgm", FaultKind::kIllegalInstruction, "indexed scalar register"},
  };
  for (const Case& c : kCases) {
    KernelRunner runner;
    runner.options.instruction_budget = 1000;
    runner.options.vgpr_fill = 200;  // M0, for the indexed move
    std::string body = c.body;
    if (body == "s_setpc_b64 0") body = "s_mov_b64 s[0:1], 0\ns_setpc_b64 s[0:1]";
    runner.Program(body);
    const WaveFault fault = runner.RunToFault();
    EXPECT_EQ(fault.kind, c.kind) << c.body;
    EXPECT_TRUE(Contains(fault.message, c.message)) << c.body;
  }
}

TEST(Faults, ADeadDispatchStaysDeadAndMemoryStaysUsable) {
  KernelRunner runner;
  const int out = runner.AddBuffer(1);
  runner.Program("s_trap 2");
  auto dispatch = runner.Start();
  EXPECT_EQ(dispatch->Step(10), Dispatch::State::kFault);
  const uint64_t executed = dispatch->stats().wave_instructions;
  EXPECT_EQ(dispatch->Step(10), Dispatch::State::kFault);
  EXPECT_EQ(dispatch->stats().wave_instructions, executed);
  runner.Program("v_mov_b32 v1, 0\nv_mov_b32 v2, 9\nglobal_store_b32 v1, v2, s[0:1]\ns_endpgm");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out)[0], 9u);
}

}  // namespace
}  // namespace understudy::emu::amd
