// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/check/races.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_format.h"
#include "emu/ptx/semantics/memory_access.h"

namespace understudy::emu::ptx {
namespace {

// Readers of one location that are remembered: all warps of a CTA in shared memory, fewer in global memory,
// where any number of CTAs may read.
constexpr size_t kSharedReaders = 66, kGlobalReaders = 16;

// Why a finding is a warning only.
constexpr const char* kSameValue = "both leave the same value";
// A plain load before a loop of compare-and-swaps is in every book.
constexpr const char* kCompares = "a compare-and-swap, which tells whether what was read is old";

bool IsCompareAndSwap(const Inst* inst) { return inst->text->op == Op::kAtom && inst->text->Has("cas"); }

}  // namespace

const SyncFacts& RaceChecker::FactsOf(const Inst& inst) {
  const auto [it, fresh] = facts_.try_emplace(&inst);
  if (fresh && inst.text != nullptr) it->second = FindSyncFacts(*inst.text);
  return it->second;
}

void RaceChecker::StartWarp(WarpState& warp) {
  Cta& cta = *warp.cta;
  if (warp.index == 0) {
    if (cta.rank == 0) clusters_[cta.cluster] = ClusterState();
    std::unique_ptr<CtaState>& state = ctas_[&cta];
    state = std::make_unique<CtaState>();
    cta.check = state.get();
    state->cta = static_cast<uint32_t>(cta.ordinal);
    state->cluster = static_cast<uint32_t>(cta.cluster->ordinal);
    state->threads = cta.num_warps * kWarpSize;
    state->shared.resize((cta.shared_bytes + 3) / 4);
    const auto nothing = std::make_shared<const std::vector<uint32_t>>(state->threads + cta.num_warps, 0);
    for (uint32_t w = 0; w < cta.num_warps; ++w) {
      state->warps.push_back(std::make_unique<WarpClocks>());
      for (ThreadClock& clock : state->warps.back()->lanes) clock.own = nothing;
    }
  }
}

void RaceChecker::EndCluster(Cluster& cluster) {
  for (uint32_t c = 0; c < cluster.num_ctas; ++c) {
    cluster.ctas[c]->check = nullptr;
    ctas_.erase(cluster.ctas[c].get());
  }
  clusters_.erase(&cluster);
}

bool RaceChecker::Conflicts(const Accessor& now, uint32_t cta, uint32_t thread, uint32_t time, bool strong,
                            SyncScope scope) const {
  if (cta == now.touch.cta && (thread == now.touch.thread || thread == now.issuer)) return false;
  if (strong && now.touch.strong) {
    const auto reaches = [&](SyncScope s) {
      return s == SyncScope::kGpu || cta == now.touch.cta || s == SyncScope::kCluster;
    };
    if (reaches(scope) && reaches(now.touch.scope)) return false;
  }
  return !Covers(*now.clock, now.touch.cta, cta, thread, time);
}

// Whether the write of `now` leaves what the write of `then` left.
bool RaceChecker::SameValue(const WarpState& warp, const Inst& inst, const Accessor& now, const Touch& then,
                            uint64_t at, uint32_t bytes) const {
  const uint64_t offset = at - now.entry->address;
  // Lanes of one store: their registers.
  const uint16_t warp_of = then.thread / kWarpSize;
  if (then.inst == &inst && then.cta == now.touch.cta && warp_of == warp.index &&
      now.touch.thread / kWarpSize == warp.index && inst.text->op == Op::kSt &&
      (now.serial_mask >> then.thread % kWarpSize & 1) != 0) {
    const BoundOperand& value = inst.op(1);
    const uint32_t size = static_cast<uint32_t>(TypeBytes(inst.text->type()));
    if (size == 0 || size > 8) return false;
    const uint64_t index = offset / size;
    if (value.kind == Operand::Kind::kVector && index >= value.num_elements) return false;
    const Src row = value.kind == Operand::Kind::kVector ? value.elements[index].row : value.row;
    const uint64_t mine = warp.Lane(row, now.entry->lane), theirs = warp.Lane(row, then.thread % kWarpSize);
    const uint64_t width = bytes * 8;
    const uint64_t differ = (mine ^ theirs) >> (offset % size * 8);
    return (width >= 64 ? differ : differ & ((uint64_t{1} << width) - 1)) == 0;
  }
  if (offset + bytes > sizeof(now.entry->old)) return false;
  return std::memcmp(reinterpret_cast<const uint8_t*>(now.entry->old) + offset, now.entry->host + offset,
                     bytes) == 0;
}

ExecResult RaceChecker::Report(WarpState& warp, const Inst& inst, const Accessor& now, const Touch& then,
                               const char* how, const char* excuse, uint64_t at) {
  const bool shared = now.entry->space == LoggedSpace::kShared;
  std::string place = absl::StrFormat("%s 0x%x", shared ? "shared byte" : "address", at);
  if (shared && now.entry->cta != warp.cta)
    absl::StrAppendFormat(&place, " of CTA rank %d", now.entry->cta->rank);
  const ThreadAt other{then.inst, then.cta, then.thread};
  const bool agent = now.touch.thread != now.issuer;
  return sink_->Add(
      CheckKind::kRaces, excuse != nullptr ? CheckSeverity::kWarning : CheckSeverity::kError, warp, inst,
      now.entry->lane, place,
      absl::StrFormat("%s%s of %s is not ordered with %s%s", agent ? "asynchronous " : "", how, place,
                      sink_->Describe(other), excuse != nullptr ? absl::StrFormat(" (%s)", excuse) : ""),
      &other);
}

ExecResult RaceChecker::Read(WarpState& warp, const Inst& inst, Cell& cell, const Accessor& now,
                             uint64_t at) {
  ExecResult result = ExecResult::kNext;
  for (const Touch* write : {&cell.plain, &cell.strong})
    if (result == ExecResult::kNext && Conflicts(now, *write))
      result = Report(warp, inst, now, *write, "read (after write)",
                      !now.touch.strong && IsCompareAndSwap(write->inst) ? kCompares : nullptr, at);
  const uint16_t reader = now.touch.thread / kWarpSize;
  const uint32_t bit = 1u << now.touch.thread % kWarpSize;
  Readers* same = nullptr;
  for (size_t i = 0; i < cell.reads.size();) {
    Readers& r = cell.reads[i];
    if (r.cta == now.touch.cta && r.warp == reader) {
      if (r.time == now.touch.time && r.strong == now.touch.strong && r.inst == now.touch.inst) {
        same = &r;
      } else if ((r.mask &= ~bit) == 0) {
        if (same == &cell.reads.back()) same = &r;
        r = cell.reads.back();
        cell.reads.pop_back();
        continue;
      }
    }
    ++i;
  }
  if (same != nullptr) {
    same->mask |= bit;
    return result;
  }
  const size_t most = now.entry->space == LoggedSpace::kShared ? kSharedReaders : kGlobalReaders;
  if (cell.reads.size() >= most) cell.reads.erase(cell.reads.begin());
  cell.reads.push_back(
      Readers{now.touch.inst, now.touch.cta, now.touch.time, bit, reader, now.touch.strong, now.touch.scope});
  return result;
}

ExecResult RaceChecker::Write(WarpState& warp, const Inst& inst, Cell& cell, const Accessor& now, uint64_t at,
                              uint32_t bytes) {
  ExecResult result = ExecResult::kNext;
  for (const Touch* write : {&cell.plain, &cell.strong})
    if (result == ExecResult::kNext && Conflicts(now, *write))
      result = Report(warp, inst, now, *write, "write (after write)",
                      SameValue(warp, inst, now, *write, at, bytes) ? kSameValue : nullptr, at);
  for (const Readers& r : cell.reads) {
    if (result == ExecResult::kFault) break;
    for (uint32_t m = r.mask; m != 0; m &= m - 1) {
      const uint16_t thread = static_cast<uint16_t>(r.warp * kWarpSize + std::countr_zero(m));
      if (!Conflicts(now, r.cta, thread, r.time, r.strong, r.scope)) continue;
      result = Report(warp, inst, now, Touch{r.inst, r.cta, r.time, thread, r.strong, r.scope},
                      "write (after read)",
                      SameValue(warp, inst, now, Touch{}, at, bytes) ? kSameValue
                      : IsCompareAndSwap(&inst)                      ? kCompares
                                                                     : nullptr,
                      at);
      break;
    }
  }
  if (now.touch.strong) {
    cell.strong = now.touch;
  } else {
    cell.plain = now.touch;
    cell.strong = Touch();
    cell.reads.clear();
  }
  return result;
}

RaceChecker::Word& RaceChecker::WordAt(const AccessLog::Entry& entry, uint64_t address) {
  if (entry.space == LoggedSpace::kShared) return StateOf(*entry.cta).shared[address / 4];
  std::unique_ptr<Word[]>& line = global_[address / kLineBytes];
  if (line == nullptr) line = std::make_unique<Word[]>(kLineBytes / 4);
  return line[address % kLineBytes / 4];
}

ExecResult RaceChecker::Access(WarpState& warp, const Inst& inst, const Accessor& now, bool writes) {
  const AccessLog::Entry& entry = *now.entry;
  if (entry.space == LoggedSpace::kShared && entry.cta->check == nullptr) return ExecResult::kNext;
  uint64_t at = entry.address;
  const uint64_t end = entry.address + entry.bytes;
  while (at < end) {
    Word& word = WordAt(entry, at);
    const uint64_t word_end = (at / 4 + 1) * 4;
    const bool whole = at % 4 == 0 && word_end <= end;
    if (!whole && word.bytes == nullptr) {
      word.bytes = std::make_unique<Cell[]>(4);
      for (int i = 0; i < 4; ++i) word.bytes[i] = word.cell;
      word.cell = Cell();
    }
    if (word.bytes == nullptr) {
      if ((writes ? Write(warp, inst, word.cell, now, at, 4) : Read(warp, inst, word.cell, now, at)) ==
          ExecResult::kFault)
        return ExecResult::kFault;
      at = word_end;
      continue;
    }
    for (; at < std::min(word_end, end); ++at) {
      Cell& cell = word.bytes[at % 4];
      if ((writes ? Write(warp, inst, cell, now, at, 1) : Read(warp, inst, cell, now, at)) ==
          ExecResult::kFault)
        return ExecResult::kFault;
    }
  }
  return ExecResult::kNext;
}

ExecResult RaceChecker::Plain(WarpState& warp, const Inst& inst, const AccessLog& log,
                              const SyncFacts& facts) {
  WarpClocks& clocks = ClocksOf(warp);
  Accessor now;
  now.touch.inst = &inst;
  now.touch.cta = StateOf(*warp.cta).cta;
  now.touch.strong = facts.strong;
  now.touch.scope = facts.scope;
  for (const AccessLog::Entry& entry : log.entries) now.serial_mask |= 1u << entry.lane;
  for (const AccessLog::Entry& entry : log.entries) {
    if (entry.space != LoggedSpace::kShared && entry.space != LoggedSpace::kGlobal) continue;
    const size_t lane = static_cast<size_t>(entry.lane);
    now.entry = &entry;
    now.clock = &clocks.lanes[lane];
    now.touch.time = now.clock->time;
    now.touch.thread = now.issuer = static_cast<uint16_t>(warp.index * kWarpSize + lane);
    if (Access(warp, inst, now, entry.access != emu::Access::kRead) == ExecResult::kFault)
      return ExecResult::kFault;
  }
  return ExecResult::kNext;
}

ExecResult RaceChecker::Asynchronous(WarpState& warp, const Inst& inst, const AccessLog& log,
                                     const SyncFacts& facts, uint32_t mask) {
  CtaState& state = StateOf(*warp.cta);
  WarpClocks& clocks = ClocksOf(warp);
  const uint32_t agent = state.threads + warp.index;
  Accessor now;
  now.touch.inst = &inst;
  now.touch.cta = state.cta;
  now.touch.time = ++clocks.agent_time;
  now.touch.thread = static_cast<uint16_t>(agent);
  now.touch.strong = inst.text->Has("reduce") || inst.text->op == Op::kRed;
  const bool reduces = now.touch.strong;
  bool barrier_next = false;
  for (const AccessLog::Entry& entry : log.entries) {
    if (entry.space != LoggedSpace::kShared && entry.space != LoggedSpace::kGlobal) continue;
    const size_t lane = static_cast<size_t>(entry.lane);
    const bool writes = entry.access != emu::Access::kRead;
    // The mbarrier of a copy is an atomic access behind that of what it writes.
    if (facts.with_mbarrier && entry.access == emu::Access::kAtomic &&
        (!reduces || barrier_next || inst.text->op == Op::kRed)) {
      MbarrierState& barrier = MbarrierAt(entry);
      ThreadClock& issuer = clocks.lanes[lane];
      if (issuer.others != nullptr) barrier.extra.Add(*issuer.others);
      barrier.extra.Add(state.cta, WithTime(issuer.own, agent, now.touch.time));
      barrier_next = false;
      continue;
    }
    barrier_next = writes;
    now.entry = &entry;
    now.clock = &clocks.lanes[lane];
    now.issuer = static_cast<uint16_t>(warp.index * kWarpSize + lane);
    if (Access(warp, inst, now, writes) == ExecResult::kFault) return ExecResult::kFault;
  }
  if (facts.with_mbarrier) return ExecResult::kNext;
  Copies& copies = facts.what == SyncFacts::What::kCopy ? clocks.copies : clocks.bulk;
  copies.pending.push_back({mask, now.touch.time, copies.committed});
  return ExecResult::kNext;
}

}  // namespace understudy::emu::ptx
