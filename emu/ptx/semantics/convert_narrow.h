// SPDX-License-Identifier: Apache-2.0
#pragma once
// Conversions of the formats narrower than 16 bits, tf32, ue8m0 and stochastic rounding: one lane each, as
// functions of bits. Used by convert_packed.cc; tests compare them with independent arithmetic.

#include <cstdint>

#include "emu/ptx/semantics/convert_bits.h"

namespace understudy::emu::ptx {

// Exact; NaN is quiet.
template <class F>
inline float DecodeNarrow(uint32_t code) {
  const uint32_t magnitude = code & F::kAll, sign = (code & F::kSign) != 0 ? 0x80000000u : 0u;
  if (F::kTop == Top::kIeee && magnitude >= F::kInf)
    return FloatOf(sign | (magnitude > F::kInf ? 0x7fc00000u : 0x7f800000u));
  if (F::kTop == Top::kOneNan && magnitude == F::kAll) return FloatOf(sign | 0x7fc00000u);
  // As an f32 the code is a number 2^(127 - bias) times too small.
  const float scaled = FloatOf(magnitude << (23 - F::kMan)) * FloatOf((254u - F::kBias) << 23);
  return FloatOf(BitsOf(scaled) | sign);
}

// Stochastic rounding: the `random_bits` bits of `random` are added at the top of the part of the significand
// that is cut off. Overflow and NaN as with .rn (`finite`: .satfinite).
template <class F>
inline uint32_t NarrowStochastic(float v, uint32_t random, int random_bits, bool finite) {
  const uint32_t bits = BitsOf(v), field = bits >> 23 & 0xff, fraction = bits & 0x7fffffu;
  if (field == 0xff) return NarrowBits<F>(static_cast<double>(v), Round::kToZero, finite, false);
  const int exponent = (field == 0 ? 1 : static_cast<int>(field)) - 127;
  const uint64_t significand = fraction | (field == 0 ? 0u : 0x800000u);
  constexpr int kLeast = 1 - F::kBias;
  const bool tiny = exponent < kLeast;
  const int shift = 23 - F::kMan + (tiny ? kLeast - exponent : 0);
  // Beyond 24 + random_bits the sum cannot carry.
  if (shift > 24 + random_bits) return (bits >> 31) != 0 ? F::kSign : 0;
  const int up = shift - random_bits;
  const uint64_t sum = significand + (up >= 0 ? uint64_t{random} << up : uint64_t{random} >> -up);
  const uint64_t base = tiny ? 0 : static_cast<uint64_t>(exponent - kLeast) << F::kMan;
  return LimitMagnitude<F>(base + (sum >> shift), Round::kNearestEven, false, finite) |
         ((bits >> 31) != 0 ? F::kSign : 0);
}

// tf32 in an f32's upper 19 bits. .rna cuts NaNs like numbers, which leaves an infinity of those whose payload
// is low; the other roundings have one NaN.
inline uint32_t Tf32FromSingle(uint32_t bits, Round round, bool relu, bool finite) {
  constexpr uint32_t kUnit = 0x2000u, kNan = 0x7fffe000u;
  const uint32_t sign = bits & 0x80000000u, magnitude = bits & 0x7fffffffu;
  const bool nan = magnitude > 0x7f800000u;
  if (round != Round::kNearestAway && nan) return kNan;
  const uint32_t rest = magnitude & (kUnit - 1);
  uint32_t kept = magnitude & ~(kUnit - 1);
  if (!nan && RoundsAway(round, sign != 0, (kept & kUnit) != 0, rest, kUnit / 2)) kept += kUnit;
  if (finite && (kept & 0x7f800000u) == 0x7f800000u) kept -= kUnit;
  return relu && sign != 0 ? 0 : sign | kept;
}

// The exponent of the power of two at or below (`up`: at or above) the magnitude; 0xff is NaN, and infinity
// without .satfinite.
inline uint32_t ScaleFromSingle(uint32_t bits, bool up, bool finite) {
  const uint32_t most = finite ? 0xfeu : 0xffu;
  const uint32_t field = bits >> 23 & 0xff, fraction = bits & 0x7fffffu;
  if (field == 0xff) return fraction != 0 ? 0xffu : most;
  if (field == 0) {
    // Code 0 is 2^-127, half of the least normal.
    return up && fraction > 0x400000u ? 1u : 0u;
  }
  const uint32_t code = field + (up && fraction != 0 ? 1 : 0);
  return code > most ? most : code;
}
inline uint32_t BrainFromScale(uint32_t code) {
  return code == 0xff ? Brain::kNan : code == 0 ? 0x0040u : code << 7;
}

}  // namespace understudy::emu::ptx
