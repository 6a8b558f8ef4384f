// SPDX-License-Identifier: Apache-2.0
#pragma once
// The floating-point part of a wave's MODE register, decoded once per instruction. Used by the scalar and
// the vector semantics; it holds no state of its own.

#include <cstdint>

namespace understudy::emu::amd {

// Encoded as MODE.FP_ROUND encodes it (RDNA3 manual, 3.3.6 "Mode register").
enum class Round : uint8_t { kNearestEven = 0, kUp = 1, kDown = 2, kToZero = 3 };

// Flush flags keep the sign: a flushed denormal becomes a zero of its own sign.
struct FpMode {
  Round round32 = Round::kNearestEven;     // f32
  Round round16_64 = Round::kNearestEven;  // f16 and f64
  bool flush_in32 = false;
  bool flush_out32 = false;
  bool flush_in16_64 = false;
  bool flush_out16_64 = false;
  bool ieee = false;        // quiet signalling NaNs in min/max
  bool dx10_clamp = false;  // clamp turns NaN into 0
  bool fp16_ovfl = false;   // an f16 overflow gives the largest finite value

  // MODE bits: 1:0 round f32, 3:2 round f16/f64, 5:4 denormals f32, 7:6 denormals f16/f64
  // (bit 0 of each pair keeps inputs, bit 1 keeps outputs), 8 DX10_CLAMP, 9 IEEE, 23 FP16_OVFL.
  static constexpr FpMode FromModeRegister(uint32_t mode) {
    FpMode m;
    m.round32 = static_cast<Round>(mode & 3);
    m.round16_64 = static_cast<Round>((mode >> 2) & 3);
    m.flush_in32 = (mode & 0x10) == 0;
    m.flush_out32 = (mode & 0x20) == 0;
    m.flush_in16_64 = (mode & 0x40) == 0;
    m.flush_out16_64 = (mode & 0x80) == 0;
    m.dx10_clamp = (mode & 0x100) != 0;
    m.ieee = (mode & 0x200) != 0;
    m.fp16_ovfl = (mode & 0x800000) != 0;
    return m;
  }

  // RDNA4 has neither DX10_CLAMP nor IEEE: a clamped NaN is 0, and OMOD depends on denormals alone.
  static constexpr FpMode FromModeRegister(uint32_t mode, bool has_ieee_bits) {
    FpMode m = FromModeRegister(mode);
    if (!has_ieee_bits) {
      m.ieee = false;
      m.dx10_clamp = true;
    }
    return m;
  }

  // The case that host arithmetic serves directly.
  constexpr bool IsHostLike() const {
    return round32 == Round::kNearestEven && round16_64 == Round::kNearestEven && !fp16_ovfl;
  }
};

}  // namespace understudy::emu::amd
