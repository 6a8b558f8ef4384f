// SPDX-License-Identifier: Apache-2.0
#pragma once
// DS instructions that move data between lanes or address LDS through M0. Found through FindDsExec.

#include <cstdint>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {

// nullptr where the instruction is refused.
ExecFn FindDsLaneExec(const Inst& inst);

ExecResult RaiseMisalignedLds(WaveState& wave, uint32_t at, uint64_t size, int lane);

}  // namespace understudy::emu::amd
