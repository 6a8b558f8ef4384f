// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory for running a kernel without its tensors: a buffer a PARAM with made-up contents, and values for its
// variables. Used by cost models that run candidates.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/runtime/device.h"
#include "src/uop/uop.h"

namespace understudy {

// By PARAM position, the bytes that the kernel's indices reach. Unimplemented names the PARAM whose index is
// read from memory: the caller must know that buffer's size.
absl::StatusOr<std::vector<size_t>> BufferBytesOf(const UOpRef& kernel);

class KernelBuffers {
 public:
  // Allocates on `device`, which must outlive this, at multiples of 256 bytes. Contents are the same in every
  // run: floats in [-1, 1], integers 0 to 3. Variables take their greatest value.
  static absl::StatusOr<std::unique_ptr<KernelBuffers>> Create(Device& device, const UOpRef& kernel,
                                                               absl::Span<const size_t> bytes);
  ~KernelBuffers();
  KernelBuffers(const KernelBuffers&) = delete;
  KernelBuffers& operator=(const KernelBuffers&) = delete;

  absl::Span<const Allocation> buffers() const { return buffers_; }
  absl::Span<const int64_t> vars() const { return vars_; }
  // Fills all buffers again.
  absl::Status Reset();

 private:
  explicit KernelBuffers(Device& device) : device_(device) {}

  Device& device_;
  std::vector<Allocation> allocations_;  // that the buffers lie in
  std::vector<Allocation> buffers_;
  std::vector<DType> types_;  // of each buffer's elements
  std::vector<int64_t> vars_;
};

}  // namespace understudy
