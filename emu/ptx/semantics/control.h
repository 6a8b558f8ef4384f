// SPDX-License-Identifier: Apache-2.0
#pragma once
// Executors of control flow, barriers and functions that the device runtime defines. Private to the family
// `control`.

#include "emu/ptx/core/cta.h"

namespace understudy::emu::ptx {

ExecResult BraExec(Warp& warp, const Inst& inst);
ExecResult BrxExec(Warp& warp, const Inst& inst);   // aux[0]: the list of targets, a BoundOperand
ExecResult CallExec(Warp& warp, const Inst& inst);  // aux[0]: a CallPlan
ExecResult RetExec(Warp& warp, const Inst& inst);
ExecResult ExitExec(Warp& warp, const Inst& inst);

// A function of the device runtime (vprintf, malloc, free, __assertfail) called by Warp::mask. `params` is
// its .param space, `stride` bytes a lane; results are written behind the arguments by the layout of its
// declaration.
ExecResult CallBuiltin(WarpState& warp, const BoundFunction& function, uint8_t* params, uint32_t stride);

// Fills `exec` and returns true if the instruction is a barrier or an operation on all lanes of a warp.
struct Exec;
bool FindBarrierExec(const Instruction& inst, Exec* exec);
bool FindWarpOpExec(const Instruction& inst, Exec* exec);

}  // namespace understudy::emu::ptx
