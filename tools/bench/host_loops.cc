// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/host_loops.h"

#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3", "unroll-loops")))

namespace understudy::bench {

WIDEST void HostAdd(const float* __restrict a, const float* __restrict b, float* __restrict c, size_t n) {
  for (size_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

WIDEST void HostCopy(const float* __restrict a, float* __restrict c, size_t n) {
  for (size_t i = 0; i < n; ++i) c[i] = 2 * a[i];
}

WIDEST float HostRead(const float* a, size_t n) {
  constexpr size_t kLanes = 64;
  float lane[kLanes] = {}, sum = 0;
  for (size_t i = 0; i + kLanes <= n; i += kLanes) {
    for (size_t l = 0; l < kLanes; ++l) lane[l] += a[i + l];
  }
  for (const float l : lane) sum += l;
  return sum;
}

}  // namespace understudy::bench
