// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "absl/strings/str_format.h"
#include "emu/ptx/core/launch_state.h"
#include "emu/ptx/semantics/control.h"
#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx {
namespace {

ExecResult Nothing(Warp&, const Inst&) { return ExecResult::kNext; }
ExecResult Pause(Warp&, const Inst&) { return ExecResult::kYield; }

ExecResult Trap(Warp& warp, const Inst&) {
  return warp.Fail(FaultKind::kTrap, std::countr_zero(warp.mask), "trap");
}
ExecResult Breakpoint(Warp& warp, const Inst&) {
  return warp.Fail(FaultKind::kBreakpoint, std::countr_zero(warp.mask), "brkpt");
}

uint32_t& StackTop(Warp& warp, int lane) {
  return static_cast<FrameState*>(warp.frame)->stack_top[static_cast<size_t>(lane)];
}

// alloca.type ptr, size{, alignment}: the address in .local.
ExecResult Alloca(Warp& warp, const Inst& inst) {
  for (uint32_t m = warp.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const uint64_t size = warp.Lane(inst.src(1), lane);
    uint64_t alignment = inst.num_operands > 2 ? warp.Lane(inst.src(2), lane) : 8;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
      return warp.Fail(FaultKind::kMisaligned, lane,
                       absl::StrFormat("alloca with alignment %d: expected a power of two", alignment));
    const uint64_t begin = (uint64_t{StackTop(warp, lane)} + alignment - 1) / alignment * alignment;
    if (size > warp.local_bytes || begin + size > warp.local_bytes)
      return warp.Fail(FaultKind::kStackOverflow, lane,
                       absl::StrFormat("alloca of %d bytes at %d: the stack's limit is %d", size, begin,
                                       warp.local_bytes));
    StackTop(warp, lane) = static_cast<uint32_t>(begin + size);
    warp.SetLane(inst.src(0), lane, begin);
  }
  return ExecResult::kNext;
}

ExecResult StackSave(Warp& warp, const Inst& inst) {
  for (uint32_t m = warp.mask; m != 0; m &= m - 1)
    warp.SetLane(inst.src(0), std::countr_zero(m), StackTop(warp, std::countr_zero(m)));
  return ExecResult::kNext;
}

ExecResult StackRestore(Warp& warp, const Inst& inst) {
  for (uint32_t m = warp.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const uint64_t top = warp.Lane(inst.src(0), lane);
    if (top > StackTop(warp, lane))
      return warp.Fail(
          FaultKind::kStackOverflow, lane,
          absl::StrFormat("stackrestore to %d above the top of the stack %d", top, StackTop(warp, lane)));
    StackTop(warp, lane) = static_cast<uint32_t>(top);
  }
  return ExecResult::kNext;
}

}  // namespace

Exec FindControlExec(const Instruction& inst, const ExecContext&) {
  Exec exec;
  exec.state = SemanticState::kExact;
  const auto found = [&](ExecFn fn) {
    exec.fn = fn;
    return exec;
  };
  switch (inst.op) {
    case Op::kBra:
      return found(BraExec);
    case Op::kBrx:
      return found(BrxExec);
    case Op::kCall:
      return found(CallExec);
    case Op::kRet:
      return found(RetExec);
    case Op::kExit:
      return found(ExitExec);
    case Op::kTrap:
      return found(Trap);
    case Op::kBrkpt:
      return found(Breakpoint);
    case Op::kNanosleep:
      return found(Pause);
    case Op::kPmevent:
    case Op::kGriddepcontrol:
    case Op::kSetmaxnreg:
      return found(Nothing);
    case Op::kAlloca:
      return found(Alloca);
    case Op::kStacksave:
      return found(StackSave);
    case Op::kStackrestore:
      return found(StackRestore);
    default:
      break;
  }
  if (FindBarrierExec(inst, &exec) || FindWarpOpExec(inst, &exec)) return exec;
  return {};
}

}  // namespace understudy::emu::ptx
