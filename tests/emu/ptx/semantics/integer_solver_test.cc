// SPDX-License-Identifier: Apache-2.0
// The integer semantics read by a second builder: solver terms. Each kernel's semantics give the same bits
// through terms as through the interpreter's builder, and identities between instructions hold for every
// input.
#include <gtest/gtest.h>
#include <z3++.h>

#include <algorithm>
#include <string>
#include <type_traits>

#include "emu/lanes/term_int.h"
#include "emu/ptx/semantics/integer_bit_semantics.h"
#include "emu/ptx/semantics/integer_lanes.h"
#include "emu/ptx/semantics/integer_semantics.h"
#include "emu/ptx/semantics/video_semantics.h"

namespace understudy::emu::ptx::solver_test {

using emu::solver::Term;
using emu::solver::TermBool;

struct TermLane : emu::solver::TermInt {
  using TermInt::TermInt;
  template <int N>
  Term<N> UDiv(Term<N> a, Term<N> b) const {
    return {z3::udiv(a.e, b.e)};
  }
  template <int N>
  Term<N> URem(Term<N> a, Term<N> b) const {
    return {z3::urem(a.e, b.e)};
  }
};

// Numbers with many corners among them.
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed * 2 + 1) {}
  uint64_t Word() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 32 | state_ << 32;
  }
  uint64_t Number() {
    const uint64_t word = Word();
    switch (Word() >> 7 & 7) {
      case 0:
        return word & 1;
      case 1:
        return word & 63;
      case 2:
        return uint64_t{1} << (word & 63);
      case 3:
        return ~(word & 3);
      case 4:
        return (uint64_t{0x8000000080008080} >> (word & 31)) - (word >> 40 & 1);
      default:
        return word;
    }
  }

 private:
  uint64_t state_;
};

template <class Plan>
Plan DrawPlan(Draws& draws) {
  const auto bit = [&] { return (draws.Word() >> 9 & 1) != 0; };
  const auto below = [&](uint64_t n) { return static_cast<uint8_t>((draws.Word() >> 9) % n); };
  Plan plan;
  if constexpr (std::is_same_v<Plan, Lop3Plan>) {
    plan.table = below(256);
  } else if constexpr (std::is_same_v<Plan, ConvertPlan32>) {
    plan = {static_cast<uint8_t>(8 << below(3)), static_cast<uint8_t>(8 << below(3))};
  } else if constexpr (std::is_same_v<Plan, ConvertPackPlan>) {
    plan = {uint32_t{2} << below(4), below(2), below(2)};
  } else {
    plan.a_signed = bit();
    plan.b_signed = bit();
    if constexpr (std::is_same_v<Plan, VideoSimdPlan>) {
      plan.a = static_cast<uint16_t>(draws.Word() & 0x3333);
      plan.b = static_cast<uint16_t>(draws.Word() & 0x3333);
      plan.mask = below(16);
      plan.d_signed = bit();
      plan.accumulate = bit();
      plan.saturate = !plan.accumulate && bit();
      plan.compare = static_cast<VideoCompare>(below(6));
    } else {
      const VideoPart parts[] = {{0, 8}, {8, 8}, {16, 8}, {24, 8}, {0, 16}, {16, 16}, {0, 32}};
      plan.a = parts[below(7)];
      plan.b = parts[below(7)];
      plan.saturate = bit();
      if constexpr (std::is_same_v<Plan, VideoPlan>) {
        plan.second = static_cast<VideoSecond>(below(5));
        if (plan.second == VideoSecond::kMerge) plan.d = parts[below(6)];
        plan.d_signed = bit();
        plan.wrap = bit();
        plan.compare = static_cast<VideoCompare>(below(6));
      } else {
        plan.negate_product = bit();
        plan.negate_c = !plan.negate_product && bit();
        plan.plus_one = !plan.negate_product && !plan.negate_c && bit();
        plan.scale = below(2) != 0 ? 7 : below(2) != 0 ? 15 : 0;
      }
    }
  }
  return plan;
}

template <int kBits>
auto LaneValue(uint64_t v) {
  if constexpr (kBits == kPred) {
    return (v & 1) != 0;
  } else {
    return static_cast<typename LaneSource<kBits>::Value>(v);
  }
}
template <int kBits>
auto TermValue(z3::context& c, uint64_t v) {
  if constexpr (kBits == kPred) {
    return TermBool{c.bool_val((v & 1) != 0)};
  } else {
    return Term<kBits>{c.bv_val(v & kAllOnes<kBits>, kBits)};
  }
}
uint64_t Number(const z3::expr& e) {
  const z3::expr value = e.simplify();
  if (value.is_bool()) return value.is_true() ? 1 : 0;
  return value.get_numeral_uint64();
}

