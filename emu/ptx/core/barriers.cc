// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/core/barriers.h"

#include <bit>

#include "absl/strings/str_format.h"
#include "emu/ptx/check/observer.h"
#include "emu/ptx/core/divergence.h"
#include "emu/ptx/core/launch_state.h"

namespace understudy::emu::ptx {
namespace {

// Threads that have come; those of a warp whose live lanes have all come count as 32.
uint32_t Arrived(const Cta& cta, const Barrier& barrier) {
  uint32_t count = barrier.arrived;
  for (uint32_t w = 0; w < cta.num_warps; ++w)
    count += static_cast<uint32_t>(std::popcount(barrier.partial[w]));
  return count;
}

void CountWarp(Barrier& barrier, const WarpState& warp) {
  uint32_t& partial = barrier.partial[warp.index];
  if (partial == 0 || (warp.live() & ~partial) != 0) return;
  barrier.arrived += kWarpSize;
  partial = 0;
}

bool Complete(const Cta& cta, const Barrier& barrier) {
  if (barrier.expected != 0) return Arrived(cta, barrier) >= barrier.expected;
  uint32_t needed = 0;
  for (uint32_t w = 0; w < cta.num_warps; ++w) needed += cta.warps[w]->live() != 0 ? kWarpSize : 0;
  return Arrived(cta, barrier) >= needed;
}

void WriteResult(WarpState& warp, const Group& group, const Barrier& barrier) {
  const Inst& inst = group.frame->function->code[group.pc];
  if (inst.text == nullptr || !inst.text->Has("red")) return;
  uint8_t* const base = warp.base[Src::kFrame];
  warp.base[Src::kFrame] = group.frame->rows;
  const uint32_t value = inst.text->Has("popc")  ? barrier.popc
                         : inst.text->Has("and") ? barrier.all
                                                 : barrier.any;
  for (uint32_t m = group.mask; m != 0; m &= m - 1) warp.SetLane(inst.src(0), std::countr_zero(m), value);
  warp.base[Src::kFrame] = base;
}

void TryComplete(Cta& cta, uint32_t id) {
  Barrier& barrier = cta.barriers[id];
  if (!barrier.active || !Complete(cta, barrier)) return;
  const Barrier done = barrier;
  if (cta.launch->observer != nullptr) cta.launch->observer->PassBarrier(cta, id);
  barrier = Barrier{};
  for (uint32_t w = 0; w < cta.num_warps; ++w) {
    WarpState& warp = *cta.warps[w];
    for (int i = 0; i < warp.num_groups;) {
      Group& group = warp.groups[static_cast<size_t>(i)];
      if (group.wait != Group::Wait::kBarrier || group.barrier != id) {
        ++i;
        continue;
      }
      WriteResult(warp, group, done);
      Wake(warp, i);
      // Another group has come to place i.
      i = 0;
    }
    MergeGroups(warp);
    warp.reload = true;
  }
}

void TryCompleteCluster(Cluster& cluster) {
  bool any = false;
  for (uint32_t c = 0; c < cluster.num_ctas; ++c)
    for (uint32_t w = 0; w < cluster.ctas[c]->num_warps; ++w) {
      const WarpState& warp = *cluster.ctas[c]->warps[w];
      if ((warp.live() & ~warp.cluster_arrived) != 0) return;
      any = any || warp.cluster_arrived != 0;
    }
  if (!any) return;
  Observer* const observer = cluster.ctas[0]->launch->observer;
  if (observer != nullptr) observer->PassClusterBarrier(cluster);
  ++cluster.barrier_phase;
  for (uint32_t c = 0; c < cluster.num_ctas; ++c)
    for (uint32_t w = 0; w < cluster.ctas[c]->num_warps; ++w) {
      WarpState& warp = *cluster.ctas[c]->warps[w];
      warp.cluster_arrived = 0;
      bool woken = false;
      for (int i = 0; i < warp.num_groups;) {
        if (warp.groups[static_cast<size_t>(i)].wait != Group::Wait::kCluster) {
          ++i;
          continue;
        }
        Wake(warp, i);
        woken = true;
        i = 0;
      }
      if (woken) {
        MergeGroups(warp);
        warp.reload = true;
      }
    }
}

}  // namespace

ExecResult ComeToBarrier(WarpState& warp, const Inst& inst, BarrierOp op, uint32_t mask, uint32_t id,
                         uint32_t threads, uint32_t predicate) {
  const int lane = std::countr_zero(mask);
  if (id >= 16)
    return warp.Fail(FaultKind::kBarrier, lane,
                     absl::StrFormat("barrier %d: expected a number from 0 to 15", id));
  if (threads % kWarpSize != 0)
    return warp.Fail(FaultKind::kBarrier, lane,
                     absl::StrFormat("barrier %d with %d threads: expected a multiple of 32", id, threads));
  Cta& cta = *warp.cta;
  if (threads > cta.num_warps * kWarpSize)
    return warp.Fail(
        FaultKind::kBarrier, lane,
        absl::StrFormat("barrier %d with %d threads: the CTA has %d", id, threads, cta.num_threads));
  Barrier& barrier = cta.barriers[id];
  if (!barrier.active) {
    barrier.active = true;
    barrier.expected = threads;
    barrier.first = &inst;
  } else if (barrier.expected != threads) {
    return warp.Fail(FaultKind::kBarrier, lane,
                     absl::StrFormat("barrier %d with %d threads (0: all): line %d has come to it with %d",
                                     id, threads, barrier.first->text->location.line, barrier.expected));
  }
  const uint32_t bits = predicate & mask;
  barrier.popc += static_cast<uint32_t>(std::popcount(bits));
  barrier.all = barrier.all && bits == mask;
  barrier.any = barrier.any || bits != 0;
  barrier.partial[warp.index] |= mask;
  CountWarp(barrier, warp);
  if (op == BarrierOp::kArrive) {
    StepOver(warp);
    TryComplete(cta, id);
    return ExecResult::kControl;
  }
  Group& group = WaitHere(warp, mask, Group::Wait::kBarrier);
  group.barrier = static_cast<uint8_t>(id);
  TryComplete(cta, id);
  return ExecResult::kControl;
}

ExecResult ArriveAtCluster(WarpState& warp, const Inst&) {
  Cluster& cluster = *warp.cta->cluster;
  if ((warp.cluster_arrived & warp.mask) != 0)
    return warp.Fail(FaultKind::kBarrier, std::countr_zero(warp.cluster_arrived & warp.mask),
                     "barrier.cluster.arrive for the second time without a wait between");
  warp.cluster_arrived |= warp.mask;
  for (uint32_t m = warp.mask; m != 0; m &= m - 1)
    warp.cluster_phase[static_cast<size_t>(std::countr_zero(m))] = cluster.barrier_phase + 1;
  StepOver(warp);
  TryCompleteCluster(cluster);
  return ExecResult::kControl;
}

ExecResult WaitForCluster(WarpState& warp) {
  for (uint32_t m = warp.mask; m != 0; m &= m - 1)
    if (warp.cluster_phase[static_cast<size_t>(std::countr_zero(m))] > warp.cta->cluster->barrier_phase) {
      WaitHere(warp, warp.mask, Group::Wait::kCluster);
      return ExecResult::kControl;
    }
  return ExecResult::kNext;
}

void LanesHaveExited(WarpState& warp) {
  Cta& cta = *warp.cta;
  for (uint32_t id = 0; id < cta.barriers.size(); ++id) {
    if (!cta.barriers[id].active) continue;
    CountWarp(cta.barriers[id], warp);
    TryComplete(cta, id);
  }
  if (cta.cluster != nullptr) TryCompleteCluster(*cta.cluster);
  ResolveSyncs(warp);
}

}  // namespace understudy::emu::ptx
