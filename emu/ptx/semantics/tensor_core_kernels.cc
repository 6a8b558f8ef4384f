// SPDX-License-Identifier: Apache-2.0
// Sums of aligned products, eight columns at a time. Every product is the integer sig_a * sig_b in units of
// 2^(exp_a + exp_b - 25).
#include "emu/ptx/semantics/tensor_core_kernels.h"

#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifndef US_SEMANTICS_ARCH
#error "tensor core kernels are compiled for a named host instruction set"
#endif
#define US_TENSOR_JOIN_(a, b) a##b
#define US_TENSOR_JOIN(a, b) US_TENSOR_JOIN_(a, b)
#define US_TENSOR_STRING_(a) #a
#define US_TENSOR_STRING(a) US_TENSOR_STRING_(a)
#define US_VEC [[gnu::always_inline]] inline

namespace understudy::emu::ptx {
namespace {

constexpr int kWidth = 8;
typedef int32_t Ints __attribute__((vector_size(32)));
typedef uint32_t Words __attribute__((vector_size(32)));
typedef float Floats __attribute__((vector_size(32)));
typedef int32_t HalfInts __attribute__((vector_size(16)));
typedef double Doubles __attribute__((vector_size(32)));
typedef int64_t Longs __attribute__((vector_size(32)));

template <class V, class T>
US_VEC V Load(const T* from) {
  V v;
  std::memcpy(&v, from, sizeof(V));
  return v;
}
template <class V, class T>
US_VEC void Store(T* to, V v) {
  std::memcpy(to, &v, sizeof(V));
}
template <class To, class From>
US_VEC To Cast(From v) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &v, sizeof(To));
  return to;
}
US_VEC Ints Max(Ints a, Ints b) { return a > b ? a : b; }

// Products of signed 16-bit values; the upper halves of a and b are zero.
US_VEC Ints Multiply16(Ints a, Ints b) {
#ifdef __AVX2__
  return Cast<Ints>(_mm256_madd_epi16(Cast<__m256i>(a), Cast<__m256i>(b)));
#else
  return ((a << 16) >> 16) * ((b << 16) >> 16);
#endif
}

// True where any lane of a mask is set.
US_VEC bool AnyLane(Ints mask) {
#ifdef __AVX2__
  return _mm256_testz_si256(Cast<__m256i>(mask), Cast<__m256i>(mask)) == 0;
#else
  return (mask[0] | mask[1] | mask[2] | mask[3] | mask[4] | mask[5] | mask[6] | mask[7]) != 0;
#endif
}

// |v| >> count, with v's sign: cut toward zero. Counts are not negative.
US_VEC Ints CutDown(Ints v, Ints count) {
#ifdef __AVX2__
  const __m256i x = Cast<__m256i>(v);
  return Cast<Ints>(_mm256_sign_epi32(_mm256_srlv_epi32(_mm256_abs_epi32(x), Cast<__m256i>(count)), x));
#else
  const Ints sign = v >> 31;
  const Words magnitude = Cast<Words>((v ^ sign) - sign) >> Cast<Words>(count > 31 ? Ints{} + 31 : count);
  return (Cast<Ints>(magnitude) ^ sign) - sign;
#endif
}

US_VEC Doubles LowDoubles(Ints v) {
  return __builtin_convertvector(__builtin_shufflevector(v, v, 0, 1, 2, 3), Doubles);
}
US_VEC Doubles HighDoubles(Ints v) {
  return __builtin_convertvector(__builtin_shufflevector(v, v, 4, 5, 6, 7), Doubles);
}
US_VEC Doubles PowerOfTwo(HalfInts n) {
  return Cast<Doubles>((__builtin_convertvector(n, Longs) + 1023) << 52);
}

// 2^n as f32 for -126 <= n <= 127.
US_VEC Floats SinglePower(Ints n) { return Cast<Floats>((n + 127) << 23); }

