// SPDX-License-Identifier: Apache-2.0
#include "src/symbolic/simplify.h"

#include <algorithm>

#include "src/base/status.h"
#include "src/symbolic/rule_lists.h"
#include "src/uop/rewrite.h"

namespace understudy::symbolic {

const uop::RuleSet& SymbolicRules() {
  static const uop::RuleSet* rules = [] {
    std::vector<uop::Rule> all;
    for (auto list : {FoldingRules(), IdentityRules(), BooleanRules(), CastRules(), DivisionRules(),
                      ComparisonRules(), SumRules(), PointRules()}) {
      all.insert(all.end(), list.begin(), list.end());
    }
    return new uop::RuleSet("symbolic", std::move(all));
  }();
  return *rules;
}

UOpRef Simplify(const UOpRef& root) { return Simplify(root, {}); }

UOpRef Simplify(const UOpRef& root, const Assumptions& assumptions) {
  const BoundsCache bounds(assumptions);
  absl::StatusOr<UOpRef> out = uop::Rewrite(root, SymbolicRules(), {.facts = &bounds});
  US_CHECK(out.ok()) << out.status().ToString();
  return *std::move(out);
}

}  // namespace understudy::symbolic
