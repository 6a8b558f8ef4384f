// SPDX-License-Identifier: Apache-2.0
#pragma once
// Short names for making nodes: one function an op with the dtype inferred, and C++ operators in uop::expr.
// Stages and tests build graphs with these; they never simplify and never promote (operands must agree
// already).
//
//   using namespace uop::expr;
//   UOpRef i = uop::Range(16, 0, AxisKind::kGlobal);
//   UOpRef x = uop::Load(uop::IndexOf(a, i * 4 + 1, i < 3));

#include <optional>
#include <type_traits>

#include "src/uop/uop.h"

namespace understudy::uop {

// The value, wrapped or rounded to the type.
UOpRef Const(DType dtype, ConstValue v);
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
UOpRef Const(DType dtype, T v) {
  if (dtype.IsFloat()) return Const(dtype, ConstValue(static_cast<double>(v)));
  return Const(dtype, ConstValue(static_cast<int64_t>(v)));
}
inline UOpRef IndexConst(int64_t v) { return Const(dtypes::kIndex, ConstValue(v)); }
inline UOpRef BoolConst(bool v) { return Const(dtypes::kBool, ConstValue(int64_t{v})); }
// A constant of the dtype (and lanes) of `like`.
template <class T>
UOpRef ConstLike(const UOpRef& like, T v) {
  return Const(like->dtype(), v);
}

// An elementwise op; the dtype follows from the op and the sources (CAST and BITCAST have their own
// functions).
UOpRef Alu(Op op, std::vector<UOpRef> src);
inline UOpRef Unary(Op op, const UOpRef& a) { return Alu(op, {a}); }
inline UOpRef Binary(Op op, const UOpRef& a, const UOpRef& b) { return Alu(op, {a, b}); }

inline UOpRef Neg(const UOpRef& a) { return Unary(Op::kNeg, a); }
inline UOpRef Sqrt(const UOpRef& a) { return Unary(Op::kSqrt, a); }
inline UOpRef Exp2(const UOpRef& a) { return Unary(Op::kExp2, a); }
inline UOpRef Log2(const UOpRef& a) { return Unary(Op::kLog2, a); }
inline UOpRef Sin(const UOpRef& a) { return Unary(Op::kSin, a); }
inline UOpRef Cos(const UOpRef& a) { return Unary(Op::kCos, a); }
inline UOpRef Trunc(const UOpRef& a) { return Unary(Op::kTrunc, a); }
inline UOpRef Recip(const UOpRef& a) { return Unary(Op::kRecip, a); }
inline UOpRef Add(const UOpRef& a, const UOpRef& b) { return Binary(Op::kAdd, a, b); }
inline UOpRef Sub(const UOpRef& a, const UOpRef& b) { return Binary(Op::kAdd, a, Neg(b)); }  // ADD and NEG
inline UOpRef Mul(const UOpRef& a, const UOpRef& b) { return Binary(Op::kMul, a, b); }
inline UOpRef FDiv(const UOpRef& a, const UOpRef& b) { return Binary(Op::kFDiv, a, b); }
inline UOpRef IDiv(const UOpRef& a, const UOpRef& b) { return Binary(Op::kIDiv, a, b); }
inline UOpRef IMod(const UOpRef& a, const UOpRef& b) { return Binary(Op::kIMod, a, b); }
inline UOpRef FloorDiv(const UOpRef& a, const UOpRef& b) { return Binary(Op::kFloorDiv, a, b); }
inline UOpRef FloorMod(const UOpRef& a, const UOpRef& b) { return Binary(Op::kFloorMod, a, b); }
inline UOpRef Max(const UOpRef& a, const UOpRef& b) { return Binary(Op::kMax, a, b); }
inline UOpRef Min(const UOpRef& a, const UOpRef& b) { return Binary(Op::kMin, a, b); }
inline UOpRef And(const UOpRef& a, const UOpRef& b) { return Binary(Op::kAnd, a, b); }
inline UOpRef Or(const UOpRef& a, const UOpRef& b) { return Binary(Op::kOr, a, b); }
inline UOpRef Xor(const UOpRef& a, const UOpRef& b) { return Binary(Op::kXor, a, b); }
inline UOpRef Shl(const UOpRef& a, const UOpRef& b) { return Binary(Op::kShl, a, b); }
inline UOpRef Shr(const UOpRef& a, const UOpRef& b) { return Binary(Op::kShr, a, b); }
inline UOpRef CmpLt(const UOpRef& a, const UOpRef& b) { return Binary(Op::kCmpLt, a, b); }
inline UOpRef CmpEq(const UOpRef& a, const UOpRef& b) { return Binary(Op::kCmpEq, a, b); }
inline UOpRef CmpNe(const UOpRef& a, const UOpRef& b) { return Binary(Op::kCmpNe, a, b); }
inline UOpRef Where(const UOpRef& c, const UOpRef& a, const UOpRef& b) { return Alu(Op::kWhere, {c, a, b}); }
inline UOpRef MulAcc(const UOpRef& a, const UOpRef& b, const UOpRef& c) {
  return Alu(Op::kMulAcc, {a, b, c});
}
// Not(x) of a bool.
UOpRef Not(const UOpRef& a);
// The same node when it has the dtype already.
UOpRef Cast(const UOpRef& a, DType dtype);
UOpRef Bitcast(const UOpRef& a, DType dtype);

UOpRef Buffer(DType dtype, BufferArg arg);
// A buffer of fresh id with an empty storage slot.
UOpRef NewBuffer(DType dtype, int64_t size, const std::string& device);
// Kernel level: elem*space at `position`.
UOpRef Param(DType elem, int64_t position, AddrSpace space = AddrSpace::kGlobal);
// Tensor level: a value of that shape at `position`.
UOpRef TensorParam(DType elem, int64_t position, const Shape& shape);
UOpRef DefineLocal(DType elem, int64_t id, int64_t size);
UOpRef DefineReg(DType elem, int64_t id, int64_t size);
UOpRef Var(const std::string& name, int64_t min, int64_t max, DType dtype = dtypes::kIndex);
UOpRef Range(int64_t end, int64_t id, AxisKind kind = AxisKind::kLoop);
UOpRef Range(const UOpRef& end, int64_t id, AxisKind kind = AxisKind::kLoop);
UOpRef Special(int64_t end, const std::string& name);
UOpRef Special(const UOpRef& end, const std::string& name);

// {0, 1, ... n-1}.
UOpRef Iota(DType dtype, int64_t n);
UOpRef Reshape(const UOpRef& x, Shape shape);
UOpRef Expand(const UOpRef& x, Shape shape);
UOpRef Permute(const UOpRef& x, std::vector<int64_t> permutation);
UOpRef Pad(const UOpRef& x, std::vector<int64_t> lo_hi);
UOpRef Shrink(const UOpRef& x, std::vector<int64_t> begin_end);
UOpRef Flip(const UOpRef& x, std::vector<int64_t> axes);
UOpRef ReduceAxis(const UOpRef& x, Op op, std::vector<int64_t> axes);
UOpRef Contiguous(const UOpRef& x);
UOpRef ContiguousBackward(const UOpRef& x);
UOpRef Detach(const UOpRef& x);
// `value`, whose derivative with respect to `inputs` is the named rule's and not that of its formula.
UOpRef WithGradient(const std::string& rule, const UOpRef& value, std::vector<UOpRef> inputs);
UOpRef Copy(const UOpRef& x, const std::string& device);
// The value whose parts these are: parts[i] on devices[i], from begin[i] along the axis on (axis -1: each part
// is the whole value).
UOpRef Multi(std::vector<UOpRef> parts, MultiArg arg);
UOpRef Assign(const UOpRef& target, const UOpRef& value);
// `body`: SINK(STORE(PARAM, value)...) with PARAM p standing for args[p].
UOpRef Call(const UOpRef& body, std::vector<UOpRef> args, CallArg arg);
UOpRef Slice(const UOpRef& x, int64_t axis, const UOpRef& start, const UOpRef& size, int64_t most);
UOpRef Bind(const UOpRef& var, int64_t value);

// A place in a buffer; `valid` (bool) guards it.
UOpRef IndexOf(const UOpRef& buf, const UOpRef& idx, const UOpRef& valid = nullptr);
// One element, or `lanes` consecutive ones.
UOpRef Load(const UOpRef& index, uint16_t lanes = 1, std::vector<UOpRef> deps = {});
// Kernel level: (INDEX, value, ranges). Tensor level: (buffer, value).
UOpRef Store(const UOpRef& place, const UOpRef& value, std::vector<UOpRef> ranges = {});
UOpRef Reduce(Op op, const UOpRef& value, std::vector<UOpRef> ranges);
UOpRef After(const UOpRef& x, std::vector<UOpRef> deps);
UOpRef Barrier(std::vector<UOpRef> deps);
UOpRef If(const UOpRef& condition, std::vector<UOpRef> deps = {});
UOpRef EndIf(const UOpRef& if_node, std::vector<UOpRef> deps = {});
UOpRef End(const UOpRef& body, std::vector<UOpRef> ranges);
UOpRef Vectorize(std::vector<UOpRef> lanes);
UOpRef Gep(const UOpRef& x, int64_t lane);
// a * b + c of a wave's fragments, by the target's tensor core of that name.
UOpRef Wmma(const UOpRef& a, const UOpRef& b, const UOpRef& c, const std::string& core);
UOpRef Sink(std::vector<UOpRef> src);
UOpRef Sink(std::vector<UOpRef> src, const std::string& kernel_name);

// Operators that read as arithmetic. `/` is FDIV on floats and FLOORDIV on integers; `%` is FLOORMOD.
namespace expr {

template <class T>
inline constexpr bool kNumber = std::is_arithmetic_v<T>;

#define UNDERSTUDY_UOP_OPERATOR(symbol, function)                                            \
  inline UOpRef operator symbol(const UOpRef& a, const UOpRef& b) { return function(a, b); } \
  template <class T, class = std::enable_if_t<kNumber<T>>>                                   \
  UOpRef operator symbol(const UOpRef& a, T b) {                                             \
    return function(a, ConstLike(a, b));                                                     \
  }                                                                                          \
  template <class T, class = std::enable_if_t<kNumber<T>>>                                   \
  UOpRef operator symbol(T a, const UOpRef& b) {                                             \
    return function(ConstLike(b, a), b);                                                     \
  }

inline UOpRef Divide(const UOpRef& a, const UOpRef& b) {
  return a->dtype().IsFloat() ? FDiv(a, b) : FloorDiv(a, b);
}
inline UOpRef Greater(const UOpRef& a, const UOpRef& b) { return CmpLt(b, a); }

UNDERSTUDY_UOP_OPERATOR(+, Add)
UNDERSTUDY_UOP_OPERATOR(-, Sub)
UNDERSTUDY_UOP_OPERATOR(*, Mul)
UNDERSTUDY_UOP_OPERATOR(/, Divide)
UNDERSTUDY_UOP_OPERATOR(%, FloorMod)
UNDERSTUDY_UOP_OPERATOR(&, And)
UNDERSTUDY_UOP_OPERATOR(|, Or)
UNDERSTUDY_UOP_OPERATOR(^, Xor)
UNDERSTUDY_UOP_OPERATOR(<<, Shl)
UNDERSTUDY_UOP_OPERATOR(>>, Shr)
UNDERSTUDY_UOP_OPERATOR(<, CmpLt)
UNDERSTUDY_UOP_OPERATOR(>, Greater)
#undef UNDERSTUDY_UOP_OPERATOR
inline UOpRef operator-(const UOpRef& a) { return Neg(a); }
inline UOpRef operator!(const UOpRef& a) { return Not(a); }

}  // namespace expr
}  // namespace understudy::uop
