// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/elementwise_ops.h"

#include <cmath>
#include <numbers>

#include "src/base/status.h"
#include "src/tensor/math.h"
#include "src/tensor/value_expr.h"

namespace understudy {

using tensor_internal::Bad;
using tensor_internal::BroadcastTo;
using tensor_internal::Combine;
using tensor_internal::ComputeType;
using tensor_internal::Constant;
using tensor_internal::FloatType;
using tensor_internal::Pair;
using tensor_internal::Promoted;
using tensor_internal::Text;
using tensor_internal::Value;
namespace math = tensor_internal::math;

namespace {

template <class F>
Tensor Unary(const char* op, const Tensor& a, F f) {
  if (!a.ok()) return a;
  return Combine(op, {&a}, f(a.uop()));
}

// f on the value in the compute type, rounded to the result type.
template <class F>
Tensor Float1(const char* op, const Tensor& a, F f) {
  return Unary(op, a, [&](const UOpRef& x) -> absl::StatusOr<UOpRef> {
    const DType out = FloatType(x->dtype());
    return uop::Cast(f(uop::Cast(x, ComputeType(out))), out);
  });
}

template <class F>
Tensor Binary(const char* op, const Tensor& a, const Operand& b, F f) {
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    US_ASSIGN_OR_RETURN(const Pair p, Promoted(op, a, b));
    return f(p.a, p.b);
  };
  return Combine(op, {&a, b.tensor()}, make());
}

template <class F>
Tensor Float2(const char* op, const Tensor& a, const Operand& b, F f) {
  return Binary(op, a, b, [&](const UOpRef& x, const UOpRef& y) -> absl::StatusOr<UOpRef> {
    const DType out = FloatType(x->dtype()), in = ComputeType(out);
    return uop::Cast(f(uop::Cast(x, in), uop::Cast(y, in)), out);
  });
}

UOpRef ToBool(const UOpRef& x) { return x->dtype().IsBool() ? x : UOpRef((Value(x) != 0.0).u); }

Value SignBitOf(const Value& x) {
  const bool f32 = x.dtype() == dtypes::kFloat32;
  return Value(uop::Bitcast(x.u, f32 ? dtypes::kInt32 : dtypes::kInt64)) < 0.0;
}

// Whole numbers stay whole under the division by a power of two: exact in both types.
Value RoundHalfEven(const Value& x) {
  const Value t(uop::Trunc(x.u)), d = tensor_internal::Abs(x - t), half_t = t * 0.5;
  const Value odd = Value(uop::Trunc(half_t.u)) != half_t;
  const Value away = (d > 0.5) | ((d == 0.5) & odd);
  return Select(away, t + Select(x < 0.0, -1.0, t.Like(1)), t);
}

}  // namespace

// --- Exponentials, logarithms, trigonometry ---

