// SPDX-License-Identifier: Apache-2.0
#pragma once
// Somebody else's matrix product to measure ours beside: OpenBLAS, opened at run time where it is installed
// (Debian: libopenblas0-pthread), so that nothing links against it. Used by benchmarks only.

#include <cstdint>

namespace understudy::bench {

// False when there is no libopenblas.so.0. Otherwise it runs on one thread from here on.
bool OpenBlas();
// c = a b of n x n row-major matrices; `transpose_a` and `transpose_b` read the stored operand transposed.
// OpenBlas() must have been true.
void BlasMatmul(const float* a, const float* b, float* c, int64_t n, bool transpose_a, bool transpose_b);
void BlasMatmul(const double* a, const double* b, double* c, int64_t n);
// c (m x n) = a (m x k) b (k x n).
void BlasMatmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k);

}  // namespace understudy::bench
