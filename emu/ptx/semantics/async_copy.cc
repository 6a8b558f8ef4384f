// SPDX-License-Identifier: Apache-2.0
// cp.async of 4, 8 and 16 bytes with its groups, and st.async and red.async, which complete a transaction of
// an mbarrier that may be in another CTA of the cluster.
#include "absl/strings/str_format.h"
#include "emu/ptx/semantics/async_state.h"
#include "emu/ptx/semantics/memory_find.h"

namespace understudy::emu::ptx {
namespace {

// aux[0]: bytes, destination space, source space, what operand 3 is.
enum class Third : uint8_t { kNone, kSourceSize, kIgnore };

ExecResult CopyAsync(Warp& w, const Inst& inst) {
  const uint32_t bytes = inst.aux[0] & 0xff;
  const MemSpace to = static_cast<MemSpace>(inst.aux[0] >> 8 & 0xff);
  const MemSpace from = static_cast<MemSpace>(inst.aux[0] >> 16 & 0xff);
  const Third third = static_cast<Third>(inst.aux[0] >> 24 & 0xff);
  if (w.mask == 0) return ExecResult::kNext;
  PendingCopy copy;
  copy.mask = w.mask;
  copy.bytes = static_cast<uint8_t>(bytes);
  uint32_t reading = w.mask;  // lanes that read their source
  if (third == Third::kNone) {
    copy.source_bytes.fill(static_cast<uint8_t>(bytes));
  } else if (third == Third::kIgnore) {
    const uint32_t ignore = w.Pred(inst.src(3));
    for (int lane = 0; lane < kWarpSize; ++lane)
      copy.source_bytes[lane] = (ignore >> lane & 1) != 0 ? 0 : static_cast<uint8_t>(bytes);
    reading &= ~ignore;
  } else {
    for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const uint32_t size = static_cast<uint32_t>(w.Lane(inst.src(3), lane));
      if (size > bytes)
        return w.Fail(
            FaultKind::kMemory, lane,
            absl::StrFormat("%s: a source of %d bytes for a copy of %d", InstName(inst), size, bytes));
      copy.source_bytes[lane] = static_cast<uint8_t>(size);
      if (size == 0) reading &= ~(1u << lane);
    }
  }
  LanePointers p;
  if (!ResolveOperand(w, inst, inst.op(0), to, bytes, Access::kWrite, &p)) return ExecResult::kFault;
  ForLanes(w.mask, [&](int lane) { copy.to[lane] = p.at[lane]; });
  LaneAddresses sources;
  GetAddresses(w, inst.op(1), &sources);
  if (third == Third::kSourceSize) {
    for (uint32_t rest = reading; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      copy.from[lane] =
          ResolveLane(w, inst, sources.at[lane], from, copy.source_bytes[lane], bytes, Access::kRead, lane);
      if (copy.from[lane] == nullptr) return ExecResult::kFault;
    }
  } else if (reading != 0) {
    const uint32_t mask = w.mask;
    w.mask = reading;
    const bool ok = ResolveLanes(w, inst, sources, from, bytes, bytes, Access::kRead, &p);
    w.mask = mask;
    if (!ok) return ExecResult::kFault;
    ForLanes(reading, [&](int lane) { copy.from[lane] = p.at[lane]; });
  }
  AsyncOf(w).Copy(w.index, copy);
  return ExecResult::kNext;
}

ExecResult CommitGroup(Warp& w, const Inst&) {
  AsyncOf(w).CommitCopies(w.index, w.mask);
  return ExecResult::kNext;
}
ExecResult WaitGroup(Warp& w, const Inst& inst) {
  AsyncOf(w).WaitCopies(w.index, w.mask, static_cast<uint32_t>(inst.aux[0]));
  return ExecResult::kNext;
}
ExecResult WaitAll(Warp& w, const Inst&) {
  AsyncOf(w).WaitAllCopies(w.index, w.mask);
  return ExecResult::kNext;
}

uint64_t* ResolveBarrier(Warp& w, const Inst& inst, const BoundOperand& address, MemSpace space, int lane) {
  auto* word = reinterpret_cast<uint64_t*>(
      ResolveLane(w, inst, GetAddress(w, address, lane), space, 8, 8, Access::kAtomic, lane));
  if (word != nullptr && !Mbarrier::Unpack(*word).valid) {
    w.Fail(FaultKind::kBarrier, lane,
           absl::StrFormat("%s: mbarrier at 0x%x: not initialised", InstName(inst),
                           GetAddress(w, address, lane)));
    return nullptr;
  }
  return word;
}

// aux[0]: space; aux[1]: .noinc.
ExecResult ArriveWhenCopied(Warp& w, const Inst& inst) {
  PendingCopy arrive;
  arrive.mask = w.mask;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    uint64_t* word = ResolveBarrier(w, inst, inst.op(0), static_cast<MemSpace>(inst.aux[0]), lane);
    if (word == nullptr) return ExecResult::kFault;
    if (inst.aux[1] == 0) {
      // The arrival to come is one more than the phase expected.
      Mbarrier b = Mbarrier::Unpack(*word);
      if (b.pending == Mbarrier::kMaxCount)
        return w.Fail(FaultKind::kBarrier, lane,
                      absl::StrFormat("%s: the pending count is beyond %d", InstName(inst), b.pending));
      ++b.pending;
      *word = b.Pack();
    }
    arrive.to[lane] = reinterpret_cast<uint8_t*>(word);
  }
  if (w.mask != 0) AsyncOf(w).Copy(w.index, arrive);
  return ExecResult::kNext;
}

