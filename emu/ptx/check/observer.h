// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the scheduler tells the checks, when any is on: every instruction, through which it then executes, and
// what threads do together. The scheduler's loop is compiled twice, so that it calls none of this when all
// are off. Calls come from one thread. An observer changes nothing that the program can see.

#include <cstdint>
#include <memory>
#include <vector>

#include "emu/ptx/check/options.h"
#include "emu/ptx/core/launch.h"
#include "emu/ptx/core/warp.h"

namespace understudy::emu::ptx {

struct Cluster;
struct FrameState;
struct Launch;
struct WarpState;

class Observer {
 public:
  virtual ~Observer() = default;

  // A warp of a new cluster, before its first frame is made: those of a CTA in order, and CTAs in order.
  virtual void StartWarp(WarpState& warp) = 0;
  // All of its threads have exited, and copies that nobody waited for have happened.
  virtual void EndCluster(Cluster& cluster) = 0;
  // A frame for lanes that call a function, its registers not written yet.
  virtual void NewFrame(WarpState& warp, FrameState& frame, uint32_t mask) = 0;
  // `lanes` come to an instruction with a guard; the lanes for which it holds are Warp::mask.
  virtual ExecResult Guard(WarpState& warp, const Inst& inst, uint32_t lanes) = 0;
  // Executes the instruction for the lanes in Warp::mask.
  virtual ExecResult Execute(WarpState& warp, const Inst& inst) = 0;
  // A warp-synchronous instruction whose lanes have come, and are in Warp::mask. `gathered`: from several
  // places, and the operands of `inst` are rows that stand for theirs.
  virtual ExecResult ExecuteTogether(WarpState& warp, const Inst& inst, bool gathered) = 0;
  // A barrier has been passed by the groups that wait at it; called before they go on.
  virtual void PassBarrier(Cta& cta, uint32_t id) = 0;
  virtual void PassClusterBarrier(Cluster& cluster) = 0;

  virtual const std::vector<CheckReport>& reports() const = 0;
  // The first finding outside of an instruction that fails the launch, or kind kNone.
  virtual const LaunchFault& fault() const = 0;
};

// The observer that makes the checks of `launch`, which has at least one of them on.
std::unique_ptr<Observer> MakeObserver(Launch& launch);

}  // namespace understudy::emu::ptx
