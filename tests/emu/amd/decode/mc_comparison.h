// SPDX-License-Identifier: Apache-2.0
#pragma once
// One machine word after another, read by our decoder and by LLVM MC: accepted or refused alike, with the
// same length, name and text, or a row of the exception lists that says why not. Used by the tests that draw
// and that enumerate words; it draws nothing itself.

#include <cstdint>
#include <set>
#include <string>

#include "emu/amd/decode/inst.h"
#include "emu/amd/disasm/disasm.h"
#include "tests/emu/amd/decode/mc_oracle.h"

namespace understudy::emu::amd {

// The LLVM target that a decoder and its text are compared with.
struct McReference {
  Isa isa;
  const char* cpu;
  int wave_size = 32;
  bool name_halves = false;  // with +real-true16

  std::string features() const;  // in LLVM's form, for the assembler
};
inline constexpr McReference kGfx1100 = {Isa::kRdna3, "gfx1100"};
inline constexpr McReference kGfx1150 = {Isa::kRdna35, "gfx1150"};
inline constexpr McReference kGfx1201 = {Isa::kRdna4, "gfx1201"};
inline constexpr McReference kGfx1200Halves = {Isa::kRdna4, "gfx1200", 32, true};
inline constexpr McReference kGfx90a = {Isa::kCdna2, "gfx90a", 64};
inline constexpr McReference kGfx942 = {Isa::kCdna3, "gfx942", 64};
inline constexpr McReference kGfx950 = {Isa::kCdna4, "gfx950", 64};

enum class McOutcome { kBothAccept, kBothRefuse, kListed, kWrong };

class McComparison {
 public:
  explicit McComparison(const McReference& reference);

  // `words` holds 16 bytes. kBothAccept: same length and name, and the same text unless text_listed().
  // kListed: a row of the exception lists covers the difference. kWrong: report() says what differs.
  McOutcome Run(const uint32_t* words, Inst* inst);

  const McInst& theirs() const { return theirs_; }
  bool text_listed() const { return text_listed_; }
  const std::string& report() const { return report_; }
  std::string OurText(const Inst& inst) const { return Text(inst, text_); }

 private:
  McReference reference_;
  TextOptions text_;
  McDisassembler mc_;
  McInst theirs_;
  bool text_listed_ = false;
  std::string report_;
};

// Rows of the exception lists (of RDNA, or of CDNA) that no comparison of this process has met, by name.
std::set<std::string> UnmetExceptions(bool cdna);

}  // namespace understudy::emu::amd
