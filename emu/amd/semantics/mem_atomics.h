// SPDX-License-Identifier: Apache-2.0
#pragma once
// What atomic memory operations compute (RDNA3 ISA, "LDS" and "FLAT, Scratch and Global" instructions), over
// a builder's arithmetic (builder.h): each gives the new value of memory from the old one and the lane's
// data. The caller loads, stores and returns the old value.

namespace understudy::emu::amd::atomic {

// Every operation: `template <class M, class T> static T New(M& m, T old, T data, T data2)`; T is M::U32 or
// M::U64.
#define US_ATOMIC(name, kWords, expr)                 \
  struct name {                                       \
    static constexpr int kDataWords = kWords;         \
    template <class M, class T>                       \
    static T New(M& m, T old, T data, T data2) {      \
      static_cast<void>(m), static_cast<void>(data2); \
      return expr;                                    \
    }                                                 \
  };

struct Swap {
  static constexpr int kDataWords = 1;
  template <class M, class T>
  static T New(M&, T, T data, T) {
    return data;
  }
};
US_ATOMIC(Add, 1, m.Add(old, data))
US_ATOMIC(Sub, 1, m.Sub(old, data))
US_ATOMIC(RSub, 1, m.Sub(data, old))
US_ATOMIC(SMin, 1, m.SMin(old, data))
US_ATOMIC(SMax, 1, m.SMax(old, data))
US_ATOMIC(UMin, 1, m.UMin(old, data))
US_ATOMIC(UMax, 1, m.UMax(old, data))
US_ATOMIC(And, 1, m.And(old, data))
US_ATOMIC(Or, 1, m.Or(old, data))
US_ATOMIC(Xor, 1, m.Xor(old, data))
// Wraps to zero after `data`; and down from zero (or from above `data`) to `data`.
US_ATOMIC(Inc, 1, m.Select(m.UGe(old, data), m.Xor(old, old), m.Sub(old, m.Not(m.Xor(old, old)))))
US_ATOMIC(Dec, 1,
          m.Select(m.Or(m.Eq(old, m.Xor(old, old)), m.UGt(old, data)), data,
                   m.Add(old, m.Not(m.Xor(old, old)))))
// Subtracts, but not below zero.
US_ATOMIC(ClampSub, 1, m.Select(m.ULt(old, data), m.Xor(old, old), m.Sub(old, data)))
// Subtracts only where the result is not negative.
US_ATOMIC(CondSub, 1, m.Select(m.UGe(old, data), m.Sub(old, data), old))
US_ATOMIC(MaskOr, 2, m.Or(m.And(old, m.Not(data)), data2))
// data: the value to store, data2: the value to compare with.
US_ATOMIC(CompareSwap, 2, m.Select(m.Eq(old, data2), data, old))
// CDNA's DS_CMPST takes them the other way round: the value to compare with comes first.
US_ATOMIC(CompareStore, 2, m.Select(m.Eq(old, data), data2, old))
US_ATOMIC(Wrap, 2, m.Select(m.UGe(old, data), m.Sub(old, data), m.Add(old, data2)))
#undef US_ATOMIC

template <class M>
auto AsFloat(M& m, typename M::U32 bits) {
  return m.AsF32(bits);
}
template <class M>
auto AsFloat(M& m, typename M::U64 bits) {
  return m.AsF64(bits);
}

struct FAdd {
  static constexpr int kDataWords = 1;
  template <class M, class T>
  static T New(M& m, T old, T data, T) {
    return m.Bits(m.FAdd(AsFloat(m, old), AsFloat(m, data)));
  }
};
// The comparison decides; where it is false (a NaN among them), memory keeps its value.
struct FMin {
  static constexpr int kDataWords = 1;
  template <class M, class T>
  static T New(M& m, T old, T data, T) {
    return m.Select(m.FLt(AsFloat(m, data), AsFloat(m, old)), data, old);
  }
};
struct FMax {
  static constexpr int kDataWords = 1;
  template <class M, class T>
  static T New(M& m, T old, T data, T) {
    return m.Select(m.FGt(AsFloat(m, data), AsFloat(m, old)), data, old);
  }
};
struct FCompareSwap {
  static constexpr int kDataWords = 2;
  template <class M, class T>
  static T New(M& m, T old, T data, T data2) {
    return m.Select(m.FEq(AsFloat(m, old), AsFloat(m, data2)), data, old);
  }
};

struct FCompareStore {
  static constexpr int kDataWords = 2;
  template <class M, class T>
  static T New(M& m, T old, T data, T data2) {
    return m.Select(m.FEq(AsFloat(m, old), AsFloat(m, data)), data2, old);
  }
};
// minimumNumber and maximumNumber (RDNA4's _NUM forms): a number beats a NaN, two NaNs give the data's
// quieted, and -0 is below +0.
template <bool kMax>
struct FMinMaxNum {
  static constexpr int kDataWords = 1;
  template <class M, class T>
  static T New(M& m, T old, T data, T) {
    const auto a = AsFloat(m, data), b = AsFloat(m, old);
    const auto zeros = m.And(m.IsZero(a), m.IsZero(b));
    const auto wins = kMax ? m.Or(m.FGt(a, b), m.And(zeros, m.And(m.Not(m.SignBit(a)), m.SignBit(b))))
                           : m.Or(m.FLt(a, b), m.And(zeros, m.And(m.SignBit(a), m.Not(m.SignBit(b)))));
    const auto both = m.Bits(m.Quiet(a));
    return m.Select(m.IsNan(a), m.Select(m.IsNan(b), both, old), m.Select(m.Or(m.IsNan(b), wins), data, old));
  }
};
using FMinNum = FMinMaxNum<false>;
using FMaxNum = FMinMaxNum<true>;

struct PkAddF16 {
  static constexpr int kDataWords = 1;
  template <class M, class T>
  static T New(M& m, T old, T data, T) {
    const auto low = m.FAdd(m.AsF16(m.Lo16(old)), m.AsF16(m.Lo16(data)));
    const auto high = m.FAdd(m.AsF16(m.Hi16(old)), m.AsF16(m.Hi16(data)));
    return m.Pack16(m.Bits(low), m.Bits(high));
  }
};
// Each sum is rounded once: the exact sum of two bf16 may need more than an f32, but an f32 sum rounded to
// bf16 is the same (24 bits are more than twice 8 bits and two).
struct PkAddBF16 {
  static constexpr int kDataWords = 1;
  template <class M, class T>
  static T New(M& m, T old, T data, T) {
    const auto low = m.FAdd(m.F32FromBF16(m.AsBF16(m.Lo16(old))), m.F32FromBF16(m.AsBF16(m.Lo16(data))));
    const auto high = m.FAdd(m.F32FromBF16(m.AsBF16(m.Hi16(old))), m.F32FromBF16(m.AsBF16(m.Hi16(data))));
    return m.Pack16(m.Bits(m.BF16FromF32(low)), m.Bits(m.BF16FromF32(high)));
  }
};

}  // namespace understudy::emu::amd::atomic
