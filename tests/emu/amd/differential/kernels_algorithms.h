// SPDX-License-Identifier: Apache-2.0
// Well-known algorithms: checksums, ciphers and hashes, coding, dynamic programming, number theory, sorting.

KERNEL(Crc32) {
  uint32_t bitwise = ~0u, by_nibble = ~0u, table[16];
  for (uint32_t k = 0; k < 16; ++k) {
    uint32_t c = k;
    for (int b = 0; b < 4; ++b) c = c & 1u ? c >> 1 ^ 0xedb88320u : c >> 1;
    table[k] = c;
  }
  for (uint32_t k = 0; k < 32; ++k) {
    const uint8_t byte = (uint8_t)(IN(k / 4) >> (8 * (k & 3u)));
    bitwise ^= byte;
    for (int b = 0; b < 8; ++b) bitwise = bitwise & 1u ? bitwise >> 1 ^ 0xedb88320u : bitwise >> 1;
    by_nibble = table[(by_nibble ^ byte) & 15u] ^ by_nibble >> 4;
    by_nibble = table[(by_nibble ^ byte >> 4) & 15u] ^ by_nibble >> 4;
  }
  uint32_t a = 1, b = 0;  // Adler-32
  for (uint32_t k = 0; k < 64; ++k)
    a = (a + (IN(k / 4) >> (8 * (k & 3u)) & 255u)) % 65521u, b = (b + a) % 65521u;
  uint16_t ccitt = 0xffff;
  for (uint32_t k = 0; k < 16; ++k) {
    ccitt ^= (uint16_t)(IN(k) << 8);
    for (int n = 0; n < 8; ++n) ccitt = (uint16_t)(ccitt & 0x8000u ? ccitt << 1 ^ 0x1021 : ccitt << 1);
  }
  out[0] = ~bitwise, out[1] = (uint32_t)(bitwise == by_nibble), out[2] = b << 16 | a, out[3] = ccitt;
  out[4] = table[5], out[5] = table[15], out[6] = out[7] = 0;
}

