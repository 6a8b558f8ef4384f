// SPDX-License-Identifier: Apache-2.0
// Atomics against a fold over the lanes in C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <random>

#include "tests/emu/ptx/memory/memory_machine.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint64_t kBuffer = 0x7f0000000000;

struct Case {
  const char* op;
  std::function<uint64_t(uint64_t old, uint64_t b)> apply;
};

void CheckFold(const char* type, int bytes, const std::vector<Case>& cases) {
  MemoryMachine m;
  uint8_t* buffer = m.Map(kBuffer, 4096, "a");
  const std::string r = bytes == 8 ? "%d" : "%r";
  const uint64_t keep = bytes == 8 ? ~uint64_t{0} : 0xffffffff;
  for (const Case& c : cases)
    for (const char* space : {".global", "", ".shared", ".shared::cluster"})
      for (const char* mnemonic : {"atom", "red"}) {
        if (std::string(c.op) == "exch" && mnemonic[0] == 'r') continue;
        std::mt19937_64 random(11);
        uint64_t cells[4];
        const bool shared = std::strstr(space, "shared") != nullptr;
        uint8_t* memory = shared ? m.shared() : buffer;
        for (uint64_t& cell : cells) cell = random() & keep;
        for (int i = 0; i < 4; ++i) std::memcpy(memory + i * bytes, &cells[i], bytes);
        uint64_t old[32];
        const uint32_t mask = 0xfff7ffff;
        for (int lane = 0; lane < 32; ++lane) {
          m.Set("%d9", lane, (shared ? 0 : kBuffer) + lane % 4 * bytes);
          const uint64_t b = (lane % 3 == 0 ? random() % 16 : random()) & keep;
          m.Set(r + "1", lane, b);
          m.Set(r + "0", lane, 99);
          old[lane] = 99;
          if ((mask >> lane & 1) == 0) continue;
          old[lane] = cells[lane % 4];
          cells[lane % 4] = c.apply(cells[lane % 4], b) & keep;
        }
        const std::string text = std::string(mnemonic) + space + "." + c.op + "." + type + " " +
                                 (mnemonic[0] == 'a' ? r + "0, " : "") + "[%d9], " + r + "1;";
        ASSERT_EQ(m.Run(text, mask), ExecResult::kNext) << text << m.fault().message;
        for (int i = 0; i < 4; ++i)
          ASSERT_EQ(std::memcmp(memory + i * bytes, &cells[i], bytes), 0) << text << " cell " << i;
        if (mnemonic[0] == 'a') {
          for (int lane = 0; lane < 32; ++lane) ASSERT_EQ(m.Get(r + "0", lane), old[lane]) << text;
        }
      }
}

TEST(Atomic, IntegersFoldInLaneOrder) {
  CheckFold("u32", 4,
            {{"add", [](uint64_t a, uint64_t b) { return a + b; }},
             {"inc", [](uint64_t a, uint64_t b) { return a >= b ? 0 : a + 1; }},
             {"dec", [](uint64_t a, uint64_t b) { return a == 0 || a > b ? b : a - 1; }},
             {"min", [](uint64_t a, uint64_t b) { return std::min(a, b); }},
             {"max", [](uint64_t a, uint64_t b) { return std::max(a, b); }}});
  CheckFold("s32", 4,
            {{"add", [](uint64_t a, uint64_t b) { return a + b; }},
             {"min", [](uint64_t a, uint64_t b) -> uint64_t { return std::min<int32_t>(a, b); }},
             {"max", [](uint64_t a, uint64_t b) -> uint64_t { return std::max<int32_t>(a, b); }}});
  CheckFold("b32", 4,
            {{"and", std::bit_and<uint64_t>()},
             {"or", std::bit_or<uint64_t>()},
             {"xor", std::bit_xor<uint64_t>()},
             {"exch", [](uint64_t, uint64_t b) { return b; }}});
  CheckFold("u64", 8,
            {{"add", [](uint64_t a, uint64_t b) { return a + b; }},
             {"min", [](uint64_t a, uint64_t b) { return std::min(a, b); }},
             {"max", [](uint64_t a, uint64_t b) { return std::max(a, b); }}});
  CheckFold("s64", 8,
            {{"min", [](uint64_t a, uint64_t b) -> uint64_t { return std::min<int64_t>(a, b); }},
             {"max", [](uint64_t a, uint64_t b) -> uint64_t { return std::max<int64_t>(a, b); }}});
  CheckFold("b64", 8,
            {{"and", std::bit_and<uint64_t>()},
             {"xor", std::bit_xor<uint64_t>()},
             {"exch", [](uint64_t, uint64_t b) { return b; }}});
}

TEST(Atomic, IncrementWrapsAtItsLimit) {
  MemoryMachine m;
  uint8_t* buffer = m.Map(kBuffer, 64, "a");
  const uint32_t start = 100;
  std::memcpy(buffer, &start, 4);
  m.SetAll("%d9", kBuffer);
  m.SetAll("%r1", 101);
  uint32_t now;
  ASSERT_EQ(m.Run("atom.global.inc.u32 %r0, [%d9], %r1;", 1), ExecResult::kNext);
  std::memcpy(&now, buffer, 4);
  EXPECT_EQ(now, 101u);
  ASSERT_EQ(m.Run("atom.global.inc.u32 %r0, [%d9], %r1;", 1), ExecResult::kNext);
  std::memcpy(&now, buffer, 4);
  EXPECT_EQ(now, 0u);
}

