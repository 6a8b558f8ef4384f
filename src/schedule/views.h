// SPDX-License-Identifier: Apache-2.0
#pragma once
// Movement ops as index arithmetic: given where an element of a view is read, where that is in the source.
// Used by the scheduler for every movement op; PAD is the only one that adds a validity.

#include <vector>

#include "src/uop/uop.h"

namespace understudy {

struct Place {
  std::vector<UOpRef> index;  // one a dimension
  UOpRef valid;               // bool; null: always
};

// The place in node.src(0) of the element at `at` of the movement op `node`. `at.valid` is carried on; the
// condition that `node` itself adds (PAD) also comes back in `own` (null: none).
Place SourcePlace(const UOp& node, const Place& at, UOpRef* own);

// Row-major position of an index in a shape.
UOpRef Flatten(const std::vector<UOpRef>& index, const Shape& shape);

}  // namespace understudy
