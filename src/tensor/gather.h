// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading and writing by index tensors, with PyTorch's names, arguments and gradients. Indices are integers
// of any width. Reads are indexed loads; what goes to indexed places is one pass over its sources, in their
// order (schedule/scatter.h). An index that is out of range cannot be refused before the data is known: it
// reads 0 and writes nothing. Sizes that depend on the data are declared by the caller.

#include <optional>
#include <utility>

#include "src/tensor/tensor.h"

namespace understudy {

// out[..i..] = x[..index[..i..]..] along `dim`; index has x's rank and is not larger than x on the other
// axes.
Tensor Gather(const Tensor& x, int64_t dim, const Tensor& index);
// Of the flattened tensor; the result has the index's shape. Negative indices count from the end.
Tensor Take(const Tensor& x, const Tensor& index);
// Gather whose operands broadcast on the other axes; without `dim` of the flattened tensor.
Tensor TakeAlongDim(const Tensor& x, const Tensor& indices, std::optional<int64_t> dim = std::nullopt);
// Slices of `dim` at a list of indices.
Tensor IndexSelect(const Tensor& x, int64_t dim, const Tensor& index);

// x with slices of `dim` added to (alpha * source), replaced by source's, or filled. Of several writes to one
// place the last one counts.
Tensor IndexAdd(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, Number alpha = 1);
Tensor IndexCopy(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source);
Tensor IndexFill(const Tensor& x, int64_t dim, const Tensor& index, Number value);

// x with x[..index[..i..]..] = src[..i..]; of several writes to one place the last in row-major order counts.
Tensor Scatter(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src);
Tensor Scatter(const Tensor& x, int64_t dim, const Tensor& index, Number value);
Tensor ScatterAdd(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src);
enum class ScatterMode { kSum, kProd, kMean, kAmax, kAmin };
Tensor ScatterReduce(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src, ScatterMode mode,
                     bool include_self = true);

// The indices of elements that are not zero in row-major order: {size, ndim}, i64, filled up with
// `fill_value`.
Tensor NonzeroStatic(const Tensor& x, int64_t size, int64_t fill_value = -1);
// The elements where mask is true (both broadcast), in row-major order: `size` of them, filled up with
// `fill_value`. `count` (i64, {}) is how many there are, which may be more.
struct MaskedSelection {
  Tensor values, count;
};
MaskedSelection MaskedSelectStatic(const Tensor& x, const Tensor& mask, int64_t size, Number fill_value = 0);

// Where the values belong in sorted rows (the last axis) so that they stay sorted: the first such place, or
// with `right` the last. One row for all values, or rows with the values' leading shape. i64. NaN is
// greatest.
Tensor Searchsorted(const Tensor& sorted_sequence, const Tensor& values, bool right = false);
// The same with torch.bucketize's order of arguments; `boundaries` is one row.
Tensor Bucketize(const Tensor& values, const Tensor& boundaries, bool right = false);

// How often each of 0 .. size-1 occurs (i64), or the sum of its weights (in the weights' type; integers:
// f64). Larger numbers are not counted.
Tensor Bincount(const Tensor& x, int64_t size, const Tensor* weights = nullptr);
// Counts of equal bins over [min, max] in the input's type; elements outside are not counted. min == max:
// from the least to the greatest element.
Tensor Histc(const Tensor& x, int64_t bins = 100, double min = 0, double max = 0);

}  // namespace understudy
