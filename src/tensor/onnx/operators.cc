// SPDX-License-Identifier: Apache-2.0
// The table of operators.
#include "src/tensor/onnx/ops.h"

namespace understudy::onnx {

absl::Span<const OpRow> OpTable() {
  // The newest version of ONNX's operator set whose changes are known here.
  constexpr int64_t kNewest = 28;
  static constexpr OpRow kRows[] = {
#define ONNX_OP(domain, name, since, until, function) {domain, name, since, until, ops::function},
#include "src/tensor/onnx/operators.inc"
#undef ONNX_OP
  };
  return kRows;
}

}  // namespace understudy::onnx
