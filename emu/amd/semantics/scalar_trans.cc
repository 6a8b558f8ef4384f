// SPDX-License-Identifier: Apache-2.0
// RDNA4's transcendental functions of a scalar (RDNA4 ISA, "Pseudo-scalar transcendentals"): the vector unit
// computes one value from scalar sources into a scalar register, whatever EXEC says. A 16-bit result leaves
// zeros above it.

#include "emu/amd/semantics/lane_math.h"
#include "emu/amd/semantics/operands.h"
#include "emu/amd/semantics/vector_table.h"
#include "emu/amd/semantics/wave_ops.h"

namespace understudy::emu::amd {
namespace {

using Math = LaneMath<false>;

// One lane of staged values, with the modifiers of the vector instructions.
template <class Function>
ExecResult Evaluate(const Inst& inst, WaveState& wave, SrcKind source, DstKind result, Function function) {
  LaneBuffers buffers;
  const uint32_t* words[4];
  uint64_t written = ~uint64_t{0};
  StageModified(inst, 0, source, wave, HostKernels(), buffers.src[0], words, &written);
  const FpMode mode = ModeOf(wave);
  buffers.dst[0][0] = function(Math(mode), words[0][0]);
  ApplyOutputModifiers(result, inst.omod, inst.clamp, mode, 1, &buffers);
  if (inst.dst[0].reg != kRegNull) wave.sgpr[inst.dst[0].reg & 127] = buffers.dst[0][0];
  return ExecResult::kNext;
}
template <float (*kFunction)(const Math&, float)>
ExecResult Single(const Inst& inst, WaveState& wave) {
  return Evaluate(inst, wave, SrcKind::kF32, DstKind::kF32,
                  [](const Math& math, uint32_t word) { return BitsOf(kFunction(math, FloatOf(word))); });
}
template <Half (*kFunction)(const Math&, Half)>
ExecResult HalfPrecision(const Inst& inst, WaveState& wave) {
  return Evaluate(inst, wave, SrcKind::kF16, DstKind::kF16, [](const Math& math, uint32_t word) {
    return uint32_t{kFunction(math, Half{static_cast<uint16_t>(word)}).bits};
  });
}

template <class F>
F Exp(const Math& math, F x) {
  return math.FExp2(x);
}
template <class F>
F Log(const Math& math, F x) {
  return math.FLog2(x);
}
template <class F>
F Rcp(const Math& math, F x) {
  return math.FRcp(x);
}
template <class F>
F Rsq(const Math& math, F x) {
  return math.FRsq(x);
}
template <class F>
F Sqrt(const Math& math, F x) {
  return math.FSqrt(x);
}

}  // namespace

ExecResult ScalarTransExpF32(const Inst& inst, WaveState& wave) { return Single<Exp<float>>(inst, wave); }
ExecResult ScalarTransLogF32(const Inst& inst, WaveState& wave) { return Single<Log<float>>(inst, wave); }
ExecResult ScalarTransRcpF32(const Inst& inst, WaveState& wave) { return Single<Rcp<float>>(inst, wave); }
ExecResult ScalarTransRsqF32(const Inst& inst, WaveState& wave) { return Single<Rsq<float>>(inst, wave); }
ExecResult ScalarTransSqrtF32(const Inst& inst, WaveState& wave) { return Single<Sqrt<float>>(inst, wave); }
ExecResult ScalarTransExpF16(const Inst& inst, WaveState& wave) {
  return HalfPrecision<Exp<Half>>(inst, wave);
}
ExecResult ScalarTransLogF16(const Inst& inst, WaveState& wave) {
  return HalfPrecision<Log<Half>>(inst, wave);
}
ExecResult ScalarTransRcpF16(const Inst& inst, WaveState& wave) {
  return HalfPrecision<Rcp<Half>>(inst, wave);
}
ExecResult ScalarTransRsqF16(const Inst& inst, WaveState& wave) {
  return HalfPrecision<Rsq<Half>>(inst, wave);
}
ExecResult ScalarTransSqrtF16(const Inst& inst, WaveState& wave) {
  return HalfPrecision<Sqrt<Half>>(inst, wave);
}

}  // namespace understudy::emu::amd
