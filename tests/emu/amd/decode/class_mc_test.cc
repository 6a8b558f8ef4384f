// SPDX-License-Identifier: Apache-2.0
// Every opcode of every generation in every layout (plain, literal, DPP, SDWA), each field taking every class
// of value it can name, against LLVM MC: accepted or refused alike, the same text, and the bytes that MC
// assembles from that text. Where the other tests draw, this one enumerates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "emu/amd/decode/encode.h"
#include "emu/amd/decode/rows.h"
#include "src/base/hex.h"
#include "tests/emu/amd/asm/assembler.h"
#include "tests/emu/amd/decode/cdna_words.h"
#include "tests/emu/amd/decode/class_words.h"
#include "tests/emu/amd/decode/encode_exceptions.h"
#include "tests/emu/amd/decode/mc_comparison.h"
#include "tests/emu/amd/evidence/evidence.h"

namespace understudy::emu::amd {
namespace {

constexpr uint64_t kSeed = 512;
constexpr int kMaxReports = 30;

bool HasForm(const decode::Row& row, LayoutForm form) {
  switch (form) {
    case LayoutForm::kLiteral:
      return (row.layouts & decode::kLayLit) != 0;
    case LayoutForm::kDpp16:
      return (row.layouts & decode::kLayDpp16) != 0;
    case LayoutForm::kDpp8:
      return (row.layouts & decode::kLayDpp8) != 0;
    case LayoutForm::kSdwa:
      return (row.layouts & decode::kLaySdwa) != 0;
    default:
      return true;
  }
}

class Sweep {
 public:
  explicit Sweep(const McReference& r) : reference_(r), compare_(r), rng_(kSeed) {}

  // Without `vary` only a legal instruction of the layout is compared.
  void Run(const decode::Row& row, const Layout& layout, bool vary) {
    row_ = &row;
    vary_ = vary;
    uint32_t base[4];
    if (!FindBase(layout, base)) return;
    Simplify(layout, [this](const uint32_t* words) { return IsLegal(words); }, base);
    const WordField* dim = layout.Find("dim");
    if (dim == nullptr) return Enumerate(layout, base);
    // The dimension of an image says how many address registers there are.
    for (uint32_t v = 0; v < 8; ++v) {
      SetField(base, dim->hi, dim->lo, v);
      if (IsLegal(base)) Enumerate(layout, base);
    }
  }

  // Assembles what was kept; the opcodes whose bytes agree.
  void Assemble(std::set<std::pair<Encoding, Opcode>>* proved) {
    std::vector<std::string> lines;
    for (const EncodeCase& c : cases_) lines.push_back(c.text);
    const auto mc = AssembleLines(reference_.cpu, lines, reference_.features());
    ASSERT_TRUE(mc.ok()) << mc.status();
    for (size_t i = 0; i < cases_.size(); ++i) {
      const EncodeCase& c = cases_[i];
      const std::vector<uint8_t>& theirs = (*mc)[i];
      if (theirs.empty()) {
        ++unread_;
        continue;
      }
      ++assembled_;
      if (theirs == c.ours) {
        proved->insert({c.inst.enc, ops_[i]});
        RecordExecuted(reference_.isa, ops_[i]);
      } else if (!IsEncodeException(c, theirs)) {
        ++wrong_;
        if (reports_++ < kMaxReports) {
          ADD_FAILURE() << reference_.cpu << " " << c.text << "\n  ours "
                        << BytesToHex(c.ours.data(), c.ours.size()) << "\n  MC   "
                        << BytesToHex(theirs.data(), theirs.size());
        }
      }
    }
  }

  std::string Summary() const {
    return absl::StrCat(reference_.cpu, " wave", reference_.wave_size, ": ", bases_, " opcodes and layouts, ",
                        cells_, " classes (", cells_accepted_, " legal), ", words_, " words: ", accepted_,
                        " accepted, ", refused_, " refused, ", listed_, " exceptions, ", wrong_, " wrong; ",
                        assembled_, " texts assembled, ", unread_, " that MC does not read back");
  }
  int wrong() const { return wrong_; }
  int words() const { return words_; }

