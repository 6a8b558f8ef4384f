// SPDX-License-Identifier: Apache-2.0
#pragma once
// The integer vocabulary of emu/lanes/lane_int.h over z3 bit-vectors: semantics that are written over a
// builder become terms, with which identities are proved for every input at once. Shared by the solver's
// readings of every ISA; it computes nothing itself.

#include <z3++.h>

#include <cstdint>

namespace understudy::emu::solver {

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
struct TermInt {
  using U16 = Term16;
  using U32 = Term32;
  using U64 = Term64;
  using Bool = TermBool;

  explicit TermInt(z3::context& context) : c(&context) {}
  z3::context* c;

  template <int N>
  Term<N> Const(uint64_t v) const {
    return {c->bv_val(v, N)};
  }
  U16 C16(uint16_t v) const { return Const<16>(v); }
  U32 C32(uint32_t v) const { return Const<32>(v); }
  U64 C64(uint64_t v) const { return Const<64>(v); }
  Bool CBool(bool v) const { return {c->bool_val(v)}; }

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

  // Amounts count modulo the width.
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
    return {z3::ite(condition.e, a.e, b.e)};
  }
  U32 FromBool(Bool a) const { return Select(a, C32(1), C32(0)); }

  template <int N>
  Term<N> MulHiU(Term<N> a, Term<N> b) const {
    return {(z3::zext(a.e, N) * z3::zext(b.e, N)).extract(2 * N - 1, N)};
  }
  template <int N>
  Term<N> MulHiS(Term<N> a, Term<N> b) const {
    return {(z3::sext(a.e, N) * z3::sext(b.e, N)).extract(2 * N - 1, N)};
  }
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

 protected:
  static z3::expr Bit(const z3::expr& e, int i) {
    const auto at = static_cast<unsigned>(i);
    return e.extract(at, at) == e.ctx().bv_val(1, 1);
  }
  template <int N>
  static z3::expr Amount(U32 amount) {
    constexpr int kBits = N == 16 ? 4 : N == 32 ? 5 : 6;
    return z3::zext(amount.e.extract(kBits - 1, 0), N - kBits);
  }
};

}  // namespace understudy::emu::solver
