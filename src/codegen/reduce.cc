// SPDX-License-Identifier: Apache-2.0
// Stages "group" and "reduce": reductions become local arrays, accumulators and loops.
#include <algorithm>
#include <map>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/codegen/free_ranges.h"
#include "src/codegen/stages.h"
#include "src/uop/build.h"
#include "src/uop/eval.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

using namespace uop::expr;  // NOLINT

std::vector<UOpRef> RangesOf(const UOp& reduce) { return {reduce.src().begin() + 1, reduce.src().end()}; }

}  // namespace

UOpRef ReduceIdentity(Op op, DType t) { return uop::Const(t, uop::IdentityOf(op, t)); }

namespace {

// lane 0 op lane 1 op ...: halves of the vector meet until one lane is left.
UOpRef FoldLanes(Op op, UOpRef lanes) {
  for (int n = lanes->dtype().lanes / 2; n > 0; n /= 2) {
    std::vector<UOpRef> half[2];
    for (int i = 0; i < 2 * n; ++i) half[i / n].push_back(uop::Gep(lanes, i));
    lanes = uop::Binary(op, uop::Vectorize(half[0]), uop::Vectorize(half[1]));
  }
  return lanes;
}

// Without workgroups the parts of a grouped reduction are the lanes of one accumulator; those of a vector are
// accumulators of their own.
UOpRef GroupsAsLanes(const UOpRef& kernel, const UOpRef& group) {
  return uop::Rebuild(kernel, [&](const UOpRef& n) -> UOpRef {
    if (n->op() != Op::kReduce || !FreeRanges::Contains(RangesOf(*n), group)) return n;
    std::vector<UOpRef> loops = RangesOf(*n);
    loops.erase(std::remove(loops.begin(), loops.end(), group), loops.end());
    const Op op = n->arg_as<Op>();
    if (n->dtype().lanes == 1) return FoldLanes(op, uop::Reduce(op, VectorAlong(n->src(0), group), loops));
    UOpRef all;
    for (int64_t i = 0; i < RangeEnd(group); ++i) {
      const UOpRef part = uop::Reduce(op, uop::Substitute(n->src(0), {{group, uop::IndexConst(i)}}), loops);
      all = all == nullptr ? part : uop::Binary(op, all, part);
    }
    return all;
  });
}

}  // namespace

absl::StatusOr<UOpRef> LowerGroups(const UOpRef& kernel, const Target& target) {
  UOpRef group;
  std::vector<UOpRef> locals;
  for (const UOpRef& n : uop::NodesOf(kernel, Op::kRange)) {
    if (RangeKind(n) == AxisKind::kGroupReduce) group = n;
    if (RangeKind(n) == AxisKind::kLocal) locals.push_back(n);
  }
  if (group == nullptr) return kernel;
  if (!target.has_local) return GroupsAsLanes(kernel, group);
  std::sort(locals.begin(), locals.end(),
            [](const UOpRef& a, const UOpRef& b) { return RangeId(a) < RangeId(b); });
  UOpRef item = group;  // the work-item's number within the workgroup, the group turning fastest
  int64_t items = RangeEnd(group), next_range = 0, next_local = 0, bytes = 0;
  for (const UOpRef& l : locals) {
    item = l * items + item;
    items *= RangeEnd(l);
  }
  for (const UOpRef& n : uop::NodesOf(kernel, Op::kRange)) next_range = std::max(next_range, RangeId(n) + 1);

  UOpRef result = uop::Rebuild(kernel, [&](const UOpRef& n) -> UOpRef {
    if (n->op() != Op::kReduce || !FreeRanges::Contains(RangesOf(*n), group)) return n;
    std::vector<UOpRef> src;
    for (const UOpRef& s : n->src()) {
      if (!(s == group)) src.push_back(s);
    }
    const UOpRef partial = UOp::Make(Op::kReduce, n->dtype(), std::move(src), n->arg());
    const int lanes = n->dtype().lanes;
    bytes += AlignUp(items * n->dtype().SizeBytes(), 16);
    const UOpRef local = uop::DefineLocal(n->dtype().Element(), next_local++, items * lanes);
    const UOpRef stored = uop::Store(uop::IndexOf(local, item * lanes), partial);
    const UOpRef ready = uop::After(local, {uop::Barrier({stored})});
    const UOpRef r = uop::Range(RangeEnd(group), next_range++, AxisKind::kReduce);
    const UOpRef first = item - group;
    return uop::Reduce(n->arg_as<Op>(), uop::Load(uop::IndexOf(ready, (first + r) * lanes), lanes), {r});
  });
  if (bytes > target.local_bytes) {
    return absl::UnimplementedError(absl::StrCat("the grouped reductions need ", bytes,
                                                 " bytes of local memory, the target has ",
                                                 target.local_bytes));
  }
  // One work-item of the group stores.
  std::vector<UOpRef> stores;
  const UOpRef first = uop::CmpEq(group, uop::IndexConst(0));
  for (const UOpRef& store : result->src()) {
    const UOpRef& index = store->src(0);
    std::vector<UOpRef> ranges(store->src().begin() + 2, store->src().end());
    ranges.push_back(group);
    const UOpRef valid = index->num_src() > 2 ? (index->src(2) & first) : first;
    stores.push_back(
        uop::Store(uop::IndexOf(index->src(0), index->src(1), valid), store->src(1), std::move(ranges)));
  }
  return result->WithSrc(std::move(stores));
}