 private:
  void Enumerate(const Layout& layout, const uint32_t* base) {
    ++bases_;
    Inst inst;
    if (Compare(base, &inst) == McOutcome::kBothAccept && !compare_.text_listed()) Keep(inst);
    if (!vary_) return;
    std::string last_cell;
    bool cell_accepted = false;
    ForEachClassWord(layout, base, [&](const ClassWord& word) {
      if (McFailsOnThese(word.words)) return;
      const std::string cell = absl::StrCat(word.place, " ", word.class_name);
      if (cell != last_cell) {
        ++cells_;
        last_cell = cell;
        cell_accepted = false;
      }
      Inst varied;
      if (Compare(word.words, &varied) != McOutcome::kBothAccept) return;
      if (!IsRow(varied)) return;  // an opcode bit that the layout calls reserved
      cells_accepted_ += !cell_accepted;
      const bool keep = !cell_accepted || word.first_of_class;
      cell_accepted = true;
      if (keep && !compare_.text_listed()) Keep(varied);
    });
  }
  bool McFailsOnThese(const uint32_t* words) const {
    if (!IsCdna(reference_.isa)) return false;
    Words w;
    std::memcpy(w, words, sizeof(w));
    return McFailsOn(w);
  }
  bool IsRow(const Inst& inst) const {
    return inst.op == row_->op || (row_->enc == Encoding::VOPD && inst.op_y == row_->op);
  }
  McOutcome Compare(const uint32_t* words, Inst* inst) {
    ++words_;
    const McOutcome outcome = compare_.Run(words, inst);
    accepted_ += outcome == McOutcome::kBothAccept;
    refused_ += outcome == McOutcome::kBothRefuse;
    listed_ += outcome == McOutcome::kListed;
    if (outcome == McOutcome::kWrong) {
      ++wrong_;
      if (reports_++ < kMaxReports) ADD_FAILURE() << OpcodeName(row_->op) << " " << compare_.report();
    }
    return outcome;
  }
  bool IsLegal(const uint32_t* words) {
    Inst inst;
    return !McFailsOnThese(words) && Compare(words, &inst) == McOutcome::kBothAccept && IsRow(inst) &&
           (!compare_.text_listed() || take_listed_);
  }
  bool FindBase(const Layout& layout, uint32_t* base) {
    const bool expected = HasForm(*row_, layout.form);
    for (const bool listed : {false, true}) {
      take_listed_ = listed;
      for (int i = 0; i < (expected ? 300 : 8); ++i) {
        DrawForm(reference_.isa, *row_, layout, rng_, base);
        if (IsLegal(base)) return true;
      }
    }
    return false;
  }
  void Keep(const Inst& inst) {
    EncodeCase c;
    c.inst = inst;
    c.text = compare_.theirs().text;
    uint8_t out[kMaxInstBytes];
    const absl::StatusOr<int> n = Encode(inst, out);
    if (!n.ok()) {
      ++wrong_;
      if (reports_++ < kMaxReports) ADD_FAILURE() << c.text << ": " << n.status();
      return;
    }
    c.ours.assign(out, out + *n);
    if (!texts_.insert(c.text).second) return;
    cases_.push_back(std::move(c));
    ops_.push_back(row_->op);
  }

