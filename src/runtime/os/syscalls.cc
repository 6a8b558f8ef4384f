// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/os/syscalls.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace understudy::os {

absl::Status ErrnoStatus(int64_t negative_errno, const std::string& what) {
  const int error = static_cast<int>(-negative_errno);
  // A mock or a wrapper may return a value that no errno has; ErrnoToStatusCode maps those to kUnknown.
  absl::StatusCode code = absl::ErrnoToStatusCode(error);
  if (code == absl::StatusCode::kOk) code = absl::StatusCode::kInternal;
  return absl::Status(code, absl::StrCat(what, ": ", std::strerror(error), " (errno ", error, ")"));
}

absl::StatusOr<std::string> ReadTextFile(Syscalls& sys, const std::string& path) {
  const int fd = sys.Open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(fd, absl::StrCat("open ", path));
  // sysfs attributes are at most a page; a bound keeps a wrong path (a device, a log) from filling memory.
  constexpr size_t kLimit = size_t{1} << 20;
  std::string text;
  char buf[4096];
  for (;;) {
    const int64_t n = sys.Read(fd, buf, sizeof(buf));
    if (n == -EINTR) continue;
    if (n < 0) {
      sys.Close(fd);
      return ErrnoStatus(n, absl::StrCat("read ", path));
    }
    if (n == 0) break;
    text.append(buf, static_cast<size_t>(n));
    if (text.size() > kLimit) {
      sys.Close(fd);
      return absl::OutOfRangeError(absl::StrCat("read ", path, ": more than ", kLimit, " bytes"));
    }
  }
  sys.Close(fd);
  return text;
}

}  // namespace understudy::os