namespace {

// Whether every order of the steps gives the same bits (up to the payload of a NaN).
bool AnyOrder(Op op, DType t) { return op == Op::kMax || op == Op::kMin || !t.IsFloat(); }

// Steps become lanes by powers of two only: LLVM 22 cannot select some conversions of <5 x half> for amdgcn.
bool CanBeLanes(const std::vector<UOpRef>& unrolled, DType t) {
  return unrolled.size() == 1 && t.lanes == 1 && IsPow2(static_cast<uint64_t>(RangeEnd(unrolled[0])));
}

// acc op value; a tensor core's product is added by the core itself.
UOpRef Accumulate(Op op, const UOpRef& acc, const UOpRef& value) {
  if (op == Op::kAdd && value->op() == Op::kWmma && value->src(2) == uop::ConstLike(value, 0))
    return value->WithSrc({value->src(0), value->src(1), acc});
  return uop::Binary(op, acc, value);
}

// acc op value(step 0) op value(step 1) ..., the last unrolled range turning fastest. `lanes`: the steps as a
// vector, if they are known.
UOpRef Chain(Op op, UOpRef acc, const UOpRef& value, const std::vector<UOpRef>& unrolled,
             const UOpRef& lanes = nullptr) {
  if (unrolled.empty()) return Accumulate(op, acc, value);
  if (CanBeLanes(unrolled, value->dtype())) {
    const UOpRef steps = lanes != nullptr ? lanes : VectorAlong(value, unrolled[0]);
    for (int64_t i = 0; i < RangeEnd(unrolled[0]); ++i) acc = uop::Binary(op, acc, uop::Gep(steps, i));
    return acc;
  }
  const std::vector<UOpRef> rest(unrolled.begin() + 1, unrolled.end());
  for (int64_t i = 0; i < RangeEnd(unrolled[0]); ++i) {
    acc = Chain(op, acc, uop::Substitute(value, {{unrolled[0], uop::IndexConst(i)}}), rest);
  }
  return acc;
}

// One loop nest over which some reductions run together.
struct LoopKey {
  std::vector<int64_t> ranges, outer;  // ids of the loop's ranges, and of those around it
  int depth;                           // how many reductions lie below, at most
  auto operator<=>(const LoopKey&) const = default;
};

class ReduceLowering {
 public:
  UOpRef Run(UOpRef kernel) {
    for (const UOpRef& n : uop::NodesOf(kernel, Op::kDefineReg))
      next_register_ = std::max(next_register_, n->arg_as<std::vector<int64_t>>()[0] + 1);
    kernel = Unroll(std::move(kernel));
    absl::flat_hash_map<const UOp*, int> depth;
    std::vector<LoopKey> order;
    std::map<LoopKey, std::vector<UOpRef>> groups;
    for (const UOp* n : uop::Toposort(kernel)) {
      int d = 0;
      for (const UOpRef& s : n->src()) d = std::max(d, depth[s.get()]);
      if (n->op() == Op::kReduce) {
        LoopKey key;
        key.depth = d++;
        for (const UOpRef& r : RangesOf(*n)) key.ranges.push_back(RangeId(r));
        for (const UOpRef& r : free_.Of(UOpRef(n))) key.outer.push_back(RangeId(r));
        auto& members = groups[key];
        if (members.empty()) order.push_back(key);
        members.push_back(UOpRef(n));
      }
      depth[n] = d;
    }
    // Members of a group do not reach each other (equal depth), and every REDUCE below them has less depth.
    std::stable_sort(order.begin(), order.end(),
                     [](const LoopKey& a, const LoopKey& b) { return a.depth < b.depth; });
    for (const LoopKey& key : order) Lower(groups[key]);
    return uop::Substitute(kernel, done_);
  }

