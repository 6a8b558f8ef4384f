// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exact bounds of integer and bool expressions. Simplification, validity and codegen's choice of index width
// ask them. Arithmetic is in 128-bit integers, never floats: an operation that may leave its type makes the
// whole type's range.

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "src/uop/facts.h"
#include "src/uop/uop.h"

namespace understudy::symbolic {

using uop::Interval;

// What is known besides: the value of the key lies in the interval (used under a validity condition).
using Assumptions = absl::flat_hash_map<UOpRef, Interval>;

// Bounds with their two ends always present, as 128-bit integers (u64 reaches past int64).
struct WideInterval {
  __int128 lo, hi;
  bool IsPoint() const { return lo == hi; }
  bool operator==(const WideInterval&) const = default;
};

// Memoises by node. Not thread safe; make one for each simplification.
class BoundsCache : public uop::Facts {
 public:
  BoundsCache() = default;
  explicit BoundsCache(Assumptions assumptions) : assumptions_(std::move(assumptions)) {}

  // Of any type but integers and bool (scalar or vector: all lanes): nothing known.
  Interval BoundsOf(const UOpRef& node) const override;
  // US_CHECKs that the node is integer or bool. Empty assumptions (lo > hi) make `contradiction()` true.
  WideInterval Wide(const UOpRef& node) const;
  bool contradiction() const { return contradiction_; }

 private:
  WideInterval Compute(const UOp& node) const;

  Assumptions assumptions_;
  mutable absl::flat_hash_map<UOpRef, WideInterval> done_;
  mutable bool contradiction_ = false;
};

// The least interval that the rules of bounds.cc find. Memory contents (LOAD) are bounded by their type.
Interval Bounds(const UOpRef& node);

// True when every value of the node is representable in `type` (an integer type).
bool FitsIn(const UOpRef& node, DType type);

// The limits of an integer or bool type.
WideInterval TypeLimits(DType type);

// An integer CONST as a mathematical value (u64 is stored as its bit pattern).
__int128 ExactValue(const UOp& constant);

}  // namespace understudy::symbolic
