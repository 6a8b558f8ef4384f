// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic with broadcasting and promotion. Composite functions are formulas over other Tensor
// operations; those of the narrow floats are computed in f32 and rounded once at the end.
#include <cmath>
#include <numbers>

#include "src/base/status.h"
#include "src/tensor/internal.h"
#include "src/tensor/math.h"

namespace understudy {

using tensor_internal::Bad;
using tensor_internal::BroadcastTo;
using tensor_internal::Combine;
using tensor_internal::ComputeType;
using tensor_internal::FloatType;
using tensor_internal::Text;

namespace tensor_internal {

absl::StatusOr<Pair> Promoted(const char* op, const Tensor& a, const Operand& b) {
  US_RETURN_IF_ERROR(a.status());
  if (const Number* n = b.number()) {
    const DType t = NumberType(a.dtype(), *n);
    US_ASSIGN_OR_RETURN(const UOpRef c, NumberConst(op, t, *n));
    return Pair{uop::Cast(a.uop(), t), BroadcastTo(c, a.shape())};
  }
  const Tensor& other = *b.tensor();
  US_RETURN_IF_ERROR(other.status());
  US_ASSIGN_OR_RETURN(const Shape shape, BroadcastShapes(op, a.shape(), other.shape()));
  const DType t = Promote(a.dtype(), other.dtype());
  return Pair{BroadcastTo(uop::Cast(a.uop(), t), shape), BroadcastTo(uop::Cast(other.uop(), t), shape)};
}

}  // namespace tensor_internal

namespace {

using tensor_internal::Pair;
using tensor_internal::Promoted;

// f(a, b) on promoted operands.
template <class F>
Tensor Binary(const char* op, const Tensor& a, const Operand& b, F f) {
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    US_ASSIGN_OR_RETURN(const Pair p, Promoted(op, a, b));
    return f(p.a, p.b);
  };
  return Combine(op, {&a, b.tensor()}, make());
}

template <class F>
Tensor Unary(const char* op, const Tensor& a, F f) {
  if (!a.ok()) return a;
  return Combine(op, {&a}, f(a.uop()));
}

// A function on floats: the node op in the compute type, rounded to the result type.
Tensor FloatUnary(const char* name, Op op, const Tensor& a) {
  return Unary(name, a, [&](const UOpRef& x) -> absl::StatusOr<UOpRef> {
    const DType out = FloatType(x->dtype());
    return uop::Cast(uop::Unary(op, uop::Cast(x, ComputeType(out))), out);
  });
}

// A function of src/tensor/math.h, in the compute type.
Tensor Function(const char* name, UOpRef (*f)(const UOpRef&), const Tensor& a) {
  return Unary(name, a, [&](const UOpRef& x) -> absl::StatusOr<UOpRef> {
    const DType out = FloatType(x->dtype());
    return uop::Cast(f(uop::Cast(x, ComputeType(out))), out);
  });
}

// A formula over Tensor operations, in the compute type.
template <class F>
Tensor Formula(const Tensor& a, F f) {
  if (!a.ok()) return a;
  const DType out = FloatType(a.dtype());
  return f(a.Cast(ComputeType(out))).Cast(out);
}

absl::Status WantIntegers(const char* op, DType t) {
  if (t.IsInt() || t.IsBool()) return absl::OkStatus();
  return Bad(op, "dtype ", t.Name(), ", expected integers");
}

// a + b and a * b of bools are OR and AND, as in PyTorch.
UOpRef AddOp(const UOpRef& a, const UOpRef& b) {
  return a->dtype().IsBool() ? uop::Or(a, b) : uop::Add(a, b);
}
UOpRef MulOp(const UOpRef& a, const UOpRef& b) {
  return a->dtype().IsBool() ? uop::And(a, b) : uop::Mul(a, b);
}
// a <= b, false when one is NaN.
UOpRef LeOp(const UOpRef& a, const UOpRef& b) {
  return a->dtype().IsFloat()
             ? uop::Or(uop::CmpLt(a, b), uop::CmpEq(a, b))
             : uop::Xor(uop::CmpLt(b, a), tensor_internal::Constant(dtypes::kBool, int64_t{1}, a->shape()));
}

UOpRef Filled(const UOpRef& like, double v) {
  const ConstValue c = like->dtype().IsFloat() ? ConstValue(v) : ConstValue(static_cast<int64_t>(v));
  return tensor_internal::Constant(like->dtype(), c, like->shape());
}

UOpRef AbsOp(const UOpRef& x) {
  return x->dtype().IsFloat() || x->dtype().IsSigned() ? uop::Max(x, uop::Neg(x)) : x;
}

// The float remainder with the dividend's sign: fma makes q * b exact, and one step repairs a quotient that
// rounded up to the next integer. Exact while |a / b| is below 2^53 (f64) or 2^28 (narrower, through f64).
UOpRef FmodFloat(const UOpRef& a0, const UOpRef& b0) {
  const DType t = a0->dtype();
  const UOpRef a = uop::Cast(a0, dtypes::kFloat64), b = uop::Cast(b0, dtypes::kFloat64);
  const UOpRef zero = Filled(a, 0), q = uop::Trunc(uop::FDiv(a, b));
  UOpRef r = uop::MulAcc(uop::Neg(q), b, a);
  const UOpRef wrong = uop::Or(uop::And(uop::CmpLt(r, zero), uop::CmpLt(zero, a)),
                               uop::And(uop::CmpLt(zero, r), uop::CmpLt(a, zero)));
  const UOpRef step = uop::Where(uop::CmpLt(r, zero), AbsOp(b), uop::Neg(AbsOp(b)));
  r = uop::Where(wrong, uop::Add(r, step), r);
  r = uop::Where(uop::CmpEq(r, zero), uop::Mul(a, zero), r);  // a zero takes the dividend's sign
  const UOpRef infinite =
      uop::And(uop::CmpEq(AbsOp(b), Filled(b, INFINITY)), uop::CmpLt(AbsOp(a), Filled(a, INFINITY)));
  return uop::WithGradient("fmod", uop::Cast(uop::Where(infinite, a, r), t), {a0, b0});
}

UOpRef ModFloat(const UOpRef& a, const UOpRef& b) {
  const UOpRef r = FmodFloat(a, b), zero = Filled(r, 0);
  const UOpRef differs = uop::Xor(uop::CmpLt(r, zero), uop::CmpLt(b, zero));
  return uop::WithGradient("fmod", uop::Where(uop::And(uop::CmpNe(r, zero), differs), uop::Add(r, b), r),
                           {a, b});
}

// Squares, multiplied where the exponent has the bit: wraps as the multiplications would. Negative exponents
// give the truncated reciprocal: 1 or -1 for those, else 0 (also for 0).
UOpRef IntegerPower(const UOpRef& base, const UOpRef& exponent) {
  const DType t = base->dtype();
  const UOpRef zero = Filled(base, 0), one = Filled(base, 1);
  UOpRef result = one, square = base;
  const int bits = t.BitWidth() - (t.IsSigned() ? 1 : 0);
  for (int k = 0; k < bits; ++k) {
    const UOpRef bit = uop::And(exponent, tensor_internal::Constant(t, int64_t{1} << k, base->shape()));
    result = uop::Where(uop::CmpNe(bit, zero), uop::Mul(result, square), result);
    square = uop::Mul(square, square);
  }
  if (!t.IsSigned()) return result;
  const UOpRef minus = Filled(base, -1);
  const UOpRef even = uop::CmpEq(uop::And(exponent, one), zero);
  const UOpRef reciprocal = uop::Where(
      uop::CmpEq(base, one), one, uop::Where(uop::CmpEq(base, minus), uop::Where(even, one, minus), zero));
  return uop::Where(uop::CmpLt(exponent, zero), reciprocal, result);
}

UOpRef FloorOp(const UOpRef& x) {
  const UOpRef t = uop::Trunc(x);
  return uop::Where(uop::CmpLt(x, t), uop::Add(t, Filled(t, -1)), t);
}

}  // namespace

