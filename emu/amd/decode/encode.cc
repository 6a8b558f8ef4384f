// SPDX-License-Identifier: Apache-2.0
// Fields and operand codes, and the choice by encoding. What a field cannot hold is refused while it is put;
// what the whole cannot mean is refused because it does not decode to the instruction again.
#include "emu/amd/decode/encode.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "emu/amd/decode/encoder.h"
#include "src/base/status.h"

namespace understudy::emu::amd {
namespace decode {

void Encoder::Refuse(const std::string& what) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(absl::StrCat(IsaName(inst.isa), " ", EncodingName(inst.enc), " ",
                                                    OpcodeName(inst.op), " cannot be encoded: ", what));
}

void Encoder::Put(int hi, int lo, uint64_t value, const char* what) {
  const int width = hi - lo + 1;
  if (width < 64 && value >> width != 0) {
    Refuse(absl::StrCat(what, " = ", value, " is wider than ", width, " bits"));
    return;
  }
  for (int bit = lo; value != 0; ++bit, value >>= 1) Flag(bit, value & 1);
}

void Encoder::PutSigned(int hi, int lo, int64_t value, const char* what) {
  const int width = hi - lo + 1;
  const int64_t limit = int64_t{1} << (width - 1);
  if (value < -limit || value >= limit) {
    Refuse(absl::StrCat(what, " = ", value, " is not a signed number of ", width, " bits"));
    return;
  }
  Put(hi, lo, static_cast<uint64_t>(value) & ((uint64_t{1} << width) - 1), what);
}

void Encoder::PutVgpr(int hi, int lo, const Operand& o, const char* what) {
  if (o.kind == Operand::Kind::kNone) return;
  if (o.kind != Operand::Kind::kVgpr) {
    Refuse(absl::StrCat(what, " must be a VGPR"));
    return;
  }
  Put(hi, lo, o.reg, what);
}

void Encoder::PutSgpr(int hi, int lo, const Operand& o, const char* what, uint32_t absent) {
  if (o.kind == Operand::Kind::kNone) {
    Put(hi, lo, absent, what);
    return;
  }
  if (o.kind != Operand::Kind::kSgpr) {
    Refuse(absl::StrCat(what, " must be a scalar register"));
    return;
  }
  Put(hi, lo, o.reg, what);
}

void Encoder::PutSource(int hi, int lo, const Operand& o, const char* what) {
  uint32_t code = 0;
  switch (o.kind) {
    case Operand::Kind::kNone:
      return;
    case Operand::Kind::kSgpr:
      code = o.reg;
      break;
    case Operand::Kind::kVgpr:
      code = 256u + o.reg;
      break;
    case Operand::Kind::kInlineInt: {
      const auto v = static_cast<int64_t>(o.imm);
      if (v < -16 || v > 64) {
        Refuse(absl::StrCat(what, " = ", v, " is no inline integer"));
        return;
      }
      code = static_cast<uint32_t>(v >= 0 ? 128 + v : 192 - v);
      break;
    }
    case Operand::Kind::kInlineFloat:
      code = InlineFloatCode(o.imm);
      if (code == 0) {
        Refuse(absl::StrCat(what, " = ", o.imm, " is no inline float"));
        return;
      }
      break;
    case Operand::Kind::kLiteral:
      literal_ = true;
      code = 255;
      break;
    case Operand::Kind::kSharedBase:
      code = 235;
      break;
    case Operand::Kind::kSharedLimit:
      code = 236;
      break;
    case Operand::Kind::kPrivateBase:
      code = 237;
      break;
    case Operand::Kind::kPrivateLimit:
      code = 238;
      break;
    case Operand::Kind::kPopsExitingWaveId:
      code = 239;
      break;
    case Operand::Kind::kVccz:
      code = 251;
      break;
    case Operand::Kind::kExecz:
      code = 252;
      break;
    case Operand::Kind::kScc:
      code = 253;
      break;
    case Operand::Kind::kLdsDirect:
    case Operand::Kind::kAgpr:
      Refuse(absl::StrCat(what, " is an operand of CDNA"));
      return;
  }
  Put(hi, lo, code, what);
}

void Encoder::Append(uint32_t word) {
  if (n_words == 4) {
    Refuse("too many words");
    return;
  }
  words[n_words++] = word;
}

void Encoder::Finish(bool literal_always) {
  if (literal_ || literal_always) Append(inst.lit32);
}

namespace {

void EncodeByEncoding(Encoder* e, const Row* y) {
  switch (e->inst.enc) {
    case Encoding::SOP1:
    case Encoding::SOP2:
    case Encoding::SOPC:
    case Encoding::SOPK:
    case Encoding::SOPP:
      return EncodeScalar(e);
    case Encoding::SMEM:
      return EncodeSmem(e);
    case Encoding::VOP1:
    case Encoding::VOP2:
    case Encoding::VOPC:
      return EncodeVop12c(e);
    case Encoding::VOP3:
    case Encoding::VOP3SD:
      return EncodeVop3(e);
    case Encoding::VOP3P:
      return EncodeVop3p(e);
    case Encoding::VOPD:
      return EncodeVopd(e, *y);
    case Encoding::VINTERP:
      return EncodeVinterp(e);
    case Encoding::LDSDIR:
    case Encoding::VDSDIR:
      return EncodeLdsdir(e);
    case Encoding::EXP:
    case Encoding::VEXPORT:
      return EncodeExp(e);
    case Encoding::DS:
      return EncodeDs(e);
    case Encoding::FLAT:
    case Encoding::GLOBAL:
    case Encoding::SCRATCH:
      return EncodeFlat(e);
    case Encoding::MUBUF:
    case Encoding::MTBUF:
      return EncodeBuffer(e);
    case Encoding::MIMG:
      return EncodeImage(e);
    case Encoding::VFLAT:
    case Encoding::VGLOBAL:
    case Encoding::VSCRATCH:
      return EncodeVflat(e);
    case Encoding::VBUFFER:
      return EncodeVbuffer(e);
    case Encoding::VIMAGE:
    case Encoding::VSAMPLE:
      return EncodeVimage(e);
    default:
      e->Refuse("RDNA has no such encoding");
  }
}

bool SameOperand(const Operand& a, const Operand& b) {
  return a.kind == b.kind && a.reg == b.reg && a.imm == b.imm;
}

// What differs between the instruction that was meant and the one that the bytes say; null if nothing does.
const char* Difference(const Inst& a, const Inst& b) {
  if (a.op != b.op || a.op_y != b.op_y || a.enc != b.enc) return "the opcode";
  for (int i = 0; i < 2; ++i) {
    if (!SameOperand(a.dst[i], b.dst[i])) return "a destination";
  }
  for (int i = 0; i < 6; ++i) {
    if (!SameOperand(a.src[i], b.src[i])) return "a source";
  }
  if (a.neg != b.neg || a.abs != b.abs || a.neg_hi != b.neg_hi || a.op_sel != b.op_sel || a.omod != b.omod ||
      a.clamp != b.clamp || a.index_key != b.index_key) {
    return "a modifier";
  }
  if (a.dpp.kind != b.dpp.kind || a.dpp.ctrl != b.dpp.ctrl || a.dpp.row_mask != b.dpp.row_mask ||
      a.dpp.bank_mask != b.dpp.bank_mask || a.dpp.bound_ctrl != b.dpp.bound_ctrl ||
      a.dpp.fetch_inactive != b.dpp.fetch_inactive ||
      std::memcmp(a.dpp.lane_sel, b.dpp.lane_sel, sizeof(a.dpp.lane_sel)) != 0) {
    return "the DPP word";
  }
  if (a.simm != b.simm || a.offset != b.offset || a.lit32 != b.lit32) return "an immediate";
  bool cache = a.glc == b.glc && a.slc == b.slc && a.dlc == b.dlc && a.th == b.th && a.scope == b.scope &&
               a.nv == b.nv && a.gds == b.gds;
  bool memory = a.tfe == b.tfe && a.lwe == b.lwe && a.offen == b.offen && a.idxen == b.idxen &&
                a.r128 == b.r128 && a.a16 == b.a16 && a.d16 == b.d16 && a.unorm == b.unorm &&
                a.dmask == b.dmask && a.dim == b.dim && a.n_nsa == b.n_nsa &&
                std::memcmp(a.nsa_vaddr, b.nsa_vaddr, sizeof(a.nsa_vaddr)) == 0;
  if (!cache || !memory) return "a memory modifier";
  bool rest = a.exp_en == b.exp_en && a.exp_target == b.exp_target && a.exp_done == b.exp_done &&
              a.exp_row == b.exp_row && a.wait_exp == b.wait_exp && a.wait_vdst == b.wait_vdst &&
              a.wait_vm_vsrc == b.wait_vm_vsrc && a.attr == b.attr && a.attr_chan == b.attr_chan;
  return rest ? nullptr : "a graphics field";
}

}  // namespace
}  // namespace decode

