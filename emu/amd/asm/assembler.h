// SPDX-License-Identifier: Apache-2.0
#pragma once
// Assembles AMD machine code from text in LLVM's syntax: what `understudy disasm` prints goes in, and what
// people write (mnemonics without _e32/_e64, numbers in any base, labels). Used by the `understudy asm`
// command and by tools that write code. It knows no code objects: it makes bytes, labels and a line table.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {

struct AsmOptions {
  int wave_size = 32;  // lane masks are one register (32) or a pair (64); CDNA is 64 always
};

struct AsmError {
  int line = 0, column = 0;  // from 1
  std::string message;
};

struct Assembly {
  std::vector<uint8_t> code;
  std::map<std::string, uint64_t> labels;  // byte offsets
  struct SourceLine {
    uint64_t offset;
    uint32_t size;
    int line;
  };
  std::vector<SourceLine> lines;  // of instructions and data, in order
};

// Assembles a whole text. Comments are `//`, `;` and `/* */`; labels end in `:`; directives are .byte,
// .short, .long, .quad and .p2align, and those without bytes (.text, .globl, .type, .size) are passed over.
// On errors (all of them are reported, in order of lines) returns InvalidArgument with one "line:column:
// message" a line, and fills *errors where it is given.
absl::StatusOr<Assembly> AssembleText(Isa isa, const std::string& text, const AsmOptions& options = {},
                                      std::vector<AsmError>* errors = nullptr);

// One instruction without labels. The error's message says where in the text it is.
absl::StatusOr<std::vector<uint8_t>> AssembleInstruction(Isa isa, const std::string& text,
                                                         const AsmOptions& options = {});

}  // namespace understudy::emu::amd
