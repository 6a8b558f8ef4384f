// SPDX-License-Identifier: Apache-2.0
// Tensor-map copies against a reference that visits single elements, written from the CUDA driver manual's
// description of tiles and im2col boxes and the PTX manual's tables of swizzles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "emu/ptx/semantics/tensor_walk.h"
#include "tests/emu/ptx/memory/memory_machine.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint64_t kBuffer = 0x7f0000000000, kMapAddress = 0x7e0000000000;

// PTX ISA 8.8, "Swizzling Modes": each line of 128 bytes shows which 16-byte chunk of the source lies where;
// the patterns repeat.
constexpr int k32[][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}};
constexpr int k64[][8] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4}};
constexpr int k128[][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5},
                           {3, 2, 1, 0, 7, 6, 5, 4}, {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
                           {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
constexpr int kAtom32[][8] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {2, 3, 0, 1, 6, 7, 4, 5}, {4, 5, 6, 7, 0, 1, 2, 3}, {6, 7, 4, 5, 2, 3, 0, 1}};
constexpr int kAtom64[][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 6, 7, 0, 1, 2, 3}};

uint32_t Swizzled(TensorSwizzle swizzle, uint32_t at) {
  const uint32_t line = at / 128, chunk = at % 128 / 16;
  const auto place = [&](const int(*pattern)[8], uint32_t lines, bool flip) {
    for (uint32_t to = 0; to < 8; ++to)
      if (static_cast<uint32_t>(pattern[line % lines][to]) == chunk)
        // "A flip of adjacent 8-bytes within the 16-byte data at every alternate shared memory line."
        return line * 128 + to * 16 + (flip && line % 2 == 1 ? (at + 8) % 16 : at % 16);
    return at;
  };
  switch (swizzle) {
    case TensorSwizzle::kNone:
      return at;
    case TensorSwizzle::k32B:
      return place(k32, 2, false);
    case TensorSwizzle::k64B:
      return place(k64, 4, false);
    case TensorSwizzle::k128B:
      return place(k128, 8, false);
    case TensorSwizzle::k128BAtom32B:
      return place(kAtom32, 4, false);
    case TensorSwizzle::k128BAtom32BFlip8B:
      return place(kAtom32, 4, true);
    case TensorSwizzle::k128BAtom64B:
      return place(kAtom64, 2, false);
  }
  return at;
}

struct Tile {
  TensorMap map;
  std::vector<int32_t> at;
};

std::vector<uint8_t> Reference(const Tile& t, const uint8_t* global, uint32_t shared_bytes, uint32_t base) {
  std::vector<uint8_t> out(shared_bytes, 0xcc);
  const TensorMap& map = t.map;
  const int element = TensorElementBytes(map.type);
  uint32_t count[5] = {1, 1, 1, 1, 1};
  for (int i = 0; i < map.rank; ++i)
    count[i] = i == 0 ? map.box[0] : (map.box[i] + map.element_stride[i] - 1) / map.element_stride[i];
  // A row that is shorter than its swizzle leaves the rest of the span as it is.
  const uint32_t span = map.swizzle == TensorSwizzle::kNone  ? 0
                        : map.swizzle == TensorSwizzle::k32B ? 32
                        : map.swizzle == TensorSwizzle::k64B ? 64
                                                             : 128;
  const uint32_t pitch = std::max(span, count[0] * static_cast<uint32_t>(element));
  uint32_t row = 0;
  for (uint32_t e = 0; e < count[4]; ++e)
    for (uint32_t d = 0; d < count[3]; ++d)
      for (uint32_t c = 0; c < count[2]; ++c)
        for (uint32_t b = 0; b < count[1]; ++b, ++row)
          for (uint32_t a = 0; a < count[0]; ++a) {
            const uint32_t index[5] = {a, b, c, d, e};
            int64_t from = 0;
            bool inside = true;
            for (int i = 0; i < map.rank; ++i) {
              const int64_t x = t.at[i] + int64_t{index[i]} * (i == 0 ? 1 : map.element_stride[i]);
              inside = inside && x >= 0 && x < static_cast<int64_t>(map.dim[i]);
              from += x * static_cast<int64_t>(i == 0 ? element : map.stride[i]);
            }
            for (int i = 0; i < element; ++i) {
              const uint8_t fill = map.fill == TensorFill::kZero ? 0 : i % 2 == 1 ? 0x7f : 0xf7;
              out[Swizzled(map.swizzle, base + row * pitch + a * element + i)] =
                  inside ? global[from + i] : fill;
            }
          }
  return out;
}

