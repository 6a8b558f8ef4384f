// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/index_expr.h"

#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "src/base/status.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/sizes.h"

namespace understudy::index {
namespace {

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

// Ranges first, by id; then everything else in structural order.
bool AtomLess(const UOpRef& a, const UOpRef& b) {
  const bool ra = a->op() == Op::kRange, rb = b->op() == Op::kRange;
  if (ra && rb) return a->arg_as<RangeArg>().id < b->arg_as<RangeArg>().id;
  if (ra != rb) return ra;
  return a != b && uop::StructuralLess(a, b);
}

void AddTerm(Linear& l, const UOpRef& atom, int64_t factor) {
  for (Linear::Term& t : l.terms) {
    if (t.atom == atom) {
      t.factor += factor;
      return;
    }
  }
  l.terms.push_back({atom, factor});
}

void Accumulate(Linear& l, const UOpRef& a, int64_t factor) {
  switch (a->op()) {
    case Op::kConst:
      l.constant += a->const_int() * factor;
      return;
    case Op::kAdd:
      Accumulate(l, a->src(0), factor);
      Accumulate(l, a->src(1), factor);
      return;
    case Op::kMul:
      if (a->src(1)->IsConst()) return Accumulate(l, a->src(0), factor * a->src(1)->const_int());
      break;
    default:
      break;
  }
  AddTerm(l, a, factor);
}

// An index read from memory may be anything; sums of such stay inside these limits.
constexpr int64_t kFar = int64_t{1} << 62;

Interval BoundsOfLinear(const Linear& l) {
  __int128 lo = l.constant, hi = l.constant;
  for (const Linear::Term& t : l.terms) {
    const Interval i = BoundsOf(t.atom);
    lo += static_cast<__int128>(t.factor >= 0 ? i.lo : i.hi) * t.factor;
    hi += static_cast<__int128>(t.factor >= 0 ? i.hi : i.lo) * t.factor;
  }
  const auto clamp = [](__int128 v) { return static_cast<int64_t>(std::clamp<__int128>(v, -kFar, kFar)); };
  return {clamp(lo), clamp(hi)};
}

// (x // c) * (k c) + (x % c) * k is x * k.
bool JoinQuotients(Linear& l) {
  for (size_t i = 0; i < l.terms.size(); ++i) {
    const UOpRef m = l.terms[i].atom;
    if (m->op() != Op::kFloorMod || !m->src(1)->IsConst()) continue;
    const int64_t c = m->src(1)->const_int(), k = l.terms[i].factor;
    const UOpRef quotient = Quotient(m->src(0), c);
    for (size_t j = 0; j < l.terms.size(); ++j) {
      if (l.terms[j].atom != quotient || l.terms[j].factor != k * c) continue;
      const UOpRef x = m->src(0);
      l.terms.erase(l.terms.begin() + std::max(i, j));
      l.terms.erase(l.terms.begin() + std::min(i, j));
      Accumulate(l, x, k);
      return true;
    }
  }
  return false;
}

// Splits by the divisor: a == whole * divisor + rest with every factor of rest in [0, divisor).
void Split(const Linear& l, int64_t divisor, Linear& whole, Linear& rest) {
  const auto put = [&](const UOpRef* atom, int64_t factor) {
    const int64_t q = FloorDivide(factor, divisor), r = factor - q * divisor;
    if (atom == nullptr) {
      whole.constant = q;
      rest.constant = r;
      return;
    }
    if (q != 0) whole.terms.push_back({*atom, q});
    if (r != 0) rest.terms.push_back({*atom, r});
  };
  for (const Linear::Term& t : l.terms) put(&t.atom, t.factor);
  put(nullptr, l.constant);
  // A negative remainder may fit where the positive one does not (n - 1 - i, reversed axes).
  Interval b = BoundsOfLinear(rest);
  if (b.lo >= 0 && b.hi < divisor) return;
  Linear w2 = whole, r2 = rest;
  for (Linear::Term& t : r2.terms) {
    if (t.factor * 2 <= divisor) continue;
    t.factor -= divisor;
    AddTerm(w2, t.atom, 1);
  }
  b = BoundsOfLinear(r2);
  const int64_t shift = FloorDivide(b.lo, divisor);
  if (FloorDivide(b.hi, divisor) != shift) return;
  r2.constant -= shift * divisor;
  w2.constant += shift;
  whole = w2;
  rest = r2;
}

// The common factor of the rest's terms and the divisor.
int64_t CommonFactor(const Linear& rest, int64_t divisor) {
  int64_t g = divisor;
  for (const Linear::Term& t : rest.terms) g = std::gcd(g, t.factor);
  return g;
}

bool EndsVariable(const UOpRef& atom) { return atom->op() == Op::kRange && !atom->src(0)->IsConst(); }

bool HasVariableRange(const UOpRef& a) {
  const Linear l = Decompose(a);
  return std::any_of(l.terms.begin(), l.terms.end(), [](const auto& t) { return EndsVariable(t.atom); });
}

// The greatest value, where a range that ends at a variable is at most that variable less one: what the
// variable adds elsewhere may cancel. (An end is MIN(length, room): it is neither more than the one nor the
// other.)
int64_t MostOf(const Linear& l) {
  int64_t most = BoundsOfLinear(l).hi;
  for (const bool room : {false, true}) {
    Linear with;
    with.constant = l.constant;
    for (const Linear::Term& t : l.terms) {
      if (t.factor < 0 && t.atom->op() == Op::kRange) continue;  // at least 0
      if (!EndsVariable(t.atom)) {
        Accumulate(with, t.atom, t.factor);
        continue;
      }
      UOpRef end = t.atom->src(0);
      if (end->op() == Op::kMin) end = UOpRef(end->src(room ? 1 : 0));
      Accumulate(with, end, t.factor);
      with.constant -= t.factor;
    }
    most = std::min(most, BoundsOfLinear(with).hi);
  }
  return most;
}

}  // namespace

Interval BoundsOf(const UOpRef& x) {
  switch (x->op()) {
    case Op::kConst:
      return {x->const_int(), x->const_int()};
    case Op::kRange:
      return {0, std::max<int64_t>(uop::LimitsOf(x->src(0)).hi - 1, 0)};
    case Op::kVar:
    case Op::kMin:
    case Op::kMax: {
      const uop::SizeLimits l = uop::LimitsOf(x);
      return {l.lo, l.hi};
    }
    case Op::kFloorDiv: {
      const Interval i = BoundsOf(x->src(0));
      const int64_t c = x->src(1)->const_int();
      return {FloorDivide(i.lo, c), FloorDivide(i.hi, c)};
    }
    case Op::kFloorMod:
      return {0, x->src(1)->const_int() - 1};
    case Op::kMul:
      if (!x->src(1)->IsConst()) return {-kFar, kFar};
      [[fallthrough]];
    case Op::kAdd:
      return BoundsOfLinear(Decompose(x));
    default:
      return {-kFar, kFar};
  }
}

Linear Decompose(const UOpRef& a) {
  Linear l;
  Accumulate(l, a, 1);
  std::erase_if(l.terms, [](const Linear::Term& t) { return t.factor == 0; });
  return l;
}

UOpRef Compose(Linear l) {
  do {
    std::erase_if(l.terms, [](const Linear::Term& t) { return t.factor == 0; });
  } while (JoinQuotients(l));
  std::sort(l.terms.begin(), l.terms.end(),
            [](const auto& a, const auto& b) { return AtomLess(a.atom, b.atom); });
  UOpRef out;
  for (const Linear::Term& t : l.terms) {
    const UOpRef term = t.factor == 1 ? t.atom : uop::Mul(t.atom, uop::IndexConst(t.factor));
    out = out == nullptr ? term : uop::Add(out, term);
  }
  if (out == nullptr) return uop::IndexConst(l.constant);
  return l.constant == 0 ? out : uop::Add(out, uop::IndexConst(l.constant));
}

UOpRef Sum(const UOpRef& a, const UOpRef& b) {
  if (b->IsConst(0)) return a;
  if (a->IsConst(0)) return b;
  Linear l;
  Accumulate(l, a, 1);
  Accumulate(l, b, 1);
  return Compose(std::move(l));
}

UOpRef Scale(const UOpRef& a, int64_t factor) {
  if (factor == 1) return a;
  Linear l;
  Accumulate(l, a, factor);
  return Compose(std::move(l));
}

UOpRef Quotient(const UOpRef& a, int64_t divisor) {
  US_CHECK(divisor > 0);
  if (divisor == 1) return a;
  Linear whole, rest;
  Split(Decompose(a), divisor, whole, rest);
  const Interval b = BoundsOfLinear(rest);
  if (b.lo >= 0 && b.hi < divisor) return Compose(std::move(whole));
  // Terms and divisor share a factor: floor((g S + r) / (g d)) is floor((S + floor(r / g)) / d).
  const int64_t g = CommonFactor(rest, divisor);
  if (g > 1) {
    for (Linear::Term& t : rest.terms) t.factor /= g;
    rest.constant = FloorDivide(rest.constant, g);
    return Sum(Compose(std::move(whole)), Quotient(Compose(std::move(rest)), divisor / g));
  }
  const UOpRef x = Compose(std::move(rest));
  // floor(floor(y / c) / d) is floor(y / (c d)).
  const UOpRef q = x->op() == Op::kFloorDiv ? Quotient(x->src(0), x->src(1)->const_int() * divisor)
                                            : uop::FloorDiv(x, uop::IndexConst(divisor));
  return Sum(Compose(std::move(whole)), q);
}

UOpRef Remainder(const UOpRef& a, int64_t divisor) {
  US_CHECK(divisor > 0);
  if (divisor == 1) return uop::IndexConst(0);
  Linear whole, rest;
  Split(Decompose(a), divisor, whole, rest);
  const Interval b = BoundsOfLinear(rest);
  if (b.lo >= 0 && b.hi < divisor) return Compose(std::move(rest));
  // (g S + g q + r) mod (g d) is g ((S + q) mod d) + r, for r in [0, g).
  const int64_t g = CommonFactor(rest, divisor);
  if (g > 1) {
    for (Linear::Term& t : rest.terms) t.factor /= g;
    const int64_t q = FloorDivide(rest.constant, g), r = rest.constant - q * g;
    rest.constant = q;
    return Sum(Scale(Remainder(Compose(std::move(rest)), divisor / g), g), uop::IndexConst(r));
  }
  const UOpRef x = Compose(std::move(rest));
  // (y mod (k d)) mod d is y mod d.
  if (x->op() == Op::kFloorMod && x->src(1)->const_int() % divisor == 0) return Remainder(x->src(0), divisor);
  return uop::FloorMod(x, uop::IndexConst(divisor));
}

UOpRef Less(const UOpRef& a, int64_t b) {
  const Interval i = BoundsOf(a);
  if (i.hi < b) return uop::BoolConst(true);
  if (i.lo >= b) return uop::BoolConst(false);
  // Constants on the right.
  Linear l = Decompose(a);
  const int64_t c = b - l.constant;
  l.constant = 0;
  if (l.terms.size() == 1 && l.terms[0].factor > 0) {
    const int64_t f = l.terms[0].factor;  // f x < c: x < ceil(c / f)
    return uop::CmpLt(l.terms[0].atom, uop::IndexConst(FloorDivide(c + f - 1, f)));
  }
  return uop::CmpLt(Compose(std::move(l)), uop::IndexConst(c));
}

UOpRef AtLeast(const UOpRef& a, int64_t b) {
  const Interval i = BoundsOf(a);
  if (i.lo >= b) return uop::BoolConst(true);
  if (i.hi < b) return uop::BoolConst(false);
  Linear l = Decompose(a);
  const int64_t c = b - 1 - l.constant;
  l.constant = 0;
  if (l.terms.size() == 1 && l.terms[0].factor > 0) {
    return uop::CmpLt(uop::IndexConst(FloorDivide(c, l.terms[0].factor)), l.terms[0].atom);
  }
  return uop::CmpLt(uop::IndexConst(c), Compose(std::move(l)));
}

UOpRef LessThan(const UOpRef& a, const UOpRef& b) {
  if (b->IsConst() && !HasVariableRange(a)) return Less(a, b->const_int());
  Linear l = Decompose(a);
  Accumulate(l, b, -1);
  std::erase_if(l.terms, [](const Linear::Term& t) { return t.factor == 0; });
  if (MostOf(l) < 0) return uop::BoolConst(true);
  if (BoundsOfLinear(l).lo >= 0) return uop::BoolConst(false);
  return b->IsConst() ? Less(a, b->const_int()) : uop::CmpLt(a, b);
}

UOpRef Both(const UOpRef& a, const UOpRef& b) {
  if (a == nullptr || a->IsConst(1)) return b != nullptr && b->IsConst(1) ? nullptr : b;
  if (b == nullptr || b->IsConst(1) || a == b) return a;
  if (a->IsConst(0)) return a;
  if (b->IsConst(0)) return b;
  // Already part of the conjunction?
  for (const UOp* u = a.get(); u->op() == Op::kAnd; u = u->src(0).get()) {
    if (u->src(1) == b || u->src(0) == b) return a;
  }
  return uop::And(a, b);
}

UOpRef Substitute(const UOpRef& root, const UOpRef& range, const UOpRef& at, const RemakeFn& remake) {
  absl::flat_hash_map<const UOp*, UOpRef> done;
  for (const UOp* n : uop::Toposort(root)) {
    if (n == range.get()) {
      done.emplace(n, at);
      continue;
    }
    std::vector<UOpRef> src;
    bool changed = false;
    for (const UOpRef& s : n->src()) {
      src.push_back(done.at(s.get()));
      changed |= !(src.back() == s);
    }
    UOpRef out(n);
    if (changed) {
      const bool position = n->dtype() == dtypes::kIndex, by_const = src.size() == 2 && src[1]->IsConst();
      if (position && n->op() == Op::kAdd) {
        out = Sum(src[0], src[1]);
      } else if (position && n->op() == Op::kMul && by_const) {
        out = Scale(src[0], src[1]->const_int());
      } else if (position && n->op() == Op::kFloorDiv && by_const) {
        out = Quotient(src[0], src[1]->const_int());
      } else if (position && n->op() == Op::kFloorMod && by_const) {
        out = Remainder(src[0], src[1]->const_int());
      } else {
        out = remake(*n, src);
        if (out == nullptr) out = n->WithSrc(std::move(src));
      }
    }
    done.emplace(n, std::move(out));
  }
  return done.at(root.get());
}

}  // namespace understudy::index
