// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/merge.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "src/schedule/index_expr.h"
#include "src/schedule/partial_store.h"
#include "src/schedule/scatter.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/sizes.h"

namespace understudy {
namespace {

// More outputs (or reductions) than this in a kernel take more registers than a launch is worth.
constexpr size_t kMaxMembers = 8;
// Below this many steps a kernel costs less than its launch.
constexpr double kSmall = 65536;

// What is needed of a unit to decide where it may go, found in one walk over its value.
struct Facts {
  std::vector<int> reads;           // sorted
  absl::flat_hash_set<int> across;  // slots read at another element than the one that is written
  std::vector<std::pair<int, std::vector<int64_t>>> reductions;  // reductions below, and the ends of ranges
  std::vector<int64_t> ends;                                     // of the output's ranges
  double outputs = 1, steps = 1;  // elements; times the steps of the largest reduction
  int64_t largest_read = 0;       // elements
  bool alone = false;             // partial_store.h, scatter.h: runs over other ranges than its output's
};

// Two ranges of one run end together when these are equal: the number of steps, or what stands for a variable
// one.
int64_t EndKey(const UOpRef& range) {
  const UOpRef& end = range->src(0);
  return end->IsConst() ? end->const_int() : -static_cast<int64_t>(end->id());
}
double MostSteps(const UOpRef& range) { return static_cast<double>(uop::LimitsOf(range->src(0)).hi); }

Facts FactsOf(const Unit& unit, const std::vector<int64_t>& elements) {
  Facts f;
  if (unit.is_copy) {
    f.reads = {unit.source};
    return f;
  }
  const UOpRef own = index::Compose(index::Decompose(unit.store_index));
  absl::flat_hash_map<const UOp*, int> below;
  std::set<int> reads;
  double most = 1;
  for (const UOp* n : uop::Toposort(unit.value)) {
    int depth = 0;
    for (const UOpRef& s : n->src()) depth = std::max(depth, below[s.get()]);
    if (n->op() == Op::kIndex) {
      const int slot = SlotOf(*n);
      reads.insert(slot);
      const bool same = n->num_src() == 2 && (n->src(1) == unit.store_index || n->src(1) == own ||
                                              index::Compose(index::Decompose(n->src(1))) == own);
      if (!same) f.across.insert(slot);
    } else if (n->op() == Op::kReduce) {
      std::vector<int64_t> ends;
      double steps = 1;
      for (size_t i = 1; i < n->num_src(); ++i) {
        ends.push_back(EndKey(n->src(i)));
        steps *= MostSteps(n->src(i));
      }
      most = std::max(most, steps);
      f.reductions.emplace_back(depth++, std::move(ends));
    }
    below[n] = depth;
  }
  f.reads.assign(reads.begin(), reads.end());
  bool variable = false;
  for (const UOpRef& r : unit.ranges) {
    f.ends.push_back(EndKey(r));
    f.outputs *= MostSteps(r);
    variable |= !r->src(0)->IsConst();
  }
  // Equal lengths in different rooms lie differently.
  for (size_t i = 0; variable && i < unit.ranges.size(); ++i) {
    for (const auto& t : index::Decompose(unit.store_index).terms) {
      if (t.atom == unit.ranges[i]) f.ends.push_back(t.factor);
    }
  }
  f.steps = f.outputs * most;
  f.alone =
      unit.scatter || FindPartialStore(unit.value, unit.store_index, unit.ranges, unit.slot).has_value();
  for (const int slot : f.reads) f.largest_read = std::max(f.largest_read, elements[StorageOf(slot)]);
  return f;
}

// List scheduling: whatever is ready and fits joins the kernel that is next. As all that a member needs has
// either run or is in the kernel, no order among kernels is ever broken.
class Arranger {
 public:
  Arranger(const std::vector<Unit>& units, int num_params, const std::vector<int64_t>& elements,
           const ScheduleOptions& options)
      : units_(units), num_params_(num_params), elements_(elements), options_(options) {
    const int n = static_cast<int>(units.size());
    before_.resize(n);
    after_.resize(n);
    facts_.reserve(n);
    for (const Unit& u : units_) facts_.push_back(FactsOf(u, elements));
    for (int i = 0; i < n; ++i) writer_[units_[i].slot] = i;
    std::vector<std::set<int>> after(n);
    for (int i = 0; i < n; ++i) {
      for (const int slot : facts_[i].reads) {
        readers_[slot].push_back(i);
        int from = -1, to = i;
        if (slot >= kNewContents) {
          from = writer_.at(StorageOf(slot));
        } else if (slot >= num_params_) {
          from = writer_.at(slot);
        } else if (const auto w = writer_.find(slot); w != writer_.end()) {
          from = i, to = w->second;  // the old contents are read before they go
        }
        if (from >= 0 && from != to) after[from].insert(to);
      }
    }
    for (int i = 0; i < n; ++i) {
      after_[i].assign(after[i].begin(), after[i].end());
      for (const int b : after_[i]) before_[b].push_back(i);
    }
  }

