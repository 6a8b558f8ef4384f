// SPDX-License-Identifier: Apache-2.0
// Soft-float against the host's IEEE unit (all four rounding modes for f32 and f64, f16 through exact
// doubles) and every format's conversions exhaustively or against exact neighbours.
#include "src/base/soft_float.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <random>
#include <vector>

#include "src/base/float_format.h"
#include "src/base/half.h"
#include "src/base/ulp.h"

namespace understudy {
namespace {

constexpr Rounding kModes[] = {Rounding::kNearestEven, Rounding::kToZero, Rounding::kUp, Rounding::kDown};

int HostMode(Rounding r) {
  switch (r) {
    case Rounding::kNearestEven:
      return FE_TONEAREST;
    case Rounding::kToZero:
      return FE_TOWARDZERO;
    case Rounding::kUp:
      return FE_UPWARD;
    case Rounding::kDown:
      return FE_DOWNWARD;
  }
  return FE_TONEAREST;
}

class ScopedHostRounding {
 public:
  explicit ScopedHostRounding(Rounding r) { std::fesetround(HostMode(r)); }
  ~ScopedHostRounding() { std::fesetround(FE_TONEAREST); }
};

// Bit patterns that reach every class: specials, exponents near each other, and pure noise.
template <class U>
U DrawBits(std::mt19937_64& rng, int man_bits, int exp_bits) {
  const uint64_t sign = (rng() & 1) << (man_bits + exp_bits);
  const uint64_t man = rng() & ((uint64_t{1} << man_bits) - 1);
  const uint64_t max_exp = (uint64_t{1} << exp_bits) - 1;
  uint64_t exp, m = man;
  switch (rng() % 8) {
    case 0:
      exp = 0;
      break;
    case 1:
      exp = max_exp;
      m = rng() % 3 ? 0 : man;
      break;
    case 2:
      exp = rng() & max_exp;
      m = rng() % 2 ? 0 : (uint64_t{1} << man_bits) - 1;
      break;
    case 3:
      exp = 1 + rng() % 3;
      break;
    case 4:
      exp = max_exp - 1 - rng() % 3;
      break;
    default:
      exp = max_exp / 2 - 8 + rng() % 16;
  }
  return static_cast<U>(sign | exp << man_bits | m);
}

template <class F, class U>
void CheckAgainstHost(const FloatFormat& format, int count) {
  std::mt19937_64 rng(7);
  for (int i = 0; i < count; ++i) {
    const U a = DrawBits<U>(rng, format.man_bits, format.exp_bits),
            b = DrawBits<U>(rng, format.man_bits, format.exp_bits),
            c = DrawBits<U>(rng, format.man_bits, format.exp_bits);
    const volatile F x = std::bit_cast<F>(a), y = std::bit_cast<F>(b), z = std::bit_cast<F>(c);
    for (Rounding mode : kModes) {
      F host[6];
      {
        ScopedHostRounding scope(mode);
        volatile F r;
        r = x + y, host[0] = r;
        r = x - y, host[1] = r;
        r = x * y, host[2] = r;
        r = x / y, host[3] = r;
        r = std::sqrt(x), host[4] = r;
        r = std::fma(x, y, z), host[5] = r;
      }
      const SoftContext ctx{mode};
      const uint64_t soft[6] = {SoftAdd(format, a, b, ctx), SoftSub(format, a, b, ctx),
                                SoftMul(format, a, b, ctx), SoftDiv(format, a, b, ctx),
                                SoftSqrt(format, a, ctx),   SoftFma(format, a, b, c, ctx)};
      for (int k = 0; k < 6; ++k) {
        const bool same = std::isnan(host[k]) ? format.IsNan(soft[k]) : std::bit_cast<U>(host[k]) == soft[k];
        ASSERT_TRUE(same) << "op " << k << " mode " << static_cast<int>(mode) << std::hex << " a=" << +a
                          << " b=" << +b << " c=" << +c << " soft=" << soft[k]
                          << " host=" << +std::bit_cast<U>(host[k]);
      }
    }
  }
}

TEST(SoftFloat, F32EqualsHostInEveryRoundingMode) {
  CheckAgainstHost<float, uint32_t>(formats::kF32, 400000);
}
TEST(SoftFloat, F64EqualsHostInEveryRoundingMode) {
  CheckAgainstHost<double, uint64_t>(formats::kF64, 400000);
}

TEST(SoftFloat, ConversionF64ToF32EqualsHost) {
  std::mt19937_64 rng(11);
  for (int i = 0; i < 500000; ++i) {
    uint64_t a = DrawBits<uint64_t>(rng, 52, 11);
    if (i % 2)
      a = std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(DrawBits<uint32_t>(rng, 23, 8)))) ^
          (rng() & 3) << 28;
    for (Rounding mode : kModes) {
      volatile double d = std::bit_cast<double>(a);
      volatile float host;
      {
        ScopedHostRounding scope(mode);
        host = static_cast<float>(d);
      }
      const uint64_t soft = SoftConvert(formats::kF64, formats::kF32, a, {mode});
      ASSERT_EQ(soft, std::bit_cast<uint32_t>(static_cast<float>(host))) << std::hex << a;
    }
  }
}

