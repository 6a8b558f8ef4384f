// SPDX-License-Identifier: Apache-2.0
#pragma once
// The read-modify-write operations of atom, red, red.async and the bulk reductions: what each makes of the
// old value, and its atomic application to host memory. Other host threads may run other CTAs, so every
// update is one atomic of the host.
//
// Source: PTX ISA 8.8, "atom", "red", "cp.reduce.async.bulk".

#include <cstdint>
#include <string>

#include "emu/ptx/isa/isa.h"
#include "emu/ptx/parse/module.h"

namespace understudy::emu::ptx {

enum class AtomicOp : uint8_t { kNone, kAnd, kOr, kXor, kCas, kExch, kAdd, kInc, kDec, kMin, kMax };

// The operation among an instruction's modifiers.
AtomicOp FindAtomicOp(const Instruction& inst);
// Whether the operation exists for the type (of up to 64 bits).
bool IsAtomicCombination(AtomicOp op, Type type);

// The new value at a location that holds `old`. b128 is not among these. `global`: f32 additions read and
// write subnormals as signed zeros, and f64 ones give NaNs as they are.
uint64_t ApplyAtomic(AtomicOp op, Type type, uint64_t old, uint64_t operand, uint64_t swap, bool global);

// Applies it to TypeBytes(type) bytes at `at`, which is aligned; the old value comes back. For kCas `operand`
// is what is compared with and `swap` what is stored. `global` memory, as against shared: see ApplyAtomic.
uint64_t AtomicUpdate(AtomicOp op, Type type, uint8_t* at, uint64_t operand, uint64_t swap, bool global);

struct Bits128 {
  uint64_t low = 0, high = 0;
};
// kExch and kCas of b128.
Bits128 AtomicUpdate128(AtomicOp op, uint8_t* at, Bits128 operand, Bits128 swap);

}  // namespace understudy::emu::ptx
