// SPDX-License-Identifier: Apache-2.0
// Bits: counts, reversals, interleavings, SIMD within a register, shift registers.

KERNEL(Counts) {
  const uint32_t a = IN(0);
  const uint64_t w = IN64(1);
  out[0] = (uint32_t)__builtin_popcount(a), out[1] = (uint32_t)__builtin_popcountll(w);
  out[2] = a ? (uint32_t)__builtin_clz(a) : 32u, out[3] = a ? (uint32_t)__builtin_ctz(a) : 32u;
  out[4] = w ? (uint32_t)__builtin_clzll(w) : 64u, out[5] = w ? (uint32_t)__builtin_ctzll(w) : 64u;
  out[6] = (uint32_t)__builtin_ffs((int)a) | (uint32_t)__builtin_parity(a) << 8 |
           (uint32_t)__builtin_parityll(w) << 9;
  out[7] = (uint32_t)__builtin_clrsb((int)a) | (uint32_t)__builtin_clrsbll((int64_t)w) << 8;
}

// clang 22 at -O0 copies only the low half of a 32-bit register before the v_perm_b32 of a 64-bit swap; both
// words are swapped by hand there.
KERNEL(Reversals) {
  const uint32_t a = IN(0), n = IN(1);
  const uint64_t w = IN64(2);
  out[0] = __builtin_bswap32(a), out[1] = REVERSE_BITS32(a);
  OUT64(2, REVERSE_BITS64(w));
  OUT64(4, (uint64_t)__builtin_bswap32((uint32_t)w) << 32 | __builtin_bswap32((uint32_t)(w >> 32)));
  out[6] = RotateLeft32(a, n) ^ RotateLeft32(a, 7), out[7] = (uint32_t)(RotateLeft64(w, n) >> 16);
}

static inline uint32_t Spread(uint32_t v) {
  v &= 0xffffu;
  v = (v | v << 8) & 0x00ff00ffu, v = (v | v << 4) & 0x0f0f0f0fu, v = (v | v << 2) & 0x33333333u;
  return (v | v << 1) & 0x55555555u;
}
KERNEL(MortonAndGray) {
  const uint32_t a = IN(0), b = IN(1);
  out[0] = Spread(a) | Spread(b) << 1, out[1] = a ^ a >> 1;
  uint32_t g = out[1];
  for (uint32_t s = 16; s != 0; s >>= 1) g ^= g >> s;
  out[2] = g, out[3] = (uint32_t)(g == a);
  uint32_t deposit = 0, extract = 0, mask = b;
  for (uint32_t k = 0, at = 0; k < 32u; ++k) {
    if (mask >> k & 1u) deposit |= (a >> at & 1u) << k, extract |= (a >> k & 1u) << at, ++at;
  }
  out[4] = deposit, out[5] = extract;
  out[6] = (a & b) ^ ((a ^ b) & IN(2)), out[7] = (a & b) | (b & IN(2)) | (a & IN(2));
}

KERNEL(SimdInWords) {
  const uint32_t a = IN(0), b = IN(1);
  out[0] = ((a & 0x7f7f7f7fu) + (b & 0x7f7f7f7fu)) ^ ((a ^ b) & 0x80808080u);
  uint32_t sad = 0, dot = 0, max = 0;
  int32_t sdot = 0;
  for (uint32_t k = 0; k < 32u; k += 8) {
    const uint32_t x = a >> k & 255u, y = b >> k & 255u;
    sad += x > y ? x - y : y - x, dot += x * y, max |= (x > y ? x : y) << k;
    sdot += (int32_t)(int8_t)x * (int8_t)y;
  }
  out[1] = sad, out[2] = dot, out[3] = max, out[4] = (uint32_t)sdot;
  out[5] = (a & 0xffff0000u) | (b >> 16), out[6] = (a & 0xff00ff00u) >> 8 | (b & 0x00ff00ffu) << 8;
  const uint32_t zero = a ^ (b & 0xff00u);  // does a byte of it vanish?
  out[7] = (zero - 0x01010101u) & ~zero & 0x80808080u;
}

