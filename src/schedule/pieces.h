// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cutting values along an axis, bringing pieces to a device and putting them together again, as graphs. What
// src/schedule/multi.cc and all_reduce.cc build their copies from.

#include <string>
#include <vector>

#include "src/uop/uop.h"

namespace understudy {

// Zeros, without storage: for parts that have no elements or are padding only.
UOpRef ZeroValue(DType dtype, const Shape& shape);
// [begin, end) along the axis.
UOpRef Cut(const UOpRef& x, int64_t axis, int64_t begin, int64_t end);
// The value, which is on `from`, as it is on `to`.
UOpRef MoveTo(const UOpRef& x, const std::string& from, const std::string& to);

struct Piece {
  int64_t begin = 0;  // along the axis
  UOpRef value;
};
// Pieces that cover the axis of a value of that shape; bits arrive as they are.
UOpRef Join(const std::vector<Piece>& pieces, int64_t axis, const Shape& shape);

}  // namespace understudy
