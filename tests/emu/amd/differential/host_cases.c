// SPDX-License-Identifier: Apache-2.0
// The host half of cases.h: each case as a function, listed for the test.
#include "tests/emu/amd/differential/host_cases.h"

#define CASE(name) static void name(unsigned i, const unsigned* in, unsigned* out)
#include "tests/emu/amd/differential/cases.h"
#undef CASE

const struct HostCase kHostCases[] = {
    {"Divide32", Divide32},       {"Divide64", Divide64}, {"Wide", Wide},
    {"Float32", Float32},         {"Float32Near", Float32Near}, {"Float64", Float64},
    {"Float64Near", Float64Near}, {"Convert", Convert},   {"Bits", Bits},
    {"SmallIntegers", SmallIntegers}, {"PrivateArray", PrivateArray}, {"Sort", Sort},
    {"Switch", Switch},           {"Calls", Calls},       {"Float16", Float16},         {"Unaligned", Unaligned},
};
const int kHostCaseCount = sizeof(kHostCases) / sizeof(kHostCases[0]);