// An accumulator: 24-bit significand, signed, in units of 2^(exponent - 23).
struct Accumulator {
  Ints sig, exp;
};
template <bool kHalf>
US_VEC Accumulator TakeApart(Ints bits) {
  constexpr int kFraction = kHalf ? 10 : 23, kBias = kHalf ? 15 : 127, kTop = kHalf ? 31 : 255;
  const Ints field = (bits >> kFraction) & kTop;
  Ints sig = bits & ((1 << kFraction) - 1);
  sig = (field == 0 ? sig : sig | (1 << kFraction)) << (23 - kFraction);
  const Ints exp = sig == 0 ? Ints{} + kZeroExponent : Max(field, Ints{} + 1) - kBias;
  const Ints negative = kHalf ? (bits << 16) < 0 : bits < 0;
  return {negative ? -sig : sig, exp};
}

typedef float HalfFloats __attribute__((vector_size(16)));

// To f32, cut toward zero after `result_bits` bits of fraction. Values are normal numbers.
US_VEC Floats CutToSingles(Doubles low, Doubles high, int result_bits) {
  const int64_t cut = ~((int64_t{1} << (52 - result_bits)) - 1);
  const Doubles x = Cast<Doubles>(Cast<Longs>(low) & cut), y = Cast<Doubles>(Cast<Longs>(high) & cut);
  return __builtin_shufflevector(__builtin_convertvector(x, HalfFloats),
                                 __builtin_convertvector(y, HalfFloats), 0, 1, 2, 3, 4, 5, 6, 7);
}
// Below the least normal number the unit of the last place is fixed.
void StoreDenormals(Doubles low, Doubles high, int result_bits, uint32_t* d) {
  double values[kWidth];
  Store(values, low);
  Store(values + 4, high);
  const double scale = 0x1p126 * static_cast<double>(int64_t{1} << result_bits);
  for (int i = 0; i < kWidth; ++i) {
    const double magnitude = values[i] < 0 ? -values[i] : values[i];
    if (!(magnitude < 0x1p-126) || magnitude == 0) continue;
    const uint32_t units = static_cast<uint32_t>(magnitude * scale) << (23 - result_bits);
    d[i] = units == 0 ? 0 : units | (values[i] < 0 ? 0x80000000u : 0);
  }
}

