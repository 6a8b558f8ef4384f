// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/vector_exec.h"

#include <string>

#include "emu/amd/semantics/operands.h"
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
  arrays->mode = FpMode::FromModeRegister(wave.mode);
  arrays->saturate = inst.clamp;
  arrays->signs = inst.neg;
  arrays->lanes = wave.wave_size;
}

// The mask result: inactive lanes write 0. VOPC has it as its only destination, the carry forms as their
// second.
void WriteMaskResult(const Operand& operand, uint64_t exec, const KernelSet& kernels,
                     const LaneBuffers& buffers, WaveState& wave) {
  WriteMask(operand, kernels.pack_mask(buffers.mask, wave.wave_size) & exec, wave);
}

// No modifiers, no DPP: sources are read where they lie.
ExecResult ExecPlain(const Inst& inst, WaveState& wave) {
  const VectorEntry& entry = VectorEntryOf(inst.op);
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
  WriteBack(inst.dst[0], entry.signature.dst, false, exec, kernels, buffers, wave);
  if (entry.signature.writes_mask) {
    WriteMaskResult(inst.dst[entry.signature.dst == DstKind::kNone ? 0 : 1], exec, kernels, buffers, wave);
  }
  return ExecResult::kNext;
}

ExecResult ExecModified(const Inst& inst, WaveState& wave) {
  const VectorEntry& entry = VectorEntryOf(inst.op);
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
  const bool high_half = (inst.op_sel & 8) != 0;
  WriteBack(inst.dst[0], entry.signature.dst, high_half, written, kernels, buffers, wave);
  if (entry.signature.writes_mask) {
    WriteMaskResult(inst.dst[entry.signature.dst == DstKind::kNone ? 0 : 1], written, kernels, buffers, wave);
  }
  return ExecResult::kNext;
}

// Both halves read all their sources before either writes.
ExecResult ExecPair(const Inst& inst, WaveState& wave) {
  const VectorEntry* const entries[2] = {&VectorEntryOf(inst.op), &VectorEntryOf(inst.op_y)};
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
    WriteBack(inst.dst[half], entries[half]->signature.dst, false, exec, kernels, buffers[half], wave);
  }
  return ExecResult::kNext;
}

bool IsFloatResult(DstKind kind) {
  return kind == DstKind::kF16 || kind == DstKind::kF32 || kind == DstKind::kF64 || kind == DstKind::kPkF16 ||
         kind == DstKind::kLoF16 || kind == DstKind::kHiF16;
}

bool NeedsModifiers(const Inst& inst, const Signature& signature) {
  if (inst.dpp.kind != DppInfo::Kind::kNone) return true;
  if (IsFloatResult(signature.dst) && (inst.omod != 0 || inst.clamp)) return true;
  if ((inst.op_sel & 8) != 0) return true;
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
      if (operand.reg + words > 256) {
        return std::string(which) + " v" + std::to_string(operand.reg) + " with " + std::to_string(words) +
               " registers reaches beyond v255";
      }
      return "";
    case Operand::Kind::kAgpr:
    case Operand::Kind::kLdsDirect:
    case Operand::Kind::kPopsExitingWaveId:
      return std::string(which) + " is of a kind that this generation's vector ALU does not have";
    default:
      return "";
  }
}

std::string SourceProblem(const Operand& operand, SrcKind kind, int i) {
  if (kind == SrcKind::kNone) return "";
  const std::string which = "source " + std::to_string(i);
  if (kind == SrcKind::kMask && operand.kind == Operand::Kind::kVgpr) return which + " must be a scalar mask";
  return OperandProblem(operand, SrcWords(kind), which.c_str());
}

std::string DstProblem(const Operand& operand, const Signature& signature) {
  if (signature.dst == DstKind::kNone) return "";
  if (operand.kind != Operand::Kind::kVgpr) return "the destination is not a vector register";
  return OperandProblem(operand, DstWords(signature.dst), "the destination");
}

std::string Problem(const Inst& inst) {
  const VectorEntry& entry = VectorEntryOf(inst.op);
  if (!entry.known) return "it has no semantics here";
  if (entry.state == SemanticState::kRefused) return entry.note;
  if (entry.wave_op != nullptr) return WaveOpProblem(inst);
  const Signature& s = entry.signature;
  if (inst.enc == Encoding::VOPD) {
    const VectorEntry& y = VectorEntryOf(inst.op_y);
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
    if (!DppSourceLanes(inst.dpp, kMaxLanes, lanes)) {
      return "its DPP control " + std::to_string(inst.dpp.ctrl) + " is not one of RDNA3's";
    }
    if (inst.src[0].kind != Operand::Kind::kVgpr) return "DPP needs a vector register as source 0";
  }
  return DstProblem(inst.dst[0], s);
}

}  // namespace

ExecFn FindVectorExec(const Inst& inst) {
  if (!Problem(inst).empty()) return nullptr;
  const VectorEntry& entry = VectorEntryOf(inst.op);
  if (entry.wave_op != nullptr) return entry.wave_op;
  if (inst.enc == Encoding::VOPD) return ExecPair;
  return NeedsModifiers(inst, entry.signature) ? ExecModified : ExecPlain;
}

std::string VectorRefusal(const Inst& inst) { return Problem(inst); }

}  // namespace understudy::emu::amd
