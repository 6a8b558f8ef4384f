// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk, cp.reduce.async.bulk, their groups and prefetch. The tensor forms are in async_tensor.cc.
#include "emu/ptx/semantics/async_bulk.h"

#include "absl/strings/str_format.h"

namespace understudy::emu::ptx {
namespace {

ExecResult CommitGroup(Warp& w, const Inst&) {
  AsyncOf(w).CommitBulk(w.index, w.mask);
  return ExecResult::kNext;
}
// aux[0]: groups that may stay; aux[1]: .read.
ExecResult WaitGroup(Warp& w, const Inst& inst) {
  AsyncOf(w).WaitBulk(w.index, w.mask, static_cast<uint32_t>(inst.aux[0]), inst.aux[1] != 0);
  return ExecResult::kNext;
}
ExecResult Prefetch(Warp&, const Inst&) { return ExecResult::kNext; }

// Copies only the bytes of each 16 that `mask` has.
void AddMasked(std::vector<BulkMove>* moves, uint8_t* to, const uint8_t* from, uint32_t bytes,
               uint32_t mask) {
  for (uint32_t at = 0; at < bytes; ++at)
    if ((mask >> at % 16 & 1) != 0) moves->push_back({to + at, from + at, 1});
}

ExecResult CopyBulk(Warp& w, const Inst& inst) {
  const BulkMode mode = BulkMode::Unpack(inst.aux[0]);
  int next = 3;
  const int barrier_operand = mode.completes_barrier ? next++ : -1;
  const int mask_operand = mode.multicast ? next++ : -1;
  if (mode.cache_hint) ++next;
  const int bytes_operand = mode.byte_mask ? next : -1;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const uint32_t size = static_cast<uint32_t>(w.Lane(inst.src(2), lane));
    if (size % 16 != 0)
      return w.Fail(FaultKind::kMisaligned, lane,
                    absl::StrFormat("%s: size %d is not a multiple of 16", InstName(inst), size));
    const uint8_t* from =
        ResolveLane(w, inst, GetAddress(w, inst.op(1), lane), mode.from, size, 16, Access::kRead, lane);
    if (from == nullptr) return ExecResult::kFault;
    BulkTargets targets;
    const uint64_t to = GetAddress(w, inst.op(0), lane);
    if (!ResolveTargets(w, inst, mode, to, size, 16,
                        barrier_operand >= 0 ? &inst.op(barrier_operand) : nullptr,
                        mask_operand >= 0 ? static_cast<uint32_t>(w.Lane(inst.src(mask_operand), lane)) : 0,
                        lane, &targets))
      return ExecResult::kFault;
    for (const BulkTarget& target : targets) {
      PendingBulk bulk = NewBulk(w, lane, mode, target, size);
      if (bytes_operand >= 0)
        AddMasked(&bulk.moves, target.to, from, size,
                  static_cast<uint32_t>(w.Lane(inst.src(bytes_operand), lane)));
      else
        bulk.moves.push_back({target.to, from, size});
      AsyncOf(w).Bulk(std::move(bulk));
    }
  }
  return ExecResult::kNext;
}

}  // namespace

uint64_t BulkMode::Pack() const {
  return static_cast<uint64_t>(to) | static_cast<uint64_t>(from) << 8 | static_cast<uint64_t>(op) << 16 |
         static_cast<uint64_t>(type) << 24 | uint64_t{completes_barrier} << 32 | uint64_t{multicast} << 33 |
         uint64_t{cache_hint} << 34 | uint64_t{byte_mask} << 35 | uint64_t{four_rows} << 36 |
         uint64_t{cta_pair} << 37 | uint64_t{rank} << 40 | static_cast<uint64_t>(mode) << 48;
}

BulkMode BulkMode::Unpack(uint64_t aux) {
  BulkMode mode;
  mode.to = static_cast<MemSpace>(aux & 0xff);
  mode.from = static_cast<MemSpace>(aux >> 8 & 0xff);
  mode.op = static_cast<AtomicOp>(aux >> 16 & 0xff);
  mode.type = static_cast<Type>(aux >> 24 & 0xff);
  mode.completes_barrier = (aux >> 32 & 1) != 0;
  mode.multicast = (aux >> 33 & 1) != 0;
  mode.cache_hint = (aux >> 34 & 1) != 0;
  mode.byte_mask = (aux >> 35 & 1) != 0;
  mode.four_rows = (aux >> 36 & 1) != 0;
  mode.cta_pair = (aux >> 37 & 1) != 0;
  mode.rank = static_cast<uint8_t>(aux >> 40 & 0xff);
  mode.mode = static_cast<TensorMode>(aux >> 48 & 0xff);
  return mode;
}

BulkMode FindBulkMode(const Instruction& inst) {
  BulkMode mode;
  mode.completes_barrier = inst.Has("mbarrier::complete_tx::bytes");
  mode.multicast = inst.Has("multicast::cluster");
  mode.cache_hint = inst.Has("L2::cache_hint");
  mode.byte_mask = inst.Has("cp_mask");
  mode.cta_pair = inst.Has("cta_group::2");
  const auto space = [](Space s) {
    return s == Space::kGlobal          ? MemSpace::kGlobal
           : s == Space::kSharedCluster ? MemSpace::kSharedCluster
                                        : MemSpace::kShared;
  };
  mode.to = space(inst.space(0));
  mode.from = space(inst.space(1));
  mode.type = inst.type();
  if (inst.Has("reduce")) mode.op = FindAtomicOp(inst);
  return mode;
}

