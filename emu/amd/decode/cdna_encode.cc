// SPDX-License-Identifier: Apache-2.0
// Machine code of decoded CDNA instructions: cdna_decode.cc and its kin in reverse, with the bits that LLVM
// MC sets where the machine ignores them.
#include <array>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "emu/amd/decode/cdna_bits.h"
#include "emu/amd/decode/encode.h"
#include "src/base/status.h"

namespace understudy::emu::amd {
namespace decode {
namespace {

constexpr uint32_t kSdwa = 249, kDpp = 250, kLiteral = 255, kSaddrOff = 0x7f;
using Kind = Operand::Kind;

class Encoder {
 public:
  Encoder(const Inst& inst, const Row& row) : inst_(inst), row_(row), bits_(CdnaBitsOf(inst.isa, row)) {}

  absl::StatusOr<int> Run(uint8_t* out) {
    US_RETURN_IF_ERROR(Dispatch());
    for (int i = 0; i < size_; i += 4) {
      uint64_t half = i < 8 ? low_ : high_;
      uint32_t word = static_cast<uint32_t>(half >> (i % 8 * 8));
      std::memcpy(out + i, &word, 4);
    }
    if (literal_) {
      std::memcpy(out + size_, &inst_.lit32, 4);
      size_ += 4;
    }
    return size_;
  }

 private:
  absl::Status Refuse(const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat(IsaName(inst_.isa), " ", EncodingName(inst_.enc), " ",
                                                   OpcodeName(inst_.op), ": ", what));
  }

  void Set(int hi, int lo, uint64_t value) { low_ |= (value << lo) & BitMask(hi, lo); }

  // Field `hi:lo` = value, refused where it does not fit.
  absl::Status Fit(int hi, int lo, int64_t value, const char* what) {
    int64_t limit = int64_t{1} << (hi - lo + 1);
    if (value < 0 || value >= limit) {
      return Refuse(absl::StrCat(what, " = ", value, " does not fit ", hi - lo + 1, " bits"));
    }
    Set(hi, lo, static_cast<uint64_t>(value));
    return absl::OkStatus();
  }

  absl::Status FitSigned(int hi, int lo, int64_t value, const char* what) {
    int64_t limit = int64_t{1} << (hi - lo);
    if (value < -limit || value >= limit) {
      return Refuse(absl::StrCat(what, " = ", value, " does not fit ", hi - lo + 1, " signed bits"));
    }
    Set(hi, lo, static_cast<uint64_t>(value));
    return absl::OkStatus();
  }

  // The 9-bit code of a source; AGPRs and VGPRs alike are 256 and more.
  absl::Status Code(const Operand& o, uint32_t* code) {
    switch (o.kind) {
      case Kind::kSgpr:
        if (o.reg > kRegExecHi || o.reg == kRegNull) break;
        *code = o.reg == kRegM0 ? uint32_t{kRegNull} : o.reg;  // M0 is 124 here
        return absl::OkStatus();
      case Kind::kVgpr:
      case Kind::kAgpr:
        if (o.reg > 255) break;
        *code = 256u + o.reg;
        return absl::OkStatus();
      case Kind::kInlineInt: {
        auto value = static_cast<int64_t>(o.imm);
        if (value < -16 || value > 64) return Refuse(absl::StrCat("no inline constant ", value));
        *code = static_cast<uint32_t>(value >= 0 ? 128 + value : 192 - value);
        return absl::OkStatus();
      }
      case Kind::kInlineFloat:
        return FloatCode(o.imm, code);
      case Kind::kLiteral:
        *code = kLiteral;
        literal_ = true;
        return absl::OkStatus();
      case Kind::kLdsDirect:
        *code = 254;
        return absl::OkStatus();
      case Kind::kScc:
        *code = 253;
        return absl::OkStatus();
      case Kind::kExecz:
        *code = 252;
        return absl::OkStatus();
      case Kind::kVccz:
        *code = 251;
        return absl::OkStatus();
      case Kind::kSharedBase:
        *code = 235;
        return absl::OkStatus();
      case Kind::kSharedLimit:
        *code = 236;
        return absl::OkStatus();
      case Kind::kPrivateBase:
        *code = 237;
        return absl::OkStatus();
      case Kind::kPrivateLimit:
        *code = 238;
        return absl::OkStatus();
      case Kind::kPopsExitingWaveId:
        *code = 239;
        return absl::OkStatus();
      default:
        break;
    }
    return Refuse(absl::StrCat("an operand of kind ", static_cast<int>(o.kind), " and register ", o.reg,
                               " has no code"));
  }

