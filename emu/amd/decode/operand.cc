// SPDX-License-Identifier: Apache-2.0
// Operand fields to Operands. Numbers are RDNA3's (ISA manual, "Instruction operands: scalar and vector
// sources").
#include <array>

#include "absl/strings/str_cat.h"
#include "emu/amd/decode/cursor.h"
#include "emu/amd/decode/encoder.h"
#include "src/base/status.h"

namespace understudy::emu::amd::decode {
namespace {

constexpr uint32_t kTtmpFirst = 108, kTtmpLast = 123, kSgprLast = 105;

// Bit patterns of 0.5 -0.5 1 -1 2 -2 4 -4 1/(2*pi), operand codes 240..248, by InlineFloat.
constexpr uint64_t kInlineFloats[4][9] = {
    {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000, 0x40800000, 0xc0800000,
     0x3e22f983},
    {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118},
    {0x3f00, 0xbf00, 0x3f80, 0xbf80, 0x4000, 0xc000, 0x4080, 0xc080, 0x3e22},
    {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x4000000000000000,
     0xc000000000000000, 0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882},
};

void Fill(const Slot& slot, Operand::Kind kind, uint32_t reg, Operand* out) {
  out->kind = kind;
  out->type = slot.type;
  out->dwords = slot.dwords;
  out->implicit = false;
  out->reg = static_cast<uint16_t>(reg);
  out->bits = slot.bits;
  out->imm = 0;
}

// Which operand codes of 128 and more an operand's kind admits besides registers.
bool TakesConstants(OperandKind kind) {
  switch (kind) {
    case OperandKind::SRC:
    case OperandKind::SRC_NOLIT:
    case OperandKind::SSRC:
    case OperandKind::SSRC_LANESEL:
    case OperandKind::SREG_M0_INL:
    case OperandKind::SSRC_BARRIER_ID:
    case OperandKind::SRC_VGPR_OR_INLINE:
      return true;
    default:
      return false;
  }
}

bool TakesLiteral(OperandKind kind) {
  return kind == OperandKind::SRC || kind == OperandKind::SSRC || kind == OperandKind::SREG_LITERAL;
}

bool TakesSgpr(OperandKind kind) {
  switch (kind) {
    case OperandKind::VGPR:
    case OperandKind::SRC_VGPR:
    case OperandKind::SRC_VGPR_OR_INLINE:
      return false;
    default:
      return true;
  }
}

bool TakesVgpr(OperandKind kind) {
  switch (kind) {
    case OperandKind::SRC:
    case OperandKind::SRC_NOLIT:
    case OperandKind::VGPR:
    case OperandKind::SRC_VGPR:
    case OperandKind::SRC_VGPR_OR_INLINE:
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::Status ReadSgpr(Cursor* c, uint32_t field, const Slot& slot, Operand* out) {
  Fill(slot, Operand::Kind::kSgpr, field, out);
  if (slot.dwords == 1 || slot.type == DataType::M64) return absl::OkStatus();
  if (field == kRegNull) return absl::OkStatus();
  // Tuples: aligned, and inside one file.
  uint32_t last = field + slot.dwords - 1;
  bool in_ttmp = field >= kTtmpFirst && field <= kTtmpLast;
  uint32_t index = in_ttmp ? field - kTtmpFirst : field;
  if (index % slot.sgpr_align != 0) {
    return c->Refuse(absl::StrCat("scalar register ", field, " starts a tuple of ", slot.dwords,
                                  " and must be a multiple of ", slot.sgpr_align));
  }
  bool ok = last <= kSgprLast || (in_ttmp && last <= kTtmpLast) ||
            (slot.dwords == 2 && (field == kRegVccLo || field == kRegExecLo));
  if (!ok) {
    return c->Refuse(
        absl::StrCat("no tuple of ", slot.dwords, " scalar registers starts at operand ", field));
  }
  return absl::OkStatus();
}

absl::Status ReadVgpr(Cursor* c, uint32_t reg, const Slot& slot, int op_sel_bit, Operand* out, Inst* inst) {
  if (slot.half && c->reg_half) {
    if (reg & 0x80) inst->op_sel |= 1 << op_sel_bit;
    reg &= 0x7f;
  }
  Fill(slot, Operand::Kind::kVgpr, reg, out);
  if (reg + slot.dwords > 256) {
    return c->Refuse(absl::StrCat("v", reg, " starts a tuple of ", slot.dwords, " past v255"));
  }
  return absl::OkStatus();
}

absl::Status ReadSource(Cursor* c, uint32_t field, const Slot& slot, int i, Inst* inst) {
  Operand* out = &inst->src[i];
  if (slot.kind == OperandKind::SSRC_BARRIER_ID && field != kRegM0 && (field < 128 || field > 208)) {
    return c->Refuse(absl::StrCat("src", i, " = operand ", field, " must be a register: M0, or an integer"));
  }
  if (field >= 256) {
    if (!TakesVgpr(slot.kind))
      return c->Refuse(absl::StrCat("src", i, " = v", field - 256, " must be scalar"));
    return ReadVgpr(c, field - 256, slot, i, out, inst);
  }
  if (field < 128) {
    if (!TakesSgpr(slot.kind)) {
      return c->Refuse(absl::StrCat("src", i, " = scalar operand ", field, " must be a VGPR"));
    }
    return ReadSgpr(c, field, slot, out);
  }
  if (!TakesConstants(slot.kind)) {
    return c->Refuse(absl::StrCat("src", i, " = operand ", field, " must be a register"));
  }
  if (field <= 208) {
    Fill(slot, Operand::Kind::kInlineInt, 0, out);
    int64_t value = field <= 192 ? static_cast<int64_t>(field) - 128 : 192 - static_cast<int64_t>(field);
    out->imm = static_cast<uint64_t>(value);
    return absl::OkStatus();
  }
  if (field >= 240 && field <= 248) {
    Fill(slot, Operand::Kind::kInlineFloat, 0, out);
    out->imm = kInlineFloats[static_cast<int>(slot.inline_float)][field - 240];
    return absl::OkStatus();
  }
  if (field == 255) {
    if (!TakesLiteral(slot.kind)) return c->Refuse(absl::StrCat("src", i, " cannot be a literal"));
    US_RETURN_IF_ERROR(TakeLiteral(c, inst));
    *out = LiteralOperand(*inst, slot);
    return absl::OkStatus();
  }
  if (slot.kind == OperandKind::SRC_VGPR_OR_INLINE) {
    return c->Refuse(absl::StrCat("src", i, " = operand ", field, " must be a VGPR or an inline constant"));
  }
  Operand::Kind kind;
  switch (field) {
    case 235:
      kind = Operand::Kind::kSharedBase;
      break;
    case 236:
      kind = Operand::Kind::kSharedLimit;
      break;
    case 237:
      kind = Operand::Kind::kPrivateBase;
      break;
    case 238:
      kind = Operand::Kind::kPrivateLimit;
      break;
    case 239:
      kind = Operand::Kind::kPopsExitingWaveId;
      break;
    case 251:
      kind = Operand::Kind::kVccz;
      break;
    case 252:
      kind = Operand::Kind::kExecz;
      break;
    case 253:
      kind = Operand::Kind::kScc;
      break;
    case 233:
    case 234:
    case 250:
      return c->Refuse(
          absl::StrCat("src", i, " = operand ", field, " announces a DPP word that this layout lacks"));
    default:
      return c->Refuse(absl::StrCat("src", i, " = operand ", field, " is reserved"));
  }
  Fill(slot, kind, 0, out);
  return absl::OkStatus();
}

uint32_t InlineFloatCode(uint64_t pattern) {
  for (const auto& row : kInlineFloats) {
    for (uint32_t i = 0; i < 9; ++i) {
      if (row[i] == pattern) return 240 + i;
    }
  }
  return 0;
}

uint64_t InlineFloatAsF16(uint64_t f32) {
  for (int i = 0; i < 9; ++i) {
    if (kInlineFloats[0][i] == f32) return kInlineFloats[1][i];
  }
  return f32;
}

Operand MaskRegister(uint16_t reg) {
  Operand out;
  out.kind = Operand::Kind::kSgpr;
  out.type = DataType::M64;
  out.dwords = 2;
  out.implicit = true;
  out.reg = reg;
  out.bits = 64;
  return out;
}

absl::Status TakeLiteral(Cursor* c, Inst* inst) {
  if (inst->has_literal) return absl::OkStatus();
  US_RETURN_IF_ERROR(c->Need(inst->size + 4));
  inst->lit32 = c->Word(inst->size);
  inst->has_literal = true;
  inst->size += 4;
  return absl::OkStatus();
}

Operand LiteralOperand(const Inst& inst, const Slot& slot) {
  Operand out;
  Fill(slot, Operand::Kind::kLiteral, 0, &out);
  switch (slot.literal_fill) {
    case LiteralFill::kZeroExtend:
      out.imm = inst.lit32;
      break;
    case LiteralFill::kSignExtend:
      out.imm = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(inst.lit32)));
      break;
    case LiteralFill::kHighHalf:
      out.imm = static_cast<uint64_t>(inst.lit32) << 32;
      break;
  }
  return out;
}

}  // namespace understudy::emu::amd::decode
