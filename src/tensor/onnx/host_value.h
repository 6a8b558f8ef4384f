// SPDX-License-Identifier: Apache-2.0
#pragma once
// The elements of small tensors, computed on the host without a device: shapes, axes and loop counts that an
// ONNX graph computes with tensors. The importer asks here first, so that such arithmetic costs no kernels.

#include <cstdint>
#include <optional>
#include <vector>

#include "src/uop/uop.h"

namespace understudy::onnx {

// Row-major elements as stored. Nothing when the graph reads device memory, has an op without a value of its
// own (calls, assignments), or computes more than `budget` elements on the way.
std::optional<std::vector<uint8_t>> HostElements(const UOpRef& value, int64_t budget = 1 << 14);

}  // namespace understudy::onnx
