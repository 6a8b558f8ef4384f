// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies: nothing arrives before the wait that makes it due, everything after; mbarrier phases.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/emu/ptx/memory/memory_machine.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint64_t kBuffer = 0x7f0000000000;

uint32_t Word(const uint8_t* at) {
  uint32_t v;
  std::memcpy(&v, at, 4);
  return v;
}

class Async : public ::testing::Test {
 protected:
  Async() : m({.ctas = 2, .warps = 2}) {
    buffer = m.Map(kBuffer, 8192, "src");
    for (uint32_t i = 0; i < 2048; ++i) std::memcpy(buffer + 4 * i, &i, 4);
    for (int c = 0; c < 2; ++c)
      for (int w = 0; w < 2; ++w) {
        m.Select(c, w);
        for (int lane = 0; lane < 32; ++lane) {
          m.Set("%d9", lane, kBuffer + 16 * lane);
          m.Set("%r9", lane, 16 * lane);
        }
      }
    m.Select(0, 0);
  }
  void Ok(const std::string& text, uint32_t mask = ~0u) {
    ASSERT_EQ(m.Run(text, mask), ExecResult::kNext) << text << ": " << m.fault().message;
  }
  MemoryMachine m;
  uint8_t* buffer;
};

TEST_F(Async, GroupsCompleteOldestFirstAtTheirWait) {
  Ok("cp.async.cg.shared.global [%r9], [%d9], 16; cp.async.commit_group;"
     "cp.async.ca.shared.global [%r9+512], [%d9+1024], 4; cp.async.commit_group;"
     "cp.async.ca.shared.global [%r9+1024], [%d9+2048], 8;");
  EXPECT_EQ(Word(m.shared() + 16), 0u);  // no wait yet: the old contents
  Ok("cp.async.wait_group 1;");
  EXPECT_EQ(Word(m.shared() + 16 * 31 + 12), 31u * 4 + 3);
  EXPECT_EQ(Word(m.shared() + 512 + 16), 0u);
  Ok("cp.async.wait_group 0;");
  EXPECT_EQ(Word(m.shared() + 512 + 16), 256u + 4);
  EXPECT_EQ(Word(m.shared() + 512 + 20), 0u);
  EXPECT_EQ(Word(m.shared() + 1024 + 16), 0u);  // never committed
  Ok("cp.async.wait_all;");
  EXPECT_EQ(Word(m.shared() + 1024 + 16), 512u + 4);
}

TEST_F(Async, AWaitIsOfItsOwnThreads) {
  Ok("cp.async.cg.shared.global [%r9], [%d9], 16; cp.async.commit_group;");
  Ok("cp.async.wait_group 0;", 0xffff);
  EXPECT_EQ(Word(m.shared() + 16 * 15), 60u);
  EXPECT_EQ(Word(m.shared() + 16 * 16), 0u);
  m.Select(0, 1);
  Ok("cp.async.wait_all;");
  EXPECT_EQ(Word(m.shared() + 16 * 16), 0u);
}

TEST_F(Async, WhatIsNotReadIsZeros) {
  std::memset(m.shared(), 0xee, 1024);
  for (int lane = 0; lane < 32; ++lane) {
    m.Set("%r1", lane, lane % 17);
    if (lane % 17 == 0) m.Set("%d9", lane, 8);  // an address that nobody reads
    m.Set("%p1", lane, lane & 1);
  }
  Ok("cp.async.cg.shared.global [%r9], [%d9], 16, %r1; cp.async.wait_all;");
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 16; ++i)
      ASSERT_EQ(m.shared()[16 * lane + i], i < lane % 17 ? buffer[16 * lane + i] : 0) << lane << " " << i;
  for (int lane = 0; lane < 32; ++lane) m.Set("%d9", lane, lane % 2 != 0 ? 0 : kBuffer + 16 * lane);
  Ok("cp.async.cg.shared.global [%r9], [%d9], 16, %p1; cp.async.wait_all;");
  EXPECT_EQ(Word(m.shared() + 16 * 31), 0u);
  EXPECT_EQ(Word(m.shared() + 16 * 30), 120u);
  EXPECT_EQ(m.Run("cp.async.cg.shared.global [%r9], [%d9], 16;"), ExecResult::kFault);
}

