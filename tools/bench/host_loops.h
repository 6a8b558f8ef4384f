// SPDX-License-Identifier: Apache-2.0
#pragma once
// What this machine's memory gives to one thread: plain loops over arrays beyond the caches, compiled for the
// widest vectors that the processor has. The limits that compiled kernels are measured beside.

#include <cstddef>

namespace understudy::bench {

void HostAdd(const float* a, const float* b, float* c, size_t n);  // c = a + b
void HostCopy(const float* a, float* c, size_t n);                 // c = 2 a
float HostRead(const float* a, size_t n);                          // the sum, in 64 lanes

}  // namespace understudy::bench
