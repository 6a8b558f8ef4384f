// SPDX-License-Identifier: Apache-2.0
#pragma once
// Elementary functions as graphs of EXP2, LOG2, SIN, COS, SQRT and exactly rounded arithmetic, for the f32
// and f64 nodes of Tensor operations. Arguments are split and products fused where rounding would show, so
// that errors are relative: a few units in the last place over the whole range, denormals, zeros, overflow
// and infinities included. Nothing outside src/tensor includes this.
//
// Bounds in units in the last place, for f32 and f64 alike, of the compiled CPU code. The sweep in
// tests/src/tensor/math_sweep_test.cc (f32 over all exponents, f64 at random, against 80-bit long double)
// prints the largest error found and fails above these:
//
//   Exp 2      Log 2      Tan 2.5   Sinh 4    Asinh 3.5  Erf 2     Pow 1 (f64: 3)
//   Expm1 2.5  Log10 2    Asin 3    Cosh 3    Acosh 3.5  Erfc 5    Atan2 3.5
//   Sigmoid 3.5  Log1p 2.5  Acos 2  Tanh 3.5  Atanh 3.5  Sinc 4    Hypot 1.5
//   Softplus 3.5  Logit 3.5  Atan 2.5  LogAddExp 2 (of operands that are not negative)
//
// Each carries its own derivative (derivatives.h).

#include "src/uop/uop.h"

namespace understudy::tensor_internal::math {

// `x` and the result: f32 or f64, of any shape.
UOpRef Exp(const UOpRef& x);
UOpRef Expm1(const UOpRef& x);
UOpRef Sigmoid(const UOpRef& x);
UOpRef Log(const UOpRef& x);
UOpRef Log10(const UOpRef& x);
UOpRef Log1p(const UOpRef& x);
UOpRef Sinh(const UOpRef& x);
UOpRef Cosh(const UOpRef& x);
UOpRef Tanh(const UOpRef& x);
UOpRef Tan(const UOpRef& x);
UOpRef Asin(const UOpRef& x);
UOpRef Acos(const UOpRef& x);
UOpRef Atan(const UOpRef& x);
UOpRef Asinh(const UOpRef& x);
UOpRef Acosh(const UOpRef& x);
UOpRef Atanh(const UOpRef& x);
UOpRef Erf(const UOpRef& x);
UOpRef Erfc(const UOpRef& x);
UOpRef Softplus(const UOpRef& x);  // log(1 + e^x)
UOpRef Logit(const UOpRef& x);     // log(x / (1 - x))
UOpRef Sinc(const UOpRef& x);      // sin(pi x) / (pi x)
// The operands have one dtype and shape.
UOpRef Atan2(const UOpRef& y, const UOpRef& x);
UOpRef Hypot(const UOpRef& a, const UOpRef& b);
UOpRef LogAddExp(const UOpRef& a, const UOpRef& b);
UOpRef LogAddExp2(const UOpRef& a, const UOpRef& b);
// IEEE 754's pow: pow(x, 0) and pow(1, y) are 1 even for NaN; a negative base with a fraction gives NaN.
UOpRef Pow(const UOpRef& base, const UOpRef& exponent);

}  // namespace understudy::tensor_internal::math
