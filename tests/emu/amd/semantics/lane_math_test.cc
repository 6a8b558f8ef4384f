// SPDX-License-Identifier: Apache-2.0
// LaneMath against the exact soft float of src/base, in every rounding and denormal mode, at every precision.
#include "emu/amd/semantics/lane_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <vector>

#include "src/base/float_format.h"
#include "src/base/soft_float.h"
#include "tests/emu/amd/semantics/machine.h"

namespace understudy::emu::amd {
namespace {

using testing::Draws;

constexpr Round kRounds[] = {Round::kNearestEven, Round::kUp, Round::kDown, Round::kToZero};

Rounding BaseRounding(Round round) {
  constexpr Rounding kMap[] = {Rounding::kNearestEven, Rounding::kUp, Rounding::kDown, Rounding::kToZero};
  return kMap[static_cast<int>(round)];
}

// One way to set MODE, and the same for soft float.
struct Setting {
  FpMode mode;
  SoftContext soft;
};
std::vector<Setting> AllSettings() {
  std::vector<Setting> all;
  for (Round round : kRounds) {
    for (int denorm = 0; denorm < 4; ++denorm) {
      Setting s;
      s.mode.round32 = s.mode.round16_64 = round;
      s.mode.flush_in32 = s.mode.flush_in16_64 = (denorm & 1) != 0;
      s.mode.flush_out32 = s.mode.flush_out16_64 = (denorm & 2) != 0;
      s.soft.rounding = BaseRounding(round);
      s.soft.denorm = static_cast<DenormMode>(denorm);
      all.push_back(s);
    }
  }
  return all;
}

// The manual's default NaN is negative, soft float's positive: generated NaNs are brought to the manual's.
uint64_t Expected(const FloatFormat& f, uint64_t soft, bool nan_operand) {
  return f.IsNan(soft) && !nan_operand ? soft | f.sign_mask() : soft;
}

template <class F>
struct Precision;
template <>
struct Precision<Half> {
  static constexpr const FloatFormat& kFormat = formats::kF16;
  static Half Draw(Draws* d) { return Half{static_cast<uint16_t>(d->Word())}; }
  static uint64_t Bits(Half v) { return v.bits; }
};
template <>
struct Precision<float> {
  static constexpr const FloatFormat& kFormat = formats::kF32;
  static float Draw(Draws* d) { return FloatOf(d->Word()); }
  static uint64_t Bits(float v) { return BitsOf(v); }
};
template <>
struct Precision<double> {
  static constexpr const FloatFormat& kFormat = formats::kF64;
  static double Draw(Draws* d) { return DoubleOf(d->Long()); }
  static uint64_t Bits(double v) { return BitsOf(v); }
};

template <class F, bool kHostLike>
void CompareArithmetic(const Setting& s, int rounds) {
  using P = Precision<F>;
  const FloatFormat& f = P::kFormat;
  const LaneMath<kHostLike> math(s.mode);
  Draws draws(static_cast<uint64_t>(s.soft.rounding) * 4 + static_cast<uint64_t>(s.soft.denorm) + 1);
  for (int i = 0; i < rounds; ++i) {
    const F a = P::Draw(&draws), b = P::Draw(&draws);
    // Half of the addends are near the product, so that the sum cancels.
    F c = P::Draw(&draws);
    if (draws.Below(2) != 0) c = math.FNeg(math.FMul(a, b));
    const uint64_t ab = P::Bits(a), bb = P::Bits(b), cb = P::Bits(c);
    const bool nan2 = f.IsNan(ab) || f.IsNan(bb), nan3 = nan2 || f.IsNan(cb);
    const auto where = [&] {
      std::ostringstream text;
      text << f.name << " rounding " << static_cast<int>(s.soft.rounding) << " denorm "
           << static_cast<int>(s.soft.denorm) << std::hex << " a=" << ab << " b=" << bb << " c=" << cb;
      return text.str();
    };
    ASSERT_EQ(P::Bits(math.FAdd(a, b)), Expected(f, SoftAdd(f, ab, bb, s.soft), nan2)) << "add " << where();
    ASSERT_EQ(P::Bits(math.FMul(a, b)), Expected(f, SoftMul(f, ab, bb, s.soft), nan2)) << "mul " << where();
    ASSERT_EQ(P::Bits(math.FFma(a, b, c)), Expected(f, SoftFma(f, ab, bb, cb, s.soft), nan3))
        << "fma " << where();
  }
}

TEST(LaneMath, ArithmeticIsRoundedOnceInEveryMode) {
  for (const Setting& s : AllSettings()) {
    CompareArithmetic<Half, false>(s, 4000);
    CompareArithmetic<float, false>(s, 4000);
    CompareArithmetic<double, false>(s, 4000);
    if (!s.mode.IsHostLike()) continue;
    CompareArithmetic<Half, true>(s, 20000);
    CompareArithmetic<float, true>(s, 20000);
    CompareArithmetic<double, true>(s, 20000);
  }
}

TEST(LaneMath, EveryHalfAddsAndFusesAsSoftFloatDoes) {
  const LaneMath<true> math{FpMode()};
  Draws draws(7);
  for (uint32_t a = 0; a < 0x10000; ++a) {
    const Half x{static_cast<uint16_t>(a)}, y{static_cast<uint16_t>(draws.Word())},
        z{static_cast<uint16_t>(draws.Bits())};
    const FloatFormat& f = formats::kF16;
    const bool nan2 = f.IsNan(x.bits) || f.IsNan(y.bits);
    ASSERT_EQ(math.FAdd(x, y).bits, Expected(f, SoftAdd(f, x.bits, y.bits), nan2)) << a << " " << y.bits;
    ASSERT_EQ(math.FFma(x, y, z).bits,
              Expected(f, SoftFma(f, x.bits, y.bits, z.bits), nan2 || f.IsNan(z.bits)))
        << a << " " << y.bits << " " << z.bits;
  }
}

TEST(LaneMath, ConversionsBetweenFormatsMatchSoftFloat) {
  for (const Setting& s : AllSettings()) {
    const LaneMath<false> directed(s.mode);
    const LaneMath<true> host(s.mode);
    Draws draws(11);
    // Output flushing is that of the narrower format's field; f32 and f16/f64 share it here.
    for (int i = 0; i < 4000; ++i) {
      const uint32_t w = draws.Word();
      const uint64_t l = draws.Long();
      ASSERT_EQ(directed.F16FromF32(FloatOf(w)).bits, SoftConvert(formats::kF32, formats::kF16, w, s.soft))
          << w;
      ASSERT_EQ(BitsOf(directed.F32FromF64(DoubleOf(l))),
                SoftConvert(formats::kF64, formats::kF32, l, s.soft))
          << l;
      ASSERT_EQ(BitsOf(directed.F32FromU32(w)), SoftFromUint(formats::kF32, w, s.soft)) << w;
      ASSERT_EQ(BitsOf(directed.F32FromS32(w)), SoftFromInt(formats::kF32, static_cast<int32_t>(w), s.soft))
          << w;
      ASSERT_EQ(directed.F16FromU16(static_cast<uint16_t>(w)).bits,
                SoftFromUint(formats::kF16, w & 0xffff, s.soft))
          << w;
      if (!s.mode.IsHostLike()) continue;
      ASSERT_EQ(host.F16FromF32(FloatOf(w)).bits, SoftConvert(formats::kF32, formats::kF16, w, s.soft)) << w;
      ASSERT_EQ(BitsOf(host.F32FromF64(DoubleOf(l))), SoftConvert(formats::kF64, formats::kF32, l, s.soft))
          << l;
      ASSERT_EQ(BitsOf(host.F32FromU32(w)), SoftFromUint(formats::kF32, w, s.soft)) << w;
    }
  }
}

TEST(LaneMath, FloatToIntegerTruncatesAndSaturates) {
  SoftContext truncate;
  truncate.rounding = Rounding::kToZero;
  using M = LaneMath<true>;
  Draws draws(13);
  for (int i = 0; i < 100000; ++i) {
    const uint32_t w = draws.Word();
    const uint64_t l = draws.Long();
    ASSERT_EQ(M::S32FromF32(FloatOf(w)), static_cast<uint32_t>(SoftToInt(formats::kF32, w, 32, truncate)))
        << w;
    ASSERT_EQ(M::U32FromF32(FloatOf(w)), static_cast<uint32_t>(SoftToUint(formats::kF32, w, 32, truncate)))
        << w;
    ASSERT_EQ(M::S32FromF64(DoubleOf(l)), static_cast<uint32_t>(SoftToInt(formats::kF64, l, 32, truncate)))
        << l;
    ASSERT_EQ(M::U32FromF64(DoubleOf(l)), static_cast<uint32_t>(SoftToUint(formats::kF64, l, 32, truncate)))
        << l;
  }
}

TEST(LaneMath, IntegralPartsMatchSoftFloat) {
  const LaneMath<true> math{FpMode()};
  Draws draws(17);
  const auto soft = [](const FloatFormat& f, uint64_t bits, Rounding r) {
    SoftContext ctx;
    ctx.rounding = r;
    return SoftRoundToIntegral(f, bits, ctx);
  };
  for (int i = 0; i < 30000; ++i) {
    const uint32_t w = draws.Word();
    const uint64_t l = draws.Long();
    ASSERT_EQ(BitsOf(math.FTrunc(FloatOf(w))), soft(formats::kF32, w, Rounding::kToZero)) << w;
    ASSERT_EQ(BitsOf(math.FCeil(FloatOf(w))), soft(formats::kF32, w, Rounding::kUp)) << w;
    ASSERT_EQ(BitsOf(math.FFloor(FloatOf(w))), soft(formats::kF32, w, Rounding::kDown)) << w;
    ASSERT_EQ(BitsOf(math.FRndne(FloatOf(w))), soft(formats::kF32, w, Rounding::kNearestEven)) << w;
    ASSERT_EQ(BitsOf(math.FFloor(DoubleOf(l))), soft(formats::kF64, l, Rounding::kDown)) << l;
    ASSERT_EQ(BitsOf(math.FRndne(DoubleOf(l))), soft(formats::kF64, l, Rounding::kNearestEven)) << l;
    const uint16_t h = static_cast<uint16_t>(w);
    ASSERT_EQ(math.FCeil(Half{h}).bits, soft(formats::kF16, h, Rounding::kUp)) << h;
    ASSERT_EQ(math.FTrunc(Half{h}).bits, soft(formats::kF16, h, Rounding::kToZero)) << h;
  }
}

TEST(LaneMath, LdexpRoundsOnceAtBothEnds) {
  const LaneMath<true> math{FpMode()};
  Draws draws(19);
  for (int i = 0; i < 50000; ++i) {
    const int n = static_cast<int>(draws.Below(4600)) - 2300;
    const double x = DoubleOf(draws.Long());
    if (std::isnan(x)) continue;
    // C's ldexp is correctly rounded.
    ASSERT_EQ(BitsOf(math.FLdexp(x, static_cast<uint32_t>(n))), BitsOf(std::ldexp(x, n))) << x << " " << n;
    const float y = FloatOf(draws.Word());
    if (std::isnan(y)) continue;
    ASSERT_EQ(BitsOf(math.FLdexp(y, static_cast<uint32_t>(n / 6))), BitsOf(std::ldexp(y, n / 6)))
        << y << " " << n / 6;
  }
  EXPECT_EQ(BitsOf(math.FLdexp(1.0, static_cast<uint32_t>(-1074))), 1u);
  EXPECT_EQ(BitsOf(math.FLdexp(1.5, 0x7fffffffu)), 0x7ff0000000000000u);
  EXPECT_EQ(BitsOf(math.FLdexp(1.5, 0x80000000u)), 0u);
}

TEST(LaneMath, FrexpIsCsFrexp) {
  const LaneMath<true> math{FpMode()};
  Draws draws(23);
  for (int i = 0; i < 50000; ++i) {
    const double x = DoubleOf(draws.Long());
    const float y = FloatOf(draws.Word());
    int e = 0;
    if (std::isfinite(x)) {
      EXPECT_EQ(BitsOf(math.FrexpMant(x)), BitsOf(std::frexp(x, &e))) << x;
      EXPECT_EQ(static_cast<int32_t>(math.FrexpExp(x)), e) << x;
    }
    if (std::isfinite(y)) {
      EXPECT_EQ(BitsOf(math.FrexpMant(y)), BitsOf(std::frexp(y, &e))) << y;
      EXPECT_EQ(static_cast<int32_t>(math.FrexpExp(y)), e) << y;
    }
  }
  EXPECT_EQ(math.FrexpExp(0.0f), 0u);
  EXPECT_EQ(math.FrexpExp(INFINITY), 0u);
  EXPECT_EQ(math.FrexpExp(Half{0x0001}), static_cast<uint32_t>(-23));
}

// The manual's functional examples of the approximate functions.
TEST(LaneMath, SpecialFunctionsKeepTheManualsExamples) {
  const LaneMath<true> math{FpMode()};
  const auto f = [](uint32_t bits) { return FloatOf(bits); };
  EXPECT_EQ(BitsOf(math.FLog2(f(0xff800000))), 0xffc00000u);
  EXPECT_EQ(BitsOf(math.FLog2(f(0xbf800000))), 0xffc00000u);
  EXPECT_EQ(BitsOf(math.FLog2(f(0x80000000))), 0xff800000u);
  EXPECT_EQ(BitsOf(math.FLog2(f(0x3f800000))), 0u);
  EXPECT_EQ(BitsOf(math.FExp2(f(0xff800000))), 0u);
  EXPECT_EQ(BitsOf(math.FExp2(f(0x80000000))), 0x3f800000u);
  EXPECT_EQ(BitsOf(math.FRcp(f(0xff800000))), 0x80000000u);
  EXPECT_EQ(BitsOf(math.FRcp(f(0xc0000000))), 0xbf000000u);
  EXPECT_EQ(BitsOf(math.FRcp(f(0x80000000))), 0xff800000u);
  EXPECT_EQ(BitsOf(math.FRcp(f(0x00000001))), 0x7f800000u) << "denormals are flushed";
  EXPECT_EQ(BitsOf(math.FRsq(f(0xff800000))), 0xffc00000u);
  EXPECT_EQ(BitsOf(math.FRsq(f(0x80000000))), 0xff800000u);
  EXPECT_EQ(BitsOf(math.FSqrt(f(0x80000000))), 0x80000000u);
  EXPECT_EQ(BitsOf(math.FSqrt(f(0xff800000))), 0xffc00000u);
  EXPECT_EQ(BitsOf(math.FSinTurns(f(0xff7fffff))), 0u);
  EXPECT_EQ(BitsOf(math.FSinTurns(f(0x80000000))), 0x80000000u);
  EXPECT_EQ(BitsOf(math.FSinTurns(f(0x3e800000))), 0x3f800000u);
  EXPECT_EQ(BitsOf(math.FSinTurns(f(0x7f800000))), 0xffc00000u);
  EXPECT_EQ(BitsOf(math.FCosTurns(f(0x80000000))), 0x3f800000u);
  EXPECT_EQ(BitsOf(math.FCosTurns(f(0x3e800000))), 0u);
  EXPECT_EQ(BitsOf(math.FCosTurns(f(0xff7fffff))), 0x3f800000u);
  EXPECT_EQ(math.FSinTurns(Half{0x3400}).bits, 0x3c00u);
  EXPECT_EQ(math.FCosTurns(Half{0x3400}).bits, 0u);
  EXPECT_EQ(math.FRsq(Half{0xfc00}).bits, 0xfe00u);
  EXPECT_EQ(math.FLog2(Half{0x3c00}).bits, 0u);
}

TEST(LaneMath, MinAndMaxOrderZerosAndTreatNanByIeeeMode) {
  FpMode ieee;
  ieee.ieee = true;
  const LaneMath<true> plain{FpMode()}, strict(ieee);
  const float snan = FloatOf(0x7f800001u), qnan = FloatOf(0x7fc00005u);
  EXPECT_EQ(BitsOf(plain.FMin(0.0f, -0.0f)), 0x80000000u);
  EXPECT_EQ(BitsOf(plain.FMin(-0.0f, 0.0f)), 0x80000000u);
  EXPECT_EQ(BitsOf(plain.FMax(-0.0f, 0.0f)), 0u);
  EXPECT_EQ(plain.FMin(qnan, 1.0f), 1.0f);
  EXPECT_EQ(plain.FMin(1.0f, snan), 1.0f) << "without IEEE a signalling NaN is a missing operand";
  EXPECT_EQ(BitsOf(strict.FMin(1.0f, snan)), 0x7fc00001u);
  EXPECT_EQ(BitsOf(strict.FMax(snan, qnan)), 0x7fc00001u);
  EXPECT_EQ(strict.FMax(qnan, 1.0f), 1.0f);
  EXPECT_EQ(strict.FMin(Half{0x8000}, Half{0}).bits, 0x8000u);
  EXPECT_EQ(strict.FMax(Half{0x7c01}, Half{0}).bits, 0x7e01u);
}

TEST(LaneMath, MixedFmaRoundsOnce) {
  const LaneMath<true> math{FpMode()};
  Draws draws(29);
  for (int i = 0; i < 50000; ++i) {
    const uint32_t a = draws.Word(), b = draws.Word(), c = draws.Word();
    // The exact fma through f64 soft arithmetic in round-to-odd is what soft float's own f64 fma cannot give,
    // so take operands with short significands: then the f64 fma is exact.
    const float x = FloatOf(a & 0xfffff000u), y = FloatOf(b & 0xfffff000u), z = FloatOf(c & 0xff000000u);
    const double exact = std::fma(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z));
    const double product = static_cast<double>(x) * y;
    if (!std::isfinite(exact) || exact - product != z || exact - z != product) continue;
    ASSERT_EQ(math.FFmaTo16(x, y, z).bits, EncodeFloat(formats::kF16, exact)) << x << " " << y << " " << z;
  }
  // fma to f32, then to f16, would round up twice here: 1 + 2^-11 + 2^-34 is above the tie, 1 + 2^-11 is the
  // tie.
  EXPECT_EQ(math.FFmaTo16(FloatOf(0x37000000u), FloatOf(0x37000000u), 1.00048828125f).bits, 0x3c01u);
}

TEST(LaneMath, Fp16OverflowModeStopsAtTheLargestHalf) {
  FpMode mode;
  mode.fp16_ovfl = true;
  ASSERT_FALSE(mode.IsHostLike());
  const LaneMath<false> math(mode);
  EXPECT_EQ(math.FMul(Half{0x7bff}, Half{0x4000}).bits, 0x7bffu);
  EXPECT_EQ(math.FMul(Half{0xfbff}, Half{0x4000}).bits, 0xfbffu);
  EXPECT_EQ(math.FMul(Half{0x7c00}, Half{0x4000}).bits, 0x7c00u) << "a true infinity stays";
}

}  // namespace
}  // namespace understudy::emu::amd
