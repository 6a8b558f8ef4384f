// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exact software arithmetic on float bit patterns under any rounding and denormal mode: the reference that
// the fast paths of the emulators are tested against, and what they use outside round-to-nearest. Values are
// bit patterns right-aligned in uint64_t. Works for every IEEE-like format of float_formats.inc up to f64.
//
// NaN rule: a NaN operand gives that operand's quieted payload (the first NaN in operand order); an invalid
// operation gives the format's canonical quiet NaN (positive). Formats without infinity overflow to NaN, or
// to the largest finite value where they have no NaN either.

#include <cstdint>

#include "src/base/float_format.h"

namespace understudy {

struct SoftContext {
  Rounding rounding = Rounding::kNearestEven;
  DenormMode denorm = DenormMode::kKeep;
  Overflow overflow = Overflow::kInf;
};

uint64_t SoftAdd(const FloatFormat& f, uint64_t a, uint64_t b, SoftContext ctx = {});
uint64_t SoftSub(const FloatFormat& f, uint64_t a, uint64_t b, SoftContext ctx = {});
uint64_t SoftMul(const FloatFormat& f, uint64_t a, uint64_t b, SoftContext ctx = {});
// a * b + c, rounded once.
uint64_t SoftFma(const FloatFormat& f, uint64_t a, uint64_t b, uint64_t c, SoftContext ctx = {});
uint64_t SoftDiv(const FloatFormat& f, uint64_t a, uint64_t b, SoftContext ctx = {});
uint64_t SoftSqrt(const FloatFormat& f, uint64_t a, SoftContext ctx = {});

// Between formats; NaN payloads keep their leading bits, quieted. Input flushing uses `from`'s denormals,
// output flushing `to`'s.
uint64_t SoftConvert(const FloatFormat& from, const FloatFormat& to, uint64_t a, SoftContext ctx = {});

// Integers to float.
uint64_t SoftFromInt(const FloatFormat& f, int64_t v, SoftContext ctx = {});
uint64_t SoftFromUint(const FloatFormat& f, uint64_t v, SoftContext ctx = {});
// Float to integer of `width` bits (1..64), rounded by ctx.rounding, saturating; NaN gives 0.
int64_t SoftToInt(const FloatFormat& f, uint64_t a, int width, SoftContext ctx = {});
uint64_t SoftToUint(const FloatFormat& f, uint64_t a, int width, SoftContext ctx = {});
// To an integral value in the same format (trunc, floor, ceil, rndne by ctx.rounding); keeps the sign of
// zero.
uint64_t SoftRoundToIntegral(const FloatFormat& f, uint64_t a, SoftContext ctx = {});

}  // namespace understudy
