// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whole-file reading and JSON-lines iteration for test data, tools and data sets. Not for device files:
// those go through src/runtime/os.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace understudy {

// The file's bytes. NotFound (with the path and errno text) when it cannot be read.
absl::StatusOr<std::string> ReadFile(const std::string& path);
absl::Status WriteFile(const std::string& path, const std::string& data);

// Calls `fn` for each non-empty line parsed as JSON; a line that does not parse, or an error from `fn`,
// ends the walk with path and line number in the message.
absl::Status ForEachJsonLine(const std::string& path,
                             const std::function<absl::Status(int line, const nlohmann::json&)>& fn);

}  // namespace understudy
