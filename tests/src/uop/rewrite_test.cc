// SPDX-License-Identifier: Apache-2.0
// The pattern language, the matcher and the rewrite engine.
#include "src/uop/rewrite.h"

#include <gtest/gtest.h>

#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/print.h"

namespace understudy::uop {
namespace {

const Pattern x = Wild("x"), y = Wild("y"), c0 = ConstWild("c0"), c1 = ConstWild("c1");

UOpRef I(int64_t v) { return IndexConst(v); }
UOpRef N(const char* name) { return Var(name, 0, 100); }

UOpRef Rewritten(const UOpRef& root, const RuleSet& rules) {
  absl::StatusOr<UOpRef> r = Rewrite(root, rules);
  EXPECT_TRUE(r.ok()) << r.status();
  return r.ok() ? *r : nullptr;
}

TEST(Match, CommutativeOpsMatchBothWaysWithBacktracking) {
  const RuleSet rules("test", {R("factor", x * c0 + x * c1, x * (c0 + c1), kInts)});
  const UOpRef n = N("n"), want = Mul(n, I(7));
  EXPECT_EQ(Rewritten(Add(Mul(n, I(3)), Mul(n, I(4))), rules), want);
  EXPECT_EQ(Rewritten(Add(Mul(I(3), n), Mul(n, I(4))), rules), want);
  EXPECT_EQ(Rewritten(Add(Mul(n, I(3)), Mul(I(4), n)), rules), want);
  const UOpRef other = Add(Mul(n, I(3)), Mul(N("m"), I(4)));
  EXPECT_EQ(Rewritten(other, rules), other);
}

TEST(Match, OrderedOpsMatchOneWay) {
  const RuleSet rules("test", {R("r", x / 1, x, kInts)});
  EXPECT_EQ(Rewritten(FloorDiv(N("n"), I(1)), rules), N("n"));
  EXPECT_EQ(Rewritten(FloorDiv(I(1), N("n")), rules), FloorDiv(I(1), N("n")));
}

TEST(Match, LiteralsAreValuesAtTheWidthAndFloatZerosAreToldApart) {
  const RuleSet rules("test", {R("zero", x + 0, x, kAllTypes), R("ones", x & -1, x, kInts)});
  const UOpRef u = Cast(N("n"), dtypes::kUInt8), f = Cast(N("n"), dtypes::kFloat32);
  EXPECT_EQ(Rewritten(And(u, Const(dtypes::kUInt8, 255)), rules), u);
  EXPECT_EQ(Rewritten(Add(f, Const(dtypes::kFloat32, 0.0)), rules), f);
  EXPECT_EQ(Rewritten(Add(f, Const(dtypes::kFloat32, -0.0)), rules)->op(), Op::kAdd);
}

TEST(Match, TypesAndConditionsHoldRulesBack) {
  const RuleSet rules("test",
                      {R("div", (x * c0) / c1, x * (c0 / c1), kIndexType, If(c0 % c1 == 0 && c1 > 0))});
  EXPECT_EQ(Rewritten(FloorDiv(Mul(N("n"), I(6)), I(3)), rules), Mul(N("n"), I(2)));
  EXPECT_EQ(Rewritten(FloorDiv(Mul(N("n"), I(7)), I(3)), rules)->op(), Op::kFloorDiv);
  EXPECT_EQ(Rewritten(FloorDiv(Mul(N("n"), I(6)), I(-3)), rules)->op(), Op::kFloorDiv);
  EXPECT_EQ(Rewritten(FloorDiv(Mul(N("n"), I(6)), I(0)), rules)->op(),
            Op::kFloorDiv);  // undecidable is false
  const UOpRef i32 = Cast(N("n"), dtypes::kInt32);
  EXPECT_EQ(Rewritten(FloorDiv(Mul(i32, Const(dtypes::kInt32, 6)), Const(dtypes::kInt32, 3)), rules)->op(),
            Op::kFloorDiv);
}

TEST(Match, ConditionsUseExactIntegers) {
  // 2^62 * 4 wraps to 0 in 64 bits; a condition must not be fooled.
  const RuleSet rules("test", {R("mul", (x * c0) * c1, x, kIndexType, If(c0 * c1 == 0))});
  EXPECT_EQ(Rewritten(Mul(Mul(N("n"), I(int64_t{1} << 62)), I(4)), rules)->op(), Op::kMul);
}

TEST(Match, NoWrapUsesTheTypeWhereNothingElseIsKnown) {
  const RuleSet rules("test",
                      {R("cmp", x + c0 < c1, x < (c1 - c0), kInts, If(NoWrap(x + c0) && NoWrap(c1 - c0)))});
  const UOpRef b = Cast(Cast(N("n"), dtypes::kUInt8), dtypes::kInt32);
  const auto build = [](const UOpRef& v, int64_t c) {
    return CmpLt(Add(v, Const(v->dtype(), c)), Const(v->dtype(), 10));
  };
  EXPECT_EQ(Rewritten(build(b, 1), rules), build(b, 1));  // i32 alone may wrap
  EXPECT_EQ(Rewritten(build(b, 0), rules), CmpLt(b, Const(dtypes::kInt32, 10)));
}

TEST(Rewrite, RunsToAFixedPointAndIsIdempotent) {
  const RuleSet rules("test", {R("add-zero", x + 0, x, kInts), R("mul-one", x * 1, x, kInts),
                               R("fold", c0 + c1, c0 + c1, kInts)});
  const UOpRef e = Mul(Add(N("n"), Add(I(-2), I(2))), Add(I(0), I(1)));
  absl::flat_hash_map<std::string, int64_t> count;
  std::vector<RewriteStep> trace;
  const absl::StatusOr<UOpRef> r = Rewrite(e, rules, {.count = &count, .trace = &trace});
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(*r, N("n"));
  EXPECT_EQ(Rewritten(*r, rules), *r);
  EXPECT_EQ(count["add-zero"], 1 + 1);
  EXPECT_EQ(count["mul-one"], 1);
  EXPECT_EQ(trace.size(), 4u);
  EXPECT_GE(rules.Find("fold")->fired(), 1);
}

TEST(Rewrite, SharedNodesAreRewrittenOnce) {
  int calls = 0;
  const RuleSet rules("test", {R("count", AnyOp(OpSetOf({Op::kMul}), {x, y}), kAllTypes, "counts",
                                 [&](const Match&) -> UOpRef {
                                   ++calls;
                                   return nullptr;
                                 })});
  UOpRef e = Mul(N("n"), N("m"));
  for (int i = 0; i < 60; ++i) e = Add(e, e);  // 2^60 paths
  Rewritten(e, rules);
  EXPECT_EQ(calls, 2);  // MUL commutes: x and y are tried both ways
}

TEST(Rewrite, DeepGraphsDoNotRecurse) {
  const RuleSet rules("test", {R("add-zero", x + 0, x, kInts)});
  UOpRef e = N("n");
  for (int i = 0; i < 50000; ++i) e = Neg(Add(e, I(0)));
  EXPECT_EQ(CountNodes(Rewritten(e, rules)), 50001);
}

TEST(Rewrite, LoopsAreRefusedAndTheRulesNamed) {
  const RuleSet circle("circle", {R("there", x + c0, x * c0, kInts), R("innocent", x / 1, x, kInts),
                                  R("back", x * c0, x + c0, kInts)});
  const absl::StatusOr<UOpRef> r = Rewrite(Add(FloorDiv(N("n"), I(1)), I(3)), circle);
  ASSERT_FALSE(r.ok());
  const std::string text(r.status().message());
  EXPECT_NE(text.find("rewriting 'circle' does not end"), std::string::npos) << text;
  EXPECT_NE(text.find("there"), std::string::npos) << text;
  EXPECT_NE(text.find("back"), std::string::npos) << text;
  EXPECT_EQ(text.find("innocent"), std::string::npos) << text;

  const RuleSet wraps(
      "wraps", {R("wrap", Wild("x").As("x"), kAllTypes, "puts a node around itself",
                  [](const Match& m) { return m.root()->dtype().IsInt() ? Neg(m.root()) : nullptr; })});
  EXPECT_NE(std::string(Rewrite(N("n"), wraps).status().message()).find("wrap"), std::string::npos);

  const RuleSet grows("grows", {R("grow", x + c0, (x + (c0 + 1)) + 1, kInts)});
  EXPECT_NE(
      std::string(Rewrite(Add(N("n"), I(3)), grows, {.max_steps = 1000}).status().message()).find("grow"),
      std::string::npos);
}

TEST(Rewrite, ReplacementsWithNewParentsAreRewrittenToo) {
  const RuleSet rules("test",
                      {R("spread", (x + y) * c0, x * c0 + y * c0, kInts), R("mul-one", x * 1, x, kInts)});
  const UOpRef n = N("n"), m = N("m"), k = N("k");
  EXPECT_EQ(Rewritten(Mul(Add(Add(n, m), k), I(1)), rules), Add(Add(n, m), k));
}

TEST(RuleSet, DescribePrintsAlgebra) {
  const RuleSet rules("test", {R("div-mul", (x * c0) / c1, x * (c0 / c1), kInts, If(c0 % c1 == 0 && c1 > 0)),
                               R("code", AnyOp(OpSetOf({Op::kCast})), kAllTypes, "does something",
                                 [](const Match&) { return UOpRef(); })});
  EXPECT_EQ(rules.Describe(),
            "div-mul: ((x * c0) // c1) -> (x * (c0 // c1))  on int  if (((c0 % c1) == 0) & (0 < c1))\n"
            "code: CAST(...) -> {does something}\n");
}

}  // namespace
}  // namespace understudy::uop
