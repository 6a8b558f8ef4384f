// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which loops a node's value varies with: the RANGEs it reaches, less those that a REDUCE or END below it has
// closed. Used by every codegen stage that moves, copies or orders nodes.

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/uop/sizes.h"
#include "src/uop/uop.h"

namespace understudy {

// RANGE nodes by ascending range id, without repetition.
using RangeSet = std::vector<UOpRef>;

inline int64_t RangeId(const UOpRef& range) { return range->arg_as<RangeArg>().id; }
inline AxisKind RangeKind(const UOpRef& range) { return range->arg_as<RangeArg>().kind; }
// True for a RANGE that ends at an expression of variables.
inline bool IsVariable(const UOpRef& range) { return !range->src(0)->IsConst(); }
// The number of steps of a RANGE; the most that there can be where it is variable.
inline int64_t RangeEnd(const UOpRef& range) { return uop::LimitsOf(range->src(0)).hi; }
// The position of the first range among a REDUCE's, STORE's or END's sources.
inline size_t FirstRange(Op op) { return op == Op::kStore ? 2 : 1; }

class FreeRanges {
 public:
  const RangeSet& Of(const UOpRef& node);
  bool DependsOn(const UOpRef& node, const UOpRef& range) { return Contains(Of(node), range); }
  static bool Contains(const RangeSet& set, const UOpRef& range);

 private:
  RangeSet Compute(const UOp& n) const;
  absl::flat_hash_map<UOpRef, RangeSet> memo_;
};

}  // namespace understudy
