// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of the integer family. Private to it.

#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx {

// Bit fields, permutations, conversions, extended precision, packed and dot products: fills `exec` and
// returns true if the instruction is one of them.
bool FindBitExec(const Instruction& inst, Exec* exec);

}  // namespace understudy::emu::ptx
