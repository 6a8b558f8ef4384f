// SPDX-License-Identifier: Apache-2.0
// The division macro that LLVM expands fdiv into (AMDGPU, SITargetLowering LowerFDIV32/64), run instruction
// by instruction, gives the correctly rounded quotient that the host's divider gives: for normal, denormal,
// overflowing and special operands.
#include <gtest/gtest.h>

#include <cmath>

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
using O = Opcode;
constexpr Encoding kVop3 = Encoding::VOP3, kVop3sd = Encoding::VOP3SD;

// v1 = numerator, v2 = denominator, v20 = quotient.
void Divide32(Machine* m) {
  const Operand n = V(1), d = V(2), vcc = S(106, 2), one = Literal(0x3f800000);
  const auto run = [m](Inst inst, int negate = 0) {
    inst.neg = static_cast<uint8_t>(negate);
    ASSERT_EQ(m->Execute(inst), "");
  };
  run(Make(O::V_DIV_SCALE_F32, kVop3sd, {V(10), S(30, 2)}, {d, d, n}));
  run(Make(O::V_DIV_SCALE_F32, kVop3sd, {V(11), vcc}, {n, d, n}));
  run(Make(O::V_RCP_F32, Encoding::VOP1, {V(12)}, {V(10)}));
  run(Make(O::V_FMA_F32, kVop3, {V(13)}, {V(10), V(12), one}), 1);
  run(Make(O::V_FMA_F32, kVop3, {V(14)}, {V(13), V(12), V(12)}));
  run(Make(O::V_MUL_F32, Encoding::VOP2, {V(15)}, {V(11), V(14)}));
  run(Make(O::V_FMA_F32, kVop3, {V(16)}, {V(10), V(15), V(11)}), 1);
  run(Make(O::V_FMA_F32, kVop3, {V(17)}, {V(16), V(14), V(15)}));
  run(Make(O::V_FMA_F32, kVop3, {V(18)}, {V(10), V(17), V(11)}), 1);
  run(Make(O::V_DIV_FMAS_F32, kVop3, {V(19)}, {V(18), V(14), V(17), vcc}));
  run(Make(O::V_DIV_FIXUP_F32, kVop3, {V(20)}, {V(19), d, n}));
}

// v[2:3] / v[4:5] to v[30:31].
void Divide64(Machine* m) {
  const Operand n = V(2, 2), d = V(4, 2), vcc = S(106, 2), one = Literal(0x3ff0000000000000);
  const auto run = [m](Inst inst, int negate = 0) {
    inst.neg = static_cast<uint8_t>(negate);
    ASSERT_EQ(m->Execute(inst), "");
  };
  run(Make(O::V_DIV_SCALE_F64, kVop3sd, {V(6, 2), S(30, 2)}, {d, d, n}));
  run(Make(O::V_RCP_F64, Encoding::VOP1, {V(8, 2)}, {V(6, 2)}));
  run(Make(O::V_FMA_F64, kVop3, {V(10, 2)}, {V(6, 2), V(8, 2), one}), 1);
  run(Make(O::V_FMA_F64, kVop3, {V(12, 2)}, {V(8, 2), V(10, 2), V(8, 2)}));
  run(Make(O::V_FMA_F64, kVop3, {V(14, 2)}, {V(6, 2), V(12, 2), one}), 1);
  run(Make(O::V_DIV_SCALE_F64, kVop3sd, {V(16, 2), vcc}, {n, d, n}));
  run(Make(O::V_FMA_F64, kVop3, {V(18, 2)}, {V(12, 2), V(14, 2), V(12, 2)}));
  run(Make(O::V_MUL_F64, kVop3, {V(20, 2)}, {V(16, 2), V(18, 2)}));
  run(Make(O::V_FMA_F64, kVop3, {V(22, 2)}, {V(6, 2), V(20, 2), V(16, 2)}), 1);
  run(Make(O::V_DIV_FMAS_F64, kVop3, {V(24, 2)}, {V(22, 2), V(18, 2), V(20, 2), vcc}));
  run(Make(O::V_DIV_FIXUP_F64, kVop3, {V(30, 2)}, {V(24, 2), d, n}));
}

TEST(Division, MacroInF32IsCorrectlyRounded) {
  Machine machine(64);
  Draws draws(1);
  int wrong = 0;
  for (int round = 0; round < 3000; ++round) {
    for (int lane = 0; lane < 64; ++lane) {
      // A third each: any bits, edges, and exponents at the ends of the range.
      uint32_t v[2];
      for (uint32_t& x : v) {
        x = static_cast<uint32_t>(draws.Bits());
        if (round % 3 == 1) x = draws.Word();
        if (round % 3 == 2)
          x = (x & 0x807fffffu) | (draws.Below(2) != 0 ? draws.Below(30) : 225 + draws.Below(30)) << 23;
      }
      machine.Reg(1, lane) = v[0];
      machine.Reg(2, lane) = v[1];
    }
    Divide32(&machine);
    for (int lane = 0; lane < 64; ++lane) {
      const float n = FloatOf(machine.Reg(1, lane)), d = FloatOf(machine.Reg(2, lane)), q = n / d;
      const uint32_t got = machine.Reg(20, lane);
      if (std::isnan(q) ? !std::isnan(FloatOf(got)) : got != BitsOf(q)) {
        if (++wrong < 10) {
          ADD_FAILURE() << std::hex << machine.Reg(1, lane) << " / " << machine.Reg(2, lane) << " = " << got
                        << ", not " << BitsOf(q);
        }
      }
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Division, MacroInF64IsCorrectlyRounded) {
  Machine machine(64);
  Draws draws(2);
  int wrong = 0;
  for (int round = 0; round < 2000; ++round) {
    for (int lane = 0; lane < 64; ++lane) {
      uint64_t v[2];
      for (uint64_t& x : v) {
        x = draws.Bits();
        if (round % 3 == 1) x = draws.Long();
        if (round % 3 == 2) {
          x = (x & 0x800fffffffffffffu) |
              uint64_t{draws.Below(2) != 0 ? draws.Below(60) : 1987 + draws.Below(60)} << 52;
        }
      }
      for (int w = 0; w < 2; ++w) {
        machine.Reg(2 + w, lane) = static_cast<uint32_t>(v[0] >> (32 * w));
        machine.Reg(4 + w, lane) = static_cast<uint32_t>(v[1] >> (32 * w));
      }
    }
    Divide64(&machine);
    for (int lane = 0; lane < 64; ++lane) {
      const double n = DoubleOf(machine.Reg64(2, lane)), d = DoubleOf(machine.Reg64(4, lane)), q = n / d;
      const uint64_t got = machine.Reg64(30, lane);
      if (std::isnan(q) ? !std::isnan(DoubleOf(got)) : got != BitsOf(q)) {
        if (++wrong < 10) {
          ADD_FAILURE() << std::hex << BitsOf(n) << " / " << BitsOf(d) << " = " << got << ", not "
                        << BitsOf(q);
        }
      }
    }
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace understudy::emu::amd
