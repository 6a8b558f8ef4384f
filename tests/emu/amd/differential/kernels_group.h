// SPDX-License-Identifier: Apache-2.0
// Workgroups and waves: LDS, barriers, atomics of every type and order, exchanges between lanes.

KERNEL(SumReduction) {
  lds[l] = IN(0);
  BARRIER();
  for (uint32_t step = 64; step > 0; step >>= 1) {
    if (l < step) lds[l] += lds[l + step];
    BARRIER();
  }
  out[0] = lds[0];
  uint32_t s = 0;
  BARRIER();
  LDS float* f = (LDS float*)lds;
  f[l] = (float)(int16_t)IN(1);
  BARRIER();
  for (uint32_t k = 0; k < 8; ++k) s += FloatBits(f[(l + k * 16u) & 127u]);
  for (uint32_t step = 1; step < 128; step *= 2) {
    BARRIER();
    const float v = f[l] < f[l ^ step] ? f[l ^ step] : f[l];
    BARRIER();
    f[l] = v;
  }
  out[1] = s, out[2] = FloatBits(f[l]);
  for (uint32_t k = 3; k < 8; ++k) out[k] = k;
}

KERNEL(PrefixSums) {
  uint32_t v = IN(0) & 0xffffu;
  lds[l] = v;
  BARRIER();
  for (uint32_t step = 1; step < 128; step *= 2) {  // Hillis and Steele
    const uint32_t add = l >= step ? lds[l - step] : 0u;
    BARRIER();
    lds[l] += add;
    BARRIER();
  }
  out[0] = lds[l];
  LDS uint64_t* wide = (LDS uint64_t*)(lds + 256);
  wide[l] = IN64(1);
  BARRIER();
  for (uint32_t step = 1; step < 128; step *= 2) {  // Blelloch's two sweeps
    const uint32_t at = (l + 1u) * step * 2u - 1u;
    if (at < 128u) wide[at] += wide[at - step];
    BARRIER();
  }
  if (l == 0) wide[127] = 0;
  BARRIER();
  for (uint32_t step = 64; step > 0; step >>= 1) {
    const uint32_t at = (l + 1u) * step * 2u - 1u;
    if (at < 128u) {
      const uint64_t t = wide[at - step];
      wide[at - step] = wide[at], wide[at] += t;
    }
    BARRIER();
  }
  OUT64(1, wide[l]);
  for (uint32_t k = 3; k < 8; ++k) out[k] = v;
}

KERNEL(Histogram) {
  for (uint32_t k = l; k < 64; k += 128) lds[k] = 0;
  if (l < 16) lds[64 + l] = ~0u;
  BARRIER();
  for (uint32_t k = 0; k < 6; ++k) {
    ATOMIC_ADD(&lds[IN(k) >> 26], 1u, __ATOMIC_RELAXED);
    ATOMIC_MIN(&lds[64 + (IN(k) & 15u)], IN(k) >> 5, __ATOMIC_RELAXED);
  }
  BARRIER();
  out[0] = lds[l & 63u], out[1] = lds[64 + (l & 15u)];
  if (l < 64) ATOMIC_ADD(&mem[l], lds[l], __ATOMIC_RELAXED);
  for (uint32_t k = 2; k < 8; ++k) out[k] = lds[(l * k) & 63u];
}

KERNEL(Transpose) {  // padded tiles of words, bytes and doubles
  for (uint32_t k = 0; k < 4; ++k) {
    const uint32_t at = l + 128u * k, row = at / 24u, column = at % 24u;
    if (row < 21u) lds[row * 25u + column] = IN(k) + row;
  }
  BARRIER();
  uint32_t s = 0;
  for (uint32_t k = 0; k < 4; ++k) {
    const uint32_t at = l + 128u * k, row = at % 21u, column = at / 21u;
    if (column < 24u) s = s * 3u + lds[row * 25u + column];
  }
  out[0] = s;
  BARRIER();
  LDS uint8_t* bytes = (LDS uint8_t*)lds;
  LDS uint16_t* shorts = (LDS uint16_t*)(lds + 256);
  LDS double* reals = (LDS double*)(lds + 512);
  bytes[(l & 15u) * 8u + l / 16u] = (uint8_t)IN(4), shorts[(l * 37u) & 127u] = (uint16_t)IN(5);
  reals[l ^ 5u] = (double)(int32_t)IN(6) * 0.5;
  BARRIER();
  out[1] = bytes[l] | (uint32_t)(int32_t)(int8_t)bytes[l ^ 1u] << 8, out[2] = shorts[l];
  OUT64(3, DoubleBits(reals[l] + reals[127u - l]));
  out[5] = (uint32_t)(int32_t)(int16_t)shorts[(l + 1u) & 127u], out[6] = out[7] = 0;
}

