// SPDX-License-Identifier: Apache-2.0
#pragma once
// Wait counters of one wave: what memory operations have in flight, which registers that concerns, and which
// waits cover it. A result in flight is kept away from its registers, which hold kPoison until a wait covers
// the operation; reading or overwriting such a register is reported with both instructions.

#include <bitset>
#include <cstdint>
#include <vector>

#include "emu/amd/check/facts.h"
#include "emu/amd/check/report_sink.h"
#include "emu/amd/core/access_log.h"
#include "emu/amd/core/wave_state.h"
#include "emu/amd/isa/wait_limits.h"

namespace understudy::emu::amd::check {

// A signalling NaN, no address and no small integer.
constexpr uint32_t kPoison = 0x7fa5dead;
constexpr uint8_t kPoisonByte = 0xad;

class WaitTracker {
 public:
  explicit WaitTracker(ReportSink* sink) : sink_(sink) {}
  void Start();

  ExecResult Before(const Facts& facts, WaveState& wave);
  // `exec` is EXEC before the instruction.
  void After(const Facts& facts, uint64_t exec, const AccessLog& log, WaveState& wave);

  // The operation that a byte of LDS waits for, or null.
  const Facts* PendingLds(uint32_t byte) const;
  bool HasPendingLds() const;

 private:
  struct Saved {
    uint16_t reg;
    std::vector<uint32_t> values;  // one a lane; one for a scalar register
  };
  struct Operation {
    const Facts* facts;
    uint64_t lanes;
    uint8_t open;  // events (of facts->wait) that no wait has covered
    uint64_t number[2];
    std::vector<Saved> saved;
    std::vector<std::pair<uint32_t, uint8_t>> lds;  // bytes on their way to LDS
  };

  void Wait(const WaitLimits& limits, WaveState& wave);
  void Deliver(const Operation& operation, WaveState& wave);
  void Recount();
  // The newest operation that writes (or, with `reads`, still reads) `reg` in one of `lanes`.
  const Operation* Find(int reg, uint64_t lanes, bool reads) const;

  ReportSink* const sink_;
  std::vector<Operation> operations_;  // oldest first
  std::bitset<kRegs> busy_, being_read_;
  // Operations issued, by counter and group of operations that finish in order.
  static constexpr int kGroups = 8;
  uint64_t issued_[kNumWaitCounters][kGroups] = {};
};

}  // namespace understudy::emu::amd::check
