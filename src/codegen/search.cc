// SPDX-License-Identifier: Apache-2.0
#include "src/codegen/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/codegen/free_ranges.h"
#include "src/codegen/stages.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

constexpr double kNoCost = std::numeric_limits<double>::infinity();

// A candidate that has a cost.
struct State {
  ChoiceList choices;
  UOpRef structure;
  double cost = kNoCost;
};

// Equal costs: the shorter list, then by structure, so that nothing hangs on the order of evaluation.
bool Better(const State& a, const State& b) {
  if (a.cost != b.cost) return a.cost < b.cost;
  if (a.choices.size() != b.choices.size()) return a.choices.size() < b.choices.size();
  if (a.structure->hash() != b.structure->hash()) return a.structure->hash() < b.structure->hash();
  return ChoicesText(a.choices) < ChoicesText(b.choices);
}

class Search {
 public:
  Search(const UOpRef& kernel, const Target& target, CostModel& model, const SearchOptions& options)
      : kernel_(kernel), target_(target), model_(model), options_(options), random_(options.seed) {}

  absl::StatusOr<SearchResult> Beam() {
    US_RETURN_IF_ERROR(Begin());
    std::vector<State> beam = Front(std::move(start_));
    for (int idle = 0; !beam.empty() && !full_ && idle < std::max(1, options_.patience);) {
      const double before = best_.cost;
      std::vector<State> next = Extensions(beam);
      Prune(&next);
      Cost(&next);
      ++result_.steps;
      idle = best_.cost < before ? 0 : idle + 1;
      beam = Front(std::move(next));
    }
    return Finish();
  }

