// SPDX-License-Identifier: Apache-2.0
#pragma once
// Formatted buffer loads and stores: BUFFER_*_FORMAT_* take the format from the descriptor, TBUFFER_* from
// the instruction. Found through FindBufferExec.

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {

// nullptr where the instruction is not one of these, or is refused.
ExecFn FindBufferFormatExec(const Inst& inst);

}  // namespace understudy::emu::amd
