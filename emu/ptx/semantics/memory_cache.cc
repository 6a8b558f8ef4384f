// SPDX-License-Identifier: Apache-2.0
// Instructions about caches and order: prefetch, prefetchu, applypriority, discard, createpolicy, membar,
// fence, st.bulk. There are no caches here, so that most only check their addresses; fences order the host's
// threads.
#include <atomic>

#include "absl/strings/str_format.h"
#include "emu/ptx/semantics/memory_find.h"

namespace understudy::emu::ptx {
namespace {

ExecResult Fence(Warp&, const Inst&) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return ExecResult::kNext;
}

ExecResult Nothing(Warp&, const Inst&) { return ExecResult::kNext; }

// aux[0]: space; aux[1]: bytes that must be there. The hardware drops prefetches of bad addresses, but
// applypriority and discard of them are errors.
ExecResult CheckAddress(Warp& w, const Inst& inst) {
  LanePointers p;
  return ResolveOperand(w, inst, inst.op(0), static_cast<MemSpace>(inst.aux[0]),
                        static_cast<uint32_t>(inst.aux[1]), Access::kRead, &p)
             ? ExecResult::kNext
             : ExecResult::kFault;
}

// discard: the contents become undefined. Here they become a pattern that no program wants.
ExecResult Discard(Warp& w, const Inst& inst) {
  LanePointers p;
  const uint32_t bytes = static_cast<uint32_t>(inst.aux[1]);
  if (!ResolveOperand(w, inst, inst.op(0), static_cast<MemSpace>(inst.aux[0]), bytes, Access::kWrite, &p))
    return ExecResult::kFault;
  ForLanes(w.mask, [&](int lane) { std::memset(p.at[lane], 0xdb, bytes); });
  return ExecResult::kNext;
}

// A policy is opaque and has no effect: any 64-bit value. Ours names the priorities, so that dumps are
// readable.
ExecResult CreatePolicy(Warp& w, const Inst& inst) {
  ForLanes(w.mask, [&](int lane) { w.SetLane(inst.src(0), lane, inst.aux[0]); });
  return ExecResult::kNext;
}

// st.bulk [a], size, 0.
ExecResult StoreBulk(Warp& w, const Inst& inst) {
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const uint64_t size = w.Lane(inst.src(1), lane);
    if (size % 8 != 0)
      return w.Fail(FaultKind::kMisaligned, lane,
                    absl::StrFormat("%s: size %d is not a multiple of 8", InstName(inst), size));
    uint8_t* at = ResolveLane(w, inst, GetAddress(w, inst.op(0), lane), static_cast<MemSpace>(inst.aux[0]),
                              size, 8, Access::kWrite, lane);
    if (at == nullptr) return ExecResult::kFault;
    std::memset(at, 0, size);
  }
  return ExecResult::kNext;
}

uint64_t Priority(const std::string& modifier) {
  if (modifier == "L2::evict_last") return 1;
  if (modifier == "L2::evict_normal") return 2;
  if (modifier == "L2::evict_first") return 3;
  if (modifier == "L2::evict_unchanged") return 4;
  return 0;
}

}  // namespace

Exec FindCacheAndFence(const Instruction& inst, const ExecContext& context) {
  switch (inst.op) {
    case Op::kMembar:
    case Op::kFence:
      return Exact(Fence);
    case Op::kPrefetch:
    case Op::kPrefetchu:
      return Exact(Nothing);
    case Op::kApplypriority:
    case Op::kDiscard: {
      if (inst.operands.size() != 2 || inst.operands[1].kind != Operand::Kind::kImmediate)
        return Refused(inst, "needs an address and a constant size");
      const uint64_t space = static_cast<uint64_t>(SpaceOfOperand(inst, inst.operands[0], context));
      const uint64_t bytes = inst.operands[1].bits;
      if (bytes != 128) return Refused(inst, "a size other than 128");
      return Exact(inst.op == Op::kDiscard ? Discard : CheckAddress, space, bytes);
    }
    case Op::kCreatepolicy: {
      uint64_t policy = 0x1000'0000'0000'0000;
      for (const std::string& modifier : inst.modifiers) policy = policy << 4 | Priority(modifier);
      return Exact(CreatePolicy, policy);
    }
    case Op::kSt:
      if (!inst.Has("bulk")) return {};
      if (inst.operands.size() != 3) return Refused(inst, "needs an address, a size and 0");
      if (inst.operands[2].kind != Operand::Kind::kImmediate || inst.operands[2].bits != 0)
        return Refused(inst, "an initial value other than 0");
      return Exact(StoreBulk, static_cast<uint64_t>(SpaceOfOperand(inst, inst.operands[0], context)));
    default:
      return {};
  }
}

}  // namespace understudy::emu::ptx
