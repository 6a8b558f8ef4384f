// SPDX-License-Identifier: Apache-2.0
#pragma once
// Vectors of W lanes in the compiler's portable notation, and the few operations on them that matrix kernels
// share. Included by matrix_kernels_*.cc only, once for each host instruction set (US_SEMANTICS_ARCH).

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifndef US_SEMANTICS_ARCH
#error "matrix kernels are compiled for a named host instruction set"
#endif
#define US_MATRIX_JOIN_(a, b) a##b
#define US_MATRIX_JOIN(a, b) US_MATRIX_JOIN_(a, b)
#define US_MATRIX_NAMESPACE US_MATRIX_JOIN(matrix_, US_SEMANTICS_ARCH)
#define US_VEC [[gnu::always_inline]] inline

namespace understudy::emu::amd::US_MATRIX_NAMESPACE {
namespace {

template <int W>
struct Lanes;
#define US_LANES(w)                                        \
  template <>                                              \
  struct Lanes<w> {                                        \
    typedef float F __attribute__((vector_size(4 * w)));   \
    typedef int32_t I __attribute__((vector_size(4 * w))); \
    typedef double D __attribute__((vector_size(8 * w)));  \
    typedef int64_t L __attribute__((vector_size(8 * w))); \
  };
US_LANES(2)
US_LANES(4)
US_LANES(8)
US_LANES(16)
#undef US_LANES

// Lanes of one register of the host: wider vectors work too, but the compiler takes comparisons of them
// apart.
#if defined(__AVX512F__)
constexpr int kNative = 16;
#elif defined(__AVX2__)
constexpr int kNative = 8;
#else
constexpr int kNative = 4;
#endif

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

template <class I>
US_VEC I Max(I a, I b) {
  return a > b ? a : b;
}
template <class I>
US_VEC I Min(I a, I b) {
  return a < b ? a : b;
}
// True where any lane of a mask is set.
template <class I>
US_VEC bool Any(I mask) {
#if defined(__AVX512F__)
  if constexpr (sizeof(I) == 64) return _mm512_test_epi32_mask(Cast<__m512i>(mask), Cast<__m512i>(mask)) != 0;
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(I) == 32) return _mm256_testz_si256(Cast<__m256i>(mask), Cast<__m256i>(mask)) == 0;
#endif
  int32_t lanes[sizeof(I) / 4], any = 0;
  std::memcpy(lanes, &mask, sizeof(I));
  for (int32_t lane : lanes) any |= lane;
  return any != 0;
}

// The first or second half of a vector's lanes, and the two put together.
template <int kFirst, class V, size_t... kLane>
US_VEC auto Part(V v, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(v, v, (kFirst + kLane)...);
}
template <class V, size_t... kLane>
US_VEC auto Join(V low, V high, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(low, high, kLane...);
}

template <int W>
using FloatsOf = typename Lanes<W>::F;
template <int W>
using IntsOf = typename Lanes<W>::I;

// 2^n as f32 for -126 <= n <= 127.
template <int W>
US_VEC FloatsOf<W> PowerOfTwo(IntsOf<W> n) {
  return Cast<FloatsOf<W>>((n + 127) << 23);
}
// 2^n as f64 for -1022 <= n <= 1023.
template <int W>
US_VEC typename Lanes<W>::D PowerOfTwo64(IntsOf<W> n) {
  return Cast<typename Lanes<W>::D>((__builtin_convertvector(n, typename Lanes<W>::L) + 1023) << 52);
}

// Arithmetic right shift by any count from 0 up.
template <class I>
US_VEC I ShiftDown(I v, I count) {
  return v >> Min(count, I{} + 31);
}

// A finite f32 rounded to the nearest f16 value, ties to even; magnitudes that f16 does not reach come back
// above its largest. `v` may be a value rounded to odd.
template <int W>
US_VEC FloatsOf<W> RoundToHalf(FloatsOf<W> v) {
  using F = FloatsOf<W>;
  using I = IntsOf<W>;
  const I sign = Cast<I>(v) & INT32_MIN;
  const I magnitude = Cast<I>(v) ^ sign;
  const I normal = (magnitude + 0xfff + ((magnitude >> 13) & 1)) & ~0x1fff;
  // Adding 0.75 leaves a unit of 2^-24, that of f16's denormals.
  const I denormal = Cast<I>((Cast<F>(magnitude) + 0.75f) - 0.75f);
  return Cast<F>((magnitude < 0x38800000 ? denormal : normal) | sign);
}

}  // namespace
}  // namespace understudy::emu::amd::US_MATRIX_NAMESPACE
