// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/buffer.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy {

Buffer::Buffer(std::shared_ptr<Device> device, size_t bytes)
    : memory_(std::make_shared<Memory>()), bytes_(bytes) {
  US_CHECK(device != nullptr) << "a buffer needs a device";
  memory_->device = std::move(device);
  memory_->bytes = bytes;
}

Buffer::Memory::~Memory() {
  // A destructor has nobody to report to; a device that lost the memory has reported that already.
  if (allocated) device->Free(allocation).IgnoreError();
}

absl::StatusOr<std::unique_ptr<Buffer>> Buffer::View(size_t offset, size_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset) {
    return absl::OutOfRangeError(
        absl::StrCat("view of ", bytes, " bytes at offset ", offset, " in a buffer of ", bytes_, " bytes"));
  }
  return std::unique_ptr<Buffer>(new Buffer(memory_, offset_ + offset, bytes));
}

absl::StatusOr<Allocation> Buffer::Get() {
  if (memory_->bytes == 0) return Allocation{};
  if (!memory_->allocated) {
    US_ASSIGN_OR_RETURN(memory_->allocation, memory_->device->Allocate(memory_->bytes));
    memory_->allocated = true;
  }
  return memory_->allocation.Slice(offset_, bytes_);
}

absl::Status Buffer::CopyIn(const void* src, size_t bytes) {
  if (bytes != bytes_) {
    return absl::InvalidArgumentError(absl::StrCat("copying ", bytes, " bytes into a buffer of ", bytes_));
  }
  if (bytes == 0) return absl::OkStatus();
  US_ASSIGN_OR_RETURN(const Allocation dst, Get());
  return device().CopyIn(dst, src, bytes);
}

absl::Status Buffer::CopyOut(void* dst, size_t bytes) {
  if (bytes != bytes_) {
    return absl::InvalidArgumentError(absl::StrCat("copying ", bytes, " bytes out of a buffer of ", bytes_));
  }
  if (bytes == 0) return absl::OkStatus();
  if (!allocated()) {
    return absl::FailedPreconditionError(absl::StrCat("copying out of a buffer of ", bytes_, " bytes on ",
                                                      device().name(), " that was never written"));
  }
  US_ASSIGN_OR_RETURN(const Allocation src, Get());
  return device().CopyOut(dst, src, bytes);
}

absl::Status CopyBuffer(Buffer& dst, Buffer& src) {
  if (dst.bytes() != src.bytes()) {
    return absl::InvalidArgumentError(
        absl::StrCat("copying a buffer of ", src.bytes(), " bytes to one of ", dst.bytes(), " bytes"));
  }
  if (dst.bytes() == 0) return absl::OkStatus();
  if (&dst.device() == &src.device()) {
    if (!src.allocated()) return src.CopyOut(nullptr, src.bytes());  // names what is missing
    US_ASSIGN_OR_RETURN(const Allocation to, dst.Get());
    US_ASSIGN_OR_RETURN(const Allocation from, src.Get());
    return dst.device().CopyWithin(to, from, dst.bytes());
  }
  std::vector<uint8_t> host(src.bytes());
  US_RETURN_IF_ERROR(src.CopyOut(host.data(), host.size()));
  return dst.CopyIn(host.data(), host.size());
}

}  // namespace understudy
