// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/buffer.h"

#include <algorithm>
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

// A destructor has nobody to report to; a device that lost the memory has reported that already.
Buffer::Block::~Block() {
  for (auto& [key, mapping] : mappings) {
    // Its work may still use the mapping.
    mapping.device->Synchronize().IgnoreError();
    mapping.device->Unmap(mapping.allocation).IgnoreError();
  }
  (external ? device->Unwrap(allocation) : device->FreeCached(allocation)).IgnoreError();
}

absl::StatusOr<std::unique_ptr<Buffer>> Buffer::External(std::shared_ptr<Device> device, void* pointer,
                                                         size_t bytes) {
  if (pointer == nullptr && bytes > 0) {
    return absl::InvalidArgumentError(absl::StrCat("external memory of ", bytes, " bytes at a null pointer"));
  }
  auto buffer = std::make_unique<Buffer>(std::move(device), bytes);
  if (bytes == 0) return buffer;
  US_ASSIGN_OR_RETURN(const Allocation range, buffer->device().Wrap(pointer, bytes));
  auto block = std::make_shared<Block>();
  block->device = buffer->memory_->device;
  block->allocation = range;
  block->external = true;
  buffer->memory_->block = std::move(block);
  return buffer;
}

absl::StatusOr<std::unique_ptr<Buffer>> Buffer::View(size_t offset, size_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset) {
    return absl::OutOfRangeError(
        absl::StrCat("view of ", bytes, " bytes at offset ", offset, " in a buffer of ", bytes_, " bytes"));
  }
  return std::unique_ptr<Buffer>(new Buffer(memory_, offset_ + offset, bytes));
}

std::unique_ptr<Buffer> Buffer::Whole() const {
  return std::unique_ptr<Buffer>(new Buffer(memory_, 0, memory_->bytes));
}

absl::Status Buffer::Allocate() {
  if (allocated()) return absl::OkStatus();
  US_ASSIGN_OR_RETURN(const Allocation range, memory_->device->AllocateCached(memory_->bytes));
  auto block = std::make_shared<Block>();
  block->device = memory_->device;
  block->allocation = range;
  memory_->block = std::move(block);
  return absl::OkStatus();
}

absl::StatusOr<Allocation> Buffer::Get() {
  if (memory_->bytes == 0) return Allocation{};
  US_RETURN_IF_ERROR(Allocate());
  return memory_->block->allocation.Slice(offset_, bytes_);
}

absl::StatusOr<Allocation> Buffer::GetOn(Device& other) {
  if (&other == &device() || memory_->bytes == 0) return Get();
  US_RETURN_IF_ERROR(Allocate());
  Block& block = *memory_->block;
  auto it = block.mappings.find(&other);
  if (it == block.mappings.end()) {
    US_ASSIGN_OR_RETURN(const Allocation seen, other.MapFrom(device(), block.allocation));
    it = block.mappings.emplace(&other, Block::Mapping{other.shared_from_this(), seen}).first;
  }
  return it->second.allocation.Slice(offset_, bytes_);
}

size_t Buffer::mappings() const { return allocated() ? memory_->block->mappings.size() : 0; }

absl::Status Buffer::Deallocate() {
  if (allocated() && memory_->block->external) {
    return absl::FailedPreconditionError(
        absl::StrCat("deallocating ", memory_->bytes, " bytes of external memory on ", device().name()));
  }
  memory_->block.reset();
  return absl::OkStatus();
}

absl::StatusOr<HostView> Buffer::MapToHost() {
  if (bytes_ == 0) return HostView(nullptr, nullptr, 0);
  US_ASSIGN_OR_RETURN(const Allocation range, Get());
  US_RETURN_IF_ERROR(device().Synchronize());
  US_ASSIGN_OR_RETURN(void* const pointer, device().HostPointer(range));
  return HostView(memory_->block, static_cast<uint8_t*>(pointer), bytes_);
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
  if (!src.allocated()) return src.CopyOut(nullptr, src.bytes());
  US_ASSIGN_OR_RETURN(const Allocation to, dst.Get());
  US_ASSIGN_OR_RETURN(const Allocation from, src.Get());
  if (const absl::StatusOr<void*> p = src.device().HostPointer(from); p.ok()) {
    US_RETURN_IF_ERROR(src.device().Synchronize());
    return dst.device().CopyIn(to, *p, dst.bytes());
  }
  if (const absl::StatusOr<void*> p = dst.device().HostPointer(to); p.ok()) {
    US_RETURN_IF_ERROR(dst.device().Synchronize());
    return src.device().CopyOut(*p, from, src.bytes());
  }
  // Piece by piece: the whole may be more than the host's memory.
  constexpr size_t kPiece = size_t{16} << 20;
  std::vector<uint8_t> host(std::min(src.bytes(), kPiece));
  for (size_t at = 0; at < src.bytes(); at += kPiece) {
    const size_t n = std::min(kPiece, src.bytes() - at);
    US_RETURN_IF_ERROR(src.device().CopyOut(host.data(), from.Slice(at, n), n));
    US_RETURN_IF_ERROR(dst.device().CopyIn(to.Slice(at, n), host.data(), n));
  }
  return absl::OkStatus();
}

}  // namespace understudy
