// SPDX-License-Identifier: Apache-2.0
// Linear images: descriptors built field by field from the manuals' tables, texels addressed by rows padded
// as the address library pads them, components chosen by DMASK and DST_SEL.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <optional>

#include "src/base/float_format.h"
#include "tests/emu/amd/memory/memory_machine.h"

namespace understudy::emu::amd {
namespace {

enum Type : uint32_t { k1D = 8, k2D = 9, k3D = 10, kCube = 11, k1DArray = 12, k2DArray = 13 };

struct Image {
  uint32_t type, width, height, layers, first_layer;
  uint32_t format, gfx9_data, gfx9_number;
  uint32_t bytes;
  uint32_t custom_pitch;  // 0: none
};

uint32_t Pitch(const Image& image, Isa isa) {
  const uint32_t row = isa == Isa::kRdna4 ? 128 : 256;
  const uint32_t natural = (image.width * image.bytes + row - 1) / row * row / image.bytes;
  return image.custom_pitch != 0 ? image.custom_pitch : natural;
}

void SetBits(uint32_t* words, int low, int count, uint64_t value) {
  for (int i = 0; i < count; ++i) {
    const int bit = low + i;
    words[bit / 32] = (words[bit / 32] & ~(1u << (bit % 32))) | static_cast<uint32_t>(value >> i & 1)
                                                                    << (bit % 32);
  }
}

void Describe(const Image& image, Isa isa, uint64_t base, uint32_t* w) {
  for (int i = 0; i < 8; ++i) w[i] = 0;
  const bool flat = image.type == k1D || image.type == k2D;
  const uint32_t last = image.first_layer + image.layers - 1;
  const uint32_t depth = flat ? (image.custom_pitch != 0 ? image.custom_pitch - 1 : 0) : last;
  SetBits(w, 0, 40, base >> 8);
  SetBits(w, 96, 3, 4), SetBits(w, 99, 3, 5), SetBits(w, 102, 3, 6), SetBits(w, 105, 3, 7);
  SetBits(w, 124, 4, image.type);
  if (isa == Isa::kRdna4) {  // RDNA4 ISA, Table 60
    SetBits(w, 49, 8, image.format);
    SetBits(w, 62, 16, image.width - 1);
    SetBits(w, 78, 16, image.height - 1);
    SetBits(w, 128, 16, depth);
    SetBits(w, 144, 13, image.first_layer);
  } else if (isa == Isa::kCdna2) {  // GFX9
    SetBits(w, 52, 6, image.gfx9_data);
    SetBits(w, 58, 4, image.gfx9_number);
    SetBits(w, 64, 14, image.width - 1);
    SetBits(w, 78, 14, image.height - 1);
    SetBits(w, 128, 13, last);
    SetBits(w, 141, 16, Pitch(image, isa) - 1);
    SetBits(w, 160, 13, image.first_layer);
  } else {  // GFX11
    SetBits(w, 52, 8, image.format);
    SetBits(w, 62, 2, image.width - 1);
    SetBits(w, 64, 12, (image.width - 1) >> 2);
    SetBits(w, 78, 14, image.height - 1);
    SetBits(w, 128, 14, depth);
    SetBits(w, 144, 13, image.first_layer);
  }
}

constexpr uint32_t kDim[] = {0, 1, 2, 3, 4, 5};  // by type - 8
int Coordinates(uint32_t type) { return type == k1D ? 1 : type == k2D || type == k1DArray ? 2 : 3; }

const Image kImages[] = {
    {k1D, 100, 1, 1, 0, 20, 4, 4, 4, 0},      {k2D, 20, 9, 1, 0, 46, 10, 4, 4, 0},
    {k2D, 20, 9, 1, 0, 46, 10, 4, 4, 128},    {k3D, 7, 5, 3, 0, 63, 14, 7, 16, 0},
    {kCube, 8, 8, 6, 0, 20, 4, 4, 4, 0},      {k1DArray, 30, 1, 4, 2, 11, 2, 4, 2, 0},
    {k2DArray, 12, 6, 3, 1, 55, 12, 4, 8, 0},
};

class Images : public testing::TestWithParam<Isa> {
 protected:
  Inst Make(MemoryMachine& machine, Opcode op, const Image& image, bool a16, int extra = 0) const {
    Inst inst = machine.Make(GetParam() == Isa::kRdna4 ? Encoding::VIMAGE : Encoding::MIMG, op);
    inst.dim = static_cast<uint8_t>(kDim[image.type - 8]);
    inst.a16 = a16;
    const int components = Coordinates(image.type) + extra;
    inst.src[0] = MemoryMachine::V(1, a16 ? (components + 1) / 2 : components);
    inst.src[1] = MemoryMachine::S(8, 8);
    return inst;
  }
  // Coordinates of a lane: some lie outside.
  static void Coordinate(int lane, const Image& image, uint32_t c[3]) {
    c[0] = static_cast<uint32_t>(lane * 3) % (image.width + 2);
    c[1] = static_cast<uint32_t>(lane * 5) % (image.height + 1);
    c[2] = static_cast<uint32_t>(lane) % (image.layers + 1);
    if (image.type == k1DArray) c[1] = c[2];
  }
  static void SetCoordinates(MemoryMachine& machine, int lane, const uint32_t* c, int n, bool a16) {
    for (int i = 0; i < 3; ++i) machine.Vgpr(1 + i, lane) = 0;
    for (int i = 0; i < n; ++i) {
      if (a16) {
        machine.Vgpr(1 + i / 2, lane) |= (c[i] & 0xffff) << (16 * (i % 2));
      } else {
        machine.Vgpr(1 + i, lane) = c[i];
      }
    }
  }
  std::optional<size_t> Offset(const Image& image, const uint32_t* c) const {
    const uint32_t x = c[0];
    const uint32_t y = image.type == k1D || image.type == k1DArray ? 0 : c[1];
    const uint32_t layer = image.type == k1D || image.type == k2D ? 0 : image.type == k1DArray ? c[1] : c[2];
    if (x >= image.width || y >= image.height || layer >= image.layers) return std::nullopt;
    return (size_t{layer + image.first_layer} * image.height + y) * Pitch(image, GetParam()) * image.bytes +
           x * image.bytes;
  }
};

TEST_P(Images, LoadsAndStoresFindTheirTexels) {
  const Isa isa = GetParam();
  const int lanes = IsCdna(isa) ? 64 : 32;
  for (const Image& image : kImages) {
    for (const bool a16 : {false, true}) {
      MemoryMachine machine(isa, lanes, 65536);
      for (size_t i = 0; i < machine.buffer.size(); ++i)
        machine.buffer[i] = static_cast<uint8_t>(i * 151 + (i >> 8));
      Describe(image, isa, MemoryMachine::kBufferVa, &machine.wave.sgpr[8]);
      const int components = image.bytes == 16 ? 4 : image.format == 46 || image.format == 55 ? 4 : 1;
      const uint32_t component_bytes = image.bytes / static_cast<uint32_t>(components);
      Inst load = Make(machine, Opcode::IMAGE_LOAD, image, a16);
      load.dmask = 0xb;  // X, Y and W
      load.dst[0] = MemoryMachine::V(10, 3);
      uint32_t c[3];
      for (int lane = 0; lane < lanes; ++lane) {
        Coordinate(lane, image, c);
        SetCoordinates(machine, lane, c, Coordinates(image.type), a16);
      }
      machine.Run(load);
      if (HasFailure()) return;
      const bool is_float = image.format == 63;
      for (int lane = 0; lane < lanes; ++lane) {
        Coordinate(lane, image, c);
        const std::optional<size_t> at = Offset(image, c);
        uint32_t value[4] = {0, 0, 0, at ? (is_float ? 0x3f800000u : 1u) : 0};
        for (int i = 0; at && i < components; ++i) {
          value[i] = 0;
          std::memcpy(&value[i], &machine.buffer[*at + component_bytes * i], component_bytes);
        }
        ASSERT_EQ(machine.Vgpr(10, lane), value[0]) << "type " << image.type << " lane " << lane;
        ASSERT_EQ(machine.Vgpr(11, lane), value[1]);
        ASSERT_EQ(machine.Vgpr(12, lane), value[3]);
      }
      // A store of distinct values: the last lane that names a texel wins, others keep theirs.
      std::vector<uint8_t> want = machine.buffer;
      Inst store = Make(machine, Opcode::IMAGE_STORE, image, a16);
      store.dmask = 0xf;
      store.src[3] = MemoryMachine::V(20, 4);
      for (int lane = 0; lane < lanes; ++lane) {
        Coordinate(lane, image, c);
        const std::optional<size_t> at = Offset(image, c);
        for (int i = 0; i < 4; ++i) {
          const uint32_t value = static_cast<uint32_t>(lane * 4 + i + 1);
          machine.Vgpr(20 + i, lane) = value;
          if (at && i < components) std::memcpy(&want[*at + component_bytes * i], &value, component_bytes);
        }
      }
      machine.Run(store);
      ASSERT_EQ(machine.buffer, want) << "type " << image.type;
    }
  }
}

TEST_P(Images, AtomicsAndQueries) {
  const Isa isa = GetParam();
  const int lanes = IsCdna(isa) ? 64 : 32;
  const Image image = kImages[6];  // 64-bit texels
  MemoryMachine machine(isa, lanes, 65536);
  Describe(image, isa, MemoryMachine::kBufferVa, &machine.wave.sgpr[8]);
  Inst add = Make(machine, isa == Isa::kRdna4 ? Opcode::IMAGE_ATOMIC_ADD_UINT : Opcode::IMAGE_ATOMIC_ADD,
                  image, false);
  add.dmask = 3;
  add.glc = true;
  add.src[3] = add.dst[0] = MemoryMachine::V(20, 2);
  uint32_t c[3] = {2, 3, 1};
  for (int lane = 0; lane < lanes; ++lane) {
    SetCoordinates(machine, lane, c, 3, false);
    machine.Vgpr(20, lane) = 0xc0000000;
    machine.Vgpr(21, lane) = static_cast<uint32_t>(lane);
  }
  machine.Run(add);
  uint64_t sum = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    EXPECT_EQ(machine.Vgpr(20, lane) | uint64_t{machine.Vgpr(21, lane)} << 32, sum)
        << "the value before the lane's own";
    sum += 0xc0000000 | uint64_t(lane) << 32;
  }
  uint64_t stored;
  std::memcpy(&stored, &machine.buffer[*Offset(image, c)], 8);
  EXPECT_EQ(stored, sum);

