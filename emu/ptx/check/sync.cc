// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/check/sync.h"

#include <bit>

#include "absl/strings/str_format.h"
#include "emu/ptx/semantics/mbarrier.h"
#include "emu/ptx/semantics/memory_access.h"
#include "emu/ptx/semantics/shuffle.h"

namespace understudy::emu::ptx {
namespace {

bool IsBarrierOp(const Inst& inst) { return inst.text->op == Op::kBar || inst.text->op == Op::kBarrier; }

// "sync", "arrive", "red.popc": what may not be mixed in one phase.
std::string KindOf(const Instruction& text) {
  if (!text.Has("red")) return "sync or arrive";
  return text.Has("popc") ? "red.popc" : text.Has("and") ? "red.and" : "red.or";
}

int LineOf(const Inst* inst) {
  return inst != nullptr && inst->text != nullptr ? inst->text->location.line : 0;
}

ThreadAt At(const WarpState& warp, const Inst& inst, int lane) {
  return {&inst, static_cast<uint32_t>(warp.cta->ordinal),
          static_cast<uint16_t>(warp.index * kWarpSize + static_cast<uint32_t>(lane))};
}

}  // namespace

void SyncChecker::StartWarp(WarpState& warp) {
  if (warp.index == 0) ctas_[warp.cta] = CtaState();
  cluster_open_[&warp] = 0;
}

void SyncChecker::EndCta(Cta& cta) {
  WarpState& warp = *cta.warps[0];
  for (uint32_t id = 0; id < cta.barriers.size(); ++id) {
    const Barrier& barrier = cta.barriers[id];
    if (!barrier.active) continue;
    uint32_t arrived = barrier.arrived;
    for (uint32_t w = 0; w < cta.num_warps; ++w)
      arrived += static_cast<uint32_t>(std::popcount(barrier.partial[w]));
    sink_->AddAtEnd(
        CheckKind::kBarriers, CheckSeverity::kError, warp, barrier.first, absl::StrFormat("barrier %d", id),
        absl::StrFormat("the CTA has ended with %d of %d threads at barrier %d: its phase never ends",
                        arrived, barrier.expected, id));
  }
  for (const auto& [offset, who] : ctas_[&cta].mbarriers) {
    uint64_t word = 0;
    if (offset + 8 > cta.shared_bytes) continue;
    std::memcpy(&word, cta.shared + offset, 8);
    const Mbarrier b = Mbarrier::Unpack(word);
    if (!b.valid || (b.tx == 0 && b.pending == b.expected)) continue;
    // Some programs leave a last phase unfinished on purpose.
    sink_->AddAtEnd(
        CheckKind::kBarriers, CheckSeverity::kWarning, warp, who.inst,
        absl::StrFormat("mbarrier at shared byte 0x%x", offset),
        absl::StrFormat("the CTA has ended with a phase of the mbarrier at shared byte 0x%x begun and "
                        "not ended: %d of %d arrivals and %d bytes are missing",
                        offset, b.pending, b.expected, b.tx));
  }
  ctas_.erase(&cta);
}

ExecResult SyncChecker::CtaBarrier(WarpState& warp, const Inst& inst) {
  const Instruction& text = *inst.text;
  const uint32_t live = warp.live(), mask = warp.mask;
  const int first = std::countr_zero(mask);
  const int id_at = text.Has("red") ? 1 : 0;
  const uint64_t id = warp.Lane(inst.src(id_at), first);
  const std::string what = absl::StrFormat("barrier %d", id);
  // bar is barrier.aligned.
  const bool aligned = text.op == Op::kBar || text.Has("aligned");
  if (aligned && mask != live) {
    const uint32_t missing = live & ~mask;
    if (Add(CheckSeverity::kError, warp, inst, first, what,
            absl::StrFormat(
                "divergent barrier: lanes 0x%08x of the warp come to barrier %d without lanes 0x%08x; "
                "an aligned barrier is for the whole warp",
                mask, id, missing)) == ExecResult::kFault)
      return ExecResult::kFault;
  }
  for (uint32_t m = mask; aligned && m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (warp.Lane(inst.src(id_at), lane) == id) continue;
    if (Add(CheckSeverity::kError, warp, inst, lane, what,
            absl::StrFormat("lanes of a warp come to barriers %d and %d by one aligned instruction", id,
                            warp.Lane(inst.src(id_at), lane))) == ExecResult::kFault)
      return ExecResult::kFault;
    break;
  }
  if (aligned && mask == live && warp.exited != 0)
    if (Add(CheckSeverity::kWarning, warp, inst, first, what,
            absl::StrFormat("lanes 0x%08x of the warp have exited: before sm_70 barrier %d waits for them",
                            warp.exited, id)) == ExecResult::kFault)
      return ExecResult::kFault;
  if (id >= warp.cta->barriers.size()) return ExecResult::kNext;
  const Barrier& barrier = warp.cta->barriers[static_cast<size_t>(id)];
  if (!barrier.active) {
    // Threads that have exited and are counted all the same never come.
    const int count_at = inst.num_operands - (text.Has("red") ? 1 : 0) > id_at + 1 ? id_at + 1 : -1;
    if (count_at < 0) return ExecResult::kNext;
    const uint64_t count = warp.Lane(inst.src(count_at), first);
    uint64_t able = 0;
    for (uint32_t w = 0; w < warp.cta->num_warps; ++w)
      able += warp.cta->warps[w]->live() != 0 ? kWarpSize : 0;
    if (count <= able || count > uint64_t{warp.cta->num_warps} * kWarpSize) return ExecResult::kNext;
    return Add(
        CheckSeverity::kError, warp, inst, first, what,
        absl::StrFormat("barrier %d wants %d threads, of which only %d have not exited", id, count, able));
  }
  if (barrier.first != nullptr && barrier.first->text != nullptr &&
      KindOf(*barrier.first->text) != KindOf(text)) {
    const ThreadAt other{barrier.first, static_cast<uint32_t>(warp.cta->ordinal), 0};
    return Add(CheckSeverity::kError, warp, inst, first, what,
               absl::StrFormat("%s in a phase of barrier %d that line %d has begun with %s", KindOf(text), id,
                               LineOf(barrier.first), KindOf(*barrier.first->text)),
               &other);
  }
  return ExecResult::kNext;
}

ExecResult SyncChecker::ClusterBarrier(WarpState& warp, const Inst& inst) {
  uint32_t& open = cluster_open_[&warp];
  const int first = std::countr_zero(warp.mask);
  const uint32_t live = warp.live();
  if (inst.text->Has("aligned") && warp.mask != live &&
      Add(CheckSeverity::kError, warp, inst, first, "the cluster's barrier",
          absl::StrFormat("divergent barrier: lanes 0x%08x of the warp come to the cluster's barrier without "
                          "lanes 0x%08x",
                          warp.mask, live & ~warp.mask)) == ExecResult::kFault)
    return ExecResult::kFault;
  if (inst.text->Has("arrive")) {
    open |= warp.mask;
    return ExecResult::kNext;
  }
  const uint32_t without = warp.mask & ~open;
  open &= ~warp.mask;
  if (without == 0) return ExecResult::kNext;
  return Add(CheckSeverity::kError, warp, inst, std::countr_zero(without), "the cluster's barrier",
             absl::StrFormat("lanes 0x%08x wait at the cluster's barrier without having arrived", without));
}

ExecResult SyncChecker::MemberMask(WarpState& warp, const Inst& inst) {
  const Src row = inst.src(inst.member_mask);
  for (uint32_t m = warp.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const uint32_t members = static_cast<uint32_t>(warp.Lane(row, lane));
    if ((members >> lane & 1) == 0)
      return Add(CheckSeverity::kError, warp, inst, lane, absl::StrFormat("member mask 0x%08x", members),
                 absl::StrFormat("lane %d is not in its own member mask 0x%08x", lane, members));
  }
  return ExecResult::kNext;
}

// Nobody waits for lanes that have exited (CUDA C++ Programming Guide, "Warp Vote Functions": all non-exited
// threads named in the mask), but a mask that names them is often one that was meant for the whole warp, and
// what a shuffle reads of one is undefined.
ExecResult SyncChecker::Together(WarpState& warp, const Inst& inst, const Inst& place) {
  if (inst.text == nullptr || inst.member_mask < 0 || warp.exited == 0) return ExecResult::kNext;
  for (uint32_t m = inst.text->op == Op::kShfl ? warp.mask : 0; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const ShuffleSource from =
        SourceOf(ShuffleOf(*inst.text), lane, warp.U32(inst.src(2))[lane], warp.U32(inst.src(3))[lane]);
    if ((warp.exited >> from.lane & 1) == 0) continue;
    return Add(
        CheckSeverity::kWarning, warp, place, lane, absl::StrFormat("lane %d", from.lane),
        absl::StrFormat("lane %d reads a register of lane %d, which has exited: the result is undefined",
                        lane, from.lane));
  }
  const int first = std::countr_zero(warp.mask);
  const auto members = static_cast<uint32_t>(warp.Lane(inst.src(inst.member_mask), first));
  if ((members & warp.exited) == 0) return ExecResult::kNext;
  return Add(
      CheckSeverity::kWarning, warp, place, first, absl::StrFormat("member mask 0x%08x", members),
      absl::StrFormat("the member mask 0x%08x names lanes 0x%08x, which have exited: they take no part",
                      members, members & warp.exited));
}

ExecResult SyncChecker::MbarrierInit(WarpState& warp, const Inst& inst) {
  for (uint32_t m = warp.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    // Objects of the own CTA; a generic or shared address that is not one faults when it executes.
    uint64_t offset =
        static_cast<uint32_t>(GetAddress(warp, inst.op(0), lane)) & ((1u << kClusterRankShift) - 1);
    CtaState& cta = ctas_[warp.cta];
    const auto it = cta.mbarriers.find(offset);
    uint64_t word = 0;
    if (offset + 8 <= warp.shared_bytes) std::memcpy(&word, warp.shared + offset, 8);
    if (it != cta.mbarriers.end() && Mbarrier::Unpack(word).valid) {
      const ThreadAt other = it->second;
      if (Add(CheckSeverity::kError, warp, inst, lane,
              absl::StrFormat("mbarrier at shared byte 0x%x", offset),
              absl::StrFormat("the mbarrier at shared byte 0x%x is initialised again, without mbarrier.inval "
                              "since %s",
                              offset, sink_->Describe(other)),
              &other) == ExecResult::kFault)
        return ExecResult::kFault;
    }
    cta.mbarriers[offset] = At(warp, inst, lane);
  }
  return ExecResult::kNext;
}

ExecResult SyncChecker::Before(WarpState& warp, const Inst& inst) {
  if (inst.text == nullptr || warp.mask == 0) return ExecResult::kNext;
  if (inst.text->op == Op::kMbarrier && inst.text->Has("init")) return MbarrierInit(warp, inst);
  if (inst.member_mask >= 0 && inst.wrapped != nullptr) return MemberMask(warp, inst);
  if (!IsBarrierOp(inst)) return ExecResult::kNext;
  if (inst.text->Has("cluster")) return ClusterBarrier(warp, inst);
  return inst.text->Has("warp") ? ExecResult::kNext : CtaBarrier(warp, inst);
}

ExecResult SyncChecker::After(WarpState& warp, const Inst& inst, const AccessLog& log) {
  if (inst.text == nullptr || inst.text->op == Op::kMbarrier || inst.text->op == Op::kCp)
    return ExecResult::kNext;
  for (const AccessLog::Entry& entry : log.entries) {
    if (entry.space != LoggedSpace::kShared || entry.access == Access::kRead) continue;
    CtaState& cta = ctas_[entry.cta];
    auto it = cta.mbarriers.upper_bound(entry.address + entry.bytes - 1);
    if (it == cta.mbarriers.begin()) continue;
    --it;
    if (it->first + 8 <= entry.address) continue;
    // Live only if it was a valid object before this store: programs reuse the memory after mbarrier.inval.
    uint64_t word = 0;
    std::memcpy(&word, entry.cta->shared + it->first, 8);
    for (uint32_t i = 0; i < 8; ++i) {
      const uint64_t at = it->first + i - entry.address;
      if (at < entry.bytes && at < sizeof(entry.old))
        reinterpret_cast<uint8_t*>(&word)[i] = reinterpret_cast<const uint8_t*>(entry.old)[at];
    }
    const ThreadAt other = it->second;
    const uint64_t offset = it->first;
    cta.mbarriers.erase(it);
    if (!Mbarrier::Unpack(word).valid) continue;
    if (Add(CheckSeverity::kError, warp, inst, entry.lane,
            absl::StrFormat("mbarrier at shared byte 0x%x", offset),
            absl::StrFormat("a write over the mbarrier at shared byte 0x%x, which %s has initialised", offset,
                            sink_->Describe(other)),
            &other) == ExecResult::kFault)
      return ExecResult::kFault;
  }
  return ExecResult::kNext;
}

}  // namespace understudy::emu::ptx