KERNEL(ShiftRegisters) {
  uint32_t galois = IN(0) | 1u, s = IN(1) | 1u;
  uint64_t x = IN64(2) | 1u, star = IN64(4) | 1u;
  for (uint32_t k = 0; k < 40; ++k) {
    galois = galois >> 1 ^ (0u - (galois & 1u) & 0x80200003u);
    s ^= s << 13, s ^= s >> 17, s ^= s << 5;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    star ^= star >> 12, star ^= star << 25, star ^= star >> 27;
  }
  out[0] = galois, out[1] = s;
  OUT64(2, x);
  OUT64(4, star * 0x2545f4914f6cdd1du);
  uint32_t state[4] = {IN(0), IN(1), IN(2), IN(3) | 1u};
  for (uint32_t k = 0; k < 25; ++k) {  // xoshiro128
    const uint32_t t = state[1] << 9;
    state[2] ^= state[0], state[3] ^= state[1], state[1] ^= state[2], state[0] ^= state[3], state[2] ^= t;
    state[3] = RotateLeft32(state[3], 11);
  }
  out[6] = RotateLeft32(state[0] + state[3], 7) + state[0], out[7] = state[1] ^ state[2];
}

KERNEL(BitMatrix) {  // an 8x8 bit transpose, and one by the definition
  uint64_t x = IN64(0), t, by_definition = 0;
  for (uint32_t r = 0; r < 8; ++r)
    for (uint32_t c = 0; c < 8; ++c) by_definition |= (x >> (8 * r + c) & 1u) << (8 * c + r);
  t = (x ^ x >> 7) & 0x00aa00aa00aa00aau, x = x ^ t ^ t << 7;
  t = (x ^ x >> 14) & 0x0000cccc0000ccccu, x = x ^ t ^ t << 14;
  t = (x ^ x >> 28) & 0x00000000f0f0f0f0u, x = x ^ t ^ t << 28;
  OUT64(0, x);
  OUT64(2, by_definition ^ x);
  uint64_t board = IN64(2), next = 0;  // Conway's life on an 8x8 torus
  for (uint32_t r = 0; r < 8; ++r) {
    for (uint32_t c = 0; c < 8; ++c) {
      uint32_t n = 0;
      for (uint32_t k = 0; k < 9; ++k) {
        if (k != 4) n += (uint32_t)(board >> (8 * ((r + k / 3 + 7) & 7) + ((c + k % 3 + 7) & 7))) & 1u;
      }
      const uint32_t alive = (uint32_t)(board >> (8 * r + c)) & 1u;
      next |= (uint64_t)(n == 3u || (alive && n == 2u)) << (8 * r + c);
    }
  }
  OUT64(4, next);
  out[6] = out[7] = 0;
}

KERNEL(Queens) {  // the number of ways to go on from a random first row, 7x7
  uint32_t count = 0;
  uint32_t columns[8], left[8], right[8], free[8];
  const uint32_t n = 7, full = (1u << n) - 1u, first = 1u << (IN(0) % n);
  int row = 1;
  columns[1] = first, left[1] = first << 1 & full, right[1] = first >> 1;
  free[1] = full & ~(columns[1] | left[1] | right[1]);
  while (row >= 1) {
    if (free[row] == 0) {
      --row;
      continue;
    }
    const uint32_t bit = free[row] & (0u - free[row]);
    free[row] ^= bit;
    if (row == (int)n - 1) {
      ++count;
      continue;
    }
    columns[row + 1] = columns[row] | bit, left[row + 1] = (left[row] | bit) << 1 & full;
    right[row + 1] = (right[row] | bit) >> 1;
    ++row;
    free[row] = full & ~(columns[row] | left[row] | right[row]);
  }
  out[0] = count;
  for (uint32_t k = 1; k < 8; ++k) out[k] = k * count;
}
