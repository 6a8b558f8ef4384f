// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/control.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "absl/strings/str_format.h"
#include "emu/ptx/core/divergence.h"
#include "emu/ptx/core/launch_state.h"
#include "emu/ptx/core/wrappers.h"

namespace understudy::emu::ptx {
namespace {

void PutParam(uint8_t* params, uint32_t stride, int64_t offset, int lane, uint64_t value, uint64_t bytes) {
  std::memcpy(params + static_cast<size_t>(lane) * stride + offset, &value, std::min<uint64_t>(bytes, 8));
}

// Arguments of the lanes in `mask` into the .param space at `params` and, those in registers, into `rows`.
void PassArguments(WarpState& warp, const CallPlan& plan, const FrameState& caller, uint32_t mask,
                   const BoundFunction& callee, const std::vector<int64_t>& offsets, uint8_t* params,
                   uint32_t stride, uint8_t* rows) {
  uint8_t* const own = warp.base[Src::kFrame];
  for (size_t i = 0; i < plan.arguments.size() && i < callee.text->parameters.size(); ++i) {
    const CallPlan::Value& from = plan.arguments[i];
    const uint64_t bytes = callee.text->parameters[i].size;
    const int reg = i < callee.text->parameter_registers.size() ? callee.text->parameter_registers[i] : -1;
    for (uint32_t m = mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      const uint8_t* source =
          caller.params + static_cast<size_t>(lane) * caller.function->param_bytes + from.param_offset;
      if (reg < 0 && from.in_param) {
        const uint64_t room = caller.function->param_bytes - from.param_offset;
        std::memcpy(params + static_cast<size_t>(lane) * stride + offsets[i], source, std::min(bytes, room));
        continue;
      }
      uint64_t value = 0;
      if (from.in_param) {
        std::memcpy(&value, source, std::min<uint64_t>(bytes, 8));
      } else if (!from.sink) {
        warp.base[Src::kFrame] = own;
        value = warp.Lane(from.row, lane);
      }
      if (reg >= 0 && rows != nullptr) {
        warp.base[Src::kFrame] = rows;
        warp.SetLane(callee.registers[static_cast<size_t>(reg)], lane, value);
      } else {
        PutParam(params, stride, offsets[i], lane, value, bytes);
      }
    }
  }
  warp.base[Src::kFrame] = own;
}

// The results of a function of the device runtime.
void TakeBuiltinResults(WarpState& warp, const CallPlan& plan, FrameState& caller,
                        const BoundFunction& callee, const std::vector<int64_t>& offsets,
                        const uint8_t* params, uint32_t stride) {
  for (size_t i = 0; i < plan.returns.size() && i < callee.text->returns.size(); ++i) {
    const CallPlan::Value& to = plan.returns[i];
    if (to.sink) continue;
    const size_t bytes = std::min<size_t>(callee.text->returns[i].size, 8);
    for (uint32_t m = warp.mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      uint64_t value = 0;
      std::memcpy(&value, params + static_cast<size_t>(lane) * stride + offsets[i], bytes);
      if (to.in_param)
        std::memcpy(
            caller.params + static_cast<size_t>(lane) * caller.function->param_bytes + to.param_offset,
            &value, bytes);
      else
        warp.SetLane(to.row, lane, value);
    }
  }
}

ExecResult CallRuntime(WarpState& warp, const CallPlan& plan, const BoundFunction& callee) {
  FrameState& caller = *static_cast<FrameState*>(warp.frame);
  std::vector<int64_t> offsets, results;
  uint64_t end = 0;
  const auto place = [&](const std::vector<Variable>& variables, std::vector<int64_t>* out) {
    for (const Variable& variable : variables) {
      const uint64_t alignment = std::max<uint64_t>(variable.alignment, 8);
      end = (end + alignment - 1) / alignment * alignment;
      out->push_back(static_cast<int64_t>(end));
      end += std::max<uint64_t>(variable.size, 8);
    }
  };
  place(callee.text->parameters, &offsets);
  place(callee.text->returns, &results);
  const uint32_t stride = static_cast<uint32_t>(end + 64);
  std::vector<uint8_t> params(size_t{stride} * kWarpSize, 0);
  PassArguments(warp, plan, caller, warp.mask, callee, offsets, params.data(), stride, nullptr);
  const ExecResult result = CallBuiltin(warp, callee, params.data(), stride);
  if (result == ExecResult::kFault) return result;
  TakeBuiltinResults(warp, plan, caller, callee, results, params.data(), stride);
  return ExecResult::kNext;
}

// The group of `mask` lanes (the current one) enters the function.
ExecResult Enter(WarpState& warp, const CallPlan& plan, const BoundFunction& callee) {
  Group& group = warp.groups[static_cast<size_t>(warp.current)];
  FrameState* const caller = group.frame;
  FrameState* const frame = NewFrame(warp, callee, caller, warp.pc + 1, group.mask, group.scope);
  if (frame == nullptr) return ExecResult::kFault;
  warp.base[Src::kFrame] = caller->rows;
  PassArguments(warp, plan, *caller, group.mask, callee, callee.parameter_offsets, frame->params,
                callee.param_bytes, frame->rows);
  for (const BoundFunction::SpilledParam& spilled : callee.spilled_params)
    for (uint32_t m = group.mask; m != 0; m &= m - 1) {
      const size_t lane = static_cast<size_t>(std::countr_zero(m));
      std::memcpy(warp.local + lane * warp.local_bytes + frame->local_base + spilled.local_offset,
                  frame->params + lane * callee.param_bytes + spilled.param_offset, spilled.bytes);
    }
  group.frame = frame;
  group.scope = &frame->scope;
  group.pc = 0;
  warp.pc = 0;
  warp.reload = true;
  return ExecResult::kControl;
}

// Makes the lanes in `mask` the current group, at the same instruction; the others of Warp::mask stay behind
// as a group that tries again, those whose guard is false go on.
void Isolate(WarpState& warp, uint32_t mask) {
  if (mask == warp.group_mask) return;
  WaitHere(warp, mask, Group::Wait::kNone);
}

const BoundFunction* CheckTarget(WarpState& warp, const Inst& inst, const CallPlan& plan, uint64_t address,
                                 int lane) {
  const Program& program = *warp.launch->program;
  const BoundFunction* callee = program.FunctionAt(address);
  if (callee == nullptr ||
      (callee->text->is_declaration && callee->builtin == BoundFunction::Builtin::kNone)) {
    warp.Fail(FaultKind::kInvalidTarget, lane,
              absl::StrFormat("call through 0x%x: no function is there", address));
    return nullptr;
  }
  const auto& prototypes = warp.frame->function->text->prototypes;
  if (plan.prototype >= 0 && static_cast<size_t>(plan.prototype) < prototypes.size()) {
    const Prototype& prototype = prototypes[static_cast<size_t>(plan.prototype)];
    if (!prototype.targets.empty() &&
        std::find_if(prototype.targets.begin(), prototype.targets.end(), [&](int target) {
          return program.functions()[static_cast<size_t>(target)].text->name == callee->text->name;
        }) == prototype.targets.end()) {
      warp.Fail(FaultKind::kInvalidTarget, lane,
                absl::StrFormat("call of %s, which is not among the .calltargets of '%s'", callee->text->name,
                                prototype.label));
      return nullptr;
    }
  }
  if (plan.arguments.size() != callee->text->parameters.size() ||
      plan.returns.size() != callee->text->returns.size()) {
    warp.Fail(FaultKind::kInvalidTarget, lane,
              absl::StrFormat("call of %s with %d arguments and %d results: it has %d and %d",
                              callee->text->name, plan.arguments.size(), plan.returns.size(),
                              callee->text->parameters.size(), callee->text->returns.size()));
    return nullptr;
  }
  (void)inst;
  return callee;
}

}  // namespace

ExecResult BraExec(Warp& base, const Inst& inst) {
  WarpState& warp = static_cast<WarpState&>(base);
  const uint32_t target = static_cast<uint32_t>(inst.op(0).index);
  if (warp.mask == warp.group_mask) {
    warp.pc = target;
    return ExecResult::kControl;
  }
  const LanesAt parts[2] = {{warp.mask, target}, {warp.group_mask & ~warp.mask, warp.pc + 1}};
  Diverge(warp, parts, 2, inst.reconverge);
  return ExecResult::kControl;
}

ExecResult BrxExec(Warp& base, const Inst& inst) {
  WarpState& warp = static_cast<WarpState&>(base);
  const BoundOperand& list = *reinterpret_cast<const BoundOperand*>(inst.aux[0]);
  LanesAt parts[kWarpSize + 1];
  int count = 0;
  for (uint32_t m = warp.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const uint64_t index = warp.Lane(inst.src(0), lane);
    if (index >= list.num_elements)
      return warp.Fail(
          FaultKind::kInvalidTarget, lane,
          absl::StrFormat("brx.idx with index %d: the list has %d targets", index, list.num_elements));
    const uint32_t target = static_cast<uint32_t>(list.elements[index].index);
    int i = 0;
    while (i < count && parts[i].pc != target) ++i;
    if (i == count) parts[count++] = {0, target};
    parts[i].mask |= 1u << lane;
  }
  const uint32_t skip = warp.group_mask & ~warp.mask;
  if (count == 1 && skip == 0) {
    warp.pc = parts[0].pc;
    return ExecResult::kControl;
  }
  if (skip != 0) parts[count++] = {skip, warp.pc + 1};
  Diverge(warp, parts, count, inst.reconverge);
  return ExecResult::kControl;
}

ExecResult CallExec(Warp& base, const Inst& inst) {
  WarpState& warp = static_cast<WarpState&>(base);
  const CallPlan& plan = *reinterpret_cast<const CallPlan*>(inst.aux[0]);
  const int lane = std::countr_zero(warp.mask);
  const BoundFunction* callee = nullptr;
  if (plan.callee >= 0) {
    callee = &warp.launch->program->functions()[static_cast<size_t>(plan.callee)];
  } else {
    // Lanes that call the same function as the first; the others try again.
    const uint64_t address = warp.Lane(plan.target, lane);
    callee = CheckTarget(warp, inst, plan, address, lane);
    if (callee == nullptr) return ExecResult::kFault;
    uint32_t same = 0;
    for (uint32_t m = warp.mask; m != 0; m &= m - 1)
      if (warp.Lane(plan.target, std::countr_zero(m)) == address) same |= 1u << std::countr_zero(m);
    if (callee->builtin != BoundFunction::Builtin::kNone) {
      if (same == warp.mask) return CallRuntime(warp, plan, *callee);
      Isolate(warp, same);
      return ExecResult::kControl;
    }
    Isolate(warp, same);
    return Enter(warp, plan, *callee);
  }
  if (callee->builtin != BoundFunction::Builtin::kNone) return CallRuntime(warp, plan, *callee);
  Isolate(warp, warp.mask);
  return Enter(warp, plan, *callee);
}

ExecResult RetExec(Warp& base, const Inst&) {
  WarpState& warp = static_cast<WarpState&>(base);
  return ReturnFrom(warp, warp.mask);
}

ExecResult ExitExec(Warp& base, const Inst&) {
  WarpState& warp = static_cast<WarpState&>(base);
  ExitLanes(warp, warp.mask);
  return warp.fault->kind == FaultKind::kNone ? ExecResult::kControl : ExecResult::kFault;
}

}  // namespace understudy::emu::ptx
