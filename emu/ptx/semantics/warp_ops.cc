// SPDX-License-Identifier: Apache-2.0
// Operations on all lanes of a warp: vote, match, redux, shfl, activemask, elect. When they execute,
// Warp::mask holds all live lanes of the member mask.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "emu/ptx/semantics/control.h"
#include "emu/ptx/semantics/find_exec.h"
#include "emu/ptx/semantics/shuffle.h"

namespace understudy::emu::ptx {
namespace {

template <class Fn>
void ForLanes(uint32_t mask, Fn&& fn) {
  for (; mask != 0; mask &= mask - 1) fn(std::countr_zero(mask));
}

// d, or the first of d|p.
Src Destination(const Inst& inst) {
  return inst.op(0).num_elements != 0 ? inst.op(0).elements[0].row : inst.src(0);
}

void SetSecond(Warp& warp, const Inst& inst, uint32_t value) {
  if (inst.op(0).num_elements > 1 && !inst.op(0).elements[1].row.sink)
    warp.SetPred(inst.op(0).elements[1].row, value);
}

// A lane that has exited gives 0 and leaves the predicate as it is (recorded on an H200:
// tests/data/ptx/special.jsonl.zst).
template <Shuffle mode>
ExecResult ShflExec(Warp& warp, const Inst& inst) {
  std::array<uint32_t, kWarpSize> source;
  std::copy_n(warp.U32(inst.src(1)), kWarpSize, source.begin());
  ForLanes(~warp.lanes | warp.exited, [&](int lane) { source[static_cast<size_t>(lane)] = 0; });
  const uint32_t* b_row = warp.U32(inst.src(2));
  const uint32_t* c_row = warp.U32(inst.src(3));
  const Src d = Destination(inst);
  uint32_t* out = warp.Dst32(d);
  uint32_t in_range = 0;
  std::array<uint32_t, kWarpSize> result{};
  ForLanes(warp.mask, [&](int lane) {
    const ShuffleSource from = SourceOf(mode, lane, b_row[lane], c_row[lane]);
    in_range |= static_cast<uint32_t>(from.in_range) << lane;
    result[static_cast<size_t>(lane)] = source[static_cast<size_t>(from.lane)];
  });
  ForLanes(warp.mask, [&](int lane) { out[lane] = result[static_cast<size_t>(lane)]; });
  SetSecond(warp, inst, in_range);
  return ExecResult::kNext;
}

enum class Vote { kAll, kAny, kUni, kBallot };

template <Vote mode>
ExecResult VoteExec(Warp& warp, const Inst& inst) {
  const uint32_t yes = warp.Pred(inst.src(1)) & warp.mask;
  if constexpr (mode == Vote::kBallot) {
    uint32_t* out = warp.Dst32(inst.src(0));
    ForLanes(warp.mask, [&](int lane) { out[lane] = yes; });
  } else {
    const bool result = mode == Vote::kAll   ? yes == warp.mask
                        : mode == Vote::kAny ? yes != 0
                                             : yes == warp.mask || yes == 0;
    warp.SetPred(inst.src(0), result ? ~0u : 0);
  }
  return ExecResult::kNext;
}

template <bool all>
ExecResult MatchExec(Warp& warp, const Inst& inst) {
  std::array<uint64_t, kWarpSize> values{};
  ForLanes(warp.mask, [&](int lane) { values[static_cast<size_t>(lane)] = warp.Lane(inst.src(1), lane); });
  uint32_t* out = warp.Dst32(Destination(inst));
  if constexpr (all) {
    const uint64_t first = values[static_cast<size_t>(std::countr_zero(warp.mask))];
    bool same = true;
    ForLanes(warp.mask, [&](int lane) { same = same && values[static_cast<size_t>(lane)] == first; });
    ForLanes(warp.mask, [&](int lane) { out[lane] = same ? warp.mask : 0; });
    SetSecond(warp, inst, same ? ~0u : 0);
  } else {
    ForLanes(warp.mask, [&](int lane) {
      uint32_t same = 0;
      ForLanes(warp.mask, [&](int other) {
        same |= static_cast<uint32_t>(values[static_cast<size_t>(other)] == values[static_cast<size_t>(lane)])
                << other;
      });
      out[lane] = same;
    });
  }
  return ExecResult::kNext;
}

enum class Redux { kAdd, kMinSigned, kMaxSigned, kMinUnsigned, kMaxUnsigned, kAnd, kOr, kXor };

template <Redux op>
ExecResult ReduxExec(Warp& warp, const Inst& inst) {
  const uint32_t* in = warp.U32(inst.src(1));
  uint32_t value = in[std::countr_zero(warp.mask)];
  ForLanes(warp.mask & (warp.mask - 1), [&](int lane) {
    const uint32_t x = in[lane];
    const int32_t sx = static_cast<int32_t>(x), sv = static_cast<int32_t>(value);
    switch (op) {
      case Redux::kAdd:
        value += x;
        break;
      case Redux::kMinSigned:
        value = static_cast<uint32_t>(std::min(sx, sv));
        break;
      case Redux::kMaxSigned:
        value = static_cast<uint32_t>(std::max(sx, sv));
        break;
      case Redux::kMinUnsigned:
        value = std::min(x, value);
        break;
      case Redux::kMaxUnsigned:
        value = std::max(x, value);
        break;
      case Redux::kAnd:
        value &= x;
        break;
      case Redux::kOr:
        value |= x;
        break;
      case Redux::kXor:
        value ^= x;
        break;
    }
  });
  uint32_t* out = warp.Dst32(inst.src(0));
  ForLanes(warp.mask, [&](int lane) { out[lane] = value; });
  return ExecResult::kNext;
}

// aux[0]: bit 0 maximum, bit 1 .abs, bit 2 .NaN. -0 is less than +0; without .NaN numbers win over NaNs.
ExecResult ReduxFloatExec(Warp& warp, const Inst& inst) {
  constexpr uint32_t kCanonicalNan = 0x7fffffff;
  const bool maximum = (inst.aux[0] & 1) != 0, nan_wins = (inst.aux[0] & 4) != 0;
  const uint32_t clear = (inst.aux[0] & 2) != 0 ? 0x7fffffff : 0xffffffff;
  const uint32_t* in = warp.U32(inst.src(1));
  // Floats ordered as integers.
  const auto key = [](uint32_t bits) {
    return static_cast<int32_t>(bits >> 31 != 0 ? bits ^ 0x7fffffff : bits);
  };
  uint32_t value = kCanonicalNan;
  bool any = false, nan = false;
  ForLanes(warp.mask, [&](int lane) {
    const uint32_t x = in[lane] & clear;
    if ((x & 0x7fffffff) > 0x7f800000) {
      nan = true;
      return;
    }
    if (!any || (maximum ? key(x) > key(value) : key(x) < key(value))) value = x;
    any = true;
  });
  if (nan && nan_wins) value = kCanonicalNan;
  uint32_t* out = warp.Dst32(inst.src(0));
  ForLanes(warp.mask, [&](int lane) { out[lane] = value; });
  return ExecResult::kNext;
}

ExecResult ActiveMaskExec(Warp& warp, const Inst& inst) {
  uint32_t* out = warp.Dst32(inst.src(0));
  ForLanes(warp.mask, [&](int lane) { out[lane] = warp.mask; });
  return ExecResult::kNext;
}

// The lowest lane is elected.
ExecResult ElectExec(Warp& warp, const Inst& inst) {
  const int leader = std::countr_zero(warp.mask);
  const Src d = Destination(inst);
  if (!d.sink) {
    uint32_t* out = warp.Dst32(d);
    ForLanes(warp.mask, [&](int lane) { out[lane] = static_cast<uint32_t>(leader); });
  }
  SetSecond(warp, inst, 1u << leader);
  return ExecResult::kNext;
}

ExecFn FindShuffle(const Instruction& inst) {
  switch (ShuffleOf(inst)) {
    case Shuffle::kUp:
      return ShflExec<Shuffle::kUp>;
    case Shuffle::kDown:
      return ShflExec<Shuffle::kDown>;
    case Shuffle::kButterfly:
      return ShflExec<Shuffle::kButterfly>;
    case Shuffle::kIndex:
      break;
  }
  return ShflExec<Shuffle::kIndex>;
}

ExecFn FindVote(const Instruction& inst) {
  if (inst.Has("all")) return VoteExec<Vote::kAll>;
  if (inst.Has("any")) return VoteExec<Vote::kAny>;
  if (inst.Has("uni")) return VoteExec<Vote::kUni>;
  return VoteExec<Vote::kBallot>;
}

ExecFn FindRedux(const Instruction& inst) {
  const bool is_signed = inst.type() == Type::kS32;
  if (inst.Has("add")) return ReduxExec<Redux::kAdd>;
  if (inst.Has("min")) return is_signed ? ReduxExec<Redux::kMinSigned> : ReduxExec<Redux::kMinUnsigned>;
  if (inst.Has("max")) return is_signed ? ReduxExec<Redux::kMaxSigned> : ReduxExec<Redux::kMaxUnsigned>;
  if (inst.Has("and")) return ReduxExec<Redux::kAnd>;
  if (inst.Has("or")) return ReduxExec<Redux::kOr>;
  return ReduxExec<Redux::kXor>;
}

}  // namespace

bool FindWarpOpExec(const Instruction& inst, Exec* exec) {
  switch (inst.op) {
    case Op::kShfl:
      exec->fn = FindShuffle(inst);
      return true;
    case Op::kVote:
      exec->fn = FindVote(inst);
      return true;
    case Op::kMatch:
      exec->fn = inst.Has("all") ? MatchExec<true> : MatchExec<false>;
      return true;
    case Op::kRedux:
      if (inst.type() == Type::kF32) {
        exec->fn = ReduxFloatExec;
        exec->aux[0] =
            (inst.Has("max") ? 1u : 0u) | (inst.Has("abs") ? 2u : 0u) | (inst.Has("NaN") ? 4u : 0u);
      } else {
        exec->fn = FindRedux(inst);
      }
      return true;
    case Op::kActivemask:
      exec->fn = ActiveMaskExec;
      return true;
    case Op::kElect:
      exec->fn = ElectExec;
      return true;
    default:
      return false;
  }
}

}  // namespace understudy::emu::ptx
