// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fields of a line of vectors, each read with a message that names the field and what was expected of it.
// For this folder's readers alone; nothing here knows a format.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace understudy::emu::ptx::conform {

inline constexpr size_t kMaxTuples = size_t{1} << 20;

absl::Status Wrong(const char* field, const std::string& expected);
absl::Status GetString(const nlohmann::ordered_json& line, const char* field, std::string* value);
// The value itself; of a field: GetField.
absl::Status GetInt(const nlohmann::ordered_json& value, const char* field, int64_t low, int64_t high,
                    int64_t* out);
absl::Status GetField(const nlohmann::ordered_json& line, const char* field, int64_t low, int64_t high,
                      int* out);
// A list of `out->size()` numbers or, where `longest` is more, of up to so many.
absl::Status GetInts(const nlohmann::ordered_json& line, const char* field, size_t shortest, size_t longest,
                     int64_t low, int64_t high, std::vector<int>* out);
absl::Status GetHexList(const nlohmann::ordered_json& list, const char* field, std::vector<uint64_t>* out);

}  // namespace understudy::emu::ptx::conform
