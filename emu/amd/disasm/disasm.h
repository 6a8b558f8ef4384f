// SPDX-License-Identifier: Apache-2.0
#pragma once
// Assembly text of decoded instructions, in LLVM MC's syntax (what llvm-objdump prints), for faults, traces
// and the `understudy disasm` command. Never fails and never decides anything: it prints what the decoder
// found.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {

struct TextOptions {
  int wave_size = 32;  // lane masks print as one register (32) or a pair (64)
  // RDNA4: "v1.l" and "v1.h" for the halves of a register, as LLVM writes with +real-true16. Without it a
  // half is named only where op_sel does not say it, as LLVM writes by default. RDNA3 always names halves.
  bool name_halves = false;
};

// "v_add_f32_e32 v1, s0, v2".
std::string Text(const Inst& inst, const TextOptions& options = {});

// "v_add_f32_e32": the mnemonic with its encoding suffix. A VOPD pair gives its X half's.
std::string Mnemonic(const Inst& inst);

// One step of a walk over code.
struct Line {
  size_t offset = 0;
  size_t size = 0;  // bytes; 4 where nothing decodes
  bool valid = false;
  bool branch = false;  // a branch or call whose target the instruction holds
  int64_t target = 0;   // that target, as an offset like `offset`; it may lie outside the code
  std::string text;     // or ".long 0x... // reason"
};

// Walks `n` bytes of code from offset 0. What does not decode is one .long with the reason; the walk goes on
// after it.
std::vector<Line> Disassemble(Isa isa, const uint8_t* code, size_t n, const TextOptions& options = {});

// The walk as text, one line an instruction: "0000a8: 7e020280            v_mov_b32_e32 v1, 0". Offsets start
// at `base`. An instruction that a branch goes to has a line "L_0000a8:" before it, the branch the comment
// "// L_0000a8", or "// 0x1a8, outside" where it leaves the code.
std::string DisassembleToText(Isa isa, const uint8_t* code, size_t n, uint64_t base = 0,
                              const TextOptions& options = {});

}  // namespace understudy::emu::amd
