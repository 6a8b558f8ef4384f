// SPDX-License-Identifier: Apache-2.0
// Private memory: structs, unions, strings, tables, copies of every size, and pointers that may lead
// anywhere.

struct Point {
  int32_t x, y;
  uint8_t tag;
  double weight;
};
static NOINLINE struct Point Move(struct Point p, int32_t dx, struct Point by) {
  p.x += dx * by.y, p.y -= by.x, p.tag ^= by.tag, p.weight = p.weight * 0.5 + by.weight;
  return p;
}
KERNEL(StructsByValue) {
  struct Point a = {(int32_t)(IN(0) & 0xfffu), (int32_t)(IN(1) & 0xfffu), (uint8_t)IN(2), 1.5};
  struct Point b = {(int32_t)(IN(3) & 0xffu), -(int32_t)(IN(4) & 0xffu), (uint8_t)IN(5),
                    (double)(int32_t)IN(6)};
  for (int k = 0; k < 4; ++k)
    a = Move(a, k, b), b = Move(b, -k, a), b.x &= 0xffff, b.y &= 0xffff, a.x &= 0xfff, a.y &= 0xfff;
  out[0] = (uint32_t)a.x, out[1] = (uint32_t)a.y, out[2] = a.tag | (uint32_t)b.tag << 8,
  out[3] = (uint32_t)b.x;
  OUT64(4, DoubleBits(a.weight));
  OUT64(6, DoubleBits(b.weight));
}

struct Big {
  uint64_t words[9];
  uint16_t shorts[5];
};
static NOINLINE struct Big Churn(struct Big b, uint32_t n) {
  for (uint32_t k = 0; k < 9; ++k) b.words[k] += b.words[(k + n) % 9u] ^ b.shorts[k % 5u];
  b.shorts[n % 5u] = (uint16_t)b.words[n % 9u];
  return b;
}
KERNEL(BigStructs) {
  struct Big b;
  for (uint32_t k = 0; k < 9; ++k) b.words[k] = IN64(k);
  for (uint32_t k = 0; k < 5; ++k) b.shorts[k] = (uint16_t)IN(k);
  struct Big c = Churn(b, IN(9) & 15u);
  c = Churn(Churn(c, 3), IN(10) & 15u);
  OUT64(0, c.words[IN(11) % 9u]);
  OUT64(2, c.words[8] ^ b.words[0]);
  out[4] = c.shorts[0], out[5] = c.shorts[IN(12) % 5u], out[6] = b.shorts[1],
  out[7] = (uint32_t)sizeof(struct Big);
}

union Word {
  uint32_t u;
  float f;
  uint8_t b[4];
  struct {
    uint16_t lo;
    int16_t hi;
  } h;
};
KERNEL(Unions) {
  union Word w[6];
  for (uint32_t k = 0; k < 6; ++k) w[k].u = IN(k);
  w[0].b[IN(6) & 3u] = 0x5a, w[1].h.hi = (int16_t)(w[1].h.hi - 3), w[2].h.lo ^= w[0].h.lo;
  w[3].f = (float)w[2].b[1] + 0.5f, w[4].b[w[3].b[2] & 3u] ^= w[5].b[w[0].b[0] & 3u];
  for (uint32_t k = 0; k < 6; ++k) out[k] = w[k].u;
  out[6] = (uint32_t)(int32_t)w[IN(7) % 6u].h.hi, out[7] = w[IN(8) % 6u].b[IN(9) & 3u];
}