KERNEL(BitonicSort) {
  lds[l] = IN(0), lds[128 + l] = l;
  BARRIER();
  for (uint32_t size = 2; size <= 128; size *= 2) {
    for (uint32_t step = size / 2; step > 0; step >>= 1) {
      const uint32_t other = l ^ step;
      if (other > l) {
        const int up = (l & size) == 0;
        const uint32_t a = lds[l], b = lds[other];
        if ((a > b) == up && a != b) {
          const uint32_t t = lds[128 + l];
          lds[l] = b, lds[other] = a, lds[128 + l] = lds[128 + other], lds[128 + other] = t;
        }
      }
      BARRIER();
    }
  }
  out[0] = lds[l], out[1] = lds[128 + l], out[2] = (uint32_t)(l == 0 || lds[l - 1] <= lds[l]);
  for (uint32_t k = 3; k < 8; ++k) out[k] = lds[k * 9u];
}

KERNEL(TiledProduct) {  // C = A * B of 16x16 floats, two tiles of the inner dimension
  const uint32_t row = l >> 4, column = l & 15u;
  LDS float* a = (LDS float*)lds;
  LDS float* b = (LDS float*)(lds + 256);
  float s0 = 0.0f, s1 = 0.0f;
  for (uint32_t tile = 0; tile < 2; ++tile) {
    for (uint32_t k = 0; k < 2; ++k) {
      a[l + 128u * k] = (float)(int32_t)(in[(l * 3u + k * 77u + tile * 5u) & 1023u] & 0xffu) * 0.125f;
      b[l + 128u * k] =
          (float)(int32_t)(in[(l * 7u + k * 31u + tile * 9u + i / 128u) & 1023u] & 0xffu) - 100.0f;
    }
    BARRIER();
    for (uint32_t k = 0; k < 16; ++k) {
      s0 += a[row * 16u + k] * b[k * 16u + column];
      s1 = __builtin_fmaf(a[(row + 8u) * 16u + k], b[k * 16u + column], s1);
    }
    BARRIER();
  }
  out[0] = FloatBits(s0), out[1] = FloatBits(s1);
  for (uint32_t k = 2; k < 8; ++k) out[k] = FloatBits(s0 * (float)k);
}

KERNEL(Stencil) {  // diffusion on a ring, two buffers
  LDS float* u = (LDS float*)lds;
  u[l] = (float)(int8_t)IN(0);
  BARRIER();
  uint32_t from = 0;
  for (uint32_t step = 0; step < 9; ++step) {
    const float left = u[from + ((l + 127u) & 127u)], right = u[from + ((l + 1u) & 127u)], here = u[from + l];
    from ^= 128u;
    u[from + l] = here + 0.25f * (left - 2.0f * here + right);
    BARRIER();
  }
  out[0] = FloatBits(u[from + l]);
  BARRIER();
  lds[l] = IN(1) & 1u;
  BARRIER();
  for (uint32_t step = 0; step < 10; ++step) {  // rule 110
    const uint32_t pattern = lds[(l + 127u) & 127u] << 2 | lds[l] << 1 | lds[(l + 1u) & 127u];
    BARRIER();
    lds[l] = 110u >> pattern & 1u;
    BARRIER();
  }
  out[1] = lds[l];
  for (uint32_t k = 2; k < 8; ++k) out[k] = lds[(l + k) & 127u];
}

