// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the float instructions of PTX mean, as templates over a builder (design: semantics are written once).
// A builder gives operands and results of one element in one lane and the arithmetic between them; the
// interpreter's is float_lanes.h. Manual: PTX ISA, "Floating Point Instructions", "Half Precision Floating
// Point Instructions", "Mixed Precision Floating Point Instructions".
//
// M: the modifiers (Modifiers<ftz, clamp>). `Finish` rounds into the format, flushes, clamps and makes NaNs
// canonical; its numbers name the operands whose NaN an f64 result carries on, in order.

#include "emu/ptx/semantics/float_bits.h"

namespace understudy::emu::ptx {

template <bool kFlush, Clamp kClampTo>
struct Modifiers {
  static constexpr bool kFtz = kFlush;
  static constexpr Clamp kClamp = kClampTo;
};

template <class M>
struct AddSemantic {
  static constexpr int kSources = 2;
  template <class B>
  [[gnu::always_inline]] static auto Run(const B& b) {
    return b.template Finish<M, 1, 0>(b.Add(b.template In<M>(0), b.template In<M>(1)));
  }
};
template <class M>
struct SubSemantic {
  static constexpr int kSources = 2;
  template <class B>
  [[gnu::always_inline]] static auto Run(const B& b) {
    return b.template Finish<M, 1, 0>(b.Sub(b.template In<M>(0), b.template In<M>(1)));
  }
};
template <class M>
struct MulSemantic {
  static constexpr int kSources = 2;
  template <class B>
  [[gnu::always_inline]] static auto Run(const B& b) {
    return b.template Finish<M, 1, 0>(b.Mul(b.template In<M>(0), b.template In<M>(1)));
  }
};
template <class M>
struct FmaSemantic {
  static constexpr int kSources = 3;
  template <class B>
  [[gnu::always_inline]] static auto Run(const B& b) {
    return b.template Finish<M, 1, 2, 0>(
        b.Fma(b.template In<M>(0), b.template In<M>(1), b.template In<M>(2)));
  }
};
template <class M>
struct DivSemantic {
  static constexpr int kSources = 2;
  template <class B>
  [[gnu::always_inline]] static auto Run(const B& b) {
    return b.template Finish<M, 0, 1>(b.Div(b.template In<M>(0), b.template In<M>(1)));
  }
};
template <class M>
struct RcpSemantic {
  static constexpr int kSources = 1;
  template <class B>
  [[gnu::always_inline]] static auto Run(const B& b) {
    return b.template Finish<M, 0>(b.Div(b.One(), b.template In<M>(0)));
  }
};
template <class M>
struct SqrtSemantic {
  static constexpr int kSources = 1;
  template <class B>
  [[gnu::always_inline]] static auto Run(const B& b) {
    return b.template Finish<M, 0>(b.Sqrt(b.template In<M>(0)));
  }
};

// fma.oob: an out-of-bounds NaN (what a tensor copy fills with) in a factor makes the result +0.
template <class M>
struct FmaOobSemantic {
  static constexpr int kSources = 3;
  template <class B>
  [[gnu::always_inline]] static auto Run(const B& b) {
    return b.Select(b.IsOutOfBounds(0) | b.IsOutOfBounds(1), b.Zero(), FmaSemantic<M>::Run(b));
  }
};

// abs and neg answer NaN for NaN in the format's own way.
template <class M>
struct AbsSemantic {
  static constexpr int kSources = 1;
  template <class B>
  [[gnu::always_inline]] static auto Run(const B& b) {
    return b.UnlessNan(b.template Bits<M>(0), b.WithoutSign(b.template Bits<M>(0)));
  }
};
template <class M>
struct NegSemantic {
  static constexpr int kSources = 1;
  template <class B>
  [[gnu::always_inline]] static auto Run(const B& b) {
    return b.UnlessNan(b.template Bits<M>(0), b.FlippedSign(b.template Bits<M>(0)));
  }
};

// kXorSign: the magnitudes are compared and the sign is that of the product. kAbs: magnitudes only.
enum class MinMaxSign : uint8_t { kPlain, kXorSign, kAbs };

template <class M, bool kMax, bool kNan, MinMaxSign kSign>
struct MinMaxSemantic {
  static constexpr int kSources = 2;
  template <class B>
  [[gnu::always_inline]] static auto Run(const B& b) {
    return Of(b, b.template Bits<M>(0), b.template Bits<M>(1));
  }
  template <class B, class V>
  [[gnu::always_inline]] static V Of(const B& b, V x, V y) {
    const V sign = b.SignOfProduct(x, y);
    const V p = kSign == MinMaxSign::kPlain ? x : b.WithoutSign(x);
    const V q = kSign == MinMaxSign::kPlain ? y : b.WithoutSign(y);
    const V chosen = b.Select(b.Below(p, q) != kMax, p, q);
    const V number = b.Select(b.IsNan(p), q, b.Select(b.IsNan(q), p, chosen));
    const V result = kSign == MinMaxSign::kXorSign ? b.WithSign(number, sign) : number;
    const auto no_number = kNan ? b.IsNan(p) | b.IsNan(q) : b.IsNan(p) & b.IsNan(q);
    return b.Select(no_number, b.NanOf(y), result);
  }
};

// Three operands (sm_100): the two-operand rule twice.
template <class M, bool kMax, bool kNan, MinMaxSign kSign>
struct MinMax3Semantic {
  static constexpr int kSources = 3;
  template <class B>
  [[gnu::always_inline]] static auto Run(const B& b) {
    using Two = MinMaxSemantic<M, kMax, kNan, kSign>;
    return Two::Of(b, Two::Of(b, b.template Bits<M>(0), b.template Bits<M>(1)), b.template Bits<M>(2));
  }
};

// The magnitude of the second operand with the sign of the first; NaNs are bits like any other.
template <class M>
struct CopySignSemantic {
  static constexpr int kSources = 2;
  template <class B>
  [[gnu::always_inline]] static auto Run(const B& b) {
    return b.WithSign(b.WithoutSign(b.template Bits<M>(1)), b.SignOf(b.template Bits<M>(0)));
  }
};

}  // namespace understudy::emu::ptx