struct __attribute__((packed)) Mixed {
  uint8_t a;
  uint64_t b;
  uint8_t c;
  float d;
  uint16_t e;
  uint128_t f;
  int32_t g[3];
};
KERNEL(PackedArray) {
  struct Mixed t[4];
  __builtin_memset(t, 0, sizeof(t));
  for (uint32_t k = 0; k < 4; ++k) {
    t[k].a = (uint8_t)IN(k), t[k].b = IN64(k), t[k].c = (uint8_t)(IN(k) >> 9),
    t[k].d = (float)(int16_t)IN(k + 1);
    t[k].e = (uint16_t)IN(k + 2), t[k].f = (uint128_t)IN64(k + 3) << 50, t[k].g[k % 3u] = (int32_t)IN(k + 4);
  }
  const uint32_t at = IN(5) & 3u;
  t[at].b += t[at ^ 1u].b, t[at].f ^= t[at ^ 2u].f >> 3, t[at].g[2] += t[at].g[0];
  OUT64(0, t[at].b);
  OUT64(2, (uint64_t)(t[at].f >> 64) ^ (uint64_t)t[at].f);
  out[4] = FloatBits(t[at ^ 3u].d), out[5] = t[at].e, out[6] = (uint32_t)t[at].g[2];
  uint32_t sum = 0;
  const uint8_t* bytes = (const uint8_t*)t;
  for (uint32_t k = 0; k < sizeof(t); ++k) sum = sum * 17u + bytes[k];
  out[7] = sum;
}

KERNEL(Copies) {  // memcpy, memmove and memset of fixed and of computed sizes, at odd places
  uint8_t a[96], b[96];
  for (uint32_t k = 0; k < 96; ++k) a[k] = (uint8_t)(IN(k & 31u) >> (k & 7u)), b[k] = (uint8_t)k;
  const uint32_t n = IN(0) & 31u, from = IN(1) & 31u, to = IN(2) & 31u;
  __builtin_memcpy(b + 1, a + 3, 29);
  __builtin_memcpy(b + to, a + from, n);
  __builtin_memmove(a + from, a + to, 32 + n);
  __builtin_memset(b + 32 + to, (int)(IN(3) & 255u), n);
  __builtin_memset(b + 2, 7, 16);
  __builtin_memmove(b + 50, b + 45, 20);
  uint32_t ha = 1, hb = 1;
  for (uint32_t k = 0; k < 96; ++k) ha = ha * 31u + a[k], hb = hb * 37u + b[k];
  out[0] = ha, out[1] = hb;
  uint64_t w;
  __builtin_memcpy(&w, a + n, 8);
  OUT64(2, w);
  uint16_t h;
  __builtin_memcpy(&h, b + from + 1, 2);
  out[4] = h;
  uint32_t v[4];
  __builtin_memcpy(v, b + to, 16);
  out[5] = v[0] ^ v[1], out[6] = v[2], out[7] = v[3];
}

KERNEL(Strings) {
  char text[64], reversed[64], number[24];
  uint32_t length = 0;
  while (length < 40u && (IN(length) & 31u) != 7u) text[length] = (char)('a' + IN(length) % 26u), ++length;
  text[length] = 0;
  uint32_t n = 0;
  while (text[n] != 0) ++n;
  for (uint32_t k = 0; k < n; ++k) reversed[k] = text[n - 1u - k];
  reversed[n] = 0;
  int order = 0;
  for (uint32_t k = 0; order == 0 && (text[k] != 0 || reversed[k] != 0); ++k) order = text[k] - reversed[k];
  uint64_t v = IN64(1);
  uint32_t digits = 0;
  do number[digits++] = (char)('0' + v % 10u), v /= 10u;
  while (v != 0);
  uint64_t back = 0;
  for (uint32_t k = digits; k-- > 0;) back = back * 10u + (uint64_t)(number[k] - '0');
  out[0] = n, out[1] = (uint32_t)order, out[2] = digits;
  OUT64(3, back);
  uint32_t hash = 2166136261u, vowels = 0;
  for (const char* p = text; *p; ++p) {
    hash = (hash ^ (uint8_t)*p) * 16777619u;
    vowels += *p == 'a' || *p == 'e' || *p == 'i' || *p == 'o' || *p == 'u';
  }
  out[5] = hash, out[6] = vowels, out[7] = (uint32_t)(back == IN64(1));
}

