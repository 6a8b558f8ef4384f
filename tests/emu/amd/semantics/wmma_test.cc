// SPDX-License-Identifier: Apache-2.0
// Matrix instructions against exact products of matrices whose elements are all distinct, so that the layout
// shows, in waves of 32 and 64.
#include <gtest/gtest.h>

#include <cmath>

#include "emu/amd/semantics/float_bits.h"
#include "tests/emu/amd/semantics/machine.h"

namespace understudy::emu::amd {
namespace {

using testing::Machine;
using testing::Make;
using testing::V;

constexpr int kA = 0, kB = 8, kC = 16, kD = 24;

// Puts element (index, k) of a matrix of `bits` wide elements where the manual's layout has it, repeated
// upwards.
template <class Get>
void Fill(Machine* m, int reg, int bits, Get element) {
  const int per_word = 32 / bits;
  for (int lane = 0; lane < m->wave.wave_size; ++lane) {
    for (int k = 0; k < 16; ++k) {
      uint32_t& word = m->Reg(reg + k / per_word, lane);
      const int shift = bits * (k % per_word);
      const uint32_t mask = ((1u << bits) - 1) << shift;
      word = (word & ~mask) | ((element(lane % 16, k) << shift) & mask);
    }
  }
}
uint32_t& At(Machine* m, int reg, int row, int column) {
  const int groups = m->wave.wave_size / 16;
  return m->Reg(reg + row / groups, (row % groups) * 16 + column);
}

TEST(Wmma, IntegerProductsAreExactForEachSignedness) {
  for (int size : {32, 64}) {
    for (int bits : {8, 4}) {
      for (int neg = 0; neg < 4; ++neg) {
        Machine m(size);
        m.wave.set_exec(1);  // ignored
        const auto a = [&](int row, int k) { return static_cast<uint32_t>(row * 16 + k) * 7 + 3; };
        const auto b = [&](int column, int k) { return static_cast<uint32_t>(k * 16 + column) * 5 + 1; };
        Fill(&m, kA, bits, a);
        Fill(&m, kB, bits, b);
        for (int row = 0; row < 16; ++row) {
          for (int column = 0; column < 16; ++column)
            At(&m, kC, row, column) = static_cast<uint32_t>(1000 * row - column);
        }
        Inst inst = Make(bits == 8 ? Opcode::V_WMMA_I32_16X16X16_IU8 : Opcode::V_WMMA_I32_16X16X16_IU4,
                         Encoding::VOP3P, {V(kD, 8)}, {V(kA, 4), V(kB, 4), V(kC, 8)});
        inst.neg = static_cast<uint8_t>(neg);
        ASSERT_EQ(m.Execute(inst), "");
        const auto value = [&](uint32_t e, bool is_signed) {
          return is_signed ? static_cast<int32_t>(e << (32 - bits)) >> (32 - bits)
                           : static_cast<int32_t>(e & ((1u << bits) - 1));
        };
        for (int row = 0; row < 16; ++row) {
          for (int column = 0; column < 16; ++column) {
            int32_t sum = 1000 * row - column;
            for (int k = 0; k < 16; ++k) sum += value(a(row, k), neg & 1) * value(b(column, k), neg & 2);
            ASSERT_EQ(static_cast<int32_t>(At(&m, kD, row, column)), sum)
                << size << " " << bits << " " << row << " " << column;
          }
        }
      }
    }
  }
}

TEST(Wmma, IntegerClampSaturates) {
  Machine m;
  Fill(&m, kA, 8, [](int, int) { return 255u; });
  Fill(&m, kB, 8, [](int, int) { return 255u; });
  for (int reg = kC; reg < kC + 8; ++reg) m.Broadcast(reg, 0x7fffffff);
  Inst inst =
      Make(Opcode::V_WMMA_I32_16X16X16_IU8, Encoding::VOP3P, {V(kD, 8)}, {V(kA, 4), V(kB, 4), V(kC, 8)});
  inst.clamp = true;
  ASSERT_EQ(m.Execute(inst), "");
  EXPECT_EQ(m.Reg(kD, 0), 0x7fffffffu);
}

// Integers small enough that every order of summation is exact.
TEST(Wmma, FloatProductsOfDistinctElementsAreExact) {
  struct Type {
    Opcode op;
    bool bf16, d16;
  };
  for (int size : {32, 64}) {
    for (const Type& t : {Type{Opcode::V_WMMA_F32_16X16X16_F16, false, false},
                          Type{Opcode::V_WMMA_F32_16X16X16_BF16, true, false},
                          Type{Opcode::V_WMMA_F16_16X16X16_F16, false, true},
                          Type{Opcode::V_WMMA_BF16_16X16X16_BF16, true, true}}) {
      for (int high = 0; high < (t.d16 ? 2 : 1); ++high) {
        Machine m(size);
        const auto code = [&](float v) -> uint32_t { return t.bf16 ? BitsOf(v) >> 16 : HalfFromFloat(v); };
        const auto a = [](int row, int k) {
          return static_cast<float>(k == row ? 1 : 0) + (row == 3 && k == 5 ? 2.0f : 0.0f);
        };
        const auto b = [](int column, int k) { return static_cast<float>(k * 16 + column - 128); };
        Fill(&m, kA, 16, [&](int row, int k) { return code(a(row, k)); });
        Fill(&m, kB, 16, [&](int column, int k) { return code(b(column, k)); });
        for (int row = 0; row < 16; ++row) {
          for (int column = 0; column < 16; ++column) {
            const float c = static_cast<float>(column % 4);
            At(&m, kC, row, column) = t.d16 ? code(c) << (16 * high) : BitsOf(c);
            At(&m, kD, row, column) = 0xbeefbeef;
          }
        }
        Inst inst = Make(t.op, Encoding::VOP3P, {V(kD, 8)}, {V(kA, 8), V(kB, 8), V(kC, 8)});
        inst.op_sel = static_cast<uint8_t>(high << 2);
        ASSERT_EQ(m.Execute(inst), "");
        for (int row = 0; row < 16; ++row) {
          for (int column = 0; column < 16; ++column) {
            float sum = static_cast<float>(column % 4);
            for (int k = 0; k < 16; ++k) sum += a(row, k) * b(column, k);
            if (t.bf16 && t.d16 && std::fabs(sum) > 256.0f) continue;  // not exact in 8 bits
            const uint32_t got = At(&m, kD, row, column);
            if (t.d16) {
              ASSERT_EQ((got >> (16 * high)) & 0xffff, code(sum))
                  << OpcodeName(t.op) << " " << row << " " << column;
              ASSERT_EQ((got >> (16 * (1 - high))) & 0xffff, 0xbeefu) << "the other half is kept";
            } else {
              ASSERT_EQ(got, BitsOf(sum))
                  << OpcodeName(t.op) << " wave" << size << " " << row << " " << column;
            }
          }
        }
      }
    }
  }
}

TEST(Wmma, InfinitiesAndDenormalsAreKept) {
  Machine m;
  Fill(&m, kA, 16, [](int row, int k) {
    return row == 0 && k == 0 ? 0x7c00u : row == 1 && k == 0 ? 1u : 0u;
  });
  Fill(&m, kB, 16, [](int, int k) { return k == 0 ? 0x3c00u : 0u; });
  ASSERT_EQ(m.Execute(Make(Opcode::V_WMMA_F32_16X16X16_F16, Encoding::VOP3P, {V(kD, 8)},
                           {V(kA, 8), V(kB, 8), testing::InlineInt(0)})),
            "");
  EXPECT_EQ(At(&m, kD, 0, 4), 0x7f800000u);
  EXPECT_EQ(At(&m, kD, 1, 4), BitsOf(0x1p-24f));
  EXPECT_EQ(At(&m, kD, 2, 4), 0u);
}

}  // namespace
}  // namespace understudy::emu::amd
