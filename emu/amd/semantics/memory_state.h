// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far memory instructions can be trusted, and why some are refused. Read by the coverage report and by
// FindExec's messages; it executes nothing.

#include <string>

#include "emu/amd/decode/inst.h"
#include "emu/amd/semantics/op_state.h"

namespace understudy::emu::amd {

// True for the encodings of scalar memory, LDS, vector memory, buffers and images.
bool IsMemoryEncoding(Encoding enc);

// The state of an opcode of such an encoding.
OpState MemoryState(Isa isa, Opcode op, Encoding enc);

// Why a memory instruction is refused, without its name.
std::string MemoryRefusal(const Inst& inst);

}  // namespace understudy::emu::amd
