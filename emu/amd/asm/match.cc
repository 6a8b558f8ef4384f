// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/asm/match.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "emu/amd/asm/modifiers.h"
#include "emu/amd/decode/encode.h"
#include "emu/amd/disasm/disasm.h"
#include "src/base/status.h"

namespace understudy::emu::amd::assembler {
namespace {

using decode::Row;

Inst Prototype(Isa isa, const Candidate& candidate) {
  const Row& row = *candidate.row;
  Inst inst;
  inst.isa = isa;
  inst.op = row.op;
  inst.enc = row.enc;
  inst.has_e32_suffix = row.e32_suffix;
  inst.has_e64_suffix = row.e64_suffix;
  if (candidate.form == Form::kDpp16 || candidate.form == Form::kDpp8) {
    inst.dpp.kind = candidate.form == Form::kDpp16 ? DppInfo::Kind::kDpp16 : DppInfo::Kind::kDpp8;
    // A control that every instruction with DPP takes, until the modifier is read.
    if (candidate.form == Form::kDpp16) inst.dpp.ctrl = IsCdna(isa) ? 0x150 : 0xe4;
  }
  inst.sdwa.present = candidate.form == Form::kSdwa;
  return inst;
}

bool HasForm(const Row& row, Form form) {
  switch (form) {
    case Form::kDpp16:
      return (row.layouts & decode::kLayDpp16) != 0;
    case Form::kDpp8:
      return (row.layouts & decode::kLayDpp8) != 0;
    case Form::kSdwa:
      return (row.layouts & decode::kLaySdwa) != 0;
    default:
      return true;
  }
}

// e32 before e64, and otherwise the order of the table.
int Rank(const Row& row) {
  switch (row.enc) {
    case Encoding::VOP1:
    case Encoding::VOP2:
    case Encoding::VOPC:
    case Encoding::SOPK:
      return 0;
    default:
      return 1;
  }
}

Form FormOf(const ParsedLine& line) {
  Form form = Form::kPlain;
  for (const Token& m : line.modifiers) {
    const std::string& t = m.text;
    const auto starts = [&t](const char* name) { return t.rfind(name, 0) == 0; };
    if (starts("dpp8:")) return Form::kDpp8;
    if (starts("quad_perm:") || starts("row_") || starts("wave_")) {
      if (!starts("row_en")) form = Form::kDpp16;
    }
    if (starts("dst_sel:") || starts("src0_sel:") || starts("src1_sel:") || starts("dst_unused:"))
      return Form::kSdwa;
  }
  return form;
}

absl::StatusOr<std::vector<uint8_t>> Bytes(const Inst& inst, int column) {
  uint8_t out[kMaxInstBytes];
  const absl::StatusOr<int> n = EncodeNamed(inst, out);
  if (!n.ok()) return ErrorAt(column, std::string(n.status().message()));
  return std::vector<uint8_t>(out, out + *n);
}

// Encodes and decodes: what comes back has every implicit operand and default in place.
absl::StatusOr<Inst> Normalised(const Inst& inst, int column) {
  US_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, Bytes(inst, column));
  absl::StatusOr<Inst> back = Decode(inst.isa, bytes.data(), bytes.size());
  if (!back.ok()) return ErrorAt(column, std::string(back.status().message()));
  return back;
}

absl::StatusOr<std::vector<uint8_t>> MatchCandidate(Isa isa, const Candidate& candidate,
                                                    const ParsedLine& line, int wave_size,
                                                    const LabelValue& label) {
  Inst inst = Prototype(isa, candidate);
  SetDefaults(*candidate.row, &inst);
  US_RETURN_IF_ERROR(ApplyPlainModifiers(line.modifiers, &inst));
  US_RETURN_IF_ERROR(ReadOperands(*candidate.row, line, wave_size, label, &inst));
  const TextOptions text_options{wave_size};
  US_RETURN_IF_ERROR(FindShapeModifiers(line.modifiers, text_options, &inst));
  const int column = line.mnemonic.column;
  US_ASSIGN_OR_RETURN(Inst full, Normalised(inst, column));
  US_RETURN_IF_ERROR(FindNamedModifiers(line.modifiers, text_options, &full));
  US_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, Bytes(full, column));
  // Nothing may have been lost on the way.
  const absl::StatusOr<Inst> back = Decode(isa, bytes.data(), bytes.size());
  if (!back.ok()) return ErrorAt(column, std::string(back.status().message()));
  const std::string wanted = Text(full, text_options), got = Text(*back, text_options);
  if (wanted != got)
    return ErrorAt(column, absl::StrCat("'", wanted, "' cannot be encoded: it would be '", got, "'"));
  return bytes;
}