  std::vector<Batch> Run(std::vector<int>* stuck) {
    const int n = static_cast<int>(units_.size());
    std::vector<int> waits(n);
    state_.assign(n, State::kWaiting);
    // Units were met from the outputs down, so the highest number is the deepest.
    std::priority_queue<int> ready;
    for (int i = 0; i < n; ++i) {
      waits[i] = static_cast<int>(before_[i].size());
      if (waits[i] == 0) ready.push(i);
    }
    std::vector<Batch> batches;
    std::vector<bool> delayed(n, false);
    while (!ready.empty()) {
      const int first = ready.top();
      ready.pop();
      if (state_[first] == State::kDone) continue;
      std::vector<int> blockers;
      Batch batch = Grow(first, &blockers);
      // What keeps others from joining is ready itself: it runs first, once.
      std::erase_if(blockers, [&](int b) { return waits[b] != 0; });
      if (!blockers.empty() && !delayed[first]) {
        delayed[first] = true;
        for (const Batch::Member& m : batch.members) state_[m.unit] = State::kWaiting;
        ready.push(first);
        // One at a time and whole: its own followers may join it.
        const int b = blockers[0];
        if (!delayed[b]) {
          delayed[first] = blockers.size() > 1 ? false : true;
          std::vector<int> none;
          batch = Grow(b, &none);
        } else {
          batch = Grow(first, &blockers);
        }
      }
      for (Batch::Member& m : batch.members) state_[m.unit] = State::kDone;
      for (Batch::Member& m : batch.members) {
        m.stored = IsReadOutside(batch, m.unit);
        for (const int b : after_[m.unit]) {
          if (--waits[b] == 0 && state_[b] != State::kDone) ready.push(b);
        }
      }
      batches.push_back(std::move(batch));
    }
    for (int i = 0; i < n; ++i) {
      if (state_[i] != State::kDone) stuck->push_back(i);
    }
    return batches;
  }

 private:
  enum class State : uint8_t { kWaiting, kChosen, kDone };

  // How others read what the unit stores.
  int Name(int unit) const { return NameOf(units_[unit].slot, num_params_); }

  bool IsReadOutside(const Batch& batch, int unit) const {
    if (batch.members.size() == 1 || units_[unit].slot < num_params_) return true;
    const auto it = readers_.find(units_[unit].slot);
    if (it == readers_.end()) return true;
    return !std::all_of(it->second.begin(), it->second.end(), [&](int r) {
      return std::any_of(batch.members.begin(), batch.members.end(),
                         [&](const auto& m) { return m.unit == r; });
    });
  }

  // The kernel that begins with `first`, with all that may join now. `blockers`: units that would have to run
  // before something else could.
  Batch Grow(int first, std::vector<int>* blockers) {
    Batch batch;
    batch.members.push_back({first});
    state_[first] = State::kChosen;
    if (units_[first].is_copy || !options_.merge_outputs) return batch;
    blocked_.clear();
    for (bool grown = true; grown;) {
      grown = false;
      for (const int c : Candidates(batch)) {
        MergeReason reason;
        if (!MayJoin(batch, c, &reason)) continue;
        batch.members.push_back({c, reason});
        state_[c] = State::kChosen;
        grown = true;
      }
    }
    for (const int b : blocked_) {
      if (state_[b] == State::kWaiting) blockers->push_back(b);
    }
    return batch;
  }

  // Units that have something to do with the kernel: its readers first, then the deepest.
  std::vector<int> Candidates(const Batch& batch) const {
    std::vector<int> out;
    absl::flat_hash_set<int> seen;
    const auto add = [&](int slot) {
      const auto it = readers_.find(slot);
      if (it == readers_.end()) return;
      for (const int r : it->second) {
        if (state_[r] == State::kWaiting && Fits(batch.members[0].unit, r) && seen.insert(r).second)
          out.push_back(r);
      }
    };
    for (const Batch::Member& m : batch.members) add(Name(m.unit));
    const size_t readers = out.size();
    for (const Batch::Member& m : batch.members) {
      for (const int slot : facts_[m.unit].reads) add(slot);
    }
    std::sort(out.begin(), out.begin() + readers, std::greater<>());
    std::sort(out.begin() + readers, out.end(), std::greater<>());
    return out;
  }

