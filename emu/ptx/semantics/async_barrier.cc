// SPDX-License-Identifier: Apache-2.0
// mbarrier: init, inval, expect_tx, complete_tx, arrive, arrive_drop, test_wait, try_wait, pending_count.
// Misuse that the hardware leaves undefined (no object, too many arrivals, counts out of range) is a barrier
// fault that names the object.
#include "absl/strings/str_format.h"
#include "emu/ptx/semantics/async_state.h"
#include "emu/ptx/semantics/memory_find.h"

namespace understudy::emu::ptx {
namespace {

// aux[0]: space, and what an arrive does.
constexpr uint64_t kSpaceMask = 0xff;
constexpr uint64_t kExpectTx = 1 << 8, kDrop = 1 << 9, kNoComplete = 1 << 10, kHasOperand = 1 << 11;
constexpr uint64_t kParity = 1 << 12, kTry = 1 << 13;

uint64_t* Resolve(Warp& w, const Inst& inst, const BoundOperand& address, int lane) {
  return reinterpret_cast<uint64_t*>(ResolveLane(w, inst, GetAddress(w, address, lane),
                                                 static_cast<MemSpace>(inst.aux[0] & kSpaceMask), 8, 8,
                                                 Access::kAtomic, lane));
}

ExecResult Misuse(Warp& w, const Inst& inst, const BoundOperand& address, int lane, const std::string& what) {
  return w.Fail(
      FaultKind::kBarrier, lane,
      absl::StrFormat("%s: mbarrier at 0x%x: %s", InstName(inst), GetAddress(w, address, lane), what));
}

// Calls fn(lane, word, object) -> error text for each lane; writes the object back.
template <class Fn>
ExecResult ForBarriers(Warp& w, const Inst& inst, const BoundOperand& address, Fn&& fn) {
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    uint64_t* word = Resolve(w, inst, address, lane);
    if (word == nullptr) return ExecResult::kFault;
    Mbarrier b = Mbarrier::Unpack(*word);
    if (!b.valid) return Misuse(w, inst, address, lane, "not initialised");
    const std::string error = fn(lane, *word, b);
    if (!error.empty()) return Misuse(w, inst, address, lane, error);
    *word = b.Pack();
    AsyncOf(w).Progress();
  }
  return ExecResult::kNext;
}

ExecResult Init(Warp& w, const Inst& inst) {
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    uint64_t* word = Resolve(w, inst, inst.op(0), lane);
    if (word == nullptr) return ExecResult::kFault;
    const uint64_t count = static_cast<uint32_t>(w.Lane(inst.src(1), lane));
    if (count == 0 || count > Mbarrier::kMaxCount)
      return Misuse(w, inst, inst.op(0), lane,
                    absl::StrFormat("count %d is not in 1..%d", count, Mbarrier::kMaxCount));
    Mbarrier b;
    b.pending = b.expected = static_cast<uint32_t>(count);
    b.valid = true;
    *word = b.Pack();
  }
  return ExecResult::kNext;
}

ExecResult Invalidate(Warp& w, const Inst& inst) {
  return ForBarriers(w, inst, inst.op(0), [](int, uint64_t, Mbarrier& b) {
    b = Mbarrier{};
    return std::string();
  });
}

std::string AddTx(Mbarrier& b, int64_t bytes) {
  const int64_t tx = b.tx + bytes;
  if (tx < -Mbarrier::kMaxTx || tx > Mbarrier::kMaxTx)
    return absl::StrFormat("a transaction count of %d is beyond %d", tx, Mbarrier::kMaxTx);
  b.tx = static_cast<int32_t>(tx);
  return "";
}

ExecResult ExpectTx(Warp& w, const Inst& inst) {
  return ForBarriers(w, inst, inst.op(0), [&](int lane, uint64_t, Mbarrier& b) {
    return AddTx(b, static_cast<uint32_t>(w.Lane(inst.src(1), lane)));
  });
}

ExecResult CompleteTxOf(Warp& w, const Inst& inst) {
  return ForBarriers(w, inst, inst.op(0), [&](int lane, uint64_t, Mbarrier& b) {
    std::string error = AddTx(b, -int64_t{static_cast<uint32_t>(w.Lane(inst.src(1), lane))});
    if (error.empty()) b.Settle();
    return error;
  });
}

