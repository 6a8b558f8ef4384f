// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/core/wrappers.h"

#include <bit>
#include <cstring>

#include "emu/ptx/check/observer.h"
#include "emu/ptx/core/divergence.h"
#include "emu/ptx/core/launch_state.h"
#include "emu/ptx/core/special_registers.h"

namespace understudy::emu::ptx {
namespace {

void FillClocks(WarpState& warp) {
  for (const SpecialRow& row : warp.launch->program->special_rows())
    if (IsDynamic(static_cast<Special>(row.special))) FillSpecial(warp, row);
}

// Rows that stand for one operand of a warp-synchronous instruction whose lanes come from several places.
class GatheredOperands {
 public:
  explicit GatheredOperands(WarpState& warp) : warp_(warp) {
    warp.scratch.assign(kMaxRows * kRowBytes / 8 + 8, 0);
    base_ = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(warp.scratch.data()) + 63) / 64 * 64);
  }

  uint8_t* base() const { return base_; }

  // The operands with fresh rows; false when there are too many.
  bool Clone(const BoundOperand* from, int count, std::vector<BoundOperand>* to) {
    to->assign(from, from + count);
    for (BoundOperand& operand : *to) {
      if (operand.num_elements != 0) {
        nested_.push_back(std::make_unique<std::vector<BoundOperand>>());
        std::vector<BoundOperand>* elements = nested_.back().get();
        if (!Clone(operand.elements, operand.num_elements, elements)) return false;
        operand.elements = elements->data();
        continue;
      }
      if (rows_ == kMaxRows) return false;
      operand.row.base = Src::kFrame;
      operand.row.offset = kRowBytes * rows_++;
      operand.row.negated = false;
      operand.row.sink = false;
      if (operand.kind == Operand::Kind::kAddress) {
        operand.row.bytes = 8;
        operand.offset = 0;
      }
    }
    return true;
  }

  // Copies the group's values of the operands into the rows, or (`back`) the rows into its registers. False
  // where the two have different shapes.
  bool Copy(const Group& group, const BoundOperand* own, int own_count, const BoundOperand* rows, int count,
            bool back) {
    if (own_count != count) return false;
    for (int i = 0; i < count; ++i) {
      if (own[i].num_elements != rows[i].num_elements) return false;
      if (own[i].num_elements != 0) {
        if (!Copy(group, own[i].elements, own[i].num_elements, rows[i].elements, rows[i].num_elements, back))
          return false;
        continue;
      }
      if (back) {
        if (!own[i].row.sink && own[i].kind == Operand::Kind::kRegister)
          CopyRow(group, own[i], rows[i], true);
      } else {
        CopyRow(group, own[i], rows[i], false);
      }
    }
    return true;
  }

 private:
  static constexpr uint32_t kRowBytes = 512, kMaxRows = 256;

  void CopyRow(const Group& group, const BoundOperand& own, const BoundOperand& row, bool back) {
    for (uint32_t m = group.mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      if (back) {
        warp_.base[Src::kFrame] = base_;
        const uint64_t value = warp_.Lane(row.row, lane);
        warp_.base[Src::kFrame] = group.frame->rows;
        warp_.SetLane(own.row, lane, value);
      } else {
        warp_.base[Src::kFrame] = group.frame->rows;
        uint64_t value = warp_.Lane(own.row, lane);
        if (own.kind == Operand::Kind::kAddress) value += static_cast<uint64_t>(own.offset);
        warp_.base[Src::kFrame] = base_;
        warp_.SetLane(row.row, lane, value);
      }
    }
  }

  WarpState& warp_;
  uint8_t* base_ = nullptr;
  uint32_t rows_ = 0;
  std::vector<std::unique_ptr<std::vector<BoundOperand>>> nested_;
};

const Inst& InstOf(const Group& group) { return group.frame->function->code[group.pc]; }

bool SameQualifiers(const Inst& a, const Inst& b) {
  return a.text->op == b.text->op && a.text->modifiers == b.text->modifiers;
}

