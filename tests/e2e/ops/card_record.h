// SPDX-License-Identifier: Apache-2.0
#pragma once
// What ops_card printed on an NVIDIA card (tests/data/ops/h200.txt): the cells in which the card gave the
// right value. The page of operations shows them beside what this machine measures; nothing is run here.

#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "tests/e2e/ops/support.h"

namespace understudy {

class CardRecord {
 public:
  // InvalidArgument names the line that is no row of a table.
  static absl::StatusOr<CardRecord> Parse(const std::string& text);
  static absl::StatusOr<CardRecord> Load(const std::string& path);

  // Adds the card's letter (H, or h where only REF says what is right) to the cells that have it.
  void AddTo(SupportRow& row) const;
  size_t rows() const { return cells_.size(); }

 private:
  // By family and operation, then by the type's name.
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::string>> cells_;
};

}  // namespace understudy