bool ResolveTargets(Warp& w, const Inst& inst, const BulkMode& mode, uint64_t to, uint64_t bytes,
                    uint32_t alignment, const BoundOperand* barrier, uint32_t ctas, int lane,
                    BulkTargets* out) {
  const Access access = mode.op == AtomicOp::kNone ? Access::kWrite : Access::kAtomic;
  const uint64_t at_barrier = barrier != nullptr ? GetAddress(w, *barrier, lane) : 0;
  const auto add = [&](uint64_t to_address, uint64_t barrier_address) {
    BulkTarget target;
    target.to = ResolveLane(w, inst, to_address, mode.to, bytes, alignment, access, lane);
    if (target.to == nullptr) return false;
    target.address = static_cast<uint32_t>(to_address) & ((1u << kClusterRankShift) - 1);
    if (barrier != nullptr) {
      target.barrier = reinterpret_cast<uint64_t*>(
          ResolveLane(w, inst, barrier_address, MemSpace::kSharedCluster, 8, 8, Access::kAtomic, lane));
      if (target.barrier == nullptr) return false;
      if (!Mbarrier::Unpack(*target.barrier).valid) {
        w.Fail(FaultKind::kBarrier, lane,
               absl::StrFormat("%s: mbarrier at 0x%x: not initialised", InstName(inst), barrier_address));
        return false;
      }
    }
    out->push_back(target);
    return true;
  };
  if (!mode.multicast) return add(to, at_barrier);
  const uint32_t offset_mask = (1u << kClusterRankShift) - 1;
  const uint32_t size = w.cta->cluster != nullptr ? w.cta->cluster->num_ctas : 1;
  if (ctas >> size != 0) {
    w.Fail(FaultKind::kSharedOutOfRange, lane,
           absl::StrFormat("%s: CTA mask 0x%x names CTAs outside the cluster of %d", InstName(inst), ctas,
                           size));
    return false;
  }
  // With .cta_group::2 all signals go to the CTA of each pair whose rank is as odd as that of `barrier`.
  uint64_t barrier_offset = at_barrier;
  const Cta* const barrier_cta = CtaOfSharedAddress(w, &barrier_offset);
  const uint32_t odd = mode.cta_pair && barrier_cta != nullptr ? barrier_cta->rank & 1 : 0;
  const auto in_cta = [&](uint32_t rank, uint64_t address) {
    return SharedClusterAddress(rank, static_cast<uint32_t>(address) & offset_mask);
  };
  for (uint32_t rank = 0; rank < size; ++rank) {
    if ((ctas >> rank & 1) == 0) continue;
    const uint32_t signalled = mode.cta_pair ? (rank & ~1u) | odd : rank;
    if (!add(in_cta(rank, to), in_cta(signalled, at_barrier))) return false;
  }
  return true;
}

PendingBulk NewBulk(const Warp& w, int lane, const BulkMode& mode, const BulkTarget& target, uint64_t bytes) {
  PendingBulk bulk;
  bulk.warp = w.index;
  bulk.lane = lane;
  bulk.in_group = !mode.completes_barrier;
  bulk.barrier = target.barrier;
  bulk.tx_bytes = static_cast<uint32_t>(bytes);
  bulk.op = mode.op;
  bulk.type = mode.type;
  bulk.to_global = mode.to == MemSpace::kGlobal;
  return bulk;
}

Exec FindAsyncBulk(const Instruction& inst, const ExecContext& context) {
  if (inst.op == Op::kTensormap) return FindTensorMap(inst, context);
  if (inst.op != Op::kCp || !inst.Has("async") || !inst.Has("bulk")) return {};
  if (inst.Has("commit_group")) return Exact(CommitGroup);
  if (inst.Has("wait_group")) {
    if (inst.operands.size() != 1 || inst.operands[0].kind != Operand::Kind::kImmediate)
      return Refused(inst, "needs a constant");
    return Exact(WaitGroup, inst.operands[0].bits, inst.Has("read"));
  }
  if (inst.Has("tensor")) return FindAsyncTensor(inst, context);
  if (inst.Has("prefetch")) return Exact(Prefetch);
  const BulkMode mode = FindBulkMode(inst);
  const size_t needed = 3 + mode.completes_barrier + mode.multicast + mode.cache_hint + mode.byte_mask;
  if (inst.spaces.size() < 2 || inst.operands.size() != needed)
    return Refused(inst, absl::StrFormat("%d operands, expected %d", inst.operands.size(), needed));
  if (inst.Has("reduce") && !IsAtomicCombination(mode.op, mode.type))
    return Refused(inst, "no such reduction");
  return Exact(CopyBulk, mode.Pack());
}

}  // namespace understudy::emu::ptx
