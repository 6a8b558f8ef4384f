// SPDX-License-Identifier: Apache-2.0
#pragma once
// The builder vocabulary over z3 bit-vectors: integers of each width, floats as their bits. Semantics read
// through it become terms, with which an identity or a manual's formula is proved for every input at once. It
// computes no float arithmetic: rows whose result depends on MODE's float fields are not read this way.

#include <z3++.h>

#include <cstdint>

#include "emu/amd/semantics/float_bits.h"

namespace understudy::emu::amd::solver {

// One type a width, so that overloads (Zext32 of 16 bits, PopCount of 32 or 64) resolve as they do over
// integers.
template <int kBits>
struct Term {
  z3::expr e;
};
using Term16 = Term<16>;
using Term32 = Term<32>;
using Term64 = Term<64>;
struct TermBool {
  z3::expr e;
};
// Floats are their bits.
template <class T, int kTag = 0>
struct FloatTerm {
  T bits;
};

struct TermMath {
  using U16 = Term16;
  using U32 = Term32;
  using U64 = Term64;
  using Bool = TermBool;
  using F16 = FloatTerm<Term16>;
  using BF16 = FloatTerm<Term16, 1>;
  using F32 = FloatTerm<Term32>;
  using F64 = FloatTerm<Term64>;

  explicit TermMath(z3::context& context) : c(&context) {}
  z3::context* c;

  template <int N>
  Term<N> Const(uint64_t v) const {
    return {c->bv_val(v, N)};
  }
  U16 C16(uint16_t v) const { return Const<16>(v); }
  U32 C32(uint32_t v) const { return Const<32>(v); }
  U64 C64(uint64_t v) const { return Const<64>(v); }
  Bool CBool(bool v) const { return {c->bool_val(v)}; }
  F16 CF16(uint16_t bits) const { return {C16(bits)}; }
  F32 CF32(float v) const { return {C32(__builtin_bit_cast(uint32_t, v))}; }
  F64 CF64(double v) const { return {C64(__builtin_bit_cast(uint64_t, v))}; }

#define US_TERM2(name, expression)           \
  template <int N>                           \
  Term<N> name(Term<N> x, Term<N> y) const { \
    const z3::expr &a = x.e, &b = y.e;       \
    return {expression};                     \
  }
  US_TERM2(Add, a + b)
  US_TERM2(Sub, a - b)
  US_TERM2(Mul, a* b)
  US_TERM2(And, a& b)
  US_TERM2(Or, a | b)
  US_TERM2(Xor, a ^ b)
  US_TERM2(UMin, z3::ite(z3::ult(a, b), a, b))
  US_TERM2(UMax, z3::ite(z3::ult(a, b), b, a))
  US_TERM2(SMin, z3::ite(a < b, a, b))
  US_TERM2(SMax, z3::ite(a < b, b, a))
#undef US_TERM2
  template <int N>
  Term<N> Neg(Term<N> x) const {
    return {-x.e};
  }
  template <int N>
  Term<N> Not(Term<N> x) const {
    return {~x.e};
  }

#define US_TEST2(name, expression)        \
  template <int N>                        \
  Bool name(Term<N> x, Term<N> y) const { \
    const z3::expr &a = x.e, &b = y.e;    \
    return {expression};                  \
  }
  US_TEST2(Eq, a == b)
  US_TEST2(Ne, a != b)
  US_TEST2(ULt, z3::ult(a, b))
  US_TEST2(ULe, z3::ule(a, b))
  US_TEST2(UGt, z3::ugt(a, b))
  US_TEST2(UGe, z3::uge(a, b))
  US_TEST2(SLt, a < b)
  US_TEST2(SLe, a <= b)
  US_TEST2(SGt, a > b)
  US_TEST2(SGe, a >= b)
#undef US_TEST2
  Bool And(Bool a, Bool b) const { return {a.e && b.e}; }
  Bool Or(Bool a, Bool b) const { return {a.e || b.e}; }
  Bool Xor(Bool a, Bool b) const { return {a.e != b.e}; }
  Bool Not(Bool a) const { return {!a.e}; }

  // Amounts count modulo the width, as AMD shifts take them.
#define US_SHIFT(name, expression)            \
  template <int N>                            \
  Term<N> name(Term<N> x, U32 amount) const { \
    const z3::expr& a = x.e;                  \
    const z3::expr n = Amount<N>(amount);     \
    return {expression};                      \
  }
  US_SHIFT(Shl, z3::shl(a, n))
  US_SHIFT(Shr, z3::lshr(a, n))
  US_SHIFT(Sar, z3::ashr(a, n))
#undef US_SHIFT

  template <class T>
  T Select(Bool condition, T a, T b) const {
    if constexpr (requires { a.bits; }) {
      return {Select(condition, a.bits, b.bits)};
    } else {
      return {z3::ite(condition.e, a.e, b.e)};
    }
  }
  U32 FromBool(Bool a) const { return Select(a, C32(1), C32(0)); }

  U32 MulHiU(U32 a, U32 b) const { return {(z3::zext(a.e, 32) * z3::zext(b.e, 32)).extract(63, 32)}; }
  U32 MulHiS(U32 a, U32 b) const { return {(z3::sext(a.e, 32) * z3::sext(b.e, 32)).extract(63, 32)}; }
  template <int N>
  U32 PopCount(Term<N> a) const {
    z3::expr sum = c->bv_val(0, 32);
    for (int i = 0; i < N; ++i) sum = sum + z3::zext(a.e.extract(i, i), 31);
    return {sum};
  }
  template <int N>
  U32 Clz(Term<N> a) const {
    z3::expr count = c->bv_val(N, 32);
    for (int i = 0; i < N; ++i) count = z3::ite(Bit(a.e, i), c->bv_val(N - 1 - i, 32), count);
    return {count};
  }
  template <int N>
  U32 Ctz(Term<N> a) const {
    z3::expr count = c->bv_val(N, 32);
    for (int i = N - 1; i >= 0; --i) count = z3::ite(Bit(a.e, i), c->bv_val(i, 32), count);
    return {count};
  }
  template <int N>
  Term<N> BitReverse(Term<N> a) const {
    z3::expr out = a.e.extract(0, 0);
    for (int i = 1; i < N; ++i) out = z3::concat(out, a.e.extract(i, i));
    return {out};
  }

