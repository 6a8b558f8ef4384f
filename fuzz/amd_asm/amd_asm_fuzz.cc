// SPDX-License-Identifier: Apache-2.0
// Any text is assembled or refused with errors that name a line of it; what is assembled decodes where it was
// written as an instruction. What the disassembler prints, and the assembler takes, means the same again.
//
// Input: byte 0 the generation ('0' to '5'); byte 1 wave64 (bit 0), machine code instead of text (bit 7);
// then the text, or the code.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "emu/amd/asm/assembler.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/disasm/disasm.h"
#include "emu/amd/isa/opcode.h"

namespace {

using namespace understudy::emu::amd;

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckText(Isa isa, const std::string& text, const AsmOptions& options) {
  std::vector<AsmError> errors;
  const auto assembly = AssembleText(isa, text, options, &errors);
  const int last_line = 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  if (!assembly.ok()) {
    Require(!errors.empty());
    for (const AsmError& e : errors) {
      Require(e.line >= 1 && e.line <= last_line && e.column >= 1 && !e.message.empty());
    }
    return;
  }
  Require(errors.empty());
  for (const auto& [name, offset] : assembly->labels) {
    Require(!name.empty() && offset <= assembly->code.size());
  }
  uint64_t end = 0;
  for (const Assembly::SourceLine& line : assembly->lines) {
    Require(line.offset >= end && line.line >= 1 && line.line <= last_line);
    end = line.offset + line.size;
    Require(end <= assembly->code.size());
  }
}

void CheckCode(Isa isa, const uint8_t* code, size_t size, const AsmOptions& options) {
  for (size_t at = 0; at + 4 <= size; at += 4) {
    Inst inst;
    if (!DecodeInto(isa, code + at, size - at, &inst).ok()) continue;
    if (!ResolveWaveSize(options.wave_size, &inst).ok()) continue;
    const std::string text = Text(inst, {options.wave_size});
    CheckText(isa, text, options);
    const auto bytes = AssembleInstruction(isa, text, options);
    if (!bytes.ok()) {
      Require(!bytes.status().message().empty());
      continue;
    }
    Inst again;
    Require(DecodeInto(isa, bytes->data(), bytes->size(), &again).ok() && again.size == bytes->size());
    Require(ResolveWaveSize(options.wave_size, &again).ok());
    Require(Text(again, {options.wave_size}) == text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const Isa isa = kAllIsas[static_cast<uint8_t>(data[0] - '0') % std::size(kAllIsas)];
  AsmOptions options;
  options.wave_size = IsCdna(isa) || (data[1] & 1) != 0 ? 64 : 32;
  if ((data[1] & 0x80) != 0) {
    CheckCode(isa, data + 2, std::min<size_t>(size - 2, 256), options);
  } else {
    CheckText(isa, std::string(reinterpret_cast<const char*>(data) + 2, size - 2), options);
  }
  return 0;
}
