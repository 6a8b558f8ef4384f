// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables for people, and the same rows as JSON for programs.

#include <cstdint>
#include <string>
#include <vector>

namespace understudy::cli {

// Cells are left-aligned, or right-aligned in numeric columns.
class Table {
 public:
  struct Column {
    std::string header;
    bool numeric = false;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell a column, already formatted.
  void AddRow(std::vector<std::string> cells);
  // Header, rule and rows, each line ending in a newline.
  std::string Text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// 1234567 -> "1,234,567".
std::string Thousands(uint64_t n);
// Three significant digits with a decimal point where useful: 0.0123 -> "0.0123", 12.34 -> "12.3".
std::string Short(double v);

// Draws "label [#####.....] 12/40 note" on one line of standard error while a terminal is attached, nothing
// otherwise. Finish() clears the line.
class Progress {
 public:
  Progress(std::string label, int total);
  ~Progress() { Finish(); }
  void Update(int done, const std::string& note);
  void Finish();

 private:
  std::string label_;
  int total_;
  bool on_;
  bool drawn_ = false;
};

}  // namespace understudy::cli
