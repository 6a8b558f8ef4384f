// SPDX-License-Identifier: Apache-2.0
#pragma once
// A bounded reader of MessagePack (msgpack.org specification), the encoding of the metadata note in AMD code
// objects. Unlike LLVM's reader it never asserts on hostile input: depth, counts and key types are checked.
// Reads only.

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace understudy::amd {

struct MsgValue {
  using Array = std::vector<MsgValue>;
  using Map = std::map<std::string, MsgValue>;
  // Binary and extension payloads are kept as strings; integers above INT64_MAX as uint64_t.
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Map> v;

  const Map* map() const { return std::get_if<Map>(&v); }
  const Array* array() const { return std::get_if<Array>(&v); }
  const std::string* string() const { return std::get_if<std::string>(&v); }
  const char* TypeName() const;
};

// One value that fills `bytes` exactly. InvalidArgument names the offset: truncated, trailing bytes, deeper
// than 32 levels, a map key that is not a string or appears twice, a reserved type byte.
absl::StatusOr<MsgValue> ParseMsgPack(absl::Span<const uint8_t> bytes);

}  // namespace understudy::amd
