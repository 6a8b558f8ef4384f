// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs one matrix instruction, given as text without operands, on a warp or warpgroup whose registers the
// test sets. For tests of mma, wmma.mma and wgmma; no parser, no scheduler.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "emu/ptx/core/program.h"
#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx {

class MatrixMachine {
 public:
  // An operand of the instruction: a vector of registers of 32 or 64 bits, one register (`count` 0), a
  // predicate
  // (`bits` 1), or an integer.
  struct Arg {
    int count = 0, bits = 32;
    bool is_constant = false;
    int64_t constant = 0;
    static Arg Vector(int count, int bits = 32) { return {count, bits, false, 0}; }
    static Arg Register(int bits = 32) { return {0, bits, false, 0}; }
    static Arg Predicate() { return {0, 1, false, 0}; }
    static Arg Constant(int64_t value) { return {0, 0, true, value}; }
  };
  MatrixMachine(const std::string& name, const std::vector<Arg>& args, int warps = 1);

  const Exec& exec() const { return exec_; }
  // Register `reg` of operand `arg`; `lane` counts over the warps.
  void Set(int arg, int reg, int lane, uint64_t value);
  uint64_t Get(int arg, int reg, int lane) const;
  std::vector<uint8_t>& shared() { return shared_; }

  // Executes it in every warp, by lanes of `mask`. The fault's message, or "".
  std::string Run(uint32_t mask = ~0u);

 private:
  const Src& RowOf(int arg, int reg) const;

  Instruction text_;
  Exec exec_;
  Inst inst_;
  std::vector<BoundOperand> operands_;
  std::deque<std::vector<BoundOperand>> elements_;
  std::vector<std::vector<uint64_t>> rows_;  // of each warp
  std::vector<uint8_t> shared_;
  Fault fault_;
};

}  // namespace understudy::emu::ptx
