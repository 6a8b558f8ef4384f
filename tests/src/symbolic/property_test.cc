// SPDX-License-Identifier: Apache-2.0
// Properties of simplification and bounds over random expressions. The oracle is evaluation of the original
// expression at every point of its leaves' ranges (or many of them, with the edges).
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>

#include "src/symbolic/simplify.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/print.h"
#include "tests/src/symbolic/expression_gen.h"

namespace understudy::symbolic {
namespace {

using uop::Infix;

// Deterministic in CI; RC_PARAMS (for example "seed=5 max_success=100000") overrides.
const int configured = setenv("RC_PARAMS", "seed=20240607 max_success=2500 max_size=100", 0);

std::vector<uint16_t> Draw(size_t n) {
  return *rc::gen::resize(static_cast<int>(n), rc::gen::arbitrary<std::vector<uint16_t>>());
}

std::string PointText(const Bindings& point) {
  std::string text;
  for (const auto& [leaf, v] : point) text += Infix(leaf) + "=" + ConstText(leaf->dtype(), v) + " ";
  return text;
}

void ExpectSameEverywhere(const UOpRef& before, const UOpRef& after, const std::vector<Bindings>& points) {
  for (const Bindings& p : points) {
    const ConstValue want = EvaluateConst(before, p), got = EvaluateConst(after, p);
    if (!SameConst(want, got)) {
      RC_FAIL(Infix(before) + "\n became " + Infix(after) + "\n at " + PointText(p) + "\n gives " +
              ConstText(after->dtype(), got) + ", expected " + ConstText(before->dtype(), want));
    }
  }
}

void CheckExpression(const UOpRef& e, size_t most_points) {
  const UOpRef s = Simplify(e);
  const auto points = Points(LeavesOf({e}), most_points, 1);
  ExpectSameEverywhere(e, s, points);
  if (!(Simplify(s) == s))
    RC_FAIL("not idempotent: " + Infix(e) + "\n became " + Infix(s) + "\n then " + Infix(Simplify(s)));
  RC_ASSERT(uop::CountNodes(s) <= 3 * uop::CountNodes(e) + 16);
  // Bounds of every node hold every value.
  const BoundsCache bounds;
  for (const UOp* n : uop::Toposort(s == e ? std::vector<UOpRef>{e} : std::vector<UOpRef>{e, s})) {
    const UOpRef node(n);
    if (n->dtype().IsFloat()) continue;
    const WideInterval b = bounds.Wide(node);
    for (size_t i = 0; i < points.size(); i += 1 + points.size() / 40) {
      const int64_t raw = Evaluate(node, points[i]);
      const __int128 v = n->dtype() == dtypes::kUInt64 ? __int128{static_cast<uint64_t>(raw)} : raw;
      if (v < b.lo || v > b.hi) {
        RC_FAIL("bounds [" + std::to_string(static_cast<int64_t>(b.lo)) + "," +
                std::to_string(static_cast<int64_t>(b.hi)) + "] of " + Infix(node) + " miss " +
                std::to_string(raw) + " at " + PointText(points[i]));
      }
    }
  }
}

RC_GTEST_PROP(Simplify, IntegerExpressionsKeepTheirValueAtEveryPoint, ()) {
  Choices c(Draw(60));
  const DType type = AnyIntType(c);
  CheckExpression(AnyExpression(c, type, 4), 200);
}

RC_GTEST_PROP(Simplify, SmallExpressionsKeepTheirValueAtEveryPoint, ()) {
  Choices c(Draw(30));
  const DType type = AnyIntType(c);
  CheckExpression(AnyExpression(c, type, 2), 300);
}

RC_GTEST_PROP(Simplify, IndexExpressionsKeepTheirValueAtEveryPoint, ()) {
  Choices c(Draw(60));
  CheckExpression(AnyIndexExpression(c, 5), 600);
}

RC_GTEST_PROP(Simplify, BooleanExpressionsKeepTheirValueAtEveryPoint, ()) {
  Choices c(Draw(60));
  CheckExpression(AnyExpression(c, dtypes::kBool, 4), 200);
}

RC_GTEST_PROP(Simplify, FloatExpressionsKeepEveryBit, ()) {
  Choices c(Draw(60));
  constexpr DType kTypes[] = {dtypes::kFloat32, dtypes::kFloat16, dtypes::kFloat64, dtypes::kBFloat16,
                              dtypes::kFloat8E4M3};
  const DType type = kTypes[c.Pick(5)];
  CheckExpression(AnyExpression(c, type, 4, true), 100);
}

RC_GTEST_PROP(SimplifyValid, IndexKeepsItsValueWhereTheConditionHolds, ()) {
  Choices c(Draw(80));
  UOpRef valid = uop::BoolConst(true);
  const uint32_t clauses = 1 + c.Pick(3);
  for (uint32_t i = 0; i < clauses; ++i) {
    const UOpRef e = AnyIndexExpression(c, 2), limit = uop::IndexConst(static_cast<int64_t>(c.Pick(24)) - 4);
    UOpRef clause = c.Pick(2) ? uop::CmpLt(e, limit) : uop::CmpLt(limit, e);
    if (c.Pick(4) == 3) clause = uop::CmpEq(e, limit);
    if (c.Pick(5) == 4) clause = uop::Not(clause);
    valid = uop::And(valid, clause);
  }
  const UOpRef index = c.Pick(3) == 0 ? AnyExpression(c, dtypes::kIndex, 3) : AnyIndexExpression(c, 4);
  const ValidIndex s = SimplifyValid(valid, index);
  for (const Bindings& p : Points(LeavesOf({valid, index}), 600, 2)) {
    const int64_t v = Evaluate(valid, p);
    if (Evaluate(s.valid, p) != v) {
      RC_FAIL("condition " + Infix(valid) + "\n became " + Infix(s.valid) + "\n at " + PointText(p));
    }
    if (v != 0 && Evaluate(s.index, p) != Evaluate(index, p)) {
      RC_FAIL("index " + Infix(index) + " under " + Infix(valid) + "\n became " + Infix(s.index) + "\n at " +
              PointText(p));
    }
  }
}

RC_GTEST_PROP(PrintParse, RandomGraphsComeBackAsTheSameNode, ()) {
  Choices c(Draw(80));
  const UOpRef e = AnyExpression(c, c.Pick(2) ? dtypes::kFloat32 : AnyIntType(c), 5, true);
  const absl::StatusOr<UOpRef> back = uop::Parse(uop::Print(e));
  RC_ASSERT(back.ok());
  RC_ASSERT(*back == e);
}

}  // namespace
}  // namespace understudy::symbolic