  Inst info = Make(machine, Opcode::IMAGE_GET_RESINFO, image, false);
  info.src[0] = MemoryMachine::V(1);
  info.dmask = 0xf;
  info.dst[0] = MemoryMachine::V(30, 4);
  machine.Vgpr(1, 0) = 0;
  machine.Vgpr(1, 1) = 5;  // no such level
  machine.Run(info);
  const uint32_t want[2][4] = {{12, 6, 3, 1}, {0, 0, 0, 1}};
  for (int lane = 0; lane < 2; ++lane) {
    for (int i = 0; i < 4; ++i) EXPECT_EQ(machine.Vgpr(30 + i, lane), want[lane][i]) << lane << " " << i;
  }
}

// Normalised texels to halves, and back.
TEST_P(Images, SixteenBitDataIsConvertedAndPacked) {
  const Isa isa = GetParam();
  MemoryMachine machine(isa, IsCdna(isa) ? 64 : 32, 65536);
  const Image image = {k2D, 32, 1, 1, 0, 42, 10, 0, 4, 0};  // 8_8_8_8_UNORM
  Describe(image, isa, MemoryMachine::kBufferVa, &machine.wave.sgpr[8]);
  const uint8_t texel[4] = {0, 51, 128, 255};
  for (size_t i = 0; i < 32; ++i) std::memcpy(&machine.buffer[4 * i], texel, 4);
  Inst load = Make(machine, Opcode::IMAGE_LOAD, image, false);
  load.dmask = 0xf;
  load.d16 = true;
  load.dst[0] = MemoryMachine::V(10, 2);
  for (int lane = 0; lane < machine.wave.wave_size; ++lane) {
    machine.Vgpr(1, lane) = static_cast<uint32_t>(lane % 32);
    machine.Vgpr(2, lane) = 0;
  }
  machine.Run(load);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(machine.Vgpr(10 + i / 2, 3) >> (16 * (i % 2)) & 0xffff,
              EncodeFloat(formats::kF16, static_cast<double>(static_cast<float>(texel[i] / 255.0))));
  }
  std::fill(machine.buffer.begin(), machine.buffer.end(), uint8_t{0});
  Inst store = Make(machine, Opcode::IMAGE_STORE, image, false);
  store.dmask = 0xf;
  store.d16 = true;
  store.src[3] = MemoryMachine::V(10, 2);
  machine.Run(store);
  EXPECT_EQ(std::memcmp(&machine.buffer[12], texel, 4), 0);
}

