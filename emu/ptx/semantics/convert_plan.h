// SPDX-License-Identifier: Apache-2.0
#pragma once
// A conversion of plain numbers (integers, f16, bf16, f32, f64) as data: what convert_find.cc packs into
// Inst::aux[0] and the kernels read once per instruction.

#include <cstdint>

namespace understudy::emu::ptx {

enum class Number : uint8_t { kU8, kS8, kU16, kS16, kU32, kS32, kU64, kS64, kF16, kBf16, kF32, kF64 };
enum class Round : uint8_t { kNearestEven, kToZero, kDown, kUp, kNearestAway };

struct ConvertPlan {
  Number from = Number::kF32, to = Number::kF32;
  Round round = Round::kNearestEven;
  bool integral = false;   // .rni, .rzi, .rmi, .rpi: to an integral value
  bool flush = false;      // .ftz
  bool saturate = false;   // .sat of a float: to [0, 1]
  bool relu = false;       // negative results become +0
  bool finite = false;     // .satfinite: overflow and infinities become the largest finite value
  bool pass = false;       // the bits are the value: no conversion at all
  uint8_t pass_shift = 0;  // ... moved up by this (bf16 into f32)

  uint64_t Pack() const {
    return static_cast<uint64_t>(from) | static_cast<uint64_t>(to) << 8 | static_cast<uint64_t>(round) << 16 |
           uint64_t{integral} << 24 | uint64_t{flush} << 25 | uint64_t{saturate} << 26 |
           uint64_t{relu} << 27 | uint64_t{finite} << 28 | uint64_t{pass} << 29 |
           static_cast<uint64_t>(pass_shift) << 32;
  }
  static ConvertPlan Unpack(uint64_t v) {
    ConvertPlan p;
    p.from = static_cast<Number>(v & 0xff);
    p.to = static_cast<Number>(v >> 8 & 0xff);
    p.round = static_cast<Round>(v >> 16 & 0xff);
    p.integral = (v >> 24 & 1) != 0;
    p.flush = (v >> 25 & 1) != 0;
    p.saturate = (v >> 26 & 1) != 0;
    p.relu = (v >> 27 & 1) != 0;
    p.finite = (v >> 28 & 1) != 0;
    p.pass = (v >> 29 & 1) != 0;
    p.pass_shift = static_cast<uint8_t>(v >> 32);
    return p;
  }
};

constexpr bool IsInteger(Number n) { return n <= Number::kS64; }
constexpr bool IsSignedInteger(Number n) { return IsInteger(n) && (static_cast<int>(n) & 1) != 0; }
constexpr int NumberBits(Number n) {
  constexpr int kBits[] = {8, 8, 16, 16, 32, 32, 64, 64, 16, 16, 32, 64};
  return kBits[static_cast<int>(n)];
}

}  // namespace understudy::emu::ptx