struct Node {
  uint16_t next;
  int16_t value;
};
KERNEL(LinkedList) {  // insertion sort in a list of indices, then its reversal
  struct Node nodes[17];
  uint16_t head = 16;
  nodes[16].next = 16, nodes[16].value = 32767;
  for (uint32_t k = 0; k < 16; ++k) {
    nodes[k].value = (int16_t)(IN(k) >> 3);
    if (nodes[k].value == 32767) nodes[k].value = 0;
    uint16_t* link = &head;
    while (nodes[*link].value < nodes[k].value) link = &nodes[*link].next;
    nodes[k].next = *link, *link = (uint16_t)k;
  }
  uint32_t hash = 0;
  for (uint16_t at = head; at != 16; at = nodes[at].next)
    hash = hash * 131u + (uint32_t)(int32_t)nodes[at].value;
  out[0] = hash, out[1] = head;
  uint16_t previous = 16;
  for (uint16_t at = head; at != 16;) {
    const uint16_t next = nodes[at].next;
    nodes[at].next = previous, previous = at, at = next;
  }
  hash = 0;
  for (uint16_t at = previous; at != 16; at = nodes[at].next) hash = hash * 131u + at;
  out[2] = hash, out[3] = previous;
  for (uint32_t k = 4; k < 8; ++k) out[k] = (uint32_t)(int32_t)nodes[k].value;
}

KERNEL(StackMachine) {
  uint32_t stack[12], depth = 0, r = 0;
  for (uint32_t k = 0; k < 60; ++k) {
    const uint32_t op = IN(k) >> 4;
    if (depth < 2 || (depth < 11 && op % 9u == 0)) {
      stack[depth++] = op;
      continue;
    }
    const uint32_t b = stack[--depth], a = stack[--depth];
    switch (op % 9u) {
      case 1:
        r = a + b;
        break;
      case 2:
        r = a - b;
        break;
      case 3:
        r = a * b;
        break;
      case 4:
        r = a / (b | 1u);
        break;
      case 5:
        r = a << (b & 31u);
        break;
      case 6:
        r = a >> (b & 31u);
        break;
      case 7:
        r = a < b ? a : b;
        break;
      default:
        r = a ^ b;
    }
    stack[depth++] = r;
  }
  while (depth < 8) stack[depth] = depth * r, ++depth;
  for (uint32_t k = 0; k < 8; ++k) out[k] = stack[k];
}

static const uint32_t kPrimes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
static const int16_t kWaves[4][8] = {{0, 12539, 23170, 30273, 32767, 30273, 23170, 12539},
                                     {1, -1, 2, -2, 3, -3, 4, -4},
                                     {100, 200, 300, 400, 500, 600, 700, 800},
                                     {-32768, 32767, 0, -5, 5, 9, -9, 1}};
static const double kReals[5] = {0.5, -1.25, 3.0e10, 1.0e-300, 7.0};
static const uint8_t kBytes[256] = {[0] = 1,    [17] = 9,  [63] = 200, [64] = 3,
                                    [128] = 77, [200] = 5, [255] = 254};
KERNEL(Tables) {
  uint32_t s = 0;
  int32_t t = 0;
  for (uint32_t k = 0; k < 24; ++k) {
    s = s * kPrimes[IN(k) & 15u] + kBytes[IN(k) >> 24];
    t += kWaves[IN(k) >> 8 & 3u][IN(k) >> 12 & 7u];
  }
  out[0] = s, out[1] = (uint32_t)t, out[2] = kPrimes[(s ^ (uint32_t)t) & 15u], out[3] = kBytes[(uint8_t)s];
  OUT64(4, DoubleBits(kReals[s % 5u] * kReals[(uint32_t)t % 5u]));
  out[6] = (uint32_t)(int32_t)kWaves[3][s & 7u], out[7] = 0;
}

KERNEL(Volatile) {
  volatile uint32_t v = IN(0);
  volatile uint64_t w = IN64(1);
  volatile uint8_t bytes[5];
  for (uint32_t k = 0; k < 5; ++k) bytes[k] = (uint8_t)(IN(k + 3) >> k);
  for (uint32_t k = 0; k < 6; ++k) {
    v = v * 3u + bytes[(v + k) % 5u];
    w = w + v;
    bytes[k % 5u] = (uint8_t)(bytes[(k + 1) % 5u] + 1);
  }
  volatile float f = AsFloat((IN(8) & 0x007fffffu) | 0x3f800000u);
  f = f * 3.0f, f = f - 1.0f;
  out[0] = v, out[3] = bytes[0], out[4] = bytes[4], out[5] = FloatBits(f), out[6] = v, out[7] = bytes[2];
  OUT64(1, w);
}

