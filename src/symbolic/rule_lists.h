// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of SymbolicRules(), one function a file of rules. Used by simplify.cc only.

#include <vector>

#include "src/symbolic/bounds.h"
#include "src/uop/rules.h"

namespace understudy::symbolic {

std::vector<uop::Rule> FoldingRules();     // folding.cc
std::vector<uop::Rule> PointRules();       // folding.cc
std::vector<uop::Rule> IdentityRules();    // identities.cc
std::vector<uop::Rule> DivisionRules();    // division.cc
std::vector<uop::Rule> SumRules();         // sums.cc
std::vector<uop::Rule> ComparisonRules();  // comparison.cc
std::vector<uop::Rule> BooleanRules();     // boolean.cc
std::vector<uop::Rule> CastRules();        // casts.cc

// The BoundsCache behind a match, or null when the rules run without one.
inline const BoundsCache* BoundsOf(const uop::Match& m) {
  return dynamic_cast<const BoundsCache*>(m.facts());
}

}  // namespace understudy::symbolic
