// SPDX-License-Identifier: Apache-2.0
#include "src/uop/inline.h"

#include <algorithm>

#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy::uop {
namespace {

int64_t PositionOf(const UOp& param) { return param.arg_as<std::vector<int64_t>>()[0]; }

bool IsShapedParam(const UOp& n) {
  return n.op() == Op::kParam && std::holds_alternative<std::vector<int64_t>>(n.arg());
}

}  // namespace

UOpRef StoreTo(const UOp& call, int position) {
  for (const UOpRef& store : call.src(0)->src()) {
    if (PositionOf(*store->src(0)) == position) return store;
  }
  return nullptr;
}

std::vector<int> StoredPositions(const UOp& call) {
  std::vector<int> out;
  for (const UOpRef& store : call.src(0)->src()) out.push_back(static_cast<int>(PositionOf(*store->src(0))));
  return out;
}

int ResultPosition(const UOp& after) {
  if (after.op() != Op::kAfter || after.num_src() != 2 || after.src(1)->op() != Op::kCall) return -1;
  const UOp& call = *after.src(1);
  const auto& outputs = call.arg_as<CallArg>().outputs;
  for (size_t i = 1; i < call.num_src(); ++i) {
    const auto p = static_cast<int>(i) - 1;
    if (call.src(i) == after.src(0) &&
        (std::count(outputs.begin(), outputs.end(), p) != 0 || StoreTo(call, p) != nullptr)) {
      return p;
    }
  }
  return -1;
}

UOpRef CallInliner::operator()(const UOpRef& root) {
  std::vector<std::pair<const UOp*, size_t>> stack{{root.get(), 0}};
  keep_.push_back(root);
  while (!stack.empty()) {
    const UOp* n = stack.back().first;
    if (done_.contains(n)) {
      stack.pop_back();
      continue;
    }
    size_t& next = stack.back().second;
    if (next == 0 && known_ != nullptr) {
      if (UOpRef k = known_(*n)) {
        done_.emplace(n, std::move(k));
        stack.pop_back();
        continue;
      }
    }
    // A body is not a part of the graph around its call: CALL nodes pass their arguments only.
    if (next == 0 && n->op() == Op::kCall) next = 1;
    if (next < n->num_src()) {
      const UOp* s = n->src(next++).get();
      if (!done_.contains(s)) stack.emplace_back(s, 0);
      continue;
    }
    UOpRef out = One(*n);
    done_.emplace(n, std::move(out));
    stack.pop_back();
  }
  return done_.at(root.get());
}

UOpRef CallInliner::One(const UOp& n) {
  if (n.op() == Op::kCall) return UOpRef(&n);  // looked into from its AFTERs
  const int position = ResultPosition(n);
  if (position < 0) {
    std::vector<UOpRef> src;
    bool changed = false;
    for (const UOpRef& s : n.src()) {
      src.push_back(done_.at(s.get()));
      changed |= !(src.back() == s);
    }
    return changed ? n.WithSrc(std::move(src)) : UOpRef(&n);
  }
  const UOp& call = *n.src(1);
  const UOpRef& target = done_.at(n.src(0).get());
  const UOpRef store = StoreTo(call, position);
  if (store == nullptr) return target;
  SubstitutionMap args;
  for (const UOp* p : Toposort(store->src(1))) {  // a body's graph is its own: its calls see PARAMs of theirs
    if (IsShapedParam(*p))
      args[UOpRef(p)] = done_.at(call.src(static_cast<size_t>(PositionOf(*p)) + 1).get());
  }
  // Bodies may call.
  const UOpRef value = Substitute(CallInliner()(store->src(1)), args);
  return Assign(target, Reshape(value, target->shape()));
}

}  // namespace understudy::uop
