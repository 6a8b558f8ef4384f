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
// By the order of the manuals' chapters on float atomics (RDNA3 ISA 13.3, CDNA4 ISA 9.2.3): -0 is below +0, a
// quiet NaN loses against everything, a signalling one wins and is made quiet. MODE flushes denormals for the
// comparison alone: memory gets the value as it was. Of two NaNs of a kind the manuals say "src0", which is
// taken to be the data.
template <bool kMax, class M, class F>
auto WinsOver(M& m, F a, F b) {
  const auto x = m.In(a), y = m.In(b);
  const auto zeros = m.And(m.IsZero(x), m.IsZero(y));
  return kMax ? m.Or(m.FGt(a, b), m.And(zeros, m.And(m.Not(m.SignBit(x)), m.SignBit(y))))
              : m.Or(m.FLt(a, b), m.And(zeros, m.And(m.SignBit(x), m.Not(m.SignBit(y)))));
}
template <bool kMax>
struct FMinMax {
  static constexpr int kDataWords = 1;
  template <class M, class T>
  static T New(M& m, T old, T data, T) {
    const auto a = AsFloat(m, data), b = AsFloat(m, old);
    const auto wins = WinsOver<kMax>(m, a, b);
    const T ordered = m.Select(m.IsNan(a), old, m.Select(m.Or(m.IsNan(b), wins), data, old));
    return m.Select(m.IsSNan(a), m.Bits(m.Quiet(a)), m.Select(m.IsSNan(b), m.Bits(m.Quiet(b)), ordered));
  }
};
using FMin = FMinMax<false>;
using FMax = FMinMax<true>;
// +0 equals -0 and a NaN equals nothing; where MODE flushes denormals, so does the value that is stored.
struct FCompareSwap {
  static constexpr int kDataWords = 2;
  template <class M, class T>
  static T New(M& m, T old, T data, T data2) {
    return m.Select(m.FEq(AsFloat(m, old), AsFloat(m, data2)), m.Bits(m.In(AsFloat(m, data))), old);
  }
};

struct FCompareStore {
  static constexpr int kDataWords = 2;
  template <class M, class T>
  static T New(M& m, T old, T data, T data2) {
    return m.Select(m.FEq(AsFloat(m, old), AsFloat(m, data)), m.Bits(m.In(AsFloat(m, data2))), old);
  }
};
// minimumNumber and maximumNumber (RDNA4's _NUM forms): a number beats a NaN, two NaNs give the data's
// quieted, and -0 is below +0. MODE flushes denormals first (RDNA4 ISA 13.2).
template <bool kMax>
struct FMinMaxNum {
  static constexpr int kDataWords = 1;
  template <class M, class T>
  static T New(M& m, T old, T data, T) {
    const auto a = m.In(AsFloat(m, data)), b = m.In(AsFloat(m, old));
    const T number = m.Select(m.Or(m.IsNan(b), WinsOver<kMax>(m, a, b)), m.Bits(a), m.Bits(b));
    return m.Select(m.IsNan(a), m.Select(m.IsNan(b), m.Bits(m.Quiet(a)), m.Bits(b)), number);
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
