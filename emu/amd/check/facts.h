// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the strict checks ask of an instruction, worked out once per place in the program: registers read and
// written, effects beside the operands, wait counters. Every check uses it; it holds no machine state.

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/isa/effects.h"
#include "emu/amd/isa/wait_class.h"

namespace understudy::emu::amd::check {

// One numbering for all registers: v0-v255, AGPRs at 256, scalar registers by their operand encoding, SCC.
constexpr int kFirstSgpr = 512, kSccReg = kFirstSgpr + 128, kRegs = kSccReg + 1;
constexpr bool IsVector(int reg) { return reg < kFirstSgpr; }
// "v7", "a3", "s5", "vcc_lo", "scc".
std::string RegName(int reg);

struct RegSpan {
  uint16_t first = 0;
  uint8_t count = 0;
  int8_t operand = -1;  // index in Inst::src or Inst::dst; -1: not an operand
};

struct Facts {
  Inst inst;
  ExecFn fn = nullptr;
  uint64_t pc = 0;
  int wave_size = 32;
  std::vector<uint8_t> bytes;
  Effects effects;
  WaitClass wait;
  std::vector<RegSpan> reads, writes;
  // Results of a memory operation arrive later than the instruction: in registers or in LDS.
  bool writes_late = false, reads_late = false;
  uint32_t late_bits = 0xffffffff;  // of each register: half of it for loads of 16 bits into a half
  bool vector = false;              // works lane by lane under EXEC
  bool crosses_lanes = false;       // may read lanes that EXEC disables
  // For the definedness check, by name: the rule of defined.h that a result follows.
  enum class Rule : uint8_t {
    kAny,
    kSum,
    kMove,
    kAnd,
    kOr,
    kXor,
    kAndOr,
    kOr3,
    kXor3,
    kBfi,
    kLeft,
    kRight,
    kArith,
    kBfe,
    kBfeSigned,
    kPerm,
    kAlign,
    kSelect,
    kLeftOr,
    kPack,
    kSum16
  };
  Rule rule = Rule::kAny;
  bool mix = false;          // v_fma_mix*: sources are f32, or halves of registers
  bool exchange = false;     // moves values between lanes
  bool high = false;         // writes the high half without op_sel
  uint64_t hazard_rows = 0;  // rows of hazards.inc whose consumer it is

  std::string Text() const;
};

// Facts by pc, kept for the whole dispatch so that reports can name earlier instructions.
class Program {
 public:
  explicit Program(int wave_size) : wave_size_(wave_size) {}
  void CodeChanged() { ++epoch_; }
  const Facts& At(const Inst& inst, ExecFn fn, WaveState& wave);

 private:
  struct Slot {
    const Facts* facts = nullptr;
    uint64_t epoch = 0;
  };
  const int wave_size_;
  uint64_t epoch_ = 1;
  std::unordered_map<uint64_t, Slot> slots_;
  std::deque<Facts> facts_;
};

uint64_t HazardRows(const Facts& facts);  // hazards.cc

// Facts of one instruction (no pc, no bytes).
Facts FactsOf(const Inst& inst, ExecFn fn, int wave_size);

}  // namespace understudy::emu::amd::check
