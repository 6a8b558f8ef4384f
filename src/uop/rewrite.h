// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rewrite engine: applies a RuleSet to a graph, sources before users, until no rule fires anywhere. Every
// stage of the compiler is a call of this. Each distinct node is rewritten once (memoised); depth of the
// graph is no limit.

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "src/uop/rules.h"

namespace understudy::uop {

struct RewriteStep {
  std::string rule;
  UOpRef before, after;
};

struct RewriteOptions {
  // Handed to opaque rules as Match::ctx<T>().
  void* ctx = nullptr;
  // What conditions may ask; without it bounds are those of the types.
  const Facts* facts = nullptr;
  // Firings by rule name are added here.
  absl::flat_hash_map<std::string, int64_t>* count = nullptr;
  // Every step, in order.
  std::vector<RewriteStep>* trace = nullptr;
  // Firings after which the rules are taken to loop; 0 chooses by the size of the graph.
  int64_t max_steps = 0;
};

// What this thread has rewritten so far: for benchmarks and reports. `tried` are rules whose pattern was
// compared with a node, after those that its op or its sources' ops exclude; `fired` those that replaced it.
struct RewriteTotals {
  int64_t rewrites = 0, nodes = 0, tried = 0, fired = 0;
};
const RewriteTotals& TotalRewrites();

// The rewritten graph, or Internal naming the rules that fire in a circle (or grow the graph without end) and
// a node where they do.
absl::StatusOr<UOpRef> Rewrite(const UOpRef& root, const RuleSet& rules, const RewriteOptions& options = {});

}  // namespace understudy::uop
