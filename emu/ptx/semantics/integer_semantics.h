// SPDX-License-Identifier: Apache-2.0
#pragma once
// What PTX's integer instructions mean: arithmetic, logic, shifts, comparisons, selection, extended
// precision. Each is one template over a builder (design: semantics are written once), from the values of its
// sources to its result, for one lane. Manual: PTX ISA, "Integer Arithmetic", "Extended-Precision Integer
// Arithmetic", "Comparison and Selection", "Logic and Shift".
//
// A builder B has the vocabulary of emu/lanes/lane_int.h (types U16 U32 U64 Bool; amounts of shifts count
// modulo the width) and UDiv, URem (of a divisor that is not 0), MulHiU and MulHiS of 64 bits. Semantics
// never branch on a lane's value (b.Select instead of `if`); what is the same for all lanes, template
// parameters and plans, is plain C++. The interpreter's builder is integer_lanes.h; registers, masks and
// predicates of setp are the core's.

#include <cstdint>
#include <type_traits>

namespace understudy::emu::ptx {

template <class B, int kBits>
using Uint = std::conditional_t<kBits == 16, typename B::U16,
                                std::conditional_t<kBits == 32, typename B::U32, typename B::U64>>;
template <class B>
using Flag = typename B::Bool;

// A result and the flag that comes with it.
template <class V, class F>
struct WithFlag {
  V value;
  F flag;
};

#define US_MEANING   \
  template <class B> \
  [[gnu::always_inline]] static constexpr auto

template <int W, class B>
[[gnu::always_inline]] constexpr auto Const(const B& b, uint64_t v) {
  if constexpr (W == 16) {
    return b.C16(static_cast<uint16_t>(v));
  } else if constexpr (W == 32) {
    return b.C32(static_cast<uint32_t>(v));
  } else {
    return b.C64(v);
  }
}
template <int W>
constexpr uint64_t kSignBit = uint64_t{1} << (W - 1);
template <int W>
constexpr uint64_t kAllOnes = W == 64 ? ~uint64_t{0} : (uint64_t{1} << (W % 64)) - 1;

// --- shifts whose amount is clamped ---
template <int W, class B>
[[gnu::always_inline]] constexpr auto ShlClamped(const B& b, Uint<B, W> x, typename B::U32 n) {
  return b.Select(b.UGe(n, b.C32(W)), Const<W>(b, 0), b.Shl(x, n));
}
template <int W, class B>
[[gnu::always_inline]] constexpr auto ShrClamped(const B& b, Uint<B, W> x, typename B::U32 n) {
  return b.Select(b.UGe(n, b.C32(W)), Const<W>(b, 0), b.Shr(x, n));
}
template <int W, class B>
[[gnu::always_inline]] constexpr auto SarClamped(const B& b, Uint<B, W> x, typename B::U32 n) {
  return b.Sar(x, b.UMin(n, b.C32(W - 1)));
}
// The low n bits set; all of them from n = W on.
template <int W, class B>
[[gnu::always_inline]] constexpr auto LowMask(const B& b, typename B::U32 n) {
  return b.Not(ShlClamped<W>(b, Const<W>(b, kAllOnes<W>), n));
}

// clang-format off: an instruction a line
#define US_BINARY(name, expression)                                                    \
  template <int W> struct name##Semantic {                                             \
    US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y) { return expression; }      \
  };
US_BINARY(Add, b.Add(x, y))
US_BINARY(Sub, b.Sub(x, y))
US_BINARY(Mul, b.Mul(x, y))
US_BINARY(And, b.And(x, y))
US_BINARY(Or, b.Or(x, y))
US_BINARY(Xor, b.Xor(x, y))
US_BINARY(Eq, b.Eq(x, y))
US_BINARY(Ne, b.Ne(x, y))
#undef US_BINARY

// S: the type is signed.
#define US_SIGNED_BINARY(name, of_signed, of_unsigned)                                 \
  template <int W, bool S> struct name##Semantic {                                     \
    US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y) {                           \
      if constexpr (S) return of_signed;                                               \
      else return of_unsigned;                                                         \
    }                                                                                  \
  };
