// SPDX-License-Identifier: Apache-2.0
#pragma once
// Comparisons of positions with values (`i == x`), which pin a position wherever they hold: on tensor level
// and in the expressions of kernels. selection.h makes loads of what they pick, scatter.h ordered stores of
// what they send. Only those two use this.

#include <optional>
#include <vector>

#include "src/schedule/views.h"
#include "src/uop/uop.h"

namespace understudy::pins {

bool Mentions(const UOpRef& x, const UOpRef& range);
bool Mentions(const Place& at, const UOpRef& range);

// --- Tensor level ---

// What is below views, and where it is read there; with `casts` also below conversions between integers.
struct Seen {
  const UOp* node;
  Place at;
  bool padded = false;  // not everywhere: a PAD or SLICE gives zeros
};
Seen ThroughViews(const UOp* node, Place at, bool casts);

// Where a condition, read at `at`, holds only for one step of the range: where the value is read that says
// which.
std::optional<Place> PinnedTo(const UOp* condition, const Place& at, const UOpRef& range);

// --- Kernel level ---

// The conjunction's parts.
std::vector<UOpRef> Clauses(const UOpRef& condition);
// The index expression that an integer value is, when it is a position or follows from one; or null.
UOpRef Position(const UOpRef& x);
// What the range is wherever the clause holds; null when the clause does not say.
UOpRef ValueOf(const UOpRef& clause, const UOpRef& range);
// The expression with `at` in place of the range; loads whose place changes are made where `inside` holds
// only.
UOpRef Replace(const UOpRef& root, const UOpRef& range, const UOpRef& at, const UOpRef& inside);

}  // namespace understudy::pins