 private:
  // Outermost reductions first: the copies that unrolling makes of a reduction inside get registers of their
  // own. The value of an unrolled REDUCE is its whole chain, from the accumulator on.
  UOpRef Unroll(UOpRef kernel) {
    for (;;) {
      const std::vector<UOpRef> reduces = OutermostUnrolled(kernel);
      if (reduces.empty()) return kernel;
      // The steps that become lanes, together for each range.
      std::map<int64_t, std::vector<size_t>> by_range;
      std::vector<std::vector<UOpRef>> loops(reduces.size()), unrolled(reduces.size());
      std::vector<UOpRef> lanes(reduces.size());
      for (size_t i = 0; i < reduces.size(); ++i) {
        for (const UOpRef& r : RangesOf(*reduces[i]))
          (RangeKind(r) == AxisKind::kUnroll ? unrolled[i] : loops[i]).push_back(r);
        if (CanBeLanes(unrolled[i], reduces[i]->dtype())) by_range[RangeId(unrolled[i][0])].push_back(i);
      }
      for (const auto& [id, members] : by_range) {
        std::vector<UOpRef> values;
        for (const size_t i : members) values.push_back(UOpRef(reduces[i]->src(0)));
        values = VectorsAlong(values, unrolled[members[0]][0]);
        for (size_t k = 0; k < members.size(); ++k) lanes[members[k]] = values[k];
      }
      uop::SubstitutionMap map;
      for (size_t i = 0; i < reduces.size(); ++i)
        map[reduces[i]] = Unrolled(*reduces[i], loops[i], unrolled[i], lanes[i]);
      kernel = uop::Substitute(kernel, map);
    }
  }

  static std::vector<UOpRef> OutermostUnrolled(const UOpRef& kernel) {
    std::vector<UOpRef> found;
    std::vector<const UOp*> stack{kernel.get()};
    absl::flat_hash_set<const UOp*> seen;
    while (!stack.empty()) {
      const UOp* n = stack.back();
      stack.pop_back();
      if (!seen.insert(n).second) continue;
      bool unrolled = false;
      if (n->op() == Op::kReduce) {
        for (const UOpRef& r : RangesOf(*n)) unrolled |= RangeKind(r) == AxisKind::kUnroll;
      }
      if (unrolled) {
        found.push_back(UOpRef(n));
        continue;
      }
      for (size_t i = n->num_src(); i-- > 0;) stack.push_back(n->src(i).get());
    }
    if (found.size() < 2) return found;
    // One that another reaches waits for it.
    absl::flat_hash_set<const UOp*> inside;
    for (const UOpRef& r : found) {
      if (inside.contains(r.get())) continue;
      for (const UOp* n : uop::Toposort(UOpRef(r->src(0)))) inside.insert(n);
    }
    std::erase_if(found, [&](const UOpRef& r) { return inside.contains(r.get()); });
    return found;
  }

