// SPDX-License-Identifier: Apache-2.0
#pragma once
// Groups of lanes of a warp: how they part, wait and meet. Independent thread scheduling: any group may run
// at any time, and lanes that wait for others to meet again do so only as long as nobody needs them
// elsewhere.
//
// While a group runs it is groups[current], with its pc in Warp::pc. A function that changes groups leaves
// the warp with `reload` set, and its executor returns kControl.

#include <cstdint>

#include "emu/ptx/core/cta.h"

namespace understudy::emu::ptx {

struct LanesAt {
  uint32_t mask = 0, pc = 0;
};

// Makes the warp ready to run `kernel`: one group of all lanes at its start. `scopes` and frames are kept for
// reuse.
bool StartWarp(WarpState& warp, const BoundFunction& kernel);

// A frame for a call by `mask` lanes, its registers and parameters zero, or null after Fail().
FrameState* NewFrame(WarpState& warp, const BoundFunction& function, FrameState* caller, uint32_t return_pc,
                     uint32_t mask, Scope* parent);

Scope* NewScope(WarpState& warp, FrameState* frame, uint32_t pc, uint32_t expected, Scope* parent);
// Puts lanes at a pc: into the scope that they have come to the end of, else among the groups.
void PlaceGroup(WarpState& warp, Group group);
// Takes the current group apart into `count` parts that cover it, which meet at `reconverge` (~0: nowhere in
// this call).
void Diverge(WarpState& warp, const LanesAt* parts, int count, uint32_t reconverge);
// The current group goes on behind its instruction, as a group that may be elsewhere in `groups`.
void StepOver(WarpState& warp);
// The current group's lanes in `mask` return to the caller; the rest goes on behind the instruction.
void ReturnLanes(WarpState& warp, uint32_t mask);
void ExitLanes(WarpState& warp, uint32_t mask);
// Lanes in `mask` of the current group stay at the instruction and wait. Other lanes of Warp::mask try the
// instruction again, and lanes whose guard is false go on behind it. Returns the waiting group.
Group& WaitHere(WarpState& warp, uint32_t mask, Group::Wait wait);
// The group goes on behind its instruction.
void Wake(WarpState& warp, int group);
// Lets lanes go that wait in scopes for others: all of them, or only scopes with lanes in `wanted`. True if
// there were any.
bool ReleaseParked(WarpState& warp, uint32_t wanted);
// Groups at the same place become one.
void MergeGroups(WarpState& warp);
// Executes warp-synchronous instructions whose lanes have all come. False after a fault.
bool ResolveSyncs(WarpState& warp);

inline int CurrentGroup(const WarpState& warp) { return warp.current; }
// Sets up Warp for running groups[index].
inline void LoadGroup(WarpState& warp, int index) {
  const Group& group = warp.groups[static_cast<size_t>(index)];
  warp.current = index;
  warp.group_mask = group.mask;
  warp.frame = group.frame;
  warp.base[Src::kFrame] = group.frame->rows;
  warp.pc = group.pc;
}

}  // namespace understudy::emu::ptx
