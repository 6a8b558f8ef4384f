// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/core/divergence.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_format.h"
#include "emu/ptx/check/observer.h"
#include "emu/ptx/core/barriers.h"
#include "emu/ptx/core/launch_state.h"
#include "emu/ptx/core/wrappers.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint32_t kMaxPatience = 16384, kMinPatience = 128;

void RemoveGroup(WarpState& warp, int index) {
  const int last = --warp.num_groups;
  if (index != last) warp.groups[static_cast<size_t>(index)] = warp.groups[static_cast<size_t>(last)];
  if (warp.current == index)
    warp.current = -1;
  else if (warp.current == last)
    warp.current = index;
}

void FreeScope(WarpState& warp, Scope* scope) {
  if (scope->callee != nullptr) {
    FrameState* frame = scope->callee;
    FrameState*& head = warp.free_frames[static_cast<size_t>(frame->function->index)];
    frame->next_free = head;
    head = frame;
    return;
  }
  scope->parent = warp.free_scopes;
  warp.free_scopes = scope;
}

// All lanes that still come have come, or none are left.
void SettleScope(WarpState& warp, Scope* scope) {
  if (scope->expected != scope->arrived) return;
  if (scope->expected == 0) {
    FreeScope(warp, scope);
    return;
  }
  Group group;
  group.mask = scope->arrived;
  group.pc = scope->pc;
  group.frame = scope->frame;
  group.scope = scope->parent;
  warp.parked &= ~group.mask;
  FreeScope(warp, scope);
  warp.impatience = 0;
  PlaceGroup(warp, group);
}

// Lanes that will never come to the ends of the scopes from `scope` up to `until`.
void LeaveScopes(WarpState& warp, Scope* scope, Scope* until, uint32_t mask) {
  while (scope != until && scope != nullptr) {
    Scope* const parent = scope->parent;
    scope->expected &= ~mask;
    SettleScope(warp, scope);
    scope = parent;
  }
}

// Takes lanes out of the current group; the rest goes on behind the instruction.
void TakeLanes(WarpState& warp, uint32_t mask) {
  Group rest = warp.groups[static_cast<size_t>(warp.current)];
  RemoveGroup(warp, warp.current);
  rest.mask &= ~mask;
  rest.pc = warp.pc + 1;
  if (rest.mask != 0) PlaceGroup(warp, rest);
}

}  // namespace

FrameState* NewFrame(WarpState& warp, const BoundFunction& function, FrameState* caller, uint32_t return_pc,
                     uint32_t mask, Scope* parent) {
  uint32_t local_base = warp.launch->program->module_local_bytes();
  if (caller != nullptr) {
    local_base = 0;
    for (uint32_t m = mask; m != 0; m &= m - 1)
      local_base = std::max(local_base, caller->stack_top[static_cast<size_t>(std::countr_zero(m))]);
    local_base = (local_base + 15) / 16 * 16;
  }
  const uint64_t top = uint64_t{local_base} + StackFrameBytes(function);
  if (top > warp.local_bytes) {
    warp.Fail(FaultKind::kStackOverflow, std::countr_zero(mask),
              absl::StrFormat("the call of %s needs %d bytes of stack, the limit is %d", function.text->name,
                              top, warp.local_bytes));
    return nullptr;
  }
  FrameState*& head = warp.free_frames[static_cast<size_t>(function.index)];
  FrameState* frame = head;
  if (frame != nullptr) {
    head = frame->next_free;
  } else {
    warp.frames.push_back(std::make_unique<FrameState>());
    frame = warp.frames.back().get();
    frame->function = &function;
    const size_t params = (size_t{function.param_bytes} * kWarpSize + 63) / 64 * 64;
    warp.frame_memory.push_back(std::make_unique<uint8_t[]>(function.frame_bytes + params + 64));
    auto address = reinterpret_cast<uintptr_t>(warp.frame_memory.back().get());
    frame->rows = reinterpret_cast<uint8_t*>((address + 63) / 64 * 64);
    frame->params = frame->rows + function.frame_bytes;
  }
  std::memset(frame->rows, 0, function.frame_bytes + size_t{function.param_bytes} * kWarpSize);
  frame->caller = caller;
  frame->return_pc = return_pc;
  frame->local_base = local_base;
  frame->stack_top.fill(static_cast<uint32_t>(top));
  frame->scope = Scope{caller, return_pc, mask, 0, parent, frame};
  for (const BoundFunction::LocalRow& row : function.local_rows) {
    const uint64_t value = static_cast<uint64_t>(row.offset) + (row.module_scope ? 0 : local_base);
    if (row.bytes == 8)
      std::fill_n(reinterpret_cast<uint64_t*>(frame->rows + row.row), kWarpSize, value);
    else
      std::fill_n(reinterpret_cast<uint32_t*>(frame->rows + row.row), kWarpSize,
                  static_cast<uint32_t>(value));
  }
  if (warp.launch->observer != nullptr) warp.launch->observer->NewFrame(warp, *frame, mask);
  return frame;
}

