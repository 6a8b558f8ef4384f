// SPDX-License-Identifier: Apache-2.0
// What the float kernels share that is compiled once: which set this host runs, directed roundings, and the
// exact tests for tiny results.
#include "emu/ptx/semantics/float_host.h"

#include <algorithm>
#include <cfenv>
#include <cmath>

#include "emu/ptx/core/program.h"
#include "emu/ptx/semantics/float_kernels.h"
#include "emu/ptx/semantics/float_lanes.h"
#include "emu/ptx/semantics/semantic_table.h"
#include "src/base/soft_float.h"

namespace understudy::emu::ptx {
namespace {

constexpr double kLeastNormal = 0x1p-126;

FloatKernels MakeKernels() {
  FloatKernels set;
  float_kernels_baseline::RegisterArithmetic(&set);
  float_kernels_baseline::RegisterMinMax(&set);
  float_kernels_baseline::RegisterConvert(&set);
  switch (ChosenArch()) {
    case HostArch::kAvx512:
      float_kernels_avx512::RegisterArithmetic(&set);
      float_kernels_avx512::RegisterMinMax(&set);
      float_kernels_avx512::RegisterConvert(&set);
      break;
    case HostArch::kAvx2:
      float_kernels_avx2::RegisterArithmetic(&set);
      float_kernels_avx2::RegisterMinMax(&set);
      float_kernels_avx2::RegisterConvert(&set);
      break;
    case HostArch::kBaseline:
      break;
  }
  return set;
}

}  // namespace

const FloatKernels& HostFloatKernels() {
  static const FloatKernels set = MakeKernels();
  return set;
}

ExecResult RunDirected(Warp& w, const Inst& inst) {
  const int before = std::fegetround();
  std::fesetround(static_cast<int>(inst.aux[0]));
  const ExecResult result = reinterpret_cast<ExecFn>(inst.aux[1])(w, inst);
  std::fesetround(before);
  return result;
}

int HostRounding(Round round) {
  switch (round) {
    case Round::kToZero:
      return FE_TOWARDZERO;
    case Round::kDown:
      return FE_DOWNWARD;
    case Round::kUp:
      return FE_UPWARD;
    default:
      return FE_TONEAREST;
  }
}

namespace {

// Does a magnitude below the least normal stay below it when it is rounded to 24 bits and exponents have no
// end? Only asked of what the rounding in effect made the least normal, so a directed one points away from
// zero.
bool StaysTiny(double magnitude) {
  constexpr double kHalfUnit = kLeastNormal * 0x1p-25;
  return std::fegetround() == FE_TONEAREST ? magnitude < kLeastNormal - kHalfUnit
                                           : magnitude <= kLeastNormal - 2 * kHalfUnit;
}

double FusedMagnitude(float a, float b, float c, Rounding rounding) {
  SoftContext context;
  context.rounding = rounding;
  return std::fabs(
      DoubleOf(SoftFma(formats::kF64, BitsOf(static_cast<double>(a)), BitsOf(static_cast<double>(b)),
                       BitsOf(static_cast<double>(c)), context)));
}

}  // namespace

// The product of two 24-bit significands is exact in f64, and so is the scaled divisor.
bool ProductIsTiny(float a, float b) {
  return StaysTiny(std::fabs(static_cast<double>(a) * static_cast<double>(b)));
}
// No quotient of 24-bit significands lies between 1 and the number below it.
bool QuotientIsTiny(float a, float b) {
  return std::fabs(static_cast<double>(a)) < kLeastNormal * std::fabs(static_cast<double>(b));
}
// A sum rounded toward (away from) zero lies on the side of a representable bound that excludes (includes)
// it.
bool FusedIsTiny(float a, float b, float c) {
  if (std::fegetround() == FE_TONEAREST) return StaysTiny(FusedMagnitude(a, b, c, Rounding::kToZero));
  return StaysTiny(
      std::max(FusedMagnitude(a, b, c, Rounding::kUp), FusedMagnitude(a, b, c, Rounding::kDown)));
}

}  // namespace understudy::emu::ptx
