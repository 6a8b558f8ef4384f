// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/asm/encoding_operands.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "emu/amd/asm/modifiers.h"
#include "emu/amd/asm/operand.h"
#include "emu/amd/disasm/cdna_text.h"
#include "emu/amd/disasm/operand_text.h"
#include "src/base/status.h"

namespace understudy::emu::amd::assembler {
namespace {

using decode::Implicit;
using decode::OperandKind;
using decode::Row;
using decode::Slot;

// Walks the operands of a line in order.
class Reader {
 public:
  Reader(Isa isa, const ParsedLine& line, int wave_size, const LabelValue& label, Inst* inst)
      : isa_(isa), line_(line), wave_size_(wave_size), label_(label), inst_(inst) {}

  bool AtEnd() const { return at_ >= line_.operands.size(); }
  size_t Left() const { return line_.operands.size() - at_; }
  const Token& Peek() const { return line_.operands[at_]; }
  const Token& Take() { return line_.operands[at_++]; }

  absl::StatusOr<ParsedOperand> TakeOperand() {
    if (AtEnd()) return ErrorAt(EndColumn(), absl::StrCat("operand ", at_ + 1, " is missing"));
    return ParseOperand(isa_, Take());
  }

  // The next operand into *out. `any_width` lets the number of registers decide the operand's width.
  absl::Status Read(Slot slot, Operand* out, bool any_width = false) {
    US_ASSIGN_OR_RETURN(const ParsedOperand parsed, TakeOperand());
    if (any_width && parsed.is_register()) {
      slot.dwords = static_cast<uint8_t>(parsed.count);
      slot.bits = static_cast<uint16_t>(32 * parsed.count);
    }
    last_ = parsed;
    return Place(isa_, parsed, slot, wave_size_, inst_, out);
  }
  absl::Status Destination(int i, const Slot& slot) {
    US_RETURN_IF_ERROR(Read(slot, &inst_->dst[i]));
    if (last_.half == 1) inst_->op_sel |= 8;
    if (!last_.is_register()) return ErrorAt(last_.token.column, "the destination must be a register");
    inst_->n_dst = static_cast<uint8_t>(std::max<int>(inst_->n_dst, i + 1));
    return absl::OkStatus();
  }
  // Source i with its modifiers.
  absl::Status Source(int i, const Slot& slot, bool any_width = false) {
    US_RETURN_IF_ERROR(Read(slot, &inst_->src[i], any_width));
    if (last_.neg) inst_->neg |= static_cast<uint8_t>(1 << i);
    if (last_.abs) inst_->abs |= static_cast<uint8_t>(1 << i);
    if (last_.half == 1) inst_->op_sel |= static_cast<uint8_t>(1 << i);
    if (last_.sext) {
      if (!inst_->sdwa.present || i > 1) return ErrorAt(last_.token.column, "sext() belongs to SDWA");
      inst_->sdwa.sext[i] = true;
    }
    inst_->n_src = static_cast<uint8_t>(std::max<int>(inst_->n_src, i + 1));
    return absl::OkStatus();
  }
  absl::Status Done() const {
    if (AtEnd()) return absl::OkStatus();
    return ErrorAt(Peek().column, absl::StrCat("'", Peek().text, "' is one operand too many"));
  }
  int EndColumn() const {
    if (line_.rest.text.empty()) return line_.mnemonic.column + static_cast<int>(line_.mnemonic.text.size());
    return line_.rest.column + static_cast<int>(line_.rest.text.size());
  }
  const ParsedOperand& last() const { return last_; }
  Inst* inst() { return inst_; }
  const LabelValue& label() const { return label_; }
  Isa isa() const { return isa_; }

