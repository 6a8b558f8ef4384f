// SPDX-License-Identifier: Apache-2.0
// Vector float instructions on every generation that has them, against the host's arithmetic: f16 over exact
// wider sums and products with one rounding, f32 and f64 over the host's IEEE operations. NaNs are equal to
// NaNs.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/emu/amd/exact/bench.h"
#include "tests/emu/amd/exact/host_float.h"

namespace understudy::emu::amd::exact {
namespace {

float A(const Lane& l) { return F32(l.v[0]); }
float B(const Lane& l) { return F32(l.v[2]); }
float C(const Lane& l) { return F32(l.v[4]); }
double Da(const Lane& l) { return F64(l.Wide(0)); }
double Db(const Lane& l) { return F64(l.Wide(2)); }
double Ha(const Lane& l) { return F16(l.v[0] & 0xffff); }
double Hb(const Lane& l) { return F16(l.v[2] & 0xffff); }
double Hc(const Lane& l) { return F16(l.v[4] & 0xffff); }
double Half(uint32_t word, int i) { return F16(word >> (16 * i) & 0xffff); }
void Put(Lane& l, float f) { l.d[0] = Bits(f); }
void Put(Lane& l, double f) { l.PutWide(Bits(f)); }
// CDNA's instructions that gfx9 did not add with op_sel clear the other half.
void PutOldHalf(Lane& l, Quad x) { l.PutHalf(ToF16(x), IsCdna(l.isa)); }
void PutNewHalf(Lane& l, Quad x) { l.PutHalf(ToF16(x), false); }

// minNum and maxNum: a number rather than a NaN, and -0 below +0.
template <class T>
T Min(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
  return a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
}
template <class T>
T Max(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
  return a == b ? (std::signbit(a) ? b : a) : a < b ? b : a;
}
// minimum and maximum of IEEE 754-2019: a NaN if there is one.
template <class T>
T Minimum(T a, T b) {
  return std::isnan(a) || std::isnan(b) ? static_cast<T>(NAN) : Min(a, b);
}
template <class T>
T Maximum(T a, T b) {
  return std::isnan(a) || std::isnan(b) ? static_cast<T>(NAN) : Max(a, b);
}
template <class T>
T Median(T a, T b, T c) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c)) return Min(Min(a, b), c);
  const T greatest = Max(Max(a, b), c);  // the other two's maximum; +0 and -0 are equal
  return greatest == a ? Max(b, c) : greatest == b ? Max(a, c) : Max(a, b);
}

// Saturating conversion toward zero; NaN gives 0.
int64_t ToInt(double x, int64_t low, int64_t high) {
  if (std::isnan(x)) return 0;
  return x <= static_cast<double>(low)    ? low
         : x >= static_cast<double>(high) ? high
                                          : static_cast<int64_t>(x);
}
uint32_t Pair(int64_t low, int64_t high) {
  return (static_cast<uint32_t>(low) & 0xffff) | static_cast<uint32_t>(high) << 16;
}
// A number of [-1, 1] ([0, 1]) as a fraction of 32767 (65535), to nearest even.
int64_t Snorm(double x) { return std::isnan(x) ? 0 : std::llrint(std::clamp(x, -1.0, 1.0) * 32767); }
int64_t Unorm(double x) { return std::isnan(x) ? 0 : std::llrint(std::clamp(x, 0.0, 1.0) * 65535); }

// DX9: zero times anything is +0.
float MulZero(float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; }
float FmaZero(float a, float b, float c) { return a == 0 || b == 0 ? c : std::fma(a, b, c); }
// CDNA's MAD and MAC: two roundings, denormals become zeros of their sign before and after each.
float Flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
// Exponentials and logarithms of f32 know no denormals.
float Exp2(float x) { return Flush(static_cast<float>(std::exp2(double{x}))); }
float Log2(float x) { return static_cast<float>(std::log2(double{Flush(x)})); }
float Mad(float a, float b, float c) { return Flush(Flush(Flush(a) * Flush(b)) + Flush(c)); }
float MadZero(float a, float b, float c) { return Flush(Flush(MulZero(Flush(a), Flush(b))) + Flush(c)); }
uint32_t FlushHalf(uint32_t bits) { return (bits & 0x7c00) == 0 ? bits & 0x8000 : bits; }
uint32_t MadHalf(uint32_t a, uint32_t b, uint32_t c) {
  const double product = F16(FlushHalf(a & 0xffff)) * F16(FlushHalf(b & 0xffff));
  return FlushHalf(ToF16(F16(FlushHalf(ToF16(product))) + F16(FlushHalf(c & 0xffff))));
}

