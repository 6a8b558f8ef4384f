// SPDX-License-Identifier: Apache-2.0
#pragma once
// Executors that the core puts around those of the families, or in the place of one that is missing.

#include "emu/ptx/core/cta.h"

namespace understudy::emu::ptx {

// Waits until all live lanes of the member mask have come to an instruction with the same qualifiers, then
// executes Inst::wrapped for all of them.
ExecResult WarpSyncExec(Warp& warp, const Inst& inst);
// The same through Observer::ExecuteTogether.
ExecResult CheckedWarpSyncExec(Warp& warp, const Inst& inst);
// Fills the rows of clocks and counters, then executes Inst::wrapped.
ExecResult ReadClockExec(Warp& warp, const Inst& inst);
// Fails with the reason in aux[0].
ExecResult RefusedExec(Warp& warp, const Inst& inst);
// The end of a function: ret, or exit in a kernel.
ExecResult EndExec(Warp& warp, const Inst& inst);
// Lanes in `mask` of the current group return from their function, with its results, or exit.
ExecResult ReturnFrom(WarpState& warp, uint32_t mask);

}  // namespace understudy::emu::ptx
