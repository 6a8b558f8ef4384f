// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reduction of huge angles modulo pi/2 (Payne and Hanek, 1983) as UOps: the bits of 2/pi that matter for the
// argument's exponent, times its mantissa. Used by SinPolynomial only.

#include "src/uop/uop.h"

namespace understudy {

// An angle = quadrant pi/2 + hi + lo, |hi| <= pi/4 (a little over is fine); only quadrant mod 4 counts.
struct ReducedAngle {
  UOpRef quadrant, hi, lo;
};

// `ax` >= 2^15 (f32) or 2^20 (f64), finite; other values give some angle, and no undefined operation.
ReducedAngle PayneHanekF32(const UOpRef& ax);
ReducedAngle PayneHanekF64(const UOpRef& ax);

}  // namespace understudy
