// SPDX-License-Identifier: Apache-2.0
#pragma once
// Directed roundings by the host's own rounding mode, switched once per instruction. Used when an
// instruction is bound; the mode is always put back.

#include "emu/ptx/core/warp.h"
#include "emu/ptx/semantics/convert_plan.h"

namespace understudy::emu::ptx {

// Runs the executor whose address is in aux[1] under the host's rounding mode aux[0].
ExecResult RunDirected(Warp& w, const Inst& inst);
// The host's name (<cfenv>) of a rounding.
int HostRounding(Round round);

}  // namespace understudy::emu::ptx
