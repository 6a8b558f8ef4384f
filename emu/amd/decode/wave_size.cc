// SPDX-License-Identifier: Apache-2.0
// What of an instruction depends on the wave size (RDNA3 ISA manual, "Wave32 and wave64" and "WMMA").
#include "absl/strings/str_cat.h"
#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {
namespace {

// Matrices whose registers halve in wave64: RDNA3's accumulators (its A and B are held twice), and all of
// RDNA4's but the smallest.
bool HalvesInWave64(DataType type) {
  switch (type) {
    case DataType::WMMA_DC_F16:
    case DataType::WMMA_DC_BF16:
    case DataType::WMMA_DC_F32:
    case DataType::WMMA_DC_I32:
    case DataType::WMMA_DC_16X16_F16:
    case DataType::WMMA_DC_16X16_BF16:
    case DataType::WMMA_DC_16X16_F32:
    case DataType::WMMA_DC_16X16_I32:
    case DataType::WMMA_AB_16X16_F16:
    case DataType::WMMA_AB_16X16_BF16:
    case DataType::WMMA_AB_16X16_FP8:
    case DataType::WMMA_AB_16X16_BF8:
    case DataType::WMMA_AB_16X16_IU8:
    case DataType::WMMA_AB_16X16_IU4:
    case DataType::WMMA_AB_16X32_F16:
    case DataType::WMMA_AB_16X32_BF16:
    case DataType::WMMA_AB_16X32_FP8:
    case DataType::WMMA_AB_16X32_BF8:
    case DataType::WMMA_AB_16X32_IU8:
    case DataType::WMMA_AB_16X32_IU4:
    case DataType::WMMA_AB_16X64_IU4:
      return true;
    default:
      return false;
  }
}

// The index of a sparse product has fewer bits than its register; how many parts there are to choose from.
int IndexKeys(Opcode op, int wave_size) {
  bool wave64 = wave_size == 64;
  switch (op) {
    case Opcode::V_SWMMAC_I32_16X16X64_IU4:
      return wave64 ? 2 : 1;
    case Opcode::V_SWMMAC_I32_16X16X32_IU4:
      return 2;
    default:
      return wave64 ? 4 : 2;
  }
}

absl::Status Resolve(int wave_size, const Inst& inst, Operand* o) {
  if (o->type == DataType::M64) {
    o->dwords = static_cast<uint8_t>(wave_size / 32);
    o->bits = static_cast<uint16_t>(wave_size);
    bool pair = o->kind == Operand::Kind::kSgpr && wave_size == 64 && o->reg != kRegNull;
    if (pair && (o->reg % 2 != 0 || o->reg == kRegM0)) {
      return absl::InvalidArgumentError(
          absl::StrCat(OpcodeName(inst.op), ": a lane mask of wave64 is a pair of scalar registers, ", o->reg,
                       " does not start one"));
    }
  }
  if (wave_size == 64 && HalvesInWave64(o->type)) {
    if (o->dwords > 1) o->dwords /= 2;
    o->bits /= 2;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ResolveWaveSize(int wave_size, Inst* inst) {
  if (wave_size != 32 && wave_size != 64) {
    return absl::InvalidArgumentError(absl::StrCat("a wave has 32 or 64 lanes, not ", wave_size));
  }
  if (wave_size == 64 && inst->enc == Encoding::VOPD) {
    return absl::InvalidArgumentError(absl::StrCat("VOPD ", OpcodeName(inst->op), " exists in wave32 only"));
  }
  if (inst->index_key != 0 && IsRdna(inst->isa) && inst->index_key >= IndexKeys(inst->op, wave_size)) {
    return absl::InvalidArgumentError(absl::StrCat(OpcodeName(inst->op), ": index_key ", inst->index_key,
                                                   " in wave", wave_size, ", must be below ",
                                                   IndexKeys(inst->op, wave_size)));
  }
  // A transposed load gives each lane of wave64 half as much.
  bool transposed = inst->op == Opcode::GLOBAL_LOAD_TR_B128 || inst->op == Opcode::GLOBAL_LOAD_TR_B64;
  if (wave_size == 64 && transposed && inst->isa == Isa::kRdna4) {
    inst->dst[0].dwords /= 2;
    inst->dst[0].bits /= 2;
  }
  for (Operand& o : inst->dst) {
    absl::Status status = Resolve(wave_size, *inst, &o);
    if (!status.ok()) return status;
  }
  for (Operand& o : inst->src) {
    absl::Status status = Resolve(wave_size, *inst, &o);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace understudy::emu::amd
