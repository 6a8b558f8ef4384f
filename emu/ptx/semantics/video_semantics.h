// SPDX-License-Identifier: Apache-2.0
#pragma once
// What PTX's video instructions mean, scalar and of two or four elements. Templates over the builder that
// integer_semantics.h describes; which bytes, signs, saturation and second operation an instruction has is a
// plan, the same for all lanes. Manual: PTX ISA, "Video Instructions". GPUs since Maxwell have no such
// instructions: what they do is what NVIDIA's assembler makes of them, which leaves the manual in places. The
// comments that say "recorded" name them: an H200 gave these results with the driver's assembler.

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
// Comparisons are of 64 bits, on `value` as it came, which as an unsigned number may be above every c
// (recorded).
template <class B>
[[gnu::always_inline]] constexpr auto VideoJoin(const B& b, VideoPlan plan, typename B::U64 value,
                                                typename B::U32 c) {
  const auto word = b.Lo32(value);
  switch (plan.second) {
    case VideoSecond::kAdd:
      return b.Add(word, c);
    case VideoSecond::kMin:
      return b.Lo32(plan.d_signed ? b.SMin(value, b.Sext64(c)) : b.UMin(value, b.Zext64(c)));
    case VideoSecond::kMax:
      return b.Lo32(plan.d_signed ? b.SMax(value, b.Sext64(c)) : b.UMax(value, b.Zext64(c)));
    case VideoSecond::kMerge: {
      const uint32_t mask = ((1u << plan.d.bits) - 1) << plan.d.at;
      // .h1 takes the result's own upper half (recorded).
      const uint32_t away = plan.d.bits == 16 ? 0 : plan.d.at;
      return b.Or(b.And(b.Shl(word, b.C32(away)), b.C32(mask)), b.And(c, b.C32(~mask)));
    }
    case VideoSecond::kNone:
      break;
  }
  return word;
}

template <VideoOp kOp>
struct VideoSemantic {
  using Plan = VideoPlan;
  US_MEANING Run(const B& b, Plan plan, typename B::U32 x, typename B::U32 y, typename B::U32 c) {
    const auto p = VideoSource(b, x, plan.a, plan.a_signed), q = VideoSource(b, y, plan.b, plan.b_signed);
    auto value = Of(b, plan, p, q);
    if (plan.saturate) value = Saturated(b, plan, value);
    // Sums and what has been saturated are numbers of s32 from here on, but for differences and extrema that
    // were saturated to a whole u32 (recorded).
    constexpr bool kSums = kOp == VideoOp::kAdd || kOp == VideoOp::kSub;
    const bool whole = plan.d.bits == 32 && !plan.d_signed;
    if (kSums || (plan.saturate && (kShifts || !whole))) value = b.Sext64(b.Lo32(value));
    return VideoJoin(b, plan, value, c);
  }

 private:
  static constexpr bool kShifts = kOp == VideoOp::kShl || kOp == VideoOp::kShr;
  // Recorded: shifts saturate the low 34 bits, to 32 bits whatever part they replace; others saturate
  // negative numbers to a part's maximum, and to u32 from below only.
  US_MEANING Saturated(const B& b, Plan plan, typename B::U64 value) {
    if constexpr (kShifts) {
      return VideoClamp(b, b.Sar(b.Shl(value, b.C32(30)), b.C32(30)), 32, plan.d_signed);
    } else {
      if (plan.d.bits < 32)
        return b.UMin(value, b.C64((uint64_t{1} << (plan.d.bits - (plan.d_signed ? 1 : 0))) - 1));
      if (plan.d_signed) return VideoClamp(b, value, 32, true);
      return b.Select(b.SLt(value, b.C64(0)), b.C64(0), value);
    }
  }
  US_MEANING Of(const B& b, Plan plan, typename B::U64 p, typename B::U64 q) {
    if constexpr (kShifts) {
      const auto amount = b.Lo32(q);
      const auto n = plan.wrap ? b.And(amount, b.C32(31)) : b.UMin(amount, b.C32(32));
      return kOp == VideoOp::kShl ? b.Shl(p, n) : b.Sar(p, n);
    } else {
      return VideoResult<kOp>(b, plan.compare, p, q);
    }
  }
};

// vmad: x * y + c in 64 bits, of which one of the two terms may be negated or to which 1 is added, scaled and
// saturated. Sources of 32 bits and c are signed whatever their type (recorded).
struct VmadPlan {
  VideoPart a, b;
  bool a_signed = false, b_signed = false;
  bool saturate = false, negate_product = false, negate_c = false, plus_one = false;
  uint8_t scale = 0;
};
struct VmadSemantic {
  using Plan = VmadPlan;
  US_MEANING Run(const B& b, Plan plan, typename B::U32 x, typename B::U32 y, typename B::U32 c) {
    const bool is_signed = plan.a_signed || plan.b_signed || plan.negate_product || plan.negate_c;
    const auto p = VideoSource(b, x, plan.a, plan.a_signed || plan.a.bits == 32);
    const auto q = VideoSource(b, y, plan.b, plan.b_signed || plan.b.bits == 32);
    const auto product = b.Mul(p, q), term = b.Sext64(c);
    auto sum = plan.negate_product ? b.Sub(term, product)
               : plan.negate_c     ? b.Sub(product, term)
                                   : b.Add(product, term);
    if (plan.plus_one) sum = b.Add(sum, b.C64(1));
    if (plan.scale != 0) {
      const auto away = b.C32(plan.scale);
      sum = is_signed ? b.Sar(sum, away) : b.Shr(sum, away);
    }
    if (plan.saturate) sum = VideoClamp(b, sum, 32, is_signed);
    return b.Lo32(sum);
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
