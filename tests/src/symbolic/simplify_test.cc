// SPDX-License-Identifier: Apache-2.0
// What Simplify reaches on the forms that index arithmetic has, and the witnesses of rewrites that other
// systems got wrong: each is evaluated before and after, as a class (all signs, both roundings, several
// widths).
#include "src/symbolic/simplify.h"

#include <gtest/gtest.h>

#include <functional>

#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/print.h"

namespace understudy::symbolic {
namespace {

using namespace uop::expr;
using uop::IndexConst;
using uop::Infix;
using uop::Range;
using uop::Var;

std::string S(const UOpRef& e) { return Infix(Simplify(e)); }

const UOpRef r0 = Range(4, 0), r1 = Range(8, 1), r2 = Range(3, 2), x = Var("x", -50, 50),
             n = Var("n", 0, 1000);

TEST(Simplify, SumsHaveOneForm) {
  EXPECT_EQ(Simplify(r1 + r0 + 3 + r0), Simplify(r0 * 2 + (3 + r1)));
  EXPECT_EQ(S((n + 1) * 4 + n * -4), "4");
  EXPECT_EQ(S(n - n), "0");
  EXPECT_EQ(S(-(-n)), "n");
  EXPECT_EQ(S((r0 + r1) * 2 - r1 * 2), "(r0 * 2)");
}

TEST(Simplify, DivisionAndRemainderOfSums) {
  EXPECT_EQ(S((r1 * 4 + r0) / 4), "r1");
  EXPECT_EQ(S((r1 * 4 + r0) % 4), "r0");
  EXPECT_EQ(S((r1 * 12 + r0 * 3 + r2) / 3 % 4), "r0");
  EXPECT_EQ(S((r1 * 12 + r0 * 3 + r2) / 12), "r1");
  EXPECT_EQ(S((n * 6) / 3), "(n * 2)");
  EXPECT_EQ(S((n * 3) / 6), "(n // 2)");
  EXPECT_EQ(S((n * 4 + r0) / 8), "(n // 2)");
  EXPECT_EQ(S((n * 4 + r0) % 8), "(r0 + ((n % 2) * 4))");
  EXPECT_EQ(S(n / 4 / 3), "(n // 12)");
  EXPECT_EQ(S(n % 12 % 4), "(n % 4)");
  EXPECT_EQ(S(n % 12 / 4), "((n // 4) % 3)");
  EXPECT_EQ(S((n / 4) * 4 + n % 4), "n");
  EXPECT_EQ(S((n / 4 % 3) * 4 + n % 4), "(n % 12)");
  EXPECT_EQ(S((n + 8) / 4), "((n // 4) + 2)");
  EXPECT_EQ(S((n - 4) % 4), "(n % 4)");
  EXPECT_EQ(S(r0 / 4), "0");
  EXPECT_EQ(S(r0 % 4), "r0");
  EXPECT_EQ(S(uop::IDiv(r1 * 4 + r0, IndexConst(4))), "r1");
  EXPECT_EQ(S(uop::IMod(r1 * 4 + r0, IndexConst(4))), "r0");
}

TEST(Simplify, ComparisonsByBoundsAndFactors) {
  EXPECT_EQ(S(r0 < 4), "true:bool");
  EXPECT_EQ(S(uop::CmpLt(r0 + 3, r0 + 5)), "true:bool");
  EXPECT_EQ(S(uop::CmpLt(IndexConst(3), r0)), "false:bool");
  EXPECT_EQ(S(r1 * 4 + r0 < 16), "(r1 < 4)");
  EXPECT_EQ(S(n * 3 < 10), "(n < 4)");
  EXPECT_EQ(S(n / 4 < 3), "(n < 12)");
  EXPECT_EQ(S(uop::CmpEq(n * 2, IndexConst(7))), "false:bool");
  EXPECT_EQ(S(uop::CmpEq(n * 2 + 1, IndexConst(7))), "(n == 3)");
  EXPECT_EQ(S(!(n < 7)), "(6 < n)");
}

TEST(Simplify, SelectionAndBooleans) {
  const UOpRef c = n < 7;
  EXPECT_EQ(S(uop::Where(c, uop::BoolConst(true), uop::BoolConst(false))), "(n < 7)");
  EXPECT_EQ(S(uop::Where(!uop::CmpLt(n, x), r0, r1)), Infix(uop::Where(uop::CmpLt(n, x), r1, r0)));
  EXPECT_EQ(S((c) & (n < 5)), "(n < 5)");
  EXPECT_EQ(S((c) | !(c)), "true:bool");
  EXPECT_EQ(S((n < 3) & uop::CmpLt(IndexConst(5), n)), "false:bool");
  EXPECT_EQ(S(uop::Max(r0, IndexConst(3))), "3");
  EXPECT_EQ(S(uop::Where(uop::CmpLt(n, x), n, x)), Infix(Simplify(uop::Min(n, x))));
}

TEST(Simplify, FloatsKeepTheirBits) {
  const UOpRef f = uop::Cast(Var("i", -3, 3, dtypes::kInt32), dtypes::kFloat32);
  EXPECT_EQ(Simplify(f * 1.0), f);
  EXPECT_EQ(Simplify(f + -0.0), f);
  EXPECT_EQ(Simplify(f + 0.0)->op(), Op::kAdd);  // -0.0 + 0.0 is 0.0
  EXPECT_EQ(Simplify(f * 0.0)->op(), Op::kMul);
  EXPECT_EQ(Simplify(f - f)->op(), Op::kAdd);  // inf - inf
  EXPECT_EQ(Simplify(f / 2.0), f * 0.5);
  EXPECT_EQ(Simplify(f / 3.0)->op(), Op::kFDiv);
  EXPECT_EQ(Simplify(uop::CmpEq(f, f))->op(), Op::kCmpEq);  // NaN
  EXPECT_EQ(Simplify(!(f < 2.0))->op(), Op::kXor);
}

TEST(Simplify, CastsThatKeepEveryValueGo) {
  const UOpRef b = uop::Load(uop::IndexOf(uop::Param(dtypes::kUInt8, 0), IndexConst(0)));
  using uop::Cast;
  EXPECT_EQ(Simplify(Cast(Cast(b, dtypes::kInt32), dtypes::kUInt8)), b);
  EXPECT_EQ(Simplify(Cast(Cast(b, dtypes::kInt32), dtypes::kInt64)), Cast(b, dtypes::kInt64));
  EXPECT_EQ(Simplify(Cast(Cast(b, dtypes::kInt8), dtypes::kInt32))->src(0)->op(), Op::kCast);  // 200 -> -56
  EXPECT_EQ(Simplify(Cast(Cast(b, dtypes::kFloat32), dtypes::kFloat64)), Cast(b, dtypes::kFloat64));
  EXPECT_EQ(Simplify(Cast(Cast(b, dtypes::kFloat32), dtypes::kInt8))->src(0)->op(), Op::kCast);  // saturates
  EXPECT_EQ(Simplify(Cast(Cast(n, dtypes::kInt32), dtypes::kIndex)), n);  // fits by its bounds
}

// One value of the expression before and after: x takes every value of [-70, 70] that the type has.
void ExpectSame(DType t, const std::function<UOpRef(const UOpRef&)>& build) {
  const int64_t lo = t.IsSigned() ? -70 : 0;
  const UOpRef v = Var("v", lo, 70, t), e = build(v), s = Simplify(e);
  for (int64_t i = lo; i <= 70; ++i) {
    ASSERT_EQ(Evaluate(e, {{v, i}}), Evaluate(s, {{v, i}}))
        << Infix(e) << " became " << Infix(s) << " at " << i;
  }
}

TEST(Witness, DivisionAndRemainderForEverySignAndRounding) {
  EXPECT_EQ(Evaluate(uop::FloorDiv(uop::FloorDiv(x, IndexConst(2)), IndexConst(-3)), {{x, int64_t{1}}}), 0);
  EXPECT_EQ(Evaluate(uop::IMod(x, IndexConst(-3)), {{x, int64_t{5}}}), 2);
  EXPECT_EQ(Evaluate(uop::IDiv(x, IndexConst(2)), {{x, int64_t{-5}}}), -2);
  EXPECT_EQ(Evaluate(uop::IDiv(x, IndexConst(4)), {{x, int64_t{-1}}}), 0);
  for (const DType t : {dtypes::kIndex, dtypes::kInt8, dtypes::kInt32, dtypes::kUInt8, dtypes::kUInt32}) {
    for (const int64_t c : {-64, -5, -3, -2, -1, 0, 1, 2, 3, 4, 7, 64}) {
      for (const int64_t d : {-3, -1, 1, 2, 3, 64}) {
        const auto k = [&](int64_t v) { return uop::Const(t, v); };
        for (const Op div : {Op::kFloorDiv, Op::kIDiv}) {
          const Op mod = div == Op::kIDiv ? Op::kIMod : Op::kFloorMod;
          ExpectSame(t, [&](const UOpRef& v) { return uop::Binary(div, uop::Binary(div, v, k(c)), k(d)); });
          ExpectSame(t, [&](const UOpRef& v) { return uop::Binary(mod, uop::Binary(mod, v, k(c)), k(d)); });
          ExpectSame(t, [&](const UOpRef& v) { return uop::Binary(div, uop::Mul(v, k(c)), k(d)); });
          ExpectSame(t, [&](const UOpRef& v) { return uop::Mul(uop::Binary(div, v, k(c)), k(c)); });
          ExpectSame(
              t, [&](const UOpRef& v) { return uop::Binary(mod, uop::Add(uop::Mul(v, k(c)), k(d)), k(4)); });
          ExpectSame(t, [&](const UOpRef& v) { return uop::Binary(mod, uop::Mul(v, k(c)), k(d)); });
          ExpectSame(t, [&](const UOpRef& v) { return uop::Binary(div, uop::Binary(mod, v, k(c)), k(d)); });
        }
      }
    }
  }
}

TEST(Witness, DivisionThenMultiplicationIsNotTheIdentity) {
  const UOpRef v = Var("v", 0, 100);
  EXPECT_EQ(Evaluate(Simplify(v / 64 * 64), {{v, int64_t{65}}}), 64);
  EXPECT_EQ(S(IndexConst(65) / 64 * 64), "64");
}

TEST(Witness, FoldingWrapsAtTheTypesWidth) {
  EXPECT_EQ(S(uop::Const(dtypes::kUInt32, 0xABCD17D6) * uop::Const(dtypes::kUInt32, 0xAABBCCDD)),
            "1147018174:u32");
  EXPECT_EQ(S(-uop::Const(dtypes::kInt8, -128)), "-128:i8");
}

TEST(Witness, AModulusOfASumThatWrapsStays) {
  const UOpRef v = Var("v", INT32_MIN, INT32_MAX, dtypes::kInt32);
  const UOpRef e = uop::IMod(v * 1909062 + 79521, uop::Const(dtypes::kInt32, 1956788550));
  EXPECT_EQ(Evaluate(e, {{v, int64_t{201523190}}}), -1431311899);
  EXPECT_EQ(Evaluate(Simplify(e), {{v, int64_t{201523190}}}), -1431311899);
}

TEST(Simplify, TensorLevelGraphsKeepTheirShapes) {
  const UOpRef b = uop::NewBuffer(dtypes::kInt32, 6, "CPU");
  const UOpRef zero = uop::Expand(uop::Reshape(uop::Const(dtypes::kInt32, 0), {1}), {6});
  const UOpRef e = uop::Add(uop::Mul(uop::Xor(b, b), zero), uop::Neg(uop::Neg(b)));
  EXPECT_EQ(Simplify(e)->shape(), e->shape());
}

TEST(Simplify, SharedAndRepeatedSumsDoNotGrow) {
  UOpRef e = r0;
  for (int i = 0; i < 40; ++i) e = (e + r1) * 3 + e;
  EXPECT_LE(uop::CountNodes(Simplify(e)), uop::CountNodes(e));
  UOpRef wide = IndexConst(0);
  for (int i = 0; i < 500; ++i) wide = wide + Var("v" + std::to_string(i * 7919 % 500), 0, 9) * (i % 5 + 1);
  EXPECT_LE(uop::CountNodes(Simplify(wide)), uop::CountNodes(wide) + 10);
}

}  // namespace
}  // namespace understudy::symbolic
