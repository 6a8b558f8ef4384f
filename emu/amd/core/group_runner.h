// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the waves of one workgroup in turn: the instruction loop, turns, barriers, and what a fault says. A
// dispatch has one for each host thread, with a cache of decoded programs of its own; it knows nothing of
// other workgroups.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emu/amd/check/observer.h"
#include "emu/amd/core/dispatch.h"
#include "emu/amd/core/program_cache.h"
#include "emu/amd/core/workgroup.h"

namespace understudy::emu::amd {

class GroupRunner {
 public:
  // A workgroup's turn before another one is started or resumed.
  static constexpr uint64_t kSlice = 1 << 16;
  enum class Stop : uint8_t {
    kDone,   // every wave has ended
    kLimit,  // the limit or the workgroup's slice is used up
    kFault,  // of the wave whose turn it is
  };

  // `observer` may be null.
  GroupRunner(const LaunchPlan* plan, AddressSpace* memory, ProgramCache* cache, check::Observer* observer)
      : plan_(plan), memory_(memory), cache_(cache), observer_(observer) {}

  // Code may have changed since the last run.
  void BeginEpoch();
  void Start(Workgroup& group, const uint32_t id[3]);
  // Runs the waves in turn, for at most `limit` instructions of the group's slice; adds what was executed to
  // *executed.
  Stop Run(Workgroup& group, uint64_t limit, uint64_t* executed);
  // The fault of the wave whose turn it is.
  WaveFault Report(Workgroup& group) const;
  // The same for a workgroup that has not ended when the dispatch has executed `instructions`.
  WaveFault Hang(Workgroup& group, uint64_t instructions) const;

 private:
  template <bool kChecked>
  ExecResult RunWave(Workgroup& group, Wave& wave, uint64_t limit);
  void NextWave(Workgroup& group) const;
  void Release(Workgroup& group);
  void WakeWaiting(Workgroup& group);
  void EndWave(Workgroup& group, Wave& wave);
  std::string Disassemble(uint64_t pc) const;

  const LaunchPlan* const plan_;
  AddressSpace* const memory_;
  ProgramCache* const cache_;
  check::Observer* const observer_;
};

}  // namespace understudy::emu::amd