  absl::StatusOr<SearchResult> All() {
    US_RETURN_IF_ERROR(Begin());
    // Every structure by the fewest choices that make it. (The heuristic's own may need more than allowed.)
    std::vector<State> level;
    for (State& s : start_) {
      if (s.choices.empty()) level.push_back(std::move(s));
    }
    while (!level.empty()) {
      std::vector<State> next = Extensions(level);
      if (static_cast<int64_t>(result_.tried.size() + next.size()) > options_.max_candidates) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "the search of kernel ", Name(), " reaches more than ", options_.max_candidates, " candidates"));
      }
      Cost(&next);
      ++result_.steps;
      level = std::move(next);
    }
    return Finish();
  }

 private:
  std::string Name() const {
    const auto* arg = std::get_if<KernelArg>(&kernel_->arg());
    return arg == nullptr ? "kernel" : arg->name;
  }

  absl::Status Begin() {
    US_RETURN_IF_ERROR(RangesOf(kernel_).status());
    result_.heuristic = HeuristicChoices(kernel_, target_);
    std::vector<State> first;
    for (size_t n = 0; n <= result_.heuristic.size(); ++n) {
      State s;
      s.choices.assign(result_.heuristic.begin(), result_.heuristic.begin() + static_cast<std::ptrdiff_t>(n));
      auto structure = StructureOf(kernel_, target_, s.choices);
      if (!structure.ok()) {
        if (n == 0) return structure.status();
        continue;
      }
      s.structure = *std::move(structure);
      // The two ends are always costed, so that they can be reported.
      const bool fresh = seen_.insert(s.structure).second;
      if (fresh || n == result_.heuristic.size()) first.push_back(std::move(s));
    }
    Cost(&first, /*keep_failed=*/true);
    result_.none_cost = result_.tried.front().cost;
    if (result_.tried.back().choices == result_.heuristic) {
      result_.heuristic_cost = result_.tried.back().cost;
    } else {
      result_.heuristic_cost = StructureOf(kernel_, target_, result_.heuristic).status();
    }
    first.erase(std::remove_if(first.begin(), first.end(), [](const State& s) { return s.cost == kNoCost; }),
                first.end());
    start_ = std::move(first);
    // A kernel that does not compile without choices may compile with some.
    if (start_.empty()) {
      State bare;
      bare.structure = *StructureOf(kernel_, target_, {});
      start_.push_back(std::move(bare));
    }
    return absl::OkStatus();
  }

  // New structures that one more choice makes of `states`.
  std::vector<State> Extensions(const std::vector<State>& states) {
    std::vector<State> next;
    for (const State& s : states) {
      if (static_cast<int>(s.choices.size()) >= options_.max_choices) continue;
      for (const Choice& c : ListChoices(kernel_, target_, s.choices)) {
        ++result_.listed;
        State n;
        n.choices = s.choices;
        n.choices.push_back(c);
        auto structure = StructureOf(kernel_, target_, n.choices);
        if (!structure.ok()) continue;
        if (!seen_.insert(*structure).second) {
          ++result_.duplicates;
          continue;
        }
        n.structure = *std::move(structure);
        next.push_back(std::move(n));
      }
    }
    if (options_.seed != 0) {
      // Fisher and Yates with our own reduction: std::shuffle differs between libraries.
      for (size_t i = next.size(); i > 1; --i) std::swap(next[i - 1], next[random_() % i]);
    }
    return next;
  }

  void Prune(std::vector<State>* states) {
    if (options_.pruner == nullptr || static_cast<int>(states->size()) <= options_.keep) return;
    const auto costs = options_.pruner->Costs(kernel_, target_, Choices(*states), kNoCost);
    for (size_t i = 0; i < states->size(); ++i) (*states)[i].cost = costs[i].ok() ? *costs[i] : kNoCost;
    std::stable_sort(states->begin(), states->end(), Better);
    result_.pruned += static_cast<int64_t>(states->size()) - options_.keep;
    states->resize(static_cast<size_t>(options_.keep));
  }

  static std::vector<ChoiceList> Choices(const std::vector<State>& states) {
    std::vector<ChoiceList> lists;
    for (const State& s : states) lists.push_back(s.choices);
    return lists;
  }

  // In batches, so that a limit and `stop` hold soon. Leaves those that have a cost, unless `keep_failed`.
  void Cost(std::vector<State>* states, bool keep_failed = false) {
    constexpr size_t kBatch = 32;
    size_t done = 0;
    while (done < states->size() && !full_) {
      const int64_t left = options_.max_candidates - static_cast<int64_t>(result_.tried.size());
      // The first batch (none and heuristic) is costed whatever the limit.
      if (!keep_failed && (left <= 0 || (options_.stop && options_.stop()))) {
        full_ = true;
        break;
      }
      const size_t n =
          std::min(states->size() - done,
                   keep_failed ? states->size() : std::min<size_t>(kBatch, static_cast<size_t>(left)));
      const std::vector<State> batch(states->begin() + static_cast<std::ptrdiff_t>(done),
                                     states->begin() + static_cast<std::ptrdiff_t>(done + n));
      auto costs = model_.Costs(kernel_, target_, Choices(batch), best_.cost);
      US_CHECK(costs.size() == n) << model_.name() << ": " << costs.size() << " costs of " << n;
      for (size_t i = 0; i < n; ++i) {
        State& s = (*states)[done + i];
        if (costs[i].ok() && !(std::isfinite(*costs[i]) && *costs[i] >= 0)) {
          costs[i] = absl::InternalError(
              absl::StrCat(model_.name(), ": cost ", *costs[i], " of ", ChoicesText(s.choices)));
        }
        s.cost = costs[i].ok() ? *costs[i] : kNoCost;
        result_.failed += !costs[i].ok();
        result_.tried.push_back({s.choices, std::move(costs[i])});
        if (s.cost != kNoCost && (best_.structure == nullptr || Better(s, best_))) best_ = s;
      }
      done += n;
      if (options_.progress) options_.progress(static_cast<int64_t>(result_.tried.size()), best_.cost);
    }
    states->resize(done);
    if (keep_failed) return;
    states->erase(
        std::remove_if(states->begin(), states->end(), [](const State& s) { return s.cost == kNoCost; }),
        states->end());
  }

  // The `width` best, and the best of other last kinds: what pays only together with a later choice (a pad
  // before a tensor core) stays in sight.
  std::vector<State> Front(std::vector<State> states) const {
    std::stable_sort(states.begin(), states.end(), Better);
    const size_t width = static_cast<size_t>(std::max(1, options_.width));
    if (states.size() <= width) return states;
    std::set<ChoiceKind> kinds;
    std::vector<State> front(states.begin(), states.begin() + static_cast<std::ptrdiff_t>(width));
    for (const State& s : front) {
      if (!s.choices.empty()) kinds.insert(s.choices.back().kind);
    }
    int more = options_.diverse;
    for (size_t i = width; i < states.size() && more > 0; ++i) {
      if (states[i].choices.empty() || !kinds.insert(states[i].choices.back().kind).second) continue;
      front.push_back(std::move(states[i]));
      --more;
    }
    return front;
  }

  absl::StatusOr<SearchResult> Finish() {
    if (best_.structure == nullptr) {
      const absl::Status& first = result_.tried.front().cost.status();
      return absl::Status(first.code(),
                          absl::StrCat("no choices of kernel ", Name(), " have a cost; of ",
                                       result_.tried.size(), " the first: ", std::string(first.message())));
    }
    result_.choices = best_.choices;
    result_.cost = best_.cost;
    result_.complete = !full_;
    return std::move(result_);
  }

  const UOpRef kernel_;
  const Target& target_;
  CostModel& model_;
  const SearchOptions& options_;
  std::mt19937_64 random_;
  absl::flat_hash_set<UOpRef> seen_;  // structures
  std::vector<State> start_;
  State best_;
  SearchResult result_;
  bool full_ = false;
};

}  // namespace

