// SPDX-License-Identifier: Apache-2.0
// What orders threads: barriers, fences, strong accesses, mbarriers, waits for asynchronous copies.
#include <bit>
#include <cstring>
#include <utility>

#include "emu/ptx/check/races.h"
#include "emu/ptx/semantics/mbarrier.h"

namespace understudy::emu::ptx {
namespace {

using What = SyncFacts::What;

SyncScope ScopeOf(const Instruction& text, SyncScope otherwise) {
  if (text.Has("cta")) return SyncScope::kCta;
  if (text.Has("cluster")) return SyncScope::kCluster;
  return text.Has("gpu") || text.Has("sys") || text.Has("gl") ? SyncScope::kGpu : otherwise;
}

What CopyKind(const Instruction& text) {
  if (!text.Has("bulk")) {
    if (text.Has("commit_group")) return What::kCopyCommit;
    if (text.Has("wait_group") || text.Has("wait_all")) return What::kCopyWait;
    return text.Has("mbarrier") ? What::kCopyArrive : What::kCopy;
  }
  if (text.Has("prefetch")) return What::kNoAccess;
  if (text.Has("commit_group")) return What::kBulkCommit;
  return text.Has("wait_group") ? What::kBulkWait : What::kBulk;
}

What MbarrierKind(const Instruction& text) {
  if (text.Has("init") || text.Has("inval")) return What::kMbarrierInit;
  if (text.Has("test_wait") || text.Has("try_wait")) return What::kMbarrierWait;
  return text.Has("arrive") || text.Has("arrive_drop") ? What::kMbarrierArrive : What::kMbarrierOther;
}

}  // namespace

SyncFacts FindSyncFacts(const Instruction& text) {
  SyncFacts facts;
  const bool relaxed = text.Has("relaxed");
  switch (text.op) {
    case Op::kBar:
    case Op::kBarrier:
      facts.what = text.Has("cluster") ? text.Has("arrive") ? What::kClusterArrive : What::kClusterWait
                   : text.Has("warp")  ? What::kWarpBarrier
                                       : What::kCtaBarrier;
      facts.releases = !relaxed;
      return facts;
    case Op::kMembar:
      facts.fence = !text.Has("proxy");
      facts.scope = text.Has("cta") ? SyncScope::kCta : SyncScope::kGpu;
      return facts;
    case Op::kFence:
      facts.fence = !text.Has("proxy");
      facts.scope = ScopeOf(text, SyncScope::kGpu);
      return facts;
    case Op::kMbarrier:
      facts.what = MbarrierKind(text);
      facts.strong = facts.what != What::kMbarrierInit;
      facts.scope = SyncScope::kCluster;
      facts.releases = facts.what == What::kMbarrierArrive && !relaxed;
      facts.acquires = facts.what == What::kMbarrierWait && !relaxed;
      return facts;
    case Op::kCp:
      facts.what = CopyKind(text);
      facts.with_mbarrier = text.Has("mbarrier::complete_tx::bytes");
      facts.strong = facts.what == What::kCopyArrive;
      facts.scope = SyncScope::kCluster;
      return facts;
    case Op::kApplypriority:
    case Op::kPrefetch:
    case Op::kTensormap:
      facts.what = What::kNoAccess;
      return facts;
    case Op::kAtom:
    case Op::kRed:
      if (text.Has("async")) {
        facts.what = What::kBulk;
        facts.with_mbarrier = true;
        return facts;
      }
      facts.strong = facts.atomic = true;
      break;
    case Op::kSt:
      if (text.Has("async")) {
        facts.what = What::kBulk;
        facts.with_mbarrier = true;
        return facts;
      }
      break;
    default:
      break;
  }
  facts.acquires = text.Has("acquire") || text.Has("acq_rel");
  facts.releases = text.Has("release") || text.Has("acq_rel");
  facts.strong =
      facts.strong || facts.acquires || facts.releases || relaxed || text.Has("volatile") || text.Has("mmio");
  facts.scope = ScopeOf(text, SyncScope::kGpu);
  return facts;
}

void RaceChecker::Before(WarpState& warp, const Inst& inst) {
  const SyncFacts& facts = FactsOf(inst);
  CtaState& state = StateOf(*warp.cta);
  const auto gather = [&](Gatherer& to, uint32_t mask) {
    for (uint32_t m = mask; m != 0; m &= m - 1) {
      const uint32_t lane = static_cast<uint32_t>(std::countr_zero(m));
      to.Add(state.cta, warp.index * kWarpSize + lane, &ClocksOf(warp).lanes[lane]);
    }
  };
  if (facts.what == What::kClusterArrive && facts.releases)
    gather(clusters_[warp.cta->cluster].arriving, warp.mask);
  if (facts.what != What::kCtaBarrier || warp.mask == 0) return;
  // Lanes that name the barrier of the first; the others come again.
  const int id_at = inst.text->Has("red") ? 1 : 0;
  const int count_at = inst.num_operands - id_at > id_at + 1 ? id_at + 1 : -1;
  const int first = std::countr_zero(warp.mask);
  const uint64_t id = warp.Lane(inst.src(id_at), first);
  uint32_t same = 0;
  for (uint32_t m = warp.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (warp.Lane(inst.src(id_at), lane) == id &&
        (count_at < 0 || warp.Lane(inst.src(count_at), lane) == warp.Lane(inst.src(count_at), first)))
      same |= 1u << lane;
  }
  if (id < state.barriers.size()) gather(state.barriers[static_cast<size_t>(id)], same);
}

void RaceChecker::Join(WarpState& warp, uint32_t mask, const Joined& known) {
  ClockJoiner joiner(StateOf(*warp.cta).cta);
  WarpClocks& clocks = ClocksOf(warp);
  for (uint32_t m = mask; m != 0; m &= m - 1)
    joiner.Acquire(known, false, &clocks.lanes[static_cast<size_t>(std::countr_zero(m))]);
}

void RaceChecker::PassBarrier(Cta& cta, uint32_t id) {
  Gatherer& gathered = StateOf(cta).barriers[id];
  const Joined& known = gathered.Result();
  for (uint32_t w = 0; w < cta.num_warps; ++w) {
    WarpState& warp = *cta.warps[w];
    for (int i = 0; i < warp.num_groups; ++i) {
      const Group& group = warp.groups[static_cast<size_t>(i)];
      if (group.wait != Group::Wait::kBarrier || group.barrier != id) continue;
      Join(warp, group.mask, known);
      // A fence before the barrier, and a strong write by another thread behind it: code relies on that.
      if (gathered.release() == nullptr) continue;
      for (uint32_t m = group.mask; m != 0; m &= m - 1)
        ClocksOf(warp).lanes[static_cast<size_t>(std::countr_zero(m))].release = gathered.release();
    }
  }
  gathered.Clear();
}

void RaceChecker::PassClusterBarrier(Cluster& cluster) {
  ClusterState& state = clusters_[&cluster];
  state.done = state.arriving.Result();
  state.arriving.Clear();
  for (uint32_t c = 0; c < cluster.num_ctas; ++c)
    for (uint32_t w = 0; w < cluster.ctas[c]->num_warps; ++w) {
      WarpState& warp = *cluster.ctas[c]->warps[w];
      for (int i = 0; i < warp.num_groups; ++i)
        if (warp.groups[static_cast<size_t>(i)].wait == Group::Wait::kCluster)
          Join(warp, warp.groups[static_cast<size_t>(i)].mask, state.done);
    }
}

void RaceChecker::Fence(WarpState& warp, const SyncFacts& facts, uint32_t mask) {
  CtaState& state = StateOf(*warp.cta);
  WarpClocks& clocks = ClocksOf(warp);
  ClockJoiner joiner(state.cta);
  Gatherer gathered;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(m));
    ThreadClock& clock = clocks.lanes[lane];
    if (clock.seen != nullptr) joiner.Acquire(*clock.seen, facts.scope == SyncScope::kCta, &clock);
    clock.seen = nullptr;
    // Lanes of one fence release together.
    gathered.Add(state.cta, warp.index * kWarpSize + lane, &clock);
  }
  const auto release = std::make_shared<const Joined>(gathered.Result());
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    ThreadClock& clock = clocks.lanes[static_cast<size_t>(std::countr_zero(m))];
    clock.release = release;
    clock.release_scope = static_cast<uint8_t>(facts.scope);
  }
}

