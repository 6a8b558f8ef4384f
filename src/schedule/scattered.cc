// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/scattered.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace understudy {
namespace {

using Ints = std::vector<int64_t>;

}  // namespace

ScatteredValues::ScatteredValues(ShardingAnalysis* analysis, absl::Span<const OutputRequest> requests)
    : analysis_(analysis) {
  absl::flat_hash_map<const UOp*, const Sharding*> wanted;  // null: all of it, or parts that differ
  const auto want = [&](const UOpRef& u, const Sharding* s) {
    const auto [it, fresh] = wanted.emplace(u.get(), s);
    if (!fresh && it->second != s) it->second = nullptr;
  };
  for (const OutputRequest& r : requests) want(r.value, nullptr);
  // Cuts of a value that every device would have, one for each of them (a replicated tensor that Shard
  // cuts).
  absl::flat_hash_set<const UOp*> cuts;
  std::vector<std::pair<const UOp*, Sharding>> cut_to;
  for (const UOpRef& u : analysis_->nodes()) {
    // Below what is known nothing was looked at.
    if (analysis_->Of(u).known != nullptr) continue;
    if (u->op() == Op::kCopy && ShardingOf(u->src(0)) != nullptr)
      copied_to_[u->src(0).get()].insert(u->arg_as<std::string>());
    std::optional<CutCopy> c = CutCopyOf(*u);
    if (!c) continue;
    auto at = std::find_if(cut_to.begin(), cut_to.end(), [&](const auto& e) { return e.first == c->of; });
    if (at == cut_to.end()) {
      cut_to.push_back({c->of, Sharding{ShardingOf(UOpRef(c->of))->devices, c->axis, {}}});
      at = cut_to.end() - 1;
      at->second.parts.resize(at->second.devices.size());
    }
    if (at->second.axis != c->axis || at->second.parts[c->device].size() != 0) continue;
    at->second.parts[c->device] = c->part;
    cuts.insert(u->src(0).get());
  }
  for (auto& [of, sharding] : cut_to) {
    std::vector<Sharding::Part> sorted = sharding.parts;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    int64_t covered = 0;
    for (const Sharding::Part& p : sorted) {
      if (p.size() > 0 && p.begin == covered) covered = p.end;
    }
    const bool all = covered == of->shape()[static_cast<size_t>(sharding.axis)];
    want(UOpRef(of), all ? analysis_->Intern(std::move(sharding)) : nullptr);
  }
  for (size_t k = analysis_->nodes().size(); k-- > 0;) {
    const UOpRef& u = analysis_->nodes()[k];
    const ShardingAnalysis::Place& place = analysis_->Of(u);
    if (cuts.contains(u.get())) continue;
    if (place.known != nullptr) {
      want(place.known, nullptr);
      continue;
    }
    const auto mine = wanted.find(u.get());
    const Sharding* passed = mine == wanted.end() ? nullptr : mine->second;
    const bool elementwise = IsAlu(u->op()) || u->op() == Op::kDetach || u->op() == Op::kContiguousBackward ||
                             u->op() == Op::kContiguous || u->op() == Op::kWithGradient;
    const bool whole = place.spread() && place.sharding->replicated() && u->numel() > 0;
    const bool follows = whole && passed != nullptr && (elementwise || IsMovement(u->op()) || Crosses(*u));
    if (follows) scattered_.emplace(u.get(), passed);
    const auto [begin, end] = ShardingAnalysis::ValueSources(*u);
    for (size_t i = begin; i < end; ++i) {
      const UOpRef& source = u->src(i);
      const Sharding* s = nullptr;
      if (elementwise && place.spread() && !place.sharding->replicated()) {
        s = place.sharding;
      } else if (follows && elementwise) {
        s = passed;
      } else if (follows && IsMovement(u->op())) {
        const std::optional<Sharding> back = BackwardMovement(*u, *passed);
        if (back && !back->replicated()) s = analysis_->Intern(*back);
      } else if (u->op() == Op::kAssign && i == 1 && place.spread() && !place.sharding->replicated()) {
        s = place.sharding;
      }
      want(source, s);
    }
  }
  // A chain that a view cuts off from parts is computed whole.
  for (const UOpRef& u : analysis_->nodes()) {
    if (!scattered_.contains(u.get()) || Crosses(*u)) continue;
    const auto [begin, end] = ShardingAnalysis::ValueSources(*u);
    bool below = false;
    for (size_t i = begin; i < end; ++i) below |= scattered_.contains(u->src(i).get());
    if (!below) scattered_.erase(u.get());
  }
}

std::optional<ScatteredValues::CutCopy> ScatteredValues::CutCopyOf(const UOp& u) const {
  if (u.op() != Op::kCopy || u.src(0)->op() != Op::kShrink || analysis_->Of(&u).known != nullptr)
    return std::nullopt;
  const UOp& cut = *u.src(0);
  if (analysis_->Of(&cut).known != nullptr) return std::nullopt;
  const Sharding* s = ShardingOf(UOpRef(cut.src(0)));
  if (s == nullptr || !s->replicated()) return std::nullopt;
  const auto at = std::find(s->devices.begin(), s->devices.end(), u.arg_as<std::string>());
  if (at == s->devices.end()) return std::nullopt;
  CutCopy out{cut.src(0).get(), static_cast<size_t>(at - s->devices.begin()), -1, {}};
  const auto& bounds = cut.arg_as<Ints>();
  for (size_t i = 0; i < cut.shape().size(); ++i) {
    if (cut.shape()[i] == out.of->shape()[i]) continue;
    if (out.axis >= 0) return std::nullopt;
    out.axis = static_cast<int64_t>(i);
    out.part = {bounds[2 * i], bounds[2 * i + 1]};
  }
  if (out.axis < 0 || out.part.size() == 0) return std::nullopt;
  return out;
}

bool ScatteredValues::Crosses(const UOp& u) const {
  if (u.op() != Op::kReduceAxis) return false;
  const Sharding* from = ShardingOf(UOpRef(u.src(0)));
  const auto& axes = u.arg_as<ReduceArg>().axes;
  return from != nullptr && !from->replicated() && std::count(axes.begin(), axes.end(), from->axis) != 0;
}

}  // namespace understudy
