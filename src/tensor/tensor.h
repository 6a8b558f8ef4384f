// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Tensor API: a handle on a lazily evaluated value. Programs build graphs with it, an Engine realises
// them; a Tensor never computes anything itself. Semantics are PyTorch's where both have an operation.
//
// Errors do not throw: a function given bad shapes, types or axes returns a tensor whose status() says what
// was wrong (operation, values, what was expected); every later operation passes the first such error on, and
// the engine returns it when asked to realise.
//
//   Tensor x = Tensor::FromData<float>({1, 2, 3, 4}, {2, 2});
//   Tensor y = (x.Matmul(x) + 1).Relu().Sum({1});

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/dtype/const_value.h"
#include "src/dtype/dtype.h"
#include "src/uop/uop.h"

namespace understudy {

// A number without a type of its own: it takes the type of the tensor it meets (an integer tensor that meets
// a fraction becomes f32; a bool tensor that meets an integer becomes i64), as a Python number does in
// PyTorch.
class Number {
 public:
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Number(T v)  // NOLINT: implicit by design
      : kind_(std::is_same_v<T, bool> ? Kind::kBool
              : std::is_integral_v<T> ? Kind::kInt
                                      : Kind::kFloat) {
    if constexpr (std::is_integral_v<T>)
      value_ = static_cast<int64_t>(v);
    else
      value_ = static_cast<double>(v);
  }
  enum class Kind { kBool, kInt, kFloat };
  Kind kind() const { return kind_; }
  const ConstValue& value() const { return value_; }
  double as_double() const;

 private:
  Kind kind_;
  ConstValue value_;
};

// Where and as what a created tensor lives.
struct TensorOptions {
  DType dtype = dtypes::kFloat32;
  std::string device = "CPU";
};

// One entry of Tensor::Index: an integer (the axis goes), a slice with any step but 0, an ellipsis or a new
// axis.
struct Slice {
  std::optional<int64_t> start = std::nullopt, stop = std::nullopt;
  int64_t step = 1;
};
struct Ellipsis {};
struct NewAxis {};
using IndexItem = std::variant<int64_t, Slice, Ellipsis, NewAxis>;

class Operand;
class Tensor;
namespace tensor_internal {
Tensor Combine(const char* op, std::initializer_list<const Tensor*> inputs, absl::StatusOr<UOpRef> value);
void LinkView(Tensor& view, const Tensor& of);
}  // namespace tensor_internal

class Tensor {
 public:
  // No value: status() is FailedPrecondition until assigned.
  Tensor();
  explicit Tensor(absl::Status error);
  // `uop` is a tensor-level value; `device` is where it is computed when it names no buffer.
  Tensor(UOpRef uop, std::string device);

  // --- Creation ---

  // Row-major elements; `data.size()` must be the product of `shape`. The tensor owns its storage from the
  // start.
  template <class T>
  static Tensor FromData(const std::vector<T>& data, Shape shape, const std::string& device = "CPU");
  // The same from raw bytes of `dtype` as stored (for f16, bf16 and 8-bit floats).
  static Tensor FromBytes(std::vector<uint8_t> bytes, DType dtype, Shape shape,
                          const std::string& device = "CPU");
  // Declared storage without contents; reading it before it is assigned is refused.
  static Tensor Empty(Shape shape, const TensorOptions& options = {});
  // Virtual constants: no storage.
  static Tensor Full(Shape shape, Number value, const TensorOptions& options = {});
  static Tensor Zeros(Shape shape, const TensorOptions& options = {});
  static Tensor Ones(Shape shape, const TensorOptions& options = {});
  // start, start + step, ... up to but not including stop.
  static Tensor Arange(Number start, Number stop, Number step = 1, const TensorOptions& options = {});
  static Tensor Linspace(Number start, Number stop, int64_t steps, const TensorOptions& options = {});
  static Tensor Eye(int64_t n, std::optional<int64_t> m = std::nullopt, const TensorOptions& options = {});
  // Threefry-2x32 of (seed, element index): the same bits whatever the device. Uniform in [low, high).
  static Tensor Uniform(Shape shape, uint64_t seed, double low = 0, double high = 1,
                        const TensorOptions& options = {});
  static Tensor Normal(Shape shape, uint64_t seed, double mean = 0, double stddev = 1,
                       const TensorOptions& options = {});

