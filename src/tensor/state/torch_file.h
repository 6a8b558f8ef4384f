// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that torch.save writes (a zip archive since PyTorch 1.6): the tensors of nested dicts and lists, with
// dotted names, read without Python. The pickle inside is read as data (pickle.h): no code runs, and what is
// no tensor, number or text is refused by name. Elements are copied into tensors from a mapped file.

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/tensor/state/named_tensor.h"

namespace understudy {

struct TorchEntry {
  std::string name;  // "model.layers.0.weight"; "" when the file is one tensor
  DType dtype;
  Shape shape;
  std::vector<int64_t> strides;       // in elements, not negative
  int64_t offset = 0;                 // of the first element in `storage`, in elements
  absl::Span<const uint8_t> storage;  // into the file; several entries may share one
};
using TorchScalar = std::variant<std::monostate, bool, int64_t, double, std::string>;
struct TorchFile {
  std::vector<TorchEntry> entries;             // in the file's order
  std::map<std::string, TorchScalar> scalars;  // None, numbers and text, by dotted name
};

// The whole file's bytes, which must outlive the result. InvalidArgument with entry or offset: archives and
// pickles that end too early, storages that are missing or too small for the tensor's view, two values of one
// dotted name. Unimplemented: files of the older format and of TorchScript, compressed archives, big-endian
// data, sparse, quantised and complex tensors, any other Python object.
absl::StatusOr<TorchFile> ParseTorchFile(absl::Span<const uint8_t> file);

// The elements in row-major order. ResourceExhausted when the view repeats a storage (strides of 0) to more
// than `most` bytes.
absl::StatusOr<std::vector<uint8_t>> TorchElements(const TorchEntry& entry,
                                                   uint64_t most = uint64_t{1} << 30);

// The tensors of a file, copied.
absl::StatusOr<StateDict> LoadTorchFile(const std::string& path, const std::string& device = "CPU");

}  // namespace understudy
