// SPDX-License-Identifier: Apache-2.0
// The language's core: integers, floats, conversions, private memory, control flow and calls.

KERNEL(Divide32) {
  const uint32_t a = IN(0), b = IN(1) | 1u, c = IN(2) >> (IN(3) & 31u) | 1u;
  const int32_t sa = (int32_t)a, sb = (int32_t)(b == ~0u ? 3u : b), sc = (int32_t)(c == ~0u ? 5u : c);
  out[0] = a / b, out[1] = a % b, out[2] = a / c, out[3] = a % c;
  out[4] = (uint32_t)(sa / sb), out[5] = (uint32_t)(sa % sb), out[6] = (uint32_t)(sa / sc),
  out[7] = (uint32_t)(sa % 7);
}

KERNEL(Divide64) {
  const uint64_t a = IN64(0), b = IN64(2) >> (IN(4) & 63u) | 1u;
  const int64_t sa = (int64_t)a, sb = (int64_t)(b == ~(uint64_t)0 ? 3u : b);
  OUT64(0, a / b);
  OUT64(2, a % b);
  OUT64(4, (uint64_t)(sa / sb));
  OUT64(6, (uint64_t)(sa % sb));
}

KERNEL(Wide) {
  const uint64_t a = IN64(0), b = IN64(2);
  const uint32_t n = IN(4) & 63u;
  OUT64(0, a * b + (a >> n) - (b << (63u - n)));
  OUT64(2, (uint64_t)((int64_t)a >> n) ^ (a << n | a >> ((64u - n) & 63u)));
  OUT64(4, a < b ? a : (int64_t)a < (int64_t)b ? b : a ^ b);
  OUT64(6, (uint64_t)(uint32_t)a * (uint32_t)b + (uint64_t)((int64_t)(int32_t)a * (int32_t)(b >> 32)));
}

KERNEL(Float32) {
  const float a = AsFloat(IN(0)), b = AsFloat(IN(1)), c = AsFloat(IN(2));
  out[0] = FloatBits(a + b * c);
  out[1] = FloatBits(a / b);
  out[2] = FloatBits(__builtin_sqrtf(a));
  out[3] = FloatBits(__builtin_fmaf(a, b, c));
  out[4] = FloatBits(__builtin_floorf(a) - __builtin_truncf(b) + __builtin_ceilf(c));
  out[5] = FloatBits(__builtin_rintf(a) * 0.5f - b);
  out[6] = FloatBits(a < b ? a - c : b > c ? a * c : -a);
  out[7] = (uint32_t)(a < b) | (uint32_t)(a <= b) << 1 | (uint32_t)(a == c) << 2 | (uint32_t)(a != a) << 3 |
           (uint32_t)!(a >= c) << 4 | (uint32_t)(__builtin_signbit(b) != 0) << 5;
}

// Near one another in magnitude, so that rounding and cancellation matter.
KERNEL(Float32Near) {
  const float a = AsFloat((IN(0) & 0x80ffffffu) | 0x3f000000u),
              b = AsFloat((IN(1) & 0x81ffffffu) | 0x3e000000u);
  float s = a, p = b;
  for (int k = 0; k < 12; ++k) {
    const float t = s * p - b;
    p = p / (s * s + 0.25f) + a;
    s = t - __builtin_sqrtf(p * p + 1.0f);
    s = s * 0.125f;
    p = __builtin_fmaf(p, 0.0625f, s);
  }
  out[0] = FloatBits(s), out[1] = FloatBits(p);
  out[2] = FloatBits(a / b), out[3] = FloatBits(__builtin_sqrtf(__builtin_fabsf(b)));
  out[4] = FloatBits(a - b), out[5] = FloatBits(a * b), out[6] = (uint32_t)(int32_t)(a * 100.0f),
  out[7] = FloatBits(1.0f / a);
}

KERNEL(Float64) {
  const double a = AsDouble(IN64(0)), b = AsDouble(IN64(2));
  OUT64(0, DoubleBits(a / b + __builtin_floor(a)));
  OUT64(2, DoubleBits(__builtin_sqrt(a) - b));
  OUT64(4, DoubleBits(__builtin_fma(a, b, 1.5)));
  OUT64(6, DoubleBits(a < b ? a * b : __builtin_rint(a) - __builtin_trunc(b)));
}

