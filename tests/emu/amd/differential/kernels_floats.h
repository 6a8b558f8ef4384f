// SPDX-License-Identifier: Apache-2.0
// Floats of 16, 32 and 64 bits, with operations that round exactly once, and conversions between everything.

// bfloat16 by its definition on the host (gcc 12 has no arithmetic for it); the device compiles __bf16.
#ifdef __AMDGCN__
static inline uint32_t BrainBits(__bf16 v) {
  uint16_t bits;
  __builtin_memcpy(&bits, &v, 2);
  return v != v ? 0x7fc0u : bits;
}
static inline __bf16 AsBrain(uint32_t bits) {
  const uint16_t half = (uint16_t)bits;
  __bf16 v;
  __builtin_memcpy(&v, &half, 2);
  return v;
}
#define BRAIN_OF_FLOAT(f) BrainBits((__bf16)(f))
#define BRAIN_BINARY(a, op, b) BrainBits((__bf16)(AsBrain(a) op AsBrain(b)))
#define FLOAT_OF_BRAIN(a) ((float)AsBrain(a))
#else
static inline uint32_t BRAIN_OF_FLOAT(float f) {
  const uint32_t bits = FloatBits(f);
  return f != f ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}
#define FLOAT_OF_BRAIN(a) AsFloat((a) << 16)
#define BRAIN_BINARY(a, op, b) BRAIN_OF_FLOAT(FLOAT_OF_BRAIN(a) op FLOAT_OF_BRAIN(b))
#endif
KERNEL(Brain) {
  const uint32_t a = IN(0) & 0xffffu, b = IN(1) >> 16, c = (IN(2) & 0x807fu) | 0x3f80u,
                 d = (IN(3) & 0x80ffu) | 0x3f00u;
  out[0] = BRAIN_OF_FLOAT(AsFloat(IN(4)));
  out[1] = BRAIN_BINARY(a, +, b), out[2] = BRAIN_BINARY(a, *, b), out[3] = BRAIN_BINARY(c, /, d);
  out[4] = BRAIN_BINARY(c, -, d), out[5] = FloatBits(FLOAT_OF_BRAIN(a));
  uint32_t s = c;
  for (uint32_t k = 0; k < 6; ++k) s = BRAIN_BINARY(s, *, d), s = BRAIN_BINARY(s, +, c);
  out[6] = s, out[7] = BRAIN_OF_FLOAT((float)(int32_t)IN(5));
}

KERNEL(HalfChain) {
  const _Float16 a = AsHalf((IN(0) & 0x83ffu) | 0x3800u), b = AsHalf((IN(1) & 0x87ffu) | 0x3400u);
  _Float16 s = a, p = b;
  for (int k = 0; k < 10; ++k) {
    const _Float16 t = HalfSub(HalfMul(s, p), b);
    p = HalfAdd(HalfDiv(p, HalfAdd(HalfMul(s, s), (_Float16)0.25f)), a);
    s = HalfMul(t, (_Float16)0.5f);
  }
  out[0] = HalfBits(s), out[1] = HalfBits(p), out[2] = HalfBits(HalfDiv(a, b));
  out[3] = (uint32_t)(a < b) | (uint32_t)(a <= b) << 1 | (uint32_t)(s > p) << 2 | (uint32_t)(s != s) << 3;
  const _Float16 x = AsHalf(IN(2)), y = AsHalf(IN(3) >> 7);
  out[4] = HalfBits(HalfAdd(x, y)) | HalfBits(HalfMul(x, y)) << 16;
  out[5] = HalfBits(HalfDiv(x, y)) | HalfBits(HalfSub(x, y)) << 16;
  out[6] = FloatBits((float)x), out[7] = (uint32_t)(DoubleBits((double)y) >> 32);
}

KERNEL(HalfConversions) {
  const float f = AsFloat((IN(0) & 0x8fffffffu) | 0x30000000u);
  const double d = AsDouble((IN64(1) & 0x81ffffffffffffffu) | 0x3e00000000000000u);
  out[0] = HalfBits((_Float16)f), out[1] = HalfBits((_Float16)d);
  out[2] = HalfBits((_Float16)AsFloat(IN(3)));
  out[3] = HalfBits((_Float16)(int16_t)IN(4)) | HalfBits((_Float16)(uint16_t)(IN(4) >> 16)) << 16;
  const _Float16 h = AsHalf((IN(5) & 0x87ffu) | 0x4800u);
  out[4] = (uint32_t)(int32_t)h, out[5] = (uint32_t)(int16_t)h, out[6] = (uint32_t)(uint8_t)(h < 0 ? -h : h);
  out[7] = (uint32_t)(int64_t)h ^ FloatBits((float)h * 3.0f);
}

