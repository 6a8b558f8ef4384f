// SPDX-License-Identifier: Apache-2.0
// What the cases are written with, on the host and on the device alike: the words of an item, and floats as
// bits.

#pragma once
#include <stdint.h>

#define IN(k) in[(i * 13u + (k) * 7u) & 1023u]

static inline float AsFloat(uint32_t bits) {
  float v;
  __builtin_memcpy(&v, &bits, 4);
  return v;
}
static inline uint32_t FloatBits(float v) {
  uint32_t bits;
  __builtin_memcpy(&bits, &v, 4);
  return v != v ? 0x7fc00000u : bits;  // which NaN is not defined
}
static inline double AsDouble(uint64_t bits) {
  double v;
  __builtin_memcpy(&v, &bits, 8);
  return v;
}
static inline uint64_t DoubleBits(double v) {
  uint64_t bits;
  __builtin_memcpy(&bits, &v, 8);
  return v != v ? 0x7ff8000000000000u : bits;
}
#define IN64(k) ((uint64_t)IN(k) | (uint64_t)IN((k) + 1) << 32)
#define OUT64(k, v)                          \
  do {                                       \
    const uint64_t value_ = (v);             \
    out[(k)] = (uint32_t)value_;             \
    out[(k) + 1] = (uint32_t)(value_ >> 32); \
  } while (0)

static inline uint32_t HalfBits(_Float16 v) {
  uint16_t bits;
  __builtin_memcpy(&bits, &v, 2);
  return v != v ? 0x7e00u : bits;
}
static inline _Float16 AsHalf(uint32_t bits) {
  const uint16_t half = (uint16_t)bits;
  _Float16 v;
  __builtin_memcpy(&v, &half, 2);
  return v;
}
