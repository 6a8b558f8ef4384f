// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arithmetic of one lane in C++: the vocabulary of builder.h over plain values, under a MODE register. The
// interpreter's builders (vector and scalar) derive from it. It never sees an operand, a register or EXEC.
//
// Everything is branch-free in the values so that a loop over lanes vectorises. The header is compiled more
// than once with different instruction sets; US_SEMANTICS_ARCH keeps those copies apart for the linker.

#include <cmath>
#include <cstdint>

#include "emu/amd/semantics/float_bits.h"
#include "emu/amd/semantics/fp_mode.h"
#include "emu/amd/semantics/host_rounding.h"
#include "emu/amd/semantics/lane_transcendental.h"
#include "emu/lanes/lane_int.h"

namespace understudy::emu::amd {
inline namespace US_SEMANTICS_ARCH {

// kHostLike: rounding is nearest-even everywhere and f16 overflows to infinity (FpMode::IsHostLike()).
template <bool kHostLike>
struct LaneMath : LaneInt {
  using F16 = Half;
  using BF16 = BFloat;
  using F32 = float;
  using F64 = double;

  explicit LaneMath(const FpMode& m)
      : mode(m),
        keep_in32(m.flush_in32 ? 0x80000000u : ~0u),
        keep_out32(m.flush_out32 ? 0x80000000u : ~0u),
        keep_in16(m.flush_in16_64 ? 0x8000u : 0xffffu),
        keep_out16(m.flush_out16_64 ? 0x8000u : 0xffffu),
        keep_in64(m.flush_in16_64 ? 0x8000000000000000u : ~uint64_t{0}),
        keep_out64(m.flush_out16_64 ? 0x8000000000000000u : ~uint64_t{0}),
        ieee32(m.ieee ? ~0u : 0u) {}

  FpMode mode;
  // What survives of a denormal: everything, or the sign.
  uint32_t keep_in32, keep_out32, keep_in16, keep_out16;
  uint64_t keep_in64, keep_out64;
  uint32_t ieee32;  // all ones in IEEE mode

  US_OP static F16 CF16(uint16_t bits) { return F16{bits}; }
  US_OP static F32 CF32(float v) { return v; }
  US_OP static F64 CF64(double v) { return v; }

  US_OP static U16 Bits(F16 a) { return a.bits; }
  US_OP static U16 Bits(BF16 a) { return a.bits; }
  US_OP static U32 Bits(F32 a) { return BitsOf(a); }
  US_OP static U64 Bits(F64 a) { return BitsOf(a); }
  US_OP static F16 AsF16(U16 a) { return F16{a}; }
  US_OP static BF16 AsBF16(U16 a) { return BF16{a}; }
  US_OP static F32 AsF32(U32 a) { return FloatOf(a); }
  US_OP static F64 AsF64(U64 a) { return DoubleOf(a); }

  // --- classification, on the bits as they are ---
  US_OP static U32 ExpField(F16 a) { return (a.bits >> 10) & 0x1fu; }
  US_OP static U32 ExpField(F32 a) { return (Bits(a) >> 23) & 0xffu; }
  US_OP static U32 ExpField(F64 a) { return static_cast<U32>(Bits(a) >> 52) & 0x7ffu; }
  US_OP static Bool IsNan(F16 a) { return (a.bits & 0x7fffu) > 0x7c00u; }
  US_OP static Bool IsNan(F32 a) { return (Bits(a) & 0x7fffffffu) > 0x7f800000u; }
  US_OP static Bool IsNan(F64 a) { return (Bits(a) & kAbs64) > kInf64; }
  US_OP static Bool IsSNan(F16 a) { return IsNan(a) & ((a.bits & 0x200u) == 0); }
  US_OP static Bool IsSNan(F32 a) { return IsNan(a) & ((Bits(a) & 0x400000u) == 0); }
  US_OP static Bool IsSNan(F64 a) { return IsNan(a) & ((Bits(a) & kQuiet64) == 0); }
  US_OP static Bool IsInf(F16 a) { return (a.bits & 0x7fffu) == 0x7c00u; }
  US_OP static Bool IsInf(F32 a) { return (Bits(a) & 0x7fffffffu) == 0x7f800000u; }
  US_OP static Bool IsInf(F64 a) { return (Bits(a) & kAbs64) == kInf64; }
  US_OP static Bool IsZero(F16 a) { return (a.bits & 0x7fffu) == 0; }
  US_OP static Bool IsZero(F32 a) { return (Bits(a) & 0x7fffffffu) == 0; }
  US_OP static Bool IsZero(F64 a) { return (Bits(a) & kAbs64) == 0; }
  template <class F>
  US_OP static Bool IsDenorm(F a) {
    return (ExpField(a) == 0) & !IsZero(a);
  }
  US_OP static Bool SignBit(F16 a) { return (a.bits >> 15) != 0; }
  US_OP static Bool SignBit(F32 a) { return (Bits(a) >> 31) != 0; }
  US_OP static Bool SignBit(F64 a) { return (Bits(a) >> 63) != 0; }

  US_OP static F16 FNeg(F16 a) { return F16{static_cast<uint16_t>(a.bits ^ 0x8000u)}; }
  US_OP static F32 FNeg(F32 a) { return AsF32(Bits(a) ^ 0x80000000u); }
  US_OP static F64 FNeg(F64 a) { return AsF64(Bits(a) ^ ~kAbs64); }
  US_OP static F16 FAbs(F16 a) { return F16{static_cast<uint16_t>(a.bits & 0x7fffu)}; }
  US_OP static F32 FAbs(F32 a) { return AsF32(Bits(a) & 0x7fffffffu); }
  US_OP static F64 FAbs(F64 a) { return AsF64(Bits(a) & kAbs64); }
  US_OP static F16 Quiet(F16 a) { return F16{static_cast<uint16_t>(a.bits | 0x200u)}; }
  US_OP static F32 Quiet(F32 a) { return AsF32(Bits(a) | 0x400000u); }
  US_OP static F64 Quiet(F64 a) { return AsF64(Bits(a) | kQuiet64); }

  // --- denormals ---
  US_OP F32 In(F32 a) const { return AsF32(Bits(a) & ((Bits(a) & 0x7f800000u) != 0 ? ~0u : keep_in32)); }
  US_OP F32 Out(F32 a) const { return AsF32(Bits(a) & ((Bits(a) & 0x7f800000u) != 0 ? ~0u : keep_out32)); }
  US_OP F16 In(F16 a) const {
    return F16{static_cast<uint16_t>(a.bits & ((a.bits & 0x7c00u) != 0 ? 0xffffu : keep_in16))};
  }
  US_OP F16 Out(F16 a) const {
    return F16{static_cast<uint16_t>(a.bits & ((a.bits & 0x7c00u) != 0 ? 0xffffu : keep_out16))};
  }
  US_OP F64 In(F64 a) const { return AsF64(Bits(a) & ((Bits(a) & kInf64) != 0 ? ~uint64_t{0} : keep_in64)); }
  US_OP F64 Out(F64 a) const {
    return AsF64(Bits(a) & ((Bits(a) & kInf64) != 0 ? ~uint64_t{0} : keep_out64));
  }
  US_OP static F16 Flushed(F16 a) {
    return F16{static_cast<uint16_t>(a.bits & ((a.bits & 0x7c00u) != 0 ? 0xffffu : 0x8000u))};
  }
  US_OP static F32 Flushed(F32 a) {
    return AsF32(Bits(a) & ((Bits(a) & 0x7f800000u) != 0 ? ~0u : 0x80000000u));
  }

  // --- NaN results: the first NaN operand, quieted; without one, the negative default NaN (the manual's
  // examples, e.g. V_LOG_F32(-1.0) = 0xffc00000) ---
  US_OP static F16 DefaultNan(F16) { return F16{0xfe00}; }
  US_OP static F32 DefaultNan(F32) { return AsF32(0xffc00000u); }
  US_OP static F64 DefaultNan(F64) { return AsF64(0xfff8000000000000u); }
  template <class F>
  US_OP static F WithNan(F r, F a) {
    r = IsNan(r) ? DefaultNan(r) : r;
    return IsNan(a) ? Quiet(a) : r;
  }
  template <class F>
  US_OP static F WithNan(F r, F a, F b) {
    r = IsNan(r) ? DefaultNan(r) : r;
    r = IsNan(b) ? Quiet(b) : r;
    return IsNan(a) ? Quiet(a) : r;
  }
  template <class F>
  US_OP static F WithNan(F r, F a, F b, F c) {
    r = IsNan(r) ? DefaultNan(r) : r;
    r = IsNan(c) ? Quiet(c) : r;
    r = IsNan(b) ? Quiet(b) : r;
    return IsNan(a) ? Quiet(a) : r;
  }

  // --- rounding ---
  // `a` is exact, or rounded to odd: one rounding in all.
  US_OP F32 RoundTo32(F64 a, Round round) const {
    return FloatOf(static_cast<uint32_t>(RoundDouble<8, 23>(a, round, false)));
  }
  US_OP F16 RoundTo16(F64 a) const {
    return F16{static_cast<uint16_t>(RoundDouble<5, 10>(a, mode.round16_64, mode.fp16_ovfl))};
  }
  US_OP F32 Narrow32(F64 a) const {
    if constexpr (kHostLike) return static_cast<float>(a);
    return RoundTo32(a, mode.round32);
  }
  US_OP F16 Narrow16(F32 a) const {
    if constexpr (kHostLike) return F16{HalfFromFloat(a)};
    return RoundTo16(static_cast<double>(a));
  }
  US_OP F16 Narrow16(F64 a) const {
    if constexpr (kHostLike) return F16{HalfFromFloat(NarrowToOdd(a))};
    return RoundTo16(a);
  }
  US_OP static F32 Wide(F16 a) { return FloatFromHalf(a.bits); }

  // --- add, multiply, fuse ---
  US_OP F32 FAdd(F32 a, F32 b) const {
    a = In(a), b = In(b);
    F32 r;
    if constexpr (kHostLike) {
      r = a + b;
    } else {
      r = RoundTo32(AddToOdd(a, b, mode.round32), mode.round32);
    }
    return WithNan(Out(r), a, b);
  }
  US_OP F16 FAdd(F16 a, F16 b) const {
    a = In(a), b = In(b);
    // Exact in f64; and f32's 24 bits are 2 * 11 + 2, so that rounding twice to nearest is harmless.
    F16 r;
    if constexpr (kHostLike) {
      r = Narrow16(Wide(a) + Wide(b));
    } else {
      r = RoundTo16(AddToOdd(Wide(a), Wide(b), mode.round16_64));
    }
    return WithNan(Out(r), a, b);
  }
  US_OP F64 FAdd(F64 a, F64 b) const {
    a = In(a), b = In(b);
    F64 r;
    if constexpr (kHostLike) {
      r = a + b;
    } else {
      r = AddRounded(a, b, mode.round16_64);
    }
    return WithNan(Out(r), a, b);
  }
  template <class F>
  US_OP F FSub(F a, F b) const {
    // A NaN keeps its sign: only the value is negated.
    return FAdd(a, IsNan(b) ? b : FNeg(b));
  }
  US_OP F32 FMul(F32 a, F32 b) const {
    a = In(a), b = In(b);
    F32 r;
    if constexpr (kHostLike) {
      r = a * b;
    } else {
      r = RoundTo32(static_cast<double>(a) * b, mode.round32);
    }
    return WithNan(Out(r), a, b);
  }
  US_OP F16 FMul(F16 a, F16 b) const {
    a = In(a), b = In(b);
    return WithNan(Out(Narrow16(Wide(a) * Wide(b))), a, b);  // exact in f32
  }
  US_OP F64 FMul(F64 a, F64 b) const {
    a = In(a), b = In(b);
    F64 r;
    if constexpr (kHostLike) {
      r = a * b;
    } else {
      r = MulRounded(a, b, mode.round16_64);
    }
    return WithNan(Out(r), a, b);
  }
  US_OP F32 FFma(F32 a, F32 b, F32 c) const {
    a = In(a), b = In(b), c = In(c);
    return WithNan(Out(FmaNoFlush(a, b, c)), a, b, c);
  }
  US_OP F32 FmaNoFlush(F32 a, F32 b, F32 c) const {
    if constexpr (kHostLike) {
#ifdef __FMA__
      return __builtin_fmaf(a, b, c);
#else
      return static_cast<float>(AddToOdd(static_cast<double>(a) * b, c, Round::kNearestEven));
#endif
    } else {
      return RoundTo32(AddToOdd(static_cast<double>(a) * b, c, mode.round32), mode.round32);
    }
  }
  US_OP F16 FFma(F16 a, F16 b, F16 c) const {
    a = In(a), b = In(b), c = In(c);
    if constexpr (kHostLike) {
      // The product of two f16 is exact in f32.
      return WithNan(Out(F16{HalfFromFloat(AddToOdd(Wide(a) * Wide(b), Wide(c)))}), a, b, c);
    } else {
      const double p = static_cast<double>(Wide(a)) * Wide(b);
      return WithNan(Out(RoundTo16(AddToOdd(p, Wide(c), mode.round16_64))), a, b, c);
    }
  }
  US_OP F64 FFma(F64 a, F64 b, F64 c) const {
    a = In(a), b = In(b), c = In(c);
    return WithNan(Out(FmaNoFlush(a, b, c)), a, b, c);
  }
  US_OP F64 FmaNoFlush(F64 a, F64 b, F64 c) const {
    if constexpr (kHostLike) return __builtin_fma(a, b, c);
    return FmaRounded(a, b, c, mode.round16_64);
  }
  // (a * b + c) * 2^n, rounded once; -1000 <= n <= 1000.
  US_OP F32 FFmaScaled(F32 a, F32 b, F32 c, U32 n) const {
    a = In(a), b = In(b), c = In(c);
    const double s =
        AddToOdd(static_cast<double>(a) * b, c, mode.round32) * PowerOfTwo(static_cast<int32_t>(n));
    return WithNan(Out(RoundTo32(s, kHostLike ? Round::kNearestEven : mode.round32)), a, b, c);
  }
  US_OP F64 FFmaScaled(F64 a, F64 b, F64 c, U32 n) const {
    a = In(a), b = In(b), c = In(c);
    const int32_t exponent = static_cast<int32_t>(n);
    const double sum = FmaNoFlush(a, b, c);
    double r;
    if (kHostLike || mode.round16_64 == Round::kNearestEven) {
      r = ScaleOnce(sum, FmaError(a, b, c, sum), exponent);
    } else {
      r = MulRounded(sum, PowerOfTwo(exponent), mode.round16_64);  // twice in the same direction is once
    }
    return WithNan(Out(r), a, b, c);
  }
  // fma of f32 values, rounded once to f16 (fma_mixlo, fma_mixhi).
  US_OP F16 FFmaTo16(F32 a, F32 b, F32 c) const {
    a = In(a), b = In(b), c = In(c);
    const double s = AddToOdd(static_cast<double>(a) * b, c, mode.round16_64);
    const F32 nan = WithNan(static_cast<float>(s), a, b, c);
    const F16 r = Out(Narrow16(s));
    return IsNan(nan) ? F16{HalfFromFloat(nan)} : r;
  }
  // DX9 rules: zero times anything is zero.
  US_OP F32 FMulZero(F32 a, F32 b) const {
    const bool zero = IsZero(In(a)) | IsZero(In(b));
    return zero ? 0.0f : FMul(a, b);
  }
  US_OP F32 FFmaZero(F32 a, F32 b, F32 c) const {
    const bool zero = IsZero(In(a)) | IsZero(In(b));
    return zero ? c : FFma(a, b, c);
  }

  // --- minimum and maximum: -0 < +0; MODE.IEEE quiets and propagates signalling NaNs ---
  US_OP F32 FMin(F32 a, F32 b) const {
    a = In(a), b = In(b);
    F32 r = a < b ? a : b;
    r = a == b ? AsF32(Bits(a) | Bits(b)) : r;
    return MinMaxNan(r, a, b);
  }
  US_OP F32 FMax(F32 a, F32 b) const {
    a = In(a), b = In(b);
    F32 r = a > b ? a : b;
    r = a == b ? AsF32(Bits(a) & Bits(b)) : r;
    return MinMaxNan(r, a, b);
  }
  US_OP F64 FMin(F64 a, F64 b) const {
    a = In(a), b = In(b);
    F64 r = a < b ? a : b;
    r = a == b ? AsF64(Bits(a) | Bits(b)) : r;
    return MinMaxNan(r, a, b);
  }
  US_OP F64 FMax(F64 a, F64 b) const {
    a = In(a), b = In(b);
    F64 r = a > b ? a : b;
    r = a == b ? AsF64(Bits(a) & Bits(b)) : r;
    return MinMaxNan(r, a, b);
  }
  US_OP F16 FMin(F16 a, F16 b) const {
    a = In(a), b = In(b);
    const F16 r = HalfKey(a) < HalfKey(b) ? a : b;
    return MinMaxNan(r, a, b);
  }
  US_OP F16 FMax(F16 a, F16 b) const {
    a = In(a), b = In(b);
    const F16 r = HalfKey(a) > HalfKey(b) ? a : b;
    return MinMaxNan(r, a, b);
  }
  template <class F>
  US_OP F MinMaxNan(F r, F a, F b) const {
    r = IsNan(a) ? b : r;
    r = IsNan(b) ? a : r;
    r = IsSNan(b) & (ieee32 != 0) ? Quiet(b) : r;
    return IsSNan(a) & (ieee32 != 0) ? Quiet(a) : r;
  }

  // --- IEEE 754-2019: minimumNumber prefers the number to a NaN, minimum the NaN; -0 < +0 ---
  template <class F>
  US_OP F FMinNum(F a, F b) const {
    return NumNan(Lesser(In(a), In(b)), In(a), In(b));
  }
  template <class F>
  US_OP F FMaxNum(F a, F b) const {
    return NumNan(Greater(In(a), In(b)), In(a), In(b));
  }
  template <class F>
  US_OP F FMinimum(F a, F b) const {
    return PropagatedNan(Lesser(In(a), In(b)), a, b);
  }
  template <class F>
  US_OP F FMaximum(F a, F b) const {
    return PropagatedNan(Greater(In(a), In(b)), a, b);
  }

  // --- a * b + c in two roundings, denormals flushed whatever MODE says (gfx9's MAD and MAC) ---
  template <class F>
  US_OP F FMad(F a, F b, F c) const {
    return Flushed(FAdd(Flushed(FMul(Flushed(a), Flushed(b))), Flushed(c)));
  }
  US_OP F32 FMadZero(F32 a, F32 b, F32 c) const {
    const bool zero = IsZero(Flushed(a)) | IsZero(Flushed(b));
    const F32 product = zero ? 0.0f : Flushed(FMul(Flushed(a), Flushed(b)));
    return Flushed(FAdd(product, Flushed(c)));
  }

  // --- comparisons ---
  US_OP Bool FEq(F32 a, F32 b) const { return In(a) == In(b); }
  US_OP Bool FLt(F32 a, F32 b) const { return In(a) < In(b); }
  US_OP Bool FLe(F32 a, F32 b) const { return In(a) <= In(b); }
  US_OP Bool FGt(F32 a, F32 b) const { return In(a) > In(b); }
  US_OP Bool FGe(F32 a, F32 b) const { return In(a) >= In(b); }
  US_OP Bool FLg(F32 a, F32 b) const { return (In(a) < In(b)) | (In(a) > In(b)); }
  US_OP Bool FEq(F64 a, F64 b) const { return In(a) == In(b); }
  US_OP Bool FLt(F64 a, F64 b) const { return In(a) < In(b); }
  US_OP Bool FLe(F64 a, F64 b) const { return In(a) <= In(b); }
  US_OP Bool FGt(F64 a, F64 b) const { return In(a) > In(b); }
  US_OP Bool FGe(F64 a, F64 b) const { return In(a) >= In(b); }
  US_OP Bool FLg(F64 a, F64 b) const { return (In(a) < In(b)) | (In(a) > In(b)); }
  US_OP Bool FEq(F16 a, F16 b) const { return Wide(In(a)) == Wide(In(b)); }
  US_OP Bool FLt(F16 a, F16 b) const { return Wide(In(a)) < Wide(In(b)); }
  US_OP Bool FLe(F16 a, F16 b) const { return Wide(In(a)) <= Wide(In(b)); }
  US_OP Bool FGt(F16 a, F16 b) const { return Wide(In(a)) > Wide(In(b)); }
  US_OP Bool FGe(F16 a, F16 b) const { return Wide(In(a)) >= Wide(In(b)); }
  US_OP Bool FLg(F16 a, F16 b) const { return (Wide(In(a)) < Wide(In(b))) | (Wide(In(a)) > Wide(In(b))); }
  template <class F>
  US_OP static Bool FUnord(F a, F b) {
    return IsNan(a) | IsNan(b);
  }

  // --- integral parts ---
  US_OP F32 FTrunc(F32 a) const { return a = In(a), WithNan(__builtin_truncf(a), a); }
  US_OP F32 FCeil(F32 a) const { return a = In(a), WithNan(__builtin_ceilf(a), a); }
  US_OP F32 FFloor(F32 a) const { return a = In(a), WithNan(__builtin_floorf(a), a); }
  US_OP F32 FRndne(F32 a) const { return a = In(a), WithNan(__builtin_rintf(a), a); }
  US_OP F64 FTrunc(F64 a) const { return a = In(a), WithNan(__builtin_trunc(a), a); }
  US_OP F64 FCeil(F64 a) const { return a = In(a), WithNan(__builtin_ceil(a), a); }
  US_OP F64 FFloor(F64 a) const { return a = In(a), WithNan(__builtin_floor(a), a); }
  US_OP F64 FRndne(F64 a) const { return a = In(a), WithNan(__builtin_rint(a), a); }
  US_OP F16 FTrunc(F16 a) const {
    return a = In(a), WithNan(F16{HalfFromFloat(__builtin_truncf(Wide(a)))}, a);
  }
  US_OP F16 FCeil(F16 a) const { return a = In(a), WithNan(F16{HalfFromFloat(__builtin_ceilf(Wide(a)))}, a); }
  US_OP F16 FFloor(F16 a) const {
    return a = In(a), WithNan(F16{HalfFromFloat(__builtin_floorf(Wide(a)))}, a);
  }
  US_OP F16 FRndne(F16 a) const {
    return a = In(a), WithNan(F16{HalfFromFloat(__builtin_rintf(Wide(a)))}, a);
  }
  // x - floor(x), below one: "result clamped to 0x3f7fffff".
  US_OP F32 FFract(F32 a) const {
    const F32 r = FAdd(a, FNeg(FFloor(a)));
    return IsNan(a) | IsInf(a) ? WithNan(r, a) : (r > 0.99999994f ? 0.99999994f : r);
  }
  US_OP F64 FFract(F64 a) const {
    const F64 r = FAdd(a, FNeg(FFloor(a)));
    const F64 below_one = AsF64(0x3fefffffffffffffu);
    return IsNan(a) | IsInf(a) ? WithNan(r, a) : (r > below_one ? below_one : r);
  }
  US_OP F16 FFract(F16 a) const {
    const F16 r = FAdd(a, FNeg(FFloor(a)));
    return IsNan(a) | IsInf(a) ? WithNan(r, a) : (r.bits > 0x3bffu ? F16{0x3bff} : r);
  }

  // --- exponents ---
  // a * 2^n, n signed, rounded once.
  US_OP F32 FLdexp(F32 a, U32 n) const {
    a = In(a);
    return WithNan(Out(Narrow32(static_cast<double>(a) * PowerOfTwo(ClampS(n, 300)))), a);
  }
  US_OP F16 FLdexp(F16 a, U32 n) const {
    a = In(a);
    return WithNan(Out(Narrow16(static_cast<double>(Wide(a)) * PowerOfTwo(ClampS(n, 300)))), a);
  }
  US_OP F64 FLdexp(F64 a, U32 n) const {
    a = In(a);
    // Bring the significand to [1, 2), then scale in two steps of which only the last can round.
    const bool denorm = ExpField(a) == 0;
    const F64 x = denorm ? a * 0x1p64 : a;
    const int32_t e = static_cast<int32_t>(ExpField(x)) - 1023;
    const int32_t target = e - (denorm ? 64 : 0) + ClampS(n, 4300);
    const F64 m = AsF64((Bits(x) & ~kInf64) | 0x3ff0000000000000u);
    const int32_t first = target < -1022 ? -1022 : (target > 1023 ? 1023 : target);
    const int32_t rest = target - first;
    const F64 scaled = m * PowerOfTwo(first);
    F64 r;
    if constexpr (kHostLike) {
      r = scaled * PowerOfTwo(rest < -1000 ? -1000 : (rest > 1000 ? 1000 : rest));
    } else {
      r = MulRounded(scaled, PowerOfTwo(rest < -1000 ? -1000 : (rest > 1000 ? 1000 : rest)), mode.round16_64);
    }
    r = IsZero(a) | IsInf(a) | IsNan(a) ? a : r;
    return WithNan(Out(r), a);
  }
  // C's frexp: a = mant * 2^exp, |mant| in [0.5, 1). Zero, infinity and NaN give exponent 0 and themselves.
  US_OP U32 FrexpExp(F32 a) const {
    a = In(a);
    const F32 x = IsDenorm(a) ? a * 0x1p32f : a;
    const U32 e = ExpField(x) - 126u - (IsDenorm(a) ? 32u : 0u);
    return IsZero(a) | (ExpField(a) == 0xff) ? 0u : e;
  }
  US_OP F32 FrexpMant(F32 a) const {
    a = In(a);
    const F32 x = IsDenorm(a) ? a * 0x1p32f : a;
    const F32 m = AsF32((Bits(x) & 0x807fffffu) | 0x3f000000u);
    return IsZero(a) | (ExpField(a) == 0xff) ? WithNan(a, a) : m;
  }
  US_OP U32 FrexpExp(F64 a) const {
    a = In(a);
    const F64 x = IsDenorm(a) ? a * 0x1p64 : a;
    const U32 e = ExpField(x) - 1022u - (IsDenorm(a) ? 64u : 0u);
    return IsZero(a) | (ExpField(a) == 0x7ff) ? 0u : e;
  }
  US_OP F64 FrexpMant(F64 a) const {
    a = In(a);
    const F64 x = IsDenorm(a) ? a * 0x1p64 : a;
    const F64 m = AsF64((Bits(x) & ~kInf64) | 0x3fe0000000000000u);
    return IsZero(a) | (ExpField(a) == 0x7ff) ? WithNan(a, a) : m;
  }
  US_OP U32 FrexpExp(F16 a) const {
    a = In(a);
    const F32 x = Wide(a);  // every f16 is a normal f32
    return IsZero(a) | (ExpField(a) == 0x1f) ? 0u : ExpField(x) - 126u;
  }
  US_OP F16 FrexpMant(F16 a) const {
    a = In(a);
    const F32 m = AsF32((Bits(Wide(a)) & 0x807fffffu) | 0x3f000000u);
    return IsZero(a) | (ExpField(a) == 0x1f) ? WithNan(a, a) : F16{HalfFromFloat(m)};
  }

  // --- approximate on hardware; here within 0.5001 ulp. f32 forms flush
  // denormals on both sides whatever MODE says ("denormals are flushed"), except sine and cosine ---
  US_OP static F32 FRcp(F32 a) { return a = Flushed(a), WithNan(Flushed(1.0f / a), a); }
  US_OP static F32 FSqrt(F32 a) { return a = Flushed(a), WithNan(__builtin_sqrtf(a), a); }
  US_OP static F32 FRsq(F32 a) {
    a = Flushed(a);
    return WithNan(static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(a))), a);
  }
  US_OP static F32 FExp2(F32 a) {
    return a = Flushed(a), WithNan(Flushed(static_cast<float>(Exp2(a))), a);
  }
  US_OP static F32 FLog2(F32 a) { return a = Flushed(a), WithNan(static_cast<float>(Log2(a)), a); }
  US_OP F32 FSinTurns(F32 a) const { return a = In(a), WithNan(Out(static_cast<float>(SinTurns(a))), a); }
  US_OP F32 FCosTurns(F32 a) const { return a = In(a), WithNan(Out(static_cast<float>(CosTurns(a))), a); }
  US_OP F64 FRcp(F64 a) const { return a = In(a), WithNan(Out(1.0 / a), a); }
  US_OP F64 FSqrt(F64 a) const { return a = In(a), WithNan(__builtin_sqrt(a), a); }
  US_OP F64 FRsq(F64 a) const { return a = In(a), WithNan(1.0 / __builtin_sqrt(a), a); }
  US_OP F16 FRcp(F16 a) const {
    return a = In(a), WithNan(Out(Narrow16(1.0 / static_cast<double>(Wide(a)))), a);
  }
  US_OP F16 FSqrt(F16 a) const {
    return a = In(a), WithNan(Narrow16(__builtin_sqrt(static_cast<double>(Wide(a)))), a);
  }
  US_OP F16 FRsq(F16 a) const {
    a = In(a);
    return WithNan(Narrow16(1.0 / __builtin_sqrt(static_cast<double>(Wide(a)))), a);
  }
  US_OP F16 FExp2(F16 a) const { return a = In(a), WithNan(Out(Narrow16(Exp2(Wide(a)))), a); }
  US_OP F16 FLog2(F16 a) const { return a = In(a), WithNan(Out(Narrow16(Log2(Wide(a)))), a); }
  US_OP F16 FSinTurns(F16 a) const { return a = In(a), WithNan(Out(Narrow16(SinTurns(Wide(a)))), a); }
  US_OP F16 FCosTurns(F16 a) const { return a = In(a), WithNan(Out(Narrow16(CosTurns(Wide(a)))), a); }