RaceChecker::SyncPoint& RaceChecker::PointAt(const AccessLog::Entry& entry) {
  if (entry.space == LoggedSpace::kShared) return StateOf(*entry.cta).points[entry.host];
  return points_[entry.host];
}

// Strong accesses: what they publish, and what they see.
void RaceChecker::Synchronise(WarpState& warp, const AccessLog& log, const SyncFacts& facts) {
  CtaState& state = StateOf(*warp.cta);
  WarpClocks& clocks = ClocksOf(warp);
  ClockJoiner joiner(state.cta);
  // Lanes of one instruction that see the same location.
  std::vector<std::pair<std::shared_ptr<const Joined>, std::shared_ptr<const Joined>>> merged;
  for (const AccessLog::Entry& entry : log.entries) {
    if (entry.space != LoggedSpace::kShared && entry.space != LoggedSpace::kGlobal) continue;
    if (entry.space == LoggedSpace::kShared && entry.cta->check == nullptr) continue;
    const uint32_t lane = static_cast<uint32_t>(entry.lane);
    ThreadClock& clock = clocks.lanes[lane];
    const bool reads = entry.access != emu::Access::kWrite, writes = entry.access != emu::Access::kRead;
    if (reads) {
      for (const SyncPoint::Level& level : PointAt(entry).levels) {
        if (level.scope == SyncScope::kCta && level.domain != state.cta) continue;
        if (level.scope == SyncScope::kCluster && level.domain != state.cluster) continue;
        const bool own_only = facts.scope == SyncScope::kCta;
        if (own_only && level.cta != state.cta) continue;
        if (facts.acquires) {
          joiner.Acquire(*level.known, own_only, &clock);
        } else if (clock.seen == nullptr) {
          clock.seen = level.known;
        } else if (clock.seen != level.known) {
          std::shared_ptr<const Joined> both;
          for (const auto& [from, to] : merged)
            if (from == clock.seen) both = to;
          if (both == nullptr) {
            auto sum = std::make_shared<Joined>(*clock.seen);
            sum->Add(*level.known);
            both = std::move(sum);
          }
          merged.assign(1, {clock.seen, both});
          clock.seen = both;
        }
      }
    }
    if (!writes) continue;
    std::shared_ptr<const Joined> known;
    SyncScope scope = facts.scope;
    if (facts.releases) {
      Gatherer own;
      own.Add(state.cta, warp.index * kWarpSize + lane, &clock);
      known = std::make_shared<const Joined>(own.Result());
    } else if (clock.release != nullptr) {
      known = clock.release;
      scope = std::min(scope, static_cast<SyncScope>(clock.release_scope));
    }
    SyncPoint& point = PointAt(entry);
    // A store begins a new release sequence; a read-modify-write goes on with the old one.
    if (!facts.atomic) point.levels.clear();
    if (known == nullptr) continue;
    const uint32_t domain = scope == SyncScope::kCta       ? state.cta
                            : scope == SyncScope::kCluster ? state.cluster
                                                           : 0;
    bool found = false;
    for (SyncPoint::Level& level : point.levels) {
      if (level.scope != scope || level.domain != domain) continue;
      found = true;
      level.cta = state.cta;
      if (level.known == known) break;
      auto sum = std::make_shared<Joined>(*level.known);
      sum->Add(*known);
      level.known = std::move(sum);
      break;
    }
    if (!found) point.levels.push_back({scope, domain, state.cta, known});
  }
}

