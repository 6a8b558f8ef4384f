// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where lanes that part at a branch should meet again: the closest instruction that all of their paths reach.
// Used once, when a program is bound.

#include <cstdint>
#include <vector>

namespace understudy::emu::ptx {

// How control leaves an instruction.
struct Flow {
  bool falls_through = true;  // may go on with the next instruction
  bool leaves = false;        // may end the thread or the call (exit, ret, trap)
  std::vector<uint32_t> targets;
};

// For each instruction that has targets, the pc where its paths meet, ~0 where they only meet at the end of
// the call; ~0 for all others. Paths that leave early do not count as long as others go on, since lanes that
// have left are not waited for.
std::vector<uint32_t> ReconvergencePoints(const std::vector<Flow>& code);

}  // namespace understudy::emu::ptx
