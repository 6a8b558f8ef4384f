// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/check/defined.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_format.h"
#include "emu/ptx/core/launch_state.h"

namespace understudy::emu::ptx {
namespace {

using Rule = DefinedFacts::Rule;

uint64_t Ones(uint8_t bytes) { return bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * bytes) - 1; }

uint8_t* Align(uint64_t* storage) {
  return reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(storage) + 63) / 64 * 64);
}

uint32_t RowSize(uint8_t bytes) { return bytes == 0 ? 4 : bytes <= 4 ? 128 : bytes == 8 ? 256 : 512; }

template <class Fn>
void ForLanes(uint32_t mask, Fn&& fn) {
  for (; mask != 0; mask &= mask - 1) fn(std::countr_zero(mask));
}

}  // namespace

DefinedChecker::DefinedChecker(Launch& launch, ReportSink* sink)
    : launch_(launch), sink_(sink), scratch_storage_(new uint64_t[kScratchRow / 8 * 5 + 8]()) {
  scratch_ = Align(scratch_storage_.get());
}

const DefinedFacts& DefinedChecker::FactsOf(const Inst& inst) {
  std::unique_ptr<DefinedFacts>& facts = facts_[&inst];
  if (facts == nullptr) facts = FindDefinedFacts(inst);
  return *facts;
}

uint64_t DefinedChecker::Get(const FrameBits& bits, Src row, int lane, int half) {
  if (row.base != Src::kFrame || row.sink) return 0;
  const uint8_t* at = bits.rows + row.offset;
  if (row.bytes == 0) return *reinterpret_cast<const uint32_t*>(at) >> lane & 1;
  if (row.bytes >= 8) return reinterpret_cast<const uint64_t*>(at)[lane + kWarpSize * half];
  return reinterpret_cast<const uint32_t*>(at)[lane];
}

void DefinedChecker::Set(FrameBits& bits, Src row, int lane, uint64_t value, int half) {
  if (row.base != Src::kFrame || row.sink) return;
  uint8_t* at = bits.rows + row.offset;
  if (row.bytes == 0) {
    uint32_t* mask = reinterpret_cast<uint32_t*>(at);
    *mask = (*mask & ~(1u << lane)) | (static_cast<uint32_t>(value != 0) << lane);
  } else if (row.bytes >= 8) {
    reinterpret_cast<uint64_t*>(at)[lane + kWarpSize * half] = value;
  } else {
    reinterpret_cast<uint32_t*>(at)[lane] = static_cast<uint32_t>(value & Ones(row.bytes));
  }
}

uint32_t DefinedChecker::AnyOf(const FrameBits& bits, Src row, uint32_t mask) {
  if (row.base != Src::kFrame || row.sink) return 0;
  const uint8_t* at = bits.rows + row.offset;
  if (row.bytes == 0) return *reinterpret_cast<const uint32_t*>(at) & mask;
  uint32_t any = 0;
  if (row.bytes < 8) {
    const uint32_t* words = reinterpret_cast<const uint32_t*>(at);
    for (int lane = 0; lane < kWarpSize; ++lane) any |= static_cast<uint32_t>(words[lane] != 0) << lane;
  } else {
    const uint64_t* words = reinterpret_cast<const uint64_t*>(at);
    for (int lane = 0; lane < kWarpSize; ++lane)
      any |= static_cast<uint32_t>((words[lane] | (row.bytes == 16 ? words[lane + kWarpSize] : 0)) != 0)
             << lane;
  }
  return any & mask;
}

void DefinedChecker::SetAll(FrameBits& bits, Src row, uint32_t mask, uint32_t undefined) {
  if (row.base != Src::kFrame || row.sink) return;
  if (row.bytes == 0) {
    uint32_t* at = reinterpret_cast<uint32_t*>(bits.rows + row.offset);
    *at = (*at & ~mask) | (undefined & mask);
    return;
  }
  ForLanes(mask, [&](int lane) {
    const uint64_t value = (undefined >> lane & 1) != 0 ? Ones(row.bytes) : 0;
    Set(bits, row, lane, value);
    if (row.bytes == 16) Set(bits, row, lane, value, 1);
  });
}

const Inst* DefinedChecker::OriginOf(const FrameBits& bits, const DefinedFacts& facts, uint32_t mask) {
  for (const Src& row : facts.sources) {
    if (AnyOf(bits, row, mask) == 0) continue;
    const auto it = bits.origin.find(row.offset);
    if (it != bits.origin.end() && it->second != nullptr) return it->second;
  }
  return nullptr;
}

