// SPDX-License-Identifier: Apache-2.0
#pragma once
// Element formats of typed memory with both generations' numbers, and what a component's bits stand for in a
// register: exact values, written from the formats' definitions. Values whose conversion would round are left
// to tests with a bound.

#include <cstdint>

namespace understudy::emu::amd {

struct ExactFormat {
  const char* name;
  uint32_t number;             // RDNA's unified number
  uint32_t data, kind_number;  // GFX9's data and number formats
  char kind;                   // U unorm, S snorm, u uscaled, s sscaled, i uint, I sint, f float
  int components;
  int bits[4];  // X first, from the lowest bit
  int bytes() const { return (bits[0] + bits[1] + bits[2] + bits[3]) / 8; }
};

inline constexpr ExactFormat kExactFormats[] = {
    {"8_UNORM", 1, 1, 0, 'U', 1, {8, 0, 0, 0}},
    {"8_SINT", 6, 1, 5, 'I', 1, {8, 0, 0, 0}},
    {"16_FLOAT", 13, 2, 7, 'f', 1, {16, 0, 0, 0}},
    {"32_UINT", 20, 4, 4, 'i', 1, {32, 0, 0, 0}},
    {"32_FLOAT", 22, 4, 7, 'f', 1, {32, 0, 0, 0}},
    {"8_8_USCALED", 16, 3, 2, 'u', 2, {8, 8, 0, 0}},
    {"16_16_SNORM", 24, 5, 1, 'S', 2, {16, 16, 0, 0}},
    {"16_16_FLOAT", 29, 5, 7, 'f', 2, {16, 16, 0, 0}},
    {"32_32_SINT", 49, 11, 5, 'I', 2, {32, 32, 0, 0}},
    {"10_11_11_FLOAT", 30, 6, 7, 'f', 3, {11, 11, 10, 0}},
    {"32_32_32_FLOAT", 60, 13, 7, 'f', 3, {32, 32, 32, 0}},
    {"32_32_32_UINT", 58, 13, 4, 'i', 3, {32, 32, 32, 0}},
    {"2_10_10_10_UNORM", 36, 9, 0, 'U', 4, {10, 10, 10, 2}},
    {"8_8_8_8_SSCALED", 45, 10, 3, 's', 4, {8, 8, 8, 8}},
    {"8_8_8_8_UNORM", 42, 10, 0, 'U', 4, {8, 8, 8, 8}},
    {"16_16_16_16_SINT", 56, 12, 5, 'I', 4, {16, 16, 16, 16}},
    {"16_16_16_16_FLOAT", 57, 12, 7, 'f', 4, {16, 16, 16, 16}},
    {"32_32_32_32_FLOAT", 63, 14, 7, 'f', 4, {32, 32, 32, 32}},
};

// Bits of a component from random ones: those whose value a half can hold too where `half` is set.
uint32_t ExactComponent(const ExactFormat& format, int component, bool half, uint32_t random);
// The register that a component's bits are loaded into, and stored from: 32 bits, or 16.
uint32_t ComponentRegister(const ExactFormat& format, int component, bool half, uint32_t raw);

}  // namespace understudy::emu::amd
