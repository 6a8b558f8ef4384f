// SPDX-License-Identifier: Apache-2.0
#pragma once
// Running sums, products, maxima and what follows from them, with PyTorch's names and gradients. Long axes
// are scanned in blocks: block by block, then the totals of the blocks in the same way, so that n elements
// take O(n) times the block size and O(log n) kernels.

#include <optional>

#include "src/tensor/reduce_ops.h"
#include "src/tensor/tensor.h"

namespace understudy {

// Integers and bool answer in i64 (u64 for unsigned); floats accumulate in AccType.
Tensor Cumsum(const Tensor& x, int64_t dim, std::optional<DType> dtype = std::nullopt);
Tensor Cumprod(const Tensor& x, int64_t dim, std::optional<DType> dtype = std::nullopt);
// The greatest (least) so far and the index of its last occurrence. NaN counts as greatest and as least.
ValuesAndIndices Cummax(const Tensor& x, int64_t dim);
ValuesAndIndices Cummin(const Tensor& x, int64_t dim);
Tensor Logcumsumexp(const Tensor& x, int64_t dim);

// x[i + 1] - x[i] along `dim`, n times over, with slices put before and after first. Bool: where neighbours
// differ.
Tensor Diff(const Tensor& x, int64_t n = 1, int64_t dim = -1, const Tensor* prepend = nullptr,
            const Tensor* append = nullptr);
// The integral by the trapezoidal rule, at distance dx or at the places x (of one axis, or of y's shape).
Tensor Trapezoid(const Tensor& y, double dx = 1, int64_t dim = -1);
Tensor Trapezoid(const Tensor& y, const Tensor& x, int64_t dim = -1);
Tensor CumulativeTrapezoid(const Tensor& y, double dx = 1, int64_t dim = -1);
Tensor CumulativeTrapezoid(const Tensor& y, const Tensor& x, int64_t dim = -1);

}  // namespace understudy
