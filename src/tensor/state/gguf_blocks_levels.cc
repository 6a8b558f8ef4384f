// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstdint>
#include <cstring>

#include "src/base/half.h"
#include "src/tensor/state/gguf_blocks.h"

namespace understudy::state {
namespace {

#include "src/tensor/state/gguf_grids.inc"

constexpr float kLevels1[] = {-1, 0, 1};
constexpr float kLevels2[] = {8, 25, 43};
constexpr float kLevels3Xxs[] = {4, 12, 20, 28, 36, 44, 52, 62};
constexpr float kLevels3S[] = {1, 3, 5, 7, 9, 11, 13, 15};
constexpr float kLevels4[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
// The numbers of FP4 (two bits of exponent, one of mantissa), doubled.
constexpr float kFp4[] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

int Word16(const uint8_t* p) { return p[0] | p[1] << 8; }
uint32_t Word32(const uint8_t* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}
float Half(const uint8_t* p) { return HalfToFloat(static_cast<uint16_t>(Word16(p))); }

// Eight signs in seven bits: the number of negative elements is even.
uint32_t Signs(uint32_t seven) { return seven | (std::popcount(seven) & 1u) << 7; }

// `n` elements: scale times the levels that the point names, negative where `signs` has a bit.
void Point(uint16_t point, int n, int bits, const float* levels, float scale, uint32_t signs, float* out) {
  for (int j = 0; j < n; ++j) {
    const float v = scale * levels[point >> (bits * j) & ((1 << bits) - 1)];
    out[j] = (signs >> j & 1) != 0 ? -v : v;
  }
}
void Point2(uint16_t point, float scale, uint32_t signs, float* out) {
  Point(point, 8, 2, kLevels2, scale, signs, out);
}

float Nibble(const uint8_t* b, int i) { return static_cast<float>(b[i / 2] >> (i % 2 * 4) & 15); }

// The scale of a block, d, times 1/2 + an integer, times a power of two.
float Quarter(float d, float scale) { return d * (0.5f + scale) * 0.25f; }

// Eight elements of IQ1: scale (level + delta).
void Point1(int number, float scale, bool minus, float* out) {
  const uint16_t point = kGridIq1S[number];
  for (int j = 0; j < 8; ++j) out[j] = scale * (kLevels1[point >> (2 * j) & 3] + (minus ? -0.125f : 0.125f));
}

}  // namespace

void Iq1S(const uint8_t* b, float* out) {
  const float d = Half(b);
  const uint8_t *low = b + 2, *words = b + 34;
  for (int k = 0; k < 8; ++k) {  // 32 elements: four points of eight, one word of high bits, scale and sign
    const int word = Word16(words + 2 * k);
    const float scale = d * static_cast<float>(2 * (word >> 12 & 7) + 1);
    for (int j = 0; j < 4; ++j)
      Point1(low[4 * k + j] | (word >> (3 * j) & 7) << 8, scale, (word & 0x8000) != 0, out + 32 * k + 8 * j);
  }
}

void Iq1M(const uint8_t* b, float* out) {
  const uint8_t *low = b, *high = b + 32, *scales = b + 48;
  // The f16 scale lies in the top nibbles of the four words of scales.
  int bits = 0;
  for (int k = 0; k < 4; ++k) bits |= Word16(scales + 2 * k) >> 12 << (4 * k);
  const float d = HalfToFloat(static_cast<uint16_t>(bits));
  for (int i = 0; i < 32; ++i) {  // eight elements; a scale belongs to sixteen
    const int three = Word16(scales + i / 8 * 2) >> (i / 2 % 4 * 3) & 7;
    const int nibble = high[i / 2] >> (i % 2 * 4) & 15;
    Point1(low[i] | (nibble & 7) << 8, d * static_cast<float>(2 * three + 1), (nibble & 8) != 0, out + 8 * i);
  }
}

void Iq2Xxs(const uint8_t* b, float* out) {
  const float d = Half(b);
  for (int k = 0; k < 8; ++k) {  // 32 elements: four points, then four times seven signs and a scale
    const uint8_t* points = b + 2 + 8 * k;
    const uint32_t word = Word32(points + 4);
    const float scale = Quarter(d, static_cast<float>(word >> 28));
    for (int j = 0; j < 4; ++j)
      Point2(kGridIq2Xxs[points[j]], scale, Signs(word >> (7 * j) & 127), out + 32 * k + 8 * j);
  }
}

void Iq2Xs(const uint8_t* b, float* out) {
  const float d = Half(b);
  const uint8_t *words = b + 2, *scales = b + 66;
  for (int i = 0; i < 32; ++i) {  // eight elements: nine bits of point, seven of signs
    const int word = Word16(words + 2 * i);
    Point2(kGridIq2Xs[word & 511], Quarter(d, Nibble(scales, i / 2)), Signs(word >> 9), out + 8 * i);
  }
}

void Iq2S(const uint8_t* b, float* out) {
  const float d = Half(b);
  const uint8_t *low = b + 2, *signs = b + 34, *high = b + 66, *scales = b + 74;
  for (int i = 0; i < 32; ++i) {
    const int point = low[i] | (high[i / 4] >> (i % 4 * 2) & 3) << 8;
    Point2(kGridIq2S[point], Quarter(d, Nibble(scales, i / 2)), signs[i], out + 8 * i);
  }
}

void Iq3Xxs(const uint8_t* b, float* out) {
  const float d = Half(b);
  const uint8_t *points = b + 2, *words = b + 66;
  for (int i = 0; i < 64; ++i) {  // four elements; 32 share four times seven signs and a scale
    const uint32_t word = Word32(words + i / 8 * 4);
    const float scale = d * (0.5f + static_cast<float>(word >> 28)) * 0.5f;
    const uint32_t eight = Signs(word >> (i % 8 / 2 * 7) & 127);
    Point(kGridIq3Xxs[points[i]], 4, 3, kLevels3Xxs, scale, eight >> (i % 2 * 4), out + 4 * i);
  }
}

void Iq3S(const uint8_t* b, float* out) {
  const float d = Half(b);
  const uint8_t *low = b + 2, *high = b + 66, *signs = b + 74, *scales = b + 106;
  for (int i = 0; i < 64; ++i) {
    const int point = low[i] | (high[i / 8] >> (i % 8) & 1) << 8;
    Point(kGridIq3S[point], 4, 3, kLevels3S, d * (1 + 2 * Nibble(scales, i / 8)), signs[i / 2] >> (i % 2 * 4),
          out + 4 * i);
  }
}

void Iq4Nl(const uint8_t* b, float* out) {
  const float d = Half(b);
  for (int j = 0; j < 16; ++j) {
    out[j] = d * kLevels4[b[2 + j] & 15];
    out[j + 16] = d * kLevels4[b[2 + j] >> 4];
  }
}

void Iq4Xs(const uint8_t* b, float* out) {
  const float d = Half(b);
  const int high = Word16(b + 2);
  const uint8_t *low = b + 4, *q = b + 8;
  for (int k = 0; k < 8; ++k) {  // 32 elements
    const int six = (low[k / 2] >> (k % 2 * 4) & 15) | (high >> (2 * k) & 3) << 4;
    const float scale = d * static_cast<float>(six - 32);
    for (int j = 0; j < 16; ++j) {
      out[32 * k + j] = scale * kLevels4[q[16 * k + j] & 15];
      out[32 * k + 16 + j] = scale * kLevels4[q[16 * k + j] >> 4];
    }
  }
}

namespace {

// A byte is a number below 3^5 as a fraction of 256: times 3^digit, its integer part modulo 3 is the digit.
float Ternary(uint8_t byte, int digit) {
  static constexpr int kPowers[] = {1, 3, 9, 27, 81};
  const auto moved = static_cast<uint8_t>(byte * kPowers[digit]);
  return static_cast<float>((moved * 3 >> 8) - 1);
}

}  // namespace

void Tq1_0(const uint8_t* b, float* out) {
  const float d = Half(b + 52);
  for (int i = 0; i < 160; ++i) out[i] = d * Ternary(b[i % 32], i / 32);
  for (int i = 0; i < 80; ++i) out[160 + i] = d * Ternary(b[32 + i % 16], i / 16);
  for (int i = 0; i < 16; ++i) out[240 + i] = d * Ternary(b[48 + i % 4], i / 4);
}

void Tq2_0(const uint8_t* b, float* out) {
  const float d = Half(b + 64);
  for (int i = 0; i < 256; ++i)
    out[i] = d * static_cast<float>((b[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3) - 1);
}

void Mxfp4(const uint8_t* b, float* out) {
  // 2^(e - 128): half of the block's scale, since the levels are doubled.
  const uint32_t e = b[0];
  const auto d = std::bit_cast<float>(e < 2 ? 0x00200000u << e : (e - 1) << 23);
  for (int j = 0; j < 16; ++j) {
    out[j] = d * kFp4[b[1 + j] & 15];
    out[j + 16] = d * kFp4[b[1 + j] >> 4];
  }
}

void Nvfp4(const uint8_t* b, float* out) {
  for (int k = 0; k < 4; ++k) {  // 16 elements under an unsigned E4M3 scale, whose top bit is not read
    const int e = b[k] >> 3 & 15;
    const auto m = static_cast<float>(b[k] & 7);
    // 2^(e - 7), and 2^-9 a step below the normal numbers; halved, since the levels are doubled.
    float d = e == 0 ? m * 0x1p-10f : (1 + m / 8) * std::bit_cast<float>((e + 119) << 23);
    if (b[k] == 0 || b[k] == 0x7F) d = 0;
    for (int j = 0; j < 8; ++j) {
      out[16 * k + j] = d * kFp4[b[4 + 8 * k + j] & 15];
      out[16 * k + 8 + j] = d * kFp4[b[4 + 8 * k + j] >> 4];
    }
  }
}

}  // namespace understudy::state
