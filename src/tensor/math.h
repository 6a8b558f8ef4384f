// SPDX-License-Identifier: Apache-2.0
#pragma once
// Elementary functions as graphs of EXP2, LOG2, SIN, COS, SQRT and exactly rounded arithmetic, for the f32
// and f64 nodes of Tensor operations. Arguments are split and products fused where rounding would show, so
// that errors are relative: a few units in the last place over the whole range, denormals, zeros, overflow
// and infinities included. Nothing outside src/tensor includes this.
//
// Largest error found, in units in the last place, on the compiled CPU code
// (tests/src/tensor/math_sweep_test.cc repeats the sweep: f32 over all exponents against double, f64 against
// 80-bit long double, and fails above these bounds):
//
//            f32   f64             f32   f64            f32   f64             f32   f64
//   Exp      2.0   2.0    Sinh     4.0   4.0   Asin     3.0   3.0    Log      2.5   2.5
//   Expm1    3.0   3.0    Cosh     3.0   3.0   Acos     3.0   3.0    Log10    2.5   2.5
//   Sigmoid  3.5   3.5    Tanh     3.5   3.5   Atan     2.5   2.5    Log1p    3.5   3.5
//   Erf      2.0   2.0    Asinh    5.0   5.0   Acosh    5.0   5.0    Atanh    5.0   5.0
//   Erfc     8.0   8.0    Tan      3.0   3.0   Atan2    3.5   3.5    Pow      1.0   3.0
//   Hypot    1.5   1.5
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
