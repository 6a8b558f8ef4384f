// SPDX-License-Identifier: Apache-2.0
#pragma once
// Device memory with an owner: what hangs in the StorageSlot of a BUFFER node. Allocated when first needed,
// freed with the last Buffer that looks into it; a view keeps its base alive. Holds bytes, never types or
// shapes.

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/runtime/device.h"
#include "src/uop/uop.h"

namespace understudy {

class Buffer : public StorageBase {
 public:
  // Nothing is allocated yet. `bytes` may be 0: such a buffer is never allocated and copies nothing.
  Buffer(std::shared_ptr<Device> device, size_t bytes);
  ~Buffer() override = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // `bytes` bytes from `offset` of the same memory, in this buffer's coordinates. OutOfRange when it does not
  // fit.
  absl::StatusOr<std::unique_ptr<Buffer>> View(size_t offset, size_t bytes) const;

  Device& device() const { return *memory_->device; }
  const std::shared_ptr<Device>& device_ref() const { return memory_->device; }
  size_t bytes() const { return bytes_; }
  size_t offset() const { return offset_; }
  bool allocated() const { return memory_->allocated; }
  bool SharesMemoryWith(const Buffer& other) const { return memory_ == other.memory_; }

  // The range, allocated now if it was not.
  absl::StatusOr<Allocation> Get();
  absl::Status CopyIn(const void* src, size_t bytes);
  // FailedPrecondition when nothing was ever written here.
  absl::Status CopyOut(void* dst, size_t bytes);

 private:
  struct Memory {
    std::shared_ptr<Device> device;
    size_t bytes = 0;
    bool allocated = false;
    Allocation allocation;
    ~Memory();
  };
  Buffer(std::shared_ptr<Memory> memory, size_t offset, size_t bytes)
      : memory_(std::move(memory)), offset_(offset), bytes_(bytes) {}

  std::shared_ptr<Memory> memory_;
  size_t offset_ = 0;
  size_t bytes_ = 0;
};

// Copies between any two buffers of equal size: on the device where both lie on one, through the host
// otherwise.
absl::Status CopyBuffer(Buffer& dst, Buffer& src);

}  // namespace understudy
