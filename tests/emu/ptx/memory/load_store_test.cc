// SPDX-License-Identifier: Apache-2.0
// Loads and stores against a byte array and C++'s own conversions.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tests/emu/ptx/memory/memory_machine.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint64_t kBuffer = 0x7f0000000000;

struct TypeRow {
  const char* name;
  int bytes;
  bool is_signed;
};
constexpr TypeRow kTypes[] = {{"b8", 1, false},  {"u8", 1, false},  {"s8", 1, true},   {"b16", 2, false},
                              {"u16", 2, false}, {"s16", 2, true},  {"b32", 4, false}, {"u32", 4, false},
                              {"s32", 4, true},  {"b64", 8, false}, {"u64", 8, false}, {"s64", 8, true}};
struct RegRow {
  const char* name;
  int bytes;
};
constexpr RegRow kRegs[] = {{"%h", 2}, {"%r", 4}, {"%d", 8}};

uint64_t Extend(uint64_t raw, int from, bool is_signed, int to) {
  if (is_signed) {
    const int shift = 64 - 8 * from;
    raw = static_cast<uint64_t>(static_cast<int64_t>(raw << shift) >> shift);
  }
  return to == 8 ? raw : raw & ((uint64_t{1} << 8 * to) - 1);
}

void FillRandom(uint8_t* at, size_t bytes, uint32_t seed) {
  std::mt19937 random(seed);
  for (size_t i = 0; i < bytes; ++i) at[i] = static_cast<uint8_t>(random());
}

// Lanes' element indices: contiguous, one for all, backwards, scattered.
int IndexOf(int pattern, int lane) {
  switch (pattern) {
    case 0:
      return lane;
    case 1:
      return 5;
    case 2:
      return 31 - lane;
    default:
      return lane * 7 % 32;
  }
}