TEST(SoftFloat, IntegerConversionsEqualHost) {
  std::mt19937_64 rng(13);
  for (int i = 0; i < 300000; ++i) {
    const int64_t v = static_cast<int64_t>(rng()) >> (rng() % 64);
    for (Rounding mode : kModes) {
      volatile int64_t s = v;
      volatile uint64_t u = static_cast<uint64_t>(v);
      volatile float f32, f32u;
      volatile double f64;
      {
        ScopedHostRounding scope(mode);
        f32 = static_cast<float>(s);
        f32u = static_cast<float>(u);
        f64 = static_cast<double>(s);
      }
      ASSERT_EQ(SoftFromInt(formats::kF32, v, {mode}), std::bit_cast<uint32_t>(static_cast<float>(f32))) << v;
      ASSERT_EQ(SoftFromUint(formats::kF32, static_cast<uint64_t>(v), {mode}),
                std::bit_cast<uint32_t>(static_cast<float>(f32u)))
          << v;
      ASSERT_EQ(SoftFromInt(formats::kF64, v, {mode}), std::bit_cast<uint64_t>(static_cast<double>(f64)))
          << v;
      const double d = std::bit_cast<double>(DrawBits<uint64_t>(rng, 52, 11));
      double integral;
      {
        ScopedHostRounding scope(mode);
        volatile double in = d;
        integral = std::nearbyint(in);
      }
      const uint64_t rounded = SoftRoundToIntegral(formats::kF64, std::bit_cast<uint64_t>(d), {mode});
      ASSERT_EQ(UlpDistance(std::bit_cast<double>(rounded), integral), 0u) << d;
      if (std::isfinite(d)) {
        ASSERT_EQ(std::signbit(std::bit_cast<double>(rounded)), std::signbit(integral)) << d;
      }
      const int64_t want = std::isnan(integral) ? 0
                           : integral >= 0x1p31 ? INT32_MAX
                           : integral < -0x1p31 ? INT32_MIN
                                                : static_cast<int64_t>(integral);
      ASSERT_EQ(SoftToInt(formats::kF64, std::bit_cast<uint64_t>(d), 32, {mode}), want) << d;
    }
  }
  EXPECT_EQ(SoftToInt(formats::kF64, std::bit_cast<uint64_t>(1e300), 64), INT64_MAX);
  EXPECT_EQ(SoftToInt(formats::kF64, std::bit_cast<uint64_t>(-1e300), 64), INT64_MIN);
  EXPECT_EQ(SoftToUint(formats::kF64, std::bit_cast<uint64_t>(-3.0), 32), 0u);
  EXPECT_EQ(SoftToUint(formats::kF32, std::bit_cast<uint32_t>(1e20f), 64), UINT64_MAX);
}

TEST(SoftFloat, DenormalModesFlushInputsAndResults) {
  const uint64_t denorm = 0x80400000, half = 0x3f000000;  // -0.5 * 2^-126
  EXPECT_EQ(SoftMul(formats::kF32, denorm, half), 0x80200000u);
  EXPECT_EQ(SoftMul(formats::kF32, denorm, half, {Rounding::kNearestEven, DenormMode::kFlushIn}),
            0x80000000u);
  EXPECT_EQ(SoftMul(formats::kF32, 0x00800000, half, {Rounding::kNearestEven, DenormMode::kFlushOut}), 0u);
  EXPECT_EQ(SoftMul(formats::kF32, 0x00800000, half, {Rounding::kNearestEven, DenormMode::kFlushIn}),
            0x00400000u);
  EXPECT_EQ(SoftAdd(formats::kF32, denorm, 0x3f800000, {Rounding::kDown, DenormMode::kFlushBoth}),
            0x3f800000u);
}

