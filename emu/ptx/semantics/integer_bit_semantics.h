// SPDX-License-Identifier: Apache-2.0
#pragma once
// What PTX's instructions on bits mean: fields, masks, permutations, tables of three inputs, funnel shifts,
// conversions between integers. Templates over the builder that integer_semantics.h describes. Manual: PTX
// ISA, "Integer Arithmetic", "Logic and Shift", "Data Movement and Conversion".

#include "emu/ptx/semantics/integer_semantics.h"

namespace understudy::emu::ptx {

// A position or length: the 32-bit forms read 8 bits of it, the 64-bit forms all (recorded on an H200).
template <int W, class B>
[[gnu::always_inline]] constexpr auto FieldNumber(const B& b, typename B::U32 n) {
  return W == 32 ? b.And(n, b.C32(0xff)) : b.UMin(n, b.C32(255));
}

// The field is extended by bit min(at + length - 1, W - 1).
template <int W, bool S>
struct BfeSemantic {
  US_MEANING Run(const B& b, Uint<B, W> x, typename B::U32 position, typename B::U32 size) {
    const auto at = FieldNumber<W>(b, position), length = FieldNumber<W>(b, size);
    const auto field = b.And(ShrClamped<W>(b, x, at), LowMask<W>(b, length));
    if constexpr (!S) {
      return field;
    } else {
      const auto sign_at = b.UMin(b.Sub(b.Add(at, length), b.C32(1)), b.C32(W - 1));
      const auto one = Const<W>(b, 1);
      const auto negative = b.And(b.Ne(length, b.C32(0)), b.Eq(b.And(b.Shr(x, sign_at), one), one));
      const auto have = b.UMin(length, b.Sub(b.C32(W), b.UMin(at, b.C32(W))));
      return b.Select(negative, b.Or(field, b.Not(LowMask<W>(b, have))), field);
    }
  }
};
template <int W>
struct BfiSemantic {
  US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y, typename B::U32 position, typename B::U32 size) {
    const auto at = FieldNumber<W>(b, position), length = FieldNumber<W>(b, size);
    const auto field = ShlClamped<W>(b, LowMask<W>(b, length), at);
    return b.Or(b.And(y, b.Not(field)), b.And(ShlClamped<W>(b, x, at), field));
  }
};

// The highest bit that differs from the sign, or all ones; kAmount: how far to shift it to the top.
template <int W, bool S, bool kAmount>
struct BfindSemantic {
  US_MEANING Run(const B& b, Uint<B, W> x) {
    const auto zero = Const<W>(b, 0);
    const auto bits = S ? b.Select(b.SLt(x, zero), b.Not(x), x) : x;
    const auto above = b.Clz(bits);
    if constexpr (kAmount) return b.Select(b.Eq(bits, zero), b.C32(~0u), above);
    return b.Sub(b.C32(W - 1), above);
  }
};

template <bool kWrap>
struct BmskSemantic {
  US_MEANING Run(const B& b, typename B::U32 position, typename B::U32 size) {
    const auto at = kWrap ? b.And(position, b.C32(31)) : position;
    const auto length = kWrap ? b.And(size, b.C32(31)) : size;
    return ShlClamped<32>(b, LowMask<32>(b, length), at);
  }
};
// The low n bits, extended by the highest of them; n = 0 gives 0.
template <bool S, bool kWrap>
struct SzextSemantic {
  US_MEANING Run(const B& b, typename B::U32 x, typename B::U32 n) {
    const auto bits = kWrap ? b.And(n, b.C32(31)) : b.UMin(n, b.C32(32));
    const auto away = b.Sub(b.C32(32), bits);
    const auto top = ShlClamped<32>(b, x, away);
    return S ? SarClamped<32>(b, top, away) : ShrClamped<32>(b, top, away);
  }
};