absl::StatusOr<std::vector<uint8_t>> MatchPair(Isa isa, const ParsedLine& line, int wave_size);

}  // namespace

Mnemonics::Mnemonics(Isa isa) {
  for (const Row& row : decode::TableOf(isa).rows()) {
    if (row.rdna35 && isa == Isa::kRdna3) continue;
    for (const Form form : {Form::kPlain, Form::kDpp16, Form::kDpp8, Form::kSdwa}) {
      if (!HasForm(row, form)) continue;
      const Candidate candidate{&row, form};
      const std::string name = Mnemonic(Prototype(isa, candidate));
      Add(name, candidate);
      if (row.enc == Encoding::VOPD) continue;
      // Without a suffix either form may be meant.
      std::string base = name;
      for (const char* suffix : {"_e64_dpp", "_dpp", "_sdwa", "_e32", "_e64"}) {
        const size_t n = std::strlen(suffix);
        if (base.size() > n && base.compare(base.size() - n, n, suffix) == 0) {
          base.resize(base.size() - n);
          Add(base, candidate);
          break;
        }
      }
    }
  }
  for (auto& [name, candidates] : by_name_) {
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return Rank(*a.row) < Rank(*b.row); });
  }
}

void Mnemonics::Add(const std::string& name, const Candidate& candidate) {
  by_name_[name].push_back(candidate);
}

const std::vector<Candidate>* Mnemonics::Find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second;
}

