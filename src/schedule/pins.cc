// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/pins.h"

#include <algorithm>
#include <utility>

#include "src/schedule/index_expr.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy::pins {
namespace {

bool Fits(const index::Interval& i, DType t) {
  return t == dtypes::kIndex || (t.IsInt() && Canonical(t, i.lo) == ConstValue(i.lo) &&
                                 Canonical(t, i.hi) == ConstValue(i.hi) && !(t.IsUnsigned() && i.lo < 0));
}

// `position` as range * factor + rest with factor 1 or -1 and a rest that does not vary with the range.
struct Pinned {
  int64_t factor;
  index::Linear rest;
};
std::optional<Pinned> Solve(const UOpRef& position, const UOpRef& range) {
  Pinned p{0, index::Decompose(position)};
  for (const auto& t : p.rest.terms) {
    if (t.atom == range)
      p.factor = t.factor;
    else if (Mentions(t.atom, range))
      return std::nullopt;
  }
  if (p.factor != 1 && p.factor != -1) return std::nullopt;
  std::erase_if(p.rest.terms, [&](const auto& t) { return t.atom == range; });
  return p;
}

// What an integer op makes of a position: multiples and sums with constants, and casts that lose nothing.
UOpRef StepOf(const UOp& op, const UOpRef& a, int64_t constant) {
  UOpRef out = a;
  if (op.op() == Op::kAdd) out = index::Sum(a, uop::IndexConst(constant));
  if (op.op() == Op::kMul) out = index::Scale(a, constant);
  return Fits(index::BoundsOf(out), op.dtype()) ? out : nullptr;
}

// The index expression that the value at this place is, when it is an IOTA or follows from one.
UOpRef PositionOf(const UOp* node, Place at) {
  const Seen s = ThroughViews(node, std::move(at), false);
  if (s.padded || !s.node->dtype().IsInt()) return nullptr;
  if (s.node->op() == Op::kIota) return s.at.index[0];
  if (s.node->op() == Op::kCast) {
    const UOpRef inner = PositionOf(s.node->src(0).get(), s.at);
    return inner == nullptr ? nullptr : StepOf(*s.node, inner, 0);
  }
  if (s.node->op() != Op::kAdd && s.node->op() != Op::kMul) return nullptr;
  for (int side = 0; side < 2; ++side) {
    const Seen c = ThroughViews(s.node->src(1 - side).get(), s.at, false);
    if (c.padded || c.node->op() != Op::kConst) continue;
    const UOpRef inner = PositionOf(s.node->src(side).get(), s.at);
    if (inner != nullptr) return StepOf(*s.node, inner, c.node->const_int());
  }
  return nullptr;
}

UOpRef AsIndex(const UOpRef& x) {
  const UOpRef position = Position(x);
  return position != nullptr ? position : uop::Cast(x, dtypes::kIndex);
}

}  // namespace

UOpRef Position(const UOpRef& x) {
  if (x->dtype() == dtypes::kIndex) return x;
  if (!x->dtype().IsInt()) return nullptr;
  if (x->op() == Op::kCast) {
    const UOpRef inner = Position(x->src(0));
    return inner == nullptr ? nullptr : StepOf(*x, inner, 0);
  }
  if (x->op() != Op::kAdd && x->op() != Op::kMul) return nullptr;
  for (int side = 0; side < 2; ++side) {
    if (!x->src(1 - side)->IsConst()) continue;
    const UOpRef inner = Position(x->src(side));
    if (inner != nullptr) return StepOf(*x, inner, x->src(1 - side)->const_int());
  }
  return nullptr;
}

bool Mentions(const UOpRef& x, const UOpRef& range) { return x != nullptr && uop::Reaches(x, range); }

bool Mentions(const Place& at, const UOpRef& range) {
  return Mentions(at.valid, range) ||
         std::any_of(at.index.begin(), at.index.end(), [&](const UOpRef& i) { return Mentions(i, range); });
}

Seen ThroughViews(const UOp* node, Place at, bool casts) {
  Seen s{node, std::move(at)};
  for (;;) {
    if (casts && s.node->op() == Op::kCast && s.node->dtype().IsInt() && s.node->src(0)->dtype().IsInt()) {
      s.node = s.node->src(0).get();
    } else if (IsView(s.node->op())) {
      UOpRef own;
      s.at = SourcePlace(*s.node, s.at, &own);
      s.padded |= own != nullptr;
      s.node = s.node->src(0).get();
    } else {
      return s;
    }
  }
}

std::optional<Place> PinnedTo(const UOp* condition, const Place& at, const UOpRef& range) {
  const Seen c = ThroughViews(condition, at, false);
  if (c.padded) return std::nullopt;
  if (c.node->op() == Op::kAnd && c.node->dtype().IsBool()) {
    for (int side = 0; side < 2; ++side) {
      if (auto found = PinnedTo(c.node->src(side).get(), c.at, range)) return found;
    }
    return std::nullopt;
  }
  if (c.node->op() != Op::kCmpEq) return std::nullopt;
  for (int side = 0; side < 2; ++side) {
    const UOpRef position = PositionOf(c.node->src(side).get(), c.at);
    if (position == nullptr || !Solve(position, range)) continue;
    Place other = ThroughViews(c.node->src(1 - side).get(), c.at, true).at;
    if (!Mentions(other, range)) return other;
  }
  return std::nullopt;
}

std::vector<UOpRef> Clauses(const UOpRef& condition) {
  std::vector<UOpRef> out, work{condition};
  while (!work.empty()) {
    const UOpRef c = work.back();
    work.pop_back();
    if (c->op() == Op::kAnd) {
      work.push_back(c->src(1));
      work.push_back(c->src(0));
    } else {
      out.push_back(c);
    }
  }
  return out;
}

UOpRef ValueOf(const UOpRef& clause, const UOpRef& range) {
  if (clause->op() != Op::kCmpEq) return nullptr;
  for (int side = 0; side < 2; ++side) {
    const UOpRef position = Position(clause->src(side));
    if (position == nullptr) continue;
    const std::optional<Pinned> p = Solve(position, range);
    if (!p || Mentions(clause->src(1 - side), range)) continue;
    const UOpRef rest = index::Compose(p->rest);
    return index::Scale(index::Sum(AsIndex(clause->src(1 - side)), index::Scale(rest, -1)), p->factor);
  }
  return nullptr;
}

UOpRef Replace(const UOpRef& root, const UOpRef& range, const UOpRef& at, const UOpRef& inside) {
  return index::Substitute(root, range, at, [&](const UOp& n, const std::vector<UOpRef>& src) -> UOpRef {
    if (n.op() != Op::kIndex) return nullptr;
    return uop::IndexOf(src[0], src[1], index::Both(src.size() > 2 ? src[2] : nullptr, inside));
  });
}

}  // namespace understudy::pins