KERNEL(LdsVectors) {  // 8, 16 and 12 bytes at a time, aligned and not
  typedef uint32_t Four __attribute__((vector_size(16)));
  LDS Four* four = (LDS Four*)lds;
  const Four v = {IN(0), IN(1), IN(2), IN(3)};
  four[l] = v;
  BARRIER();
  const Four w = four[(l * 5u + 3u) & 127u];
  for (uint32_t k = 0; k < 4; ++k) out[k] = w[k];
  BARRIER();
  struct __attribute__((packed)) Odd {
    uint32_t a;
    uint64_t b;
    uint8_t c;
  };
  LDS struct Odd* odd = (LDS struct Odd*)((LDS uint8_t*)lds + 1);
  odd[l].a = IN(4), odd[l].b = IN64(5), odd[l].c = (uint8_t)IN(7);
  BARRIER();
  const LDS struct Odd* other = odd + ((l + 77u) & 127u);
  OUT64(4, other->b);
  out[6] = other->a, out[7] = other->c;
}

// Every operation, of 32 and 64 bits, on LDS and on memory, whose result has no order; and every order of
// memory.
KERNEL(LdsAtomics) {
  LDS uint64_t* wide = (LDS uint64_t*)(lds + 64);
  if (l < 32) {
    lds[l] = l & 8u ? ~0u : 0u;
    wide[l] = l & 8u ? ~(uint64_t)0 : 0u;
  }
  BARRIER();
  const uint32_t v = IN(0);
  const uint64_t w = IN64(1);
  ATOMIC_ADD(&lds[0], v, __ATOMIC_RELAXED), ATOMIC_SUB(&lds[1], v, __ATOMIC_ACQUIRE);
  ATOMIC_OR(&lds[2], v & 0x0f0f0f0fu, __ATOMIC_RELEASE), ATOMIC_XOR(&lds[3], v, __ATOMIC_ACQ_REL);
  ATOMIC_MAX(&lds[4], v, __ATOMIC_SEQ_CST), ATOMIC_MAX((LDS int32_t*)&lds[5], (int32_t)v, __ATOMIC_RELAXED);
  ATOMIC_AND(&lds[8], v | 0xf0f0f0f0u, __ATOMIC_RELAXED), ATOMIC_MIN(&lds[9], v, __ATOMIC_SEQ_CST);
  ATOMIC_MIN((LDS int32_t*)&lds[10], (int32_t)v, __ATOMIC_ACQ_REL);
  ATOMIC_ADD(&wide[0], w, __ATOMIC_RELAXED), ATOMIC_SUB(&wide[1], w, __ATOMIC_SEQ_CST);
  ATOMIC_OR(&wide[2], w & 0x00ff00ff00ff00ffu, __ATOMIC_RELAXED), ATOMIC_XOR(&wide[3], w, __ATOMIC_RELAXED);
  ATOMIC_MAX(&wide[4], w, __ATOMIC_RELAXED), ATOMIC_MAX((LDS int64_t*)&wide[5], (int64_t)w, __ATOMIC_RELEASE);
  ATOMIC_AND(&wide[8], w | 0xff00ff00ff00ff00u, __ATOMIC_RELAXED), ATOMIC_MIN(&wide[9], w, __ATOMIC_RELAXED);
  ATOMIC_MIN((LDS int64_t*)&wide[10], (int64_t)w, __ATOMIC_ACQUIRE);
  ATOMIC_ADD_FLOAT((LDS float*)&lds[6], (float)(int8_t)v);
  ATOMIC_ADD_FLOAT((LDS double*)&wide[6], (double)(int32_t)w);
  BARRIER();
  uint32_t s = 0;
  for (uint32_t k = 0; k < 12; ++k) s = s * 31u + ATOMIC_LOAD(&lds[k], __ATOMIC_RELAXED);
  uint64_t t = 0;
  for (uint32_t k = 0; k < 12; ++k) t = t * 31u + ATOMIC_LOAD(&wide[k], __ATOMIC_ACQUIRE);
  out[0] = s, out[3] = lds[6], out[4] = lds[4], out[5] = lds[10], out[6] = (uint32_t)wide[9], out[7] = lds[0];
  OUT64(1, t);
}