static const uint32_t kSha256[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
KERNEL(Sha256) {
  uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint32_t w[64], s[8];
  for (uint32_t k = 0; k < 16; ++k) w[k] = IN(k);
  for (uint32_t k = 16; k < 64; ++k) {
    const uint32_t x = w[k - 15], y = w[k - 2];
    w[k] = w[k - 16] + (RotateLeft32(x, 25) ^ RotateLeft32(x, 14) ^ x >> 3) + w[k - 7] +
           (RotateLeft32(y, 15) ^ RotateLeft32(y, 13) ^ y >> 10);
  }
  for (int k = 0; k < 8; ++k) s[k] = h[k];
  for (uint32_t k = 0; k < 64; ++k) {
    const uint32_t e = s[4], a = s[0];
    const uint32_t t1 = s[7] + (RotateLeft32(e, 26) ^ RotateLeft32(e, 21) ^ RotateLeft32(e, 7)) +
                        ((e & s[5]) ^ (~e & s[6])) + kSha256[k] + w[k];
    const uint32_t t2 = (RotateLeft32(a, 30) ^ RotateLeft32(a, 19) ^ RotateLeft32(a, 10)) +
                        ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    for (int n = 7; n > 0; --n) s[n] = s[n - 1];
    s[4] += t1, s[0] = t1 + t2;
  }
  for (int k = 0; k < 8; ++k) out[k] = h[k] + s[k];
}

static inline void ChaChaQuarter(uint32_t* s, int a, int b, int c, int d) {
  s[a] += s[b], s[d] = RotateLeft32(s[d] ^ s[a], 16), s[c] += s[d], s[b] = RotateLeft32(s[b] ^ s[c], 12);
  s[a] += s[b], s[d] = RotateLeft32(s[d] ^ s[a], 8), s[c] += s[d], s[b] = RotateLeft32(s[b] ^ s[c], 7);
}
KERNEL(ChaCha) {
  uint32_t s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, start[16];
  for (uint32_t k = 4; k < 16; ++k) s[k] = IN(k);
  for (int k = 0; k < 16; ++k) start[k] = s[k];
  for (int round = 0; round < 10; ++round) {
    for (int k = 0; k < 4; ++k) ChaChaQuarter(s, k, 4 + k, 8 + k, 12 + k);
    for (int k = 0; k < 4; ++k) ChaChaQuarter(s, k, 4 + (k + 1) % 4, 8 + (k + 2) % 4, 12 + (k + 3) % 4);
  }
  for (int k = 0; k < 8; ++k) out[k] = s[k] + start[k] ^ s[k + 8];
}

static inline uint8_t GaloisMultiply(uint8_t a, uint8_t b) {
  uint8_t p = 0;
  for (int k = 0; k < 8; ++k) {
    if (b & 1u) p ^= a;
    a = (uint8_t)(a << 1 ^ (a & 0x80u ? 0x1bu : 0u)), b >>= 1;
  }
  return p;
}
static NOINLINE uint8_t AesSubstitute(uint8_t v) {  // the inverse is v^254; then the affine map
  uint8_t inverse = 1, power = v;
  for (uint32_t e = 254; e != 0; e >>= 1) {
    if (e & 1u) inverse = GaloisMultiply(inverse, power);
    power = GaloisMultiply(power, power);
  }
  if (v == 0) inverse = 0;
  uint8_t r = 0x63;
  for (int k = 0; k < 5; ++k) r ^= (uint8_t)(inverse << k | inverse >> (8 - k));
  return r;
}
KERNEL(AesRound) {
  uint8_t s[16], t[16];
  for (uint32_t k = 0; k < 16; ++k) s[k] = (uint8_t)(IN(k / 4) >> (8 * (k & 3u)));
  for (uint32_t k = 0; k < 16; ++k) t[k] = AesSubstitute(s[(k + 4u * (k & 3u)) & 15u]);
  for (uint32_t c = 0; c < 4; ++c) {
    for (uint32_t r = 0; r < 4; ++r) {
      s[4 * c + r] =
          (uint8_t)(GaloisMultiply(t[4 * c + r], 2) ^ GaloisMultiply(t[4 * c + (r + 1) % 4], 3) ^
                    t[4 * c + (r + 2) % 4] ^ t[4 * c + (r + 3) % 4] ^ (uint8_t)(IN(8 + c) >> (8 * r)));
    }
  }
  for (uint32_t k = 0; k < 4; ++k) {
    out[k] =
        s[4 * k] | (uint32_t)s[4 * k + 1] << 8 | (uint32_t)s[4 * k + 2] << 16 | (uint32_t)s[4 * k + 3] << 24;
    out[4 + k] = t[k] | (uint32_t)t[15 - k] << 8;
  }
}

KERNEL(KeyedHashes) {
  uint64_t v[4] = {IN64(0) ^ 0x736f6d6570736575u, IN64(2) ^ 0x646f72616e646f6du,
                   IN64(0) ^ 0x6c7967656e657261u, IN64(2) ^ 0x7465646279746573u};
  for (uint32_t k = 0; k < 6; ++k) {  // SipHash
    const uint64_t m = IN64(4 + k);
    v[3] ^= m;
    for (int r = 0; r < (k == 5 ? 4 : 2); ++r) {
      v[0] += v[1], v[1] = RotateLeft64(v[1], 13) ^ v[0], v[0] = RotateLeft64(v[0], 32);
      v[2] += v[3], v[3] = RotateLeft64(v[3], 16) ^ v[2];
      v[0] += v[3], v[3] = RotateLeft64(v[3], 21) ^ v[0];
      v[2] += v[1], v[1] = RotateLeft64(v[1], 17) ^ v[2], v[2] = RotateLeft64(v[2], 32);
    }
    v[0] ^= m;
  }
  OUT64(0, v[0] ^ v[1] ^ v[2] ^ v[3]);
  uint32_t h = IN(20);  // MurmurHash3's mixing
  for (uint32_t k = 0; k < 8; ++k) {
    h ^= RotateLeft32(IN(k) * 0xcc9e2d51u, 15) * 0x1b873593u;
    h = RotateLeft32(h, 13) * 5u + 0xe6546b64u;
  }
  h ^= h >> 16, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u, h ^= h >> 16;
  out[2] = h;
  uint64_t wide = IN64(8);  // SplitMix64
  for (int k = 0; k < 4; ++k) {
    uint64_t z = wide += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u, z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    out[3 + k] = (uint32_t)(z ^ z >> 31);
  }
  out[7] = (uint32_t)((uint128_t)wide * 0x9e3779b97f4a7c15u >> 64);
}

KERNEL(RunLengths) {
  uint8_t text[48], packed[100], back[48];
  for (uint32_t k = 0; k < 48; ++k) text[k] = (uint8_t)(IN(k >> 2) >> (k & 3u) & 3u);
  uint32_t size = 0;
  for (uint32_t k = 0; k < 48;) {
    uint32_t run = 1;
    while (k + run < 48u && text[k + run] == text[k]) ++run;
    packed[size++] = (uint8_t)run, packed[size++] = text[k], k += run;
  }
  uint32_t at = 0, wrong = 0;
  for (uint32_t k = 0; k < size; k += 2)
    for (uint32_t n = 0; n < packed[k]; ++n) back[at++] = packed[k + 1];
  for (uint32_t k = 0; k < 48; ++k) wrong += back[k] != text[k];
  const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  uint32_t hash = 0;
  for (uint32_t k = 0; k < 48; k += 3) {  // base64
    const uint32_t v = (uint32_t)text[k] << 16 | (uint32_t)text[k + 1] << 8 | text[k + 2];
    for (int s = 18; s >= 0; s -= 6) hash = hash * 33u + (uint8_t)digits[v >> s & 63u];
  }
  out[0] = size, out[1] = at, out[2] = wrong, out[3] = hash, out[4] = packed[0], out[5] = packed[1],
  out[6] = out[7] = 0;
}

KERNEL(EditDistance) {
  uint8_t a[14], b[14];
  uint16_t row[15];
  for (uint32_t k = 0; k < 14; ++k) a[k] = (uint8_t)(IN(k) & 3u), b[k] = (uint8_t)(IN(k) >> 5 & 3u);
  for (uint16_t k = 0; k < 15; ++k) row[k] = k;
  for (uint16_t r = 1; r < 15; ++r) {
    uint16_t corner = row[0];
    row[0] = r;
    for (uint32_t c = 1; c < 15; ++c) {
      const uint16_t substitution = (uint16_t)(corner + (a[r - 1] != b[c - 1]));
      const uint16_t gap = (uint16_t)((row[c] < row[c - 1] ? row[c] : row[c - 1]) + 1);
      corner = row[c], row[c] = substitution < gap ? substitution : gap;
    }
  }
  uint8_t common[15][15];
  for (uint32_t r = 0; r < 15; ++r) {
    for (uint32_t c = 0; c < 15; ++c) {
      common[r][c] = r == 0 || c == 0                      ? 0
                     : a[r - 1] == b[c - 1]                ? (uint8_t)(common[r - 1][c - 1] + 1)
                     : common[r - 1][c] > common[r][c - 1] ? common[r - 1][c]
                                                           : common[r][c - 1];
    }
  }
  out[0] = row[14], out[1] = common[14][14], out[2] = row[7], out[3] = common[7][9];
  uint32_t best[65];  // a knapsack
  for (uint32_t k = 0; k < 65; ++k) best[k] = 0;
  for (uint32_t n = 0; n < 10; ++n) {
    const uint32_t weight = 1u + (IN(n) & 15u), value = IN(n) >> 20 & 255u;
    for (uint32_t c = 64; c >= weight; --c)
      if (best[c - weight] + value > best[c]) best[c] = best[c - weight] + value;
  }
  out[4] = best[64], out[5] = best[20], out[6] = best[IN(3) & 63u], out[7] = 0;
}

KERNEL(Sieve) {
  uint64_t composite[4] = {3, 0, 0, 0};
  for (uint32_t p = 2; p < 16; ++p) {
    if (composite[p >> 6] >> (p & 63u) & 1u) continue;
    for (uint32_t m = p * p; m < 256; m += p) composite[m >> 6] |= (uint64_t)1 << (m & 63u);
  }
  uint32_t primes = 0, sum = 0;
  for (uint32_t k = 0; k < 256; ++k)
    if (!(composite[k >> 6] >> (k & 63u) & 1u)) ++primes, sum += k;
  uint32_t n = IN(0) >> 12 | 1u, factors = 0, largest = 1;
  for (uint32_t p = 3; p * p <= n && p < 600u; p += 2)
    while (n % p == 0) n /= p, ++factors, largest = p;
  const uint32_t candidate = IN(1) | 1u;  // Fermat's test to base 2
  uint64_t power = 2, r = 1;
  for (uint32_t e = candidate - 1u; e != 0; e >>= 1) {
    if (e & 1u) r = r * power % candidate;
    power = power * power % candidate;
  }
  out[0] = primes, out[1] = sum, out[2] = n, out[3] = factors, out[4] = largest, out[5] = (uint32_t)r;
  OUT64(6, composite[IN(2) & 3u]);
}

KERNEL(NumberTransform) {  // a transform modulo 3 * 2^30 + 1, and its inverse
  const uint32_t p = 3221225473u;
  uint32_t a[16];
  for (uint32_t k = 0; k < 16; ++k) a[k] = IN(k) % p;
  for (int inverse = 0; inverse < 2; ++inverse) {
    for (uint32_t k = 0; k < 16; ++k) {
      const uint32_t r = (k & 1u) << 3 | (k & 2u) << 1 | (k & 4u) >> 1 | k >> 3;
      if (r > k) {
        const uint32_t t = a[k];
        a[k] = a[r], a[r] = t;
      }
    }
    for (uint32_t half = 1; half < 16; half *= 2) {
      uint64_t root = 1, w = 1;
      uint64_t g = 5;
      for (uint32_t e = inverse ? p - 1u - (p - 1u) / (2u * half) : (p - 1u) / (2u * half); e != 0; e >>= 1) {
        if (e & 1u) root = root * g % p;
        g = g * g % p;
      }
      for (uint32_t j = 0; j < half; ++j, w = w * root % p) {
        for (uint32_t k = j; k < 16; k += 2 * half) {
          const uint32_t u = a[k], v = (uint32_t)(a[k + half] * w % p);
          a[k] = (uint32_t)(((uint64_t)u + v) % p), a[k + half] = (uint32_t)(((uint64_t)u + p - v) % p);
        }
      }
    }
    if (!inverse)
      for (uint32_t k = 0; k < 7; ++k) out[k] = a[k * 2u];
  }
  uint32_t wrong = 0;
  for (uint32_t k = 0; k < 16; ++k) wrong += a[k] != (uint32_t)((uint64_t)(IN(k) % p) * 16u % p);
  out[7] = wrong;
}

KERNEL(BigNumbers) {  // schoolbook product of 256-bit numbers, and division of 256 bits by 32
  uint32_t a[8], b[8], p[16], q[8];
  for (uint32_t k = 0; k < 8; ++k) a[k] = IN(k), b[k] = IN(k + 8);
  for (uint32_t k = 0; k < 16; ++k) p[k] = 0;
  for (uint32_t r = 0; r < 8; ++r) {
    uint32_t carry = 0;
    for (uint32_t c = 0; c < 8; ++c) {
      const uint64_t t = (uint64_t)a[r] * b[c] + p[r + c] + carry;
      p[r + c] = (uint32_t)t, carry = (uint32_t)(t >> 32);
    }
    p[r + 8] = carry;
  }
  const uint32_t d = IN(20) | 1u;
  uint64_t rest = 0;
  for (uint32_t k = 8; k-- > 0;) rest = rest << 32 | a[k], q[k] = (uint32_t)(rest / d), rest %= d;
  for (uint32_t k = 0; k < 6; ++k) out[k] = p[k * 3u] ^ q[k];
  out[6] = (uint32_t)rest, out[7] = p[15];
}

KERNEL(Sorts) {  // heap, shell and counting sort agree; binary search finds
  uint16_t heap[20], shell[20], counted[20], count[64];
  for (uint32_t k = 0; k < 20; ++k) heap[k] = shell[k] = (uint16_t)(IN(k) >> 7 & 63u);
  for (uint32_t k = 0; k < 64; ++k) count[k] = 0;
  for (uint32_t k = 0; k < 20; ++k) ++count[shell[k]];
  for (uint32_t k = 0, at = 0; k < 64; ++k)
    for (uint32_t n = count[k]; n > 0; --n) counted[at++] = (uint16_t)k;
  for (int gap = 9; gap > 0; gap /= 3) {
    for (int k = gap; k < 20; ++k) {
      const uint16_t v = shell[k];
      int at = k;
      for (; at >= gap && shell[at - gap] > v; at -= gap) shell[at] = shell[at - gap];
      shell[at] = v;
    }
  }
  for (int start = 9, size = 20; size > 1;) {
    int at;
    if (start >= 0) {
      at = start--;
    } else {
      const uint16_t t = heap[--size];
      heap[size] = heap[0], heap[0] = t, at = 0;
    }
    for (int child; (child = 2 * at + 1) < size; at = child) {
      if (child + 1 < size && heap[child + 1] > heap[child]) ++child;
      if (heap[at] >= heap[child]) break;
      const uint16_t t = heap[at];
      heap[at] = heap[child], heap[child] = t;
    }
  }
  uint32_t wrong = 0, hash = 0;
  for (uint32_t k = 0; k < 20; ++k)
    wrong += (heap[k] != shell[k]) + (shell[k] != counted[k]), hash = hash * 67u + heap[k];
  int low = 0, high = 20;
  const uint16_t wanted = (uint16_t)(IN(30) & 63u);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (heap[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  out[0] = wrong, out[1] = hash, out[2] = (uint32_t)low, out[3] = heap[0], out[4] = heap[19],
  out[5] = out[6] = out[7] = 0;
}

KERNEL(Permutations) {  // the sum of f over all permutations of five, in Heap's order
  uint8_t p[5] = {0, 1, 2, 3, 4}, c[5] = {0, 0, 0, 0, 0};
  uint32_t hash = 0, turns = 0;
  for (uint32_t k = 0; k < 5;) {
    if (c[k] < k) {
      const uint32_t with = k & 1u ? c[k] : 0u;
      const uint8_t t = p[with];
      p[with] = p[k], p[k] = t;
      hash = hash * 3u + (IN(p[0]) ^ IN(p[4])), ++turns, ++c[k], k = 0;
    } else {
      c[k++] = 0;
    }
  }
  out[0] = hash, out[1] = turns;
  for (uint32_t k = 0; k < 5; ++k) out[2 + k] = p[k];
  out[7] = 0;
}

KERNEL(Collatz64) {
  uint64_t v = (uint64_t)(IN(0) | 1u) * 7919u;
  uint32_t length = 0, highest = 0;
  while (v != 1u && length < 500u) {
    if (v & 1u)
      v = 3u * v + 1u;
    else
      v >>= 1;
    ++length;
    const uint32_t bits = 64u - (uint32_t)__builtin_clzll(v);
    if (bits > highest) highest = bits;
  }
  out[0] = length, out[1] = highest;
  OUT64(2, v);
  uint64_t f0 = 0, f1 = 1;  // Fibonacci by matrix powers, modulo 2^64
  for (int b = 7; b >= 0; --b) {
    const uint64_t t = f0 * (2u * f1 - f0), u = f0 * f0 + f1 * f1;
    if (IN(1) >> b & 1u)
      f0 = u, f1 = t + u;
    else
      f0 = t, f1 = u;
  }
  OUT64(4, f0);
  OUT64(6, f1);
}

KERNEL(Twister) {  // a small Mersenne twister's recurrence
  uint32_t s[24];
  s[0] = IN(0);
  for (uint32_t k = 1; k < 24; ++k) s[k] = 1812433253u * (s[k - 1] ^ s[k - 1] >> 30) + k;
  for (uint32_t k = 0; k < 72; ++k) {
    const uint32_t at = k % 24u, y = (s[at] & 0x80000000u) | (s[(at + 1u) % 24u] & 0x7fffffffu);
    s[at] = s[(at + 15u) % 24u] ^ y >> 1 ^ (y & 1u ? 0x9908b0dfu : 0u);
  }
  for (uint32_t k = 0; k < 8; ++k) {
    uint32_t y = s[k * 3u];
    y ^= y >> 11, y ^= y << 7 & 0x9d2c5680u, y ^= y << 15 & 0xefc60000u;
    out[k] = y ^ y >> 18;
  }
}