 private:
  const Isa isa_;
  const ParsedLine& line_;
  const int wave_size_;
  const LabelValue& label_;
  Inst* const inst_;
  size_t at_ = 0;
  ParsedOperand last_;
};

// Named values of an immediate. The disassembler's own words, for all 65536 values of an opcode.
using Words = std::unordered_map<std::string, uint16_t>;

std::string ImmediateInWords(const Inst& inst) {
  return IsCdna(inst.isa) ? disasm::CdnaImmediateText(inst) : disasm::ImmediateText(inst);
}

std::string WithoutSpaces(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c != ' ' && c != '\t') out += c;
  }
  return out;
}

const Words& WordsOf(const Inst& prototype) {
  static std::mutex mutex;
  static std::map<std::pair<Isa, Opcode>, Words>* const all = new std::map<std::pair<Isa, Opcode>, Words>();
  const std::lock_guard<std::mutex> lock(mutex);
  Words& words = (*all)[{prototype.isa, prototype.op}];
  if (!words.empty()) return words;
  Inst inst = prototype;
  for (int v = 0; v < 0x10000; ++v) {
    inst.simm = v;
    words.emplace(WithoutSpaces(ImmediateInWords(inst)), static_cast<uint16_t>(v));
  }
  return words;
}

// "vmcnt(0) lgkmcnt(1)" in any order: each counter alone leaves the others at their maximum, which is all
// ones.
bool CountersInWords(const Words& words, const std::string& text, int64_t* value) {
  uint16_t all = 0xffff;
  size_t at = 0;
  bool any = false;
  while (at < text.size()) {
    const size_t end = text.find(')', at);
    if (end == std::string::npos) return false;
    const auto found = words.find(text.substr(at, end + 1 - at));
    if (found == words.end()) return false;
    all = any ? all & found->second : found->second;
    any = true;
    at = end + 1;
    while (at < text.size() && (text[at] == '&' || text[at] == ',')) ++at;
  }
  *value = all;
  return any;
}

// A 16-bit immediate: a number, a label, or words.
absl::Status ReadImmediate(Reader* r) {
  Inst* inst = r->inst();
  if (r->label().is_label) {
    if (r->AtEnd()) return ErrorAt(r->EndColumn(), "the branch target is missing");
    const Token target = r->Take();
    if (r->label().dwords < -0x8000 || r->label().dwords > 0x7fff) {
      return ErrorAt(target.column, absl::StrCat("'", target.text, "' is ", r->label().dwords,
                                                 " dwords away, a branch reaches 32767"));
    }
    inst->simm = static_cast<int32_t>(r->label().dwords);
    return absl::OkStatus();
  }
  // What the lexer took for several operands or for modifiers is one immediate in words.
  std::string text;
  int column = r->EndColumn();
  while (!r->AtEnd()) {
    if (text.empty()) column = r->Peek().column;
    absl::StrAppend(&text, text.empty() ? "" : ",", r->Take().text);
  }
  if (text.empty()) {
    if (ImmediateInWords(*inst).empty()) return absl::OkStatus();
    return ErrorAt(column, "the immediate is missing");
  }
  int64_t value = 0;
  if (!ParseInteger(text, &value)) {
    const Words& words = WordsOf(*inst);
    const std::string packed = WithoutSpaces(text);
    const auto found = words.find(packed);
    if (found != words.end()) {
      value = found->second;
    } else if (!CountersInWords(words, packed, &value)) {
      return ErrorAt(column, absl::StrCat("'", text, "' is no immediate of this instruction"));
    }
  }
  if (value < -0x8000 || value > 0xffff)
    return ErrorAt(column, absl::StrCat("'", text, "' does not fit 16 bits"));
  inst->simm = static_cast<int16_t>(value);
  return absl::OkStatus();
}

