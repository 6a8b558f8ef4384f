// SPDX-License-Identifier: Apache-2.0
// The opcode tables of CDNA2, CDNA3 and CDNA4 as Rows, and the bits that each opcode uses.
#include <array>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "emu/amd/decode/cdna_bits.h"
#include "emu/amd/decode/raw_rows.h"

namespace understudy::emu::amd::decode {
namespace {

constexpr RawRow kCdna2[] = {
#include "emu/amd/isa/cdna2.inc"
};
constexpr RawRow kCdna3[] = {
#include "emu/amd/isa/cdna3.inc"
};
constexpr RawRow kCdna4[] = {
#include "emu/amd/isa/cdna4.inc"
};

enum class BitLayout : uint8_t {
  VOP3,
  VOP3P,
  VOP1_DPP,
  VOP1_SDWA,
  VOP2_DPP,
  VOP2_SDWA,
  VOPC_DPP,
  VOPC_SDWA,
  DS,
  FLAT,
  SCRATCH,
  GLOBAL,
  MUBUF,
  MTBUF,
  MIMG,
  SMEM,
};

struct BitRow {
  BitLayout layout;
  uint16_t number;
  uint8_t generations;
  CdnaBits bits;
};

constexpr BitRow kBits[] = {
#define AMD_CDNA_BITS(layout, number, generations, used, ignored, required) \
  {BitLayout::layout, number, generations, {used, ignored, required}},
#include "emu/amd/isa/cdna_bits.inc"
#undef AMD_CDNA_BITS
};

// The encoding of a layout's rows, and which of a row's masks it fills.
std::pair<Encoding, CdnaBits CdnaRowBits::*> PlaceOf(BitLayout layout) {
  switch (layout) {
    case BitLayout::VOP3:
      return {Encoding::VOP3, &CdnaRowBits::plain};
    case BitLayout::VOP3P:
      return {Encoding::VOP3P, &CdnaRowBits::plain};
    case BitLayout::VOP1_DPP:
      return {Encoding::VOP1, &CdnaRowBits::dpp};
    case BitLayout::VOP1_SDWA:
      return {Encoding::VOP1, &CdnaRowBits::sdwa};
    case BitLayout::VOP2_DPP:
      return {Encoding::VOP2, &CdnaRowBits::dpp};
    case BitLayout::VOP2_SDWA:
      return {Encoding::VOP2, &CdnaRowBits::sdwa};
    case BitLayout::VOPC_DPP:
      return {Encoding::VOPC, &CdnaRowBits::dpp};
    case BitLayout::VOPC_SDWA:
      return {Encoding::VOPC, &CdnaRowBits::sdwa};
    case BitLayout::DS:
      return {Encoding::DS, &CdnaRowBits::plain};
    case BitLayout::FLAT:
      return {Encoding::FLAT, &CdnaRowBits::plain};
    case BitLayout::SCRATCH:
      return {Encoding::SCRATCH, &CdnaRowBits::plain};
    case BitLayout::GLOBAL:
      return {Encoding::GLOBAL, &CdnaRowBits::plain};
    case BitLayout::MUBUF:
      return {Encoding::MUBUF, &CdnaRowBits::plain};
    case BitLayout::MTBUF:
      return {Encoding::MTBUF, &CdnaRowBits::plain};
    case BitLayout::MIMG:
      return {Encoding::MIMG, &CdnaRowBits::plain};
    case BitLayout::SMEM:
      break;
  }
  return {Encoding::SMEM, &CdnaRowBits::plain};
}

std::vector<CdnaRowBits> BuildBits(Isa isa) {
  const Table& table = TableOf(isa);
  std::vector<CdnaRowBits> out(table.rows().size());
  int generation = static_cast<int>(isa) - static_cast<int>(Isa::kCdna2);
  for (const BitRow& bit_row : kBits) {
    if (!(bit_row.generations >> generation & 1)) continue;
    auto [enc, member] = PlaceOf(bit_row.layout);
    const Row* row = table.Find(enc, bit_row.number);
    if (row == nullptr && enc == Encoding::VOP3) row = table.Find(Encoding::VOP3SD, bit_row.number);
    if (row != nullptr) out[row - table.rows().data()].*member = bit_row.bits;
  }
  return out;
}

Implicit CdnaImplicitOf(Encoding enc, Opcode op) {
  switch (op) {
    case Opcode::V_MAC_F32:
    case Opcode::V_MAC_F16:
    case Opcode::V_FMAC_F32:
    case Opcode::V_FMAC_F64:
    case Opcode::V_PK_FMAC_F16:
    case Opcode::V_DOT2C_F32_F16:
    case Opcode::V_DOT2C_F32_BF16:
    case Opcode::V_DOT2C_I32_I16:
    case Opcode::V_DOT4C_I32_I8:
    case Opcode::V_DOT8C_I32_I4:
      return Implicit::kTiedSrc2;
    case Opcode::V_MADMK_F32:
    case Opcode::V_MADMK_F16:
    case Opcode::V_FMAMK_F32:
      return Implicit::kFmaLitMid;
    case Opcode::V_MADAK_F32:
    case Opcode::V_MADAK_F16:
    case Opcode::V_FMAAK_F32:
      return Implicit::kFmaLitLast;
    case Opcode::V_CNDMASK_B32:
      return enc == Encoding::VOP3 ? Implicit::kNone : Implicit::kVccSrc2;
    case Opcode::V_ADDC_CO_U32:
    case Opcode::V_SUBB_CO_U32:
    case Opcode::V_SUBBREV_CO_U32:
      return enc == Encoding::VOP2 ? Implicit::kVccCarry : Implicit::kNone;
    case Opcode::V_ADD_CO_U32:
    case Opcode::V_SUB_CO_U32:
    case Opcode::V_SUBREV_CO_U32:
      return enc == Encoding::VOP2 ? Implicit::kVccOut : Implicit::kNone;
    case Opcode::V_DIV_FMAS_F32:
    case Opcode::V_DIV_FMAS_F64:
      return Implicit::kVccSrc3;
    case Opcode::V_SWAP_B32:
    case Opcode::V_PERMLANE16_SWAP_B32:
    case Opcode::V_PERMLANE32_SWAP_B32:
      return Implicit::kSwap;
    default:
      return Implicit::kNone;
  }
}

// The pattern that an inline float has: packed f32 and small floats take that of f32, the f64 matrices that
// of f64.
InlineFloat CdnaInlineFloat(const Slot& slot) {
  switch (slot.type) {
    case DataType::PK2_F32:
    case DataType::PK2_B32:
    case DataType::FP8:
    case DataType::BF8:
    case DataType::PK2_FP8:
    case DataType::PK2_BF8:
    case DataType::PK2_FP4:
      return InlineFloat::kF32;
    case DataType::PK4_F64:
      return InlineFloat::kF64;
    default:
      return slot.inline_float;
  }
}

// CDNA has no halves of registers in the e32 encodings, and its waves have 64 lanes.
void Adjust(Row* row) {
  row->implicit = CdnaImplicitOf(row->enc, row->op);
  // Loads to LDS have no register to write.
  if (std::strstr(OpcodeName(row->op), "_LOAD_LDS_") != nullptr) row->dst[0] = Slot();
  if (row->op == Opcode::V_MFMA_LD_SCALE_B32) {
    for (int i = 0; i < 2; ++i) {
      row->src[i].kind = OperandKind::SRC_SIMPLE;
      row->src[i].type = DataType::B32;
      row->src[i].bits = 32;
      row->src[i].dwords = 1;
    }
    row->n_src = 2;
  }
  auto adjust = [](Slot* slot) {
    slot->half = false;
    if (slot->type == DataType::M64) slot->sgpr_align = 2;
    slot->inline_float = CdnaInlineFloat(*slot);
  };
  for (Slot& slot : row->dst) adjust(&slot);
  for (Slot& slot : row->src) adjust(&slot);
}

// What the masks say about an opcode, for those who walk the rows: the modifiers of the VOP3 encodings.
void FillFromBits(Isa isa, std::vector<Row>* rows) {
  int generation = static_cast<int>(isa) - static_cast<int>(Isa::kCdna2);
  for (const BitRow& bit_row : kBits) {
    if (bit_row.layout != BitLayout::VOP3 || !(bit_row.generations >> generation & 1)) continue;
    for (Row& row : *rows) {
      if ((row.enc != Encoding::VOP3 && row.enc != Encoding::VOP3SD) || row.number != bit_row.number)
        continue;
      uint64_t used = bit_row.bits.used;
      row.float_mods = static_cast<uint8_t>(used >> 61 & 7);
      row.clamp = used >> 15 & 1;
      row.omod = used >> 59 & 1;
      row.op_sel = row.enc == Encoding::VOP3 ? static_cast<uint8_t>(used >> 11 & 15) : 0;
    }
  }
}

template <size_t N>
Table Build(Isa isa, const RawRow (&raw_rows)[N]) {
  std::vector<Row> rows;
  rows.reserve(N);
  for (const RawRow& raw : raw_rows) {
    rows.push_back(MakeRow(raw));
    Adjust(&rows.back());
  }
  FillFromBits(isa, &rows);
  return Table(std::move(rows));
}

}  // namespace

Table BuildCdnaTable(Isa isa) {
  return isa == Isa::kCdna2   ? Build(isa, kCdna2)
         : isa == Isa::kCdna3 ? Build(isa, kCdna3)
                              : Build(isa, kCdna4);
}

const CdnaRowBits& CdnaBitsOf(Isa isa, const Row& row) {
  static const auto* const all = new std::array<std::vector<CdnaRowBits>, 3>{
      BuildBits(Isa::kCdna2), BuildBits(Isa::kCdna3), BuildBits(Isa::kCdna4)};
  int generation = static_cast<int>(isa) - static_cast<int>(Isa::kCdna2);
  return (*all)[generation][&row - TableOf(isa).rows().data()];
}

bool IsMfma(Opcode op) {
  return std::strncmp(OpcodeName(op), "V_MFMA_", 7) == 0 && op != Opcode::V_MFMA_LD_SCALE_B32;
}
bool IsSmfmac(Opcode op) { return std::strncmp(OpcodeName(op), "V_SMFMAC_", 9) == 0; }

bool IsF8f6f4(Opcode op) {
  return op == Opcode::V_MFMA_F32_16X16X128_F8F6F4 || op == Opcode::V_MFMA_F32_32X32X64_F8F6F4 ||
         op == Opcode::V_MFMA_SCALE_F32_16X16X128_F8F6F4 || op == Opcode::V_MFMA_SCALE_F32_32X32X64_F8F6F4;
}

int F8f6f4Dwords(uint32_t format) { return format <= 1 ? 8 : format <= 3 ? 6 : 4; }

}  // namespace understudy::emu::amd::decode