void RaceChecker::WaitCopies(WarpState& warp, Copies& copies, uint32_t mask, uint32_t keep) {
  const uint32_t agent = StateOf(*warp.cta).threads + warp.index;
  WarpClocks& clocks = ClocksOf(warp);
  std::array<uint32_t, kWarpSize> time{};
  for (Copies::Pending& pending : copies.pending)
    for (uint32_t m = pending.mask & mask; m != 0; m &= m - 1) {
      const size_t lane = static_cast<size_t>(std::countr_zero(m));
      // All of them, or those whose group is old enough.
      if (keep != ~0u && uint64_t{pending.group[lane]} + keep >= copies.committed[lane]) continue;
      time[lane] = std::max(time[lane], pending.time);
      pending.mask &= ~(1u << lane);
    }
  while (!copies.pending.empty() && copies.pending.front().mask == 0) copies.pending.pop_front();
  Times from, to;
  uint32_t last = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const size_t lane = static_cast<size_t>(std::countr_zero(m));
    if (time[lane] == 0) continue;
    Times& own = clocks.lanes[lane].own;
    if (own != from || time[lane] != last) {
      from = own;
      last = time[lane];
      to = WithTime(own, agent, last);
    }
    own = to;
  }
}

RaceChecker::MbarrierState& RaceChecker::MbarrierAt(const AccessLog::Entry& entry) {
  return StateOf(*entry.cta).mbarriers[entry.host];
}

// What the object's parity says has happened.
void RaceChecker::Advance(MbarrierState& state, const uint8_t* word) {
  uint64_t bits = 0;
  std::memcpy(&bits, word, 8);
  const bool parity = Mbarrier::Unpack(bits).parity;
  if (parity == state.parity) return;
  state.parity = parity;
  state.done.Add(state.arriving.Result());
  state.done.Add(state.extra);
  state.arriving.Clear();
  state.extra.Clear();
}

