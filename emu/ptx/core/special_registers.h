// SPDX-License-Identifier: Apache-2.0
#pragma once
// Special registers as rows: which there are, and their values for a warp. The values that describe the
// device come from LaunchOptions; time is virtual and counts executed instructions.

#include <cstdint>
#include <string>

#include "emu/ptx/core/cta.h"
#include "emu/ptx/core/launch_state.h"

namespace understudy::emu::ptx {

// By emu/ptx/isa/special_registers.inc: an element of a vector is one of its own, of numbered registers the
// first is named.
enum class Special : uint16_t {
#define PTX_SREG(id, name, type, version, sm, dynamic) id,
#define PTX_SREG_VECTOR(id, name, version, sm) id##X, id##Y, id##Z, id##W,
#define PTX_SREG_RANGE(id, prefix, suffix, count, type, version, sm) id##0, id##Last = id##0 + count - 1,
#include "emu/ptx/isa/special_registers.inc"
#undef PTX_SREG_RANGE
#undef PTX_SREG_VECTOR
#undef PTX_SREG
  kDynamicSharedBase,  // no register of PTX: the offset of dynamic shared memory, an extern variable of the
                       // module
};

// By the name that Operand::special has ("tid.x", "clock64", "envreg3"); false: there is no such register.
bool FindSpecial(const std::string& name, Special* special);
int SpecialBits(Special special);
// Read at each use (clocks, performance counters).
bool IsDynamic(Special special);

// Fills the row for all 32 lanes of the warp.
void FillSpecial(WarpState& warp, const SpecialRow& row);

}  // namespace understudy::emu::ptx
