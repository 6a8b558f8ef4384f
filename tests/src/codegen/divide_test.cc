// SPDX-License-Identifier: Apache-2.0
// Division by a constant as a multiplication, against the host's division. A quotient and its approximation
// both never fall as x grows, so that they agree everywhere when they do on both sides of each multiple of d:
// that decides 8 and 16 bits for every divisor; at 32 bits every divisor tried is decided by the exact
// condition of the theorem and run on the edges.
#include "src/codegen/divide.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

#include "src/codegen/codegen.h"
#include "src/render/x86_64/x86_64.h"
#include "src/symbolic/simplify.h"
#include "src/uop/build.h"

namespace understudy::test {
namespace {

int64_t Lowest(DType t) { return std::get<int64_t>(MinValue(t)); }
int64_t Highest(DType t) { return std::get<int64_t>(MaxValue(t)); }
int64_t Wrapped(DType t, int64_t v) { return std::get<int64_t>(Canonical(t, ConstValue(v))); }

// The quotients of the points, by the expression for d.
void ExpectQuotients(DType t, int64_t d, const std::set<int64_t>& points) {
  const UOpRef x = uop::Var("x", Lowest(t), Highest(t), t);
  const UOpRef q = DivideByConstant(x, uop::Const(t, d));
  ASSERT_NE(q, nullptr) << t.Name() << " / " << d;
  for (const int64_t v : points) {
    if (v < Lowest(t) || v > Highest(t)) continue;
    ASSERT_EQ(symbolic::Evaluate(q, {{x, v}}), Wrapped(t, v / d)) << t.Name() << ": " << v << " / " << d;
  }
}

std::set<int64_t> Edges(DType t, int64_t d) {
  std::set<int64_t> out;
  const int64_t size = d < 0 ? -d : d;
  const int64_t last = Highest(t) / size * size, first = Lowest(t) / size * size;
  for (const int64_t base : {int64_t{0}, size, 7 * size, Highest(t) / 2 / size * size, last, -size, first,
                             Lowest(t), Highest(t)}) {
    for (int64_t off = -2; off <= 2; ++off) out.insert(base + off);
  }
  return out;
}

TEST(Divide, EveryDivisorAndDividendOf8Bits) {
  for (const DType t : {dtypes::kInt8, dtypes::kUInt8}) {
    std::set<int64_t> all;
    for (int64_t v = Lowest(t); v <= Highest(t); ++v) all.insert(v);
    for (int64_t d = Lowest(t); d <= Highest(t); ++d) {
      if (d != 0) ExpectQuotients(t, d, all);
    }
  }
}

TEST(Divide, EdgesOfManyDivisorsOf16And32Bits) {
  std::mt19937_64 rng(7);
  for (const DType t : {dtypes::kInt16, dtypes::kUInt16, dtypes::kInt32, dtypes::kUInt32}) {
    std::set<int64_t> divisors;
    for (int64_t d = 1; d < 300; ++d) divisors.insert(d);
    for (int k = 1; k < t.BitWidth(); ++k) {
      for (const int64_t off : {-1, 0, 1}) divisors.insert((int64_t{1} << k) + off);
    }
    for (int i = 0; i < 500; ++i)
      divisors.insert(static_cast<int64_t>(rng() >> (64 - t.BitWidth() + rng() % (t.BitWidth() - 1))));
    for (const int64_t d : divisors) {
      for (const int64_t sign : {1, -1}) {
        if (d == 0 || sign * d > Highest(t) || sign * d < Lowest(t)) continue;
        ExpectQuotients(t, sign * d, Edges(t, sign * d));
      }
    }
    ExpectQuotients(t, Lowest(t) == 0 ? Highest(t) : Lowest(t), Edges(t, Highest(t)));
  }
}

// floor(x m / 2^k) == floor(x / d) on both sides of every multiple of d.
TEST(Divide, ReciprocalsOf16BitsAreRightEverywhere) {
  for (uint64_t limit : {uint64_t{0xffff}, uint64_t{0x8000}}) {
    for (uint64_t d = 2; d <= limit; ++d) {
      const auto r = ReciprocalOf(d, limit, 64);
      ASSERT_TRUE(r.has_value()) << d;
      for (uint64_t x = d - 1; x <= limit; x += d) {
        ASSERT_EQ(x * r->multiplier >> r->shift, x / d) << x << " / " << d;
        if (x < limit) {
          ASSERT_EQ((x + 1) * r->multiplier >> r->shift, (x + 1) / d) << x + 1 << " / " << d;
        }
        // Strictly above, so that a negative number truncates after adding 1.
        if (x < limit) {
          ASSERT_NE((x + 1) * r->multiplier % (uint64_t{1} << r->shift), 0u) << d;
        }
      }
    }
  }
}

TEST(Divide, ReciprocalsOf32BitsMeetTheTheoremsCondition) {
  std::mt19937_64 rng(11);
  const auto check = [](uint64_t d, uint64_t limit, int bits) {
    if (d < 2 || d > limit || (d & (d - 1)) == 0) return;
    const auto r = ReciprocalOf(d, limit, bits);
    ASSERT_TRUE(r.has_value()) << d;
    using Wide = unsigned __int128;
    const Wide power = Wide{1} << r->shift, product = Wide{r->multiplier} * d;
    ASSERT_GT(product, power) << d;
    const uint64_t last = (limit + 1) / d * d - 1;
    ASSERT_LT((product - power) * last, power) << d;
    ASSERT_EQ(static_cast<uint64_t>(Wide{last} * r->multiplier >> r->shift), last / d) << d;
  };
  for (uint64_t d = 2; d < 200000; ++d) {
    check(d, 0x80000000, 63);
    check(d, 0xffffffff, 65);
  }
  for (int i = 0; i < 300000; ++i) {
    const uint64_t d = rng() >> 32;
    check(d, 0x80000000, 63);
    check(d, 0xffffffff, 65);
  }
}

TEST(Divide, NoReciprocalThatOverflowsItsProduct) {
  EXPECT_FALSE(ReciprocalOf(7, 0xffffffff, 64).has_value());  // needs 33 bits: the classical case
  EXPECT_TRUE(ReciprocalOf(7, 0x7fffffff, 64).has_value());
  EXPECT_FALSE(ReciprocalOf(7, 0xffff, 32).has_value());
}

TEST(Divide, LeavesWhatItDoesNotKnow) {
  const UOpRef x = uop::Var("x", 0, 100, dtypes::kInt64);
  EXPECT_EQ(DivideByConstant(x, uop::Const(dtypes::kInt64, 7)), nullptr);
  EXPECT_EQ(DivideByConstant(x, uop::Const(dtypes::kInt64, 0)), nullptr);
  EXPECT_NE(DivideByConstant(x, uop::Const(dtypes::kInt64, 8)), nullptr);
}

// Of a target that names the ability, code has no division by a constant left.
TEST(Divide, MachineCodeHasNoneLeft) {
  const UOpRef i = uop::Range(64, 0, AxisKind::kGlobal);
  const UOpRef in = uop::Load(uop::IndexOf(uop::Param(dtypes::kInt32, 1), i));
  const UOpRef value = uop::Add(uop::FloorMod(in, uop::Const(dtypes::kInt32, 10)),
                                uop::IDiv(in, uop::Const(dtypes::kInt32, -7)));
  const UOpRef kernel =
      uop::Sink({uop::Store(uop::IndexOf(uop::Param(dtypes::kInt32, 0), i), value, {i})}, "divide");
  const auto count = [&](const Target& target) {
    const auto linear = LowerKernel(kernel, target, nullptr);
    EXPECT_TRUE(linear.ok()) << linear.status();
    int divisions = 0;
    for (const UOpRef& n : linear->ops) divisions += n->op() == Op::kIDiv || n->op() == Op::kIMod;
    return divisions;
  };
  EXPECT_EQ(count(X86Target(true)), 0);
  Target other = X86Target(true);
  other.divides_by_constants = true;
  EXPECT_GT(count(other), 0);
}

}  // namespace
}  // namespace understudy::test