// --- One operand ---

Tensor Tensor::Neg() const {
  return Unary("Neg", *this, [](const UOpRef& x) -> absl::StatusOr<UOpRef> {
    if (x->dtype().IsBool()) return Bad("Neg", "dtype bool, expected a number (LogicalNot inverts)");
    return uop::Neg(x);
  });
}
Tensor Tensor::Abs() const {
  return Unary("Abs", *this, [](const UOpRef& x) -> absl::StatusOr<UOpRef> {
    if (x->dtype().IsBool()) return Bad("Abs", "dtype bool, expected a number");
    return AbsOp(x);
  });
}
Tensor Tensor::Sqrt() const { return FloatUnary("Sqrt", Op::kSqrt, *this); }
Tensor Tensor::Exp2() const { return FloatUnary("Exp2", Op::kExp2, *this); }
Tensor Tensor::Log2() const { return FloatUnary("Log2", Op::kLog2, *this); }
Tensor Tensor::Sin() const { return FloatUnary("Sin", Op::kSin, *this); }
Tensor Tensor::Rsqrt() const {
  return Formula(*this, [](const Tensor& x) { return 1.0 / x.Sqrt(); });
}
Tensor Tensor::Cos() const { return FloatUnary("Cos", Op::kCos, *this); }
Tensor Tensor::Exp() const { return Function("Exp", tensor_internal::math::Exp, *this); }
Tensor Tensor::Log() const { return Function("Log", tensor_internal::math::Log, *this); }
Tensor Tensor::Sigmoid() const { return Function("Sigmoid", tensor_internal::math::Sigmoid, *this); }
Tensor Tensor::Tanh() const { return Function("Tanh", tensor_internal::math::Tanh, *this); }
Tensor Tensor::Relu() const {
  // A select and not MAX: the gradient at 0 is 0, and NaN stays.
  return Unary("Relu", *this, [](const UOpRef& x) -> absl::StatusOr<UOpRef> {
    if (x->dtype().IsBool()) return Bad("Relu", "dtype bool, expected a number");
    const UOpRef zero = Filled(x, 0);
    return uop::Where(LeOp(x, zero), zero, x);
  });
}
Tensor Tensor::Gelu() const {
  return Formula(*this, [](const Tensor& x) {
    const double c = std::sqrt(2 / std::numbers::pi);
    // 0.5 (1 + tanh(u)) is sigmoid(2 u).
    return x * ((x + x * x * x * 0.044715) * (2 * c)).Sigmoid();
  });
}
Tensor Tensor::Reciprocal() const {
  return Formula(*this, [](const Tensor& x) { return 1.0 / x; });
}
Tensor Tensor::Trunc() const {
  return Unary("Trunc", *this, [](const UOpRef& x) -> absl::StatusOr<UOpRef> {
    return x->dtype().IsFloat() ? uop::Trunc(x) : x;
  });
}
Tensor Tensor::Floor() const {
  return Unary("Floor", *this, [](const UOpRef& x) -> absl::StatusOr<UOpRef> {
    return x->dtype().IsFloat() ? FloorOp(x) : x;
  });
}
Tensor Tensor::Ceil() const {
  return Unary("Ceil", *this, [](const UOpRef& x) -> absl::StatusOr<UOpRef> {
    if (!x->dtype().IsFloat()) return x;
    const UOpRef t = uop::Trunc(x);
    return uop::Where(uop::CmpLt(t, x), uop::Add(t, Filled(t, 1)), t);
  });
}
Tensor Tensor::Sign() const {
  return Unary("Sign", *this, [](const UOpRef& x) -> absl::StatusOr<UOpRef> {
    if (x->dtype().IsBool()) return x;
    const UOpRef zero = Filled(x, 0);
    const UOpRef positive = uop::Where(uop::CmpLt(zero, x), Filled(x, 1), zero);
    return x->dtype().IsUnsigned() ? positive : uop::Where(uop::CmpLt(x, zero), Filled(x, -1), positive);
  });
}
// A power of two, as in PyTorch: a bool's is an integer.
Tensor Tensor::Square() const { return dtype().IsBool() ? Cast(dtypes::kInt64) : Mul(*this); }
Tensor Tensor::LogicalNot() const {
  return Unary("LogicalNot", *this,
               [](const UOpRef& x) -> absl::StatusOr<UOpRef> { return uop::CmpEq(x, Filled(x, 0)); });
}
Tensor Tensor::BitwiseNot() const {
  return Unary("BitwiseNot", *this, [](const UOpRef& x) -> absl::StatusOr<UOpRef> {
    US_RETURN_IF_ERROR(WantIntegers("BitwiseNot", x->dtype()));
    return uop::Xor(x,
                    tensor_internal::Constant(x->dtype(), int64_t{x->dtype().IsBool() ? 1 : -1}, x->shape()));
  });
}
Tensor Tensor::IsNan() const {
  return Unary("IsNan", *this, [](const UOpRef& x) -> absl::StatusOr<UOpRef> { return uop::CmpNe(x, x); });
}

