// SPDX-License-Identifier: Apache-2.0
#include "src/base/float_format.h"

#include <bit>
#include <cmath>
#include <limits>

#include "src/base/soft_float.h"

namespace understudy {

bool FloatFormat::IsNan(uint64_t bits) const {
  const uint64_t mag = bits & (sign_mask() - 1);
  switch (nan) {
    case NanEncoding::kIeee:
      return mag > exp_mask();
    case NanEncoding::kAllOnes:
      return mag == (exp_mask() | man_mask());
    case NanEncoding::kNegativeZero:
      return (bits & (sign_mask() | (sign_mask() - 1))) == sign_mask();
    case NanEncoding::kNoNan:
      return false;
  }
  return false;
}

const FloatFormat* FindFloatFormat(const std::string& name) {
  static constexpr const FloatFormat* kAll[] = {
#define FLOAT_FORMAT(id, text, e, m, bias, inf, nan, neg_zero) &formats::id,
#include "src/base/float_formats.inc"
#undef FLOAT_FORMAT
  };
  for (const FloatFormat* f : kAll) {
    if (name == f->name) return f;
  }
  return nullptr;
}

double DecodeFloat(const FloatFormat& f, uint64_t bits) {
  const bool negative = bits & f.sign_mask();
  if (f.IsNan(bits)) {
    return std::copysign(std::numeric_limits<double>::quiet_NaN(),
                         negative && f.nan != NanEncoding::kNegativeZero ? -1.0 : 1.0);
  }
  if (f.IsInf(bits))
    return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const int exponent = static_cast<int>((bits & f.exp_mask()) >> f.man_bits);
  uint64_t man = bits & f.man_mask();
  if (exponent != 0) man |= f.man_mask() + 1;
  const double mag =
      std::ldexp(static_cast<double>(man), (exponent ? exponent - f.bias : f.min_exp()) - f.man_bits);
  return negative ? -mag : mag;
}

uint64_t EncodeFloat(const FloatFormat& f, double value, Rounding rounding, Overflow overflow,
                     DenormMode denorm) {
  return SoftConvert(formats::kF64, f, std::bit_cast<uint64_t>(value), {rounding, denorm, overflow});
}

}  // namespace understudy
