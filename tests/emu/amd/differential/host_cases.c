// SPDX-License-Identifier: Apache-2.0
// The host half of the cases: each as a function, listed for the test.
#include "tests/emu/amd/differential/host_cases.h"

#include "tests/emu/amd/differential/case_support.h"

#define CASE(name) static void name(unsigned i, const unsigned* in, unsigned* out)
#include "tests/emu/amd/differential/cases.h"
#include "tests/emu/amd/differential/random_cases.h"
#undef CASE

#define CASE(name) {#name, name},
const struct HostCase kHostCases[] = {
#include "tests/emu/amd/differential/case_list.inc"
};
const int kHostCaseCount = sizeof(kHostCases) / sizeof(kHostCases[0]);
