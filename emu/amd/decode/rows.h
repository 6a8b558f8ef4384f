// SPDX-License-Identifier: Apache-2.0
#pragma once
// The decoder's view of an opcode table: one Row an opcode, with each operand placed in the slot where Inst
// wants it, and what may modify it. Built once from the generated tables; used by the decoder and by tests
// and reports that walk every opcode.

#include <cstdint>
#include <vector>

#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd::decode {

enum class OperandKind : uint8_t {
  NONE,
#define AMD_OPERAND_KIND(name) name,
#include "emu/amd/isa/operand_fields.inc"
#undef AMD_OPERAND_KIND
};

// How the hardware widens a constant to the operand.
enum class InlineFloat : uint8_t { kF32, kF16, kBF16, kF64 };
enum class LiteralFill : uint8_t { kZeroExtend, kSignExtend, kHighHalf };

struct Slot {
  OperandKind kind = OperandKind::NONE;
  DataType type = DataType::NONE;
  uint16_t bits = 0;
  uint8_t dwords = 0;
  uint8_t sgpr_align = 1;  // in registers; a misaligned tuple is refused
  InlineFloat inline_float = InlineFloat::kF32;
  LiteralFill literal_fill = LiteralFill::kZeroExtend;
  bool half = false;  // 16-bit: lies in one half of a VGPR
  bool present() const { return kind != OperandKind::NONE; }
};

// Operands that the assembly text does not name.
enum class Implicit : uint8_t {
  kNone,
  kTiedSrc2,    // src[2] = vdst
  kVccSrc2,     // src[2] = VCC
  kVccCarry,    // dst[1] = src[2] = VCC
  kVccOut,      // dst[1] = VCC
  kVccSrc3,     // src[3] = VCC
  kTiedSrc3,    // src[3] = vdst
  kSwap,        // dst[1] = src0, src[1] = vdst
  kFmaLitMid,   // src = {src0, K, src1}
  kFmaLitLast,  // src = {src0, src1, K}
};

enum Layout : uint8_t { kLayLit = 1, kLayDpp16 = 2, kLayDpp8 = 4, kLaySdwa = 8 };

struct Row {
  Opcode op = Opcode::kCount;
  Encoding enc = Encoding::kCount;
  uint16_t number = 0;
  uint8_t layouts = 0;
  bool e32_suffix = false, e64_suffix = false;
  uint8_t n_src = 0;
  Implicit implicit = Implicit::kNone;
  uint8_t float_mods = 0;  // bit i: neg/abs have a meaning on source i
  bool clamp = false, omod = false;
  uint8_t op_sel = 0;          // bit i: op_sel selects a half of source i (3: of vdst)
  bool has_immediate = false;  // a simm16 operand
  bool cmpx = false;
  bool rdna35 = false;  // exists from gfx1150 on
  Slot dst[2];
  Slot src[4];
};

// Rows of one generation, indexed by encoding and opcode number.
class Table {
 public:
  Table() = default;
  explicit Table(std::vector<Row> rows);
  Table(Table&&) = default;  // moving keeps the rows where they are
  Table& operator=(Table&&) = default;
  // nullptr when the encoding has no such opcode.
  const Row* Find(Encoding enc, uint32_t number) const {
    const auto& index = by_encoding_[static_cast<int>(enc)];
    return number < index.size() ? index[number] : nullptr;
  }
  // The row of a mnemonic in an encoding; nullptr when it has none.
  const Row* Find(Encoding enc, Opcode op) const;
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
  std::vector<const Row*> by_opcode_;  // sorted by encoding and mnemonic
  std::vector<const Row*> by_encoding_[static_cast<int>(Encoding::kCount)];
};

// The table of a generation. kRdna3 and kRdna35 share one, whose rows say `rdna35`
// where the older generation lacks them.
const Table& TableOf(Isa isa);

const Table& Rdna3Table();
// What TableOf builds once for kCdna2, kCdna3 and kCdna4 (cdna_decode.cc).
Table BuildCdnaTable(Isa isa);

}  // namespace understudy::emu::amd::decode