  // --- State ---

  // Copies of a Tensor are the same tensor: realising or assigning one is seen through all.
  const absl::Status& status() const;
  bool ok() const { return status().ok(); }
  const Shape& shape() const;  // {} on an error
  DType dtype() const;         // kVoid on an error
  const std::string& device() const;
  bool is_placed() const;  // some storage in its graph fixes the device (false for virtual constants)
  int64_t numel() const;
  int ndim() const { return static_cast<int>(shape().size()); }
  const UOpRef& uop() const;  // null on an error
  // For the engine: the tensor's value is now held by `uop` (same dtype and shape).
  void Rebind(UOpRef uop);
  bool requires_grad() const;
  Tensor& set_requires_grad(bool on = true);
  // The element value when the tensor is a virtual constant (needs no storage to be read).
  std::optional<ConstValue> ConstantValue() const;

  // In place: this tensor's storage takes `value` when realised (shape, dtype and device must be equal).
  // Values computed before from this tensor keep the old contents; what of them is realised after the write
  // is refused. Views (what Reshape, Permute, Transpose, Flip, Shrink, Index, Squeeze, Unsqueeze, Flatten,
  // Detach and ContiguousBackward gave, and Contiguous where nothing has to be copied) show the new contents,
  // and assigning to a view writes to the tensor that it is a view of. Expand, Pad and
  // Clone give values, but for an Expand or Pad that changes nothing.
  Tensor& Assign(const Tensor& value);
  // The same for a part of the tensor (ints and slices as in Index).
  Tensor& AssignIndex(const std::vector<IndexItem>& items, const Tensor& value);
  // The same through `view`, which must be this tensor seen through Reshape, Permute, Flip, Shrink, Index ...
  // (not Expand, which would write one element several times).
  Tensor& AssignView(const Tensor& view, const Tensor& value);

  // --- Elementwise, one operand ---
  Tensor Neg() const;
  Tensor Abs() const;
  Tensor Sqrt() const;
  Tensor Rsqrt() const;
  Tensor Exp() const;
  Tensor Exp2() const;
  Tensor Log() const;
  Tensor Log2() const;
  Tensor Sin() const;
  Tensor Cos() const;
  Tensor Tanh() const;
  Tensor Sigmoid() const;
  Tensor Relu() const;
  Tensor Gelu() const;  // the tanh form
  Tensor Reciprocal() const;
  Tensor Floor() const;
  Tensor Ceil() const;
  Tensor Trunc() const;
  Tensor Sign() const;
  Tensor Square() const;
  Tensor LogicalNot() const;
  Tensor BitwiseNot() const;
  Tensor IsNan() const;

  // --- Elementwise, two or three operands (broadcast, promoted) ---
  Tensor Add(const Operand& other) const;
  Tensor Sub(const Operand& other) const;
  Tensor Mul(const Operand& other) const;
  Tensor Div(const Operand& other) const;  // true division: integers give f32
  Tensor FloorDiv(const Operand& other) const;
  Tensor TruncDiv(const Operand& other) const;
  Tensor Mod(const Operand& other) const;   // sign of the divisor
  Tensor Fmod(const Operand& other) const;  // sign of the dividend
  Tensor Maximum(const Operand& other) const;
  Tensor Minimum(const Operand& other) const;
  Tensor Pow(const Operand& exponent) const;
  Tensor Lt(const Operand& other) const;
  Tensor Le(const Operand& other) const;
  Tensor Gt(const Operand& other) const;
  Tensor Ge(const Operand& other) const;
  Tensor Eq(const Operand& other) const;
  Tensor Ne(const Operand& other) const;
  Tensor BitAnd(const Operand& other) const;
  Tensor BitOr(const Operand& other) const;
  Tensor BitXor(const Operand& other) const;
  Tensor Shl(const Operand& other) const;
  Tensor Shr(const Operand& other) const;
  Tensor Clamp(std::optional<Number> low, std::optional<Number> high) const;
  Tensor Lerp(const Tensor& end, const Operand& weight) const;

