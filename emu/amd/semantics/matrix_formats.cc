// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/matrix_formats.h"

#include <array>
#include <cmath>
#include <limits>

namespace understudy::emu::amd {
namespace {

float ValueOf(const MatrixFloat& f, uint32_t code) {
  using Specials = MatrixFloat::Specials;
  const uint32_t magnitude = code & ((1u << (f.bits - 1)) - 1);
  const bool negative = code != magnitude;
  const uint32_t fraction = magnitude & ((1u << f.fraction_bits) - 1), field = magnitude >> f.fraction_bits;
  const bool top = field == (1u << f.exponent_bits) - 1;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (f.specials == Specials::kFnuz && negative && magnitude == 0) return kNan;
  if (f.specials == Specials::kOnlyNan && magnitude == (1u << (f.bits - 1)) - 1) return kNan;
  if (f.specials == Specials::kIeee && top) {
    if (fraction != 0) return kNan;
    return negative ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
  }
  const int exponent = (field == 0 ? 1 : static_cast<int>(field)) - f.bias - f.fraction_bits;
  const uint32_t significand = field == 0 ? fraction : fraction | 1u << f.fraction_bits;
  const float v = std::ldexp(static_cast<float>(significand), exponent);
  return negative ? -v : v;
}

using Table = std::array<float, 256>;
Table MakeTable(const MatrixFloat& f) {
  Table t = {};
  for (uint32_t code = 0; code < 1u << f.bits; ++code) t[code] = ValueOf(f, code);
  return t;
}

}  // namespace

const float* MatrixFloatTable(const MatrixFloat& format) {
  static const Table ocp_fp8 = MakeTable(kOcpFp8), ocp_bf8 = MakeTable(kOcpBf8),
                     fnuz_fp8 = MakeTable(kFnuzFp8), fnuz_bf8 = MakeTable(kFnuzBf8), fp6 = MakeTable(kFp6),
                     bf6 = MakeTable(kBf6), fp4 = MakeTable(kFp4);
  if (&format == &kOcpFp8) return ocp_fp8.data();
  if (&format == &kOcpBf8) return ocp_bf8.data();
  if (&format == &kFnuzFp8) return fnuz_fp8.data();
  if (&format == &kFnuzBf8) return fnuz_bf8.data();
  if (&format == &kFp6) return fp6.data();
  return &format == &kBf6 ? bf6.data() : fp4.data();
}

double ScaleValue(uint32_t code) {
  return code == 255 ? std::numeric_limits<double>::quiet_NaN()
                     : std::ldexp(1.0, static_cast<int>(code) - 127);
}

}  // namespace understudy::emu::amd
