// SPDX-License-Identifier: Apache-2.0
#pragma once
// The interpreter's reading of the float semantics: one element of one lane, and the loop over a warp that
// the compiler vectorises. Allocates nothing and reads no modifiers at run time; the rounding is the host's
// (float_find.cc runs directed ones through RunDirected).

#include <type_traits>

#include "emu/ptx/core/program.h"
#include "emu/ptx/core/warp.h"
#include "emu/ptx/semantics/float_kernels.h"
#include "emu/ptx/semantics/float_semantics.h"
#include "emu/ptx/semantics/lane_rows.h"

namespace understudy::emu::ptx {

// A product, fused product or quotient whose magnitude rounds to the least normal f32: would it be below it,
// rounded to 24 bits without a least exponent (.ftz then flushes it)? Exact, in the host's rounding mode.
bool ProductIsTiny(float a, float b);
bool FusedIsTiny(float a, float b, float c);
bool QuotientIsTiny(float a, float b);

inline namespace US_SEMANTICS_ARCH {

template <class E>
class FloatLane {
 public:
  using V = typename E::Bits;
  using Value = typename E::Value;
  V s[3] = {};

  template <class M>
  US_LANE V Bits(int i) const {
    return M::kFtz ? Flush<E>(s[i]) : s[i];
  }
  template <class M>
  US_LANE Value In(int i) const {
    return E::Decode(Bits<M>(i));
  }
  US_LANE Value Add(Value a, Value b) const { return E::Add(a, b); }
  US_LANE Value Sub(Value a, Value b) const { return E::Sub(a, b); }
  US_LANE Value Mul(Value a, Value b) const { return E::Mul(a, b); }
  US_LANE Value Fma(Value a, Value b, Value c) const { return E::Fma(a, b, c); }
  US_LANE Value Div(Value a, Value b) const { return E::Div(a, b); }
  US_LANE Value Sqrt(Value a) const { return E::Sqrt(a); }
  US_LANE Value One() const { return Value{1}; }
  US_LANE V Zero() const { return 0; }

  template <class M, int... kNanOrder>
  US_LANE V Finish(Value v) const {
    if constexpr (M::kClamp == Clamp::kSaturate) {
      // NaN fails the first comparison; both zeros give +0.
      const Value positive = v > Value{0} ? v : Value{0};
      v = positive < Value{1} ? positive : Value{1};
    } else if constexpr (M::kClamp == Clamp::kRelu) {
      v = v <= Value{0} ? Value{0} : v;  // -0 too; NaN stays
    }
    V r = E::template Encode<M::kFtz>(v);
    if constexpr (E::kPropagatesNan) {
      // The last assignment wins: the first of the order.
      constexpr int order[] = {kNanOrder...};
      constexpr int n = static_cast<int>(sizeof...(kNanOrder));
      for (int i = n - 1; i >= 0; --i) r = ptx::IsNan<E>(s[order[i]]) ? s[order[i]] | E::kQuiet : r;
    }
    return r;
  }

  US_LANE bool IsNan(V x) const { return ptx::IsNan<E>(x); }
  US_LANE bool Below(V x, V y) const { return OrderKey<E>(x) < OrderKey<E>(y); }
  US_LANE V Select(bool condition, V x, V y) const { return condition ? x : y; }
  US_LANE V SignOf(V x) const { return x & E::kSign; }
  US_LANE V SignOfProduct(V x, V y) const { return (x ^ y) & E::kSign; }
  US_LANE V WithoutSign(V x) const { return x & (E::kSign - 1); }
  US_LANE V FlippedSign(V x) const { return x ^ E::kSign; }
  US_LANE V WithSign(V x, V sign) const { return (x & (E::kSign - 1)) | sign; }
  US_LANE V NanOf(V x) const {
    if constexpr (E::kPropagatesNan) return x | E::kQuiet;
    return E::kNan;
  }
  US_LANE V UnlessNan(V x, V otherwise) const { return IsNan(x) ? NanOf(x) : otherwise; }
  US_LANE bool IsOutOfBounds(int i) const { return (s[i] & 0x7fffu) == 0x7ff7u; }
};

template <class Word>
using RowOf = std::conditional_t<sizeof(Word) == 8, Row64, Row32>;

enum class TinyRule : uint8_t { kNone, kProduct, kFused, kQuotient, kReciprocal };

// Flushes the results at the least normal that are tiny when rounded without a least exponent.
template <class T, TinyRule kRule>
void FlushTinyResults(const typename T::Word* a, const typename T::Word* b, const typename T::Word* c,
                      typename T::Word* out) {
  using Word = typename T::Word;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    for (int part = 0; part < T::kParts; ++part) {
      const int at = part * T::kPartBits;
      const auto result = static_cast<uint32_t>(out[lane] >> at);
      if ((result & 0x7fffffffu) != Single::kMinNormal) continue;
      const auto element = [&](const Word* row) {
        return FloatOf(Flush<Single>(static_cast<uint32_t>(row[lane] >> at)));
      };
      const bool tiny = kRule == TinyRule::kProduct    ? ProductIsTiny(element(a), element(b))
                        : kRule == TinyRule::kFused    ? FusedIsTiny(element(a), element(b), element(c))
                        : kRule == TinyRule::kQuotient ? QuotientIsTiny(element(a), element(b))
                                                       : QuotientIsTiny(1.0f, element(a));
      if (tiny) out[lane] &= ~(Word{0x7fffffffu} << at);
    }
  }
}

// The loop over a warp. T: the layout of operands and result.
template <class Semantic, class T, TinyRule kRule>
[[gnu::flatten]] ExecResult RunFloat(Warp& w, const Inst& inst) {
  using Word = typename T::Word;
  using E = typename T::Element;
  using V = typename E::Bits;
  constexpr int n = Semantic::kSources;
  const RowOf<Word> row_a(w, inst.src(1)), row_b(w, inst.src(n > 1 ? 2 : 1)),
      row_c(w, inst.src(n > 2 ? 3 : 1));
  const Word *const a = row_a.row, *const b = row_b.row, *const c = row_c.row;
  alignas(64) Word out[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) {
    Word r = 0;
    for (int part = 0; part < T::kParts; ++part) {
      const int at = T::kParts == 1 ? 0 : part * T::kPartBits;
      FloatLane<E> builder;
      builder.s[0] = static_cast<V>(a[lane] >> at & T::kPartMask);
      if constexpr (n > 1) builder.s[1] = static_cast<V>(b[lane] >> at & T::kPartMask);
      if constexpr (n > 2) builder.s[2] = static_cast<V>(c[lane] >> at & T::kPartMask);
      r |= static_cast<Word>(Semantic::Run(builder)) << at;
    }
    out[lane] = r;
  }
  if constexpr (kRule != TinyRule::kNone) {
    Word found = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      for (int part = 0; part < T::kParts; ++part)
        found |= (out[lane] >> (part * T::kPartBits) & 0x7fffffffu) == Single::kMinNormal ? 1u : 0u;
    }
    if (found != 0) FlushTinyResults<T, kRule>(a, b, c, out);
  }
  StoreRow(w, inst.src(0), out);
  return ExecResult::kNext;
}