std::string Coordinates(int rank) {
  std::string text = "{";
  for (int i = 0; i < rank; ++i) text += (i ? "," : "") + std::string("%r") + std::to_string(10 + i);
  return text + "}";
}

TEST(Tensor, TilesOfAllRanksAndSwizzlesLoadAndStore) {
  std::mt19937 random(5);
  for (int rank = 1; rank <= 5; ++rank)
    for (TensorSwizzle swizzle :
         {TensorSwizzle::kNone, TensorSwizzle::k32B, TensorSwizzle::k64B, TensorSwizzle::k128B,
          TensorSwizzle::k128BAtom32B, TensorSwizzle::k128BAtom32BFlip8B, TensorSwizzle::k128BAtom64B})
      for (int trial = 0; trial < 6; ++trial) {
        MemoryMachine m;
        uint8_t* global = m.Map(kBuffer, 1 << 20, "tensor");
        uint8_t* descriptor = m.Map(kMapAddress, 128, "map");
        for (int i = 0; i < 1 << 20; ++i) global[i] = static_cast<uint8_t>(random());
        Tile t;
        TensorMap& map = t.map;
        map.rank = rank;
        map.type = trial % 3 == 0   ? TensorDataType::kF16
                   : trial % 3 == 1 ? TensorDataType::kF32
                                    : TensorDataType::kBf16;
        const uint32_t element = static_cast<uint32_t>(TensorElementBytes(map.type));
        map.swizzle = swizzle;
        map.fill = trial % 2 != 0 ? TensorFill::kNan : TensorFill::kZero;
        map.address = kBuffer;
        map.stride[0] = element;
        const uint32_t inner = swizzle == TensorSwizzle::k32B   ? 32
                               : swizzle == TensorSwizzle::k64B ? 64
                                                                : 128;
        uint64_t stride = 256;
        for (int i = 0; i < rank; ++i) {
          map.dim[i] = i == 0 ? 100 / element : 3 + random() % 5;
          if (i > 0) map.stride[i] = stride, stride *= map.dim[i];
          map.box[i] = i == 0 ? (trial == 2 ? 16 : inner) / element
                              : 1 + random() % (rank > 4   ? 2
                                                : rank > 3 ? 3
                                                           : 5);
          map.element_stride[i] = i > 0 && trial > 3 ? 1 + random() % 2 : 1;
          // In dimension 0 by 16 bytes: others are faults.
          const int32_t unit = i == 0 ? 16 / static_cast<int32_t>(element) : 1;
          t.at.push_back((static_cast<int32_t>(random() % 6) - 2) * unit);
          m.SetAll("%r" + std::to_string(10 + i), static_cast<uint32_t>(t.at.back()));
        }
        ASSERT_TRUE(EncodeTensorMap(map, descriptor).ok()) << EncodeTensorMap(map, descriptor);
        const uint64_t bytes = TensorCopyBytes(map, {});
        ASSERT_LE(bytes, 6000u);
        std::memset(m.shared(), 0xcc, 8192);
        m.SetAll("%d1", kMapAddress);
        m.SetAll("%r1", 1);
        m.SetAll("%r2", 0);
        m.SetAll("%r3", static_cast<uint32_t>(bytes));
        const std::string dim = std::to_string(rank) + "d";
        ASSERT_EQ(m.Run("mbarrier.init.shared.b64 [smem+8184], %r1;"
                        "mbarrier.arrive.expect_tx.shared.b64 %d2, [smem+8184], %r3;"
                        "cp.async.bulk.tensor." +
                            dim +
                            ".shared::cluster.global.mbarrier::complete_tx::bytes "
                            "[smem+1024], [%d1, " +
                            Coordinates(rank) +
                            "], [smem+8184];"
                            "mbarrier.try_wait.parity.shared.b64 %p0, [smem+8184], %r2;",
                        1),
                  ExecResult::kNext)
            << m.fault().message;
        const std::vector<uint8_t> expected = Reference(t, global, 8192, 1024);
        ASSERT_EQ(std::memcmp(m.shared(), expected.data(), 8184), 0)
            << "rank " << rank << " swizzle " << static_cast<int>(swizzle) << " trial " << trial;
        // Storing what was loaded changes nothing, inside or beyond the end; below the tensor it is a fault.
        const bool below = std::any_of(t.at.begin(), t.at.end(), [](int32_t at) { return at < 0; });
        const std::vector<uint8_t> before(global, global + (1 << 20));
        ASSERT_EQ(m.Run("cp.async.bulk.tensor." + dim + ".global.shared::cta.bulk_group [%d1, " +
                            Coordinates(rank) +
                            "], [smem+1024]; cp.async.bulk.commit_group;"
                            "cp.async.bulk.wait_group 0;",
                        1),
                  below ? ExecResult::kFault : ExecResult::kNext)
            << m.fault().message;
        if (below) {
          ASSERT_EQ(m.fault().kind, FaultKind::kIllegalInstruction);
        }
        ASSERT_EQ(std::memcmp(global, before.data(), 1 << 20), 0);
      }
}