US_SIGNED_BINARY(Min, b.SMin(x, y), b.UMin(x, y))
US_SIGNED_BINARY(Max, b.SMax(x, y), b.UMax(x, y))
US_SIGNED_BINARY(Lt, b.SLt(x, y), b.ULt(x, y))
US_SIGNED_BINARY(Le, b.SLe(x, y), b.ULe(x, y))
US_SIGNED_BINARY(Gt, b.SGt(x, y), b.UGt(x, y))
US_SIGNED_BINARY(Ge, b.SGe(x, y), b.UGe(x, y))
#undef US_SIGNED_BINARY

#define US_UNARY(name, expression)                                                     \
  template <int W> struct name##Semantic {                                             \
    US_MEANING Run(const B& b, Uint<B, W> x) { return expression; }                    \
  };
US_UNARY(Mov, (static_cast<void>(b), x))
US_UNARY(Not, b.Not(x))
US_UNARY(Neg, b.Sub(Const<W>(b, 0), x))
US_UNARY(Abs, b.Select(b.SLt(x, Const<W>(b, 0)), b.Sub(Const<W>(b, 0), x), x))
US_UNARY(Cnot, b.Select(b.Eq(x, Const<W>(b, 0)), Const<W>(b, 1), Const<W>(b, 0)))
US_UNARY(Popc, b.PopCount(x))
US_UNARY(Clz, b.Clz(x))
US_UNARY(Brev, b.BitReverse(x))
#undef US_UNARY

#define US_SHIFT(name, expression)                                                     \
  template <int W> struct name##Semantic {                                             \
    US_MEANING Run(const B& b, Uint<B, W> x, typename B::U32 n) { return expression; } \
  };
US_SHIFT(Shl, ShlClamped<W>(b, x, n))
US_SHIFT(Shr, ShrClamped<W>(b, x, n))
US_SHIFT(Sar, SarClamped<W>(b, x, n))
#undef US_SHIFT
// clang-format on

template <int W>
struct SelpSemantic {
  US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y, Flag<B> c) { return b.Select(c, x, y); }
};
// slct by a number of 32 bits: first source where it is not negative.
template <int W>
struct SlctSemantic {
  US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y, typename B::U32 c) {
    return b.Select(b.SGe(c, b.C32(0)), x, y);
  }
};
// slct by a float: NaN and, unless it is zero (with .ftz also a subnormal), less than zero choose the second.
template <int W, bool kFtz>
struct SlctFloatSemantic {
  US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y, typename B::U32 c) {
    const auto magnitude = b.And(c, b.C32(0x7fffffffu));
    const auto zero = b.ULt(magnitude, b.C32(kFtz ? 0x00800000u : 1u));
    const auto number = b.ULe(magnitude, b.C32(0x7f800000u));
    const auto first = b.And(number, b.Or(b.SGe(c, b.C32(0)), zero));
    return b.Select(first, x, y);
  }
};

// --- multiplication ---
template <int W, bool S, class B>
[[gnu::always_inline]] constexpr auto Widen(const B& b, Uint<B, W> x) {
  if constexpr (W == 16) {
    return S ? b.Sext32(x) : b.Zext32(x);
  } else {
    return S ? b.Sext64(x) : b.Zext64(x);
  }
}
template <int W, bool S, class B>
[[gnu::always_inline]] constexpr auto HighProduct(const B& b, Uint<B, W> x, Uint<B, W> y) {
  if constexpr (W == 16) {
    return b.Hi16(b.Mul(Widen<W, S>(b, x), Widen<W, S>(b, y)));
  } else {
    return S ? b.MulHiS(x, y) : b.MulHiU(x, y);
  }
}
template <int W>
struct MadSemantic {
  US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y, Uint<B, W> z) { return b.Add(b.Mul(x, y), z); }
};
template <int W, bool S>
struct MulHiSemantic {
  US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y) { return HighProduct<W, S>(b, x, y); }
};
template <int W, bool S>
struct MadHiSemantic {
  US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y, Uint<B, W> z) {
    return b.Add(HighProduct<W, S>(b, x, y), z);
  }
};
template <int W, bool S>
struct MulWideSemantic {
  US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y) {
    return b.Mul(Widen<W, S>(b, x), Widen<W, S>(b, y));
  }
};
template <int W, bool S>
struct MadWideSemantic {
  US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y, Uint<B, 2 * W> z) {
    return b.Add(b.Mul(Widen<W, S>(b, x), Widen<W, S>(b, y)), z);
  }
};
// Of the low 24 bits of both, bits 0-31 or 16-47 of the product.
template <bool S, bool kHigh, class B>
[[gnu::always_inline]] constexpr auto Product24(const B& b, typename B::U32 x, typename B::U32 y) {
  const auto p = S ? b.template SextFrom<24>(x) : b.And(x, b.C32(0xffffffu));
  const auto q = S ? b.template SextFrom<24>(y) : b.And(y, b.C32(0xffffffu));
  if constexpr (kHigh) {
    return b.Lo32(b.Shr(b.Mul(Widen<32, S>(b, p), Widen<32, S>(b, q)), b.C32(16)));
  } else {
    return b.Mul(p, q);
  }
}
template <bool S, bool kHigh>
struct Mul24Semantic {
  US_MEANING Run(const B& b, typename B::U32 x, typename B::U32 y) { return Product24<S, kHigh>(b, x, y); }
};
template <bool S, bool kHigh>
struct Mad24Semantic {
  US_MEANING Run(const B& b, typename B::U32 x, typename B::U32 y, typename B::U32 z) {
    return b.Add(Product24<S, kHigh>(b, x, y), z);
  }
};

