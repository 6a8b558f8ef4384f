// SPDX-License-Identifier: Apache-2.0
#pragma once
// Host bytes waiting in a BUFFER's slot until an engine uploads them. Tensor creation puts them there; the
// engine replaces them with device memory. Never changed after creation.

#include <cstdint>
#include <utility>
#include <vector>

#include "src/uop/uop.h"

namespace understudy {

// Elements in row-major order, as stored (bool one byte, little-endian).
class HostData : public StorageBase {
 public:
  explicit HostData(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace understudy
