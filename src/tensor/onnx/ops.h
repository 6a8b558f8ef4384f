// SPDX-License-Identifier: Apache-2.0
#pragma once
// The operators' functions, declared from the table; the files ops_*.cc define them, by concept.

#include "src/tensor/onnx/node.h"
#include "src/tensor/tensor.h"

namespace understudy::onnx::ops {

#define ONNX_OP(domain, name, since, until, function) void function(NodeContext& c);
#include "src/tensor/onnx/operators.inc"
#undef ONNX_OP

// --- Shared by the files that define them ---

// A value of the compiler's type as an ONNX type: saturating or not, rounding what has fewer bits. Used by
// CAST and QUANTIZE_LINEAR.
Tensor CastTo(NodeContext& c, const Tensor& x, ElemType to, bool saturate,
              const std::string& round_mode = "up");

}  // namespace understudy::onnx::ops