KERNEL(GlobalAtomics) {
  GLOBAL uint64_t* wide = (GLOBAL uint64_t*)(mem + 512);
  const uint32_t v = IN(0), at = IN(9) & 7u;
  const uint64_t w = IN64(1);
  ATOMIC_ADD(&mem[at], v, __ATOMIC_RELAXED), ATOMIC_SUB(&mem[8 + at], v, __ATOMIC_ACQUIRE);
  ATOMIC_OR(&mem[16 + at], v, __ATOMIC_RELEASE), ATOMIC_XOR(&mem[24 + at], v, __ATOMIC_ACQ_REL);
  ATOMIC_AND(&mem[520 + at * 2u], v, __ATOMIC_SEQ_CST), ATOMIC_MAX(&mem[32 + at], v, __ATOMIC_RELAXED);
  ATOMIC_MIN(&mem[600 + at], v, __ATOMIC_RELAXED),
      ATOMIC_MAX((GLOBAL int32_t*)&mem[608 + at], (int32_t)v, __ATOMIC_RELAXED);
  ATOMIC_MIN((GLOBAL int32_t*)&mem[616 + at], (int32_t)v, __ATOMIC_SEQ_CST);
  ATOMIC_ADD(&wide[100 + at], w, __ATOMIC_RELAXED), ATOMIC_SUB(&wide[108 + at], w, __ATOMIC_SEQ_CST);
  ATOMIC_OR(&wide[116 + at], w, __ATOMIC_RELAXED), ATOMIC_XOR(&wide[124 + at], w, __ATOMIC_RELAXED);
  ATOMIC_AND(&wide[132 + at], w, __ATOMIC_RELAXED), ATOMIC_MAX(&wide[140 + at], w, __ATOMIC_ACQ_REL);
  ATOMIC_MIN(&wide[148 + at], w, __ATOMIC_RELAXED),
      ATOMIC_MAX((GLOBAL int64_t*)&wide[156 + at], (int64_t)w, __ATOMIC_RELAXED);
  ATOMIC_MIN((GLOBAL int64_t*)&wide[164 + at], (int64_t)w, __ATOMIC_RELEASE);
  ATOMIC_ADD_FLOAT((GLOBAL float*)&mem[40 + at], (float)(int8_t)v);
  ATOMIC_ADD_FLOAT((GLOBAL double*)(mem + 64) + at, (double)(int32_t)v);
  for (uint32_t k = 0; k < 8; ++k) out[k] = v;
}

KERNEL(CompareAndSwap) {  // loops until each has had its turn; a counter hands out numbers
  GLOBAL uint32_t* place = mem + (IN(0) & 3u);
  uint32_t expected = ATOMIC_LOAD(place, __ATOMIC_RELAXED), tries = 0;
  while (!ATOMIC_CAS(place, &expected, expected * 1u + (IN(1) | 1u), __ATOMIC_RELAXED) && tries < 1000u)
    ++tries;
  LDS uint64_t* wide = (LDS uint64_t*)lds;
  if (l < 2) wide[l] = 0;
  if (l < 4) lds[16 + l] = 0, lds[32 + l] = 0;
  BARRIER();
  uint64_t old = ATOMIC_LOAD(wide + (l & 1u), __ATOMIC_RELAXED);
  while (!ATOMIC_CAS(wide + (l & 1u), &old, old + IN64(2), __ATOMIC_SEQ_CST) && tries < 1000u) ++tries;
  const uint32_t ticket = ATOMIC_ADD(&lds[16], 1u, __ATOMIC_RELAXED);
  ATOMIC_OR(&lds[32 + (ticket >> 5)], 1u << (ticket & 31u), __ATOMIC_RELAXED);
  BARRIER();
  OUT64(0, wide[0]);
  OUT64(2, wide[1]);
  out[4] = lds[16], out[5] = lds[32 + (l & 3u)],
  out[6] = ATOMIC_EXCHANGE(mem + 256 + i, IN(3), __ATOMIC_RELAXED), out[7] = (uint32_t)(tries >= 1000u);
}

KERNEL(SmallAtomics) {  // bytes and halves go through loops on whole words
  LDS uint8_t* bytes = (LDS uint8_t*)lds;
  LDS uint16_t* halves = (LDS uint16_t*)(lds + 16);
  if (l < 16) lds[l] = 0, lds[16 + l] = 0x80008000u;
  lds[32 + l] = l;
  BARRIER();
  ATOMIC_ADD(&bytes[IN(0) & 15u], (uint8_t)IN(1), __ATOMIC_RELAXED);
  ATOMIC_XOR(&bytes[16 + (IN(2) & 15u)], (uint8_t)IN(3), __ATOMIC_RELAXED);
  ATOMIC_ADD(&halves[IN(4) & 7u], (uint16_t)IN(5), __ATOMIC_RELAXED);
  ATOMIC_MAX(&halves[8 + (IN(6) & 7u)], (uint16_t)IN(7), __ATOMIC_RELAXED);
  ATOMIC_NAND(&lds[32 + l], IN(8), __ATOMIC_RELAXED);
  BARRIER();
  for (uint32_t k = 0; k < 8; ++k) out[k] = lds[(l + k) & 31u];
}