absl::Status ReadK(Reader* r, Operand* out) {
  US_ASSIGN_OR_RETURN(ParsedOperand k, r->TakeOperand());
  k.literal = true;
  Slot slot;
  slot.kind = OperandKind::SRC;
  slot.type = DataType::F32;
  slot.bits = 32;
  slot.dwords = 1;
  const Opcode op = r->inst()->op;
  if (op == Opcode::V_FMAMK_F16 || op == Opcode::V_FMAAK_F16 || op == Opcode::V_MADMK_F16 ||
      op == Opcode::V_MADAK_F16)
    slot.inline_float = decode::InlineFloat::kF16;
  return Place(r->isa(), k, slot, 32, r->inst(), out);
}

// Sources that are named, with K where the instruction has one.
absl::Status ReadSources(Reader* r, const Row& row) {
  Inst* inst = r->inst();
  if (row.implicit == Implicit::kFmaLitMid) {
    US_RETURN_IF_ERROR(r->Source(0, row.src[0]));
    US_RETURN_IF_ERROR(ReadK(r, &inst->src[1]));
    US_RETURN_IF_ERROR(r->Source(2, row.src[1]));
    return absl::OkStatus();
  }
  for (int i = 0; i < row.n_src; ++i) {
    // The formats of A and B, which are modifiers, decide how wide they are.
    const bool any_width = i < 2 && std::strstr(OpcodeName(row.op), "F8F6F4") != nullptr;
    if (row.src[i].present()) US_RETURN_IF_ERROR(r->Source(i, row.src[i], any_width));
  }
  if (row.implicit == Implicit::kFmaLitLast) {
    US_RETURN_IF_ERROR(ReadK(r, &inst->src[2]));
    inst->n_src = 3;
  }
  if (row.enc == Encoding::VOP3PX2) {
    Slot scale;
    scale.kind = OperandKind::SRC_VGPR;
    scale.type = DataType::B32;
    scale.bits = 32;
    scale.dwords = 1;
    for (const int i : {3, 4}) US_RETURN_IF_ERROR(r->Source(i, scale));
  }
  return absl::OkStatus();
}

// The register field of SOPK is written, read, or both: dst[0] holds it on entry.
void ApplySdstUse(Inst* inst) {
  const std::string name = OpcodeName(inst->op);
  const bool writes =
      name.rfind("S_CMPK", 0) != 0 && name.rfind("S_WAITCNT", 0) != 0 && name != "S_CBRANCH_I_FORK";
  const bool reads = name != "S_MOVK_I32" && name != "S_GETREG_B32" && name != "S_CALL_B64";
  if (reads) {
    inst->src[0] = inst->dst[0];
    inst->src[0].implicit = writes;
    inst->n_src = 1;
  }
  if (writes) {
    inst->n_dst = 1;
  } else {
    inst->dst[0] = Operand();
  }
}

