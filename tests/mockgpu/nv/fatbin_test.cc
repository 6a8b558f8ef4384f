// SPDX-License-Identifier: Apache-2.0
// The fatbinary reader on containers that CUDA's own tools made: every compression gives the same PTX, the
// best target is chosen, machine code is refused, and no damaged container is read out of its bounds.
#include "mockgpu/nv/cuda/fatbin.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "mockgpu/nv/cuda/lz4.h"

namespace understudy::mockgpu::nv {
namespace {

std::string Read(const std::string& name) {
  std::ifstream in("tests/data/nv_fatbin/" + name, std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

absl::StatusOr<std::vector<FatbinEntry>> Parse(const std::string& bytes) {
  return ReadFatbin({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

TEST(Fatbin, EveryCompressionGivesTheSameText) {
  const auto plain = Parse(Read("plain.fatbin"));
  ASSERT_TRUE(plain.ok()) << plain.status();
  ASSERT_EQ(plain->size(), 2u);
  EXPECT_NE((*plain)[0].text.find(".visible .entry iota"), std::string::npos);
  EXPECT_NE((*plain)[0].text.find("st.global.u32"), std::string::npos);
  for (const char* name : {"zstd.fatbin", "lz4.fatbin"}) {
    const auto entries = Parse(Read(name));
    ASSERT_TRUE(entries.ok()) << name << ": " << entries.status();
    ASSERT_EQ(entries->size(), 2u) << name;
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE((*entries)[i].compressed);
      EXPECT_EQ((*entries)[i].text, (*plain)[i].text) << name;
      EXPECT_EQ((*entries)[i].sm, i == 0 ? 80 : 90);
      EXPECT_EQ((*entries)[i].major, 8);
    }
  }
}

TEST(Fatbin, TheHighestTargetThatTheDeviceRunsIsChosen) {
  const auto entries = Parse(Read("zstd.fatbin"));
  ASSERT_TRUE(entries.ok()) << entries.status();
  for (const auto& [sm, chosen] : {std::pair{75, 0}, {80, 80}, {89, 80}, {90, 90}, {100, 90}}) {
    const FatbinEntry* best = ChoosePtx(*entries, sm, true);
    EXPECT_EQ(best == nullptr ? 0 : best->sm, chosen) << "sm_" << sm;
  }
}

TEST(Fatbin, ArchitectureSpecificPtxRunsOnItsArchitectureOnly) {
  FatbinEntry base, special;
  base.sm = special.sm = 90;
  base.text = ".version 8.0\n.target sm_90\n";
  special.text = ".version 8.0\n.target sm_90a\n";
  const std::vector<FatbinEntry> both = {base, special};
  EXPECT_EQ(ChoosePtx(both, 90, true), &both[1]);
  EXPECT_EQ(ChoosePtx(both, 90, false), &both[0]);
  EXPECT_EQ(ChoosePtx(both, 100, true), &both[0]);
  EXPECT_EQ(ChoosePtx({special}, 100, true), nullptr);
}

TEST(Fatbin, MachineCodeIsListedAndNotChosen) {
  const auto entries = Parse(Read("machine_code.fatbin"));
  ASSERT_TRUE(entries.ok()) << entries.status();
  EXPECT_EQ(ListEntries(*entries), "machine code sm_90");
  EXPECT_EQ(ChoosePtx(*entries, 90, true), nullptr);
}

TEST(Fatbin, DamagedContainersAreRefusedOrRead) {
  for (const char* name : {"plain.fatbin", "zstd.fatbin", "lz4.fatbin"}) {
    const std::string good = Read(name);
    // Every prefix, from memory that ends where it ends.
    for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(Parse(good.substr(0, n)).ok()) << name << " " << n;
    for (size_t i = 0; i < good.size(); ++i) {
      for (const int bit : {0, 3, 7}) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ 1 << bit);
        const auto entries = Parse(bad);
        if (!entries.ok()) {
          EXPECT_FALSE(entries.status().message().empty());
        }
      }
    }
  }
}

TEST(Fatbin, ErrorsSayWhere) {
  std::string bytes = Read("plain.fatbin");
  const uint64_t huge = uint64_t{1} << 50;
  std::memcpy(bytes.data() + 16 + 8, &huge, 8);
  const auto entries = Parse(bytes);
  ASSERT_FALSE(entries.ok());
  EXPECT_NE(std::string(entries.status().message()).find("entry 0 at byte 16"), std::string::npos)
      << entries.status();
}

TEST(Lz4, OverlappingMatchesRepeat) {
  // One literal 'a', then a match of 8 at distance 1, then no more literals.
  const std::vector<uint8_t> block = {0x14, 'a', 1, 0, 0x10, 'b'};
  const auto out = DecodeLz4Block(block, 10);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(std::string(out->begin(), out->end()), "aaaaaaaaab");
}

TEST(Lz4, WrongBlocksAreNamed) {
  EXPECT_EQ(DecodeLz4Block({}, 1).status().message(), "LZ4: 0 bytes, expected 1");
  // A match before any output.
  EXPECT_FALSE(DecodeLz4Block(std::vector<uint8_t>{0x00, 1, 0}, 4).ok());
  // More than the size that was promised.
  EXPECT_FALSE(DecodeLz4Block(std::vector<uint8_t>{0x50, 'a', 'b', 'c', 'd', 'e'}, 3).ok());
  // Nobody allocates a gigabyte for five bytes.
  EXPECT_FALSE(DecodeLz4Block(std::vector<uint8_t>{0x50, 'a', 'b', 'c', 'd'}, 1 << 30).ok());
}

}  // namespace
}  // namespace understudy::mockgpu::nv
