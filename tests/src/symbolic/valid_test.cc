// SPDX-License-Identifier: Apache-2.0
// Validity: conditions simplify indices and each other.
#include <gtest/gtest.h>

#include "src/symbolic/simplify.h"
#include "src/uop/build.h"
#include "src/uop/print.h"

namespace understudy::symbolic {
namespace {

using namespace uop::expr;
using uop::IndexConst;
using uop::Infix;
using uop::Range;

const UOpRef r0 = Range(16, 0), r1 = Range(8, 1);

TEST(SimplifyValid, ClausesTightenTheIndex) {
  const ValidIndex v = SimplifyValid(r0 < 4, r0 % 4 + r0 / 4);
  EXPECT_EQ(Infix(v.valid), "(r0 < 4)");
  EXPECT_EQ(v.index, r0);
  EXPECT_EQ(SimplifyValid(uop::CmpLt(IndexConst(7), r0), (r0 - 8) % 8).index, Simplify(r0 - 8));
}

TEST(SimplifyValid, SumsTightenEachOfTheirTerms) {
  // r0 * 8 + r1 < 32 leaves r0 < 4.
  EXPECT_EQ(SimplifyValid(r0 * 8 + r1 < 32, r0 % 4).index, r0);
  EXPECT_EQ(SimplifyValid(uop::CmpLt(r0 + r1, IndexConst(3)), uop::Max(r1, IndexConst(2))).index,
            IndexConst(2));
}

TEST(SimplifyValid, ImpliedClausesGoAndContradictionsAreFalse) {
  EXPECT_EQ(Infix(SimplifyValid((r0 < 4) & (r0 + r1 < 40), r0).valid), "(r0 < 4)");
  const ValidIndex never = SimplifyValid((r0 < 4) & uop::CmpLt(IndexConst(9), r0 + r0), r0);
  EXPECT_TRUE(never.valid->IsConst(0));
  EXPECT_TRUE(never.index->IsConst(0));
  EXPECT_TRUE(SimplifyValid(r0 < 16, r0).valid->IsConst(1));
}

TEST(SimplifyValid, NegatedClausesCount) {
  EXPECT_EQ(SimplifyValid(!(r0 < 8), r0 / 8).index, IndexConst(1));
  EXPECT_EQ(SimplifyValid(!uop::CmpLt(r0, r1 + 8), r0 / 8).index, IndexConst(1));
}

TEST(SimplifyValid, SelectionsOnTheConditionAreDecided) {
  const UOpRef c = r0 < 5;
  EXPECT_EQ(SimplifyValid(c, uop::Where(c, r0, r1)).index, r0);
}

TEST(AssumptionsOf, EqualityPins) {
  EXPECT_EQ(Simplify(r0 * 2 + r1, AssumptionsOf(uop::CmpEq(r0, IndexConst(3)))), Simplify(r1 + 6));
}

}  // namespace
}  // namespace understudy::symbolic
