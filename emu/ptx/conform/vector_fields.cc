// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/conform/vector_fields.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy::emu::ptx::conform {

using Json = nlohmann::ordered_json;

absl::Status Wrong(const char* field, const std::string& expected) {
  return absl::InvalidArgumentError(absl::StrCat("\"", field, "\": expected ", expected));
}

absl::Status GetString(const Json& line, const char* field, std::string* value) {
  const auto it = line.find(field);
  if (it == line.end() || !it->is_string()) return Wrong(field, "a string");
  *value = it->get<std::string>();
  return absl::OkStatus();
}

absl::Status GetInt(const Json& value, const char* field, int64_t low, int64_t high, int64_t* out) {
  if (!value.is_number_integer()) return Wrong(field, "an integer");
  *out = value.get<int64_t>();
  if (*out < low || *out > high) return Wrong(field, absl::StrCat("a number from ", low, " to ", high));
  return absl::OkStatus();
}

absl::Status GetField(const Json& line, const char* field, int64_t low, int64_t high, int* out) {
  const auto it = line.find(field);
  if (it == line.end()) return Wrong(field, "an integer");
  int64_t value;
  US_RETURN_IF_ERROR(GetInt(*it, field, low, high, &value));
  *out = static_cast<int>(value);
  return absl::OkStatus();
}

absl::Status GetInts(const Json& line, const char* field, size_t shortest, size_t longest, int64_t low,
                     int64_t high, std::vector<int>* out) {
  const auto it = line.find(field);
  if (it == line.end() || !it->is_array() || it->size() < shortest || it->size() > longest)
    return Wrong(
        field, absl::StrCat(shortest, longest == shortest ? "" : absl::StrCat(" to ", longest), " numbers"));
  out->clear();
  for (const Json& one : *it) {
    int64_t value;
    US_RETURN_IF_ERROR(GetInt(one, field, low, high, &value));
    out->push_back(static_cast<int>(value));
  }
  return absl::OkStatus();
}

namespace {

absl::Status GetHex(const Json& value, const char* field, uint64_t* out) {
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    *out = 0;
    bool good = !text.empty() && text.size() <= 16;
    for (const char c : text) {
      const char* const digits = "0123456789abcdef";
      const char* const at = c == 0 ? nullptr : std::strchr(digits, c | 0x20);
      if (at == nullptr) good = false;
      *out = *out << 4 | static_cast<uint64_t>(at == nullptr ? 0 : at - digits);
    }
    if (good) return absl::OkStatus();
  }
  return Wrong(field, "hex values of at most 16 digits");
}

}  // namespace

absl::Status GetHexList(const Json& list, const char* field, std::vector<uint64_t>* out) {
  if (!list.is_array() || list.size() > kMaxTuples) return Wrong(field, "lists of hex values");
  out->resize(list.size());
  for (size_t i = 0; i < list.size(); ++i) US_RETURN_IF_ERROR(GetHex(list[i], field, &(*out)[i]));
  return absl::OkStatus();
}

}  // namespace understudy::emu::ptx::conform