#define UNDERSTUDY_FUNCTION(name) \
  Tensor name(const Tensor& x) { return Float1(#name, x, math::name); }
UNDERSTUDY_FUNCTION(Expm1)
UNDERSTUDY_FUNCTION(Log10)
UNDERSTUDY_FUNCTION(Log1p)
UNDERSTUDY_FUNCTION(Tan)
UNDERSTUDY_FUNCTION(Asin)
UNDERSTUDY_FUNCTION(Acos)
UNDERSTUDY_FUNCTION(Atan)
UNDERSTUDY_FUNCTION(Sinh)
UNDERSTUDY_FUNCTION(Cosh)
UNDERSTUDY_FUNCTION(Asinh)
UNDERSTUDY_FUNCTION(Acosh)
UNDERSTUDY_FUNCTION(Atanh)
UNDERSTUDY_FUNCTION(Erf)
UNDERSTUDY_FUNCTION(Erfc)
UNDERSTUDY_FUNCTION(Sinc)
#undef UNDERSTUDY_FUNCTION

Tensor Logit(const Tensor& x, std::optional<double> eps) {
  if (!eps) return Float1("Logit", x, math::Logit);
  if (x.ok() && !(*eps >= 0 && *eps <= 0.5)) return Tensor(Bad("Logit", "eps ", *eps, ", expected 0 to 0.5"));
  return Float1("Logit", x, [&](const UOpRef& v) {
    const Value low = Select(Value(v) < *eps, *eps, v);
    return math::Logit(Select(low > 1 - *eps, 1 - *eps, low));
  });
}
Tensor Atan2(const Tensor& y, const Operand& x) { return Float2("Atan2", y, x, math::Atan2); }
Tensor Hypot(const Tensor& a, const Operand& b) { return Float2("Hypot", a, b, math::Hypot); }
Tensor LogAddExp(const Tensor& a, const Operand& b) { return Float2("LogAddExp", a, b, math::LogAddExp); }
Tensor LogAddExp2(const Tensor& a, const Operand& b) { return Float2("LogAddExp2", a, b, math::LogAddExp2); }
Tensor Xlogy(const Tensor& x, const Operand& y) {
  return Float2("Xlogy", x, y, [](const UOpRef& a, const UOpRef& b) {
    const Value zero = (Value(a) == 0.0) & (Value(b) == Value(b));
    return Select(zero, 0.0, Value(a) * Value(math::Log(b))).u;
  });
}

// --- Rounding, signs, remainders ---

Tensor Round(const Tensor& x, int decimals) {
  return Unary("Round", x, [&](const UOpRef& v) -> absl::StatusOr<UOpRef> {
    const DType t = v->dtype();
    if (!t.IsFloat()) {
      if (decimals != 0)
        return Bad("Round", "dtype ", t.Name(), " with ", decimals, " decimals, expected floats");
      return v;
    }
    if (decimals < -300 || decimals > 300) return Bad("Round", decimals, " decimals, expected -300 to 300");
    const Value in(uop::Cast(v, ComputeType(t)));
    const double scale = std::pow(10.0, std::abs(decimals));
    if (decimals == 0) return uop::Cast(RoundHalfEven(in).u, t);
    const Value scaled = RoundHalfEven(decimals > 0 ? in * scale : in / scale);
    return uop::Cast((decimals > 0 ? scaled / scale : scaled * scale).u, t);
  });
}
Tensor Frac(const Tensor& x) { return x.Sub(x.Trunc()); }
Tensor Copysign(const Tensor& magnitude, const Operand& sign) {
  return Float2("Copysign", magnitude, sign, [](const UOpRef& a, const UOpRef& b) {
    const Value size = tensor_internal::Abs(a);
    return uop::WithGradient("copysign", Select(SignBitOf(b), -size, size).u, {a, b});
  });
}
Tensor Signbit(const Tensor& x) {
  return Unary("Signbit", x, [](const UOpRef& v) -> absl::StatusOr<UOpRef> {
    if (v->dtype().IsFloat()) return SignBitOf(uop::Cast(v, ComputeType(v->dtype()))).u;
    if (v->dtype().IsBool()) return Constant(dtypes::kBool, int64_t{0}, v->shape());
    return (Value(v) < 0.0).u;
  });
}
Tensor Remainder(const Tensor& a, const Operand& b) { return a.Mod(b); }
Tensor Ldexp(const Tensor& x, const Operand& exponent) {
  // Two factors: a power of two alone may leave the range where the product does not.
  return Float2("Ldexp", x, exponent, [](const UOpRef& a, const UOpRef& n) {
    const Value half(uop::Trunc((Value(n) * 0.5).u));
    return (Value(a) * Value(uop::Exp2(half.u)) * Value(uop::Exp2((Value(n) - half).u))).u;
  });
}
Tensor Heaviside(const Tensor& x, const Tensor& values) {
  return Binary("Heaviside", x, values, [](const UOpRef& a, const UOpRef& v) -> absl::StatusOr<UOpRef> {
    if (a->dtype().IsBool()) return uop::Or(a, v);
    const Value step = Select(Value(a) > 0.0, 1.0, Value(a).Like(0));
    return Select(Value(a) == 0.0, Value(v), step).u;
  });
}

// --- Tests ---

Tensor IsInf(const Tensor& x) {
  return Unary("IsInf", x, [](const UOpRef& v) -> absl::StatusOr<UOpRef> {
    if (!v->dtype().IsFloat()) return Constant(dtypes::kBool, int64_t{0}, v->shape());
    const Value wide(uop::Cast(v, ComputeType(v->dtype())));
    return (tensor_internal::Abs(wide) == wide.Like(INFINITY)).u;
  });
}
Tensor IsFinite(const Tensor& x) {
  return Unary("IsFinite", x, [](const UOpRef& v) -> absl::StatusOr<UOpRef> {
    if (!v->dtype().IsFloat()) return Constant(dtypes::kBool, int64_t{1}, v->shape());
    const Value wide(uop::Cast(v, ComputeType(v->dtype())));
    return (tensor_internal::Abs(wide) < wide.Like(INFINITY)).u;
  });
}
Tensor IsClose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  if (rtol < 0 || atol < 0)
    return Tensor(Bad("IsClose", "tolerances ", rtol, " and ", atol, ", expected none below 0"));
  return Binary("IsClose", a, b, [&](const UOpRef& p, const UOpRef& q) -> absl::StatusOr<UOpRef> {
    const Value same = Value(p) == Value(q);
    const DType t = p->dtype();
    if (t.IsBool()) return same.u;
    // Integers are compared in f64, which is PyTorch's allowance for them too.
    const DType in = t.IsFloat() ? ComputeType(t) : dtypes::kFloat64;
    const Value x(uop::Cast(p, in)), y(uop::Cast(q, in)), inf = x.Like(INFINITY);
    const Value distance = tensor_internal::Abs(x - y);
    const Value near = (distance < inf) & Not(distance > tensor_internal::Abs(y) * rtol + atol) &
                       (tensor_internal::Abs(y) < inf);
    const Value close = same | near;
    return (equal_nan ? close | ((x != x) & (y != y)) : close).u;
  });
}
Tensor AllClose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  const Tensor close = IsClose(a, b, rtol, atol, equal_nan);
  if (!close.ok()) return close;
  if (close.numel() == 0) return Tensor::Full({}, true, {dtypes::kBool, close.device()});
  return close.Min();
}
namespace {
Tensor Logical(const char* name, Op op, const Tensor& a, const Operand& b) {
  if (const Number* n = b.number()) {
    if (!a.ok()) return a;
    return Logical(name, op, a, Tensor::Full({}, n->as_double() != 0, {dtypes::kBool, a.device()}));
  }
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    US_RETURN_IF_ERROR(a.status());
    US_RETURN_IF_ERROR(b.tensor()->status());
    US_ASSIGN_OR_RETURN(const Shape shape,
                        tensor_internal::BroadcastShapes(name, a.shape(), b.tensor()->shape()));
    return uop::Binary(op, BroadcastTo(ToBool(a.uop()), shape),
                       BroadcastTo(ToBool(b.tensor()->uop()), shape));
  };
  return Combine(name, {&a, b.tensor()}, make());
}
}  // namespace
Tensor LogicalAnd(const Tensor& a, const Operand& b) { return Logical("LogicalAnd", Op::kAnd, a, b); }
Tensor LogicalOr(const Tensor& a, const Operand& b) { return Logical("LogicalOr", Op::kOr, a, b); }
Tensor LogicalXor(const Tensor& a, const Operand& b) { return Logical("LogicalXor", Op::kXor, a, b); }