absl::Status ReadScalar(Reader* r, const Row& row) {
  Inst* inst = r->inst();
  switch (row.enc) {
    case Encoding::SOPP:
      if (r->AtEnd() && !row.has_immediate) return absl::OkStatus();
      return ReadImmediate(r);
    case Encoding::SOPK: {
      Slot slot = row.dst[0];
      if (!slot.present()) {
        slot.kind = OperandKind::SDST;
        slot.type = DataType::B32;
        slot.bits = 32;
        slot.dwords = 1;
      }
      if (inst->op == Opcode::S_SETREG_B32 || inst->op == Opcode::S_SETREG_IMM32_B32) {
        // The register's name comes first, and its parts may hold commas of their own only inside brackets.
        if (r->Left() != 2) return ErrorAt(r->EndColumn(), "expected a hardware register and a value");
        const Token name = r->Take();
        int64_t value = 0;
        if (!ParseInteger(name.text, &value)) {
          const Words& words = WordsOf(*inst);
          const auto found = words.find(WithoutSpaces(name.text));
          if (found == words.end())
            return ErrorAt(name.column, absl::StrCat("'", name.text, "' is no hardware register"));
          value = found->second;
        }
        inst->simm = static_cast<int16_t>(value);
        if (inst->op == Opcode::S_SETREG_B32) return r->Source(0, slot);
        US_ASSIGN_OR_RETURN(ParsedOperand k, r->TakeOperand());
        k.literal = true;
        inst->n_src = 1;
        slot.type = DataType::B32;
        return Place(r->isa(), k, slot, 32, inst, &inst->src[0]);
      }
      const bool has_register = inst->op != Opcode::S_VERSION;
      if (has_register) {
        US_RETURN_IF_ERROR(r->Read(slot, &inst->dst[0]));
        ApplySdstUse(inst);
      }
      return ReadImmediate(r);
    }
    default:
      break;
  }
  if (row.dst[0].present()) US_RETURN_IF_ERROR(r->Destination(0, row.dst[0]));
  if (row.n_src > 0 && row.src[0].kind == OperandKind::SENDMSG_RTN) {
    US_RETURN_IF_ERROR(ReadImmediate(r));
    inst->src[0].kind = Operand::Kind::kInlineInt;
    inst->src[0].imm = static_cast<uint64_t>(inst->simm);
    inst->n_src = 1;
    return absl::OkStatus();
  }
  if (inst->op == Opcode::S_SET_GPR_IDX_ON) {
    US_RETURN_IF_ERROR(r->Source(0, row.src[0]));
    US_RETURN_IF_ERROR(ReadImmediate(r));
    inst->src[1].kind = Operand::Kind::kInlineInt;
    inst->src[1].imm = static_cast<uint64_t>(inst->simm);
    inst->n_src = 2;
    return absl::OkStatus();
  }
  US_RETURN_IF_ERROR(ReadSources(r, row));
  if (row.implicit == Implicit::kTiedSrc2) {
    inst->src[2] = inst->dst[0];
    inst->src[2].implicit = true;
    inst->n_src = 3;
  }
  return absl::OkStatus();
}

absl::Status ReadSmem(Reader* r, const Row& row) {
  Inst* inst = r->inst();
  if (row.n_src == 0 && !row.dst[0].present()) return absl::OkStatus();
  const bool number = row.dst[0].kind == OperandKind::SIMM8 || row.dst[0].kind == OperandKind::SIMM5;
  const bool prefetch = std::strstr(OpcodeName(row.op), "PREFETCH") != nullptr;
  const auto read_number = [&]() -> absl::Status {
    US_ASSIGN_OR_RETURN(const ParsedOperand n, r->TakeOperand());
    if (n.kind != ParsedOperand::Kind::kInteger) return ErrorAt(n.token.column, "expected a number");
    inst->simm = static_cast<int32_t>(n.integer);
    return absl::OkStatus();
  };
  const auto read_offset = [&](const ParsedOperand& o) -> absl::Status {
    if (o.kind == ParsedOperand::Kind::kInteger) {
      inst->offset = static_cast<int32_t>(o.integer);
      return absl::OkStatus();
    }
    if (o.kind == ParsedOperand::Kind::kSgpr && o.reg == kRegNull) return absl::OkStatus();
    // On CDNA an offset beside the register is a modifier of its own.
    if (IsCdna(r->isa())) inst->offen = inst->offset != 0;
    Slot slot = row.src[1];
    if (!slot.present())
      slot.kind = OperandKind::SREG, slot.type = DataType::B32, slot.bits = 32, slot.dwords = 1;
    return Place(r->isa(), o, slot, 32, inst, &inst->src[1]);
  };
  const char* name = OpcodeName(row.op);
  const bool writes = std::strstr(name, "_STORE_") != nullptr || std::strstr(name, "_ATOMIC_") != nullptr;
  if (!prefetch) {
    if (writes) {
      Slot data = row.dst[0].present() ? row.dst[0] : row.src[2];
      US_RETURN_IF_ERROR(r->Read(data, &inst->src[2], true));
      if (inst->glc && std::strstr(name, "_ATOMIC_") != nullptr) inst->dst[0] = inst->src[2], inst->n_dst = 1;
    } else if (number) {
      US_RETURN_IF_ERROR(read_number());
    } else if (row.dst[0].present()) {
      US_RETURN_IF_ERROR(r->Destination(0, row.dst[0]));
    }
  }
  if (row.n_src == 0) return absl::OkStatus();  // clocks
  if (row.src[0].present()) US_RETURN_IF_ERROR(r->Source(0, row.src[0]));
  inst->n_src = writes ? 3 : 2;
  US_ASSIGN_OR_RETURN(const ParsedOperand offset, r->TakeOperand());
  US_RETURN_IF_ERROR(read_offset(offset));
  if (!prefetch) return absl::OkStatus();
  US_ASSIGN_OR_RETURN(const ParsedOperand soffset, r->TakeOperand());
  US_RETURN_IF_ERROR(read_offset(soffset));
  return read_number();
}

