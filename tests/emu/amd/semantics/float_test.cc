// SPDX-License-Identifier: Apache-2.0
// Floating-point instructions beyond add, multiply and fuse: comparisons and classes against the host's
// predicates, the approximate functions within their bounds of the host's f64 library, three-way and cube-map
// selections, normalised conversions, and the rounding override of CVT_PK_RTZ.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "emu/amd/semantics/float_bits.h"
#include "src/base/float_format.h"
#include "src/base/soft_float.h"
#include "src/base/ulp.h"
#include "tests/emu/amd/semantics/machine.h"

namespace understudy::emu::amd {
namespace {

using testing::Draws;
using testing::Machine;
using testing::Make;
using testing::S;
using testing::V;
using O = Opcode;
constexpr Encoding kVop1 = Encoding::VOP1, kVop3 = Encoding::VOP3, kVopc = Encoding::VOPC;

void Draw(Machine* m, Draws* draws, int first, int count) {
  for (int reg = first; reg < first + count; ++reg) {
    for (int lane = 0; lane < m->wave.wave_size; ++lane) m->Reg(reg, lane) = draws->Word();
  }
}
void Draw64(Machine* m, Draws* draws, int reg) {
  for (int lane = 0; lane < m->wave.wave_size; ++lane) {
    const uint64_t v = draws->Long();
    m->Reg(reg, lane) = static_cast<uint32_t>(v);
    m->Reg(reg + 1, lane) = static_cast<uint32_t>(v >> 32);
  }
}

using Predicate = bool (*)(double, double);
struct PredicateRow {
  O f16, f32, f64;
  Predicate holds;
};
const PredicateRow kPredicates[] = {
    {O::V_CMP_LT_F16, O::V_CMP_LT_F32, O::V_CMP_LT_F64, [](double a, double b) { return a < b; }},
    {O::V_CMP_EQ_F16, O::V_CMP_EQ_F32, O::V_CMP_EQ_F64, [](double a, double b) { return a == b; }},
    {O::V_CMP_LE_F16, O::V_CMP_LE_F32, O::V_CMP_LE_F64, [](double a, double b) { return a <= b; }},
    {O::V_CMP_GT_F16, O::V_CMP_GT_F32, O::V_CMP_GT_F64, [](double a, double b) { return a > b; }},
    {O::V_CMP_LG_F16, O::V_CMP_LG_F32, O::V_CMP_LG_F64, [](double a, double b) { return a < b || a > b; }},
    {O::V_CMP_GE_F16, O::V_CMP_GE_F32, O::V_CMP_GE_F64, [](double a, double b) { return a >= b; }},
    {O::V_CMP_O_F16, O::V_CMP_O_F32, O::V_CMP_O_F64,
     [](double a, double b) { return !std::isunordered(a, b); }},
    {O::V_CMP_U_F16, O::V_CMP_U_F32, O::V_CMP_U_F64,
     [](double a, double b) { return std::isunordered(a, b); }},
    {O::V_CMP_NGE_F16, O::V_CMP_NGE_F32, O::V_CMP_NGE_F64, [](double a, double b) { return !(a >= b); }},
    {O::V_CMP_NLG_F16, O::V_CMP_NLG_F32, O::V_CMP_NLG_F64,
     [](double a, double b) { return !(a < b || a > b); }},
    {O::V_CMP_NGT_F16, O::V_CMP_NGT_F32, O::V_CMP_NGT_F64, [](double a, double b) { return !(a > b); }},
    {O::V_CMP_NLE_F16, O::V_CMP_NLE_F32, O::V_CMP_NLE_F64, [](double a, double b) { return !(a <= b); }},
    {O::V_CMP_NEQ_F16, O::V_CMP_NEQ_F32, O::V_CMP_NEQ_F64, [](double a, double b) { return !(a == b); }},
    {O::V_CMP_NLT_F16, O::V_CMP_NLT_F32, O::V_CMP_NLT_F64, [](double a, double b) { return !(a < b); }},
    {O::V_CMP_F_F16, O::V_CMP_F_F32, O::V_CMP_F_F64, [](double, double) { return false; }},
    {O::V_CMP_T_F16, O::V_CMP_T_F32, O::V_CMP_T_F64, [](double, double) { return true; }},
};

TEST(FloatCompare, EveryPredicateAtEveryPrecision) {
  Machine m(64);
  Draws draws(1);
  for (const PredicateRow& row : kPredicates) {
    for (int round = 0; round < 10; ++round) {
      Draw(&m, &draws, 1, 2);
      Draw64(&m, &draws, 4);
      Draw64(&m, &draws, 6);
      for (int lane = 0; lane < 64; lane += 5) {
        m.Reg(2, lane) = m.Reg(1, lane);
        m.Reg(6, lane) = m.Reg(4, lane);
        m.Reg(7, lane) = m.Reg(5, lane);
      }
      ASSERT_EQ(m.Execute(Make(row.f16, kVopc, {S(10, 2)}, {V(1), V(2)})), "");
      ASSERT_EQ(m.Execute(Make(row.f32, kVopc, {S(12, 2)}, {V(1), V(2)})), "");
      ASSERT_EQ(m.Execute(Make(row.f64, kVopc, {S(14, 2)}, {V(4, 2), V(6, 2)})), "");
      for (int lane = 0; lane < 64; ++lane) {
        const uint32_t a = m.Reg(1, lane), b = m.Reg(2, lane);
        EXPECT_EQ((m.wave.Mask(10) >> lane) & 1,
                  row.holds(DecodeFloat(formats::kF16, a & 0xffff), DecodeFloat(formats::kF16, b & 0xffff)))
            << OpcodeName(row.f16) << std::hex << " " << a << " " << b;
        EXPECT_EQ((m.wave.Mask(12) >> lane) & 1, row.holds(FloatOf(a), FloatOf(b)))
            << OpcodeName(row.f32) << std::hex << a << " " << b;
        EXPECT_EQ((m.wave.Mask(14) >> lane) & 1,
                  row.holds(DoubleOf(m.Reg64(4, lane)), DoubleOf(m.Reg64(6, lane))))
            << OpcodeName(row.f64);
      }
    }
  }
}

int HostClass(bool nan, bool quiet, int kind, bool negative) {
  if (nan) return quiet ? 1 : 0;
  switch (kind) {
    case FP_INFINITE:
      return negative ? 2 : 9;
    case FP_NORMAL:
      return negative ? 3 : 8;
    case FP_SUBNORMAL:
      return negative ? 4 : 7;
    default:
      return negative ? 5 : 6;
  }
}

TEST(FloatCompare, ClassesAreTheHostsClassesAndNeverFlushed) {
  Machine m(64);
  m.wave.mode = 0;  // denormals flushed everywhere: a class test sees them all the same
  Draws draws(2);
  for (int round = 0; round < 40; ++round) {
    Draw(&m, &draws, 1, 1);
    Draw64(&m, &draws, 4);
    for (int lane = 0; lane < 64; ++lane) m.Reg(2, lane) = draws.Below(1024);
    ASSERT_EQ(m.Execute(Make(O::V_CMP_CLASS_F16, kVopc, {S(10, 2)}, {V(1), V(2)})), "");
    ASSERT_EQ(m.Execute(Make(O::V_CMP_CLASS_F32, kVopc, {S(12, 2)}, {V(1), V(2)})), "");
    ASSERT_EQ(m.Execute(Make(O::V_CMP_CLASS_F64, kVopc, {S(14, 2)}, {V(4, 2), V(2)})), "");
    for (int lane = 0; lane < 64; ++lane) {
      const uint32_t mask = m.Reg(2, lane), w = m.Reg(1, lane), h = w & 0xffff;
      const float f = FloatOf(w);
      const double d = DoubleOf(m.Reg64(4, lane));
      const double hv = DecodeFloat(formats::kF16, h);
      const int half_kind = std::isnan(hv)            ? FP_NAN
                            : std::isinf(hv)          ? FP_INFINITE
                            : hv == 0                 ? FP_ZERO
                            : std::fabs(hv) < 0x1p-14 ? FP_SUBNORMAL
                                                      : FP_NORMAL;
      EXPECT_EQ((m.wave.Mask(10) >> lane) & 1,
                (mask >> HostClass(std::isnan(hv), h & 0x200, half_kind, h >> 15)) & 1)
          << h;
      EXPECT_EQ((m.wave.Mask(12) >> lane) & 1,
                (mask >> HostClass(std::isnan(f), w & 0x400000, std::fpclassify(f), std::signbit(f))) & 1)
          << std::hex << w;
      EXPECT_EQ((m.wave.Mask(14) >> lane) & 1, (mask >> HostClass(std::isnan(d), m.Reg(5, lane) & 0x80000,
                                                                  std::fpclassify(d), std::signbit(d))) &
                                                   1);
    }
  }
}

struct Function {
  O f16, f32;
  double (*exact)(double);
};
double Turns(double (*f)(double), double x) {
  return f((x - std::rint(x)) * 6.283185307179586476925286766559);
}
const Function kFunctions[] = {
    {O::V_RCP_F16, O::V_RCP_F32, [](double x) { return 1.0 / x; }},
    {O::V_RSQ_F16, O::V_RSQ_F32, [](double x) { return 1.0 / std::sqrt(x); }},
    {O::V_SQRT_F16, O::V_SQRT_F32, [](double x) { return std::sqrt(x); }},
    {O::V_EXP_F16, O::V_EXP_F32, [](double x) { return std::exp2(x); }},
    {O::V_LOG_F16, O::V_LOG_F32, [](double x) { return std::log2(x); }},
    {O::V_SIN_F16, O::V_SIN_F32, [](double x) { return Turns(std::sin, x); }},
    {O::V_COS_F16, O::V_COS_F32, [](double x) { return Turns(std::cos, x); }},
};

TEST(FloatFunctions, StayWithinOneUlpOfTheHostsLibrary) {
  Machine m(64);
  Draws draws(3);
  for (const Function& f : kFunctions) {
    const bool trigonometric = f.f32 == O::V_SIN_F32 || f.f32 == O::V_COS_F32;
    for (int round = 0; round < 60; ++round) {
      Draw(&m, &draws, 1, 1);
      ASSERT_EQ(m.Execute(Make(f.f32, kVop1, {V(2)}, {V(1)})), "");
      ASSERT_EQ(m.Execute(Make(f.f16, kVop1, {V(3)}, {V(1)})), "");
      for (int lane = 0; lane < 64; ++lane) {
        const uint32_t w = m.Reg(1, lane);
        float x = FloatOf(w);
        const float got = FloatOf(m.Reg(2, lane));
        // "Denormals are flushed", whatever MODE says.
        if (!trigonometric && std::fabs(x) < 0x1p-126f) x = std::copysign(0.0f, x);
        const double exact = f.exact(x);
        if (std::isnan(exact)) {
          EXPECT_TRUE(std::isnan(got)) << OpcodeName(f.f32) << std::hex << " " << w;
        } else if (std::fabs(exact) >= 0x1p-126 || exact == 0) {
          // A quarter turn's sine is 0 or 1 exactly, which f64's value of 2*pi is not.
          if (trigonometric && std::rint(x * 4) == x * 4) {
            EXPECT_EQ(got, std::rint(exact));
          } else {
            EXPECT_LE(UlpDistance(got, static_cast<float>(exact)), 1)
                << OpcodeName(f.f32) << std::hex << " " << w;
          }
        }
        const double half = DecodeFloat(formats::kF16, w & 0xffff), exact_half = f.exact(half);
        const double got_half = DecodeFloat(formats::kF16, m.Reg(3, lane) & 0xffff);
        if (std::isnan(exact_half)) {
          EXPECT_TRUE(std::isnan(got_half)) << OpcodeName(f.f16) << std::hex << " " << (w & 0xffff);
        } else {
          const bool quarter = trigonometric && std::rint(half * 4) == half * 4;
          EXPECT_EQ(got_half,
                    DecodeFloat(formats::kF16,
                                EncodeFloat(formats::kF16, quarter ? std::rint(exact_half) : exact_half)))
              << OpcodeName(f.f16) << std::hex << " " << (w & 0xffff);
        }
      }
    }
  }
}

TEST(FloatFunctions, FractStaysBelowOne) {
  Machine m(64);
  Draws draws(4);
  for (int round = 0; round < 60; ++round) {
    Draw(&m, &draws, 1, 1);
    Draw64(&m, &draws, 4);
    ASSERT_EQ(m.Execute(Make(O::V_FRACT_F32, kVop1, {V(2)}, {V(1)})), "");
    ASSERT_EQ(m.Execute(Make(O::V_FRACT_F64, kVop1, {V(6, 2)}, {V(4, 2)})), "");
    for (int lane = 0; lane < 64; ++lane) {
      const float x = FloatOf(m.Reg(1, lane));
      const double y = DoubleOf(m.Reg64(4, lane));
      if (std::isfinite(x)) {
        EXPECT_EQ(FloatOf(m.Reg(2, lane)), std::min(x - std::floor(x), 0.99999994f)) << x;
      }
      if (std::isfinite(y)) {
        EXPECT_EQ(DoubleOf(m.Reg64(6, lane)), std::min(y - std::floor(y), 0x1.fffffffffffffp-1)) << y;
      }
    }
  }
  m.Broadcast(1, BitsOf(-1e-10f));
  ASSERT_EQ(m.Execute(Make(O::V_FRACT_F32, kVop1, {V(2)}, {V(1)})), "");
  EXPECT_EQ(m.Reg(2, 0), 0x3f7fffffu);
}

TEST(FloatSelect, MedianMinimaAndMaximaOfThree) {
  Machine m(64);
  Draws draws(5);
  for (int round = 0; round < 60; ++round) {
    Draw(&m, &draws, 1, 3);
    const O ops[] = {O::V_MED3_F32, O::V_MIN3_F32, O::V_MAX3_F32, O::V_MINMAX_F32, O::V_MAXMIN_F32};
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(m.Execute(Make(ops[i], kVop3, {V(10 + i)}, {V(1), V(2), V(3)})), "");
    }
    for (int lane = 0; lane < 64; ++lane) {
      float v[3] = {FloatOf(m.Reg(1, lane)), FloatOf(m.Reg(2, lane)), FloatOf(m.Reg(3, lane))};
      if (std::isnan(v[0]) || std::isnan(v[1]) || std::isnan(v[2])) continue;
      EXPECT_EQ(FloatOf(m.Reg(13, lane)), std::max(std::min(v[0], v[1]), v[2]));
      EXPECT_EQ(FloatOf(m.Reg(14, lane)), std::min(std::max(v[0], v[1]), v[2]));
      std::sort(v, v + 3);
      EXPECT_EQ(FloatOf(m.Reg(10, lane)), v[1]);
      EXPECT_EQ(FloatOf(m.Reg(11, lane)), v[0]);
      EXPECT_EQ(FloatOf(m.Reg(12, lane)), v[2]);
    }
  }
}

// Faces +x -x +y -y +z -z, with the s and t directions of the cube map convention.
TEST(FloatSelect, CubeMapFacesAndCoordinates) {
  struct Face {
    float x, y, z, id, sc, tc, ma;
  };
  const Face faces[] = {
      {3, 1, 2, 0, -2, -1, 6}, {-3, 1, 2, 1, 2, -1, -6},  {1, 3, 2, 2, 1, 2, 6},  {1, -3, 2, 3, 1, -2, -6},
      {1, 2, 3, 4, 1, -2, 6},  {1, 2, -3, 5, -1, -2, -6}, {2, 2, 2, 4, 2, -2, 4}, {2, 2, 1, 2, 2, 1, 4},
  };
  for (const Face& f : faces) {
    Machine m;
    m.Broadcast(1, BitsOf(f.x));
    m.Broadcast(2, BitsOf(f.y));
    m.Broadcast(3, BitsOf(f.z));
    const O ops[] = {O::V_CUBEID_F32, O::V_CUBESC_F32, O::V_CUBETC_F32, O::V_CUBEMA_F32};
    const float expected[] = {f.id, f.sc, f.tc, f.ma};
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(m.Execute(Make(ops[i], kVop3, {V(9)}, {V(1), V(2), V(3)})), "");
      EXPECT_EQ(FloatOf(m.Reg(9, 0)), expected[i])
          << OpcodeName(ops[i]) << " of " << f.x << " " << f.y << " " << f.z;
    }
  }
}