  McReference reference_;
  McComparison compare_;
  std::mt19937_64 rng_;
  const decode::Row* row_ = nullptr;
  bool take_listed_ = false, vary_ = true;
  std::vector<EncodeCase> cases_;
  std::vector<Opcode> ops_;
  std::set<std::string> texts_;
  int bases_ = 0, cells_ = 0, cells_accepted_ = 0, words_ = 0, accepted_ = 0, refused_ = 0, listed_ = 0,
      wrong_ = 0, assembled_ = 0, unread_ = 0, reports_ = 0;
};

// Opcodes whose text and bytes MC cannot confirm.
struct Unproved {
  const char* reason;
  bool (*covers)(const McReference& reference, const decode::Row& row);
};
constexpr Unproved kUnproved[] = {
    {"one name in both encodings: MC assembles the short one",
     [](const McReference& r, const decode::Row& row) {
       return row.enc == Encoding::VOP3 && !row.e64_suffix &&
              decode::TableOf(r.isa).Find(Encoding::VOP1, row.op) != nullptr;
     }},
    {"in AMD's specification of RDNA3; MC has them for other generations",
     [](const McReference& r, const decode::Row& row) {
       const char* name = OpcodeName(row.op);
       return (r.isa == Isa::kRdna3 || r.isa == Isa::kRdna35) &&
              (std::strstr(name, "_LOAD_LDS_") != nullptr || row.op == Opcode::FLAT_ATOMIC_CSUB_U32);
     }},
    {"without +real-true16 MC does not name halves, and prints the raw bits of VINTERP",
     [](const McReference& r, const decode::Row& row) {
       return r.isa == Isa::kRdna4 && !r.name_halves &&
              (row.op == Opcode::V_MOV_B16 || row.op == Opcode::V_SWAP_B16 || row.enc == Encoding::VINTERP);
     }},
    {"in AMD's specification of CDNA4 alone",
     [](const McReference&, const decode::Row& row) { return row.op == Opcode::S_SET_VALU_COEXEC_MODE; }},
};

bool IsUnproved(const McReference& reference, const decode::Row& row) {
  for (const Unproved& u : kUnproved) {
    if (u.covers(reference, row)) return true;
  }
  return false;
}

// What a sweep is about.
struct SweepParam {
  McReference reference;
  const char* name;
  // Only rows whose text depends on the wave's size, or has halves of registers.
  bool masks_only = false, halves_only = false;
  // Extensions of opcodes that another target has too, with the same text, are not varied a second time.
  bool new_rows_only = false;
  // The table in parts, for tests that run side by side.
  int part = 0, parts = 1;
};

bool Concerns(const SweepParam& param, const decode::Row& row) {
  if (row.number % param.parts != param.part) return false;
  if (row.rdna35 && param.reference.isa == Isa::kRdna3) return false;
  if (!param.masks_only && !param.halves_only) return true;
  bool masks = std::strstr(OpcodeName(row.op), "WMMA") != nullptr, halves = false;
  for (const decode::Slot* slot : {&row.dst[0], &row.dst[1], &row.src[0], &row.src[1], &row.src[2]}) {
    masks |= slot->type == DataType::M64;
    halves |= slot->half;
  }
  return row.enc != Encoding::VOPD && ((param.masks_only && masks) || (param.halves_only && halves));
}

class ClassMc : public ::testing::TestWithParam<SweepParam> {};

TEST_P(ClassMc, EveryClassOfOperandReadsAndWritesAsInMc) {
  const SweepParam& param = GetParam();
  const auto layouts = LoadLayouts(param.reference.isa);
  ASSERT_TRUE(layouts.ok()) << layouts.status();
  Sweep sweep(param.reference);
  for (const decode::Row& row : decode::TableOf(param.reference.isa).rows()) {
    if (!Concerns(param, row)) continue;
    for (const Layout& layout : *layouts) {
      if (!Fits(layout, row)) continue;
      const bool vary = !param.new_rows_only || row.rdna35 || layout.form == LayoutForm::kPlain ||
                        layout.name == "VOP2_LIT";
      sweep.Run(row, layout, vary);
    }
  }
  std::set<std::pair<Encoding, Opcode>> proved;
  sweep.Assemble(&proved);
  int opcodes = 0;
  for (const decode::Row& row : decode::TableOf(param.reference.isa).rows()) {
    if (!Concerns(param, row)) continue;
    const bool found = proved.count({row.enc, row.op}) != 0;
    opcodes += found;
    EXPECT_EQ(found, !IsUnproved(param.reference, row)) << EncodingName(row.enc) << " " << OpcodeName(row.op);
  }
  std::printf("%s; %d opcodes proved\n", sweep.Summary().c_str(), opcodes);
  EXPECT_EQ(sweep.wrong(), 0);
  EXPECT_GT(sweep.words(), 50000);
}

constexpr McReference Wave64(McReference r) {
  r.wave_size = 64;
  return r;
}

INSTANTIATE_TEST_SUITE_P(
    Targets, ClassMc,
    ::testing::Values(SweepParam{kGfx1100, "gfx1100_even", false, false, false, 0, 2},
                      SweepParam{kGfx1200Halves, "gfx1200_even", false, false, false, 0, 2},
                      SweepParam{kGfx1100, "gfx1100_odd", false, false, false, 1, 2},
                      SweepParam{kGfx1200Halves, "gfx1200_odd", false, false, false, 1, 2},
                      SweepParam{kGfx1150, "gfx1150", false, false, true}, SweepParam{kGfx90a, "gfx90a"},
                      SweepParam{kGfx942, "gfx942"}, SweepParam{kGfx950, "gfx950"},
                      SweepParam{Wave64(kGfx1100), "gfx1100_wave64", true},
                      SweepParam{Wave64(kGfx1200Halves), "gfx1200_wave64", true},
                      SweepParam{kGfx1201, "gfx1201_halves", false, true}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace understudy::emu::amd
