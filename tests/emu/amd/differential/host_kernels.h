/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
// What the host computes for the kernels of this folder.
#include "fuzz/amd_programs/host_item.h"

#ifdef __cplusplus
extern "C" {
#endif
extern const HostKernel kHostKernels[];
extern const int kHostKernelCount;
#ifdef __cplusplus
}
#endif