// What is not modelled says so and touches nothing.
TEST_P(Images, OtherLayoutsAreRefusedByName) {
  const Isa isa = GetParam();
  MemoryMachine machine(isa, IsCdna(isa) ? 64 : 32, 65536);
  Inst load = Make(machine, Opcode::IMAGE_LOAD, kImages[1], false);
  load.dmask = 1;
  load.dst[0] = MemoryMachine::V(10);
  uint32_t* w = &machine.wave.sgpr[8];
  Describe(kImages[1], isa, MemoryMachine::kBufferVa, w);
  SetBits(w, 116, 5, 9);
  EXPECT_EQ(machine.Try(load), ExecResult::kFault);
  EXPECT_EQ(machine.fault.message, "swizzle mode 9: only linear images (0) are modelled");
  Describe(kImages[1], isa, MemoryMachine::kBufferVa, w);
  SetBits(w, 124, 4, 14);
  EXPECT_EQ(machine.Try(load), ExecResult::kFault);
  EXPECT_EQ(machine.fault.message, "images with several samples are not modelled");
  Inst sample = Make(machine, Opcode::IMAGE_SAMPLE, kImages[1], false);
  if (isa == Isa::kRdna4) sample.enc = Encoding::VSAMPLE;
  EXPECT_NE(machine.Refusal(sample).find("image sampling is not modelled"), std::string::npos);
  Inst ray = Make(machine, Opcode::IMAGE_BVH_INTERSECT_RAY, kImages[1], false);
  EXPECT_NE(machine.Refusal(ray).find("ray tracing is not modelled"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(GenerationsWithImages, Images,
                         testing::Values(Isa::kRdna3, Isa::kRdna4, Isa::kCdna2),
                         [](const testing::TestParamInfo<Isa>& info) { return IsaTarget(info.param); });

}  // namespace
}  // namespace understudy::emu::amd