  // Codes 240 to 248, whatever the width of the pattern.
  absl::Status FloatCode(uint64_t imm, uint32_t* code) {
    static constexpr uint64_t kPatterns[9][4] = {
        {0x3f000000, 0x3800, 0x3f00, 0x3fe0000000000000}, {0xbf000000, 0xb800, 0xbf00, 0xbfe0000000000000},
        {0x3f800000, 0x3c00, 0x3f80, 0x3ff0000000000000}, {0xbf800000, 0xbc00, 0xbf80, 0xbff0000000000000},
        {0x40000000, 0x4000, 0x4000, 0x4000000000000000}, {0xc0000000, 0xc000, 0xc000, 0xc000000000000000},
        {0x40800000, 0x4400, 0x4080, 0x4010000000000000}, {0xc0800000, 0xc400, 0xc080, 0xc010000000000000},
        {0x3e22f983, 0x3118, 0x3e22, 0x3fc45f306dc9c882}};
    for (uint32_t i = 0; i < 9; ++i) {
      for (uint64_t pattern : kPatterns[i]) {
        if (pattern == imm) {
          *code = 240 + i;
          return absl::OkStatus();
        }
      }
    }
    return Refuse(absl::StrCat("no inline constant has the bits ", imm));
  }

  absl::Status Source(int hi, int lo, int i) {
    uint32_t code;
    US_RETURN_IF_ERROR(Code(inst_.src[i], &code));
    return Fit(hi, lo, code, "a source");
  }
  absl::Status Register(int hi, int lo, const Operand& o) {
    uint32_t code;
    US_RETURN_IF_ERROR(Code(o, &code));
    bool vector = o.kind == Kind::kVgpr || o.kind == Kind::kAgpr;
    return Fit(hi, lo, vector ? code - 256 : code, "a register");
  }
  // A tuple whose number the field holds in units of `unit`.
  absl::Status Tuple(int hi, int lo, const Operand& o, uint32_t unit) {
    uint32_t code;
    US_RETURN_IF_ERROR(Code(o, &code));
    if (code % unit != 0) return Refuse(absl::StrCat("register ", code, " is not a multiple of ", unit));
    return Fit(hi, lo, code / unit, "a tuple");
  }

  absl::Status Dispatch() {
    switch (inst_.enc) {
      case Encoding::SOP1:
        Set(31, 23, 0x17d), Set(15, 8, row_.number);
        return Scalar();
      case Encoding::SOP2:
        Set(31, 30, 2), Set(29, 23, row_.number);
        return Scalar();
      case Encoding::SOPC:
        Set(31, 23, 0x17e), Set(22, 16, row_.number);
        return Scalar();
      case Encoding::SOPK:
        Set(31, 28, 0xb), Set(27, 23, row_.number);
        return Sopk();
      case Encoding::SOPP:
        Set(31, 23, 0x17f), Set(22, 16, row_.number), Set(15, 0, static_cast<uint16_t>(inst_.simm));
        return absl::OkStatus();
      case Encoding::SMEM:
        return Smem();
      case Encoding::VOP1:
      case Encoding::VOP2:
      case Encoding::VOPC:
        return Vop12c();
      case Encoding::VOP3:
      case Encoding::VOP3SD:
        return Vop3();
      case Encoding::VOP3P:
        Set(31, 23, 0x1a7), Set(22, 16, row_.number);
        size_ = 8;
        return IsMfma(inst_.op) || IsSmfmac(inst_.op) ? Matrix() : Packed();
      case Encoding::VOP3PX2:
        return Scaled();
      case Encoding::DS:
        return Ds();
      case Encoding::FLAT:
      case Encoding::GLOBAL:
      case Encoding::SCRATCH:
        return Flat();
      case Encoding::MUBUF:
      case Encoding::MTBUF:
        return Buffer();
      case Encoding::MIMG:
        return Image();
      default:
        return Refuse("CDNA has no such encoding");
    }
  }

