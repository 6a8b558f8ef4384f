// SPDX-License-Identifier: Apache-2.0
// Operand fields of CDNA to Operands (CDNA3 ISA manual, "Scalar ALU operands" and "Vector ALU operands"): s0
// to s101, FLAT_SCRATCH 102, XNACK_MASK 104, VCC 106, TTMP 108, M0 124, EXEC 126; 125 does not exist.
#include "absl/strings/str_cat.h"
#include "emu/amd/decode/cdna.h"
#include "src/base/status.h"

namespace understudy::emu::amd::decode {
namespace {

constexpr uint32_t kSgprLast = 101, kFlatScratch = 102, kXnackMask = 104, kTtmpFirst = 108, kTtmpLast = 123,
                   kNoRegister = 125, kLdsDirect = 254, kLiteral = 255;

void Fill(const Slot& slot, Operand::Kind kind, uint32_t reg, Operand* out) {
  out->kind = kind;
  out->type = slot.type;
  out->dwords = slot.dwords;
  out->implicit = false;
  out->reg = static_cast<uint16_t>(reg);
  out->bits = slot.bits;
  out->imm = 0;
}

// Whether a tuple of two or more scalar registers may start at `code`.
bool StartsSgprTuple(uint32_t code, int dwords, int align) {
  uint32_t last = code + dwords - 1;
  if (code <= kSgprLast) return last <= kSgprLast && code % align == 0;
  if (code >= kTtmpFirst && code <= kTtmpLast) return last <= kTtmpLast && (code - kTtmpFirst) % align == 0;
  return dwords == 2 &&
         (code == kFlatScratch || code == kXnackMask || code == kRegVccLo || code == kRegExecLo);
}

struct Accepts {
  bool sgpr = false, vgpr = false, constant = false, special = false, literal = false, lds = false;
};

// `special`: the apertures, POPS, VCCZ, EXECZ and SCC.
Accepts WhatFits(OperandKind kind) {
  switch (kind) {
    case OperandKind::SRC:
      return {true, true, true, true, true, true};
    case OperandKind::SRC_NOLDS:
      return {true, true, true, true, true, false};
    case OperandKind::SRC_NOLIT:
      return {true, true, true, true, false, true};
    case OperandKind::SRC_SIMPLE:
      return {true, true, true, true, false, false};
    case OperandKind::SSRC:
      return {true, false, true, true, true, false};
    case OperandKind::SSRC_NOLIT:
      return {true, false, true, true, false, false};
    case OperandKind::SSRC_LANESEL:
      return {true, false, true, false, false, false};
    case OperandKind::VGPR_OR_LDS:
      return {false, true, false, false, false, true};
    case OperandKind::SRC_VGPR_OR_ACCVGPR_OR_CONST:
      return {false, true, true, false, false, false};
    case OperandKind::VGPR:
    case OperandKind::SRC_VGPR:
    case OperandKind::SRC_ACCVGPR:
    case OperandKind::SRC_VGPR_OR_ACCVGPR:
    case OperandKind::VGPR_OR_ACCVGPR:
      return {false, true, false, false, false, false};
    default:
      return {true, false, false, false, false, false};
  }
}

}  // namespace

absl::Status CheckCdnaBits(Cursor* c, const CdnaBits& allowed, uint64_t operands, uint64_t* bits) {
  uint64_t unknown = c->w & ~operands & ~(allowed.used | allowed.ignored | allowed.required);
  if (unknown != 0) {
    int bit = __builtin_ctzll(unknown);
    return c->Refuse(absl::StrCat("bit ", bit, " has no meaning here and must be zero"));
  }
  uint64_t missing = allowed.required & ~operands & ~c->w;
  if (missing != 0) return c->Refuse(absl::StrCat("bit ", __builtin_ctzll(missing), " must be set here"));
  *bits = c->w & ~(allowed.ignored & ~operands);
  return absl::OkStatus();
}

absl::Status ReadCdnaSgpr(Cursor* c, uint32_t code, const Slot& slot, Operand* out) {
  if (code == kNoRegister || code >= 128) {
    return c->Refuse(absl::StrCat("operand ", code, " is not a scalar register"));
  }
  if (slot.dwords > 1 && !StartsSgprTuple(code, slot.dwords, slot.sgpr_align)) {
    return c->Refuse(absl::StrCat("no tuple of ", slot.dwords, " scalar registers starts at operand ", code));
  }
  Fill(slot, Operand::Kind::kSgpr, code == kCdnaM0 ? uint32_t{kRegM0} : code, out);
  return absl::OkStatus();
}

absl::Status ReadCdnaVgpr(Cursor* c, uint32_t reg, const Slot& slot, bool agpr, Operand* out) {
  if (reg + slot.dwords > 256) {
    return c->Refuse(absl::StrCat("register ", reg, " starts a tuple of ", slot.dwords, " past the 256th"));
  }
  if (slot.dwords > 1 && reg % 2 != 0) {
    return c->Refuse(absl::StrCat("register ", reg, " starts a tuple of ", slot.dwords, " and must be even"));
  }
  Fill(slot, agpr ? Operand::Kind::kAgpr : Operand::Kind::kVgpr, reg, out);
  return absl::OkStatus();
}

absl::Status ReadCdnaSource(Cursor* c, uint32_t code, const Slot& slot, int i, bool agpr, Inst* inst) {
  Operand* out = &inst->src[i];
  Accepts accepts = WhatFits(slot.kind);
  if (code >= 256) {
    if (!accepts.vgpr) return c->Refuse(absl::StrCat("src", i, " = v", code - 256, " must be scalar"));
    return ReadCdnaVgpr(c, code - 256, slot, agpr, out);
  }
  if (code < 128) {
    if (!accepts.sgpr) {
      return c->Refuse(absl::StrCat("src", i, " = scalar operand ", code, " must be a VGPR"));
    }
    return ReadCdnaSgpr(c, code, slot, out);
  }
  if (code == kLdsDirect) {
    if (!accepts.lds) return c->Refuse(absl::StrCat("src", i, " cannot be lds_direct"));
    if (slot.dwords != 1) {
      return c->Refuse(absl::StrCat("src", i, " = lds_direct is 32 bits wide, the operand ", slot.bits));
    }
    Fill(slot, Operand::Kind::kLdsDirect, 0, out);
    return absl::OkStatus();
  }
  bool constant = code <= 208 || (code >= 240 && code <= 248);
  bool fits = constant ? accepts.constant : code == kLiteral ? accepts.literal : accepts.special;
  if (!fits) return c->Refuse(absl::StrCat("src", i, " = operand ", code, " does not fit this operand"));
  // Constants, the literal, the apertures and the condition bits have one numbering in all generations.
  Slot any = slot;
  any.kind = OperandKind::SRC;
  return ReadSource(c, code, any, i, inst);
}

absl::Status TakeSecondWord(Cursor* c, Inst* inst) {
  US_RETURN_IF_ERROR(c->Need(8));
  inst->size = 8;
  c->w |= static_cast<uint64_t>(c->Word(4)) << 32;
  return absl::OkStatus();
}

}  // namespace understudy::emu::amd::decode
