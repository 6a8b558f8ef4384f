// SPDX-License-Identifier: Apache-2.0
// The check of races finds each planted race, names both instructions and threads, and says nothing of the
// nearest program in which something orders the two accesses.
#include <gtest/gtest.h>

#include "tests/emu/ptx/check/check_machine.h"

namespace understudy::emu::ptx {
namespace {

constexpr const char* kShared = ".shared .align 16 .b8 s[4096];\n";

Checked Races(const std::string& body, uint32_t threads, Dim3 grid = {}, const std::string& before = kShared,
              const std::string& level = "warn", Dim3 cluster = {}) {
  CheckSetup setup;
  setup.checks = "races:" + level;
  setup.threads = threads;
  setup.grid = grid;
  setup.cluster = cluster;
  Checked checked = RunChecked(CheckKernel(body, before), setup);
  EXPECT_TRUE(level == "fail" || checked.fault.message.empty()) << checked.fault.message;
  return checked;
}

#define EXPECT_RACE(checked, text)                                          \
  do {                                                                      \
    const std::string errors = (checked).Errors();                          \
    EXPECT_NE(errors.find(text), std::string::npos) << "found: " << errors; \
  } while (false)
#define EXPECT_CLEAN(checked)                                                             \
  do {                                                                                    \
    const Checked c_ = (checked);                                                         \
    EXPECT_TRUE(c_.reports.empty()) << c_.Errors() << c_.Errors(CheckSeverity::kWarning); \
  } while (false)

// %r3 is the address of the thread's word in shared memory, %r5 that of the thread `xor` away.
std::string Exchange(const std::string& between, int distance, const std::string& before_store = "") {
  return "mov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r3, %r1, %r2;\nxor.b32 %r5, %r2, " +
         std::to_string(4 * distance) + ";\nadd.u32 %r5, %r1, %r5;\n" + before_store +
         "st.shared.u32 [%r3], %r0;\n" + between +
         "ld.shared.u32 %r6, [%r5];\nst.global.u32 [%i], %r6;\nret;";
}

TEST(RacesCheckTest, AMissingBarrierIsFoundWithBothPlaces) {
  const Checked c = Races(Exchange("", 32), 64);
  ASSERT_FALSE(c.reports.empty());
  const CheckReport& r = c.reports[0];
  EXPECT_EQ(r.kind, CheckKind::kRaces);
  EXPECT_EQ(r.severity, CheckSeverity::kError);
  EXPECT_NE(
      r.message.find("write (after read) of shared byte 0x80 is not ordered with line 22 'ld.shared.u32 %r6, "
                     "[%r5];' by thread (0,0,0) of CTA (0,0,0)"),
      std::string::npos)
      << r.message;
  EXPECT_NE(r.message.find("'st.shared.u32 [%r3], %r0;' in k"), std::string::npos) << r.message;
  EXPECT_EQ(r.where.location.line, 21);
  EXPECT_EQ(r.other.location.line, 22);
  EXPECT_EQ(r.what, "shared byte 0x80");
  EXPECT_NE(r.where.thread.x, r.other.thread.x);
  EXPECT_CLEAN(Races(Exchange("bar.sync 0;\n", 32), 64));
}

TEST(RacesCheckTest, FailingFaults) {
  const Checked c = Races(Exchange("", 32), 64, {}, kShared, "fail");
  EXPECT_EQ(c.fault.kind, FaultKind::kCheck);
  EXPECT_NE(c.fault.message.find("is not ordered with"), std::string::npos) << c.fault.message;
}

TEST(RacesCheckTest, LanesOfAWarpAreThreads) {
  EXPECT_RACE(Races(Exchange("", 1), 32), "read (after write)");
  EXPECT_CLEAN(Races(Exchange("bar.warp.sync -1;\n", 1), 32));
  // A shuffle is no fence.
  EXPECT_RACE(Races(Exchange("shfl.sync.idx.b32 %r9, %r0, 0, 31, -1;\n", 1), 32), "read (after write)");
  // A warp's barrier does not order warps.
  EXPECT_RACE(Races(Exchange("bar.warp.sync -1;\n", 32), 64), "read (after write)");
}

TEST(RacesCheckTest, AWriteAfterReadsIsFound) {
  // The second round's store overtakes the first round's loads.
  const std::string again = "st.shared.u32 [%r3], %r6;\nret;";
  const std::string body = Exchange("bar.sync 0;\n", 32);
  EXPECT_RACE(Races(body.substr(0, body.size() - 4) + again, 64), "not ordered");
  EXPECT_CLEAN(Races(body.substr(0, body.size() - 4) + "bar.sync 0;\n" + again, 64));
}

TEST(RacesCheckTest, WritesOfOneInstructionToOnePlace) {
  EXPECT_RACE(Races("mov.u32 %r1, s;\nst.shared.u32 [%r1], %r0;\nret;", 32), "write (after write)");
  // The same value is a warning.
  const Checked same =
      Races("mov.u32 %r1, s;\nmov.u32 %r2, 7;\nst.shared.u32 [%r1], %r2;\nret;", 64, {}, kShared, "fail");
  EXPECT_EQ(same.fault.message, "");
  EXPECT_EQ(same.Errors(), "");
  EXPECT_NE(same.Errors(CheckSeverity::kWarning).find("both leave the same value"), std::string::npos);
  EXPECT_CLEAN(Races("mov.u32 %r1, s;\nsetp.eq.u32 %p, %r0, 3;\n@%p st.shared.u32 [%r1], %r0;\nret;", 32));
}

TEST(RacesCheckTest, BytesOfAWordAreApart) {
  const std::string body = "mov.u32 %r1, s;\nadd.u32 %r3, %r1, %r0;\nst.shared.u8 [%r3], %r0;\n";
  EXPECT_CLEAN(Races(body + "ret;", 64));
  EXPECT_RACE(
      Races(body + "and.b32 %r4, %r0, 60;\nadd.u32 %r4, %r4, %r1;\nld.shared.u32 %r5, [%r4];\nret;", 64),
      "read (after write)");
}

TEST(RacesCheckTest, NamedBarriersOrderTheirThreadsOnly) {
  // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2.
  const std::string meet = "shr.u32 %r9, %r0, 6;\nadd.u32 %r9, %r9, 1;\nbar.sync %r9, 64;\n";
  EXPECT_CLEAN(Races(Exchange(meet, 32), 128));
  EXPECT_RACE(Races(Exchange(meet, 64), 128), "read (after write)");
}

TEST(RacesCheckTest, ArriveReleasesAndSyncAcquires) {
  const std::string start =
      "mov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r3, %r1, %r2;\nsetp.lt.u32 %p, %r0, 32;\n"
      "@%p bra A;\n";
  // Warp 1 consumes what warp 0 produces.
  const std::string consume = "bar.sync 1, 64;\nld.shared.u32 %r6, [%r3+-128];\nret;\nA:\n";
  EXPECT_CLEAN(Races(start + consume + "st.shared.u32 [%r3], %r0;\nbar.arrive 1, 64;\nret;", 64));
  EXPECT_RACE(Races(start + consume + "bar.arrive 1, 64;\nst.shared.u32 [%r3], %r0;\nret;", 64),
              "not ordered");
}

TEST(RacesCheckTest, AtomicsDoNotRaceWithEachOther) {
  const std::string add = "mov.u32 %r1, s;\natom.shared.add.u32 %r2, [%r1], %r0;\n";
  EXPECT_CLEAN(Races(add + "ret;", 128));
  EXPECT_CLEAN(Races(add + "bar.sync 0;\nld.shared.u32 %r4, [%r1];\nret;", 128));
  EXPECT_RACE(Races(add + "ld.shared.u32 %r4, [%r1];\nret;", 128), "not ordered");
  EXPECT_CLEAN(Races(add + "ld.volatile.shared.u32 %r4, [%r1];\nret;", 128));
}

TEST(RacesCheckTest, APlainLoadBeforeALoopOfCompareAndSwapIsAWarning) {
  const std::string body =
      "ld.global.u32 %r1, [%o];\nL:\nadd.u32 %r2, %r1, 1;\natom.global.cas.b32 %r3, [%o], %r1, %r2;\n"
      "setp.ne.u32 %p, %r1, %r3;\nmov.u32 %r1, %r3;\n@%p bra L;\nret;";
  const Checked c = Races(body, 64, {}, kShared, "fail");
  EXPECT_EQ(c.fault.message, "");
  EXPECT_EQ(c.Errors(), "");
  EXPECT_NE(c.Errors(CheckSeverity::kWarning).find("a compare-and-swap, which tells"), std::string::npos);
  EXPECT_EQ(c.values[0], 64u);
}

TEST(RacesCheckTest, BlocksRaceInGlobalMemory) {
  const std::string body = "mov.u32 %r1, %ctaid.x;\n";
  EXPECT_RACE(Races(body + "st.global.u32 [%i], %r1;\nret;", 32, Dim3{2}),
              "by thread (0,0,0) of CTA (0,0,0)");
  EXPECT_CLEAN(Races("red.global.add.u32 [%i], 1;\nret;", 32, Dim3{2}));
  // An atomic of the CTA's scope is none for another CTA.
  EXPECT_RACE(Races("red.relaxed.cta.global.add.u32 [%i], 1;\nret;", 32, Dim3{2}), "write (after write)");
  EXPECT_CLEAN(Races("red.relaxed.cta.global.add.u32 [%o], 1;\nret;", 64));
}

// Block 0 writes a word and then a flag; block 1 waits for the flag and reads the word.
std::string Message(const std::string& publish, const std::string& wait) {
  return "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p, %r1, 0;\n@!%p bra R;\nst.global.u32 [%o], 42;\n" + publish +
         "ret;\nR:\n" + wait + "setp.eq.u32 %q, %r3, 0;\n@%q bra R;\n";
}
constexpr const char* kRead = "ld.global.u32 %r4, [%o];\nst.global.u32 [%o+8], %r4;\nret;";

TEST(RacesCheckTest, ReleaseAndAcquireOrderBlocks) {
  const std::string release = "st.release.gpu.global.u32 [%o+4], 1;\n",
                    relaxed = "st.relaxed.gpu.global.u32 [%o+4], 1;\n";
  const std::string acquire = "ld.acquire.gpu.global.u32 %r3, [%o+4];\n",
                    plain = "ld.relaxed.gpu.global.u32 %r3, [%o+4];\n";
  const Checked good = Races(Message(release, acquire) + kRead, 1, Dim3{2});
  EXPECT_CLEAN(good);
  EXPECT_EQ(good.values[2], 42u);
  EXPECT_RACE(Races(Message(relaxed, acquire) + kRead, 1, Dim3{2}), "read (after write) of address");
  EXPECT_RACE(Races(Message(release, plain) + kRead, 1, Dim3{2}), "read (after write) of address");
  // A release for the CTA is none for another.
  EXPECT_RACE(Races(Message("st.release.cta.global.u32 [%o+4], 1;\n", acquire) + kRead, 1, Dim3{2}),
              "not ordered");
}

TEST(RacesCheckTest, FencesAroundStrongAccessesOrderBlocks) {
  const std::string volatile_wait = "ld.volatile.global.u32 %r3, [%o+4];\n";
  const std::string fence = "membar.gl;\n", volatile_store = "st.volatile.global.u32 [%o+4], 1;\n";
  EXPECT_CLEAN(Races(Message(fence + volatile_store, volatile_wait) + fence + kRead, 1, Dim3{2}));
  EXPECT_RACE(Races(Message(volatile_store, volatile_wait) + fence + kRead, 1, Dim3{2}), "not ordered");
  EXPECT_RACE(Races(Message(fence + volatile_store, volatile_wait) + kRead, 1, Dim3{2}), "not ordered");
  // A fence of the CTA's scope does not reach another.
  EXPECT_RACE(Races(Message("membar.cta;\n" + volatile_store, volatile_wait) + fence + kRead, 1, Dim3{2}),
              "not ordered");
  EXPECT_CLEAN(Races(Message("fence.acq_rel.gpu;\nred.global.add.u32 [%o+4], 1;\n", volatile_wait) +
                         "fence.acq_rel.gpu;\n" + kRead,
                     1, Dim3{2}));
}

TEST(RacesCheckTest, TheLastBlockReadsWhatAllHaveWritten) {
  // The pattern of threadFenceReduction: each block writes its part, fences, and takes a ticket.
  const auto body = [](const std::string& fence) {
    return "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %d1, %r1, 4;\nadd.s64 %d1, %o, %d1;\nsetp.eq.u32 %p, %r0, "
           "0;\n"
           "@!%p bra E;\nadd.u32 %r2, %r1, 1;\nst.global.u32 [%d1+64], %r2;\n" +
           fence + "atom.global.inc.u32 %r3, [%o], 1000;\nsetp.ne.u32 %q, %r3, 7;\n@%q bra E;\n" + fence +
           "mov.u32 %r4, 0;\nmov.u32 %r5, 0;\nL:\nmul.wide.u32 %d2, %r5, 4;\nadd.s64 %d2, %o, %d2;\n"
           "ld.global.u32 %r6, [%d2+64];\nadd.u32 %r4, %r4, %r6;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %q, %r5, "
           "8;\n"
           "@%q bra L;\nst.global.u32 [%o+4], %r4;\nE:\nret;";
  };
  const Checked good = Races(body("membar.gl;\n"), 32, Dim3{8});
  EXPECT_CLEAN(good);
  EXPECT_EQ(good.values[1], 36u);
  EXPECT_RACE(Races(body(""), 32, Dim3{8}), "read (after write) of address");
}

TEST(RacesCheckTest, ClusterBarriersOrderSharedMemoryOfOthers) {
  const auto body = [](const std::string& arrive, const std::string& wait) {
    return "mov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r3, %r1, %r2;\nst.shared.u32 [%r3], %r0;\n" +
           arrive + wait +
           "mov.u32 %r4, %cluster_ctarank;\nxor.b32 %r4, %r4, 1;\nmapa.shared::cluster.u32 %r5, %r3, %r4;\n"
           "ld.shared::cluster.u32 %r6, "
           "[%r5];\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nret;";
  };
  const Dim3 two{2};
  EXPECT_CLEAN(Races(body("barrier.cluster.arrive.aligned;\n", "barrier.cluster.wait.aligned;\n"), 64, two,
                     kShared, "warn", two));
  EXPECT_RACE(Races(body("", ""), 64, two, kShared, "warn", two), "not ordered");
  EXPECT_RACE(Races(body("barrier.cluster.arrive.relaxed.aligned;\n", "barrier.cluster.wait.aligned;\n"), 64,
                    two, kShared, "warn", two),
              "not ordered");
}

// Warp 0 produces, warp 1 waits at the mbarrier in the first 8 bytes.
std::string Pipeline(const std::string& produce, const std::string& wait) {
  return "setp.eq.u32 %p, %r0, 0;\n@%p mbarrier.init.shared.b64 [s], 32;\nbar.sync 0;\nmov.u32 %r1, s;\n"
         "shl.b32 %r2, %r0, 2;\nadd.u32 %r3, %r1, %r2;\nsetp.lt.u32 %q, %r0, 32;\n@%q bra P;\n" +
         wait + "ld.shared.u32 %r6, [%r3+128];\nst.global.u32 [%i], %r6;\nret;\nP:\n" + produce + "ret;";
}

TEST(RacesCheckTest, MbarriersOrderProducersAndConsumers) {
  const std::string store = "st.shared.u32 [%r3+256], %r0;\n",
                    arrive = "mbarrier.arrive.shared.b64 %d1, [s];\n";
  const std::string wait = "W:\nmbarrier.try_wait.parity.shared.b64 %s, [s], 0;\n@!%s bra W;\n";
  const Checked good = Races(Pipeline(store + arrive, wait), 64);
  EXPECT_CLEAN(good);
  EXPECT_EQ(good.values[40], 8u);
  EXPECT_RACE(Races(Pipeline(arrive + store, wait), 64), "not ordered");
  EXPECT_RACE(Races(Pipeline(store + arrive, ""), 64), "not ordered");
}

TEST(RacesCheckTest, AnMbarrierMustBeInitialisedBeforeOthersUseIt) {
  // The init is ordered by nothing, though it comes first in this schedule.
  EXPECT_RACE(Races("setp.eq.u32 %p, %r0, 0;\n@%p mbarrier.init.shared.b64 [s], 64;\n"
                    "mbarrier.arrive.shared.b64 %d1, [s];\nret;",
                    32),
              "not ordered");
}

TEST(RacesCheckTest, AsynchronousCopiesNeedTheirWait) {
  const auto body = [](const std::string& wait) {
    return "mov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r3, %r1, %r2;\n"
           "cp.async.ca.shared.global [%r3], [%i], 4;\ncp.async.commit_group;\n" +
           wait + "xor.b32 %r5, %r2, 128;\nadd.u32 %r5, %r1, %r5;\nld.shared.u32 %r6, [%r5];\nret;";
  };
  EXPECT_CLEAN(Races(body("cp.async.wait_group 0;\nbar.sync 0;\n"), 64));
  EXPECT_CLEAN(Races(body("cp.async.wait_all;\nbar.sync 0;\n"), 64));
  const Checked no_wait = Races(body("bar.sync 0;\n"), 64);
  EXPECT_RACE(no_wait, "by an asynchronous copy of CTA (0,0,0)");
  EXPECT_RACE(Races(body("cp.async.wait_group 1;\nbar.sync 0;\n"), 64), "not ordered");
  EXPECT_RACE(Races(body("bar.sync 0;\ncp.async.wait_group 0;\n"), 64), "not ordered");
}

TEST(RacesCheckTest, BulkCopiesEndAtTheirMbarrier) {
  const auto body = [](const std::string& wait) {
    return "setp.eq.u32 %p, %r0, 0;\n@%p mbarrier.init.shared.b64 [s], 1;\nbar.sync 0;\nmov.u32 %r1, s;\n"
           "shl.b32 %r2, %r0, 2;\nadd.u32 %r3, %r1, %r2;\n@!%p bra W;\n"
           "mbarrier.arrive.expect_tx.shared.b64 %d1, [s], 256;\n"
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s+256], [%o], 256, "
           "[s];\nW:\n" +
           wait + "ld.shared.u32 %r6, [%r3+256];\nret;";
  };
  EXPECT_CLEAN(Races(body("mbarrier.try_wait.parity.shared.b64 %s, [s], 0;\n@!%s bra W;\n"), 64));
  EXPECT_RACE(Races(body("bar.sync 0;\n"), 64), "by an asynchronous copy");
}

TEST(RacesCheckTest, BulkStoresReadUntilTheirGroupIsWaitedFor) {
  const auto body = [](const std::string& wait) {
    return "mov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r3, %r1, %r2;\nst.shared.u32 [%r3], %r0;\n"
           "fence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.eq.u32 %p, %r0, 0;\n@!%p bra E;\n"
           "cp.async.bulk.global.shared::cta.bulk_group [%o], [s], 128;\ncp.async.bulk.commit_group;\n" +
           wait + "E:\nbar.sync 0;\nst.shared.u32 [%r3], %r2;\nret;";
  };
  EXPECT_CLEAN(Races(body("cp.async.bulk.wait_group.read 0;\n"), 32));
  EXPECT_RACE(Races(body(""), 32), "write (after read)");
}

}  // namespace
}  // namespace understudy::emu::ptx