  absl::Status Scalar() {
    if (inst_.n_dst) US_RETURN_IF_ERROR(Register(22, 16, inst_.dst[0]));
    if (row_.src[0].present()) US_RETURN_IF_ERROR(Source(7, 0, 0));
    if (inst_.op == Opcode::S_SET_GPR_IDX_ON) return Fit(15, 8, inst_.simm, "the mask of gpr_idx");
    return row_.src[1].present() ? Source(15, 8, 1) : absl::OkStatus();
  }

  absl::Status Sopk() {
    Set(15, 0, static_cast<uint16_t>(inst_.simm));
    if (inst_.op == Opcode::S_SETREG_IMM32_B32) {
      literal_ = true;
      return absl::OkStatus();
    }
    return Register(22, 16, inst_.n_dst ? inst_.dst[0] : inst_.src[0]);
  }

  absl::Status Smem() {
    size_ = 8;
    Set(31, 26, 0x30), Set(25, 18, row_.number), Set(16, 16, inst_.glc);
    if (row_.dst[0].kind == OperandKind::SIMM8) {
      US_RETURN_IF_ERROR(Fit(12, 6, inst_.simm, "the mask of a probe"));
    } else if (inst_.src[2].kind != Kind::kNone) {
      US_RETURN_IF_ERROR(Register(12, 6, inst_.src[2]));
    } else if (inst_.n_dst) {
      US_RETURN_IF_ERROR(Register(12, 6, inst_.dst[0]));
    }
    if (!row_.src[0].present()) return absl::OkStatus();
    US_RETURN_IF_ERROR(Tuple(5, 0, inst_.src[0], 2));
    bool reg = inst_.src[1].kind != Kind::kNone;
    // A register alone stands in the offset field.
    if (reg && !inst_.offen) return Register(38, 32, inst_.src[1]);
    Set(17, 17, 1), Set(14, 14, reg);
    US_RETURN_IF_ERROR(FitSigned(52, 32, inst_.offset, "offset"));
    return reg ? Register(63, 57, inst_.src[1]) : absl::OkStatus();
  }

  // The position of source field i among the operands of Inst: the K of MADMK stands between the two.
  int FieldOperand(int i) const { return i == 1 && row_.implicit == Implicit::kFmaLitMid ? 2 : i; }

  absl::Status Vop12c() {
    if (inst_.enc == Encoding::VOP1) {
      Set(31, 25, 0x3f), Set(16, 9, row_.number);
    } else if (inst_.enc == Encoding::VOPC) {
      Set(31, 25, 0x3e), Set(24, 17, row_.number);
    } else {
      Set(30, 25, row_.number);
    }
    if (inst_.enc != Encoding::VOPC && row_.dst[0].present())
      US_RETURN_IF_ERROR(Register(24, 17, inst_.dst[0]));
    if (row_.src[1].present()) US_RETURN_IF_ERROR(Register(16, 9, inst_.src[FieldOperand(1)]));
    literal_ = row_.implicit == Implicit::kFmaLitMid || row_.implicit == Implicit::kFmaLitLast;
    if (inst_.dpp.kind != DppInfo::Kind::kNone) return Dpp();
    if (inst_.sdwa.present) return Sdwa();
    return row_.src[0].present() ? Source(8, 0, 0) : absl::OkStatus();
  }

  absl::Status Dpp() {
    const DppInfo& dpp = inst_.dpp;
    if (dpp.kind != DppInfo::Kind::kDpp16) return Refuse("CDNA has no DPP8");
    if (dpp.fetch_inactive) return Refuse("CDNA has no fi");
    size_ = 8;
    Set(8, 0, kDpp);
    US_RETURN_IF_ERROR(Register(39, 32, inst_.src[0]));
    US_RETURN_IF_ERROR(Fit(48, 40, dpp.ctrl, "dpp_ctrl"));
    Set(51, 51, dpp.bound_ctrl), Set(59, 56, dpp.bank_mask), Set(63, 60, dpp.row_mask);
    Set(52, 52, inst_.neg), Set(53, 53, inst_.abs), Set(54, 54, inst_.neg >> 1), Set(55, 55, inst_.abs >> 1);
    return absl::OkStatus();
  }

