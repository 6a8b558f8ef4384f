// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/decode/rows.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "emu/amd/decode/raw_rows.h"
#include "src/base/status.h"

namespace understudy::emu::amd::decode {
namespace {

constexpr RawRow kRdna3[] = {
#include "emu/amd/isa/rdna3.inc"
};
constexpr RawRow kRdna4[] = {
#include "emu/amd/isa/rdna4.inc"
};

bool IsFloat(DataType t) {
  switch (t) {
    case DataType::F16:
    case DataType::F32:
    case DataType::F64:
    case DataType::BF16:
    case DataType::PK2_F16:
    case DataType::PK2_BF16:
      return true;
    default:
      return false;
  }
}

// The width decides, not the type: a 16-bit integer operand gets the f16 pattern, a 64-bit one the f64
// pattern, packed integers the f32 pattern (as LLVM MC expands them). Scalar instructions read 32 bits even
// for 16-bit operands.
InlineFloat InlineFloatOf(DataType t, int bits, bool scalar) {
  switch (t) {
    case DataType::F16:
    case DataType::PK2_F16:
    case DataType::WMMA_DC_F16:
    case DataType::WMMA_AB_F16:
      return InlineFloat::kF16;
    case DataType::BF16:
    case DataType::PK2_BF16:
    case DataType::WMMA_DC_BF16:
    case DataType::WMMA_AB_BF16:
      return InlineFloat::kBF16;
    case DataType::M64:
      return InlineFloat::kF32;
    default:
      if (bits == 16 && !scalar) return InlineFloat::kF16;
      return bits == 64 ? InlineFloat::kF64 : InlineFloat::kF32;
  }
}

bool IsScalar(Encoding enc) {
  return enc == Encoding::SOP1 || enc == Encoding::SOP2 || enc == Encoding::SOPC || enc == Encoding::SOPK;
}

Slot MakeSlot(Encoding enc, const RawOperand& raw) {
  Slot s;
  s.kind = raw.kind;
  s.type = raw.type;
  s.bits = raw.bits;
  s.dwords = std::max(1, (raw.bits + 31) / 32);
  // Pairs are even, larger tuples start at a multiple of four. A lane mask is one register in wave32, so the
  // decoder, which does not know the wave size, takes any.
  s.sgpr_align = raw.type == DataType::M64 ? 1 : s.dwords == 1 ? 1 : s.dwords == 2 ? 2 : 4;
  s.inline_float = InlineFloatOf(raw.type, raw.bits, IsScalar(enc));
  s.literal_fill = raw.type == DataType::F64   ? LiteralFill::kHighHalf
                   : raw.type == DataType::I64 ? LiteralFill::kSignExtend
                                               : LiteralFill::kZeroExtend;
  s.half = raw.bits == 16;
  return s;
}

// The slot of Inst that a field goes to: 0..1 destinations, 2.. sources, -1 not an operand.
int SlotOf(Encoding enc, Field field) {
  switch (field) {
    case Field::SDST:
      return enc == Encoding::VOP3SD ? 1 : 0;
    case Field::VDST:
    case Field::VDSTY:
    case Field::SDATA:
      return 0;
    case Field::SSRC0:
    case Field::SRC0:
    case Field::SRCY0:
    case Field::SBASE:
    case Field::ADDR:
    case Field::VADDR:
      return 2;
    case Field::VSRC0:
      return 2;
    case Field::SSRC1:
    case Field::SRC1:
    case Field::VSRC1:
    case Field::VSRCY1:
    case Field::DATA0:
    case Field::DATA:
    case Field::SRSRC:
    case Field::RSRC:
    case Field::VSRC:
      return 3;
    case Field::SOFFSET:
      return enc == Encoding::SMEM ? 3 : 4;
    case Field::SRC2:
    case Field::DATA1:
    case Field::SADDR:
    case Field::SSAMP:
    case Field::SAMP:
    case Field::VSRC2:
      return 4;
    case Field::VDATA:
    case Field::VSRC3:
      return 5;
    default:
      return -1;
  }
}

bool StartsWith(const char* name, const char* prefix) {
  return std::strncmp(name, prefix, std::strlen(prefix)) == 0;
}

Implicit ImplicitOf(Encoding enc, Opcode op) {
  if (StartsWith(OpcodeName(op), "V_SWMMAC_")) return Implicit::kTiedSrc3;
  switch (op) {
    case Opcode::V_FMAC_F32:
    case Opcode::V_FMAC_F16:
    case Opcode::V_FMAC_DX9_ZERO_F32:
    case Opcode::V_PK_FMAC_F16:
    case Opcode::V_DOT2ACC_F32_F16:
    case Opcode::V_DOT2ACC_F32_BF16:
    case Opcode::S_FMAC_F32:
    case Opcode::S_FMAC_F16:
      return Implicit::kTiedSrc2;
    case Opcode::V_FMAMK_F32:
    case Opcode::V_FMAMK_F16:
    case Opcode::S_FMAMK_F32:
      return Implicit::kFmaLitMid;
    case Opcode::V_FMAAK_F32:
    case Opcode::V_FMAAK_F16:
    case Opcode::S_FMAAK_F32:
      return Implicit::kFmaLitLast;
    case Opcode::V_CNDMASK_B32:
      return enc == Encoding::VOP3 ? Implicit::kNone : Implicit::kVccSrc2;
    case Opcode::V_ADD_CO_CI_U32:
    case Opcode::V_SUB_CO_CI_U32:
    case Opcode::V_SUBREV_CO_CI_U32:
      return enc == Encoding::VOP2 ? Implicit::kVccCarry : Implicit::kNone;
    case Opcode::V_DIV_FMAS_F32:
    case Opcode::V_DIV_FMAS_F64:
      return Implicit::kVccSrc3;
    case Opcode::V_SWAP_B32:
    case Opcode::V_SWAP_B16:
    case Opcode::V_SWAPREL_B32:
      return Implicit::kSwap;
    default:
      return Implicit::kNone;
  }
}

// Integer instructions for which the manual gives clamp a meaning (saturate); float ones have it by their
// types.
bool IntegerClamp(Opcode op) {
  switch (op) {
    case Opcode::V_MUL_I32_I24:
    case Opcode::V_MUL_U32_U24:
    case Opcode::V_ADD_NC_U32:
    case Opcode::V_SUB_NC_U32:
    case Opcode::V_SUBREV_NC_U32:
    case Opcode::V_ADD_NC_I32:
    case Opcode::V_SUB_NC_I32:
    case Opcode::V_ADD_NC_U16:
    case Opcode::V_SUB_NC_U16:
    case Opcode::V_ADD_NC_I16:
    case Opcode::V_SUB_NC_I16:
    case Opcode::V_MAD_I32_I24:
    case Opcode::V_MAD_U32_U24:
    case Opcode::V_MAD_U16:
    case Opcode::V_MAD_I16:
    case Opcode::V_MAD_U32_U16:
    case Opcode::V_MAD_I32_I16:
    case Opcode::V_MIN3_I16:
    case Opcode::V_MIN3_U16:
    case Opcode::V_MAX3_I16:
    case Opcode::V_MAX3_U16:
    case Opcode::V_MED3_I16:
    case Opcode::V_MED3_U16:
    case Opcode::V_SAD_U8:
    case Opcode::V_SAD_HI_U8:
    case Opcode::V_SAD_U16:
    case Opcode::V_SAD_U32:
    case Opcode::V_MSAD_U8:
    case Opcode::V_QSAD_PK_U16_U8:
    case Opcode::V_MQSAD_PK_U16_U8:
    case Opcode::V_MQSAD_U32_U8:
    case Opcode::V_ADD_CO_U32:
    case Opcode::V_SUB_CO_U32:
    case Opcode::V_SUBREV_CO_U32:
    case Opcode::V_ADD_CO_CI_U32:
    case Opcode::V_SUB_CO_CI_U32:
    case Opcode::V_SUBREV_CO_CI_U32:
    case Opcode::V_MAD_U64_U32:
    case Opcode::V_MAD_I64_I32:
      return true;
    default:
      return false;
  }
}

// Float instructions that take neither clamp nor omod.
bool NoOutputModifier(Opcode op) {
  switch (op) {
    case Opcode::V_DOT2_F16_F16:
    case Opcode::V_DOT2_BF16_BF16:
    case Opcode::V_CNDMASK_B16:
    case Opcode::V_CNDMASK_B32:
      return true;
    default:
      return StartsWith(OpcodeName(op), "V_CMP_CLASS") || StartsWith(OpcodeName(op), "V_CMPX_CLASS");
  }
}

void FillModifiers(Row* row) {
  bool any_float = IsFloat(row->dst[0].type);
  for (int i = 0; i < 3; ++i) {
    if (!row->src[i].present()) continue;
    if (IsFloat(row->src[i].type)) row->float_mods |= 1 << i, any_float = true;
    if (row->src[i].half) row->op_sel |= 1 << i;
  }
  if (row->dst[0].half) row->op_sel |= 8;
  // Neg and abs act on the bit pattern that a select passes through.
  if (row->op == Opcode::V_CNDMASK_B32 || row->op == Opcode::V_CNDMASK_B16) row->float_mods |= 3;
  // A byte of the source or of the destination, as two bits (see Inst::op_sel).
  bool rdna_fp8 = row->enc == Encoding::VOP3;
  switch (row->op) {
    case Opcode::V_CVT_F32_FP8:
    case Opcode::V_CVT_F32_BF8:
      if (rdna_fp8) row->op_sel |= 3;
      break;
    case Opcode::V_CVT_SR_FP8_F32:
    case Opcode::V_CVT_SR_BF8_F32:
      if (rdna_fp8) row->op_sel |= 12;
      break;
    default:
      break;
  }
  // op_sel bits 0 and 1 carry FI and BC of the lane permutes.
  if (row->op == Opcode::V_PERMLANE16_B32 || row->op == Opcode::V_PERMLANEX16_B32 ||
      row->op == Opcode::V_PERMLANE16_VAR_B32 || row->op == Opcode::V_PERMLANEX16_VAR_B32) {
    row->op_sel |= 3;
  }
  if (!NoOutputModifier(row->op)) {
    row->clamp = any_float || IntegerClamp(row->op);
    row->omod = IsFloat(row->dst[0].type);
  }
}

}  // namespace

Row MakeRow(const RawRow& raw) {
  Row row;
  row.op = raw.op;
  row.enc = raw.enc;
  row.number = raw.number;
  row.layouts = raw.layouts;
  row.e32_suffix = raw.suffix == Suffix::E32;
  row.e64_suffix = raw.suffix == Suffix::E64;
  for (const RawOperand& operand : raw.operands) {
    int slot = operand.field == Field::NONE ? -1 : SlotOf(raw.enc, operand.field);
    if (operand.field == Field::SIMM16) row.has_immediate = true;
    if (slot < 0) continue;
    if (slot < 2) {
      row.dst[slot] = MakeSlot(raw.enc, operand);
    } else {
      row.src[slot - 2] = MakeSlot(raw.enc, operand);
      row.n_src = std::max<int>(row.n_src, slot - 1);
    }
  }
  if (raw.enc == Encoding::VIMAGE || raw.enc == Encoding::VSAMPLE) {
    // The tables do not list the address fields; how many registers each holds is the decoder's.
    row.src[0] = MakeSlot(raw.enc, {Field::VADDR, DataType::ANY, 32, OperandKind::VGPR});
    row.n_src = 4;
  }
  row.implicit = ImplicitOf(raw.enc, raw.op);
  row.cmpx = StartsWith(OpcodeName(raw.op), "V_CMPX_");
  FillModifiers(&row);
  return row;
}

namespace {

// Rows of the table that no machine has: GLOBAL_* mnemonics listed under FLAT too, and a VOP3 form of an
// instruction that writes an SGPR, which the manual gives to VOP1 alone.
bool IsArtefact(const RawRow& raw) {
  bool flat = raw.enc == Encoding::FLAT || raw.enc == Encoding::VFLAT;
  if (flat && StartsWith(OpcodeName(raw.op), "GLOBAL_")) return true;
  return false;
}

// Scalar float arithmetic came with gfx1150 (RDNA3.5), whose rows share RDNA3's tables.
bool IsRdna35(const RawRow& raw) {
  switch (raw.enc) {
    case Encoding::SOP1:
      return raw.number >= 96 && raw.number <= 110;
    case Encoding::SOP2:
      return raw.number >= 64 && raw.number <= 78;
    case Encoding::SOPC:
      return raw.number >= 65 && raw.number <= 94;
    default:
      return false;
  }
}

}  // namespace

namespace {

uint64_t Key(const Row& row) {
  return static_cast<uint64_t>(row.enc) << 32 | static_cast<uint64_t>(row.op) << 16 | row.number;
}

}  // namespace

Table::Table(std::vector<Row> rows) : rows_(std::move(rows)) {
  for (const Row& row : rows_) {
    auto& index = by_encoding_[static_cast<int>(row.enc)];
    if (index.size() <= row.number) index.resize(row.number + 1, nullptr);
    index[row.number] = &row;
    by_opcode_.push_back(&row);
  }
  std::sort(by_opcode_.begin(), by_opcode_.end(),
            [](const Row* a, const Row* b) { return Key(*a) < Key(*b); });
}

const Row* Table::Find(Encoding enc, Opcode op) const {
  Row wanted;
  wanted.enc = enc;
  wanted.op = op;
  auto at = std::lower_bound(by_opcode_.begin(), by_opcode_.end(), Key(wanted),
                             [](const Row* row, uint64_t key) { return Key(*row) < key; });
  return at != by_opcode_.end() && (*at)->enc == enc && (*at)->op == op ? *at : nullptr;
}

namespace {

// What assemblers and machine know of RDNA4 beyond its tables.
void AdjustRdna4(Row* row) {
  switch (row->op) {
    case Opcode::V_CVT_F32_FP8:
    case Opcode::V_CVT_F32_BF8:
    case Opcode::V_CVT_PK_F32_FP8:
    case Opcode::V_CVT_PK_F32_BF8:
    case Opcode::V_CVT_PK_FP8_F32:
    case Opcode::V_CVT_PK_BF8_F32:
    case Opcode::V_CVT_SR_FP8_F32:
    case Opcode::V_CVT_SR_BF8_F32:
      row->clamp = row->omod = false;
      return;
    case Opcode::V_DOT4_F32_FP8_BF8:
    case Opcode::V_DOT4_F32_BF8_FP8:
    case Opcode::V_DOT4_F32_FP8_FP8:
    case Opcode::V_DOT4_F32_BF8_BF8:
      row->layouts |= kLayDpp16 | kLayDpp8;
      return;
    default:
      return;
  }
}

template <size_t n>
Table Build(const RawRow (&raw_rows)[n], bool with_rdna35) {
  std::vector<Row> rows;
  rows.reserve(n);
  for (const RawRow& raw : raw_rows) {
    if (IsArtefact(raw)) continue;
    Row row = MakeRow(raw);
    row.rdna35 = with_rdna35 && IsRdna35(raw);
    if (!with_rdna35) AdjustRdna4(&row);
    rows.push_back(row);
  }
  return Table(std::move(rows));
}

const Table& Rdna4Table() {
  static const Table* const table = new Table(Build(kRdna4, false));
  return *table;
}

}  // namespace

const Table& Rdna3Table() {
  static const Table* const table = new Table(Build(kRdna3, true));
  return *table;
}

const Table& TableOf(Isa isa) {
  switch (isa) {
    case Isa::kRdna3:
    case Isa::kRdna35:
      return Rdna3Table();
    case Isa::kRdna4:
      return Rdna4Table();
    case Isa::kCdna2: {
      static const Table* const table = new Table(BuildCdnaTable(isa));
      return *table;
    }
    case Isa::kCdna3: {
      static const Table* const table = new Table(BuildCdnaTable(isa));
      return *table;
    }
    case Isa::kCdna4: {
      static const Table* const table = new Table(BuildCdnaTable(isa));
      return *table;
    }
  }
  US_CHECK(false) << "no generation has number " << static_cast<int>(isa);
  std::abort();
}

}  // namespace understudy::emu::amd::decode
