// SPDX-License-Identifier: Apache-2.0
// Parameter interpolation (RDNA3 ISA, "VINTERP Instructions"): fused multiply-adds whose sources 0 and 2 come
// from fixed lanes of each quad, whatever EXEC says about those lanes. What a pixel shader's LDS loads would
// have put into the registers is the caller's matter.

#include <cstdint>

#include "emu/amd/semantics/lane_math.h"
#include "emu/amd/semantics/operands.h"
#include "emu/amd/semantics/vector_table.h"
#include "emu/amd/semantics/wave_ops.h"

namespace understudy::emu::amd {
namespace {

constexpr int kOwnLane = -1;

// How one of the instructions reads and writes.
struct Form {
  int quad_lane0, quad_lane2;  // lane of the quad that sources 0 and 2 read, or kOwnLane
  bool half0, half2;           // f16 sources, chosen by op_sel
  bool half_result;
  bool toward_zero;
};

float Source(const Inst& inst, int i, int lane, bool is_half, const WaveState& wave,
             const LaneMath<false>& math) {
  const uint32_t word = wave.Vgpr(inst.src[i].reg)[lane];
  const uint32_t half = ((inst.op_sel >> i) & 1) != 0 ? word >> 16 : word & 0xffffu;
  const float v = is_half ? math.F32FromF16(Half{static_cast<uint16_t>(half)}) : FloatOf(word);
  return ((inst.neg >> i) & 1) != 0 ? math.FNeg(v) : v;
}

ExecResult Interpolate(const Inst& inst, WaveState& wave, const Form& form) {
  FpMode mode = ModeOf(wave);
  if (form.toward_zero) mode.round32 = mode.round16_64 = Round::kToZero;
  const LaneMath<false> math(mode);
  LaneBuffers buffers;
  for (int lane = 0; lane < wave.wave_size; ++lane) {
    const int quad = lane & ~3;
    const int lane0 = quad + form.quad_lane0,
              lane2 = form.quad_lane2 == kOwnLane ? lane : quad + form.quad_lane2;
    const float a = Source(inst, 0, lane0, form.half0, wave, math),
                b = Source(inst, 1, lane, false, wave, math),
                c = Source(inst, 2, lane2, form.half2, wave, math);
    buffers.dst[0][lane] = form.half_result ? math.FFmaTo16(a, b, c).bits : BitsOf(math.FFma(a, b, c));
  }
  const DstKind kind = form.half_result ? DstKind::kF16 : DstKind::kF32;
  ApplyOutputModifiers(kind, 0, inst.clamp, mode, wave.wave_size, &buffers);
  WriteBack(inst.dst[0], kind, inst.op_sel, false, wave.exec(), HostKernels(), buffers, wave);
  return ExecResult::kNext;
}

}  // namespace

ExecResult InterpP10F32(const Inst& inst, WaveState& wave) {
  return Interpolate(inst, wave, {1, 0, false, false, false, false});
}
ExecResult InterpP2F32(const Inst& inst, WaveState& wave) {
  return Interpolate(inst, wave, {2, kOwnLane, false, false, false, false});
}
ExecResult InterpP10F16F32(const Inst& inst, WaveState& wave) {
  return Interpolate(inst, wave, {1, 0, true, true, false, false});
}
ExecResult InterpP2F16F32(const Inst& inst, WaveState& wave) {
  return Interpolate(inst, wave, {2, kOwnLane, true, false, true, false});
}
ExecResult InterpP10RtzF16F32(const Inst& inst, WaveState& wave) {
  return Interpolate(inst, wave, {1, 0, true, true, false, true});
}
ExecResult InterpP2RtzF16F32(const Inst& inst, WaveState& wave) {
  return Interpolate(inst, wave, {2, kOwnLane, true, false, true, true});
}

}  // namespace understudy::emu::amd
