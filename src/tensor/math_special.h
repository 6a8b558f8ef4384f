// SPDX-License-Identifier: Apache-2.0
#pragma once
// The gamma, error and Bessel functions as graphs, for f32 and f64 nodes of Tensor operations. Everything is
// computed in f64 (f32 is rounded once at the end), from polynomials of math_coefficients.inc, recurrences
// and reflections. Nothing outside src/tensor includes this.
//
// Bounds in units in the last place over the whole range, which tests/src/tensor/special_test.cc holds
// against mpmath: f32 0.52 throughout, f64
//
//   Lgamma 4 (x > 0)   Digamma 3 (x > 0)   Polygamma 5 + n (x > 0)
//   Erfinv 3   Erfcx 3   Ndtr 5   LogNdtr 4   Ndtri 4   BesselI0, I1, I0e, I1e 5
//
// Below 0 Lgamma, Digamma and Polygamma pass through zeros, near which their error in f64 is absolute: those
// bounds (8, 4 and 8 + n) then are units in the last place of the larger of 1 and the function.
//
// Each carries its own derivative (derivatives.h).

#include "src/uop/uop.h"

namespace understudy::tensor_internal::math {

// log |gamma(x)|; infinite at 0 and below it at the integers.
UOpRef Lgamma(const UOpRef& x);
// Its derivative: an infinity of the other sign at a zero, NaN at negative integers.
UOpRef Digamma(const UOpRef& x);
// The n-th derivative of that.
inline constexpr int kMaxPolygamma = 30;
UOpRef Polygamma(int n, const UOpRef& x);

UOpRef Erfinv(const UOpRef& x);
UOpRef Erfcx(const UOpRef& x);    // e^(x^2) erfc(x)
UOpRef Ndtr(const UOpRef& x);     // the normal distribution
UOpRef LogNdtr(const UOpRef& x);  // its logarithm
UOpRef Ndtri(const UOpRef& p);    // its inverse

// Modified Bessel functions of the first kind, the last two times e^-|x|.
UOpRef BesselI0(const UOpRef& x);
UOpRef BesselI1(const UOpRef& x);
UOpRef BesselI0e(const UOpRef& x);
UOpRef BesselI1e(const UOpRef& x);

}  // namespace understudy::tensor_internal::math