std::string SearchOptions::Text() const {
  return absl::StrCat("width ", width, " diverse ", diverse, " choices ", max_choices, " candidates ",
                      max_candidates, " patience ", patience, " seed ", seed,
                      pruner == nullptr ? "" : absl::StrCat(" pruner ", pruner->name(), " keep ", keep));
}

absl::StatusOr<UOpRef> StructureOf(const UOpRef& kernel, const Target& target, const ChoiceList& choices) {
  US_ASSIGN_OR_RETURN(const UOpRef chosen, ApplyChoices(kernel, target, choices));
  absl::flat_hash_map<const UOp*, UOpRef> done;
  int64_t next = 0;
  for (const UOp* n : uop::Toposort(chosen)) {
    std::vector<UOpRef> src;
    for (const UOpRef& s : n->src()) src.push_back(done.at(s.get()));
    if (n->op() == Op::kRange) {
      RangeArg arg = n->arg_as<RangeArg>();
      arg.id = next++;
      done.emplace(n, UOp::Make(Op::kRange, n->dtype(), std::move(src), arg));
    } else if (n->op() == Op::kSink && std::holds_alternative<KernelArg>(n->arg())) {
      KernelArg arg = n->arg_as<KernelArg>();
      arg.name.clear();
      done.emplace(n, UOp::Make(Op::kSink, n->dtype(), std::move(src), std::move(arg)));
    } else {
      done.emplace(n, n->WithSrc(std::move(src)));
    }
  }
  return done.at(chosen.get());
}

absl::StatusOr<SearchResult> SearchChoices(const UOpRef& kernel, const Target& target, CostModel& model,
                                           const SearchOptions& options) {
  return Search(kernel, target, model, options).Beam();
}

absl::StatusOr<SearchResult> SearchExhaustively(const UOpRef& kernel, const Target& target, CostModel& model,
                                                int max_choices, int64_t max_candidates) {
  SearchOptions options;
  options.max_choices = max_choices;
  options.max_candidates = max_candidates;
  return Search(kernel, target, model, options).All();
}

}  // namespace understudy
