// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/state/gguf_blocks.h"

#include <bit>
#include <cstring>

#include "src/base/half.h"

namespace understudy::state {
namespace {

float Half(const uint8_t* p) { return HalfToFloat(static_cast<uint16_t>(p[0] | p[1] << 8)); }
uint32_t Word(const uint8_t* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

// --- Blocks of 32: a scale, perhaps a least value, and 4 to 8 bits an element ---

void Q4_0(const uint8_t* b, float* out) {
  const float d = Half(b);
  for (int j = 0; j < 16; ++j) {
    out[j] = static_cast<float>((b[2 + j] & 15) - 8) * d;
    out[j + 16] = static_cast<float>((b[2 + j] >> 4) - 8) * d;
  }
}

void Q4_1(const uint8_t* b, float* out) {
  const float d = Half(b), m = Half(b + 2);
  for (int j = 0; j < 16; ++j) {
    out[j] = static_cast<float>(b[4 + j] & 15) * d + m;
    out[j + 16] = static_cast<float>(b[4 + j] >> 4) * d + m;
  }
}

// The fifth bit of element j, in its place.
int Fifth(uint32_t high, int j) { return static_cast<int>(high >> j & 1) << 4; }

void Q5_0(const uint8_t* b, float* out) {
  const float d = Half(b);
  const uint32_t high = Word(b + 2);
  for (int j = 0; j < 16; ++j) {
    out[j] = static_cast<float>(((b[6 + j] & 15) | Fifth(high, j)) - 16) * d;
    out[j + 16] = static_cast<float>(((b[6 + j] >> 4) | Fifth(high, j + 16)) - 16) * d;
  }
}

void Q5_1(const uint8_t* b, float* out) {
  const float d = Half(b), m = Half(b + 2);
  const uint32_t high = Word(b + 4);
  for (int j = 0; j < 16; ++j) {
    out[j] = static_cast<float>((b[8 + j] & 15) | Fifth(high, j)) * d + m;
    out[j + 16] = static_cast<float>((b[8 + j] >> 4) | Fifth(high, j + 16)) * d + m;
  }
}

void Q8_0(const uint8_t* b, float* out) {
  const float d = Half(b);
  for (int j = 0; j < 32; ++j) out[j] = static_cast<float>(static_cast<int8_t>(b[2 + j])) * d;
}

// --- Blocks of 256: a scale of scales, and a scale for each 16 or 32 elements ---

void Q2_K(const uint8_t* b, float* out) {
  const uint8_t *scales = b, *q = b + 16;
  const float d = Half(b + 80), dmin = Half(b + 82);
  for (int i = 0; i < 256; ++i) {
    // 128 elements share 32 bytes, two bits each; a scale belongs to 16 elements.
    const int half = i / 128, shift = i % 128 / 32 * 2;
    const uint8_t s = scales[i / 16];
    const float scale = d * static_cast<float>(s & 15), least = dmin * static_cast<float>(s >> 4);
    out[i] = scale * static_cast<float>(q[half * 32 + i % 32] >> shift & 3) - least;
  }
}

void Q3_K(const uint8_t* b, float* out) {
  const uint8_t *mask = b, *q = b + 32, *packed = b + 96;
  const float d = Half(b + 108);
  for (int i = 0; i < 256; ++i) {
    // Sixteen scales of six bits in twelve bytes: four low bits in the first eight, two high bits in the
    // rest.
    const int k = i / 16;
    const int low = k < 8 ? packed[k] & 15 : packed[k - 8] >> 4;
    const int high = packed[8 + k % 4] >> (k / 4 * 2) & 3;
    const float scale = d * static_cast<float>((low | high << 4) - 32);
    const int two = q[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
    const int third = mask[i % 32] >> (i / 32) & 1;
    out[i] = scale * static_cast<float>(two - (third ? 0 : 4));
  }
}

// Eight pairs of a six-bit scale and a six-bit least value in twelve bytes (Q4_K and Q5_K).
struct Pair {
  int scale, least;
};
Pair ScalePair(const uint8_t* s, int k) {
  if (k < 4) return {s[k] & 63, s[k + 4] & 63};
  return {(s[k + 4] & 15) | s[k - 4] >> 6 << 4, s[k + 4] >> 4 | s[k] >> 6 << 4};
}

void Q4_K(const uint8_t* b, float* out) {
  const float d = Half(b), dmin = Half(b + 2);
  const uint8_t *scales = b + 4, *q = b + 16;
  for (int i = 0; i < 256; ++i) {
    const Pair p = ScalePair(scales, i / 32);
    const int v = q[i / 64 * 32 + i % 32] >> (i % 64 / 32 * 4) & 15;
    out[i] = d * static_cast<float>(p.scale) * static_cast<float>(v) - dmin * static_cast<float>(p.least);
  }
}

void Q5_K(const uint8_t* b, float* out) {
  const float d = Half(b), dmin = Half(b + 2);
  const uint8_t *scales = b + 4, *high = b + 16, *q = b + 48;
  for (int i = 0; i < 256; ++i) {
    const Pair p = ScalePair(scales, i / 32);
    const int v = (q[i / 64 * 32 + i % 32] >> (i % 64 / 32 * 4) & 15) | (high[i % 32] >> (i / 32) & 1) << 4;
    out[i] = d * static_cast<float>(p.scale) * static_cast<float>(v) - dmin * static_cast<float>(p.least);
  }
}

void Q6_K(const uint8_t* b, float* out) {
  const uint8_t *low = b, *high = b + 128, *scales = b + 192;
  const float d = Half(b + 208);
  for (int i = 0; i < 256; ++i) {
    // 128 elements: 64 bytes of low halves (first the low nibbles), 32 bytes of four two-bit high parts.
    const int half = i / 128, j = i % 128;
    const int nibble = low[half * 64 + j % 64] >> (j / 64 * 4) & 15;
    const int two = high[half * 32 + j % 32] >> (j / 32 * 2) & 3;
    out[i] = d * static_cast<float>(static_cast<int8_t>(scales[i / 16])) *
             static_cast<float>((nibble | two << 4) - 32);
  }
}

void Q8_K(const uint8_t* b, float* out) {
  // Sums of sixteen elements follow, for products of integers.
  const auto d = std::bit_cast<float>(Word(b));
  for (int i = 0; i < 256; ++i) out[i] = d * static_cast<float>(static_cast<int8_t>(b[4 + i]));
}

constexpr GgufType kTypes[] = {
    {0, "F32", 1, 4, dtypes::kFloat32, nullptr},       {1, "F16", 1, 2, dtypes::kFloat16, nullptr},
    {2, "Q4_0", 32, 18, dtypes::kFloat32, Q4_0},       {3, "Q4_1", 32, 20, dtypes::kFloat32, Q4_1},
    {6, "Q5_0", 32, 22, dtypes::kFloat32, Q5_0},       {7, "Q5_1", 32, 24, dtypes::kFloat32, Q5_1},
    {8, "Q8_0", 32, 34, dtypes::kFloat32, Q8_0},       {10, "Q2_K", 256, 84, dtypes::kFloat32, Q2_K},
    {11, "Q3_K", 256, 110, dtypes::kFloat32, Q3_K},    {12, "Q4_K", 256, 144, dtypes::kFloat32, Q4_K},
    {13, "Q5_K", 256, 176, dtypes::kFloat32, Q5_K},    {14, "Q6_K", 256, 210, dtypes::kFloat32, Q6_K},
    {15, "Q8_K", 256, 292, dtypes::kFloat32, Q8_K},    {16, "IQ2_XXS", 256, 66, dtypes::kFloat32, Iq2Xxs},
    {17, "IQ2_XS", 256, 74, dtypes::kFloat32, Iq2Xs},  {18, "IQ3_XXS", 256, 98, dtypes::kFloat32, Iq3Xxs},
    {19, "IQ1_S", 256, 50, dtypes::kFloat32, Iq1S},    {20, "IQ4_NL", 32, 18, dtypes::kFloat32, Iq4Nl},
    {21, "IQ3_S", 256, 110, dtypes::kFloat32, Iq3S},   {22, "IQ2_S", 256, 82, dtypes::kFloat32, Iq2S},
    {23, "IQ4_XS", 256, 136, dtypes::kFloat32, Iq4Xs}, {24, "I8", 1, 1, dtypes::kInt8, nullptr},
    {25, "I16", 1, 2, dtypes::kInt16, nullptr},        {26, "I32", 1, 4, dtypes::kInt32, nullptr},
    {27, "I64", 1, 8, dtypes::kInt64, nullptr},        {28, "F64", 1, 8, dtypes::kFloat64, nullptr},
    {29, "IQ1_M", 256, 56, dtypes::kFloat32, Iq1M},    {30, "BF16", 1, 2, dtypes::kBFloat16, nullptr},
    {34, "TQ1_0", 256, 54, dtypes::kFloat32, Tq1_0},   {35, "TQ2_0", 256, 66, dtypes::kFloat32, Tq2_0},
    {39, "MXFP4", 32, 17, dtypes::kFloat32, Mxfp4},    {40, "NVFP4", 64, 36, dtypes::kFloat32, Nvfp4},
};

}  // namespace

const GgufType* FindGgufType(uint32_t number) {
  for (const GgufType& t : kTypes) {
    if (t.number == number) return &t;
  }
  return nullptr;
}

}  // namespace understudy::state
