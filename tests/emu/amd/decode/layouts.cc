// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/decode/layouts.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/file.h"
#include "src/base/status.h"

namespace understudy::emu::amd {
namespace {

// gfx90a's images, which CDNA4's specification no longer has ("Vega" ISA manual, MIMG).
constexpr char kCdnaImages[] =
    "MIMG\t64\t31:26=0x3c\top=24:18:EnumBitField vdata=47:40:VGPRField vaddr=39:32:VGPRField "
    "srsrc=52:48:SRsrcField ssamp=57:53:SRsrcField dmask=11:8:BitField unrm=12:12:BitField "
    "glc=13:13:BitField "
    "da=14:14:BitField a16=15:15:BitField acc=16:16:BitField lwe=17:17:BitField slc=25:25:BitField "
    "sc1=7:7:BitField d16=63:63:BitField\t";

struct Suffix {
  const char* text;
  LayoutForm form;
};
constexpr Suffix kSuffixes[] = {
    {"_SDST_LIT", LayoutForm::kLiteral}, {"_SDWA_SDST", LayoutForm::kSdwa}, {"_LIT", LayoutForm::kLiteral},
    {"_DPP16", LayoutForm::kDpp16},      {"_DPP8", LayoutForm::kDpp8},      {"_SDWA", LayoutForm::kSdwa},
    {"_SDST", LayoutForm::kPlain},       {"_MFMA", LayoutForm::kPlain},
};

Encoding EncodingOf(const std::string& name) {
  for (int e = 0; e < static_cast<int>(Encoding::kCount); ++e) {
    if (name == EncodingName(static_cast<Encoding>(e))) return static_cast<Encoding>(e);
  }
  return Encoding::kCount;
}

FieldKind KindOf(const std::string& name, const std::string& type, int width) {
  if (type == "SrcField" || name.rfind("scale_src", 0) == 0) return FieldKind::kSource;
  if (type == "SSrcField") return FieldKind::kScalarSource;
  if (type == "SGPRField") return FieldKind::kSgpr;
  // RDNA4 gives the registers of resources whole.
  if (name == "rsrc" || name == "samp") return FieldKind::kSgpr;
  if (type == "SBaseField" || type == "SRsrcField") return FieldKind::kTuple;
  if (type == "VGPRField" || (name.rfind("vaddr", 0) == 0 && width == 8)) return FieldKind::kVgpr;
  return FieldKind::kBits;
}

absl::StatusOr<Layout> ParseLayout(const std::string& line) {
  const std::vector<std::string> cells = absl::StrSplit(line, '\t');
  if (cells.size() < 4) return absl::InvalidArgumentError("a layout has five columns: " + line);
  Layout layout;
  layout.name = cells[0];
  std::string encoding = cells[0];
  for (const Suffix& s : kSuffixes) {
    const size_t n = std::strlen(s.text);
    if (encoding.size() <= n || encoding.compare(encoding.size() - n, n, s.text) != 0) continue;
    layout.form = s.form;
    encoding.resize(encoding.size() - n);
    break;
  }
  layout.enc = EncodingOf(encoding);
  if (layout.enc == Encoding::kCount) return absl::InvalidArgumentError("no encoding " + encoding);
  layout.bits = std::atoi(cells[1].c_str());
  const std::vector<std::string> fixed = absl::StrSplit(cells[2], ' '),
                                 fields = absl::StrSplit(cells[3], ' ');
  for (const std::string& f : fixed) {
    int hi = 0, lo = 0;
    if (std::sscanf(f.c_str(), "%d:%d=", &hi, &lo) == 2) SetField(layout.fixed, hi, lo, ~0u);
  }
  for (const std::string& f : fields) {
    const std::vector<std::string> parts = absl::StrSplit(f, '=');
    int hi = 0, lo = 0;
    char type[32] = {};
    if (parts.size() != 2 || std::sscanf(parts[1].c_str(), "%d:%d:%31s", &hi, &lo, type) != 3)
      return absl::InvalidArgumentError(absl::StrCat(layout.name, ": no field '", f, "'"));
    if (std::strcmp(type, "EnumBitField") == 0 || parts[0] == "x2encoding") {
      SetField(layout.fixed, hi, lo, ~0u);
    } else {
      layout.fields.push_back({parts[0], hi, lo, KindOf(parts[0], type, hi - lo + 1)});
    }
  }
  return layout;
}

}  // namespace

uint32_t GetField(const uint32_t* words, int hi, int lo) {
  uint32_t value = 0;
  for (int bit = hi; bit >= lo; --bit) value = value << 1 | (words[bit / 32] >> (bit % 32) & 1);
  return value;
}

void SetField(uint32_t* words, int hi, int lo, uint32_t value) {
  for (int bit = lo; bit <= hi; ++bit) {
    const uint32_t mask = 1u << (bit % 32);
    words[bit / 32] = (words[bit / 32] & ~mask) | ((value >> (bit - lo) & 1) != 0 ? mask : 0);
  }
}

const WordField* Layout::Find(const std::string& field) const {
  for (const WordField& f : fields) {
    if (f.name == field) return &f;
  }
  return nullptr;
}

absl::StatusOr<std::vector<Layout>> LoadLayouts(Isa isa) {
  const char* file = IsCdna(isa) ? "cdna4" : isa == Isa::kRdna4 ? "rdna4" : "rdna3";
  US_ASSIGN_OR_RETURN(const std::string text,
                      ReadFile(absl::StrCat("emu/amd/isa/data/", file, "_encodings.tsv")));
  std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  if (isa == Isa::kCdna2) lines.push_back(kCdnaImages);
  std::vector<Layout> layouts;
  for (size_t i = 1; i < lines.size(); ++i) {
    US_ASSIGN_OR_RETURN(Layout layout, ParseLayout(lines[i]));
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

bool Fits(const Layout& layout, const decode::Row& row) {
  if (layout.enc != row.enc) return false;
  const char* name = OpcodeName(row.op);
  const bool matrix = layout.name == "VOP3P_MFMA";
  if (row.enc == Encoding::VOP3P && layout.form == LayoutForm::kPlain) {
    const bool is_matrix =
        (std::strncmp(name, "V_MFMA_", 7) == 0 && std::strstr(name, "LD_SCALE") == nullptr) ||
        std::strncmp(name, "V_SMFMAC_", 9) == 0;
    if (matrix != is_matrix) return false;
  }
  const bool scalar_result = row.dst[0].kind == decode::OperandKind::SDST;
  if (row.enc == Encoding::VOP3 || row.enc == Encoding::VOP1) {
    const bool sdst = layout.name.find("_SDST") != std::string::npos;
    if (sdst != scalar_result && (layout.form == LayoutForm::kPlain || layout.form == LayoutForm::kLiteral))
      return false;
  }
  if (layout.name == "VOP2_SDWA_SDST") return false;  // no opcode has it
  return true;
}

}  // namespace understudy::emu::amd
