// SPDX-License-Identifier: Apache-2.0
#pragma once
// LLVM's AMDGPU disassembler as an oracle, in process, and the comparison of our decoder with it. Tests of
// any code object use CompareWithMc; it never runs code and keeps no state between calls.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {

// What MC makes of the bytes. It never reads past 16 bytes from the start; shorter inputs are padded with
// zeros.
struct McInst {
  size_t size = 0;       // 0: refused
  std::string text;      // without leading blanks
  std::string mnemonic;  // first word of text
  // MC prints what it cannot name with a comment ("/*Invalid register*/") or a warning (misaligned scalar
  // tuples): the bytes are not an instruction by its own account, though it returns a size.
  bool doubtful = false;
  bool accepted() const { return size != 0 && !doubtful; }
};

class McDisassembler {
 public:
  // `cpu` such as "gfx1100" or "gfx1150"; aborts when LLVM was built without it. `features` in LLVM's form.
  explicit McDisassembler(const std::string& cpu, int wave_size = 32, const std::string& features = "");
  ~McDisassembler();
  McDisassembler(const McDisassembler&) = delete;
  McDisassembler& operator=(const McDisassembler&) = delete;
  McInst Disassemble(const uint8_t* bytes, size_t n) const;

 private:
  void* context_;
};

// A place where the two walks disagree.
struct McDifference {
  size_t offset = 0;
  std::string what;  // "size: ours 8, MC 4", "mnemonic: ...", "refused by us: ...", "text: ..."
  std::string ours, mc;
};

struct CompareOptions {
  Isa isa = Isa::kRdna3;
  std::string cpu = "gfx1100";
  int wave_size = 32;
  bool text = true;  // compare the whole line, not only boundaries and mnemonics
};

// Walks `n` bytes of code with both and returns every difference: instruction boundaries, mnemonics and, if
// asked, the whole text. Bytes that both refuse are stepped over as one word. Stops at the first difference
// in size.
std::vector<McDifference> CompareWithMc(const uint8_t* code, size_t n, const CompareOptions& options = {});

}  // namespace understudy::emu::amd
