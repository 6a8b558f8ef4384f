// SPDX-License-Identifier: Apache-2.0
#pragma once
// Executors of vector ALU instructions for the decoded-program cache: VOP1, VOP2, VOPC, VOP3, VOP3P, VOPD.
// The executor is chosen once, when an instruction is decoded; it allocates nothing and calls nothing
// virtual.

#include <string>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {

// nullptr where the instruction is not a vector ALU instruction or is refused; VectorRefusal then says why.
ExecFn FindVectorExec(const Inst& inst);

// What is refused about the instruction, without its name. Empty where FindVectorExec succeeds.
std::string VectorRefusal(const Inst& inst);

}  // namespace understudy::emu::amd
