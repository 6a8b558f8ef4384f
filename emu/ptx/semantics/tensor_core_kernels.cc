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

// sum * 2^unit as an f32 cut toward zero after `result_bits` bits of fraction.
US_VEC void StoreSingles(Doubles low, Doubles high, int result_bits, uint32_t* d) {
  const int64_t cut = ~((int64_t{1} << (52 - result_bits)) - 1);
  const Doubles x = Cast<Doubles>(Cast<Longs>(low) & cut), y = Cast<Doubles>(Cast<Longs>(high) & cut);
  typedef float HalfFloats __attribute__((vector_size(16)));
  Store(d, __builtin_convertvector(x, HalfFloats));
  Store(d + 4, __builtin_convertvector(y, HalfFloats));
  // Below the least normal number the unit of the last place is fixed; the conversion above has rounded.
  double values[kWidth];
  const Doubles least = Doubles{} + 0x1p-126;
  const Longs zero{};
  const Doubles ax = Cast<Doubles>(Cast<Longs>(low) & INT64_MAX),
                ay = Cast<Doubles>(Cast<Longs>(high) & INT64_MAX);
  const Longs small =
      ((ax < least) & (ax > Cast<Doubles>(zero))) | ((ay < least) & (ay > Cast<Doubles>(zero)));
  if ((small[0] | small[1] | small[2] | small[3]) == 0) return;
  Store(values, low);
  Store(values + 4, high);
  const double scale = 0x1p126 * static_cast<double>(int64_t{1} << result_bits);
  for (int i = 0; i < kWidth; ++i) {
    const double magnitude = values[i] < 0 ? -values[i] : values[i];
    if (!(magnitude < 0x1p-126) || magnitude == 0) continue;
    const uint32_t units = static_cast<uint32_t>(magnitude * scale) << (23 - result_bits);
    d[i] = units | (values[i] < 0 ? 0x80000000u : 0);
  }
}

// As f16, rounded to nearest even.
US_VEC void StoreHalves(Doubles low, Doubles high, uint32_t* d) {
  typedef float HalfFloats __attribute__((vector_size(16)));
  // To 24 bits first, rounded to odd, so that the second rounding is the only one that counts.
  const auto to_odd = [](Doubles v) {
    const Longs bits = Cast<Longs>(v);
    constexpr int64_t kTail = (int64_t{1} << 29) - 1;
    const Longs sticky = (bits & kTail) != 0 ? Longs{} + (int64_t{1} << 29) : Longs{};
    return __builtin_convertvector(Cast<Doubles>((bits & ~kTail) | sticky), HalfFloats);
  };
  const HalfFloats x = to_odd(low), y = to_odd(high);
  const Floats v = __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7);
  const Ints sign = (Cast<Ints>(v) >> 16) & 0x8000;
  const Ints magnitude = Cast<Ints>(v) & INT32_MAX;
  const Ints normal = (magnitude - (112 << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // Adding 0.5 leaves a unit of 2^-24, that of f16's denormals.
  const Ints denormal = Cast<Ints>(Cast<Floats>(magnitude) + 0.5f) - 0x3f000000;
  Ints h = magnitude < 0x38800000 ? denormal : normal;
  h = h > 0x7c00 || magnitude >= 0x47800000 ? Ints{} + 0x7c00 : h;
  // A sum of zero is positive; one that rounds to zero keeps its sign.
  Store(d, magnitude == 0 ? Ints{} : h | sign);
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
      const Ints base = top + b.dropped_bits;
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
      const Ints unit = Max(base, Ints{} - 512) - 25;
      const Doubles low =
          (LowDoubles(even) + LowDoubles(odd)) * PowerOfTwo(__builtin_shufflevector(unit, unit, 0, 1, 2, 3));
      const Doubles high = (HighDoubles(even) + HighDoubles(odd)) *
                           PowerOfTwo(__builtin_shufflevector(unit, unit, 4, 5, 6, 7));
      if (kHalfD)
        StoreHalves(low, high, b.d + out);
      else
        StoreSingles(low, high, b.result_bits, b.d + out);
    }
  }
}

template <bool kSparse>
void SumOf(const FloatBlock& b) {
  if (b.half_c)
    b.half_d ? SumBlock<kSparse, true, true>(b) : SumBlock<kSparse, true, false>(b);
  else
    b.half_d ? SumBlock<kSparse, false, true>(b) : SumBlock<kSparse, false, false>(b);
}

void Sum(const FloatBlock& b) { b.select != nullptr ? SumOf<true>(b) : SumOf<false>(b); }

US_VEC bool AnyLane(Ints mask) {
  return (mask[0] | mask[1] | mask[2] | mask[3] | mask[4] | mask[5] | mask[6] | mask[7]) != 0;
}

// Upper halves of significands stay clear, as Multiply16 wants them. Counts are multiples of eight.
template <bool kNormalize>
US_VEC bool DecodeAs(const FloatCoding& f, const uint32_t* raw, int count, int shift, int32_t* sig,
                     int32_t* exp) {
  const int fraction = f.fraction_bits, top = (1 << f.exponent_bits) - 1, bias = top >> 1;
  const int32_t fraction_mask = (1 << fraction) - 1, one = 1 << fraction;
  const int sign_shift = 31 - (fraction + f.exponent_bits), skipped = f.skipped_bits;
  // The least magnitude that is infinite or NaN.
  const int32_t special_from = f.finite ? (1 << (fraction + f.exponent_bits)) - 1 : top << fraction;
  Ints special{};
  for (int i = 0; i < count; i += kWidth) {
    const Ints bits = Cast<Ints>(Load<Words>(raw + i) >> skipped);
    const Ints magnitude = bits & ((1 << (fraction + f.exponent_bits)) - 1);
    const Ints field = magnitude >> fraction;
    const Ints denormal = field == 0;
    Ints s = (bits & fraction_mask) | (~denormal & one);
    Ints e = field - denormal - bias;
    special |= magnitude >= special_from;
    if (kNormalize) {
      for (int step = 0; step < fraction; ++step) {
        const Ints low = (s < one) & (s != 0);
        s = low ? s << 1 : s;
        e += low;
      }
    }
    const Ints zero = s == 0;
    s <<= 10 - fraction + shift;
    const Ints sign = (bits << sign_shift) >> 31;
    Store(sig + i, ((s ^ sign) - sign) & 0xffff);
    Store(exp + i, zero ? Ints{} + kZeroExponent : e);
  }
  return AnyLane(special);
}
bool AnySpecial(bool half, const uint32_t* bits, int count) {
  const int32_t field = half ? 0x7c00 : 0x7f800000;
  Ints special{};
  for (int i = 0; i < count; i += kWidth) special |= (Load<Ints>(bits + i) & field) == field;
  return AnyLane(special);
}

bool Decode(const FloatCoding& f, const uint32_t* raw, int count, int shift, int32_t* sig, int32_t* exp) {
  return f.normalize ? DecodeAs<true>(f, raw, count, shift, sig, exp)
                     : DecodeAs<false>(f, raw, count, shift, sig, exp);
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
    US_TENSOR_STRING(US_SEMANTICS_ARCH), Decode, AnySpecial, Sum, Extend, SumIntegers};

}  // namespace understudy::emu::ptx