KERNEL(Float64Near) {
  const double a = AsDouble((IN64(0) & 0x801fffffffffffffu) | 0x3fe0000000000000u);
  const double b = AsDouble((IN64(2) & 0x803fffffffffffffu) | 0x3fc0000000000000u);
  double s = a, p = b;
  for (int k = 0; k < 8; ++k) {
    const double t = s * p - b;
    p = p / (s * s + 0.25) + a;
    s = (t - __builtin_sqrt(p * p + 1.0)) * 0.125;
  }
  OUT64(0, DoubleBits(s));
  OUT64(2, DoubleBits(p));
  OUT64(4, DoubleBits(a / b));
  OUT64(6, DoubleBits(1.0 / a));
}

KERNEL(Convert) {
  const uint32_t a = IN(0);
  const uint64_t w = IN64(1);
  const float f = AsFloat((IN(3) & 0x87ffffffu) | 0x40000000u);  // magnitudes 2 to 2^17
  const double d = AsDouble((IN64(4) & 0x80ffffffffffffffu) | 0x4000000000000000u);
  out[0] = FloatBits((float)a + (float)(int32_t)a);
  out[1] = FloatBits((float)w - (float)(int64_t)w);
  out[2] =
      FloatBits((float)(uint8_t)a + (float)(uint8_t)(a >> 8) * (float)(int8_t)(a >> 16) + (float)(int16_t)a);
  out[3] = (uint32_t)(int32_t)f ^ (uint32_t)__builtin_fabsf(f);
  OUT64(4, DoubleBits((double)a + (double)(int32_t)a + (double)f + (double)(int64_t)w));
  out[6] = FloatBits((float)d);
  out[7] = (uint32_t)(int32_t)(d * 0.0001) + (uint32_t)((uint64_t)(int64_t)f >> 3);
}

KERNEL(Bits) {
  const uint32_t a = IN(0), b = IN(1), n = IN(2) & 31u;
  out[0] = (uint32_t)__builtin_popcount(a) + (uint32_t)__builtin_clz(a | 1u) * 100u +
           (uint32_t)__builtin_ctz(a | 0x80000000u) * 10000u;
  out[1] = __builtin_bswap32(a) ^ (a << n | b >> (31u - n) >> 1);
  out[2] = (a >> (n & 7u) & ((1u << (b & 15u)) - 1u)) | (b & ~0xffu);
  out[3] = (uint32_t)((int32_t)(a << n) >> n) + (uint32_t)(int32_t)(int8_t)a + (uint32_t)(int32_t)(int16_t)b;
  out[4] = (a & b) | (~a & out[1]);
  out[5] = a * 0x9e3779b1u + (a + b < a);
  out[6] = (uint32_t)(((uint64_t)a * b) >> 32) - (uint32_t)(((int64_t)(int32_t)a * (int32_t)b) >> 32);
  OUT64(6,
        IN64(3) + ((uint64_t)__builtin_popcountll(IN64(0)) << 32) + (uint64_t)__builtin_clzll(IN64(1) | 1u));
}

KERNEL(SmallIntegers) {
  uint8_t bytes[8];
  int16_t halves[4];
  for (uint32_t k = 0; k < 8; ++k) bytes[k] = (uint8_t)(IN(k) >> k);
  for (uint32_t k = 0; k < 4; ++k) halves[k] = (int16_t)(bytes[2 * k] * 257 - bytes[2 * k + 1] * 100);
  for (uint32_t k = 0; k < 4; ++k)
    out[k] = (uint32_t)(int32_t)(int16_t)(halves[k] * halves[(k + 1) & 3] + (halves[k] >> 3));
  for (uint32_t k = 0; k < 4; ++k)
    out[4 + k] = (uint32_t)(uint8_t)(bytes[k] + bytes[7 - k]) << 8 | (uint8_t)(bytes[k] * bytes[k + 1]);
}

KERNEL(PrivateArray) {
  uint32_t t[48];
  for (uint32_t k = 0; k < 48; ++k) t[k] = IN(k) ^ k;
  uint32_t s = 0;
  for (uint32_t k = 0; k < 48; ++k) {
    const uint32_t at = t[k] % 48u;
    s = s * 31u + t[at];
    t[(at + k) % 48u] += s;
  }
  for (uint32_t k = 0; k < 8; ++k) out[k] = t[(s + k * 5u) % 48u];
}

KERNEL(Sort) {
  int32_t t[24];
  for (uint32_t k = 0; k < 24; ++k) t[k] = (int32_t)IN(k);
  for (int n = 1; n < 24; ++n) {
    const int32_t v = t[n];
    int at = n - 1;
    while (at >= 0 && t[at] > v) {
      t[at + 1] = t[at];
      --at;
    }
    t[at + 1] = v;
  }
  for (uint32_t k = 0; k < 8; ++k) out[k] = (uint32_t)t[k * 3];
}

