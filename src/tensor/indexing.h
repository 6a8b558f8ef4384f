// SPDX-License-Identifier: Apache-2.0
#pragma once
// Indexing and assignment with tensors among the indices, by PyTorch's rules: integers, slices, ellipsis and
// new axes are applied first; the index tensors then broadcast against each other, and their common shape
// stands where the first of them stood when their axes are adjacent, else in front.
//
//   Tensor y = IndexBy(x, {rows, Slice{0, 4}, cols});
//   Tensor z = IndexPut(x, {rows}, values, /*accumulate=*/true);
//
// Index tensors hold integers; negative ones count from the end. One that is out of range cannot be refused
// before the data is known: it reads 0 (false) and writes nothing. A mask (bool tensor) takes the place of as
// many axes as it has. How many elements it selects depends on the data, so that reading through one declares
// the number: Mask{m, count} gives the first `count` true places in row-major order (0 for those that are
// missing). Assignment through a mask alone needs no count when the value has one element or broadcasts.

#include <optional>
#include <variant>
#include <vector>

#include "src/tensor/tensor.h"

namespace understudy {

struct Mask {
  Tensor mask;
  std::optional<int64_t> count = std::nullopt;
};
using TensorIndex = std::variant<int64_t, Slice, Ellipsis, NewAxis, Tensor, Mask>;

Tensor IndexBy(const Tensor& x, const std::vector<TensorIndex>& items);

// x with `value` (broadcast to the indexed part) at the indexed places, or added to them. Without
// `accumulate`, of several values for one place the last in the row-major order of the index counts (PyTorch
// leaves that open); with it, all are added, in an order that may round differently.
Tensor IndexPut(const Tensor& x, const std::vector<TensorIndex>& items, const Operand& value,
                bool accumulate = false);

// The same in place: x's storage takes the result when realised (see Tensor::Assign).
Tensor& AssignIndexBy(Tensor& x, const std::vector<TensorIndex>& items, const Operand& value,
                      bool accumulate = false);

// The true elements of the mask's broadcast with x, in row-major order: `count` of them, zeros after the
// last.
Tensor MaskedSelect(const Tensor& x, const Tensor& mask, int64_t count);

}  // namespace understudy
