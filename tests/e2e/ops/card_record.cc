// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/ops/card_record.h"

#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "src/base/status.h"

namespace understudy {

absl::StatusOr<CardRecord> CardRecord::Parse(const std::string& text) {
  CardRecord record;
  std::string family;
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    if (absl::ConsumePrefix(&line, "## ")) {
      family = std::string(line);
      continue;
    }
    // "| `op` | vectors | cell ... |": a field before the first bar and one after the last.
    const std::vector<absl::string_view> fields = absl::StrSplit(line, '|');
    absl::string_view op = fields.size() > 1 ? fields[1] : "";
    if (fields.size() != SupportTypes().size() + 4 || !absl::ConsumePrefix(&op, " `") ||
        !absl::ConsumeSuffix(&op, "` ") || family.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("line ", number, ": expected a row of ",
                                                     SupportTypes().size(), " cells below a family: ", line));
    }
    auto& cells = record.cells_[{family, std::string(op)}];
    for (size_t i = 0; i < SupportTypes().size(); ++i) {
      cells[SupportTypes()[i].Name()] = std::string(absl::StripAsciiWhitespace(fields[i + 3]));
    }
  }
  return record;
}

absl::StatusOr<CardRecord> CardRecord::Load(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat(path, " cannot be read"));
  std::stringstream text;
  text << file.rdbuf();
  US_ASSIGN_OR_RETURN(CardRecord record, Parse(text.str()));
  return record;
}

void CardRecord::AddTo(SupportRow& row) const {
  const auto recorded = cells_.find({row.family, row.op});
  if (recorded == cells_.end()) return;
  for (auto& [type, cell] : row.cells) {
    const auto at = recorded->second.find(type);
    if (at == recorded->second.end() || cell == "-" || cell == "!") continue;
    for (const char letter : {'H', 'h'}) {
      if (at->second.find(letter) != std::string::npos) cell += letter;
    }
  }
}

}  // namespace understudy
