// SPDX-License-Identifier: Apache-2.0
#pragma once
// SplitMix64 (Steele, Lea, Flood 2014): numbers by seed that are the same with every standard library.

#include <cstdint>

namespace understudy::programs {

class Random {
 public:
  // Neighbouring seeds start far from each other: plain SplitMix64 would give them the same stream, shifted.
  explicit Random(uint64_t seed) : state_(seed) {
    const uint64_t far = Next();
    state_ = far ^ seed << 32;
    state_ = Next();
  }
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  int Below(int n) { return static_cast<int>(Next() % static_cast<uint64_t>(n)); }
  bool Chance(int percent) { return Below(100) < percent; }

 private:
  uint64_t state_;
};

}  // namespace understudy::programs
