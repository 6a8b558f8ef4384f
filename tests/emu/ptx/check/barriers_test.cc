// SPDX-License-Identifier: Apache-2.0
// The check of barriers finds each planted misuse, names both places, and says nothing of the nearest right
// program.
#include <gtest/gtest.h>

#include "tests/emu/ptx/check/check_machine.h"

namespace understudy::emu::ptx {
namespace {

constexpr const char* kShared = ".shared .align 8 .b8 s[256];\n";

Checked Barriers(const std::string& body, uint32_t threads, const std::string& level = "warn",
                 const std::string& before = kShared) {
  CheckSetup setup;
  setup.checks = "barriers:" + level;
  setup.threads = threads;
  return RunChecked(CheckKernel(body, before), setup);
}

TEST(BarriersCheckTest, ADivergentBarrierIsFound) {
  const Checked c = Barriers(
      "setp.lt.u32 %p, %r0, 16;\n@%p bra A;\nbar.sync 0;\nbra.uni B;\nA:\nbar.sync 0;\nB:\nret;", 32);
  EXPECT_EQ(c.fault.message, "");
  ASSERT_FALSE(c.reports.empty());
  EXPECT_EQ(c.reports[0].kind, CheckKind::kBarriers);
  EXPECT_NE(c.reports[0].message.find("divergent barrier: lanes 0x"), std::string::npos)
      << c.reports[0].message;
  EXPECT_NE(c.reports[0].message.find("bar.sync 0;"), std::string::npos) << c.reports[0].message;
}

TEST(BarriersCheckTest, TheUnalignedFormMayDiverge) {
  const Checked c = Barriers(
      "setp.lt.u32 %p, %r0, 16;\n@%p bra A;\nbarrier.sync 0;\nbra.uni B;\nA:\nbarrier.sync 0;\nB:\nret;", 32);
  EXPECT_EQ(c.fault.message, "");
  EXPECT_EQ(c.Errors(), "");
}

TEST(BarriersCheckTest, WarpsMayTakeDifferentPaths) {
  const Checked c = Barriers(
      "setp.lt.u32 %p, %r0, 32;\n@%p bra A;\nbar.sync 0;\nbra.uni B;\nA:\nbar.sync 0;\nB:\nret;", 64);
  EXPECT_EQ(c.fault.message, "");
  EXPECT_TRUE(c.reports.empty());
}

TEST(BarriersCheckTest, FailingNamesTheInstruction) {
  const Checked c = Barriers("setp.lt.u32 %p, %r0, 16;\n@%p bra A;\nbar.sync 0;\nA:\nret;", 32, "fail");
  EXPECT_EQ(c.fault.kind, FaultKind::kCheck);
  EXPECT_NE(c.fault.message.find("divergent barrier"), std::string::npos) << c.fault.message;
  EXPECT_NE(c.fault.message.find("bar.sync 0;"), std::string::npos) << c.fault.message;
}

TEST(BarriersCheckTest, ExitedLanesAreAWarning) {
  const Checked c = Barriers("setp.lt.u32 %p, %r0, 5;\n@%p exit;\nbar.sync 0;\nret;", 32, "fail");
  EXPECT_EQ(c.fault.message, "");
  EXPECT_EQ(c.Errors(), "");
  EXPECT_NE(c.Errors(CheckSeverity::kWarning).find("lanes 0x0000001f of the warp have exited"),
            std::string::npos);
}

TEST(BarriersCheckTest, ACountThatExitedWarpsCannotFillIsFound) {
  const std::string body = "setp.ge.u32 %p, %r0, 64;\n@%p exit;\nbar.sync 1, ";
  const Checked bad = Barriers(body + "96;\nret;", 96);
  EXPECT_EQ(bad.fault.kind, FaultKind::kHang);
  EXPECT_NE(bad.fault.message.find("at barrier 1 (64 of 96 threads have come)"), std::string::npos)
      << bad.fault.message;
  const Checked good = Barriers(body + "64;\nret;", 96);
  EXPECT_EQ(good.fault.message, "");
  EXPECT_TRUE(good.reports.empty());
}

TEST(BarriersCheckTest, ACountTooManyAfterExitIsNamed) {
  // One warp: it exits no lane itself, but the others have gone.
  const Checked c = Barriers(
      "setp.ge.u32 %p, %r0, 32;\n@%p exit;\nmov.u32 %r1, 0;\nL:\nadd.u32 %r1, %r1, 1;\n"
      "setp.lt.u32 %q, %r1, 4000;\n@%q bra L;\nbar.sync 1, 64;\nret;",
      64);
  EXPECT_EQ(c.fault.kind, FaultKind::kHang);
  EXPECT_NE(c.Errors().find("barrier 1 wants 64 threads, of which only 32 have not exited"),
            std::string::npos)
      << c.Errors();
}

TEST(BarriersCheckTest, AReductionMixedWithASyncIsFound) {
  const std::string body =
      "setp.lt.u32 %p, %r0, 32;\nsetp.lt.u32 %q, %r0, 3;\n@%p bra A;\nbar.sync 2;\nbra.uni B;\nA:\n"
      "bar.red.popc.u32 %r1, 2, %q;\nB:\nret;";
  const Checked c = Barriers(body, 64);
  EXPECT_NE(c.Errors().find("in a phase of barrier 2 that line"), std::string::npos) << c.Errors();
  const Checked good =
      Barriers("setp.lt.u32 %q, %r0, 3;\nbar.red.popc.u32 %r1, 2, %q;\nbar.sync 2;\nret;", 64);
  EXPECT_TRUE(good.reports.empty()) << good.Errors();
}

TEST(BarriersCheckTest, ArrivalsThatNobodyWaitsForAreFoundAtTheEnd) {
  const Checked c =
      Barriers("setp.lt.u32 %p, %r0, 32;\n@!%p bra B;\nbar.arrive 3, 64;\nB:\nret;", 64, "fail");
  EXPECT_EQ(c.fault.kind, FaultKind::kCheck);
  EXPECT_NE(c.fault.message.find("ended with 32 of 64 threads at barrier 3"), std::string::npos)
      << c.fault.message;
  const Checked good = Barriers(
      "setp.lt.u32 %p, %r0, 32;\n@!%p bra B;\nbar.arrive 3, 64;\nbra.uni C;\nB:\nbar.sync 3, 64;\nC:\nret;",
      64);
  EXPECT_TRUE(good.reports.empty()) << good.Errors();
}

TEST(BarriersCheckTest, ALaneOutsideItsMemberMaskIsFound) {
  const Checked c = Barriers("shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffff;\nret;", 32);
  EXPECT_NE(c.Errors().find("lane 16 is not in its own member mask 0x0000ffff"), std::string::npos)
      << c.Errors();
  const Checked w = Barriers("bar.warp.sync 0xff;\nret;", 32);
  EXPECT_NE(w.Errors().find("lane 8 is not in its own member mask"), std::string::npos) << w.Errors();
  const Checked good =
      Barriers("setp.lt.u32 %p, %r0, 16;\n@%p shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffff;\nret;", 32);
  EXPECT_TRUE(good.reports.empty()) << good.Errors();
}

TEST(BarriersCheckTest, ExitedLanesOfAMemberMaskAreAWarning) {
  const std::string exit = "setp.ge.u32 %p, %r0, 20;\n@%p exit;\n";
  for (const char* all : {"bar.warp.sync -1;", "vote.sync.ballot.b32 %r1, %p, -1;",
                          "match.any.sync.b32 %r1, %r0, -1;", "redux.sync.add.u32 %r1, %r0, -1;",
                          "elect.sync _|%q, -1;", "shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;"}) {
    const Checked c = Barriers(exit + all + "\nret;", 32, "fail");
    EXPECT_EQ(c.fault.message, "") << all;
    EXPECT_EQ(c.Errors(), "") << all;
    EXPECT_NE(c.Errors(CheckSeverity::kWarning)
                  .find("the member mask 0xffffffff names lanes 0xfff00000, which have exited"),
              std::string::npos)
        << all << c.Errors(CheckSeverity::kWarning);
    EXPECT_NE(c.Errors(CheckSeverity::kWarning).find(all), std::string::npos) << all;
  }
  const Checked good = Barriers(exit + "vote.sync.ballot.b32 %r1, %p, 0xfffff;\nret;", 32);
  EXPECT_TRUE(good.reports.empty()) << good.Errors(CheckSeverity::kWarning);
  // A warp that never had those lanes.
  const Checked partial = Barriers("vote.sync.ballot.b32 %r1, 1, -1;\nret;", 20);
  EXPECT_TRUE(partial.reports.empty()) << partial.Errors(CheckSeverity::kWarning);
}

TEST(BarriersCheckTest, AShuffleFromAnExitedLaneIsAWarning) {
  const std::string exit = "setp.ge.u32 %p, %r0, 20;\n@%p exit;\n";
  const Checked c = Barriers(exit + "shfl.sync.down.b32 %r1, %r0, 16, 31, 0xfffff;\nret;", 32, "fail");
  EXPECT_EQ(c.fault.message, "");
  EXPECT_NE(c.Errors(CheckSeverity::kWarning)
                .find("lane 4 reads a register of lane 20, which has exited: the result is undefined"),
            std::string::npos)
      << c.Errors(CheckSeverity::kWarning);
  // Lanes come to the shuffle at two places: both are looked at together.
  const Checked parted =
      Barriers(exit +
                   "setp.lt.u32 %q, %r0, 4;\n@%q bra A;\nshfl.sync.idx.b32 %r1, %r0, 25, 31, 0xfffff;\n"
                   "ret;\nA:\nshfl.sync.idx.b32 %r2, %r0, 3, 31, 0xfffff;\nret;",
               32, "fail");
  EXPECT_EQ(parted.fault.message, "");
  EXPECT_NE(parted.Errors(CheckSeverity::kWarning).find("reads a register of lane 25, which has exited"),
            std::string::npos)
      << parted.Errors(CheckSeverity::kWarning);
  const Checked good = Barriers(exit + "shfl.sync.idx.b32 %r1, %r0, 19, 31, 0xfffff;\nret;", 32);
  EXPECT_TRUE(good.reports.empty()) << good.Errors(CheckSeverity::kWarning);
}

TEST(BarriersCheckTest, AnMbarrierInitialisedTwiceIsFound) {
  const std::string init = "setp.eq.u32 %p, %r0, 0;\n@%p mbarrier.init.shared.b64 [s], 32;\n";
  const Checked c = Barriers(init + "bar.sync 0;\n@%p mbarrier.init.shared.b64 [s], 32;\nret;", 32);
  EXPECT_NE(c.Errors().find("is initialised again"), std::string::npos) << c.Errors();
  const Checked good = Barriers(
      init + "bar.sync 0;\n@%p mbarrier.inval.shared.b64 [s];\n@%p mbarrier.init.shared.b64 [s], 32;\nret;",
      32);
  EXPECT_EQ(good.Errors(), "");
}

TEST(BarriersCheckTest, AStoreOverAnMbarrierIsFound) {
  const std::string init = "setp.eq.u32 %p, %r0, 0;\n@%p mbarrier.init.shared.b64 [s], 32;\nbar.sync 0;\n";
  const Checked c = Barriers(init + "@%p st.shared.u32 [s+4], %r0;\nret;", 32);
  EXPECT_NE(c.Errors().find("a write over the mbarrier at shared byte 0x0"), std::string::npos) << c.Errors();
  const Checked beside = Barriers(init + "@%p st.shared.u32 [s+8], %r0;\nret;", 32);
  EXPECT_EQ(beside.Errors(), "");
  const Checked after =
      Barriers(init + "@%p mbarrier.inval.shared.b64 [s];\n@%p st.shared.u64 [s], %o;\nret;", 32);
  EXPECT_EQ(after.Errors(), "");
}

TEST(BarriersCheckTest, OverArrivalFaultsWithoutACheck) {
  const std::string body = "setp.eq.u32 %p, %r0, 0;\n@%p mbarrier.init.shared.b64 [s], 31;\nbar.sync 0;\n";
  const Checked c = Barriers(body + "mbarrier.arrive.shared.b64 _, [s], 2;\nret;", 32, "off");
  EXPECT_EQ(c.fault.kind, FaultKind::kBarrier);
  EXPECT_NE(c.fault.message.find("2 arrivals where 1 of 31 are pending"), std::string::npos)
      << c.fault.message;
}

TEST(BarriersCheckTest, UnderArrivalIsAWarningAtTheEnd) {
  const std::string body = "setp.eq.u32 %p, %r0, 0;\n@%p mbarrier.init.shared.b64 [s], 33;\nbar.sync 0;\n";
  const Checked c = Barriers(body + "mbarrier.arrive.shared.b64 %d1, [s];\nret;", 32);
  EXPECT_NE(c.Errors(CheckSeverity::kWarning).find("1 of 33 arrivals and 0 bytes are missing"),
            std::string::npos)
      << c.Errors(CheckSeverity::kWarning);
}

TEST(BarriersCheckTest, AClusterWaitWithoutAnArriveIsFound) {
  const Checked c = Barriers("barrier.cluster.wait.aligned;\nret;", 32);
  EXPECT_NE(c.Errors().find("wait at the cluster's barrier without having arrived"), std::string::npos)
      << c.Errors();
  const Checked good = Barriers("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nret;", 32);
  EXPECT_TRUE(good.reports.empty()) << good.Errors();
}

TEST(BarriersCheckTest, AWaitForLanesThatNeverComeIsAHangWithBothPlaces) {
  const Checked c =
      Barriers("setp.lt.u32 %p, %r0, 16;\n@%p bra A;\nbar.warp.sync -1;\nret;\nA:\nbar.sync 0;\nret;", 32);
  EXPECT_EQ(c.fault.kind, FaultKind::kHang);
  EXPECT_NE(c.fault.message.find("bar.warp.sync -1;"), std::string::npos) << c.fault.message;
  EXPECT_NE(c.fault.message.find("at barrier 0"), std::string::npos) << c.fault.message;
}

TEST(CheckOptionsTest, NamesAndLevels) {
  Checks checks;
  std::string error;
  EXPECT_TRUE(checks.Parse("races:warn,uninit=fail,barriers", &error));
  EXPECT_EQ(checks.races, CheckLevel::kWarn);
  EXPECT_EQ(checks.uninit, CheckLevel::kFail);
  EXPECT_EQ(checks.barriers, CheckLevel::kFail);
  EXPECT_TRUE(checks.Parse("all:off,racecheck,global:warn", &error));
  EXPECT_EQ(checks.races, CheckLevel::kFail);
  EXPECT_EQ(checks.uninit, CheckLevel::kWarn);
  EXPECT_TRUE(checks.uninit_global);
  EXPECT_EQ(checks.barriers, CheckLevel::kOff);
  EXPECT_FALSE(checks.Parse("race", &error));
  EXPECT_EQ(error, "check 'race' is unknown, expected uninit, global, races, barriers or all");
  EXPECT_FALSE(checks.Parse("races:loud", &error));
  EXPECT_EQ(checks.races, CheckLevel::kFail);
}

}  // namespace
}  // namespace understudy::emu::ptx
