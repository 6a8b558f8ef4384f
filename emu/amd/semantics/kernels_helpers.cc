// SPDX-License-Identifier: Apache-2.0
// Lane-array helpers for one host instruction set (US_SEMANTICS_ARCH).
#include <cstring>

#include "emu/amd/semantics/kernels.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace understudy::emu::amd {
#define US_JOIN_(a, b) a##b
#define US_JOIN(a, b) US_JOIN_(a, b)
namespace US_JOIN(kernels_, US_SEMANTICS_ARCH) {
namespace {

void StoreMasked(uint32_t* dst, const uint32_t* value, uint64_t exec, int lanes) {
  for (int base = 0; base < lanes; base += 32) {
    const uint32_t bits = static_cast<uint32_t>(exec >> base);
    if (bits == ~0u) {
      std::memcpy(dst + base, value + base, 32 * sizeof(uint32_t));
      continue;
    }
#if defined(__AVX512F__)
    for (int i = 0; i < 32; i += 16) {
      const __m512i v = _mm512_loadu_si512(value + base + i);
      _mm512_mask_storeu_epi32(dst + base + i, static_cast<__mmask16>(bits >> i), v);
    }
#elif defined(__AVX2__)
    const __m256i shifts = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
    for (int i = 0; i < 32; i += 8) {
      const __m256i mask = _mm256_sllv_epi32(_mm256_set1_epi32(static_cast<int>(bits >> i)), shifts);
      const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(value + base + i));
      _mm256_maskstore_epi32(reinterpret_cast<int*>(dst + base + i), mask, v);
    }
#else
    for (int i = 0; i < 32; ++i) dst[base + i] = (bits >> i) & 1 ? value[base + i] : dst[base + i];
#endif
  }
}

void ExpandMask(uint64_t mask, uint32_t* out, int lanes) {
  for (int base = 0; base < lanes; base += 32) {
    const uint32_t bits = static_cast<uint32_t>(mask >> base);
    for (uint32_t i = 0; i < 32; ++i) out[base + i] = (bits >> i) & 1;
  }
}

uint64_t PackMask(const uint32_t* in, int lanes) {
  uint64_t mask = 0;
  for (int base = 0; base < lanes; base += 8) {
#if defined(__AVX2__)
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + base));
    const uint64_t bits =
        static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(v, 31))));
    mask |= bits << base;
#else
    for (int i = 0; i < 8; ++i) mask |= uint64_t{in[base + i] & 1} << (base + i);
#endif
  }
  return mask;
}

}  // namespace

void RegisterHelpers(KernelSet* set) {
  set->store_masked = StoreMasked;
  set->expand_mask = ExpandMask;
  set->pack_mask = PackMask;
}

}  // namespace US_JOIN(kernels_,US_SEMANTICS_ARCH)
}  // namespace understudy::emu::amd