// Groups in `members` (indices) have all come: executes for them together.
ExecResult ExecuteTogether(WarpState& warp, const int* members, int count) {
  const Group first = warp.groups[static_cast<size_t>(members[0])];
  const Inst& inst = InstOf(first);
  bool one_place = true;
  uint32_t mask = 0;
  for (int i = 0; i < count; ++i) {
    const Group& group = warp.groups[static_cast<size_t>(members[i])];
    one_place = one_place && group.pc == first.pc && group.frame == first.frame;
    mask |= group.mask;
  }
  warp.frame = first.frame;
  warp.pc = first.pc;
  warp.mask = mask;
  Observer* const observer = warp.launch->observer;
  if (one_place) {
    warp.base[Src::kFrame] = first.frame->rows;
    return observer != nullptr ? observer->ExecuteTogether(warp, inst, false) : inst.wrapped(warp, inst);
  }
  GatheredOperands gathered(warp);
  std::vector<BoundOperand> rows;
  if (!gathered.Clone(inst.operands, inst.num_operands, &rows))
    return warp.Fail(FaultKind::kRefused, std::countr_zero(mask),
                     "a warp-synchronous instruction of this many operands, reached at several places");
  for (int i = 0; i < count; ++i) {
    const Group& group = warp.groups[static_cast<size_t>(members[i])];
    const Inst& own = InstOf(group);
    if (!gathered.Copy(group, own.operands, own.num_operands, rows.data(), static_cast<int>(rows.size()),
                       false))
      return warp.Fail(FaultKind::kBarrier, std::countr_zero(group.mask),
                       "lanes have come to warp-synchronous instructions with different kinds of operands");
  }
  Inst together = inst;
  together.operands = rows.data();
  warp.base[Src::kFrame] = gathered.base();
  const ExecResult result = observer != nullptr ? observer->ExecuteTogether(warp, together, true)
                                                : together.wrapped(warp, together);
  if (inst.has_destination && result != ExecResult::kFault)
    for (int i = 0; i < count; ++i) {
      const Group& group = warp.groups[static_cast<size_t>(members[i])];
      gathered.Copy(group, InstOf(group).operands, 1, rows.data(), 1, true);
    }
  return result;
}

// Where the results of a call go: called for lanes that return.
void CopyReturns(WarpState& warp, FrameState& frame, uint32_t mask) {
  FrameState& caller = *static_cast<FrameState*>(frame.caller);
  const BoundFunction& function = *frame.function;
  const Inst& call = caller.function->code[frame.return_pc - 1];
  const CallPlan& plan = *reinterpret_cast<const CallPlan*>(call.aux[0]);
  for (size_t i = 0; i < plan.returns.size() && i < function.text->returns.size(); ++i) {
    const CallPlan::Value& to = plan.returns[i];
    if (to.sink) continue;
    const int reg = i < function.text->return_registers.size() ? function.text->return_registers[i] : -1;
    const uint64_t bytes = function.text->returns[i].size;
    for (uint32_t m = mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      uint8_t* target =
          caller.params + static_cast<size_t>(lane) * caller.function->param_bytes + to.param_offset;
      const uint8_t* source = frame.params + static_cast<size_t>(lane) * function.param_bytes +
                              (reg >= 0 ? 0 : function.return_offsets[i]);
      uint64_t value = 0;
      if (reg >= 0) {
        warp.base[Src::kFrame] = frame.rows;
        value = warp.Lane(function.registers[static_cast<size_t>(reg)], lane);
      } else if (!to.in_param) {
        std::memcpy(&value, source, bytes < 8 ? bytes : 8);
      }
      if (!to.in_param) {
        warp.base[Src::kFrame] = caller.rows;
        warp.SetLane(to.row, lane, value);
      } else if (reg >= 0) {
        std::memcpy(target, &value, bytes < 8 ? bytes : 8);
      } else {
        const uint64_t room = caller.function->param_bytes - to.param_offset;
        std::memcpy(target, source, bytes < room ? bytes : room);
      }
    }
  }
}

}  // namespace