bool StartWarp(WarpState& warp, const BoundFunction& kernel) {
  // Whatever a launch that failed has left.
  warp.free_frames.assign(warp.launch->program->functions().size(), nullptr);
  for (const auto& frame : warp.frames) {
    FrameState*& head = warp.free_frames[static_cast<size_t>(frame->function->index)];
    frame->next_free = head;
    head = frame.get();
  }
  warp.scopes.clear();
  warp.free_scopes = nullptr;
  warp.exited = 0;
  warp.carry = 0;
  warp.parked = warp.impatience = warp.idle_rounds = 0;
  warp.patience = kMaxPatience;
  warp.executed = warp.executed_of_group = 0;
  warp.cluster_phase.fill(0);
  warp.cluster_arrived = 0;
  warp.async = nullptr;
  warp.async_owner.reset();
  Group group;
  group.mask = warp.lanes;
  group.frame = NewFrame(warp, kernel, nullptr, 0, warp.lanes, nullptr);
  if (group.frame == nullptr) return false;
  warp.groups[0] = group;
  warp.num_groups = 1;
  warp.reload = false;
  LoadGroup(warp, 0);
  return true;
}

Scope* NewScope(WarpState& warp, FrameState* frame, uint32_t pc, uint32_t expected, Scope* parent) {
  Scope* scope = warp.free_scopes;
  if (scope != nullptr) {
    warp.free_scopes = scope->parent;
  } else {
    scope = &warp.scopes.emplace_back();
  }
  *scope = Scope{frame, pc, expected, 0, parent, nullptr};
  return scope;
}

void PlaceGroup(WarpState& warp, Group group) {
  group.wait = Group::Wait::kNone;
  while (group.scope != nullptr && group.scope->pc == group.pc && group.scope->frame == group.frame) {
    Scope* const scope = group.scope;
    scope->arrived |= group.mask;
    if (scope->arrived != scope->expected) {
      warp.parked |= group.mask;
      return;
    }
    group.mask = scope->arrived;
    group.scope = scope->parent;
    warp.parked &= ~group.mask;
    warp.impatience = 0;
    warp.patience = std::min(warp.patience * 2, kMaxPatience);
    FreeScope(warp, scope);
  }
  warp.groups[static_cast<size_t>(warp.num_groups++)] = group;
}

void Diverge(WarpState& warp, const LanesAt* parts, int count, uint32_t reconverge) {
  Group group = warp.groups[static_cast<size_t>(warp.current)];
  if (reconverge != ~0u &&
      !(group.scope != nullptr && group.scope->frame == group.frame && group.scope->pc == reconverge))
    group.scope = NewScope(warp, group.frame, reconverge, group.mask, group.scope);
  RemoveGroup(warp, warp.current);
  for (int i = 0; i < count; ++i) {
    if (parts[i].mask == 0) continue;
    group.mask = parts[i].mask;
    group.pc = parts[i].pc;
    PlaceGroup(warp, group);
  }
  warp.current = warp.num_groups - 1;
  warp.reload = true;
}

void StepOver(WarpState& warp) {
  TakeLanes(warp, 0);
  warp.current = warp.num_groups - 1;
  warp.reload = true;
}

