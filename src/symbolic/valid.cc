// SPDX-License-Identifier: Apache-2.0
// Validity: a condition guards an index, so the index may be simplified as if the condition held, and a
// clause as if the other clauses did.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/symbolic/linear.h"
#include "src/symbolic/simplify.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy::symbolic {
namespace {

using Int = __int128;

std::vector<UOpRef> Clauses(const UOpRef& condition) {
  std::vector<UOpRef> out, work{condition};
  while (!work.empty()) {
    const UOpRef e = work.back();
    work.pop_back();
    if (e->op() == Op::kAnd && e->dtype().IsBool()) {
      work.push_back(e->src(1));
      work.push_back(e->src(0));
    } else if (!(e->IsConst(1))) {
      out.push_back(e);
    }
  }
  return out;
}

UOpRef Join(const std::vector<UOpRef>& clauses) {
  UOpRef out;
  for (const UOpRef& c : clauses) out = out == nullptr ? c : uop::And(out, c);
  return out == nullptr ? uop::BoolConst(true) : out;
}

void Narrow(Assumptions* all, const UOpRef& node, std::optional<Int> lo, std::optional<Int> hi) {
  if (node->IsConst()) return;
  Interval& i = (*all)[node];
  // A limit past int64 on the side where it excludes nothing representable is left out; the other way it is
  // clamped, which keeps the (empty) interval empty.
  if (lo && *lo >= INT64_MIN) {
    const auto v = static_cast<int64_t>(std::min<Int>(*lo, INT64_MAX));
    if (*lo <= INT64_MAX && (!i.lo || *i.lo < v)) i.lo = v;
  }
  if (hi && *hi <= INT64_MAX) {
    const auto v = static_cast<int64_t>(std::max<Int>(*hi, INT64_MIN));
    if (*hi >= INT64_MIN && (!i.hi || *i.hi > v)) i.hi = v;
  }
}

// left + slack <= right with slack 0 or 1 (CMPLT): limits for both sides and, in an exact sum, for each of
// its terms by the least that the others take.
void AddLess(Assumptions* all, const UOpRef& left, const UOpRef& right, const BoundsCache& bounds) {
  const WideInterval l = bounds.Wide(left), r = bounds.Wide(right);
  Narrow(all, left, std::nullopt, r.hi - 1);
  Narrow(all, right, l.lo + 1, std::nullopt);
  const Linear a = ToLinear(left, true), b = ToLinear(right, true);
  if (!Exact(a, bounds) || !Exact(b, bounds)) return;
  // sum over terms of c_i t_i < limit, terms of the right side negated.
  std::vector<std::pair<UOpRef, Int>> terms;
  for (const LinearTerm& t : a.terms) terms.emplace_back(t.node, t.coefficient);
  for (const LinearTerm& t : b.terms) {
    const auto it =
        std::find_if(terms.begin(), terms.end(), [&](const auto& o) { return o.first == t.node; });
    if (it == terms.end()) {
      terms.emplace_back(t.node, -Int{t.coefficient});
    } else {
      it->second -= t.coefficient;
    }
  }
  const Int limit = Int{b.constant} - a.constant - 1;  // sum <= limit
  Int least = 0;
  for (const auto& [node, c] : terms) {
    const WideInterval w = bounds.Wide(node);
    Int p;
    if (__builtin_mul_overflow(c, c > 0 ? w.lo : w.hi, &p) || __builtin_add_overflow(least, p, &least))
      return;
  }
  for (const auto& [node, c] : terms) {
    if (c == 0) continue;
    const WideInterval w = bounds.Wide(node);
    const Int room = limit - (least - c * (c > 0 ? w.lo : w.hi));  // c * t <= room
    const Int q = room / c, rem = room % c;
    const bool inexact_down = rem != 0 && (rem < 0) != (c < 0);  // q was rounded up
    if (c > 0) {
      Narrow(all, node, std::nullopt, inexact_down ? q - 1 : q);  // t <= floor(room / c)
    } else {
      Narrow(all, node, rem != 0 && !inexact_down ? q + 1 : q, std::nullopt);  // t >= ceil(room / c)
    }
  }
}

void AddClause(Assumptions* all, const UOpRef& clause, const BoundsCache& bounds) {
  all->insert_or_assign(clause, Interval{1, 1});
  const auto is_int = [](const UOpRef& n) { return n->dtype().IsInt() && !n->dtype().IsPointer(); };
  if (clause->op() == Op::kCmpLt && is_int(clause->src(0))) {
    AddLess(all, clause->src(0), clause->src(1), bounds);
  } else if (clause->op() == Op::kCmpEq && is_int(clause->src(0))) {
    const WideInterval a = bounds.Wide(clause->src(0)), b = bounds.Wide(clause->src(1));
    Narrow(all, clause->src(0), b.lo, b.hi);
    Narrow(all, clause->src(1), a.lo, a.hi);
  } else if (clause->op() == Op::kXor && clause->dtype().IsBool() && clause->src(1)->IsConst(1)) {
    const UOpRef& negated = clause->src(0);
    if (!negated->IsConst()) all->insert_or_assign(negated, Interval{0, 0});
    if (negated->op() == Op::kCmpLt && is_int(negated->src(0))) {
      const WideInterval a = bounds.Wide(negated->src(0)), b = bounds.Wide(negated->src(1));
      Narrow(all, negated->src(0), b.lo, std::nullopt);
      Narrow(all, negated->src(1), std::nullopt, a.hi);
    }
  }
}

Assumptions FromClauses(const std::vector<UOpRef>& clauses, const UOpRef& except) {
  // Twice: what the first round found tightens the other terms' limits in the second.
  Assumptions all;
  for (int round = 0; round < 2; ++round) {
    const BoundsCache bounds(all);
    Assumptions next = all;
    for (const UOpRef& c : clauses) {
      if (!(c == except)) AddClause(&next, c, bounds);
    }
    all = std::move(next);
  }
  return all;
}

bool Contradicts(const UOpRef& condition, const Assumptions& all) {
  const BoundsCache bounds(all);
  for (const auto& [node, interval] : all) {
    if (interval.lo && interval.hi && *interval.lo > *interval.hi) return true;
    bounds.BoundsOf(node);
  }
  bounds.BoundsOf(condition);
  return bounds.contradiction();
}

// An index that is read from memory counts as one unknown value: what a condition says must not change how
// that memory is read, which happens whether the condition holds or not. `values` maps the unknowns back.
UOpRef Opaque(const UOpRef& x, uop::SubstitutionMap* unknowns, uop::SubstitutionMap* values) {
  absl::flat_hash_set<const UOp*> seen;
  std::vector<const UOp*> stack{x.get()};
  while (!stack.empty()) {
    const UOp* n = stack.back();
    stack.pop_back();
    if (!seen.insert(n).second) continue;
    const bool index = n->dtype().scalar == Scalar::kIndex;
    if (index && n->op() == Op::kCast && n->src(0)->dtype().scalar != Scalar::kIndex) {
      const WideInterval limits = BoundsCache().Wide(UOpRef(n));
      const UOpRef unknown = uop::Var(absl::StrCat("$", unknowns->size()),
                                      static_cast<int64_t>(std::max<Int>(limits.lo, INT64_MIN)),
                                      static_cast<int64_t>(std::min<Int>(limits.hi, INT64_MAX)));
      if (unknowns->emplace(UOpRef(n), unknown).second) values->emplace(unknown, UOpRef(n));
      continue;
    }
    for (const UOpRef& s : n->src()) stack.push_back(s.get());
  }
  return uop::Substitute(x, *unknowns);
}

ValidIndex SimplifyKnown(const UOpRef& valid, const UOpRef& index) {
  std::vector<UOpRef> clauses = Clauses(Simplify(valid));
  // Each clause in the light of the others that are still there; a clause is never used for its own removal,
  // nor one that has been removed for another's.
  for (size_t i = 0; i < clauses.size();) {
    const UOpRef simpler = Simplify(clauses[i], FromClauses(clauses, clauses[i]));
    if (simpler->IsConst(0)) return {uop::BoolConst(false), uop::Const(index->dtype(), 0)};
    if (simpler->IsConst(1)) {
      clauses.erase(clauses.begin() + static_cast<int64_t>(i));
      continue;
    }
    clauses[i] = simpler;
    ++i;
  }
  const UOpRef condition = Simplify(Join(clauses));
  if (condition->IsConst(0)) return {condition, uop::Const(index->dtype(), 0)};
  clauses = Clauses(condition);
  const Assumptions all = FromClauses(clauses, nullptr);
  if (Contradicts(condition, all)) return {uop::BoolConst(false), uop::Const(index->dtype(), 0)};
  return {condition, Simplify(Simplify(index), all)};
}

}  // namespace

Assumptions AssumptionsOf(const UOpRef& condition) { return FromClauses(Clauses(condition), nullptr); }

ValidIndex SimplifyValid(const UOpRef& valid, const UOpRef& index) {
  uop::SubstitutionMap unknowns, values;
  const UOpRef v = Opaque(valid, &unknowns, &values), i = Opaque(index, &unknowns, &values);
  ValidIndex out = SimplifyKnown(v, i);
  if (values.empty()) return out;
  return {uop::Substitute(out.valid, values), uop::Substitute(out.index, values)};
}

}  // namespace understudy::symbolic
