// SPDX-License-Identifier: Apache-2.0
#pragma once
// Convolutions and their transposes over one, two or three spatial axes, and their windows as columns, with
// PyTorch's shapes. The windows are views: nothing is stored but the result. Floats accumulate in AccType.

#include <cstdint>

#include "src/tensor/per_axis.h"
#include "src/tensor/tensor.h"

namespace understudy {

struct ConvOptions {
  PerAxis stride = 1;
  ConvPadding padding = 0;
  PerAxis dilation = 1;
  int64_t groups = 1;
};
// input {N, C, spatial...} or {C, spatial...}; weight {O, C / groups, kernel...}; bias {O} or none.
Tensor Conv1d(const Tensor& input, const Tensor& weight, const Tensor* bias = nullptr,
              const ConvOptions& options = {});
Tensor Conv2d(const Tensor& input, const Tensor& weight, const Tensor* bias = nullptr,
              const ConvOptions& options = {});
Tensor Conv3d(const Tensor& input, const Tensor& weight, const Tensor* bias = nullptr,
              const ConvOptions& options = {});

struct ConvTransposeOptions {
  PerAxis stride = 1, padding = 0, output_padding = 0, dilation = 1;
  int64_t groups = 1;
};
// The gradient of a convolution as an operation: weight {C, O / groups, kernel...}.
Tensor ConvTranspose1d(const Tensor& input, const Tensor& weight, const Tensor* bias = nullptr,
                       const ConvTransposeOptions& options = {});
Tensor ConvTranspose2d(const Tensor& input, const Tensor& weight, const Tensor* bias = nullptr,
                       const ConvTransposeOptions& options = {});
Tensor ConvTranspose3d(const Tensor& input, const Tensor& weight, const Tensor* bias = nullptr,
                       const ConvTransposeOptions& options = {});

struct WindowOptions {
  PerAxis dilation = 1, padding = 0, stride = 1;
};
// torch.nn.functional.unfold: {N, C, H, W} or {C, H, W} -> {N, C * KH * KW, windows}.
Tensor Im2col(const Tensor& input, const PerAxis& kernel, const WindowOptions& options = {});
// torch.nn.functional.fold, its transpose: what falls on one element is summed.
Tensor Col2im(const Tensor& input, const PerAxis& output_size, const PerAxis& kernel,
              const WindowOptions& options = {});

}  // namespace understudy