// st.async and red.async [a], b, [mbar]; without an mbarrier they are of global memory and end with the CTA
// at the latest. aux[0]: type, space, operation.
ExecResult StoreAsync(Warp& w, const Inst& inst) {
  const Type type = static_cast<Type>(inst.aux[0] & 0xff);
  const MemSpace space = static_cast<MemSpace>(inst.aux[0] >> 8 & 0xff);
  const AtomicOp op = static_cast<AtomicOp>(inst.aux[0] >> 16 & 0xff);
  const BoundOperand& value = inst.op(1);
  const bool vector = value.kind == Operand::Kind::kVector;
  const uint32_t count = vector ? value.num_elements : 1, element = TypeBytes(type);
  const uint32_t bytes = count * element;
  LanePointers p;
  if (!ResolveOperand(w, inst, inst.op(0), space, bytes, Access::kWrite, &p)) return ExecResult::kFault;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    PendingBulk bulk;
    bulk.barrier = ResolveBarrier(w, inst, inst.op(2), space, lane);
    if (bulk.barrier == nullptr) return ExecResult::kFault;
    bulk.warp = w.index;
    bulk.lane = lane;
    bulk.tx_bytes = bytes;
    bulk.op = op;
    bulk.type = type;
    bulk.moves.push_back({p.at[lane], nullptr, bytes});
    bulk.data.resize(bytes);
    bulk.has_read = true;
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t bits = w.Lane(vector ? value.elements[i].row : value.row, lane);
      std::memcpy(bulk.data.data() + i * element, &bits, element);
    }
    AsyncOf(w).Bulk(std::move(bulk));
  }
  return ExecResult::kNext;
}