// A pointer that leads to private memory, to LDS or to global memory, from lane to lane: flat addressing.
static NOINLINE uint32_t Through(const uint32_t* p, uint32_t n) {
  uint32_t s = 0;
  for (uint32_t k = 0; k < n; ++k) s = s * 5u + p[k];
  return s;
}
static NOINLINE void Fill(uint8_t* p, uint32_t v) {
  p[0] = (uint8_t)v, p[1] = (uint8_t)(v >> 8), p[2] = (uint8_t)(v ^ v >> 16), p[3] = 9;
}
KERNEL(AnyPointer) {
  uint32_t local[8];
  for (uint32_t k = 0; k < 8; ++k) local[k] = IN(k), lds[l * 8u + k] = IN(k + 8);
  const uint32_t* place = i % 3u == 0   ? (const uint32_t*)local
                          : i % 3u == 1 ? (const uint32_t*)(lds + l * 8u)
                                        : (const uint32_t*)(in + (i & 511u));
  out[0] = Through(place, 8), out[1] = Through(place + 2, IN(16) & 3u);
  uint32_t* writable = IN(17) & 1u ? (uint32_t*)local : (uint32_t*)(lds + l * 8u);
  writable[3] = 77u, writable[IN(18) & 7u] += 5u;
  Fill((uint8_t*)(IN(19) & 1u ? local + 1 : (uint32_t*)(out + 7)), IN(20));
  if (!(IN(19) & 1u))
    out[6] = out[7];
  else
    out[6] = local[1];
  out[2] = local[3], out[3] = lds[l * 8u + 3u], out[4] = Through(local + 2, 6),
  out[5] = Through((const uint32_t*)(lds + l * 8u), 8);
  out[7] = 1;
}

KERNEL(Rows) {  // a matrix product in private memory, and its transpose through pointers to rows
  int32_t a[6][6], b[6][6], c[6][6];
  for (uint32_t k = 0; k < 36; ++k)
    a[k / 6][k % 6] = (int32_t)(IN(k) & 0x3ffu) - 512, b[k / 6][k % 6] = (int8_t)IN(k + 5);
  for (int r = 0; r < 6; ++r) {
    for (int q = 0; q < 6; ++q) {
      int32_t s = 0;
      for (int k = 0; k < 6; ++k) s += a[r][k] * b[k][q];
      c[r][q] = s;
    }
  }
  int32_t (*rows[6])[6];
  for (uint32_t r = 0; r < 6; ++r) rows[r] = &c[(r * 5u + IN(40)) % 6u];
  for (int r = 0; r < 6; ++r)
    for (int q = 0; q < r; ++q) {
      const int32_t t = (*rows[r])[q];
      (*rows[r])[q] = (*rows[q])[r], (*rows[q])[r] = t;
    }
  for (uint32_t k = 0; k < 8; ++k) out[k] = (uint32_t)c[(k + IN(41)) % 6u][(k * 3u + IN(42)) % 6u];
}

// Words and halves of private memory at every alignment, at places that only the run knows: on gfx90a they
// cross the elements of the swizzled buffer that scratch is there.
KERNEL(UnalignedPrivate) {
  uint64_t t[8];
  uint32_t r[4] = {1, 2, 3, 4};
  for (uint32_t k = 0; k < 8; ++k) t[k] = IN64(k + 20u);
  __builtin_memcpy((uint8_t*)t + IN(0) % 25u, (uint8_t*)t + 32 + IN(1) % 25u, 7);
  __builtin_memcpy((uint8_t*)r + IN(2) % 10u, (uint8_t*)t + IN(3) % 58u, 6);
  uint32_t hash = 0;
  for (uint32_t k = 0; k < 8; ++k) hash = hash * 31u + (uint32_t)(t[k] ^ t[k] >> 32);
  for (uint32_t k = 0; k < 4; ++k) out[k] = r[k];
  uint16_t half;
  __builtin_memcpy(&half, (uint8_t*)t + IN(4) % 63u, 2);
  out[4] = hash, out[5] = half, out[6] = (uint32_t)t[IN(5) & 7u], out[7] = 0;
}
