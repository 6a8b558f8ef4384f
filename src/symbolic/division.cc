// SPDX-License-Identifier: Apache-2.0
// Division and remainder in both roundings. x/0 = 0 and x%0 = x in both. Conditions are exact: what could
// wrap asks NoWrap, and no rule assumes a sign that bounds do not show.
#include <algorithm>
#include <numeric>

#include "src/symbolic/linear.h"
#include "src/symbolic/rule_lists.h"
#include "src/uop/build.h"

namespace understudy::symbolic {
namespace {

using namespace uop;  // NOLINT: the rule language

int64_t FloorQuotient(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
int64_t FloorRemainder(int64_t a, int64_t b) { return a - FloorQuotient(a, b) * b; }
__int128 FloorQuotientWide(__int128 a, __int128 b) {
  const __int128 q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

struct LinearDivision {
  Linear numerator;  // exact
  int64_t divisor;   // > 0
};

// The numerator as an exact sum, where the divisor is a positive constant below 2^62.
bool Prepare(const Match& m, const BoundsCache& bounds, LinearDivision* out) {
  const UOpRef& n = m.root();
  if (!n->shape().empty()) return false;
  const __int128 c = ExactValue(*m["c0"]);
  if (c <= 1 || c >= (__int128{1} << 62)) return false;
  out->divisor = static_cast<int64_t>(c);
  out->numerator = ToLinear(n->src(0), true);
  return Exact(out->numerator, bounds);
}

// Divisors g of c with which some coefficients share more than 1, the largest first.
std::vector<int64_t> CommonDivisors(const Linear& l, int64_t c) {
  std::vector<int64_t> out;
  for (const LinearTerm& t : l.terms) {
    if (t.coefficient == INT64_MIN) continue;
    const int64_t g = std::gcd(t.coefficient, c);
    if (g > 1) out.push_back(g);
  }
  std::sort(out.rbegin(), out.rend());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// l = g * multiple + rest with 0 <= rest < g everywhere.
struct Split {
  Linear multiple, rest;
};
bool SplitBy(const Linear& l, int64_t g, const BoundsCache& bounds, Split* out) {
  out->multiple = out->rest = Linear{l.dtype, {}, 0};
  out->multiple.constant = FloorQuotient(l.constant, g);
  out->rest.constant = FloorRemainder(l.constant, g);
  for (const LinearTerm& t : l.terms) {
    if (t.coefficient % g == 0) {
      out->multiple.terms.push_back({t.node, t.coefficient / g});
    } else {
      out->rest.terms.push_back(t);
    }
  }
  const auto b = BoundsOfLinear(out->rest, bounds);
  return b && b->lo >= 0 && b->hi < g;
}

// x // c for x = sum(a t) + k:
//   terms with c | a and the multiples of c in k leave the division: x // c = q + r // c;
//   g | c with x = g y + r, 0 <= r < g: x // c = y // (c / g).
UOpRef DivideSum(const Match& m) {
  const BoundsCache* bounds = BoundsOf(m);
  LinearDivision d;
  if (bounds == nullptr || !Prepare(m, *bounds, &d)) return nullptr;
  const int64_t c = d.divisor;
  Split s;
  SplitBy(d.numerator, c, *bounds, &s);
  if (!s.multiple.terms.empty() || s.multiple.constant != 0) {
    const auto rest = BoundsOfLinear(s.rest, *bounds);
    if (rest && FloorQuotientWide(rest->lo, c) == FloorQuotientWide(rest->hi, c)) {
      // In wrapping arithmetic: the exact value of the whole fits.
      return Add(FromLinear(s.multiple),
                 Const(d.numerator.dtype, static_cast<int64_t>(FloorQuotientWide(rest->lo, c))));
    }
    // 5a // 4 = a + a // 4 only where the rest lies within one quotient.
    if (Exact(s.rest, *bounds))
      return Add(FromLinear(s.multiple), FloorDiv(FromLinear(s.rest), Const(d.numerator.dtype, c)));
  }
  Linear multiple{d.numerator.dtype, {}, FloorQuotient(d.numerator.constant, c)};
  Linear rest{d.numerator.dtype, {}, FloorRemainder(d.numerator.constant, c)};
  for (const LinearTerm& t : d.numerator.terms) {
    const int64_t q = FloorQuotient(t.coefficient, c), r = t.coefficient - q * c;
    if (q != 0) multiple.terms.push_back({t.node, q});
    if (r != 0) rest.terms.push_back({t.node, r});
  }
  if (!multiple.terms.empty()) {
    const auto b = BoundsOfLinear(rest, *bounds);
    if (b && FloorQuotientWide(b->lo, c) == FloorQuotientWide(b->hi, c)) {
      return Add(FromLinear(multiple),
                 Const(d.numerator.dtype, static_cast<int64_t>(FloorQuotientWide(b->lo, c))));
    }
  }
  for (const int64_t g : CommonDivisors(d.numerator, c)) {
    if (g == c || !SplitBy(d.numerator, g, *bounds, &s) || !Exact(s.multiple, *bounds)) continue;
    return FloorDiv(FromLinear(s.multiple), Const(d.numerator.dtype, c / g));
  }
  return nullptr;
}

// x % c for x = sum(a t) + k: multiples of c leave; within one quotient the remainder is x - c * q; and with
// x = g y + r, 0 <= r < g, g | c: x % c = g * (y % (c / g)) + r.
UOpRef RemainderOfSum(const Match& m) {
  const BoundsCache* bounds = BoundsOf(m);
  LinearDivision d;
  if (bounds == nullptr || !Prepare(m, *bounds, &d)) return nullptr;
  const int64_t c = d.divisor;
  const DType t = d.numerator.dtype;
  Linear reduced{t, {}, FloorRemainder(d.numerator.constant, c)}, positive = reduced;
  for (const LinearTerm& term : d.numerator.terms) {
    if (term.coefficient % c == 0) continue;
    reduced.terms.push_back({term.node, term.coefficient % c});
    positive.terms.push_back({term.node, FloorRemainder(term.coefficient, c)});
  }
  for (Linear* l : {&reduced, &positive, &d.numerator}) {
    const auto b = BoundsOfLinear(*l, *bounds);
    if (!b) continue;
    const __int128 q = FloorQuotientWide(b->lo, c);
    if (q != FloorQuotientWide(b->hi, c) || q > INT64_MAX || q < INT64_MIN) continue;
    // In wrapping arithmetic: the result lies in [0, c).
    return Add(FromLinear(*l), Mul(Const(t, static_cast<int64_t>(q)), Const(t, -c)));
  }
  const bool changed =
      reduced.constant != d.numerator.constant || reduced.terms.size() != d.numerator.terms.size() ||
      !std::equal(reduced.terms.begin(), reduced.terms.end(), d.numerator.terms.begin(),
                  [](const LinearTerm& a, const LinearTerm& b) { return a.coefficient == b.coefficient; });
  if (changed && Exact(reduced, *bounds)) return FloorMod(FromLinear(reduced), Const(t, c));
  Split s;
  for (const int64_t g : CommonDivisors(d.numerator, c)) {
    if (g == c || !SplitBy(d.numerator, g, *bounds, &s) || !Exact(s.multiple, *bounds)) continue;
    return Add(Mul(FloorMod(FromLinear(s.multiple), Const(t, c / g)), Const(t, g)), FromLinear(s.rest));
  }
  return nullptr;
}

}  // namespace

std::vector<Rule> DivisionRules() {
  const Pattern x = Wild("x"), y = Wild("y"), c0 = ConstWild("c0"), c1 = ConstWild("c1");
  const TypeMask with_sign = kSignedInts | kIndexType;
  return {
      // Divisors 1, 0, -1, itself; dividend 0.
      R("floordiv-one", x / 1, x, kInts),
      R("idiv-one", IDiv(x, 1), x, kInts),
      R("floormod-one", x % 1, 0, kInts),
      R("imod-one", IMod(x, 1), 0, kInts),
      R("floordiv-zero", x / 0, 0, kInts),
      R("idiv-zero", IDiv(x, 0), 0, kInts),
      R("floormod-zero", x % 0, x, kInts),
      R("imod-zero", IMod(x, 0), x, kInts),
      R("zero-floordiv", Pattern(0) / x, 0, kInts),
      R("zero-idiv", IDiv(0, x), 0, kInts),
      R("zero-floormod", Pattern(0) % x, 0, kInts),
      R("zero-imod", IMod(0, x), 0, kInts),
      R("floordiv-minus-one", x / -1, x * -1, with_sign),
      R("idiv-minus-one", IDiv(x, -1), x * -1, with_sign),
      R("floormod-minus-one", x % -1, 0, with_sign),
      R("imod-minus-one", IMod(x, -1), 0, with_sign),
      R("floordiv-self", x / x, 1, kInts, If(Lo(x) > 0 || Hi(x) < 0)),
      R("idiv-self", IDiv(x, x), 1, kInts, If(Lo(x) > 0 || Hi(x) < 0)),
      R("floormod-self", x % x, 0, kInts),
      R("imod-self", IMod(x, x), 0, kInts),

      // One convention where the signs allow it: floor is the canonical one.
      R("idiv-unsigned", IDiv(x, y), x / y, kUnsignedInts),
      R("imod-unsigned", IMod(x, y), x % y, kUnsignedInts),
      R("idiv-nonnegative", IDiv(x, y), x / y, with_sign, If(Lo(x) >= 0 && Lo(y) >= 0)),
      R("imod-nonnegative", IMod(x, y), x % y, with_sign, If(Lo(x) >= 0 && Lo(y) >= 0)),
      R("idiv-nonpositive", IDiv(x, c0), ((x * -1) / c0) * -1, with_sign,
        If(Hi(x) <= 0 && c0 > 1 && NoWrap(x * -1))),
      R("imod-nonpositive", IMod(x, c0), ((x * -1) % c0) * -1, with_sign,
        If(Hi(x) <= 0 && c0 > 1 && NoWrap(x * -1))),
      // Negative divisors.
      R("idiv-negative-divisor", IDiv(x, c0), IDiv(x, c0 * -1) * -1, with_sign,
        If(c0 < -1 && NoWrap(c0 * -1))),
      R("imod-negative-divisor", IMod(x, c0), IMod(x, c0 * -1), with_sign, If(c0 < -1 && NoWrap(c0 * -1))),
      R("floordiv-negative-divisor", x / c0, (x * -1) / (c0 * -1), with_sign,
        If(c0 < -1 && NoWrap(c0 * -1) && NoWrap(x * -1))),
      R("floormod-negative-divisor", x % c0, ((x * -1) % (c0 * -1)) * -1, with_sign,
        If(c0 < -1 && NoWrap(c0 * -1) && NoWrap(x * -1))),

      // Twice. Floor wants a positive outer divisor: (1 // 2) // -3 is 0, 1 // -6 is -1. INT_MIN / -1 wraps:
      // no inner -1.
      R("floordiv-floordiv", (x / c0) / c1, x / (c0 * c1), kInts,
        If(c1 > 0 && c0 != 0 && c0 != -1 && NoWrap(c0 * c1))),
      R("idiv-idiv", IDiv(IDiv(x, c0), c1), IDiv(x, c0 * c1), kInts,
        If(c0 != 0 && c1 != 0 && c0 != -1 && NoWrap(c0 * c1))),
      R("floormod-floormod", (x % c0) % c1, x % c1, kInts, If(c0 % c1 == 0)),
      R("imod-imod", IMod(IMod(x, c0), c1), IMod(x, c1), kInts, If(c0 % c1 == 0)),
      R("floormod-then-div", (x % c0) / c1, (x / c1) % (c0 / c1), kInts,
        If(c1 > 0 && c0 > 0 && c0 % c1 == 0)),
      R("imod-then-div", IDiv(IMod(x, c0), c1), IMod(IDiv(x, c1), c0 / c1), kInts,
        If(c1 > 0 && c0 > 0 && c0 % c1 == 0)),

      // Products that do not wrap.
      R("floordiv-of-multiple", (x * c0) / c1, x * (c0 / c1), kInts, If(c0 % c1 == 0 && NoWrap(x * c0))),
      R("idiv-of-multiple", IDiv(x * c0, c1), x * IDiv(c0, c1), kInts, If(c0 % c1 == 0 && NoWrap(x * c0))),
      R("floordiv-cancel", (x * c0) / c1, x / (c1 / c0), kInts,
        If(c0 > 0 && c1 > 0 && c1 % c0 == 0 && NoWrap(x * c0))),
      R("idiv-cancel", IDiv(x * c0, c1), IDiv(x, IDiv(c1, c0)), kInts,
        If(c0 > 0 && c1 > 0 && c1 % c0 == 0 && NoWrap(x * c0))),
      R("floormod-cancel", (x * c0) % c1, (x % (c1 / c0)) * c0, kInts,
        If(c0 > 0 && c1 > 0 && c1 % c0 == 0 && NoWrap(x * c0))),
      R("imod-cancel", IMod(x * c0, c1), IMod(x, IDiv(c1, c0)) * c0, kInts,
        If(c0 > 0 && c1 > 0 && c1 % c0 == 0 && NoWrap(x * c0))),

      R("floordiv-sum", x / c0, kInts, "x // c of an exact sum: multiples of c leave, common factors cancel",
        DivideSum),
      R("floormod-sum", x % c0, kInts, "x % c of an exact sum: multiples of c drop, common factors leave",
        RemainderOfSum),
      R("floormod-by-bounds", x % y, x, kInts, If(Lo(x) >= 0 && Hi(x) < Lo(y))),
  };
}

}  // namespace understudy::symbolic
