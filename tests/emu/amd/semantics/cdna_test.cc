// SPDX-License-Identifier: Apache-2.0
// What the vector ALU of CDNA has and RDNA has not: SDWA, the DPP controls of gfx9, register indexing by M0,
// accumulation registers, multiply-add in two roundings, packed f32, truth tables, dot products, swaps of
// rows and halves, and the 16-bit results that clear the rest of their register. Expected values are formulas
// of the manuals, written again here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "emu/amd/semantics/float_bits.h"
#include "src/base/float_format.h"
#include "tests/emu/amd/semantics/machine.h"

namespace understudy::emu::amd {
namespace {

using testing::A;
using testing::Draws;
using testing::InlineInt;
using testing::Machine;
using testing::S;
using testing::V;

class Cdna : public Machine {
 public:
  explicit Cdna(Isa isa = Isa::kCdna4) : Machine(64, isa) {}
  Inst Make(Opcode op, Encoding enc, std::initializer_list<Operand> dst, std::initializer_list<Operand> src) {
    Inst inst = testing::Make(op, enc, dst, src);
    inst.isa = wave.isa;
    return inst;
  }
  void Do(Opcode op, Encoding enc, std::initializer_list<Operand> dst, std::initializer_list<Operand> src) {
    Do(Make(op, enc, dst, src));
  }
  void Do(const Inst& inst) { ASSERT_EQ(Execute(inst), "") << OpcodeName(inst.op); }
  void Random(Draws* draws, int registers = 8) {
    for (int r = 0; r < registers; ++r) {
      for (int lane = 0; lane < 64; ++lane) Reg(r, lane) = draws->Word();
    }
  }
};

Operand Vcc() { return S(kVccLo, 2); }

// --- SDWA ---

int64_t Part(uint32_t word, int select, bool sext) {
  const int bits = select < 4   ? 8
                   : select < 6 ? 16
                                : 32,
            shift = select < 4   ? 8 * select
                    : select < 6 ? 16 * (select - 4)
                                 : 0;
  const uint64_t field = (uint64_t{word} >> shift) & ((uint64_t{1} << bits) - 1);
  return sext && (field >> (bits - 1)) != 0 ? static_cast<int64_t>(field) - (int64_t{1} << bits)
                                            : static_cast<int64_t>(field);
}
uint32_t Placed(uint32_t old, uint32_t result, int select, int unused) {
  if (select == 6) return result;
  const int bytes = select < 4 ? 1 : 2, first = select < 4 ? select : 2 * (select - 4);
  uint32_t out = unused == 2 ? old : 0;
  for (int i = 0; i < bytes; ++i) {
    out = (out & ~(0xffu << (8 * (first + i)))) | ((result >> (8 * i)) & 0xff) << (8 * (first + i));
  }
  const bool negative = ((result >> (8 * bytes - 1)) & 1) != 0;
  for (int i = first + bytes; i < 4 && unused == 1 && negative; ++i) out |= 0xffu << (8 * i);
  return out;
}

TEST(Sdwa, EverySelectorOfSourcesAndDestination) {
  Draws draws(1);
  for (int src0 = 0; src0 < 7; ++src0) {
    for (int src1 = 0; src1 < 7; ++src1) {
      for (int dst = 0; dst < 7; ++dst) {
        for (int unused = 0; unused < 3; ++unused) {
          Cdna m;
          m.Random(&draws, 4);
          Inst inst = m.Make(Opcode::V_SUB_U32, Encoding::VOP2, {V(3)}, {V(1), V(2)});
          inst.sdwa.present = true;
          inst.sdwa.src_sel[0] = static_cast<uint8_t>(src0);
          inst.sdwa.src_sel[1] = static_cast<uint8_t>(src1);
          inst.sdwa.sext[0] = draws.Below(2) != 0;
          inst.sdwa.sext[1] = draws.Below(2) != 0;
          inst.sdwa.dst_sel = static_cast<uint8_t>(dst);
          inst.sdwa.dst_unused = static_cast<uint8_t>(unused);
          uint32_t old[64];
          for (int lane = 0; lane < 64; ++lane) old[lane] = m.Reg(3, lane);
          m.wave.set_exec(0x00ffffffffffff0fu);
          m.Do(inst);
          for (int lane = 0; lane < 64; ++lane) {
            const uint32_t difference = static_cast<uint32_t>(Part(m.Reg(1, lane), src0, inst.sdwa.sext[0]) -
                                                              Part(m.Reg(2, lane), src1, inst.sdwa.sext[1]));
            const bool active = ((m.wave.exec() >> lane) & 1) != 0;
            ASSERT_EQ(m.Reg(3, lane), active ? Placed(old[lane], difference, dst, unused) : old[lane])
                << src0 << " " << src1 << " " << dst << " " << unused << " lane " << lane;
          }
        }
      }
    }
  }
}

TEST(Sdwa, TheRowsOfTheCaseList) {
  Cdna m;
  m.Broadcast(1, 0);
  m.Broadcast(2, 0xab);
  m.Broadcast(3, 0x11223344);
  Inst inst = m.Make(Opcode::V_OR_B32, Encoding::VOP2, {V(3)}, {V(1), V(2)});
  inst.sdwa.present = true;
  inst.sdwa.dst_sel = 2;
  inst.sdwa.dst_unused = 2;
  m.Do(inst);
  EXPECT_EQ(m.Reg(3, 0), 0x11ab3344u);

  m.Broadcast(1, 0xffffffffu);
  m.Broadcast(2, 1);
  Inst add = m.Make(Opcode::V_ADD_CO_U32, Encoding::VOP2, {V(3), Vcc()}, {V(1), V(2)});
  add.sdwa.present = true;
  m.wave.set_exec(2);
  m.Do(add);
  EXPECT_EQ(m.Reg(3, 1), 0u);
  EXPECT_EQ(m.wave.vcc(), 2u);
}

TEST(Sdwa, FloatModifiersActOnTheSelectedHalf) {
  Cdna m;
  m.Broadcast(1, 0x4400'3c00);  // 4, 1
  m.Broadcast(2, 0xc000'4200);  // -2, 3
  m.Broadcast(3, 0xdeadbeef);
  Inst inst = m.Make(Opcode::V_ADD_F16, Encoding::VOP2, {V(3)}, {V(1), V(2)});
  inst.sdwa.present = true;
  inst.sdwa.src_sel[0] = inst.sdwa.src_sel[1] = 5;
  inst.neg = 1;
  inst.abs = 2;
  inst.sdwa.dst_sel = 5;
  inst.sdwa.dst_unused = 2;
  m.Do(inst);
  EXPECT_EQ(m.Reg(3, 0), 0xc000beefu) << "-4 + |-2|";
}

TEST(Sdwa, ComparisonsWriteAnySgprPair) {
  Cdna m;
  for (int lane = 0; lane < 64; ++lane) m.Reg(1, lane) = static_cast<uint32_t>(lane) << 8;
  m.Broadcast(2, 10);
  Inst inst = m.Make(Opcode::V_CMP_LT_U32, Encoding::VOPC, {S(20, 2)}, {V(1), V(2)});
  inst.sdwa.present = true;
  inst.sdwa.src_sel[0] = 1;
  m.Do(inst);
  EXPECT_EQ(m.wave.sgpr[20], 0x3ffu);
  EXPECT_EQ(m.wave.sgpr[21], 0u);
}

// --- DPP ---

TEST(DppOfGfx9, EveryControlReadsTheLaneOfTheManual) {
  const auto source_of = [](int ctrl, int lane) -> int {
    const int row = lane / 16 * 16, i = lane % 16, n = ctrl & 15;
    if (ctrl < 0x100) return lane / 4 * 4 + ((ctrl >> (2 * (lane % 4))) & 3);
    if (ctrl < 0x110) return i + n < 16 ? lane + n : -1;
    if (ctrl < 0x120) return i >= n ? lane - n : -1;
    if (ctrl < 0x130) return row + (i + 16 - n) % 16;
    switch (ctrl) {
      case 0x130:
        return lane < 63 ? lane + 1 : -1;
      case 0x134:
        return (lane + 1) % 64;
      case 0x138:
        return lane - 1;
      case 0x13c:
        return (lane + 63) % 64;
      case 0x140:
        return row + 15 - i;
      case 0x141:
        return lane / 8 * 8 + 7 - lane % 8;
      case 0x142:
        return lane < 16 ? -1 : row - 1;
      case 0x143:
        return lane < 32 ? -1 : 31;
      default:
        return row + n;  // row_newbcast
    }
  };
  for (int ctrl = 0; ctrl < 0x160; ++ctrl) {
    const bool exists = ctrl < 0x100 || (ctrl > 0x100 && ctrl < 0x130 && (ctrl & 15) != 0) || ctrl == 0x130 ||
                        ctrl == 0x134 || ctrl == 0x138 || ctrl == 0x13c || (ctrl >= 0x140 && ctrl <= 0x143) ||
                        ctrl >= 0x150;
    for (const bool bound_ctrl : {false, true}) {
      Cdna m(Isa::kCdna2);
      for (int lane = 0; lane < 64; ++lane) m.Reg(1, lane) = 1000 + static_cast<uint32_t>(lane);
      m.Broadcast(9, 5);
      m.wave.set_exec(0xfffff7ffffff0ffdu);
      Inst inst = m.Make(Opcode::V_MOV_B32, Encoding::VOP1, {V(9)}, {V(1)});
      inst.dpp.kind = DppInfo::Kind::kDpp16;
      inst.dpp.ctrl = static_cast<uint16_t>(ctrl);
      inst.dpp.bound_ctrl = bound_ctrl;
      inst.dpp.row_mask = 0xd;
      inst.dpp.bank_mask = 0xe;
      if (!exists) {
        EXPECT_NE(VectorRefusal(inst), "") << ctrl;
        continue;
      }
      m.Do(inst);
      const uint64_t exec = m.wave.exec();
      for (int lane = 0; lane < 64; ++lane) {
        const int from = source_of(ctrl, lane);
        const bool valid = from >= 0 && ((exec >> from) & 1) != 0;
        const bool enabled = ((exec >> lane) & 1) != 0 && lane / 16 != 1 && lane / 4 % 4 != 0;
        uint32_t wanted = 5;
        if (enabled && (valid || bound_ctrl)) wanted = valid ? 1000 + static_cast<uint32_t>(from) : 0;
        ASSERT_EQ(m.Reg(9, lane), wanted) << std::hex << ctrl << std::dec << " lane " << lane;
      }
    }
  }
}

// --- register indexing ---

TEST(GprIndexing, M0MovesTheEnabledOperands) {
  Cdna m;
  for (int r = 0; r < 20; ++r) m.Broadcast(r, static_cast<uint32_t>(r));
  const Inst inst = m.Make(Opcode::V_ADD_U32, Encoding::VOP2, {V(12)}, {V(1), V(2)});
  m.wave.sgpr[kM0] = 1 << 12 | 5;
  m.Do(inst);
  EXPECT_EQ(m.Reg(12, 0), 3u) << "MODE does not enable it";
  m.wave.mode |= 1u << 27;
  m.Do(inst);
  EXPECT_EQ(m.Reg(12, 0), 6u + 2) << "source 0";
  m.wave.sgpr[kM0] = 2 << 12 | 5;
  m.Do(inst);
  EXPECT_EQ(m.Reg(12, 0), 1u + 7) << "source 1";
  m.wave.sgpr[kM0] = 8 << 12 | 5;
  m.Do(inst);
  EXPECT_EQ(m.Reg(17, 0), 3u) << "destination";
  m.wave.sgpr[kM0] = 9 << 12 | 5;
  m.Do(inst);
  EXPECT_EQ(m.Reg(17, 0), 8u) << "both";
  m.wave.num_vgprs = 20;
  m.wave.sgpr[kM0] = 1 << 12 | 60;
  m.Do(inst);
  EXPECT_EQ(m.Reg(12, 0), 2u) << "a source out of range reads v0";
  m.wave.sgpr[kM0] = 8 << 12 | 60;
  m.Do(inst);
  for (int r = 13; r < 20; ++r) EXPECT_EQ(m.Reg(r, 0), r == 17 ? 8u : static_cast<uint32_t>(r));
}

TEST(AccumulationRegisters, AreOperandsAnywhere) {
  Cdna m(Isa::kCdna2);
  m.Broadcast(3, 7);
  m.Broadcast(256 + 3, 40);
  m.Do(Opcode::V_ACCVGPR_READ, Encoding::VOP3P, {V(5)}, {A(3)});
  EXPECT_EQ(m.Reg(5, 9), 40u);
  m.Do(Opcode::V_ACCVGPR_WRITE, Encoding::VOP3P, {A(6)}, {InlineInt(-3)});
  EXPECT_EQ(m.Reg(256 + 6, 63), 0xfffffffdu);
  m.Do(Opcode::V_ACCVGPR_MOV_B32, Encoding::VOP1, {A(7)}, {A(3)});
  EXPECT_EQ(m.Reg(256 + 7, 1), 40u);
  m.wave.set_exec(1);
  m.Do(Opcode::V_ACCVGPR_WRITE, Encoding::VOP3P, {A(6)}, {V(3)});
  EXPECT_EQ(m.Reg(256 + 6, 0), 7u);
  EXPECT_EQ(m.Reg(256 + 6, 1), 0xfffffffdu);
}

// --- arithmetic ---

TEST(CdnaArithmetic, CarriesChainThroughMasks) {
  Draws draws(2);
  for (int round = 0; round < 50; ++round) {
    Cdna m;
    m.Random(&draws, 8);
    m.Do(Opcode::V_ADD_CO_U32, Encoding::VOP2, {V(10), Vcc()}, {V(0), V(2)});
    m.Do(Opcode::V_ADDC_CO_U32, Encoding::VOP2, {V(11), Vcc()}, {V(1), V(3), Vcc()});
    m.Do(Opcode::V_SUB_CO_U32, Encoding::VOP2, {V(12), Vcc()}, {V(0), V(2)});
    m.Do(Opcode::V_SUBB_CO_U32, Encoding::VOP2, {V(13), Vcc()}, {V(1), V(3), Vcc()});
    const uint64_t borrow = m.wave.vcc();
    m.Do(Opcode::V_SUBREV_CO_U32, Encoding::VOP3SD, {V(14), S(30, 2)}, {V(0), V(2)});
    m.Do(Opcode::V_SUBBREV_CO_U32, Encoding::VOP3SD, {V(15), S(32, 2)}, {V(1), V(3), S(30, 2)});
    for (int lane = 0; lane < 64; ++lane) {
      const uint64_t x = m.Reg64(0, lane), y = m.Reg64(2, lane);
      ASSERT_EQ(m.Reg64(10, lane), x + y);
      ASSERT_EQ(m.Reg64(12, lane), x - y);
      ASSERT_EQ(m.Reg64(14, lane), y - x);
      ASSERT_EQ((borrow >> lane) & 1, x < y ? 1u : 0u);
    }
  }
}

// One formula an opcode over 32-bit sources.
struct Formula {
  Opcode op;
  Encoding enc;
  int sources;
  uint32_t (*result)(uint32_t, uint32_t, uint32_t);
};
int32_t I(uint32_t x) { return static_cast<int32_t>(x); }
uint32_t Clamp(int64_t v, int64_t low, int64_t high) {
  return static_cast<uint32_t>(std::min(std::max(v, low), high));
}
template <int kBits, bool kSigned>
uint32_t Dot(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t sum = c;
  for (int i = 0; i < 32; i += kBits) {
    const auto part = [&](uint32_t x) {
      const int64_t v = (x >> i) & ((1u << kBits) - 1);
      return kSigned && (v >> (kBits - 1)) != 0 ? v - (int64_t{1} << kBits) : v;
    };
    sum += static_cast<uint32_t>(part(a) * part(b));
  }
  return sum;
}
const Formula kFormulas[] = {
    {Opcode::V_ADD_U32, Encoding::VOP2, 2, [](uint32_t a, uint32_t b, uint32_t) { return a + b; }},
    {Opcode::V_SUB_U32, Encoding::VOP2, 2, [](uint32_t a, uint32_t b, uint32_t) { return a - b; }},
    {Opcode::V_SUBREV_U32, Encoding::VOP2, 2, [](uint32_t a, uint32_t b, uint32_t) { return b - a; }},
    {Opcode::V_ADD_I32, Encoding::VOP3, 2, [](uint32_t a, uint32_t b, uint32_t) { return a + b; }},
    {Opcode::V_SUB_I32, Encoding::VOP3, 2, [](uint32_t a, uint32_t b, uint32_t) { return a - b; }},
    {Opcode::V_ADD_U16, Encoding::VOP2, 2, [](uint32_t a, uint32_t b, uint32_t) { return (a + b) & 0xffff; }},
    {Opcode::V_SUB_U16, Encoding::VOP2, 2, [](uint32_t a, uint32_t b, uint32_t) { return (a - b) & 0xffff; }},
    {Opcode::V_SUBREV_U16, Encoding::VOP2, 2,
     [](uint32_t a, uint32_t b, uint32_t) { return (b - a) & 0xffff; }},
    {Opcode::V_MAD_LEGACY_U16, Encoding::VOP3, 3,
     [](uint32_t a, uint32_t b, uint32_t c) { return (a * b + c) & 0xffff; }},
    {Opcode::V_MAD_LEGACY_I16, Encoding::VOP3, 3,
     [](uint32_t a, uint32_t b, uint32_t c) { return (a * b + c) & 0xffff; }},
    {Opcode::V_MUL_LO_U16, Encoding::VOP2, 2,
     [](uint32_t a, uint32_t b, uint32_t) { return ((a & 0xffff) * (b & 0xffff)) & 0xffff; }},
    {Opcode::V_FFBH_U32, Encoding::VOP1, 1,
     [](uint32_t a, uint32_t, uint32_t) { return a == 0 ? ~0u : static_cast<uint32_t>(__builtin_clz(a)); }},
    {Opcode::V_FFBL_B32, Encoding::VOP1, 1,
     [](uint32_t a, uint32_t, uint32_t) { return a == 0 ? ~0u : static_cast<uint32_t>(__builtin_ctz(a)); }},
    {Opcode::V_FFBH_I32, Encoding::VOP1, 1,
     [](uint32_t a, uint32_t, uint32_t) {
       for (int i = 1; i < 32; ++i) {
         if (((a >> (31 - i)) & 1) != a >> 31) return static_cast<uint32_t>(i);
       }
       return ~0u;
     }},
    {Opcode::V_PRNG_B32, Encoding::VOP1, 1,
     [](uint32_t a, uint32_t, uint32_t) { return a << 1 ^ (a >> 31) * 197u; }},
    {Opcode::V_ASHR_PK_I8_I32, Encoding::VOP3, 3,
     [](uint32_t a, uint32_t b, uint32_t c) {
       return (Clamp(I(a) >> (c & 31), -128, 127) & 0xff) | (Clamp(I(b) >> (c & 31), -128, 127) & 0xff) << 8;
     }},
    {Opcode::V_ASHR_PK_U8_I32, Encoding::VOP3, 3,
     [](uint32_t a, uint32_t b, uint32_t c) {
       return Clamp(I(a) >> (c & 31), 0, 255) | Clamp(I(b) >> (c & 31), 0, 255) << 8;
     }},
    {Opcode::V_DOT2_I32_I16, Encoding::VOP3P, 3, Dot<16, true>},
    {Opcode::V_DOT2_U32_U16, Encoding::VOP3P, 3, Dot<16, false>},
    {Opcode::V_DOT4_I32_I8, Encoding::VOP3P, 3, Dot<8, true>},
    {Opcode::V_DOT8_I32_I4, Encoding::VOP3P, 3, Dot<4, true>},
    {Opcode::V_DOT4_U32_U8, Encoding::VOP3P, 3, Dot<8, false>},
    {Opcode::V_DOT8_U32_U4, Encoding::VOP3P, 3, Dot<4, false>},
    {Opcode::V_DOT2C_I32_I16, Encoding::VOP2, 3, Dot<16, true>},
    {Opcode::V_DOT4C_I32_I8, Encoding::VOP2, 3, Dot<8, true>},
    {Opcode::V_DOT8C_I32_I4, Encoding::VOP2, 3, Dot<4, true>},
    {Opcode::V_CVT_F32_BF16, Encoding::VOP1, 1, [](uint32_t a, uint32_t, uint32_t) { return a << 16; }},
};

TEST(CdnaArithmetic, FormulasOfTheManual) {
  Draws draws(3);
  for (const Formula& f : kFormulas) {
    for (int round = 0; round < 50; ++round) {
      Cdna m;
      m.Random(&draws, 4);
      for (int lane = 0; lane < 64; ++lane) m.Reg(9, lane) = 0;
      Inst inst = f.sources == 1   ? m.Make(f.op, f.enc, {V(9)}, {V(1)})
                  : f.sources == 2 ? m.Make(f.op, f.enc, {V(9)}, {V(1), V(2)})
                                   : m.Make(f.op, f.enc, {V(9)}, {V(1), V(2), V(3)});
      m.Do(inst);
      for (int lane = 0; lane < 64; ++lane) {
        ASSERT_EQ(m.Reg(9, lane), f.result(m.Reg(1, lane), m.Reg(2, lane), m.Reg(3, lane)))
            << OpcodeName(f.op);
      }
    }
  }
}

TEST(CdnaArithmetic, TruthTablesAreIndexedByTheSourcesBits) {
  Draws draws(4);
  for (int table = 0; table < 256; ++table) {
    Cdna m;
    m.Random(&draws, 4);
    Inst inst = m.Make(Opcode::V_BITOP3_B32, Encoding::VOP3, {V(9)}, {V(1), V(2), V(3)});
    inst.bitop3 = static_cast<uint8_t>(table);
    m.Do(inst);
    Inst half = m.Make(Opcode::V_BITOP3_B16, Encoding::VOP3, {V(10)}, {V(1), V(2), V(3)});
    half.bitop3 = static_cast<uint8_t>(table);
    half.op_sel = 9;  // the high half of source 0 into the high half
    m.Broadcast(10, 0x1234);
    m.Do(half);
    for (int lane = 0; lane < 64; ++lane) {
      uint32_t wanted = 0, wanted_half = 0;
      for (int bit = 0; bit < 32; ++bit) {
        const auto at = [&](int r, int shift) { return (m.Reg(r, lane) >> ((bit + shift) & 31)) & 1; };
        wanted |= ((table >> (at(1, 0) * 4 + at(2, 0) * 2 + at(3, 0))) & 1u) << bit;
        if (bit < 16) wanted_half |= ((table >> (at(1, 16) * 4 + at(2, 0) * 2 + at(3, 0))) & 1u) << bit;
      }
      ASSERT_EQ(m.Reg(9, lane), wanted) << table;
      ASSERT_EQ(m.Reg(10, lane), wanted_half << 16 | 0x1234) << table;
    }
  }
}

TEST(CdnaArithmetic, SixtyFourBitMovesAndSums) {
  Draws draws(5);
  Cdna m;
  m.Random(&draws, 8);
  m.Do(Opcode::V_MOV_B64, Encoding::VOP1, {V(10, 2)}, {V(2, 2)});
  m.Do(Opcode::V_LSHL_ADD_U64, Encoding::VOP3, {V(12, 2)}, {V(2, 2), V(1), V(4, 2)});
  Inst mov = m.Make(Opcode::V_PK_MOV_B32, Encoding::VOP3P, {V(14, 2)}, {V(2, 2), V(4, 2)});
  mov.op_sel = 1;
  m.Do(mov);
  for (int lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(m.Reg64(10, lane), m.Reg64(2, lane));
    EXPECT_EQ(m.Reg64(12, lane), (m.Reg64(2, lane) << (m.Reg(1, lane) & 7)) + m.Reg64(4, lane));
    EXPECT_EQ(m.Reg(14, lane), m.Reg(3, lane)) << "op_sel[0]: the high dword of source 0";
    EXPECT_EQ(m.Reg(15, lane), m.Reg(4, lane)) << "op_sel[1] clear: the low dword of source 1";
  }
}

TEST(CdnaArithmetic, PackedFloatsAndTheirScalarPairs) {
  for (const Isa isa : {Isa::kCdna2, Isa::kCdna3, Isa::kCdna4}) {
    Cdna m(isa);
    const float values[8] = {1.5f, -2.0f, 3.0f, 5.0f, 0.25f, 7.0f, -1.0f, 0.5f};
    for (int r = 0; r < 8; ++r) m.Broadcast(r, BitsOf(values[r]));
    m.wave.sgpr[4] = BitsOf(10.0f);
    m.wave.sgpr[5] = BitsOf(20.0f);
    m.Do(Opcode::V_PK_ADD_F32, Encoding::VOP3P, {V(10, 2)}, {V(0, 2), S(4, 2)});
    EXPECT_EQ(FloatOf(m.Reg(10, 3)), 11.5f) << "the pair's low half";
    EXPECT_EQ(FloatOf(m.Reg(11, 3)), 18.0f) << "the pair's high half";
    Inst fma = m.Make(Opcode::V_PK_FMA_F32, Encoding::VOP3P, {V(10, 2)}, {V(0, 2), V(2, 2), V(4, 2)});
    fma.op_sel = 1;     // low result: source 0's high dword
    fma.op_sel_hi = 5;  // high result: source 1's low dword
    fma.neg = 2;        // low result: -source 1
    fma.neg_hi = 4;     // high result: -source 2
    m.Do(fma);
    EXPECT_EQ(FloatOf(m.Reg(10, 0)), -2.0f * -3.0f + 0.25f);
    EXPECT_EQ(FloatOf(m.Reg(11, 0)), -2.0f * 3.0f - 7.0f);
    Inst mul = m.Make(Opcode::V_PK_MUL_F32, Encoding::VOP3P, {V(10, 2)}, {V(2, 2), V(6, 2)});
    mul.clamp = true;
    m.Do(mul);
    EXPECT_EQ(FloatOf(m.Reg(10, 0)), 0.0f);
    EXPECT_EQ(FloatOf(m.Reg(11, 0)), 1.0f);
  }
}

TEST(CdnaArithmetic, MultiplyAddRoundsTwiceAndFlushes) {
  Cdna m(Isa::kCdna2);
  const float a = 1.0f + 0x1p-12f;
  m.Broadcast(1, BitsOf(a));
  m.Broadcast(2, BitsOf(a));
  m.Broadcast(3, BitsOf(-1.0f - 0x1p-11f));
  m.Do(Opcode::V_MAD_F32, Encoding::VOP3, {V(9)}, {V(1), V(2), V(3)});
  EXPECT_EQ(m.Reg(9, 0), 0u) << "the product loses 2^-24 before the sum";
  m.Do(Opcode::V_FMA_F32, Encoding::VOP3, {V(9)}, {V(1), V(2), V(3)});
  EXPECT_EQ(m.Reg(9, 0), BitsOf(0x1p-24f));
  Draws draws(8);
  for (int round = 0; round < 100; ++round) {
    for (int lane = 0; lane < 64; ++lane) {
      for (int r = 1; r < 4; ++r) m.Reg(r, lane) = (draws.Word() & 0x83ffu) | (5 + draws.Below(18)) << 10;
      m.Reg(9, lane) = 0xffffffffu;
    }
    m.Do(Opcode::V_MAD_LEGACY_F16, Encoding::VOP3, {V(9)}, {V(1), V(2), V(3)});
    for (int lane = 0; lane < 64; ++lane) {
      const auto v = [&](int r) { return DecodeFloat(formats::kF16, m.Reg(r, lane)); };
      const auto round16 = [](double x) {
        return EncodeFloat(formats::kF16, x, Rounding::kNearestEven, Overflow::kInf, DenormMode::kFlushOut);
      };
      const double product = DecodeFloat(formats::kF16, round16(v(1) * v(2)));
      ASSERT_EQ(m.Reg(9, lane), round16(product + v(3))) << "and the other half is clear";
    }
  }
}

TEST(CdnaArithmetic, OldHalfResultsClearTheOtherHalfAndNewOnesKeepIt) {
  Cdna m;
  m.Broadcast(1, 0x3c00);
  const auto result = [&](Opcode op, Encoding enc, bool three) {
    m.Broadcast(9, 0xabcd0000);
    Inst inst = three ? m.Make(op, enc, {V(9)}, {V(1), V(1), V(1)}) : m.Make(op, enc, {V(9)}, {V(1), V(1)});
    m.Do(inst);
    return m.Reg(9, 0);
  };
  EXPECT_EQ(result(Opcode::V_ADD_F16, Encoding::VOP2, false), 0x4000u);
  EXPECT_EQ(result(Opcode::V_FMA_LEGACY_F16, Encoding::VOP3, true), 0x4000u);
  EXPECT_EQ(result(Opcode::V_FMA_F16, Encoding::VOP3, true), 0xabcd4000u);
  EXPECT_EQ(result(Opcode::V_MAX3_F16, Encoding::VOP3, true), 0xabcd3c00u);
  EXPECT_EQ(result(Opcode::V_ADD_I16, Encoding::VOP3, false), 0xabcd7800u);
}

TEST(CdnaArithmetic, CmpxWritesItsMaskAndExec) {
  Cdna m;
  for (int lane = 0; lane < 64; ++lane) m.Reg(1, lane) = static_cast<uint32_t>(lane);
  m.Broadcast(2, 20);
  m.wave.set_exec(0xfffffffffffffff0u);
  m.Do(Opcode::V_CMPX_LT_U32, Encoding::VOPC, {Vcc()}, {V(1), V(2)});
  EXPECT_EQ(m.wave.vcc(), 0xffff0u);
  EXPECT_EQ(m.wave.exec(), 0xffff0u);
}

TEST(CrossLane, SwapsOfRowsAndHalves) {
  for (const int distance : {16, 32}) {
    Cdna m;
    for (int lane = 0; lane < 64; ++lane) {
      m.Reg(1, lane) = 100 + static_cast<uint32_t>(lane);
      m.Reg(2, lane) = 200 + static_cast<uint32_t>(lane);
    }
    const Opcode op = distance == 16 ? Opcode::V_PERMLANE16_SWAP_B32 : Opcode::V_PERMLANE32_SWAP_B32;
    m.Do(op, Encoding::VOP1, {V(1)}, {V(2)});
    for (int lane = 0; lane < 64; ++lane) {
      const auto l = static_cast<uint32_t>(lane);
      const bool upper = (lane & distance) != 0;
      EXPECT_EQ(m.Reg(1, lane), upper ? 200 + l - static_cast<uint32_t>(distance) : 100 + l);
      EXPECT_EQ(m.Reg(2, lane), upper ? 200 + l : 100 + l + static_cast<uint32_t>(distance));
    }
  }
}

TEST(CrossLane, PackedAccumulationKeepsTheOtherBytes) {
  Cdna m;
  m.Broadcast(1, BitsOf(300.0f));
  m.Broadcast(2, 2);
  m.Broadcast(9, 0x11223344);
  m.Do(Opcode::V_CVT_PKACCUM_U8_F32, Encoding::VOP3, {V(9)}, {V(1), V(2)});
  EXPECT_EQ(m.Reg(9, 5), 0x11ff3344u);
}

}  // namespace
}  // namespace understudy::emu::amd
