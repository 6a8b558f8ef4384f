// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/decode/mc_oracle.h"

#include <llvm-c/Disassembler.h>

#include <algorithm>
#include <cstring>

#include "emu/amd/disasm/disasm.h"
#include "src/base/status.h"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

namespace understudy::emu::amd {

McDisassembler::McDisassembler(const std::string& cpu, int wave_size, const std::string& more_features) {
  static const bool initialised = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    return true;
  }();
  (void)initialised;
  std::string features =
      wave_size == 32 ? "+wavefrontsize32,-wavefrontsize64" : "+wavefrontsize64,-wavefrontsize32";
  if (!more_features.empty()) features += "," + more_features;
  context_ = LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", cpu.c_str(), features.c_str(), nullptr, 0,
                                         nullptr, nullptr);
  US_CHECK(context_ != nullptr) << "LLVM has no AMDGPU disassembler for " << cpu.c_str();
}

McDisassembler::~McDisassembler() { LLVMDisasmDispose(context_); }

namespace {

// LLVM 22 crashes when it prints a barrier (SOP1 opcodes 78 to 82 of gfx12) whose number is a literal.
bool CrashesMc(const uint8_t* window) {
  uint32_t word;
  std::memcpy(&word, window, 4);
  uint32_t op = word >> 8 & 0xff;
  return word >> 23 == 0x17d && op >= 78 && op <= 82 && (word & 0xff) == 0xff;
}

}  // namespace

McInst McDisassembler::Disassemble(const uint8_t* bytes, size_t n) const {
  // MC may look at bytes beyond the instruction: give it a whole window.
  uint8_t window[16] = {};
  std::memcpy(window, bytes, std::min<size_t>(n, sizeof(window)));
  char text[512] = {};
  McInst out;
  if (CrashesMc(window)) return out;
  out.size = LLVMDisasmInstruction(context_, window, sizeof(window), 0, text, sizeof(text));
  if (out.size == 0) return out;
  const char* begin = text + std::strspn(text, " \t");
  for (const char* c = begin; *c != 0; ++c) {
    if (*c != ' ' || c[1] != ' ')
      out.text += *c;  // some image instructions have two blanks after the mnemonic
  }
  while (!out.text.empty() && out.text.back() == ' ') out.text.pop_back();
  out.mnemonic.assign(begin, std::strcspn(begin, " \t\n"));
  out.doubtful = out.text.find("/*") != std::string::npos || out.text.find("Warning:") != std::string::npos ||
                 out.size > n;
  return out;
}

std::vector<McDifference> CompareWithMc(const uint8_t* code, size_t n, const CompareOptions& options) {
  McDisassembler mc(options.cpu, options.wave_size);
  TextOptions text_options;
  text_options.wave_size = options.wave_size;
  std::vector<McDifference> differences;
  for (size_t at = 0; at + 4 <= n;) {
    McInst theirs = mc.Disassemble(code + at, n - at);
    Inst inst;
    absl::Status status = DecodeInto(options.isa, code + at, n - at, &inst);
    if (status.ok()) status = ResolveWaveSize(options.wave_size, &inst);
    auto add = [&](std::string what) {
      differences.push_back({at, std::move(what), status.ok() ? Text(inst, text_options) : "", theirs.text});
    };
    if (!status.ok() && !theirs.accepted()) {
      at += 4;
      continue;
    }
    if (!status.ok() || !theirs.accepted()) {
      add(status.ok() ? "refused by MC" : "refused by us: " + std::string(status.message()));
      at += status.ok() ? inst.size : theirs.size;
      continue;
    }
    if (inst.size != theirs.size) {
      add("size: ours " + std::to_string(inst.size) + ", MC " + std::to_string(theirs.size));
      return differences;
    }
    if (Mnemonic(inst) != theirs.mnemonic) {
      add("mnemonic: ours " + Mnemonic(inst) + ", MC " + theirs.mnemonic);
    } else if (options.text && Text(inst, text_options) != theirs.text) {
      add("text");
    }
    at += inst.size;
  }
  return differences;
}

}  // namespace understudy::emu::amd
