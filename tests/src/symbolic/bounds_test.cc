// SPDX-License-Identifier: Apache-2.0
// Bounds: exactness on known shapes, no floats, and wrap-around gives the type's range.
#include "src/symbolic/bounds.h"

#include <gtest/gtest.h>

#include "src/symbolic/simplify.h"
#include "src/uop/build.h"

namespace understudy::symbolic {
namespace {

using namespace uop::expr;
using uop::Var;

Interval Of(const UOpRef& e) { return Bounds(e); }
Interval I(int64_t lo, int64_t hi) { return {lo, hi}; }

TEST(Bounds, RangesEndOneBefore) {
  EXPECT_EQ(Of(uop::Range(7, 0)), I(0, 6));
  EXPECT_EQ(Of(uop::Range(1, 0)), I(0, 0));
  EXPECT_EQ(Of(uop::Range(0, 0)), I(0, 0));
  EXPECT_EQ(Of(uop::Range(Var("n", 1, 9), 0)), I(0, 8));
  EXPECT_EQ(Of(uop::Special(32, "l0")), I(0, 31));
}

TEST(Bounds, ProductsTakeAllCorners) {
  const UOpRef x = Var("x", -2, 5);
  EXPECT_EQ(Of(x * -3), I(-15, 6));
  EXPECT_EQ(Of(x * Var("y", -7, 4)), I(-35, 20));
  EXPECT_EQ(Of(x * x), I(-10, 25));
  EXPECT_EQ(Of(-x), I(-5, 2));
}

TEST(Bounds, DivisionInBothRoundingsAndAllSigns) {
  const UOpRef x = Var("x", -7, 5);
  EXPECT_EQ(Of(uop::FloorDiv(x, uop::IndexConst(2))), I(-4, 2));
  EXPECT_EQ(Of(uop::IDiv(x, uop::IndexConst(2))), I(-3, 2));
  EXPECT_EQ(Of(uop::FloorDiv(x, uop::IndexConst(-2))), I(-3, 3));
  EXPECT_EQ(Of(uop::FloorMod(x, uop::IndexConst(4))), I(0, 3));
  EXPECT_EQ(Of(uop::FloorMod(x, uop::IndexConst(-4))), I(-3, 0));
  EXPECT_EQ(Of(uop::IMod(x, uop::IndexConst(4))), I(-3, 3));
  EXPECT_EQ(Of(uop::IMod(x, uop::IndexConst(-4))), I(-3, 3));
  EXPECT_EQ(Of(uop::FloorMod(Var("z", 9, 10), uop::IndexConst(4))), I(1, 2));
  EXPECT_EQ(Of(uop::IDiv(x, Var("d", -1, 1))), I(-7, 7));  // x/0 = 0
  EXPECT_EQ(Of(uop::IMod(x, Var("d", 0, 3))), I(-7, 5));   // x%0 = x
}

TEST(Bounds, WrapAroundGivesTheWholeType) {
  const UOpRef b = Var("b", 0, 255, dtypes::kUInt8);
  EXPECT_EQ(Of(b + 1), I(0, 255));
  EXPECT_EQ(Of(uop::Cast(b, dtypes::kInt32) + 1), I(1, 256));
  const UOpRef big = Var("big", INT64_MAX - 1, INT64_MAX);
  EXPECT_EQ(Of(big + 5), I(INT64_MIN, INT64_MAX));
  EXPECT_EQ(Of(uop::IDiv(Var("m", INT64_MIN, INT64_MIN), uop::IndexConst(-1))), I(INT64_MIN, INT64_MAX));
  EXPECT_EQ(Of(uop::Cast(Var("n", 0, 256), dtypes::kUInt8)), I(0, 255));
}

TEST(Bounds, ValuesPastInt64AreMarkedUnknownNotRounded) {
  const UOpRef u = uop::Cast(Var("n", -1, 5), dtypes::kUInt64);
  EXPECT_EQ(Of(u).lo, 0);
  EXPECT_EQ(Of(u).hi, std::nullopt);
  EXPECT_EQ(Of(uop::Const(dtypes::kUInt64, int64_t{-1})).lo, std::nullopt);
}

TEST(Bounds, NothingGoesThroughAFloat) {
  // 2 x < 2^54 + 1 at x = 2^53 is true; as doubles both sides are equal.
  const int64_t x = int64_t{1} << 53;
  const UOpRef e = uop::CmpLt(Var("x", x, x) * 2, uop::IndexConst((int64_t{1} << 54) + 1));
  EXPECT_EQ(Of(e), I(1, 1));
  EXPECT_TRUE(Simplify(e)->IsConst(1));
}

TEST(Bounds, BitsShiftsAndSelection) {
  const UOpRef x = Var("x", 0, 9), s = Var("s", -8, 7);
  EXPECT_EQ(Of(x & 3), I(0, 3));
  EXPECT_EQ(Of(s & 3), I(0, 3));
  EXPECT_EQ(Of(x | 4), I(4, 15));
  EXPECT_EQ(Of(x ^ 3), I(0, 15));
  EXPECT_EQ(Of(x << 2), I(0, 36));
  EXPECT_EQ(Of(s >> 1), I(-4, 3));
  EXPECT_EQ(Of(s >> 100), I(-1, 0));
  EXPECT_EQ(Of(uop::Where(x < 3, s, x)), I(-8, 9));
  EXPECT_EQ(Of(uop::Max(s, x)), I(0, 9));
  EXPECT_EQ(Of(uop::Min(s, x)), I(-8, 7));
  EXPECT_EQ(Of(x < 10), I(1, 1));
  EXPECT_EQ(Of(x < 0), I(0, 0));
}

TEST(Bounds, MemoryIsBoundedByItsType) {
  const UOpRef load = uop::Load(uop::IndexOf(uop::Param(dtypes::kInt8, 0), uop::IndexConst(0)));
  EXPECT_EQ(Of(load), I(-128, 127));
  EXPECT_EQ(Of(uop::Load(uop::IndexOf(uop::Param(dtypes::kFloat32, 0), uop::IndexConst(0)))), Interval{});
}

TEST(Bounds, DeepChainsDoNotRecurse) {
  UOpRef x = Var("x", 0, 1);
  for (int i = 0; i < 100000; ++i) x = uop::Max(x, uop::IndexConst(i % 7));
  EXPECT_EQ(Of(x), I(6, 6));
}

}  // namespace
}  // namespace understudy::symbolic