  absl::Status Sdwa() {
    const SdwaInfo& sdwa = inst_.sdwa;
    size_ = 8;
    Set(8, 0, kSdwa);
    US_RETURN_IF_ERROR(Register(39, 32, inst_.src[0]));
    auto scalar = [](const Operand& o) { return o.kind != Kind::kVgpr; };
    Set(55, 55, scalar(inst_.src[0]));
    Set(50, 48, sdwa.src_sel[0]), Set(51, 51, sdwa.sext[0]), Set(52, 52, inst_.neg), Set(53, 53, inst_.abs);
    if (row_.src[1].present()) {
      Set(63, 63, scalar(inst_.src[1]));
      Set(58, 56, sdwa.src_sel[1]), Set(59, 59, sdwa.sext[1]), Set(60, 60, inst_.neg >> 1);
      Set(61, 61, inst_.abs >> 1);
    }
    if (inst_.enc == Encoding::VOPC) {
      if (inst_.dst[0].reg == kRegVccLo && inst_.dst[0].implicit) return absl::OkStatus();
      Set(47, 47, 1);
      return Register(46, 40, inst_.dst[0]);
    }
    Set(42, 40, sdwa.dst_sel), Set(44, 43, sdwa.dst_unused), Set(45, 45, inst_.clamp),
        Set(47, 46, inst_.omod);
    return absl::OkStatus();
  }

  absl::Status Vop3() {
    size_ = 8;
    bool sd = row_.enc == Encoding::VOP3SD;
    Set(31, 26, 0x34), Set(25, 16, row_.number), Set(15, 15, inst_.clamp);
    if (row_.dst[0].present()) US_RETURN_IF_ERROR(Register(7, 0, inst_.dst[0]));
    if (sd) {
      US_RETURN_IF_ERROR(Register(14, 8, inst_.dst[1]));
    } else {
      Set(14, 11, inst_.op_sel);
    }
    if (inst_.op == Opcode::V_BITOP3_B32 || inst_.op == Opcode::V_BITOP3_B16) {
      Set(63, 61, inst_.bitop3 & 7), Set(10, 8, inst_.bitop3 >> 3 & 7), Set(60, 59, inst_.bitop3 >> 6);
    } else {
      Set(63, 61, inst_.neg), Set(60, 59, inst_.omod);
      if (!sd) Set(10, 8, inst_.abs);
    }
    for (int i = 0; i < 3; ++i) {
      if (row_.src[i].present()) US_RETURN_IF_ERROR(Source(40 + 9 * i, 32 + 9 * i, i));
    }
    return literal_ ? Refuse("VOP3 takes no literal") : absl::OkStatus();
  }

  absl::Status Packed() {
    bool mix = IsFmaMix(inst_.op);
    Set(63, 61, inst_.neg), Set(10, 8, mix ? inst_.abs : inst_.neg_hi), Set(15, 15, inst_.clamp);
    Set(13, 11, inst_.op_sel), Set(60, 59, inst_.op_sel_hi), Set(14, 14, inst_.op_sel_hi >> 2);
    // op_sel_hi is all ones where it says nothing.
    constexpr uint64_t kOpSelHi = BitMask(60, 59) | BitMask(14, 14);
    low_ |= bits_.plain.ignored & kOpSelHi;
    if (inst_.n_dst) US_RETURN_IF_ERROR(Register(7, 0, inst_.dst[0]));
    for (int i = 0; i < 3; ++i) {
      if (row_.src[i].present()) US_RETURN_IF_ERROR(Source(40 + 9 * i, 32 + 9 * i, i));
    }
    return literal_ ? Refuse("VOP3P takes no literal") : absl::OkStatus();
  }

