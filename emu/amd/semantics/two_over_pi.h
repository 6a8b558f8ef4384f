// SPDX-License-Identifier: Apache-2.0
#pragma once
// 2/pi to 1201 binary places, as V_TRIG_PREOP_F64 holds it, and its 53-bit windows.

#include <cstdint>

#ifndef US_SEMANTICS_ARCH
#define US_SEMANTICS_ARCH baseline
#endif

namespace understudy::emu::amd {
inline namespace US_SEMANTICS_ARCH {

// The fraction of 2/pi, most significant bit first; zero beyond bit 1201.
inline constexpr uint64_t kTwoOverPi[20] = {
    0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u, 0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u,
    0x06492eea09d1921cu, 0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u, 0xe99c7026b45f7e41u, 0x3991d639835339f4u,
    0x9c845f8bbdf9283bu, 0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du,
    0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b0000u, 0x0000000000000000u,
};

// Bits shift .. shift+52 after the binary point, as an integer below 2^53; zero beyond the stored bits.
inline uint64_t TwoOverPiWindow(uint32_t shift) {
  const uint32_t word = shift / 64, offset = shift % 64;
  const uint64_t high = word < 20 ? kTwoOverPi[word < 20 ? word : 0] : 0;
  const uint64_t low = word + 1 < 20 ? kTwoOverPi[word + 1 < 20 ? word + 1 : 0] : 0;
  const uint64_t window = offset == 0 ? high : high << offset | low >> (64 - offset);
  return window >> 11;
}

}  // namespace US_SEMANTICS_ARCH
}  // namespace understudy::emu::amd
