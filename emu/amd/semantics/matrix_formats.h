// SPDX-License-Identifier: Apache-2.0
#pragma once
// The values of 8-, 6- and 4-bit floats and of E8M0 scales, as tables. Used by the matrix executors; exact in
// f32 and f64.

#include <cstdint>

namespace understudy::emu::amd {

struct MatrixFloat {
  int bits;
  int exponent_bits, fraction_bits, bias;
  enum class Specials : uint8_t { kNone, kIeee, kOnlyNan, kFnuz } specials;
  int min_exponent() const { return 1 - bias; }
};

// OCP 8-bit floating point specification (E4M3 has no infinity), OCP microscaling formats (6 and 4 bits have
// neither infinity nor NaN), and the FNUZ variants of gfx942, whose only special value is 0x80, a NaN.
inline constexpr MatrixFloat kOcpFp8 = {8, 4, 3, 7, MatrixFloat::Specials::kOnlyNan};
inline constexpr MatrixFloat kOcpBf8 = {8, 5, 2, 15, MatrixFloat::Specials::kIeee};
inline constexpr MatrixFloat kFnuzFp8 = {8, 4, 3, 8, MatrixFloat::Specials::kFnuz};
inline constexpr MatrixFloat kFnuzBf8 = {8, 5, 2, 16, MatrixFloat::Specials::kFnuz};
inline constexpr MatrixFloat kFp6 = {6, 2, 3, 1, MatrixFloat::Specials::kNone};
inline constexpr MatrixFloat kBf6 = {6, 3, 2, 3, MatrixFloat::Specials::kNone};
inline constexpr MatrixFloat kFp4 = {4, 2, 1, 1, MatrixFloat::Specials::kNone};

// 2^bits values, one table a format; `format` is one of the constants above.
const float* MatrixFloatTable(const MatrixFloat& format);

// 2^(code - 127); 255 is a NaN.
double ScaleValue(uint32_t code);

}  // namespace understudy::emu::amd
