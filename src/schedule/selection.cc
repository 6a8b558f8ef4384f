// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/selection.h"

#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "src/schedule/index_expr.h"
#include "src/schedule/sizes.h"
#include "src/schedule/views.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

// +0, false, or the least unsigned number where the reduction takes the greatest: also what an invalid load
// gives.
bool IsIdentity(Op op, const UOp& x) {
  if (x.op() != Op::kConst) return false;
  const DType t = x.dtype();
  if (op != Op::kAdd && !(op == Op::kMax && (t.IsBool() || t.IsUnsigned()))) return false;
  return ArgEquals(x.arg(), t.IsFloat() ? Arg(0.0) : Arg(int64_t{0}));
}

bool Fits(const index::Interval& i, DType t) {
  return t == dtypes::kIndex || (t.IsInt() && Canonical(t, i.lo) == ConstValue(i.lo) &&
                                 Canonical(t, i.hi) == ConstValue(i.hi) && !(t.IsUnsigned() && i.lo < 0));
}

bool Mentions(const UOpRef& x, const UOpRef& range) { return x != nullptr && uop::Reaches(x, range); }

bool Mentions(const Place& at, const UOpRef& range) {
  return Mentions(at.valid, range) ||
         std::any_of(at.index.begin(), at.index.end(), [&](const UOpRef& i) { return Mentions(i, range); });
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

// --- Tensor level ---

struct Seen {
  const UOp* node;
  Place at;
  bool padded = false;
};
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

bool Pins(const UOp* condition, const Place& at, const UOpRef& range) {
  const Seen c = ThroughViews(condition, at, false);
  if (c.padded) return false;
  if (c.node->op() == Op::kAnd && c.node->dtype().IsBool()) {
    return Pins(c.node->src(0).get(), c.at, range) || Pins(c.node->src(1).get(), c.at, range);
  }
  if (c.node->op() != Op::kCmpEq) return false;
  for (int side = 0; side < 2; ++side) {
    const UOpRef position = PositionOf(c.node->src(side).get(), c.at);
    if (position == nullptr || !Solve(position, range)) continue;
    if (!Mentions(ThroughViews(c.node->src(1 - side).get(), c.at, true).at, range)) return true;
  }
  return false;
}

// --- Kernel level ---

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

// The index expression that an integer value is, when it is a position or follows from one.
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

UOpRef AsIndex(const UOpRef& x) {
  const UOpRef position = Position(x);
  return position != nullptr ? position : uop::Cast(x, dtypes::kIndex);
}

// What the range is wherever the clause holds; null when the clause does not say.
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

// The expression with `at` in place of the range; loads whose place changes are made where `inside` holds
// only.
UOpRef Replace(const UOpRef& root, const UOpRef& range, const UOpRef& at, const UOpRef& inside) {
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
    if (changed && n->dtype() == dtypes::kIndex && n->op() == Op::kAdd) {
      out = index::Sum(src[0], src[1]);
    } else if (changed && n->dtype() == dtypes::kIndex && n->op() == Op::kMul && src[1]->IsConst()) {
      out = index::Scale(src[0], src[1]->const_int());
    } else if (changed && n->op() == Op::kFloorDiv && n->dtype() == dtypes::kIndex && src[1]->IsConst()) {
      out = index::Quotient(src[0], src[1]->const_int());
    } else if (changed && n->op() == Op::kFloorMod && n->dtype() == dtypes::kIndex && src[1]->IsConst()) {
      out = index::Remainder(src[0], src[1]->const_int());
    } else if (changed && n->op() == Op::kIndex) {
      out = uop::IndexOf(src[0], src[1], index::Both(src.size() > 2 ? src[2] : nullptr, inside));
    } else if (changed) {
      out = n->WithSrc(std::move(src));
    }
    done.emplace(n, std::move(out));
  }
  return done.at(root.get());
}

