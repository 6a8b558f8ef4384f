// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which bits of one wave's registers, private memory and LDS were ever written, and what was computed from
// others: a set bit is undefined. Reported where an undefined bit decides something: an address, a branch,
// EXEC, or a store to global memory. Copies to LDS and private memory carry it along.
//
// Precision: bit by bit through moves, lane exchanges, bitwise operations, selections and shifts by defined
// amounts; from the lowest undefined bit upwards through integer sums and products; all bits of a result of
// anything else. The exclusive or, and the difference, of a register with itself is defined. Matrix
// instructions: every element of a result depends on all of A and B.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emu/amd/check/facts.h"
#include "emu/amd/check/report_sink.h"
#include "emu/amd/core/access_log.h"
#include "emu/amd/core/wave_state.h"

namespace understudy::emu::amd::check {

// What undefined registers and LDS hold when a checked wave starts: by this value the launch state is told
// from them.
constexpr uint32_t kUndefinedFill = 0x7f5adead;

class DefinedTracker {
 public:
  explicit DefinedTracker(ReportSink* sink) : sink_(sink) {}
  // `lds` has a byte of undefined bits for each byte of the workgroup's LDS.
  void Start(const WaveState& wave, std::vector<uint8_t>* lds);

  ExecResult Before(const Facts& facts, WaveState& wave);
  ExecResult After(const Facts& facts, uint64_t exec, const AccessLog& log, WaveState& wave);

 private:
  static constexpr int kLanes = 64;
  using LaneBits = uint32_t[kLanes];
  // What an instruction will leave in a vector register, in the lanes of `lanes`.
  struct Result {
    int reg;
    uint64_t lanes;
    LaneBits bits;
  };

  uint32_t* Row(int reg) { return &vgpr_[static_cast<size_t>(reg) * kLanes]; }
  // Undefined bits of dword `word` of a source, as the instruction reads it (halves, DPP).
  void ReadSource(const Facts& facts, const WaveState& wave, int index, int word, LaneBits* bits);
  uint64_t MaskBits(const Operand& operand, const WaveState& wave) const;
  void WriteMask(const Operand& operand, uint64_t bits, const WaveState& wave);
  uint32_t Scalar(const Operand& operand, int word) const;

  void Scalars(const Facts& facts, const WaveState& wave);
  void Vectors(const Facts& facts, WaveState& wave);
  bool LaneExchange(const Facts& facts, WaveState& wave);
  bool Bitwise(const Facts& facts, const WaveState& wave, LaneBits* out);
  void DppSources(const Facts& facts, WaveState& wave);
  ExecResult Uses(const Facts& facts, WaveState& wave);
  ExecResult Report(const Facts& facts, int lane, int reg, const char* what, WaveState& wave);
  ExecResult Memory(const Facts& facts, uint64_t exec, const AccessLog& log, WaveState& wave);
  const std::vector<Facts>& Halves(const Facts& facts);
  uint8_t* PrivateByte(int lane, uint64_t offset);

  ReportSink* const sink_;
  std::vector<uint32_t> vgpr_;  // [register * kLanes + lane]
  uint32_t sgpr_[128] = {};
  bool scc_ = true;
  std::vector<uint8_t>* lds_ = nullptr;
  std::unordered_map<uint64_t, std::vector<uint8_t>> private_;  // by lane and block of kBlock bytes
  static constexpr uint64_t kBlock = 64;
  std::unordered_map<const Facts*, std::vector<Facts>> halves_;  // of VOPD pairs

  // Of the instruction between Before and After.
  std::vector<Result> results_;
  bool has_scalar_ = false;
  uint32_t next_sgpr_[128];
  bool next_scc_ = false;
  int8_t dpp_source_[kLanes];  // the lane that src0 comes from; -1: reads zero; -2: not written
  bool has_dpp_ = false;
};

}  // namespace understudy::emu::amd::check
