// SPDX-License-Identifier: Apache-2.0
#pragma once
// The half of a device that REF and CPU share: memory is this process's own, copies are memcpy, and a launch
// has run when it returns. Knows nothing of kernels.

#include <chrono>
#include <mutex>
#include <unordered_map>

#include "src/runtime/device.h"

namespace understudy {

class HostDevice : public Device {
 public:
  ~HostDevice() override;
  // 64-byte aligned. Refuses (ResourceExhausted) what the allocator refuses.
  absl::StatusOr<Allocation> Allocate(size_t bytes) override;
  // InvalidArgument for a range that is not an allocation of this device.
  absl::Status Free(const Allocation& allocation) override;
  absl::StatusOr<void*> HostPointer(const Allocation& range) override;
  absl::StatusOr<Allocation> Wrap(void* pointer, size_t bytes) override;
  absl::Status Unwrap(const Allocation& range) override;
  // Any memory that its owner shows to the host.
  absl::StatusOr<Allocation> MapFrom(Device& owner, const Allocation& allocation) override;
  absl::Status Unmap(const Allocation& mapping) override;
  absl::Status CopyIn(const Allocation& dst, const void* src, size_t bytes) override;
  absl::Status CopyOut(void* dst, const Allocation& src, size_t bytes) override;
  absl::Status CopyWithin(const Allocation& dst, const Allocation& src, size_t bytes) override;
  absl::Status Synchronize() override { return absl::OkStatus(); }

 protected:
  // OutOfRange unless `bytes` fit in the range and the range lies in a live allocation.
  absl::Status CheckRange(const Allocation& range, size_t bytes) const;
  // Fills `info` (unless null) for a launch that began at `start`, ends now and ran as one work-item.
  static void RecordLaunch(std::chrono::steady_clock::time_point start, LaunchInfo* info);

 private:
  // A range that kernels and copies may touch: this device's own, or lent to it `borrows` times.
  struct Region {
    size_t bytes = 0;
    int borrows = 0;  // 0: owned
  };
  absl::StatusOr<Allocation> Borrow(void* pointer, size_t bytes);
  absl::Status GiveBack(const Allocation& range);

  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, Region> live_;  // base -> region; guarded by mutex_
};

}  // namespace understudy
