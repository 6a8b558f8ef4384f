// SPDX-License-Identifier: Apache-2.0
#include "tools/demo/digits.h"

#include <zlib.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy::demo {
namespace {

absl::StatusOr<std::string> ReadGzip(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(path, ": cannot open; the Debian package python3-sklearn ships it"));
  }
  std::string text;
  char buffer[1 << 16];
  int n;
  while ((n = gzread(file, buffer, sizeof buffer)) > 0) text.append(buffer, static_cast<size_t>(n));
  int code = 0;
  const std::string message = n < 0 ? gzerror(file, &code) : "";
  gzclose(file);
  if (n < 0) return absl::DataLossError(absl::StrCat(path, ": ", message));
  return text;
}

}  // namespace

absl::StatusOr<Digits> LoadDigits(const std::string& path) {
  US_ASSIGN_OR_RETURN(const std::string text, ReadGzip(path));
  Digits digits;
  const char* p = text.c_str();
  for (int line = 1; *p != '\0'; ++line) {
    for (int column = 0; column < 65; ++column) {
      char* end;
      const double value = std::strtod(p, &end);
      const char separator = column < 64 ? ',' : '\n';
      const double limit = column < 64 ? 16 : 9;
      if (end == p || *end != separator || !(value >= 0 && value <= limit)) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, ":", line, ": column ", column + 1, " is not a number of 0 to ", limit));
      }
      if (column < 64) {
        digits.pixels.push_back(static_cast<float>(value / 16));
      } else {
        digits.labels.push_back(static_cast<int32_t>(value));
      }
      p = end + 1;
    }
    ++digits.count;
  }
  if (digits.count == 0) return absl::InvalidArgumentError(absl::StrCat(path, ": no lines"));
  return digits;
}

}  // namespace understudy::demo
