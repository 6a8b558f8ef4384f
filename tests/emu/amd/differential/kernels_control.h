// SPDX-License-Identifier: Apache-2.0
// Control flow: recursion, calls through pointers, switches, loops with every kind of exit, variadic calls.

static NOINLINE uint32_t Fibonacci(uint32_t n) { return n < 2u ? n : Fibonacci(n - 1u) + Fibonacci(n - 2u); }
static NOINLINE uint32_t Ackermann(uint32_t m, uint32_t n) {
  return m == 0 ? n + 1u : n == 0 ? Ackermann(m - 1u, 1u) : Ackermann(m - 1u, Ackermann(m, n - 1u));
}
KERNEL(Recursion) {
  out[0] = Fibonacci(IN(0) % 10u), out[1] = Ackermann(IN(1) % 3u, IN(2) & 3u);
  out[2] = Fibonacci(i & 7u);
  for (uint32_t k = 3; k < 8; ++k) out[k] = out[k - 1] * 3u;
}

static NOINLINE uint32_t IsOdd(uint32_t n);
static NOINLINE uint32_t IsEven(uint32_t n) { return n == 0 ? 1u : IsOdd(n - 1u); }
static NOINLINE uint32_t IsOdd(uint32_t n) { return n == 0 ? 0u : IsEven(n - 1u); }
static NOINLINE void Hanoi(uint32_t n, uint32_t from, uint32_t to, uint32_t* hash) {
  if (n == 0) return;
  Hanoi(n - 1u, from, 3u - from - to, hash);
  *hash = *hash * 9u + from * 3u + to;
  Hanoi(n - 1u, 3u - from - to, to, hash);
}
KERNEL(MutualRecursion) {
  uint32_t hash = 1;
  Hanoi(1u + (IN(0) & 3u), 0u, 2u, &hash);
  out[0] = hash, out[1] = IsEven(IN(1) & 31u), out[2] = IsOdd(IN(1) & 31u);
  for (uint32_t k = 3; k < 8; ++k) out[k] = k;
}

static NOINLINE void QuickSort(int32_t* t, int low, int high) {
  while (low < high) {
    const int32_t pivot = t[(low + high) / 2];
    int a = low, b = high;
    while (a <= b) {
      while (t[a] < pivot) ++a;
      while (t[b] > pivot) --b;
      if (a > b) break;
      const int32_t swap = t[a];
      t[a++] = t[b], t[b--] = swap;
    }
    if (b - low < high - a)
      QuickSort(t, low, b), low = a;
    else
      QuickSort(t, a, high), high = b;
  }
}
KERNEL(RecursiveSort) {
  int32_t t[20];
  for (uint32_t k = 0; k < 20; ++k) t[k] = (int32_t)IN(k);
  QuickSort(t, 0, 19);
  uint32_t sorted = 1;
  for (uint32_t k = 1; k < 20; ++k) sorted &= (uint32_t)(t[k - 1] <= t[k]);
  for (uint32_t k = 0; k < 7; ++k) out[k] = (uint32_t)t[k * 3];
  out[7] = sorted;
}

typedef uint32_t (*Operation)(uint32_t, uint32_t);
static NOINLINE uint32_t OpAdd(uint32_t a, uint32_t b) { return a + b; }
static NOINLINE uint32_t OpMix(uint32_t a, uint32_t b) { return (a ^ b) * 0x9e3779b1u; }
static NOINLINE uint32_t OpDivide(uint32_t a, uint32_t b) { return a / (b | 1u); }
static NOINLINE uint32_t OpLoop(uint32_t a, uint32_t b) {
  for (uint32_t k = 0; k < (b & 7u); ++k) a = a * 3u + k;
  return a;
}
static const Operation kOperations[4] = {OpAdd, OpMix, OpDivide, OpLoop};
KERNEL(FunctionPointers) {  // each lane its own function
  uint32_t s = IN(0);
  for (uint32_t k = 0; k < 12; ++k) s = kOperations[IN(k) >> 5 & 3u](s, IN(k + 1));
  Operation chosen = i & 1u ? OpMix : OpLoop;
  out[0] = s, out[1] = chosen(s, IN(14)), out[2] = kOperations[s & 3u](out[1], 3u);
  for (uint32_t k = 3; k < 8; ++k) out[k] = out[k - 1] ^ k;
}

typedef double (*RealOperation)(double, float, uint64_t, int8_t);
static NOINLINE double RealA(double a, float b, uint64_t c, int8_t d) {
  return a * 0.5 + (double)b - (double)(c >> 40) + d;
}
static NOINLINE double RealB(double a, float b, uint64_t c, int8_t d) {
  return a - (double)(b * 2.0f) + (double)(int8_t)(c + (uint8_t)d);
}
KERNEL(RealFunctionPointers) {
  RealOperation f[2] = {RealA, RealB};
  double s = (double)(int32_t)IN(0);
  for (uint32_t k = 0; k < 6; ++k) {
    s = f[IN(k) >> 7 & 1u](s, (float)(int16_t)IN(k + 1), IN64(k + 2), (int8_t)IN(k + 3));
  }
  OUT64(0, DoubleBits(s));
  for (uint32_t k = 2; k < 8; ++k) out[k] = k;
}