// To f32 of 24 bits, rounded to odd, so that a second rounding is the only one that counts.
US_VEC Floats OddSingles(Doubles low, Doubles high) {
  const auto to_odd = [](Doubles v) {
    const Longs bits = Cast<Longs>(v);
    constexpr int64_t kTail = (int64_t{1} << 29) - 1;
    const Longs sticky = (bits & kTail) != 0 ? Longs{} + (int64_t{1} << 29) : Longs{};
    return __builtin_convertvector(Cast<Doubles>((bits & ~kTail) | sticky), HalfFloats);
  };
  return __builtin_shufflevector(to_odd(low), to_odd(high), 0, 1, 2, 3, 4, 5, 6, 7);
}
// To f16, rounded to nearest even.
US_VEC void StoreHalves(Floats v, uint32_t* d) {
  const Ints sign = (Cast<Ints>(v) >> 16) & 0x8000;
  const Ints magnitude = Cast<Ints>(v) & INT32_MAX;
  const Ints normal = (magnitude - (112 << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // Adding 0.5 leaves a unit of 2^-24, that of f16's denormals.
  const Ints denormal = Cast<Ints>(Cast<Floats>(magnitude) + 0.5f) - 0x3f000000;
  Ints h = magnitude < 0x38800000 ? denormal : normal;
  h = h > 0x7c00 || magnitude >= 0x47800000 ? Ints{} + 0x7c00 : h;
  // Zero is positive, also where a negative sum rounds to it.
  Store(d, h == 0 ? Ints{} : h | sign);
}

// (even + odd) * 2^unit, rounded, to d[out ...]; any unit.
template <bool kHalfD>
US_VEC void StoreWideSum(const FloatBlock& b, Ints even, Ints odd, Ints unit, int out) {
  unit = Max(unit, Ints{} - 512);
  const Doubles low =
      (LowDoubles(even) + LowDoubles(odd)) * PowerOfTwo(__builtin_shufflevector(unit, unit, 0, 1, 2, 3));
  const Doubles high =
      (HighDoubles(even) + HighDoubles(odd)) * PowerOfTwo(__builtin_shufflevector(unit, unit, 4, 5, 6, 7));
  if (kHalfD) {
    StoreHalves(OddSingles(low, high), b.d + out);
  } else {
    Store(b.d + out, CutToSingles(low, high, b.result_bits));
    StoreDenormals(low, high, b.result_bits, b.d + out);
  }
}
// The same for units from -126 to 127: scaled as f32, which is exact but for denormals.
template <bool kHalfD>
US_VEC void StoreSum(const FloatBlock& b, Ints even, Ints odd, Ints unit, int out) {
  const Doubles low = LowDoubles(even) + LowDoubles(odd), high = HighDoubles(even) + HighDoubles(odd);
  if (kHalfD) {
    StoreHalves(OddSingles(low, high) * SinglePower(unit), b.d + out);
  } else {
    const Floats v = CutToSingles(low, high, b.result_bits) * SinglePower(unit);
    Store(b.d + out, v);
    const Ints small = ((Cast<Ints>(v) & 0x7f800000) == 0) & ((even | odd) != 0);
    if (__builtin_expect(AnyLane(small), 0)) StoreWideSum<false>(b, even, odd, unit, out);
  }
}

template <bool kSparse, bool kHalfC, bool kHalfD>
US_VEC void SumBlock(const FloatBlock& b) {
  for (int row = 0; row < b.m; ++row) {
    const int32_t* a_exp = b.a_exp + row * b.stride + b.first;
    const int32_t* a_sig = b.a_sig + row * b.stride + b.first;
    const uint8_t* select = kSparse ? b.select + row * b.stride + b.first : nullptr;
    for (int col = 0; col < b.n; col += kWidth) {
      const auto at = [&](int k) { return (kSparse ? select[k] : b.first + k) * b.n + col; };
      const int out = row * b.n + col;
      const Accumulator c = b.c != nullptr ? TakeApart<kHalfC>(Load<Ints>(b.c + out))
                                           : Accumulator{Ints{}, Ints{} + kZeroExponent};
      Ints top = c.exp, exponents[kMaxStep];
      for (int k = 0; k < b.count; ++k) {
        exponents[k] = Load<Ints>(b.b_exp + at(k)) + a_exp[k];
        top = Max(top, exponents[k]);
      }
      const Ints base = top + (25 - b.fraction_bits);
      // Two sums: sixteen products of up to 2^27 do not fit one.
      Ints even = CutDown(c.sig << 2, base - c.exp), odd{};
      const auto term = [&](int k) {
        return CutDown(Multiply16(Ints{} + a_sig[k], Load<Ints>(b.b_sig + at(k))), base - exponents[k]);
      };
      int k = 0;
      for (; k + 1 < b.count; k += 2) {
        even += term(k);
        odd += term(k + 1);
      }
      if (k < b.count) even += term(k);
      StoreWideSum<kHalfD>(b, even, odd, base - 25, out);
    }
  }
}

// The same by way of f32 values, which is faster: a product of two is exact, so is its multiple by a power of
// two, and the conversion to an integer cuts toward zero. Four rows at a time share what is loaded of B,
// unless A is sparse, when each row has its own rows of B.
template <bool kSparse, bool kHalfC, bool kHalfD>
US_VEC bool SumValues(const FloatBlock& b) {
  constexpr int kRows = kSparse ? 1 : 4;
  Ints too_small{};
  for (int row = 0; row < b.m; row += kRows) {
    const int32_t* a_exp = b.a_exp + row * b.stride + b.first;
    const int32_t* a_value = b.a_sig + row * b.stride + b.first;
    const uint8_t* select = kSparse ? b.select + row * b.stride + b.first : nullptr;
    for (int col = 0; col < b.n; col += kWidth) {
      const auto at = [&](int k) { return (kSparse ? select[k] : b.first + k) * b.n + col; };
      Floats c_value[kRows], scale[kRows];
      Ints top[kRows], even[kRows], odd[kRows];
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        c_value[r] = Floats{};
        top[r] = Ints{} + kZeroExponent;
        if (b.c != nullptr) {
          const Ints bits = Load<Ints>(b.c + (row + r) * b.n + col);
          const Accumulator c = TakeApart<kHalfC>(bits);
          c_value[r] =
              kHalfC ? __builtin_convertvector(c.sig, Floats) * SinglePower(Max(c.exp, Ints{} - 100) - 23)
                     : Cast<Floats>(bits);
          top[r] = c.exp;
        }
      }
      for (int k = 0; k < b.count; ++k) {
        const Ints b_exp = Load<Ints>(b.b_exp + at(k));
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) top[r] = Max(top[r], b_exp + a_exp[r * b.stride + k]);
      }
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        too_small |= (top[r] < -100) & (top[r] > kZeroExponent / 2);
        scale[r] = SinglePower(b.fraction_bits - Max(top[r], Ints{} - 100));
        even[r] = __builtin_convertvector(c_value[r] * scale[r], Ints);
        odd[r] = Ints{};
      }
      const auto add_term = [&](int k, Ints(&sum)[kRows]) {
        const Floats b_value = Load<Floats>(b.b_sig + at(k));
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
          const Floats a = Cast<Floats>(Ints{} + a_value[r * b.stride + k]);
          sum[r] += __builtin_convertvector(a * b_value * scale[r], Ints);
        }
      };
      int k = 0;
      for (; k + 1 < b.count; k += 2) {
        add_term(k, even);
        add_term(k + 1, odd);
      }
      if (k < b.count) add_term(k, even);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r)
        StoreSum<kHalfD>(b, even[r], odd[r], Max(top[r], Ints{} - 100) - b.fraction_bits,
                         (row + r) * b.n + col);
    }
  }
  return !AnyLane(too_small);
}