  U32 Zext32(U16 a) const { return {z3::zext(a.e, 16)}; }
  U32 Sext32(U16 a) const { return {z3::sext(a.e, 16)}; }
  U64 Zext64(U32 a) const { return {z3::zext(a.e, 32)}; }
  U64 Sext64(U32 a) const { return {z3::sext(a.e, 32)}; }
  U16 Lo16(U32 a) const { return {a.e.extract(15, 0)}; }
  U16 Hi16(U32 a) const { return {a.e.extract(31, 16)}; }
  U32 Lo32(U64 a) const { return {a.e.extract(31, 0)}; }
  U32 Hi32(U64 a) const { return {a.e.extract(63, 32)}; }
  U32 Pack16(U16 lo, U16 hi) const { return {z3::concat(hi.e, lo.e)}; }
  U64 Pack32(U32 lo, U32 hi) const { return {z3::concat(hi.e, lo.e)}; }
  template <int N>
  U32 SextFrom(U32 a) const {
    return {z3::sext(a.e.extract(N - 1, 0), 32 - N)};
  }
  template <int N>
  U32 Byte(U32 a) const {
    return {z3::zext(a.e.extract(8 * N + 7, 8 * N), 24)};
  }
  // A 32-bit number saturated to 16 signed bits.
  U16 SatS16(U32 a) const {
    const U32 limited = SMin(SMax(a, C32(0xffff8000u)), C32(0x7fffu));
    return Lo16(limited);
  }

  // --- floats: what does not depend on MODE ---
  template <class T, int kTag>
  T Bits(FloatTerm<T, kTag> a) const {
    return a.bits;
  }
  // The exact value of an 8-bit (or narrower) float, from its table of 256.
  template <class Format>
  F32 F32FromSmall(U32 code) const {
    z3::expr out = c->bv_val(0, 32);
    for (uint32_t i = 0; i < 256; ++i) {
      const uint32_t bits = __builtin_bit_cast(uint32_t, WidenSmall<Format>(i));
      out = z3::ite(code.e == c->bv_val(i, 32), c->bv_val(bits, 32), out);
    }
    return {{out}};
  }
  F16 AsF16(U16 a) const { return {a}; }
  BF16 AsBF16(U16 a) const { return {a}; }
  F32 AsF32(U32 a) const { return {a}; }
  F64 AsF64(U64 a) const { return {a}; }
  template <int N>
  FloatTerm<Term<N>> FNeg(FloatTerm<Term<N>> a) const {
    return {Xor(a.bits, Const<N>(uint64_t{1} << (N - 1)))};
  }
  template <int N>
  FloatTerm<Term<N>> FAbs(FloatTerm<Term<N>> a) const {
    return {And(a.bits, Const<N>((uint64_t{1} << (N - 1)) - 1))};
  }
  template <int N>
  Bool SignBit(FloatTerm<Term<N>> a) const {
    return {Bit(a.bits.e, N - 1)};
  }
  template <int N>
  U32 ExpField(FloatTerm<Term<N>> a) const {
    constexpr int kMantissa = Mantissa(N);
    return {z3::zext(a.bits.e.extract(N - 2, kMantissa), 32 - (N - 1 - kMantissa))};
  }
  template <int N>
  Bool IsNan(FloatTerm<Term<N>> a) const {
    return UGt(FAbs(a).bits, Infinity<N>());
  }
  template <int N>
  Bool IsSNan(FloatTerm<Term<N>> a) const {
    return And(IsNan(a), Bool{!Bit(a.bits.e, Mantissa(N) - 1)});
  }
  template <int N>
  Bool IsInf(FloatTerm<Term<N>> a) const {
    return Eq(FAbs(a).bits, Infinity<N>());
  }
  template <int N>
  Bool IsZero(FloatTerm<Term<N>> a) const {
    return Eq(FAbs(a).bits, Const<N>(0));
  }
  template <int N>
  Bool IsDenorm(FloatTerm<Term<N>> a) const {
    return And(Eq(ExpField(a), C32(0)), Not(IsZero(a)));
  }
  template <int N>
  Bool FUnord(FloatTerm<Term<N>> a, FloatTerm<Term<N>> b) const {
    return Or(IsNan(a), IsNan(b));
  }
  template <int N>
  FloatTerm<Term<N>> Quiet(FloatTerm<Term<N>> a) const {
    return {Or(a.bits, Const<N>(uint64_t{1} << (Mantissa(N) - 1)))};
  }

 private:
  static constexpr int Mantissa(int bits) { return bits == 16 ? 10 : bits == 32 ? 23 : 52; }
  static z3::expr Bit(const z3::expr& e, int i) { return e.extract(i, i) == e.ctx().bv_val(1, 1); }
  template <int N>
  Term<N> Infinity() const {
    return Const<N>(((uint64_t{1} << (N - 1 - Mantissa(N))) - 1) << Mantissa(N));
  }
  template <int N>
  static z3::expr Amount(U32 amount) {
    constexpr int kBits = N == 16 ? 4 : N == 32 ? 5 : 6;
    return z3::zext(amount.e.extract(kBits - 1, 0), N - kBits);
  }
};

}  // namespace understudy::emu::amd::solver
