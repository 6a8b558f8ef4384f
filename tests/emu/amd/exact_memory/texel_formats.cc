// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/exact_memory/texel_formats.h"

#include <algorithm>
#include <cmath>

#include "src/base/float_format.h"

namespace understudy::emu::amd {
namespace {

// Five bits of exponent with a bias of 15: halves, and without a sign the floats of 11 and 10 bits.
FloatFormat SmallFloat(int bits) {
  return {"", 5, bits == 16 ? 10 : bits - 5, 15, true, NanEncoding::kIeee, true};
}

int64_t SignedComponent(uint32_t raw, int bits) {
  return (raw >> (bits - 1)) != 0 ? static_cast<int64_t>(raw) - (int64_t{1} << bits) : int64_t{raw};
}

}  // namespace

uint32_t ExactComponent(const ExactFormat& format, int component, bool half, uint32_t random) {
  const int bits = format.bits[component];
  const uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  switch (format.kind) {
    case 'U':
      return half ? (random % 2 == 0 ? 0 : mask) : random & mask;
    case 'S':
      // The two codes for -1 are not told apart by a store.
      if (half) return random % 3 == 0 ? 0 : random % 3 == 1 ? mask >> 1 : (mask >> 1) + 2;
      return (random & mask) == (mask >> 1) + 1 ? 1 : random & mask;
    case 'i':
    case 'I':
      // A half register holds the low 16 bits: values that fit are the same either way.
      if (half && bits == 32)
        return format.kind == 'i' ? random & 0xffff : static_cast<uint32_t>(static_cast<int16_t>(random));
      return random & mask;
    case 'f':
      if (bits == 32) {
        // Multiples of a quarter below 256, or any number.
        const double value = (static_cast<double>(random % 2048) - 1024) / 4;
        if (half) return static_cast<uint32_t>(EncodeFloat(formats::kF32, value));
        return (random & 0x7f800000u) == 0x7f800000u ? random & ~0x40000000u : random;
      } else {
        // Finite ones: the highest exponent becomes another.
        const uint32_t raw = random & mask, top = 31u << (bits == 16 ? 10 : bits - 5);
        return (raw & top) == top ? raw ^ (1u << (bits == 16 ? 14 : bits - 1)) : raw;
      }
    default:
      return random & mask;
  }
}

uint32_t ComponentRegister(const ExactFormat& format, int component, bool half, uint32_t raw) {
  const int bits = format.bits[component];
  double value = 0;
  switch (format.kind) {
    case 'U':
      value = static_cast<double>(raw) / (std::ldexp(1.0, bits) - 1);
      break;
    case 'S':
      value =
          std::max(-1.0, static_cast<double>(SignedComponent(raw, bits)) / (std::ldexp(1.0, bits - 1) - 1));
      break;
    case 'u':
      value = static_cast<double>(raw);
      break;
    case 's':
      value = static_cast<double>(SignedComponent(raw, bits));
      break;
    case 'i':
      return half ? raw & 0xffff : raw;
    case 'I':
      return static_cast<uint32_t>(SignedComponent(raw, bits)) & (half ? 0xffffu : ~0u);
    default:
      if (bits == 32 && !half) return raw;
      if (bits == 16 && half) return raw;
      value = bits == 32 ? DecodeFloat(formats::kF32, raw) : DecodeFloat(SmallFloat(bits), raw);
      break;
  }
  return static_cast<uint32_t>(EncodeFloat(half ? formats::kF16 : formats::kF32, value));
}

}  // namespace understudy::emu::amd
