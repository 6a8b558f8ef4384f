// SPDX-License-Identifier: Apache-2.0
#pragma once
// Resizing of the spatial axes and sampling at computed positions, with PyTorch's conventions for positions.

#include <cstdint>
#include <optional>
#include <vector>

#include "src/tensor/per_axis.h"
#include "src/tensor/tensor.h"

namespace understudy {

enum class InterpolateMode { kNearest, kNearestExact, kLinear, kCubic, kArea };

// Exactly one of size and scale_factor. kLinear stands for linear, bilinear and trilinear by the number of
// spatial axes; kCubic is bicubic (two axes only).
struct InterpolateOptions {
  std::optional<PerAxis> size;
  std::vector<double> scale_factor;  // one for all axes, or one an axis
  InterpolateMode mode = InterpolateMode::kNearest;
  bool align_corners = false;           // kLinear and kCubic
  bool recompute_scale_factor = false;  // positions from the sizes instead of from scale_factor
};
// input {N, C, spatial...} with one to three spatial axes.
Tensor Interpolate(const Tensor& input, const InterpolateOptions& options);

// {.., C r^2, H, W} -> {.., C, H r, W r}, and back.
Tensor PixelShuffle(const Tensor& input, int64_t upscale_factor);
Tensor PixelUnshuffle(const Tensor& input, int64_t downscale_factor);
// {N, C, ...}: channel g k + j goes to j groups + g.
Tensor ChannelShuffle(const Tensor& input, int64_t groups);

struct GridSampleOptions {
  enum class Mode { kBilinear, kNearest };
  enum class Padding { kZeros, kBorder, kReflection };
  Mode mode = Mode::kBilinear;
  Padding padding = Padding::kZeros;
  bool align_corners = false;
};
// input {N, C, H, W}, grid {N, OH, OW, 2} of (x, y) in [-1, 1] -> {N, C, OH, OW}.
Tensor GridSample(const Tensor& input, const Tensor& grid, const GridSampleOptions& options = {});

}  // namespace understudy
