// SPDX-License-Identifier: Apache-2.0
#include "src/codegen/free_ranges.h"

#include <algorithm>

namespace understudy {

bool FreeRanges::Contains(const RangeSet& set, const UOpRef& range) {
  return std::find(set.begin(), set.end(), range) != set.end();
}

const RangeSet& FreeRanges::Of(const UOpRef& node) {
  std::vector<UOpRef> stack{node};
  while (!stack.empty()) {
    const UOpRef n = stack.back();
    if (memo_.contains(n)) {
      stack.pop_back();
      continue;
    }
    bool ready = true;
    for (const UOpRef& s : n->src()) {
      if (!memo_.contains(s)) {
        stack.push_back(s);
        ready = false;
      }
    }
    if (!ready) continue;
    RangeSet set = Compute(*n);
    memo_.emplace(n, std::move(set));
    stack.pop_back();
  }
  return memo_.find(node)->second;
}

RangeSet FreeRanges::Compute(const UOp& n) const {
  RangeSet set;
  for (const UOpRef& s : n.src()) {
    const RangeSet& more = memo_.at(s);
    set.insert(set.end(), more.begin(), more.end());
  }
  if (n.op() == Op::kRange) set.push_back(UOpRef(&n));
  std::sort(set.begin(), set.end(), [](const UOpRef& a, const UOpRef& b) { return RangeId(a) < RangeId(b); });
  set.erase(std::unique(set.begin(), set.end()), set.end());
  if (n.op() == Op::kReduce || n.op() == Op::kEnd) {
    for (size_t i = 1; i < n.num_src(); ++i)
      set.erase(std::remove(set.begin(), set.end(), n.src(i)), set.end());
  }
  return set;
}

}  // namespace understudy
