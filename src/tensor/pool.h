// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pooling over the last one, two or three axes of {N, C, spatial...} or {C, spatial...}, with PyTorch's
// shapes and rounding of sizes. Of equal largest elements of a window the first has the index and the whole
// gradient; a NaN is larger than all, and the last of them counts.

#include <cstdint>
#include <optional>

#include "src/tensor/per_axis.h"
#include "src/tensor/tensor.h"

namespace understudy {

struct MaxPoolOptions {
  std::optional<PerAxis> stride;  // the kernel's size
  PerAxis padding = 0, dilation = 1;
  bool ceil_mode = false;
};
Tensor MaxPool1d(const Tensor& input, const PerAxis& kernel, const MaxPoolOptions& options = {});
Tensor MaxPool2d(const Tensor& input, const PerAxis& kernel, const MaxPoolOptions& options = {});
Tensor MaxPool3d(const Tensor& input, const PerAxis& kernel, const MaxPoolOptions& options = {});

// Indices are i64 positions in the input's spatial axes, row-major (NaN counts as largest, the last of them).
struct PoolWithIndices {
  Tensor values, indices;
};
PoolWithIndices MaxPool1dWithIndices(const Tensor& input, const PerAxis& kernel,
                                     const MaxPoolOptions& options = {});
PoolWithIndices MaxPool2dWithIndices(const Tensor& input, const PerAxis& kernel,
                                     const MaxPoolOptions& options = {});
PoolWithIndices MaxPool3dWithIndices(const Tensor& input, const PerAxis& kernel,
                                     const MaxPoolOptions& options = {});

// Puts values back at their indices, zero elsewhere; of several values with one index the last stays. Without
// output_size it is that of the least input that pools to this size. An index outside writes nothing.
struct MaxUnpoolOptions {
  std::optional<PerAxis> stride;
  PerAxis padding = 0;
  std::optional<PerAxis> output_size;
};
Tensor MaxUnpool1d(const Tensor& input, const Tensor& indices, const PerAxis& kernel,
                   const MaxUnpoolOptions& options = {});
Tensor MaxUnpool2d(const Tensor& input, const Tensor& indices, const PerAxis& kernel,
                   const MaxUnpoolOptions& options = {});
Tensor MaxUnpool3d(const Tensor& input, const Tensor& indices, const PerAxis& kernel,
                   const MaxUnpoolOptions& options = {});

struct AvgPoolOptions {
  std::optional<PerAxis> stride;
  PerAxis padding = 0;
  bool ceil_mode = false, count_include_pad = true;
  std::optional<int64_t> divisor_override;
};
Tensor AvgPool1d(const Tensor& input, const PerAxis& kernel, const AvgPoolOptions& options = {});
Tensor AvgPool2d(const Tensor& input, const PerAxis& kernel, const AvgPoolOptions& options = {});
Tensor AvgPool3d(const Tensor& input, const PerAxis& kernel, const AvgPoolOptions& options = {});

// Output i of o over n elements covers [floor(i n / o), ceil((i + 1) n / o)); -1 keeps an axis.
Tensor AdaptiveAvgPool1d(const Tensor& input, const PerAxis& output_size);
Tensor AdaptiveAvgPool2d(const Tensor& input, const PerAxis& output_size);
Tensor AdaptiveAvgPool3d(const Tensor& input, const PerAxis& output_size);
Tensor AdaptiveMaxPool1d(const Tensor& input, const PerAxis& output_size);
Tensor AdaptiveMaxPool2d(const Tensor& input, const PerAxis& output_size);
Tensor AdaptiveMaxPool3d(const Tensor& input, const PerAxis& output_size);
PoolWithIndices AdaptiveMaxPool1dWithIndices(const Tensor& input, const PerAxis& output_size);
PoolWithIndices AdaptiveMaxPool2dWithIndices(const Tensor& input, const PerAxis& output_size);
PoolWithIndices AdaptiveMaxPool3dWithIndices(const Tensor& input, const PerAxis& output_size);

// (sum x^p)^(1/p) of each window, as PyTorch: the sign of the sum is kept.
struct LpPoolOptions {
  std::optional<PerAxis> stride;
  bool ceil_mode = false;
};
Tensor LpPool1d(const Tensor& input, double p, const PerAxis& kernel, const LpPoolOptions& options = {});
Tensor LpPool2d(const Tensor& input, double p, const PerAxis& kernel, const LpPoolOptions& options = {});
Tensor LpPool3d(const Tensor& input, double p, const PerAxis& kernel, const LpPoolOptions& options = {});

}  // namespace understudy
