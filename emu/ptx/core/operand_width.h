// SPDX-License-Identifier: Apache-2.0
#pragma once
// How wide an operand is where the text does not say: immediates, symbol addresses, special registers and
// sinks take the width that the instruction reads there (PTX ISA, "Operand Size Exceeding Instruction-Type
// Size" and the syntax of each instruction).

#include <cstdint>

#include "emu/ptx/parse/module.h"

namespace understudy::emu::ptx {

// The type that `inst` reads or writes at operand `index`; kNone: 32 bits.
Type OperandType(const Instruction& inst, int index);
// Width by the rule of Src::bytes for a type (pred 0; 8, 16 and 32 bits; 64; 128), 4 for kNone.
uint8_t RowBytes(Type type);
// The bits of an immediate in a row of that width: integers are cut, float literals converted to f32 or f64.
uint64_t ImmediateBits(const Operand& operand, Type type);

}  // namespace understudy::emu::ptx
