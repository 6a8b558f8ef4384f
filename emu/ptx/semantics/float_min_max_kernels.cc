// SPDX-License-Identifier: Apache-2.0
// min and max for one host instruction set (US_SEMANTICS_ARCH).
#include "emu/ptx/semantics/float_kernels.h"
#include "emu/ptx/semantics/float_lanes.h"

namespace understudy::emu::ptx::US_FLOAT_KERNELS {
namespace {

template <class T, bool kMax, bool kNan, MinMaxSign kSign, bool kFtz>
void RegisterOne(FloatKernels* set, FloatType type) {
  using M = Modifiers<kFtz, Clamp::kNone>;
  set->min_max[static_cast<int>(type)][kMax][kNan][static_cast<int>(kSign)][kFtz] =
      &RunFloat<MinMaxSemantic<M, kMax, kNan, kSign>, T, TinyRule::kNone>;
}
template <class T, bool kMax, bool kFtz>
void RegisterForms(FloatKernels* set, FloatType type) {
  RegisterOne<T, kMax, false, MinMaxSign::kPlain, kFtz>(set, type);
  RegisterOne<T, kMax, true, MinMaxSign::kPlain, kFtz>(set, type);
  RegisterOne<T, kMax, false, MinMaxSign::kXorSign, kFtz>(set, type);
  RegisterOne<T, kMax, true, MinMaxSign::kXorSign, kFtz>(set, type);
}
template <bool kMax, bool kNan, MinMaxSign kSign, bool kFtz>
void RegisterThree(FloatKernels* set) {
  using M = Modifiers<kFtz, Clamp::kNone>;
  set->min_max3[kMax][kNan][static_cast<int>(kSign)][kFtz] =
      &RunFloat<MinMax3Semantic<M, kMax, kNan, kSign>, F32, TinyRule::kNone>;
}
template <bool kMax, bool kFtz>
void RegisterThreeForms(FloatKernels* set) {
  RegisterThree<kMax, false, MinMaxSign::kPlain, kFtz>(set);
  RegisterThree<kMax, true, MinMaxSign::kPlain, kFtz>(set);
  RegisterThree<kMax, false, MinMaxSign::kAbs, kFtz>(set);
  RegisterThree<kMax, true, MinMaxSign::kAbs, kFtz>(set);
}

template <bool kMax>
void RegisterDirection(FloatKernels* set) {
  RegisterForms<F32, kMax, false>(set, FloatType::kF32);
  RegisterForms<F32, kMax, true>(set, FloatType::kF32);
  RegisterForms<F16x2, kMax, false>(set, FloatType::kF16x2);
  RegisterForms<F16x2, kMax, true>(set, FloatType::kF16x2);
  RegisterForms<BF16x2, kMax, false>(set, FloatType::kBf16x2);
  RegisterOne<F64, kMax, false, MinMaxSign::kPlain, false>(set, FloatType::kF64);
  RegisterThreeForms<kMax, false>(set);
  RegisterThreeForms<kMax, true>(set);
}

}  // namespace

void RegisterMinMax(FloatKernels* set) {
  RegisterDirection<false>(set);
  RegisterDirection<true>(set);
  // The upper halves of scalars are 0 and stay so.
  for (int max = 0; max < 2; ++max)
    for (int nan = 0; nan < 2; ++nan)
      for (int sign = 0; sign < 3; ++sign)
        for (int ftz = 0; ftz < 2; ++ftz) {
          const auto share = [&](FloatType scalar, FloatType pair) {
            set->min_max[static_cast<int>(scalar)][max][nan][sign][ftz] =
                set->min_max[static_cast<int>(pair)][max][nan][sign][ftz];
          };
          share(FloatType::kF16, FloatType::kF16x2);
          share(FloatType::kBf16, FloatType::kBf16x2);
        }
}

}  // namespace understudy::emu::ptx::US_FLOAT_KERNELS
