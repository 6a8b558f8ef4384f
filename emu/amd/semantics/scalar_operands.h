// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scalar operands of the interpreter: constants and scalar registers in, scalar registers out. Used by scalar ALU,
// scalar memory and the scalar operands of memory instructions.

#include <cstdint>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {

// Operands that are neither a register nor a constant.
inline uint64_t ReadSpecialScalar(const Operand& operand, const WaveState& wave) {
  switch (operand.kind) {
    case Operand::Kind::kScc:
      return wave.scc ? 1 : 0;
    case Operand::Kind::kVccz:
      return wave.vcc() == 0 ? 1 : 0;
    case Operand::Kind::kExecz:
      return wave.exec() == 0 ? 1 : 0;
    // An aperture is 4 GiB: its base has nothing in the low word, which is what a 32-bit read gives.
    case Operand::Kind::kSharedBase:
      return wave.shared_aperture;
    case Operand::Kind::kSharedLimit:
      return wave.shared_aperture | 0xffffffffu;
    case Operand::Kind::kPrivateBase:
      return wave.private_aperture;
    case Operand::Kind::kPrivateLimit:
      return wave.private_aperture | 0xffffffffu;
    default:
      return 0;
  }
}

inline uint32_t ReadScalar32(const Operand& operand, const WaveState& wave) {
  if (operand.is_sgpr()) return wave.sgpr[operand.reg];
  if (operand.is_const()) return static_cast<uint32_t>(operand.imm);
  return static_cast<uint32_t>(ReadSpecialScalar(operand, wave));
}

inline uint64_t ReadScalar64(const Operand& operand, const WaveState& wave) {
  if (operand.is_sgpr()) {
    if (operand.reg == kNull) return 0;
    return wave.sgpr[operand.reg] | uint64_t{wave.sgpr[operand.reg + 1]} << 32;
  }
  if (operand.is_const()) return operand.imm;
  return ReadSpecialScalar(operand, wave);
}

inline void WriteScalar32(const Operand& operand, WaveState& wave, uint32_t value) {
  wave.sgpr[operand.reg] = value;
  wave.sgpr[kNull] = 0;
}

inline void WriteScalar64(const Operand& operand, WaveState& wave, uint64_t value) {
  if (operand.reg == kNull) return;
  wave.sgpr[operand.reg] = static_cast<uint32_t>(value);
  wave.sgpr[operand.reg + 1] = static_cast<uint32_t>(value >> 32);
}

}  // namespace understudy::emu::amd
