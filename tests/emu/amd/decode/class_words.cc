// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/decode/class_words.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/emu/amd/decode/cdna_words.h"
#include "tests/emu/amd/decode/random_words.h"

namespace understudy::emu::amd {
namespace {

// Operand codes 0 to 511: some of each class, all of the special ones.
struct ClassRange {
  const char* name;
  uint32_t first, last;
  int step;  // 0: only first, second, middle and last
};
constexpr ClassRange kCodes[] = {
    {"SGPR", 0, 101, 0},          {"s102-s105", 102, 105, 1},
    {"VCC", 106, 107, 1},         {"TTMP", 108, 123, 0},
    {"NULL or M0", 124, 125, 1},  {"EXEC", 126, 127, 1},
    {"integer", 128, 192, 0},     {"negative integer", 193, 208, 0},
    {"reserved", 209, 232, 0},    {"DPP8", 233, 234, 1},
    {"aperture", 235, 239, 1},    {"float", 240, 248, 1},
    {"SDWA or DPP", 249, 250, 1}, {"VCCZ", 251, 251, 1},
    {"EXECZ", 252, 252, 1},       {"SCC", 253, 253, 1},
    {"LDS_DIRECT", 254, 254, 1},  {"literal", 255, 255, 1},
    {"VGPR", 256, 383, 0},        {"VGPR above 127", 384, 511, 0},
};

std::vector<uint32_t> ValuesOf(const ClassRange& range) {
  std::vector<uint32_t> values;
  if (range.step != 0) {
    for (uint32_t v = range.first; v <= range.last; ++v) values.push_back(v);
    return values;
  }
  const uint32_t middle = range.first + (range.last - range.first) / 2 / 8 * 8;
  for (uint32_t v :
       {range.first, range.first + 1, range.first + 2, range.first + 4, middle, range.last - 1, range.last})
    values.push_back(v);
  return values;
}

// Fields that the extension words bring, at their most neutral.
const std::map<std::string, uint32_t>& Neutral() {
  static const auto* const neutral = new std::map<std::string, uint32_t>{
      {"dpp", 0xe4},   {"row_mask", 15}, {"bank_mask", 15}, {"fi", 0},        {"bc", 0},
      {"src0_neg", 0}, {"src0_abs", 0},  {"src1_neg", 0},   {"src1_abs", 0},  {"dst_sel", 6},
      {"src0_sel", 6}, {"src1_sel", 6},  {"dst_unused", 0}, {"src0_sext", 0}, {"src1_sext", 0},
      {"s0", 0},       {"s1", 0},        {"sd", 0},
  };
  return *neutral;
}

bool IsForm(const Layout& layout, const WordField& f) {
  return layout.form != LayoutForm::kPlain && (f.name == "src0" || f.name == "ssrc0" || f.name == "srcx0");
}

uint32_t FormCode(LayoutForm form) {
  switch (form) {
    case LayoutForm::kLiteral:
      return 255;
    case LayoutForm::kDpp16:
      return 250;
    case LayoutForm::kDpp8:
      return 233;
    default:
      return 249;
  }
}

// DPP controls: some of each kind, and what lies between.
constexpr uint32_t kControls[] = {0,     0x1b,  0xe4,  0xff,  0x100, 0x101, 0x10f, 0x110, 0x111, 0x11f, 0x120,
                                  0x121, 0x12f, 0x130, 0x131, 0x134, 0x138, 0x13c, 0x13f, 0x140, 0x141, 0x142,
                                  0x143, 0x144, 0x150, 0x15f, 0x160, 0x161, 0x16f, 0x170, 0x1ff};

// Words that some inline constant stands for, as f32, upper half of an f64, f16, bf16, pair or integer.
constexpr uint32_t kLiterals[] = {64,         65,         0xffff,     0xfff0,     0xfffffff0, 0xffffffef,
                                  0x3f000000, 0xbf800000, 0x40800000, 0xc0000000, 0x3e22f983, 0x3fe00000,
                                  0xbff00000, 0x40100000, 0x3fc45f30, 0x3800,     0xbc00,     0x4400,
                                  0x3118,     0x3f00,     0xbf80,     0x4080,     0x3e22,     0x3c003c00,
                                  0x3f803f80, 0x00010001, 0xfff0fff0};

std::vector<uint32_t> BitValues(const WordField& f) {
  std::vector<uint32_t> values;
  if (f.name == "literal") values.assign(std::begin(kLiterals), std::end(kLiterals));
  if (f.name == "dpp") return {std::begin(kControls), std::end(kControls)};
  const int width = std::min(f.width(), 32);
  const uint32_t ones = width == 32 ? ~0u : (1u << width) - 1;
  const uint32_t low = width <= 7 ? ones : f.name == "simm16" ? 255 : 1;
  for (uint32_t v = 0; v <= low; ++v) values.push_back(v);
  for (int bit = 0; bit < width; ++bit) {
    if (1u << bit > low) values.push_back(1u << bit);
  }
  if (low != ones) values.push_back(ones), values.push_back(ones >> 1);
  return values;
}

}  // namespace

void DrawForm(Isa isa, const decode::Row& row, const Layout& layout, std::mt19937_64& rng, uint32_t* words) {
  if (IsCdna(isa)) {
    Words drawn;
    DrawCdnaWords(row, rng, drawn);
    std::memcpy(words, drawn, sizeof(drawn));
  } else {
    DrawWords(isa, row, rng, rng() % 8 != 0, words);
  }
  if (layout.form == LayoutForm::kPlain) return;
  for (const WordField& f : layout.fields) {
    const auto neutral = Neutral().find(f.name);
    if (neutral != Neutral().end()) SetField(words, f.hi, f.lo, neutral->second);
    if (IsForm(layout, f)) SetField(words, f.hi, f.lo, FormCode(layout.form));
    if (layout.form == LayoutForm::kSdwa && (f.name == "omod" || f.name == "clmp" || f.name == "sdst"))
      SetField(words, f.hi, f.lo, 0);
  }
}

void Simplify(const Layout& layout, const std::function<bool(const uint32_t*)>& legal, uint32_t* words) {
  const auto attempt = [&](const WordField& f, uint32_t value) {
    uint32_t changed[4];
    std::memcpy(changed, words, sizeof(changed));
    SetField(changed, f.hi, f.lo, value);
    if (!legal(changed)) return false;
    std::memcpy(words, changed, sizeof(changed));
    return true;
  };
  uint32_t place = 1;
  for (const WordField& f : layout.fields) {
    if (IsForm(layout, f) || Neutral().count(f.name) != 0) continue;
    switch (f.kind) {
      case FieldKind::kSource:
        // Of different banks too, which dual instructions ask for.
        if (attempt(f, 256 + 9 * place) || attempt(f, 256 + 8 * place) || attempt(f, 8 * place)) ++place;
        break;
      case FieldKind::kVgpr:
        if (attempt(f, 9 * place) || attempt(f, 8 * place)) ++place;
        break;
      case FieldKind::kSgpr:
      case FieldKind::kScalarSource:
        if (attempt(f, 8 * place)) ++place;
        break;
      case FieldKind::kTuple:
        if (attempt(f, 2 * place)) ++place;
        break;
      case FieldKind::kBits:
        // An image has components, and each dimension is a shape of its own. Packed operands read both
        // halves.
        if (f.width() > 8 || f.name == "dim") break;
        attempt(f, f.name == "opsel_hi" ? 3 : f.name == "opsel_hi2" || f.name == "dmask" ? 1 : 0);
        break;
    }
  }
}

void ForEachClassWord(const Layout& layout, const uint32_t* base,
                      const std::function<void(const ClassWord&)>& visit) {
  ClassWord word;
  uint32_t covered[4];
  std::memcpy(covered, layout.fixed, sizeof(covered));
  const auto emit = [&](const WordField& f, uint32_t value, const char* name, bool first) {
    std::memcpy(word.words, base, sizeof(word.words));
    SetField(word.words, f.hi, f.lo, value);
    word.class_name = name;
    word.first_of_class = first;
    visit(word);
  };
  for (const WordField& f : layout.fields) {
    SetField(covered, f.hi, f.lo, ~0u);
    word.place = f.name;
    if (IsForm(layout, f)) {
      emit(f, FormCode(layout.form), "form", true);
      if (layout.form == LayoutForm::kDpp8) emit(f, 234, "DPP8 with FI", true);
      continue;
    }
    switch (f.kind) {
      case FieldKind::kSource:
      case FieldKind::kScalarSource:
      case FieldKind::kSgpr:
        for (const ClassRange& range : kCodes) {
          bool first = true;
          for (uint32_t v : ValuesOf(range)) {
            if (v >> f.width() != 0) continue;
            emit(f, v, range.name, first);
            first = false;
          }
        }
        break;
      case FieldKind::kVgpr:
        for (const ClassRange& range :
             {ClassRange{"register", 0, 127, 0}, ClassRange{"register above 127", 128, 255, 0}}) {
          bool first = true;
          for (uint32_t v : ValuesOf(range)) emit(f, v, range.name, first), first = false;
        }
        break;
      case FieldKind::kTuple:
        for (uint32_t v = 0; v < 1u << f.width(); ++v) emit(f, v, "tuple", v < 8);
        break;
      case FieldKind::kBits:
        for (uint32_t v : BitValues(f)) emit(f, v, "bits", f.width() <= 7);
        break;
    }
  }
  for (int bit = 0; bit < layout.bits; ++bit) {
    if ((covered[bit / 32] >> (bit % 32) & 1) != 0) continue;
    word.place = absl::StrCat("bit ", bit);
    emit({word.place, bit, bit, FieldKind::kBits}, 1, "bits", true);
    emit({word.place, bit, bit, FieldKind::kBits}, 0, "bits", false);
  }
}

}  // namespace understudy::emu::amd