// st.async.release and red.async.release [a], b: of global memory and without a wait, so done at once: a
// thread of the same CTA may poll for the value.
ExecResult StoreReleased(Warp& w, const Inst& inst) {
  const Type type = static_cast<Type>(inst.aux[0] & 0xff);
  const AtomicOp op = static_cast<AtomicOp>(inst.aux[0] >> 16 & 0xff);
  const uint32_t bytes = static_cast<uint32_t>(TypeBytes(type));
  LanePointers p;
  if (!ResolveOperand(w, inst, inst.op(0), MemSpace::kGlobal, bytes, Access::kAtomic, &p))
    return ExecResult::kFault;
  ForLanes(w.mask, [&](int lane) {
    const uint64_t bits = w.Lane(inst.src(1), lane);
    if (op == AtomicOp::kNone)
      std::memcpy(p.at[lane], &bits, bytes);
    else
      AtomicUpdate(op, type, p.at[lane], bits, 0, /*global=*/true);
  });
  return ExecResult::kNext;
}

Exec FindStoreAsync(const Instruction& inst, const ExecContext& context) {
  const AtomicOp op = inst.op == Op::kRed ? FindAtomicOp(inst) : AtomicOp::kNone;
  if (inst.op == Op::kRed && !IsAtomicCombination(op, inst.type())) return Refused(inst, "no such reduction");
  const auto aux = [&](MemSpace space) {
    return uint64_t(inst.type()) | static_cast<uint64_t>(space) << 8 | static_cast<uint64_t>(op) << 16;
  };
  if (inst.operands.size() < 3) {
    if (!inst.Has("release") || inst.operands.size() != 2)
      return Refused(inst, "the manual has no weak form without an mbarrier");
    return Approximate(Exact(StoreReleased, aux(MemSpace::kGlobal)),
                       "of sm_100, by the manual; not compared with hardware");
  }
  const MemSpace space = SpaceOfOperand(inst, inst.operands[0], context);
  if (space != MemSpace::kSharedCluster && space != MemSpace::kGeneric)
    return Refused(inst, "expected .shared::cluster");
  const int bytes = TypeBytes(inst.type());
  if (bytes != 4 && bytes != 8) return Refused(inst, "expected a type of 32 or 64 bits");
  return Exact(StoreAsync, aux(MemSpace::kSharedCluster));
}

}  // namespace

Exec FindAsyncCopy(const Instruction& inst, const ExecContext& context) {
  if ((inst.op == Op::kSt || inst.op == Op::kRed) && inst.Has("async")) return FindStoreAsync(inst, context);
  if (inst.op != Op::kCp || !inst.Has("async") || inst.Has("bulk")) return {};
  const size_t count = inst.operands.size();
  if (inst.Has("reduce")) return {};
  if (inst.Has("commit_group")) return Exact(CommitGroup);
  if (inst.Has("wait_all")) return Exact(WaitAll);
  if (inst.Has("wait_group")) {
    if (count != 1 || inst.operands[0].kind != Operand::Kind::kImmediate)
      return Refused(inst, "needs a constant");
    return Exact(WaitGroup, inst.operands[0].bits);
  }
  if (inst.Has("mbarrier")) {
    if (count != 1) return Refused(inst, "needs an address");
    return Exact(ArriveWhenCopied, static_cast<uint64_t>(SpaceOfOperand(inst, inst.operands[0], context)),
                 inst.Has("noinc"));
  }
  if (count < 3 || inst.operands[2].kind != Operand::Kind::kImmediate)
    return Refused(inst, "needs two addresses and a constant size");
  const uint64_t bytes = inst.operands[2].bits;
  if (bytes != 4 && bytes != 8 && bytes != 16) return Refused(inst, "the size is not 4, 8 or 16");
  Third third = Third::kNone;
  if (count > (inst.Has("L2::cache_hint") ? 4u : 3u))
    third = context.OperandBits(inst.operands[3]) == 1 ? Third::kIgnore : Third::kSourceSize;
  const uint64_t to = static_cast<uint64_t>(SpaceOfOperand(inst, inst.operands[0], context, 0));
  const uint64_t from = static_cast<uint64_t>(SpaceOfOperand(inst, inst.operands[1], context, 1));
  return Exact(CopyAsync, bytes | to << 8 | from << 16 | static_cast<uint64_t>(third) << 24);
}

}  // namespace understudy::emu::ptx
