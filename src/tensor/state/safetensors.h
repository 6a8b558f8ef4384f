// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files of weights in the safetensors format: an 8-byte header length, a JSON header, the elements. Reading
// accepts what the format's own library accepts; writing gives its bytes. Elements are copied into the
// tensors from a mapped file, nothing else is read.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/tensor/state/named_tensor.h"

namespace understudy {

struct SafetensorsEntry {
  std::string name;
  DType dtype;
  Shape shape;
  absl::Span<const uint8_t> bytes;  // into the file
};
struct SafetensorsFile {
  std::vector<SafetensorsEntry> entries;        // in the order of their elements
  std::map<std::string, std::string> metadata;  // "__metadata__"
};

// The whole file's bytes, which must outlive the result. Refused with the reason and the tensor's name: a
// header of more than 100 MB or beyond the end, JSON of another form, duplicate names, element types that the
// compiler lacks, ranges that do not fit their shapes, overlap, leave a gap or end elsewhere than the file.
absl::StatusOr<SafetensorsFile> ParseSafetensors(absl::Span<const uint8_t> file);
// The tensors of a file, copied.
absl::StatusOr<StateDict> LoadSafetensors(const std::string& path, const std::string& device = "CPU");

// What is written: elements in row-major order, as Engine::Bytes gives them.
struct StoredTensor {
  std::string name;
  DType dtype;
  Shape shape;
  std::vector<uint8_t> bytes;
};
// The bytes that the safetensors package 0.8 writes for this dict (with several metadata keys: in the order
// of the keys). Refuses duplicate names, names that are no UTF-8, and sizes that do not fit.
absl::StatusOr<std::string> SerializeSafetensors(const std::vector<StoredTensor>& tensors,
                                                 const std::map<std::string, std::string>& metadata = {});
absl::Status SaveSafetensors(const std::string& path, const std::vector<StoredTensor>& tensors,
                             const std::map<std::string, std::string>& metadata = {});

}  // namespace understudy
