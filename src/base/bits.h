// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bit fields, alignment and unaligned little-endian access. Used by decoders, packet processors and
// number formats; holds no state.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace understudy {

// Bits hi..lo (inclusive) of `word`, right-aligned. 63 >= hi >= lo.
constexpr uint64_t Bits(uint64_t word, int hi, int lo) {
  const int width = hi - lo + 1;
  return (word >> lo) & (width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1);
}

// All ones in the low `width` bits, 0 <= width <= 64.
constexpr uint64_t LowMask(int width) { return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }

// The low `width` bits (1..64) of `value` read as two's complement.
constexpr int64_t SignExtend(uint64_t value, int width) {
  const int shift = 64 - width;
  return static_cast<int64_t>(value << shift) >> shift;
}

constexpr bool IsPow2(uint64_t v) { return v != 0 && (v & (v - 1)) == 0; }
constexpr uint64_t AlignUp(uint64_t v, uint64_t alignment) {
  return (v + alignment - 1) / alignment * alignment;
}
constexpr uint64_t AlignDown(uint64_t v, uint64_t alignment) { return v / alignment * alignment; }

template <class To, class From>
constexpr To BitCast(const From& from) {
  return std::bit_cast<To>(from);
}

// Reads or writes a T at any alignment, little-endian as every host and device here is.
template <class T>
T LoadLE(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return v;
}
template <class T>
void StoreLE(void* p, T v) {
  std::memcpy(p, &v, sizeof(T));
}

}  // namespace understudy
