// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random PTX kernels by seed: every instruction that computes registers from registers (forms.inc), divergent
// branches, loops, branch tables, calls (direct, through registers, recursive), shared memory with every kind
// of barrier, local arrays, vector loads and stores, atomics, warp-wide operations, matrix instructions,
// several CTAs. The same seed gives the same text everywhere.
//
// Every kernel is free of undefined behaviour by construction, and its result depends on no order: registers
// have values from the start; divisors are not 0; indices are masked; loops have bounds; between barriers
// each thread writes shared memory that nobody else reads; atomics in one place commute, or their memory is
// the thread's own; warp-wide operations name the lanes that execute them, which votes have found, and read
// lanes that do; barriers stand where all their threads come. Roundings are explicit, so that no assembler
// may fuse. A double's NaN, whose payload depends on the order of operands, becomes one NaN.

#include <cstdint>

#include "fuzz/ptx_programs/program.h"

namespace understudy::ptx_programs {

Program Generate(uint64_t seed);

}  // namespace understudy::ptx_programs
