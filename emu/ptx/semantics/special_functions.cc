// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/special_functions.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace understudy::emu::ptx {
namespace {

// One segment of the interpolator: C0 + C1 * x + C2 * Square(x), in fixed point.
struct Segment {
  int64_t c0;
  int32_t c1, c2;
};
#include "emu/ptx/semantics/special_functions_tables.inc"

constexpr uint32_t kInfinity = 0x7f800000, kNaN = 0x7fffffff, kSign = 0x80000000, kOne = 0x3f800000;
constexpr uint32_t kLeastNormal = 0x00800000;

float ToFloat(uint32_t x) { return std::bit_cast<float>(x); }
uint32_t ToBits(float x) { return std::bit_cast<uint32_t>(x); }
uint32_t FlushInput(uint32_t x) { return (x & ~kSign) < kLeastNormal ? x & kSign : x; }
// FMUL and FADD answer every NaN with the same one.
uint32_t Canonical(float x) { return x != x ? kNaN : ToBits(x); }
uint32_t Multiply(uint32_t a, uint32_t b) { return Canonical(ToFloat(a) * ToFloat(b)); }
uint32_t MultiplyFtz(uint32_t a, uint32_t b) {
  a = FlushInput(a);
  b = FlushInput(b);
  // Flushed when it is less than the least normal number before rounding; the product is exact in double.
  const double exact = static_cast<double>(ToFloat(a)) * static_cast<double>(ToFloat(b));
  const uint32_t product = Canonical(static_cast<float>(exact));
  return std::fabs(exact) < 0x1p-126 ? product & kSign : product;
}
uint32_t Power(int exponent) { return static_cast<uint32_t>(exponent + 127) << 23; }

// The square of a 17-bit number in units of 2^19, without the partial products (bit i times bit j) of less
// weight.
int64_t Square(uint32_t x) {
  const uint32_t high = x >> 10;
  uint32_t sum = 2 * high * high + ((x >> 9 & 1) * high << 1);
#pragma GCC unroll 7
  for (int i = 2; i <= 8; ++i) sum += (0u - (x >> i & 1)) & (x >> (18 - i));
  return sum;
}

// The interpolator over a 23-bit fraction in 64 segments.
int64_t Interpolate(const Segment* table, uint32_t fraction) {
  const Segment& s = table[fraction >> 17];
  const uint32_t x = fraction & 0x1ffff;
  return s.c0 + static_cast<int64_t>(s.c1) * x + static_cast<int64_t>(s.c2) * Square(x);
}

// Fixed point to float, cut off.
uint32_t FromFixed(uint64_t value, int point = 38) {
  if (value == 0) return 0;
  const int top = 63 - std::countl_zero(value);
  const uint32_t mantissa = static_cast<uint32_t>(top >= 23 ? value >> (top - 23) : value << (23 - top));
  return Power(top - point) + (mantissa & 0x7fffff);
}

// MUFU's functions: what the unit itself answers. It flushes denormal arguments and results.
uint32_t Rcp(uint32_t x) {
  const uint32_t sign = x & kSign, magnitude = x & ~kSign;
  if (magnitude > kInfinity) return kNaN;
  if (magnitude < kLeastNormal) return sign | kInfinity;
  const uint32_t fraction = x & 0x7fffff;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const Segment& s = kRcp[fraction >> 16];
  const uint32_t low = fraction & 0xffff;
  const int64_t sum = s.c0 + static_cast<int64_t>(s.c1) * low + static_cast<int64_t>(s.c2) * Square(low << 1);
  const int64_t base = fraction == 0 ? kOne : sum >> 17;
  const int64_t result = base - (static_cast<int64_t>(exponent) << 23);
  return result < kLeastNormal ? sign : sign | static_cast<uint32_t>(result);
}

uint32_t Rsqrt(uint32_t x) {
  const uint32_t magnitude = x & ~kSign;
  if (magnitude > kInfinity) return kNaN;
  if (magnitude < kLeastNormal) return (x & kSign) | kInfinity;
  if (x & kSign) return kNaN;
  if (x == kInfinity) return 0;
  const int exponent = static_cast<int>(x >> 23) - 127;
  const int odd = exponent & 1;
  const uint32_t fraction = x & 0x7fffff;
  const int64_t base = odd == 0 && fraction == 0 ? kOne : Interpolate(kRsqrt + 64 * odd, fraction) >> 17;
  return static_cast<uint32_t>(base - (static_cast<int64_t>((exponent - odd) / 2) << 23));
}

uint32_t Sqrt(uint32_t x) {
  const uint32_t magnitude = x & ~kSign;
  if (magnitude > kInfinity) return kNaN;
  if (magnitude < kLeastNormal) return x & kSign;
  if (x & kSign) return kNaN;
  if (x == kInfinity) return x;
  const int exponent = static_cast<int>(x >> 23) - 127;
  const int odd = exponent & 1;
  const uint32_t fraction = x & 0x7fffff;
  const int64_t base = odd == 0 && fraction == 0 ? kOne : Interpolate(kSqrt + 64 * odd, fraction) >> 17;
  return static_cast<uint32_t>(base + (static_cast<int64_t>((exponent - odd) / 2) << 23));
}

// Sine of 25-bit fractions of a turn.
uint32_t SinOfTurn(uint32_t turn, uint32_t sign) {
  if (turn >> 24 & 1) sign ^= kSign;
  const uint32_t fraction = turn & 0x7fffff;
  if ((turn >> 23 & 1) == 0) return sign | FromFixed(static_cast<uint64_t>(Interpolate(kSin, fraction)));
  if (fraction == 0) return sign | kOne;
  return sign | FromFixed(static_cast<uint64_t>(Interpolate(kSin, 0x7fffff - fraction)));
}

// FMUL.RZ by 1/(2 pi), then 25 bits after the point.
uint32_t Turn(uint32_t magnitude) {
  constexpr uint64_t kMantissa = 0xa2f983;  // 0x3e22f983
  const int exponent = static_cast<int>(magnitude >> 23);
  if (exponent < 80) return 0;  // Less than 2^-27 of a turn; denormals are zero too.
  uint64_t product = ((magnitude & 0x7fffff) | kLeastNormal) *
                     kMantissa;  // 48 bits; value = product * 2^(exponent - 127 - 23 - 26)
  int scale = exponent - 127 - 49;
  const int cut = product >> 47 & 1 ? 24 : 23;
  product >>= cut;
  scale += cut + 25;  // turn * 2^25 = product * 2^scale
  if (scale >= 25) return 0;
  return static_cast<uint32_t>(scale >= 0     ? product << scale
                               : scale <= -32 ? 0
                                              : product >> -scale) &
         0x1ffffff;
}

uint32_t Lg2(uint32_t x) {
  const uint32_t magnitude = x & ~kSign;
  if (magnitude > kInfinity) return kNaN;
  if (magnitude < kLeastNormal) return kSign | kInfinity;
  if (x & kSign) return kNaN;
  if (x == kInfinity) return x;
  const int64_t exponent = static_cast<int64_t>(x >> 23) - 127;
  const uint32_t fraction = x & 0x7fffff;
  if (x == kOne) return 0;
  const int64_t sum = (exponent << 38) + Interpolate(kLg2, fraction);
  if (sum >= 0) return FromFixed(static_cast<uint64_t>(sum));
  // The adder's ones' complement, whose last place is 2^-36.
  return kSign | FromFixed(static_cast<uint64_t>(~(sum >> 2)) << 2);
}

uint32_t Ex2(uint32_t x) {
  const uint32_t magnitude = x & ~kSign;
  if (magnitude > kInfinity) return kNaN;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent >= 7) {
    if ((x & kSign) == 0) return kInfinity;
    if (exponent >= 8) return 0;
  }
  const uint64_t mantissa = (magnitude & 0x7fffff) | kLeastNormal;
  const int64_t fixed = static_cast<int64_t>(exponent >= 0    ? mantissa << exponent
                                             : exponent < -24 ? 0
                                                              : mantissa >> -exponent);
  int64_t value = fixed;
  if (x & kSign) value = (fixed & 0x7fffff) == 0 ? -fixed : -1 - fixed;
  const uint32_t fraction = static_cast<uint32_t>(value) & 0x7fffff;
  const int64_t whole = value >> 23;
  const int64_t base = (Interpolate(kEx2, fraction) >> 17) - (int64_t{1} << 23);
  const int64_t result = base + whole * (int64_t{1} << 23);
  if (result >= kInfinity) return kInfinity;
  return result < kLeastNormal ? 0 : static_cast<uint32_t>(result);
}

