// SPDX-License-Identifier: Apache-2.0
#pragma once
// Distance between floats in units in the last place, for reports and test bounds.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "src/base/float_format.h"

namespace understudy {

inline constexpr uint64_t kUlpIncomparable = std::numeric_limits<uint64_t>::max();

// Steps between two patterns of one format on the number line, with -0 and +0 equal. NaN against NaN is 0;
// NaN against a number is kUlpIncomparable.
inline uint64_t UlpDistanceBits(const FloatFormat& f, uint64_t a, uint64_t b) {
  const bool nan_a = f.IsNan(a), nan_b = f.IsNan(b);
  if (nan_a || nan_b) return nan_a && nan_b ? 0 : kUlpIncomparable;
  const auto line = [&f](uint64_t v) {
    const auto mag = static_cast<int64_t>(v & (f.sign_mask() - 1));
    return v & f.sign_mask() ? -mag : mag;
  };
  const int64_t x = line(a), y = line(b);
  return x > y ? static_cast<uint64_t>(x) - static_cast<uint64_t>(y)
               : static_cast<uint64_t>(y) - static_cast<uint64_t>(x);
}

inline uint64_t UlpDistance(float a, float b) {
  return UlpDistanceBits(formats::kF32, std::bit_cast<uint32_t>(a), std::bit_cast<uint32_t>(b));
}
inline uint64_t UlpDistance(double a, double b) {
  return UlpDistanceBits(formats::kF64, std::bit_cast<uint64_t>(a), std::bit_cast<uint64_t>(b));
}

}  // namespace understudy
