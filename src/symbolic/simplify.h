// SPDX-License-Identifier: Apache-2.0
#pragma once
// Simplification of integer, bool and (where bits allow) float expressions. Stages call Simplify after they
// build index arithmetic; codegen adds SymbolicRules() to its own. Every rule holds for every value at every
// width: what needs the absence of wrap-around asks bounds first, and no float is ever touched in a way that
// changes a result's bits (but for the payload of a NaN).

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "src/symbolic/bounds.h"
#include "src/uop/rules.h"
#include "src/uop/uop.h"

namespace understudy::symbolic {

// All rules of this folder, by file: identities.cc, integer.cc (sums, division, comparison), boolean.cc,
// casts.cc. They need a BoundsCache as RewriteOptions::facts; without it the conditions know types only and
// the rules over sums do not fire.
const uop::RuleSet& SymbolicRules();

// The graph with SymbolicRules applied to a fixed point. The result has the same value at every point.
UOpRef Simplify(const UOpRef& root);
// The same under assumptions: equal wherever they hold.
UOpRef Simplify(const UOpRef& root, const Assumptions& assumptions);

// An index and the condition under which it is used.
struct ValidIndex {
  UOpRef valid;  // bool
  UOpRef index;
};
// Simplifies the index by what the clauses of `valid` say of its parts, and each clause by the others: equal
// where valid was true, and valid at the same points. A condition that can never hold gives {false, 0}.
ValidIndex SimplifyValid(const UOpRef& valid, const UOpRef& index);

// What holds when `condition` (bool) is true, term by term.
Assumptions AssumptionsOf(const UOpRef& condition);

// The value of an integer or bool expression for given values of its leaves (keys are nodes: VAR, RANGE,
// SPECIAL, LOAD...); US_CHECKs that every leaf is bound.
using Bindings = absl::flat_hash_map<UOpRef, ConstValue>;
int64_t Evaluate(const UOpRef& expr, const Bindings& bindings);
// The same for any type.
ConstValue EvaluateConst(const UOpRef& expr, const Bindings& bindings);

}  // namespace understudy::symbolic