// --- Two operands ---

Tensor Tensor::Add(const Operand& b) const { return Binary("Add", *this, b, AddOp); }
Tensor Tensor::Mul(const Operand& b) const { return Binary("Mul", *this, b, MulOp); }
Tensor Tensor::Sub(const Operand& b) const {
  return Binary("Sub", *this, b, [](const UOpRef& x, const UOpRef& y) -> absl::StatusOr<UOpRef> {
    if (x->dtype().IsBool()) return Bad("Sub", "dtype bool, expected a number (BitXor or LogicalNot)");
    return uop::Sub(x, y);
  });
}
Tensor Tensor::Div(const Operand& b) const {
  return Binary("Div", *this, b, [](const UOpRef& x, const UOpRef& y) {
    const DType t = FloatType(x->dtype());
    return uop::FDiv(uop::Cast(x, t), uop::Cast(y, t));
  });
}
Tensor Tensor::FloorDiv(const Operand& b) const {
  return Binary("FloorDiv", *this, b, [](const UOpRef& x, const UOpRef& y) -> absl::StatusOr<UOpRef> {
    if (x->dtype().IsBool()) return Bad("FloorDiv", "dtype bool, expected a number");
    if (!x->dtype().IsFloat()) return uop::FloorDiv(x, y);
    // (a - fmod(a, b)) / b is whole but for rounding; one less where fmod's sign differs from the divisor's.
    const DType t = x->dtype(), wide = dtypes::kFloat64;
    const UOpRef rest = uop::Cast(FmodFloat(x, y), wide), a = uop::Cast(x, wide), d = uop::Cast(y, wide);
    const UOpRef zero = Filled(d, 0), q = uop::FDiv(uop::Sub(a, rest), d);
    const UOpRef below =
        uop::And(uop::CmpNe(rest, zero), uop::Xor(uop::CmpLt(rest, zero), uop::CmpLt(d, zero)));
    const UOpRef whole = FloorOp(uop::Add(q, Filled(q, 0.5)));
    const UOpRef result = uop::Where(below, uop::Add(whole, Filled(whole, -1)), whole);
    return uop::Cast(uop::Where(uop::CmpEq(d, zero), uop::FDiv(a, d), result), t);
  });
}
Tensor Tensor::TruncDiv(const Operand& b) const {
  return Binary("TruncDiv", *this, b, [](const UOpRef& x, const UOpRef& y) -> absl::StatusOr<UOpRef> {
    if (x->dtype().IsBool()) return Bad("TruncDiv", "dtype bool, expected a number");
    return x->dtype().IsFloat() ? uop::Trunc(uop::FDiv(x, y)) : uop::IDiv(x, y);
  });
}
Tensor Tensor::Mod(const Operand& b) const {
  return Binary("Mod", *this, b, [](const UOpRef& x, const UOpRef& y) -> absl::StatusOr<UOpRef> {
    if (x->dtype().IsBool()) return Bad("Mod", "dtype bool, expected a number");
    return x->dtype().IsFloat() ? ModFloat(x, y) : uop::FloorMod(x, y);
  });
}
Tensor Tensor::Fmod(const Operand& b) const {
  return Binary("Fmod", *this, b, [](const UOpRef& x, const UOpRef& y) -> absl::StatusOr<UOpRef> {
    if (x->dtype().IsBool()) return Bad("Fmod", "dtype bool, expected a number");
    return x->dtype().IsFloat() ? FmodFloat(x, y) : uop::IMod(x, y);
  });
}
Tensor Tensor::Maximum(const Operand& b) const {
  return Binary("Maximum", *this, b, [](const UOpRef& x, const UOpRef& y) { return uop::Max(x, y); });
}
Tensor Tensor::Minimum(const Operand& b) const {
  return Binary("Minimum", *this, b, [](const UOpRef& x, const UOpRef& y) { return uop::Min(x, y); });
}
Tensor Tensor::Lt(const Operand& b) const {
  return Binary("Lt", *this, b, [](const UOpRef& x, const UOpRef& y) { return uop::CmpLt(x, y); });
}
Tensor Tensor::Gt(const Operand& b) const {
  return Binary("Gt", *this, b, [](const UOpRef& x, const UOpRef& y) { return uop::CmpLt(y, x); });
}
Tensor Tensor::Le(const Operand& b) const { return Binary("Le", *this, b, LeOp); }
Tensor Tensor::Ge(const Operand& b) const {
  return Binary("Ge", *this, b, [](const UOpRef& x, const UOpRef& y) { return LeOp(y, x); });
}
Tensor Tensor::Eq(const Operand& b) const {
  return Binary("Eq", *this, b, [](const UOpRef& x, const UOpRef& y) { return uop::CmpEq(x, y); });
}
Tensor Tensor::Ne(const Operand& b) const {
  return Binary("Ne", *this, b, [](const UOpRef& x, const UOpRef& y) { return uop::CmpNe(x, y); });
}