TEST(FloatConvert, NormalisedIntegersRoundToNearest) {
  Machine m(64);
  Draws draws(6);
  for (int round = 0; round < 60; ++round) {
    for (int reg = 1; reg <= 2; ++reg) {
      for (int lane = 0; lane < 64; ++lane) {
        // Most values in and around [-1, 1].
        m.Reg(reg, lane) = draws.Below(4) == 0
                               ? draws.Word()
                               : BitsOf((static_cast<float>(draws.Below(1u << 24)) - 0x1p23f) * 0x1.3p-23f);
      }
    }
    ASSERT_EQ(m.Execute(Make(O::V_CVT_PK_NORM_I16_F32, kVop3, {V(9)}, {V(1), V(2)})), "");
    ASSERT_EQ(m.Execute(Make(O::V_CVT_PK_NORM_U16_F32, kVop3, {V(10)}, {V(1), V(2)})), "");
    ASSERT_EQ(m.Execute(Make(O::V_CVT_PK_RTZ_F16_F32, kVop3, {V(11)}, {V(1), V(2)})), "");
    for (int lane = 0; lane < 64; ++lane) {
      for (int half = 0; half < 2; ++half) {
        const uint32_t w = m.Reg(1 + half, lane);
        const double x = FloatOf(w);
        const double s = std::isnan(x) ? 0 : std::min(std::max(x, -1.0), 1.0),
                     u = std::isnan(x) ? 0 : std::min(std::max(x, 0.0), 1.0);
        EXPECT_EQ(static_cast<int16_t>(m.Reg(9, lane) >> (16 * half)),
                  static_cast<int16_t>(std::rint(s * 32767)))
            << x;
        EXPECT_EQ(static_cast<uint16_t>(m.Reg(10, lane) >> (16 * half)),
                  static_cast<uint16_t>(std::rint(u * 65535)))
            << x;
        SoftContext toward_zero;
        toward_zero.rounding = Rounding::kToZero;
        EXPECT_EQ((m.Reg(11, lane) >> (16 * half)) & 0xffff,
                  SoftConvert(formats::kF32, formats::kF16, w, toward_zero))
            << x;
      }
    }
  }
}

