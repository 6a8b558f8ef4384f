// SPDX-License-Identifier: Apache-2.0
// Creation: host data, constants and sequences. Random numbers are in random.cc.
#include <cmath>

#include "src/base/status.h"
#include "src/tensor/host_data.h"
#include "src/tensor/internal.h"
#include "src/uop/graph.h"

namespace understudy {

using tensor_internal::Bad;
using tensor_internal::CheckCreate;
using tensor_internal::Text;

namespace tensor_internal {

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

}  // namespace tensor_internal

Tensor Tensor::FromBytes(std::vector<uint8_t> bytes, DType dtype, Shape shape, const std::string& device) {
  if (absl::Status s = CheckCreate("FromData", shape, dtype); !s.ok()) return Tensor(s);
  const int64_t n = tensor_internal::Product(shape);
  int64_t want;
  if (__builtin_mul_overflow(n, dtype.ScalarBytes(), &want) || static_cast<int64_t>(bytes.size()) != want) {
    return Tensor(Bad("FromData", bytes.size() / dtype.ScalarBytes(), " elements of ", dtype.Name(),
                      " for shape ", Text(shape), ", expected ", n));
  }
  if (IsGroupName(device)) {
    const UOpRef storage = tensor_internal::SpreadStorage(dtype, shape, Replicated(GroupDevices(device)));
    for (const UOpRef& part : uop::NodesOf(storage, Op::kBuffer))
      part->arg_as<BufferArg>().slot->impl = std::make_unique<HostData>(bytes);
    return Tensor(storage, device);
  }
  const UOpRef buffer = uop::NewBuffer(dtype, n, device);
  buffer->arg_as<BufferArg>().slot->impl = std::make_unique<HostData>(std::move(bytes));
  return Tensor(uop::Reshape(buffer, std::move(shape)), device);
}

Tensor Tensor::Empty(Shape shape, const TensorOptions& options) {
  if (absl::Status s = CheckCreate("Empty", shape, options.dtype); !s.ok()) return Tensor(s);
  if (IsGroupName(options.device)) {
    const Sharding s = Replicated(GroupDevices(options.device));
    return Tensor(tensor_internal::SpreadStorage(options.dtype, shape, s), options.device);
  }
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

// a + i * b for i = 0, 1, ... n-1 in that type.
static UOpRef Steps(DType t, ConstValue a, ConstValue b, int64_t n) {
  const UOpRef i = uop::Cast(uop::Iota(dtypes::kInt64, n), t);
  if (t == dtypes::kInt64 && a == ConstValue(int64_t{0}) && b == ConstValue(int64_t{1})) return i;
  return uop::Add(tensor_internal::Constant(t, a, {n}), uop::Mul(i, tensor_internal::Constant(t, b, {n})));
}

Tensor Tensor::Arange(Number start, Number stop, Number step, const TensorOptions& options) {
  if (absl::Status s = CheckCreate("Arange", {}, options.dtype); !s.ok()) return Tensor(s);
  const double a = start.as_double(), b = stop.as_double(), d = step.as_double();
  if (d == 0 || !std::isfinite(d) || !std::isfinite(a) || !std::isfinite(b)) {
    return Tensor(
        Bad("Arange", "from ", a, " to ", b, " by ", d, ", expected finite bounds and a step other than 0"));
  }
  const double count = std::max(0.0, std::ceil((b - a) / d));
  if (count > 1e15) return Tensor(Bad("Arange", count, " elements are too many"));
  const auto n = static_cast<int64_t>(count);
  // Whole numbers stay integers, which are exact; fractions are computed in f64 and rounded once.
  const bool whole = a == std::trunc(a) && d == std::trunc(d) && std::abs(a) < 0x1p53 &&
                     std::abs(d) < 0x1p53 && std::abs(a + d * count) < 0x1p53;
  const UOpRef v = whole ? Steps(dtypes::kInt64, static_cast<int64_t>(a), static_cast<int64_t>(d), n)
                         : Steps(dtypes::kFloat64, a, d, n);
  return Tensor(uop::Cast(v, options.dtype), options.device);
}

Tensor Tensor::Linspace(Number start, Number stop, int64_t steps, const TensorOptions& options) {
  if (absl::Status s = CheckCreate("Linspace", {steps}, options.dtype); !s.ok()) return Tensor(s);
  const double a = start.as_double(), b = stop.as_double();
  const double d = steps > 1 ? (b - a) / static_cast<double>(steps - 1) : 0;
  // From both ends, so that the last element is exactly `stop`.
  const UOpRef up = Steps(dtypes::kFloat64, a, d, steps),
               down = uop::Flip(Steps(dtypes::kFloat64, b, -d, steps), {0});
  const UOpRef half =
      tensor_internal::Constant(dtypes::kInt64, std::max<int64_t>(steps / 2, steps == 1), {steps});
  const UOpRef v = uop::Where(uop::CmpLt(uop::Iota(dtypes::kInt64, steps), half), up, down);
  return Tensor(uop::Cast(v, options.dtype), options.device);
}

Tensor Tensor::Eye(int64_t n, std::optional<int64_t> m, const TensorOptions& options) {
  const int64_t cols = m.value_or(n);
  if (absl::Status s = CheckCreate("Eye", {n, cols}, options.dtype); !s.ok()) return Tensor(s);
  const TensorOptions index{dtypes::kInt64, options.device};
  return Arange(0, n, 1, index).Reshape({n, 1}).Eq(Arange(0, cols, 1, index)).Cast(options.dtype);
}

}  // namespace understudy