namespace {
Tensor Bits(const char* name, Op op, const Tensor& a, const Operand& b, bool bools) {
  return Binary(name, a, b, [&](const UOpRef& x, const UOpRef& y) -> absl::StatusOr<UOpRef> {
    US_RETURN_IF_ERROR(WantIntegers(name, x->dtype()));
    if (!bools && x->dtype().IsBool()) return Bad(name, "dtype bool, expected integers");
    return uop::Binary(op, x, y);
  });
}
}  // namespace
Tensor Tensor::BitAnd(const Operand& b) const { return Bits("BitAnd", Op::kAnd, *this, b, true); }
Tensor Tensor::BitOr(const Operand& b) const { return Bits("BitOr", Op::kOr, *this, b, true); }
Tensor Tensor::BitXor(const Operand& b) const { return Bits("BitXor", Op::kXor, *this, b, true); }
Tensor Tensor::Shl(const Operand& b) const { return Bits("Shl", Op::kShl, *this, b, false); }
Tensor Tensor::Shr(const Operand& b) const { return Bits("Shr", Op::kShr, *this, b, false); }

Tensor Tensor::Clamp(std::optional<Number> low, std::optional<Number> high) const {
  if (!low && !high) return Tensor(Bad("Clamp", "neither a lower nor an upper bound, expected at least one"));
  // Selects and not MAX: at a bound the gradient goes to x.
  const auto bound = [](const Tensor& x, const Number& n, bool lower) {
    return Binary("Clamp", x, n, [&](const UOpRef& a, const UOpRef& b) -> absl::StatusOr<UOpRef> {
      if (a->dtype().IsBool()) return Bad("Clamp", "dtype bool, expected a number");
      const UOpRef outside = lower ? uop::CmpLt(a, b) : uop::CmpLt(b, a);
      return uop::Where(a->dtype().IsFloat() ? uop::Or(outside, uop::CmpNe(b, b)) : outside, b, a);
    });
  };
  Tensor x = *this;
  if (low) x = bound(x, *low, true);
  return high ? bound(x, *high, false) : x;
}