absl::Status ReadVector(Reader* r, const Row& row) {
  Inst* inst = r->inst();
  const bool e64 = row.enc == Encoding::VOP3 || row.enc == Encoding::VOP3SD;
  if (row.cmpx && !IsCdna(r->isa())) {
    inst->dst[0].kind = Operand::Kind::kSgpr;
    inst->dst[0].type = DataType::M64;
    inst->dst[0].reg = kRegExecLo;
    inst->dst[0].dwords = 2;
    inst->dst[0].implicit = true;
    inst->n_dst = 1;
  } else if (row.enc == Encoding::VOPC) {
    Slot mask;
    mask.kind = OperandKind::SDST;
    mask.type = DataType::M64;
    mask.bits = 64;
    mask.dwords = 2;
    US_RETURN_IF_ERROR(r->Destination(0, mask));
    // SDWA forms have a bit for "VCC" and a register field for everything else.
    inst->dst[0].implicit = inst->dst[0].reg == kRegVccLo;
    if (inst->dst[0].reg != kRegVccLo && !inst->sdwa.present) {
      return ErrorAt(r->last().token.column, "this encoding writes VCC; the _e64 form writes any register");
    }
  } else if (row.dst[0].present()) {
    US_RETURN_IF_ERROR(r->Destination(0, row.dst[0]));
  }
  const bool vcc_out = row.implicit == Implicit::kVccCarry || row.implicit == Implicit::kVccOut;
  if (row.dst[1].present() || vcc_out) {
    Slot mask = row.dst[1];
    if (!mask.present())
      mask.kind = OperandKind::SDST, mask.type = DataType::M64, mask.bits = 64, mask.dwords = 2;
    US_RETURN_IF_ERROR(r->Destination(1, mask));
    if (!e64 && inst->dst[1].reg != kRegVccLo)
      return ErrorAt(r->last().token.column, "this encoding's carry is VCC");
  }
  US_RETURN_IF_ERROR(ReadSources(r, row));
  // VCC as selector or carry-in of the short forms is written out.
  if (!e64 && row.enc != Encoding::VOPD &&
      (row.implicit == Implicit::kVccSrc2 || row.implicit == Implicit::kVccCarry)) {
    US_ASSIGN_OR_RETURN(const ParsedOperand vcc, r->TakeOperand());
    if (vcc.kind != ParsedOperand::Kind::kSgpr || vcc.reg != kRegVccLo)
      return ErrorAt(vcc.token.column, "expected vcc");
  }
  return absl::OkStatus();
}

absl::Status ReadDs(Reader* r, const Row& row) {
  Inst* inst = r->inst();
  if (row.dst[0].present()) US_RETURN_IF_ERROR(r->Destination(0, row.dst[0]));
  inst->n_src = 3;
  for (int i = 0; i < 3; ++i) {
    if (row.src[i].present()) US_RETURN_IF_ERROR(r->Source(i, row.src[i]));
  }
  return absl::OkStatus();
}

