// SPDX-License-Identifier: Apache-2.0
#pragma once
// Index arithmetic as the scheduler builds it: sums of multiples of ranges and of quotients and remainders by
// constants, kept in one canonical form with exact bounds, so that views of views collapse while they are
// made. All values are of dtype index. Only the scheduler uses this; it never builds anything but ADD, MUL,
// FLOORDIV, FLOORMOD, CMPLT and AND. Ranges may end at size expressions (src/uop/sizes.h).

#include <cstdint>
#include <functional>
#include <vector>

#include "src/uop/uop.h"

namespace understudy::index {

struct Interval {
  int64_t lo, hi;  // inclusive
};
// Exact for ranges and constants; sound for the rest.
Interval BoundsOf(const UOpRef& x);

UOpRef Sum(const UOpRef& a, const UOpRef& b);
UOpRef Scale(const UOpRef& a, int64_t factor);
// Floor division and remainder by a positive constant.
UOpRef Quotient(const UOpRef& a, int64_t divisor);
UOpRef Remainder(const UOpRef& a, int64_t divisor);

// a < b as a bool, constant where the bounds decide it.
UOpRef Less(const UOpRef& a, int64_t b);
UOpRef AtLeast(const UOpRef& a, int64_t b);
// a < b for a length b that may be variable; what is known of ranges that end at a variable is used.
UOpRef LessThan(const UOpRef& a, const UOpRef& b);
// Conjunction; null stands for true on both sides, a false constant wins.
UOpRef Both(const UOpRef& a, const UOpRef& b);

// a as sum of atom * factor plus a constant.
struct Linear {
  struct Term {
    UOpRef atom;
    int64_t factor;
  };
  std::vector<Term> terms;  // in a structural order
  int64_t constant = 0;
};
Linear Decompose(const UOpRef& a);
UOpRef Compose(Linear l);

// The expression with `at` in place of `range`; index arithmetic stays canonical. `remake` makes every other
// node whose sources (given new) have changed; null from it: the node with the new sources.
using RemakeFn = std::function<UOpRef(const UOp& node, const std::vector<UOpRef>& src)>;
UOpRef Substitute(const UOpRef& root, const UOpRef& range, const UOpRef& at, const RemakeFn& remake);

}  // namespace understudy::index
