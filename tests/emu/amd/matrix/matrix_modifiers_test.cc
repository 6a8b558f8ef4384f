// SPDX-License-Identifier: Apache-2.0
// What the fields of matrix instructions do: broadcast and permutation of blocks and lanes, signs, halves,
// clamps, scales, formats, constants; infinities, NaNs and denormals; and what is refused.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "emu/amd/semantics/matrix_table.h"
#include "tests/emu/amd/matrix/matrix_machine.h"

namespace understudy::emu::amd {
namespace {

using testing::A;
using testing::Constant;
using testing::MatrixMachine;
using testing::MatrixName;
using testing::Place;
using testing::V;

constexpr int kA = 8, kB = 48, kC = 64, kD = 112;

uint32_t F32(float v) { return std::bit_cast<uint32_t>(v); }

Inst Make(Isa isa, Opcode op) {
  Inst inst;
  inst.op = op;
  inst.isa = isa;
  inst.enc = Encoding::VOP3P;
  inst.src[0] = V(kA);
  inst.src[1] = V(kB);
  inst.src[2] = V(kC);
  inst.src[3] = V(kC);
  inst.dst[0] = V(kD);
  return inst;
}

// Fills a whole operand with one word.
void Fill(MatrixMachine* m, int reg, int count, uint32_t word) {
  for (int r = 0; r < count; ++r) {
    for (int lane = 0; lane < m->wave.wave_size; ++lane) m->At(V(reg), r, lane) = word;
  }
}

// Sets an element in every copy of the matrix.
void SetInput(MatrixMachine* m, const MatrixName& name, Isa isa, char matrix, int bits, int i, int k,
              int block, uint64_t value) {
  Place p = testing::PlaceOfInput(name, isa, m->wave.wave_size, matrix, bits, i, k, 0, block);
  const int copies = isa == Isa::kRdna3 || isa == Isa::kRdna35 ? m->wave.wave_size / 16 : 1;
  for (int copy = 0; copy < copies; ++copy, p.lane += 16) Put(m, V(matrix == 'a' ? kA : kB), p, bits, value);
}

uint32_t D(MatrixMachine* m, const Inst& inst, int row, int column, int block = 0) {
  const MatrixName name = testing::ParseMatrixName(inst.op, inst.isa);
  return static_cast<uint32_t>(
      Get(m, inst.dst[0], testing::PlaceOfOutput(name, inst.isa, m->wave.wave_size, row, column, block), 32));
}

TEST(Broadcast, CbszAndAbidNameTheBlockOfAThatOthersRead) {
  for (Isa isa : {Isa::kCdna2, Isa::kCdna3, Isa::kCdna4}) {
    for (Opcode op : {Opcode::V_MFMA_F32_4X4X1_16B_F32, Opcode::V_MFMA_F32_16X16X1_4B_F32,
                      Opcode::V_MFMA_F32_32X32X1_2B_F32}) {
      const MatrixName name = testing::ParseMatrixName(op, isa);
      for (int cbsz = 0; 1 << cbsz <= name.blocks; ++cbsz) {
        for (int abid = 0; abid < 1 << cbsz; ++abid) {
          MatrixMachine m(isa, 64);
          for (int block = 0; block < name.blocks; ++block) {
            for (int i = 0; i < name.m; ++i) {
              SetInput(&m, name, isa, 'a', 32, i, 0, block, F32(static_cast<float>(block * name.m + i)));
              SetInput(&m, name, isa, 'b', 32, i, 0, block, F32(1));
            }
          }
          Inst inst = Make(isa, op);
          inst.src[2] = Constant(0);
          inst.cbsz = static_cast<uint8_t>(cbsz);
          inst.abid = static_cast<uint8_t>(abid);
          ASSERT_EQ(m.Execute(inst), "");
          for (int block = 0; block < name.blocks; ++block) {
            const int source = block / (1 << cbsz) * (1 << cbsz) + abid;
            for (int i = 0; i < name.m; ++i) {
              ASSERT_EQ(D(&m, inst, i, 1, block), F32(static_cast<float>(source * name.m + i)))
                  << OpcodeName(op) << " cbsz " << cbsz << " abid " << abid << " block " << block;
            }
          }
        }
      }
    }
  }
}

TEST(Broadcast, BlgpPermutesTheLanesOfB) {
  // The first lane that each sixteen lanes read (CDNA ISA, "BLGP").
  constexpr int kFrom[8][4] = {{0, 16, 32, 48}, {0, 16, 0, 16},   {32, 48, 32, 48}, {16, 32, 48, 0},
                               {0, 0, 0, 0},    {16, 16, 16, 16}, {32, 32, 32, 32}, {48, 48, 48, 48}};
  for (Opcode op : {Opcode::V_MFMA_F32_16X16X4_F32, Opcode::V_MFMA_F32_32X32X2_F32,
                    Opcode::V_MFMA_F32_32X32X1_2B_F32, Opcode::V_MFMA_F32_4X4X1_16B_F32}) {
    const MatrixName name = testing::ParseMatrixName(op, Isa::kCdna3);
    for (int blgp = 0; blgp < 8; ++blgp) {
      MatrixMachine m(Isa::kCdna3, 64);
      for (int lane = 0; lane < 64; ++lane) m.At(V(kB), 0, lane) = F32(static_cast<float>(lane + 1));
      Fill(&m, kA, 1, F32(1));
      Inst inst = Make(Isa::kCdna3, op);
      inst.src[2] = Constant(0);
      inst.blgp = static_cast<uint8_t>(blgp);
      ASSERT_EQ(m.Execute(inst), "");
      for (int block = 0; block < name.blocks; ++block) {
        for (int j = 0; j < name.n; ++j) {
          int sum = 0;
          for (int k = 0; k < name.k; ++k) {
            const int lane = testing::PlaceOfInput(name, Isa::kCdna3, 64, 'b', 32, j, k, 0, block).lane;
            sum += kFrom[blgp][lane / 16] + lane % 16 + 1;
          }
          ASSERT_EQ(D(&m, inst, 2, j, block), F32(static_cast<float>(sum)))
              << OpcodeName(op) << " blgp " << blgp;
        }
      }
    }
  }
}

TEST(Signs, BlgpNegatesDoublesFromGfx942On) {
  for (Isa isa : {Isa::kCdna3, Isa::kCdna4}) {
    for (int blgp = 0; blgp < 8; ++blgp) {
      MatrixMachine m(isa, 64);
      for (int reg : {kA, kB}) {
        for (int lane = 0; lane < 64; ++lane) m.At(V(reg), 1, lane) = 0x40080000;  // 3.0
      }
      for (int reg = 0; reg < 8; ++reg) {
        for (int lane = 0; lane < 64; ++lane) m.At(V(kC), reg, lane) = reg % 2 == 0 ? 0 : 0x40140000;  // 5.0
      }
      Inst inst = Make(isa, Opcode::V_MFMA_F64_16X16X4_F64);
      inst.blgp = static_cast<uint8_t>(blgp);
      ASSERT_EQ(m.Execute(inst), "");
      const double want =
          36 * ((blgp & 1) != 0 ? -1 : 1) * ((blgp & 2) != 0 ? -1 : 1) + ((blgp & 4) != 0 ? -5 : 5);
      EXPECT_EQ(m.At(V(kD), 1, 17), static_cast<uint32_t>(std::bit_cast<uint64_t>(want) >> 32)) << blgp;
    }
  }
}

TEST(Signs, NegAndNegHiActOnEvenAndOddKAndOnC) {
  for (Isa isa : {Isa::kRdna3, Isa::kRdna35, Isa::kRdna4}) {
    for (int wave_size : {32, 64}) {
      const MatrixName name = testing::ParseMatrixName(Opcode::V_WMMA_F32_16X16X16_F16, isa);
      for (int bits = 0; bits < 64; ++bits) {
        MatrixMachine m(isa, wave_size);
        // k = 4 (even) contributes 2 * 3, k = 7 (odd) 2 * 5.
        for (int i = 0; i < 16; ++i) {
          SetInput(&m, name, isa, 'a', 16, i, 4, 0, 0x4000);
          SetInput(&m, name, isa, 'a', 16, i, 7, 0, 0x4000);
          SetInput(&m, name, isa, 'b', 16, i, 4, 0, 0x4200);
          SetInput(&m, name, isa, 'b', 16, i, 7, 0, 0x4500);
        }
        Fill(&m, kC, 8, F32(-64));
        Inst inst = Make(isa, Opcode::V_WMMA_F32_16X16X16_F16);
        inst.neg = static_cast<uint8_t>(bits & 7);
        inst.neg_hi = static_cast<uint8_t>(bits >> 3);
        ASSERT_EQ(m.Execute(inst), "");
        const auto sign = [&](uint8_t field, int i) { return (field >> i & 1) != 0 ? -1.0f : 1.0f; };
        float c = (inst.neg_hi & 4) != 0 ? 64.0f : -64.0f;
        c *= sign(inst.neg, 2);
        const float want =
            c + 6 * sign(inst.neg, 0) * sign(inst.neg, 1) + 10 * sign(inst.neg_hi, 0) * sign(inst.neg_hi, 1);
        // Sums of both signs are a few units off on RDNA3.
        EXPECT_NEAR(std::bit_cast<float>(D(&m, inst, 3, 9)), want, isa == Isa::kRdna4 ? 0 : 1e-4) << bits;
      }
    }
  }
}

TEST(Halves, OpselNamesTheHalfOfCAndDOnRdna3) {
  for (int wave_size : {32, 64}) {
    for (Opcode op : {Opcode::V_WMMA_F16_16X16X16_F16, Opcode::V_WMMA_BF16_16X16X16_BF16}) {
      for (int high = 0; high < 2; ++high) {
        const bool bf16 = op == Opcode::V_WMMA_BF16_16X16X16_BF16;
        MatrixMachine m(Isa::kRdna3, wave_size);
        const uint32_t one = bf16 ? 0x3f80 : 0x3c00, three = bf16 ? 0x4040 : 0x4200;
        Fill(&m, kA, 8, one * 0x10001u);
        Fill(&m, kB, 8, one * 0x10001u);
        Fill(&m, kC, 8, high != 0 ? three << 16 | 0x7777 : three | 0x77770000);
        Fill(&m, kD, 8, 0xbeefbeef);
        Inst inst = Make(Isa::kRdna3, op);
        inst.op_sel = static_cast<uint8_t>(high << 2);
        ASSERT_EQ(m.Execute(inst), "");
        const uint32_t nineteen = bf16 ? 0x4198 : 0x4cc0;
        EXPECT_EQ(D(&m, inst, 5, 6), high != 0 ? nineteen << 16 | 0xbeef : nineteen | 0xbeef0000);
      }
    }
  }
}

TEST(Integers, SignsAndSaturation) {
  struct Fact {
    int neg;
    uint32_t a, b, c;
    bool clamp;
    uint32_t d;
  };
  // 16 products of two bytes.
  const Fact facts[] = {{0, 0xff, 0xff, 0, false, 16 * 255 * 255},
                        {1, 0xff, 0xff, 0, false, static_cast<uint32_t>(-16 * 255)},
                        {2, 0xff, 0xff, 0, false, static_cast<uint32_t>(-16 * 255)},
                        {3, 0xff, 0xff, 5, false, 21},
                        {3, 0x80, 0x80, 0x7fffffff, false, 0x7fffffffu + 16u * 128 * 128},
                        {3, 0x80, 0x80, 0x7fffffff, true, 0x7fffffff},
                        {3, 0x80, 0x7f, 0x80000000, true, 0x80000000},
                        {3, 0x80, 0x7f, 0x7fffffff, true, 0x7fffffff - 16 * 128 * 127}};
  for (Isa isa : {Isa::kRdna3, Isa::kRdna4}) {
    for (int wave_size : {32, 64}) {
      for (const Fact& fact : facts) {
        MatrixMachine m(isa, wave_size);
        Fill(&m, kA, 4, fact.a * 0x01010101u);
        Fill(&m, kB, 4, fact.b * 0x01010101u);
        Fill(&m, kC, 8, fact.c);
        Inst inst = Make(isa, Opcode::V_WMMA_I32_16X16X16_IU8);
        inst.neg = static_cast<uint8_t>(fact.neg);
        inst.clamp = fact.clamp;
        ASSERT_EQ(m.Execute(inst), "");
        EXPECT_EQ(D(&m, inst, 15, 15), fact.d) << fact.neg << " " << fact.c << " " << fact.clamp;
      }
      MatrixMachine m(isa, wave_size);
      Fill(&m, kA, 2, 0xffffffffu);
      Fill(&m, kB, 2, 0x77777777u);
      Inst inst = Make(isa, Opcode::V_WMMA_I32_16X16X16_IU4);
      inst.src[2] = Constant(1);
      inst.neg = 1;
      ASSERT_EQ(m.Execute(inst), "");
      EXPECT_EQ(D(&m, inst, 1, 2), static_cast<uint32_t>(1 - 16 * 7));
    }
  }
  // MFMA's integers wrap.
  MatrixMachine m(Isa::kCdna3, 64);
  Fill(&m, kA, 2, 0x7f7f7f7f);
  Fill(&m, kB, 2, 0x7f7f7f7f);
  Fill(&m, kC, 4, 0x7fffffff);
  const Inst inst = Make(Isa::kCdna3, Opcode::V_MFMA_I32_16X16X32_I8);
  ASSERT_EQ(m.Execute(inst), "");
  EXPECT_EQ(D(&m, inst, 0, 0), 0x7fffffffu + 32u * 127 * 127);
}

TEST(Constants, StandForEveryElementOfC) {
  {
    MatrixMachine m(Isa::kCdna3, 64);
    Inst inst = Make(Isa::kCdna3, Opcode::V_MFMA_F32_32X32X8_F16);
    inst.src[2] = Constant(F32(1));
    inst.dst[0] = A(kD);
    ASSERT_EQ(m.Execute(inst), "");
    EXPECT_EQ(D(&m, inst, 31, 31), F32(1));
  }
  {
    MatrixMachine m(Isa::kCdna3, 64);
    Inst inst = Make(Isa::kCdna3, Opcode::V_MFMA_F64_4X4X4_4B_F64);
    inst.src[2] = Constant(0x4010000000000000);
    ASSERT_EQ(m.Execute(inst), "");
    EXPECT_EQ(m.At(V(kD), 1, 63), 0x40100000u);
    EXPECT_EQ(m.At(V(kD), 0, 63), 0u);
  }
  {
    MatrixMachine m(Isa::kRdna4, 32);
    Inst inst = Make(Isa::kRdna4, Opcode::V_WMMA_F16_16X16X16_F16);
    inst.src[2] = Constant(0x3c00);
    ASSERT_EQ(m.Execute(inst), "");
    EXPECT_EQ(m.At(V(kD), 3, 31), 0x3c003c00u);
  }
}

TEST(Copies, EachSixteenLanesOfRdna3UseTheirOwn) {
  for (int wave_size : {32, 64}) {
    const int groups = wave_size / 16;
    MatrixMachine m(Isa::kRdna3, wave_size);
    Fill(&m, kB, 8, 0x3c003c00);
    for (int reg = 0; reg < 8; ++reg) {
      for (int lane = 0; lane < wave_size; ++lane) {
        m.At(V(kA), reg, lane) = (lane / 16 == 0   ? 0x3c00u
                                  : lane / 16 == 1 ? 0x4000u
                                  : lane / 16 == 2 ? 0x4200u
                                                   : 0x4400u) *
                                 0x10001u;
      }
    }
    Inst inst = Make(Isa::kRdna3, Opcode::V_WMMA_F32_16X16X16_F16);
    inst.src[2] = Constant(0);
    ASSERT_EQ(m.Execute(inst), "");
    for (int row = 0; row < 16; ++row) {
      EXPECT_EQ(D(&m, inst, row, 7), F32(static_cast<float>(16 * (row % groups + 1))))
          << wave_size << " row " << row;
    }
  }
}

TEST(Overlap, DMayLieOverABAndC) {
  MatrixMachine apart(Isa::kCdna3, 64), over(Isa::kCdna3, 64);
  for (MatrixMachine* m : {&apart, &over}) {
    for (int reg = 0; reg < 16; ++reg) {
      for (int lane = 0; lane < 64; ++lane)
        m->At(V(kA), reg, lane) = 0x3c003800u + static_cast<uint32_t>(64 * reg + lane);
    }
  }
  Inst inst = Make(Isa::kCdna3, Opcode::V_MFMA_F32_32X32X8_F16);
  inst.src[1] = V(kA + 2);
  inst.src[2] = V(kA);
  ASSERT_EQ(apart.Execute(inst), "");
  inst.dst[0] = V(kA);
  ASSERT_EQ(over.Execute(inst), "");
  for (int reg = 0; reg < 16; ++reg) {
    for (int lane = 0; lane < 64; ++lane) ASSERT_EQ(over.At(V(kA), reg, lane), apart.At(V(kD), reg, lane));
  }
}

TEST(Scales, AreChosenByByteAndByLane) {
  for (Opcode op : {Opcode::V_MFMA_SCALE_F32_16X16X128_F8F6F4, Opcode::V_MFMA_SCALE_F32_32X32X64_F8F6F4}) {
    const MatrixName name = testing::ParseMatrixName(op, Isa::kCdna4);
    for (int format = 0; format < 5; ++format) {
      for (int byte = 0; byte < 4; ++byte) {
        MatrixMachine m(Isa::kCdna4, 64);
        // All elements are 1; row i has the scale 2^(i % 5) in its block b, times 2^b; columns 2^(j % 3).
        constexpr uint32_t kOnes[] = {0x38, 0x3c, 0x08, 0x0c, 0x2};
        const int bits = testing::BitsOfType(name.a, format);
        for (int i = 0; i < name.m; ++i) {
          for (int k = 0; k < name.k; ++k) {
            SetInput(&m, name, Isa::kCdna4, 'a', bits, i, k, 0, kOnes[format]);
            SetInput(&m, name, Isa::kCdna4, 'b', bits, i, k, 0, kOnes[format]);
          }
        }
        for (int lane = 0; lane < 64; ++lane) {
          const int i = lane % name.m, block = lane / name.m;
          m.At(V(160), 0, lane) = (0x11111111 & ~(0xffu << (8 * byte))) |
                                  static_cast<uint32_t>(127 + i % 5 + block) << (8 * byte);
          m.At(V(161), 0, lane) = (0x11111111 & ~(0xffu << (24 - 8 * byte))) |
                                  static_cast<uint32_t>(127 + i % 3) << (24 - 8 * byte);
        }
        Inst inst = Make(Isa::kCdna4, op);
        inst.enc = Encoding::VOP3PX2;
        inst.cbsz = inst.blgp = static_cast<uint8_t>(format);
        inst.src[3] = V(160);
        inst.src[4] = V(161);
        inst.op_sel = static_cast<uint8_t>((byte & 1) | ((3 - byte) & 1) << 1);
        inst.op_sel_hi = static_cast<uint8_t>(byte >> 1 | (3 - byte) >> 1 << 1);
        ASSERT_EQ(m.Execute(inst), "");
        for (int i = 0; i < name.m; ++i) {
          for (int j = 0; j < name.n; ++j) {
            float sum = 0;
            for (int block = 0; block < name.k / 32; ++block) sum += std::ldexp(32.0f, i % 5 + block + j % 3);
            ASSERT_EQ(D(&m, inst, i, j), F32(sum))
                << OpcodeName(op) << " format " << format << " byte " << byte;
          }
        }
      }
    }
  }
  MatrixMachine m(Isa::kCdna4, 64);
  Fill(&m, kA, 8, 0x38383838);
  Fill(&m, kB, 8, 0x38383838);
  Inst inst = Make(Isa::kCdna4, Opcode::V_MFMA_SCALE_F32_16X16X128_F8F6F4);
  inst.src[3] = Constant(255);
  inst.src[4] = Constant(127);
  ASSERT_EQ(m.Execute(inst), "");
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(D(&m, inst, 0, 0)))) << "E8M0 255 is a NaN";
}

