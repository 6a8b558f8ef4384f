// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reordering, splitting, merging, repeating and reducing axes by name, in einops' notation (Rogozhnikov,
// "Einops: clear and reliable tensor manipulations with Einstein-like notation", 2022). Axes are words;
// parentheses join axes into one, `1` or `()` is an axis of size 1, `...` stands for the axes not named.
//
//   Tensor heads = Rearrange(x, "b t (h d) -> b h t d", {{"h", 8}});
//   Tensor rows = EinopsReduce(image, "c (h 2) (w 2) -> c h w", EinopsReduction::kMean);
//
// Errors name the pattern, the axis and what was expected.

#include <string>
#include <utility>
#include <vector>

#include "src/tensor/tensor.h"

namespace understudy {

using AxisSizes = std::vector<std::pair<std::string, int64_t>>;

Tensor Rearrange(const Tensor& x, const std::string& pattern, const AxisSizes& sizes = {});

// Axes that stand on the right alone are repeated; their sizes must be given.
Tensor EinopsRepeat(const Tensor& x, const std::string& pattern, const AxisSizes& sizes = {});

// Axes that stand on the left alone are reduced.
enum class EinopsReduction { kSum, kMean, kMax, kMin, kProd };
Tensor EinopsReduce(const Tensor& x, const std::string& pattern, EinopsReduction reduction,
                    const AxisSizes& sizes = {});

}  // namespace understudy
