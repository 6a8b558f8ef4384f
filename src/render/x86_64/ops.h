// SPDX-License-Identifier: Apache-2.0
#pragma once
// x86-64 instructions as machine::Inst: the table of opcodes, how each form's operands are encoded, and their
// text in Intel syntax as LLVM MC prints it. Used by the emitter and the encoder.

#include <cstdint>
#include <string>
#include <vector>

#include "src/render/machine/ir.h"

namespace understudy::x86_64 {

// Operands in the order of the text. "rm" is the operand that may be memory.
enum class Form : uint8_t {
  kMR,          // rm, reg; where operand 1 is memory the opcode's other direction
  kRM,          // reg, rm
  kRMI,         // reg, rm, imm
  kM,           // rm
  kMI,          // rm, imm
  kMovImm,      // reg, imm
  kShiftImm,    // rm, imm
  kShiftCl,     // rm, cl
  kDivide,      // rm; then eax and edx, which the text leaves out
  kHidden,      // nothing in the text
  kSet,         // reg; of Inst::cond
  kCmov,        // reg, rm; of Inst::cond
  kJump,        // block; conditional ones of Inst::cond
  kPushPop,     // reg
  kZero,        // reg
  kV2,          // reg, rm
  kV2Imm,       // reg, rm, imm
  kV2Store,     // rm, reg
  kV2StoreImm,  // rm, reg, imm
  kV3,          // reg, rm; with AVX reg, vvvv, rm
  kV3Imm,       // the same with imm
  kV3One,       // reg, rm; with AVX reg, vvvv, rm
  kV3OneImm,    // the same with imm
  kCompare,     // reg, rm, imm; with AVX reg, vvvv, rm, imm; the text names the comparison
  kVShift,      // reg, imm; with AVX vvvv, rm, imm
  kV4,          // reg, vvvv, rm, is4
};

enum Op : uint16_t {
#define OP(name, mnemonic, form, prefix, map, opcode, extension, w) k##name,
#include "src/render/x86_64/ops.inc"
  kNumOps
};

struct OpInfo {
  const char* mnemonic;
  Form form;
  uint8_t prefix, map, opcode, extension;
  int8_t w;
};
const OpInfo& InfoOf(uint16_t op);

// The number of a condition in SETcc, CMOVcc and Jcc (SDM volume 2, appendix B.1.4.7).
int ConditionCode(machine::Cond c);

inline constexpr machine::Reg kRax = 0, kRcx = 1, kRdx = 2, kRbx = 3, kRsp = 4, kRbp = 5, kRsi = 6, kRdi = 7;

// Where the frame's slots and the pool are, once that is known.
struct Layout {
  std::vector<int> slot_offsets;  // from RSP
  int64_t pool_offset = 0;        // from the code's start
};

// A slot or constant is written by its number unless the layout and the offset of the next instruction are
// given; jumps name blocks.
std::string Text(const machine::Inst& inst, const Layout* layout = nullptr, int64_t next_offset = 0);

// Appends the instruction. Jumps: `target` is the offset of the block, or -1 when it comes later; then four
// bytes of displacement are left for the caller to fill, the last of the instruction.
void Encode(const machine::Inst& inst, const Layout& layout, int64_t target, std::vector<uint8_t>* code);

}  // namespace understudy::x86_64