  bool Fits(int a, int b) const {
    return !units_[b].is_copy && !facts_[a].alone && !facts_[b].alone &&
           units_[a].device == units_[b].device && facts_[a].ends == facts_[b].ends;
  }

  bool MayJoin(const Batch& batch, int c, MergeReason* reason) {
    if (batch.members.size() >= kMaxMembers) return false;
    const Facts& f = facts_[c];
    // Worth it?
    bool worth = false;
    for (const Batch::Member& m : batch.members) {
      if (std::binary_search(f.reads.begin(), f.reads.end(), Name(m.unit))) {
        *reason = MergeReason::kReadsOutput;
        worth = true;
      }
    }
    for (const Batch::Member& m : batch.members) {
      if (worth) break;
      const Facts& g = facts_[m.unit];
      for (const int slot : f.reads) {
        if (!std::binary_search(g.reads.begin(), g.reads.end(), slot)) continue;
        const double size = static_cast<double>(elements_[StorageOf(slot)]);
        if (f.steps <= kSmall && g.steps <= kSmall) {
          *reason = MergeReason::kSharesLaunch;
          worth = true;
        } else if (size >= std::min(f.outputs, static_cast<double>(f.largest_read) / 4) &&
                   SharesLoops(f, g)) {
          *reason = MergeReason::kSharesInput;
          worth = true;
        }
      }
    }
    if (!worth) return false;
    // Element by element where one reads what another writes.
    for (const Batch::Member& m : batch.members) {
      if (f.across.contains(Name(m.unit)) || f.across.contains(units_[m.unit].slot)) return false;
      if (facts_[m.unit].across.contains(units_[c].slot)) return false;
    }
    // Few enough buffers and registers.
    std::set<int> slots, inside;
    size_t reductions = f.reductions.size();
    const auto count = [&](int unit) {
      slots.insert(units_[unit].slot);
      for (const int slot : facts_[unit].reads) {
        if (!inside.contains(slot)) slots.insert(StorageOf(slot));
      }
      inside.insert(Name(unit));
    };
    for (const Batch::Member& m : batch.members) {
      count(m.unit);
      reductions += facts_[m.unit].reductions.size();
    }
    count(c);
    if (static_cast<int>(slots.size()) > options_.max_buffers) return false;
    if (reductions > kMaxReductions && reductions > f.reductions.size()) return false;
    // Now?
    std::vector<int> missing;
    for (const int b : before_[c]) {
      if (state_[b] == State::kWaiting) missing.push_back(b);
    }
    if (missing.empty()) return true;
    if (*reason == MergeReason::kReadsOutput && missing.size() <= 2)
      blocked_.insert(blocked_.end(), missing.begin(), missing.end());
    return false;
  }

  // Two units with reductions gain from one kernel when a reduction of each is over equal ranges.
  static bool SharesLoops(const Facts& a, const Facts& b) {
    if (a.reductions.empty() || b.reductions.empty()) return a.reductions.empty() == b.reductions.empty();
    for (const auto& r : a.reductions) {
      if (std::find(b.reductions.begin(), b.reductions.end(), r) != b.reductions.end()) return true;
    }
    return false;
  }

  const std::vector<Unit>& units_;
  const int num_params_;
  const std::vector<int64_t>& elements_;
  const ScheduleOptions& options_;
  std::vector<Facts> facts_;
  absl::flat_hash_map<int, int> writer_;
  absl::flat_hash_map<int, std::vector<int>> readers_;  // by slot as it is read
  std::vector<std::vector<int>> before_, after_;
  std::vector<State> state_;
  std::vector<int> blocked_;
};

// Ranges of reductions that the members of a kernel have in common.
class SharedRanges {
 public:
  // `value` over the ranges of earlier members' reductions where they are of equal size and equally many
  // reductions lie below. Renaming one to one changes no value; a reduction inside another keeps ranges of
  // its own, because it has fewer below.
  UOpRef Rename(const UOpRef& value) {
    absl::flat_hash_map<const UOp*, int> below;
    absl::flat_hash_set<const UOp*> taken;
    uop::SubstitutionMap map;
    std::vector<std::pair<std::pair<int, std::vector<int64_t>>, std::vector<UOpRef>>> fresh;
    std::vector<const UOp*> reduces;
    for (const UOp* n : uop::Toposort(value)) {
      int depth = 0;
      for (const UOpRef& s : n->src()) depth = std::max(depth, below[s.get()]);
      if (n->op() == Op::kReduce) {
        reduces.push_back(n);
        below[n] = depth + 1;
        for (size_t i = 1; i < n->num_src(); ++i) {
          if (own_.contains(n->src(i).get())) taken.insert(n->src(i).get());
        }
      } else {
        below[n] = depth;
      }
    }
    for (const UOp* n : reduces) {
      const std::vector<UOpRef> ranges(n->src().begin() + 1, n->src().end());
      // Part of an earlier member's value, or of a reduction over ranges that are renamed already.
      if (std::any_of(ranges.begin(), ranges.end(),
                      [&](const UOpRef& r) { return own_.contains(r.get()) || map.contains(r); }))
        continue;
      std::pair<int, std::vector<int64_t>> key{below[n] - 1, {}};
      for (const UOpRef& r : ranges) key.second.push_back(EndKey(r));
      bool found = false;
      for (const std::vector<UOpRef>& other : pool_[key]) {
        if (std::any_of(other.begin(), other.end(), [&](const UOpRef& r) { return taken.contains(r.get()); }))
          continue;
        for (size_t i = 0; i < ranges.size(); ++i) {
          map[ranges[i]] = other[i];
          taken.insert(other[i].get());
        }
        found = true;
        break;
      }
      if (!found) fresh.emplace_back(std::move(key), ranges);
    }
    for (auto& [key, ranges] : fresh) {
      for (const UOpRef& r : ranges) own_.insert(r.get());
      keep_.insert(keep_.end(), ranges.begin(), ranges.end());
      pool_[key].push_back(std::move(ranges));
    }
    return map.empty() ? value : uop::Substitute(value, map);
  }

