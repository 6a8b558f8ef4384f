// SPDX-License-Identifier: Apache-2.0
// What of an instruction depends on the wave size (RDNA3 ISA manual, "Wave32 and wave64" and "WMMA").
#include "absl/strings/str_cat.h"
#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {
namespace {

bool IsWmmaAccumulator(DataType type) {
  switch (type) {
    case DataType::WMMA_DC_F16:
    case DataType::WMMA_DC_BF16:
    case DataType::WMMA_DC_F32:
    case DataType::WMMA_DC_I32:
      return true;
    default:
      return false;
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
  if (wave_size == 64 && IsWmmaAccumulator(o->type)) {
    o->dwords /= 2;
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
