// SPDX-License-Identifier: Apache-2.0
#pragma once
// The PTX half of `understudy conform`: runs, records and lists. Used by conform_command.cc alone.

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace understudy::cli {

// By content: the first line.
absl::StatusOr<bool> IsPtxFile(const std::string& path);
// On the emulator, or with USE_HW=1 on the card.
absl::StatusOr<int> RunPtx(const std::vector<std::string>& files, bool verbose);
// --record: one FILE to the file that --o names.
absl::StatusOr<int> RecordPtx(const std::vector<std::string>& files);
absl::StatusOr<int> ListPtx(bool verbose);

}  // namespace understudy::cli