std::string Mnemonics::Nearest(const std::string& name) const {
  std::string best;
  size_t least = 4;  // more changes than three are no likeness
  std::vector<size_t> row(name.size() + 1);
  for (const auto& [known, candidates] : by_name_) {
    for (size_t j = 0; j <= name.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= known.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= name.size(); ++j) {
        const size_t change = diagonal + (known[i - 1] == name[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
      }
    }
    const size_t distance = row[name.size()];
    if (distance < least || (distance == least && !best.empty() && known < best)) {
      least = distance;
      best = known;
    }
  }
  return best;
}

const Mnemonics& MnemonicsOf(Isa isa) {
  static std::array<const Mnemonics*, std::size(kAllIsas)>* const all =
      new std::array<const Mnemonics*, std::size(kAllIsas)>();
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  const Mnemonics*& one = (*all)[static_cast<size_t>(isa)];
  if (one == nullptr) one = new Mnemonics(isa);
  return *one;
}

bool TakesLabel(const std::string& mnemonic) {
  if (mnemonic == "s_cbranch_g_fork" || mnemonic == "s_cbranch_join") return false;
  return mnemonic.rfind("s_branch", 0) == 0 || mnemonic.rfind("s_cbranch", 0) == 0 ||
         mnemonic.rfind("s_call", 0) == 0 || mnemonic.rfind("s_subvector_loop", 0) == 0;
}

absl::StatusOr<std::vector<uint8_t>> MatchLine(Isa isa, const ParsedLine& line, int wave_size,
                                               const LabelValue& label) {
  if (line.rest.text.find("::") != std::string::npos) return MatchPair(isa, line, wave_size);
  const std::vector<Candidate>* candidates = MnemonicsOf(isa).Find(line.mnemonic.text);
  if (candidates == nullptr) {
    const std::string nearest = MnemonicsOf(isa).Nearest(line.mnemonic.text);
    return ErrorAt(line.mnemonic.column,
                   absl::StrCat(IsaTarget(isa), " has no instruction '", line.mnemonic.text, "'",
                                nearest.empty() ? "" : absl::StrCat("; did you mean '", nearest, "'?")));
  }
  const Form form = FormOf(line);
  absl::Status best;
  int best_column = -1;
  for (const Candidate& candidate : *candidates) {
    if (candidate.form != form || candidate.row->enc == Encoding::VOPD) continue;
    absl::StatusOr<std::vector<uint8_t>> bytes = MatchCandidate(isa, candidate, line, wave_size, label);
    if (bytes.ok()) return bytes;
    // The candidate that got furthest knows best what is wrong.
    const int column = std::atoi(std::string(bytes.status().message()).c_str());
    if (column > best_column) best_column = column, best = bytes.status();
  }
  if (best.ok()) {
    return ErrorAt(line.mnemonic.column, absl::StrCat("'", line.mnemonic.text, "' has no ",
                                                      form == Form::kSdwa    ? "SDWA"
                                                      : form == Form::kPlain ? "form without DPP"
                                                                             : "DPP",
                                                      " form"));
  }
  return best;
}

namespace {

// One half of a dual instruction, read as a VOP2-shaped instruction of its own.
absl::Status ReadHalf(Isa isa, const std::string& text, int column, int wave_size, Inst* half) {
  US_ASSIGN_OR_RETURN(const ParsedLine line, ParseLine(text, column));
  const std::vector<Candidate>* candidates = MnemonicsOf(isa).Find(line.mnemonic.text);
  const Candidate* found = nullptr;
  if (candidates != nullptr) {
    for (const Candidate& c : *candidates) {
      if (c.row->enc == Encoding::VOPD) found = &c;
    }
  }
  if (found == nullptr)
    return ErrorAt(line.mnemonic.column,
                   absl::StrCat("'", line.mnemonic.text, "' is no half of a dual instruction"));
  *half = Prototype(isa, *found);
  return ReadOperands(*found->row, line, wave_size, LabelValue(), half);
}

absl::StatusOr<std::vector<uint8_t>> MatchPair(Isa isa, const ParsedLine& line, int wave_size) {
  const size_t middle = line.rest.text.find("::");
  const std::string x_text = absl::StrCat(line.mnemonic.text, " ", line.rest.text.substr(0, middle));
  const int y_column = line.rest.column + static_cast<int>(middle) + 2;
  Inst inst;
  US_RETURN_IF_ERROR(ReadHalf(isa, x_text, line.rest.column - static_cast<int>(line.mnemonic.text.size()) - 1,
                              wave_size, &inst));
  Inst y_half;
  US_RETURN_IF_ERROR(ReadHalf(isa, line.rest.text.substr(middle + 2), y_column, wave_size, &y_half));
  if (inst.has_literal && y_half.has_literal && inst.lit32 != y_half.lit32) {
    return ErrorAt(y_column, "the halves share one literal, and these differ");
  }
  if (y_half.has_literal) inst.has_literal = true, inst.lit32 = y_half.lit32;
  inst.op_y = y_half.op;
  inst.dst[1] = y_half.dst[0];
  inst.n_dst = 2;
  inst.n_src_y = y_half.n_src;
  for (int i = 0; i < 3; ++i) inst.src[3 + i] = y_half.src[i];
  US_ASSIGN_OR_RETURN(const Inst full, Normalised(inst, line.mnemonic.column));
  US_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, Bytes(full, line.mnemonic.column));
  // The destinations lie in different banks; the encoding has no room to say otherwise.
  if (full.dst[1].reg != inst.dst[1].reg) {
    return ErrorAt(y_column, "one destination must be an even VGPR, the other an odd one");
  }
  return bytes;
}

}  // namespace
}  // namespace understudy::emu::amd::assembler
