// SPDX-License-Identifier: Apache-2.0
#pragma once
// The executor of an instruction, by encoding: scalar ALU and control, scalar loads, LDS, vector memory, and
// (from the vector half) everything on VGPR lanes. Asked once per instruction, when a program is decoded.

#include <string>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/semantics/op_state.h"

namespace understudy::emu::amd {

// The executor, or nullptr with the reason (which names the instruction) in *refusal.
ExecFn FindExec(const Inst& inst, std::string* refusal);

// Per family; nullptr where the instruction is refused.
ExecFn FindScalarExec(const Inst& inst);        // SOP1 SOP2 SOPC SOPK SOPP
ExecFn FindScalarMemoryExec(const Inst& inst);  // SMEM
ExecFn FindDsExec(const Inst& inst);            // DS
ExecFn FindFlatExec(const Inst& inst);          // FLAT GLOBAL SCRATCH
ExecFn FindBufferExec(const Inst& inst);        // MUBUF MTBUF VBUFFER
ExecFn FindImageExec(const Inst& inst);         // MIMG VIMAGE
// FindVectorExec (VOP*, VINTERP) is in vector_exec.h.

// How far an opcode of a generation can be trusted: every family's own statement.
OpState StateOf(Isa isa, Encoding enc, Opcode op);

// Why an instruction of these families is refused, without its name; "" when no particular reason is
// recorded.
std::string RefusalReason(const Inst& inst);

}  // namespace understudy::emu::amd