TEST(Atomic, CompareAndSwapOfEveryWidth) {
  MemoryMachine m;
  uint8_t* buffer = m.Map(kBuffer, 256, "a");
  m.SetAll("%d9", kBuffer);
  for (int lane = 0; lane < 32; ++lane) {
    // Each lane expects what the lane before it has stored.
    m.Set("%h1", lane, lane), m.Set("%h2", lane, lane + 1);
    m.Set("%r1", lane, lane), m.Set("%r2", lane, lane + 1);
    m.Set("%d1", lane, lane), m.Set("%d2", lane, lane + 1);
    m.Set128("%q1", lane, lane, ~uint64_t(lane)), m.Set128("%q2", lane, lane + 1, ~uint64_t(lane + 1));
  }
  for (int i = 0; i < 8; ++i) buffer[72 + i] = 0xff;
  ASSERT_EQ(m.Run("atom.global.cas.b16 %h0, [%d9], %h1, %h2; atom.global.cas.b32 %r0, [%d9+16], %r1, %r2;"
                  "atom.global.cas.b64 %d0, [%d9+32], %d1, %d2;"
                  "atom.global.cas.b128 %q0, [%d9+64], %q1, %q2;"),
            ExecResult::kNext)
      << m.fault().message;
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(m.Get("%h0", lane), static_cast<uint64_t>(lane));
    EXPECT_EQ(m.Get("%r0", lane), static_cast<uint64_t>(lane));
    EXPECT_EQ(m.Get("%d0", lane), static_cast<uint64_t>(lane));
    EXPECT_EQ(m.High("%q0", lane), ~static_cast<uint64_t>(lane));
  }
  EXPECT_EQ(buffer[0], 32);
  EXPECT_EQ(buffer[16], 32);
  EXPECT_EQ(buffer[32], 32);
  EXPECT_EQ(buffer[64], 32);
  ASSERT_EQ(m.Run("atom.global.exch.b128 %q0, [%d9+64], %q1;", 1), ExecResult::kNext);
  EXPECT_EQ(m.High("%q0", 0), ~uint64_t{32});
  EXPECT_EQ(buffer[64], 0);
}

TEST(Atomic, FloatAddFlushesSubnormalsInGlobalMemoryOnly) {
  MemoryMachine m;
  uint8_t* buffer = m.Map(kBuffer, 64, "a");
  const uint32_t subnormal = 0x80000005;
  std::memcpy(buffer, &subnormal, 4);
  std::memcpy(m.shared(), &subnormal, 4);
  m.SetAll("%d9", kBuffer);
  m.SetAll("%d8", 0);
  m.SetAll("%f1", 0x80000003);
  ASSERT_EQ(m.Run("red.global.add.f32 [%d9], %f1; red.shared.add.f32 [%d8], %f1;", 1), ExecResult::kNext);
  uint32_t global, shared;
  std::memcpy(&global, buffer, 4);
  std::memcpy(&shared, m.shared(), 4);
  EXPECT_EQ(global, 0x80000000u);
  EXPECT_EQ(shared, 0x80000008u);
}

TEST(Atomic, HalvesKeepSubnormalsAndVectorsGoElementByElement) {
  MemoryMachine m;
  uint8_t* buffer = m.Map(kBuffer, 64, "a");
  m.SetAll("%d9", kBuffer);
  const uint32_t pair = 0x3c00'0001;  // 1.0, the least subnormal
  std::memcpy(buffer, &pair, 4);
  m.SetAll("%r1", 0x3c00'0001);
  ASSERT_EQ(m.Run("atom.global.add.noftz.f16x2 %r0, [%d9], %r1;", 1), ExecResult::kNext) << m.fault().message;
  uint32_t now;
  std::memcpy(&now, buffer, 4);
  EXPECT_EQ(m.Get("%r0", 0), pair);
  EXPECT_EQ(now, 0x4000'0002u);
  const float start[4] = {1, 2, 3, 4};
  std::memcpy(buffer + 16, start, 16);
  for (int i = 0; i < 4; ++i) m.SetAll("%f" + std::to_string(i), std::bit_cast<uint32_t>(0.5f));
  ASSERT_EQ(m.Run("red.global.add.v4.f32 [%d9+16], {%f0,%f1,%f2,%f3};"), ExecResult::kNext)
      << m.fault().message;
  float end[4];
  std::memcpy(end, buffer + 16, 16);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(end[i], start[i] + 16);
}

TEST(Atomic, RefusalsAndFaultsAreNamed) {
  MemoryMachine m;
  m.Map(kBuffer, 64, "a");
  m.SetAll("%d9", kBuffer + 2);
  ASSERT_EQ(m.Run("atom.global.add.u32 %r0, [%d9], %r1;"), ExecResult::kFault);
  EXPECT_EQ(m.fault().kind, FaultKind::kMisaligned);
  const Exec exec = m.Find("multimem.red.relaxed.gpu.global.add.u32 [%d9], %r1;");
  EXPECT_EQ(exec.fn, nullptr);
  EXPECT_NE(exec.note.find("multicast"), std::string::npos) << exec.note;
}

}  // namespace
}  // namespace understudy::emu::ptx
