// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bits of the float formats that PTX computes with, and the steps between them: decoding, rounding into 16
// bits, round-to-odd sums. Used by the float kernels, which are compiled once for each host instruction set;
// branch-free, so that loops over a warp vectorise. Nothing here reads or changes the host's rounding mode.

#include <cstdint>

#ifndef US_SEMANTICS_ARCH
#define US_SEMANTICS_ARCH baseline
#endif

namespace understudy::emu::ptx {

enum class Clamp : uint8_t { kNone, kSaturate, kRelu };

inline namespace US_SEMANTICS_ARCH {

#define US_LANE [[gnu::always_inline]] inline

US_LANE uint32_t BitsOf(float v) { return __builtin_bit_cast(uint32_t, v); }
US_LANE uint64_t BitsOf(double v) { return __builtin_bit_cast(uint64_t, v); }
US_LANE float FloatOf(uint32_t v) { return __builtin_bit_cast(float, v); }
US_LANE double DoubleOf(uint64_t v) { return __builtin_bit_cast(double, v); }

US_LANE float FloatFromHalf(uint32_t h) {
  const uint32_t magnitude = (h & 0x7fffu) << 13;
  const uint32_t exponent = magnitude & 0x0f800000u;
  const uint32_t normal = magnitude + (112u << 23);
  // A denormal's bits are those of 2^-14 + value, less 2^-14.
  const uint32_t denormal = BitsOf(FloatOf(normal + (1u << 23)) - FloatOf(113u << 23));
  const uint32_t r = exponent == 0x0f800000u ? normal + (112u << 23) : exponent == 0 ? denormal : normal;
  // The difference of a zero is -0 when the host rounds down.
  return FloatOf((r & 0x7fffffffu) | (h & 0x8000u) << 16);
}

// To nearest even; the host must be in that mode. NaNs become 0x7fff.
US_LANE uint32_t HalfFromFloat(float f) {
  const uint32_t sign = BitsOf(f) & 0x80000000u, a = BitsOf(f) ^ sign;
  const uint32_t special = a > 0x7f800000u ? 0x7fffu : 0x7c00u;
  // Added to 2^-1 a magnitude below 2^-14 has its units of 2^-24 in the last places.
  constexpr uint32_t kMagic = 126u << 23;
  const uint32_t denormal = BitsOf(FloatOf(a) + FloatOf(kMagic)) - kMagic;
  const uint32_t normal = (a + 0xfffu + ((a >> 13) & 1u) - (112u << 23)) >> 13;
  const uint32_t r = a >= 0x47800000u ? special : a < 0x38800000u ? denormal : normal;
  return a > 0x7f800000u ? r : r | sign >> 16;
}

US_LANE uint32_t BrainFromFloat(float f) {
  const uint32_t a = BitsOf(f);
  const uint32_t r = (a + 0x7fffu + ((a >> 16) & 1u)) >> 16;
  return (a & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : r;
}

// a + b rounded to odd, so that rounding the result again to 22 bits or fewer is one rounding. Sums of finite
// values must not overflow; the host must be in nearest-even.
template <class T>
US_LANE T AddToOdd(T a, T b) {
  using Bits = decltype(BitsOf(a));
  const T s = a + b;
  const T bb = s - a;
  const T error = (a - (s - bb)) + (b - bb);
  const bool inexact = (error > T{0}) | (error < T{0});
  const bool even = (BitsOf(s) & 1) == 0;
  const bool outward = (BitsOf(s) ^ BitsOf(error)) >> (8 * sizeof(T) - 1) == 0;
  const Bits odd = BitsOf(s) + (outward ? Bits{1} : ~Bits{0});
  return __builtin_bit_cast(T, inexact & even ? odd : BitsOf(s));
}

// `v` as f32 rounded to odd; infinity beyond f32's range.
US_LANE float NarrowToOdd(double v) {
  const float f = static_cast<float>(v);
  const double back = static_cast<double>(f);
  const bool inexact = (back < v) | (back > v);
  const bool finite = (BitsOf(f) & 0x7f800000u) != 0x7f800000u;
  const bool even = (BitsOf(f) & 1) == 0;
  const bool outward = (back < v) == (v > 0.0);
  const uint32_t sign = static_cast<uint32_t>(BitsOf(v) >> 32) & 0x80000000u;
  // A value that vanished becomes the least denormal.
  const uint32_t odd = (BitsOf(f) & 0x7fffffffu) == 0 ? sign | 1u : BitsOf(f) + (outward ? 1u : ~0u);
  return FloatOf(inexact & finite & even ? odd : BitsOf(f));
}

// What a format is, as bits. kNan: what arithmetic answers for NaN.
struct Single {
  using Bits = uint32_t;
  static constexpr Bits kSign = 0x80000000u, kInf = 0x7f800000u, kNan = 0x7fffffffu, kMinNormal = 0x00800000u,
                        kOne = 0x3f800000u;
  static constexpr bool kPropagatesNan = false;
  using Value = float;
  US_LANE static float Decode(uint32_t b) { return FloatOf(b); }
  US_LANE static float Add(float a, float b) { return a + b; }
  US_LANE static float Sub(float a, float b) { return a - b; }
  US_LANE static float Mul(float a, float b) { return a * b; }
  US_LANE static float Fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  US_LANE static float Div(float a, float b) { return a / b; }
  US_LANE static float Sqrt(float a) { return __builtin_sqrtf(a); }
  template <bool kFtz>
  US_LANE static uint32_t Encode(float v) {
    const uint32_t b = BitsOf(v), magnitude = b & 0x7fffffffu;
    const uint32_t flushed = kFtz && magnitude < kMinNormal ? b & kSign : b;
    return magnitude > kInf ? kNan : flushed;
  }
};

// NaN operands come back quieted, invalid operations give the negative quiet NaN (the builder sees to the
// former).
struct Double {
  using Bits = uint64_t;
  static constexpr Bits kSign = uint64_t{1} << 63, kInf = uint64_t{0x7ff} << 52,
                        kNan = uint64_t{0xfff8} << 48, kQuiet = uint64_t{1} << 51,
                        kMinNormal = uint64_t{1} << 52, kOne = uint64_t{0x3ff} << 52;
  static constexpr bool kPropagatesNan = true;
  using Value = double;
  US_LANE static double Decode(uint64_t b) { return DoubleOf(b); }
  US_LANE static double Add(double a, double b) { return a + b; }
  US_LANE static double Sub(double a, double b) { return a - b; }
  US_LANE static double Mul(double a, double b) { return a * b; }
  US_LANE static double Fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
  US_LANE static double Div(double a, double b) { return a / b; }
  US_LANE static double Sqrt(double a) { return __builtin_sqrt(a); }
  template <bool kFtz>
  US_LANE static uint64_t Encode(double v) {
    return (BitsOf(v) & ~kSign) > kInf ? kNan : BitsOf(v);
  }
};

// 16-bit arithmetic is done in f32, exactly or with an error that the second rounding does not see: a sum or
// product of p bits survives an intermediate of 2p + 2 bits, a fused one is rounded to odd first.
struct Half {
  using Bits = uint32_t;
  static constexpr Bits kSign = 0x8000u, kInf = 0x7c00u, kNan = 0x7fffu, kMinNormal = 0x0400u, kOne = 0x3c00u;
  static constexpr bool kPropagatesNan = false;
  using Value = float;
  US_LANE static float Decode(uint32_t b) { return FloatFromHalf(b); }
  US_LANE static float Add(float a, float b) { return a + b; }
  US_LANE static float Sub(float a, float b) { return a - b; }
  US_LANE static float Mul(float a, float b) { return a * b; }
  US_LANE static float Fma(float a, float b, float c) { return AddToOdd(a * b, c); }
  template <bool kFtz>
  US_LANE static uint32_t Encode(float v) {
    // Tininess is detected before rounding.
    const uint32_t magnitude = BitsOf(v) & 0x7fffffffu;
    const uint32_t h = HalfFromFloat(v);
    return kFtz && magnitude < 0x38800000u ? h & kSign : h;
  }
};

struct Brain {
  using Bits = uint32_t;
  static constexpr Bits kSign = 0x8000u, kInf = 0x7f80u, kNan = 0x7fffu, kMinNormal = 0x0080u, kOne = 0x3f80u;
  static constexpr bool kPropagatesNan = false;
  using Value = float;
  US_LANE static float Decode(uint32_t b) { return FloatOf(b << 16); }
  US_LANE static float Add(float a, float b) { return a + b; }
  US_LANE static float Sub(float a, float b) { return a - b; }
  US_LANE static float Mul(float a, float b) { return a * b; }
  // A product of two 8-bit significands is exact in f64 at every exponent, but not in f32.
  US_LANE static float Fma(float a, float b, float c) {
    return NarrowToOdd(AddToOdd(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c)));
  }
  template <bool kFtz>
  US_LANE static uint32_t Encode(float v) {
    return BrainFromFloat(v);
  }
};

// Flushes a denormal to a zero of its sign.
template <class E>
US_LANE typename E::Bits Flush(typename E::Bits b) {
  return (b & ~E::kSign & (E::kSign - 1)) < E::kMinNormal ? b & E::kSign : b;
}
template <class E>
US_LANE bool IsNan(typename E::Bits b) {
  return (b & (E::kSign - 1)) > E::kInf;
}
// Bits of numbers in the order of their values, -0 below +0.
template <class E>
US_LANE typename E::Bits OrderKey(typename E::Bits b) {
  return (b & E::kSign) != 0 ? static_cast<typename E::Bits>(~b & (E::kSign | (E::kSign - 1))) : b | E::kSign;
}

// How elements lie in a register.
template <class E, int kCount, class W>
struct Layout {
  using Element = E;
  using Word = W;
  static constexpr int kParts = kCount;
  static constexpr int kPartBits = static_cast<int>(sizeof(W)) * 8 / kCount;
  static constexpr W kPartMask = kCount == 1 ? ~W{0} : (W{1} << (kPartBits % (8 * sizeof(W)))) - 1;
};
using F32 = Layout<Single, 1, uint32_t>;
using F64 = Layout<Double, 1, uint64_t>;
using F16 = Layout<Half, 1, uint32_t>;
using F16x2 = Layout<Half, 2, uint32_t>;
using BF16 = Layout<Brain, 1, uint32_t>;
using BF16x2 = Layout<Brain, 2, uint32_t>;
using F32x2 = Layout<Single, 2, uint64_t>;

}  // namespace US_SEMANTICS_ARCH
}  // namespace understudy::emu::ptx
