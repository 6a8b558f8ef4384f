// SPDX-License-Identifier: Apache-2.0
#include "src/symbolic/bounds.h"

#include <algorithm>
#include <vector>

#include "src/base/status.h"

namespace understudy::symbolic {
namespace {

using Int = __int128;

bool HasBounds(const UOp& n) { return !n.dtype().IsPointer() && (n.dtype().IsInt() || n.dtype().IsBool()); }

WideInterval Union(WideInterval a, WideInterval b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

Int FloorQuotient(Int a, Int b) {
  const Int q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

// Hull of f over the corners of two intervals on which f is monotone in each argument.
template <class F>
WideInterval Corners(WideInterval a, WideInterval b, F f) {
  const Int v[] = {f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)};
  return {*std::min_element(v, v + 4), *std::max_element(v, v + 4)};
}

// Splits the divisor at zero: quotients are monotone on either side; x/0 = 0 and x%0 = x.
template <class F>
WideInterval BySign(WideInterval b, WideInterval at_zero, F f) {
  WideInterval out{0, -1};
  const auto add = [&](WideInterval r) { out = out.lo > out.hi ? r : Union(out, r); };
  if (b.lo < 0) add(f(WideInterval{b.lo, std::min<Int>(b.hi, -1)}));
  if (b.hi > 0) add(f(WideInterval{std::max<Int>(b.lo, 1), b.hi}));
  if (b.lo <= 0 && b.hi >= 0) add(at_zero);
  return out;
}

WideInterval Quotient(WideInterval a, WideInterval b, bool floor) {
  return BySign(b, {0, 0}, [&](WideInterval d) {
    return Corners(a, d, [&](Int x, Int y) { return floor ? FloorQuotient(x, y) : x / y; });
  });
}

WideInterval FloorRemainder(WideInterval a, WideInterval b) {
  return BySign(b, a, [&](WideInterval d) -> WideInterval {
    if (d.IsPoint()) {
      const Int q = FloorQuotient(a.lo, d.lo);
      if (q == FloorQuotient(a.hi, d.lo)) return {a.lo - q * d.lo, a.hi - q * d.lo};
    }
    if (d.lo > 0)
      return {a.lo >= 0 && a.hi < d.lo ? a.lo : 0, a.lo >= 0 ? std::min(a.hi, d.hi - 1) : d.hi - 1};
    return {a.hi <= 0 ? std::max(a.lo, d.lo + 1) : d.lo + 1, a.hi <= 0 && a.lo > d.hi ? a.hi : 0};
  });
}

WideInterval TruncRemainder(WideInterval a, WideInterval b) {
  return BySign(b, a, [&](WideInterval d) -> WideInterval {
    if (d.IsPoint()) {
      const Int q = a.lo / d.lo;
      // One quotient, and not the quotient 0 of both signs (there the remainder is the dividend all the
      // same).
      if (q == a.hi / d.lo) return {a.lo - q * d.lo, a.hi - q * d.lo};
    }
    const Int most = std::max(d.hi < 0 ? -d.hi : d.hi, d.lo < 0 ? -d.lo : d.lo) - 1;
    const Int least = std::min(d.hi < 0 ? -d.hi : d.hi, d.lo < 0 ? -d.lo : d.lo);  // smallest |divisor|
    if (a.lo > -least && a.hi < least) return a;
    return {a.lo >= 0 ? 0 : std::max(a.lo, -most), a.hi <= 0 ? 0 : std::min(a.hi, most)};
  });
}

// 2^k - 1 with the fewest bits that hold v >= 0.
Int AllOnes(Int v) {
  Int ones = 0;
  while (ones < v) ones = ones * 2 + 1;
  return ones;
}

}  // namespace

WideInterval TypeLimits(DType type) {
  const DType t = type.Element();
  if (t == dtypes::kUInt64) return {0, (Int{1} << 64) - 1};
  return {std::get<int64_t>(MinValue(t)), std::get<int64_t>(MaxValue(t))};
}

__int128 ExactValue(const UOp& constant) {
  const int64_t v = constant.const_int();
  return constant.dtype().Element() == dtypes::kUInt64 ? Int{static_cast<uint64_t>(v)} : v;
}

// All sources that have bounds are in done_.
WideInterval BoundsCache::Compute(const UOp& n) const {
  const WideInterval limits = TypeLimits(n.dtype());
  const auto src = [&](size_t i) { return done_.at(n.src(i)); };
  const auto within = [&](WideInterval r) { return r.lo >= limits.lo && r.hi <= limits.hi ? r : limits; };
  const auto truth = [](bool yes, bool no) {
    return yes ? WideInterval{1, 1} : no ? WideInterval{0, 0} : WideInterval{0, 1};
  };
  switch (n.op()) {
    case Op::kConst: {
      const Int v = ExactValue(n);
      return {v, v};
    }
    case Op::kVar: {
      const VarArg& v = n.arg_as<VarArg>();
      if (n.dtype() == dtypes::kUInt64) {
        if ((v.min < 0) != (v.max < 0)) return limits;
        return within({Int{static_cast<uint64_t>(v.min)}, Int{static_cast<uint64_t>(v.max)}});
      }
      return {v.min, v.max};
    }
    case Op::kRange:
    case Op::kSpecial:
      return {0, std::max<Int>(src(0).hi - 1, 0)};
    case Op::kAfter:
    case Op::kGep:
      return src(0);
    case Op::kVectorize: {
      WideInterval r = src(0);
      for (size_t i = 1; i < n.num_src(); ++i) r = Union(r, src(i));
      return r;
    }
    case Op::kCast:
      if (!HasBounds(*n.src(0))) return limits;
      if (n.dtype().IsBool()) return truth(src(0).lo > 0 || src(0).hi < 0, src(0) == WideInterval{0, 0});
      return within(src(0));
    case Op::kBitcast:
      if (!HasBounds(*n.src(0)) || n.src(0)->dtype().lanes != n.dtype().lanes) return limits;
      return within(src(0));
    default:
      break;
  }
  if (!IsAlu(n.op())) return limits;
  if (n.op() == Op::kWhere) {
    const WideInterval c = src(0);
    return c.IsPoint() ? (c.lo != 0 ? src(1) : src(2)) : Union(src(1), src(2));
  }
  for (const UOpRef& s : n.src()) {
    if (!HasBounds(*s)) return limits;  // a comparison of floats
  }
  const WideInterval a = src(0), b = n.num_src() > 1 ? src(1) : WideInterval{0, 0};
  const int bits = n.dtype().BitWidth();
  switch (n.op()) {
    case Op::kNeg:
      return within({-a.hi, -a.lo});
    case Op::kAdd:
      return within({a.lo + b.lo, a.hi + b.hi});
    case Op::kSub:
      return within({a.lo - b.hi, a.hi - b.lo});
    case Op::kMul:
    case Op::kMulAcc: {
      // Only u64 by u64 reaches 2^128; every such product leaves the type anyway.
      Int p[4];
      if (__builtin_mul_overflow(a.lo, b.lo, &p[0]) || __builtin_mul_overflow(a.lo, b.hi, &p[1]) ||
          __builtin_mul_overflow(a.hi, b.lo, &p[2]) || __builtin_mul_overflow(a.hi, b.hi, &p[3])) {
        return limits;
      }
      const WideInterval r{*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
      if (n.op() == Op::kMul) return within(r);
      Int lo, hi;
      if (__builtin_add_overflow(r.lo, src(2).lo, &lo) || __builtin_add_overflow(r.hi, src(2).hi, &hi))
        return limits;
      return within({lo, hi});
    }
    case Op::kIDiv:
      return within(Quotient(a, b, false));
    case Op::kFloorDiv:
      return within(Quotient(a, b, true));
    case Op::kIMod:
      return TruncRemainder(a, b);
    case Op::kFloorMod:
      return FloorRemainder(a, b);
    case Op::kMax:
      return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    case Op::kMin:
      return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    case Op::kAnd:
      if (a.IsPoint() && b.IsPoint()) return {a.lo & b.lo, a.lo & b.lo};
      if (a.lo >= 0 && b.lo >= 0) return {0, std::min(a.hi, b.hi)};
      if (a.lo >= 0) return {0, a.hi};
      if (b.lo >= 0) return {0, b.hi};
      return limits;
    case Op::kOr:
      if (a.lo < 0 || b.lo < 0) return limits;
      return {std::max(a.lo, b.lo), AllOnes(std::max(a.hi, b.hi))};
    case Op::kXor:
      if (a.IsPoint() && b.IsPoint() && a.lo >= 0 && b.lo >= 0) return {a.lo ^ b.lo, a.lo ^ b.lo};
      if (a.lo < 0 || b.lo < 0) return limits;
      return {0, AllOnes(std::max(a.hi, b.hi))};
    case Op::kShl: {
      if (b.lo < 0 || b.hi >= bits) return limits;
      return within(Corners(a, b, [](Int x, Int y) { return x * (Int{1} << static_cast<int>(y)); }));
    }
    case Op::kShr: {
      // A negative amount is a large one: only the sign remains.
      const Int most = bits;
      const WideInterval d =
          b.lo < 0 ? WideInterval{0, most} : WideInterval{std::min(b.lo, most), std::min(b.hi, most)};
      return Corners(a, d, [](Int x, Int y) { return x >> static_cast<int>(y); });
    }
    case Op::kCmpLt:
      if (n.src(0) == n.src(1)) return {0, 0};
      return truth(a.hi < b.lo, a.lo >= b.hi);
    case Op::kCmpEq:
      if (n.src(0) == n.src(1)) return {1, 1};
      return truth(a.IsPoint() && a == b, a.hi < b.lo || b.hi < a.lo);
    case Op::kCmpNe:
      if (n.src(0) == n.src(1)) return {0, 0};
      return truth(a.hi < b.lo || b.hi < a.lo, a.IsPoint() && a == b);
    default:
      return limits;
  }
}

WideInterval BoundsCache::Wide(const UOpRef& node) const {
  US_CHECK(HasBounds(*node)) << "bounds of " << node->dtype().Name();
  if (const auto it = done_.find(node); it != done_.end()) return it->second;
  std::vector<std::pair<const UOp*, size_t>> stack{{node.get(), 0}};
  while (!stack.empty()) {
    const UOp* n = stack.back().first;
    if (stack.back().second < n->num_src()) {
      const UOpRef& s = n->src(stack.back().second++);
      // What lies below memory, floats or effects does not matter.
      if (HasBounds(*s) && n->op() != Op::kLoad && !done_.contains(s)) stack.emplace_back(s.get(), 0);
      continue;
    }
    stack.pop_back();
    const UOpRef ref(n);
    if (done_.contains(ref)) continue;
    WideInterval w = Compute(*n);
    if (const auto it = assumptions_.find(ref); it != assumptions_.end()) {
      WideInterval both = w;
      if (it->second.lo) both.lo = std::max<Int>(both.lo, *it->second.lo);
      if (it->second.hi) both.hi = std::min<Int>(both.hi, *it->second.hi);
      if (both.lo <= both.hi) {
        w = both;
      } else {
        contradiction_ =
            true;  // no value is possible: any answer is right, the plain one keeps the interval sound
      }
    }
    done_.emplace(ref, w);
  }
  return done_.at(node);
}

Interval BoundsCache::BoundsOf(const UOpRef& node) const {
  if (!HasBounds(*node)) return {};
  const WideInterval w = Wide(node);
  Interval out;
  if (w.lo <= INT64_MAX) out.lo = static_cast<int64_t>(w.lo);
  if (w.hi <= INT64_MAX) out.hi = static_cast<int64_t>(w.hi);
  return out;
}

Interval Bounds(const UOpRef& node) { return BoundsCache().BoundsOf(node); }

bool FitsIn(const UOpRef& node, DType type) {
  const WideInterval w = BoundsCache().Wide(node), limits = TypeLimits(type);
  return w.lo >= limits.lo && w.hi <= limits.hi;
}

}  // namespace understudy::symbolic
