// SPDX-License-Identifier: Apache-2.0
// The tensor copies of sm_100: four rows of a matrix, im2col along W, packed elements of 4 and 6 bits. What
// is expected is written from PTX ISA 8.8, "Tensors", element by element; no sm_100 has been asked.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "emu/ptx/semantics/tensor_map.h"
#include "tests/emu/ptx/memory/memory_machine.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint64_t kBuffer = 0x7f0000000000, kMapAddress = 0x7e0000000000;
constexpr uint8_t kUntouched = 0xcc;

class Sm100 : public testing::Test {
 protected:
  static MemoryMachine::Shape Target(int ctas) {
    MemoryMachine::Shape shape;
    shape.target = "sm_100a";
    shape.ctas = ctas;
    shape.shared_bytes = 32768;
    return shape;
  }
  void SetUp() override { Reset(1); }
  void Reset(int ctas) {
    machine_ = std::make_unique<MemoryMachine>(Target(ctas));
    global_ = machine_->Map(kBuffer, kGlobalBytes, "tensor");
    descriptor_ = machine_->Map(kMapAddress, 128, "map");
    std::mt19937 random(7);
    for (uint64_t i = 0; i < kGlobalBytes; ++i) global_[i] = static_cast<uint8_t>(random());
    for (int cta = 0; cta < ctas; ++cta) std::memset(machine_->shared(cta), kUntouched, 32768);
    machine_->SetAll("%d1", kMapAddress);
  }
  MemoryMachine& m() { return *machine_; }

  void Encode(const TensorMap& map) {
    const absl::Status status = EncodeTensorMap(map, descriptor_);
    ASSERT_TRUE(status.ok()) << status;
  }
  void SetCoordinates(const std::vector<int32_t>& at) {
    coordinates_ = "{";
    for (size_t i = 0; i < at.size(); ++i) {
      const std::string reg = "%r" + std::to_string(10 + i);
      coordinates_ += (i == 0 ? "" : ",") + reg;
      m().SetAll(reg, static_cast<uint32_t>(at[i]));
    }
    coordinates_ += "}";
  }
  // Loads to offset 1024 of shared memory; the mbarrier expects exactly `bytes`.
  ExecResult Load(const std::string& dim, const std::string& mode, uint64_t bytes,
                  const std::string& more = "", const std::string& suffix = "") {
    m().SetAll("%r1", 1);
    m().SetAll("%r2", 0);
    m().SetAll("%r3", static_cast<uint32_t>(bytes));
    const ExecResult result = m().Run(
        "mbarrier.init.shared.b64 [smem+8], %r1;"
        "mbarrier.arrive.expect_tx.shared.b64 %d2, [smem+8], %r3;"
        "cp.async.bulk.tensor." +
            dim + ".shared::cluster.global" + mode + ".mbarrier::complete_tx::bytes" + suffix +
            " [smem+1024], [%d1, " + coordinates_ + "], [smem+8]" + more +
            "; mbarrier.test_wait.parity.shared.b64 %p0, [smem+8], %r2;",
        1);
    if (result != ExecResult::kFault) {
      EXPECT_EQ(m().Pred("%p0") & 1, 1u) << "not " << bytes << " bytes";
    }
    return result;
  }
  ExecResult Store(const std::string& dim, const std::string& mode) {
    return m().Run("cp.async.bulk.tensor." + dim + ".global.shared::cta" + mode + ".bulk_group [%d1, " +
                       coordinates_ +
                       "], [smem+1024]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
                   1);
  }

  static constexpr uint64_t kGlobalBytes = 1 << 18;
  std::unique_ptr<MemoryMachine> machine_;
  uint8_t* global_ = nullptr;
  uint8_t* descriptor_ = nullptr;
  std::string coordinates_;
};

TensorMap Matrix(TensorDataType type, uint64_t columns, uint64_t rows, uint64_t pitch, uint32_t box_columns) {
  TensorMap map;
  map.rank = 2;
  map.type = type;
  map.address = kBuffer;
  map.dim = {columns, rows, 1, 1, 1};
  map.stride = {static_cast<uint64_t>(TensorElementBytes(type)), pitch, 0, 0, 0};
  map.box = {box_columns, 1, 0, 0, 0};
  return map;
}