TEST(FloatConvert, OffsetTableAndBytes) {
  Machine m;
  for (int lane = 0; lane < 32; ++lane) m.Reg(1, lane) = static_cast<uint32_t>(lane) * 0x01030507u;
  ASSERT_EQ(m.Execute(Make(O::V_CVT_OFF_F32_I4, kVop1, {V(2)}, {V(1)})), "");
  ASSERT_EQ(m.Execute(Make(O::V_CVT_F32_UBYTE2, kVop1, {V(3)}, {V(1)})), "");
  for (int lane = 0; lane < 32; ++lane) {
    const int n = m.Reg(1, lane) & 15;
    EXPECT_EQ(FloatOf(m.Reg(2, lane)), (n < 8 ? n : n - 16) / 16.0f);
    EXPECT_EQ(FloatOf(m.Reg(3, lane)), static_cast<float>((m.Reg(1, lane) >> 16) & 0xff));
  }
}

// The segments of 2/pi that trigonometric argument reduction multiplies with: three of them give 2/pi to 159
// bits.
TEST(FloatConvert, SegmentsOfTwoOverPi) {
  Machine m;
  m.Broadcast64(2, BitsOf(1.0));
  double sum = 0;
  for (int segment = 2; segment >= 0; --segment) {
    m.Broadcast(4, static_cast<uint32_t>(segment));
    ASSERT_EQ(m.Execute(Make(O::V_TRIG_PREOP_F64, kVop3, {V(6, 2)}, {V(2, 2), V(4)})), "");
    const double part = DoubleOf(m.Reg64(6, 0));
    EXPECT_LT(part, std::ldexp(1.0, -53 * segment)) << segment;
    sum += part;
  }
  EXPECT_EQ(sum, 0.63661977236758134308);
  // An argument with exponent field 1077 + 10 moves the window by 10 bits.
  m.Broadcast64(2, uint64_t{1087} << 52);
  m.Broadcast(4, 0);
  ASSERT_EQ(m.Execute(Make(O::V_TRIG_PREOP_F64, kVop3, {V(6, 2)}, {V(2, 2), V(4)})), "");
  const double fraction = std::ldexp(0.63661977236758134308, 10);
  EXPECT_NEAR(DoubleOf(m.Reg64(6, 0)), std::ldexp(fraction - std::floor(fraction), -10), 0x1p-50);
}

