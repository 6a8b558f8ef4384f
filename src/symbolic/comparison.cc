// SPDX-License-Identifier: Apache-2.0
// Comparisons of integers. CMPEQ and CMPNE may move terms freely in wrapping arithmetic; CMPLT only where
// sums are exact.
#include <algorithm>
#include <numeric>

#include "src/base/bits.h"
#include "src/symbolic/linear.h"
#include "src/symbolic/rule_lists.h"
#include "src/uop/build.h"

namespace understudy::symbolic {
namespace {

using namespace uop;  // NOLINT: the rule language

// The greatest common divisor of all coefficients (0 without terms); INT64_MIN counts as having none but 1.
int64_t CoefficientGcd(const Linear& l) {
  int64_t g = 0;
  for (const LinearTerm& t : l.terms) g = t.coefficient == INT64_MIN ? 1 : std::gcd(g, t.coefficient);
  return g;
}

struct Sides {
  Linear left, right, difference;
  bool exact;  // both sides, so the difference too
};

// Sums of the two sides; terms that both have count once.
Sides Take(const UOpRef& n, const BoundsCache& bounds) {
  Sides s{ToLinear(n->src(0), true), ToLinear(n->src(1), true), {}, false};
  s.exact = Exact(s.left, bounds) && Exact(s.right, bounds);
  s.difference = Subtract(s.left, s.right);
  return s;
}

// left - right as exact integers: only where taking the difference at the type's width lost nothing.
std::optional<WideInterval> ExactDifference(const Sides& s, const BoundsCache& bounds) {
  if (!s.exact) return std::nullopt;
  WideInterval sum{static_cast<__int128>(s.left.constant) - s.right.constant, 0};
  sum.hi = sum.lo;
  const auto add = [&](const UOpRef& node, __int128 coefficient) {
    const WideInterval b = bounds.Wide(node);
    __int128 x, y;
    if (__builtin_mul_overflow(b.lo, coefficient, &x) || __builtin_mul_overflow(b.hi, coefficient, &y))
      return false;
    return !__builtin_add_overflow(sum.lo, std::min(x, y), &sum.lo) &&
           !__builtin_add_overflow(sum.hi, std::max(x, y), &sum.hi);
  };
  for (const LinearTerm& t : s.left.terms) {
    __int128 c = t.coefficient;
    for (const LinearTerm& r : s.right.terms) {
      if (r.node == t.node) c -= r.coefficient;
    }
    if (!add(t.node, c)) return std::nullopt;
  }
  for (const LinearTerm& r : s.right.terms) {
    const bool shared = std::any_of(s.left.terms.begin(), s.left.terms.end(),
                                    [&](const LinearTerm& t) { return t.node == r.node; });
    if (!shared && !add(r.node, -static_cast<__int128>(r.coefficient))) return std::nullopt;
  }
  return sum;
}

// The difference with positive terms on the left and the others, negated, on the right.
bool Separate(const Linear& d, Linear* left, Linear* right) {
  *left = *right = Linear{d.dtype, {}, 0};
  for (const LinearTerm& t : d.terms) {
    if (t.coefficient == INT64_MIN) return false;
    if (t.coefficient > 0) {
      left->terms.push_back(t);
    } else {
      right->terms.push_back({t.node, SignExtend(static_cast<uint64_t>(-t.coefficient), d.dtype.BitWidth())});
    }
  }
  if (d.constant == INT64_MIN) return false;
  // The constant goes where it is a constant alone, else to the right.
  if (right->terms.empty() || d.constant < 0) {
    right->constant = -d.constant;
  } else {
    left->constant = d.constant;
  }
  return true;
}

UOpRef CompareLess(const Match& m) {
  const UOpRef& n = m.root();
  const BoundsCache* bounds = BoundsOf(m);
  if (bounds == nullptr || !n->shape().empty() || n->src(0)->IsConst()) return nullptr;
  const Sides s = Take(n, *bounds);
  const auto d = ExactDifference(s, *bounds);
  if (!d) return nullptr;
  if (d->hi < 0) return Const(n->dtype(), 1);
  if (d->lo >= 0) return Const(n->dtype(), 0);
  const DType t = s.left.dtype;
  if (s.right.IsConst()) {
    // sum(a t) < c: divide by g | a (c rounds up), and drop a rest r in [0, g) where g | c: g y + r < c is y
    // < c / g.
    const __int128 limit = static_cast<__int128>(s.right.constant) - s.left.constant;
    std::vector<int64_t> divisors;
    for (const LinearTerm& term : s.left.terms) {
      const int64_t a = term.coefficient;
      if (a != INT64_MIN && std::abs(a) > 1) divisors.push_back(std::abs(a));
    }
    divisors.push_back(std::max<int64_t>(CoefficientGcd(s.left), 1));
    std::sort(divisors.rbegin(), divisors.rend());
    divisors.erase(std::unique(divisors.begin(), divisors.end()), divisors.end());
    for (const int64_t g : divisors) {
      Linear multiple{t, {}, 0}, rest{t, {}, 0};
      for (const LinearTerm& term : s.left.terms) {
        (term.coefficient % g == 0 ? multiple : rest).terms.push_back(term);
      }
      // g y + r < limit is g y < limit - r: the same y for every r in [0, g) when limit % g == 0, or when no
      // r is left.
      const auto r = BoundsOfLinear(rest, *bounds);
      if (!r || r->lo < 0 || r->hi >= g || (!rest.terms.empty() && limit % g != 0)) continue;
      if (g == 1 && s.left.constant == 0) continue;
      __int128 c = limit / g;
      if (limit % g > 0) ++c;
      for (LinearTerm& term : multiple.terms) term.coefficient /= g;
      if (!Exact(multiple, *bounds)) continue;
      // A limit past the type is past every value that the sum takes: bounds would have settled it.
      const WideInterval limits = TypeLimits(t);
      if (c < limits.lo || c > limits.hi) continue;
      return CmpLt(FromLinear(multiple), Const(t, static_cast<int64_t>(c)));
    }
    return nullptr;
  }
  if (s.difference.terms.size() >= s.left.terms.size() + s.right.terms.size()) return nullptr;
  Linear left, right;
  if (!Separate(s.difference, &left, &right) || !Exact(left, *bounds) || !Exact(right, *bounds))
    return nullptr;
  return CmpLt(FromLinear(left), FromLinear(right));
}

UOpRef CompareEqual(const Match& m) {
  const UOpRef& n = m.root();
  const BoundsCache* bounds = BoundsOf(m);
  if (bounds == nullptr || !n->shape().empty()) return nullptr;
  const bool equal = n->op() == Op::kCmpEq;
  const Sides s = Take(n, *bounds);
  const DType t = s.left.dtype;
  if (s.difference.IsConst()) return Const(n->dtype(), (s.difference.constant == 0) == equal);
  const auto d = ExactDifference(s, *bounds);
  if (d && (d->lo > 0 || d->hi < 0)) return Const(n->dtype(), !equal);
  // Only the low bits that the coefficients share tell: at the type's width, g | a for a power of two g means
  // that the difference is its constant modulo g; for any other g this wants exact sums.
  const int64_t g = CoefficientGcd(s.difference);
  if (g > 1 && s.difference.constant % g != 0 &&
      (IsPow2(static_cast<uint64_t>(g)) || (d && Exact(s.difference, *bounds)))) {
    return Const(n->dtype(), !equal);
  }
  const bool merges = s.difference.terms.size() < s.left.terms.size() + s.right.terms.size();
  const bool moves = s.right.IsConst() && s.left.constant != 0;
  if (!merges && !moves) return nullptr;
  Linear left, right;
  if (!Separate(s.difference, &left, &right)) return nullptr;
  UOpRef a = FromLinear(left), b = FromLinear(right);
  if (moves && !merges) {
    Linear all = s.left;
    all.constant = 0;
    a = FromLinear(all);
    b = Const(t, static_cast<int64_t>(static_cast<uint64_t>(s.right.constant) -
                                      static_cast<uint64_t>(s.left.constant)));
  }
  if (a->IsConst()) std::swap(a, b);
  const UOpRef out = UOp::Make(n->op(), n->dtype(), {a, b});
  return out == n ? nullptr : out;
}

}  // namespace

std::vector<Rule> ComparisonRules() {
  const Pattern x = Wild("x"), y = Wild("y"), c0 = ConstWild("c0"), c1 = ConstWild("c1");
  return {
      R("lt-self", x < x, 0, kAllTypes),
      R("eq-self", x == x, 1, kIntsAndBools),
      R("ne-self", x != x, 0, kIntsAndBools),
      R("lt-product", (x * c0) < c1, x < -((-c1) / c0), kInts, If(c0 > 1 && NoWrap(x * c0) && NoWrap(-c1))),
      R("gt-product", c1 < (x * c0), (c1 / c0) < x, kInts, If(c0 > 1 && NoWrap(x * c0))),
      R("lt-quotient", (x / c0) < c1, x < (c1 * c0), kInts, If(c0 > 0 && NoWrap(c1 * c0))),
      R("gt-quotient", c1 < (x / c0), (c1 * c0 + (c0 + -1)) < x, kInts,
        If(c0 > 0 && NoWrap(c1 * c0 + (c0 + -1)))),
      R("eq-product", (x * c0) == c1, x == (c1 / c0), kInts,
        If(c0 != 0 && c0 != -1 && c1 % c0 == 0 && NoWrap(x * c0))),
      R("ne-product", (x * c0) != c1, x != (c1 / c0), kInts,
        If(c0 != 0 && c0 != -1 && c1 % c0 == 0 && NoWrap(x * c0))),
      R("eq-no-multiple", (x * c0) == c1, 0, kInts, If(c0 != 0 && c1 % c0 != 0 && NoWrap(x * c0))),
      R("ne-no-multiple", (x * c0) != c1, 1, kInts, If(c0 != 0 && c1 % c0 != 0 && NoWrap(x * c0))),
      R("lt-sum", x < y, kInts,
        "exact sums: settled by the bounds of the difference; common terms cancel; common factors divide",
        CompareLess),
      R("gt-add", c1 < (x + c0), (c1 + c0 * -1) < x, kInts, If(NoWrap(x + c0) && NoWrap(c1 + c0 * -1))),
      R("eq-sum", AnyOp(OpSetOf({Op::kCmpEq, Op::kCmpNe}), {x, y}), kInts,
        "sums: common terms cancel, the constant goes right", CompareEqual),
  };
}

}  // namespace understudy::symbolic
