// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/kernel.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/schedule/index_expr.h"
#include "src/symbolic/simplify.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/sizes.h"

namespace understudy {
namespace {

const UOpRef& End(const UOpRef& range) { return range->src(0); }

// In a kernel's name: "16", or "n16" where the range is variable and has at most 16 steps.
std::string EndText(const UOpRef& range) {
  if (End(range)->IsConst()) return absl::StrCat(End(range)->const_int());
  return absl::StrCat("n", uop::LimitsOf(End(range)).hi);
}

// Two adjacent ranges, outer and inner, can be one when every index uses them as outer * (n f) + inner * f, n
// being the inner one's size.
class Merger {
 public:
  explicit Merger(const UOpRef& sink) {
    for (const UOp* u : uop::Toposort(sink)) {
      if (u->op() != Op::kIndex) continue;
      indices_.push_back(index::Decompose(u->src(1)));
      if (u->num_src() > 2) others_.push_back(u->src(2));
    }
  }

  bool CanMerge(const UOpRef& outer, const UOpRef& inner) const {
    for (const index::Linear& l : indices_) {
      int64_t fo = 0, fi = 0;
      for (const auto& t : l.terms) {
        if (t.atom == outer)
          fo = t.factor;
        else if (t.atom == inner)
          fi = t.factor;
        else if (t.atom->op() != Op::kRange && (Mentions(t.atom, outer) || Mentions(t.atom, inner)))
          return false;
      }
      if (fo != fi * End(inner)->const_int()) return false;
    }
    for (const UOpRef& v : others_) {
      if (Mentions(v, outer) || Mentions(v, inner)) return false;
    }
    return true;
  }

 private:
  static bool Mentions(const UOpRef& x, const UOpRef& range) { return uop::Reaches(x, range); }

