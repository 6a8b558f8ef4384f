// SPDX-License-Identifier: Apache-2.0
#include "src/symbolic/simplify.h"

#include <algorithm>

#include "src/base/status.h"
#include "src/symbolic/rule_lists.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
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
  // A range that ends at a variable is named by others than this expression: it must stay the node that it
  // is, end and all. What is known of it is the most that it can be.
  uop::SubstitutionMap hide, show;
  for (const UOp* n : uop::Toposort(root)) {
    if (n->op() != Op::kRange || n->src(0)->IsConst()) continue;
    const UOpRef range(n);
    const auto most = static_cast<int64_t>(BoundsCache().Wide(range).hi);
    const UOpRef plain =
        uop::Range(uop::Const(n->dtype(), most + 1), n->arg_as<RangeArg>().id, n->arg_as<RangeArg>().kind);
    hide[range] = plain;
    show[plain] = range;
  }
  if (!hide.empty()) {
    Assumptions plain;
    for (const auto& [node, interval] : assumptions) plain.emplace(uop::Substitute(node, hide), interval);
    return uop::Substitute(Simplify(uop::Substitute(root, hide), plain), show);
  }
  const BoundsCache bounds(assumptions);
  absl::StatusOr<UOpRef> out = uop::Rewrite(root, SymbolicRules(), {.facts = &bounds});
  US_CHECK(out.ok()) << out.status().ToString();
  return *std::move(out);
}

}  // namespace understudy::symbolic