Tensor Tensor::Lerp(const Tensor& end, const Operand& weight) const {
  if (ok() && !dtype().IsFloat()) return Tensor(Bad("Lerp", "dtype ", dtype().Name(), ", expected floats"));
  // From the nearer end, so that weight 1 gives `end` exactly.
  const Tensor difference = end.Sub(*this);
  if (const Number* n = weight.number()) {
    return n->as_double() < 0.5 ? Add(difference * n->as_double())
                                : end - difference * (1.0 - n->as_double());
  }
  const Tensor& w = *weight.tensor();
  return Where(w.Lt(0.5), Add(difference * w), end - difference * (1.0 - w));
}

Tensor Tensor::Pow(const Operand& exponent) const {
  if (!ok()) return *this;
  if (const Number* n = exponent.number(); n != nullptr) {
    const double e = n->as_double();
    if (std::trunc(e) == e && std::abs(e) <= (dtype().IsFloat() ? 4 : 64) &&
        (dtype().IsFloat() || n->kind() == Number::Kind::kInt)) {
      if (e < 0 && !dtype().IsFloat())
        return Tensor(Bad("Pow", "integers to the negative power ", e, ", expected floats"));
      if (e == 0 && dtype().IsFloat()) {
        // 1 with a gradient of 0.
        const UOpRef one = tensor_internal::Constant(dtype(), 1.0, shape());
        return Combine(
            "Pow", {this},
            uop::WithGradient("pow", one, {uop(), tensor_internal::Constant(dtype(), 0.0, shape())}));
      }
      Tensor result = Full(shape(), 1, {dtype(), device()}), base = *this;
      bool any = false;
      for (uint64_t k = static_cast<uint64_t>(std::abs(e)); k != 0; k >>= 1, base = base.Mul(base)) {
        if (k & 1) result = any ? result.Mul(base) : base, any = true;
        if (k == 1) break;
      }
      return e < 0 ? 1.0 / result : result;
    }
    if (e == 0.5) return Sqrt();
    if (e == -0.5) return Rsqrt();
  }
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    US_ASSIGN_OR_RETURN(const Pair p, Promoted("Pow", *this, exponent));
    const DType t = p.a->dtype();
    if (t.IsBool()) return Bad("Pow", "dtype bool, expected a number");
    if (!t.IsFloat()) return IntegerPower(p.a, p.b);
    const DType in = ComputeType(t);
    return uop::Cast(tensor_internal::math::Pow(uop::Cast(p.a, in), uop::Cast(p.b, in)), t);
  };
  return Combine("Pow", {this, exponent.tensor()}, make());
}