TEST(Formats, BytesAreFnuzOnGfx942AndOcpElsewhere) {
  struct Fact {
    Isa isa;
    Opcode op;
    uint32_t byte;
    float value;
  };
  const float nan = NAN, inf = INFINITY;
  const Fact facts[] = {
      {Isa::kCdna3, Opcode::V_MFMA_F32_16X16X32_FP8_FP8, 0x40, 1},
      {Isa::kCdna4, Opcode::V_MFMA_F32_16X16X32_FP8_FP8, 0x38, 1},
      {Isa::kRdna4, Opcode::V_WMMA_F32_16X16X16_FP8_FP8, 0x38, 1},
      {Isa::kCdna3, Opcode::V_MFMA_F32_16X16X32_FP8_FP8, 0x80, nan},
      {Isa::kCdna4, Opcode::V_MFMA_F32_16X16X32_FP8_FP8, 0x80, 0},
      {Isa::kCdna4, Opcode::V_MFMA_F32_16X16X32_FP8_FP8, 0x7f, nan},
      {Isa::kRdna4, Opcode::V_WMMA_F32_16X16X16_FP8_FP8, 0x7e, 448},
      {Isa::kCdna3, Opcode::V_MFMA_F32_16X16X32_FP8_FP8, 0x7f, 240},
      {Isa::kCdna3, Opcode::V_MFMA_F32_16X16X32_FP8_FP8, 0x01, 0x1p-10f},
      {Isa::kCdna4, Opcode::V_MFMA_F32_16X16X32_FP8_FP8, 0x01, 0x1p-9f},
      {Isa::kCdna3, Opcode::V_MFMA_F32_16X16X32_BF8_FP8, 0x7c, 32768},
      {Isa::kCdna4, Opcode::V_MFMA_F32_16X16X32_BF8_FP8, 0x7c, inf},
      {Isa::kRdna4, Opcode::V_WMMA_F32_16X16X16_BF8_FP8, 0xfc, -inf},
      {Isa::kRdna4, Opcode::V_WMMA_F32_16X16X16_BF8_FP8, 0x01, 0x1p-16f},
  };
  for (const Fact& fact : facts) {
    const int wave_size = 64;
    const MatrixName name = testing::ParseMatrixName(fact.op, fact.isa);
    MatrixMachine m(fact.isa, wave_size);
    SetInput(&m, name, fact.isa, 'a', 8, 3, 5, 0, fact.byte);
    for (int j = 0; j < 16; ++j)
      SetInput(&m, name, fact.isa, 'b', 8, j, 5, 0, fact.isa == Isa::kCdna3 ? 0x40 : 0x38);
    Inst inst = Make(fact.isa, fact.op);
    inst.src[2] = Constant(0);
    ASSERT_EQ(m.Execute(inst), "");
    const float got = std::bit_cast<float>(D(&m, inst, 3, 8));
    if (std::isnan(fact.value)) {
      EXPECT_TRUE(std::isnan(got)) << OpcodeName(fact.op) << " " << fact.byte;
    } else {
      EXPECT_EQ(got, fact.value) << IsaName(fact.isa) << " " << OpcodeName(fact.op) << " " << fact.byte;
    }
  }
}

