// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/host/host_device.h"

#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy {
namespace {

constexpr size_t kAlignment = 64;
void* Pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

HostDevice::~HostDevice() {
  for (const auto& [base, bytes] : live_) std::free(Pointer(base));
}

absl::StatusOr<Allocation> HostDevice::Allocate(size_t bytes) {
  if (bytes > SIZE_MAX - kAlignment)
    return absl::ResourceExhaustedError(absl::StrCat(name(), ": ", bytes, " bytes do not fit in memory"));
  const size_t rounded = AlignUp(std::max<size_t>(bytes, 1), kAlignment);
  void* p = std::aligned_alloc(kAlignment, rounded);
  if (p == nullptr)
    return absl::ResourceExhaustedError(absl::StrCat(name(), ": cannot allocate ", bytes, " bytes"));
  const auto address = reinterpret_cast<uint64_t>(p);
  std::lock_guard lock(mutex_);
  live_[address] = std::max<size_t>(bytes, 1);
  return Allocation{address, std::max<size_t>(bytes, 1), address};
}

absl::Status HostDevice::Free(const Allocation& allocation) {
  std::lock_guard lock(mutex_);
  const auto it = live_.find(allocation.base);
  if (it == live_.end() || allocation.address != allocation.base) {
    return absl::InvalidArgumentError(
        absl::StrCat(name(), ": 0x", absl::Hex(allocation.address), " is not an allocation"));
  }
  std::free(Pointer(it->first));
  live_.erase(it);
  return absl::OkStatus();
}

absl::Status HostDevice::CheckRange(const Allocation& range, size_t bytes) const {
  if (bytes > range.bytes) {
    return absl::OutOfRangeError(absl::StrCat(name(), ": ", bytes, " bytes in a range of ", range.bytes));
  }
  std::lock_guard lock(mutex_);
  const auto it = live_.find(range.base);
  const uint64_t offset = range.address - range.base;
  if (it == live_.end() || offset > it->second || range.bytes > it->second - offset) {
    return absl::OutOfRangeError(absl::StrCat(name(), ": [0x", absl::Hex(range.address), ", +", range.bytes,
                                              ") is not inside a live allocation"));
  }
  return absl::OkStatus();
}

absl::Status HostDevice::CopyIn(const Allocation& dst, const void* src, size_t bytes) {
  US_RETURN_IF_ERROR(CheckRange(dst, bytes));
  if (bytes > 0) std::memcpy(Pointer(dst.address), src, bytes);
  return absl::OkStatus();
}

absl::Status HostDevice::CopyOut(void* dst, const Allocation& src, size_t bytes) {
  US_RETURN_IF_ERROR(CheckRange(src, bytes));
  if (bytes > 0) std::memcpy(dst, Pointer(src.address), bytes);
  return absl::OkStatus();
}

absl::Status HostDevice::CopyWithin(const Allocation& dst, const Allocation& src, size_t bytes) {
  US_RETURN_IF_ERROR(CheckRange(dst, bytes));
  US_RETURN_IF_ERROR(CheckRange(src, bytes));
  if (bytes > 0) std::memmove(Pointer(dst.address), Pointer(src.address), bytes);
  return absl::OkStatus();
}

void HostDevice::RecordLaunch(std::chrono::steady_clock::time_point start, LaunchInfo* info) {
  if (info == nullptr) return;
  const auto ns = [](auto d) {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count());
  };
  *info = {};
  info->device_ns = ns(std::chrono::steady_clock::now() - start);
  info->begin_ns = ns(start.time_since_epoch());
  info->grid = info->block = {1, 1, 1};
}

}  // namespace understudy