Tensor Where(const Tensor& condition, const Operand& a, const Operand& b) {
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    US_RETURN_IF_ERROR(condition.status());
    if (!condition.dtype().IsBool())
      return Bad("Where", "condition of dtype ", condition.dtype().Name(), ", expected bool");
    Pair p;
    if (a.tensor() != nullptr) {
      US_ASSIGN_OR_RETURN(p, Promoted("Where", *a.tensor(), b));
    } else if (b.tensor() != nullptr) {
      US_ASSIGN_OR_RETURN(const Pair swapped, Promoted("Where", *b.tensor(), a));
      p = {swapped.b, swapped.a};
    } else {
      DType t = a.number()->kind() == Number::Kind::kFloat || b.number()->kind() == Number::Kind::kFloat
                    ? dtypes::kFloat32
                : a.number()->kind() == Number::Kind::kInt || b.number()->kind() == Number::Kind::kInt
                    ? dtypes::kInt64
                    : dtypes::kBool;
      US_ASSIGN_OR_RETURN(p.a, tensor_internal::NumberConst("Where", t, *a.number()));
      US_ASSIGN_OR_RETURN(p.b, tensor_internal::NumberConst("Where", t, *b.number()));
    }
    US_ASSIGN_OR_RETURN(const Shape shape,
                        tensor_internal::BroadcastShapes("Where", condition.shape(), p.a->shape()));
    return uop::Where(BroadcastTo(condition.uop(), shape), BroadcastTo(p.a, shape), BroadcastTo(p.b, shape));
  };
  return Combine("Where", {&condition, a.tensor(), b.tensor()}, make());
}