TEST(FloatPacked, DotProductsAndPackedFma) {
  Machine m;
  const auto half = [](float f) { return uint32_t{HalfFromFloat(f)}; };
  m.Broadcast(1, half(2.0f) | half(3.0f) << 16);
  m.Broadcast(2, half(5.0f) | half(-7.0f) << 16);
  m.Broadcast(3, BitsOf(100.0f));
  ASSERT_EQ(m.Execute(Make(O::V_DOT2_F32_F16, Encoding::VOP3P, {V(9)}, {V(1), V(2), V(3)})), "");
  EXPECT_EQ(FloatOf(m.Reg(9, 0)), 100.0f + 10.0f - 21.0f);
  Inst fma = Make(O::V_PK_FMA_F16, Encoding::VOP3P, {V(9)}, {V(1), V(2), V(1)});
  fma.neg = 1;
  fma.neg_hi = 2;
  ASSERT_EQ(m.Execute(fma), "");
  EXPECT_EQ(m.Reg(9, 0), half(-2.0f * 5.0f + 2.0f) | half(3.0f * 7.0f + 3.0f) << 16);
  m.Broadcast(4, 0x40404000u);  // bf16 3.0, 2.0
  m.Broadcast(5, 0x3f803f80u);  // bf16 1.0, 1.0
  ASSERT_EQ(m.Execute(Make(O::V_DOT2_F32_BF16, Encoding::VOP3P, {V(9)}, {V(4), V(5), V(3)})), "");
  EXPECT_EQ(FloatOf(m.Reg(9, 0)), 105.0f);
}

}  // namespace
}  // namespace understudy::emu::amd
