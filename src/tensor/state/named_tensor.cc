// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/state/named_tensor.h"

#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy {

const Tensor* FindTensor(const StateDict& state, const std::string& name) {
  for (const NamedTensor& t : state) {
    if (t.name == name) return &t.tensor;
  }
  return nullptr;
}

namespace state {

absl::StatusOr<int64_t> CheckedElements(const std::string& what, const Shape& shape) {
  int64_t n = 1;
  bool overflow = false, zero = false;
  for (const int64_t d : shape) {
    if (d < 0) return absl::InvalidArgumentError(absl::StrCat(what, ": size ", d, ", expected at least 0"));
    zero |= d == 0;
    overflow |= __builtin_mul_overflow(n, d, &n);
  }
  if (zero) return 0;
  if (overflow) return absl::InvalidArgumentError(absl::StrCat(what, ": more than 2^63 - 1 elements"));
  return n;
}

absl::StatusOr<uint64_t> CheckedBytes(const std::string& what, const Shape& shape, int element_bytes) {
  US_ASSIGN_OR_RETURN(const int64_t n, CheckedElements(what, shape));
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(n), static_cast<uint64_t>(element_bytes), &bytes))
    return absl::InvalidArgumentError(absl::StrCat(what, ": more than 2^64 - 1 bytes"));
  return bytes;
}

Tensor FromSpan(absl::Span<const uint8_t> bytes, DType dtype, const Shape& shape, const std::string& device) {
  return Tensor::FromBytes(std::vector<uint8_t>(bytes.begin(), bytes.end()), dtype, shape, device);
}

}  // namespace state
}  // namespace understudy
