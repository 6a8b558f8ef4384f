// SPDX-License-Identifier: Apache-2.0
#pragma once
// Factorisations and solutions of small dense systems, {..., n, m} with any batch axes, as compositions whose
// graphs grow with n: meant for sizes up to about 16 (Svd) and 32 (the others); larger ones are refused. f64
// is computed in f64, everything narrower in f32 and rounded once. Errors are those of the methods:
// Householder QR, Cholesky, Gauss and Jordan with row pivoting, and Jacobi rotations, a few n epsilon of the
// norm.

#include <cstdint>

#include "src/tensor/tensor.h"

namespace understudy {

inline constexpr int64_t kMaxDecompositionSize = 64;
inline constexpr int64_t kMaxSvdSize = 32;

// a = q r with q {.., m, k}, r {.., k, n}, k = min(m, n) (reduced) or m (complete). Signs as LAPACK's.
struct QrResult {
  Tensor q, r;
};
QrResult Qr(const Tensor& a, bool complete = false);

// a = u diag(s) vh, s falling. Reduced sizes. Gradients of u and vh need distinct singular values.
struct SvdResult {
  Tensor u, s, vh;
};
SvdResult Svd(const Tensor& a);
Tensor SvdVals(const Tensor& a);

// The lower factor (or the upper, its transpose) of a symmetric positive definite matrix, of which one half
// is read. NaN where the matrix is not positive definite.
Tensor Cholesky(const Tensor& a, bool upper = false);
// x with a x = b for a triangular a; the other half of a is not read.
Tensor SolveTriangular(const Tensor& a, const Tensor& b, bool upper, bool unitriangular = false);
// x with a x = b; b {..., n, k}, or {n} beside one matrix. A singular a gives inf or NaN.
Tensor Solve(const Tensor& a, const Tensor& b);
Tensor Inverse(const Tensor& a);
Tensor Det(const Tensor& a);
struct SlogdetResult {
  Tensor sign, logabsdet;
};
SlogdetResult Slogdet(const Tensor& a);

}  // namespace understudy
