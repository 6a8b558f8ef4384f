// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/asm/modifiers.h"

#include <cstring>
#include <functional>

#include "absl/strings/str_cat.h"
#include "emu/amd/decode/encode.h"
#include "src/base/status.h"

namespace understudy::emu::amd::assembler {
namespace {

// These carry the two flags in op_sel.
bool IsLaneSwap(Opcode op) {
  return op == Opcode::V_PERMLANE16_SWAP_B32 || op == Opcode::V_PERMLANE32_SWAP_B32;
}

struct Flag {
  const char* name;
  void (*set)(Inst*);
};
constexpr Flag kFlags[] = {
    {"clamp", [](Inst* i) { i->clamp = true; }},   {"glc", [](Inst* i) { i->glc = true; }},
    {"sc0", [](Inst* i) { i->glc = true; }},       {"slc", [](Inst* i) { i->slc = true; }},
    {"nt", [](Inst* i) { i->slc = true; }},        {"dlc", [](Inst* i) { i->dlc = true; }},
    {"scc", [](Inst* i) { i->sc1 = true; }},       {"sc1", [](Inst* i) { i->sc1 = true; }},
    {"nv", [](Inst* i) { i->nv = true; }},         {"gds", [](Inst* i) { i->gds = true; }},
    {"idxen", [](Inst* i) { i->idxen = true; }},   {"offen", [](Inst* i) { i->offen = true; }},
    {"lds", [](Inst* i) { i->lds = true; }},       {"tfe", [](Inst* i) { i->tfe = true; }},
    {"lwe", [](Inst* i) { i->lwe = true; }},       {"unorm", [](Inst* i) { i->unorm = true; }},
    {"r128", [](Inst* i) { i->r128 = true; }},     {"a16", [](Inst* i) { i->a16 = true; }},
    {"d16", [](Inst* i) { i->d16 = true; }},       {"da", [](Inst* i) { i->dim = 1; }},
    {"done", [](Inst* i) { i->exp_done = true; }}, {"row_en", [](Inst* i) { i->exp_row = true; }},
    {"mul:2", [](Inst* i) { i->omod = 1; }},       {"mul:4", [](Inst* i) { i->omod = 2; }},
    {"div:2", [](Inst* i) { i->omod = 3; }},
};

struct Number {
  const char* name;
  int64_t min, max;
  void (*set)(Inst*, int64_t);
};
constexpr Number kNumbers[] = {
    {"offset", -(1 << 23), (1 << 23) - 1,
     [](Inst* i, int64_t v) {
       i->offset = static_cast<int32_t>(v);
       if (i->enc == Encoding::DS)
         i->offset0 = static_cast<uint8_t>(v), i->offset1 = static_cast<uint8_t>(v >> 8);
     }},
    {"offset0", 0, 255,
     [](Inst* i, int64_t v) {
       i->offset0 = static_cast<uint8_t>(v), i->offset = i->offset0 | i->offset1 << 8;
     }},
    {"offset1", 0, 255,
     [](Inst* i, int64_t v) {
       i->offset1 = static_cast<uint8_t>(v), i->offset = i->offset0 | i->offset1 << 8;
     }},
    {"dmask", 0, 15, [](Inst* i, int64_t v) { i->dmask = static_cast<uint8_t>(v); }},
    {"wait_exp", 0, 7, [](Inst* i, int64_t v) { i->wait_exp = static_cast<uint8_t>(v); }},
    {"wait_vdst", 0, 15, [](Inst* i, int64_t v) { i->wait_vdst = static_cast<uint8_t>(v); }},
    {"wait_va_vdst", 0, 15, [](Inst* i, int64_t v) { i->wait_vdst = static_cast<uint8_t>(v); }},
    {"wait_vm_vsrc", 0, 1, [](Inst* i, int64_t v) { i->wait_vm_vsrc = static_cast<uint8_t>(v); }},
    {"row_mask", 0, 15, [](Inst* i, int64_t v) { i->dpp.row_mask = static_cast<uint8_t>(v); }},
    {"bank_mask", 0, 15, [](Inst* i, int64_t v) { i->dpp.bank_mask = static_cast<uint8_t>(v); }},
    // LLVM reads both numbers as "an invalid lane gives 0".
    {"bound_ctrl", 0, 1,
     [](Inst* i, int64_t) {
       if (IsLaneSwap(i->op)) {
         i->op_sel |= 2;
       } else {
         i->dpp.bound_ctrl = true;
       }
     }},
    {"fi", 0, 1,
     [](Inst* i, int64_t v) {
       if (IsLaneSwap(i->op)) {
         i->op_sel |= static_cast<uint8_t>(v);
       } else {
         i->dpp.fetch_inactive = v != 0;
       }
     }},
    {"cbsz", 0, 7, [](Inst* i, int64_t v) { i->cbsz = static_cast<uint8_t>(v); }},
    {"abid", 0, 15, [](Inst* i, int64_t v) { i->abid = static_cast<uint8_t>(v); }},
    {"blgp", 0, 7, [](Inst* i, int64_t v) { i->blgp = static_cast<uint8_t>(v); }},
    {"index_key", 0, 3, [](Inst* i, int64_t v) { i->index_key = static_cast<uint8_t>(v); }},
    {"bitop3", 0, 255, [](Inst* i, int64_t v) { i->bitop3 = static_cast<uint8_t>(v); }},
};

// "name:value" apart; false without a colon.
bool Split(const std::string& text, std::string* name, std::string* value) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return false;
  *name = text.substr(0, colon);
  *value = text.substr(colon + 1);
  return true;
}

bool IsPlain(const Token& token) {
  for (const Flag& flag : kFlags) {
    if (token.text == flag.name) return true;
  }
  std::string name, value;
  if (!Split(token.text, &name, &value)) return false;
  int64_t v;
  for (const Number& number : kNumbers) {
    if (name == number.name) return ParseInteger(value, &v);
  }
  return name == "dpp8";
}

// "[1,0,1]" as numbers below `limit`.
absl::StatusOr<std::vector<int>> ParseList(const Token& token, const std::string& value, int limit) {
  std::vector<int> out;
  if (value.size() < 2 || value.front() != '[' || value.back() != ']')
    return ErrorAt(token.column, absl::StrCat("'", token.text, "': expected a list in brackets"));
  for (const Token& item : SplitTopLevel(value.substr(1, value.size() - 2), token.column, ',')) {
    int64_t v;
    if (!ParseInteger(item.text, &v) || v < 0 || v >= limit) {
      return ErrorAt(token.column,
                     absl::StrCat("'", token.text, "': '", item.text, "' is not 0 to ", limit - 1));
    }
    out.push_back(static_cast<int>(v));
  }
  return out;
}

// Whether `text` has the modifier as a word of its own.
bool Prints(const std::string& text, const std::string& modifier) {
  for (size_t at = text.find(" " + modifier); at != std::string::npos;
       at = text.find(" " + modifier, at + 1)) {
    const size_t end = at + 1 + modifier.size();
    if (end == text.size() || text[end] == ' ') return true;
  }
  return false;
}

// Tries values until the disassembler prints the modifier.
bool Search(const std::string& modifier, const TextOptions& options, int values,
            const std::function<void(Inst*, int)>& set, Inst* inst) {
  const Inst before = *inst;
  for (int v = 0; v < values; ++v) {
    set(inst, v);
    // Reserved values print like their neighbours.
    if (!Prints(Text(*inst, options), modifier)) continue;
    uint8_t bytes[kMaxInstBytes];
    const absl::StatusOr<int> n = EncodeNamed(*inst, bytes);
    Inst back;
    if (n.ok() && DecodeInto(inst->isa, bytes, static_cast<size_t>(*n), &back).ok()) return true;
  }
  *inst = before;
  return false;
}

struct Named {
  const char* prefix;
  int values;
  void (*set)(Inst*, int);
};
constexpr Named kNamed[] = {
    {"offset:swizzle(", 0x10000,
     [](Inst* i, int v) {
       i->offset = v;
       i->offset0 = static_cast<uint8_t>(v);
       i->offset1 = static_cast<uint8_t>(v >> 8);
     }},
    {"format:", 128, [](Inst* i, int v) { i->format = static_cast<uint8_t>(v); }},
    {"scope:", 4, [](Inst* i, int v) { i->scope = static_cast<uint8_t>(v); }},
    {"th:", 8, [](Inst* i, int v) { i->th = static_cast<uint8_t>(v); }},
    {"quad_perm:", 0x100, [](Inst* i, int v) { i->dpp.ctrl = static_cast<uint16_t>(v); }},
    {"row_", 0x200, [](Inst* i, int v) { i->dpp.ctrl = static_cast<uint16_t>(v); }},
    {"wave_", 0x200, [](Inst* i, int v) { i->dpp.ctrl = static_cast<uint16_t>(v); }},
    {"dst_sel:", 7, [](Inst* i, int v) { i->sdwa.dst_sel = static_cast<uint8_t>(v); }},
    {"dst_unused:", 3, [](Inst* i, int v) { i->sdwa.dst_unused = static_cast<uint8_t>(v); }},
    {"src0_sel:", 7, [](Inst* i, int v) { i->sdwa.src_sel[0] = static_cast<uint8_t>(v); }},
    {"src1_sel:", 7, [](Inst* i, int v) { i->sdwa.src_sel[1] = static_cast<uint8_t>(v); }},
    {"op_sel:", 16, [](Inst* i, int v) { i->op_sel = static_cast<uint8_t>(v); }},
    {"byte_sel:", 16, [](Inst* i, int v) { i->op_sel = static_cast<uint8_t>(v); }},
    {"op_sel_hi:", 8, [](Inst* i, int v) { i->op_sel_hi = static_cast<uint8_t>(v); }},
    {"neg_lo:", 8, [](Inst* i, int v) { i->neg = static_cast<uint8_t>(v); }},
    {"neg_hi:", 8, [](Inst* i, int v) { i->neg_hi = static_cast<uint8_t>(v); }},
    {"neg:", 8, [](Inst* i, int v) { i->blgp = static_cast<uint8_t>(v); }},
    {"cbsz:", 8, [](Inst* i, int v) { i->cbsz = static_cast<uint8_t>(v); }},
    {"blgp:", 8, [](Inst* i, int v) { i->blgp = static_cast<uint8_t>(v); }},
};

bool StartsWith(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

// A list that says what is the default anyway is not printed.
bool IsDefaultList(const std::string& text, const Inst& inst) {
  std::string name, value;
  if (!Split(text, &name, &value)) return false;
  const bool zeros = value.find('1') == std::string::npos, ones = value.find('0') == std::string::npos;
  if (name == "op_sel") return zeros && inst.op_sel == 0;
  if (name == "op_sel_hi")
    return (ones && inst.op_sel_hi == 7) || (zeros && inst.op_sel_hi == 0) || (ones && inst.op_sel_hi == 3);
  if (name == "neg_lo") return zeros && inst.neg == 0;
  if (name == "neg_hi") return zeros && inst.neg_hi == 0;
  return false;
}

}  // namespace

void SetDefaults(const decode::Row& row, Inst* inst) {
  if (row.enc == Encoding::MTBUF || std::strstr(OpcodeName(row.op), "TBUFFER_") != nullptr) inst->format = 1;
  if (row.enc == Encoding::VBUFFER && inst->format == 0) inst->format = 1;
  // The text of ray tracing leaves out what is always so.
  if (std::strstr(OpcodeName(row.op), "_BVH") != nullptr && row.enc != Encoding::DS) {
    inst->dmask = 0xf;
    inst->r128 = true;
    inst->unorm = row.enc == Encoding::MIMG;
  }
  if (row.enc != Encoding::VOP3P && row.enc != Encoding::VOP3PX2) return;
  // Mixed-precision FMAs read f32, scaled matrices the lowest byte of their scales.
  const bool zero = row.enc == Encoding::VOP3PX2 || std::strstr(OpcodeName(row.op), "_MIX") != nullptr;
  inst->op_sel_hi = zero ? 0 : 7;
}

absl::Status ApplyPlainModifiers(const std::vector<Token>& modifiers, Inst* inst) {
  for (const Token& token : modifiers) {
    for (const Flag& flag : kFlags) {
      if (token.text == flag.name) flag.set(inst);
    }
    std::string name, value;
    if (!Split(token.text, &name, &value)) continue;
    for (const Number& number : kNumbers) {
      int64_t v;
      if (name != number.name || !ParseInteger(value, &v)) continue;
      if (v < number.min || v > number.max) {
        return ErrorAt(token.column,
                       absl::StrCat("'", token.text, "': expected ", number.min, " to ", number.max));
      }
      number.set(inst, v);
    }
    if (name == "dpp8") {
      US_ASSIGN_OR_RETURN(const std::vector<int> lanes, ParseList(token, value, 8));
      if (lanes.size() != 8)
        return ErrorAt(token.column, absl::StrCat("'", token.text, "': expected eight lanes"));
      for (size_t i = 0; i < 8; ++i) inst->dpp.lane_sel[i] = static_cast<uint8_t>(lanes[i]);
    }
    // The old value comes back: decides how many operands there are.
    if (StartsWith(token.text, "th:TH_ATOMIC") && token.text.find("RETURN") != std::string::npos)
      inst->glc = true, inst->th |= 1;
  }
  return absl::OkStatus();
}

absl::Status FindShapeModifiers(const std::vector<Token>& modifiers, const TextOptions& options, Inst* inst) {
  for (const Token& token : modifiers) {
    if (!StartsWith(token.text, "dim:")) continue;
    const std::string name = StartsWith(token.text, "dim:SQ_RSRC_IMG_")
                                 ? token.text
                                 : absl::StrCat("dim:SQ_RSRC_IMG_", token.text.substr(4));
    if (!Search(name, options, 8, [](Inst* i, int v) { i->dim = static_cast<uint8_t>(v); }, inst)) {
      return ErrorAt(token.column, absl::StrCat("'", token.text, "' is no dimension"));
    }
  }
  return absl::OkStatus();
}

absl::Status FindNamedModifiers(const std::vector<Token>& modifiers, const TextOptions& options, Inst* inst) {
  // The temporal hint's name depends on the scope.
  for (const bool scope : {true, false}) {
    for (const Token& token : modifiers) {
      if (IsPlain(token) || StartsWith(token.text, "dim:") || StartsWith(token.text, "scope:") != scope)
        continue;
      if (IsDefaultList(token.text, *inst) || Prints(Text(*inst, options), token.text)) continue;
      bool found = false, known = false;
      for (const Named& named : kNamed) {
        if (!StartsWith(token.text, named.prefix)) continue;
        known = true;
        found = Search(token.text, options, named.values, named.set, inst);
        if (found) break;
      }
      if (found) continue;
      return ErrorAt(token.column,
                     absl::StrCat("'", token.text, "' ",
                                  known ? "has no meaning for this instruction" : "is no modifier"));
    }
  }
  return absl::OkStatus();
}

absl::Status FindTarget(const Token& token, Inst* inst) {
  for (int v = 0; v < 64; ++v) {
    inst->exp_target = static_cast<uint8_t>(v);
    if (Prints(Text(*inst), token.text)) return absl::OkStatus();
  }
  return ErrorAt(token.column, absl::StrCat("'", token.text, "' is no export target"));
}

absl::Status FindAttribute(const Token& token, Inst* inst) {
  for (int v = 0; v < 256; ++v) {
    inst->attr = static_cast<uint8_t>(v / 4);
    inst->attr_chan = static_cast<uint8_t>(v % 4);
    const std::string text = Text(*inst);
    if (Prints(text, token.text) || Prints(text + " ", token.text)) return absl::OkStatus();
  }
  return ErrorAt(token.column, absl::StrCat("'", token.text, "' is no attribute"));
}

}  // namespace understudy::emu::amd::assembler