// Every pattern of every narrow format: decode, encode and compare; and every midpoint of neighbours, with
// one double ulp to each side, must round to the nearer neighbour (ties to the even pattern).
TEST(FloatFormat, NarrowFormatsRoundEveryMidpointRightly) {
  for (const char* name : {"f16", "bf16", "fp8_e4m3", "fp8_e5m2", "fp8_e4m3fnuz", "fp8_e5m2fnuz", "fp6_e2m3",
                           "fp6_e3m2", "fp4_e2m1"}) {
    const FloatFormat& f = *FindFloatFormat(name);
    for (uint64_t bits = 0; bits <= f.max_bits(); ++bits) {
      for (uint64_t sign : {uint64_t{0}, f.sign_mask()}) {
        if (sign && bits == 0 && !f.has_neg_zero) continue;
        const double v = DecodeFloat(f, bits | sign);
        ASSERT_EQ(EncodeFloat(f, v), bits | sign) << name;
        if (bits == f.max_bits()) continue;
        const double next = DecodeFloat(f, (bits + 1) | sign), mid = (v + next) / 2;
        const uint64_t even = (bits & 1 ? bits + 1 : bits) | sign;
        ASSERT_EQ(EncodeFloat(f, mid), even == f.sign_mask() && !f.has_neg_zero ? 0 : even)
            << name << " " << mid;
        const uint64_t low = bits == 0 && sign && !f.has_neg_zero ? 0 : bits | sign;
        ASSERT_EQ(EncodeFloat(f, std::nextafter(mid, v)), low) << name << " " << mid;
        ASSERT_EQ(EncodeFloat(f, std::nextafter(mid, next)), (bits + 1) | sign) << name << " " << mid;
        ASSERT_EQ(EncodeFloat(f, mid, Rounding::kToZero), low) << name << " " << mid;
        ASSERT_EQ(EncodeFloat(f, mid, sign ? Rounding::kDown : Rounding::kUp), (bits + 1) | sign)
            << name << " " << mid;
      }
    }
  }
}

TEST(FloatFormat, LimitsFollowTheSpecifications) {
  EXPECT_EQ(DecodeFloat(formats::kFp8E4M3, formats::kFp8E4M3.max_bits()), 448.0);
  EXPECT_EQ(DecodeFloat(formats::kFp8E5M2, formats::kFp8E5M2.max_bits()), 57344.0);
  EXPECT_EQ(DecodeFloat(formats::kFp8E4M3Fnuz, formats::kFp8E4M3Fnuz.max_bits()), 240.0);
  EXPECT_EQ(DecodeFloat(formats::kFp8E5M2Fnuz, formats::kFp8E5M2Fnuz.max_bits()), 57344.0);
  EXPECT_EQ(DecodeFloat(formats::kFp4E2M1, formats::kFp4E2M1.max_bits()), 6.0);
  EXPECT_EQ(DecodeFloat(formats::kFp6E2M3, formats::kFp6E2M3.max_bits()), 7.5);
  EXPECT_EQ(DecodeFloat(formats::kFp6E3M2, formats::kFp6E3M2.max_bits()), 28.0);
  EXPECT_EQ(EncodeFloat(formats::kFp8E4M3, 464.0), 0x7eu);
  EXPECT_EQ(EncodeFloat(formats::kFp8E4M3, 465.0), 0x7fu);  // no infinity: NaN
  EXPECT_EQ(EncodeFloat(formats::kFp8E4M3, 1e9, Rounding::kNearestEven, Overflow::kSaturate), 0x7eu);
  EXPECT_EQ(EncodeFloat(formats::kFp8E5M2, 1e9), 0x7cu);
  EXPECT_EQ(EncodeFloat(formats::kFp8E5M2, HUGE_VAL, Rounding::kNearestEven, Overflow::kSaturate), 0x7bu);
  EXPECT_EQ(EncodeFloat(formats::kFp8E4M3Fnuz, 1e9), 0x80u);
  EXPECT_EQ(EncodeFloat(formats::kFp8E4M3Fnuz, -0.0), 0u);
  EXPECT_EQ(EncodeFloat(formats::kFp8E4M3Fnuz, -1e-9), 0u);
  EXPECT_EQ(EncodeFloat(formats::kFp4E2M1, 1e9), 7u);
  // Published cases: the carry of rounding reaches the exponent.
  EXPECT_EQ(EncodeFloat(formats::kF16, 0.124992706), 0x3000u);
  EXPECT_EQ(EncodeFloat(formats::kF16, -0.031243186), 0xa800u);
  EXPECT_EQ(EncodeFloat(formats::kF16, -0.124975391), 0xb000u);
}

TEST(Half, FastConversionsEqualTheGeneralOnes) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const auto b = static_cast<uint16_t>(h);
    ASSERT_EQ(std::bit_cast<uint32_t>(HalfToFloat(b)), SoftConvert(formats::kF16, formats::kF32, h))
        << std::hex << h;
    ASSERT_EQ(std::bit_cast<uint32_t>(BFloat16ToFloat(b)), SoftConvert(formats::kBf16, formats::kF32, h))
        << std::hex << h;
  }
  for (uint64_t u = 0; u < uint64_t{1} << 32; u += 251) {
    const float f = std::bit_cast<float>(static_cast<uint32_t>(u));
    ASSERT_EQ(FloatToHalf(f), SoftConvert(formats::kF32, formats::kF16, u)) << std::hex << u;
    ASSERT_EQ(FloatToBFloat16(f), SoftConvert(formats::kF32, formats::kBf16, u)) << std::hex << u;
  }
}

}  // namespace
}  // namespace understudy
