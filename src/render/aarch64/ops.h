// SPDX-License-Identifier: Apache-2.0
#pragma once
// AArch64 instructions as machine::Inst: the table of opcodes, their words and their text as LLVM MC prints
// it. Inst::bytes is the size of a lane or scalar (4 or 8) where that matters. Used by the emitter and the
// assembler.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/render/machine/ir.h"

namespace understudy::aarch64 {

// Where the operands go: Rd 0, Rn 5, Rm 16, Ra 10.
enum class Encoding : uint8_t {
  kRegs,       // registers in order: Rd, Rn, Rm, Ra
  kRm,         // Rd, Rm
  kBoth,       // Rd, and the other as Rn and Rm
  kShifted,    // Rd, Rn, Rm, amount
  kImm12,      // Rd, Rn, a number below 4096, or a multiple of 4096
  kMask,       // Rd, Rn, 2^n - 1
  kMovImm,     // Rd, a number of one MOVZ or MOVN
  kShiftLeft,  // Rd, Rn, amount
  kShiftRight,
  kExtend,      // Rd, Rn; bit 22 with bit 31
  kCompare,     // Rn, Rm
  kCompareImm,  // Rn, a number below 4096
  kSelect,      // Rd, Rn, Rm and the condition
  kSet,         // Rd and the condition
  kBranch,      // block
  kBranchIf,
  kAdr,         // Rd, pool
  kMemory,      // Rt, memory
  kStore,       // memory, Rt
  kLiteral,     // Rt, pool
  kVectorLeft,  // Rd, Rn, amount
  kVectorRight,
  kLane,          // Rd, Rn, lane
  kLaneZero,      // Rd, Rn
  kLaneToGeneral  // Rd, Rn, lane
};
enum Widths : uint8_t { kNone = 0, kSf = 1, kWide = 2, kBoth = 3 };

enum Op : uint16_t {
#define OP(name, text, encoding, word, widths) k##name##Op,
#include "src/render/aarch64/ops.inc"
  kNumOps
};

struct OpInfo {
  const char* text;
  Encoding encoding;
  uint32_t word;
  Widths widths;
};
const OpInfo& InfoOf(uint16_t op);

inline constexpr machine::Reg kSp = 31;

// Where the frame's slots and the pool are, once that is known.
struct Layout {
  std::vector<int64_t> slot_offsets;  // from SP
  int64_t pool_offset = 0;            // from the code's start
};

// A slot or constant is written by its number unless the layout and the instruction's offset are given; jumps
// name blocks.
std::string Text(const machine::Inst& inst, const Layout* layout = nullptr, int64_t offset = 0);

// The word of the instruction at `offset`. Jumps: `target` is the offset of the block. ResourceExhausted when
// a distance or a place in the frame does not fit.
absl::StatusOr<uint32_t> Encode(const machine::Inst& inst, const Layout& layout, int64_t offset,
                                int64_t target);

// Whether one MOVZ or MOVN of 32 or 64 bits makes the value; 2^n - 1 with 0 < n < bits.
bool IsMovImm(int bits, int64_t value);
bool IsMask(int bits, int64_t value);

}  // namespace understudy::aarch64
