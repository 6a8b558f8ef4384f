// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/disasm/operand_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace understudy::emu::amd::disasm {
namespace {

std::string Tuple(const char* file, unsigned first, unsigned count) {
  if (count == 1) return absl::StrCat(file, first);
  return absl::StrCat(file, "[", first, ":", first + count - 1, "]");
}

std::string SgprText(unsigned reg, unsigned count) {
  switch (reg) {
    case kRegVccLo:
      if (count <= 2) return count == 2 ? "vcc" : "vcc_lo";
      break;
    case kRegVccHi:
      return "vcc_hi";
    case kRegNull:
      return "null";
    case kRegM0:
      return "m0";
    case kRegExecLo:
      return count == 2 ? "exec" : "exec_lo";
    case kRegExecHi:
      return "exec_hi";
    default:
      break;
  }
  return reg >= kRegTtmp0 ? Tuple("ttmp", reg - kRegTtmp0, count) : Tuple("s", reg, count);
}

// By the f32, f16, bf16 or f64 pattern, whichever the decoder chose for the operand.
std::string InlineFloatText(const Operand& o) {
  struct Name {
    uint64_t f32, f16, bf16, f64;
    const char* text;
  };
  static constexpr Name kNames[] = {
      {0x3f000000, 0x3800, 0x3f00, 0x3fe0000000000000, "0.5"},
      {0xbf000000, 0xb800, 0xbf00, 0xbfe0000000000000, "-0.5"},
      {0x3f800000, 0x3c00, 0x3f80, 0x3ff0000000000000, "1.0"},
      {0xbf800000, 0xbc00, 0xbf80, 0xbff0000000000000, "-1.0"},
      {0x40000000, 0x4000, 0x4000, 0x4000000000000000, "2.0"},
      {0xc0000000, 0xc000, 0xc000, 0xc000000000000000, "-2.0"},
      {0x40800000, 0x4400, 0x4080, 0x4010000000000000, "4.0"},
      {0xc0800000, 0xc400, 0xc080, 0xc010000000000000, "-4.0"},
      {0x3e22f983, 0x3118, 0x3e22, ~0ull, "0.15915494"},
  };
  if (o.imm == 0x3fc45f306dc9c882) return "0.15915494309189532";
  bool bf16 = o.type == DataType::BF16 || o.type == DataType::PK2_BF16 || o.type == DataType::WMMA_DC_BF16;
  for (const Name& n : kNames) {
    if (o.imm == n.f32 || o.imm == n.f64 || o.imm == (bf16 ? n.bf16 : n.f16)) return n.text;
  }
  return absl::StrFormat("%#x", o.imm);
}

// 16-bit integer operands print the f16 pattern of an inline float as a number.
bool PrintsFloatPattern(const Operand& o) {
  if (o.type == DataType::PK2_FP8 || o.type == DataType::PK2_BF8) return false;
  return o.bits == 16 && o.type != DataType::F16 && o.type != DataType::BF16 && o.imm <= 0xffff;
}

bool IsInlineF32(uint32_t v) {
  switch (v) {
    case 0x3f000000:
    case 0xbf000000:
    case 0x3f800000:
    case 0xbf800000:
    case 0x40000000:
    case 0xc0000000:
    case 0x40800000:
    case 0xc0800000:
    case 0x3e22f983:
      return true;
    default:
      return false;
  }
}

bool IsInlineF16(uint32_t v) {
  switch (v) {
    case 0x3800:
    case 0xb800:
    case 0x3c00:
    case 0xbc00:
    case 0x4000:
    case 0xc000:
    case 0x4400:
    case 0xc400:
    case 0x3118:
      return true;
    default:
      return false;
  }
}

bool IsInlineBf16(uint32_t v) { return v <= 0xffff && IsInlineF32(v == 0x3e22 ? 0x3e22f983 : v << 16); }

bool IsInlineInt(int64_t v) { return v >= -16 && v <= 64; }

// A literal whose value an inline constant could hold reads "lit(0x5)", so that the text assembles to the
// same bytes.
bool HasInlineForm(const Operand& o) {
  uint32_t v = static_cast<uint32_t>(o.imm);
  switch (o.type) {
    case DataType::F16:
    case DataType::PK2_FP8:
    case DataType::PK2_BF8:
      return IsInlineInt(static_cast<int16_t>(v)) || IsInlineF16(v & 0xffff);
    case DataType::PK2_F16:
      return IsInlineInt(static_cast<int32_t>(v)) || IsInlineF16(v);
    case DataType::PK2_BF16:
      return IsInlineInt(static_cast<int32_t>(v)) || IsInlineBf16(v);
    default:
      break;
  }
  if (o.bits == 64) return v <= 64;  // MC looks at the word before it is extended
  return IsInlineInt(static_cast<int32_t>(v)) || IsInlineF32(v);
}

// The upper half of an f64; the text of a value that has an inline form does not say that it is a literal.
std::string DoubleLiteralText(const Operand& o) {
  const uint32_t high = static_cast<uint32_t>(o.imm >> 32);
  if (high == 0) return "0";
  Operand constant = o;
  constant.kind = Operand::Kind::kInlineFloat;
  switch (high & 0x7fffffff) {
    case 0x3fe00000:
    case 0x3ff00000:
    case 0x40000000:
    case 0x40100000:
      return InlineFloatText(constant);
    default:
      return absl::StrFormat("0x%x", high);
  }
}

// v_pk_fmac_f16 of RDNA: an inline constant stands in both halves.
bool HasSplatForm(uint32_t v) {
  if (IsInlineInt(static_cast<int32_t>(v))) return true;
  const uint32_t low = v & 0xffff;
  return v >> 16 == low && (IsInlineF16(low) || low <= 64);
}

std::string LiteralText(const Operand& o) {
  if (o.type == DataType::F64) return DoubleLiteralText(o);
  uint32_t word = static_cast<uint32_t>(o.imm);
  if (HasInlineForm(o)) return absl::StrFormat("lit(0x%x)", word);
  return absl::StrFormat("0x%x", o.bits == 16 ? word & 0xffff : word);
}

}  // namespace