KERNEL(Switch) {
  uint32_t s = i, turns = 0;
  for (uint32_t k = 0; k < 40; ++k) {
    const uint32_t v = IN(k);
    switch (v & 7u) {
      case 0:
        s += v;
        break;
      case 1:
        s ^= v;
        break;
      case 2:
        s -= v >> 3;
        break;
      case 3:
        s *= 3u;
        break;
      case 4:
        if (v & 8u) continue;
        s += 1u;
        break;
      case 5:
        s = (uint32_t)__builtin_popcount(v) + s;
        break;
      case 6:
        s = s << 5 | s >> 27;
        break;
      default:
        s = 0u - s;
    }
    ++turns;
    if ((s & 0xffu) == 0x42u) break;
  }
  out[0] = s, out[1] = turns;
  uint32_t n = IN(0) & 0xffffu, steps = 0;  // a loop that ends at another turn in each lane
  while (n > 1u && steps < 200u) n = n & 1u ? n * 3u + 1u : n >> 1, ++steps;
  out[2] = steps, out[3] = n, out[4] = out[5] = out[6] = out[7] = 0;
}

static __attribute__((noinline)) uint32_t Mix(uint32_t a, uint32_t b, uint32_t* spill) {
  uint32_t local[6];
  for (uint32_t k = 0; k < 6; ++k) local[k] = a * (k + 1u) ^ b >> k;
  *spill += local[b % 6u];
  return local[a % 6u] + *spill;
}
static __attribute__((noinline)) uint32_t Twice(uint32_t a, uint32_t b, uint32_t* spill) {
  return Mix(Mix(a, b, spill), b + 1u, spill) ^ Mix(b, a, spill);
}
KERNEL(Calls) {
  uint32_t spill = IN(0);
  for (uint32_t k = 0; k < 7; ++k) out[k] = Twice(IN(k), IN(k + 1), &spill);
  out[7] = spill;
}

// One operation an assignment: each rounds to half precision.
KERNEL(Float16) {
  const _Float16 a = AsHalf(IN(0)), b = AsHalf(IN(1) >> 8), c = AsHalf(IN(2) >> 16);
  const _Float16 sum = a + b, product = a * c, quotient = b / c, difference = product - b;
  const _Float16 narrowed = (_Float16)AsFloat((IN(3) & 0x87ffffffu) | 0x38000000u);
  const _Float16 small = (_Float16)(int)(int16_t)(IN(4) & 0x87ffu);
  out[0] = HalfBits(sum) | HalfBits(product) << 16;
  out[1] = HalfBits(quotient) | HalfBits(difference) << 16;
  out[2] = HalfBits(narrowed) | HalfBits(small) << 16;
  out[3] = (uint32_t)(a < b) | (uint32_t)(b >= c) << 1 | (uint32_t)(a == a) << 2 | (uint32_t)(a != c) << 3;
  out[4] = FloatBits((float)a * (float)b - (float)c);
  out[5] = (uint32_t)(int32_t)(small * (_Float16)2);
  const _Float16 picked = a < b ? c : sum;
  out[6] = HalfBits(picked), out[7] = HalfBits(-a);
}

struct Packed {
  uint8_t tag;
  uint32_t word;
  uint16_t half;
  uint64_t wide;
} __attribute__((packed));
KERNEL(Unaligned) {
  struct Packed p[3];
  for (uint32_t k = 0; k < 3; ++k) {
    p[k].tag = (uint8_t)IN(k), p[k].word = IN(k + 1), p[k].half = (uint16_t)IN(k + 2),
    p[k].wide = IN64(k + 3);
  }
  const uint32_t at = IN(0) % 3u;
  out[0] = p[at].word, out[1] = p[at].half + p[(at + 1u) % 3u].tag;
  OUT64(2, p[(at + 2u) % 3u].wide);
  uint8_t bytes[32];
  for (uint32_t k = 0; k < 32; ++k) bytes[k] = (uint8_t)(IN(k) >> 5);
  uint32_t word;
  uint64_t wide;
  __builtin_memcpy(&word, bytes + (IN(1) & 15u), 4);
  __builtin_memcpy(&wide, bytes + (IN(2) & 15u) + 1, 8);
  out[4] = word, out[5] = (uint32_t)(wide >> 32), out[6] = (uint32_t)wide, out[7] = 0;
}
