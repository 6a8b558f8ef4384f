// SPDX-License-Identifier: Apache-2.0
// GPU memory: what may be accessed, and how a refusal reads.

#include "emu/memory/address_space.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace understudy::emu {
namespace {

class AddressSpaceTest : public testing::Test {
 protected:
  std::vector<uint8_t> a_ = std::vector<uint8_t>(0x1000), b_ = std::vector<uint8_t>(0x1000);
  AddressSpace space_;
};

TEST_F(AddressSpaceTest, TranslatesWithinOneMappingOnly) {
  ASSERT_TRUE(space_.Map(0x10000, 0x1000, a_.data(), Perm::kReadWrite, "a").ok());
  ASSERT_TRUE(space_.Map(0x11000, 0x1000, b_.data(), Perm::kReadWrite, "b").ok());
  EXPECT_EQ(space_.Translate(0x10010, 4, Access::kRead), a_.data() + 0x10);
  EXPECT_EQ(space_.Translate(0x11ffc, 4, Access::kWrite), b_.data() + 0xffc);
  EXPECT_EQ(space_.Translate(0x10ffe, 4, Access::kRead), nullptr) << "spans two backings";
  EXPECT_EQ(space_.Translate(0x11ffe, 4, Access::kRead), nullptr);
  EXPECT_EQ(space_.Translate(~uint64_t{0} - 1, 4, Access::kRead), nullptr) << "wraps";
}

TEST_F(AddressSpaceTest, CopiesAcrossAdjacentMappingsOrNotAtAll) {
  ASSERT_TRUE(space_.Map(0x10000, 0x1000, a_.data(), Perm::kReadWrite, "a").ok());
  ASSERT_TRUE(space_.Map(0x11000, 0x1000, b_.data(), Perm::kReadWrite, "b").ok());
  const uint32_t value = 0x44332211;
  ASSERT_TRUE(space_.Write(0x10ffe, &value, 4));
  EXPECT_EQ(a_[0xfff], 0x22);
  EXPECT_EQ(b_[0], 0x33);
  uint32_t read = 0;
  ASSERT_TRUE(space_.Read(0x10ffe, &read, 4));
  EXPECT_EQ(read, value);
  EXPECT_FALSE(space_.Write(0x11ffe, &value, 4));
  EXPECT_EQ(b_[0xffe], 0) << "nothing is written when any byte is refused";
}

TEST_F(AddressSpaceTest, PermissionsNameTheirCause) {
  ASSERT_TRUE(space_.Map(0x10000, 0x1000, a_.data(), Perm::kRead, "constants").ok());
  EXPECT_EQ(space_.Explain(0x10000, 4, Access::kRead).kind, MemoryFaultKind::kNone);
  EXPECT_EQ(space_.Explain(0x10000, 4, Access::kWrite).kind, MemoryFaultKind::kReadOnly);
  EXPECT_EQ(space_.Explain(0x10000, 4, Access::kAtomic).kind, MemoryFaultKind::kReadOnly);
  EXPECT_EQ(space_.Explain(0x10000, 4, Access::kExecute).kind, MemoryFaultKind::kNoExecute);
  EXPECT_EQ(space_.Explain(0x10010, 4, Access::kWrite).Message(),
            "write of 4 bytes at 0x10010: read-only; in 'constants' [0x10000, 0x11000) at offset 0x10");
}

TEST_F(AddressSpaceTest, AMissNamesTheNearestAllocation) {
  ASSERT_TRUE(space_.Map(0x10000, 0x1000, a_.data(), Perm::kReadWrite, "input").ok());
  ASSERT_TRUE(space_.Map(0x20000, 0x1000, b_.data(), Perm::kReadWrite, "output").ok());
  EXPECT_EQ(space_.Explain(0x11010, 4, Access::kRead).Message(),
            "read of 4 bytes at 0x11010: unmapped; 16 bytes past the end of 'input' [0x10000, 0x11000)");
  EXPECT_EQ(space_.Explain(0x1fff0, 1, Access::kWrite).Message(),
            "write of 1 byte at 0x1fff0: unmapped; 16 bytes before the start of 'output' [0x20000, 0x21000)");
  const MemoryFault partial = space_.Explain(0x10ffe, 4, Access::kRead);
  EXPECT_EQ(partial.kind, MemoryFaultKind::kPartial);
  EXPECT_EQ(partial.address, 0x11000u) << "the first byte that cannot be read";
  EXPECT_EQ(AddressSpace().Explain(0x10, 4, Access::kRead).Message(),
            "read of 4 bytes at 0x10: unmapped; nothing is mapped");
}

TEST_F(AddressSpaceTest, UseAfterFreeSaysSo) {
  ASSERT_TRUE(space_.Map(0x10000, 0x1000, a_.data(), Perm::kReadWrite, "scratchpad").ok());
  ASSERT_NE(space_.Translate(0x10020, 4, Access::kRead), nullptr);
  ASSERT_TRUE(space_.Unmap(0x10000, 0x1000).ok());
  EXPECT_EQ(space_.Translate(0x10020, 4, Access::kRead), nullptr)
      << "the last hit must not outlive the mapping";
  const MemoryFault fault = space_.Explain(0x10020, 4, Access::kRead);
  EXPECT_TRUE(fault.was_freed);
  EXPECT_EQ(fault.Message(),
            "read of 4 bytes at 0x10020: unmapped; inside 'scratchpad' [0x10000, 0x11000), which was freed");
}

TEST_F(AddressSpaceTest, RefusesOverlapsAndEmptyRanges) {
  ASSERT_TRUE(space_.Map(0x10000, 0x1000, a_.data(), Perm::kRead, "a").ok());
  const absl::Status overlap = space_.Map(0x10fff, 1, b_.data(), Perm::kRead, "b");
  EXPECT_EQ(overlap.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(std::string(overlap.message()), "map 'b': [0x10fff, 0x11000) overlaps 'a' [0x10000, 0x11000)");
  EXPECT_FALSE(space_.Map(0x50000, 0, b_.data(), Perm::kRead, "b").ok());
  EXPECT_FALSE(space_.Map(~uint64_t{0}, 2, b_.data(), Perm::kRead, "b").ok());
  EXPECT_EQ(space_.Unmap(0x50000, 16).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(space_.Protect(0x10800, 0x1000, Perm::kRead).code(), absl::StatusCode::kNotFound);
}

// Map, unmap and protect at random against a byte-per-byte model.
TEST_F(AddressSpaceTest, AgreesWithAByteModel) {
  constexpr uint64_t kSpan = 512;
  std::vector<uint8_t> host(kSpan);
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    AddressSpace space;
    struct Byte {
      bool mapped = false;
      Perm perm = Perm::kNone;
      int region = 0;
    };
    std::vector<Byte> model(kSpan);
    for (int step = 0; step < 60; ++step) {
      const uint64_t va = random() % kSpan, size = 1 + random() % 48;
      if (va + size > kSpan) continue;
      const auto range = [&](auto fn) {
        for (uint64_t i = va; i < va + size; ++i) fn(model[i]);
      };
      bool any = false, all = true;
      range([&](Byte& b) { any |= b.mapped, all &= b.mapped; });
      const Perm perm = static_cast<Perm>(random() % 8);
      switch (random() % 3) {
        case 0:
          EXPECT_EQ(space.Map(va, size, host.data() + va, perm, "r").ok(), !any);
          if (!any) range([&](Byte& b) { b = {true, perm, step}; });
          break;
        case 1:
          EXPECT_EQ(space.Unmap(va, size).ok(), any);
          range([](Byte& b) { b = Byte(); });
          break;
        default:
          EXPECT_EQ(space.Protect(va, size, perm).ok(), all);
          if (all) range([&](Byte& b) { b.perm = perm; });
      }
      for (int probe = 0; probe < 20; ++probe) {
        const uint64_t at = random() % kSpan, n = 1 + random() % 8;
        if (at + n > kSpan) continue;
        const Access access = static_cast<Access>(1 + random() % 4);
        bool allowed = true;
        for (uint64_t i = at; i < at + n; ++i) {
          allowed &= model[i].mapped && Allows(model[i].perm, static_cast<Perm>(access));
        }
        ASSERT_EQ(space.Explain(at, n, access).kind == MemoryFaultKind::kNone, allowed)
            << "seed " << seed << " step " << step << " " << AccessName(access) << " of " << n << " at "
            << at;
        const uint8_t* translated = space.Translate(at, n, access);
        if (translated != nullptr) {
          ASSERT_TRUE(allowed);
          ASSERT_EQ(translated, host.data() + at);
        } else if (n == 1) {
          ASSERT_FALSE(allowed);
        }
      }
    }
  }
}

}  // namespace
}  // namespace understudy::emu
