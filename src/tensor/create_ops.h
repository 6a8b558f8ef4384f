// SPDX-License-Identifier: Apache-2.0
#pragma once
// Creation beside Tensor's own functions, with PyTorch's names. All but EmptyLike are values without storage
// that fuse into what uses them.

#include <optional>
#include <utility>

#include "src/tensor/tensor.h"

namespace understudy {

// Of the same shape, device and (unless given) dtype.
Tensor FullLike(const Tensor& x, Number value, std::optional<DType> dtype = std::nullopt);
Tensor ZerosLike(const Tensor& x, std::optional<DType> dtype = std::nullopt);
Tensor OnesLike(const Tensor& x, std::optional<DType> dtype = std::nullopt);
Tensor EmptyLike(const Tensor& x, std::optional<DType> dtype = std::nullopt);

// base^start ... base^end at equal distances of the exponent.
Tensor Logspace(Number start, Number end, int64_t steps, double base = 10, const TensorOptions& options = {});

// {2, n}, i64: row and column of the elements on and below (above) the diagonal `offset`, in row-major order.
Tensor TrilIndices(int64_t rows, int64_t cols, int64_t offset = 0, const std::string& device = "CPU");
Tensor TriuIndices(int64_t rows, int64_t cols, int64_t offset = 0, const std::string& device = "CPU");

// Columns x^(n-1) ... x^0, or x^0 ... x^(n-1) with `increasing`. n defaults to the length of x.
Tensor Vander(const Tensor& x, std::optional<int64_t> n = std::nullopt, bool increasing = false);

}  // namespace understudy
