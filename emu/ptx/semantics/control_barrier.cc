// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "emu/ptx/core/barriers.h"
#include "emu/ptx/semantics/control.h"
#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx {
namespace {

// bar.sync a{, b}; bar.arrive a, b; bar.red.op d, a{, b}, {!}c. Lanes that name another barrier or count than
// the first come by themselves.
template <BarrierOp op>
ExecResult CtaBarrier(Warp& base, const Inst& inst) {
  WarpState& warp = static_cast<WarpState&>(base);
  constexpr bool kReduces = op == BarrierOp::kPopc || op == BarrierOp::kAnd || op == BarrierOp::kOr;
  const int id_at = kReduces ? 1 : 0;
  const int count_at = inst.num_operands - (kReduces ? 1 : 0) > id_at + 1 ? id_at + 1 : -1;
  const int first = std::countr_zero(warp.mask);
  const auto id = [&](int lane) { return static_cast<uint32_t>(warp.Lane(inst.src(id_at), lane)); };
  const auto threads = [&](int lane) {
    return count_at < 0 ? 0 : static_cast<uint32_t>(warp.Lane(inst.src(count_at), lane));
  };
  uint32_t same = 0;
  for (uint32_t m = warp.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (id(lane) == id(first) && threads(lane) == threads(first)) same |= 1u << lane;
  }
  if (op == BarrierOp::kArrive && same != warp.mask)
    return warp.Fail(FaultKind::kBarrier, first,
                     "lanes of a warp arrive at different barriers by one instruction");
  const uint32_t predicate = kReduces ? warp.Pred(inst.src(inst.num_operands - 1)) : 0;
  return ComeToBarrier(warp, inst, op, same, id(first), threads(first), predicate);
}

ExecResult ClusterArrive(Warp& warp, const Inst& inst) {
  return ArriveAtCluster(static_cast<WarpState&>(warp), inst);
}
ExecResult ClusterWait(Warp& warp, const Inst&) { return WaitForCluster(static_cast<WarpState&>(warp)); }
// All of its members have come when it executes.
ExecResult WarpBarrier(Warp&, const Inst&) { return ExecResult::kNext; }

}  // namespace

bool FindBarrierExec(const Instruction& inst, Exec* exec) {
  if (inst.op != Op::kBar && inst.op != Op::kBarrier) return false;
  if (inst.Has("cluster"))
    exec->fn = inst.Has("arrive") ? ClusterArrive : ClusterWait;
  else if (inst.Has("warp"))
    exec->fn = WarpBarrier;
  else if (inst.Has("red"))
    exec->fn = inst.Has("popc")  ? CtaBarrier<BarrierOp::kPopc>
               : inst.Has("and") ? CtaBarrier<BarrierOp::kAnd>
                                 : CtaBarrier<BarrierOp::kOr>;
  else
    exec->fn = inst.Has("arrive") ? CtaBarrier<BarrierOp::kArrive> : CtaBarrier<BarrierOp::kSync>;
  return true;
}

}  // namespace understudy::emu::ptx