// "{col_idx, row_idx0, row_idx1, row_idx2, row_idx3}": four rows of the box's length, one after the other.
TEST_F(Sm100, GatherFourLoadsRowsByTheirNumbers) {
  constexpr int kColumns = 40, kRows = 20, kPitch = 128;
  Encode(Matrix(TensorDataType::kU16, kColumns, kRows, kPitch, 32));
  const std::vector<int32_t> at = {16, 2, 19, 0, 20};  // columns 40..47 and row 20 are outside
  SetCoordinates(at);
  ASSERT_EQ(Load("2d", ".tile::gather4", 4 * 64), ExecResult::kNext) << m().fault().message;
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < 32; ++column) {
      const int x = at[0] + column, y = at[static_cast<size_t>(1 + row)];
      uint16_t got, expected = 0;
      std::memcpy(&got, m().shared() + 1024 + 64 * row + 2 * column, 2);
      if (x < kColumns && y < kRows) std::memcpy(&expected, global_ + y * kPitch + 2 * x, 2);
      ASSERT_EQ(got, expected) << row << ", " << column;
    }
  EXPECT_EQ(m().shared()[1024 + 256], kUntouched);
}

TEST_F(Sm100, ScatterFourStoresRowsByTheirNumbers) {
  constexpr int kColumns = 40, kRows = 20, kPitch = 128;
  Encode(Matrix(TensorDataType::kU16, kColumns, kRows, kPitch, 32));
  const std::vector<int32_t> at = {16, 7, 3, 21, 11};  // columns 40..47 and row 21 are outside
  SetCoordinates(at);
  const std::vector<uint8_t> before(global_, global_ + kGlobalBytes);
  for (int i = 0; i < 256; ++i) m().shared()[1024 + i] = static_cast<uint8_t>(i);
  ASSERT_EQ(Store("2d", ".tile::scatter4"), ExecResult::kNext) << m().fault().message;
  std::vector<uint8_t> expected = before;
  for (int row = 0; row < 4; ++row)
    for (int byte = 0; byte < 64; ++byte) {
      const int x = at[0] + byte / 2, y = at[static_cast<size_t>(1 + row)];
      if (x < kColumns && y < kRows)
        expected[static_cast<size_t>(y * kPitch + 2 * at[0] + byte)] = static_cast<uint8_t>(64 * row + byte);
    }
  EXPECT_EQ(std::memcmp(global_, expected.data(), kGlobalBytes), 0);
}

TEST_F(Sm100, FourRowsNeedABoxOfOneRow) {
  TensorMap map = Matrix(TensorDataType::kU16, 40, 20, 128, 32);
  map.box[1] = 4;
  Encode(map);
  SetCoordinates({0, 0, 1, 2, 3});
  ASSERT_EQ(Load("2d", ".tile::gather4", 256), ExecResult::kFault);
  EXPECT_NE(m().fault().message.find("four rows by a tensor map whose box has 4 rows, expected 1"),
            std::string::npos)
      << m().fault().message;
}

// N, H, W, C of an image of bytes, in which pixel (n, h, w) has channel values of its own.
struct Image {
  int n, h, w, c;
  TensorMap Map(TensorMode mode, int lower, int upper, uint32_t pixels) const {
    TensorMap map;
    map.mode = mode;
    map.rank = 4;
    map.type = TensorDataType::kU8;
    map.swizzle = TensorSwizzle::k64B;
    map.address = kBuffer;
    map.dim = {static_cast<uint64_t>(c), static_cast<uint64_t>(w), static_cast<uint64_t>(h),
               static_cast<uint64_t>(n), 1};
    map.stride = {1, static_cast<uint64_t>(c), static_cast<uint64_t>(c * w), static_cast<uint64_t>(c * w * h),
                  0};
    map.lower = {lower, 0, 0};
    map.upper = {upper, 0, 0};
    map.channels = 64;
    map.pixels = pixels;
    return map;
  }
};

// Byte `byte` of shared pixel `pixel`, which lies in 64 bytes with the swizzle of that size.
uint8_t SwizzledByte(const uint8_t* shared, int pixel, int byte) {
  const int at = 1024 + 64 * pixel + byte;
  const int line = at / 128 % 4;
  return shared[at ^ line << 4];
}