TEST_F(Async, BarrierPhasesCountArrivals) {
  m.SetAll("%r1", 2);
  Ok("mbarrier.init.shared.b64 [smem], %r1;", 1);
  m.SetAll("%r2", 0);
  m.SetAll("%r3", 1);
  Ok("mbarrier.test_wait.parity.shared.b64 %p1, [smem], %r3;", 1);  // the phase before the first is over
  EXPECT_EQ(m.Pred("%p1") & 1, 1u);
  EXPECT_EQ(m.Run("mbarrier.test_wait.parity.shared.b64 %p0, [smem], %r2;", 1), ExecResult::kYield);
  EXPECT_EQ(m.Pred("%p0") & 1, 0u);
  Ok("mbarrier.arrive.shared.b64 %d1, [smem];", 1);
  EXPECT_EQ(m.Run("mbarrier.try_wait.shared.b64 %p0, [smem], %d1;", 1), ExecResult::kRetry);
  Ok("mbarrier.pending_count.b64 %r4, %d1;", 1);
  EXPECT_EQ(m.Get("%r4", 0), 2u);
  Ok("mbarrier.arrive.shared.b64 %d2, [smem]; mbarrier.test_wait.shared.b64 %p0, [smem], %d1;", 1);
  EXPECT_EQ(m.Pred("%p0") & 1, 1u);
  Ok("mbarrier.pending_count.b64 %r4, %d2;", 1);
  EXPECT_EQ(m.Get("%r4", 0), 1u);
  // A thread that drops is not expected any more: the next phase needs one arrival only.
  Ok("mbarrier.arrive_drop.shared.b64 %d3, [smem]; mbarrier.arrive.shared.b64 %d3, [smem];", 1);
  Ok("mbarrier.arrive.shared.b64 %d4, [smem]; mbarrier.test_wait.shared.b64 %p0, [smem], %d4;", 1);
  EXPECT_EQ(m.Pred("%p0") & 1, 1u);
  ASSERT_EQ(m.Run("mbarrier.arrive.shared.b64 %d4, [smem], 2;", 1), ExecResult::kFault);
  EXPECT_EQ(m.fault().kind, FaultKind::kBarrier);
  EXPECT_NE(m.fault().message.find("2 arrivals where 1 of 1 are pending"), std::string::npos)
      << m.fault().message;
  Ok("mbarrier.inval.shared.b64 [smem];", 1);
  ASSERT_EQ(m.Run("mbarrier.arrive.shared.b64 %d4, [smem];", 1), ExecResult::kFault);
  EXPECT_NE(m.fault().message.find("not initialised"), std::string::npos);
}

TEST_F(Async, CopiesArriveAtABarrier) {
  m.SetAll("%r1", 32);
  Ok("mbarrier.init.shared.b64 [smem+2048], %r1;", 1);
  Ok("cp.async.cg.shared.global [%r9], [%d9], 16; cp.async.mbarrier.arrive.noinc.shared.b64 [smem+2048];");
  EXPECT_EQ(Word(m.shared() + 16), 0u);
  m.Select(0, 1);  // another warp waits
  m.SetAll("%r2", 0);
  Ok("mbarrier.try_wait.parity.shared.b64 %p0, [smem+2048], %r2;");
  EXPECT_EQ(m.Pred("%p0"), ~0u);
  EXPECT_EQ(Word(m.shared() + 16 * 31), 124u);
}

TEST_F(Async, BulkCopiesCountBytes) {
  m.SetAll("%r1", 1);
  m.SetAll("%d1", kBuffer);
  m.SetAll("%r3", 512);
  m.SetAll("%r2", 0);
  Ok("mbarrier.init.shared::cta.b64 [smem+2048], %r1;"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [smem], [%d1], %r3, [smem+2048];"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [smem+512], [%d1+512], %r3, "
     "[smem+2048];",
     1);
  EXPECT_EQ(m.Run("mbarrier.try_wait.parity.shared.b64 %p0, [smem+2048], %r2;", 1), ExecResult::kRetry);
  EXPECT_EQ(Word(m.shared() + 4), 0u);  // nobody has arrived: the copies cannot be needed yet
  Ok("mbarrier.arrive.expect_tx.shared.b64 %d2, [smem+2048], 1024;"
     "mbarrier.try_wait.parity.shared.b64 %p0, [smem+2048], %r2;",
     1);
  EXPECT_EQ(m.Pred("%p0") & 1, 1u);
  EXPECT_EQ(std::memcmp(m.shared(), buffer, 1024), 0);
  m.SetAll("%r3", 24);
  EXPECT_EQ(m.Run("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [smem], [%d1], %r3, "
                  "[smem+2048];",
                  1),
            ExecResult::kFault);
  EXPECT_EQ(m.fault().kind, FaultKind::kMisaligned);
}

