// SPDX-License-Identifier: Apache-2.0
// Operators that compute each element by itself. Types of operands agree in ONNX; what PyTorch's functions
// would promote is cast back.
#include <cmath>

#include "src/tensor/activation.h"
#include "src/tensor/elementwise_ops.h"
#include "src/tensor/onnx/ops.h"

namespace understudy::onnx::ops {
namespace {

using Unary = Tensor (*)(const Tensor&);

void Out1(NodeContext& c, Unary f) { c.Out(0, f(c.In(0))); }

// A left fold over all inputs.
void Fold(NodeContext& c, Tensor (*f)(const Tensor&, const Tensor&)) {
  Tensor t = c.In(0);
  for (int i = 1; i < c.num_inputs(); ++i) t = f(t, c.In(i));
  c.Out(0, t);
}

Tensor Back(Tensor t, DType dtype) { return t.Cast(dtype); }

}  // namespace

#define UNDERSTUDY_ONNX_UNARY(name, expression)                    \
  void name(NodeContext& c) {                                      \
    Out1(c, [](const Tensor& x) -> Tensor { return expression; }); \
  }
UNDERSTUDY_ONNX_UNARY(Abs, x.Abs())
UNDERSTUDY_ONNX_UNARY(Acos, understudy::Acos(x))
UNDERSTUDY_ONNX_UNARY(Acosh, understudy::Acosh(x))
UNDERSTUDY_ONNX_UNARY(Asin, understudy::Asin(x))
UNDERSTUDY_ONNX_UNARY(Asinh, understudy::Asinh(x))
UNDERSTUDY_ONNX_UNARY(Atan, understudy::Atan(x))
UNDERSTUDY_ONNX_UNARY(Atanh, understudy::Atanh(x))
UNDERSTUDY_ONNX_UNARY(BitwiseNot, x.BitwiseNot())
UNDERSTUDY_ONNX_UNARY(Ceil, x.Ceil())
UNDERSTUDY_ONNX_UNARY(Cos, x.Cos())
UNDERSTUDY_ONNX_UNARY(Cosh, understudy::Cosh(x))
UNDERSTUDY_ONNX_UNARY(Erf, understudy::Erf(x))
UNDERSTUDY_ONNX_UNARY(Exp, x.Exp())
UNDERSTUDY_ONNX_UNARY(Floor, x.Floor())
UNDERSTUDY_ONNX_UNARY(HardSwish, understudy::Hardswish(x))
UNDERSTUDY_ONNX_UNARY(IsNaN, x.IsNan())
UNDERSTUDY_ONNX_UNARY(Log, x.Log())
UNDERSTUDY_ONNX_UNARY(Mish, understudy::Mish(x))
UNDERSTUDY_ONNX_UNARY(Neg, x.Neg())
UNDERSTUDY_ONNX_UNARY(Not, x.LogicalNot())
UNDERSTUDY_ONNX_UNARY(Reciprocal, x.Reciprocal())
UNDERSTUDY_ONNX_UNARY(Relu, x.Relu())
UNDERSTUDY_ONNX_UNARY(Round, understudy::Round(x))
UNDERSTUDY_ONNX_UNARY(Sigmoid, x.Sigmoid())
UNDERSTUDY_ONNX_UNARY(Sign, x.Sign())
UNDERSTUDY_ONNX_UNARY(Sin, x.Sin())
UNDERSTUDY_ONNX_UNARY(Sinh, understudy::Sinh(x))
UNDERSTUDY_ONNX_UNARY(Softplus, understudy::Softplus(x, 1, INFINITY))
UNDERSTUDY_ONNX_UNARY(Softsign, understudy::Softsign(x))
UNDERSTUDY_ONNX_UNARY(Sqrt, x.Sqrt())
UNDERSTUDY_ONNX_UNARY(Tan, understudy::Tan(x))
UNDERSTUDY_ONNX_UNARY(Tanh, x.Tanh())

#define UNDERSTUDY_ONNX_BINARY(name, expression) \
  void name(NodeContext& c) {                    \
    const Tensor a = c.In(0), b = c.In(1);       \
    c.Out(0, expression);                        \
  }
UNDERSTUDY_ONNX_BINARY(Add, Back(a.Add(b), a.dtype()))
UNDERSTUDY_ONNX_BINARY(And, LogicalAnd(a, b))
UNDERSTUDY_ONNX_BINARY(BitwiseAnd, a.BitAnd(b))
UNDERSTUDY_ONNX_BINARY(BitwiseOr, a.BitOr(b))
UNDERSTUDY_ONNX_BINARY(BitwiseXor, a.BitXor(b))
UNDERSTUDY_ONNX_BINARY(Equal, a.Eq(b))
UNDERSTUDY_ONNX_BINARY(Greater, a.Gt(b))
UNDERSTUDY_ONNX_BINARY(GreaterOrEqual, a.Ge(b))
UNDERSTUDY_ONNX_BINARY(Less, a.Lt(b))
UNDERSTUDY_ONNX_BINARY(LessOrEqual, a.Le(b))
UNDERSTUDY_ONNX_BINARY(Mul, Back(a.Mul(b), a.dtype()))
UNDERSTUDY_ONNX_BINARY(Or, LogicalOr(a, b))
UNDERSTUDY_ONNX_BINARY(Sub, Back(a.Sub(b), a.dtype()))
UNDERSTUDY_ONNX_BINARY(Xor, LogicalXor(a, b))
UNDERSTUDY_ONNX_BINARY(Div, a.dtype().IsInt() ? a.TruncDiv(b) : a.Div(b))

// x ^ y of x's type; integers with a fraction as exponent go through f64.
void Pow(NodeContext& c) {
  const Tensor a = c.In(0), b = c.In(1);
  if (a.dtype().IsFloat()) return c.Out(0, a.Pow(b.Cast(a.dtype())));
  if (b.dtype().IsFloat())
    return c.Out(0, a.Cast(dtypes::kFloat64).Pow(b.Cast(dtypes::kFloat64)).Cast(a.dtype()));
  c.Out(0, a.Pow(b.Cast(a.dtype())));
}

void Mod(NodeContext& c) {
  const Tensor a = c.In(0), b = c.In(1);
  const bool fmod = c.Int("fmod", 0) != 0;
  if (!a.dtype().IsFloat()) return c.Out(0, fmod ? a.Fmod(b) : a.Mod(b));
  if (!c.Want(fmod || c.opset() >= 28, "floats need fmod = 1 before version 28")) return;
  // A finite number by an infinite one is itself.
  const Tensor itself = LogicalAnd(understudy::IsInf(b), understudy::IsFinite(a));
  const Tensor r = understudy::Where(itself, a, a.Fmod(b));
  if (fmod) return c.Out(0, r);
  // The divisor's sign, of zeros too.
  const Tensor opposite = LogicalXor(r < 0, b < 0);
  c.Out(0, understudy::Where(r.Eq(0), Copysign(r, b), understudy::Where(opposite, r + b, r)));
}

// Amounts outside the width shift everything out.
void BitShift(NodeContext& c) {
  const Tensor a = c.In(0), b = c.In(1);
  const std::string direction = c.Text("direction", "");
  if (!c.Want(direction == "LEFT" || direction == "RIGHT", "direction '", direction,
              "', expected LEFT or RIGHT"))
    return;
  if (!c.Want(a.dtype().IsInt() && a.dtype() == b.dtype(), "operands of ", a.dtype().Name(), " and ",
              b.dtype().Name()))
    return;
  c.Out(0, direction == "LEFT" ? a.Shl(b) : a.Shr(b));
}

void Sum(NodeContext& c) {
  Fold(c, [](const Tensor& a, const Tensor& b) { return a.Add(b); });
}
void Max(NodeContext& c) {
  Fold(c, [](const Tensor& a, const Tensor& b) { return a.Maximum(b); });
}
void Min(NodeContext& c) {
  Fold(c, [](const Tensor& a, const Tensor& b) { return a.Minimum(b); });
}
void Mean(NodeContext& c) {
  Tensor t = c.In(0);
  for (int i = 1; i < c.num_inputs(); ++i) t = t.Add(c.In(i));
  c.Out(0, t.Div(static_cast<double>(c.num_inputs())));
}

// --- Activations with attributes ---

void Celu(NodeContext& c) { c.Out(0, understudy::Celu(c.In(0), c.Float("alpha", 1))); }
void Elu(NodeContext& c) { c.Out(0, understudy::Elu(c.In(0), c.Float("alpha", 1))); }
void LeakyRelu(NodeContext& c) { c.Out(0, understudy::LeakyRelu(c.In(0), c.Float("alpha", 0.01f))); }
void HardSigmoid(NodeContext& c) {
  c.Out(0, (c.In(0) * c.Float("alpha", 0.2f) + c.Float("beta", 0.5)).Clamp(0, 1));
}
void Selu(NodeContext& c) {
  const Tensor x = c.In(0);
  const double alpha = c.Float("alpha", 1.67326319217681884765625),
               gamma = c.Float("gamma", 1.05070102214813232421875);
  c.Out(0, Where(x > 0, x, Expm1(x) * alpha) * gamma);
}
void Shrink(NodeContext& c) {
  const Tensor x = c.In(0);
  const double bias = c.Float("bias", 0), lambda = c.Float("lambd", 0.5);
  c.Out(0, Where(x < -lambda, x + bias, Where(x > lambda, x - bias, 0)).Cast(x.dtype()));
}
void ThresholdedRelu(NodeContext& c) {
  const Tensor x = c.In(0);
  c.Out(0, Where(x > c.Float("alpha", 1), x, 0));
}
void Gelu(NodeContext& c) {
  const std::string form = c.Text("approximate", "none");
  if (!c.Want(form == "none" || form == "tanh", "approximate '", form, "', expected none or tanh")) return;
  c.Out(0, understudy::Gelu(c.In(0), form == "tanh" ? GeluForm::kTanh : GeluForm::kExact));
}
void Swish(NodeContext& c) {
  const Tensor x = c.In(0);
  c.Out(0, x * (x * c.Float("alpha", 1)).Sigmoid());
}
void SwiGlu(NodeContext& c) {
  const Tensor a = c.In(0), b = c.In(1);
  if (!c.Want(a.shape() == b.shape(), "operands of different shapes")) return;
  c.Out(0, a * (a * c.Float("alpha", 1)).Sigmoid() * b);
}
void PRelu(NodeContext& c) {
  const Tensor x = c.In(0), slope = c.In(1);
  c.Out(0, Where(x < 0, x * slope, x));
}

void Clip(NodeContext& c) {
  Tensor x = c.In(0);
  if (c.opset() < 11) {
    if (c.Attribute("min") != nullptr) x = x.Maximum(c.Float("min", 0));
    if (c.Attribute("max") != nullptr) x = x.Minimum(c.Float("max", 0));
    return c.Out(0, x);
  }
  // The upper bound wins where they cross.
  if (c.Has(1)) x = x.Maximum(c.In(1));
  if (c.Has(2)) x = x.Minimum(c.In(2));
  c.Out(0, x);
}

void IsInf(NodeContext& c) {
  const Tensor x = c.In(0);
  const bool positive = c.Int("detect_positive", 1) != 0, negative = c.Int("detect_negative", 1) != 0;
  Tensor inf = understudy::IsInf(x);
  if (!positive) inf = LogicalAnd(inf, x < 0);
  if (!negative) inf = LogicalAnd(inf, x > 0);
  c.Out(0, inf);
}

void Where(NodeContext& c) {
  const Tensor a = c.In(1);
  c.Out(0, understudy::Where(c.In(0), a, c.In(2)), c.TypeOf(1));
}

void Identity(NodeContext& c) { c.OutValue(0, c.Input(0)); }

}  // namespace understudy::onnx::ops