TEST(Specials, InfinitiesStayAndDenormalsDependOnTheGeneration) {
  struct Fact {
    Isa isa;
    Opcode op;
    uint32_t element;  // of A; B is 1
    uint32_t d;
  };
  const Fact facts[] = {
      {Isa::kCdna2, Opcode::V_MFMA_F32_16X16X16_F16, 0x7c00, 0x7f800000},
      {Isa::kCdna2, Opcode::V_MFMA_F32_16X16X16_F16, 0x0001, 0},  // MI200 flushes denormals of f16 and bf16
      {Isa::kCdna2, Opcode::V_MFMA_F32_16X16X16_BF16, 0x0001, 0},
      {Isa::kCdna2, Opcode::V_MFMA_F32_4X4X2BF16, 0x0001, 0},
      {Isa::kCdna3, Opcode::V_MFMA_F32_16X16X16_F16, 0x7c00, 0x7f800000},
      {Isa::kCdna3, Opcode::V_MFMA_F32_16X16X16_F16, 0x0001, 0x33800000},
      {Isa::kCdna3, Opcode::V_MFMA_F32_16X16X16_BF16, 0x0001, 0x00010000},
      {Isa::kCdna4, Opcode::V_MFMA_F32_16X16X32_F16, 0xfc00, 0xff800000},
      {Isa::kCdna4, Opcode::V_MFMA_F32_16X16X32_BF16, 0x0001, 0x00010000},
      {Isa::kRdna3, Opcode::V_WMMA_F32_16X16X16_F16, 0x7c00, 0x7f800000},
      {Isa::kRdna3, Opcode::V_WMMA_F32_16X16X16_F16, 0x0001, 0x33800000},
      {Isa::kRdna3, Opcode::V_WMMA_F32_16X16X16_BF16, 0x0001, 0},
      {Isa::kRdna4, Opcode::V_WMMA_F32_16X16X16_BF16, 0x0001, 0x00010000},
      {Isa::kRdna4, Opcode::V_WMMA_F32_16X16X16_F16, 0x7e00, 0xffc00a3d},
  };
  for (const Fact& fact : facts) {
    const MatrixName name = testing::ParseMatrixName(fact.op, fact.isa);
    MatrixMachine m(fact.isa, 64);
    SetInput(&m, name, fact.isa, 'a', 16, 1, 1, 0, fact.element);
    for (int j = 0; j < name.n; ++j) {
      SetInput(&m, name, fact.isa, 'b', 16, j, 1, 0, name.a == "BF16" ? 0x3f80 : 0x3c00);
    }
    Inst inst = Make(fact.isa, fact.op);
    inst.src[2] = Constant(0);
    ASSERT_EQ(m.Execute(inst), "");
    EXPECT_EQ(D(&m, inst, 1, 2), fact.d)
        << IsaName(fact.isa) << " " << OpcodeName(fact.op) << " " << std::hex << fact.element;
  }
  // f64 and f32 keep denormals and infinities everywhere.
  for (Isa isa : {Isa::kCdna2, Isa::kCdna3, Isa::kCdna4}) {
    MatrixMachine m(isa, 64);
    m.At(V(kA), 0, 0) = 1;
    Fill(&m, kB, 1, F32(1));
    Inst inst = Make(isa, Opcode::V_MFMA_F32_16X16X4_F32);
    inst.src[2] = Constant(0);
    ASSERT_EQ(m.Execute(inst), "");
    EXPECT_EQ(D(&m, inst, 0, 3), 1u);
  }
}

