// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hexadecimal text to bytes and back; used by test data readers and tools.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace understudy {

// "00ff10" -> {0x00, 0xff, 0x10}. InvalidArgument names the offset of the first bad character.
absl::StatusOr<std::vector<uint8_t>> HexToBytes(const std::string& hex);
std::string BytesToHex(const uint8_t* data, size_t size);
inline std::string BytesToHex(const std::vector<uint8_t>& v) { return BytesToHex(v.data(), v.size()); }

}  // namespace understudy
