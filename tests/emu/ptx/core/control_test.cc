// SPDX-License-Identifier: Apache-2.0
// Control flow of warps: lanes part and meet again, wait for one another, call and return, and what cannot
// end is reported with both places.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/emu/ptx/ptx_runner.h"

namespace understudy::emu::ptx {
namespace {

std::string Kernel(const std::string& body, const std::string& before = "") {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p, %q;\n.reg .b32 %r<20>;\n.reg .b64 %o, %i, "
         "%d<8>;\n"
         "ld.param.u64 %o, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %i, %r0, 4;\nadd.s64 %i, %o, %i;\n" +
         body + "\n}\n";
}

struct Outcome {
  LaunchFault fault;
  std::vector<uint32_t> values;
  std::string printed;
};

Outcome RunKernel(const std::string& ptx, uint32_t threads, Dim3 grid = {}, uint32_t words = 0) {
  Outcome outcome;
  PtxRunner runner(ptx);
  EXPECT_TRUE(runner.status().ok()) << runner.status();
  if (!runner.status().ok()) return outcome;
  runner.options.instruction_budget = 1 << 24;
  if (words == 0) words = threads;
  const uint64_t out = runner.Allocate(words * 4, "out");
  const auto result = runner.Run("k", grid, Dim3{threads}, {out});
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return outcome;
  outcome.fault = result->fault;
  outcome.values = runner.Values<uint32_t>(out, words);
  outcome.printed = runner.printed;
  return outcome;
}

TEST(ControlTest, LanesMeetBehindABranch) {
  const Outcome o = RunKernel(
      Kernel("setp.lt.u32 %p, %r0, 7;\n@%p bra A;\nmov.u32 %r1, 5;\nbra.uni B;\nA:\nmov.u32 %r1, 9;\n"
             "B:\nactivemask.b32 %r2;\nadd.u32 %r1, %r1, %r2;\nst.global.u32 [%i], %r1;\nret;"),
      32);
  EXPECT_EQ(o.fault.message, "");
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(o.values[t], 0xffffffffu + (t < 7 ? 9 : 5)) << t;
}

TEST(ControlTest, EarlyReturnsDoNotKeepTheOthersApart) {
  const Outcome o = RunKernel(
      Kernel("setp.lt.u32 %p, %r0, 7;\n@%p bra A;\nbra.uni B;\nA:\nsetp.lt.u32 %q, %r0, 3;\n@%q bra R;\n"
             "mov.u32 %r3, 1;\nB:\nactivemask.b32 %r2;\nst.global.u32 [%i], %r2;\nret;\nR:\nret;"),
      32);
  EXPECT_EQ(o.fault.message, "");
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(o.values[t], t < 3 ? 0u : ~7u) << t;
}

TEST(ControlTest, LoopsOfDifferentLengthsMeet) {
  const Outcome o =
      RunKernel(Kernel("mov.u32 %r1, 0;\nL:\nadd.u32 %r1, %r1, 3;\nsetp.lt.u32 %p, %r1, %r0;\n@%p bra L;\n"
                       "activemask.b32 %r2;\nxor.b32 %r1, %r1, %r2;\nst.global.u32 [%i], %r1;\nret;"),
                32);
  EXPECT_EQ(o.fault.message, "");
  for (uint32_t t = 0; t < 32; ++t) {
    uint32_t x = 0;
    do x += 3;
    while (x < t);
    EXPECT_EQ(o.values[t], ~x) << t;
  }
}

TEST(ControlTest, LanesSpinOnALockThatLanesOfTheirWarpHold) {
  // The loop's end is where lanes meet: those that have left it must still go on and free the lock.
  const Outcome o = RunKernel(
      Kernel("L:\natom.global.cas.b32 %r1, [lock], 0, 1;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra L;\n"
             "ld.volatile.global.u32 %r2, [sum];\nadd.u32 %r2, %r2, 1;\nst.volatile.global.u32 [sum], %r2;\n"
             "st.global.u32 [%i], %r2;\natom.global.exch.b32 %r3, [lock], 0;\nret;",
             ".global .u32 lock;\n.global .u32 sum;\n"),
      64);
  EXPECT_EQ(o.fault.message, "");
  uint64_t total = 0;
  for (uint32_t v : o.values) total += v;
  EXPECT_EQ(total, 64u * 65 / 2);
}

TEST(ControlTest, ShufflesAtDifferentPlacesMeet) {
  const Outcome o =
      RunKernel(Kernel("setp.lt.u32 %p, %r0, 16;\nxor.b32 %r4, %r0, 16;\n@%p bra A;\nadd.u32 %r2, %r0, 100;\n"
                       "shfl.sync.idx.b32 %r1, %r2, %r4, 31, -1;\nbra.uni B;\nA:\nadd.u32 %r3, %r0, 200;\n"
                       "shfl.sync.idx.b32 %r1, %r3, %r4, 31, -1;\nB:\nst.global.u32 [%i], %r1;\nret;"),
                32);
  EXPECT_EQ(o.fault.message, "");
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(o.values[t], (t ^ 16) + (t < 16 ? 100 : 200)) << t;
}

TEST(ControlTest, AShuffleBehindDivergenceSeesAllLanes) {
  const Outcome o = RunKernel(
      Kernel("setp.eq.u32 %p, %r0, 0;\nmov.u32 %r1, 7;\n@%p bra A;\nbra.uni B;\nA:\nmov.u32 %r1, 1234;\n"
             "B:\nshfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\nst.global.u32 [%i], %r2;\nret;"),
      32);
  EXPECT_EQ(o.fault.message, "");
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(o.values[t], 1234u);
}

TEST(ControlTest, BranchTables) {
  const Outcome o = RunKernel(
      Kernel("rem.u32 %r1, %r0, 3;\nts: .branchtargets A, B, C;\nbrx.idx %r1, ts;\nA:\nmov.u32 %r2, 10;\n"
             "bra.uni E;\nB:\nmov.u32 %r2, 20;\nbra.uni E;\nC:\nmov.u32 %r2, 30;\nE:\nst.global.u32 [%i], "
             "%r2;\nret;"),
      32);
  EXPECT_EQ(o.fault.message, "");
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(o.values[t], 10 * (t % 3 + 1)) << t;
}

constexpr const char* kFib =
    ".func (.param .b32 r) fib(.param .b32 n)\n{\n.reg .pred %p;\n.reg .b32 %a<6>;\nld.param.u32 %a0, [n];\n"
    "setp.lt.s32 %p, %a0, 2;\n@%p bra D;\nsub.s32 %a1, %a0, 1;\n{\n.param .b32 x;\n.param .b32 "
    "y;\nst.param.b32 [x], "
    "%a1;\ncall (y), fib, (x);\nld.param.b32 %a2, [y];\n}\nsub.s32 %a1, %a0, 2;\n{\n.param .b32 x;\n.param "
    ".b32 y;\n"
    "st.param.b32 [x], %a1;\ncall (y), fib, (x);\nld.param.b32 %a3, [y];\n}\nadd.s32 %a0, %a2, %a3;\nD:\n"
    "st.param.b32 [r], %a0;\nret;\n}\n";

TEST(ControlTest, EveryLaneRecursesByItself) {
  const Outcome o =
      RunKernel(Kernel("rem.u32 %r1, %r0, 11;\n{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %r1;\n"
                       "call (y), fib, (x);\nld.param.b32 %r2, [y];\n}\nst.global.u32 [%i], %r2;\nret;",
                       kFib),
                32);
  EXPECT_EQ(o.fault.message, "");
  const uint32_t fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55};
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(o.values[t], fib[t % 11]) << t;
}

TEST(ControlTest, EndlessRecursionIsAStackOverflow) {
  const Outcome o = RunKernel(Kernel("call f;\nret;", ".func f()\n{\ncall f;\nret;\n}\n"), 32);
  EXPECT_EQ(o.fault.kind, FaultKind::kStackOverflow) << o.fault.message;
}

TEST(ControlTest, WarpsExchangeThroughSharedMemoryAndBarriers) {
  const Outcome o = RunKernel(
      Kernel("mov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r3, %r1, %r2;\nst.shared.u32 [%r3], %r0;\n"
             "bar.sync 0;\nxor.b32 %r4, %r2, 508;\nadd.u32 %r4, %r1, %r4;\nld.shared.u32 %r5, [%r4];\n"
             "st.global.u32 [%i], %r5;\nret;",
             ".shared .align 4 .b8 s[512];\n"),
      128);
  EXPECT_EQ(o.fault.message, "");
  for (uint32_t t = 0; t < 128; ++t) EXPECT_EQ(o.values[t], 127 - t) << t;
}

TEST(ControlTest, BarrierReductionsCountAllThreads) {
  const Outcome o =
      RunKernel(Kernel("setp.lt.u32 %p, %r0, 50;\nbarrier.sync 1, 128;\nbar.red.popc.u32 %r1, 0, %p;\n"
                       "st.global.u32 [%i], %r1;\nret;"),
                128);
  EXPECT_EQ(o.fault.message, "");
  for (uint32_t t = 0; t < 128; ++t) EXPECT_EQ(o.values[t], 50u) << t;
}

TEST(ControlTest, BarriersThatCannotBeCompleteNameBothPlaces) {
  const Outcome o = RunKernel(
      Kernel("setp.lt.u32 %p, %r0, 32;\n@%p bra A;\nbar.sync 1, 64;\nret;\nA:\nbar.sync 2, 64;\nret;"), 64);
  EXPECT_EQ(o.fault.kind, FaultKind::kHang);
  EXPECT_NE(o.fault.message.find("bar.sync 1, 64"), std::string::npos) << o.fault.message;
  EXPECT_NE(o.fault.message.find("bar.sync 2, 64"), std::string::npos) << o.fault.message;
}

TEST(ControlTest, PrintfFormatsItsArguments) {
  const Outcome o = RunKernel(
      Kernel(
          ".local .align 8 .b8 buf[16];\n.reg .b64 %a, %b;\nmov.u64 %a, buf;\ncvta.local.u64 %a, %a;\n"
          "st.u32 [%a], 42;\nst.u64 [%a+8], 0x3ff8000000000000;\nmov.u64 %b, fmt;\ncvta.global.u64 %b, %b;\n"
          "{\n.param .b64 x;\n.param .b64 y;\n.param .b32 z;\nst.param.b64 [x], %b;\nst.param.b64 [y], %a;\n"
          "call (z), vprintf, (x, y);\nld.param.b32 %r5, [z];\n}\nst.global.u32 [%i], %r5;\nret;",
          ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
          ".global .align 1 .b8 fmt[12] = {37, 52, 100, 124, 37, 46, 50, 102, 37, 37, 10, 0};\n"),
      1);
  EXPECT_EQ(o.fault.message, "");
  EXPECT_EQ(o.printed, "  42|1.50%\n");
  EXPECT_EQ(o.values[0], 2u);
}

TEST(ControlTest, CtasWaitForLaterOnes) {
  // CTA 0 spins until the last one has come.
  const Outcome o = RunKernel(
      Kernel("mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra A;\nL:\nld.volatile.global.u32 %r2, "
             "[flag];\nsetp.eq.u32 %p, %r2, 0;\n@%p bra L;\nst.global.u32 [%i], %r2;\nret;\nA:\n"
             "setp.ne.u32 %p, %r1, 9;\n@%p bra X;\nst.volatile.global.u32 [flag], 77;\nX:\nret;",
             ".global .u32 flag;\n"),
      32, Dim3{10});
  EXPECT_EQ(o.fault.message, "");
  for (uint32_t v : o.values) EXPECT_EQ(v, 77u);
}

TEST(ControlTest, FaultsNameThePlace) {
  const Outcome o = RunKernel(Kernel("setp.eq.u32 %p, %r0, 37;\n@%p trap;\nret;"), 64);
  EXPECT_EQ(o.fault.kind, FaultKind::kTrap);
  EXPECT_EQ(o.fault.warp, 1);
  EXPECT_EQ(o.fault.thread.x, 37u);
  EXPECT_EQ(o.fault.text, "@%p trap;");
}

constexpr const char* kTwoFunctions =
    ".func (.reg .b32 r) one(.reg .b32 a)\n{\nadd.u32 r, a, 1;\nret;\n}\n"
    ".func (.reg .b32 r) two(.reg .b32 a)\n{\nmul.lo.u32 r, a, a;\nret;\n}\n";

TEST(ControlTest, LanesCallDifferentFunctionsThroughARegister) {
  const Outcome o = RunKernel(
      Kernel(
          "mov.u64 %d0, one;\nmov.u64 %d1, two;\nand.b32 %r1, %r0, 1;\nsetp.eq.u32 %p, %r1, 0;\n"
          "selp.b64 %d2, %d0, %d1, %p;\nproto: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n"
          "call (%r2), %d2, (%r0), proto;\nactivemask.b32 %r3;\nnot.b32 %r3, %r3;\nadd.u32 %r2, %r2, %r3;\n"
          "st.global.u32 [%i], %r2;\nret;",
          kTwoFunctions),
      32);
  EXPECT_EQ(o.fault.message, "");
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(o.values[t], t % 2 == 0 ? t + 1 : t * t) << t;
}

TEST(ControlTest, CallsOfNoFunctionAreFaults) {
  const Outcome o =
      RunKernel(Kernel("mov.u64 %d2, 4096;\nproto: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n"
                       "call (%r2), %d2, (%r0), proto;\nret;"),
                32);
  EXPECT_EQ(o.fault.kind, FaultKind::kInvalidTarget) << o.fault.message;
}

TEST(ControlTest, ProducersArriveAndConsumersWait) {
  // Warp 0 writes and arrives without waiting; warp 1 waits for both.
  const Outcome o = RunKernel(
      Kernel("mov.u32 %r1, s;\nand.b32 %r2, %r0, 31;\nshl.b32 %r2, %r2, 2;\nadd.u32 %r1, %r1, %r2;\n"
             "setp.lt.u32 %p, %r0, 32;\n@%p bra A;\nbar.sync 3, 64;\nld.shared.u32 %r3, [%r1];\n"
             "st.global.u32 [%i], %r3;\nret;\nA:\nadd.u32 %r4, %r0, 500;\nst.shared.u32 [%r1], %r4;\n"
             "bar.arrive 3, 64;\nret;",
             ".shared .align 4 .b8 s[128];\n"),
      64);
  EXPECT_EQ(o.fault.message, "");
  for (uint32_t t = 32; t < 64; ++t) EXPECT_EQ(o.values[t], t - 32 + 500) << t;
}

TEST(ControlTest, WarpsThatHaveExitedAreNotWaitedFor) {
  const Outcome o = RunKernel(
      Kernel("setp.ge.u32 %p, %r0, 40;\n@%p exit;\nbar.sync 0;\nst.global.u32 [%i], 1;\nret;"), 128);
  EXPECT_EQ(o.fault.message, "");
  for (uint32_t t = 0; t < 128; ++t) EXPECT_EQ(o.values[t], t < 40 ? 1u : 0u) << t;
}

TEST(ControlTest, VotesOfAMemberMaskCountItsLanesOnly) {
  const Outcome o = RunKernel(
      Kernel("setp.lt.u32 %p, %r0, 20;\nsetp.lt.u32 %q, %r0, 16;\n@%q bra A;\nvote.sync.ballot.b32 %r1, %p, "
             "0xffff0000;\n"
             "bra.uni B;\nA:\nvote.sync.ballot.b32 %r1, %p, 0xffff;\nB:\nst.global.u32 [%i], %r1;\nret;"),
      32);
  EXPECT_EQ(o.fault.message, "");
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(o.values[t], t < 16 ? 0xffffu : 0xf0000u) << t;
}

TEST(ControlTest, AMemberThatWaitsElsewhereForEverIsAHang) {
  const Outcome o = RunKernel(
      Kernel(
          "setp.lt.u32 %p, %r0, 8;\n@%p bra A;\nbar.sync 5, 64;\nret;\nA:\nbar.warp.sync 0xffffffff;\nret;"),
      32);
  EXPECT_NE(o.fault.kind, FaultKind::kNone);
  const Outcome two = RunKernel(
      Kernel(
          "setp.lt.u32 %p, %r0, 8;\n@%p bra A;\nbar.sync 5, 64;\nret;\nA:\nbar.warp.sync 0xffffffff;\nret;"),
      64);
  EXPECT_EQ(two.fault.kind, FaultKind::kHang);
  EXPECT_NE(two.fault.message.find("bar.warp.sync 0xffffffff"), std::string::npos) << two.fault.message;
  EXPECT_NE(two.fault.message.find("bar.sync 5, 64"), std::string::npos) << two.fault.message;
  EXPECT_NE(two.fault.message.find("0x000000ff"), std::string::npos) << two.fault.message;
}

TEST(ControlTest, ClustersHaveRanksAndABarrier) {
  PtxRunner runner(
      Kernel("mov.u32 %r1, %cluster_ctarank;\nmov.u32 %r2, s;\nst.shared.u32 [%r2], %r1;\n"
             "barrier.cluster.arrive;\nbarrier.cluster.wait;\nxor.b32 %r3, %r1, 1;\n"
             "mapa.shared::cluster.u32 %r4, %r2, %r3;\nld.shared::cluster.u32 %r5, [%r4];\n"
             "mov.u32 %r6, %ctaid.x;\nmul.wide.u32 %d0, %r6, 4;\nadd.u64 %d0, %o, %d0;\n"
             "st.global.u32 [%d0], %r5;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nret;",
             ".shared .align 4 .b8 s[4];\n"));
  ASSERT_TRUE(runner.status().ok()) << runner.status();
  runner.config.cluster = Dim3{2};
  const uint64_t out = runner.Allocate(64);
  const auto result = runner.Run("k", Dim3{6}, Dim3{32}, {out});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->fault.message, "");
  const auto values = runner.Values<uint32_t>(out, 6);
  for (uint32_t i = 0; i < 6; ++i) EXPECT_EQ(values[i], 1 - i % 2) << i;
}