// Pixels go along W from the given one, within the bounding box [lower, W - 1 + upper], at one H, on to the
// next image; the halo goes on where they end. Offsets move all of them.
void ExpectPixels(const uint8_t* global, const uint8_t* shared, const Image& image, int first_n, int h, int w,
                  int lower, int upper, int step, int offset, int count, int first_pixel) {
  int n = first_n;
  for (int i = 0; i < count; ++i) {
    const int x = w + offset;
    const bool inside = x >= 0 && x < image.w && n < image.n;
    for (int c = 0; c < 64; ++c) {
      const uint8_t expected = inside ? global[((n * image.h + h) * image.w + x) * image.c + c] : 0;
      ASSERT_EQ(SwizzledByte(shared, first_pixel + i, c), expected) << "pixel " << i << " channel " << c;
    }
    w += step;
    if (w > image.w - 1 + upper) w = lower, ++n;
  }
}

// The manual's example of im2col::w (tensor 7 wide, start at W = 3, halo 2), in smaller numbers.
TEST_F(Sm100, Im2colAlongWWithHalo) {
  const Image image{7, 5, 7, 64};
  Encode(image.Map(TensorMode::kIm2colW, 0, 0, 32));
  SetCoordinates({0, 3, 2, 1});
  m().SetAll("%h1", 2);
  m().SetAll("%h2", 0);
  ASSERT_EQ(Load("4d", ".im2col::w", 34 * 64, ", {%h1,%h2}"), ExecResult::kNext) << m().fault().message;
  ExpectPixels(global_, m().shared(), image, 1, 2, 3, 0, 0, 1, 0, 34, 0);
  EXPECT_EQ(m().shared()[1024 + 34 * 64], kUntouched);
}

// The manual's example 2 of wOffset: corners -1, traversal stride 3, three buffers by offset.
TEST_F(Sm100, Im2colAlongWWithOffsetsAndStride) {
  const Image image{8, 3, 7, 64};
  TensorMap map = image.Map(TensorMode::kIm2colW, -1, -1, 20);
  map.element_stride[1] = 3;
  Encode(map);
  SetCoordinates({0, -1, 2, 1});
  for (const int offset : {0, 1, 2}) {
    m().SetAll("%h1", 0);
    m().SetAll("%h2", static_cast<uint64_t>(offset));
    ASSERT_EQ(Load("4d", ".im2col::w", 20 * 64, ", {%h1,%h2}"), ExecResult::kNext) << m().fault().message;
    ExpectPixels(global_, m().shared(), image, 1, 2, -1, -1, -1, 3, offset, 20, 0);
  }
}

// "The halo elements are loaded after every 32 elements": four groups of 32 pixels and the halo. Pixels per
// column do not matter.
TEST_F(Sm100, Im2colAlongWOf128HasAHaloForEach32) {
  const Image image{12, 2, 16, 64};
  Encode(image.Map(TensorMode::kIm2colW128, 0, 0, 5));
  SetCoordinates({0, 3, 1, 1});
  m().SetAll("%h1", 3);
  m().SetAll("%h2", 0);
  ASSERT_EQ(Load("4d", ".im2col::w::128", (128 + 4 * 3) * 64, ", {%h1,%h2}"), ExecResult::kNext)
      << m().fault().message;
  for (int group = 0; group < 4; ++group) {
    const int walked = 3 + 32 * group;
    ExpectPixels(global_, m().shared(), image, 1 + walked / 16, 1, walked % 16, 0, 0, 1, 0, 35, 35 * group);
  }
  m().SetAll("%h1", 32);
  ASSERT_EQ(Load("4d", ".im2col::w::128", 64, ", {%h1,%h2}"), ExecResult::kFault);
  EXPECT_NE(m().fault().message.find("a halo of 32 pixels, expected at most 31"), std::string::npos)
      << m().fault().message;
}

TEST_F(Sm100, ModesOfMapAndInstructionMustAgree) {
  const Image image{4, 3, 8, 64};
  Encode(image.Map(TensorMode::kIm2colW, 0, 0, 16));
  SetCoordinates({0, 0, 0, 0});
  ASSERT_EQ(Load("4d", ".im2col::w::128", 64, ", {%h1,%h2}"), ExecResult::kFault);
  EXPECT_NE(m().fault().message.find("the tensor map is .im2col::w, the instruction .im2col::w::128"),
            std::string::npos)
      << m().fault().message;
}