void DefinedChecker::SetOrigin(FrameBits& bits, const DefinedFacts& facts, uint32_t mask,
                               const Inst* origin) {
  for (const Src& row : facts.dests)
    if (AnyOf(bits, row, mask) != 0) bits.origin[row.offset] = origin;
}

void DefinedChecker::StartWarp(WarpState& warp) {
  if (warp.index == 0) shared_[warp.cta].assign(warp.shared_bytes, 0xff);
  std::unique_ptr<WarpBits>& bits = warps_[&warp];
  bits = std::make_unique<WarpBits>();
  warp.check = bits.get();
}

void DefinedChecker::EndCluster(Cluster& cluster) {
  for (uint32_t c = 0; c < cluster.num_ctas; ++c) shared_.erase(cluster.ctas[c].get());
}

void DefinedChecker::NewFrame(WarpState& warp, FrameState& frame, uint32_t mask) {
  const BoundFunction& function = *frame.function;
  std::vector<uint64_t>& fresh = fresh_[&function];
  if (fresh.empty()) {
    fresh.assign(function.frame_bytes / 8 + 1, 0);
    uint8_t* rows = reinterpret_cast<uint8_t*>(fresh.data());
    for (const Src& row : function.registers) {
      uint8_t* at = rows + row.offset;
      if (row.bytes == 0 || row.bytes >= 4) {
        std::memset(at, 0xff, RowSize(row.bytes));
      } else {
        for (int lane = 0; lane < kWarpSize; ++lane)
          reinterpret_cast<uint32_t*>(at)[lane] = static_cast<uint32_t>(Ones(row.bytes));
      }
    }
  }
  std::unique_ptr<FrameBits>& bits = frames_[&frame];
  if (bits == nullptr) {
    bits = std::make_unique<FrameBits>();
    bits->storage.reset(new uint64_t[function.frame_bytes / 8 + 16]);
    bits->rows = Align(bits->storage.get());
    frame.check = bits.get();
  }
  std::memcpy(bits->rows, fresh.data(), function.frame_bytes);
  bits->params.assign(size_t{function.param_bytes} * kWarpSize, 0xff);
  bits->origin.clear();
  // What an earlier call has left in its local memory.
  if (warp.check == nullptr) return;
  WarpBits& memory = Of(warp);
  if (memory.local.empty()) return;
  ForLanes(mask, [&](int lane) {
    for (uint64_t at = 0; at < function.local_bytes; ++at)
      *LocalByte(memory, lane, frame.local_base + at) = 0xff;
  });
}

uint8_t* DefinedChecker::LocalByte(WarpBits& bits, int lane, uint64_t offset) {
  std::vector<uint8_t>& block = bits.local[static_cast<uint64_t>(lane) << 40 | offset / kBlock];
  if (block.empty()) block.assign(kBlock, 0xff);
  return &block[offset % kBlock];
}

std::string DefinedChecker::RegisterName(const WarpState& warp, Src row) const {
  const BoundFunction& function = *warp.frame->function;
  for (size_t i = 0; i < function.registers.size(); ++i)
    if (function.registers[i].offset == row.offset) return function.text->registers[i].name;
  return "a register";
}

ExecResult DefinedChecker::Report(WarpState& warp, const Inst& inst, int lane, FrameBits& bits, Src row,
                                  int operand, const char* what) {
  (void)operand;
  const std::string name = RegisterName(warp, row);
  const auto it = bits.origin.find(row.offset);
  const Inst* const origin = it == bits.origin.end() ? nullptr : it->second;
  std::string from = "which was never written";
  ThreadAt other;
  if (it != bits.origin.end() && origin == nullptr)
    from = "computed from a register that was never written, or that a lane has which does not take part";
  if (origin != nullptr && origin->text != nullptr) {
    other = {origin, static_cast<uint32_t>(warp.cta->ordinal),
             static_cast<uint16_t>(warp.index * kWarpSize + static_cast<uint32_t>(lane))};
    from = "from memory that nobody had written when " + sink_->Describe(other) + " read it";
  }
  const uint64_t undefined = Get(bits, row, lane);
  return sink_->Add(CheckKind::kUninit, CheckSeverity::kError, warp, inst, lane, name,
                    row.bytes == 0 ? absl::StrFormat("%s is uninitialised: %s, %s", what, name, from)
                                   : absl::StrFormat("%s is uninitialised: bits 0x%x of %s, %s", what,
                                                     undefined, name, from),
                    origin != nullptr ? &other : nullptr);
}