  UOpRef Unrolled(const UOp& reduce, const std::vector<UOpRef>& loops, const std::vector<UOpRef>& unrolled,
                  const UOpRef& lanes) {
    const Op op = reduce.arg_as<Op>();
    const DType t = reduce.dtype();
    if (loops.empty()) return Chain(op, ReduceIdentity(op, t), UOpRef(reduce.src(0)), unrolled, lanes);
    if (AnyOrder(op, t) && lanes != nullptr) {
      // One accumulator a lane, folded after the loop.
      const UOpRef sums = uop::Reduce(op, lanes, loops);
      UOpRef folded = uop::Gep(sums, 0);
      for (int64_t i = 1; i < RangeEnd(unrolled[0]); ++i) folded = uop::Binary(op, folded, uop::Gep(sums, i));
      return folded;
    }
    const UOpRef acc = uop::Load(uop::IndexOf(NewRegister(t), uop::IndexConst(0)), t.lanes);
    return uop::Reduce(op, Chain(op, acc, UOpRef(reduce.src(0)), unrolled, lanes), loops);
  }

  // How an unrolled REDUCE's chain names the accumulator: the first operand of its first step. Null for
  // others.
  static UOpRef Accumulator(const UOpRef& reduce) {
    UOpRef n = reduce->src(0);
    while (n->op() == reduce->arg_as<Op>() || n->op() == Op::kWmma)
      n = UOpRef(n->src(n->op() == Op::kWmma ? 2 : 0));
    const bool found =
        n->op() == Op::kLoad && n->src(0)->op() == Op::kIndex && n->src(0)->src(0)->op() == Op::kDefineReg;
    return found ? n : nullptr;
  }

  UOpRef NewRegister(DType t) { return uop::DefineReg(t.Element(), next_register_++, t.lanes); }

  void Lower(const std::vector<UOpRef>& members) {
    const std::vector<UOpRef> loops = RangesOf(*members[0]);
    const UOpRef zero = uop::IndexConst(0);
    std::vector<UOpRef> registers, insides, accs, values;
    std::vector<bool> named;
    for (const UOpRef& m : members) values.push_back(UOpRef(m->src(0)));
    if (loops.empty()) {  // one step
      values = uop::Substitute(values, done_);
      for (size_t i = 0; i < members.size(); ++i) {
        const Op op = members[i]->arg_as<Op>();
        done_[members[i]] = uop::Binary(op, ReduceIdentity(op, members[i]->dtype()), values[i]);
      }
      return;
    }
    uop::SubstitutionMap map = done_;
    for (const UOpRef& m : members) {
      const Op op = m->arg_as<Op>();
      const UOpRef name = Accumulator(m);
      const UOpRef reg = name == nullptr ? NewRegister(m->dtype()) : name->src(0)->src(0);
      const UOpRef start = uop::Store(uop::IndexOf(reg, zero), ReduceIdentity(op, m->dtype()), free_.Of(m));
      std::vector<UOpRef> deps{start};
      deps.insert(deps.end(), loops.begin(), loops.end());
      insides.push_back(uop::IndexOf(uop::After(reg, deps), zero));
      accs.push_back(uop::Load(insides.back(), m->dtype().lanes));
      if (name != nullptr) map[name] = accs.back();
      named.push_back(name != nullptr);
      registers.push_back(reg);
    }
    values = uop::Substitute(values, map);
    std::vector<UOpRef> stores;
    for (size_t i = 0; i < members.size(); ++i) {
      const UOpRef value = named[i] ? values[i] : Accumulate(members[i]->arg_as<Op>(), accs[i], values[i]);
      stores.push_back(uop::Store(insides[i], value, loops));
    }
    const UOpRef end = uop::End(stores.size() == 1 ? stores[0] : uop::Sink(stores), loops);
    for (size_t i = 0; i < members.size(); ++i) {
      done_[members[i]] = uop::Load(uop::IndexOf(uop::After(registers[i], {end}), uop::IndexConst(0)),
                                    members[i]->dtype().lanes);
    }
  }

  FreeRanges free_;
  uop::SubstitutionMap done_;
  int64_t next_register_ = 0;
};

}  // namespace

UOpRef LowerReduces(const UOpRef& kernel) { return ReduceLowering().Run(kernel); }

}  // namespace understudy