  absl::Status Matrix() {
    auto agpr = [](const Operand& o) { return o.kind == Kind::kAgpr; };
    const Operand& d = inst_.dst[0];
    const Operand& c = inst_.src[2];
    bool vector_c = c.kind == Kind::kVgpr || c.kind == Kind::kAgpr;
    if (!IsSmfmac(inst_.op) && vector_c && agpr(c) != agpr(d))
      return Refuse("C and D are in different files");
    Set(10, 8, inst_.cbsz), Set(14, 11, inst_.abid), Set(63, 61, inst_.blgp), Set(15, 15, agpr(d));
    Set(59, 59, agpr(inst_.src[0])), Set(60, 60, agpr(inst_.src[1]));
    US_RETURN_IF_ERROR(Register(7, 0, d));
    for (int i = 0; i < 3; ++i) US_RETURN_IF_ERROR(Source(40 + 9 * i, 32 + 9 * i, i));
    return literal_ ? Refuse("a matrix takes no literal") : absl::OkStatus();
  }

  absl::Status Scaled() {
    Set(31, 23, 0x1a7), Set(22, 16, row_.number);
    US_RETURN_IF_ERROR(Matrix());
    Set(14, 11, 1);  // what tells the pair from a load of scales and another MFMA
    high_ = low_;
    low_ = 0;
    size_ = 16;
    Set(31, 16, 0xd3ac), Set(12, 11, inst_.op_sel), Set(60, 59, inst_.op_sel_hi);
    US_RETURN_IF_ERROR(Source(40, 32, 3));
    return Source(49, 41, 4);
  }

  absl::Status Ds() {
    size_ = 8;
    Set(31, 26, 0x36), Set(24, 17, row_.number), Set(16, 16, inst_.gds);
    Set(7, 0, inst_.offset0), Set(15, 8, inst_.offset1);
    bool acc = false;
    if (inst_.n_dst) {
      US_RETURN_IF_ERROR(Register(63, 56, inst_.dst[0]));
      acc |= inst_.dst[0].kind == Kind::kAgpr;
    }
    for (int i = 0; i < 3; ++i) {
      if (!row_.src[i].present()) continue;
      US_RETURN_IF_ERROR(Register(39 + 8 * i, 32 + 8 * i, inst_.src[i]));
      acc |= inst_.src[i].kind == Kind::kAgpr;
    }
    Set(25, 25, acc);
    return absl::OkStatus();
  }

  absl::Status Flat() {
    size_ = 8;
    uint32_t segment = inst_.enc == Encoding::FLAT ? 0 : inst_.enc == Encoding::SCRATCH ? 1 : 2;
    Set(31, 26, 0x37), Set(24, 18, row_.number), Set(15, 14, segment);
    Set(16, 16, inst_.glc), Set(17, 17, inst_.slc), Set(25, 25, inst_.sc1);
    Set(13, 13, inst_.isa == Isa::kCdna2 ? inst_.lds : inst_.sve);
    if (segment == 0) {
      US_RETURN_IF_ERROR(Fit(11, 0, inst_.offset, "offset"));
    } else {
      US_RETURN_IF_ERROR(FitSigned(12, 0, inst_.offset, "offset"));
    }
    bool acc = false;
    if (inst_.n_dst) {
      US_RETURN_IF_ERROR(Register(63, 56, inst_.dst[0]));
      acc |= inst_.dst[0].kind == Kind::kAgpr;
    }
    if (inst_.src[0].kind != Kind::kNone) US_RETURN_IF_ERROR(Register(39, 32, inst_.src[0]));
    if (inst_.src[1].kind != Kind::kNone) {
      US_RETURN_IF_ERROR(Register(47, 40, inst_.src[1]));
      acc |= inst_.src[1].kind == Kind::kAgpr;
    }
    Set(55, 55, acc);
    if (segment == 0) return absl::OkStatus();
    if (inst_.src[2].kind != Kind::kNone) return Register(54, 48, inst_.src[2]);
    Set(54, 48, kSaddrOff);
    return absl::OkStatus();
  }

