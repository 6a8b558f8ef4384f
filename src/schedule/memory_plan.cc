// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/memory_plan.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "src/base/bits.h"

namespace understudy {

// Greedy by size: the largest first, each at the lowest offset that is free over its whole life.
MemoryPlan PlanMemory(const std::vector<Lifetime>& lifetimes, int64_t alignment) {
  MemoryPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  std::vector<size_t> placed;  // by offset
  for (const size_t k : order) {
    const Lifetime& t = lifetimes[k];
    const int64_t bytes = static_cast<int64_t>(AlignUp(t.bytes, alignment));
    int64_t at = 0;
    for (const size_t p : placed) {
      const Lifetime& o = lifetimes[p];
      if (o.last < t.first || t.last < o.first) continue;
      if (plan.offsets[p] >= at + bytes) break;
      at = std::max(at, plan.offsets[p] + static_cast<int64_t>(AlignUp(o.bytes, alignment)));
    }
    plan.offsets[k] = at;
    plan.bytes = std::max(plan.bytes, at + bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), k,
                                   [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; }),
                  k);
  }
  return plan;
}

int64_t PeakBytes(const std::vector<Lifetime>& lifetimes, int64_t alignment) {
  std::map<int, int64_t> change;
  for (const Lifetime& t : lifetimes) {
    const int64_t bytes = static_cast<int64_t>(AlignUp(t.bytes, alignment));
    change[t.first] += bytes;
    change[t.last + 1] -= bytes;
  }
  int64_t alive = 0, peak = 0;
  for (const auto& [step, delta] : change) peak = std::max(peak, alive += delta);
  return peak;
}

}  // namespace understudy
