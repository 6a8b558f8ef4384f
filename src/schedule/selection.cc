// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/selection.h"

#include <algorithm>

#include "src/schedule/index_expr.h"
#include "src/schedule/pins.h"
#include "src/schedule/sizes.h"
#include "src/uop/build.h"

namespace understudy {

using pins::Clauses;
using pins::PinnedTo;
using pins::Replace;
using pins::Seen;
using pins::ThroughViews;
using pins::ValueOf;

namespace {

// +0, false, or the least unsigned number where the reduction takes the greatest: also what an invalid load
// gives.
bool IsIdentity(Op op, const UOp& x) {
  if (x.op() != Op::kConst) return false;
  const DType t = x.dtype();
  if (op != Op::kAdd && !(op == Op::kMax && (t.IsBool() || t.IsUnsigned()))) return false;
  return ArgEquals(x.arg(), t.IsFloat() ? Arg(0.0) : Arg(int64_t{0}));
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
                     [&](const UOpRef& r) { return PinnedTo(w.node->src(0).get(), w.at, r).has_value(); });
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
