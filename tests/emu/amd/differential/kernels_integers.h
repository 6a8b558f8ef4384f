// SPDX-License-Identifier: Apache-2.0
// Integers of every width: 8 to 128 bits, carries, overflow, division, fixed point.

KERNEL(Bytes) {
  uint8_t a = (uint8_t)IN(0), b = (uint8_t)(IN(1) | 1u);
  int8_t sa = (int8_t)IN(2), sb = (int8_t)(IN(3) >> 8);
  out[0] = (uint8_t)(a + b) | (uint32_t)(uint8_t)(a * b) << 8 | (uint32_t)(uint8_t)(a / b) << 16 |
           (uint32_t)(uint8_t)(a % b) << 24;
  out[1] = (uint32_t)(uint8_t)(sa >> (b & 7)) | (uint32_t)(uint8_t)(sa << (b & 7)) << 8 |
           (uint32_t)(uint8_t)(a >> (b & 7)) << 16;
  out[2] = (uint32_t)(int32_t)(int8_t)(sa * sb), out[3] = (uint32_t)(sa < sb) | (uint32_t)(a < b) << 1;
  uint8_t s = a;
  for (uint32_t k = 0; k < 20; ++k) s = (uint8_t)(s * 5 + (uint8_t)IN(k) - (s >> 3));
  out[4] = s, out[5] = (uint32_t)(int32_t)(int8_t)s, out[6] = (uint8_t)~s, out[7] = (uint32_t)-(int32_t)sa;
}

KERNEL(Shorts) {
  uint16_t a = (uint16_t)IN(0), b = (uint16_t)(IN(1) >> 16 | 1u), s = a;
  int16_t sa = (int16_t)IN(2), sb = (int16_t)(IN(3) | 1u);
  out[0] = (uint32_t)(uint16_t)(a + b) | (uint32_t)(uint16_t)((uint32_t)a * b) << 16;
  out[1] = (uint32_t)(uint16_t)(a / b) | (uint32_t)(uint16_t)(a % b) << 16;
  out[2] = (uint32_t)(int32_t)(int16_t)(sa / sb) ^ (uint32_t)(int32_t)(int16_t)(sa % sb) << 8;
  out[3] = (uint32_t)(uint16_t)(sa >> (a & 15)) | (uint32_t)(uint16_t)((uint32_t)a << (b & 15)) << 16;
  for (uint32_t k = 0; k < 16; ++k) {
    const uint16_t v = (uint16_t)(IN(k) >> (k & 7));
    s = v > s ? (uint16_t)(v - s) : (uint16_t)(s * 3u + v);
  }
  out[4] = s, out[5] = (uint16_t)(sa > sb ? sa : sb), out[6] = (uint16_t)(a < b ? a : b);
  out[7] = (uint32_t)((int32_t)sa * sb) + (uint32_t)a * b;
}

KERNEL(Sum128) {
  const uint128_t a = (uint128_t)IN64(0) << 64 | IN64(2), b = (uint128_t)IN64(4) << 64 | IN64(6);
  const uint128_t sum = a + b, difference = a - b;
  OUT64(0, (uint64_t)sum);
  OUT64(2, (uint64_t)(sum >> 64));
  OUT64(4, (uint64_t)difference ^ (uint64_t)(difference >> 64));
  out[6] = (uint32_t)(a < b) | (uint32_t)((int128_t)a < (int128_t)b) << 1 | (uint32_t)(a == b) << 2 |
           (uint32_t)(sum < a) << 3;
  out[7] = (uint32_t)((a & ~b) >> 40) ^ (uint32_t)((a | b) >> 100);
}

KERNEL(Product128) {
  const uint128_t a = (uint128_t)IN64(0) << 64 | IN64(2), b = (uint128_t)IN64(4) << 64 | IN64(6);
  const uint128_t p = a * b, q = (uint128_t)IN64(0) * IN64(2);
  const int128_t s = (int128_t)(int64_t)IN64(4) * (int64_t)IN64(6);
  OUT64(0, (uint64_t)p);
  OUT64(2, (uint64_t)(p >> 64));
  OUT64(4, (uint64_t)(q >> 64));
  OUT64(6, (uint64_t)(s >> 64));
}