KERNEL(FloatToInteger) {
  const float f = AsFloat(IN(0)), g = AsFloat((IN(1) & 0x87ffffffu) | 0x48000000u);
  const double d = AsDouble(IN64(2)), e = AsDouble((IN64(4) & 0x803fffffffffffffu) | 0x4180000000000000u);
  out[0] = (uint32_t)IntOfFloat(f) + UintOfFloat(f), out[1] = (uint32_t)IntOfFloat(g) ^ UintOfFloat(g);
  OUT64(2, (uint64_t)LongOfFloat(g) + UlongOfFloat(f));
  OUT64(4, (uint64_t)LongOfDouble(e) ^ UlongOfDouble(d));
  out[6] = (uint32_t)IntOfDouble(e) + UintOfDouble(e), out[7] = (uint32_t)IntOfDouble(d) ^ UintOfDouble(d);
}

KERNEL(IntegerToFloat) {
  const uint64_t w = IN64(0) >> (IN(2) & 63u);
  const uint32_t a = IN(3) >> (IN(4) & 31u);
  out[0] = FloatBits((float)w), out[1] = FloatBits((float)(int64_t)IN64(0));
  out[2] = FloatBits((float)a), out[3] = FloatBits((float)(int32_t)IN(3));
  OUT64(4, DoubleBits((double)w));
  OUT64(6, DoubleBits((double)(int64_t)IN64(0) + (double)a));
}

KERNEL(WideIntegersAndFloats) {
  const uint128_t w = ((uint128_t)IN64(0) << 64 | IN64(2)) >> (IN(4) & 127u);
  out[0] = FloatBits((float)w), out[1] = FloatBits((float)(int128_t)((uint128_t)IN64(0) << 64 | IN64(2)));
  OUT64(2, DoubleBits((double)w));
  const double d = AsDouble((IN64(5) & 0x003fffffffffffffu) | 0x45c0000000000000u);
  const uint128_t back = (uint128_t)d;
  OUT64(4, (uint64_t)back);
  OUT64(6, (uint64_t)(back >> 64));
}

KERNEL(Classes) {
  const float f = AsFloat(IN(0));
  const double d = AsDouble(IN64(1));
  out[0] = (uint32_t)(__builtin_isnan(f) != 0) | (uint32_t)(__builtin_isinf(f) != 0) << 1 |
           (uint32_t)(__builtin_isfinite(f) != 0) << 2 | (uint32_t)(__builtin_isnormal(f) != 0) << 3;
  out[1] = (uint32_t)(__builtin_isnan(d) != 0) | (uint32_t)(__builtin_isinf(d) != 0) << 1 |
           (uint32_t)(__builtin_isfinite(d) != 0) << 2 | (uint32_t)(__builtin_isnormal(d) != 0) << 3;
  const float g = AsFloat(IN(3));
  out[2] = (uint32_t)__builtin_isless(f, g) | (uint32_t)__builtin_isgreater(f, g) << 1 |
           (uint32_t)__builtin_islessequal(f, g) << 2 | (uint32_t)__builtin_isgreaterequal(f, g) << 3 |
           (uint32_t)__builtin_islessgreater(f, g) << 4 | (uint32_t)__builtin_isunordered(f, g) << 5;
  out[3] = FloatBits(__builtin_copysignf(f, (float)(int32_t)IN(4))), out[4] = FloatBits(__builtin_fabsf(g));
  out[5] =
      (uint32_t)(!(f < g)) | (uint32_t)(!(f > g)) << 1 | (uint32_t)(f != g) << 2 | (uint32_t)(f == g) << 3;
  OUT64(6, DoubleBits(__builtin_copysign(d, (double)f == (double)f ? (double)(int32_t)IN(4) : 1.0)));
}

KERNEL(Denormals) {
  const float tiny = AsFloat(IN(0) & 0x807fffffu), small = AsFloat((IN(1) & 0x80ffffffu) | 0x00800000u);
  const double dtiny = AsDouble(IN64(2) & 0x800fffffffffffffu);
  const _Float16 htiny = AsHalf(IN(4) & 0x83ffu);
  out[0] = FloatBits(tiny + small), out[1] = FloatBits(small * 0.5f), out[2] = FloatBits(tiny * 3.0f);
  out[3] = FloatBits(small / 1024.0f),
  out[4] = HalfBits(HalfAdd(htiny, htiny)) | HalfBits(HalfMul(htiny, (_Float16)0.5f)) << 16;
  OUT64(5, DoubleBits(dtiny * 0.75 + dtiny));
  out[7] = FloatBits((float)AsDouble((IN64(2) & 0x803fffffffffffffu) | 0x3800000000000000u));
}

KERNEL(Rounding) {
  const float f = AsFloat((IN(0) & 0x8fffffffu) | 0x38000000u);
  const double d = AsDouble((IN64(1) & 0x80ffffffffffffffu) | 0x3f00000000000000u);
  out[0] = FloatBits(__builtin_floorf(f)), out[1] = FloatBits(__builtin_ceilf(f));
  out[2] = FloatBits(__builtin_truncf(f)), out[3] = FloatBits(__builtin_rintf(f));
  out[4] = FloatBits(__builtin_roundf(f));
  OUT64(5, DoubleBits(__builtin_floor(d) + __builtin_ceil(d) * 2.0 + __builtin_rint(d) * 4.0));
  out[7] = FloatBits((float)(__builtin_trunc(d) - __builtin_round(d)));
}