struct Row {
  const char* name = "";
  int checked = 0;
};

constexpr int kDraws = 10;

// In place of the interpreter's loops of the same names: one row of integer_kernels.inc, checked.
template <class Semantic, class Check, int... kSources>
void CheckDraws(Row* row, std::integer_sequence<int, kSources...>, Check check) {
  Draws draws(std::hash<std::string>()(row->name));
  const IntegerLane lane;
  z3::context c;
  const TermLane terms(c);
  for (int i = 0; i < kDraws; ++i) {
    uint64_t number[sizeof...(kSources)];
    for (uint64_t& n : number) n = draws.Number();
    // Equal operands are a corner of their own.
    if (i % 5 == 4) std::fill(std::begin(number), std::end(number), number[0]);
    const auto run = [&]<size_t... k>(std::index_sequence<k...>) {
      if constexpr (HasPlan<Semantic>) {
        const auto plan = DrawPlan<typename Semantic::Plan>(draws);
        check(Semantic::Run(lane, plan, LaneValue<kSources>(number[k])...),
              Semantic::Run(terms, plan, TermValue<kSources>(c, number[k])...));
      } else {
        check(Semantic::Run(lane, LaneValue<kSources>(number[k])...),
              Semantic::Run(terms, TermValue<kSources>(c, number[k])...));
      }
    };
    run(std::make_index_sequence<sizeof...(kSources)>());
    ++row->checked;
  }
}

template <class Semantic, int kResult, int... kSources>
void RunValue(Row* row) {
  CheckDraws<Semantic>(row, std::integer_sequence<int, kSources...>(), [&](auto value, auto term) {
    EXPECT_EQ(term.e.get_sort().bv_size(), static_cast<unsigned>(kResult)) << row->name;
    EXPECT_EQ(Number(term.e), value) << row->name;
  });
}
template <class Semantic, int kBits>
void RunCompare(Row* row) {
  CheckDraws<Semantic>(row, std::integer_sequence<int, kBits, kBits>(),
                       [&](bool holds, TermBool term) { EXPECT_EQ(Number(term.e), holds) << row->name; });
}
template <class Semantic, int kBits, int kSources>
void RunCarry(Row* row) {
  const auto check = [&](auto out, auto term) {
    EXPECT_EQ(Number(term.value.e), out.value) << row->name;
    EXPECT_EQ(Number(term.flag.e), out.flag) << row->name;
  };
  if constexpr (kSources == 2) {
    CheckDraws<Semantic>(row, std::integer_sequence<int, kBits, kBits, kPred>(), check);
  } else {
    CheckDraws<Semantic>(row, std::integer_sequence<int, kBits, kBits, kBits, kPred>(), check);
  }
}
template <class Semantic, BoolOp kOp>
void RunWithPredicate(Row* row) {
  RunValue<Semantic, 32, 32, 32, 32>(row);
}

