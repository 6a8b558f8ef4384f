// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operand fetch, modifiers, DPP and write-back of the vector ALU, written once for every instruction and
// driven by its Signature. Produces the lane arrays that RunLanes works on, and puts its results into the
// registers under EXEC. It knows no instruction by name.

#include <cstdint>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/semantics/kernels.h"
#include "emu/amd/semantics/lane_arrays.h"
#include "emu/amd/semantics/signature.h"

namespace understudy::emu::amd {

constexpr int kMaxLanes = 64;

// Backing store of one instruction's staged operands and results; lives on the stack of the executing
// function.
struct LaneBuffers {
  alignas(64) uint32_t src[4][4][kMaxLanes];
  alignas(64) uint32_t dst[4][kMaxLanes];
  alignas(64) uint32_t mask[kMaxLanes];
};

// The floating-point mode of `wave` on its generation.
inline FpMode ModeOf(const WaveState& wave) {
  return FpMode::FromModeRegister(wave.mode, wave.isa != Isa::kRdna4);
}

inline bool IsVectorRegister(const Operand& operand) {
  return operand.kind == Operand::Kind::kVgpr || operand.kind == Operand::Kind::kAgpr;
}
// Register `word` of a tuple in the wave's storage: AGPRs lie above the VGPRs.
inline int StorageIndex(const Operand& operand, int word = 0) {
  return operand.reg + word + (operand.kind == Operand::Kind::kAgpr ? kAgprBase : 0);
}

// The value of a scalar operand (SGPR or pair, constant, SCC, aperture...), `dwords` 1 or 2. Not for VGPRs.
uint64_t ScalarOperand(const Operand& operand, int dwords, const WaveState& wave);

// The LDS word, half or byte that M0 addresses: the value of src_lds_direct and of the direct loads.
uint32_t LdsDirectValue(const WaveState& wave);

// The wave mask an operand of type M64 holds.
uint64_t MaskOperand(const Operand& operand, const WaveState& wave);
void WriteMask(const Operand& operand, uint64_t mask, WaveState& wave);

// Staging without modifiers: VGPRs are used where they lie, scalars are broadcast into `buffer`.
void StagePlain(const Operand& operand, SrcKind kind, const WaveState& wave, const KernelSet& kernels,
                uint32_t (*buffer)[kMaxLanes], const uint32_t** words);

// Staging with all modifiers of source `i` of `inst`. `written` loses the lanes that DPP disables.
void StageModified(const Inst& inst, int i, SrcKind kind, const WaveState& wave, const KernelSet& kernels,
                   uint32_t (*buffer)[kMaxLanes], const uint32_t** words, uint64_t* written);

// The operand selection bits as the packed kinds use them: only VOP3P encodes them.
uint8_t PackedSelectLow(const Inst& inst);
uint8_t PackedSelectHigh(const Inst& inst);

// True where source `i` needs StageModified (DPP aside).
bool SourceIsModified(const Inst& inst, int i, SrcKind kind);

// OMOD and float CLAMP on the staged result.
void ApplyOutputModifiers(DstKind kind, uint8_t omod, bool clamp, const FpMode& mode, int lanes,
                          LaneBuffers* buffers);

// Writes the staged result to `operand` where `exec` has bits. `op_sel`: its bits 2 and 3 say which byte or
// half. `clears_other_half`: a 16-bit result in the low half leaves zeros above it.
void WriteBack(const Operand& operand, DstKind kind, uint8_t op_sel, bool clears_other_half, uint64_t exec,
               const KernelSet& kernels, const LaneBuffers& buffers, WaveState& wave);

// The lane that each lane reads from under `dpp` (-1: none), for lane arrays of `lanes`. False where the
// control is not one of the generation's.
bool DppSourceLanes(const DppInfo& dpp, Isa isa, int lanes, int8_t* source);

}  // namespace understudy::emu::amd
