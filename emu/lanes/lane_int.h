// SPDX-License-Identifier: Apache-2.0
#pragma once
// Integer arithmetic of one lane in C++, shared by the interpreters of every ISA: the integer part of their
// builders' vocabulary. Total (shift amounts are taken modulo the width, counts of zero are the width) and
// branch-free, so that loops vectorise. Compiled once for each host instruction set (US_SEMANTICS_ARCH).

#include <cstdint>

#ifndef US_SEMANTICS_ARCH
#define US_SEMANTICS_ARCH baseline
#endif

namespace understudy::emu {
inline namespace US_SEMANTICS_ARCH {

#define US_OP [[gnu::always_inline]] inline

// Bits, widths and comparisons of integers: no MODE involved.
struct LaneInt {
  using U16 = uint16_t;
  using U32 = uint32_t;
  using U64 = uint64_t;
  using Bool = bool;

  US_OP static U16 C16(uint16_t v) { return v; }
  US_OP static U32 C32(uint32_t v) { return v; }
  US_OP static U64 C64(uint64_t v) { return v; }
  US_OP static Bool CBool(bool v) { return v; }

#define US_INT_OPS(T, S, W)                                                                     \
  US_OP static T Add(T a, T b) { return static_cast<T>(a + b); }                                \
  US_OP static T Sub(T a, T b) { return static_cast<T>(a - b); }                                \
  US_OP static T Mul(T a, T b) { return static_cast<T>(T{1} * uint64_t{a} * b); }               \
  US_OP static T Neg(T a) { return static_cast<T>(T{0} - a); }                                  \
  US_OP static T And(T a, T b) { return static_cast<T>(a & b); }                                \
  US_OP static T Or(T a, T b) { return static_cast<T>(a | b); }                                 \
  US_OP static T Xor(T a, T b) { return static_cast<T>(a ^ b); }                                \
  US_OP static T Not(T a) { return static_cast<T>(~a); }                                        \
  US_OP static T Shl(T a, U32 n) { return static_cast<T>(a << (n & (W - 1))); }                 \
  US_OP static T Shr(T a, U32 n) { return static_cast<T>(a >> (n & (W - 1))); }                 \
  US_OP static T Sar(T a, U32 n) { return static_cast<T>(static_cast<S>(a) >> (n & (W - 1))); } \
  US_OP static T UMin(T a, T b) { return a < b ? a : b; }                                       \
  US_OP static T UMax(T a, T b) { return a < b ? b : a; }                                       \
  US_OP static T SMin(T a, T b) { return static_cast<S>(a) < static_cast<S>(b) ? a : b; }       \
  US_OP static T SMax(T a, T b) { return static_cast<S>(a) < static_cast<S>(b) ? b : a; }       \
  US_OP static Bool Eq(T a, T b) { return a == b; }                                             \
  US_OP static Bool Ne(T a, T b) { return a != b; }                                             \
  US_OP static Bool ULt(T a, T b) { return a < b; }                                             \
  US_OP static Bool ULe(T a, T b) { return a <= b; }                                            \
  US_OP static Bool UGt(T a, T b) { return a > b; }                                             \
  US_OP static Bool UGe(T a, T b) { return a >= b; }                                            \
  US_OP static Bool SLt(T a, T b) { return static_cast<S>(a) < static_cast<S>(b); }             \
  US_OP static Bool SLe(T a, T b) { return static_cast<S>(a) <= static_cast<S>(b); }            \
  US_OP static Bool SGt(T a, T b) { return static_cast<S>(a) > static_cast<S>(b); }             \
  US_OP static Bool SGe(T a, T b) { return static_cast<S>(a) >= static_cast<S>(b); }
  US_INT_OPS(uint16_t, int16_t, 16)
  US_INT_OPS(uint32_t, int32_t, 32)
  US_INT_OPS(uint64_t, int64_t, 64)
#undef US_INT_OPS

  US_OP static Bool And(Bool a, Bool b) { return a & b; }
  US_OP static Bool Or(Bool a, Bool b) { return a | b; }
  US_OP static Bool Xor(Bool a, Bool b) { return a ^ b; }
  US_OP static Bool Not(Bool a) { return !a; }

  template <class T>
  US_OP static T Select(Bool c, T a, T b) {
    return c ? a : b;
  }
  US_OP static U32 FromBool(Bool c) { return c ? 1u : 0u; }

  US_OP static U32 MulHiU(U32 a, U32 b) { return static_cast<U32>((uint64_t{a} * b) >> 32); }
  US_OP static U32 MulHiS(U32 a, U32 b) {
    return static_cast<U32>((int64_t{static_cast<int32_t>(a)} * static_cast<int32_t>(b)) >> 32);
  }
  US_OP static U64 MulHiU(U64 a, U64 b) {
    return static_cast<U64>((static_cast<unsigned __int128>(a) * b) >> 64);
  }
  US_OP static U64 MulHiS(U64 a, U64 b) {
    return static_cast<U64>((static_cast<__int128>(static_cast<int64_t>(a)) * static_cast<int64_t>(b)) >> 64);
  }
  US_OP static U32 PopCount(U32 a) { return static_cast<U32>(__builtin_popcount(a)); }
  US_OP static U32 PopCount(U64 a) { return static_cast<U32>(__builtin_popcountll(a)); }
  US_OP static U32 Clz(U32 a) { return a == 0 ? 32u : static_cast<U32>(__builtin_clz(a | 1u)); }
  US_OP static U32 Clz(U64 a) { return a == 0 ? 64u : static_cast<U32>(__builtin_clzll(a | 1u)); }
  US_OP static U32 Ctz(U32 a) { return a == 0 ? 32u : static_cast<U32>(__builtin_ctz(a | 0x80000000u)); }
  US_OP static U32 Ctz(U64 a) { return a == 0 ? 64u : static_cast<U32>(__builtin_ctzll(a | (U64{1} << 63))); }
  US_OP static U32 BitReverse(U32 a) {
    a = ((a >> 1) & 0x55555555u) | ((a & 0x55555555u) << 1);
    a = ((a >> 2) & 0x33333333u) | ((a & 0x33333333u) << 2);
    a = ((a >> 4) & 0x0f0f0f0fu) | ((a & 0x0f0f0f0fu) << 4);
    return __builtin_bswap32(a);
  }
  US_OP static U64 BitReverse(U64 a) {
    return uint64_t{BitReverse(static_cast<U32>(a))} << 32 | BitReverse(static_cast<U32>(a >> 32));
  }

  US_OP static U32 Zext32(U16 a) { return a; }
  US_OP static U32 Sext32(U16 a) { return static_cast<U32>(int32_t{static_cast<int16_t>(a)}); }
  US_OP static U64 Zext64(U32 a) { return a; }
  US_OP static U64 Sext64(U32 a) { return static_cast<U64>(int64_t{static_cast<int32_t>(a)}); }
  US_OP static U16 Lo16(U32 a) { return static_cast<U16>(a); }
  US_OP static U16 Hi16(U32 a) { return static_cast<U16>(a >> 16); }
  US_OP static U32 Lo32(U64 a) { return static_cast<U32>(a); }
  US_OP static U32 Hi32(U64 a) { return static_cast<U32>(a >> 32); }
  US_OP static U32 Pack16(U16 lo, U16 hi) { return lo | uint32_t{hi} << 16; }
  US_OP static U64 Pack32(U32 lo, U32 hi) { return lo | uint64_t{hi} << 32; }
  // The low N bits as a signed number.
  template <int N>
  US_OP static U32 SextFrom(U32 a) {
    return static_cast<U32>(static_cast<int32_t>(a << (32 - N)) >> (32 - N));
  }
  template <int N>
  US_OP static U32 Byte(U32 a) {
    return (a >> (8 * N)) & 0xffu;
  }
};

}  // namespace US_SEMANTICS_ARCH
}  // namespace understudy::emu