ExecResult DefinedChecker::Guard(WarpState& warp, const Inst& inst, uint32_t lanes) {
  FrameBits& bits = Of(*warp.frame);
  Src guard = inst.guard;
  guard.negated = false;
  const uint32_t undefined = AnyOf(bits, guard, lanes);
  late_ = 0;
  if (undefined == 0) return ExecResult::kNext;
  const DefinedFacts& facts = FactsOf(inst);
  if (facts.guard_decides) {
    const bool branch = inst.text->op == Op::kBra || inst.text->op == Op::kBrx;
    const ExecResult result = Report(warp, inst, std::countr_zero(undefined), bits, guard, -1,
                                     branch ? "the branch's condition" : "the guard");
    SetAll(bits, guard, undefined, 0);
    return result;
  }
  // Lanes that do not execute keep their value, or should not have.
  for (const Src& row : facts.dests) {
    SetAll(bits, row, undefined & ~warp.mask, ~0u);
    const auto it = bits.origin.find(guard.offset);
    bits.origin[row.offset] = it == bits.origin.end() ? nullptr : it->second;
  }
  late_ = undefined & warp.mask;
  return ExecResult::kNext;
}

// The executor itself moves the undefined bits.
void DefinedChecker::Route(WarpState& warp, const Inst& inst, const DefinedFacts& facts, uint32_t mask) {
  FrameBits& bits = Of(*warp.frame);
  uint32_t undefined_control = 0;
  for (size_t k = 0; k < facts.control.size(); ++k) {
    const Src row = inst.src(facts.control[k]);
    undefined_control |= AnyOf(bits, row, mask);
    std::memcpy(scratch_ + kScratchRow * (k + 1), warp.base[row.base] + row.offset, RowSize(row.bytes));
  }
  uint8_t* const frame = warp.base[Src::kFrame];
  uint8_t* const special = warp.base[Src::kSpecialRow];
  Inst shadow = inst;
  shadow.operands = facts.operands.data();
  warp.base[Src::kFrame] = bits.rows;
  warp.base[Src::kSpecialRow] = scratch_;
  std::array<uint32_t, kWarpSize> keep;
  uint32_t* data = nullptr;
  if (facts.rule == Rule::kShuffle) {
    // What lanes hold that do not take part is undefined.
    const Src row = facts.operands[1].row;
    data = reinterpret_cast<uint32_t*>(warp.base[row.base] + row.offset);
    std::copy_n(data, kWarpSize, keep.begin());
    for (int lane = 0; lane < kWarpSize; ++lane)
      if ((mask >> lane & 1) == 0) data[lane] = ~0u;
  }
  // What the executor gives for lanes that are no more would pass for defined.
  const uint32_t lanes = warp.lanes, exited = warp.exited;
  warp.lanes = ~0u;
  warp.exited = 0;
  const ExecFn fn = inst.wrapped != nullptr ? inst.wrapped : inst.exec;
  fn(warp, shadow);
  warp.lanes = lanes;
  warp.exited = exited;
  if (data != nullptr)
    for (int lane = 0; lane < kWarpSize; ++lane)
      if ((mask >> lane & 1) == 0) data[lane] = keep[static_cast<size_t>(lane)];
  warp.base[Src::kFrame] = frame;
  warp.base[Src::kSpecialRow] = special;
  // Row 0 of the scratch rows stays zero: nothing writes to a source.
  if (facts.rule == Rule::kShuffle)
    for (const Src& row : facts.dests)
      if (row.bytes == 0) SetAll(bits, row, mask, 0);
  for (const Src& row : facts.dests) SetAll(bits, row, undefined_control, ~0u);
}

