// SPDX-License-Identifier: Apache-2.0
#pragma once
// What side conditions of rules may know of a node's values beyond its form: an interval. src/symbolic
// computes them; the rewrite engine only asks.

#include <cstdint>
#include <optional>

#include "src/uop/uop.h"

namespace understudy::uop {

// The integers lo..hi, both inclusive; a side that is not known (or does not fit int64) is nullopt. Values
// are mathematical: those of u64 are never negative.
struct Interval {
  std::optional<int64_t> lo, hi;

  bool Contains(int64_t v) const { return (!lo || *lo <= v) && (!hi || v <= *hi); }
  bool IsPoint() const { return lo && hi && *lo == *hi; }
  bool IsBounded() const { return lo && hi; }
  bool operator==(const Interval&) const = default;
};

class Facts {
 public:
  virtual ~Facts() = default;
  // Holds every value that the integer or bool node can take; nodes of other types give an unbounded
  // interval.
  virtual Interval BoundsOf(const UOpRef& node) const = 0;
};

}  // namespace understudy::uop
