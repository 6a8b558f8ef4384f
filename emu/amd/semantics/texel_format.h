// SPDX-License-Identifier: Apache-2.0
#pragma once
// Formats of typed memory: how the components of a buffer element or an image texel lie in its bytes, and
// their conversion from and to registers (RDNA3 ISA, "Data formats"; GFX9's data and number formats). Used by
// formatted buffer instructions and by images; it knows nothing of addresses.

#include <cstdint>

namespace understudy::emu::amd {

enum class NumberFormat : uint8_t { kUnorm, kSnorm, kUscaled, kSscaled, kUint, kSint, kFloat };

struct TexelFormat {
  uint8_t components = 0;
  uint8_t bits[4] = {};  // of X, Y, Z, W; X lies in the lowest bits
  NumberFormat number = NumberFormat::kUint;
  bool shared_exponent = false;  // 9 bits each and five bits of exponent above them
  const char* name = "";

  int bytes() const { return shared_exponent ? 4 : (bits[0] + bits[1] + bits[2] + bits[3]) / 8; }
  bool integer() const { return number == NumberFormat::kUint || number == NumberFormat::kSint; }
};

// nullptr for a number without a format. RDNA's unified formats, and GFX9's pair of data and number format.
const TexelFormat* BufferFormat(uint32_t unified);
const TexelFormat* Gfx9BufferFormat(uint32_t data, uint32_t number);

// The formats of images: all of those of buffers, and some of their own (RDNA4 ISA, Table 62).
const TexelFormat* ImageFormat(uint32_t unified);
const TexelFormat* Gfx9ImageFormat(uint32_t data, uint32_t number);

// The element at `bytes` as registers see it: 32-bit floats or integers, and 0, 0, 0, 1 for absent
// components.
void DecodeTexel(const TexelFormat& format, const uint8_t* bytes, uint32_t value[4]);
// The reverse, for all components of the format.
void EncodeTexel(const TexelFormat& format, const uint32_t value[4], uint8_t* bytes);

// Between a 32-bit register and a 16-bit half, for D16 instructions: floats are converted, integers keep
// their low bits.
uint16_t TexelToHalf(const TexelFormat& format, uint32_t value);
uint32_t TexelFromHalf(const TexelFormat& format, uint16_t half);

// What DST_SEL = 1 gives.
inline uint32_t TexelOne(const TexelFormat& format) { return format.integer() ? 1u : 0x3f800000u; }

}  // namespace understudy::emu::amd
