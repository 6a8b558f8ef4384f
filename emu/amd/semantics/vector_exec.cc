// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/vector_exec.h"

#include <cstring>
#include <string>

#include "emu/amd/semantics/matrix_exec.h"
#include "emu/amd/semantics/matrix_table.h"
#include "emu/amd/semantics/operands.h"
#include "emu/amd/semantics/sdwa.h"
#include "emu/amd/semantics/vector_table.h"
#include "emu/amd/semantics/wave_ops.h"

namespace understudy::emu::amd {
namespace {

LaneFn ChooseKernel(const LaneKernel& kernel, const FpMode& mode) {
  return mode.IsHostLike() ? kernel.host_like : kernel.directed;
}

void PrepareArrays(const Inst& inst, const WaveState& wave, LaneBuffers* buffers, LaneArrays* arrays) {
  for (int w = 0; w < 4; ++w) arrays->dst[w] = buffers->dst[w];
  arrays->mask = buffers->mask;
  arrays->mode = ModeOf(wave);
  arrays->saturate = inst.clamp;
  arrays->signs = inst.neg;
  arrays->selects = inst.op_sel;
  arrays->truth_table = inst.bitop3;
  arrays->lanes = wave.wave_size;
}

// The mask result: inactive lanes write 0. VOPC has it as its only destination, the carry forms as their
// second. A V_CMPX of CDNA writes EXEC as well.
void WriteMaskResult(const Inst& inst, const VectorEntry& entry, uint64_t exec, const KernelSet& kernels,
                     const LaneBuffers& buffers, WaveState& wave) {
  const uint64_t mask = kernels.pack_mask(buffers.mask, wave.wave_size) & exec;
  WriteMask(inst.dst[entry.signature.dst == DstKind::kNone ? 0 : 1], mask, wave);
  if (entry.writes_exec) wave.set_exec(mask);
}

// No modifiers, no DPP: sources are read where they lie.
ExecResult ExecPlain(const Inst& inst, WaveState& wave) {
  const VectorEntry& entry = VectorEntryOf(inst.isa, inst.op);
  const KernelSet& kernels = HostKernels();
  LaneBuffers buffers;
  LaneArrays arrays;
  PrepareArrays(inst, wave, &buffers, &arrays);
  for (int i = 0; i < 4; ++i) {
    if (entry.signature.src[i] != SrcKind::kNone) {
      StagePlain(inst.src[i], entry.signature.src[i], wave, kernels, buffers.src[i], arrays.src[i]);
    }
  }
  ChooseKernel(entry.kernel, arrays.mode)(arrays);
  const uint64_t exec = wave.exec();
  WriteBack(inst.dst[0], entry.signature.dst, 0, entry.clears_other_half, exec, kernels, buffers, wave);
  if (entry.signature.writes_mask) WriteMaskResult(inst, entry, exec, kernels, buffers, wave);
  return ExecResult::kNext;
}

bool IsHalfResult(DstKind kind) {
  return kind == DstKind::kU16 || kind == DstKind::kF16 || kind == DstKind::kBF16;
}

ExecResult ExecModified(const Inst& inst, WaveState& wave) {
  const VectorEntry& entry = VectorEntryOf(inst.isa, inst.op);
  const KernelSet& kernels = HostKernels();
  LaneBuffers buffers;
  LaneArrays arrays;
  PrepareArrays(inst, wave, &buffers, &arrays);
  uint64_t written = wave.exec();
  for (int i = 0; i < 4; ++i) {
    if (entry.signature.src[i] != SrcKind::kNone) {
      StageModified(inst, i, entry.signature.src[i], wave, kernels, buffers.src[i], arrays.src[i], &written);
    }
  }
  ChooseKernel(entry.kernel, arrays.mode)(arrays);
  ApplyOutputModifiers(entry.signature.dst, inst.omod, inst.clamp, arrays.mode, wave.wave_size, &buffers);
  if (inst.sdwa.present && DstWords(entry.signature.dst) == 1) {
    WriteSdwaResult(inst.sdwa, IsHalfResult(entry.signature.dst), written, wave.wave_size, kernels,
                    buffers.dst[0], wave.Vgpr(StorageIndex(inst.dst[0])));
  } else {
    WriteBack(inst.dst[0], entry.signature.dst, inst.op_sel, entry.clears_other_half, written, kernels,
              buffers, wave);
  }
  if (entry.signature.writes_mask) WriteMaskResult(inst, entry, written, kernels, buffers, wave);
  return ExecResult::kNext;
}

// Both halves read all their sources before either writes.
ExecResult ExecPair(const Inst& inst, WaveState& wave) {
  const VectorEntry* const entries[2] = {&VectorEntryOf(inst.isa, inst.op),
                                         &VectorEntryOf(inst.isa, inst.op_y)};
  const KernelSet& kernels = HostKernels();
  LaneBuffers buffers[2];
  for (int half = 0; half < 2; ++half) {
    LaneArrays arrays;
    PrepareArrays(inst, wave, &buffers[half], &arrays);
    const Signature& signature = entries[half]->signature;
    for (int i = 0; i < 3; ++i) {
      if (signature.src[i] == SrcKind::kNone) continue;
      StagePlain(inst.src[3 * half + i], signature.src[i], wave, kernels, buffers[half].src[i],
                 arrays.src[i]);
    }
    ChooseKernel(entries[half]->kernel, arrays.mode)(arrays);
  }
  const uint64_t exec = wave.exec();
  for (int half = 0; half < 2; ++half) {
    WriteBack(inst.dst[half], entries[half]->signature.dst, 0, false, exec, kernels, buffers[half], wave);
  }
  return ExecResult::kNext;
}

bool IsFloatResult(DstKind kind) {
  return kind == DstKind::kF16 || kind == DstKind::kF32 || kind == DstKind::kF64 || kind == DstKind::kPkF16 ||
         kind == DstKind::kPkF32 || kind == DstKind::kLoF16 || kind == DstKind::kHiF16;
}

bool NeedsModifiers(const Inst& inst, const Signature& signature) {
  if (inst.dpp.kind != DppInfo::Kind::kNone || inst.sdwa.present) return true;
  if (IsFloatResult(signature.dst) && (inst.omod != 0 || inst.clamp)) return true;
  if ((inst.op_sel & 8) != 0 || (signature.dst == DstKind::kByte && (inst.op_sel & 4) != 0)) return true;
  for (int i = 0; i < 4; ++i) {
    if (SourceIsModified(inst, i, signature.src[i])) return true;
  }
  return false;
}

// What keeps an operand from being read or written, or "".
std::string OperandProblem(const Operand& operand, int words, const char* which) {
  switch (operand.kind) {
    case Operand::Kind::kNone:
      return std::string(which) + " is missing";
    case Operand::Kind::kVgpr:
    case Operand::Kind::kAgpr:
      if (operand.reg + words > 256) {
        const std::string file = operand.kind == Operand::Kind::kVgpr ? "v" : "a";
        return std::string(which) + " " + file + std::to_string(operand.reg) + " with " +
               std::to_string(words) + " registers reaches beyond " + file + "255";
      }
      return "";
    case Operand::Kind::kPopsExitingWaveId:
      return std::string(which) + " is of a kind that this generation's vector ALU does not have";
    default:
      return "";
  }
}

std::string SourceProblem(const Operand& operand, SrcKind kind, int i) {
  if (kind == SrcKind::kNone) return "";
  const std::string which = "source " + std::to_string(i);
  if (kind == SrcKind::kMask && IsVectorRegister(operand)) return which + " must be a scalar mask";
  return OperandProblem(operand, SrcWords(kind), which.c_str());
}

std::string DstProblem(const Operand& operand, const Signature& signature) {
  if (signature.dst == DstKind::kNone) return "";
  if (!IsVectorRegister(operand)) return "the destination is not a vector register";
  return OperandProblem(operand, DstWords(signature.dst), "the destination");
}

std::string Problem(const Inst& inst) {
  const VectorEntry& entry = VectorEntryOf(inst.isa, inst.op);
  if (!entry.known) return "it has no semantics here";
  if (entry.state == SemanticState::kRefused) return entry.note;
  if (entry.wave_op != nullptr) return WaveOpProblem(inst);
  const Signature& s = entry.signature;
  if (inst.enc == Encoding::VOPD) {
    const VectorEntry& y = VectorEntryOf(inst.isa, inst.op_y);
    if (!y.known || y.kernel.host_like == nullptr) return "its second half has no semantics here";
    for (int i = 0; i < 3; ++i) {
      std::string problem = SourceProblem(inst.src[i], s.src[i], i);
      if (problem.empty()) problem = SourceProblem(inst.src[3 + i], y.signature.src[i], 3 + i);
      if (!problem.empty()) return problem;
    }
    const std::string problem = DstProblem(inst.dst[0], s);
    return problem.empty() ? DstProblem(inst.dst[1], y.signature) : problem;
  }
  for (int i = 0; i < 4; ++i) {
    const std::string problem = SourceProblem(inst.src[i], s.src[i], i);
    if (!problem.empty()) return problem;
  }
  if (inst.dpp.kind != DppInfo::Kind::kNone) {
    int8_t lanes[kMaxLanes];
    if (!DppSourceLanes(inst.dpp, inst.isa, kMaxLanes, lanes)) {
      return "its DPP control " + std::to_string(inst.dpp.ctrl) + " is not one of " + IsaName(inst.isa) +
             "'s";
    }
    if (!IsVectorRegister(inst.src[0])) return "DPP needs a vector register as source 0";
  }
  return DstProblem(inst.dst[0], s);
}

// --- GPR indexing of gfx9: while MODE says so, M0 moves the vector registers of an instruction. M0[7:0] is
// the distance, M0[15:12] say which of source 0, 1, 2 and the destination it moves (CDNA ISA,
// S_SET_GPR_IDX_ON). A source beyond the wave's registers reads v0, a destination there is not written. ---

constexpr uint32_t kModeGprIdxEnable = 1u << 27;

bool IsTiedSource(const Inst& inst, int i) {
  return inst.src[i].implicit && inst.src[i].reg == inst.dst[0].reg;
}

template <ExecFn kExec>
ExecResult ExecIndexed(const Inst& inst, WaveState& wave) {
  if ((wave.mode & kModeGprIdxEnable) == 0) return kExec(inst, wave);
  const uint32_t m0 = wave.sgpr[kM0], distance = m0 & 0xffu, enables = (m0 >> 12) & 15;
  const VectorEntry& entry = VectorEntryOf(inst.isa, inst.op);
  Inst moved = inst;
  for (int i = 0; i < 4; ++i) {
    Operand& source = moved.src[i];
    const int which = IsTiedSource(inst, i) ? 3 : i;
    if (source.kind != Operand::Kind::kVgpr || ((enables >> which) & 1) == 0) continue;
    const uint32_t reg = source.reg + distance;
    const uint32_t words = static_cast<uint32_t>(SrcWords(entry.signature.src[i]));
    source.reg = static_cast<uint16_t>(reg + words <= wave.num_vgprs ? reg : 0);
  }
  Operand& dst = moved.dst[0];
  const uint32_t words = static_cast<uint32_t>(DstWords(entry.signature.dst));
  if (dst.kind == Operand::Kind::kVgpr && words != 0 && (enables & 8) != 0) {
    dst.reg = static_cast<uint16_t>(dst.reg + distance);
    if (dst.reg + words > wave.num_vgprs) {
      // The mask result, if any, is still due: computed with a destination that is then put back.
      if (!entry.signature.writes_mask) return ExecResult::kNext;
      alignas(64) uint32_t old[4][kMaxLanes];
      for (uint32_t w = 0; w < words; ++w) {
        std::memcpy(old[w], wave.Vgpr(static_cast<int>(w)), sizeof(uint32_t) * wave.wave_size);
      }
      dst.reg = 0;
      const ExecResult result = kExec(moved, wave);
      for (uint32_t w = 0; w < words; ++w) {
        std::memcpy(wave.Vgpr(static_cast<int>(w)), old[w], sizeof(uint32_t) * wave.wave_size);
      }
      return result;
    }
  }
  return kExec(moved, wave);
}

}  // namespace

ExecFn FindVectorExec(const Inst& inst) {
  if (IsMatrixOpcode(inst.op)) return FindMatrixExec(inst);
  if (!Problem(inst).empty()) return nullptr;
  const VectorEntry& entry = VectorEntryOf(inst.isa, inst.op);
  if (entry.wave_op != nullptr) return entry.wave_op;
  if (inst.enc == Encoding::VOPD) return ExecPair;
  const bool modified = NeedsModifiers(inst, entry.signature);
  if (IsCdna(inst.isa)) return modified ? ExecIndexed<ExecModified> : ExecIndexed<ExecPlain>;
  return modified ? ExecModified : ExecPlain;
}

std::string VectorRefusal(const Inst& inst) {
  return IsMatrixOpcode(inst.op) ? MatrixRefusal(inst) : Problem(inst);
}

}  // namespace understudy::emu::amd
