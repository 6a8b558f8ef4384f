// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs one instruction's executor on a hand-made warp: no parser, no program. For tests of the float
// semantics.

#include <cstdint>
#include <string>
#include <vector>

#include "emu/ptx/core/program.h"
#include "emu/ptx/core/warp.h"
#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx {

class FloatHarness {
 public:
  // `name`: "add.rn.f32". `registers`: bits of the destination's register and of each source's (1: a
  // predicate). A negative count -n stands for a vector of n 32-bit registers.
  FloatHarness(const std::string& name, const std::vector<int>& registers);

  const Exec& exec() const { return exec_; }
  bool ok() const { return exec_.fn != nullptr; }

  // sources[i][lane], up to 32 lanes (fewer: the rest do not execute); a vector takes its registers in turn.
  // The destination is `before` in every lane beforehand.
  std::vector<uint64_t> Run(const std::vector<std::vector<uint64_t>>& sources, uint64_t before = 0);
  // The same with 32-bit masks of predicates as they are: two destinations p|q.
  void RunPair(const std::vector<std::vector<uint64_t>>& sources, uint32_t* p, uint32_t* q);

 private:
  Src AddRow(int bits);
  void Fill(const std::vector<std::vector<uint64_t>>& sources);

  Function function_;
  Instruction text_;
  Exec exec_;
  Inst inst_;
  std::vector<BoundOperand> operands_;
  std::vector<std::vector<BoundOperand>> elements_;
  std::vector<Src> flat_sources_;
  std::vector<uint64_t> memory_;
  uint32_t used_ = 0;
  Warp warp_;
  Fault fault_;
};

}  // namespace understudy::emu::ptx