TEST(ControlTest, HostThreadsGiveTheSameResult) {
  for (uint32_t threads : {1u, 2u}) {
    PtxRunner runner(
        Kernel("mov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r2, %r1, 64, %r0;\nred.global.add.u32 [%o], %r2;\nret;"));
    ASSERT_TRUE(runner.status().ok()) << runner.status();
    runner.options.threads = threads;
    const uint64_t out = runner.Allocate(4);
    const auto result = runner.Run("k", Dim3{50}, Dim3{64}, {out});
    ASSERT_TRUE(result.ok() && result->ok());
    EXPECT_EQ(runner.Values<uint32_t>(out, 1)[0], 3200u * 3199 / 2);
    EXPECT_EQ(result->stats.ctas, 50u);
  }
}

TEST(ControlTest, UnresolvedFunctionsAndWrongLaunchesAreRefused) {
  PtxRunner runner(Kernel("call nobody;\nret;", ".extern .func nobody();\n"));
  EXPECT_NE(runner.status().ToString().find("nobody"), std::string::npos) << runner.status();
  PtxRunner fine(Kernel("ret;"));
  ASSERT_TRUE(fine.status().ok());
  const auto result = fine.Run("k", Dim3{1}, Dim3{2048}, {0});
  EXPECT_NE(result.status().ToString().find("2048"), std::string::npos) << result.status();
}

}  // namespace
}  // namespace understudy::emu::ptx