KERNEL(Votes) {
  const uint64_t ballot = BALLOT(IN(0) & 1u);
  const uint64_t below = LANE == 0 ? 0u : ballot & (~(uint64_t)0 >> (64u - LANE));
  OUT64(0, ballot);
  out[2] = (uint32_t)__builtin_popcountll(below), out[3] = (uint32_t)__builtin_popcountll(ballot);
  const uint64_t all = BALLOT(1), big = BALLOT(IN(1) > 0x80000000u),
                 real = BALLOT(AsFloat(IN(2)) < AsFloat(IN(3)));
  out[4] = (uint32_t)(all == ballot) | (uint32_t)(big == 0) << 1, out[5] = (uint32_t)(real >> (LANE & 31u));
  // Each wave packs its odd values together in LDS.
  const uint32_t wave = l / WAVE_OF(item) * WAVE_OF(item);
  lds[l] = 0;
  BARRIER();
  if (IN(0) & 1u) lds[wave + (uint32_t)__builtin_popcountll(below)] = IN(0);
  BARRIER();
  out[6] = lds[l], out[7] = READ_FIRST_LANE(IN(4));
}

KERNEL(LaneExchanges) {
  uint32_t s = IN(0), sum = 0;
  for (uint32_t step = 1; step < 32; step *= 2) s += SHUFFLE(s, LANE ^ step);
  out[0] = s;
  out[1] = SHUFFLE(IN(1), IN(2)), out[2] = SHUFFLE(l * 3u, LANE + 5u);
  for (uint32_t k = 0; k < 32; k += 5) {
    const uint32_t v = READ_LANE(IN(k), k);
    sum = sum * 3u + v;
  }
  out[3] = sum, out[4] = SWIZZLE(IN(3), 0x401f), out[5] = SWIZZLE(IN(4), 0x801b),
  out[6] = SWIZZLE(IN(5), 0x041e);
  out[7] = SWIZZLE(IN(6), 0x0c10);
}

KERNEL(DataParallelPrimitives) {
  const uint32_t v = IN(0), w = IN(1);
  out[0] = DPP(v, w, 0x1b, 0), out[1] = DPP(v, w, 0x111, 0), out[2] = DPP(v, w, 0x108, 1);
  out[3] = DPP(v, 0, 0x124, 1) + w, out[4] = DPP(v, 7, 0x140, 0) ^ DPP(w, 7, 0x141, 0);
  uint32_t s = v & 0xffffu;  // a prefix sum of a row
  const uint32_t s1 = DPP(s, 0, 0x111, 1);
  s += s1;
  const uint32_t s2 = DPP(s, 0, 0x112, 1);
  s += s2;
  const uint32_t s4 = DPP(s, 0, 0x114, 1);
  s += s4;
  const uint32_t s8 = DPP(s, 0, 0x118, 1);
  s += s8;
  out[5] = s;
  const float f = (float)(int8_t)w;
  out[6] = FloatBits(f + AsFloat(DPP(FloatBits(f), 0, 0xb1, 1))), out[7] = DPP(v, w, 0x101, 0);
}

KERNEL(GroupHandover) {  // items pass a token through LDS, a barrier a step, in and out of private memory
  uint32_t mine[4] = {IN(0), IN(1), IN(2), IN(3)};
  for (uint32_t step = 0; step < 6; ++step) {
    lds[l] = mine[step & 3u];
    BARRIER();
    mine[(step + 1u) & 3u] ^= lds[(l + 1u + step * step) & 127u] + step;
    BARRIER();
  }
  for (uint32_t k = 0; k < 4; ++k) out[k] = mine[k];
  for (uint32_t k = 4; k < 8; ++k) out[k] = mine[IN(k) & 3u];
}
