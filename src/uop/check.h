// SPDX-License-Identifier: Apache-2.0
#pragma once
// What makes one node well formed, and the shape that it has: used by UOp::Make for every new node, and by
// nothing else. It looks at a node and its direct sources only; what a whole graph may hold at a stage is
// spec.h's matter.

#include <vector>

#include "absl/status/statusor.h"
#include "src/uop/uop.h"

namespace understudy {

// The node's shape, or InvalidArgument naming op, offending value and what was expected.
absl::StatusOr<Shape> CheckNode(Op op, DType dtype, absl::Span<const UOpRef> src, const Arg& arg);

}  // namespace understudy
