// SPDX-License-Identifier: Apache-2.0
// EvalAlu against other arithmetic: the host's integers, base's exact soft-float, and long double.
#include "src/uop/eval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "src/base/soft_float.h"
#include "src/uop/build.h"

namespace understudy::uop {
namespace {

ConstValue Eval(Op op, DType t, std::vector<ConstValue> args) { return EvalAlu(op, t, args); }
int64_t EvalInt(Op op, DType t, int64_t a, int64_t b) { return std::get<int64_t>(Eval(op, t, {a, b})); }
double EvalFloat(Op op, DType t, std::vector<ConstValue> args) {
  return std::get<double>(Eval(op, t, std::move(args)));
}

const DType kNarrow[] = {dtypes::kFloat8E4M3,     dtypes::kFloat8E5M2, dtypes::kFloat8E4M3Fnuz,
                         dtypes::kFloat8E5M2Fnuz, dtypes::kFloat16,    dtypes::kBFloat16,
                         dtypes::kFloat32,        dtypes::kFloat64};

// The host's arithmetic in the type itself.
template <class T>
void CheckIntType(DType t) {
  std::mt19937_64 rng(1);
  const T edges[] = {
      0,    1,     2,     3, T(-1), T(-2), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
      T(7), T(-7), T(100)};
  const auto draw = [&]() -> T {
    return rng() % 2 ? edges[rng() % std::size(edges)] : static_cast<T>(rng());
  };
  for (int i = 0; i < 20000; ++i) {
    const T a = draw(), b = draw();
    const auto eval = [&](Op op) {
      return static_cast<T>(EvalInt(op, t, static_cast<int64_t>(a), static_cast<int64_t>(b)));
    };
    using U = std::make_unsigned_t<T>;
    const auto wrap = [](U v) { return static_cast<T>(v); };
    ASSERT_EQ(eval(Op::kAdd), wrap(static_cast<U>(static_cast<U>(a) + static_cast<U>(b))));
    ASSERT_EQ(eval(Op::kSub), wrap(static_cast<U>(static_cast<U>(a) - static_cast<U>(b))));
    ASSERT_EQ(eval(Op::kMul),
              wrap(static_cast<U>(uint64_t{static_cast<U>(a)} * uint64_t{static_cast<U>(b)})));
    ASSERT_EQ(eval(Op::kMax), std::max(a, b));
    ASSERT_EQ(eval(Op::kMin), std::min(a, b));
    ASSERT_EQ(eval(Op::kAnd), static_cast<T>(a & b));
    ASSERT_EQ(eval(Op::kXor), static_cast<T>(a ^ b));
    ASSERT_EQ(EvalInt(Op::kCmpLt, t, static_cast<int64_t>(a), static_cast<int64_t>(b)), a < b);
    const auto q = static_cast<__int128>(a), d = static_cast<__int128>(b);
    if (d == 0) {
      ASSERT_EQ(eval(Op::kIDiv), 0);
      ASSERT_EQ(eval(Op::kFloorDiv), 0);
      ASSERT_EQ(eval(Op::kIMod), a);
      ASSERT_EQ(eval(Op::kFloorMod), a);
    } else {
      __int128 fq = q / d, fr = q % d;
      if (fr != 0 && (fr < 0) != (d < 0)) fq -= 1, fr += d;
      ASSERT_EQ(eval(Op::kIDiv), static_cast<T>(q / d));
      ASSERT_EQ(eval(Op::kIMod), static_cast<T>(q % d));
      ASSERT_EQ(eval(Op::kFloorDiv), static_cast<T>(fq));
      ASSERT_EQ(eval(Op::kFloorMod), static_cast<T>(fr));
    }
    const unsigned width = sizeof(T) * 8, amount = rng() % (width + 4);
    const auto shift = [&](Op op) {
      return static_cast<T>(EvalInt(op, t, static_cast<int64_t>(a), static_cast<int64_t>(amount)));
    };
    ASSERT_EQ(shift(Op::kShl), amount >= width ? T(0) : static_cast<T>(static_cast<U>(a) << amount));
    ASSERT_EQ(shift(Op::kShr), amount >= width ? (a < 0 ? T(-1) : T(0)) : static_cast<T>(a >> amount));
  }
}

TEST(EvalAlu, IntegersMatchTheHost) {
  CheckIntType<int8_t>(dtypes::kInt8);
  CheckIntType<uint8_t>(dtypes::kUInt8);
  CheckIntType<int16_t>(dtypes::kInt16);
  CheckIntType<uint16_t>(dtypes::kUInt16);
  CheckIntType<int32_t>(dtypes::kInt32);
  CheckIntType<uint32_t>(dtypes::kUInt32);
  CheckIntType<int64_t>(dtypes::kInt64);
  CheckIntType<uint64_t>(dtypes::kUInt64);
  CheckIntType<int64_t>(dtypes::kIndex);
}

TEST(EvalAlu, NegativeShiftAmountsAreLarge) {
  EXPECT_EQ(EvalInt(Op::kShl, dtypes::kInt32, 5, -1), 0);
  EXPECT_EQ(EvalInt(Op::kShr, dtypes::kInt32, -5, -1), -1);
  EXPECT_EQ(EvalInt(Op::kShr, dtypes::kInt32, 5, -1), 0);
}

TEST(EvalAlu, FoldingWrapsAtTheWidth) {
  EXPECT_EQ(EvalInt(Op::kMul, dtypes::kUInt32, 0xABCD17D6, 0xAABBCCDD), 1147018174);
  EXPECT_EQ(std::get<int64_t>(Eval(Op::kNeg, dtypes::kInt8, {int64_t{-128}})), -128);
  EXPECT_EQ(EvalInt(Op::kIDiv, dtypes::kInt64, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(EvalInt(Op::kIMod, dtypes::kInt64, INT64_MIN, -1), 0);
  EXPECT_EQ(EvalInt(Op::kIDiv, dtypes::kInt8, -128, -1), -128);
}

// Draws bit patterns of the format: every class of value, exponents close together often.
uint64_t DrawBits(std::mt19937_64& rng, DType t) {
  const uint64_t mask = t.BitWidth() == 64 ? ~uint64_t{0} : (uint64_t{1} << t.BitWidth()) - 1;
  switch (rng() % 4) {
    case 0:
      return ToBits(t, Canonical(t, static_cast<double>(static_cast<int64_t>(rng() % 4097) - 2048) / 16));
    case 1:
      return (rng() & mask) & ~(rng() & mask);
    default:
      return rng() & mask;
  }
}

TEST(EvalAlu, FloatsAreRoundedOnceAsExactSoftFloatRoundsThem) {
  std::mt19937_64 rng(2);
  for (const DType t : kNarrow) {
    const FloatFormat& f = FormatOf(t);
    const int n = t.BitWidth() == 8 ? 20000 : 60000;
    for (int i = 0; i < n; ++i) {
      const uint64_t a = DrawBits(rng, t), b = DrawBits(rng, t), c = DrawBits(rng, t);
      const ConstValue va = FromBits(t, a), vb = FromBits(t, b), vc = FromBits(t, c);
      const uint64_t ca = ToBits(t, va), cb = ToBits(t, vb), cc = ToBits(t, vc);
      const auto check = [&](Op op, std::vector<ConstValue> args, uint64_t want) {
        const ConstValue got = Eval(op, t, args), expected = FromBits(t, want);
        ASSERT_TRUE(SameConst(got, expected))
            << OpName(op) << " " << t.Name() << " of " << ConstText(t, args[0]) << ", "
            << ConstText(t, args.back()) << " gives " << ConstText(t, got) << ", expected "
            << ConstText(t, expected);
      };
      check(Op::kAdd, {va, vb}, SoftAdd(f, ca, cb));
      check(Op::kSub, {va, vb}, SoftSub(f, ca, cb));
      check(Op::kMul, {va, vb}, SoftMul(f, ca, cb));
      check(Op::kFDiv, {va, vb}, SoftDiv(f, ca, cb));
      check(Op::kSqrt, {va}, SoftSqrt(f, ca));
      check(Op::kMulAcc, {va, vb, vc}, SoftFma(f, ca, cb, cc));
      check(Op::kRecip, {va}, SoftDiv(f, ToBits(t, 1.0), ca));
    }
  }
}

TEST(EvalAlu, MaxAndMinPropagateNanAndOrderZeros) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType t : {dtypes::kFloat16, dtypes::kFloat32, dtypes::kFloat64}) {
    EXPECT_TRUE(std::isnan(EvalFloat(Op::kMax, t, {nan, 1.0})));
    EXPECT_TRUE(std::isnan(EvalFloat(Op::kMin, t, {1.0, nan})));
    EXPECT_FALSE(std::signbit(EvalFloat(Op::kMax, t, {-0.0, 0.0})));
    EXPECT_FALSE(std::signbit(EvalFloat(Op::kMax, t, {0.0, -0.0})));
    EXPECT_TRUE(std::signbit(EvalFloat(Op::kMin, t, {-0.0, 0.0})));
    EXPECT_TRUE(std::signbit(EvalFloat(Op::kMin, t, {0.0, -0.0})));
  }
}

TEST(EvalAlu, ComparisonsWithNanAreFalseButNotEqual) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Op op : {Op::kCmpLt, Op::kCmpEq})
    EXPECT_EQ(std::get<int64_t>(Eval(op, dtypes::kFloat32, {nan, nan})), 0);
  EXPECT_EQ(std::get<int64_t>(Eval(Op::kCmpNe, dtypes::kFloat32, {nan, nan})), 1);
  EXPECT_EQ(std::get<int64_t>(Eval(Op::kCmpEq, dtypes::kFloat32, {0.0, -0.0})), 1);
}

