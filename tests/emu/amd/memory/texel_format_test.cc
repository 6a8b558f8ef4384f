// SPDX-License-Identifier: Apache-2.0
// Conversions of typed memory against exact arithmetic: normalised and scaled numbers as fractions, floats by
// their formats' definitions, over all patterns of up to 16 bits; and formatted instructions over all
// formats.

#include "emu/amd/semantics/texel_format.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>

#include "src/base/float_format.h"
#include "tests/emu/amd/memory/memory_machine.h"

namespace understudy::emu::amd {
namespace {

struct Layout {
  const char* name;
  uint32_t number;        // RDNA's, of the first number format in `kinds`
  const char* kinds;      // U unorm, S snorm, u uscaled, s sscaled, i uint, I sint, f float
  std::vector<int> bits;  // X first
  uint32_t gfx9;          // data format
};
// Numbers count up through the kinds (RDNA4 ISA, Table 62).
const Layout kLayouts[] = {
    {"8", 1, "USusiI", {8}, 1},
    {"16", 7, "USusiIf", {16}, 2},
    {"8_8", 14, "USusiI", {8, 8}, 3},
    {"32", 20, "iIf", {32}, 4},
    {"16_16", 23, "USusiIf", {16, 16}, 5},
    {"10_11_11", 30, "f", {11, 11, 10}, 6},
    {"11_11_10", 31, "f", {10, 11, 11}, 7},
    {"10_10_10_2", 32, "USiI", {2, 10, 10, 10}, 8},
    {"2_10_10_10", 36, "USusiI", {10, 10, 10, 2}, 9},
    {"8_8_8_8", 42, "USusiI", {8, 8, 8, 8}, 10},
    {"32_32", 48, "iIf", {32, 32}, 11},
    {"16_16_16_16", 51, "USusiIf", {16, 16, 16, 16}, 12},
    {"32_32_32", 58, "iIf", {32, 32, 32}, 13},
    {"32_32_32_32", 61, "iIf", {32, 32, 32, 32}, 14},
};
uint32_t Gfx9Number(char kind) { return static_cast<uint32_t>(std::string("USusiI f").find(kind)); }

// The value that a component stands for, as register bits.
uint32_t Meaning(char kind, uint64_t raw, int bits) {
  const int64_t as_signed =
      raw >> (bits - 1) != 0 ? static_cast<int64_t>(raw) - (int64_t{1} << bits) : static_cast<int64_t>(raw);
  const auto as_float = [](double v) { return static_cast<uint32_t>(EncodeFloat(formats::kF32, v)); };
  switch (kind) {
    case 'U':
      return as_float(static_cast<double>(raw) / (std::ldexp(1.0, bits) - 1));
    case 'S':
      return as_float(std::max(-1.0, static_cast<double>(as_signed) / (std::ldexp(1.0, bits - 1) - 1)));
    case 'u':
      return as_float(static_cast<double>(raw));
    case 's':
      return as_float(static_cast<double>(as_signed));
    case 'i':
      return static_cast<uint32_t>(raw);
    case 'I':
      return static_cast<uint32_t>(as_signed);
    default:
      break;
  }
  if (bits == 32) return static_cast<uint32_t>(raw);
  // Five bits of exponent with a bias of 15: halves, and without a sign the 11- and 10-bit floats.
  const FloatFormat format = {"", 5, bits == 16 ? 10 : bits - 5, 15, true, NanEncoding::kIeee, true};
  return as_float(DecodeFloat(format, raw));
}

TEST(TexelFormat, EveryPatternOfEveryFormatDecodesToItsMeaning) {
  for (const Layout& layout : kLayouts) {
    for (size_t k = 0; layout.kinds[k] != '\0'; ++k) {
      const char kind = layout.kinds[k];
      const TexelFormat* format = BufferFormat(layout.number + static_cast<uint32_t>(k));
      ASSERT_NE(format, nullptr) << layout.name << kind;
      const TexelFormat* old = Gfx9BufferFormat(layout.gfx9, Gfx9Number(kind));
      ASSERT_NE(old, nullptr) << layout.name << kind;
      ASSERT_EQ(format->components, layout.bits.size());
      int at = 0;
      for (size_t c = 0; c < layout.bits.size(); at += layout.bits[c++]) {
        const int bits = layout.bits[c];
        const uint64_t count = uint64_t{1} << std::min(bits, 16);
        for (uint64_t i = 0; i < count; ++i) {
          const uint64_t raw = bits == 32 ? i * 65537 : i;
          uint8_t bytes[16] = {};
          for (int b = 0; b < bits; ++b)
            bytes[(at + b) / 8] |= static_cast<uint8_t>((raw >> b & 1) << ((at + b) % 8));
          uint32_t value[4];
          DecodeTexel(*format, bytes, value);
          const uint32_t want = Meaning(kind, raw, bits);
          const float f = std::bit_cast<float>(want);
          if (kind == 'f' && std::isnan(f)) {
            ASSERT_TRUE(std::isnan(std::bit_cast<float>(value[c])));
          } else {
            ASSERT_EQ(value[c], want) << layout.name << " " << kind << " component " << c << " raw " << raw;
          }
          // Storing what was loaded gives the same bytes, but for the two patterns of -1 and NaN.
          if ((kind == 'S' && raw == uint64_t{1} << (bits - 1)) || (kind == 'f' && std::isnan(f))) continue;
          for (size_t other = layout.bits.size(); other < 4; ++other) value[other] = 0;
          uint8_t again[16] = {};
          EncodeTexel(*format, value, again);
          ASSERT_EQ(std::memcmp(again, bytes, 16), 0) << layout.name << " " << kind << " raw " << raw;
        }
      }
      uint8_t bytes[16] = {0x9a, 0x3c, 0x71, 0x12, 0xfe, 0x43, 0x99, 0x20,
                           0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x08};
      uint32_t first[4], second[4];
      DecodeTexel(*format, bytes, first);
      DecodeTexel(*old, bytes, second);
      EXPECT_EQ(std::memcmp(first, second, sizeof(first)), 0) << layout.name << kind;
      for (size_t c = layout.bits.size(); c < 4; ++c) {
        EXPECT_EQ(first[c], c < 3 ? 0u : kind == 'i' || kind == 'I' ? 1u : 0x3f800000u);
      }
    }
  }
}

// Floats that lie between, above and below what a format can hold.
TEST(TexelFormat, StoresRoundAndClamp) {
  const auto store = [](uint32_t number, float value) {
    const uint32_t in[4] = {std::bit_cast<uint32_t>(value), 0, 0, 0};
    uint8_t bytes[16] = {};
    EncodeTexel(*BufferFormat(number), in, bytes);
    uint32_t word;
    std::memcpy(&word, bytes, 4);
    return word;
  };
  EXPECT_EQ(store(1, 1.5f), 255u);
  EXPECT_EQ(store(1, -0.5f), 0u);
  EXPECT_EQ(store(1, std::nanf("")), 0u);
  EXPECT_EQ(store(1, 0.5f), 128u) << "127.5 to even";
  EXPECT_EQ(store(2, -2.0f), 0x81u);
  EXPECT_EQ(store(2, 2.0f), 0x7fu);
  EXPECT_EQ(store(4, -200.0f), 0x80u);
  EXPECT_EQ(store(13, 1e6f), 0x7c00u);
  EXPECT_EQ(store(30, -1.0f), 0u) << "11-bit floats have no sign";
  EXPECT_EQ(store(30, 1e9f) & 0x7ff, 0x7c0u);
  EXPECT_EQ(store(30, 0x1p-20f) & 0x7ff, 1u) << "the least denormal";
  EXPECT_EQ(store(30, 0x1p-21f) & 0x7ff, 0u) << "half of it, to even";
}

class FormattedBuffer : public testing::TestWithParam<Isa> {};

// Loads of one to four components, whole and 16-bit, through the descriptor's format and the instruction's;
// stores back.
TEST_P(FormattedBuffer, LoadsAndStoresConvert) {
  const Isa isa = GetParam();
  const bool cdna = IsCdna(isa);
  const int lanes = cdna ? 64 : 32;
  struct Op {
    Opcode load, store, typed_load, typed_store;
    int components;
    bool d16;
  };
  const Op kOps[] = {
      {Opcode::BUFFER_LOAD_FORMAT_X, Opcode::BUFFER_STORE_FORMAT_X, Opcode::TBUFFER_LOAD_FORMAT_X,
       Opcode::TBUFFER_STORE_FORMAT_X, 1, false},
      {Opcode::BUFFER_LOAD_FORMAT_XY, Opcode::BUFFER_STORE_FORMAT_XY, Opcode::TBUFFER_LOAD_FORMAT_XY,
       Opcode::TBUFFER_STORE_FORMAT_XY, 2, false},
      {Opcode::BUFFER_LOAD_FORMAT_XYZ, Opcode::BUFFER_STORE_FORMAT_XYZ, Opcode::TBUFFER_LOAD_FORMAT_XYZ,
       Opcode::TBUFFER_STORE_FORMAT_XYZ, 3, false},
      {Opcode::BUFFER_LOAD_FORMAT_XYZW, Opcode::BUFFER_STORE_FORMAT_XYZW, Opcode::TBUFFER_LOAD_FORMAT_XYZW,
       Opcode::TBUFFER_STORE_FORMAT_XYZW, 4, false},
      {cdna ? Opcode::BUFFER_LOAD_FORMAT_D16_XYZW : Opcode::BUFFER_LOAD_D16_FORMAT_XYZW,
       cdna ? Opcode::BUFFER_STORE_FORMAT_D16_XYZW : Opcode::BUFFER_STORE_D16_FORMAT_XYZW,
       cdna ? Opcode::TBUFFER_LOAD_FORMAT_D16_XYZW : Opcode::TBUFFER_LOAD_D16_FORMAT_XYZW,
       cdna ? Opcode::TBUFFER_STORE_FORMAT_D16_XYZW : Opcode::TBUFFER_STORE_D16_FORMAT_XYZW, 4, true},
  };
  const Encoding untyped = isa == Isa::kRdna4 ? Encoding::VBUFFER : Encoding::MUBUF;
  const Encoding typed = isa == Isa::kRdna4 ? Encoding::VBUFFER : Encoding::MTBUF;
  for (const Layout& layout : kLayouts) {
    for (size_t k = 0; layout.kinds[k] != '\0'; ++k) {
      const char kind = layout.kinds[k];
      const uint32_t unified = layout.number + static_cast<uint32_t>(k);
      int total = 0;
      for (int bits : layout.bits) total += bits;
      const uint32_t bytes = static_cast<uint32_t>(total / 8);
      for (const Op& op : kOps) {
        if (op.d16 && layout.bits[0] == 32) continue;
        for (const bool is_typed : {false, true}) {
          MemoryMachine machine(isa, lanes, 4096);
          // Bytes whose floats are small and exact in 16 bits.
          for (size_t i = 0; i < 4096; ++i)
            machine.buffer[i] = static_cast<uint8_t>(i % 2 == 0 ? 0x40 : 0x3c + i % 3);
          uint32_t* d = &machine.wave.sgpr[4];
          d[0] = static_cast<uint32_t>(MemoryMachine::kBufferVa);
          d[1] = static_cast<uint32_t>(MemoryMachine::kBufferVa >> 32) | bytes << 16;
          d[2] = static_cast<uint32_t>(lanes - 2);  // the last two lanes are out of range
          // Untyped: X and W exchanged, Y from Y, Z = 1.
          d[3] = 7u | 5u << 3 | 1u << 6 | 4u << 9;
          d[3] |= cdna ? layout.gfx9 << 15 | Gfx9Number(kind) << 12 : unified << 12;
          Inst load = machine.Make(is_typed ? typed : untyped, is_typed ? op.typed_load : op.load);
          load.idxen = true;
          load.src[0] = MemoryMachine::V(1);
          load.src[1] = MemoryMachine::S(4, 4);
          load.src[2] = MemoryMachine::Int(0);
          load.dst[0] = MemoryMachine::V(10, 4);
          load.format = static_cast<uint8_t>(cdna ? layout.gfx9 | Gfx9Number(kind) << 4 : unified);
          for (int lane = 0; lane < lanes; ++lane) machine.Vgpr(1, lane) = static_cast<uint32_t>(lane);
          machine.Run(load);
          if (HasFailure()) return;
          for (int lane = 0; lane < lanes; ++lane) {
            const bool in_range = lane < lanes - 2;
            const bool integer = kind == 'i' || kind == 'I';
            uint32_t value[4] = {0, 0, 0, integer ? 1u : 0x3f800000u};
            int at = 0;
            for (size_t c = 0; c < layout.bits.size(); at += layout.bits[c++]) {
              uint64_t raw = 0;
              for (int b = 0; b < layout.bits[c]; ++b) {
                const size_t bit = size_t{bytes} * lane * 8 + at + b;
                raw |= uint64_t{static_cast<uint8_t>(machine.buffer[bit / 8] >> (bit % 8) & 1)} << b;
              }
              value[c] = Meaning(kind, raw, layout.bits[c]);
            }
            const uint32_t one = integer ? 1u : 0x3f800000u;
            uint32_t want[4] = {value[3], value[1], one, value[0]};
            if (is_typed) std::memcpy(want, value, sizeof(want));
            if (!in_range) want[0] = want[1] = want[3] = 0, want[2] = is_typed ? 0 : one;
            for (int c = 0; c < op.components; ++c) {
              if (!op.d16) {
                ASSERT_EQ(machine.Vgpr(10 + c, lane), want[c])
                    << IsaName(isa) << " " << layout.name << kind << " typed " << is_typed << " lane " << lane
                    << " c " << c;
                continue;
              }
              const uint32_t half = machine.Vgpr(10 + c / 2, lane) >> (16 * (c % 2)) & 0xffff;
              const uint64_t expected =
                  integer ? want[c] & 0xffff : EncodeFloat(formats::kF16, std::bit_cast<float>(want[c]));
              ASSERT_EQ(half, expected)
                  << layout.name << kind << " typed " << is_typed << " lane " << lane << " c " << c;
            }
          }
          // Typed stores of what was loaded leave memory as it is; one component less leaves that one alone.
          if (!is_typed || op.components < static_cast<int>(layout.bits.size())) continue;
          if (op.d16 && layout.bits[0] > 8 && kind != 'f' && !(kind == 'i' || kind == 'I'))
            continue;  // not exact in f16
          const std::vector<uint8_t> before = machine.buffer;
          std::fill(machine.buffer.begin(), machine.buffer.end(), uint8_t{0xee});
          Inst store = load;
          store.op = op.typed_store;
          store.src[3] = load.dst[0];
          store.dst[0] = Operand();
          machine.Run(store);
          for (size_t i = 0; i < 4096; ++i) {
            const bool written = i < size_t{bytes} * (lanes - 2);
            ASSERT_EQ(machine.buffer[i], written ? before[i] : 0xee)
                << layout.name << kind << " byte " << i << " d16 " << op.d16;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllGenerations, FormattedBuffer, testing::ValuesIn(kAllIsas),
                         [](const testing::TestParamInfo<Isa>& info) { return IsaTarget(info.param); });

}  // namespace
}  // namespace understudy::emu::amd