absl::StatusOr<int> EncodeRdna(const Inst& inst, uint8_t out[kMaxInstBytes], bool named_only) {
  const decode::Table& table = decode::TableOf(inst.isa);
  // A VOP3 row with a scalar destination besides is found by that name.
  const decode::Row* row = table.Find(inst.enc, inst.op);
  const decode::Row* y = inst.enc == Encoding::VOPD ? table.Find(inst.enc, inst.op_y) : nullptr;
  if (row == nullptr || (inst.enc == Encoding::VOPD && y == nullptr)) {
    return absl::InvalidArgumentError(
        absl::StrCat(IsaName(inst.isa), " has no ", OpcodeName(inst.op), " in ", EncodingName(inst.enc)));
  }
  decode::Encoder e(inst, *row);
  decode::EncodeByEncoding(&e, y);
  if (!e.status().ok()) return e.status();
  std::memcpy(out, e.words, static_cast<size_t>(e.n_words) * 4);
  Inst again;
  absl::Status status = DecodeInto(inst.isa, out, static_cast<size_t>(e.n_words) * 4, &again);
  if (!status.ok()) e.Refuse(std::string(status.message()));
  const char* difference = status.ok() && !named_only ? decode::Difference(inst, again) : nullptr;
  if (difference != nullptr) e.Refuse(absl::StrCat("the encoding does not hold ", difference));
  if (!e.status().ok()) return e.status();
  return e.n_words * 4;
}

absl::StatusOr<int> Encode(const Inst& inst, uint8_t out[kMaxInstBytes]) {
  return IsCdna(inst.isa) ? EncodeCdna(inst, out) : EncodeRdna(inst, out, false);
}

absl::StatusOr<int> EncodeNamed(const Inst& inst, uint8_t out[kMaxInstBytes]) {
  return IsCdna(inst.isa) ? EncodeCdna(inst, out) : EncodeRdna(inst, out, true);
}

}  // namespace understudy::emu::amd
