// SPDX-License-Identifier: Apache-2.0
// Bitwise, bit-field, shift and permute instructions equal the formulas of the ISA manuals for every input.
// The formulas are written over z3 directly, bit by bit where the manual speaks of bits, and share nothing
// with the templates under test.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "emu/amd/semantics/semantics.h"
#include "emu/amd/solver/reading.h"
#include "tests/emu/amd/evidence/evidence.h"

namespace understudy::emu::amd::solver {
namespace {

using z3::expr;

class Formulas : public ::testing::Test {
 public:
  // No bitwise, bit-field, shift or permute row of the table lacks a formula.
  static void TearDownTestSuite();

 protected:
  expr V(uint64_t v, unsigned bits = 32) { return c.bv_val(v, bits); }
  expr Low(const expr& e, int bits) {
    return z3::zext(e.extract(static_cast<unsigned>(bits - 1), 0),
                    e.get_sort().bv_size() - static_cast<unsigned>(bits));
  }
  // Bit i of e as a Bool, i a term; bits past the end are 0.
  expr BitAt(const expr& e, const expr& i) { return z3::lshr(e, i).extract(0, 0) == V(1, 1); }
  // The number whose bit i is f(i).
  expr FromBits(unsigned width, const std::function<expr(unsigned)>& f) {
    expr out = z3::ite(f(0), V(1, 1), V(0, 1));
    for (unsigned i = 1; i < width; ++i) out = z3::concat(z3::ite(f(i), V(1, 1), V(0, 1)), out);
    return out;
  }
  expr Bit(const expr& e, unsigned i) { return e.extract(i, i) == V(1, 1); }
  expr Half(const expr& e, unsigned half) { return e.extract(16 * half + 15, 16 * half); }
  expr Word16(const expr& e) { return z3::zext(e, 16); }

  void Check(Opcode op, const std::vector<expr>& sources, const expr& formula) {
    auto result = VectorTerms(op, sources);
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_TRUE(result->value.has_value()) << OpcodeName(op);
    EXPECT_EQ(Refutation(*result->value == formula), "") << OpcodeName(op);
    proved.insert(op);
    for (const Isa isa : kAllIsas) RecordExecuted(isa, op);
  }