// Which of less, equal and unordered hold in each lane.
template <class T, bool kFtz>
[[gnu::flatten]] FloatRelations CompareRows(const Warp& w, Src sa, Src sb) {
  using Word = typename T::Word;
  using E = typename T::Element;
  using V = typename E::Bits;
  const RowOf<Word> row_a(w, sa), row_b(w, sb);
  const Word *const a = row_a.row, *const b = row_b.row;
  FloatRelations relations;
  for (int part = 0; part < T::kParts; ++part) {
    alignas(64) uint32_t less[kWarpSize], equal[kWarpSize], unordered[kWarpSize];
    for (int lane = 0; lane < kWarpSize; ++lane) {
      V x = static_cast<V>(a[lane] >> (part * 16) & T::kPartMask);
      V y = static_cast<V>(b[lane] >> (part * 16) & T::kPartMask);
      if constexpr (kFtz) {
        x = Flush<E>(x);
        y = Flush<E>(y);
      }
      const bool nan = IsNan<E>(x) | IsNan<E>(y);
      const bool number = !nan;
      const bool same = number & ((x == y) | (((x | y) & (E::kSign - 1)) == 0));
      unordered[lane] = nan ? 1u : 0u;
      equal[lane] = same ? 1u : 0u;
      less[lane] = number & !same & (OrderKey<E>(x) < OrderKey<E>(y)) ? 1u : 0u;
    }
    relations.less[part] = PackFlags(less);
    relations.equal[part] = PackFlags(equal);
    relations.unordered[part] = PackFlags(unordered);
  }
  return relations;
}

}  // namespace US_SEMANTICS_ARCH
}  // namespace understudy::emu::ptx