Tensor operator+(const Number& a, const Tensor& b) { return b.Add(a); }
Tensor operator*(const Number& a, const Tensor& b) { return b.Mul(a); }

namespace {
// number (op) tensor, with the number typed by the tensor.
template <class F>
Tensor NumberFirst(const char* op, const Number& a, const Tensor& b, F f) {
  return Binary(op, b, a, [&](const UOpRef& y, const UOpRef& x) -> absl::StatusOr<UOpRef> {
    if (y->dtype().IsBool()) return Bad(op, "dtype bool, expected a number");
    return f(x, y);
  });
}
}  // namespace
Tensor operator-(const Number& a, const Tensor& b) {
  return NumberFirst("Sub", a, b, [](const UOpRef& x, const UOpRef& y) { return uop::Sub(x, y); });
}
Tensor operator/(const Number& a, const Tensor& b) {
  return NumberFirst("Div", a, b, [](const UOpRef& x, const UOpRef& y) {
    const DType t = FloatType(x->dtype());
    return uop::FDiv(uop::Cast(x, t), uop::Cast(y, t));
  });
}

// --- Types and places ---

Tensor Tensor::Cast(DType to) const {
  if (!ok() || to == dtype()) return *this;
  return Unary("Cast", *this, [&](const UOpRef& x) -> absl::StatusOr<UOpRef> {
    if (to.IsVoid() || to.IsPointer() || to.lanes != 1 || to.scalar == Scalar::kIndex)
      return Bad("Cast", "to ", to.Name(), ", expected an element type");
    return uop::Cast(x, to);
  });
}
Tensor Tensor::Bitcast(DType to) const {
  if (!ok() || to == dtype()) return *this;
  return Unary("Bitcast", *this, [&](const UOpRef& x) -> absl::StatusOr<UOpRef> {
    if (to.IsVoid() || to.IsPointer() || to.lanes != 1 || to.scalar == Scalar::kIndex)
      return Bad("Bitcast", "to ", to.Name(), ", expected an element type");
    if (to.BitWidth() != x->dtype().BitWidth() || to.IsBool() || x->dtype().IsBool()) {
      return absl::UnimplementedError(absl::StrCat("Bitcast: from ", x->dtype().Name(), " to ", to.Name(),
                                                   ", expected types of equal width other than bool"));
    }
    return uop::Bitcast(x, to);
  });
}
Tensor Tensor::Contiguous() const {
  // Elements that lie in order already need no copy.
  return Unary("Contiguous", *this, [](const UOpRef& x) -> absl::StatusOr<UOpRef> {
    return tensor_internal::IsRangeOfStorage(x) ? x : uop::Contiguous(x);
  });
}
Tensor Tensor::ContiguousBackward() const {
  return Unary("ContiguousBackward", *this,
               [](const UOpRef& x) -> absl::StatusOr<UOpRef> { return uop::ContiguousBackward(x); });
}
Tensor Tensor::Detach() const {
  Tensor t = Unary("Detach", *this, [](const UOpRef& x) -> absl::StatusOr<UOpRef> { return uop::Detach(x); });
  if (t.ok()) t.set_requires_grad(false);
  return t;
}
Tensor Tensor::Clone() const { return To(device()); }
Tensor Tensor::To(const std::string& to) const {
  if (!ok()) return *this;
  if (to.empty()) return Tensor(Bad("To", "empty device name"));
  return Tensor(tensor_internal::Transfer(uop(), to), to, true, requires_grad());
}

}  // namespace understudy
