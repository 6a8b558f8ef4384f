// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/decode/mc_comparison.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/emu/amd/decode/cdna_exceptions.h"
#include "tests/emu/amd/decode/mc_exceptions.h"

namespace understudy::emu::amd {
namespace {

// Rows met: [CDNA][text or not].
std::set<int>& Met(bool cdna, bool text) {
  static auto* const met = new std::set<int>[4]();
  return met[2 * cdna + text];
}

int Find(bool cdna, bool text, const Disagreement& d) {
  if (cdna) return text ? FindCdnaTextException(d) : FindCdnaException(d);
  return text ? FindTextException(d) : FindException(d);
}

}  // namespace

std::string McReference::features() const {
  std::string f = wave_size == 32 ? "+wavefrontsize32,-wavefrontsize64" : "+wavefrontsize64,-wavefrontsize32";
  if (name_halves) f += ",+real-true16";
  return f;
}

McComparison::McComparison(const McReference& r)
    : reference_(r),
      text_{r.wave_size, r.name_halves},
      mc_(r.cpu, r.wave_size, r.name_halves ? "+real-true16" : "") {}

McOutcome McComparison::Run(const uint32_t* words, Inst* inst) {
  uint8_t bytes[16];
  std::memcpy(bytes, words, sizeof(bytes));
  text_listed_ = false;
  Disagreement d;
  std::memcpy(d.words, words, sizeof(d.words));
  theirs_ = mc_.Disassemble(bytes, sizeof(bytes));
  absl::Status status = DecodeInto(reference_.isa, bytes, sizeof(bytes), inst);
  if (status.ok()) status = ResolveWaveSize(reference_.wave_size, inst);
  if (!status.ok() && !theirs_.accepted()) return McOutcome::kBothRefuse;
  const bool both = status.ok() && theirs_.accepted();
  const bool alike = both && inst->size == theirs_.size && Mnemonic(*inst) == theirs_.mnemonic;
  const std::string ours = status.ok() ? OurText(*inst) : std::string(status.message());
  if (alike && ours == theirs_.text) return McOutcome::kBothAccept;
  // What both take under different names has no excuse on RDNA.
  const bool cdna = IsCdna(reference_.isa);
  if (!both || alike || cdna) {
    d.mc = theirs_;
    d.refusal = std::string(status.message());
    if (status.ok()) d.ours = inst;
    const int row = Find(cdna, alike, d);
    if (row >= 0) {
      Met(cdna, alike).insert(row);
      text_listed_ = alike;
      return alike ? McOutcome::kBothAccept : McOutcome::kListed;
    }
  }
  const char* what = alike ? "text" : both ? "length or name" : status.ok() ? "MC refuses" : "we refuse";
  report_ = absl::StrFormat("%s %08x %08x %08x %08x: %s\n  ours %s%s\n  MC   %s%s", reference_.cpu, words[0],
                            words[1], words[2], words[3], what,
                            both ? absl::StrCat("(", int{inst->size}, " bytes) ") : "", ours,
                            both ? absl::StrCat("(", theirs_.size, " bytes) ") : "", theirs_.text);
  return McOutcome::kWrong;
}

std::set<std::string> UnmetExceptions(bool cdna) {
  std::set<std::string> unmet;
  for (const bool text : {false, true}) {
    const std::vector<McException> rows = cdna ? (text ? CdnaTextExceptions() : CdnaExceptions())
                                               : (text ? McTextExceptions() : McExceptions());
    for (size_t i = 0; i < rows.size(); ++i) {
      if (Met(cdna, text).count(static_cast<int>(i)) == 0) unmet.insert(rows[i].name);
    }
  }
  return unmet;
}

}  // namespace understudy::emu::amd
