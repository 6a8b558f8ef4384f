// SPDX-License-Identifier: Apache-2.0
#pragma once
// The LZ4 block format, decoding only: what fatbinary containers use beside zstd. Any input is safe.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace understudy::mockgpu::nv {

// Exactly `size` bytes. InvalidArgument says at which byte of the input the block is wrong.
absl::StatusOr<std::vector<uint8_t>> DecodeLz4Block(absl::Span<const uint8_t> in, size_t size);

}  // namespace understudy::mockgpu::nv
