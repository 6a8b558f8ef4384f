// SPDX-License-Identifier: Apache-2.0
#pragma once
// One row a command of the `understudy` program. A command reads its flags (absl flags of its own file) after
// the driver has parsed the command line, prints to standard output, and returns a status that becomes the
// exit code.

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace understudy::cli {

struct Command {
  const char* name;
  const char* summary;             // one line, for `understudy help`
  const char* help;                // the whole page for `understudy NAME --help`
  std::vector<std::string> flags;  // the absl flags that it takes
  // Returns the process exit code: 0 when everything the command checked holds, 1 when not. An error status
  // is printed and exits with 2.
  absl::StatusOr<int> (*run)(const std::vector<std::string>& arguments);
};

absl::StatusOr<int> RunDemo(const std::vector<std::string>& arguments);
absl::StatusOr<int> RunConform(const std::vector<std::string>& arguments);
absl::StatusOr<int> RunAsm(const std::vector<std::string>& arguments);
absl::StatusOr<int> RunDisasm(const std::vector<std::string>& arguments);
absl::StatusOr<int> RunFuzz(const std::vector<std::string>& arguments);
absl::StatusOr<int> RunOnnx(const std::vector<std::string>& arguments);
absl::StatusOr<int> RunPtx(const std::vector<std::string>& arguments);
absl::StatusOr<int> RunTrace(const std::vector<std::string>& arguments);
absl::StatusOr<int> RunTune(const std::vector<std::string>& arguments);
absl::StatusOr<int> RunCompileWorkerCommand(const std::vector<std::string>& arguments);

}  // namespace understudy::cli