TEST_F(Async, BulkStoresFollowTheirGroups) {
  for (int i = 0; i < 512; ++i) m.shared()[i] = static_cast<uint8_t>(i * 3);
  m.SetAll("%d1", kBuffer + 4096);
  Ok("cp.async.bulk.global.shared::cta.bulk_group [%d1], [smem], 512; cp.async.bulk.commit_group;", 1);
  const uint32_t before = Word(buffer + 4096);
  Ok("cp.async.bulk.wait_group.read 0;", 1);
  EXPECT_EQ(Word(buffer + 4096), before);  // read, but not yet written
  const std::vector<uint8_t> sent(m.shared(), m.shared() + 512);
  std::memset(m.shared(), 0, 512);  // the source may be used again
  Ok("cp.async.bulk.wait_group 0;", 1);
  EXPECT_EQ(std::memcmp(buffer + 4096, sent.data(), 512), 0);
  // A reduction, and what nobody waits for happens at the end.
  const uint32_t seven = 7;
  for (int i = 0; i < 128; ++i) std::memcpy(m.shared() + 4 * i, &seven, 4);
  m.SetAll("%d1", kBuffer);
  Ok("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [smem], 512;"
     "cp.async.bulk.commit_group;",
     1);
  EXPECT_EQ(Word(buffer + 40), 10u);
  m.cta(0).async->Finish();
  EXPECT_EQ(Word(buffer + 40), 17u);
}

TEST_F(Async, MulticastAndRemoteStoresSignalEveryCta) {
  m.SetAll("%r1", 1);
  m.SetAll("%r2", 0);
  Ok("mbarrier.init.shared.b64 [smem+2048], %r1;", 1);
  m.Select(1, 0);
  m.SetAll("%r1", 1);
  m.SetAll("%r2", 0);
  Ok("mbarrier.init.shared.b64 [smem+2048], %r1;"
     "mbarrier.arrive.expect_tx.shared.b64 %d2, [smem+2048], 256;",
     1);
  m.Select(0, 0);
  m.SetAll("%d1", kBuffer);
  m.SetAll("%h1", 3);
  Ok("mbarrier.arrive.expect_tx.shared.b64 %d2, [smem+2048], 256;"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [smem], [%d1], "
     "256, [smem+2048], %h1;"
     "mbarrier.try_wait.parity.shared.b64 %p0, [smem+2048], %r2;",
     1);
  EXPECT_EQ(std::memcmp(m.shared(0), buffer, 256), 0);
  EXPECT_NE(std::memcmp(m.shared(1), buffer, 256), 0);
  m.Select(1, 0);
  Ok("mbarrier.try_wait.parity.shared.b64 %p0, [smem+2048], %r2;", 1);
  EXPECT_EQ(std::memcmp(m.shared(1), buffer, 256), 0);
  // st.async from CTA 1 to CTA 0, whose barrier is in its second phase.
  m.SetAll("%r4", 64);
  m.SetAll("%r5", 2048);
  m.SetAll("%r6", 4242);
  Ok("mapa.shared::cluster.u32 %r4, %r4, %r2; mapa.shared::cluster.u32 %r5, %r5, %r2;"
     "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r4], %r6, [%r5];",
     1);
  EXPECT_EQ(Word(m.shared(0) + 64), 16u);
  m.Select(0, 0);
  m.SetAll("%r2", 1);
  Ok("mbarrier.arrive.expect_tx.shared.b64 %d2, [smem+2048], 4;"
     "mbarrier.try_wait.parity.shared.b64 %p0, [smem+2048], %r2;",
     1);
  EXPECT_EQ(Word(m.shared(0) + 64), 4242u);
}

// PTX ISA 8.8, "st.async", "red.async": with .release they are of global memory and have no mbarrier.
TEST(AsyncSm100, ReleasedStoresAndReductionsReachGlobalMemory) {
  MemoryMachine::Shape shape;
  shape.target = "sm_100a";
  MemoryMachine m(shape);
  uint8_t* buffer = m.Map(kBuffer, 4096, "flags");
  for (int lane = 0; lane < 32; ++lane) {
    m.Set("%d9", lane, kBuffer + 8 * static_cast<uint64_t>(lane));
    m.Set("%r1", lane, 0x10000u + static_cast<uint32_t>(lane));
    m.Set("%h1", lane, static_cast<uint64_t>(3 * lane));
  }
  m.SetAll("%d8", kBuffer + 1024);
  ASSERT_EQ(m.Run("st.async.release.gpu.global.u32 [%d9], %r1; st.async.mmio.release.sys.u16 [%d9+4], %h1;"
                  "red.async.release.gpu.global.add.u32 [%d8], %r1;",
                  0xff),
            ExecResult::kNext)
      << m.fault().message;
  uint32_t sum = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const bool runs = lane < 8;
    EXPECT_EQ(Word(buffer + 8 * lane), runs ? 0x10000 + lane : 0) << lane;
    EXPECT_EQ(Word(buffer + 8 * lane + 4), runs ? 3 * lane : 0) << lane;
    if (runs) sum += 0x10000 + lane;
  }
  EXPECT_EQ(Word(buffer + 1024), sum);
  m.SetAll("%d9", 0x1234000);
  ASSERT_EQ(m.Run("st.async.release.gpu.global.u32 [%d9], %r1;", 1), ExecResult::kFault);
}

}  // namespace
}  // namespace understudy::emu::ptx
