// SPDX-License-Identifier: Apache-2.0
// Properties of index arithmetic and of the memory plan on random inputs: the simplified index equals plain
// integer arithmetic at every point, bounds hold, and no two live buffers overlap.
#include "src/schedule/index_expr.h"

#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"
#include "src/base/status.h"
#include "src/schedule/memory_plan.h"
#include "src/uop/build.h"
#include "src/uop/print.h"

namespace understudy {
namespace {

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// Plain evaluation of an index or condition at given values of ranges 0, 1, 2.
int64_t Eval(const UOpRef& x, const int64_t* at) {
  switch (x->op()) {
    case Op::kConst:
      return x->const_int();
    case Op::kRange:
      return at[x->arg_as<RangeArg>().id];
    case Op::kAdd:
      return Eval(x->src(0), at) + Eval(x->src(1), at);
    case Op::kMul:
      return Eval(x->src(0), at) * Eval(x->src(1), at);
    case Op::kFloorDiv:
      return FloorDivide(Eval(x->src(0), at), Eval(x->src(1), at));
    case Op::kFloorMod: {
      const int64_t a = Eval(x->src(0), at), b = Eval(x->src(1), at);
      return a - b * FloorDivide(a, b);
    }
    case Op::kCmpLt:
      return Eval(x->src(0), at) < Eval(x->src(1), at);
    case Op::kAnd:
      return Eval(x->src(0), at) & Eval(x->src(1), at);
    default:
      US_CHECK(false) << OpName(x->op());
  }
  return 0;
}

RC_GTEST_PROP(IndexExpr, EqualsPlainArithmeticEverywhere, ()) {
  const int64_t ends[3] = {*rc::gen::inRange<int64_t>(1, 6), *rc::gen::inRange<int64_t>(1, 6),
                           *rc::gen::inRange<int64_t>(1, 6)};
  UOpRef ranges[3];
  for (int i = 0; i < 3; ++i) ranges[i] = ends[i] == 1 ? uop::IndexConst(0) : uop::Range(ends[i], i);
  const int64_t points = ends[0] * ends[1] * ends[2];
  const auto point = [&](int64_t p, int64_t* at) {
    for (int i = 0; i < 3; ++i) at[i] = p % ends[i], p /= ends[i];
  };
  UOpRef x = ranges[*rc::gen::inRange(0, 3)];
  std::vector<int64_t> value(points);
  for (int64_t p = 0; p < points; ++p) {
    int64_t at[3];
    point(p, at);
    value[p] = Eval(x, at);
  }
  const int steps = *rc::gen::inRange(1, 8);
  for (int s = 0; s < steps; ++s) {
    const int kind = *rc::gen::inRange(0, 5), which = *rc::gen::inRange(0, 3);
    const int64_t c = *rc::gen::inRange<int64_t>(1, 13), f = *rc::gen::inRange<int64_t>(-5, 6);
    if (kind == 0) x = index::Sum(x, index::Scale(ranges[which], f));
    if (kind == 1) x = index::Scale(x, f);
    if (kind == 2) x = index::Quotient(x, c);
    if (kind == 3) x = index::Remainder(x, c);
    if (kind == 4) x = index::Sum(uop::IndexConst(f), x);
    const auto bounds = index::BoundsOf(x);
    const UOpRef less = index::Less(x, f), least = index::AtLeast(x, f);
    for (int64_t p = 0; p < points; ++p) {
      int64_t at[3];
      point(p, at);
      const int64_t r = Eval(ranges[which], at);
      int64_t& v = value[p];
      if (kind == 0) v += r * f;
      if (kind == 1) v *= f;
      if (kind == 2) v = FloorDivide(v, c);
      if (kind == 3) v -= c * FloorDivide(v, c);
      if (kind == 4) v += f;
      RC_ASSERT(Eval(x, at) == v);
      RC_ASSERT(bounds.lo <= v && v <= bounds.hi);
      RC_ASSERT(Eval(less, at) == (v < f));
      RC_ASSERT(Eval(least, at) == (v >= f));
    }
  }
}

TEST(IndexExpr, ViewsOfViewsCollapse) {
  const UOpRef i = uop::Range(3, 0), j = uop::Range(4, 1);
  const UOpRef flat = index::Sum(index::Scale(i, 4), j);
  EXPECT_EQ(index::Quotient(flat, 4), i);
  EXPECT_EQ(index::Remainder(flat, 4), j);
  const UOpRef k = uop::Range(12, 2);
  EXPECT_EQ(index::Sum(index::Scale(index::Quotient(k, 4), 4), index::Remainder(k, 4)), k);
  // Windows of a repeated axis: (j * (n + d) + i * s) mod n is j d + i s.
  EXPECT_EQ(index::Remainder(index::Sum(index::Scale(i, 10), index::Scale(j, 2)), 9),
            index::Sum(i, index::Scale(j, 2)));
  // Reversed: (11 - flat) // 4 is 2 - i.
  const UOpRef back = index::Sum(uop::IndexConst(11), index::Scale(flat, -1));
  EXPECT_EQ(index::Quotient(back, 4), index::Sum(uop::IndexConst(2), index::Scale(i, -1)));
}

RC_GTEST_PROP(MemoryPlan, NoTwoLiveBuffersOverlap, ()) {
  const auto raw = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0, 5000), rc::gen::inRange(0, 40), rc::gen::inRange(0, 12)));
  std::vector<Lifetime> lives;
  for (const auto& [bytes, first, length] : raw) lives.push_back({bytes, first, first + length});
  const MemoryPlan plan = PlanMemory(lives);
  int64_t sum = 0;
  for (size_t a = 0; a < lives.size(); ++a) {
    RC_ASSERT(plan.offsets[a] % 256 == 0);
    RC_ASSERT(plan.offsets[a] + lives[a].bytes <= plan.bytes);
    sum += (lives[a].bytes + 255) / 256 * 256;
    for (size_t b = 0; b < a; ++b) {
      const bool together = lives[a].first <= lives[b].last && lives[b].first <= lives[a].last;
      const bool apart = plan.offsets[a] + lives[a].bytes <= plan.offsets[b] ||
                         plan.offsets[b] + lives[b].bytes <= plan.offsets[a];
      RC_ASSERT(!together || apart);
    }
  }
  RC_ASSERT(PeakBytes(lives) <= plan.bytes);
  RC_ASSERT(plan.bytes <= sum);
}

}  // namespace
}  // namespace understudy
