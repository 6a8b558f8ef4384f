// SPDX-License-Identifier: Apache-2.0
#pragma once
// Executors of WMMA, SWMMAC, MFMA and SMFMAC for the decoded-program cache. One function serves them all,
// driven by the tables of matrix_table.h; EXEC is ignored and all inputs are read before anything is written.

#include <string>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {

// Null where the instruction is not a matrix instruction or is refused; MatrixRefusal then says why.
ExecFn FindMatrixExec(const Inst& inst);
// What is refused about the instruction, without its name. Empty where FindMatrixExec succeeds.
std::string MatrixRefusal(const Inst& inst);

}  // namespace understudy::emu::amd