// fns: the bit that is |offset| set bits from `base` upwards (negative: downwards), itself counted; offset 0:
// bit `base` if it is set. All ones if there is none. The least offset, which has no magnitude, gives 0 on an
// H200.
struct FnsSemantic {
  US_MEANING Run(const B& b, typename B::U32 mask, typename B::U32 base, typename B::U32 offset) {
    const auto zero = b.C32(0), one = b.C32(1);
    const auto down = b.SLt(offset, zero);
    const auto wanted = b.Select(down, b.Sub(zero, offset), b.UMax(offset, one));
    auto found = b.C32(~0u), up_count = zero, down_count = zero;
    for (uint32_t i = 0; i < 32; ++i) {
      const auto at = b.C32(i);
      const auto set = b.And(b.Eq(b.And(b.Shr(mask, at), one), one), b.UGe(at, base));
      up_count = b.Add(up_count, b.FromBool(set));
      const auto here = b.And(b.And(set, b.Eq(up_count, wanted)), b.Not(down));
      found = b.Select(here, at, found);
    }
    for (uint32_t i = 32; i-- > 0;) {
      const auto at = b.C32(i);
      const auto set = b.And(b.Eq(b.And(b.Shr(mask, at), one), one), b.ULe(at, base));
      down_count = b.Add(down_count, b.FromBool(set));
      const auto here = b.And(b.And(set, b.Eq(down_count, wanted)), down);
      found = b.Select(here, at, found);
    }
    const auto base_set = b.Eq(b.And(b.Shr(mask, base), one), one);
    const auto itself = b.Select(base_set, base, b.C32(~0u));
    const auto answer = b.Select(b.Eq(offset, b.C32(0x80000000u)), zero, found);
    return b.Select(b.UGt(base, b.C32(31)), b.C32(~0u), b.Select(b.Eq(offset, zero), itself, answer));
  }
};

// prmt: four bytes of {y, x}. By nibble: 3 bits choose, the fourth replicates the byte's sign; the modes take
// all four from the low 2 bits of the selector.
enum class Permute : uint8_t { kByNibble, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };
template <Permute kMode>
struct PrmtSemantic {
  US_MEANING Run(const B& b, typename B::U32 x, typename B::U32 y, typename B::U32 selector) {
    const auto bytes = b.Pack32(x, y);
    const auto choice = b.And(selector, b.C32(3));
    auto out = b.C32(0);
    for (uint32_t i = 0; i < 4; ++i) {
      const auto from = From(b, selector, choice, i);
      auto byte = b.And(b.Lo32(b.Shr(bytes, b.Shl(from, b.C32(3)))), b.C32(0xff));
      if constexpr (kMode == Permute::kByNibble) {
        const auto sign = b.Select(b.UGe(byte, b.C32(0x80)), b.C32(0xff), b.C32(0));
        const auto replicates = b.Ne(b.And(b.Shr(selector, b.C32(4 * i)), b.C32(8)), b.C32(0));
        byte = b.Select(replicates, sign, byte);
      }
      out = b.Or(out, b.Shl(byte, b.C32(8 * i)));
    }
    return out;
  }

 private:
  // The byte of the eight that becomes byte i.
  US_MEANING From(const B& b, typename B::U32 selector, typename B::U32 choice, uint32_t i) {
    switch (kMode) {
      case Permute::kF4e:
        return b.Add(choice, b.C32(i));
      case Permute::kB4e:
        return b.And(b.Sub(choice, b.C32(i)), b.C32(7));
      case Permute::kRc8:
        return choice;
      case Permute::kEcl:
        return b.UMax(choice, b.C32(i));
      case Permute::kEcr:
        return b.UMin(choice, b.C32(i));
      case Permute::kRc16:
        return b.Or(b.Shl(b.And(choice, b.C32(1)), b.C32(1)), b.C32(i & 1));
      case Permute::kByNibble:
        break;
    }
    return b.And(b.Shr(selector, b.C32(4 * i)), b.C32(7));
  }
};