// Zero wherever `inside` does not hold, because it is a load that is not made there.
bool IsGuarded(const UOp* x, const UOpRef& inside) {
  while (x->op() == Op::kCast) x = x->src(0).get();
  if (x->op() != Op::kLoad || x->src(0)->num_src() < 3) return false;
  const std::vector<UOpRef> have = Clauses(x->src(0)->src(2));
  for (const UOpRef& c : Clauses(inside)) {
    if (!std::count(have.begin(), have.end(), c)) return false;
  }
  return true;
}

}  // namespace

bool IsSelection(const UOp& reduce) {
  const auto& arg = reduce.arg_as<ReduceArg>();
  const UOp* source = reduce.src(0).get();
  if (source->numel() == 0) return false;
  Place at;
  int64_t id = 0;
  for (size_t axis = 0; axis < source->shape().size(); ++axis) {
    const UOpRef range = AxisRange(*source, axis, id++, AxisKind::kLoop);
    at.index.push_back(range == nullptr ? uop::IndexConst(0) : range);
  }
  std::vector<UOpRef> ranges;
  for (const int64_t a : arg.axes) {
    if (at.index[a]->op() == Op::kRange) ranges.push_back(at.index[a]);
  }
  Seen w = ThroughViews(source, std::move(at), false);
  // Sums accumulate in wider types.
  while (!w.padded && w.node->op() == Op::kCast) w = ThroughViews(w.node->src(0).get(), w.at, false);
  if (w.padded || w.node->op() != Op::kWhere || ranges.empty()) return false;
  if (!IsIdentity(arg.op, *ThroughViews(w.node->src(2).get(), w.at, false).node)) return false;
  return std::all_of(ranges.begin(), ranges.end(),
                     [&](const UOpRef& r) { return Pins(w.node->src(0).get(), w.at, r); });
}

UOpRef SelectRanges(Op op, const UOpRef& value, std::vector<UOpRef> ranges) {
  UOpRef x = value;
  // The cast of a selection is the selection of casts: 0 is 0 in every type.
  if (x->op() == Op::kCast) {
    UOpRef inner = x;
    while (inner->op() == Op::kCast) inner = UOpRef(inner->src(0));
    if (inner->op() == Op::kWhere && IsIdentity(Op::kAdd, *inner->src(2))) {
      UOpRef v = inner->src(1);
      std::vector<DType> types;
      for (UOpRef c = x; c->op() == Op::kCast; c = UOpRef(c->src(0))) types.push_back(c->dtype());
      for (size_t i = types.size(); i-- > 0;) v = uop::Cast(v, types[i]);
      x = uop::Where(inner->src(0), v, uop::Const(x->dtype(), 0));
    }
  }
  for (bool again = true; again;) {
    again = false;
    if (x->op() != Op::kWhere || !IsIdentity(op, *x->src(2))) break;
    const UOpRef zero = x->src(2);
    const std::vector<UOpRef> clauses = Clauses(x->src(0));
    for (size_t c = 0; c < clauses.size() && !again; ++c) {
      for (size_t r = 0; r < ranges.size() && !again; ++r) {
        const UOpRef at = ValueOf(clauses[c], ranges[r]);
        if (at == nullptr) continue;
        const UOpRef inside = index::Both(index::AtLeast(at, 0), index::LessThan(at, ranges[r]->src(0)));
        UOpRef rest;
        for (size_t k = 0; k < clauses.size(); ++k) {
          if (k != c) rest = index::Both(rest, clauses[k]);
        }
        if (inside != nullptr && inside->IsConst(0)) return uop::ConstLike(x, 0);
        UOpRef picked = Replace(x->src(1), ranges[r], at, inside);
        if (rest != nullptr) rest = Replace(rest, ranges[r], at, inside);
        const bool guarded = inside == nullptr || inside->IsConst(1) || IsGuarded(picked.get(), inside);
        const UOpRef condition = guarded ? rest : index::Both(inside, rest);
        ranges.erase(ranges.begin() + static_cast<int64_t>(r));
        again = condition != nullptr && !condition->IsConst(1);
        x = again ? uop::Where(condition, picked, zero) : picked;
        again = again && !ranges.empty();
        c = clauses.size();
        break;
      }
    }
  }
  return ranges.empty() ? x : uop::Reduce(op, x, std::move(ranges));
}

}  // namespace understudy