// --- saturation to s32 ---
template <class B>
[[gnu::always_inline]] constexpr auto SaturatedSum(const B& b, typename B::U32 x, typename B::U32 y) {
  const auto sum = b.Add(x, y);
  const auto overflow = b.SLt(b.And(b.Xor(sum, x), b.Xor(sum, y)), b.C32(0));
  return b.Select(overflow, b.Select(b.SLt(x, b.C32(0)), b.C32(0x80000000u), b.C32(0x7fffffffu)), sum);
}
struct AddSatSemantic {
  US_MEANING Run(const B& b, typename B::U32 x, typename B::U32 y) { return SaturatedSum(b, x, y); }
};
struct SubSatSemantic {
  US_MEANING Run(const B& b, typename B::U32 x, typename B::U32 y) {
    const auto difference = b.Sub(x, y);
    const auto overflow = b.SLt(b.And(b.Xor(x, y), b.Xor(difference, x)), b.C32(0));
    const auto limit = b.Select(b.SLt(x, b.C32(0)), b.C32(0x80000000u), b.C32(0x7fffffffu));
    return b.Select(overflow, limit, difference);
  }
};
struct MadHiSatSemantic {
  US_MEANING Run(const B& b, typename B::U32 x, typename B::U32 y, typename B::U32 z) {
    return SaturatedSum(b, b.MulHiS(x, y), z);
  }
};
struct Mad24HiSatSemantic {
  US_MEANING Run(const B& b, typename B::U32 x, typename B::U32 y, typename B::U32 z) {
    return SaturatedSum(b, Product24<true, true>(b, x, y), z);
  }
};
// min.relu and max.relu of s32.
template <bool kMax>
struct MinMaxReluSemantic {
  US_MEANING Run(const B& b, typename B::U32 x, typename B::U32 y) {
    return b.SMax(kMax ? b.SMax(x, y) : b.SMin(x, y), b.C32(0));
  }
};

// --- two 16-bit numbers at a time ---
template <class B, class Fn>
[[gnu::always_inline]] constexpr auto ByHalves(const B& b, typename B::U32 x, typename B::U32 y, Fn&& fn) {
  return b.Pack16(fn(b.Lo16(x), b.Lo16(y)), fn(b.Hi16(x), b.Hi16(y)));
}
struct AddHalvesSemantic {
  US_MEANING Run(const B& b, typename B::U32 x, typename B::U32 y) {
    return ByHalves(b, x, y, [&](typename B::U16 p, typename B::U16 q) { return b.Add(p, q); });
  }
};
template <bool kMax, bool S, bool kRelu>
struct MinMaxHalvesSemantic {
  US_MEANING Run(const B& b, typename B::U32 x, typename B::U32 y) {
    return ByHalves(b, x, y, [&](typename B::U16 p, typename B::U16 q) {
      const auto chosen = S ? (kMax ? b.SMax(p, q) : b.SMin(p, q)) : (kMax ? b.UMax(p, q) : b.UMin(p, q));
      return kRelu ? b.SMax(chosen, b.C16(0)) : chosen;
    });
  }
};