template <bool kChecked>
ExecResult WarpSync(Warp& base, const Inst& inst) {
  WarpState& warp = static_cast<WarpState&>(base);
  if (inst.reads_clock) FillClocks(warp);
  const uint32_t executing = warp.mask;
  uint32_t members = ~0u;
  if (inst.member_mask >= 0) {
    const uint32_t* row = warp.U32(inst.src(inst.member_mask));
    const int first = std::countr_zero(executing);
    members = row[first];
    if (inst.src(inst.member_mask).base != Src::kConstant) {
      uint32_t same = 0;
      for (uint32_t m = executing; m != 0; m &= m - 1) {
        const int lane = std::countr_zero(m);
        if (row[lane] == members) same |= 1u << lane;
      }
      if (same != executing) {
        // Lanes of another mask try again by themselves.
        WaitHere(warp, same, Group::Wait::kSync).sync_mask = members;
        return ResolveSyncs(warp) ? ExecResult::kControl : ExecResult::kFault;
      }
    }
  }
  if ((members & warp.live() & ~executing) == 0)
    return kChecked ? warp.launch->observer->ExecuteTogether(warp, inst, false) : inst.wrapped(warp, inst);
  WaitHere(warp, executing, Group::Wait::kSync).sync_mask = members;
  return ResolveSyncs(warp) ? ExecResult::kControl : ExecResult::kFault;
}

ExecResult WarpSyncExec(Warp& warp, const Inst& inst) { return WarpSync<false>(warp, inst); }
ExecResult CheckedWarpSyncExec(Warp& warp, const Inst& inst) { return WarpSync<true>(warp, inst); }

bool ResolveSyncs(WarpState& warp) {
  for (int i = 0; i < warp.num_groups; ++i) {
    const Group& group = warp.groups[static_cast<size_t>(i)];
    if (group.wait != Group::Wait::kSync) continue;
    int members[kWarpSize];
    int count = 0;
    uint32_t come = 0;
    for (int k = 0; k < warp.num_groups; ++k) {
      const Group& other = warp.groups[static_cast<size_t>(k)];
      if (other.wait != Group::Wait::kSync || other.sync_mask != group.sync_mask ||
          !SameQualifiers(InstOf(group), InstOf(other)))
        continue;
      members[count++] = k;
      come |= other.mask;
    }
    if ((group.sync_mask & warp.live() & ~come) != 0) continue;
    if (ExecuteTogether(warp, members, count) == ExecResult::kFault) return false;
    // From the last: waking moves the last group into the place of the one that wakes.
    Group woken[kWarpSize];
    for (int k = 0; k < count; ++k) woken[k] = warp.groups[static_cast<size_t>(members[k])];
    for (int k = 0; k < count; ++k)
      for (int g = 0; g < warp.num_groups; ++g) {
        const Group& candidate = warp.groups[static_cast<size_t>(g)];
        if (candidate.wait == Group::Wait::kSync && candidate.mask == woken[k].mask) {
          Wake(warp, g);
          break;
        }
      }
    MergeGroups(warp);
    warp.reload = true;
    i = -1;
  }
  return true;
}

ExecResult ReadClockExec(Warp& base, const Inst& inst) {
  FillClocks(static_cast<WarpState&>(base));
  return inst.wrapped(base, inst);
}

ExecResult RefusedExec(Warp& warp, const Inst& inst) {
  return warp.Fail(FaultKind::kRefused, std::countr_zero(warp.mask),
                   reinterpret_cast<const char*>(inst.aux[0]));
}

ExecResult ReturnFrom(WarpState& warp, uint32_t mask) {
  FrameState* const frame = warp.groups[static_cast<size_t>(warp.current)].frame;
  if (frame->caller == nullptr) {
    ExitLanes(warp, mask);
    return warp.fault->kind == FaultKind::kNone ? ExecResult::kControl : ExecResult::kFault;
  }
  CopyReturns(warp, *frame, mask);
  ReturnLanes(warp, mask);
  return ExecResult::kControl;
}

ExecResult EndExec(Warp& base, const Inst&) {
  WarpState& warp = static_cast<WarpState&>(base);
  return ReturnFrom(warp, warp.mask);
}

}  // namespace understudy::emu::ptx