std::string Hex(int64_t value) {
  return value < 0 ? absl::StrFormat("-0x%x", -value) : absl::StrFormat("0x%x", value);
}

std::string NumberText(uint32_t word) {
  Operand o;
  o.type = DataType::F32;
  o.bits = 32;
  o.imm = word;
  if (IsInlineInt(static_cast<int32_t>(word))) return absl::StrCat(static_cast<int32_t>(word));
  return IsInlineF32(word) ? InlineFloatText(o) : absl::StrFormat("0x%x", word);
}

std::string OperandText(const Operand& o, const TextOptions& options) {
  switch (o.kind) {
    case Operand::Kind::kNone:
      return "off";
    case Operand::Kind::kSgpr:
      return SgprText(o.reg, o.type == DataType::M64 && options.wave_size == 32 ? 1 : o.dwords);
    case Operand::Kind::kVgpr:
      return Tuple("v", o.reg, o.dwords);
    case Operand::Kind::kAgpr:
      return Tuple("a", o.reg, o.dwords);
    case Operand::Kind::kInlineInt:
      return absl::StrCat(static_cast<int64_t>(o.imm));
    case Operand::Kind::kInlineFloat:
      return PrintsFloatPattern(o) ? absl::StrFormat("0x%x", o.imm) : InlineFloatText(o);
    case Operand::Kind::kLiteral:
      return LiteralText(o);
    case Operand::Kind::kScc:
      return "src_scc";
    case Operand::Kind::kVccz:
      return "src_vccz";
    case Operand::Kind::kExecz:
      return "src_execz";
    case Operand::Kind::kLdsDirect:
      return "src_lds_direct";
    case Operand::Kind::kSharedBase:
      return "src_shared_base";
    case Operand::Kind::kSharedLimit:
      return "src_shared_limit";
    case Operand::Kind::kPrivateBase:
      return "src_private_base";
    case Operand::Kind::kPrivateLimit:
      return "src_private_limit";
    case Operand::Kind::kPopsExitingWaveId:
      return "src_pops_exiting_wave_id";
  }
  return "?";
}

std::string HalfText(const Operand& operand, bool high, const TextOptions& options) {
  std::string text = OperandText(operand, options);
  if (operand.kind == Operand::Kind::kVgpr && operand.bits == 16) text += high ? ".h" : ".l";
  return text;
}

std::string SourceText(const Inst& inst, int i, bool half, const TextOptions& options) {
  const Operand& o = inst.src[i];
  std::string text = half ? HalfText(o, inst.op_sel >> i & 1, options) : OperandText(o, options);
  if (inst.op == Opcode::V_PK_FMAC_F16 && IsRdna(inst.isa) && o.kind == Operand::Kind::kLiteral)
    text = absl::StrFormat(HasSplatForm(inst.lit32) ? "lit(0x%x)" : "0x%x", inst.lit32);
  bool neg = inst.neg >> i & 1, abs = inst.abs >> i & 1;
  if (abs) return absl::StrCat(neg ? "-|" : "|", text, "|");
  if (!neg) return text;
  return o.is_const() ? absl::StrCat("neg(", text, ")") : absl::StrCat("-", text);
}

}  // namespace understudy::emu::amd::disasm