  // --- Types and places ---
  Tensor Cast(DType dtype) const;
  Tensor Bitcast(DType dtype) const;  // equal widths only
  Tensor Contiguous() const;
  Tensor ContiguousBackward() const;
  Tensor Detach() const;
  Tensor Clone() const;                        // storage of its own
  Tensor To(const std::string& device) const;  // owns its destination from the start

  // --- Movement ---
  Tensor Reshape(Shape shape) const;  // one -1 allowed
  Tensor Permute(const std::vector<int64_t>& axes) const;
  Tensor Transpose(int64_t a = -2, int64_t b = -1) const;
  Tensor Expand(Shape shape) const;  // -1 keeps a dimension; new dimensions on the left
  // {before, after} of each axis, in axis order; negative amounts cut.
  Tensor Pad(const std::vector<std::pair<int64_t, int64_t>>& amounts, Number value = 0.0) const;
  // {begin, end} of each axis.
  Tensor Shrink(const std::vector<std::pair<int64_t, int64_t>>& bounds) const;
  Tensor Flip(const std::vector<int64_t>& axes) const;
  Tensor Index(const std::vector<IndexItem>& items) const;
  Tensor Squeeze(std::optional<int64_t> axis = std::nullopt) const;
  Tensor Unsqueeze(int64_t axis) const;
  Tensor Flatten(int64_t start = 0, int64_t end = -1) const;

  // --- Reductions (no axes: all of them) ---

  // Integers and bool answer in SumResultType; floats accumulate in AccType and answer in their own type.
  Tensor Sum(const std::vector<int64_t>& axes = {}, bool keepdim = false) const;
  Tensor Prod(const std::vector<int64_t>& axes = {}, bool keepdim = false) const;
  Tensor Max(const std::vector<int64_t>& axes = {}, bool keepdim = false) const;
  Tensor Min(const std::vector<int64_t>& axes = {}, bool keepdim = false) const;
  Tensor Mean(const std::vector<int64_t>& axes = {}, bool keepdim = false) const;
  Tensor Var(const std::vector<int64_t>& axes = {}, int64_t correction = 1, bool keepdim = false) const;
  // Index of the first largest element along `axis`, i64; NaN counts as largest.
  Tensor Argmax(int64_t axis, bool keepdim = false) const;

  // --- Linear algebra and networks ---
  Tensor Matmul(const Tensor& other) const;
  Tensor Softmax(int64_t axis = -1) const;
  Tensor LogSoftmax(int64_t axis = -1) const;
  // Over the last `num_axes` axes; weight and bias (of their shape) are optional.
  Tensor LayerNorm(int64_t num_axes, const Tensor* weight = nullptr, const Tensor* bias = nullptr,
                   double eps = 1e-5) const;
  struct Conv2dOptions {
    std::pair<int64_t, int64_t> stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
    int64_t groups = 1;
  };
  // this: {N, C, H, W}; weight: {O, C / groups, KH, KW}; bias: {O}, optional.
  Tensor Conv2d(const Tensor& weight, const Tensor* bias, const Conv2dOptions& options) const;
  Tensor Conv2d(const Tensor& weight, const Tensor* bias = nullptr) const {
    return Conv2d(weight, bias, Conv2dOptions());
  }
  // this: {N, C} logits; target: {N} class indices; the mean over N.
  Tensor CrossEntropy(const Tensor& target) const;

 private:
  struct State;
  friend Tensor tensor_internal::Combine(const char* op, std::initializer_list<const Tensor*> inputs,
                                         absl::StatusOr<UOpRef> value);
  friend class Function;
  friend class WeakTensor;  // src/tensor/watch.h
  friend void tensor_internal::LinkView(Tensor& view, const Tensor& of);
  Tensor(UOpRef uop, std::string device, bool placed, bool requires_grad);
  explicit Tensor(std::shared_ptr<State> state) : state_(std::move(state)) {}
  Tensor& Fail(absl::Status status);  // this tensor becomes the error
  State& Fresh() const;               // the state, after a view has looked at its base; watched
  State& Look() const;
  void SetContents(UOpRef uop, bool requires_grad);

