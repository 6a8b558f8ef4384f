// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors whose sizes are not known when their kernels are compiled. A Variable has a range; bound to a value
// it is a Size, sums of which say where a slice begins and how long it is. One schedule and one compiled
// kernel serve all values.
//
//   const Variable start("start", 0, 1023);
//   const Size at = start.Bind(17);
//   AssignNarrow(cache, 1, at, keys);                  // cache[:, at : at + 1] = keys
//   Tensor seen = Narrow(cache, 1, 0, at + 1);         // cache[:, : at + 1]
//   Tensor y = ScaledDotProductAttention(q, seen, v);
//
// A tensor's shape() says how much room each axis has (the most that its size can be, which is also how it is
// stored); TrueShape says how much of it exists in this run. Only what exists takes part: reductions, means
// and softmax run over the true size, and Engine::Data gives the true elements. Operands must agree about the
// size of an axis, as the same expression of the same variables; an axis that was expanded from 1 takes the
// other's. What cannot be is an error that names operation, axis and size: cutting, mirroring or merging a
// variable axis where the result is no such slice.

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/tensor/tensor.h"

namespace understudy {

// A number of elements or a position: a sum of multiples of variables and a constant.
class Size {
 public:
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  Size(T v) : Size(static_cast<int64_t>(v)) {}  // NOLINT: implicit by design
  Size(int64_t v);                              // NOLINT
  explicit Size(UOpRef expr);
  explicit Size(absl::Status error);

  const absl::Status& status() const { return status_; }
  bool IsFixed() const;
  // The least and greatest value, from the variables' ranges.
  int64_t Least() const;
  int64_t Most() const;
  // In this run; FailedPrecondition names a variable that is not bound.
  absl::StatusOr<int64_t> Value() const;
  std::string Text() const;  // "start+1"
  // A scalar tensor. InvalidArgument when a value of the range is none of the type.
  Tensor AsTensor(DType dtype = dtypes::kInt64, const std::string& device = "CPU") const;
  const UOpRef& expr() const { return expr_; }  // null on an error

  friend Size operator+(const Size& a, const Size& b);
  friend Size operator-(const Size& a, const Size& b);
  friend Size operator*(const Size& a, int64_t factor);
  // The same for all values.
  friend bool operator==(const Size& a, const Size& b) { return a.expr_ == b.expr_; }

 private:
  absl::Status status_;
  UOpRef expr_;
};

class Variable {
 public:
  // 0 <= min <= max; what is made from another range is an error.
  Variable(std::string name, int64_t min, int64_t max);
  const std::string& name() const { return name_; }
  int64_t min() const { return min_; }
  int64_t max() const { return max_; }

  // With its value for one run. A value outside the range is an error of all that is made from it; one name
  // with two values in one run is refused when it is realised.
  Size Bind(int64_t value) const;
  // Without one: a graph that is bound later (BindAll); realising it as it is names the variable.
  Size Unbound() const;

 private:
  std::string name_;
  int64_t min_, max_;
};

// --- Slices (values; use AssignNarrow to write through one) ---

// x[..., start : start + length, ...] along one axis. Refused when that lies outside the axis for the values
// that the variables have (or for all that they can have).
Tensor Narrow(const Tensor& x, int64_t axis, const Size& start, const Size& length);
// x[..., start : start + n, ...] = value along one axis, n being value's size there; its other axes are x's,
// or broadcast to them. In place as Tensor::Assign.
Tensor& AssignNarrow(Tensor& x, int64_t axis, const Size& start, const Tensor& value);
// The axis with its whole room, `fill` after the elements that exist.
Tensor PadToRoom(const Tensor& x, int64_t axis, Number fill = 0);

// --- Creation ---

// 0, 1, ... n - 1.
Tensor Arange(const Size& n, const TensorOptions& options = {dtypes::kInt64, "CPU"});
Tensor Full(const std::vector<Size>& shape, Number value, const TensorOptions& options = {});

// --- Asking ---

bool HasVariableSize(const Tensor& x);
// An axis's size; an error when there is no such axis.
Size SizeOf(const Tensor& x, int64_t axis);
absl::StatusOr<Shape> TrueShape(const Tensor& x);

// The same graph with values for its unbound variables; one that is bound keeps its value. InvalidArgument
// for a value outside a variable's range.
Tensor BindAll(const Tensor& x, const std::map<std::string, int64_t>& values);

}  // namespace understudy
