// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the dispatch loop tells the strict checks, when any is on: every instruction before and after it
// executes, and what waves of a workgroup do together. The loop is compiled twice, so that it calls none of
// this when all are off. Calls come from one thread. An observer changes nothing of a wave but registers
// whose value is still on its way.

#include <cstdint>
#include <memory>
#include <vector>

#include "emu/amd/check/options.h"
#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd::check {

class Observer {
 public:
  virtual ~Observer() = default;

  // Code may have changed: what was remembered about a pc is compared with memory before it is used again.
  virtual void CodeChanged() = 0;
  // The waves of a workgroup, in the state in which they start.
  virtual void StartGroup(const std::vector<WaveState*>& waves) = 0;
  virtual void EndGroup(const std::vector<WaveState*>& waves) = 0;
  // The s_barrier that these waves of one workgroup were waiting at has been passed. (RDNA4's split barriers
  // are seen through their instructions.)
  virtual void Barrier(const std::vector<WaveState*>& waves) = 0;
  // Before `fn` executes `inst`, which lies at wave.pc. kFault (with wave.fault filled in) or kNext.
  virtual ExecResult Before(const Inst& inst, ExecFn fn, WaveState& wave) = 0;
  // After it, which gave `result`; `pc` is where it lies. Not called when it faulted.
  virtual ExecResult After(const Inst& inst, uint64_t pc, ExecResult result, WaveState& wave) = 0;

  virtual const std::vector<CheckReport>& reports() const = 0;
};

// The observer that makes the checks of `options`, which has at least one of them on. With `uninit` on, waves
// have to start with UndefinedFill() in the registers and LDS words that the hardware leaves undefined.
std::unique_ptr<Observer> MakeStrictObserver(int wave_size, const CheckOptions& options);
uint32_t UndefinedFill();

}  // namespace understudy::emu::amd::check