  // --- conversions ---
  US_OP F32 F32FromU32(U32 a) const { return Narrow32(static_cast<double>(a)); }
  US_OP F32 F32FromS32(U32 a) const { return Narrow32(static_cast<double>(static_cast<int32_t>(a))); }
  US_OP static F64 F64FromU32(U32 a) { return static_cast<double>(a); }
  US_OP static F64 F64FromS32(U32 a) { return static_cast<double>(static_cast<int32_t>(a)); }
  US_OP F16 F16FromU16(U16 a) const { return Narrow16(static_cast<float>(a)); }
  US_OP F16 F16FromS16(U16 a) const { return Narrow16(static_cast<float>(static_cast<int16_t>(a))); }
  // Truncating; out of range saturates, NaN gives 0.
  US_OP static U32 U32FromF32(F32 a) { return U32FromF64(static_cast<double>(a)); }
  US_OP static U32 S32FromF32(F32 a) {
    const bool fits = (a > -2147483904.0f) & (a < 2147483648.0f);
    const U32 v = static_cast<U32>(static_cast<int32_t>(fits ? a : 0.0f));
    const U32 limit = a < 0.0f ? 0x80000000u : 0x7fffffffu;
    return fits ? v : (IsNan(a) ? 0u : limit);
  }
  US_OP static U32 S32FromF64(F64 a) {
    const bool fits = (a > -2147483649.0) & (a < 2147483648.0);
    const U32 v = static_cast<U32>(static_cast<int32_t>(fits ? a : 0.0));
    const U32 limit = a < 0.0 ? 0x80000000u : 0x7fffffffu;
    return fits ? v : (IsNan(a) ? 0u : limit);
  }
  US_OP static U32 U32FromF64(F64 a) {
    // Through a signed conversion of a - 2^31, which every host has as a vector instruction.
    const F64 t = __builtin_trunc(a);
    const bool fits = (t >= 0.0) & (t < 4294967296.0);
    const U32 v = static_cast<U32>(static_cast<int32_t>((fits ? t : 0.0) - 2147483648.0)) ^ 0x80000000u;
    return fits ? v : (t > 0.0 ? 0xffffffffu : 0u);
  }
  US_OP U16 U16FromF16(F16 a) const { return static_cast<U16>(UMin(U32FromF32(Wide(In(a))), C32(0xffff))); }
  US_OP U16 S16FromF16(F16 a) const { return SatS16(S32FromF32(Wide(In(a)))); }
  US_OP static U16 SatS16(U32 a) { return static_cast<U16>(SMin(SMax(a, C32(0xffff8000u)), C32(0x7fffu))); }