void ReturnLanes(WarpState& warp, uint32_t mask) {
  Group group = warp.groups[static_cast<size_t>(warp.current)];
  FrameState* const frame = group.frame;
  TakeLanes(warp, mask);
  LeaveScopes(warp, group.scope, &frame->scope, mask);
  group.mask = mask;
  group.pc = frame->return_pc;
  group.frame = static_cast<FrameState*>(frame->caller);
  group.scope = &frame->scope;
  PlaceGroup(warp, group);
  if (warp.current < 0) warp.current = warp.num_groups - 1;
  warp.reload = true;
}

void ExitLanes(WarpState& warp, uint32_t mask) {
  const Group group = warp.groups[static_cast<size_t>(warp.current)];
  TakeLanes(warp, mask);
  warp.exited |= mask;
  LeaveScopes(warp, group.scope, nullptr, mask);
  warp.reload = true;
  LanesHaveExited(warp);
}

Group& WaitHere(WarpState& warp, uint32_t mask, Group::Wait wait) {
  Group group = warp.groups[static_cast<size_t>(warp.current)];
  const uint32_t again = warp.mask & ~mask, skip = group.mask & ~warp.mask;
  if (again != 0 || skip != 0) {
    Scope* const scope = group.scope;
    if (scope == nullptr || scope->frame != group.frame || scope->pc != warp.pc + 1)
      group.scope = NewScope(warp, group.frame, warp.pc + 1, group.mask, scope);
    RemoveGroup(warp, warp.current);
    Group other = group;
    other.mask = skip;
    other.pc = warp.pc + 1;
    if (skip != 0) PlaceGroup(warp, other);
    other.mask = again;
    other.pc = warp.pc;
    if (again != 0) PlaceGroup(warp, other);
    group.mask = mask;
    warp.groups[static_cast<size_t>(warp.num_groups)] = group;
    warp.current = warp.num_groups++;
  }
  Group& waiting = warp.groups[static_cast<size_t>(warp.current)];
  waiting.mask = mask;
  waiting.pc = warp.pc;
  waiting.wait = wait;
  warp.reload = true;
  return waiting;
}

void Wake(WarpState& warp, int index) {
  Group group = warp.groups[static_cast<size_t>(index)];
  ++group.pc;
  RemoveGroup(warp, index);
  PlaceGroup(warp, group);
}

bool ReleaseParked(WarpState& warp, uint32_t wanted) {
  if ((warp.parked & wanted) == 0) return false;
  // Scopes are reached through the groups, whose lanes are the ones that the parked wait for.
  bool released = false;
  for (int i = 0; i < warp.num_groups; ++i) {
    Scope* scope = warp.groups[static_cast<size_t>(i)].scope;
    while (scope != nullptr) {
      Scope* const parent = scope->parent;
      if ((scope->arrived & wanted) != 0) {
        Group group;
        group.mask = scope->arrived;
        group.pc = scope->pc;
        group.frame = scope->frame;
        group.scope = parent;
        warp.parked &= ~group.mask;
        scope->expected &= ~scope->arrived;
        scope->arrived = 0;
        PlaceGroup(warp, group);
        released = true;
        if (wanted == ~0u) {
          // The innermost first: those outside may still meet in order.
          warp.impatience = 0;
          warp.patience = std::max(warp.patience / 2, kMinPatience);
          warp.reload = true;
          return true;
        }
      }
      scope = parent;
    }
  }
  if (released) warp.reload = true;
  return released;
}

void MergeGroups(WarpState& warp) {
  for (int i = 0; i < warp.num_groups; ++i)
    for (int k = i + 1; k < warp.num_groups;) {
      Group& a = warp.groups[static_cast<size_t>(i)];
      const Group& b = warp.groups[static_cast<size_t>(k)];
      if (a.pc == b.pc && a.frame == b.frame && a.scope == b.scope && a.wait == Group::Wait::kNone &&
          b.wait == Group::Wait::kNone) {
        a.mask |= b.mask;
        RemoveGroup(warp, k);
      } else {
        ++k;
      }
    }
}

}  // namespace understudy::emu::ptx
