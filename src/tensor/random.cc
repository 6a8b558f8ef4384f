// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/random.h"

namespace understudy {

std::array<uint32_t, 2> Threefry2x32(std::array<uint32_t, 2> key, std::array<uint32_t, 2> counter) {
  static constexpr int kRotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  static constexpr uint32_t kParity = 0x1BD11BDA;
  const uint32_t ks[3] = {key[0], key[1], kParity ^ key[0] ^ key[1]};
  uint32_t x0 = counter[0] + ks[0], x1 = counter[1] + ks[1];
  for (uint32_t round = 0; round < 20; ++round) {
    const int r = kRotations[round % 8];
    x0 += x1;
    x1 = (x1 << r | x1 >> (32 - r)) ^ x0;
    if (round % 4 == 3) {
      const uint32_t injection = round / 4 + 1;
      x0 += ks[injection % 3];
      x1 += ks[(injection + 1) % 3] + injection;
    }
  }
  return {x0, x1};
}

double RandomUnit(uint64_t seed, uint64_t counter) {
  const auto bits = Threefry2x32({static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
                                 {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32)});
  return static_cast<double>(bits[0] >> 8) * 0x1p-24;
}

}  // namespace understudy
