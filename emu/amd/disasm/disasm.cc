// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/disasm/disasm.h"

#include <cstring>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "emu/amd/disasm/text_writer.h"

namespace understudy::emu::amd {

using namespace disasm;

std::string Mnemonic(const Inst& inst) {
  if (IsCdna(inst.isa)) return CdnaMnemonic(inst);
  std::string name = Lower(OpcodeName(inst.op));
  bool dpp = inst.dpp.kind != DppInfo::Kind::kNone;
  switch (inst.enc) {
    case Encoding::VOPD:
      return absl::StrCat("v_dual_", name.substr(2));
    case Encoding::VOP1:
    case Encoding::VOP2:
      if (dpp) return name + "_dpp";
      return inst.has_e32_suffix ? name + "_e32" : name;
    case Encoding::VOPC:
      return dpp || !inst.has_e32_suffix ? name : name + "_e32";
    case Encoding::VOP3:
    case Encoding::VOP3SD:
    case Encoding::VOP3P:
      if (dpp) return name + "_e64_dpp";
      return inst.has_e64_suffix ? name + "_e64" : name;
    default:
      return name;
  }
}

std::string Text(const Inst& inst, const TextOptions& options) {
  if (IsCdna(inst.isa)) return CdnaText(inst, options);
  switch (inst.enc) {
    case Encoding::SOP1:
    case Encoding::SOP2:
    case Encoding::SOPC:
    case Encoding::SOPK:
    case Encoding::SOPP:
      return ScalarText(inst, options);
    case Encoding::SMEM:
      return SmemText(inst, options);
    case Encoding::VOP1:
    case Encoding::VOP2:
    case Encoding::VOPC:
    case Encoding::VOP3:
    case Encoding::VOP3SD:
      return VectorText(inst, options);
    case Encoding::VOP3P:
      return PackedText(inst, options);
    case Encoding::VOPD:
      return PairText(inst, options);
    case Encoding::VINTERP:
      return InterpText(inst, options);
    case Encoding::LDSDIR:
    case Encoding::VDSDIR:
      return LdsdirText(inst, options);
    case Encoding::EXP:
    case Encoding::VEXPORT:
      return ExpText(inst, options);
    case Encoding::DS:
      return DsText(inst, options);
    case Encoding::FLAT:
    case Encoding::GLOBAL:
    case Encoding::SCRATCH:
    case Encoding::VFLAT:
    case Encoding::VGLOBAL:
    case Encoding::VSCRATCH:
      return FlatText(inst, options);
    case Encoding::MUBUF:
    case Encoding::MTBUF:
    case Encoding::VBUFFER:
      return BufferText(inst, options);
    case Encoding::MIMG:
    case Encoding::VIMAGE:
    case Encoding::VSAMPLE:
      return ImageText(inst, options);
    default:
      return Mnemonic(inst);
  }
}

namespace {

// Branches and calls whose target is in the instruction: simm16 counts words from the next instruction.
bool IsDirectBranch(const Inst& inst) {
  if (inst.enc != Encoding::SOPP && inst.enc != Encoding::SOPK) return false;
  const char* name = OpcodeName(inst.op);
  return inst.op == Opcode::S_BRANCH || inst.op == Opcode::S_CALL_B64 ||
         inst.op == Opcode::S_SUBVECTOR_LOOP_BEGIN || inst.op == Opcode::S_SUBVECTOR_LOOP_END ||
         std::strncmp(name, "S_CBRANCH_", 10) == 0;
}

}  // namespace

std::vector<Line> Disassemble(Isa isa, const uint8_t* code, size_t n, const TextOptions& options) {
  std::vector<Line> lines;
  Inst inst;
  for (size_t at = 0; at < n;) {
    Line line;
    line.offset = at;
    absl::Status status = DecodeInto(isa, code + at, n - at, &inst);
    if (status.ok()) {
      line.size = inst.size;
      line.valid = true;
      line.text = Text(inst, options);
      line.branch = IsDirectBranch(inst);
      if (line.branch) line.target = static_cast<int64_t>(at + inst.size) + 4 * int64_t{inst.simm};
    } else if (n - at < 4) {
      line.size = n - at;
      line.text = absl::StrCat(".byte // ", n - at, " bytes are left, fewer than a word");
    } else {
      uint32_t word;
      std::memcpy(&word, code + at, 4);
      line.size = 4;
      line.text = absl::StrFormat(".long 0x%08x // ", word);
      absl::StrAppend(&line.text, status.message());
    }
    at += line.size;
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string DisassembleToText(Isa isa, const uint8_t* code, size_t n, uint64_t base,
                              const TextOptions& options) {
  const std::vector<Line> lines = Disassemble(isa, code, n, options);
  std::set<int64_t> starts, targets;
  for (const Line& line : lines) starts.insert(static_cast<int64_t>(line.offset));
  for (const Line& line : lines) {
    if (line.branch && starts.count(line.target) != 0) targets.insert(line.target);
  }
  std::string out;
  for (const Line& line : lines) {
    if (targets.count(static_cast<int64_t>(line.offset)) != 0) {
      absl::StrAppendFormat(&out, "L_%06x:\n", base + line.offset);
    }
    std::string words;
    for (size_t i = 0; i + 4 <= line.size; i += 4) {
      uint32_t word;
      std::memcpy(&word, code + line.offset + i, 4);
      absl::StrAppendFormat(&words, "%s%08x", i ? " " : "", word);
    }
    absl::StrAppendFormat(&out, "%06x: %-27s %s", base + line.offset, words, line.text);
    if (line.branch) {
      const uint64_t target = base + static_cast<uint64_t>(line.target);
      if (targets.count(line.target) != 0) {
        absl::StrAppendFormat(&out, " // L_%06x", target);
      } else {
        absl::StrAppendFormat(&out, " // 0x%x, outside", target);
      }
    }
    out += "\n";
  }
  return out;
}

}  // namespace understudy::emu::amd