// The segments of tanh are halves, quarters ... of binades, so that the 17 bits below the segment cut the
// argument off.
uint32_t Tanh(uint32_t x) {
  const uint32_t sign = x & kSign, magnitude = x & ~kSign;
  if (magnitude > kInfinity) return kNaN;
  if (magnitude < 0x3b800000) return x;  // 2^-8
  if (magnitude >= 0x41000000) return sign | kOne;
  struct Binade {
    uint8_t first, shift;
  };
  constexpr Binade kBinades[] = {{0, 6},  {1, 6},  {2, 6},  {3, 5},  {5, 5}, {7, 4},
                                 {11, 4}, {15, 4}, {19, 3}, {27, 2}, {43, 3}};
  const Binade binade = kBinades[(magnitude >> 23) - 119];
  const uint32_t cut = (magnitude & 0x7fffff) >> binade.shift;
  const Segment& s = kTanh[binade.first + (cut >> 17)];
  const uint32_t low = cut & 0x1ffff;
  const int64_t sum = s.c0 + static_cast<int64_t>(s.c1) * low + static_cast<int64_t>(s.c2) * Square(low);
  return sign | FromFixed(static_cast<uint64_t>(sum), 48);
}

uint32_t HalfToFloat(uint32_t h) {
  const uint32_t sign = (h & 0x8000) << 16, magnitude = h & 0x7fff;
  if (magnitude >= 0x7c00) return sign | kInfinity | (magnitude & 0x3ff) << 13;
  return sign | ToBits(static_cast<float>(magnitude < 0x400 ? magnitude : (magnitude & 0x3ff) | 0x400) *
                       std::ldexp(1.0f, magnitude < 0x400 ? -24 : static_cast<int>(magnitude >> 10) - 25));
}