TEST(Tensor, Tf32IsRoundedToNearestEvenOnTheWay) {
  struct Row {
    uint32_t in, out;
  };
  // What an H200 gives.
  for (const Row& row :
       {Row{0x3f800fff, 0x3f800000}, Row{0x3f801000, 0x3f800000}, Row{0x3f801001, 0x3f802000},
        Row{0x3f803000, 0x3f804000}, Row{0x00001000, 0}, Row{0x00003000, 0x00004000},
        Row{0x007ff000, 0x00800000}, Row{0x7f7ff000, 0x7f800000}, Row{0x7f800000, 0x7f800000},
        Row{0x7f800001, 0x7fffe000}, Row{0xff800001, 0x7fffe000}, Row{0x80001001, 0x80002000}})
    EXPECT_EQ(TensorTf32(row.in), row.out) << std::hex << row.in;
}

TEST(Tensor, Im2colWalksTheBoundingBox) {
  MemoryMachine m;
  uint8_t* global = m.Map(kBuffer, 1 << 16, "image");
  uint8_t* descriptor = m.Map(kMapAddress, 128, "map");
  constexpr int kC = 8, kW = 5, kH = 4, kN = 2, kPixels = 14;
  for (int i = 0; i < kC * kW * kH * kN; ++i) {
    const uint16_t v = static_cast<uint16_t>(i + 1);
    std::memcpy(global + 2 * i, &v, 2);
  }
  TensorMap map;
  map.mode = TensorMode::kIm2col;
  map.rank = 4;
  map.type = TensorDataType::kF16;
  map.address = kBuffer;
  map.dim = {kC, kW, kH, kN, 1};
  map.stride = {2, 2 * kC, 2 * kC * kW, 2 * kC * kW * kH, 0};
  map.lower = {-1, -1, 0};
  map.upper = {-1, -1, 0};
  map.channels = kC;
  map.pixels = kPixels;
  ASSERT_TRUE(EncodeTensorMap(map, descriptor).ok()) << EncodeTensorMap(map, descriptor);
  const int start[4] = {0, 1, 0, 0}, offset[2] = {2, 1};
  for (int i = 0; i < 4; ++i) m.SetAll("%r" + std::to_string(10 + i), static_cast<uint32_t>(start[i]));
  m.SetAll("%h1", offset[0]);
  m.SetAll("%h2", offset[1]);
  m.SetAll("%d1", kMapAddress);
  m.SetAll("%r1", 1);
  m.SetAll("%r2", 0);
  m.SetAll("%r3", kPixels * kC * 2);
  ASSERT_EQ(m.Run("mbarrier.init.shared.b64 [smem+4000], %r1;"
                  "mbarrier.arrive.expect_tx.shared.b64 %d2, [smem+4000], %r3;"
                  "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                  "[smem], [%d1, {%r10,%r11,%r12,%r13}], [smem+4000], {%h1,%h2};"
                  "mbarrier.try_wait.parity.shared.b64 %p0, [smem+4000], %r2;",
                  1),
            ExecResult::kNext)
      << m.fault().message;
  int w = start[1], h = start[2], n = start[3];
  for (int pixel = 0; pixel < kPixels; ++pixel) {
    for (int c = 0; c < kC; ++c) {
      const int x = w + offset[0], y = h + offset[1];
      const bool inside = x >= 0 && x < kW && y >= 0 && y < kH && n < kN;
      uint16_t got;
      std::memcpy(&got, m.shared() + 2 * (pixel * kC + c), 2);
      ASSERT_EQ(got, inside ? ((n * kH + y) * kW + x) * kC + c + 1 : 0) << "pixel " << pixel;
    }
    if (++w > kW - 1 - 1) {
      w = -1;
      if (++h > kH - 1 - 1) h = -1, ++n;
    }
  }
}