KERNEL(Shift128) {
  const uint128_t a = (uint128_t)IN64(0) << 64 | IN64(2);
  const uint32_t n = IN(4) & 127u;
  const uint128_t left = a << n, right = a >> n, arithmetic = (uint128_t)((int128_t)a >> n);
  OUT64(0, (uint64_t)left ^ (uint64_t)(right >> 64));
  OUT64(2, (uint64_t)(left >> 64) + (uint64_t)right);
  OUT64(4, (uint64_t)arithmetic);
  OUT64(6, (uint64_t)(arithmetic >> 64));
}

KERNEL(Divide128) {
  const uint128_t a = (uint128_t)IN64(0) << 64 | IN64(2),
                  b = ((uint128_t)IN64(4) << 64 | IN64(6)) >> (IN(8) & 127u) | 1u;
  const int128_t sa = (int128_t)a, sb = (int128_t)(b >> 1 | 1u);
  OUT64(0, (uint64_t)(a / b));
  OUT64(2, (uint64_t)(a % b));
  OUT64(4, (uint64_t)(sa / sb) ^ (uint64_t)((uint128_t)(sa / sb) >> 64));
  OUT64(6, (uint64_t)(sa % sb));
}

KERNEL(DivideByConstants) {
  const uint32_t a = IN(0);
  const int32_t s = (int32_t)IN(1);
  const uint64_t w = IN64(2);
  out[0] = a / 3u + a / 7u * 5u + a % 10u;
  out[1] = a / 641u ^ a % 1000003u;
  out[2] = (uint32_t)(s / 5 + s % 9), out[3] = (uint32_t)(s / -7 - s / 16 + s % 16);
  OUT64(4, w / 10u ^ w % 1000000007u);
  OUT64(6, (uint64_t)((int64_t)w / 1000 - (int64_t)w % 77));
}

KERNEL(CarryChain) {
  uint32_t a[8], b[8], r[8];
  uint32_t carry = 0;
  for (uint32_t k = 0; k < 8; ++k) a[k] = IN(k), b[k] = k & 1u ? ~IN(k) : IN(k + 3);
  for (uint32_t k = 0; k < 8; ++k) {
    const uint64_t s = (uint64_t)a[k] + b[k] + carry;
    r[k] = (uint32_t)s, carry = (uint32_t)(s >> 32);
  }
  uint32_t borrow = carry;
  for (uint32_t k = 0; k < 8; ++k) {
    const uint32_t d = r[k] - a[k], e = d - borrow;
    borrow = (uint32_t)(r[k] < a[k]) | (uint32_t)(d < borrow);
    out[k] = e ^ r[(k + 1u) & 7u];
  }
  out[7] += borrow;
}

KERNEL(Overflow) {
  const uint32_t a = IN(0), b = IN(1);
  const uint64_t wa = IN64(2), wb = IN64(4);
  uint32_t u;
  int32_t s;
  uint64_t w;
  int64_t sw;
  uint32_t flags = 0;
  flags |= (uint32_t)__builtin_add_overflow(a, b, &u), out[0] = u;
  flags |= (uint32_t)__builtin_sub_overflow(a, b, &u) << 1, out[1] = u;
  flags |= (uint32_t)__builtin_mul_overflow(a, b, &u) << 2, out[2] = u;
  flags |= (uint32_t)__builtin_add_overflow((int32_t)a, (int32_t)b, &s) << 3, out[3] = (uint32_t)s;
  flags |= (uint32_t)__builtin_sub_overflow((int32_t)a, (int32_t)b, &s) << 4, out[3] ^= (uint32_t)s;
  flags |= (uint32_t)__builtin_mul_overflow((int32_t)a, (int32_t)b, &s) << 5, out[4] = (uint32_t)s;
  flags |= (uint32_t)__builtin_add_overflow(wa, wb, &w) << 6, out[5] = (uint32_t)(w >> 9);
  flags |= (uint32_t)__builtin_mul_overflow(wa, wb, &w) << 7, out[5] ^= (uint32_t)(w >> 32);
  flags |= (uint32_t)__builtin_sub_overflow((int64_t)wa, (int64_t)wb, &sw) << 8, out[6] = (uint32_t)sw;
  flags |= (uint32_t)__builtin_mul_overflow((int64_t)wa, (int64_t)(int32_t)wb, &sw) << 9,
      out[6] += (uint32_t)(sw >> 32);
  out[7] = flags;
}

