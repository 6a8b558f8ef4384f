// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/texel_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "src/base/half.h"

namespace understudy::emu::amd {
namespace {

// "2_10_10_10_UNORM": widths from the highest bits down, so that X is the last one; then how to read them.
TexelFormat Parse(const char* name) {
  TexelFormat format;
  format.name = name;
  uint8_t widths[4] = {};
  int n = 0;
  const char* at = name;
  while (*at >= '0' && *at <= '9') {
    int width = 0;
    while (*at >= '0' && *at <= '9') width = width * 10 + (*at++ - '0');
    widths[n++] = static_cast<uint8_t>(width);
    if (*at == '_') ++at;
  }
  format.components = static_cast<uint8_t>(n);
  for (int i = 0; i < n; ++i) format.bits[i] = widths[n - 1 - i];
  const std::string kind = at;
  const char* const kKinds[] = {"UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT"};
  for (int i = 0; i < 7; ++i) {
    if (kind == kKinds[i]) format.number = static_cast<NumberFormat>(i);
  }
  return format;
}

const std::array<TexelFormat, 64>& UnifiedFormats() {
  static const std::array<TexelFormat, 64>* const formats = [] {
    auto* table = new std::array<TexelFormat, 64>;
#define AMD_BUFFER_FORMAT(number, name) (*table)[number] = Parse(#name);
#include "emu/amd/isa/buffer_formats.inc"
#undef AMD_BUFFER_FORMAT
    return table;
  }();
  return *formats;
}

constexpr const char* kGfx9Data[16] = {nullptr,        "8_",          "16_",          "8_8_",
                                       "32_",          "16_16_",      "10_11_11_",    "11_11_10_",
                                       "10_10_10_2_",  "2_10_10_10_", "8_8_8_8_",     "32_32_",
                                       "16_16_16_16_", "32_32_32_",   "32_32_32_32_", nullptr};
constexpr const char* kGfx9Number[8] = {"UNORM", "SNORM", "USCALED", "SSCALED",
                                        "UINT",  "SINT",  nullptr,   "FLOAT"};

struct Gfx9Table {
  std::array<TexelFormat, 128> formats;
  std::array<std::string, 128> names;  // the formats point into them
};

const std::array<TexelFormat, 128>& Gfx9Formats() {
  static const Gfx9Table* const all = [] {
    auto* table = new Gfx9Table;
    for (size_t data = 0; data < 16; ++data) {
      for (size_t number = 0; number < 8; ++number) {
        if (kGfx9Data[data] == nullptr || kGfx9Number[number] == nullptr) continue;
        std::string& name = table->names[data * 8 + number];
        name = std::string(kGfx9Data[data]) + kGfx9Number[number];
        const TexelFormat format = Parse(name.c_str());
        // There are no floats of 8 bits, nor of 10 and 2.
        const bool is_float = format.number == NumberFormat::kFloat;
        if (is_float && (format.bits[0] == 8 || data == 8 || data == 9)) continue;
        table->formats[data * 8 + number] = format;
      }
    }
    return table;
  }();
  return all->formats;
}

// The unsigned floats of 11 and 10 bits: five bits of exponent, no sign.
uint32_t SmallFloatToFloat(uint32_t bits, int mantissa_bits) {
  return std::bit_cast<uint32_t>(HalfToFloat(static_cast<uint16_t>(bits << (10 - mantissa_bits))));
}

// Rounds to nearest even; negative numbers become zero, NaN stays.
uint32_t FloatToSmallFloat(uint32_t value, int mantissa_bits) {
  const int drop = 23 - mantissa_bits;
  const uint32_t exp_mask = 31u << mantissa_bits;
  if ((value & 0x7fffffffu) > 0x7f800000u) return exp_mask | 1u << (mantissa_bits - 1);
  if ((value >> 31) != 0) return 0;
  if (value >= 0x47800000u) return exp_mask;  // 2^16 and above
  if (value < 0x38800000u) {                  // denormal: in units of 2^-(14 + mantissa bits)
    const double units = std::bit_cast<float>(value) * std::ldexp(1.0, 14 + mantissa_bits);
    return static_cast<uint32_t>(std::nearbyint(units));
  }
  const uint32_t rounded = value + ((1u << (drop - 1)) - 1) + ((value >> drop) & 1);
  return (rounded - (112u << 23)) >> drop;
}

uint32_t FloatBits(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }

uint32_t DecodeComponent(NumberFormat number, uint32_t raw, int bits) {
  const int32_t value = static_cast<int32_t>(raw << (32 - bits)) >> (32 - bits);
  switch (number) {
    case NumberFormat::kUnorm:
      return FloatBits(static_cast<double>(raw) / static_cast<double>((uint64_t{1} << bits) - 1));
    case NumberFormat::kSnorm: {
      const double v = static_cast<double>(value) / static_cast<double>((uint64_t{1} << (bits - 1)) - 1);
      return FloatBits(v < -1.0 ? -1.0 : v);
    }
    case NumberFormat::kUscaled:
      return FloatBits(raw);
    case NumberFormat::kSscaled:
      return FloatBits(value);
    case NumberFormat::kUint:
      return raw;
    case NumberFormat::kSint:
      return static_cast<uint32_t>(value);
    case NumberFormat::kFloat:
      break;
  }
  if (bits == 32) return raw;
  if (bits == 16) return std::bit_cast<uint32_t>(HalfToFloat(static_cast<uint16_t>(raw)));
  return SmallFloatToFloat(raw, bits == 11 ? 6 : 5);
}

// The nearest integer of `value` between the limits; NaN gives 0.
int64_t ToInteger(double value, double low, double high) {
  if (std::isnan(value)) return 0;
  return static_cast<int64_t>(std::nearbyint(std::fmin(std::fmax(value, low), high)));
}

uint32_t EncodeComponent(NumberFormat number, uint32_t value, int bits) {
  const double real = std::bit_cast<float>(value);
  const double unsigned_max = static_cast<double>((uint64_t{1} << bits) - 1);
  const double signed_max = static_cast<double>((uint64_t{1} << (bits - 1)) - 1);
  switch (number) {
    case NumberFormat::kUnorm:
      return static_cast<uint32_t>(ToInteger(real * unsigned_max, 0, unsigned_max));
    case NumberFormat::kSnorm:
      return static_cast<uint32_t>(ToInteger(real * signed_max, -signed_max, signed_max));
    case NumberFormat::kUscaled:
      return static_cast<uint32_t>(ToInteger(real, 0, unsigned_max));
    case NumberFormat::kSscaled:
      return static_cast<uint32_t>(ToInteger(real, -signed_max - 1, signed_max));
    case NumberFormat::kUint:
    case NumberFormat::kSint:
      return value;
    case NumberFormat::kFloat:
      break;
  }
  if (bits == 32) return value;
  if (bits == 16) return FloatToHalf(std::bit_cast<float>(value));
  return FloatToSmallFloat(value, bits == 11 ? 6 : 5);
}

void DecodeSharedExponent(uint32_t word, uint32_t value[4]) {
  const double scale = std::ldexp(1.0, static_cast<int>(word >> 27) - 15 - 9);
  for (int i = 0; i < 3; ++i) value[i] = FloatBits(((word >> (9 * i)) & 511) * scale);
  value[3] = 0x3f800000u;
}

// As the OpenGL extension EXT_texture_shared_exponent writes it.
uint32_t EncodeSharedExponent(const uint32_t value[4]) {
  constexpr double kMax = 511.0 / 512.0 * 65536.0;
  double c[3];
  double largest = 0;
  for (int i = 0; i < 3; ++i) {
    const double v = std::bit_cast<float>(value[i]);
    c[i] = v > 0 ? std::fmin(v, kMax) : 0;  // NaN too
    largest = std::fmax(largest, c[i]);
  }
  int exponent = largest == 0 ? -16 : std::max(-16, std::ilogb(largest));
  exponent += 1 + 15;
  double scale = std::ldexp(1.0, exponent - 15 - 9);
  if (std::floor(largest / scale + 0.5) == 512) ++exponent, scale *= 2;
  uint32_t word = static_cast<uint32_t>(exponent) << 27;
  for (int i = 0; i < 3; ++i) word |= static_cast<uint32_t>(std::floor(c[i] / scale + 0.5)) << (9 * i);
  return word;
}

}  // namespace

const TexelFormat* BufferFormat(uint32_t unified) {
  if (unified >= UnifiedFormats().size() || UnifiedFormats()[unified].components == 0) return nullptr;
  return &UnifiedFormats()[unified];
}

const TexelFormat* Gfx9BufferFormat(uint32_t data, uint32_t number) {
  const TexelFormat& format = Gfx9Formats()[(data & 15) * 8 + (number & 7)];
  return format.components == 0 ? nullptr : &format;
}

const TexelFormat* ImageFormat(uint32_t unified) {
  struct Own {
    uint32_t number;
    TexelFormat format;
  };
  static const Own* const own = new Own[6]{
      {67, {3, {9, 9, 9, 0}, NumberFormat::kFloat, true, "5_9_9_9_FLOAT"}},
      {68, Parse("5_6_5_UNORM")},
      {69, Parse("1_5_5_5_UNORM")},
      {70, Parse("5_5_5_1_UNORM")},
      {71, Parse("4_4_4_4_UNORM")},
      {72, Parse("4_4_UNORM")},
  };
  for (int i = 0; i < 6; ++i) {
    if (own[i].number == unified) return &own[i].format;
  }
  return BufferFormat(unified);
}

const TexelFormat* Gfx9ImageFormat(uint32_t data, uint32_t number) {
  if (number == 0 && data >= 16 && data <= 19) return ImageFormat(68 + data - 16);
  return data < 16 && number < 8 ? Gfx9BufferFormat(data, number) : nullptr;
}

void DecodeTexel(const TexelFormat& format, const uint8_t* bytes, uint32_t value[4]) {
  if (format.shared_exponent) {
    uint32_t word;
    std::memcpy(&word, bytes, 4);
    return DecodeSharedExponent(word, value);
  }
  uint64_t words[2] = {};
  std::memcpy(words, bytes, static_cast<size_t>(format.bytes()));
  for (int i = 0, at = 0; i < 4; at += format.bits[i++]) {
    const int bits = format.bits[i];
    if (i >= format.components) {
      value[i] = i == 3 ? TexelOne(format) : 0;
      continue;
    }
    const uint32_t raw = static_cast<uint32_t>(words[at / 64] >> (at % 64) & ((uint64_t{1} << bits) - 1));
    value[i] = DecodeComponent(format.number, raw, bits);
  }
}

void EncodeTexel(const TexelFormat& format, const uint32_t value[4], uint8_t* bytes) {
  if (format.shared_exponent) {
    const uint32_t word = EncodeSharedExponent(value);
    std::memcpy(bytes, &word, 4);
    return;
  }
  uint64_t words[2] = {};
  for (int i = 0, at = 0; i < format.components; at += format.bits[i++]) {
    const int bits = format.bits[i];
    const uint64_t raw = EncodeComponent(format.number, value[i], bits) & ((uint64_t{1} << bits) - 1);
    words[at / 64] |= raw << (at % 64);
  }
  std::memcpy(bytes, words, static_cast<size_t>(format.bytes()));
}

uint16_t TexelToHalf(const TexelFormat& format, uint32_t value) {
  return format.integer() ? static_cast<uint16_t>(value) : FloatToHalf(std::bit_cast<float>(value));
}

uint32_t TexelFromHalf(const TexelFormat& format, uint16_t half) {
  if (format.number == NumberFormat::kSint) return static_cast<uint32_t>(int32_t{static_cast<int16_t>(half)});
  return format.integer() ? half : std::bit_cast<uint32_t>(HalfToFloat(half));
}

}  // namespace understudy::emu::amd
