// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/partial_store.h"

#include <algorithm>

#include "src/schedule/index_expr.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/sizes.h"

namespace understudy {
namespace {

// A window that is known when compiling is stored alone only where it is a small part of a large output:
// others share kernels with what is computed beside them.
constexpr int64_t kLargeOutput = int64_t{1} << 20, kSmallPart = 4;

int64_t MostElements(const std::vector<UOpRef>& ranges) {
  int64_t n = 1;
  for (const UOpRef& r : ranges)
    if (r != nullptr && __builtin_mul_overflow(n, uop::LimitsOf(r->src(0)).hi, &n)) return INT64_MAX;
  return n;
}

void AddClauses(const UOpRef& condition, std::vector<UOpRef>* out) {
  if (condition->op() == Op::kAnd) {
    AddClauses(condition->src(0), out);
    AddClauses(condition->src(1), out);
  } else if (condition->op() == Op::kWhere && condition->src(2)->IsConst(0)) {  // a mask that was padded
    AddClauses(condition->src(0), out);
    AddClauses(condition->src(1), out);
  } else {
    out->push_back(condition);
  }
}

// The clause as range < `below` or `from` <= range, the other side made of variables only.
struct Bound {
  UOpRef from, below;
};
std::optional<Bound> BoundOf(const UOpRef& clause, const UOpRef& range) {
  if (clause->op() != Op::kCmpLt || clause->src(0)->dtype() != dtypes::kIndex) return std::nullopt;
  const UOpRef minus = index::Scale(clause->src(1), -1);
  index::Linear l = index::Decompose(index::Sum(clause->src(0), minus));  // < 0
  int64_t factor = 0;
  for (const auto& t : l.terms) {
    if (t.atom == range)
      factor = t.factor;
    else if (!uop::IsSizeExpr(*t.atom))
      return std::nullopt;
  }
  std::erase_if(l.terms, [&](const auto& t) { return t.atom == range; });
  const UOpRef rest = index::Compose(std::move(l));
  if (factor == 1) return Bound{nullptr, index::Scale(rest, -1)};
  if (factor == -1) return Bound{index::Sum(rest, uop::IndexConst(1)), nullptr};
  return std::nullopt;
}

// The expression with `at` in place of the range; what that decides about conditions is used.
UOpRef Replaced(const UOpRef& root, const UOpRef& range, const UOpRef& at) {
  return index::Substitute(root, range, at, [](const UOp& n, const std::vector<UOpRef>& src) -> UOpRef {
    if (n.op() == Op::kCmpLt && src[0]->dtype() == dtypes::kIndex) return index::LessThan(src[0], src[1]);
    if (n.op() == Op::kAnd && n.dtype().IsBool()) {
      const UOpRef both = index::Both(src[0], src[1]);
      return both == nullptr ? uop::BoolConst(true) : both;
    }
    if (n.op() == Op::kWhere && src[0]->IsConst()) return src[0]->IsConst(1) ? src[1] : src[2];
    if (n.op() == Op::kIndex && src.size() == 3 && src[2]->IsConst(1)) return uop::IndexOf(src[0], src[1]);
    return nullptr;
  });
}

}  // namespace

std::optional<PartialStore> FindPartialStore(const UOpRef& value, const UOpRef& index,
                                             const std::vector<UOpRef>& ranges, int slot) {
  if (value->op() != Op::kWhere) return std::nullopt;
  const UOpRef& old = value->src(2);
  if (old->op() != Op::kLoad || old->src(0)->num_src() != 2) return std::nullopt;
  const UOp& place = *old->src(0);
  if (place.src(0)->op() != Op::kParam || place.src(0)->arg_as<int64_t>() != slot) return std::nullopt;
  const auto same = [](const UOpRef& a, const UOpRef& b) {
    return a == b || index::Compose(index::Decompose(a)) == index::Compose(index::Decompose(b));
  };
  if (!same(place.src(1), index)) return std::nullopt;

  std::vector<UOpRef> clauses;
  AddClauses(value->src(0), &clauses);
  PartialStore out{value->src(1), index, nullptr, ranges};
  bool found = false, known = true;
  for (UOpRef& range : out.ranges) {
    UOpRef from, below;
    for (const UOpRef& c : clauses) {
      const std::optional<Bound> b = BoundOf(c, range);
      if (!b) continue;
      if (b->from != nullptr && from == nullptr) from = b->from;
      if (b->below != nullptr && below == nullptr) below = b->below;
    }
    const UOpRef& end = range->src(0);
    if (from == nullptr) from = uop::IndexConst(0);
    if (below == nullptr) below = end;
    if (from->IsConst(0) && below == end) continue;
    UOpRef steps = uop::SizeSum(below, uop::SizeScale(from, -1));
    const int64_t most = uop::LimitsOf(end).hi;
    if (steps->IsConst()) {
      if (steps->const_int() < 1 || steps->const_int() > most) continue;
    } else if (uop::LimitsOf(steps).hi > most) {
      steps = uop::Min(steps, uop::IndexConst(most));
    }
    const auto& arg = range->arg_as<RangeArg>();
    // Range ids are unique in a kernel: nothing else is called so. One step needs no range.
    const UOpRef shorter = steps->IsConst(1) ? UOpRef() : uop::Range(steps, arg.id, arg.kind);
    if (shorter == range) continue;
    const UOpRef at = shorter == nullptr ? from : index::Sum(shorter, from);
    for (UOpRef& c : clauses) c = Replaced(c, range, at);
    clauses.push_back(index::AtLeast(at, 0));
    clauses.push_back(index::LessThan(at, end));
    out.value = Replaced(out.value, range, at);
    out.index = Replaced(out.index, range, at);
    range = shorter;
    found = true;
    known &= from->IsConst() && below->IsConst();
  }
  if (!found) return std::nullopt;
  const int64_t whole = known ? MostElements(ranges) : 0;
  if (known && (whole < kLargeOutput || MostElements(out.ranges) > whole / kSmallPart)) return std::nullopt;
  std::erase(out.ranges, nullptr);
  for (const UOpRef& c : clauses) out.valid = index::Both(out.valid, c);
  if (out.valid != nullptr && out.valid->IsConst(1)) out.valid = nullptr;
  return out;
}

}  // namespace understudy
