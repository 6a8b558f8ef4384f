// SPDX-License-Identifier: Apache-2.0
#pragma once
// The builder vocabulary over z3 bit-vectors: integers of each width, floats as their bits. Semantics read
// through it become terms, with which an identity or a manual's formula is proved for every input at once. It
// computes no float arithmetic: rows whose result depends on MODE's float fields are not read this way.

#include <z3++.h>

#include <cstdint>

#include "emu/amd/semantics/float_bits.h"
#include "emu/lanes/term_int.h"

namespace understudy::emu::amd::solver {

using emu::solver::Term;
using emu::solver::Term16;
using emu::solver::Term32;
using emu::solver::Term64;
using emu::solver::TermBool;
// Floats are their bits.
template <class T, int kTag = 0>
struct FloatTerm {
  T bits;
};

struct TermMath : emu::solver::TermInt {
  using F16 = FloatTerm<Term16>;
  using BF16 = FloatTerm<Term16, 1>;
  using F32 = FloatTerm<Term32>;
  using F64 = FloatTerm<Term64>;
  using TermInt::TermInt;

  F16 CF16(uint16_t bits) const { return {C16(bits)}; }
  F32 CF32(float v) const { return {C32(__builtin_bit_cast(uint32_t, v))}; }
  F64 CF64(double v) const { return {C64(__builtin_bit_cast(uint64_t, v))}; }

  using TermInt::Select;
  template <class T, int kTag>
  FloatTerm<T, kTag> Select(Bool condition, FloatTerm<T, kTag> a, FloatTerm<T, kTag> b) const {
    return {Select(condition, a.bits, b.bits)};
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
  template <int N>
  Term<N> Infinity() const {
    return Const<N>(((uint64_t{1} << (N - 1 - Mantissa(N))) - 1) << Mantissa(N));
  }
};

}  // namespace understudy::emu::amd::solver
