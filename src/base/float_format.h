// SPDX-License-Identifier: Apache-2.0
#pragma once
// Binary floating-point formats as data, with conversion to and from double that rounds once. Used by dtype,
// the soft-float reference and the emulators. Every format's values are exactly representable as double.

#include <cstdint>
#include <string>

namespace understudy {

enum class NanEncoding : uint8_t { kIeee, kAllOnes, kNegativeZero, kNoNan };

struct FloatFormat {
  const char* name;
  int exp_bits, man_bits, bias;
  bool has_inf;
  NanEncoding nan;
  bool has_neg_zero;

  constexpr int bits() const { return 1 + exp_bits + man_bits; }
  constexpr uint64_t sign_mask() const { return uint64_t{1} << (exp_bits + man_bits); }
  constexpr uint64_t man_mask() const { return (uint64_t{1} << man_bits) - 1; }
  constexpr uint64_t exp_mask() const { return ((uint64_t{1} << exp_bits) - 1) << man_bits; }
  // The least exponent of a normal number: value = 1.m * 2^min_exp().
  constexpr int min_exp() const { return 1 - bias; }
  // The pattern of +inf (has_inf only), of the largest finite magnitude, and of the canonical quiet NaN.
  constexpr uint64_t inf_bits() const { return exp_mask(); }
  constexpr uint64_t max_bits() const {
    return nan == NanEncoding::kIeee      ? exp_mask() - 1
           : nan == NanEncoding::kAllOnes ? (exp_mask() | man_mask()) - 1
                                          : (exp_mask() | man_mask());
  }
  // kNoNan formats have none: the caller must not ask (returns the largest finite magnitude).
  constexpr uint64_t nan_bits() const {
    return nan == NanEncoding::kIeee           ? exp_mask() | (uint64_t{1} << (man_bits - 1))
           : nan == NanEncoding::kAllOnes      ? exp_mask() | man_mask()
           : nan == NanEncoding::kNegativeZero ? sign_mask()
                                               : max_bits();
  }
  bool IsNan(uint64_t bits) const;
  bool IsInf(uint64_t bits) const { return has_inf && (bits & ~sign_mask()) == inf_bits(); }
};

#define FLOAT_FORMAT(id, name, e, m, bias, inf, nan, neg_zero) \
  inline constexpr FloatFormat id{name, e, m, bias, inf, NanEncoding::nan, neg_zero};
namespace formats {
#include "src/base/float_formats.inc"
}
#undef FLOAT_FORMAT

// The format with this name, or nullptr.
const FloatFormat* FindFloatFormat(const std::string& name);

enum class Rounding : uint8_t { kNearestEven, kToZero, kUp, kDown };
// What a result beyond the largest finite value becomes: infinity under the rounding mode's usual rule (NaN
// where the format has no infinity, the largest value where it has neither), or always the largest finite
// value. kSaturate applies to infinite inputs too.
enum class Overflow : uint8_t { kInf, kSaturate };
// Denormal handling: kFlushIn reads denormal inputs as signed zero, kFlushOut turns denormal results to
// signed zero.
enum class DenormMode : uint8_t { kKeep = 0, kFlushIn = 1, kFlushOut = 2, kFlushBoth = 3 };

// The exact value of `bits` (right-aligned; upper bits ignored). Signalling NaNs come back quiet.
double DecodeFloat(const FloatFormat& format, uint64_t bits);

// `value` in `format`, rounded once. NaN gives nan_bits() with the input's sign where the format keeps signs.
// Flushing of a denormal result happens after rounding.
uint64_t EncodeFloat(const FloatFormat& format, double value, Rounding rounding = Rounding::kNearestEven,
                     Overflow overflow = Overflow::kInf, DenormMode denorm = DenormMode::kKeep);

}  // namespace understudy