// --- Choosing and mixing ---

namespace {
Tensor NumberFirst(const char* name, const Tensor& a, const Operand& b, bool greatest) {
  return Binary(name, a, b, [&](const UOpRef& x, const UOpRef& y) -> absl::StatusOr<UOpRef> {
    if (!x->dtype().IsFloat()) return greatest ? uop::Max(x, y) : uop::Min(x, y);
    const Value p(x), q(y), wins = greatest ? q < p : p < q;
    return Select(wins | (p == q) | (q != q), p, q).u;
  });
}
}  // namespace
Tensor Fmax(const Tensor& a, const Operand& b) { return NumberFirst("Fmax", a, b, true); }
Tensor Fmin(const Tensor& a, const Operand& b) { return NumberFirst("Fmin", a, b, false); }

Tensor Clamp(const Tensor& x, const Tensor* low, const Tensor* high) {
  if (low == nullptr && high == nullptr)
    return Tensor(Bad("Clamp", "neither a lower nor an upper bound, expected at least one"));
  // Selects and not MAX: at a bound the gradient goes to x, and NaN stays; a NaN bound gives NaN.
  const auto bound = [](const Tensor& v, const Tensor& limit, bool lower) {
    return Binary("Clamp", v, limit, [&](const UOpRef& a, const UOpRef& b) -> absl::StatusOr<UOpRef> {
      const Value p(a), q(b), outside = lower ? p < q : q < p;
      return Select(p.dtype().IsFloat() ? outside | ((q != q) & (p == p)) : outside, q, p).u;
    });
  };
  Tensor v = x;
  if (low != nullptr) v = bound(v, *low, true);
  return high != nullptr ? bound(v, *high, false) : v;
}