// To half precision, cut off; denormals are kept.
uint16_t FloatToHalf(uint32_t x) {
  const uint32_t sign = x >> 16 & 0x8000, magnitude = x & ~kSign;
  if (magnitude > kInfinity) return 0x7fff;
  if (magnitude >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const uint32_t mantissa = (magnitude & 0x7fffff) | kLeastNormal;
  const int drop = exponent < -14 ? 13 + (-14 - exponent) : 13;
  if (drop > 24) return static_cast<uint16_t>(sign);
  const uint32_t base = exponent < -14 ? 0 : static_cast<uint32_t>(exponent + 14) << 10;
  return static_cast<uint16_t>(sign | (base + (mantissa >> drop)));
}

}  // namespace

Factors RcpApproxFactors(uint32_t x, bool ftz) {
  if (ftz) return {kOne, Rcp(x)};
  const uint32_t magnitude = x & ~kSign;
  const uint32_t scale = magnitude < kLeastNormal                           ? Power(24)
                         : magnitude > Power(126) && magnitude <= kInfinity ? Power(-2)
                                                                            : kOne;
  return {scale, Rcp(Multiply(x, scale))};
}

uint32_t RcpApproxF32(uint32_t x, bool ftz) {
  if (ftz) return Rcp(x);
  const Factors f = RcpApproxFactors(x, false);
  return Multiply(f.a, f.b);
}

uint32_t RsqrtApproxF32(uint32_t x, bool ftz) {
  if (ftz || (x & ~kSign) >= kLeastNormal) return Rsqrt(x);
  return Multiply(Rsqrt(Multiply(x, Power(24))), Power(12));
}

uint32_t SqrtApproxF32(uint32_t x, bool ftz) {
  if (ftz || (x & ~kSign) >= kLeastNormal) return Sqrt(x);
  return Multiply(Sqrt(Multiply(x, Power(24))), Power(-12));
}

uint32_t SinApproxF32(uint32_t x) {
  const uint32_t magnitude = x & ~kSign;
  return magnitude >= kInfinity ? kNaN : SinOfTurn(Turn(magnitude), x & kSign);
}

uint32_t CosApproxF32(uint32_t x) {
  const uint32_t magnitude = x & ~kSign;
  return magnitude >= kInfinity ? kNaN : SinOfTurn((Turn(magnitude) + (1u << 23)) & 0x1ffffff, 0);
}

uint32_t Lg2ApproxF32(uint32_t x, bool ftz) {
  if (ftz || (x & ~kSign) >= kLeastNormal) return Lg2(x);
  return Canonical(ToFloat(Lg2(Multiply(x, Power(24)))) - 24.0f);
}

uint32_t Ex2ApproxF32(uint32_t x, bool ftz) {
  if (ftz || !(ToFloat(x) < -126.0f)) return Ex2(x);
  const uint32_t root = Ex2(Multiply(x, Power(-1)));
  return Multiply(root, root);
}

uint32_t TanhApproxF32(uint32_t x) { return Tanh(x); }

Factors DivApproxFactors(uint32_t a, uint32_t b, bool ftz) {
  if (!ftz && (b & ~kSign) < kLeastNormal) {
    a = Multiply(a, Power(24));
    b = Multiply(b, Power(24));
  }
  return {a, Rcp(b)};
}

