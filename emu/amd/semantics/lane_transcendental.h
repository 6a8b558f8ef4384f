// SPDX-License-Identifier: Apache-2.0
#pragma once
// Powers and logarithms to base 2, sine and cosine of whole turns, of one f32 (or f16 widened) in double
// precision: relative errors below 2^-48, so that a result rounded to f32 is within 0.5001 ulp. Branch-free
// and without library calls, so that loops over lanes vectorise; compiled without contraction, so that every
// host computes the same bits.

#include <cstdint>

#include "emu/amd/semantics/float_bits.h"

namespace understudy::emu::amd {
inline namespace US_SEMANTICS_ARCH {

// 2^x = 2^n * 2^f with n the nearest integer: a Taylor polynomial of (f ln 2), |f| <= 1/2, whose first term
// left out is below 2^-47 of the sum. Beyond +-160 every f32 result is infinite or zero.
US_BITS double Exp2(float v) {
  constexpr double kLn2 = 0.69314718055994530942;
  double x = static_cast<double>(v);
  x = x > 160.0 ? 160.0 : (x < -160.0 ? -160.0 : x);
  x = v == v ? x : 0.0;
  const double n = __builtin_rint(x);
  const double t = (x - n) * kLn2;
  double p = 1.0 / 39916800.0;
  p = p * t + 1.0 / 3628800.0;
  p = p * t + 1.0 / 362880.0;
  p = p * t + 1.0 / 40320.0;
  p = p * t + 1.0 / 5040.0;
  p = p * t + 1.0 / 720.0;
  p = p * t + 1.0 / 120.0;
  p = p * t + 1.0 / 24.0;
  p = p * t + 1.0 / 6.0;
  p = p * t + 0.5;
  p = p * t + 1.0;
  p = p * t + 1.0;
  return p * PowerOfTwo(static_cast<int32_t>(n));
}

// log2(m * 2^e) = e + 2/ln 2 * atanh((m - 1) / (m + 1)), m in [sqrt(1/2), sqrt(2)). `v` is not a denormal.
US_BITS double Log2(float v) {
  constexpr double kTwoOverLn2 = 2.8853900817779268147;
  const uint64_t bits = BitsOf(static_cast<double>(v));
  // The exponent that brings the significand to [sqrt(1/2), sqrt(2)): the offset is the significand of
  // sqrt(1/2).
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcdu;
  const int64_t shifted = static_cast<int64_t>(bits - kRootHalf);
  const int64_t e = shifted >> 52;
  const double m = DoubleOf(bits - (static_cast<uint64_t>(e) << 52));
  const double s = (m - 1.0) / (m + 1.0), q = s * s;
  double p = 1.0 / 19.0;
  p = p * q + 1.0 / 17.0;
  p = p * q + 1.0 / 15.0;
  p = p * q + 1.0 / 13.0;
  p = p * q + 1.0 / 11.0;
  p = p * q + 1.0 / 9.0;
  p = p * q + 1.0 / 7.0;
  p = p * q + 1.0 / 5.0;
  p = p * q + 1.0 / 3.0;
  p = p * q + 1.0;
  const double finite = static_cast<double>(static_cast<int32_t>(e)) + s * p * kTwoOverLn2;
  const double nan = DoubleOf(kInf64 | kQuiet64), infinity = DoubleOf(kInf64);
  const double positive = bits == kInf64 ? infinity : finite;
  return v > 0.0f ? positive : (v == 0.0f ? -infinity : nan);
}

// sin(f) and cos(f), |f| <= pi/4.
US_BITS double SinSmall(double f) {
  const double q = f * f;
  double p = -1.0 / 1307674368000.0;
  p = p * q + 1.0 / 6227020800.0;
  p = p * q - 1.0 / 39916800.0;
  p = p * q + 1.0 / 362880.0;
  p = p * q - 1.0 / 5040.0;
  p = p * q + 1.0 / 120.0;
  p = p * q - 1.0 / 6.0;
  return f + f * (q * p);
}
US_BITS double CosSmall(double f) {
  const double q = f * f;
  double p = 1.0 / 20922789888000.0;
  p = p * q - 1.0 / 87178291200.0;
  p = p * q + 1.0 / 479001600.0;
  p = p * q - 1.0 / 3628800.0;
  p = p * q + 1.0 / 40320.0;
  p = p * q - 1.0 / 720.0;
  p = p * q + 1.0 / 24.0;
  p = p * q - 0.5;
  return 1.0 + q * p;
}

// A turn as the nearest quarter, -2 to 2, and the angle from there.
struct Turn {
  double quarter, angle;
};
US_BITS Turn TurnOf(float v) {
  constexpr double kTwoPi = 6.283185307179586476925286766559;
  const double x = static_cast<double>(v);
  const double r = x - __builtin_rint(x);  // infinite: NaN
  const double quarter = __builtin_rint(r * 4.0);
  return {quarter, (r - quarter * 0.25) * kTwoPi};
}
// sin and cos of 2*pi*v. Quarter turns are exact; a zero result is +0, but for the sine of -0.
US_BITS double SinTurns(float v) {
  const Turn t = TurnOf(v);
  const double s = SinSmall(t.angle), c = CosSmall(t.angle);
  const bool odd = (t.quarter == 1.0) | (t.quarter == -1.0);
  const bool negative = (t.quarter == -1.0) | (t.quarter == 2.0) | (t.quarter == -2.0);
  const double magnitude = odd ? c : s;
  const double r = (negative ? -magnitude : magnitude) + 0.0;
  return v == 0.0f ? static_cast<double>(v) : r;
}
US_BITS double CosTurns(float v) {
  const Turn t = TurnOf(v);
  const double s = SinSmall(t.angle), c = CosSmall(t.angle);
  const bool odd = (t.quarter == 1.0) | (t.quarter == -1.0);
  const bool negative = (t.quarter == 1.0) | (t.quarter == 2.0) | (t.quarter == -2.0);
  const double magnitude = odd ? s : c;
  return (negative ? -magnitude : magnitude) + 0.0;
}

}  // namespace US_SEMANTICS_ARCH
}  // namespace understudy::emu::amd