ExecResult Arrive(Warp& w, const Inst& inst) {
  const uint64_t mode = inst.aux[0];
  return ForBarriers(w, inst, inst.op(1), [&](int lane, uint64_t word, Mbarrier& b) -> std::string {
    const uint32_t operand = (mode & kHasOperand) != 0 ? static_cast<uint32_t>(w.Lane(inst.src(2), lane)) : 1;
    uint32_t count = operand;
    if ((mode & kExpectTx) != 0) {
      const std::string error = AddTx(b, operand);
      if (!error.empty()) return error;
      count = 1;
    }
    if (count == 0 || count > b.pending)
      return absl::StrFormat("%d arrivals where %d of %d are pending", count, b.pending, b.expected);
    b.pending -= count;
    if ((mode & kDrop) != 0) b.expected -= count;
    if ((mode & kNoComplete) != 0 && b.pending == 0) return "an arrive with .noComplete completes the phase";
    b.Settle();
    const BoundOperand& state = inst.op(0);
    if (state.kind != Operand::Kind::kSink && !state.row.sink) w.SetLane(state.row, lane, word);
    return "";
  });
}

ExecResult Wait(Warp& w, const Inst& inst) {
  const uint64_t mode = inst.aux[0];
  CtaAsync& async = AsyncOf(w);
  uint32_t done = 0;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    uint64_t* word = Resolve(w, inst, inst.op(1), lane);
    if (word == nullptr) return ExecResult::kFault;
    if (!Mbarrier::Unpack(*word).valid) return Misuse(w, inst, inst.op(1), lane, "not initialised");
    const uint64_t operand = w.Lane(inst.src(2), lane);
    const bool parity = (mode & kParity) != 0 ? (operand & 1) != 0 : Mbarrier::Unpack(operand).parity;
    if (async.TestBarrier(word, parity)) done |= 1u << lane;
  }
  // A try_wait suspends its thread; the time limit passes only when nobody else can run.
  if (done == 0 && (mode & kTry) != 0 && !async.WaitExpires(w.index)) return ExecResult::kRetry;
  w.SetPred(inst.src(0), done);
  return done == w.mask ? ExecResult::kNext : ExecResult::kYield;
}

ExecResult PendingCount(Warp& w, const Inst& inst) {
  ForLanes(w.mask, [&](int lane) {
    w.SetLane(inst.src(0), lane, Mbarrier::Unpack(w.Lane(inst.src(1), lane)).pending);
  });
  return ExecResult::kNext;
}

}  // namespace

Exec FindAsyncBarrier(const Instruction& inst, const ExecContext& context) {
  if (inst.op != Op::kMbarrier) return {};
  if (inst.operands.empty()) return Refused(inst, "needs operands");
  const size_t count = inst.operands.size();
  const auto space = [&](size_t address) -> uint64_t {
    return address < count ? static_cast<uint64_t>(SpaceOfOperand(inst, inst.operands[address], context)) : 0;
  };
  if (inst.Has("pending_count") && count == 2) return Exact(PendingCount);
  if (inst.Has("init") && count == 2) return Exact(Init, space(0));
  if (inst.Has("inval")) return Exact(Invalidate, space(0));
  const bool drop = inst.Has("arrive_drop");
  if ((drop || inst.Has("arrive")) && count >= 2) {
    uint64_t mode = space(1) | (drop ? kDrop : 0);
    if (inst.Has("expect_tx")) mode |= kExpectTx;
    if (inst.Has("noComplete")) mode |= kNoComplete;
    if (count > 2) mode |= kHasOperand;
    if (inst.Has("expect_tx") && count < 3) return Refused(inst, "needs a transaction count");
    return Exact(Arrive, mode);
  }
  if (inst.Has("expect_tx") && count == 2) return Exact(ExpectTx, space(0));
  if (inst.Has("complete_tx") && count == 2) return Exact(CompleteTxOf, space(0));
  const bool try_wait = inst.Has("try_wait");
  if ((try_wait || inst.Has("test_wait")) && count >= 3)
    return Exact(Wait, space(1) | (try_wait ? kTry : 0) | (inst.Has("parity") ? kParity : 0));
  return Refused(inst, "no such mbarrier operation");
}

}  // namespace understudy::emu::ptx
