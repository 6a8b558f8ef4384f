// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sorting and order statistics with PyTorch's names and gradients. Every sort is stable. NaN counts as
// greatest, -0 equals 0. A bitonic network over the next power of two: O(n log^2 n) comparisons of keys that
// carry the index, then the values are gathered, so that they keep their bits and have a gradient.

#include "src/tensor/reduce_ops.h"
#include "src/tensor/tensor.h"

namespace understudy {

ValuesAndIndices Sort(const Tensor& x, int64_t dim = -1, bool descending = false);
Tensor Argsort(const Tensor& x, int64_t dim = -1, bool descending = false);
Tensor Msort(const Tensor& x);  // values along the first axis
// The k greatest (least) in order; equal ones in order of their index.
ValuesAndIndices Topk(const Tensor& x, int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true);
// The k-th least, k from 1.
ValuesAndIndices Kthvalue(const Tensor& x, int64_t k, int64_t dim = -1, bool keepdim = false);
// The lower of the two middle elements; NaN when there is one (nanmedian: NaN is left out).
ValuesAndIndices Median(const Tensor& x, int64_t dim, bool keepdim = false);
ValuesAndIndices Nanmedian(const Tensor& x, int64_t dim, bool keepdim = false);
Tensor Median(const Tensor& x);
Tensor Nanmedian(const Tensor& x);

}  // namespace understudy