bool IsAtomic(const Row& row) { return std::strstr(OpcodeName(row.op), "_ATOMIC_") != nullptr; }

absl::Status ReadFlat(Reader* r, const Row& row) {
  Inst* inst = r->inst();
  inst->n_src = 3;
  const bool flat = row.enc == Encoding::FLAT || row.enc == Encoding::VFLAT;
  const bool scratch = row.enc == Encoding::SCRATCH || row.enc == Encoding::VSCRATCH;
  if (row.dst[0].present() && !inst->lds && (!IsAtomic(row) || inst->glc)) {
    US_RETURN_IF_ERROR(r->Read(row.dst[0], &inst->dst[0], IsAtomic(row)));
    inst->n_dst = 1;
  }
  const bool has_address = row.src[0].present() && std::strstr(OpcodeName(row.op), "ADDTID") == nullptr;
  if (has_address) {
    US_RETURN_IF_ERROR(r->Source(0, row.src[0], true));
    if (scratch) inst->sve = inst->src[0].kind != Operand::Kind::kNone;
  }
  if (row.src[1].present()) US_RETURN_IF_ERROR(r->Source(1, row.src[1]));
  if (!flat && row.src[2].present()) {
    US_RETURN_IF_ERROR(r->Source(2, row.src[2], true));
    inst->n_src = 3;
  }
  return absl::OkStatus();
}

absl::Status ReadBuffer(Reader* r, const Row& row) {
  Inst* inst = r->inst();
  if (row.n_src == 0) return absl::OkStatus();
  const char* name = OpcodeName(row.op);
  const bool store = std::strstr(name, "_STORE_") != nullptr, atomic = IsAtomic(row);
  if (row.src[3].present() && !inst->lds) {
    Operand data;
    US_RETURN_IF_ERROR(r->Read(row.src[3], &data, true));
    if (store || atomic) inst->src[3] = data;
    if ((!store && !atomic) || (atomic && inst->glc)) {
      inst->dst[0] = data;
      inst->n_dst = 1;
    }
  }
  if (row.op != Opcode::BUFFER_STORE_LDS_DWORD) US_RETURN_IF_ERROR(r->Source(0, row.src[0], true));
  US_RETURN_IF_ERROR(r->Source(1, row.src[1]));
  US_RETURN_IF_ERROR(r->Source(2, row.src[2]));
  inst->n_src = 4;
  return absl::OkStatus();
}

absl::Status ReadImage(Reader* r, const Row& row) {
  Inst* inst = r->inst();
  const bool store = std::strstr(OpcodeName(row.op), "_STORE") != nullptr, atomic = IsAtomic(row);
  Operand data;
  US_RETURN_IF_ERROR(r->Read(row.src[3], &data, true));
  if (store || atomic) inst->src[3] = data;
  if (!store && (!atomic || inst->glc)) {
    inst->dst[0] = data;
    inst->n_dst = 1;
  }
  if (r->AtEnd()) return ErrorAt(r->EndColumn(), "the address is missing");
  const Token address = r->Peek();
  if (address.text[0] != '[') {
    US_RETURN_IF_ERROR(r->Source(0, row.src[0], true));
  } else {
    // A list of registers, each in a field of its own.
    (void)r->Take();
    if (address.text.back() != ']') return ErrorAt(address.column, "expected a list in brackets");
    int i = 0;
    for (const Token& item :
         SplitTopLevel(address.text.substr(1, address.text.size() - 2), address.column + 1, ',')) {
      US_ASSIGN_OR_RETURN(const ParsedOperand part, ParseOperand(r->isa(), item));
      if (part.kind != ParsedOperand::Kind::kVgpr)
        return ErrorAt(item.column, absl::StrCat("'", item.text, "' is no VGPR"));
      if (i > 4) return ErrorAt(item.column, "an address has at most five parts");
      if (i == 0) {
        Slot slot = row.src[0];
        slot.dwords = static_cast<uint8_t>(part.count);
        slot.bits = static_cast<uint16_t>(32 * part.count);
        US_RETURN_IF_ERROR(Place(r->isa(), part, slot, 32, inst, &inst->src[0]));
      } else {
        inst->nsa_vaddr[i - 1] = static_cast<uint8_t>(part.reg);
        inst->nsa_dwords[i - 1] = static_cast<uint8_t>(part.count);
        inst->n_nsa = static_cast<uint8_t>(i);
      }
      ++i;
    }
    inst->nsa = true;
  }
  Slot resource = row.src[1];
  US_RETURN_IF_ERROR(r->Source(1, resource, true));
  if (row.src[2].present()) US_RETURN_IF_ERROR(r->Source(2, row.src[2]));
  inst->n_src = 4;
  return absl::OkStatus();
}

