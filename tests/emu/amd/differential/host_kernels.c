// SPDX-License-Identifier: Apache-2.0
// The host half of the kernels: each as a function, listed for the test.
#include "tests/emu/amd/differential/all_kernels.inc"

#define KERNEL_NAME(name) {#name, name},
const HostKernel kHostKernels[] = {
#include "tests/emu/amd/differential/kernel_list.inc"
};
const int kHostKernelCount = sizeof(kHostKernels) / sizeof(kHostKernels[0]);
