// SPDX-License-Identifier: Apache-2.0
#pragma once
// Vector instructions that work on a whole wave: lane exchange with scalars and between lanes, swaps,
// registers indexed by M0, and interpolation. Executors in the form of the
// decoded-program cache.

#include <string>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {

ExecResult ReadFirstLane(const Inst& inst, WaveState& wave);
ExecResult ReadLane(const Inst& inst, WaveState& wave);
ExecResult WriteLane(const Inst& inst, WaveState& wave);
ExecResult PermLane16(const Inst& inst, WaveState& wave);
ExecResult PermLaneX16(const Inst& inst, WaveState& wave);
ExecResult PermLane64(const Inst& inst, WaveState& wave);
ExecResult Swap32(const Inst& inst, WaveState& wave);
ExecResult Swap16(const Inst& inst, WaveState& wave);
ExecResult SwapRel(const Inst& inst, WaveState& wave);
ExecResult MovRelD(const Inst& inst, WaveState& wave);
ExecResult MovRelS(const Inst& inst, WaveState& wave);
ExecResult MovRelSD(const Inst& inst, WaveState& wave);
ExecResult MovRelSD2(const Inst& inst, WaveState& wave);
// cross_lane.cc
ExecResult PermLane16Var(const Inst& inst, WaveState& wave);
ExecResult PermLaneX16Var(const Inst& inst, WaveState& wave);
ExecResult PermLane16Swap(const Inst& inst, WaveState& wave);
ExecResult PermLane32Swap(const Inst& inst, WaveState& wave);
ExecResult LdsDirectLoad(const Inst& inst, WaveState& wave);
ExecResult CvtPkAccumU8(const Inst& inst, WaveState& wave);
// scalar_trans.cc
ExecResult ScalarTransExpF32(const Inst& inst, WaveState& wave);
ExecResult ScalarTransExpF16(const Inst& inst, WaveState& wave);
ExecResult ScalarTransLogF32(const Inst& inst, WaveState& wave);
ExecResult ScalarTransLogF16(const Inst& inst, WaveState& wave);
ExecResult ScalarTransRcpF32(const Inst& inst, WaveState& wave);
ExecResult ScalarTransRcpF16(const Inst& inst, WaveState& wave);
ExecResult ScalarTransRsqF32(const Inst& inst, WaveState& wave);
ExecResult ScalarTransRsqF16(const Inst& inst, WaveState& wave);
ExecResult ScalarTransSqrtF32(const Inst& inst, WaveState& wave);
ExecResult ScalarTransSqrtF16(const Inst& inst, WaveState& wave);
// convert_scaled.cc
ExecResult ConvertScaled(const Inst& inst, WaveState& wave);
std::string ConvertScaledProblem(const Inst& inst);  // "" for other instructions too
// vinterp.cc
ExecResult InterpP10F32(const Inst& inst, WaveState& wave);
ExecResult InterpP2F32(const Inst& inst, WaveState& wave);
ExecResult InterpP10F16F32(const Inst& inst, WaveState& wave);
ExecResult InterpP2F16F32(const Inst& inst, WaveState& wave);
ExecResult InterpP10RtzF16F32(const Inst& inst, WaveState& wave);
ExecResult InterpP2RtzF16F32(const Inst& inst, WaveState& wave);

// What keeps one of the above from executing (operands, DPP), or "".
std::string WaveOpProblem(const Inst& inst);

}  // namespace understudy::emu::amd