static NOINLINE uint64_t ManyArguments(uint32_t a, uint64_t b, uint8_t c, float d, double e, int16_t f,
                                       uint128_t g, uint32_t h, uint64_t j, uint64_t k, uint64_t m,
                                       uint64_t n, uint64_t o, uint64_t p, uint64_t q, uint64_t r, uint64_t s,
                                       struct Point t) {
  return a + b * c + (uint64_t)(int64_t)d + (uint64_t)(int64_t)e + (uint64_t)(int64_t)f +
         (uint64_t)(g >> 64) + h + (j ^ k) + m * 3u + (n & o) + (p | q) + (r >> 3) + s * 5u + (uint32_t)t.x +
         t.tag;
}
KERNEL(ManyArgumentsOnTheStack) {
  struct Point t = {(int32_t)IN(0), 2, (uint8_t)IN(1), 0.0};
  OUT64(0, ManyArguments(IN(0), IN64(1), (uint8_t)IN(2), (float)(int16_t)IN(3), (double)(int32_t)IN(4),
                         (int16_t)IN(5), (uint128_t)IN64(6) << 64, IN(7), IN64(8), IN64(9), IN64(10),
                         IN64(11), IN64(12), IN64(13), IN64(14), IN64(15), IN64(16), t));
  for (uint32_t k = 2; k < 8; ++k) out[k] = k;
}

static NOINLINE uint64_t Variadic(uint32_t count, ...) {
  __builtin_va_list list;
  __builtin_va_start(list, count);
  uint64_t s = 0;
  for (uint32_t k = 0; k < count; ++k) {
    switch (k % 3u) {
      case 0:
        s += (uint64_t)__builtin_va_arg(list, uint32_t);
        break;
      case 1:
        s ^= __builtin_va_arg(list, uint64_t);
        break;
      default:
        s += (uint64_t)(int64_t)__builtin_va_arg(list, double);
    }
  }
  __builtin_va_end(list);
  return s;
}
KERNEL(VariadicCalls) {
  OUT64(0, Variadic(1, IN(0)));
  OUT64(2, Variadic(3, IN(0), IN64(1), (double)(int32_t)IN(2)));
  OUT64(4, Variadic(6, IN(0), IN64(1), (double)(int32_t)IN(2), IN(3), IN64(4), 1.5));
  out[6] = out[7] = 0;
}

KERNEL(DenseSwitch) {
  uint32_t s = 1;
  for (uint32_t k = 0; k < 30; ++k) {
    const uint32_t v = IN(k);
    switch (v >> 3 & 15u) {
      case 0:
        s += 17u;
        break;
      case 1:
        s ^= v;  // falls through
      case 2:
        s *= 5u;
        break;
      case 3:
        s = RotateLeft32(s, 9);
        break;
      case 4:
        s -= v;
        break;
      case 5:
        s = s / 3u;
        break;
      case 6:
        s |= 0x100u;
        break;
      case 7:
        s = ~s;  // falls through
      case 8:
      case 9:
        s += k;
        break;
      case 10:
        s = s > v ? s : v;
        break;
      case 11:
        continue;
      case 12:
        s = (uint32_t)__builtin_popcount(s) * v;
        break;
      case 13:
        s <<= 2;
        break;
      case 14:
        s = s % 1000003u;
        break;
      default:
        s ^= s >> 7;
    }
    s += 3u;
  }
  out[0] = s;
  for (uint32_t k = 1; k < 8; ++k) {  // a table of constants
    switch (IN(k) % 7u) {
      case 0:
        out[k] = 11;
        break;
      case 1:
        out[k] = 305;
        break;
      case 2:
        out[k] = 7;
        break;
      case 3:
        out[k] = 0xffffffffu;
        break;
      case 4:
        out[k] = 42;
        break;
      case 5:
        out[k] = 5;
        break;
      default:
        out[k] = 1;
    }
  }
}

KERNEL(SparseSwitch) {
  static const uint32_t kKeys[8] = {0, 1, 100, 1000, 0x80000000u, 0xfffffff0u, 77777, 31};
  uint32_t s = 0;
  for (uint32_t k = 0; k < 24; ++k) {
    const uint32_t key = kKeys[IN(k) & 7u] + (IN(k) >> 9 & 1u);
    switch (key) {
      case 0:
        s += 1;
        break;
      case 1:
        s += 20;
        break;
      case 100:
        s ^= 300;
        break;
      case 1000:
        s = s * 7u;
        break;
      case 0x80000000u:
        s = s << 3 | s >> 29;
        break;
      case 0xfffffff0u:
        s -= 9;
        break;
      case 77777:
        s ^= 0x55aa55aau;
        break;
      default:
        s += key >> 4;
    }
    switch ((int64_t)(int32_t)key * 4294967296) {
      case 0:
        s += 5;
        break;
      case 429496729600:
        s ^= 1;
        break;
      case -9223372036854775807 - 1:
        s += 3;
        break;
      default:
        break;
    }
  }
  for (uint32_t k = 0; k < 8; ++k) out[k] = s >> k;
}