  std::vector<index::Linear> indices_;
  std::vector<UOpRef> others_;
};

// Ranges that values are computed from (selects of padded parts), other than through an INDEX.
absl::flat_hash_set<const UOp*> RangesInValues(const UOpRef& sink) {
  absl::flat_hash_set<const UOp*> seen, ranges;
  std::vector<const UOp*> stack;
  for (const UOpRef& store : sink->src()) stack.push_back(store->src(1).get());
  while (!stack.empty()) {
    const UOp* u = stack.back();
    stack.pop_back();
    if (!seen.insert(u).second || u->op() == Op::kIndex) continue;
    if (u->op() == Op::kRange) {
      ranges.insert(u);
    } else if (u->op() == Op::kReduce) {
      stack.push_back(u->src(0).get());
    } else {
      for (const UOpRef& s : u->src()) stack.push_back(s.get());
    }
  }
  return ranges;
}

UOpRef RebuildIndices(const UOpRef& sink, const uop::SubstitutionMap& ranges) {
  // Composing again gives the canonical form over the merged ranges.
  uop::SubstitutionMap full = ranges;
  for (const UOpRef& node : uop::NodesOf(sink, Op::kIndex)) {
    const index::Linear l = index::Decompose(node->src(1));
    index::Linear out;
    out.constant = l.constant;
    for (const auto& t : l.terms) {
      const auto it = ranges.find(t.atom);
      if (it == ranges.end()) {
        out.terms.push_back({t.atom, t.factor});
        continue;
      }
      // outer -> merged / n (dropped here: its multiple is part of the merged term), inner -> merged
      if (it->second->op() == Op::kRange) out.terms.push_back({it->second, t.factor});
    }
    std::vector<UOpRef> src(node->src().begin(), node->src().end());
    src[1] = index::Compose(std::move(out));
    full[node] = node->WithSrc(std::move(src));
  }
  return uop::Substitute(sink, full);
}

// One merge of adjacent ranges in the list, or null.
UOpRef MergeOnce(const UOpRef& sink, absl::Span<const UOpRef> ranges, int64_t fresh_id) {
  if (ranges.size() < 2) return nullptr;
  const Merger merger(sink);
  const auto in_values = RangesInValues(sink);
  for (size_t i = 0; i + 1 < ranges.size(); ++i) {
    const UOpRef &outer = ranges[i], &inner = ranges[i + 1];
    if (in_values.count(outer.get()) || in_values.count(inner.get())) continue;
    // The room of a variable range lies between the rows of the one around it.
    if (!End(outer)->IsConst() || !End(inner)->IsConst()) continue;
    // Nor may what runs in order take in what does not.
    if (outer->arg_as<RangeArg>().kind != inner->arg_as<RangeArg>().kind) continue;
    if (!merger.CanMerge(outer, inner)) continue;
    const UOpRef merged = uop::Range(End(outer)->const_int() * End(inner)->const_int(), fresh_id,
                                     outer->arg_as<RangeArg>().kind);
    // In the range lists the outer one becomes the merged range and the inner one a mark that is taken out
    // below.
    const UOpRef mark = uop::IndexConst(0);
    UOpRef next = RebuildIndices(sink, {{inner, merged}, {outer, mark}});
    uop::SubstitutionMap lists;
    for (const UOp* u : uop::Toposort(next)) {
      if (u->op() != Op::kStore && u->op() != Op::kReduce) continue;
      const size_t head = u->op() == Op::kStore ? 2 : 1;
      std::vector<UOpRef> src(u->src().begin(), u->src().begin() + head);
      for (size_t k = head; k < u->num_src(); ++k) {
        if (u->src(k) != mark) src.push_back(u->src(k));
      }
      if (src.size() != u->num_src()) lists[UOpRef(u)] = u->WithSrc(std::move(src));
    }
    return uop::Substitute(next, lists);
  }
  return nullptr;
}

// In the index itself: indices of what it reads are looked at on their own.
bool HasDivision(const UOpRef& x) {
  if (x->op() == Op::kFloorDiv || x->op() == Op::kFloorMod) return true;
  if (x->dtype() != dtypes::kIndex || x->op() == Op::kCast) return false;
  for (const UOpRef& s : x->src()) {
    if (HasDivision(s)) return true;
  }
  return false;
}

// Sums are ordered by range number, so they are put in order once more; divisions and conditions that are
// left get the full simplifier. An index may read memory whose index is then simplified before it.
UOpRef SimplifyIndices(const UOpRef& sink) {
  return uop::Rebuild(sink, [](const UOpRef& n) -> UOpRef {
    if (n->op() != Op::kIndex) return n;
    std::vector<UOpRef> src(n->src().begin(), n->src().end());
    src[1] = index::Compose(index::Decompose(src[1]));
    if (src.size() > 2) {
      symbolic::ValidIndex v = symbolic::SimplifyValid(src[2], src[1]);
      src[1] = std::move(v.index);
      src[2] = std::move(v.valid);
      if (src[2]->IsConst(1)) src.pop_back();
    } else if (HasDivision(src[1])) {
      src[1] = symbolic::Simplify(src[1]);
    }
    return n->WithSrc(std::move(src));
  });
}

UOpRef MergeRanges(UOpRef sink, int64_t fresh_id) {
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<std::vector<UOpRef>> lists;
    for (const UOp* u : uop::Toposort(sink)) {
      if (u->op() == Op::kStore) lists.push_back({u->src().begin() + 2, u->src().end()});
      if (u->op() == Op::kReduce) lists.push_back({u->src().begin() + 1, u->src().end()});
    }
    for (const auto& list : lists) {
      if (UOpRef next = MergeOnce(sink, list, fresh_id)) {
        sink = next;
        ++fresh_id;
        changed = true;
        break;
      }
    }
  }
  return sink;
}

// `sink` over slots 0 .. outputs-1, which it writes, and others.
FinishedKernel Finish(UOpRef sink, size_t outputs) {
  int64_t fresh = 0;
  for (const UOpRef& r : uop::NodesOf(sink, Op::kRange))
    fresh = std::max(fresh, r->arg_as<RangeArg>().id + 1);
  sink = MergeRanges(sink, fresh);

  // Numbering by structure.
  FinishedKernel result;
  uop::SubstitutionMap map;
  for (size_t i = 0; i < outputs; ++i) {
    const UOpRef out(sink->src(i)->src(0)->src(0));
    result.slots.push_back(static_cast<int>(i));
    map[out] = uop::Param(out->dtype().Element(), static_cast<int64_t>(i));
  }
  int64_t next_range = 0;
  std::string dims, reduce_dims;
  bool scatters = false;
  const UOpRef store = sink->src(0);
  for (size_t i = 2; i < store->num_src(); ++i) {
    const UOpRef& r = store->src(i);
    // A scatter runs over its sources in order.
    const bool ordered = r->arg_as<RangeArg>().kind == AxisKind::kReduce;
    scatters |= ordered;
    map[r] = uop::Range(End(r), next_range++, ordered ? AxisKind::kReduce : AxisKind::kGlobal);
    absl::StrAppend(&dims, "_", EndText(r));
  }
  for (const UOp* u : uop::Toposort(sink)) {
    if (u->op() == Op::kReduce) {
      for (size_t i = 1; i < u->num_src(); ++i) {
        const UOpRef& r = u->src(i);
        if (map.emplace(r, uop::Range(End(r), next_range, AxisKind::kReduce)).second) {
          ++next_range;
          absl::StrAppend(&reduce_dims, "_", EndText(r));
        }
      }
    } else if (u->op() == Op::kParam && !map.count(UOpRef(u))) {
      map[UOpRef(u)] = uop::Param(u->dtype().Element(), static_cast<int64_t>(result.slots.size()));
      result.slots.push_back(static_cast<int>(u->arg_as<int64_t>()));
    }
  }
  if (dims.empty()) dims = "_1";
  sink = uop::Substitute(sink, map);
  sink = SimplifyIndices(sink);
  const std::string kind = absl::StrCat(scatters              ? "s"
                                        : reduce_dims.empty() ? "e"
                                                              : "r",
                                        outputs > 1 ? absl::StrCat(outputs) : "");
  result.sink = uop::Sink({sink->src().begin(), sink->src().end()}, absl::StrCat(kind, dims, reduce_dims));
  return result;
}

}  // namespace

