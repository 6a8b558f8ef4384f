// SPDX-License-Identifier: Apache-2.0
#pragma once
// GGUF files (versions 2 and 3, little-endian): metadata and tensors, of which quantised ones are widened to
// f32 on the host. Loading a model uses it; it writes nothing.

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/tensor/state/named_tensor.h"

namespace understudy {

struct GgufValue;
using GgufList = std::vector<GgufValue>;
struct GgufValue {
  std::variant<uint64_t, int64_t, double, bool, std::string, GgufList> value;
};

struct GgufEntry {
  std::string name;
  std::string type;  // "F32", "Q4_K", ...
  DType dtype;       // of the widened elements
  Shape shape;       // row-major, so in the reverse of the file's order
  uint32_t type_number = 0;
  absl::Span<const uint8_t> bytes;  // into the file, as stored
};
struct GgufFile {
  uint32_t version = 0;
  std::vector<std::pair<std::string, GgufValue>> metadata;  // in the file's order
  std::vector<GgufEntry> entries;
  const GgufValue* Find(const std::string& key) const;
};

// The whole file's bytes, which must outlive the result. Refused, with the offset: other versions, duplicate
// keys and names, lists nested more than four deep, ranges beyond the end, types that have no formula here.
absl::StatusOr<GgufFile> ParseGguf(absl::Span<const uint8_t> file);
// The elements: those of F32, F16, BF16, F64, I8 ... I64 as they are stored, others as f32.
absl::StatusOr<std::vector<uint8_t>> GgufElements(const GgufEntry& entry);
absl::StatusOr<StateDict> LoadGguf(const std::string& path, const std::string& device = "CPU");

}  // namespace understudy
