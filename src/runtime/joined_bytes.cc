// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/joined_bytes.h"

#include <cstring>

#include "src/base/status.h"

namespace understudy {

absl::StatusOr<std::vector<uint8_t>> JoinedBytes(
    const UOp& multi, const std::function<absl::StatusOr<std::vector<uint8_t>>(const UOpRef& part)>& read) {
  const auto& arg = multi.arg_as<MultiArg>();
  if (arg.axis < 0) return read(multi.src(0));
  const auto axis = static_cast<size_t>(arg.axis);
  const Shape& shape = multi.shape();
  size_t rows = 1, step = static_cast<size_t>(multi.dtype().ScalarBytes());
  for (size_t i = 0; i < axis; ++i) rows *= static_cast<size_t>(shape[i]);
  for (size_t i = axis + 1; i < shape.size(); ++i) step *= static_cast<size_t>(shape[i]);
  const size_t stride = step * static_cast<size_t>(shape[axis]);
  std::vector<uint8_t> out(rows * stride);
  for (size_t p = 0; p < multi.num_src(); ++p) {
    const UOpRef part(multi.src(p));
    if (part->numel() == 0) continue;
    US_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, read(part));
    const size_t row = step * static_cast<size_t>(part->shape()[axis]);
    US_CHECK(bytes.size() == rows * row) << bytes.size() << " bytes of a part of " << rows << " x " << row;
    const size_t begin = step * static_cast<size_t>(arg.begin[p]);
    for (size_t r = 0; r < rows; ++r) std::memcpy(&out[r * stride + begin], &bytes[r * row], row);
  }
  return out;
}

}  // namespace understudy
