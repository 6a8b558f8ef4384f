// SPDX-License-Identifier: Apache-2.0
// Arithmetic and comparisons for one host instruction set (US_SEMANTICS_ARCH).
#include "emu/ptx/semantics/float_kernels.h"

#include "emu/ptx/semantics/float_lanes.h"

namespace understudy::emu::ptx::US_FLOAT_KERNELS {
namespace {

template <class M>
ExecFn* Slot(FloatKernels* set, FloatOp op, FloatType type) {
  return &set->arithmetic[static_cast<int>(op)][static_cast<int>(type)][static_cast<int>(M::kClamp)]
                         [M::kFtz ? 1 : 0];
}

// Tininess matters to f32 alone: sums that are tiny are exact, and 16-bit results know it before rounding.
template <class T, class M>
constexpr TinyRule Rule(TinyRule rule) {
  return M::kFtz && T::Element::kMinNormal == Single::kMinNormal ? rule : TinyRule::kNone;
}

template <class T, class M>
void RegisterRing(FloatKernels* set, FloatType type) {
  *Slot<M>(set, FloatOp::kAdd, type) = &RunFloat<AddSemantic<M>, T, TinyRule::kNone>;
  *Slot<M>(set, FloatOp::kSub, type) = &RunFloat<SubSemantic<M>, T, TinyRule::kNone>;
  *Slot<M>(set, FloatOp::kMul, type) = &RunFloat<MulSemantic<M>, T, Rule<T, M>(TinyRule::kProduct)>;
}
template <class T, class M>
void RegisterFma(FloatKernels* set, FloatType type) {
  *Slot<M>(set, FloatOp::kFma, type) = &RunFloat<FmaSemantic<M>, T, Rule<T, M>(TinyRule::kFused)>;
}
template <class T, class M>
void RegisterDivision(FloatKernels* set, FloatType type) {
  *Slot<M>(set, FloatOp::kDiv, type) = &RunFloat<DivSemantic<M>, T, Rule<T, M>(TinyRule::kQuotient)>;
  *Slot<M>(set, FloatOp::kRcp, type) = &RunFloat<RcpSemantic<M>, T, Rule<T, M>(TinyRule::kReciprocal)>;
  *Slot<M>(set, FloatOp::kSqrt, type) = &RunFloat<SqrtSemantic<M>, T, TinyRule::kNone>;
}
template <class T, class M>
void RegisterSigns(FloatKernels* set, FloatType type) {
  *Slot<M>(set, FloatOp::kAbs, type) = &RunFloat<AbsSemantic<M>, T, TinyRule::kNone>;
  *Slot<M>(set, FloatOp::kNeg, type) = &RunFloat<NegSemantic<M>, T, TinyRule::kNone>;
}
template <class T>
void RegisterCompare(FloatKernels* set, FloatType type) {
  set->compare[static_cast<int>(type)][0] = &CompareRows<T, false>;
  set->compare[static_cast<int>(type)][1] = &CompareRows<T, true>;
}

// A scalar of 16 bits is the lower half of a pair whose upper half is 0, and stays 0: true of sums, products
// and absolute values, not of negation.
void ShareWithPairs(FloatKernels* set, FloatType scalar, FloatType pair) {
  for (auto& op : set->arithmetic) {
    for (int clamp = 0; clamp < 3; ++clamp)
      for (int ftz = 0; ftz < 2; ++ftz)
        op[static_cast<int>(scalar)][clamp][ftz] = op[static_cast<int>(pair)][clamp][ftz];
  }
}

template <bool kFtz>
void RegisterFlushable(FloatKernels* set) {
  using Plain = Modifiers<kFtz, Clamp::kNone>;
  using Sat = Modifiers<kFtz, Clamp::kSaturate>;
  using Relu = Modifiers<kFtz, Clamp::kRelu>;
  RegisterRing<F32, Plain>(set, FloatType::kF32);
  RegisterRing<F32, Sat>(set, FloatType::kF32);
  RegisterFma<F32, Plain>(set, FloatType::kF32);
  RegisterFma<F32, Sat>(set, FloatType::kF32);
  RegisterDivision<F32, Plain>(set, FloatType::kF32);
  RegisterSigns<F32, Plain>(set, FloatType::kF32);
  RegisterRing<F32x2, Plain>(set, FloatType::kF32x2);
  RegisterFma<F32x2, Plain>(set, FloatType::kF32x2);
  RegisterRing<F16x2, Plain>(set, FloatType::kF16x2);
  RegisterRing<F16x2, Sat>(set, FloatType::kF16x2);
  RegisterFma<F16x2, Plain>(set, FloatType::kF16x2);
  RegisterFma<F16x2, Sat>(set, FloatType::kF16x2);
  RegisterFma<F16x2, Relu>(set, FloatType::kF16x2);
  RegisterSigns<F16x2, Plain>(set, FloatType::kF16x2);
}

}  // namespace

void RegisterArithmetic(FloatKernels* set) {
  using Plain = Modifiers<false, Clamp::kNone>;
  using Flushing = Modifiers<true, Clamp::kNone>;
  using Relu = Modifiers<false, Clamp::kRelu>;
  RegisterFlushable<false>(set);
  RegisterFlushable<true>(set);
  RegisterRing<F64, Plain>(set, FloatType::kF64);
  RegisterFma<F64, Plain>(set, FloatType::kF64);
  RegisterDivision<F64, Plain>(set, FloatType::kF64);
  RegisterSigns<F64, Plain>(set, FloatType::kF64);
  RegisterRing<BF16x2, Plain>(set, FloatType::kBf16x2);
  RegisterFma<BF16x2, Plain>(set, FloatType::kBf16x2);
  RegisterFma<BF16x2, Relu>(set, FloatType::kBf16x2);
  RegisterSigns<BF16x2, Plain>(set, FloatType::kBf16x2);
  *Slot<Plain>(set, FloatOp::kFmaOob, FloatType::kF16x2) =
      &RunFloat<FmaOobSemantic<Plain>, F16x2, TinyRule::kNone>;
  *Slot<Relu>(set, FloatOp::kFmaOob, FloatType::kF16x2) =
      &RunFloat<FmaOobSemantic<Relu>, F16x2, TinyRule::kNone>;
  *Slot<Plain>(set, FloatOp::kFmaOob, FloatType::kBf16x2) =
      &RunFloat<FmaOobSemantic<Plain>, BF16x2, TinyRule::kNone>;
  *Slot<Relu>(set, FloatOp::kFmaOob, FloatType::kBf16x2) =
      &RunFloat<FmaOobSemantic<Relu>, BF16x2, TinyRule::kNone>;
  *Slot<Plain>(set, FloatOp::kCopySign, FloatType::kF32) =
      &RunFloat<CopySignSemantic<Plain>, F32, TinyRule::kNone>;
  *Slot<Plain>(set, FloatOp::kCopySign, FloatType::kF64) =
      &RunFloat<CopySignSemantic<Plain>, F64, TinyRule::kNone>;
  ShareWithPairs(set, FloatType::kF16, FloatType::kF16x2);
  ShareWithPairs(set, FloatType::kBf16, FloatType::kBf16x2);
  *Slot<Plain>(set, FloatOp::kNeg, FloatType::kF16) = &RunFloat<NegSemantic<Plain>, F16, TinyRule::kNone>;
  *Slot<Flushing>(set, FloatOp::kNeg, FloatType::kF16) =
      &RunFloat<NegSemantic<Flushing>, F16, TinyRule::kNone>;
  *Slot<Plain>(set, FloatOp::kNeg, FloatType::kBf16) = &RunFloat<NegSemantic<Plain>, BF16, TinyRule::kNone>;
  RegisterCompare<F32>(set, FloatType::kF32);
  RegisterCompare<F64>(set, FloatType::kF64);
  RegisterCompare<F16>(set, FloatType::kF16);
  RegisterCompare<F16x2>(set, FloatType::kF16x2);
  RegisterCompare<BF16>(set, FloatType::kBf16);
  RegisterCompare<BF16x2>(set, FloatType::kBf16x2);
}

}  // namespace understudy::emu::ptx::US_FLOAT_KERNELS