// FP16_OVFL makes an overflow of f16 the largest value.
TEST(Specials, OverflowOfHalves) {
  for (Isa isa : {Isa::kRdna3, Isa::kRdna4}) {
    for (bool ovfl : {false, true}) {
      MatrixMachine m(isa, 32);
      if (ovfl) m.wave.mode |= kModeFp16Ovfl;
      Fill(&m, kA, 8, 0x5c005c00);  // 256
      Fill(&m, kB, 8, 0x5c005c00);
      Inst inst = Make(isa, Opcode::V_WMMA_F16_16X16X16_F16);
      inst.src[2] = Constant(0);
      ASSERT_EQ(m.Execute(inst), "");
      EXPECT_EQ(m.At(V(kD), 0, 0) & 0xffff, ovfl ? 0x7bffu : 0x7c00u);
    }
  }
}

// The stated bound, for every float rule: (K + 2) * 2^-23 * (|c| + sum |ab|), and a rounding to f16 or bf16 a
// step.
TEST(Bounds, HoldForRandomElements) {
  uint64_t state = 88172645463325252u;
  const auto draw = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<uint32_t>(state >> 20);
  };
  for (const MatrixOp& op : AllMatrixOps()) {
    const MatrixName name = testing::ParseMatrixName(op.op, op.isa);
    if (name.d == "I32" || name.sparse || name.a == "F8F6F4") continue;
    const int bits = testing::BitsOfType(name.a), wave_size = IsCdna(op.isa) ? 64 : 32;
    const bool fnuz = op.isa == Isa::kCdna3;
    // An element near 1 with a random significand, and its value.
    const auto element = [&](const std::string& type, double* value) -> uint64_t {
      const uint32_t r = draw();
      const int exponent = static_cast<int>(r % 7) - 3, sign = static_cast<int>(r >> 8 & 1);
      const int fraction_bits = type == "F64"                     ? 52
                                : type == "F32"                   ? 23
                                : type == "XF32" || type == "F16" ? 10
                                : type == "BF16"                  ? 7
                                : type == "FP8"                   ? 3
                                                                  : 2;
      const int bias = type == "F64"   ? 1023
                       : type == "F16" ? 15
                       : type == "FP8" ? (fnuz ? 8 : 7)
                       : type == "BF8" ? (fnuz ? 16 : 15)
                                       : 127;
      const uint64_t fraction = (uint64_t{draw()} << 32 | draw()) & ((uint64_t{1} << fraction_bits) - 1);
      *value = std::ldexp(1 + std::ldexp(static_cast<double>(fraction), -fraction_bits), exponent) *
               (sign != 0 ? -1 : 1);
      const int shift = type == "XF32" ? 13 : 0;
      return (static_cast<uint64_t>(sign) << (bits - 1)) |
             (static_cast<uint64_t>(exponent + bias) << fraction_bits | fraction) << shift;
    };
    MatrixMachine m(op.isa, wave_size);
    std::vector<double> a(static_cast<size_t>(name.m * name.k)), b(static_cast<size_t>(name.n * name.k));
    for (int i = 0; i < name.m; ++i) {
      for (int k = 0; k < name.k; ++k) {
        SetInput(&m, name, op.isa, 'a', bits, i, k, 0,
                 element(name.a, &a[static_cast<size_t>(i * name.k + k)]));
        SetInput(&m, name, op.isa, 'b', bits, i, k, 0,
                 element(name.b, &b[static_cast<size_t>(i * name.k + k)]));
      }
    }
    const bool half = name.d == "F16" || name.d == "BF16";
    const int d_bits = name.d == "F64" ? 64 : half ? 16 : 32;
    std::vector<double> c(static_cast<size_t>(name.m * name.n));
    for (int i = 0; i < name.m; ++i) {
      for (int j = 0; j < name.n; ++j) {
        double& value = c[static_cast<size_t>(i * name.n + j)];
        const double v = (static_cast<int>(draw() % 41) - 20) * 0.25;
        value = v;
        uint64_t code = std::bit_cast<uint64_t>(v);
        if (name.d == "F32") code = F32(static_cast<float>(v));
        if (name.d == "BF16") code = F32(static_cast<float>(v)) >> 16;
        if (name.d == "F16") {
          int e;
          const double s = std::frexp(std::fabs(v), &e);
          code = v == 0 ? 0
                        : (v < 0 ? 0x8000u : 0u) | static_cast<uint32_t>(e + 14) << 10 |
                              static_cast<uint32_t>((s * 2 - 1) * 1024);
        }
        Put(&m, V(kC), testing::PlaceOfOutput(name, op.isa, wave_size, i, j, 0), d_bits, code);
      }
    }
    const Inst inst = Make(op.isa, op.op);
    ASSERT_EQ(m.Execute(inst), "");
    for (int i = 0; i < name.m; ++i) {
      for (int j = 0; j < name.n; ++j) {
        __float128 sum = c[static_cast<size_t>(i * name.n + j)], size = std::fabs(static_cast<double>(sum));
        for (int k = 0; k < name.k; ++k) {
          const __float128 product = static_cast<__float128>(a[static_cast<size_t>(i * name.k + k)]) *
                                     b[static_cast<size_t>(j * name.k + k)];
          sum += product;
          size += product < 0 ? -product : product;
        }
        const uint64_t code =
            Get(&m, V(kD), testing::PlaceOfOutput(name, op.isa, wave_size, i, j, 0), d_bits);
        double got = std::bit_cast<double>(code);
        if (name.d == "F32") got = std::bit_cast<float>(static_cast<uint32_t>(code));
        if (name.d == "BF16") got = std::bit_cast<float>(static_cast<uint32_t>(code) << 16);
        if (name.d == "F16") {
          got =
              std::ldexp(
                  (code & 0x3ff) | (code >> 10 & 31) << 10 ? static_cast<double>((code & 0x3ff) | 0x400) : 0,
                  static_cast<int>(code >> 10 & 31) - 25) *
              ((code & 0x8000) != 0 ? -1 : 1);
        }
        double bound = (name.k + 2) * 0x1p-23 * static_cast<double>(size);
        if (name.d == "F64") bound = (name.k + 1) * 0x1p-53 * static_cast<double>(size);
        if (half) bound += name.k / 2 * (name.d == "F16" ? 0x1p-11 : 0x1p-7) * static_cast<double>(size);
        const double error = std::fabs(static_cast<double>(got - sum));
        ASSERT_LE(error, bound) << IsaName(op.isa) << " " << OpcodeName(op.op) << " " << i << " " << j;
      }
    }
  }
}