Factors DivFullFactors(uint32_t a, uint32_t b, bool ftz) {
  const uint32_t magnitude = b & ~kSign;
  const bool large = magnitude > Power(126) && magnitude <= kInfinity;
  if (ftz) {
    if (large) {
      a = MultiplyFtz(a, Power(-2));
      b = MultiplyFtz(b, Power(-2));
    }
  } else if (large || magnitude < kLeastNormal) {
    const uint32_t scale = large ? Power(-2) : Power(24);
    a = Multiply(a, scale);
    b = Multiply(b, scale);
  }
  return {a, Rcp(b)};
}

uint32_t DivApproxF32(uint32_t a, uint32_t b, bool ftz) {
  const Factors f = DivApproxFactors(a, b, ftz);
  return ftz ? MultiplyFtz(f.a, f.b) : Multiply(f.a, f.b);
}

uint32_t DivFullF32(uint32_t a, uint32_t b, bool ftz) {
  const Factors f = DivFullFactors(a, b, ftz);
  return ftz ? MultiplyFtz(f.a, f.b) : Multiply(f.a, f.b);
}

namespace {

// The unit's functions of a double's high word: the float function's bits to 20 bits of fraction, and no low
// word.
uint32_t RcpHigh(uint32_t high) {
  const uint32_t sign = high & kSign, magnitude = high & ~kSign;
  if (magnitude > 0x7ff00000) return kNaN;
  if (magnitude < 0x00100000) return sign | 0x7ff00000;
  const int exponent = static_cast<int>(magnitude >> 20) - 1023;
  const int64_t base = Rcp(kOne | (high & 0xfffff) << 3) >> 3;
  const int64_t result = base + (int64_t{1023 - 127 - exponent} << 20);
  return result < 0x00100000 ? sign : sign | static_cast<uint32_t>(result);
}

uint32_t RsqrtHigh(uint32_t high) {
  const uint32_t magnitude = high & ~kSign;
  if (magnitude > 0x7ff00000) return kNaN;
  if (magnitude < 0x00100000) return (high & kSign) | 0x7ff00000;
  if (high & kSign) return kNaN;
  if (high == 0x7ff00000) return 0;
  const int exponent = static_cast<int>(high >> 20) - 1023, odd = exponent & 1;
  const int64_t base = Rsqrt(Power(odd) | (high & 0xfffff) << 3) >> 3;
  return static_cast<uint32_t>(base + (int64_t{1023 - 127 - (exponent - odd) / 2} << 20));
}

// One step of third order from the unit's 20 bits.
double RefineRsqrt(double x) {
  const double start = std::bit_cast<double>(
      uint64_t{RsqrtHigh(static_cast<uint32_t>(std::bit_cast<uint64_t>(x) >> 32))} << 32);
  const double error = std::fma(-(start * start), x, 1.0);
  return std::fma(std::fma(error, 0.375, 0.5), start * error, start);
}

}  // namespace

uint64_t RcpApproxFtzF64(uint64_t x) { return uint64_t{RcpHigh(static_cast<uint32_t>(x >> 32))} << 32; }

uint64_t RsqrtApproxF64(uint64_t x, bool ftz) {
  constexpr uint64_t kSign64 = uint64_t{1} << 63, kInfinity64 = uint64_t{0x7ff} << 52;
  if (ftz) return uint64_t{RsqrtHigh(static_cast<uint32_t>(x >> 32))} << 32;
  const uint64_t magnitude = x & ~kSign64;
  if (magnitude == 0) return x | kInfinity64;
  if (magnitude > kInfinity64) return x | uint64_t{1} << 51;
  if (x & kSign64) return uint64_t{0xfff8} << 48;
  if (x == kInfinity64) return 0;
  const double value = std::bit_cast<double>(x);
  if (magnitude >> 52 != 0) return std::bit_cast<uint64_t>(RefineRsqrt(value));
  return std::bit_cast<uint64_t>(RefineRsqrt(value * 0x1p54) * 0x1p27);
}

// The unit's 16-bit forms are its 32-bit ones, cut off.
uint16_t Ex2ApproxF16(uint16_t x) { return FloatToHalf(Ex2(HalfToFloat(x))); }
uint16_t TanhApproxF16(uint16_t x) { return FloatToHalf(Tanh(HalfToFloat(x))); }
uint16_t Ex2ApproxFtzBf16(uint16_t x) { return static_cast<uint16_t>(Ex2(uint32_t{x} << 16) >> 16); }
uint16_t TanhApproxBf16(uint16_t x) { return static_cast<uint16_t>(Tanh(uint32_t{x} << 16) >> 16); }

}  // namespace understudy::emu::ptx