KERNEL(LoopExits) {
  uint32_t found = 0, turns = 0, s = IN(0);
  for (uint32_t a = 0; a < 12u; ++a) {
    uint32_t b = a;
    do {
      ++turns, s = s * 1664525u + 1013904223u;
      if ((s >> 28) == 3u) goto next;
      if ((s >> 20 & 0xffu) == 0x11u) goto done;
      if (s & 0x4000u) continue;
      found += b;
    } while (++b < 20u && (s & 0x10000u));
    while (s > 0xf0000000u) s >>= 1, ++turns;
  next:;
  }
done:
  out[0] = found, out[1] = turns, out[2] = s;
  uint32_t n = IN(1) & 31u, r = 0;  // Duff's device
  const uint32_t whole = (n + 7u) / 8u;
  uint32_t left = whole;
  if (n != 0) {
    switch (n % 8u) {
      case 0:
        do {
          r = r * 3u + 1u;
          case 7:
            r = r * 5u + 2u;
          case 6:
            r ^= n;
          case 5:
            r += 9u;
          case 4:
            r = RotateLeft32(r, 3);
          case 3:
            r -= 4u;
          case 2:
            r ^= 0x30u;
          case 1:
            r += left;
        } while (--left > 0);
    }
  }
  out[3] = r;
  uint32_t x = IN(2) & 15u, y = 0;  // a loop that is entered in its middle
  if (x & 1u) goto middle;
top:
  y += x;
  if (y > 60u) goto end;
middle:
  x += 3u, y ^= x;
  if (x < 60u) goto top;
end:
  out[4] = x, out[5] = y, out[6] = whole, out[7] = 0;
}

KERNEL(StateMachine) {  // numbers, words and gaps in random text
  enum { kGap, kNumber, kWord } state = kGap;
  uint32_t numbers = 0, words = 0, value = 0, total = 0;
  for (uint32_t k = 0; k < 100; ++k) {
    const uint32_t c = "0123456789abcdef   .,+"[(IN(k & 63u) >> (k & 15u)) % 22u];
    const int digit = c >= '0' && c <= '9', letter = c >= 'a' && c <= 'f';
    switch (state) {
      case kGap:
        if (digit)
          state = kNumber, value = c - '0', ++numbers;
        else if (letter)
          state = kWord, ++words;
        break;
      case kNumber:
        if (digit)
          value = value * 10u + c - '0';
        else if (letter)
          state = kWord, ++words, --numbers;
        else
          state = kGap, total += value;
        break;
      default:
        if (!digit && !letter) state = kGap;
    }
  }
  out[0] = numbers, out[1] = words, out[2] = value, out[3] = total, out[4] = (uint32_t)state;
  out[5] = (numbers && words) || !total, out[6] = numbers ? words ? 1u : 2u : 3u, out[7] = 0;
}

// One text, several kernels' worth of calls: macros with variable arguments.
#define SUM_OF(...) SumOf((uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4)
static inline uint32_t SumOf(const uint32_t* p, uint32_t n) {
  uint32_t s = 0;
  for (uint32_t k = 0; k < n; ++k) s += p[k] * (k + 1u);
  return s;
}
KERNEL(VariadicMacros) {
  out[0] = SUM_OF(IN(0)), out[1] = SUM_OF(IN(0), IN(1), 7u), out[2] = SUM_OF(i, l, IN(2), IN(3), IN(4));
  for (uint32_t k = 3; k < 8; ++k) out[k] = SUM_OF(out[k - 1], k);
}

KERNEL(DivergentNesting) {
  uint32_t s = 0;
  for (uint32_t a = 0; a < (IN(0) & 7u); ++a) {
    if ((IN(a) ^ i) & 1u) {
      for (uint32_t b = IN(a) & 3u; b < 6u; ++b) {
        if (IN(b) & 2u) {
          s += a * b;
          if (s & 8u) break;
        } else if (IN(b) & 4u) {
          s ^= i;
          continue;
        }
        s = s * 3u + 1u;
      }
    } else {
      s -= a;
      while (s & 3u) s >>= 1;
    }
    if (s == 77u) {
      out[7] = s;
      break;
    }
  }
  for (uint32_t k = 0; k < 7; ++k) out[k] = s + k;
  out[7] = s ^ 1u;
}