  absl::Status Buffer() {
    size_ = 8;
    if (inst_.enc == Encoding::MTBUF) {
      Set(31, 26, 0x3a), Set(18, 15, row_.number), Set(25, 19, inst_.format);
      Set(53, 53, inst_.sc1), Set(54, 54, inst_.slc);
    } else {
      Set(31, 26, 0x38), Set(24, 18, row_.number);
      Set(15, 15, inst_.sc1), Set(16, 16, inst_.lds), Set(17, 17, inst_.slc);
    }
    US_RETURN_IF_ERROR(Fit(11, 0, inst_.offset, "offset"));
    Set(12, 12, inst_.offen), Set(13, 13, inst_.idxen), Set(14, 14, inst_.glc);
    if (row_.n_src == 0) return absl::OkStatus();
    const Operand& data = inst_.src[3].kind != Kind::kNone ? inst_.src[3] : inst_.dst[0];
    if (data.kind != Kind::kNone) US_RETURN_IF_ERROR(Register(47, 40, data));
    Set(55, 55, data.kind == Kind::kAgpr);
    if (inst_.src[0].kind != Kind::kNone) US_RETURN_IF_ERROR(Register(39, 32, inst_.src[0]));
    US_RETURN_IF_ERROR(Tuple(52, 48, inst_.src[1], 4));
    US_RETURN_IF_ERROR(Source(63, 56, 2));
    return literal_ ? Refuse("soffset is no literal") : absl::OkStatus();
  }

  absl::Status Image() {
    size_ = 8;
    Set(31, 26, 0x3c), Set(24, 18, row_.number), Set(7, 7, inst_.sc1), Set(11, 8, inst_.dmask);
    Set(12, 12, inst_.unorm), Set(13, 13, inst_.glc), Set(14, 14, inst_.dim), Set(15, 15, inst_.a16);
    Set(17, 17, inst_.lwe), Set(25, 25, inst_.slc), Set(63, 63, inst_.d16);
    const Operand& data = inst_.src[3].kind != Kind::kNone ? inst_.src[3] : inst_.dst[0];
    US_RETURN_IF_ERROR(Register(47, 40, data));
    Set(16, 16, data.kind == Kind::kAgpr);
    US_RETURN_IF_ERROR(Register(39, 32, inst_.src[0]));
    US_RETURN_IF_ERROR(Tuple(52, 48, inst_.src[1], 4));
    return row_.src[2].present() ? Tuple(57, 53, inst_.src[2], 4) : absl::OkStatus();
  }

  const Inst& inst_;
  const Row& row_;
  const CdnaRowBits& bits_;
  uint64_t low_ = 0, high_ = 0;
  int size_ = 4;
  bool literal_ = false;
};

using RowIndex = std::unordered_map<uint32_t, const Row*>;

uint32_t Key(Encoding enc, Opcode op) { return static_cast<uint32_t>(op) << 8 | static_cast<uint32_t>(enc); }

RowIndex IndexRows(Isa isa) {
  RowIndex index;
  for (const Row& row : TableOf(isa).rows()) index[Key(row.enc, row.op)] = &row;
  return index;
}

const Row* FindByOpcode(Isa isa, Encoding enc, Opcode op) {
  static const auto* const indices =
      new std::array<RowIndex, 3>{IndexRows(Isa::kCdna2), IndexRows(Isa::kCdna3), IndexRows(Isa::kCdna4)};
  const RowIndex& index = (*indices)[static_cast<int>(isa) - static_cast<int>(Isa::kCdna2)];
  auto it = index.find(Key(enc, op));
  return it == index.end() ? nullptr : it->second;
}

}  // namespace
}  // namespace decode

absl::StatusOr<int> EncodeCdna(const Inst& inst, uint8_t out[kMaxInstBytes]) {
  const decode::Row* row = decode::FindByOpcode(inst.isa, inst.enc, inst.op);
  if (row == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(IsaName(inst.isa), " has no ", OpcodeName(inst.op), " as ", EncodingName(inst.enc)));
  }
  return decode::Encoder(inst, *row).Run(out);
}

}  // namespace understudy::emu::amd
