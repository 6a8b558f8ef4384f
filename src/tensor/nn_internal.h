// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the families of network functions share: refusals, windows as views, sums of products in the type of
// accumulation. Nothing outside src/tensor includes this.

#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "src/tensor/internal.h"
#include "src/tensor/tensor.h"

namespace understudy::tensor_internal {

template <class... A>
Tensor Refuse(const char* op, const A&... a) {
  return Tensor(Bad(op, a...));
}

// The first error of the inputs (null ones are skipped).
absl::Status FirstError(std::initializer_list<const Tensor*> inputs);
// The same, and that all are floats.
absl::Status WantFloats(const char* op, std::initializer_list<const Tensor*> inputs);

// What sums of products of this type accumulate in: AccType of floats, the type itself of the rest.
DType ProductType(DType t);

// Sum of a * b over axes of their broadcast, which go. Answers in `acc`, unrounded; of bools whether any of
// a & b.
Tensor SumOfProducts(const char* op, const Tensor& a, const Tensor& b, const std::vector<int64_t>& axes,
                     DType acc);
// Sum without a change of type; the axes go.
Tensor PlainSum(const char* op, const Tensor& x, const std::vector<int64_t>& axes);
// Matmul in `acc`, which is what it answers in.
Tensor MatmulIn(const char* op, const Tensor& a, const Tensor& b, DType acc);

// [begin, end) of one axis.
Tensor Cut(const Tensor& x, int64_t axis, int64_t begin, int64_t end);
// Zeros (or `value`) around one axis.
Tensor PadAxis(const Tensor& x, int64_t axis, int64_t before, int64_t after, Number value = 0.0);
// `axis` becomes these axes.
Tensor SplitAxis(const Tensor& x, int64_t axis, std::initializer_list<int64_t> sizes);

// Elements that a kernel of k elements reaches over; saturates.
int64_t Reach(int64_t k, int64_t dilation);

// Windows along one axis of at least Reach(k, dilation) elements: it becomes {count, k}, element {o, j} being
// x[o * stride + j * dilation].
Tensor Windows(const Tensor& x, int64_t axis, int64_t k, int64_t stride, int64_t dilation);
// The transpose but for the sum: {count, k} at axis become {k, n}; summed over the first, what falls on one
// element of n is added up.
Tensor PlaceWindows(const Tensor& x, int64_t axis, int64_t n, int64_t stride, int64_t dilation);
// stride - 1 zeros between neighbours along one axis.
Tensor SpreadAxis(const Tensor& x, int64_t axis, int64_t stride);

// The numbers as an f64 or i64 tensor beside `like` on its device.
Tensor HostNumbers(const std::vector<double>& v, Shape shape, DType dtype, const Tensor& like);
// 0, 1, ... n - 1 as i64 along `axis` of `rank` axes.
Tensor Positions(int64_t n, int axis, int rank, const Tensor& like);

// Element index[...] of `axis` of x for an i64 index whose shape is x's but for that axis (or broadcasts to
// it): x by position where the index is inside, `outside` elsewhere. The axis has the index's size after.
Tensor TakeAlong(const Tensor& x, int64_t axis, const Tensor& index, Number outside);

}  // namespace understudy::tensor_internal
