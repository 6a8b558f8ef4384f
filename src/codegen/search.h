// SPDX-License-Identifier: Apache-2.0
#pragma once
// Search for the optimisation choices of one kernel: beam search over what ListChoices says is legal, and an
// exhaustive walk for small spaces, which tests use as the beam's oracle. What candidates cost comes from a
// CostModel; nothing here knows a device, compiles, or measures. Used by src/runtime/search.
//
// Deterministic: the same kernel, target, costs and options give the same result, tried in the same order.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/codegen/choices.h"
#include "src/schedule/target.h"
#include "src/uop/uop.h"

namespace understudy {

// What candidates cost: lower is better, any unit, finite and not negative.
class CostModel {
 public:
  virtual ~CostModel() = default;
  // Names the model with its parameters: equal text, equal meaning of the numbers.
  virtual std::string name() const = 0;
  // One cost or error a candidate, in their order. An error (a compile that crashed, a kernel that faults)
  // takes that candidate out and nothing else. `best` is the least cost so far (infinity at first): a model
  // that measures may stop early on a candidate that is far worse, and answer what it has seen.
  virtual std::vector<absl::StatusOr<double>> Costs(const UOpRef& kernel, const Target& target,
                                                    absl::Span<const ChoiceList> candidates, double best) = 0;
};

struct SearchOptions {
  int width = 4;                 // candidates that are extended at each step
  int diverse = 2;               // and as many more whose last choice is of a kind that those do not end with
  int max_choices = 10;          // choices of a candidate
  int64_t max_candidates = 400;  // candidates that are costed; the search ends there
  int patience = 2;              // steps without a better candidate before the search ends
  // 0: candidates are tried in the order of ListChoices; else in an order drawn from it, which decides what
  // is left out when max_candidates is reached.
  uint64_t seed = 0;
  // With one: of each step's candidates only the `keep` cheapest by this model are costed.
  CostModel* pruner = nullptr;
  int keep = 16;
  // Called after each batch with the candidates costed so far and the least cost.
  std::function<void(int64_t candidates, double best)> progress;
  // Whether to end now (a deadline, a key): the result is the best so far.
  std::function<bool()> stop;

  // What of these decides the result, for keys of caches.
  std::string Text() const;
};

struct TriedChoices {
  ChoiceList choices;
  absl::StatusOr<double> cost;
};

struct SearchResult {
  ChoiceList choices;
  double cost = 0;
  // For comparison: no choices at all, and the heuristic's. They are candidates like others, so that the
  // result is never worse than either.
  ChoiceList heuristic;
  absl::StatusOr<double> none_cost, heuristic_cost;
  std::vector<TriedChoices> tried;  // in order
  int64_t listed = 0;               // legal choices that were found
  int64_t duplicates = 0;           // of them, those that make a kernel that was there before
  int64_t pruned = 0, failed = 0;
  int steps = 0;
  bool complete = true;  // false: ended by max_candidates or by `stop`
};

// The kernel as choices leave it, with ranges numbered as they come and without a name: two lists of choices
// that make the same kernel have the same structure (which is the same node).
absl::StatusOr<UOpRef> StructureOf(const UOpRef& kernel, const Target& target, const ChoiceList& choices);

// Starts from no choices, the heuristic's and each beginning of the heuristic's. The first error when no
// candidate at all has a cost.
absl::StatusOr<SearchResult> SearchChoices(const UOpRef& kernel, const Target& target, CostModel& model,
                                           const SearchOptions& options = {});

// Every structure that at most `max_choices` choices reach. ResourceExhausted past `max_candidates`.
absl::StatusOr<SearchResult> SearchExhaustively(const UOpRef& kernel, const Target& target, CostModel& model,
                                                int max_choices, int64_t max_candidates = 20000);

}  // namespace understudy