KERNEL(ScaleAndSplit) {
  const float f = AsFloat(IN(0));
  const double d = AsDouble(IN64(1));
  const int n = (int)(IN(3) & 127u) - 64;
  const int usable = __builtin_isfinite(f) && f != 0.0f, wide_usable = __builtin_isfinite(d) && d != 0.0;
  int e = 0, we = 0;
  const float m = usable ? __builtin_frexpf(f, &e) : 0.0f;
  const double wm = wide_usable ? __builtin_frexp(d, &we) : 0.0;
  out[0] = FloatBits(m), out[1] = (uint32_t)e, out[2] = (uint32_t)we;
  OUT64(3, DoubleBits(wm));
  out[5] = FloatBits(__builtin_ldexpf(m, n)), out[6] = FloatBits(__builtin_ldexpf(f, n));
  out[7] = (uint32_t)(DoubleBits(__builtin_ldexp(wm, n * 17)) >> 32);
}

KERNEL(Compensated) {  // Kahan's sum and a double-float product: optimisers must keep the order
  float sum = 0.0f, carry = 0.0f, plain = 0.0f;
  for (uint32_t k = 0; k < 24; ++k) {
    const float v = AsFloat((IN(k) & 0x83ffffffu) | 0x3c000000u);
    const float y = v - carry, t = sum + y;
    carry = (t - sum) - y, sum = t, plain += v;
  }
  out[0] = FloatBits(sum), out[1] = FloatBits(carry), out[2] = FloatBits(plain);
  const float a = AsFloat((IN(1) & 0x80ffffffu) | 0x3f000000u),
              b = AsFloat((IN(2) & 0x80ffffffu) | 0x3f000000u);
  const float p = a * b, error = __builtin_fmaf(a, b, -p);
  out[3] = FloatBits(p), out[4] = FloatBits(error);
  const double x = AsDouble((IN64(3) & 0x801fffffffffffffu) | 0x3fe0000000000000u), y = x * x;
  OUT64(5, DoubleBits(__builtin_fma(x, x, -y)));
  out[7] = FloatBits((a + b) - a - b);
}

KERNEL(Geometry) {
  float m[3][3], v[3], r[3];
  for (uint32_t k = 0; k < 9; ++k) m[k / 3][k % 3] = (float)((int32_t)(IN(k) & 0xffffu) - 32768) / 4096.0f;
  for (uint32_t k = 0; k < 3; ++k) v[k] = (float)(int8_t)IN(k + 9);
  for (uint32_t k = 0; k < 3; ++k) r[k] = m[k][0] * v[0] + m[k][1] * v[1] + m[k][2] * v[2];
  const float determinant = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                            m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                            m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
  const float length = __builtin_sqrtf(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
  for (uint32_t k = 0; k < 3; ++k) out[k] = FloatBits(r[k] / (length + 1.0f));
  out[3] = FloatBits(determinant), out[4] = FloatBits(length);
  const float re = v[0] * v[1] - v[2] * r[0], im = v[0] * r[0] + v[2] * v[1];
  out[5] = FloatBits(re), out[6] = FloatBits(im), out[7] = FloatBits(re < im ? re : im);
}

KERNEL(Polynomials) {
  const double x = AsDouble((IN64(0) & 0x800fffffffffffffu) | 0x3ff0000000000000u) * 0.5;
  double p = 1.0, sum = 0.0, term = 1.0;
  for (int k = 1; k < 14; ++k) p = p * x + (double)k, term = term * x / (double)k, sum += term;
  OUT64(0, DoubleBits(p));
  OUT64(2, DoubleBits(sum));
  float y = AsFloat((IN(2) & 0x007fffffu) | 0x3f800000u), g = y * 0.5f;
  for (int k = 0; k < 5; ++k) g = 0.5f * (g + y / g);
  out[4] = FloatBits(g), out[5] = FloatBits(__builtin_sqrtf(y)), out[6] = FloatBits(g * g - y);
  out[7] = FloatBits((float)(1.0 / (x + 3.0)));
}

KERNEL(Mandelbrot) {
  const float cx = (float)(int32_t)(i % 16u) * 0.1875f - 2.0f,
              cy = (float)(int32_t)(i / 16u) * 0.15625f - 1.25f;
  float x = 0.0f, y = 0.0f;
  uint32_t n = 0;
  while (n < 60u && x * x + y * y < 4.0f) {
    const float t = x * x - y * y + cx;
    y = 2.0f * x * y + cy, x = t, ++n;
  }
  double dx = 0.0, dy = 0.0;
  uint32_t dn = 0;
  for (; dn < 40u; ++dn) {
    if (dx * dx + dy * dy >= 4.0) break;
    const double t = dx * dx - dy * dy + (double)cx;
    dy = (dx + dx) * dy + (double)cy, dx = t;
  }
  out[0] = n, out[1] = FloatBits(x), out[2] = FloatBits(y), out[3] = dn;
  OUT64(4, DoubleBits(dx));
  OUT64(6, DoubleBits(dy));
}