  US_OP F32 F32FromF16(F16 a) const {
    a = In(a);
    const F32 r = Wide(a);
    return IsNan(r) ? Quiet(r) : r;
  }
  US_OP F16 F16FromF32(F32 a) const {
    a = In(a);
    return Out(Narrow16(a));
  }
  US_OP F16 F16FromF32Rtz(F32 a) const {
    a = In(a);
    return Out(F16{
        static_cast<uint16_t>(RoundDouble<5, 10>(static_cast<double>(a), Round::kToZero, mode.fp16_ovfl))});
  }
  US_OP F16 F16FromF32Nearest(F32 a) const {
    a = In(a);
    return Out(F16{static_cast<uint16_t>(
        RoundDouble<5, 10>(static_cast<double>(a), Round::kNearestEven, mode.fp16_ovfl))});
  }
  // Formats of 16 bits and fewer (SmallFloat): to nearest even whatever MODE says, or with random bits.
  template <class Format>
  US_OP static F32 F32FromSmall(U32 code) {
    return WidenSmall<Format>(code);
  }
  template <class Format>
  US_OP U32 SmallFromF32(F32 a) const {
    return NarrowSmall<Format, false>(static_cast<double>(a), 0, mode.fp16_ovfl);
  }
  template <class Format>
  US_OP U32 SmallFromF32Random(F32 a, U32 random) const {
    return NarrowSmall<Format, true>(static_cast<double>(a), random >> (9 + Format::kMan), mode.fp16_ovfl);
  }
  US_OP F32 F32FromF64(F64 a) const {
    a = In(a);
    const F32 r = Out(Narrow32(a));
    return IsNan(a) ? AsF32(NanBits32(Bits(a))) : r;
  }
  US_OP F64 F64FromF32(F32 a) const {
    a = In(a);
    const F64 r = static_cast<double>(a);
    return IsNan(a) ? AsF64(NanBits64(Bits(a))) : r;
  }
  US_OP static F32 F32FromBF16(BF16 a) { return AsF32(uint32_t{a.bits} << 16); }
  // Nearest even.
  US_OP static BF16 BF16FromF32(F32 a) {
    const U32 b = Bits(a);
    const U32 r = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
    return BF16{static_cast<uint16_t>(IsNan(a) ? (b >> 16) | 0x40u : r)};
  }

