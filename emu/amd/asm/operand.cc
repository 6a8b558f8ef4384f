// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/asm/operand.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/float_format.h"
#include "src/base/status.h"

namespace understudy::emu::amd::assembler {
namespace {

struct NamedRegister {
  const char* name;
  uint16_t reg;
  int count;
};
constexpr NamedRegister kNamed[] = {
    {"vcc", kRegVccLo, 2},      {"vcc_lo", kRegVccLo, 1},   {"vcc_hi", kRegVccHi, 1}, {"exec", kRegExecLo, 2},
    {"exec_lo", kRegExecLo, 1}, {"exec_hi", kRegExecHi, 1}, {"m0", kRegM0, 1},        {"null", kRegNull, 1},
};
constexpr NamedRegister kCdnaNamed[] = {
    {"flat_scratch", 102, 2}, {"flat_scratch_lo", 102, 1}, {"flat_scratch_hi", 103, 1},
    {"xnack_mask", 104, 2},   {"xnack_mask_lo", 104, 1},   {"xnack_mask_hi", 105, 1},
};

struct NamedSpecial {
  const char* name;
  Operand::Kind kind;
};
constexpr NamedSpecial kSpecials[] = {
    {"src_scc", Operand::Kind::kScc},
    {"scc", Operand::Kind::kScc},
    {"src_vccz", Operand::Kind::kVccz},
    {"vccz", Operand::Kind::kVccz},
    {"src_execz", Operand::Kind::kExecz},
    {"execz", Operand::Kind::kExecz},
    {"src_lds_direct", Operand::Kind::kLdsDirect},
    {"lds_direct", Operand::Kind::kLdsDirect},
    {"src_shared_base", Operand::Kind::kSharedBase},
    {"src_shared_limit", Operand::Kind::kSharedLimit},
    {"src_private_base", Operand::Kind::kPrivateBase},
    {"src_private_limit", Operand::Kind::kPrivateLimit},
    {"src_pops_exiting_wave_id", Operand::Kind::kPopsExitingWaveId},
};

// "v12", "v[3:6]", "v[7]".
bool ParseFile(const std::string& text, const char* file, int* first, int* count) {
  const size_t n = std::strlen(file);
  if (text.compare(0, n, file) != 0 || text.size() == n) return false;
  const std::string rest = text.substr(n);
  int64_t lo = 0, hi = 0;
  if (rest[0] != '[') {
    for (char c : rest) {
      if (!std::isdigit(static_cast<unsigned char>(c))) return false;
    }
    if (rest.size() > 4 || !ParseInteger(rest.size() > 1 && rest[0] == '0' ? "x" : rest, &lo)) return false;
    *first = static_cast<int>(lo);
    *count = 1;
    return true;
  }
  if (rest.back() != ']') return false;
  const std::string inside = rest.substr(1, rest.size() - 2);
  const size_t colon = inside.find(':');
  if (!ParseInteger(inside.substr(0, colon), &lo)) return false;
  hi = lo;
  if (colon != std::string::npos && !ParseInteger(inside.substr(colon + 1), &hi)) return false;
  if (lo < 0 || hi < lo || hi > 1000) return false;
  *first = static_cast<int>(lo);
  *count = static_cast<int>(hi - lo + 1);
  return true;
}

// Takes "name(" ... ")" off.
bool Unwrap(const char* name, std::string* text) {
  const size_t n = std::strlen(name);
  if (text->compare(0, n, name) != 0 || text->size() < n + 2 || (*text)[n] != '(' || text->back() != ')')
    return false;
  *text = text->substr(n + 1, text->size() - n - 2);
  return true;
}

bool ParseRegister(Isa isa, const std::string& text, ParsedOperand* out) {
  for (const NamedRegister& r : kNamed) {
    if (text != r.name) continue;
    if (IsCdna(isa) && r.reg == kRegNull) return false;
    out->kind = ParsedOperand::Kind::kSgpr, out->reg = r.reg, out->count = r.count;
    return true;
  }
  if (IsCdna(isa)) {
    for (const NamedRegister& r : kCdnaNamed) {
      if (text != r.name) continue;
      out->kind = ParsedOperand::Kind::kSgpr, out->reg = r.reg, out->count = r.count;
      return true;
    }
  }
  if (ParseFile(text, "ttmp", &out->reg, &out->count)) {
    if (out->reg + out->count > 16) return false;
    out->kind = ParsedOperand::Kind::kSgpr, out->reg += kRegTtmp0;
    return true;
  }
  if (ParseFile(text, "s", &out->reg, &out->count)) {
    if (out->reg + out->count > (IsCdna(isa) ? 102 : 106)) return false;
    out->kind = ParsedOperand::Kind::kSgpr;
    return true;
  }
  if (ParseFile(text, "v", &out->reg, &out->count) || ParseFile(text, "a", &out->reg, &out->count)) {
    if (out->reg + out->count > 256) return false;
    if (text[0] == 'a' && !IsCdna(isa)) return false;
    out->kind = text[0] == 'a' ? ParsedOperand::Kind::kAgpr : ParsedOperand::Kind::kVgpr;
    return true;
  }
  return false;
}

bool ParseNumber(const std::string& text, ParsedOperand* out) {
  if (ParseInteger(text, &out->integer)) {
    out->kind = ParsedOperand::Kind::kInteger;
    return true;
  }
  if (text.empty() || text.find_first_not_of("+-.eE0123456789") != std::string::npos ||
      text.find_first_of("0123456789") == std::string::npos) {
    return false;
  }
  char* end = nullptr;
  out->number = std::strtod(text.c_str(), &end);
  if (*end != '\0') return false;
  out->kind = ParsedOperand::Kind::kFloat;
  return true;
}

void Fill(const decode::Slot& slot, Operand::Kind kind, int reg, Operand* out) {
  *out = Operand();
  out->kind = kind;
  out->type = slot.type;
  out->dwords = slot.dwords;
  out->reg = static_cast<uint16_t>(reg);
  out->bits = slot.bits;
}

const FloatFormat& FormatOf(decode::InlineFloat f) {
  switch (f) {
    case decode::InlineFloat::kF16:
      return formats::kF16;
    case decode::InlineFloat::kBF16:
      return formats::kBf16;
    case decode::InlineFloat::kF64:
      return formats::kF64;
    default:
      return formats::kF32;
  }
}

// Operand codes 240..248.
constexpr double kInlineFloats[] = {0.5, -0.5, 1, -1, 2, -2, 4, -4, 0.15915494309189532};

// The pattern that the slot's inline constant for `value` has, if there is one.
bool InlinePattern(decode::InlineFloat kind, double value, uint64_t* pattern) {
  const FloatFormat& f = FormatOf(kind);
  for (const double d : kInlineFloats) {
    uint64_t bits = EncodeFloat(f, d);
    if (d == kInlineFloats[8]) {
      bits = kind == decode::InlineFloat::kF64   ? 0x3fc45f306dc9c882
             : kind == decode::InlineFloat::kF32 ? 0x3e22f983
             : kind == decode::InlineFloat::kF16 ? 0x3118
                                                 : 0x3e22;
      if (EncodeFloat(f, value) != bits) continue;
    } else if (value != d) {
      continue;
    }
    *pattern = bits;
    return true;
  }
  return false;
}

bool PatternIsInline(decode::InlineFloat kind, uint64_t pattern) {
  uint64_t found;
  const FloatFormat& f = FormatOf(kind);
  if (f.IsNan(pattern)) return false;
  return InlinePattern(kind, DecodeFloat(f, pattern), &found) && found == pattern;
}

uint64_t WidenLiteral(const decode::Slot& slot, uint32_t word) {
  switch (slot.literal_fill) {
    case decode::LiteralFill::kHighHalf:
      return uint64_t{word} << 32;
    case decode::LiteralFill::kSignExtend:
      return static_cast<uint64_t>(int64_t{static_cast<int32_t>(word)});
    default:
      return word;
  }
}

absl::Status PlaceLiteral(const ParsedOperand& parsed, const decode::Slot& slot, uint32_t word, Inst* inst,
                          Operand* out) {
  if (inst->has_literal && inst->lit32 != word) {
    return ErrorAt(
        parsed.token.column,
        absl::StrFormat("a second literal, 0x%x: an instruction has one (0x%x)", word, inst->lit32));
  }
  inst->has_literal = true;
  inst->lit32 = word;
  Fill(slot, Operand::Kind::kLiteral, 0, out);
  out->imm = WidenLiteral(slot, word);
  return absl::OkStatus();
}

absl::Status PlaceInteger(const ParsedOperand& parsed, const decode::Slot& slot, Inst* inst, Operand* out) {
  const int64_t v = parsed.integer;
  const bool float_slot = slot.literal_fill == decode::LiteralFill::kHighHalf;
  if (!parsed.literal) {
    if (v >= -16 && v <= 64) {
      Fill(slot, Operand::Kind::kInlineInt, 0, out);
      out->imm = static_cast<uint64_t>(v);
      return absl::OkStatus();
    }
    // A pattern that an inline float has in this place.
    const uint64_t mask = slot.bits == 16 ? 0xffff : slot.bits == 64 ? ~uint64_t{0} : 0xffffffff;
    // LLVM MC takes such a pattern for a number where the operand is a 16-bit integer.
    const bool number = slot.bits == 16 && slot.type != DataType::F16 && slot.type != DataType::BF16;
    if (!number && PatternIsInline(slot.inline_float, static_cast<uint64_t>(v) & mask) &&
        (slot.bits != 64 || slot.inline_float == decode::InlineFloat::kF64)) {
      Fill(slot, Operand::Kind::kInlineFloat, 0, out);
      out->imm = static_cast<uint64_t>(v) & mask;
      return absl::OkStatus();
    }
  }
  if (v > 0xffffffffll || v < -0x80000000ll) {
    // The high word of a 64-bit float, written out in full.
    if (float_slot && (v & 0xffffffff) == 0)
      return PlaceLiteral(parsed, slot, static_cast<uint32_t>(v >> 32), inst, out);
    return ErrorAt(parsed.token.column,
                   absl::StrCat("'", parsed.token.text, "' does not fit a literal of 32 bits"));
  }
  return PlaceLiteral(parsed, slot, static_cast<uint32_t>(v), inst, out);
}

absl::Status PlaceFloat(const ParsedOperand& parsed, const decode::Slot& slot, Inst* inst, Operand* out) {
  uint64_t pattern = 0;
  if (!parsed.literal && InlinePattern(slot.inline_float, parsed.number, &pattern)) {
    Fill(slot, Operand::Kind::kInlineFloat, 0, out);
    out->imm = pattern;
    return absl::OkStatus();
  }
  if (!parsed.literal && parsed.number == 0 && parsed.token.text[0] != '-') {
    Fill(slot, Operand::Kind::kInlineInt, 0, out);
    return absl::OkStatus();
  }
  const uint64_t bits = EncodeFloat(FormatOf(slot.inline_float), parsed.number);
  if (slot.inline_float != decode::InlineFloat::kF64)
    return PlaceLiteral(parsed, slot, static_cast<uint32_t>(bits), inst, out);
  if ((bits & 0xffffffff) != 0) {
    return ErrorAt(
        parsed.token.column,
        absl::StrCat("'", parsed.token.text, "' needs more than the upper 32 bits of a 64-bit float"));
  }
  return PlaceLiteral(parsed, slot, static_cast<uint32_t>(bits >> 32), inst, out);
}

}  // namespace

absl::StatusOr<ParsedOperand> ParseOperand(Isa isa, const Token& token) {
  ParsedOperand out;
  out.token = token;
  std::string text = token.text;
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (text == "off") {
    out.kind = ParsedOperand::Kind::kOff;
    return out;
  }
  // sext(x), -x, neg(x), |x|, abs(x), in the nestings that the disassembler writes.
  if (Unwrap("sext", &text)) out.sext = true;
  if (text.size() > 1 && text[0] == '-' && !std::isdigit(static_cast<unsigned char>(text[1])) &&
      text[1] != '.') {
    out.neg = true;
    text = text.substr(1);
  } else if (Unwrap("neg", &text)) {
    out.neg = true;
  }
  if (text.size() > 2 && text[0] == '|' && text.back() == '|') {
    out.abs = true;
    text = text.substr(1, text.size() - 2);
  } else if (Unwrap("abs", &text)) {
    out.abs = true;
  }
  if (Unwrap("lit", &text)) {
    out.literal = true;
    if (!ParseNumber(text, &out))
      return ErrorAt(token.column, absl::StrCat("'", token.text, "': expected a number in lit()"));
    return out;
  }
  if (text.size() > 2 &&
      (text.compare(text.size() - 2, 2, ".l") == 0 || text.compare(text.size() - 2, 2, ".h") == 0)) {
    const int half = text.back() == 'h' ? 1 : 0;
    const std::string whole = text.substr(0, text.size() - 2);
    if (ParseRegister(isa, whole, &out)) {
      out.half = half;
      return out;
    }
  }
  if (ParseRegister(isa, text, &out)) return out;
  for (const NamedSpecial& s : kSpecials) {
    if (text == s.name) {
      out.kind = ParsedOperand::Kind::kSpecial;
      out.special = s.kind;
      return out;
    }
  }
  if (ParseNumber(text, &out)) return out;
  out.kind = ParsedOperand::Kind::kOther;
  return out;
}

absl::Status Place(Isa isa, const ParsedOperand& parsed, const decode::Slot& slot, int wave_size, Inst* inst,
                   Operand* out) {
  switch (parsed.kind) {
    case ParsedOperand::Kind::kOff:
      *out = Operand();
      return absl::OkStatus();
    case ParsedOperand::Kind::kSgpr:
    case ParsedOperand::Kind::kVgpr:
    case ParsedOperand::Kind::kAgpr: {
      const bool scalar = parsed.kind == ParsedOperand::Kind::kSgpr;
      const bool mask = slot.type == DataType::M64;
      const int want = mask ? wave_size / 32 : slot.dwords;
      // NULL has no neighbours and stands for a tuple of any width.
      if (parsed.count != want && !(scalar && parsed.reg == kRegNull && !IsCdna(isa))) {
        return ErrorAt(parsed.token.column, absl::StrCat("'", parsed.token.text, "' names ", parsed.count,
                                                         " registers, expected ", want));
      }
      Fill(slot,
           scalar                                      ? Operand::Kind::kSgpr
           : parsed.kind == ParsedOperand::Kind::kVgpr ? Operand::Kind::kVgpr
                                                       : Operand::Kind::kAgpr,
           parsed.reg, out);
      return absl::OkStatus();
    }
    case ParsedOperand::Kind::kInteger:
      return PlaceInteger(parsed, slot, inst, out);
    case ParsedOperand::Kind::kFloat:
      return PlaceFloat(parsed, slot, inst, out);
    case ParsedOperand::Kind::kSpecial:
      Fill(slot, parsed.special, 0, out);
      return absl::OkStatus();
    case ParsedOperand::Kind::kOther:
      break;
  }
  return ErrorAt(parsed.token.column, absl::StrCat("'", parsed.token.text, "' is no register and no number"));
}

}  // namespace understudy::emu::amd::assembler
