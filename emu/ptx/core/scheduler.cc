// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/core/scheduler.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "emu/ptx/check/observer.h"
#include "emu/ptx/core/divergence.h"
#include "emu/ptx/core/special_registers.h"

namespace understudy::emu::ptx {
namespace {

// Warp instructions of a group's turn.
constexpr uint32_t kQuantum = 512;
// Rounds of its cluster that a warp with parked lanes and no runnable group waits before they are released.
constexpr uint32_t kIdleRounds = 64;
// With a seed: turns of groups and of warps are 1 to this many instructions long.
constexpr uint32_t kRandomQuantum = 24, kRandomTurn = 64;
// What a pause (nanosleep, a failed wait) counts as: others should run, and parked lanes be released soon.
constexpr uint32_t kPause = 256;

// The groups' order is `random`'s, or (null) round robin.
int NextRunnable(const WarpState& warp, int after, Random* random) {
  if (random != nullptr && warp.num_groups > 1)
    after = static_cast<int>(random->Below(static_cast<uint32_t>(warp.num_groups)));
  for (int k = 1; k <= warp.num_groups; ++k) {
    const int i = (std::max(after, -1) + k) % warp.num_groups;
    if (warp.groups[static_cast<size_t>(i)].wait == Group::Wait::kNone) return i;
  }
  return -1;
}

// Runs the current group until it has used its turn, waits or has changed places. Returns instructions.
template <bool kChecked>
uint32_t RunGroup(WarpState& warp, uint32_t limit, ExecResult* last) {
  Group& group = warp.groups[static_cast<size_t>(warp.current)];
  LoadGroup(warp, warp.current);
  warp.reload = false;
  const Scope* const scope = group.scope;
  const uint32_t stop = scope != nullptr && scope->frame == group.frame ? scope->pc : ~0u;
  const Inst* const code = group.frame->function->code.data();
  const uint32_t lanes = group.mask;
  uint32_t pc = group.pc, done = 0;
  *last = ExecResult::kNext;
  while (done < limit) {
    const Inst& inst = code[pc];
    uint32_t mask = lanes;
    if (inst.reads_clock) [[unlikely]]
      warp.executed_of_group = done;
    if (inst.has_guard) {
      mask &= warp.Pred(inst.guard);
      if constexpr (kChecked) {
        warp.mask = mask;
        warp.pc = pc;
        if (warp.launch->observer->Guard(warp, inst, lanes) == ExecResult::kFault) {
          *last = ExecResult::kFault;
          return done;
        }
      }
      if (mask == 0) {
        ++done;
        if (++pc == stop) break;
        continue;
      }
    }
    warp.mask = mask;
    warp.pc = pc;
    ++done;
    const ExecResult result = kChecked ? warp.launch->observer->Execute(warp, inst) : inst.exec(warp, inst);
    if (result == ExecResult::kNext) [[likely]] {
      if (++pc == stop) break;
      continue;
    }
    *last = result;
    if (result == ExecResult::kControl) {
      if (warp.reload) return done;
      pc = warp.pc;
      if (pc == stop) break;
      continue;
    }
    if (result == ExecResult::kYield) {
      ++pc;
      break;
    }
    if (result == ExecResult::kRetry) {
      warp.groups[static_cast<size_t>(warp.current)].pc = pc;
      WaitHere(warp, mask, Group::Wait::kRetry);
      return done;
    }
    return done;  // kFault
  }
  Group& now = warp.groups[static_cast<size_t>(warp.current)];
  now.pc = pc;
  warp.pc = pc - 1;
  if (pc == stop) StepOver(warp);
  return done;
}

// Retries waits. True if the warp has something to run.
void RetryWaits(WarpState& warp) {
  for (int i = 0; i < warp.num_groups; ++i)
    if (warp.groups[static_cast<size_t>(i)].wait == Group::Wait::kRetry)
      warp.groups[static_cast<size_t>(i)].wait = Group::Wait::kNone;
}

// Lanes that a warp-synchronous instruction waits for while they wait in a scope.
bool ReleaseForSyncs(WarpState& warp) {
  uint32_t wanted = 0, come = 0;
  for (int i = 0; i < warp.num_groups; ++i) {
    const Group& group = warp.groups[static_cast<size_t>(i)];
    if (group.wait != Group::Wait::kSync) continue;
    wanted |= group.sync_mask;
    come |= group.mask;
  }
  wanted &= warp.parked & ~come;
  return wanted != 0 && wanted != ~0u && ReleaseParked(warp, wanted);
}

struct WarpTurn {
  uint64_t executed = 0;
  bool progress = false, fault = false;
};

template <bool kChecked>
WarpTurn RunWarp(WarpState& warp, uint64_t limit, Random* random) {
  WarpTurn turn;
  RetryWaits(warp);
  if (warp.num_groups > 1) MergeGroups(warp);
  int retries = 0;
  while (turn.executed < limit && warp.num_groups > 0) {
    int next = random == nullptr && warp.current >= 0 && warp.current < warp.num_groups &&
                       warp.groups[static_cast<size_t>(warp.current)].wait == Group::Wait::kNone
                   ? warp.current
                   : NextRunnable(warp, warp.current, random);
    if (next < 0) {
      if (warp.parked != 0 && ReleaseForSyncs(warp)) {
        turn.progress = true;
        continue;
      }
      break;
    }
    warp.current = next;
    ExecResult last;
    const int groups = warp.num_groups;
    const uint32_t quantum = random == nullptr ? kQuantum : 1 + random->Below(kRandomQuantum);
    const uint32_t done = RunGroup<kChecked>(
        warp, static_cast<uint32_t>(std::min<uint64_t>(limit - turn.executed, quantum)), &last);
    turn.executed += done;
    warp.executed += done;
    warp.executed_of_group = 0;
    if (last == ExecResult::kFault) {
      turn.fault = true;
      return turn;
    }
    turn.progress = turn.progress || done > 1 || last != ExecResult::kRetry;
    if (last == ExecResult::kRetry && ++retries > kWarpSize) break;
    if (warp.parked != 0) {
      warp.impatience += done + (last == ExecResult::kYield ? kPause : 0);
      if (warp.impatience > warp.patience) ReleaseParked(warp, ~0u);
    }
    if (last == ExecResult::kYield || (done == kQuantum && groups > 1)) {
      if (warp.num_groups > 1) {
        MergeGroups(warp);
        warp.current = NextRunnable(warp, warp.current, random);
      }
      if (last == ExecResult::kYield) break;
    }
  }
  return turn;
}

}  // namespace

bool StartCluster(Cluster& cluster, Launch& launch, uint64_t ordinal) {
  const LaunchConfig& config = launch.config;
  cluster.ordinal = ordinal;
  cluster.id[0] = static_cast<uint32_t>(ordinal % launch.clusters.x);
  cluster.id[1] = static_cast<uint32_t>(ordinal / launch.clusters.x % launch.clusters.y);
  cluster.id[2] = static_cast<uint32_t>(ordinal / launch.clusters.x / launch.clusters.y);
  cluster.barrier_phase = 0;
  cluster.fault = Fault{};
  cluster.faulted = nullptr;
  cluster.executed = 0;
  cluster.memory = Translator(launch.memory);
  cluster.num_ctas = launch.ctas_per_cluster;
  while (cluster.ctas.size() < cluster.num_ctas) cluster.ctas.push_back(std::make_unique<Cta>());
  for (uint32_t c = 0; c < cluster.num_ctas; ++c) {
    Cta& cta = *cluster.ctas[c];
    cta.launch = &launch;
    cta.cluster = &cluster;
    cta.rank = c;
    cta.rank_id[0] = c % config.cluster.x;
    cta.rank_id[1] = c / config.cluster.x % config.cluster.y;
    cta.rank_id[2] = c / config.cluster.x / config.cluster.y;
    const uint32_t size[3] = {config.cluster.x, config.cluster.y, config.cluster.z};
    for (int i = 0; i < 3; ++i) cta.id[i] = cluster.id[i] * size[i] + cta.rank_id[i];
    cta.ordinal = cta.id[0] + uint64_t{config.grid.x} * (cta.id[1] + uint64_t{config.grid.y} * cta.id[2]);
    cta.async.reset();
    cta.barriers.fill(Barrier{});
    cta.shared_bytes = launch.shared_bytes;
    cta.shared_storage.assign(launch.shared_bytes / 8 + 130, 0);
    cta.shared = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(cta.shared_storage.data()) + 1023) /
                                            1024 * 1024);
    // As much padding as alignment needs lies within the storage: 1024 bytes and the size.
    cta.num_threads = launch.threads_per_cta;
    cta.num_warps = launch.warps_per_cta;
    const uint64_t per_warp = uint64_t{launch.local_bytes} * kWarpSize;
    const uint64_t local_bytes = per_warp * cta.num_warps;
    if (cta.local_storage_bytes < local_bytes) {
      // Large blocks come from calloc as untouched pages: only the part of each stack in use costs memory.
      cta.local_storage = {static_cast<uint8_t*>(std::calloc(local_bytes, 1)), std::free};
      cta.local_storage_bytes = cta.local_storage == nullptr ? 0 : local_bytes;
    }
    while (cta.warps.size() < cta.num_warps) cta.warps.push_back(std::make_unique<WarpState>());
    for (uint32_t w = 0; w < cta.num_warps; ++w) {
      WarpState& warp = *cta.warps[w];
      warp.cta = &cta;
      warp.launch = &launch;
      warp.index = w;
      const uint32_t left = cta.num_threads - w * kWarpSize;
      warp.lanes = left >= kWarpSize ? ~0u : (1u << left) - 1;
      warp.mem = &cluster.memory;
      warp.shared = cta.shared;
      warp.shared_bytes = cta.shared_bytes;
      warp.local = cta.local_storage.get() + w * per_warp;
      warp.local_bytes = launch.local_bytes;
      warp.kernel_params = config.params.data();
      warp.kernel_param_bytes = static_cast<uint32_t>(config.params.size());
      warp.fault = &cluster.fault;
      if (cta.local_storage == nullptr && local_bytes != 0) {
        cluster.faulted = &warp;
        warp.Fail(FaultKind::kStackOverflow, 0, "the host has no memory for the CTA's local memory");
        return false;
      }
      warp.base[Src::kConstant] = const_cast<uint8_t*>(launch.program->constant_rows());
      warp.special_storage.resize(launch.program->special_bytes() / 8 + 8);
      warp.base[Src::kSpecialRow] = reinterpret_cast<uint8_t*>(
          (reinterpret_cast<uintptr_t>(warp.special_storage.data()) + 63) / 64 * 64);
      if (launch.observer != nullptr) launch.observer->StartWarp(warp);
      if (!StartWarp(warp, *launch.kernel)) {
        cluster.faulted = &warp;
        return false;
      }
      for (const SpecialRow& row : launch.program->special_rows()) FillSpecial(warp, row);
    }
  }
  return true;
}

