// SPDX-License-Identifier: Apache-2.0
// Operand fetch, modifiers, DPP, EXEC, masks and lane exchange, on machine code that LLVM MC assembled.
// Expected values are computed here from the manual's rules, or are known wrong answers of other emulators
// set right.
#include <gtest/gtest.h>

#include <cmath>

#include "emu/amd/semantics/float_bits.h"
#include "tests/emu/amd/semantics/machine.h"

namespace understudy::emu::amd {
namespace {

using testing::Draws;
using testing::InlineInt;
using testing::Literal;
using testing::Machine;
using testing::Make;
using testing::S;
using testing::V;
using Bytes = std::vector<uint8_t>;

// v1 = a, v2 = b, v3 = c in every lane; v9 of lane 0 afterwards.
uint32_t Result(Bytes code, uint32_t a, uint32_t b = 0, uint32_t c = 0, uint32_t old = 0,
                uint32_t mode = 0xf0) {
  Machine m;
  m.wave.mode = mode;
  m.Broadcast(1, a);
  m.Broadcast(2, b);
  m.Broadcast(3, c);
  m.Broadcast(9, old);
  EXPECT_EQ(m.Run(std::move(code)), "");
  return m.Reg(9, 0);
}

TEST(VectorCases, BytePermute) {
  const Bytes perm = {0x09, 0x00, 0x44, 0xd6, 0x01, 0x05, 0x0e, 0x04};
  EXPECT_EQ(Result(perm, 0x33221100, 0x77665544, 0x00020406), 0x44660022u);
  EXPECT_EQ(Result(perm, 0x00008000, 0x80000080, 0x08090a0b), 0x00ffff00u);
}

TEST(VectorCases, SignedBitFieldExtends) {
  EXPECT_EQ(Result({0x09, 0x00, 0x11, 0xd6, 0x01, 0x09, 0x11, 0x02}, 0xf0), 0xffffffffu);
}

TEST(VectorCases, ReadFirstLaneWritesTheScalarRegister) {
  Machine m;
  m.Broadcast(0, 7);
  m.Broadcast(100, 1234);
  m.Reg(0, 3) = 42;
  m.wave.set_exec(0xfffffff8u);
  ASSERT_EQ(m.Run({0x00, 0x05, 0xc8, 0x7e}), "");
  EXPECT_EQ(m.wave.sgpr[100], 42u);
  EXPECT_EQ(m.Reg(100, 0), 1234u);
  m.wave.set_exec(0);
  ASSERT_EQ(m.Run({0x00, 0x05, 0xc8, 0x7e}), "");
  EXPECT_EQ(m.wave.sgpr[100], 7u) << "lane 0 when no lane is active";
}

TEST(VectorCases, FmacIsAFloatOperationOnBothEncodings) {
  EXPECT_EQ(Result({0x01, 0x05, 0x12, 0x56}, 0x40000000, 0x40400000, 0, 0x3f800000), 0x40e00000u);
  EXPECT_EQ(Result({0x09, 0x00, 0x2b, 0xd5, 0x01, 0x05, 0x02, 0x00}, 0x40000000, 0x40400000, 0, 0x3f800000),
            0x40e00000u);
}

TEST(VectorCases, IntegerClampSaturates) {
  EXPECT_EQ(Result({0x09, 0x80, 0x26, 0xd5, 0x01, 0x05, 0x02, 0x00}, 0, 1), 0u);
  EXPECT_EQ(Result({0x09, 0x80, 0x25, 0xd5, 0x01, 0x05, 0x02, 0x00}, 0xffffffff, 1), 0xffffffffu);
}

TEST(VectorCases, PackedLiteralSelectsItsHalves) {
  // op_sel_hi 0 takes the literal's low half for both results, 1 its high half.
  EXPECT_EQ(Result({0x09, 0x40, 0x0a, 0xcc, 0x01, 0xff, 0x01, 0x08, 0x00, 0x20, 0x00, 0x00}, 0x1c001c00),
            0x3c003c00u);
  EXPECT_EQ(Result({0x09, 0x40, 0x0a, 0xcc, 0x01, 0xff, 0x01, 0x18, 0x00, 0x20, 0x01, 0x00}, 0x1c001c00),
            0x1c013c00u);
}

TEST(VectorCases, HalfConversionCarriesIntoTheExponent) {
  const Bytes cvt = {0x01, 0x15, 0x12, 0x7e};
  EXPECT_EQ(Result(cvt, BitsOf(0.124992706f)) & 0xffff, 0x3000u);
  EXPECT_EQ(Result(cvt, BitsOf(-0.031243186f)) & 0xffff, 0xa800u);
  EXPECT_EQ(Result(cvt, BitsOf(-0.124975391f)) & 0xffff, 0xb000u);
  EXPECT_EQ(Result(cvt, BitsOf(1.0f), 0, 0, 0xabcd1234), 0xabcd3c00u) << "the other half is kept";
}

TEST(VectorCases, OneOverTwoPiConstant) {
  EXPECT_EQ(Result({0x09, 0x00, 0x08, 0xd5, 0xf8, 0xe4, 0x01, 0x00}, 0), 0x3e22f983u);
}

TEST(VectorCases, OmodComesBeforeClampAndNeedsFlushedDenormals) {
  const Bytes mul2 = {0x09, 0x00, 0x08, 0xd5, 0x01, 0x05, 0x02, 0x08};
  const Bytes mul2_clamp = {0x09, 0x80, 0x08, 0xd5, 0x01, 0x05, 0x02, 0x08};
  const uint32_t a = BitsOf(1.5f), b = BitsOf(2.0f);
  EXPECT_EQ(Result(mul2_clamp, a, b), BitsOf(1.0f));
  EXPECT_EQ(Result(mul2_clamp, BitsOf(0.25f), BitsOf(1.0f), 0, 0, 0xc0), BitsOf(0.5f));
  EXPECT_EQ(Result(mul2, a, b, 0, 0, 0xf0), BitsOf(3.0f)) << "denormals kept: ignored";
  EXPECT_EQ(Result(mul2, a, b, 0, 0, 0xc0), BitsOf(6.0f)) << "denormals flushed: applied";
  EXPECT_EQ(Result(mul2, a, b, 0, 0, 0x2c0), BitsOf(3.0f)) << "IEEE mode: ignored";
  EXPECT_EQ(Result(mul2, 0x80000000, b, 0, 0, 0xc0), 0u) << "-0 becomes +0";
}

TEST(VectorCases, ClampTurnsNanToZeroInDx10ModeOnly) {
  const Bytes mul_clamp = {0x09, 0x80, 0x08, 0xd5, 0x01, 0x05, 0x02, 0x00};
  EXPECT_EQ(Result(mul_clamp, 0x7fc00000, BitsOf(1.0f), 0, 0, 0x1f0), 0u);
  EXPECT_EQ(Result(mul_clamp, 0x7fc00000, BitsOf(1.0f), 0, 0, 0x0f0), 0x7fc00000u);
  EXPECT_EQ(Result(mul_clamp, BitsOf(-3.0f), BitsOf(1.0f)), 0u);
}

TEST(VectorCases, FrexpOfZeroAndLdexpToTheLeastDenormal) {
  EXPECT_EQ(Result({0x01, 0x7f, 0x12, 0x7e}, 0), 0u);
  Machine m;
  m.Broadcast(1, static_cast<uint32_t>(-1074));
  ASSERT_EQ(m.Run({0x0a, 0x00, 0x2b, 0xd7, 0xf2, 0x02, 0x02, 0x00}), "");
  EXPECT_EQ(m.Reg64(10, 0), 1u);
}

TEST(VectorModifiers, NegAndAbsActOnTheSignBitOfAHalf) {
  // v_add_f16 v9, -v1, |v2|: -1 + |-2| = 1
  EXPECT_EQ(Result({0x09, 0x02, 0x32, 0xd5, 0x01, 0x05, 0x02, 0x20}, 0x3c00, 0xc000, 0, 0xffff0000),
            0xffff3c00u);
}

TEST(VectorModifiers, OpSelReadsAndWritesHighHalves) {
  // v_add_f16 with op_sel on source 0 and the destination: high(v1) + low(v2) into the high half.
  EXPECT_EQ(Result({0x09, 0x48, 0x32, 0xd5, 0x01, 0x05, 0x02, 0x00}, 0x3c000000, 0x00004000, 0, 0x0000beef),
            0x4200beefu);
}

TEST(VectorModifiers, MixedFmaReadsHalvesAndWords) {
  // v_fma_mixlo_f16 v9, high half of v1, v2 as f32, low half of v3: 2 * 3 + 1 = 7
  EXPECT_EQ(
      Result({0x09, 0x48, 0x21, 0xcc, 0x01, 0x05, 0x0e, 0x0c}, 0x40000000, BitsOf(3.0f), 0x3c00, 0x12345678),
      0x12344700u);
}

// Cards: half-rate denormal modes are per precision.
TEST(VectorModes, DenormalsAndRoundingArePerPrecision) {
  const Inst add32 = Make(Opcode::V_ADD_F32, Encoding::VOP2, {V(9)}, {V(1), V(2)});
  const Inst add16 = Make(Opcode::V_ADD_F16, Encoding::VOP2, {V(10)}, {V(3), V(4)});
  Machine m;
  m.Broadcast(1, 0x00000001);
  m.Broadcast(2, 0);
  m.Broadcast(3, 0x0001);
  m.Broadcast(4, 0);
  m.wave.mode = 0xc0;  // f32 flushed, f16 kept
  ASSERT_EQ(m.Execute(add32), "");
  ASSERT_EQ(m.Execute(add16), "");
  EXPECT_EQ(m.Reg(9, 0), 0u);
  EXPECT_EQ(m.Reg(10, 0) & 0xffff, 1u);
  m.wave.mode = 0xf0 | 0x2;  // f32 rounds down, f16 to nearest
  m.Broadcast(1, BitsOf(1.0f));
  m.Broadcast(2, BitsOf(-0x1p-30f));
  ASSERT_EQ(m.Execute(add32), "");
  EXPECT_EQ(m.Reg(9, 0), 0x3f7fffffu);
}

TEST(VectorMasks, InactiveLanesKeepTheirRegistersAndClearTheirMaskBits) {
  for (int size : {32, 64}) {
    Machine m(size);
    Draws draws(1);
    uint64_t less = 0, carry = 0;
    const uint64_t exec = draws.Bits() & m.wave.lane_mask;
    for (int lane = 0; lane < size; ++lane) {
      const uint32_t a = draws.Word(), b = draws.Word();
      m.Reg(1, lane) = a;
      m.Reg(2, lane) = b;
      m.Reg(9, lane) = 0x5555;
      less |= uint64_t{a < b} << lane;
      carry |= uint64_t{uint64_t{a} + b > 0xffffffffu} << lane;
    }
    m.wave.set_exec(exec);
    m.wave.sgpr[5] = m.wave.sgpr[7] = 0x77;
    ASSERT_EQ(m.Run({0x06, 0x00, 0x49, 0xd4, 0x01, 0x05, 0x02, 0x00}), "");  // v_cmp_lt_u32 s6
    EXPECT_EQ(m.wave.Mask(6), less & exec);
    if (size == 32) {
      EXPECT_EQ(m.wave.sgpr[7], 0x77u) << "a wave32 mask is one register";
    }
    ASSERT_EQ(m.Run({0x09, 0x04, 0x00, 0xd7, 0x01, 0x05, 0x02, 0x00}), "");  // v_add_co_u32 v9, s4
    EXPECT_EQ(m.wave.Mask(4), carry & exec);
    if (size == 32) {
      EXPECT_EQ(m.wave.sgpr[5], 0x77u);
    }
    for (int lane = 0; lane < size; ++lane) {
      const bool active = (exec >> lane) & 1;
      EXPECT_EQ(m.Reg(9, lane), active ? m.Reg(1, lane) + m.Reg(2, lane) : 0x5555u) << lane;
    }
    m.wave.set_vcc(0x1234567890abcdefu);
    ASSERT_EQ(m.Run({0x01, 0x05, 0x92, 0x7d}), "");  // v_cmpx_lt_u32
    EXPECT_EQ(m.wave.exec(), less & exec);
    EXPECT_EQ(m.wave.vcc(), 0x1234567890abcdefu & m.wave.lane_mask) << "V_CMPX leaves VCC alone";
  }
}

TEST(VectorMasks, NullDestinationIsNotWritten) {
  Machine m(64);
  m.wave.sgpr[125] = 0x1234;  // M0 follows NULL
  ASSERT_EQ(m.Execute(Make(Opcode::V_ADD_CO_U32, Encoding::VOP3SD, {V(9), S(124, 2)}, {V(1), V(2)})), "");
  EXPECT_EQ(m.wave.sgpr[124], 0u);
  EXPECT_EQ(m.wave.sgpr[125], 0x1234u);
}

TEST(VectorMasks, CarriesRunThrough) {
  Machine m;
  Draws draws(9);
  const uint32_t in = static_cast<uint32_t>(draws.Bits());
  for (int lane = 0; lane < 32; ++lane) {
    m.Reg(1, lane) = draws.Word();
    m.Reg(2, lane) = draws.Word();
  }
  m.wave.set_vcc(in);
  ASSERT_EQ(m.Run({0x01, 0x05, 0x12, 0x40}), "");  // v_add_co_ci_u32
  for (int lane = 0; lane < 32; ++lane) {
    const uint64_t sum = uint64_t{m.Reg(1, lane)} + m.Reg(2, lane) + ((in >> lane) & 1);
    EXPECT_EQ(m.Reg(9, lane), static_cast<uint32_t>(sum));
    EXPECT_EQ((m.wave.vcc() >> lane) & 1, sum >> 32);
  }
  m.wave.set_vcc(in);
  ASSERT_EQ(
      m.Execute(Make(Opcode::V_SUB_CO_CI_U32, Encoding::VOP3SD, {V(9), S(106, 2)}, {V(1), V(2), S(106, 2)})),
      "");
  for (int lane = 0; lane < 32; ++lane) {
    const int64_t difference = int64_t{m.Reg(1, lane)} - m.Reg(2, lane) - ((in >> lane) & 1);
    EXPECT_EQ(m.Reg(9, lane), static_cast<uint32_t>(difference));
    EXPECT_EQ((m.wave.vcc() >> lane) & 1, static_cast<uint64_t>(difference < 0));
  }
}

TEST(VectorMasks, MaskedBitCountNumbersTheLanes) {
  Machine m(64);
  ASSERT_EQ(
      m.Execute(Make(Opcode::V_MBCNT_LO_U32_B32, Encoding::VOP3, {V(9)}, {InlineInt(-1), InlineInt(0)})), "");
  ASSERT_EQ(m.Execute(Make(Opcode::V_MBCNT_HI_U32_B32, Encoding::VOP3, {V(9)}, {InlineInt(-1), V(9)})), "");
  for (int lane = 0; lane < 64; ++lane) EXPECT_EQ(m.Reg(9, lane), static_cast<uint32_t>(lane));
}

TEST(VectorPairs, BothHalvesReadBeforeEitherWrites) {
  Machine m;
  m.Broadcast(1, 11);
  m.Broadcast(2, 22);
  ASSERT_EQ(m.Run({0x02, 0x01, 0x10, 0xca, 0x01, 0x01, 0x02, 0x01}),
            "");  // v_dual_mov v1, v2 :: v_dual_mov v2, v1
  EXPECT_EQ(m.Reg(1, 5), 22u);
  EXPECT_EQ(m.Reg(2, 5), 11u);
}

TEST(VectorExchange, LanesAndScalars) {
  Machine m(64);
  for (int lane = 0; lane < 64; ++lane) m.Reg(1, lane) = static_cast<uint32_t>(100 + lane);
  m.wave.set_exec(1);
  ASSERT_EQ(m.Run({0x07, 0x00, 0x60, 0xd7, 0x01, 0x43, 0x01, 0x00}), "");  // v_readlane_b32 s7, v1, 33
  EXPECT_EQ(m.wave.sgpr[7], 133u) << "EXEC does not matter";
  m.wave.sgpr[3] = 77;
  ASSERT_EQ(m.Run({0x09, 0x00, 0x61, 0xd7, 0x03, 0x0a, 0x01, 0x00}), "");  // v_writelane_b32 v9, s3, 5
  EXPECT_EQ(m.Reg(9, 5), 77u);
  EXPECT_EQ(m.Reg(9, 4), 0u);
  m.wave.set_exec(0x00000000ffffffffu);
  ASSERT_EQ(m.Run({0x01, 0xcf, 0x12, 0x7e}), "");  // v_permlane64_b32 v9, v1
  EXPECT_EQ(m.Reg(9, 3), 135u);
  EXPECT_EQ(m.Reg(9, 40), 0u);
  // v_permlane16_b32 v9, v1, s2, s3 as a rotation by one: the manual's example.
  m.wave.set_exec(~uint64_t{0});
  m.wave.sgpr[2] = 0x87654321;
  m.wave.sgpr[3] = 0x0fedcba9;
  ASSERT_EQ(m.Run({0x09, 0x00, 0x5b, 0xd6, 0x01, 0x05, 0x0c, 0x00}), "");
  for (int lane = 0; lane < 64; ++lane) EXPECT_EQ(m.Reg(9, lane), 100u + (lane & ~15) + ((lane + 1) & 15));
  m.Broadcast(2, 5);
  m.wave.set_exec(2);
  ASSERT_EQ(m.Run({0x02, 0xcb, 0x02, 0x7e}), "");  // v_swap_b32 v1, v2
  EXPECT_EQ(m.Reg(1, 1), 5u);
  EXPECT_EQ(m.Reg(2, 1), 101u);
  EXPECT_EQ(m.Reg(1, 2), 102u);
}

TEST(VectorExchange, RelativeIndexOutOfRangeReadsV0AndWritesNothing) {
  Machine m;
  m.wave.num_vgprs = 32;
  m.Broadcast(0, 5);
  m.Broadcast(17, 170);
  m.wave.sgpr[125] = 10;
  ASSERT_EQ(m.Execute(Make(Opcode::V_MOVRELS_B32, Encoding::VOP1, {V(9)}, {V(7)})), "");
  EXPECT_EQ(m.Reg(9, 0), 170u);
  ASSERT_EQ(m.Execute(Make(Opcode::V_MOVRELD_B32, Encoding::VOP1, {V(5)}, {V(17)})), "");
  EXPECT_EQ(m.Reg(15, 0), 170u);
  m.wave.sgpr[125] = 100000;
  ASSERT_EQ(m.Execute(Make(Opcode::V_MOVRELS_B32, Encoding::VOP1, {V(9)}, {V(7)})), "");
  EXPECT_EQ(m.Reg(9, 0), 5u);
  ASSERT_EQ(m.Execute(Make(Opcode::V_MOVRELD_B32, Encoding::VOP1, {V(5)}, {V(17)})), "");
}

// --- DPP: each pattern over lane ids ---
struct DppCase {
  const char* name;
  Bytes code;
  int (*source)(int lane);  // -1: outside the row
  bool zero_fill, fetch_inactive;
  int row_mask, bank_mask;
};

TEST(VectorDpp, PatternsOverLaneIdsUnderEveryExec) {
  const DppCase cases[] = {
      {"quad_perm:[3,2,1,0]",
       {0xfa, 0x02, 0x12, 0x7e, 0x01, 0x1b, 0x00, 0xff},
       [](int l) { return (l & ~3) + 3 - (l & 3); },
       false,
       false,
       15,
       15},
      {"row_shl:3",
       {0xfa, 0x02, 0x12, 0x7e, 0x01, 0x03, 0x01, 0xff},
       [](int l) { return (l & 15) + 3 < 16 ? l + 3 : -1; },
       false,
       false,
       15,
       15},
      {"row_shr:5 bound_ctrl",
       {0xfa, 0x02, 0x12, 0x7e, 0x01, 0x15, 0x09, 0xff},
       [](int l) { return (l & 15) >= 5 ? l - 5 : -1; },
       true,
       false,
       15,
       15},
      {"row_ror:7 masks",
       {0xfa, 0x02, 0x12, 0x7e, 0x01, 0x27, 0x01, 0x5a},
       [](int l) { return (l & ~15) + ((l + 16 - 7) & 15); },
       false,
       false,
       5,
       10},
      {"row_mirror",
       {0xfa, 0x02, 0x12, 0x7e, 0x01, 0x40, 0x01, 0xff},
       [](int l) { return l ^ 15; },
       false,
       false,
       15,
       15},
      {"row_half_mirror",
       {0xfa, 0x02, 0x12, 0x7e, 0x01, 0x41, 0x01, 0xff},
       [](int l) { return l ^ 7; },
       false,
       false,
       15,
       15},
      {"row_share:6",
       {0xfa, 0x02, 0x12, 0x7e, 0x01, 0x56, 0x01, 0xff},
       [](int l) { return (l & ~15) + 6; },
       false,
       false,
       15,
       15},
      {"row_xmask:11",
       {0xfa, 0x02, 0x12, 0x7e, 0x01, 0x6b, 0x01, 0xff},
       [](int l) { return l ^ 11; },
       false,
       false,
       15,
       15},
      {"row_xmask:1 fi",
       {0xfa, 0x02, 0x12, 0x7e, 0x01, 0x61, 0x05, 0xff},
       [](int l) { return l ^ 1; },
       false,
       true,
       15,
       15},
      {"dpp8 reversed",
       {0xe9, 0x02, 0x12, 0x7e, 0x01, 0x77, 0x39, 0x05},
       [](int l) { return l ^ 7; },
       true,
       false,
       15,
       15},
      {"dpp8 reversed fi",
       {0xea, 0x02, 0x12, 0x7e, 0x01, 0x77, 0x39, 0x05},
       [](int l) { return l ^ 7; },
       true,
       true,
       15,
       15},
  };
  for (const DppCase& c : cases) {
    for (int size : {32, 64}) {
      for (uint64_t exec : {~uint64_t{0}, uint64_t{0x5a5aff0012345678u}}) {
        Machine m(size);
        exec &= m.wave.lane_mask;
        m.wave.set_exec(exec);
        for (int lane = 0; lane < size; ++lane) m.Reg(1, lane) = static_cast<uint32_t>(lane + 1);
        m.Broadcast(9, 0xdead);
        ASSERT_EQ(m.Run(c.code), "") << c.name;
        for (int lane = 0; lane < size; ++lane) {
          const int from = c.source(lane);
          const bool valid = from >= 0 && (c.fetch_inactive || ((exec >> from) & 1));
          const bool enabled = ((c.row_mask >> (lane / 16)) & 1) && ((c.bank_mask >> ((lane / 4) & 3)) & 1);
          uint32_t expected = 0xdead;
          if (((exec >> lane) & 1) && enabled) expected = valid ? from + 1 : c.zero_fill ? 0 : 0xdead;
          ASSERT_EQ(m.Reg(9, lane), expected) << c.name << " wave" << size << " lane " << lane;
        }
      }
    }
  }
}

TEST(VectorDpp, ModifiersApplyToTheExchangedValue) {
  // v_add_f32_dpp v9, -v1, |v2| quad_perm:[1,0,3,2]
  Machine m;
  for (int lane = 0; lane < 32; ++lane) {
    m.Reg(1, lane) = BitsOf(static_cast<float>(lane));
    m.Reg(2, lane) = BitsOf(-100.0f * lane);
  }
  ASSERT_EQ(m.Run({0xfa, 0x04, 0x12, 0x06, 0x01, 0xb1, 0x90, 0xff}), "");
  for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(FloatOf(m.Reg(9, lane)), 100.0f * lane - (lane ^ 1));
}

TEST(VectorSources, ScalarsConstantsAndSpecialRegisters) {
  Machine m(64);
  m.wave.sgpr[8] = 0x11111111;
  m.wave.sgpr[9] = 0x22222222;
  m.wave.scc = true;
  const auto add = [&m](Operand a, Operand b) {
    EXPECT_EQ(m.Execute(Make(Opcode::V_ADD_NC_U32, Encoding::VOP3, {V(9)}, {a, b})), "");
    return m.Reg(9, 63);
  };
  Operand scc = S(0);
  scc.kind = Operand::Kind::kScc;
  EXPECT_EQ(add(S(8), S(9)), 0x33333333u);
  EXPECT_EQ(add(scc, InlineInt(-16)), 0xfffffff1u);
  EXPECT_EQ(add(S(124), Literal(0x000000e7)), 0xe7u) << "NULL reads 0; a literal is a value, not a selector";
  EXPECT_EQ(add(S(126), InlineInt(1)), 0u) << "EXEC_LO";
  ASSERT_EQ(m.Execute(Make(Opcode::V_LSHLREV_B64, Encoding::VOP3, {V(10, 2)}, {InlineInt(4), S(8, 2)})), "");
  EXPECT_EQ(m.Reg64(10, 0), 0x2222222211111111u << 4);
}

// The overall formula of the manual: P0 + P10 * I + P20 * J, the parameters in lanes 0 to 2 of each quad.
TEST(VectorInterpolation, CombinesTheLanesOfAQuad) {
  Machine m(64);
  for (int lane = 0; lane < 64; ++lane) {
    const int n = 10 * (lane / 4) + (lane % 4) * (lane % 4) + 1;
    m.Reg(1, lane) = BitsOf(static_cast<float>(n));
    m.Reg(4, lane) = uint32_t{HalfFromFloat(static_cast<float>(n))} << 16;
    m.Reg(2, lane) = BitsOf(0.25f * lane);
    m.Reg(3, lane) = BitsOf(0.5f * lane);
    m.Reg(11, lane) = 0x1234abcd;
  }
  m.wave.set_exec(0x7777777777777777u);
  ASSERT_EQ(m.Execute(Make(Opcode::V_INTERP_P10_F32, Encoding::VINTERP, {V(9)}, {V(1), V(2), V(1)})), "");
  ASSERT_EQ(m.Execute(Make(Opcode::V_INTERP_P2_F32, Encoding::VINTERP, {V(9)}, {V(1), V(3), V(9)})), "");
  Inst p10 = Make(Opcode::V_INTERP_P10_F16_F32, Encoding::VINTERP, {V(10)}, {V(4), V(2), V(4)});
  p10.op_sel = 5;
  ASSERT_EQ(m.Execute(p10), "");
  Inst p2 = Make(Opcode::V_INTERP_P2_F16_F32, Encoding::VINTERP, {V(11)}, {V(4), V(3), V(10)});
  p2.op_sel = 9;
  ASSERT_EQ(m.Execute(p2), "");
  for (int lane = 0; lane < 64; ++lane) {
    const float p = 10.0f * (lane / 4), sum = (p + 1) + (p + 2) * 0.25f * lane + (p + 5) * 0.5f * lane;
    const bool active = lane % 4 != 3;
    EXPECT_EQ(FloatOf(m.Reg(9, lane)), active ? sum : 0.0f) << lane;
    EXPECT_EQ(m.Reg(11, lane), active ? uint32_t{HalfFromFloat(sum)} << 16 | 0xabcdu : 0x1234abcdu) << lane;
  }
}

TEST(VectorRefusals, NameWhatIsMissing) {
  EXPECT_EQ(VectorRefusal(Make(Opcode::LDS_PARAM_LOAD, Encoding::LDSDIR, {V(9)}, {})),
            "reads parameters that a graphics pipeline puts into LDS; none is modelled");
  EXPECT_EQ(VectorRefusal(Make(Opcode::V_INTERP_P2_F32, Encoding::VINTERP, {V(9)}, {V(1), S(2), V(3)})),
            "interpolation needs vector registers as sources");
  EXPECT_EQ(VectorRefusal(Make(Opcode::V_ADD_F64, Encoding::VOP3, {V(254, 2)}, {V(255, 2), V(2, 2)})),
            "source 0 v255 with 2 registers reaches beyond v255");
  EXPECT_EQ(VectorRefusal(Make(Opcode::S_ADD_U32, Encoding::SOP2, {S(1)}, {S(1), S(2)})),
            "it has no semantics here");
  Inst dpp = Make(Opcode::V_MOV_B32, Encoding::VOP1, {V(9)}, {V(1)});
  dpp.dpp.kind = DppInfo::Kind::kDpp16;
  dpp.dpp.ctrl = 0x142;
  EXPECT_EQ(VectorRefusal(dpp), "its DPP control 322 is not one of rdna3's");
  EXPECT_EQ(FindVectorExec(dpp), nullptr);
}

TEST(VectorCoverage, EveryRdna3MnemonicHasARow) {
  const CoverageReport report = VectorCoverage(Isa::kRdna3);
  EXPECT_EQ(report.missing, 0);
  EXPECT_EQ(report.refused, 1) << "the LDS parameter load";
  EXPECT_EQ(report.rows.size(), 492u);
  EXPECT_EQ(static_cast<size_t>(report.exact + report.approximate + report.refused), report.rows.size());
  for (const CoverageRow& row : report.rows) {
    EXPECT_EQ(row.note.empty(), row.state == SemanticState::kExact) << OpcodeName(row.op);
  }
}

}  // namespace
}  // namespace understudy::emu::amd
