// SPDX-License-Identifier: Apache-2.0
#include "src/base/file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno)));
  std::string data{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) return absl::DataLossError(absl::StrCat(path, ": read error after ", data.size(), " bytes"));
  return data;
}

absl::Status WriteFile(const std::string& path, const std::string& data) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(data.data(), static_cast<std::streamsize>(data.size()));
  out.close();
  if (!out) return absl::UnavailableError(absl::StrCat(path, ": cannot write ", data.size(), " bytes"));
  return absl::OkStatus();
}

absl::Status ForEachJsonLine(const std::string& path,
                             const std::function<absl::Status(int line, const nlohmann::json&)>& fn) {
  US_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ":", number, ": not valid JSON"));
    }
    if (absl::Status s = fn(number, json); !s.ok()) {
      return absl::Status(s.code(), absl::StrCat(path, ":", number, ": ", std::string(s.message())));
    }
  }
  return absl::OkStatus();
}

}  // namespace understudy
