// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scalar instructions that act on the wave rather than compute a value: branches, program counter, hardware
// registers, messages, waits, indexed SGPR moves. Found through FindScalarExec.

#include <string>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {

// nullptr where the instruction is refused.
ExecFn FindScalarControlExec(const Inst& inst);

// Why, for those that are refused on purpose; "" otherwise.
std::string ScalarRefusal(const Inst& inst);

}  // namespace understudy::emu::amd
