// SPDX-License-Identifier: Apache-2.0
// VOP1, VOP2, VOPC, VOP3, VOP3SD, VOP3P, VOPD, VINTERP and the scalar encodings.
#include "absl/strings/str_cat.h"
#include "emu/amd/decode/encoder.h"

namespace understudy::emu::amd::decode {
namespace {

constexpr uint32_t kDpp8 = 233, kDpp8Fi = 234, kDpp16 = 250;

bool HasK(const Row& row) {
  return row.implicit == Implicit::kFmaLitMid || row.implicit == Implicit::kFmaLitLast;
}

// The source that the second operand field names.
const Operand& SecondSource(const Inst& inst, const Row& row, int at = 0) {
  return inst.src[at + (row.implicit == Implicit::kFmaLitMid ? 2 : 1)];
}

// A register whose half the number's bit 7 selects.
Operand WithHalf(const Operand& o, const Slot& slot, bool high, Encoder* e) {
  Operand out = o;
  if (!slot.half || o.kind != Operand::Kind::kVgpr) return out;
  if (o.reg > 127) e->Refuse(absl::StrCat("v", o.reg, " has no number for its halves here"));
  if (high) out.reg |= 0x80;
  return out;
}

void PutDppWord(Encoder* e, const Operand& src0, bool e32) {
  const Inst& inst = e->inst;
  const DppInfo& dpp = inst.dpp;
  const int at = e->n_words * 32;
  e->Append(0);
  e->PutVgpr(at + 7, at, src0, "src0 of a DPP word");
  if (dpp.kind == DppInfo::Kind::kDpp8) {
    for (int i = 0; i < 8; ++i) e->Put(at + 10 + 3 * i, at + 8 + 3 * i, dpp.lane_sel[i], "a DPP8 selector");
    return;
  }
  e->Put(at + 16, at + 8, dpp.ctrl, "dpp_ctrl");
  e->Flag(at + 18, dpp.fetch_inactive);
  e->Flag(at + 19, dpp.bound_ctrl);
  if (e32) {
    e->Flag(at + 20, inst.neg & 1);
    e->Flag(at + 21, inst.abs & 1);
    e->Flag(at + 22, inst.neg >> 1 & 1);
    e->Flag(at + 23, inst.abs >> 1 & 1);
  }
  e->Put(at + 27, at + 24, dpp.bank_mask, "bank_mask");
  e->Put(at + 31, at + 28, dpp.row_mask, "row_mask");
}

uint32_t DppCode(const DppInfo& dpp) {
  if (dpp.kind == DppInfo::Kind::kDpp16) return kDpp16;
  return dpp.fetch_inactive ? kDpp8Fi : kDpp8;
}

// Dot products of bytes and nibbles, and matrix products with 32-bit results, have no halves to choose.
bool HasHalves(const Row& row) {
  switch (row.op) {
    case Opcode::V_DOT4_I32_IU8:
    case Opcode::V_DOT4_U32_U8:
    case Opcode::V_DOT8_I32_IU4:
    case Opcode::V_DOT8_U32_U4:
      return false;
    default:
      return row.dst[0].type != DataType::WMMA_DC_F32 && row.dst[0].type != DataType::WMMA_DC_I32;
  }
}

// Sources of the 64-bit encodings, with the extension word.
void PutThreeSources(Encoder* e) {
  const Inst& inst = e->inst;
  constexpr const char* kNames[] = {"src0", "src1", "src2"};
  bool dpp = inst.dpp.kind != DppInfo::Kind::kNone;
  for (int i = 0; i < 3; ++i) {
    if (!e->row.src[i].present()) continue;
    if (i == 0 && dpp) {
      e->Put(40, 32, DppCode(inst.dpp), "src0");
    } else {
      e->PutSource(40 + 9 * i, 32 + 9 * i, inst.src[i], kNames[i]);
    }
  }
  if (dpp) PutDppWord(e, inst.src[0], false);
  e->Finish(false);
}

void PutVectorDst(Encoder* e, int hi, int lo, const Operand& dst) {
  if (dst.kind == Operand::Kind::kSgpr) {
    e->PutSgpr(hi, lo, dst, "the destination");
  } else {
    e->PutVgpr(hi, lo, dst, "the destination");
  }
}

}  // namespace

void EncodeVop12c(Encoder* e) {
  const Inst& inst = e->inst;
  const Row& row = e->row;
  bool dpp = inst.dpp.kind != DppInfo::Kind::kNone;
  switch (inst.enc) {
    case Encoding::VOP1:
      e->Put(31, 25, 0x3f, "");
      e->Put(16, 9, row.number, "");
      break;
    case Encoding::VOPC:
      e->Put(31, 25, 0x3e, "");
      e->Put(24, 17, row.number, "");
      break;
    default:
      e->Put(30, 25, row.number, "");
      break;
  }
  if (inst.enc != Encoding::VOPC && row.dst[0].present()) {
    PutVectorDst(e, 24, 17, WithHalf(inst.dst[0], row.dst[0], inst.op_sel & 8, e));
  }
  Operand src0 = WithHalf(inst.src[0], row.src[0], inst.op_sel & 1, e);
  if (dpp) {
    e->Put(8, 0, DppCode(inst.dpp), "src0");
  } else if (row.src[0].present()) {
    e->PutSource(8, 0, src0, "src0");
  }
  if (row.src[1].present()) {
    bool mid = row.implicit == Implicit::kFmaLitMid;
    e->PutVgpr(16, 9, WithHalf(SecondSource(inst, row), row.src[1], inst.op_sel >> (mid ? 2 : 1) & 1, e),
               "src1");
  }
  if (dpp) PutDppWord(e, src0, true);
  e->Finish(HasK(row));
}

void EncodeVop3(Encoder* e) {
  const Inst& inst = e->inst;
  const Row& row = e->row;
  e->n_words = 2;
  e->Put(31, 26, 0x35, "");
  e->Put(25, 16, row.number, "");
  if (row.cmpx) {
    e->Put(7, 0, kRegExecLo, "");
  } else if (row.dst[0].present()) {
    PutVectorDst(e, 7, 0, inst.dst[0]);
  }
  if (inst.enc == Encoding::VOP3SD) {
    e->PutSgpr(14, 8, inst.dst[1], "sdst");
  } else {
    e->Put(10, 8, inst.abs, "abs");
    e->Put(14, 11, inst.op_sel & row.op_sel, "op_sel");
  }
  e->Flag(15, inst.clamp);
  e->Put(60, 59, inst.omod, "omod");
  e->Put(63, 61, inst.neg, "neg");
  PutThreeSources(e);
}

void EncodeVop3p(Encoder* e) {
  const Inst& inst = e->inst;
  const Row& row = e->row;
  e->n_words = 2;
  e->Put(31, 24, 0xcc, "");
  e->Put(22, 16, row.number, "");
  PutVectorDst(e, 7, 0, inst.dst[0]);
  bool mix = inst.op == Opcode::V_FMA_MIX_F32 || inst.op == Opcode::V_FMA_MIXLO_F16 ||
             inst.op == Opcode::V_FMA_MIXHI_F16;
  e->Put(10, 8, mix ? inst.abs : inst.neg_hi, mix ? "abs" : "neg_hi");
  bool sparse = row.implicit == Implicit::kTiedSrc3;
  e->Put(13, 11, sparse ? inst.index_key : inst.op_sel, sparse ? "index_key" : "op_sel");
  // Bits of sources that do not exist or have no halves are ones, as assemblers write them.
  uint32_t hi = HasHalves(row) ? inst.op_sel_hi : 7;
  for (int i = 0; i < 3 && !mix; ++i) {
    if (!row.src[i].present()) hi |= 1u << i;
  }
  e->Put(60, 59, hi & 3, "op_sel_hi");
  e->Flag(14, hi >> 2 & 1);
  e->Flag(15, inst.clamp);
  e->Put(63, 61, inst.neg, "neg");
  PutThreeSources(e);
}

void EncodeVopd(Encoder* e, const Row& y) {
  const Inst& inst = e->inst;
  const Row& x = e->row;
  e->n_words = 2;
  e->Put(31, 26, 0x32, "");
  e->Put(25, 22, x.number, "the X opcode");
  e->Put(21, 17, y.number, "the Y opcode");
  e->PutSource(8, 0, inst.src[0], "srcx0");
  if (x.src[1].present()) e->PutVgpr(16, 9, SecondSource(inst, x), "vsrcx1");
  e->PutSource(40, 32, inst.src[3], "srcy0");
  if (y.src[1].present()) e->PutVgpr(48, 41, SecondSource(inst, y, 3), "vsrcy1");
  e->PutVgpr(63, 56, inst.dst[0], "vdstx");
  Operand vdsty = inst.dst[1];
  vdsty.reg >>= 1;  // bit 0 is the opposite of vdstx's
  e->PutVgpr(55, 49, vdsty, "vdsty");
  e->Finish(HasK(x) || HasK(y));
}

void EncodeVinterp(Encoder* e) {
  const Inst& inst = e->inst;
  e->n_words = 2;
  e->Put(31, 24, 0xcd, "");
  e->Put(22, 16, e->row.number, "");
  e->PutVgpr(7, 0, inst.dst[0], "vdst");
  e->Put(10, 8, inst.wait_exp, "wait_exp");
  e->Put(14, 11, inst.op_sel & e->row.op_sel, "op_sel");
  e->Flag(15, inst.clamp);
  e->Put(63, 61, inst.neg, "neg");
  for (int i = 0; i < 3; ++i) e->PutSource(40 + 9 * i, 32 + 9 * i, inst.src[i], "a source");
  e->Finish(false);
}

void EncodeLdsdir(Encoder* e) {
  const Inst& inst = e->inst;
  e->Put(31, 24, 0xce, "");
  e->Put(21, 20, e->row.number, "");
  e->Put(19, 16, inst.wait_vdst, "wait_vdst");
  e->Put(23, 23, inst.wait_vm_vsrc, "wait_vm_vsrc");
  e->Put(15, 10, inst.attr, "attr");
  e->Put(9, 8, inst.attr_chan, "attr_chan");
  e->PutVgpr(7, 0, inst.dst[0], "vdst");
}

void EncodeExp(Encoder* e) {
  const Inst& inst = e->inst;
  e->n_words = 2;
  e->Put(31, 26, 0x3e, "");
  e->Put(3, 0, inst.exp_en, "en");
  e->Put(9, 4, inst.exp_target, "target");
  e->Flag(11, inst.exp_done);
  e->Flag(13, inst.exp_row);
  for (int i = 0; i < 4; ++i) e->PutVgpr(39 + 8 * i, 32 + 8 * i, inst.src[i], "a source");
}

void EncodeScalar(Encoder* e) {
  const Inst& inst = e->inst;
  const Row& row = e->row;
  switch (inst.enc) {
    case Encoding::SOP1:
      e->Put(31, 23, 0x17d, "");
      e->Put(15, 8, row.number, "");
      e->PutSgpr(22, 16, inst.dst[0], "sdst");
      if (row.src[0].kind == OperandKind::SENDMSG_RTN) {
        e->Put(7, 0, static_cast<uint32_t>(inst.simm), "the message");
      } else {
        e->PutSource(7, 0, inst.src[0], "ssrc0");
      }
      return e->Finish(false);
    case Encoding::SOP2:
      e->Put(31, 30, 2, "");
      e->Put(29, 23, row.number, "");
      e->PutSgpr(22, 16, inst.dst[0], "sdst");
      e->PutSource(7, 0, inst.src[0], "ssrc0");
      e->PutSource(15, 8, SecondSource(inst, row), "ssrc1");
      return e->Finish(HasK(row));
    case Encoding::SOPC:
      e->Put(31, 23, 0x17e, "");
      e->Put(22, 16, row.number, "");
      e->PutSource(7, 0, inst.src[0], "ssrc0");
      e->PutSource(15, 8, inst.src[1], "ssrc1");
      return e->Finish(false);
    case Encoding::SOPK:
      e->Put(31, 28, 0xb, "");
      e->Put(27, 23, row.number, "");
      if (inst.op == Opcode::S_SETREG_IMM32_B32) {
        e->PutSigned(15, 0, inst.simm, "simm16");
        return e->Finish(true);
      }
      e->PutSgpr(22, 16, inst.n_dst > 0 ? inst.dst[0] : inst.src[0], "sdst");
      return e->PutSigned(15, 0, inst.simm, "simm16");
    default:
      e->Put(31, 23, 0x17f, "");
      e->Put(22, 16, row.number, "");
      return e->PutSigned(15, 0, inst.simm, "simm16");
  }
}

}  // namespace understudy::emu::amd::decode
