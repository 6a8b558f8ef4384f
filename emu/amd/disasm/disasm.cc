// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/disasm/disasm.h"

#include <cstring>

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
  std::string out;
  for (const Line& line : Disassemble(isa, code, n, options)) {
    std::string words;
    for (size_t i = 0; i + 4 <= line.size; i += 4) {
      uint32_t word;
      std::memcpy(&word, code + line.offset + i, 4);
      absl::StrAppendFormat(&words, "%s%08x", i ? " " : "", word);
    }
    absl::StrAppendFormat(&out, "%06x: %-27s %s\n", base + line.offset, words, line.text);
  }
  return out;
}

}  // namespace understudy::emu::amd