 private:
  std::map<std::pair<int, std::vector<int64_t>>, std::vector<std::vector<UOpRef>>> pool_;
  absl::flat_hash_set<const UOp*> own_;
  std::vector<UOpRef> keep_;
};

}  // namespace

const char* MergeReasonText(MergeReason reason) {
  switch (reason) {
    case MergeReason::kFirst:
      return "";
    case MergeReason::kReadsOutput:
      return "reads an output of the kernel element by element";
    case MergeReason::kSharesInput:
      return "reads the same input";
    case MergeReason::kSharesLaunch:
      return "costs less than a launch";
    case MergeReason::kReadsRow:
      return "goes over a row again while the cache holds it";
    case MergeReason::kSharesRow:
      return "reduces the same rows";
  }
  return "";
}

std::vector<int> ReadsOf(const Unit& unit) {
  if (unit.is_copy) return {unit.source};
  std::set<int> slots;
  for (const UOpRef& p : uop::NodesOf(unit.value, Op::kParam))
    slots.insert(static_cast<int>(p->arg_as<int64_t>()));
  return {slots.begin(), slots.end()};
}

std::vector<Batch> Arrange(const std::vector<Unit>& units, int num_params,
                           const std::vector<int64_t>& elements, const ScheduleOptions& options,
                           std::vector<int>* stuck) {
  return Arranger(units, num_params, elements, options).Run(stuck);
}

std::vector<KernelDraft> DraftsOf(const Batch& batch, const std::vector<Unit>& units, int num_params) {
  const Unit& first = units[batch.members[0].unit];
  if (first.scatter) {
    if (auto s = FindScatter(first.value, first.store_index, first.ranges, first.slot)) {
      return {{{{s->fill, first.store_index, first.slot, nullptr}}, first.ranges},
              {{{s->value, s->index, first.slot, s->valid}}, s->ranges}};
    }
  }
  KernelDraft draft;
  const auto whole =
      std::find_if(batch.members.begin(), batch.members.end(), [](const auto& m) { return !m.of_row; });
  const Unit& last = units[whole->unit];
  draft.ranges = last.ranges;
  if (batch.members.size() == 1) {
    if (auto part = FindPartialStore(first.value, first.store_index, first.ranges, first.slot)) {
      draft.ranges = std::move(part->ranges);
      draft.outputs.push_back({part->value, part->index, first.slot, part->valid});
    } else {
      draft.outputs.push_back({first.value, first.store_index, first.slot, nullptr});
    }
    return {draft};
  }
  SharedRanges shared;
  absl::flat_hash_map<int, UOpRef> stored;  // slot as it is read -> its value here
  for (const Batch::Member& m : batch.members) {
    const Unit& unit = units[m.unit];
    uop::SubstitutionMap map;
    for (size_t i = 0; i < unit.ranges.size(); ++i) map[unit.ranges[i]] = last.ranges[i];
    for (const UOpRef& load : uop::NodesOf(unit.value, Op::kLoad)) {
      const auto it = stored.find(SlotOf(*load->src(0)));
      if (it != stored.end()) map[load] = it->second;
    }
    const UOpRef value = shared.Rename(uop::Substitute(unit.value, map));
    stored[NameOf(unit.slot, num_params)] = value;
    if (m.stored) draft.outputs.push_back({value, last.store_index, unit.slot, nullptr});
  }
  return {draft};
}

}  // namespace understudy
