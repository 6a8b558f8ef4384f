// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rounding of numbers into float formats of at most 32 bits, in integer arithmetic: any rounding, the same
// under every mode of the host. Used by the conversion kernels; branch-free where a loop over lanes calls it.

#include <bit>
#include <cstdint>

#include "emu/ptx/semantics/convert_plan.h"
#include "emu/ptx/semantics/float_bits.h"

namespace understudy::emu::ptx {

// A format with infinities and NaNs in its top exponent, and the narrow ones without infinity (one NaN, or
// none).
enum class Top : uint8_t { kIeee, kOneNan, kNumbers };
template <int kE, int kM, int kB, Top kT>
struct NarrowFormat {
  static constexpr int kExp = kE, kMan = kM, kBias = kB;
  static constexpr Top kTop = kT;
  static constexpr uint32_t kSign = 1u << (kE + kM);
  static constexpr uint32_t kAll = kSign - 1;
  static constexpr uint32_t kInf = ((1u << kE) - 1) << kM;
  static constexpr uint32_t kMax = kT == Top::kIeee ? kInf - 1 : kT == Top::kOneNan ? kAll - 1 : kAll;
  static constexpr uint32_t kNan = kT == Top::kNumbers ? kMax : kAll;
};
using Binary32 = NarrowFormat<8, 23, 127, Top::kIeee>;
using Binary16 = NarrowFormat<5, 10, 15, Top::kIeee>;
using BFloat16 = NarrowFormat<8, 7, 127, Top::kIeee>;
using E4m3 = NarrowFormat<4, 3, 7, Top::kOneNan>;
using E5m2 = NarrowFormat<5, 2, 15, Top::kIeee>;
using E2m3 = NarrowFormat<2, 3, 1, Top::kNumbers>;
using E3m2 = NarrowFormat<3, 2, 3, Top::kNumbers>;
using E2m1 = NarrowFormat<2, 1, 1, Top::kNumbers>;

inline namespace US_SEMANTICS_ARCH {

// What is added to a magnitude for the part that is cut off.
US_LANE bool RoundsAway(Round round, bool negative, bool odd, uint64_t rest, uint64_t half) {
  const bool even = (rest > half) | ((rest == half) & odd);
  return round == Round::kNearestEven   ? even
         : round == Round::kNearestAway ? rest >= half
         : round == Round::kUp          ? (rest != 0) & !negative
         : round == Round::kDown        ? (rest != 0) & negative
                                        : false;
}

// `code`, the magnitude before overflow was looked at, as it ends: beyond the largest finite value lies
// infinity if the rounding goes there, else the largest.
template <class F>
US_LANE uint32_t LimitMagnitude(uint64_t code, Round round, bool negative, bool finite) {
  const bool away = (round == Round::kNearestEven) | (round == Round::kNearestAway) |
                    ((round == Round::kUp) & !negative) | ((round == Round::kDown) & negative);
  const uint32_t beyond = F::kTop == Top::kIeee && away & !finite ? F::kInf : F::kMax;
  return code > F::kMax ? beyond : static_cast<uint32_t>(code);
}

// A number of f64, rounded once. `payload`: a NaN keeps its sign and leading payload bits, quiet (what
// conversions from f64 do), else it is the format's all-ones NaN.
template <class F>
US_LANE uint32_t NarrowBits(double v, Round round, bool finite, bool payload) {
  constexpr int kMan = F::kMan, kLeast = 1 - F::kBias;
  const uint64_t bits = BitsOf(v);
  const bool negative = bits >> 63 != 0;
  const int32_t field = static_cast<int32_t>(bits >> 52) & 0x7ff;
  const int32_t exponent = (field == 0 ? 1 : field) - 1023;
  const uint64_t fraction = bits & 0xfffffffffffffu;
  const uint64_t significand = fraction | (field == 0 ? 0 : uint64_t{1} << 52);
  const bool tiny = exponent < kLeast;
  const int32_t extra = tiny ? kLeast - exponent : 0;
  // Beyond 62 every significand is less than half a unit.
  const int32_t wanted = 52 - kMan + extra;
  const int32_t shift = wanted > 62 ? 62 : wanted;
  const uint64_t kept = significand >> shift, rest = significand & ((uint64_t{1} << shift) - 1);
  const bool up = RoundsAway(round, negative, (kept & 1) != 0, rest, uint64_t{1} << (shift - 1));
  // The implicit bit of `kept` adds one to the exponent field.
  const uint64_t base = tiny ? 0 : static_cast<uint64_t>(exponent - kLeast) << kMan;
  const uint32_t number = LimitMagnitude<F>(base + kept + (up ? 1 : 0), round, negative, finite);
  const uint32_t infinity = F::kTop == Top::kIeee && !finite ? F::kInf : F::kMax;
  const uint32_t sign = negative ? F::kSign : 0;
  const uint32_t carried = sign | F::kInf | 1u << (kMan - 1) | static_cast<uint32_t>(fraction >> (52 - kMan));
  const uint32_t nan = payload ? carried : F::kNan;
  return field != 0x7ff ? number | sign : fraction == 0 ? infinity | sign : nan;
}

// An integer, rounded once.
template <class F>
inline uint32_t NarrowInteger(bool negative, uint64_t magnitude, Round round) {
  if (magnitude == 0) return 0;
  const int top = 63 - std::countl_zero(magnitude);
  const int shift = top - F::kMan;
  uint64_t kept = shift > 0 ? magnitude >> shift : magnitude << -shift;
  if (shift > 0) {
    const uint64_t rest = magnitude & ((uint64_t{1} << shift) - 1);
    if (RoundsAway(round, negative, (kept & 1) != 0, rest, uint64_t{1} << (shift - 1))) ++kept;
  }
  const uint64_t code = (static_cast<uint64_t>(top + F::kBias - 1) << F::kMan) + kept;
  return LimitMagnitude<F>(code, round, negative, false) | (negative ? F::kSign : 0);
}
inline uint64_t WideInteger(bool negative, uint64_t magnitude, Round round) {
  if (magnitude == 0) return 0;
  const int top = 63 - std::countl_zero(magnitude);
  const int shift = top - 52;
  uint64_t kept = shift > 0 ? magnitude >> shift : magnitude << -shift;
  if (shift > 0) {
    const uint64_t rest = magnitude & ((uint64_t{1} << shift) - 1);
    if (RoundsAway(round, negative, (kept & 1) != 0, rest, uint64_t{1} << (shift - 1))) ++kept;
  }
  return (static_cast<uint64_t>(top + 1022) << 52) + kept + (uint64_t{negative} << 63);
}

}  // namespace US_SEMANTICS_ARCH
}  // namespace understudy::emu::ptx
