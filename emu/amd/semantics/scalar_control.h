// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scalar instructions that act on the wave rather than compute a value: branches, program counter, hardware
// registers, messages, waits, indexed SGPR moves. Found through FindScalarExec.

#include <string>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/semantics/op_state.h"

namespace understudy::emu::amd {

// nullptr where the instruction is refused.
ExecFn FindScalarControlExec(const Inst& inst);

// Parts of it: s_getreg, s_setreg (scalar_hwreg.cc); barriers and s_alloc_vgpr (scalar_barrier.cc).
ExecFn FindHwRegExec(const Inst& inst);
ExecFn FindBarrierExec(const Inst& inst);

// Why, for those that are refused on purpose; "" otherwise.
std::string ScalarRefusal(const Inst& inst);

// The trust in SOP1, SOP2, SOPC, SOPK and SOPP instructions.
OpState ScalarState(Isa isa, Opcode op);

// The register field of a SOPK instruction, whether it is written or read.
inline const Operand& SopkRegister(const Inst& inst) {
  return inst.dst[0].kind != Operand::Kind::kNone ? inst.dst[0] : inst.src[0];
}

}  // namespace understudy::emu::amd