template <template <bool, bool, bool> class Kernel>
US_VEC auto Choose(const FloatBlock& b) {
  if (b.select != nullptr) {
    if (b.half_c) return b.half_d ? Kernel<true, true, true>::Run(b) : Kernel<true, true, false>::Run(b);
    return b.half_d ? Kernel<true, false, true>::Run(b) : Kernel<true, false, false>::Run(b);
  }
  if (b.half_c) return b.half_d ? Kernel<false, true, true>::Run(b) : Kernel<false, true, false>::Run(b);
  return b.half_d ? Kernel<false, false, true>::Run(b) : Kernel<false, false, false>::Run(b);
}
template <bool kSparse, bool kHalfC, bool kHalfD>
struct Values {
  static bool Run(const FloatBlock& b) { return SumValues<kSparse, kHalfC, kHalfD>(b); }
};
template <bool kSparse, bool kHalfC, bool kHalfD>
struct Significands {
  static void Run(const FloatBlock& b) { SumBlock<kSparse, kHalfC, kHalfD>(b); }
};
bool Sum(const FloatBlock& b) { return Choose<Values>(b); }
void SumWide(const FloatBlock& b) { Choose<Significands>(b); }

// Counts are multiples of eight. The format is a constant, so that shifts are.
template <int kExponent, int kFraction, int kSkipped, bool kFinite, bool kNormalize>
DecodedRange DecodeValues(const uint32_t* raw, int count, int32_t* value, int32_t* exp) {
  constexpr int kTop = (1 << kExponent) - 1, kBias = kTop >> 1, kSign = kExponent + kFraction;
  constexpr int32_t kSpecial = kFinite ? (1 << kSign) - 1 : kTop << kFraction;
  Ints special{}, wide{};
  for (int i = 0; i < count; i += kWidth) {
    const Ints bits = Cast<Ints>(Load<Words>(raw + i) >> kSkipped);
    const Ints magnitude = bits & ((1 << kSign) - 1);
    const Ints field = magnitude >> kFraction, denormal = field == 0;
    const Ints s = (magnitude & ((1 << kFraction) - 1)) | (~denormal & (1 << kFraction));
    Ints e = field - denormal - kBias;
    special |= magnitude >= kSpecial;
    const Ints zero = magnitude == 0;
    if (kExponent == 8) wide |= ~zero & ((e < -60) | (e > 60));
    const Ints v = Cast<Ints>(__builtin_convertvector(s, Floats) * SinglePower(e - kFraction));
    if (kNormalize) e = (v >> 23) - 127;
    Store(value + i, v | ((bits << (31 - kSign)) & INT32_MIN));
    Store(exp + i, zero ? Ints{} + kZeroExponent : e);
  }
  return {AnyLane(special), AnyLane(wide)};
}
DecodedRange Decode(const FloatCoding& f, const uint32_t* raw, int count, int32_t* value, int32_t* exp) {
  if (f.exponent_bits == 5)
    return f.fraction_bits == 10 ? DecodeValues<5, 10, 0, false, false>(raw, count, value, exp)
                                 : DecodeValues<5, 2, 0, false, false>(raw, count, value, exp);
  if (f.exponent_bits == 4)
    return f.normalize ? DecodeValues<4, 3, 0, true, true>(raw, count, value, exp)
                       : DecodeValues<4, 3, 0, true, false>(raw, count, value, exp);
  return f.fraction_bits == 7 ? DecodeValues<8, 7, 0, false, false>(raw, count, value, exp)
                              : DecodeValues<8, 10, 13, false, false>(raw, count, value, exp);
}