  z3::context c;
  expr x = c.bv_const("S0", 32), y = c.bv_const("S1", 32), z = c.bv_const("S2", 32);
  expr x64 = c.bv_const("S0_64", 64), y64 = c.bv_const("S1_64", 64);
  static std::set<Opcode> proved;
};
std::set<Opcode> Formulas::proved;

void Formulas::TearDownTestSuite() {
  const auto& all = *::testing::UnitTest::GetInstance();
  if (all.test_to_run_count() != all.total_test_count()) return;  // a filter is set
  const auto of_this_kind = [](const std::string& name) {
    for (const char* part :
         {"V_BFE", "V_BFI", "V_BFM", "V_ALIGN", "V_PERM_B32", "V_LSH", "V_ASHR", "_LSHL", "_LSHR", "V_AND",
          "V_OR", "V_XOR", "V_XNOR", "V_NOT", "V_XAD", "V_BFREV", "V_BITOP3"}) {
      if (name.find(part) != std::string::npos) return true;
    }
    return false;
  };
  // Other mnemonics of a row that has one.
#define SEMANTIC(chapter, opcode, function, state, note)
#define SEMANTIC_FOR(chapter, generations, opcode, function, state, note)
#define SAME(opcode, other) \
  if (proved.count(Opcode::other) != 0) proved.insert(Opcode::opcode);
#define WAVE_OP(opcode, function, state, note)
#define REFUSED(opcode, reason)
#include "emu/amd/semantics/semantics.inc"
#undef SEMANTIC
#undef SEMANTIC_FOR
#undef SAME
#undef WAVE_OP
#undef REFUSED
  for (int i = 0; i < static_cast<int>(Opcode::kCount); ++i) {
    const auto op = static_cast<Opcode>(i);
    if (ReadsVector(op) && of_this_kind(OpcodeName(op)) && proved.count(op) == 0) {
      ADD_FAILURE() << OpcodeName(op) << " has no formula here";
    }
  }
}

TEST_F(Formulas, BitwiseOperationsActOnEachBit) {
  using Table = std::function<expr(expr, expr, expr)>;
  const std::pair<Opcode, Table> rows[] = {
      {Opcode::V_NOT_B32, [](expr a, expr, expr) { return !a; }},
      {Opcode::V_AND_B32, [](expr a, expr b, expr) { return a && b; }},
      {Opcode::V_OR_B32, [](expr a, expr b, expr) { return a || b; }},
      {Opcode::V_XOR_B32, [](expr a, expr b, expr) { return a != b; }},
      {Opcode::V_XNOR_B32, [](expr a, expr b, expr) { return a == b; }},
      {Opcode::V_OR3_B32, [](expr a, expr b, expr d) { return a || b || d; }},
      {Opcode::V_XOR3_B32, [](expr a, expr b, expr d) { return (a != b) != d; }},
      {Opcode::V_AND_OR_B32, [](expr a, expr b, expr d) { return (a && b) || d; }},
      {Opcode::V_BFI_B32, [](expr a, expr b, expr d) { return z3::ite(a, b, d); }},
  };
  for (const auto& [op, table] : rows) {
    Check(op, {x, y, z}, FromBits(32, [&](unsigned i) { return table(Bit(x, i), Bit(y, i), Bit(z, i)); }));
  }
  for (const auto& [op, table] : {std::pair<Opcode, Table>{Opcode::V_AND_B16, rows[1].second},
                                  {Opcode::V_OR_B16, rows[2].second},
                                  {Opcode::V_XOR_B16, rows[3].second},
                                  {Opcode::V_NOT_B16, rows[0].second}}) {
    Check(op, {x, y, z},
          Word16(FromBits(16, [&](unsigned i) { return table(Bit(x, i), Bit(y, i), Bit(z, i)); })));
  }
}

TEST_F(Formulas, BitFieldsTakeTheirBitsFromTheOffsetOn) {
  const expr offset = Low(y, 5), width = Low(z, 5);
  Check(Opcode::V_BFE_U32, {x, y, z}, FromBits(32, [&](unsigned i) {
          return z3::ult(V(i), width) && BitAt(x, offset + V(i)) && z3::ult(offset + V(i), V(32));
        }));
  // Past the field the sign repeats: the field's last bit, or past the word the word's own sign.
  const auto last = z3::ite(z3::ult(offset + width - V(1), V(32)), offset + width - V(1), V(31));
  Check(Opcode::V_BFE_I32, {x, y, z}, FromBits(32, [&](unsigned i) {
          const expr at = z3::ite(z3::ult(V(i), width), offset + V(i), last);
          return width != V(0) && BitAt(x, z3::ite(z3::ult(at, V(32)), at, V(31)));
        }));
  Check(Opcode::V_BFM_B32, {x, y}, FromBits(32, [&](unsigned i) {
          return z3::uge(V(i), Low(y, 5)) && z3::ult(V(i), Low(x, 5) + Low(y, 5));
        }));
  Check(Opcode::V_BFREV_B32, {x}, FromBits(32, [&](unsigned i) { return Bit(x, 31 - i); }));
}

TEST_F(Formulas, ShiftsTakeTheAmountModuloTheWidth) {
  const auto shifted = [&](const expr& value, const expr& amount, unsigned width, bool left, bool sign) {
    return FromBits(width, [&](unsigned i) {
      const expr index = V(i, value.get_sort().bv_size());
      if (left) return z3::uge(index, amount) && BitAt(value, index - amount);
      const expr at = index + amount, end = V(width, value.get_sort().bv_size());
      return z3::ite(z3::ult(at, end), BitAt(value, at), sign ? Bit(value, width - 1) : c.bool_val(false));
    });
  };
  Check(Opcode::V_LSHLREV_B32, {x, y}, shifted(y, Low(x, 5), 32, true, false));
  Check(Opcode::V_LSHRREV_B32, {x, y}, shifted(y, Low(x, 5), 32, false, false));
  Check(Opcode::V_ASHRREV_I32, {x, y}, shifted(y, Low(x, 5), 32, false, true));
  const expr amount64 = z3::zext(Low(x, 6), 32);
  Check(Opcode::V_LSHLREV_B64, {x, y64}, shifted(y64, amount64, 64, true, false));
  Check(Opcode::V_LSHRREV_B64, {x, y64}, shifted(y64, amount64, 64, false, false));
  Check(Opcode::V_ASHRREV_I64, {x, y64}, shifted(y64, amount64, 64, false, true));
  const expr amount16 = Low(x, 4), low16 = Low(y, 16);
  Check(Opcode::V_LSHLREV_B16, {x, y}, Word16(shifted(low16, amount16, 16, true, false)));
  Check(Opcode::V_LSHRREV_B16, {x, y}, Word16(shifted(low16, amount16, 16, false, false)));
  Check(Opcode::V_ASHRREV_I16, {x, y}, Word16(shifted(low16, amount16, 16, false, true)));
  Check(Opcode::V_LSHL_ADD_U32, {x, y, z}, shifted(x, Low(y, 5), 32, true, false) + z);
  Check(Opcode::V_ADD_LSHL_U32, {x, y, z}, shifted(x + y, Low(z, 5), 32, true, false));
  Check(Opcode::V_LSHL_OR_B32, {x, y, z}, shifted(x, Low(y, 5), 32, true, false) | z);
  Check(Opcode::V_XAD_U32, {x, y, z}, (x ^ y) + z);
  Check(Opcode::V_ADD3_U32, {x, y, z}, x + y + z);
}

TEST_F(Formulas, WideSumsShiftByAtMostSeven) {
  const expr z64 = c.bv_const("S2_64", 64);
  Check(Opcode::V_LSHL_ADD_U64, {x64, y, z64}, z3::shl(x64, z3::zext(Low(y, 3), 32)) + z64);
}

TEST_F(Formulas, TruthTablesAreLookedUpBitByBit) {
  const expr table = c.bv_const("truth_table", 32);
  const auto look = [&](unsigned i) {
    const auto bit = [&](const expr& e) { return z3::zext(e.extract(i, i), 31); };
    return BitAt(table, bit(x) * V(4) + bit(y) * V(2) + bit(z));
  };
  Check(Opcode::V_BITOP3_B32, {x, y, z}, FromBits(32, look));
  Check(Opcode::V_BITOP3_B16, {x, y, z}, Word16(FromBits(16, look)));
}

TEST_F(Formulas, ShiftedPacksSaturateEachByte) {
  const auto clamp = [&](const expr& e, int64_t lo, int64_t hi) {
    const expr shifted = z3::ashr(e, Low(z, 5)), low = c.bv_val(lo, 32), high = c.bv_val(hi, 32);
    return z3::ite(shifted < low, low, z3::ite(shifted > high, high, shifted)).extract(7, 0);
  };
  Check(Opcode::V_ASHR_PK_I8_I32, {x, y, z}, Word16(z3::concat(clamp(y, -128, 127), clamp(x, -128, 127))));
  Check(Opcode::V_ASHR_PK_U8_I32, {x, y, z}, Word16(z3::concat(clamp(y, 0, 255), clamp(x, 0, 255))));
}

TEST_F(Formulas, PackedShiftsActOnEachHalf) {
  const auto both = [&](const std::function<expr(expr, expr)>& f) {
    return z3::concat(f(Half(x, 1), Half(y, 1)), f(Half(x, 0), Half(y, 0)));
  };
  const auto amount = [&](const expr& e) { return z3::zext(e.extract(3, 0), 12); };
  Check(Opcode::V_PK_LSHLREV_B16, {x, y}, both([&](expr n, expr v) { return z3::shl(v, amount(n)); }));
  Check(Opcode::V_PK_LSHRREV_B16, {x, y}, both([&](expr n, expr v) { return z3::lshr(v, amount(n)); }));
  Check(Opcode::V_PK_ASHRREV_I16, {x, y}, both([&](expr n, expr v) { return z3::ashr(v, amount(n)); }));
}

TEST_F(Formulas, AlignmentsTakeAWindowOfThePair) {
  const expr pair = z3::concat(x, y);
  Check(Opcode::V_ALIGNBIT_B32, {x, y, z},
        FromBits(32, [&](unsigned i) { return BitAt(pair, z3::zext(Low(z, 5), 32) + V(i, 64)); }));
  Check(Opcode::V_ALIGNBYTE_B32, {x, y, z},
        FromBits(32, [&](unsigned i) { return BitAt(pair, z3::zext(Low(z, 2), 32) * V(8, 64) + V(i, 64)); }));
}

TEST_F(Formulas, PermutationSelectsBytes) {
  // Bytes 0-3 are S1's, 4-7 S0's; selectors 8-11 repeat the sign of bytes 1, 3, 5, 7; 12 is 00, above that
  // FF.
  const auto byte = [&](unsigned i) { return (i < 4 ? y : x).extract(8 * (i % 4) + 7, 8 * (i % 4)); };
  const auto pick = [&](const expr& selector) {
    expr out = V(0xff, 8);
    for (unsigned i = 0; i < 8; ++i) out = z3::ite(selector == V(i, 8), byte(i), out);
    for (unsigned i = 8; i < 12; ++i) {
      const expr sign = byte(2 * (i - 8) + 1).extract(7, 7) == V(1, 1);
      out = z3::ite(selector == V(i, 8), z3::ite(sign, V(0xff, 8), V(0, 8)), out);
    }
    return z3::ite(selector == V(12, 8), V(0, 8), out);
  };
  expr result = pick(z.extract(7, 0));
  for (unsigned i = 1; i < 4; ++i) result = z3::concat(pick(z.extract(8 * i + 7, 8 * i)), result);
  Check(Opcode::V_PERM_B32, {x, y, z}, result);
  Check(Opcode::V_PACK_B32_F16, {x, y}, z3::concat(Half(y, 0), Half(x, 0)));
}

TEST_F(Formulas, CountsCount) {
  expr ones = V(0);
  for (unsigned i = 0; i < 32; ++i) ones = ones + z3::ite(Bit(x, i), V(1), V(0));
  Check(Opcode::V_BCNT_U32_B32, {x, y}, ones + y);
  // Leading: the position of the highest one from the top; trailing: of the lowest; -1 without one.
  expr leading = V(~0u), trailing = V(~0u);
  for (unsigned i = 0; i < 32; ++i) leading = z3::ite(Bit(x, i), V(31 - i), leading);
  for (unsigned i = 32; i-- > 0;) trailing = z3::ite(Bit(x, i), V(i), trailing);
  Check(Opcode::V_CLZ_I32_U32, {x}, leading);
  Check(Opcode::V_CTZ_I32_B32, {x}, trailing);
  // Sign bits: the distance from the top of the highest bit that differs from the sign.
  expr sign = V(~0u);
  for (unsigned i = 0; i < 31; ++i) sign = z3::ite(Bit(x, i) != Bit(x, 31), V(31 - i), sign);
  Check(Opcode::V_CLS_I32, {x}, sign);
}

TEST_F(Formulas, SumsOfAbsoluteDifferencesAreSumsOfAbsoluteDifferences) {
  const auto byte = [&](const expr& e, unsigned i) { return z3::zext(e.extract(8 * i + 7, 8 * i), 24); };
  const auto distance = [&](const expr& a, const expr& b) { return z3::ite(z3::uge(a, b), a - b, b - a); };
  expr sad = V(0), msad = V(0);
  for (unsigned i = 0; i < 4; ++i) {
    const expr d = distance(byte(x, i), byte(y, i));
    sad = sad + d;
    msad = msad + z3::ite(byte(y, i) == V(0), V(0), d);
  }
  Check(Opcode::V_SAD_U8, {x, y, z}, sad + z);
  Check(Opcode::V_SAD_HI_U8, {x, y, z}, z3::shl(sad, V(16)) + z);
  Check(Opcode::V_MSAD_U8, {x, y, z}, msad + z);
  Check(Opcode::V_SAD_U32, {x, y, z}, distance(x, y) + z);
  Check(Opcode::V_SAD_U16, {x, y, z},
        distance(Word16(Half(x, 0)), Word16(Half(y, 0))) + distance(Word16(Half(x, 1)), Word16(Half(y, 1))) +
            z);
  expr lerp = V(0);
  for (unsigned i = 0; i < 4; ++i) {
    lerp = lerp | z3::shl(z3::lshr(byte(x, i) + byte(y, i) + (byte(z, i) & V(1)), V(1)), V(8 * i));
  }
  Check(Opcode::V_LERP_U8, {x, y, z}, lerp);
}

TEST_F(Formulas, MediansAndExtremesOrderTheirSources) {
  const auto slt = [](const expr& a, const expr& b) { return a < b; };
  const auto ult = [](const expr& a, const expr& b) { return z3::ult(a, b); };
  const auto sort3 = [&](auto less, int which) {
    // The smallest, middle or largest by counting those below.
    const auto lesser = [&](const expr& a, const expr& b) { return z3::ite(less(b, a), b, a); };
    const auto greater = [&](const expr& a, const expr& b) { return z3::ite(less(a, b), b, a); };
    const expr lo = lesser(lesser(x, y), z), hi = greater(greater(x, y), z);
    return which == 0 ? lo : which == 2 ? hi : (x ^ y ^ z ^ lo ^ hi);
  };
  Check(Opcode::V_MIN3_I32, {x, y, z}, sort3(slt, 0));
  Check(Opcode::V_MED3_I32, {x, y, z}, sort3(slt, 1));
  Check(Opcode::V_MAX3_I32, {x, y, z}, sort3(slt, 2));
  Check(Opcode::V_MIN3_U32, {x, y, z}, sort3(ult, 0));
  Check(Opcode::V_MED3_U32, {x, y, z}, sort3(ult, 1));
  Check(Opcode::V_MAX3_U32, {x, y, z}, sort3(ult, 2));
}

TEST_F(Formulas, ScalarBitFieldsSetScc) {
  const ScalarState state{c.bool_const("SCC"), c.bv_const("EXEC", 64), c.bv_const("old", 64),
                          c.bv_const("simm", 32)};
  const auto check = [&](Opcode op, const std::vector<expr>& sources, const expr& formula) {
    auto result = ScalarTerms(op, sources, state);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(Refutation(*result->value == formula), "") << OpcodeName(op);
    EXPECT_EQ(Refutation(*result->scc == (formula != V(0, formula.get_sort().bv_size()))), "")
        << OpcodeName(op);
  };
  const expr offset = Low(y, 5), width = z3::lshr(y, V(16)) & V(0x7f);
  // A width past the word's end takes what there is.
  check(Opcode::S_BFE_U32, {x, y}, FromBits(32, [&](unsigned i) {
          return z3::ult(V(i), width) && z3::ult(offset + V(i), V(32)) && BitAt(x, offset + V(i));
        }));
  check(Opcode::S_AND_B64, {x64, y64}, x64 & y64);
  check(Opcode::S_XNOR_B32, {x, y}, ~(x ^ y));
  check(Opcode::S_LSHL_B32, {x, y}, z3::shl(x, Low(y, 5)));
  check(Opcode::S_LSHR_B64, {x64, y}, z3::lshr(x64, z3::zext(Low(y, 6), 32)));
  check(Opcode::S_ASHR_I32, {x, y}, z3::ashr(x, Low(y, 5)));
}

// The list of the first tests is complete: no bitwise, bit-field, shift or permute row of the table lacks a
// formula.
TEST(FormulaList, IntegerRowsOfTheTableHaveASolverReading) {
  int read = 0;
  std::string missing;
#define SEMANTIC(chapter, opcode, function, state, note)                        \
  if (ReadsVector(Opcode::opcode)) {                                            \
    ++read;                                                                     \
  } else if constexpr (constexpr Signature s = SignatureOf<semantic::opcode>(); \
                       !s.uses_float && !s.reads_lane_id) {                     \
    missing += std::string(" ") + #opcode;                                      \
  }
#define SEMANTIC_FOR(chapter, generations, opcode, function, state, note)
#define SAME(opcode, other)
#define WAVE_OP(opcode, function, state, note)
#define REFUSED(opcode, reason)
#include "emu/amd/semantics/semantics.inc"
#undef SEMANTIC
#undef SEMANTIC_FOR
#undef SAME
#undef WAVE_OP
#undef REFUSED
  EXPECT_EQ(missing, "");
  EXPECT_GT(read, 150);
}

}  // namespace
}  // namespace understudy::emu::amd::solver
