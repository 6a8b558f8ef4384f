// SPDX-License-Identifier: Apache-2.0
#pragma once
// The executor of an instruction, by family. Asked once per instruction, when a program is bound.

#include <cstdint>
#include <string>

#include "emu/ptx/core/warp.h"
#include "emu/ptx/parse/module.h"

namespace understudy::emu::ptx {

enum class SemanticState : uint8_t { kExact, kApproximate, kRefused };

// What a family answers for an instruction. With fn == nullptr and an empty reason the instruction is not of
// this family.
struct Exec {
  ExecFn fn = nullptr;
  uint64_t aux[2] = {};
  SemanticState state = SemanticState::kRefused;
  std::string note;  // kApproximate: the bound and what it rests on; kRefused: why
};

// What a family answers with.
inline Exec Exact(ExecFn fn, uint64_t aux0 = 0, uint64_t aux1 = 0) {
  Exec exec;
  exec.fn = fn;
  exec.aux[0] = aux0;
  exec.aux[1] = aux1;
  exec.state = SemanticState::kExact;
  return exec;
}
inline Exec Approximate(Exec exec, const std::string& note) {
  exec.state = SemanticState::kApproximate;
  exec.note = note;
  return exec;
}
inline Exec Refused(const Instruction& inst, const std::string& why) {
  Exec exec;
  exec.note = inst.Name() + ": " + why;
  return exec;
}

// The operands of the instruction as registers, so that a family can look at widths: bytes of operand i's
// register (Src::bytes rule), -1 for operands that are no register.
struct ExecContext {
  const Module* module = nullptr;
  const Function* function = nullptr;
  // Width of a register operand; 0 for others (an immediate takes any).
  int OperandBits(const Operand& operand) const {
    return operand.kind == Operand::Kind::kRegister ? TypeBits(function->registers[operand.index].type) : 0;
  }
};

Exec FindIntegerExec(
    const Instruction& inst,
    const ExecContext& context);  // integer, logic, shift, bit, video, set/setp/selp of ints, mov, prmt
Exec FindFloatExec(const Instruction& inst,
                   const ExecContext& context);  // float, half, bfloat16, packed, cvt, set/setp of floats
Exec FindSpecialFunctionExec(const Instruction& inst, const ExecContext& context);  // approximate functions
Exec FindMemoryExec(const Instruction& inst,
                    const ExecContext& context);  // ld st atom red cvta cp mbarrier ldmatrix fence...
Exec FindMatrixExec(const Instruction& inst, const ExecContext& context);  // mma wmma.mma wgmma
Exec FindControlExec(const Instruction& inst,
                     const ExecContext& context);  // bra call ret exit bar vote shfl match redux elect trap

// The first family that knows it. Never null together with kExact; refusals carry a reason.
Exec FindExec(const Instruction& inst, const ExecContext& context);

}  // namespace understudy::emu::ptx