// --- division: truncates; by zero both quotient and remainder are all ones (recorded on an H200) ---
template <int W, bool S, bool kRemainder>
struct DivideSemantic {
  US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y) {
    const auto zero = Const<W>(b, 0), ones = Const<W>(b, kAllOnes<W>);
    const auto by_zero = b.Eq(y, zero);
    const auto x_negative = b.SLt(x, zero), y_negative = b.SLt(y, zero);
    const auto p = S ? b.Select(x_negative, b.Sub(zero, x), x) : x;
    const auto magnitude = S ? b.Select(y_negative, b.Sub(zero, y), y) : y;
    const auto q = b.Select(by_zero, Const<W>(b, 1), magnitude);
    if constexpr (kRemainder) {
      const auto rest = b.URem(p, q);
      return b.Select(by_zero, ones, S ? b.Select(x_negative, b.Sub(zero, rest), rest) : rest);
    } else {
      const auto quotient = b.UDiv(p, q);
      const auto negative = b.Xor(x_negative, y_negative);
      return b.Select(by_zero, ones, S ? b.Select(negative, b.Sub(zero, quotient), quotient) : quotient);
    }
  }
};

template <int W, bool S>
struct SadSemantic {
  US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y, Uint<B, W> z) {
    const auto less = S ? b.SLt(x, y) : b.ULt(x, y);
    return b.Add(z, b.Select(less, b.Sub(y, x), b.Sub(x, y)));
  }
};

// Four products of bytes, or two of halves by bytes (kHigh: the upper two of y), added to z.
template <bool kFirstSigned, bool kSecondSigned>
struct Dp4aSemantic {
  US_MEANING Run(const B& b, typename B::U32 x, typename B::U32 y, typename B::U32 z) {
    auto sum = z;
    for (uint32_t i = 0; i < 4; ++i) {
      const auto p = b.Shl(x, b.C32(24 - 8 * i)), q = b.Shl(y, b.C32(24 - 8 * i));
      sum = b.Add(sum, b.Mul(kFirstSigned ? b.Sar(p, b.C32(24)) : b.Shr(p, b.C32(24)),
                             kSecondSigned ? b.Sar(q, b.C32(24)) : b.Shr(q, b.C32(24))));
    }
    return sum;
  }
};
template <bool kFirstSigned, bool kSecondSigned, bool kHigh>
struct Dp2aSemantic {
  US_MEANING Run(const B& b, typename B::U32 x, typename B::U32 y, typename B::U32 z) {
    auto sum = z;
    for (uint32_t i = 0; i < 2; ++i) {
      const auto p = b.Shl(x, b.C32(16 - 16 * i)), q = b.Shl(y, b.C32(24 - 8 * (i + (kHigh ? 2 : 0))));
      sum = b.Add(sum, b.Mul(kFirstSigned ? b.Sar(p, b.C32(16)) : b.Shr(p, b.C32(16)),
                             kSecondSigned ? b.Sar(q, b.C32(24)) : b.Shr(q, b.C32(24))));
    }
    return sum;
  }
};

// --- extended precision: the flag is the carry, of a subtraction that of x + ~y + 1 (set: no borrow) ---
template <int W, class B>
[[gnu::always_inline]] constexpr auto SumWithCarry(const B& b, Uint<B, W> x, Uint<B, W> y, Flag<B> in) {
  const auto partial = b.Add(x, y);
  const auto sum = b.Add(partial, b.Select(in, Const<W>(b, 1), Const<W>(b, 0)));
  const auto carry = b.Or(b.ULt(partial, x), b.ULt(sum, partial));
  return WithFlag<std::decay_t<decltype(sum)>, std::decay_t<decltype(carry)>>{sum, carry};
}
template <int W>
struct AddCarrySemantic {
  US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y, Flag<B> in) { return SumWithCarry<W>(b, x, y, in); }
};
template <int W>
struct SubCarrySemantic {
  US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y, Flag<B> in) {
    return SumWithCarry<W>(b, x, b.Not(y), in);
  }
};
template <int W>
struct MadCarrySemantic {
  US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y, Uint<B, W> z, Flag<B> in) {
    return SumWithCarry<W>(b, b.Mul(x, y), z, in);
  }
};
template <int W, bool S>
struct MadHiCarrySemantic {
  US_MEANING Run(const B& b, Uint<B, W> x, Uint<B, W> y, Uint<B, W> z, Flag<B> in) {
    return SumWithCarry<W>(b, HighProduct<W, S>(b, x, y), z, in);
  }
};

}  // namespace understudy::emu::ptx