TEST(LoadStore, LoadsExtendToTheRegisterInEveryPatternAndVector) {
  MemoryMachine m;
  uint8_t* buffer = m.Map(kBuffer, 4096, "in");
  FillRandom(buffer, 4096, 1);
  std::memcpy(m.shared(), buffer, 4096);
  for (const char* space : {"", ".global", ".shared"})
    for (const TypeRow& type : kTypes)
      for (const RegRow& reg : kRegs)
        for (int vector : {1, 2, 4})
          for (int pattern = 0; pattern < 4; ++pattern)
            for (uint32_t mask : {~0u, 0x80f0'1235u}) {
              if (reg.bytes < type.bytes || type.bytes * vector > 16) continue;
              const std::string suffix = vector == 1 ? "" : ".v" + std::to_string(vector);
              const std::string r = reg.name;
              const std::string to = vector == 1   ? r + "0"
                                     : vector == 2 ? "{" + r + "0," + r + "1}"
                                                   : "{" + r + "0," + r + "1," + r + "2," + r + "3}";
              const bool is_shared = std::string(space) == ".shared";
              for (int lane = 0; lane < 32; ++lane) {
                m.Set("%d9", lane, (is_shared ? 0 : kBuffer) + IndexOf(pattern, lane) * type.bytes * vector);
                for (int e = 0; e < vector; ++e) m.Set(r + std::to_string(e), lane, 0x55);
              }
              const std::string text =
                  std::string("ld") + space + suffix + "." + type.name + " " + to + ", [%d9+64];";
              ASSERT_EQ(m.Run(text, mask), ExecResult::kNext) << text << m.fault().message;
              for (int lane = 0; lane < 32; ++lane)
                for (int e = 0; e < vector; ++e) {
                  uint64_t raw = 0;
                  std::memcpy(&raw, buffer + 64 + (IndexOf(pattern, lane) * vector + e) * type.bytes,
                              type.bytes);
                  const uint64_t expected =
                      (mask >> lane & 1) != 0 ? Extend(raw, type.bytes, type.is_signed, reg.bytes) : 0x55;
                  ASSERT_EQ(m.Get(r + std::to_string(e), lane), expected) << text << " lane " << lane;
                }
            }
}

TEST(LoadStore, StoresCutToTheTypeAndTheHighestLaneWins) {
  MemoryMachine m;
  uint8_t* buffer = m.Map(kBuffer, 4096, "out");
  for (const char* space : {"", ".global", ".shared"})
    for (const TypeRow& type : kTypes)
      for (const RegRow& reg : kRegs)
        for (int vector : {1, 2, 4})
          for (int pattern = 0; pattern < 4; ++pattern)
            for (uint32_t mask : {~0u, 0x80f0'1235u}) {
              if (reg.bytes < type.bytes || type.bytes * vector > 16) continue;
              const bool is_shared = std::string(space) == ".shared";
              uint8_t* memory = is_shared ? m.shared() : buffer;
              std::memset(memory, 0xaa, 4096);
              std::vector<uint8_t> expected(4096, 0xaa);
              const std::string r = reg.name;
              std::string from = "{";
              std::mt19937_64 random(7);
              for (int e = 0; e < vector; ++e) from += (e ? "," : "") + r + std::to_string(e);
              from = vector == 1 ? r + "0" : from + "}";
              for (int lane = 0; lane < 32; ++lane) {
                const int at = IndexOf(pattern, lane) * type.bytes * vector;
                m.Set("%d9", lane, (is_shared ? 0 : kBuffer) + at);
                for (int e = 0; e < vector; ++e) {
                  const uint64_t value = random();
                  m.Set(r + std::to_string(e), lane, value);
                  if ((mask >> lane & 1) != 0)
                    std::memcpy(expected.data() + 32 + at + e * type.bytes, &value, type.bytes);
                }
              }
              const std::string text = std::string("st") + space +
                                       (vector == 1 ? "" : ".v" + std::to_string(vector)) + "." + type.name +
                                       " [%d9+32], " + from + ";";
              ASSERT_EQ(m.Run(text, mask), ExecResult::kNext) << text << m.fault().message;
              ASSERT_EQ(std::memcmp(memory, expected.data(), 4096), 0) << text << " mask " << mask;
            }
}

TEST(LoadStore, CacheOperatorsAndOrdersChangeNothing) {
  MemoryMachine m;
  uint8_t* buffer = m.Map(kBuffer, 4096, "b");
  FillRandom(buffer, 4096, 3);
  for (int lane = 0; lane < 32; ++lane) m.Set("%d9", lane, kBuffer + 4 * lane);
  for (const char* op :
       {"ld.global.ca.b32 %r0, [%d9];", "ld.global.cg.b32 %r0, [%d9];", "ld.global.cs.b32 %r0, [%d9];",
        "ld.global.lu.b32 %r0, [%d9];", "ld.global.cv.b32 %r0, [%d9];", "ld.global.nc.b32 %r0, [%d9];",
        "ld.volatile.global.b32 %r0, [%d9];", "ld.relaxed.gpu.global.b32 %r0, [%d9];",
        "ld.acquire.sys.global.b32 %r0, [%d9];", "ld.weak.global.b32 %r0, [%d9];",
        "ld.mmio.relaxed.sys.global.b32 %r0, [%d9];", "ld.global.L1::evict_last.b32 %r0, [%d9];",
        "ld.global.L1::no_allocate.L2::cache_hint.L2::128B.b32 %r0, [%d9], %d8;",
        "ld.global.nc.L1::no_allocate.L2::256B.b32 %r0, [%d9];", "ldu.global.b32 %r0, [%d9];"}) {
    m.SetAll("%r0", 1);
    ASSERT_EQ(m.Run(op), ExecResult::kNext) << op << m.fault().message;
    for (int lane = 0; lane < 32; ++lane) {
      uint32_t expected;
      std::memcpy(&expected, buffer + 4 * lane, 4);
      ASSERT_EQ(m.Get("%r0", lane), expected) << op;
    }
  }
  for (const char* op :
       {"st.global.wb.b32 [%d9], %r1;", "st.global.wt.b32 [%d9], %r1;", "st.volatile.global.b32 [%d9], %r1;",
        "st.release.gpu.global.b32 [%d9], %r1;", "st.relaxed.cta.global.b32 [%d9], %r1;",
        "st.global.L1::evict_first.L2::cache_hint.b32 [%d9], %r1, %d8;"}) {
    m.SetAll("%r1", 0x1234567);
    std::memset(buffer, 0, 128);
    ASSERT_EQ(m.Run(op), ExecResult::kNext) << op << m.fault().message;
    uint32_t got;
    std::memcpy(&got, buffer + 124, 4);
    ASSERT_EQ(got, 0x1234567u) << op;
  }
}

TEST(LoadStore, WideElementsMoveWhole) {
  MemoryMachine::Shape shape;
  shape.target = "sm_100";  // the first with 256 bits at once
  MemoryMachine m(shape);
  uint8_t* buffer = m.Map(kBuffer, 4096, "b");
  FillRandom(buffer, 4096, 4);
  for (int lane = 0; lane < 32; ++lane) {
    m.Set("%d9", lane, kBuffer + 16 * lane);
    m.Set("%d10", lane, kBuffer + 2048 + 16 * lane);
  }
  ASSERT_EQ(m.Run("ld.global.b128 %q0, [%d9]; st.global.b128 [%d10], %q0;"), ExecResult::kNext)
      << m.fault().message;
  EXPECT_EQ(std::memcmp(buffer, buffer + 2048, 512), 0);
  for (int lane = 0; lane < 32; ++lane) m.Set("%d9", lane, kBuffer + 32 * lane);
  ASSERT_EQ(m.Run("ld.global.v4.b64 {%d0,%d1,_,%d3}, [%d9];"), ExecResult::kNext) << m.fault().message;
  uint64_t last;
  std::memcpy(&last, buffer + 31 * 32 + 24, 8);
  EXPECT_EQ(m.Get("%d3", 31), last);
  ASSERT_EQ(m.Run("ld.global.v8.b32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%d9];"), ExecResult::kNext)
      << m.fault().message;
  EXPECT_EQ(m.Get("%r7", 31), last >> 32);
}

TEST(LoadStore, ParametersLocalMemoryAndWindows) {
  MemoryMachine m;
  FillRandom(m.params().data(), m.params().size(), 5);
  const uint8_t* params = m.params().data();
  uint64_t p0;
  uint32_t p1, p2;
  std::memcpy(&p0, params, 8);
  std::memcpy(&p1, params + 8, 4);
  std::memcpy(&p2, params + 20, 4);
  ASSERT_EQ(m.Run("ld.param.b64 %d0, [p0]; ld.param.b32 %r1, [p1]; ld.param.b32 %r2, [p2+4];"
                  "st.local.b32 [tmp+8], %r1; ld.local.b32 %r3, [tmp+8];"
                  "st.param.b32 [call+4], %r2; ld.param.b32 %r4, [call+4];"),
            ExecResult::kNext)
      << m.fault().message;
  EXPECT_EQ(m.Get("%d0", 17), p0);
  EXPECT_EQ(m.Get("%r1", 17), p1);
  EXPECT_EQ(m.Get("%r2", 17), p2);
  EXPECT_EQ(m.Get("%r3", 17), p1);
  EXPECT_EQ(m.Get("%r4", 17), p2);
  // The same through generic addresses; every lane has its own local memory.
  for (int lane = 0; lane < 32; ++lane) m.Set("%r5", lane, 100 + lane);
  m.SetAll("%d20", 8);
  m.SetAll("%d21", 64);
  m.SetAll("%d22", 20);
  ASSERT_EQ(m.Run("cvta.local.u64 %d1, %d20; st.b32 [%d1], %r5; ld.local.b32 %r6, [tmp+8];"
                  "cvta.shared.u64 %d2, %d21; st.b32 [%d2], %r5; ld.shared.b32 %r7, [smem+64];"
                  "cvta.param.u64 %d3, %d22; ld.b32 %r8, [%d3];"
                  "cvta.to.shared.u64 %d4, %d2; cvta.to.local.u64 %d5, %d1;"
                  "isspacep.shared %p0, %d2; isspacep.local %p1, %d1; isspacep.global %p2, %d2;"
                  "isspacep.global %p3, %d20; isspacep.shared::cluster %p4, %d2; isspacep.param %p5, %d3;"),
            ExecResult::kNext)
      << m.fault().message;
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(m.Get("%r6", lane), 100u + lane);
    EXPECT_EQ(m.Get("%r7", lane), 131u);
    EXPECT_EQ(m.Get("%r8", lane), p2);
  }
  EXPECT_EQ(m.Get("%d4", 3), 64u);
  EXPECT_EQ(m.Get("%d5", 3), 8u);
  EXPECT_EQ(m.Pred("%p0"), ~0u);
  EXPECT_EQ(m.Pred("%p1"), ~0u);
  EXPECT_EQ(m.Pred("%p2"), 0u);
  EXPECT_EQ(m.Pred("%p3"), ~0u);
  EXPECT_EQ(m.Pred("%p4"), ~0u);
  EXPECT_EQ(m.Pred("%p5"), ~0u);
}

TEST(LoadStore, BadAddressesFaultWithTheNearestAllocation) {
  MemoryMachine m;
  m.Map(kBuffer, 4096, "weights");
  for (int lane = 0; lane < 32; ++lane) m.Set("%d9", lane, kBuffer + 4096 - 64 + 4 * lane);
  ASSERT_EQ(m.Run("ld.global.b32 %r0, [%d9];"), ExecResult::kFault);
  EXPECT_EQ(m.fault().kind, FaultKind::kMemory);
  EXPECT_EQ(m.fault().lane, 16);
  EXPECT_EQ(m.fault().message.rfind("ld.global.b32: read of 4 bytes at 0x7f0000001000: unmapped; 0 bytes "
                                    "past the end of 'weights'",
                                    0),
            0u)
      << m.fault().message;
  // A store that faults in one lane has stored nothing.
  m.SetAll("%r0", 0xffffffff);
  ASSERT_EQ(m.Run("st.global.b32 [%d9], %r0;"), ExecResult::kFault);
  EXPECT_EQ(*m.space().Translate(kBuffer + 4096 - 64, 1, Access::kRead), 0);
  // Lanes that do not execute do not fault.
  EXPECT_EQ(m.Run("ld.global.b32 %r0, [%d9];", 0xffff), ExecResult::kNext);
  ASSERT_EQ(m.Run("ld.global.b64 %d0, [%d9+4];", 1), ExecResult::kFault);
  EXPECT_EQ(m.fault().kind, FaultKind::kMisaligned);
  EXPECT_EQ(m.fault().message,
            "ld.global.b64: read of 8 bytes at global address 0x7f0000000fc4, which is not a multiple of 8");
  ASSERT_EQ(m.Run("ld.global.v2.b32 {%r0,%r1}, [%d9+4];", 1), ExecResult::kFault);
  EXPECT_EQ(m.fault().kind, FaultKind::kMisaligned);
  m.SetAll("%r9", 8190);
  ASSERT_EQ(m.Run("st.shared.b32 [%r9+2], %r0;"), ExecResult::kFault);
  EXPECT_EQ(m.fault().kind, FaultKind::kSharedOutOfRange);
  EXPECT_EQ(m.fault().message,
            "st.shared.b32: write of 4 bytes at shared address 0x2000, of which there are 8192 bytes");
  ASSERT_EQ(m.Run("ld.local.b32 %r0, [tmp+256];"), ExecResult::kFault);
  EXPECT_EQ(m.fault().kind, FaultKind::kLocalOutOfRange);
  m.SetAll("%d9", 0);
  ASSERT_EQ(m.Run("ld.b32 %r0, [%d9];"), ExecResult::kFault);
  EXPECT_EQ(m.fault().kind, FaultKind::kMemory);
  m.SetAll("%d9", ~uint64_t{3});
  ASSERT_EQ(m.Run("ld.b64 %d0, [%d9+4];", 1), ExecResult::kFault);
}

TEST(LoadStore, ClusterAddressesReachTheOtherCta) {
  MemoryMachine m({.ctas = 2});
  for (int lane = 0; lane < 32; ++lane) {
    m.Set("%r9", lane, 4 * lane);
    m.Set("%r1", lane, 1000 + lane);
  }
  m.SetAll("%r2", 1);
  ASSERT_EQ(m.Run("mapa.shared::cluster.u32 %r3, %r9, %r2; st.shared::cluster.b32 [%r3], %r1;"
                  "getctarank.shared::cluster.u32 %r4, %r3; ld.shared::cluster.b32 %r5, [%r3];"),
            ExecResult::kNext)
      << m.fault().message;
  uint32_t there;
  std::memcpy(&there, m.shared(1) + 4 * 31, 4);
  EXPECT_EQ(there, 1031u);
  EXPECT_EQ(m.Get("%r4", 0), 1u);
  EXPECT_EQ(m.Get("%r5", 31), 1031u);
  std::memcpy(&there, m.shared(0) + 4 * 31, 4);
  EXPECT_EQ(there, 0u);
  ASSERT_EQ(m.Run("ld.shared.b32 %r5, [%r3];"), ExecResult::kFault);
  EXPECT_EQ(m.fault().kind, FaultKind::kAddressSpace);
  // Generic addresses carry the rank too.
  ASSERT_EQ(m.Run("cvta.shared::cluster.u64 %d1, %d9; mapa.u64 %d2, %d1, %r2; ld.b32 %r6, [%d2];"
                  "getctarank.u64 %r7, %d2; getctarank.u64 %r8, %d1;"),
            ExecResult::kNext)
      << m.fault().message;
  EXPECT_EQ(m.Get("%r6", 0), 1000u);
  EXPECT_EQ(m.Get("%r7", 0), 1u);
  EXPECT_EQ(m.Get("%r8", 0), 0u);
  m.SetAll("%r2", 2);
  EXPECT_EQ(m.Run("mapa.shared::cluster.u32 %r3, %r9, %r2;"), ExecResult::kFault);
}

TEST(LoadStore, CacheInstructionsCheckAndChangeNothingElse) {
  MemoryMachine m;
  uint8_t* buffer = m.Map(kBuffer, 4096, "b");
  buffer[200] = 77;
  m.SetAll("%d9", kBuffer);
  ASSERT_EQ(m.Run("prefetch.global.L2 [%d9]; prefetchu.L1 [%d9]; fence.sc.gpu; membar.sys; fence.acq_rel.cta;"
                  "fence.proxy.async; createpolicy.fractional.L2::evict_last.b64 %d1, 1.0;"
                  "applypriority.global.L2::evict_normal [%d9], 128; discard.global.L2 [%d9], 128;"),
            ExecResult::kNext)
      << m.fault().message;
  EXPECT_NE(m.Get("%d1", 0), 0u);
  EXPECT_EQ(buffer[200], 77);
  EXPECT_NE(buffer[0], 0);
}

}  // namespace
}  // namespace understudy::emu::ptx