TEST(IntegerSolver, TermsAndLanesAgreeOnEveryKernel) {
  int rows = 0;
#define KERNEL(chapter, name, ...)           \
  {                                          \
    Row row{#name};                          \
    __VA_ARGS__(&row);                       \
    EXPECT_EQ(row.checked, kDraws) << #name; \
    ++rows;                                  \
  }
#include "emu/ptx/semantics/integer_kernels.inc"
#undef KERNEL
  EXPECT_EQ(rows, static_cast<int>(IntegerKernel::kCount));
  EXPECT_GT(rows, 200);
}

class Identity : public testing::Test {
 protected:
  template <int N>
  Term<N> Free(const char* name) {
    return {c.bv_const(name, N)};
  }
  // Holds for every input, or a counterexample.
  std::string Refutation(const z3::expr& claim) {
    z3::solver s(c);
    s.set("timeout", 20'000u);
    s.add(!claim);
    switch (s.check()) {
      case z3::unsat:
        return "";
      case z3::sat: {
        std::string text;
        const z3::model model = s.get_model();
        for (unsigned i = 0; i < model.size(); ++i)
          text += model[i].name().str() + " = " + model.get_const_interp(model[i]).to_string() + " ";
        return text;
      }
      default:
        return "unknown";
    }
  }
  z3::context c;
  TermLane b{c};
  Term<32> x = Free<32>("x"), y = Free<32>("y"), z = Free<32>("z"), n = Free<32>("n");
};

TEST_F(Identity, LogicTables) {
  EXPECT_EQ(Refutation(Lop3Semantic::Run(b, {0xca}, x, y, z).e == ((x.e & y.e) | (~x.e & z.e))), "");
  EXPECT_EQ(Refutation(Lop3Semantic::Run(b, {0x96}, x, y, z).e == (x.e ^ y.e ^ z.e)), "");
  EXPECT_EQ(Refutation(Lop3Semantic::Run(b, {0xe8}, x, y, z).e == ((x.e & y.e) | (y.e & z.e) | (x.e & z.e))),
            "");
  // A wrong table is told.
  EXPECT_NE(Refutation(Lop3Semantic::Run(b, {0xcb}, x, y, z).e == ((x.e & y.e) | (~x.e & z.e))), "");
}

TEST_F(Identity, ShiftsAndFields) {
  // A funnel shift of a number with itself rotates.
  EXPECT_EQ(Refutation((ShfSemantic<false, false>::Run(b, x, x, n).e) ==
                       z3::expr(c, Z3_mk_ext_rotate_left(c, x.e, n.e & 31))),
            "");
  // szext is bfe from bit 0, below a length of 256.
  EXPECT_EQ(Refutation(z3::implies(z3::ult(n.e, 256), (SzextSemantic<true, false>::Run(b, x, n).e) ==
                                                          (BfeSemantic<32, true>::Run(b, x, b.C32(0), n).e))),
            "");
  // bmsk is bfi of ones into nothing.
  EXPECT_EQ(Refutation(z3::implies(z3::ult(n.e, 256) && z3::ult(y.e, 256),
                                   BmskSemantic<false>::Run(b, y, n).e ==
                                       BfiSemantic<32>::Run(b, b.C32(~0u), b.C32(0), y, n).e)),
            "");
  // What bfi has put into a field, bfe takes out of it.
  EXPECT_EQ(
      Refutation(z3::implies(z3::ult(n.e, 33) && z3::ult(y.e, 33) && z3::ule(n.e + y.e, 32),
                             (BfeSemantic<32, false>::Run(b, BfiSemantic<32>::Run(b, x, z, y, n), y, n).e) ==
                                 (SzextSemantic<false, false>::Run(b, x, n).e))),
      "");
}

TEST_F(Identity, BytesAndHalves) {
  EXPECT_EQ(Refutation(PrmtSemantic<Permute::kByNibble>::Run(b, x, y, b.C32(0x3210)).e == x.e), "");
  EXPECT_EQ(Refutation(PrmtSemantic<Permute::kByNibble>::Run(b, x, y, b.C32(0x5410)).e ==
                       z3::concat(y.e.extract(15, 0), x.e.extract(15, 0))),
            "");
  VideoSimdPlan plain;
  plain.a = 0x10;
  plain.b = 0x32;
  EXPECT_EQ(Refutation((VideoSimdSemantic<VideoOp::kAdd, 2>::Run(b, plain, x, y, z).e) ==
                       AddHalvesSemantic::Run(b, x, y).e),
            "");
  // vabsdiff4.u32.u32.u32.add against a zero is the sum of the bytes.
  VideoSimdPlan sum;
  sum.accumulate = true;
  EXPECT_EQ(Refutation((VideoSimdSemantic<VideoOp::kAbsdiff, 4>::Run(b, sum, x, b.C32(0), z).e) ==
                       (Dp4aSemantic<false, false>::Run(b, x, b.C32(0x01010101u), z).e)),
            "");
}

TEST_F(Identity, SaturationAndDivision) {
  const auto wide = z3::sext(x.e, 2) + z3::sext(y.e, 2);
  const auto limit = [&](int64_t v) { return c.bv_val(v, 34); };
  const auto clamped = z3::ite(wide > limit(INT32_MAX), limit(INT32_MAX),
                               z3::ite(wide < limit(INT32_MIN), limit(INT32_MIN), wide));
  EXPECT_EQ(Refutation(AddSatSemantic::Run(b, x, y).e == clamped.extract(31, 0)), "");
  // Division by a number is the solver's own; by zero it is the rule of division.
  const Term<16> p = Free<16>("p");
  for (int divisor : {-1, 7, -10, 1}) {
    const Term<16> q = b.C16(static_cast<uint16_t>(divisor));
    EXPECT_EQ(Refutation((DivideSemantic<16, true, false>::Run(b, p, q).e) == p.e / q.e), "") << divisor;
    EXPECT_EQ(Refutation((DivideSemantic<16, true, true>::Run(b, p, q).e) == z3::srem(p.e, q.e)), "")
        << divisor;
  }
  const Term<16> zero = b.C16(0);
  EXPECT_EQ(Refutation((DivideSemantic<16, true, false>::Run(b, p, zero).e) == c.bv_val(0xffff, 16)), "");
  EXPECT_EQ(Refutation((DivideSemantic<16, true, true>::Run(b, p, zero).e) == c.bv_val(0xffff, 16)), "");
}

}  // namespace understudy::emu::ptx::solver_test
