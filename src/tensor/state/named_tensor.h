// SPDX-License-Identifier: Apache-2.0
#pragma once
// What files of weights hold and modules take: tensors with names, in order. The readers beside this make
// them; nothing here reads or writes a file.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/tensor/tensor.h"

namespace understudy {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};
// PyTorch's state_dict: names are "layers.0.weight"-like and unique.
using StateDict = std::vector<NamedTensor>;

// Null when there is none of that name.
const Tensor* FindTensor(const StateDict& state, const std::string& name);

namespace state {

// Elements of a shape whose sizes come from a file: InvalidArgument (naming `what`) for negative sizes and
// counts beyond 2^63 - 1.
absl::StatusOr<int64_t> CheckedElements(const std::string& what, const Shape& shape);
// The same in bytes of that many bytes an element.
absl::StatusOr<uint64_t> CheckedBytes(const std::string& what, const Shape& shape, int element_bytes);

// A tensor with a copy of the bytes.
Tensor FromSpan(absl::Span<const uint8_t> bytes, DType dtype, const Shape& shape, const std::string& device);

}  // namespace state
}  // namespace understudy