void DefinedChecker::Table(WarpState& warp, const Inst& inst, const DefinedFacts& facts, uint32_t mask) {
  FrameBits& bits = Of(*warp.frame);
  const Src to = inst.src(0);
  const int sources = std::min(inst.num_operands - 1, 3);
  const auto result = [&](const uint64_t (&value)[3], const uint64_t (&undefined)[3]) {
    uint64_t zero = 0, one = 0;
    for (int i = 0; i < 8; ++i) {
      uint64_t possible = ~uint64_t{0};
      for (int s = 0; s < 3; ++s) possible &= ((i >> s & 1) != 0 ? value[s] : ~value[s]) | undefined[s];
      ((facts.table >> i & 1) != 0 ? one : zero) |= possible;
    }
    return zero & one;
  };
  uint64_t value[3] = {}, undefined[3] = {};
  if (to.bytes == 0) {
    for (int s = 0; s < sources; ++s) {
      value[s] = warp.Pred(inst.src(s + 1));
      Src row = inst.src(s + 1);
      undefined[s] = AnyOf(bits, row, ~0u);
    }
    SetAll(bits, to, mask, static_cast<uint32_t>(result(value, undefined)));
    return;
  }
  ForLanes(mask, [&](int lane) {
    for (int s = 0; s < sources; ++s) {
      value[s] = warp.Lane(inst.src(s + 1), lane);
      undefined[s] = Get(bits, inst.src(s + 1), lane);
    }
    Set(bits, to, lane, result(value, undefined) & Ones(to.bytes));
  });
}

void DefinedChecker::Select(WarpState& warp, const Inst& inst, const DefinedFacts& facts, uint32_t mask) {
  (void)facts;
  FrameBits& bits = Of(*warp.frame);
  const Src to = inst.src(0), a = inst.src(1), b = inst.src(2), p = inst.src(3);
  const uint32_t chosen = warp.Pred(p), unknown = AnyOf(bits, p, mask);
  ForLanes(mask, [&](int lane) {
    const uint64_t ua = Get(bits, a, lane), ub = Get(bits, b, lane);
    uint64_t u = (chosen >> lane & 1) != 0 ? ua : ub;
    if ((unknown >> lane & 1) != 0) u = ua | ub | (warp.Lane(a, lane) ^ warp.Lane(b, lane));
    Set(bits, to, lane, u);
  });
}

void DefinedChecker::Matrix(WarpState& warp, const Inst& inst, const DefinedFacts& facts, uint32_t mask) {
  FrameBits& bits = Of(*warp.frame);
  const auto rows = [](const BoundOperand& operand) {
    std::vector<Src> out;
    if (operand.num_elements == 0) out.push_back(operand.row);
    for (int i = 0; i < operand.num_elements; ++i) out.push_back(operand.elements[i].row);
    return out;
  };
  uint32_t factors = 0;
  for (int i = 1; i < inst.num_operands; ++i) {
    // mma: a, b, c, and for sparse ones metadata. wgmma: a (in registers) and descriptors.
    if (i == 3) continue;
    for (const Src& row : rows(inst.op(i))) factors |= AnyOf(bits, row, mask);
  }
  const std::vector<Src> to = rows(inst.op(0));
  if (facts.rule == Rule::kWgmma) {
    // The accumulator is what it was, unless scale-d drops it.
    uint32_t kept = mask;
    if (inst.num_operands > 3 && inst.op(3).num_elements == 0 && inst.src(3).bytes == 0)
      kept &= warp.Pred(inst.src(3));
    for (const Src& row : to) {
      SetAll(bits, row, mask & ~kept, 0);
      if (factors != 0) SetAll(bits, row, mask, ~0u);
    }
    return;
  }
  const std::vector<Src> add = inst.num_operands > 3 ? rows(inst.op(3)) : std::vector<Src>();
  std::vector<uint32_t> undefined(to.size(), 0);
  for (size_t i = 0; i < to.size(); ++i)
    for (size_t k = 0; k < add.size(); ++k)
      if (add.size() != to.size() || k == i) undefined[i] |= AnyOf(bits, add[k], mask);
  for (size_t i = 0; i < to.size(); ++i) SetAll(bits, to[i], mask, factors != 0 ? ~0u : undefined[i]);
}

