// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/differential/compiler_fault_kernels.inc"

const HostKernelFn kHostSwitchKeepsVector = SwitchKeepsVector, kHostEitherWayFree = EitherWayFree;
