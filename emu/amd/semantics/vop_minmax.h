// SPDX-License-Identifier: Apache-2.0
#pragma once
// The minima and maxima of IEEE 754-2019 that RDNA4 and CDNA4 have: MIN_NUM and MAX_NUM prefer a number to a NaN, MINIMUM
// and MAXIMUM pass NaNs on. RDNA4 ISA, "VOP2", "VOP3" and "VOP3P Instructions".

namespace understudy::emu::amd {

// clang-format off: an instruction a line

#define US_FLOAT_BINARY(name, expression)                                          \
  template <class B> constexpr void name##F16(B& b) {                              \
    const auto x = b.SrcF16(0), y = b.SrcF16(1);                                   \
    b.DstF16(expression);                                                          \
  }                                                                                \
  template <class B> constexpr void name##F32(B& b) {                              \
    const auto x = b.SrcF32(0), y = b.SrcF32(1);                                   \
    b.DstF32(expression);                                                          \
  }                                                                                \
  template <class B> constexpr void name##F64(B& b) {                              \
    const auto x = b.SrcF64(0), y = b.SrcF64(1);                                   \
    b.DstF64(expression);                                                          \
  }
US_FLOAT_BINARY(VMinNum, b.FMinNum(x, y))
US_FLOAT_BINARY(VMaxNum, b.FMaxNum(x, y))
US_FLOAT_BINARY(VMinimum, b.FMinimum(x, y))
US_FLOAT_BINARY(VMaximum, b.FMaximum(x, y))
#undef US_FLOAT_BINARY

// With a NaN among them the smallest number, else what is left when the largest goes.
template <class B, class F> constexpr F Med3Num(B& b, F x, F y, F z) {
  const auto nan = b.Or(b.Or(b.IsNan(x), b.IsNan(y)), b.IsNan(z));
  const auto largest = b.FMaxNum(b.FMaxNum(x, y), z);
  const auto without_x = b.FMaxNum(y, z), without_y = b.FMaxNum(x, z), without_z = b.FMaxNum(x, y);
  const auto rest = b.Select(b.FEq(largest, x), without_x, b.Select(b.FEq(largest, y), without_y, without_z));
  return b.Select(nan, b.FMinNum(b.FMinNum(x, y), z), rest);
}

#define US_FLOAT_TERNARY(name, expression)                                              \
  template <class B> constexpr void name##F16(B& b) {                                   \
    const auto x = b.SrcF16(0), y = b.SrcF16(1), z = b.SrcF16(2);                       \
    b.DstF16(expression);                                                               \
  }                                                                                     \
  template <class B> constexpr void name##F32(B& b) {                                   \
    const auto x = b.SrcF32(0), y = b.SrcF32(1), z = b.SrcF32(2);                       \
    b.DstF32(expression);                                                               \
  }
US_FLOAT_TERNARY(VMin3Num, b.FMinNum(b.FMinNum(x, y), z))
US_FLOAT_TERNARY(VMax3Num, b.FMaxNum(b.FMaxNum(x, y), z))
US_FLOAT_TERNARY(VMed3Num, Med3Num(b, x, y, z))
US_FLOAT_TERNARY(VMinmaxNum, b.FMaxNum(b.FMinNum(x, y), z))
US_FLOAT_TERNARY(VMaxminNum, b.FMinNum(b.FMaxNum(x, y), z))
US_FLOAT_TERNARY(VMinimum3, b.FMinimum(b.FMinimum(x, y), z))
US_FLOAT_TERNARY(VMaximum3, b.FMaximum(b.FMaximum(x, y), z))
US_FLOAT_TERNARY(VMinimummaximum, b.FMaximum(b.FMinimum(x, y), z))
US_FLOAT_TERNARY(VMaximumminimum, b.FMinimum(b.FMaximum(x, y), z))
#undef US_FLOAT_TERNARY

#define US_PK_FLOAT(name, expression)                                                                   \
  template <class B> constexpr auto name##Half(B& b, int half) {                                        \
    const auto x = b.SrcPkF16(0, half), y = b.SrcPkF16(1, half);                                        \
    return expression;                                                                                  \
  }                                                                                                     \
  template <class B> constexpr void name(B& b) { b.DstPkF16(name##Half(b, 0), name##Half(b, 1)); }
US_PK_FLOAT(VPkMinNumF16, b.FMinNum(x, y))
US_PK_FLOAT(VPkMaxNumF16, b.FMaxNum(x, y))
US_PK_FLOAT(VPkMinimumF16, b.FMinimum(x, y))
US_PK_FLOAT(VPkMaximumF16, b.FMaximum(x, y))
US_PK_FLOAT(VPkMinimum3F16, b.FMinimum(b.FMinimum(x, y), b.SrcPkF16(2, half)))
US_PK_FLOAT(VPkMaximum3F16, b.FMaximum(b.FMaximum(x, y), b.SrcPkF16(2, half)))
#undef US_PK_FLOAT

// clang-format on
}  // namespace understudy::emu::amd
