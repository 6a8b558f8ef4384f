// SPDX-License-Identifier: Apache-2.0
#pragma once
// Data races of the waves of a workgroup: two waves that touch a byte, one of them writing, with no barrier
// between them. Barriers are the only order between waves that it knows; atomics do not race with atomics,
// nor with loads (which may be atomic ones), and order nothing else. Global memory is watched in the same
// way, and between workgroups on request.

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emu/amd/check/facts.h"
#include "emu/amd/check/report_sink.h"
#include "emu/amd/core/access_log.h"
#include "emu/amd/core/wave_state.h"
#include "emu/amd/isa/wait_limits.h"

namespace understudy::emu::amd::check {

class RaceTracker {
 public:
  RaceTracker(ReportSink* sink, const CheckOptions& options) : sink_(sink), options_(options) {}

  void StartGroup(const std::vector<WaveState*>& waves);
  void EndGroup(const std::vector<WaveState*>& waves);
  void Barrier(const std::vector<WaveState*>& waves);
  // After each instruction.
  ExecResult After(const Facts& facts, const AccessLog& log, ExecResult result, WaveState& wave);

 private:
  // An access happened in the barrier intervals first..last of its wave: usually one, two for what was done
  // between the halves of a split barrier or was not waited for at a barrier.
  struct Touch {
    const Facts* facts = nullptr;
    uint32_t owner = 0;  // number of the wave within the dispatch
    uint32_t group = 0;
    uint32_t first = 0, last = 0;
    uint16_t wave = 0;  // in its workgroup
    bool atomic = false;
  };
  struct Byte {
    Touch write, reads[2];  // the last write, and the last reads of two different waves
  };
  struct Group {
    uint32_t number = 0;
    std::vector<Byte> lds;
    std::unordered_map<uint64_t, std::vector<Byte>> global;  // by line of kLine bytes
  };
  struct Wave {
    Group* group = nullptr;
    uint32_t owner = 0, interval = 0;
    bool signalled = false;
    // LDS writes of instructions that no wait has covered, newest last: bytes.
    std::deque<std::vector<std::pair<uint32_t, uint32_t>>> open;
  };
  static constexpr uint64_t kLine = 64;

  Byte* GlobalByte(Group& group, uint64_t address);
  ExecResult Access(Byte& byte, const Touch& now, bool writes, bool global, uint64_t address, int lane,
                    WaveState& wave);
  void Pass(Wave& wave);

  ReportSink* const sink_;
  const CheckOptions options_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<Wave> waves_;                                 // by WaveState::wave_slot
  std::unordered_map<uint64_t, std::vector<Byte>> global_;  // of the dispatch, with races_between_groups
  uint32_t owners_ = 0, group_numbers_ = 0;
};

}  // namespace understudy::emu::amd::check
