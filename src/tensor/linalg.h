// SPDX-License-Identifier: Apache-2.0
#pragma once
// Products of vectors, matrices and tensors, and norms, with PyTorch's names and shapes. Programs and the
// layers of nn use them. Floats multiply and accumulate in AccType and are rounded once; integers keep their
// type and wrap; products of bools are ANDs and their sums ORs. Operands of two types meet in Promote's.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/tensor/tensor.h"

namespace understudy {

// Vectors, matrices and batches of matrices, which broadcast. `accumulate` replaces AccType (floats only).
Tensor Matmul(const Tensor& a, const Tensor& b, std::optional<DType> accumulate = std::nullopt);
Tensor Dot(const Tensor& a, const Tensor& b);    // {n}, {n} -> {}
Tensor Vdot(const Tensor& a, const Tensor& b);   // of real numbers: Dot
Tensor Inner(const Tensor& a, const Tensor& b);  // over the last axis of both
Tensor Outer(const Tensor& a, const Tensor& b);  // {n}, {m} -> {n, m}
Tensor Mv(const Tensor& a, const Tensor& b);     // {n, m}, {m} -> {n}
Tensor Mm(const Tensor& a, const Tensor& b);     // matrices only, no broadcasting
Tensor Bmm(const Tensor& a, const Tensor& b);    // {b, n, k}, {b, k, m}, no broadcasting
// beta input + alpha (a @ b); the input broadcasts. As in PyTorch, beta = 0 ignores the input (NaN too).
Tensor Addmm(const Tensor& input, const Tensor& a, const Tensor& b, Number beta = 1, Number alpha = 1);
Tensor Addmv(const Tensor& input, const Tensor& a, const Tensor& b, Number beta = 1, Number alpha = 1);
Tensor Addr(const Tensor& input, const Tensor& a, const Tensor& b, Number beta = 1, Number alpha = 1);
Tensor Baddbmm(const Tensor& input, const Tensor& a, const Tensor& b, Number beta = 1, Number alpha = 1);
// The sum over the batch besides.
Tensor Addbmm(const Tensor& input, const Tensor& a, const Tensor& b, Number beta = 1, Number alpha = 1);
// The product of all, in the order that takes the fewest multiplications.
Tensor MultiDot(const std::vector<Tensor>& matrices);

// PyTorch's syntax: letters of both cases, "..." (which broadcasts), repeated letters (a diagonal), with or
// without "->". Several operands are contracted in pairs, the pair first that leaves least.
Tensor Einsum(const std::string& equation, const std::vector<Tensor>& operands);
// Over the last `dims` axes of a and the first of b, or over the listed pairs of axes.
Tensor Tensordot(const Tensor& a, const Tensor& b, int64_t dims = 2);
Tensor Tensordot(const Tensor& a, const Tensor& b, const std::vector<int64_t>& axes_a,
                 const std::vector<int64_t>& axes_b);
Tensor Kron(const Tensor& a, const Tensor& b);

// input {..., in} with weight {out, in} and bias {out}.
Tensor Linear(const Tensor& input, const Tensor& weight, const Tensor* bias = nullptr);
// a {..., in1}, b {..., in2}, weight {out, in1, in2}, bias {out}.
Tensor Bilinear(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor* bias = nullptr);

Tensor Trace(const Tensor& a);                                     // of a matrix
Tensor Cross(const Tensor& a, const Tensor& b, int64_t dim = -1);  // an axis of size 3; the rest broadcasts
Tensor MatrixPower(const Tensor& a, int64_t n);                    // a negative n inverts

// (sum |x|^p)^(1/p) over the axes (none: all); p of 0 counts what is not 0, +-inf are the largest and the
// least size. The gradient where the norm is 0 is 0.
Tensor VectorNorm(const Tensor& x, double p = 2, const std::vector<int64_t>& axes = {}, bool keepdim = false);
inline Tensor Norm(const Tensor& x, double p = 2, const std::vector<int64_t>& axes = {},
                   bool keepdim = false) {
  return VectorNorm(x, p, axes, keepdim);
}

}  // namespace understudy