// Rules by which lanes, or all of them, depend on whole sources.
void DefinedChecker::Lanes(WarpState& warp, const Inst& inst, const DefinedFacts& facts, uint32_t mask) {
  FrameBits& bits = Of(*warp.frame);
  uint32_t any = 0;
  for (const Src& row : facts.sources) any |= AnyOf(bits, row, mask);
  if (facts.reads_carry) any |= Of(warp).carry & mask;
  switch (facts.rule) {
    case Rule::kNothing:
      any = 0;
      break;
    case Rule::kWarp:
      any = any != 0 ? ~0u : 0;
      break;
    case Rule::kVote: {
      const uint32_t yes = warp.Pred(inst.src(1)) & mask & ~any, no = mask & ~any & ~yes;
      const bool all = inst.text->Has("all"), some = inst.text->Has("any");
      // One defined lane may decide.
      const bool decided = any == 0 || (all && no != 0) || (some && yes != 0) ||
                           (inst.text->Has("uni") && yes != 0 && no != 0);
      any = decided ? 0 : ~0u;
      break;
    }
    case Rule::kBallot:
      for (const Src& row : facts.dests) ForLanes(mask, [&](int lane) { Set(bits, row, lane, any); });
      return;
    case Rule::kSum: {
      const Src to = inst.src(0);
      ForLanes(mask, [&](int lane) {
        uint64_t undefined = 0;
        for (const Src& row : facts.sources) undefined |= Get(bits, row, lane);
        Set(bits, to, lane, (undefined | (0 - undefined)) & Ones(to.bytes));
      });
      return;
    }
    default:
      break;
  }
  for (const Src& row : facts.dests) SetAll(bits, row, mask, any);
  if (facts.writes_carry) Of(warp).carry = (Of(warp).carry & ~mask) | (any & mask);
}

ExecResult DefinedChecker::Before(WarpState& warp, const Inst& inst) {
  const DefinedFacts& facts = FactsOf(inst);
  const uint32_t mask = warp.mask;
  FrameBits& bits = Of(*warp.frame);
  for (const DefinedFacts::Use& use : facts.uses) {
    const uint32_t undefined = AnyOf(bits, use.row, mask);
    if (undefined == 0) continue;
    if (Report(warp, inst, std::countr_zero(undefined), bits, use.row, use.operand, use.what) ==
        ExecResult::kFault)
      return ExecResult::kFault;
    SetAll(bits, use.row, mask, 0);
  }
  const Inst* const origin = OriginOf(bits, facts, facts.rule == Rule::kShuffle ? ~0u : mask);
  switch (facts.rule) {
    case Rule::kRoute:
    case Rule::kShuffle:
      Route(warp, inst, facts, mask);
      break;
    case Rule::kTable:
      Table(warp, inst, facts, mask);
      break;
    case Rule::kSelect:
      Select(warp, inst, facts, mask);
      break;
    case Rule::kMatrix:
    case Rule::kWgmma:
      if (!facts.dests.empty()) Matrix(warp, inst, facts, mask);
      break;
    case Rule::kAny:
    case Rule::kNothing:
    case Rule::kSum:
    case Rule::kCarry:
    case Rule::kVote:
    case Rule::kBallot:
    case Rule::kWarp:
      Lanes(warp, inst, facts, mask);
      break;
    case Rule::kReturn:
      Leave(warp, mask);
      return ExecResult::kNext;
    case Rule::kAtomic: {
      // An operand may be overwritten by the result.
      const int at = inst.text->op == Op::kAtom ? 2 : 1;
      const BoundOperand& value = inst.op(at);
      const int count = value.num_elements != 0 ? std::min<int>(value.num_elements, 8) : 1;
      ForLanes(mask, [&](int lane) {
        for (int i = 0; i < count; ++i) {
          const Src row = value.num_elements != 0 ? value.elements[i].row : value.row;
          uint64_t undefined = Get(bits, row, lane) | (row.bytes == 16 ? Get(bits, row, lane, 1) : 0);
          if (inst.text->Has("cas") && inst.num_operands > at + 1)
            undefined |= Get(bits, inst.src(at + 1), lane);
          operand_bits_[static_cast<size_t>(lane * 8 + i)] = undefined;
        }
      });
      return ExecResult::kNext;
    }
    default:
      return ExecResult::kNext;
  }
  SetOrigin(bits, facts, mask, origin);
  for (const Src& row : facts.dests) SetAll(bits, row, late_, ~0u);
  late_ = 0;
  return ExecResult::kNext;
}

void DefinedChecker::Gathered(WarpState& warp, uint32_t mask) {
  uint32_t any = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (int i = 0; i < warp.num_groups; ++i) {
      const Group& group = warp.groups[static_cast<size_t>(i)];
      if (group.wait != Group::Wait::kSync || (group.mask & ~mask) != 0) continue;
      const DefinedFacts& facts = FactsOf(group.frame->function->code[group.pc]);
      FrameBits& bits = Of(*group.frame);
      if (pass == 0)
        for (const Src& row : facts.sources) any |= AnyOf(bits, row, group.mask);
      else
        for (const Src& row : facts.dests) SetAll(bits, row, group.mask, any != 0 ? ~0u : 0);
    }
}

}  // namespace understudy::emu::ptx
