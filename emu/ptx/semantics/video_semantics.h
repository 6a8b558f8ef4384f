// SPDX-License-Identifier: Apache-2.0
#pragma once
// What PTX's video instructions mean, scalar and of two or four elements. Templates over the builder that
// integer_semantics.h describes; which bytes, signs, saturation and second operation an instruction has is a
// plan, the same for all lanes. Manual: PTX ISA, "Video Instructions".

#include "emu/ptx/semantics/integer_semantics.h"

namespace understudy::emu::ptx {

enum class VideoOp : uint8_t { kAdd, kSub, kAvrg, kAbsdiff, kMin, kMax, kSet, kShl, kShr };
enum class VideoCompare : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };
enum class VideoSecond : uint8_t { kNone, kAdd, kMin, kMax, kMerge };

// `bits` of a register from bit `at` on.
struct VideoPart {
  uint8_t at = 0, bits = 32;
};
struct VideoPlan {
  VideoPart a, b, d;
  bool a_signed = false, b_signed = false, d_signed = false;
  bool saturate = false, wrap = false;
  VideoSecond second = VideoSecond::kNone;
  VideoCompare compare = VideoCompare::kEq;
};
static_assert(sizeof(VideoPlan) <= 16);

template <class B>
[[gnu::always_inline]] constexpr auto VideoSource(const B& b, typename B::U32 x, VideoPart part,
                                                  bool is_signed) {
  const auto top = b.Shl(b.Zext64(x), b.C32(64u - part.at - part.bits));
  const auto away = b.C32(64u - part.bits);
  return is_signed ? b.Sar(top, away) : b.Shr(top, away);
}
// A signed 64-bit number clamped to a type of `bits` bits.
template <class B>
[[gnu::always_inline]] constexpr auto VideoClamp(const B& b, typename B::U64 x, uint32_t bits,
                                                 bool is_signed) {
  const uint64_t high = (uint64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  return b.SMax(b.SMin(x, b.C64(high)), b.C64(is_signed ? ~high : 0));
}
template <class B>
[[gnu::always_inline]] constexpr auto VideoHolds(const B& b, VideoCompare compare, typename B::U64 x,
                                                 typename B::U64 y) {
  switch (compare) {
    case VideoCompare::kEq:
      return b.Eq(x, y);
    case VideoCompare::kNe:
      return b.Ne(x, y);
    case VideoCompare::kLt:
      return b.SLt(x, y);
    case VideoCompare::kLe:
      return b.SLe(x, y);
    case VideoCompare::kGt:
      return b.SGt(x, y);
    case VideoCompare::kGe:
      break;
  }
  return b.SGe(x, y);
}
// The operation on exact numbers of at most 33 bits.
template <VideoOp kOp, class B>
[[gnu::always_inline]] constexpr auto VideoResult(const B& b, VideoCompare compare, typename B::U64 x,
                                                  typename B::U64 y) {
  if constexpr (kOp == VideoOp::kAdd) return b.Add(x, y);
  if constexpr (kOp == VideoOp::kSub) return b.Sub(x, y);
  if constexpr (kOp == VideoOp::kAvrg) {
    const auto sum = b.Add(x, y);
    const auto rounding = b.Select(b.SGe(sum, b.C64(0)), b.C64(1), b.C64(0));
    return b.Sar(b.Add(sum, rounding), b.C32(1));
  }
  if constexpr (kOp == VideoOp::kAbsdiff) return b.Select(b.SLt(x, y), b.Sub(y, x), b.Sub(x, y));
  if constexpr (kOp == VideoOp::kMin) return b.SMin(x, y);
  if constexpr (kOp == VideoOp::kMax) return b.SMax(x, y);
  if constexpr (kOp == VideoOp::kSet) return b.Select(VideoHolds(b, compare, x, y), b.C64(1), b.C64(0));
}

// c joins: added, compared as the result's type, or kept around the part that the result replaces.
template <class B>
[[gnu::always_inline]] constexpr auto VideoJoin(const B& b, VideoPlan plan, typename B::U32 value,
                                                typename B::U32 c) {
  switch (plan.second) {
    case VideoSecond::kAdd:
      return b.Add(value, c);
    case VideoSecond::kMin:
      return plan.d_signed ? b.SMin(value, c) : b.UMin(value, c);
    case VideoSecond::kMax:
      return plan.d_signed ? b.SMax(value, c) : b.UMax(value, c);
    case VideoSecond::kMerge: {
      const uint32_t mask = ((1u << plan.d.bits) - 1) << plan.d.at;
      return b.Or(b.And(b.Shl(value, b.C32(plan.d.at)), b.C32(mask)), b.And(c, b.C32(~mask)));
    }
    case VideoSecond::kNone:
      break;
  }
  return value;
}

template <VideoOp kOp>
struct VideoSemantic {
  using Plan = VideoPlan;
  US_MEANING Run(const B& b, Plan plan, typename B::U32 x, typename B::U32 y, typename B::U32 c) {
    const auto p = VideoSource(b, x, plan.a, plan.a_signed), q = VideoSource(b, y, plan.b, plan.b_signed);
    auto value = Of(b, plan, p, q);
    if (plan.saturate) value = VideoClamp(b, value, plan.d.bits, plan.d_signed);
    return VideoJoin(b, plan, b.Lo32(value), c);
  }

 private:
  US_MEANING Of(const B& b, Plan plan, typename B::U64 p, typename B::U64 q) {
    if constexpr (kOp == VideoOp::kShl || kOp == VideoOp::kShr) {
      const auto amount = b.Lo32(q);
      const auto n = plan.wrap ? b.And(amount, b.C32(31)) : b.UMin(amount, b.C32(32));
      return kOp == VideoOp::kShl ? b.Shl(p, n) : b.Sar(p, n);
    } else {
      return VideoResult<kOp>(b, plan.compare, p, q);
    }
  }
};

// vmad: x * y + c in 128 bits, of which one of the two terms may be negated or to which 1 is added, scaled
// and saturated.
struct VmadPlan {
  VideoPart a, b;
  bool a_signed = false, b_signed = false;
  bool saturate = false, negate_product = false, negate_c = false, plus_one = false;
  uint8_t scale = 0;
  // The product, and with it c; the sum.
  [[gnu::always_inline]] constexpr bool product_signed() const {
    return a_signed || b_signed || negate_product;
  }
  [[gnu::always_inline]] constexpr bool sum_signed() const { return product_signed() || negate_c; }
};
struct VmadSemantic {
  using Plan = VmadPlan;
  US_MEANING Run(const B& b, Plan plan, typename B::U32 x, typename B::U32 y, typename B::U32 c) {
    const auto p = VideoSource(b, x, plan.a, plan.a_signed), q = VideoSource(b, y, plan.b, plan.b_signed);
    // The sources have at most 33 bits: signed products are exact.
    auto low = b.Mul(p, q), high = b.MulHiS(p, q);
    auto term = plan.product_signed() ? b.Sext64(c) : b.Zext64(c);
    auto term_high = plan.product_signed() ? b.Sar(term, b.C32(63)) : b.C64(0);
    if (plan.negate_product) {
      low = b.Not(low);
      high = b.Not(high);
    }
    if (plan.negate_c) {
      term = b.Not(term);
      term_high = b.Not(term_high);
    }
    const bool one = plan.plus_one || plan.negate_product || plan.negate_c;
    const auto sum = SumWithCarry<64>(b, low, term, b.CBool(one));
    const auto sum_high = b.Add(b.Add(high, term_high), b.Select(sum.flag, b.C64(1), b.C64(0)));
    auto result = sum.value;
    if (plan.scale != 0)
      result = b.Or(b.Shr(result, b.C32(plan.scale)), b.Shl(sum_high, b.C32(64u - plan.scale)));
    if (plan.saturate)
      result = plan.sum_signed() ? VideoClamp(b, result, 32, true) : b.UMin(result, b.C64(0xffffffffu));
    return b.Lo32(result);
  }
};

// Two halves or four bytes of {y, x}, chosen by a nibble each; the elements of the mask are replaced in c, or
// added to it.
struct VideoSimdPlan {
  uint16_t a = 0x3210, b = 0x7654;  // a nibble an element, element 0 lowest
  uint8_t mask = 15;
  bool a_signed = false, b_signed = false, d_signed = false;
  bool saturate = false, accumulate = false;
  VideoCompare compare = VideoCompare::kEq;
};
static_assert(sizeof(VideoSimdPlan) <= 16);

template <VideoOp kOp, int kElements>
struct VideoSimdSemantic {
  using Plan = VideoSimdPlan;
  static constexpr uint32_t kBits = 32 / kElements;
  US_MEANING Run(const B& b, Plan plan, typename B::U32 x, typename B::U32 y, typename B::U32 c) {
    const auto both = b.Pack32(x, y);
    auto out = c;
    for (uint32_t i = 0; i < kElements; ++i) {
      if ((plan.mask >> i & 1) == 0) continue;
      auto value = VideoResult<kOp>(b, plan.compare, Element(b, both, plan.a >> (4 * i) & 7, plan.a_signed),
                                    Element(b, both, plan.b >> (4 * i) & 7, plan.b_signed));
      if (plan.saturate) value = VideoClamp(b, value, kBits, plan.d_signed);
      const auto word = b.Lo32(value);
      if (plan.accumulate) {
        out = b.Add(out, word);
      } else {
        const uint32_t field = ((1u << kBits) - 1) << (kBits * i);
        out = b.Or(b.And(out, b.C32(~field)), b.And(b.Shl(word, b.C32(kBits * i)), b.C32(field)));
      }
    }
    return out;
  }

 private:
  US_MEANING Element(const B& b, typename B::U64 both, uint32_t number, bool is_signed) {
    const auto top = b.Shl(both, b.C32(64 - kBits - kBits * number));
    const auto away = b.C32(64 - kBits);
    return is_signed ? b.Sar(top, away) : b.Shr(top, away);
  }
};

}  // namespace understudy::emu::ptx