static inline int32_t SaturateAdd(int32_t a, int32_t b) {
  const int64_t s = (int64_t)a + b;
  return s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : (int32_t)s;
}
static inline int16_t SaturateShort(int32_t v) {
  return (int16_t)(v > 32767 ? 32767 : v < -32768 ? -32768 : v);
}
KERNEL(Saturate) {
  const int32_t a = (int32_t)IN(0), b = (int32_t)IN(1);
  out[0] = (uint32_t)SaturateAdd(a, b), out[1] = (uint32_t)SaturateAdd(a, b == INT32_MIN ? INT32_MAX : -b);
  const uint32_t ua = IN(2), ub = IN(3), sum = ua + ub;
  out[2] = sum < ua ? ~0u : sum, out[3] = ua > ub ? ua - ub : 0u;
  out[4] = (uint16_t)SaturateShort((int16_t)ua + (int16_t)ub);
  out[5] = (uint16_t)SaturateShort((int32_t)(int16_t)ua * (int16_t)ub >> 15);
  const uint32_t byte_sum = (ua & 255u) + (ub & 255u);
  out[6] = byte_sum > 255u ? 255u : byte_sum;
  int32_t s = 0;
  for (uint32_t k = 0; k < 12; ++k) s = SaturateAdd(s, (int32_t)IN(k) >> 2);
  out[7] = (uint32_t)s;
}

KERNEL(FixedPoint) {
  const int32_t a = (int32_t)IN(0) >> 4, b = (int32_t)(IN(1) >> 8 | 1u);  // 16.16
  out[0] = (uint32_t)(((int64_t)a * b) >> 16);
  out[1] = (uint32_t)((int64_t)a * 65536 / b);
  int64_t x = (int64_t)b << 20, r = 1 << 20;  // a square root by Newton, 44.20
  for (int k = 0; k < 30; ++k) r = (r + x * 16 / (r | 1)) >> 1;
  OUT64(2, (uint64_t)r);
  int32_t sine = 0, cosine = 1 << 24;  // a rotation by small steps
  for (uint32_t k = 0; k < (IN(2) & 63u); ++k) {
    const int32_t s = sine + (cosine >> 5), c = cosine - (sine >> 5);
    sine = s, cosine = c;
  }
  out[4] = (uint32_t)sine, out[5] = (uint32_t)cosine;
  out[6] = (uint32_t)((int32_t)(IN(3) & 0xffffff) * 0x53 >> 8);
  out[7] = (uint32_t)((int32_t)(int16_t)IN(4) * (int32_t)(int16_t)IN(5) / 3) +
           (IN(4) & 0xffffffu) * (IN(5) & 0xffu);
}

KERNEL(GcdAndRoots) {
  uint32_t a = IN(0), b = IN(1);
  while (b != 0) {
    const uint32_t t = a % b;
    a = b, b = t;
  }
  out[0] = a;
  uint64_t u = IN64(2), v = IN64(4) | 1u, steps = 0;
  while (v != 0 && steps < 100u) {
    const uint64_t t = u % v;
    u = v, v = t, ++steps;
  }
  OUT64(1, u);
  out[3] = (uint32_t)steps;
  const uint64_t n = IN64(6);
  uint64_t root = 0;
  for (uint64_t bit = (uint64_t)1 << 31; bit != 0; bit >>= 1) {
    if ((root + bit) * (root + bit) <= n) root += bit;
  }
  OUT64(4, root);
  uint32_t cube = 0;
  const uint32_t m = IN(8);
  for (uint32_t bit = 1024; bit != 0; bit >>= 1) {
    const uint64_t c = cube + bit;
    if (c * c * c <= m) cube += bit;
  }
  out[6] = cube, out[7] = 0;
}

