// SPDX-License-Identifier: Apache-2.0
#pragma once
// Device memory with an owner: what hangs in the StorageSlot of a BUFFER node. Allocated when first needed,
// freed with the last Buffer or HostView that looks into it; a view keeps its base alive. Holds bytes, never
// types or shapes. One Buffer is used by one thread at a time.

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/runtime/device.h"
#include "src/uop/uop.h"

namespace understudy {

class HostView;

class Buffer : public StorageBase {
 public:
  // Nothing is allocated yet. `bytes` may be 0: such a buffer is never allocated and copies nothing.
  Buffer(std::shared_ptr<Device> device, size_t bytes);
  ~Buffer() override = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // Memory of the caller's, which must outlive the buffer: used where it lies, never freed, never cached.
  // Unimplemented on devices that do not reach it.
  static absl::StatusOr<std::unique_ptr<Buffer>> External(std::shared_ptr<Device> device, void* pointer,
                                                          size_t bytes);

  // `bytes` bytes from `offset` of the same memory, in this buffer's coordinates. OutOfRange when it does not
  // fit.
  absl::StatusOr<std::unique_ptr<Buffer>> View(size_t offset, size_t bytes) const;

  Device& device() const { return *memory_->device; }
  const std::shared_ptr<Device>& device_ref() const { return memory_->device; }
  size_t bytes() const { return bytes_; }
  size_t offset() const { return offset_; }
  bool allocated() const { return memory_->block != nullptr; }
  bool SharesMemoryWith(const Buffer& other) const { return memory_ == other.memory_; }
  // The same for all buffers that share memory, while one of them lives.
  const void* memory_id() const { return memory_.get(); }
  // How many buffers look into the memory, this one included.
  int64_t sharers() const { return memory_.use_count(); }
  // All of the memory that this is a view of.
  std::unique_ptr<Buffer> Whole() const;

  // The range, allocated now if it was not.
  absl::StatusOr<Allocation> Get();
  // The range as `other` sees it: mapped the first time, then remembered. The mapping goes, once `other` is
  // idle, when the memory is freed.
  absl::StatusOr<Allocation> GetOn(Device& other);
  size_t mappings() const;

  // Gives the memory back (at the latest when the last HostView of it goes) although this buffer and its
  // views live on: all are unallocated until one of them is asked again, and then all see the new memory,
  // whose contents are undefined. FailedPrecondition for External memory, which could not come back.
  absl::Status Deallocate();

  // The host's own look at the range: waits for the device, and keeps the allocation alive.
  absl::StatusOr<HostView> MapToHost();

  absl::Status CopyIn(const void* src, size_t bytes);
  // FailedPrecondition when nothing was ever written here.
  absl::Status CopyOut(void* dst, size_t bytes);

 private:
  friend class HostView;
  // One allocation with all that was derived from it.
  struct Block {
    std::shared_ptr<Device> device;
    Allocation allocation;
    bool external = false;
    struct Mapping {
      std::shared_ptr<Device> device;
      Allocation allocation;
    };
    std::map<Device*, Mapping> mappings;
    ~Block();
  };
  // What a buffer and its views share; the block comes and goes.
  struct Memory {
    std::shared_ptr<Device> device;
    size_t bytes = 0;
    std::shared_ptr<Block> block;
  };
  Buffer(std::shared_ptr<Memory> memory, size_t offset, size_t bytes)
      : memory_(std::move(memory)), offset_(offset), bytes_(bytes) {}
  absl::Status Allocate();

  std::shared_ptr<Memory> memory_;
  size_t offset_ = 0;
  size_t bytes_ = 0;
};

// Host access to a range of device memory. The allocation lives at least as long as this does.
class HostView {
 public:
  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  friend class Buffer;
  HostView(std::shared_ptr<Buffer::Block> block, uint8_t* data, size_t size)
      : block_(std::move(block)), data_(data), size_(size) {}

  std::shared_ptr<Buffer::Block> block_;  // null for empty buffers
  uint8_t* data_;
  size_t size_;
};

// Copies between any two buffers of equal size: on the device where both lie on one, straight from or to
// memory that the host sees, otherwise through a copy on the host.
absl::Status CopyBuffer(Buffer& dst, Buffer& src);

}  // namespace understudy