void Packed(Lane& l, Quad (*f)(double a, double b, double c), uint32_t c) {
  l.d[0] = ToF16(f(Half(l.v[0], 0), Half(l.v[2], 0), Half(c, 0))) |
           ToF16(f(Half(l.v[0], 1), Half(l.v[2], 1), Half(c, 1))) << 16;
}

// The last step of a division: special cases of denominator (source 1) and numerator (source 2).
uint32_t DivFixupHalf(uint32_t q, uint32_t d, uint32_t n) {
  const uint32_t sign = (d ^ n) & 0x8000, d_abs = d & 0x7fff, n_abs = n & 0x7fff;
  if (IsNan16(n) || IsNan16(d)) return 0x7e00;
  if ((d_abs == 0 && n_abs == 0) || (d_abs == 0x7c00 && n_abs == 0x7c00)) return 0xfe00;
  if (d_abs == 0 || n_abs == 0x7c00) return sign | 0x7c00;
  if (d_abs == 0x7c00 || n_abs == 0) return sign;
  return IsNan16(q) ? q : sign | (q & 0x7fff);
}

// Which face of a cube: +x, -x, +y, -y, +z, -z.
int CubeFace(float x, float y, float z) {
  if (std::fabs(z) >= std::fabs(x) && std::fabs(z) >= std::fabs(y)) return z < 0 ? 5 : 4;
  if (std::fabs(y) >= std::fabs(x)) return y < 0 ? 3 : 2;
  return x < 0 ? 1 : 0;
}

struct Cube {
  float sc, tc, ma;
};
Cube CubeOf(float x, float y, float z) {
  switch (CubeFace(x, y, z)) {
    case 0:
      return {-z, -y, 2 * x};
    case 1:
      return {z, -y, 2 * x};
    case 2:
      return {x, z, 2 * y};
    case 3:
      return {x, -z, 2 * y};
    case 4:
      return {x, -y, 2 * z};
    default:
      return {-x, -y, 2 * z};
  }
}

// Of turns: the angle is 2 pi x. Whole and half turns are taken off exactly, so that the zeros are zeros.
double SinTurns(double x) {
  long double r = static_cast<long double>(x) - std::rint(x);
  if (std::fabs(r) > 0.25L) r = std::copysign(0.5L, r) - r;
  return static_cast<double>(std::sin(2 * M_PIl * r));
}
double CosTurns(double x) {
  const long double r = std::fabs(static_cast<long double>(x) - std::rint(x));
  return static_cast<double>(std::sin(2 * M_PIl * (0.25L - r)));
}
// Below 1, also where the difference rounds to it (LLVM makes V_FRACT of that minimum).
template <class T>
T Fract(T x, T below_one) {
  const T difference = x - std::floor(x);
  return difference > below_one ? below_one : difference;
}