TEST(Tensor, ReplacedFieldsAndReductions) {
  MemoryMachine m;
  uint8_t* global = m.Map(kBuffer, 8192, "tensor");
  uint8_t* descriptor = m.Map(kMapAddress, 128, "map");
  TensorMap map;
  map.rank = 2;
  map.type = TensorDataType::kU32;
  map.address = kBuffer;
  map.dim = {4, 4, 1, 1, 1};
  map.stride = {4, 16, 0, 0, 0};
  map.box = {4, 4, 0, 0, 0};
  ASSERT_TRUE(EncodeTensorMap(map, descriptor).ok());
  m.SetAll("%d1", kMapAddress);
  m.SetAll("%d2", kBuffer + 4096);
  m.SetAll("%r1", 3);
  m.SetAll("%r10", 0);
  m.SetAll("%r11", 0);
  const uint32_t five = 5;
  for (int i = 0; i < 16; ++i) std::memcpy(m.shared() + 4 * i, &five, 4);
  ASSERT_EQ(m.Run("tensormap.replace.tile.global_address.global.b1024.b64 [%d1], %d2;"
                  "tensormap.replace.tile.global_dim.global.b1024.b32 [%d1], 1, %r1;"
                  "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
                  "[%d1, {%r10,%r11}], [smem]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
                  1),
            ExecResult::kNext)
      << m.fault().message;
  for (int i = 0; i < 16; ++i) {
    uint32_t got;
    std::memcpy(&got, global + 4096 + 4 * i, 4);
    EXPECT_EQ(got, i < 12 ? 5u : 0u) << i;  // the fourth row is outside now
  }
}

TEST(Tensor, WhatTheDriverRefusesIsNamed) {
  TensorMap map;
  map.rank = 2;
  map.type = TensorDataType::kF16;
  map.dim = {64, 64, 1, 1, 1};
  map.stride = {2, 128, 0, 0, 0};
  map.box = {64, 64, 0, 0, 0};
  uint8_t bytes[128];
  EXPECT_TRUE(EncodeTensorMap(map, bytes).ok());
  map.swizzle = TensorSwizzle::k64B;
  EXPECT_EQ(EncodeTensorMap(map, bytes).message(),
            "tensor map: the inner dimension of the box has 128 bytes, more than the swizzle's 64");
  map.swizzle = TensorSwizzle::kNone;
  map.stride[1] = 120;
  EXPECT_EQ(EncodeTensorMap(map, bytes).message(),
            "tensor map: stride 120 of dimension 1, expected a multiple of 16 below 2^40");
  map.stride[1] = 128;
  map.interleave = TensorInterleave::k32B;
  EXPECT_EQ(EncodeTensorMap(map, bytes).message(),
            "tensor map: rank 2 of an interleaved layout, expected 3..5");
  map.rank = 3;
  map.stride[2] = 8208;
  map.dim[2] = 2;
  map.box = {8, 2, 1, 0, 0};
  EXPECT_EQ(EncodeTensorMap(map, bytes).message(),
            "tensor map: stride 8208 of dimension 2, expected a multiple of 32 below 2^40");
  map.stride[2] = 8192;
  EXPECT_TRUE(EncodeTensorMap(map, bytes).ok());
  std::memset(bytes, 0, 128);
  EXPECT_EQ(DecodeTensorMap(bytes).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace understudy::emu::ptx
