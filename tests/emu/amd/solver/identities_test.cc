// SPDX-License-Identifier: Apache-2.0
// Identities that compilers use when they select AMD instructions, proved for every input by z3 over the
// solver's reading of the semantics. Each is stated instruction against instruction, or against plain
// arithmetic.
#include <gtest/gtest.h>

#include "emu/amd/solver/reading.h"

namespace understudy::emu::amd::solver {
namespace {

using z3::expr;

class Identities : public ::testing::Test {
 protected:
  expr V(uint64_t v, unsigned bits = 32) { return c.bv_val(v, bits); }
  expr Value(Opcode op, std::initializer_list<expr> sources) { return *Lane(op, sources).value; }
  expr Mask(Opcode op, std::initializer_list<expr> sources) { return *Lane(op, sources).mask; }
  VectorResult Lane(Opcode op, const std::vector<expr>& sources, const VectorModifiers& modifiers = {}) {
    auto result = VectorTerms(op, sources, modifiers);
    if (!result.ok()) ADD_FAILURE() << result.status();
    return *result;
  }
  ScalarResult Scalar(Opcode op, const std::vector<expr>& sources) { return Scalar(op, sources, state.scc); }
  ScalarResult Scalar(Opcode op, const std::vector<expr>& sources, const expr& scc) {
    ScalarState with = state;
    with.scc = scc;
    auto result = ScalarTerms(op, sources, with);
    if (!result.ok()) ADD_FAILURE() << result.status();
    return *result;
  }
  void Prove(const expr& claim) { EXPECT_EQ(Refutation(claim), ""); }
  expr Lo(const expr& e) { return e.extract(31, 0); }
  expr Hi(const expr& e) { return e.extract(63, 32); }