// "mrt0 v1, off, v2, v3": the target stands before the first source without a comma.
absl::Status ReadExport(Reader* r, const Row& row) {
  Inst* inst = r->inst();
  if (r->Left() != 4) return ErrorAt(r->EndColumn(), "expected a target and four sources");
  inst->n_src = 4;
  for (int i = 0; i < 4; ++i) {
    Token token = r->Take();
    if (i == 0) {
      const size_t space = token.text.find(' ');
      if (space == std::string::npos) return ErrorAt(token.column, "expected a target and a source");
      US_RETURN_IF_ERROR(FindTarget({token.text.substr(0, space), token.column}, inst));
      token = {token.text.substr(space + 1), token.column + static_cast<int>(space) + 1};
    }
    US_ASSIGN_OR_RETURN(const ParsedOperand source, ParseOperand(r->isa(), token));
    if (source.kind == ParsedOperand::Kind::kOff) continue;
    inst->exp_en |= static_cast<uint8_t>(1 << i);
    US_RETURN_IF_ERROR(Place(r->isa(), source, row.src[i], 32, inst, &inst->src[i]));
  }
  return absl::OkStatus();
}

absl::Status ReadLdsdir(Reader* r, const Row& row) {
  US_RETURN_IF_ERROR(r->Destination(0, row.dst[0]));
  if (r->AtEnd()) return absl::OkStatus();
  return FindAttribute(r->Take(), r->inst());
}

absl::Status ReadByEncoding(Reader* r, const Row& row) {
  switch (row.enc) {
    case Encoding::SOP1:
    case Encoding::SOP2:
    case Encoding::SOPC:
    case Encoding::SOPK:
    case Encoding::SOPP:
      return ReadScalar(r, row);
    case Encoding::SMEM:
      return ReadSmem(r, row);
    case Encoding::DS:
      return ReadDs(r, row);
    case Encoding::FLAT:
    case Encoding::GLOBAL:
    case Encoding::SCRATCH:
    case Encoding::VFLAT:
    case Encoding::VGLOBAL:
    case Encoding::VSCRATCH:
      return ReadFlat(r, row);
    case Encoding::MUBUF:
    case Encoding::MTBUF:
    case Encoding::VBUFFER:
      return ReadBuffer(r, row);
    case Encoding::MIMG:
    case Encoding::VIMAGE:
    case Encoding::VSAMPLE:
      return ReadImage(r, row);
    case Encoding::EXP:
    case Encoding::VEXPORT:
      return ReadExport(r, row);
    case Encoding::LDSDIR:
    case Encoding::VDSDIR:
      return ReadLdsdir(r, row);
    default:
      return ReadVector(r, row);
  }
}

}  // namespace

absl::Status ReadOperands(const Row& row, const ParsedLine& line, int wave_size, const LabelValue& label,
                          Inst* inst) {
  Reader reader(inst->isa, line, wave_size, label, inst);
  US_RETURN_IF_ERROR(ReadByEncoding(&reader, row));
  return reader.Done();
}

}  // namespace understudy::emu::amd::assembler