FinishedKernel KernelFinisher::operator()(const KernelDraft& d) {
  std::vector<UOpRef> stores;
  std::vector<int> slots;  // number here -> slot
  uop::SubstitutionMap map;
  const auto number = [&](const UOpRef& param) {
    if (map.contains(param)) return;
    map[param] = uop::Param(param->dtype().Element(), static_cast<int64_t>(slots.size()));
    slots.push_back(static_cast<int>(param->arg_as<int64_t>()));
  };
  for (const KernelDraft::Output& o : d.outputs) {
    const UOpRef out = uop::Param(o.value->dtype(), o.slot);
    stores.push_back(uop::Store(uop::IndexOf(out, o.index, o.valid), o.value, d.ranges));
    number(out);
  }
  UOpRef sink = uop::Sink(std::move(stores));
  // Ranges keep their order, on which that of sums depends.
  std::vector<UOpRef> ranges;
  for (const UOp* u : uop::Toposort(sink)) {
    if (u->op() == Op::kRange) ranges.push_back(UOpRef(u));
    if (u->op() == Op::kParam) number(UOpRef(u));
  }
  std::sort(ranges.begin(), ranges.end(), [](const UOpRef& a, const UOpRef& b) {
    return a->arg_as<RangeArg>().id < b->arg_as<RangeArg>().id;
  });
  for (size_t i = 0; i < ranges.size(); ++i)
    map[ranges[i]] = UOp::Make(Op::kRange, ranges[i]->dtype(), {ranges[i]->src(0)},
                               RangeArg{static_cast<int64_t>(i), ranges[i]->arg_as<RangeArg>().kind});
  sink = uop::Substitute(sink, map);
  auto it = done_.find(sink);
  if (it == done_.end()) it = done_.emplace(sink, Finish(sink, d.outputs.size())).first;
  FinishedKernel result = it->second;
  for (int& slot : result.slots) slot = slots[slot];
  return result;
}

}  // namespace understudy