  z3::context c;
  expr x = c.bv_const("x", 32), y = c.bv_const("y", 32), z = c.bv_const("z", 32), n = c.bv_const("n", 32);
  expr a = c.bv_const("a", 64), b = c.bv_const("b", 64);
  ScalarState state{c.bool_const("SCC"), c.bv_const("EXEC", 64), c.bv_const("old", 64),
                    c.bv_const("simm", 32)};
};

TEST_F(Identities, AlignbitIsAPairOfShifts) {
  const expr inside = z3::ugt(n, V(0)) && z3::ult(n, V(32));
  const expr shifts = Value(
      Opcode::V_OR_B32, {Value(Opcode::V_LSHRREV_B32, {n, y}), Value(Opcode::V_LSHLREV_B32, {V(32) - n, x})});
  Prove(z3::implies(inside, Value(Opcode::V_ALIGNBIT_B32, {x, y, n}) == shifts));
  Prove(Value(Opcode::V_ALIGNBIT_B32, {x, y, V(0)}) == y);
}
TEST_F(Identities, AlignbitOfOneRegisterRotates) {
  Prove(Value(Opcode::V_ALIGNBIT_B32, {x, x, n}) == z3::expr(c, Z3_mk_ext_rotate_right(c, x, n & V(31))));
}
TEST_F(Identities, AlignbyteIsAlignbitByEight) {
  Prove(Value(Opcode::V_ALIGNBYTE_B32, {x, y, n}) ==
        Value(Opcode::V_ALIGNBIT_B32, {x, y, Value(Opcode::V_LSHLREV_B32, {V(3), n & V(3)})}));
}
TEST_F(Identities, PermWithConstantSelectorSwapsBytes) {
  const expr swapped = z3::concat(z3::concat(x.extract(7, 0), x.extract(15, 8)),
                                  z3::concat(x.extract(23, 16), x.extract(31, 24)));
  Prove(Value(Opcode::V_PERM_B32, {V(0), x, V(0x00010203)}) == swapped);
}
TEST_F(Identities, PermPacksLowHalves) {
  Prove(Value(Opcode::V_PERM_B32, {y, x, V(0x05040100)}) == Value(Opcode::V_PACK_B32_F16, {x, y}));
}
TEST_F(Identities, PermIsAlignbyte) {
  Prove(Value(Opcode::V_PERM_B32, {x, y, V(0x06050403)}) == Value(Opcode::V_ALIGNBYTE_B32, {x, y, V(3)}));
}
TEST_F(Identities, BfeIsAShiftAndAMask) {
  const expr mask = Value(Opcode::V_BFM_B32, {z, V(0)});
  Prove(Value(Opcode::V_BFE_U32, {x, y, z}) ==
        Value(Opcode::V_AND_B32, {Value(Opcode::V_LSHRREV_B32, {y, x}), mask}));
}
TEST_F(Identities, SignedBfeIsAPairOfShifts) {
  const expr fits = z3::ugt(z, V(0)) && z3::ult(z, V(32)) && z3::ult(y, V(32)) && z3::ule(y + z, V(32));
  const expr up = Value(Opcode::V_LSHLREV_B32, {V(32) - y - z, x});
  Prove(z3::implies(fits,
                    Value(Opcode::V_BFE_I32, {x, y, z}) == Value(Opcode::V_ASHRREV_I32, {V(32) - z, up})));
}
TEST_F(Identities, BfiIsXorAndXor) {
  const expr picked = Value(Opcode::V_AND_B32, {Value(Opcode::V_XOR_B32, {y, z}), x});
  Prove(Value(Opcode::V_BFI_B32, {x, y, z}) == Value(Opcode::V_XOR_B32, {picked, z}));
}
TEST_F(Identities, BfiCopiesASign) {
  Prove(Value(Opcode::V_BFI_B32, {V(0x7fffffff), x, y}) == ((x & V(0x7fffffff)) | (y & V(0x80000000))));
}
TEST_F(Identities, Mul24PiecesMakeA48BitProduct) {
  const expr p = x & V(0xffffff), q = y & V(0xffffff);
  const expr product = z3::zext(p, 32) * z3::zext(q, 32);
  Prove(Value(Opcode::V_MUL_U32_U24, {x, y}) == Lo(product));
  Prove(Value(Opcode::V_MUL_HI_U32_U24, {x, y}) == Hi(product));
}
TEST_F(Identities, Mul24OfSmallNumbersIsMul) {
  const expr small = z3::ult(x, V(1 << 12)) && z3::ult(y, V(1 << 12));
  Prove(z3::implies(small, Value(Opcode::V_MUL_U32_U24, {x, y}) == Value(Opcode::V_MUL_LO_U32, {x, y})));
}
TEST_F(Identities, MadU64IsMulLoMulHiAndACarryChain) {
  const VectorResult mad = Lane(Opcode::V_MAD_U64_U32, {x, y, a});
  const VectorResult low = Lane(Opcode::V_ADD_CO_U32, {Value(Opcode::V_MUL_LO_U32, {x, y}), Lo(a)});
  const VectorResult high =
      Lane(Opcode::V_ADD_CO_CI_U32, {Value(Opcode::V_MUL_HI_U32, {x, y}), Hi(a), *low.mask});
  Prove(*mad.value == z3::concat(*high.value, *low.value) && *mad.mask == *high.mask);
}
TEST_F(Identities, VectorCarryChainIsA64BitSum) {
  const VectorResult low = Lane(Opcode::V_ADD_CO_U32, {Lo(a), Lo(b)});
  const VectorResult high = Lane(Opcode::V_ADD_CO_CI_U32, {Hi(a), Hi(b), *low.mask});
  Prove(z3::concat(*high.value, *low.value) == a + b);
  Prove(*high.mask == z3::ult(a + b, a));
}
TEST_F(Identities, VectorBorrowChainIsA64BitDifference) {
  const VectorResult low = Lane(Opcode::V_SUB_CO_U32, {Lo(a), Lo(b)});
  const VectorResult high = Lane(Opcode::V_SUB_CO_CI_U32, {Hi(a), Hi(b), *low.mask});
  Prove(z3::concat(*high.value, *low.value) == a - b);
  Prove(*high.mask == z3::ult(a, b));
}
TEST_F(Identities, ReversedSubtractionSwapsItsSources) {
  Prove(Value(Opcode::V_SUBREV_NC_U32, {x, y}) == Value(Opcode::V_SUB_NC_U32, {y, x}));
  Prove(Value(Opcode::V_SUBREV_CO_U32, {x, y}) == Value(Opcode::V_SUB_CO_U32, {y, x}));
}
TEST_F(Identities, ScalarCarryChainIsA64BitSum) {
  const ScalarResult low = Scalar(Opcode::S_ADD_U32, {Lo(a), Lo(b)});
  const ScalarResult high = Scalar(Opcode::S_ADDC_U32, {Hi(a), Hi(b)}, *low.scc);
  Prove(z3::concat(*high.value, *low.value) == a + b && *high.scc == z3::ult(a + b, a));
}
TEST_F(Identities, ScalarBorrowChainIsA64BitDifference) {
  const ScalarResult low = Scalar(Opcode::S_SUB_U32, {Lo(a), Lo(b)});
  const ScalarResult high = Scalar(Opcode::S_SUBB_U32, {Hi(a), Hi(b)}, *low.scc);
  Prove(z3::concat(*high.value, *low.value) == a - b && *high.scc == z3::ult(a, b));
}
TEST_F(Identities, SignedScalarOverflowIsSeenBySignExtension) {
  const ScalarResult sum = Scalar(Opcode::S_ADD_I32, {x, y});
  const expr exact = z3::sext(x, 1) + z3::sext(y, 1);
  Prove(*sum.scc == (exact != z3::sext(*sum.value, 1)));
}
TEST_F(Identities, LshlAddIsAMultiplyByAPowerOfTwoAndAnAdd) {
  for (uint32_t shift = 0; shift < 5; ++shift) {
    const expr product = Value(Opcode::V_MUL_LO_U32, {x, V(1u << shift)});
    Prove(Value(Opcode::V_LSHL_ADD_U32, {x, V(shift), y}) == Value(Opcode::V_ADD_NC_U32, {product, y}));
  }
}
TEST_F(Identities, XadIsASubtractionWithOnes) {
  // -x + y: (x ^ -1) + (y + 1).
  Prove(Value(Opcode::V_XAD_U32, {x, V(~0u), y + V(1)}) == Value(Opcode::V_SUB_NC_U32, {y, x}));
}
TEST_F(Identities, AbsoluteValueIsAMaximum) {
  Prove(*Scalar(Opcode::S_ABS_I32, {x}).value ==
        Value(Opcode::V_MAX_I32, {x, Value(Opcode::V_SUB_NC_U32, {V(0), x})}));
}
TEST_F(Identities, MedianClampsToARange) {
  Prove(z3::implies(y <= z, Value(Opcode::V_MED3_I32, {x, y, z}) ==
                                Value(Opcode::V_MIN_I32, {Value(Opcode::V_MAX_I32, {x, y}), z})));
}
TEST_F(Identities, CarryIsAComparison) {
  Prove(Mask(Opcode::V_ADD_CO_U32, {x, y}) == Mask(Opcode::V_CMP_LT_U32, {x + y, x}));
}
TEST_F(Identities, SaturatingSubtractionIsAMaximumAndASubtraction) {
  const expr clamped = *Lane(Opcode::V_SUB_NC_U32, {x, y}, {.clamp = true}).value;
  Prove(clamped == Value(Opcode::V_SUB_NC_U32, {Value(Opcode::V_MAX_U32, {x, y}), y}));
}
TEST_F(Identities, Dot4IsFourProducts) {
  expr sum = z;
  for (unsigned i = 0; i < 4; ++i) {
    sum = sum + z3::zext(x.extract(8 * i + 7, 8 * i), 24) * z3::zext(y.extract(8 * i + 7, 8 * i), 24);
  }
  Prove(Value(Opcode::V_DOT4_U32_U8, {x, y, z}) == sum);
}
TEST_F(Identities, AndNotSaveexecKeepsOldMaskAndNarrowsIt) {
  const ScalarResult saved = Scalar(Opcode::S_AND_NOT1_SAVEEXEC_B64, {a});
  Prove(*saved.value == state.exec && *saved.exec == (a & ~state.exec));
  const ScalarResult narrowed = Scalar(Opcode::S_AND_SAVEEXEC_B64, {a});
  Prove(*narrowed.exec == (a & state.exec) && *narrowed.scc == (*narrowed.exec != V(0, 64)));
}
TEST_F(Identities, WideShiftIsAlignbitAndAShift) {
  const expr below = z3::ult(n, V(32));
  const expr whole = Value(Opcode::V_LSHRREV_B64, {n, a});
  Prove(z3::implies(below, Lo(whole) == Value(Opcode::V_ALIGNBIT_B32, {Hi(a), Lo(a), n}) &&
                               Hi(whole) == Value(Opcode::V_LSHRREV_B32, {n, Hi(a)})));
}
// A wrong identity is refuted, with the input that shows it.
TEST_F(Identities, AFalseIdentityHasACounterexample) {
  const std::string why = Refutation(Value(Opcode::V_ALIGNBIT_B32, {x, y, n}) ==
                                     Value(Opcode::V_OR_B32, {Value(Opcode::V_LSHRREV_B32, {n, y}),
                                                              Value(Opcode::V_LSHLREV_B32, {V(32) - n, x})}));
  EXPECT_NE(why.find("false for"), std::string::npos) << why;
  EXPECT_NE(why.find("n"), std::string::npos);
}

}  // namespace
}  // namespace understudy::emu::amd::solver