uint32_t ToBf16(float f) {
  const uint32_t bits = Bits(f);
  return IsNan32(bits) ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// clang-format off: a row an instruction.
const Op kOps[] = {
    {"V_ADD_F32", [](Lane& l) { Put(l, A(l) + B(l)); }, Same::kF32},
    {"V_SUB_F32", [](Lane& l) { Put(l, A(l) - B(l)); }, Same::kF32},
    {"V_SUBREV_F32", [](Lane& l) { Put(l, B(l) - A(l)); }, Same::kF32},
    {"V_MUL_F32", [](Lane& l) { Put(l, A(l) * B(l)); }, Same::kF32},
    {"V_MUL_DX9_ZERO_F32", [](Lane& l) { Put(l, MulZero(A(l), B(l))); }, Same::kF32},
    {"V_MUL_LEGACY_F32", [](Lane& l) { Put(l, MulZero(A(l), B(l))); }, Same::kF32},
    {"V_FMAC_F32", [](Lane& l) { Put(l, std::fma(A(l), B(l), F32(l.d[0]))); }, Same::kF32},
    {"V_FMAC_DX9_ZERO_F32", [](Lane& l) { Put(l, FmaZero(A(l), B(l), F32(l.d[0]))); }, Same::kF32},
    {"V_FMA_DX9_ZERO_F32", [](Lane& l) { Put(l, FmaZero(A(l), B(l), C(l))); }, Same::kF32},
    {"V_FMA_F32", [](Lane& l) { Put(l, std::fma(A(l), B(l), C(l))); }, Same::kF32},
    {"V_FMAAK_F32", [](Lane& l) { Put(l, std::fma(A(l), B(l), 3.5f)); }, Same::kF32, "v12, v4, v6, 0x40600000"},
    {"V_FMAMK_F32", [](Lane& l) { Put(l, std::fma(A(l), 3.5f, B(l))); }, Same::kF32, "v12, v4, 0x40600000, v6"},
    {"V_MAD_F32", [](Lane& l) { Put(l, Mad(A(l), B(l), C(l))); }, Same::kF32},
    {"V_MAC_F32", [](Lane& l) { Put(l, Mad(A(l), B(l), F32(l.d[0]))); }, Same::kF32},
    {"V_MAD_LEGACY_F32", [](Lane& l) { Put(l, MadZero(A(l), B(l), C(l))); }, Same::kF32},
    {"V_MADAK_F32", [](Lane& l) { Put(l, Mad(A(l), B(l), 3.5f)); }, Same::kF32, "v12, v4, v6, 0x40600000"},
    {"V_MADMK_F32", [](Lane& l) { Put(l, Mad(A(l), 3.5f, B(l))); }, Same::kF32, "v12, v4, 0x40600000, v6"},
    {"V_MIN_F32", [](Lane& l) { Put(l, Min(A(l), B(l))); }, Same::kF32},
    {"V_MAX_F32", [](Lane& l) { Put(l, Max(A(l), B(l))); }, Same::kF32},
    {"V_MIN_NUM_F32", [](Lane& l) { Put(l, Min(A(l), B(l))); }, Same::kF32},
    {"V_MAX_NUM_F32", [](Lane& l) { Put(l, Max(A(l), B(l))); }, Same::kF32},
    {"V_MINIMUM_F32", [](Lane& l) { Put(l, Minimum(A(l), B(l))); }, Same::kF32},
    {"V_MAXIMUM_F32", [](Lane& l) { Put(l, Maximum(A(l), B(l))); }, Same::kF32},
    {"V_MIN3_F32", [](Lane& l) { Put(l, Min(Min(A(l), B(l)), C(l))); }, Same::kF32},
    {"V_MAX3_F32", [](Lane& l) { Put(l, Max(Max(A(l), B(l)), C(l))); }, Same::kF32},
    {"V_MED3_F32", [](Lane& l) { Put(l, Median(A(l), B(l), C(l))); }, Same::kF32},
    {"V_MIN3_NUM_F32", [](Lane& l) { Put(l, Min(Min(A(l), B(l)), C(l))); }, Same::kF32},
    {"V_MAX3_NUM_F32", [](Lane& l) { Put(l, Max(Max(A(l), B(l)), C(l))); }, Same::kF32},
    {"V_MINIMUM3_F32", [](Lane& l) { Put(l, Minimum(Minimum(A(l), B(l)), C(l))); }, Same::kF32},
    {"V_MAXIMUM3_F32", [](Lane& l) { Put(l, Maximum(Maximum(A(l), B(l)), C(l))); }, Same::kF32},
    {"V_MINMAX_F32", [](Lane& l) { Put(l, Max(Min(A(l), B(l)), C(l))); }, Same::kF32},
    {"V_MAXMIN_F32", [](Lane& l) { Put(l, Min(Max(A(l), B(l)), C(l))); }, Same::kF32},
    {"V_MINMAX_NUM_F32", [](Lane& l) { Put(l, Max(Min(A(l), B(l)), C(l))); }, Same::kF32},
    {"V_MAXMIN_NUM_F32", [](Lane& l) { Put(l, Min(Max(A(l), B(l)), C(l))); }, Same::kF32},
    {"V_CUBEID_F32", [](Lane& l) { Put(l, static_cast<float>(CubeFace(A(l), B(l), C(l)))); }, Same::kF32},
    {"V_CUBESC_F32", [](Lane& l) { Put(l, CubeOf(A(l), B(l), C(l)).sc); }, Same::kF32},
    {"V_CUBETC_F32", [](Lane& l) { Put(l, CubeOf(A(l), B(l), C(l)).tc); }, Same::kF32},
    {"V_CUBEMA_F32", [](Lane& l) { Put(l, CubeOf(A(l), B(l), C(l)).ma); }, Same::kF32},
    {"V_MULLIT_F32", [](Lane& l) { Put(l, B(l) > -__FLT_MAX__ && C(l) > 0 ? MulZero(A(l), B(l)) : -__FLT_MAX__); }, Same::kF32},
    {"V_FRACT_F32", [](Lane& l) { Put(l, Fract(A(l), 0x1.fffffep-1f)); }, Same::kF32},
    {"V_SIN_F32", [](Lane& l) { Put(l, static_cast<float>(SinTurns(A(l)))); }, Same::kF32, nullptr, 1},
    {"V_COS_F32", [](Lane& l) { Put(l, static_cast<float>(CosTurns(A(l)))); }, Same::kF32, nullptr, 1},
    {"V_FLOOR_F32", [](Lane& l) { Put(l, std::floor(A(l))); }, Same::kF32},
    {"V_CEIL_F32", [](Lane& l) { Put(l, std::ceil(A(l))); }, Same::kF32},
    {"V_TRUNC_F32", [](Lane& l) { Put(l, std::trunc(A(l))); }, Same::kF32},
    {"V_RNDNE_F32", [](Lane& l) { Put(l, std::nearbyint(A(l))); }, Same::kF32},
    {"V_CVT_NEAREST_I32_F32", [](Lane& l) { l.d[0] = static_cast<uint32_t>(ToInt(std::floor(double{A(l)} + 0.5), INT32_MIN, INT32_MAX)); }},
    {"V_CVT_RPI_I32_F32", [](Lane& l) { l.d[0] = static_cast<uint32_t>(ToInt(std::floor(double{A(l)} + 0.5), INT32_MIN, INT32_MAX)); }},
    {"V_CVT_FLOOR_I32_F32", [](Lane& l) { l.d[0] = static_cast<uint32_t>(ToInt(std::floor(A(l)), INT32_MIN, INT32_MAX)); }},
    {"V_CVT_FLR_I32_F32", [](Lane& l) { l.d[0] = static_cast<uint32_t>(ToInt(std::floor(A(l)), INT32_MIN, INT32_MAX)); }},
    {"V_CVT_F32_UBYTE0", [](Lane& l) { Put(l, static_cast<float>(l.v[0] & 0xff)); }},
    {"V_CVT_F32_UBYTE1", [](Lane& l) { Put(l, static_cast<float>(l.v[0] >> 8 & 0xff)); }},
    {"V_CVT_F32_UBYTE2", [](Lane& l) { Put(l, static_cast<float>(l.v[0] >> 16 & 0xff)); }},
    {"V_CVT_F32_UBYTE3", [](Lane& l) { Put(l, static_cast<float>(l.v[0] >> 24)); }},
    {"V_CVT_OFF_F32_I4", [](Lane& l) { Put(l, static_cast<float>(static_cast<int>((l.v[0] & 15) ^ 8) - 8) / 16); }},
    {"V_CVT_PK_U8_F32", [](Lane& l) { const int at = 8 * (l.v[2] & 3); l.d[0] = (l.v[4] & ~(0xffu << at)) | static_cast<uint32_t>(ToInt(A(l), 0, 255)) << at; }},
    {"V_CVT_PKACCUM_U8_F32", [](Lane& l) { const int at = 8 * (l.v[2] & 3); l.d[0] = (l.d[0] & ~(0xffu << at)) | static_cast<uint32_t>(ToInt(A(l), 0, 255)) << at; }},
    {"V_CVT_PK_I16_F32", [](Lane& l) { l.d[0] = Pair(ToInt(A(l), INT16_MIN, INT16_MAX), ToInt(B(l), INT16_MIN, INT16_MAX)); }},
    {"V_CVT_PK_U16_F32", [](Lane& l) { l.d[0] = Pair(ToInt(A(l), 0, UINT16_MAX), ToInt(B(l), 0, UINT16_MAX)); }},
    {"V_CVT_PKNORM_I16_F32", [](Lane& l) { l.d[0] = Pair(Snorm(A(l)), Snorm(B(l))); }},
    {"V_CVT_PKNORM_U16_F32", [](Lane& l) { l.d[0] = Pair(Unorm(A(l)), Unorm(B(l))); }},
    {"V_CVT_PKNORM_I16_F16", [](Lane& l) { l.d[0] = Pair(Snorm(Ha(l)), Snorm(Hb(l))); }},
    {"V_CVT_PKNORM_U16_F16", [](Lane& l) { l.d[0] = Pair(Unorm(Ha(l)), Unorm(Hb(l))); }},
    {"V_CVT_PK_NORM_I16_F32", [](Lane& l) { l.d[0] = Pair(Snorm(A(l)), Snorm(B(l))); }},
    {"V_CVT_PK_NORM_U16_F32", [](Lane& l) { l.d[0] = Pair(Unorm(A(l)), Unorm(B(l))); }},
    {"V_CVT_PK_NORM_I16_F16", [](Lane& l) { l.d[0] = Pair(Snorm(Ha(l)), Snorm(Hb(l))); }},
    {"V_CVT_PK_NORM_U16_F16", [](Lane& l) { l.d[0] = Pair(Unorm(Ha(l)), Unorm(Hb(l))); }},
    {"V_CVT_NORM_I16_F16", [](Lane& l) { l.PutHalf(static_cast<uint32_t>(Snorm(Ha(l))), IsCdna(l.isa)); }},
    {"V_CVT_NORM_U16_F16", [](Lane& l) { l.PutHalf(static_cast<uint32_t>(Unorm(Ha(l))), IsCdna(l.isa)); }},
    {"V_CVT_PKRTZ_F16_F32", [](Lane& l) { l.d[0] = Pair(ToF16(A(l), Toward::kZero), ToF16(B(l), Toward::kZero)); }, Same::kPkF16},
    {"V_CVT_PK_RTZ_F16_F32", [](Lane& l) { l.d[0] = Pair(ToF16(A(l), Toward::kZero), ToF16(B(l), Toward::kZero)); }, Same::kPkF16},

    {"V_ADD_F64", [](Lane& l) { Put(l, Da(l) + Db(l)); }, Same::kF64},
    {"V_MUL_F64", [](Lane& l) { Put(l, Da(l) * Db(l)); }, Same::kF64},
    {"V_MIN_F64", [](Lane& l) { Put(l, Min(Da(l), Db(l))); }, Same::kF64},
    {"V_MAX_F64", [](Lane& l) { Put(l, Max(Da(l), Db(l))); }, Same::kF64},
    {"V_MIN_NUM_F64", [](Lane& l) { Put(l, Min(Da(l), Db(l))); }, Same::kF64},
    {"V_MAX_NUM_F64", [](Lane& l) { Put(l, Max(Da(l), Db(l))); }, Same::kF64},
    {"V_MINIMUM_F64", [](Lane& l) { Put(l, Minimum(Da(l), Db(l))); }, Same::kF64},
    {"V_MAXIMUM_F64", [](Lane& l) { Put(l, Maximum(Da(l), Db(l))); }, Same::kF64},
    {"V_FMA_F64", [](Lane& l) { Put(l, std::fma(Da(l), Db(l), F64(l.Wide(4)))); }, Same::kF64},
    {"V_FMAC_F64", [](Lane& l) { Put(l, std::fma(Da(l), Db(l), F64(l.WideD()))); }, Same::kF64},
    {"V_FRACT_F64", [](Lane& l) { Put(l, Fract(Da(l), 0x1.fffffffffffffp-1)); }, Same::kF64},
    {"V_FLOOR_F64", [](Lane& l) { Put(l, std::floor(Da(l))); }, Same::kF64},
    {"V_CEIL_F64", [](Lane& l) { Put(l, std::ceil(Da(l))); }, Same::kF64},
    {"V_TRUNC_F64", [](Lane& l) { Put(l, std::trunc(Da(l))); }, Same::kF64},
    {"V_RNDNE_F64", [](Lane& l) { Put(l, std::nearbyint(Da(l))); }, Same::kF64},
    // The nearest value or one next to it; a card may be off by 2^29.
    {"V_SQRT_F64", [](Lane& l) { Put(l, std::sqrt(Da(l))); }, Same::kF64, nullptr, 1},

    {"V_ADD_F16", [](Lane& l) { PutOldHalf(l, Ha(l) + Hb(l)); }, Same::kF16},
    {"V_SUB_F16", [](Lane& l) { PutOldHalf(l, Ha(l) - Hb(l)); }, Same::kF16},
    {"V_SUBREV_F16", [](Lane& l) { PutOldHalf(l, Hb(l) - Ha(l)); }, Same::kF16},
    {"V_MUL_F16", [](Lane& l) { PutOldHalf(l, Ha(l) * Hb(l)); }, Same::kF16},
    {"V_MIN_F16", [](Lane& l) { PutOldHalf(l, Min(Ha(l), Hb(l))); }, Same::kF16},
    {"V_MAX_F16", [](Lane& l) { PutOldHalf(l, Max(Ha(l), Hb(l))); }, Same::kF16},
    {"V_MIN_NUM_F16", [](Lane& l) { PutOldHalf(l, Min(Ha(l), Hb(l))); }, Same::kF16},
    {"V_MAX_NUM_F16", [](Lane& l) { PutOldHalf(l, Max(Ha(l), Hb(l))); }, Same::kF16},
    {"V_FMAC_F16", [](Lane& l) { PutNewHalf(l, Quad{Ha(l)} * Hb(l) + F16(l.d[0] & 0xffff)); }, Same::kF16},
    {"V_FMA_F16", [](Lane& l) { PutNewHalf(l, Quad{Ha(l)} * Hb(l) + Hc(l)); }, Same::kF16},
    {"V_FMA_LEGACY_F16", [](Lane& l) { PutOldHalf(l, Quad{Ha(l)} * Hb(l) + Hc(l)); }, Same::kF16},
    {"V_FMAAK_F16", [](Lane& l) { PutNewHalf(l, Quad{Ha(l)} * Hb(l) + 3.5); }, Same::kF16, "v12.l, v4.l, v6.l, 0x4300"},
    {"V_FMAMK_F16", [](Lane& l) { PutNewHalf(l, Quad{Ha(l)} * 3.5 + Hb(l)); }, Same::kF16, "v12.l, v4.l, 0x4300, v6.l"},
    {"V_MAD_F16", [](Lane& l) { l.PutHalf(MadHalf(l.v[0], l.v[2], l.v[4]), false); }, Same::kF16},
    {"V_MAD_LEGACY_F16", [](Lane& l) { l.PutHalf(MadHalf(l.v[0], l.v[2], l.v[4]), true); }, Same::kF16},
    {"V_MAC_F16", [](Lane& l) { l.PutHalf(MadHalf(l.v[0], l.v[2], l.d[0]), true); }, Same::kF16},
    {"V_MADAK_F16", [](Lane& l) { l.PutHalf(MadHalf(l.v[0], l.v[2], 0x4300), true); }, Same::kF16, "v12, v4, v6, 0x4300"},
    {"V_MADMK_F16", [](Lane& l) { l.PutHalf(MadHalf(l.v[0], 0x4300, l.v[2]), true); }, Same::kF16, "v12, v4, 0x4300, v6"},
    {"V_MIN3_F16", [](Lane& l) { PutNewHalf(l, Min(Min(Ha(l), Hb(l)), Hc(l))); }, Same::kF16},
    {"V_MAX3_F16", [](Lane& l) { PutNewHalf(l, Max(Max(Ha(l), Hb(l)), Hc(l))); }, Same::kF16},
    {"V_MED3_F16", [](Lane& l) { PutNewHalf(l, Median(Ha(l), Hb(l), Hc(l))); }, Same::kF16},
    {"V_MINMAX_F16", [](Lane& l) { PutNewHalf(l, Max(Min(Ha(l), Hb(l)), Hc(l))); }, Same::kF16},
    {"V_MAXMIN_F16", [](Lane& l) { PutNewHalf(l, Min(Max(Ha(l), Hb(l)), Hc(l))); }, Same::kF16},
    {"V_FRACT_F16", [](Lane& l) { PutOldHalf(l, Fract(Ha(l), 0x1.ffcp-1)); }, Same::kF16},
    {"V_SIN_F16", [](Lane& l) { PutOldHalf(l, SinTurns(Ha(l))); }, Same::kF16, nullptr, 1},
    {"V_COS_F16", [](Lane& l) { PutOldHalf(l, CosTurns(Ha(l))); }, Same::kF16, nullptr, 1},
    {"V_LDEXP_F16", [](Lane& l) { PutOldHalf(l, std::ldexp(Ha(l), std::clamp<int>(static_cast<int16_t>(l.v[2]), -100, 100))); }, Same::kF16},
    {"V_FREXP_MANT_F16", [](Lane& l) { int e; PutOldHalf(l, std::isfinite(Ha(l)) ? std::frexp(Ha(l), &e) : Ha(l)); }, Same::kF16},
    {"V_FREXP_EXP_I16_F16", [](Lane& l) { int e = 0; if (std::isfinite(Ha(l))) std::frexp(Ha(l), &e); l.PutHalf(static_cast<uint32_t>(e), IsCdna(l.isa)); }},
    {"V_DOT2_F16_F16", [](Lane& l) { PutNewHalf(l, Quad{Half(l.v[0], 1)} * Half(l.v[2], 1) + F16(ToF16(Quad{Half(l.v[0], 0)} * Half(l.v[2], 0) + Hc(l)))); }, Same::kF16},
    {"V_DOT2_BF16_BF16", [](Lane& l) { const float low = Bf16(ToBf16(std::fma(Bf16(l.v[0] & 0xffff), Bf16(l.v[2] & 0xffff), Bf16(l.v[4] & 0xffff)))); l.PutHalf(ToBf16(std::fma(Bf16(l.v[0] >> 16), Bf16(l.v[2] >> 16), low)), false); }, Same::kBf16, "v12.l, v4, v6, v8.l"},
    {"V_FLOOR_F16", [](Lane& l) { PutOldHalf(l, std::floor(Ha(l))); }, Same::kF16},
    {"V_CEIL_F16", [](Lane& l) { PutOldHalf(l, std::ceil(Ha(l))); }, Same::kF16},
    {"V_TRUNC_F16", [](Lane& l) { PutOldHalf(l, std::trunc(Ha(l))); }, Same::kF16},
    {"V_RNDNE_F16", [](Lane& l) { PutOldHalf(l, std::nearbyint(Ha(l))); }, Same::kF16},
    {"V_RCP_F16", [](Lane& l) { PutOldHalf(l, 1 / Ha(l)); }, Same::kF16, nullptr, 1},
    {"V_RSQ_F16", [](Lane& l) { PutOldHalf(l, 1 / std::sqrt(Ha(l))); }, Same::kF16, nullptr, 1},
    {"V_SQRT_F16", [](Lane& l) { PutOldHalf(l, std::sqrt(Ha(l))); }, Same::kF16, nullptr, 1},
    {"V_EXP_F16", [](Lane& l) { PutOldHalf(l, std::exp2(Ha(l))); }, Same::kF16, nullptr, 1},
    {"V_LOG_F16", [](Lane& l) { PutOldHalf(l, std::log2(Ha(l))); }, Same::kF16, nullptr, 1},
    {"V_DIV_FIXUP_F16", [](Lane& l) { l.PutHalf(DivFixupHalf(l.v[0] & 0xffff, l.v[2] & 0xffff, l.v[4] & 0xffff), false); }, Same::kF16},
    {"V_DIV_FIXUP_LEGACY_F16", [](Lane& l) { l.PutHalf(DivFixupHalf(l.v[0] & 0xffff, l.v[2] & 0xffff, l.v[4] & 0xffff), true); }, Same::kF16},
    {"V_EXP_LEGACY_F32", [](Lane& l) { Put(l, Exp2(A(l))); }, Same::kF32, nullptr, 1},
    {"V_LOG_LEGACY_F32", [](Lane& l) { Put(l, Log2(A(l))); }, Same::kF32, nullptr, 1},
    {"V_EXP_F32", [](Lane& l) { Put(l, Exp2(A(l))); }, Same::kF32, nullptr, 1},
    {"V_LOG_F32", [](Lane& l) { Put(l, Log2(A(l))); }, Same::kF32, nullptr, 1},

    {"V_PK_ADD_F16", [](Lane& l) { Packed(l, [](double a, double b, double) -> Quad { return a + b; }, 0); }, Same::kPkF16},
    {"V_PK_MUL_F16", [](Lane& l) { Packed(l, [](double a, double b, double) -> Quad { return a * b; }, 0); }, Same::kPkF16},
    {"V_PK_MIN_F16", [](Lane& l) { Packed(l, [](double a, double b, double) -> Quad { return Min(a, b); }, 0); }, Same::kPkF16},
    {"V_PK_MAX_F16", [](Lane& l) { Packed(l, [](double a, double b, double) -> Quad { return Max(a, b); }, 0); }, Same::kPkF16},
    {"V_PK_MIN_NUM_F16", [](Lane& l) { Packed(l, [](double a, double b, double) -> Quad { return Min(a, b); }, 0); }, Same::kPkF16},
    {"V_PK_MAX_NUM_F16", [](Lane& l) { Packed(l, [](double a, double b, double) -> Quad { return Max(a, b); }, 0); }, Same::kPkF16},
    {"V_PK_MINIMUM_F16", [](Lane& l) { Packed(l, [](double a, double b, double) -> Quad { return Minimum(a, b); }, 0); }, Same::kPkF16},
    {"V_PK_MAXIMUM_F16", [](Lane& l) { Packed(l, [](double a, double b, double) -> Quad { return Maximum(a, b); }, 0); }, Same::kPkF16},
    {"V_PK_MINIMUM3_F16", [](Lane& l) { Packed(l, [](double a, double b, double c) -> Quad { return Minimum(Minimum(a, b), c); }, l.v[4]); }, Same::kPkF16},
    {"V_PK_MAXIMUM3_F16", [](Lane& l) { Packed(l, [](double a, double b, double c) -> Quad { return Maximum(Maximum(a, b), c); }, l.v[4]); }, Same::kPkF16},
    {"V_PK_FMA_F16", [](Lane& l) { Packed(l, [](double a, double b, double c) -> Quad { return Quad{a} * b + c; }, l.v[4]); }, Same::kPkF16},
    {"V_PK_FMAC_F16", [](Lane& l) { Packed(l, [](double a, double b, double c) -> Quad { return Quad{a} * b + c; }, l.d[0]); }, Same::kPkF16},

    // Source 0 is f32, source 1 the low and source 2 the high half of an f16 pair.
    {"V_FMA_MIX_F32", [](Lane& l) { Put(l, std::fma(A(l), static_cast<float>(Half(l.v[2], 0)), static_cast<float>(Half(l.v[4], 1)))); }, Same::kF32, "v12, v4, v6, v8 op_sel:[0,0,1] op_sel_hi:[0,1,1]"},
    {"V_FMA_MIXLO_F16", [](Lane& l) { PutNewHalf(l, Quad{A(l)} * Half(l.v[2], 0) + Half(l.v[4], 1)); }, Same::kF16, "v12, v4, v6, v8 op_sel:[0,0,1] op_sel_hi:[0,1,1]"},
    {"V_FMA_MIXHI_F16", [](Lane& l) { l.d[0] = (l.d[0] & 0xffff) | ToF16(Quad{A(l)} * Half(l.v[2], 0) + Half(l.v[4], 1)) << 16; }, Same::kPkF16, "v12, v4, v6, v8 op_sel:[0,0,1] op_sel_hi:[0,1,1]"},
};
// clang-format on

class VectorFloat : public testing::TestWithParam<Isa> {};

TEST_P(VectorFloat, AgreesWithTheHost) {
  for (const int wave_size : WaveSizes(GetParam())) {
    Bench bench(GetParam(), wave_size);
    int cases = 0;
    for (const Op& op : kOps) cases += bench.Add(op);
    EXPECT_GT(cases, 100);
    bench.Run(60);
    if (HasFatalFailure()) return;
  }
}

TEST(VectorFloatTable, EveryRowIsAnInstructionOfSomeGeneration) {
  for (const Op& op : kOps) {
    bool found = false;
    for (const Isa isa : kAllIsas) found |= Bench(isa, 64).Add(op) > 0;
    EXPECT_TRUE(found) << op.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Generations, VectorFloat, testing::ValuesIn(kAllIsas),
                         [](const auto& info) { return std::string(IsaTarget(info.param)); });

}  // namespace
}  // namespace understudy::emu::amd::exact