namespace {

// `order` of `count` things at random.
void Shuffle(std::vector<uint32_t>& order, uint32_t count, Random& random) {
  order.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t at = random.Below(i + 1);
    order[i] = order[at];
    order[at] = i;
  }
}

}  // namespace

Turn RunCluster(Cluster& cluster, uint64_t instructions, Random* random) {
  uint64_t left = instructions;
  if (cluster.faulted != nullptr) return Turn::kFault;
  const auto run = cluster.ctas[0]->launch->observer != nullptr ? RunWarp<true> : RunWarp<false>;
  const uint32_t warps = cluster.num_ctas * cluster.ctas[0]->num_warps;
  std::vector<uint32_t> order;
  for (;;) {
    bool alive = false, progress = false;
    if (random != nullptr) Shuffle(order, warps, *random);
    for (uint32_t i = 0; i < warps; ++i) {
      const uint32_t which = random != nullptr ? order[i] : i;
      WarpState& warp =
          *cluster.ctas[which / cluster.ctas[0]->num_warps]->warps[which % cluster.ctas[0]->num_warps];
      if (warp.live() == 0) continue;
      alive = true;
      const WarpTurn turn =
          run(warp, random != nullptr ? 1 + random->Below(kRandomTurn) : kQuantum * 4, random);
      cluster.executed += turn.executed;
      left -= std::min(left, turn.executed);
      warp.executed = 0;
      if (turn.fault) {
        cluster.faulted = &warp;
        return Turn::kFault;
      }
      progress = progress || turn.progress;
      if (turn.progress || warp.parked == 0) {
        warp.idle_rounds = 0;
      } else if (++warp.idle_rounds > kIdleRounds) {
        warp.idle_rounds = 0;
        progress = ReleaseParked(warp, ~0u) || progress;
      }
    }
    if (!alive) {
      for (uint32_t c = 0; c < cluster.num_ctas; ++c)
        if (cluster.ctas[c]->async != nullptr) cluster.ctas[c]->async->Finish();
      return Turn::kDone;
    }
    if (!progress) {
      for (uint32_t c = 0; c < cluster.num_ctas; ++c)
        if (cluster.ctas[c]->async != nullptr) progress = cluster.ctas[c]->async->Advance() || progress;
      for (uint32_t c = 0; c < cluster.num_ctas && !progress; ++c)
        for (uint32_t w = 0; w < cluster.ctas[c]->num_warps; ++w)
          progress = ReleaseParked(*cluster.ctas[c]->warps[w], ~0u) || progress;
      if (!progress) return Turn::kStuck;
    }
    if (left == 0) return Turn::kMore;
  }
}

}  // namespace understudy::emu::ptx