ExecResult RaceChecker::MbarrierOp(WarpState& warp, const Inst& inst, const AccessLog& log,
                                   const SyncFacts& facts, uint32_t mask, ExecResult result) {
  CtaState& state = StateOf(*warp.cta);
  WarpClocks& clocks = ClocksOf(warp);
  if (facts.what != What::kMbarrierWait || result != ExecResult::kRetry)
    if (Plain(warp, inst, log, facts) == ExecResult::kFault) return ExecResult::kFault;
  ClockJoiner joiner(state.cta);
  const uint32_t done =
      facts.what == What::kMbarrierWait && result != ExecResult::kRetry ? warp.Pred(inst.src(0)) & mask : 0;
  for (const AccessLog::Entry& entry : log.entries) {
    if (entry.space != LoggedSpace::kShared || entry.cta->check == nullptr) continue;
    const uint32_t lane = static_cast<uint32_t>(entry.lane);
    if (facts.what == What::kMbarrierInit) {
      StateOf(*entry.cta).mbarriers.erase(entry.host);
      continue;
    }
    MbarrierState& barrier = MbarrierAt(entry);
    if (facts.what == What::kMbarrierArrive && facts.releases)
      barrier.arriving.Add(state.cta, warp.index * kWarpSize + lane, &clocks.lanes[lane]);
    if (facts.what == What::kCopyArrive) {
      ThreadClock& clock = clocks.lanes[lane];
      // The copies that the lane has started before.
      barrier.extra.Add(state.cta, WithTime(clock.own, state.threads + warp.index, clocks.agent_time));
      if (clock.others != nullptr) barrier.extra.Add(*clock.others);
    }
  }
  for (const AccessLog::Entry& entry : log.entries) {
    if (entry.space != LoggedSpace::kShared || entry.cta->check == nullptr) continue;
    if (facts.what == What::kMbarrierInit) continue;
    MbarrierState& barrier = MbarrierAt(entry);
    Advance(barrier, entry.host);
    if (facts.acquires && (done >> entry.lane & 1) != 0)
      joiner.Acquire(barrier.done, false, &clocks.lanes[static_cast<size_t>(entry.lane)]);
  }
  return ExecResult::kNext;
}

ExecResult RaceChecker::After(WarpState& warp, const Inst& inst, const AccessLog& log, uint32_t mask,
                              ExecResult result) {
  if (inst.text == nullptr || warp.cta->check == nullptr) return ExecResult::kNext;
  const SyncFacts& facts = FactsOf(inst);
  WarpClocks& clocks = ClocksOf(warp);
  switch (facts.what) {
    case What::kPlain:
      if (facts.fence) Fence(warp, facts, mask);
      if (log.entries.empty()) return ExecResult::kNext;
      if (Plain(warp, inst, log, facts) == ExecResult::kFault) return ExecResult::kFault;
      if (facts.strong) Synchronise(warp, log, facts);
      return ExecResult::kNext;
    case What::kWarpBarrier: {
      Gatherer gathered;
      for (uint32_t m = mask; m != 0; m &= m - 1) {
        const uint32_t lane = static_cast<uint32_t>(std::countr_zero(m));
        gathered.Add(StateOf(*warp.cta).cta, warp.index * kWarpSize + lane, &clocks.lanes[lane]);
      }
      Join(warp, mask, gathered.Result());
      return ExecResult::kNext;
    }
    case What::kClusterWait:
      if (result == ExecResult::kNext) Join(warp, mask, clusters_[warp.cta->cluster].done);
      return ExecResult::kNext;
    case What::kMbarrierInit:
    case What::kMbarrierArrive:
    case What::kMbarrierWait:
    case What::kMbarrierOther:
    case What::kCopyArrive:
      return MbarrierOp(warp, inst, log, facts, mask, result);
    case What::kCopy:
    case What::kBulk:
      return Asynchronous(warp, inst, log, facts, mask);
    case What::kCopyCommit:
    case What::kBulkCommit: {
      Copies& copies = facts.what == What::kCopyCommit ? clocks.copies : clocks.bulk;
      for (uint32_t m = mask; m != 0; m &= m - 1)
        ++copies.committed[static_cast<size_t>(std::countr_zero(m))];
      return ExecResult::kNext;
    }
    case What::kCopyWait:
    case What::kBulkWait:
      WaitCopies(warp, facts.what == What::kCopyWait ? clocks.copies : clocks.bulk, mask,
                 inst.text->Has("wait_all") ? ~0u : static_cast<uint32_t>(inst.aux[0]));
      return ExecResult::kNext;
    case What::kCtaBarrier:
    case What::kClusterArrive:
    case What::kNoAccess:
      return ExecResult::kNext;
  }
  return ExecResult::kNext;
}

}  // namespace understudy::emu::ptx