  std::shared_ptr<State> state_;
};

// A tensor or a number: what the two-operand functions take.
class Operand {
 public:
  Operand(const Tensor& t) : v_(t) {}  // NOLINT: implicit by design
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Operand(T v) : v_(Number(v)) {}      // NOLINT
  Operand(const Number& n) : v_(n) {}  // NOLINT
  const Tensor* tensor() const { return std::get_if<Tensor>(&v_); }
  const Number* number() const { return std::get_if<Number>(&v_); }

 private:
  std::variant<Tensor, Number> v_;
};

// condition ? a : b, elementwise; condition is bool.
Tensor Where(const Tensor& condition, const Operand& a, const Operand& b);
// Values are moved exactly: -0.0, NaN and infinities stay as they are.
Tensor Cat(const std::vector<Tensor>& tensors, int64_t axis = 0);
Tensor Stack(const std::vector<Tensor>& tensors, int64_t axis = 0);

// d loss / d params, lazily. The loss must have one element. A parameter that takes no part in the loss is an
// error in its place; one reached only through Detach, comparisons or integers has a zero gradient.
// Ties: max, min, Maximum and Minimum split the gradient evenly.
std::vector<Tensor> Gradients(const Tensor& loss, const std::vector<Tensor>& params);

#define UNDERSTUDY_TENSOR_OPERATOR(op, method) \
  inline Tensor operator op(const Tensor& a, const Operand& b) { return a.method(b); }
UNDERSTUDY_TENSOR_OPERATOR(+, Add)
UNDERSTUDY_TENSOR_OPERATOR(-, Sub)
UNDERSTUDY_TENSOR_OPERATOR(*, Mul)
UNDERSTUDY_TENSOR_OPERATOR(/, Div)
UNDERSTUDY_TENSOR_OPERATOR(<, Lt)
UNDERSTUDY_TENSOR_OPERATOR(>, Gt)
UNDERSTUDY_TENSOR_OPERATOR(<=, Le)
UNDERSTUDY_TENSOR_OPERATOR(>=, Ge)
#undef UNDERSTUDY_TENSOR_OPERATOR
inline Tensor operator-(const Tensor& a) { return a.Neg(); }
Tensor operator+(const Number& a, const Tensor& b);
Tensor operator-(const Number& a, const Tensor& b);
Tensor operator*(const Number& a, const Tensor& b);
Tensor operator/(const Number& a, const Tensor& b);

// The element type of a C++ type.
template <class T>
constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, bool>)
    return dtypes::kBool;
  else if constexpr (std::is_same_v<T, float>)
    return dtypes::kFloat32;
  else if constexpr (std::is_same_v<T, double>)
    return dtypes::kFloat64;
  else {
    static_assert(std::is_integral_v<T>, "no element type for this C++ type: use FromBytes");
    constexpr bool s = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1)
      return s ? dtypes::kInt8 : dtypes::kUInt8;
    else if constexpr (sizeof(T) == 2)
      return s ? dtypes::kInt16 : dtypes::kUInt16;
    else if constexpr (sizeof(T) == 4)
      return s ? dtypes::kInt32 : dtypes::kUInt32;
    else
      return s ? dtypes::kInt64 : dtypes::kUInt64;
  }
}

template <class T>
Tensor Tensor::FromData(const std::vector<T>& data, Shape shape, const std::string& device) {
  std::vector<uint8_t> bytes(data.size() * sizeof(T));
  for (size_t i = 0; i < data.size(); ++i) {
    const T v = data[i];
    __builtin_memcpy(&bytes[i * sizeof(T)], &v, sizeof(T));
  }
  return FromBytes(std::move(bytes), DTypeOf<T>(), std::move(shape), device);
}

}  // namespace understudy
