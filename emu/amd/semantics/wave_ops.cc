// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/wave_ops.h"

#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "emu/amd/semantics/operands.h"
#include "emu/amd/semantics/vector_table.h"

namespace understudy::emu::amd {
namespace {

void WriteSgpr(const Operand& operand, uint32_t value, WaveState& wave) {
  if (operand.reg != kRegNull) wave.sgpr[operand.reg & 127] = value;
}

// Lane `lane` of a 32-bit source, or its scalar value.
uint32_t LaneValue(const Operand& operand, int lane, const WaveState& wave) {
  if (IsVectorRegister(operand)) return wave.Vgpr(StorageIndex(operand))[lane];
  return static_cast<uint32_t>(ScalarOperand(operand, 1, wave));
}

bool Active(const WaveState& wave, int lane) { return ((wave.exec() >> lane) & 1) != 0; }

// A register index that M0 moved beyond the wave's registers reads v0 and writes nothing (RDNA3 ISA,
// "Out-of-Range VGPRs").
const uint32_t* RelativeSource(uint32_t reg, const WaveState& wave) {
  return wave.Vgpr(reg < wave.num_vgprs && reg < 256 ? static_cast<int>(reg) : 0);
}
uint32_t* RelativeDst(uint32_t reg, WaveState& wave) {
  return reg < wave.num_vgprs && reg < 256 ? wave.Vgpr(static_cast<int>(reg)) : nullptr;
}

ExecResult MoveRelative(const uint32_t* source, uint32_t* dst, WaveState& wave) {
  if (dst != nullptr) HostKernels().store_masked(dst, source, wave.exec(), wave.wave_size);
  return ExecResult::kNext;
}

// Swaps under EXEC through copies, so that a register swapped with itself stays as it is.
void SwapRegisters(uint32_t* a, uint32_t* b, WaveState& wave) {
  alignas(64) uint32_t copy_a[kMaxLanes], copy_b[kMaxLanes];
  const size_t bytes = sizeof(uint32_t) * wave.wave_size;
  std::memcpy(copy_a, a, bytes);
  std::memcpy(copy_b, b, bytes);
  HostKernels().store_masked(a, copy_b, wave.exec(), wave.wave_size);
  HostKernels().store_masked(b, copy_a, wave.exec(), wave.wave_size);
}

// OPSEL[0] is DPP's fetch-inactive here, OPSEL[1] its bound control.
ExecResult PermuteRows(const Inst& inst, WaveState& wave, int row_flip) {
  const uint64_t select =
      (ScalarOperand(inst.src[1], 1, wave) & 0xffffffffu) | ScalarOperand(inst.src[2], 1, wave) << 32;
  const bool fetch_inactive = (inst.op_sel & 1) != 0, zero_fill = (inst.op_sel & 2) != 0;
  alignas(64) uint32_t result[kMaxLanes];
  uint64_t written = wave.exec();
  for (int lane = 0; lane < wave.wave_size; ++lane) {
    const int row = (lane & ~15) ^ row_flip;
    const int from = row + static_cast<int>((select >> (4 * (lane & 15))) & 15);
    const bool valid = fetch_inactive || Active(wave, from);
    result[lane] = valid ? LaneValue(inst.src[0], from, wave) : 0;
    if (!valid && !zero_fill) written &= ~(uint64_t{1} << lane);
  }
  HostKernels().store_masked(wave.Vgpr(inst.dst[0].reg), result, written, wave.wave_size);
  return ExecResult::kNext;
}

}  // namespace

ExecResult ReadFirstLane(const Inst& inst, WaveState& wave) {
  const uint64_t exec = wave.exec();
  const int lane = exec == 0 ? 0 : std::countr_zero(exec);
  WriteSgpr(inst.dst[0], LaneValue(inst.src[0], lane, wave), wave);
  return ExecResult::kNext;
}

ExecResult ReadLane(const Inst& inst, WaveState& wave) {
  const int lane = static_cast<int>(ScalarOperand(inst.src[1], 1, wave)) & (wave.wave_size - 1);
  WriteSgpr(inst.dst[0], LaneValue(inst.src[0], lane, wave), wave);
  return ExecResult::kNext;
}

ExecResult WriteLane(const Inst& inst, WaveState& wave) {
  const int lane = static_cast<int>(ScalarOperand(inst.src[1], 1, wave)) & (wave.wave_size - 1);
  wave.Vgpr(StorageIndex(inst.dst[0]))[lane] = static_cast<uint32_t>(ScalarOperand(inst.src[0], 1, wave));
  return ExecResult::kNext;
}

ExecResult PermLane16(const Inst& inst, WaveState& wave) { return PermuteRows(inst, wave, 0); }
ExecResult PermLaneX16(const Inst& inst, WaveState& wave) { return PermuteRows(inst, wave, 16); }

// Exchanges the halves of a wave64; does nothing in wave32.
ExecResult PermLane64(const Inst& inst, WaveState& wave) {
  if (wave.wave_size == 32) return ExecResult::kNext;
  alignas(64) uint32_t result[kMaxLanes];
  for (int lane = 0; lane < 64; ++lane) result[lane] = LaneValue(inst.src[0], lane ^ 32, wave);
  HostKernels().store_masked(wave.Vgpr(inst.dst[0].reg), result, wave.exec(), 64);
  return ExecResult::kNext;
}

ExecResult Swap32(const Inst& inst, WaveState& wave) {
  SwapRegisters(wave.Vgpr(StorageIndex(inst.dst[0])), wave.Vgpr(StorageIndex(inst.src[0])), wave);
  return ExecResult::kNext;
}

ExecResult Swap16(const Inst& inst, WaveState& wave) {
  uint32_t* const d = wave.Vgpr(inst.dst[0].reg);
  uint32_t* const s = wave.Vgpr(inst.src[0].reg);
  const int d_shift = (inst.op_sel & 8) != 0 ? 16 : 0, s_shift = (inst.op_sel & 1) != 0 ? 16 : 0;
  for (int lane = 0; lane < wave.wave_size; ++lane) {
    if (!Active(wave, lane)) continue;
    const uint32_t from_s = (s[lane] >> s_shift) & 0xffffu, from_d = (d[lane] >> d_shift) & 0xffffu;
    d[lane] = (d[lane] & ~(0xffffu << d_shift)) | from_s << d_shift;
    s[lane] = (s[lane] & ~(0xffffu << s_shift)) | from_d << s_shift;
  }
  return ExecResult::kNext;
}

ExecResult SwapRel(const Inst& inst, WaveState& wave) {
  const uint32_t m0 = wave.sgpr[kRegM0];
  uint32_t* const s = RelativeDst(inst.src[0].reg + (m0 & 0x3ffu), wave);
  uint32_t* const d = RelativeDst(inst.dst[0].reg + ((m0 >> 16) & 0x3ffu), wave);
  if (s != nullptr && d != nullptr) SwapRegisters(d, s, wave);
  return ExecResult::kNext;
}

ExecResult MovRelD(const Inst& inst, WaveState& wave) {
  alignas(64) uint32_t value[kMaxLanes];
  for (int lane = 0; lane < wave.wave_size; ++lane) value[lane] = LaneValue(inst.src[0], lane, wave);
  return MoveRelative(value, RelativeDst(inst.dst[0].reg + wave.sgpr[kRegM0], wave), wave);
}
ExecResult MovRelS(const Inst& inst, WaveState& wave) {
  return MoveRelative(RelativeSource(inst.src[0].reg + wave.sgpr[kRegM0], wave), wave.Vgpr(inst.dst[0].reg),
                      wave);
}
ExecResult MovRelSD(const Inst& inst, WaveState& wave) {
  const uint32_t m0 = wave.sgpr[kRegM0];
  return MoveRelative(RelativeSource(inst.src[0].reg + m0, wave), RelativeDst(inst.dst[0].reg + m0, wave),
                      wave);
}
ExecResult MovRelSD2(const Inst& inst, WaveState& wave) {
  const uint32_t m0 = wave.sgpr[kRegM0];
  return MoveRelative(RelativeSource(inst.src[0].reg + (m0 & 0x3ffu), wave),
                      RelativeDst(inst.dst[0].reg + ((m0 >> 16) & 0x3ffu), wave), wave);
}

namespace {

// What an instruction wants of its operands.
struct Form {
  bool to_scalar = false;     // the destination is a scalar register
  bool vector_source = true;  // source 0 is a vector register
  int sources = 1;            // how many must be there
};
Form FormOf(const Inst& inst) {
  switch (inst.op) {
    case Opcode::V_READLANE_B32:
      return {true, false, 2};
    case Opcode::V_READFIRSTLANE_B32:
    case Opcode::V_S_EXP_F32:
    case Opcode::V_S_EXP_F16:
    case Opcode::V_S_LOG_F32:
    case Opcode::V_S_LOG_F16:
    case Opcode::V_S_RCP_F32:
    case Opcode::V_S_RCP_F16:
    case Opcode::V_S_RSQ_F32:
    case Opcode::V_S_RSQ_F16:
    case Opcode::V_S_SQRT_F32:
    case Opcode::V_S_SQRT_F16:
      return {true, false, 1};
    case Opcode::V_WRITELANE_B32:
    case Opcode::V_PERMLANE16_VAR_B32:
    case Opcode::V_PERMLANEX16_VAR_B32:
    case Opcode::V_CVT_PKACCUM_U8_F32:
      return {false, false, 2};
    case Opcode::V_PERMLANE16_B32:
    case Opcode::V_PERMLANEX16_B32:
      return {false, false, 3};
    case Opcode::V_MOVRELD_B32:
    case Opcode::V_PERMLANE64_B32:
      return {false, false, 1};
    default:
      return {false, inst.enc != Encoding::VOP3, 1};
  }
}

}  // namespace

std::string WaveOpProblem(const Inst& inst) {
  if (inst.enc == Encoding::LDSDIR || inst.enc == Encoding::VDSDIR) {
    return inst.dst[0].kind == Operand::Kind::kVgpr ? "" : "the destination is not a vector register";
  }
  if (inst.sdwa.present) return "SDWA on a whole-wave instruction";
  if (inst.dpp.kind != DppInfo::Kind::kNone) return "DPP on a whole-wave instruction";
  if (inst.n_dst == 0 || inst.n_src == 0) return "an operand is missing";
  for (int i = 0; i < inst.n_dst && i < 2; ++i) {
    if (IsVectorRegister(inst.dst[i]) && inst.dst[i].reg + inst.dst[i].dwords > 256) {
      return "the destination reaches beyond v255";
    }
  }
  for (int i = 0; i < inst.n_src && i < 6; ++i) {
    if (IsVectorRegister(inst.src[i]) && inst.src[i].reg + inst.src[i].dwords > 256) {
      return "source " + std::to_string(i) + " reaches beyond v255";
    }
  }
  const Form form = FormOf(inst);
  if (form.to_scalar && inst.dst[0].kind != Operand::Kind::kSgpr)
    return "the destination is not a scalar register";
  if (!form.to_scalar && !IsVectorRegister(inst.dst[0])) return "the destination is not a vector register";
  if (inst.enc == Encoding::VINTERP && (inst.n_src < 3 || inst.src[1].kind != Operand::Kind::kVgpr ||
                                        inst.src[2].kind != Operand::Kind::kVgpr)) {
    return "interpolation needs vector registers as sources";
  }
  const bool matrix = inst.enc == Encoding::VOP3P;
  if (matrix && (inst.n_src < 3 || !IsVectorRegister(inst.src[1])))
    return "source 1 is not a vector register";
  if (form.vector_source && !IsVectorRegister(inst.src[0])) return "source 0 is not a vector register";
  for (int i = 0; i < form.sources; ++i) {
    if (inst.src[i].kind == Operand::Kind::kNone) return "source " + std::to_string(i) + " is missing";
  }
  return ConvertScaledProblem(inst);
}

}  // namespace understudy::emu::amd
