// SPDX-License-Identifier: Apache-2.0
// Integer instructions against formulas written from the manual's pseudo-code in 64- and 128-bit host
// arithmetic, on random and edge operands, plain and with CLAMP, in waves of 32 and 64.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/emu/amd/semantics/machine.h"

namespace understudy::emu::amd {
namespace {

using testing::Draws;
using testing::Machine;
using testing::Make;
using testing::V;

using Formula = std::function<uint32_t(uint32_t a, uint32_t b, uint32_t c)>;
int32_t I(uint32_t v) { return static_cast<int32_t>(v); }
int64_t I24(uint32_t v) { return static_cast<int32_t>(v << 8) >> 8; }
uint64_t U24(uint32_t v) { return v & 0xffffff; }
int64_t SatI32(int64_t v) { return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v; }
uint64_t SatU32(uint64_t v) { return v > UINT32_MAX ? UINT32_MAX : v; }
uint32_t Byte(uint32_t v, int i) { return (v >> (8 * i)) & 0xff; }
uint32_t Distance(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }
uint32_t Sad8(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (int i = 0; i < 4; ++i) sum += Distance(Byte(a, i), Byte(b, i));
  return sum;
}
template <class T>
T Median(T a, T b, T c) {
  T v[3] = {a, b, c};
  std::sort(v, v + 3);
  return v[1];
}
uint32_t Permute(uint32_t a, uint32_t b, uint32_t select) {
  const uint64_t data = uint64_t{a} << 32 | b;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t s = Byte(select, i);
    uint32_t byte;
    if (s >= 13) {
      byte = 0xff;
    } else if (s == 12) {
      byte = 0;
    } else if (s >= 8) {
      byte = (data >> (16 * (s - 8) + 15)) & 1 ? 0xff : 0;
    } else {
      byte = (data >> (8 * s)) & 0xff;
    }
    result |= byte << (8 * i);
  }
  return result;
}

struct Case {
  Opcode op;
  Encoding enc;
  int sources;
  Formula plain;
  Formula clamped;  // empty: CLAMP is not tried
};

const std::vector<Case>& Cases() {
  using O = Opcode;
  constexpr Encoding V1 = Encoding::VOP1, V2 = Encoding::VOP2, V3 = Encoding::VOP3;
  static const std::vector<Case>* const cases = new std::vector<Case>{
      {O::V_NOT_B32, V1, 1, [](auto a, auto, auto) { return ~a; }, {}},
      {O::V_BFREV_B32, V1, 1,
       [](auto a, auto, auto) {
         uint32_t r = 0;
         for (int i = 0; i < 32; ++i) r |= ((a >> i) & 1) << (31 - i);
         return r;
       },
       {}},
      {O::V_CLZ_I32_U32, V1, 1,
       [](auto a, auto, auto) {
         for (int i = 0; i < 32; ++i)
           if ((a >> (31 - i)) & 1) return static_cast<uint32_t>(i);
         return ~0u;
       },
       {}},
      {O::V_CTZ_I32_B32, V1, 1,
       [](auto a, auto, auto) {
         for (int i = 0; i < 32; ++i)
           if ((a >> i) & 1) return static_cast<uint32_t>(i);
         return ~0u;
       },
       {}},
      {O::V_CLS_I32, V1, 1,
       [](auto a, auto, auto) {
         for (int i = 1; i < 32; ++i)
           if (((a >> (31 - i)) & 1) != (a >> 31)) return static_cast<uint32_t>(i);
         return ~0u;
       },
       {}},
      {O::V_MUL_I32_I24, V2, 2, [](auto a, auto b, auto) { return static_cast<uint32_t>(I24(a) * I24(b)); }, {}},
      {O::V_MUL_HI_I32_I24, V2, 2, [](auto a, auto b, auto) { return static_cast<uint32_t>((I24(a) * I24(b)) >> 32); }, {}},
      {O::V_MUL_U32_U24, V2, 2, [](auto a, auto b, auto) { return static_cast<uint32_t>(U24(a) * U24(b)); }, {}},
      {O::V_MUL_HI_U32_U24, V2, 2, [](auto a, auto b, auto) { return static_cast<uint32_t>((U24(a) * U24(b)) >> 32); }, {}},
      {O::V_MIN_I32, V2, 2, [](auto a, auto b, auto) { return I(a) < I(b) ? a : b; }, {}},
      {O::V_MAX_I32, V2, 2, [](auto a, auto b, auto) { return I(a) >= I(b) ? a : b; }, {}},
      {O::V_MIN_U32, V2, 2, [](auto a, auto b, auto) { return a < b ? a : b; }, {}},
      {O::V_MAX_U32, V2, 2, [](auto a, auto b, auto) { return a >= b ? a : b; }, {}},
      {O::V_LSHLREV_B32, V2, 2, [](auto a, auto b, auto) { return b << (a & 31); }, {}},
      {O::V_LSHRREV_B32, V2, 2, [](auto a, auto b, auto) { return b >> (a & 31); }, {}},
      {O::V_ASHRREV_I32, V2, 2, [](auto a, auto b, auto) { return static_cast<uint32_t>(I(b) >> (a & 31)); }, {}},
      {O::V_AND_B32, V2, 2, [](auto a, auto b, auto) { return a & b; }, {}},
      {O::V_OR_B32, V2, 2, [](auto a, auto b, auto) { return a | b; }, {}},
      {O::V_XOR_B32, V2, 2, [](auto a, auto b, auto) { return a ^ b; }, {}},
      {O::V_XNOR_B32, V2, 2, [](auto a, auto b, auto) { return ~(a ^ b); }, {}},
      {O::V_ADD_NC_U32, V3, 2, [](auto a, auto b, auto) { return a + b; },
       [](auto a, auto b, auto) { return static_cast<uint32_t>(SatU32(uint64_t{a} + b)); }},
      {O::V_SUB_NC_U32, V3, 2, [](auto a, auto b, auto) { return a - b; },
       [](auto a, auto b, auto) { return a < b ? 0u : a - b; }},
      {O::V_SUBREV_NC_U32, V3, 2, [](auto a, auto b, auto) { return b - a; },
       [](auto a, auto b, auto) { return b < a ? 0u : b - a; }},
      {O::V_ADD_NC_I32, V3, 2, [](auto a, auto b, auto) { return a + b; },
       [](auto a, auto b, auto) { return static_cast<uint32_t>(SatI32(int64_t{I(a)} + I(b))); }},
      {O::V_SUB_NC_I32, V3, 2, [](auto a, auto b, auto) { return a - b; },
       [](auto a, auto b, auto) { return static_cast<uint32_t>(SatI32(int64_t{I(a)} - I(b))); }},
      {O::V_MUL_LO_U32, V3, 2, [](auto a, auto b, auto) { return a * b; }, {}},
      {O::V_MUL_HI_U32, V3, 2, [](auto a, auto b, auto) { return static_cast<uint32_t>((uint64_t{a} * b) >> 32); }, {}},
      {O::V_MUL_HI_I32, V3, 2, [](auto a, auto b, auto) { return static_cast<uint32_t>((int64_t{I(a)} * I(b)) >> 32); }, {}},
      {O::V_BFM_B32, V3, 2, [](auto a, auto b, auto) { return ((1u << (a & 31)) - 1) << (b & 31); }, {}},
      {O::V_BCNT_U32_B32, V3, 2,
       [](auto a, auto b, auto) {
         for (; a != 0; a &= a - 1) ++b;
         return b;
       },
       {}},
      {O::V_CVT_PK_U16_U32, V3, 2,
       [](auto a, auto b, auto) { return std::min(a, 0xffffu) | std::min(b, 0xffffu) << 16; }, {}},
      {O::V_CVT_PK_I16_I32, V3, 2,
       [](auto a, auto b, auto) {
         const auto sat = [](int32_t v) { return static_cast<uint32_t>(v > 32767 ? 32767 : v < -32768 ? -32768 : v) & 0xffff; };
         return sat(I(a)) | sat(I(b)) << 16;
       },
       {}},
      {O::V_BFE_U32, V3, 3, [](auto a, auto b, auto c) { return (a >> (b & 31)) & ((1u << (c & 31)) - 1); }, {}},
      {O::V_BFE_I32, V3, 3,
       [](auto a, auto b, auto c) {
         const uint32_t width = c & 31;
         if (width == 0) return 0u;
         const uint32_t field = static_cast<uint32_t>(I(a) >> (b & 31)) & ((1u << width) - 1);
         return (field >> (width - 1)) & 1 ? field | ~((1u << width) - 1) : field;
       },
       {}},
      {O::V_BFI_B32, V3, 3, [](auto a, auto b, auto c) { return (a & b) | (~a & c); }, {}},
      {O::V_ALIGNBIT_B32, V3, 3,
       [](auto a, auto b, auto c) { return static_cast<uint32_t>((uint64_t{a} << 32 | b) >> (c & 31)); }, {}},
      {O::V_ALIGNBYTE_B32, V3, 3,
       [](auto a, auto b, auto c) { return static_cast<uint32_t>((uint64_t{a} << 32 | b) >> (8 * (c & 3))); }, {}},
      {O::V_MIN3_I32, V3, 3, [](auto a, auto b, auto c) { return static_cast<uint32_t>(std::min({I(a), I(b), I(c)})); }, {}},
      {O::V_MAX3_U32, V3, 3, [](auto a, auto b, auto c) { return std::max({a, b, c}); }, {}},
      {O::V_MIN3_U32, V3, 3, [](auto a, auto b, auto c) { return std::min({a, b, c}); }, {}},
      {O::V_MAX3_I32, V3, 3, [](auto a, auto b, auto c) { return static_cast<uint32_t>(std::max({I(a), I(b), I(c)})); }, {}},
      {O::V_MED3_U32, V3, 3, [](auto a, auto b, auto c) { return Median(a, b, c); }, {}},
      {O::V_MED3_I32, V3, 3, [](auto a, auto b, auto c) { return static_cast<uint32_t>(Median(I(a), I(b), I(c))); }, {}},
      {O::V_MAXMIN_U32, V3, 3, [](auto a, auto b, auto c) { return std::min(std::max(a, b), c); }, {}},
      {O::V_MINMAX_I32, V3, 3,
       [](auto a, auto b, auto c) { return static_cast<uint32_t>(std::max(std::min(I(a), I(b)), I(c))); }, {}},
      {O::V_SAD_U8, V3, 3, [](auto a, auto b, auto c) { return Sad8(a, b) + c; }, {}},
      {O::V_SAD_HI_U8, V3, 3, [](auto a, auto b, auto c) { return (Sad8(a, b) << 16) + c; }, {}},
      {O::V_SAD_U16, V3, 3,
       [](auto a, auto b, auto c) { return Distance(a & 0xffff, b & 0xffff) + Distance(a >> 16, b >> 16) + c; }, {}},
      {O::V_SAD_U32, V3, 3, [](auto a, auto b, auto c) { return Distance(a, b) + c; }, {}},
      {O::V_MSAD_U8, V3, 3,
       [](auto a, auto b, auto c) {
         for (int i = 0; i < 4; ++i) c += Byte(b, i) == 0 ? 0 : Distance(Byte(a, i), Byte(b, i));
         return c;
       },
       {}},
      {O::V_LERP_U8, V3, 3,
       [](auto a, auto b, auto c) {
         uint32_t r = 0;
         for (int i = 0; i < 4; ++i) r |= ((Byte(a, i) + Byte(b, i) + (Byte(c, i) & 1)) >> 1) << (8 * i);
         return r;
       },
       {}},
      {O::V_XOR3_B32, V3, 3, [](auto a, auto b, auto c) { return a ^ b ^ c; }, {}},
      {O::V_XAD_U32, V3, 3, [](auto a, auto b, auto c) { return (a ^ b) + c; }, {}},
      {O::V_LSHL_ADD_U32, V3, 3, [](auto a, auto b, auto c) { return (a << (b & 31)) + c; }, {}},
      {O::V_ADD_LSHL_U32, V3, 3, [](auto a, auto b, auto c) { return (a + b) << (c & 31); }, {}},
      {O::V_ADD3_U32, V3, 3, [](auto a, auto b, auto c) { return a + b + c; }, {}},
      {O::V_LSHL_OR_B32, V3, 3, [](auto a, auto b, auto c) { return (a << (b & 31)) | c; }, {}},
      {O::V_AND_OR_B32, V3, 3, [](auto a, auto b, auto c) { return (a & b) | c; }, {}},
      {O::V_OR3_B32, V3, 3, [](auto a, auto b, auto c) { return a | b | c; }, {}},
      {O::V_PERM_B32, V3, 3, Permute, {}},
      {O::V_MAD_U32_U24, V3, 3, [](auto a, auto b, auto c) { return static_cast<uint32_t>(U24(a) * U24(b) + c); },
       [](auto a, auto b, auto c) { return static_cast<uint32_t>(SatU32(U24(a) * U24(b) + c)); }},
      {O::V_MAD_I32_I24, V3, 3, [](auto a, auto b, auto c) { return static_cast<uint32_t>(I24(a) * I24(b) + I(c)); },
       [](auto a, auto b, auto c) { return static_cast<uint32_t>(SatI32(I24(a) * I24(b) + I(c))); }},
      {O::V_DOT4_U32_U8, Encoding::VOP3P, 3,
       [](auto a, auto b, auto c) {
         for (int i = 0; i < 4; ++i) c += Byte(a, i) * Byte(b, i);
         return c;
       },
       [](auto a, auto b, auto c) {
         uint64_t sum = c;
         for (int i = 0; i < 4; ++i) sum += Byte(a, i) * Byte(b, i);
         return static_cast<uint32_t>(SatU32(sum));
       }},
      {O::V_DOT8_U32_U4, Encoding::VOP3P, 3,
       [](auto a, auto b, auto c) {
         for (int i = 0; i < 8; ++i) c += ((a >> (4 * i)) & 15) * ((b >> (4 * i)) & 15);
         return c;
       },
       {}},
  };
  return *cases;
}

TEST(IntegerSemantics, MatchTheManualsFormulas) {
  for (const Case& c : Cases()) {
    for (int clamp = 0; clamp < (c.clamped ? 2 : 1); ++clamp) {
      Machine machine(static_cast<int>(c.op) % 2 != 0 ? 64 : 32);
      Draws draws(static_cast<uint64_t>(c.op) + 1);
      Inst inst = Make(c.op, c.enc, {V(9)}, {V(1)});
      inst.n_src = static_cast<uint8_t>(c.sources);
      for (int i = 0; i < c.sources; ++i) inst.src[i] = V(1 + i);
      inst.clamp = clamp != 0;
      for (int round = 0; round < 40; ++round) {
        for (int lane = 0; lane < machine.wave.wave_size; ++lane) {
          for (int reg = 1; reg <= 3; ++reg) machine.Reg(reg, lane) = draws.Word();
        }
        ASSERT_EQ(machine.Execute(inst), "");
        for (int lane = 0; lane < machine.wave.wave_size; ++lane) {
          const uint32_t x = machine.Reg(1, lane), y = machine.Reg(2, lane), z = machine.Reg(3, lane);
          ASSERT_EQ(machine.Reg(9, lane), clamp != 0 ? c.clamped(x, y, z) : c.plain(x, y, z))
              << OpcodeName(c.op) << (clamp != 0 ? " clamp " : " ") << std::hex << x << " " << y << " " << z;
        }
      }
    }
  }
}

TEST(IntegerSemantics, PackedHalvesMatchScalarArithmeticHalfByHalf) {
  struct PackedCase {
    Opcode op;
    std::function<int64_t(int64_t, int64_t, int64_t)> formula;  // exact
    bool is_signed;
  };
  const PackedCase cases[] = {
      {Opcode::V_PK_ADD_I16, [](auto a, auto b, auto) { return a + b; }, true},
      {Opcode::V_PK_SUB_I16, [](auto a, auto b, auto) { return a - b; }, true},
      {Opcode::V_PK_ADD_U16, [](auto a, auto b, auto) { return a + b; }, false},
      {Opcode::V_PK_SUB_U16, [](auto a, auto b, auto) { return a - b; }, false},
      {Opcode::V_PK_MAD_I16, [](auto a, auto b, auto c) { return a * b + c; }, true},
      {Opcode::V_PK_MAD_U16, [](auto a, auto b, auto c) { return a * b + c; }, false},
      {Opcode::V_PK_MIN_I16, [](auto a, auto b, auto) { return std::min(a, b); }, true},
      {Opcode::V_PK_MAX_U16, [](auto a, auto b, auto) { return std::max(a, b); }, false},
  };
  for (const PackedCase& c : cases) {
    Draws draws(static_cast<uint64_t>(c.op));
    Machine machine;
    for (int round = 0; round < 60; ++round) {
      Inst inst = Make(c.op, Encoding::VOP3P, {V(9)}, {V(1), V(2), V(3)});
      inst.clamp = draws.Below(2) != 0;
      inst.op_sel = static_cast<uint8_t>(draws.Below(8));
      inst.op_sel_hi = static_cast<uint8_t>(draws.Below(8));
      for (int lane = 0; lane < 32; ++lane) {
        for (int reg = 1; reg <= 3; ++reg) machine.Reg(reg, lane) = draws.Word();
      }
      ASSERT_EQ(machine.Execute(inst), "");
      for (int lane = 0; lane < 32; ++lane) {
        uint32_t expected = 0;
        for (int half = 0; half < 2; ++half) {
          int64_t v[3];
          for (int i = 0; i < 3; ++i) {
            const int from = ((half == 0 ? inst.op_sel : inst.op_sel_hi) >> i) & 1;
            const uint32_t bits = (machine.Reg(1 + i, lane) >> (16 * from)) & 0xffff;
            v[i] = c.is_signed ? static_cast<int16_t>(bits) : static_cast<int64_t>(bits);
          }
          int64_t r = c.formula(v[0], v[1], v[2]);
          if (inst.clamp && c.is_signed) r = std::min<int64_t>(std::max<int64_t>(r, -32768), 32767);
          if (inst.clamp && !c.is_signed) r = std::min<int64_t>(std::max<int64_t>(r, 0), 65535);
          expected |= (static_cast<uint32_t>(r) & 0xffff) << (16 * half);
        }
        ASSERT_EQ(machine.Reg(9, lane), expected)
            << OpcodeName(c.op) << " op_sel " << int{inst.op_sel} << " op_sel_hi " << int{inst.op_sel_hi}
            << " clamp " << inst.clamp;
      }
    }
  }
}

TEST(IntegerSemantics, DotProductsReadSignednessFromNeg) {
  Draws draws(3);
  Machine machine;
  for (int bits : {8, 4}) {
    for (int neg = 0; neg < 4; ++neg) {
      Inst inst = Make(bits == 8 ? Opcode::V_DOT4_I32_IU8 : Opcode::V_DOT8_I32_IU4, Encoding::VOP3P, {V(9)},
                       {V(1), V(2), V(3)});
      inst.neg = static_cast<uint8_t>(neg);
      inst.clamp = draws.Below(2) != 0;
      for (int lane = 0; lane < 32; ++lane) {
        for (int reg = 1; reg <= 3; ++reg) machine.Reg(reg, lane) = draws.Word();
      }
      ASSERT_EQ(machine.Execute(inst), "");
      for (int lane = 0; lane < 32; ++lane) {
        int64_t sum = I(machine.Reg(3, lane));
        for (int i = 0; i < 32 / bits; ++i) {
          int64_t v[2];
          for (int s = 0; s < 2; ++s) {
            const uint32_t e = (machine.Reg(1 + s, lane) >> (bits * i)) & ((1u << bits) - 1);
            v[s] = (neg >> s) & 1 ? static_cast<int32_t>(e << (32 - bits)) >> (32 - bits)
                                  : static_cast<int64_t>(e);
          }
          sum += v[0] * v[1];
        }
        ASSERT_EQ(machine.Reg(9, lane), static_cast<uint32_t>(inst.clamp ? SatI32(sum) : sum))
            << bits << " neg " << neg;
      }
    }
  }
}

TEST(IntegerSemantics, MultiplyAddOf64BitsCarriesOut) {
  Draws draws(5);
  Machine machine(64);
  for (int round = 0; round < 50; ++round) {
    for (int lane = 0; lane < 64; ++lane) {
      const uint64_t c = draws.Long();
      machine.Reg(1, lane) = draws.Word();
      machine.Reg(2, lane) = draws.Word();
      machine.Reg(4, lane) = static_cast<uint32_t>(c);
      machine.Reg(5, lane) = static_cast<uint32_t>(c >> 32);
    }
    ASSERT_EQ(machine.Execute(Make(Opcode::V_MAD_U64_U32, Encoding::VOP3SD, {V(10, 2), testing::S(20, 2)},
                                   {V(1), V(2), V(4, 2)})),
              "");
    ASSERT_EQ(machine.Execute(Make(Opcode::V_MAD_I64_I32, Encoding::VOP3SD, {V(12, 2), testing::S(22, 2)},
                                   {V(1), V(2), V(4, 2)})),
              "");
    for (int lane = 0; lane < 64; ++lane) {
      const uint32_t a = machine.Reg(1, lane), b = machine.Reg(2, lane);
      const uint64_t c = machine.Reg64(4, lane);
      const unsigned __int128 u = static_cast<unsigned __int128>(uint64_t{a} * b) + c;
      const __int128 s = static_cast<__int128>(int64_t{I(a)} * I(b)) + static_cast<int64_t>(c);
      ASSERT_EQ(machine.Reg64(10, lane), static_cast<uint64_t>(u));
      ASSERT_EQ((machine.wave.Mask(20) >> lane) & 1, static_cast<uint64_t>(u >> 64));
      ASSERT_EQ(machine.Reg64(12, lane), static_cast<uint64_t>(s));
      ASSERT_EQ((machine.wave.Mask(22) >> lane) & 1, static_cast<uint64_t>(s < 0));
    }
  }
}

}  // namespace
}  // namespace understudy::emu::amd
