// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/process/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/status.h"

extern char** environ;

namespace understudy {
namespace {

constexpr size_t kMostWords = 4000;

// What a program prints goes to a file that nobody else sees.
class Log {
 public:
  static absl::StatusOr<Log> Create() {
    std::string name = (std::filesystem::temp_directory_path() / "understudy-log-XXXXXX").string();
    const int fd = mkostemp(name.data(), O_CLOEXEC);
    if (fd < 0)
      return absl::InternalError(absl::StrCat("cannot make the file ", name, ": ", std::strerror(errno)));
    unlink(name.c_str());
    return Log(fd);
  }
  Log(Log&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Log& operator=(Log&&) = delete;
  ~Log() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }
  std::string Words() const {
    std::string words(kMostWords, ' ');
    const ssize_t n = pread(fd_, words.data(), words.size(), 0);
    words.resize(n < 0 ? 0 : static_cast<size_t>(n));
    return words;
  }

 private:
  explicit Log(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace

absl::StatusOr<std::string> FindProgram(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const auto& folder :
       absl::StrSplit(absl::StrCat(path == nullptr ? "/usr/bin" : path, ":/usr/lib/llvm-22/bin"), ':')) {
    const std::string file = absl::StrCat(folder, "/", name);
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return absl::NotFoundError(absl::StrCat("no program ", name, " in PATH"));
}

absl::Status RunCommand(const Command& command) {
  US_CHECK(!command.argv.empty()) << "a command needs a program";
  US_ASSIGN_OR_RETURN(const Log log, Log::Create());
  std::vector<char*> argv;
  for (const std::string& a : command.argv) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log.fd(), 1);
  posix_spawn_file_actions_adddup2(&actions, log.fd(), 2);
  if (command.pass_fd >= 0) posix_spawn_file_actions_adddup2(&actions, command.pass_fd, 3);
  // A group of its own: the program may have children too.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = 0;
  const int error = posix_spawn(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  const std::string& program = command.argv[0];
  if (error != 0)
    return absl::NotFoundError(absl::StrCat("cannot start ", program, ": ", std::strerror(error)));

  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(command.seconds);
  auto pause = std::chrono::microseconds(200);
  int status = 0;
  for (;;) {
    const pid_t done = waitpid(child, &status, WNOHANG);
    if (done == child) break;
    if (done < 0 && errno != EINTR)
      return absl::InternalError(absl::StrCat("waiting for ", program, ": ", std::strerror(errno)));
    if (std::chrono::steady_clock::now() > end) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      return absl::DeadlineExceededError(absl::StrCat(program, " took more than ", command.seconds, " s"));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(4000));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  const std::string words = log.Words();
  return absl::AbortedError(absl::StrCat(program, WIFEXITED(status) ? " exits with " : " is ended by signal ",
                                         WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
                                         words.empty() ? "" : ":\n", words));
}

absl::StatusOr<TemporaryFolder> TemporaryFolder::Create() {
  std::string path = (std::filesystem::temp_directory_path() / "understudy-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr)
    return absl::InternalError(absl::StrCat("cannot make the folder ", path, ": ", std::strerror(errno)));
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace understudy
