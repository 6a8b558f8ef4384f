// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/null/kernel_cost.h"

#include <algorithm>
#include <limits>

#include "absl/container/flat_hash_set.h"
#include "src/codegen/free_ranges.h"

namespace understudy {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t Times(int64_t a, int64_t b) {
  int64_t out;
  return __builtin_mul_overflow(a, b, &out) ? kMost : out;
}
void Add(int64_t* total, int64_t more) {
  if (__builtin_add_overflow(*total, more, total)) *total = kMost;
}

class Counter {
 public:
  KernelCost Run(const UOpRef& kernel) {
    for (const UOpRef& store : kernel->src()) {
      if (store->op() != Op::kStore) continue;
      std::vector<UOpRef> ranges(store->src().begin() + FirstRange(Op::kStore), store->src().end());
      Access(store->src(0), Steps(ranges), &cost_.written);
      Value(store->src(1));
    }
    return cost_;
  }

 private:
  static int64_t Steps(const std::vector<UOpRef>& ranges) {
    int64_t n = 1;
    for (const UOpRef& r : ranges)
      n = Times(n, r->op() == Op::kRange ? std::max<int64_t>(RangeEnd(r), 0) : 1);
    return n;
  }

  void Access(const UOpRef& index, int64_t steps, std::map<int64_t, int64_t>* bytes) {
    const UOpRef& param = index->src(0);
    if (param->op() != Op::kParam) return;
    Add(&(*bytes)[param->arg_as<int64_t>()], Times(steps, param->dtype().Element().ScalarBytes()));
  }

  // Indices and guards are not values: where they load, they are.
  void Value(const UOpRef& n) {
    if (!seen_.insert(n).second) return;
    if (n->op() == Op::kLoad) {
      Access(n->src(0), Steps(free_.Of(n)), &cost_.read);
    } else if (n->dtype().IsFloat() && n->op() == Op::kReduce) {
      // Every element of the source, at every step of what the result varies with.
      RangeSet all = free_.Of(n);
      for (size_t i = FirstRange(Op::kReduce); i < n->num_src(); ++i) all.push_back(n->src(i));
      Add(&cost_.flops, Steps(all));
    } else if (n->dtype().IsFloat() && IsAlu(n->op()) && n->op() != Op::kCast && n->op() != Op::kBitcast &&
               n->op() != Op::kWhere) {
      Add(&cost_.flops, Times(Steps(free_.Of(n)), n->op() == Op::kMulAcc ? 2 : 1));
    }
    for (const UOpRef& s : n->src()) Value(s);
  }

  KernelCost cost_;
  FreeRanges free_;
  absl::flat_hash_set<UOpRef> seen_;
};

}  // namespace

KernelCost CostOf(const UOpRef& kernel) { return Counter().Run(kernel); }

}  // namespace understudy
