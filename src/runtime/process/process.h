// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs another program to its end, within a time, and says how it ended: for devices whose compiler or
// processor is a program (clang, QEMU). Never goes through a shell. Thread safe.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace understudy {

// An executable of this name in PATH, or at /usr/lib/llvm-22/bin. NotFound says what was looked for.
absl::StatusOr<std::string> FindProgram(const std::string& name);

struct Command {
  std::vector<std::string> argv;  // argv[0] is a path
  double seconds = 60;            // then it is killed, with the children of its group
  int pass_fd = -1;               // becomes descriptor 3 of the program
};

// Aborted tells the exit code or the signal and the first 4000 bytes that the program printed;
// DeadlineExceeded that its time was over; NotFound that it could not be started.
absl::Status RunCommand(const Command& command);

// A folder of our own that goes with everything in it.
class TemporaryFolder {
 public:
  static absl::StatusOr<TemporaryFolder> Create();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace understudy
