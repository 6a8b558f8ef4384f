// SPDX-License-Identifier: Apache-2.0
#pragma once
// The distances between instructions that one wave has to keep (hazards.inc), checked along the path that it
// takes.

#include <bitset>
#include <cstdint>
#include <deque>

#include "emu/amd/check/facts.h"
#include "emu/amd/check/report_sink.h"

namespace understudy::emu::amd::check {

class HazardTracker {
 public:
  explicit HazardTracker(ReportSink* sink) : sink_(sink) {}
  void Start();
  // Called before each instruction of the wave.
  ExecResult Before(const Facts& facts, WaveState& wave);

 private:
  struct Past {
    const Facts* facts;
    int states;  // wait states that it takes itself
  };

  ExecResult Report(const Facts& facts, const Facts& other, int reg, const char* what,
                    const std::string& missing, const char* source, WaveState& wave);
  ExecResult CheckDistances(const Facts& facts, WaveState& wave);
  ExecResult CheckRdna(const Facts& facts, WaveState& wave);
  ExecResult CheckTransUse(const Facts& facts, WaveState& wave);
  ExecResult CheckPartialForwarding(const Facts& facts, WaveState& wave);
  ExecResult CheckLdsDirect(const Facts& facts, WaveState& wave);
  ExecResult CheckMaskWrite(const Facts& facts, WaveState& wave);
  ExecResult CheckSgprRead(const Facts& facts, WaveState& wave);

  ReportSink* const sink_;
  std::deque<Past> past_;  // newest first
  // SGPRs that a VALU instruction has read (RDNA4: pairs; RDNA3: as a mask), and those written since.
  std::bitset<128> tracked_;
  const Facts* tracked_by_[128] = {};
  const Facts* salu_written_[128] = {};
  const Facts* valu_written_[128] = {};
};

}  // namespace understudy::emu::amd::check
