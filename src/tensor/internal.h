// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the files that implement Tensor share: the handle's state, error texts, broadcasting and promotion.
// Nothing outside src/tensor includes this.

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/tensor/tensor.h"
#include "src/uop/build.h"
#include "src/uop/sharding.h"

namespace understudy {

struct Tensor::State {
  absl::Status status;
  UOpRef uop;
  std::string device;
  bool placed = false;  // some buffer or COPY in the graph fixes the device
  bool requires_grad = false;

  // A view shows the contents of its base, which is no view itself: `steps` lead from the base's value to its
  // own. `shown` is the version of the base that `uop` was made from; when they differ, uop is made anew.
  struct Step {
    Op op;
    Arg arg;
    std::vector<UOpRef> rest;  // sources after the first: a slice's start and size
    UOpRef Over(const UOpRef& x) const;
  };
  std::shared_ptr<State> base;
  std::vector<Step> steps;
  uint64_t shown = 0;
  uint64_t version = 0;  // of a base: how often its contents were replaced
};

namespace tensor_internal {

std::string Text(const std::vector<int64_t>& v);  // "[2,3]"

template <class... A>
absl::Status Bad(const char* op, const A&... a) {
  return absl::InvalidArgumentError(absl::StrCat(op, ": ", a...));
}

int64_t Product(const Shape& shape);

// A constant of that dtype and shape.
UOpRef Constant(DType dtype, const ConstValue& v, const Shape& shape);

// The value seen as `shape` (which it must broadcast to): new axes on the left, size 1 expanded.
UOpRef BroadcastTo(const UOpRef& x, const Shape& shape);
// PyTorch's rule; the error names the operation and both shapes.
absl::StatusOr<Shape> BroadcastShapes(const char* op, const Shape& a, const Shape& b);

// Refuses negative and overflowing sizes, and types that hold no elements.
absl::Status CheckCreate(const char* op, const Shape& shape, DType dtype);

// Negative axes count from the end. The error names operation, axis and rank.
absl::StatusOr<int64_t> Axis(const char* op, int64_t axis, int rank);
// Sorted and checked for duplicates; {} becomes all axes.
absl::StatusOr<std::vector<int64_t>> Axes(const char* op, const std::vector<int64_t>& axes, int rank);

// The type a number takes beside a tensor of type t.
DType NumberType(DType t, const Number& n);
// The number as a scalar constant of that type; refuses integers that the type cannot hold.
absl::StatusOr<UOpRef> NumberConst(const char* op, DType dtype, const Number& n);

// f16, bf16 and the 8-bit floats compute composite functions in f32; integers become f32.
DType ComputeType(DType t);
// What a float function of t answers in: t for floats, f32 for the rest.
DType FloatType(DType t);

// Gives a result that depends on `inputs`: their errors pass on, their devices must agree.
Tensor Combine(const char* op, std::initializer_list<const Tensor*> inputs, absl::StatusOr<UOpRef> value);
bool AllOk(std::initializer_list<const Tensor*> inputs);

// The gradient of a movement op other than EXPAND, or of a SLICE, with respect to its source, given that of
// its result; also what writes a value back through a view.
UOpRef UndoMovement(const UOp& node, const UOpRef& g);

// What a value of variable size cannot be, as that operation's error.
absl::Status SizeError(const char* op, const UOp& value);
// Refuses a value whose axes have other variable sizes than the target's.
absl::Status SameSizes(const char* op, const UOp& target, const UOp& value);
// How many elements a reduction over the axes of x sums, as a number or (where sizes are variable) as a
// scalar of that type.
Operand ElementsAlong(const Tensor& x, const std::vector<int64_t>& axes, DType dtype);
// max(0, count - correction).
Operand LessCorrection(const Operand& count, double correction);
// 0 .. n-1 along one axis of x, 1 elsewhere, n being the axis's true size.
Tensor PositionsAlong(const Tensor& x, int64_t axis);
// `x`, which has like's shape, with like's variable sizes.
Tensor SizedAs(const Tensor& x, const Tensor& like);
// Along an axis of variable size, or along one that becomes so (variable.cc). PadVariable: `lo` and `hi`
// elements more (negative: fewer) before and after those that exist.
bool IsVariableAxis(const Tensor& x, int64_t axis);
Tensor PadVariable(const Tensor& x, int64_t axis, int64_t lo, int64_t hi, const Number& fill);
Tensor FlipVariable(const Tensor& x, int64_t axis);
Tensor CatVariable(const std::vector<Tensor>& tensors, int64_t axis);
// Refuses x when an axis of it is variable: for operations that need its numbers.
absl::Status FixedSizes(const char* op, const Tensor& x);

// True for what holds contents that can be overwritten: a BUFFER, what was assigned to one or what a call
// left there, a PARAM of a function's body.
bool IsStorage(const UOp& node);
// True for all elements, or a range of consecutive ones, of storage in their order.
bool IsRangeOfStorage(const UOpRef& x);
// A copy of `value` with storage of its own from the start, on that device.
UOpRef Transfer(const UOpRef& value, const std::string& device);
// Declared storage for a value of that sharding.
UOpRef SpreadStorage(DType dtype, const Shape& shape, const Sharding& s);
// The value cut and copied to where that sharding wants its parts.
UOpRef SpreadParts(const UOpRef& x, const Sharding& s);
// The part of device i.
UOpRef CutAxis(const UOpRef& x, const Sharding& s, size_t part);
// The gradient of a COPY, and what writes a value back through one: `g` where the source is.
UOpRef UndoCopy(const UOp& copy, const UOpRef& g);
inline ConstValue ZeroOf(DType t) { return t.IsFloat() ? ConstValue(0.0) : ConstValue(int64_t{0}); }
// Makes `view` a view of `of` when its value is one: movement ops other than EXPAND, SLICE, DETACH,
// CONTIGUOUS_BACKWARD and (of one device's part) COPY above `of`'s value.
void LinkView(Tensor& view, const Tensor& of);

// The device that a graph's buffers name, or "".
std::string DeviceOf(const UOpRef& x);

// Both operands, broadcast and promoted, as nodes.
struct Pair {
  UOpRef a, b;
};
absl::StatusOr<Pair> Promoted(const char* op, const Tensor& a, const Operand& b);

// --- Random numbers (random.cc) ---

// Two u32 words an element: Threefry of the seed and counter + stride * position.
std::array<Tensor, 2> RandomBits(const Shape& shape, uint64_t seed, uint64_t counter, uint64_t stride,
                                 const std::string& device);
// The same of a tensor {seed, counter}.
std::array<Tensor, 2> RandomBits(const Shape& shape, const Tensor& state, uint64_t stride);
// Uniform in [0, 1): f32 from the upper 24 bits of a word, f64 from 53 bits of two.
Tensor UnitFromBits(const Tensor& bits);
Tensor UnitFromBits64(const Tensor& high, const Tensor& low);
// The natural logarithm of positive normal f32 or f64, and cos(2 pi x) for x in [0, 1), by operations that
// give the same bits on every device; to a few units in the last place.
Tensor ExactLog(const Tensor& x);
Tensor ExactCosTurns(const Tensor& turns);
// Standard normal from two uniforms in [0, 1).
Tensor BoxMuller(const Tensor& u, const Tensor& w);

}  // namespace tensor_internal
}  // namespace understudy