KERNEL(ModularPower) {
  const uint64_t p = 0xffffffff00000001u;  // 2^64 - 2^32 + 1
  uint64_t base = IN64(0) % p, r = 1;
  for (uint32_t e = IN(2) & 0xfffu; e != 0; e >>= 1) {
    if (e & 1u) r = (uint64_t)((uint128_t)r * base % p);
    base = (uint64_t)((uint128_t)base * base % p);
  }
  OUT64(0, r);
  uint32_t s = IN(3) % 65537u, t = 1;
  for (uint32_t e = IN(4) & 0xffffu; e != 0; e >>= 1) {
    if (e & 1u) t = (uint32_t)((uint64_t)t * s % 65537u);
    s = (uint32_t)((uint64_t)s * s % 65537u);
  }
  out[2] = t, out[3] = s;
  const uint32_t q = 0x7fffffffu;  // a Mersenne prime: reduction by shifts
  const uint64_t m = (uint64_t)(IN(5) % q) * (IN(6) % q);
  uint32_t f = (uint32_t)(m & q) + (uint32_t)(m >> 31);
  out[4] = f >= q ? f - q : f, out[5] = (uint32_t)(m % q);
  out[6] = (uint32_t)(IN64(7) % 0xfffffffbu), out[7] = (uint32_t)(IN64(8) / 0xfffffffbu);
}

struct Fields {
  uint32_t a : 3, b : 13, c : 16;
  int32_t d : 7, e : 20, f : 5;
  uint64_t g : 37, h : 27;
};
KERNEL(BitFields) {
  struct Fields s = {0};
  s.a = IN(0) & 7u, s.b = IN(1) & 0x1fffu, s.c = IN(2) & 0xffffu;
  s.d = (int32_t)(IN(3) << 25) >> 25, s.e = (int32_t)(IN(4) << 12) >> 12, s.f = (int32_t)(IN(5) << 27) >> 27;
  s.g = IN64(6) & 0x1fffffffffu, s.h = IN64(8) & 0x7ffffffu;
  for (uint32_t k = 0; k < 5; ++k) {
    s.a = (s.a + s.b) & 7u, s.b ^= s.c & 0x1fffu, s.h = (s.h + s.g) & 0x7ffffffu;
    s.d = s.e & 0x3f;
  }
  out[0] = s.a | (uint32_t)s.b << 3 | (uint32_t)s.c << 16, out[1] = (uint32_t)s.d, out[2] = (uint32_t)s.e;
  out[3] = (uint32_t)s.f, out[6] = (uint32_t)s.h, out[7] = (uint32_t)(s.d < s.f);
  OUT64(4, s.g);
}

KERNEL(MultiplyHigh) {
  const uint64_t a = IN64(0), b = IN64(2);
  const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), middle2 = a0 * b1 + (uint32_t)middle;
  const uint64_t high = a1 * b1 + (middle >> 32) + (middle2 >> 32);
  OUT64(0, high);
  OUT64(2, (uint64_t)((uint128_t)a * b >> 64) - high);
  OUT64(4, (uint64_t)((int128_t)(int64_t)a * (int64_t)b >> 64));
  out[6] = (uint32_t)((uint64_t)(IN(4) & 0xffffffu) * (IN(5) & 0xffffffu) >> 32);
  out[7] = (uint32_t)(((int64_t)((int32_t)(IN(4) << 8) >> 8) * ((int32_t)(IN(5) << 8) >> 8)) >> 32);
}