TEST(EvalAlu, TranscendentalsAreWithinHalfAnUlpOfLongDouble) {
  std::mt19937_64 rng(3);
  std::uniform_real_distribution<double> u(-100, 100);
  for (int i = 0; i < 20000; ++i) {
    const double x = static_cast<float>(u(rng));
    ASSERT_EQ(EvalFloat(Op::kExp2, dtypes::kFloat32, {x}), static_cast<float>(exp2l(x)));
    ASSERT_EQ(EvalFloat(Op::kSin, dtypes::kFloat32, {x}), static_cast<float>(sinl(x)));
    ASSERT_EQ(EvalFloat(Op::kCos, dtypes::kFloat32, {x}), static_cast<float>(cosl(x)));
    ASSERT_EQ(EvalFloat(Op::kLog2, dtypes::kFloat32, {std::abs(x)}), static_cast<float>(log2l(std::abs(x))));
  }
  EXPECT_EQ(EvalFloat(Op::kLog2, dtypes::kFloat32, {0.0}), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(EvalFloat(Op::kExp2, dtypes::kFloat16, {16.0}), std::numeric_limits<double>::infinity());
}

TEST(EvalNode, CastAndBitcast) {
  const UOpRef f = Var("n", 0, 1, dtypes::kInt32);
  EXPECT_EQ(
      std::get<int64_t>(EvalNode(*Bitcast(Const(dtypes::kFloat32, 1.0), dtypes::kInt32), {ConstValue(1.0)})),
      0x3f800000);
  EXPECT_EQ(std::get<double>(EvalNode(*Bitcast(f, dtypes::kFloat32), {ConstValue(int64_t{0x40000000})})),
            2.0);
  EXPECT_EQ(
      std::get<int64_t>(EvalNode(*Cast(Const(dtypes::kFloat32, 1.0), dtypes::kInt8), {ConstValue(300.0)})),
      127);
  EXPECT_EQ(std::get<int64_t>(EvalNode(*Cast(f, dtypes::kInt8), {ConstValue(int64_t{300})})), 44);
}

}  // namespace
}  // namespace understudy::uop
