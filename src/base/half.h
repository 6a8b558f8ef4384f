// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fast inline conversions between f32 and the 16-bit formats, round to nearest even, NaNs quieted with their
// payload's leading bits. The slow, general reference is float_format.h.

#include <bit>
#include <cstdint>

namespace understudy {

inline float HalfToFloat(uint16_t h) {
  const uint32_t sign = uint32_t{h & 0x8000u} << 16;
  const uint32_t exp = (h >> 10) & 31, man = h & 0x3ff;
  if (exp == 31) return std::bit_cast<float>(sign | 0x7f800000u | man << 13 | (man ? 0x400000u : 0u));
  if (exp != 0) return std::bit_cast<float>(sign | (exp + 112) << 23 | man << 13);
  // Denormal: man * 2^-24 is exact in f32.
  const float v = static_cast<float>(man) * 0x1p-24f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(v) | sign);
}

inline uint16_t FloatToHalf(float f) {
  const uint32_t u = std::bit_cast<uint32_t>(f);
  const uint32_t sign = (u >> 16) & 0x8000u, mag = u & 0x7fffffffu;
  if (mag > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((mag >> 13) & 0x3ffu));
  if (mag >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and above round to infinity
  if (mag >= 0x38800000u) {                                              // normal result
    const uint32_t rounded = mag + 0xfffu + ((mag >> 13) & 1u);
    return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
  }
  if (mag < 0x33000000u) return static_cast<uint16_t>(sign);  // below half of the least denormal
  const uint32_t shift = 126 - (mag >> 23);                   // 14..24
  const uint32_t man = (mag & 0x7fffffu) | 0x800000u;
  const uint32_t half = 1u << (shift - 1), rest = man & ((1u << shift) - 1);
  uint32_t q = man >> shift;
  if (rest > half || (rest == half && (q & 1u))) ++q;
  return static_cast<uint16_t>(sign | q);
}

inline float BFloat16ToFloat(uint16_t b) {
  const uint32_t u = uint32_t{b} << 16;
  const bool nan = (u & 0x7fffffffu) > 0x7f800000u;
  return std::bit_cast<float>(nan ? u | 0x400000u : u);
}

inline uint16_t FloatToBFloat16(float f) {
  const uint32_t u = std::bit_cast<uint32_t>(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((u >> 16) | 0x40u);
  return static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

}  // namespace understudy