// "16U4_ALIGN8B: no gaps between packed values."
TEST_F(Sm100, PackedElementsOfFourBitsLieAsInGlobalMemory) {
  Encode(Matrix(TensorDataType::k16U4Align8, 100, 6, 64, 64));
  SetCoordinates({64, 3});  // elements 100..127 are outside
  ASSERT_EQ(Load("2d", "", 32), ExecResult::kNext) << m().fault().message;
  for (int i = 0; i < 32; ++i) EXPECT_EQ(m().shared()[1024 + i], i < 18 ? global_[3 * 64 + 32 + i] : 0) << i;
  EXPECT_EQ(m().shared()[1024 + 32], kUntouched);
}

// "There are 8 byte gaps between every 8 byte chunk of packed values", "4 byte gaps between every 12 byte
// chunk"; "the padded region that gets added is un-initialized": left as it was. The mbarrier counts the
// packed bytes.
TEST_F(Sm100, PaddedElementsLieInSixteenBytesEach) {
  for (const bool six : {false, true})
    for (const TensorSwizzle swizzle :
         {TensorSwizzle::kNone, TensorSwizzle::k128B, TensorSwizzle::k128BAtom32B}) {
      Reset(1);
      const int group = six ? 12 : 8, row_bytes = 8 * group;
      TensorMap map =
          Matrix(six ? TensorDataType::k16U6Align16 : TensorDataType::k16U4Align16, 256, 5, 256, 128);
      map.box[1] = 3;
      map.swizzle = swizzle;
      Encode(map);
      SetCoordinates({128, 3});  // row 5 is outside
      ASSERT_EQ(Load("2d", "", 3 * static_cast<uint64_t>(row_bytes)), ExecResult::kNext)
          << m().fault().message;
      for (int row = 0; row < 3; ++row)
        for (int chunk = 0; chunk < 8; ++chunk) {
          const int line = (1024 / 128 + row) % 8;
          const int to = swizzle == TensorSwizzle::kNone   ? chunk
                         : swizzle == TensorSwizzle::k128B ? chunk ^ line
                                                           : chunk ^ line % 4 * 2;
          for (int byte = 0; byte < 16; ++byte) {
            const uint8_t expected = byte >= group ? kUntouched
                                     : row == 2    ? 0
                                                : global_[(3 + row) * 256 + row_bytes + chunk * group + byte];
            ASSERT_EQ(m().shared()[1024 + 128 * row + 16 * to + byte], expected)
                << (six ? 6 : 4) << " bits, row " << row << " chunk " << chunk << " byte " << byte;
          }
        }
    }
}

// "Sixteen elements, each containing 6-bits of data at the LSB and 2-bits of padding at the MSB, are copied
// from shared memory into the global memory by discarding the 2-bits of padding data."
TEST_F(Sm100, StoresOfSixBitsPack) {
  TensorMap map = Matrix(TensorDataType::k16U6Align16, 256, 5, 256, 128);
  map.swizzle = TensorSwizzle::k128BAtom64B;
  Encode(map);
  SetCoordinates({128, 2});
  const std::vector<uint8_t> before(global_, global_ + kGlobalBytes);
  std::vector<uint8_t> expected = before;
  // Line 9 of shared memory: the halves of 64 bytes change places.
  SetCoordinates({128, 2});
  for (int i = 0; i < 128; ++i) m().shared()[1024 + i] = static_cast<uint8_t>(i * 7 + 130);
  for (int i = 0; i < 128; ++i) {
    const int value = (i * 7 + 130) & 63;
    for (int bit = 0; bit < 6; ++bit) {
      const size_t at = static_cast<size_t>(i * 6 + bit);
      uint8_t& byte = expected[2 * 256 + 96 + at / 8];
      byte = static_cast<uint8_t>((byte & ~(1 << at % 8)) | (value >> bit & 1) << at % 8);
    }
  }
  ASSERT_EQ(Store("2d", ""), ExecResult::kNext) << m().fault().message;
  EXPECT_EQ(std::memcmp(global_, expected.data(), kGlobalBytes), 0);
  // Loads with this swizzle: cuda.h and the PTX manual differ.
  ASSERT_EQ(Load("2d", "", 96), ExecResult::kFault);
  EXPECT_EQ(m().fault().kind, FaultKind::kRefused);
}