// lop3: bit (4 * x + 2 * y + z) of the table, at each of 32 positions. The table as a polynomial over bits
// (Reed and Muller): a sum modulo 2 of products, whose coefficients are the same for all lanes.
struct Lop3Plan {
  uint64_t table = 0;
};
template <class B>
[[gnu::always_inline]] constexpr auto TableOf3(const B& b, Lop3Plan plan, typename B::U32 x,
                                               typename B::U32 y, typename B::U32 z) {
  uint32_t coefficients = static_cast<uint32_t>(plan.table & 0xff);
  coefficients ^= (coefficients & 0x55) << 1;
  coefficients ^= (coefficients & 0x33) << 2;
  coefficients ^= (coefficients & 0x0f) << 4;
  const auto all = [&](uint32_t i) { return b.C32((coefficients >> i & 1) != 0 ? ~0u : 0u); };
  const auto xy = b.And(x, y);
  auto out = b.Xor(all(0), b.And(all(1), z));
  out = b.Xor(out, b.And(all(2), y));
  out = b.Xor(out, b.And(all(3), b.And(y, z)));
  out = b.Xor(out, b.And(all(4), x));
  out = b.Xor(out, b.And(all(5), b.And(x, z)));
  out = b.Xor(out, b.And(all(6), xy));
  return b.Xor(out, b.And(all(7), b.And(xy, z)));
}
struct Lop3Semantic {
  using Plan = Lop3Plan;
  US_MEANING Run(const B& b, Plan plan, typename B::U32 x, typename B::U32 y, typename B::U32 z) {
    return TableOf3(b, plan, x, y, z);
  }
};

// The upper (left) or lower half of {y, x} shifted.
template <bool kRight, bool kClamp>
struct ShfSemantic {
  US_MEANING Run(const B& b, typename B::U32 x, typename B::U32 y, typename B::U32 amount) {
    const auto n = kClamp ? b.UMin(amount, b.C32(32)) : b.And(amount, b.C32(31));
    const auto both = b.Pack32(x, y);
    if constexpr (kRight) {
      return b.Lo32(b.Shr(both, n));
    } else {
      return b.Hi32(b.Shl(both, n));
    }
  }
};

// cvt between integers, in a domain that is as wide as the widest of the types and registers: the source type
// is cut out of its register, the result is extended into its own.
struct ConvertPlan32 {
  uint8_t from_bits = 32, to_bits = 32;
};
template <int W, bool kFromSigned, bool kToSigned, bool kSaturate>
struct ConvertIntegerSemantic {
  using Plan = ConvertPlan32;
  US_MEANING Run(const B& b, Plan plan, Uint<B, W> x) {
    auto value = Extended<kFromSigned>(b, x, plan.from_bits);
    if constexpr (kSaturate) {
      const uint64_t high = kAllOnes<W> >> (W - plan.to_bits + (kToSigned ? 1 : 0));
      if constexpr (kFromSigned) {
        // An unsigned type as wide as the domain holds every positive number.
        const uint64_t limit = high < kSignBit<W> ? high : kSignBit<W> - 1;
        value = b.SMin(value, Const<W>(b, limit));
        value = b.SMax(value, Const<W>(b, kToSigned ? ~high : 0));
      } else {
        value = b.UMin(value, Const<W>(b, high));
      }
    }
    return Extended<kToSigned>(b, value, plan.to_bits);
  }

 private:
  template <bool kSigned, class B>
  [[gnu::always_inline]] static constexpr auto Extended(const B& b, Uint<B, W> x, uint32_t bits) {
    const auto away = b.C32(W - bits);
    return kSigned ? b.Sar(b.Shl(x, away), away) : b.Shr(b.Shl(x, away), away);
  }
};

// cvt.pack.sat: two numbers of s32, saturated, below what is left of z.
struct ConvertPackPlan {
  uint32_t bits = 16;
  uint32_t is_signed = 0, has_rest = 0;
};
struct ConvertPackSemantic {
  using Plan = ConvertPackPlan;
  US_MEANING Run(const B& b, Plan plan, typename B::U32 x, typename B::U32 y, typename B::U32 z) {
    const uint32_t mask = (1u << plan.bits) - 1, high = plan.is_signed != 0 ? mask >> 1 : mask;
    const uint32_t low = plan.is_signed != 0 ? ~high : 0;
    const auto cut = [&](typename B::U32 value) {
      return b.And(b.SMax(b.SMin(value, b.C32(high)), b.C32(low)), b.C32(mask));
    };
    const auto packed = b.Or(b.Shl(cut(x), b.C32(plan.bits)), cut(y));
    return plan.has_rest != 0 ? b.Or(packed, b.Shl(z, b.C32(2 * plan.bits))) : packed;
  }
};

}  // namespace understudy::emu::ptx
