// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reductions with PyTorch's names, arguments and gradients beside those that are methods of Tensor. `dim` is
// a list of axes ({}: all of them); narrow floats accumulate in f32 (AccType), integers and bool add up in
// i64 or u64 (SumResultType), and `dtype` converts the input first, as in PyTorch.

#include <optional>
#include <utility>
#include <vector>

#include "src/tensor/tensor.h"

namespace understudy {

struct ValuesAndIndices {
  Tensor values, indices;  // indices: i64
};

Tensor Sum(const Tensor& x, const std::vector<int64_t>& dim = {}, bool keepdim = false,
           std::optional<DType> dtype = std::nullopt);
Tensor Prod(const Tensor& x, const std::vector<int64_t>& dim = {}, bool keepdim = false,
            std::optional<DType> dtype = std::nullopt);
Tensor Mean(const Tensor& x, const std::vector<int64_t>& dim = {}, bool keepdim = false,
            std::optional<DType> dtype = std::nullopt);
// NaN counts as 0, and not at all in the mean.
Tensor Nansum(const Tensor& x, const std::vector<int64_t>& dim = {}, bool keepdim = false,
              std::optional<DType> dtype = std::nullopt);
Tensor Nanmean(const Tensor& x, const std::vector<int64_t>& dim = {}, bool keepdim = false,
               std::optional<DType> dtype = std::nullopt);

// Not zero counts as true (NaN too).
Tensor Any(const Tensor& x, const std::vector<int64_t>& dim = {}, bool keepdim = false);
Tensor All(const Tensor& x, const std::vector<int64_t>& dim = {}, bool keepdim = false);
Tensor CountNonzero(const Tensor& x, const std::vector<int64_t>& dim = {});

// Divided by max(0, n - correction).
Tensor Var(const Tensor& x, const std::vector<int64_t>& dim = {}, double correction = 1,
           bool keepdim = false);
Tensor Std(const Tensor& x, const std::vector<int64_t>& dim = {}, double correction = 1,
           bool keepdim = false);
std::pair<Tensor, Tensor> VarMean(const Tensor& x, const std::vector<int64_t>& dim = {},
                                  double correction = 1, bool keepdim = false);
std::pair<Tensor, Tensor> StdMean(const Tensor& x, const std::vector<int64_t>& dim = {},
                                  double correction = 1, bool keepdim = false);

// NaN is passed on. The gradient is split evenly between equal elements.
Tensor Amax(const Tensor& x, const std::vector<int64_t>& dim = {}, bool keepdim = false);
Tensor Amin(const Tensor& x, const std::vector<int64_t>& dim = {}, bool keepdim = false);
// {least, greatest}; the gradient is split evenly.
std::pair<Tensor, Tensor> Aminmax(const Tensor& x, std::optional<int64_t> dim = std::nullopt,
                                  bool keepdim = false);
// The first of the greatest (least) along an axis and its index; the gradient goes to that element alone. NaN
// counts as greatest and as least.
ValuesAndIndices Max(const Tensor& x, int64_t dim, bool keepdim = false);
ValuesAndIndices Min(const Tensor& x, int64_t dim, bool keepdim = false);
// Without `dim`: the position in row-major order. The first of several equal ones.
Tensor Argmax(const Tensor& x, std::optional<int64_t> dim = std::nullopt, bool keepdim = false);
Tensor Argmin(const Tensor& x, std::optional<int64_t> dim = std::nullopt, bool keepdim = false);

// log(sum(exp(x))), shifted by the maximum.
Tensor Logsumexp(const Tensor& x, const std::vector<int64_t>& dim = {}, bool keepdim = false);
Tensor Softmax(const Tensor& x, int64_t dim, std::optional<DType> dtype = std::nullopt);
Tensor LogSoftmax(const Tensor& x, int64_t dim, std::optional<DType> dtype = std::nullopt);

}  // namespace understudy
