// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/create_ops.h"

#include <algorithm>
#include <cmath>

#include "src/base/status.h"
#include "src/tensor/gather.h"
#include "src/tensor/internal.h"

namespace understudy {

using tensor_internal::Bad;
using tensor_internal::Text;

Tensor FullLike(const Tensor& x, Number value, std::optional<DType> dtype) {
  if (!x.ok()) return x;
  return tensor_internal::SizedAs(Tensor::Full(x.shape(), value, {dtype.value_or(x.dtype()), x.device()}), x);
}
Tensor ZerosLike(const Tensor& x, std::optional<DType> dtype) { return FullLike(x, 0, dtype); }
Tensor OnesLike(const Tensor& x, std::optional<DType> dtype) { return FullLike(x, 1, dtype); }
Tensor EmptyLike(const Tensor& x, std::optional<DType> dtype) {
  if (!x.ok()) return x;
  return tensor_internal::SizedAs(Tensor::Empty(x.shape(), {dtype.value_or(x.dtype()), x.device()}), x);
}

Tensor Logspace(Number start, Number end, int64_t steps, double base, const TensorOptions& options) {
  if (!(base > 0) || std::isinf(base))
    return Tensor(Bad("Logspace", "base ", base, ", expected a positive number"));
  const Tensor exponent = Tensor::Linspace(start, end, steps, {dtypes::kFloat64, options.device});
  return (exponent * std::log2(base)).Exp2().Cast(options.dtype);
}

namespace {

Tensor Indices(const char* op, int64_t rows, int64_t cols, int64_t offset, bool lower,
               const std::string& device) {
  if (rows < 0 || cols < 0) return Tensor(Bad(op, rows, " rows and ", cols, " columns, expected at least 0"));
  // Positions of the true elements of the mask; their number is known, so nothing depends on data.
  int64_t count = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t upto = std::clamp<int64_t>(r + offset + (lower ? 1 : 0), 0, cols);
    count += lower ? upto : cols - upto;
  }
  const TensorOptions index{dtypes::kInt64, device};
  const Tensor difference = Tensor::Arange(0, cols, 1, index).Reshape({1, cols}) -
                            Tensor::Arange(0, rows, 1, index).Reshape({rows, 1});
  const Tensor mask = lower ? difference.Le(offset) : difference.Ge(offset);
  return NonzeroStatic(mask, count).Transpose(0, 1);
}

}  // namespace

Tensor TrilIndices(int64_t rows, int64_t cols, int64_t offset, const std::string& device) {
  return Indices("TrilIndices", rows, cols, offset, true, device);
}
Tensor TriuIndices(int64_t rows, int64_t cols, int64_t offset, const std::string& device) {
  return Indices("TriuIndices", rows, cols, offset, false, device);
}

Tensor Vander(const Tensor& x, std::optional<int64_t> n, bool increasing) {
  if (!x.ok()) return x;
  if (x.ndim() != 1) return Tensor(Bad("Vander", "shape ", Text(x.shape()), ", expected a list"));
  const int64_t columns = n.value_or(x.shape()[0]);
  if (columns < 0) return Tensor(Bad("Vander", columns, " columns, expected at least 0"));
  const DType t = x.dtype().IsFloat() ? x.dtype() : dtypes::kInt64;
  if (columns == 0) return Tensor::Zeros({x.shape()[0], 0}, {t, x.device()});
  std::vector<Tensor> powers{Tensor::Ones(x.shape(), {t, x.device()})};
  for (int64_t i = 1; i < columns; ++i) powers.push_back(powers.back() * x.Cast(t));
  const Tensor m = Stack(powers, 1);
  return increasing ? m : m.Flip({1});
}

}  // namespace understudy
