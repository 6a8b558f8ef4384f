// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file's bytes, mapped read-only: pages are read when they are looked at. For model files; not for device
// files, which go through src/runtime/os. A file that another program shortens meanwhile ends the process, as
// with any mapping.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace understudy {

class MappedFile {
 public:
  // NotFound (with the path and errno text) when it cannot be opened or mapped; InvalidArgument for what is
  // no regular file.
  static absl::StatusOr<MappedFile> Open(const std::string& path);
  MappedFile(MappedFile&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)), size_(std::exchange(o.size_, 0)) {}
  MappedFile& operator=(MappedFile&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    return *this;
  }
  ~MappedFile();

  absl::Span<const uint8_t> bytes() const { return {data_, size_}; }

 private:
  MappedFile(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  const uint8_t* data_;
  size_t size_;
};

}  // namespace understudy
