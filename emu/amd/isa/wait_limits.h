// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an instruction that waits waits for (S_WAITCNT in its forms, RDNA4's S_WAIT_*, VINTERP's wait field):
// the other half of wait_class.h, for the strict checks. Encodings of the immediates as the ISA manuals'
// S_WAITCNT entries and LLVM's AMDGPUBaseInfo.cpp give them.

#include <cstdint>

#include "emu/amd/isa/wait_class.h"

namespace understudy::emu::amd {

// The most operations that may be outstanding after the instruction, -1 where it does not wait for a counter.
struct WaitLimits {
  bool any = false;
  int limit[kNumWaitCounters] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
};
// `source` is the value of the register that S_WAITCNT_*CNT adds to its immediate (0 for NULL).
WaitLimits WaitLimitsOf(const Inst& inst, uint32_t source);

}  // namespace understudy::emu::amd