// Upper halves of significands stay clear, as Multiply16 wants them.
void DecodeWide(const FloatCoding& f, const uint32_t* raw, int count, int shift, int32_t* sig, int32_t* exp) {
  const int fraction = f.fraction_bits, top = (1 << f.exponent_bits) - 1, bias = top >> 1;
  const int sign_shift = 31 - (fraction + f.exponent_bits), skipped = f.skipped_bits;
  for (int i = 0; i < count; i += kWidth) {
    const Ints bits = Cast<Ints>(Load<Words>(raw + i) >> skipped);
    const Ints field = (bits >> fraction) & top, denormal = field == 0;
    Ints s = (bits & ((1 << fraction) - 1)) | (~denormal & (1 << fraction));
    const Ints zero = s == 0;
    s <<= 10 - fraction + shift;
    const Ints sign = (bits << sign_shift) >> 31;
    Store(sig + i, ((s ^ sign) - sign) & 0xffff);
    Store(exp + i, zero ? Ints{} + kZeroExponent : field - denormal - bias);
  }
}

bool AnySpecial(bool half, const uint32_t* bits, int count) {
  const int32_t field = half ? 0x7c00 : 0x7f800000;
  Ints special{};
  for (int i = 0; i < count; i += kWidth) special |= (Load<Ints>(bits + i) & field) == field;
  return AnyLane(special);
}

void Extend(int bits, bool is_signed, const uint32_t* raw, int count, int32_t* out) {
  const int shift = 32 - bits;
  for (int i = 0; i < count; i += kWidth) {
    const Words up = Load<Words>(raw + i) << shift;
    Store(out + i, is_signed ? (Cast<Ints>(up) >> shift) & 0xffff : Cast<Ints>(up >> shift));
  }
}

// a's low half times b's plus a's high half times b's.
#ifdef __AVX2__
US_VEC Ints MultiplyPairs(Ints a, Ints b) {
  return Cast<Ints>(_mm256_madd_epi16(Cast<__m256i>(a), Cast<__m256i>(b)));
}
#else
US_VEC Ints MultiplyPairs(Ints a, Ints b) {
  return ((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16);
}
#endif

void SumIntegers(const IntegerBlock& b) {
  if (b.select != nullptr) {
    for (int row = 0; row < b.m; ++row)
      for (int col = 0; col < b.n; col += kWidth) {
        Ints sum{};
        for (int k = 0; k < b.k; ++k)
          sum +=
              Multiply16(Ints{} + b.a[row * b.k + k], Load<Ints>(b.b + b.select[row * b.k + k] * b.n + col));
        Store(b.sum + row * b.n + col, sum);
      }
    return;
  }
  // Two terms in a word.
  for (int i = 0; i < b.m * b.k / 2; ++i) b.a[i] = b.a[2 * i] | b.a[2 * i + 1] << 16;
  for (int k = 0; k < b.k / 2; ++k)
    for (int col = 0; col < b.n; col += kWidth)
      Store(b.b + k * b.n + col,
            Load<Ints>(b.b + 2 * k * b.n + col) | Load<Ints>(b.b + (2 * k + 1) * b.n + col) << 16);
  const int pairs = b.k / 2;
  for (int row = 0; row < b.m; ++row)
    for (int col = 0; col < b.n; col += kWidth) {
      Ints sum{};
      for (int k = 0; k < pairs; ++k)
        sum += MultiplyPairs(Ints{} + b.a[row * pairs + k], Load<Ints>(b.b + k * b.n + col));
      Store(b.sum + row * b.n + col, sum);
    }
}

}  // namespace

const TensorKernels US_TENSOR_JOIN(kTensorKernels_, US_SEMANTICS_ARCH) = {
    US_TENSOR_STRING(US_SEMANTICS_ARCH), Decode, DecodeWide, AnySpecial, Sum, SumWide, Extend, SumIntegers};

}  // namespace understudy::emu::ptx
