// SPDX-License-Identifier: Apache-2.0
#pragma once
// The generated opcode tables as they stand (emu/amd/isa/*.inc), before their operands are placed. A file
// that builds a generation's Table includes this, then its .inc inside an array of RawRow. Internal to
// emu/amd/decode.

#include <cstdint>

#include "emu/amd/decode/rows.h"

namespace understudy::emu::amd::decode {

enum class Field : uint8_t {
  NONE,
#define AMD_FIELD(name) name,
#include "emu/amd/isa/operand_fields.inc"
#undef AMD_FIELD
};

enum class Suffix : uint8_t { NONE, E32, E64 };

struct RawOperand {
  Field field;
  DataType type;
  uint16_t bits;
  OperandKind kind;
};

struct RawRow {
  Encoding enc;
  uint16_t number;
  Opcode op;
  Suffix suffix;
  uint8_t layouts;
  RawOperand operands[6];
};

#define AMD_OPERAND_UNPACK(field, type, bits, kind) \
  RawOperand { Field::field, DataType::type, bits, OperandKind::kind }
#define AMD_OPERAND(tuple) AMD_OPERAND_UNPACK tuple
#define AMD_NONE (NONE, NONE, 0, NONE)
#define AMD_INSN(enc, number, op, suffix, layouts, a, b, c, d, e, f) \
  RawRow{Encoding::enc,                                              \
         number,                                                     \
         Opcode::op,                                                 \
         Suffix::suffix,                                             \
         layouts,                                                    \
         {AMD_OPERAND(a), AMD_OPERAND(b), AMD_OPERAND(c), AMD_OPERAND(d), AMD_OPERAND(e), AMD_OPERAND(f)}},

// The decoder's view of a row: operands in the slots where Inst wants them, what may modify them, and the
// implicit ones.
Row MakeRow(const RawRow& raw);

}  // namespace understudy::emu::amd::decode