TEST(Refusals, NameTheFieldAndItsRange) {
  Inst inst = Make(Isa::kCdna3, Opcode::V_MFMA_F32_16X16X16_F16);
  EXPECT_EQ(MatrixRefusal(inst), "");
  inst.blgp = 3;
  EXPECT_EQ(MatrixRefusal(inst), "BLGP 3 has no meaning");
  inst = Make(Isa::kCdna3, Opcode::V_MFMA_F32_16X16X4_4B_F16);
  inst.cbsz = 3;
  EXPECT_EQ(MatrixRefusal(inst), "CBSZ 3 broadcasts to more than its 4 blocks");
  inst.cbsz = 1;
  inst.abid = 2;
  EXPECT_EQ(MatrixRefusal(inst), "ABID 2 is not below 2^CBSZ");
  inst = Make(Isa::kCdna2, Opcode::V_MFMA_F64_16X16X4_F64);
  inst.blgp = 1;
  EXPECT_EQ(MatrixRefusal(inst), "BLGP 1 has no meaning") << "only gfx942 and later negate";
  inst = Make(Isa::kCdna4, Opcode::V_MFMA_F32_16X16X128_F8F6F4);
  inst.cbsz = 5;
  EXPECT_EQ(MatrixRefusal(inst), "CBSZ 5 names no format of A (0-4)");
  inst = Make(Isa::kCdna3, Opcode::V_SMFMAC_F32_16X16X64_FP8_FP8);
  inst.abid = 2;
  EXPECT_EQ(MatrixRefusal(inst), "ABID 2 names no set of indices (0-1)");
  inst.cbsz = 1;
  EXPECT_EQ(MatrixRefusal(inst), "") << "CBSZ makes ABID nothing";
  inst = Make(Isa::kCdna2, Opcode::V_MFMA_F32_16X16X32_F16);
  EXPECT_EQ(MatrixRefusal(inst), "not a matrix instruction of this generation");
  inst = Make(Isa::kCdna4, Opcode::V_MFMA_LD_SCALE_B32);
  EXPECT_EQ(MatrixRefusal(inst), "the first half of V_MFMA_SCALE_*, which does not stand alone");
  inst = Make(Isa::kCdna3, Opcode::V_MFMA_F32_32X32X8_F16);
  inst.dst[0] = A(244);
  EXPECT_EQ(MatrixRefusal(inst), "D at register 244 with 16 registers reaches beyond register 255");
  inst.dst[0] = A(240);
  inst.src[1] = testing::Reg(Operand::Kind::kSgpr, 4);
  EXPECT_EQ(MatrixRefusal(inst), "B is not a vector register");
  inst = Make(Isa::kRdna4, Opcode::V_WMMA_F32_16X16X16_F16);
  inst.dst[0] = V(250);
  MatrixMachine m(Isa::kRdna4, 32);
  EXPECT_EQ(m.Execute(inst),
            "V_WMMA_F32_16X16X16_F16: a matrix reaches beyond register 255 in a wave of 32 lanes");
  MatrixMachine wide(Isa::kRdna4, 64);
  EXPECT_EQ(wide.Execute(inst), "") << "wave64 needs four registers";
}

}  // namespace
}  // namespace understudy::emu::amd
