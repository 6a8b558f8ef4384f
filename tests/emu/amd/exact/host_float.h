// SPDX-License-Identifier: Apache-2.0
#pragma once
// Floats of the formulas of exact tests: conversions and roundings written over the host's wider formats,
// with one rounding each. It shares no code with the emulator.

#include <bit>
#include <cmath>
#include <cstdint>

namespace understudy::emu::amd::exact {

using Quad = __float128;  // 113 bits: sums and products of f16 and of two f32 are exact, and fma of f16

inline float F32(uint32_t bits) { return std::bit_cast<float>(bits); }
inline double F64(uint64_t bits) { return std::bit_cast<double>(bits); }
inline uint32_t Bits(float f) { return std::bit_cast<uint32_t>(f); }
inline uint64_t Bits(double f) { return std::bit_cast<uint64_t>(f); }

inline double F16(uint32_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  double magnitude = 0;
  if (exponent == 31) {
    magnitude = fraction != 0 ? NAN : INFINITY;
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(fraction + 1024, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}
inline float Bf16(uint32_t bits) { return F32(bits << 16); }

enum class Toward { kNearestEven, kZero };

// The f16 of a value: one rounding.
inline uint32_t ToF16(Quad x, Toward toward = Toward::kNearestEven) {
  if (x != x) return 0x7e00;
  const bool negative = std::signbit(static_cast<double>(x));
  const uint32_t sign = negative ? 0x8000 : 0;
  const Quad a = negative ? -x : x;
  if (a > Quad{1e30})
    return sign | (std::isinf(static_cast<double>(a)) || toward == Toward::kNearestEven ? 0x7c00 : 0x7bff);
  int exponent = -14;
  while (exponent < 15 && a >= Quad{std::ldexp(1.0, exponent + 1)}) ++exponent;
  const Quad scaled = a / Quad{std::ldexp(1.0, exponent - 10)};
  if (scaled >= 4096) return sign | (toward == Toward::kNearestEven ? 0x7c00 : 0x7bff);
  uint32_t n = static_cast<uint32_t>(scaled);
  const Quad rest = scaled - static_cast<Quad>(n);
  if (toward == Toward::kNearestEven && (rest > Quad{0.5} || (rest == Quad{0.5} && (n & 1) != 0))) ++n;
  const uint32_t bits = (static_cast<uint32_t>(exponent + 14) << 10) + n;
  if (bits >= 0x7c00) return sign | (toward == Toward::kNearestEven ? 0x7c00 : 0x7bff);
  return sign | bits;
}

// The f32 of a value, to nearest even or toward zero.
inline uint32_t ToF32(double x, Toward toward = Toward::kNearestEven) {
  float f = static_cast<float>(x);
  if (toward == Toward::kZero && std::isfinite(x) && std::fabs(static_cast<double>(f)) > std::fabs(x)) {
    f = std::nextafter(f, 0.0f);
  }
  return Bits(f);
}

inline bool IsNan32(uint32_t b) { return (b & 0x7fffffff) > 0x7f800000; }
inline bool IsNan16(uint32_t b) { return (b & 0x7fff) > 0x7c00; }
inline bool IsNanBf16(uint32_t b) { return (b & 0x7fff) > 0x7f80; }
inline bool IsNan64(uint64_t b) { return (b & 0x7fffffffffffffffu) > 0x7ff0000000000000u; }

}  // namespace understudy::emu::amd::exact
