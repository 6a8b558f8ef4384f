// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random kernels by seed: integers of 8 to 128 bits, floats of 16 to 64 bits, structs, arrays, loops,
// switches, calls, recursion and function pointers, workgroup phases with barriers, atomics, exchanges
// between lanes. Every kernel is free of undefined behaviour by construction, and its result depends on no
// order: any two correct compilers and machines agree on it, bit for bit. The same seed gives the same text
// everywhere.
//
// By construction: arithmetic is unsigned and cast back; shift amounts are masked; divisors are never 0 or
// -1; indices are masked or taken modulo; floats become integers only in range; a float's bits are read with
// one NaN for all; only correctly rounded float operations occur (compile with -ffp-contract=off); loops have
// bounded trip counts; barriers and exchanges stand in uniform control flow; atomics in one place all
// commute.

#include <cstdint>

#include "fuzz/amd_programs/program.h"

namespace understudy::programs {

Program Generate(uint64_t seed);

}  // namespace understudy::programs
