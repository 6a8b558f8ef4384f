// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operations whose result's size depends on the data, as in PyTorch: the size is read first, then the result
// is a graph of that size like any other, with gradients where the operation of declared size has them.
// Nothing else in src/tensor reads values.

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "src/tensor/tensor.h"

namespace understudy {

// The elements of a tensor as stored bytes, realised: Engine::Bytes.
using ReadTensor = std::function<absl::StatusOr<std::vector<uint8_t>>(Tensor& t)>;

// The indices of elements that are not zero (NaN is not), in row-major order: {count, ndim}, i64.
Tensor Nonzero(const Tensor& x, const ReadTensor& read);
// The elements where mask is true (both broadcast), in row-major order: {count}.
Tensor MaskedSelect(const Tensor& x, const Tensor& mask, const ReadTensor& read);

// The distinct elements of the whole tensor in ascending order; NaNs are distinct from each other, at the
// end.
struct UniqueResult {
  Tensor values;   // {count}
  Tensor inverse;  // of x's shape, i64: values[inverse] is x
  Tensor counts;   // {count}, i64
};
UniqueResult Unique(const Tensor& x, const ReadTensor& read);

}  // namespace understudy
