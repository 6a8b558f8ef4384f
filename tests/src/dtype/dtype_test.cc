// SPDX-License-Identifier: Apache-2.0
// Laws of the promotion lattice, text round trips, and CAST against the host's conversions.
#include "src/dtype/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "src/dtype/const_value.h"

namespace understudy {
namespace {

std::vector<DType> AllValueTypes() {
  std::vector<DType> all;
  for (int i = 0; i < kNumScalars; ++i) {
    if (static_cast<Scalar>(i) != Scalar::kVoid) all.push_back(static_cast<Scalar>(i));
  }
  return all;
}

TEST(DType, NamesParseBack) {
  for (DType t : AllValueTypes()) {
    for (DType v :
         {t, t.WithLanes(4), t.WithSpace(AddrSpace::kGlobal), t.WithLanes(2).WithSpace(AddrSpace::kLocal)}) {
      const auto parsed = ParseDType(v.Name());
      ASSERT_TRUE(parsed.ok()) << v.Name() << " " << parsed.status();
      EXPECT_EQ(*parsed, v) << v.Name();
    }
  }
  EXPECT_EQ(ParseDType("f33").status().message(), "data type 'f33': no scalar type named 'f33'");
  EXPECT_EQ(ParseDType("f32x99999").status().message(),
            "data type 'f32x99999': lane count 99999, expected 1 to 4096");
  EXPECT_FALSE(ParseDType("f32x0").ok());
  EXPECT_FALSE(ParseDType("").ok());
}

TEST(DType, PromotionIsALattice) {
  const auto all = AllValueTypes();
  for (DType a : all) {
    EXPECT_EQ(Promote(a, a), a);
    for (DType b : all) {
      EXPECT_EQ(Promote(a, b), Promote(b, a)) << a.Name() << " " << b.Name();
      EXPECT_EQ(Promote(a, Promote(a, b)), Promote(a, b)) << a.Name() << " " << b.Name();
      for (DType c : all) {
        EXPECT_EQ(Promote(Promote(a, b), c), Promote(a, Promote(b, c)))
            << a.Name() << " " << b.Name() << " " << c.Name();
      }
    }
  }
  EXPECT_EQ(Promote(dtypes::kUInt8, dtypes::kInt8), dtypes::kInt16);
  EXPECT_EQ(Promote(dtypes::kInt64, dtypes::kFloat16), dtypes::kFloat16);
  EXPECT_EQ(Promote(dtypes::kFloat16, dtypes::kBFloat16), dtypes::kFloat32);
}

TEST(CastConst, FloatToIntSaturatesAndTruncates) {
  const auto cast = [](double v, DType to) { return std::get<int64_t>(CastConst(dtypes::kFloat64, to, v)); };
  EXPECT_EQ(cast(-3.9, dtypes::kInt32), -3);
  EXPECT_EQ(cast(300, dtypes::kInt8), 127);
  EXPECT_EQ(cast(-300, dtypes::kInt8), -128);
  EXPECT_EQ(cast(-1, dtypes::kUInt16), 0);
  EXPECT_EQ(cast(1e30, dtypes::kInt64), INT64_MAX);
  EXPECT_EQ(static_cast<uint64_t>(cast(0x1.fp63, dtypes::kUInt64)), 0xf800000000000000u);
  EXPECT_EQ(cast(std::nan(""), dtypes::kInt32), 0);
  EXPECT_EQ(cast(std::nan(""), dtypes::kBool), 1);
  EXPECT_EQ(cast(0.25, dtypes::kBool), 1);
  EXPECT_EQ(cast(-0.0, dtypes::kBool), 0);
}

TEST(CastConst, IntegersWrapAndRoundOnce) {
  EXPECT_EQ(std::get<int64_t>(CastConst(dtypes::kInt32, dtypes::kInt8, int64_t{200})), -56);
  EXPECT_EQ(std::get<int64_t>(CastConst(dtypes::kInt32, dtypes::kUInt64, int64_t{-1})), -1);
  EXPECT_EQ(std::get<double>(CastConst(dtypes::kUInt64, dtypes::kFloat64, int64_t{-1})), 0x1p64);
  // 2^24 + 1 + 2^-k cannot be seen through a double first: the 64-bit source rounds straight to f32.
  std::mt19937_64 rng(3);
  for (int i = 0; i < 200000; ++i) {
    const int64_t v = static_cast<int64_t>(rng()) >> (rng() % 64);
    EXPECT_EQ(std::get<double>(CastConst(dtypes::kInt64, dtypes::kFloat32, v)),
              static_cast<double>(static_cast<float>(v)));
    EXPECT_EQ(std::get<double>(CastConst(dtypes::kUInt64, dtypes::kFloat32, v)),
              static_cast<double>(static_cast<float>(static_cast<uint64_t>(v))));
  }
}

TEST(ConstValue, BitsRoundTripForEveryNarrowPattern) {
  for (DType t : AllValueTypes()) {
    if (t.BitWidth() > 16) continue;
    for (uint64_t bits = 0; bits < uint64_t{1} << t.BitWidth(); ++bits) {
      const ConstValue v = FromBits(t, bits);
      if (t.IsBool()) {
        EXPECT_EQ(ToBits(t, v), bits ? 1u : 0u);
      } else if (t.IsFloat() && std::isnan(std::get<double>(v))) {
        EXPECT_TRUE(FormatOf(t).IsNan(bits) && FormatOf(t).IsNan(ToBits(t, v))) << t.Name() << " " << bits;
      } else {
        ASSERT_EQ(ToBits(t, v), bits) << t.Name();
      }
    }
  }
}

TEST(ConstValue, LimitsAndText) {
  EXPECT_EQ(std::get<int64_t>(MinValue(dtypes::kInt8)), -128);
  EXPECT_EQ(std::get<int64_t>(MaxValue(dtypes::kInt64)), INT64_MAX);
  EXPECT_EQ(std::get<int64_t>(MinValue(dtypes::kInt64)), INT64_MIN);
  EXPECT_EQ(std::get<int64_t>(MaxValue(dtypes::kUInt64)), -1);
  EXPECT_EQ(std::get<double>(MaxValue(dtypes::kFloat16)), 65504.0);
  EXPECT_EQ(std::get<double>(MinValue(dtypes::kFloat32)),
            -static_cast<double>(std::numeric_limits<float>::max()));
  EXPECT_EQ(ConstText(dtypes::kUInt64, int64_t{-1}), "18446744073709551615");
  EXPECT_EQ(ConstText(dtypes::kBool, int64_t{1}), "true");
  EXPECT_EQ(ConstText(dtypes::kFloat32, -0.0), "-0x0p+0");
  EXPECT_TRUE(SameConst(std::nan(""), -std::nan("")));
  EXPECT_FALSE(SameConst(0.0, -0.0));
}

}  // namespace
}  // namespace understudy
