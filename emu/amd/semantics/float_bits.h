// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bit-level float helpers beneath LaneMath: reinterpretation, f16 widening and rounding, one-rounding
// narrowing from double, and round-to-odd sums. Branch-free, so that loops
// vectorise.

#include <cstdint>

#include "emu/amd/semantics/fp_mode.h"

#ifndef US_SEMANTICS_ARCH
#define US_SEMANTICS_ARCH baseline
#endif

namespace understudy::emu::amd {

// 16-bit floats as their bits: no arithmetic of their own.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

inline namespace US_SEMANTICS_ARCH {

#define US_BITS [[gnu::always_inline]] inline

constexpr uint64_t kAbs64 = 0x7fffffffffffffffu, kInf64 = 0x7ff0000000000000u, kQuiet64 = 0x0008000000000000u;

US_BITS uint32_t BitsOf(float v) { return __builtin_bit_cast(uint32_t, v); }
US_BITS uint64_t BitsOf(double v) { return __builtin_bit_cast(uint64_t, v); }
US_BITS float FloatOf(uint32_t v) { return __builtin_bit_cast(float, v); }
US_BITS double DoubleOf(uint64_t v) { return __builtin_bit_cast(double, v); }

// Quieted NaN of the other width, sign and leading payload bits kept.
US_BITS uint32_t NanBits32(uint64_t b) {
  return static_cast<uint32_t>(b >> 63) << 31 | 0x7fc00000u | (static_cast<uint32_t>(b >> 29) & 0x3fffffu);
}
US_BITS uint64_t NanBits64(uint32_t b) {
  return uint64_t{b >> 31} << 63 | 0x7ff8000000000000u | uint64_t{b & 0x3fffffu} << 29;
}

// 2^n for -1022 <= n <= 1023.
US_BITS double PowerOfTwo(int32_t n) {
  return DoubleOf(static_cast<uint64_t>(static_cast<int64_t>(n) + 1023) << 52);
}

US_BITS float FloatFromHalf(uint16_t h) {
  const uint32_t magnitude = uint32_t{h & 0x7fffu} << 13;
  const uint32_t exponent = magnitude & 0x0f800000u;
  const uint32_t normal = magnitude + (112u << 23);
  const uint32_t special = normal + (112u << 23);
  const uint32_t denormal = BitsOf(FloatOf(normal + (1u << 23)) - FloatOf(113u << 23));
  const uint32_t r = exponent == 0x0f800000u ? special : (exponent == 0 ? denormal : normal);
  return FloatOf(r | uint32_t{h & 0x8000u} << 16);
}

// Nearest even; denormals are produced; NaNs are quieted.
US_BITS uint16_t HalfFromFloat(float f) {
  const uint32_t sign = BitsOf(f) & 0x80000000u;
  const uint32_t a = BitsOf(f) ^ sign;
  const uint32_t special = a > 0x7f800000u ? 0x7e00u | ((a >> 13) & 0x3ffu) : 0x7c00u;
  const uint32_t magic = (127u - 15 + 23 - 10 + 1) << 23;
  const uint32_t denormal = BitsOf(FloatOf(a) + FloatOf(magic)) - magic;
  const uint32_t normal = (a + 0xfffu + ((a >> 13) & 1u) - (112u << 23)) >> 13;
  const uint32_t r = a >= 0x47800000u ? special : (a < 0x38800000u ? denormal : normal);
  return static_cast<uint16_t>(r | sign >> 16);
}

// The bits of `v` rounded to a format with kExp exponent and kMan mantissa bits. `saturate`: a finite value
// that overflows gives the largest finite one.
template <int kExp, int kMan>
US_BITS uint64_t RoundDouble(double v, Round round, bool saturate) {
  constexpr int kBias = (1 << (kExp - 1)) - 1;
  constexpr uint64_t kInf = ((uint64_t{1} << kExp) - 1) << kMan;
  const uint64_t bits = BitsOf(v);
  const bool negative = (bits >> 63) != 0;
  const int32_t field = static_cast<int32_t>(bits >> 52) & 0x7ff;
  const int32_t exponent = (field == 0 ? 1 : field) - 1023;
  const uint64_t fraction = bits & 0xfffffffffffffu;
  const uint64_t significand = fraction | (field == 0 ? 0 : uint64_t{1} << 52);
  const bool tiny = exponent < 1 - kBias;
  const int32_t extra = tiny ? 1 - kBias - exponent : 0;
  const int32_t shift = 52 - kMan + (extra > kMan + 3 ? kMan + 3 : extra);
  const uint64_t kept = significand >> shift;
  const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  const bool nearest_up = (rest > half) | ((rest == half) & ((kept & 1) != 0));
  const bool up = round == Round::kNearestEven ? nearest_up
                  : round == Round::kUp        ? (rest != 0) & !negative
                  : round == Round::kDown      ? (rest != 0) & negative
                                               : false;
  // The implicit bit of `kept` adds one to the exponent field.
  const uint64_t base = tiny ? 0 : static_cast<uint64_t>(exponent + kBias - 1) << kMan;
  uint64_t r = base + kept + (up ? 1 : 0);
  const bool away = round == Round::kNearestEven || (round == Round::kUp && !negative) ||
                    (round == Round::kDown && negative);
  r = (exponent > kBias) | (r >= kInf) ? (away & !saturate ? kInf : kInf - 1) : r;
  const uint64_t nan = kInf | uint64_t{1} << (kMan - 1) | fraction >> (52 - kMan);
  r = field == 0x7ff ? (fraction == 0 ? kInf : nan) : r;
  return r | static_cast<uint64_t>(negative) << (kExp + kMan);
}

// Floats of 16 bits and fewer, as the conversion instructions know them. kSpecial: what lies beyond the
// finite values.
enum class Special : uint8_t {
  kInfinities,  // IEEE 754: infinities and NaNs in the top exponent
  kOneNan,      // OCP e4m3: all ones is NaN, nothing is infinite
  kUnsigned0,   // FNUZ: the code of -0 is NaN, nothing is infinite
  kNone,        // OCP 6- and 4-bit formats: every code is a number
};
template <int kE, int kM, int kB, Special kS>
struct SmallFloat {
  static constexpr int kExp = kE, kMan = kM, kBias = kB;
  static constexpr Special kSpecial = kS;
  static constexpr uint32_t kSign = 1u << (kE + kM);
  static constexpr uint32_t kTop = kSign - 1;
  static constexpr uint32_t kInf = ((1u << kE) - 1) << kM;  // kInfinities only
  static constexpr uint32_t kMax = kS == Special::kInfinities ? kInf - 1
                                   : kS == Special::kOneNan   ? kTop - 1
                                                              : kTop;
};
using Fp8 = SmallFloat<4, 3, 7, Special::kOneNan>;
using Bf8 = SmallFloat<5, 2, 15, Special::kInfinities>;
using Fp8Fnuz = SmallFloat<4, 3, 8, Special::kUnsigned0>;
using Bf8Fnuz = SmallFloat<5, 2, 16, Special::kUnsigned0>;
using Fp6 = SmallFloat<2, 3, 1, Special::kNone>;
using Bf6 = SmallFloat<3, 2, 3, Special::kNone>;
using Fp4 = SmallFloat<2, 1, 1, Special::kNone>;
using Binary16 = SmallFloat<5, 10, 15, Special::kInfinities>;
using BFloat16 = SmallFloat<8, 7, 127, Special::kInfinities>;

// The value of a code of 8 bits or fewer; NaNs are quiet.
template <class Format>
US_BITS float WidenSmall(uint32_t code) {
  const uint32_t magnitude = code & Format::kTop;
  const uint32_t sign = (code & Format::kSign) << (31 - Format::kExp - Format::kMan);
  const uint32_t value =
      BitsOf(FloatOf(magnitude << (23 - Format::kMan)) * FloatOf((254u - Format::kBias) << 23)) | sign;
  if constexpr (Format::kSpecial == Special::kInfinities) {
    const uint32_t payload = (magnitude & ((1u << Format::kMan) - 1)) << (23 - Format::kMan);
    const uint32_t special = sign | 0x7f800000u | (payload != 0 ? payload | 0x400000u : 0u);
    return FloatOf(magnitude >= Format::kInf ? special : value);
  } else if constexpr (Format::kSpecial == Special::kOneNan) {
    return FloatOf(magnitude == Format::kTop ? sign | 0x7fc00000u : value);
  } else if constexpr (Format::kSpecial == Special::kUnsigned0) {
    return FloatOf((code & (Format::kTop | Format::kSign)) == Format::kSign ? 0x7fc00000u : value);
  }
  return FloatOf(value);
}

// The code for `v`, a value of f32 times a power of two (0 or at least 2^-1000 in magnitude). kRandom:
// `random`, a number of 23 - kMan bits, is added beneath the last place, and what then lies there is cut off;
// else to nearest even. A finite value too large gives the largest one where `saturate` (or there is nothing
// larger), else infinity, or NaN where the format has no infinity.
template <class Format, bool kRandom>
US_BITS uint32_t NarrowSmall(double v, uint32_t random, bool saturate) {
  constexpr int kMan = Format::kMan, kBias = Format::kBias;
  const uint64_t bits = BitsOf(v);
  const int32_t field = static_cast<int32_t>(bits >> 52) & 0x7ff;
  const int32_t exponent = field - 1023;
  const uint64_t fraction = bits & 0xfffffffffffffu;
  const bool tiny = exponent < 1 - kBias;
  const int32_t extra = tiny ? 1 - kBias - exponent : 0;
  // Beyond this neither rounding to nearest nor the least random bit sees anything of the value.
  constexpr int32_t kMost = 25;
  const int32_t lowered = extra > kMost ? kMost : extra;
  const int32_t shift = 23 - kMan + lowered;
  // An f32 has 24 bits, whatever power of two it was multiplied by.
  const uint64_t significand = (field == 0) | (extra > kMost) ? 0 : fraction >> 29 | uint64_t{1} << 23;
  uint64_t kept;
  if constexpr (kRandom) {
    kept = (significand + (uint64_t{random} << lowered)) >> shift;
    kept = field == 0 ? 0 : kept;
  } else {
    const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
    const uint64_t half = uint64_t{1} << (shift - 1);
    kept = significand >> shift;
    kept += (rest > half) | ((rest == half) & ((kept & 1) != 0)) ? 1 : 0;
  }
  // The implicit bit of `kept` adds one to the exponent field. Exponents beyond the format end above kMax.
  const int32_t base = tiny ? 0 : (exponent + kBias - 1 > 1100 ? 1100 : exponent + kBias - 1);
  const uint32_t rounded = (static_cast<uint32_t>(base) << kMan) + static_cast<uint32_t>(kept);
  const uint32_t sign = bits >> 63 != 0 ? Format::kSign : 0;
  const bool overflow = rounded > Format::kMax, special = field == 0x7ff, nan = special & (fraction != 0);
  if constexpr (Format::kSpecial == Special::kInfinities) {
    const uint32_t quiet = Format::kInf | 1u << (kMan - 1) | static_cast<uint32_t>(fraction >> (52 - kMan));
    const uint32_t finite = overflow ? (saturate ? Format::kMax : Format::kInf) : rounded;
    return sign | (nan ? quiet : special ? Format::kInf : finite);
  } else if constexpr (Format::kSpecial == Special::kOneNan) {
    const uint32_t finite = overflow ? (saturate ? Format::kMax : Format::kTop) : rounded;
    return sign | (special ? Format::kTop : finite);
  } else if constexpr (Format::kSpecial == Special::kUnsigned0) {
    const uint32_t finite = overflow ? Format::kMax : rounded;
    const uint32_t signed_code = finite == 0 ? 0 : sign | finite;
    return special | (overflow & !saturate) ? Format::kSign : signed_code;
  }
  return sign | (special | overflow ? Format::kMax : rounded);
}

// a + b rounded to odd, so that rounding the result again to 50 bits or fewer is one rounding of the exact
// sum. `round` only decides the sign of an exact zero. Finite sums of a and b must not overflow.
US_BITS double AddToOdd(double a, double b, Round round) {
  const double s = a + b;
  const double bb = s - a;
  const double error = (a - (s - bb)) + (b - bb);
  const bool inexact = (error > 0.0) | (error < 0.0);
  const bool even = (BitsOf(s) & 1) == 0;
  const bool outward = (BitsOf(s) ^ BitsOf(error)) >> 63 == 0;
  const uint64_t odd = BitsOf(s) + (outward ? uint64_t{1} : ~uint64_t{0});
  const double r = DoubleOf(inexact & even ? odd : BitsOf(s));
  const bool cancelled = (s == 0.0) & ((BitsOf(a) ^ BitsOf(b)) >> 63 != 0) & (round == Round::kDown);
  return cancelled ? -0.0 : r;
}

// a * b + c - sum, where sum is a * b + c rounded and no step overflows or loses bits to denormals. Its sign
// and whether it is zero are exact.
US_BITS double FmaError(double a, double b, double c, double sum) {
  const double p = a * b;
  const double p_error = __builtin_fma(a, b, -p);
  const double s = p + c;
  const double bb = s - p;
  const double s_error = (p - (s - bb)) + (c - bb);
  return (s - sum) + (s_error + p_error);
}

// (sum + error) * 2^n rounded once to nearest even, where `error` is what a rounding left out of `sum`. A
// denormal result rounds a second time: where that falls on a tie, the error decides.
US_BITS double ScaleOnce(double sum, double error, int32_t n) {
  const double r = sum * PowerOfTwo(n);
  const double rest = sum - r * PowerOfTwo(-n);
  const double half = PowerOfTwo(n < -50 ? -1075 - n : -1022);
  const double unit = DoubleOf(1);
  const bool denormal = (BitsOf(r) & kInf64) == 0;
  const double fix = (rest == half) & (error > 0.0) ? unit : (rest == -half) & (error < 0.0) ? -unit : 0.0;
  return denormal & (fix != 0.0) ? r + fix : r;
}

// AddToOdd in f32, for nearest-even only.
US_BITS float AddToOdd(float a, float b) {
  const float s = a + b;
  const float bb = s - a;
  const float error = (a - (s - bb)) + (b - bb);
  const bool inexact = (error > 0.0f) | (error < 0.0f);
  const bool even = (BitsOf(s) & 1) == 0;
  const bool outward = (BitsOf(s) ^ BitsOf(error)) >> 31 == 0;
  const uint32_t odd = BitsOf(s) + (outward ? 1u : ~0u);
  return FloatOf(inexact & even ? odd : BitsOf(s));
}

// `v` as f32 rounded to odd: rounding it again to 22 bits or fewer is one rounding. Beyond f32's range:
// infinity.
US_BITS float NarrowToOdd(double v) {
  const float f = static_cast<float>(v);
  const double back = static_cast<double>(f);
  const bool inexact = (back < v) | (back > v);
  const bool finite = (BitsOf(f) & 0x7f800000u) != 0x7f800000u;
  const bool even = (BitsOf(f) & 1) == 0;
  const bool outward = (back < v) == (v > 0.0);
  const uint32_t odd = BitsOf(f) + (outward ? 1u : ~0u);
  const uint32_t sign = static_cast<uint32_t>(BitsOf(v) >> 32) & 0x80000000u;
  // A value that vanished keeps its sign and becomes the least denormal.
  const uint32_t r = (BitsOf(f) & 0x7fffffffu) == 0 ? sign | 1u : odd;
  return FloatOf(inexact & finite & even ? r : BitsOf(f));
}

}  // namespace US_SEMANTICS_ARCH
}  // namespace understudy::emu::amd
