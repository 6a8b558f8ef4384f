// SPDX-License-Identifier: Apache-2.0
// Creation: host data, constants, sequences and counter-based random numbers.
#include <cmath>
#include <numbers>

#include "src/base/status.h"
#include "src/tensor/host_data.h"
#include "src/tensor/internal.h"
#include "src/tensor/random.h"

namespace understudy {

using tensor_internal::Bad;
using tensor_internal::Text;

namespace {

absl::Status CheckCreate(const char* op, const Shape& shape, DType dtype) {
  int64_t n = 1;
  for (const int64_t d : shape) {
    if (d < 0) return Bad(op, "shape ", Text(shape), " has a negative size");
    if (__builtin_mul_overflow(n, d, &n))
      return Bad(op, "shape ", Text(shape), " has more than 2^63 elements");
  }
  if (dtype.IsVoid() || dtype.IsPointer() || dtype.lanes != 1 || dtype.scalar == Scalar::kIndex) {
    return Bad(op, "dtype ", dtype.Name(), " holds no elements");
  }
  return absl::OkStatus();
}

// Elements from doubles, each rounded once to the type.
Tensor FromDoubles(const std::vector<double>& v, Shape shape, const TensorOptions& options) {
  const int bytes = options.dtype.ScalarBytes();
  std::vector<uint8_t> data(v.size() * bytes);
  for (size_t i = 0; i < v.size(); ++i) {
    const uint64_t bits = ToBits(options.dtype, Canonical(options.dtype, ConstValue(v[i])));
    __builtin_memcpy(&data[i * bytes], &bits, bytes);
  }
  return Tensor::FromBytes(std::move(data), options.dtype, std::move(shape), options.device);
}

}  // namespace

Tensor Tensor::FromBytes(std::vector<uint8_t> bytes, DType dtype, Shape shape, const std::string& device) {
  if (absl::Status s = CheckCreate("FromData", shape, dtype); !s.ok()) return Tensor(s);
  const int64_t n = tensor_internal::Product(shape);
  int64_t want;
  if (__builtin_mul_overflow(n, dtype.ScalarBytes(), &want) || static_cast<int64_t>(bytes.size()) != want) {
    return Tensor(Bad("FromData", bytes.size() / dtype.ScalarBytes(), " elements of ", dtype.Name(),
                      " for shape ", Text(shape), ", expected ", n));
  }
  const UOpRef buffer = uop::NewBuffer(dtype, n, device);
  buffer->arg_as<BufferArg>().slot->impl = std::make_unique<HostData>(std::move(bytes));
  return Tensor(uop::Reshape(buffer, std::move(shape)), device);
}

Tensor Tensor::Empty(Shape shape, const TensorOptions& options) {
  if (absl::Status s = CheckCreate("Empty", shape, options.dtype); !s.ok()) return Tensor(s);
  const UOpRef buffer = uop::NewBuffer(options.dtype, tensor_internal::Product(shape), options.device);
  return Tensor(uop::Reshape(buffer, std::move(shape)), options.device);
}

Tensor Tensor::Full(Shape shape, Number value, const TensorOptions& options) {
  if (absl::Status s = CheckCreate("Full", shape, options.dtype); !s.ok()) return Tensor(s);
  auto c = tensor_internal::NumberConst("Full", options.dtype, value);
  if (!c.ok()) return Tensor(c.status());
  return Tensor(tensor_internal::BroadcastTo(*c, shape), options.device);
}
Tensor Tensor::Zeros(Shape shape, const TensorOptions& options) { return Full(std::move(shape), 0, options); }
Tensor Tensor::Ones(Shape shape, const TensorOptions& options) { return Full(std::move(shape), 1, options); }

Tensor Tensor::Arange(Number start, Number stop, Number step, const TensorOptions& options) {
  if (absl::Status s = CheckCreate("Arange", {}, options.dtype); !s.ok()) return Tensor(s);
  const double a = start.as_double(), b = stop.as_double(), d = step.as_double();
  if (d == 0 || !std::isfinite(d) || !std::isfinite(a) || !std::isfinite(b)) {
    return Tensor(
        Bad("Arange", "from ", a, " to ", b, " by ", d, ", expected finite bounds and a step other than 0"));
  }
  const double count = std::max(0.0, std::ceil((b - a) / d));
  if (count > 1e10) return Tensor(Bad("Arange", count, " elements are too many"));
  std::vector<double> v(static_cast<size_t>(count));
  for (size_t i = 0; i < v.size(); ++i) v[i] = a + static_cast<double>(i) * d;
  const int64_t n = static_cast<int64_t>(v.size());
  return FromDoubles(v, {n}, options);
}

Tensor Tensor::Linspace(Number start, Number stop, int64_t steps, const TensorOptions& options) {
  if (absl::Status s = CheckCreate("Linspace", {steps}, options.dtype); !s.ok()) return Tensor(s);
  const double a = start.as_double(), b = stop.as_double();
  std::vector<double> v(steps);
  for (int64_t i = 0; i < steps; ++i) {
    // From both ends, so that the last element is exactly `stop`.
    const double d = steps > 1 ? (b - a) / static_cast<double>(steps - 1) : 0;
    v[i] = i < steps / 2 || steps == 1 ? a + static_cast<double>(i) * d
                                       : b - static_cast<double>(steps - 1 - i) * d;
  }
  return FromDoubles(v, {steps}, options);
}

Tensor Tensor::Eye(int64_t n, std::optional<int64_t> m, const TensorOptions& options) {
  const int64_t cols = m.value_or(n);
  if (absl::Status s = CheckCreate("Eye", {n, cols}, options.dtype); !s.ok()) return Tensor(s);
  const TensorOptions index{dtypes::kInt64, options.device};
  return Arange(0, n, 1, index).Reshape({n, 1}).Eq(Arange(0, cols, 1, index)).Cast(options.dtype);
}

Tensor Tensor::Uniform(Shape shape, uint64_t seed, double low, double high, const TensorOptions& options) {
  if (absl::Status s = CheckCreate("Uniform", shape, options.dtype); !s.ok()) return Tensor(s);
  if (!options.dtype.IsFloat())
    return Tensor(Bad("Uniform", "dtype ", options.dtype.Name(), ", expected a float"));
  std::vector<double> v(tensor_internal::Product(shape));
  for (size_t i = 0; i < v.size(); ++i) v[i] = low + (high - low) * RandomUnit(seed, i);
  return FromDoubles(v, std::move(shape), options);
}

Tensor Tensor::Normal(Shape shape, uint64_t seed, double mean, double stddev, const TensorOptions& options) {
  if (absl::Status s = CheckCreate("Normal", shape, options.dtype); !s.ok()) return Tensor(s);
  if (!options.dtype.IsFloat())
    return Tensor(Bad("Normal", "dtype ", options.dtype.Name(), ", expected a float"));
  std::vector<double> v(tensor_internal::Product(shape));
  for (size_t i = 0; i < v.size(); ++i) {
    // Box and Muller; 1 - u keeps the logarithm's argument above zero.
    const double u = RandomUnit(seed, 2 * i), w = RandomUnit(seed, 2 * i + 1);
    v[i] = mean + stddev * std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * std::numbers::pi * w);
  }
  return FromDoubles(v, std::move(shape), options);
}

}  // namespace understudy