Tensor NanToNum(const Tensor& x, double nan, std::optional<double> posinf, std::optional<double> neginf) {
  return Unary("NanToNum", x, [&](const UOpRef& u) -> absl::StatusOr<UOpRef> {
    const DType t = u->dtype();
    if (!t.IsFloat()) return u;
    const Value v(u);
    const double most = std::get<double>(MaxValue(t)), least = std::get<double>(MinValue(t));
    const Value low = Select(v < least, neginf.value_or(least), v);
    const Value high = Select(v > most, posinf.value_or(most), low);
    return Select(v != v, nan, high).u;
  });
}

Tensor MaskedFill(const Tensor& x, const Tensor& mask, const Operand& value) {
  if (!x.ok()) return x;
  if (const Number* n = value.number()) {
    if (n->kind() == Number::Kind::kFloat && !x.dtype().IsFloat() &&
        std::trunc(n->as_double()) != n->as_double()) {
      return Tensor(Bad("MaskedFill", "value ", n->as_double(), " into ", x.dtype().Name()));
    }
    return Where(mask, Tensor::Full({}, *n, {x.dtype(), x.device()}), x);
  }
  return Where(mask, value.tensor()->Cast(x.dtype()), x);
}

Tensor Addcmul(const Tensor& x, const Tensor& a, const Tensor& b, Number value) {
  return x.Add(a.Mul(b).Mul(value));
}
Tensor Addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, Number value) {
  if (a.ok() && b.ok() && !a.dtype().IsFloat() && !b.dtype().IsFloat()) {
    return Tensor(Bad("Addcdiv", "integers ", a.dtype().Name(), " and ", b.dtype().Name(),
                      ", expected floats (FloorDiv and TruncDiv divide integers)"));
  }
  return x.Add(a.Mul(value).Div(b));
}

// --- Counter-based random bits ---

std::pair<Tensor, Tensor> Threefry2x32(const Tensor& key0, const Tensor& key1, const Tensor& counter0,
                                       const Tensor& counter1) {
  const Tensor* all[] = {&key0, &key1, &counter0, &counter1};
  for (const Tensor* t : all) {
    if (!t->ok()) return {*t, *t};
    if (t->dtype() != dtypes::kUInt32) {
      const Tensor bad(Bad("Threefry2x32", "dtype ", t->dtype().Name(), ", expected u32"));
      return {bad, bad};
    }
  }
  static constexpr int kRotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  const Tensor keys[3] = {key0, key1, key0.BitXor(key1).BitXor(int64_t{0x1BD11BDA})};
  Tensor x0 = counter0 + keys[0], x1 = counter1 + keys[1];
  for (int round = 0; round < 20; ++round) {
    const int r = kRotations[round % 8];
    x0 = x0 + x1;
    x1 = x1.Shl(r).BitOr(x1.Shr(32 - r)).BitXor(x0);
    if (round % 4 == 3) {
      const int injection = round / 4 + 1;
      x0 = x0 + keys[injection % 3];
      x1 = x1 + keys[(injection + 1) % 3] + injection;
    }
  }
  return {x0, x1};
}

Tensor Threefry(const Tensor& counter, const Tensor& key) {
  for (const Tensor* t : {&counter, &key}) {
    if (!t->ok()) return *t;
    if (t->dtype() != dtypes::kUInt64)
      return Tensor(Bad("Threefry", "dtype ", t->dtype().Name(), ", expected u64"));
  }
  const auto low = [](const Tensor& t) { return t.Cast(dtypes::kUInt32); };
  const auto high = [](const Tensor& t) { return t.Shr(32).Cast(dtypes::kUInt32); };
  const auto [x0, x1] = Threefry2x32(low(key), high(key), low(counter), high(counter));
  return x1.Cast(dtypes::kUInt64).Shl(32).BitOr(x0.Cast(dtypes::kUInt64));
}

}  // namespace understudy
