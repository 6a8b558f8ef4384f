// SPDX-License-Identifier: Apache-2.0
#pragma once
// Windows over spatial axes as ONNX's attributes give them: strides, dilations, pads or auto_pad, ceil_mode.
// Convolutions and pools share it.

#include <optional>
#include <utility>
#include <vector>

#include "src/tensor/onnx/node.h"

namespace understudy::onnx {

struct SpatialWindows {
  std::vector<int64_t> kernel, stride, dilation;
  std::vector<std::pair<int64_t, int64_t>> pads;  // as declared, or as auto_pad means
  std::vector<int64_t> count;                     // windows along each axis
};
// Of an input {N, C, spatial...}; nothing (and an error) when attributes do not fit.
std::optional<SpatialWindows> ReadWindows(NodeContext& c, const Shape& input,
                                          const std::vector<int64_t>& kernel, bool ceil_mode = false);

// The input's windows {N, C, count..., kernel...}; what lies outside it is `fill`.
Tensor WindowsOf(const Tensor& x, const SpatialWindows& w, Number fill);

// Axes `kernel_axis` {k} and `count_axis` {count} become one axis of `size` at kernel_axis: element j of
// window o is added to place o stride + j dilation.
Tensor PlaceAxis(const Tensor& x, int64_t kernel_axis, int64_t count_axis, int64_t size, int64_t stride,
                 int64_t dilation);

}  // namespace understudy::onnx