 private:
  US_OP static int32_t ClampS(U32 n, int32_t limit) {
    const int32_t s = static_cast<int32_t>(n);
    return s < -limit ? -limit : (s > limit ? limit : s);
  }
  US_OP static F32 Lesser(F32 a, F32 b) { return a == b ? AsF32(Bits(a) | Bits(b)) : (a < b ? a : b); }
  US_OP static F32 Greater(F32 a, F32 b) { return a == b ? AsF32(Bits(a) & Bits(b)) : (a > b ? a : b); }
  US_OP static F64 Lesser(F64 a, F64 b) { return a == b ? AsF64(Bits(a) | Bits(b)) : (a < b ? a : b); }
  US_OP static F64 Greater(F64 a, F64 b) { return a == b ? AsF64(Bits(a) & Bits(b)) : (a > b ? a : b); }
  US_OP static F16 Lesser(F16 a, F16 b) { return HalfKey(a) < HalfKey(b) ? a : b; }
  US_OP static F16 Greater(F16 a, F16 b) { return HalfKey(a) > HalfKey(b) ? a : b; }
  template <class F>
  US_OP static F NumNan(F r, F a, F b) {
    const F without_a = IsNan(b) ? Quiet(a) : b;
    r = IsNan(b) ? a : r;
    return IsNan(a) ? without_a : r;
  }
  // A signalling NaN goes before a quiet one.
  template <class F>
  US_OP static F PropagatedNan(F r, F a, F b) {
    r = IsNan(b) ? Quiet(b) : r;
    r = IsNan(a) ? Quiet(a) : r;
    r = IsSNan(b) & !IsSNan(a) ? Quiet(b) : r;
    return r;
  }
  // Order of the f16 values as integers, -0 below +0.
  US_OP static int32_t HalfKey(F16 a) {
    const int32_t magnitude = a.bits & 0x7fff;
    return (a.bits & 0x8000) != 0 ? -magnitude - 1 : magnitude;
  }
};

}  // namespace US_SEMANTICS_ARCH
}  // namespace understudy::emu::amd