TEST_F(Sm100, WhatCudaSaysOfPackedElementsIsChecked) {
  uint8_t bytes[128];
  const auto error = [&](const TensorMap& map) { return std::string(EncodeTensorMap(map, bytes).message()); };
  TensorMap map = Matrix(TensorDataType::k16U6Align16, 256, 5, 256, 128);
  EXPECT_EQ(error(map), "");
  map.dim[0] = 192;
  EXPECT_EQ(error(map), "tensor map: dimension 0 has 192 elements, expected a multiple of 128");
  map.dim[0] = 256;
  map.box[0] = 64;
  EXPECT_EQ(error(map), "tensor map: 64 elements in the inner dimension of the box, expected 128");
  map.box[0] = 128;
  map.swizzle = TensorSwizzle::k64B;
  EXPECT_EQ(error(map), "tensor map: swizzle 2 of padded elements of 6 bits");
  map.swizzle = TensorSwizzle::k128BAtom64B;
  EXPECT_EQ(error(map), "");
  map.type = TensorDataType::k16U4Align16;
  EXPECT_EQ(error(map), "tensor map: swizzle 6 of padded elements of 4 bits");
  map.swizzle = TensorSwizzle::kNone;
  map.stride[1] = 272;
  EXPECT_EQ(error(map), "tensor map: stride 272 of dimension 1, expected a multiple of 32 below 2^40");
  map = Matrix(TensorDataType::k16U4Align8, 101, 5, 64, 64);
  EXPECT_EQ(error(map), "tensor map: dimension 0 has 101 elements, expected a multiple of 2");
  map.dim[0] = 100;
  map.fill = TensorFill::kNan;
  EXPECT_EQ(error(map), "tensor map: NaN fill of a data type that is not floating point");
  TensorMap wide = Image{4, 3, 8, 64}.Map(TensorMode::kIm2colW, 0, 0, 16);
  EXPECT_EQ(error(wide), "");
  wide.swizzle = TensorSwizzle::kNone;
  EXPECT_EQ(error(wide), "tensor map: swizzle 0 in a wide im2col mode, expected 2, 3 or 4");
}

// ".cta_group::2: for each destination CTA the mbarrier signal is sent either to the destination CTA or its
// peer based on the parity of the CTA where mbar resides."
TEST_F(Sm100, SignalsOfAPairGoToTheCtaOfTheBarriersParity) {
  Reset(4);
  Encode(Matrix(TensorDataType::kU16, 64, 8, 128, 64));
  SetCoordinates({0, 5});
  for (int cta = 0; cta < 4; ++cta) {
    m().Select(cta, 0);
    m().SetAll("%r1", 1);
    m().SetAll("%r3", cta == 1 ? 256 : cta == 3 ? 128 : 0);
    ASSERT_EQ(m().Run("mbarrier.init.shared.b64 [smem+8], %r1;"
                      "mbarrier.arrive.expect_tx.shared.b64 %d2, [smem+8], %r3;",
                      1),
              ExecResult::kNext);
  }
  m().Select(1, 0);
  m().SetAll("%d1", kMapAddress);
  SetCoordinates({0, 5});
  m().SetAll("%h1", 0b0111);  // CTAs 0, 1 and 2; signals to 1, 1 and 3
  ASSERT_EQ(m().Run("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                    ".multicast::cluster.cta_group::2 [smem+1024], [%d1, " +
                        coordinates_ + "], [smem+8], %h1;",
                    1),
            ExecResult::kNext)
      << m().fault().message;
  for (const int cta : {1, 3}) {
    m().Select(cta, 0);
    m().SetAll("%r2", 0);
    ASSERT_EQ(m().Run("mbarrier.test_wait.parity.shared.b64 %p0, [smem+8], %r2;", 1), ExecResult::kNext);
    EXPECT_EQ(m().Pred("%p0") & 1, 1u) << cta;
  }
  for (int cta = 0; cta < 4; ++cta)
    EXPECT_EQ(std::memcmp(m().shared(cta) + 1024, global_ + 5 * 128, 128) == 0, cta != 3) << cta;
}

}  // namespace
}  // namespace understudy::emu::ptx
