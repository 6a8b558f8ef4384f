// SPDX-License-Identifier: Apache-2.0
#pragma once
// Movement ops and SLICE as index arithmetic: given where an element of a view is read, where that is in the
// source. Used by the scheduler for every such op; PAD and SLICE are the only ones that add a validity.

#include <vector>

#include "src/uop/uop.h"

namespace understudy {

struct Place {
  std::vector<UOpRef> index;  // one a dimension
  UOpRef valid;               // bool; null: always
};

// What moves or picks elements of its first source and computes nothing.
inline bool IsView(Op op) { return IsMovement(op) || op == Op::kSlice; }

// The place in node.src(0) of the element at `at` of the movement op `node`. `at.valid` is carried on; the
// condition that `node` itself adds (PAD, SLICE) also comes back in `own` (null: none).
Place SourcePlace(const UOp& node, const Place& at, UOpRef* own);

// Row-major position of an index in a shape.
UOpRef Flatten(const std::vector<UOpRef>& index, const Shape& shape);

}  // namespace understudy
