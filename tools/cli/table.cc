// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/table.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy::cli {
namespace {

// Display width: counts code points, so that a multi-byte sign takes one column.
size_t Width(const std::string& s) {
  return static_cast<size_t>(std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

void Table::AddRow(std::vector<std::string> cells) {
  US_CHECK(cells.size() == columns_.size()) << cells.size() << " cells for " << columns_.size() << " columns";
  rows_.push_back(std::move(cells));
}

std::string Table::Text() const {
  std::vector<size_t> widths;
  for (const Column& c : columns_) widths.push_back(Width(c.header));
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string out;
  const auto line = [&](const auto& cell) {
    std::string text;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string value = cell(i);
      const std::string pad(widths[i] - Width(value), ' ');
      if (i) text += "  ";
      text += columns_[i].numeric ? pad + value : value + pad;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line([&](size_t i) { return columns_[i].header; });
  line([&](size_t i) { return std::string(widths[i], '-'); });
  for (const auto& row : rows_) line([&](size_t i) { return row[i]; });
  return out;
}

std::string Thousands(uint64_t n) {
  std::string digits = absl::StrCat(n);
  for (int i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(static_cast<size_t>(i), 1, ',');
  return digits;
}

std::string Short(double v) {
  char text[32];
  const double magnitude = std::fabs(v);
  std::snprintf(text, sizeof text,
                magnitude >= 100  ? "%.0f"
                : magnitude >= 10 ? "%.1f"
                : magnitude >= 1  ? "%.2f"
                                  : "%.3g",
                v);
  return text;
}

Progress::Progress(std::string label, int total) : label_(std::move(label)), total_(total), on_(isatty(2)) {}

void Progress::Update(int done, const std::string& note) {
  if (!on_) return;
  constexpr int kWidth = 30;
  const int filled = total_ > 0 ? std::min(kWidth, done * kWidth / total_) : kWidth;
  std::fprintf(stderr, "\r\x1b[K%s [%s%s] %d/%d %s", label_.c_str(),
               std::string(static_cast<size_t>(filled), '#').c_str(),
               std::string(static_cast<size_t>(kWidth - filled), '.').c_str(), done, total_, note.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::Finish() {
  if (drawn_) std::fprintf(stderr, "\r\x1b[K");
  drawn_ = false;
}

}  // namespace understudy::cli
