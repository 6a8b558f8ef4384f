// SPDX-License-Identifier: Apache-2.0
#pragma once
// Special registers as rows: which there are, and their values for a warp. The values that describe the
// device come from LaunchOptions; time is virtual and counts executed instructions.

#include <cstdint>
#include <string>

#include "emu/ptx/core/cta.h"
#include "emu/ptx/core/launch_state.h"

namespace understudy::emu::ptx {

enum class Special : uint16_t {
#define PTX_SPECIAL(id, name, bits, dynamic) id,
#include "emu/ptx/core/special_registers.inc"
#undef PTX_SPECIAL
  kEnvreg0,              // .. envreg31
  kPm0 = kEnvreg0 + 32,  // .. pm7
  kPm0Wide = kPm0 + 8,   // .. pm7_64
  kEnd = kPm0Wide + 8,
};

// By the name that Operand::special has ("tid.x", "clock64", "envreg3"); false: there is no such register.
bool FindSpecial(const std::string& name, Special* special);
int SpecialBits(Special special);
// Read at each use (clocks, performance counters).
bool IsDynamic(Special special);

// Fills the row for all 32 lanes of the warp.
void FillSpecial(WarpState& warp, const SpecialRow& row);

}  // namespace understudy::emu::ptx
